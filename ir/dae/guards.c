// guards.c: what passes rely on and numbers may break is asserted.
//
// Purpose: passes choose a form of equations for the values that parameters have while compiling (a divisor that is more than rounding, a
// stiffness that is positive). A compiled model whose parameters are set otherwise must say so instead of computing something else.
// Method: an assertion for each such condition, once. Contract: guards.h. Complexity: that of the expressions.
//
//     luz(k*x, k*a) became k*luz(x, a) for k = 2    =>    assert(k >= 0, ...) where k can be set
#include "ir/dae/guards.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"

static bool
is_new(Dae *dae, const Assert *made)
{
    uint64_t key = hash_mix(made->condition);
    uint32_t seen;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, made->condition); k++)
        key = hash_add(key, dae->rows.at[made->row + k]);
    bool known = map_get(&dae->guarded, key, &seen);
    map_put(&dae->guarded, key, 1);
    return !known;
}

void
dae_guard(Dae *dae, Assert made, Sym (*message)(Dae *dae, Expr of, const Var *vars), Expr of, const Var *vars)
{
    if (!is_new(dae, &made))
        return;
    made.message = message(dae, of, vars);
    vec_push(&dae->asserts, made);
}

bool
dae_known_positive(Dae *dae, Expr e, const Var *vars)
{
    double value;
    return expr_nslots(dae->exprs, e) && dae_is_parametric(dae, e, vars) && dae_known_expr(dae, e, vars, &value) && value > 0
           && !dae_known_cancelled(dae, e, vars);
}

Sym
dae_guard_message(Dae *dae, Expr e, const Var *vars, const char *rest)
{
    Out text = {0};
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, e, vars, &shape, &row);
    out_char(&text, '`');
    dae_print_shape(dae, shape, row, NONE, &text);
    out_printf(&text, "`%s", rest);
    Sym made = sym_of(dae->syms, text.text);
    out_free(&text);
    return made;
}

static Sym
sign_message(Dae *dae, Expr e, const Var *vars)
{
    return dae_guard_message(dae, e, vars, " was not negative when the model was compiled, and equations with luz or tar were solved for that: "
                             "compile the model with these values");
}

static Sym
zero_message(Dae *dae, Expr e, const Var *vars)
{
    return dae_guard_message(dae, e, vars, " was zero when the model was compiled, and a derivative that it multiplies was left out of the "
                             "equations: compile the model with these values");
}

static void
require(Dae *dae, Op relation, Expr e, const Var *vars, uint32_t equation, Sym (*said)(Dae *dae, Expr of, const Var *vars))
{
    Assert made = {.span = dae->equations.at[equation].span, .inst = dae->nodes.at[dae->equations.at[equation].node].inst};
    if (!dae->settable)
        return;
    Expr condition = expr_1(dae->exprs, OP_NOEVENT, expr_2(dae->exprs, relation, e, expr_const(dae->exprs, 0)));
    dae_bind_shape(dae, condition, vars, &made.condition, &made.row);
    dae_guard(dae, made, said, e, vars);
}

void
dae_require_nonneg(Dae *dae, Expr e, const Var *vars, uint32_t equation)
{
    require(dae, OP_GE, e, vars, equation, sign_message);
}

void
dae_require_zero(Dae *dae, Var factor, uint32_t equation)
{
    require(dae, OP_EQ, expr_slot(dae->exprs, 0), &factor, equation, zero_message);
}

static bool
row_nonneg(uint32_t slot, void *context)
{
    const RowSigns *signs = context;
    return slot < signs->vars->n && dae_is_nonneg(signs->dae, signs->vars->at[slot]);
}

// Is an expression of parameters positive or zero, by rounding or not?
static bool
known_nonneg(Dae *dae, Expr e, const Var *vars)
{
    double value;
    return expr_nslots(dae->exprs, e) && dae_is_parametric(dae, e, vars) && dae_known_expr(dae, e, vars, &value) && value >= 0;
}

static bool
assume(RowSigns *signs, Expr e, bool (*known)(Dae *dae, Expr e, const Var *vars))
{
    bool good = expr_nslots(signs->dae->exprs, e) <= signs->vars->n && known(signs->dae, e, signs->vars->at);
    if (good)
        vec_push(&signs->assumed, e);
    return good;
}

static bool
row_assume(Expr e, void *context)
{
    return assume(context, e, dae_known_positive);
}

static bool
row_ordered(Expr e, void *context)
{
    return assume(context, e, known_nonneg);
}

Signs
row_signs(RowSigns *signs)
{
    return (Signs){row_nonneg, row_assume, signs, row_ordered};
}

void
row_signs_require(const RowSigns *signs, uint32_t equation)
{
    for (uint32_t i = 0; i < signs->assumed.n; i++)
        dae_require_nonneg(signs->dae, signs->assumed.at[i], signs->vars->at, equation);
}
