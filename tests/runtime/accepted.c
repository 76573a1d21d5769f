// accepted.c: what the iteration of a step takes for solved is looked at again.
//
// Purpose: steps of constant length keep their matrix. Where the equations suddenly answer ten thousand times less it is so much too
// large: corrections are small though nothing is solved, and the rate of convergence of earlier steps says that all is well.
#include "tests/runtime/small.h"

static const double SLIGHT = 1e-3;

// What the equations answer to their unknowns, by time or what runs with it.
static double
answer(double x)
{
    return x < 1 ? 1 : 1e-4;
}

// --- x' = 1, area' = z, answer(x)*(z - 1 - sin(x)/1000) = 0: a loop's unknown, which no error test controls

static void
loop_eval(double *v, const void *self)
{
    (void)self;
    v[R(3, 2)] = answer(v[Y(3, 0)]) * (v[Y(3, 2)] - 1 - SLIGHT * sin(v[Y(3, 0)]));
}

static void
loop_block_jacobian(double *v, const void *self)
{
    (void)self;
    v[EXTRA(3, 20)] = answer(v[Y(3, 0)]);
}

static void
loop_after(double *v, const void *self)
{
    (void)self;
    v[DX(3, 0)] = 1;
    v[DX(3, 1)] = v[Y(3, 2)];
}

static void
loop_jacobian(double *v, const void *self)
{
    (void)self;
    double *j = v + EXTRA(3, 0), fading = answer(v[Y(3, 0)]);
    j[0] = -fading * SLIGHT * cos(v[Y(3, 0)]);
    j[1] = -1;
    j[2] = fading;
}

static mdl_model
loop_model(double *v0)
{
    static const uint32_t start[] = {0, 1, 1, 3}, row[] = {2, 1, 2}, block_start[] = {0, 1}, block_row[] = {0};
    static const uint32_t unknown[] = {Y(3, 2)}, residual[] = {R(3, 2)};
    static const char *const names[] = {"x", "area", "z"}, *const block_name[] = {"z"},
                      *const equation[] = {"loop.mdl:5:3: answer(x)*(z - 1 - 0.001*sin(x)) = 0"};
    static const mdl_block block = {.m = 1, .unknown = unknown, .residual = residual, .eval = {loop_eval, NULL},
                                    .jacobian = {loop_block_jacobian, NULL}, .jac = {1, 1, 1, block_start, block_row, EXTRA(3, 20)},
                                    .unknown_name = block_name, .equation = equation};
    static const mdl_step steps[] = {{.block = &block}, {.call = {loop_after, NULL}}};
    static const mdl_output output[] = {{"area", Y(3, 1), 1, MDL_REAL, 0, 0}};
    mdl_model model = small_model(v0, SMALL_PLACES, 3, 2, names);
    v0[Y(3, 2)] = 1;
    model.n_dynamics = 2;
    model.dynamics = steps;
    model.jac_y = (mdl_matrix){3, 3, 3, start, row, EXTRA(3, 0)};
    model.jacobian.fn = loop_jacobian;
    model.output = output;
    model.n_outputs = 1;
    return model;
}

// --- x' = cos(t)/1000 - L*(x - sin(t)/1000) with L = 1e6*answer(t): sin(t)/1000

static void
follow_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = SLIGHT * cos(v[0]) - 1e6 * answer(v[0]) * (v[Y(1, 0)] - SLIGHT * sin(v[0]));
}

static void
follow_jacobian(double *v, const void *self)
{
    (void)self;
    v[EXTRA(1, 0)] = 1e6 * answer(v[0]);
}

static mdl_model
follow_model(double *v0)
{
    static const uint32_t start[] = {0, 1}, row[] = {0};
    static const char *const names[] = {"x"};
    static const mdl_step steps[] = {{.call = {follow_dynamics, NULL}}};
    static const mdl_output output[] = {{"x", Y(1, 0), 1, MDL_REAL, 0, 0}};
    mdl_model model = small_model(v0, SMALL_PLACES, 1, 1, names);
    model.n_dynamics = 1;
    model.dynamics = steps;
    model.jac_y = (mdl_matrix){1, 1, 1, start, row, EXTRA(1, 0)};
    model.jacobian.fn = follow_jacobian;
    model.output = output;
    model.n_outputs = 1;
    return model;
}

static void
test(Check *state, const char *name, const mdl_model *model, mdl_solver solver, double stop, double right)
{
    Trial trial;
    double last[1];
    trial_begin(&trial, model);
    trial.options.solver = solver;
    trial.options.stop = stop;
    trial.options.interval = stop;
    trial.options.max_step = 1e-3;
    trial.options.final_values = last;
    trial_run(&trial, model);
    check(state, trial.status == MDL_OK && fabs(last[0] - right) < 1e-7, name, "status %d, %.9g instead of %.9g, %llu steps: %s",
          trial.status, last[0], right, (unsigned long long)trial.stats.steps, trial.log.text);
    trial_end(&trial);
}

int
main(int argc, char **argv)
{
    Check state = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    double v0[SMALL_PLACES];
    mdl_model model = loop_model(v0);
    test(&state, "loop_ida", &model, MDL_SOLVER_IDA, 3, 3 + SLIGHT * (1 - cos(3)));
    model = follow_model(v0);
    test(&state, "states_ida", &model, MDL_SOLVER_IDA, 3, SLIGHT * sin(3));
    test(&state, "states_cvode", &model, MDL_SOLVER_CVODE, 3, SLIGHT * sin(3));
    return check_end(&state);
}
