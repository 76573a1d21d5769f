// plot.c: pictures of results.
//
// Purpose: a look at a result, good enough for a report. Method: gnuplot draws; it gets a script with the data in it.
//   Variables with the same unit share a panel, panels share the time axis; instants at which a variable jumps are marked.
//   Long results are thinned to what a picture can show: the first, smallest, largest and last value of each column of
//   pixels.
// Contract: plot.h. Complexity: linear in the rows drawn.
#include "frontend/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/page.h"

enum { MOST_EVENTS = 60, BUCKETS = 1600 };

typedef struct Plot {
    const Table *table;
    const PlotOptions *options;
    uint32_t *column; // per variable
    uint32_t *panel;  // per variable
    uint32_t panels, x;
    Out script;
} Plot;

// --- names and panels

static bool
find_column(const Plot *plot, const char *name, uint32_t *column, Out *why)
{
    enum { SHOWN = 12 };
    const Table *table = plot->table;
    *column = table_find(table, name);
    if (*column != UINT32_MAX)
        return true;
    out_printf(why, "the result has no variable '%s'; it has", name);
    for (uint32_t k = 0, shown = 0; k < table->columns && shown < SHOWN; k++)
        if (strstr(table->name[k], name) || table->columns <= SHOWN)
            out_printf(why, "%s %s", shown++ ? "," : "", table->name[k]);
    out_printf(why, "%s %u in all\n", why->text[why->length - 1] == 's' ? "" : ",", table->columns);
    return false;
}

static const char *
unit_of(const Plot *plot, uint32_t column)
{
    const char *unit = plot->table->unit[column];
    return unit && strcmp(unit, "1") ? unit : "";
}

static bool
choose_columns(Plot *plot, Out *why)
{
    const PlotOptions *o = plot->options;
    if (o->against && !find_column(plot, o->against, &plot->x, why))
        return false;
    for (uint32_t i = 0; i < o->n_variables; i++) {
        if (!find_column(plot, o->variables[i], &plot->column[i], why))
            return false;
        uint32_t same = 0;
        while (same < i && strcmp(unit_of(plot, plot->column[same]), unit_of(plot, plot->column[i])))
            same++;
        plot->panel[i] = same < i ? plot->panel[same] : plot->panels++;
    }
    return true;
}

// --- data

static void
number(Out *out, double value)
{
    if (isfinite(value))
        out_printf(out, "%.9g", value);
    else
        out_text(out, "NaN");
}

static void
point(Plot *plot, uint32_t column, uint32_t row)
{
    number(&plot->script, plot->table->value[plot->x][row]);
    out_char(&plot->script, ' ');
    number(&plot->script, plot->table->value[column][row]);
    out_char(&plot->script, '\n');
}

// The rows of one bucket that a picture can tell apart, in order.
static void
bucket(Plot *plot, uint32_t column, uint32_t from, uint32_t to)
{
    const double *value = plot->table->value[column];
    uint32_t keep[4] = {from, from, from, to - 1};
    for (uint32_t i = from; i < to; i++) {
        keep[1] = value[i] < value[keep[1]] ? i : keep[1];
        keep[2] = value[i] > value[keep[2]] ? i : keep[2];
    }
    if (keep[1] > keep[2]) {
        uint32_t swap = keep[1];
        keep[1] = keep[2];
        keep[2] = swap;
    }
    for (uint32_t i = 0; i < 4; i++)
        if (!i || keep[i] != keep[i - 1])
            point(plot, column, keep[i]);
}

static void
curve(Plot *plot, uint32_t index, uint32_t column)
{
    uint32_t rows = plot->table->rows, buckets = !plot->options->against && rows > 4 * BUCKETS ? BUCKETS : rows;
    out_printf(&plot->script, "$d%u << EOD\n", index);
    for (uint32_t b = 0; b < buckets; b++)
        bucket(plot, column, (uint32_t)((uint64_t)b * rows / buckets), (uint32_t)(((uint64_t)b + 1) * rows / buckets));
    out_text(&plot->script, "EOD\n");
}

// Instants with two rows between which a drawn variable jumps.
static uint32_t
mark_events(Plot *plot)
{
    const double *time = plot->table->value[0];
    uint32_t marks = 0;
    Out lines = {0};
    for (uint32_t row = 1; row < plot->table->rows && marks <= MOST_EVENTS; row++) {
        bool jump = false;
        for (uint32_t i = 0; time[row] == time[row - 1] && i < plot->options->n_variables && !jump; i++) {
            const double *value = plot->table->value[plot->column[i]];
            jump = fabs(value[row] - value[row - 1]) > 1e-9 * (fabs(value[row]) + fabs(value[row - 1]));
        }
        if (jump)
            out_printf(&lines, "set arrow %u from first %.9g, graph 0 to first %.9g, graph 1 nohead back linewidth 0.7 "
                       "dashtype (3,3) linecolor rgb '#9a9a9a'\n", ++marks, time[row], time[row]);
    }
    if (marks && marks <= MOST_EVENTS)
        out_bytes(&plot->script, lines.text, lines.length);
    out_free(&lines);
    return marks;
}

// --- the script

static void
quoted(Out *out, const char *text)
{
    out_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            out_char(out, '\'');
        if (*text != '\n')
            out_char(out, *text);
    }
    out_char(out, '\'');
}

static bool
terminal(Plot *plot, Out *why)
{
    const PlotOptions *o = plot->options;
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    uint32_t width = o->width ? o->width : 960, height = o->height ? o->height : 150 + 270 * plot->panels;
    if (!o->output)
        out_printf(&plot->script, "set terminal dumb size %u, %u\nset encoding utf8\n", o->width ? o->width : 100,
                   o->height ? o->height : 10 + 18 * plot->panels);
    else if (dot && !strcmp(dot, ".svg"))
        out_printf(&plot->script, "set terminal svg noenhanced size %u, %u font 'Helvetica,14' background '#ffffff'\n", width, height);
    else if (dot && !strcmp(dot, ".png"))
        out_printf(&plot->script, "set terminal pngcairo noenhanced size %u, %u font 'Helvetica,11'\n", width, height);
    else if (dot && !strcmp(dot, ".pdf"))
        out_printf(&plot->script, "set terminal pdfcairo noenhanced size %.2fin, %.2fin font 'Helvetica,11'\n", width / 96.0, height / 96.0);
    else {
        out_printf(why, "-o %s: pictures are .svg, .png, .pdf or .html\n", o->output);
        return false;
    }
    if (o->output) {
        out_text(&plot->script, "set output ");
        quoted(&plot->script, o->output);
        out_char(&plot->script, '\n');
    }
    return true;
}

static void
axis_label(Plot *plot, const char *axis, const char *name, const char *unit)
{
    Out label = {0};
    out_printf(&label, "%s%s%s%s%s", name, *name && *unit ? " " : "", *unit ? "[" : "", unit, *unit ? "]" : "");
    out_printf(&plot->script, "set %s ", axis);
    quoted(&plot->script, label.text ? label.text : "");
    out_text(&plot->script, plot->options->output ? "\n" : " noenhanced\n");
    out_free(&label);
}

static void
panel(Plot *plot, uint32_t which)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5200", "#56b4e9", "#b8a100", "#000000"};
    const PlotOptions *o = plot->options;
    uint32_t drawn = 0, last = 0, members = 0;
    for (uint32_t i = 0; i < o->n_variables; i++)
        if (plot->panel[i] == which) {
            last = i;
            members++;
        }
    axis_label(plot, "ylabel", members == 1 ? o->variables[last] : "", unit_of(plot, plot->column[last]));
    if (which + 1 == plot->panels)
        axis_label(plot, "xlabel", plot->table->name[plot->x], plot->x || *unit_of(plot, 0) ? unit_of(plot, plot->x) : "s");
    if (o->logarithmic) // a Bode diagram: phases are read in quarters of a turn
        out_text(&plot->script, strcmp(unit_of(plot, plot->column[last]), "degrees") ? "set ytics autofreq\n" : "set ytics 90\n");
    out_text(&plot->script, members == 1 ? "unset key\n" : "set key\n");
    out_text(&plot->script, "plot ");
    for (uint32_t i = 0; i < o->n_variables; i++) {
        if (plot->panel[i] != which)
            continue;
        out_printf(&plot->script, "%s$d%u with lines linewidth 1.8 linecolor rgb '%s' title ", drawn ? ", " : "", i,
                   colours[drawn % 8]);
        quoted(&plot->script, o->variables[i]);
        out_text(&plot->script, o->output ? "" : " noenhanced");
        drawn++;
    }
    out_char(&plot->script, '\n');
}

static void
write_script(Plot *plot)
{
    Out *s = &plot->script;
    bool stacked = plot->panels > 1;
    for (uint32_t i = 0; i < plot->options->n_variables; i++)
        curve(plot, i, plot->column[i]);
    if (plot->options->output)
        out_text(s, "set grid linecolor rgb '#e2e2e2' linetype 1 linewidth 0.8\nset border linecolor rgb '#555555'\n");
    out_text(s, "set tics nomirror\nset key outside top center horizontal samplen 2\nset offsets graph 0, graph 0, graph 0.06, graph 0.06\n");
    if (plot->options->title && !stacked) {
        out_text(s, "set title ");
        quoted(s, plot->options->title);
        out_char(s, '\n');
    }
    if (stacked) {
        out_printf(s, "set multiplot layout %u, 1 title ", plot->panels);
        quoted(s, plot->options->title ? plot->options->title : "");
        out_text(s, "\nset lmargin 12\nset rmargin 4\n");
    }
    if (!plot->options->against)
        mark_events(plot);
    if (!plot->options->against && plot->table->rows && plot->table->value[0][plot->table->rows - 1] > plot->table->value[0][0])
        out_printf(s, "set xrange [%.9g:%.9g]\n", plot->table->value[0][0], plot->table->value[0][plot->table->rows - 1]);
    if (plot->options->logarithmic)
        out_text(s, "set logscale x\nset format x '%g'\nset mxtics 10\nset grid mxtics linecolor rgb '#f0f0f0' linetype 1 linewidth 0.6\n");
    for (uint32_t p = 0; p < plot->panels; p++)
        panel(plot, p);
    if (stacked)
        out_text(s, "unset multiplot\n");
}

static int
run_gnuplot(const Plot *plot, Out *why)
{
    fflush(stdout);
    FILE *pipe = popen("gnuplot", "w");
    bool written = pipe && fwrite(plot->script.text, 1, plot->script.length, pipe) == plot->script.length;
    int status = pipe ? pclose(pipe) : -1;
    if (written && status == 0)
        return 0;
    out_text(why, status == 127 << 8 || !pipe ? "gnuplot, which draws, cannot be run (Debian: apt install gnuplot-nox)\n"
                                              : "gnuplot could not draw the picture\n");
    return 5;
}

// --- a page

static bool
is_page(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    return dot && !strcmp(dot, ".html");
}

static int
write_page(const Plot *plot, Out *why)
{
    const PlotOptions *o = plot->options;
    const char *title = o->title ? o->title : "Results";
    FILE *file = fopen(o->output, "wb");
    Out page = {0};
    page_begin(title, &page);
    out_text(&page, "<header><h1>");
    out_html(&page, title);
    out_text(&page, "</h1></header>\n");
    page_plots(plot->table, o->variables, o->n_variables, o->against, &page);
    page_end(false, &page);
    int error = file ? out_flush(&page, file) : errno;
    if (file && fclose(file) && !error)
        error = errno;
    out_free(&page);
    if (error)
        out_printf(why, "%s: %s\n", o->output, strerror(error));
    return error ? 5 : 0;
}

int
plot_table(const Table *table, const PlotOptions *options, Out *why)
{
    Plot plot = {.table = table, .options = options};
    int status = 2;
    plot.column = calloc((size_t)options->n_variables + 1, sizeof *plot.column);
    plot.panel = calloc((size_t)options->n_variables + 1, sizeof *plot.panel);
    if (!plot.column || !plot.panel)
        out_text(why, "memory is exhausted\n");
    else if (!options->n_variables)
        out_text(why, "which variables? give their names\n");
    else if (!table->rows)
        out_text(why, "the result has no rows\n");
    else if (choose_columns(&plot, why) && is_page(options->output)) {
        status = write_page(&plot, why);
    } else if (!why->length && terminal(&plot, why)) {
        write_script(&plot);
        status = run_gnuplot(&plot, why);
    }
    free(plot.column);
    free(plot.panel);
    out_free(&plot.script);
    return status;
}
