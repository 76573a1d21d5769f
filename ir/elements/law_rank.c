// law_rank.c: how many directions the laws of a constraint fill.
//
// Purpose: a law is often written as a vector of which one part vanishes by itself: the elastic torque of a hinge has none
// about the hinge's axis. That direction is closed by a condition on the effort, not by the law.
// Method: the rank of the laws' values at generic motions (generic.h). What cannot be evaluated counts as independent.
// Contract: law_rank.h. Complexity: cubic in the laws of one constraint, a few dozen at most; more are taken as independent.
#include "ir/elements/law_rank.h"

#include <math.h>

#include "ir/base/elimination.h"
#include "ir/elements/generic.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"

enum { LAWS_MAX = 32, SAMPLES = 2*LAWS_MAX };

typedef struct Sampler {
    const Domains *domains;
    uint32_t sample;
} Sampler;

static double
rest_of(const Sampler *sampler, uint32_t equation)
{
    Dae *dae = sampler->domains->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    Expr residual = expr_residual(dae->exprs, dae->equations.at[equation].shape);
    Expr rest = domains_without(sampler->domains, residual, vars, n, 1u << DOMAIN_EFFORT);
    F64Vec values = {0};
    for (uint32_t k = 0; k < n; k++)
        vec_push(&values, generic_value(dae, vars[k], sampler->sample));
    vec_push(&values, 0);
    double value = expr_eval(dae->exprs, rest, values.at, generic_number(sampler->sample, true));
    vec_free(&values);
    return value;
}

uint32_t
law_rank(const Domains *domains, const uint32_t *equations, uint32_t n)
{
    double matrix[LAWS_MAX][SAMPLES];
    uint32_t rows = 0, others = 0;
    if (n > LAWS_MAX)
        return n;
    for (uint32_t i = 0; i < n; i++) {
        double size = 0;
        for (uint32_t k = 0; k < SAMPLES; k++) {
            matrix[rows][k] = rest_of(&(Sampler){domains, k}, equations[i]);
            size += fabs(matrix[rows][k]);
        }
        rows += isfinite(size) != 0;
        others += !isfinite(size);
    }
    Table values = {&matrix[0][0], rows, SAMPLES, SAMPLES};
    return table_eliminate(&values, 1e-9 * table_largest(&values), NULL) + others;
}
