// check_rows.h: a point of a run against the equations as they were written.
//
// The equations are those of the flat model with its connections, as they stood behind pass `bonds`: before aliases, index
// reduction, choice of states, tearing and everything else that the solved form has gone through. They are evaluated by a
// walk of their expressions, which shares neither code nor order with the programs of the back ends.
#ifndef MDLC_IR_PIPELINE_CHECK_ROWS_H
#define MDLC_IR_PIPELINE_CHECK_ROWS_H

#include "ir/dae/dae.h"
#include "ir/dae/sys.h"

typedef struct Check Check;

// Why equations are not looked at.
typedef enum CheckLeft {
    CHECK_WHEN,      // they change something at events only
    CHECK_START,     // initial equations
    CHECK_CALL,      // they call functions of the run, or have subscripts that are computed
    CHECK_PAST,      // delays, profiles, fractional derivatives, integrals: the runtime has their values
    CHECK_NO_VALUE,  // a variable of theirs has no value in a run: nothing asks for it
    CHECK_LEFT
} CheckLeft;

// Remembers the equations as they are now. Memory: 16 bytes for each.
Check *check_create(const Dae *dae);
// Finds the places of their variables; once, when the model was lowered. Memory: 12 bytes for each variable of each equation.
void check_bind(Check *check, Dae *dae, const Sys *sys);
void check_free(Check **check);
uint32_t check_count(const Check *check);       // equations that are looked at
uint32_t check_left(const Check *check, CheckLeft why);
const char *check_why(CheckLeft why);           // as text
// The point in v of a run with this tolerance. True when all equations hold as far as the tolerance and rounding explain:
// a variable x of a run is known to some part d of |x| + 0.01*nominal; what such errors, by size, make of the difference of
// both sides is what it may be (running error analysis: Wilkinson, Rounding Errors in Algebraic Processes, 1963; Higham, Accuracy
// and Stability of Numerical Algorithms, 2002, 3.3). A choice whose condition such errors could change may go either
// way. Otherwise `out` has the worst equation with its place and values.
// resolution: how closely events are located in time, at least.
bool check_holds(Check *check, const double *v, double tolerance, double resolution, Out *out);

#endif
