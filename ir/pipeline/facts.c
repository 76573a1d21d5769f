// facts.c: what is said to hold between passes, looked at (facts.h).
//
// Purpose: a pass that does not do what its row in passes.def says is found by name, behind itself or behind the pass that undoes its work.
// Method: a table, fact -> check. A matching is its own proof: each equation with a variable that it can determine, each variable in one
// of these pairs. An order is proven by walking along it with the set of what is known.
// Contract: facts.h. Complexity: each check is linear in the rows of equations, but for `balanced` and `index-1`, which match anew.
#include "ir/pipeline/facts.h"

#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/structure/structure.h"

// --- operators that are gone

#define OP(NAME, text, arity, type, kind, removed)                                                        \
    _Static_assert((OPKIND_##kind == OPKIND_MODEL) == (PASS_##removed != PASS_never), "kind MODEL needs a pass: " text);
#include "ir/expr/op.def"
#undef OP

// Those that pass `lower` removes are in no program: sys_verify.
static bool
removed_by_now(Op op, uint32_t pass)
{
    static const uint8_t removed_by[OP_COUNT] = {
#define OP(NAME, text, arity, type, kind, removed) PASS_##removed,
#include "ir/expr/op.def"
#undef OP
    };
    return removed_by[op] <= pass && removed_by[op] < PASS_lower;
}

static bool
operators_are_gone(const Dae *dae, uint32_t pass, Out *why)
{
    Op gone[OP_COUNT];
    uint32_t n = 0;
    for (uint32_t op = 0; op < OP_COUNT; op++)
        if (removed_by_now((Op)op, pass) && exprs_have_op(dae->exprs, (Op)op))
            gone[n++] = (Op)op;
    for (ModelShape at = {0}; n && model_shape_next(dae, &at);)
        for (uint32_t i = 0; i < n; i++)
            if (expr_has_op(dae->exprs, at.shape, gone[i])) {
                out_printf(why, "%s %u: it has '%s', which no expression has any more", model_shape_place((ShapePlace)at.place), at.index,
                           op_table[gone[i]].text);
                return false;
            }
    return true;
}

// --- facts about equations

static bool
say_equation(const Dae *dae, uint32_t equation, const char *what, Out *why)
{
    out_printf(why, "%s: ", what);
    dae_print_equation(dae, equation, why);
    return false;
}

static bool
say_variable(Dae *dae, Var var, const char *what, Out *why)
{
    out_printf(why, "%s: '%s'", what, dae_name(dae, var));
    return false;
}

static bool
motion_holds(Compilation *c, Out *why)
{
    if (!c->dae->energies.n && !c->dae->coordinates.n)
        return true;
    out_text(why, "an energy or a coordinate is left");
    return false;
}

// Bonds join a component with a junction and have the variables of their connector.
static bool
junctions_hold(Compilation *c, Out *why)
{
    const Dae *dae = c->dae;
    for (uint32_t i = 0; i < dae->bonds.n; i++) {
        const Bond *bond = &dae->bonds.at[i];
        const Connector *connector = &dae->connectors.at[bond->connector];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        bool good = dae_is_junction(dae, bond->junction) && !dae_is_junction(dae, bond->component) && bond->scalar < type->n_bonds
                 && bond->flow == connector->first + type->bonds[bond->scalar].flow
                 && bond->effort == connector->first + type->bonds[bond->scalar].effort;
        if (!good) {
            out_printf(why, "bond %u does not join a component and a junction by the variables of its connector", i);
            return false;
        }
    }
    return true;
}

// The normal form of a normal form is itself.
static bool
normal_holds(Compilation *c, Out *why)
{
    const Dae *dae = c->dae;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        Equation at = dae->equations.at[e];
        bool piecewise = expr_has_op(dae->exprs, at.shape, OP_LUZ) || expr_has_op(dae->exprs, at.shape, OP_TAR) || expr_has_op(dae->exprs, at.shape, OP_SGN);
        DaeRow row = {dae, dae->rows.at + at.row};
        U32Vec order = {0};
        if (!piecewise || (at.kind != EQN_NORMAL && at.kind != EQN_INITIAL))
            continue;
        bool same = expr_shape(dae->exprs, nonsmooth_normalise(dae->exprs, at.shape, &(Signs){dae_slot_is_nonneg, NULL, &row, NULL}), &order) == at.shape;
        vec_free(&order);
        if (!same)
            return say_equation(dae, e, "an equation is not in normal form", why);
    }
    return true;
}

// Each law has an equation of its own with its mode and its force, and each such equation is that of a law.
static bool
laws_hold(Compilation *c, Out *why)
{
    const Dae *dae = c->dae;
    U8Vec owned = {0};
    uint32_t wrong = NONE;
    vec_grow(&owned, dae->equations.n);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        const Law *law = &dae->laws.at[i];
        const Var *row = dae->rows.at + dae->equations.at[law->equation].row;
        uint32_t n = expr_nslots(dae->exprs, dae->equations.at[law->equation].shape);
        bool good = n >= 4 && row[0] == law->mode && dae_kind(dae, law->mode) == VAR_DISCRETE && !owned.at[law->equation];
        owned.at[law->equation] = 1;
        wrong = good ? wrong : law->equation;
    }
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (dae->equations.at[e].kind == EQN_LAW && !owned.at[e])
            wrong = e;
    vec_free(&owned);
    return wrong == NONE || say_equation(dae, wrong, "a law and its equation do not belong to each other", why);
}

// --- aliases

// What may be an alias: an unknown, or an input, of which none is a derivative or a value before.
static bool
is_own_unknown(const Dae *dae, Var var)
{
    VarKind kind = dae_kind(dae, var);
    return (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_der_of.at[var] == NONE && dae->var_pre_of.at[var] == NONE;
}

// Derivatives follow their variables: if x = -y, then der(x) = -der(y).
static bool
follows(const Dae *dae, Var var, const U32Vec *own)
{
    bool negative, of_own;
    Var to = dae_alias(dae, var, &negative), own_to = own->at[var] == NONE ? NONE : dae_alias(dae, own->at[var], &of_own);
    if (own_to == NONE || to == var || own->at[to] == NONE)
        return true;
    bool of_to;
    return dae_alias(dae, own->at[to], &of_to) == own_to && (of_own ^ of_to) == negative;
}

// No equation x = y of two unknowns of one kind is left.
static bool
aliases_hold(Compilation *c, Out *why)
{
    Dae *dae = c->dae;
    U32Vec vars = {0};
    uint32_t left = NONE;
    for (Var var = 0; var < dae->nvars; var++)
        if (!follows(dae, var, &dae->var_der) || !follows(dae, var, &dae->var_pre))
            return say_variable(dae, var, "the derivative or pre() of an alias does not follow it", why);
    for (uint32_t e = 0; e < dae->equations.n && left == NONE; e++) {
        if (dae->equations.at[e].kind != EQN_NORMAL || expr_nslots(dae->exprs, dae->equations.at[e].shape) != 2)
            continue;
        Expr shape = dae_resolve(dae, e, &vars);
        if (vars.n == 2 && expr_op(dae->exprs, expr_arg(dae->exprs, shape, 0)) == OP_SLOT
            && expr_op(dae->exprs, expr_arg(dae->exprs, shape, 1)) == OP_SLOT && is_own_unknown(dae, vars.at[0])
            && is_own_unknown(dae, vars.at[1]) && dae_kind(dae, vars.at[0]) == dae_kind(dae, vars.at[1])
            && dae_type(dae, vars.at[0]) == dae_type(dae, vars.at[1]))
            left = e;
    }
    vec_free(&vars);
    return left == NONE || say_equation(dae, left, "an equation of two equal variables is left", why);
}

// --- matchings

// Each equation determines an unknown that it can determine, each unknown has the equation that says so.
static bool
matching_holds(Dae *dae, const Problem *problem, Out *why)
{
    const Incidence *incidence = &problem->incidence;
    uint32_t unknowns = 0;
    for (Var var = 0; var < problem->unknown.n; var++)
        unknowns += problem->unknown.at[var];
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        Var var = problem->var_of.at[i];
        bool can = false;
        if (var != NONE && problem->unknown.at[var] && problem->equation_of.at[var] == i)
            for (uint32_t k = incidence->start.at[i]; k < incidence->match_end.at[i] && !can; k++)
                can = incidence->column.at[k] == var;
        if (!can)
            return say_equation(dae, problem->equations.at[i], "an equation determines nothing that it can determine", why);
    }
    if (unknowns == problem->equations.n)
        return true;
    out_printf(why, "%u equations determine %u unknowns", problem->equations.n, unknowns);
    return false;
}

// A variable and its derivatives are one unknown.
static bool
balanced_holds(Compilation *c, Out *why)
{
    Structure structure = {.dae = c->dae};
    Problem problem = {0};
    U32Vec column_of = {0};
    structure_equations(c->dae, &problem.equations);
    structure_unknowns(c->dae, &problem.unknown);
    structure_merge_derivatives(c->dae, &column_of);
    for (Var var = 0; var < c->dae->nvars; var++)
        problem.unknown.at[var] &= column_of.at[var] == var;
    structure_incidence(&structure, &problem, column_of.at);
    problem_match(&problem, c->dae->nvars, NULL);
    bool good = matching_holds(c->dae, &problem, why);
    structure_free(&structure);
    problem_free(&problem);
    vec_free(&column_of);
    return good;
}

// Equations that were not differentiated determine the highest derivatives, laws as they stick (but those that others hold).
static bool
index_holds(Compilation *c, Out *why)
{
    Dae *dae = c->dae;
    const Reduction *reduction = &c->reduction;
    U8Vec slipping = {0};
    Problem problem = {0};
    Structure structure = {.dae = dae, .stick = true, .slipping = &slipping};
    vec_grow(&slipping, dae->equations.n);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        slipping.at[dae->laws.at[i].equation] = dae->laws.at[i].dependent;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (structure_has_equation(dae, e) && (e >= reduction->derivative.n || reduction->derivative.at[e] == NONE))
            vec_push(&problem.equations, e);
    structure_unknowns(dae, &problem.unknown);
    for (Var var = 0; var < dae->nvars; var++)
        problem.unknown.at[var] &= structure_der(dae, var) == NONE;
    structure_incidence(&structure, &problem, NULL);
    problem_match(&problem, dae->nvars, NULL);
    bool good = matching_holds(dae, &problem, why);
    structure_free(&structure);
    problem_free(&problem);
    vec_free(&slipping);
    return good;
}

// States are unknowns whose derivative is in the model and no dummy; as many derivatives are dummies, or equations invariants, as equations
// were differentiated.
static bool
states_hold(Compilation *c, Out *why)
{
    Dae *dae = c->dae;
    const Reduction *reduction = &c->reduction;
    bool negative;
    for (uint32_t i = 0; i < reduction->dummies.n; i++) {
        Var of = dae->var_der_of.at[reduction->dummies.at[i]];
        if (of == NONE || reduction->state.at[of])
            return say_variable(dae, reduction->dummies.at[i], "a dummy derivative is that of a state", why);
    }
    for (Var var = 0; var < reduction->state.n; var++)
        if (reduction->state.at[var]
            && (dae_kind(dae, var) != VAR_CONTINUOUS || dae_alias(dae, var, &negative) != var || structure_der(dae, var) == NONE))
            return say_variable(dae, var, "a state has no derivative, or is no unknown", why);
    if (reduction->dummies.n + reduction->invariants.n == reduction->differentiated)
        return true;
    out_printf(why, "%u dummy derivatives and %u invariants of %u differentiated equations", reduction->dummies.n,
               reduction->invariants.n, reduction->differentiated);
    return false;
}

static bool
matched_holds(Compilation *c, Out *why)
{
    return matching_holds(c->dae, &c->problem, why);
}

// --- orders

// What an equation has, whichever way it has it: variables that cancel are none.
static void
read_residual(Dae *dae, uint32_t equation, U32Vec *vars, U32Vec *used)
{
    Expr residual = expr_residual(dae->exprs, dae_resolve(dae, equation, vars));
    vec_clear(used);
    expr_used_slots(dae->exprs, &residual, 1, used);
    for (uint32_t k = 0; k < used->n; k++)
        used->at[k] = vars->at[used->at[k]];
}

// Each block has what comes before it and its own unknowns, and nothing that is determined later.
static bool
order_holds(Dae *dae, const Problem *problem, Out *why)
{
    U8Vec known = {0};
    U32Vec vars = {0}, used = {0};
    bool good = problem->sorted.n == problem->equations.n && matching_holds(dae, problem, why);
    vec_grow(&known, dae->nvars);
    for (uint32_t b = 0; good && b + 1 < problem->block_start.n; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        for (uint32_t i = from; i < to; i++)
            known.at[problem->var_of.at[problem->sorted.at[i]]] = 1;
        for (uint32_t i = from; i < to && good; i++) {
            uint32_t equation = problem->equations.at[problem->sorted.at[i]];
            read_residual(dae, equation, &vars, &used);
            for (uint32_t k = 0; k < used.n && good; k++)
                if (used.at[k] < problem->unknown.n && problem->unknown.at[used.at[k]] && !known.at[used.at[k]])
                    good = say_equation(dae, equation, "an equation has a variable that is determined later", why);
        }
    }
    vec_free(&known);
    vec_free(&vars);
    vec_free(&used);
    return good;
}

static bool
causal_holds(Compilation *c, Out *why)
{
    return order_holds(c->dae, &c->continuous, why) && order_holds(c->dae, &c->discrete, why);
}

static bool
init_holds(Compilation *c, Out *why)
{
    return order_holds(c->dae, &c->initial, why);
}

// --- assignments

typedef struct Evaluation {
    Dae *dae;
    const Problem *problem;
    U8Vec known;
    U32Vec slots;
    Out *why;
} Evaluation;

static bool
reads_known(Evaluation *e, Expr shape, uint32_t row, Var of)
{
    vec_clear(&e->slots);
    expr_used_slots(e->dae->exprs, &shape, 1, &e->slots);
    for (uint32_t k = 0; k < e->slots.n; k++) {
        Var var = e->dae->rows.at[row + e->slots.at[k]];
        if (var < e->problem->unknown.n && e->problem->unknown.at[var] && !e->known.at[var])
            return say_variable(e->dae, of, "what determines a variable is not known before it", e->why);
    }
    return true;
}

static bool
know(Evaluation *e, Var var)
{
    if (var >= e->problem->unknown.n || !e->problem->unknown.at[var] || e->known.at[var])
        return say_variable(e->dae, var, "a variable is assigned twice, or is no unknown", e->why);
    e->known.at[var] = 1;
    return true;
}

static bool
assign(Evaluation *e, const Assign *at)
{
    return reads_known(e, at->shape, at->row, at->var) && know(e, at->var);
}

static bool
go_round(Evaluation *e, const Causal *causal, const Loop *loop)
{
    bool good = true;
    for (uint32_t k = 0; k < loop->n && good; k++)
        good = know(e, causal->tears.at[loop->tear + k]);
    for (uint32_t k = 0; k < loop->n_inner && good; k++)
        good = assign(e, &causal->assigns.at[loop->inner + k]);
    for (uint32_t k = 0; k < loop->n && good; k++) {
        const Residual *residual = &causal->residuals.at[loop->residual + k];
        good = reads_known(e, residual->shape, residual->row, causal->tears.at[loop->tear + k]);
    }
    return good;
}

// Every unknown gets its value once, from what is known by then.
static bool
assignments_hold(Dae *dae, const Problem *problem, const Causal *causal, Out *why)
{
    Evaluation e = {.dae = dae, .problem = problem, .why = why};
    bool good = true;
    vec_grow(&e.known, dae->nvars);
    for (uint32_t i = 0; i < causal->items.n && good; i++) {
        CausalItem item = causal->items.at[i];
        good = item.is_loop ? go_round(&e, causal, &causal->loops.at[item.index]) : assign(&e, &causal->assigns.at[item.index]);
    }
    for (Var var = 0; var < problem->unknown.n && good; var++)
        if (problem->unknown.at[var] && !e.known.at[var])
            good = say_variable(dae, var, "a variable gets no value", why);
    vec_free(&e.known);
    vec_free(&e.slots);
    return good;
}

static bool
solved_holds(Compilation *c, Out *why)
{
    return assignments_hold(c->dae, &c->continuous, &c->dynamics, why) && assignments_hold(c->dae, &c->discrete, &c->discretes, why)
        && assignments_hold(c->dae, &c->initial, &c->init, why);
}

// --- the table

typedef struct FactRow {
    const char *name;
    bool (*holds)(Compilation *compilation, Out *why); // NULL: see there
    uint32_t last; // it is looked at behind each pass from the one that provides it to this one
} FactRow;

static const FactRow rows[] = { // by bit
    {"flat", NULL, 0},      // ids and links: dae_verify, behind every pass
    {"junctions", junctions_hold, PASS_COUNT},
    {"contracts", NULL, 0}, // the pass judges what the user wrote and changes nothing: a check would be the pass again
    {"units", NULL, 0},     // the same; what passes write later has no units of its own to agree with
    {"normal", normal_holds, PASS_algebra}, // laws takes the terms apart
    {"laws", laws_hold, PASS_COUNT},
    {"aliases", aliases_hold, PASS_alias}, // later passes may add such equations, of representatives
    {"balanced", balanced_holds, PASS_balance}, // index adds equations, each with its derivative
    {"index-1", index_holds, PASS_index},
    {"states", states_hold, PASS_states},  // causality and what follows read it
    {"causal", causal_holds, PASS_solve},  // lower gives the problems back
    {"init", init_holds, PASS_solve},
    {"solved", solved_holds, PASS_solve},
    {"sys", NULL, 0},       // sys_verify
    {"motion", motion_holds, PASS_COUNT},
    {"matched", matched_holds, PASS_solve},
};
_Static_assert(sizeof rows / sizeof *rows == FACT_BITS, "every fact has a row");

const char *
fact_name(uint32_t bit)
{
    return bit < FACT_BITS ? rows[bit].name : NULL;
}

bool
facts_verify(Compilation *c, uint32_t pass, Out *why)
{
    for (uint32_t bit = 0; bit < FACT_BITS; bit++)
        if (c->facts >> bit & 1 && rows[bit].holds && pass <= rows[bit].last && !rows[bit].holds(c, why))
            return false;
    return operators_are_gone(c->dae, pass, why);
}
