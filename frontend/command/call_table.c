// call_table.c: the calls of the command line, and the text of `mdlc help`.
//
// Purpose: what each call does, takes and prints, said once; help, manual page and completions are made from it. An option that
// several calls share may mean another thing to each: what --output and --format mean to a call stands with the call. Contract:
// command_line.h. Complexity: linear in the options.
#include "frontend/command/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"

static const char bode[] = "write the response there: a picture (.svg, .png, .pdf), a table (.csv) or all of it (.json)";
static const char page[] = "write the page there (.md, .html, or text) instead of to the terminal";

// In the order in which a new user needs them.
static const Call calls[] = {
    {.name = "new", .command = COMMAND_NEW, .bit = CALL_OTHER, .usage = "mdlc new NAME", .summary = "write NAME.mdl, a first model",
     .examples = "mdlc new Swing\n"},
    {.name = "examples", .command = COMMAND_EXAMPLES, .bit = CALL_OTHER, .usage = "mdlc examples [NAME]",
     .summary = "list examples, or copy one here", .examples = "mdlc examples quarter_car\n"},
    {.name = "check", .command = COMMAND_CHECK, .bit = CALL_CHECK, .usage = "mdlc check FILE [-m CLASS]",
     .summary = "is the model right? names, types, units, balance",
     .details = "A model that is right gives no output. Of a library every class is checked.\n",
     .examples = "mdlc check Swing.mdl\n"},
    {.name = "run", .command = COMMAND_RUN, .bit = CALL_RUN, .usage = "mdlc run FILE [-m CLASS] [-o RESULT] [options]",
     .summary = "compile in memory and simulate",
     .examples = "mdlc run Swing.mdl                              the values at the end\n"
                 "mdlc run Swing.mdl -o swing.csv --stop 20       everything, to a file\n"
                 "mdlc run Swing.mdl --set c=0.2 --vars 'body'    another parameter; only variables with `body` in their names\n"},
    {.name = "plot", .command = COMMAND_PLOT, .bit = CALL_PLOT, .usage = "mdlc plot RESULT|MODEL VARIABLE... [-o FILE.svg|png|pdf|html]",
     .summary = "draw results", .details = "A model is run first, with the options of a run.\n",
     .output = "write the picture there; .html is a page to zoom in. Without it the picture is made of characters",
     .examples = "mdlc plot Swing.mdl body.s                           in the terminal\n"
                 "mdlc plot swing.csv body.s spring.f -o swing.svg     of a result\n"
                 "mdlc plot Swing.mdl body.v --against body.s          a phase plane\n"},
    {.name = "report", .command = COMMAND_REPORT, .bit = CALL_REPORT, .usage = "mdlc report FILE [-m CLASS] -o PAGE.html [options]",
     .summary = "one page: source, bond graph, equations, results",
     .details = "The model is run, with the options of a run. The page needs no network and no other file.\n",
     .output = "write the page there", .examples = "mdlc report Swing.mdl -o swing.html\n"},
    {.name = "linearize", .command = COMMAND_LINEARIZE, .bit = CALL_LINEARIZE,
     .usage = "mdlc linearize FILE [-m CLASS] [--at T] [--steady] [-o FILE]", .summary = "A, B, C, D, eigenvalues, damping",
     .details = "Around the start, or a later point. The states are a smallest set that constraints leave free.\n",
     .output = "write the system there (.json or .mat) instead of to the terminal", .formats = "text|json",
     .examples = "mdlc linearize Swing.mdl\nmdlc linearize Swing.mdl --steady --inputs k --outputs body.s\n"},
    {.name = "freq", .command = COMMAND_FREQ, .bit = CALL_FREQ,
     .usage = "mdlc freq FILE [-m CLASS] [--from HZ] [--to HZ] [-o FILE.csv|json|svg|png|pdf]", .summary = "frequency response, Bode diagram",
     .details = "Of the model linearised at its start, a later point or an equilibrium, from its inputs to its outputs.\n",
     .output = bode, .formats = "text|json",
     .examples = "mdlc freq model.mdl -o bode.svg                                  from `input` to `output` variables\n"
                 "mdlc freq Swing.mdl --inputs body.g --outputs body.s             from a parameter to any variable\n"},
    {.name = "sense", .command = COMMAND_SENSE, .bit = CALL_SENSE, .usage = "mdlc sense FILE [-m CLASS] --param NAME,... [-o RESULT]",
     .summary = "sensitivities of results to parameters",
     .details = "Simulates, with a column d(y)/d(p) per output y and parameter p.\n",
     .output = "write results with these columns there (.csv or .mat); without it the final values are printed",
     .examples = "mdlc sense Swing.mdl --param k,c --outputs body.s -o sense.csv\n"},
    {.name = "steady", .command = COMMAND_STEADY, .bit = CALL_STEADY, .usage = "mdlc steady FILE [-m CLASS] [-o FILE.json]",
     .summary = "where the model comes to rest",
     .details = "An equilibrium near the start values, with inputs as they are, and whether it is stable.\n",
     .output = "write the equilibrium there (.json) instead of to the terminal", .formats = "text|json", .examples = "mdlc steady Swing.mdl\n"},
    {.name = "compare", .command = COMMAND_COMPARE, .bit = CALL_COMPARE, .usage = "mdlc compare RESULT REFERENCE",
     .summary = "does a result agree with another, within tolerances?", .formats = "text|json",
     .examples = "mdlc compare swing.csv reference.csv --rel 1e-4\n"},
    {.name = "build", .command = COMMAND_BUILD, .bit = CALL_BUILD, .usage = "mdlc build FILE [-m CLASS] -o PROGRAM",
     .summary = "a program that simulates the model", .details = "It needs neither mdlc nor LLVM, and takes the options of a run.\n",
     .output = "write the program, or what --emit says, there",
     .examples = "mdlc build Swing.mdl -o swing && ./swing --set c=0.2 -o swing.csv\n"},
    {.name = "show", .command = COMMAND_SHOW, .bit = CALL_SHOW, .usage = "mdlc show WHAT FILE [-m CLASS] [--format=text|json|dot|svg]",
     .summary = "look inside", .formats = "text|json|dot|svg", .words = CALL_VIEWS,
     .details = "What there is to see, from the source to the machine:\n"
                "  ast         the syntax tree\n"
                "  flat        the model behind all classes and modifications: variables, equations, connections\n"
                "  bonds       the bond graph; --format=svg draws it, --canonical orders it around the junction structure\n"
                "  index       which equations were differentiated, which storage depends on another, and what helps\n"
                "  states      the variables that are integrated\n"
                "  init        how the start is found: conditions, and start values taken as conditions\n"
                "  blt         the order in which equations are solved, in blocks\n"
                "  loops       algebraic loops and what is iterated in them\n"
                "  equations   what every variable is computed from, by component\n"
                "  jacobian    the pattern of partial derivatives\n"
                "  formalisms  what the equations of motion of energies cost by each formalism\n"
                "  ir          the programs that run; with --after=PASS the model behind a pass\n"
                "  llvm asm    the generated code\n"
                "  stats       sizes, and the time of each pass\n"
                "  passes      the passes of the compiler (no file needed)\n",
     .examples = "mdlc show equations Swing.mdl\nmdlc show bonds Swing.mdl --format=svg > swing_bonds.svg\n"},
    {.name = "doc", .command = COMMAND_DOC, .bit = CALL_DOC, .usage = "mdlc doc [CLASS|LIBRARY|WORD|FILE] [-o FILE.md|html]",
     .summary = "look up the library and the language",
     .details = "Without a name, libraries and words are listed. Any other word is looked for in names and descriptions.\n",
     .output = page, .formats = "text|markdown|html",
     .examples = "mdlc doc                          what there is\n"
                 "mdlc doc friction                 what has to do with it\n"
                 "mdlc doc Translational.Spring     a class: parameters with units, connectors, equations, an example\n"
                 "mdlc doc when                     a word of the language\n"},
    {.name = "explain", .command = COMMAND_EXPLAIN, .bit = CALL_EXPLAIN, .usage = "mdlc explain [CODE]",
     .summary = "what an error or a warning means, and what helps",
     .details = "Without a code all are listed. Each has a wrong and a right example.\n", .formats = "text|markdown",
     .examples = "mdlc explain E0301\n"},
    {.name = "fmt", .command = COMMAND_FMT, .bit = CALL_FMT, .usage = "mdlc fmt [--check] FILE...", .summary = "canonical layout, in place",
     .examples = "mdlc fmt Swing.mdl\n"},
    {.name = "help", .command = COMMAND_HELP, .bit = CALL_OTHER, .usage = "mdlc help [CALL|warnings]",
     .summary = "this text, a call with its options, or the warnings", .words = "warnings", .examples = "mdlc help run\n"},
    {.name = "man", .command = COMMAND_MAN, .bit = CALL_OTHER, .usage = "mdlc man", .summary = "the manual page",
     .examples = "mdlc man | man -l -\n"},
    {.name = "completions", .command = COMMAND_COMPLETIONS, .bit = CALL_OTHER, .usage = "mdlc completions SHELL",
     .summary = "completions for bash, zsh or fish", .words = "bash zsh fish", .examples = "mdlc completions bash\n"},
};
enum { CALL_COUNT = sizeof calls / sizeof *calls };

const Call *
options_calls(uint32_t *n)
{
    *n = CALL_COUNT;
    return calls;
}

// --- what an option means to a call

Option
options_for(const Option *option, const Call *call)
{
    Option o = *option;
    if (call->output && o.letter == 'o')
        o.help = call->output;
    if (call->formats && !strcmp(o.name, "format"))
        o.value = call->formats;
    return o;
}

bool
options_of_models(const Option *option)
{
    return (option->calls & CALLS_WITH_MODEL) == CALLS_WITH_MODEL;
}

// --- help

// Options of a call: those that every call with a model has, or the others.
static void
help_options(const Option *options, uint32_t count, const Call *call, bool of_models, Out *out)
{
    char line[1024];
    for (uint32_t i = 0; i < count; i++)
        if (options[i].calls & call->bit && options_of_models(&options[i]) == of_models) {
            const Option o = options_for(&options[i], call);
            option_help(&o, line, sizeof line);
            out_text(out, line);
        }
}

static void
indented(const char *text, const char *blanks, Out *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        out_printf(out, "%s%.*s\n", blanks, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void
help_call(const Call *call, Out *out)
{
    uint32_t n_own;
    const Option *own = options_own(&n_own);
    out_printf(out, "%s   %s\n", call->usage, call->summary);
    if (call->details)
        indented(call->details, "  ", out);
    if (call->examples) {
        out_text(out, "\nExamples:\n");
        indented(call->examples, "  ", out);
    }
    if (call->bit == CALL_OTHER)
        return;
    out_text(out, "\nOptions:\n");
    help_options(run_options, run_options_count, call, false, out);
    help_options(own, n_own, call, false, out);
    if (!(call->bit & CALLS_WITH_MODEL)) {
        help_options(own, n_own, call, true, out);
        return;
    }
    out_text(out, "\nOptions of all calls that read a model:\n");
    help_options(run_options, run_options_count, call, true, out);
    help_options(own, n_own, call, true, out);
}

static void
help_warnings(Out *out)
{
    out_text(out, "-WNAME reports a warning, -Wno-NAME does not, -Werror=NAME makes it an error, -Wno-error=NAME a warning again.\n"
                  "-Wall, -Wno-all, -Werror and -Wno-error do so for all of them; the beginning of names, as in -Wunused, for all that\n"
                  "begin with it. All warnings are on unless you say otherwise.\n\n");
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        if (diag_switch(code))
            out_printf(out, "  -W%-20s %s  %s\n", diag_switch(code), diag_code_text(code), diag_meaning(code));
}

static void
help_all(Out *out)
{
    enum { USAGE = 58 }; // columns; a longer one has a line of its own
    out_text(out, "mdlc: a modelling compiler for mechanical systems with memory\n\n");
    for (uint32_t i = 0; i < CALL_COUNT; i++) {
        bool wide = strlen(calls[i].usage) > USAGE;
        out_printf(out, wide ? "  %s\n  %-*s %s\n" : "  %s%*s %s\n", calls[i].usage,
                   wide ? USAGE : USAGE - (int)strlen(calls[i].usage), "", calls[i].summary);
    }
    out_text(out, "  mdlc --version\n\n"
                  "mdlc help CALL has examples and options of a call. To begin: mdlc new Swing, then mdlc plot Swing.mdl body.s\n"
                  "Exit codes: 0 fine, 1 the model is wrong, 2 wrong usage, 3 the simulation failed,\n"
                  "4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
}

bool
options_help(const char *name, Out *out)
{
    if (!name) {
        help_all(out);
        return true;
    }
    if (!strcmp(name, "warnings")) {
        help_warnings(out);
        return true;
    }
    for (uint32_t i = 0; i < CALL_COUNT; i++)
        if (!strcmp(calls[i].name, name)) {
            help_call(&calls[i], out);
            return true;
        }
    return false;
}
