// machine_equations.c: equations of states hold while these are active.
//
// Purpose: Modelica 3.6, sections 17.3.3 and 17.3.5. Method: in each state equations are matched with the variables that it determines: its
// own, and those outside of it that it names as outer. A variable of its own keeps its value while the state is not active; a variable
// outside gets one equation from all states that define it, of which no two may be active at one tick. Where an equation cannot be solved
// for its variable, its residual takes the place of the value:
//
//     x = e  in state s                      x = if active(s) then e else previous(x)
//     v = e1 in s1,  v = e2 in s2            v = if active(s1) then e1 elseif active(s2) then e2 else kept
//     0 = r  in s                            0 = if active(s) then r else x - previous(x)
//
// Contract: machine_inner.h. Equations get new rows. Complexity: a matching for each state; linear otherwise.
#include "ir/clocks/machine_inner.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/problem.h"

typedef struct Definition { // of a variable that is not the state's own
    Var var;
    uint32_t state, equation;
} Definition;

typedef struct Guarding {
    Machines *machines;
    VEC(U32Vec) equations;   // of each state
    VEC(Definition) definitions;
    uint32_t state;          // at hand
    Problem problem;
    U32Vec columns;          // the variables that the state may determine
    Map column_of;
} Guarding;

static void
divide_equations(Guarding *guarding)
{
    Machines *machines = guarding->machines;
    Dae *dae = machines->dae;
    vec_grow(&guarding->equations, machines->states.n);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        uint32_t state = equation->kind == EQN_NORMAL ? machines_state_around(machines, dae->nodes.at[equation->node].inst) : NONE;
        bool own = false;
        uint32_t n;
        const Var *row = dae_row(dae, i, &n);
        // What the pass itself has made for states is known already.
        for (uint32_t k = 0, of; k < n && state != NONE && !own; k++)
            own = equation->generated && map_get(&machines->state_of_active, row[k], &of) && expr_op(dae->exprs, expr_arg(dae->exprs, equation->shape, 0)) == OP_SLOT
               && row[expr_slot_of(dae->exprs, expr_arg(dae->exprs, equation->shape, 0))] == row[k];
        if (state != NONE && !own)
            vec_push(&guarding->equations.at[state], i);
    }
}

// --- what a state determines

// A column for an unknown that the state may determine, or NONE.
static uint32_t
column_of(Guarding *guarding, Var var)
{
    Machines *machines = guarding->machines;
    const Dae *dae = machines->dae;
    uint32_t column, of;
    VarKind kind = dae_kind(dae, var);
    if (map_get(&guarding->column_of, var, &column))
        return column;
    column = NONE;
    const Group *group = dae_group(dae, var);
    bool unknown = group && var < machines->made && (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_der.at[var] == NONE
                && dae->var_pre_of.at[var] == NONE && !map_get(&machines->state_of_active, var, &of);
    uint32_t owner = unknown ? machines_state_around(machines, group->inst) : NONE;
    // What has a derivative is integrated (clock_solvers.c). An input of the state itself is given from outside.
    bool given = unknown && owner == guarding->state && (group->decl->flags & GROUP_INPUT)
              && (group->inst == machines->states.at[owner].inst || dae->insts.at[group->inst].parent == machines->states.at[owner].inst);
    if (unknown && !given && machines_inside(machines, guarding->state, owner)) {
        column = guarding->columns.n;
        vec_push(&guarding->columns, var);
    }
    map_put(&guarding->column_of, var, column);
    return column;
}

static bool
is_own(const Guarding *guarding, Var var)
{
    return machines_state_around(guarding->machines, dae_group(guarding->machines->dae, var)->inst) == guarding->state;
}

static void
add_column(Guarding *guarding, uint32_t first, uint32_t column)
{
    U32Vec *columns = &guarding->problem.incidence.column;
    for (uint32_t k = first; k < columns->n; k++)
        if (columns->at[k] == column)
            return;
    vec_push(columns, column);
}

// The state's own variables first. What stands alone on a side; with `any` every Real.
static void
add_row(Guarding *guarding, uint32_t equation, bool any)
{
    Dae *dae = guarding->machines->dae;
    Incidence *incidence = &guarding->problem.incidence;
    uint32_t first = incidence->column.n;
    U32Vec used = {0};
    Expr now = clocks_without_past(dae, dae->equations.at[equation].shape);
    expr_used_slots(dae->exprs, &now, 1, &used);
    vec_push(&incidence->start, first);
    for (int outside = 0; outside < 2; outside++) {
        for (uint32_t side = 0; side < 2 && expr_op(dae->exprs, dae->equations.at[equation].shape) == OP_EQN; side++) {
            Var var = clocks_alone(dae, equation, side);
            uint32_t column = var == NONE ? NONE : column_of(guarding, var);
            if (column != NONE && is_own(guarding, var) == !outside)
                add_column(guarding, first, column);
        }
        for (uint32_t k = 0; k < used.n && any; k++) {
            Var var = dae->rows.at[dae->equations.at[equation].row + used.at[k]];
            uint32_t column = column_of(guarding, var);
            if (column != NONE && dae_type(dae, var) == TYPE_REAL && is_own(guarding, var) == !outside)
                add_column(guarding, first, column);
        }
    }
    vec_push(&incidence->match_end, incidence->column.n);
    vec_free(&used);
}

static uint32_t
match(Guarding *guarding, bool any)
{
    Problem *problem = &guarding->problem;
    const U32Vec *equations = &guarding->equations.at[guarding->state];
    problem_free(problem);
    *problem = (Problem){0};
    map_clear(&guarding->column_of);
    vec_clear(&guarding->columns);
    for (uint32_t i = 0; i < equations->n; i++) {
        vec_push(&problem->equations, equations->at[i]);
        add_row(guarding, equations->at[i], any);
    }
    vec_push(&problem->incidence.start, problem->incidence.column.n);
    vec_grow(&problem->unknown, guarding->columns.n);
    for (uint32_t c = 0; c < guarding->columns.n; c++)
        problem->unknown.at[c] = 1;
    return problem_match(problem, guarding->columns.n, NULL);
}

static bool
report_unmatched(const Guarding *guarding)
{
    const Dae *dae = guarding->machines->dae;
    uint32_t inst = guarding->machines->states.at[guarding->state].inst;
    for (uint32_t i = 0; i < guarding->problem.equations.n; i++)
        if (guarding->problem.var_of.at[i] == NONE) {
            Diag *diag = diag_add(guarding->machines->diags, E0515, dae->equations.at[guarding->problem.equations.at[i]].span,
                                  "a state has more equations than variables that they could determine");
            diag_note(diag, dae->insts.at[inst].span, "the state");
            diag_help(diag, "a state determines its own variables, and those that it declares as 'outer output'");
            break;
        }
    return false;
}

// --- their new form

// The equation over `vars`, with the meaning that previous() and others have in the state.
static Expr
expanded(Guarding *guarding, uint32_t state, uint32_t equation, U32Vec *vars)
{
    Dae *dae = guarding->machines->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    vec_append(vars, row, n);
    return machines_expand(guarding->machines, state, false, dae->equations.at[equation].shape, vars);
}

static void
expand_equations(Guarding *guarding)
{
    Machines *machines = guarding->machines;
    Dae *dae = machines->dae;
    for (uint32_t s = 0; s < machines->states.n; s++)
        for (uint32_t i = 0; i < guarding->equations.at[s].n; i++) {
            U32Vec vars = {0};
            uint32_t equation = guarding->equations.at[s].at[i];
            Expr e = expanded(guarding, s, equation, &vars);
            Equation *out = &dae->equations.at[equation];
            dae_bind_shape(dae, e, vars.at, &out->shape, &out->row);
            vec_free(&vars);
        }
}

static void
store(Dae *dae, uint32_t equation, Expr left, Expr right, const U32Vec *vars)
{
    Equation *out = &dae->equations.at[equation];
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, left, right), vars->at, &out->shape, &out->row);
}

// A variable of the state itself.
static void
guard(Guarding *guarding, uint32_t equation, Var var)
{
    Machines *machines = guarding->machines;
    Dae *dae = machines->dae;
    Exprs *exprs = dae->exprs;
    uint32_t row = dae->equations.at[equation].row;
    U32Vec vars = {0};
    Expr value = clocks_solved(dae, equation, var), own = clocks_slot(&machines->clocks, var, &vars);
    Expr now = clocks_carried(&machines->clocks, value ? value : expr_residual(exprs, dae->equations.at[equation].shape), row, &vars);
    Expr last = expr_1(exprs, OP_PREVIOUS, own), here = machines_is_active(machines, guarding->state, &vars);
    if (value)
        store(dae, equation, own, expr_3(exprs, OP_IF, here, now, last), &vars);
    else
        store(dae, equation, expr_3(exprs, OP_IF, here, now, expr_sub(exprs, own, last)), expr_const(exprs, 0), &vars);
    vec_free(&vars);
}

static bool
guard_state(Guarding *guarding)
{
    if (match(guarding, false) && match(guarding, true))
        return report_unmatched(guarding);
    for (uint32_t i = 0; i < guarding->problem.equations.n; i++) {
        uint32_t equation = guarding->problem.equations.at[i];
        Var var = guarding->columns.at[guarding->problem.var_of.at[i]];
        if (is_own(guarding, var))
            guard(guarding, equation, var);
        else
            vec_push(&guarding->definitions, ((Definition){var, guarding->state, equation}));
    }
    return true;
}

static bool
report_both(const Guarding *guarding, const Definition *a, const Definition *b)
{
    Dae *dae = guarding->machines->dae;
    Diag *diag = diag_add(guarding->machines->diags, E0515, dae->equations.at[b->equation].span,
                          "'%s' is defined in two states that can be active at one tick", dae_name(dae, a->var));
    diag_note(diag, dae->equations.at[a->equation].span, "the other definition");
    diag_help(diag, "different states of one state machine may define the same variable, parallel machines may not");
    return false;
}

// One equation for a variable that states define: that of the first of them.
static void
merge(Guarding *guarding, const uint32_t *which, uint32_t n)
{
    Machines *machines = guarding->machines;
    Dae *dae = machines->dae;
    Exprs *exprs = dae->exprs;
    Var var = guarding->definitions.at[which[0]].var;
    U32Vec vars = {0};
    bool solved = true;
    for (uint32_t i = 0; i < n; i++)
        solved &= clocks_solved(dae, guarding->definitions.at[which[i]].equation, var) != 0;
    Expr own = clocks_slot(&machines->clocks, var, &vars), kept = machines_kept(machines, var, &vars);
    Expr value = solved ? kept : expr_sub(exprs, own, kept);
    for (uint32_t i = n; i-- > 0;) {
        const Definition *at = &guarding->definitions.at[which[i]];
        const Equation *equation = &dae->equations.at[at->equation];
        Expr e = solved ? clocks_solved(dae, at->equation, var) : expr_residual(exprs, equation->shape);
        e = clocks_carried(&machines->clocks, e, equation->row, &vars);
        value = expr_3(exprs, OP_IF, machines_is_active(machines, at->state, &vars), e, value);
    }
    for (uint32_t i = 1; i < n; i++)
        dae->equations.at[guarding->definitions.at[which[i]].equation].kind = EQN_REMOVED;
    uint32_t first = guarding->definitions.at[which[0]].equation;
    store(dae, first, solved ? own : value, solved ? value : expr_const(exprs, 0), &vars);
    dae->equations.at[first].node = dae_node(dae, dae_group(dae, var)->inst);
    vec_free(&vars);
}

static bool
merge_definitions(Guarding *guarding)
{
    U32Vec which = {0};
    Map done = {0};
    bool good = true;
    for (uint32_t i = 0; i < guarding->definitions.n && good; i++) {
        uint32_t seen;
        Var var = guarding->definitions.at[i].var;
        if (map_get(&done, var, &seen))
            continue;
        map_put(&done, var, 1);
        vec_clear(&which);
        for (uint32_t k = i; k < guarding->definitions.n && good; k++) {
            if (guarding->definitions.at[k].var != var)
                continue;
            for (uint32_t j = 0; j < which.n && good; j++)
                if (!machines_exclude(guarding->machines, guarding->definitions.at[which.at[j]].state, guarding->definitions.at[k].state))
                    good = report_both(guarding, &guarding->definitions.at[which.at[j]], &guarding->definitions.at[k]);
            vec_push(&which, k);
        }
        if (good)
            merge(guarding, which.at, which.n);
    }
    vec_free(&which);
    map_free(&done);
    return good;
}

bool
machines_guard_equations(Machines *machines)
{
    Guarding guarding = {.machines = machines};
    bool good = true;
    divide_equations(&guarding);
    expand_equations(&guarding);
    for (guarding.state = 0; guarding.state < machines->states.n && good; guarding.state++)
        good = guard_state(&guarding);
    good = good && merge_definitions(&guarding);
    for (uint32_t s = 0; s < guarding.equations.n; s++)
        vec_free(&guarding.equations.at[s]);
    vec_free(&guarding.equations);
    vec_free(&guarding.definitions);
    vec_free(&guarding.columns);
    map_free(&guarding.column_of);
    problem_free(&guarding.problem);
    return good;
}
