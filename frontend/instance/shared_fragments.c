// shared_fragments.c: fragments that components share although each has a modification of its own.
//
// Purpose: `Cell c1(p = 1.01); Cell c2(p = 1.02);` differ in a value only, which the fragment around them gives to the
// parameter (bind.c); the class is elaborated once. Method: a modification of literals has two keys. In the first, numbers
// for which only their places count: it finds a fragment in which none of these was asked for at compile time (no size,
// condition or final value depends on it). In the second all literals count: it finds a fragment with the same values.
// A value that is asked for later from outside, as in `Real y[c2.n]`, gives the component a fragment of its own first,
// with the same places. Contract: fragment.h. Complexity: linear in the modification.
#include "frontend/instance/fragment.h"

#include <string.h>

// Attributes are part of the first key, too: sections of the class may read them.
static bool
is_attribute(const Elab *elab, Sym name)
{
    static const char *const attributes[] = {"start", "fixed", "min", "max", "stop", "nominal", "unit", "displayUnit", "quantity"};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (!strcmp(name_of(elab, name), attributes[i]))
            return true;
    return false;
}

// A number with its sign, or a text, or true or false; *number: it is the first. Adds it to *hash.
static bool
literal(const Elab *elab, Node node, bool *number, uint64_t *hash)
{
    const AstNode *at = node_at(elab, node);
    uint64_t sign = 0;
    if (at->kind == AST_UNARY && node_at(elab, child_at(elab, node, 0))->kind == AST_NUMBER) {
        sign = at->kind_of + 1u;
        at = node_at(elab, child_at(elab, node, 0));
    }
    *number = at->kind == AST_NUMBER;
    if (!*number && at->kind != AST_STRING && at->kind != AST_BOOL)
        return false;
    *hash = hash_add(hash_add(*hash, sign << 8 | at->kind), at->kind == AST_BOOL ? at->flags & AST_F_TRUE : at->sym);
    return true;
}

// A number that the fragment around the component gives to what need not know it.
static bool
is_open(const Elab *elab, const Mod *mod)
{
    return mod->frag && !mod->final && !mod->n && !is_attribute(elab, mod->name);
}

static bool
add_element(const Elab *elab, const Mod *mod, bool exact, uint64_t *key)
{
    if (mod->from_outside || mod->overruled || mod->redeclared || mod->line || mod->n_fields)
        return false;
    bool number = false;
    uint64_t value = 0;
    if (mod->value && !literal(elab, mod->value, &number, &value))
        return false;
    if (number && !exact && is_open(elab, mod))
        value = 1;
    uint64_t bits = (uint64_t)mod->n << 4 | (uint64_t)(mod->frag != NULL) << 2 | (uint64_t)mod->final << 1 | mod->each;
    *key = hash_add(hash_add(hash_add(*key, mod->name), (uint64_t)(uint32_t)mod->levels << 32 | bits), value);
    for (uint32_t i = 0; i < mod->n; i++)
        if (!add_element(elab, mod->children[i], exact, key))
            return false;
    return true;
}

bool
share_key(const Elab *elab, const Mod *mod, bool exact, uint64_t *key)
{
    bool literals = !mod->value && !mod->redeclared && !mod->line && !mod->final;
    for (uint32_t i = 0; i < mod->n && literals; i++)
        literals = add_element(elab, mod->children[i], exact, key);
    return literals;
}

bool
share_is_open(const Elab *elab, Fragment *frag, const Mod *mod)
{
    for (uint32_t i = 0; i < mod->n; i++) {
        const Mod *child = mod->children[i];
        Member *member = fragment_member(frag, child->name);
        if (!member || member->state != 2 || member->absent)
            return false;
        if (member->is_component) {
            if (child->value || member->split || !share_is_open(elab, member->fragments[0], child))
                return false;
            continue;
        }
        uint64_t unused = 0;
        bool number = false;
        if (!child->value || !literal(elab, child->value, &number, &unused) || !number || !is_open(elab, child))
            continue;
        if (member->kind != VAR_PARAMETER || member->type.base != TYPE_REAL || member->type.rank || member->evaluate
            || member->value_state || member->evaluated == 3)
            return false;
    }
    return true;
}

bool
share_may_differ(const Member *member)
{
    return member->shares || (member->type.rank && !member->split && member->mod && (member->mod->n || member->mod->value));
}

// One element of an array whose elements have the same structure: only its values are looked at.
static Fragment *
element_alone(Elab *elab, Fragment *frag, Member *member, uint32_t e)
{
    const Fragment *shared = member->fragments[0];
    if (!member->alone)
        member->alone = arena_array(elab->arena, Fragment *, member->count);
    if (!member->alone[e])
        member->alone[e] = fragment_make(elab, shared->class_id, member->mod, frag, member, e, shared->prefix);
    return member->alone[e];
}

// The component's fragment, before something is asked of it that may differ between those that share it.
Fragment *
share_own(Elab *elab, Fragment *frag, Member *member, uint32_t e)
{
    if (member->type.rank && share_may_differ(member))
        return element_alone(elab, frag, member, e);
    if (!member->shares)
        return member->fragments[member->split ? e : 0];
    member->shares = false;
    const Fragment *shared = member->fragments[0];
    return member->fragments[0] = fragment_make(elab, shared->class_id, member->mod, frag, member, NONE, shared->prefix);
}
