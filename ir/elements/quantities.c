// quantities.c: ports of components, and what their variables are: motions or efforts, and how often differentiated.
//
// Purpose: a law between an effort and a motion is read off the levels of both (kinds.c).
// Method: every variable of a component gets a domain and a level, starting from the bond variables of its ports and spreading
//         through equations without parameters (x = flange_b.s - flange_a.s, v = der(x)): a displacement is motion 0, a flow
//         motion 1, an effort effort 0; a factor beside one is neither. What spreading does not reach is a variable of the component's own, or a multiplier, which
//         counts as an effort.
// Contract: kinds_inner.h. Complexity: linear in the equations of components (a fixed number of sweeps).
#include "ir/elements/kinds.h"
#include "ir/elements/kinds_inner.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { UNITS_MAX = 8, SWEEPS = 4 };

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

// Whether the variable must vanish where everything else in the equation does: k of v_1 = k*v_2 need not, and is no velocity.
static bool
vanishes(Kinds *kinds, uint32_t equation, Var var)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    int derivatives;
    const Var *vars = dae_row(dae, equation, &n);
    Expr zero = expr_const(dae->exprs, 0);
    vec_clear(&kinds->with);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&kinds->with, kinds_base(dae, vars[i], &derivatives) == var ? 0 : zero);
    Expr rest = expr_with_zeros(dae->exprs, expr_residual(dae->exprs, dae->equations.at[equation].shape), kinds->with.at, n);
    bool there = false;
    for (uint32_t i = 0; i < n && !there; i++)
        there = !kinds->with.at[i] && expr_uses_slot(dae->exprs, rest, i);
    return there;
}

typedef enum Spread { SPREAD_NEVER, SPREAD_LATER, SPREAD_NOW } Spread;

// Spreads domain and level to the one variable of a parameter-free equation that has none yet. Later: several have none, or all.
static Spread
spread(Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n, domain = UNKNOWN;
    const Var *vars = dae_row(dae, equation, &n);
    Var open = NONE;
    int open_derivatives = 0, highest = -100;
    for (uint32_t i = 0; i < n; i++) {
        if (dae_kind(dae, vars[i]) != VAR_CONTINUOUS)
            return SPREAD_NEVER;
        int derivatives;
        Var base = kinds_base(dae, vars[i], &derivatives);
        uint32_t known = kinds->domain.at[base];
        if (known == UNKNOWN) {
            if (open != NONE)
                return SPREAD_LATER;
            open = base;
            open_derivatives = derivatives;
            continue;
        }
        if (known == SIGNAL || (domain != UNKNOWN && domain != known))
            return SPREAD_NEVER;
        domain = known;
        int level = kinds->level.at[base] + derivatives;
        highest = level > highest ? level : highest;
    }
    if (open != NONE && domain == UNKNOWN)
        return SPREAD_LATER;
    if (open == NONE || !vanishes(kinds, equation, open))
        return SPREAD_NEVER;
    kinds->domain.at[open] = (uint8_t)domain;
    kinds->level.at[open] = (int8_t)(highest - open_derivatives);
    return SPREAD_NOW;
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
        bool unknown = false;
        const Var *vars = dae_row(dae, at[i], &slots);
        for (uint32_t k = 0; k < slots && !unknown; k++)
            unknown = kinds->domain.at[kinds_base(dae, vars[k], &derivatives)] == UNKNOWN;
        if (!unknown)
            continue;
        for (uint32_t k = 0; k < slots; k++)
            efforts += kinds->domain.at[kinds_base(dae, vars[k], &derivatives)] == EFFORT;
        for (uint32_t k = 0; k < slots; k++) {
            Var base = kinds_base(dae, vars[k], &derivatives);
            if (kinds->domain.at[base] == UNKNOWN && (!efforts || derivatives || kinds->given.at[base] || dae_kind(dae, base) != VAR_CONTINUOUS))
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

static void
find_scalars(Kinds *kinds, uint32_t inst)
{
    const Dae *dae = kinds->dae;
    vec_clear(&kinds->scalar);
    vec_clear(&kinds->effort_units);
    for (uint32_t i = kinds->port_start.at[inst]; i < kinds->port_start.at[inst + 1]; i++) {
        const Connector *connector = &dae->connectors.at[kinds->port_of.at[i]];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            ScalarPort port = {connector->first + type->bonds[k].flow, connector->first + type->bonds[k].effort, kinds->port_of.at[i], k,
                               type->bonds[k].flow_is_der};
            vec_push(&kinds->scalar, port);
            uint32_t unit = dae_group(dae, port.effort)->decl->unit, last = kinds->effort_units.n;
            if (unit && (!last || kinds->effort_units.at[last - 1] != unit) && last < UNITS_MAX)
                vec_push(&kinds->effort_units, unit);
        }
    }
}

void
kinds_read(Kinds *kinds, uint32_t node)
{
    const uint32_t *at = kinds->equations.at + kinds->start.at[node];
    uint32_t n = kinds->start.at[node + 1] - kinds->start.at[node];
    bool changed = true;
    vec_clear(&kinds->waiting);
    vec_append(&kinds->waiting, at, n);
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        uint32_t waiting = 0;
        changed = false;
        for (uint32_t i = 0; i < kinds->waiting.n; i++) {
            Spread how = spread(kinds, kinds->waiting.at[i]);
            changed |= how == SPREAD_NOW;
            if (how == SPREAD_LATER)
                kinds->waiting.at[waiting++] = kinds->waiting.at[i];
        }
        kinds->waiting.n = waiting;
    }
    find_multipliers(kinds, at, n);
    find_scalars(kinds, kinds->dae->nodes.at[node].inst);
}

// Variables of connectors are the surroundings', unless the component says of an orientation what it is.
static void
find_given(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->given, dae->nvars);
    vec_grow(&kinds->counted, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        for (uint32_t k = 0; k < type->n; k++)
            kinds->given.at[dae->connectors.at[c].first + k] = type->causality[k] == CAUSALITY_OUTPUT ? GIVEN_AWAY : GIVEN;
    }
    for (uint32_t i = 0; i < dae->determined_records.n; i++)
        kinds->given.at[dae->determined_records.at[i]] = 0;
}

// Axes are the scalars of an overconstrained record beside the angular velocity, which is a flow of bonds.
static void
find_axes(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->axes_of, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        Var first = dae->connectors.at[c].first, turn = NONE;
        for (uint32_t k = 0; k < type->n_bonds && turn == NONE; k++)
            if (type->causality[type->bonds[k].flow] == CAUSALITY_GRAPH && !type->bonds[k].flow_is_der)
                turn = first + type->bonds[k].flow;
        for (uint32_t k = 0; turn != NONE && k < type->n; k++) {
            const Group *group = dae_group(dae, first + k);
            if (type->causality[k] == CAUSALITY_GRAPH && group->decl->count == 9)
                kinds->axes_of.at[first + k] = turn + 1;
        }
    }
    for (uint32_t i = 0; i < dae->determined_records.n; i++) {
        Var first = dae->determined_records.at[i];
        const Group *group = dae_group(dae, first);
        for (uint32_t k = 0; k < group->decl->count; k++) {
            kinds->axes_of.at[group->first + k] = 0;
            kinds->given.at[group->first + k] = k ? GIVEN_AWAY : kinds->given.at[group->first];
        }
    }
}

uint32_t
port_component(const Dae *dae, uint32_t connector)
{
    uint32_t inst = dae->connectors.at[connector].inst;
    while (inst != NONE && dae->insts.at[inst].class_kind == CLASS_KIND_CONNECTOR && dae->insts.at[inst].parent != NONE)
        inst = dae->insts.at[inst].parent;
    return inst;
}

// A connector that the class around it connects inside is a port of what it is connected to there.
static void
find_ports(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    U8Vec passes = {0};
    U32Vec fill = {0};
    vec_grow(&passes, dae->connectors.n);
    vec_grow(&kinds->port_start, dae->insts.n + 1);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        passes.at[connect->a] |= connect->a_outside;
        passes.at[connect->b] |= connect->b_outside;
    }
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        passes.at[c] |= !dae_connector_type(dae, c)->n_bonds;
        kinds->port_start.at[port_component(dae, c) + 1] += !passes.at[c];
    }
    for (uint32_t i = 0; i < dae->insts.n; i++)
        kinds->port_start.at[i + 1] += kinds->port_start.at[i];
    vec_append(&fill, kinds->port_start.at, dae->insts.n);
    vec_grow(&kinds->port_of, kinds->port_start.at[dae->insts.n]);
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        if (!passes.at[c])
            kinds->port_of.at[fill.at[port_component(dae, c)]++] = c;
    vec_free(&passes);
    vec_free(&fill);
}

static void
count_ports(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->ports, dae->nodes.n);
    vec_grow(&kinds->scalars, dae->nodes.n);
    vec_grow(&kinds->largest, dae->nodes.n);
    vec_grow(&kinds->largest_ports, dae->nodes.n);
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        uint32_t inst = dae->nodes.at[node].inst;
        if (dae_is_junction(dae, node))
            continue;
        for (uint32_t i = kinds->port_start.at[inst]; i < kinds->port_start.at[inst + 1]; i++) {
            uint32_t n = dae_connector_type(dae, kinds->port_of.at[i])->n_bonds;
            kinds->scalars.at[node] += n;
            kinds->ports.at[node]++;
            kinds->largest_ports.at[node] = n > kinds->largest.at[node] ? 1 : kinds->largest_ports.at[node] + (n == kinds->largest.at[node]);
            kinds->largest.at[node] = n > kinds->largest.at[node] ? n : kinds->largest.at[node];
        }
    }
}

void
kinds_open(Kinds *kinds)
{
    vec_grow(&kinds->number, kinds->dae->nvars);
    seed_ports(kinds);
    index_equations(kinds);
    find_given(kinds);
    find_axes(kinds);
    find_ports(kinds);
    count_ports(kinds);
}

void
kinds_close(Kinds *kinds)
{
    U32Vec *vectors[] = {&kinds->start, &kinds->equations, &kinds->ports, &kinds->scalars, &kinds->largest, &kinds->largest_ports,
                         &kinds->port_start, &kinds->port_of, &kinds->axes_of, &kinds->words, &kinds->variables, &kinds->effort_units,
                         &kinds->plain, &kinds->waiting, &kinds->with, &kinds->number};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        vec_free(vectors[i]);
    vec_free(&kinds->domain);
    vec_free(&kinds->level);
    vec_free(&kinds->given);
    vec_free(&kinds->counted);
    vec_free(&kinds->known);
    vec_free(&kinds->scalar);
    map_free(&kinds->known_of);
    map_free(&kinds->column);
}
