// design.c: which values the factors of a run have.
//
// Purpose: the values of run i, by whoever makes it. Method: a point of the unit cube by the design, then quantiles of the factors'
// distributions; correlated factors go through normal numbers (Iman and Conover's matrix, Nataf's transformation), multiplied by the
// Cholesky factor of their correlations.
// Contract: design.h: a function of the study and of the id. Complexity: linear in the factors; quadratic where they are correlated.
#include "frontend/design/design.h"

#include <math.h>

#include "frontend/design/philox.h"
#include "frontend/design/sobol.h"

// As loops inside each other: the last factor changes fastest.
static void
grid_point(const Study *study, uint64_t id, double *value)
{
    for (uint32_t k = study->factors; k-- > 0;) {
        const Distribution *d = &study->factor[k].values;
        value[k] = d->value[id % d->n];
        id /= d->n;
    }
}

static void
zip_point(const Study *study, uint64_t id, double *value)
{
    for (uint32_t k = 0; k < study->factors; k++) {
        const Distribution *d = &study->factor[k].values;
        value[k] = d->value[d->n == 1 ? 0 : id];
    }
}

static double
cube_point(const Study *study, uint64_t id, uint32_t k)
{
    switch (study->design) {
    case DESIGN_SOBOL: return sobol_point(id, k);
    case DESIGN_LATIN_HYPERCUBE: {
        double u = ((double)philox_permute(study->seed, k, id, study->runs) + philox_uniform(study->seed, id, k, 0)) / (double)study->runs;
        return fmin(u, 1 - 0x1p-53);
    }
    default: return philox_uniform(study->seed, id, k, 0);
    }
}

// Whether factor k has to do with another one.
static bool
is_correlated(const Study *study, uint32_t k)
{
    uint32_t n = study->factors;
    for (uint32_t j = 0; j < n; j++)
        if (j != k && (study->root[k * n + j] != 0 || study->root[j * n + k] != 0))
            return true;
    return false;
}

// value: points of the cube; become values.
static void
correlate(const Study *study, double *value)
{
    uint32_t n = study->factors;
    // Row k needs the normal numbers up to k only, so that it may be done from the last one on in place.
    for (uint32_t k = 0; k < n; k++)
        if (is_correlated(study, k))
            value[k] = normal_quantile(fmax(value[k], 0x1p-54));
    for (uint32_t k = n; k-- > 0;) {
        if (!is_correlated(study, k)) {
            value[k] = distribution_quantile(&study->factor[k].values, value[k]);
            continue;
        }
        double z = 0;
        for (uint32_t j = 0; j <= k; j++)
            if (study->root[k * n + j] != 0)
                z += study->root[k * n + j] * value[j];
        value[k] = distribution_of_normal(&study->factor[k].values, z);
    }
}

void
design_point(const Study *study, uint64_t id, double *value)
{
    uint32_t n = study->factors;
    switch (study->design) {
    case DESIGN_GRID: grid_point(study, id, value); return;
    case DESIGN_ZIP: zip_point(study, id, value); return;
    case DESIGN_POINTS:
        for (uint32_t k = 0; k < n; k++)
            value[k] = study->point[id * n + k];
        return;
    default: break;
    }
    for (uint32_t k = 0; k < n; k++)
        value[k] = cube_point(study, id, k);
    if (study->root) {
        correlate(study, value);
        return;
    }
    for (uint32_t k = 0; k < n; k++)
        value[k] = distribution_quantile(&study->factor[k].values, value[k]);
}

uint32_t
design_build(const Study *study, const double *value)
{
    uint32_t build = 0;
    for (uint32_t k = 0; k < study->factors; k++)
        if (study->factor[k].structural)
            build = build * study->factor[k].values.n + (uint32_t)value[k];
    return build;
}

uint32_t
design_build_value(const Study *study, uint32_t build, uint32_t k)
{
    for (uint32_t j = study->factors - 1; j > k; j--)
        if (study->factor[j].structural)
            build /= study->factor[j].values.n;
    return build % study->factor[k].values.n;
}
