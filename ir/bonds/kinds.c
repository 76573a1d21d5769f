// kinds.c: which bond-graph element a component is.
//
// Purpose: the graph's printers and the causality pass's priorities want to know storage, resistors and
// sources; the user writes equations, not letters.
// Method: every variable of a component gets a domain (motion or effort) and a level (how often
// differentiated: a displacement is motion 0, a flow motion 1; an effort is effort 0, a momentum effort -1),
// starting from the bond variables of its ports and spreading through equations without parameters (x =
// flange_b.s - flange_a.s, v = der(x)). An equation that relates both domains is constitutive, and the
// difference of the levels names it, as in the periodic table of elements: 0 C, 1 R, 2 I. Without one, the
// component is a source or a transformer; efforts balanced over moving arms are a modulated transformer's. One with a single end
// that holds some directions of its motion and leaves others, as a wheel or a blade does, is a constraint against the ground.
// Contract: after bonds and equations exist; writes GraphNode.kind only.
// Complexity: linear in the equations of components (a fixed number of sweeps).
#include "ir/bonds/kinds.h"

#include <string.h>

#include "ir/expr/expr.h"

enum { UNKNOWN, MOTION, EFFORT, SIGNAL, OTHER };
enum { SWEEPS = 4 };

typedef struct Kinds {
    Dae *dae;
    U8Vec domain;           // per variable
    VEC(int8_t) level;
    U32Vec start, equations; // equations of node i: equations[start[i] .. start[i + 1])
    U32Vec ports, scalars;  // per node
    U32Vec largest;         // per node: scalar bonds of its largest port
    U32Vec largest_ports;   // per node: its ports with so many
    U8Vec given;            // per variable: of a connector, and not determined by the component that owns it
    U8Vec counted;          // per variable: among a component's own variables
} Kinds;

// What the equations of one component are.
typedef struct Findings {
    uint32_t letters;       // bits of NodeKind: laws between motion and effort
    uint32_t laws;          // how many
    bool given_motion, given_effort; // one domain is set to zero, or to parameters, signals, time
    bool offset_motion, offset_effort; // several quantities of one domain differ by parameters
    bool driven;            // a signal or time takes part in the motion
    int conditions;         // equations without efforts, less the component's own variables in them: conditions on the motion
} Findings;

static Var
base_variable(const Dae *dae, Var var, int *derivatives)
{
    *derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        ++*derivatives;
    }
    return var;
}

static void
seed_ports(Kinds *kinds)
{
    Dae *dae = kinds->dae;
    vec_grow(&kinds->domain, dae->nvars);
    vec_grow(&kinds->level, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[c].type];
        Var first = dae->connectors.at[c].first;
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            kinds->domain.at[first + type->bonds[k].flow] = MOTION;
            kinds->level.at[first + type->bonds[k].flow] = type->bonds[k].flow_is_der ? 0 : 1;
            kinds->domain.at[first + type->bonds[k].effort] = EFFORT;
        }
        for (uint32_t k = 0; k < type->n && !type->n_bonds; k++)
            kinds->domain.at[first + k] = SIGNAL;
    }
}

static void
index_equations(Kinds *kinds)
{
    Dae *dae = kinds->dae;
    uint32_t nodes = dae->nodes.n;
    vec_grow(&kinds->start, nodes + 1);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (!dae->equations.at[e].generated)
            kinds->start.at[dae->equations.at[e].node + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        kinds->start.at[i + 1] += kinds->start.at[i];
    vec_grow(&kinds->equations, kinds->start.at[nodes]);
    U32Vec fill = {0};
    vec_append(&fill, kinds->start.at, nodes);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (!dae->equations.at[e].generated)
            kinds->equations.at[fill.at[dae->equations.at[e].node]++] = e;
    vec_free(&fill);
}

static bool
is_unknown_kind(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_CONTINUOUS;
}

// Spreads domain and level to the one variable of a parameter-free equation that has none yet.
static bool
spread(Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n, domain = UNKNOWN;
    const Var *vars = dae_row(dae, equation, &n);
    Var open = NONE;
    int open_derivatives = 0, highest = -100;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_unknown_kind(dae, vars[i]))
            return false;
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        uint32_t known = kinds->domain.at[base];
        if (known == UNKNOWN) {
            if (open != NONE)
                return false;
            open = base;
            open_derivatives = derivatives;
            continue;
        }
        if (known == SIGNAL || (domain != UNKNOWN && domain != known))
            return false;
        domain = known;
        int level = kinds->level.at[base] + derivatives;
        highest = level > highest ? level : highest;
    }
    if (open == NONE || domain == UNKNOWN)
        return false;
    kinds->domain.at[open] = (uint8_t)domain;
    kinds->level.at[open] = (int8_t)(highest - open_derivatives);
    return true;
}

// What is neither motion nor effort and stands in an equation without efforts is a variable of its own; what stands beside
// efforts only is a multiplier, and counts as an effort.
static void
find_multipliers(Kinds *kinds, const uint32_t *at, uint32_t n)
{
    const Dae *dae = kinds->dae;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots, efforts = 0;
        int derivatives;
        const Var *vars = dae_row(dae, at[i], &slots);
        for (uint32_t k = 0; k < slots; k++)
            efforts += kinds->domain.at[base_variable(dae, vars[k], &derivatives)] == EFFORT;
        for (uint32_t k = 0; k < slots; k++) {
            Var base = base_variable(dae, vars[k], &derivatives);
            if (kinds->domain.at[base] == UNKNOWN && (!efforts || derivatives || kinds->given.at[base] || !is_unknown_kind(dae, base)))
                kinds->domain.at[base] = OTHER;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        const Var *vars = dae_row(dae, at[i], &slots);
        for (uint32_t k = 0; k < slots; k++)
            if (kinds->domain.at[vars[k]] == UNKNOWN)
                kinds->domain.at[vars[k]] = EFFORT;
    }
}

static uint32_t
letter_bit(int difference)
{
    static const uint8_t letters[] = {NODE_C, NODE_R, NODE_I};
    return difference >= 0 && difference <= 2 ? 1u << letters[difference] : 1u << NODE_MEMORY;
}

// Without its efforts nothing is left of the equation: it balances them, be it with arms that move (t = d*f), and is
// no law between motion and effort.
static bool
only_balances(const Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    U32Vec with = {0};
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        bool effort = kinds->domain.at[base_variable(dae, vars[i], &derivatives)] == EFFORT;
        vec_push(&with, effort ? expr_const(dae->exprs, 0) : 0);
    }
    Expr rest = expr_substitute(dae->exprs, expr_residual(dae->exprs, dae->equations.at[equation].shape), with.at, n);
    vec_free(&with);
    return expr_is_const(dae->exprs, rest, 0);
}

static void
examine(const Kinds *kinds, uint32_t equation, Findings *found)
{
    const Dae *dae = kinds->dae;
    uint32_t n, motions = 0, efforts = 0;
    const Var *vars = dae_row(dae, equation, &n);
    bool given = expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME), constant = false;
    int effort_level = -100;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        if (kinds->domain.at[base] == MOTION)
            motions++;
        else if (dae_is_parameter(dae, base))
            constant = true;
        else if (kinds->domain.at[base] != EFFORT)
            given = true;
        else {
            int level = kinds->level.at[base] + derivatives;
            effort_level = level > effort_level ? level : effort_level;
            efforts++;
        }
    }
    if (motions && efforts && only_balances(kinds, equation))
        return;
    if (motions && efforts) {
        found->laws++;
        for (uint32_t i = 0; i < n; i++) {
            int derivatives;
            Var base = base_variable(dae, vars[i], &derivatives);
            if (kinds->domain.at[base] == MOTION)
                found->letters |= letter_bit(kinds->level.at[base] + derivatives - effort_level);
        }
    } else if (given || n == 1 || (constant && motions + efforts == 1)) {
        found->given_motion |= motions > 0;
        found->given_effort |= efforts > 0;
    } else if (constant) {
        found->offset_motion |= motions > 0;
        found->offset_effort |= efforts > 0;
    }
}

// Counts a condition on the motion, and the component's own variables in it that were not met before.
static void
count_conditions(Kinds *kinds, uint32_t equation, Findings *found)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    found->driven |= expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME);
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        uint8_t domain = kinds->domain.at[base_variable(dae, vars[i], &derivatives)];
        if (domain == EFFORT)
            return;
        found->driven |= domain == SIGNAL || dae_kind(dae, vars[i]) == VAR_INPUT || dae_kind(dae, vars[i]) == VAR_DISCRETE;
    }
    found->conditions++;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        if (kinds->counted.at[base] || kinds->given.at[base] || !is_unknown_kind(dae, base))
            continue;
        kinds->counted.at[base] = 1;
        found->conditions--;
    }
}

// A wheel or a blade on the ground: it holds some directions of what it is connected to and leaves the others.
static bool
holds_against_ground(const Kinds *kinds, uint32_t node, const Findings *found)
{
    uint32_t ends = kinds->largest_ports.at[node], size = kinds->largest.at[node];
    int drives = (int)(kinds->scalars.at[node] - size), conditions = found->conditions - drives;
    return ends == 1 && !found->driven && !found->laws && conditions > 0 && conditions < (int)size;
}

static NodeKind
kind_of(const Dae *dae, uint32_t node, const Findings *found, uint32_t ports, uint32_t scalars)
{
    uint8_t class_kind = dae->insts.at[dae->nodes.at[node].inst].class_kind;
    if (class_kind == CLASS_KIND_CONSTRAINT)
        return NODE_CONSTRAINT;
    if (class_kind == CLASS_KIND_MEMORY)
        return NODE_MEMORY;
    if (class_kind == CLASS_KIND_BODY && scalars > ports)
        return NODE_BODY;
    if (found->laws == 2 && ports == 2 && found->letters == 1u << NODE_R)
        return NODE_GY;
    for (uint32_t kind = NODE_I; kind <= NODE_R; kind++)
        if (found->letters == 1u << kind)
            return (NodeKind)kind;
    if (found->laws)
        return NODE_COMPONENT;
    // An offset between two scalar ports is a source's (a battery's voltage), between frames a rigid part's.
    bool source = scalars == ports, effort = found->given_effort || (source && found->offset_effort);
    bool motion = found->given_motion || (source && found->offset_motion);
    if (ports > 1 && motion == effort)
        return NODE_TF;
    return effort ? NODE_SE : NODE_SF;
}

static void
classify(Kinds *kinds, uint32_t node)
{
    const uint32_t *at = kinds->equations.at + kinds->start.at[node];
    uint32_t n = kinds->start.at[node + 1] - kinds->start.at[node];
    bool changed = n > 0;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            changed |= spread(kinds, at[i]);
    }
    find_multipliers(kinds, at, n);
    Findings found = {0};
    for (uint32_t i = 0; i < n; i++) {
        examine(kinds, at[i], &found);
        count_conditions(kinds, at[i], &found);
    }
    NodeKind kind = kind_of(kinds->dae, node, &found, kinds->ports.at[node], kinds->scalars.at[node]);
    bool constraint = kind != NODE_BODY && kind != NODE_MEMORY && holds_against_ground(kinds, node, &found);
    kinds->dae->nodes.at[node].kind = (uint8_t)(constraint ? NODE_CONSTRAINT : kind);
}

// Variables of connectors are the surroundings', unless the component says of an orientation what it is.
static void
find_given(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->given, dae->nvars);
    vec_grow(&kinds->counted, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        memset(kinds->given.at + dae->connectors.at[c].first, 1, dae->connector_types.at[dae->connectors.at[c].type].n);
    for (uint32_t i = 0; i < dae->determined_records.n; i++)
        kinds->given.at[dae->determined_records.at[i]] = 0;
}

static void
count_ports(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->ports, dae->nodes.n);
    vec_grow(&kinds->scalars, dae->nodes.n);
    vec_grow(&kinds->largest, dae->nodes.n);
    vec_grow(&kinds->largest_ports, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t n = dae->connector_types.at[dae->connectors.at[bond->connector].type].n_bonds, node = bond->component;
        kinds->scalars.at[node]++;
        if (bond->scalar)
            continue;
        kinds->ports.at[node]++;
        kinds->largest_ports.at[node] = n > kinds->largest.at[node] ? 1 : kinds->largest_ports.at[node] + (n == kinds->largest.at[node]);
        kinds->largest.at[node] = n > kinds->largest.at[node] ? n : kinds->largest.at[node];
    }
}

void
node_kinds(Dae *dae)
{
    Kinds kinds = {.dae = dae};
    seed_ports(&kinds);
    index_equations(&kinds);
    find_given(&kinds);
    count_ports(&kinds);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (kinds.ports.at[node] && dae->nodes.at[node].kind == NODE_COMPONENT)
            classify(&kinds, node);
    vec_free(&kinds.domain);
    vec_free(&kinds.level);
    vec_free(&kinds.start);
    vec_free(&kinds.equations);
    vec_free(&kinds.ports);
    vec_free(&kinds.scalars);
    vec_free(&kinds.largest);
    vec_free(&kinds.largest_ports);
    vec_free(&kinds.given);
    vec_free(&kinds.counted);
}
