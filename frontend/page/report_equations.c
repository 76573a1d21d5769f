// report_equations.c: the equations of a report: by node of the bond graph, and as sorted blocks.
//
// Purpose: a reader of the report sees what is computed, in the order in which it is computed. Method: the sorted equations of
// ir/view/equation_view.h as MathML (ir/view/typeset.h).
// Contract: report_inner.h. Complexity: linear in equations and incidence.
#include "frontend/page/report_inner.h"

#include <string.h>

#include "ir/view/typeset.h"

static void
number(Out *out, const char *name, uint32_t value)
{
    out_printf(out, " data-%s=\"%u\"", name, value);
}

// Equations of the compiler's own, and the model itself, belong to no node that is drawn.
static void
equation_keys(const Report *report, uint32_t equation)
{
    const Equation *at = &report->dae->equations.at[equation];
    number(report->out, "equation", equation);
    if (at->node < report->dae->nodes.n)
        number(report->out, "node", at->node);
    if (equation < report->block_of.n && report->block_of.at[equation])
        number(report->out, "block", report->block_of.at[equation]);
    report_line(report, at->span);
}

static void
print_math(Out *out, const char *before, const Dae *dae, Var var)
{
    out_text(out, before);
    out_text(out, "<math displaystyle=\"true\">");
    typeset_variable(dae, var, out);
    out_text(out, "</math>");
}

static void
print_unit(Out *out, const Dae *dae, Var var)
{
    Out unit = {0};
    if (var != NONE)
        equation_view_unit(dae, var, &unit);
    if (unit.length && strcmp(unit.text, "1")) {
        out_text(out, "<span class=\"unit\">");
        out_html(out, unit.text);
        out_text(out, "</span>");
    }
    out_free(&unit);
}

// --- by node

static void
print_line(const Report *report, const EquationLine *line)
{
    Out *out = report->out;
    if (equation_view_silent(report->dae, line))
        return;
    out_text(out, "<div class=\"equation\"");
    equation_keys(report, line->equation);
    out_text(out, "><math displaystyle=\"true\">");
    if (line->written)
        typeset_shape(report->dae, line->shape, line->row, NONE, out);
    else
        typeset_assignment(report->dae, line->var, line->shape, line->row, out);
    out_text(out, "</math>");
    print_unit(out, report->dae, line->var);
    if (line->loop)
        out_printf(out, "<span class=\"loop\">loop %u</span>", line->loop);
    out_text(out, "</div>\n");
}

static void
print_when(const Report *report, const WhenClause *clause)
{
    const Dae *dae = report->dae;
    Out *out = report->out;
    print_math(out, "<p class=\"when\">when ", dae, clause->condition);
    out_text(out, "</p>\n<div class=\"then\">\n");
    for (uint32_t k = clause->line; k != NONE; k = report->view.lines.at[k].next)
        print_line(report, &report->view.lines.at[k]);
    for (uint32_t k = clause->reinit; k != NONE; k = report->view.next_reinit.at[k]) {
        const Reinit *reinit = &dae->reinits.at[k];
        out_text(out, "<div class=\"equation\"");
        report_line(report, reinit->span);
        out_text(out, "><math displaystyle=\"true\"><mi>reinit</mi><mo>(</mo>");
        typeset_variable(dae, reinit->var, out);
        out_text(out, "<mo>,</mo>");
        typeset_shape(dae, reinit->value, reinit->row, reinit->var, out);
        out_text(out, "<mo>)</mo></math></div>\n");
    }
    out_text(out, "</div>\n");
}

static void
print_assert(const Report *report, uint32_t assertion)
{
    Out text = {0};
    equation_view_assert(&report->view, assertion, &text);
    out_text(report->out, "<div class=\"equation\"");
    report_line(report, report->dae->asserts.at[assertion].span);
    out_text(report->out, "><code>");
    out_html(report->out, text.text);
    out_text(report->out, "</code></div>\n");
    out_free(&text);
}

static void
print_states(const Report *report, uint32_t node)
{
    const NodeIndex *states = &report->view.states;
    Out *out = report->out;
    for (uint32_t from = states->start.at[node], k = from; k < states->start.at[node + 1]; k++) {
        print_math(out, k == from ? "<p class=\"states\">state " : ", ", report->dae, states->items.at[k]);
        print_unit(out, report->dae, states->items.at[k]);
    }
    if (states->start.at[node] < states->start.at[node + 1])
        out_text(out, "</p>\n");
}

static void
print_aliases(const Report *report, uint32_t node)
{
    const NodeIndex *aliases = &report->view.aliases;
    uint32_t from = aliases->start.at[node], to = aliases->start.at[node + 1];
    Out *out = report->out;
    if (from == to)
        return;
    out_printf(out, "<details class=\"aliases\"><summary>%u equal variable%s</summary>", to - from, to - from == 1 ? "" : "s");
    for (uint32_t k = from; k < to; k++) {
        bool negative;
        Var var = aliases->items.at[k], of = dae_alias(report->dae, var, &negative);
        print_math(out, k == from ? "" : ", ", report->dae, var);
        out_text(out, negative ? "<math displaystyle=\"true\"><mo>=</mo><mo>\xE2\x88\x92</mo>" : "<math displaystyle=\"true\"><mo>=</mo>");
        typeset_variable(report->dae, of, out);
        out_text(out, "</math>");
    }
    out_text(out, "</details>\n");
}

// data-within="0:9": the lines that declare what a node is part of; a click on the declaration of a component that is made of others shows these.
static void
print_within(const Report *report, const GraphNode *at, bool junction)
{
    const Dae *dae = report->dae;
    const char *before = " data-within=\"";
    uint32_t inst = at->inst >= dae->insts.n || junction ? at->inst : dae->insts.at[at->inst].parent;
    Place place;
    for (; inst && inst < dae->insts.n; inst = dae->insts.at[inst].parent)
        if (span_locate(dae->sources, dae->insts.at[inst].span, &place) && report_file(report, place.path) != UINT32_MAX) {
            out_printf(report->out, "%s%u:%u", before, report_file(report, place.path), place.line);
            before = " ";
        }
    if (*before == ' ' && !before[1])
        out_char(report->out, '"');
}

static void
print_head(const Report *report, uint32_t node)
{
    const Dae *dae = report->dae;
    const GraphNode *at = &dae->nodes.at[node];
    bool junction = at->kind == NODE_ONE || at->kind == NODE_ZERO;
    Out *out = report->out, name = {0};
    out_printf(out, "<section class=\"node\" id=\"node-%u\"", node);
    out_text(out, "><h3");
    number(out, "node", node);
    report_line(report, at->span);
    print_within(report, at, junction);
    out_text(out, "><b>");
    if (junction)
        out_printf(&name, "J%u", report->view.ways.number.at[node]);
    else
        dae_inst_path(dae, at->inst, &name);
    out_html(out, name.length ? name.text : "the model");
    out_text(out, "</b> <span class=\"kind\">");
    if (!junction && at->inst)
        out_html(out, sym_text(dae->syms, dae->insts.at[at->inst].class_name));
    if (at->inst || junction) {
        out_text(out, junction ? "" : ", ");
        out_html(out, way_kind_words(dae, node));
    }
    out_text(out, "</span></h3>\n");
    out_free(&name);
}

// What stands between these is in the page, or is text until frontend/page/links.js puts it there; as many lines as `rows` keep its
// place. Formulas and names are escaped, so nothing in them ends the text.
// Gives where the text begins, for end_later.
static size_t
begin_later(const Report *report, uint32_t rows)
{
    if (report->later)
        out_printf(report->out, "<div class=\"waiting\" data-rows=\"%u\"></div><script type=\"text/plain\" class=\"later\">", rows);
    return report->out->length;
}

static void
end_later(const Report *report, size_t from)
{
    if (!report->later)
        return;
    pack(report->packing, from, report->out);
    out_text(report->out, "</script>");
}

void
report_equations(Report *report)
{
    const NodeIndex *by_node = &report->view.by_node, *by_when = &report->view.by_when;
    for (uint32_t node = 0; node < report->dae->nodes.n; node++) {
        if (equation_view_empty(&report->view, node))
            continue;
        print_head(report, node);
        size_t from = begin_later(report, by_node->start.at[node + 1] - by_node->start.at[node] + 1);
        print_states(report, node);
        for (uint32_t k = by_node->start.at[node]; k < by_node->start.at[node + 1]; k++)
            print_line(report, &report->view.lines.at[by_node->items.at[k]]);
        for (uint32_t k = by_when->start.at[node]; k < by_when->start.at[node + 1]; k++)
            print_when(report, &report->view.whens.at[by_when->items.at[k]]);
        const NodeIndex *asserts = &report->view.by_assert;
        for (uint32_t k = asserts->start.at[node]; k < asserts->start.at[node + 1]; k++)
            print_assert(report, asserts->items.at[k]);
        print_aliases(report, node);
        end_later(report, from);
        out_text(report->out, "</section>\n");
    }
}

// --- blocks

static void
print_member(const Report *report, uint32_t position)
{
    const Problem *problem = report->problem;
    uint32_t equation = problem->equations.at[position];
    Out *out = report->out;
    out_text(out, "<div class=\"equation\"");
    equation_keys(report, equation);
    out_text(out, ">");
    out_text(out, "<span class=\"unknown\">");
    if (problem->var_of.at[position] != NONE)
        print_math(out, "", report->dae, problem->var_of.at[position]);
    out_text(out, "</span> <math displaystyle=\"true\">");
    typeset_equation(report->dae, equation, out);
    out_text(out, "</math></div>\n");
}

// Of a large model a line for each block, which the script makes elements of: how many equations it has, and these, packed.
static void
print_block_lines(const Report *report)
{
    const Problem *problem = report->problem;
    Out *out = report->out;
    out_text(out, "<div class=\"blocks\"><script type=\"text/plain\" id=\"block-lines\">");
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        out_printf(out, b ? "\n%u " : "%u ", to - from);
        size_t begin = out->length;
        for (uint32_t k = from; k < to; k++)
            print_member(report, problem->sorted.at[k]);
        pack(report->packing, begin, out);
    }
    out_text(out, "</script></div>\n");
}

static void
print_blocks(const Report *report)
{
    const Problem *problem = report->problem;
    Out *out = report->out;
    out_text(out, "<div class=\"blocks\">\n");
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t from = problem->block_start.at[b], to = problem->block_start.at[b + 1];
        out_printf(out, "<div class=\"block%s\" data-block=\"%u\"><span class=\"number\">%u</span><div>\n",
                   to - from > 1 ? " several" : "", b + 1, b + 1);
        for (uint32_t k = from; k < to; k++)
            print_member(report, problem->sorted.at[k]);
        out_text(out, "</div></div>\n");
    }
    out_text(out, "</div>\n");
}

// {"rows": columns of each row, both in the order of evaluation, "starts": where blocks begin, "equations": their
// numbers, "names"}
static void
print_incidence(const Report *report)
{
    const Problem *problem = report->problem;
    const U32Vec *start = &problem->incidence.start;
    U32Vec rank = {0};
    Out *out = report->out;
    vec_grow(&rank, problem->equations.n);
    for (uint32_t i = 0; i < problem->sorted.n; i++)
        rank.at[problem->sorted.at[i]] = i;
    out_text(out, "<script type=\"application/json\" id=\"incidence-data\">{\"rows\":[");
    for (uint32_t i = 0; i < problem->sorted.n; i++) {
        uint32_t position = problem->sorted.at[i], printed = 0;
        out_text(out, i ? ",[" : "[");
        for (uint32_t k = start->at[position]; k < start->at[position + 1]; k++) {
            Var var = problem->incidence.column.at[k];
            uint32_t by = var < problem->equation_of.n ? problem->equation_of.at[var] : NONE;
            if (by != NONE)
                out_printf(out, printed++ ? ",%u" : "%u", rank.at[by]);
        }
        out_char(out, ']');
    }
    out_text(out, "],\"starts\":[");
    for (uint32_t b = 0; b < problem->block_start.n; b++)
        out_printf(out, b ? ",%u" : "%u", problem->block_start.at[b]);
    out_text(out, "],\"equations\":[");
    for (uint32_t i = 0; i < problem->sorted.n; i++)
        out_printf(out, i ? ",%u" : "%u", problem->equations.at[problem->sorted.at[i]]);
    out_text(out, "],\"names\":[");
    for (uint32_t i = 0; i < problem->sorted.n; i++) {
        Out name = {0};
        Var var = problem->var_of.at[problem->sorted.at[i]];
        if (var != NONE)
            dae_told_name(report->dae, var, &name);
        out_text(out, i ? "," : "");
        out_json_script(out, name.text);
        out_free(&name);
    }
    out_text(out, "]}</script>\n");
    vec_free(&rank);
}

// Behind all formulas: the symbols that they have.
void
report_packing(Report *report)
{
    if (!report->later)
        return;
    out_text(report->out, "<script type=\"application/json\" id=\"packing\">");
    packing_print(report->packing, report->out);
    out_text(report->out, "</script>\n");
}

// {number: "name [unit]"} of the symbols in equations.
void
report_names(Report *report)
{
    const Dae *dae = report->dae;
    Out *out = report->out, name = {0};
    const char *comma = "";
    out_text(out, "<script type=\"application/json\" id=\"variables\">{");
    for (Var v = 0; v < dae->nvars && dae->nvars <= NAMES_MOST; v++) {
        if (dae->var_flags.at[v] & VARF_REMOVED || (dae->var_group.at[v] != NONE && !dae_group(dae, v)))
            continue;
        name.length = 0;
        dae_told_name(dae, v, &name);
        size_t bare = name.length;
        out_text(&name, " [");
        equation_view_unit(dae, v, &name);
        if (name.length == bare + 2)
            name.text[name.length = bare] = '\0';
        else
            out_char(&name, ']');
        out_printf(out, "%s\"%u\":", comma, v);
        out_json_script(out, name.text);
        comma = ",";
    }
    out_text(out, "}</script>\n");
    out_free(&name);
}

// [[equation, node or -1, block or 0, "file:line" or ""], ...] of what the script looks for before it is in the page.
void
report_places(Report *report)
{
    const Dae *dae = report->dae;
    Out *out = report->out;
    if (!report->later)
        return;
    out_text(out, "<script type=\"application/json\" id=\"places\">[");
    for (uint32_t i = 0; i < report->view.lines.n; i++) {
        uint32_t equation = report->view.lines.at[i].equation, node = dae->equations.at[equation].node;
        Place place;
        bool written = span_locate(dae->sources, dae->equations.at[equation].span, &place);
        uint32_t file = written ? report_file(report, place.path) : UINT32_MAX;
        out_printf(out, "%s[%u,%d,%u,\"", i ? "," : "", equation, node < dae->nodes.n ? (int)node : -1,
                   equation < report->block_of.n ? report->block_of.at[equation] : 0);
        if (file != UINT32_MAX)
            out_printf(out, "%u:%u", file, place.line);
        out_text(out, "\"]");
    }
    out_text(out, "]</script>\n");
}

void
report_blocks(Report *report)
{
    const Problem *problem = report->problem;
    if (problem->equations.n > BLOCKS_MOST || problem->incidence.start.n <= problem->equations.n) {
        out_printf(report->out, "<p>%u equations are too many to draw here; <code>mdlc show blt</code> lists them.</p>\n",
                   problem->equations.n);
        return;
    }
    out_text(report->out, "<figure class=\"incidence\"><canvas id=\"incidence\"></canvas><figcaption>Which equation (row) has which "
                          "unknown (column), in the order of evaluation. Blocks of several equations are framed.</figcaption></figure>\n");
    print_incidence(report);
    if (report->later)
        print_block_lines(report);
    else
        print_blocks(report);
}
