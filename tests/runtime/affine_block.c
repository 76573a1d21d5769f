// affine_block.c: a large affine loop is evaluated twice in an evaluation of the model: at the unknowns of before, and at the solution.
//
// Purpose: what a second correction would change is rounding of sums of many terms, which is not worth a third evaluation.
#include "tests/runtime/small.h"

enum { M = 100, N = 1 + M, ENTRIES = 3 * M - 2 };

static uint64_t evaluations, right_sides;

static double
load(const double *v, uint32_t i)
{
    return sin(3 * v[0] + 0.1 * i) + v[Y(N, 0)];
}

// Loop: (2 + 0.001*k)*z[k] - z[k - 1] - z[k + 1] = sin(3*time + k/10) + x, a chain that is held at its ends.
static void
loop_eval(double *v, const void *self)
{
    (void)self;
    const double *z = v + Y(N, 1);
    evaluations++;
    for (uint32_t k = 0; k < M; k++)
        v[R(N, 1 + k)] = (2 + 0.001 * k) * z[k] - (k ? z[k - 1] : 0) - (k + 1 < M ? z[k + 1] : 0) - load(v, k);
}

static void
loop_jacobian(double *v, const void *self)
{
    (void)self;
    double *j = v + EXTRA(N, 0);
    for (uint32_t k = 0; k < M; k++) {
        if (k)
            *j++ = -1;
        *j++ = 2 + 0.001 * k;
        if (k + 1 < M)
            *j++ = -1;
    }
}

static void
rate(double *v, const void *self)
{
    (void)self;
    right_sides++;
    v[DX(N, 0)] = 1e-3 * v[Y(N, 1 + M / 2)] - v[Y(N, 0)];
}

int
main(int count, char **argument)
{
    Check state = {0, count > 1 && !strcmp(argument[1], "-v")};
    static uint32_t unknown[M], residual[M], start[M + 1], row[ENTRIES], none[N + 1];
    static const char *names[N], *texts[M];
    static double v0[EXTRA(N, ENTRIES)];
    uint32_t entries = 0;
    mdl_model model = small_model(v0, EXTRA(N, ENTRIES), N, 1, names);
    names[0] = "x";
    for (uint32_t k = 0; k < M; k++) {
        names[1 + k] = "z";
        texts[k] = "chain";
        unknown[k] = Y(N, 1 + k);
        residual[k] = R(N, 1 + k);
        for (uint32_t i = k ? k - 1 : 0; i < M && i <= k + 1; i++)
            row[entries++] = i;
        start[k + 1] = entries;
    }
    const mdl_block block = {.m = M, .unknown = unknown, .residual = residual, .eval = {loop_eval, NULL}, .jacobian = {loop_jacobian, NULL},
                             .jac = {M, M, ENTRIES, start, row, EXTRA(N, 0)}, .linear = 1, .unknown_name = names + 1, .equation = texts};
    const mdl_step steps[] = {{.block = &block}, {.call = {rate, NULL}}};
    static const mdl_output output[] = {{"z", Y(N, 1 + M / 2), 1, MDL_REAL, 0, 0}};
    model.n_dynamics = 2;
    model.dynamics = steps;
    model.jac_y = (mdl_matrix){N, N, 0, none, none, EXTRA(N, 0)};
    model.output = output;
    model.n_outputs = 1;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.form = MDL_FORM_CAUSAL;
    trial.options.solver = MDL_SOLVER_ERK;
    trial.options.tolerance = 1e-10;
    trial.options.stop = 3;
    trial_run(&trial, &model);
    double each = (double)evaluations / (double)right_sides;
    check(&state, trial.status == MDL_OK && right_sides > 300 && each < 2.2, "affine_block", "status %d, %.3f evaluations each of %llu times, z %.15g %s",
          trial.status, each, (unsigned long long)right_sides, trial_last(&trial, 1), trial.log.text);
    trial_end(&trial);
    return check_end(&state);
}
