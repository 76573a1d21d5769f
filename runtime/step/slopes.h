// slopes.h: how invariants change with the states alone, where unknowns of algebraic loops follow the states.
#ifndef MDLC_RUNTIME_STEP_SLOPES_H
#define MDLC_RUNTIME_STEP_SLOPES_H

#include "runtime/point/run.h"

// d(invariant)/d(state) in compressed columns, one for each state. Without loops between them these are the entries of jac_c.
typedef struct Slopes {
    const uint32_t *column_start; // nx + 1
    const uint32_t *row;          // per entry: the invariant
    uint32_t entries;
    uint32_t *empty;              // owned; the table where no invariant reads anything; otherwise NULL
    struct Elimination *elimination; // owned; NULL where no invariant reads an unknown of a loop
} Slopes;

// NULL: out of memory.
Slopes *slopes_create(const mdl_model *model);
void slopes_free(Slopes **slopes);
// Eliminates the unknowns with the partial derivatives in v, after the model's `jacobian`. False: a loop is singular there; what the
// states contribute without it stands for the slopes.
MDL_CHECKED bool slopes_update(const Run *run, Slopes *slopes);
// Per entry, of the latest update; without loops what is in v now.
const double *slopes_values(const Run *run, const Slopes *slopes);

#endif
