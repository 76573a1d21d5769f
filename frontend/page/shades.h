// shades.h: stretches of time in which something holds, shaded behind the curves of a picture, for gnuplot.
#ifndef MDLC_FRONTEND_PAGE_SHADES_H
#define MDLC_FRONTEND_PAGE_SHADES_H

#include <stdint.h>

#include "ir/base/out.h"
#include "runtime/result/table.h"

// Rectangles over the height of the next plot wherever a column, which is loaded, is not 0 (nor NaN), in a colour for each column; those of the plot before go.
void shades_put(const Table *table, const uint32_t *column, uint32_t n, Out *script);
// Items of that plot which put the names beside their colours into its key; each begins with ", ".
void shades_key(const char *const *name, uint32_t n, Out *script);

#endif
