// pipeline.h: the door of ir/pipeline: the passes in their order, and proofs that none loses anything.
//
// In: a flat model and what is wanted of it.
// Out: the model with these facts, or errors; a residual check of the written equations for runs; times per pass.
// Read first: passes.c, then pipeline.c.
//
// pipeline.h: the passes in order, as one table.
#ifndef MDLC_IR_PIPELINE_PIPELINE_H
#define MDLC_IR_PIPELINE_PIPELINE_H

#include "ir/check/check.h"
#include "ir/clocks/clocks.h"
#include "ir/dae/pass.h"
#include "ir/energy/energy.h"
#include "ir/index/index.h"
#include "ir/initial/initial.h"
#include "ir/lower/lower.h"
#include "ir/pipeline/check_rows.h"
#include "ir/pipeline/implied.h"
#include "ir/solve/solve.h"

enum {
#define PASS(name, requires, provides, doc) PASS_##name,
#define STEP PASS
#include "ir/dae/passes.def"
#undef PASS
#undef STEP
    PASS_COUNT,
    PASS_never = PASS_COUNT // removes an operator that stays (ir/expr/op.def)
};

typedef struct Compilation {
    Dae *dae;                 // owned
    Diags *diags;
    Reduction reduction;
    Problem problem;          // dynamics, continuous and discrete together
    Problem continuous, discrete; // its two parts
    Problem initial;
    Causal dynamics, discretes, init;
    Sys *sys;
    uint32_t facts;
    const char *variables;    // see LoweringInput
    bool results, parameters, names;
    bool settable;           // parameters and start values can be set in the compiled model
    bool describe;            // nodes of the bond graph know what they are made of
    bool list_clocks;         // what the passes machines and clocks find is told
    ClockListing clocks;      // here; owned
    bool keep_problems;       // matchings and orders stay after lowering
    Check *check;             // owned; the equations as they were written, for runs that look at them
    bool checked;             // make it
    uint32_t check_most;      // if there are no more equations than this; 0: any number
    bool audit;               // everything that the audit of power and energy needs is part of the model
    bool tangents;            // directional derivatives of all functions, for linearisation and sensitivities
    bool outside;             // a unit for model exchange: its steps are others'
    bool turned;              // with these: by orders of fractional derivatives, too
    bool verify;              // run dae_verify, facts_verify, sys_verify and snapshot_implied after each pass, motion_implied after pass energy
    Implied implied;          // what the last of these found
    uint32_t next;            // the pass that runs next, in table order
    double seconds[PASS_COUNT]; // per pass, in table order
    double peak[PASS_COUNT];          // per pass: MB of memory the process had held at most when it ended
    MotionCost motion;        // of the equations of motion
    MotionRecord record;      // of what they were made, for the proof that they are those; with `verify`
    double flat_seconds, flat_peak; // the same for reading and elaboration
} Compilation;

typedef struct Pass {
    const char *name, *doc;
    uint32_t requires, provides;
    bool (*plain)(Dae *dae, Diags *diags); // NULL: it needs more than the model:
    bool (*run)(Compilation *compilation);
} Pass;

extern const Pass pipeline[];
extern const uint32_t pipeline_length;

// Runs passes until all of `wanted` holds. False after errors (in diags) or when a verifier finds a broken
// model:
// then `fault` has a line that names the pass. `after`, when not NULL, stops behind the pass of that name.
bool pipeline_run(Compilation *compilation, uint32_t wanted, const char *after, Out *fault);
// MB of memory the process has held at most so far.
double pipeline_peak(void);
void compilation_free(Compilation *compilation);
// docs/passes.md's table.
void pipeline_print(Out *out);

#endif
