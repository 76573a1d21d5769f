// point.h: the door of runtime/point: the model at one point in time.
//
// In: a compiled model and a run (run.h).
// Out: derivatives, loops solved by Newton's method (also where equations follow from others), rows of values, directional derivatives;
// the interface of all that takes part in a run (part.h).
// Read first: run.h, then evaluate.c and newton.c.
// Also open to other rooms: lanes.h, newton.h, part.h, parts.def, profile.h, run.h, sense.h, snapshot.h, tangent.h.
#ifndef MDLC_RUNTIME_POINT_POINT_H
#define MDLC_RUNTIME_POINT_POINT_H

#include "runtime/point/run.h"

// --- newton.c: one algebraic block
Newton *newton_create(const mdl_block *block);
void newton_free(Newton **newton);
typedef enum Effort {
    EFFORT_RUN,    // Newton's method
    EFFORT_START,  // the same, traced when options ask for it
    EFFORT_PATHS,  // at a start: what path.c tries after it, too
    EFFORT_JUMP    // in a run: the same to get to another solution
} Effort;
// Solves the block from the values in v. Returns MDL_FAILED without a message; newton_report() says why.
MDL_CHECKED int newton_solve(Run *run, Newton *newton, Effort effort);
// After a block of the initial system was solved: a note when the conditions of the start do not determine its states.
void newton_note_open(Run *run, Newton *newton);
// After a failed solve: the unknowns become what they were before it.
void newton_restore(const Run *run, const Newton *newton);
struct Snapshot;
void newton_snapshot(Newton *newton, struct Snapshot *snapshot);
// Moves the unknowns of all loops in v by this part of themselves, or of their nominal values, up or down.
void point_move_loops(const Run *run, double part);
// The unknowns of all loops in v are those of unknowns and derivatives y, yp (as the model has them).
void point_start_loops(const Run *run, const double *y, const double *yp);
void newton_settle(Newton *newton); // RunPart.settle
void newton_report(const Run *run, Newton *newton, const char *when);
// At the unknowns in v, where it is evaluated: the residuals are below `tolerance` of their terms.
bool newton_fulfilled(const Run *run, Newton *newton, double tolerance);

// --- evaluate.c: the model at one point
// Puts time and unknowns into v; sticking states are set to exactly zero. In causal form only states are set.
void evaluate_load(Run *run, double time, const double *y, const double *yp);
// The sticking states in v become exactly zero.
void evaluate_stick(const Run *run);
// For methods on y' = f(t, y): time and states (and exponentials) into v, and after evaluate_solved() the slopes out of it.
void evaluate_states(Run *run, double time, const double *y);
void evaluate_slopes(const Run *run, const double *y, double *slope);
// The states that a step has reached at run->time: solved, and stored as the point of the run.
MDL_CHECKED int evaluate_reached(Run *run, const double *y);
// v has the solved point that was stored as the run's, until it is evaluated anew.
void evaluate_note_reached(Run *run);
// Calls the dynamics in order; the blocks' unknowns are those in v.
void evaluate_plain(Run *run);
// Solves the blocks and sets the derivatives; on failure reports when `report` is set.
MDL_CHECKED int evaluate_solved(Run *run, bool report);
// The same, but locked blocks keep the unknowns that stand in v, of which the residuals are left.
MDL_CHECKED int evaluate_held(Run *run);
// evaluate_solved, outputs, and the functions of relations and what they say there.
MDL_CHECKED int evaluate_relations(Run *run);
// What is in v solves all loops, each residual within `tolerance` of what the unknowns contribute to it.
bool evaluate_loops_hold(Run *run, double tolerance);
// evaluate_solved or, where the integrator has the loops' unknowns and they are many or cannot be solved anew, evaluate_plain;
// then outputs. MDL_FAILED when the equations have no solution that the loops find, or a call fails: with a message when
// `report` is set.
MDL_CHECKED int evaluate_row(Run *run, bool report);
// The same at the end of the last step, where v may have what the integrator has solved there.
MDL_CHECKED int evaluate_row_reached(Run *run, bool report);
// The same at a time within the last step.
MDL_CHECKED int evaluate_at(Run *run, double time, bool report);
void evaluate_outputs(Run *run);
// The outputs, behind everything else at a point, and whether a function failed there.
MDL_CHECKED int evaluate_finish(Run *run, bool report);
// Copies unknowns and derivatives from v into run->y, run->yp.
void evaluate_store(Run *run);
// The first unknown or derivative that is not finite, as text into `text`; false when all are finite.
bool evaluate_not_finite(const Run *run, char *text, size_t size);
// What is known about the cause of a value that is not finite, beginning with a newline; "" when nothing is.
const char *evaluate_explain(const Run *run);
MDL_CHECKED int evaluate_asserts(Run *run);
// Silently: none of those that end a run and do not ask for edges fails, nor a call in them.
bool evaluate_holds(Run *run);
// Failures in functions and subscripts (failure.c): forgets one, tells of one (as text, or as an error message).
void failure_clear(const Run *run);
// Calls find the texts of the run.
void failure_join(const Run *run);
// What is evaluated from now on is another instant to functions that remember (runtime/model/standard.h).
void failure_next_instant(const Run *run);
void failure_next_look(const Run *run);   // before each evaluation of the discrete equations at an instant
void failure_leave_event(const Run *run); // behind the last pass of an event
bool failure_happened(const Run *run);
bool failure_text(const Run *run, char *text, size_t size);
bool failure_report(const Run *run);
// Points that were accepted are looked at: there are assertions, or what may fail.
static inline bool
may_stop(const Run *run)
{
    return run->model->n_asserts || run->model->failure;
}
// Solves what can be solved: for positions, where forces may not be solvable (redundancy.c).
void evaluate_anyway(Run *run);

// --- locked.c: loops whose equations follow from others under the present conditions
// After an event iteration, and at the start: finds run->locked. MDL_FAILED with a message when the motion is not determined.
MDL_CHECKED int locked_review(Run *run);
// Whether what blocks leave open at the point in v, which was just solved, does not move the states.
bool locked_keeps_motion(Run *run);
bool locked_newly(const Run *run); // blocks are locked that were not when they were looked at: by a condition that makes no event
void locked_form(Run *run); // chooses the causal form, for an integrator that is not made yet

// --- continued_loops.c: loops of models without states

// The point in v is behind the row that was solved last, and nothing integrates between them.
bool loops_are_continued(const Run *run);
// Instead of evaluate_solved() there: on the solution that the loops have been on.
MDL_CHECKED int loops_continue(Run *run);

// --- fold.c: loops whose solution ends
// The next step could not be made from the accepted point. True: just behind it a loop has another solution alone, to which an event leads.
bool fold_found(Run *run);
bool fold_is_watched(const Run *run); // each step is looked at as follows
// A step from the time `before` on was accepted, maybe after others that could not be solved. Where the loops have lost their solution within it, it ends there as well.
MDL_CHECKED int fold_crossed(Run *run, double before);
// Once: the loops' unknowns in v are of another solution than `before`.
void fold_tell(Run *run, const double *before);
// The accepted point as it is, before that event, where the loops cannot be solved to rounding any more.
MDL_CHECKED int fold_reached(Run *run);
// At that event, whose left limit is in v: the loops' unknowns in v become those of the other solution. Fails with a message.
MDL_CHECKED int fold_jump(Run *run);

// --- components.c: what hidden.c has kept of the model's structure; *components may be NULL
void components_free(struct Components **components);

// --- hidden.c: laws of ideal diodes that bind states alone under the present conditions
// Behind a solution of all blocks in v, where run->hides: what locked blocks leave open is chosen such that the states stay on what
// these say of them.
MDL_CHECKED int hidden_solve(Run *run, bool report);
bool hidden_determines(Run *run); // that says everything about the motion
bool hidden_any(const Run *run); // blocks of a model with ideal diodes are locked
// cj - df/dy at the point in v, which stays, by differences, for columns of ascending rows. False: f could not be evaluated.
MDL_CHECKED bool hidden_jacobian(Run *run, double cj, const uint32_t *start, const uint32_t *row, double *values);
double hidden_step(const Run *run); // of time, over which rates are measured
// How fast the gaps of ideal diodes change at the point in v, which was solved; `rate` has n_sgns places. v is as before.
MDL_CHECKED int hidden_gap_rates(Run *run, double *rate);
// Moves the states in v back onto it; v is solved before and afterwards.
MDL_CHECKED int hidden_close(Run *run);

#endif
