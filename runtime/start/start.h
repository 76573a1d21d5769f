// start.h: the door of runtime/start: consistent initial values.
//
// In: parameters, start values, initial equations.
// Out: a point that fulfils all of them, mechanisms assembled, redundant constraints found; or a message.
// Read first: init.c, then assemble.c.
// Also open to other rooms: settable.h.
#ifndef MDLC_RUNTIME_START_START_H
#define MDLC_RUNTIME_START_START_H

#include "runtime/point/run.h"

// --- assemble.c, assemble_report.c: loops of a mechanism at the start
// Moves the start values of states in v as little as possible, so that all loops close, and the initial conditions with
// them. MDL_FAILED with a message when they cannot.
MDL_CHECKED int assemble_start(Run *run);
// After the initial system failed: moves start values in v that are guesses as little as possible to where all invariants hold,
// and the conditions that they have become with them. False: that is not possible, or there are none.
MDL_CHECKED bool assemble_guesses(Run *run);
// A note about what moved, when v holds the solution of the initial system; asked: by --assemble.
void assemble_note(const Run *run, const double *before, bool asked);
// After the initial system failed: true when loops do not close from the start values in v, and a message said where.
bool assemble_explain(Run *run);
// The components whose states take part in the flagged constraints, and the constraints' own: "j0, j1, j2". Partial
// derivatives must be in v. Returns the length.
size_t assemble_loop_text(const Run *run, const uint8_t *rows, char *text, size_t size);

// --- held_choices.c: blocks with Booleans
// After `newton` could not solve its block: Booleans among its unknowns and the others take turns. False: v and `newton` are as before.
MDL_CHECKED bool held_choices_solve(Run *run, Newton *newton);

// --- turned.c: loops that close half a turn off
typedef int (*StartSolver)(Run *run, void *blocks);
// v is a solution that `solve` has found from the values `base`. Where loops close half a turn off, others are sought from
// turned angles. MDL_FAILED with a message when none is found.
MDL_CHECKED int turned_mend(Run *run, StartSolver solve, void *blocks, const double *base);

// --- init.c: parameters and the initial system, up to and including the first event iteration
MDL_CHECKED int init_solve(Run *run);

// --- redundancy.c: constraints that follow from others
// At a consistent point. Chooses the causal form where the forces of constraints are not unique. MDL_FAILED with a
// message in a singular position, and when the motion is not determined.
MDL_CHECKED int redundancy_review(Run *run);
// At an accepted point, in v: MDL_FAILED when a constraint that followed from the others no longer does.
MDL_CHECKED int redundancy_check(const Run *run);

#endif
