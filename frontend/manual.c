// manual.c: the manual page, from the table of calls and options.
//
// Purpose: it cannot differ from what the program takes. Contract: manual.h. Complexity: calls times options.
#include "frontend/manual.h"

#include <string.h>

#include "frontend/options.h"
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
page_options(const Option *options, uint32_t n, uint32_t call, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const Option *o = &options[i];
        if (!(o->calls & call))
            continue;
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
}

static void
page_warnings(Out *out)
{
    out_text(out, ".SH WARNINGS\n.B \\-W\\fINAME\\fR, \\-Wno\\-\\fINAME\\fR, \\-Werror=\\fINAME\\fR, \\-Wno\\-error=\\fINAME\\fR\n"
                  "decide about one warning, or about all whose names begin with NAME and a dash; all, and a mere error, about every one.\n");
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
    for (uint32_t i = 0; i < n; i++) {
        out_text(out, ".SS ");
        troff(out, calls[i].name);
        out_char(out, '\n');
        troff(out, calls[i].summary);
        out_text(out, ".\n");
        if (calls[i].words) {
            troff(out, calls[i].words);
            out_text(out, ".\n");
        }
        if (*calls[i].details) {
            troff(out, calls[i].details);
            out_char(out, '\n');
        }
        page_options(run_options, run_options_count, calls[i].bit, out);
        page_options(own, n_options, calls[i].bit, out);
    }
    page_warnings(out);
    out_text(out, ".SH ENVIRONMENT\n.TP\n.B MDLPATH\nfolders in which packages are found, separated by colons\n.TP\n.B CC\nthe C compiler "
                  "that links simulators\n.TP\n.B NO_COLOR\nno colours in messages\n.SH EXIT STATUS\n0 fine, 1 the model is wrong, 2 wrong "
                  "usage, 3 the simulation failed, 4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
}
