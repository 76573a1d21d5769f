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

// Names are few, since few equations are told: each is compared with those before.
const char *
locate_library_class(const Dae *dae, Span span, uint32_t inst)
{
    if (!span.hi || !sources_is_found(dae->sources, span.lo) || sources_in_library(dae->sources, span.lo))
        return NULL;
    Sym name = inst < dae->insts.n ? dae->insts.at[inst].class_name : 0;
    return sym_text(dae->syms, name ? name : dae->name);
}

void
locate_note_names(const Dae *dae, const uint32_t *equations, uint32_t n, Diag *diag)
{
    enum { NAMES = 32, NOTES = 4 };
    Var seen[NAMES];
    uint32_t n_seen = 0, notes = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = 0;
        const Var *row = dae_row(dae, equations[i], &slots);
        for (uint32_t k = 0; k < slots && n_seen < NAMES && notes < NOTES; k++) {
            bool negative, other_negative, known = false;
            Var of = dae_alias(dae, row[k], &negative), other = NONE;
            for (uint32_t j = 0; j < n_seen; j++) {
                known |= seen[j] == row[k];
                other = other == NONE && dae_alias(dae, seen[j], &other_negative) == of ? seen[j] : other;
            }
            if (known || !dae_group(dae, row[k]))
                continue;
            seen[n_seen++] = row[k];
            if (other == NONE)
                continue;
            Out name = {0}, other_name = {0};
            dae_alias(dae, other, &other_negative);
            dae_told_name(dae, row[k], &name);
            dae_told_name(dae, other, &other_name);
            diag_note(diag, (Span){0, 0}, "%s = %s%s follows from other equations", name.text, negative != other_negative ? "-" : "", other_name.text);
            out_free(&name);
            out_free(&other_name);
            notes++;
        }
    }
}
