// failures.c: initialisation, bad values, full disks, interrupts: what is said and what is left on disk.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/runtime/small.h"

// --- initial systems: one block with unknown x: several equations

enum { INIT_KIND = EXTRA(1, 0), INIT_R, INIT_J, INIT_JY, INIT_PLACES };
enum { HARD, IMPOSSIBLE, DIVISION, SINGULAR };

static void
init_eval(double *v, const void *self)
{
    (void)self;
    double x = v[Y(1, 0)];
    switch ((int)v[INIT_KIND]) {
    case HARD: v[INIT_R] = atan(x - 3) + 0.01 * (x - 3); break;
    case IMPOSSIBLE: v[INIT_R] = x * x + 1; break;
    case DIVISION: v[INIT_R] = 1 / x - 2; break;
    default: v[INIT_R] = 1; break;
    }
}

static void
init_jacobian(double *v, const void *self)
{
    (void)self;
    double x = v[Y(1, 0)];
    switch ((int)v[INIT_KIND]) {
    case HARD: v[INIT_J] = 1 / (1 + (x - 3) * (x - 3)) + 0.01; break;
    case IMPOSSIBLE: v[INIT_J] = 2 * x; break;
    case DIVISION: v[INIT_J] = -1 / (x * x); break;
    default: v[INIT_J] = 0; break;
    }
}

static void
init_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = 0;
}

static const uint32_t one_start[] = {0, 1}, one_row[] = {0}, none[] = {0, 0};
static const uint32_t init_unknown[] = {Y(1, 0)}, init_residual[] = {INIT_R};
static const char *const x_name[] = {"tank.x"};
static const char *const init_equation[] = {"tank.mdl:7:3: tank: f(x) = 0"};
static const mdl_block init_block = {
    .m = 1, .unknown = init_unknown, .residual = init_residual, .eval = {init_eval, NULL},
    .jacobian = {init_jacobian, NULL}, .jac = {1, 1, 1, one_start, one_row, INIT_J},
    .unknown_name = x_name, .equation = init_equation};
static const mdl_step init_steps[] = {{.block = &init_block}};
static const mdl_step still_steps[] = {{.call = {init_dynamics, NULL}}};
static const mdl_output x_output[] = {{"x", Y(1, 0), 1, MDL_REAL, 0, 0}};

static mdl_model
init_model(double *v0, int kind, double start)
{
    mdl_model model = small_model(v0, INIT_PLACES, 1, 1, x_name);
    v0[INIT_KIND] = kind;
    v0[Y(1, 0)] = start;
    model.n_init = 1;
    model.init = init_steps;
    model.n_dynamics = 1;
    model.dynamics = still_steps;
    model.jac_y = (mdl_matrix){1, 1, 0, none, none, INIT_JY};
    model.output = x_output;
    model.n_outputs = 1;
    return model;
}

static void
test_init(Check *state, const char *name, int kind, double start, int status, double x, const char *says)
{
    double v0[INIT_PLACES];
    mdl_model model = init_model(v0, kind, start);
    Trial trial;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    bool found = status != MDL_OK || fabs(trial_last(&trial, 1) - x) < 1e-10;
    bool said = !says || (strstr(trial.log.text, says) && strstr(trial.log.text, "tank.mdl:7:3") &&
                          strstr(trial.log.text, "tank.x"));
    check(state, trial.status == status && found && said, name, "status %d, x = %.17g, %s", trial.status,
          trial_last(&trial, 1), trial.log.text);
    trial_end(&trial);
}

// --- a block that only its homotopy solves: F(x) = x^3 - 3 x + 3 has one root near -2.1, Newton from 1.1
// meets x = 1

static void
fold_eval(double *v, const void *self)
{
    (void)self;
    double x = v[Y(1, 0)], lambda = v[INIT_KIND];
    v[INIT_R] = lambda * (x * x * x - 3 * x + 3) + (1 - lambda) * (x + 3);
}

static void
fold_jacobian(double *v, const void *self)
{
    (void)self;
    double x = v[Y(1, 0)], lambda = v[INIT_KIND];
    v[INIT_J] = lambda * (3 * x * x - 3) + (1 - lambda);
}

static void
test_homotopy(Check *state)
{
    static const mdl_block block = {
        .m = 1, .unknown = init_unknown, .residual = init_residual, .eval = {fold_eval, NULL},
        .jacobian = {fold_jacobian, NULL}, .jac = {1, 1, 1, one_start, one_row, INIT_J},
        .unknown_name = x_name, .equation = init_equation};
    static const mdl_step steps[] = {{.block = &block}};
    double v0[INIT_PLACES];
    mdl_model model = init_model(v0, 0, 1.1);
    model.init = steps;
    model.lambda = INIT_KIND;
    Trial trial;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    double x = trial_last(&trial, 1);
    check(state, trial.status == MDL_OK && fabs(x * x * x - 3 * x + 3) < 1e-10, "homotopy", "status %d, x = %.17g, %s",
          trial.status, x, trial.log.text);
    trial_end(&trial);
}

// --- x' = -1 / sqrt(x): leaves its domain at t = 2/3

static void
root_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = -1 / sqrt(v[Y(1, 0)]);
}

static void
root_jacobian(double *v, const void *self)
{
    (void)self;
    v[INIT_JY] = -0.5 * pow(v[Y(1, 0)], -1.5);
}

static void
growth_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = v[Y(1, 0)] * v[Y(1, 0)];
}

static void
growth_jacobian(double *v, const void *self)
{
    (void)self;
    v[INIT_JY] = -2 * v[Y(1, 0)];
}

static mdl_model
plain_model(double *v0, mdl_fn *dynamics, mdl_fn *jacobian, mdl_step *step)
{
    mdl_model model = small_model(v0, INIT_PLACES, 1, 1, x_name);
    v0[Y(1, 0)] = 1;
    *step = (mdl_step){.call = {dynamics, NULL}};
    model.n_dynamics = 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){1, 1, 1, one_start, one_row, INIT_JY};
    model.jacobian.fn = jacobian;
    model.output = x_output;
    model.n_outputs = 1;
    model.stop = 5;
    return model;
}

static void
test_domain(Check *state, const char *name, mdl_fn *dynamics, mdl_fn *jacobian, double end)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, dynamics, jacobian, &step);
    Trial trial;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "tank.x") && trial.rows.count > 10 &&
          fabs(trial.stats.end_time - end) < 1e-3, name, "status %d at %.9g, %u rows, %s", trial.status,
          trial.stats.end_time, trial.rows.count, trial.log.text);
    trial_end(&trial);
}

static void
nan_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = 0 * v[0] / (v[Y(1, 0)] - 1);
}

static void
test_nan_at_start(Check *state)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, nan_dynamics, root_jacobian, &step);
    Trial trial;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "der(tank.x)"), "nan_at_start", "status %d, %s",
          trial.status, trial.log.text);
    trial_end(&trial);
}

// --- files

static void
test_full_disk(Check *state)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, init_dynamics, NULL, &step);
    Trial trial;
    model.jac_y.nonzeros = 0;
    trial_begin(&trial, &model);
    trial.options.sink = NULL;
    trial.options.output_path = "/dev/full";
    trial_run(&trial, &model);
    check(state, trial.status == MDL_IO && strstr(trial.log.text, "/dev/full"), "full_disk", "status %d, %s",
          trial.status, trial.log.text);
    trial.log.text[0] = '\0';
    trial.options.output_path = "/nonexistent/directory/x.csv";
    trial_run(&trial, &model);
    check(state, trial.status == MDL_IO && strstr(trial.log.text, "cannot open"), "no_directory", "status %d, %s",
          trial.status, trial.log.text);
    trial_end(&trial);
}

// Bytes, lines and whether the file ends with a complete row of two numbers.
static bool
whole_rows(const char *path, long *lines)
{
    FILE *file = fopen(path, "r");
    char line[256] = "";
    bool whole = file != NULL;
    *lines = 0;
    while (file && fgets(line, sizeof line, file)) {
        double t, x;
        whole = whole && line[strlen(line) - 1] == '\n' && (*lines == 0 || sscanf(line, "%lf,%lf", &t, &x) == 2);
        (*lines)++;
    }
    if (file)
        fclose(file);
    return whole;
}

// A device that is full in the middle of a row: the file is cut back to whole rows.
static void
test_size_limit(Check *state)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, growth_dynamics, growth_jacobian, &step);
    struct rlimit old, small;
    Trial trial;
    char path[] = "/tmp/mdl_test_XXXXXX";
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    v0[Y(1, 0)] = 0.1;
    trial_begin(&trial, &model);
    trial.options.sink = NULL;
    trial.options.output_path = path;
    trial.options.points = 100000;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 100001;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    trial_run(&trial, &model);
    setrlimit(RLIMIT_FSIZE, &old);
    long lines;
    bool whole = whole_rows(path, &lines);
    check(state, trial.status == MDL_IO && whole && lines > 1000, "size_limit", "status %d, whole %d, %ld lines, %s",
          trial.status, whole, lines, trial.log.text);
    trial_end(&trial);
    unlink(path);
}

typedef struct Stopper {
    Log log;
    volatile sig_atomic_t stop;
} Stopper;

static void
stopping_dynamics(double *v, const void *self)
{
    // Plays the signal handler: raises the flag once time has passed 1.
    volatile sig_atomic_t *stop = (volatile sig_atomic_t *)(uintptr_t)self;
    if (v[0] > 1)
        *stop = 1;
    v[DX(1, 0)] = cos(v[0]);
}

static void
test_interrupt(Check *state)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, stopping_dynamics, NULL, &step);
    volatile sig_atomic_t stop = 0;
    Trial trial;
    char path[] = "/tmp/mdl_test_XXXXXX";
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    step.call.self = (const void *)(uintptr_t)&stop;
    model.jac_y.nonzeros = 0;
    trial_begin(&trial, &model);
    trial.options.sink = NULL;
    trial.options.output_path = path;
    trial.options.interrupt = &stop;
    trial_run(&trial, &model);
    long lines;
    bool whole = whole_rows(path, &lines);
    check(state, trial.status == MDL_INTERRUPTED && whole && lines > 50 && lines < 300 &&
          trial.stats.end_time < 2.5, "interrupt", "status %d at %g, %ld lines, %s", trial.status,
          trial.stats.end_time, lines, trial.log.text);
    trial_end(&trial);
    unlink(path);
}

static void
test_options(Check *state)
{
    double v0[INIT_PLACES];
    mdl_step step;
    mdl_model model = plain_model(v0, init_dynamics, NULL, &step);
    Trial trial;
    model.jac_y.nonzeros = 0;
    trial_begin(&trial, &model);
    trial.options.stop = -1;
    trial_run(&trial, &model);
    check(state, trial.status == MDL_USAGE, "stop_before_start", "status %d", trial.status);
    trial.options.stop = 0;
    trial_run(&trial, &model);
    check(state, trial.status == MDL_OK && trial.rows.count == 1, "empty_run", "status %d, %u rows", trial.status,
          trial.rows.count);
    trial.options.stop = 1;
    trial.options.tolerance = 0;
    trial_run(&trial, &model);
    check(state, trial.status == MDL_USAGE, "tolerance_zero", "status %d", trial.status);
    trial_end(&trial);
}

int
main(int argc, char **argv)
{
    Check state = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    test_init(&state, "hard_start", HARD, 1e3, MDL_OK, 3, NULL);
    test_init(&state, "impossible", IMPOSSIBLE, 3, MDL_FAILED, 0, "initialisation");
    test_init(&state, "division_by_zero", DIVISION, 0, MDL_OK, 0.5, NULL);
    test_init(&state, "division_fine", DIVISION, 0.3, MDL_OK, 0.5, NULL);
    test_init(&state, "singular", SINGULAR, 1, MDL_FAILED, 0, "singular");
    test_homotopy(&state);
    test_domain(&state, "leaves_domain", root_dynamics, root_jacobian, 2.0 / 3);
    test_domain(&state, "blows_up", growth_dynamics, growth_jacobian, 1);
    test_nan_at_start(&state);
    test_full_disk(&state);
    test_size_limit(&state);
    test_interrupt(&state);
    test_options(&state);
    return check_end(&state);
}
