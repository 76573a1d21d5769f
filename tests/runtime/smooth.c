// smooth.c: models without events: an index-1 pendulum, Robertson's problem, a heat chain, an exponential.
//
// Purpose: both run-time forms, dense and sparse matrices, restarts from failed starts. Reference values:
// closed forms;
// Robertson: Hairer and Wanner, Solving ODEs II (1996), and SUNDIALS' idaRoberts_dns.
#include "tests/runtime/small.h"

// --- x' = -x

static void
decay_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = -v[Y(1, 0)];
}

static void
decay_jacobian(double *v, const void *self)
{
    (void)self;
    v[EXTRA(1, 0)] = 1;
}

static void
test_decay(Check *state)
{
    static const uint32_t start[] = {0, 1}, row[] = {0};
    static const char *const names[] = {"x"};
    static const mdl_output output[] = {{"x", Y(1, 0), 1, MDL_REAL, 0, 0}, {"minus", Y(1, 0), -1, MDL_REAL, 0, 0}};
    static const mdl_step dynamics[] = {{.call = {decay_dynamics, NULL}}};
    double v0[SMALL_PLACES];
    mdl_model model = small_model(v0, SMALL_PLACES, 1, 1, names);
    model.n_dynamics = 1;
    model.dynamics = dynamics;
    model.jac_y = (mdl_matrix){1, 1, 1, start, row, EXTRA(1, 0)};
    model.jacobian.fn = decay_jacobian;
    model.output = output;
    model.n_outputs = 2;
    Trial trial;
    double final_values[2], final_time;
    mdl_override override = {Y(1, 0), 2};
    v0[Y(1, 0)] = 1;
    trial_begin(&trial, &model);
    trial.options.interval = 0.3;
    trial.options.override = &override;
    trial.options.overrides = 1;
    trial.options.final_values = final_values;
    trial.options.final_time = &final_time;
    trial_run(&trial, &model);
    double error = fabs(trial_last(&trial, 1) - 2 * exp(-1));
    check(state, trial.status == MDL_OK && error < 2e-5 && trial.rows.count == 5 && final_time == 1 &&
          final_values[0] == trial_last(&trial, 1) && final_values[1] == -final_values[0] &&
          trial_value(&trial, 0.3, 0) == 0.3, "decay", "status %d, error %.3g, rows %u, %llu steps %s", trial.status,
          error, trial.rows.count, (unsigned long long)trial.stats.steps, trial.log.text);
    trial_end(&trial);
}

// --- Robertson with an algebraic unknown: y1' = -0.04 y1 + 1e4 y2 y3, y2' = ..., 0 = y1 + y2 + y3 - 1

static void
robertson_block(double *v, const void *self)
{
    (void)self;
    v[R(3, 2)] = v[Y(3, 0)] + v[Y(3, 1)] + v[Y(3, 2)] - 1;
}

static void
robertson_block_jacobian(double *v, const void *self)
{
    (void)self;
    v[EXTRA(3, 20)] = 1;
}

static void
robertson_after(double *v, const void *self)
{
    (void)self;
    double a = 0.04 * v[Y(3, 0)], b = 1e4 * v[Y(3, 1)] * v[Y(3, 2)], c = 3e7 * v[Y(3, 1)] * v[Y(3, 1)];
    v[DX(3, 0)] = -a + b;
    v[DX(3, 1)] = a - b - c;
}

static void
robertson_jacobian(double *v, const void *self)
{
    (void)self;
    double *j = v + EXTRA(3, 0), y2 = v[Y(3, 1)], y3 = v[Y(3, 2)];
    double values[9] = {0.04, -0.04, 1, -1e4 * y3, 1e4 * y3 + 6e7 * y2, 1, -1e4 * y2, 1e4 * y2, 1};
    memcpy(j, values, sizeof values);
}

static void
test_robertson(Check *state, mdl_form form)
{
    static const uint32_t start[] = {0, 3, 6, 9}, row[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    static const uint32_t one_start[] = {0, 1}, one_row[] = {0}, unknown[] = {Y(3, 2)}, residual[] = {R(3, 2)};
    static const char *const names[] = {"y1", "y2", "y3"};
    static const char *const equation[] = {"r.mdl:1:1: y1 + y2 + y3 = 1"};
    static const mdl_block block = {
        .m = 1, .unknown = unknown, .residual = residual, .eval = {robertson_block, NULL},
        .jacobian = {robertson_block_jacobian, NULL}, .jac = {1, 1, 1, one_start, one_row, EXTRA(3, 20)},
        .linear = 1, .unknown_name = names + 2, .equation = equation};
    static const mdl_step dynamics[] = {{.block = &block}, {.call = {robertson_after, NULL}}};
    static const mdl_output output[] = {
        {"y1", Y(3, 0), 1, MDL_REAL, 0, 0}, {"y2", Y(3, 1), 1, MDL_REAL, 0, 0}, {"y3", Y(3, 2), 1, MDL_REAL, 0, 0}};
    double v0[SMALL_PLACES];
    mdl_model model = small_model(v0, SMALL_PLACES, 3, 2, names);
    v0[Y(3, 0)] = 1;
    model.n_dynamics = 2;
    model.dynamics = dynamics;
    model.jac_y = (mdl_matrix){3, 3, 9, start, row, EXTRA(3, 0)};
    model.jacobian.fn = robertson_jacobian;
    model.output = output;
    model.n_outputs = 3;
    v0[1 + 4 * 3 + 1] = 1e-4; // nominal of y2
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 400;
    trial.options.points = 10;
    trial.options.form = form;
    trial_run(&trial, &model);
    // y(400) of idaRoberts_dns: 4.5053e-01 3.2232e-06 5.4947e-01.
    double error = fabs(trial_last(&trial, 1) - 0.4505440) + fabs(trial_last(&trial, 2) - 3.2232e-06);
    double sum = trial_last(&trial, 1) + trial_last(&trial, 2) + trial_last(&trial, 3) - 1;
    check(state, trial.status == MDL_OK && error < 1e-4 && fabs(sum) < 1e-14,
          form == MDL_FORM_CAUSAL ? "robertson_causal" : "robertson_dae",
          "status %d, y1 %.10g, y2 %.6g, sum %.3g, %llu steps %s", trial.status, trial_last(&trial, 1),
          trial_last(&trial, 2), sum, (unsigned long long)trial.stats.steps, trial.log.text);
    trial_end(&trial);
}

// --- pendulum, index 1: x' = u, y' = w, u' = x lambda, w' = y lambda - g, 0 = u^2 + w^2 + lambda (x^2 +
// y^2) - g y

static void
pendulum_block(double *v, const void *self)
{
    (void)self;
    double x = v[Y(5, 0)], y = v[Y(5, 1)], u = v[Y(5, 2)], w = v[Y(5, 3)];
    v[R(5, 4)] = u * u + w * w + v[Y(5, 4)] * (x * x + y * y) - 9.81 * y;
}

static void
pendulum_block_jacobian(double *v, const void *self)
{
    (void)self;
    v[EXTRA(5, 30)] = v[Y(5, 0)] * v[Y(5, 0)] + v[Y(5, 1)] * v[Y(5, 1)];
}

static void
pendulum_after(double *v, const void *self)
{
    (void)self;
    double lambda = v[Y(5, 4)];
    v[DX(5, 0)] = v[Y(5, 2)];
    v[DX(5, 1)] = v[Y(5, 3)];
    v[DX(5, 2)] = v[Y(5, 0)] * lambda;
    v[DX(5, 3)] = v[Y(5, 1)] * lambda - 9.81;
}

// Columns: x: rows 2 4; y: 3 4; u: 0 4; w: 1 4; lambda: 2 3 4.
static void
pendulum_jacobian(double *v, const void *self)
{
    (void)self;
    double x = v[Y(5, 0)], y = v[Y(5, 1)], u = v[Y(5, 2)], w = v[Y(5, 3)], l = v[Y(5, 4)];
    double values[11] = {-l, 2 * l * x, -l, 2 * l * y - 9.81, -1, 2 * u, -1, 2 * w, -x, -y, x * x + y * y};
    memcpy(v + EXTRA(5, 0), values, sizeof values);
}

static void
test_pendulum(Check *state, mdl_form form)
{
    static const uint32_t start[] = {0, 2, 4, 6, 8, 11}, row[] = {2, 4, 3, 4, 0, 4, 1, 4, 2, 3, 4};
    static const uint32_t one_start[] = {0, 1}, one_row[] = {0}, unknown[] = {Y(5, 4)}, residual[] = {R(5, 4)};
    static const char *const names[] = {"x", "y", "u", "w", "lambda"};
    static const char *const equation[] = {"p.mdl:1:1: force along the rod"};
    static const mdl_block block = {
        .m = 1, .unknown = unknown, .residual = residual, .eval = {pendulum_block, NULL},
        .jacobian = {pendulum_block_jacobian, NULL}, .jac = {1, 1, 1, one_start, one_row, EXTRA(5, 30)},
        .linear = 1, .unknown_name = names + 4, .equation = equation};
    static const mdl_step dynamics[] = {{.block = &block}, {.call = {pendulum_after, NULL}}};
    static const mdl_output output[] = {{"x", Y(5, 0), 1, MDL_REAL, 0, 0}, {"y", Y(5, 1), 1, MDL_REAL, 0, 0},
                                        {"u", Y(5, 2), 1, MDL_REAL, 0, 0}, {"w", Y(5, 3), 1, MDL_REAL, 0, 0},
                                        {"lambda", Y(5, 4), 1, MDL_REAL, 0, 0}};
    double v0[SMALL_PLACES];
    mdl_model model = small_model(v0, SMALL_PLACES, 5, 4, names);
    v0[Y(5, 0)] = 1;
    model.n_dynamics = 2;
    model.dynamics = dynamics;
    model.jac_y = (mdl_matrix){5, 5, 11, start, row, EXTRA(5, 0)};
    model.jacobian.fn = pendulum_jacobian;
    model.output = output;
    model.n_outputs = 5;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 100;
    trial.options.tolerance = 1e-6;
    trial.options.form = form;
    trial_run(&trial, &model);
    // Energy and length after 100 s; the index-1 form drifts with the tolerance.
    double x = trial_last(&trial, 1), y = trial_last(&trial, 2), u = trial_last(&trial, 3), w = trial_last(&trial, 4);
    double energy = (u * u + w * w) / 2 + 9.81 * y, length = hypot(x, y);
    check(state, trial.status == MDL_OK && fabs(energy) < 0.3 && fabs(length - 1) < 0.03,
          form == MDL_FORM_CAUSAL ? "pendulum_causal" : "pendulum_dae",
          "status %d, energy %.3g, length - 1 %.3g, %llu steps, %.3g us/step %s", trial.status, energy, length - 1,
          (unsigned long long)trial.stats.steps, 1e6 * trial.stats.run_seconds / (double)trial.stats.steps,
          trial.log.text);
    trial_end(&trial);
}

// --- heat chain: x_i' = (x_(i-1) - 2 x_i + x_(i+1)) (n+1)^2, ends at 0, first mode decays with exp(-k t)

enum { CHAIN = 1000 };

static void
chain_dynamics(double *v, const void *self)
{
    (void)self;
    const double *x = v + 1, c = (CHAIN + 1.0) * (CHAIN + 1.0);
    double *dx = v + DX(CHAIN, 0);
    for (int i = 0; i < CHAIN; i++)
        dx[i] = c * ((i ? x[i - 1] : 0) - 2 * x[i] + (i + 1 < CHAIN ? x[i + 1] : 0));
}

static void
chain_jacobian(double *v, const void *self)
{
    (void)self;
    const double c = (CHAIN + 1.0) * (CHAIN + 1.0);
    double *j = v + EXTRA(CHAIN, 0);
    for (int i = 0, k = 0; i < CHAIN; i++) {
        if (i)
            j[k++] = -c;
        j[k++] = 2 * c;
        if (i + 1 < CHAIN)
            j[k++] = -c;
    }
}

static void
test_chain(Check *state)
{
    static uint32_t start[CHAIN + 1], row[3 * CHAIN];
    static const char *names[CHAIN];
    static double v0[EXTRA(CHAIN, 3 * CHAIN)];
    static const mdl_step dynamics[] = {{.call = {chain_dynamics, NULL}}};
    static const mdl_output output[] = {{"middle", Y(CHAIN, CHAIN / 2), 1, MDL_REAL, 0, 0}};
    mdl_model model = small_model(v0, EXTRA(CHAIN, 3 * CHAIN), CHAIN, CHAIN, names);
    uint32_t k = 0;
    for (uint32_t i = 0; i < CHAIN; i++) {
        names[i] = "x[i]";
        v0[Y(CHAIN, i)] = sin(M_PI * (i + 1.0) / (CHAIN + 1));
        start[i] = k;
        for (int d = -1; d <= 1; d++)
            if ((int)i + d >= 0 && (int)i + d < CHAIN)
                row[k++] = (uint32_t)((int)i + d);
    }
    start[CHAIN] = k;
    model.n_dynamics = 1;
    model.dynamics = dynamics;
    model.jac_y = (mdl_matrix){CHAIN, CHAIN, k, start, row, EXTRA(CHAIN, 0)};
    model.jacobian.fn = chain_jacobian;
    model.output = output;
    model.n_outputs = 1;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 0.3;
    trial.options.points = 1;
    trial_run(&trial, &model);
    double rate = 4 * pow((CHAIN + 1) * sin(M_PI / 2 / (CHAIN + 1)), 2);
    double expected = v0[Y(CHAIN, CHAIN / 2)] * exp(-rate * 0.3), error = fabs(trial_last(&trial, 1) - expected);
    check(state, trial.status == MDL_OK && error < 1e-5 && strcmp(trial.stats.linear_solver, "klu") == 0, "chain",
          "status %d, error %.3g, %llu steps, %llu jacobians, %.3g us/step %s", trial.status, error,
          (unsigned long long)trial.stats.steps, (unsigned long long)trial.stats.jacobians,
          1e6 * trial.stats.run_seconds / (double)trial.stats.steps, trial.log.text);
    trial_end(&trial);
}

int
main(int argc, char **argv)
{
    Check state = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    test_decay(&state);
    test_robertson(&state, MDL_FORM_DAE);
    test_robertson(&state, MDL_FORM_CAUSAL);
    test_pendulum(&state, MDL_FORM_DAE);
    test_pendulum(&state, MDL_FORM_CAUSAL);
    test_chain(&state);
    return check_end(&state);
}
