// tear.c: tear: algebraic loops to few iteration unknowns.
//
// Purpose: write a block of several equations as assignments, tears and residuals.
// Method: small loops with luz are first given to the algebra of luz and tar; then tears are chosen (tear_choose.c). Loops with few
// tears whose residuals are affine are solved symbolically (tear_algebra.c); in large ones every residual is paired with a tear
// (tear_residuals.c).
// Contract: causal.h. Complexity: near linear in the block's incidence.
//
//     m1*a1 = f1 - p,  m2*a2 = f2 + p,  ax = a1 - a2,  law(ax, p)   =>   tear ax; explicit after substitution
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/solve/tear.h"
#include "ir/solve/tear_residuals.h"

Tearing *
tearing_create(Dae *dae, const Reduction *reduction, const Problem *problem, Solutions *solutions)
{
    Tearing *t = base_calloc(1, sizeof *t);
    t->dae = dae;
    t->signs = (RowSigns){.dae = dae, .vars = &t->union_vars};
    t->reduction = reduction;
    t->problem = problem;
    t->solutions = solutions;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        map_put(&t->law_of, dae->laws.at[i].equation, i);
    for (uint32_t i = 0; i < dae->fractionals.n; i++)
        map_put(&t->tails, dae->fractionals.at[i].tail, i);
    for (uint32_t i = 0; i < dae->shares.n; i++)
        map_put(&t->tails, dae->shares.at[i], i);
    return t;
}

void
tearing_free(Tearing **tearing)
{
    Tearing *t = *tearing;
    vec_free(&t->local_of);
    vec_free(&t->equations);
    vec_free(&t->vars);
    vec_free(&t->start);
    vec_free(&t->incident);
    vec_free(&t->determined);
    vec_free(&t->queue);
    vec_free(&t->order);
    vec_free(&t->tears);
    vec_free(&t->paths);
    vec_free(&t->bends);
    vec_free(&t->coefficient);
    vec_free(&t->growth);
    vec_free(&t->row_scale);
    vec_free(&t->column_scale);
    vec_free(&t->support);
    vec_free(&t->by_degree);
    vec_free(&t->guessed);
    map_free(&t->law_of);
    map_free(&t->tails);
    vec_free(&t->heap);
    vec_free(&t->union_vars);
    map_free(&t->union_slot);
    vec_free(&t->composed);
    vec_free(&t->signs.assumed);
    vec_free(&t->moving);
    free(t);
    *tearing = NULL;
}

void
tearing_add(Causal *causal, Assign assign)
{
    CausalItem item = {false, causal->assigns.n};
    vec_push(&causal->assigns, assign);
    vec_push(&causal->items, item);
}

void
tearing_emit_inner(Tearing *t, Causal *causal, const Var *unknowns, bool as_items)
{
    for (uint32_t i = 0; i < t->order.n; i += 2) {
        const LoopEquation *e = &t->equations.at[t->order.at[i]];
        const Var *vars = t->vars.at + e->vars;
        Var var = unknowns[t->order.at[i + 1]];
        uint32_t k = 0;
        while (vars[k] != var)
            k++;
        Assign assign;
        if (!solutions_assign(t->solutions, e->shape, vars, k, e->equation, &assign))
            continue; // cannot be: propagate() has asked
        if (as_items)
            tearing_add(causal, assign);
        else
            vec_push(&causal->assigns, assign);
    }
}

// Residuals of a large block in the order of the tears they belong to: a residual goes with the tear that it
// contains in most ways (the balance of a node with its potential), so that the matrix of the tears has a full
// diagonal and, for networks, a symmetric pattern, which a fill-reducing ordering needs.
static void
pair_residuals(Tearing *t, U32Vec *residuals)
{
    PairInput input = {.tears = t->tears.n};
    U32Vec position = {0};
    vec_grow(&position, t->paths.n);
    for (uint32_t k = 0; k < t->tears.n; k++)
        position.at[t->tears.at[k]] = k;
    for (uint32_t r = 0; r < residuals->n; r++) {
        const LoopEquation *e = &t->equations.at[residuals->at[r]];
        vec_push(&input.start, input.uses.n);
        for (uint32_t k = 0; k < e->n_vars; k++) {
            uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
            if (local == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k))
                continue;
            const uint32_t *tears = t->support.at + (size_t)local * REACH_LIMIT;
            for (uint32_t i = 0; i < REACH_LIMIT && tears[i] != NONE; i++)
                vec_push(&input.uses, position.at[tears[i]]);
        }
    }
    vec_push(&input.start, input.uses.n);
    vec_free(&position);
    vec_free(&t->support);
    vec_free(&t->paths);
    tearing_pair(&input, residuals);
}

// Constraints that were differentiated, their derivatives, and those that the structure has shown to be too many (whether they are
// differentiated or not: what is welded twice says nothing of motion): numerically they may follow from each other.
static uint32_t
count_constraints(const Tearing *t, uint32_t n)
{
    const Reduction *reduction = t->reduction;
    uint32_t count = 0, known;
    for (uint32_t i = 0; i < n; i++) {
        bool constraint = map_get(&t->dae->dependent, t->equations.at[i].equation, &known);
        for (uint32_t e = t->equations.at[i].equation; !constraint;) {
            constraint = e < reduction->derivative.n
                         && (reduction->derivative.at[e] != NONE || reduction->derivative_of.at[e] != NONE);
            if (!map_get(&t->dae->stands_for, e, &e))
                break;
        }
        count += constraint;
    }
    return count;
}

// An ideal diode or the like: its law holds its x itself, no derivative.
static bool
is_algebraic_constraint(const Tearing *t, uint32_t equation)
{
    uint32_t law;
    return map_get(&t->law_of, equation, &law) && t->dae->laws.at[law].unilateral && !t->dae->laws.at[law].level;
}

// Known before the loop, and chosen between values: between being open and closed.
static bool
is_chosen(const Tearing *t, Var var)
{
    uint32_t position = var < t->problem->equation_of.n ? t->problem->equation_of.at[var] : NONE;
    if (position == NONE || dae_is_parameter(t->dae, var))
        return false;
    Expr shape = t->dae->equations.at[t->problem->equations.at[position]].shape;
    return dae_kind(t->dae, var) == VAR_DISCRETE || expr_has_op(t->dae->exprs, shape, OP_IF) || expr_has_op(t->dae->exprs, shape, OP_MIN)
           || expr_has_op(t->dae->exprs, shape, OP_MAX);
}

// A valve that closes: an unknown's coefficient is a product with a variable that may become zero, and nothing is added.
static bool
may_vanish(const Tearing *t, const LoopEquation *e)
{
    const Var *vars = t->vars.at + e->vars;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        // A derivative has a capacity before it, which may be as small as one likes and is not zero.
        if (local_unknown(t, vars[k]) == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k) || t->dae->var_der_of.at[vars[k]] != NONE)
            continue;
        Expr partial = solutions_partial(t->solutions, e->shape, k);
        for (uint32_t f = 0; partial && f < e->n_vars; f++) {
            Expr rest, factor;
            bool product = local_unknown(t, vars[f]) == NONE && expr_uses_slot(t->dae->exprs, partial, f)
                           && expr_affine(t->dae->exprs, partial, f, &factor, &rest) && expr_is_const(t->dae->exprs, rest, 0);
            if (product && is_chosen(t, vars[f]))
                return true;
        }
    }
    return false;
}

// Equations that are others under other conditions: friction that holds or slips, clearances that are open. Of set-valued laws of motions
// the runtime knows itself which of them determine the same motion; ideal diodes that are open leave the potential between them open.
static bool
has_choices(const Tearing *t, uint32_t n)
{
    static const Op choice[] = {OP_IF, OP_LUZ, OP_MIN, OP_MAX};
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        if (t->equations.at[i].is_law && !is_algebraic_constraint(t, t->equations.at[i].equation))
            return false;
        for (size_t k = 0; k < sizeof choice / sizeof *choice; k++)
            found = found || expr_has_op(t->dae->exprs, t->equations.at[i].shape, choice[k]);
        found = found || (t->linear && may_vanish(t, &t->equations.at[i]));
    }
    return found;
}

// States that follow from conditions of the start: where all stands still, a quantity that is conserved is not determined.
static uint32_t
count_states(const Tearing *t, const Var *unknowns, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        count += unknowns[i] < t->reduction->state.n && t->reduction->state.at[unknowns[i]];
    return count;
}

// Of one equation by itself: its coefficient must be more than a rounding residue.
static void
guard_single(Tearing *t)
{
    const LoopEquation *e = &t->equations.at[0];
    const Var *vars = t->vars.at + e->vars;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        Expr partial = local_unknown(t, vars[k]) == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k)
            ? 0 : solutions_partial(t->solutions, e->shape, k);
        if (partial && dae_is_parametric(t->dae, partial, vars))
            causal_guard(t->dae, partial, vars, e->equation);
    }
}

// What only the choice of tears needs; a large block gives it back before its results are written.
static void
forget_search(Tearing *t)
{
    vec_free(&t->start);
    vec_free(&t->incident);
    vec_free(&t->by_degree);
    vec_free(&t->queue);
    vec_free(&t->determined);
}

static void
emit_loop(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n)
{
    Loop loop = {.inner = causal->assigns.n, .tear = causal->tears.n, .residual = causal->residuals.n,
                 .n = t->tears.n, .linear = t->linear, .constraints = count_constraints(t, n),
                 .conditions = count_states(t, unknowns, n), .switched = has_choices(t, n)};
    U32Vec residuals = {0};
    if (t->linear && n == 1)
        guard_single(t);
    if (t->large)
        forget_search(t);
    tearing_emit_inner(t, causal, unknowns, false);
    loop.n_inner = causal->assigns.n - loop.inner;
    for (uint32_t i = 0; i < t->tears.n; i++)
        vec_push(&causal->tears, unknowns[t->tears.at[i]]);
    for (uint32_t i = 0; i < n; i++)
        if (!t->equations.at[i].used)
            vec_push(&residuals, i);
    if (t->large)
        pair_residuals(t, &residuals);
    for (uint32_t i = 0; i < residuals.n; i++) {
        const LoopEquation *e = &t->equations.at[residuals.at[i]];
        vec_push(&causal->residuals,
                 solutions_residual(t->solutions, e->shape, t->vars.at + e->vars, e->equation));
    }
    CausalItem item = {true, causal->loops.n};
    vec_push(&causal->loops, loop);
    vec_push(&causal->items, item);
    vec_free(&residuals);
}

void
tearing_block(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    tearing_load(t, equations, unknowns, n);
    if (!tearing_reduce(t, causal, equations, unknowns, n)) {
        tearing_choose(t, unknowns, n);
        if (tearing_solve_few(t, causal, unknowns, n))
            tearing_emit_inner(t, causal, unknowns, true);
        else
            emit_loop(t, causal, unknowns, n);
    }
    for (uint32_t i = 0; i < n; i++)
        t->local_of.at[unknowns[i]] = NONE;
}
