// variable_paths.c: names of variables in the order of the model. See variable_paths.h.
//
// Purpose: names in the order of the model are written without climbing from each variable to the root.
// Method: a stack of the instances whose paths are prefixes of the text; one that is not among them is reached from its
// nearest ancestor that is. Complexity: amortised constant per name for variables in the order of the instances, else
// linear in the depth.
// Contract: variable_paths.h.
#include "ir/dae/variable_paths.h"

static void
go_to(Paths *paths, uint32_t inst)
{
    const Dae *dae = paths->dae;
    uint32_t way[256], n = 0; // as deep as components nest
    for (; dae->insts.at[inst].parent != NONE && n < 256; inst = dae->insts.at[inst].parent) {
        while (paths->parts.n && vec_last(&paths->parts).inst > inst)
            vec_drop(&paths->parts); // an instance comes after those around it
        if (paths->parts.n && vec_last(&paths->parts).inst == inst)
            break;
        way[n++] = inst;
    }
    if (dae->insts.at[inst].parent == NONE)
        vec_clear(&paths->parts);
    paths->text.length = paths->parts.n ? vec_last(&paths->parts).length : 0;
    while (n-- > 0) {
        dae_inst_name(dae, way[n], &paths->text);
        out_char(&paths->text, '.');
        vec_push(&paths->parts, (PathPart){way[n], (uint32_t)paths->text.length});
    }
}

static void
print_path(Paths *paths, uint32_t inst, Out *out)
{
    go_to(paths, inst);
    out_bytes(out, paths->text.text ? paths->text.text : "", paths->text.length);
}

void
paths_group_name(Paths *paths, const Group *group, Out *out)
{
    print_path(paths, group->inst, out);
    out_text(out, sym_text(paths->dae->syms, group->decl->name));
}

void
paths_var_name(Paths *paths, Var var, Out *out)
{
    const Dae *dae = paths->dae;
    double value;
    if (dae->var_group.at[var] == NONE) {
        bool der = dae->var_der_of.at[var] != NONE;
        out_text(out, der ? "der(" : "pre(");
        // Derivatives of derivatives are few levels deep: index reduction bounds them.
        paths_var_name(paths, der ? dae->var_der_of.at[var] : dae->var_pre_of.at[var], out);
        out_char(out, ')');
        return;
    }
    if (dae_is_literal(dae, var, &value)) {
        out_number(out, value);
        return;
    }
    const Group *group = &dae->groups.at[dae->var_group.at[var]];
    print_path(paths, group->inst, out);
    dae_scalar_name(dae, group, var - group->first, out);
}

void
paths_free(Paths *paths)
{
    out_free(&paths->text);
    vec_free(&paths->parts);
}
