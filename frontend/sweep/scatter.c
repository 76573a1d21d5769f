// scatter.c: a picture of a study: what each output has to do with each factor.
//
// Purpose: a look at many runs. Method: a panel for each factor (across) and output (down), a point for each run that came to its end; of
// many runs as many, evenly, as can be told apart. gnuplot draws (frontend/page/plot.h).
// Contract: gather.h. Complexity: linear in the runs drawn.
#include "frontend/sweep/gather.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/page/plot.h"

enum { POINTS_MOST = 4000, PANEL_WIDTH = 250, PANEL_HEIGHT = 190, BESIDE = 70, AXIS_WIDTH = 155, LETTER_WIDTH = 8 };

// What has been drawn of a factor or an output; low > high: nothing.
typedef struct Extent {
    double low, high;
} Extent;

static void
put_value(Out *script, double value, Extent *extent)
{
    if (!isfinite(value)) {
        out_text(script, " NaN");
        return;
    }
    out_printf(script, " %.9g", value);
    extent->low = fmin(extent->low, value);
    extent->high = fmax(extent->high, value);
}

static void
put_points(const Study *study, ShardIndex *index, uint32_t factors, uint32_t outputs, Extent *extent, Out *script)
{
    double *value = base_calloc((size_t)study->factors + 1, sizeof *value);
    uint64_t step = index->runs / POINTS_MOST + 1;
    Record record;
    for (uint32_t k = 0; k < factors + outputs; k++)
        extent[k] = (Extent){INFINITY, -INFINITY};
    out_text(script, "$d << EOD\n");
    for (uint64_t id = 0; id < index->runs; id += step) {
        if (!shard_index_record(index, id, &record) || record.head.status != RUN_OK)
            continue;
        design_point(study, id, value);
        for (uint32_t k = 0; k < factors; k++)
            put_value(script, value[k], &extent[k]);
        for (uint32_t k = 0; k < outputs; k++)
            put_value(script, record.output[k], &extent[factors + k]);
        out_char(script, '\n');
    }
    out_text(script, "EOD\n");
    free(value);
}

double
gather_between_marks(double low, double high)
{
    static const double round[] = {1, 2, 2.5, 4, 5, 8, 10, 20, 25, 40, 50, 80, 100};
    double range = high - low, raw = range / 2.5, power = pow(10, floor(log10(raw))), part = raw / power;
    double step = (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10) * power;
    for (size_t k = 0; k < sizeof round / sizeof *round; k++) {
        double wider = round[k] * power;
        char last[32];
        int letters = snprintf(last, sizeof last, "%.9g", floor(high / wider) * wider);
        if (wider >= step && wider * AXIS_WIDTH > 1.1 * range * (letters * LETTER_WIDTH + LETTER_WIDTH))
            return wider;
    }
    return step;
}

// Values of a structural factor are numbers of texts.
static void
put_marks(const Factor *factor, Extent extent, Out *script)
{
    if (!factor->structural) {
        double step = gather_between_marks(extent.low, extent.high);
        if (step > 0 && isfinite(step))
            out_printf(script, "set xtics %.9g\n", step);
        else
            out_text(script, "set xtics autofreq\n");
        return;
    }
    out_text(script, "set xtics (");
    for (uint32_t i = 0; i < factor->values.n; i++) {
        out_text(script, i ? ", " : "");
        plot_quoted(script, factor->text[i]);
        out_printf(script, " %u", i);
    }
    out_text(script, ")\n");
}

// gnuplot refuses panels of nothing, and of one value, unless it is told what they show.
static void
put_range(const char *axis, Extent extent, Out *script)
{
    if (extent.low > extent.high)
        extent = (Extent){0, 1};
    double more = extent.high > extent.low ? 0.05 * (extent.high - extent.low) : extent.high != 0 ? 0.1 * fabs(extent.high) : 1;
    out_printf(script, "set %srange [%.15g:%.15g]\n", axis, extent.low - more, extent.high + more);
}

static void
draw_scatter(const Study *study, ShardIndex *index, Drawn *drawn)
{
    uint32_t factors = study->factors < DRAWN_FACTORS ? study->factors : DRAWN_FACTORS;
    uint32_t outputs = study->outputs < DRAWN_OUTPUTS ? study->outputs : DRAWN_OUTPUTS;
    Extent extent[DRAWN_FACTORS + DRAWN_OUTPUTS];
    Out *script = drawn->script;
    put_points(study, index, factors, outputs, extent, script);
    out_text(script, "unset key\nset tics nomirror\nset border 3 linecolor rgb '#555555'\nset grid linecolor rgb '#e8e8e8' linetype 1 linewidth 0.8\n"
                     "set format '%h'\nset lmargin 11\nset rmargin 2\n");
    out_printf(script, "set multiplot layout %u, %u\n", outputs, factors);
    for (uint32_t o = 0; o < outputs; o++)
        for (uint32_t k = 0; k < factors; k++) {
            plot_label("x", o + 1 == outputs ? study->factor[k].name : "", "", script);
            plot_label("y", k == 0 ? study->output[o].name : "", "", script);
            put_range("x", extent[k], script);
            put_range("y", extent[factors + o], script);
            put_marks(&study->factor[k], extent[k], script);
            out_printf(script, "plot $d using %u:%u with points pointtype 7 pointsize 0.3 linecolor rgb '#0072b2', NaN notitle\n", k + 1, factors + o + 1);
        }
    out_text(script, "unset multiplot\n");
    drawn->width = BESIDE + PANEL_WIDTH * factors;
    drawn->height = BESIDE + PANEL_HEIGHT * outputs;
}

static int
write_drawing(const Study *study, const ShardIndex *index, const Drawn *drawn, const char *about, const char *path, Out *why)
{
    const char *dot = strrchr(path, '.');
    if (!dot || strcmp(dot, ".html") != 0)
        return plot_script(drawn->script, path, drawn->width, drawn->height, why);
    Out text = {0};
    out_printf(&text, "%s: %llu runs", study->name, (unsigned long long)index->found);
    if (index->found > index->of[RUN_OK])
        out_printf(&text, ", %llu of them without a result", (unsigned long long)(index->found - index->of[RUN_OK]));
    out_char(&text, '\n');
    for (uint32_t k = 0; k < study->factors; k++)
        out_printf(&text, "factor %s = %s\n", study->factor[k].name, study->factor[k].written);
    for (uint32_t k = 0; k < study->outputs; k++)
        out_printf(&text, "output %s = %s\n", study->output[k].name, study->output[k].written);
    int status = plot_script_page(drawn->script, drawn->width, drawn->height, &(DrawnPage){study->name, text.text, about}, path, why);
    out_free(&text);
    return status;
}

int
gather_draw(const Study *study, ShardIndex *index, const char *kind, const char *path, Out *why)
{
    Out script = {0};
    Drawn drawn = {.script = &script};
    bool bands = kind && !strcmp(kind, "bands");
    if ((!study->outputs && !bands) || !index->of[RUN_OK]) {
        out_text(why, study->outputs || bands ? "no run came to its end: there is nothing to draw\n" : "the study has no outputs to draw\n");
        return 2;
    }
    bool good = true;
    if (bands)
        good = gather_bands(study, index, &drawn, why);
    else if (kind && !strcmp(kind, "parallel"))
        gather_parallel(study, index, &drawn);
    else if (kind && !strcmp(kind, "surface"))
        good = gather_surface(study, index, &drawn, why);
    else
        draw_scatter(study, index, &drawn);
    int status = good ? write_drawing(study, index, &drawn, bands ? "trajectories of the runs over time" : "outputs and factors of the runs", path, why) : 2;
    out_free(&script);
    return status;
}
