// pieces.h: how a function's instructions are cut into straight pieces and loops. Both back ends use it.
//
// A loop stands for trips * period instructions: in each trip the same `period` shapes are executed, with
// places taken from columns. A column is the sequence of places one operand takes over the trips: affine
// (start + stride*trip) or, when it is not, a table. Order of execution is never changed, so any dependence
// between trips keeps its meaning.
#ifndef MDLC_BACKEND_CODE_PIECES_H
#define MDLC_BACKEND_CODE_PIECES_H

#include <stdbool.h>

#include "ir/dae/sys.h"

typedef struct Column {
    uint32_t start;
    int32_t stride;
    uint32_t table;  // 0: affine; else offset + 1 into Pieces.tables of `trips` places
    uint32_t lo, hi; // smallest and largest place
} Column;

typedef struct Segment {
    uint32_t first;   // instruction
    uint32_t period;  // instructions per trip
    uint32_t trips;   // 1: straight code
    // Offset into Pieces.operands: per instruction of the period: dest, slot 0, slot 1, ...: numbers of
    // columns within the segment. Equal columns have equal numbers.
    uint32_t operands;
    uint32_t columns, n_columns; // range of Pieces.columns
} Segment;

typedef struct Pieces {
    VEC(Segment) segments;
    VEC(Column) columns;
    U32Vec operands, tables;
} Pieces;

// Number of slots of each shape, found once. Zero-initialise; free with vec_free(&slots.count).
typedef struct SlotCounts {
    U32Vec count; // by expression: slots + 1, 0 unknown
} SlotCounts;
uint32_t slot_count(SlotCounts *slots, const Exprs *exprs, Expr shape);

// Plans instructions first .. first + count of `sys`. Linear in count * 64 (the longest period).
void pieces_make(Pieces *pieces, const Sys *sys, SlotCounts *slots, uint32_t first, uint32_t count);
void pieces_free(Pieces *pieces);

// True when no place of column a in any trip is a place of column b in any trip (may say false wrongly).
bool columns_disjoint(const Column *a, const Column *b);
// True when a and b never have the same place within one trip (may say false wrongly).
bool columns_apart(const Column *a, const Column *b);

#endif
