// Results: the columns of the result table.
//
// Purpose: every variable by its full name, as sign and place of its representative. Constants, parameters
// that initialisation does not find, and derivatives are columns only when the user's regular expression asks for them.
#include "ir/pass/lower.h"

#include <regex.h>
#include <string.h>

typedef VEC(mdl_output) OutputVec;

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
add_output(Lowering *low, Var var, mdl_on_request on_request, const regex_t *filter, OutputVec *outputs, Out *name)
{
    name->length = 0;
    dae_var_name(low->dae, var, name);
    if (filter && regexec(filter, name->text, 0, NULL, 0))
        return;
    int sign;
    uint32_t place = place_of(low, var, &sign);
    mdl_output output = {arena_strndup(low->arena, name->text, name->length), place, sign,
                         (uint16_t)result_type(low, var), (uint16_t)on_request, declaration_of(low, var)};
    vec_push(outputs, output);
}

void
make_outputs(Lowering *low)
{
    Dae *dae = low->dae;
    regex_t filter;
    bool filtered = low->in->variables != NULL;
    if (filtered && regcomp(&filter, low->in->variables, REG_EXTENDED | REG_NOSUB))
        filtered = false; // the driver checks the expression and reports
    bool all = filtered || low->in->settable; // a simulator chooses when it runs
    OutputVec outputs = {0};
    Out name = {0};
    uint32_t groups = dae->groups.n;
    for (uint32_t i = 0; i < groups; i++) {
        const Group group = dae->groups.at[i];
        bool constant = group.kind == VAR_PARAMETER || group.kind == VAR_CONSTANT;
        bool on_request = constant && !(dae->var_flags.at[group.first] & VARF_FREE);
        if (group.flags & GROUP_HIDDEN || group.type == TYPE_STRING || (on_request && !all && !low->in->parameters))
            continue;
        for (Var var = group.first; var < group.first + group.count; var++)
            if (!(dae->var_flags.at[var] & VARF_REMOVED))
                add_output(low, var, on_request ? MDL_OUTPUT_PARAMETER : MDL_OUTPUT_ALWAYS, filtered ? &filter : NULL, &outputs, &name);
    }
    // Derivatives are columns only when they are asked for by name.
    for (Var var = 0; all && var < dae->nvars; var++)
        if (dae->var_der_of.at[var] != NONE && !(dae->var_flags.at[var] & VARF_REMOVED)
            && !(dae_group(dae, var)->flags & GROUP_HIDDEN))
            add_output(low, var, MDL_OUTPUT_DERIVATIVE, filtered ? &filter : NULL, &outputs, &name);
    if (filtered && !outputs.n) {
        Diag *diag = diag_add(low->diags, W1602, (Span){0}, "no variable's name matches '%s': the result has only the time",
                              low->in->variables);
        diag_help(diag, "--vars takes an extended regular expression, for instance --vars '^(body\\.s|body\\.v)$'");
    }
    mdl_output *table = arena_array(low->arena, mdl_output, outputs.n ? outputs.n : 1);
    if (outputs.n)
        memcpy(table, outputs.at, sizeof *table * outputs.n);
    low->sys->model->output = table;
    low->sys->model->n_outputs = outputs.n;
    vec_free(&outputs);
    out_free(&name);
    if (filtered)
        regfree(&filter);
}
