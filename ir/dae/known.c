// known.c: values of parameters while compiling.
//
// Purpose: tells whether a quantity that an equation would be divided by, or a constraint resolved for, is zero: a
// component of an axis or a lever arm often is, and whether it is more than what rounding has left of zero. Method: binds are followed
// and evaluated on demand, each once, together with a bound of their rounding error (expr_noise); a
// parameter that initialisation determines, or whose bind is too deep, has no known value.
// Contract: dae.h; binds of parameters do not change after the first question. Complexity: linear in the binds asked
// for, after one pass over all binds.
#include "ir/dae/dae.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>


enum { DEPTH_MAX = 64, SLOTS_MAX = 64 };
#define EVALUATED 0x80000000u // and the index of the value; without one NOT_KNOWN
#define NOT_KNOWN UINT32_MAX  // while it is being evaluated, too

static const double RESIDUE = 16 * DBL_EPSILON; // a value below this part of its noise is rounding of zero
static const double CANCELLED = 1e-8;           // below this part of it half of the digits are lost

typedef struct Measured { // a value and how far rounding may have moved it, in units of DBL_EPSILON
    double value, noise;
} Measured;

typedef struct Known {
    uint32_t nvars;
    uint32_t *bind;  // per variable: its ATTR_VALUE bind + 1; 0: it has none
    uint32_t *state; // per variable: the same, or EVALUATED
    Measured *value; // in the order of evaluation
    uint32_t n_values;
} Known;

static Known *
known_of(Dae *dae)
{
    if (dae->known)
        return dae->known;
    Known *known = arena_new(dae->arena, Known);
    known->nvars = dae->nvars;
    known->bind = arena_array(dae->arena, uint32_t, dae->nvars);
    known->state = arena_array(dae->arena, uint32_t, dae->nvars);
    uint32_t n = 0;
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_VALUE)
            bind_each(&dae->binds.at[i], var) {
                n += !known->state[var];
                known->bind[var] = known->state[var] = i + 1;
            }
    known->value = arena_array(dae->arena, Measured, n);
    dae->known = known;
    return known;
}

static bool find_value(Dae *dae, Known *known, Var var, uint32_t depth, Measured *found);

// `values` has places for the values of the n slots of e, those that are not used among them, and behind them for their noise. noise: it is asked for, and
// not only the value, of which it is several times the work.
static bool
measure(Dae *dae, Known *known, Expr e, const Var *vars, uint32_t depth, bool noise, double *values, uint32_t n, Measured *found)
{
    memset(values, 0, 2 * n * sizeof *values);
    for (uint32_t k = 0; k < n; k++) {
        Measured slot;
        if (!expr_uses_slot(dae->exprs, e, k))
            continue;
        if (!find_value(dae, known, vars[k], depth + 1, &slot))
            return false;
        values[k] = slot.value;
        values[n + k] = slot.noise;
    }
    found->value = expr_eval(dae->exprs, e, values, 0);
    found->noise = noise ? expr_eval(dae->exprs, expr_noise(dae->exprs, e), values, 0) : INFINITY;
    if (!(found->noise < INFINITY))
        found->noise = fabs(found->value);
    return !isnan(found->value);
}

static bool
evaluate_bind(Dae *dae, Known *known, const Bind *bind, uint32_t depth, Measured *found)
{
    double values[2 * SLOTS_MAX];
    uint32_t n = expr_nslots(dae->exprs, bind->shape);
    return n <= SLOTS_MAX && depth < DEPTH_MAX && !expr_has_op(dae->exprs, bind->shape, OP_TIME)
           && measure(dae, known, bind->shape, dae->rows.at + bind->row, depth, true, values, n, found);
}

// Whole numbers are exact.
static bool
number(double value, Measured *found)
{
    *found = (Measured){value, value == rint(value) ? 0 : fabs(value)};
    return !isnan(value);
}

static bool
find_value(Dae *dae, Known *known, Var var, uint32_t depth, Measured *found)
{
    double literal;
    if (dae_is_literal(dae, var, &literal))
        return number(literal, found);
    if (!dae_is_parameter(dae, var) || var >= known->nvars || !known->state[var])
        return false;
    if ((dae->var_flags.at[var] & (VARF_FIXED_SET | VARF_FIXED)) == VARF_FIXED_SET)
        return false;
    if (!(known->state[var] & EVALUATED)) {
        const Bind bind = dae->binds.at[known->state[var] - 1];
        Measured value;
        known->state[var] = NOT_KNOWN;
        if (evaluate_bind(dae, known, &bind, depth, &value)) {
            known->value[known->n_values] = value;
            known->state[var] = EVALUATED | known->n_values++;
        }
    }
    if (known->state[var] == NOT_KNOWN)
        return false;
    *found = known->value[known->state[var] & ~EVALUATED];
    return true;
}

bool
dae_known_value(Dae *dae, Var var, double *value)
{
    Measured found;
    if (!find_value(dae, known_of(dae), var, 0, &found))
        return false;
    *value = found.value;
    return true;
}

static bool
measure_expr(Dae *dae, Expr e, const Var *vars, bool noise, Measured *found)
{
    double few[2 * SLOTS_MAX];
    uint32_t n = expr_nslots(dae->exprs, e);
    if (expr_op(dae->exprs, e) == OP_CONST)
        return number(expr_value(dae->exprs, e), found);
    if (expr_has_op(dae->exprs, e, OP_TIME))
        return false;
    if (n <= SLOTS_MAX)
        return measure(dae, known_of(dae), e, vars, 0, noise, few, n, found);
    // What is left of a chain of substitutions stands in a long row although it is short itself.
    double *values = malloc(2 * n * sizeof *values);
    bool known = values && measure(dae, known_of(dae), e, vars, 0, noise, values, n, found);
    free(values);
    return known;
}

bool
dae_known_expr(Dae *dae, Expr e, const Var *vars, double *value)
{
    Measured found;
    if (!measure_expr(dae, e, vars, false, &found))
        return false;
    *value = found.value;
    return true;
}

bool
dae_known_zero(Dae *dae, Expr e, const Var *vars)
{
    Measured found;
    return measure_expr(dae, e, vars, true, &found) && fabs(found.value) <= RESIDUE * found.noise;
}

bool
dae_known_cancelled(Dae *dae, Expr e, const Var *vars)
{
    Measured found;
    return measure_expr(dae, e, vars, true, &found) && fabs(found.value) <= CANCELLED * found.noise;
}

const Bind *
dae_value_bind(Dae *dae, Var var)
{
    const Known *known = known_of(dae);
    return var < known->nvars && known->bind[var] ? &dae->binds.at[known->bind[var] - 1] : NULL;
}
