// taken_apart.c: which connectors are connected by their elements instead of as a whole.
//
// Purpose: an expandable connector, one of whose parts a connect names, and what these are connected to, must be taken apart
// (expandable.c). All others stay whole, also those with connectors inside, so that they may have records and take part in the
// graph of overconstrained connectors. Method: union-find over the connects of all instances (Modelica 3.6, sections 9.1.3 and 9.2).
// Contract: link_inner.h. Complexity: almost linear in the connects.
#include "frontend/flatten/link_inner.h"
#include "ir/base/sets.h"

typedef struct Apart {
    U32Vec set_of;    // union-find over connectors
    U8Vec named;      // of a set: a connect names a part of one of them, or one is expandable
} Apart;

static bool
has_bus(const Fragment *frag)
{
    if (!frag || frag->is_expandable)
        return frag != NULL;
    for (uint32_t i = 0; i < frag->order.n; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        if (member->is_connector && member->is_component && member->count && has_bus(member->fragments[0]))
            return true;
    }
    return false;
}

static void
join_connect(Linker *linker, Apart *apart, const Fragment *frag, const Shift *shift, const FragConnect *connect)
{
    uint32_t a = global_connector(linker, frag, shift, connect->a), b = global_connector(linker, frag, shift, connect->b);
    bool a_whole = !connect->a_path, b_whole = !connect->b_path;
    if (!a_whole)
        apart->named.at[a] = 1;
    if (!b_whole)
        apart->named.at[b] = 1;
    if (is_structured(linker, a) && is_structured(linker, b))
        sets_join(&apart->set_of, a, b);
}

static void
join_connects(Linker *linker, Apart *apart, const Fragment *frag, Shift shift)
{
    for (uint32_t i = 0; i < frag->connects.n; i++)
        join_connect(linker, apart, frag, &shift, &frag->connects.at[i]);
    vec_push(&linker->around, (Around){frag, shift});
    uint32_t own = frag->order.n, all = own + (frag->of ? 0 : linker->elab->implicit.n);
    for (uint32_t i = 0; i < all; i++) {
        const Member *member = i < own ? &frag->members.at[frag->order.at[i]] : linker->elab->implicit.at[i - own];
        for (uint32_t e = 0; member->is_component && e < member->count; e++)
            join_connects(linker, apart, member->fragments[member->split ? e : 0], shift_of(&shift, member, e));
    }
    linker->around.n--;
}

void
find_taken_apart(Linker *linker, const Fragment *model)
{
    uint32_t n = linker->ports.n;
    Apart apart = {0};
    sets_grow(&apart.set_of, n);
    vec_grow(&apart.named, n);
    for (uint32_t c = 0; c < n; c++)
        apart.named.at[c] = has_bus(linker->ports.at[c]);
    join_connects(linker, &apart, model, (Shift){0});
    vec_grow(&linker->apart, n);
    for (uint32_t c = 0; c < n; c++)
        if (apart.named.at[c])
            linker->apart.at[sets_find(&apart.set_of, c)] = 1;
    for (uint32_t c = 0; c < n; c++)
        linker->apart.at[c] = linker->apart.at[sets_find(&apart.set_of, c)] && is_structured(linker, c);
    vec_free(&apart.set_of);
    vec_free(&apart.named);
}

bool
is_taken_apart(const Linker *linker, uint32_t connector)
{
    return linker->apart.at[connector];
}
