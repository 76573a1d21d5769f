// delays.c: delays: delay(expr, T) becomes a value that the runtime keeps a history for.
//
// Purpose: a delayed expression is known while the model is evaluated at one instant: it was computed earlier.
// Method: each call gets a hidden variable for the expression, with an equation, and a hidden input for the delayed
// value; the delay time and its limit become variables too (parameters, where they depend on parameters alone). The
// runtime samples the former and sets the latter.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.delays; an equation gets another shape and
// row. Afterwards no equation contains DELAY. Complexity: linear in the equations with delays.
//
// A delay that may vanish depends on what its expression is now: $delay1 + $weight1*$past1, where the runtime sets both inputs. With a
// parameter that is 0 the expression itself stands there.
//
//     der(x) = -delay(x, 1)   =>   der(x) = -$delay1,  $past1 = x,  Dae.delays: $delay1 = $past1 one second ago
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/operator.h"
#include "ir/base/diag.h"
#include "ir/operator/operator_calls.h"

typedef struct Delaying {
    Calls calls;
    bool settable; // parameters can have other values in the compiled model
} Delaying;

// 0 and false where the delay time is not known while compiling.
static bool
known_time(Calls *calls, Expr time, double *value)
{
    *value = 0;
    return calls_is_parametric(calls, time) && dae_known_expr(calls->dae, time, calls->naming.vars.at, value);
}

static void
tell(Dae *dae, const Delay *delay)
{
    Out text = {0};
    out_text(&text, "delay(");
    dae_told_inside(dae, delay->input, &text);
    out_text(&text, ", ");
    dae_told_inside(dae, delay->time, &text);
    if (delay->most != delay->time) {
        out_text(&text, ", ");
        dae_told_inside(dae, delay->most, &text);
    }
    out_char(&text, ')');
    dae_tell_as(dae, delay->value, text.text);
    if (delay->weight != NONE)
        dae_tell_nothing(dae, delay->weight);
    out_free(&text);
}

static Expr
delayed(Calls *calls, Expr e)
{
    Dae *dae = calls->dae;
    Span span = calls_span(calls);
    bool settable = ((const Delaying *)calls)->settable;
    double known;
    Expr past = expr_arg(dae->exprs, e, 0), time = expr_arg(dae->exprs, e, 1), most = expr_arg(dae->exprs, e, 2);
    if (calls_is_parametric(calls, past))
        return past;
    if (!calls_is_parametric(calls, most)) {
        Diag *diag = diag_add(calls->diags, E0720, span, "the longest time of a delay must be known before the start");
        diag_help(diag, "give a delay that changes a third argument: delay(expr, T, longest)");
        return 0;
    }
    bool is_known = known_time(calls, time, &known);
    if (is_known && known == 0 && !settable)
        return past;
    uint32_t number = calls_number(calls);
    Delay made = {.span = span, .weight = NONE};
    made.input = calls_define(calls, past, "past", number);
    made.time = calls_variable(calls, time, "delayTime", number);
    made.most = time == most ? made.time : calls_variable(calls, most, "delayMax", number);
    made.value = calls_hidden(calls, "delay", number, VAR_INPUT, TYPE_REAL);
    if (!is_known || known == 0)
        made.weight = calls_hidden(calls, "weight", number, VAR_INPUT, TYPE_REAL);
    vec_push(&dae->delays, made);
    tell(dae, &made);
    Expr value = calls_slot(calls, made.value);
    if (made.weight == NONE)
        return value;
    Expr weight = calls_slot(calls, made.weight), now = calls_slot(calls, made.input);
    return expr_2(dae->exprs, OP_ADD, value, expr_2(dae->exprs, OP_MUL, weight, now));
}

bool
pass_delays(Dae *dae, bool settable, Diags *diags)
{
    Delaying delaying = {.calls = {.dae = dae, .diags = diags, .naming.dae = dae}, .settable = settable};
    bool done = calls_replace(&delaying.calls, &(OperatorRow){.op = OP_DELAY, .replace = delayed});
    dae->known = NULL; // later passes add parameters
    return done;
}
