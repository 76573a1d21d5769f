// tear_scale.c: sizes of the coefficients of a linear loop.
//
// Purpose: an unknown is not found by dividing by a coefficient that is tiny beside the others (0.1 + 0.2 - 0.3, written as numbers):
// what the rest of the equation says would be lost to rounding. Neither are many by one after another whose quotients multiply.
// Method: coefficients of known value are brought to comparable sizes by factors for rows and columns (Ruiz, A scaling
// algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034), so that units do not matter; what is
// small then is small in any unit. The share of the present in a fractional derivative is as small as time is resolved. A coefficient that is a choice of such values (of a switch) counts by the worst of them. Along assignments
// the growth of an error of the tears is followed in these units.
// Contract: tear.h. Complexity: linear in the block's incidence.
#include <math.h>

#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/solve/tear.h"

enum { ROUNDS = 6, DEPTH_LIMIT = 8 };

static const double TINY_PIVOT = 1e-6; // an elimination with it loses as many digits
// What a fractional derivative makes of the present rate alone: the run chooses it, down to this.
static const double TAIL = 1e-12;

// One of t->tails is in the expression.
static bool
has_tail(const Tearing *t, Expr e, const Var *vars)
{
    uint32_t unused;
    for (uint32_t k = t->tails.count ? expr_nslots(t->dae->exprs, e) : 0; k-- > 0;)
        if (map_get(&t->tails, vars[k], &unused) && expr_uses_slot(t->dae->exprs, e, k))
            return true;
    return false;
}

static Sizes
sizes_at(Tearing *t, Expr e, const Var *vars, uint32_t depth)
{
    Exprs *exprs = t->dae->exprs;
    double value;
    uint32_t unused;
    if (expr_op(exprs, e) == OP_CONST)
        return (Sizes){fabs(expr_value(exprs, e)), fabs(expr_value(exprs, e))};
    if (expr_op(exprs, e) == OP_SLOT && map_get(&t->tails, vars[expr_slot_of(exprs, e)], &unused))
        return (Sizes){TAIL, TAIL};
    if (!has_tail(t, e, vars) && dae_known_expr(t->dae, e, vars, &value))
        return (Sizes){fabs(value), fabs(value)};
    Op op = expr_op(exprs, e);
    bool looked_into = op == OP_IF || op == OP_NEG || op == OP_NOEVENT || op == OP_MUL || op == OP_DIV;
    Sizes all = {NAN, NAN};
    for (uint32_t i = op == OP_IF, n = looked_into && depth < DEPTH_LIMIT ? expr_nargs(exprs, e) : 0; i < n; i++) {
        Sizes part = sizes_at(t, expr_arg(exprs, e, i), vars, depth + 1);
        if (i == (op == OP_IF))
            all = part;
        else if (op == OP_IF) // NAN, where a branch is not known, stays
            all = (Sizes){part.least < all.least || isnan(part.least) ? part.least : all.least,
                          part.most > all.most || isnan(part.most) ? part.most : all.most};
        else if (op == OP_MUL)
            all = (Sizes){all.least * part.least, all.most * part.most};
        else
            all = (Sizes){all.least / part.most, all.most / part.least};
    }
    return all;
}

Sizes
tearing_sizes(Tearing *t, Expr coefficient, const Var *vars)
{
    return sizes_at(t, coefficient, vars, 0);
}

// Of the coefficient of unknown slot k.
static Sizes
coefficient_of(Tearing *t, const LoopEquation *e, uint32_t k)
{
    Expr partial = solutions_partial(t->solutions, e->shape, k);
    return partial ? tearing_sizes(t, partial, t->vars.at + e->vars) : (Sizes){NAN, NAN};
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
            double size = t->coefficient.at[e->vars + k].most;
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
    vec_fill(&t->coefficient, t->vars.n, (Sizes){NAN, NAN});
    vec_clear(&t->growth);
    vec_fill(&t->growth, n, 1);
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
tearing_is_tiny(const Tearing *t, uint32_t equation, uint32_t local, Sizes coefficient)
{
    return coefficient.least * t->row_scale.at[equation] * t->column_scale.at[local] < TINY_PIVOT;
}

// A coefficient in comparable units; 1 where it is not known.
static double
in_units(const Tearing *t, const LoopEquation *e, uint32_t local, double size)
{
    return isfinite(size) ? size * t->row_scale.at[e - t->equations.at] * t->column_scale.at[local] : 1;
}

bool
tearing_grows(Tearing *t, const LoopEquation *e, uint32_t local)
{
    double sum = 0, own = 1;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t other = local_unknown(t, t->vars.at[e->vars + k]);
        if (other == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        if (other == local)
            own = in_units(t, e, local, t->coefficient.at[e->vars + k].least);
        else
            sum += in_units(t, e, other, t->coefficient.at[e->vars + k].most) * t->growth.at[other];
    }
    t->growth.at[local] = fmax(sum / own, 1);
    return !(t->growth.at[local] <= 1 / TINY_PIVOT);
}
