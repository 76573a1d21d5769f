// equations.c: the solved equations by node of the bond graph, as text and as JSON.
//
// Purpose: what the compiler made of a component, under the component's name.
// Method: the lines of equation_view.h, printed one after the other.
// Contract: equations.h. Complexity: linear.
#include "ir/view/equations.h"

#include "ir/expr/expr_calculus.h"
#include "ir/view/equation_view.h"

static void
print_place(const Dae *dae, Span span, Out *out)
{
    Place place;
    if (span_locate(dae->sources, span, &place))
        out_printf(out, "  %s:%u", place.path, place.line);
}

static void
print_variable(const Dae *dae, Var var, Out *out)
{
    Out unit = {0};
    dae_told_name(dae, var, out);
    equation_view_unit(dae, var, &unit);
    if (unit.length)
        out_printf(out, " [%s]", unit.text);
    out_free(&unit);
}

static void
print_text_states(const EquationView *view, uint32_t node, Out *out)
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
print_text_line(const EquationView *view, const EquationLine *line, Out *out)
{
    if (equation_view_silent(view->dae, line))
        return;
    out_text(out, "    ");
    if (line->var != NONE)
        print_variable(view->dae, line->var, out);
    else if (!line->written)
        out_char(out, '0');
    if (!line->written)
        out_text(out, " = ");
    dae_print_shape(view->dae, line->shape, line->row, line->var, out);
    if (line->loop)
        out_printf(out, "   (loop %u)", line->loop);
    out_char(out, '\n');
}

static void
print_text_when(const EquationView *view, const WhenClause *clause, Out *out)
{
    const Dae *dae = view->dae;
    out_text(out, "    when ");
    dae_told_inside(dae, clause->condition, out);
    out_text(out, " then\n");
    for (uint32_t k = clause->line; k != NONE; k = view->lines.at[k].next) {
        out_text(out, "    ");
        print_text_line(view, &view->lines.at[k], out);
    }
    for (uint32_t k = clause->reinit; k != NONE; k = view->next_reinit.at[k]) {
        const Reinit *reinit = &dae->reinits.at[k];
        out_text(out, "        reinit(");
        dae_told_name(dae, reinit->var, out);
        out_text(out, ", ");
        dae_print_shape(dae, reinit->value, reinit->row, reinit->var, out);
        out_text(out, ")\n");
    }
}

// p in a*Sgn(x)
static void
print_membership(const Dae *dae, const Law *law, Out *out)
{
    out_text(out, " ∈ ");
    dae_told_name(dae, law->a, out);
    out_text(out, "*Sgn(");
    dae_told_inside(dae, law->x, out);
    out_text(out, ")\n");
}

// What slips in an element of a row of frictions does so by the element's own law.
static void
print_text_row(const EquationView *view, Var var, Out *out)
{
    uint32_t i;
    bool negative;
    if (var == NONE || !map_get(&view->rows, var, &i))
        return;
    const Law *law = &view->dae->row_laws.at[i];
    Var of = dae_alias(view->dae, law->p, &negative);
    if (dae_is_told(view->dae, of)) // the force has no name of its own
        return;
    out_text(out, negative ? "    -" : "    ");
    dae_told_name(view->dae, of, out);
    print_membership(view->dae, law, out);
}

// A force of dry friction that has a name of its own: F in (mu*N)*Sgn(v), whatever it is computed from.
static void
print_text_band(const EquationView *view, Var var, Out *out)
{
    const Dae *dae = view->dae;
    uint32_t i;
    bool negative;
    if (var == NONE || !map_get(&view->bands, var, &i))
        return;
    const Law *law = &dae->laws.at[i];
    dae_alias(dae, law->p, &negative);
    out_text(out, negative ? "    -" : "    ");
    dae_told_name(dae, var, out);
    if (!dae_is_told(dae, law->p)) { // a row of frictions has the force of its elements
        print_membership(dae, law, out);
        return;
    }
    out_text(out, " ∈ ");
    dae_told_inside(dae, law->p, out);
    out_char(out, '\n');
}

static void
print_text_node(const EquationView *view, uint32_t node, Out *out)
{
    const Dae *dae = view->dae;
    way_print_node(&view->ways, node, true, out);
    print_place(dae, dae->nodes.at[node].span, out);
    out_char(out, '\n');
    print_text_states(view, node, out);
    for (uint32_t k = view->by_node.start.at[node]; k < view->by_node.start.at[node + 1]; k++) {
        print_text_line(view, &view->lines.at[view->by_node.items.at[k]], out);
        print_text_row(view, view->lines.at[view->by_node.items.at[k]].var, out);
        print_text_band(view, view->lines.at[view->by_node.items.at[k]].var, out);
    }
    for (uint32_t k = view->by_when.start.at[node]; k < view->by_when.start.at[node + 1]; k++)
        print_text_when(view, &view->whens.at[view->by_when.items.at[k]], out);
    for (uint32_t k = view->by_assert.start.at[node]; k < view->by_assert.start.at[node + 1]; k++) {
        out_text(out, "    ");
        equation_view_assert(view, view->by_assert.items.at[k], out);
        out_char(out, '\n');
    }
    for (uint32_t k = view->aliases.start.at[node]; k < view->aliases.start.at[node + 1]; k++) {
        Var var = view->aliases.items.at[k];
        bool negative;
        Var of = dae_alias(dae, var, &negative);
        out_text(out, "    alias ");
        dae_told_name(dae, var, out);
        out_text(out, negative ? " = -" : " = ");
        dae_told_name(dae, of, out);
        out_char(out, '\n');
    }
}

static void
print_text_loops(const EquationView *view, Out *out)
{
    const Causal *causal = view->dynamics;
    for (uint32_t i = 0; i < causal->loops.n; i++) {
        const Loop *loop = &causal->loops.at[i];
        out_printf(out, "loop %u: %s, %u equation%s, over", i + 1, loop->linear ? "linear" : "nonlinear",
                   loop->n + loop->n_inner, loop->n + loop->n_inner == 1 ? "" : "s");
        for (uint32_t k = 0; k < loop->n; k++) {
            out_text(out, k ? ", " : " ");
            dae_told_name(view->dae, causal->tears.at[loop->tear + k], out);
        }
        out_char(out, '\n');
    }
}

void
equations_print_text(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes, Out *out)
{
    EquationView view = equation_view_open(dae, reduction, dynamics, discretes);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (!equation_view_empty(&view, node))
            print_text_node(&view, node, out);
    print_text_loops(&view, out);
    equation_view_close(&view);
}

// --- JSON

static void
print_json_name(const Dae *dae, Var var, Out *out)
{
    Out name = {0};
    dae_told_name(dae, var, &name);
    out_json(out, name.text);
    out_free(&name);
}

static void
print_json_unit(const Dae *dae, Var var, Out *out)
{
    Out unit = {0};
    equation_view_unit(dae, var, &unit);
    out_text(out, ", \"unit\": ");
    out_json(out, unit.length ? unit.text : "");
    out_free(&unit);
}

static void
print_json_line(const EquationView *view, const EquationLine *line, Out *out)
{
    Out text = {0};
    out_text(out, "{\"variable\": ");
    if (line->var == NONE)
        out_text(out, "null");
    else {
        print_json_name(view->dae, line->var, out);
        print_json_unit(view->dae, line->var, out);
    }
    dae_print_shape(view->dae, line->written ? expr_residual(view->dae->exprs, line->shape) : line->shape, line->row, line->var, &text);
    out_text(out, ", \"expression\": ");
    out_json(out, text.text);
    out_printf(out, ", \"loop\": %u}", line->loop);
    out_free(&text);
}

static void
print_json_when(const EquationView *view, const WhenClause *clause, Out *out)
{
    const Dae *dae = view->dae;
    Out text = {0};
    dae_told_inside(dae, clause->condition, &text);
    out_text(out, "{\"when\": ");
    out_json(out, text.text);
    out_text(out, ", \"equations\": [");
    for (uint32_t k = clause->line; k != NONE; k = view->lines.at[k].next) {
        out_text(out, k == clause->line ? "" : ", ");
        print_json_line(view, &view->lines.at[k], out);
    }
    out_text(out, "], \"reinit\": [");
    for (uint32_t k = clause->reinit; k != NONE; k = view->next_reinit.at[k]) {
        const Reinit *reinit = &dae->reinits.at[k];
        out_text(out, k == clause->reinit ? "{\"variable\": " : ", {\"variable\": ");
        print_json_name(dae, reinit->var, out);
        out_text(out, ", \"expression\": ");
        text.length = 0;
        dae_print_shape(dae, reinit->value, reinit->row, reinit->var, &text);
        out_json(out, text.text);
        out_char(out, '}');
    }
    out_text(out, "]}");
    out_free(&text);
}

static void
print_json_head(const EquationView *view, uint32_t node, Out *out)
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
    if (span_locate(dae->sources, at->span, &place)) {
        out_text(out, ", \"file\": ");
        out_json(out, place.path);
        out_printf(out, ", \"line\": %u", place.line);
    }
    out_free(&name);
}

static void
print_json_node(const EquationView *view, uint32_t node, Out *out)
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
    const char *before = "";
    for (uint32_t k = view->by_node.start.at[node]; k < view->by_node.start.at[node + 1]; k++) {
        const EquationLine *line = &view->lines.at[view->by_node.items.at[k]];
        if (equation_view_silent(dae, line))
            continue;
        out_text(out, before);
        print_json_line(view, line, out);
        before = ",\n    ";
    }
    out_text(out, "],\n   \"whens\": [");
    for (uint32_t from = view->by_when.start.at[node], k = from; k < view->by_when.start.at[node + 1]; k++) {
        out_text(out, k > from ? ",\n    " : "");
        print_json_when(view, &view->whens.at[view->by_when.items.at[k]], out);
    }
    out_text(out, "],\n   \"asserts\": [");
    for (uint32_t from = view->by_assert.start.at[node], k = from; k < view->by_assert.start.at[node + 1]; k++) {
        Out text = {0};
        equation_view_assert(view, view->by_assert.items.at[k], &text);
        out_text(out, k > from ? ",\n    " : "");
        out_json(out, text.text);
        out_free(&text);
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
    EquationView view = equation_view_open(dae, reduction, dynamics, discretes);
    const char *comma = "";
    out_text(out, "{\"model\": ");
    out_json(out, sym_text(dae->syms, dae->name));
    out_text(out, ",\n \"nodes\": [");
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        if (equation_view_empty(&view, node))
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
    equation_view_close(&view);
}
