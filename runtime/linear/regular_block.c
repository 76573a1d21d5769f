// regular_block.c: the regular part of a block some of whose equations follow from others.
//
// Purpose: forces of a redundant linkage are solved for in every evaluation of its motion. The complete orthogonal
//          decomposition (rank.c) decides about the rank once; later a sparse elimination does.
// Method: the decomposition's column pivots choose as many unknowns as the rank says, those of the transposed columns
//         choose the equations (Golub and Van Loan, Matrix Computations, 5.5.7, subset selection). What is left is square and
//         regular. The equations left out follow from the others, and the unknowns left out span the kernel, along which
//         the caller finds the solution it wants. The choice holds until its pivots have become a thousand times
//         smaller than they were.
// Contract: see regular_block.h. Complexity: that of one decomposition to create, of lu.c afterwards.
#include "runtime/linear/regular_block.h"

#include <stdlib.h>
#include <string.h>

static const double WORN = 1e-3; // of the pivot ratio of the first factorisation

struct Square {
    const mdl_matrix *jac;
    uint32_t m, r;
    uint32_t *row, *column;   // the chosen equations, then the others; the same of unknowns
    uint32_t *start, *index;  // pattern of the part
    uint32_t *source;         // its entries' places among those of the block's matrix
    double *values, *work;
    Lu *lu;
    double ratio;             // of the first factorisation, 0: none yet
};

static bool
allocate(Square *square)
{
    size_t m = square->m, nonzeros = square->jac->nonzeros;
    square->row = calloc(3 * m + 1, sizeof *square->row);
    square->index = calloc(2 * nonzeros + 1, sizeof *square->index);
    square->values = calloc(nonzeros + m + 1, sizeof *square->values);
    if (!square->row || !square->index || !square->values)
        return false;
    square->column = square->row + m;
    square->start = square->column + m;
    square->source = square->index + nonzeros;
    square->work = square->values + nonzeros;
    return true;
}

// The equations of largest pivots within the chosen columns.
static bool
choose_rows(Square *square, const double *v)
{
    uint32_t m = square->m, r = square->r;
    const mdl_matrix *jac = square->jac;
    Rank *rank = rank_create(r, m);
    if (!rank)
        return false;
    double *matrix = rank_matrix(rank);
    for (uint32_t k = 0; k < r; k++)
        for (uint32_t at = jac->column_start[square->column[k]]; at < jac->column_start[square->column[k] + 1]; at++)
            matrix[(size_t)jac->row[at] * r + k] = v[jac->values + at];
    bool good = rank_factor(rank, NULL, 0, r) && rank_value(rank) == r;
    for (uint32_t k = 0; k < m && good; k++)
        square->row[k] = rank_pivot(rank, k);
    rank_free(&rank);
    return good;
}

static bool
make_pattern(Square *square)
{
    uint32_t m = square->m, r = square->r, n = 0;
    const mdl_matrix *jac = square->jac;
    uint32_t *position = calloc((size_t)m + 1, sizeof *position); // per equation: its number in the part, plus 1
    if (!position)
        return false;
    uint32_t chosen = 0;
    for (uint32_t k = 0; k < r; k++)
        position[square->row[k]] = 1;
    // Ascending, because the pattern's rows must be.
    for (uint32_t i = 0; i < m; i++)
        if (position[i]) {
            square->row[chosen] = i;
            position[i] = ++chosen;
        }
    for (uint32_t k = 0; k < r; k++) {
        square->start[k] = n;
        for (uint32_t at = jac->column_start[square->column[k]]; at < jac->column_start[square->column[k] + 1]; at++) {
            if (!position[jac->row[at]])
                continue;
            square->index[n] = position[jac->row[at]] - 1;
            square->source[n++] = at;
        }
    }
    square->start[r] = n;
    free(position);
    square->lu = lu_create(r, square->start, square->index);
    return square->lu != NULL;
}

Square *
square_create(const mdl_block *block, const double *v, const Rank *rank)
{
    Square *square = calloc(1, sizeof *square);
    if (!square)
        return NULL;
    square->jac = &block->jac;
    square->m = block->m;
    square->r = rank_value(rank);
    bool good = square->r > 0 && square->r < square->m && allocate(square);
    for (uint32_t k = 0; good && k < square->m; k++)
        square->column[k] = rank_pivot(rank, k);
    if (!good || !choose_rows(square, v) || !make_pattern(square) || !square_factor(square, v))
        square_free(&square);
    return square;
}

void
square_free(Square **slot)
{
    Square *square = *slot;
    if (!square)
        return;
    lu_free(&square->lu);
    free(square->row);
    free(square->index);
    free(square->values);
    free(square);
    *slot = NULL;
}

bool
square_factor(Square *square, const double *v)
{
    for (uint32_t k = 0; k < square->start[square->r]; k++)
        square->values[k] = v[square->jac->values + square->source[k]];
    if (!lu_factor(square->lu, square->values, square->ratio == 0))
        return false;
    double ratio = lu_pivot_ratio(square->lu);
    if (square->ratio == 0)
        square->ratio = ratio;
    return ratio > WORN * square->ratio;
}

void
square_solve(Square *square, const double *b, double *x)
{
    for (uint32_t k = 0; k < square->r; k++)
        square->work[k] = b[square->row[k]];
    lu_solve(square->lu, square->work);
    for (uint32_t k = 0; k < square->m; k++)
        x[square->column[k]] = k < square->r ? square->work[k] : 0;
}

void
square_kernel(Square *square, const double *v, uint32_t k, double *x)
{
    const mdl_matrix *jac = square->jac;
    uint32_t open = square->column[square->r + k];
    memset(x, 0, square->m * sizeof *x);
    for (uint32_t at = jac->column_start[open]; at < jac->column_start[open + 1]; at++)
        x[jac->row[at]] = -v[jac->values + at];
    square_solve(square, x, x);
    x[open] = 1;
}
