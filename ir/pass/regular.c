// regular.c: is a choice that the structure allows allowed by the numbers?
//
// Purpose:    parameters have no values that a choice of states may depend on, but equal texts have equal values: (a + b)/h and
//             (a + c)/h determine a and one of b and c, while (a + b)/h and (a + b - c)/h do not determine a and b.
// Method:     a text is a number of its own, made of a hash; a matrix of such numbers is singular, but for chance, where it is for all
//             values of the parameters. Columns are taken in the order of preference when elimination leaves them a pivot:
//             the greedy choice of a linear matroid.
// Contract:   regular.h. Complexity: n^2 m.
#include "ir/pass/regular.h"

#include <math.h>

enum { MOST_FACTORS = 32 };
static const double NOTHING = 1e-9; // beside the largest entry of a row

double
regular_number(Exprs *exprs, Expr term, Expr *text)
{
    Op op = expr_op(exprs, term);
    double number = 1;
    *text = term;
    if (op == OP_CONST) {
        number = expr_value(exprs, term);
        *text = expr_const(exprs, 1);
    } else if (op == OP_NEG) {
        number = -regular_number(exprs, expr_arg(exprs, term, 0), text);
    } else if (op == OP_MUL && expr_op(exprs, expr_arg(exprs, term, 0)) == OP_CONST) {
        Expr args[MOST_FACTORS];
        uint32_t n = expr_nargs(exprs, term);
        if (n > MOST_FACTORS)
            return 1;
        for (uint32_t k = 1; k < n; k++)
            args[k - 1] = expr_arg(exprs, term, k);
        number = expr_value(exprs, expr_arg(exprs, term, 0));
        *text = expr_make(exprs, OP_MUL, args, n - 1);
    } else if (op == OP_DIV) {
        Expr over;
        number = regular_number(exprs, expr_arg(exprs, term, 0), &over);
        *text = number != 1 ? expr_2(exprs, OP_DIV, over, expr_arg(exprs, term, 1)) : term;
    }
    return number;
}

double
regular_value(Exprs *exprs, Expr coefficient, const Var *vars)
{
    Expr text;
    double number = regular_number(exprs, coefficient, &text);
    if (expr_is_const(exprs, text, 1))
        return number;
    U32Vec order = {0};
    uint64_t key = hash_mix(expr_shape(exprs, text, &order));
    for (uint32_t k = 0; k < order.n; k++)
        key = hash_add(key, vars[order.at[k]]);
    vec_free(&order);
    return number * (1 + ldexp((double)(key >> 12), -52));
}

static void
scale_rows(double *a, uint32_t n, uint32_t m)
{
    for (uint32_t r = 0; r < n; r++) {
        double most = 0;
        for (uint32_t c = 0; c < m; c++)
            most = fmax(most, fabs(a[(size_t)r * m + c]));
        for (uint32_t c = 0; c < m && most > 0; c++)
            a[(size_t)r * m + c] /= most;
    }
}

// Takes column c out of the rows that are not used up.
static void
eliminate(double *a, uint32_t n, uint32_t m, uint32_t c, uint32_t pivot, const uint8_t *used)
{
    const double *from = a + (size_t)pivot * m;
    for (uint32_t r = 0; r < n; r++) {
        double *row = a + (size_t)r * m, factor = row[c] / from[c];
        if (used[r] || factor == 0)
            continue;
        for (uint32_t k = 0; k < m; k++)
            row[k] -= factor * from[k];
        row[c] = 0;
    }
}

uint32_t
regular_choose(double *a, uint32_t n, uint32_t m, const uint32_t *order, uint32_t n_order, uint32_t *row_of)
{
    uint32_t rank = 0;
    U8Vec used = {0};
    vec_grow(&used, n);
    scale_rows(a, n, m);
    for (uint32_t k = 0; k < n_order; k++) {
        uint32_t c = order[k], pivot = NONE;
        double most = NOTHING;
        for (uint32_t r = 0; r < n; r++)
            if (!used.at[r] && fabs(a[(size_t)r * m + c]) > most) {
                most = fabs(a[(size_t)r * m + c]);
                pivot = r;
            }
        row_of[k] = pivot;
        if (pivot == NONE)
            continue;
        used.at[pivot] = 1;
        rank++;
        eliminate(a, n, m, c, pivot, used.at);
    }
    vec_free(&used);
    return rank;
}
