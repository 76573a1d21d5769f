// plot.c: pictures of results.
//
// Purpose: a look at a result, good enough for a report. Method: gnuplot draws; it gets a script with the data in it.
//   Variables with the same unit share a panel, panels share the time axis; instants at which a variable jumps are marked.
//   Long results are thinned to what a picture can show: the first, smallest, largest and last value of each column of
//   pixels. Ranges are computed here: values that are constant, a single one, and none at all have pictures, too.
// Contract: plot.h. Complexity: linear in the rows drawn.
#include "frontend/page/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/page/bands.h"
#include "frontend/page/page.h"
#include "frontend/page/shades.h"
#include "ir/base/replace.h"
#include "runtime/model/nearest.h"

enum { MOST_EVENTS = 60, BUCKETS = 1600, COLOURS = 8, LEGEND_ROW = 20 };

typedef struct Curve {
    const Table *table;
    uint32_t column, x; // of the table
    uint32_t panel;
    const char *name;
} Curve;

typedef struct Plot {
    const PlotOptions *options;
    Curve *curve;
    uint32_t curves, panels;
    uint32_t *shade;              // columns of what is shaded, n_shades for each result
    const PlotResult *results; // NULL: there is one
    uint32_t height; // of one panel with its names, in pixels; 0: a terminal
    uint32_t width;  // of the picture
    Out script;
    Replacement drawing;  // what gnuplot draws into
} Plot;

// --- names and panels

// Its name contains the wanted one, or it belongs to the same component.
static bool
is_near(const char *candidate, const char *wanted)
{
    const char *dot = strrchr(wanted, '.');
    size_t component = dot ? (size_t)(dot - wanted) + 1 : 0;
    return strstr(candidate, wanted) || (component && !strncmp(candidate, wanted, component));
}

static bool
find_column(const Table *table, const char *name, uint32_t *column, Out *why)
{
    enum { SHOWN = 12 };
    *column = table_find(table, name);
    if (*column != UINT32_MAX)
        return true;
    out_printf(why, "the result has no variable '%s'", name);
    uint32_t shown = 0;
    for (uint32_t k = 0; k < table->columns && shown < SHOWN; k++)
        if (is_near(table->name[k], name) || table->columns <= SHOWN)
            out_printf(why, "%s %s", shown++ ? "," : "; it has", table->name[k]);
    out_printf(why, shown ? ", %u in all" : " among its %u", table->columns);
    const char *nearest = nearest_name(name, (const char *const *)table->name, table->columns);
    if (nearest && (!shown || strchr(name, '.')))
        out_printf(why, "; did you mean '%s'?", nearest);
    out_char(why, '\n');
    return false;
}

static const char *
unit_of(const Table *table, uint32_t column)
{
    const char *unit = table->unit[column];
    return unit && strcmp(unit, "1") ? unit : "";
}

static const char *
curve_unit(const Curve *curve)
{
    return unit_of(curve->table, curve->column);
}

// Of one result curves with the same unit share a panel; of several, those of one variable, or of one result.
static uint32_t
panel_of(const Plot *plot, uint32_t n, uint32_t index)
{
    uint32_t variables = plot->options->n_variables, same = 0;
    if (n > 1)
        return plot->options->by_result ? index / variables : index % variables;
    while (same < index && strcmp(curve_unit(&plot->curve[same]), curve_unit(&plot->curve[index])))
        same++;
    return same < index ? plot->curve[same].panel : plot->panels;
}

static bool
choose_columns(Plot *plot, const PlotResult *results, uint32_t n, Out *why)
{
    const PlotOptions *o = plot->options;
    plot->curves = n * o->n_variables;
    for (uint32_t i = 0; i < plot->curves; i++) {
        const PlotResult *result = &results[i / o->n_variables];
        const char *variable = o->variables[i % o->n_variables];
        Curve *curve = &plot->curve[i];
        *curve = (Curve){.table = result->table, .name = n > 1 && !o->by_result ? result->label : variable};
        if ((o->against && !find_column(curve->table, o->against, &curve->x, why)) || !find_column(curve->table, variable, &curve->column, why))
            return false;
        curve->panel = panel_of(plot, n, i);
        plot->panels = curve->panel + 1 > plot->panels ? curve->panel + 1 : plot->panels;
    }
    for (uint32_t k = 0; k < n * o->n_shades; k++)
        if (!find_column(results[k / o->n_shades].table, o->shades[k % o->n_shades], &plot->shade[k], why))
            return false;
    return true;
}

// --- data

static void
number(Out *out, double value)
{
    if (isfinite(value))
        out_printf(out, "%.15g", value); // what is large may vary by little
    else
        out_text(out, "NaN");
}

static void
point(Plot *plot, const Curve *curve, uint32_t row)
{
    number(&plot->script, curve->table->value[curve->x][row]);
    out_char(&plot->script, ' ');
    number(&plot->script, curve->table->value[curve->column][row]);
    out_char(&plot->script, '\n');
}

// The rows of one bucket that a picture can tell apart, in order.
static void
bucket(Plot *plot, const Curve *curve, uint32_t from, uint32_t to)
{
    const double *value = curve->table->value[curve->column];
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
            point(plot, curve, keep[i]);
}

// Of many runs below their bands only some are drawn.
static bool
is_drawn(const Plot *plot, uint32_t index)
{
    uint32_t variables = plot->options->n_variables, results = plot->curves / variables;
    return !plot->options->bands || index / variables % (results / BANDS_LINES + 1) == 0;
}

// A block with the bands of variable k.
static bool
band_data(Plot *plot, uint32_t k)
{
    uint32_t variables = plot->options->n_variables;
    double from = INFINITY, to = -INFINITY;
    for (uint32_t i = k; i < plot->curves; i += variables) {
        const Table *table = plot->curve[i].table;
        from = fmin(from, table->value[0][0]);
        to = fmax(to, table->value[0][table->rows - 1]);
    }
    Bands *bands = bands_create(from, to, plot->curves / variables);
    if (!bands)
        return false;
    for (uint32_t i = k; i < plot->curves; i += variables)
        bands_add(bands, plot->curve[i].table->value[0], plot->curve[i].table->value[plot->curve[i].column], 1, plot->curve[i].table->rows);
    out_printf(&plot->script, "$b%u << EOD\n", k);
    bands_put(bands, &plot->script);
    out_text(&plot->script, "EOD\n");
    bands_free(&bands);
    return true;
}

static void
curve_data(Plot *plot, uint32_t index)
{
    const Curve *curve = &plot->curve[index];
    uint32_t rows = curve->table->rows, buckets = !plot->options->against && rows > 4 * BUCKETS ? BUCKETS : rows;
    out_printf(&plot->script, "$d%u << EOD\n", index);
    for (uint32_t b = 0; b < buckets; b++)
        bucket(plot, curve, (uint32_t)((uint64_t)b * rows / buckets), (uint32_t)(((uint64_t)b + 1) * rows / buckets));
    out_text(&plot->script, "EOD\n");
}

// --- ranges

typedef struct Range {
    double low, high; // low > high: no value is finite
} Range;

static void
extend(Range *range, const double *value, uint32_t rows, bool positive)
{
    for (uint32_t row = 0; row < rows; row++)
        if (isfinite(value[row]) && (!positive || value[row] > 0)) {
            range->low = fmin(range->low, value[row]);
            range->high = fmax(range->high, value[row]);
        }
}

// A jump is what can be seen: a velocity that becomes exactly zero when friction begins to hold is none.
static double
least_jump(const Table *table, uint32_t column)
{
    Range range = {INFINITY, -INFINITY};
    extend(&range, table->value[column], table->rows, false);
    return range.high > range.low ? 1e-6 * (range.high - range.low) : 0;
}

static void
mark_jumps(const Table *table, uint32_t column, bool *jumps)
{
    const double *time = table->value[0], *value = table->value[column];
    double least = least_jump(table, column);
    for (uint32_t row = 1; row < table->rows; row++)
        jumps[row] |= time[row] == time[row - 1] && fabs(value[row] - value[row - 1]) > least;
}

// Instants with two rows between which a drawn variable jumps; too many would hide the curves.
static void
mark_events(Plot *plot)
{
    const Table *table = plot->curve[0].table; // of several results each has its own
    uint32_t marks = 0, rows = table->rows;
    bool *jumps = calloc(rows, sizeof *jumps);
    Out lines = {0};
    for (uint32_t i = 0; jumps && i < plot->curves; i++)
        mark_jumps(table, plot->curve[i].column, jumps);
    for (uint32_t row = 1; jumps && row < rows && marks <= MOST_EVENTS; row++)
        if (jumps[row])
            out_printf(&lines, "set arrow %u from first %.9g, graph 0 to first %.9g, graph 1 nohead back linewidth 0.7 "
                       "dashtype (3,3) linecolor rgb '#9a9a9a'\n", ++marks, table->value[0][row], table->value[0][row]);
    if (marks && marks <= MOST_EVENTS)
        out_bytes(&plot->script, lines.text, lines.length);
    out_free(&lines);
    free(jumps);
}

// --- the script

// A string of gnuplot, in which nothing is a command, a macro or an end: what means something there stands as a number. In single
// quotation marks not every release can have such a mark.
void
plot_quoted(Out *out, const char *text)
{
    out_char(out, '"');
    for (; *text; text++) {
        if (strchr("\"\\`@$", *text))
            out_printf(out, "\\%03o", (unsigned)*text);
        else if ((unsigned char)*text >= ' ')
            out_char(out, *text);
    }
    out_char(out, '"');
}

void
plot_label(const char *axis, const char *name, const char *unit, Out *script)
{
    Out text = {0};
    out_printf(&text, *unit ? "%s [%s]" : "%s%s", name, unit);
    out_printf(script, "set %slabel ", axis);
    plot_quoted(script, text.text);
    out_text(script, " noenhanced\n");
    out_free(&text);
}

// Columns and lines of the terminal; of a page where standard output is none.
static void
terminal_size(const PlotOptions *options, uint32_t panels, uint32_t *width, uint32_t *height)
{
    struct winsize window = {0};
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40 && window.ws_row >= 12;
    *width = options->width ? options->width : known ? window.ws_col : 100;
    *height = options->height ? options->height : known && panels == 1 ? window.ws_row - 2u : 10 + 18 * panels;
}

// The lines that the names in the keys of all panels take, so many letters of a line being free for them.
static uint32_t
legend_rows(const Plot *plot, uint32_t letters)
{
    uint32_t rows = 0;
    for (uint32_t p = 0; p < plot->panels; p++) {
        size_t longest = 0, names = 0;
        for (uint32_t i = 0; i < plot->curves; i++) {
            size_t length = plot->curve[i].panel == p ? strlen(plot->curve[i].name) + 6 : 0;
            longest = length > longest ? length : longest;
            names += plot->curve[i].panel == p;
        }
        size_t across = longest && longest < letters ? letters / longest : 1;
        rows += names > 1 ? (uint32_t)((names + across - 1) / across) : 0;
    }
    return rows;
}

static bool
terminal(Plot *plot, Out *why)
{
    const PlotOptions *o = plot->options;
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    uint32_t width = o->width ? o->width : 960, columns, lines;
    uint32_t height = o->height ? o->height : 130 + 270 * plot->panels + LEGEND_ROW * legend_rows(plot, width / 8);
    terminal_size(o, plot->panels, &columns, &lines);
    plot->height = o->output ? height / plot->panels : 0;
    plot->width = width;
    if (!o->output)
        out_printf(&plot->script, "set terminal dumb size %u, %u\nset encoding utf8\n", columns, lines);
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
    out_text(&plot->script, "set output ");
    plot_quoted(&plot->script, plot->drawing.fresh);
    out_char(&plot->script, '\n');
    return true;
}

// Names at the axes of panels one below the other stand in one line, however long the numbers beside them are.
static void
axis_label(Plot *plot, const char *axis, const char *name, const char *unit)
{
    Out label = {0};
    bool aside = plot->panels > 1 && plot->options->output && *axis == 'y';
    out_printf(&label, "%s%s%s%s%s", name, *name && *unit ? " " : "", *unit ? "[" : "", unit, *unit ? "]" : "");
    out_printf(&plot->script, "set %s ", aside ? "label 2" : axis);
    plot_quoted(&plot->script, label.text ? label.text : "");
    if (aside)
        out_printf(&plot->script, " at screen %.6g, graph 0.5 center rotate by 90", 14.0 / plot->width);
    out_text(&plot->script, plot->options->output ? "\n" : " noenhanced\n");
    out_free(&label);
}

// What a Bode diagram shows in a panel of several curves.
static const char *
bode_axis(const char *unit)
{
    return !strcmp(unit, "dB") ? "gain" : !strcmp(unit, "degrees") ? "phase" : "";
}

// So many marks that their numbers stand apart: gnuplot does not ask how high a panel is.
static void
set_marks(Plot *plot, Range range)
{
    enum { NAMES = 80, APART = 26 }; // pixels that names take, and from number to number
    double marks = fmax(2, ((double)plot->height - NAMES) / APART), raw = (range.high - range.low) / marks;
    double power = pow(10, floor(log10(raw))), part = raw / power;
    if (plot->height && isfinite(power))
        out_printf(&plot->script, "set ytics %.9g\n", (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * power);
}

// As many digits as tell one mark from the next, where values are large beside their range.
static uint32_t
digits_of(Range range)
{
    double digits = 2 + ceil(log10(fmax(fabs(range.low), fabs(range.high))/(range.high - range.low)));
    return digits > 6 ? (uint32_t)fmin(digits, 15) : 6;
}

static void
set_digits(Plot *plot, char axis, Range range)
{
    uint32_t digits = digits_of(range);
    if (digits > 6)
        out_printf(&plot->script, "set format %c '%%.%ug'\n", axis, digits);
    else
        out_printf(&plot->script, "set format %c '%%h'\n", axis); // without a place for the sign, which moves numbers aside
}

// The name of the only curve of a panel stands at its axis, unless it is too long for that; a terminal has no letters that go upwards.
static bool
named_at_axis(const Plot *plot, const char *name, const char *unit)
{
    enum { LETTER = 8, BESIDE = 70 }; // pixels: of a letter, and of what a panel needs beside its axis
    return plot->height && (strlen(name) + strlen(unit) + 3)*LETTER + BESIDE <= plot->height;
}

// With a margin, as a part of what is shown.
static void
set_range(Plot *plot, char axis, Range range, double margin, bool logarithmic)
{
    if (range.low > range.high)
        range = logarithmic ? (Range){1, 10} : (Range){0, 1};
    double more = margin*(range.high - range.low);
    if (logarithmic) {
        double factor = range.high > range.low ? pow(range.high/range.low, margin) : 2;
        range = (Range){range.low/factor, range.high*factor};
    } else {
        more = range.high > range.low ? more : range.high ? 0.1*fabs(range.high) : 1;
        range = (Range){range.low - more, range.high + more};
    }
    out_printf(&plot->script, "set %crange [%.15g:%.15g]\n", axis, range.low, range.high);
    if (!logarithmic)
        set_digits(plot, axis, range);
    if (axis == 'y' && !logarithmic && !plot->options->logarithmic)
        set_marks(plot, range);
}

static Range
range_of_panel(const Plot *plot, uint32_t which)
{
    Range up = {INFINITY, -INFINITY};
    for (uint32_t i = 0; i < plot->curves; i++)
        if (plot->curve[i].panel == which)
            extend(&up, plot->curve[i].table->value[plot->curve[i].column], plot->curve[i].table->rows, plot->options->log_values);
    return up;
}

// Letters beside the axes of panels one below the other, which begin at one place.
static uint32_t
margin_of_panels(const Plot *plot)
{
    uint32_t digits = 6;
    for (uint32_t p = 0; p < plot->panels; p++) {
        Range range = range_of_panel(plot, p);
        uint32_t own = range.high > range.low ? digits_of(range) : 6;
        digits = own > digits ? own : digits;
    }
    return digits > 6 ? digits + 10 : 12;
}

static void
set_ranges(Plot *plot, uint32_t which)
{
    Range across = {INFINITY, -INFINITY}, up = range_of_panel(plot, which);
    for (uint32_t i = 0; i < plot->curves; i++)
        extend(&across, plot->curve[i].table->value[plot->curve[i].x], plot->curve[i].table->rows, plot->options->logarithmic);
    set_range(plot, 'x', across, plot->curve[0].x ? 0.03 : 0, plot->options->logarithmic && across.low < across.high);
    set_range(plot, 'y', up, 0.06, plot->options->log_values);
    if (up.low > up.high)
        out_printf(&plot->script, "set label 1 '%s' at graph 0.5, graph 0.5 center\n",
                   plot->options->log_values ? "no positive values" : "no values");
}

// A curve and its name in the key; between the letters of a terminal there must be gaps.
static void
print_curve(Plot *plot, uint32_t index, uint32_t drawn)
{
    static const char *const colours[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5200", "#56b4e9", "#b8a100", "#000000"};
    static const char *const dashes[] = {"1", "(8,4)", "(3,3)", "(10,3,2,3)"};
    const PlotOptions *o = plot->options;
    const Curve *curve = &plot->curve[index];
    Out name = {0};
    const char *unit = curve_unit(curve);
    if (o->output)
        out_text(&name, curve->name);
    else
        out_printf(&name, *unit ? " %s [%s]  " : " %s%s  ", curve->name, unit);
    out_printf(&plot->script, "%s$d%u with %s", drawn ? ", " : "", index,
               curve->table->rows > 1 ? "lines linewidth 1.8" : "points pointtype 7 pointsize 0.8");
    out_printf(&plot->script, " linecolor rgb '%s' dashtype %s title ", colours[drawn % COLOURS],
               curve->table->rows > 1 ? dashes[drawn/COLOURS % 4] : "1");
    plot_quoted(&plot->script, name.text);
    out_text(&plot->script, o->output ? "" : " noenhanced");
    out_free(&name);
}

// Runs below the bands of variable `which`.
static void
print_bands(Plot *plot, uint32_t which)
{
    char block[16];
    bool fine = !plot->options->output, titled = false;
    snprintf(block, sizeof block, "$b%u", which);
    for (uint32_t i = which; i < plot->curves && !fine; i += plot->options->n_variables)
        if (is_drawn(plot, i)) {
            out_printf(&plot->script, "$d%u %s%s, ", i, bands_line, titled ? " notitle" : " title 'runs'");
            titled = true;
        }
    bands_plot(block, fine, &plot->script);
}

// What all curves of a panel have in common; NULL: nothing. Of several results it is the variable, or the result.
static const char *
panel_name(const Plot *plot, uint32_t which)
{
    const PlotOptions *o = plot->options;
    if (plot->results)
        return o->by_result ? plot->results[which].label : o->variables[which];
    const char *name = NULL;
    for (uint32_t i = 0; i < plot->curves; i++) {
        if (plot->curve[i].panel != which)
            continue;
        if (name)
            return NULL;
        name = plot->curve[i].name;
    }
    return name;
}

static void
panel(Plot *plot, uint32_t which)
{
    const PlotOptions *o = plot->options;
    uint32_t drawn = 0;
    const Curve *curve = NULL;
    const char *name = panel_name(plot, which), *unit = NULL;
    for (uint32_t i = 0; i < plot->curves; i++) {
        if (plot->curve[i].panel != which)
            continue;
        curve = &plot->curve[i];
        unit = !unit || !strcmp(unit, curve_unit(curve)) ? curve_unit(curve) : ""; // a result may have several
    }
    const char *across = unit_of(curve->table, curve->x);
    bool aside = name && !o->by_result && named_at_axis(plot, name, unit), keyed = plot->results || !aside;
    if (plot->height)
        axis_label(plot, "ylabel", aside ? name : o->logarithmic ? bode_axis(unit) : "", unit);
    if (plot->results && !(plot->height && aside)) { // the key has the other names
        out_text(&plot->script, "set title ");
        plot_quoted(&plot->script, name);
        out_text(&plot->script, plot->height ? "\n" : " noenhanced\n");
    }
    if (which + 1 == plot->panels)
        axis_label(plot, "xlabel", curve->table->name[curve->x], curve->x || *across ? across : "s");
    if (o->logarithmic) // a Bode diagram: phases are read in quarters of a turn
        out_text(&plot->script, strcmp(unit, "degrees") ? "set ytics autofreq\n" : "set ytics 90\n");
    out_text(&plot->script, keyed ? "set key\nunset label 1\n" : "unset key\nunset label 1\n");
    set_ranges(plot, which);
    const uint32_t *shade = plot->shade + (plot->results ? which * o->n_shades : 0); // of several results each has a panel
    if (o->n_shades)
        shades_put(curve->table, shade, o->n_shades, &plot->script);
    out_text(&plot->script, "plot ");
    if (o->bands)
        print_bands(plot, which);
    for (uint32_t i = 0; i < plot->curves && !o->bands; i++)
        if (plot->curve[i].panel == which)
            print_curve(plot, i, drawn++);
    shades_key(o->shades, o->n_shades, &plot->script);
    out_text(&plot->script, ", NaN notitle\n"); // gnuplot refuses a picture in which nothing has a value
}

static bool
write_script(Plot *plot)
{
    Out *s = &plot->script;
    bool stacked = plot->panels > 1;
    for (uint32_t i = 0; i < plot->curves; i++)
        if (is_drawn(plot, i))
            curve_data(plot, i);
    for (uint32_t k = 0; k < plot->options->n_variables && plot->options->bands; k++)
        if (!band_data(plot, k))
            return false;
    if (plot->options->output)
        out_text(s, "set grid linecolor rgb '#e2e2e2' linetype 1 linewidth 0.8\nset border linecolor rgb '#555555'\n");
    out_text(s, "set tics nomirror\nset key outside top center horizontal reverse Left samplen 2\n");
    if (plot->options->title && !stacked) {
        out_text(s, "set title ");
        plot_quoted(s, plot->options->title);
        out_char(s, '\n');
    }
    if (stacked) {
        out_printf(s, "set multiplot layout %u, 1 title ", plot->panels);
        plot_quoted(s, plot->options->title ? plot->options->title : "");
        out_printf(s, "\nset lmargin %u\nset rmargin 4\n%s", margin_of_panels(plot), plot->height ? "" : "set tmargin 3\n");
    }
    if (!plot->options->against && !plot->results)
        mark_events(plot);
    if (plot->options->logarithmic)
        out_text(s, "set logscale x\nset format x '%g'\nset mxtics 10\nset grid mxtics linecolor rgb '#f0f0f0' linetype 1 linewidth 0.6\n");
    if (plot->options->log_values)
        out_text(s, "set logscale y\nset format y '%g'\n");
    for (uint32_t p = 0; p < plot->panels; p++)
        panel(plot, p);
    if (stacked)
        out_text(s, "unset multiplot\n");
    return true;
}

static int
run_gnuplot(const Plot *plot, Out *why)
{
    fflush(stdout);
    FILE *pipe = popen("command -v gnuplot >/dev/null || exit 127; exec gnuplot", "w");
    bool written = pipe && fwrite(plot->script.text, 1, plot->script.length, pipe) == plot->script.length;
    int status = pipe ? pclose(pipe) : -1;
    struct stat made;
    if (written && status == 0 && stat(plot->drawing.fresh, &made) == 0 && made.st_size > 0)
        return 0;
    out_text(why, status == 127 << 8 || !pipe ? "gnuplot, which draws, cannot be run (Debian: apt install gnuplot-nox)\n"
                                              : "gnuplot could not draw the picture\n");
    return 5;
}

// To the terminal, or to a device or a pipe: gnuplot would not tell whether it has arrived.
static int
copy_drawing(const Plot *plot, const char *output, Out *why)
{
    FILE *file = fopen(plot->drawing.fresh, "rb");
    int error = file ? 0 : errno, c;
    FILE *to = !error && output ? fopen(output, "ab") : stdout;
    if (!error && !to)
        error = errno;
    while (!error && (c = getc(file)) != EOF)
        if (putc(c, to) == EOF)
            error = errno ? errno : EIO;
    if (!error && fflush(to))
        error = errno ? errno : EIO;
    if (file)
        fclose(file);
    if (to && output)
        fclose(to);
    if (error && error != EPIPE)
        out_printf(why, "%s%s: %s\n", output ? "" : "cannot write ", output ? output : "standard output", strerror(error));
    return error ? 5 : 0;
}

// What a link leads to decides.
static bool
is_device(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// Into a file beside the target, or one of its own. `script`: what is drawn; NULL: the curves.
static int
draw(Plot *plot, const Out *script, Out *why)
{
    const char *folder = getenv("TMPDIR"), *output = plot->options->output;
    bool beside = output && !is_device(output);
    Out path = {0};
    out_printf(&path, "%s/mdlc-plot", folder && *folder ? folder : "/tmp");
    int error = replace_begin(&plot->drawing, beside ? output : path.text, ""), status = 5;
    if (error)
        out_printf(why, "%s: %s\n", beside ? output : path.text, strerror(error));
    out_free(&path);
    if (error)
        return 5;
    if (!terminal(plot, why)) {
        status = 2;
    } else {
        if (script)
            out_bytes(&plot->script, script->text, script->length);
        bool good = script || write_script(plot);
        if (!good)
            out_text(why, "memory is exhausted\n");
        status = good ? run_gnuplot(plot, why) : 5;
    }
    if (!status && !beside) {
        status = copy_drawing(plot, output, why);
    } else if (!status && (error = replace_end(&plot->drawing, 0))) {
        out_printf(why, "%s: %s\n", output, strerror(error));
        status = 5;
    }
    replace_abandon(&plot->drawing);
    return status;
}

int
plot_script(const Out *script, const char *output, uint32_t width, uint32_t height, Out *why)
{
    const PlotOptions options = {.output = output, .width = width, .height = height};
    Plot plot = {.options = &options, .panels = 1, .drawing = {.file = -1}};
    int status = draw(&plot, script, why);
    out_free(&plot.script);
    return status;
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
    Out page = {0};
    page_begin(title, &page);
    out_text(&page, "<header><h1>");
    out_html(&page, title);
    out_text(&page, "</h1></header>\n");
    page_plots(plot->curve[0].table, o->variables, o->n_variables, o->against, o->log_values, PAGE_NUMBERS, &page);
    page_end(PAGE_WITH_PLOTS, &page);
    int error = replace_file(o->output, page.text, page.length, 0);
    out_free(&page);
    if (error)
        out_printf(why, "%s: %s\n", o->output, strerror(error));
    return error ? 5 : 0;
}

static int
draw_curves(void *user, const char *svg, Out *why)
{
    const Plot *page = user;
    PlotOptions options = *page->options;
    Plot plot = *page;
    options.output = svg;
    plot.options = &options;
    int status = draw(&plot, NULL, why);
    out_free(&plot.script);
    return status;
}

// Of several results: the drawing, with their names.
static int
write_drawing(Plot *plot, uint32_t results, Out *why)
{
    const PlotOptions *o = plot->options;
    Out text = {0};
    for (uint32_t i = 0; i < o->n_variables; i++)
        out_printf(&text, "%s%s", i ? ", " : "", o->variables[i]);
    out_printf(&text, " of %u results", results);
    for (uint32_t k = 0; k < results && results <= BANDS_LINES; k++)
        out_printf(&text, "%s%s", k ? ", " : ": ", plot->results[k].label);
    out_char(&text, '\n');
    int status = plot_drawn_page(draw_curves, plot, &(DrawnPage){o->title ? o->title : "Results", text.text, "curves of the results over each other"}, o->output, why);
    out_free(&text);
    return status;
}

// What is drawn of one result; with `all`, everything that changes.
static bool
load(Table *table, const Plot *plot, uint32_t which, bool all, char why[TABLE_WHY])
{
    bool *wanted = calloc((size_t)table->columns + 1, sizeof *wanted);
    if (!wanted) {
        snprintf(why, TABLE_WHY, "memory is exhausted");
        return false;
    }
    for (uint32_t i = 0; i < plot->curves; i++)
        if (plot->curve[i].table == table)
            wanted[plot->curve[i].column] = wanted[plot->curve[i].x] = true;
    for (uint32_t k = 0; k < plot->options->n_shades; k++)
        wanted[plot->shade[which * plot->options->n_shades + k]] = true;
    for (uint32_t k = 0; all && k < table->columns; k++)
        wanted[k] = wanted[k] || !table->parameter[k];
    bool good = table_load(table, wanted, why);
    free(wanted);
    if (good && table->cut && !all)
        fputs("mdlc: the result's last line is no whole row and was left out; the run that wrote it was ended, or goes on\n", stderr);
    return good;
}

// A page of a result that is not large has all of it, so that other variables can be chosen there.
static bool
load_columns(Table *table, const Plot *plot, uint32_t which, Out *why)
{
    enum { PAGE_HOLDS = 4000000 }; // numbers
    char text[TABLE_WHY];
    bool good = load(table, plot, which, false, text);
    if (good && is_page(plot->options->output) && !plot->results && (uint64_t)table->rows * table->columns <= PAGE_HOLDS)
        good = load(table, plot, which, true, text);
    if (!good)
        out_printf(why, "%s\n", text);
    else if (!table->rows)
        out_text(why, "the result has no rows\n");
    return good && table->rows;
}

// What is shaded holds over time and in one result; characters and the page of one result have no such places.
static const char *
why_no_shades(const PlotOptions *o, uint32_t n)
{
    if (!o->n_shades)
        return NULL;
    if (n > 1 && !o->by_result)
        return "--shade shows when something holds in a result: of several it goes with --panels result\n";
    if (o->against || o->bands)
        return "--shade is for variables over time: it does not go with --against and --bands\n";
    return !o->output || (n == 1 && is_page(o->output)) ? "--shade needs a picture (-o NAME.svg, .png or .pdf)\n" : NULL;
}

int
plot_results(const PlotResult *results, uint32_t n, const PlotOptions *options, Out *why)
{
    Plot plot = {.options = options, .results = n > 1 ? results : NULL, .drawing = {.file = -1}};
    int status = 2;
    plot.curve = calloc((size_t)n * options->n_variables + 1, sizeof *plot.curve);
    plot.shade = calloc((size_t)n * options->n_shades + 1, sizeof *plot.shade);
    if (!plot.curve || !plot.shade)
        out_text(why, "memory is exhausted\n");
    else if (!options->n_variables)
        out_text(why, "which variables? give their names\n");
    else if (options->bands && (n < 2 || options->against || options->by_result))
        out_text(why, n < 2 ? "--bands is for several results\n" : "--bands shows variables of all results over time: it does not go with --against and --panels result\n");
    else if (why_no_shades(options, n))
        out_text(why, why_no_shades(options, n));
    else if (choose_columns(&plot, results, n, why))
        status = 0;
    for (uint32_t i = 0; i < n && !status; i++)
        status = load_columns(results[i].table, &plot, i, why) ? 0 : 5;
    if (!status)
        status = !is_page(options->output) ? draw(&plot, NULL, why) : n > 1 ? write_drawing(&plot, n, why) : write_page(&plot, why);
    free(plot.curve);
    free(plot.shade);
    out_free(&plot.script);
    return status;
}

int
plot_table(Table *table, const PlotOptions *options, Out *why)
{
    return plot_results(&(PlotResult){table, ""}, 1, options, why);
}
