// shared_code.c: finds functions that differ only in the places they name.
//
// Purpose: equal components have functions of their own that differ in places only; one body is compiled for all of them.
// Method: the signature of a function is its shapes with their operands numbered by first occurrence of the
//   place. Functions are grouped by the hash of the signature and compared with the first of their group.
// Contract: within a function different numbers are different places, so the shared body may assume that its
//   columns do not overlap.  Complexity: linear in instructions and slots.
#include "backend/code/shared_code.h"

#include "ir/base/map.h"

enum { LONGEST_SHARED = 64, FEWEST_SHARING = 16 };

typedef struct Signer {
    const Sys *sys;
    SlotCounts *slots;
    Map number_of;    // place -> number
    U32Vec signature; // of the function at hand
    U32Vec places;    // its places by number
} Signer;

static void
sign_place(Signer *signer, uint32_t place)
{
    uint32_t number;
    if (!map_get(&signer->number_of, place, &number)) {
        number = signer->places.n;
        vec_push(&signer->places, place);
        map_put(&signer->number_of, place, number);
    }
    vec_push(&signer->signature, number);
}

static void
sign_function(Signer *signer, const Func *func)
{
    map_clear(&signer->number_of);
    vec_clear(&signer->signature);
    vec_clear(&signer->places);
    for (uint32_t i = func->first; i < func->first + func->count; i++) {
        const Instr *instr = &signer->sys->instrs.at[i];
        uint32_t slots = slot_count(signer->slots, signer->sys->exprs, instr->shape);
        vec_push(&signer->signature, instr->shape);
        sign_place(signer, instr->dest);
        for (uint32_t k = 0; k < slots; k++)
            sign_place(signer, signer->sys->places.at[instr->row + k]);
    }
}

static void
free_signer(Signer *signer)
{
    map_free(&signer->number_of);
    vec_free(&signer->signature);
    vec_free(&signer->places);
}

typedef struct Group {
    uint32_t leader, members;
    uint32_t signature, length; // range of the kept signatures
} Group;

typedef struct Groups {
    VEC(Group) at;
    U32Vec signatures;
    Map by_hash;
} Groups;

// The group of the signed function, new or known; SHARE_NONE when the hash belongs to another signature.
static uint32_t
find_group(Groups *groups, const Signer *signer, uint32_t f)
{
    uint32_t length = signer->signature.n, found;
    uint64_t hash = hash_bytes(signer->signature.at, length * sizeof(uint32_t));
    if (!map_get(&groups->by_hash, hash, &found)) {
        found = groups->at.n;
        vec_push(&groups->at, (Group){f, 0, groups->signatures.n, length});
        vec_append(&groups->signatures, signer->signature.at, length);
        map_put(&groups->by_hash, hash, found);
    }
    Group *group = &groups->at.at[found];
    if (group->length != length || memcmp(groups->signatures.at + group->signature, signer->signature.at,
                                          length * sizeof(uint32_t)) != 0)
        return SHARE_NONE;
    group->members++;
    return found;
}

void
share_find(Sharing *sharing, const Sys *sys, SlotCounts *slots)
{
    Signer signer = {.sys = sys, .slots = slots};
    Groups groups = {0};
    for (uint32_t f = 0; f < sys->funcs.n; f++) {
        const Func *func = &sys->funcs.at[f];
        uint32_t group = SHARE_NONE;
        vec_push(&sharing->table, sharing->places.n);
        if (func->count && func->count <= LONGEST_SHARED && sys->funcs.n >= FEWEST_SHARING) {
            sign_function(&signer, func);
            group = find_group(&groups, &signer, f);
        }
        if (group != SHARE_NONE)
            vec_append(&sharing->places, signer.places.at, signer.places.n);
        vec_push(&sharing->leader, group);
    }
    for (uint32_t f = 0; f < sys->funcs.n; f++) {
        uint32_t group = sharing->leader.at[f];
        if (group != SHARE_NONE)
            sharing->leader.at[f] = groups.at.at[group].members >= FEWEST_SHARING ? groups.at.at[group].leader
                                                                                  : SHARE_NONE;
    }
    vec_free(&groups.at);
    vec_free(&groups.signatures);
    map_free(&groups.by_hash);
    free_signer(&signer);
}

void
share_free(Sharing *sharing)
{
    vec_free(&sharing->leader);
    vec_free(&sharing->table);
    vec_free(&sharing->places);
}

void
share_pieces(Pieces *pieces, const Sys *sys, SlotCounts *slots, const Func *func)
{
    Signer signer = {.sys = sys, .slots = slots};
    *pieces = (Pieces){0};
    sign_function(&signer, func);
    for (uint32_t c = 0; c < signer.places.n; c++) {
        uint32_t place = signer.places.at[c];
        vec_push(&pieces->columns, (Column){.start = place, .lo = place, .hi = place});
    }
    const uint32_t *sign = signer.signature.at;
    for (uint32_t i = 0; i < func->count; i++) {
        uint32_t operands = 1 + slot_count(slots, sys->exprs, *sign++);
        vec_append(&pieces->operands, sign, operands);
        sign += operands;
    }
    vec_push(&pieces->segments, (Segment){.first = func->first, .period = func->count, .trips = 1,
                                          .n_columns = signer.places.n});
    free_signer(&signer);
}
