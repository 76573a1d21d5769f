// routine_cells.c: routines being compiled: cells, steps and blocks.
//
// Purpose: what the statements of a function become (ir/expr/routine.h). Method: cells are numbered as they are asked for; an
// assignment of several cells at once goes through other cells where its right sides use them.
// Contract: routine_inner.h. Complexity: linear in the cells and steps.
#include <stddef.h>

#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

// What is not reached is not evaluated.
static Expr
hold_in_cell(ExprEnv *env, Expr e, uint32_t room)
{
    Compile *c = (Compile *)(void *)((char *)env - offsetof(Compile, own));
    if (c->block == NO_BLOCK)
        return e;
    uint32_t cell = compile_size_cell(c, room);
    compile_set(c, cell, env->guard ? expr_3(env->exprs, OP_IF, env->guard, e, expr_const(env->exprs, 0)) : e);
    return expr_slot(env->exprs, cell);
}

void
compile_open(Compile *c, Frame *frame, const char *name, Span span)
{
    ExprEnv *around = frame->env;
    *c = (Compile){.frame = *frame, .after = NO_BLOCK, .around = around, .own = *around};
    c->frame.env = c->env = &c->own;
    c->frame.meaning = &compile_meaning;
    c->frame.edge = NULL;
    c->frame.settle = NULL;
    c->frame.call = NULL;
    c->frame.path = c->frame.left = c->frame.returned = 0;
    c->routine = routine_create(around->exprs, name, span);
    c->own.locals.at = NULL;
    c->own.locals.n = c->own.locals.capacity = 0;
    c->own.slots = &c->slots;
    c->own.slot_of = &c->slot_of;
    c->own.compile = true;
    c->own.guard = 0;
    c->own.picks = NULL;
    c->own.limits = NULL;
    c->own.rooms = &c->rooms;
    c->own.hold = hold_in_cell;
}

void
compile_close(Compile *c)
{
    map_free(&c->assigned);
    vec_free(&c->rooms);
    vec_free(&c->loops);
    vec_free(&c->covers);
    map_free(&c->slot_of);
    vec_free(&c->slots);
    vec_free(&c->inputs);
    vec_free(&c->given);
    vec_free(&c->own.locals);
}

// Variables of the model have taken slots meanwhile.
static void
sync_cells(Compile *c)
{
    while (c->routine->cells < c->env->slots->n)
        routine_cells(c->routine, 1);
}

uint32_t
compile_cells(Compile *c, uint32_t n)
{
    sync_cells(c);
    uint32_t first = routine_cells(c->routine, n);
    while (c->env->slots->n < c->routine->cells)
        vec_push(c->env->slots, BOUND_VARIABLE);
    return first;
}

uint32_t
compile_size_cell(Compile *c, uint32_t room)
{
    uint32_t cell = compile_cells(c, 1);
    if (c->rooms.n <= cell)
        vec_grow(&c->rooms, cell + 1 - c->rooms.n);
    c->rooms.at[cell] = room + 1;
    return cell;
}

Value
compile_value(Compile *c, const Type *type, uint32_t first, uint32_t count)
{
    Value value = {.type = *type, .count = count, .elements = arena_array(c->env->arena, Expr, count ? count : 1)};
    for (uint32_t k = 0; k < count; k++)
        value.elements[k] = expr_slot(c->env->exprs, first + k);
    return value;
}

void
compile_set(Compile *c, uint32_t cell, Expr e)
{
    routine_step(c->routine, c->block, (Step){e, cell, 0, 1});
}

static bool
uses_any(Compile *c, const Expr *elements, uint32_t n, const U32Vec *cells)
{
    U32Vec used = {0};
    U8Vec target = {0};
    bool any = false;
    vec_grow(&target, c->routine->cells);
    for (uint32_t i = 0; i < cells->n; i++)
        target.at[cells->at[i]] = 1;
    expr_used_slots(c->env->exprs, elements, n, &used);
    for (uint32_t i = 0; i < used.n; i++)
        any |= used.at[i] < target.n && target.at[used.at[i]];
    vec_free(&used);
    vec_free(&target);
    return any;
}

// cells := elements, all at once.
void
compile_set_all(Compile *c, const U32Vec *cells, const Expr *elements)
{
    uint32_t first = 0;
    bool apart = cells->n > 1 && uses_any(c, elements, cells->n, cells);
    if (apart) {
        first = compile_cells(c, cells->n);
        for (uint32_t i = 0; i < cells->n; i++)
            compile_set(c, first + i, elements[i]);
    }
    for (uint32_t i = 0; i < cells->n; i++)
        compile_set(c, cells->at[i], apart ? expr_slot(c->env->exprs, first + i) : elements[i]);
}

// --- control flow

uint32_t
compile_block(Compile *c)
{
    return routine_block(c->routine);
}

void
compile_jump(Compile *c, uint32_t to, bool again)
{
    if (c->block == NO_BLOCK)
        return;
    Block *block = &c->routine->blocks.at[c->block];
    block->end = BLOCK_JUMP;
    block->to = to;
    block->again = again;
    c->block = NO_BLOCK;
}

void
compile_branch(Compile *c, Expr condition, uint32_t yes, uint32_t no)
{
    Block *block = &c->routine->blocks.at[c->block];
    block->end = BLOCK_BRANCH;
    block->condition = condition;
    block->to = yes;
    block->otherwise = no;
    c->block = NO_BLOCK;
}

// --- what did not work

Before
compile_mark(const Compile *c)
{
    const Routine *r = c->routine;
    return (Before){r->steps.n, r->blocks.n, r->values.n, r->extents.n, r->cells, c->block, c->after, c->loops.n, c->covers.n, c->doubt,
                    r->blocks.at[c->block], diags_mark(c->env->diags)};
}

void
compile_return_to(Compile *c, const Before *to)
{
    Routine *r = c->routine;
    r->steps.n = to->steps;
    r->blocks.n = to->blocks;
    r->values.n = to->values;
    r->extents.n = to->extents;
    r->cells = to->cells;
    c->env->slots->n = to->cells;
    c->rooms.n = c->rooms.n < to->cells ? c->rooms.n : to->cells;
    c->block = to->block;
    c->after = to->after;
    c->loops.n = to->loops;
    c->covers.n = to->covers;
    c->doubt = to->doubt;
    r->blocks.at[c->block] = to->open;
    diags_return_to(c->env->diags, to->mark);
}

// --- the end

typedef struct Finish {
    Compile *c;
    Op refused; // an operator that cannot stand in a routine
} Finish;

// The cell of an input that gets this value when the routine is called.
static Expr
given_value(Compile *c, Expr value)
{
    for (uint32_t i = 0; i < c->given.n; i++)
        if (c->given.at[i] == value)
            return expr_slot(c->env->exprs, c->inputs.at[i]);
    vec_push(&c->inputs, compile_cells(c, 1));
    vec_push(&c->given, value);
    return expr_slot(c->env->exprs, vec_last(&c->inputs));
}

// Relations make no events here. Time and the phases of a run are inputs.
static Expr
finished(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Finish *finish = context;
    Op op = expr_op(exprs, part);
    if (op == OP_NOEVENT || op == OP_HOMOTOPY || op == OP_RATED)
        return args[0];
    if (op == OP_SMOOTH)
        return args[1];
    if (finish->c->outer && (op == OP_TIME || op == OP_INITIAL || op == OP_TERMINAL))
        return given_value(finish->c, part);
    if (op == OP_TIME || op_table[op].kind == OPKIND_MODEL)
        finish->refused = op;
    return 0;
}

bool
compile_finish(Compile *c)
{
    Finish finish = {c, OP_CONST};
    routine_rewrite(c->env->exprs, c->routine, finished, &finish);
    if (finish.refused == OP_CONST)
        return true;
    Span loop = site_of(c->env->exprs, c->routine->depth_site)->span;
    diag_add(c->env->diags, E0722, c->outer ? loop : c->frame.span, "'%s' cannot be used %s '%s'", op_table[finish.refused].text,
             c->outer ? "in a loop that is executed at run time, of" : "in a function that is called at run time,",
             c->routine->name);
    return false;
}
