// Results: the columns of the result table.
//
// Purpose: every variable by its full name, as sign and place of its representative. Constants, parameters
// that initialisation does not find, and derivatives are columns only when the user's regular expression asks for them.
// Method: names are tried in pages, a line each: the expression runs over a page up to the next name that matches, instead of
// being set up for each of a million names that do not. Complexity: linear in the text of all names.
#include "ir/pass/lower.h"
#include "ir/paths.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

enum { PAGE = 1 << 16 };

// A name on the page.
typedef struct Line {
    Var var;
    mdl_on_request on_request;
    uint32_t begin;
} Line;

typedef struct Columns {
    Lowering *low;
    bool filtered, paged;    // paged: `filter` means the same on a page as on a line
    regex_t filter;
    Paths paths;
    Out page;
    VEC(Line) lines;
    VEC(mdl_output) outputs;
} Columns;

mdl_type
result_type(const Lowering *low, Var var)
{
    VarType type = dae_type(low->dae, var);
    return type == TYPE_ENUM ? MDL_ENUM : (mdl_type)type; // there are no texts among results
}

static const char *
text_or_null(const Lowering *low, Sym sym)
{
    return sym ? sym_text(low->dae->syms, sym) : NULL;
}

uint32_t
declaration_of(Lowering *low, Var var)
{
    Dae *dae = low->dae;
    const Group *group = dae_group(dae, var);
    if (!group)
        return 0;
    uint32_t index = (uint32_t)(group - dae->groups.at);
    if (low->declaration_of.n <= index)
        vec_grow(&low->declaration_of, dae->groups.n - low->declaration_of.n);
    if (low->declaration_of.at[index])
        return low->declaration_of.at[index] - 1;
    mdl_declaration declaration = {text_or_null(low, group->unit), text_or_null(low, group->display_unit),
                                   text_or_null(low, group->comment), 0, NULL};
    if (group->type == TYPE_ENUM) {
        uint32_t n = dae->dims.at[group->enum_literals];
        const char **literals = arena_array(low->arena, const char *, n);
        for (uint32_t i = 0; i < n; i++)
            literals[i] = sym_text(dae->syms, dae->dims.at[group->enum_literals + 1 + i]);
        declaration.n_literals = n;
        declaration.literal = literals;
    }
    vec_push(&low->declarations, declaration);
    low->declaration_of.at[index] = low->declarations.n;
    return low->declarations.n - 1;
}

static void
keep(Columns *columns, const Line *line, size_t end)
{
    Lowering *low = columns->low;
    int sign;
    uint32_t place = place_of(low, line->var, &sign);
    mdl_output output = {arena_strndup(low->arena, columns->page.text + line->begin, end - line->begin), place, sign,
                         (uint16_t)result_type(low, line->var), (uint16_t)line->on_request, declaration_of(low, line->var)};
    vec_push(&columns->outputs, output);
}

// Whether the expression is found in the page's text from `begin` to `end`; *at is where.
static bool
found(const Columns *columns, size_t begin, size_t end, size_t *at)
{
    regmatch_t match = {.rm_so = (regoff_t)begin, .rm_eo = (regoff_t)end};
    if (regexec(&columns->filter, columns->page.text, 1, &match, REG_STARTEND))
        return false;
    *at = (size_t)match.rm_so;
    return true;
}

static size_t
line_end(const Columns *columns, uint32_t i)
{
    return (i + 1 < columns->lines.n ? columns->lines.at[i + 1].begin : columns->page.length) - 1;
}

// Keeps what matches. A match may reach beyond its line, through a class of characters that has the end of line in it;
// the line alone decides.
static void
finish_page(Columns *columns)
{
    for (uint32_t i = 0; i < columns->lines.n; i++) {
        size_t begin = columns->lines.at[i].begin, at = begin, unused;
        if (columns->filtered && columns->paged) {
            if (!found(columns, begin, columns->page.length - 1, &at))
                break;
            while (line_end(columns, i) < at)
                i++;
        }
        begin = columns->lines.at[i].begin;
        if (!columns->filtered || found(columns, begin, line_end(columns, i), &unused))
            keep(columns, &columns->lines.at[i], line_end(columns, i));
    }
    columns->page.length = 0;
    vec_clear(&columns->lines);
}

static void
add_output(Columns *columns, Var var, mdl_on_request on_request)
{
    vec_push(&columns->lines, (Line){var, on_request, (uint32_t)columns->page.length});
    paths_var_name(&columns->paths, var, &columns->page);
    out_char(&columns->page, '\n');
    if (columns->page.length >= PAGE)
        finish_page(columns);
}

// An anchor to the whole text, and an end of line that is asked for, would look beyond the line.
static bool
means_the_same_on_a_page(const char *expression)
{
    for (const char *at = expression; *at; at++)
        if (*at == '\n' || (*at == '\\' && (isalnum((unsigned char)at[1]) || at[1] == '`' || at[1] == '\'')))
            return false;
    return true;
}

static void
begin_columns(Columns *columns, const char *expression)
{
    columns->filtered = expression && !regcomp(&columns->filter, expression, REG_EXTENDED | REG_NEWLINE);
    columns->paged = columns->filtered && means_the_same_on_a_page(expression);
}

static void
end_columns(Columns *columns)
{
    Lowering *low = columns->low;
    uint32_t n = columns->outputs.n;
    mdl_output *table = arena_array(low->arena, mdl_output, n ? n : 1);
    if (n)
        memcpy(table, columns->outputs.at, sizeof *table * n);
    low->sys->model->output = table;
    low->sys->model->n_outputs = n;
    vec_free(&columns->outputs);
    vec_free(&columns->lines);
    out_free(&columns->page);
    paths_free(&columns->paths);
    if (columns->filtered)
        regfree(&columns->filter);
}

static void
add_declared(Columns *columns, bool all)
{
    const Lowering *low = columns->low;
    const Dae *dae = low->dae;
    for (uint32_t i = 0, groups = dae->groups.n; i < groups; i++) {
        const Group *group = &dae->groups.at[i];
        bool constant = group->kind == VAR_PARAMETER || group->kind == VAR_CONSTANT;
        bool on_request = constant && !(dae->var_flags.at[group->first] & VARF_FREE);
        if (group->flags & GROUP_HIDDEN || group->type == TYPE_STRING || (on_request && !all && !low->in->parameters))
            continue;
        uint32_t end = group->first + group->count;
        for (Var var = group->first; var < end; var++)
            if (!(dae->var_flags.at[var] & VARF_REMOVED))
                add_output(columns, var, on_request ? MDL_OUTPUT_PARAMETER : MDL_OUTPUT_ALWAYS);
    }
}

// Derivatives are columns only when they are asked for by name.
static void
add_derivatives(Columns *columns)
{
    const Dae *dae = columns->low->dae;
    for (Var var = 0; var < dae->nvars; var++)
        if (dae->var_der_of.at[var] != NONE && !(dae->var_flags.at[var] & VARF_REMOVED)
            && !(dae_group(dae, var)->flags & GROUP_HIDDEN))
            add_output(columns, var, MDL_OUTPUT_DERIVATIVE);
}

void
make_outputs(Lowering *low)
{
    Columns columns = {.low = low, .paths = {.dae = low->dae}};
    begin_columns(&columns, low->in->variables); // the driver checks the expression and reports
    bool all = columns.filtered || low->in->settable; // a simulator chooses when it runs
    add_declared(&columns, all);
    if (all)
        add_derivatives(&columns);
    finish_page(&columns);
    if (columns.filtered && !columns.outputs.n) {
        Diag *diag = diag_add(low->diags, W1602, (Span){0}, "no variable's name matches '%s': the result has only the time",
                              low->in->variables);
        diag_help(diag, "--vars takes an extended regular expression, for instance --vars '^(body\\.s|body\\.v)$'");
    }
    end_columns(&columns);
}
