// routine_gradient.c: derivatives of routines.
//
// Purpose: Jacobians and index reduction through functions that are called at run time.
// Method: forward differentiation of the program (Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3): every
// cell that depends on a Real input gets a cell for its derivative, and a step `x = e` becomes `x' = e'` and then
// `x = e`. Control flow is that of the values, so that the derivative belongs to the branches taken, as for
// if-expressions; a call of a routine becomes a call of its derivative.
// Where whole inputs do not move (the rows of a table) another derivative is made, in which nothing depends on them and which does not take their
// rates: a few of these for a routine (activity: Griewank and Walther, chapter 6).
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

// Derivatives of one routine for inputs that do not move: each is as long as the routine and has to be translated, which for fewer numbers that need
// not be passed costs more than it saves (dry air of a library of media: a third more instructions for the whole run).
enum { MOST_SPECIAL = 4, LEAST_STILL = 4 };

typedef struct Derivation {
    Exprs *exprs;
    const Routine *of;
    Routine *to;
    const uint8_t *still; // per input: it does not move, and no derivative of it is taken; NULL: all are
    uint32_t moving;      // how many derivatives of inputs are
    U8Vec active;   // per cell of the original: it has a derivative
    U32Vec value;   // per cell: the expression of its value in the derivative's routine
    U32Vec rate;    // per cell: that of its derivative, 0: constant
} Derivation;

// Cells of the derivative's routine: inputs, derivatives of those that move, other cells, their derivatives.
static uint32_t
value_cell(const Derivation *derivation, uint32_t cell)
{
    return cell < derivation->of->inputs ? cell : cell + derivation->moving;
}

static uint32_t
rate_cell(const Derivation *derivation, uint32_t cell)
{
    const Routine *of = derivation->of;
    uint32_t place = of->inputs;
    if (cell >= of->inputs)
        return cell + of->cells - of->inputs + derivation->moving;
    if (!derivation->still)
        return place + cell;
    for (uint32_t k = 0; k < cell; k++)
        place += !derivation->still[k];
    return place;
}

static void
set_active(Derivation *derivation, uint32_t cell)
{
    derivation->active.at[cell] = 1;
    derivation->rate.at[cell] = expr_slot(derivation->exprs, rate_cell(derivation, cell));
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
        rates.at[value_cell(derivation, cell)] = derivation->rate.at[cell];
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
                                                       rate_cell(derivation, step.cell), index, step.count});
        routine_step(derivation->to, block, (Step){move(derivation, step.value), value_cell(derivation, step.cell),
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

// Objects in ascending order: inputs, derivatives of those that move, others, derivatives of others.
static void
add_extents(Derivation *derivation, bool inputs)
{
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < derivation->of->extents.n; i++) {
            Extent extent = derivation->of->extents.at[i];
            bool left = round == 1 && inputs && derivation->still && derivation->still[extent.first];
            if ((extent.first < derivation->of->inputs) == inputs && !left)
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
        derivation->value.at[cell] = expr_slot(derivation->exprs, value_cell(derivation, cell));
    for (uint32_t cell = 0; cell < of->inputs; cell++)
        if (of->real.at[cell] && !(derivation->still && derivation->still[cell]))
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

// Expressions that are made while it is being found out what moves are no last word, and no derivatives are made for them.
static void
find_all_active(Derivation *derivation)
{
    bool before = derivation->exprs->settling;
    derivation->exprs->settling = true;
    while (find_active(derivation))
        continue;
    derivation->exprs->settling = before;
}

// An empty routine that statements of the derivative go to.
static Derivation
begin_derivation(Exprs *exprs, Routine *of, const uint8_t *still)
{
    Span span = site_of(exprs, of->depth_site)->span;
    Routine *to = routine_create(exprs, arena_printf(exprs->arena, "der(%s)", of->name), span);
    Derivation derivation = {.exprs = exprs, .of = of, .to = to, .still = still};
    to->derivative_of = of->number;
    to->outputs = of->outputs;
    vec_append(&to->real, of->real.at, of->inputs);
    for (uint32_t k = 0; k < of->inputs; k++)
        if (!still || !still[k]) {
            vec_push(&to->real, of->real.at[k]);
            derivation.moving++;
        }
    to->inputs = of->inputs + derivation.moving;
    return derivation;
}

static void
differentiate_steps(Derivation *derivation)
{
    add_cells(derivation);
    derivation->to->output = rate_cell(derivation, derivation->of->output);
    find_all_active(derivation);
    add_blocks(derivation);
    derivation->to->complete = true;
}

static void
end_derivation(Derivation *derivation)
{
    vec_free(&derivation->active);
    vec_free(&derivation->value);
    vec_free(&derivation->rate);
}

uint32_t
routine_derivative(Exprs *exprs, uint32_t number)
{
    Routine *of = routine_of(exprs, number);
    if (of->derivative)
        return of->derivative;
    if (of->external)
        return routine_difference(exprs, of);
    Derivation derivation = begin_derivation(exprs, of, NULL);
    of->derivative = derivation.to->number;
    differentiate_steps(&derivation);
    find_stepwise(&derivation, of);
    end_derivation(&derivation);
    return of->derivative;
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

// Of whole inputs, which of them do not move; false where these are few, or all.
static bool
find_still(const Exprs *exprs, const Routine *of, const Expr *rates, U8Vec *still)
{
    bool moves = false;
    uint32_t some = 0;
    vec_fill(still, of->inputs, 0);
    for (uint32_t i = 0; i < of->extents.n && of->extents.at[i].first < of->inputs; i++) {
        Extent extent = of->extents.at[i];
        bool zero = true;
        for (uint32_t k = extent.first; k < extent.first + extent.count; k++)
            zero &= rates[k] == exprs->zero;
        moves |= !zero;
        some += zero ? extent.count : 0;
        memset(&still->at[extent.first], zero, extent.count);
    }
    return some >= LEAST_STILL && moves;
}

// Whether the derivative is that of the statements, so that another one may be made of them. What they store in an input moves.
static bool
is_of_statements(const Exprs *exprs, const Routine *of)
{
    const Routine *known = of->derivative ? routine_of(exprs, of->derivative) : NULL;
    bool may = known && known->derivative_of == of->number && known->complete;
    for (uint32_t i = 0; i < of->steps.n && may; i++)
        may = of->steps.at[i].cell >= of->inputs;
    return may;
}

// With `make` it is made where there is none and may be one.
static const Special *
special_for(Exprs *exprs, Routine *of, const Expr *rates, const uint8_t *still, bool make)
{
    uint32_t ours = 0;
    for (uint32_t i = 0; i < of->special.n; i++) {
        const Special *special = &of->special.at[i];
        bool holds = true;
        if (routine_of(exprs, special->number)->derivative_of == of->number) {
            ours++;
            holds = !memcmp(special->zero, still, of->inputs);
        } else {
            for (uint32_t k = 0; k < of->inputs; k++)
                holds &= !special->zero[k] || rates[k] == exprs->zero;
        }
        if (holds)
            return special;
    }
    if (!make || ours == MOST_SPECIAL || exprs->settling || !is_of_statements(exprs, of))
        return NULL;
    uint8_t *own = arena_array(exprs->arena, uint8_t, of->inputs + 1);
    memcpy(own, still, of->inputs);
    Derivation derivation = begin_derivation(exprs, of, own);
    vec_push(&of->special, ((Special){derivation.to->number, own})); // before its statements, which may call it
    differentiate_steps(&derivation);
    end_derivation(&derivation);
    return special_for(exprs, of, rates, still, false);
}

uint32_t
routine_derivative_for(Exprs *exprs, uint32_t number, const Expr *rates, const uint8_t **left_out)
{
    Routine *of = routine_of(exprs, number);
    U8Vec still = {0};
    const Special *special = NULL;
    *left_out = NULL;
    bool some = find_still(exprs, of, rates, &still);
    if (some || of->special.n)
        special = special_for(exprs, of, rates, still.at, some);
    if (special && routine_of(exprs, special->number)->inputs < 2 * of->inputs)
        *left_out = special->zero;
    vec_free(&still);
    return special ? special->number : routine_derivative(exprs, number);
}
