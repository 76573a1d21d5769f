// philox.h: random numbers that are a function of their number: Philox 4x32-10.
#ifndef MDLC_FRONTEND_DESIGN_PHILOX_H
#define MDLC_FRONTEND_DESIGN_PHILOX_H

#include <stdint.h>

// In the open interval from 0 to 1, with 53 bits: of run `id`, of its factor `k`; `use` tells numbers of one factor apart.
double philox_uniform(uint64_t seed, uint64_t id, uint32_t k, uint32_t use);
// Where `at` goes when the numbers 0 to n - 1 are shuffled, by a permutation that is made from seed and k; no table is kept.
uint64_t philox_permute(uint64_t seed, uint32_t k, uint64_t at, uint64_t n);

#endif
