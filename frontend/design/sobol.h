// sobol.h: the Sobol sequence.
#ifndef MDLC_FRONTEND_DESIGN_SOBOL_H
#define MDLC_FRONTEND_DESIGN_SOBOL_H

#include <stdint.h>

enum { SOBOL_BITS = 30 };

uint32_t sobol_dimensions(void); // there are numbers for
// Coordinate `k` of point `id` < 2^SOBOL_BITS, from 0 up to 1 without it: that of scipy.stats.qmc.Sobol(d, scramble=False).
double sobol_point(uint64_t id, uint32_t k);

#endif
