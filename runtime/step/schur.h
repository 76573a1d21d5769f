// schur.h: cj - df/dx of the causal form, where the unknowns of algebraic loops have been eliminated.
#ifndef MDLC_RUNTIME_STEP_SCHUR_H
#define MDLC_RUNTIME_STEP_SCHUR_H

#include "runtime/point/run.h"

typedef struct Schur Schur;

// The pattern of the matrix (states x states, every diagonal place in it) is in compressed columns, ascending; it lives as long as
// the Schur. NULL: out of memory.
Schur *schur_create(const mdl_model *model, const uint32_t **start, const uint32_t **row);
void schur_free(Schur **schur);
// Values in the order of the pattern, after the model's `jacobian`. False: a loop's matrix is singular, or out of memory.
MDL_CHECKED bool schur_assemble(Schur *schur, const Run *run, double cj, double *values);

#endif
