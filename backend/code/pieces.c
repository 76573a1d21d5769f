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
#include "backend/code/pieces.h"

#include "ir/base/map.h"
#include "ir/expr/expr_parts.h"

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

static Column
affine_column(uint32_t start, uint32_t stride, uint32_t trips)
{
    uint32_t last = start + stride * (trips - 1);
    return (Column){.start = start, .stride = (int32_t)stride, .lo = start < last ? start : last, .hi = start < last ? last : start};
}

// The column of the places in planner->places; a table when they are no progression.
static Column
column_of_places(const Planner *planner, uint32_t trips)
{
    const uint32_t *places = planner->places.at;
    Column column = affine_column(places[0], places[1] - places[0], trips);
    bool affine = true;
    column.lo = column.hi = places[0];
    for (uint32_t t = 1; t < trips; t++) {
        affine = affine && (int32_t)(places[t] - places[t - 1]) == column.stride;
        column.lo = places[t] < column.lo ? places[t] : column.lo;
        column.hi = places[t] > column.hi ? places[t] : column.hi;
    }
    column.table = !affine;
    return column;
}

// The number of the column within the segment, new or already known. A table's places are those in planner->places.
static uint32_t
find_column(Planner *planner, Segment *segment, Column column)
{
    Pieces *pieces = planner->pieces;
    const uint32_t *places = planner->places.at;
    uint32_t trips = segment->trips, found;
    uint64_t key = !column.table ? hash_add(column.start, (uint32_t)column.stride)
                                 : hash_add(1, hash_bytes(places, trips * sizeof *places));
    if (map_get(&planner->column_of, key, &found)) {
        const Column *old = &pieces->columns.at[segment->columns + found];
        if (!column.table ? !old->table && old->start == column.start && old->stride == column.stride
                          : same_table(planner, old, trips))
            return found;
    }
    if (column.table) {
        column.stride = 0;
        column.table = pieces->tables.n + 1;
        vec_append(&pieces->tables, places, trips);
    }
    found = segment->n_columns++;
    vec_push(&pieces->columns, column);
    map_put(&planner->column_of, key, found);
    return found;
}

// `affine`: all places are known to be progressions.
static void
add_loop(Planner *planner, uint32_t first, uint32_t period, uint32_t trips, bool affine)
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
            uint32_t start = place_of(planner, first + b, k), step = place_of(planner, first + period + b, k) - start;
            vec_clear(&planner->places);
            for (uint32_t t = 0; t < trips && !affine; t++)
                vec_push(&planner->places, place_of(planner, first + t * period + b, k));
            Column column = affine ? affine_column(start, step, trips) : column_of_places(planner, trips);
            vec_push(&pieces->operands, find_column(planner, &segment, column));
        }
    }
    vec_push(&pieces->segments, segment);
}

// The trip before which the operand k of instruction b no longer goes on as it does from trip t to the next; `end` at most.
static uint32_t
column_end(const Planner *planner, const Instr *instr, uint32_t period, uint32_t k, uint32_t end)
{
    const uint32_t *places = planner->sys->places.at + (k ? k - 1 : 0);
    uint32_t last = k ? places[instr[period].row] : instr[period].dest;
    uint32_t step = last - (k ? places[instr[0].row] : instr[0].dest), t = 2;
    for (; t < end; t++) {
        const Instr *at = &instr[(size_t)t * period];
        uint32_t place = k ? places[at->row] : at->dest;
        if (place - last != step)
            break;
        last = place;
    }
    return t;
}

// Length in trips of the progression that starts at trip t.
static uint32_t
piece_length(Planner *planner, uint32_t first, uint32_t period, uint32_t t, uint32_t trips)
{
    uint32_t end = trips - t;
    const Instr *instr = planner->sys->instrs.at + first + (size_t)t * period;
    for (uint32_t b = 0; b < period && end > 1; b++) {
        uint32_t operands = 1 + slot_count(planner->slots, planner->sys->exprs, instr[b].shape);
        for (uint32_t k = 0; k < operands; k++)
            end = column_end(planner, &instr[b], period, k, end);
    }
    return end;
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
        add_loop(planner, first, period, trips, false);
        return;
    }
    for (uint32_t p = 0, from = 0; p < n; from = ends[p++])
        add_loop(planner, first + from * period, period, ends[p] - from, true);
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
