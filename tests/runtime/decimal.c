// decimal.c against printf: random bits, random decimals with few digits, neighbours of powers of ten and of halves.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runtime/decimal.h"

static uint64_t
next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static int
differs(double value)
{
    char want[64], got[64];
    snprintf(want, sizeof want, "%.17g", value);
    size_t length = decimal_format(got, value);
    if (length == strlen(want) && !memcmp(want, got, length))
        return 0;
    printf("%s, not %.*s\n", want, (int)length, got);
    return 1;
}

int
main(void)
{
    uint64_t state = 88172645463325252u;
    int wrong = 0;
    for (int i = 0; i < 300000 && wrong < 10; i++) {
        uint64_t bits = next(&state);
        double value;
        memcpy(&value, &bits, sizeof value);
        wrong += differs(value);
        wrong += differs((double)(int64_t)(bits % 2000001 - 1000000) / pow(10, (double)(bits >> 60)));
        wrong += differs(ldexp((double)(bits >> 11), -(int)(bits % 80)));
    }
    for (int k = -323; k <= 308; k++) {
        double ten = pow(10, k);
        wrong += differs(ten) + differs(-ten) + differs(nextafter(ten, 0)) + differs(nextafter(ten, INFINITY)) + differs(5 * ten);
    }
    wrong += differs(0) + differs(-0.0) + differs(INFINITY) + differs(0.1) + differs(1.0 / 3) + differs(9007199254740993.0);
    return wrong != 0;
}
