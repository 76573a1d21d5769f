// Values of parameters while compiling.
//
// Purpose: tells whether a quantity that an equation would be divided by, or a constraint resolved for, is zero: a
// component of an axis or a lever arm often is. Method: binds are followed and evaluated on demand, each once; a
// parameter that initialisation determines, or whose bind is too deep, has no known value.
// Contract: dae.h; binds of parameters do not change after the first question. Complexity: linear in the binds asked
// for, after one pass over all binds.
#include "ir/dae.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, SLOTS_MAX = 64 };
#define EVALUATED 0x80000000u // and the index of the value; without one NOT_KNOWN
#define NOT_KNOWN UINT32_MAX  // while it is being evaluated, too

typedef struct Known {
    uint32_t nvars;
    uint32_t *state; // per variable: its ATTR_VALUE bind + 1, or EVALUATED; 0: it has none
    double *value;   // in the order of evaluation
    uint32_t n_values;
} Known;

static Known *
known_of(Dae *dae)
{
    if (dae->known)
        return dae->known;
    Known *known = arena_new(dae->arena, Known);
    known->nvars = dae->nvars;
    known->state = arena_array(dae->arena, uint32_t, dae->nvars);
    uint32_t n = 0;
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_VALUE)
            bind_each(&dae->binds.at[i], var) {
                n += !known->state[var];
                known->state[var] = i + 1;
            }
    known->value = arena_array(dae->arena, double, n);
    dae->known = known;
    return known;
}

static bool find_value(Dae *dae, Known *known, Var var, uint32_t depth, double *value);

static bool
evaluate_bind(Dae *dae, Known *known, const Bind *bind, uint32_t depth, double *value)
{
    double values[SLOTS_MAX];
    uint32_t n = expr_nslots(dae->exprs, bind->shape);
    if (n > SLOTS_MAX || depth == DEPTH_MAX || expr_has_op(dae->exprs, bind->shape, OP_TIME))
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (!find_value(dae, known, dae->rows.at[bind->row + k], depth + 1, &values[k]))
            return false;
    *value = expr_eval(dae->exprs, bind->shape, values, 0);
    return *value == *value;
}

static bool
find_value(Dae *dae, Known *known, Var var, uint32_t depth, double *value)
{
    VarKind kind = dae_kind(dae, var);
    if (dae_is_literal(dae, var, value))
        return true;
    if ((kind != VAR_PARAMETER && kind != VAR_CONSTANT) || var >= known->nvars || !known->state[var])
        return false;
    if ((dae->var_flags.at[var] & (VARF_FIXED_SET | VARF_FIXED)) == VARF_FIXED_SET)
        return false;
    if (!(known->state[var] & EVALUATED)) {
        const Bind bind = dae->binds.at[known->state[var] - 1];
        double found;
        known->state[var] = NOT_KNOWN;
        if (evaluate_bind(dae, known, &bind, depth, &found)) {
            known->value[known->n_values] = found;
            known->state[var] = EVALUATED | known->n_values++;
        }
    }
    if (known->state[var] == NOT_KNOWN)
        return false;
    *value = known->value[known->state[var] & ~EVALUATED];
    return true;
}

bool
dae_known_value(Dae *dae, Var var, double *value)
{
    return find_value(dae, known_of(dae), var, 0, value);
}

// `values` has a place for each slot of e, those that are not used among them.
static bool
evaluates_to_zero(Dae *dae, Expr e, const Var *vars, double *values, uint32_t n)
{
    Known *known = known_of(dae);
    memset(values, 0, n * sizeof *values);
    for (uint32_t k = 0; k < n; k++)
        if (expr_uses_slot(dae->exprs, e, k) && !find_value(dae, known, vars[k], 0, &values[k]))
            return false;
    return expr_eval(dae->exprs, e, values, 0) == 0;
}

bool
dae_known_zero(Dae *dae, Expr e, const Var *vars)
{
    double few[SLOTS_MAX];
    uint32_t n = expr_nslots(dae->exprs, e);
    if (expr_has_op(dae->exprs, e, OP_TIME))
        return false;
    if (n <= SLOTS_MAX)
        return evaluates_to_zero(dae, e, vars, few, n);
    // What is left of a chain of substitutions stands in a long row although it is short itself.
    double *values = malloc(n * sizeof *values);
    bool zero = values && evaluates_to_zero(dae, e, vars, values, n);
    free(values);
    return zero;
}
