// standing_loop.c: a block whose pivots vanish at isolated instants, each time others, as those of an engine do at the dead centres of its pistons. The
// orders that were found at these instants are kept, and each serves again where the one at hand has no pivots.
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "tests/runtime/check.h"

enum { PAIRS = 12, M = 2 * PAIRS, GROUPS = 3, ENTRIES = 2 * M + PAIRS - 1, UNKNOWN = 1, RESIDUAL = UNKNOWN + M, VALUES = RESIDUAL + M, PLACES = VALUES + ENTRIES };

static const double phase[GROUPS] = {0, 0.7, 1.6};

// Pairs turned by angles that change together; each takes a part of the one before it.
static double
angle_of(const double *v, int pair)
{
    return v[0] + phase[pair % GROUPS];
}

static double
wanted(int k)
{
    return 1 + 0.1 * k;
}

static void
eval(double *v, const void *self)
{
    (void)self;
    for (int i = 0; i < PAIRS; i++) {
        double c = cos(angle_of(v, i)), s = sin(angle_of(v, i)), before = i ? 0.1 * (v[UNKNOWN + 2 * i - 2] - wanted(2 * i - 2)) : 0;
        double x = v[UNKNOWN + 2 * i] - wanted(2 * i), y = v[UNKNOWN + 2 * i + 1] - wanted(2 * i + 1);
        v[RESIDUAL + 2 * i] = c * x + s * y + before;
        v[RESIDUAL + 2 * i + 1] = -s * x + c * y;
    }
}

static void
jacobian(double *v, const void *self)
{
    (void)self;
    double *value = v + VALUES;
    for (int i = 0; i < PAIRS; i++) {
        double c = cos(angle_of(v, i)), s = sin(angle_of(v, i));
        *value++ = c;
        *value++ = -s;
        if (i + 1 < PAIRS)
            *value++ = 0.1;
        *value++ = s;
        *value++ = c;
    }
}

static bool
solve_at(Run *run, Newton *newton, double angle)
{
    run->v[0] = angle;
    bool good = newton_solve(run, newton, EFFORT_RUN) == MDL_OK;
    for (int k = 0; k < M; k++)
        good = good && fabs(run->v[UNKNOWN + k] - wanted(k)) <= 1e-13 * wanted(k);
    return good;
}

int
main(void)
{
    Check state = {0};
    uint32_t start[M + 1], row[ENTRIES], unknown[M], residual[M], n = 0;
    double v[PLACES] = {0};
    for (uint32_t k = 0; k < M; k++) {
        start[k] = n;
        row[n++] = k / 2 * 2;
        row[n++] = k / 2 * 2 + 1;
        if (k % 2 == 0 && k + 2 < M)
            row[n++] = k + 2;
        unknown[k] = UNKNOWN + k;
        residual[k] = RESIDUAL + k;
    }
    start[M] = n;
    mdl_block block = {.m = M, .unknown = unknown, .residual = residual, .eval = {.fn = eval}, .jacobian = {.fn = jacobian},
                       .jac = {.rows = M, .columns = M, .nonzeros = ENTRIES, .column_start = start, .row = row, .values = VALUES}, .linear = 1};
    mdl_model model = {0};
    mdl_options options = {0};
    mdl_stats stats = {0};
    Run run = {.model = &model, .options = &options, .stats = &stats, .v = v};
    Newton *newton = newton_create(&block);
    bool good = newton != NULL;
    for (int turn = 0; turn < 6; turn++)
        for (int pose = 0; pose < 2 * GROUPS; pose++) {
            for (int k = 0; k < 20; k++)
                good = good && solve_at(&run, newton, 0.1 + 0.05 * k + turn);
            good = good && solve_at(&run, newton, (pose % 2 ? acos(0.0) : 0) - phase[pose / 2]);
        }
    check(&state, good, "solutions", "one is wrong");
    check(&state, stats.standing_refused <= 4, "refused", "%llu times", (unsigned long long)stats.standing_refused);
    check(&state, stats.standing_solves + 20 >= stats.block_solves, "solved", "%llu of %llu", (unsigned long long)stats.standing_solves,
          (unsigned long long)stats.block_solves);
    newton_free(&newton);
    return check_end(&state);
}
