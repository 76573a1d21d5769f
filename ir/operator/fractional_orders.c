// fractional_orders.c: fractional derivatives: fder(expr, alpha) becomes a state, two inputs and a parameter that the runtime supplies.
//
// Purpose: with n = ceil(alpha) the derivative of order alpha is an integral over the past of the n-th derivative of u: of u itself for n = 0
// (fractional integrals of Riemann and Liouville), of u', u'', ... for n > 0 (Caputo). The runtime replaces its kernel by a sum of exponentials,
// whose states are no variables of the model.
// Method: with g = d^n u/dt^n the sum of exponentials gives h = sum of c_k*phi_k, phi_k' = g - s_k*phi_k, and what is faster
// than all of them gives m*g. Here stands only w with der(w) = g, and h is written a*w + b with inputs a and b: the
// runtime sets b so that this is the sum, and a so that the derivatives by w, which the compiler makes, are those
// of the discretised sum (runtime/memory/fractional.c). In this form fder(u, alpha) acts on structure, start values and
// state selection like der(u) or der(der(u)), which is what the theory asks for. Below -1 a fractional integral is integrated further
// as an ordinary state. The order itself is a parameter of the runtime: only n shapes the equations. Whole orders are derivatives and integrals; where
// sensitivities by an order are wanted, one that is a parameter stays an order, the limit of those below it.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.fractionals; an equation gets another shape
// and row. Afterwards no equation contains FDER. Complexity: linear in the equations with fder.
//
//     fder(x, 0.5) = -x   =>   $fscale1*$fder1 + $fshift1 + $ftail1*der($fder1) = -x,  der($fder1) = der(x)
#include <math.h>

#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/operator_calls.h"

enum { ORDER_MOST = 32 };

// An unknown equal to e that can be differentiated.
static Var
unknown_for(Calls *calls, Expr e, const char *stem, uint32_t number)
{
    const Dae *dae = calls->dae;
    if (expr_op(dae->exprs, e) == OP_SLOT) {
        Var var = calls->naming.vars.at[expr_slot_of(dae->exprs, e)];
        if (dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_der_of.at[var] == NONE && dae->var_pre_of.at[var] == NONE)
            return var;
    }
    return calls_define(calls, e, stem, number);
}

static Expr
derivative(Calls *calls, Var var)
{
    return calls_slot(calls, dae_der(calls->dae, var));
}

// A hidden state that starts at 0 and has the rate e.
static Var
integral_of(Calls *calls, const char *stem, uint32_t number, Expr e)
{
    Var state = calls_hidden(calls, stem, number, VAR_CONTINUOUS, TYPE_REAL);
    calls->dae->var_flags.at[state] |= VARF_FIXED;
    calls_equate(calls, derivative(calls, state), e);
    return state;
}

// The derivative of whole order n of u.
static Expr
whole_derivative(Calls *calls, Expr u, int32_t n, uint32_t number)
{
    for (; n < 0; n++, number = calls_number(calls))
        u = calls_slot(calls, integral_of(calls, "fint", number, u));
    if (n == 0)
        return u;
    Var var = unknown_for(calls, u, "fof", number);
    for (; n > 1; n--)
        var = calls_define(calls, derivative(calls, var), "frate", calls_number(calls));
    return derivative(calls, var);
}

// --- orders

static Expr
refuse_order(Calls *calls, Expr order, const char *why)
{
    Dae *dae = calls->dae;
    Out text = {0};
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, order, calls->naming.vars.at, &shape, &row);
    dae_print_shape(dae, shape, row, NONE, &text);
    Diag *diag = diag_add(calls->diags, E0219, calls_span(calls), "the order %s of 'fder' %s", text.text, why);
    out_free(&text);
    diag_help(diag, "an order is a number, or an expression of parameters with values, between -%d and %d", ORDER_MOST, ORDER_MOST);
    return 0;
}

// Equations of a whole order are other ones: a parameter that gives one keeps it.
static void
assert_order(Calls *calls, Expr order, double value)
{
    Dae *dae = calls->dae;
    Exprs *exprs = dae->exprs;
    const Equation owner = dae->equations.at[calls->equation];
    Assert made = {.inst = dae->nodes.at[owner.node].inst, .span = owner.span, .told = dae->told.n, .n_told = 1};
    Expr condition = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_EQ, order, expr_const(exprs, value)));
    dae_bind_shape(dae, condition, calls->naming.vars.at, &made.condition, &made.row);
    Told told = {.inst = made.inst, .span = made.span};
    dae_bind_shape(dae, order, calls->naming.vars.at, &told.shape, &told.row);
    vec_push(&dae->told, told);
    Out text = {0};
    out_printf(&text, "the equations were made for order %g of 'fder', but it is now \1%%.10g\2: compile the model with this value "
                      "(mdlc run --set, mdlc build --set)", value);
    made.message = sym_of(dae->syms, text.text);
    out_free(&text);
    vec_push(&dae->asserts, made);
}

// scale*state + shift + tail*der(state) is told as one call.
static void
tell(Calls *calls, const Fractional *made, Expr u, Expr order)
{
    Dae *dae = calls->dae;
    Out whole = {0}, state = {0};
    dae_print_value(dae, expr_2(dae->exprs, OP_FDER, u, order), calls->naming.vars.at, &whole);
    dae_tell_as(dae, made->shift, whole.text);
    dae_tell_nothing(dae, made->scale);
    dae_tell_nothing(dae, made->tail);
    out_text(&state, made->below < 0 ? "integral(" : "memory(");
    dae_print_value(dae, u, calls->naming.vars.at, &state);
    out_char(&state, ')');
    dae_tell_as(dae, made->state, state.text);
    out_free(&whole);
    out_free(&state);
}

// `last` integrals follow, so that the order is last more than the one asked for.
static Expr
sum_of_exponentials(Calls *calls, Expr u, Expr order, int32_t below, int32_t last)
{
    Dae *dae = calls->dae;
    Exprs *exprs = dae->exprs;
    uint32_t number = calls_number(calls);
    Fractional made = {.below = below, .integrals = last, .span = calls_span(calls)};
    if (below < 0) {
        made.input = made.state = integral_of(calls, "fder", number, u);
    } else {
        made.input = unknown_for(calls, whole_derivative(calls, u, below, number), below ? "frate" : "fof", number);
        made.state = integral_of(calls, "fder", number, derivative(calls, made.input));
    }
    made.order = calls_define(calls, order, "forder", number);
    made.scale = calls_hidden(calls, "fscale", number, VAR_INPUT, TYPE_REAL);
    made.shift = calls_hidden(calls, "fshift", number, VAR_INPUT, TYPE_REAL);
    made.tail = calls_hidden(calls, "ftail", number, VAR_PARAMETER, TYPE_REAL);
    vec_push(&dae->fractionals, made);
    tell(calls, &made, u, order);
    Expr sum = expr_2(exprs, OP_MUL, calls_slot(calls, made.scale), calls_slot(calls, made.state));
    Expr rest = expr_2(exprs, OP_MUL, calls_slot(calls, made.tail), derivative(calls, made.state));
    return expr_3(exprs, OP_ADD, sum, calls_slot(calls, made.shift), rest);
}

static Expr
fractional(Calls *calls, Expr e)
{
    Dae *dae = calls->dae;
    Exprs *exprs = dae->exprs;
    Expr u = expr_arg(exprs, e, 0), order = expr_arg(exprs, e, 1);
    double value;
    if (!dae_known_expr(dae, order, calls->naming.vars.at, &value))
        return refuse_order(calls, order, "is not known while compiling");
    if (!(fabs(value) <= ORDER_MOST))
        return refuse_order(calls, order, "is too large");
    bool number = expr_op(exprs, order) == OP_CONST;
    if (value == ceil(value) && (number || !dae->turned || value == -ORDER_MOST)) {
        if (!number)
            assert_order(calls, order, value);
        return value > 0 && calls_is_parametric(calls, u) ? expr_const(exprs, 0) : whole_derivative(calls, u, (int32_t)value, calls_number(calls));
    }
    if (value > 0 && calls_is_parametric(calls, u))
        return expr_const(exprs, 0);
    // Integrals are taken last, so that what is differentiated again finds the next one below.
    int32_t below = (int32_t)ceil(value) - 1, last = below < -1 ? -1 - below : 0;
    Expr shifted = expr_2(exprs, OP_ADD, order, expr_const(exprs, last));
    Expr sum = sum_of_exponentials(calls, u, shifted, below + last, last);
    return last ? whole_derivative(calls, sum, -last, calls_number(calls)) : sum;
}

bool
pass_fractional(Dae *dae, Diags *diags)
{
    Calls calls = {.dae = dae, .diags = diags, .naming.dae = dae};
    return calls_replace(&calls, &(OperatorRow){.op = OP_FDER, .replace = fractional});
}
