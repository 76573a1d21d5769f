// bordered.h: the iteration matrix of the causal form for models with large algebraic loops.
#ifndef MDLC_RUNTIME_LINEAR_BORDERED_H
#define MDLC_RUNTIME_LINEAR_BORDERED_H

#include <stdbool.h>

#include "runtime/linear/lu.h"
#include "runtime/model/model.h"

typedef struct Bordered Bordered;

// NULL: out of memory. The model has no constraints.
// Threads share the factors (lu_share()); NULL: none.
Bordered *bordered_create(const mdl_model *model, Threads *threads);
void bordered_free(Bordered **bordered);
// Values at the point in v, after the model's `jacobian`.
void bordered_assemble(Bordered *bordered, const double *v, double cj);
// False: singular; bordered_singular() is then the unknown (as in state_name) that is not determined.
MDL_CHECKED bool bordered_factor(Bordered *bordered, bool fresh);
uint32_t bordered_singular(const Bordered *bordered);
bool bordered_starved(const Bordered *bordered); // as lu_starved()
// b (one entry per state) := (cj - df/dx)^-1 b.
void bordered_solve(Bordered *bordered, double *b);
uint32_t bordered_nonzeros(const Bordered *bordered);
bool bordered_is_dense(const Bordered *bordered);

#endif
