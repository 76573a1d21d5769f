// shades.c: stretches of time in which something holds.
//
// Purpose: where a wheel is off the road and a suspension on its stop is seen beside the curves. Method: a variable that changes at events only has a row on either
//          side of each, so that what it is from one row to the next is what it is at the first of both. Neighbouring stretches are one rectangle.
// Contract: shades.h. Complexity: linear in the rows.
#include "frontend/page/shades.h"

#include "frontend/page/plot.h"

enum { COLOURS = 4 };

static const char *const colour[COLOURS] = {"#dce9f7", "#f6c9a8", "#dff0d8", "#eadcf4"};

static bool
holds(const Table *table, uint32_t column, uint32_t row)
{
    double value = table->value[column][row];
    return value < 0 || value > 0;
}

static void
shade(const Table *table, uint32_t column, uint32_t which, Out *script)
{
    const double *time = table->value[0];
    for (uint32_t row = 0, from; row + 1 < table->rows; row++) {
        for (from = row; row + 1 < table->rows && holds(table, column, row);)
            row++;
        if (time[row] > time[from])
            out_printf(script, "set object rectangle from first %.15g, graph 0 to first %.15g, graph 1 behind fillcolor rgb '%s' fillstyle solid noborder\n",
                       time[from], time[row], colour[which % COLOURS]);
    }
}

void
shades_put(const Table *table, const uint32_t *column, uint32_t n, Out *script)
{
    out_text(script, "unset object\n");
    for (uint32_t k = 0; k < n; k++)
        shade(table, column[k], k, script);
}

void
shades_key(const char *const *name, uint32_t n, Out *script)
{
    for (uint32_t k = 0; k < n; k++) {
        out_printf(script, ", NaN with boxes fillstyle solid noborder linecolor rgb '%s' title ", colour[k % COLOURS]);
        plot_quoted(script, name[k]);
        out_text(script, " noenhanced");
    }
}
