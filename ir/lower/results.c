// results.c: results: the columns of the result table.
//
// Purpose: every variable by its full name, as sign and place of its representative. Constants, parameters
// that initialisation does not find, and derivatives are columns only when the user's regular expression asks for them.
// Method: the expression is an automaton (filter.h) that has read the path of each instance once; only names that it finds are
// written. Complexity: linear in the instances and the variables of those whose names may still be found.
// Contract: lower_inner.h.
#include "ir/base/diag.h"
#include "ir/dae/filter.h"
#include "ir/dae/variable_paths.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

// What the filter knows when it has read "der(" so many times, and the path of each instance.
typedef struct Read {
    FilterState start;
    U32Vec inst;             // FilterState
} Read;

typedef struct Columns {
    Lowering *low;
    Filter *filter;          // NULL: all
    VEC(Read) read;          // per number of derivatives
    Paths paths;
    Out name;
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
    const uint32_t own = group->decl->units ? dae_element(dae, var) : 0, n_own = group->decl->units ? group->decl->count : 1;
    if (low->declaration_of.at[index])
        return low->declaration_of.at[index] - 1 + own;
    mdl_declaration declaration = {text_or_null(low, group->decl->unit), text_or_null(low, group->decl->display_unit),
                                   text_or_null(low, group->decl->comment), 0, NULL};
    if (group->decl->type == TYPE_ENUM) {
        uint32_t n = dae->dims.at[group->decl->enum_literals];
        const char **literals = arena_array(low->arena, const char *, n);
        for (uint32_t i = 0; i < n; i++)
            literals[i] = sym_text(dae->syms, dae->dims.at[group->decl->enum_literals + 1 + i]);
        declaration.n_literals = n;
        declaration.literal = literals;
    }
    low->declaration_of.at[index] = low->declarations.n + 1;
    for (uint32_t i = 0; i < n_own; i++) {
        if (group->decl->units)
            declaration.unit = text_or_null(low, dae->dims.at[group->decl->units - 1 + i]);
        vec_push(&low->declarations, declaration);
    }
    return low->declaration_of.at[index] - 1 + own;
}

static FilterState
read_name(Columns *columns, FilterState from)
{
    return filter_read(columns->filter, from, columns->name.text, columns->name.length);
}

// The filter's states behind the paths of all instances; each begins with its parent's.
static void
read_paths(Columns *columns, Read *read)
{
    const Dae *dae = columns->low->dae;
    vec_reserve(&read->inst, dae->insts.n);
    vec_push(&read->inst, read->start);
    for (uint32_t i = 1; i < dae->insts.n; i++) {
        FilterState state = read->inst.at[dae->insts.at[i].parent];
        if (state > FILTER_ASK) {
            columns->name.length = 0;
            dae_inst_name(dae, i, &columns->name);
            out_char(&columns->name, '.');
            state = read_name(columns, state);
        }
        vec_push(&read->inst, state);
    }
}

static const Read *
read_of(Columns *columns, uint32_t derivatives)
{
    while (columns->read.n <= derivatives) {
        Read read = {.start = columns->read.n ? filter_read(columns->filter, vec_last(&columns->read).start, "der(", 4)
                                              : filter_start(columns->filter)};
        if (read.start > FILTER_ASK)
            read_paths(columns, &read);
        vec_push(&columns->read, read);
    }
    return &columns->read.at[derivatives];
}

static FilterState
state_at(const Read *read, uint32_t inst)
{
    return read->start > FILTER_ASK ? read->inst.at[inst] : read->start;
}

// Whether a name is found that ends with this variable of the group, in front of so many ")".
static bool
wanted(Columns *columns, const Group *group, Var var, uint32_t derivatives)
{
    if (!columns->filter)
        return true;
    FilterState state = state_at(read_of(columns, derivatives), group->inst);
    if (state > FILTER_ASK) {
        columns->name.length = 0;
        dae_scalar_name(columns->low->dae, group, var - group->first, &columns->name);
        out_repeat(&columns->name, ')', derivatives);
        state = read_name(columns, state);
    }
    return state == FILTER_ASK || filter_ends(columns->filter, state);
}

static void
add_output(Columns *columns, Var var, mdl_on_request on_request)
{
    Lowering *low = columns->low;
    int sign;
    columns->name.length = 0;
    paths_var_name(&columns->paths, var, &columns->name);
    if (columns->filter && !filter_finds(columns->filter, columns->name.text))
        return;
    uint32_t place = place_of(low, var, &sign);
    mdl_output output = {arena_strndup(low->arena, columns->name.text, columns->name.length), place, sign,
                         (uint16_t)result_type(low, var), (uint16_t)on_request, declaration_of(low, var)};
    vec_push(&columns->outputs, output);
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
    for (uint32_t i = 0; i < columns->read.n; i++)
        vec_free(&columns->read.at[i].inst);
    vec_free(&columns->read);
    out_free(&columns->name);
    paths_free(&columns->paths);
    filter_free(&columns->filter);
}

static void
add_declared(Columns *columns, bool all)
{
    const Lowering *low = columns->low;
    const Dae *dae = low->dae;
    for (uint32_t i = 0, groups = dae->groups.n; i < groups; i++) {
        const Group *group = &dae->groups.at[i];
        bool constant = group->decl->kind == VAR_PARAMETER || group->decl->kind == VAR_CONSTANT;
        bool on_request = constant && group->decl->count && !(dae->var_flags.at[group->first] & VARF_FREE);
        if (group->decl->flags & GROUP_HIDDEN || group->decl->type == TYPE_STRING
            || (on_request && !all && !low->in->parameters))
            continue;
        if (columns->filter && state_at(read_of(columns, 0), group->inst) == FILTER_NEVER)
            continue;
        uint32_t end = group->first + group->decl->count;
        for (Var var = group->first; var < end; var++)
            if (!(dae->var_flags.at[var] & VARF_REMOVED) && wanted(columns, &dae->groups.at[i], var, 0))
                add_output(columns, var, on_request ? MDL_OUTPUT_PARAMETER : MDL_OUTPUT_ALWAYS);
    }
}

// Derivatives are columns only when they are asked for by name.
static void
add_derivatives(Columns *columns)
{
    const Dae *dae = columns->low->dae;
    if (columns->filter && read_of(columns, 1)->start == FILTER_NEVER)
        return;
    for (Var var = 0; var < dae->nvars; var++) {
        if (dae->var_der_of.at[var] == NONE || dae->var_flags.at[var] & VARF_REMOVED
            || dae_group(dae, var)->decl->flags & GROUP_HIDDEN)
            continue;
        uint32_t derivatives = 0; // few: index reduction bounds them
        Var of = var;
        for (; dae->var_der_of.at[of] != NONE; of = dae->var_der_of.at[of])
            derivatives++;
        if (wanted(columns, dae_group(dae, of), of, derivatives))
            add_output(columns, var, MDL_OUTPUT_DERIVATIVE);
    }
}

void
make_outputs(Lowering *low)
{
    Columns columns = {.low = low, .paths = {.dae = low->dae}};
    if (low->in->variables)
        columns.filter = filter_create(low->in->variables); // the driver checks the expression and reports
    bool all = columns.filter || low->in->settable; // a simulator chooses when it runs
    add_declared(&columns, all);
    if (all)
        add_derivatives(&columns);
    if (columns.filter && !columns.outputs.n) {
        Diag *diag = diag_add(low->diags, W1602, (Span){0}, "no variable's name matches '%s': the result has only the time",
                              low->in->variables);
        diag_help(diag, "--vars takes an extended regular expression, for instance --vars '^(body\\.s|body\\.v)$'");
    }
    end_columns(&columns);
}
