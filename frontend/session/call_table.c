// call_table.c: the calls of the command line, and the text of `mdlc help`.
//
// Purpose: what each call does, takes and prints, said once (calls.def); help, manual page and completions are made from it. An option that
// several calls share may mean another thing to each: what --output and --format mean to a call stands with the call.
// Method: a table.
// Contract:
// command_line.h. Complexity: linear in the options.
#include "frontend/session/command_line.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"

static const char bode[] = "write the response there: a picture (.svg, .png, .pdf), a table (.csv) or all of it (.json)";
static const char page[] = "write the page there (.md, .html, or text) instead of to the terminal";

static const Call calls[] = {
#define CALL(id, function, ...) {.command = COMMAND_##id, __VA_ARGS__},
#define TELL(id, ...) {.command = COMMAND_##id, __VA_ARGS__},
#include "frontend/session/calls.def"
};
enum { N_CALLS = sizeof calls / sizeof *calls };

const Call *
options_calls(uint32_t *n)
{
    *n = N_CALLS;
    return calls;
}

const Call *
options_call(Command command)
{
    for (uint32_t i = 0; i < N_CALLS; i++)
        if (calls[i].command == command)
            return &calls[i];
    return NULL;
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
    for (uint32_t i = 0; i < N_CALLS; i++) {
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
    for (uint32_t i = 0; i < N_CALLS; i++)
        if (!strcmp(calls[i].name, name)) {
            help_call(&calls[i], out);
            return true;
        }
    return false;
}
