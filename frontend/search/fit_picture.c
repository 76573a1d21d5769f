// fit_picture.c: a fit as a picture and as a page.
//
// Purpose: whether a model fits is seen in its residuals sooner than in any number. Method: for each variable and file a panel with data
// and model and one with the residuals; gnuplot draws (frontend/page/plot.h), and a page has the same picture within it.
// Contract: fit.h. Complexity: linear in the data; of many data as many, evenly, as can be told apart.
#include "frontend/search/fit.h"

#include <math.h>

#include "frontend/page/plot.h"

enum { POINTS_MOST = 3000, PANELS_MOST = 12, WIDTH = 860, HEIGHT_OF_DATA = 260, HEIGHT_OF_RESIDUALS = 120 };

typedef struct Panel {
    const Experiment *e;
    uint32_t column, file;
} Panel;

static void
put_data(const Panel *panel, uint32_t number, Out *script)
{
    const Experiment *e = panel->e;
    uint32_t step = e->data.rows / POINTS_MOST + 1;
    out_printf(script, "$d%u << EOD\n", number);
    for (uint32_t row = 0; row < e->data.rows; row += step) {
        size_t at = (size_t)row * e->columns + panel->column;
        if (!isnan(e->measured[at]))
            out_printf(script, "%.9g %.9g %.9g %.9g\n", e->data.time[row], e->measured[at], e->best[at], e->measured[at] - e->best[at]);
    }
    out_text(script, "EOD\n");
}

// A range with a margin, also of one value.
static void
put_range(const Panel *panel, bool residuals, Out *script)
{
    const Experiment *e = panel->e;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t row = 0; row < e->data.rows; row++) {
        size_t at = (size_t)row * e->columns + panel->column;
        double a = residuals ? e->measured[at] - e->best[at] : e->measured[at], b = residuals ? 0 : e->best[at];
        if (isnan(e->measured[at]))
            continue;
        low = fmin(low, fmin(a, b));
        high = fmax(high, fmax(a, b));
    }
    double more = high > low ? 0.08 * (high - low) : fabs(high) > 0 ? 0.1 * fabs(high) : 1;
    out_printf(script, "set yrange [%.12g:%.12g]\n", low - more, high + more);
    // So few marks that their numbers stand apart in the lower panel.
    double raw = (high - low + 2 * more) / 3, power = pow(10, floor(log10(raw))), part = raw / power;
    if (residuals && isfinite(power))
        out_printf(script, "set ytics %.9g\n", (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power);
    else
        out_text(script, "set ytics autofreq\n");
}

static void
put_time_range(const Experiment *e, Out *script)
{
    double from = e->data.time[0], to = e->data.time[e->data.rows - 1];
    out_printf(script, "set xrange [%.12g:%.12g]\n", from, to > from ? to : from + 1);
}

static void
put_panel(const Fit *fit, const Panel *panel, uint32_t number, double top, double height, double whole, Out *script)
{
    const FitKind *kind = &fit->kind[panel->e->column[panel->column].kind];
    double data = height * HEIGHT_OF_DATA / (HEIGHT_OF_DATA + HEIGHT_OF_RESIDUALS), margin = 34 / whole;
    put_time_range(panel->e, script);
    out_printf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset format x ''\nunset xlabel\n", top - margin, top - data);
    plot_label("y", kind->name, kind->unit, script);
    put_range(panel, false, script);
    out_text(script, "set title ");
    plot_quoted(script, fit->experiments > 1 ? panel->e->data.path : "");
    out_printf(script, " noenhanced\nset key\nplot $d%u using 1:2 with points pointtype 7 pointsize 0.35 linecolor rgb '#d55e00' title 'data', "
                       "$d%u using 1:3 with lines linewidth 1.8 linecolor rgb '#0072b2' title 'model'\n", number, number);
    out_printf(script, "set tmargin at screen %.6f\nset bmargin at screen %.6f\nset format x '%%h'\nset xlabel 'time [s]'\nset title ''\nunset key\n",
               top - data - 12 / whole, top - height + 66 / whole);
    plot_label("y", "residual", kind->unit, script);
    put_range(panel, true, script);
    out_printf(script, "plot 0 with lines linewidth 1 linecolor rgb '#888888' notitle, $d%u using 1:4 with points pointtype 7 pointsize 0.3 linecolor rgb '#d55e00' notitle\n", number);
}

// The drawing; its height in pixels.
static uint32_t
put_script(const Fit *fit, Out *script)
{
    Panel panel[PANELS_MOST];
    uint32_t panels = 0, each = HEIGHT_OF_DATA + HEIGHT_OF_RESIDUALS;
    for (uint32_t i = 0; i < fit->experiments; i++)
        for (uint32_t c = 0; c < fit->experiment[i].columns && panels < PANELS_MOST; c++)
            panel[panels++] = (Panel){&fit->experiment[i], c, i};
    for (uint32_t k = 0; k < panels; k++)
        put_data(&panel[k], k, script);
    out_text(script, "set tics nomirror\nset grid linecolor rgb '#e2e2e2' linetype 1 linewidth 0.8\nset border linecolor rgb '#555555'\n"
                     "set format y '%h'\nset key outside top right horizontal reverse Left samplen 2\nset lmargin at screen 0.13\nset rmargin at screen 0.97\nset multiplot\n");
    for (uint32_t k = 0; k < panels; k++)
        put_panel(fit, &panel[k], k, 1 - (double)k / panels, 1.0 / panels, (double)panels * each, script);
    out_text(script, "unset multiplot\n");
    return panels * each;
}

int
fit_draw(const Fit *fit, const char *path, Out *why)
{
    Out script = {0};
    uint32_t height = put_script(fit, &script);
    int status = plot_script(&script, path, WIDTH, height, why);
    out_free(&script);
    return status;
}

int
fit_page(const Fit *fit, const char *model, const char *path, Out *why)
{
    Out script = {0}, text = {0}, title = {0};
    uint32_t height = put_script(fit, &script);
    out_printf(&title, "%s, fitted", model);
    fit_print(fit, model, &text);
    int status = plot_script_page(&script, WIDTH, height, &(DrawnPage){title.text, text.text, "data, model and residuals"}, path, why);
    out_free(&script);
    out_free(&text);
    out_free(&title);
    return status;
}
