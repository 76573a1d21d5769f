// graph.c: the multibond graph as text and JSON.
//
// Purpose: shows what the connections of a model mean physically, and after causality assignment who
// computes what. Drawings are made in graph_draw.c.
// Method: the graph of the Dae has a node per component and per connection set. Strokes are read off Bond.effort_from,
// loops off the blocks of the sorted problem.
// Contract: graph.h. Complexity: linear.
#include "ir/base/sets.h"
#include "ir/view/graph_inner.h"
#include "ir/view/stored.h"

// Ports in the order of their declaration, whatever the order of bonds. A joint's first and last are its frames, also when a
// shaft is declared after them.
static void
use_node(const Dae *dae, NodeUse *use, uint32_t bond)
{
    use->bonds++;
    if (dae->bonds.at[bond].scalar)
        return;
    const Bond *at = &dae->bonds.at[bond];
    bool joint = dae->nodes.at[at->component].kind == NODE_CONSTRAINT;
    uint32_t size = bond_type(dae, at)->n_bonds, known = use->ports++ ? bond_type(dae, &dae->bonds.at[use->first])->n_bonds : 0;
    bool anew = !known || (joint && size > known);
    if (joint && size < known)
        return;
    if (anew || at->connector < dae->bonds.at[use->first].connector)
        use->first = bond;
    if (anew || at->connector > dae->bonds.at[use->last].connector)
        use->last = bond;
}

// Bonds whose effort or flow is determined in a block of several equations.
static void
mark_loops(Graph *graph, const Problem *problem)
{
    const Dae *dae = graph->dae;
    U8Vec in_loop = {0}; // per variable
    vec_grow(&in_loop, dae->nvars);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++) {
            Var var = problem->var_of.at[problem->sorted.at[k]];
            if (var != NONE)
                in_loop.at[var] = problem->block_start.at[b + 1] - problem->block_start.at[b] > 1;
        }
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        bool negative;
        if (in_loop.at[dae_alias(dae, dae->bonds.at[b].effort, &negative)])
            graph->marks.at[b] |= MARK_LOOP;
    }
    vec_free(&in_loop);
}

// Of an element with scalar bonds only the storage itself tells; of a body's bonds some may be dependent: there an
// inertance gives the effort, a compliance takes it.
static void
mark_derivative(Graph *graph, const Problem *problem)
{
    const Dae *dae = graph->dae;
    Stored stored = stored_open(dae, problem);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint8_t kind = dae->nodes.at[bond->component].kind;
        bool inertance = kind == NODE_I || kind == NODE_BODY;
        if (bond_type(dae, bond)->n_bonds == 1 && (inertance || kind == NODE_C)) {
            if (stored.dependent.at[bond->component])
                graph->marks.at[b] |= MARK_DERIVATIVE;
        } else if (graph->uses[bond->component].ports == 1
                   && ((inertance && bond->effort_from == 1) || (kind == NODE_C && bond->effort_from == 2)))
            graph->marks.at[b] |= MARK_DERIVATIVE;
    }
    stored_free(&stored);
}

// As the start of a run has found them, or else what the structure has shown (closure.c).
static void
mark_redundant(Graph *graph)
{
    const Dae *dae = graph->dae;
    const Map *map = &dae->stands_for;
    bool known = false;
    vec_grow(&graph->redundant, dae->nodes.n);
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        graph->redundant.at[i] = dae->nodes.at[i].parts.surplus > 0;
        known |= graph->redundant.at[i];
    }
    for (uint32_t i = 0; i < map->capacity && !known; i++)
        if (map->values[i] && map->values[i] - 1 < dae->equations.n) {
            uint32_t node = dae->equations.at[map->values[i] - 1].node;
            if (node < dae->nodes.n && dae->nodes.at[node].kind == NODE_CONSTRAINT)
                graph->redundant.at[node] = 1;
        }
}

// --- simplification

// All ports of the component have what their junctions share: it stands on one junction.
static bool
stands_on_one(const Dae *dae, const Bond *bond)
{
    const GraphNode *node = &dae->nodes.at[bond->component];
    bool one = dae->nodes.at[bond->junction].kind == NODE_ONE;
    return node->parts.bits & (one ? PART_SHARES_FLOW : PART_SHARES_EFFORT);
}

static bool
is_only_junction(const GraphNode *node)
{
    return node->kind == NODE_TF && node->parts.bits & PART_UNIT;
}

static bool
is_detector(const GraphNode *node)
{
    return node->parts.bits & (PART_READS_EFFORT | PART_READS_FLOW);
}

// The junctions of such components become one. `first` receives the first bond of each such component, else NONE.
static void
merge_junctions(const Dae *dae, U32Vec *parent, U32Vec *first)
{
    sets_grow(parent, dae->nodes.n);
    vec_fill(first, dae->nodes.n, NONE);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t *known = &first->at[bond->component];
        if (!stands_on_one(dae, bond) || is_detector(&dae->nodes.at[bond->component]))
            continue;
        if (*known == NONE)
            *known = b;
        else
            sets_join(parent, dae->bonds.at[*known].junction, bond->junction);
    }
}

static void
add_further(Graph *graph, uint32_t bond, Var effort)
{
    vec_push(&graph->further, ((Further){effort, graph->also.at[bond]}));
    graph->also.at[bond] = graph->further.n;
}

// A bond of an element on one junction for all its ports: it gets the sum of efforts, and the component gives the effort where it
// gives that of one port.
static void
join_bond(Graph *graph, Bond *kept, uint32_t at, const Bond *bond)
{
    add_further(graph, at, bond->effort);
    if (bond->effort_from && kept->effort_from)
        kept->effort_from = bond->effort_from == 1 ? 1 : kept->effort_from;
    else
        kept->effort_from = 0;
}

// A ground holds what its junction shares at zero: it takes no power.
static bool
is_ground(const Dae *dae, const Bond *bond, uint32_t ports)
{
    const GraphNode *node = &dae->nodes.at[bond->component];
    return ports == 1 && bond_type(dae, bond)->n_bonds == 1 && node->parts.bits & PART_ZERO && !is_detector(node)
           && node->kind == (dae->nodes.at[bond->junction].kind == NODE_ONE ? NODE_SF : NODE_SE);
}

// What hands power on does so between two ports at least, and no element is left without a bond.
static uint32_t
ports_needed(const GraphNode *node)
{
    return node->kind == NODE_TF || node->kind == NODE_GY || node->kind == NODE_CONSTRAINT ? 2 : 1;
}

// No power passes a bond to a junction whose effort or flow is zero: it is left out, and the junction with it (Karnopp, Margolis,
// Rosenberg, 2006, section 4.1: nodes at ground potential and points without velocity). The ground of bodies, whose ports have several
// scalar bonds, is a body of its own (Bos and Tiernego, 1985) and stays. Marks the bonds that vanish; what is only a junction has gone before.
static void
leave_out_grounds(Graph *graph, const Dae *dae, U32Vec *parent, const U32Vec *first, U8Vec *vanishes)
{
    U32Vec ports = {0}, held = {0}, stay = {0}; // per node: of a component its ports, and those at grounds; of a junction what stays at it
    U8Vec ground = {0};
    vec_grow(&ports, dae->nodes.n);
    vec_grow(&held, dae->nodes.n);
    vec_grow(&stay, dae->nodes.n);
    vec_grow(&ground, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        ports.at[dae->bonds.at[b].component] += !dae->bonds.at[b].scalar;
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        if (is_ground(dae, &dae->bonds.at[b], ports.at[dae->bonds.at[b].component]))
            ground.at[sets_find(parent, dae->bonds.at[b].junction)] = 1;
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        held.at[dae->bonds.at[b].component] += ground.at[sets_find(parent, dae->bonds.at[b].junction)];
    for (int grounds = 0; grounds < 2; grounds++) // a ground stays with what stays at it
        for (uint32_t b = 0; b < dae->bonds.n; b++) {
            uint32_t node = dae->bonds.at[b].component, junction = sets_find(parent, dae->bonds.at[b].junction);
            bool is = is_ground(dae, &dae->bonds.at[b], ports.at[node]);
            bool gone = first->at[node] != NONE && is_only_junction(&dae->nodes.at[node]);
            if (!ground.at[junction] || is != grounds || gone)
                continue;
            vanishes->at[b] = is ? !stay.at[junction] : ports.at[node] - held.at[node] >= ports_needed(&dae->nodes.at[node]);
            stay.at[junction] += !vanishes->at[b];
            if (is && vanishes->at[b])
                vec_push(&graph->grounds, node);
        }
    vec_free(&ports);
    vec_free(&held);
    vec_free(&stay);
    vec_free(&ground);
}

// Nothing else is connected to where an arm ends: its effort there is zero, and so is all power that it hands on. The arm vanishes, then what
// it ended.
static void
leave_out_open_ends(Graph *graph, const Dae *dae, U32Vec *parent, U8Vec *vanishes)
{
    U32Vec ports = {0}, at = {0}; // per node: of a component its ports, of a junction the ports at it
    U8Vec open = {0};
    bool changed = true;
    vec_grow(&open, dae->nodes.n);
    vec_grow(&ports, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        ports.at[dae->bonds.at[b].component] += !dae->bonds.at[b].scalar;
    while (changed) {
        changed = false;
        vec_clear(&at);
        vec_grow(&at, dae->nodes.n);
        for (uint32_t b = 0; b < dae->bonds.n; b++)
            at.at[sets_find(parent, dae->bonds.at[b].junction)] += !dae->bonds.at[b].scalar && !vanishes->at[b];
        for (uint32_t b = 0; b < dae->bonds.n; b++) {
            uint32_t node = dae->bonds.at[b].component;
            const GraphNode *arm = &dae->nodes.at[node];
            if (open.at[node] || arm->kind != NODE_TF || is_only_junction(arm) || is_detector(arm) || ports.at[node] != 2
                || at.at[sets_find(parent, dae->bonds.at[b].junction)] != 1 || vanishes->at[b])
                continue;
            open.at[node] = changed = true;
            vec_push(&graph->grounds, node);
        }
        for (uint32_t b = 0; b < dae->bonds.n; b++)
            vanishes->at[b] |= open.at[dae->bonds.at[b].component];
    }
    vec_free(&ports);
    vec_free(&at);
    vec_free(&open);
}

static void
simplify(Graph *graph, const Dae *dae)
{
    U32Vec parent = {0}, first = {0}, place = {0};
    U8Vec vanishes = {0};
    merge_junctions(dae, &parent, &first);
    vec_grow(&vanishes, dae->bonds.n);
    leave_out_grounds(graph, dae, &parent, &first, &vanishes);
    leave_out_open_ends(graph, dae, &parent, &vanishes);
    graph->simplified = base_calloc(1, sizeof *graph->simplified);
    *graph->simplified = *dae;
    memset(&graph->simplified->bonds, 0, sizeof graph->simplified->bonds);
    vec_fill(&place, dae->bonds.n, NONE);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        Bond bond = dae->bonds.at[b];
        uint32_t known = first.at[bond.component];
        bool joins = known != NONE && dae->bonds.at[known].connector != bond.connector;
        bond.junction = sets_find(&parent, bond.junction);
        if (vanishes.at[b] || (known != NONE && is_only_junction(&dae->nodes.at[bond.component])))
            continue;
        if (joins)
            join_bond(graph, &graph->simplified->bonds.at[place.at[known + bond.scalar]], place.at[known + bond.scalar], &bond);
        else {
            place.at[b] = graph->simplified->bonds.n;
            vec_push(&graph->simplified->bonds, bond);
            vec_push(&graph->also, 0);
        }
    }
    graph->dae = graph->simplified;
    vec_free(&parent);
    vec_free(&first);
    vec_free(&place);
    vec_free(&vanishes);
}

Graph
graph_open(const Dae *dae, const Problem *problem, uint32_t form)
{
    Graph graph = {.dae = dae, .uses = base_calloc((size_t)dae->nodes.n + 1, sizeof(NodeUse))};
    U8Vec joins = {0};
    vec_grow(&joins, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        joins.at[dae->bonds.at[b].junction] = 1;
    if (form & GRAPH_FULL)
        vec_grow(&graph.also, dae->bonds.n);
    else
        simplify(&graph, dae);
    dae = graph.dae;
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        use_node(dae, &graph.uses[bond->component], b);
        use_node(dae, &graph.uses[bond->junction], b);
    }
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (dae_is_junction(dae, i) && joins.at[i])
            graph.uses[i].number = ++graph.junctions; // as in the audit and in messages, which tell connection sets
        graph.components += graph.uses[i].bonds && !dae_is_junction(dae, i);
    }
    vec_free(&joins);
    vec_grow(&graph.marks, dae->bonds.n);
    if (problem) {
        mark_loops(&graph, problem);
        mark_derivative(&graph, problem);
    }
    mark_redundant(&graph);
    return graph;
}

void
graph_close(Graph *graph)
{
    free(graph->uses);
    vec_free(&graph->marks);
    vec_free(&graph->redundant);
    vec_free(&graph->also);
    vec_free(&graph->further);
    vec_free(&graph->grounds);
    if (graph->simplified)
        vec_free(&graph->simplified->bonds);
    free(graph->simplified);
    graph->uses = NULL;
}

void
graph_print_name(const Graph *graph, uint32_t node, Out *out)
{
    if (dae_is_junction(graph->dae, node)) {
        out_printf(out, "J%u", graph->uses[node].number);
        return;
    }
    size_t before = out->length;
    dae_inst_path(graph->dae, graph->dae->nodes.at[node].inst, out);
    if (out->length == before)
        out_text(out, sym_text(graph->dae->syms, graph->dae->name));
}

void
graph_print_flow(const Dae *dae, const Bond *bond, Out *out)
{
    bool der = bond_type(dae, bond)->bonds[bond->scalar].flow_is_der;
    out_text(out, der ? "der(" : "");
    dae_told_name(dae, bond->flow, out);
    out_text(out, der ? ")" : "");
}

void
graph_print_effort(const Graph *graph, uint32_t bond, Out *out)
{
    dae_told_name(graph->dae, graph->dae->bonds.at[bond].effort, out);
    for (uint32_t i = graph->also.at[bond]; i; i = graph->further.at[i - 1].next) {
        out_text(out, " + ");
        dae_told_name(graph->dae, graph->further.at[i - 1].effort, out);
    }
}

// --- text

static void
pad_to(Out *out, size_t line_start, size_t width)
{
    size_t used = out->length - line_start;
    out_repeat(out, ' ', used < width ? width - used : 1);
}

// " through axis": the ports of a joint that hand a scalar bond on to what is connected to them.
static void
print_drives(const Graph *graph, uint32_t node, Out *out)
{
    const Dae *dae = graph->dae;
    uint32_t inst = dae->nodes.at[node].inst;
    const char *before = " through ";
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        uint32_t n = dae->connector_types.at[connector->type].n_bonds;
        if (dae->insts.at[connector->inst].parent != inst || !n || n >= bond_type(dae, &dae->bonds.at[graph->uses[node].first])->n_bonds)
            continue;
        out_printf(out, "%s%s", before, sym_text(dae->syms, dae->insts.at[connector->inst].name));
        before = ", ";
    }
}

// The name of the port that a bond is of, within its component.
const char *
graph_port_name(const Graph *graph, uint32_t bond)
{
    const Dae *dae = graph->dae;
    return sym_text(dae->syms, dae->insts.at[dae->connectors.at[dae->bonds.at[bond].connector].inst].name);
}

uint32_t
graph_count_closures(const Dae *dae, uint32_t node, const char *letters)
{
    const NodeParts *parts = &dae->nodes.at[node].parts;
    uint32_t count = 0;
    for (uint32_t i = parts->first_closure; i < parts->first_closure + parts->closures; i++)
        count += !strcmp(dae->closures.at[i].letter, letters);
    return count;
}

uint32_t
graph_elements(const Dae *dae, uint32_t node, uint32_t k, const char **letters)
{
    const NodeParts *parts = &dae->nodes.at[node].parts;
    uint32_t end = parts->first_closure + parts->closures;
    *letters = parts->work == WORK_DRIVE ? "Se" : "C/R";
    if (!parts->closures)
        return k ? 0 : parts->elements;
    for (uint32_t i = parts->first_closure; i < end; i++) {
        const ScalarClosure *at = &dae->closures.at[i];
        bool first = at->by == CLOSED_ELEMENT;
        for (uint32_t before = parts->first_closure; before < i && first; before++)
            first = strcmp(dae->closures.at[before].letter, at->letter) != 0;
        if (first && !k--) {
            *letters = at->letter;
            return graph_count_closures(dae, node, at->letter);
        }
    }
    return 0;
}

void
graph_print_axes(const Dae *dae, uint32_t node, const char *letters, const char *between, Out *out)
{
    static const char *const motions[] = {"v", "ω", "v, ω"};
    const NodeParts *parts = &dae->nodes.at[node].parts;
    bool any = false;
    for (int motion = 0; motion < 3; motion++) {
        uint32_t n = 0;
        for (uint32_t i = parts->first_closure; i < parts->first_closure + parts->closures; i++) {
            const ScalarClosure *closure = &dae->closures.at[i];
            bool both = closure->translates && closure->turns;
            if (strcmp(closure->letter, letters) || motion != (both ? 2 : closure->turns))
                continue;
            out_text(out, n++ ? "" : any ? between : "");
            out_text(out, n == 1 ? motions[motion] : "");
            any = true;
            const char *name = closure->axis[0] ? closure->axis : closure->value;
            if (!both && name[0])
                out_printf(out, " %s%s", closure->across ? "⊥" : "", name);
        }
    }
}

// What a body or constraint is made of, as "1: I, MGY, Se" or "0: MTF, 5 FC, 1 EC".
static void
print_parts(const Graph *graph, uint32_t node, Out *out)
{
    const NodeParts *parts = &graph->dae->nodes.at[node].parts;
    uint8_t kind = graph->dae->nodes.at[node].kind;
    if (kind == NODE_BODY || kind == NODE_I) {
        out_printf(out, "1: %sI%s%s", parts->bits & PART_ARM_A ? "MTF, " : "", parts->bits & PART_GYRO ? ", MGY" : "",
                   parts->bits & PART_WEIGHT ? ", Se (weight)" : "");
        return;
    }
    out_text(out, "0:");
    const char *comma = " ";
    const struct { uint32_t bit, bond; } arms[] = {{PART_ARM_A, graph->uses[node].first}, {PART_ARM_B, graph->uses[node].last}};
    for (int i = 0; i < 2; i++)
        if (parts->bits & arms[i].bit) {
            out_printf(out, "%sMTF (arm to %s)", comma, graph_port_name(graph, arms[i].bond));
            comma = ", ";
        }
    if (parts->bits & PART_TURN) {
        out_printf(out, "%sMTF (axes)", comma);
        comma = ", ";
    }
    struct { uint32_t count; const char *name; } closures[2 + GRAPH_ELEMENTS] = {{parts->fc, "FC"}, {parts->ec, "EC"}};
    for (uint32_t k = 0; k < GRAPH_ELEMENTS; k++)
        closures[2 + k].count = graph_elements(graph->dae, node, k, &closures[2 + k].name);
    for (int i = 0; i < 2 + GRAPH_ELEMENTS; i++)
        if (closures[i].count) {
            out_printf(out, "%s%u %s", comma, closures[i].count, closures[i].name);
            comma = ", ";
        }
    if (parts->drives) {
        out_printf(out, "%s%u", comma, parts->drives);
        print_drives(graph, node, out);
    }
    if (parts->work == WORK_DRIVE)
        out_text(out, "; driven: it does work");
    if (parts->surplus)
        out_printf(out, "; %u of the FC follow%s from others", parts->surplus, parts->surplus == 1 ? "s" : "");
    else if (graph->redundant.at[node])
        out_text(out, "; some of its conditions follow from others");
}

// "x.d" for "x.d[1]": what modulates is the whole.
static void
print_whole_name(const Dae *dae, Var var, Out *out)
{
    dae_told_name(dae, var, out);
    if (out->length && out->text[out->length - 1] == ']')
        while (out->length && out->text[--out->length] != '[')
            ;
    out->text[out->length] = 0;
}

static void
print_text_node(const Graph *graph, uint32_t node, Out *out)
{
    const Dae *dae = graph->dae;
    const GraphNode *at = &dae->nodes.at[node];
    size_t start = out->length;
    out_text(out, "  ");
    node_print_symbol(at, out);
    pad_to(out, start, 9);
    graph_print_name(graph, node, out);
    pad_to(out, start, 30);
    if (dae_is_junction(dae, node)) {
        const NodeUse *use = &graph->uses[node];
        out_printf(out, "%u bond%s, shares ", use->bonds, use->bonds == 1 ? "" : "s");
        const Bond *bond = &dae->bonds.at[use->first];
        if (at->kind == NODE_ONE)
            graph_print_flow(dae, bond, out);
        else
            dae_told_name(dae, bond->effort, out);
    } else {
        out_text(out, sym_text(dae->syms, dae->insts.at[at->inst].class_name));
        if (at->kind == NODE_BODY || at->kind == NODE_CONSTRAINT || (at->kind == NODE_I && at->parts.bits & (PART_WEIGHT | PART_GYRO))) {
            pad_to(out, start, 58);
            print_parts(graph, node, out);
        }
        if (at->parts.modulator) {
            pad_to(out, start, 58);
            out_text(out, "modulated by ");
            print_whole_name(dae, at->parts.modulator - 1, out);
        }
    }
    out_char(out, '\n');
}

// "rotation about n = {0.6, 0, 0.8}".
static void
print_closure_motion(const ScalarClosure *closure, Out *out)
{
    out_text(out, closure->translates ? "translation" : "rotation");
    out_text(out, closure->translates && closure->turns ? " with rotation" : "");
    if (closure->axis[0])
        out_printf(out, " %s%s", closure->across ? "across " : closure->turns ? "about " : "along ", closure->axis);
    if (closure->value[0])
        out_printf(out, "%s%s", closure->axis[0] ? " = " : " ", closure->value);
}

// Each scalar bond of the constraints, and what closes it.
static void
print_closures(const Graph *graph, Out *out)
{
    const Dae *dae = graph->dae;
    if (dae->closures.n)
        out_text(out, "scalar bonds of constraints (in the axes of the first end)\n");
    for (uint32_t i = 0; i < dae->closures.n; i++) {
        const ScalarClosure *closure = &dae->closures.at[i];
        size_t start = out->length;
        out_printf(out, "  %-6s ", closure->letter);
        graph_print_name(graph, closure->node, out);
        pad_to(out, start, 30);
        print_closure_motion(closure, out);
        out_char(out, '\n');
    }
}

static void
print_grounds(const Graph *graph, Out *out)
{
    for (uint32_t i = 0; i < graph->grounds.n; i++) {
        out_text(out, i ? ", " : "without power: ");
        graph_print_name(graph, graph->grounds.at[i], out);
    }
    out_text(out, graph->grounds.n ? " (--full shows what is connected there)\n" : "");
}

// A junction of two ports is one bond.
static bool
is_bond(const Graph *graph, uint32_t node, uint32_t form)
{
    const NodeUse *use = &graph->uses[node];
    const Bond *bonds = graph->dae->bonds.at;
    return !(form & GRAPH_FULL) && dae_is_junction(graph->dae, node) && use->ports == 2 && use->bonds%2 == 0
           && bonds[use->first].component != bonds[use->last].component;
}

static bool
is_source(const Graph *graph, uint32_t bond)
{
    uint8_t kind = graph->dae->nodes.at[graph->dae->bonds.at[bond].component].kind;
    return kind == NODE_SE || kind == NODE_SF;
}

static void
print_text_bond(const Graph *graph, uint32_t from, uint32_t b, Out *out)
{
    static const char *const arrows[] = {" ---⇀ ", " |--⇀ ", " ---⇀| "};
    const Bond *bond = &graph->dae->bonds.at[b];
    size_t start = out->length;
    out_text(out, "  ");
    graph_print_name(graph, from, out);
    out_text(out, arrows[bond->effort_from]);
    graph_print_name(graph, bond->component, out);
    pad_to(out, start, 36);
    out_text(out, "flow ");
    graph_print_flow(graph->dae, bond, out);
    out_text(out, ", effort ");
    graph_print_effort(graph, b, out);
    if (graph->marks.at[b] & MARK_DERIVATIVE)
        out_text(out, "  (derivative causality)");
    if (graph->marks.at[b] & MARK_LOOP)
        out_text(out, "  (loop)");
    out_char(out, '\n');
}

// The bond of a junction of two: from a source to what it drives, else from the first to the last; once, by its head.
static void
print_joined(const Graph *graph, uint32_t b, Out *out)
{
    const Bond *bond = &graph->dae->bonds.at[b];
    const NodeUse *use = &graph->uses[bond->junction];
    uint32_t head = is_source(graph, use->last) && !is_source(graph, use->first) ? use->first : use->last;
    uint32_t tail = head == use->first ? use->last : use->first;
    if (bond->connector == graph->dae->bonds.at[head].connector)
        print_text_bond(graph, graph->dae->bonds.at[tail].component, b, out);
}

void
graph_print_text(const Dae *model, const Problem *problem, uint32_t form, Out *out)
{
    Graph graph = graph_open(model, problem, form);
    const Dae *dae = graph.dae;
    uint32_t scalars = 0, junctions = 0;
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        bool bond = is_bond(&graph, i, form);
        junctions += graph.uses[i].bonds && dae_is_junction(dae, i) && !bond;
        scalars += !dae_is_junction(dae, i) ? 0 : bond ? graph.uses[i].bonds/2 : graph.uses[i].bonds;
    }
    out_printf(out, "multibond graph of %s: %u components, %u junction%s, %u scalar bonds\n",
               sym_text(dae->syms, dae->name), graph.components, junctions, junctions == 1 ? "" : "s", scalars);
    for (int at_junctions = 0; at_junctions < 2; at_junctions++) {
        out_text(out, at_junctions ? "junctions\n" : "components\n");
        for (uint32_t i = 0; i < dae->nodes.n; i++)
            if (graph.uses[i].bonds && dae_is_junction(dae, i) == (at_junctions == 1) && !is_bond(&graph, i, form))
                print_text_node(&graph, i, out);
    }
    print_grounds(&graph, out);
    print_closures(&graph, out);
    out_text(out, "bonds (half arrow: positive power; stroke: receives the effort)\n");
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        if (is_bond(&graph, dae->bonds.at[b].junction, form))
            print_joined(&graph, b, out);
        else
            print_text_bond(&graph, dae->bonds.at[b].junction, b, out);
    }
    graph_close(&graph);
}

// --- JSON

static void
print_json_closures(const Graph *graph, uint32_t node, Out *out)
{
    const Dae *dae = graph->dae;
    const NodeParts *parts = &dae->nodes.at[node].parts;
    const char *comma = "";
    out_text(out, ", \"arms\": [");
    for (int i = 0; i < 2; i++)
        if (parts->bits & (i ? PART_ARM_B : PART_ARM_A)) {
            out_text(out, comma);
            out_json(out, graph_port_name(graph, i ? graph->uses[node].last : graph->uses[node].first));
            comma = ", ";
        }
    out_text(out, "], \"closures\": [");
    for (uint32_t i = 0; i < parts->closures; i++) {
        const ScalarClosure *closure = &dae->closures.at[parts->first_closure + i];
        Out motion = {0};
        print_closure_motion(closure, &motion);
        out_printf(out, "%s{\"by\": \"%s\", \"motion\": ", i ? ", " : "", closure->letter);
        out_json(out, motion.text);
        out_char(out, '}');
        out_free(&motion);
    }
    out_char(out, ']');
}

static void
print_json_parts(const Graph *graph, uint32_t node, Out *out)
{
    const GraphNode *at = &graph->dae->nodes.at[node];
    if (at->parts.modulator) {
        Out name = {0};
        print_whole_name(graph->dae, at->parts.modulator - 1, &name);
        out_text(out, ", \"modulator\": ");
        out_json(out, name.text);
        out_free(&name);
    }
    if (at->kind == NODE_BODY || at->kind == NODE_I)
        out_printf(out, ", \"gyroscopic\": %s, \"weight\": %s", at->parts.bits & PART_GYRO ? "true" : "false",
                   at->parts.bits & PART_WEIGHT ? "true" : "false");
    if (at->kind == NODE_CONSTRAINT)
        out_printf(out, ", \"fc\": %u, \"ec\": %u, \"elements\": %u, \"drives\": %u, \"ideal\": %s, \"redundant\": %s, \"surplus\": %u",
                   at->parts.fc, at->parts.ec, at->parts.elements, at->parts.drives, at->parts.work == WORK_NONE ? "true" : "false",
                   graph->redundant.at[node] ? "true" : "false", at->parts.surplus);
    if (at->kind == NODE_CONSTRAINT)
        print_json_closures(graph, node, out);
}

static void
print_json_bond(const Graph *graph, uint32_t b, Out *out)
{
    const Dae *dae = graph->dae;
    const Bond *bond = &dae->bonds.at[b];
    uint8_t marks = graph->marks.at[b];
    static const char *const from[] = {"unknown", "component", "junction"};
    Out name = {0};
    out_printf(out, "{\"component\": %u, \"junction\": %u, \"port\": ", bond->component, bond->junction);
    dae_inst_path(dae, dae->connectors.at[bond->connector].inst, &name);
    out_json(out, name.text);
    name.length = 0;
    out_text(out, ", \"flow\": ");
    graph_print_flow(dae, bond, &name);
    out_json(out, name.text);
    name.length = 0;
    out_text(out, ", \"effort\": ");
    graph_print_effort(graph, b, &name);
    out_json(out, name.text);
    out_printf(out, ", \"effort_from\": \"%s\", \"derivative\": %s, \"loop\": %s}", from[bond->effort_from],
               marks & MARK_DERIVATIVE ? "true" : "false", marks & MARK_LOOP ? "true" : "false");
    out_free(&name);
}

void
graph_print_json(const Dae *model, const Problem *problem, uint32_t form, Out *out)
{
    Graph graph = graph_open(model, problem, form);
    const Dae *dae = graph.dae;
    out_text(out, "{\"model\": ");
    out_json(out, sym_text(dae->syms, dae->name));
    out_text(out, ",\n \"nodes\": [");
    const char *comma = "";
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (!graph.uses[i].bonds)
            continue;
        Out name = {0};
        graph_print_name(&graph, i, &name);
        out_printf(out, "%s\n  {\"id\": %u, \"kind\": \"%s\", \"symbol\": \"", comma, i,
                   node_kind_text((NodeKind)dae->nodes.at[i].kind));
        node_print_symbol(&dae->nodes.at[i], out);
        out_text(out, "\", \"name\": ");
        out_json(out, name.text);
        out_text(out, ", \"class\": ");
        Sym class_name = dae->insts.at[dae->nodes.at[i].inst].class_name;
        out_json(out, dae_is_junction(dae, i) ? "" : sym_text(dae->syms, class_name));
        print_json_parts(&graph, i, out);
        out_char(out, '}');
        out_free(&name);
        comma = ",";
    }
    out_text(out, "],\n \"bonds\": [");
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        out_text(out, b ? ",\n  " : "\n  ");
        print_json_bond(&graph, b, out);
    }
    out_text(out, "]}\n");
    graph_close(&graph);
}
