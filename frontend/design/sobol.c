// sobol.c: the Sobol sequence, point by point.
//
// Purpose: points that fill a cube more evenly than random ones. Method: Bratley and Fox (Algorithm 659, ACM TOMS 14, 1988) in the order of
// Gray's code, in which point i is the sum of the direction numbers where the bits of i ^ (i >> 1) are 1, so that no point before is needed.
// Contract: sobol.h. Complexity: a direction number follows from those before it: SOBOL_BITS times the degree.
#include "frontend/design/sobol.h"

enum { DEGREE_MOST = 18 };

typedef struct Dimension {
    uint32_t polynomial;
    uint32_t first[DEGREE_MOST];
} Dimension;

static const Dimension dimensions[] = {
#define DIMENSION(polynomial, ...) {polynomial, {__VA_ARGS__}},
#include "frontend/design/sobol.def"
};

uint32_t
sobol_dimensions(void)
{
    return sizeof dimensions / sizeof *dimensions;
}

static void
directions(uint32_t k, uint32_t v[SOBOL_BITS])
{
    uint32_t polynomial = dimensions[k].polynomial, degree = 0;
    while (polynomial >> (degree + 1))
        degree++;
    for (uint32_t j = 0; j < SOBOL_BITS; j++) {
        if (!degree || j < degree) {
            v[j] = degree ? dimensions[k].first[j] : 1;
            continue;
        }
        v[j] = v[j - degree];
        for (uint32_t i = 0; i < degree; i++)
            if (polynomial >> (degree - 1 - i) & 1)
                v[j] ^= v[j - i - 1] << (i + 1);
    }
    for (uint32_t j = 0; j < SOBOL_BITS; j++)
        v[j] <<= SOBOL_BITS - 1 - j;
}

double
sobol_point(uint64_t id, uint32_t k)
{
    uint32_t v[SOBOL_BITS], sum = 0;
    directions(k, v);
    uint64_t gray = id ^ (id >> 1);
    for (uint32_t j = 0; j < SOBOL_BITS; j++)
        if (gray >> j & 1)
            sum ^= v[j];
    return sum * 0x1p-30;
}
