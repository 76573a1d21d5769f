// command_line.c: options, the command line of docs/cli.md. They are a table (options.def), as are the calls (calls.def); those of a run are the runtime's.
//
// Purpose: one table says what each option means to which calls; what does not belong to a call is refused with the name that was probably
// meant. Method: a table; runtime/shell/options.c scans the words.
// Contract: command_line.h. Complexity: linear in the words times the options.
#include "frontend/session/command_line.h"
#include "frontend/optimum/optimum.h"
#include "frontend/session/products.h"
#include "ir/base/diag.h"
#include "runtime/model/nearest.h"
#include "runtime/model/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Option own_options[] = {
#define OPTION(id, action, ...) {__VA_ARGS__},
#include "frontend/session/options.def"
};
enum {
#define OPTION(id, action, ...) OWN_##id,
#include "frontend/session/options.def"
};
enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

const Option *
options_own(uint32_t *n)
{
    *n = OWN_COUNT;
    return own_options;
}

static bool
is_word(const char *text, const char *list)
{
    size_t length = strlen(text);
    for (const char *p = list; *p;) {
        size_t word = strcspn(p, " ");
        if (word == length && !strncmp(p, text, word))
            return true;
        p += word + (p[word] == ' ');
    }
    return false;
}

static bool
set_limit(Options *options, const char *text, char why[OPTION_WHY])
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    double value = 0;
    bool good = equals && number_of_text(equals + 1, &value) && value > 0;
    if (good && length == 7 && !strncmp(text, "nesting", length))
        options->limit_nesting = (uint32_t)value;
    else if (good && length == 6 && !strncmp(text, "memory", length))
        options->limit_memory = (uint64_t)(value * 1048576.0);
    else if (good && length == 4 && !strncmp(text, "time", length))
        options->run.limit_time = value;
    else if (good && length == 5 && !strncmp(text, "array", length))
        options->limit_scalars = (uint64_t)value;
    else {
        snprintf(why, OPTION_WHY, "--limit needs nesting, memory, time or array and a positive number, got '%s'", text);
        return false;
    }
    return true;
}

static bool
lacks_option(const Options *o, Out *why)
{
    if (o->command == COMMAND_BUILD && !o->run.output)
        out_text(why, "build needs -o FILE: where to write the program");
    if (o->command == COMMAND_REPORT && !o->run.output)
        out_text(why, "report needs -o FILE.html: where to write the page");
    if (o->command == COMMAND_ANIMATE && !o->run.output)
        out_text(why, "animate needs -o FILE.html, or FILE.svg: where to write it");
    if (o->command == COMMAND_SENSE && !o->analysis.parameters)
        out_text(why, "sense needs --param NAME,...: by which parameters?");
    return why->length > 0;
}

static bool
take_warning(Options *o, const char *value, char why[OPTION_WHY])
{
    if (!diag_switch_known(value)) {
        snprintf(why, OPTION_WHY, "there is no warning '%s'; mdlc help warnings lists them", value);
        return false;
    }
    o->warnings[o->n_warnings++] = value;
    return true;
}

static bool
take_width(const char *value, double *width, char why[OPTION_WHY])
{
    if (number_of_text(value, width) && *width >= 0)
        return true;
    snprintf(why, OPTION_WHY, "a tube cannot be '%s' wide", value);
    return false;
}

// NAME=RELATIVE[,ABSOLUTE]; the text is cut in place.
static bool
take_tube(Options *o, const char *value, char why[OPTION_WHY])
{
    char *equals = strrchr((char *)(uintptr_t)value, '='), *comma = equals ? strchr(equals, ',') : NULL;
    Tube tube = {.name = value};
    if (!equals || equals == value) {
        snprintf(why, OPTION_WHY, "--tube needs NAME=R[,A], got '%s'", value);
        return false;
    }
    *equals = '\0';
    if (comma)
        *comma = '\0';
    if (!take_width(equals + 1, &tube.relative, why) || (comma && !take_width(comma + 1, &tube.absolute, why)))
        return false;
    o->tubes[o->compare.n_tubes++] = tube;
    return true;
}

// NAME=VALUE or NAME=free; the text is cut in place.
static bool
take_end(Options *o, const char *value, char why[OPTION_WHY])
{
    char *equals = strrchr((char *)(uintptr_t)value, '=');
    PathEndValue end = {.name = value, .value = NAN};
    bool free_end = equals && !strcmp(equals + 1, "free");
    if (!equals || equals == value || (!free_end && (!number_of_text(equals + 1, &end.value) || !isfinite(end.value)))) {
        snprintf(why, OPTION_WHY, "--end needs NAME=VALUE with a number, or NAME=free, got '%s'", value);
        return false;
    }
    *equals = '\0';
    o->path.ends[o->path.n_ends++] = end;
    return true;
}

// NAME=VALUE,...; the text is cut in place.
static bool
take_guess(Options *o, const char *value, char why[OPTION_WHY])
{
    char *equals = strrchr((char *)(uintptr_t)value, '=');
    PathGuess guess = {.name = value, .values = equals ? equals + 1 : NULL};
    bool good = equals && equals != value;
    snprintf(why, OPTION_WHY, "--guess needs NAME=VALUE or NAME=VALUE,VALUE,... with numbers, got '%s'", value);
    for (char *at = guess.values, *comma; good && at; at = comma) {
        double number;
        comma = strchr(at, ',');
        if (comma)
            *comma++ = '\0';
        good = number_of_text(at, &number) && isfinite(number);
        guess.n++;
    }
    if (!good)
        return false;
    *equals = '\0';
    o->path.guesses[o->path.n_guesses++] = guess;
    return true;
}

// COMPONENT=FILE; the text is cut in place.
static bool
take_mesh(Options *o, const char *value, char why[OPTION_WHY])
{
    char *equals = strchr((char *)(uintptr_t)value, '=');
    if (!equals || equals == value || !equals[1]) {
        snprintf(why, OPTION_WHY, "--stl needs COMPONENT=FILE, got '%s'", value);
        return false;
    }
    *equals = '\0';
    o->meshes[o->n_meshes++] = (MotionMesh){value, equals + 1};
    return true;
}

static bool
take_picture(const char *value, const char **picture, char why[OPTION_WHY])
{
    const char *dot = strrchr(value, '.');
    *picture = value;
    if (dot && (!strcmp(dot, ".svg") || !strcmp(dot, ".png") || !strcmp(dot, ".pdf") || !strcmp(dot, ".html")))
        return true;
    snprintf(why, OPTION_WHY, "--plot %s: pictures are .svg, .png or .pdf, pages .html", value);
    return false;
}

// N or P%
static bool
take_failures(Options *o, const char *value, char why[OPTION_WHY])
{
    size_t length = strlen(value);
    bool percent = length && value[length - 1] == '%';
    char number[32];
    snprintf(number, sizeof number, "%.*s", (int)(percent ? length - 1 : length), value);
    o->sweep.percent = percent;
    if (length < sizeof number && number_of_text(number, &o->sweep.failures) && o->sweep.failures >= 0)
        return true;
    snprintf(why, OPTION_WHY, "--max-failures is a number of runs, or a part of them as 5%%, not '%s'", value);
    return false;
}

static bool
take_size(const char *value, PlotOptions *plot, char why[OPTION_WHY])
{
    char rest;
    if (sscanf(value, "%ux%u%c", &plot->width, &plot->height, &rest) == 2 && plot->width >= 20 && plot->height >= 10
        && plot->width <= 20000 && plot->height <= 20000)
        return true;
    snprintf(why, OPTION_WHY, "--size needs WIDTHxHEIGHT, for instance 900x500, got '%s'", value);
    return false;
}

static bool
take_own(void *user, uint32_t index, const char *value, char why[OPTION_WHY])
{
    Options *o = user;
    switch (index) {
#define OPTION(id, action, ...) case OWN_##id: return action;
#include "frontend/session/options.def"
    default: return false;
    }
}

static bool
takes_files(const Options *o)
{
    switch (o->command) {
    case COMMAND_HELP:
    case COMMAND_VERSION:
    case COMMAND_NEW:
    case COMMAND_EXAMPLES:
    case COMMAND_EXPLAIN:
    case COMMAND_MAN:
    case COMMAND_COMPLETIONS:
        return false;
    default:
        return true;
    }
}

static bool
check_files(Options *o, Out *why)
{
    bool several = o->command == COMMAND_FMT || o->command == COMMAND_COMPARE || o->command == COMMAND_PLOT
                   || o->command == COMMAND_ANIMATE || o->command == COMMAND_FIT;
    // Everyday words may be several: shock absorber.
    if (o->command == COMMAND_DOC && o->n_files && access(o->files[0], F_OK) != 0)
        several = true;
    if (!takes_files(o)) {
        if (o->n_files)
            out_printf(why, "what is '%s' for?", o->files[0]);
        return why->length == 0;
    }
    if (o->command == COMMAND_SHOW && !strcmp(o->what, "passes"))
        return true;
    if (!o->n_files && o->class_name && o->command != COMMAND_DOC && !several)
        o->files[o->n_files++] = o->class_name;
    if (!o->n_files && o->command != COMMAND_DOC)
        out_text(why, "no file given");
    else if (o->command == COMMAND_COMPARE && o->n_files != 2)
        out_text(why, "compare needs two results");
    else if (o->command == COMMAND_FIT && o->n_files < 2)
        out_text(why, "which data? mdlc fit MODEL DATA.csv... --free NAME,...");
    else if (o->command == COMMAND_OPTIMISE && !o->search.n_objectives)
        out_text(why, "what is to be best? mdlc optimise MODEL --minimise FORMULA --free NAME=LOW..HIGH,...");
    else if (o->command == COMMAND_OPTIMISE && o->search.n_objectives > OBJECTIVES_MOST)
        out_text(why, "one objective has a best value and two have a front: of more than two, some become constraints (--subject-to)");
    else if (o->command == COMMAND_OPTIMISE && o->search.front && o->search.n_objectives < OBJECTIVES_MOST)
        out_text(why, "a front is that of two objectives: --minimise A --minimise B --front N");
    else if (o->command == COMMAND_PLOT && o->n_files < 2)
        out_text(why, "which variables? mdlc plot RESULT VARIABLE...");
    else if (o->n_files > 1 && !several)
        out_printf(why, "one file at a time, got also '%s'", o->files[1]);
    return why->length == 0;
}

static void
say_no_view(const char *given, Out *why)
{
    enum { VIEWS = 32 };
    char list[] = CALL_VIEWS;
    const char *name[VIEWS];
    uint32_t n = 0;
    for (char *rest = list, *one; (one = strtok_r(rest, " ", &rest)) && n < VIEWS;)
        name[n++] = one;
    const char *near = nearest_name(given, name, n);
    out_printf(why, "show is one of: %s; got '%s'", CALL_VIEWS, given);
    if (near)
        out_printf(why, "; did you mean %s?", near);
}

// The words behind a call that are no options: WHAT or CALL, and files.
static bool
take_words(Options *o, int argc, char **argv, int first, Out *why)
{
    for (int i = first; i < argc; i++)
        o->files[o->n_files++] = argv[i];
    if ((o->command != COMMAND_SHOW && takes_files(o)) || o->command == COMMAND_MAN)
        return true;
    if (o->n_files) {
        o->what = o->files[0];
        o->files++;
        o->n_files--;
    }
    if (o->command == COMMAND_SHOW && !o->what)
        out_text(why, "show needs WHAT and a file");
    else if (o->command == COMMAND_NEW && !o->what)
        out_text(why, "new needs the name of the model");
    else if (o->command == COMMAND_COMPLETIONS && !o->what)
        out_text(why, "completions needs a shell: bash, zsh or fish");
    else if (o->command == COMMAND_SHOW && !is_word(o->what, CALL_VIEWS))
        say_no_view(o->what, why);
    return why->length == 0;
}

// `show` looks for itself: its formats depend on what is shown.
static bool
has_format(const Options *o, const Call *call, Out *why)
{
    if (!o->format || !call->formats || o->command == COMMAND_SHOW || option_word(o->format, call->formats) >= 0)
        return true;
    out_printf(why, "%s has no --format=%s: it has ", call->name, o->format);
    for (const char *c = call->formats; *c; c++)
        out_text(why, *c != '|' ? (char[]){*c, '\0'} : strchr(c + 1, '|') ? ", " : " and ");
    return false;
}

// What other tools call it, a model without a call, a slip.
static void
say_no_call(const char *word, Out *why)
{
    static const char *const usual[][2] = {{"simulate", "run"}, {"sim", "run"}, {"exec", "run"}, {"compile", "build"}, {"draw", "plot"}, {"play", "animate"}, {"animation", "animate"},
                                           {"format", "fmt"}, {"diff", "compare"}, {"init", "new"}, {"create", "new"}, {"lint", "check"},
                                           {"translate", "show"}, {"bode", "freq"}, {"linearise", "linearize"}, {"calibrate", "fit"}, {"identify", "fit"}, {"estimate", "fit"},
                                           {"optimize", "optimise"}, {"minimize", "optimise"}, {"minimise", "optimise"}, {"pareto", "optimise"}, {"tune", "optimise"}};
    enum { MOST = 64 };
    uint32_t n;
    const Call *calls = options_calls(&n);
    const char *names[MOST], *meant = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !meant; i++)
        meant = strcmp(usual[i][0], word) ? NULL : usual[i][1];
    for (uint32_t i = 0; i < n && i < MOST; i++)
        names[i] = calls[i].name;
    if (!meant)
        meant = nearest_name(word, names, n);
    const char *dot = strrchr(word, '.');
    out_printf(why, "no call '%s'", word);
    if (dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo")))
        out_printf(why, "; perhaps mdlc run %s", word);
    else if (meant)
        out_printf(why, "; did you mean mdlc %s?", meant);
}

bool
options_parse(Options *o, int argc, char **argv, Arena *arena, Out *why)
{
    *o = (Options){.opt = -1, .compare = {.relative = 1e-6, .absolute = 1e-12, .shift = 1e-9}, .analysis = {.at = NAN, .from = NAN, .to = NAN, .per_decade = 40}, .words = argv, .sweep = {.failures = NAN}};
    run_settings_init(&o->run);
    o->files = arena_array(arena, const char *, argc + 1);
    o->search.free = arena_array(arena, const char *, argc + 1);
    o->search.objective = arena_array(arena, SearchObjective, argc + 1);
    o->search.constraint = arena_array(arena, const char *, argc + 1);
    o->paths = arena_array(arena, const char *, argc + 1);
    o->allowed = arena_array(arena, const char *, argc + 1);
    o->warnings = arena_array(arena, const char *, argc + 1);
    o->tubes = arena_array(arena, Tube, argc + 1);
    o->meshes = arena_array(arena, MotionMesh, argc + 1);
    o->path.ends = arena_array(arena, PathEndValue, argc + 1);
    o->path.guesses = arena_array(arena, PathGuess, argc + 1);
    o->compare.tubes = o->tubes;
    if (argc < 2) {
        out_text(why, "no call given");
        return false;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        o->command = argv[1][2] == 'v' ? COMMAND_VERSION : COMMAND_HELP;
        return true;
    }
    uint32_t n_calls, call = 0;
    const Call *calls = options_calls(&n_calls);
    while (call < n_calls && strcmp(calls[call].name, argv[1]))
        call++;
    if (call == n_calls) {
        say_no_call(argv[1], why);
        return false;
    }
    // `mdlc run --help` is `mdlc help run`.
    for (int i = 2; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            o->command = COMMAND_HELP;
            o->what = calls[call].name;
            return true;
        }
    o->command = calls[call].command;
    const OptionTable tables[] = {{run_options, run_options_count, run_settings_take, &o->run}, {own_options, OWN_COUNT, take_own, o}};
    char wrong[OPTION_WHY];
    int rest = 2;
    if (!options_scan(tables, 2, calls[call].bit, argc, argv, 2, &rest, wrong)) {
        out_text(why, wrong);
        return false;
    }
    return take_words(o, argc, argv, rest, why) && check_files(o, why) && !lacks_option(o, why) && has_format(o, &calls[call], why) && check_products(o, why);
}
