// locate.c: from places in the library to the user's components.
//
// Purpose: a message points at what the user wrote. Method: from the instance outward, until a declaration is not in the library.
// Contract: locate.h. Complexity: linear in the depth of the instance.
#include "ir/dae/locate.h"
#include "ir/base/diag.h"

uint32_t
locate_user_inst(const Dae *dae, uint32_t inst)
{
    while (inst && dae->insts.at[inst].parent != NONE
           && (!dae->insts.at[inst].span.hi || sources_in_library(dae->sources, dae->insts.at[inst].span.lo)))
        inst = dae->insts.at[inst].parent;
    return inst;
}

Span
locate_for_user(const Dae *dae, Span span, uint32_t inst)
{
    if (!span.hi || !sources_in_library(dae->sources, span.lo))
        return span;
    Span declaration = dae->insts.at[locate_user_inst(dae, inst)].span;
    return declaration.hi && !sources_in_library(dae->sources, declaration.lo) ? declaration : span;
}

uint32_t
locate_equation_inst(const Dae *dae, uint32_t equation)
{
    uint32_t node = dae->equations.at[equation].node;
    return node < dae->nodes.n ? dae->nodes.at[node].inst : 0;
}

bool
locate_print(const Dae *dae, Span span, uint32_t inst, Out *out)
{
    Place place;
    Span at = locate_for_user(dae, span, inst);
    if (!span_locate(dae->sources, at, &place))
        return false;
    out_printf(out, "%s:%u:%u", place.path, place.line, place.column);
    return true;
}

void
locate_move(const Dae *dae, Diag *diag, uint32_t inst)
{
    Span from = diag_span(diag), to = locate_for_user(dae, from, inst);
    if (to.lo == from.lo && to.hi == from.hi)
        return;
    diag_move(diag, to);
    diag_note(diag, from, "it is about this in the library");
}

uint32_t
locate_var_inst(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group ? group->inst : 0;
}

void
locate_owner(const Dae *dae, uint32_t inst, Out *out)
{
    const Inst *at = &dae->insts.at[inst];
    bool model = at->parent == NONE;
    out_text(out, model ? "the model '" : "component '");
    if (model)
        out_text(out, sym_text(dae->syms, at->name ? at->name : dae->name));
    else
        dae_inst_path(dae, inst, out);
    out_char(out, '\'');
    if (!model && at->class_name)
        out_printf(out, " (%s)", sym_text(dae->syms, at->class_name));
}

void
locate_equation(const Dae *dae, Span span, uint32_t inst, Out *out)
{
    if (locate_print(dae, span, inst, out))
        out_text(out, ": ");
    size_t before = out->length;
    dae_inst_path(dae, inst, out);
    if (out->length > before)
        out_text(out, ": ");
}
