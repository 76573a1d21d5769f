// Options: the command line of docs/cli.md. The calls and their options are tables; those of a run are the runtime's.
#include "frontend/expression.h"
#include "frontend/options.h"
#include "frontend/products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { // bits of Option.calls
    CALL_CHECK = 4, CALL_SHOW = 8, CALL_FMT = 1 << 16, CALL_OTHER = 1 << 17, CALL_EXPLAIN = 1 << 19
};

static const Option own_options[] = {
    {"class", 'm', OPTION_TEXT, false, "CLASS", "the class to use; default: the only, or the last, non-partial model of the file",
     CALLS_WITH_MODEL},
    {"engine", 0, OPTION_WORD, false, "llvm|interp", "native code, or the reference interpreter", CALLS_RUNNING | CALLS_ANALYSING},
    {"opt", 0, OPTION_WORD, false, "0|1|2", "0 fast compilation ... 2 best code; default by size",
     CALLS_RUNNING | CALLS_ANALYSING | CALL_SHOW | CALL_BUILD},
    {"emit", 0, OPTION_WORD, false, "exe|shared|obj|asm|llvm|c-header", "what to write; default: an executable", CALL_BUILD},
    {"symbol", 0, OPTION_TEXT, false, "NAME", "what the model is called in an object file; default: mdl_program", CALL_BUILD},
    {"derivatives", 0, OPTION_FLAG, false, NULL, "with directional derivatives, for mdl_derivative()", CALL_BUILD},
    {"native", 0, OPTION_FLAG, false, NULL, "for this computer's processor; default: for any x86-64-v2", CALL_BUILD},
    {"formalism", 0, OPTION_WORD, false, "lagrange|hamilton|gibbs_appell|kane|maggi", "how equations of motion follow from energies",
     CALLS_WITH_MODEL},
    {"format", 0, OPTION_WORD, false, "text|json|dot|svg|markdown|html",
     "of what is shown; compare and analyses have text and json; doc has text, markdown and html",
     CALL_SHOW | CALL_COMPARE | CALL_LINEARIZE | CALL_STEADY | CALL_FREQ | CALL_DOC | CALL_EXPLAIN},
    {"example", 0, OPTION_WORD, false, "wrong|right|call", "only an example, or the options it is checked with", CALL_EXPLAIN},
    {"canonical", 0, OPTION_FLAG, false, NULL, "show bonds: fields of elements around one junction structure", CALL_SHOW},
    {"after", 0, OPTION_TEXT, false, "PASS", "show ir: stop behind that pass and show the flat model", CALL_SHOW},
    {"rel", 0, OPTION_NUMBER, false, "R", "width of the tubes, as a part of a variable's largest value; default 1e-6", CALL_COMPARE},
    {"abs", 0, OPTION_NUMBER, false, "A", "what is added to that; default 1e-12", CALL_COMPARE},
    {"shift", 0, OPTION_NUMBER, false, "T", "by what time something may come earlier or later; default 1e-9", CALL_COMPARE},
    {"tube", 0, OPTION_TEXT, false, "NAME=R[,A]", "the tube of one variable (repeatable)", CALL_COMPARE},
    {"against", 0, OPTION_TEXT, false, "NAME", "the variable of the horizontal axis; default: the time", CALL_PLOT},
    {"title", 0, OPTION_TEXT, false, "TEXT", "above the picture", CALL_PLOT | CALL_FREQ},
    {"log", 0, OPTION_FLAG, false, NULL, "logarithmic vertical axes; values that are not positive are left out", CALL_PLOT},
    {"size", 0, OPTION_TEXT, false, "WxH", "pixels, or characters", CALL_PLOT | CALL_FREQ},
    {"at", 0, OPTION_NUMBER, false, "T", "simulate up to that time first; default: the start", CALL_LINEARIZE | CALL_FREQ},
    {"steady", 0, OPTION_FLAG, false, NULL, "begin in an equilibrium near the start values", CALL_RUN | CALL_LINEARIZE | CALL_FREQ},
    {"inputs", 0, OPTION_TEXT, false, "NAME,...", "inputs or parameters that are varied; default: the model's inputs",
     CALL_LINEARIZE | CALL_FREQ},
    {"outputs", 0, OPTION_TEXT, false, "NAME,...", "variables that are looked at; default: the model's outputs",
     CALLS_ANALYSING},
    {"param", 0, OPTION_TEXT, false, "NAME,...", "parameters that the outputs are differentiated by", CALL_SENSE},
    {"from", 0, OPTION_POSITIVE, false, "HZ", "lowest frequency; default: below all eigenvalues", CALL_FREQ},
    {"to", 0, OPTION_POSITIVE, false, "HZ", "highest frequency; default: above all eigenvalues", CALL_FREQ},
    {"per-decade", 0, OPTION_COUNT, false, "N", "frequencies per decade, before there are more where the response bends; default 40",
     CALL_FREQ},
    {"check", 0, OPTION_FLAG, false, NULL, "only list the files that would change", CALL_FMT},
    {"path", 0, OPTION_TEXT, false, "DIR", "look for packages there too (also: MDLPATH)", CALLS_WITH_MODEL},
    {"limit", 0, OPTION_TEXT, false, "NAME=VALUE", "nesting, memory (MB), time (s), array (scalars)", CALLS_WITH_MODEL},
    {"warn", 'W', OPTION_TEXT, false, "[no-][error=]NAME",
     "warnings of a name, not of it, or as errors (error: all); mdlc help warnings lists them", CALLS_WITH_MODEL},
    {"message-format", 0, OPTION_WORD, false, "text|json", "diagnostics for people, or for tools",
     CALLS_WITH_MODEL | CALL_FMT},
    {"allow-external", 0, OPTION_FLAG, false, NULL, "compile and call external functions in C, which can do anything",
     CALLS_WITH_MODEL},
    {"verify-passes", 0, OPTION_FLAG, false, NULL, "check the model's invariants behind every pass", CALLS_WITH_MODEL},
};
enum { OWN_CLASS, OWN_ENGINE, OWN_OPT, OWN_EMIT, OWN_SYMBOL, OWN_DERIVATIVES, OWN_NATIVE, OWN_FORMALISM, OWN_FORMAT, OWN_EXAMPLE, OWN_CANONICAL, OWN_AFTER, OWN_REL, OWN_ABS, OWN_SHIFT, OWN_TUBE, OWN_AGAINST, OWN_TITLE, OWN_LOG, OWN_SIZE, OWN_AT, OWN_STEADY, OWN_INPUTS, OWN_OUTPUTS, OWN_PARAM, OWN_FROM, OWN_TO, OWN_PER_DECADE, OWN_CHECK, OWN_PATH, OWN_LIMIT, OWN_WARN, OWN_MESSAGES, OWN_EXTERNAL, OWN_VERIFY };
enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

static const char views[] = "ast flat bonds equations blt states index init loops jacobian formalisms ir llvm asm stats passes";

static const Call calls[] = {
    {"new", COMMAND_NEW, CALL_OTHER, "mdlc new NAME", "write NAME.mdl, a first model", "", NULL},
    {"examples", COMMAND_EXAMPLES, CALL_OTHER, "mdlc examples [NAME]", "list examples, or copy one here", "", NULL},
    {"check", COMMAND_CHECK, CALL_CHECK, "mdlc check FILE [-m CLASS]", "parse, resolve, check types, units and balance", "", NULL},
    {"run", COMMAND_RUN, CALL_RUN, "mdlc run FILE [-m CLASS] [-o RESULT] [options]", "compile in memory and simulate", "", NULL},
    {"plot", COMMAND_PLOT, CALL_PLOT, "mdlc plot RESULT|MODEL VARIABLE... [-o FILE.svg|png|pdf|html]", "draw results",
     "  Without -o the picture is made of characters. A model is run first, with the options of a run.\n", NULL},
    {"report", COMMAND_REPORT, CALL_REPORT, "mdlc report FILE [-m CLASS] -o PAGE.html [options]", "one page: source, bond graph, equations, results",
     "  The model is run, with the options of a run. The page needs no network and no other file.\n", NULL},
    {"linearize", COMMAND_LINEARIZE, CALL_LINEARIZE, "mdlc linearize FILE [-m CLASS] [--at T] [--steady] [-o FILE]", "A, B, C, D, eigenvalues, damping",
     "  Around the start, or a later point. The states are a smallest set that constraints leave free.\n", NULL},
    {"freq", COMMAND_FREQ, CALL_FREQ, "mdlc freq FILE [-m CLASS] [--from HZ] [--to HZ] [-o FILE.csv|json|svg|png|pdf]", "frequency response, Bode diagram",
     "  Of the model linearised at its start, a later point or an equilibrium, from its inputs to its outputs.\n", NULL},
    {"sense", COMMAND_SENSE, CALL_SENSE, "mdlc sense FILE [-m CLASS] --param NAME,... [-o RESULT]", "sensitivities of results to parameters",
     "  Simulates, with a column d(y)/d(p) per output y and parameter p.\n", NULL},
    {"steady", COMMAND_STEADY, CALL_STEADY, "mdlc steady FILE [-m CLASS] [-o FILE.json]", "where the model comes to rest",
     "  An equilibrium near the start values, with inputs as they are, and whether it is stable.\n", NULL},
    {"compare", COMMAND_COMPARE, CALL_COMPARE, "mdlc compare RESULT REFERENCE", "is a result within tubes around another?", "", NULL},
    {"build", COMMAND_BUILD, CALL_BUILD, "mdlc build FILE [-m CLASS] -o PROGRAM", "a native simulator that takes the options of run", "",
     NULL},
    {"show", COMMAND_SHOW, CALL_SHOW, "mdlc show WHAT FILE [-m CLASS] [--format=text|json|dot|svg]", "look inside", "", views},
    {"doc", COMMAND_DOC, CALL_DOC, "mdlc doc [CLASS|LIBRARY|WORD|FILE] [-o FILE.md|html]", "reference pages of classes and of words of the language",
     "  Without a name, libraries and words are listed. The page is text, or what the file's name says.\n", NULL},
    {"explain", COMMAND_EXPLAIN, CALL_EXPLAIN, "mdlc explain [CODE]", "what an error or a warning means, and what helps",
     "  Without a code all are listed. Each has a wrong and a right example.\n", NULL},
    {"fmt", COMMAND_FMT, CALL_FMT, "mdlc fmt [--check] FILE...", "canonical layout, in place", "", NULL},
    {"help", COMMAND_HELP, CALL_OTHER, "mdlc help [CALL|warnings]", "this text, the options of a call, or the warnings", "", "warnings"},
    {"man", COMMAND_MAN, CALL_OTHER, "mdlc man", "the manual page, for man -l -", "", NULL},
    {"completions", COMMAND_COMPLETIONS, CALL_OTHER, "mdlc completions SHELL", "completions for bash, zsh or fish", "", "bash zsh fish"},
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

const Call *
options_calls(uint32_t *n)
{
    *n = CALL_COUNT;
    return calls;
}

const Option *
options_own(uint32_t *n)
{
    *n = OWN_COUNT;
    return own_options;
}

static void
help_options(const Option *options, uint32_t count, uint32_t call, Out *out)
{
    char line[1024];
    for (uint32_t i = 0; i < count; i++)
        if (options[i].calls & call) {
            option_help(&options[i], line, sizeof line);
            out_text(out, line);
        }
}

static void
help_warnings(Out *out)
{
    out_text(out, "-WNAME reports a warning, -Wno-NAME does not, -Werror=NAME makes it an error, -Wno-error=NAME a warning again.\n"
                  "-Wall, -Wno-all, -Werror and -Wno-error are about all; the beginning of names, as in -Wunused, about all with it.\n"
                  "All are reported unless something else is said.\n\n");
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        if (diag_switch(code))
            out_printf(out, "  -W%-20s %s  %s\n", diag_switch(code), diag_code_text(code), diag_meaning(code));
}

bool
options_help(const char *call, Out *out)
{
    if (call && !strcmp(call, "warnings")) {
        help_warnings(out);
        return true;
    }
    for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, call))
            continue;
        out_printf(out, "%s   %s\n", calls[i].usage, calls[i].summary);
        out_text(out, calls[i].details);
        if (calls[i].words)
            out_printf(out, "  one of: %s\n", calls[i].words);
        if (calls[i].bit == CALL_OTHER)
            return true;
        help_options(run_options, run_options_count, calls[i].bit, out);
        help_options(own_options, OWN_COUNT, calls[i].bit, out);
        return true;
    }
    if (call)
        return false;
    enum { USAGE = 58 }; // columns; a longer one has a line of its own
    out_text(out, "mdlc: a modelling compiler for mechanical systems with memory\n\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        out_printf(out, strlen(calls[i].usage) > USAGE ? "  %s\n  %-*s %s\n" : "  %s%*s %s\n", calls[i].usage,
                   strlen(calls[i].usage) > USAGE ? USAGE : USAGE - (int)strlen(calls[i].usage), "", calls[i].summary);
    out_text(out, "  mdlc --version\n\nmdlc help CALL lists the options of a call.\n"
                  "Exit codes: 0 fine, 1 the model is wrong, 2 wrong usage, 3 the simulation failed,\n"
                  "4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
    return true;
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
    bool good = equals && option_number(equals + 1, &value) && value > 0;
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
    if (option_number(value, width) && *width >= 0)
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
    case OWN_CLASS: o->class_name = value; return true;
    case OWN_ENGINE: o->engine = value; return true;
    case OWN_OPT: o->opt = value[0] - '0'; return true;
    case OWN_EMIT: o->emit = value; return true;
    case OWN_SYMBOL: o->symbol = value; return true;
    case OWN_DERIVATIVES: o->derivatives = true; return true;
    case OWN_NATIVE: o->native = true; return true;
    case OWN_FORMALISM: o->formalism = value; return true;
    case OWN_FORMAT: o->format = value; return true;
    case OWN_EXAMPLE: o->example = value; return true;
    case OWN_CANONICAL: o->canonical = true; return true;
    case OWN_AFTER: o->after = value; return true;
    case OWN_REL: return take_width(value, &o->compare.relative, why);
    case OWN_ABS: return take_width(value, &o->compare.absolute, why);
    case OWN_SHIFT: return take_width(value, &o->compare.shift, why);
    case OWN_TUBE: return take_tube(o, value, why);
    case OWN_AGAINST: o->plot.against = value; return true;
    case OWN_LOG: return o->plot.log_values = true;
    case OWN_TITLE: o->plot.title = value; return true;
    case OWN_SIZE: return take_size(value, &o->plot, why);
    case OWN_AT: return option_number(value, &o->analysis.at);
    case OWN_STEADY: o->analysis.steady = true; return true;
    case OWN_INPUTS: o->analysis.inputs = value; return true;
    case OWN_OUTPUTS: o->analysis.outputs = value; return true;
    case OWN_PARAM: o->analysis.parameters = value; return true;
    case OWN_FROM: return option_number(value, &o->analysis.from);
    case OWN_TO: return option_number(value, &o->analysis.to);
    case OWN_PER_DECADE: o->analysis.per_decade = (uint32_t)fmin(atof(value), 1e6); return true;
    case OWN_CHECK: o->check_only = true; return true;
    case OWN_PATH: o->paths[o->n_paths++] = value; return true;
    case OWN_LIMIT: return set_limit(o, value, why);
    case OWN_WARN: return take_warning(o, value, why);
    case OWN_MESSAGES: o->json_messages = !strcmp(value, "json"); return true;
    case OWN_EXTERNAL: o->allow_external = true; return true;
    default: o->verify = true; return true;
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
    bool several = o->command == COMMAND_FMT || o->command == COMMAND_COMPARE || o->command == COMMAND_PLOT;
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
    char list[sizeof views];
    const char *name[VIEWS];
    uint32_t n = 0;
    memcpy(list, views, sizeof views);
    for (char *rest = list, *one; (one = strtok_r(rest, " ", &rest)) && n < VIEWS;)
        name[n++] = one;
    const char *near = nearest_name(given, name, n);
    out_printf(why, "show is one of: %s; got '%s'", views, given);
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
    else if (o->command == COMMAND_SHOW && !is_word(o->what, views))
        say_no_view(o->what, why);
    return why->length == 0;
}

// What other tools call it, a model without a call, a slip.
static void
say_no_call(const char *word, Out *why)
{
    static const char *const usual[][2] = {{"simulate", "run"}, {"sim", "run"}, {"exec", "run"}, {"compile", "build"}, {"draw", "plot"},
                                           {"format", "fmt"}, {"diff", "compare"}, {"init", "new"}, {"create", "new"}, {"lint", "check"},
                                           {"translate", "show"}, {"bode", "freq"}, {"linearise", "linearize"}};
    enum { CALLS = sizeof calls / sizeof *calls };
    const char *names[CALLS], *meant = NULL;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !meant; i++)
        meant = strcmp(usual[i][0], word) ? NULL : usual[i][1];
    for (size_t i = 0; i < CALLS; i++)
        names[i] = calls[i].name;
    if (!meant)
        meant = nearest_name(word, names, CALLS);
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
    *o = (Options){.opt = -1, .compare = {.relative = 1e-6, .absolute = 1e-12, .shift = 1e-9}, .analysis = {.at = NAN, .from = NAN, .to = NAN, .per_decade = 40}};
    run_settings_init(&o->run);
    o->files = arena_array(arena, const char *, argc + 1);
    o->paths = arena_array(arena, const char *, argc + 1);
    o->warnings = arena_array(arena, const char *, argc + 1);
    o->tubes = arena_array(arena, Tube, argc + 1);
    o->compare.tubes = o->tubes;
    if (argc < 2) {
        out_text(why, "no call given");
        return false;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        o->command = argv[1][2] == 'v' ? COMMAND_VERSION : COMMAND_HELP;
        return true;
    }
    size_t call = 0;
    while (call < sizeof calls / sizeof *calls && strcmp(calls[call].name, argv[1]))
        call++;
    if (call == sizeof calls / sizeof *calls) {
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
    return take_words(o, argc, argv, rest, why) && check_files(o, why) && !lacks_option(o, why) && check_products(o, why);
}
