// Program: instruction lists to functions of the system.
//
// Purpose: order the instructions of a function such that equal shapes stand together and become loops.
// Method: an instruction's level is one more than the highest level of the instructions it reads from; within a level
// nothing depends on anything, so the level may be ordered freely: by shape, then by source order.
// Complexity: n log n for the sort, linear otherwise.
#include "ir/pass/lower.h"

#include <string.h>

typedef struct Key {
    uint32_t level, shape_rank, index;
} Key;

static int
compare_keys(const void *a, const void *b)
{
    const Key *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->shape_rank != y->shape_rank)
        return x->shape_rank < y->shape_rank ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void
sort_code(Lowering *low, Instr *code, uint32_t n)
{
    if (n < 3)
        return;
    U32Vec level = {0}; // per place, 1 + level of what computes it
    vec_grow(&level, low->nv);
    Map rank_of = {0};
    Key *keys = base_realloc(NULL, sizeof *keys * n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = expr_nslots(low->exprs, code[i].shape), highest = 0, rank;
        for (uint32_t k = 0; k < slots; k++) {
            uint32_t at = level.at[low->sys->places.at[code[i].row + k]];
            if (at > highest)
                highest = at;
        }
        level.at[code[i].dest] = highest + 1;
        if (!map_get(&rank_of, code[i].shape, &rank))
            map_put(&rank_of, code[i].shape, rank = rank_of.count);
        keys[i] = (Key){highest, rank, i};
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    Instr *sorted = base_realloc(NULL, sizeof *sorted * n);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = code[keys[i].index];
    memcpy(code, sorted, sizeof *code * n);
    free(sorted);
    free(keys);
    map_free(&rank_of);
    vec_free(&level);
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
