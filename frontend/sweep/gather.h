// gather.h: from shards to the table of a study.
#ifndef MDLC_FRONTEND_SWEEP_GATHER_H
#define MDLC_FRONTEND_SWEEP_GATHER_H

#include "frontend/sweep/shard.h"
#include "frontend/design/design.h"

typedef struct GatherSummary { // of an output, over the runs that have it
    uint64_t n;
    double mean, squares, least, most; // squares: sum of squared deviations
} GatherSummary;

// Writes a row for every run that has a record, ordered by id: id, factors, outputs, status, message, seconds, steps, seed. `rows` (or NULL):
// the file of trajectories: id, time, what is kept. Both are there as a whole or not at all. summary: one for each output. 0 or an errno
// value, with the file that it is of in *file.
int gather_table(const Study *study, ShardIndex *index, const char *table, const char *rows, GatherSummary *summary, const char **file);
// The points of the design alone, without any run: id and factors.
int gather_points(const Study *study, const char *table);

// --- scatter.c
// A picture (.svg, .png, .pdf) or a page (.html) of outputs against factors, of the first eight of each; `kind`: "scatter" or NULL, "parallel",
// "surface" or "bands" (of trajectories). 0; 2: there is nothing to draw, or no such kind of picture; 5: it cannot be drawn. With a line in `why`.
int gather_draw(const Study *study, ShardIndex *index, const char *kind, const char *path, Out *why);
// The distance of marks, in the units of an axis: some three, and so few that their numbers stand apart below a panel.
double gather_between_marks(double low, double high);

// --- parallel_axes.c, response_surface.c, run_bands.c: scripts of gnuplot for their drawings, of runs that came to their end
enum { DRAWN_FACTORS = 8, DRAWN_OUTPUTS = 8 };
typedef struct Drawn {
    Out *script;
    uint32_t width, height;     // pixels
} Drawn;
void gather_parallel(const Study *study, ShardIndex *index, Drawn *drawn);
bool gather_bands(const Study *study, ShardIndex *index, Drawn *drawn, Out *why);
bool gather_surface(const Study *study, ShardIndex *index, Drawn *drawn, Out *why);

// --- interval.c
typedef struct MeanInterval {
    uint64_t n;                 // runs that have a number
    double mean, half;          // the 95 % interval is mean +- half; half: infinite for n < 2
} MeanInterval;
// Of an output over the runs before `end`.
MeanInterval gather_mean(ShardIndex *index, uint64_t end, uint32_t output);

#endif
