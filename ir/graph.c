// The multibond graph as text, Graphviz source, SVG and JSON.
//
// Purpose: shows what the connections of a model mean physically, and after causality assignment who
// computes what.
// Method: the graph of the Dae has a node per component and per connection set. Drawings follow the
// canonical form of bond graphs: a two-terminal element that hangs between two common-flow junctions carries
// one effort, so it is drawn on a 0-junction of its own (dually for circuits); a junction of two bonds is no
// junction but a bond. Strokes are read off Bond.effort_from.
// Contract: graph.h. Complexity: linear, but for Graphviz itself.
#include "ir/graph.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *
graph_kind_text(NodeKind kind)
{
    static const char *const names[] = {
        [NODE_COMPONENT] = "*", [NODE_ONE] = "1", [NODE_ZERO] = "0", [NODE_I] = "I", [NODE_C] = "C",
        [NODE_R] = "R", [NODE_SE] = "Se", [NODE_SF] = "Sf", [NODE_TF] = "TF", [NODE_GY] = "GY",
        [NODE_MEMORY] = "M", [NODE_CONSTRAINT] = "FC/EC", [NODE_BODY] = "body", [NODE_SIGNAL] = "signal",
    };
    return names[kind];
}

static bool
is_junction(const Dae *dae, uint32_t node)
{
    return dae->nodes.at[node].kind == NODE_ONE || dae->nodes.at[node].kind == NODE_ZERO;
}

// What the printers need to know of a node.
typedef struct NodeUse {
    uint32_t bonds;   // scalar bonds
    uint32_t ports;   // connectors
    uint32_t first;   // first bond of the first port
    uint32_t last;    // first bond of the last port
    uint32_t number;  // of a junction, from 1
} NodeUse;

typedef struct Graph {
    const Dae *dae;
    NodeUse *uses;    // per node
    uint32_t components, junctions;
} Graph;

// Ports in the order of their declaration, whatever the order of bonds.
static void
use_node(const Dae *dae, NodeUse *use, uint32_t bond)
{
    use->bonds++;
    if (dae->bonds.at[bond].scalar)
        return;
    uint32_t connector = dae->bonds.at[bond].connector;
    if (!use->ports || connector < dae->bonds.at[use->first].connector)
        use->first = bond;
    if (!use->ports || connector > dae->bonds.at[use->last].connector)
        use->last = bond;
    use->ports++;
}

static Graph
open_graph(const Dae *dae)
{
    Graph graph = {.dae = dae, .uses = base_calloc((size_t)dae->nodes.n + 1, sizeof(NodeUse))};
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        use_node(dae, &graph.uses[bond->component], b);
        use_node(dae, &graph.uses[bond->junction], b);
    }
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (!graph.uses[i].bonds)
            continue;
        if (is_junction(dae, i))
            graph.uses[i].number = ++graph.junctions;
        else
            graph.components++;
    }
    return graph;
}

static void
close_graph(Graph *graph)
{
    free(graph->uses);
    graph->uses = NULL;
}

// A component's path, or "J3" for a junction.
static void
print_node_name(const Graph *graph, uint32_t node, Out *out)
{
    if (is_junction(graph->dae, node)) {
        out_printf(out, "J%u", graph->uses[node].number);
        return;
    }
    size_t before = out->length;
    dae_inst_path(graph->dae, graph->dae->nodes.at[node].inst, out);
    if (out->length == before)
        out_text(out, sym_text(graph->dae->syms, graph->dae->name));
}

static const ConnectorType *
bond_type(const Dae *dae, const Bond *bond)
{
    return &dae->connector_types.at[dae->connectors.at[bond->connector].type];
}

static void
print_flow(const Dae *dae, const Bond *bond, Out *out)
{
    bool der = bond_type(dae, bond)->bonds[bond->scalar].flow_is_der;
    out_text(out, der ? "der(" : "");
    dae_var_name(dae, bond->flow, out);
    out_text(out, der ? ")" : "");
}

// --- text

static void
pad_to(Out *out, size_t line_start, size_t width)
{
    size_t used = out->length - line_start;
    out_repeat(out, ' ', used < width ? width - used : 1);
}

static void
print_text_node(const Graph *graph, uint32_t node, Out *out)
{
    const Dae *dae = graph->dae;
    const GraphNode *at = &dae->nodes.at[node];
    size_t start = out->length;
    out_printf(out, "  %-7s", graph_kind_text((NodeKind)at->kind));
    print_node_name(graph, node, out);
    pad_to(out, start, 30);
    if (is_junction(dae, node)) {
        const NodeUse *use = &graph->uses[node];
        out_printf(out, "%u bond%s, shares ", use->bonds, use->bonds == 1 ? "" : "s");
        const Bond *bond = &dae->bonds.at[use->first];
        if (at->kind == NODE_ONE)
            print_flow(dae, bond, out);
        else
            dae_var_name(dae, bond->effort, out);
    } else
        out_text(out, sym_text(dae->syms, dae->insts.at[at->inst].class_name));
    out_char(out, '\n');
}

void
graph_print_text(const Dae *dae, Out *out)
{
    static const char *const arrows[] = {" ---⇀ ", " |--⇀ ", " ---⇀| "};
    Graph graph = open_graph(dae);
    out_printf(out, "multibond graph of %s: %u components, %u junctions, %u scalar bonds\n",
               sym_text(dae->syms, dae->name), graph.components, graph.junctions, dae->bonds.n);
    for (int junctions = 0; junctions < 2; junctions++) {
        out_text(out, junctions ? "junctions\n" : "components\n");
        for (uint32_t i = 0; i < dae->nodes.n; i++)
            if (graph.uses[i].bonds && is_junction(dae, i) == (junctions == 1))
                print_text_node(&graph, i, out);
    }
    out_text(out, "bonds (half arrow: positive power; stroke: receives the effort)\n");
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        size_t start = out->length;
        out_text(out, "  ");
        print_node_name(&graph, bond->junction, out);
        out_text(out, arrows[bond->effort_from]);
        print_node_name(&graph, bond->component, out);
        pad_to(out, start, 36);
        out_text(out, "flow ");
        print_flow(dae, bond, out);
        out_text(out, ", effort ");
        dae_var_name(dae, bond->effort, out);
        out_char(out, '\n');
    }
    close_graph(&graph);
}

// --- Graphviz

// Text inside an HTML-like label.
static void
print_escaped(Out *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            out_text(out, "&lt;");
        else if (*text == '>')
            out_text(out, "&gt;");
        else if (*text == '&')
            out_text(out, "&amp;");
        else if (*text == '"')
            out_text(out, "&quot;");
        else
            out_char(out, *text);
    }
}

// A two-terminal element between junctions of the kind that shares what it does not: drawn on a junction of
// its own.
static bool
hangs(const Graph *graph, uint32_t node)
{
    const NodeUse *use = &graph->uses[node];
    switch (graph->dae->nodes.at[node].kind) {
    case NODE_I: case NODE_C: case NODE_R: case NODE_SE: case NODE_SF: case NODE_MEMORY: case NODE_COMPONENT:
        return use->ports == 2 && use->bonds == 2;
    default:
        return false;
    }
}

// Power passes through a two-port from its first port to its last. Reversing both a common effort (flow) and
// its conjugate changes neither the element's power nor its law's form, so this only fixes how it is drawn.
typedef enum Role { ROLE_ANY, ROLE_IN, ROLE_OUT } Role;

static Role
port_role(const Graph *graph, uint32_t bond)
{
    uint32_t node = graph->dae->bonds.at[bond].component;
    const NodeUse *use = &graph->uses[node];
    uint8_t kind = graph->dae->nodes.at[node].kind;
    bool passes = use->ports == 2 && (kind == NODE_TF || kind == NODE_GY || kind == NODE_CONSTRAINT);
    if (!passes && !hangs(graph, node))
        return ROLE_ANY;
    return bond == use->first ? ROLE_IN : ROLE_OUT;
}

// The name in dot of the node that a component's outer bonds end at.
static void
print_dot_id(const Graph *graph, uint32_t node, Out *out)
{
    out_printf(out, hangs(graph, node) ? "s%u" : "n%u", node);
}

// A junction of two ports is a plain bond, unless power would have to leave (or enter) it both ways.
static bool
is_plain(const Graph *graph, uint32_t node)
{
    const NodeUse *use = &graph->uses[node];
    const Bond *bonds = graph->dae->bonds.at;
    if (use->ports != 2 || bonds[use->first].component == bonds[use->last].component)
        return false;
    Role role = port_role(graph, use->first);
    return role == ROLE_ANY || role != port_role(graph, use->last);
}

typedef enum Stroke { STROKE_NONE, STROKE_TAIL, STROKE_HEAD } Stroke;

static void
print_dot_edge_style(uint32_t dimension, Stroke stroke, Out *out)
{
    static const char *const strokes[] = {
        [STROKE_NONE] = "arrowhead=lvee", [STROKE_TAIL] = "dir=both, arrowtail=tee, arrowhead=lvee",
        [STROKE_HEAD] = "arrowhead=teelvee"
    };
    out_printf(out, " [%s", strokes[stroke]);
    if (dimension > 1)
        out_printf(out, ", color=\"black:invis:black\", label=\"%u\"", dimension);
    out_text(out, "];\n");
}

// One stroke for a whole multibond, when its scalar bonds agree.
static Stroke
port_stroke(const Dae *dae, uint32_t first, uint32_t dimension)
{
    uint8_t from = dae->bonds.at[first].effort_from;
    for (uint32_t k = 1; k < dimension; k++)
        if (dae->bonds.at[first + k].effort_from != from)
            return STROKE_NONE;
    return from == 0 ? STROKE_NONE : from == 1 ? STROKE_TAIL : STROKE_HEAD;
}

static void
print_dot_component(const Graph *graph, uint32_t node, Out *out)
{
    const Dae *dae = graph->dae;
    const GraphNode *at = &dae->nodes.at[node];
    Out name = {0};
    print_node_name(graph, node, &name);
    out_printf(out, "  n%u [label=<<b>%s</b><br/><font point-size=\"10\" color=\"#1f4e79\">", node,
               graph_kind_text((NodeKind)at->kind));
    print_escaped(out, name.text);
    out_text(out, "</font>>, tooltip=\"");
    print_escaped(out, sym_text(dae->syms, dae->insts.at[at->inst].class_name));
    out_text(out, "\"];\n");
    out_free(&name);
    if (!hangs(graph, node))
        return;
    // The element's own junction and the bond between them.
    const NodeUse *use = &graph->uses[node];
    const Bond *first = &dae->bonds.at[use->first], *last = &dae->bonds.at[use->last];
    bool on_zero = dae->nodes.at[first->junction].kind == NODE_ONE;
    out_printf(out, "  s%u [label=<<b>%c</b>>];\n", node, on_zero ? '0' : '1');
    out_printf(out, "  s%u -> n%u", node, node);
    // A common effort comes from the element when both ports hand it out, a common flow when both take it in.
    uint8_t all = on_zero ? 1 : 2;
    Stroke when_all = on_zero ? STROKE_TAIL : STROKE_HEAD, otherwise = on_zero ? STROKE_HEAD : STROKE_TAIL;
    bool known = first->effort_from && last->effort_from;
    bool element = first->effort_from == all && last->effort_from == all;
    print_dot_edge_style(1, !known ? STROKE_NONE : element ? when_all : otherwise, out);
}

static bool
is_source(const Dae *dae, uint32_t node)
{
    return dae->nodes.at[node].kind == NODE_SE || dae->nodes.at[node].kind == NODE_SF;
}

// The bond that a junction of two ports is: drawn the way power passes, otherwise from a source to what it
// drives.
static void
print_dot_plain(const Graph *graph, uint32_t junction, Out *out)
{
    const Dae *dae = graph->dae;
    const NodeUse *use = &graph->uses[junction];
    Role first = port_role(graph, use->first), last = port_role(graph, use->last);
    bool free = first == ROLE_ANY && last == ROLE_ANY;
    bool swap = first == ROLE_IN || last == ROLE_OUT
                || (free && !is_source(dae, dae->bonds.at[use->first].component)
                    && is_source(dae, dae->bonds.at[use->last].component));
    uint32_t tail = swap ? use->last : use->first, head = swap ? use->first : use->last;
    out_text(out, "  ");
    print_dot_id(graph, dae->bonds.at[tail].component, out);
    out_text(out, " -> ");
    print_dot_id(graph, dae->bonds.at[head].component, out);
    print_dot_edge_style(use->bonds / 2, port_stroke(dae, head, use->bonds / 2), out);
}

static void
print_dot_bonds(const Graph *graph, Out *out)
{
    const Dae *dae = graph->dae;
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        if (bond->scalar || is_plain(graph, bond->junction))
            continue;
        uint32_t dimension = bond_type(dae, bond)->n_bonds;
        Stroke stroke = port_stroke(dae, b, dimension);
        if (port_role(graph, b) == ROLE_OUT) {
            out_text(out, "  ");
            print_dot_id(graph, bond->component, out);
            out_printf(out, " -> n%u", bond->junction);
            stroke = stroke == STROKE_HEAD ? STROKE_TAIL : stroke == STROKE_TAIL ? STROKE_HEAD : STROKE_NONE;
        } else {
            out_printf(out, "  n%u -> ", bond->junction);
            print_dot_id(graph, bond->component, out);
        }
        print_dot_edge_style(dimension, stroke, out);
    }
}

void
graph_print_dot(const Dae *dae, Out *out)
{
    Graph graph = open_graph(dae);
    out_text(out, "digraph bonds {\n  rankdir=LR; nodesep=0.35; ranksep=0.45;\n"
                  "  node [shape=plaintext, fontname=\"Helvetica\", fontsize=14, margin=0.05, height=0.3, "
                  "width=0.3];\n"
                  "  edge [arrowsize=0.9, fontname=\"Helvetica\", fontsize=10];\n");
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (!graph.uses[i].bonds)
            continue;
        if (!is_junction(dae, i))
            print_dot_component(&graph, i, out);
        else if (!is_plain(&graph, i))
            out_printf(out, "  n%u [label=<<b>%s</b>>];\n", i,
                       graph_kind_text((NodeKind)dae->nodes.at[i].kind));
    }
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (graph.uses[i].bonds && is_junction(dae, i) && is_plain(&graph, i))
            print_dot_plain(&graph, i, out);
    print_dot_bonds(&graph, out);
    out_text(out, "}\n");
    close_graph(&graph);
}

// --- JSON

static void
print_json_bond(const Dae *dae, const Bond *bond, Out *out)
{
    static const char *const from[] = {"unknown", "component", "junction"};
    Out name = {0};
    out_printf(out, "{\"component\": %u, \"junction\": %u, \"port\": ", bond->component, bond->junction);
    dae_inst_path(dae, dae->connectors.at[bond->connector].inst, &name);
    out_json(out, name.text);
    name.length = 0;
    out_text(out, ", \"flow\": ");
    print_flow(dae, bond, &name);
    out_json(out, name.text);
    name.length = 0;
    out_text(out, ", \"effort\": ");
    dae_var_name(dae, bond->effort, &name);
    out_json(out, name.text);
    out_printf(out, ", \"effort_from\": \"%s\"}", from[bond->effort_from]);
    out_free(&name);
}

void
graph_print_json(const Dae *dae, Out *out)
{
    Graph graph = open_graph(dae);
    out_text(out, "{\"model\": ");
    out_json(out, sym_text(dae->syms, dae->name));
    out_text(out, ",\n \"nodes\": [");
    const char *comma = "";
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        if (!graph.uses[i].bonds)
            continue;
        Out name = {0};
        print_node_name(&graph, i, &name);
        out_printf(out, "%s\n  {\"id\": %u, \"kind\": \"%s\", \"name\": ", comma, i,
                   graph_kind_text((NodeKind)dae->nodes.at[i].kind));
        out_json(out, name.text);
        out_text(out, ", \"class\": ");
        Sym class_name = dae->insts.at[dae->nodes.at[i].inst].class_name;
        out_json(out, is_junction(dae, i) ? "" : sym_text(dae->syms, class_name));
        out_char(out, '}');
        out_free(&name);
        comma = ",";
    }
    out_text(out, "],\n \"bonds\": [");
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        out_text(out, b ? ",\n  " : "\n  ");
        print_json_bond(dae, &dae->bonds.at[b], out);
    }
    out_text(out, "]}\n");
    close_graph(&graph);
}

// --- SVG

// Runs dot with `source` as input and `result` as output; 0, an errno, or -1 when it ran and failed.
static int
run_dot(FILE *source, FILE *result)
{
    char *arguments[] = {"dot", "-Tsvg", NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    posix_spawn_file_actions_adddup2(&actions, fileno(source), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(result), STDOUT_FILENO);
    pid_t child;
    error = posix_spawnp(&child, "dot", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return error;
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -1;
}

static void
read_all(FILE *file, Out *out)
{
    char buffer[4096];
    size_t n;
    rewind(file);
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
        out_bytes(out, buffer, n);
}

bool
graph_render_svg(const Dae *dae, Out *out, Out *why)
{
    // Files instead of pipes: neither side can block the other, whatever the size.
    FILE *source = tmpfile(), *result = tmpfile();
    int error = source && result ? 0 : errno;
    if (!error) {
        Out dot = {0};
        graph_print_dot(dae, &dot);
        error = out_flush(&dot, source);
        out_free(&dot);
    }
    if (!error && (fflush(source) || fseek(source, 0, SEEK_SET)))
        error = errno;
    if (!error)
        error = run_dot(source, result);
    if (!error)
        read_all(result, out);
    else if (error == ENOENT)
        out_text(why, "drawing needs Graphviz: the program 'dot' was not found; "
                      "--format=dot needs no other program");
    else
        out_printf(why, "Graphviz could not draw the graph: %s",
                   error < 0 ? "'dot' reported an error" : strerror(error));
    if (source)
        fclose(source);
    if (result)
        fclose(result);
    return !error;
}
