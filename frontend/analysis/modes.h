// modes.h: eigenvalues of a linear system and what takes part in them.
#ifndef MDLC_FRONTEND_ANALYSIS_MODES_H
#define MDLC_FRONTEND_ANALYSIS_MODES_H

#include <stdint.h>

#include "frontend/analysis/lapack.h"

// A real eigenvalue, or a pair real +- i*imag with imag > 0.
typedef struct Mode {
    double real, imag;
    double rounding;          // what rounding may have changed of it: below that it cannot be told from 0
    double omega;             // |eigenvalue|: the undamped natural angular frequency, rad/s
    double damping;           // -real/omega; 1 or -1 of a real one; 0 when omega is
    // Per state. Shape: the eigenvector, its largest entry is 1. Participation: |left*right entries|, their sum is 1: how much
    // a state takes part in the mode, whatever its unit.
    const double *shape_real, *shape_imag, *participation;
} Mode;

typedef struct Modes {
    uint32_t n, states;
    Mode *mode;               // oscillations by frequency and real ones by size, together
    double *numbers;          // what the modes point at
} Modes;

// Of the matrix a (n x n, by columns). False with a line in `why`.
bool modes_find(const double *a, uint32_t n, Modes *modes, Out *why);
void modes_free(Modes *modes);

#endif
