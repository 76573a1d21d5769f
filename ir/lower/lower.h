// lower.h: the door of ir/lower: causal forms become programs over one array of values, with the tables the runtime needs.
//
// In: causal forms of the dynamics, the discrete part and the start.
// Out: a Sys (ir/dae/sys.h): functions, Jacobians, tangents, events, results, audit tables.
// Read first: lower.c, then layout.c and program.c.
//
// The pass from causal forms to a system the back ends compile.
#ifndef MDLC_IR_LOWER_LOWER_H
#define MDLC_IR_LOWER_LOWER_H

#include "ir/dae/sys.h"
#include "ir/structure/causal.h"

typedef struct LoweringInput {
    Dae *dae;
    const Reduction *reduction;
    const Causal *dynamics;    // continuous unknowns
    const Causal *discrete;    // discrete variables, explicit
    const Causal *init;
    uint32_t equations;        // of the flat model
    const char *variables;     // POSIX extended regular expression over result names, or NULL: all variables
    bool results;              // build the table of result columns
    bool audit;                // build the tables of the audit
    bool tangents;             // directional derivatives of all functions
    bool parameters;           // with those of parameters
    bool settable;             // parameters and start values can be set in the compiled model
    bool outside;              // somebody else will integrate it
    bool names;                // name the places of the value array, for `show`
} LoweringInput;

// NULL after errors. The system refers to dae->exprs.
Sys *pass_lower(const LoweringInput *input, Diags *diags);

#endif
