// Options: the command line of docs/cli.md, parsed with getopt_long.
#include "frontend/options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { // long options without a letter
    OPTION_START = 256, OPTION_STOP, OPTION_INTERVAL, OPTION_POINTS, OPTION_TOL, OPTION_ABSTOL, OPTION_SOLVER,
    OPTION_SET, OPTION_VARS, OPTION_STATS, OPTION_TRACE, OPTION_FORMALISM, OPTION_FORM, OPTION_ENGINE, OPTION_OPT, OPTION_LIMIT,
    OPTION_QUIET, OPTION_FORMAT, OPTION_AFTER, OPTION_MESSAGES, OPTION_PATH, OPTION_CHECK, OPTION_VERIFY, OPTION_STEP
};

static const struct option long_options[] = {
    {"start", required_argument, NULL, OPTION_START},
    {"stop", required_argument, NULL, OPTION_STOP},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"points", required_argument, NULL, OPTION_POINTS},
    {"tol", required_argument, NULL, OPTION_TOL},
    {"abstol", required_argument, NULL, OPTION_ABSTOL},
    {"solver", required_argument, NULL, OPTION_SOLVER},
    {"step", required_argument, NULL, OPTION_STEP},
    {"set", required_argument, NULL, OPTION_SET},
    {"vars", required_argument, NULL, OPTION_VARS},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"formalism", required_argument, NULL, OPTION_FORMALISM},
    {"form", required_argument, NULL, OPTION_FORM},
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"opt", required_argument, NULL, OPTION_OPT},
    {"limit", required_argument, NULL, OPTION_LIMIT},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"after", required_argument, NULL, OPTION_AFTER},
    {"message-format", required_argument, NULL, OPTION_MESSAGES},
    {"path", required_argument, NULL, OPTION_PATH},
    {"check", no_argument, NULL, OPTION_CHECK},
    {"verify-passes", no_argument, NULL, OPTION_VERIFY},
    {"class", required_argument, NULL, 'm'},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

typedef struct Call {
    const char *name;
    Command command;
    const char *summary, *details;
} Call;

static const char model_options[] =
    "  -m CLASS               the class to use; default: the only, or the last, non-partial model of the file\n"
    "  --set NAME=VALUE       set a parameter or a start value by its full path (repeatable)\n"
    "  --path DIR             look for packages there too (also: MDLPATH)\n"
    "  --limit NAME=VALUE     nesting, memory (MB), time (s), array (scalars)\n"
    "  --message-format=json  diagnostics for tools\n";

static const char run_options[] =
    "  -o FILE.csv            write results there; without it the final values are shown\n"
    "  --start T --stop T     default: the model's experiment annotation, otherwise 0 and 1\n"
    "  --interval H           distance of output points; or --points N\n"
    "  --tol R --abstol A     relative and absolute tolerance\n"
    "  --vars REGEX           results whose names match (parameters and der(...) too)\n"
    "  --form causal|dae|auto how the equations are given to the integrator\n"
    "  --engine llvm|interp   native code, or the reference interpreter\n"
    "  --opt LEVEL            0 fast compilation ... 2 best code; default by size\n"
    "  --solver ida|cvode|adams|erk|rk4|gauss   the integrator\n"
    "  --step H               the length of the fixed steps of rk4 or gauss\n"
    "  --trace init           how initialisation is solved: every block, every step of a homotopy\n"
    "  --stats[=json]         what it cost, on standard error (json: on standard output)\n"
    "  --quiet                no table, no progress\n";

static const Call calls[] = {
    {"check", COMMAND_CHECK, "mdlc check FILE [-m CLASS]      parse, resolve, check types, units and balance", ""},
    {"run", COMMAND_RUN, "mdlc run FILE [-m CLASS] [-o FILE.csv] [options]   compile in memory and simulate",
     run_options},
    {"show", COMMAND_SHOW, "mdlc show WHAT FILE [-m CLASS] [--format=text|json|dot|svg]   look inside",
     "  WHAT: ast flat bonds equations blt states index init loops jacobian ir llvm asm stats passes\n"
     "  --after=PASS           show ir: stop behind that pass and show the flat model\n"},
    {"fmt", COMMAND_FMT, "mdlc fmt [--check] FILE...      canonical layout, in place", ""},
    {"help", COMMAND_HELP, "mdlc help [CALL]", ""},
};

bool
options_help(const char *call, Out *out)
{
    for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, call))
            continue;
        out_printf(out, "%s\n%s", calls[i].summary, calls[i].details);
        if (calls[i].command <= COMMAND_SHOW)
            out_text(out, model_options);
        return true;
    }
    if (call)
        return false;
    out_text(out, "mdlc: a modelling compiler for mechanical systems with memory\n\n");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        out_printf(out, "  %s\n", calls[i].summary);
    out_text(out, "  mdlc --version\n\nmdlc help CALL lists the options of a call.\n"
                  "Exit codes: 0 fine, 1 the model is wrong, 2 wrong usage, 3 the simulation failed,\n"
                  "4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
    return true;
}

static bool
add_override(Options *options, const char *text, Arena *arena, Out *why)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        out_printf(why, "--set needs NAME=VALUE, got '%s'", text);
        return false;
    }
    const char *name = arena_strndup(arena, text, (size_t)(equals - text));
    uint32_t at = 0; // a later value replaces an earlier one
    while (at < options->n_overrides && strcmp(options->overrides[at].name, name))
        at++;
    if (at == options->n_overrides)
        options->n_overrides++;
    options->overrides[at] = (Override){name, equals + 1};
    return true;
}

static bool
number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

static bool
set_limit(Options *options, const char *text, Out *why)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : 0;
    double value = 0;
    bool good = equals && number(equals + 1, &value) && value > 0;
    if (good && length == 7 && !strncmp(text, "nesting", length))
        options->limit_nesting = (uint32_t)value;
    else if (good && length == 6 && !strncmp(text, "memory", length))
        options->limit_memory = (uint64_t)(value * 1048576.0);
    else if (good && length == 4 && !strncmp(text, "time", length))
        options->limit_time = value;
    else if (good && length == 5 && !strncmp(text, "array", length))
        options->limit_scalars = (uint64_t)value;
    else
        out_printf(why, "--limit needs nesting, memory, time or array and a positive number, got '%s'", text);
    return why->length == 0;
}

static bool
one_of(const char *text, const char *list, const char *option, Out *why)
{
    size_t length = strlen(text);
    for (const char *p = list; *p;) {
        size_t word = strcspn(p, " ");
        if (word == length && !strncmp(p, text, word))
            return true;
        p += word + (p[word] == ' ');
    }
    out_printf(why, "%s is one of: %s; got '%s'", option, list, text);
    return false;
}

static bool
take_option(Options *o, int letter, const char *value, Arena *arena, Out *why)
{
    double unused;
    switch (letter) {
    case 'm': o->class_name = value; return true;
    case 'o': o->output = value; return true;
    case OPTION_START: o->start = value; break;
    case OPTION_STOP: o->stop = value; break;
    case OPTION_INTERVAL: o->interval = value; break;
    case OPTION_POINTS:
        o->points = value;
        if (number(value, &unused) && unused >= 1 && unused <= 1e9 && unused == floor(unused))
            return true;
        out_printf(why, "--points needs a whole number from 1 to 1e9, got '%s'", value);
        return false;
    case OPTION_TOL: o->tolerance = value; break;
    case OPTION_ABSTOL: o->abstol = value; break;
    case OPTION_SOLVER: o->solver = value; return one_of(value, "ida cvode adams erk rk4 gauss", "--solver", why);
    case OPTION_STEP:
        o->step = value;
        if (number(value, &unused) && unused > 0)
            return true;
        out_printf(why, "--step needs a positive number, got '%s'", value);
        return false;
    case OPTION_SET: return add_override(o, value, arena, why);
    case OPTION_VARS: o->variables = value; return true;
    case OPTION_STATS:
        o->stats = true;
        o->stats_json = value && !strcmp(value, "json");
        return !value || one_of(value, "json", "--stats", why);
    case OPTION_TRACE:
        o->trace = true;
        return one_of(value, "init", "--trace", why);
    case OPTION_FORMALISM:
        out_printf(why, "--formalism: energy sections are not supported yet");
        return false;
    case OPTION_FORM: o->form = value; return one_of(value, "causal dae auto", "--form", why);
    case OPTION_ENGINE: o->engine = value; return one_of(value, "llvm interp", "--engine", why);
    case OPTION_OPT:
        o->opt = value[0] - '0';
        return one_of(value, "0 1 2", "--opt", why);
    case OPTION_LIMIT: return set_limit(o, value, why);
    case OPTION_QUIET: o->quiet = true; return true;
    case OPTION_FORMAT: o->format = value; return one_of(value, "text json dot svg", "--format", why);
    case OPTION_AFTER: o->after = value; return true;
    case OPTION_MESSAGES:
        o->json_messages = !strcmp(value, "json");
        return one_of(value, "text json", "--message-format", why);
    case OPTION_PATH: o->paths[o->n_paths++] = value; return true;
    case OPTION_CHECK: o->check_only = true; return true;
    case OPTION_VERIFY: o->verify = true; return true;
    default: return false;
    }
    if (number(value, &unused))
        return true;
    out_printf(why, "'%s' is not a number", value);
    return false;
}

static bool
check_files(Options *o, Out *why)
{
    bool several = o->command == COMMAND_FMT;
    if (o->command == COMMAND_HELP || o->command == COMMAND_VERSION)
        return true;
    if (o->command == COMMAND_SHOW && !strcmp(o->what, "passes"))
        return true;
    if (!o->n_files)
        out_text(why, "no file given");
    else if (o->n_files > 1 && !several)
        out_printf(why, "one file at a time, got also '%s'", o->files[1]);
    return why->length == 0;
}

bool
options_parse(Options *o, int argc, char **argv, Arena *arena, Out *why)
{
    *o = (Options){.opt = -1};
    o->files = arena_array(arena, const char *, argc + 1);
    o->overrides = arena_array(arena, Override, argc + 1);
    o->paths = arena_array(arena, const char *, argc + 1);
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
        out_printf(why, "no call '%s'", argv[1]);
        return false;
    }
    o->command = calls[call].command;
    opterr = 0;
    optind = 2;
    for (int letter; (letter = getopt_long(argc, argv, ":m:o:", long_options, NULL)) != -1;) {
        if (letter == '?' || letter == ':') {
            out_printf(why, letter == '?' ? "no option '%s'" : "option '%s' needs a value", argv[optind - 1]);
            return false;
        }
        if (!take_option(o, letter, optarg, arena, why))
            return false;
    }
    for (int i = optind; i < argc; i++)
        o->files[o->n_files++] = argv[i];
    if (o->command == COMMAND_SHOW || o->command == COMMAND_HELP) {
        o->what = o->n_files ? o->files[0] : NULL;
        if (o->n_files) {
            o->files++;
            o->n_files--;
        }
        if (o->command == COMMAND_SHOW && !o->what) {
            out_text(why, "show needs WHAT and a file");
            return false;
        }
        if (o->command == COMMAND_SHOW
            && !one_of(o->what, "ast flat bonds equations blt states index init loops jacobian ir llvm asm stats passes", "show", why))
            return false;
    }
    return check_files(o, why);
}
