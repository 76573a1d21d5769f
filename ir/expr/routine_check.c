// routine_check.c: whether a routine is sound (routine.h).
//
// Purpose: routines may come from a text (docs/ir.md); engines look at nothing of this while they execute them.
// Method: ways through the blocks come back only through blocks that count, which a depth-first search shows; a position in an object is
// inside it because it is made of subscripts that are looked at (intervals over the expression and the steps that set its cells).
// Contract: NULL or a text that lives for ever. Complexity: linear in the blocks; steps times computed positions.
#include <math.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"

enum { DEEPEST = 60 }; // expressions and cells that a position goes back to

static const uint32_t ANY_BLOCK = UINT32_MAX;

typedef struct Range {
    double low, high; // of whole numbers; low > high: not known
} Range;

static const Range unknown = {1, 0};

static bool
is_known(Range range)
{
    return range.low <= range.high;
}

static Range
either(Range a, Range b)
{
    return is_known(a) && is_known(b) ? (Range){fmin(a.low, b.low), fmax(a.high, b.high)} : unknown;
}

static Range range_of(const Exprs *exprs, const Routine *routine, Expr e, uint32_t depth);

// What the steps give that may set a cell, and 0, with which it begins.
static Range
cell_range(const Exprs *exprs, const Routine *routine, uint32_t cell, uint32_t depth)
{
    Range all = {0, 0};
    if (cell < routine->inputs)
        return unknown;
    for (uint32_t i = 0; i < routine->steps.n && is_known(all); i++) {
        const Step *step = &routine->steps.at[i];
        if (cell >= step->cell && cell - step->cell < step->count)
            all = either(all, range_of(exprs, routine, step->value, depth));
    }
    return all;
}

static Range
constant_range(double value)
{
    return value == floor(value) ? (Range){value, value} : unknown;
}

// Factors are not negative.
static Range
combined(const Exprs *exprs, const Routine *routine, Expr e, uint32_t depth)
{
    Op op = cell_op(exprs, e);
    Range all = range_of(exprs, routine, cell_args(exprs, e)[0], depth);
    for (uint32_t i = 1; i < cell_n(exprs, e) && is_known(all); i++) {
        Range next = range_of(exprs, routine, cell_args(exprs, e)[i], depth);
        if (!is_known(next) || (op == OP_MUL && (all.low < 0 || next.low < 0)))
            return unknown;
        all = op == OP_ADD ? (Range){all.low + next.low, all.high + next.high}
            : op == OP_MUL ? (Range){all.low*next.low, all.high*next.high} : either(all, next);
    }
    return all;
}

static Range
range_of(const Exprs *exprs, const Routine *routine, Expr e, uint32_t depth)
{
    const Expr *args = cell_args(exprs, e);
    if (depth++ > DEEPEST)
        return unknown;
    switch (cell_op(exprs, e)) {
    case OP_CONST:
        return constant_range(expr_value(exprs, e));
    case OP_SLOT:
        return cell_range(exprs, routine, expr_slot_of(exprs, e), depth);
    case OP_INDEX:
        return cell_op(exprs, args[2]) == OP_CONST ? (Range){0, expr_value(exprs, args[2]) - 1} : unknown;
    case OP_ADD:
    case OP_MUL:
        return combined(exprs, routine, e, depth);
    case OP_IF:
        return either(range_of(exprs, routine, args[1], depth), range_of(exprs, routine, args[2], depth));
    default:
        return unknown;
    }
}

// Where a block goes to; n receives how many.
static void
ways(const Block *block, uint32_t *to, uint32_t *n)
{
    *n = 0;
    if (block->end == BLOCK_JUMP || block->end == BLOCK_BRANCH || block->end == BLOCK_WARN)
        to[(*n)++] = block->to;
    if (block->end == BLOCK_BRANCH)
        to[(*n)++] = block->otherwise;
}

static bool
sets(const Step *step, uint32_t cell)
{
    return cell >= step->cell && cell - step->cell < step->count;
}

// A counter begins with a number from 0 on and grows.
static bool
is_counter(const Exprs *exprs, const Routine *routine, uint32_t cell)
{
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        const Step *step = &routine->steps.at[i];
        Expr value = step->value;
        bool grows = cell_op(exprs, value) == OP_ADD && cell_n(exprs, value) == 2 && cell_op(exprs, cell_args(exprs, value)[1]) == OP_SLOT
                  && expr_slot_of(exprs, cell_args(exprs, value)[1]) == cell;
        Expr number = grows ? cell_args(exprs, value)[0] : value;
        if (sets(step, cell) && (step->index || cell_op(exprs, number) != OP_CONST || !(expr_value(exprs, number) >= 0)))
            return false;
    }
    return cell >= routine->inputs;
}

// What every way into a block asks: the cell is less than the count. The block itself leaves it alone.
static bool
is_asked_before(const Exprs *exprs, const Routine *routine, uint32_t block, uint32_t cell, uint32_t count)
{
    const Block *here = &routine->blocks.at[block];
    bool asked = block > 0;
    for (uint32_t i = here->first; i < here->first + here->n; i++)
        asked &= !sets(&routine->steps.at[i], cell);
    for (uint32_t b = 0; b < routine->blocks.n && asked; b++) {
        const Block *from = &routine->blocks.at[b];
        uint32_t to[2], n;
        ways(from, to, &n);
        if (!n || (to[0] != block && to[n - 1] != block))
            continue;
        const Expr *args = from->end == BLOCK_BRANCH ? cell_args(exprs, from->condition) : NULL;
        asked = args && from->otherwise != block && cell_op(exprs, from->condition) == OP_LT && cell_op(exprs, args[0]) == OP_SLOT
             && expr_slot_of(exprs, args[0]) == cell && cell_op(exprs, args[1]) == OP_CONST && expr_value(exprs, args[1]) <= count;
    }
    return asked;
}

// The position is inside `count` cells of one object.
static bool
is_inside(const Exprs *exprs, const Routine *routine, uint32_t block, uint32_t cell, uint32_t count, Expr position)
{
    bool object = false;
    for (uint32_t i = 0; i < routine->extents.n; i++)
        object |= cell >= routine->extents.at[i].first && cell + count <= routine->extents.at[i].first + routine->extents.at[i].count;
    Range range = range_of(exprs, routine, position, 0);
    if (object && !is_known(range) && block != ANY_BLOCK && cell_op(exprs, position) == OP_SLOT) {
        uint32_t counter = expr_slot_of(exprs, position);
        return is_counter(exprs, routine, counter) && is_asked_before(exprs, routine, block, counter, count);
    }
    return object && is_known(range) && range.low >= 0 && range.high < count;
}

// Elements that are neighbours are loaded by their position, others are compared.
static bool
sound_pick(const Exprs *exprs, const Routine *routine, uint32_t block, Expr e)
{
    const Expr *args = cell_args(exprs, e);
    uint32_t n = cell_n(exprs, e) - 1;
    for (uint32_t i = 0; i < n; i++)
        if (cell_op(exprs, args[1 + i]) != OP_SLOT || expr_slot_of(exprs, args[1 + i]) != expr_slot_of(exprs, args[1]) + i)
            return true;
    return is_inside(exprs, routine, block, expr_slot_of(exprs, args[1]), n, args[0]);
}

static bool
sound_expression(const Exprs *exprs, const Routine *routine, uint32_t block, Expr e)
{
    U32Vec parts = {0};
    bool sound = e && expr_nslots(exprs, e) <= routine->cells;
    if (sound)
        expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n && sound; i++) {
        Op op = cell_op(exprs, parts.at[i]);
        sound = op != OP_TIME && op_table[op].kind != OPKIND_MODEL && (op != OP_PICK || sound_pick(exprs, routine, block, parts.at[i]));
    }
    vec_free(&parts);
    return sound;
}

static bool
sound_step(const Exprs *exprs, const Routine *routine, uint32_t block, const Step *step)
{
    if (!sound_expression(exprs, routine, block, step->value) || step->cell >= routine->cells)
        return false;
    return !step->index || (sound_expression(exprs, routine, block, step->index)
                            && is_inside(exprs, routine, block, step->cell, step->count, step->index));
}

static bool
sound_ways(const Routine *routine)
{
    uint32_t to[2], n;
    bool sound = routine->external ? !routine->blocks.n : routine->blocks.n > 0;
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        ways(&routine->blocks.at[b], to, &n);
        for (uint32_t k = 0; k < n; k++)
            sound &= to[k] < routine->blocks.n;
    }
    return sound;
}

// Blocks that count are taken away; the others must not come back to themselves.
static bool
comes_to_an_end(const Routine *routine)
{
    enum { NEW, OPEN, DONE };
    U8Vec state = {0};
    U32Vec stack = {0};
    bool ends = true;
    vec_grow(&state, routine->blocks.n);
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        vec_push(&stack, b);
    while (stack.n && ends) {
        uint32_t b = vec_last(&stack), to[2], n;
        const Block *block = &routine->blocks.at[b];
        if (state.at[b] != NEW || block->again) {
            state.at[b] = DONE;
            (void)vec_pop(&stack);
            continue;
        }
        state.at[b] = OPEN;
        ways(block, to, &n);
        for (uint32_t k = 0; k < n; k++) {
            ends &= state.at[to[k]] != OPEN;
            if (state.at[to[k]] == NEW)
                vec_push(&stack, to[k]);
        }
    }
    vec_free(&state);
    vec_free(&stack);
    return ends;
}

const char *
routine_wrong(const Exprs *exprs, const Routine *routine)
{
    if (!sound_ways(routine))
        return "blocks that go to blocks of this routine";
    if (!comes_to_an_end(routine))
        return "`again` in a block of each way that comes back";
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        const Block *block = &routine->blocks.at[b];
        for (uint32_t i = block->first; i < block->first + block->n; i++)
            if (!sound_step(exprs, routine, b, &routine->steps.at[i]))
                return "steps over cells, with positions inside an object,";
        if (block->end == BLOCK_BRANCH && !sound_expression(exprs, routine, ANY_BLOCK, block->condition))
            return "conditions over cells";
    }
    for (uint32_t i = 0; i < routine->values.n; i++)
        if (!sound_expression(exprs, routine, ANY_BLOCK, routine->values.at[i]))
            return "values over cells";
    return NULL;
}
