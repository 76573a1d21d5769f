// rank.h: rank-revealing factorisation of a dense matrix, for systems whose equations depend on each other.
#ifndef MDLC_RUNTIME_LINEAR_RANK_H
#define MDLC_RUNTIME_LINEAR_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"

typedef struct Rank Rank;

// For matrices of `rows` x `columns`. NULL when memory is exhausted.
Rank *rank_create(uint32_t rows, uint32_t columns);
void rank_free(Rank **rank);
// The matrix to be factored next, by columns (entry i, j at [j*rows + i]); filled by the caller before
// rank_factor() and destroyed by it.
double *rank_matrix(Rank *rank);
// Factors. `scale` are the columns' units (NULL: 1): lengths of solutions are measured in them; rows are brought to the
// same size. The rank is the number of pivots above `tolerance` times the largest, but at most `most`. False: not finite.
MDL_CHECKED bool rank_factor(Rank *rank, const double *scale, double tolerance, uint32_t most);
// Units of columns, into `scale`, in which the entries of the matrix that waits in rank_matrix() are as close to each other as
// units of rows and columns can make them; what is rounding beside its row counts for nothing. The matrix is not changed. False: no memory.
MDL_CHECKED bool rank_balance(const Rank *rank, double *scale);
uint32_t rank_value(const Rank *rank);
// Column at pivot k; those from the rank on were left out.
uint32_t rank_pivot(const Rank *rank, uint32_t k);
// x (columns): the shortest of the vectors that make A x - b (rows) smallest.
void rank_solve(Rank *rank, const double *b, double *x);
// Null vector k < columns - rank: one unknown that the others leave open is 1 before scaling; the largest entry is +-1.
void rank_null(Rank *rank, uint32_t k, double *x);
// The unknown that null vector k leaves open: the equations' pivots left it out.
uint32_t rank_free_unknown(const Rank *rank, uint32_t k);
// The orthonormal (in units of `scale`) null vector k.
void rank_kernel(Rank *rank, uint32_t k, double *x);
// The combinations k < rows - rank of rows that vanish, w'A = 0, orthonormal for rows brought to the same size.
void rank_cokernel(Rank *rank, uint32_t k, double *w);

#endif
