// routine_gradient.c: derivatives of routines.
//
// Purpose: Jacobians and index reduction through functions that are called at run time.
// Method: forward differentiation of the program (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3): every
// cell that depends on a Real input gets a cell for its derivative, and a step `x = e` becomes `x' = e'` and then
// `x = e`. Control flow is that of the values, so that the derivative belongs to the branches taken, as for
// if-expressions; a call of a routine becomes a call of its derivative.
// Contract: routine.h. The derivative of a routine that calls itself calls itself.
// Complexity: as many steps again, for those that depend on a Real input; a few sweeps find out which do.
#include <string.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"

typedef struct Derivation {
    Exprs *exprs;
    const Routine *of;
    Routine *to;
    U8Vec active;   // per cell of the original: it has a derivative
    U32Vec value;   // per cell: the expression of its value in the derivative's routine
    U32Vec rate;    // per cell: that of its derivative, 0: constant
} Derivation;

// Cells of the derivative's routine: inputs, their derivatives, other cells, their derivatives.
static uint32_t
value_cell(const Routine *of, uint32_t cell)
{
    return cell < of->inputs ? cell : cell + of->inputs;
}

static uint32_t
rate_cell(const Routine *of, uint32_t cell)
{
    return cell + (cell < of->inputs ? of->inputs : of->cells);
}

static void
set_active(Derivation *derivation, uint32_t cell)
{
    derivation->active.at[cell] = 1;
    derivation->rate.at[cell] = expr_slot(derivation->exprs, rate_cell(derivation->of, cell));
}

// The derivative of an expression over the original's cells, which `rates` takes as slots of the original.
static Expr
derive(Derivation *derivation, Expr e)
{
    // Values are named by the new cells first, derivatives are over them.
    Exprs *exprs = derivation->exprs;
    Expr moved = expr_substitute(exprs, e, derivation->value.at, derivation->value.n), rate = 0;
    U32Vec rates = {0};
    vec_grow(&rates, 2 * derivation->of->cells);
    for (uint32_t cell = 0; cell < derivation->of->cells; cell++)
        rates.at[value_cell(derivation->of, cell)] = derivation->rate.at[cell];
    expr_rates(exprs, &moved, 1, rates.at, rates.n, &rate);
    vec_free(&rates);
    return rate;
}

static bool
find_active(Derivation *derivation)
{
    bool more = false;
    for (uint32_t i = 0; i < derivation->of->steps.n; i++) {
        const Step *step = &derivation->of->steps.at[i];
        bool known = true;
        for (uint32_t k = 0; k < step->count; k++)
            known &= derivation->active.at[step->cell + k];
        if (known || derive(derivation, step->value) == derivation->exprs->zero)
            continue;
        for (uint32_t k = 0; k < step->count; k++)
            set_active(derivation, step->cell + k);
        more = true;
    }
    return more;
}

static Expr
move(const Derivation *derivation, Expr e)
{
    return e ? expr_substitute(derivation->exprs, e, derivation->value.at, derivation->value.n) : 0;
}

static void
add_steps(Derivation *derivation, uint32_t block, const Block *from)
{
    for (uint32_t i = from->first; i < from->first + from->n; i++) {
        Step step = derivation->of->steps.at[i];
        Expr index = move(derivation, step.index);
        if (derivation->active.at[step.cell])
            routine_step(derivation->to, block, (Step){derive(derivation, step.value),
                                                       rate_cell(derivation->of, step.cell), index, step.count});
        routine_step(derivation->to, block, (Step){move(derivation, step.value), value_cell(derivation->of, step.cell),
                                                   index, step.count});
    }
}

static void
add_blocks(Derivation *derivation)
{
    for (uint32_t b = 0; b < derivation->of->blocks.n; b++) {
        Block from = derivation->of->blocks.at[b];
        uint32_t block = routine_block(derivation->to);
        add_steps(derivation, block, &from);
        Block *to = &derivation->to->blocks.at[block];
        to->end = from.end;
        to->again = from.again;
        to->condition = move(derivation, from.condition);
        to->to = from.to;
        to->otherwise = from.otherwise;
        to->site = from.site;
        to->value = from.value;
        to->n_values = from.n_values;
    }
    for (uint32_t i = 0; i < derivation->of->values.n; i++)
        vec_push(&derivation->to->values, move(derivation, derivation->of->values.at[i]));
}

// Objects in ascending order: inputs, derivatives of inputs, others, derivatives of others.
static void
add_extents(Derivation *derivation, bool inputs)
{
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < derivation->of->extents.n; i++) {
            Extent extent = derivation->of->extents.at[i];
            if ((extent.first < derivation->of->inputs) == inputs)
                routine_cells(derivation->to, extent.count);
        }
}

static void
add_cells(Derivation *derivation)
{
    const Routine *of = derivation->of;
    vec_grow(&derivation->active, of->cells);
    vec_grow(&derivation->value, of->cells);
    vec_grow(&derivation->rate, of->cells);
    for (uint32_t cell = 0; cell < of->cells; cell++)
        derivation->value.at[cell] = expr_slot(derivation->exprs, value_cell(of, cell));
    for (uint32_t cell = 0; cell < of->inputs; cell++)
        if (of->real.at[cell])
            set_active(derivation, cell);
    add_extents(derivation, true);
    add_extents(derivation, false);
}

static bool
uses_active(const Derivation *derivation, Expr e)
{
    U32Vec used = {0};
    bool found = false;
    if (e)
        expr_used_slots(derivation->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && !found; i++)
        found = used.at[i] < derivation->active.n && derivation->active.at[used.at[i]];
    vec_free(&used);
    return found;
}

// What a cell holds at the end is one number, whatever happens.
static bool
is_constant(const Derivation *derivation, uint32_t cell)
{
    Expr only = 0;
    for (uint32_t i = 0; i < derivation->of->steps.n; i++) {
        const Step *step = &derivation->of->steps.at[i];
        if (cell < step->cell || cell >= step->cell + step->count)
            continue;
        if (expr_op(derivation->exprs, step->value) != OP_CONST || (only && only != step->value))
            return false;
        only = step->value;
    }
    return true;
}

// Outputs that have no derivative although what is computed depends on Real inputs: by the branches taken. The derivative of
// the statements is zero, that of the function need not be.
static void
find_stepwise(const Derivation *derivation, Routine *of)
{
    bool decided = false;
    for (uint32_t b = 0; b < of->blocks.n && !decided; b++)
        decided = uses_active(derivation, of->blocks.at[b].condition);
    for (uint32_t k = 0; k < of->outputs; k++) {
        bool whole = k < of->whole.n && of->whole.at[k];
        bool alone = decided && !whole && !derivation->active.at[of->output + k] && !is_constant(derivation, of->output + k);
        vec_push(&of->steps_alone, alone);
        of->stepwise |= alone;
    }
}

uint32_t
routine_derivative(Exprs *exprs, uint32_t number)
{
    Routine *of = routine_of(exprs, number);
    if (of->derivative)
        return of->derivative;
    if (of->external)
        return routine_difference(exprs, of);
    Span span = site_of(exprs, of->depth_site)->span;
    Routine *to = routine_create(exprs, arena_printf(exprs->arena, "der(%s)", of->name), span);
    Derivation derivation = {.exprs = exprs, .of = of, .to = to};
    of->derivative = to->number;
    to->derivative_of = number;
    to->inputs = 2 * of->inputs;
    to->outputs = of->outputs;
    for (uint32_t round = 0; round < 2; round++)
        vec_append(&to->real, of->real.at, of->inputs);
    add_cells(&derivation);
    to->output = rate_cell(of, of->output);
    while (find_active(&derivation))
        continue;
    find_stepwise(&derivation, of);
    add_blocks(&derivation);
    to->complete = true;
    vec_free(&derivation.active);
    vec_free(&derivation.value);
    vec_free(&derivation.rate);
    return to->number;
}

void
routine_take_special(Exprs *exprs, Routine *routine, uint32_t number, const uint8_t *zero)
{
    uint8_t *own = arena_array(exprs->arena, uint8_t, routine->inputs + 1);
    memcpy(own, zero, routine->inputs);
    vec_push(&routine->special, ((Special){number, own}));
}

void
routine_take_ignored(Exprs *exprs, Routine *routine, const uint8_t *ignored, uint32_t inputs)
{
    uint8_t *own = arena_array(exprs->arena, uint8_t, inputs + 1);
    memcpy(own, ignored, inputs);
    routine->ignored = own;
}

uint32_t
routine_derivative_for(Exprs *exprs, uint32_t number, const Expr *rates)
{
    const Routine *of = routine_of(exprs, number);
    for (uint32_t i = 0; i < of->special.n; i++) {
        bool holds = true;
        for (uint32_t k = 0; k < of->inputs; k++)
            holds &= !of->special.at[i].zero[k] || rates[k] == exprs->zero;
        if (holds)
            return of->special.at[i].number;
    }
    return routine_derivative(exprs, number);
}
