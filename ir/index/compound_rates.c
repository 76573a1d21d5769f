// compound_rates.c: velocities and accelerations that several derivatives make up.
//
// Purpose: the angular acceleration of a body in space is T*der(w), its angular velocity 2*(Q4*der(Q1) - ...), that of a bushing T*(w_b - w_a): no name of
// one derivative, but what an inertia or a damping multiplies. Where that is zero they ask for nothing (zeros.c).
// Method: a variable that stands alone on one side of an equation whose other side vanishes with the rates in it is a rate, of the order of the
// highest of these; der(x) has the order of x and one more. In rounds, until no more are found.
// Contract: zeros.h. Complexity: linear in the rows of the model for each round, of which there are at most ROUNDS: a longer chain of rates that is
// declared from its end is followed in part.
#include "ir/index/zeros.h"

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { ROUNDS = 32, HIGHEST = 2 };

static Var
class_of(const Dae *dae, Var var)
{
    bool negative;
    return dae_alias(dae, var, &negative);
}

// What a variable is a derivative of has an order by now: so has the variable.
static bool
take_derivatives(const Dae *dae, CompoundRates *rates)
{
    bool more = false;
    for (Var var = 0; var < dae->nvars; var++) {
        if (dae->var_der_of.at[var] == NONE)
            continue;
        uint8_t *order = &rates->order.at[class_of(dae, var)], made = rates->order.at[class_of(dae, dae->var_der_of.at[var])] + 1;
        if (made > HIGHEST)
            made = HIGHEST;
        if (*order >= made)
            continue;
        *order = made;
        more = true;
    }
    return more;
}

// The highest order of the rates in `e`, which vanishes with them; 0: it has none, or something else is left.
static uint8_t
order_of(Dae *dae, const CompoundRates *rates, const U8Vec *zero, U32Vec *with, Expr e, const Var *row)
{
    uint32_t n = expr_nslots(dae->exprs, e);
    uint8_t highest = 0;
    vec_clear(with);
    for (uint32_t k = 0; k < n; k++) {
        uint8_t order = rates->order.at[class_of(dae, row[k])];
        vec_push(with, order || zero->at[class_of(dae, row[k])] ? expr_const(dae->exprs, 0) : 0);
        if (order > highest && expr_uses_slot(dae->exprs, e, k))
            highest = order;
    }
    return highest && expr_is_const(dae->exprs, expr_with_zeros(dae->exprs, e, with->at, n), 0) ? highest : 0;
}

static bool
take_equation(Dae *dae, CompoundRates *rates, const U8Vec *zero, U32Vec *with, uint32_t e)
{
    const Equation at = dae->equations.at[e];
    bool more = false;
    for (uint32_t side = 0; side < 2; side++) {
        Expr alone = expr_arg(dae->exprs, at.shape, side), other = expr_arg(dae->exprs, at.shape, 1 - side);
        if (expr_op(dae->exprs, alone) != OP_SLOT || expr_uses_slot(dae->exprs, other, expr_slot_of(dae->exprs, alone)))
            continue;
        Var name = class_of(dae, dae->rows.at[at.row + expr_slot_of(dae->exprs, alone)]);
        if (dae_kind(dae, name) != VAR_CONTINUOUS || rates->order.at[name] == HIGHEST || (rates->order.at[name] && rates->given.at[name] != e + 1))
            continue;
        uint8_t order = order_of(dae, rates, zero, with, other, dae->rows.at + at.row);
        if (order <= rates->order.at[name])
            continue;
        rates->order.at[name] = order;
        rates->given.at[name] = e + 1;
        more = true;
    }
    return more;
}

static bool
is_equality(const Dae *dae, uint32_t e)
{
    return dae->equations.at[e].kind == EQN_NORMAL && expr_op(dae->exprs, dae->equations.at[e].shape) == OP_EQN;
}

void
compound_rates_find(Dae *dae, const U8Vec *zero, CompoundRates *rates)
{
    U32Vec with = {0};
    bool more = true;
    vec_grow(&rates->order, dae->nvars);
    vec_grow(&rates->given, dae->nvars);
    for (uint32_t round = 0; round < ROUNDS && more; round++) {
        more = take_derivatives(dae, rates);
        for (uint32_t e = 0; e < dae->equations.n && (more || round == 0); e++)
            if (is_equality(dae, e))
                more |= take_equation(dae, rates, zero, &with, e);
    }
    vec_free(&with);
}

// Of what `of` is made, and so on.
static void
mark_below(const Dae *dae, const CompoundRates *rates, U32Vec *queue, U8Vec *marked)
{
    uint32_t n;
    while (queue->n) {
        Var class = queue->at[--queue->n];
        if (marked->at[class])
            continue;
        marked->at[class] = 1;
        if (!rates->given.at[class])
            continue;
        const Var *row = dae_row(dae, rates->given.at[class] - 1, &n);
        for (uint32_t k = 0; k < n; k++) {
            Var var = class_of(dae, row[k]);
            if (rates->order.at[var])
                vec_push(queue, var);
            for (Var v = row[k]; dae->var_der_of.at[v] != NONE; v = dae->var_der_of.at[v])
                if (rates->order.at[class_of(dae, dae->var_der_of.at[v])])
                    vec_push(queue, class_of(dae, dae->var_der_of.at[v]));
        }
    }
}

void
compound_rates_mark(const Dae *dae, const CompoundRates *rates, const U32Vec *of, U8Vec *marked)
{
    U32Vec queue = {0};
    uint32_t n;
    bool more = true;
    vec_grow(marked, dae->nvars);
    for (uint32_t i = 0; i < of->n; i++)
        vec_push(&queue, of->at[i]);
    mark_below(dae, rates, &queue, marked);
    for (uint32_t round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (Var name = 0; name < dae->nvars; name++) {
            if (!rates->given.at[name] || marked->at[name])
                continue;
            const Var *row = dae_row(dae, rates->given.at[name] - 1, &n);
            for (uint32_t k = 0; k < n && !marked->at[name]; k++)
                marked->at[name] = rates->order.at[class_of(dae, row[k])] && marked->at[class_of(dae, row[k])];
            more |= marked->at[name];
        }
    }
    vec_free(&queue);
}

void
compound_rates_free(CompoundRates *rates)
{
    vec_free(&rates->order);
    vec_free(&rates->given);
}
