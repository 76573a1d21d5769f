// algebra.c: algebra: luz, tar and Sgn of the model's equations in normal form.
//
// Purpose: the many ways to write clearance and friction become one, with each friction band a single term
// F*Sgn(x), so that pass `laws` makes one unknown force per band.
// Method: nonsmooth_normalise, once per shape and per pattern of slots known to be non-negative.
// Contract: requires nothing; runs before `laws` and `alias`. May give an equation another shape and row.
// Complexity: linear in the equations; the algebra is memoized.
//
//     f = c*tar(v, F/c)    =>    f = c*v + F*Sgn(v)
//
// An unknown that no other equation has is determined by the one it stands in: where that is monotone in it, R-loop gives it without a law.
//
//     x = y + k*tar(y, a)    =>    y = luz(x, k*a)/(1 + k)
#include "ir/dae/guards.h"
#include "ir/dae/pass.h"
#include "ir/dae/pattern.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"

typedef struct Algebra {
    Dae *dae;
    Patterns patterns;
    U32Vec sign;  // per slot of the equation at hand: bits of Sign
    U32Vec asked; // slots whose positive value decided
    U32Vec vars;
    RowSigns signs; // over `vars`, where an equation is solved
    U8Vec uses;   // per variable: equations that have it; 2 stands for more
} Algebra;

enum Sign { SIGN_NONNEG = 1, SIGN_POSITIVE_NOW = 2 }; // declared; of a parameter, by its value while compiling

static bool
slot_is_nonneg(uint32_t slot, void *context)
{
    const Algebra *algebra = context;
    return algebra->sign.at[slot] & SIGN_NONNEG;
}

static bool
assume_positive(Expr e, void *context)
{
    Algebra *algebra = context;
    const Exprs *exprs = algebra->dae->exprs;
    bool positive = expr_op(exprs, e) == OP_SLOT && algebra->sign.at[expr_slot_of(exprs, e)] & SIGN_POSITIVE_NOW;
    if (positive)
        vec_push(&algebra->asked, expr_slot_of(exprs, e));
    return positive;
}

static uint32_t
sign_of(Dae *dae, Var var)
{
    bool positive = dae_known_positive(dae, expr_slot(dae->exprs, 0), &var);
    return (dae_is_nonneg(dae, var) ? SIGN_NONNEG : 0) | (positive ? SIGN_POSITIVE_NOW : 0);
}

static bool
concerns(const Exprs *exprs, Expr shape)
{
    return expr_has_any(exprs, shape, ops_and(ops_and(ops_of(OP_LUZ), OP_TAR), OP_SGN));
}

// The result's slots come from the first of `source`; behind them are the slots whose values decided.
static const Pattern *
normal_form(Algebra *algebra, Expr shape)
{
    uint32_t n = algebra->sign.n;
    const Pattern *found = patterns_find(&algebra->patterns, shape, algebra->sign.at, n);
    if (found)
        return found;
    Exprs *exprs = algebra->dae->exprs;
    U32Vec source = {0};
    vec_clear(&algebra->asked);
    Expr normal = nonsmooth_normalise(exprs, shape, &(Signs){slot_is_nonneg, assume_positive, algebra, NULL});
    Expr result = expr_shape(exprs, normal, &source);
    vec_append(&source, algebra->asked.at, algebra->asked.n);
    found = patterns_add(&algebra->patterns, shape, algebra->sign.at, n, result, source.at, source.n);
    vec_free(&source);
    return found;
}

static void
rewrite(Algebra *algebra, uint32_t equation)
{
    Dae *dae = algebra->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    vec_clear(&algebra->sign);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&algebra->sign, sign_of(dae, vars[k]));
    const Pattern *normal = normal_form(algebra, dae->equations.at[equation].shape);
    uint32_t n_new = expr_nslots(dae->exprs, normal->result);
    bool same = normal->result == dae->equations.at[equation].shape;
    vec_clear(&algebra->vars);
    for (uint32_t k = 0; k < normal->n_result; k++)
        vec_push(&algebra->vars, vars[normal->source[k]]);
    for (uint32_t k = 0; k < n_new; k++)
        same &= normal->source[k] == k;
    if (same)
        return;
    dae->equations.at[equation].shape = normal->result;
    dae->equations.at[equation].row = dae_add_row(dae, algebra->vars.at, n_new);
    for (uint32_t k = n_new; k < normal->n_result; k++)
        dae_require_nonneg(dae, expr_slot(dae->exprs, 0), &algebra->vars.at[k], equation);
}

static bool
set_valued(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_TAR) || expr_has_op(exprs, e, OP_SGN);
}

static void
count_uses(Algebra *algebra)
{
    Dae *dae = algebra->dae;
    vec_grow(&algebra->uses, dae->nvars);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        uint32_t n;
        const Var *vars = dae_row(dae, i, &n);
        uint8_t kind = dae->equations.at[i].kind;
        for (uint32_t k = 0; k < n && kind != EQN_REMOVED && kind != EQN_INITIAL; k++) {
            bool again = false; // a variable may have several slots
            for (uint32_t l = 0; l < k && !again; l++)
                again = vars[l] == vars[k];
            if (!again && algebra->uses.at[vars[k]] < 2)
                algebra->uses.at[vars[k]]++;
        }
    }
}

// Its derivative does not occur, and neither is it one.
static bool
is_single(const Algebra *algebra, Var var)
{
    const Dae *dae = algebra->dae;
    return dae_kind(dae, var) == VAR_CONTINUOUS && algebra->uses.at[var] == 1 && dae->var_der.at[var] == NONE && dae->var_der_of.at[var] == NONE;
}

static void
solve_single(Algebra *algebra, uint32_t equation)
{
    Dae *dae = algebra->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    vec_clear(&algebra->vars);
    vec_append(&algebra->vars, vars, n);
    const Signs signs = row_signs(&algebra->signs);
    for (uint32_t k = 0; k < n; k++) {
        if (!is_single(algebra, algebra->vars.at[k]))
            continue;
        vec_clear(&algebra->signs.assumed);
        Expr solved = nonsmooth_solve(exprs, dae->equations.at[equation].shape, k, &signs);
        if (!solved || set_valued(exprs, solved))
            continue;
        Expr shape;
        uint32_t row;
        dae_bind_shape(dae, expr_2(exprs, OP_EQN, expr_slot(exprs, k), solved), algebra->vars.at, &shape, &row);
        dae->equations.at[equation].shape = shape;
        dae->equations.at[equation].row = row;
        row_signs_require(&algebra->signs, equation);
        return;
    }
}

bool
pass_algebra(Dae *dae, Diags *diags)
{
    (void)diags; // every expression has a normal form; what has no meaning is reported by `laws`
    if (!exprs_have_op(dae->exprs, OP_LUZ) && !exprs_have_op(dae->exprs, OP_TAR) && !exprs_have_op(dae->exprs, OP_SGN))
        return true;
    Arena *scratch = arena_create();
    Algebra algebra = {.dae = dae, .patterns.arena = scratch};
    algebra.signs = (RowSigns){.dae = dae, .vars = &algebra.vars};
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        uint8_t kind = dae->equations.at[i].kind;
        if ((kind == EQN_NORMAL || kind == EQN_INITIAL) && concerns(dae->exprs, dae->equations.at[i].shape))
            rewrite(&algebra, i);
    }
    if (exprs_have_op(dae->exprs, OP_TAR) || exprs_have_op(dae->exprs, OP_SGN)) {
        count_uses(&algebra);
        for (uint32_t i = 0; i < dae->equations.n; i++)
            if (dae->equations.at[i].kind == EQN_NORMAL && set_valued(dae->exprs, dae->equations.at[i].shape))
                solve_single(&algebra, i);
    }
    vec_free(&algebra.uses);
    vec_free(&algebra.sign);
    vec_free(&algebra.asked);
    vec_free(&algebra.signs.assumed);
    dae->known = NULL; // later passes add parameters
    vec_free(&algebra.vars);
    arena_free(&scratch);
    return true;
}
