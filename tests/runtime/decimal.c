// decimal.c against printf: random bits, random decimals with few digits, neighbours of powers of ten and of halves.
#include <stdint.h>

#include "runtime/decimal.h"
#include "tests/runtime/check.h"

static uint64_t
next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void
differs(const DecimalPowers *powers, uint32_t *wrong, double value)
{
    char want[64], got[64];
    snprintf(want, sizeof want, "%.17g", value);
    size_t length = decimal_format(powers, got, value);
    if (length == strlen(want) && !memcmp(want, got, length))
        return;
    if (!(*wrong)++)
        printf("# %s, not %.*s\n", want, (int)length, got);
}

int
main(void)
{
    enum { RANDOM = 100000 };
    Check state = {0};
    DecimalPowers powers_of_ten;
    decimal_prepare(&powers_of_ten);
    uint64_t random = 88172645463325252u;
    uint32_t bits_wrong = 0, decimals = 0, halves = 0, powers = 0;
    for (int i = 0; i < RANDOM; i++) {
        uint64_t bits = next(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        differs(&powers_of_ten, &bits_wrong, value);
        differs(&powers_of_ten, &decimals, (double)(int64_t)(bits % 2000001 - 1000000) / pow(10, (double)(bits >> 60)));
        differs(&powers_of_ten, &halves, ldexp((double)(bits >> 11), -(int)(bits % 80)));
    }
    for (int k = -323; k <= 308; k++) {
        double ten = pow(10, k), near[] = {ten, -ten, nextafter(ten, 0), nextafter(ten, INFINITY), 5 * ten};
        for (int i = 0; i < 5; i++)
            differs(&powers_of_ten, &powers, near[i]);
    }
    const double special[] = {0, -0.0, INFINITY, -INFINITY, 0.1, 1.0 / 3, 9007199254740993.0};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        differs(&powers_of_ten, &powers, special[i]);
    check(&state, bits_wrong == 0, "any bits", "%u of %d differ", bits_wrong, RANDOM);
    check(&state, decimals == 0, "short decimals", "%u of %d differ", decimals, RANDOM);
    check(&state, halves == 0, "dyadic fractions", "%u of %d differ", halves, RANDOM);
    check(&state, powers == 0, "around powers of ten", "%u differ", powers);
    return check_end(&state);
}
