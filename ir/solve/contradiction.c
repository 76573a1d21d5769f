// contradiction.c: loops that no values solve.
//
// Purpose: `x = y + 1; y = x - 2` has as many equations as unknowns, and numbers would find a singular matrix at the start. Where all
// coefficients are numbers this is known before anything runs.
// Method: the residuals of a torn loop as affine functions of its tears, by substitution of the inner assignments; elimination
// (ir/base/elimination.h). A row without coefficients whose remainder is a number other than zero is a contradiction. Loops that may be redundant (constraints) or change with conditions are left to numbers.
// In others, a residual none of whose terms can be negative, and one of which is positive whatever the unknowns are, is never zero: x^2 + 1 = 0.
// Contract: solve.h, causal.h. Complexity: cubic in the tears of a loop, of which it looks at TEARS at most.
#include <math.h>

#include "ir/base/diag.h"
#include "ir/base/elimination.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/solve/solve.h"

enum { TEARS = 16, INNER = 64, NOTED = 6, DEPTH = 64 };

typedef struct Elimination {
    Dae *dae;
    const Causal *causal;
    const Loop *loop;
    double rows[TEARS][TEARS + 1]; // of each residual: the coefficients of the tears, then the rest
    U32Vec slot_of;            // per variable met: its value over slots, in `values`; pairs (variable, Expr)
} Elimination;

// What stands for a variable: a slot for a tear, the value of an inner variable, or a slot of its own behind the tears.
static Expr
value_of(Elimination *e, Var var)
{
    for (uint32_t i = 0; i < e->slot_of.n; i += 2)
        if (e->slot_of.at[i] == var)
            return e->slot_of.at[i + 1];
    Expr slot = expr_slot(e->dae->exprs, e->slot_of.n / 2);
    vec_push(&e->slot_of, var);
    vec_push(&e->slot_of, slot);
    return slot;
}

static Expr
in_tears(Elimination *e, Expr shape, uint32_t row)
{
    Exprs *exprs = e->dae->exprs;
    uint32_t n = expr_nslots(exprs, shape);
    Expr with[n ? n : 1];
    for (uint32_t k = 0; k < n; k++)
        with[k] = value_of(e, e->dae->rows.at[row + k]);
    return expr_substitute(exprs, shape, with, n);
}

// False where a coefficient or a remainder is no number.
static bool
read_rows(Elimination *e)
{
    Exprs *exprs = e->dae->exprs;
    for (uint32_t t = 0; t < e->loop->n; t++)
        value_of(e, e->causal->tears.at[e->loop->tear + t]);
    for (uint32_t i = 0; i < e->loop->n_inner; i++) {
        const Assign *assign = &e->causal->assigns.at[e->loop->inner + i];
        Expr value = in_tears(e, assign->shape, assign->row);
        vec_push(&e->slot_of, assign->var);
        vec_push(&e->slot_of, value);
    }
    for (uint32_t r = 0; r < e->loop->n; r++) {
        const Residual *residual = &e->causal->residuals.at[e->loop->residual + r];
        Expr rest = expr_residual(exprs, in_tears(e, residual->shape, residual->row)), coefficient;
        for (uint32_t t = 0; t < e->loop->n; t++) {
            if (!expr_affine(exprs, rest, t, &coefficient, &rest) || expr_op(exprs, coefficient) != OP_CONST)
                return false;
            e->rows[r][t] = expr_value(exprs, coefficient);
        }
        if (expr_op(exprs, rest) != OP_CONST)
            return false;
        e->rows[r][e->loop->n] = expr_value(exprs, rest);
    }
    return true;
}

// True when the rows ask for 0 = a number.
static bool
contradicts(Elimination *e)
{
    uint32_t n = e->loop->n;
    double asked = 0;
    for (uint32_t r = 0; r < n; r++)
        asked = fmax(asked, fabs(e->rows[r][n]));
    Table table = {&e->rows[0][0], n, n, TEARS + 1};
    for (uint32_t r = table_eliminate(&table, 1e-12 * table_largest(&table), NULL); r < n; r++)
        if (fabs(e->rows[r][n]) > 1e-9 * asked)
            return true;
    return false;
}

static void
tell(const Elimination *e, Diags *diags)
{
    const Dae *dae = e->dae;
    const Loop *loop = e->loop;
    Span first = dae->equations.at[e->causal->residuals.at[loop->residual].equation].span;
    Diag *diag = diag_add(diags, E0513, first, "no values of the unknowns fulfil these equations: they contradict each other");
    uint32_t n = loop->n_inner + loop->n;
    U32Vec told = {0};
    for (uint32_t i = 0; i < n && i < NOTED; i++) {
        uint32_t equation = i < loop->n ? e->causal->residuals.at[loop->residual + i].equation
            : e->causal->assigns.at[loop->inner + i - loop->n].equation;
        Out text = {0};
        dae_print_written(dae, equation, &text);
        vec_push(&told, equation);
        diag_note(diag, dae->equations.at[equation].span, "equation: %s", text.text);
        out_free(&text);
    }
    if (n > NOTED)
        diag_note(diag, (Span){0}, "and %u more", n - NOTED);
    locate_note_names(dae, told.at, told.n, diag);
    vec_free(&told);
}

// --- one equation that no real values solve

// Above zero whatever its slots are: a positive number, an exponential, products, quotients and roots of such.
static bool
is_positive(const Exprs *exprs, Expr e, uint32_t depth)
{
    switch (expr_op(exprs, e)) {
    case OP_CONST:
        return expr_value(exprs, e) > 0;
    case OP_EXP:
    case OP_COSH:
        return true;
    case OP_SQRT:
    case OP_MUL:
    case OP_DIV:
        for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
            if (depth == DEPTH || !is_positive(exprs, expr_arg(exprs, e, i), depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

// With numbers for parameters, unless they can be set later.
static Expr
with_numbers(Dae *dae, const Residual *residual)
{
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, residual->shape);
    Expr with[n ? n : 1];
    for (uint32_t k = 0; k < n; k++) {
        double value;
        Var var = dae->rows.at[residual->row + k];
        bool number = dae_is_literal(dae, var, &value)
            || (!dae->settable && dae_is_parametric(dae, expr_slot(exprs, 0), &var) && dae_known_expr(dae, expr_slot(exprs, 0), &var, &value));
        with[k] = number ? expr_const(exprs, value) : expr_slot(exprs, k);
    }
    return expr_residual(exprs, expr_substitute(exprs, residual->shape, with, n));
}

// Every term times `sign` is at least zero, and one is more.
static bool
is_one_sided(Exprs *exprs, Expr e, bool negative)
{
    uint32_t n = expr_op(exprs, e) == OP_ADD ? expr_nargs(exprs, e) : 1;
    bool positive = false;
    for (uint32_t i = 0; i < n; i++) {
        Expr term = expr_op(exprs, e) == OP_ADD ? expr_arg(exprs, e, i) : e;
        term = negative ? expr_1(exprs, OP_NEG, term) : term;
        if (!nonsmooth_nonneg(exprs, term, NULL))
            return false;
        positive |= is_positive(exprs, term, 0);
    }
    return positive;
}

static bool
has_zeros(Dae *dae, const Causal *causal, const Loop *loop, Diags *diags)
{
    bool good = true;
    for (uint32_t i = 0; i < loop->n; i++) {
        const Residual *residual = &causal->residuals.at[loop->residual + i];
        Expr e = with_numbers(dae, residual);
        bool positive = is_one_sided(dae->exprs, e, false);
        if (!positive && !is_one_sided(dae->exprs, e, true))
            continue;
        diag_add(diags, E0513, dae->equations.at[residual->equation].span, "no real values of the unknowns fulfil this equation: its left side is %s than the "
                 "right one whatever they are", positive ? "larger" : "smaller");
        good = false;
    }
    return good;
}

bool
causal_consistent(Dae *dae, const Causal *causal, Diags *diags)
{
    bool good = true;
    for (uint32_t i = 0; i < causal->loops.n; i++) {
        const Loop *loop = &causal->loops.at[i];
        if (!loop->linear)
            good &= has_zeros(dae, causal, loop, diags);
        if (!loop->linear || loop->constraints || loop->switched || loop->conditions || loop->n > TEARS || loop->n_inner > INNER)
            continue;
        Elimination e = {.dae = dae, .causal = causal, .loop = loop};
        if (read_rows(&e) && contradicts(&e)) {
            tell(&e, diags);
            good = false;
        }
        vec_free(&e.slot_of);
    }
    return good;
}
