// sym.c: interned names.
//
// Purpose: equal names are equal numbers. Method: a hash map to the first of the names with that hash, which are chained; texts live in an
// arena.
// Contract: sym.h. Complexity: expected time linear in the length of the name.
#include "ir/base/sym.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/base/vec.h"

typedef struct Name {
    const char *text;
    uint32_t length;
    Sym next; // the next name with the same hash
} Name;

struct Syms {
    Arena *arena;
    Map first; // hash of the text -> newest name with that hash
    VEC(Name) names;
};

Syms *
syms_create(void)
{
    Syms *syms = base_calloc(1, sizeof *syms);
    syms->arena = arena_create();
    sym_make(syms, "", 0);
    return syms;
}

void
syms_free(Syms **syms)
{
    if (!*syms)
        return;
    arena_free(&(*syms)->arena);
    map_free(&(*syms)->first);
    vec_free(&(*syms)->names);
    free(*syms);
    *syms = NULL;
}

Sym
sym_make(Syms *syms, const char *text, size_t length)
{
    uint64_t hash = hash_bytes(text, length);
    uint32_t first = 0;
    bool seen = map_get(&syms->first, hash, &first);
    for (Sym at = first; seen; at = syms->names.at[at].next) {
        Name *name = &syms->names.at[at];
        if (name->length == length && !memcmp(name->text, text, length))
            return at;
        if (!name->next)
            break;
    }
    Name name = {arena_strndup(syms->arena, text, length), (uint32_t)length, seen ? first : 0};
    vec_push(&syms->names, name);
    map_put(&syms->first, hash, syms->names.n - 1);
    return syms->names.n - 1;
}

Sym
sym_of(Syms *syms, const char *text)
{
    return sym_make(syms, text, strlen(text));
}

const char *
sym_text(const Syms *syms, Sym sym)
{
    return syms->names.at[sym].text;
}

uint32_t
sym_length(const Syms *syms, Sym sym)
{
    return syms->names.at[sym].length;
}

uint32_t
sym_count(const Syms *syms)
{
    return syms->names.n;
}
