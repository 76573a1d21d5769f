// elimination_cut.h: forests of elimination, and where they are cut into parts that do not touch each other. Included by dissection.c and division.c only.
#ifndef MDLC_RUNTIME_LINEAR_ELIMINATION_CUT_H
#define MDLC_RUNTIME_LINEAR_ELIMINATION_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"

enum { ELIMINATION_PARTS = 16, ELIMINATION_BORDER = 2 * ELIMINATION_PARTS + 1 }; // a part has a sixteenth of the cost at most, two neighbours more

// A forest over n places: `parent` is greater than the place, or n at a root. With `cost` of each place, those whose subtrees are independent become parts
// 0 ..., numbered as they stand, and what is above them the border. Returns the number of parts, 1 where a division does not pay (then the
// border is empty), 0: out of memory. `longest` is what the costliest part and the border cost together.
uint32_t elimination_cut(int32_t n, const int32_t *parent, const double *cost, uint8_t *part, double *longest);

#endif
