// bands.h: where the trajectories of many runs lie: bands between quantiles over time, for gnuplot.
//
//     Bands *bands = bands_create(0, 10, runs);
//     bands_add(bands, time, value, 1, rows);          // for each run
//     bands_put(bands, script);                        // a line for each time
//
#ifndef MDLC_FRONTEND_PAGE_BANDS_H
#define MDLC_FRONTEND_PAGE_BANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"

typedef struct Bands Bands;

// Of at most `runs` trajectories, between two times. NULL: memory is exhausted.
Bands *bands_create(double from, double to, uint64_t runs);
// Rows with times that do not fall, `stride` numbers apart. A run says nothing about times that it does not come to, and where its value is no
// finite number.
void bands_add(Bands *bands, const double *time, const double *value, uint32_t stride, uint32_t rows);
// Lines of time, 5 %, 25 %, 50 %, 75 % and 95 %: a quantile is a value between two of the sorted ones, as numpy.quantile has it.
void bands_put(Bands *bands, Out *script);
void bands_free(Bands **bands);

// What gnuplot draws of a block with such lines: both bands and the median, with their names in the key; `fine`: without areas, in letters.
void bands_plot(const char *block, bool fine, Out *script);
// How a single run is drawn beneath them, and of how many runs a picture shows them.
extern const char bands_line[];
enum { BANDS_LINES = 40 };

#endif
