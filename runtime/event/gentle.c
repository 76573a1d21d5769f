// gentle.c: functions of states that cannot come and go within a step.
//
// Purpose: most terms that drift.c bounds are far from what could hide: the distance of two bodies changes by a tenth in a step, and so does what divides by it.
//          To see that takes one evaluation of values, where bounds of derivatives take dozens.
// Method: states are polynomials over a step, and sums and products of polynomials are such, which the method has seen. What makes functions narrow are the others:
//         a quotient where the divisor is small in the midst of the step, a bell, a threshold. When no operand of such an operation changes by more than the
//         operation needs to change its character (a divisor by a factor of eight, an exponent by three), the function is as wide as the step. Methods that
//         look at the ends of their steps alone are asked for more than those with stages within.
// Contract: step_path.h. Complexity: the operations of the forecast.
#include <math.h>

#include "runtime/event/step_path.h"

static const double STEEPEST = 4; // exponents up to which a power is as wide as its base

typedef struct Gentleness {
    double factor;   // by which what is divided by may change,
    double distance; // and what goes into exp and the like
} Gentleness;

static bool
keeps_size(Span a, double factor)
{
    double low = fmin(fabs(a.low), fabs(a.high)), high = span_size(a);
    return (a.low > 0) == (a.high > 0) && low > 0 && high <= factor * low;
}

static bool
is_decided(Span a)
{
    return a.low == a.high;
}

static bool
is_mild_power(Span base, Span exponent, double factor)
{
    if (!is_decided(exponent))
        return false;
    double p = fabs(exponent.low);
    bool polynomial = exponent.low >= 0 && exponent.low <= STEEPEST && exponent.low == floor(exponent.low);
    return polynomial || keeps_size(base, p > STEEPEST ? pow(factor, STEEPEST / p) : factor);
}

// `all`: the values of all operations, the last one of this operation.
static bool
is_mild(const Gentleness *limit, const mdl_timely *at, const Span *all, Span result)
{
    double width = all[at->a].high - all[at->a].low;
    switch ((mdl_timely_op)at->op) {
    case MDL_TIMELY_CONST: case MDL_TIMELY_PLACE: case MDL_TIMELY_TIME: case MDL_TIMELY_STATE:
    case MDL_TIMELY_ADD: case MDL_TIMELY_MUL: case MDL_TIMELY_NEG:
        return true;
    case MDL_TIMELY_DIV: return keeps_size(all[at->b], limit->factor);
    case MDL_TIMELY_POW: return is_mild_power(all[at->a], all[at->b], limit->factor);
    case MDL_TIMELY_SQRT: case MDL_TIMELY_LOG: return all[at->a].low > 0 && keeps_size(all[at->a], limit->factor);
    case MDL_TIMELY_ABS: return all[at->a].low >= 0 || all[at->a].high <= 0;
    case MDL_TIMELY_MIN: case MDL_TIMELY_MAX: return all[at->a].low >= all[at->b].high || all[at->b].low >= all[at->a].high;
    case MDL_TIMELY_EXP: case MDL_TIMELY_SIN: case MDL_TIMELY_COS: case MDL_TIMELY_ATAN:
    case MDL_TIMELY_SINH: case MDL_TIMELY_COSH: case MDL_TIMELY_TANH:
        return width <= limit->distance;
    case MDL_TIMELY_TAN: return width <= 1 && result.high - result.low <= limit->distance;
    case MDL_TIMELY_ASIN: case MDL_TIMELY_ACOS: return result.high - result.low <= 1 && span_size(all[at->a]) < 0.95;
    case MDL_TIMELY_IF: return is_decided(all[at->a]);
    case MDL_TIMELY_LT: case MDL_TIMELY_LE: case MDL_TIMELY_GT: case MDL_TIMELY_GE: case MDL_TIMELY_EQ: case MDL_TIMELY_NE:
    case MDL_TIMELY_AND: case MDL_TIMELY_OR: case MDL_TIMELY_NOT: case MDL_TIMELY_SIGN: case MDL_TIMELY_FLOOR: case MDL_TIMELY_CEIL: case MDL_TIMELY_TRUNC:
        return is_decided(result);
    }
    return false;
}

static bool
has_stages(const Run *run)
{
    switch (run->solver) {
    case MDL_SOLVER_DOP853: case MDL_SOLVER_ERK: case MDL_SOLVER_GAUSS: case MDL_SOLVER_RADAU: return !run->path->cubic;
    default: return false;
    }
}

bool
path_is_gentle(const Run *run, const mdl_forecast *forecast)
{
    static const Gentleness at_ends = {2, 1}, within = {8, 3};
    const Gentleness *limit = has_stages(run) ? &within : &at_ends;
    const mdl_timely *at = run->model->timely + forecast->first;
    const Span *value = run->path->value;
    for (uint32_t i = 0; i < forecast->count; i++)
        if (!is_mild(limit, &at[i], value, value[i]))
            return false;
    Span result = value[forecast->count - 1];
    return isfinite(result.low) && isfinite(result.high);
}
