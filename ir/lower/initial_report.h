// initial_report.h: why the initial system is not square (initial_report.c).
#ifndef MDLC_IR_LOWER_INITIAL_REPORT_H
#define MDLC_IR_LOWER_INITIAL_REPORT_H

#include "ir/structure/problem.h"

// E0601 and E0606: conditions that say too much.
void init_report_over(Dae *dae, const Problem *problem, Diags *diags);
// E0602: variables that nothing determines.
void init_report_under(Dae *dae, const Problem *problem, Diags *diags);

#endif
