// response_surface.c: outputs of a study over two of its factors.
//
// Purpose: a response surface. Method: the first two factors that vary and are numbers span it; colours are planes fitted to the runs around each point, weighed by distance, so that slopes
// go on between runs (moving least squares; P. Lancaster, K. Salkauskas, Math. Comp. 37 (1981) 141), and runs are points upon it. Where more factors vary the neighbours of a run weigh as much as
// itself, which averages what the others do. Contract: gather.h. Complexity: runs drawn times points of the surface.
#include "frontend/sweep/gather.h"

#include <math.h>
#include <stdlib.h>

#include "frontend/page/plot.h"

enum { RUNS_MOST = 1500, PANEL_WIDTH = 480, PANEL_HEIGHT = 360, MESH = 96 };

// Runs with all outputs: the place of each in the picture, whose sides are 1, then its outputs.
typedef struct Drawings {
    double *row;
    uint32_t runs, outputs;
    double blur; // square of the distance up to which runs weigh alike
} Drawings;

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

static Drawings
take_runs(const Study *study, ShardIndex *index, const uint32_t *axis, const double *low, const double *high, uint32_t outputs)
{
    double *value = base_calloc((size_t)study->factors + 1, sizeof *value);
    uint64_t step = index->runs / RUNS_MOST + 1;
    Drawings taken = {base_calloc((size_t)(index->runs / step + 1) * (2 + outputs), sizeof *taken.row), 0, outputs, 0};
    Record record;
    for (uint64_t id = 0; id < index->runs; id += step) {
        if (!shard_index_record(index, id, &record) || record.head.status != RUN_OK)
            continue;
        double *row = taken.row + (size_t)taken.runs * (2 + outputs);
        bool good = true;
        for (uint32_t o = 0; o < outputs; o++) {
            row[2 + o] = record.output[o];
            good = good && isfinite(row[2 + o]);
        }
        if (!good)
            continue;
        design_point(study, id, value);
        for (uint32_t k = 0; k < 2; k++)
            row[k] = (value[axis[k]] - low[k]) / (high[k] - low[k]);
        taken.runs++;
    }
    free(value);
    return taken;
}

// The outputs of the planes at a point, no further than those of the runs: beyond the outermost of them a plane would go on.
static void
surface_at(const Drawings *d, double x, double y, const double *least, const double *most, double *value)
{
    enum { SLOPE = 3 };
    double sum = 0, mean[2] = {0}, square[3] = {0}, with[DRAWN_OUTPUTS][SLOPE] = {{0}};
    for (uint32_t r = 0; r < d->runs; r++) {
        const double *row = d->row + (size_t)r * (2 + d->outputs);
        double dx = row[0] - x, dy = row[1] - y, apart = dx * dx + dy * dy + d->blur, w = 1 / (apart * apart);
        sum += w;
        mean[0] += w * dx;
        mean[1] += w * dy;
        square[0] += w * dx * dx;
        square[1] += w * dx * dy;
        square[2] += w * dy * dy;
        for (uint32_t o = 0; o < d->outputs; o++) {
            with[o][0] += w * row[2 + o];
            with[o][1] += w * row[2 + o] * dx;
            with[o][2] += w * row[2 + o] * dy;
        }
    }
    // Runs on one line say nothing about the slope across it, which is none then.
    double none = 1e-9 * (square[0] + square[2]);
    double xx = square[0] - mean[0] * mean[0] / sum + none, xy = square[1] - mean[0] * mean[1] / sum, yy = square[2] - mean[1] * mean[1] / sum + none;
    double det = xx * yy - xy * xy;
    for (uint32_t o = 0; o < d->outputs; o++) {
        double fx = with[o][1] - with[o][0] * mean[0] / sum, fy = with[o][2] - with[o][0] * mean[1] / sum;
        double plane = (with[o][0] - mean[0] * (yy * fx - xy * fy) / det - mean[1] * (xx * fy - xy * fx) / det) / sum;
        value[o] = fmin(fmax(plane, least[o]), most[o]);
    }
}

static void
put_surface(const Drawings *d, const double *low, const double *high, Out *script)
{
    double least[DRAWN_OUTPUTS], most[DRAWN_OUTPUTS], value[DRAWN_OUTPUTS], size[2] = {high[0] - low[0], high[1] - low[1]};
    out_text(script, "$d << EOD\n");
    for (uint32_t r = 0; r < d->runs; r++) {
        const double *row = d->row + (size_t)r * (2 + d->outputs);
        out_printf(script, "%.9g %.9g\n", low[0] + row[0] * size[0], low[1] + row[1] * size[1]);
        for (uint32_t o = 0; o < d->outputs; o++) {
            least[o] = r ? fmin(least[o], row[2 + o]) : row[2 + o];
            most[o] = r ? fmax(most[o], row[2 + o]) : row[2 + o];
        }
    }
    out_text(script, "EOD\n$s << EOD\n");
    for (uint32_t i = 0; d->runs && i <= MESH; i++)
        for (uint32_t j = 0; j <= MESH; j++) {
            double x = (double)j / MESH, y = (double)i / MESH;
            surface_at(d, x, y, least, most, value);
            out_printf(script, "%.9g %.9g", low[0] + x * size[0], low[1] + y * size[1]);
            for (uint32_t o = 0; o < d->outputs; o++)
                out_printf(script, " %.6g", value[o]);
            out_char(script, '\n');
        }
    out_text(script, "EOD\n");
}

static void
put_axis(const char *name, char axis, double low, double high, Out *script)
{
    out_printf(script, "set %clabel ", axis);
    plot_quoted(script, name);
    out_printf(script, " noenhanced\nset %crange [%.9g:%.9g]\nset %ctics out nomirror %.9g\n", axis, low - 0.02 * (high - low), high + 0.02 * (high - low), axis,
               gather_between_marks(low, high));
}

bool
gather_surface(const Study *study, ShardIndex *index, Drawn *drawn, Out *why)
{
    uint32_t axis[2], found = 0, varying = 0, outputs = study->outputs < DRAWN_OUTPUTS ? study->outputs : DRAWN_OUTPUTS;
    double low[2], high[2], other_low, other_high;
    Out *script = drawn->script;
    for (uint32_t k = 0; k < study->factors && varying < 3; k++) {
        if (!varies(study, index, k, found < 2 ? &low[found] : &other_low, found < 2 ? &high[found] : &other_high))
            continue;
        varying++;
        if (found < 2)
            axis[found++] = k;
    }
    if (found < 2) {
        out_text(why, "--plot-as surface needs two factors that vary and are numbers\n");
        return false;
    }
    uint32_t across = outputs < 2 ? 1 : 2, down = (outputs + across - 1) / across;
    Drawings taken = take_runs(study, index, axis, low, high, outputs);
    // A hundredth of the picture, or what a run has of it for itself.
    taken.blur = varying > 2 && taken.runs ? 1.0 / taken.runs : 1e-4;
    put_surface(&taken, low, high, script);
    free(taken.row);
    out_text(script, "unset key\nset border 3 linecolor rgb '#555555'\nset palette defined (0 '#0d3b66', 0.5 '#f4f1de', 1 '#c8553d')\nset cbtics format '%h' scale 0\n");
    put_axis(study->factor[axis[0]].name, 'x', low[0], high[0], script);
    put_axis(study->factor[axis[1]].name, 'y', low[1], high[1], script);
    out_printf(script, "set multiplot layout %u, %u\n", down, across);
    for (uint32_t o = 0; o < outputs; o++) {
        out_text(script, "set title ");
        plot_quoted(script, study->output[o].name);
        out_printf(script, " noenhanced\nplot $s using 1:2:%u with image, $d using 1:2 with points pointtype 7 pointsize 0.2 linecolor rgb '#333333'\n", o + 3);
    }
    out_text(script, "unset multiplot\n");
    drawn->width = PANEL_WIDTH * across;
    drawn->height = PANEL_HEIGHT * down;
    return true;
}
