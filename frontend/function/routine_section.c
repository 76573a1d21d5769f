// routine_section.c: loops of algorithm sections that are executed at run time.
//
// Purpose: `while`, and `for` over a range that is not known, in a model (Modelica 3.6, section 11.2): what expansion.c cannot
// unroll; and long if-statements with loops in a when-statement, where relations make no events in any case and expressions of all that could
// have happened would be longer than the statements by far. Method: the outermost loop, or if-statement, alone becomes a routine. Its outputs are the variables it assigns; its inputs what they and
// others hold before it, and the variables of the model it uses, which are known when it has been compiled. The
// statements around it stay expressions, so that their relations make events; those in the loop make none.
// Contract: function.h. Complexity: linear in the statements and the scalars of the section's variables.
#include <string.h>

#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

static void
add_input(Compile *c, uint32_t cell, Expr value)
{
    vec_push(&c->inputs, cell);
    vec_push(&c->given, value);
}

Expr
compile_in_cell(Compile *c, Expr value, void (*put)(Compile *c, uint32_t cell, Expr value))
{
    if (expr_op(c->env->exprs, value) == OP_CONST)
        return value;
    uint32_t cell = compile_cells(c, 1);
    put(c, cell, value);
    return expr_slot(c->env->exprs, cell);
}

Expr
compile_given(Compile *c, Expr value)
{
    return compile_in_cell(c, value, add_input);
}

static bool
is_assigned(const Compile *c, const Local *local)
{
    uint32_t unused;
    return map_get(&c->assigned, local->name, &unused);
}

// The cells of an assigned variable get what it holds before the loop.
static void
begin_assigned(Compile *c, const Value *before, const Value *cells)
{
    Exprs *exprs = c->env->exprs;
    for (uint32_t k = 0; k < before->count; k++) {
        Expr value = before->elements[k];
        if (value)
            value = compile_given(c, value);
        if (value)
            compile_set(c, expr_slot_of(exprs, cells->elements[k]), value);
    }
}

// What the loop does not assign is an input, unless it is known.
void
compile_held(Compile *c, const Value *before, Value *value)
{
    uint32_t n = before->count, first;
    if (value_known(c->env, before))
        return;
    first = compile_cells(c, n);
    value->elements = compile_value(c, &before->type, first, n).elements;
    for (uint32_t k = 0; k < n; k++) {
        if (before->elements[k])
            add_input(c, first + k, before->elements[k]);
        else
            value->elements[k] = 0;
    }
    value->sizes = NULL;
    for (uint32_t d = 0; before->sizes && d < before->type.rank; d++) {
        if (!before->sizes[d])
            continue;
        uint32_t cell = compile_size_cell(c, before->type.dims[d]);
        add_input(c, cell, before->sizes[d]);
        value_set_size(c->env, value, d, expr_slot(c->env->exprs, cell));
    }
}

static void
begin_variables(Compile *c)
{
    uint32_t n = c->frame.variables.n;
    for (uint32_t i = 0; i < n; i++) {
        Local local = c->outer->locals.at[i];
        if (is_assigned(c, &local))
            local.value = compile_value(c, &local.value.type, compile_cells(c, local.value.count), local.value.count);
        vec_push(&c->env->locals, local);
    }
    c->routine->outputs = c->routine->cells;
    c->block = compile_block(c);
    for (uint32_t i = 0; i < n; i++) {
        const Value *before = &c->outer->locals.at[i].value;
        Local *local = &c->env->locals.at[i];
        if (is_assigned(c, local))
            begin_assigned(c, before, &local->value);
        else
            compile_held(c, before, &local->value);
    }
}

// --- inputs

static void
note_used(Compile *c, Expr e, U8Vec *used)
{
    U32Vec slots = {0};
    if (e)
        expr_used_slots(c->env->exprs, &e, 1, &slots);
    for (uint32_t i = 0; i < slots.n; i++)
        used->at[slots.at[i]] = 1;
    vec_free(&slots);
}

static void
find_used(Compile *c, U8Vec *used)
{
    const Routine *routine = c->routine;
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        note_used(c, routine->steps.at[i].value, used);
        note_used(c, routine->steps.at[i].index, used);
    }
    for (uint32_t i = 0; i < routine->blocks.n; i++)
        note_used(c, routine->blocks.at[i].condition, used);
    for (uint32_t i = 0; i < routine->values.n; i++)
        note_used(c, routine->values.at[i], used);
}

// An expression of the model has a derivative when a Real is among what it uses.
static bool
is_real(Compile *c, Expr e)
{
    ExprEnv *outer = c->outer;
    U32Vec slots = {0};
    bool real = expr_has_op(outer->exprs, e, OP_TIME);
    expr_used_slots(outer->exprs, &e, 1, &slots);
    for (uint32_t i = 0; i < slots.n && !real; i++) {
        uint32_t var = outer->slots->at[slots.at[i]];
        real = var == BOUND_VARIABLE || outer->real(outer, var); // of a function around: it may be
    }
    vec_free(&slots);
    return real;
}

// Variables of the model that the loop uses are inputs as well; what turned out not to be used is none.
void
compile_settle_inputs(Compile *c)
{
    U8Vec used = {0};
    uint32_t kept = 0, own = compile_cells(c, 0);
    for (uint32_t cell = 0; cell < own; cell++)
        if (c->env->slots->at[cell] != BOUND_VARIABLE)
            add_input(c, cell, expression_slot(c->outer, c->env->slots->at[cell]));
    vec_grow(&used, own);
    find_used(c, &used);
    for (uint32_t i = 0; i < c->inputs.n; i++)
        if (used.at[c->inputs.at[i]]) {
            c->inputs.at[kept] = c->inputs.at[i];
            c->given.at[kept++] = c->given.at[i];
        }
    c->inputs.n = c->given.n = kept;
    for (uint32_t i = 0; i < kept; i++)
        vec_push(&c->routine->real, is_real(c, c->given.at[i]));
    routine_take_inputs(c->env->exprs, c->routine, c->inputs.at, kept);
    vec_free(&used);
}

// --- the loop

static void
take_results(Compile *c)
{
    Exprs *exprs = c->env->exprs;
    Expr call = routine_call(exprs, c->routine->number, c->given.at, c->given.n);
    for (uint32_t i = 0, first = 0; i < c->frame.variables.n; i++) {
        Local *local = &c->outer->locals.at[i];
        if (!is_assigned(c, local))
            continue;
        Expr *own = arena_array(c->env->arena, Expr, local->value.count + 1);
        for (uint32_t k = 0; k < local->value.count; k++)
            own[k] = routine_result(exprs, call, first++);
        local->value.elements = own;
    }
}

static bool
compile_outermost(Compile *c, Node statement)
{
    compile_find_assigned(c, statement);
    begin_variables(c);
    bool branches = ast_kind(c->env->ast, statement) == AST_IFST;
    Control control = branches ? compile_meaning.branches(&c->frame, statement, 0) : compile_loop(&c->frame, statement);
    if (control == CONTROL_FAILED || !compile_finish(c) || !compile_check_size(c))
        return false;
    compile_settle_inputs(c);
    c->routine->complete = true;
    take_results(c);
    return true;
}

bool
routine_of_statement(Frame *frame, Node statement)
{
    Compile c;
    compile_open(&c, frame, sym_text(frame->env->syms, frame->function->full_name), node_span(frame->env, statement));
    c.outer = c.around;
    bool good = compile_outermost(&c, statement);
    c.around->statements = c.own.statements;
    compile_close(&c);
    return good;
}
