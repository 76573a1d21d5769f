// manual.c: the manual page, from the table of calls and options.
//
// Purpose: it cannot differ from what the program takes.
// Method: none: the tables as troff.
// Contract: manual.h. Complexity: calls times options.
#include "frontend/session/manual.h"

#include <string.h>

#include "frontend/session/command_line.h"
#include "ir/base/diag.h"

// --- the manual page

// Text for troff: backslashes and leading dots mean themselves.
static void
troff(Out *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((*c == '.' || *c == '\'') && (c == text || c[-1] == '\n'))
            out_text(out, "\\&");
        out_text(out, *c == '\\' ? "\\e" : *c == '-' ? "\\-" : (char[]){*c, '\0'});
    }
}

static void
page_option(const Option *o, Out *out)
{
    out_text(out, ".TP\n.B ");
    if (o->letter)
        out_printf(out, "\\-%c, ", o->letter);
    out_text(out, "\\-\\-");
    troff(out, o->name);
    if (o->value) {
        out_text(out, o->optional ? "\\fR[=\\fI" : " \\fI");
        troff(out, o->value);
        out_text(out, o->optional ? "\\fR]" : "");
    }
    out_char(out, '\n');
    troff(out, o->help);
    out_char(out, '\n');
}

// Options of a call; those that all calls with a model have are said once, in a section of their own.
static void
page_options(const Option *options, uint32_t n, const Call *call, Out *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (options[i].calls & call->bit && !(options_of_models(&options[i]) && call->bit & CALLS_WITH_MODEL)) {
            const Option o = options_for(&options[i], call);
            page_option(&o, out);
        }
}

static void
page_options_of_models(const Option *options, uint32_t n, Out *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (options_of_models(&options[i]))
            page_option(&options[i], out);
}

// Lines as they are.
static void
page_lines(const char *text, Out *out)
{
    out_text(out, ".PP\n.nf\n.RS\n");
    troff(out, text);
    out_text(out, ".RE\n.fi\n");
}

static void
page_call(const Call *call, const Option *own, uint32_t n_own, Out *out)
{
    out_text(out, ".SS ");
    troff(out, call->name);
    out_char(out, '\n');
    troff(out, call->summary);
    out_text(out, ".\n");
    if (call->details && call->details[strcspn(call->details, "\n")] && call->details[strcspn(call->details, "\n") + 1])
        page_lines(call->details, out);
    else if (call->details)
        troff(out, call->details);
    else if (call->words) {
        troff(out, call->words);
        out_text(out, ".\n");
    }
    if (call->examples)
        page_lines(call->examples, out);
    page_options(run_options, run_options_count, call, out);
    page_options(own, n_own, call, out);
}

static void
page_warnings(Out *out)
{
    out_text(out, ".SH WARNINGS\n.B \\-W\\fINAME\\fR, \\-Wno\\-\\fINAME\\fR, \\-Werror=\\fINAME\\fR, \\-Wno\\-error=\\fINAME\\fR\n"
                  "decide about one warning, or about all whose names begin with NAME and a dash; the names all and error stand for every one.\n");
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        if (diag_switch(code)) {
            out_text(out, ".TP\n.B ");
            troff(out, diag_switch(code));
            out_printf(out, "\\fR (%s)\n", diag_code_text(code));
            troff(out, diag_meaning(code));
            out_char(out, '\n');
        }
}

void
manual_page(const char *version, Out *out)
{
    uint32_t n, n_options;
    const Call *calls = options_calls(&n);
    const Option *own = options_own(&n_options);
    out_printf(out, ".TH MDLC 1 \"\" \"mdlc %s\" \"User Commands\"\n.SH NAME\nmdlc \\- modelling compiler for mechanical systems with "
               "memory\n.SH SYNOPSIS\n.ad l\n.nh\n", version);
    for (uint32_t i = 0; i < n; i++) {
        out_text(out, ".B ");
        troff(out, calls[i].usage);
        out_text(out, i + 1 < n ? "\n.br\n" : "\n");
    }
    out_text(out, ".SH DESCRIPTION\nmdlc compiles models of bodies, constraints and memory elements in a Modelica\\-style language, "
                  "simulates them, builds native simulators of them, and shows every step of the compilation.\n.SH CALLS\n");
    for (uint32_t i = 0; i < n; i++)
        page_call(&calls[i], own, n_options, out);
    out_text(out, ".SH OPTIONS OF ALL CALLS THAT READ A MODEL\n");
    page_options_of_models(run_options, run_options_count, out);
    page_options_of_models(own, n_options, out);
    page_warnings(out);
    out_text(out, ".SH ENVIRONMENT\n.TP\n.B MDLPATH\nfolders in which packages are found, separated by colons\n.TP\n.B MDLC_FILES\nfolders in which models, and programs that were built, may read files, separated by colons\n.TP\n.B CC\nthe C compiler "
                  "that links simulators\n.TP\n.B NO_COLOR\nno colours in messages\n.SH EXIT STATUS\n0 fine, 1 the model is wrong, 2 wrong "
                  "usage, 3 the simulation failed, 4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
}
