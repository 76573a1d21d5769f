// outer_class.c: outer classes.
//
// Purpose: `outer model B` names the class B that is declared `inner` in the nearest instance around (Modelica 3.6, section 5.4).
// Method: an instance of a class that declares outer classes is one of the same class with these replaced by what the instances
// around it declare (special.c): from there on lookup is that of any other class, also for nested classes, functions and packages.
// What was found is among the needs of the fragment (outer.c), so that it is shared only where the same would be found.
// Contract: fragment.h. Complexity: linear in the members of the class times the depth of nesting, once for each fragment.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

static bool
is_outer(const Elab *elab, uint32_t class_id)
{
    return class_id && (class_at(elab->program, class_id)->flags & (AST_F_INNER | AST_F_OUTER)) == AST_F_OUTER;
}

uint32_t
outer_class_inner(Elab *elab, Fragment *parent, Sym name, Fragment **frag)
{
    for (Fragment *at = parent; at; at = at->parent) {
        Found found = {0};
        if (scope_member(elab->program, at->class_id, name, &found) && found.class_id && found.member
            && (node_at(elab, found.member->node)->flags & AST_F_INNER)) {
            *frag = at;
            return found.class_id;
        }
    }
    return 0;
}

static void
report_missing(Elab *elab, uint32_t class_id)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    const char *name = name_of(elab, info->name), *kind = ast_class_kind_name((ClassKind)info->kind);
    Diag *diag = diag_add(elab->diags, E0127, node_at(elab, info->node)->span,
                          "'outer %s %s' has no inner class of this name in the components around it", kind, name);
    diag_help(diag, "declare 'inner %s %s' in the model", kind, name);
}

// One outer class: what it means, as a replacement and a need.
static bool
find_class(Elab *elab, Fragment *parent, uint32_t wanted, Replacements *list, Outers *needs)
{
    const ClassInfo *info = class_at(elab->program, wanted);
    Span span = node_at(elab, info->node)->span;
    Outer outer = {.name = info->name};
    Sym missing;
    outer.class_id = outer_class_inner(elab, parent, info->name, &outer.frag);
    if (!outer.class_id && ((info->flags & AST_F_INNER) || elab->program->part)) // it is the inner one itself; a part will have one
        return true;
    if (!outer.class_id) {
        report_missing(elab, wanted);
        return false;
    }
    if (!program_fits(elab->program, wanted, outer.class_id, &missing)) {
        Diag *diag = diag_add(elab->diags, E0128, span, "the inner class '%s' is no '%s', as this declaration asks for",
                              name_of(elab, class_at(elab->program, outer.class_id)->full_name), name_of(elab, info->name));
        diag_note(diag, node_at(elab, class_at(elab->program, outer.class_id)->node)->span, "the inner class");
        return false;
    }
    vec_push(list, ((Replacement){.name = info->name, .class_id = outer.class_id, .span = span}));
    vec_push(needs, outer);
    return true;
}

// `outer constant Real c` of a package that stands in the class: its value is that of the inner constant of the instances around, wherever the
// package asks for it. Without one it is an error where it is asked for (constant_value.c).
static bool
find_constants(Elab *elab, Fragment *parent, uint32_t package, Replacements *list, Outers *needs)
{
    const ClassInfo *info = class_at(elab->program, package);
    Replacements inside = {0};
    bool good = true;
    for (uint32_t i = 0; i < info->members.n && good; i++) {
        const ClassMember *member = &info->members.at[i];
        Outer outer;
        const Value *value;
        if (member->is_class || !(node_at(elab, member->line)->flags & AST_F_OUTER) || !outer_find(parent, member->name, &outer))
            continue;
        Span span = node_at(elab, member->node)->span;
        good = member_declare(elab, outer.frag, outer.inner);
        if (good && outer.inner->kind != VAR_CONSTANT) {
            Diag *diag = diag_add(elab->diags, E0128, span, "'inner %s' is no constant, as this declaration asks for", name_of(elab, member->name));
            diag_note(diag, outer.inner->span, "the inner element");
            good = false;
        }
        good = good && member_value(elab, outer.frag, outer.inner, span, &value);
        if (good)
            vec_push(&inside, ((Replacement){.name = member->name, .known = value, .span = span}));
        vec_push(needs, outer);
    }
    if (inside.n)
        vec_push(list, program_inside(elab->program, info->name, &inside, node_at(elab, info->node)->span));
    vec_free(&inside);
    return good;
}

static bool
find_classes(Elab *elab, uint32_t top, uint32_t class_id, Fragment *parent, Replacements *list, Outers *needs, uint32_t depth)
{
    bool good = true;
    if (scope_is_predefined(class_id) || depth > DEPTH_LIMIT)
        return true;
    scope_bases(elab->program, class_id);
    for (uint32_t i = 0; i < class_at(elab->program, class_id)->bases.n && good; i++)
        good = find_classes(elab, top, class_at(elab->program, class_id)->bases.at[i], parent, list, needs, depth + 1);
    for (uint32_t i = 0; i < class_at(elab->program, class_id)->members.n && good; i++) {
        const ClassMember *member = &class_at(elab->program, class_id)->members.at[i];
        Found found = {0};
        const ClassInfo *inside = member->is_class ? class_known(elab->program, member->class_id) : NULL;
        if (inside && inside->kind == CLASS_PACKAGE && inside->body && node_at(elab, inside->body)->kind == AST_BODY)
            good = find_constants(elab, parent, member->class_id, list, needs);
        if (!inside || !good || !(node_at(elab, member->node)->flags & AST_F_OUTER)
            || !scope_member(elab->program, top, member->name, &found) || !found.class_id
            || !(class_at(elab->program, found.class_id)->flags & AST_F_OUTER))
            continue;
        bool known = false;
        for (uint32_t k = 0; k < list->n; k++)
            known |= list->at[k].name == member->name;
        good = known || find_class(elab, parent, found.class_id, list, needs);
    }
    return good;
}

uint32_t
outer_classes(Elab *elab, uint32_t class_id, Fragment *parent, Outers *needs)
{
    Replacements list = {0};
    if (!elab->program->outer_classes)
        return class_id;
    bool good = find_classes(elab, class_id, class_id, parent, &list, needs, 0);
    if (list.n)
        class_id = program_specialise(elab->program, class_id, &list);
    vec_free(&list);
    return good ? class_id : 0;
}

bool
outer_class_refused(Elab *elab, uint32_t class_id, Span span)
{
    if (!is_outer(elab, class_id) || elab->program->part)
        return false;
    const ClassInfo *info = class_at(elab->program, class_id);
    Diag *diag = diag_add(elab->diags, E0127, span, "'%s' is an outer class, which means something inside components only",
                          name_of(elab, info->full_name));
    diag_note(diag, node_at(elab, info->node)->span, "declared here");
    return true;
}
