// solver.h: the door of runtime/solver: methods of integration behind one interface.
//
// In: the model at any point, and what solves the equations of a step (runtime/step).
// Out: steps that control their error (Stepper): IDA, CVODE, ARKODE, Gauss, Radau, Dormand and Prince, fixed steps; the choice.
// Read first: integrator.c, then ida.c.
#ifndef MDLC_RUNTIME_SOLVER_SOLVER_H
#define MDLC_RUNTIME_SOLVER_SOLVER_H

#include "runtime/point/run.h"

// --- choice.c: --solver=auto
// At consistent values. *why: the reason, for the statistics.
mdl_solver choice_of_solver(Run *run, const char **why);
// The motion runs backwards when velocities change their signs, so that it keeps its energy, and it is not stiff. False also where
// that is not looked for: in large models. Consistent values.
bool choice_is_reversible(Run *run);
// Who has chosen gauss is told when the model is stiff at its start. Consistent values.
void choice_warn_of_stiffness(Run *run);

// --- contest.c: --solver=auto on the way
MDL_CHECKED int contest_begin(Run *run); // the first method was chosen; MDL_INTERNAL: out of memory
// IDA goes on for a method that does not: others are looked for from here on. MDL_INTERNAL: out of memory.
MDL_CHECKED int contest_join(Run *run);
void contest_free(Run *run);
// Whether the explicit method of high order begins where gauss does not: the user has asked for nothing else, loops are small and linear.
bool contest_begins_explicit(Run *run);
// Before a step: the method that makes it. When it is another one than run->solver, contest_give_way() is called before the change, and
// contest_changed() behind it.
mdl_solver contest_next(Run *run);
// When that is another one than run->solver: where constraints bind the states a rival that has lost gives way some steps before, since nobody can begin just before
// a singular position.
void contest_give_way(Run *run);
void contest_changed(Run *run);
bool contest_tries(const Run *run); // run->solver is on trial
// Around a step of a method whose errors are not told. True: it has failed, the run is where the step began, or before that where a singular position is ahead, and
// IDA is to go on (contest_end() behind the change).
void contest_enter(Run *run);
void contest_note(Run *run); // before a step of a method that tells its errors: somebody may go back to where it began
MDL_CHECKED bool contest_leave(Run *run, int status);
void contest_end(Run *run);
// Whether the end of a step, to which the projection has led, is too near a position in which invariants depend on each other. How near it is decides where methods
// may change.
MDL_CHECKED bool contest_nears_singular(Run *run, const Projection *projection, const double *end);
void contest_forget(Run *run); // the motion begins anew here: nobody goes back behind this point

// --- ensemble_steps.c: runs of one model whose steps are made side by side
// What makes rows of the values of runs side by side (runtime/result/result.h): whether it may for this run, how many doubles a row has, and one from
// values that stand `width` places apart.
typedef struct RowMaker {
    bool (*may)(const Run *run);
    uint32_t (*length)(const Run *run);
    void (*prepare)(const Run *run, const double *v, uint32_t width, double *row);
} RowMaker;
// For runs like this one, which has consistent values that nobody needs afterwards and fits (lanes_fit()). NULL: out of memory, or it cannot be.
struct Ensemble *ensemble_create(Run *typical, const RowMaker *maker);
void ensemble_free(struct Ensemble **ensemble);
// A run has ended that was made in an ensemble.
void ensemble_leave(Run *run);
// What was prepared for it is not valid any more.
void ensemble_forget(Run *run);
// It is in an ensemble and has no step yet that it could take.
bool ensemble_waits(const Run *run);
// One attempt for all that wait; limit[l]: where the step of the run in column l must end at the latest.
void ensemble_advance(struct Ensemble *ensemble, const double *limit);
// At the end of its last step all assertions that do not depend on events hold.
bool ensemble_holds(const Run *run);
// Where the step ends that the run is going to take; -INFINITY: there is none yet.
double ensemble_reaches(const Run *run);
// Rows at count[l] times within the step of the run in column l, growing, at most ENSEMBLE_ROWS, are computed together. The row at a time, or NULL.
enum { ENSEMBLE_ROWS = 32 };
void ensemble_prepare_rows(struct Ensemble *ensemble, double point[][ENSEMBLE_ROWS], const uint32_t *count);
const double *ensemble_row(const Run *run, double point);

// --- integrator.c: whichever stepper the run uses
extern const Stepper ida_stepper;                               // ida.c: F(t, y, y') = 0
extern const Stepper cvode_stepper, adams_stepper, erk_stepper; // ode.c: y' = f(t, y), blocks solved inside
extern const Stepper rk4_stepper;                               // fixed.c: fixed steps
extern const Stepper gauss_stepper;                             // gauss.c: symmetric, constant steps
extern const Stepper radau_stepper;                             // radau.c: stiff, high order
extern const Stepper dop853_stepper;                            // dop853.c: explicit, order 8
// The length of a step times the largest rate of the equations. The steps are stable below 6.1 (Hairer and Wanner, IV.2), the polynomial makes more of what is
// stiff than it was from 5 on: ten times as much at 6.
#define DOP853_STABLE 4.7
// Of a run that uses it, alone: for some steps stability has limited their length, not accuracy.
bool dop853_is_stiff(const Run *run);
// The solver (auto: ida until integrator_create() knows more), and the form of the equations that it gets.
void integrator_form(Run *run, mdl_solver solver);
MDL_CHECKED int integrator_create(Run *run);
// Behind integrator_free(): the stepper of run->solver.
MDL_CHECKED int integrator_again(Run *run);
// Another integrator for the same solver, because loops are locked now.
MDL_CHECKED int integrator_renew(Run *run);
// For a method of this order that controls the errors of its steps; they add up to `share` times what those of IDA do at the
// same tolerance. At consistent values.
double integrator_strictness(Run *run, int order, double share);
void integrator_free(Run *run);
// Starts (again) at run->time with run->y, run->yp, which are consistent.
MDL_CHECKED int integrator_start(Run *run);
// Starts at a time within the last step, after an event that has changed neither unknowns nor derivatives: the method may
// keep what it knows of the motion.
MDL_CHECKED int integrator_resume(Run *run);
// A stepper that --solver=auto has chosen may say, without a message, that another one should go on from run->time, to
// which it may have gone back.
enum { RUN_GIVES_UP = -1, RUN_NEARS_SINGULAR = -2, RUN_STUMBLES = -3 }; // STUMBLES: the dae form has no solution that its corrector finds
// One step, not beyond `limit`. Sets run->time, run->y, run->yp.
MDL_CHECKED int integrator_step(Run *run, double limit);
// Values within the last step, loaded into v (evaluate_load).
MDL_CHECKED int integrator_interpolate(Run *run, double time);
void integrator_stats(Run *run);

extern const Stepper sense_stepper;

// --- outside.c: steps that somebody else makes
extern const Stepper outside_stepper;
// A point that he looks at: his states (NULL: those of before) and their derivatives, run_size() each.
typedef struct Outside {
    double time, *y, *yp;
    double from, *y0, *yp0;  // where the present step begins
    double *kept, *kept_p;   // for what must not change them
    double *dense, *dense_p;
    Projection *projection;  // NULL: all states are free
    bool drifted;            // the states are to be moved back at the next event
    double begun;            // by how much they were off their invariants at the end of the first step behind it, of the tolerance; NAN: none yet
    double *way;             // from a point to the invariants
    double pull;             // the part of that way that rates go in a unit of time; 0: no step has ended yet
    double looked, longest;  // where rates were asked for last; how far apart such points were since the last step
    bool shown;              // values are those of the accepted point moved onto the invariants
    bool given;              // an input has another value since the last event
    double next;             // the first instant that was known at the last event
    bool saved;              // or restored: what only a run that has come here knows is forgotten before the next evaluation
    double apex;             // where what has just rebounded turns back, if that is soon
} Outside;
// The point becomes the end of an accepted step.
void outside_accept(Run *run);

#endif
