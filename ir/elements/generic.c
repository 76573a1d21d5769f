// generic.c: random values of a model's variables.
//
// Purpose: ranks and powers of a few equations are looked at by values where symbols leave them open.
// Method: values at random points give the rank of almost all points (W. T. Tutte's and L. Lovasz's argument for generic
// ranks). Directions and axes stay what they are: dimensionless vectors have length one, matrices of axes are rotations by
// random unit quaternions.
// Contract: generic.h. Complexity: constant.
#include "ir/elements/generic.h"

#include <math.h>

double
generic_number(uint64_t seed, bool positive)
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
        sum += generic_number(first + k, false)*generic_number(first + k, false);
    return generic_number(var, false)/sqrt(sum);
}

// Of the rotation by a generic unit quaternion.
static double
element_of_rotation(uint64_t seed, uint32_t at)
{
    double q[4], sum = 0;
    for (uint32_t k = 0; k < 4; k++) {
        q[k] = generic_number(hash_add(seed, k), false);
        sum += q[k]*q[k];
    }
    uint32_t i = at/3, j = at%3, k = 3 - i - j;
    if (i == j)
        return 2*(q[i]*q[i] + q[3]*q[3])/sum - 1;
    bool even = (i + 1)%3 == j;
    return 2*(q[i]*q[j] + (even ? q[k] : -q[k])*q[3])/sum;
}

double
generic_value(const Dae *dae, Var var, uint32_t sample)
{
    const Group *group = dae_group(dae, var);
    uint64_t moving = hash_add(var, sample + 1);
    double value;
    if (dae_is_literal(dae, var, &value))
        return value;
    if (!group || dae->var_der_of.at[var] != NONE)
        return generic_number(moving, false);
    bool given = dae_is_parameter(dae, var), plain = !has_unit(dae, group);
    uint32_t rank = group->decl->rank, last = rank ? dae->dims.at[group->decl->dims + rank - 1] : 0;
    if (plain && rank >= 2 && group->decl->count == 9)
        return element_of_rotation(given ? group->first : hash_add(group->first, sample + 1), var - group->first);
    if (plain && rank && (last == 2 || last == 3))
        return element_of_direction(group, var, last);
    return given ? generic_number(var, true) : generic_number(moving, false);
}
