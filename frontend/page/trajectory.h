// trajectory.h: a result as the data of an interactive plot.
#ifndef MDLC_FRONTEND_PAGE_TRAJECTORY_H
#define MDLC_FRONTEND_PAGE_TRAJECTORY_H

#include "ir/base/out.h"
#include "runtime/result/table.h"

// {"from": rows of the table, "time": [...], "columns": [{"n": name, "u": unit, "i": steps of row numbers, "v": values} or {"n", "u", "a":
// number of an earlier column with the same values}]}, without '<'. Time stands in "time" only, parameters are left out.
// Each column is thinned to straight lines that stay within 2e-4 of its range of all its rows; when that takes more points
// than a page should hold the lines may be further away, which "e" (part of the range) says.
// `numbers`: about as many values may be on the page.
void trajectory_print(const Table *table, uint32_t numbers, Out *out);

#endif
