// pipeline.h: the passes in order, as one table.
#ifndef MDLC_IR_PIPELINE_H
#define MDLC_IR_PIPELINE_H

#include "ir/energy/motion.h"
#include "ir/check.h"
#include "ir/implied.h"
#include "ir/lowering.h"

// What holds of the model; passes require, provide and break these.
typedef enum Fact {
    FACT_FLAT = 1 << 0,       // elaborated
    FACT_JUNCTIONS = 1 << 1,  // connections are junction equations and bonds
    FACT_CONTRACTS = 1 << 2,  // bodies, elements, constraints, memory elements keep their contracts
    FACT_UNITS = 1 << 3,      // units agree
    FACT_NORMAL = 1 << 4,     // luz and tar are in normal form
    FACT_LAWS = 1 << 5,       // no set-valued operator is left
    FACT_ALIASES = 1 << 6,    // equal variables share a representative
    FACT_BALANCED = 1 << 7,   // as many equations as unknowns, structurally regular
    FACT_INDEX_1 = 1 << 8,    // every constraint is differentiated often enough
    FACT_STATES = 1 << 9,     // states are chosen
    FACT_CAUSAL = 1 << 10,    // matched and sorted
    FACT_INIT = 1 << 11,      // the initial problem is matched and sorted
    FACT_SOLVED = 1 << 12,    // assignments and torn loops
    FACT_SYS = 1 << 13,       // programs and tables
    FACT_MOTION = 1 << 14     // energies became equations of motion
} Fact;

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
    bool keep_problems;       // matchings and orders stay after lowering
    Check *check;             // owned; the equations as they were written, for runs that look at them
    bool checked;             // make it
    uint32_t check_most;      // if there are no more equations than this; 0: any number
    bool audit;               // everything that the audit of power and energy needs is part of the model
    bool tangents;            // directional derivatives of all functions, for linearisation and sensitivities
    bool verify;              // run dae_verify, sys_verify and snapshot_implied after each pass
    Implied implied;          // what the last of these found
    double seconds[32];       // per pass, in table order
    double peak[32];          // per pass: MB of memory the process had held at most when it ended
    MotionCost motion;        // of the equations of motion
    double flat_seconds, flat_peak; // the same for reading and elaboration
} Compilation;

typedef struct Pass {
    const char *name, *doc;
    uint32_t requires, provides, breaks;
    bool (*run)(Compilation *compilation);
    bool laws;                // it makes laws of set-valued terms (Snapshot.laws)
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
