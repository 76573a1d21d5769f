// places.c: where the variables of a fragment are.
//
// Purpose: every variable and instance of a class has a place among those of the class, and its parts have ranges of these. Method: in the order of declarations,
// but for what another size or condition needs early; a connector's variables are one range, in the same order in all connectors with the same names.
// Contract: fragment.h. Complexity: linear in the members, plus the elements of arrays that are split.
#include "frontend/instance/fragment.h"
#include "ir/base/diag.h"

static bool
place_component(Elab *elab, Fragment *frag, Member *member, uint64_t *vars, uint64_t *insts)
{
    member->first = (uint32_t)*vars;
    member->first_inst = (uint32_t)*insts;
    member->first_connector = frag->nconnectors;
    if (member->split)
        member->element_places = arena_array(elab->arena, uint32_t, 3 * (size_t)member->count);
    for (uint32_t e = 0; member->split && e < member->count; e++) {
        const Fragment *part = member->fragments[e];
        member->element_places[3 * e] = (uint32_t)*vars;
        member->element_places[3 * e + 1] = (uint32_t)*insts;
        member->element_places[3 * e + 2] = frag->nconnectors;
        *vars += part->nvars;
        *insts += part->ninsts;
        frag->nconnectors += part->nconnectors;
        if (!within_limit(elab, *vars + *insts, member->span))
            return false;
    }
    if (!member->split) {
        const Fragment *part = member->fragments[0];
        *vars += (uint64_t)part->nvars * member->count;
        *insts += (uint64_t)part->ninsts * member->count;
        if (!within_limit(elab, *vars + *insts, member->span))
            return false;
        frag->nconnectors += part->nconnectors * member->count;
    }
    return true;
}

bool
place_member(Elab *elab, Fragment *frag, Member *member, uint64_t *vars, uint64_t *insts)
{
    if (member->is_component)
        return place_component(elab, frag, member, vars, insts);
    member->first = (uint32_t)*vars;
    *vars += member->count;
    if (member->is_connector && !frag->is_connector) {
        member->first_inst = (uint32_t)*insts;
        member->first_connector = frag->nconnectors;
        *insts += member->count;
        frag->nconnectors += member->count;
    }
    return within_limit(elab, *vars + *insts, member->span);
}

bool
member_is_fixed(const Member *member)
{
    if (!member->is_component)
        return member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT;
    for (uint32_t e = 0; e < (member->split ? member->count : 1) && member->count; e++) {
        const Fragment *part = member->fragments[e];
        if (part->is_connector || !part->nvars)
            return false;
        for (uint32_t i = 0; i < part->order.n; i++)
            if (!member_is_fixed(&part->members.at[part->order.at[i]]))
                return false;
    }
    return member->count;
}

static bool
place_next(Elab *elab, Fragment *frag, Member *member)
{
    uint64_t vars = frag->nvars, insts = frag->ninsts;
    vec_push(&frag->order, (uint32_t)(member - frag->members.at));
    member->placed = true;
    if (!place_member(elab, frag, member, &vars, &insts))
        return false;
    frag->nvars = (uint32_t)vars;
    frag->ninsts = (uint32_t)insts;
    return true;
}

bool
place_early(Elab *elab, Fragment *frag, Member *member)
{
    return frag->placed || member->placed || place_next(elab, frag, member);
}

// --- the order of the elements of connectors

static bool
comes_first(const Fragment *frag, const Member *member)
{
    bool outer = (member->flags & (AST_F_INNER | AST_F_OUTER)) == AST_F_OUTER;
    return member->state == 2 && !member->absent && !outer && !(frag->is_connector && member_is_fixed(member));
}

// The names of a connector's variables, in any order, as a key.
static uint64_t
names_key(const Fragment *frag, uint32_t *n)
{
    uint64_t key = 0;
    *n = 0;
    for (uint32_t i = 0; i < frag->members.n; i++)
        if (comes_first(frag, &frag->members.at[i])) {
            key += hash_mix(frag->members.at[i].name);
            (*n)++;
        }
    return hash_add(key, *n);
}

static bool
place_as_known(Elab *elab, Fragment *frag, const Sym *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const Member *member = fragment_member(frag, names[i]);
        if (!member || member->placed || !comes_first(frag, member))
            return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!place_next(elab, frag, fragment_member(frag, names[i])))
            return false;
    return true;
}

// Connectors are connected place by place, and their elements have the names that they are connected by, whatever order these are declared in
// (section 9.3): all connectors with the same names have the order of the first one.
static void
place_by_name(Elab *elab, Fragment *frag)
{
    uint32_t n, index;
    uint64_t key = names_key(frag, &n);
    if (map_get(&elab->order_of_names, key, &index)) {
        place_as_known(elab, frag, elab->name_orders.at[index], n);
        return;
    }
    Sym *names = arena_array(elab->arena, Sym, n);
    n = 0;
    for (uint32_t i = 0; i < frag->members.n; i++)
        if (comes_first(frag, &frag->members.at[i]))
            names[n++] = frag->members.at[i].name;
    map_put(&elab->order_of_names, key, elab->name_orders.n);
    vec_push(&elab->name_orders, names);
}

// A connector's variables come first, so that they are one range; elsewhere the order is that of declaration, but for what had to be placed
// early.
void
place_members(Elab *elab, Fragment *frag)
{
    if (frag->is_connector && !frag->is_expandable)
        place_by_name(elab, frag);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < frag->members.n; i++) {
            Member *member = &frag->members.at[i];
            if (member->state != 2 || member->absent || member->placed || (frag->is_connector && member_is_fixed(member)) != (pass == 1))
                continue;
            if ((member->flags & (AST_F_INNER | AST_F_OUTER)) == AST_F_OUTER)
                continue;
            if (!place_next(elab, frag, member))
                return;
        }
    }
    frag->placed = true;
    if (frag->is_connector)
        frag->nconnectors = 1;
}
