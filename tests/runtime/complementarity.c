// Impulses of random contacts against the conditions they must fulfil, which are looked at here in dense arithmetic of their own, and
// against the energy that no impact may add.
#include <float.h>
#include <math.h>

#include "runtime/law/complementarity.h"
#include "tests/random.h"
#include "tests/runtime/check.h"

enum { MOST = 60, LONG = 2000 };

static double
uniform(Random *random)
{
    return (random_below(random, 2000001) - 1000000.0) / 1000000;
}

// A system of `dofs` masses and `n` directions in which laws act; dense.
typedef struct System {
    uint32_t n, dofs, contacts, components;
    double direction[MOST][MOST], mass[MOST], velocity[MOST];
    double m[MOST][MOST], q[MOST], z[MOST], mu, e;
    uint8_t kind[MOST], of[MOST], active[MOST];
} System;

// The first `contacts` laws push, the others rub on them. Some contacts are sums of others.
static void
draw(System *s, Random *random, uint32_t components, double ratio)
{
    s->contacts = 1 + random_below(random, 12);
    s->components = components;
    s->n = s->contacts * (1 + components);
    s->dofs = 2 + random_below(random, 25);
    s->mu = components ? 0.1 + 0.2 * random_below(random, 3) : 0;
    s->e = components ? 0 : 0.5 * random_below(random, 3);
    for (uint32_t i = 0; i < s->dofs; i++) {
        s->mass[i] = pow(ratio, uniform(random) / 2);
        s->velocity[i] = uniform(random) / sqrt(s->mass[i]);
    }
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = 0; i < s->dofs; i++)
            s->direction[k][i] = uniform(random) * (random_below(random, 3) != 0 || i == k % s->dofs);
    for (uint32_t i = 0; i < s->dofs && s->contacts > 3 && random_below(random, 3) == 0; i++)
        s->direction[0][i] = s->direction[1][i] + s->direction[2][i];
    for (uint32_t k = 0; k < s->n; k++) {
        s->kind[k] = k < s->contacts ? COMPLEMENT_PUSH : COMPLEMENT_RUB;
        s->of[k] = (uint8_t)(k >= s->contacts && (k - s->contacts) % components == 0 ? components : 0);
        s->q[k] = 0;
        for (uint32_t i = 0; i < s->dofs; i++)
            s->q[k] += (1 + s->e) * s->direction[k][i] * s->velocity[i];
        for (uint32_t j = 0; j < s->n; j++) {
            s->m[k][j] = 0;
            for (uint32_t i = 0; i < s->dofs; i++)
                s->m[k][j] += s->direction[k][i] * s->direction[j][i] / s->mass[i];
        }
    }
}

static bool
solve(System *s)
{
    uint32_t start[MOST + 1], row[MOST * MOST], limit_start[MOST + 1], limit_row[MOST];
    double value[MOST * MOST], limit[MOST];
    uint32_t entries = 0, limits = 0;
    for (uint32_t j = 0; j < s->n; j++) {
        start[j] = entries;
        limit_start[j] = limits;
        for (uint32_t k = 0; k < s->n; k++)
            if (s->m[k][j] != 0) {
                row[entries] = k;
                value[entries++] = s->m[k][j];
            }
        if (j < s->contacts && s->components) {
            limit_row[limits] = s->contacts + j * s->components;
            limit[limits++] = s->mu;
        }
    }
    start[s->n] = entries;
    limit_start[s->n] = limits;
    Complementarity problem = {.n = s->n, .kind = s->kind, .of = s->of, .answer = {start, row, value},
                               .limit = {limit_start, limit_row, limit}, .offset = s->q, .z = s->z, .active = s->active};
    return complementarity_solve(&problem);
}

// What is left of the conditions, in units of energies, relative to the largest offset.
static double
left_over(const System *s)
{
    double speed[MOST], most = 0, left = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        speed[k] = s->q[k];
        for (uint32_t j = 0; j < s->n; j++)
            speed[k] += s->m[k][j] * s->z[j];
        most = fmax(most, fabs(s->q[k]) / sqrt(s->m[k][k]));
    }
    for (uint32_t k = 0; k < s->contacts; k++)
        left = fmax(left, fabs(fmin(s->z[k] * sqrt(s->m[k][k]), speed[k] / sqrt(s->m[k][k]))));
    for (uint32_t k = s->contacts; k < s->n; k += s->components) {
        double bound = s->mu * s->z[(k - s->contacts) / s->components], size = 0, slip = 0, own = 0, work = 0;
        for (uint32_t i = 0; i < s->components; i++) {
            own = fmax(own, s->m[k + i][k + i]);
            size = hypot(size, s->z[k + i]);
            slip = hypot(slip, speed[k + i]);
            work += s->z[k + i] * speed[k + i];
        }
        // The impulse is within its bound and takes as much power from the slip as it can: bound*|slip|.
        left = fmax(left, fmax(size - bound, 0) * sqrt(own));
        left = fmax(left, sqrt(fabs(work + bound * slip) * 1e-4));
    }
    return most > 0 ? left / most : 0;
}

static double
energy_ratio(const System *s)
{
    double before = 0, after = 0;
    for (uint32_t i = 0; i < s->dofs; i++) {
        double v = s->velocity[i];
        for (uint32_t k = 0; k < s->n; k++)
            v += s->direction[k][i] * s->z[k] / s->mass[i];
        before += s->mass[i] * s->velocity[i] * s->velocity[i];
        after += s->mass[i] * v * v;
    }
    return after / before;
}

static void
check_random(Check *state, const char *name, uint32_t components, double ratio, uint32_t most_failures)
{
    static System s;
    Random random = {components + 1};
    double worst = 0, energy = 0;
    uint32_t failures = 0;
    for (int i = 0; i < 1000; i++) {
        draw(&s, &random, components, ratio);
        if (!solve(&s)) {
            failures++;
            continue;
        }
        worst = fmax(worst, left_over(&s));
        energy = fmax(energy, energy_ratio(&s));
    }
    check(state, failures <= most_failures && worst < 1e-7 && energy < 1 + 1e-9, name,
          "%u not solved, conditions broken by %g, energy times %.15g", failures, worst, energy);
}

// Plates of 1 kg under a block of mass `top` that stop on the floor at once: z_k is what is above them, in momentum.
static void
check_stack(Check *state, const char *name, uint32_t n, double top, double tolerance)
{
    static uint32_t start[LONG + 1], row[3 * LONG], none[LONG + 1];
    static double value[3 * LONG], q[LONG], z[LONG];
    static uint8_t kind[LONG], of[LONG], active[LONG];
    uint32_t entries = 0;
    double worst = 0;
    for (uint32_t j = 0; j < n; j++) {
        double below = j ? 1 : 0, own = j == n - 1 ? 1 / top : 1;
        start[j] = entries;
        if (j) {
            row[entries] = j - 1;
            value[entries++] = -1;
        }
        row[entries] = j;
        value[entries++] = below + own;
        if (j + 1 < n) {
            row[entries] = j + 1;
            value[entries++] = -1;
        }
        kind[j] = COMPLEMENT_PUSH;
        q[j] = j ? 0 : -1;
    }
    start[n] = entries;
    Complementarity problem = {.n = n, .kind = kind, .of = of, .answer = {start, row, value}, .limit = {none, none, q},
                               .offset = q, .z = z, .active = active};
    bool solved = complementarity_solve(&problem);
    for (uint32_t k = 0; k < n; k++)
        worst = fmax(worst, fabs(z[k] / (top + n - 1 - k) - 1));
    check(state, solved && worst < tolerance, name, "solved %d, impulses off by %g", solved, worst);
}

// A bar between two walls that both ask for another speed of it: no impulses do that.
static void
check_contradiction(Check *state)
{
    uint32_t start[] = {0, 2, 4}, row[] = {0, 1, 0, 1}, none[] = {0, 0, 0};
    double value[] = {1, -1, -1, 1}, q[] = {-1, 0.5}, z[2];
    uint8_t kind[] = {COMPLEMENT_PUSH, COMPLEMENT_PUSH}, of[] = {0, 0}, active[2];
    Complementarity problem = {.n = 2, .kind = kind, .of = of, .answer = {start, row, value}, .limit = {none, none, q},
                               .offset = q, .z = z, .active = active};
    check(state, !complementarity_solve(&problem), "laws that contradict each other", "solved, residual %g", problem.residual);
}

int
main(void)
{
    Check state = {0};
    check_random(&state, "contacts", 0, 1, 0);
    check_random(&state, "contacts of masses up to 1000 times as large", 0, 1e3, 0);
    check_random(&state, "contacts with friction on lines", 1, 1, 3);
    check_random(&state, "contacts with friction in planes", 2, 1, 3);
    check_stack(&state, "a stack of 2000", LONG, 1, 1e-9);
    check_stack(&state, "200 plates under 1e6 of their masses", 200, 1e6, 1e-7);
    check_contradiction(&state);
    return check_end(&state);
}
