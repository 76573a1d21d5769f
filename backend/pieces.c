// pieces.c: finds repeated shapes in a program.
//
// Purpose: turn the instruction list of a function into straight pieces and loops, so that the size of
//   the code and the time to make it grow with the number of different patterns, not of equations.
// Method: greedy from left to right: at each instruction the period p <= 64 whose repetition covers most
//   instructions wins (the smaller p on a tie, or when it covers thousands). For every p the next position
//   where shape[j] differs from shape[j+p] is kept, so that each p reads each shape once. The places of a
//   repetition are then compared with an arithmetic progression, operand by operand; a repetition made of a
//   few long progressions is cut there.
// Contract: reads sys only. The segments cover the range without gaps, in order.
// Complexity: O(64 * instructions + slots).
#include "backend/pieces.h"

#include "ir/base/map.h"

enum { LONGEST_PERIOD = 64, FEWEST_TRIPS = 4, FEWEST_INSTRS = 16, LONG_ENOUGH = 4096, PIECE_TRIPS = 64,
      MOST_PIECES = 16 };

uint32_t
slot_count(SlotCounts *slots, const Exprs *exprs, Expr shape)
{
    if (shape >= slots->count.n)
        vec_grow(&slots->count, expr_count(exprs) + 1 - slots->count.n);
    if (!slots->count.at[shape])
        slots->count.at[shape] = expr_nslots(exprs, shape) + 1;
    return slots->count.at[shape] - 1;
}

typedef struct Planner {
    Pieces *pieces;
    const Sys *sys;
    SlotCounts *slots;
    Map column_of;   // content of a column -> its number within the segment
    U32Vec places;   // scratch: the places of one column
    I32Vec delta;    // scratch: steps of all operands
} Planner;

static uint32_t
place_of(const Planner *planner, uint32_t instr, uint32_t operand)
{
    const Instr *i = &planner->sys->instrs.at[instr];
    return operand ? planner->sys->places.at[i->row + operand - 1] : i->dest;
}

static void
add_straight(Planner *planner, uint32_t first, uint32_t count)
{
    Pieces *pieces = planner->pieces;
    if (!count)
        return;
    if (pieces->segments.n && vec_last(&pieces->segments).trips == 1) {
        vec_last(&pieces->segments).period += count;
        return;
    }
    vec_push(&pieces->segments, (Segment){.first = first, .period = count, .trips = 1});
}

static bool
same_table(const Planner *planner, const Column *column, uint32_t trips)
{
    return column->table && memcmp(planner->pieces->tables.at + column->table - 1, planner->places.at,
                                   trips * sizeof(uint32_t)) == 0;
}

// The column of the places in planner->places, new or already known to this segment.
static uint32_t
find_column(Planner *planner, Segment *segment)
{
    Pieces *pieces = planner->pieces;
    const uint32_t *places = planner->places.at;
    uint32_t trips = segment->trips, found;
    Column column =
        {.start = places[0], .stride = (int32_t)(places[1] - places[0]), .lo = places[0], .hi = places[0]};
    bool affine = true;
    for (uint32_t t = 1; t < trips; t++) {
        affine = affine && (int32_t)(places[t] - places[t - 1]) == column.stride;
        column.lo = places[t] < column.lo ? places[t] : column.lo;
        column.hi = places[t] > column.hi ? places[t] : column.hi;
    }
    uint64_t key = affine ? hash_add(column.start, (uint32_t)column.stride)
                          : hash_add(1, hash_bytes(places, trips * sizeof *places));
    if (map_get(&planner->column_of, key, &found)) {
        const Column *old = &pieces->columns.at[segment->columns + found];
        if (affine ? !old->table && old->start == column.start && old->stride == column.stride
                   : same_table(planner, old, trips))
            return found;
    }
    if (!affine) {
        column.stride = 0;
        column.table = pieces->tables.n + 1;
        vec_append(&pieces->tables, places, trips);
    }
    found = segment->n_columns++;
    vec_push(&pieces->columns, column);
    map_put(&planner->column_of, key, found);
    return found;
}

static void
add_loop(Planner *planner, uint32_t first, uint32_t period, uint32_t trips)
{
    Pieces *pieces = planner->pieces;
    if (trips < FEWEST_TRIPS) {
        add_straight(planner, first, period * trips);
        return;
    }
    Segment segment = {.first = first, .period = period, .trips = trips, .operands = pieces->operands.n,
                       .columns = pieces->columns.n};
    map_clear(&planner->column_of);
    for (uint32_t b = 0; b < period; b++) {
        uint32_t operands = 1 + slot_count(planner->slots, planner->sys->exprs,
                                           planner->sys->instrs.at[first + b].shape);
        for (uint32_t k = 0; k < operands; k++) {
            vec_clear(&planner->places);
            for (uint32_t t = 0; t < trips; t++)
                vec_push(&planner->places, place_of(planner, first + t * period + b, k));
            vec_push(&pieces->operands, find_column(planner, &segment));
        }
    }
    vec_push(&pieces->segments, segment);
}

// True when all operands step from trip t to t+1 as planner->delta says; with `set`, writes delta.
static bool
steps_match(Planner *planner, uint32_t first, uint32_t period, uint32_t t, bool set)
{
    uint32_t d = 0;
    if (set)
        vec_clear(&planner->delta);
    for (uint32_t b = 0; b < period; b++) {
        uint32_t from = first + t * period + b;
        uint32_t operands =
            1 + slot_count(planner->slots, planner->sys->exprs, planner->sys->instrs.at[from].shape);
        for (uint32_t k = 0; k < operands; k++, d++) {
            int32_t step = (int32_t)(place_of(planner, from + period, k) - place_of(planner, from, k));
            if (set)
                vec_push(&planner->delta, step);
            else if (planner->delta.at[d] != step)
                return false;
        }
    }
    return true;
}

// Length in trips of the progression that starts at trip t.
static uint32_t
piece_length(Planner *planner, uint32_t first, uint32_t period, uint32_t t, uint32_t trips)
{
    if (t + 1 >= trips)
        return trips - t;
    steps_match(planner, first, period, t, true);
    uint32_t end = t + 1;
    while (end + 1 < trips && steps_match(planner, first, period, end, false))
        end++;
    return end + 1 - t;
}

// A repetition of shapes: one loop, or a few loops when its places are a few long progressions.
static void
add_repetition(Planner *planner, uint32_t first, uint32_t period, uint32_t trips)
{
    uint32_t ends[MOST_PIECES], n = 0, most = 1 + trips / PIECE_TRIPS;
    if (most > MOST_PIECES)
        most = MOST_PIECES;
    uint32_t t = 0;
    while (t < trips && n < most) {
        t += piece_length(planner, first, period, t, trips);
        ends[n++] = t;
    }
    if (t < trips) {
        add_loop(planner, first, period, trips);
        return;
    }
    for (uint32_t p = 0, from = 0; p < n; from = ends[p++])
        add_loop(planner, first + from * period, period, ends[p] - from);
}

// First position j >= i where the shapes at j and j + period differ (or the range ends).
static uint32_t
mismatch_after(const Instr *instrs, uint32_t i, uint32_t end, uint32_t period)
{
    while (i + period < end && instrs[i].shape == instrs[i + period].shape)
        i++;
    return i;
}

// Best repetition at i: *period and trips (1 when there is none worth a loop).
static uint32_t
best_repetition(const Instr *instrs, uint32_t i, uint32_t end, uint32_t *mismatch, uint32_t *period)
{
    uint32_t best = 0, best_trips = 1;
    for (uint32_t p = 1; p <= LONGEST_PERIOD && i + p < end && best < LONG_ENOUGH; p++) {
        if (mismatch[p] < i + 1 && instrs[i].shape != instrs[i + p].shape)
            continue;
        if (mismatch[p] <= i)
            mismatch[p] = mismatch_after(instrs, i, end, p);
        uint32_t trips = (mismatch[p] - i) / p + 1;
        if (trips >= FEWEST_TRIPS && trips * p >= FEWEST_INSTRS && trips * p > best) {
            best = trips * p;
            best_trips = trips;
            *period = p;
        }
    }
    return best_trips;
}

void
pieces_make(Pieces *pieces, const Sys *sys, SlotCounts *slots, uint32_t first, uint32_t count)
{
    Planner planner = {.pieces = pieces, .sys = sys, .slots = slots};
    const Instr *instrs = sys->instrs.at;
    uint32_t mismatch[LONGEST_PERIOD + 1] = {0}, end = first + count;
    *pieces = (Pieces){0};
    for (uint32_t i = first; i < end;) {
        uint32_t period = 1, trips = best_repetition(instrs, i, end, mismatch, &period);
        if (trips > 1)
            add_repetition(&planner, i, period, trips);
        else
            add_straight(&planner, i, 1);
        i += trips * period;
    }
    map_free(&planner.column_of);
    vec_free(&planner.places);
    vec_free(&planner.delta);
}

void
pieces_free(Pieces *pieces)
{
    vec_free(&pieces->segments);
    vec_free(&pieces->columns);
    vec_free(&pieces->operands);
    vec_free(&pieces->tables);
}

bool
columns_disjoint(const Column *a, const Column *b)
{
    if (a->hi < b->lo || b->hi < a->lo)
        return true;
    return !a->table && !b->table && a->stride == b->stride && a->stride != 0 &&
           ((int64_t)a->start - (int64_t)b->start) % a->stride != 0;
}

bool
columns_apart(const Column *a, const Column *b)
{
    if (columns_disjoint(a, b))
        return true;
    return !a->table && !b->table && a->stride == b->stride && a->start != b->start;
}
