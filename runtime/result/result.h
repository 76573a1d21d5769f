// result.h: the door of runtime/result: what is written and counted.
//
// In: rows.
// Out: CSV and MAT files, tables read back, the audit of power and energy, the check of rows, profiles.
// Read first: result.c, then csv.c.
// Also open to other rooms: decimal.h, table.h.
#ifndef MDLC_RUNTIME_RESULT_RESULT_H
#define MDLC_RUNTIME_RESULT_RESULT_H

#include "runtime/point/run.h"

// --- audit.c: powers and energies per node (options.audit)
void audit_start(Run *run);  // at the consistent start, in v
MDL_CHECKED int audit_step(Run *run, double before, double instant);
void audit_energies(const mdl_audit *tables, const mdl_node_audit *nodes, double energy[AUDIT_ENERGIES]); // audit_report.c
MDL_CHECKED int audit_row(Run *run); // the point in v becomes a row: its powers and energies, where options.audit_place wants them // after an accepted step; v stays what it is
void audit_before_event(Run *run);
void audit_after_event(Run *run);
MDL_CHECKED int audit_finish(Run *run);  // MDL_FAILED with messages when an ideal node did work

// --- residual_check.c: the equations as they were written
// The evaluated point in v becomes a row. MDL_FAILED with a message when it does not solve them.
// The loops of the row in v, which the integrator may have left open, before all else is done with it.
MDL_CHECKED int check_loops(Run *run);
MDL_CHECKED int check_row(Run *run);
// The end of the last step, where all steps are looked at.
MDL_CHECKED int check_step(Run *run);

// --- range.c: variables that leave their ranges
void range_row(Run *run);
// --- scale.c: at the end of a run, what was too small to be right
void scale_end(Run *run); // the evaluated point in v becomes a row: warns of what is beyond a limit for the first time

// --- result.c
MDL_CHECKED int result_open(Run *run);
MDL_CHECKED int result_row(Run *run);    // stores the values in v
// The same with the old values at an event, and with the new ones. The first are held until the others come, or another row.
MDL_CHECKED int result_before_event(Run *run);
MDL_CHECKED int result_behind_event(Run *run, bool quiet); // quiet: nothing is stored of it
// The same in two parts, for rows that are computed together with those of other runs: the values of a row, result_length() doubles, from values of the
// model that stand `width` places apart; all of them are finite. And storing them. Only where that does all that result_row() does.
bool result_may_prepare(const Run *run);
uint32_t result_length(const Run *run);
void result_prepare(const Run *run, const double *v, uint32_t width, double *row);
MDL_CHECKED int result_prepared(Run *run, const double *row);
MDL_CHECKED int result_tend(Run *run);   // between steps: what has waited for long goes to disk
MDL_CHECKED int result_close(Run *run);

#endif
