// bonds.c: connection sets become junctions, bonds and equations.
//
// Purpose: turns the connect records of the elaborator into the multibond graph and its equations. Within a
// connection set potentials are equal and flows sum to zero. A set of power ports becomes one junction:
// common flow (1) where the shared quantity is the bonds' flow or its integral, common effort (0) where it
// is the effort.
// Method: Modelica 3.6, chapter 9. An element is (connector, face): a connector is an inside one for the
// class that declares its component and an outside one for the connects within the component itself. Sets
// come from union-find (Tarjan, J. ACM 22 (1975) 215) over elements; the connects that join two sets are a
// spanning forest and give the potential equations, so that each of them carries the place of a connect.
// Flow sums count inside elements positive and outside elements negative; an inside element that nothing
// connects has flow 0. A second union-find joins the sets on both faces of a connector: the ports of
// composite components are transparent in the graph and its junctions join leaf components.
// Contract: reads connectors and connects; appends equations (generated = 1), nodes and bonds. Run once.
// Complexity: linear (but for the inverse Ackermann factor). Flow sums longer than SUM_MAX are cut into
// partial sums, so that the number of shapes and the work per shape stay small for connection sets of any
// size.
#include "ir/base/diag.h"
#include "ir/base/sets.h"
#include "ir/bonds/bonds.h"
#include "ir/elements/kinds.h"
#include "ir/bonds/signals.h"
#include "ir/bonds/streams.h"
#include "ir/bonds/unconnected.h"
#include "ir/expr/expr_make.h"

enum { SUM_MAX = 64 };

typedef struct Pass {
    Dae *dae;
    Diags *diags;
    U32Vec parent;      // union-find over elements: 2*connector + outside
    U8Vec touched;      // per element: a connect names it
    U8Vec joins;        // per connect: it joined two sets
    U32Vec set_of;      // per element: set, or NONE
    U32Vec start, items; // elements of set s: items[start[s] .. start[s + 1])
    U32Vec first;       // per set: its first connect
    U32Vec merged;      // union-find over sets: through transparent connectors
    U32Vec node;        // per set: the node that owns its equations
    Map sums;           // (inside, outside counts) -> shape of the flow sum
    Expr equal, zero;   // shapes #0 = #1 and #0 = 0
    bool ok;
} Pass;

static Span
connector_span(const Dae *dae, uint32_t connector)
{
    return dae->insts.at[dae->connectors.at[connector].inst].span;
}

// Where the user declared what a connector belongs to: the component, or the model's own connector.
static Span
owner_span(const Dae *dae, uint32_t connector)
{
    uint32_t component = port_component(dae, connector);
    const Inst *inst = &dae->insts.at[component];
    return inst->parent == NONE ? connector_span(dae, connector) : inst->span;
}

// --- sets

// Which of two signals is the source is checked for the whole set.
static bool
causalities_fit(uint8_t a, uint8_t b)
{
    bool a_signal = a == CAUSALITY_INPUT || a == CAUSALITY_OUTPUT || a == CAUSALITY_DEDUCED;
    bool b_signal = b == CAUSALITY_INPUT || b == CAUSALITY_OUTPUT || b == CAUSALITY_DEDUCED;
    return a == b || (a_signal && b_signal);
}

static bool
same_layout(const ConnectorType *a, const ConnectorType *b)
{
    if (a->n != b->n || a->n_bonds != b->n_bonds)
        return false;
    for (uint32_t k = 0; k < a->n; k++)
        if (a->is_flow[k] != b->is_flow[k] || !causalities_fit(a->causality[k], b->causality[k]))
            return false;
    for (uint32_t k = 0; k < a->n_bonds; k++)
        if (a->bonds[k].flow != b->bonds[k].flow || a->bonds[k].effort != b->bonds[k].effort
            || a->bonds[k].flow_is_der != b->bonds[k].flow_is_der)
            return false;
    return true;
}

static void
report_types(Pass *pass, const Connect *connect)
{
    Dae *dae = pass->dae;
    const char *type_a = sym_text(dae->syms, dae_connector_type(dae, connect->a)->class_name);
    const char *type_b = sym_text(dae->syms, dae_connector_type(dae, connect->b)->class_name);
    Diag *d = diag_add(pass->diags, E0405, connect->span, "'%s' (%s) and '%s' (%s) do not fit together",
                       dae_connector_name(dae, connect->a), type_a, dae_connector_name(dae, connect->b), type_b);
    diag_note(d, owner_span(dae, connect->a), "'%s' belongs to this", dae_connector_name(dae, connect->a));
    diag_note(d, owner_span(dae, connect->b), "'%s' belongs to this", dae_connector_name(dae, connect->b));
    pass->ok = false;
}

static void
join_connects(Pass *pass)
{
    Dae *dae = pass->dae;
    uint32_t n = 2 * dae->connectors.n;
    sets_grow(&pass->parent, n);
    vec_grow(&pass->touched, n);
    vec_grow(&pass->joins, dae->connects.n);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        uint32_t type_a = dae->connectors.at[connect->a].type, type_b = dae->connectors.at[connect->b].type;
        if (type_a != type_b && !same_layout(dae_connector_type(dae, connect->a), dae_connector_type(dae, connect->b))) {
            report_types(pass, connect);
            continue;
        }
        uint32_t a = 2 * connect->a + connect->a_outside, b = 2 * connect->b + connect->b_outside;
        pass->touched.at[a] = pass->touched.at[b] = 1;
        pass->joins.at[i] = sets_join(&pass->parent, a, b);
    }
}

// Numbers a set when a connect first names one of its elements.
static void
number_element(Pass *pass, uint32_t element, uint32_t connect)
{
    uint32_t root = sets_find(&pass->parent, element);
    if (pass->set_of.at[root] == NONE) {
        pass->set_of.at[root] = pass->first.n;
        vec_push(&pass->first, connect);
    }
    pass->set_of.at[element] = pass->set_of.at[root];
}

static void
collect_sets(Pass *pass)
{
    Dae *dae = pass->dae;
    uint32_t n = 2 * dae->connectors.n;
    vec_grow(&pass->set_of, n);
    for (uint32_t e = 0; e < n; e++)
        pass->set_of.at[e] = NONE;
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        uint32_t a = 2 * connect->a + connect->a_outside, b = 2 * connect->b + connect->b_outside;
        if (pass->touched.at[a] && pass->touched.at[b]) {
            number_element(pass, a, i);
            number_element(pass, b, i);
        }
    }
    uint32_t sets = pass->first.n;
    vec_grow(&pass->start, sets + 1);
    for (uint32_t e = 0; e < n; e++)
        if (pass->touched.at[e])
            pass->start.at[pass->set_of.at[e] + 1]++;
    for (uint32_t s = 0; s < sets; s++)
        pass->start.at[s + 1] += pass->start.at[s];
    vec_grow(&pass->items, pass->start.at[sets]);
    U32Vec fill = {0};
    vec_append(&fill, pass->start.at, sets);
    // Inside elements first: sums of equal numbers of inside and outside elements then share one shape.
    for (uint32_t face = 0; face < 2; face++)
        for (uint32_t e = face; e < n; e += 2)
            if (pass->touched.at[e])
                pass->items.at[fill.at[pass->set_of.at[e]]++] = e;
    vec_free(&fill);
}

// --- junctions and bonds

// The instance of the class in which a connect stands: the component of an outside connector, or the parent
// of an inside connector's component.
static uint32_t
enclosing_inst(const Dae *dae, const Connect *connect)
{
    uint32_t inst = port_component(dae, connect->a);
    if (connect->a_outside)
        return inst;
    uint32_t parent = dae->insts.at[inst].parent;
    return parent == NONE ? inst : parent;
}

static NodeKind
junction_kind(const ConnectorType *type)
{
    return type->is_flow[type->bonds[0].effort] ? NODE_ONE : NODE_ZERO;
}

static void
make_junctions(Pass *pass)
{
    Dae *dae = pass->dae;
    uint32_t sets = pass->first.n;
    sets_grow(&pass->merged, sets);
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        if (pass->touched.at[2 * c] && pass->touched.at[2 * c + 1])
            sets_join(&pass->merged, pass->set_of.at[2 * c], pass->set_of.at[2 * c + 1]);
    vec_grow(&pass->node, sets);
    for (uint32_t s = 0; s < sets; s++) {
        uint32_t root = sets_find(&pass->merged, s);
        if (root != s) { // roots are the smallest: already made
            pass->node.at[s] = pass->node.at[root];
            continue;
        }
        const Connect *connect = &dae->connects.at[pass->first.at[s]];
        const ConnectorType *type = dae_connector_type(dae, connect->a);
        uint32_t inst = enclosing_inst(dae, connect);
        if (!type->n_bonds) {
            pass->node.at[s] = dae_node(dae, inst);
            continue;
        }
        GraphNode junction = {.kind = (uint8_t)junction_kind(type), .inst = inst, .span = connect->span};
        vec_push(&dae->nodes, junction);
        pass->node.at[s] = dae->nodes.n - 1;
    }
}

static void
add_bonds(Pass *pass, uint32_t connector, uint32_t junction)
{
    Dae *dae = pass->dae;
    const ConnectorType *type = dae_connector_type(dae, connector);
    uint32_t component = type->n_bonds ? dae_node(dae, port_component(dae, connector)) : NONE;
    Var first = dae->connectors.at[connector].first;
    for (uint32_t k = 0; k < type->n_bonds; k++) {
        Bond bond = {.connector = connector, .scalar = k, .component = component, .junction = junction,
                     .flow = first + type->bonds[k].flow, .effort = first + type->bonds[k].effort};
        vec_push(&dae->bonds, bond);
    }
}

// A bond for every port that is connected from outside only; a port connected on both faces is transparent,
// one connected from within only is an open port of the whole model.
static void
make_bonds(Pass *pass)
{
    for (uint32_t s = 0; s < pass->first.n; s++)
        for (uint32_t i = pass->start.at[s]; i < pass->start.at[s + 1]; i++) {
            uint32_t element = pass->items.at[i];
            if (!(element & 1) && !pass->touched.at[element + 1])
                add_bonds(pass, element / 2, pass->node.at[s]);
        }
}

// --- equations

static void
add_generated(Pass *pass, Expr shape, const Var *vars, uint32_t n, uint32_t node, Span span)
{
    Dae *dae = pass->dae;
    uint32_t row = dae_add_row(dae, vars, n);
    dae_generate(dae, EQN_NORMAL, shape, row, node, span);
}

static uint32_t
count_flows(const ConnectorType *type)
{
    uint32_t flows = 0;
    for (uint32_t k = 0; k < type->n; k++)
        flows += type->is_flow[k];
    return flows;
}

// Room for the equations, of which there are about as many as the model has of its own: growing would copy those.
static void
reserve_equations(const Pass *pass)
{
    Dae *dae = pass->dae;
    uint64_t sums = 0, terms = 0, equal = 0, fixed = 0;
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        terms += count_flows(dae_connector_type(dae, c));
    for (uint32_t s = 0; s < pass->first.n; s++)
        sums += count_flows(dae_connector_type(dae, pass->items.at[pass->start.at[s]] / 2));
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const ConnectorType *type = dae_connector_type(dae, dae->connects.at[i].a);
        equal += pass->joins.at[i] ? type->n - count_flows(type) : 0;
    }
    for (Var var = 0; var < dae->nvars; var++) // initial equations var = start will follow
        fixed += dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_flags.at[var] & VARF_FIXED;
    if (dae->rows.n + terms + 2*equal + 2*fixed > UINT32_MAX / 2)
        return;
    vec_reserve(&dae->equations, dae->equations.n + sums + equal + fixed);
    vec_reserve(&dae->rows, dae->rows.n + terms + 2*equal + 2*fixed);
}

static void
equate_potentials(Pass *pass)
{
    Dae *dae = pass->dae;
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        if (!pass->joins.at[i])
            continue;
        const Connect connect = dae->connects.at[i];
        const ConnectorType *type = dae_connector_type(dae, connect.a);
        uint32_t node = pass->node.at[pass->set_of.at[2 * connect.a + connect.a_outside]];
        Var a = dae->connectors.at[connect.a].first, b = dae->connectors.at[connect.b].first;
        for (uint32_t k = 0; k < type->n; k++)
            if (!type->is_flow[k] && type->causality[k] != CAUSALITY_GRAPH && type->causality[k] != CAUSALITY_STREAM)
                add_generated(pass, pass->equal, (Var[]){a + k, b + k}, 2, node, connect.span);
    }
}

// The shape #0 + ... - ... = right: `inside` terms with plus, `outside` with minus; right is 0 or the last
// slot.
static Expr
sum_shape(Pass *pass, uint32_t inside, uint32_t outside, bool partial)
{
    Exprs *exprs = pass->dae->exprs;
    uint64_t key = ((uint64_t)inside << 32 | outside) << 1 | partial;
    Expr shape;
    if (map_get(&pass->sums, key, &shape))
        return shape;
    Expr terms[SUM_MAX];
    uint32_t n = inside + outside;
    for (uint32_t k = 0; k < n; k++) {
        Expr slot = expr_slot(exprs, k);
        terms[k] = k < inside ? slot : expr_1(exprs, OP_NEG, slot);
    }
    Expr sum = n == 1 ? terms[0] : expr_make(exprs, OP_ADD, terms, n);
    Expr right = partial ? expr_slot(exprs, n) : expr_const(exprs, 0);
    shape = expr_2(exprs, OP_EQN, sum, right);
    map_put(&pass->sums, key, shape);
    return shape;
}

// vars[0 .. inside) count positive, the rest negative. Long sums are cut into partial sums of SUM_MAX terms,
// which are variables of the compiler's own.
static void
sum_to_zero(Pass *pass, U32Vec *vars, uint32_t inside, uint32_t node, Span span)
{
    Dae *dae = pass->dae;
    U32Vec partial = {0};
    while (vars->n > SUM_MAX) {
        vec_clear(&partial);
        for (uint32_t k = 0; k < vars->n; k += SUM_MAX) {
            uint32_t n = vars->n - k < SUM_MAX ? vars->n - k : SUM_MAX;
            uint32_t positive = k >= inside ? 0 : inside - k < n ? inside - k : n;
            Var row[SUM_MAX + 1];
            memcpy(row, vars->at + k, n * sizeof(Var));
            row[n] = dae_add_var(dae, "$sum", dae->nodes.at[node].inst, VAR_CONTINUOUS, TYPE_REAL, false);
            vec_push(&partial, row[n]);
            add_generated(pass, sum_shape(pass, positive, n - positive, true), row, n + 1, node, span);
        }
        vec_clear(vars);
        vec_append(vars, partial.at, partial.n);
        inside = vars->n;
    }
    Expr shape = vars->n == 1 ? pass->zero : sum_shape(pass, inside, vars->n - inside, false);
    add_generated(pass, shape, vars->at, vars->n, node, span);
    vec_free(&partial);
}

static void
sum_flows(Pass *pass)
{
    Dae *dae = pass->dae;
    U32Vec vars = {0};
    for (uint32_t s = 0; s < pass->first.n; s++) {
        const uint32_t *items = pass->items.at + pass->start.at[s];
        uint32_t n = pass->start.at[s + 1] - pass->start.at[s];
        const ConnectorType *type = dae_connector_type(dae, items[0] / 2);
        Span span = dae->connects.at[pass->first.at[s]].span;
        for (uint32_t k = 0; k < type->n; k++) {
            if (!type->is_flow[k])
                continue;
            vec_clear(&vars);
            uint32_t inside = 0;
            for (uint32_t i = 0; i < n; i++) {
                vec_push(&vars, dae->connectors.at[items[i] / 2].first + k);
                inside += !(items[i] & 1);
            }
            sum_to_zero(pass, &vars, inside, pass->node.at[s], span);
        }
    }
    vec_free(&vars);
}

// Nothing flows into a port that nothing is connected to.
static void
close_unconnected(Pass *pass)
{
    Dae *dae = pass->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        if (pass->touched.at[2 * c])
            continue;
        const ConnectorType *type = dae_connector_type(dae, c);
        for (uint32_t k = 0; k < type->n; k++) {
            if (!type->is_flow[k])
                continue;
            Var flow = dae->connectors.at[c].first + k;
            uint32_t node = dae_node(dae, port_component(dae, c));
            add_generated(pass, pass->zero, &flow, 1, node, connector_span(dae, c));
        }
    }
}

// --- checks

// The checks of signals have a file of their own.
static void
check_signals(Pass *pass)
{
    pass->ok &= signals_check(pass->dae, &(ConnectionSets){pass->set_of.at, pass->start.at, pass->items.at, pass->node.at},
                              pass->first.at, pass->first.n, pass->diags);
}

// A bond clause names der(s) to say what the flow is; that alone does not make the derivative an unknown of
// the model. Index reduction takes it back when it needs it.
static void
forget_unused_rates(Dae *dae)
{
    U8Vec used = {0};
    vec_grow(&used, dae->nvars);
    for (uint32_t i = 0; i < dae->rows.n; i++)
        used.at[dae->rows.at[i]] = 1;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            Var rate = dae->var_der.at[dae->connectors.at[c].first + type->bonds[k].flow];
            if (rate != NONE && !used.at[rate] && dae->var_der.at[rate] == NONE)
                dae->var_flags.at[rate] |= VARF_REMOVED;
        }
    }
    vec_free(&used);
}

static void
free_pass(Pass *pass)
{
    vec_free(&pass->parent);
    vec_free(&pass->touched);
    vec_free(&pass->joins);
    vec_free(&pass->set_of);
    vec_free(&pass->start);
    vec_free(&pass->items);
    vec_free(&pass->first);
    vec_free(&pass->merged);
    vec_free(&pass->node);
    map_free(&pass->sums);
}

bool
pass_bonds(Dae *dae, Diags *diags)
{
    Exprs *exprs = dae->exprs;
    Expr slot = expr_slot(exprs, 0);
    Pass pass = {.dae = dae, .diags = diags, .ok = true,
                 .equal = expr_2(exprs, OP_EQN, slot, expr_slot(exprs, 1)),
                 .zero = expr_2(exprs, OP_EQN, slot, expr_const(exprs, 0))};
    join_connects(&pass);
    collect_sets(&pass);
    check_signals(&pass);
    if (pass.ok) {
        make_junctions(&pass);
        make_bonds(&pass);
        reserve_equations(&pass);
        equate_potentials(&pass);
        sum_flows(&pass);
        close_unconnected(&pass);
        streams_mix(dae, &(ConnectionSets){pass.set_of.at, pass.start.at, pass.items.at, pass.node.at});
        forget_unused_rates(dae);
        node_kinds(dae);
        pass.ok = unconnected_check(dae, pass.touched.at, diags);
        pass.ok &= floating_check(dae, diags);
    }
    free_pass(&pass);
    return pass.ok;
}
