// unilateral.c: unilateral constraints become unknown reactions.
//
// Purpose: contact of bodies, stops, freewheels, ideal diodes: p = unilateral(x, e) says x >= 0, p >= 0 and x*p = 0. Where x is
// a gap between masses an impact reverses der(x) with the coefficient of restitution e (Newton).
// Method: each call gets an unknown p and a law, as a set-valued term of friction does (laws.c): either p = 0, or x is held
// at zero and p is what that takes (Glocker, Set-Valued Force Laws, 2001, chapter 3; Brogliato, Nonsmooth Mechanics, 2016).
// Pass `index` finds how often x has to be differentiated until p acts on it.
// Contract: after `contract`, before `units`: p takes the unit it meets. Appends variables, equations, binds and laws; an equation
// gets another shape and row. Afterwards no equation contains UNILATERAL. Complexity: linear in the equations with calls.
//
//     f = unilateral(s - 1, 0.5)   =>   f = $reaction1,  $gap1 = s - 1,
//                                       law: if $open1 == 0 then $gap1 else $reaction1 - ($open1 - 1)*(1 + 0.5) = 0
#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr.h"

typedef struct Unilateral {
    Dae *dae;
    Diags *diags;
    Map number_of;   // instance -> last number of a hidden variable
    Expr law;        // shape of every law
    // of the equation at hand:
    U32Vec vars;
    uint32_t equation;
    bool good;
} Unilateral;

static uint32_t
inst_of(const Unilateral *pass)
{
    return pass->dae->nodes.at[pass->dae->equations.at[pass->equation].node].inst;
}

static Var
add_hidden(Unilateral *pass, const char *stem, uint32_t number, VarKind kind, VarType type)
{
    Dae *dae = pass->dae;
    return dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, number), inst_of(pass), kind, type, false);
}

static bool
is_parametric(const Unilateral *pass, Expr e)
{
    const Dae *dae = pass->dae;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, e); k++) {
        VarKind kind = dae_kind(dae, pass->vars.at[k]);
        if (expr_uses_slot(dae->exprs, e, k) && kind != VAR_PARAMETER && kind != VAR_CONSTANT)
            return false;
    }
    return !expr_has_op(dae->exprs, e, OP_TIME);
}

// The variable e is, or a hidden one equal to it.
static Var
variable_for(Unilateral *pass, Expr e, const char *stem, uint32_t number)
{
    Dae *dae = pass->dae;
    if (expr_op(dae->exprs, e) == OP_CONST)
        return dae_literal(dae, expr_value(dae->exprs, e));
    if (expr_op(dae->exprs, e) == OP_SLOT)
        return pass->vars.at[expr_slot_of(dae->exprs, e)];
    Equation owner = dae->equations.at[pass->equation];
    bool bind = is_parametric(pass, e);
    Var var = add_hidden(pass, stem, number, bind ? VAR_PARAMETER : VAR_CONTINUOUS, TYPE_REAL);
    uint32_t last = pass->vars.n, row;
    Expr shape;
    if (bind) {
        dae_bind_shape(dae, e, pass->vars.at, &shape, &row);
        dae_add_bind(dae, (Bind){.var = var, .attr = ATTR_VALUE, .shape = shape, .row = row, .span = owner.span});
        return var;
    }
    vec_push(&pass->vars, var);
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, last), e), pass->vars.at, &shape, &row);
    pass->vars.n = last;
    uint32_t added = dae_add_equation(dae, EQN_NORMAL, shape, row, owner.node, owner.span);
    dae->equations.at[added].generated = 1;
    return var;
}

static bool
refuse(Unilateral *pass, Span span, const char *reason)
{
    Diag *diag = diag_add(pass->diags, E0508, span, "this unilateral constraint has no meaning: %s", reason);
    diag_help(diag, "unilateral(gap, e) is the reaction that keeps the gap from becoming negative; e is the coefficient of "
                    "restitution of impacts, from 0 to 1");
    pass->good = false;
    return false;
}

static bool
check(Unilateral *pass, Expr gap, Expr restitution, Span span)
{
    const Dae *dae = pass->dae;
    bool bare = expr_op(dae->exprs, gap) == OP_SLOT;
    VarKind kind = bare ? dae_kind(dae, pass->vars.at[expr_slot_of(dae->exprs, gap)]) : VAR_CONTINUOUS;
    if (is_parametric(pass, gap))
        return refuse(pass, span, "its gap is known before the start");
    if (kind == VAR_DISCRETE || kind == VAR_INPUT)
        return refuse(pass, span, "its gap is no unknown that a force could hold at zero");
    if (!is_parametric(pass, restitution))
        return refuse(pass, span, "its coefficient of restitution must be known before the start");
    double e = expr_op(dae->exprs, restitution) == OP_CONST ? expr_value(dae->exprs, restitution) : 0;
    return (e >= 0 && e <= 1) || refuse(pass, span, "its coefficient of restitution is not between 0 and 1");
}

static Expr
law_shape(Exprs *exprs)
{
    Expr mode = expr_slot(exprs, 0), x = expr_slot(exprs, 1), p = expr_slot(exprs, 2), e = expr_slot(exprs, 3);
    Expr one = expr_const(exprs, 1), closed = expr_2(exprs, OP_EQ, mode, expr_const(exprs, 0));
    Expr given = expr_2(exprs, OP_MUL, expr_sub(exprs, mode, one), expr_2(exprs, OP_ADD, one, e));
    Expr law = expr_3(exprs, OP_IF, closed, x, expr_sub(exprs, p, given));
    return expr_2(exprs, OP_EQN, law, expr_const(exprs, 0));
}

static Expr
reaction(Unilateral *pass, Expr call)
{
    Dae *dae = pass->dae;
    uint32_t number = 0, inst = inst_of(pass);
    Equation owner = dae->equations.at[pass->equation];
    Expr gap = expr_arg(dae->exprs, call, 0), restitution = expr_arg(dae->exprs, call, 1);
    if (!check(pass, gap, restitution, owner.span))
        return gap;
    map_get(&pass->number_of, inst, &number);
    map_put(&pass->number_of, inst, ++number);
    Law law = {.unilateral = 1, .span = owner.span};
    law.x = variable_for(pass, gap, "gap", number);
    law.a = variable_for(pass, restitution, "restitution", number);
    law.p = add_hidden(pass, "reaction", number, VAR_CONTINUOUS, TYPE_REAL);
    law.mode = add_hidden(pass, "open", number, VAR_DISCRETE, TYPE_INTEGER);
    uint32_t row = dae_add_row(dae, (Var[]){law.mode, law.x, law.p, law.a}, 4);
    law.equation = dae_add_equation(dae, EQN_LAW, pass->law, row, owner.node, owner.span);
    dae->equations.at[law.equation].generated = 1;
    vec_push(&dae->laws, law);
    vec_push(&pass->vars, law.p);
    return expr_slot(dae->exprs, pass->vars.n - 1);
}

static Expr
replace_unilateral(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    if (expr_op(exprs, part) != OP_UNILATERAL)
        return 0;
    Expr law = expr_make(exprs, OP_UNILATERAL, args, expr_nargs(exprs, part));
    return expr_op(exprs, law) == OP_UNILATERAL ? reaction(context, law) : law;
}

static void
visit(Unilateral *pass, uint32_t equation)
{
    Dae *dae = pass->dae;
    Equation at = dae->equations.at[equation];
    uint32_t n, new_row;
    if (at.kind == EQN_INITIAL || at.kind == EQN_WHEN) {
        refuse(pass, at.span, "its reaction is no unknown of this equation");
        return;
    }
    const Var *row = dae_row(dae, equation, &n);
    vec_clear(&pass->vars);
    vec_append(&pass->vars, row, n);
    pass->equation = equation;
    Expr shape, text = expr_rewrite(dae->exprs, at.shape, replace_unilateral, pass);
    dae_bind_shape(dae, text, pass->vars.at, &shape, &new_row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = new_row;
}

static void
check_elsewhere(Unilateral *pass)
{
    const Dae *dae = pass->dae;
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (expr_has_op(dae->exprs, dae->binds.at[i].shape, OP_UNILATERAL))
            refuse(pass, dae->binds.at[i].span, "it gives a parameter or an attribute its value");
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        if (expr_has_op(dae->exprs, dae->reinits.at[i].value, OP_UNILATERAL))
            refuse(pass, dae->reinits.at[i].span, "reinit() needs a value");
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        if (expr_has_op(dae->exprs, dae->asserts.at[i].condition, OP_UNILATERAL))
            refuse(pass, dae->asserts.at[i].span, "an assertion compares it");
    for (uint32_t i = 0; i < dae->told.n; i++)
        if (expr_has_op(dae->exprs, dae->told.at[i].shape, OP_UNILATERAL))
            refuse(pass, dae->told.at[i].span, "a message tells it");
}

bool
pass_unilateral(Dae *dae, Diags *diags)
{
    if (!exprs_have_op(dae->exprs, OP_UNILATERAL))
        return true;
    Unilateral pass = {.dae = dae, .diags = diags, .law = law_shape(dae->exprs), .good = true};
    uint32_t n = dae->equations.n; // what is appended has no calls: inner ones come first
    check_elsewhere(&pass);
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind != EQN_REMOVED && expr_has_op(dae->exprs, dae->equations.at[i].shape, OP_UNILATERAL))
            visit(&pass, i);
    map_free(&pass.number_of);
    vec_free(&pass.vars);
    return pass.good;
}
