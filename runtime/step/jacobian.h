// jacobian.h: dF/dy + cj dF/dy' of the integrator's unknowns, assembled from the model's tables, with its LU.
#ifndef MDLC_RUNTIME_STEP_JACOBIAN_H
#define MDLC_RUNTIME_STEP_JACOBIAN_H

#include "runtime/point/run.h"

typedef struct Jacobian Jacobian;

// NULL: out of memory. `replaced` (DAE form only; may be NULL): per state the row of
// jac_rest that takes the place of its row, plus 1.
Jacobian *jacobian_create(const Run *run, bool causal, const uint32_t *replaced);
// The same of y' = f(t, y), for who factors its matrix himself: cj - df/dy, with kept values behind the states, whatever the size of the model.
Jacobian *jacobian_create_open(const Run *run);
// Its pattern, every diagonal place of a state among it, and the values assembled last; its size.
uint32_t jacobian_open(const Jacobian *jacobian, const uint32_t **start, const uint32_t **row, const double **values);
// Of the DAE form: where the values of jac_y and jac_yp go among those of the matrix, and the 1 of each state's explicit row (UINT32_MAX: it has none).
void jacobian_places(const Jacobian *jacobian, const uint32_t **from_y, const uint32_t **from_yp, const uint32_t **diagonal);
void jacobian_free(Jacobian **jacobian);
// Values at the point in v (dynamics were called). False: a loop's matrix is singular (causal form only).
MDL_CHECKED bool jacobian_assemble(Jacobian *jacobian, Run *run, double cj);
// `fresh`: choose new pivots (after events).
MDL_CHECKED bool jacobian_factor(Jacobian *jacobian, bool fresh);
// b := J^-1 b; behind the unknowns stand those of fractional derivatives (run->modes).
void jacobian_solve(Jacobian *jacobian, double *b);
// Of several right sides one behind the other, where there are no fractional derivatives.
void jacobian_solve_several(Jacobian *jacobian, double *b, uint32_t several);
// Which unknowns the matrix assembled last leaves open, each direction with a newline before it; "" when it is too large.
void jacobian_null_text(const Jacobian *jacobian, const Run *run, char *text, size_t size);
// The first column without a pivot: an unknown, or a kept value behind them.
uint32_t jacobian_singular(const Jacobian *jacobian);
bool jacobian_starved(const Jacobian *jacobian); // as lu_starved(); false where there is no Jacobian
uint32_t jacobian_nonzeros(const Jacobian *jacobian);
bool jacobian_is_dense(const Jacobian *jacobian);

#endif
