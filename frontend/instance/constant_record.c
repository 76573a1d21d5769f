// constant_record.c: records that are constants of packages, valued field by field.
//
// Purpose: `constant Data water(MM = 0.018)` and `constant Data[2] media(each T = 293, MM = {0.018, 0.028})` have the values that their
// modifications and the defaults of their fields make (Modelica 3.6, sections 4.4 and 7.2.5).
// Method: the constant is the one member of a fragment that stands for its package and is no part of the model; from there on it is
// a component like others. Only the field that is asked for is evaluated, so that one may depend on another: R = 8.31/water.MM.
// Contract: fragment.h. Complexity: linear in the fields, once for each constant.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

// Values of clauses belong to the array that the constant is, though no fragment is the scope that they stand in.
static void
distribute(Mod *mod, Fragment *giver)
{
    mod->giver = giver;
    for (uint32_t i = 0; i < mod->n; i++)
        distribute(mod->children[i], giver);
}

// What clauses that inherit the constant say of it, merged with what they modify, and at last with its declaration.
static Mod *
merge_replacements(Elab *elab, const Replacement *at, Fragment *home, Mod *own)
{
    Mod *mod = NULL;
    for (; at; at = at->under) {
        Mod *said;
        if (at->mods) {
            said = mod_child(mod_build(elab, 0, at->mods, NULL, at->scope, -1, at->span), at->name);
        } else {
            said = mod_make(elab, at->name, at->span, 0);
            said->value = at->value;
            said->class_id = at->scope;
        }
        distribute(said, home);
        mod = mod_merge(elab, mod, said);
    }
    return mod_merge(elab, mod, own);
}

static Fragment *
make_home(Elab *elab, uint32_t owner, const ClassMember *declared)
{
    Fragment *home = arena_new(elab->arena, Fragment);
    Span span = node_at(elab, declared->node)->span;
    home->class_id = owner;
    home->element = NONE;
    home->of_package = true;
    vec_push(&elab->fragments, home);
    Member member = {.name = declared->name, .line = declared->line, .node = declared->node, .class_id = owner, .scope = home,
                     .dims_node = declared->node, .dims_line = declared->line, .dims_class = owner, .dims_scope = home,
                     .flags = node_at(elab, declared->line)->flags, .span = span};
    Mod *own = mod_build(elab, declared->name, child_at(elab, declared->node, 1), home, owner, 0, span);
    own->final = (member.flags & AST_F_FINAL) != 0;
    member.mod = merge_replacements(elab, program_replacement(elab->program, owner, declared->name), home, own);
    map_put(&home->by_name, declared->name, 0);
    vec_push(&home->members, member);
    vec_push(&home->order, 0);
    return home;
}

Fragment *
constant_record(Elab *elab, uint32_t owner, const ClassMember *member)
{
    uint32_t index;
    uint64_t key = ((uint64_t)owner << 32) | member->node;
    if (!map_get(&elab->constant_home, key, &index)) {
        const Replacement *other = program_replacement(elab->program, owner, member->name);
        Node mods = child_at(elab, member->node, 1);
        bool whole = other ? other->value : mods && child_at(elab, mods, 0);
        bool by_fields = (node_at(elab, member->line)->flags & AST_F_CONSTANT) && !whole;
        uint32_t class_id = !by_fields ? 0 : scope_class_quietly(elab->program, owner, child_at(elab, member->line, 0));
        TypeUse use = {0};
        DiagsMark mark = diags_mark(elab->diags);
        bool record = class_id && !class_is_variable(elab, class_id) && type_use(elab, class_id, &use)
            && class_at(elab->program, use.class_id)->kind == CLASS_RECORD;
        vec_free(&use.dims);
        diags_return_to(elab->diags, mark); // whoever asks for the value finds the same
        index = record ? elab->fragments.n : NONE;
        map_put(&elab->constant_home, key, index);
        if (record)
            make_home(elab, owner, member);
    }
    return index == NONE ? NULL : elab->fragments.at[index];
}

// The elements of a variable that a path has led to.
static bool
known_variable(Elab *elab, const Target *target, Span span, Value *out)
{
    *out = (Value){.type = target->type, .count = target->n * target->m};
    out->type.rank = target->rank;
    memcpy(out->type.dims, target->dims, sizeof target->dims);
    out->elements = arena_array(elab->arena, Expr, out->count);
    for (uint32_t i = 0; i < target->n; i++) {
        const Value *whole;
        if (!member_value(elab, target->spots[i].frag, target->spots[i].member, span, &whole))
            return false;
        for (uint32_t k = 0; k < target->m; k++)
            out->elements[i * target->m + k] = whole->elements[target->offsets[k]];
    }
    return true;
}

bool
constant_record_value(Elab *elab, const Target *target, Span span, Value *out)
{
    if (target->kind == TARGET_VARIABLE)
        return known_variable(elab, target, span, out);
    Scope scope = {.structural = true};
    Reference reference = {0};
    if (!record_reference(elab, &scope, target, span, &reference))
        return false;
    *out = *reference.value;
    return true;
}
