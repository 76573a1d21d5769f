// Init: the problem of initialisation.
//
// Purpose: a square system for everything at the start: all equations, the initial equations, fixed start
// values,
// and, for what is still free, start values of states chosen by StateSelect and by whether a start was
// written.
// Method: maximum matching of what the user demands; each missing condition is then `state = start`,
// accepted when an
// augmenting path exists (matroid exchange: what was matched stays matched). When-equations keep their
// variable at
// pre(); a set-valued law takes its single-valued selection p = a*sign(x), which is 0 at rest.
// Contract: requires alias, index, states; provides a matched, sorted Problem. Complexity: linear for the
// usual case in which a
// missing condition is found in one step.
#include "ir/causal.h"

#include <string.h>

static void
add_initial(Dae *dae, Problem *problem, Expr shape, const Var *vars, uint32_t n, uint32_t node, Span span)
{
    uint32_t equation = dae_add_equation(dae, EQN_INITIAL, shape, dae_add_row(dae, vars, n), node, span);
    dae->equations.at[equation].generated = 1;
    vec_push(&problem->equations, equation);
}

// d = pre(d)
static void
add_when(Dae *dae, Problem *problem, uint32_t when)
{
    Equation at = dae->equations.at[when];
    Var defined = dae->rows.at[at.row];
    Var vars[2] = {defined, dae_pre(dae, defined)};
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    add_initial(dae, problem, shape, vars, 2, at.node, at.span);
}

// p = a*sign(x)
static void
add_law(Dae *dae, Problem *problem, const Law *law)
{
    Exprs *exprs = dae->exprs;
    Expr sign = expr_1(exprs, OP_SIGN, expr_slot(exprs, 2));
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_2(exprs, OP_MUL, expr_slot(exprs, 1), sign));
    Var vars[3] = {law->p, law->a, law->x};
    add_initial(dae, problem, shape, vars, 3, dae->equations.at[law->equation].node, law->span);
}

// var = start(row)
static void
add_start(Dae *dae, Problem *problem, Var var, const Bind *start, Span span)
{
    Exprs *exprs = dae->exprs;
    Expr value = start ? start->shape : expr_const(exprs, 0);
    uint32_t n = expr_nslots(exprs, value);
    U32Vec vars = {0}, with = {0};
    vec_push(&vars, var);
    for (uint32_t k = 0; k < n; k++) {
        vec_push(&with, expr_slot(exprs, k + 1));
        vec_push(&vars, dae->rows.at[start->row + k]);
    }
    value = expr_substitute(exprs, value, with.at, with.n);
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), value);
    const Group *group = dae_group(dae, var);
    add_initial(dae, problem, shape, vars.at, vars.n, dae_node(dae, group->inst), span);
    vec_free(&vars);
    vec_free(&with);
}

static void
mark_unknowns(Dae *dae, Problem *problem)
{
    vec_clear(&problem->unknown);
    vec_grow(&problem->unknown, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative;
        VarKind kind = dae_kind(dae, var);
        bool unknown = (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_pre_of.at[var] == NONE
                       && !(dae->var_flags.at[var] & VARF_REMOVED) && dae_alias(dae, var, &negative) == var;
        problem->unknown.at[var] = unknown;
    }
    for (uint32_t i = 0; i < dae->laws.n; i++)
        problem->unknown.at[dae->laws.at[i].mode] = 0;
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
            start_of->at[dae->binds.at[i].var] = i;
}

// Per representative the variable of its class whose start counts: itself, else the first alias with a written one.
static void
start_holders(const Dae *dae, const U32Vec *start_of, U32Vec *holder)
{
    bool negative;
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(holder, var < start_of->n && start_of->at[var] != NONE ? var : NONE);
    for (Var var = 0; var < start_of->n; var++) {
        Var to = dae_alias(dae, var, &negative);
        if (start_of->at[var] != NONE && holder->at[to] == NONE)
            holder->at[to] = var;
    }
}

static Span
var_span(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group ? group->span : (Span){0, 0};
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
    Map first = {0}; // representative -> variable whose start was added
    for (Var var = 0; var < start_of->n; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (!(flags & VARF_FIXED) || flags & VARF_REMOVED || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool negative, first_negative;
        uint32_t earlier;
        Var to = dae_alias(dae, var, &negative);
        const Bind *bind = start_of->at[var] == NONE ? NULL : &dae->binds.at[start_of->at[var]];
        if (map_get(&first, to, &earlier)) {
            dae_alias(dae, earlier, &first_negative);
            Expr other = start_of->at[earlier] == NONE ? 0 : dae->binds.at[start_of->at[earlier]].shape;
            double value, again;
            if (literal_start(dae, bind ? bind->shape : 0, &value) && literal_start(dae, other, &again)
                && (negative == first_negative ? value == again : value == -again))
                continue;
        }
        map_put(&first, to, var);
        add_start(dae, problem, var, bind, bind ? bind->span : var_span(dae, var));
    }
    map_free(&first);
}

static uint32_t
missing(const Problem *problem)
{
    uint32_t count = 0;
    for (uint32_t var = 0; var < problem->unknown.n; var++)
        count += problem->unknown.at[var] && problem->equation_of.at[var] == NONE;
    return count;
}

// Adds `state = start` for states until nothing is missing or no candidate is left.
static uint32_t
add_defaults(Dae *dae, const Reduction *reduction, Problem *problem, const U32Vec *start_of, uint32_t open)
{
    VEC(Candidate) candidates = {0};
    U32Vec holder = {0};
    start_holders(dae, start_of, &holder);
    static const uint32_t rank[] = {[STATE_ALWAYS] = 0, [STATE_PREFER] = 1, [STATE_DEFAULT] = 2,
                                    [STATE_AVOID] = 3, [STATE_NEVER] = 4};
    for (Var var = 0; var < problem->unknown.n; var++) {
        if (!problem->unknown.at[var] || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool state = var < reduction->state.n && reduction->state.at[var];
        bool declared = dae->var_group.at[var] != NONE;
        bool has_start = holder.at[var] != NONE;
        if (!state && !(declared && has_start))
            continue;
        Candidate c = {var, rank[dae_state_select(dae, var)] * 4 + (has_start ? 0 : 1) + (state ? 0 : 64)};
        vec_push(&candidates, c);
    }
    if (candidates.n)
        qsort(candidates.at, candidates.n, sizeof *candidates.at, candidate_compare);
    Search search = {.problem = problem};
    vec_grow(&search.stamp, dae->nvars);
    for (uint32_t i = 0; i < candidates.n && open; i++) {
        Var var = candidates.at[i].var;
        uint32_t position = problem->equations.n;
        vec_push(&problem->incidence.column, var);
        vec_push(&problem->incidence.match_end, problem->incidence.column.n);
        vec_push(&problem->incidence.start, problem->incidence.column.n);
        vec_push(&problem->var_of, NONE);
        if (augment(&search, position)) {
            // The equation is that of the alias; its sign comes with it.
            Var from = holder.at[var] == NONE ? var : holder.at[var];
            const Bind *bind = holder.at[var] == NONE ? NULL : &dae->binds.at[start_of->at[from]];
            add_start(dae, problem, from, bind, var_span(dae, var));
            open--;
        } else {
            vec_drop(&problem->incidence.column);
            vec_drop(&problem->incidence.start);
            vec_drop(&problem->incidence.match_end);
            vec_drop(&problem->var_of);
        }
    }
    vec_free(&search.stamp);
    vec_free(&search.stack);
    vec_free(&search.edge);
    vec_free(&candidates);
    vec_free(&holder);
    return open;
}

enum { LISTED = 6 };

// The selection p = a*sign(x) of a set-valued term.
static bool
is_selection(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    return at->kind == EQN_INITIAL && at->generated && expr_has_op(dae->exprs, at->shape, OP_SIGN);
}

// Two frictions in series without a mass between them have one force: both laws would determine it. True when that
// is what happened, and was reported.
static bool
report_series(Dae *dae, const Singular *over, Diags *diags)
{
    uint32_t laws[LISTED], n = 0;
    for (uint32_t i = 0; i < over->equations.n && n < LISTED; i++)
        if (is_selection(dae, over->equations.at[i]))
            laws[n++] = over->equations.at[i];
    if (n < 2)
        return false;
    Diag *diag = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const GraphNode *node = &dae->nodes.at[dae->equations.at[laws[i]].node];
        Out path = {0};
        dae_inst_path(dae, node->inst, &path);
        if (!diag)
            diag = diag_add(diags, E0606, node->span, "the dry friction of '%s' acts in series with another, without a mass"
                            " between them: which of them slips is not determined, and this is not supported yet",
                            path.text);
        else
            diag_note(diag, node->span, "the other is that of '%s'", path.text);
        out_free(&path);
    }
    diag_help(diag, "leave out the stronger of them, or put a mass between them");
    return true;
}

static void
report_over(Dae *dae, const Problem *problem, Diags *diags)
{
    Singular over = {0}, under = {0};
    problem_singular(problem, dae->nvars, &over, &under);
    if (report_series(dae, &over, diags)) {
        singular_free(&over);
        singular_free(&under);
        return;
    }
    Span span = {0, 0};
    for (uint32_t i = 0; i < over.equations.n; i++) {
        const Equation *at = &dae->equations.at[over.equations.at[i]];
        if (at->kind == EQN_INITIAL && at->span.hi)
            span = at->span;
    }
    Diag *diag = diag_add(diags, E0601, span, "the initial conditions are over-determined: these equations say too much"
                          " about the start");
    uint32_t shown = 0;
    for (uint32_t i = 0; i < over.equations.n && shown < LISTED; i++) {
        const Equation *at = &dae->equations.at[over.equations.at[i]];
        Out text = {0};
        dae_print_equation(dae, over.equations.at[i], &text);
        diag_note(diag, at->span, "%s: %s", at->kind == EQN_INITIAL ? "initial condition" : "equation", text.text);
        out_free(&text);
        shown++;
    }
    diag_help(diag, "remove an initial equation or a fixed = true");
    singular_free(&over);
    singular_free(&under);
}

static void
report_under(Dae *dae, const Problem *problem, Diags *diags)
{
    Diag *diag = NULL;
    uint32_t shown = 0;
    for (Var var = 0; var < problem->unknown.n && shown < LISTED; var++) {
        if (!problem->unknown.at[var] || problem->equation_of.at[var] != NONE)
            continue;
        const char *name = dae_name(dae, var);
        if (!diag)
            diag = diag_add(diags, E0602, var_span(dae, var), "nothing determines '%s' at the start", name);
        else
            diag_note(diag, var_span(dae, var), "nor '%s'", name);
        shown++;
    }
    diag_help(diag, "add an initial equation, or give it a start value with fixed = true");
}

// Parameters that initialisation would have to find are not unknowns of it.
static bool
refuse_free_parameters(const Dae *dae, Diags *diags)
{
    bool good = true;
    for (Var var = 0; var < dae->nvars; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (dae_kind(dae, var) != VAR_PARAMETER || !(flags & VARF_FIXED_SET) || flags & VARF_FIXED)
            continue;
        diag_add(diags, E0701, var_span(dae, var), "a parameter with fixed = false is not supported yet");
        good = false;
    }
    return good;
}

bool
pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags)
{
    U32Vec start_of = {0};
    uint32_t n = dae->equations.n;
    if (!refuse_free_parameters(dae, diags))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        EqnKind kind = dae->equations.at[i].kind;
        if (kind == EQN_NORMAL || kind == EQN_INITIAL)
            vec_push(&problem->equations, i);
        else if (kind == EQN_WHEN)
            add_when(dae, problem, i);
    }
    for (uint32_t i = 0; i < dae->laws.n; i++)
        add_law(dae, problem, &dae->laws.at[i]);
    start_binds(dae, &start_of);
    add_fixed(dae, problem, &start_of);
    mark_unknowns(dae, problem);
    problem_incidence(dae, problem);
    // States are matched last, so that they stay free for their start values.
    U8Vec rank = {0};
    vec_grow(&rank, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        rank.at[var] = var < reduction->state.n && reduction->state.at[var];
    bool good = problem_match(problem, dae->nvars, rank.at) == 0;
    vec_free(&rank);
    if (!good)
        report_over(dae, problem, diags);
    uint32_t open = good ? missing(problem) : 0;
    if (good && open && add_defaults(dae, reduction, problem, &start_of, open)) {
        report_under(dae, problem, diags);
        good = false;
    }
    vec_free(&start_of);
    if (good)
        problem_sort(problem);
    return good;
}
