// report_inner.h: what the parts of a report share (report*.c).
//
// Elements that belong together have the same attributes, which frontend/page/links.js reads: data-node (of the bond graph),
// data-line ("file:line", files as numbered here), data-equation (of the Dae), data-block (of the block lower triangular form).
#ifndef MDLC_FRONTEND_PAGE_REPORT_INNER_H
#define MDLC_FRONTEND_PAGE_REPORT_INNER_H

#include "frontend/page/packed.h"
#include "frontend/page/report.h"
#include "ir/view/equation_view.h"

enum {
    LATER_LEAST = 150,   // equations of models whose formulas come into the page when they come into sight
    BLOCKS_MOST = 3000,  // equations of models whose blocks and incidence are on the page
    NAMES_MOST = 20000   // variables of models whose symbols tell their names
};

typedef struct Report {
    const ReportInput *input;
    Dae *dae;
    const Problem *problem;
    EquationView view;
    Out *out;
    U32Vec block_of;       // per equation of the Dae: block + 1, or 0
    VEC(const char *) files; // paths whose text is shown
    Packing *packing;      // of formulas that are text yet
    bool later;            // formulas are text for the script, which a browser reads much faster than it makes elements
} Report;

// ` data-line="0:17"` for a place in a file that is shown.
void report_line(const Report *report, Span span);
// The number of a file, UINT32_MAX: it is not shown.
uint32_t report_file(const Report *report, const char *path);

void report_equations(Report *report);  // by node
void report_packing(Report *report);    // what the script needs to unpack formulas
void report_names(Report *report);      // of the symbols in equations
void report_places(Report *report);     // of equations that are not in the page yet
void report_blocks(Report *report);     // the sorted problem, and its incidence

#endif
