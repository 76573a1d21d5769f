// instance_restrictions.c: restrictions that types and sections decide.
//
// Purpose: connectors of blocks, flows of operator records and discrete variables are looked at where they have been declared (class_restrictions.c looks at the
// text alone).
// Method: none: a look at each member.
// Contract: fragment.h; reports, changes nothing. Complexity: linear in the members.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

// A block's connectors are signals: each of their variables is an input or an output (parameters are none of them). Connections say which those of an expandable one are (section 9.1.3).
void
check_block(Elab *elab, const Fragment *frag)
{
    const ClassInfo *info = class_at(elab->program, frag->class_id);
    for (uint32_t i = 0; info->kind == CLASS_BLOCK && i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        bool port = member->state == 2 && !member->absent && member->is_connector && !member->is_protected;
        if (!port || (member->flags & (AST_F_INPUT | AST_F_OUTPUT)))
            continue;
        bool signals = member->is_component;
        if (signals && member->fragments[0]->is_expandable)
            continue;
        for (uint32_t k = 0; signals && k < member->fragments[0]->members.n; k++)
            signals = (member->fragments[0]->members.at[k].flags & (AST_F_INPUT | AST_F_OUTPUT | AST_F_PARAMETER | AST_F_CONSTANT)) != 0;
        if (!signals)
            diag_add(elab->diags, E0131, member->span, "'%s' is a block: the variables of its connectors are inputs or outputs, "
                     "those of '%s' are not", name_of(elab, info->full_name), name_of(elab, member->name));
    }
}

// Flows of an operator record sum up to its zero, those of outside connectors with the other sign (section 9.2).
void
check_flows(Elab *elab, const Fragment *frag)
{
    static const char *const needed[] = {"'0'", "'+'", "'-'"};
    for (uint32_t i = 0; frag->is_connector && i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        if (!member_is_placed(member) || !member->is_component || !(member->flags & AST_F_FLOW))
            continue;
        uint32_t class_id = member->fragments[0]->class_id;
        bool operators = node_at(elab, class_at(elab->program, class_id)->node)->kind_of == CLASS_OPERATOR_RECORD;
        for (uint32_t k = 0; operators && k < 3; k++) {
            Found found;
            if (scope_member(elab->program, class_id, sym_of(elab->dae->syms, needed[k]), &found))
                continue;
            diag_add(elab->diags, E0204, member->span, "the flow '%s' is of the operator record '%s', which has no %s",
                     name_of(elab, member->name), name_of(elab, class_at(elab->program, class_id)->full_name), needed[k]);
            break;
        }
    }
}

// What is declared as a discrete Real is assigned by a when-equation of its class (section 4.5.3). What comes from elsewhere is left alone: inputs,
// what is connected, and elements that others share.
void
check_discrete(Elab *elab, const Fragment *frag)
{
    ClassKind kind = (ClassKind)class_at(elab->program, frag->class_id)->kind;
    bool whole = kind != CLASS_RECORD && kind != CLASS_CONNECTOR && kind != CLASS_TYPE && !frag->is_connector;
    for (uint32_t i = 0; whole && i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        bool own = member->line && (node_at(elab, member->line)->flags & AST_F_DISCRETE);
        if (!own || !member_is_placed(member) || member->is_component || member->is_connector || member->is_when || member->type.base != TYPE_REAL
            || (member->flags & (AST_F_INPUT | AST_F_INNER | AST_F_OUTER | AST_F_PARAMETER | AST_F_CONSTANT)) || !sources_is_strict(elab->program->sources, member->span.lo))
            continue;
        Diag *diag = diag_add(elab->diags, E0131, member->span, "'%s' is declared as discrete, and no when-equation assigns it", name_of(elab, member->name));
        diag_help(diag, "leave out 'discrete': a variable that follows from discrete ones changes at events only");
    }
}

static bool
has_inputs(const Fragment *frag)
{
    for (uint32_t i = 0; i < frag->members.n; i++) {
        const Member *port = &frag->members.at[i];
        if (!member_is_placed(port) || !port->is_connector || port->is_protected)
            continue;
        if (port->flags & AST_F_INPUT)
            return true;
        for (uint32_t k = 0; port->is_component && k < port->fragments[0]->members.n; k++)
            if (port->fragments[0]->members.at[k].flags & AST_F_INPUT)
                return true;
    }
    return false;
}

// Nobody knows who connects the inputs of what others see as an outer component (section 4.8).
void
check_shared(Elab *elab, const Fragment *frag)
{
    for (uint32_t i = 0; i < frag->members.n; i++) {
        const Member *member = &frag->members.at[i];
        bool shared = member_is_placed(member) && member->is_component && !member->is_connector && (member->flags & AST_F_INNER) && member->count;
        if (shared && sources_is_strict(elab->program->sources, member->span.lo) && has_inputs(member->fragments[0]))
            diag_add(elab->diags, E0131, member->span, "'%s' is an inner component: its class has no connectors with inputs, as '%s' has",
                     name_of(elab, member->name), name_of(elab, class_at(elab->program, member->fragments[0]->class_id)->full_name));
    }
}
