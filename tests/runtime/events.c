// events.c: state events, time events, samples, reinit, when-equations, several friction laws, bad event
// systems.
//
// Purpose: event times against closed forms; both rows of an event; fixed points and their limits.
#include "tests/runtime/small.h"

// --- bouncing ball: h' = v, v' = -g; when h < 0 then reinit(v, -0.8 pre(v))

enum { BALL_REL = EXTRA(2, 0), BALL_NEXT, BALL_G, BALL_HIT, BALL_HIT_PRE, BALL_COUNT, BALL_COUNT_NEXT,
       BALL_COUNT_PRE, BALL_ACTIVE, BALL_NEW, BALL_E, BALL_V_PRE, BALL_J, BALL_PLACES = BALL_J + 2 };

static void
ball_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(2, 0)] = v[Y(2, 1)];
    v[DX(2, 1)] = -9.81;
}

static void
ball_jacobian(double *v, const void *self)
{
    (void)self;
    v[BALL_J] = -1;
}

static void
ball_relations(double *v, const void *self)
{
    (void)self;
    v[BALL_G] = -v[Y(2, 0)];
    v[BALL_NEXT] = v[Y(2, 0)] < 0;
}

static void
ball_discretes(double *v, const void *self)
{
    (void)self;
    v[BALL_HIT] = v[BALL_REL];
    bool edge = v[BALL_HIT] != 0 && v[BALL_HIT_PRE] == 0;
    v[BALL_COUNT_NEXT] = edge ? v[BALL_COUNT_PRE] + 1 : v[BALL_COUNT_PRE];
    v[BALL_ACTIVE] = edge;
    v[BALL_NEW] = -v[BALL_E] * v[BALL_V_PRE];
}

static const uint32_t ball_start[] = {0, 0, 1}, ball_row[] = {0};
static const char *const ball_names[] = {"h", "v"};
static const mdl_step ball_step[] = {{.call = {ball_dynamics, NULL}}};
static const mdl_relation ball_relation[] = {{BALL_REL, BALL_NEXT, BALL_G, 0, 0, "h < 0"}};
static const mdl_discrete ball_discrete[] = {{BALL_HIT, BALL_HIT, BALL_HIT_PRE, NULL, 0, NULL},
                                             {BALL_COUNT, BALL_COUNT_NEXT, BALL_COUNT_PRE, NULL, 0, NULL},
                                             {Y(2, 1), 0, BALL_V_PRE, NULL, 0, NULL}};
static const mdl_reinit ball_reinit[] = {{.state = 1, .active = BALL_ACTIVE, .next = BALL_NEW}};
static const mdl_output ball_output[] = {{"h", Y(2, 0), 1, MDL_REAL, 0, 0}, {"v", Y(2, 1), 1, MDL_REAL, 0, 0},
                                         {"bounces", BALL_COUNT, 1, MDL_INTEGER, 0, 0}};

static mdl_model
ball_model(double *v0, double restitution)
{
    mdl_model model = small_model(v0, BALL_PLACES, 2, 2, ball_names);
    v0[Y(2, 0)] = 1;
    v0[BALL_E] = restitution;
    model.n_dynamics = 1;
    model.dynamics = ball_step;
    model.jac_y = (mdl_matrix){2, 2, 1, ball_start, ball_row, BALL_J};
    model.jacobian.fn = ball_jacobian;
    model.n_relations = 1;
    model.relation = ball_relation;
    model.relations.fn = ball_relations;
    model.n_discretes = 3;
    model.discrete = ball_discrete;
    model.discretes.fn = ball_discretes;
    model.n_reinits = 1;
    model.reinit = ball_reinit;
    model.output = ball_output;
    model.n_outputs = 3;
    return model;
}

static void
test_ball(Check *state)
{
    double v0[BALL_PLACES];
    mdl_model model = ball_model(v0, 0.8);
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 3;
    trial.options.tolerance = 1e-8;
    trial_run(&trial, &model);
    // Bounce k happens at t1 (1 + 2 (e + e^2 + ... )).
    double time = sqrt(2 / 9.81), flight = 2 * time, error = 0;
    uint32_t bounces = 0;
    for (uint32_t r = 1; r < trial.rows.count; r++)
        if (rows_at(&trial.rows, r, 3) != rows_at(&trial.rows, r - 1, 3)) {
            error = fmax(error, fabs(rows_at(&trial.rows, r, 0) - time));
            error = fmax(error, fabs(rows_at(&trial.rows, r, 0) - rows_at(&trial.rows, r - 1, 0)));
            error = fmax(error, fabs(rows_at(&trial.rows, r, 2) + 0.8 * rows_at(&trial.rows, r - 1, 2)));
            flight *= 0.8;
            time += flight;
            bounces++;
        }
    check(state, trial.status == MDL_OK && bounces == 6 && error < 1e-6, "bouncing_ball",
          "status %d, %u bounces, error %.3g, %llu steps, %llu events %s", trial.status, bounces, error,
          (unsigned long long)trial.stats.steps, (unsigned long long)trial.stats.events, trial.log.text);
    trial_end(&trial);
}

// The bounces accumulate at a finite time: an explained end, not an endless run.
static void
test_zeno(Check *state)
{
    double v0[BALL_PLACES];
    mdl_model model = ball_model(v0, 0.8);
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 10;
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "no progress") &&
          strstr(trial.log.text, "h < 0") && trial.stats.end_time > 4 && trial.stats.end_time < 4.2, "zeno",
          "status %d at %.9g: %s", trial.status, trial.stats.end_time, trial.log.text);
    trial_end(&trial);
}

// --- thermostat: T' = (on ? 10 : 0) - 0.1 T - ..., on switches at 20 (off) and 19 (on), counted by a
// discrete variable

enum { TH_LOW = EXTRA(1, 0), TH_LOW_NEXT, TH_LOW_G, TH_HIGH, TH_HIGH_NEXT, TH_HIGH_G, TH_ON, TH_ON_NEXT, TH_ON_PRE,
       TH_J, TH_PLACES };

static void
thermostat_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = (v[TH_ON] != 0 ? 10 : 0) - 0.1 * v[Y(1, 0)];
}

static void
thermostat_jacobian(double *v, const void *self)
{
    (void)self;
    v[TH_J] = 0.1;
}

static void
thermostat_relations(double *v, const void *self)
{
    (void)self;
    v[TH_LOW_G] = 19 - v[Y(1, 0)];
    v[TH_LOW_NEXT] = v[TH_LOW_G] > 0;
    v[TH_HIGH_G] = v[Y(1, 0)] - 20;
    v[TH_HIGH_NEXT] = v[TH_HIGH_G] > 0;
}

static void
thermostat_discretes(double *v, const void *self)
{
    (void)self;
    v[TH_ON_NEXT] = v[TH_LOW] != 0 ? 1 : v[TH_HIGH] != 0 ? 0 : v[TH_ON_PRE];
}

static void
test_thermostat(Check *state)
{
    static const uint32_t start[] = {0, 1}, row[] = {0};
    static const char *const names[] = {"T"};
    static const mdl_step step[] = {{.call = {thermostat_dynamics, NULL}}};
    static const mdl_relation relation[] = {{TH_LOW, TH_LOW_NEXT, TH_LOW_G, 0, 0, "T < 19"},
                                            {TH_HIGH, TH_HIGH_NEXT, TH_HIGH_G, 0, 0, "T > 20"}};
    static const mdl_discrete discrete[] = {{TH_ON, TH_ON_NEXT, TH_ON_PRE, NULL, 0, NULL}};
    static const mdl_output output[] = {{"T", Y(1, 0), 1, MDL_REAL, 0, 0}, {"on", TH_ON, 1, MDL_BOOLEAN, 0, 0}};
    double v0[TH_PLACES];
    mdl_model model = small_model(v0, TH_PLACES, 1, 1, names);
    v0[Y(1, 0)] = 15;
    model.n_dynamics = 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){1, 1, 1, start, row, TH_J};
    model.jacobian.fn = thermostat_jacobian;
    model.n_relations = 2;
    model.relation = relation;
    model.relations.fn = thermostat_relations;
    model.n_discretes = 1;
    model.discrete = discrete;
    model.discretes.fn = thermostat_discretes;
    model.output = output;
    model.n_outputs = 2;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 20;
    trial.options.tolerance = 1e-8;
    trial_run(&trial, &model);
    double time = 10 * log((100 - 15) / (100 - 20.0)), error = 0;
    double off = 10 * log(20.0 / 19), on = 10 * log((100 - 19.0) / (100 - 20));
    uint32_t switches = 0;
    for (uint32_t r = 1; r < trial.rows.count; r++)
        if (rows_at(&trial.rows, r, 2) != rows_at(&trial.rows, r - 1, 2)) {
            error = fmax(error, fabs(rows_at(&trial.rows, r, 0) - time));
            time += switches++ % 2 ? on : off;
        }
    check(state, trial.status == MDL_OK && switches > 50 && error < 1e-5, "thermostat",
          "status %d, %u switches, error %.3g s, %llu steps, %llu events %s", trial.status, switches, error,
          (unsigned long long)trial.stats.steps, (unsigned long long)trial.stats.events, trial.log.text);
    trial_end(&trial);
}

// --- time events: no unknowns; a sample counter, a step at 0.35, assertions

enum { CLOCK_TICK = EXTRA(0, 0), CLOCK_START, CLOCK_INTERVAL, CLOCK_B, CLOCK_B_PRE, CLOCK_N, CLOCK_N_PRE,
       CLOCK_STEP, CLOCK_STEP_NEXT, CLOCK_INSTANT, CLOCK_OK, CLOCK_GO_ON, CLOCK_RAMP, CLOCK_LIMIT,
       CLOCK_INITIAL, CLOCK_W, CLOCK_W_PRE, CLOCK_C, CLOCK_C_PRE, CLOCK_FIRED, CLOCK_FIRED_PRE, CLOCK_PLACES };

static void
clock_discretes(double *v, const void *self)
{
    (void)self;
    v[CLOCK_B] = v[CLOCK_TICK];
    if (v[CLOCK_B] != 0 && v[CLOCK_B_PRE] == 0)
        v[CLOCK_N] = v[CLOCK_N_PRE] + 1;
    // when initial() then fired = pre(fired) + 1; when time >= 0 then fired = pre(fired) + 100 (true from
    // the start)
    v[CLOCK_W] = v[CLOCK_INITIAL];
    v[CLOCK_C] = v[0] >= 0;
    v[CLOCK_FIRED] = v[CLOCK_FIRED_PRE] + (v[CLOCK_W] != 0 && v[CLOCK_W_PRE] == 0) +
                     (v[CLOCK_C] != 0 && v[CLOCK_C_PRE] == 0 ? 100 : 0);
}

// The initial system: conditions have the values they have at the start, initial() included.
static void
clock_init(double *v, const void *self)
{
    (void)self;
    v[CLOCK_W] = v[CLOCK_INITIAL];
    v[CLOCK_C] = 1;
}

static void
clock_relations(double *v, const void *self)
{
    (void)self;
    v[CLOCK_STEP_NEXT] = v[0] > v[CLOCK_INSTANT]; // strict: true only after the instant
}

static void
clock_outputs(double *v, const void *self)
{
    (void)self;
    v[CLOCK_RAMP] = v[CLOCK_STEP] != 0 ? 5 : v[0];
}

static void
clock_asserts(double *v, const void *self)
{
    (void)self;
    v[CLOCK_OK] = v[0] < v[CLOCK_LIMIT];
    v[CLOCK_GO_ON] = v[CLOCK_N] < 9;
}

static mdl_model
clock_model(double *v0)
{
    static const mdl_sample sample[] = {{CLOCK_TICK, CLOCK_START, CLOCK_INTERVAL, "clock"}};
    static const mdl_discrete discrete[] = {{CLOCK_B, CLOCK_B, CLOCK_B_PRE, NULL, 0, NULL}, {CLOCK_N, CLOCK_N, CLOCK_N_PRE, NULL, 0, NULL},
                                            {CLOCK_W, CLOCK_W, CLOCK_W_PRE, NULL, 0, NULL}, {CLOCK_C, CLOCK_C, CLOCK_C_PRE, NULL, 0, NULL},
                                            {CLOCK_FIRED, CLOCK_FIRED, CLOCK_FIRED_PRE, NULL, 0, NULL}};
    static const mdl_step init[] = {{.call = {clock_init, NULL}}};
    static const mdl_time_relation relation[] = {{CLOCK_STEP, CLOCK_STEP_NEXT, CLOCK_INSTANT, "time > 0.35"}};
    static const mdl_assert assertion[] = {{CLOCK_OK, 0, "too late", "clock.mdl:3:3: clock", 0, 0},
                                           {CLOCK_GO_ON, 2, "nine ticks", "clock.mdl:4:3: clock", 0, 0}};
    static const mdl_output output[] = {{"n", CLOCK_N, 1, MDL_INTEGER, 0, 0}, {"ramp", CLOCK_RAMP, 1, MDL_REAL, 0, 0},
                                        {"fired", CLOCK_FIRED, 1, MDL_INTEGER, 0, 0}};
    mdl_model model = small_model(v0, CLOCK_PLACES, 0, 0, NULL);
    v0[CLOCK_INTERVAL] = 0.1;
    v0[CLOCK_INSTANT] = 0.35;
    v0[CLOCK_LIMIT] = 1e9;
    model.n_samples = 1;
    model.sample = sample;
    model.initial = CLOCK_INITIAL;
    model.n_init = 1;
    model.init = init;
    model.n_discretes = 5;
    model.discrete = discrete;
    model.discretes.fn = clock_discretes;
    model.n_time_relations = 1;
    model.time_relation = relation;
    model.relations.fn = clock_relations;
    model.outputs.fn = clock_outputs;
    model.n_asserts = 2;
    model.assertion = assertion;
    model.asserts.fn = clock_asserts;
    model.output = output;
    model.n_outputs = 3;
    return model;
}

static void
test_clock(Check *state)
{
    double v0[CLOCK_PLACES];
    mdl_model model = clock_model(v0);
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.interval = 0.25;
    trial_run(&trial, &model);
    // Ticks at 0, 0.1, ... 0.8: the ninth terminates the run at 0.8.
    check(state, trial.status == MDL_OK && trial_last(&trial, 1) == 9 && fabs(trial.stats.end_time - 0.8) < 1e-12 &&
          rows_at(&trial.rows, 0, 1) == 1 && strstr(trial.log.text, "nine ticks"), "samples",
          "status %d, n = %g at %.17g, %s", trial.status, trial_last(&trial, 1), trial.stats.end_time, trial.log.text);
    check(state, rows_at(&trial.rows, 0, 3) == 1 && trial_last(&trial, 3) == 1, "when_initial", "fired %g, later %g",
          rows_at(&trial.rows, 0, 3), trial_last(&trial, 3));
    bool both = false;
    for (uint32_t r = 1; r < trial.rows.count; r++)
        both = both || (rows_at(&trial.rows, r, 0) == 0.35 && rows_at(&trial.rows, r - 1, 0) == 0.35 &&
                        rows_at(&trial.rows, r - 1, 2) == 0.35 && rows_at(&trial.rows, r, 2) == 5);
    check(state, both, "time_event_rows", "no pair of rows at 0.35");
    trial_end(&trial);
    v0[CLOCK_LIMIT] = 0.55;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "clock.mdl:3:3: clock: assertion failed"),
          "assertion", "status %d, %s", trial.status, trial.log.text);
    trial_end(&trial);
}

// --- two friction blocks in a row on a belt: v1' = f - p1 + p2, v2' = -p2 - 0.1 p3 ... coupled stick
// decisions

enum { ROW_P1 = EXTRA(2, 0), ROW_P2, ROW_M1, ROW_M2, ROW_A1, ROW_A2, ROW_F, ROW_REL, ROW_JY, ROW_JYP = ROW_JY + 4,
       ROW_JB = ROW_JYP + 4, ROW_PLACES = ROW_JB + 4 };

// States w1 = speed of the lower block on the ground, w2 = speed of the upper block on the lower one;
// masses 1.
//   w1' = f - p1 + p2,  (w1 + w2)' = -p2 + 0   =>  w2' = -p2 - w1'
static void
stack_eval(double *v, const void *self)
{
    (void)self;
    double d1 = v[YP(2, 0)], d2 = v[YP(2, 1)];
    v[ROW_F] = 6 * sin(2 * v[0]);
    v[ROW_P2] = -(d1 + d2);
    v[ROW_P1] = v[ROW_F] + v[ROW_P2] - d1;
    v[R(2, 0)] = v[ROW_M1] == 0 ? d1 : v[ROW_P1] - v[ROW_M1] * v[ROW_A1];
    v[R(2, 1)] = v[ROW_M2] == 0 ? d2 : v[ROW_P2] - v[ROW_M2] * v[ROW_A2];
}

static void
stack_block_jacobian(double *v, const void *self)
{
    (void)self;
    double values[4] = {v[ROW_M1] == 0 ? 1 : -2, v[ROW_M2] == 0 ? 0 : -1, v[ROW_M1] == 0 ? 0 : -1,
                        v[ROW_M2] == 0 ? 1 : -1};
    memcpy(v + ROW_JB, values, sizeof values);
    memcpy(v + ROW_JYP, values, sizeof values);
}

static void
stack_after(double *v, const void *self)
{
    (void)self;
    v[DX(2, 0)] = v[YP(2, 0)];
    v[DX(2, 1)] = v[YP(2, 1)];
}

static void
test_stack(Check *state)
{
    static const uint32_t start[] = {0, 2, 4}, row[] = {0, 1, 0, 1}, none[] = {0, 0, 0};
    static const uint32_t unknown[] = {YP(2, 0), YP(2, 1)}, residual[] = {R(2, 0), R(2, 1)};
    static const char *const names[] = {"w1", "w2"}, *const texts[] = {"law 1", "law 2"};
    static const uint8_t implicit[] = {1, 1};
    static const mdl_block block = {
        .m = 2, .unknown = unknown, .residual = residual, .eval = {stack_eval, NULL},
        .jacobian = {stack_block_jacobian, NULL}, .jac = {2, 2, 4, start, row, ROW_JB}, .linear = 1,
        .unknown_name = names, .equation = texts};
    static const mdl_step step[] = {{.block = &block}, {.call = {stack_after, NULL}}};
    static const mdl_sgn sgn[] = {{ROW_M1, Y(2, 0), ROW_P1, ROW_A1, 0, DX(2, 0), "Sgn(w1)", .level = 1},
                                  {ROW_M2, Y(2, 1), ROW_P2, ROW_A2, 1, DX(2, 1), "Sgn(w2)", .level = 1}};
    static const mdl_output output[] = {{"w1", Y(2, 0), 1, MDL_REAL, 0, 0}, {"w2", Y(2, 1), 1, MDL_REAL, 0, 0},
                                        {"m1", ROW_M1, 1, MDL_INTEGER, 0, 0}, {"m2", ROW_M2, 1, MDL_INTEGER, 0, 0},
                                        {"p1", ROW_P1, 1, MDL_REAL, 0, 0}, {"p2", ROW_P2, 1, MDL_REAL, 0, 0}};
    double v0[ROW_PLACES];
    mdl_model model = small_model(v0, ROW_PLACES, 2, 2, names);
    v0[ROW_A1] = 2;
    v0[ROW_A2] = 1;
    model.implicit = implicit;
    model.n_dynamics = 2;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){2, 2, 0, none, row, ROW_JY};
    model.jac_yp = (mdl_matrix){2, 2, 4, start, row, ROW_JYP};
    model.jacobian.fn = stack_block_jacobian;
    model.n_sgns = 2;
    model.sgn = sgn;
    model.output = output;
    model.n_outputs = 6;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 20;
    trial.options.tolerance = 1e-8;
    trial_run(&trial, &model);
    double worst = 0;
    bool exact = true;
    for (uint32_t r = 0; r < trial.rows.count; r++)
        for (uint32_t k = 0; k < 2; k++) {
            double w = rows_at(&trial.rows, r, 1 + k), m = rows_at(&trial.rows, r, 3 + k);
            double p = rows_at(&trial.rows, r, 5 + k), a = k ? 1 : 2;
            worst = fmax(worst, fabs(p) - a);
            worst = fmax(worst, m != 0 ? -m * w : 0);
            exact = exact && (m != 0 || w == 0);
        }
    // First release at 6 sin(2 t) = 2.
    double first = asin(1.0 / 3) / 2, found = NAN;
    for (uint32_t r = 1; r < trial.rows.count && isnan(found); r++)
        if (rows_at(&trial.rows, r, 3) != 0)
            found = rows_at(&trial.rows, r, 0);
    check(state, trial.status == MDL_OK && exact && worst < 1e-7 && fabs(found - first) < 1e-9 &&
          trial.stats.events < 200, "two_laws",
          "status %d, worst %.3g, first release error %.3g, %llu steps, %llu events %s", trial.status, worst,
          found - first, (unsigned long long)trial.stats.steps, (unsigned long long)trial.stats.events,
          trial.log.text);
    trial_end(&trial);
}

// --- a relation that contradicts itself: x' = 1 when not c, c = (c ? x < 0 : x > 0.5) flips for ever

static void
flip_relations(double *v, const void *self)
{
    (void)self;
    double held = v[TH_LOW];
    v[TH_LOW_G] = held != 0 ? -1 : v[Y(1, 0)] - 0.5;
    v[TH_LOW_NEXT] = held != 0 ? 0 : v[Y(1, 0)] > 0.5;
}

static void
flip_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = 1;
}

static void
test_flip_flop(Check *state)
{
    static const uint32_t none[] = {0, 0};
    static const char *const names[] = {"x"};
    static const mdl_step step[] = {{.call = {flip_dynamics, NULL}}};
    static const mdl_relation relation[] = {{TH_LOW, TH_LOW_NEXT, TH_LOW_G, 0, 0, "x > 0.5 and not c"}};
    double v0[TH_PLACES];
    mdl_model model = small_model(v0, TH_PLACES, 1, 1, names);
    model.n_dynamics = 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){1, 1, 0, none, none, TH_J};
    model.n_relations = 1;
    model.relation = relation;
    model.relations.fn = flip_relations;
    Trial trial;
    trial_begin(&trial, &model);
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "do not settle") &&
          strstr(trial.log.text, "x > 0.5 and not c") && fabs(trial.stats.end_time - 0.5) < 1e-9, "flip_flop",
          "status %d at %.12g: %s", trial.status, trial.stats.end_time, trial.log.text);
    trial_end(&trial);
}

// --- sliding mode: x' = x > 0 ? -1 : 1 chatters at zero; an explained end

static void
sliding_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = v[TH_LOW] != 0 ? -1 : 1;
}

static void
sliding_relations(double *v, const void *self)
{
    (void)self;
    v[TH_LOW_G] = v[Y(1, 0)];
    v[TH_LOW_NEXT] = v[Y(1, 0)] > 0;
}

static void
test_sliding(Check *state)
{
    static const uint32_t none[] = {0, 0};
    static const char *const names[] = {"x"};
    static const mdl_step step[] = {{.call = {sliding_dynamics, NULL}}};
    static const mdl_relation relation[] = {{TH_LOW, TH_LOW_NEXT, TH_LOW_G, 0, 0, "x > 0"}};
    double v0[TH_PLACES];
    mdl_model model = small_model(v0, TH_PLACES, 1, 1, names);
    v0[Y(1, 0)] = 0.5;
    model.n_dynamics = 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){1, 1, 0, none, none, TH_J};
    model.n_relations = 1;
    model.relation = relation;
    model.relations.fn = sliding_relations;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.time_limit = 20;
    trial_run(&trial, &model);
    check(state, trial.status == MDL_FAILED && strstr(trial.log.text, "no progress") &&
          strstr(trial.log.text, "x > 0") && fabs(trial.stats.end_time - 0.5) < 1e-6, "sliding",
          "status %d at %.12g, %llu events: %s", trial.status, trial.stats.end_time,
          (unsigned long long)trial.stats.events, trial.log.text);
    trial_end(&trial);
}

// --- time >= t1 with a state: the step ends exactly at t1 and nothing is searched

static void
switch_dynamics(double *v, const void *self)
{
    (void)self;
    v[DX(1, 0)] = v[TH_LOW] != 0 ? 1 : 0;
}

static void
switch_relations(double *v, const void *self)
{
    (void)self;
    v[TH_LOW_NEXT] = v[0] >= v[TH_LOW_G];
}

static void
test_switch(Check *state)
{
    static const uint32_t none[] = {0, 0};
    static const char *const names[] = {"x"};
    static const mdl_step step[] = {{.call = {switch_dynamics, NULL}}};
    static const mdl_time_relation relation[] = {{TH_LOW, TH_LOW_NEXT, TH_LOW_G, "time >= 0.3"}};
    static const mdl_output output[] = {{"x", Y(1, 0), 1, MDL_REAL, 0, 0}, {"on", TH_LOW, 1, MDL_BOOLEAN, 0, 0}};
    double v0[TH_PLACES];
    mdl_model model = small_model(v0, TH_PLACES, 1, 1, names);
    v0[TH_LOW_G] = 0.3;
    model.n_dynamics = 1;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){1, 1, 0, none, none, TH_J};
    model.n_time_relations = 1;
    model.time_relation = relation;
    model.relations.fn = switch_relations;
    model.output = output;
    model.n_outputs = 2;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.interval = 0.1;
    trial_run(&trial, &model);
    uint32_t at = 0;
    while (at < trial.rows.count && rows_at(&trial.rows, at, 2) == 0)
        at++;
    bool exact = at > 0 && at < trial.rows.count && rows_at(&trial.rows, at, 0) == 0.3 &&
                 rows_at(&trial.rows, at - 1, 0) == 0.3 && rows_at(&trial.rows, at, 1) == 0;
    check(state, trial.status == MDL_OK && exact && trial.stats.root_evaluations == 0 && trial.stats.events == 1 &&
          fabs(trial_last(&trial, 1) - 0.7) < 1e-12, "time_switch", "status %d, x = %.17g, %llu root evaluations, %s",
          trial.status, trial_last(&trial, 1), (unsigned long long)trial.stats.root_evaluations, trial.log.text);
    trial_end(&trial);
}

int
main(int argc, char **argv)
{
    Check state = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    test_ball(&state);
    test_zeno(&state);
    test_thermostat(&state);
    test_clock(&state);
    test_stack(&state);
    test_flip_flop(&state);
    test_sliding(&state);
    test_switch(&state);
    return check_end(&state);
}
