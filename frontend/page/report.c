// report.c: the page about a model and its run.
//
// Purpose: source, bond graph, equations, structure and results of a model side by side, in a file that can be sent to
//   somebody. Method: the compiler's own views are printed as HTML with attributes that say what belongs together; styles and
//   scripts stand in the page. Contract: report.h. Complexity: linear in the model and its result, but for Graphviz.
#include "frontend/page/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/page/page.h"
#include "frontend/page/report_inner.h"
#include "ir/view/graph.h"
#include "ir/view/loops.h"
#include "ir/view/storage.h"

// --- files

uint32_t
report_file(const Report *report, const char *path)
{
    for (uint32_t i = 0; i < report->files.n; i++)
        if (!strcmp(report->files.at[i], path))
            return i;
    return UINT32_MAX;
}

void
report_line(const Report *report, Span span)
{
    Place place;
    if (!span_locate(report->dae->sources, span, &place))
        return;
    uint32_t file = report_file(report, place.path);
    if (file != UINT32_MAX)
        out_printf(report->out, " data-line=\"%u:%u\"", file, place.line);
}

static void
add_file(Report *report, Span span)
{
    Place place;
    if (span_locate(report->dae->sources, span, &place) && report_file(report, place.path) == UINT32_MAX)
        vec_push(&report->files, place.path);
}

// The files that components and equations come from, the model's own first.
static void
find_files(Report *report)
{
    vec_push(&report->files, report->input->file);
    for (uint32_t i = 0; i < report->dae->nodes.n; i++)
        add_file(report, report->dae->nodes.at[i].span);
    for (uint32_t i = 0; i < report->problem->equations.n; i++)
        add_file(report, report->dae->equations.at[report->problem->equations.at[i]].span);
}

static const char *
base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// --- source

static void
print_lines(Out *out, uint32_t file, const char *text, uint32_t length)
{
    uint32_t line = 1;
    for (uint32_t at = 0; at < length; line++) {
        const char *newline = memchr(text + at, '\n', length - at);
        uint32_t end = newline ? (uint32_t)(newline - text) : length;
        Out code = {0};
        out_bytes(&code, text + at, end - at);
        out_printf(out, "<li data-line=\"%u:%u\"><code>", file, line);
        out_html(out, code.length ? code.text : "");
        out_text(out, "</code></li>\n");
        out_free(&code);
        at = end + 1;
    }
}

// A file of the library, which can be seen by the script's buttons only: its lines are elements when the script has made them.
static void
print_text(Out *out, const char *text, uint32_t length)
{
    Out copy = {0};
    out_bytes(&copy, text, length);
    out_text(out, "<script type=\"application/json\">");
    out_json_script(out, copy.length ? copy.text : "");
    out_text(out, "</script>");
    out_free(&copy);
}

static void
print_file(Report *report, uint32_t file)
{
    Sources *sources = (Sources *)(uintptr_t)report->input->sources; // the text is writable for the scanner alone
    Out *out = report->out;
    for (int i = 0; i < sources_count(sources); i++)
        if (!strcmp(source_path(sources, i), report->files.at[file])) {
            out_printf(out, "<ol class=\"source\" data-file=\"%u\"%s>\n", file, file ? " hidden" : "");
            if (file)
                print_text(out, source_text(sources, i), source_length(sources, i));
            else
                print_lines(out, file, source_text(sources, i), source_length(sources, i));
            out_text(out, "</ol>\n");
            return;
        }
}

static void
print_source(Report *report)
{
    Out *out = report->out;
    out_text(out, "<section id=\"source\"><h2>Source</h2>\n<div class=\"tabs\">");
    for (uint32_t i = 0; i < report->files.n; i++) {
        out_printf(out, "<button data-file=\"%u\"%s>", i, i ? "" : " class=\"chosen\"");
        out_html(out, base_name(report->files.at[i]));
        out_text(out, "</button>");
    }
    out_text(out, "</div>\n<div class=\"files\">\n");
    for (uint32_t i = 0; i < report->files.n; i++)
        print_file(report, i);
    out_text(out, "</div></section>\n");
}

// --- the bond graph

// Without the prolog and the names of name spaces, which a page needs not; white goes.
static void
print_drawing(Out *out, const char *svg)
{
    const char *at = strstr(svg, "<svg"), *end;
    while (at && (end = strstr(at, " xmlns"))) {
        out_bytes(out, at, (size_t)(end - at));
        at = strchr(end, '"');
        at = at ? strchr(at + 1, '"') : NULL;
        at = at ? at + 1 : NULL;
    }
    out_text(out, at ? at : "");
}

static void
print_graph(Report *report)
{
    Out *out = report->out, svg = {0}, why = {0};
    if (!report->dae->bonds.n)
        return;
    out_text(out, "<section id=\"graph\"><h2>Bond graph</h2>\n<div class=\"drawing\">");
    if (graph_render_svg(report->dae, report->problem, 0, &svg, &why)) {
        print_drawing(out, svg.text);
    } else {
        out_text(out, "<p>");
        out_html(out, why.text);
        out_text(out, "</p>");
    }
    out_text(out, "</div></section>\n");
    out_free(&svg);
    out_free(&why);
}

// --- figures

static void
figure(Out *out, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void
figure(Out *out, const char *name, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out_printf(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, text);
}

static void
duration(Out *out, const char *name, double seconds)
{
    bool short_time = seconds < 0.9995;
    figure(out, name, "%.3g %s", short_time ? 1e3 * seconds : seconds, short_time ? "ms" : "s");
}

static void
print_summary(Report *report)
{
    const Compilation *c = report->input->compilation;
    Out *out = report->out;
    out_text(out, "<header><h1>");
    out_html(out, sym_text(report->dae->syms, report->dae->name));
    out_text(out, "</h1>");
    if (*report->input->description) {
        out_text(out, "<p class=\"description\">");
        out_html(out, report->input->description);
        out_text(out, "</p>");
    }
    out_text(out, "<p>");
    out_html(out, report->input->file);
    out_printf(out, " &middot; mdlc %s</p>\n<dl class=\"figures\">", report->input->version);
    figure(out, "equations", "%u", report->problem->equations.n);
    figure(out, "states", "%u", c->sys->model->nx);
    figure(out, "index", "%u", c->reduction.structural_index);
    figure(out, "loops left", "%u", c->dynamics.loops.n);
    duration(out, "compiled in", report->input->compile_seconds);
    if (report->input->table)
        duration(out, "run in", report->input->stats->run_seconds);
    out_text(out, "</dl>\n<nav>");
    if (report->input->motion)
        out_text(out, "<a href=\"#motions\">Motion</a>");
    if (report->input->table)
        out_text(out, "<a href=\"#results\">Results</a>");
    out_text(out, "<a href=\"#source\">Source</a><a href=\"#equations\">Equations</a>");
    if (report->dae->bonds.n)
        out_text(out, "<a href=\"#graph\">Bond graph</a>");
    out_text(out, "<a href=\"#structure\">Structure</a><a href=\"#run\">Run</a></nav></header>\n");
}

static void
print_run(Report *report)
{
    static const char *const ends[] = {"to its end", "not: a parameter has a value that is not allowed", "not",
                                       "until it failed", "until an internal fault", "until results could not be written"};
    const mdl_stats *s = report->input->stats;
    int status = report->input->status;
    Out *out = report->out;
    out_printf(out, "<section id=\"run\"><h2>Run</h2>\n<p>The model ran %s%s.</p>\n<dl class=\"figures\">",
               status >= 0 && status < 6 ? ends[status] : "until it was interrupted", "");
    figure(out, "end time", "%.9g s", s->end_time);
    figure(out, "steps", "%llu", (unsigned long long)s->steps);
    figure(out, "residuals", "%llu", (unsigned long long)s->residuals);
    figure(out, "Jacobians", "%llu", (unsigned long long)s->jacobians);
    figure(out, "Newton iterations", "%llu", (unsigned long long)s->newton_iterations);
    figure(out, "error test failures", "%llu", (unsigned long long)s->error_failures);
    figure(out, "Newton failures", "%llu", (unsigned long long)s->newton_failures);
    figure(out, "events in state", "%llu", (unsigned long long)s->state_events);
    figure(out, "events in time", "%llu", (unsigned long long)s->time_events);
    figure(out, "blocks solved", "%llu", (unsigned long long)s->block_solves);
    figure(out, "unknowns", "%u", s->unknowns);
    figure(out, "nonzeros", "%u", s->nonzeros);
    figure(out, "form", "%s", s->form ? s->form : "");
    figure(out, "linear solver", "%s", s->linear_solver ? s->linear_solver : "");
    duration(out, "initialisation", s->init_seconds);
    out_text(out, "</dl></section>\n");
}

// --- structure

typedef void StructurePrinter(Report *report, Out *out);

static void
print_index(Report *report, Out *out)
{
    const Compilation *c = report->input->compilation;
    reduction_print_index(report->dae, &c->reduction, out);
    storages_print_text(report->dae, &c->reduction, &c->problem, out);
}

static void
print_states(Report *report, Out *out)
{
    reduction_print_states(report->dae, &report->input->compilation->reduction, out);
}

static void
print_loops(Report *report, Out *out)
{
    const Compilation *c = report->input->compilation;
    loops_print_text(report->dae, &c->continuous, &c->dynamics, out);
}

// Length of the path and the line ("path:12") of one of the report's files at the beginning of a text, 0 when there is none.
static size_t
match_place(const Report *report, const char *text, uint32_t *file, uint32_t *line)
{
    for (uint32_t i = 0; i < report->files.n; i++) {
        size_t length = strlen(report->files.at[i]);
        if (strncmp(text, report->files.at[i], length) || text[length] != ':')
            continue;
        size_t digits = strspn(text + length + 1, "0123456789");
        *file = i;
        *line = (uint32_t)strtoul(text + length + 1, NULL, 10);
        return digits ? length + 1 + digits : 0;
    }
    return 0;
}

// Text in which places of files refer to their lines. A place begins behind a blank or a parenthesis.
static void
print_references(Report *report, const char *text)
{
    Out plain = {0}, *out = report->out;
    for (const char *at = text; *at;) {
        uint32_t file, line;
        size_t length = at == text || strchr(" (\n", at[-1]) ? match_place(report, at, &file, &line) : 0;
        if (!length) {
            out_char(&plain, *at++);
            continue;
        }
        out_html(out, plain.length ? plain.text : "");
        plain.length = 0;
        out_printf(out, "<span class=\"reference\" data-line=\"%u:%u\">", file, line);
        out_html(out, base_name(report->files.at[file]));
        out_printf(out, ":%u</span>", line);
        at += length;
    }
    out_html(out, plain.length ? plain.text : "");
    out_free(&plain);
}

static void
print_part(Report *report, const char *title, StructurePrinter *print)
{
    Out text = {0};
    print(report, &text);
    out_printf(report->out, "<details open><summary>%s</summary><pre>", title);
    print_references(report, text.length ? text.text : "");
    out_text(report->out, "</pre></details>\n");
    out_free(&text);
}

static void
print_clocks(Report *report, Out *out)
{
    out_text(out, report->input->compilation->clocks.text.text);
}

static void
print_structure(Report *report)
{
    out_text(report->out, "<section id=\"structure\"><h2>Structure</h2>\n<div class=\"structure\">");
    print_part(report, "Index and storages", print_index);
    print_part(report, "States", print_states);
    print_part(report, "Algebraic loops", print_loops);
    if (report->input->compilation->clocks.text.length)
        print_part(report, "Clocks and state machines", print_clocks);
    out_text(report->out, "</div>\n");
    report_blocks(report);
    out_text(report->out, "</section>\n");
}

// --- results

// The first states are drawn at first; without states the first columns are.
static void
print_results(Report *report)
{
    enum { DRAWN = 4 };
    const Reduction *reduction = &report->input->compilation->reduction;
    const Table *table = report->input->table;
    const char *chosen[DRAWN];
    uint32_t n = 0;
    if (!table || !table->rows)
        return;
    for (Var v = 0; v < reduction->state.n && n < DRAWN; v++) {
        uint32_t column = reduction->state.at[v] ? table_find(table, dae_name(report->dae, v)) : UINT32_MAX;
        if (column != UINT32_MAX)
            chosen[n++] = table->name[column];
    }
    for (uint32_t k = 1; k < table->columns && !n; k++)
        if (!table->parameter[k])
            chosen[n++] = table->name[k];
    out_text(report->out, "<section id=\"results\"><h2>Results</h2>\n");
    page_plots(table, chosen, n, NULL, false, PAGE_NUMBERS, report->out);
    out_text(report->out, "</section>\n");
}

static void
print_motion(Report *report)
{
    if (!report->input->motion)
        return;
    out_text(report->out, "<section id=\"motions\"><h2>Motion</h2>\n");
    page_motion(report->input->motion, sym_text(report->dae->syms, report->dae->name), report->out);
    out_text(report->out, "</section>\n");
}

static void
open_report(Report *report)
{
    const Problem *problem = report->problem;
    vec_grow(&report->block_of, report->dae->equations.n);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            report->block_of.at[problem->equations.at[problem->sorted.at[k]]] = b + 1;
    find_files(report);
}

void
report_print(const ReportInput *input, Out *out)
{
    const Compilation *c = input->compilation;
    Packing packing = {.dae = c->dae};
    Report report = {.input = input, .packing = &packing, .dae = c->dae, .problem = &c->problem, .out = out,
                     .view = equation_view_open(c->dae, &c->reduction, &c->dynamics, &c->discretes)};
    open_report(&report);
    report.later = c->problem.equations.n > LATER_LEAST;
    page_begin(sym_text(c->dae->syms, c->dae->name), out);
    print_summary(&report);
    print_motion(&report);
    print_results(&report);
    out_printf(out, "<main%s>\n", c->dae->bonds.n ? "" : " class=\"bare\"");
    print_source(&report);
    out_text(out, "<section id=\"equations\"><h2>Equations</h2>\n<div class=\"formulas\">\n");
    report_equations(&report);
    out_text(out, "</div></section>\n");
    print_graph(&report);
    out_text(out, "</main>\n");
    report_names(&report);
    report_places(&report);
    print_structure(&report);
    report_packing(&report);
    print_run(&report);
    page_end(PAGE_WITH_PLOTS | PAGE_WITH_LINKS | (input->motion ? PAGE_WITH_MOTION : 0), out);
    equation_view_close(&report.view);
    vec_free(&report.block_of);
    vec_free(&report.files);
    packing_free(&packing);
}
