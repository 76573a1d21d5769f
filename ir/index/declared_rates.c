// declared_rates.c: derivatives that declarations give.
//
// Purpose: the derivative of a matrix of rotation that is a product of others is long, and that of a vector which a body carries
// follows from all of its elements, where angular velocity and vector say the same in two products. Method: where index reduction has
// differentiated the explicit equation x = f and der(x) is a dummy derivative, the derivative of that equation becomes der(x) = g with the
// declared rate g of x, the next one the derivative of that, and so on. Equations and unknowns stay one to one, so does what was differentiated.
// Contract: requires states. That the other equations imply the rate is what a declaration promises. What has several explicit
// equations (a loop is closed there), whose rate has variables without the derivatives that are needed, and where states are found while the
// motion goes on, keeps the derivatives of its equations. Complexity: linear in the equations and rates.
//
//     d = T*r, der(d) = der(T)*r   with   Real d(rate = w*d)   ->     der(d) = w*d
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/index/index.h"
#include "ir/structure/rate.h"

typedef struct Declared {
    Dae *dae;
    const Reduction *reduction;
    Structure structure;
    Patterns shapes;
    U32Vec explicit_of; // per variable: the differentiated equation that gives it explicitly + 1; NONE: several do
    U8Vec jumps;        // per equation: it has parts that events set
    U32Vec vars;
} Declared;

// Equations that were differentiated and are explicit in a variable.
static void
find_explicit(Declared *declared)
{
    Dae *dae = declared->dae;
    const Reduction *reduction = declared->reduction;
    vec_grow(&declared->explicit_of, dae->nvars);
    for (uint32_t e = 0; e < reduction->derivative.n; e++) {
        if (reduction->derivative.at[e] == NONE || reduction->derivative_of.at[e] != NONE || declared->jumps.at[e])
            continue;
        structure_read(&declared->structure, e);
        Expr shape = declared->structure.shape;
        if (expr_op(dae->exprs, shape) != OP_EQN)
            continue;
        for (int side = 0; side < 2; side++) {
            Expr at = expr_arg(dae->exprs, shape, side), other = expr_arg(dae->exprs, shape, !side);
            uint32_t slot = expr_op(dae->exprs, at) == OP_SLOT ? expr_slot_of(dae->exprs, at) : NONE;
            if (slot == NONE || expr_uses_slot(dae->exprs, other, slot))
                continue;
            uint32_t *found = &declared->explicit_of.at[declared->structure.vars.at[slot]];
            *found = *found ? NONE : e + 1;
        }
    }
}

static void
find_jumps(Declared *declared)
{
    const Dae *dae = declared->dae;
    vec_grow(&declared->jumps, dae->equations.n);
    for (uint32_t i = 0; i < dae->jumps.n; i++)
        if (dae->jumps.at[i].state == NONE)
            declared->jumps.at[dae->jumps.at[i].equation] = declared->jumps.at[dae->jumps.at[i].derivative] = 1;
}

// The declared rate over representatives, which are in `vars` then; the negative of it for a negative alias.
static Expr
rate_shape(Declared *declared, const Rate *rate, bool negative)
{
    Dae *dae = declared->dae;
    U32Vec with = {0};
    vec_clear(&declared->vars);
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, rate->shape); k < n; k++) {
        bool sign;
        uint32_t first = 0;
        Var var = dae_alias(dae, dae->rows.at[rate->row + k], &sign);
        while (first < declared->vars.n && declared->vars.at[first] != var)
            first++;
        if (first == declared->vars.n)
            vec_push(&declared->vars, var);
        Expr slot = expr_slot(dae->exprs, first);
        vec_push(&with, sign ? expr_1(dae->exprs, OP_NEG, slot) : slot);
    }
    Expr shape = expr_substitute(dae->exprs, rate->shape, with.at, with.n);
    vec_free(&with);
    return negative ? expr_1(dae->exprs, OP_NEG, shape) : shape;
}

// What the rate contains is part of the model, with derivatives where the rate is differentiated in turn.
static bool
has_all(const Declared *declared, Var x, bool again)
{
    const Dae *dae = declared->dae;
    for (uint32_t k = 0; k < declared->vars.n; k++) {
        Var var = declared->vars.at[k];
        bool moves = dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE;
        if (dae->var_flags.at[var] & VARF_REMOVED || (again && moves && var != x && structure_der(dae, var) == NONE))
            return false;
    }
    return true;
}

// Every further derivative of the equation is that of the one before.
static void
follow(Declared *declared, uint32_t equation)
{
    const U32Vec *derivative = &declared->reduction->derivative;
    for (uint32_t next; (next = derivative->at[equation]) != NONE; equation = next) {
        Expr shape;
        uint32_t row;
        structure_read(&declared->structure, equation);
        if (!rate_of(&declared->structure, &declared->shapes, &shape, &row))
            return; // cannot be: sums and products have derivatives
        declared->dae->equations.at[next].shape = shape;
        declared->dae->equations.at[next].row = row;
    }
}

static void
apply(Declared *declared, const Rate *rate)
{
    Dae *dae = declared->dae;
    bool negative;
    Var x = dae_alias(dae, rate->var, &negative), der = structure_der(dae, x);
    uint32_t found = x < declared->explicit_of.n ? declared->explicit_of.at[x] : 0;
    if (!found || found == NONE || der == NONE || declared->reduction->state.at[x])
        return;
    uint32_t made = declared->reduction->derivative.at[found - 1];
    Expr shape = rate_shape(declared, rate, negative);
    if (!has_all(declared, x, declared->reduction->derivative.at[made] != NONE))
        return;
    vec_push(&declared->vars, der);
    shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, declared->vars.n - 1), shape);
    Equation *equation = &dae->equations.at[made];
    dae_bind_shape(dae, shape, declared->vars.at, &equation->shape, &equation->row);
    declared->explicit_of.at[x] = 0; // several names of it may have rates
    follow(declared, made);
}

void
declared_rates_apply(Dae *dae, const Reduction *reduction)
{
    if (!dae->rates.n || !reduction->differentiated || reduction->invariants.n)
        return;
    Declared declared = {.dae = dae, .reduction = reduction, .structure = {.dae = dae}, .shapes = {.arena = arena_create()}};
    find_jumps(&declared);
    find_explicit(&declared);
    for (uint32_t i = 0; i < dae->rates.n; i++)
        apply(&declared, &dae->rates.at[i]);
    arena_free(&declared.shapes.arena);
    structure_free(&declared.structure);
    vec_free(&declared.explicit_of);
    vec_free(&declared.jumps);
    vec_free(&declared.vars);
}
