// law_rank.c: how many directions the laws of a constraint fill.
//
// Purpose: a law is often written as a vector of which one part vanishes by itself: the elastic torque of a hinge has none
// about the hinge's axis. That direction is closed by a condition on the effort, not by the law.
// Method: the rank of the laws' values at generic motions (W. T. Tutte's and E. Lovasz's argument for generic ranks: random
// values give the rank of almost all). Directions and axes stay as they are while the motion varies: dimensionless vectors have
// one random value of unit length, matrices of axes are random rotations. What cannot be evaluated counts as independent.
// Contract: law_rank.h. Complexity: cubic in the laws of one constraint, a few dozen at most; more are taken as independent.
#include "ir/bonds/law_rank.h"

#include <math.h>

#include "ir/base/elimination.h"
#include "ir/expr/expr.h"

enum { LAWS_MAX = 32, SAMPLES = 2*LAWS_MAX };

typedef struct Sampler {
    const Domains *domains;
    uint32_t sample;
} Sampler;

// A number in [0.5, 1.5) or, signed, in (-1.5, 1.5) that `seed` decides.
static double
generic(uint64_t seed, bool positive)
{
    uint64_t mixed = hash_add(hash_add(0x9e3779b9u, seed), seed >> 7);
    double value = 0.5 + (double)(mixed >> 40)/(double)(1u << 24);
    return positive || mixed & 1 ? value : -value;
}

static bool
has_unit(const Dae *dae, const Group *group)
{
    return group->decl->unit && sym_text(dae->syms, group->decl->unit)[0] && sym_text(dae->syms, group->decl->unit)[0] != '1';
}

static double
element_of_direction(const Group *group, Var var, uint32_t n)
{
    double sum = 0;
    Var first = group->first + (var - group->first)/n*n;
    for (uint32_t k = 0; k < n; k++)
        sum += generic(first + k, false)*generic(first + k, false);
    return generic(var, false)/sqrt(sum);
}

// Of the rotation by a generic unit quaternion.
static double
element_of_rotation(uint64_t seed, uint32_t at)
{
    double q[4], sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        q[k] = generic(hash_add(seed, k), false);
        sum += q[k]*q[k];
    }
    uint32_t i = at/3, j = at%3, k = 3 - i - j;
    if (i == j)
        return 2*(q[i]*q[i] + q[3]*q[3])/sum - 1;
    bool even = (i + 1)%3 == j;
    return 2*(q[i]*q[j] + (even ? q[k] : -q[k])*q[3])/sum;
}

static double
value_of(const Sampler *sampler, Var var)
{
    const Dae *dae = sampler->domains->dae;
    const Group *group = dae_group(dae, var);
    uint64_t moving = hash_add(var, sampler->sample + 1);
    if (!group || dae->var_der_of.at[var] != NONE)
        return generic(moving, false);
    VarKind kind = dae_kind(dae, var);
    bool given = kind == VAR_PARAMETER || kind == VAR_CONSTANT, plain = !has_unit(dae, group);
    uint32_t rank = group->decl->rank, last = rank ? dae->dims.at[group->decl->dims + rank - 1] : 0;
    if (plain && rank >= 2 && group->decl->count == 9)
        return element_of_rotation(given ? group->first : hash_add(group->first, sampler->sample + 1), var - group->first);
    if (plain && rank && (last == 2 || last == 3))
        return element_of_direction(group, var, last);
    return given ? generic(var, true) : generic(moving, false);
}

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
        vec_push(&values, value_of(sampler, vars[k]));
    vec_push(&values, 0);
    double value = expr_eval(dae->exprs, rest, values.at, generic(sampler->sample, true));
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
