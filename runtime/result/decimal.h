// decimal.h: numbers as text with 17 significant digits.
#ifndef MDLC_RUNTIME_RESULT_DECIMAL_H
#define MDLC_RUNTIME_RESULT_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DECIMAL_BYTES = 40, DECIMAL_LEAST = -292, DECIMAL_MOST = 324 };

// The powers of ten that numbers are multiplied by, their first 128 bits: 10 kB, made in some microseconds and then only read.
typedef struct DecimalPower {
    uint64_t high, low;
} DecimalPower;

typedef struct DecimalPowers {
    DecimalPower of[DECIMAL_MOST - DECIMAL_LEAST + 1];
    _Alignas(16) double pair[DECIMAL_MOST - DECIMAL_LEAST + 1][2]; // their sum, where both are normal numbers
    bool wide;                                        // this processor takes four numbers at a time
} DecimalPowers;

void decimal_prepare(DecimalPowers *powers);

// What printf("%.17g") gives, without the 0 at the end; the length. `text` has room for DECIMAL_BYTES: what stands there behind
// the number may change.
size_t decimal_format(const DecimalPowers *powers, char *text, double value);


// The same for `count` numbers, each with a comma behind it; returns where they end and stores their lengths. `text` has room for
// DECIMAL_BYTES more than they take.
char *decimal_format_all(const DecimalPowers *powers, char *text, const double *value, uint32_t count, uint8_t *length);

#endif
