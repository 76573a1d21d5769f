// combination.c: whether numbers are combinations of others with coefficients that annihilate a matrix.
//
// Purpose: Maggi's equations are sums B'r with A B = 0; how B was chosen is nobody's business. Method: of the linear system
//     A c = 0,  r_k'c = L_k for all samples k
// the left side is eliminated with complete pivoting; it has a solution when nothing is left on the right (Rouché and Capelli). The sums say all
// when they have the rank that the samples of r have beyond that of A (Golub and Van Loan, Matrix Computations, 3.4.4).
// Contract: combination.h. Complexity: rows * (parts + sums)^2.
#include "ir/energy/combination.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/elimination.h"

static const double PIVOT = 1e-7;    // less is not divided by, of columns and rows whose largest is 1
static const double ROUNDING = 1e-12; // less is 0
static const double AGREE = 1e-8;

// Columns, then rows, get the largest entry 1: parts have units of their own.
static void
scale(double *table, uint32_t rows, uint32_t width)
{
    for (uint32_t j = 0; j < width; j++) {
        double most = 0;
        for (uint32_t i = 0; i < rows; i++)
            most = fmax(most, fabs(table[(size_t)i * width + j]));
        for (uint32_t i = 0; i < rows && most > 0; i++)
            table[(size_t)i * width + j] /= most;
    }
    for (uint32_t i = 0; i < rows; i++) {
        double most = 0;
        for (uint32_t j = 0; j < width; j++)
            most = fmax(most, fabs(table[(size_t)i * width + j]));
        for (uint32_t j = 0; j < width && most > 0; j++)
            table[(size_t)i * width + j] /= most;
    }
}

// The rank of a part of the table, which stays as it is.
static uint32_t
rank_of(const double *table, uint32_t rows, uint32_t width, uint32_t first, uint32_t columns, double *left)
{
    Table part = {base_calloc((size_t)rows * columns + 1, sizeof(double)), rows, columns, columns};
    for (uint32_t i = 0; i < rows; i++)
        memcpy(part.at + (size_t)i * columns, table + (size_t)i * width + first, columns * sizeof(double));
    uint32_t rank = table_eliminate(&part, PIVOT, left);
    free(part.at);
    return rank;
}

Combination
combination_find(double *table, uint32_t rows, uint32_t conditions, uint32_t parts, uint32_t sums)
{
    uint32_t width = parts + sums;
    Table all = {table, rows, parts, width};
    double left[3], off = 0;
    for (size_t i = 0; i < (size_t)rows * width; i++)
        if (!isfinite(table[i]))
            return COMBINATION_UNDECIDED;
    scale(table, rows, width);
    uint32_t rank_a = rank_of(table, conditions, width, 0, parts, &left[0]);
    uint32_t rank_sums = rank_of(table + (size_t)conditions * width, rows - conditions, width, parts, sums, &left[1]);
    uint32_t rank = table_eliminate(&all, PIVOT, &left[2]);
    for (int k = 0; k < 3; k++)
        if (left[k] > ROUNDING)
            return COMBINATION_UNDECIDED;
    for (uint32_t i = rank; i < rows; i++)
        for (uint32_t j = parts; j < width; j++)
            off = fmax(off, fabs(table[(size_t)i * width + j]));
    return off <= AGREE && rank_sums == rank - rank_a ? COMBINATION_FOUND : COMBINATION_NONE;
}
