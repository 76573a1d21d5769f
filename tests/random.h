// random.h: repeatable random numbers for tests and measurements (a linear congruential generator modulo 2^64 with the multiplier
// of Knuth, The Art of Computer Programming 2, 3.3.4; its upper bits are used).
#ifndef MDLC_TESTS_RANDOM_H
#define MDLC_TESTS_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state;
} Random;

static inline uint32_t
random_below(Random *random, uint32_t n)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random->state >> 33) % n);
}

#endif
