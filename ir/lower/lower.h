// lower.h: the door of ir/lower: causal forms become programs over one array of values, with the tables the runtime needs.
//
// In: causal forms of the dynamics, the discrete part and the start.
// Out: a Sys (ir/dae/sys.h): functions, Jacobians, tangents, events, results, audit tables; the initial problem.
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
    bool names;                // name the places of the value array, for `show`
} LoweringInput;

// NULL after errors. The system refers to dae->exprs.
Sys *pass_lower(const LoweringInput *input, Diags *diags);

// mdlc show init: conditions given and start values that were taken as fixed (initial_system.c).
void problem_print_init(const Dae *dae, const Problem *problem, Out *out);

// Gives start values parameters of their own, which a compiled model can set (start_parameters.c); before pass_init.
void starts_detach(Dae *dae, const Reduction *reduction);
// The problem of initialisation: all equations, initial equations, fixed starts, and default starts (initial_system.c).
bool pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);
// Part of pass_init: start values of loops' unknowns that follow from those the model gives (guess.c).
void init_guesses(Dae *dae, const Problem *problem);

#endif
