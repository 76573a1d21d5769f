// lzma.c: text in few bytes.
//
// Purpose: pages of large models can be sent. Method: LZMA (I. Pavlov, LZMA specification, 2015): what was there before is told by its distance and length,
//   in bits of adaptive probability. The four equal corners of a car are 300 kB apart, where deflate sees 32 kB. How a stretch of text is told in the fewest
//   bits is a shortest path over its places, with the prices of the present probabilities.
// Contract: lzma.h. Complexity: linear in the text; of the earlier places that begin alike no more than DEPTH are looked at.
#include "frontend/page/lzma.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/vec.h"

enum {
    STATES = 12, REPEATS = 4, LEAST = 2, MOST = 273,
    HASH_BITS = 17, DEPTH = 24, LONG_ENOUGH = 128, BEGINNING = 3, STRETCH = 4096,
    ONE = 2048, ADAPT = 5, PRICE_SHIFT = 4, PRICES = ONE >> PRICE_SHIFT, BIT = 64, // a bit's price
    FIRST_WITH_FOOTER = 4, FIRST_DIRECT = 14, ALIGN_BITS = 4
};

#define NOWHERE UINT32_MAX

// What is told: 0 to 3 a repeat of one of the last four distances, LITERAL the byte itself, above that a new distance.
enum { LITERAL = REPEATS, NEW = LITERAL + 1 };

// How a place is reached, and what a reader knows there.
typedef struct Place {
    uint32_t price, length, what;
    unsigned state;
    uint32_t repeat[REPEATS]; // the last distances, less one
} Place;

typedef struct Lengths {
    uint16_t beyond_low, beyond_middle, low[8], middle[8], high[256];
} Lengths;

// Probabilities of a zero, in parts of ONE.
typedef struct Odds {
    uint16_t is_match[STATES], is_repeat[STATES], is_later[STATES], is_long[STATES], is_later_1[STATES], is_later_2[STATES];
    uint16_t literal[8][0x300], slot[4][64], footer[116], align[1 << ALIGN_BITS];
    Lengths matches, repeats;
} Odds;

typedef struct Coder {
    Out *out;
    uint64_t low, waiting; // bytes that a carry may still change
    uint32_t range;
    uint8_t held;
    bool weighs;    // nothing is written, prices are added up
    uint32_t price;
    uint32_t price_of[PRICES], match_length[MOST + 1], repeat_length[MOST + 1];
    Odds odds;
} Coder;

// --- the range coder

static void
shift_low(Coder *c)
{
    if (c->low < 0xFF000000u || c->low >> 32) {
        uint8_t carry = (uint8_t)(c->low >> 32), byte = c->held;
        for (; c->waiting; c->waiting--) {
            out_char(c->out, (char)(uint8_t)(byte + carry));
            byte = 0xFF;
        }
        c->held = (uint8_t)(c->low >> 24);
    }
    c->waiting++;
    c->low = (c->low & 0x00FFFFFF) << 8;
}

static void
normalise(Coder *c)
{
    while (c->range < 1u << 24) {
        c->range <<= 8;
        shift_low(c);
    }
}

static void
put_bit(Coder *c, uint16_t *zero, unsigned bit)
{
    if (c->weighs) {
        c->price += c->price_of[(bit ? ONE - *zero : *zero) >> PRICE_SHIFT];
        return;
    }
    uint32_t bound = (c->range >> 11) * *zero;
    if (bit) {
        c->low += bound;
        c->range -= bound;
        *zero = (uint16_t)(*zero - (*zero >> ADAPT));
    } else {
        c->range = bound;
        *zero = (uint16_t)(*zero + ((ONE - *zero) >> ADAPT));
    }
    normalise(c);
}

static void
put_even_bits(Coder *c, uint32_t value, unsigned bits)
{
    if (c->weighs) {
        c->price += bits * BIT;
        return;
    }
    while (bits--) {
        c->range >>= 1;
        if (value >> bits & 1)
            c->low += c->range;
        normalise(c);
    }
}

static void
put_tree(Coder *c, uint16_t *zeros, unsigned bits, unsigned value)
{
    for (unsigned node = 1; bits--; node = node << 1 | (value >> bits & 1))
        put_bit(c, &zeros[node], value >> bits & 1);
}

// From the lowest bit on.
static void
put_tree_reversed(Coder *c, uint16_t *zeros, unsigned bits, unsigned value)
{
    for (unsigned node = 1; bits--; node = node << 1 | (value & 1), value >>= 1)
        put_bit(c, &zeros[node], value & 1);
}

// --- what is told

static void
put_length(Coder *c, Lengths *lengths, uint32_t length)
{
    unsigned n = length - LEAST;
    put_bit(c, &lengths->beyond_low, n >= 8);
    if (n < 8) {
        put_tree(c, lengths->low, 3, n);
        return;
    }
    put_bit(c, &lengths->beyond_middle, n >= 16);
    if (n < 16)
        put_tree(c, lengths->middle, 3, n - 8);
    else
        put_tree(c, lengths->high, 8, n - 16);
}

static void
put_distance(Coder *c, uint32_t distance, uint32_t length)
{
    unsigned top = 31, which = length - LEAST;
    while (top && !(distance >> top))
        top--;
    unsigned slot = distance < FIRST_WITH_FOOTER ? distance : 2 * top + (distance >> (top - 1) & 1);
    put_tree(c, c->odds.slot[which < 3 ? which : 3], 6, slot);
    if (slot < FIRST_WITH_FOOTER)
        return;
    unsigned bits = top - 1;
    uint32_t base = (2u | (slot & 1)) << bits, rest = distance - base;
    if (slot < FIRST_DIRECT) {
        put_tree_reversed(c, c->odds.footer + base - slot, bits, rest);
    } else {
        put_even_bits(c, rest >> ALIGN_BITS, bits - ALIGN_BITS);
        put_tree_reversed(c, c->odds.align, ALIGN_BITS, rest & ((1 << ALIGN_BITS) - 1));
    }
}

// Behind a match it is not the byte that would have continued it, so the bits are told with that one's.
static void
put_literal(Coder *c, const Place *from, const uint8_t *text, uint32_t at)
{
    bool alike = from->state >= 7;
    uint16_t *zeros = c->odds.literal[at ? text[at - 1] >> 5 : 0];
    unsigned node = 1, byte = text[at], other = alike ? text[at - from->repeat[0] - 1] : 0;
    put_bit(c, &c->odds.is_match[from->state], 0);
    for (unsigned k = 8; k--;) {
        unsigned bit = byte >> k & 1, shown = other >> k & 1;
        put_bit(c, &zeros[alike ? (1 + shown) << 8 | node : node], bit);
        node = node << 1 | bit;
        alike = alike && bit == shown;
    }
}

// Which repeat it is, or that it is none. Of length 1 there is only the last distance.
static void
put_kind(Coder *c, const Place *from, uint32_t what, uint32_t length)
{
    Odds *odds = &c->odds;
    put_bit(c, &odds->is_match[from->state], 1);
    put_bit(c, &odds->is_repeat[from->state], what < REPEATS);
    if (what >= REPEATS)
        return;
    put_bit(c, &odds->is_later[from->state], what > 0);
    if (!what)
        put_bit(c, &odds->is_long[from->state], length > 1);
    else
        put_bit(c, &odds->is_later_1[from->state], what > 1);
    if (what > 1)
        put_bit(c, &odds->is_later_2[from->state], what > 2);
}

static void
put(Coder *c, const Place *from, const uint8_t *text, uint32_t at, uint32_t what, uint32_t length)
{
    if (what == LITERAL) {
        put_literal(c, from, text, at);
        return;
    }
    put_kind(c, from, what, length);
    if (length > 1)
        put_length(c, what < REPEATS ? &c->odds.repeats : &c->odds.matches, length);
    if (what >= NEW)
        put_distance(c, what - NEW, length);
}

// What is known at a place, from what is known where the way to it comes from.
static void
arrive(Place *to, const Place *from)
{
    unsigned state = from->state;
    bool literal = to->what == LITERAL;
    uint32_t moved = literal ? 0 : to->what < REPEATS ? to->what : REPEATS - 1;
    memcpy(to->repeat, from->repeat, sizeof to->repeat);
    memcpy(to->repeat + 1, from->repeat, moved * sizeof *to->repeat);
    if (!literal)
        to->repeat[0] = to->what < REPEATS ? from->repeat[to->what] : to->what - NEW;
    if (literal)
        to->state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    else if (to->what >= NEW)
        to->state = state < 7 ? 7 : 10;
    else
        to->state = state >= 7 ? 11 : to->length > 1 ? 8 : 9;
}

// --- what was there before

typedef struct Finder {
    const uint8_t *text;
    uint32_t n, entered;     // places below `entered` are in the chains
    uint32_t *head, *before; // by hash of what begins there; the place before with the same hash
} Finder;

static uint32_t
hash_at(const Finder *f, uint32_t at)
{
    const uint8_t *text = f->text + at;
    return ((uint32_t)text[0] << 16 | (uint32_t)text[1] << 8 | text[2]) * 2654435761u >> (32 - HASH_BITS);
}

static void
enter_to(Finder *f, uint32_t end)
{
    for (; f->entered < end && f->entered + BEGINNING <= f->n; f->entered++) {
        uint32_t hash = hash_at(f, f->entered);
        f->before[f->entered] = f->head[hash];
        f->head[hash] = f->entered;
    }
}

static uint32_t
alike(const Finder *f, uint32_t at, uint32_t earlier)
{
    uint32_t length = 0, most = f->n - at < MOST ? f->n - at : MOST;
    while (length < most && f->text[earlier + length] == f->text[at + length])
        length++;
    return length;
}

// --- the shortest path

// Prices of the present probabilities that do not depend on the place.
static void
weigh_lengths(Coder *c)
{
    for (uint32_t length = LEAST; length <= MOST; length++) {
        c->price = 0;
        put_length(c, &c->odds.matches, length);
        c->match_length[length] = c->price;
        c->price = 0;
        put_length(c, &c->odds.repeats, length);
        c->repeat_length[length] = c->price;
    }
}

static void
offer(Place *from, uint32_t price, uint32_t what, uint32_t length)
{
    Place *to = from + length;
    if (from->price + price >= to->price)
        return;
    to->price = from->price + price;
    to->what = what;
    to->length = length;
}

// Single bytes, and repeats. The longest repeat.
static uint32_t
offer_near(Coder *c, const Finder *f, Place *from, uint32_t at, uint32_t most)
{
    uint32_t longest = 0;
    c->price = 0;
    put_literal(c, from, f->text, at);
    offer(from, c->price, LITERAL, 1);
    for (unsigned k = 0; k < REPEATS; k++) {
        uint32_t length = from->repeat[k] < at ? alike(f, at, at - from->repeat[k] - 1) : 0;
        length = length < most ? length : most;
        if (length && !k) {
            c->price = 0;
            put_kind(c, from, 0, 1);
            offer(from, c->price, 0, 1);
        }
        c->price = 0;
        put_kind(c, from, k, LEAST);
        for (uint32_t n = LEAST; n <= length; n++)
            offer(from, c->price + c->repeat_length[n], k, n);
        longest = length > longest ? length : longest;
    }
    return longest;
}

// Earlier places, the nearest first: each for the lengths that no nearer one has. The longest length.
static uint32_t
offer_far(Coder *c, Finder *f, Place *from, uint32_t at, uint32_t most)
{
    uint32_t longest = LEAST;
    if (at + BEGINNING > f->n)
        return 0;
    enter_to(f, at);
    uint32_t place = f->head[hash_at(f, at)];
    c->price = 0;
    put_kind(c, from, NEW, LEAST);
    uint32_t kind = c->price;
    for (unsigned looked = 0; place != NOWHERE && looked < DEPTH && longest < most; looked++, place = f->before[place]) {
        if (f->text[place + longest] != f->text[at + longest])
            continue;
        uint32_t length = alike(f, at, place), distance = at - place - 1;
        length = length < most ? length : most;
        for (uint32_t n = longest + 1; n <= length; n++) {
            if (n == longest + 1 || n <= LEAST + 3) {
                c->price = kind;
                put_distance(c, distance, n);
            }
            offer(from, c->price + c->match_length[n], NEW + distance, n);
        }
        longest = length > longest ? length : longest;
    }
    return longest;
}

// Finds the ways to the places behind `at`; how many bytes the way is that is to be taken: the whole stretch, or up to where much is alike, of which
// nothing need be weighed.
static uint32_t
find_ways(Coder *c, Finder *f, Place *places, uint32_t at)
{
    uint32_t most = f->n - at < STRETCH ? f->n - at : STRETCH;
    for (uint32_t k = 1; k <= most; k++)
        places[k].price = UINT32_MAX;
    places[0].price = 0;
    c->weighs = true;
    weigh_lengths(c);
    for (uint32_t k = 0; k < most; k++) {
        if (k)
            arrive(&places[k], &places[k - places[k].length]);
        uint32_t near = offer_near(c, f, &places[k], at + k, most - k), far = offer_far(c, f, &places[k], at + k, most - k);
        uint32_t longest = near > far ? near : far;
        if (longest >= LONG_ENOUGH) {
            most = k + longest;
            break;
        }
    }
    c->weighs = false;
    return most;
}

static void
put_way(Coder *c, const Finder *f, Place *places, uint32_t at, uint32_t length)
{
    VEC(Place) way = {0};
    for (uint32_t k = length; k; k -= places[k].length)
        vec_push(&way, places[k]);
    for (uint32_t k = way.n; k--; at += way.at[k].length) {
        put(c, &places[0], f->text, at, way.at[k].what, way.at[k].length);
        arrive(&way.at[k], &places[0]);
        places[0] = way.at[k];
    }
    vec_free(&way);
}

static void
put_header(size_t length, Out *out)
{
    enum { PROPERTIES = 3, DICTIONARY = 4, SIZE = 8 };
    uint32_t dictionary = 1 << 16;
    while (dictionary < length && dictionary < 1u << 31)
        dictionary <<= 1;
    out_char(out, PROPERTIES);
    for (unsigned k = 0; k < DICTIONARY; k++)
        out_char(out, (char)(uint8_t)(dictionary >> 8 * k));
    for (unsigned k = 0; k < SIZE; k++)
        out_char(out, (char)(uint8_t)((uint64_t)length >> 8 * k));
}

void
lzma_print(const char *text, size_t length, Out *out)
{
    enum { FLUSHED = 5 };
    Coder *c = base_calloc(1, sizeof *c);
    Place *places = base_calloc(STRETCH + 1, sizeof *places);
    Finder f = {.text = (const uint8_t *)text, .n = (uint32_t)length};
    f.head = base_calloc((size_t)1 << HASH_BITS, sizeof *f.head);
    f.before = base_calloc(length + 1, sizeof *f.before);
    memset(f.head, 0xFF, ((size_t)1 << HASH_BITS) * sizeof *f.head);
    c->out = out;
    c->range = UINT32_MAX;
    c->waiting = 1;
    for (uint32_t k = 0; k < PRICES; k++)
        c->price_of[k] = (uint32_t)lround(-BIT * log2((k + 0.5) / PRICES));
    for (uint16_t *zero = (uint16_t *)&c->odds; (char *)zero < (char *)(&c->odds + 1); zero++)
        *zero = ONE / 2;
    put_header(length, out);
    for (uint32_t at = 0, step; at < f.n; at += step) {
        step = find_ways(c, &f, places, at);
        put_way(c, &f, places, at, step);
    }
    for (unsigned k = 0; k < FLUSHED; k++)
        shift_low(c);
    free(f.head);
    free(f.before);
    free(places);
    free(c);
}
