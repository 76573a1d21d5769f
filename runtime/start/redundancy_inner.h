// redundancy_inner.h: what the review of redundant constraints and its messages share (redundancy.c, redundancy_report.c).
#ifndef MDLC_RUNTIME_START_REDUNDANCY_INNER_H
#define MDLC_RUNTIME_START_REDUNDANCY_INNER_H

#include "runtime/linear/rank.h"
#include "runtime/point/newton.h"
#include "runtime/solver/solver.h"
#include "runtime/start/start.h"

typedef struct Review {
    Run *run;
    Invariants *invariants; // NULL without invariants
    uint32_t groups;
    uint32_t *rows;        // per group
    uint32_t *rank;        // per group, then per step of the dynamics
    uint32_t *nearby;      // the same, at a nearby point
    uint32_t *row;         // n_constraints
    double *kept;          // v at the start
    uint64_t random;
    char open[1500];       // forces that blocks leave open, as far as no invariant names them
} Review;

// How the model and its invariants change at the point in v, where the dynamics were evaluated.
void redundancy_look(Review *r);
// The Jacobian of group g there, factored: its constraints are r->row[0 .. *rows). NULL: out of memory.
Rank *redundancy_rank(Review *r, uint32_t g, uint32_t *rows);
// A note about the constraints of group g that follow from the others, and the joints whose loops they close.
void redundancy_note(Review *r, uint32_t g);
// Keeps the directions that a block, whose rank was looked at last, leaves open; a note about those of all blocks.
void redundancy_open(Review *r, Newton *newton);
void redundancy_note_open(const Review *r);
// The message that the start is a position in which the motion may branch; MDL_FAILED.
MDL_CHECKED int redundancy_singular(Review *r);

#endif
