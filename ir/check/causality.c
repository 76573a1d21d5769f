// causality.c: the problem of the dynamics and the causal strokes.
//
// Purpose: say which equation determines what, in which order, and read the strokes of the bonds off that.
// Method: perfect matching of all equations with all variables that are not states, then block lower
// triangular form. Where the structure leaves freedom (inside algebraic loops), derivatives of states come
// first (integral causality of storage), then other quantities of the user, then the compiler's own and
// dummy derivatives (derivative causality is the last resort). Strokes:    the effort of a bond is an alias
// class. It is computed by the owner of the equation that determines the class, or, when the class is a
// state, of the equation that determines the state's derivative; a component computes the effort (1) when
// the owner is the component itself or lies inside it, otherwise the junction does (2): it hands on what
// another port or its own sum of efforts determines. An effort that passes further bonds unchanged is
// followed (strokes.c). A known effort (a parameter, an input) leaves the stroke unknown (0).
// Contract: requires alias, index, states. Fills `problem` completely and Bond.effort_from. False, with
// equations and variables named, when no perfect matching exists.
// Complexity: that of matching and sorting; per bond the depth of its component.
//
//     C*der(v) = i;  v = R*i      ->     1: i from v = R*i   2: der(v) from C*der(v) = i
#include "ir/bonds/bonds.h"
#include "ir/check/check.h"
#include "ir/operator/operator.h"
#include "ir/structure/listing.h"
#include "ir/structure/structure.h"

enum { RANK_STATE_DERIVATIVE, RANK_OWN, RANK_HIDDEN, RANK_DUMMY };

static void
rank_variables(const Dae *dae, const Reduction *reduction, U8Vec *rank)
{
    vec_grow(rank, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++) {
        const Group *group = dae_group(dae, v);
        Var of = dae->var_der_of.at[v];
        rank->at[v] = group && group->decl->flags & GROUP_HIDDEN ? RANK_HIDDEN : RANK_OWN;
        if (of != NONE && of < reduction->state.n && reduction->state.at[of])
            rank->at[v] = RANK_STATE_DERIVATIVE;
    }
    for (uint32_t k = 0; k < reduction->dummies.n; k++)
        rank->at[reduction->dummies.at[k]] = RANK_DUMMY;
}

static bool
all_determined(const Problem *problem)
{
    for (Var v = 0; v < problem->unknown.n; v++)
        if (problem->unknown.at[v] && problem->equation_of.at[v] == NONE)
            return false;
    return true;
}

// --- strokes

static bool
lies_in(const Dae *dae, uint32_t inst, uint32_t component)
{
    while (inst != component && dae->insts.at[inst].parent != NONE)
        inst = dae->insts.at[inst].parent;
    return inst == component;
}

// The node of the equation that determines an alias class, or NONE.
static uint32_t
determining_node(const Dae *dae, const Reduction *reduction, const Problem *problem, Var var)
{
    bool negative;
    var = dae_alias(dae, var, &negative);
    while (var < reduction->state.n && reduction->state.at[var])
        var = dae_alias(dae, dae->var_der.at[var], &negative);
    uint32_t position = problem->equation_of.at[var];
    return position == NONE ? NONE : dae->equations.at[problem->equations.at[position]].node;
}

static uint8_t
stroke(const Dae *dae, const Bond *bond, uint32_t node)
{
    if (node == NONE || node >= dae->nodes.n)
        return 0;
    if (node == bond->component)
        return 1;
    uint8_t kind = dae->nodes.at[node].kind;
    if (node == bond->junction || kind == NODE_ONE || kind == NODE_ZERO)
        return 2;
    return lies_in(dae, dae->nodes.at[node].inst, dae->nodes.at[bond->component].inst) ? 1 : 2;
}

static void
set_strokes(Dae *dae, const Reduction *reduction, const Problem *problem)
{
    U32Vec node_of = {0};
    vec_grow(&node_of, dae->bonds.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        Bond *bond = &dae->bonds.at[b];
        node_of.at[b] = determining_node(dae, reduction, problem, bond->effort);
        bond->effort_from = stroke(dae, bond, node_of.at[b]);
    }
    strokes_follow(dae, &node_of);
    vec_free(&node_of);
}

// Invariants hold among states alone; they determine nothing here.
static void
leave_invariants(const Dae *dae, const Reduction *reduction, U32Vec *equations)
{
    if (!reduction->invariants.n)
        return;
    U8Vec invariant = {0};
    vec_grow(&invariant, dae->equations.n);
    for (uint32_t i = 0; i < reduction->invariants.n; i++)
        invariant.at[reduction->invariants.at[i]] = 1;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < equations->n; i++)
        if (!invariant.at[equations->at[i]])
            equations->at[kept++] = equations->at[i];
    equations->n = kept;
    vec_free(&invariant);
}

// --- laws

// Plays determine their motion while they slip only when nothing else determines their force's rate: a force that a
// source prescribes leaves open how fast the friction slips.
static bool
check_plays(Dae *dae, const Problem *whole, Diags *diags)
{
    const Law *play = NULL;
    for (uint32_t i = 0; i < dae->laws.n && !play; i++)
        play = dae->laws.at[i].play ? &dae->laws.at[i] : NULL;
    if (!play)
        return true;
    Problem problem = {0};
    U8Vec sticking = {0};
    Structure structure = {.dae = dae, .slip = true, .sticking = &sticking};
    vec_grow(&sticking, dae->equations.n);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        sticking.at[dae->laws.at[i].equation] = !dae->laws.at[i].play;
    vec_append(&problem.equations, whole->equations.at, whole->equations.n);
    vec_append(&problem.unknown, whole->unknown.at, whole->unknown.n);
    structure_incidence(&structure, &problem, NULL);
    bool good = problem_match(&problem, dae->nvars, NULL) == 0;
    if (!good)
        structure_report_laws(dae, &problem, diags);
    problem_free(&problem);
    structure_free(&structure);
    vec_free(&sticking);
    return good;
}

// --- the pass

bool
pass_causality(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags)
{
    U8Vec rank = {0};
    structure_equations(dae, &problem->equations);
    leave_invariants(dae, reduction, &problem->equations);
    structure_unknowns(dae, &problem->unknown);
    for (Var v = 0; v < reduction->state.n; v++)
        if (reduction->state.at[v])
            problem->unknown.at[v] = 0;
    problem_incidence(dae, problem);
    rank_variables(dae, reduction, &rank);
    bool good = problem_match(problem, dae->nvars, rank.at) == 0 && all_determined(problem);
    vec_free(&rank);
    if (!good) {
        structure_report(dae, problem, E0503, E0503, diags);
        return false;
    }
    if (!check_plays(dae, problem, diags))
        return false;
    problem_sort(problem);
    set_strokes(dae, reduction, problem);
    return curves_check_inverses(dae, reduction, problem, diags);
}

// --- mdlc show blt

static void
print_row(const Dae *dae, const Problem *problem, uint32_t position, Out *out)
{
    Var var = problem->var_of.at[position];
    if (var == NONE)
        out_text(out, "(nothing)");
    else
        dae_told_name(dae, var, out);
    out_text(out, "  from  ");
    dae_print_equation(dae, problem->equations.at[position], out);
    out_char(out, '\n');
}

// Whose equations a large block has.
static void
print_members(const Dae *dae, const Problem *problem, uint32_t from, uint32_t to, Out *out)
{
    U32Vec equations = {0};
    for (uint32_t k = from; k < to; k++)
        vec_push(&equations, problem->equations.at[problem->sorted.at[k]]);
    listing_print_counts(dae, equations.at, equations.n, " in this block", out);
    vec_free(&equations);
}

void
problem_print_blt(const Dae *dae, const Problem *problem, Out *out)
{
    uint32_t blocks = problem->block_start.n ? problem->block_start.n - 1 : 0, loops = 0, largest = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t size = problem->block_start.at[b + 1] - problem->block_start.at[b];
        loops += size > 1;
        largest = size > largest ? size : largest;
    }
    out_printf(out, "%u equation%s in %u block%s, %u of several equations, the largest of %u\n",
               problem->equations.n, problem->equations.n == 1 ? "" : "s", blocks, blocks == 1 ? "" : "s", loops,
               largest);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        out_printf(out, "%5u: ", b + 1);
        if (to - from > 1)
            out_printf(out, "%u equations together\n", to - from);
        if (to - from > LISTING_SHORT)
            print_members(dae, problem, from, to, out);
        for (uint32_t k = from; k < to; k++) {
            if (to - from > 1)
                out_text(out, "         ");
            print_row(dae, problem, problem->sorted.at[k], out);
        }
    }
}
