// closure.c: mechanisms whose constraints are too many for the structure.
//
// Purpose:    joints in space close planar loops with conditions that follow from others: the kinematics have more equations
//             than variables, and as many forces are undetermined. Both are squared, so that the passes can go on;
//             which constraints follow from others is a matter of numbers, and found at the start of a run.
// Method:     maximum matching with derivatives merged, then Dulmage-Mendelsohn. When the over-determined part moves and
//             the under-determined part has equations of motion, each surplus
//             equation gives a closure variable s, which enters all constraints of its mechanism with a coefficient that is zero
//             but not for the structure, and each undetermined force an equation that contains all forces of its mechanism with
//             such coefficients. The rank of the blocks is deficient by as much; the shortest solution (runtime/linear/rank.c)
//             keeps s at zero and the forces small. What are different mechanisms is found by closure_groups.c.
//             Conditions on positions may be linear sums of arms after elimination, without a curved equation of their own: several
//             planar loops in space leave such sums over-determined among themselves. They get the closure variables, too, and
//             so they do from the beginning where there are fewer curved constraints than surplus equations (two hinges of a door); where these are too few, too, all conditions
//             on positions (two welds between the same bodies). What aliases say already (x = x, an orientation compared with itself) becomes 0 = 0 first.
// Contract:   requires alias; changes nothing in models that are balanced, or that are not of this kind (balance reports
//             them). Complexity: that of matching; per mechanism constraints times closure variables.
//
//     x*X = 0, y*X = 0 (surplus 1)   ->   x*X + 0*s = 0, y*X + 0*s = 0
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/index/closure_groups.h"
#include "ir/dae/locate.h"
#include "ir/index/index.h"
#include "ir/structure/structure.h"

enum { CLOSURES = 64, FRAME_BONDS = 3 }; // of one mechanism; of a frame, at least

typedef struct Closure {
    Dae *dae;
    Problem problem;
    Structure structure;
    U32Vec column_of;
    Singular over, under;
    Groups kinematics, forces;
    VEC(U32Vec) closures; // per group of the kinematics: its closure variables
    uint32_t made;        // closure variables so far
    Var zero;
} Closure;

static bool
decompose(Closure *c)
{
    Dae *dae = c->dae;
    structure_equations(dae, &c->problem.equations);
    structure_unknowns(dae, &c->problem.unknown);
    structure_merge_derivatives(dae, &c->column_of);
    for (Var v = 0; v < dae->nvars; v++)
        c->problem.unknown.at[v] &= c->column_of.at[v] == v;
    structure_incidence(&c->structure, &c->problem, c->column_of.at);
    uint32_t surplus = problem_match(&c->problem, dae->nvars, NULL);
    if (!surplus || surplus != problem_unmatched(&c->problem))
        return false;
    problem_singular(&c->problem, dae->nvars, &c->over, &c->under);
    return true;
}

// Per variable: it stands for a flow variable of a connector with bonds (a cut force or torque).
static void
mark_forces(const Dae *dae, U8Vec *force)
{
    bool negative;
    vec_grow(force, dae->nvars);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[i].type];
        for (uint32_t k = 0; type->n_bonds && k < type->n; k++)
            if (type->is_flow[k])
                force->at[dae_alias(dae, dae->connectors.at[i].first + k, &negative)] = 1;
    }
}

// What nothing determines are cut forces and torques, nothing else.
static bool
lacks_forces(const Closure *c)
{
    U8Vec force = {0};
    bool only = true;
    mark_forces(c->dae, &force);
    for (Var v = 0; v < c->problem.unknown.n; v++)
        if (c->problem.unknown.at[v] && c->problem.equation_of.at[v] == NONE)
            only &= force.at[v] == 1;
    vec_free(&force);
    return only;
}

// Per instance: a frame, or a component with frames.
static void
mark_frames(const Dae *dae, U8Vec *framed)
{
    vec_grow(framed, dae->insts.n);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        uint32_t inst = dae->connectors.at[i].inst, parent = dae->insts.at[inst].parent;
        if (dae->connector_types.at[dae->connectors.at[i].type].n_bonds < FRAME_BONDS)
            continue;
        framed->at[inst] = 1;
        if (parent != NONE)
            framed->at[parent] = 1;
    }
}

// The equation is said by a component with a frame, or stands for one that compared frames.
static bool
is_about_frames(const Dae *dae, const U8Vec *framed, uint32_t equation)
{
    uint32_t compared, n;
    if (framed->at[locate_equation_inst(dae, equation)])
        return true;
    if (dae_row(dae, equation, &n), n > 0 || !map_get(&dae->stands_for, equation, &compared))
        return false;
    const Var *row = dae_row(dae, compared, &n);
    const Group *group = n ? dae_group(dae, row[0]) : NULL;
    uint32_t inst = group ? group->inst : 0;
    while (inst && !framed->at[inst])
        inst = dae->insts.at[inst].parent;
    return framed->at[inst];
}

// Every over-determined equation is about frames: two welds between the same bodies hold each other's elongations, of which nobody
// wants a derivative.
static bool
is_framed(const Closure *c)
{
    U8Vec framed = {0};
    bool all = true;
    mark_frames(c->dae, &framed);
    for (uint32_t i = 0; i < c->over.equations.n && all; i++)
        all = is_about_frames(c->dae, &framed, c->over.equations.at[i]);
    vec_free(&framed);
    return all;
}

// What is over-determined moves, and what is missing are cut forces, or unknowns of equations of motion.
static bool
is_mechanism(Closure *c)
{
    Dae *dae = c->dae;
    bool moves = false, motion = false;
    for (uint32_t i = 0; i < c->over.variables.n && !moves; i++)
        moves = structure_der(dae, c->over.variables.at[i]) != NONE;
    for (uint32_t i = 0; i < c->under.equations.n && !motion; i++) {
        structure_read(&c->structure, c->under.equations.at[i]);
        for (uint32_t k = 0; k < c->structure.vars.n; k++)
            motion |= dae->var_der_of.at[c->structure.vars.at[k]] != NONE;
    }
    return (moves || is_framed(c)) && (motion || lacks_forces(c));
}

// The expression changes with continuous variables.
static bool
varies(const Closure *c, Expr e)
{
    for (uint32_t k = 0; e && k < c->structure.vars.n && k < expr_nslots(c->dae->exprs, e); k++)
        if (expr_uses_slot(c->dae->exprs, e, k) && dae_kind(c->dae, c->structure.vars.at[k]) == VAR_CONTINUOUS)
            return true;
    return false;
}

// An equation that speaks of no unknown: what it says is so already.
static bool
is_said(const Closure *c)
{
    for (uint32_t k = 0; k < c->structure.vars.n; k++)
        if (c->structure.use.at[k] != USE_NONE && dae_kind(c->dae, c->structure.vars.at[k]) != VAR_PARAMETER)
            return false;
    return true;
}

// A constraint of geometry: nonlinear, without derivatives, and without a variable of its own that it gives explicitly.
static bool
is_constraint(Closure *c, uint32_t equation)
{
    Dae *dae = c->dae;
    structure_read(&c->structure, equation);
    if (is_said(c))
        return dae->equations.at[equation].kind == EQN_NORMAL;
    Expr residual = expr_residual(dae->exprs, c->structure.shape);
    bool curved = false;
    for (uint32_t k = 0; k < c->structure.vars.n; k++) {
        Var v = c->structure.vars.at[k];
        if (c->structure.use.at[k] == USE_NONE || dae_kind(dae, v) != VAR_CONTINUOUS)
            continue;
        Expr partial = expr_diff(dae->exprs, residual, k);
        if (dae->var_der_of.at[v] != NONE
            || (structure_der(dae, v) == NONE && partial && expr_op(dae->exprs, partial) == OP_CONST))
            return false;
        curved |= varies(c, partial);
    }
    return curved && dae->equations.at[equation].kind == EQN_NORMAL;
}

static Var
make_variable(Closure *c, const char *stem, uint32_t number, VarKind kind)
{
    const char *name = number ? arena_printf(c->dae->arena, "$%s%u", stem, number) : arena_printf(c->dae->arena, "$%s", stem);
    return dae_add_var(c->dae, name, 0, kind, TYPE_REAL, false);
}

// zero*x: never anything but zero, but no pass knows it.
static Expr
nothing_of(Closure *c, uint32_t zero_slot, uint32_t slot)
{
    return expr_2(c->dae->exprs, OP_MUL, expr_slot(c->dae->exprs, zero_slot), expr_slot(c->dae->exprs, slot));
}

// A discrete variable with zero = pre(zero): its derivative vanishes, and it is no parameter to divide by.
static void
make_zero(Closure *c, uint32_t node)
{
    Dae *dae = c->dae;
    c->zero = make_variable(c, "zero", 0, VAR_DISCRETE);
    dae_tell_nothing(dae, c->zero);
    Var vars[2] = {c->zero, dae_pre(dae, c->zero)};
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    dae_generate(dae, EQN_NORMAL, shape, dae_add_row(dae, vars, 2), node, (Span){0, 0});
}

static void
add_closures(Closure *c, uint32_t equation, const U32Vec *closures)
{
    Dae *dae = c->dae;
    Exprs *exprs = dae->exprs;
    const Equation old = dae->equations.at[equation];
    uint32_t n = expr_nslots(exprs, old.shape);
    U32Vec vars = {0};
    for (uint32_t k = 0; k < n; k++)
        vec_push(&vars, dae->rows.at[old.row + k]);
    Expr sum = expr_residual(exprs, old.shape);
    vec_push(&vars, c->zero);
    for (uint32_t k = 0; k < closures->n; k++) {
        sum = expr_2(exprs, OP_ADD, sum, nothing_of(c, n, n + 1 + k));
        vec_push(&vars, closures->at[k]);
    }
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, expr_2(exprs, OP_EQN, sum, expr_const(exprs, 0)), vars.at, &shape, &row);
    uint32_t made = dae_add_equation(dae, EQN_NORMAL, shape, row, old.node, old.span);
    dae->equations.at[equation].kind = EQN_REMOVED;
    map_put(&dae->stands_for, made, equation);
    map_put(&dae->dependent, made, 1);
    vec_free(&vars);
}

// 0 = zero*(f1 + f2 + ...) with the forces of one group, once per missing equation.
static void
add_force_equations(Closure *c, uint32_t group, uint32_t node)
{
    Dae *dae = c->dae;
    Exprs *exprs = dae->exprs;
    U32Vec vars = {0};
    Expr sum = 0;
    vec_push(&vars, c->zero);
    for (uint32_t i = 0; i < c->under.variables.n; i++) {
        if (c->forces.of_variable.at[c->under.variables.at[i]] != group)
            continue;
        Expr term = nothing_of(c, 0, vars.n);
        sum = sum ? expr_2(exprs, OP_ADD, sum, term) : term;
        vec_push(&vars, c->under.variables.at[i]);
    }
    for (uint32_t k = c->forces.equations.at[group]; k < c->forces.variables.at[group]; k++) {
        map_put(&dae->dependent, dae->equations.n, 1);
        dae_equate(dae, EQN_NORMAL, sum, expr_const(exprs, 0), vars.at, node, (Span){0, 0});
    }
    vec_free(&vars);
}

// A sum of positions, as the way from one end of an arm to the other: linear with constant coefficients, without derivatives.
static bool
is_sum(Closure *c, uint32_t equation)
{
    Dae *dae = c->dae;
    uint32_t terms = 0;
    structure_read(&c->structure, equation);
    Expr residual = expr_residual(dae->exprs, c->structure.shape);
    for (uint32_t k = 0; k < c->structure.vars.n; k++) {
        Var v = c->structure.vars.at[k];
        if (c->structure.use.at[k] == USE_NONE || dae_kind(dae, v) != VAR_CONTINUOUS)
            continue;
        Expr partial = expr_diff(dae->exprs, residual, k);
        if (dae->var_der_of.at[v] != NONE || !partial || varies(c, partial))
            return false;
        terms++;
    }
    return terms >= 2 && dae->equations.at[equation].kind == EQN_NORMAL;
}

// A condition on positions of whatever kind.
static bool
is_position(Closure *c, uint32_t equation)
{
    Dae *dae = c->dae;
    structure_read(&c->structure, equation);
    for (uint32_t k = 0; k < c->structure.vars.n; k++)
        if (c->structure.use.at[k] != USE_NONE && dae->var_der_of.at[c->structure.vars.at[k]] != NONE)
            return false;
    return dae->equations.at[equation].kind == EQN_NORMAL;
}

static void
collect(Closure *c, bool (*wanted)(Closure *, uint32_t), U32Vec *constraints)
{
    for (uint32_t i = 0; i < c->over.equations.n; i++)
        if (wanted(c, c->over.equations.at[i]))
            vec_push(constraints, c->over.equations.at[i]);
}

static void
forget_parts(Closure *c)
{
    problem_free(&c->problem);
    singular_free(&c->over);
    singular_free(&c->under);
    vec_free(&c->column_of);
    c->problem = (Problem){0};
    c->over = c->under = (Singular){0};
    c->column_of = (U32Vec){0};
}

// The group of the kinematics that an equation is about; NONE when it is about none, or about several.
static uint32_t
group_of(Closure *c, uint32_t equation)
{
    uint32_t group = NONE;
    structure_read(&c->structure, equation);
    for (uint32_t k = 0; k < c->structure.vars.n; k++) {
        Var v = c->structure.vars.at[k];
        uint32_t at = v < c->column_of.n && c->column_of.at[v] < c->kinematics.of_variable.n
                          ? c->kinematics.of_variable.at[c->column_of.at[v]] : NONE;
        if (at != NONE && group != NONE && at != group)
            return NONE;
        group = at == NONE ? group : at;
    }
    return group;
}

static bool
is_closed(const Closure *c, uint32_t equation)
{
    uint32_t closed;
    return map_get(&c->dae->dependent, equation, &closed);
}

// What is over-determined after other constraints have been closed.
static void
close_more(Closure *c, bool (*wanted)(Closure *, uint32_t))
{
    U32Vec sums = {0};
    forget_parts(c);
    if (decompose(c))
        collect(c, wanted, &sums);
    for (uint32_t i = 0; i < sums.n; i++) {
        uint32_t group = group_of(c, sums.at[i]);
        for (uint32_t g = group == NONE ? 0 : group; g < (group == NONE ? c->kinematics.n : group + 1); g++)
            if (c->closures.at[g].n && !is_closed(c, sums.at[i]))
                add_closures(c, sums.at[i], &c->closures.at[g]);
    }
    vec_free(&sums);
}

// Every mechanism that has surplus equations has constraints enough for them.
static bool
is_enough(const Closure *c, const U32Vec *constraints)
{
    U32Vec count = {0};
    uint32_t surplus = 0, missing = 0;
    vec_grow(&count, c->kinematics.n);
    for (uint32_t i = 0; i < constraints->n; i++) {
        uint32_t group = c->kinematics.of_equation.at[constraints->at[i]];
        if (group != NONE)
            count.at[group]++;
    }
    bool enough = true;
    for (uint32_t g = 0; g < c->kinematics.n; g++) {
        uint32_t more = c->kinematics.equations.at[g] - c->kinematics.variables.at[g];
        surplus += more;
        enough &= more <= CLOSURES && count.at[g] >= more;
    }
    for (uint32_t g = 0; g < c->forces.n; g++) {
        missing += c->forces.variables.at[g] - c->forces.equations.at[g];
        enough &= c->forces.variables.at[g] >= c->forces.equations.at[g];
    }
    vec_free(&count);
    return enough && surplus == c->over.equations.n - c->over.variables.n && missing == surplus;
}

// Everything is one mechanism.
static void
join_groups(const Singular *part, Groups *groups)
{
    for (uint32_t i = 0; i < part->equations.n; i++)
        groups->of_equation.at[part->equations.at[i]] = 0;
    for (uint32_t i = 0; i < part->variables.n; i++)
        groups->of_variable.at[part->variables.at[i]] = 0;
    vec_clear(&groups->equations);
    vec_clear(&groups->variables);
    vec_push(&groups->equations, part->equations.n);
    vec_push(&groups->variables, part->variables.n);
    groups->n = 1;
}

static void
make_closures(Closure *c)
{
    for (uint32_t g = 0; g < c->kinematics.n; g++) {
        vec_push(&c->closures, ((U32Vec){0}));
        for (uint32_t k = c->kinematics.variables.at[g]; k < c->kinematics.equations.at[g]; k++)
            vec_push(&c->closures.at[g], make_variable(c, "closure", ++c->made, VAR_CONTINUOUS));
    }
}

static bool
close_loops(Closure *c)
{
    Dae *dae = c->dae;
    U32Vec constraints = {0};
    collect(c, is_constraint, &constraints);
    groups_over(dae, &c->problem, &c->over, &c->kinematics);
    groups_under(dae, &c->problem, &c->under, &c->forces);
    if (!is_enough(c, &constraints)) {
        join_groups(&c->over, &c->kinematics);
        join_groups(&c->under, &c->forces);
    }
    bool enough = is_enough(c, &constraints);
    if (!enough && !rheonomic_prescribes(dae, &c->over)) {
        // Joints alone hold more than curved constraints say (two hinges of one door): the ends of arms count as well.
        collect(c, is_sum, &constraints);
        enough = is_enough(c, &constraints);
        if (!enough) {
            // Constraints side by side, which say the same about variables of their own (two welds, two arms).
            vec_clear(&constraints);
            collect(c, is_position, &constraints);
            enough = is_enough(c, &constraints);
        }
    }
    if (enough) {
        uint32_t node = dae->equations.at[c->under.equations.at[0]].node;
        make_zero(c, dae->equations.at[constraints.at[0]].node);
        make_closures(c);
        for (uint32_t i = 0; i < constraints.n; i++) {
            uint32_t group = c->kinematics.of_equation.at[constraints.at[i]];
            if (group != NONE && c->closures.at[group].n)
                add_closures(c, constraints.at[i], &c->closures.at[group]);
        }
        for (uint32_t g = 0; g < c->forces.n; g++)
            add_force_equations(c, g, node);
        close_more(c, is_sum);
        close_more(c, is_position);
    }
    vec_free(&constraints);
    return enough;
}

// --- what aliases say already

// Per variable of a connector that is no flow: its connector.
static void
list_connectors(const Dae *dae, U32Vec *connector_of)
{
    for (Var v = 0; v < dae->nvars; v++)
        vec_push(connector_of, NONE);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[i].type];
        for (uint32_t k = 0; k < type->n; k++)
            if (!type->is_flow[k])
                connector_of->at[dae->connectors.at[i].first + k] = i;
    }
}

// The other one of two connectors has the same type, and at the variable's place an alias of it.
static bool
is_same_there(const Dae *dae, Var var, uint32_t own, uint32_t other)
{
    const Connector *a = &dae->connectors.at[own], *b = &dae->connectors.at[other];
    bool one, two;
    return a->type == b->type && dae_alias(dae, var, &one) == dae_alias(dae, b->first + (var - a->first), &two) && one == two;
}

// A generated equation that compares two connectors, without flows, all of whose variables in it are equal: rigid parts lead from
// one to the other.
static bool
compares_equals(const Dae *dae, const U32Vec *connector_of, uint32_t equation)
{
    uint32_t n, pair[2] = {NONE, NONE};
    const Var *row = dae_row(dae, equation, &n);
    if (!dae->equations.at[equation].generated)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (dae_kind(dae, row[k]) != VAR_CONTINUOUS)
            continue;
        uint32_t connector = row[k] < connector_of->n ? connector_of->at[row[k]] : NONE;
        if (connector == NONE)
            return false;
        if (pair[0] == NONE || pair[0] == connector)
            pair[0] = connector;
        else if (pair[1] == NONE || pair[1] == connector)
            pair[1] = connector;
        else
            return false;
    }
    if (pair[1] == NONE)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (dae_kind(dae, row[k]) == VAR_CONTINUOUS) {
            uint32_t own = connector_of->at[row[k]];
            if (!is_same_there(dae, row[k], own, pair[own == pair[0]]))
                return false;
        }
    return true;
}

// Where parts that are rigid close a loop, conditions hold because of the names that their variables share: x = x, and the residues by which
// an orientation is compared with itself. They become 0 = 0, since as conditions on the orientation they would look
// independent.
static void
settle_identities(Closure *c)
{
    Dae *dae = c->dae;
    Exprs *exprs = dae->exprs;
    U32Vec connector_of = {0};
    Expr nothing = expr_2(exprs, OP_EQN, expr_const(exprs, 0), expr_const(exprs, 0));
    list_connectors(dae, &connector_of);
    for (uint32_t e = 0, n = dae->equations.n; e < n; e++) {
        const Equation old = dae->equations.at[e];
        if (old.kind != EQN_NORMAL)
            continue;
        structure_read(&c->structure, e);
        if (!expr_is_const(exprs, expr_residual(exprs, c->structure.shape), 0) && !compares_equals(dae, &connector_of, e))
            continue;
        uint32_t made = dae_add_equation(dae, EQN_NORMAL, nothing, dae_add_row(dae, NULL, 0), old.node, old.span);
        dae->equations.at[e].kind = EQN_REMOVED;
        map_put(&dae->stands_for, made, e);
    }
    vec_free(&connector_of);
}

bool
close_mechanisms(Dae *dae)
{
    Closure c = {.dae = dae, .structure = {.dae = dae}};
    settle_identities(&c);
    bool closed = decompose(&c) && is_mechanism(&c) && c.over.equations.n > c.over.variables.n && close_loops(&c);
    forget_parts(&c);
    groups_free(&c.kinematics);
    groups_free(&c.forces);
    for (uint32_t g = 0; g < c.closures.n; g++)
        vec_free(&c.closures.at[g]);
    vec_free(&c.closures);
    structure_free(&c.structure);
    return closed;
}
