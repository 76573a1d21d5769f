// clock_partitions.c: which equations and variables have the same clock.
//
// Purpose: Modelica 3.6, sections 16.7.2 to 16.7.4: base-clock and sub-clock partitions.
// Method: union-find over variables and equations. What an equation contains belongs to its partition, but for the arguments of sample, hold,
// noClock and the conversions, which are partitions of their own. What is tied to `continuous` has no clock.
// Contract: clock_inner.h. Complexity: near-linear in the parts of the equations.
#include "ir/base/sets.h"
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_node.h"

// What has no clock stays its own representative.
static void
unite(Clocks *clocks, uint32_t a, uint32_t b)
{
    a = sets_find(&clocks->parent, a);
    b = sets_find(&clocks->parent, b);
    if (a == clocks->continuous)
        clocks->parent.at[b] = a;
    else
        clocks->parent.at[a] = b;
}

static uint32_t
new_element(Clocks *clocks)
{
    vec_push(&clocks->parent, clocks->parent.n);
    return clocks->parent.n - 1;
}

uint32_t
clocks_partition(Clocks *clocks, uint32_t element)
{
    return clocks->partition_of.at[sets_find(&clocks->parent, element)] - 1;
}

// The declared variable of a derivative or of a pre().
static Var
clocks_declared(const Dae *dae, Var var)
{
    while (dae->var_der_of.at[var] != NONE || dae->var_pre_of.at[var] != NONE)
        var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    return var;
}

bool
clocks_is_about_clocks(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    if (expr_op(dae->exprs, at->shape) != OP_EQN)
        return false;
    for (uint32_t side = 0; side < 2; side++) {
        Expr e = expr_arg(dae->exprs, at->shape, side);
        if (expr_op(dae->exprs, e) == OP_CLOCK
            || (expr_op(dae->exprs, e) == OP_SLOT && dae_type(dae, dae->rows.at[at->row + expr_slot_of(dae->exprs, e)]) == TYPE_CLOCK))
            return true;
    }
    return false;
}

// --- the walk

typedef struct Walk {
    Clocks *clocks;
    uint32_t equation;
    VEC(struct { Expr e; uint32_t element; }) stack;
    Map seen;
} Walk;

static void
look_at(Walk *walk, Expr e, uint32_t element)
{
    uint32_t was;
    uint64_t key = (uint64_t)e << 32 | element;
    if (map_get(&walk->seen, key, &was))
        return;
    map_put(&walk->seen, key, 1);
    vec_grow(&walk->stack, 1);
    vec_last(&walk->stack).e = e;
    vec_last(&walk->stack).element = element;
}

static void
has_clock(Walk *walk, uint32_t element)
{
    vec_push(&walk->clocks->clocked, element);
    vec_push(&walk->clocks->clocked_by, walk->equation);
}

static void
slot(Walk *walk, Expr e, uint32_t element)
{
    const Dae *dae = walk->clocks->dae;
    Var var = dae->rows.at[dae->equations.at[walk->equation].row + expr_slot_of(dae->exprs, e)], declared = clocks_declared(dae, var);
    VarKind kind = dae_kind(dae, declared);
    if (kind != VAR_PARAMETER && kind != VAR_CONSTANT && kind != VAR_INPUT)
        unite(walk->clocks, declared, element);
    if (dae_type(dae, declared) == TYPE_CLOCK)
        has_clock(walk, element);
    if (dae->var_pre_of.at[var] != NONE)
        unite(walk->clocks, element, walk->clocks->continuous);
}

static void
convert(Walk *walk, Expr e, uint32_t element)
{
    Clocks *clocks = walk->clocks;
    const Exprs *exprs = clocks->dae->exprs;
    Op op = expr_op(exprs, e);
    uint32_t from = new_element(clocks);
    has_clock(walk, from);
    if (op != OP_HOLD)
        has_clock(walk, element);
    look_at(walk, expr_arg(exprs, e, op == OP_CLOCK), from);
    if (op == OP_NOCLOCK || op == OP_HOLD)
        return;
    Conversion made = {.from = from, .to = element, .equation = walk->equation, .op = op, .parts = 1};
    if (op != OP_CLOCK)
        made.count = (int64_t)expr_value(exprs, expr_arg(exprs, e, 1));
    if (op == OP_SHIFTSAMPLE || op == OP_BACKSAMPLE)
        made.parts = (int64_t)expr_value(exprs, expr_arg(exprs, e, 2));
    vec_push(&clocks->conversions, made);
}

static void
construct(Walk *walk, Expr e, uint32_t element)
{
    Clocks *clocks = walk->clocks;
    const Exprs *exprs = clocks->dae->exprs;
    ClockKind kind = (ClockKind)expr_value(exprs, expr_arg(exprs, e, 0));
    Constructor made = {.element = element, .equation = walk->equation, .kind = kind, .first = expr_arg(exprs, e, 1),
                        .second = expr_arg(exprs, e, 2)};
    has_clock(walk, element);
    if (kind == CLOCK_SOLVER) {
        ClockSolver solver = (ClockSolver)expr_value(exprs, made.second);
        vec_grow(&clocks->solvers, 1);
        vec_last(&clocks->solvers).element = element;
        vec_last(&clocks->solvers).solver = solver;
        vec_last(&clocks->solvers).equation = walk->equation;
        convert(walk, e, element);
    } else if (kind != CLOCK_INFERRED) {
        vec_push(&clocks->constructors, made);
        look_at(walk, made.first, kind == CLOCK_CONDITION ? clocks->continuous : element);
    }
}

static void
visit(Walk *walk, Expr e, uint32_t element)
{
    const Exprs *exprs = walk->clocks->dae->exprs;
    uint32_t continuous = walk->clocks->continuous;
    Op op = expr_op(exprs, e);
    switch (op) {
    case OP_SLOT:
        slot(walk, e, element);
        return;
    case OP_CLOCK:
        construct(walk, e, element);
        return;
    case OP_SUBSAMPLE: case OP_SUPERSAMPLE: case OP_SHIFTSAMPLE: case OP_BACKSAMPLE: case OP_NOCLOCK:
        convert(walk, e, element);
        return;
    case OP_HOLD:
        unite(walk->clocks, element, continuous);
        convert(walk, e, element);
        return;
    case OP_SAMPLED:
        has_clock(walk, element);
        look_at(walk, expr_arg(exprs, e, 0), continuous);
        look_at(walk, expr_arg(exprs, e, 1), element);
        return;
    case OP_PREVIOUS: case OP_CLOCKED: case OP_INTERVAL: case OP_FIRSTTICK:
        has_clock(walk, element);
        break;
    case OP_SAMPLE: case OP_TERMINAL:
        unite(walk->clocks, element, continuous);
        break;
    default:
        break;
    }
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
        look_at(walk, expr_arg(exprs, e, i), element);
}

static void
walk_over(Walk *walk, uint32_t equation)
{
    Clocks *clocks = walk->clocks;
    const Equation *at = &clocks->dae->equations.at[equation];
    uint32_t element = clocks_equation_element(clocks, equation);
    walk->equation = equation;
    map_clear(&walk->seen);
    if (at->kind == EQN_WHEN)
        unite(clocks, element, clocks->continuous);
    look_at(walk, at->shape, element);
    while (walk->stack.n) {
        vec_drop(&walk->stack);
        visit(walk, walk->stack.at[walk->stack.n].e, walk->stack.at[walk->stack.n].element);
    }
}

// --- what has a clock

static bool
report_tied(Clocks *clocks, uint32_t equation)
{
    const Equation *at = &clocks->dae->equations.at[equation];
    Diag *diag = diag_add(clocks->diags, E0514, at->span, "what has a clock and what has none meet here, or in equations that share variables with this one");
    diag_help(diag, "sample(u) takes a value to a clock, hold(x) one from a clock; x at the tick before is previous(x), not pre(x)");
    return false;
}

static bool
collect(Clocks *clocks)
{
    vec_grow(&clocks->partition_of, clocks->parent.n);
    for (uint32_t i = 0; i < clocks->clocked.n; i++) {
        uint32_t element = sets_find(&clocks->parent, clocks->clocked.at[i]);
        if (element == clocks->continuous)
            return report_tied(clocks, clocks->clocked_by.at[i]);
        if (clocks->partition_of.at[element])
            continue;
        vec_push(&clocks->partitions, ((Partition){.element = element, .base = NONE, .equation = clocks->clocked_by.at[i], .active = NONE,
                                                   .ticked = NONE, .last = NONE}));
        clocks->partition_of.at[element] = clocks->partitions.n;
    }
    return true;
}

bool
clocks_divide(Clocks *clocks)
{
    Dae *dae = clocks->dae;
    Walk walk = {.clocks = clocks};
    clocks->continuous = dae->nvars;
    clocks->equations = dae->equations.n;
    for (uint32_t i = 0; i < dae->nvars + 1 + dae->equations.n; i++)
        vec_push(&clocks->parent, i);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        if (dae->equations.at[i].kind != EQN_REMOVED && dae->equations.at[i].kind != EQN_INITIAL)
            walk_over(&walk, i);
    vec_free(&walk.stack);
    map_free(&walk.seen);
    return collect(clocks);
}
