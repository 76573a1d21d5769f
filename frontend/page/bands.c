// bands.c: quantiles of many trajectories over time.
//
// Purpose: what a study or several results have in common, and how far they spread. Method: every trajectory is looked up at the same times, linearly between
// its rows, behind a jump at its instant; quantiles are those of R. Hyndman and Y. Fan's seventh definition (Am. Statistician 50 (1996) 361).
// Contract: bands.h. Complexity: linear in the rows, n log n in the runs for each time.
#include "frontend/page/bands.h"
#include "runtime/model/order.h"

#include <math.h>
#include <stdlib.h>

enum { TIMES = 401 };
const char bands_line[] = "with lines linewidth 0.6 linecolor rgb '#a0555555'";

struct Bands {
    double from, to;
    uint64_t most, runs;
    double *value; // TIMES x most
};

static double
time_of(const Bands *bands, uint32_t t)
{
    return t + 1 == TIMES ? bands->to : bands->from + t * ((bands->to - bands->from) / (TIMES - 1));
}

Bands *
bands_create(double from, double to, uint64_t runs)
{
    Bands *bands = calloc(1, sizeof *bands);
    double *value = runs < SIZE_MAX / sizeof *value / TIMES ? malloc((size_t)(runs + 1) * TIMES * sizeof *value) : NULL;
    if (!bands || !value) {
        free(bands);
        free(value);
        return NULL;
    }
    *bands = (Bands){.from = from, .to = to, .most = runs, .value = value};
    return bands;
}

void
bands_free(Bands **bands)
{
    if (*bands)
        free((*bands)->value);
    free(*bands);
    *bands = NULL;
}

void
bands_add(Bands *bands, const double *time, const double *value, uint32_t stride, uint32_t rows)
{
    if (bands->runs == bands->most)
        return;
    uint32_t row = 0; // the last one at or before the time that is looked at
    for (uint32_t t = 0; t < TIMES; t++) {
        double at = time_of(bands, t), *to = &bands->value[t * bands->most + bands->runs];
        while (row + 1 < rows && time[(size_t)(row + 1) * stride] <= at)
            row++;
        size_t here = (size_t)row * stride;
        if (!rows || at < time[here] || (row + 1 == rows && at > time[here])) {
            *to = NAN;
            continue;
        }
        *to = value[here];
        if (at > time[here]) {
            double part = (at - time[here]) / (time[here + stride] - time[here]);
            *to += part * (value[here + stride] - value[here]);
        }
    }
    bands->runs++;
}

static double
quantile(const double *sorted, uint64_t n, double part)
{
    double place = part * (double)(n - 1), low = floor(place);
    uint64_t k = (uint64_t)low;
    return k + 1 < n ? sorted[k] + (place - low) * (sorted[k + 1] - sorted[k]) : sorted[n - 1];
}

void
bands_put(Bands *bands, Out *script)
{
    static const double parts[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    for (uint32_t t = 0; t < TIMES; t++) {
        double *value = bands->value + t * bands->most;
        uint64_t n = 0;
        for (uint64_t i = 0; i < bands->runs; i++)
            if (isfinite(value[i]))
                value[n++] = value[i];
        qsort(value, n, sizeof *value, ascending_f64);
        out_printf(script, "%.12g", time_of(bands, t));
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            if (n)
                out_printf(script, " %.9g", quantile(value, n, parts[k]));
            else
                out_text(script, " NaN");
        out_char(script, '\n');
    }
}

void
bands_plot(const char *block, bool fine, Out *script)
{
    if (fine) {
        out_printf(script, "%s using 1:2 with lines title '5 %%' noenhanced, %s using 1:4 with lines title 'median' noenhanced, %s using 1:6 with lines title '95 %%' noenhanced",
                   block, block, block);
        return;
    }
    out_printf(script, "%s using 1:2:6 with filledcurves fillcolor rgb '#c00072b2' linewidth 0 title '5 %% to 95 %%', "
               "%s using 1:3:5 with filledcurves fillcolor rgb '#900072b2' linewidth 0 title '25 %% to 75 %%', "
               "%s using 1:4 with lines linewidth 2 linecolor rgb '#004a73' title 'median'", block, block, block);
}
