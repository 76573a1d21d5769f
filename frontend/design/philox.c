// philox.c: Philox 4x32-10, and what designs draw from it.
//
// Purpose: sample i depends on the seed and on i alone, whoever computes it. Method: a counter is encrypted in ten rounds of
// multiplications; a permutation of any length is a Feistel network over the next even power of two, walked on until it is inside (Black
// and Rogaway: Ciphers with arbitrary finite domains, 2002).
// Contract: philox.h. Complexity: constant; a permutation walks four steps in the mean at most.
#include "frontend/design/philox.h"

enum { ROUNDS = 10, FEISTEL_ROUNDS = 6, USE_PERMUTATION = 0x70 };

// Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
static void
philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double
philox_uniform(uint64_t seed, uint64_t id, uint32_t k, uint32_t use)
{
    uint32_t counter[4] = {(uint32_t)id, (uint32_t)(id >> 32), k, use}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, out[4];
    philox(counter, key, out);
    uint64_t bits = (uint64_t)out[0] << 21 | out[1] >> 11; // 53 of them
    return bits == ((uint64_t)1 << 53) - 1 ? 1 - 0x1p-53 : ((double)bits + 0.5) * 0x1p-53;
}

uint64_t
philox_permute(uint64_t seed, uint32_t k, uint64_t at, uint64_t n)
{
    uint32_t half = 1;
    while (half < 32 && (uint64_t)1 << 2 * half < n)
        half++;
    uint64_t mask = ((uint64_t)1 << half) - 1;
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, out[4];
    do {
        uint64_t left = at >> half, right = at & mask;
        for (uint32_t round = 0; round < FEISTEL_ROUNDS; round++) {
            uint32_t counter[4] = {(uint32_t)right, round, k, USE_PERMUTATION};
            philox(counter, key, out);
            uint64_t next = left ^ (out[0] & mask);
            left = right;
            right = next;
        }
        at = left << half | right;
    } while (at >= n);
    return at;
}
