// run_program.c: what a program does around a run.
//
// Purpose: signals, progress, results, final values and statistics are the same for `mdlc run` and built programs. Method: callbacks of a
// simulation (runtime/model/sim.h).
// Contract: run_program.h. Results of a table and statistics as JSON go to standard output, all else to standard error.
// Complexity: linear in the columns of the result.
#include "runtime/shell/run_program.h"
#include "runtime/model/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Of the second run of --estimate, beside the first; a tolerance near rounding would make noise.
static const double FINER = 0.01, SHORTER = 0.25, LEAST_TOLERANCE = 1e-13;

// A signal handler has no argument through which it could reach the run.
static volatile sig_atomic_t interrupted;

static void
on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

void
run_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler ? handler : on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

volatile sig_atomic_t *
run_interrupt(void)
{
    return &interrupted;
}

void
run_timer(double seconds)
{
    struct itimerval timer = {.it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - floor(seconds)))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

typedef struct Screen {
    const RunCommand *command;
    const mdl_stats *stats; // of the run, which counts while it goes
    double began;
    bool progress, shown; // a progress line is wanted, stands there
} Screen;

static void
wipe(Screen *screen)
{
    if (screen->shown)
        fputs("\r\033[K", stderr);
    screen->shown = false;
}

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    static const char *const names[] = {[MDL_NOTE] = "note", [MDL_WARNING] = "warning", [MDL_ERROR] = "error"};
    Screen *screen = user;
    wipe(screen);
    fprintf(stderr, "%s: %s: %s\n", screen->command->program, names[severity], text);
}

static void
on_progress(void *user, double time, double start, double stop)
{
    Screen *screen = user;
    if (!screen->progress)
        return;
    double done = (time - start) / (stop - start), elapsed = clock_seconds() - screen->began;
    fprintf(stderr, "\r%3.0f %%  time %.4g s  %.3g steps/s", floor(100 * done), time,
            elapsed > 0 ? (double)screen->stats->steps / elapsed : 0);
    // The pace so far says little before a tenth of a second, or a thousandth of the way.
    if (done > 1e-3 && elapsed > 0.1)
        fprintf(stderr, "  %.0f s left", ceil(elapsed * (1 - done) / done));
    fputs("\033[K", stderr);
    screen->shown = true;
}

static const char *
on_not_finite(void *user, const double *v)
{
    const RunCommand *command = ((Screen *)user)->command;
    return command->explain ? command->explain(command->user, v) : NULL;
}

static const char *
on_point(void *user, const double *v, double tolerance, double resolution)
{
    const RunCommand *command = ((Screen *)user)->command;
    return command->checker(command->user, v, tolerance, resolution);
}

// --- what is printed at the end

// The k-th column of the result.
static uint32_t
column(const RunCommand *command, uint32_t k)
{
    return command->column ? command->column[k] : k;
}

// Of a column that has one.
static const char *
unit_of(const mdl_model *model, const mdl_output *output)
{
    bool derivative = output->on_request == MDL_OUTPUT_DERIVATIVE; // its declaration is that of the variable
    const char *unit = !derivative && output->declaration < model->n_declarations ? model->declaration[output->declaration].unit : NULL;
    return unit && *unit && strcmp(unit, "1") ? unit : NULL;
}

static void
print_final_values(const mdl_model *model, const RunCommand *command, const double *values, double time)
{
    enum { SHOWN = 60 };
    uint32_t columns = command->column ? command->columns : model->n_outputs;
    uint32_t shown = columns < SHOWN ? columns : SHOWN;
    size_t width = 4;
    for (uint32_t i = 0; i < shown; i++) {
        size_t length = strlen(model->output[column(command, i)].name);
        width = length > width ? length : width;
    }
    printf("%-*s = %.9g s\n", (int)width, "time", time);
    for (uint32_t i = 0; i < shown; i++) {
        const mdl_output *output = &model->output[column(command, i)];
        double value = values[column(command, i)];
        const char *unit = unit_of(model, output);
        printf("%-*s = ", (int)width, output->name);
        if (output->type == MDL_BOOLEAN)
            puts(value != 0 ? "true" : "false");
        else
            printf("%.9g%s%s\n", value == 0 ? 0 : value, unit ? " " : "", unit ? unit : ""); // not -0
    }
    if (columns > shown)
        printf("... and %u more (choose with --vars, or write a file with -o)\n", columns - shown);
}

static void
print_stats(const mdl_model *model, const RunCommand *command, const mdl_stats *stats, const mdl_profile *profile)
{
    char text[2048];
    double compiled = 1e3 * command->compile_seconds;
    if (!command->settings->stats_json) {
        mdl_stats_text(stats, text, sizeof text);
        fprintf(stderr, "%s; %u equations; compiled in %.1f ms\n", text, model->equations, compiled);
        if (profile)
            mdl_profile_text(profile, stats, stderr);
        return;
    }
    mdl_stats_json(stats, text, sizeof text);
    char *brace = strrchr(text, '}');
    printf("%.*s,\"equations\":%u,\"compile_ms\":%.3f,\"init_ms\":%.3f,\"run_ms\":%.3f", brace ? (int)(brace - text) : 0,
           text, model->equations, compiled, 1e3 * stats->init_seconds, 1e3 * stats->run_seconds);
    if (profile) {
        fputs(",\"profile\":", stdout);
        mdl_profile_json(profile, stats, stdout);
    }
    puts("}");
}

static void
print_audit(const mdl_model *model, const RunSettings *settings, const mdl_options *options, double end)
{
    if (settings->audit_json)
        mdl_audit_json(model->audit, options->audit, options->start, end, stdout);
    else if (settings->audit && !settings->quiet)
        mdl_audit_text(model->audit, options->audit, options->start, end, stdout);
}

// A full disk behind standard output is exit code 5, not silence.
MDL_CHECKED static int
close_output(const RunCommand *command)
{
    int error = fflush(stdout) ? (errno ? errno : EIO) : ferror(stdout) ? EIO : 0;
    if (!error)
        return MDL_OK;
    if (error != EPIPE) // a reader that has seen enough, such as head, needs no message
        fprintf(stderr, "%s: cannot write standard output: %s\n", command->program, strerror(error));
    return MDL_IO;
}

// Warnings and notes were told by the first run.
static void
on_error(void *user, mdl_severity severity, const char *text)
{
    if (severity == MDL_ERROR)
        on_message(user, severity, text);
}

// The second run, and what it says of the first.
MDL_CHECKED static int
estimate_errors(const mdl_model *model, const RunCommand *command, const mdl_options *first, Estimate *estimate)
{
    mdl_options options = *first;
    mdl_stats stats = {0};
    mdl_node_audit *audit = first->audit ? calloc((size_t)model->audit->n_nodes + 1, sizeof *audit) : NULL;
    options.audit = audit;
    options.tolerance = fmax(FINER * first->tolerance, LEAST_TOLERANCE);
    options.abstol = FINER * first->abstol;
    options.step = SHORTER * first->step;
    options.output_path = NULL;
    options.sink = estimate_second(estimate);
    options.witness = NULL;
    options.profile = NULL;
    options.final_values = NULL;
    options.final_time = NULL;
    options.message = on_error;
    options.no_ranges = true;
    options.trace = false;
    int status = first->audit && !audit ? MDL_INTERNAL : mdl_simulate(model, &options, &stats);
    wipe(first->user);
    free(audit);
    if (status != MDL_OK)
        fprintf(stderr, "%s: error: the second run, with a tolerance of %.3g, has failed: there is no estimate of errors\n", command->program, options.tolerance);
    else if (command->settings->estimate_json)
        estimate_json(estimate, first->tolerance, options.tolerance, stdout);
    else
        estimate_text(estimate, options.tolerance, stdout);
    return status;
}

// What a run fills in.
typedef struct Filled {
    double *final_values, final_time;
    mdl_node_audit *audit; // these three: NULL: not wanted
    mdl_profile *profile;
    Estimate *estimate;
} Filled;

MDL_CHECKED static bool
filled_create(Filled *filled, const mdl_model *model, const RunCommand *command)
{
    const RunSettings *settings = command->settings;
    *filled = (Filled){.final_values = calloc((size_t)model->n_outputs + 1, sizeof *filled->final_values)};
    if (settings->audit)
        filled->audit = calloc((size_t)model->audit->n_nodes + 1, sizeof *filled->audit);
    if (settings->stats_long)
        filled->profile = mdl_profile_create(model);
    if (settings->estimate)
        filled->estimate = estimate_create(model, command->column, command->columns);
    return filled->final_values && (filled->audit || !settings->audit) && (filled->profile || !settings->stats_long)
           && (filled->estimate || !settings->estimate);
}

static void
filled_free(Filled *filled)
{
    free(filled->final_values);
    free(filled->audit);
    mdl_profile_free(&filled->profile);
    estimate_free(&filled->estimate);
}

static void
choose_options(const mdl_model *model, const RunCommand *command, Filled *filled, mdl_options *options)
{
    run_settings_apply(command->settings, model, options);
    options->audit = filled->audit;
    options->audit_place = command->audit_place;
    options->steady = command->steady;
    options->sense = command->sense;
    options->profile = filled->profile;
    options->compiling = command->compiling;
    options->translator = command->translator;
    options->threads = command->threads;
    options->final_values = filled->final_values;
    options->final_time = &filled->final_time;
    options->override = command->override;
    options->overrides = command->overrides;
    options->column = command->column;
    options->columns = command->columns;
    options->interrupt = &interrupted;
    options->message = on_message;
    options->progress = on_progress;
    options->explain = on_not_finite;
    options->checker = command->checker ? on_point : NULL;
    options->witness = filled->estimate ? estimate_first(filled->estimate) : NULL;
}

// The run, and what is told of it.
MDL_CHECKED static int
run_and_tell(const mdl_model *model, const RunCommand *command, Filled *filled)
{
    const RunSettings *settings = command->settings;
    mdl_options options;
    mdl_stats stats = {0};
    Screen screen = {command, &stats, clock_seconds(), !settings->quiet && isatty(STDERR_FILENO), false};
    choose_options(model, command, filled, &options);
    options.user = &screen;
    if (filled->estimate && options.tolerance < 10 * LEAST_TOLERANCE) {
        fprintf(stderr, "%s: --estimate: there is no tolerance much smaller than %.3g to compare with\n", command->program, options.tolerance);
        return MDL_USAGE;
    }
    // From here on the integrator looks at the flag and at the time.
    run_timer(0);
    run_signals(NULL);
    int status = mdl_simulate(model, &options, &stats);
    wipe(&screen);
    bool computed = status == MDL_OK || (stats.rows && status != MDL_USAGE);
    if (!settings->output && !settings->quiet && !settings->stats_json && !settings->audit_json && computed)
        print_final_values(model, command, filled->final_values, filled->final_time);
    print_audit(model, settings, &options, stats.end_time);
    if (settings->stats)
        print_stats(model, command, &stats, filled->profile);
    if (filled->estimate && status == MDL_OK)
        status = estimate_errors(model, command, &options, filled->estimate);
    if (command->stats)
        *command->stats = stats;
    int printed = close_output(command);
    return status ? status : printed;
}

MDL_CHECKED static int
simulate(const mdl_model *model, const RunCommand *command)
{
    Filled filled;
    RunCommand with_threads = *command;
    Threads *own = NULL;
    if (!command->threads && command->settings->threads > 1 && model->n >= THREADS_LEAST) // a program that was built has them when it is asked to
        with_threads.threads = own = threads_create(command->settings->threads);
    int status = MDL_INTERNAL;
    if (filled_create(&filled, model, &with_threads))
        status = run_and_tell(model, &with_threads, &filled);
    else
        fprintf(stderr, "%s: error: memory is exhausted\n", command->program);
    filled_free(&filled);
    threads_free(&own);
    return status;
}

int
run_command(const mdl_model *model, const RunCommand *command)
{
    AuditColumns wide;
    if (command->settings->audit && !model->audit) {
        fprintf(stderr, "%s: --audit: this program was built without the tables of the audit (mdlc build --audit)\n", command->program);
        return MDL_USAGE;
    }
    if (!command->settings->audit_columns)
        return simulate(model, command);
    int status = MDL_INTERNAL;
    if (audit_columns_create(&wide, model, command->column, command->columns)) {
        RunCommand extended = *command;
        extended.column = wide.column;
        extended.columns = wide.columns;
        extended.audit_place = wide.place;
        status = simulate(&wide.model, &extended);
    } else {
        fprintf(stderr, "%s: error: memory is exhausted\n", command->program);
    }
    audit_columns_free(&wide);
    return status;
}
