// elimination.h: ranks of small dense tables of numbers, for passes that look at equations by values; what exact elimination divides by.
#ifndef MDLC_IR_BASE_ELIMINATION_H
#define MDLC_IR_BASE_ELIMINATION_H

#include <stdint.h>

typedef struct Table {   // row-major, not owned: entry (i, j) is at[i*stride + j]
    double *at;
    uint32_t rows, columns, stride; // columns <= stride: further ones follow the changes of rows (right sides)
} Table;

// The largest magnitude among the first `columns` columns.
double table_largest(const Table *table);
// Gauss' elimination of the first `columns` columns with complete pivoting (Golub and Van Loan, Matrix Computations, 3.4); nothing up to `least` is
// divided by. Returns the rank; rows from there on hold what is left, *left (or NULL) the largest of it in the columns.
uint32_t table_eliminate(Table *table, double least, double *left);
// Reduced row echelon form (Gauss and Jordan) by the columns order[0 .. ordered), in this order, the largest entry of each being the pivot; nothing up to
// `least` is one, and what changes to less than a thousandth of it is zero. All `columns` follow. Returns the rank: pivot[i] is the column of
// row i up to it, where that row has 1 and all others 0; the rows behind have nothing left in these columns.
uint32_t table_reduce(Table *table, const uint32_t *order, uint32_t ordered, double least, uint32_t *pivot);
// The largest whole number that divides both, by Euclid's algorithm; 0 of 0 and 0. Neither is INT64_MIN.
int64_t common_divisor(int64_t a, int64_t b);

#endif
