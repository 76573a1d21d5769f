// lu.h: factorisation of a square matrix given in compressed sparse columns: dense for small matrices,
// KLU with AMD ordering otherwise. The symbolic analysis is made once, when the pattern is given.
#ifndef MDLC_RUNTIME_LINEAR_LU_H
#define MDLC_RUNTIME_LINEAR_LU_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"
#include "runtime/model/threads.h"

enum { LU_DENSE_LIMIT = 20, LU_TOGETHER = 8 };

typedef struct Lu Lu;

// `start` (n + 1) and `row` (ascending in each column) are copied. NULL: out of memory.
Lu *lu_create(uint32_t n, const uint32_t *start, const uint32_t *row);
void lu_free(Lu **lu);
// The next factorisation is as the first one was, whatever was factored before.
void lu_forget(Lu *lu);
// Says that factors serve for many solutions, and are renewed with the same pivots: worth other arrays than KLU's.
void lu_repeats(Lu *lu);
// Threads that share factors which are renewed and solved, with the same bits for any number of them; NULL: none.
void lu_share(Lu *lu, Threads *threads);
// Numerical factorisation. `fresh` chooses new pivots; otherwise the old ones are used while they are good.
// False: the matrix is singular (or not finite); lu_singular_column() names the first offending column.
MDL_CHECKED bool lu_factor(Lu *lu, const double *values, bool fresh);
uint32_t lu_singular_column(const Lu *lu);
bool lu_is_factored(const Lu *lu); // the last factorisation was good
bool lu_starved(const Lu *lu); // it was no singular matrix: there was no memory for the factors
// Smallest pivot relative to the largest: far below 1 when the matrix may be singular.
double lu_pivot_ratio(Lu *lu);
// b := A^-1 b.
void lu_solve(Lu *lu, double *b);
// The same of `several` right sides one behind the other.
void lu_solve_several(Lu *lu, double *b, uint32_t several);
bool lu_is_dense(const Lu *lu);

#endif
