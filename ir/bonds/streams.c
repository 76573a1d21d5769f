// streams.c: stream variables: what flows through a connection set carries the mixture of what flows into it.
//
// Purpose: the equations of inStream(h) and of the stream variables of outside connectors.
// Method: Modelica 3.6, sections 15.2 and 15.3. In a connection set the inside connectors j with flow m_j and the outside
// connectors k with flow m_k contribute what flows out of them into the set, max(-m_j, 0) of h_j and max(m_k, 0) of
// inStream(h_k). What a connector sees is the mixture of the others. With one contributor this is its value, exactly,
// whatever the flow; with several it is the quotient of the sums, in which the positive parts are replaced by positiveMax
// near vanishing total flow, so that the quotient always exists and is continuously differentiable: at rest it is the mean.
// A connector whose flow can never leave it (min = 0) contributes nothing.
// Contract: streams.h; appends equations (generated = 1) and, for outside connectors, further variables inStream(h_k).
// Complexity: quadratic in the connectors of one set, linear otherwise.
#include "ir/bonds/streams.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

#include <math.h>


typedef struct FlowBounds { double min, max, nominal; } FlowBounds;

typedef struct Mixer {
    Dae *dae;
    const ConnectionSets *sets;
    Map connector_of;   // stream variable -> connector
    Map least;          // flow variable of a stream connector -> index into bounds: known bounds
    VEC(FlowBounds) bounds;
    U32Vec vars;        // of the equation being made: the target, then flow and value of each contributor
    U8Vec outside;      // per contributor: its flow counts positive
} Mixer;

static bool
has_streams(const ConnectorType *type)
{
    for (uint32_t k = 0; k < type->n; k++)
        if (type->causality[k] == CAUSALITY_STREAM)
            return true;
    return false;
}

// The flow variable of a connector with streams; the front end has seen to it that there is one.
static Var
flow_of(const Dae *dae, uint32_t connector)
{
    const ConnectorType *type = dae_connector_type(dae, connector);
    uint32_t k = 0;
    while (k + 1 < type->n && !type->is_flow[k])
        k++;
    return dae->connectors.at[connector].first + k;
}

static void
set_bound(Mixer *mixer, Var flow, uint32_t attr, double value)
{
    uint32_t at;
    if (!map_get(&mixer->least, flow, &at))
        return;
    if (attr == ATTR_MIN)
        mixer->bounds.at[at].min = value;
    else if (attr == ATTR_MAX)
        mixer->bounds.at[at].max = value;
    else if (attr == ATTR_NOMINAL)
        mixer->bounds.at[at].nominal = fabs(value);
}

static void
collect_connectors(Mixer *mixer)
{
    Dae *dae = mixer->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        if (!has_streams(type))
            continue;
        for (uint32_t k = 0; k < type->n; k++)
            if (type->causality[k] == CAUSALITY_STREAM)
                map_put(&mixer->connector_of, dae->connectors.at[c].first + k, c);
        map_put(&mixer->least, flow_of(dae, c), mixer->bounds.n);
        vec_push(&mixer->bounds, ((FlowBounds){-INFINITY, INFINITY, 1}));
    }
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (expr_op(dae->exprs, dae->binds.at[i].shape) == OP_CONST)
            bind_each(&dae->binds.at[i], var)
                set_bound(mixer, var, dae->binds.at[i].attr, expr_value(dae->exprs, dae->binds.at[i].shape));
}

static const FlowBounds *
bounds_of(const Mixer *mixer, Var flow)
{
    uint32_t at = 0;
    map_get(&mixer->least, flow, &at);
    return &mixer->bounds.at[at];
}

// Everything in the set but `self` that can flow into it. `scalar`: of the stream variable in the connector.
static void
collect_contributors(Mixer *mixer, uint32_t self, uint32_t scalar)
{
    Dae *dae = mixer->dae;
    const ConnectionSets *sets = mixer->sets;
    uint32_t set = sets->set_of[self];
    vec_clear(&mixer->outside);
    for (uint32_t i = set == NONE ? 0 : sets->start[set]; set != NONE && i < sets->start[set + 1]; i++) {
        uint32_t element = sets->items[i], connector = element / 2;
        Var flow = flow_of(dae, connector), value = dae->connectors.at[connector].first + scalar;
        const FlowBounds *bounds = bounds_of(mixer, flow);
        if (element == self || (element & 1 ? bounds->max <= 0 : bounds->min >= 0))
            continue;
        vec_push(&mixer->outside, element & 1);
        vec_push(&mixer->vars, flow);
        vec_push(&mixer->vars, element & 1 ? dae_in_stream(dae, value) : value);
    }
}

// Below this total flow the mixture is blended into the mean.
static double
small_flow(const Mixer *mixer)
{
    double nominal = INFINITY, tolerance = mixer->dae->tolerance;
    for (uint32_t i = 0; i < mixer->outside.n; i++)
        nominal = fmin(nominal, bounds_of(mixer, mixer->vars.at[1 + 2 * i])->nominal);
    return (tolerance > 0 ? tolerance : 1e-6) * (nominal > 0 ? nominal : 1);
}

static void
add_generated(Mixer *mixer, Expr left, Expr right, uint32_t element)
{
    Dae *dae = mixer->dae;
    uint32_t inst = dae->connectors.at[element / 2].inst, set = mixer->sets->set_of[element];
    uint32_t node = set == NONE ? dae_node(dae, dae->insts.at[inst].parent) : mixer->sets->node[set];
    dae_equate(dae, EQN_NORMAL, left, right, mixer->vars.at, node, dae->insts.at[inst].span);
}

// A hidden variable with this value, as a slot.
static Expr
define(Mixer *mixer, const char *name, Expr value, uint32_t element)
{
    Dae *dae = mixer->dae;
    Expr slot = expr_slot(dae->exprs, mixer->vars.n);
    vec_push(&mixer->vars, dae_add_var(dae, name, dae->connectors.at[element / 2].inst, VAR_CONTINUOUS, TYPE_REAL, false));
    add_generated(mixer, slot, expr_1(dae->exprs, OP_NOEVENT, value), element);
    return slot;
}

// 1 above `small`, 0 below zero, continuously differentiable.
static Expr
blend(Exprs *exprs, Expr total, double small)
{
    Expr zero = expr_const(exprs, 0), one = expr_const(exprs, 1), part = expr_2(exprs, OP_DIV, total, expr_const(exprs, small));
    Expr cubic = expr_2(exprs, OP_MUL, expr_2(exprs, OP_MUL, part, part),
                        expr_2(exprs, OP_ADD, expr_const(exprs, 3), expr_2(exprs, OP_MUL, expr_const(exprs, -2), part)));
    Expr below = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, total, zero), cubic, zero);
    return expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, total, expr_const(exprs, small)), one, below);
}

// What flows out of contributor i into the set.
static Expr
inflow(const Mixer *mixer, uint32_t i)
{
    Exprs *exprs = mixer->dae->exprs;
    Expr flow = expr_slot(exprs, 1 + 2 * i);
    return expr_2(exprs, OP_MAX, mixer->outside.at[i] ? flow : expr_1(exprs, OP_NEG, flow), expr_const(exprs, 0));
}

// The mixture of several contributors: each counts with positiveMax, which is share*inflow + rest.
static Expr
mixture(Mixer *mixer, uint32_t element)
{
    Exprs *exprs = mixer->dae->exprs;
    Expr zero = expr_const(exprs, 0), total = zero, above = zero;
    uint32_t n = mixer->outside.n;
    double small = small_flow(mixer);
    for (uint32_t i = 0; i < n; i++)
        total = expr_2(exprs, OP_ADD, total, inflow(mixer, i));
    total = define(mixer, "$inflow", total, element);
    Expr share = define(mixer, "$share", blend(exprs, total, small), element);
    Expr rest = expr_2(exprs, OP_MUL, expr_const(exprs, small), expr_sub(exprs, expr_const(exprs, 1), share));
    for (uint32_t i = 0; i < n; i++) {
        Expr weight = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, share, inflow(mixer, i)), rest);
        above = expr_2(exprs, OP_ADD, above, expr_2(exprs, OP_MUL, weight, expr_slot(exprs, 2 + 2 * i)));
    }
    Expr below = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, share, total), expr_2(exprs, OP_MUL, expr_const(exprs, n), rest));
    return expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_DIV, above, below));
}

// target = what the element sees of the others in its set; its own value, where nothing can flow towards it.
static void
equate(Mixer *mixer, Var target, Var own, uint32_t element, uint32_t scalar)
{
    Exprs *exprs = mixer->dae->exprs;
    vec_clear(&mixer->vars);
    vec_push(&mixer->vars, target);
    collect_contributors(mixer, element, scalar);
    if (!mixer->outside.n)
        vec_push(&mixer->vars, own);
    Expr value = mixer->outside.n > 1 ? mixture(mixer, element) : expr_slot(exprs, 1 + mixer->outside.n);
    add_generated(mixer, expr_slot(exprs, 0), value, element);
}

// A connected outside connector gives outwards what its class mixes.
static void
equate_outside(Mixer *mixer)
{
    Dae *dae = mixer->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        if (mixer->sets->set_of[2 * c + 1] == NONE || !has_streams(type))
            continue;
        for (uint32_t k = 0; k < type->n; k++) {
            Var stream = dae->connectors.at[c].first + k;
            if (type->causality[k] == CAUSALITY_STREAM)
                equate(mixer, stream, dae_in_stream(dae, stream), 2 * c + 1, k);
        }
    }
}

void
streams_mix(Dae *dae, const ConnectionSets *sets)
{
    Mixer mixer = {.dae = dae, .sets = sets};
    bool any = false;
    for (uint32_t i = 0; i < dae->connector_types.n && !any; i++)
        any = has_streams(&dae->connector_types.at[i]);
    if (any) {
        collect_connectors(&mixer);
        equate_outside(&mixer);
    }
    // Mixtures with outside connectors ask for further ones.
    for (uint32_t i = 0; i < dae->in_streams.n; i++) {
        InStream asked = dae->in_streams.at[i];
        uint32_t connector = NONE;
        if (map_get(&mixer.connector_of, asked.stream, &connector))
            equate(&mixer, asked.in, asked.stream, 2 * connector,
                   asked.stream - dae->connectors.at[connector].first);
    }
    map_free(&mixer.connector_of);
    map_free(&mixer.least);
    vec_free(&mixer.bounds);
    vec_free(&mixer.vars);
    vec_free(&mixer.outside);
}
