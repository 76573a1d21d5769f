// shifted.h: factors of A + c B for one real and several complex numbers c, in real arithmetic.
#ifndef MDLC_RUNTIME_LINEAR_SHIFTED_H
#define MDLC_RUNTIME_LINEAR_SHIFTED_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"
#include "runtime/model/threads.h"

enum { SHIFTED_PAIRS = 3 };

typedef struct Shifted Shifted;

// A has m columns, B is the unit matrix in the first n of them and zero otherwise; the places of its ones belong to the pattern (compressed
// columns, ascending, copied). Threads share the factors (lu_share()); NULL: none.
// NULL: out of memory.
Shifted *shifted_create(uint32_t m, uint32_t n, const uint32_t *start, const uint32_t *row, Threads *threads);
void shifted_free(Shifted **shifted);
// The next factorisations are as the first ones were.
void shifted_forget(Shifted *shifted);
// Values of A in the order of the pattern. False: singular.
MDL_CHECKED bool shifted_factor_real(Shifted *shifted, const double *values, double c);
MDL_CHECKED bool shifted_factor_pair(Shifted *shifted, uint32_t pair, const double *values, double alpha, double beta);
bool shifted_starved(const Shifted *shifted); // the last of these: it was no singular matrix, there was no memory
// b := (A + c B)^-1 b, n entries; what stands behind them in A has right sides of zero.
void shifted_solve_real(Shifted *shifted, double *b);
// The same of {A + alpha B, beta B; -beta B, A + alpha B} (x; y).
void shifted_solve_pair(Shifted *shifted, uint32_t pair, double *x, double *y);
bool shifted_is_dense(const Shifted *shifted);

#endif
