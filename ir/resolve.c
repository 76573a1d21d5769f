// resolve.c: equations as they stand after alias elimination.
//
// Purpose: rows are never rewritten; this view replaces a slot by (minus) its representative and merges
// slots that came to stand for the same variable.
// Method: the work depends on the shape and, per slot, on the sign and on which earlier slot it equals. The
// result is memoized by that pattern, so a million rows of a few shapes cost index arithmetic.
// Contract: Dae.alias_of may be empty (then only repeated variables merge). Literals and other constants
// are never merged: rows that differ only by coincidence of values keep one shape.
// Complexity: linear in the number of slots.
//
//     a - b = 0 with b -> -c, a -> c   becomes   2*c = 0
#include "ir/dae.h"
#include "ir/pattern.h"

struct Resolver {
    Patterns patterns;
};

enum { QUADRATIC_LIMIT = 24 }; // up to here comparing all pairs is faster than hashing

// The first slot before k bound to the same variable, or k.
static uint32_t
first_equal(const Dae *dae, const Var *vars, uint32_t k, Map *seen)
{
    uint32_t first = k;
    if (seen) {
        if (!map_get(seen, vars[k], &first))
            map_put(seen, vars[k], k);
    } else {
        for (first = 0; vars[first] != vars[k]; first++)
            continue;
    }
    return first != k && dae_kind(dae, vars[k]) == VAR_CONSTANT ? k : first;
}

// slots[k] = 2*(first equal slot) + sign; vars[k] becomes the representative. True when nothing changes.
static bool
make_pattern(const Dae *dae, Var *vars, uint32_t n, uint32_t *slots)
{
    Map seen = {0};
    bool same = true;
    for (uint32_t k = 0; k < n; k++) {
        bool negative;
        vars[k] = dae_alias(dae, vars[k], &negative);
        slots[k] = 2 * first_equal(dae, vars, k, n > QUADRATIC_LIMIT ? &seen : NULL) + negative;
        same &= slots[k] == 2 * k;
    }
    map_free(&seen);
    return same;
}

static const Pattern *
resolve_pattern(Dae *dae, Expr shape, const uint32_t *slots, uint32_t n)
{
    U32Vec with = {0}, order = {0};
    for (uint32_t k = 0; k < n; k++) {
        Expr slot = expr_slot(dae->exprs, slots[k] / 2);
        vec_push(&with, slots[k] & 1 ? expr_1(dae->exprs, OP_NEG, slot) : slot);
    }
    Expr substituted = expr_substitute(dae->exprs, shape, with.at, n);
    Expr result = expr_shape(dae->exprs, substituted, &order);
    const Pattern *pattern =
        patterns_add(&dae->resolver->patterns, shape, slots, n, result, order.at, order.n);
    vec_free(&with);
    vec_free(&order);
    return pattern;
}

Expr
dae_resolve_shape(Dae *dae, Expr shape, uint32_t row, U32Vec *vars)
{
    uint32_t n = expr_nslots(dae->exprs, shape);
    vec_clear(vars);
    vec_reserve(vars, 3 * n + 1);
    if (n)
        memcpy(vars->at, dae->rows.at + row, n * sizeof *vars->at);
    vars->n = n;
    uint32_t *slots = vars->at + n, *old = vars->at + 2 * (size_t)n;
    if (make_pattern(dae, vars->at, n, slots))
        return shape;
    if (!dae->resolver) {
        dae->resolver = arena_new(dae->arena, struct Resolver);
        dae->resolver->patterns.arena = dae->arena;
    }
    const Pattern *pattern = patterns_find(&dae->resolver->patterns, shape, slots, n);
    if (!pattern)
        pattern = resolve_pattern(dae, shape, slots, n);
    memcpy(old, vars->at, n * sizeof *old);
    for (uint32_t k = 0; k < pattern->n_result; k++)
        vars->at[k] = old[pattern->source[k]];
    vars->n = pattern->n_result;
    return pattern->result;
}

Expr
dae_resolve(Dae *dae, uint32_t equation, U32Vec *vars)
{
    const Equation *at = &dae->equations.at[equation];
    return dae_resolve_shape(dae, at->shape, at->row, vars);
}
