// digest.c: SHA-256 in base 64.
//
// Purpose: pages tell browsers which of their own scripts may run, by their digests.
// Method: FIPS 180-4, section 6.2; the constants are the first bits of the fractions of cube and square roots of the first primes.
// Contract: digest.h. Complexity: linear in the text.
#include "frontend/page/digest.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 8, ROUNDS = 64, DIGEST = 32 };

static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
turned(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void
add_block(uint32_t hash[WORDS], const uint8_t *bytes)
{
    uint32_t w[ROUNDS], s[WORDS];
    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)bytes[4 * t] << 24 | (uint32_t)bytes[4 * t + 1] << 16 | (uint32_t)bytes[4 * t + 2] << 8 | bytes[4 * t + 3];
    for (unsigned t = 16; t < ROUNDS; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[t - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(s, hash, sizeof s);
    for (unsigned t = 0; t < ROUNDS; t++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]), most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice + round_constants[t] + w[t];
        uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + most;
        memmove(s + 1, s, (WORDS - 1) * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (unsigned k = 0; k < WORDS; k++)
        hash[k] += s[k];
}

static void
digest(const char *text, uint8_t result[DIGEST])
{
    uint32_t hash[WORDS] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    size_t length = strlen(text), at = 0, rest;
    uint8_t last[2 * BLOCK] = {0};
    for (; length - at >= BLOCK; at += BLOCK)
        add_block(hash, (const uint8_t *)text + at);
    rest = length - at;
    memcpy(last, text + at, rest);
    last[rest] = 0x80;
    size_t blocks = rest + 9 > BLOCK ? 2 : 1;
    for (unsigned k = 0; k < 8; k++)
        last[blocks * BLOCK - 1 - k] = (uint8_t)((uint64_t)length * 8 >> 8 * k);
    for (size_t k = 0; k < blocks; k++)
        add_block(hash, last + k * BLOCK);
    for (unsigned k = 0; k < DIGEST; k++)
        result[k] = (uint8_t)(hash[k / 4] >> (24 - 8 * (k % 4)));
}

void
base64_print(const uint8_t *bytes, size_t n, Out *out)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < n; k += 3) {
        uint32_t three = (uint32_t)bytes[k] << 16 | (uint32_t)(k + 1 < n ? bytes[k + 1] : 0) << 8 | (k + 2 < n ? bytes[k + 2] : 0);
        for (unsigned i = 0; i < 4; i++)
            out_char(out, k + i > n ? '=' : letters[three >> (18 - 6 * i) & 63]);
    }
}

void
digest_print(const char *text, Out *out)
{
    uint8_t bytes[DIGEST];
    digest(text, bytes);
    base64_print(bytes, DIGEST, out);
}
