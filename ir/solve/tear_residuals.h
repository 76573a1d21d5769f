// tear_residuals.h: which residual of a large torn loop stands in the row of which tear.
#ifndef MDLC_IR_SOLVE_TEAR_RESIDUALS_H
#define MDLC_IR_SOLVE_TEAR_RESIDUALS_H

#include "ir/base/vec.h"

// Residual r uses the tears uses[start[r] .. start[r+1]), one entry for each unknown through which it does.
typedef struct PairInput {
    uint32_t tears;
    U32Vec start, uses;
} PairInput;

// Permutes `residuals` (as many as tears) so that residual k goes with tear k. Frees the input's vectors.
void tearing_pair(PairInput *input, U32Vec *residuals);

#endif
