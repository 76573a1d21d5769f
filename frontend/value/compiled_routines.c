// compiled_routines.c: the routines of a model: which functions have been compiled, for which types and sizes.
//
// Purpose: each combination is compiled once, and calls of itself find it. Method: a table by keys that their makers choose
// (run_time_call.c, external.c). Contract: expression_inner.h. Complexity: constant.
#include "frontend/value/expression_inner.h"

Routines *
routines_open(const Sources *sources, bool externals)
{
    Routines *routines = base_calloc(1, sizeof *routines);
    routines->sources = sources;
    routines->externals = externals;
    routines->arena = arena_create();
    return routines;
}

void
routines_close(Routines **place)
{
    if (!*place)
        return;
    arena_free(&(*place)->arena);
    map_free(&(*place)->of);
    vec_free(&(*place)->signatures);
    vec_free(&(*place)->open);
    free(*place);
    *place = NULL;
}

uint32_t *
routines_external_place(Routines *routines, Sym key, bool *known)
{
    uint32_t index;
    *known = map_get(&routines->of, key, &index);
    if (!*known) {
        index = routines->signatures.n;
        vec_push(&routines->signatures, (Signature){0});
        map_put(&routines->of, key, index);
    }
    return &routines->signatures.at[index].number;
}
