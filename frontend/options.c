// Options: the command line of docs/cli.md. The calls and their options are tables; those of a run are the runtime's.
#include "frontend/options.h"

#include <stdlib.h>
#include <string.h>

enum { // bits of Option.calls, behind CALL_RUN
    CALL_CHECK = 2 * CALL_RUN, CALL_SHOW = 4 * CALL_RUN, CALL_FMT = 8 * CALL_RUN, CALL_OTHER = 16 * CALL_RUN,
    CALL_MODEL = CALL_RUN | CALL_CHECK | CALL_SHOW
};

static const Option own_options[] = {
    {"class", 'm', OPTION_TEXT, false, "CLASS", "the class to use; default: the only, or the last, non-partial model of the file",
     CALL_MODEL},
    {"engine", 0, OPTION_WORD, false, "llvm|interp", "native code, or the reference interpreter", CALL_RUN},
    {"opt", 0, OPTION_WORD, false, "0|1|2", "0 fast compilation ... 2 best code; default by size", CALL_RUN | CALL_SHOW},
    {"formalism", 0, OPTION_WORD, false, "lagrange|hamilton|gibbs_appell|kane|maggi", "how equations of motion follow from energies",
     CALL_MODEL},
    {"format", 0, OPTION_WORD, false, "text|json|dot|svg", "of what is shown", CALL_SHOW},
    {"canonical", 0, OPTION_FLAG, false, NULL, "show bonds: fields of elements around one junction structure", CALL_SHOW},
    {"after", 0, OPTION_TEXT, false, "PASS", "show ir: stop behind that pass and show the flat model", CALL_SHOW},
    {"check", 0, OPTION_FLAG, false, NULL, "only list the files that would change", CALL_FMT},
    {"path", 0, OPTION_TEXT, false, "DIR", "look for packages there too (also: MDLPATH)", CALL_MODEL},
    {"limit", 0, OPTION_TEXT, false, "NAME=VALUE", "nesting, memory (MB), time (s), array (scalars)", ~0u},
    {"message-format", 0, OPTION_WORD, false, "text|json", "diagnostics for people, or for tools", ~0u},
    {"verify-passes", 0, OPTION_FLAG, false, NULL, "check the model's invariants behind every pass", CALL_MODEL},
};
enum { OWN_CLASS, OWN_ENGINE, OWN_OPT, OWN_FORMALISM, OWN_FORMAT, OWN_CANONICAL, OWN_AFTER, OWN_CHECK, OWN_PATH, OWN_LIMIT, OWN_MESSAGES, OWN_VERIFY };
enum { OWN_COUNT = sizeof own_options / sizeof *own_options };

typedef struct Call {
    const char *name;
    Command command;
    uint32_t bit;
    const char *summary, *details;
} Call;

static const Call calls[] = {
    {"check", COMMAND_CHECK, CALL_CHECK, "mdlc check FILE [-m CLASS]      parse, resolve, check types, units and balance", ""},
    {"run", COMMAND_RUN, CALL_RUN, "mdlc run FILE [-m CLASS] [-o FILE.csv] [options]   compile in memory and simulate", ""},
    {"show", COMMAND_SHOW, CALL_SHOW, "mdlc show WHAT FILE [-m CLASS] [--format=text|json|dot|svg]   look inside",
     "  WHAT: ast flat bonds equations blt states index init loops jacobian formalisms ir llvm asm stats passes\n"},
    {"fmt", COMMAND_FMT, CALL_FMT, "mdlc fmt [--check] FILE...      canonical layout, in place", ""},
    {"help", COMMAND_HELP, CALL_OTHER, "mdlc help [CALL]", ""},
};

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

bool
options_help(const char *call, Out *out)
{
    for (size_t i = 0; call && i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, call))
            continue;
        out_printf(out, "%s\n%s", calls[i].summary, calls[i].details);
        if (calls[i].bit == CALL_OTHER)
            return true;
        if (calls[i].bit != CALL_FMT)
            help_options(run_options, run_options_count, calls[i].bit, out);
        help_options(own_options, OWN_COUNT, calls[i].bit, out);
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
take_own(void *user, uint32_t index, const char *value, char why[OPTION_WHY])
{
    Options *o = user;
    switch (index) {
    case OWN_CLASS: o->class_name = value; return true;
    case OWN_ENGINE: o->engine = value; return true;
    case OWN_OPT: o->opt = value[0] - '0'; return true;
    case OWN_FORMALISM: o->formalism = value; return true;
    case OWN_FORMAT: o->format = value; return true;
    case OWN_CANONICAL: o->canonical = true; return true;
    case OWN_AFTER: o->after = value; return true;
    case OWN_CHECK: o->check_only = true; return true;
    case OWN_PATH: o->paths[o->n_paths++] = value; return true;
    case OWN_LIMIT: return set_limit(o, value, why);
    case OWN_MESSAGES: o->json_messages = !strcmp(value, "json"); return true;
    default: o->verify = true; return true;
    }
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

// The words behind a call that are no options: WHAT or CALL, and files.
static bool
take_words(Options *o, int argc, char **argv, int first, Out *why)
{
    for (int i = first; i < argc; i++)
        o->files[o->n_files++] = argv[i];
    if (o->command != COMMAND_SHOW && o->command != COMMAND_HELP)
        return true;
    if (o->n_files) {
        o->what = o->files[0];
        o->files++;
        o->n_files--;
    }
    static const char views[] = "ast flat bonds equations blt states index init loops jacobian formalisms ir llvm asm stats passes";
    if (o->command == COMMAND_SHOW && !o->what)
        out_text(why, "show needs WHAT and a file");
    else if (o->command == COMMAND_SHOW && !is_word(o->what, views))
        out_printf(why, "show is one of: %s; got '%s'", views, o->what);
    return why->length == 0;
}

bool
options_parse(Options *o, int argc, char **argv, Arena *arena, Out *why)
{
    *o = (Options){.opt = -1};
    run_settings_init(&o->run);
    o->files = arena_array(arena, const char *, argc + 1);
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
    const OptionTable tables[] = {{run_options, run_options_count, run_settings_take, &o->run}, {own_options, OWN_COUNT, take_own, o}};
    char wrong[OPTION_WHY];
    int rest = 2;
    if (!options_scan(tables, 2, calls[call].bit, argc, argv, 2, &rest, wrong)) {
        out_text(why, wrong);
        return false;
    }
    return take_words(o, argc, argv, rest, why) && check_files(o, why);
}
