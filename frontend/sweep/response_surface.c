// response_surface.c: outputs of a study over two of its factors.
//
// Purpose: a response surface. Method: the first two factors that vary and are numbers span it; colours are values between the runs, weighed by distance (D. Shepard, Proc. 23rd ACM
// Nat. Conf. (1968) 517), which gnuplot does, and runs are points upon it. What other factors do is averaged by this. Contract: gather.h. Complexity: runs drawn times points of the
// surface.
#include "frontend/sweep/gather.h"

#include <math.h>
#include <stdlib.h>

#include "frontend/page/plot.h"

enum { RUNS_MOST = 1500, PANEL_WIDTH = 480, PANEL_HEIGHT = 360, MESH = 48 };

static bool
varies(const Study *study, ShardIndex *index, uint32_t factor, double *low, double *high)
{
    double *value = base_calloc((size_t)study->factors + 1, sizeof *value);
    *low = INFINITY;
    *high = -INFINITY;
    for (uint64_t id = 0; id < index->runs && !study->factor[factor].structural; id++) {
        design_point(study, id, value);
        *low = fmin(*low, value[factor]);
        *high = fmax(*high, value[factor]);
    }
    free(value);
    return *high > *low;
}

static void
put_runs(const Study *study, ShardIndex *index, const uint32_t *axis, const double *low, const double *high, uint32_t outputs, Out *script)
{
    double *value = base_calloc((size_t)study->factors + 1, sizeof *value);
    uint64_t step = index->runs / RUNS_MOST + 1;
    Record record;
    out_text(script, "$d << EOD\n");
    for (uint64_t id = 0; id < index->runs; id += step) {
        if (!shard_index_record(index, id, &record) || record.head.status != RUN_OK)
            continue;
        bool good = true;
        for (uint32_t o = 0; o < outputs; o++)
            good = good && isfinite(record.output[o]);
        if (!good)
            continue;
        design_point(study, id, value);
        // Distances are those of the picture.
        for (uint32_t k = 0; k < 2; k++)
            out_printf(script, "%.9g ", (value[axis[k]] - low[k]) / (high[k] - low[k]));
        for (uint32_t o = 0; o < outputs; o++)
            out_printf(script, "%.9g ", record.output[o]);
        out_char(script, '\n');
    }
    out_text(script, "EOD\n");
    free(value);
}

static void
put_axis(const char *name, char axis, double low, double high, Out *script)
{
    out_printf(script, "set %clabel ", axis);
    plot_quoted(script, name);
    out_printf(script, " noenhanced\nset %crange [-0.02:1.02]\nset %ctics out nomirror (", axis, axis);
    for (uint32_t i = 0; i <= 4; i++)
        out_printf(script, "%s'%.4g' %.2f", i ? ", " : "", low + 0.25 * i * (high - low), 0.25 * i);
    out_text(script, ")\n");
}

bool
gather_surface(const Study *study, ShardIndex *index, Drawn *drawn, Out *why)
{
    uint32_t axis[2], found = 0, outputs = study->outputs < DRAWN_OUTPUTS ? study->outputs : DRAWN_OUTPUTS;
    double low[2], high[2];
    Out *script = drawn->script;
    for (uint32_t k = 0; k < study->factors && found < 2; k++)
        if (varies(study, index, k, &low[found], &high[found]))
            axis[found++] = k;
    if (found < 2) {
        out_text(why, "--plot-as surface needs two factors that vary and are numbers\n");
        return false;
    }
    uint32_t across = outputs < 2 ? 1 : 2, down = (outputs + across - 1) / across;
    put_runs(study, index, axis, low, high, outputs, script);
    out_text(script, "unset key\nset border 3 linecolor rgb '#555555'\nset view map\nset palette defined (0 '#0d3b66', 0.5 '#f4f1de', 1 '#c8553d')\nset cbtics format '%h'\n");
    put_axis(study->factor[axis[0]].name, 'x', low[0], high[0], script);
    put_axis(study->factor[axis[1]].name, 'y', low[1], high[1], script);
    out_printf(script, "set dgrid3d %d, %d, 4\n", MESH, MESH);
    for (uint32_t o = 0; o < outputs; o++)
        out_printf(script, "set table $s%u\nsplot $d using 1:2:%u\nunset table\n", o, o + 3);
    out_printf(script, "unset dgrid3d\nset multiplot layout %u, %u\n", down, across);
    for (uint32_t o = 0; o < outputs; o++) {
        out_text(script, "set title ");
        plot_quoted(script, study->output[o].name);
        out_printf(script, " noenhanced\nplot $s%u using 1:2:3 with image, $d using 1:2 with points pointtype 7 pointsize 0.2 linecolor rgb '#333333'\n", o);
    }
    out_text(script, "unset multiplot\n");
    drawn->width = PANEL_WIDTH * across;
    drawn->height = PANEL_HEIGHT * down;
    return true;
}
