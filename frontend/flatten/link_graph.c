// link_graph.c: the connection graph (section 9.4): roots, branches, and which connections of overconstrained connectors are broken.
//
// Purpose: overconstrained variables of connectors are equal along a spanning tree of the connection graph, and satisfy the residues
// of equalityConstraint where a connection closes a loop.
// Method: one walk over instances collects nodes, branches and connections before extras are linked (their values ask for the graph); spanning.h
// chooses the tree; the second walk (flat_model.c) takes the connections in the same order.
// Contract: link_inner.h. Complexity: linear in the connections of overconstrained connectors; recursion as deep as components nest (at most 256).
#include <math.h>

#include "frontend/equation/equation.h"
#include "frontend/flatten/flatten.h"
#include "frontend/flatten/link_inner.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"

// A local variable before the extras of its fragment are linked.
static uint32_t
early_var(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t local)
{
    if (!(local & EXTRA_BIT))
        return shift->var + local;
    const Extra *extra = &frag->extras.at[local & ~EXTRA_BIT];
    return shift_of_inner(linker, &frag->outers.at[extra->outer]).var + extra->var;
}

static uint32_t
graph_node(Linker *linker, uint32_t var, Span span)
{
    uint32_t node;
    if (map_get(&linker->node_of, var, &node))
        return node;
    node = linker->graph.nodes.n;
    map_put(&linker->node_of, var, node);
    vec_push(&linker->graph.nodes, (SpanNode){.span = span});
    vec_push(&linker->var_of, var);
    return node;
}

double
ask_graph(Linker *linker, const Fragment *frag, const Shift *shift, const Extra *extra)
{
    uint32_t node;
    if (extra->kind == EXTRA_CARDINALITY)
        return linker->connects_of.at[global_connector(linker, frag, shift, extra->var)];
    if (!map_get(&linker->node_of, early_var(linker, frag, shift, extra->var), &node))
        return 0;
    const SpanNode *at = &linker->graph.nodes.at[node];
    if (extra->kind == EXTRA_IS_ROOT)
        return at->is_root;
    if (at->branches == 1)
        return at->depth < linker->graph.nodes.at[at->opposite].depth;
    Diag *diag = diag_add(linker->elab->diags, E0406, at->span,
                          "'rooted' needs exactly one Connections.branch at its argument, but there %s",
                          at->branches ? "are several" : "is none");
    diag_note(diag, linker->dae->insts.at[shift->inst].span, "in this component");
    return 0;
}

bool
guard_holds(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t guard)
{
    if (!guard)
        return true;
    const FragGuard *at = &frag->guards.at[guard - 1];
    double values[64];
    for (uint32_t k = 0; k < at->n && k < 64; k++)
        values[k] = ask_graph(linker, frag, shift, &frag->extras.at[frag->rows.at[at->row + k] & ~EXTRA_BIT]);
    return expr_eval(linker->dae->exprs, at->shape, values, 0) != 0;
}

static void
add_connect_edges(Linker *linker, uint32_t a, uint32_t b, Span span)
{
    const Connector *left = &linker->dae->connectors.at[a], *right = &linker->dae->connectors.at[b];
    const Overconstrained *part;
    for (uint32_t i = 0; (part = overconstrained_at(linker->elab, left->type, i)); i++) {
        SpanEdge edge = {.a = graph_node(linker, left->first + part->offset, span),
                         .b = graph_node(linker, right->first + part->offset, span), .span = span};
        vec_push(&linker->edges, linker->graph.edges.n);
        vec_push(&linker->graph.edges, edge);
    }
}

// --- connectors that are connected in parts

typedef struct PartEnd { const Fragment *frag; Shift shift; } PartEnd; // a connector, and where it lies

// What a path from a connector leads to. False: it is not declared there, and lies nowhere yet.
static bool
follow_path(PartEnd *end, const FragPath *path)
{
    for (uint32_t i = 0; path && i < path->n; i++) {
        const PathStep *step = &path->steps[i];
        Member *member = end->frag ? fragment_member((Fragment *)(uintptr_t)end->frag, step->name) : NULL;
        if (!member || member->state != 2 || member->absent || !member->is_component || member->type.rank != step->rank)
            return false;
        uint32_t element = 0;
        for (uint32_t k = 0; k < step->rank; k++)
            element = element * member->type.dims[k] + step->index[k] - 1;
        if (element >= member->count)
            return false;
        end->shift = shift_of(&end->shift, member, element);
        end->frag = member->fragments[member->split ? element : 0];
    }
    return end->frag != NULL;
}

static uint64_t
pair_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

// Two connectors without parts.
static void
add_leaf_edges(Linker *linker, const PartEnd *a, const PartEnd *b, Span span)
{
    const Overconstrained *part;
    for (uint32_t i = 0; (part = overconstrained_at(linker->elab, a->frag->connector_type - 1, i)); i++) {
        const Overconstrained *other = overconstrained_at(linker->elab, b->frag->connector_type - 1, i);
        if (!other)
            return;
        uint32_t left = a->shift.var + part->offset, right = b->shift.var + other->offset, known;
        if (map_get(&linker->part_edge, pair_key(left, right), &known))
            continue;
        map_put(&linker->part_edge, pair_key(left, right), linker->graph.edges.n);
        SpanEdge edge = {.a = graph_node(linker, left, span), .b = graph_node(linker, right, span), .span = span};
        vec_push(&linker->graph.edges, edge);
    }
}

// All that two connectors have in common; connectors nest no deeper than components.
static void
add_common_edges(Linker *linker, PartEnd a, PartEnd b, Span span)
{
    bool parts = false;
    for (uint32_t i = 0; i < a.frag->order.n; i++) {
        const Member *member = &a.frag->members.at[a.frag->order.at[i]];
        parts |= member->is_connector;
        Member *other = fragment_member((Fragment *)(uintptr_t)b.frag, member->name);
        bool both = member->is_connector && member->is_component && other && other->state == 2 && !other->absent && other->is_component
                 && other->count == member->count;
        for (uint32_t e = 0; both && e < member->count; e++)
            add_common_edges(linker, (PartEnd){member->fragments[member->split ? e : 0], shift_of(&a.shift, member, e)},
                             (PartEnd){other->fragments[other->split ? e : 0], shift_of(&b.shift, other, e)}, span);
    }
    if (!parts && !a.frag->is_expandable && !b.frag->is_expandable)
        add_leaf_edges(linker, &a, &b, span);
}

static void
add_part_edges(Linker *linker, const Fragment *frag, const FragConnect *connect, uint32_t a, uint32_t b)
{
    const FragPath *paths = frag->paths.at;
    const Connector *left = &linker->dae->connectors.at[a], *right = &linker->dae->connectors.at[b];
    PartEnd from = {linker->ports.at[a], {.var = left->first}}, to = {linker->ports.at[b], {.var = right->first}};
    if (follow_path(&from, connect->a_path ? &paths[connect->a_path - 1] : NULL)
        && follow_path(&to, connect->b_path ? &paths[connect->b_path - 1] : NULL))
        add_common_edges(linker, from, to, connect->span);
}

static void
add_root(Linker *linker, const Fragment *frag, const Shift *shift, const FragRoot *root)
{
    uint32_t a = graph_node(linker, early_var(linker, frag, shift, root->a), root->span);
    SpanNode *node = &linker->graph.nodes.at[a];
    if (root->kind == ROOT_DEFINITE) {
        node->root = true;
        node->span = root->span;
    } else if (root->kind == ROOT_POTENTIAL) {
        node->priority = node->potential && node->priority < root->priority ? node->priority : root->priority;
        node->potential = true;
        node->span = root->span;
    } else {
        uint32_t b = graph_node(linker, early_var(linker, frag, shift, root->b), root->span);
        vec_push(&linker->graph.edges, (SpanEdge){.a = a, .b = b, .branch = true, .span = root->span});
    }
}

static void
collect_graph(Linker *linker, const Fragment *frag, Shift shift)
{
    for (uint32_t i = 0; i < frag->roots.n; i++)
        add_root(linker, frag, &shift, &frag->roots.at[i]);
    for (uint32_t i = 0; i < frag->connects.n; i++) {
        const FragConnect *connect = &frag->connects.at[i];
        uint32_t a = global_connector(linker, frag, &shift, connect->a);
        uint32_t b = global_connector(linker, frag, &shift, connect->b);
        if (in_parts(linker, connect, a, b))
            add_part_edges(linker, frag, connect, a, b);
        else
            add_connect_edges(linker, a, b, connect->span);
        linker->connects_of.at[a]++;
        linker->connects_of.at[b]++;
    }
    vec_push(&linker->around, (Around){frag, shift});
    uint32_t own = frag->order.n, all = own + (frag->of ? 0 : linker->elab->implicit.n);
    for (uint32_t i = 0; i < all; i++) {
        const Member *member = i < own ? &frag->members.at[frag->order.at[i]] : linker->elab->implicit.at[i - own];
        for (uint32_t e = 0; member->is_component && e < member->count; e++)
            collect_graph(linker, member->fragments[member->split ? e : 0], shift_of(&shift, member, e));
    }
    linker->around.n--;
}

// Which records their own components determine: the roots, and of each branch the end further from its root.
static void
note_determined(Linker *linker)
{
    const SpanGraph *graph = &linker->graph;
    for (uint32_t i = 0; i < graph->nodes.n; i++)
        if (graph->nodes.at[i].is_root && graph->nodes.at[i].priority < INFINITY)
            vec_push(&linker->dae->determined_records, linker->var_of.at[i]);
    for (uint32_t i = 0; i < graph->edges.n; i++) {
        const SpanEdge *edge = &graph->edges.at[i];
        bool a_outer = graph->nodes.at[edge->a].depth > graph->nodes.at[edge->b].depth;
        if (edge->branch)
            vec_push(&linker->dae->determined_records, linker->var_of.at[a_outer ? edge->a : edge->b]);
    }
}

// What a part is measured against is known where it is used; the part itself does not determine it.
static void
root_anywhere(Linker *linker)
{
    for (uint32_t i = 0; i < linker->graph.nodes.n; i++) {
        SpanNode *node = &linker->graph.nodes.at[i];
        if (node->root || node->potential)
            continue;
        node->potential = true;
        node->priority = INFINITY;
    }
}

bool
solve_graph(Linker *linker, const Fragment *model)
{
    Span at;
    linker->dae->knows_graph = true;
    linker->dae->is_part = linker->elab->options->part;
    linker->dae->has_defaults = linker->elab->options->defaults;
    if (!linker->elab->overconstrained.n && !linker->elab->counts_connects)
        return true;
    vec_grow(&linker->connects_of, linker->dae->connectors.n);
    collect_graph(linker, model, (Shift){0});
    if (linker->elab->options->part)
        root_anywhere(linker);
    switch (span_graph_solve(&linker->graph, &at)) {
    case SPAN_SOUND:
        note_determined(linker);
        return true;
    case SPAN_LOOP:
        diag_add(linker->elab->diags, E0407, at, "this branch closes a loop of branches in the connection graph");
        return false;
    case SPAN_TWO_ROOTS:
        diag_add(linker->elab->diags, E0407, at,
                 "this root is joined to another definite root by branches; no connection can be broken between them");
        return false;
    default:
        break;
    }
    Diag *diag = diag_add(linker->elab->diags, E0408, at,
                          "the overconstrained connectors joined here have no root: "
                          "nothing says what they are measured against");
    diag_help(diag, "connect what carries them, as a body of MultiBody does, also one without mass (m = 0, I_11 = 0, ...), "
              "or another component with Connections.root or Connections.potentialRoot");
    return false;
}

static void
equate_slots(Linker *linker, Expr left, Expr right, const Var *vars, uint32_t node, Span span)
{
    Dae *dae = linker->dae;
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, left, right), vars, &shape, &row);
    uint32_t equation = dae_add_equation(dae, EQN_NORMAL, shape, row, node, span);
    dae->equations.at[equation].generated = 1;
}

// Where a loop is closed the residues vanish for axes that are turned half round, too: at the start that is looked at.
static void
note_loop_end(Linker *linker, const Connect *connect, const Overconstrained *part, const Var *vars, uint32_t inst)
{
    Dae *dae = linker->dae;
    if (!part->same)
        return;
    const char *a = dae_connector_name(dae, connect->a), *b = dae_connector_name(dae, connect->b);
    Assert made = {.inst = inst, .level = ASSERT_CLOSED, .other_units = true, .span = connect->span,
                   .message = sym_of(dae->syms, arena_printf(linker->elab->scratch, "`%s` and `%s`", a, b))};
    dae_bind_shape(dae, part->same, vars, &made.condition, &made.row);
    vec_push(&dae->asserts, made);
}

// The overconstrained variables of two connected connectors are equal along the tree; where a loop is closed they
// satisfy the residues of equalityConstraint.
static void
link_edge(Linker *linker, const Connect *connect, uint32_t type, uint32_t i, uint32_t inst, SpanState state)
{
    Dae *dae = linker->dae;
    Connector a = dae->connectors.at[connect->a], b = dae->connectors.at[connect->b];
    const Overconstrained *part = overconstrained_at(linker->elab, type, i);
    if (state == SPAN_REDUNDANT || (state == SPAN_BROKEN && !overconstrained_residues(linker->elab, type, i, connect->span)))
        return;
    part = overconstrained_at(linker->elab, type, i);
    Var *vars = arena_array(linker->elab->scratch, Var, 2 * (size_t)part->size);
    for (uint32_t k = 0; k < part->size; k++) {
        vars[k] = a.first + part->offset + k;
        vars[part->size + k] = b.first + part->offset + k;
    }
    if (state == SPAN_BROKEN)
        note_loop_end(linker, connect, part, vars, inst);
    uint32_t node = dae_node(dae, inst), n = state == SPAN_TREE ? part->size : part->n_residues;
    Expr zero = expr_const(dae->exprs, 0);
    for (uint32_t k = 0; k < n; k++)
        if (state == SPAN_TREE)
            equate_slots(linker, expr_slot(dae->exprs, k), expr_slot(dae->exprs, part->size + k), vars, node, connect->span);
        else
            equate_slots(linker, part->residues[k], zero, vars, node, connect->span);
}

void
link_overconstrained(Linker *linker, const Connect *connect, uint32_t inst)
{
    uint32_t type = linker->dae->connectors.at[connect->a].type;
    for (uint32_t i = 0; overconstrained_at(linker->elab, type, i); i++)
        link_edge(linker, connect, type, i, inst, linker->graph.edges.at[linker->edges.at[linker->next_edge++]].state);
}

void
link_overconstrained_part(Linker *linker, const Connect *connect, const Fragment *frag, uint32_t inst)
{
    const Dae *dae = linker->dae;
    const Overconstrained *part;
    uint32_t type = frag->connector_type - 1, edge;
    for (uint32_t i = 0; (part = overconstrained_at(linker->elab, type, i)); i++) {
        uint64_t key = pair_key(dae->connectors.at[connect->a].first + part->offset, dae->connectors.at[connect->b].first + part->offset);
        if (!map_get(&linker->part_edge, key, &edge))
            continue;
        link_edge(linker, connect, type, i, inst, linker->graph.edges.at[edge].state);
        linker->graph.edges.at[edge].state = SPAN_REDUNDANT; // when they are connected once more
    }
}
