// Sizes of the coefficients of a linear loop.
//
// Purpose: an unknown is not found by dividing by a coefficient that is tiny beside the others (0.1 + 0.2 - 0.3, written as numbers):
// what the rest of the equation says would be lost to rounding.
// Method: coefficients of known value are brought to comparable sizes by factors for rows and columns (Ruiz, A scaling
// algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034), so that units do not matter; what is
// small then is small in any unit.
// Contract: tear.h. Complexity: linear in the block's incidence.
#include <math.h>

#include "ir/pass/tear.h"

enum { ROUNDS = 6 };

static const double TINY_PIVOT = 1e-6; // an elimination with it loses as many digits

// The coefficient of unknown slot k; NAN when it is not known while compiling.
static double
coefficient_of(Tearing *t, const LoopEquation *e, uint32_t k)
{
    Exprs *exprs = t->dae->exprs;
    Expr partial = expr_diff(exprs, expr_residual(exprs, e->shape), k);
    double value;
    if (partial && expr_op(exprs, partial) == OP_CONST)
        return expr_value(exprs, partial);
    return partial && dae_known_expr(t->dae, partial, t->vars.at + e->vars, &value) ? value : NAN;
}

// The largest scaled coefficient of each row or column, square roots of which take its factor nearer to balance.
static void
balance(Tearing *t, uint32_t n, F64Vec *most_of_row, F64Vec *most_of_column)
{
    vec_clear(most_of_row);
    vec_clear(most_of_column);
    vec_grow(most_of_row, n);
    vec_grow(most_of_column, n);
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        for (uint32_t k = 0; k < e->n_vars; k++) {
            uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
            double size = fabs(t->coefficient.at[e->vars + k]);
            if (local == NONE || !(size > 0 && size < INFINITY))
                continue;
            size *= t->row_scale.at[i] * t->column_scale.at[local];
            most_of_row->at[i] = fmax(most_of_row->at[i], size);
            most_of_column->at[local] = fmax(most_of_column->at[local], size);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (most_of_row->at[i] > 0)
            t->row_scale.at[i] /= sqrt(most_of_row->at[i]);
        if (most_of_column->at[i] > 0)
            t->column_scale.at[i] /= sqrt(most_of_column->at[i]);
    }
}

void
tearing_scale(Tearing *t, uint32_t n)
{
    F64Vec row = {0}, column = {0};
    vec_clear(&t->coefficient);
    vec_fill(&t->coefficient, t->vars.n, NAN);
    vec_clear(&t->row_scale);
    vec_fill(&t->row_scale, n, 1);
    vec_clear(&t->column_scale);
    vec_fill(&t->column_scale, n, 1);
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        for (uint32_t k = 0; k < e->n_vars; k++)
            if (local_unknown(t, t->vars.at[e->vars + k]) != NONE && expr_uses_slot(t->dae->exprs, e->shape, k))
                t->coefficient.at[e->vars + k] = coefficient_of(t, e, k);
    }
    for (int round = 0; round < ROUNDS; round++)
        balance(t, n, &row, &column);
    vec_free(&row);
    vec_free(&column);
}

bool
tearing_is_tiny(const Tearing *t, uint32_t equation, uint32_t local, double coefficient)
{
    return fabs(coefficient) * t->row_scale.at[equation] * t->column_scale.at[local] < TINY_PIVOT;
}
