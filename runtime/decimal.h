// decimal.h: numbers as text with 17 significant digits.
#ifndef MDLC_RUNTIME_DECIMAL_H
#define MDLC_RUNTIME_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_BYTES = 40, DECIMAL_LEAST = -292, DECIMAL_MOST = 324 };

// The powers of ten that numbers are multiplied by, their first 128 bits: 10 kB, made in some microseconds and then only read.
typedef struct DecimalPower {
    uint64_t high, low;
} DecimalPower;

typedef struct DecimalPowers {
    DecimalPower of[DECIMAL_MOST - DECIMAL_LEAST + 1];
} DecimalPowers;

void decimal_prepare(DecimalPowers *powers);

// What printf("%.17g") gives, without the 0 at the end; the length. `text` has room for DECIMAL_BYTES: what stands there behind
// the number may change.
size_t decimal_format(const DecimalPowers *powers, char *text, double value);

#endif
