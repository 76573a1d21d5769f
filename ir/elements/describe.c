// describe.c: what constraints and bodies are made of.
//
// Purpose: a constraint is a 0-junction with transformers and a closure of every scalar bond, a body a 1-junction with
// inertia, gyroscopic terms and weight (Kosenko 2021, Figure 2). The audit wants to know which constraints are ideal: those
// that do no work on any motion that they admit. One that carries a spring, a drive or a prescribed motion may.
// Method: on the component's own equations, whose positions, velocities and efforts domains.c finds. A constraint is ideal
// when its equations (1) contain neither time nor signals, (2) have no law between efforts and motion: what is left of an
// equation without its efforts vanishes, where multipliers, which only stand beside efforts, count as efforts; (3) are
// homogeneous in the velocities: nothing is left without them but conditions on positions; (4) prescribe no
// accelerations. Where only what is given from outside is in the way of that, it is a drive; a law of the motion makes it
// an element. Of its closures as many are conditions on efforts (EC) as it has equations of efforts beyond the common
// effort and its own efforts; what is left are conditions on flows (FC), because every scalar bond is closed once. A shaft
// or a slide at a joint (a port of fewer scalar bonds than its frames) closes one of them with what is connected to it.
// Contract: bonds.h. Complexity: linear in the equations of constraints and bodies (a fixed number of sweeps).

#include "ir/elements/domains.h"
#include "ir/elements/elements.h"
#include "ir/elements/kinds.h"
#include "ir/elements/law_rank.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

#include <string.h>

enum { SWEEPS = 4 };

typedef struct Describer {
    Dae *dae;
    Domains domains;
    U8Vec signal;   // per variable: of a connector without bonds
    U8Vec outer;    // per variable: of a connector
    U32Vec beside;  // per variable: round in which it was seen in an equation without efforts
    uint32_t round;
    U8Vec port_of;  // per variable: Port of an effort
    U32Vec scalars; // per node: scalar bonds of an end of the component
    U32Vec ends;    // per node: its ports with so many
    U32Vec driven;  // per node: scalar bonds of its other ports, the drives
    U32Vec laws;    // per node: set-valued laws, whose equations are of a kind of their own
} Describer;

// A joint's ends are its largest ports: the frames of the bodies. A shaft or slide besides is a drive.
typedef enum Port { PORT_NONE, PORT_FIRST, PORT_OTHER, PORT_DRIVE } Port;

static void
mark_signals(Describer *d)
{
    Dae *dae = d->dae;
    vec_grow(&d->signal, dae->nvars);
    vec_grow(&d->outer, dae->nvars);
    vec_grow(&d->beside, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[c].type];
        memset(d->outer.at + dae->connectors.at[c].first, 1, type->n);
        for (uint32_t k = 0; k < type->n && !type->n_bonds; k++)
            d->signal.at[dae->connectors.at[c].first + k] = 1;
    }
}

// Rates of the constraint's own positions are velocities as well: v = der(s).
static void
seed_rates(Describer *d, const uint32_t *equations, uint32_t n)
{
    Dae *dae = d->dae;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        const Var *vars = dae_row(dae, equations[i], &slots);
        for (uint32_t k = 0; k < slots; k++) {
            Var of = dae->var_der_of.at[vars[k]];
            if (of != NONE && dae->var_der_of.at[of] == NONE && !d->signal.at[of] && dae_kind(dae, of) == VAR_CONTINUOUS
                && d->domains.domain.at[of] == DOMAIN_OTHER && d->domains.domain.at[vars[k]] == DOMAIN_OTHER)
                d->domains.domain.at[vars[k]] = DOMAIN_VELOCITY;
        }
    }
}

static bool
is_open(const Describer *d, Var var)
{
    return dae_kind(d->dae, var) == VAR_CONTINUOUS && domain_of(&d->domains, var) == DOMAIN_OTHER && !d->outer.at[var]
           && d->dae->var_der_of.at[var] == NONE && d->dae->var_der.at[var] == NONE;
}

static uint32_t
unit_of(const Dae *dae, Var var)
{
    return dae_unit(dae, var);
}

// The component's own variables with the unit of an effort of its ports are efforts: F of f = F*n + law.
static void
seed_efforts(Describer *d, const uint32_t *equations, uint32_t n)
{
    const Dae *dae = d->dae;
    U32Vec units = {0};
    for (int seed = 0; seed < 2; seed++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t slots;
            const Var *vars = dae_row(dae, equations[i], &slots);
            for (uint32_t k = 0; k < slots; k++) {
                uint32_t unit = unit_of(dae, vars[k]);
                if (!unit || (!seed && d->port_of.at[vars[k]] == PORT_NONE) || (seed && !is_open(d, vars[k])))
                    continue;
                bool known = false;
                for (uint32_t u = 0; u < units.n; u++)
                    known |= units.at[u] == unit;
                if (!seed && !known)
                    vec_push(&units, unit);
                else if (seed && known)
                    d->domains.domain.at[vars[k]] = DOMAIN_EFFORT;
            }
        }
    vec_free(&units);
}

// Variables that stand in no equation without efforts are multipliers: they count as efforts.
static void
find_multipliers(Describer *d, const uint32_t *equations, uint32_t n)
{
    Dae *dae = d->dae;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        d->round++;
        for (int marking = 1; marking >= 0; marking--)
            for (uint32_t i = 0; i < n; i++) {
                uint32_t slots;
                const Var *vars = dae_row(dae, equations[i], &slots);
                bool effort = false;
                for (uint32_t k = 0; k < slots; k++)
                    effort |= domain_of(&d->domains, vars[k]) == DOMAIN_EFFORT;
                for (uint32_t k = 0; k < slots; k++) {
                    if (!is_open(d, vars[k]))
                        continue;
                    if (marking && !effort)
                        d->beside.at[vars[k]] = d->round;
                    else if (!marking && effort && d->beside.at[vars[k]] != d->round)
                        d->domains.domain.at[vars[k]] = DOMAIN_EFFORT;
                }
            }
    }
}

// What is left of an equation without its efforts: nothing, something given, or a law of the motion.
static Work
work_of_rest(const Describer *d, Expr rest, const Var *vars, uint32_t n)
{
    Dae *dae = d->dae;
    if (expr_is_const(dae->exprs, rest, 0))
        return WORK_NONE;
    for (uint32_t k = 0; k < n; k++)
        if (dae_kind(dae, vars[k]) == VAR_CONTINUOUS && !d->signal.at[vars[k]] && expr_uses_slot(dae->exprs, rest, k))
            return WORK_ANY;
    return WORK_DRIVE;
}

static Work
work_of(Describer *d, uint32_t e)
{
    Dae *dae = d->dae;
    uint32_t n, has = 0;
    const Var *vars = dae_row(dae, e, &n);
    bool given = expr_has_op(dae->exprs, dae->equations.at[e].shape, OP_TIME);
    for (uint32_t k = 0; k < n; k++) {
        VarKind kind = dae_kind(dae, vars[k]);
        given |= kind == VAR_INPUT || kind == VAR_DISCRETE || d->signal.at[vars[k]];
        has |= 1u << domain_of(&d->domains, vars[k]);
    }
    Expr residual = expr_residual(dae->exprs, dae->equations.at[e].shape);
    uint32_t efforts = has & 1u << DOMAIN_EFFORT, velocities = has & 1u << DOMAIN_VELOCITY;
    if (efforts) {
        Work work = work_of_rest(d, domains_without(&d->domains, residual, vars, n, efforts), vars, n);
        return work == WORK_NONE && given ? WORK_DRIVE : work;
    }
    if (given || has & 1u << DOMAIN_ACCELERATION)
        return WORK_DRIVE;
    bool homogeneous = !velocities
        || expr_is_const(dae->exprs, domains_without(&d->domains, residual, vars, n, velocities), 0);
    return homogeneous ? WORK_NONE : WORK_DRIVE;
}

// The transformers of an equation of efforts: constant coefficients need none.
static uint32_t
transformers(Describer *d, uint32_t e)
{
    Dae *dae = d->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n, plain = 0, arms = 0, turned = 0;
    const Var *vars = dae_row(dae, e, &n);
    Expr residual = expr_residual(exprs, dae->equations.at[e].shape);
    for (uint32_t k = 0; k < n; k++) {
        if (domain_of(&d->domains, vars[k]) != DOMAIN_EFFORT)
            continue;
        Expr partial = expr_diff(exprs, residual, k);
        bool moving = false;
        for (uint32_t j = 0; partial && j < n; j++)
            moving |= dae_kind(dae, vars[j]) == VAR_CONTINUOUS && expr_uses_slot(exprs, partial, j);
        uint8_t port = d->port_of.at[vars[k]];
        plain += !moving;
        turned += moving;
        arms |= !moving ? 0 : port == PORT_FIRST ? PART_ARM_A : port == PORT_OTHER ? PART_ARM_B : 0;
    }
    // A balance of torques has the torques as they are and forces at arms; all else resolves efforts along axes.
    return turned && plain > 1 ? arms : turned ? PART_TURN : 0;
}

static bool
has_effort(const Describer *d, uint32_t e)
{
    uint32_t n;
    const Var *vars = dae_row(d->dae, e, &n);
    for (uint32_t k = 0; k < n; k++)
        if (domain_of(&d->domains, vars[k]) == DOMAIN_EFFORT)
            return true;
    return false;
}

// Efforts of the component's own among the variables of its equations; each is counted once.
static uint32_t
own_efforts(Describer *d, const uint32_t *equations, uint32_t n)
{
    uint32_t count = 0;
    d->round++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        const Var *vars = dae_row(d->dae, equations[i], &slots);
        for (uint32_t k = 0; k < slots; k++) {
            if (domain_of(&d->domains, vars[k]) != DOMAIN_EFFORT || d->port_of.at[vars[k]] != PORT_NONE
                || d->beside.at[vars[k]] == d->round || dae_kind(d->dae, vars[k]) != VAR_CONTINUOUS)
                continue;
            d->beside.at[vars[k]] = d->round;
            count++;
        }
    }
    return count;
}

static void
describe_constraint(Describer *d, uint32_t node)
{
    uint32_t n, efforts = 0;
    const uint32_t *equations = domains_equations(&d->domains, node, &n);
    NodeParts *parts = &d->dae->nodes.at[node].parts;
    seed_rates(d, equations, n);
    seed_efforts(d, equations, n);
    d->domains.scaled = true;
    domains_find(&d->domains, node);
    d->domains.scaled = false;
    find_multipliers(d, equations, n);
    Work most = n && !d->laws.at[node] ? WORK_NONE : WORK_ANY;
    U32Vec law = {0};
    for (uint32_t i = 0; i < n; i++) {
        Work work = work_of(d, equations[i]);
        most = work > most ? work : most;
        if (!has_effort(d, equations[i]))
            continue;
        efforts++;
        if (work != WORK_NONE)
            vec_push(&law, equations[i]);
        parts->bits |= transformers(d, equations[i]);
    }
    parts->work = (uint8_t)most;
    uint32_t laws = law_rank(&d->domains, law.at, law.n) + d->laws.at[node];
    efforts += d->laws.at[node];
    vec_free(&law);
    uint32_t scalars = d->scalars.at[node], common = d->ends.at[node] == 2 ? scalars : 0;
    uint32_t own = own_efforts(d, equations, n) + common, drives = d->driven.at[node];
    uint32_t conditions = efforts > own ? efforts - own : 0;
    if (scalars > UINT8_MAX || conditions > scalars)
        return;
    laws = laws < conditions ? laws : conditions;
    drives = drives < conditions - laws ? drives : conditions - laws;
    parts->elements = (uint8_t)laws;
    parts->drives = (uint8_t)drives;
    parts->ec = (uint8_t)(conditions - laws - drives);
    parts->fc = (uint8_t)(scalars - conditions);
}

// --- bodies

static void
describe_body(Describer *d, uint32_t node)
{
    Dae *dae = d->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n;
    const uint32_t *equations = domains_equations(&d->domains, node, &n);
    NodeParts *parts = &dae->nodes.at[node].parts;
    domains_find(&d->domains, node);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        if (!has_effort(d, equations[i]))
            continue;
        const Var *vars = dae_row(dae, equations[i], &slots);
        Expr residual = expr_residual(exprs, dae->equations.at[equations[i]].shape);
        uint32_t mask = 1u << DOMAIN_EFFORT | 1u << DOMAIN_ACCELERATION;
        Expr slow = domains_without(&d->domains, residual, vars, slots, mask);
        Expr still = domains_without(&d->domains, residual, vars, slots, mask | 1u << DOMAIN_VELOCITY);
        if (slow != still)
            parts->bits |= PART_GYRO;
        if (!expr_is_const(exprs, still, 0) && !dae_known_zero(dae, still, vars))
            parts->bits |= PART_WEIGHT;
        if (transformers(d, equations[i]) & (PART_ARM_A | PART_ARM_B))
            parts->bits |= PART_ARM_A;
    }
}

// --- all nodes

static uint32_t
bonds_of_port(const Dae *dae, const Bond *bond)
{
    return dae->connector_types.at[dae->connectors.at[bond->connector].type].n_bonds;
}

static void
find_ends(Describer *d)
{
    const Dae *dae = d->dae;
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        uint32_t n = bonds_of_port(dae, &dae->bonds.at[b]), *most = &d->scalars.at[dae->bonds.at[b].component];
        *most = n > *most ? n : *most;
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        bool end = bonds_of_port(dae, bond) == d->scalars.at[bond->component];
        d->ends.at[bond->component] += end && !bond->scalar;
        d->driven.at[bond->component] += !end;
    }
}

static void
read_ports(Describer *d)
{
    Dae *dae = d->dae;
    U32Vec first = {0};
    vec_grow(&d->port_of, dae->nvars);
    vec_grow(&d->scalars, dae->nodes.n);
    vec_grow(&d->ends, dae->nodes.n);
    vec_grow(&d->driven, dae->nodes.n);
    vec_grow(&d->laws, dae->nodes.n);
    find_ends(d);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        d->laws.at[dae->equations.at[e].node] += dae->equations.at[e].kind == EQN_LAW;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        vec_push(&first, NONE);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        if (bond->connector < first.at[bond->component] && bonds_of_port(dae, bond) == d->scalars.at[bond->component])
            first.at[bond->component] = bond->connector;
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        bool drive = bonds_of_port(dae, bond) < d->scalars.at[bond->component];
        d->port_of.at[bond->effort] =
            drive ? PORT_DRIVE : bond->connector == first.at[bond->component] ? PORT_FIRST : PORT_OTHER;
    }
    vec_free(&first);
}

void
describe_nodes(Dae *dae)
{
    Describer d = {.dae = dae, .domains = domains_open(dae)};
    mark_signals(&d);
    read_ports(&d);
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        uint8_t kind = dae->nodes.at[node].kind;
        if (kind == NODE_CONSTRAINT)
            describe_constraint(&d, node);
        else if (kind == NODE_BODY || kind == NODE_I)
            describe_body(&d, node);
    }
    domains_free(&d.domains);
    vec_free(&d.signal);
    vec_free(&d.outer);
    vec_free(&d.beside);
    vec_free(&d.port_of);
    vec_free(&d.scalars);
    vec_free(&d.ends);
    vec_free(&d.driven);
    vec_free(&d.laws);
    node_closures(dae);
}
