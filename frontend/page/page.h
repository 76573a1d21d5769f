// page.h: the door of frontend/page: pages, plots and reference texts.
//
// In: models, results, texts.
// Out: HTML with scripts and styles of its own, SVG plots, pages of diagnostics.
// Read first: page.c, then report.c.
// Also open to other rooms: diagnostic_page.h, plot.h, reference_page.h, report.h, vocabulary.h.
//
// page.h: the parts that self-contained pages are made of.
#ifndef MDLC_FRONTEND_PAGE_PAGE_H
#define MDLC_FRONTEND_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"
#include "runtime/result/table.h"

// The texts of frontend/page/page.css and the scripts, ended by 0, made into C by the Makefile.
extern const unsigned char asset_page_css[], asset_plot_js[], asset_links_js[];

// Up to <body>: the page may load nothing, from anywhere.
void page_begin(const char *title, Out *out);
// Where the plotter of plot.js works, with its data. `chosen`: columns that are drawn at first; `against`: name of the variable of
// the horizontal axis, or NULL: the time; `logarithmic`: the vertical axes are, at first.
void page_plots(const Table *table, const char *const *chosen, uint32_t n_chosen, const char *against, bool logarithmic, Out *out);
// The scripts, and the end. `links`: with that of links.js.
void page_end(bool links, Out *out);

#endif
