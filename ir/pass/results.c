// Results: the columns of the result table.
//
// Purpose: every variable by its full name, as sign and place of its representative. Constants, parameters
// that initialisation does not find, and derivatives are columns only when the user's regular expression asks for them.
#include "ir/pass/lower.h"

#include <regex.h>
#include <string.h>

typedef VEC(mdl_output) OutputVec;

static void
add_output(Lowering *low, Var var, const regex_t *filter, OutputVec *outputs, Out *name)
{
    name->length = 0;
    dae_var_name(low->dae, var, name);
    if (filter && regexec(filter, name->text, 0, NULL, 0))
        return;
    int sign;
    uint32_t place = place_of(low, var, &sign);
    mdl_output output = {arena_strndup(low->arena, name->text, name->length), place, sign,
                         (uint32_t)dae_type(low->dae, var)};
    if (dae_type(low->dae, var) == TYPE_ENUM)
        output.type = MDL_ENUM;
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
    OutputVec outputs = {0};
    Out name = {0};
    uint32_t groups = dae->groups.n;
    for (uint32_t i = 0; i < groups; i++) {
        const Group group = dae->groups.at[i];
        bool constant = group.kind == VAR_PARAMETER || group.kind == VAR_CONSTANT;
        if (group.flags & GROUP_HIDDEN || group.type == TYPE_STRING
            || (constant && !filtered && !(dae->var_flags.at[group.first] & VARF_FREE)))
            continue;
        for (Var var = group.first; var < group.first + group.count; var++)
            if (!(dae->var_flags.at[var] & VARF_REMOVED))
                add_output(low, var, filtered ? &filter : NULL, &outputs, &name);
    }
    // Derivatives are columns only when they are asked for by name.
    for (Var var = 0; filtered && var < dae->nvars; var++)
        if (dae->var_der_of.at[var] != NONE && !(dae->var_flags.at[var] & VARF_REMOVED)
            && !(dae_group(dae, var)->flags & GROUP_HIDDEN))
            add_output(low, var, &filter, &outputs, &name);
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
