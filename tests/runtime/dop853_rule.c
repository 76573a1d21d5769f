// dop853_rule.c: the conditions of order 8 on powers of time, the polynomial between steps, and what one step of a rotation is wrong by when it is halved.
#include <math.h>

#include "runtime/linear/dop853_rule.h"
#include "tests/runtime/check.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES, STAGES = DOP853_STAGES, TERMS = DOP853_TERMS };

typedef struct Arrays {
    double slopes[SLOPES][WIDTH], terms[TERMS][WIDTH];
    double *slope[SLOPES], *term[TERMS];
} Arrays;

static void
point_at(Arrays *a)
{
    for (int k = 0; k < SLOPES; k++)
        a->slope[k] = a->slopes[k];
    for (int k = 0; k < TERMS; k++)
        a->term[k] = a->terms[k];
}

// y' = t^power over [0, 1]: what its end, and the polynomial, are wrong by. Number e of the chunk has the step 1 + e/8.
static void
wrong_powers(int power, double *end_wrong, double *between_wrong)
{
    Arrays a;
    double step[WIDTH], start[WIDTH] = {0}, end[WIDTH];
    point_at(&a);
    *end_wrong = *between_wrong = 0;
    for (int e = 0; e < WIDTH; e++) {
        step[e] = 1 + e / 8.0;
        for (int k = 0; k < SLOPES; k++)
            a.slopes[k][e] = pow(dop853_node[k] * step[e], power);
    }
    dop853_stage(STAGES, 1, step, start, a.slope, end);
    dop853_polynomial(1, step, start, end, a.slope, a.term);
    for (int e = 0; e < WIDTH; e++) {
        *end_wrong = fmax(*end_wrong, fabs(end[e] / pow(step[e], power + 1) * (power + 1) - 1));
        for (double x = 0; x <= 1; x += 0.125) {
            double value, rate;
            dop853_value(a.terms[0] + e, WIDTH, 0, step[e], x, &value, &rate);
            *between_wrong = fmax(*between_wrong, fabs(value - pow(x * step[e], power + 1) / (power + 1)) / pow(step[e], power + 1));
            *between_wrong = fmax(*between_wrong, fabs(rate - pow(x * step[e], power)) / pow(step[e], power));
        }
    }
}

// One step of x' = y, y' = -x, which are numbers 0 and 1; the others stay 0.
static void
wrong_rotation(double h, double *end_wrong, double *between_wrong)
{
    Arrays a = {0};
    double step[WIDTH], start[WIDTH] = {1, 0}, point[WIDTH], value[2], rate[2];
    point_at(&a);
    for (int e = 0; e < WIDTH; e++)
        step[e] = h;
    for (uint32_t k = 0; k < SLOPES; k++) {
        double *at = k ? point : start;
        if (k)
            dop853_stage(k, 1, step, start, a.slope, point);
        a.slopes[k][0] = at[1];
        a.slopes[k][1] = -at[0];
    }
    dop853_stage(STAGES, 1, step, start, a.slope, point);
    *end_wrong = hypot(point[0] - cos(h), point[1] + sin(h));
    dop853_polynomial(1, step, start, point, a.slope, a.term);
    for (int i = 0; i < 2; i++)
        dop853_value(a.terms[0] + i, WIDTH, start[i], h, 0.4, &value[i], &rate[i]);
    *between_wrong = hypot(value[0] - cos(0.4 * h), value[1] + sin(0.4 * h));
}

static void
estimates(Check *state)
{
    Arrays a = {0};
    double weight[WIDTH] = {0}, error[WIDTH], scratch[WIDTH], squares[2 * WIDTH];
    point_at(&a);
    weight[0] = 1;
    // Both formulae are exact for polynomials up to t^2: what they say of these is rounding.
    for (int k = 0; k < SLOPES; k++)
        a.slopes[k][0] = 3 * pow(dop853_node[k], 2);
    dop853_errors(1, weight, a.slope, error, scratch, squares);
    check(state, squares[0] < 1e-26 && squares[WIDTH] < 1e-26, "estimates of t^3", "the estimates are %g and %g", squares[0], squares[WIDTH]);
    for (int k = 0; k < SLOPES; k++)
        a.slopes[k][0] = pow(dop853_node[k], 5);
    dop853_errors(1, weight, a.slope, error, scratch, squares);
    check(state, squares[0] > 1e-12 && squares[WIDTH] > 1e-12, "estimates of t^6", "the estimates of t^6 are %g and %g", squares[0], squares[WIDTH]);
    check(state, dop853_size(1, 0, 0, 1) == 0 && isnan(dop853_size(1, NAN, 1, 1)), "sizes", "of nothing and of what is no number");
}

// Of x' = -3*x and y' = -3*y in a step of one half, and of a state that rests.
static void
reaches(Check *state)
{
    Arrays a = {0};
    double start[WIDTH] = {1, 2, 5}, weight[WIDTH] = {1, 10, 1}, step[WIDTH] = {0.5}, last[WIDTH], end[WIDTH], squares[3 * WIDTH], sum[3] = {0};
    point_at(&a);
    for (int k = 1; k < WIDTH; k++)
        step[k] = step[0];
    memcpy(end, start, sizeof end);
    for (int k = 0; k <= STAGES; k++) {
        if (k) {
            memcpy(last, end, sizeof last);
            dop853_stage((uint32_t)k, 1, step, start, a.slope, end);
        }
        for (int i = 0; i < 2; i++)
            a.slopes[k][i] = -3 * end[i];
    }
    dop853_differences(1, weight, a.slope, last, end, squares);
    for (int k = 0; k < 3 * WIDTH; k++)
        sum[k / WIDTH] += squares[k];
    double reach = dop853_reach(step[0], sum[0], sum[1], sum[2]);
    check(state, fabs(reach - 1.5) < 1e-9, "reaches", "a rate of 3 in a step of 0.5 is told as %.12g", reach);
    check(state, dop853_reach(1, 1, 1e-26, 1) == 0 && dop853_reach(1, 0, 0, 0) == 0, "reaches of rounding", "they are told");
}

int
main(void)
{
    Check state = {0};
    for (int power = 0; power < 9; power++) {
        double end, between;
        wrong_powers(power, &end, &between);
        check(&state, (end < 1e-13) == (power < 8), "ends of powers", "t^%d is wrong by %g", power, end);
        check(&state, (between < 1e-12) == (power < 7), "polynomials of powers", "t^%d is wrong by %g", power, between);
    }
    double coarse[2], fine[2];
    wrong_rotation(0.8, &coarse[0], &coarse[1]);
    wrong_rotation(0.4, &fine[0], &fine[1]);
    check(&state, fabs(log2(coarse[0] / fine[0]) - 9) < 0.5, "order of the end", "it has order %g", log2(coarse[0] / fine[0]) - 1);
    check(&state, fabs(log2(coarse[1] / fine[1]) - 8) < 0.5, "order of the polynomial", "it has order %g", log2(coarse[1] / fine[1]) - 1);
    estimates(&state);
    reaches(&state);
    return check_end(&state);
}
