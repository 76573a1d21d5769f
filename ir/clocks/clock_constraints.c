// clock_constraints.c: constraints between states of a clocked partition are differentiated before it is discretised.
//
// Purpose: a partition with a solver method may bind its states by equations without derivatives (an inverse model as a feedforward controller, Modelica
// 3.6, section 16.8.2): not all of them can be integrated.
// Method: as in the continuous part of a model. Equations that no highest derivative is left for are differentiated, with all that their search has
// reached (Pantelides, SIAM J. Sci. Stat. Comput. 9 (1988) 213); of the variables whose derivatives the equations have then, the most wanted ones stay
// states as long as the equations can determine all others (Mattsson, Soderlind, SIAM J. Sci. Comput. 14 (1993) 677): derivatives of these are unknowns
// like any other. What wants a state is stateSelect, then a fixed start value, then that its derivative is written.
// Contract: clock_inner.h. Nothing changes where no equation has to be differentiated, and where no number of differentiations helps.
// Complexity: a search through the partition for each of its equations, each that is added, and each variable with a derivative.
#include <stdlib.h>

#include "ir/clocks/clock_inner.h"
#include "ir/dae/pattern.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/rate.h"

enum { MOST = 8 }; // times an equation is differentiated

typedef struct Reduced {
    uint32_t id;           // in the model
    uint32_t derivative;   // its number among these, or NONE
    uint32_t level;
    U32Vec columns;        // unknowns that it could determine
} Reduced;

typedef struct Way {
    uint32_t equation;
    uint32_t column;       // of its columns: the one that it looks at
    bool taken;            // those that nobody has were looked at
} Way;

typedef struct Constraints {
    Clocks *clocks;
    uint32_t partition;
    Structure structure;
    Patterns rates;
    VEC(Reduced) equations;
    U32Vec unknowns;       // variables and derivatives
    Map number;            // variable -> its place there
    U32Vec matched;        // per unknown: the equation that determines it, or NONE
    U8Vec taken;           // per unknown: a state, which no equation determines
    U32Vec seen;           // per unknown: the latest search that has come to it
    U32Vec reached;        // per equation: the same
    uint32_t round;        // searches so far
    VEC(Way) ways;         // of the search: from the equation that wants an unknown to the one that looks for another
    bool highest;          // only the highest derivatives count
} Constraints;

static Var
underlying(const Dae *dae, Var var)
{
    while (dae->var_der_of.at[var] != NONE)
        var = dae->var_der_of.at[var];
    return var;
}

static bool
is_unknown(const Constraints *at, Var var)
{
    const Dae *dae = at->clocks->dae;
    Var own = underlying(dae, var);
    VarKind kind = dae_kind(dae, own);
    return own < at->clocks->continuous && dae_type(dae, own) == TYPE_REAL && dae->var_pre_of.at[own] == NONE && kind != VAR_PARAMETER && kind != VAR_CONSTANT
        && kind != VAR_INPUT && clocks_partition(at->clocks, own) == at->partition;
}

static uint32_t
number_of(Constraints *at, Var var)
{
    uint32_t number;
    if (map_get(&at->number, var, &number))
        return number;
    number = at->unknowns.n;
    map_put(&at->number, var, number);
    vec_push(&at->unknowns, var);
    vec_push(&at->matched, NONE);
    vec_push(&at->taken, 0);
    return number;
}

// The number of the derivative of an unknown, NONE where the equations have none.
static uint32_t
derivative_of(const Constraints *at, uint32_t unknown)
{
    Var derivative = at->clocks->dae->var_der.at[at->unknowns.at[unknown]];
    uint32_t number = NONE;
    return derivative != NONE && map_get(&at->number, derivative, &number) ? number : NONE;
}

// An equation between Reals of the partition; others determine nothing that is integrated.
static void
reduced_equation(Constraints *at, uint32_t id, uint32_t level)
{
    Dae *dae = at->clocks->dae;
    const Equation equation = dae->equations.at[id];
    Reduced added = {.id = id, .derivative = NONE, .level = level};
    U32Vec used = {0};
    bool real = expr_op(dae->exprs, equation.shape) == OP_EQN;
    for (uint32_t side = 0; side < 2 && real; side++) {
        Var alone = clocks_alone(dae, id, side);
        real = alone == NONE || dae_type(dae, underlying(dae, alone)) == TYPE_REAL;
    }
    Expr now = clocks_without_past(dae, equation.shape);
    if (real)
        expr_used_slots(dae->exprs, &now, 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        Var var = dae->rows.at[equation.row + used.at[k]];
        if (is_unknown(at, var))
            vec_push(&added.columns, number_of(at, var));
    }
    vec_free(&used);
    if (added.columns.n)
        vec_push(&at->equations, added);
    else
        vec_free(&added.columns);
}

static void
enter(Constraints *at, uint32_t equation)
{
    at->reached.at[equation] = at->round;
    vec_push(&at->ways, ((Way){equation, 0, false}));
}

// Everybody on the way has the unknown that the next one has given up.
static bool
give(Constraints *at)
{
    while (at->ways.n) {
        Way way = vec_pop(&at->ways);
        at->matched.at[at->equations.at[way.equation].columns.at[way.column]] = way.equation;
    }
    return true;
}

// Finds an unknown for the equation, which others may have to give up; what the search has come to is marked.
static bool
search(Constraints *at, uint32_t equation)
{
    at->round++;
    while (at->seen.n < at->unknowns.n)
        vec_push(&at->seen, 0);
    while (at->reached.n < at->equations.n)
        vec_push(&at->reached, 0);
    vec_clear(&at->ways);
    enter(at, equation);
    while (at->ways.n) {
        Way *way = &at->ways.at[at->ways.n - 1];
        const U32Vec *columns = &at->equations.at[way->equation].columns;
        if (way->column == columns->n) {
            if (way->taken) {
                (void)vec_pop(&at->ways);
                if (at->ways.n)
                    at->ways.at[at->ways.n - 1].column++;
            } else {
                *way = (Way){way->equation, 0, true};
            }
            continue;
        }
        uint32_t unknown = columns->at[way->column];
        bool open = !at->taken.at[unknown] && at->seen.at[unknown] != at->round && !(at->highest && derivative_of(at, unknown) != NONE);
        if (open && at->matched.at[unknown] == NONE)
            return give(at);
        if (open && way->taken) {
            at->seen.at[unknown] = at->round;
            enter(at, at->matched.at[unknown]);
        } else {
            way->column++;
        }
    }
    return false;
}

static void
forget_matching(Constraints *at)
{
    for (uint32_t u = 0; u < at->unknowns.n; u++)
        at->matched.at[u] = NONE;
}

static bool
determine_all(Constraints *at)
{
    forget_matching(at);
    bool good = true;
    for (uint32_t e = 0; e < at->equations.n && good; e++)
        good = search(at, e);
    return good;
}

// --- equations that are differentiated

static bool
has_clock_operator(const Exprs *exprs, Expr e)
{
    bool any = false;
    for (Op op = OP_CLOCK; op <= OP_FIRSTTICK; op++)
        any = any || expr_has_op(exprs, e, op);
    return any;
}

static bool
differentiate(Constraints *at, uint32_t equation)
{
    Dae *dae = at->clocks->dae;
    Reduced this = at->equations.at[equation];
    if (this.level >= MOST || has_clock_operator(dae->exprs, dae->equations.at[this.id].shape)) // what is sampled has no derivative
        return false;
    structure_read(&at->structure, this.id);
    uint32_t made = rate_append(&at->structure, &at->rates, this.id), n = at->equations.n;
    if (made == NONE)
        return false;
    reduced_equation(at, made, this.level + 1);
    if (at->equations.n == n)
        return false;
    at->equations.at[equation].derivative = n;
    return true;
}

// Everything that the search has reached, the equation itself among it.
static bool
differentiate_reached(Constraints *at)
{
    uint32_t n = at->equations.n, unknowns = at->unknowns.n;
    bool good = true;
    for (uint32_t u = 0; u < unknowns; u++)
        if (at->seen.at[u] == at->round)
            (void)number_of(at, dae_der(at->clocks->dae, at->unknowns.at[u]));
    for (uint32_t e = 0; e < n && good; e++)
        if (at->reached.at[e] == at->round)
            good = differentiate(at, e);
    for (uint32_t u = 0; u < unknowns && good; u++)
        if (at->seen.at[u] == at->round)
            at->matched.at[derivative_of(at, u)] = at->equations.at[at->matched.at[u]].derivative;
    return good;
}

static bool
reduce(Constraints *at)
{
    at->highest = true;
    forget_matching(at);
    for (uint32_t e = 0, n = at->equations.n; e < n; e++)
        for (uint32_t now = e; !search(at, now); now = at->equations.at[now].derivative)
            if (!differentiate_reached(at))
                return false;
    return true;
}

// --- states

typedef struct Wish {
    uint32_t unknown, rank;
} Wish;

static int
by_rank(const void *a, const void *b)
{
    const Wish *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return x->unknown < y->unknown ? -1 : x->unknown > y->unknown;
}

// written: the derivatives of unknowns before this one stood in the model.
static void
choose_states(Constraints *at, uint32_t written)
{
    const Dae *dae = at->clocks->dae;
    VEC(Wish) wishes = {0};
    for (uint32_t u = 0; u < at->unknowns.n; u++) {
        Var var = at->unknowns.at[u];
        uint32_t derivative = derivative_of(at, u);
        if (derivative == NONE)
            continue;
        bool own = dae->var_der_of.at[var] == NONE;
        uint32_t rank = 8 * (uint32_t)dae_state_select(dae, var) + 4 * own + 2 * (own && dae->var_flags.at[var] & VARF_FIXED) + (derivative < written);
        vec_push(&wishes, ((Wish){u, rank}));
    }
    if (wishes.n)
        qsort(wishes.at, wishes.n, sizeof *wishes.at, by_rank);
    for (uint32_t w = 0; w < wishes.n; w++) {
        uint32_t unknown = wishes.at[w].unknown, equation = at->matched.at[unknown];
        at->taken.at[unknown] = 1;
        at->matched.at[unknown] = NONE;
        if (equation == NONE || search(at, equation))
            continue;
        at->taken.at[unknown] = 0;
        at->matched.at[unknown] = equation;
    }
    for (uint32_t u = 0; u < at->unknowns.n; u++)
        if (!at->taken.at[u] && derivative_of(at, u) != NONE)
            map_put(&at->clocks->dependent, at->unknowns.at[u], 1);
    vec_free(&wishes);
}

void
clocks_reduce(Clocks *clocks, uint32_t partition, U32Vec *equations)
{
    Constraints at = {.clocks = clocks, .partition = partition, .structure = {.dae = clocks->dae}};
    if (clocks->partitions.at[partition].solver == CLOCK_SOLVER_NONE)
        return;
    at.rates.arena = arena_create();
    for (uint32_t i = 0; i < equations->n; i++)
        reduced_equation(&at, equations->at[i], 0);
    uint32_t own = at.equations.n, written = at.unknowns.n;
    if (determine_all(&at) && reduce(&at) && at.equations.n > own) {
        at.highest = false;
        if (determine_all(&at))
            choose_states(&at, written);
        for (uint32_t e = own; e < at.equations.n; e++)
            vec_push(equations, at.equations.at[e].id);
    }
    for (uint32_t e = 0; e < at.equations.n; e++)
        vec_free(&at.equations.at[e].columns);
    structure_free(&at.structure);
    arena_free(&at.rates.arena);
    vec_free(&at.equations);
    vec_free(&at.unknowns);
    map_free(&at.number);
    vec_free(&at.matched);
    vec_free(&at.taken);
    vec_free(&at.seen);
    vec_free(&at.reached);
    vec_free(&at.ways);
}
