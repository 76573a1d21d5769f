// optimum_picture.c: a front, or how a search went, as a picture and as a page.
//
// Purpose: what one aim costs in the other is seen in a curve. Method: a front has a panel with its points and, below, one for each quantity along it; a
// search has a panel with the objective of each run. gnuplot draws (frontend/page/plot.h). Contract: optimum.h. Complexity: linear in the points.
#include "frontend/optimum/optimum.h"

#include <math.h>

#include "frontend/page/plot.h"

enum { WIDTH = 760, FRONT_HEIGHT = 420, QUANTITY_HEIGHT = 170, HISTORY_HEIGHT = 360, QUANTITIES_MOST = 8 };

static void
put_range(const char *axis, double low, double high, Out *script)
{
    double more = high - low > 1e-6 * fabs(high) ? 0.06 * (high - low) : high != 0 ? 0.1 * fabs(high) : 1;
    if (low > high)
        low = high = 0;
    out_printf(script, "set %srange [%.12g:%.12g]\n", axis, low - more, high + more);
}

static void
put_style(Out *script)
{
    out_text(script, "set tics nomirror\nset grid linecolor rgb '#e2e2e2' linetype 1 linewidth 0.8\nset border 3 linecolor rgb '#555555'\n"
                     "set format '%h'\nset lmargin at screen 0.14\nset rmargin at screen 0.96\n");
}

// Of the points of a front: a column of the values of quantities or goals; its extent.
static void
put_extent(const OptimumRequest *request, const Optima *optima, const char *axis, bool goal, uint32_t which, Out *script)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < optima->n; i++) {
        double value = goal ? optima->at[i].value[which] : optima->at[i].x[which];
        low = fmin(low, value);
        high = fmax(high, value);
    }
    if (goal && optima->begin.end != SEARCH_NO_START && request->objectives > 1) {
        low = fmin(low, optima->begin.value[which]);
        high = fmax(high, optima->begin.value[which]);
    }
    put_range(axis, low, high, script);
}

static uint32_t
put_front(const OptimumRequest *request, const Optima *optima, Out *script)
{
    uint32_t n = request->free->n < QUANTITIES_MOST ? request->free->n : QUANTITIES_MOST, height = FRONT_HEIGHT + n * QUANTITY_HEIGHT;
    bool began = optima->begin.end != SEARCH_NO_START;
    out_text(script, "$d << EOD\n");
    for (uint32_t i = 0; i < optima->n; i++) {
        out_printf(script, "%.9g %.9g", optima->at[i].value[0], optima->at[i].value[1]);
        for (uint32_t k = 0; k < n; k++)
            out_printf(script, " %.9g", optima->at[i].x[k]);
        out_char(script, '\n');
    }
    out_text(script, "EOD\n");
    if (began)
        out_printf(script, "$b << EOD\n%.9g %.9g\nEOD\n", optima->begin.value[0], optima->begin.value[1]);
    put_style(script);
    out_text(script, "set multiplot\n");
    out_printf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset key top right\n", 1 - 20.0 / height, 1 - (FRONT_HEIGHT - 60.0) / height);
    put_extent(request, optima, "x", true, 0, script);
    put_extent(request, optima, "y", true, 1, script);
    plot_label("x", request->goal[0].written, "", script);
    plot_label("y", request->goal[1].written, "", script);
    out_text(script, "plot $d using 1:2 with linespoints pointtype 7 pointsize 0.7 linewidth 1.6 linecolor rgb '#0072b2' title 'front'");
    out_text(script, began ? ", $b using 1:2 with points pointtype 5 pointsize 0.9 linecolor rgb '#d55e00' title 'start'\n" : "\n");
    out_text(script, "unset key\n");
    for (uint32_t k = 0; k < n; k++) {
        double top = FRONT_HEIGHT + k * QUANTITY_HEIGHT;
        out_printf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset ytics autofreq\n", 1 - (top + 8) / height, 1 - (top + QUANTITY_HEIGHT - 52) / height);
        put_extent(request, optima, "y", false, k, script);
        plot_label("x", k + 1 == n ? request->goal[0].written : "", "", script);
        plot_label("y", request->free->at[k].name, request->free->at[k].unit, script);
        out_printf(script, "plot $d using 1:%u with linespoints pointtype 7 pointsize 0.5 linewidth 1.4 linecolor rgb '#0072b2'\n", k + 3);
    }
    out_text(script, "unset multiplot\n");
    return height;
}

// Runs that meet the constraints, and those that do not; of what was far off at first the upper end is cut.
static uint32_t
put_history(const OptimumRequest *request, const Optima *optima, Out *script)
{
    double low = INFINITY, high = -INFINITY;
    out_text(script, "$d << EOD\n");
    for (uint32_t i = 0; i < optima->history.n; i++) {
        const OptimumRun *run = &optima->history.at[i];
        if (!run->good)
            continue;
        bool fine = run->worst <= OPTIMUM_MISS;
        out_printf(script, fine ? "%u %.9g NaN\n" : "%u NaN %.9g\n", i + 1, run->value[0]);
        low = fmin(low, run->value[0]);
        high = fmax(high, run->value[0]);
    }
    out_text(script, "1 NaN NaN\nEOD\n");
    put_style(script);
    out_printf(script, "set tmargin at screen 0.9\nset bmargin at screen 0.17\nset key at screen 0.96, screen 0.97 horizontal right\nset xrange [0:%u]\n", optima->history.n + 1);
    put_range("y", low, high, script);
    plot_label("x", "run", "", script);
    plot_label("y", request->goal[0].written, "", script);
    out_printf(script, "plot %.12g with lines linewidth 1 linecolor rgb '#888888' notitle, $d using 1:2 with points pointtype 7 pointsize 0.6 linecolor rgb '#0072b2' title '%s', "
                       "$d using 1:3 with points pointtype 6 pointsize 0.6 linecolor rgb '#d55e00' title '%s'\n",
               optima->at->value[0], "within the constraints", "a constraint is missed");
    return HISTORY_HEIGHT;
}

static uint32_t
put_script(const OptimumRequest *request, const Optima *optima, Out *script)
{
    return (request->objectives > 1 ? put_front : put_history)(request, optima, script);
}

int
optimum_draw(const OptimumRequest *request, const Optima *optima, const char *path, Out *why)
{
    Out script = {0};
    uint32_t height = put_script(request, optima, &script);
    int status = plot_script(&script, path, WIDTH, height, why);
    out_free(&script);
    return status;
}

int
optimum_page(const OptimumRequest *request, const Optima *optima, const char *model, const char *path, Out *why)
{
    Out script = {0}, text = {0}, title = {0};
    uint32_t height = put_script(request, optima, &script);
    out_printf(&title, request->objectives > 1 ? "%s: a front" : "%s, optimised", model);
    optimum_print(request, optima, model, &text);
    const DrawnPage about = {title.text, text.text, request->objectives > 1 ? "the front, and the quantities along it" : "the objective of each run"};
    int status = plot_script_page(&script, WIDTH, height, &about, path, why);
    out_free(&script);
    out_free(&text);
    out_free(&title);
    return status;
}
