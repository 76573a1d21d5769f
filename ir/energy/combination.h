// combination.h: sums whose coefficients nobody knows. Private to the proof of the equations of motion.
#ifndef MDLC_IR_ENERGY_COMBINATION_H
#define MDLC_IR_ENERGY_COMBINATION_H

#include <stdint.h>

typedef enum Combination { COMBINATION_FOUND, COMBINATION_NONE, COMBINATION_UNDECIDED } Combination;

// `table` has rows of parts + sums numbers. Its first `conditions` rows have A and zeros, each other row a sample: the parts r and the
// sums L. FOUND: every sum is L = c'r in all samples with one vector c of its own, A c = 0, and together the sums say all that the parts
// with A c = 0 do. NONE: not so. The table is used up. Samples must be more than parts, or every sum has such a vector.
Combination combination_find(double *table, uint32_t rows, uint32_t conditions, uint32_t parts, uint32_t sums);

#endif
