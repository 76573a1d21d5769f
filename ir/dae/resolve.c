// resolve.c: equations as they stand after alias elimination.
//
// Purpose: rows are never rewritten; this view replaces a slot by (minus) its representative and merges
// slots that came to stand for the same variable.
// Method: the work depends on the shape and, per slot, on the sign and on which earlier slot it equals. The
// result is memoized by that pattern, so a million rows of a few shapes cost index arithmetic.
// Contract: Dae.alias_of may be empty (then only repeated variables merge). Literals and other constants
// are never merged: rows that differ only by coincidence of values keep one shape.
// Each equation is remembered as it stands: passes read all of them several times.
// Complexity: linear in the number of slots.
//
//     a - b = 0 with b -> -c, a -> c   becomes   2*c = 0
#include "ir/dae/dae.h"
#include "ir/dae/pattern.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { QUADRATIC_LIMIT = 24 }; // up to here comparing all pairs is faster than hashing
enum { PACKED_SLOTS = 8, RECENT = 256 };

// What was found for a short row: its shape, and four bits of pattern for each slot.
typedef struct Recent {
    uint64_t key;
    Expr result;
    bool same;       // the row stays as it is
    uint8_t n;       // slots of the result
    uint32_t source; // four bits for each: the slot of the row it comes from
} Recent;

// An equation as it was read; true as long as it has this shape and row, and the alias table is the same.
typedef struct Resolved {
    Expr shape;
    uint32_t row;
    Expr result;
    uint32_t first, n; // of Resolver.vars
    uint32_t table;    // Resolver.table at that time; 0: it was not read
} Resolved;

struct Resolver {
    Patterns patterns;
    VEC(Resolved) resolved; // per equation
    U32Vec vars;            // of all of them
    uint32_t table;         // number of the alias table, from 1
    Recent recent[RECENT];  // by hash of the key, the latest of those that share a place
};

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

// The pattern of the row in vars, which become representatives; NULL when nothing changes. Slots are scratch.
static const Pattern *
pattern_of(Dae *dae, Expr shape, Var *vars, uint32_t n, uint32_t *slots)
{
    if (make_pattern(dae, vars, n, slots))
        return NULL;
    const Pattern *pattern = patterns_find(&dae->resolver->patterns, shape, slots, n);
    return pattern ? pattern : resolve_pattern(dae, shape, slots, n);
}

// The key of a short row; `to` receives the representatives.
static uint64_t
packed_key(const Dae *dae, Expr shape, const Var *from, uint32_t n, Var *to)
{
    uint64_t key = (uint64_t)shape << 32, seen = 0; // a bit for each variable, which some may share
    for (uint32_t k = 0; k < n; k++) {
        bool negative;
        uint32_t first = k;
        to[k] = dae_alias(dae, from[k], &negative);
        uint64_t bit = 1ull << to[k] % 64;
        if (seen & bit && dae_kind(dae, to[k]) != VAR_CONSTANT)
            for (first = 0; to[first] != to[k]; first++)
                continue;
        seen |= bit;
        key |= (uint64_t)(2 * first + negative) << 4 * k;
    }
    return key;
}

static Recent
find_recent(Dae *dae, uint64_t key, Expr shape, const Var *row, uint32_t n)
{
    Var vars[PACKED_SLOTS];
    uint32_t slots[PACKED_SLOTS];
    memcpy(vars, row, n * sizeof *vars);
    const Pattern *pattern = pattern_of(dae, shape, vars, n, slots);
    if (!pattern)
        return (Recent){.key = key, .result = shape, .same = true, .n = (uint8_t)n};
    Recent found = {.key = key, .result = pattern->result, .n = (uint8_t)pattern->n_result};
    for (uint32_t k = 0; k < found.n; k++)
        found.source |= pattern->source[k] << 4 * k;
    return found;
}

static Expr
resolve_short(Dae *dae, Expr shape, const Var *row, uint32_t n, U32Vec *vars)
{
    uint64_t key = packed_key(dae, shape, row, n, vars->at);
    Recent *recent = &dae->resolver->recent[hash_mix(key) % RECENT];
    if (recent->key != key)
        *recent = find_recent(dae, key, shape, row, n);
    if (recent->same)
        return recent->result;
    Var to[PACKED_SLOTS];
    uint32_t source = recent->source;
    memcpy(to, vars->at, sizeof to); // all of them: a copy of known length is no call
    for (uint32_t k = 0; k < recent->n; k++, source >>= 4)
        vars->at[k] = to[source & 15];
    vars->n = recent->n;
    return recent->result;
}

static void
make_resolver(Dae *dae)
{
    dae->resolver = arena_new(dae->arena, struct Resolver);
    dae->resolver->patterns.arena = dae->arena;
    dae->resolver->table = 1;
}

Expr
dae_resolve_shape(Dae *dae, Expr shape, uint32_t row, U32Vec *vars)
{
    uint32_t n = expr_nslots(dae->exprs, shape);
    if (!dae->resolver)
        make_resolver(dae);
    vec_reserve(vars, 3 * (n < PACKED_SLOTS ? PACKED_SLOTS : n) + 1);
    vars->n = n;
    if (!n)
        return shape;
    if (n <= PACKED_SLOTS)
        return resolve_short(dae, shape, dae->rows.at + row, n, vars);
    uint32_t *old = vars->at + 2 * (size_t)n;
    const Pattern *pattern =
        pattern_of(dae, shape, memcpy(vars->at, dae->rows.at + row, n * sizeof *vars->at), n, vars->at + n);
    if (!pattern)
        return shape;
    memcpy(old, vars->at, n * sizeof *old);
    for (uint32_t k = 0; k < pattern->n_result; k++)
        vars->at[k] = old[pattern->source[k]];
    vars->n = pattern->n_result;
    return pattern->result;
}

// What is remembered of an equation; NULL: nothing that is still true.
static inline const Resolved *
recall(const struct Resolver *resolver, const Equation *at, uint32_t equation)
{
    if (!resolver || equation >= resolver->resolved.n)
        return NULL;
    const Resolved *known = &resolver->resolved.at[equation];
    return known->table == resolver->table && known->shape == at->shape && known->row == at->row ? known : NULL;
}

// Resolves an equation, and remembers it in the place that it had, where that is large enough. No part of who asks, which is to be short.
static __attribute__((noinline)) Expr
remember(Dae *dae, uint32_t equation, U32Vec *vars)
{
    const Equation *at = &dae->equations.at[equation];
    Expr result = dae_resolve_shape(dae, at->shape, at->row, vars);
    struct Resolver *resolver = dae->resolver;
    if (!dae->alias_of.n)
        return result;
    if (equation >= resolver->resolved.n)
        vec_grow(&resolver->resolved, dae->equations.n - resolver->resolved.n);
    Resolved *known = &resolver->resolved.at[equation];
    uint32_t first = known->first;
    if (vars->n > known->n) {
        first = resolver->vars.n;
        vec_append(&resolver->vars, vars->at, vars->n);
    } else
        for (uint32_t k = 0; k < vars->n; k++)
            resolver->vars.at[first + k] = vars->at[k];
    *known = (Resolved){at->shape, at->row, result, first, vars->n, resolver->table};
    return result;
}

Expr
dae_resolve(Dae *dae, uint32_t equation, U32Vec *vars)
{
    const struct Resolver *resolver = dae->resolver;
    const Resolved *known = recall(resolver, &dae->equations.at[equation], equation);
    if (!known)
        return remember(dae, equation, vars);
    uint32_t n = known->n;
    const uint32_t *from = resolver->vars.at + known->first;
    vec_reserve(vars, n);
    vars->n = n;
    uint32_t *to = vars->at;
    for (uint32_t k = 0; k < n; k++) // few: a call of memcpy would cost more
        to[k] = from[k];
    return known->result;
}

void
dae_forget_resolved(Dae *dae)
{
    if (dae->resolver)
        dae->resolver->table++;
}

void
dae_set_alias(Dae *dae, Var var, Var of, bool negative)
{
    dae->alias_of.at[var] = of;
    dae->alias_negative.at[var] = negative;
    dae_forget_resolved(dae);
}

bool
dae_resolved_holds(Dae *dae, uint32_t equation)
{
    U32Vec vars = {0};
    const Equation *at = &dae->equations.at[equation];
    const Resolved *known = recall(dae->resolver, at, equation);
    if (!known)
        return true;
    bool same = dae_resolve_shape(dae, at->shape, at->row, &vars) == known->result && vars.n == known->n;
    for (uint32_t k = 0; same && k < vars.n; k++)
        same = vars.at[k] == dae->resolver->vars.at[known->first + k];
    vec_free(&vars);
    return same;
}

void
dae_free_resolved(Dae *dae)
{
    if (!dae->resolver)
        return;
    vec_free(&dae->resolver->resolved);
    vec_free(&dae->resolver->vars);
}
