// factors.h: sparse triangular factors with the pivots that KLU has chosen. Included by lu.c and factors*.c only.
#ifndef MDLC_RUNTIME_LINEAR_FACTORS_H
#define MDLC_RUNTIME_LINEAR_FACTORS_H

#include <klu.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"
#include "runtime/model/threads.h"

typedef struct Factors Factors;

// The factors that `numeric` holds, whose columns are sorted by this. `start` and `row` are the pattern of the matrix that was
// factored and must live as long as the result. NULL: out of memory.
Factors *factors_create(klu_symbolic *symbolic, klu_numeric *numeric, klu_common *common, const int32_t *start,
                        const int32_t *row);
// The pattern alone, for pivots on the diagonal of a matrix that klu_analyze() has ordered. NULL: out of memory.
Factors *factors_on_diagonal(const klu_symbolic *symbolic, const int32_t *start, const int32_t *row);
void factors_free(Factors **factors);
// Another matrix of the same pattern, with the same pivots. False: a pivot is zero or not finite. Here and below: the same bits for any number of threads, NULL: one.
MDL_CHECKED bool factors_renew(Factors *factors, Threads *threads, const double *values);
// The same; false where an entry of L, which is what stands below a pivot divided by it, is greater than `most`, too.
MDL_CHECKED bool factors_renew_within(Factors *factors, Threads *threads, const double *values, double most);
// Smallest pivot relative to the largest.
double factors_pivot_ratio(const Factors *factors);
// b := A^-1 b.
void factors_solve(const Factors *factors, Threads *threads, double *b);

#endif
