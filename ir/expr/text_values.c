// text_values.c: see text_values.h.
//
// Purpose: Strings that change, and those that are known, in one form. Method: equal texts have equal numbers, so that assignments,
// choices and comparisons of Strings are those of numbers; joining two templates makes one of both, until that has too many places.
// Contract: text_values.h. Complexity: linear in the texts.
#include "ir/expr/text_values.h"

#include <math.h>
#include <string.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/routine.h"
#include "runtime/model/model.h"

mdl_texts *
text_table(Exprs *exprs)
{
    static const char *const first[] = {""};
    if (!exprs->texts)
        exprs->texts = mdl_texts_create(first, 1);
    if (!exprs->texts)
        base_out_of_memory(sizeof(char *));
    return exprs->texts;
}

bool
texts_used(const Exprs *exprs)
{
    return exprs->texts && (mdl_texts_count(exprs->texts) > 1 || exprs->text_order || exprs->text_needed);
}

void
text_needed(Exprs *exprs)
{
    text_table(exprs);
    exprs->text_needed = true;
}

Expr
text_expr(Exprs *exprs, const char *text)
{
    double number = mdl_text_number(text_table(exprs), text);
    if (isnan(number))
        base_out_of_memory(strlen(text));
    return expr_const(exprs, number);
}

const char *
text_known(Exprs *exprs, Expr e)
{
    return expr_op(exprs, e) == OP_CONST ? mdl_text(text_table(exprs), expr_value(exprs, e)) : NULL;
}

// --- calls

static uint32_t
make_routine(Exprs *exprs, const char *name, ExternalCode *address, uint32_t inputs)
{
    Routine *routine = routine_create(exprs, name, (Span){0});
    routine_cells(routine, inputs);
    routine->inputs = inputs;
    routine->outputs = 1;
    routine->output = routine_cells(routine, 1);
    for (uint32_t i = 0; i < inputs; i++)
        vec_push(&routine->real, 0);
    External external = {.symbol = name, .code = "", .include = "", .builtin = true, .address = address};
    routine_take_external(exprs, routine, &external);
    routine->complete = true;
    return routine->number;
}

Expr
text_fill(Exprs *exprs, const char *form, const Expr *values, uint32_t n)
{
    Expr inputs[MDL_FAILURE_VALUES + 2];
    if (!n)
        return text_expr(exprs, form);
    if (!exprs->text_site)
        exprs->text_site = site_add(exprs, "there is no room for another text", (Span){0}) + 1;
    if (!exprs->text_fill[n])
        exprs->text_fill[n] = make_routine(exprs, "mdl_text_fill", mdl_text_fill, n + 2);
    uint32_t number = exprs->text_fill[n];
    inputs[0] = text_expr(exprs, form);
    inputs[1] = expr_const(exprs, exprs->text_site);
    memcpy(inputs + 2, values, n * sizeof *values);
    return routine_result(exprs, routine_call(exprs, number, inputs, n + 2), 0);
}

Expr
text_order(Exprs *exprs, Expr a, Expr b)
{
    Expr inputs[] = {a, b};
    if (!exprs->text_order)
        exprs->text_order = make_routine(exprs, "mdl_text_order", mdl_text_order, 2);
    return routine_result(exprs, routine_call(exprs, exprs->text_order, inputs, 2), 0);
}

// --- templates

// The call of text_fill that an expression is, or 0.
static Expr
filling(const Exprs *exprs, Expr e)
{
    Expr call = expr_op(exprs, e) == OP_RESULT ? cell_args(exprs, e)[1] : 0;
    if (!call || expr_op(exprs, call) != OP_CALL || cell_n(exprs, call) < 3 || cell_n(exprs, call) > MDL_FAILURE_VALUES + 3)
        return 0;
    uint32_t n = cell_n(exprs, call) - 3;
    bool fills = n && exprs->text_fill[n] == (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]);
    return fills && expr_op(exprs, cell_args(exprs, call)[1]) == OP_CONST ? call : 0;
}

TextForm
text_form(Exprs *exprs, Expr e, Arena *arena)
{
    const char *known = text_known(exprs, e);
    Expr call = known ? 0 : filling(exprs, e);
    if (known && !strchr(known, '\1')) // which would begin a place
        return (TextForm){.form = known};
    uint32_t n = call ? cell_n(exprs, call) - 3 : 1;
    Expr *values = arena_array(arena, Expr, n);
    memcpy(values, call ? cell_args(exprs, call) + 3 : &e, n * sizeof *values);
    return (TextForm){call ? text_known(exprs, cell_args(exprs, call)[1]) : "\1s\2", n, values};
}

Expr
text_join(Exprs *exprs, Expr a, Expr b, Arena *arena)
{
    Expr values[MDL_FAILURE_VALUES];
    TextForm left = text_form(exprs, a, arena), right = text_form(exprs, b, arena);
    if (left.n + right.n > MDL_FAILURE_VALUES)
        left = (TextForm){"\1s\2", 1, &a};
    if (left.n + right.n > MDL_FAILURE_VALUES)
        right = (TextForm){"\1s\2", 1, &b};
    for (uint32_t i = 0; i < left.n + right.n; i++)
        values[i] = i < left.n ? left.values[i] : right.values[i - left.n];
    return text_fill(exprs, arena_printf(arena, "%s%s", left.form, right.form), values, left.n + right.n);
}
