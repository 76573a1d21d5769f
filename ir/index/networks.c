// networks.c: loops and cuts of networks that bind states alone.
//
// Purpose:    a loop of capacitors, or of springs, and a set of inductors, or of masses, through which all current, or force, of a part
//             of a network goes, are constraints on states that no single equation says; loops and cuts of sources contradict themselves. The structure counts as many equations
//             as potentials or flows there, so that index reduction does not see them, and numbers then find a singular matrix
//             (three inductors before a bridge of diodes, whose currents add up to nothing).
// Method:     both are linear combinations with the coefficients 1 and -1 in which everything algebraic cancels.
//             Loops: equations x = p - q with states x alone are edges between p and q; what closes a cycle in the forest of the
//             others becomes the sum round its cycle. Cuts: equations are the nodes, a flow that occurs in exactly two of
//             them is an edge, and the sum over a set that nothing algebraic leaves is a balance of states. In a set with
//             fewer edges than equations the structure sees it, unless states cancel as well. (The general case, with integer coefficients: Otter and
//             Elmqvist, Transformation of Differential Algebraic Array Equations to Index One Form, Modelica 2017; other terms: sums.c.)
// Contract:   requires alias. One equation of each loop or cut is replaced by the combination, in its place and of its component.
// Complexity: linear in the equations; combinations of more than LONGEST equations and equations of more than WIDEST unknowns stay.
//
//     i1 = a - c, i2 = b - a, i3 = c - b   with states i   ->   i1 = a - c, i2 = b - a, i1 + i2 + i3 = 0
#include "ir/base/sets.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/index/networks.h"

enum { LONGEST = 200, WIDEST = 32 };
enum { SIGN_UNKNOWN = 2 };

typedef struct Term {
    Var var;
    int sign;
} Term;

typedef struct Row {       // an equation: signs times algebraic unknowns + rest of states = 0
    uint32_t equation;
    uint32_t first, n;     // of Networks.terms
    bool has_state, only_states; // nothing is given
} Row;

typedef struct Networks {
    Dae *dae;
    Structure structure;
    U32Vec read;           // variables of the equation read last
    U8Vec role;            // per variable
    U32Vec signs_of;       // per shape: offset into `signs` + 1, or 0
    VEC(int8_t) signs;     // per slot: sign_of, or SIGN_UNKNOWN
    VEC(Row) rows;
    VEC(Term) terms;
    U8Vec replaced;        // per row
    // the combination being made
    U32Vec vars;
    U32Vec slot_of;        // per variable: its first slot in the sum + 1, or 0
    Expr sum;
} Networks;

// --- rows

static void
find_roles(Networks *net)
{
    const Dae *dae = net->dae;
    U8Vec unknown = {0};
    structure_unknowns(dae, &unknown);
    vec_grow(&net->role, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        if (unknown.at[v] && dae_kind(dae, v) == VAR_CONTINUOUS)
            net->role.at[v] = structure_der(dae, v) != NONE ? ROLE_STATE : ROLE_ALGEBRAIC;
        else if (unknown.at[v])
            net->role.at[v] = ROLE_JUMPS;
    vec_free(&unknown);
}

// A variable that an equation determines alone, as a function of time.
static void
find_given(Networks *net, uint32_t equation)
{
    uint32_t unknowns = 0;
    Var only = NONE;
    dae_resolve(net->dae, equation, &net->read);
    for (uint32_t k = 0; k < net->read.n; k++)
        if (net->role.at[net->read.at[k]]) {
            only = net->read.at[k];
            unknowns++;
        }
    if (unknowns == 1 && net->role.at[only] == ROLE_ALGEBRAIC)
        net->role.at[only] = ROLE_GIVEN;
}

static int8_t
find_sign(Exprs *exprs, Expr shape, uint32_t k)
{
    Expr coefficient, rest;
    if (!expr_affine(exprs, expr_residual(exprs, shape), k, &coefficient, &rest))
        return 0;
    return expr_is_const(exprs, coefficient, 1) ? 1 : expr_is_const(exprs, coefficient, -1) ? -1 : 0;
}

// The sign of slot k in the residual when its coefficient is 1 or -1, else 0. Found once per shape and slot.
static int
sign_of(Networks *net, Expr shape, uint32_t k)
{
    Exprs *exprs = net->dae->exprs;
    if (shape >= net->signs_of.n)
        vec_grow(&net->signs_of, expr_count(exprs) + 1 - net->signs_of.n);
    if (!net->signs_of.at[shape]) {
        net->signs_of.at[shape] = net->signs.n + 1;
        vec_fill(&net->signs, expr_nslots(exprs, shape), SIGN_UNKNOWN);
    }
    uint32_t at = net->signs_of.at[shape] - 1 + k;
    if (net->signs.at[at] == SIGN_UNKNOWN)
        net->signs.at[at] = find_sign(exprs, shape, k);
    return net->signs.at[at];
}

// False when an algebraic unknown occurs in another way than with a sign, or twice.
static bool
take_term(Networks *net, Row *row, Expr shape, uint32_t k)
{
    Var var = net->read.at[k];
    Term term = {var, sign_of(net, shape, k)};
    for (uint32_t i = row->first; i < net->terms.n; i++)
        if (net->terms.at[i].var == var)
            return false;
    vec_push(&net->terms, term);
    return term.sign != 0 && ++row->n <= WIDEST;
}

static void
take_row(Networks *net, uint32_t equation)
{
    const U32Vec *vars = &net->read;
    Expr shape = dae_resolve(net->dae, equation, &net->read);
    if (expr_op(net->dae->exprs, shape) != OP_EQN)
        return;
    Row row = {.equation = equation, .first = net->terms.n, .only_states = true};
    bool good = true;
    for (uint32_t k = 0; k < vars->n && good; k++)
        switch (net->role.at[vars->at[k]]) {
        case 0: break;
        case ROLE_ALGEBRAIC: good = take_term(net, &row, shape, k); break;
        case ROLE_STATE: row.has_state = true; break;
        case ROLE_GIVEN: row.only_states = false; break;
        default: good = false;
        }
    if (good && row.n)
        vec_push(&net->rows, row);
    else
        net->terms.n = row.first;
}

// --- combinations

static bool
is_algebraic(const void *context, uint32_t slot)
{
    const Networks *net = context;
    return net->role.at[net->structure.vars.at[slot]] == ROLE_ALGEBRAIC;
}

// Adds sign times the rest of a row, with its variables behind those of the sum.
static void
add_rest(Networks *net, const Row *row, int sign)
{
    Exprs *exprs = net->dae->exprs;
    Expr rest = structure_residual(&net->structure, row->equation, is_algebraic, net, &net->vars);
    net->sum = sign > 0 ? expr_2(exprs, OP_ADD, net->sum, rest) : expr_sub(exprs, net->sum, rest);
}

static void
begin_sum(Networks *net)
{
    vec_clear(&net->vars);
    net->sum = expr_const(net->dae->exprs, 0);
}

// A variable of several rows has one slot from here on; for its other slots `vars` has NONE.
static void
end_sum(Networks *net)
{
    Exprs *exprs = net->dae->exprs;
    U32Vec with = {0};
    if (!net->slot_of.n)
        vec_grow(&net->slot_of, net->dae->nvars);
    for (uint32_t k = 0; k < net->vars.n; k++) {
        uint32_t *first = &net->slot_of.at[net->vars.at[k]];
        *first = *first ? *first : k + 1;
        vec_push(&with, expr_slot(exprs, *first - 1));
    }
    for (uint32_t k = 0; k < net->vars.n; k++) {
        uint32_t *first = &net->slot_of.at[net->vars.at[k]];
        if (*first != k + 1)
            net->vars.at[k] = NONE;
    }
    for (uint32_t k = 0; k < net->vars.n; k++)
        if (net->vars.at[k] != NONE)
            net->slot_of.at[net->vars.at[k]] = 0;
    net->sum = expr_substitute(exprs, net->sum, with.at, with.n);
    vec_free(&with);
}

static uint8_t
role_in_sum(const Networks *net, uint32_t k)
{
    return net->vars.at[k] == NONE ? 0 : net->role.at[net->vars.at[k]];
}

// False where the terms of a variable cancel.
static bool
is_in_sum(const Networks *net, uint32_t k)
{
    Expr coefficient, rest;
    Exprs *exprs = net->dae->exprs;
    return expr_uses_slot(exprs, net->sum, k)
           && !(expr_affine(exprs, net->sum, k, &coefficient, &rest) && expr_is_const(exprs, coefficient, 0));
}

// Puts the sum in the place of a row, unless it says nothing about a state or about what is given. (Sources alone contradict each
// other then, which the structure sees.)
static void
replace_row(Networks *net, uint32_t r)
{
    Dae *dae = net->dae;
    bool binds = false;
    for (uint32_t k = 0; k < net->vars.n && !binds; k++) {
        uint8_t role = role_in_sum(net, k);
        binds = (role == ROLE_STATE || role == ROLE_GIVEN) && is_in_sum(net, k);
    }
    if (!binds)
        return;
    Equation *equation = &dae->equations.at[net->rows.at[r].equation];
    Expr text = expr_2(dae->exprs, OP_EQN, net->sum, expr_const(dae->exprs, 0));
    dae_bind_shape(dae, text, net->vars.at, &equation->shape, &equation->row);
    net->replaced.at[r] = 1;
}

// --- loops

typedef struct Forest {
    U32Vec first, next;    // per variable, per end of an edge: 2*row or 2*row + 1; lists ended by NONE
    U32Vec up, depth;      // per variable: the row to its parent, how far it is from the root + 1
    U32Vec queue;
} Forest;

static Var
end_of(const Networks *net, uint32_t r, uint32_t which)
{
    return net->terms.at[net->rows.at[r].first + which].var;
}

static Var
across(const Networks *net, uint32_t r, Var var)
{
    return end_of(net, r, 0) == var ? end_of(net, r, 1) : end_of(net, r, 0);
}

// The sign that var has in a row of two.
static int
sign_in(const Networks *net, uint32_t r, Var var)
{
    return net->terms.at[net->rows.at[r].first + (end_of(net, r, 0) != var)].sign;
}

static bool
is_edge(const Networks *net, uint32_t r)
{
    const Row *row = &net->rows.at[r];
    return row->n == 2 && (row->has_state || !row->only_states) && net->terms.at[row->first].sign == -net->terms.at[row->first + 1].sign;
}

static void
grow_tree(const Networks *net, Forest *forest, Var root)
{
    vec_clear(&forest->queue);
    vec_push(&forest->queue, root);
    forest->depth.at[root] = 1;
    for (uint32_t k = 0; k < forest->queue.n; k++) {
        Var var = forest->queue.at[k];
        for (uint32_t end = forest->first.at[var]; end != NONE; end = forest->next.at[end]) {
            Var to = across(net, end / 2, var);
            if (forest->depth.at[to])
                continue;
            forest->depth.at[to] = forest->depth.at[var] + 1;
            forest->up.at[to] = end / 2;
            vec_push(&forest->queue, to);
        }
    }
}

// Edges of sources go first, so that a loop of theirs is told apart from one with states (as in a normal tree).
static void
find_edges_of(const Networks *net, bool states, U32Vec *sets, U32Vec *tree, U32Vec *closing)
{
    for (uint32_t r = 0; r < net->rows.n; r++) {
        if (!is_edge(net, r) || net->rows.at[r].has_state != states)
            continue;
        if (!sets->n)
            sets_grow(sets, net->dae->nvars);
        if (sets_join(sets, end_of(net, r, 0), end_of(net, r, 1)))
            vec_push(tree, r);
        else
            vec_push(closing, r);
    }
}

// The edges that join what was apart are the forest; the others close a loop each.
static void
find_edges(const Networks *net, U32Vec *tree, U32Vec *closing)
{
    U32Vec sets = {0};
    find_edges_of(net, false, &sets, tree, closing);
    find_edges_of(net, true, &sets, tree, closing);
    vec_free(&sets);
}

static void
make_forest(const Networks *net, const U32Vec *tree, Forest *forest)
{
    uint32_t n = net->dae->nvars;
    vec_fill(&forest->first, n, NONE);
    vec_grow(&forest->up, n);
    vec_grow(&forest->depth, n);
    vec_grow(&forest->next, 2 * net->rows.n);
    for (uint32_t i = 0; i < tree->n; i++)
        for (uint32_t which = 0; which < 2; which++) {
            uint32_t end = 2 * tree->at[i] + which;
            Var var = end_of(net, tree->at[i], which);
            forest->next.at[end] = forest->first.at[var];
            forest->first.at[var] = end;
        }
}

// One row towards the root, so that `var` cancels against what it has in the sum; what stands for it then has that sign.
static Var
step_up(Networks *net, const Forest *forest, Var var, int sign)
{
    uint32_t r = forest->up.at[var];
    add_rest(net, &net->rows.at[r], -sign * sign_in(net, r, var));
    return across(net, r, var);
}

static void
close_loop(Networks *net, Forest *forest, uint32_t r)
{
    Var x = end_of(net, r, 0), y = end_of(net, r, 1);
    int sign = sign_in(net, r, x);
    if (!forest->depth.at[x])
        grow_tree(net, forest, x);
    begin_sum(net);
    add_rest(net, &net->rows.at[r], 1);
    for (uint32_t length = 1; x != y; length++) {
        if (length > LONGEST)
            return;
        if (forest->depth.at[x] >= forest->depth.at[y])
            x = step_up(net, forest, x, sign);
        else
            y = step_up(net, forest, y, -sign);
    }
    end_sum(net);
    replace_row(net, r);
}

static void
close_loops(Networks *net)
{
    Forest forest = {0};
    U32Vec tree = {0}, closing = {0};
    find_edges(net, &tree, &closing);
    if (closing.n)
        make_forest(net, &tree, &forest);
    for (uint32_t i = 0; i < closing.n; i++)
        close_loop(net, &forest, closing.at[i]);
    vec_free(&tree);
    vec_free(&closing);
    vec_free(&forest.first);
    vec_free(&forest.next);
    vec_free(&forest.up);
    vec_free(&forest.depth);
    vec_free(&forest.queue);
}

// --- cuts

enum { MANY = 3 };
typedef struct Cuts {
    U8Vec count;           // per variable: in how many rows it occurs, up to MANY
    U32Vec at[2];          // per variable: the terms of the first two
    U32Vec row_of;         // per term
    U8Vec seen;            // per row
    VEC(int) sign;         // per row: its sign in the sum
    U32Vec set;            // rows
} Cuts;

static void
count_terms(const Networks *net, Cuts *cuts)
{
    vec_grow(&cuts->count, net->dae->nvars);
    vec_grow(&cuts->at[0], net->dae->nvars);
    vec_grow(&cuts->at[1], net->dae->nvars);
    vec_grow(&cuts->row_of, net->terms.n);
    for (uint32_t r = 0; r < net->rows.n; r++)
        for (uint32_t t = net->rows.at[r].first; !net->replaced.at[r] && t < net->rows.at[r].first + net->rows.at[r].n; t++) {
            Var var = net->terms.at[t].var;
            uint32_t k = cuts->count.at[var];
            if (k < 2)
                cuts->at[k].at[var] = t;
            if (k < MANY)
                cuts->count.at[var]++;
            cuts->row_of.at[t] = r;
        }
}

// Takes the rows that share a flow with those of the set into it. False when something algebraic leaves it, or when a flow has
// the same sign on both sides.
static bool
spread(const Networks *net, Cuts *cuts, uint32_t r, uint32_t *edges)
{
    bool closed = true;
    for (uint32_t t = net->rows.at[r].first; t < net->rows.at[r].first + net->rows.at[r].n; t++) {
        Var var = net->terms.at[t].var;
        if (cuts->count.at[var] != 2) {
            closed = false;
            continue;
        }
        uint32_t other = cuts->at[cuts->at[0].at[var] == t].at[var], to = cuts->row_of.at[other];
        int sign = -cuts->sign.at[r] * net->terms.at[t].sign * net->terms.at[other].sign;
        (*edges)++; // from both of its ends
        closed &= !cuts->seen.at[to] || cuts->sign.at[to] == sign;
        if (cuts->seen.at[to])
            continue;
        cuts->seen.at[to] = 1;
        cuts->sign.at[to] = sign;
        vec_push(&cuts->set, to);
    }
    return closed;
}

// A state of two rows or more is not in their sum, as the current of an inductor between two nodes of the set: the structure,
// which does not add, takes the set for a condition on it.
static bool
state_cancels(Networks *net)
{
    for (uint32_t k = 0; k < net->vars.n; k++)
        if (role_in_sum(net, k) == ROLE_STATE && !is_in_sum(net, k))
            return true;
    return false;
}

// Where the set has fewer edges than equations, the structure sees the condition as well.
static void
close_cut(Networks *net, Cuts *cuts, uint32_t start)
{
    uint32_t edges = 0;
    bool closed = true, binds = false;
    vec_clear(&cuts->set);
    vec_push(&cuts->set, start);
    cuts->seen.at[start] = 1;
    cuts->sign.at[start] = 1;
    for (uint32_t i = 0; i < cuts->set.n; i++) {
        closed &= spread(net, cuts, cuts->set.at[i], &edges);
        binds |= net->rows.at[cuts->set.at[i]].has_state || !net->rows.at[cuts->set.at[i]].only_states;
    }
    if (!closed || !binds || cuts->set.n > LONGEST)
        return;
    begin_sum(net);
    for (uint32_t i = 0; i < cuts->set.n; i++)
        add_rest(net, &net->rows.at[cuts->set.at[i]], cuts->sign.at[cuts->set.at[i]]);
    end_sum(net);
    if (edges / 2 >= cuts->set.n || state_cancels(net))
        replace_row(net, vec_last(&cuts->set));
}

static void
close_cuts(Networks *net)
{
    Cuts cuts = {0};
    count_terms(net, &cuts);
    vec_grow(&cuts.seen, net->rows.n);
    vec_grow(&cuts.sign, net->rows.n);
    for (uint32_t r = 0; r < net->rows.n; r++)
        if (!net->replaced.at[r] && !cuts.seen.at[r])
            close_cut(net, &cuts, r);
    vec_free(&cuts.count);
    vec_free(&cuts.at[0]);
    vec_free(&cuts.at[1]);
    vec_free(&cuts.row_of);
    vec_free(&cuts.seen);
    vec_free(&cuts.sign);
    vec_free(&cuts.set);
}

bool
pass_networks(Dae *dae, Diags *diags)
{
    (void)diags;
    Networks net = {.dae = dae, .structure = {.dae = dae}};
    find_roles(&net);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (dae->equations.at[e].kind == EQN_NORMAL)
            find_given(&net, e);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (dae->equations.at[e].kind == EQN_NORMAL)
            take_row(&net, e);
    vec_grow(&net.replaced, net.rows.n);
    close_loops(&net);
    close_cuts(&net);
    sums_close(dae, &net.structure, &net.role);
    structure_free(&net.structure);
    vec_free(&net.read);
    vec_free(&net.role);
    vec_free(&net.signs_of);
    vec_free(&net.signs);
    vec_free(&net.rows);
    vec_free(&net.terms);
    vec_free(&net.replaced);
    vec_free(&net.vars);
    vec_free(&net.slot_of);
    return true;
}
