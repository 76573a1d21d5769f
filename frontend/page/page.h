// page.h: the door of frontend/page: pages, plots and reference texts.
//
// In: models, results, texts.
// Out: HTML with scripts and styles of its own, SVG plots, pages of diagnostics.
// Read first: page.c, then report.c.
// Also open to other rooms: bands.h, diagnostic_page.h, plot.h, reference_page.h, report.h, vocabulary.h.
//
// page.h: the parts that self-contained pages are made of.
#ifndef MDLC_FRONTEND_PAGE_PAGE_H
#define MDLC_FRONTEND_PAGE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/motion/motion.h"
#include "ir/base/out.h"
#include "runtime/result/table.h"

// The texts of frontend/page/page.css and the scripts, ended by 0, made into C by the Makefile.
extern const unsigned char asset_page_css[], asset_plot_js[], asset_unfold_js[], asset_links_js[], asset_motion_js[];

// Up to <body>: the page may load nothing, from anywhere.
void page_begin(const char *title, Out *out);
// Where the plotter of plot.js works, with its data. `chosen`: columns that are drawn at first; `against`: name of the variable of
// the horizontal axis, or NULL: the time; `logarithmic`: the vertical axes are, at first. `numbers`: about as many the data may have.
enum { PAGE_NUMBERS = 400000, PAGE_FEW_NUMBERS = 25000 };
void page_plots(const Table *table, const char *const *chosen, uint32_t n_chosen, const char *against, bool logarithmic, uint32_t numbers, Out *out);
// Where motion.js plays a sampled motion, with a strip of poses for paper and for browsers without WebGL.
void page_motion(const Motion *motion, const char *title, Out *out);
// The scripts, and the end.
enum { PAGE_WITH_LINKS = 1, PAGE_WITH_MOTION = 2, PAGE_WITH_PLOTS = 4 };
void page_end(unsigned scripts, Out *out);

#endif
