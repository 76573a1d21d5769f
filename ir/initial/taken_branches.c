// taken_branches.c: at the start an equation determines what stands in the branches that are taken, and what nothing that is zero multiplies.
//
// Purpose: `y = if abs(T1 - T2) < eps then u else x` determines u or x, and where the parameters say which it must not be matched with the other: a start
// value may have left that one open (`y = x`, x given at its start: u follows from elsewhere). So it is with `y = c*x + d*u` where d is zero.
// Method: conditions and coefficients of parameters, and of variables that an equation gives the value of parameters, are evaluated; what stands only in
// branches that are not taken, or beside zero, is read and no more. Who matches falls back to all branches where that leaves an equation without an unknown: parameters may change.
// Contract: initial_inner.h. Complexity: linear in the equations.
#include <math.h>
#include <string.h>

#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/initial/initial_inner.h"

typedef struct Taken {
    Dae *dae;
    U32Vec vars;       // of the equation at hand
    Map number;        // variable with a known value -> its place in `value`
    F64Vec value;
    F64Vec slot;       // values of slots of the equation at hand
    U8Vec stands;      // per variable: it stands in what is left of the equation; 0 between equations
} Taken;

static bool
known_value(Taken *at, Var var, double *value)
{
    uint32_t k;
    if (map_get(&at->number, var, &k)) {
        *value = at->value.at[k];
        return true;
    }
    return dae_known_value(at->dae, var, value);
}

// Variables that an equation gives a value of parameters.
static void
find_values(Taken *at, const Problem *problem)
{
    const Exprs *exprs = at->dae->exprs;
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        Expr shape = dae_resolve(at->dae, problem->equations.at[i], &at->vars);
        double value;
        for (uint32_t side = 0; side < 2 && expr_op(exprs, shape) == OP_EQN; side++) {
            Expr alone = expr_arg(exprs, shape, side);
            if (expr_op(exprs, alone) != OP_SLOT || !problem->unknown.at[at->vars.at[expr_slot_of(exprs, alone)]]
                || !dae_known_expr(at->dae, expr_arg(exprs, shape, 1 - side), at->vars.at, &value))
                continue;
            map_put(&at->number, at->vars.at[expr_slot_of(exprs, alone)], at->value.n);
            vec_push(&at->value, value);
        }
    }
}

// The value of a part, where parameters give it.
static bool
is_decided(Taken *at, Expr part, double *value)
{
    Exprs *exprs = at->dae->exprs;
    U32Vec used = {0};
    uint32_t n = expr_nslots(exprs, part);
    if (at->slot.n < n)
        vec_grow(&at->slot, n - at->slot.n);
    bool known = !expr_has_op(exprs, part, OP_CALL) && !expr_has_op(exprs, part, OP_TIME);
    for (Op op = 0; op < OP_COUNT && known; op++)
        known = op_table[op].kind != OPKIND_MODEL || op == OP_NOEVENT || op == OP_SMOOTH || !expr_has_op(exprs, part, op);
    expr_used_slots(exprs, &part, 1, &used);
    for (uint32_t k = 0; k < used.n && known; k++)
        known = known_value(at, at->vars.at[used.at[k]], &at->slot.at[used.at[k]]);
    *value = known ? expr_eval(exprs, part, at->slot.at, 0) : NAN;
    vec_free(&used);
    return known;
}

static Expr
take(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    double value;
    Op op = expr_op(exprs, part);
    if (op == OP_IF && is_decided(context, args[0], &value) && !isnan(value))
        return args[value != 0 ? 1 : 2];
    for (uint32_t k = 0; op == OP_MUL && k < expr_nargs(exprs, part); k++)
        if (is_decided(context, args[k], &value) && value == 0)
            return expr_const(exprs, 0);
    return 0;
}

// Columns of the equation that stand in no branch taken go behind those that it can determine. True: there are some.
static bool
demote(Taken *at, Problem *problem, uint32_t position)
{
    Dae *dae = at->dae;
    Incidence *incidence = &problem->incidence;
    Expr shape = dae_resolve(dae, problem->equations.at[position], &at->vars);
    bool zero = false;
    double value;
    for (uint32_t k = 0; k < at->vars.n && !zero && expr_has_op(dae->exprs, shape, OP_MUL); k++)
        zero = known_value(at, at->vars.at[k], &value) && value == 0;
    if (!zero && !expr_has_op(dae->exprs, shape, OP_IF))
        return false;
    Expr taken = expr_rewrite(dae->exprs, shape, take, at);
    if (taken == shape)
        return false;
    U32Vec used = {0}, kept = {0}, gone = {0};
    expr_used_slots(dae->exprs, &taken, 1, &used);
    uint32_t first = incidence->start.at[position], end = incidence->match_end.at[position];
    for (uint32_t s = 0; s < used.n; s++)
        at->stands.at[at->vars.at[used.at[s]]] = 1;
    for (uint32_t k = first; k < end; k++)
        vec_push(at->stands.at[incidence->column.at[k]] ? &kept : &gone, incidence->column.at[k]);
    for (uint32_t s = 0; s < used.n; s++)
        at->stands.at[at->vars.at[used.at[s]]] = 0;
    bool any = gone.n && kept.n;
    if (any) {
        incidence->match_end.at[position] = first + kept.n;
        vec_append(&kept, gone.at, gone.n);
        memcpy(incidence->column.at + first, kept.at, kept.n * sizeof *kept.at);
    }
    vec_free(&used);
    vec_free(&kept);
    vec_free(&gone);
    return any;
}

bool
initial_take_branches(Dae *dae, Problem *problem)
{
    Taken at = {.dae = dae};
    bool any = false;
    find_values(&at, problem);
    vec_grow(&at.stands, dae->nvars);
    for (uint32_t i = 0; i < problem->equations.n; i++)
        any = demote(&at, problem, i) || any;
    vec_free(&at.vars);
    map_free(&at.number);
    vec_free(&at.value);
    vec_free(&at.slot);
    vec_free(&at.stands);
    return any;
}
