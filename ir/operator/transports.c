// transports.c: transport: spatialDistribution() becomes values at both ends that the runtime keeps a profile for.
//
// Purpose: what leaves a pipe entered it earlier, so it is known while the model is evaluated at one position x; what enters it
// leaves unchanged at that end.
// Method: a call gets hidden variables for its two inputs and for x (section 3.7.4.2 of the Modelica specification), and per
// end three hidden inputs that the runtime sets: the value that leaves there, the value behind the next jump in the profile, and
// the x at which that jump arrives. The relation of x and that place is an ordinary one, so jumps are events.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.transports; an equation gets another shape and
// row. Afterwards no equation contains TRANSPORT. The two results of one call share one profile. Complexity: linear in the
// equations with calls, and in the points of the initial profiles.
//
//     y1 = transport(1, a, b, x, v >= 0, ...)
//         =>   y1 = if v >= 0 then (if x >= $arrives1 then $behind1 else $leaves1) else b,   Dae.transports: a, b, x
#include <stdio.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/operator_calls.h"

static void
add_end(Calls *calls, TransportEnd *end, const char *side, Var x, uint32_t number)
{
    static const char *const words[] = {"leaves", "behind", "arrives"};
    Var *const made[] = {&end->leaves, &end->behind, &end->arrives};
    char stem[32];
    for (size_t i = 0; i < 3; i++) {
        snprintf(stem, sizeof stem, "%s%s", words[i], side);
        *made[i] = calls_hidden(calls, stem, number, VAR_INPUT, TYPE_REAL);
        Out text = {0};
        out_printf(&text, "%s(%c, ", words[i], *side);
        dae_told_inside(calls->dae, x, &text);
        out_char(&text, ')');
        dae_tell_as(calls->dae, *made[i], text.text);
        out_free(&text);
    }
}

static bool
known_points(Calls *calls, Expr call)
{
    const Exprs *exprs = calls->dae->exprs;
    for (uint32_t k = TRANSPORT_POINTS; k < expr_nargs(exprs, call); k++)
        if (!calls_is_parametric(calls, expr_arg(exprs, call, k))) {
            diag_add(calls->diags, E0720, calls_span(calls),
                     "the initial points and values of 'spatialDistribution' must be known before the start");
            return false;
        }
    return true;
}

// The call as it stands in the model, for the comparison with its other result.
static void
identify(Calls *calls, Expr call, Transport *transport)
{
    Exprs *exprs = calls->dae->exprs;
    uint32_t n = expr_nargs(exprs, call);
    Expr *args = arena_array(calls->dae->arena, Expr, n);
    args[0] = expr_const(exprs, 0);
    for (uint32_t k = 1; k < n; k++)
        args[k] = expr_arg(exprs, call, k);
    dae_bind_shape(calls->dae, expr_make(exprs, OP_TRANSPORT, args, n), calls->naming.vars.at, &transport->shape, &transport->row);
}

static const Transport *
already_made(const Calls *calls, const Transport *wanted)
{
    const Dae *dae = calls->dae;
    if (!dae->transports.n)
        return NULL;
    const Transport *last = &dae->transports.at[dae->transports.n - 1];
    size_t size = expr_nslots(dae->exprs, wanted->shape) * sizeof(Var);
    bool same = last->shape == wanted->shape && !memcmp(dae->rows.at + last->row, dae->rows.at + wanted->row, size);
    return same ? last : NULL;
}

static void
make(Calls *calls, Expr call, Transport *made)
{
    Dae *dae = calls->dae;
    const Exprs *exprs = dae->exprs;
    uint32_t number = calls_number(calls), n = (expr_nargs(exprs, call) - TRANSPORT_POINTS) / 2;
    made->in[0] = calls_variable(calls, expr_arg(exprs, call, 1), "in0_", number);
    made->in[1] = calls_variable(calls, expr_arg(exprs, call, 2), "in1_", number);
    made->x = calls_variable(calls, expr_arg(exprs, call, 3), "moved", number);
    made->n = n;
    Var *points = arena_array(dae->arena, Var, 2 * n);
    for (uint32_t k = 0; k < 2 * n; k++)
        points[k] = calls_variable(calls, expr_arg(exprs, call, TRANSPORT_POINTS + k), k % 2 ? "value" : "point", number);
    made->point = points;
    add_end(calls, &made->end[0], "0_", made->x, number);
    add_end(calls, &made->end[1], "1_", made->x, number);
    vec_push(&dae->transports, *made);
}

static Expr
transported(Calls *calls, Expr call)
{
    Exprs *exprs = calls->dae->exprs;
    uint32_t side = (uint32_t)expr_value(exprs, expr_arg(exprs, call, 0));
    Expr x = expr_arg(exprs, call, 3), positive = expr_arg(exprs, call, 4);
    Transport wanted = {.span = calls_span(calls)};
    if (!known_points(calls, call))
        return 0;
    identify(calls, call, &wanted);
    const Transport *made = already_made(calls, &wanted);
    if (made)
        wanted = *made;
    else
        make(calls, call, &wanted);
    const TransportEnd *end = &wanted.end[side];
    Expr arrived = expr_2(exprs, side ? OP_GE : OP_LE, x, calls_slot(calls, end->arrives));
    Expr leaving = expr_3(exprs, OP_IF, arrived, calls_slot(calls, end->behind), calls_slot(calls, end->leaves));
    Expr entering = expr_arg(exprs, call, 1 + side);
    return expr_3(exprs, OP_IF, positive, side ? leaving : entering, side ? entering : leaving);
}

bool
pass_transports(Dae *dae, Diags *diags)
{
    Calls calls = {.dae = dae, .diags = diags, .naming.dae = dae};
    return calls_replace(&calls, &(OperatorRow){.op = OP_TRANSPORT, .replace = transported});
}
