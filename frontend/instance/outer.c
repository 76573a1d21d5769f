// outer.c: inner and outer elements.
//
// Purpose: what the name of an outer declaration refers to (Modelica 3.6, section 5.4): the element of the same
// name declared `inner` in the nearest instance around. Method: while a class is elaborated its fragment knows
// the instances around it, so the inner element's type and structural values are known at once; its place is
// not (the fragment is copied to many places), and references name (outer declaration, scalar), which the
// linker resolves through the instances around each copy. A fragment is shared between instances as long as
// all its outer declarations mean the same elements.
// Contract: fragment.h. Complexity: linear in outer declarations times the depth of nesting.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

static bool
hands_on(const Member *member)
{
    const uint32_t all = AST_F_INNER | AST_F_OUTER | AST_F_OUTPUT;
    return (member->flags & all) == all;
}

static bool
find_inner(Fragment *from, Sym name, Outer *out)
{
    for (Fragment *at = from; at; at = at->parent) {
        Member *member = fragment_member(at, name);
        if (member && (member->flags & AST_F_INNER) && !member->absent) {
            // What a state hands on to the states inside it is the variable further out (section 17.3.5).
            if (hands_on(member) && find_inner(at->parent, name, out))
                return true;
            *out = (Outer){.name = name, .frag = at, .inner = member};
            return true;
        }
    }
    return false;
}

bool
outer_find(Fragment *from, Sym name, Outer *out)
{
    return find_inner(from, name, out);
}

static bool
find_implicit(Elab *elab, Fragment *model, Sym name, Outer *out)
{
    for (uint32_t i = 0; i < elab->implicit.n; i++)
        if (elab->implicit.at[i]->name == name) {
            *out = (Outer){.name = name, .frag = model, .inner = elab->implicit.at[i], .implicit = true};
            return true;
        }
    return false;
}

// The text of annotation(missingInnerMessage = "...") of a class, or NULL.
static const char *
missing_message(Elab *elab, uint32_t class_id)
{
    const Ast *ast = &elab->program->ast;
    Node mods, text = ast_annotation(ast, elab->dae->syms, class_at(elab->program, class_id)->node, "missingInnerMessage", 0, &mods);
    return text && ast_kind(ast, text) == AST_STRING ? name_of(elab, ast_at(ast, text)->sym) : NULL;
}

static void
help_missing(Elab *elab, Diag *diag, uint32_t class_id, const char *name, const char *message)
{
    if (message)
        diag_help(diag, "%s", message);
    else
        diag_help(diag, "declare 'inner %s %s;' in the model",
                  name_of(elab, class_at(elab->program, class_id)->full_name), name);
}

// A model without the inner element gets one with default values, where the class alone says all there is to
// know (section 5.4).
static bool
make_implicit(Elab *elab, Fragment *frag, const Member *member, Outer *out)
{
    Fragment *model = frag;
    while (model->parent)
        model = model->parent;
    if (find_implicit(elab, model, member->name, out))
        return true;
    const char *name = name_of(elab, member->name);
    uint32_t class_id = scope_class(elab->program, member->class_id, child_at(elab, member->line, 0));
    if (!class_id)
        return false;
    const char *message = class_is_variable(elab, class_id) ? NULL : missing_message(elab, class_id);
    if (class_is_variable(elab, class_id) || (class_at(elab->program, class_id)->flags & AST_F_PARTIAL)
        || class_at(elab->program, class_id)->kind == CLASS_CONNECTOR) {
        Diag *diag = diag_add(elab->diags, E0127, member->span,
                              "'outer %s' has no inner element of this name in the components around it", name);
        help_missing(elab, diag, class_id, name, message);
        return false;
    }
    // What a part is used in will have one.
    if (!elab->program->part) {
        Diag *diag = diag_add(elab->diags, W1101, member->span,
                              "'outer %s' has no inner element of this name around it; "
                              "one with default values has been added to the model", name);
        help_missing(elab, diag, class_id, name, message);
    }
    Member *made = arena_new(elab->arena, Member);
    *made = (Member){.name = member->name, .line = member->line, .node = member->node,
                     .class_id = member->class_id, .span = member->span, .dims_node = member->node,
                     .dims_line = member->line, .dims_class = member->class_id,
                     .condition = child_at(elab, member->node, 2),
                     .flags = (member->flags & ~(uint32_t)AST_F_OUTER) | AST_F_INNER};
    vec_push(&elab->implicit, made);
    *out = (Outer){.name = member->name, .frag = model, .inner = made, .implicit = true};
    return true;
}

// Each public element of the outer declaration's class is one of the inner element's (sections 5.4 and 6.4).
static bool
check_inner(Elab *elab, const Member *member, const Member *inner)
{
    uint32_t wanted = scope_class(elab->program, member->class_id, child_at(elab, member->line, 0));
    Sym missing = 0;
    if (!wanted)
        return false;
    static const uint32_t fixed = AST_F_PARAMETER | AST_F_CONSTANT;
    uint32_t asked = member->flags & fixed, has = inner->flags & fixed;
    bool calmer = !asked || (has & AST_F_CONSTANT) || has == asked || sources_is_others(elab->program->sources, member->span.lo);
    if (!calmer) {
        Diag *diag = diag_add(elab->diags, E0128, member->span, "'inner %s' changes more often than a %s, as this declaration asks for",
                              name_of(elab, member->name), asked & AST_F_CONSTANT ? "constant" : "parameter");
        diag_note(diag, inner->span, "the inner element");
        return false;
    }
    if (program_fits(elab->program, wanted, inner->type_class, &missing))
        return true;
    const char *class_name = name_of(elab, class_at(elab->program, wanted)->full_name);
    Diag *diag = diag_add(elab->diags, E0128, member->span,
                          "'inner %s' has class '%s' and is no '%s', as this declaration asks for",
                          name_of(elab, member->name),
                          name_of(elab, class_at(elab->program, inner->type_class)->full_name), class_name);
    diag_note(diag, inner->span, "the inner element");
    if (missing)
        diag_help(diag, "it has no '%s'", name_of(elab, missing));
    return false;
}

// A part of the inner element asks for it while it is made: what it is, is known, and its members are declared one by one.
static bool
is_inside(const Fragment *frag, const Member *inner)
{
    if (inner->state != 1 || !inner->is_component || !inner->fragments || inner->type.rank)
        return false;
    while (frag && frag != inner->fragments[0])
        frag = frag->parent;
    return frag != NULL;
}

bool
outer_declare(Elab *elab, Fragment *frag, Member *member)
{
    Outer outer;
    const Mod *mod = member->mod;
    if (hands_on(member) && find_inner(frag->parent, member->name, &outer))
        member->flags &= ~(uint32_t)AST_F_INNER;
    if (!(member->flags & AST_F_INNER) && mod && (mod->value || mod->n)) {
        diag_add(elab->diags, E0128, mod->value || !mod->n ? mod->span : mod->children[0]->span,
                 "'outer %s' cannot be modified: it is declared elsewhere", name_of(elab, member->name));
        return false;
    }
    if (!find_inner(frag->parent, member->name, &outer)) {
        // `inner outer` in the model itself is the inner element only.
        if (!frag->parent && (member->flags & AST_F_INNER))
            return true;
        if (!make_implicit(elab, frag, member, &outer))
            return false;
    }
    if (!is_inside(frag, outer.inner) && !member_declare(elab, outer.frag, outer.inner))
        return false;
    if (!check_inner(elab, member, outer.inner))
        return false;
    vec_push(&frag->outers, outer);
    member->outer = frag->outers.n;
    vec_push(&frag->needs, outer);
    return true;
}

Spot
outer_element(const Outer *outer)
{
    return (Spot){outer->frag, outer->inner, 0 - outer->inner->first, 0 - outer->inner->first_inst,
                  0 - outer->inner->first_connector};
}

Spot
outer_spot(const Fragment *frag, const Member *member)
{
    return outer_element(&frag->outers.at[member->outer - 1]);
}

uint32_t
outer_pass_in(Fragment *frag, const Outer *outer)
{
    uint32_t i = 0;
    while (i < frag->outers.n && (frag->outers.at[i].inner != outer->inner || frag->outers.at[i].frag != outer->frag))
        i++;
    if (i == frag->outers.n)
        vec_push(&frag->outers, *outer);
    return i + 1;
}

Member *
outer_member(const Fragment *frag, const Extra *extra, Fragment **in, uint32_t *var)
{
    const Outer *outer = &frag->outers.at[extra->outer];
    Member *member = outer->inner;
    *in = outer->frag;
    *var = extra->var;
    if (!member->is_component)
        return member;
    uint32_t e = 0;
    while (member->split && e + 1 < member->count && *var >= member->fragments[e]->nvars)
        *var -= member->fragments[e++]->nvars;
    *in = member->fragments[e];
    if (!member->split && (*in)->nvars)
        *var %= (*in)->nvars;
    return member_of_var(in, var);
}

bool
outer_same(Elab *elab, const Fragment *frag, Fragment *parent)
{
    for (uint32_t i = 0; i < frag->needs.n; i++) {
        const Outer *need = &frag->needs.at[i];
        Outer found;
        if (need->home) {
            const Fragment *at = parent;
            while (at && at != need->frag)
                at = at->parent;
            if (!at)
                return false;
            continue;
        }
        if (need->class_id) {
            if (outer_class_inner(elab, parent, need->name, &found.frag) != need->class_id)
                return false;
            continue;
        }
        bool any = find_inner(parent, need->name, &found);
        if (need->implicit ? any : !any || found.inner != need->inner || found.frag != need->frag)
            return false;
    }
    return true;
}

static void
add_need(Fragment *frag, const Outer *need)
{
    bool known = need->frag == frag && !need->implicit;
    for (uint32_t k = 0; !known && k < frag->needs.n; k++)
        known = frag->needs.at[k].inner == need->inner && frag->needs.at[k].class_id == need->class_id
             && (!need->home || frag->needs.at[k].frag == need->frag);
    if (!known)
        vec_push(&frag->needs, *need);
}

void
outer_need(Fragment *frag, Fragment *parent, const Outer *need)
{
    add_need(frag, need);
    if (parent)
        add_need(parent, need);
}

void
outer_pass_on(Fragment *frag, const Fragment *part)
{
    for (uint32_t i = 0; i < part->needs.n; i++)
        add_need(frag, &part->needs.at[i]);
}

void
outer_place(Elab *elab, Fragment *model)
{
    uint64_t vars = model->nvars, insts = model->ninsts;
    for (uint32_t i = 0; i < elab->implicit.n; i++)
        if (elab->implicit.at[i]->state != 2 || !place_member(elab, model, elab->implicit.at[i], &vars, &insts))
            return;
    model->nvars = (uint32_t)vars;
    model->ninsts = (uint32_t)insts;
}

uint32_t
outer_connector(Fragment *frag, uint32_t outer, uint32_t connector)
{
    vec_push(&frag->outer_connectors, (OuterConnector){outer, connector});
    return (frag->outer_connectors.n - 1) | EXTRA_BIT;
}
