// fractional_orders.c: fractional derivatives: fder(expr, alpha) becomes a state, two inputs and a parameter that the runtime supplies.
//
// Purpose: the Caputo derivative of u is an integral over the past of u' (u'' for alpha > 1). The runtime replaces its
// kernel by a sum of exponentials, whose states are no variables of the model.
// Method: with g = u' or u'' the sum of exponentials gives h = sum of c_k*phi_k, phi_k' = g - s_k*phi_k, and what is faster
// than all of them gives m*g. Here stands only w with der(w) = g, and h is written a*w + b with inputs a and b: the
// runtime sets b so that this is the sum, and a so that the derivatives by w, which the compiler makes, are those
// of the discretised sum (runtime/memory/fractional.c). In this form fder(u, alpha) acts on structure, start values and
// state selection like der(u) or der(der(u)), which is what the theory asks for. Orders 1 and 2 are derivatives.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.fractionals; an equation gets another shape
// and row. Afterwards no equation contains FDER. Complexity: linear in the equations with fder.
//
//     fder(x, 0.5) = -x   =>   $fscale1*$fder1 + $fshift1 + $ftail1*der($fder1) = -x,  der($fder1) = der(x)
#include "ir/dae/pass.h"
#include "ir/operator/operator_calls.h"

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

static Var
integrated_rate(Calls *calls, Var input, uint32_t number)
{
    Dae *dae = calls->dae;
    Var state = calls_hidden(calls, "fder", number, VAR_CONTINUOUS, TYPE_REAL);
    dae->var_flags.at[state] |= VARF_FIXED;
    calls_equate(calls, derivative(calls, state), derivative(calls, input));
    return state;
}

static Expr
fractional(Calls *calls, Expr e)
{
    Dae *dae = calls->dae;
    Exprs *exprs = dae->exprs;
    Expr u = expr_arg(exprs, e, 0);
    double order = expr_value(exprs, expr_arg(exprs, e, 1));
    if (calls_is_parametric(calls, u))
        return expr_const(exprs, 0);
    uint32_t number = calls_number(calls);
    Fractional made = {.order = order, .span = calls_span(calls)};
    made.input = unknown_for(calls, u, "fof", number);
    if (order > 1)
        made.input = calls_define(calls, derivative(calls, made.input), "frate", number);
    if (order == 1 || order == 2)
        return derivative(calls, made.input);
    made.order -= order > 1;
    made.state = integrated_rate(calls, made.input, number);
    made.scale = calls_hidden(calls, "fscale", number, VAR_INPUT, TYPE_REAL);
    made.shift = calls_hidden(calls, "fshift", number, VAR_INPUT, TYPE_REAL);
    made.tail = calls_hidden(calls, "ftail", number, VAR_PARAMETER, TYPE_REAL);
    vec_push(&dae->fractionals, made);
    Expr sum = expr_2(exprs, OP_MUL, calls_slot(calls, made.scale), calls_slot(calls, made.state));
    Expr rest = expr_2(exprs, OP_MUL, calls_slot(calls, made.tail), derivative(calls, made.state));
    return expr_3(exprs, OP_ADD, sum, calls_slot(calls, made.shift), rest);
}

bool
pass_fractional(Dae *dae, Diags *diags)
{
    Calls calls = {.dae = dae, .diags = diags, .naming.dae = dae};
    return calls_replace(&calls, &(OperatorRow){.op = OP_FDER, .replace = fractional});
}
