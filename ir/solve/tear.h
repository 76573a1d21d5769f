// tear.h: what the three parts of tearing share: a block while it is torn.
//
// tear_choose.c finds the tears and the order of the assignments, tear_scale.c tells what is too small to divide by,
// tear_algebra.c solves loops symbolically, tear.c writes out what they find.
#ifndef MDLC_IR_SOLVE_TEAR_H
#define MDLC_IR_SOLVE_TEAR_H

#include "ir/dae/guards.h"
#include "ir/solve/solutions.h"
#include "ir/structure/causal.h"

enum {
    LARGE_BLOCK = 200, // unknowns from which on a loop is kept sparse
    REACH_LIMIT = 3    // tears that an assignment in a large loop may depend on, also the ways in which it may
};

// Of a coefficient that may be a choice between several values.
typedef struct Sizes {
    double least, most;
} Sizes;

// One equation of the block: its text, and its unknowns as (slot, local unknown).
typedef struct LoopEquation {
    uint32_t equation;
    Expr shape;
    uint32_t vars, n_vars;     // range of Tearing.vars
    uint32_t open;             // unknowns not determined yet
    bool used, is_law;
} LoopEquation;

struct Tearing {
    Dae *dae;
    const Reduction *reduction;
    Solutions *solutions;
    U32Vec local_of;           // per variable: local number of a block unknown, or NONE
    VEC(LoopEquation) equations;
    U32Vec vars;               // pool of the equations' variables
    U32Vec start, incident;    // per local unknown: equations that contain it (compressed rows)
    U8Vec determined;
    U32Vec queue;              // equations with one open unknown
    U32Vec order;              // pairs (equation, local unknown) in the order found
    U32Vec tears;              // local unknowns
    bool linear;               // the residuals are affine in all unknowns of the block
    VEC(Sizes) coefficient;    // of a linear block, parallel to `vars`: of an unknown, as far as they are known, else NAN
    F64Vec growth;             // of a linear block, per local unknown: what errors of tears are multiplied by on their way to it
    F64Vec row_scale, column_scale; // of a linear block: factors that make its coefficients comparable
    U32Vec paths;              // per determined unknown: ways in which it depends on tears
    U8Vec bends;               // of a nonlinear block: curved functions of one another on such a way
    // of a large block, else empty:
    bool large;
    U32Vec support;            // per unknown: the tears it depends on, in REACH_LIMIT places, then NONE
    U32Vec by_degree;          // unknowns, those in most equations first
    U8Vec guessed;             // per variable: the model writes a start value for it (or for an alias), 1: only in a type, 2: elsewhere; empty until asked for
    Map law_of;                // law equation -> law
    Map tails;                 // parameters that nothing divides by: Fractional.tail, as small as the shortest time that a run resolves; shares of
                               // frictions side by side, which may be zero
    U32Vec heap;               // equations touched lately: they have few open unknowns, see choose_tear
    U32Vec union_vars;         // composing: variables of the whole block
    Map union_slot;
    U32Vec composed;           // per local unknown: its expression over union slots
    const Problem *problem;    // whose blocks are torn
    U8Vec moving;              // per variable: something in another block that moves depends on it; empty until asked for
    RowSigns signs;            // over union slots
};

static inline uint32_t
local_unknown(const Tearing *t, Var var)
{
    return var < t->local_of.n ? t->local_of.at[var] : NONE;
}

static inline uint32_t
degree(const Tearing *t, uint32_t local)
{
    return t->start.at[local + 1] - t->start.at[local];
}

// --- tear_choose.c
// Reads the block: nothing is determined, nothing torn.
void tearing_load(Tearing *t, const uint32_t *equations, const Var *unknowns, uint32_t n);
// Chooses tears until everything is determined.
void tearing_choose(Tearing *t, const Var *unknowns, uint32_t n);
// An unknown is known from now on; then tearing_propagate finds the assignments that follow.
void tearing_determine(Tearing *t, uint32_t local);
void tearing_propagate(Tearing *t);

// --- tear_scale.c
// Coefficients of the block that is loaded, which is linear.
void tearing_scale(Tearing *t, uint32_t n);
// A coefficient of a local unknown in an equation of a linear block (by position) is tiny beside the others; false for NAN.
bool tearing_is_tiny(const Tearing *t, uint32_t equation, uint32_t local, Sizes coefficient);
// Assigned from equation e of a linear block, whose other unknowns are determined, `local` would have lost too many digits; notes its growth.
bool tearing_grows(Tearing *t, const LoopEquation *e, uint32_t local);
// The least and largest size that a coefficient over `vars` can have, as far as they are known while compiling.
Sizes tearing_sizes(Tearing *t, Expr coefficient, const Var *vars);

// --- tear_algebra.c
// The algebra of luz and tar removes a whole piecewise-linear loop. False when it cannot; the block is as loaded then.
bool tearing_reduce(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n);
// Eliminates the tears, when they are few, symbolically.
bool tearing_solve_few(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n);

// --- tear.c
void tearing_add(Causal *causal, Assign assign); // as an item of its own
// The assignments in the order found, as items of their own or as those of a loop.
void tearing_emit_inner(Tearing *t, Causal *causal, const Var *unknowns, bool as_items);

#endif
