// program.c: program: instruction lists to functions of the system.
//
// Purpose: order the instructions of a function such that equal shapes stand together and become loops.
// Method: an instruction's level is one more than the highest level of the instructions it reads from;
// within a level nothing depends on anything, so the level may be ordered freely: by shape, then by source
// order.
// Complexity: linear (two counting sorts).
// Contract: lower_inner.h.
#include "ir/expr/expr_parts.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

// One stable counting sort of `order` by key[order[i]].
static void
sort_by(const uint32_t *key, uint32_t keys, uint32_t *order, uint32_t *spare, uint32_t n)
{
    uint32_t *start = base_calloc((size_t)keys + 1, sizeof *start);
    for (uint32_t i = 0; i < n; i++)
        start[key[order[i]] + 1]++;
    for (uint32_t i = 0; i < keys; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < n; i++)
        spare[start[key[order[i]]]++] = order[i];
    memcpy(order, spare, sizeof *order * n);
    free(start);
}

void
sort_code(Lowering *low, Instr *code, uint32_t n)
{
    if (n < 3)
        return;
    PlaceMap *level_of = &low->scratch, *rank_of = &low->more_scratch; // of places, and of shapes
    uint32_t *level = base_realloc(NULL, sizeof *level * n * 4), *rank = level + n, *order = rank + n, *spare = order + n;
    uint32_t levels = 0;
    Instr *sorted = base_realloc(NULL, sizeof *sorted * n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = expr_nslots(low->exprs, code[i].shape), highest = 0, at;
        for (uint32_t k = 0; k < slots; k++)
            if (place_get(level_of, low->sys->places.at[code[i].row + k], &at) && at + 1 > highest)
                highest = at + 1;
        place_put(level_of, code[i].dest, highest);
        if (!place_get(rank_of, code[i].shape, &rank[i]))
            place_put(rank_of, code[i].shape, rank[i] = rank_of->used.n);
        level[i] = highest;
        order[i] = i;
        if (highest >= levels)
            levels = highest + 1;
    }
    sort_by(rank, rank_of->used.n, order, spare, n);
    sort_by(level, levels, order, spare, n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = code[order[i]];
    memcpy(code, sorted, sizeof *code * n);
    free(sorted);
    free(level);
    place_clear(rank_of);
    place_clear(level_of);
}

void
add_function(Lowering *low, const char *name, InstrVec *code, bool sort, mdl_code *at)
{
    if (!code->n)
        return;
    if (sort)
        sort_code(low, code->at, code->n);
    Func func = {arena_printf(low->arena, "%s", name), low->sys->instrs.n, code->n};
    vec_append(&low->sys->instrs, code->at, code->n);
    Fixup fixup = {at, low->sys->funcs.n};
    vec_push(&low->sys->funcs, func);
    vec_push(&low->sys->fixups, fixup);
}
