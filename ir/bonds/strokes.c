// strokes.c: causal strokes along an effort that several bonds share.
//
// Purpose: one effort may pass many bonds: a damper's force that a junction determines at one flange arrives
// at the junction on its other flange, where it is the damper that gives it.
// Method: breadth-first search along each alias class of efforts, from the bonds that end at the node which
// determines the class. A bond by which the component gives the effort makes the junction give it to its
// other bonds of the class; a bond by which the junction gives it makes the component give it to its other
// ports.
// Contract: after the direct strokes are set. Bonds that no such way reaches keep their stroke.
// Complexity: linear in bonds.
//
//     J1 sums to the force of `damper`     ->     J1 ---⇀| damper    J2 |--⇀ damper
#include "ir/bonds/bonds.h"

typedef struct Follow {
    Dae *dae;
    U32Vec first[2], next[2]; // bonds of one class at one junction (0), at one component (1): linked lists
    Map heads[2];             // (class, node) -> list
    U32Vec queue;
    U8Vec known;              // per bond: its stroke is final
} Follow;

static uint32_t
effort_class(const Dae *dae, uint32_t bond)
{
    bool negative;
    return dae_alias(dae, dae->bonds.at[bond].effort, &negative);
}

static uint64_t
list_key(const Dae *dae, uint32_t bond, int side)
{
    const Bond *at = &dae->bonds.at[bond];
    return (uint64_t)effort_class(dae, bond) << 32 | (side ? at->component : at->junction);
}

static void
enlist(Follow *follow, uint32_t bond, int side)
{
    uint32_t list;
    uint64_t key = list_key(follow->dae, bond, side);
    if (map_get(&follow->heads[side], key, &list)) {
        vec_push(&follow->next[side], follow->first[side].at[list]);
        follow->first[side].at[list] = bond;
        return;
    }
    map_put(&follow->heads[side], key, follow->first[side].n);
    vec_push(&follow->first[side], bond);
    vec_push(&follow->next[side], NONE);
}

static void
settle(Follow *follow, uint32_t bond, uint8_t effort_from)
{
    if (follow->known.at[bond])
        return;
    follow->known.at[bond] = 1;
    follow->dae->bonds.at[bond].effort_from = effort_from;
    vec_push(&follow->queue, bond);
}

// What the component gives (1) the junction hands on (2), and the other way round. A list is emptied when it
// is first walked, since all its bonds are settled then.
static void
hand_on(Follow *follow, uint32_t bond)
{
    uint8_t from = follow->dae->bonds.at[bond].effort_from;
    int side = from == 2;
    uint32_t list;
    if (!map_get(&follow->heads[side], list_key(follow->dae, bond, side), &list))
        return;
    for (uint32_t b = follow->first[side].at[list]; b != NONE; b = follow->next[side].at[b])
        settle(follow, b, from == 1 ? 2 : 1);
    follow->first[side].at[list] = NONE;
}

void
strokes_follow(Dae *dae, const U32Vec *node_of)
{
    Follow follow = {.dae = dae};
    vec_grow(&follow.known, dae->bonds.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        enlist(&follow, b, 0);
        enlist(&follow, b, 1);
        if (node_of->at[b] != NONE && (node_of->at[b] == bond->component || node_of->at[b] == bond->junction))
            settle(&follow, b, node_of->at[b] == bond->component ? 1 : 2);
    }
    for (uint32_t i = 0; i < follow.queue.n; i++)
        hand_on(&follow, follow.queue.at[i]);
    for (int side = 0; side < 2; side++) {
        vec_free(&follow.first[side]);
        vec_free(&follow.next[side]);
        map_free(&follow.heads[side]);
    }
    vec_free(&follow.queue);
    vec_free(&follow.known);
}
