// init_report.h: why the initial system is not square (init_report.c).
#ifndef MDLC_IR_PASS_INIT_REPORT_H
#define MDLC_IR_PASS_INIT_REPORT_H

#include "ir/problem.h"

// E0601 and E0606: conditions that say too much.
void init_report_over(Dae *dae, const Problem *problem, Diags *diags);
// E0602: variables that nothing determines.
void init_report_under(Dae *dae, const Problem *problem, Diags *diags);

#endif
