// texts.c: see texts.h.
//
// Purpose: Strings that change are held as numbers in v, like all other values. Method: each text is kept once, found by hashing (FNV-1a,
// chained, doubling); texts are never given back, so that a number means the same text as long as the run lasts.
// Contract: texts.h. Complexity: linear in the length of a text.
#include "runtime/model/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/model.h"
#include "runtime/model/template.h"

enum { ROOM = 256 << 20 }; // bytes of all texts

typedef struct Entry {
    char *text;
    uint64_t hash;
    uint32_t next; // number + 1 of the next one in the same chain
} Entry;

struct mdl_texts {
    Entry *entries;
    uint32_t n, capacity;
    uint32_t *chains; // number + 1 of the first, as many as the capacity
    size_t bytes;
    mdl_objects *objects; // NULL: none yet
};

static uint64_t
hash_of(const char *text)
{
    uint64_t hash = 1469598103934665603u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static void
link_entry(mdl_texts *texts, uint32_t i)
{
    uint32_t *chain = &texts->chains[texts->entries[i].hash & (texts->capacity - 1)];
    texts->entries[i].next = *chain;
    *chain = i + 1;
}

static int
grow(mdl_texts *texts)
{
    uint32_t capacity = texts->capacity ? 2 * texts->capacity : 16;
    Entry *entries = realloc(texts->entries, capacity * sizeof *entries);
    if (entries)
        texts->entries = entries;
    uint32_t *chains = entries ? calloc(capacity, sizeof *chains) : NULL;
    if (!chains)
        return 0;
    free(texts->chains);
    texts->chains = chains;
    texts->capacity = capacity;
    for (uint32_t i = 0; i < texts->n; i++)
        link_entry(texts, i);
    return 1;
}

static double
add(mdl_texts *texts, const char *text, uint64_t hash)
{
    size_t size = strlen(text) + 1;
    if (size > ROOM - texts->bytes || (texts->n == texts->capacity && !grow(texts)))
        return NAN;
    char *own = malloc(size);
    if (!own)
        return NAN;
    memcpy(own, text, size);
    texts->entries[texts->n] = (Entry){.text = own, .hash = hash};
    link_entry(texts, texts->n);
    texts->bytes += size;
    return texts->n++;
}

double
mdl_text_number(mdl_texts *texts, const char *text)
{
    uint64_t hash = hash_of(text);
    uint32_t at = texts->capacity ? texts->chains[hash & (texts->capacity - 1)] : 0;
    while (at && (texts->entries[at - 1].hash != hash || strcmp(texts->entries[at - 1].text, text) != 0))
        at = texts->entries[at - 1].next;
    return at ? at - 1 : add(texts, text, hash);
}

const char *
mdl_text(const mdl_texts *texts, double number)
{
    return texts && number >= 0 && number < texts->n ? texts->entries[(uint32_t)number].text : "";
}

uint32_t
mdl_texts_count(const mdl_texts *texts)
{
    return texts->n;
}

mdl_objects *
mdl_texts_objects(mdl_texts *texts)
{
    if (texts && !texts->objects)
        texts->objects = mdl_objects_create();
    return texts ? texts->objects : NULL;
}

void
mdl_texts_take_objects(mdl_texts *to, mdl_texts *from)
{
    to->objects = from->objects;
    from->objects = NULL;
}

mdl_texts *
mdl_texts_create(const char *const *known, uint32_t n)
{
    mdl_texts *texts = calloc(1, sizeof *texts);
    for (uint32_t i = 0; texts && i < n; i++)
        if (isnan(mdl_text_number(texts, known[i])))
            mdl_texts_free(&texts);
    return texts;
}

void
mdl_texts_free(mdl_texts **place)
{
    mdl_texts *texts = *place;
    if (!texts)
        return;
    for (uint32_t i = 0; i < texts->n; i++)
        free(texts->entries[i].text);
    mdl_objects_free(&texts->objects);
    free(texts->entries);
    free(texts->chains);
    free(texts);
    *place = NULL;
}

// --- calls

static mdl_texts *
texts_of(const double *state)
{
    return (mdl_texts *)(uintptr_t)state[MDL_CALL_TEXTS];
}

const char *
mdl_text_at(double number, const double *state)
{
    return mdl_text(texts_of(state), number);
}

double
mdl_text_from(const char *text, const double *state)
{
    mdl_texts *texts = texts_of(state);
    return texts ? mdl_text_number(texts, text ? text : "") : NAN;
}

static double
fill_in(mdl_texts *texts, const char *form, const double *values)
{
    char few[256], *room = few;
    size_t size = sizeof few;
    template_fill(form, values, texts, room, size);
    while (strlen(room) + 1 == size && size < ROOM) {
        char *more = realloc(room == few ? NULL : room, size *= 4);
        if (!more)
            break;
        room = more;
        template_fill(form, values, texts, room, size);
    }
    double number = strlen(room) + 1 == size ? NAN : mdl_text_number(texts, room);
    if (room != few)
        free(room);
    return number;
}

void
mdl_text_fill(const double *in, double *out, double *state)
{
    mdl_texts *texts = texts_of(state);
    out[0] = texts ? fill_in(texts, mdl_text(texts, in[0]), in + 2) : NAN;
    if (isnan(out[0]) && state[0] == 0)
        state[0] = in[1];
}

void
mdl_text_order(const double *in, double *out, double *state)
{
    const mdl_texts *texts = texts_of(state);
    int order = strcmp(mdl_text(texts, in[0]), mdl_text(texts, in[1]));
    out[0] = (order > 0) - (order < 0);
}
