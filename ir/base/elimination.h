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
// The largest whole number that divides both, by Euclid's algorithm; 0 of 0 and 0. Neither is INT64_MIN.
int64_t common_divisor(int64_t a, int64_t b);

#endif
