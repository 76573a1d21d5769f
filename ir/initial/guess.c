// guess.c: guess: start values for the iteration unknowns of the initial system, from those that the model gives.
//
// Purpose: the user writes start values on the variables he thinks in (a joint's angle); the loop that closes the
// mechanism may be iterated on others (a body's angle). Those get the start value that follows.
// Method: forward propagation over the initial system's equations that are linear with constant coefficients
// (angles add up, lengths subtract): an equation with one unknown that has no guess yet gives it one. Before, what
// the system computes from parameters alone by assignments takes part with its formula. Written start values come
// first; a derived one is a start value like them, an expression in parameters.
// Contract: after the initial problem is sorted. Adds ATTR_START binds to unknowns of its loops; start values
// only say where an iteration begins, so a loop's solution cannot be excluded by them. Loops above LOOP_LIMIT and
// systems above SYSTEM_LIMIT equations are left alone. Complexity: linear in the initial system.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/initial/initial_inner.h"

enum { LOOP_LIMIT = 200, SYSTEM_LIMIT = 100000, TERMS_LIMIT = 24, OPERATIONS_LIMIT = 200 };

typedef struct Guess { // shape over pool[first .. first + n), parameters and constants only; shape 0: none
    Expr shape;
    uint32_t first, n;
} Guess;

typedef struct Guesses {
    Dae *dae;
    const Problem *problem;
    VEC(Guess) of;      // per variable (representatives)
    U32Vec pool;
    U8Vec wanted;       // per variable: an unknown of a loop
    U32Vec open;        // per equation position: unknowns without a guess, 0 when the equation is of no use
    U32Vec start, uses; // per variable: equation positions, in compressed rows
    U32Vec queue;
    U32Vec vars;        // of the equation read last
    Expr shape;
} Guesses;

// An equation alone in its block that has to be solved by iteration as well.
static bool
is_nonlinear(Guesses *guesses, uint32_t position, Var var)
{
    Exprs *exprs = guesses->dae->exprs;
    Expr coefficient, rest, shape = dae_resolve(guesses->dae, guesses->problem->equations.at[position], &guesses->vars);
    for (uint32_t k = 0; k < guesses->vars.n; k++)
        if (guesses->vars.at[k] == var)
            return expr_op(exprs, shape) == OP_EQN
                && !expr_affine(exprs, expr_residual(exprs, shape), k, &coefficient, &rest);
    return false;
}

// Marks the unknowns of small loops; false when there is none without a start value.
static bool
mark_wanted(Guesses *guesses)
{
    const Problem *problem = guesses->problem;
    bool any = false;
    vec_grow(&guesses->wanted, guesses->dae->nvars);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        for (uint32_t i = from; i < to && to - from <= LOOP_LIMIT; i++) {
            Var var = problem->var_of.at[problem->sorted.at[i]];
            if (to - from == 1 && !is_nonlinear(guesses, problem->sorted.at[i], var))
                continue;
            guesses->wanted.at[var] = !guesses->of.at[var].shape && dae_kind(guesses->dae, var) == VAR_CONTINUOUS;
            any |= guesses->wanted.at[var];
        }
    }
    return any;
}

static void
read_start(Guesses *guesses, const Bind *bind, Var of)
{
    Dae *dae = guesses->dae;
    bool negative;
    Var var = dae_alias(dae, of, &negative);
    uint32_t n = expr_nslots(dae->exprs, bind->shape);
    if (n > TERMS_LIMIT || (guesses->of.at[var].shape && var != of))
        return;
    Expr shape = negative ? expr_1(dae->exprs, OP_NEG, bind->shape) : bind->shape;
    guesses->of.at[var] = (Guess){shape, guesses->pool.n, n};
    vec_append(&guesses->pool, dae->rows.at + bind->row, n);
}

// The start values that the model gives, on representatives.
static void
read_starts(Guesses *guesses)
{
    Dae *dae = guesses->dae;
    vec_grow(&guesses->of, dae->nvars);
    for (uint32_t b = 0; b < dae->binds.n; b++) {
        const Bind *bind = &dae->binds.at[b];
        if (bind->attr == ATTR_START)
            bind_each(bind, var)
                read_start(guesses, bind, var);
    }
}

// Reads an equation; true when it is linear with constant coefficients in all that is no parameter.
static bool
read_linear(Guesses *guesses, uint32_t position)
{
    Dae *dae = guesses->dae;
    guesses->shape = dae_resolve(dae, guesses->problem->equations.at[position], &guesses->vars);
    if (expr_op(dae->exprs, guesses->shape) != OP_EQN || guesses->vars.n > TERMS_LIMIT)
        return false;
    Expr rest = expr_residual(dae->exprs, guesses->shape);
    for (uint32_t k = 0; k < guesses->vars.n; k++) {
        Expr coefficient;
        if (dae_is_parameter(dae, guesses->vars.at[k]) || !expr_uses_slot(dae->exprs, rest, k))
            continue;
        if (!expr_affine(dae->exprs, rest, k, &coefficient, &rest)
            || expr_op(dae->exprs, coefficient) != OP_CONST)
            return false;
    }
    return !expr_has_op(dae->exprs, rest, OP_TIME);
}

static void
read_equations(Guesses *guesses)
{
    const Dae *dae = guesses->dae;
    U32Vec pairs = {0}; // (variable, position)
    vec_grow(&guesses->open, guesses->problem->equations.n);
    vec_grow(&guesses->start, dae->nvars + 2);
    for (uint32_t position = 0; position < guesses->problem->equations.n; position++) {
        if (!read_linear(guesses, position))
            continue;
        for (uint32_t k = 0; k < guesses->vars.n; k++) {
            Var var = guesses->vars.at[k];
            if (dae_is_parameter(dae, var) || guesses->of.at[var].shape)
                continue;
            guesses->open.at[position]++;
            guesses->start.at[var + 2]++;
            vec_push(&pairs, var);
            vec_push(&pairs, position);
        }
        if (guesses->open.at[position] == 1)
            vec_push(&guesses->queue, position);
    }
    for (Var var = 0; var < dae->nvars; var++)
        guesses->start.at[var + 2] += guesses->start.at[var + 1];
    vec_grow(&guesses->uses, pairs.n / 2);
    for (uint32_t i = 0; i < pairs.n; i += 2)
        guesses->uses.at[guesses->start.at[pairs.at[i] + 1]++] = pairs.at[i + 1];
    vec_free(&pairs);
}

// Place of a parameter among the terms of the guess that is being made; NONE when there are too many.
static uint32_t
term(Guesses *guesses, uint32_t first, Var var)
{
    for (uint32_t i = first; i < guesses->pool.n; i++)
        if (guesses->pool.at[i] == var)
            return i - first;
    if (guesses->pool.n - first == TERMS_LIMIT)
        return NONE;
    vec_push(&guesses->pool, var);
    return guesses->pool.n - 1 - first;
}

// The guess of one variable (a parameter stands for itself) over the terms from `first` on; 0 when too long.
static Expr
over_terms(Guesses *guesses, uint32_t first, Var var)
{
    Exprs *exprs = guesses->dae->exprs;
    Guess guess = guesses->of.at[var];
    Expr with[TERMS_LIMIT + 1];
    if (dae_is_parameter(guesses->dae, var)) {
        uint32_t place = term(guesses, first, var);
        return place == NONE ? 0 : expr_slot(exprs, place);
    }
    for (uint32_t k = 0; k < guess.n; k++) {
        uint32_t place = term(guesses, first, guesses->pool.at[guess.first + k]);
        if (place == NONE)
            return 0;
        with[k] = expr_slot(exprs, place);
    }
    return expr_substitute(exprs, guess.shape, with, guess.n);
}

// Solves the equation read last for slot `open`; all else in it is a parameter or has a guess.
static Guess
solve_for(Guesses *guesses, uint32_t open)
{
    Exprs *exprs = guesses->dae->exprs;
    uint32_t first = guesses->pool.n;
    Expr with[TERMS_LIMIT + 1], solved = expr_solve(exprs, guesses->shape, open, NULL);
    for (uint32_t k = 0; solved && k < guesses->vars.n; k++) {
        with[k] = k == open ? expr_const(exprs, 0) : over_terms(guesses, first, guesses->vars.at[k]);
        if (!with[k])
            return (Guess){0};
    }
    if (!solved || expr_has_op(exprs, solved, OP_TIME))
        return (Guess){0};
    Expr value = expr_substitute(exprs, solved, with, guesses->vars.n);
    if (expr_operations(exprs, value) > OPERATIONS_LIMIT)
        return (Guess){0};
    return (Guess){value, first, guesses->pool.n - first};
}

// What blocks of one equation compute from parameters and from each other, in the order in which they do.
static void
read_assignments(Guesses *guesses)
{
    Dae *dae = guesses->dae;
    const Problem *problem = guesses->problem;
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t at = problem->block_start.at[b], position = problem->sorted.at[at], open = NONE;
        Var var = problem->var_of.at[position];
        if (problem->block_start.at[b + 1] - at > 1 || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        guesses->shape = dae_resolve(dae, problem->equations.at[position], &guesses->vars);
        bool known = expr_op(dae->exprs, guesses->shape) == OP_EQN && guesses->vars.n <= TERMS_LIMIT;
        for (uint32_t k = 0; k < guesses->vars.n; k++) {
            if (guesses->vars.at[k] == var)
                open = k;
            else
                known &= dae_is_parameter(dae, guesses->vars.at[k]) || guesses->of.at[guesses->vars.at[k]].shape;
        }
        Guess guess = known && open != NONE ? solve_for(guesses, open) : (Guess){0};
        if (guess.shape)
            guesses->of.at[var] = guess;
    }
}

static void
publish(Guesses *guesses, Var var)
{
    Dae *dae = guesses->dae;
    Guess guess = guesses->of.at[var];
    U32Vec order = {0};
    Expr shape = expr_shape(dae->exprs, guess.shape, &order);
    for (uint32_t k = 0; k < order.n; k++)
        order.at[k] = guesses->pool.at[guess.first + order.at[k]];
    dae_add_bind(dae, (Bind){.var = var, .attr = ATTR_START, .shape = shape,
                             .row = dae_add_row(dae, order.at, order.n)});
    vec_free(&order);
}

static void
settle(Guesses *guesses, Var var)
{
    if (guesses->wanted.at[var])
        publish(guesses, var);
    for (uint32_t i = guesses->start.at[var]; i < guesses->start.at[var + 1]; i++)
        if (--guesses->open.at[guesses->uses.at[i]] == 1)
            vec_push(&guesses->queue, guesses->uses.at[i]);
}

static void
propagate(Guesses *guesses)
{
    for (uint32_t head = 0; head < guesses->queue.n; head++) {
        uint32_t position = guesses->queue.at[head], open = NONE;
        if (guesses->open.at[position] != 1)
            continue;
        read_linear(guesses, position);
        for (uint32_t k = 0; k < guesses->vars.n && open == NONE; k++)
            if (!dae_is_parameter(guesses->dae, guesses->vars.at[k]) && !guesses->of.at[guesses->vars.at[k]].shape)
                open = k;
        Var var = guesses->vars.at[open];
        Guess guess = solve_for(guesses, open);
        if (!guess.shape)
            continue;
        guesses->of.at[var] = guess;
        settle(guesses, var);
    }
}

void
init_guesses(Dae *dae, const Problem *problem)
{
    Guesses guesses = {.dae = dae, .problem = problem};
    if (problem->equations.n > SYSTEM_LIMIT)
        return;
    read_starts(&guesses);
    if (mark_wanted(&guesses)) {
        read_assignments(&guesses);
        read_equations(&guesses);
        propagate(&guesses);
    }
    U32Vec *vecs[] = {&guesses.pool, &guesses.open, &guesses.start, &guesses.uses, &guesses.queue, &guesses.vars};
    for (uint32_t i = 0; i < sizeof vecs / sizeof *vecs; i++)
        vec_free(vecs[i]);
    vec_free(&guesses.of);
    vec_free(&guesses.wanted);
}
