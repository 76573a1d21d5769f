// initial_system.c: init: the problem of initialisation.
//
// Purpose: a square system for everything at the start: all equations, the initial equations, fixed start
// values, and, for what is still free, start values of states chosen by StateSelect and by whether a start
// was written.
// Method: maximum matching of what the user demands; each missing condition is then `state = start`,
// accepted when an augmenting path exists (matroid exchange: what was matched stays matched).
// When-equations keep their variable at pre(), unless initial() makes them active (section 8.6 of Modelica 3.6); a set-valued law takes its single-valued selection p =
// a*sign(x), which is 0 at rest.
// Contract: requires alias, index, states; provides a matched, sorted Problem. Complexity: linear for the
// usual case in which a missing condition is found in one step.
#include "ir/base/diag.h"
#include "ir/expr/expr.h"
#include "ir/index/index.h"
#include "ir/lower/initial_report.h"
#include "ir/lower/lower.h"
#include "ir/structure/structure.h"
#include "runtime/model/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
add_initial(Dae *dae, Problem *problem, Expr shape, const Var *vars, uint32_t n, uint32_t node, Span span)
{
    vec_push(&problem->equations, dae_generate(dae, EQN_INITIAL, shape, dae_add_row(dae, vars, n), node, span));
}

// The pre() of a variable's representative; of the variable itself when it is the negative of it.
static Var
pre_of(Dae *dae, Var var)
{
    bool negative;
    Var at = dae_alias(dae, var, &negative);
    return dae_pre(dae, negative ? var : at);
}

// --- when-equations

// Whether a variable is the condition of a when-clause, which the front end named.
static bool
is_condition(Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_DISCRETE && strstr(dae_name(dae, var), "$when");
}

// Marks the conditions that are initial(); false when there are none.
static bool
find_initial_conditions(Dae *dae, U8Vec *initial)
{
    const Exprs *exprs = dae->exprs;
    bool any = false;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation at = dae->equations.at[i];
        if (at.kind != EQN_NORMAL || expr_op(exprs, at.shape) != OP_EQN || expr_nslots(exprs, at.shape) != 1
            || expr_op(exprs, expr_arg(exprs, at.shape, 0)) != OP_SLOT || expr_op(exprs, expr_arg(exprs, at.shape, 1)) != OP_INITIAL
            || !is_condition(dae, dae->rows.at[at.row]))
            continue;
        if (!any)
            vec_grow(initial, dae->nvars);
        initial->at[dae->rows.at[at.row]] = any = true;
    }
    return any;
}

// d = e, where a condition that is initial() makes e count: its edge rises now, and that of no other condition.
static bool
add_initial_when(Dae *dae, Problem *problem, const Equation *at, const U8Vec *initial)
{
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, at->shape);
    Expr *with = arena_array(dae->arena, Expr, n + 1);
    const Var *row = dae->rows.at + at->row;
    bool active = false;
    for (uint32_t k = 0; k < n; k++) {
        Var of = dae->var_pre_of.at[row[k]];
        with[k] = expr_slot(exprs, k);
        if (k && is_condition(dae, of == NONE ? row[k] : of))
            with[k] = expr_const(exprs, of == NONE && row[k] < initial->n && initial->at[row[k]]);
        active |= expr_is_const(exprs, with[k], 1);
    }
    if (!active)
        return false;
    Expr shape;
    uint32_t place;
    Var *vars = arena_array(dae->arena, Var, n + 1);
    memcpy(vars, row, n * sizeof *vars);
    dae_bind_shape(dae, expr_substitute(exprs, at->shape, with, n), vars, &shape, &place);
    vec_push(&problem->equations, dae_generate(dae, EQN_INITIAL, shape, place, at->node, at->span));
    return true;
}

// d = pre(d)
static void
add_when(Dae *dae, Problem *problem, uint32_t when, const U8Vec *initial)
{
    Equation at = dae->equations.at[when];
    Var defined = dae->rows.at[at.row];
    if (initial->n && add_initial_when(dae, problem, &at, initial))
        return;
    Var vars[2] = {defined, pre_of(dae, defined)};
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    add_initial(dae, problem, shape, vars, 2, at.node, at.span);
}

// p_i = a*x_i/|x|, as far as x is not zero.
static void
add_disk_law(Dae *dae, Problem *problem, const Law *law)
{
    Exprs *exprs = dae->exprs;
    const Law *first = law - (law->disk - 1), *end = dae->laws.at + dae->laws.n;
    Var vars[8] = {law->p, law->a, law->x};
    Expr squares[4] = {expr_const(exprs, MDL_NEAR * MDL_NEAR)};
    uint32_t n = 0;
    for (const Law *at = first; at < end && at->disk == n + 1; at++, n++) {
        vars[3 + n] = at->x;
        squares[n + 1] = expr_2(exprs, OP_POW, expr_slot(exprs, 3 + n), expr_const(exprs, 2));
    }
    Expr size = expr_1(exprs, OP_SQRT, expr_make(exprs, OP_ADD, squares, n + 1));
    Expr along = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, expr_slot(exprs, 1), expr_slot(exprs, 2)), size);
    add_initial(dae, problem, expr_2(exprs, OP_EQN, expr_slot(exprs, 0), along), vars, 3 + n,
                dae->equations.at[law->equation].node, law->span);
}

// p = a*sign(x); of a play x = 0; of a unilateral constraint p = 0
static void
add_law(Dae *dae, Problem *problem, const Law *law)
{
    Exprs *exprs = dae->exprs;
    if (law->play) { // its force comes from where it is
        Expr still = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_const(exprs, 0));
        add_initial(dae, problem, still, &law->x, 1, dae->equations.at[law->equation].node, law->span);
        return;
    }
    if (law->disk) {
        add_disk_law(dae, problem, law);
        return;
    }
    if (law->unilateral && law->level == 0) { // as it is, and open: with p = 0 nothing would determine a potential between open diodes
        vec_push(&problem->equations, law->equation);
        return;
    }
    if (law->unilateral) { // open until the first event iteration decides
        Expr none = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_const(exprs, 0));
        add_initial(dae, problem, none, &law->p, 1, dae->equations.at[law->equation].node, law->span);
        return;
    }
    Expr sign = expr_1(exprs, OP_SIGN, expr_slot(exprs, 2));
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_2(exprs, OP_MUL, expr_slot(exprs, 1), sign));
    Var vars[3] = {law->p, law->a, law->x};
    add_initial(dae, problem, shape, vars, 3, dae->equations.at[law->equation].node, law->span);
}

// A remembered value, a hidden input, is that of `is` at the start.
static void
add_remembered(Dae *dae, Problem *problem, Var value, Var is, Span span)
{
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    uint32_t node = dae_node(dae, dae_group(dae, value)->inst);
    add_initial(dae, problem, shape, (Var[]){value, is}, 2, node, span);
}

// Before the start everything was as it is at the start; the ends of a profile hold its first and last initial value.
static void
add_memories(Dae *dae, Problem *problem)
{
    for (uint32_t i = 0; i < dae->delays.n; i++) {
        Delay delay = dae->delays.at[i];
        if (delay.weight == NONE) // otherwise the runtime begins with the weight 1
            add_remembered(dae, problem, delay.value, delay.input, delay.span);
    }
    for (uint32_t i = 0; i < 2 * dae->transports.n; i++) {
        Transport transport = dae->transports.at[i / 2];
        Var is = transport.point[i % 2 ? 2 * transport.n - 1 : 1];
        add_remembered(dae, problem, transport.end[i % 2].leaves, is, transport.span);
        add_remembered(dae, problem, transport.end[i % 2].behind, is, transport.span);
    }
}

// For starts that may move: value + move, with a parameter whose value the runtime sets; it takes the next slot.
static Expr
add_move(Dae *dae, Var var, Expr value, U32Vec *vars)
{
    char name[32];
    snprintf(name, sizeof name, "$move%u", dae->moves.n + 1);
    Var move = dae_add_var(dae, name, 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_add_bind(dae, (Bind){.var = move, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    vec_push(&dae->moves, ((Move){var, move}));
    vec_push(vars, move);
    return expr_2(dae->exprs, OP_ADD, value, expr_slot(dae->exprs, vars->n - 1));
}

// var = start(row)
static void
add_start(Dae *dae, Problem *problem, Var var, const Bind *start, Span span)
{
    Exprs *exprs = dae->exprs;
    Expr value = start ? start->shape : expr_const(exprs, 0);
    uint32_t n = expr_nslots(exprs, value);
    U32Vec vars = {0}, with = {0};
    Var held = dae_start_of(dae, dae->var_pre_of.at[var] == NONE ? var : dae->var_pre_of.at[var]);
    uint32_t node = dae_node(dae, dae_group(dae, var)->inst);
    if (held == NONE && !n && !dae->assemble) { // a number
        add_initial(dae, problem, expr_2(exprs, OP_EQN, expr_slot(exprs, 0), value), &var, 1, node, span);
        return;
    }
    vec_push(&vars, var);
    if (held != NONE) {
        value = expr_slot(exprs, 0);
        n = 0;
        vec_push(&with, expr_slot(exprs, 1));
        vec_push(&vars, held);
    }
    for (uint32_t k = 0; k < n; k++) {
        vec_push(&with, expr_slot(exprs, k + 1));
        vec_push(&vars, dae->rows.at[start->row + k]);
    }
    value = expr_substitute(exprs, value, with.at, with.n);
    if (dae->assemble)
        value = add_move(dae, var, value, &vars);
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), value);
    add_initial(dae, problem, shape, vars.at, vars.n, node, span);
    vec_free(&vars);
    vec_free(&with);
}

static void
mark_unknowns(Dae *dae, const U32Vec *pres, Problem *problem)
{
    vec_clear(&problem->unknown);
    vec_grow(&problem->unknown, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative;
        VarKind kind = dae_kind(dae, var);
        bool unknown = (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_pre_of.at[var] == NONE
                       && !(dae->var_flags.at[var] & VARF_REMOVED) && dae_alias(dae, var, &negative) == var;
        problem->unknown.at[var] = unknown || dae->var_flags.at[var] & VARF_FREE;
    }
    for (uint32_t i = 0; i < pres->n; i++)
        problem->unknown.at[pres->at[i]] = 1;
    for (uint32_t i = 0; i < dae->delays.n; i++)
        problem->unknown.at[dae->delays.at[i].value] = dae->delays.at[i].weight == NONE;
    for (uint32_t i = 0; i < 2 * dae->transports.n; i++) {
        const TransportEnd *end = &dae->transports.at[i / 2].end[i % 2];
        problem->unknown.at[end->leaves] = problem->unknown.at[end->behind] = 1;
    }
    for (uint32_t i = 0; i < dae->laws.n; i++)
        problem->unknown.at[dae->laws.at[i].mode] = 0;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        if (dae->laws.at[i].disk == 1)
            problem->unknown.at[dae->laws.at[i].near] = 0;
}

typedef struct Search { // one depth-first search for an augmenting path
    Problem *problem;
    U32Vec stamp;       // per variable: number of the search that saw it
    U32Vec stack, edge; // positions on the path and the edge each is at
    uint32_t round;
} Search;

static bool
augment(Search *search, uint32_t position)
{
    Problem *problem = search->problem;
    search->round++;
    vec_clear(&search->stack);
    vec_clear(&search->edge);
    vec_push(&search->stack, position);
    vec_push(&search->edge, problem->incidence.start.at[position]);
    while (search->stack.n) {
        uint32_t at = vec_last(&search->stack), *edge = &vec_last(&search->edge);
        if (*edge == problem->incidence.match_end.at[at]) {
            vec_drop(&search->stack);
            vec_drop(&search->edge);
            continue;
        }
        Var var = problem->incidence.column.at[(*edge)++];
        if (search->stamp.at[var] == search->round)
            continue;
        search->stamp.at[var] = search->round;
        uint32_t holder = problem->equation_of.at[var];
        if (holder != NONE) {
            vec_push(&search->stack, holder);
            vec_push(&search->edge, problem->incidence.start.at[holder]);
            continue;
        }
        // Found: every position on the path takes the variable its last edge pointed at.
        for (uint32_t i = 0; i < search->stack.n; i++) {
            uint32_t p = search->stack.at[i];
            Var taken = problem->incidence.column.at[search->edge.at[i] - 1];
            problem->var_of.at[p] = taken;
            problem->equation_of.at[taken] = p;
        }
        return true;
    }
    return false;
}

typedef struct Candidate {
    Var var;
    uint32_t priority; // smaller is better
} Candidate;

static int
candidate_compare(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->var < y->var ? -1 : x->var > y->var;
}

// Per variable its start bind, or NONE.
static void
start_binds(const Dae *dae, U32Vec *start_of)
{
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(start_of, NONE);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_START)
            bind_each(&dae->binds.at[i], var)
                start_of->at[var] = i;
}

static uint32_t
rank_of_start(const Dae *dae, const U32Vec *start_of, Var var)
{
    return dae_start_rank(dae, &dae->binds.at[start_of->at[var]], var);
}

// Per representative the variable of its class whose start counts.
static void
start_holders(const Dae *dae, const U32Vec *start_of, U32Vec *holder)
{
    bool negative;
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(holder, var < start_of->n && start_of->at[var] != NONE ? var : NONE);
    for (Var var = 0; var < start_of->n; var++) {
        Var to = dae_alias(dae, var, &negative);
        if (start_of->at[var] != NONE && (holder->at[to] == NONE || rank_of_start(dae, start_of, var) > rank_of_start(dae, start_of, holder->at[to])))
            holder->at[to] = var;
    }
}

// The number a start value is; no start is 0. False when it depends on parameters.
static bool
literal_start(const Dae *dae, Expr shape, double *value)
{
    *value = 0;
    if (!shape)
        return true;
    if (expr_op(dae->exprs, shape) != OP_CONST)
        return false;
    *value = expr_value(dae->exprs, shape);
    return true;
}

// Fixed starts of aliases that say the same number once more are one condition.
static void
add_fixed(Dae *dae, Problem *problem, const U32Vec *start_of)
{
    U32Vec first = {0}; // per representative: variable whose start was added + 1, or 0
    vec_grow(&first, dae->nvars);
    for (Var var = 0; var < start_of->n; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (!(flags & VARF_FIXED) || flags & VARF_REMOVED || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool negative, first_negative;
        Var to = dae_alias(dae, var, &negative);
        const Bind *bind = start_of->at[var] == NONE ? NULL : &dae->binds.at[start_of->at[var]];
        if (first.at[to]) {
            Var earlier = first.at[to] - 1;
            dae_alias(dae, earlier, &first_negative);
            Expr other = start_of->at[earlier] == NONE ? 0 : dae->binds.at[start_of->at[earlier]].shape;
            double value, again;
            if (literal_start(dae, bind ? bind->shape : 0, &value) && literal_start(dae, other, &again)
                && (negative == first_negative ? value == again : value == -again))
                continue;
        }
        first.at[to] = var + 1;
        add_start(dae, problem, var, bind, bind ? bind->span : dae_var_span(dae, var));
    }
    vec_free(&first);
}

static uint32_t
missing(const Problem *problem)
{
    uint32_t count = 0;
    for (uint32_t var = 0; var < problem->unknown.n; var++)
        count += problem->unknown.at[var] && problem->equation_of.at[var] == NONE;
    return count;
}

// The variable whose start is taken when nothing is said about a state: itself, as a rule.
static Var
started_by(const Dae *dae, const Problem *problem, Var state)
{
    Var other;
    bool negative;
    if (!map_get(&dae->started_by, state, &other))
        return state;
    other = dae_alias(dae, other, &negative);
    return problem->unknown.at[other] ? other : state;
}

// Where constraints choose the states, as many of each depth (positions, velocities) are free as there are more of them than
// constraints. More conditions than that could be satisfied by values of another depth alone: of the force in a rod by the
// positions at its end, say.
typedef struct Freedom {
    U32Vec left;     // per depth: conditions that may still be added
    bool limited;    // there are constraints that choose states
} Freedom;

static uint32_t
depth_of(const Dae *dae, Var state)
{
    uint32_t depth = 0;
    for (Var v = structure_der(dae, state); v != NONE; v = structure_der(dae, v))
        depth++;
    return depth;
}

static uint32_t *
freedom_at(Freedom *freedom, uint32_t depth)
{
    if (depth >= freedom->left.n)
        vec_grow(&freedom->left, depth + 1 - freedom->left.n);
    return &freedom->left.at[depth];
}

static void
use_freedom(Freedom *freedom, uint32_t depth)
{
    uint32_t *left = freedom_at(freedom, depth);
    *left -= *left > 0;
}

static bool
is_state(const Reduction *reduction, Var var)
{
    return var < reduction->state.n && reduction->state.at[var];
}

static void
find_freedom(Dae *dae, const Reduction *reduction, const Problem *problem, Freedom *freedom)
{
    bool negative;
    freedom->limited = reduction->invariants.n > 0;
    for (Var var = 0; freedom->limited && var < reduction->state.n; var++)
        if (reduction->state.at[var])
            ++*freedom_at(freedom, depth_of(dae, var));
    for (uint32_t k = 0; k < reduction->invariants.n; k++)
        use_freedom(freedom, reduction->invariant_depth.at[k]);
    for (uint32_t i = 0; freedom->limited && i < problem->equations.n; i++) {
        const Equation *at = &dae->equations.at[problem->equations.at[i]];
        Var var = at->kind == EQN_INITIAL && at->generated ? dae_alias(dae, dae->rows.at[at->row], &negative) : NONE;
        if (var != NONE && is_state(reduction, var))
            use_freedom(freedom, depth_of(dae, var));
    }
}

typedef struct Defaults {
    Dae *dae;
    const Reduction *reduction;
    Problem *problem;
    const U32Vec *start_of;
    U32Vec holder;
    Search search;
    Freedom freedom;
    Map taken;         // representative -> the variable whose start value was taken for it
} Defaults;

// `var = start`, where something is missing for it.
static bool
add_default(Defaults *defaults, Var var)
{
    Dae *dae = defaults->dae;
    Problem *problem = defaults->problem;
    uint32_t position = problem->equations.n;
    vec_push(&problem->incidence.column, var);
    vec_push(&problem->incidence.match_end, problem->incidence.column.n);
    vec_push(&problem->incidence.start, problem->incidence.column.n);
    vec_push(&problem->var_of, NONE);
    if (!augment(&defaults->search, position)) {
        vec_drop(&problem->incidence.column);
        vec_drop(&problem->incidence.start);
        vec_drop(&problem->incidence.match_end);
        vec_drop(&problem->var_of);
        return false;
    }
    // The equation is that of the alias; its sign comes with it.
    Var of = dae->var_pre_of.at[var], held = defaults->holder.at[of == NONE ? var : of];
    Var from = of == NONE && held != NONE ? held : var;
    const Bind *bind = held == NONE ? NULL : &dae->binds.at[defaults->start_of->at[held]];
    vec_push(&problem->assumed, dae->equations.n);
    if (bind && of == NONE)
        map_put(&defaults->taken, var, from);
    add_start(dae, problem, from, bind, dae_var_span(dae, var));
    if (defaults->freedom.limited && is_state(defaults->reduction, var))
        use_freedom(&defaults->freedom, depth_of(dae, var));
    return true;
}

// --- start values that contradict each other

// Whether the start values of two names of one variable are numbers that differ.
static bool
contradict(Dae *dae, const U32Vec *start_of, Var a, Var b, double *first, double *second)
{
    const Bind one = dae->binds.at[start_of->at[a]], other = dae->binds.at[start_of->at[b]];
    bool negative_a, negative_b;
    if (!dae_known_expr(dae, one.shape, dae->rows.at + one.row, first)
        || !dae_known_expr(dae, other.shape, dae->rows.at + other.row, second))
        return false;
    dae_alias(dae, a, &negative_a);
    dae_alias(dae, b, &negative_b);
    double same = negative_a == negative_b ? *second : -*second;
    return fabs(*first - same) > 1e-12 * fabs(same);
}

// One variable with several names starts where one of them says: the others are told, unless they are the library's defaults.
static void
warn_contradictions(Dae *dae, const U32Vec *start_of, Map *taken, Diags *diags)
{
    for (Var var = 0; var < start_of->n && !diags_full(diags); var++) {
        bool negative, turned;
        double value, other;
        Var to = dae_alias(dae, var, &negative), from;
        if (start_of->at[var] == NONE || !map_get(taken, to, &from) || from == var || !contradict(dae, start_of, from, var, &value, &other))
            continue;
        const Bind *lost = &dae->binds.at[start_of->at[var]];
        if (sources_in_library(dae->sources, lost->span.lo))
            continue;
        dae_alias(dae, from, &turned);
        Diag *diag = diag_add(diags, W1604, lost->span, "'%s' starts at %g and '%s', another name for %s, at %g: the start value of '%s' counts",
                              dae_name(dae, var), other, dae_name(dae, from),
                              negative == turned ? "it" : "its negative", value, dae_name(dae, from));
        diag_note(diag, dae->binds.at[start_of->at[from]].span, "this one counts");
        diag_help(diag, "remove one of them, or write fixed = true beside the one that is meant");
    }
}

// What comes first: start values of states that somebody has written, what the user has written for other variables, start values that the
// library gives to states and to variables that it would like to be states (that an elastic joint begins without strain), zeros of
// states that nobody has written, and other start values of the library, which are guesses.
static uint32_t
turn_of(const Defaults *defaults, Var var, bool state)
{
    enum { RANKS = 8 };
    Var holder = defaults->holder.at[var];
    if (holder == NONE)
        return 3 * RANKS;
    const Bind *bind = &defaults->dae->binds.at[defaults->start_of->at[holder]];
    if (!sources_in_library(defaults->dae->sources, bind->span.lo))
        return state ? 0 : RANKS;
    StateSelect select = dae_state_select(defaults->dae, var);
    return state || select == STATE_PREFER || select == STATE_ALWAYS ? 2 * RANKS : 4 * RANKS;
}

// Adds `state = start` for states until nothing is missing or no candidate is left.
static uint32_t
add_defaults(Dae *dae, const Reduction *reduction, Problem *problem, const U32Vec *start_of, uint32_t open, Diags *diags)
{
    VEC(Candidate) candidates = {0};
    Defaults defaults = {.dae = dae, .reduction = reduction, .problem = problem, .start_of = start_of, .search = {.problem = problem}};
    start_holders(dae, start_of, &defaults.holder);
    find_freedom(dae, reduction, problem, &defaults.freedom);
    static const uint32_t rank[] = {[STATE_ALWAYS] = 0, [STATE_PREFER] = 1, [STATE_DEFAULT] = 2,
                                    [STATE_AVOID] = 3, [STATE_NEVER] = 4};
    for (Var var = 0; var < problem->unknown.n; var++) {
        if (problem->unknown.at[var] && dae->var_pre_of.at[var] != NONE)
            vec_push(&candidates, ((Candidate){var, 0}));
        if (!problem->unknown.at[var] || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool state = is_state(reduction, var);
        bool declared = dae->var_group.at[var] != NONE;
        bool has_start = defaults.holder.at[var] != NONE;
        if (!state && !(declared && has_start))
            continue;
        Candidate c = {has_start ? var : started_by(dae, problem, var),
                       turn_of(&defaults, var, state) + rank[dae_state_select(dae, var)]};
        vec_push(&candidates, c);
    }
    if (candidates.n)
        qsort(candidates.at, candidates.n, sizeof *candidates.at, candidate_compare);
    vec_grow(&defaults.search.stamp, dae->nvars);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < candidates.n && open; i++) {
            Var var = candidates.at[i].var;
            bool limited = defaults.freedom.limited && is_state(reduction, var);
            if (round == 0 ? !limited || *freedom_at(&defaults.freedom, depth_of(dae, var)) > 0 : limited)
                open -= add_default(&defaults, var);
        }
    if (defaults.taken.count)
        warn_contradictions(dae, start_of, &defaults.taken, diags);
    map_free(&defaults.taken);
    vec_free(&defaults.search.stamp);
    vec_free(&defaults.search.stack);
    vec_free(&defaults.search.edge);
    vec_free(&defaults.holder);
    vec_free(&defaults.freedom.left);
    vec_free(&candidates);
    return open;
}

// --- parameters that initialisation finds

typedef struct Dependents { // of variables: the parameters whose value is given in terms of them
    U32Vec start, at;
} Dependents;

static void
collect_dependents(const Dae *dae, Dependents *dependents)
{
    vec_grow(&dependents->start, dae->nvars + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < dae->binds.n; i++) {
            const Bind *bind = &dae->binds.at[i];
            if (bind->attr != ATTR_VALUE)
                continue;
            for (uint32_t k = 0; k < expr_nslots(dae->exprs, bind->shape); k++) {
                Var used = dae->rows.at[bind->row + k];
                if (pass)
                    dependents->at.at[dependents->start.at[used + 1]++] = i;
                else
                    dependents->start.at[used + 2]++;
            }
        }
        for (Var var = 0; !pass && var < dae->nvars; var++)
            dependents->start.at[var + 2] += dependents->start.at[var + 1];
        if (!pass)
            vec_grow(&dependents->at, dependents->start.at[dae->nvars + 1] + 1);
    }
}

static void
set_free(Dae *dae, Var var, U32Vec *queue)
{
    if (dae->var_flags.at[var] & VARF_FREE)
        return;
    dae->var_flags.at[var] |= VARF_FREE;
    vec_push(queue, var);
}

// Parameters with fixed = false are unknowns of the initial system, and so is what depends on them: its binding becomes
// an initial equation.
static void
free_parameters(Dae *dae, Problem *problem)
{
    U32Vec queue = {0};
    Dependents dependents = {0};
    for (Var var = 0; var < dae->nvars; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (dae_kind(dae, var) == VAR_PARAMETER && flags & VARF_FIXED_SET && !(flags & VARF_FIXED))
            set_free(dae, var, &queue);
    }
    if (queue.n)
        collect_dependents(dae, &dependents);
    for (uint32_t i = 0; i < queue.n; i++)
        for (uint32_t k = dependents.start.at[queue.at[i]]; k < dependents.start.at[queue.at[i] + 1]; k++)
            set_free(dae, dae->binds.at[dependents.at.at[k]].var, &queue);
    for (uint32_t i = 0; i < dae->binds.n && queue.n; i++) {
        const Bind bind = dae->binds.at[i];
        bind_each(&bind, var)
            if (bind.attr == ATTR_VALUE && dae->var_flags.at[var] & VARF_FREE)
                add_start(dae, problem, var, &bind, bind.span);
    }
    vec_free(&queue);
    vec_free(&dependents.start);
    vec_free(&dependents.at);
}

// --- pre() values that initialisation finds

// pre() values are known, from start values, but for those that initial equations are about, be it through the variable
// itself when only a when-equation defines it (Modelica specification 3.6, section 8.6).
static void
free_pres(Dae *dae, Problem *problem, uint32_t equations, const U32Vec *start_of, U32Vec *pres)
{
    U8Vec kept = {0}, done = {0}; // per variable: a when-equation defines it; its pre() is in `pres`
    vec_grow(&kept, dae->nvars);
    vec_grow(&done, dae->nvars);
    bool negative;
    for (uint32_t i = 0; i < equations; i++)
        if (dae->equations.at[i].kind == EQN_WHEN)
            kept.at[dae_alias(dae, dae->rows.at[dae->equations.at[i].row], &negative)] = 1;
    for (uint32_t i = 0; i < equations; i++) {
        const Equation at = dae->equations.at[i];
        uint32_t n = at.kind == EQN_INITIAL ? expr_nslots(dae->exprs, at.shape) : 0;
        for (uint32_t k = 0; k < n; k++) {
            Var named = dae->rows.at[at.row + k], of = dae->var_pre_of.at[named];
            Var var = dae_alias(dae, of == NONE ? named : of, &negative);
            VarKind kind = dae_kind(dae, var);
            if ((kind != VAR_DISCRETE && (kind != VAR_INPUT || of == NONE)) || (of == NONE && !kept.at[var]) || done.at[var])
                continue;
            done.at[var] = 1;
            Var pre = pre_of(dae, of == NONE ? named : of);
            vec_push(pres, pre);
            const Bind *bind = start_of->at[var] == NONE ? NULL : &dae->binds.at[start_of->at[var]];
            if (dae->var_flags.at[var] & VARF_FIXED)
                add_start(dae, problem, pre, bind, bind ? bind->span : dae_var_span(dae, var));
        }
    }
    vec_free(&kept);
    vec_free(&done);
}

// --- the pass

enum { LOOSENED = 64 }; // conditions of a mechanism at most that constraints already imply

// Matches what is said about the start. States are matched last, so that they stay free for their start values.
static bool
match_start(Dae *dae, const Reduction *reduction, const U32Vec *pres, Problem *problem)
{
    U8Vec rank = {0};
    mark_unknowns(dae, pres, problem);
    vec_free(&problem->incidence.start);
    vec_free(&problem->incidence.column);
    vec_free(&problem->incidence.match_end);
    vec_free(&problem->var_of);
    vec_free(&problem->equation_of);
    problem_incidence(dae, problem);
    vec_grow(&rank, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        rank.at[var] = var < reduction->state.n && reduction->state.at[var];
    bool good = problem_match(problem, dae->nvars, rank.at) == 0;
    vec_free(&rank);
    return good;
}

// The variable that stands for this one after alias elimination; itself when it is the negative of one.
static Var
standing_for(Dae *dae, Var var)
{
    Var of = dae->var_pre_of.at[var];
    bool negative;
    Var at = dae_alias(dae, of == NONE ? var : of, &negative);
    return negative ? var : of == NONE ? at : dae_pre(dae, at);
}

// Whether an initial equation has been met before, perhaps in other names for the same variables. Saying a thing twice
// contradicts nothing; two that look alike by their hash are compared.
static bool
said_before(Dae *dae, Map *said, uint32_t equation)
{
    const Equation at = dae->equations.at[equation];
    uint32_t n = expr_nslots(dae->exprs, at.shape), first;
    uint64_t key = at.shape;
    for (uint32_t k = 0; k < n; k++)
        key = hash_add(key, standing_for(dae, dae->rows.at[at.row + k]));
    if (!map_get(said, key, &first)) {
        map_put(said, key, equation);
        return false;
    }
    bool same = dae->equations.at[first].shape == at.shape;
    for (uint32_t k = 0; k < n && same; k++)
        same = standing_for(dae, dae->rows.at[dae->equations.at[first].row + k]) == standing_for(dae, dae->rows.at[at.row + k]);
    return same;
}

// No other condition than start values of states: no law, no when-equation, no memory, no parameter to be found.
static bool
starts_states(Dae *dae, const Reduction *reduction, const Problem *problem)
{
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        const Equation *at = &dae->equations.at[problem->equations.at[i]];
        bool negative;
        if (at->kind != EQN_INITIAL)
            continue;
        Var var = at->generated ? dae_alias(dae, dae->rows.at[at->row], &negative) : NONE;
        if (var == NONE || var >= reduction->state.n || !reduction->state.at[var])
            return false;
    }
    return true;
}

// Whether the unknown of a block of one equation follows from it without iteration.
static bool
follows_explicitly(Dae *dae, uint32_t equation, Var var, U32Vec *vars)
{
    Expr shape = dae_resolve(dae, equation, vars), divisor;
    for (uint32_t k = 0; k < vars->n; k++)
        if (vars->at[k] == var)
            return expr_solve(dae->exprs, shape, k, &divisor) != 0;
    return false;
}

// A start value that the user has written for something other than a state gives way to others where nothing is left for it to determine;
// where no iteration begins there it has no effect.
static void
find_without_effect(Dae *dae, const U32Vec *start_of, Problem *problem)
{
    U32Vec vars = {0};
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t first = problem->block_start.at[b], position = problem->sorted.at[first], equation = problem->equations.at[position];
        Var var = problem->var_of.at[position];
        if (problem->block_start.at[b + 1] - first == 1 && dae->equations.at[equation].kind == EQN_NORMAL && var < start_of->n
            && start_of->at[var] != NONE && dae_kind(dae, var) == VAR_CONTINUOUS
            && !sources_in_library(dae->sources, dae->binds.at[start_of->at[var]].span.lo) && follows_explicitly(dae, equation, var, &vars))
            vec_push(&problem->without_effect, var);
    }
    vec_free(&vars);
}

bool
pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags)
{
    U32Vec start_of = {0};
    Map said = {0};
    U8Vec initial = {0};
    uint32_t n = dae->equations.n;
    find_initial_conditions(dae, &initial);
    dae->assemble &= reduction->invariants.n > 0;
    for (uint32_t i = 0; i < n; i++) {
        EqnKind kind = dae->equations.at[i].kind;
        if (kind == EQN_NORMAL || (kind == EQN_INITIAL && !said_before(dae, &said, i)))
            vec_push(&problem->equations, i);
        else if (kind == EQN_WHEN)
            add_when(dae, problem, i, &initial);
    }
    vec_free(&initial);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        add_law(dae, problem, &dae->laws.at[i]);
    add_memories(dae, problem);
    map_free(&said);
    U32Vec pres = {0};
    start_binds(dae, &start_of);
    add_fixed(dae, problem, &start_of);
    free_parameters(dae, problem);
    free_pres(dae, problem, n, &start_of, &pres);
    bool good = match_start(dae, reduction, &pres, problem);
    uint32_t loosened = 0;
    for (uint32_t k = 0; !good && k < LOOSENED && loosen_start(dae, reduction, problem, &loosened); k++)
        good = match_start(dae, reduction, &pres, problem);
    vec_free(&pres);
    if (!good)
        init_report_over(dae, problem, diags);
    uint32_t open = good ? missing(problem) : 0;
    if (good && open && add_defaults(dae, reduction, problem, &start_of, open, diags)) {
        init_report_under(dae, problem, diags);
        good = false;
    }
    if (good) {
        dae->starts_states = starts_states(dae, reduction, problem);
        problem_sort(problem);
        find_without_effect(dae, &start_of, problem);
        init_guesses(dae, problem);
    }
    vec_free(&start_of);
    return good;
}

// --- mdlc show init

static const char *
why_assumed(const Dae *dae, Var var)
{
    static const char *const wishes[] = {[STATE_DEFAULT] = "", [STATE_NEVER] = ", stateSelect = never",
                                         [STATE_AVOID] = ", stateSelect = avoid", [STATE_PREFER] = ", stateSelect = prefer",
                                         [STATE_ALWAYS] = ", stateSelect = always"};
    return wishes[dae_state_select(dae, var)];
}

static void
print_condition(const Dae *dae, uint32_t equation, Out *out)
{
    const Equation *at = &dae->equations.at[equation];
    Place place;
    size_t start = out->length;
    out_text(out, "  ");
    dae_print_equation(dae, equation, out);
    out_repeat(out, ' ', out->length - start < 40 ? 40 - (out->length - start) : 2);
    if (span_locate(dae->sources, at->span, &place))
        out_printf(out, "%s:%u", place.path, place.line);
}

void
problem_print_init(const Dae *dae, const Problem *problem, Out *out)
{
    U8Vec assumed = {0}; // per equation: it is a start value taken as a condition
    uint32_t given = 0;
    vec_grow(&assumed, dae->equations.n);
    for (uint32_t i = 0; i < problem->assumed.n; i++)
        assumed.at[problem->assumed.at[i]] = 1;
    for (uint32_t i = 0; i < problem->equations.n; i++)
        given += dae->equations.at[problem->equations.at[i]].kind == EQN_INITIAL && !assumed.at[problem->equations.at[i]];
    out_printf(out, "initial system: %u equations in %u blocks\n", problem->equations.n,
               problem->block_start.n ? problem->block_start.n - 1 : 0);
    out_printf(out, "conditions of the start: %u\n", given);
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        uint32_t equation = problem->equations.at[i];
        if (dae->equations.at[equation].kind != EQN_INITIAL || assumed.at[equation])
            continue;
        print_condition(dae, equation, out);
        out_char(out, '\n');
    }
    out_printf(out, "start values taken as fixed, because nothing else determines these variables: %u\n", problem->assumed.n);
    for (uint32_t i = 0; i < problem->assumed.n; i++) {
        Var var = dae->rows.at[dae->equations.at[problem->assumed.at[i]].row];
        print_condition(dae, problem->assumed.at[i], out);
        out_printf(out, "%s\n", why_assumed(dae, var));
    }
    if (problem->without_effect.n)
        out_printf(out, "start values that have no effect, because these determine their variables: %u\n", problem->without_effect.n);
    for (uint32_t i = 0; i < problem->without_effect.n; i++) {
        out_text(out, "  ");
        dae_told_name(dae, problem->without_effect.at[i], out);
        out_char(out, '\n');
    }
    out_text(out, "in order of evaluation\n");
    vec_free(&assumed);
}
