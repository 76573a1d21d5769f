// Delays: delay(expr, T) becomes a value that the runtime keeps a history for.
//
// Purpose: a delayed expression is known while the model is evaluated at one instant: it was computed earlier.
// Method: each call gets a hidden variable for the expression, with an equation, and a hidden input for the delayed
// value; the delay time and its limit become variables too (parameters, where they depend on parameters alone). The
// runtime samples the former and sets the latter.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.delays; an equation gets another shape and
// row. Afterwards no equation contains DELAY. Complexity: linear in the equations with delays.
//
//     der(x) = -delay(x, 1)   =>   der(x) = -$delay1,  $past1 = x,  Dae.delays: $delay1 = $past1 one second ago
#include "ir/pass/calls.h"

static Expr
delayed(Calls *calls, Expr e)
{
    Dae *dae = calls->dae;
    Span span = calls_span(calls);
    Expr past = expr_arg(dae->exprs, e, 0), time = expr_arg(dae->exprs, e, 1), most = expr_arg(dae->exprs, e, 2);
    if (calls_is_parametric(calls, past))
        return past;
    if (!calls_is_parametric(calls, most)) {
        Diag *diag = diag_add(calls->diags, E0720, span, "the longest time of a delay must be known before the start");
        diag_help(diag, "give a delay that changes a third argument: delay(expr, T, longest)");
        return 0;
    }
    uint32_t number = calls_number(calls);
    Delay made = {.span = span};
    made.input = calls_define(calls, past, "past", number);
    made.time = calls_variable(calls, time, "delayTime", number);
    made.most = time == most ? made.time : calls_variable(calls, most, "delayMax", number);
    made.value = calls_hidden(calls, "delay", number, VAR_INPUT);
    vec_push(&dae->delays, made);
    return calls_slot(calls, made.value);
}

bool
pass_delays(Dae *dae, Diags *diags)
{
    Calls calls = {.dae = dae, .diags = diags, .op = OP_DELAY, .replace = delayed};
    return calls_replace(&calls);
}
