// tear_algebra.c: loops that are solved while compiling.
//
// Purpose: assignments instead of a loop, where few unknowns are iterated on or its laws are piecewise linear.
// Method: all texts of the block over one numbering of slots; the inner assignments are put into the residuals, which are solved
// for one tear after the other (Gaussian elimination on expressions), a set-valued law last, branch by branch. Loops with luz
// are given to its algebra (nonsmooth_solve.c): a series of springs with clearance has one force.
// Contract: tear.h. Complexity: bounded by the limits below.
//
//     f = k*(x - y),  f = -2*y   =>   y := k*x/(k - 2) and f by assignment
#include "ir/dae/guards.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/solve/tear.h"
#include "ir/solve/tear_series.h"

enum {
    ALGEBRA_LIMIT = 12,      // unknowns in a loop that is given to the algebra of luz and tar
    TEARS_LIMIT = 4,         // tears that are eliminated symbolically
    OPERATIONS_LIMIT = 400   // size of a substituted residual that is still solved symbolically
};

// --- composing: residuals as expressions of the tears over a block-wide slot numbering

static uint32_t
union_slot(Tearing *t, Var var)
{
    uint32_t slot;
    if (!map_get(&t->union_slot, var, &slot)) {
        slot = t->union_vars.n;
        vec_push(&t->union_vars, var);
        map_put(&t->union_slot, var, slot);
    }
    return slot;
}

static Expr
to_union(Tearing *t, const LoopEquation *e, Expr text, bool compose)
{
    Exprs *exprs = t->dae->exprs;
    U32Vec with = {0};
    for (uint32_t k = 0; k < e->n_vars; k++) {
        Var var = t->vars.at[e->vars + k];
        uint32_t local = local_unknown(t, var);
        Expr composed = compose && local != NONE ? t->composed.at[local] : 0;
        vec_push(&with, composed ? composed : expr_slot(exprs, union_slot(t, var)));
    }
    Expr result = expr_substitute(exprs, text, with.at, with.n);
    vec_free(&with);
    return result;
}

void
tearing_texts_begin(Tearing *t, uint32_t n)
{
    vec_clear(&t->union_vars);
    map_clear(&t->union_slot);
    vec_clear(&t->composed);
    vec_clear(&t->signs.assumed);
    vec_grow(&t->composed, n);
}

Expr
tearing_text(Tearing *t, const LoopEquation *e)
{
    return to_union(t, e, e->shape, false);
}

// The only unknown of the equation that is not expressed yet; NONE when there are none or several.
static uint32_t
last_open(Tearing *t, const LoopEquation *e, uint32_t *slot)
{
    uint32_t unknown = NONE;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
        if (local == NONE || t->composed.at[local] || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        if (unknown != NONE)
            return NONE;
        unknown = local;
        *slot = union_slot(t, t->vars.at[e->vars + k]);
    }
    return unknown;
}

// Expresses the last open unknown of an equation, if need be by inverting luz into tar.
static bool
express(Tearing *t, const LoopEquation *e)
{
    Exprs *exprs = t->dae->exprs;
    uint32_t slot = 0, unknown = last_open(t, e, &slot);
    if (unknown == NONE)
        return false;
    Expr text = to_union(t, e, e->shape, true), divisor = 0;
    Expr solved = expr_solve(exprs, text, slot, &divisor);
    Signs signs = row_signs(&t->signs);
    if (!solved || (divisor && !causal_divides(t->dae, divisor, t->union_vars.at)))
        solved = nonsmooth_solve(exprs, text, slot, &signs);
    if (!solved || expr_operations(exprs, solved) > OPERATIONS_LIMIT)
        return false;
    t->composed.at[unknown] = solved;
    return true;
}

// Equations with luz are used first, so that they are inverted, then the other laws of the common force; then
// what is left over is the sum of the elongations.
static uint32_t
turn_of(const Tearing *t, const LoopEquation *e, Var through)
{
    if (expr_has_op(t->dae->exprs, e->shape, OP_LUZ))
        return 0;
    for (uint32_t k = 0; k < e->n_vars; k++)
        if (t->vars.at[e->vars + k] == through)
            return 1;
    return 2;
}

// Expresses every unknown of the block through the one that composed[] starts with. Returns the equation that
// is left over, over union slots; 0 when the path breaks off.
static Expr
follow_series(Tearing *t, Var through, uint32_t n, uint32_t *left_over)
{
    bool used[ALGEBRA_LIMIT] = {false}, progress = true;
    uint32_t open = n;
    while (open > 1 && progress) {
        progress = false;
        for (uint32_t i = 0; i < 3 * n && open > 1 && !progress; i++) {
            const LoopEquation *e = &t->equations.at[i % n];
            if (used[i % n] || turn_of(t, e, through) != i / n || !express(t, e))
                continue;
            used[i % n] = progress = true;
            open--;
        }
    }
    for (uint32_t i = 0; i < n && open == 1; i++) {
        if (used[i])
            continue;
        *left_over = i;
        return to_union(t, &t->equations.at[i], t->equations.at[i].shape, true);
    }
    return 0;
}

static bool
is_single_valued(const Exprs *exprs, Expr e)
{
    return !expr_has_op(exprs, e, OP_TAR) && !expr_has_op(exprs, e, OP_SGN);
}

// A series of springs with clearance has one force: found first, everything else follows by assignments.
// Equations (18)-(34): z1 - z4 in f/K12 + tar(f/K23, c) + f/K34, hence f = luz(z1 - z4, c)/(1/K12 + 1/K23 +
// 1/K34).
static bool
reduce_series(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n, uint32_t through)
{
    uint32_t left_over = 0;
    tearing_texts_begin(t, n);
    uint32_t slot = union_slot(t, unknowns[through]);
    t->composed.at[through] = expr_slot(t->dae->exprs, slot);
    Expr text = follow_series(t, unknowns[through], n, &left_over);
    Signs signs = row_signs(&t->signs);
    Expr solved = text ? nonsmooth_solve(t->dae->exprs, text, slot, &signs) : 0;
    if (!solved || !is_single_valued(t->dae->exprs, solved))
        return false;
    Assign force = causal_assign(t->dae, unknowns[through], solved, t->union_vars.at, 0);
    // With the force known, ordinary propagation must reach everything but one equation, which the force
    // used up.
    tearing_determine(t, through);
    tearing_propagate(t);
    uint32_t unused = NONE, count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t->equations.at[i].used)
            continue;
        unused = i;
        count++;
    }
    if (count != 1)
        return false;
    force.equation = t->equations.at[unused].equation;
    row_signs_require(&t->signs, force.equation);
    tearing_add(causal, force);
    tearing_emit_inner(t, causal, unknowns, true);
    return true;
}

// Rows of any length, and of several clearances.
static bool
reduce_row(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    if (!tearing_series(t, causal, equations, unknowns, n))
        return false;
    row_signs_require(&t->signs, t->equations.at[0].equation);
    causal->reduced++;
    return true;
}

// The algebra of luz and tar removes whole piecewise-linear loops.
bool
tearing_reduce(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    bool has_luz = false;
    for (uint32_t i = 0; i < n; i++) {
        has_luz |= expr_has_op(exprs, t->equations.at[i].shape, OP_LUZ);
        if (t->equations.at[i].is_law)
            return false;
    }
    if (!has_luz)
        return false;
    if (n > ALGEBRA_LIMIT)
        return reduce_row(t, causal, equations, unknowns, n);
    // The common force occurs in the law of every spring, more often than any position.
    for (uint32_t wanted = n; wanted > 0; wanted--) {
        for (uint32_t i = 0; i < n; i++) {
            if (degree(t, i) != wanted)
                continue;
            if (reduce_series(t, causal, unknowns, n, i)) {
                causal->reduced++;
                return true;
            }
            tearing_load(t, equations, unknowns, n); // forget what the attempt determined
        }
    }
    if (reduce_row(t, causal, equations, unknowns, n))
        return true;
    tearing_texts_begin(t, n);
    Expr texts[ALGEBRA_LIMIT], solution[ALGEBRA_LIMIT];
    uint32_t slots[ALGEBRA_LIMIT];
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        texts[i] = expr_residual(exprs, to_union(t, e, e->shape, false));
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = union_slot(t, unknowns[i]);
    Signs signs = row_signs(&t->signs);
    if (!nonsmooth_eliminate(exprs, texts, n, slots, solution, &signs))
        return false;
    for (uint32_t i = 0; i < n; i++)
        tearing_add(causal, causal_assign(t->dae, unknowns[i], solution[i], t->union_vars.at,
                                         t->equations.at[i].equation));
    row_signs_require(&t->signs, t->equations.at[0].equation);
    causal->reduced++;
    return true;
}

// The inner unknowns as expressions of the tears and of what is known. False when they grow too large.
static bool
compose_inner(Tearing *t, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    tearing_texts_begin(t, n);
    for (uint32_t i = 0; i < t->order.n; i += 2) {
        const LoopEquation *e = &t->equations.at[t->order.at[i]];
        uint32_t local = t->order.at[i + 1], k = 0;
        while (t->vars.at[e->vars + k] != unknowns[local])
            k++;
        Expr solved = causal_solve(t->dae, e->shape, t->vars.at + e->vars, k);
        Expr composed = to_union(t, e, solved, true);
        if (expr_operations(exprs, composed) > OPERATIONS_LIMIT)
            return false;
        t->composed.at[local] = composed;
    }
    return true;
}

typedef struct Isolated { // tear := solution, from an equation
    uint32_t tear;        // local unknown
    Expr solution;        // over union slots
    uint32_t equation;
} Isolated;

// Too small, beside the other coefficients of its equation, for an elimination to keep what those say.
static bool
is_tiny_pivot(Tearing *t, const LoopEquation *from, Expr text, uint32_t slot, uint32_t local)
{
    Expr partial = t->linear && !from->is_law ? expr_diff(t->dae->exprs, text, slot) : 0;
    return partial && tearing_is_tiny(t, (uint32_t)(from - t->equations.at), local, tearing_sizes(t, partial, t->union_vars.at));
}

static void
guard_divisor(Tearing *t, const LoopEquation *from, Expr text, uint32_t slot)
{
    Expr divisor = 0;
    if (t->dae->settable && expr_solve(t->dae->exprs, text, slot, &divisor) && divisor)
        causal_guard(t->dae, divisor, t->union_vars.at, from->equation);
}

// Isolates one of the tears that are still open in residual `text` = 0, of equation `from`; NONE when none can be.
static uint32_t
isolate(Tearing *t, const Var *unknowns, const LoopEquation *from, Expr text, const bool *done, Expr *solution)
{
    for (uint32_t i = t->tears.n; i-- > 0;) {
        uint32_t slot = union_slot(t, unknowns[t->tears.at[i]]);
        if (done[i] || !expr_uses_slot(t->dae->exprs, text, slot) || is_tiny_pivot(t, from, text, slot, t->tears.at[i]))
            continue;
        *solution = causal_solve(t->dae, text, t->union_vars.at, slot);
        if (!*solution)
            continue;
        guard_divisor(t, from, text, slot);
        return i;
    }
    return NONE;
}

// With few tears: substitutes the inner assignments into the residuals and eliminates one tear after the
// other (Gaussian elimination on expressions). A law comes last: EQN(if mode == 0 then X else p - mode*a, 0)
// is solved for X branch by branch, and sticking gives X = 0 exactly.
bool
tearing_solve_few(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    Expr text[TEARS_LIMIT], mode = 0, held = 0;
    const LoopEquation *from[TEARS_LIMIT];
    bool done[TEARS_LIMIT] = {false};
    Isolated isolated[TEARS_LIMIT];
    uint32_t count = 0, laws = 0;
    if (t->tears.n > TEARS_LIMIT || !compose_inner(t, unknowns, n))
        return false;
    for (uint32_t pass = 0; pass < 2; pass++) { // ordinary residuals first
        for (uint32_t i = 0; i < n; i++) {
            const LoopEquation *e = &t->equations.at[i];
            if (e->used || e->is_law != (pass == 1))
                continue;
            Expr law = expr_residual(exprs, e->shape);
            if (e->is_law && (++laws > 1 || expr_op(exprs, law) != OP_IF))
                return false;
            if (e->is_law) {
                mode = to_union(t, e, expr_arg(exprs, law, 0), false);
                held = to_union(t, e, expr_arg(exprs, law, 1), false);
            }
            from[count] = e;
            text[count++] = to_union(t, e, e->is_law ? expr_arg(exprs, law, 2) : law, true);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        Expr solution = 0;
        uint32_t tear = expr_operations(exprs, text[i]) > OPERATIONS_LIMIT
            ? NONE : isolate(t, unknowns, from[i], text[i], done, &solution);
        if (tear == NONE)
            return false;
        done[tear] = true;
        // Sticking says something about X only: with another tear left, the loop stays.
        if (from[i]->is_law && held != expr_slot(exprs, union_slot(t, unknowns[t->tears.at[tear]])))
            return false;
        if (from[i]->is_law)
            solution = expr_3(exprs, OP_IF, mode, expr_const(exprs, 0), solution);
        isolated[i] = (Isolated){t->tears.at[tear], solution, from[i]->equation};
        uint32_t slot = union_slot(t, unknowns[t->tears.at[tear]]);
        for (uint32_t k = i + 1; k < count; k++)
            text[k] = expr_replace_slot(exprs, text[k], slot, solution);
    }
    for (uint32_t i = count; i-- > 0;)
        tearing_add(causal, causal_assign(t->dae, unknowns[isolated[i].tear], isolated[i].solution, t->union_vars.at,
                                         isolated[i].equation));
    return true;
}
