// completions.c: shell completions, from the table of calls and options.
//
// Purpose: they cannot differ from what the program takes. Method: bash gets a function of words, zsh and fish what their own
//   completion systems describe options with, help texts included. Contract: manual.h. Complexity: calls times options.
#include "frontend/session/manual.h"

#include <string.h>

#include "frontend/session/command_line.h"
#include "ir/base/diag.h"

// What `mdlc examples` and `mdlc explain` list by themselves, a name at the beginning of each line.
#define LIST_NAMES " 2>/dev/null | awk '/^ *[A-Za-z0-9_]+ / && !/^mdlc/ { print $1 }'"

#define LIST_FISH " 2>/dev/null | string match -v 'mdlc*' | string match -r '^ *[A-Za-z0-9_]+ ' | string trim"

typedef enum Takes { TAKES_FILES, TAKES_WORDS, TAKES_WORD_AND_FILE, TAKES_CALLS, TAKES_LISTED, TAKES_NOTHING } Takes;

// What stands behind a call, apart from options.
static Takes
takes(const Call *call)
{
    static const struct { const char *name; Takes takes; } others[] = {
        {"help", TAKES_CALLS}, {"examples", TAKES_LISTED}, {"explain", TAKES_LISTED}, {"new", TAKES_NOTHING}, {"man", TAKES_NOTHING},
        {"show", TAKES_WORD_AND_FILE},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(call->name, others[i].name))
            return others[i].takes;
    return call->words ? TAKES_WORDS : TAKES_FILES;
}

static void
call_names(Out *out)
{
    uint32_t n;
    const Call *calls = options_calls(&n);
    for (uint32_t i = 0; i < n; i++)
        out_printf(out, i ? " %s" : "%s", calls[i].name);
}

// Words with blanks between them.
static void
value_words(const Option *option, Out *out)
{
    for (const char *c = option->value; *c; c++)
        out_char(out, *c == '|' ? ' ' : *c);
}

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
        value_words(&options[i], out);
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
    call_names(out);
    // Words end at `=`, too: --solver=<TAB> and --solver=c<TAB>.
    out_text(out, " --version\" -- \"$word\"))\n        return\n    fi\n"
                  "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                  "    [ \"$word\" != = ] || word=\n    case $before in\n");
    value_cases(run_options, run_options_count, out);
    value_cases(own, n_options, out);
    out_text(out, "    esac\n    if [ \"$COMP_CWORD\" = 2 ]; then\n        case $call in\n");
    for (uint32_t i = 0; i < n; i++) {
        if (takes(&calls[i]) == TAKES_FILES)
            continue;
        out_printf(out, "        %s) COMPREPLY=($(compgen -W \"", calls[i].name);
        if (takes(&calls[i]) == TAKES_LISTED)
            out_printf(out, "$(mdlc %s" LIST_NAMES ")", calls[i].name);
        if (takes(&calls[i]) == TAKES_CALLS)
            call_names(out);
        out_printf(out, " %s\" -- \"$word\")); return ;;\n", calls[i].words ? calls[i].words : "");
    }
    out_text(out, "        esac\n    fi\n    case $word in\n    -W*)\n        COMPREPLY=($(compgen -W \"");
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

// In single quotes, with what the shell takes for more than itself there, and `also`, behind backslashes.
static void
quoted(Out *out, const char *text, const char *also, const char *quote)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'') {
            out_text(out, quote);
        } else {
            if (strchr(also, *c))
                out_char(out, '\\');
            out_char(out, *c);
        }
    }
}

// --- zsh

static void
zsh_text(Out *out, const char *text)
{
    quoted(out, text, "[]:\\", "'\\''");
}

// One argument of _arguments: '(-o --output)'{-o+,--output=}'[help]:FILE:_files'
static void
zsh_option(const Option *option, const Call *call, Out *out)
{
    const Option for_call = options_for(option, call), *o = &for_call;
    if (!(o->calls & call->bit))
        return;
    bool flag = o->kind == OPTION_FLAG, warn = !strcmp(o->name, "warn");
    bool again = warn || !strcmp(o->name, "set") || !strcmp(o->name, "path") || !strcmp(o->name, "limit") || !strcmp(o->name, "tube");
    const char *sign = flag ? "" : o->optional ? "=-" : "=";
    out_text(out, " \\\n        ");
    if (o->letter && again)
        out_printf(out, "'*'{-%c+,--%s%s}'[", o->letter, o->name, sign);
    else if (o->letter)
        out_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter, flag ? "" : "+", o->name, sign);
    else
        out_printf(out, "'%s--%s%s[", again ? "*" : "", o->name, sign);
    zsh_text(out, o->help);
    out_char(out, ']');
    if (!flag) {
        out_text(out, o->optional ? "::" : ":");
        zsh_text(out, o->kind == OPTION_WORD ? o->name : o->value);
        out_char(out, ':');
    }
    if (o->kind == OPTION_WORD || warn) {
        out_char(out, '(');
        if (warn)
            warning_words("", out);
        else
            value_words(o, out);
        out_char(out, ')');
    } else if (!flag) {
        out_text(out, !strcmp(o->name, "output") ? "_files" : !strcmp(o->name, "path") ? "_files -/" : " ");
    }
    out_char(out, '\'');
}

static void
zsh_rest(const Call *call, Out *out)
{
    Takes what = takes(call);
    if (what == TAKES_WORDS || what == TAKES_WORD_AND_FILE || what == TAKES_CALLS) {
        out_text(out, " \\\n        '1:what:(");
        if (what == TAKES_CALLS)
            call_names(out);
        out_printf(out, "%s%s)'", what == TAKES_CALLS ? " " : "", call->words ? call->words : "");
    }
    if (what == TAKES_LISTED)
        out_printf(out, " \\\n        \"1:name:($(mdlc %s" LIST_NAMES "))\"", call->name);
    if (what == TAKES_FILES || what == TAKES_WORD_AND_FILE)
        out_text(out, " \\\n        '*:file:_files'");
}

static void
zsh_completions(Out *out)
{
    uint32_t n, n_options;
    const Call *calls = options_calls(&n);
    const Option *own = options_own(&n_options);
    out_text(out, "#compdef mdlc\n# zsh completion for mdlc: put it as _mdlc into a folder of $fpath\n_mdlc() {\n    local -a calls\n    calls=(\n");
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "        '%s:", calls[i].name);
        quoted(out, calls[i].summary, ":\\", "'\\''");
        out_text(out, "'\n");
    }
    out_text(out, "    )\n    if (( CURRENT == 2 )); then\n        _describe -t calls call calls\n        return\n    fi\n"
                  "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "    %s) _arguments -s -S", calls[i].name);
        for (uint32_t k = 0; k < run_options_count; k++)
            zsh_option(&run_options[k], &calls[i], out);
        for (uint32_t k = 0; k < n_options; k++)
            zsh_option(&own[k], &calls[i], out);
        zsh_rest(&calls[i], out);
        out_text(out, " ;;\n");
    }
    out_text(out, "    esac\n}\nif [ \"$funcstack[1]\" = _mdlc ]; then _mdlc \"$@\"; else compdef _mdlc mdlc; fi\n");
}

// --- fish

static void
fish_quoted(Out *out, const char *text)
{
    out_char(out, '\'');
    quoted(out, text, "\\", "\\'");
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
            value_words(o, out);
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

// Files are offered by themselves unless `-f` says otherwise: in place of a call, and of the word behind some calls.
static void
fish_rest(const Call *call, Out *out)
{
    Takes what = takes(call);
    if (what == TAKES_FILES)
        return;
    out_printf(out, "complete -c mdlc -n '__fish_seen_subcommand_from %s", call->name);
    if (what == TAKES_WORDS || what == TAKES_WORD_AND_FILE)
        out_printf(out, "; and not __fish_seen_subcommand_from %s", call->words);
    out_text(out, "' -f");
    if (what == TAKES_LISTED) {
        out_printf(out, " -a \"(mdlc %s" LIST_FISH ")\"", call->name);
    } else if (what != TAKES_NOTHING) {
        out_text(out, " -a '");
        if (what == TAKES_CALLS)
            call_names(out);
        out_printf(out, " %s'", call->words ? call->words : "");
    }
    out_char(out, '\n');
}

static void
fish_completions(Out *out)
{
    uint32_t n, n_options;
    const Call *calls = options_calls(&n);
    const Option *own = options_own(&n_options);
    out_text(out, "complete -c mdlc -n __fish_use_subcommand -f\n");
    for (uint32_t i = 0; i < n; i++) {
        out_printf(out, "complete -c mdlc -n __fish_use_subcommand -a %s -d ", calls[i].name);
        fish_quoted(out, calls[i].summary);
        out_char(out, '\n');
        fish_rest(&calls[i], out);
        fish_options(run_options, run_options_count, &calls[i], out);
        fish_options(own, n_options, &calls[i], out);
    }
}

bool
manual_completions(const char *shell, Out *out)
{
    static const struct { const char *name; void (*print)(Out *out); } shells[] = {
        {"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions},
    };
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(shell, shells[i].name)) {
            shells[i].print(out);
            return true;
        }
    return false;
}
