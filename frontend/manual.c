// manual.c: the manual page and shell completions, from the table of calls and options.
//
// Purpose: they cannot differ from what the program takes. Contract: manual.h. Complexity: calls times options.
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
    out_text(out, ".SH ENVIRONMENT\n.TP\n.B MDLPATH\nfolders in which packages are found, separated by colons\n.TP\n.B CC\nthe C compiler "
                  "that links simulators\n.TP\n.B NO_COLOR\nno colours in messages\n.SH EXIT STATUS\n0 fine, 1 the model is wrong, 2 wrong "
                  "usage, 3 the simulation failed, 4 internal fault, 5 a file could not be read or written, 130 interrupted.\n");
}

// --- completions

// Words of the options a call has, separated by blanks.
static void
option_words(const Option *options, uint32_t n, uint32_t call, Out *out)
{
    for (uint32_t i = 0; i < n; i++)
        if (options[i].calls & call)
            out_printf(out, " --%s", options[i].name);
}

// "prefix ida cvode ..." per option with a list of values.
static void
value_cases(const Option *options, uint32_t n, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (options[i].kind != OPTION_WORD)
            continue;
        out_printf(out, "        --%s) COMPREPLY=($(compgen -W \"", options[i].name);
        for (const char *c = options[i].value; *c; c++)
            out_char(out, *c == '|' ? ' ' : *c);
        out_text(out, "\" -- \"$word\")); return ;;\n");
    }
}

// "-Wunused -Wno-unused ...", or the same without the dash and the letter.
static void
warning_words(const char *dash, Out *out)
{
    static const char *const before[] = {"", "no-", "error="};
    out_printf(out, "%sall %sno-all %sunused %sno-unused %serror", dash, dash, dash, dash, dash);
    for (int k = 0; k < 3; k++)
        for (DiagCode code = 0; code < DIAG_COUNT; code++)
            if (diag_switch_once(code))
                out_printf(out, " %s%s%s", dash, before[k], diag_switch(code));
}

static void
bash_completions(Out *out)
{
    uint32_t n, n_options;
    const Call *calls = options_calls(&n);
    const Option *own = options_own(&n_options);
    out_text(out, "# bash completion for mdlc: source it, or put it into /etc/bash_completion.d\n_mdlc() {\n"
                  "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} call=${COMP_WORDS[1]}\n"
                  "    COMPREPLY=()\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (uint32_t i = 0; i < n; i++)
        out_printf(out, "%s ", calls[i].name);
    // Words end at `=`, too: --solver=<TAB> and --solver=c<TAB>.
    out_text(out, "--version\" -- \"$word\"))\n        return\n    fi\n"
                  "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                  "    [ \"$word\" != = ] || word=\n    case $before in\n");
    value_cases(run_options, run_options_count, out);
    value_cases(own, n_options, out);
    out_text(out, "    esac\n    if [ \"$COMP_CWORD\" = 2 ]; then\n        case $call in\n");
    for (uint32_t i = 0; i < n; i++)
        if (calls[i].words)
            out_printf(out, "        %s) COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); return ;;\n", calls[i].name, calls[i].words);
    // What these take is listed by themselves, a name at the beginning of each line.
    out_text(out, "        examples|explain) COMPREPLY=($(compgen -W \"$(mdlc \"$call\" 2>/dev/null | awk '/^ *[A-Za-z0-9_]+ /{ print $1 }')\""
                  " -- \"$word\")); return ;;\n        esac\n    fi\n    case $word in\n    -W*)\n        COMPREPLY=($(compgen -W \"");
    warning_words("-W", out);
    out_text(out, "\" -- \"$word\"))\n        return ;;\n    -*)\n        case $call in\n");
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "        %s) COMPREPLY=($(compgen -W \"", calls[i].name);
        option_words(run_options, run_options_count, calls[i].bit, out);
        option_words(own, n_options, calls[i].bit, out);
        out_text(out, "\" -- \"$word\")) ;;\n");
    }
    out_text(out, "        esac\n        return ;;\n    esac\n    COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
                  "complete -o filenames -F _mdlc mdlc\n");
}

static void
fish_quoted(Out *out, const char *text)
{
    out_char(out, '\'');
    for (const char *c = text; *c; c++)
        out_text(out, *c == '\'' ? "\\'" : *c == '\\' ? "\\\\" : (char[]){*c, '\0'});
    out_char(out, '\'');
}

static void
fish_options(const Option *options, uint32_t n, const Call *call, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const Option for_call = options_for(&options[i], call), *o = &for_call;
        if (!(o->calls & call->bit))
            continue;
        out_printf(out, "complete -c mdlc -n '__fish_seen_subcommand_from %s' -l %s", call->name, o->name);
        if (o->letter)
            out_printf(out, " -s %c", o->letter);
        if (o->kind == OPTION_WORD) {
            out_text(out, " -x -a '");
            for (const char *c = o->value; *c; c++)
                out_char(out, *c == '|' ? ' ' : *c);
            out_char(out, '\'');
        } else if (!strcmp(o->name, "warn")) {
            out_text(out, " -x -a '");
            warning_words("", out);
            out_char(out, '\'');
        } else if (o->kind != OPTION_FLAG && !o->optional) {
            out_text(out, " -r");
        }
        out_text(out, " -d ");
        fish_quoted(out, o->help);
        out_char(out, '\n');
    }
}

static void
fish_completions(Out *out)
{
    uint32_t n, n_options;
    const Call *calls = options_calls(&n);
    const Option *own = options_own(&n_options);
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "complete -c mdlc -n __fish_use_subcommand -a %s -d ", calls[i].name);
        fish_quoted(out, calls[i].summary);
        out_char(out, '\n');
        if (calls[i].words)
            out_printf(out, "complete -c mdlc -n '__fish_seen_subcommand_from %s' -a '%s'\n", calls[i].name, calls[i].words);
        fish_options(run_options, run_options_count, &calls[i], out);
        fish_options(own, n_options, &calls[i], out);
    }
}

bool
manual_completions(const char *shell, Out *out)
{
    if (!strcmp(shell, "bash") || !strcmp(shell, "zsh")) {
        if (*shell == 'z')
            out_text(out, "autoload -U +X bashcompinit && bashcompinit\n");
        bash_completions(out);
        return true;
    }
    if (strcmp(shell, "fish"))
        return false;
    fish_completions(out);
    return true;
}
