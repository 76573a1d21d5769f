// run_bands.c: the trajectories of a study over time, and the bands between their quantiles.
//
// Purpose: how a motion spreads over the runs of a study. Method: a panel for each variable that is kept, with some of the runs as lines below the bands
// (frontend/page/bands.h). Of many runs as many, evenly, as tell quantiles. Contract: gather.h. Complexity: linear in the rows that are read.
#include "frontend/sweep/gather.h"

#include <math.h>
#include <stdlib.h>

#include "frontend/page/bands.h"
#include "frontend/page/plot.h"

enum { RUNS_MOST = 4000, PANELS_MOST = 8, WIDTH = 900, PANEL_HEIGHT = 260, BESIDE = 60 };

typedef struct Spread {
    const Study *study;
    ShardIndex *index;
    uint64_t step, runs;     // every step-th run is looked at, and those are so many
    uint32_t panels;
    double from, to;         // of all of them
} Spread;

// The next run that came to its end and has rows, from *id on; *id then is the one behind it.
static bool
next_run(const Spread *spread, uint64_t *id, Record *record, uint32_t *rows)
{
    for (; *id < spread->index->runs; *id += spread->step) {
        if (!shard_index_record(spread->index, *id, record) || record->head.status != RUN_OK)
            continue;
        *rows = record->head.kept / (spread->study->kept + 1);
        *id += spread->step;
        if (*rows)
            return true;
    }
    return false;
}

static void
measure(Spread *spread)
{
    Record record;
    uint32_t rows, width = spread->study->kept + 1;
    spread->from = INFINITY;
    spread->to = -INFINITY;
    for (uint64_t id = 0; next_run(spread, &id, &record, &rows); spread->runs++) {
        spread->from = fmin(spread->from, record.kept[0]);
        spread->to = fmax(spread->to, record.kept[(size_t)(rows - 1) * width]);
    }
}

static void
put_row(const double *row, uint32_t column, Out *script)
{
    out_printf(script, isfinite(row[column]) ? "%.9g %.9g\n" : "%.9g NaN\n", row[0], row[column]);
}

static void
put_line(const Record *record, uint32_t rows, uint32_t width, uint32_t column, Out *script)
{
    enum { MOST = 2000 }; // rows that a picture of this width tells apart
    uint32_t step = rows / MOST + 1;
    for (uint32_t i = 0; i + 1 < rows; i += step)
        put_row(record->kept + (size_t)i * width, column, script);
    put_row(record->kept + (size_t)(rows - 1) * width, column, script);
    out_char(script, '\n');
}

// Blocks $l0 and $b0: lines and bands of the first variable, and so on.
static bool
put_blocks(const Spread *spread, Out *script)
{
    uint32_t rows, width = spread->study->kept + 1;
    uint64_t each = spread->runs / BANDS_LINES + 1;
    for (uint32_t k = 0; k < spread->panels; k++) {
        Bands *bands = bands_create(spread->from, spread->to, spread->runs);
        Record record;
        if (!bands)
            return false;
        out_printf(script, "$l%u << EOD\n", k);
        for (uint64_t id = 0, n = 0; next_run(spread, &id, &record, &rows); n++) {
            bands_add(bands, record.kept, record.kept + k + 1, width, rows);
            if (n % each == 0)
                put_line(&record, rows, width, k + 1, script);
        }
        out_printf(script, "EOD\n$b%u << EOD\n", k);
        bands_put(bands, script);
        out_text(script, "EOD\n");
        bands_free(&bands);
    }
    return true;
}

bool
gather_bands(const Study *study, ShardIndex *index, Drawn *drawn, Out *why)
{
    Spread spread = {.study = study, .index = index, .step = index->runs / RUNS_MOST + 1, .panels = study->kept < PANELS_MOST ? study->kept : PANELS_MOST};
    Out *script = drawn->script;
    if (study->kept)
        measure(&spread);
    if (!spread.runs) {
        out_text(why, study->kept ? "no run has rows: there is nothing to draw\n"
                                  : "--plot-as bands draws trajectories, which the study does not keep: keep \"REGEX\"; says of which variables\n");
        return false;
    }
    if (!put_blocks(&spread, script)) {
        out_text(why, "memory is exhausted\n");
        return false;
    }
    out_text(script, "set tics nomirror\nset border 3 linecolor rgb '#555555'\nset grid linecolor rgb '#e8e8e8' linetype 1 linewidth 0.8\n"
                     "set format '%h'\nset lmargin 12\nset rmargin 3\nset key outside top center horizontal reverse Left samplen 2\n");
    out_printf(script, "set xrange [%.15g:%.15g]\nset multiplot layout %u, 1\n", spread.from, spread.to > spread.from ? spread.to : spread.from + 1, spread.panels);
    for (uint32_t k = 0; k < spread.panels; k++) {
        char block[16];
        snprintf(block, sizeof block, "$b%u", k);
        plot_label("y", study->kept_name[k], "", script);
        plot_label("x", k + 1 == spread.panels ? "time" : "", k + 1 == spread.panels ? "s" : "", script);
        out_printf(script, "plot $l%u using 1:2 %s title 'runs', ", k, bands_line);
        bands_plot(block, false, script);
        out_text(script, ", NaN notitle\nunset key\n");
    }
    out_text(script, "unset multiplot\n");
    drawn->width = WIDTH;
    drawn->height = BESIDE + PANEL_HEIGHT * spread.panels;
    return true;
}
