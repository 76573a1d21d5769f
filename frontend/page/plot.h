// plot.h: mdlc plot RESULT VARIABLE...
#ifndef MDLC_FRONTEND_PAGE_PLOT_H
#define MDLC_FRONTEND_PAGE_PLOT_H

#include <stdint.h>

#include "ir/base/out.h"
#include "runtime/result/table.h"

typedef struct PlotOptions {
    const char *const *variables; // names, in the order in which they are drawn
    uint32_t n_variables;
    const char *against;          // variable of the horizontal axis; NULL: the time
    const char *title;            // may be NULL
    const char *output;           // .svg, .png, .pdf or .html (a page to zoom in); NULL: characters, on standard output
    bool logarithmic;             // the horizontal axis
    bool by_result;               // of several results each has a panel
    bool bands;                   // of several results: where they lie over time, with some of them as lines
    const char *const *shades;    // names of variables; where one is not 0 panels of its result are shaded
    uint32_t n_shades;
    bool log_values;              // the vertical axes; what is not positive is left out
    uint32_t width, height;       // pixels or characters; 0: chosen
} PlotOptions;

typedef struct PlotResult {
    Table *table;
    const char *label;            // in the key, where there are several
} PlotResult;

// What gnuplot draws by this script, into a picture of that size. 0, 2 or 5 as below.
int plot_script(const Out *script, const char *output, uint32_t width, uint32_t height, Out *why);
// The same drawing on a page, below a text.
typedef struct DrawnPage {
    const char *title, *text, *drawing; // the last: what the drawing shows, for those who do not see it
} DrawnPage;
int plot_script_page(const Out *script, uint32_t width, uint32_t height, const DrawnPage *about, const char *path, Out *why);
// The same of what `draw` makes: an .svg file of that name.
typedef int PlotDraw(void *user, const char *svg, Out *why);
int plot_drawn_page(PlotDraw *draw, void *user, const DrawnPage *about, const char *path, Out *why);
// A string of gnuplot, in which nothing is a command.
void plot_quoted(Out *out, const char *text);
// Of axis "x" or "y": the name, and the unit unless it is "".
void plot_label(const char *axis, const char *name, const char *unit, Out *script);
// The same of several results: a panel for each variable with a curve of each result, or the other way round.
int plot_results(const PlotResult *results, uint32_t n, const PlotOptions *options, Out *why);
// Loads columns of the table and draws them with gnuplot, or makes a page, which has all columns. 0; 2: no such variable or kind of picture; 5: gnuplot is missing or
// failed, or the page cannot be written. With
// a line in `why`.
int plot_table(Table *table, const PlotOptions *options, Out *why);

#endif
