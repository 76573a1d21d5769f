// said_values.c: values of Strings and Booleans as they were written.
//
// Purpose: `if mode == "fast"` is shown as that, not with the number of the text, and `b and not pre(b)` as edge(b). Method: a constant that is
// compared with a String or a Boolean variable, or stands for one, also in a branch of a choice, becomes a slot with a text, as does an edge; variables
// that count as zero where equations are shown do so. Contract: said_values.h.
// Complexity: linear in the parts of the expression; nothing where no variable is a String, a Boolean or such a zero.
#include "ir/dae/said_values.h"

#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/text_values.h"

enum { CHOICES = 32 }; // inside each other; deeper ones are shown as they are

static VarType
type_of_slot(const SaidValues *said, uint32_t slot)
{
    return slot < said->n && dae_group(said->dae, said->vars[slot]) ? dae_type(said->dae, said->vars[slot]) : TYPE_REAL;
}

static bool
is_said(VarType type)
{
    return type == TYPE_STRING || type == TYPE_BOOLEAN;
}

// The type of a value, as far as a variable in it tells; TYPE_REAL: it does not.
static VarType
type_of(const SaidValues *said, Expr e, uint32_t depth)
{
    const Exprs *exprs = said->dae->exprs;
    if (expr_op(exprs, e) == OP_SLOT)
        return type_of_slot(said, expr_slot_of(exprs, e));
    if (expr_op(exprs, e) != OP_IF || depth == CHOICES)
        return TYPE_REAL;
    VarType type = type_of(said, expr_arg(exprs, e, 1), depth + 1);
    return is_said(type) ? type : type_of(said, expr_arg(exprs, e, 2), depth + 1);
}

static Expr
said_text(SaidValues *said, const char *text)
{
    vec_push(&said->texts, text);
    return expr_slot(said->dae->exprs, said->n + said->texts.n - 1);
}

static Expr
said_constant(SaidValues *said, Expr e, VarType type)
{
    Exprs *exprs = said->dae->exprs;
    const char *text = type == TYPE_STRING ? text_known(exprs, e) : expr_value(exprs, e) != 0 ? "true" : "false";
    if (!text)
        return e;
    return said_text(said, type == TYPE_STRING ? arena_printf(said->dae->arena, "\"%s\"", text) : text);
}

// The value of a variable of this type, with the constants that it may be as they were written.
static Expr
said_as(SaidValues *said, Expr e, VarType type, uint32_t depth)
{
    Exprs *exprs = said->dae->exprs;
    if (expr_op(exprs, e) == OP_CONST)
        return said_constant(said, e, type);
    if (expr_op(exprs, e) != OP_IF || depth == CHOICES)
        return e;
    return expr_3(exprs, OP_IF, expr_arg(exprs, e, 0), said_as(said, expr_arg(exprs, e, 1), type, depth + 1),
                  said_as(said, expr_arg(exprs, e, 2), type, depth + 1));
}

// Whether argument `at` of a conjunction is a variable, and another one says that it was false before.
static bool
is_edge(const SaidValues *said, Expr e, uint32_t at, uint32_t *before)
{
    const Exprs *exprs = said->dae->exprs;
    Expr variable = expr_arg(exprs, e, at);
    if (expr_op(exprs, variable) != OP_SLOT || type_of_slot(said, expr_slot_of(exprs, variable)) != TYPE_BOOLEAN)
        return false;
    Var var = said->vars[expr_slot_of(exprs, variable)];
    for (uint32_t k = 0; k < expr_nargs(exprs, e); k++) {
        Expr other = expr_arg(exprs, e, k), was = expr_op(exprs, other) == OP_NOT ? expr_arg(exprs, other, 0) : 0;
        *before = k;
        if (was && expr_op(exprs, was) == OP_SLOT && said->dae->var_pre_of.at[said->vars[expr_slot_of(exprs, was)]] == var)
            return true;
    }
    return false;
}

static Expr
said_edges(SaidValues *said, Expr e, const Expr *args)
{
    Exprs *exprs = said->dae->exprs;
    uint32_t n = expr_nargs(exprs, e), before;
    U32Vec kept = {0};
    bool any = false;
    vec_append(&kept, args, n);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_edge(said, e, k, &before))
            continue;
        Out text = {0};
        out_text(&text, "edge(");
        dae_told_inside(said->dae, said->vars[expr_slot_of(exprs, expr_arg(exprs, e, k))], &text);
        out_char(&text, ')');
        kept.at[k] = said_text(said, arena_strndup(said->dae->arena, text.text, text.length));
        kept.at[before] = expr_const(exprs, 1);
        any = true;
        out_free(&text);
    }
    Expr result = any ? expr_make(exprs, OP_AND, kept.at, n) : 0;
    vec_free(&kept);
    return result;
}

static Expr
said_part(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    SaidValues *said = context;
    Op op = expr_op(exprs, part);
    if (op == OP_AND)
        return said_edges(said, part, args);
    if (op == OP_SLOT)
        return expr_slot_of(exprs, part) < said->n && dae_is_nothing(said->dae, said->vars[expr_slot_of(exprs, part)]) ? expr_const(exprs, 0) : 0;
    if (op != OP_EQN && op != OP_EQ && op != OP_NE)
        return 0;
    VarType type = type_of(said, args[0], 0);
    if (!is_said(type))
        type = type_of(said, args[1], 0);
    return is_said(type) ? expr_2(exprs, op, said_as(said, args[0], type, 0), said_as(said, args[1], type, 0)) : 0;
}

Expr
said_values_open(SaidValues *said, const Dae *dae, Expr shape, const Var *vars, Var of)
{
    *said = (SaidValues){.dae = (Dae *)dae, .vars = vars, .n = expr_nslots(dae->exprs, shape)};
    VarType type = of != NONE && dae_group(dae, of) ? dae_type(dae, of) : TYPE_REAL;
    bool any = is_said(type);
    for (uint32_t k = 0; k < said->n && !any; k++)
        any = is_said(type_of_slot(said, k)) || dae_is_nothing(dae, vars[k]);
    if (!any)
        return shape;
    Expr result = expr_rewrite(dae->exprs, shape, said_part, said);
    return is_said(type) ? said_as(said, result, type, 0) : result;
}

const char *
said_value(const SaidValues *said, uint32_t slot)
{
    return slot < said->n ? NULL : said->texts.at[slot - said->n];
}

void
said_values_close(SaidValues *said)
{
    vec_free(&said->texts);
}
