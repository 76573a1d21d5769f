// elimination.c: ranks of small dense tables of numbers, and divisors of whole ones.
//
// Purpose: what symbols leave open about the rank of a few equations is looked at by values.
// Method: Gauss' elimination with complete pivoting (Golub and Van Loan, Matrix Computations, 3.4); that of Gauss and Jordan where columns have an order.
// Contract: elimination.h. Complexity: rows * columns * stride.
#include "ir/base/elimination.h"

#include <math.h>
#include <stddef.h>

static double *
entry(const Table *table, uint32_t i, uint32_t j)
{
    return &table->at[(size_t)i * table->stride + j];
}

// The largest entry in the rows and columns from `from` on.
static double
largest(const Table *table, uint32_t from, uint32_t *row, uint32_t *column)
{
    double most = 0;
    *row = *column = from;
    for (uint32_t i = from; i < table->rows; i++)
        for (uint32_t j = from; j < table->columns; j++)
            if (fabs(*entry(table, i, j)) > most) {
                most = fabs(*entry(table, i, j));
                *row = i;
                *column = j;
            }
    return most;
}

static void
swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

double
table_largest(const Table *table)
{
    uint32_t row, column;
    return largest(table, 0, &row, &column);
}

uint32_t
table_eliminate(Table *table, double least, double *left)
{
    uint32_t rank = 0, row, column;
    double most = 0;
    for (; rank < table->rows && rank < table->columns; rank++) {
        most = largest(table, rank, &row, &column);
        if (most <= least)
            break;
        for (uint32_t j = 0; j < table->stride; j++)
            swap(entry(table, rank, j), entry(table, row, j));
        for (uint32_t i = 0; i < table->rows; i++)
            swap(entry(table, i, rank), entry(table, i, column));
        for (uint32_t i = rank + 1; i < table->rows; i++) {
            double factor = *entry(table, i, rank) / *entry(table, rank, rank);
            for (uint32_t j = rank; j < table->stride; j++)
                *entry(table, i, j) -= factor * *entry(table, rank, j);
        }
        most = 0;
    }
    if (left)
        *left = most;
    return rank;
}

// The row times the factor is taken from row i.
static void
take_row(Table *table, uint32_t i, uint32_t row, double factor, double nothing)
{
    for (uint32_t j = 0; factor != 0 && j < table->columns; j++) {
        double value = *entry(table, i, j) - factor * *entry(table, row, j);
        *entry(table, i, j) = fabs(value) < nothing ? 0 : value;
    }
}

uint32_t
table_reduce(Table *table, const uint32_t *order, uint32_t ordered, double least, uint32_t *pivot)
{
    uint32_t rank = 0;
    for (uint32_t k = 0; k < ordered && rank < table->rows; k++) {
        uint32_t best = rank, column = order[k];
        for (uint32_t i = rank; i < table->rows; i++)
            best = fabs(*entry(table, i, column)) > fabs(*entry(table, best, column)) ? i : best;
        double divisor = *entry(table, best, column);
        if (fabs(divisor) <= least)
            continue;
        for (uint32_t j = 0; j < table->columns; j++) {
            swap(entry(table, rank, j), entry(table, best, j));
            *entry(table, rank, j) /= divisor;
        }
        for (uint32_t i = 0; i < table->rows; i++)
            if (i != rank)
                take_row(table, i, rank, *entry(table, i, column), 1e-3 * least);
        pivot[rank++] = column;
    }
    return rank;
}

int64_t
common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}
