// pass.h: what a pass of the compiler is, and what holds of the model between them (passes.def).
//
// Passes run in the order of passes.def. All work on flat arrays of 32-bit ids in natural (source) order, in linear or
// near-linear time, without recursion whose depth the model sets.
#ifndef MDLC_IR_DAE_PASS_H
#define MDLC_IR_DAE_PASS_H

#include "ir/dae/dae.h"

// What holds of the model; passes require and provide these, ir/pipeline/facts.c has a check for each.
typedef enum Fact {
    FACT_NONE = 0,
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
    FACT_MOTION = 1 << 14,    // energies became equations of motion
    FACT_MATCHED = 1 << 15    // each unknown has an equation that determines it
} Fact;
enum { FACT_BITS = 16 };

#define PASS(name, requires, provides, doc) bool pass_##name(Dae *dae, Diags *diags);
#define STEP(name, requires, provides, doc)
#include "ir/dae/passes.def"
#undef PASS
#undef STEP

#endif
