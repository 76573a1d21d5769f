// parallel_axes.c: a study in parallel coordinates.
//
// Purpose: which combinations of factors bring which outputs, of more than two at once (A. Inselberg, The Visual Computer 1 (1985) 69). Method: an axis for each
// factor and output, from its least to its largest value; each run is a line across them, in the colour of the last output. Of many runs as many, evenly, as can
// be told apart. Contract: gather.h. Complexity: linear in the runs drawn.
#include "frontend/sweep/gather.h"

#include <math.h>
#include <stdlib.h>

#include "frontend/page/plot.h"

enum { LINES_MOST = 1500, AXIS_WIDTH = 130, SIDES = 110, HEIGHT = 420 };

typedef struct Axes {
    uint32_t factors, n;        // factors, then outputs
    double low[DRAWN_FACTORS + DRAWN_OUTPUTS], high[DRAWN_FACTORS + DRAWN_OUTPUTS];
} Axes;

// All values of a run; false: it has none to draw.
static bool
take_run(const Study *study, ShardIndex *index, const Axes *axes, uint64_t id, double *point, double *value)
{
    Record record;
    if (!shard_index_record(index, id, &record) || record.head.status != RUN_OK)
        return false;
    design_point(study, id, point);
    bool good = true;
    for (uint32_t k = 0; k < axes->n; k++) {
        value[k] = k < axes->factors ? point[k] : record.output[k - axes->factors];
        good = good && isfinite(value[k]);
    }
    return good;
}

static void
put_axes(const Study *study, const Axes *axes, Out *script)
{
    out_text(script, "unset key\nunset border\nunset ytics\nset cbtics format '%h'\nset palette defined (0 '#0072b2', 0.5 '#cccccc', 1 '#d55e00')\nset xtics scale 0 (");
    for (uint32_t k = 0; k < axes->n; k++) {
        out_text(script, k ? ", " : "");
        plot_quoted(script, k < axes->factors ? study->factor[k].name : study->output[k - axes->factors].name);
        out_printf(script, " %u", k);
    }
    out_printf(script, ") noenhanced\nset xrange [-0.3:%.1f]\nset yrange [-0.08:1.08]\n", axes->n - 0.7);
    for (uint32_t k = 0; k < axes->n; k++) {
        out_printf(script, "set arrow from %u, 0 to %u, 1 nohead linecolor rgb '#555555' linewidth 1 front\n", k, k);
        out_printf(script, "set label '%.4g' at %u, -0.045 center front\nset label '%.4g' at %u, 1.045 center front\n", axes->low[k], k, axes->high[k], k);
    }
    out_printf(script, "set cbrange [%.12g:%.12g]\nset cblabel ", axes->low[axes->n - 1],
               axes->high[axes->n - 1] > axes->low[axes->n - 1] ? axes->high[axes->n - 1] : axes->low[axes->n - 1] + 1);
    plot_quoted(script, study->output[axes->n - 1 - axes->factors].name);
    out_text(script, " noenhanced\n");
}

void
gather_parallel(const Study *study, ShardIndex *index, Drawn *drawn)
{
    Axes axes = {.factors = study->factors < DRAWN_FACTORS ? study->factors : DRAWN_FACTORS};
    axes.n = axes.factors + (study->outputs < DRAWN_OUTPUTS ? study->outputs : DRAWN_OUTPUTS);
    double *point = base_calloc((size_t)study->factors + 1, sizeof *point), value[DRAWN_FACTORS + DRAWN_OUTPUTS];
    uint64_t step = index->runs / LINES_MOST + 1;
    for (uint32_t k = 0; k < axes.n; k++) {
        axes.low[k] = INFINITY;
        axes.high[k] = -INFINITY;
    }
    for (uint64_t id = 0; id < index->runs; id += step)
        for (uint32_t k = 0; k < axes.n && (k || take_run(study, index, &axes, id, point, value)); k++) {
            axes.low[k] = fmin(axes.low[k], value[k]);
            axes.high[k] = fmax(axes.high[k], value[k]);
        }
    out_text(drawn->script, "$d << EOD\n");
    for (uint64_t id = 0; id < index->runs; id += step) {
        if (!take_run(study, index, &axes, id, point, value))
            continue;
        for (uint32_t k = 0; k < axes.n; k++) {
            double span = axes.high[k] - axes.low[k];
            out_printf(drawn->script, "%u %.6g %.9g\n", k, span > 0 ? (value[k] - axes.low[k]) / span : 0.5, value[axes.n - 1]);
        }
        out_char(drawn->script, '\n');
    }
    out_text(drawn->script, "NaN NaN NaN\nEOD\n");
    put_axes(study, &axes, drawn->script);
    out_text(drawn->script, "plot $d using 1:2:3 with lines linewidth 0.8 linecolor palette\n");
    drawn->width = SIDES + AXIS_WIDTH * axes.n;
    drawn->height = HEIGHT;
    free(point);
}
