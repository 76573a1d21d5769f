// algebra.c: algebra: luz, tar and Sgn of the model's equations in normal form.
//
// Purpose: the many ways to write clearance and friction become one, with each friction band a single term
// F*Sgn(x), so that pass `laws` makes one unknown force per band.
// Method: nonsmooth_normalise, once per shape and per pattern of slots known to be non-negative.
// Contract: requires nothing; runs before `laws` and `alias`. May give an equation another shape and row.
// Complexity: linear in the equations; the algebra is memoized.
//
//     f = c*tar(v, F/c)    =>    f = c*v + F*Sgn(v)
#include "ir/dae/pass.h"
#include "ir/dae/pattern.h"
#include "ir/expr/expr.h"
#include "ir/expr/nonsmooth.h"

typedef struct Algebra {
    Dae *dae;
    Patterns patterns;
    U32Vec nonneg; // per slot of the equation at hand: 1 when its variable is known to be non-negative
    U32Vec vars;
} Algebra;

static bool
slot_is_nonneg(uint32_t slot, void *context)
{
    const Algebra *algebra = context;
    return algebra->nonneg.at[slot];
}

static uint32_t
is_nonneg(const Dae *dae, Var var)
{
    double value;
    if (dae_is_literal(dae, var, &value))
        return value >= 0;
    return (dae->var_flags.at[var] & VARF_NONNEG) != 0;
}

static bool
concerns(const Exprs *exprs, Expr shape)
{
    return expr_has_op(exprs, shape, OP_LUZ) || expr_has_op(exprs, shape, OP_TAR) || expr_has_op(exprs, shape, OP_SGN);
}

static const Pattern *
normal_form(Algebra *algebra, Expr shape)
{
    uint32_t n = algebra->nonneg.n;
    const Pattern *found = patterns_find(&algebra->patterns, shape, algebra->nonneg.at, n);
    if (found)
        return found;
    Exprs *exprs = algebra->dae->exprs;
    U32Vec source = {0};
    Expr normal = nonsmooth_normalise(exprs, shape, slot_is_nonneg, algebra);
    Expr result = expr_shape(exprs, normal, &source);
    found = patterns_add(&algebra->patterns, shape, algebra->nonneg.at, n, result, source.at, source.n);
    vec_free(&source);
    return found;
}

static void
rewrite(Algebra *algebra, uint32_t equation)
{
    Dae *dae = algebra->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    algebra->nonneg.n = algebra->vars.n = 0;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&algebra->nonneg, is_nonneg(dae, vars[k]));
    const Pattern *normal = normal_form(algebra, dae->equations.at[equation].shape);
    bool same = normal->result == dae->equations.at[equation].shape;
    for (uint32_t k = 0; k < normal->n_result; k++) {
        vec_push(&algebra->vars, vars[normal->source[k]]);
        same &= normal->source[k] == k;
    }
    if (same)
        return;
    dae->equations.at[equation].shape = normal->result;
    dae->equations.at[equation].row = dae_add_row(dae, algebra->vars.at, algebra->vars.n);
}

bool
pass_algebra(Dae *dae, Diags *diags)
{
    (void)diags; // every expression has a normal form; what has no meaning is reported by `laws`
    if (!exprs_have_op(dae->exprs, OP_LUZ) && !exprs_have_op(dae->exprs, OP_TAR) && !exprs_have_op(dae->exprs, OP_SGN))
        return true;
    Arena *scratch = arena_create();
    Algebra algebra = {.dae = dae, .patterns.arena = scratch};
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        uint8_t kind = dae->equations.at[i].kind;
        if ((kind == EQN_NORMAL || kind == EQN_INITIAL) && concerns(dae->exprs, dae->equations.at[i].shape))
            rewrite(&algebra, i);
    }
    vec_free(&algebra.nonneg);
    vec_free(&algebra.vars);
    arena_free(&scratch);
    return true;
}
