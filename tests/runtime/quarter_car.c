// quarter_car.c: the quarter car against reference trajectories, event times and stick intervals.
//
// Purpose: accuracy of events and friction modes. Reference data: tests/data/qc_*.csv (DOP853 at 1e-11
// against exact exponentials), tables of docs/nonsmooth.md. Run from the tree's top; `-v` shows the
// measured numbers.
#include "tests/runtime/check.h"
#include "tests/runtime/quarter_car.h"

enum { Z1 = 1, V1, Z2, V2, VREL, MODE, CONTACT, LOW, HIGH, P, DVREL };

typedef struct Run {
    Rows rows;
    mdl_stats stats;
    Log log;
    int status;
} Run;

static void
simulate(Run *run, double friction, double speed, double frequency, double stop, double interval,
         double tolerance, mdl_form form)
{
    double v0[QC_COUNT];
    mdl_model model = quarter_car(v0, friction, speed, frequency);
    mdl_options options;
    mdl_sink sink = rows_sink(&run->rows);
    mdl_options_default(&model, &options);
    options.stop = stop;
    options.interval = interval;
    options.tolerance = tolerance;
    options.form = form;
    options.sink = &sink;
    options.message = log_message;
    options.user = &run->log;
    run->log.text[0] = '\0';
    run->status = mdl_simulate(&model, &options, &run->stats);
}

// Largest error of z1, z2 against the file, up to `until`. Negative when the file cannot be read.
static double
trajectory_error(const Rows *rows, const char *path, double until)
{
    FILE *file = fopen(path, "r");
    char line[512];
    double most = -1;
    uint32_t row = 0;
    if (!file)
        return -1;
    if (fgets(line, sizeof line, file))
        while (fgets(line, sizeof line, file)) {
            double t, z0, z1, v1, z2, v2;
            if (sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &t, &z0, &z1, &v1, &z2, &v2) != 6 || t > until)
                continue;
            while (row < rows->count && rows_at(rows, row, 0) < t - 1e-9)
                row++;
            if (row == rows->count || fabs(rows_at(rows, row, 0) - t) > 1e-9)
                continue;
            most = fmax(most, fabs(rows_at(rows, row, Z1) - z1));
            most = fmax(most, fabs(rows_at(rows, row, Z2) - z2));
        }
    fclose(file);
    return most;
}

// Times at which a column changes its value between the two rows of an event.
static uint32_t
changes(const Rows *rows, uint32_t column, double *time, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t r = 1; r < rows->count && count < most; r++)
        if (rows_at(rows, r, column) != rows_at(rows, r - 1, column))
            time[count++] = rows_at(rows, r, 0);
    return count;
}

// Stick intervals after the first release; an interval that never ends has end = infinity.
static uint32_t
sticks(const Rows *rows, double *begin_end, uint32_t most)
{
    uint32_t count = 0;
    bool released = false;
    for (uint32_t r = 1; r < rows->count && count < 2 * most; r++) {
        bool sticks_now = rows_at(rows, r, MODE) == 0, stuck = rows_at(rows, r - 1, MODE) == 0;
        released = released || !sticks_now;
        if (released && sticks_now != stuck && (sticks_now || count % 2))
            begin_end[count++] = rows_at(rows, r, 0);
    }
    if (count % 2)
        begin_end[count++] = INFINITY;
    return count / 2;
}

static bool
sticking_is_exact(const Rows *rows)
{
    for (uint32_t r = 1; r < rows->count; r++)
        if (rows_at(rows, r, MODE) == 0 && (rows_at(rows, r, VREL) != 0 || rows_at(rows, r, DVREL) != 0))
            return false;
    return true;
}

static void
test_file(Check *state, const char *name, double speed, double frequency, double until)
{
    Run run = {0};
    char path[256];
    simulate(&run, 0.2, speed, frequency, until, 0.01, 1e-9, MDL_FORM_AUTO);
    snprintf(path, sizeof path, "tests/data/qc_%s.csv", name);
    double error = trajectory_error(&run.rows, path, until);
    check(state, run.status == MDL_OK && error >= 0 && error < 1e-7 && sticking_is_exact(&run.rows), name,
          "status %d, max displacement error %.3g m, %llu steps, %llu events, %.3g us/step %s", run.status, error,
          (unsigned long long)run.stats.steps, (unsigned long long)run.stats.events,
          1e6 * run.stats.run_seconds / (double)run.stats.steps, run.log.text);
    free(run.rows.value);
}

static double
worst_difference(const double *found, const double *expected, uint32_t count)
{
    double most = 0;
    for (uint32_t k = 0; k < count; k++)
        if (expected[k] != found[k])
            most = fmax(most, fabs(found[k] - expected[k]));
    return most;
}

typedef struct FrictionCase {
    const char *name;
    double speed, frequency;
    uint32_t contacts, lows, stick_count;
    double contact[4], low[4], stick[24];
    double z1_1, z2_1, z1_5, z2_5;
} FrictionCase;

static const FrictionCase friction_cases[] = {
    {"friction_pulse_1", 1, 0, 2, 2, 6, {0.294546364, 0.482943675}, {0.628359046, 0.719213803},
     {0.115390077, 0.121343528, 0.483759445, 0.486958161, 0.648816744, 0.682185384, 0.950747427, 0.967456223,
      1.243961156, 1.281123956, 1.505436146, INFINITY},
     -0.01274420805, -0.052940452827, -0.016314126227, -0.090162758619},
    {"friction_pulse_3", 3, 0, 2, 4, 8, {0.107087531, 0.435065844},
     {0.041980244, 0.097905973, 0.558896394, 0.658795297},
     {0.381473569, 0.436376467, 0.580130485, 0.587921276, 0.611886987, 0.615776389, 0.878864116, 0.893651528,
      1.173151966, 1.206596963, 1.444306529, 1.535586855, 1.580593544, INFINITY},
     -0.016679156002, -0.072199117347, -0.015239548595, -0.088344554426},
    {"friction_sine_1", 1, 1, 2, 2, 12, {0.294546364, 0.482943675}, {0.729873856, 0.837168885},
     {0.115390077, 0.121343528, 0.483759445, 0.486958161, 0.752709311, 0.757136229, 0.784664999, 0.797355813,
      1.337922447, 1.369692162, 1.833511273, 1.858807942, 2.325663931, 2.352352338, 2.827681308, 2.854387304,
      3.327673961, 3.354292528, 3.827559741, 3.854198984, 4.327588172, 4.35422737, 4.827587779, 4.854225798},
     -0.015402816088, -0.105453037066, -0.018322526822, -0.122716420227},
};

static void
value_at(const Rows *rows, double time, double *z1, double *z2)
{
    *z1 = *z2 = NAN;
    for (uint32_t r = 0; r < rows->count; r++)
        if (fabs(rows_at(rows, r, 0) - time) < 1e-9) {
            *z1 = rows_at(rows, r, Z1);
            *z2 = rows_at(rows, r, Z2);
        }
}

static void
test_friction(Check *state, const FrictionCase *expected, mdl_form form)
{
    Run run = {0};
    double times[64], stick[64], z1, z2, z1_end, z2_end;
    char name[64];
    simulate(&run, 200, expected->speed, expected->frequency, 5, 0.01, 1e-9, form);
    uint32_t contacts = changes(&run.rows, CONTACT, times, 64);
    double contact_error = contacts == expected->contacts ? worst_difference(times, expected->contact, contacts) : NAN;
    uint32_t lows = changes(&run.rows, LOW, times, 64);
    double low_error = lows == expected->lows ? worst_difference(times, expected->low, lows) : NAN;
    uint32_t count = sticks(&run.rows, stick, 30);
    // The table of pulse 3 leaves out nothing: seven intervals; of sine 1 twelve.
    uint32_t wanted = 0;
    while (wanted < 12 && expected->stick[2 * wanted] > 0)
        wanted++;
    double stick_error = count == wanted ? worst_difference(stick, expected->stick, 2 * count) : NAN;
    value_at(&run.rows, 1, &z1, &z2);
    value_at(&run.rows, 5, &z1_end, &z2_end);
    double place_error = fmax(fmax(fabs(z1 - expected->z1_1), fabs(z2 - expected->z2_1)),
                              fmax(fabs(z1_end - expected->z1_5), fabs(z2_end - expected->z2_5)));
    bool good = run.status == MDL_OK && contact_error < 1e-7 && low_error < 1e-7 && stick_error < 1e-6 &&
                place_error < 1e-7 && sticking_is_exact(&run.rows);
    snprintf(name, sizeof name, "%s_%s", expected->name, form == MDL_FORM_CAUSAL ? "causal" : "dae");
    check(state, good, name,
          "status %d, contacts %u (error %.3g s), limiter %u (%.3g s), sticks %u of %u (%.3g s), displacement %.3g m, "
          "%llu steps, %llu events, %.3g us/step %s",
          run.status, contacts, contact_error, lows, low_error, count, wanted, stick_error, place_error,
          (unsigned long long)run.stats.steps, (unsigned long long)run.stats.events,
          1e6 * run.stats.run_seconds / (double)run.stats.steps, run.log.text);
    if (!good || state->verbose)
        for (uint32_t k = 0; k < count; k++)
            printf("#   stick [%.9f, %.9f] expected [%.9f, %.9f]\n", stick[2 * k], stick[2 * k + 1],
                   expected->stick[2 * k], expected->stick[2 * k + 1]);
    free(run.rows.value);
}

// At rest the law sticks: nothing moves, and a minute costs a few steps.
static void
test_rest(Check *state)
{
    Run run = {0};
    double v0[QC_COUNT];
    mdl_model model = quarter_car(v0, 200, 1e-30, 0);
    mdl_options options;
    mdl_sink sink = rows_sink(&run.rows);
    mdl_options_default(&model, &options);
    options.stop = 60;
    options.interval = 1;
    options.sink = &sink;
    options.message = log_message;
    options.user = &run.log;
    run.status = mdl_simulate(&model, &options, &run.stats);
    check(state, run.status == MDL_OK && run.stats.steps < 60 && sticking_is_exact(&run.rows) &&
          run.rows.count == 61 && rows_at(&run.rows, 60, MODE) == 0, "rest",
          "status %d, %llu steps, %u rows %s", run.status, (unsigned long long)run.stats.steps, run.rows.count,
          run.log.text);
    free(run.rows.value);
}

// Without friction the law must never stick nor chatter.
static void
test_no_friction(Check *state)
{
    Run run = {0};
    simulate(&run, 0, 1, 0, 5, 0.01, 1e-9, MDL_FORM_AUTO);
    double times[16];
    uint32_t modes = changes(&run.rows, MODE, times, 16);
    check(state, run.status == MDL_OK && run.stats.events < 10, "no_friction",
          "status %d, %llu events, %u mode changes %s", run.status, (unsigned long long)run.stats.events, modes,
          run.log.text);
    free(run.rows.value);
}

static const char *
differs_later(void *user, const double *v, double tolerance, double resolution)
{
    (void)user, (void)tolerance, (void)resolution;
    return v[0] > 3.5 ? "the sides of an equation differ" : NULL;
}

// A point that the model's equations do not hold at ends the run, with the rows of before.
static void
test_check(Check *state, mdl_check how, int wanted)
{
    Run run = {0};
    double v0[QC_COUNT];
    mdl_model model = quarter_car(v0, 200, 1e-30, 0);
    mdl_options options;
    mdl_sink sink = rows_sink(&run.rows);
    mdl_options_default(&model, &options);
    options.stop = 10;
    options.interval = 1;
    options.sink = &sink;
    options.message = log_message;
    options.user = &run.log;
    options.checker = differs_later;
    options.check = how;
    run.status = mdl_simulate(&model, &options, &run.stats);
    bool told = strstr(run.log.text, "the sides of an equation differ") != NULL;
    check(state, run.status == wanted && told == (wanted != MDL_OK) && (wanted == MDL_OK || run.rows.count <= 5), "check", "status %d, %u rows %s", run.status,
          run.rows.count, run.log.text);
    free(run.rows.value);
}

int
main(int argc, char **argv)
{
    Check state = {.verbose = argc > 1 && strcmp(argv[1], "-v") == 0};
    test_file(&state, "pulse_0.5", 0.5, 0, 5);
    test_file(&state, "pulse_1", 1, 0, 5);
    test_file(&state, "pulse_2", 2, 0, 5);
    test_file(&state, "pulse_3", 3, 0, 5);
    test_file(&state, "pulse_5", 5, 0, 5);
    test_file(&state, "sine_0.5", 0, 0.5, 5);
    test_file(&state, "sine_1", 0, 1, 5);
    test_file(&state, "sine_1.5", 0, 1.5, 5);
    test_file(&state, "sine_2", 0, 2, 2);
    test_file(&state, "sine_3", 0, 3, 2);
    test_file(&state, "sine_5", 0, 5, 5);
    for (size_t k = 0; k < sizeof friction_cases / sizeof *friction_cases; k++) {
        test_friction(&state, &friction_cases[k], MDL_FORM_DAE);
        test_friction(&state, &friction_cases[k], MDL_FORM_CAUSAL);
    }
    test_rest(&state);
    test_no_friction(&state);
    test_check(&state, MDL_CHECK_ROWS, MDL_FAILED);
    test_check(&state, MDL_CHECK_STEPS, MDL_FAILED);
    test_check(&state, MDL_CHECK_OFF, MDL_OK);
    return check_end(&state);
}
