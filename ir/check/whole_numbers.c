// whole_numbers.c: an equation gives an Integer a whole number.
//
// Purpose: the sides of an equation may be an Integer and a Real (Modelica specification 3.6, section 8.3.1): `n = 2*y` may
// give y. Where it gives n, the value is what it is, and `n = p/2` made 1.5 of an Integer; nothing converts a Real
// to an Integer by itself (section 10.6.13).
// Method: of the equation that the matching gave an Integer, the terms beside it must be whole by what they are made of.
// Contract: check.h; reports, changes nothing. Complexity: linear in the expressions of these equations.
#include <math.h>

#include "ir/check/check.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"

enum { EQUATIONS_SHOWN = 4 };

typedef struct Whole {
    const Dae *dae;
    const Var *row;
    U8Vec known;             // per expression: 1 whole, 2 not; of those of the equation at hand
} Whole;

static bool
is_whole(const Whole *whole, Expr e)
{
    return whole->known.at[e] == 1;
}

static bool
all_whole(const Whole *whole, Expr e, uint32_t first)
{
    bool yes = true;
    for (uint32_t i = first; i < expr_nargs(whole->dae->exprs, e) && yes; i++)
        yes = is_whole(whole, expr_arg(whole->dae->exprs, e, i));
    return yes;
}

// What assignments of an algorithm give, and functions in C, has been held against the types of its variables.
static bool
is_whole_result(const Exprs *exprs, Expr result)
{
    Expr call = expr_arg(exprs, result, 1);
    if (expr_op(exprs, call) != OP_CALL)
        return true;
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, call, 0)));
    uint32_t at = (uint32_t)expr_value(exprs, expr_arg(exprs, result, 0)) - 1;
    return routine->external || at >= routine->whole.n || routine->whole.at[at];
}

// The compiler's own variables are what its equations say; those of clocks give variables of the model.
static bool
is_made(const Dae *dae, Var var)
{
    return dae_group(dae, var)->decl->flags & GROUP_HIDDEN;
}

// Indices of loops, and what counts connections, are literals. What the compiler adds of its own (by what a start may be moved) is zero where the equation holds.
static bool
is_whole_variable(const Dae *dae, Var var)
{
    double value;
    if (dae_is_literal(dae, var, &value))
        return value == floor(value);
    return dae_type(dae, var) != TYPE_REAL || is_made(dae, var);
}

// Whether e is a whole number by what it is made of; its arguments are known.
static bool
judge(const Whole *whole, Expr e)
{
    const Exprs *exprs = whole->dae->exprs;
    switch (expr_op(exprs, e)) {
    case OP_CONST: // a field that a function leaves open is no number
        return isnan(expr_value(exprs, e)) || expr_value(exprs, e) == floor(expr_value(exprs, e));
    case OP_SLOT:
        return is_whole_variable(whole->dae, whole->row[expr_slot_of(exprs, e)]);
    case OP_ADD: case OP_MUL: case OP_NEG: case OP_ABS: case OP_MIN: case OP_MAX: case OP_POW:
        return all_whole(whole, e, 0);
    case OP_IF: case OP_PICK: case OP_SMOOTH:
        return all_whole(whole, e, 1);
    case OP_NOEVENT: case OP_HOMOTOPY: case OP_SAMPLED: case OP_HOLD: case OP_PREVIOUS: case OP_CLOCKED: case OP_SUBSAMPLE:
    case OP_SUPERSAMPLE: case OP_SHIFTSAMPLE: case OP_BACKSAMPLE: case OP_NOCLOCK: case OP_DELAY:
        return is_whole(whole, expr_arg(exprs, e, 0));
    case OP_RESULT:
        return is_whole_result(exprs, e);
    case OP_TIME: case OP_DIV: case OP_SQRT: case OP_EXP: case OP_LOG: case OP_LOG10: case OP_SIN: case OP_COS: case OP_TAN: case OP_ASIN:
    case OP_ACOS: case OP_ATAN: case OP_ATAN2: case OP_SINH: case OP_COSH: case OP_TANH:
        return false;
    default:
        return true;
    }
}

static void
learn(Whole *whole, Expr shape)
{
    U32Vec parts = {0};
    expr_parts(whole->dae->exprs, shape, &parts);
    uint32_t most = expr_count(whole->dae->exprs) + 1;
    if (whole->known.n < most)
        vec_grow(&whole->known, most - whole->known.n);
    for (uint32_t i = 0; i < parts.n; i++)
        whole->known.at[parts.at[i]] = judge(whole, parts.at[i]) ? 1 : 2;
    vec_free(&parts);
}

// Whether all terms of e beside those with `slot` are whole, and that has the factor 1 or -1. *other: it occurs in another way.
static bool
terms_are_whole(const Whole *whole, Expr e, uint32_t slot, bool *other)
{
    const Exprs *exprs = whole->dae->exprs;
    bool good = true;
    Op op = expr_op(exprs, e);
    if (!expr_uses_slot(exprs, e, slot))
        return is_whole(whole, e);
    if (op == OP_NEG)
        return terms_are_whole(whole, expr_arg(exprs, e, 0), slot, other);
    if (op == OP_ADD) {
        for (uint32_t i = 0; i < expr_nargs(exprs, e) && good; i++)
            good = terms_are_whole(whole, expr_arg(exprs, e, i), slot, other);
        return good;
    }
    bool multiple = op == OP_MUL && expr_nargs(exprs, e) == 2 && expr_op(exprs, expr_arg(exprs, e, 0)) == OP_CONST
                    && expr_op(exprs, expr_arg(exprs, e, 1)) == OP_SLOT;
    if (multiple)
        return fabs(expr_value(exprs, expr_arg(exprs, e, 0))) == 1;
    *other |= op != OP_SLOT;
    return true;
}

static bool
gives_whole(Whole *whole, Expr shape, Var var)
{
    const Exprs *exprs = whole->dae->exprs;
    bool other = false, good = true;
    uint32_t slot = 0, n = expr_nslots(exprs, shape);
    while (slot < n && whole->row[slot] != var)
        slot++;
    if (expr_op(exprs, shape) != OP_EQN || slot == n)
        return true;
    learn(whole, shape);
    for (uint32_t side = 0; side < 2; side++)
        good = terms_are_whole(whole, expr_arg(exprs, shape, side), slot, &other) && good;
    return good || other;
}

// Integers that equations give together: a + b = 3 and a - b = 2 have whole terms and no whole solution.
static bool
are_given_alone(Dae *dae, const Problem *problem, bool initial, Diags *diags)
{
    bool alone = true;
    for (uint32_t b = 0; b + 1 < problem->block_start.n && !diags_full(diags); b++) {
        const uint32_t *member = problem->sorted.at + problem->block_start.at[b];
        uint32_t n = problem->block_start.at[b + 1] - problem->block_start.at[b];
        bool all = n > 1;
        for (uint32_t i = 0; i < n && all; i++) {
            Var var = problem->var_of.at[member[i]];
            const Equation *equation = &dae->equations.at[problem->equations.at[member[i]]];
            all = (equation->kind == EQN_INITIAL) == initial && var != NONE && dae_type(dae, var) == TYPE_INTEGER && !is_made(dae, var);
        }
        if (!all)
            continue;
        alone = false;
        Diag *diag = diag_add(diags, E0507, dae->equations.at[problem->equations.at[member[0]]].span,
                              "'%s' and '%s' are Integers that %u equations give together", dae_name(dae, problem->var_of.at[member[0]]),
                              dae_name(dae, problem->var_of.at[member[1]]), n);
        for (uint32_t i = 1; i < n && i < EQUATIONS_SHOWN; i++)
            diag_note(diag, dae->equations.at[problem->equations.at[member[i]]].span, "this is another one of these equations");
        diag_help(diag, "an equation that gives an Integer must be solved for it alone: 'a = 3 - b', where 'b' does not depend on 'a'");
    }
    return alone;
}

bool
whole_numbers(Dae *dae, const Problem *problem, bool initial, Diags *diags)
{
    if (!are_given_alone(dae, problem, initial, diags))
        return false;
    Span told = {0};
    U32Vec vars = {0};
    Whole whole = {.dae = dae};
    for (uint32_t i = 0; i < problem->equations.n && !diags_full(diags); i++) {
        const Equation *equation = &dae->equations.at[problem->equations.at[i]];
        Var var = problem->var_of.at[i];
        bool known = told.hi && equation->span.lo == told.lo && equation->span.hi == told.hi; // another element of the same array
        if ((equation->kind == EQN_INITIAL) != initial || var == NONE || dae_type(dae, var) != TYPE_INTEGER || known || is_made(dae, var))
            continue;
        vars.n = 0;
        Expr shape = dae_resolve(dae, problem->equations.at[i], &vars);
        whole.row = vars.at;
        if (gives_whole(&whole, shape, var))
            continue;
        Diag *diag = diag_add(diags, E0201, equation->span, "'%s' is an Integer, and this gives it a Real", dae_name(dae, var));
        diag_help(diag, "use 'integer(x)' (the largest Integer not above x) to convert");
        told = equation->span;
    }
    vec_free(&whole.known);
    vec_free(&vars);
    return !told.hi;
}
