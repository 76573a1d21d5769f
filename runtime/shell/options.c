// options.c: command-line options as tables, and the options of a run.
//
// Purpose: `mdlc run` and built programs take the same options.
// Method: the tables become those of getopt_long, whose numbers lead back to them. Contract: options.h.
// Complexity: linear in the arguments times the options.
#include "runtime/shell/options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/nearest.h"
#include "runtime/model/number.h"

enum { TABLE_STRIDE = 256, MOST_OPTIONS = 128, HELP_COLUMN = 25, HELP_WIDTH = 118 };

const Option run_options[] = {
    {"output", 'o', OPTION_TEXT, false, "FILE",
     "write results there (.csv, .mat; -: as CSV to standard output); without it the final values are printed",
     CALLS_RUNNING | CALL_BUILD | CALLS_ANALYSING | CALL_DOC},
    {"start", 0, OPTION_NUMBER, false, "T", "when to begin; default: the model's experiment annotation, otherwise 0", CALLS_RUNNING | CALLS_ANALYSING},
    {"stop", 0, OPTION_NUMBER, false, "T", "when to end; default: the model's experiment annotation, otherwise 1", CALLS_RUNNING | CALL_SENSE},
    {"interval", 0, OPTION_POSITIVE, false, "H", "time between output points", CALLS_RUNNING | CALL_SENSE},
    {"points", 0, OPTION_COUNT, false, "N", "number of intervals between output points; default 500", CALLS_RUNNING | CALL_SENSE},
    {"steps", 0, OPTION_FLAG, false, NULL, "also a row at every step of the integrator", CALLS_RUNNING},
    {"tol", 0, OPTION_NUMBER, false, "R", "relative tolerance; default 1e-6", CALLS_RUNNING | CALLS_ANALYSING},
    {"abstol", 0, OPTION_NUMBER, false, "A", "absolute tolerance, for values of nominal size 1", CALLS_RUNNING | CALLS_ANALYSING},
    {"set", 0, OPTION_TEXT, false, "NAME=VALUE", "set a parameter or a start value by its full path (repeatable)", CALLS_WITH_MODEL},
    {"vars", 0, OPTION_TEXT, false, "REGEX", "only variables whose names match (parameters and der(...) can be chosen, too)",
     CALL_RUN | CALL_REPORT | CALL_BUILD | CALL_COMPARE},
    {"form", 0, OPTION_WORD, false, "causal|dae|auto", "who solves algebraic loops: the model (causal) or the integrator (dae)", CALLS_RUNNING | CALL_LINEARIZE | CALL_FREQ},
    {"solver", 0, OPTION_WORD, false, "ida|cvode|adams|erk|rk4|gauss|auto", "the integrator; auto: gauss for motions that keep their energy, otherwise ida", CALLS_RUNNING | CALL_LINEARIZE | CALL_FREQ},
    {"step", 0, OPTION_POSITIVE, false, "H", "length of the fixed steps of rk4 or gauss", CALLS_RUNNING | CALL_LINEARIZE | CALL_FREQ},
    {"trace", 0, OPTION_WORD, false, "init", "say how the start is solved: every block, every step of a homotopy", CALL_RUN | CALLS_ANALYSING},
    {"assemble", 0, OPTION_FLAG, false, NULL, "close loops of a mechanism at the start by moving start values as little as possible",
     CALL_RUN | CALLS_ANALYSING},
    {"stats", 0, OPTION_WORD, true, "json|long|long-json", "what the run cost, on standard error (json: on standard output); long: why it is slow", CALL_RUN},
    {"audit", 0, OPTION_WORD, true, "json|columns", "power and energy of each component, as a table, JSON or columns of the result", CALL_RUN | CALL_BUILD},
    {"check", 0, OPTION_WORD, false, "auto|off|rows|steps", "where values are held against the equations as they are written; auto: at as many rows as take 5 % of the time",
     CALL_RUN},
    {"ranges", 0, OPTION_WORD, false, "on|off", "whether a variable beyond its min or max is told, once", CALLS_RUNNING},
    {"quiet", 0, OPTION_FLAG, false, NULL, "print no values and no progress", CALL_RUN | CALL_REPORT},
};
const uint32_t run_options_count = sizeof run_options / sizeof *run_options;
enum { RUN_OUTPUT, RUN_START, RUN_STOP, RUN_INTERVAL, RUN_POINTS, RUN_STEPS, RUN_TOL, RUN_ABSTOL, RUN_SET, RUN_VARS, RUN_FORM, RUN_SOLVER,
       RUN_STEP, RUN_TRACE, RUN_ASSEMBLE, RUN_STATS, RUN_AUDIT, RUN_CHECK, RUN_RANGES, RUN_QUIET };

// --- tables

int
option_word(const char *text, const char *list)
{
    size_t length = strlen(text);
    for (int at = 0; *list; at++) {
        size_t word = strcspn(list, "|");
        if (word == length && !strncmp(list, text, word))
            return at;
        list += word + (list[word] == '|');
    }
    return -1;
}

// Appends to `why` the one of n names that was probably meant.
static void
suggest(const char *given, const char *dashes, const char *const *names, uint32_t n, char why[OPTION_WHY])
{
    const char *near = nearest_name(given, names, n);
    size_t used = strlen(why);
    if (near)
        snprintf(why + used, OPTION_WHY - used, "; did you mean %s%s?", dashes, near);
}

static void
say_words(const Option *option, const char *given, char why[OPTION_WHY])
{
    enum { WORDS = 32 };
    char list[512];
    const char *word[WORDS];
    uint32_t n = 0;
    snprintf(list, sizeof list, "%s", option->value);
    snprintf(why, OPTION_WHY, "--%s is one of:", option->name);
    for (char *rest = list, *one; (one = strtok_r(rest, "|", &rest)) && n < WORDS;) {
        size_t used = strlen(why);
        snprintf(why + used, OPTION_WHY - used, " %s", one);
        word[n++] = one;
    }
    size_t used = strlen(why);
    snprintf(why + used, OPTION_WHY - used, "; got '%s'", given);
    suggest(given, "", word, n, why);
}

// What follows a number is most often its unit.
static void
say_number(const Option *option, const char *kind, const char *given, char why[OPTION_WHY])
{
    char *end;
    strtod(given, &end);
    bool unit = end != given && isalpha((unsigned char)end[strspn(end, " ")]);
    snprintf(why, OPTION_WHY, "--%s needs a %snumber, got '%s'%s", option->name, kind, given, unit ? ": units are not written" : "");
}

static bool
check_value(const Option *option, const char *value, char why[OPTION_WHY])
{
    double given;
    switch (option->kind) {
    case OPTION_WORD:
        if (!value || option_word(value, option->value) >= 0)
            return true;
        say_words(option, value, why);
        return false;
    case OPTION_NUMBER:
        if (number_of_text(value, &given))
            return true;
        say_number(option, "", value, why);
        return false;
    case OPTION_POSITIVE:
        if (number_of_text(value, &given) && given > 0)
            return true;
        say_number(option, "positive ", value, why);
        return false;
    case OPTION_COUNT:
        if (number_of_text(value, &given) && given >= 1 && given <= 1e9 && given == floor(given))
            return true;
        snprintf(why, OPTION_WHY, "--%s needs a whole number from 1 to 1e9, got '%s'", option->name, value);
        return false;
    default:
        return true;
    }
}

typedef struct Getopt {
    struct option longs[MOST_OPTIONS + 1];
    char letters[2 * MOST_OPTIONS + 2];
} Getopt;

// Two calls may mean different things by one word (`run --check=rows`, `fmt --check`): the row that the call has counts.
static bool
is_hidden(const OptionTable *tables, uint32_t count, uint32_t call, const Option *option)
{
    for (uint32_t t = 0; t < count && !(option->calls & call); t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if ((tables[t].options[i].calls & call) && !strcmp(tables[t].options[i].name, option->name))
                return true;
    return false;
}

static void
make_getopt(const OptionTable *tables, uint32_t count, uint32_t call, Getopt *g)
{
    uint32_t n = 0, letters = 0;
    g->letters[letters++] = ':';
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count && n < MOST_OPTIONS; i++) {
            const Option *option = &tables[t].options[i];
            if (is_hidden(tables, count, call, option))
                continue;
            int argument = option->kind == OPTION_FLAG ? no_argument : option->optional ? optional_argument : required_argument;
            g->longs[n++] = (struct option){option->name, argument, NULL, (int)((t + 1) * TABLE_STRIDE + i)};
            if (option->letter) {
                g->letters[letters++] = option->letter;
                if (argument == required_argument)
                    g->letters[letters++] = ':';
            }
        }
    g->longs[n] = (struct option){0};
    g->letters[letters] = '\0';
}

// The number of an option given by its letter.
static int
by_letter(const OptionTable *tables, uint32_t count, int letter)
{
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if (tables[t].options[i].letter == letter)
                return (int)((t + 1) * TABLE_STRIDE + i);
    return 0;
}

// `-stop` is --stop with one sign too few, not -s -t -o -p; with its value it stands in one place or two.
static bool
is_short_of_sign(const OptionTable *tables, uint32_t count, const char *word)
{
    if (word[0] != '-' || word[1] == '-' || !word[1] || !word[2])
        return false;
    size_t length = strcspn(word + 1, "=");
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count; i++)
            if (strlen(tables[t].options[i].name) == length && !strncmp(tables[t].options[i].name, word + 1, length))
                return true;
    return false;
}

// Names of long options of a call; those that begin with `start` when it is given.
static uint32_t
list_options(const OptionTable *tables, uint32_t count, uint32_t call, const char *start, const char *name[MOST_OPTIONS])
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < count; t++)
        for (uint32_t i = 0; i < tables[t].count && n < MOST_OPTIONS; i++) {
            const Option *option = &tables[t].options[i];
            if ((option->calls & call) && (!start || !strncmp(option->name, start, strlen(start))))
                name[n++] = option->name;
        }
    return n;
}

// A long option that does not exist, or of which only the beginning was given when several begin so.
static void
say_unknown_word(const OptionTable *tables, uint32_t count, uint32_t call, const char *word, char why[OPTION_WHY])
{
    const char *name[MOST_OPTIONS];
    char given[64];
    snprintf(given, sizeof given, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    snprintf(why, OPTION_WHY, "no option '--%s'", given);
    uint32_t n = *given ? list_options(tables, count, call, given, name) : 0;
    if (!n) {
        suggest(given, "--", name, list_options(tables, count, call, NULL, name), why);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t used = strlen(why);
        snprintf(why + used, OPTION_WHY - used, "%s --%s", i == 0 ? "; there are" : i + 1 < n ? "," : " and", name[i]);
    }
}

// found: what getopt_long() has left in optopt.
static void
say_unknown(const OptionTable *tables, uint32_t count, uint32_t call, const char *word, int found, char why[OPTION_WHY])
{
    if (found >= TABLE_STRIDE)
        snprintf(why, OPTION_WHY, "--%s takes no value", tables[found / TABLE_STRIDE - 1].options[found % TABLE_STRIDE].name);
    else if (found)
        snprintf(why, OPTION_WHY, "no option '-%c'", found);
    else
        say_unknown_word(tables, count, call, word, why);
}

bool
options_scan(const OptionTable *tables, uint32_t count, uint32_t call, int argc, char **argv, int first, int *rest,
             char why[OPTION_WHY])
{
    Getopt g;
    make_getopt(tables, count, call, &g);
    opterr = 0;
    optind = first;
    for (int i = first; i < argc && strcmp(argv[i], "--"); i++)
        if (is_short_of_sign(tables, count, argv[i])) {
            snprintf(why, OPTION_WHY, "options that are words have two signs: -%s", argv[i]);
            return false;
        }
    for (int found; (found = getopt_long(argc, argv, g.letters, g.longs, NULL)) != -1;) {
        if (found == '?') {
            say_unknown(tables, count, call, argv[optind - 1], optopt, why);
            return false;
        }
        if (found == ':') {
            snprintf(why, OPTION_WHY, "option '%s' needs a value", argv[optind - 1]);
            return false;
        }
        if (found < TABLE_STRIDE)
            found = by_letter(tables, count, found);
        const OptionTable *table = &tables[found / TABLE_STRIDE - 1];
        const Option *option = &table->options[found % TABLE_STRIDE];
        if (!(option->calls & call)) {
            snprintf(why, OPTION_WHY, "this call has no option '--%s'", option->name);
            return false;
        }
        if (!check_value(option, optarg, why) || !table->take(table->user, (uint32_t)(found % TABLE_STRIDE), optarg, why))
            return false;
    }
    *rest = optind;
    return true;
}

void
option_help(const Option *option, char *text, size_t size)
{
    char head[256];
    const char *value = option->kind == OPTION_FLAG ? NULL : option->value;
    snprintf(head, sizeof head, option->letter ? "-%c, --%s%s%s%s" : "%.0d--%s%s%s%s", option->letter, option->name,
             !value ? "" : option->optional ? "[=" : " ", value ? value : "", value && option->optional ? "]" : "");
    size_t used = (size_t)snprintf(text, size, "  %-*s", HELP_COLUMN - 3, head);
    if (strlen(head) > HELP_COLUMN - 3 && used < size)
        used += (size_t)snprintf(text + used, size - used, "\n%*s", HELP_COLUMN - 1, "");
    if (used < size)
        snprintf(text + used, size - used, " %s\n", option->help);
}

// --- a run

void
run_settings_init(RunSettings *settings)
{
    *settings = (RunSettings){.start = NAN, .stop = NAN, .interval = NAN, .tolerance = NAN, .abstol = NAN, .step = NAN,
                              .solver = MDL_SOLVER_AUTO};
}

void
run_settings_free(RunSettings *settings)
{
    for (uint32_t i = 0; i < settings->n_set; i++)
        free((void *)(uintptr_t)settings->set[i].name);
    free(settings->set);
    settings->set = NULL;
    settings->n_set = 0;
}

static bool
take_set(RunSettings *settings, const char *text, char why[OPTION_WHY])
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        snprintf(why, OPTION_WHY, "--set needs NAME=VALUE, got '%s'", text);
        return false;
    }
    size_t length = (size_t)(equals - text);
    uint32_t at = 0; // a later value replaces an earlier one
    while (at < settings->n_set && (strncmp(settings->set[at].name, text, length) || settings->set[at].name[length]))
        at++;
    if (at == settings->set_capacity) {
        uint32_t capacity = 2 * settings->set_capacity + 8;
        RunSetting *more = realloc(settings->set, capacity * sizeof *more);
        if (more) {
            settings->set = more;
            settings->set_capacity = capacity;
        }
    }
    char *name = at < settings->n_set ? NULL : strndup(text, length);
    if (at == settings->set_capacity || (at == settings->n_set && !name)) {
        snprintf(why, OPTION_WHY, "memory is exhausted");
        return false;
    }
    if (at == settings->n_set)
        settings->set[settings->n_set++].name = name;
    settings->set[at].value = equals + 1;
    return true;
}

// The name of a model after -o is a slip that would cost the model.
static bool
is_no_model(const char *path, char why[OPTION_WHY])
{
    const char *dot = strrchr(path, '.');
    if (!dot || (strcmp(dot, ".mdl") && strcmp(dot, ".mo")))
        return true;
    snprintf(why, OPTION_WHY, "-o says what to write, and '%s' is the name of a model: it is left as it is", path);
    return false;
}

static bool
one_grid(const RunSettings *settings, char why[OPTION_WHY])
{
    if (isnan(settings->interval) || !settings->points)
        return true;
    snprintf(why, OPTION_WHY, "--interval and --points both say where results are: give one of them");
    return false;
}

bool
run_settings_take(void *user, uint32_t index, const char *value, char why[OPTION_WHY])
{
    RunSettings *s = user;
    double given = 0;
    if (value)
        number_of_text(value, &given);
    switch (index) {
    case RUN_OUTPUT: s->output = value; return is_no_model(value, why);
    case RUN_START: s->start = given; return true;
    case RUN_STOP: s->stop = given; return true;
    case RUN_INTERVAL: s->interval = given; return one_grid(s, why);
    case RUN_POINTS: s->points = (uint32_t)given; return one_grid(s, why);
    case RUN_STEPS: s->steps = true; return true;
    case RUN_TOL: s->tolerance = given; return true;
    case RUN_ABSTOL: s->abstol = given; return true;
    case RUN_SET: return take_set(s, value, why);
    case RUN_VARS: s->variables = value; return true;
    case RUN_FORM: s->form = (mdl_form[]){MDL_FORM_CAUSAL, MDL_FORM_DAE, MDL_FORM_AUTO}[option_word(value, run_options[RUN_FORM].value)]; return true;
    case RUN_SOLVER: s->solver = (mdl_solver)option_word(value, run_options[RUN_SOLVER].value); return true; // same order
    case RUN_STEP: s->step = given; return true;
    case RUN_TRACE: s->trace = true; return true;
    case RUN_ASSEMBLE: s->assemble = true; return true;
    case RUN_STATS:
        s->stats = true;
        s->stats_json = value && strstr(value, "json");
        s->stats_long = value && strncmp(value, "long", 4) == 0;
        return true;
    case RUN_AUDIT:
        s->audit = true;
        s->audit_json = s->audit_json || (value && !strcmp(value, "json"));
        s->audit_columns = s->audit_columns || (value && !strcmp(value, "columns"));
        return true;
    case RUN_CHECK: s->check = (mdl_check)option_word(value, run_options[RUN_CHECK].value); return true; // same order
    case RUN_RANGES: s->no_ranges = option_word(value, run_options[RUN_RANGES].value) == 1; return true;
    default: s->quiet = true; return true;
    }
}

static void
replace(double given, double *value)
{
    if (!isnan(given))
        *value = given;
}

bool
run_wants_parameters(const RunSettings *s)
{
    size_t length = s->output ? strlen(s->output) : 0;
    return length > 4 && !strcmp(s->output + length - 4, ".mat");
}

void
run_settings_apply(const RunSettings *s, const mdl_model *model, mdl_options *options)
{
    mdl_options_default(model, options);
    replace(s->start, &options->start);
    replace(s->stop, &options->stop);
    bool moved = !isnan(s->start) || !isnan(s->stop);
    // An interval that comes from nowhere but the default number of points follows the new span.
    if (moved && model->interval == (model->stop - model->start) / 500)
        options->interval = (options->stop - options->start) / 500;
    replace(s->interval, &options->interval);
    if (s->points) {
        options->interval = 0;
        options->points = s->points;
    }
    replace(s->tolerance, &options->tolerance);
    replace(s->abstol, &options->abstol);
    replace(s->step, &options->step);
    options->form = s->form;
    options->solver = s->solver;
    options->check = s->check;
    options->time_limit = s->limit_time;
    options->output_path = s->output;
    options->trace = s->trace;
    options->steps = s->steps;
    options->assemble = s->assemble;
    options->no_ranges = s->no_ranges;
}
