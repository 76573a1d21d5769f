// factors_inner.h: what factors are made of. Included by factors*.c and division.c only.
#ifndef MDLC_RUNTIME_LINEAR_FACTORS_INNER_H
#define MDLC_RUNTIME_LINEAR_FACTORS_INNER_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/linear/factors.h"

// Places first to end - 1: a run of diagonal blocks, or one block that is divided: parts that do not touch each other, then a border.
typedef struct Segment {
    int32_t first, end, border;
    int32_t first_block, end_block;
    uint32_t parts;  // 0: not divided
    int32_t *part;   // parts + 1: first place of each part, and the border's
    int32_t *l_border; // of each place of a part: the first entry of L that is in a row of the border
    int32_t *u_part; // of each column of the border, parts + 1: its entries of U in rows of each part
    double *sum;     // parts x border: what parts contribute to the border, zero between calls
} Segment;

// What a thread renews at once. Columns that need others than their own look whether those are done.
typedef struct Chunk {
    int32_t first, end, block;
    bool waits;
} Chunk;

// Like `work`, for one column at a time.
typedef struct Spare {
    double *work;
    atomic_uint taken;
} Spare;

struct Factors {
    int32_t n, blocks;
    const int32_t *start, *row;      // the matrix
    int32_t *block;                  // first column of each diagonal block, and n
    int32_t *row_at, *column_at;     // P and Q: rows and columns of the matrix by place
    int32_t *place;                  // of the rows of the matrix
    int32_t *l_start, *l_row, *u_start, *u_row, *f_start, *f_row; // columns, without the diagonal
    uint8_t *alike;                  // by place: how many columns of L behind it have the same rows behind the last of them (supernodes)
    double *l, *u, *f, *reciprocal;
    double *scale;                   // R, by place
    double *work;                    // zero between calls
    // Of large matrices:
    Segment *segment;
    int32_t segments;                // 0: not divided
    Chunk *chunk;
    uint32_t chunks;
    atomic_uint *done;               // by place: the latest renewal in which its column is complete
    unsigned renewal;
    Spare *spare;                    // for each thread
    unsigned spares;
};

// Of factors whose pattern is there. False: out of memory, they can only be freed.
MDL_CHECKED bool factors_prepare(Factors *factors);
// Orders the places of large blocks by parts and border, where that pays. False: out of memory, the factors can only be freed.
MDL_CHECKED bool division_make(Factors *factors);
void division_free(Factors *factors);

#endif
