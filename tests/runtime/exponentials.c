// Sums of exponentials against the kernels of fractional derivatives that they stand for.
#include <math.h>

#include "runtime/memory/exponentials.h"
#include "tests/runtime/check.h"

static double
sum_at(const Exponentials *sum, double t)
{
    double value = 0;
    for (uint32_t k = 0; k < sum->n; k++)
        value += sum->weight[k] * exp(-sum->rate[k] * t);
    return value;
}

// Integral of the sum and its fast part over [0, t].
static double
integral_to(const Exponentials *sum, double t)
{
    double value = sum->tail;
    for (uint32_t k = 0; k < sum->n; k++)
        value += sum->rate[k] > 0 ? -sum->weight[k] * expm1(-sum->rate[k] * t) / sum->rate[k] : sum->weight[k] * t;
    return value;
}

// One line per sum: everything that must hold.
static void
check_sum(Check *state, double order, double error, double shortest, double longest, bool stiff)
{
    Exponentials sum;
    char name[100];
    snprintf(name, sizeof name, "order %g, error %g, from %g to %g%s", order, error, shortest, longest, stiff ? ", stiff" : "");
    if (!exponentials_make(order, error, shortest, longest, stiff, false, &sum)) {
        check(state, false, name, "no memory");
        return;
    }
    double worst = 0, t;
    // The fast part is over after forty times the shortest time.
    for (t = 40 * shortest; t <= longest * (1 + 1e-12); t *= 1.07)
        worst = fmax(worst, fabs(sum_at(&sum, t) * tgamma(1 - order) * pow(t, order) - 1));
    t = sqrt(shortest * longest) + 50 * shortest;
    double integral = fabs(integral_to(&sum, t) * tgamma(2 - order) * pow(t, order - 1) - 1);
    bool positive = true;
    for (uint32_t k = 0; k < sum.n; k++)
        positive = positive && sum.weight[k] > 0 && sum.rate[k] >= 0 && (k == 0 || sum.rate[k] > sum.rate[k - 1]);
    // The bound is no idle one: half of it belongs to the step, and is reached.
    bool good = sum.error <= error && worst <= sum.error + 1e-13 && worst >= 0.2 * sum.error && integral <= sum.error + 1e-13;
    check(state, good && positive, name, "%u exponentials, bound %g, kernel off by %g, integral by %g", sum.n, sum.error, worst,
          integral);
    exponentials_free(&sum);
}

int
main(void)
{
    Check state = {0};
    const double orders[] = {0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99};
    const double errors[] = {1e-3, 1e-6, 1e-9, 1e-12};
    for (uint32_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (uint32_t k = 0; k < sizeof errors / sizeof *errors; k++) {
            check_sum(&state, orders[i], errors[k], 1e-9, 10, i % 2);
            check_sum(&state, orders[i], errors[k], 1e-4, 1e-1, k % 2);
            check_sum(&state, orders[i], errors[k], 1e-12, 1e5, true);
        }
    return check_end(&state);
}
