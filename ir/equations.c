// equations.c: the solved equations by node of the bond graph.
//
// Purpose: what the compiler made of a component, under the component's name.
// Method: assignments and residuals of the causal forms are sorted by the node that owns the equation they come from (a
// counting sort keeps the order of evaluation), states and aliases by the component that declares the variable.
// Contract: equations.h. Complexity: linear.
#include "ir/equations.h"

#include <stdio.h>
#include <string.h>

#include "ir/listing.h"
#include "ir/way.h"

typedef struct Line { // one equation of a node
    Var var;          // NONE: a residual
    Expr shape;
    uint32_t row, loop; // loop: number from 1, 0: none
} Line;

typedef VEC(Line) LineVec;

typedef struct Index { // items of node i: items[start[i] .. start[i + 1])
    U32Vec start, items;
} Index;

typedef struct View {
    Dae *dae;
    const Reduction *reduction;
    const Causal *dynamics;
    Ways ways;
    LineVec lines;
    U32Vec owner;     // per line: node
    Index by_node, states, aliases;
} View;

static void
add_line(View *view, Var var, Expr shape, uint32_t row, uint32_t equation, uint32_t loop)
{
    vec_push(&view->lines, (Line){var, shape, row, loop});
    vec_push(&view->owner, view->dae->equations.at[equation].node);
}

static void
add_lines(View *view, const Causal *causal)
{
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            const Assign *at = &causal->assigns.at[item.index];
            add_line(view, at->var, at->shape, at->row, at->equation, 0);
            continue;
        }
        const Loop *loop = &causal->loops.at[item.index];
        for (uint32_t k = 0; k < loop->n_inner; k++) {
            const Assign *at = &causal->assigns.at[loop->inner + k];
            add_line(view, at->var, at->shape, at->row, at->equation, item.index + 1);
        }
        for (uint32_t k = 0; k < loop->n; k++) {
            const Residual *at = &causal->residuals.at[loop->residual + k];
            add_line(view, NONE, at->shape, at->row, at->equation, item.index + 1);
        }
    }
}

// Sorts `keys` items by node; NONE keys are left out.
static void
make_index(const View *view, const U32Vec *owner, const U32Vec *items, Index *index)
{
    uint32_t nodes = view->dae->nodes.n;
    vec_grow(&index->start, nodes + 2);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->start.at[owner->at[i] + 2]++;
    for (uint32_t i = 0; i < nodes; i++)
        index->start.at[i + 2] += index->start.at[i + 1];
    vec_grow(&index->items, index->start.at[nodes + 1]);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->items.at[index->start.at[owner->at[i] + 1]++] = items ? items->at[i] : i;
}

static void
index_variables(View *view)
{
    const Dae *dae = view->dae;
    U32Vec states = {0}, state_owner = {0}, aliases = {0}, alias_owner = {0};
    for (Var v = 0; v < dae->nvars; v++) {
        bool negative;
        const Group *group = dae_group(dae, v);
        if (!group || group->flags & GROUP_HIDDEN || dae->var_flags.at[v] & VARF_REMOVED || dae->var_pre_of.at[v] != NONE)
            continue;
        if (v < view->reduction->state.n && view->reduction->state.at[v]) {
            vec_push(&states, v);
            vec_push(&state_owner, listing_node_of(dae, v));
        } else if (dae_alias(dae, v, &negative) != v) {
            vec_push(&aliases, v);
            vec_push(&alias_owner, listing_node_of(dae, v));
        }
    }
    make_index(view, &state_owner, &states, &view->states);
    make_index(view, &alias_owner, &aliases, &view->aliases);
    vec_free(&states);
    vec_free(&state_owner);
    vec_free(&aliases);
    vec_free(&alias_owner);
}

static View
open_view(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes)
{
    View view = {.dae = dae, .reduction = reduction, .dynamics = dynamics, .ways = ways_open(dae)};
    add_lines(&view, dynamics);
    add_lines(&view, discretes);
    make_index(&view, &view.owner, NULL, &view.by_node);
    index_variables(&view);
    return view;
}

static void
free_index(Index *index)
{
    vec_free(&index->start);
    vec_free(&index->items);
}

static void
close_view(View *view)
{
    ways_free(&view->ways);
    vec_free(&view->lines);
    vec_free(&view->owner);
    free_index(&view->by_node);
    free_index(&view->states);
    free_index(&view->aliases);
}

static bool
is_empty(const View *view, uint32_t node)
{
    const Index *parts[] = {&view->by_node, &view->states, &view->aliases};
    for (int i = 0; i < 3; i++)
        if (parts[i]->start.at[node] < parts[i]->start.at[node + 1])
            return false;
    return true;
}

// The unit of a variable; that of a derivative is the variable's per second: m/s becomes m/s2.
static void
print_unit(const Dae *dae, Var var, Out *out)
{
    uint32_t derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        derivatives++;
    }
    const Group *group = dae_group(dae, var);
    const char *unit = group && group->unit ? sym_text(dae->syms, group->unit) : "";
    if (!*unit)
        return;
    const char *slash = strchr(unit, '/');
    int exponent = 1;
    if (!derivatives)
        out_text(out, unit);
    else if (!slash)
        out_printf(out, derivatives == 1 ? "%s/s" : "%s/s%u", unit, derivatives);
    else if (!strcmp(slash, "/s") || (sscanf(slash, "/s%d", &exponent) == 1 && exponent > 0))
        out_printf(out, "%.*s/s%d", (int)(slash - unit), unit, exponent + (int)derivatives);
    else
        out_printf(out, derivatives == 1 ? "(%s)/s" : "(%s)/s%u", unit, derivatives);
}

static void
print_place(const Dae *dae, Span span, Out *out)
{
    Place place;
    if (span.hi && sources_locate(dae->sources, span.lo, &place))
        out_printf(out, "  %s:%u", place.path, place.line);
}

static void
print_variable(const Dae *dae, Var var, Out *out)
{
    Out unit = {0};
    dae_var_name(dae, var, out);
    print_unit(dae, var, &unit);
    if (unit.length)
        out_printf(out, " [%s]", unit.text);
    out_free(&unit);
}

static void
print_text_states(const View *view, uint32_t node, Out *out)
{
    uint32_t from = view->states.start.at[node], to = view->states.start.at[node + 1];
    for (uint32_t k = from; k < to; k++) {
        out_text(out, k == from ? "    state" : ",");
        out_char(out, ' ');
        print_variable(view->dae, view->states.items.at[k], out);
    }
    if (to > from)
        out_char(out, '\n');
}

static void
print_text_line(const View *view, const Line *line, Out *out)
{
    out_text(out, "    ");
    if (line->var == NONE)
        out_char(out, '0');
    else
        print_variable(view->dae, line->var, out);
    out_text(out, " = ");
    dae_print_shape(view->dae, line->shape, line->row, out);
    if (line->loop)
        out_printf(out, "   (loop %u)", line->loop);
    out_char(out, '\n');
}

static void
print_text_node(const View *view, uint32_t node, Out *out)
{
    const Dae *dae = view->dae;
    way_print_node(&view->ways, node, true, out);
    print_place(dae, dae->nodes.at[node].span, out);
    out_char(out, '\n');
    print_text_states(view, node, out);
    for (uint32_t k = view->by_node.start.at[node]; k < view->by_node.start.at[node + 1]; k++)
        print_text_line(view, &view->lines.at[view->by_node.items.at[k]], out);
    for (uint32_t k = view->aliases.start.at[node]; k < view->aliases.start.at[node + 1]; k++) {
        Var var = view->aliases.items.at[k];
        bool negative;
        Var of = dae_alias(dae, var, &negative);
        out_text(out, "    alias ");
        dae_var_name(dae, var, out);
        out_text(out, negative ? " = -" : " = ");
        dae_var_name(dae, of, out);
        out_char(out, '\n');
    }
}

static void
print_text_loops(const View *view, Out *out)
{
    const Causal *causal = view->dynamics;
    for (uint32_t i = 0; i < causal->loops.n; i++) {
        const Loop *loop = &causal->loops.at[i];
        out_printf(out, "loop %u: %s, %u equation%s, over", i + 1, loop->linear ? "linear" : "nonlinear",
                   loop->n + loop->n_inner, loop->n + loop->n_inner == 1 ? "" : "s");
        for (uint32_t k = 0; k < loop->n; k++) {
            out_text(out, k ? ", " : " ");
            dae_var_name(view->dae, causal->tears.at[loop->tear + k], out);
        }
        out_char(out, '\n');
    }
}

void
equations_print_text(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes, Out *out)
{
    View view = open_view(dae, reduction, dynamics, discretes);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (!is_empty(&view, node))
            print_text_node(&view, node, out);
    print_text_loops(&view, out);
    close_view(&view);
}

// --- JSON

static void
print_json_name(const Dae *dae, Var var, Out *out)
{
    Out name = {0};
    dae_var_name(dae, var, &name);
    out_json(out, name.text);
    out_free(&name);
}

static void
print_json_unit(const Dae *dae, Var var, Out *out)
{
    Out unit = {0};
    print_unit(dae, var, &unit);
    out_text(out, ", \"unit\": ");
    out_json(out, unit.length ? unit.text : "");
    out_free(&unit);
}

static void
print_json_line(const View *view, const Line *line, Out *out)
{
    Out text = {0};
    out_text(out, "{\"variable\": ");
    if (line->var == NONE)
        out_text(out, "null");
    else {
        print_json_name(view->dae, line->var, out);
        print_json_unit(view->dae, line->var, out);
    }
    dae_print_shape(view->dae, line->shape, line->row, &text);
    out_text(out, ", \"expression\": ");
    out_json(out, text.text);
    out_printf(out, ", \"loop\": %u}", line->loop);
    out_free(&text);
}

static void
print_json_head(const View *view, uint32_t node, Out *out)
{
    const Dae *dae = view->dae;
    const GraphNode *at = &dae->nodes.at[node];
    bool junction = at->kind == NODE_ONE || at->kind == NODE_ZERO;
    Out name = {0};
    if (junction)
        out_printf(&name, "J%u", view->ways.number.at[node]);
    else
        dae_inst_path(dae, at->inst, &name);
    out_text(out, "{\"name\": ");
    out_json(out, name.length ? name.text : "");
    out_text(out, ", \"kind\": ");
    out_json(out, way_kind_words(dae, node));
    out_text(out, ", \"class\": ");
    out_json(out, junction ? "" : sym_text(dae->syms, dae->insts.at[at->inst].class_name));
    Place place;
    if (at->span.hi && sources_locate(dae->sources, at->span.lo, &place)) {
        out_text(out, ", \"file\": ");
        out_json(out, place.path);
        out_printf(out, ", \"line\": %u", place.line);
    }
    out_free(&name);
}

static void
print_json_node(const View *view, uint32_t node, Out *out)
{
    const Dae *dae = view->dae;
    print_json_head(view, node, out);
    out_text(out, ",\n   \"states\": [");
    for (uint32_t from = view->states.start.at[node], k = from; k < view->states.start.at[node + 1]; k++) {
        out_text(out, k > from ? ", {\"name\": " : "{\"name\": ");
        print_json_name(dae, view->states.items.at[k], out);
        print_json_unit(dae, view->states.items.at[k], out);
        out_char(out, '}');
    }
    out_text(out, "],\n   \"equations\": [");
    for (uint32_t from = view->by_node.start.at[node], k = from; k < view->by_node.start.at[node + 1]; k++) {
        out_text(out, k > from ? ",\n    " : "");
        print_json_line(view, &view->lines.at[view->by_node.items.at[k]], out);
    }
    out_text(out, "],\n   \"aliases\": [");
    for (uint32_t from = view->aliases.start.at[node], k = from; k < view->aliases.start.at[node + 1]; k++) {
        bool negative;
        Var of = dae_alias(dae, view->aliases.items.at[k], &negative);
        out_text(out, k > from ? ", {\"variable\": " : "{\"variable\": ");
        print_json_name(dae, view->aliases.items.at[k], out);
        out_text(out, ", \"of\": ");
        print_json_name(dae, of, out);
        out_printf(out, ", \"negative\": %s}", negative ? "true" : "false");
    }
    out_text(out, "]}");
}

void
equations_print_json(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes, Out *out)
{
    View view = open_view(dae, reduction, dynamics, discretes);
    const char *comma = "";
    out_text(out, "{\"model\": ");
    out_json(out, sym_text(dae->syms, dae->name));
    out_text(out, ",\n \"nodes\": [");
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        if (is_empty(&view, node))
            continue;
        out_printf(out, "%s\n  ", comma);
        print_json_node(&view, node, out);
        comma = ",";
    }
    out_text(out, "],\n \"loops\": [");
    for (uint32_t i = 0; i < dynamics->loops.n; i++) {
        const Loop *loop = &dynamics->loops.at[i];
        out_printf(out, "%s{\"linear\": %s, \"equations\": %u, \"iterated\": [", i ? ", " : "", loop->linear ? "true" : "false",
                   loop->n + loop->n_inner);
        for (uint32_t k = 0; k < loop->n; k++) {
            out_text(out, k ? ", " : "");
            print_json_name(dae, dynamics->tears.at[loop->tear + k], out);
        }
        out_text(out, "]}");
    }
    out_text(out, "]}\n");
    close_view(&view);
}
