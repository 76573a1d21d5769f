// graph_draw.c: drawings of the multibond graph, by Graphviz.
//
// Purpose: a picture that a reader of bond graphs knows how to read.
// Method: drawings follow the canonical form of bond graphs: a two-terminal element that hangs between two common-flow
// junctions carries one effort, so it is drawn on a 0-junction of its own (dually for circuits); a junction of two bonds is
// no junction but a bond. A multibond is a double line; where the causality of its scalar bonds differs, one line per
// causality. A body is a 1-junction with I, MGY and Se, a constraint a 0-junction with its transformers and closures
// (Kosenko 2021, Figure 2); graphs of many components show each of them as one box. Components of one composite stand in
// one frame. graph_layout.c makes a picture of it.
// Contract: graph.h. Complexity: linear, but for Graphviz itself.
#include "ir/base/sets.h"
#include "ir/structure/graph_paths.h"
#include "ir/view/graph_inner.h"

#include <string.h>

enum {
    DETAILED_MAX = 8,     // bodies and constraints of a graph that shows what they are made of
    ROW_LEVELS = 18,      // a long graph is folded into rows of so many nodes
    LIMITED_NODES = 100   // from so many on, layers are not improved for as long as there is something to improve
};

#define COLOR_LOOP "#d97706"
#define COLOR_DERIVATIVE "#c0152f"
#define COLOR_SURPLUS "#a21caf"
#define COLOR_NAME "#1f4e79"
#define COLOR_NOTE "#52606d"

typedef struct Drawing {
    Graph graph;
    bool detailed;
    bool full;       // junctions of two bonds are drawn
    bool canonical;  // closures of constraints have junctions of their own
    U32Vec host;     // per node: of a 1-junction the body whose own junction it is, or NONE
    U32Vec own;      // per node: of those that hang on junctions of their own the first that has the same one (sets.h)
    U32Vec row;      // per node: the line of the drawing that it stands in
    bool has_loop, has_derivative, has_redundant, has_multibond, has_memory, has_other, has_axes;
} Drawing;

static NodeKind
kind_of(const Drawing *drawing, uint32_t node)
{
    return (NodeKind)drawing->graph.dae->nodes.at[node].kind;
}

// A two-terminal element between junctions of the kind that shares what it does not: drawn on a junction of
// its own.
static bool
hangs(const Drawing *drawing, uint32_t node)
{
    const NodeUse *use = &drawing->graph.uses[node];
    switch (kind_of(drawing, node)) {
    case NODE_I: case NODE_C: case NODE_R: case NODE_SE: case NODE_SF: case NODE_MEMORY: case NODE_COMPONENT:
        return use->ports == 2 && use->bonds == 2;
    default:
        return false;
    }
}

static bool
is_detailed(const Drawing *drawing, uint32_t node)
{
    NodeKind kind = kind_of(drawing, node);
    return drawing->detailed && (kind == NODE_BODY || kind == NODE_CONSTRAINT);
}

// Power passes through a two-port from its first port to its last. Reversing both a common effort (flow) and
// its conjugate changes neither the element's power nor its law's form, so this only fixes how it is drawn.
typedef enum Role { ROLE_ANY, ROLE_IN, ROLE_OUT } Role;

static Role
port_role(const Drawing *drawing, uint32_t bond)
{
    uint32_t node = drawing->graph.dae->bonds.at[bond].component;
    const NodeUse *use = &drawing->graph.uses[node];
    NodeKind kind = kind_of(drawing, node);
    bool passes = (use->ports == 2 && (kind == NODE_TF || kind == NODE_GY)) || (kind == NODE_CONSTRAINT && use->first != use->last);
    if (!passes && !hangs(drawing, node))
        return ROLE_ANY;
    return bond == use->first ? ROLE_IN : bond == use->last ? ROLE_OUT : ROLE_ANY;
}

// The name in dot of what a component's outer bond ends at; `bond` is the first of its port.
static void
print_end(Drawing *drawing, uint32_t bond, Out *out)
{
    uint32_t node = drawing->graph.dae->bonds.at[bond].component;
    uint8_t bits = drawing->graph.dae->nodes.at[node].parts.bits;
    char part = hangs(drawing, node) ? 's' : 'n';
    if (is_detailed(drawing, node)) {
        const NodeUse *use = &drawing->graph.uses[node];
        bool first = bond == use->first, last = bond == use->last || kind_of(drawing, node) == NODE_BODY;
        part = first && bits & PART_ARM_A ? 'a' : !first && last && bits & PART_ARM_B ? 'b'
               : !first && !last && bits & PART_TURN ? 't' : 'j';
    }
    out_printf(out, "%c%u", part, part == 's' ? sets_find(&drawing->own, node) : node);
}

// A junction of two ports is a plain bond, unless power would have to leave (or enter) it both ways.
static bool
is_plain(const Drawing *drawing, uint32_t node)
{
    const NodeUse *use = &drawing->graph.uses[node];
    const Bond *bonds = drawing->graph.dae->bonds.at;
    if (drawing->full || use->ports != 2 || bonds[use->first].component == bonds[use->last].component)
        return false;
    Role role = port_role(drawing, use->first);
    return role == ROLE_ANY || role != port_role(drawing, use->last);
}

static bool
is_plain_junction(const Drawing *drawing, uint32_t node)
{
    return dae_is_junction(drawing->graph.dae, node) && is_plain(drawing, node);
}

// Elements in a row, with a junction of two bonds between them, have what they share in common: their own junctions are equal.
static void
join_own_junctions(Drawing *drawing)
{
    const Dae *dae = drawing->graph.dae;
    sets_grow(&drawing->own, dae->nodes.n);
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        const NodeUse *use = &drawing->graph.uses[i];
        if (!use->bonds || !is_plain_junction(drawing, i))
            continue;
        uint32_t first = dae->bonds.at[use->first].component, last = dae->bonds.at[use->last].component;
        if (hangs(drawing, first) && hangs(drawing, last))
            sets_join(&drawing->own, first, last);
    }
}

// The junction of a body that moves with what meets there is the body's own: equal adjacent junctions are one.
static void
find_hosts(Drawing *drawing)
{
    const Dae *dae = drawing->graph.dae;
    vec_fill(&drawing->host, dae->nodes.n, NONE);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t *host = &drawing->host.at[bond->junction];
        if (bond->scalar || *host != NONE || kind_of(drawing, bond->component) != NODE_BODY || drawing->graph.uses[bond->component].ports != 1
            || kind_of(drawing, bond->junction) != NODE_ONE || is_plain(drawing, bond->junction) || drawing->full
            || dae->nodes.at[bond->component].parts.bits & PART_ARM_A)
            continue;
        *host = bond->component;
        drawing->row.at[bond->junction] = drawing->row.at[bond->component]; // it is drawn where the body is
    }
}

static void
print_junction(const Drawing *drawing, uint32_t junction, Out *out)
{
    uint32_t host = drawing->host.at[junction];
    out_printf(out, "%c%u", host != NONE && drawing->detailed ? 'j' : 'n', host != NONE ? host : junction);
}

// --- bonds

typedef enum Stroke { STROKE_NONE, STROKE_TAIL, STROKE_HEAD } Stroke;

static Stroke
reversed(Stroke stroke)
{
    return stroke == STROKE_HEAD ? STROKE_TAIL : stroke == STROKE_TAIL ? STROKE_HEAD : STROKE_NONE;
}

// fold: a bond between two rows of the drawing. `axes`: those of the scalar bonds, beside their number; or NULL.
static void
print_labelled(uint32_t dimension, Stroke stroke, uint8_t marks, bool fold, const char *axes, Out *out)
{
    static const char *const strokes[] = {
        [STROKE_NONE] = "arrowhead=lvee", [STROKE_TAIL] = "dir=both, arrowtail=tee, arrowhead=lvee",
        [STROKE_HEAD] = "arrowhead=teelvee"
    };
    const char *color = marks & MARK_SURPLUS ? COLOR_SURPLUS : marks & MARK_DERIVATIVE ? COLOR_DERIVATIVE
                        : marks & MARK_LOOP ? COLOR_LOOP : "black";
    out_printf(out, " [%s%s", strokes[stroke], fold ? GRAPH_FOLD : "");
    // The second colour is that of what stands at the tail, so it cannot be the gap between the lines.
    if (dimension > 1)
        out_printf(out, ", penwidth=0.8, color=\"%s:%s\"" GRAPH_BESIDE "<font color=\"%s\">%u</font>", color, color, color,
                   dimension);
    else if (marks)
        out_printf(out, ", color=\"%s\"", color);
    if (axes && axes[0])
        out_printf(out, "%s%s", dimension > 1 ? "<br/>" : GRAPH_BESIDE, axes);
    out_text(out, dimension > 1 || (axes && axes[0]) ? ">" : "");
    out_text(out, "];\n");
}

static void
print_style(uint32_t dimension, Stroke stroke, uint8_t marks, bool fold, Out *out)
{
    print_labelled(dimension, stroke, marks, fold, NULL, out);
}

// The scalar bonds of a port from `first` on whose effort comes from the same side, and their marks.
static uint32_t
count_causality(const Drawing *drawing, uint32_t first, uint32_t dimension, uint8_t from, uint8_t *marks)
{
    uint32_t count = 0;
    *marks = 0;
    for (uint32_t k = 0; k < dimension; k++)
        if (drawing->graph.dae->bonds.at[first + k].effort_from == from) {
            count++;
            *marks |= drawing->graph.marks.at[first + k];
        }
    return count;
}

// The bond between a tail and a head, once per causality. The strokes are those of the port `first`; `swap`: its component is
// the tail.
static void
print_bond(Drawing *drawing, const char *tail, const char *head, uint32_t first, uint32_t dimension, bool swap, bool fold,
           Out *out)
{
    static const Stroke strokes[] = {STROKE_NONE, STROKE_TAIL, STROKE_HEAD};
    for (uint8_t from = 0; from < 3; from++) {
        uint8_t marks;
        uint32_t count = count_causality(drawing, first, dimension, from, &marks);
        if (!count)
            continue;
        drawing->has_loop |= marks == MARK_LOOP;
        drawing->has_derivative |= (marks & MARK_DERIVATIVE) != 0;
        drawing->has_multibond |= count > 1;
        out_printf(out, "  %s -> %s", tail, head);
        print_style(count, swap ? reversed(strokes[from]) : strokes[from], marks, fold, out);
    }
}

static const char *
end_text(Drawing *drawing, uint32_t bond, Out *out)
{
    out->length = 0;
    print_end(drawing, bond, out);
    return out->text;
}

static bool
is_source(const Dae *dae, uint32_t node)
{
    return dae->nodes.at[node].kind == NODE_SE || dae->nodes.at[node].kind == NODE_SF;
}

// The bond that a junction of two ports is: drawn the way power passes, otherwise from a source to what it
// drives.
static void
print_plain(Drawing *drawing, uint32_t junction, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    const NodeUse *use = &drawing->graph.uses[junction];
    if (hangs(drawing, dae->bonds.at[use->first].component) && hangs(drawing, dae->bonds.at[use->last].component))
        return; // both are on one junction
    Role first = port_role(drawing, use->first), last = port_role(drawing, use->last);
    bool free = first == ROLE_ANY && last == ROLE_ANY;
    bool swap = first == ROLE_IN || last == ROLE_OUT
                || (free && !is_source(dae, dae->bonds.at[use->first].component)
                    && is_source(dae, dae->bonds.at[use->last].component));
    uint32_t tail = swap ? use->last : use->first, head = swap ? use->first : use->last;
    Out from = {0}, to = {0};
    end_text(drawing, tail, &from);
    end_text(drawing, head, &to);
    bool fold = drawing->row.at[dae->bonds.at[tail].component] != drawing->row.at[dae->bonds.at[head].component];
    print_bond(drawing, from.text, to.text, head, use->bonds / 2, false, fold, out);
    out_free(&from);
    out_free(&to);
}

static void
print_bonds(Drawing *drawing, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    Out end = {0}, junction = {0};
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        if (bond->scalar || is_plain(drawing, bond->junction) || drawing->host.at[bond->junction] == bond->component)
            continue;
        uint32_t dimension = bond_type(dae, bond)->n_bonds;
        end_text(drawing, b, &end);
        junction.length = 0;
        print_junction(drawing, bond->junction, &junction);
        bool gives = is_source(dae, bond->component) && drawing->graph.uses[bond->component].ports == 1;
        bool out_of = port_role(drawing, b) == ROLE_OUT || gives;
        bool fold = drawing->row.at[bond->component] != drawing->row.at[bond->junction];
        print_bond(drawing, out_of ? end.text : junction.text, out_of ? junction.text : end.text, b, dimension, out_of, fold,
                   out);
    }
    out_free(&end);
    out_free(&junction);
}

// --- components

static void
print_class(const Drawing *drawing, uint32_t node, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    out_html(out, sym_text(dae->syms, dae->insts.at[dae->nodes.at[node].inst].class_name));
}

// The outermost component that a node lies in when that is not the node itself, else 0.
static uint32_t
composite_of(const Dae *dae, uint32_t node)
{
    uint32_t inst = dae->nodes.at[node].inst, outermost = inst;
    while (outermost && dae->insts.at[outermost].parent)
        outermost = dae->insts.at[outermost].parent;
    return outermost == inst && !dae_is_junction(dae, node) ? 0 : outermost;
}

// Within the frame of a composite the name does not begin with the composite's.
static void
print_name(const Drawing *drawing, uint32_t node, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    uint32_t composite = composite_of(dae, node);
    Out name = {0}, frame = {0};
    graph_print_name(&drawing->graph, node, &name);
    if (composite)
        dae_inst_path(dae, composite, &frame);
    bool inside = frame.length && !strncmp(name.text, frame.text, frame.length) && name.text[frame.length] == '.';
    out_html(out, name.text + (inside ? frame.length + 1 : 0));
    out_free(&name);
    out_free(&frame);
}

// What a reader who points at it is told: the full name and the class.
static void
print_tooltip(const Drawing *drawing, uint32_t node, Out *out)
{
    Out name = {0};
    graph_print_name(&drawing->graph, node, &name);
    out_html(out, name.text);
    out_text(out, ": ");
    out_free(&name);
    print_class(drawing, node, out);
}

static const char *
letter_color(NodeKind kind)
{
    switch (kind) {
    case NODE_I: case NODE_C: case NODE_BODY: return "#1d4ed8";
    case NODE_MEMORY: return "#7c3aed";
    case NODE_R: return "#92400e";
    case NODE_SE: case NODE_SF: return "#15803d";
    default: return "black";
    }
}

static void
print_letter(const Drawing *drawing, uint32_t node, Out *out)
{
    NodeKind kind = kind_of(drawing, node);
    bool weight = kind == NODE_I && drawing->graph.dae->nodes.at[node].parts.bits & PART_WEIGHT;
    out_printf(out, "  n%u [label=<<font color=\"%s\"><b>", node, letter_color(kind));
    node_print_symbol(&drawing->graph.dae->nodes.at[node], out);
    out_printf(out, "</b></font>%s<br/><font point-size=\"10\" color=\"" COLOR_NAME "\">",
               weight ? " <font color=\"#15803d\"><b>Se</b></font>" : "");
    print_name(drawing, node, out);
    out_text(out, "</font>>, tooltip=\"");
    print_tooltip(drawing, node, out);
    out_text(out, "\"];\n");
}

// The element's own junction and the bond between them.
static void
print_hanging(Drawing *drawing, uint32_t node, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    const NodeUse *use = &drawing->graph.uses[node];
    const Bond *first = &dae->bonds.at[use->first], *last = &dae->bonds.at[use->last];
    bool on_zero = dae->nodes.at[first->junction].kind == NODE_ONE;
    uint32_t own = sets_find(&drawing->own, node);
    if (own == node)
        out_printf(out, "  s%u [label=<<b>%c</b>>];\n", node, on_zero ? '0' : '1');
    out_printf(out, "  s%u -> n%u", own, node);
    // A common effort comes from the element when both ports hand it out, a common flow when both take it in.
    uint8_t all = on_zero ? 1 : 2;
    Stroke when_all = on_zero ? STROKE_TAIL : STROKE_HEAD, otherwise = reversed(when_all);
    bool known = first->effort_from && last->effort_from;
    bool element = first->effort_from == all && last->effort_from == all;
    uint8_t marks = drawing->graph.marks.at[use->first] | drawing->graph.marks.at[use->last];
    drawing->has_loop |= marks == MARK_LOOP;
    drawing->has_derivative |= (marks & MARK_DERIVATIVE) != 0;
    print_style(1, !known ? STROKE_NONE : element ? when_all : otherwise, marks, false, out);
}

static void
begin_frame(const Drawing *drawing, uint32_t node, const char *fill, Out *out)
{
    out_printf(out, "  subgraph cluster_n%u {\n  style=\"rounded,filled\"; " GRAPH_TITLE "; fillcolor=\"%s\"; color=\"#9aa5b1\"; "
               "tooltip=\"", node, fill);
    print_tooltip(drawing, node, out);
    out_text(out, "\"; margin=6; label=<<font point-size=\"10\" color=\"" COLOR_NAME "\">");
    print_name(drawing, node, out);
    out_text(out, "</font>>;\n");
}

static void
print_part(char part, uint32_t node, const char *color, const char *text, Out *out)
{
    out_printf(out, "  %c%u [label=<<font color=\"%s\"><b>%s</b></font>>];\n", part, node, color, text);
}

static void
print_inner(Drawing *drawing, char tail, char head, uint32_t node, uint32_t dimension, Stroke stroke, uint8_t marks, Out *out)
{
    drawing->has_multibond |= dimension > 1;
    out_printf(out, "  %c%u -> %c%u", tail, node, head, node);
    print_style(dimension, stroke, marks, false, out);
}

// The bond at what closes scalar bonds says along and about which axes they are. Which conditions of a loop are surplus is a
// choice: their axes are not told.
static void
print_closing(Drawing *drawing, char tail, char head, uint32_t node, const char *letters, uint32_t dimension, Stroke stroke, uint8_t marks, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    Out axes = {0}, text = {0};
    if (graph_count_closures(dae, node, letters) == dimension) {
        graph_print_axes(dae, node, letters, "\n", &axes);
        for (const char *at = axes.length ? axes.text : ""; *at;) {
            size_t line = strcspn(at, "\n");
            out_html_bytes(&text, at, line);
            out_text(&text, at[line] ? "<br/>" : "");
            at += line + (at[line] != 0);
        }
    }
    drawing->has_multibond |= dimension > 1;
    drawing->has_axes |= text.length > 0;
    out_printf(out, "  %c%u -> %c%u", tail, node, head, node);
    print_labelled(dimension, stroke, marks, false, text.length ? text.text : NULL, out);
    out_free(&axes);
    out_free(&text);
}

// A bond inside a frame with the causality of a port.
static void
print_inner_port(Drawing *drawing, char tail, char head, uint32_t node, uint32_t first, bool swap, Out *out)
{
    Out from = {0}, to = {0};
    out_printf(&from, "%c%u", tail, node);
    out_printf(&to, "%c%u", head, node);
    uint32_t dimension = bond_type(drawing->graph.dae, &drawing->graph.dae->bonds.at[first])->n_bonds;
    print_bond(drawing, from.text, to.text, first, dimension, swap, false, out);
    out_free(&from);
    out_free(&to);
}

// A 1-junction with I, gyroscopic terms and weight.
static void
print_body(Drawing *drawing, uint32_t node, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    const NodeUse *use = &drawing->graph.uses[node];
    uint8_t bits = dae->nodes.at[node].parts.bits;
    uint32_t dimension = bond_type(dae, &dae->bonds.at[use->first])->n_bonds;
    begin_frame(drawing, node, "#e8f0fa", out);
    print_part('j', node, "black", "1", out);
    print_part('i', node, letter_color(NODE_I), "I", out);
    print_inner_port(drawing, 'j', 'i', node, use->first, false, out);
    if (bits & PART_ARM_A) {
        print_part('a', node, "black", "MTF", out);
        print_inner_port(drawing, 'a', 'j', node, use->first, false, out);
    }
    if (bits & PART_GYRO) {
        print_part('g', node, "black", "MGY", out);
        print_inner(drawing, 'j', 'g', node, dimension > 3 ? 3 : dimension, STROKE_TAIL, 0, out);
    }
    if (bits & PART_WEIGHT) {
        print_part('w', node, letter_color(NODE_SE), "Se", out);
        print_inner(drawing, 'w', 'j', node, dimension > 3 ? 3 : dimension > 1 ? 2 : 1, STROKE_HEAD, 0, out);
    }
    out_text(out, "  }\n");
}

// A bond from the junction or transformer `hub` to what closes so many of the constraint's scalar bonds. In the canonical
// form a 1-junction, the component of the motion, and a 0-junction for the element stand between.
static void
print_closure(Drawing *drawing, char hub, char part, uint32_t node, const char *text, uint32_t count, Stroke stroke, uint8_t marks,
              Out *out)
{
    static const char hubs[][3] = {{'f', 'F', 'g'}, {'r', 'R', 'q'}, {'v', 'V', 'h'}, {'e', 'E', 'd'}, {'x', 'X', 'y'}, {'u', 'U', 'w'}};
    if (!count)
        return;
    print_part(part, node, marks & MARK_SURPLUS ? COLOR_SURPLUS : "black", text, out);
    for (size_t i = 0; i < sizeof hubs / sizeof *hubs && drawing->canonical; i++) {
        if (hubs[i][0] != part)
            continue;
        print_part(hubs[i][1], node, "black", "1", out);
        print_part(hubs[i][2], node, "black", "0", out);
        print_inner(drawing, hub, hubs[i][1], node, count, stroke, marks, out);
        print_inner(drawing, hubs[i][1], hubs[i][2], node, count, stroke, marks, out);
        hub = hubs[i][2];
    }
    print_closing(drawing, hub, part, node, text, count, stroke, marks, out);
}

// A transformer of a constraint: it shifts to the point of contact from the end that is named, or turns to axes.
static void
print_arm(char part, uint32_t node, const char *what, Out *out)
{
    out_printf(out, "  %c%u [label=<<b>MTF</b><br/><font point-size=\"10\" color=\"" COLOR_NAME "\">", part, node);
    out_html(out, what);
    out_text(out, "</font>>];\n");
}

// A 0-junction with arms on both sides, and a turn to axes in which every scalar bond is closed. Against the ground, which
// takes no part in the motion, there is one side only.
static void
print_constraint(Drawing *drawing, uint32_t node, Out *out)
{
    const NodeParts *parts = &drawing->graph.dae->nodes.at[node].parts;
    const NodeUse *use = &drawing->graph.uses[node];
    uint32_t dimension = bond_type(drawing->graph.dae, &drawing->graph.dae->bonds.at[use->first])->n_bonds;
    begin_frame(drawing, node, drawing->graph.redundant.at[node] ? "#f9e8fb" : "#fdf3dc", out);
    print_part('j', node, "black", "0", out);
    if (parts->bits & PART_ARM_A) {
        print_arm('a', node, graph_port_name(&drawing->graph, use->first), out);
        print_inner_port(drawing, 'a', 'j', node, use->first, false, out);
    }
    if (parts->bits & PART_ARM_B) {
        print_arm('b', node, graph_port_name(&drawing->graph, use->last), out);
        print_inner_port(drawing, 'j', 'b', node, use->last, true, out);
    }
    char hub = 'j';
    if (parts->bits & PART_TURN) {
        hub = 't';
        print_arm('t', node, "axes", out);
        if (parts->fc)
            print_inner(drawing, 'j', 't', node, parts->fc, STROKE_HEAD, 0, out);
        if (parts->fc < dimension)
            print_inner(drawing, 'j', 't', node, dimension - parts->fc, STROKE_TAIL, 0, out);
    }
    uint32_t given = graph_count_closures(drawing->graph.dae, node, "Sf");
    print_closure(drawing, hub, 'f', node, "FC", parts->fc - given - parts->surplus, STROKE_HEAD, 0, out);
    print_closure(drawing, hub, 'v', node, "Sf", given, STROKE_HEAD, 0, out);
    print_closure(drawing, hub, 'r', node, "FC", parts->surplus, STROKE_HEAD, MARK_SURPLUS, out);
    print_closure(drawing, hub, 'e', node, "EC", parts->ec, STROKE_TAIL, 0, out);
    for (uint32_t k = 0; k < GRAPH_ELEMENTS; k++) {
        const char *letters;
        uint32_t count = graph_elements(drawing->graph.dae, node, k, &letters);
        print_closure(drawing, hub, k ? 'u' : 'x', node, letters, count, STROKE_TAIL, 0, out);
    }
    out_text(out, "  }\n");
}

// A body on whose junction its own bond is not drawn says in its box that storage depends on others.
static bool
is_dependent(const Drawing *drawing, uint32_t node)
{
    const NodeUse *use = &drawing->graph.uses[node];
    bool dependent = false;
    for (uint32_t b = use->first; b < use->first + use->bonds && drawing->host.at[drawing->graph.dae->bonds.at[use->first].junction] == node; b++)
        dependent |= (drawing->graph.marks.at[b] & MARK_DERIVATIVE) != 0;
    return dependent;
}

// The same as one box.
static void
print_box(Drawing *drawing, uint32_t node, Out *out)
{
    const NodeParts *parts = &drawing->graph.dae->nodes.at[node].parts;
    bool body = kind_of(drawing, node) == NODE_BODY;
    out_printf(out, "  n%u [shape=box, style=\"rounded,filled\", color=\"#9aa5b1\", fillcolor=\"%s\", margin=\"0.08,0.04\", "
               "tooltip=\"", node, body ? "#e8f0fa" : drawing->graph.redundant.at[node] ? "#f9e8fb" : "#fdf3dc");
    print_tooltip(drawing, node, out);
    out_printf(out, "\", label=<<b>%c</b> <font point-size=\"10\">", body ? '1' : '0');
    bool dependent = body && is_dependent(drawing, node);
    drawing->has_derivative |= dependent;
    if (body)
        out_printf(out, "%sI%s%s%s", dependent ? "<font color=\"" COLOR_DERIVATIVE "\"><b>" : "", dependent ? "</b></font>" : "",
                   parts->bits & PART_GYRO ? "&#160;MGY" : "", parts->bits & PART_WEIGHT ? "&#160;Se" : ""); // readers of SVG drop a common blank
    if (!body && parts->fc > parts->surplus)
        out_printf(out, "&#160;%u FC", parts->fc - parts->surplus);
    if (!body && parts->surplus)
        out_printf(out, "&#160;<font color=\"" COLOR_SURPLUS "\">%u FC</font>", parts->surplus);
    if (!body && parts->ec)
        out_printf(out, "&#160;%u EC", parts->ec);
    for (uint32_t k = 0; !body && k < GRAPH_ELEMENTS; k++) {
        const char *letters;
        uint32_t count = graph_elements(drawing->graph.dae, node, k, &letters);
        if (count)
            out_printf(out, "&#160;%u %s", count, letters);
    }
    if (!body && parts->drives)
        out_printf(out, "&#160;%u drive%s", parts->drives, parts->drives == 1 ? "" : "s");
    out_text(out, "</font><br/><font point-size=\"10\" color=\"" COLOR_NAME "\">");
    print_name(drawing, node, out);
    out_text(out, "</font>>];\n");
}

static void
print_component(Drawing *drawing, uint32_t node, Out *out)
{
    NodeKind kind = kind_of(drawing, node);
    drawing->has_redundant |= drawing->graph.redundant.at[node];
    drawing->has_memory |= kind == NODE_MEMORY;
    drawing->has_other |= kind == NODE_COMPONENT && !drawing->graph.dae->nodes.at[node].parts.letters;
    if (kind != NODE_BODY && kind != NODE_CONSTRAINT) {
        print_letter(drawing, node, out);
        if (hangs(drawing, node))
            print_hanging(drawing, node, out);
    } else if (!drawing->detailed)
        print_box(drawing, node, out);
    else if (kind == NODE_BODY)
        print_body(drawing, node, out);
    else
        print_constraint(drawing, node, out);
}

// --- frames of composite components

// The row of a node reached from `from`: by its distance from where the graph is entered; what a composite holds stands in
// one row, and so does an end of the graph with what it hangs on.
static uint32_t
row_reached(const Drawing *drawing, uint32_t node, uint32_t from, uint32_t level)
{
    const NodeUse *use = &drawing->graph.uses[node];
    if (drawing->detailed)
        return 0;
    return from != NONE && use->ports == 1 && !dae_is_junction(drawing->graph.dae, node) ? drawing->row.at[from] : level / ROW_LEVELS;
}

static void
fold_from(Drawing *drawing, const Ways *ways, uint32_t start, U32Vec *level, U32Vec *row_of)
{
    const Dae *dae = drawing->graph.dae;
    U32Vec queue = {0}, reached_from = {0};
    vec_push(&queue, start);
    vec_push(&reached_from, NONE);
    level->at[start] = 0;
    for (uint32_t i = 0; i < queue.n; i++) {
        uint32_t node = queue.at[i], composite = composite_of(dae, node);
        uint32_t row = row_reached(drawing, node, reached_from.at[i], level->at[node]);
        if (composite && row_of->at[composite] == NONE)
            row_of->at[composite] = row;
        drawing->row.at[node] = composite ? row_of->at[composite] : row;
        for (uint32_t k = ways->start.at[node]; k < ways->start.at[node + 1]; k++) {
            const Bond *bond = &dae->bonds.at[ways->bond.at[k]];
            uint32_t other = bond->component == node ? bond->junction : bond->component;
            if (level->at[other] != NONE)
                continue;
            level->at[other] = level->at[node] + !is_plain_junction(drawing, other);
            vec_push(&queue, other);
            vec_push(&reached_from, node);
        }
    }
    vec_free(&queue);
    vec_free(&reached_from);
}

// Long graphs are folded, beginning at sources.
static void
fold(Drawing *drawing)
{
    const Dae *dae = drawing->graph.dae;
    Ways ways = ways_open(dae);
    U32Vec level = {0}, row_of = {0};
    vec_grow(&drawing->row, dae->nodes.n);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        vec_push(&level, NONE);
    for (uint32_t i = 0; i < dae->insts.n; i++)
        vec_push(&row_of, NONE);
    for (int sources = 1; sources >= 0; sources--)
        for (uint32_t i = 0; i < dae->nodes.n; i++)
            if (level.at[i] == NONE && drawing->graph.uses[i].bonds && (!sources || kind_of(drawing, i) == NODE_SF))
                fold_from(drawing, &ways, i, &level, &row_of);
    vec_free(&level);
    vec_free(&row_of);
    ways_free(&ways);
}

static void
print_node(Drawing *drawing, uint32_t node, Out *out)
{
    const Dae *dae = drawing->graph.dae;
    if (dae_is_junction(dae, node) && (is_plain(drawing, node) || drawing->host.at[node] != NONE))
        return;
    uint32_t composite = composite_of(dae, node);
    if (composite) {
        out_printf(out, "  subgraph cluster_c%u { style=\"dashed,rounded\"; labeljust=l; color=\"#9aa5b1\"; margin=6; label=<<font "
                   "point-size=\"11\" color=\"#52606d\">", composite);
        Out path = {0};
        dae_inst_path(dae, composite, &path);
        out_html(out, path.text);
        out_free(&path);
        out_text(out, "</font>>;\n");
    }
    if (dae_is_junction(dae, node))
        out_printf(out, "  n%u [label=<<b>%s</b>>];\n", node, node_kind_text(kind_of(drawing, node)));
    else
        print_component(drawing, node, out);
    if (composite)
        out_text(out, "  }\n");
}

// --- the whole

// One line each: what is clipped at the sides of a narrow drawing cannot be read.
static void
print_legend(const Drawing *drawing, Out *out)
{
    const struct { bool there; const char *color, *text; } lines[] = {
        {!drawing->graph.dae->bonds.n, COLOR_NOTE, "no bonds: nothing in this model<br/>is connected by power"},
        {drawing->graph.dae->bonds.n, COLOR_NOTE, "half arrow: positive power"},
        {drawing->graph.dae->bonds.n, COLOR_NOTE, "stroke: where the effort arrives"},
        {drawing->has_multibond, COLOR_NOTE, "double line: so many scalar bonds"},
        {drawing->has_axes, COLOR_NOTE, "v, ω: translation along, rotation about"},
        {drawing->has_memory, COLOR_NOTE, "M(a,b): memory element, Dᵃp = g(Dᵇx)"},
        {drawing->has_other, COLOR_NOTE, "*: element of another kind"},
        {drawing->has_loop, COLOR_LOOP, "<b>in an algebraic loop</b>"},
        {drawing->has_derivative, COLOR_DERIVATIVE, "<b>storage in derivative causality</b>"},
        {drawing->has_redundant, COLOR_SURPLUS, "<b>conditions that follow from others</b>"},
    };
    out_text(out, "  labelloc=b; labeljust=l; fontsize=10; label=<");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].there)
            out_printf(out, "<font color=\"%s\">%s</font><br align=\"left\"/>", lines[i].color, lines[i].text);
    out_text(out, ">;\n");
}

static bool
is_small(const Drawing *drawing)
{
    const Dae *dae = drawing->graph.dae;
    uint32_t boxes = 0;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        boxes += drawing->graph.uses[i].bonds && (kind_of(drawing, i) == NODE_BODY || kind_of(drawing, i) == NODE_CONSTRAINT);
    return boxes <= DETAILED_MAX;
}

void
graph_print_dot(const Dae *model, const Problem *problem, uint32_t form, Out *out)
{
    Drawing drawing = {.graph = graph_open(model, problem, form), .canonical = form & GRAPH_CANONICAL, .full = form & GRAPH_FULL};
    const Dae *dae = drawing.graph.dae;
    drawing.detailed = drawing.canonical || is_small(&drawing);
    fold(&drawing);
    join_own_junctions(&drawing);
    find_hosts(&drawing);
    out_text(out, "digraph bonds {\n  " GRAPH_LAYERS "; nodesep=0.3; ranksep=0.4; fontname=\"Helvetica\";\n"
                  "  node [shape=plaintext, fontname=\"Helvetica\", fontsize=14, margin=0.05, height=0.3, "
                  "width=0.3];\n"
                  "  edge [arrowsize=0.9, fontname=\"Helvetica\", fontsize=10];\n");
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        drawn += drawing.graph.uses[i].bonds > 0;
    if (drawn >= LIMITED_NODES)
        out_text(out, "  nslimit=1; nslimit1=1;\n");
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (drawing.graph.uses[i].bonds)
            print_node(&drawing, i, out);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (drawing.graph.uses[i].bonds && dae_is_junction(dae, i) && is_plain(&drawing, i))
            print_plain(&drawing, i, out);
    print_bonds(&drawing, out);
    print_legend(&drawing, out);
    out_text(out, "}\n");
    vec_free(&drawing.row);
    vec_free(&drawing.own);
    vec_free(&drawing.host);
    graph_close(&drawing.graph);
}
