// run.h: what the runtime's own files share about one simulation run. Not for callers (see sim.h).
//
// Functions return a status of sim.h (MDL_OK, MDL_FAILED, ...) unless they say otherwise; whoever finds
// the failure reports it through run_message(), whoever passes it on stays silent.
#ifndef MDLC_RUNTIME_RUN_H
#define MDLC_RUNTIME_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/lu.h"
#include "runtime/model.h"
#include "runtime/sim.h"
#include "runtime/texts.h"

typedef struct Run Run;
typedef struct RunPart RunPart; // part.h
enum { PARTS_MOST = 16 };
typedef struct Newton Newton;
typedef struct Integrator Integrator;
typedef struct Result Result;
typedef struct Invariants Invariants;
typedef struct Projection Projection;
typedef struct Ode Ode;
typedef struct Rests Rests;
typedef struct Friction Friction;
typedef struct Delays Delays;
typedef struct Transports Transports;
typedef struct Conditions Conditions;
typedef struct Audit Audit;
typedef struct Contacts Contacts;
typedef struct Fractionals Fractionals;
typedef struct Sense Sense;
typedef struct Ahead Ahead;

struct Rank;

// One way of stepping. The functions are those declared below as integrator_*, which call them.
typedef struct Stepper {
    const char *name;
    MDL_CHECKED int (*create)(struct Run *run);
    void (*free)(struct Run *run);
    MDL_CHECKED int (*start)(struct Run *run);
    // May be NULL: the same as start at a time within the last step, from which the motion goes on as it came.
    MDL_CHECKED int (*resume)(struct Run *run);
    MDL_CHECKED int (*step)(struct Run *run, double limit);
    void (*interpolate)(struct Run *run, double time);
    void (*stats)(struct Run *run);
    // May be NULL: the states of `n` ranges within the last step, loaded into v.
    void (*interpolate_ranges)(struct Run *run, double time, const mdl_range *range, uint32_t n);
    // May be NULL: arrays d_0, d_1, ... of the unknowns such that within the last step they are never further from d_0 than
    // the sum of |d_1|, |d_2|, ..., and, if they go on as they did, not further than that of factor_1 |d_1|, factor_2 |d_2|, ...
    // for `steps` steps like the next one, whose length is *next. Their number, 0: not known. `factor` may be NULL.
    uint32_t (*differences)(const struct Run *run, double steps, const double *difference[], double *factor, double *next);
    // May be NULL: the order of the last step and, per unknown, its estimated error in units of the tolerance (zeros: not
    // estimated); -1: not known.
    int (*judge)(struct Run *run, double *error);
    bool is_explicit; // stable only for steps that are short beside the fastest answer of the equations
} Stepper;

enum { MDL_DIFFERENCES = 8 };

enum { EVENT_WINDOW = 50, EVENT_PASSES = 100, HURRIED_MOST = 2000 };

// What root.c knows about one condition. A condition that has just flipped is blind within `band` of zero
// until its function has left that band, so that rounding cannot trigger it twice.
typedef struct Guard {
    double band;   // 0: armed
    double size;   // largest magnitude of the root function seen
    bool pending;  // it crossed zero at the event being handled and was not yet acted on
    bool forced;   // it changed at the event being handled: blind afterwards
    bool held;     // its mode was decided by the crossing: not taken back in the same event
    bool returning; // blind, and right after the event its function moves against the value held
    uint32_t flips; // how often it changed while one mixed system was solved (mixed.c)
    // Per direction of crossing: when it happened last, the time since the one before, the first such time of
    // the present sequence, the instant at which a geometric sequence would end, and how often that was
    // confirmed.
    double last[2], interval[2], first[2], limit[2];
    uint32_t confirmed[2];
    uint32_t hurried;      // crossings in a row that followed the one before in their direction within event_hurry()
    double lately, extent; // of a relation's function: how large it was at the latest looks, and at the most (vanish.c)
    bool vanished;         // a relation's function has become zero for longer: there zero is the wrong side
    double dip;            // where the parabola through its latest values (Sightings) is lowest; NAN: not worth a look
} Guard;

// The latest three points since the last event and all root functions there, oldest first from row `first` on.
typedef struct Sightings {
    double at[3];
    uint32_t first, count; // `count` of them are of now
    uint32_t dips;         // guards whose `dip` was worth a look at the latest point
} Sightings;

// What is known of an assertion: it has warned once; its edge was seen in the present event.
enum { ASSERT_WARNED = 1, ASSERT_FIRED = 2 };

// How a run gets on (pace.c): at the latest look at the clock, and whatever was said last.
typedef struct Pace {
    uint32_t stalled;      // steps in a row that hardly moved time
    double clock, time;    // of the latest look; clock is 0 before the first
    double told;           // s that the run was said to take
    uint64_t steps, events, newton_failures;
} Pace;

struct Run {
    const mdl_model *model;
    const mdl_options *options;
    mdl_stats *stats;
    double *v;
    double time;          // of the last accepted point
    double tolerance;
    double *abstol;       // n absolute tolerances of the unknowns
    double strictness;    // a step may be wrong by 1/strictness of these
    mdl_solver solver;    // never MDL_SOLVER_AUTO
    double deadline;      // of run_clock(), for what is called within an evaluation; 0: none
    bool causal;          // blocks are solved inside the residual; the integrator's unknowns are the states
    uint32_t ny;          // unknowns of the model that are the integrator's: nx or n
    uint32_t modes;       // exponentials of fractional derivatives; in the integrator's vectors they follow the ny
    double *y, *yp;       // n + modes each: the last accepted point; with modes only ny + modes count
    const double *mode;   // those that evaluations take (fractional.c)
    uint32_t *implicit, n_implicit; // states whose rows are implicit
    double *solved;       // n + nx, of which loops' unknowns count: where evaluate_row() has solved them last
    double *motion;       // n + nx: unknowns and derivatives before the event being handled

    Newton **block;       // per dynamics step, NULL for plain ones
    uint8_t *redundant;   // per constraint: 1 when it follows from the others; NULL: none does
    uint32_t deficient;   // equations of blocks that follow from others
    bool hides;           // there are ideal diodes, whose laws may say something about states alone (hidden.c)
    uint32_t locked;      // those that do under the present conditions (locked.c)
    bool loop_failed;     // and it was said which
    bool tolerant;        // a loop counts as solved when its residuals are within the tolerance (evaluate_row)
    bool solve_rows;      // rows and root functions solve the blocks (they are small enough)

    const RunPart *part[PARTS_MOST]; // those that the model has something for
    uint32_t parts;
    const Stepper *stepper;
    Integrator *integrator;   // of ida.c
    Ode *ode;                 // of ode.c
    Result *result;
    Friction *friction;       // of friction.c
    Rests *rests;             // of rest.c; NULL: nothing can come to rest
    Contacts *contacts;       // of contact.c; NULL when the model has no unilateral constraints
    Delays *delays;           // of delay.c; NULL when the model has none
    Transports *transports;   // of transport.c; NULL when the model has none
    Conditions *conditions;   // of condition.c
    Ahead *ahead;             // of ahead.c; NULL: nothing depends on time alone
    Audit *audit;             // of audit.c; NULL when nobody asked for it
    Sense *sense;             // of sense.c; NULL when no sensitivities are wanted
    struct Jumps *jumps;      // of jump.c; NULL: nothing that is differentiated may jump
    Fractionals *fractionals; // of fractional.c; NULL when the model has none
    mdl_profile *profile;     // of profile.c; NULL when nobody asked for it, and outside of the integration

    // Events. `guard` has n_relations, then n_time_relations, n_sgns and n_rests entries; so does `phi`.
    uint32_t guards;
    Guard *guard;
    double *phi, *phi_scale;
    bool blind;            // some guard may have a band
    double *seen;          // 3 rows of root functions
    Sightings sightings;
    double *old_discrete;      // n_discretes
    uint8_t *assigned;         // nx: a reinit of the event being handled has set the state
    double *time_next;         // n_time_relations
    uint64_t *sample_index;    // n_samples: the next instant is start + index*interval
    bool time_event;           // the event being handled is at an instant
    double settled;            // before an event that was located: the last time at which no condition was violated
    uint32_t accumulated;      // relation + 1 whose events can no longer be told apart, 0: none
    double event_time[EVENT_WINDOW];
    uint32_t event_count;
    uint8_t *warned;           // n_asserts; ASSERT_WARNED | ASSERT_FIRED
    bool edge_failed;          // a call in an assertion about edges has failed, and said so
    mdl_texts *texts;          // values of type String; NULL: there are none that change
    uint8_t *left;             // n_limit_groups: it was told that a variable has left this limit
    double *largest;           // n_limits: largest magnitude of the variable in rows
    uint32_t n_left;           // limits that were told
    uint8_t *warned_in_calls;  // n_failures: assertions inside functions that have warned
    bool terminated;           // terminate() fired

    double *kept;         // nv + n + nx: v and `solved` while check_step() evaluates; NULL before the first time
    double check_seconds, check_begun; // what looking at rows has taken; the clock at its beginning
    Pace pace;
    bool driven;               // by whoever asks for one interval after the other: its end is not known

    uint64_t next_point;       // index of the next output point
    uint64_t points;
    double interval;
};

// --- message.c
// Whether somebody has asked the run to end.
bool run_interrupted(const Run *run);
void run_message(const Run *run, mdl_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
double run_clock(void); // seconds, monotonic
void run_json_text(const char *text, FILE *out); // quoted

// --- nvector.c (declared for SUNDIALS in integrator.c)

// --- newton.c: one algebraic block
Newton *newton_create(const mdl_block *block);
void newton_free(Newton **newton);
typedef enum Effort {
    EFFORT_RUN,    // Newton's method
    EFFORT_START,  // the same, traced when options ask for it
    EFFORT_PATHS   // at a start: what path.c tries after it, too
} Effort;
// Solves the block from the values in v. Returns MDL_FAILED without a message; newton_report() says why.
MDL_CHECKED int newton_solve(Run *run, Newton *newton, Effort effort);
// After a block of the initial system was solved: a note when the conditions of the start do not determine its states.
void newton_note_open(Run *run, Newton *newton);
// After a failed solve: the unknowns become what they were before it.
void newton_restore(const Run *run, const Newton *newton);
void newton_report(const Run *run, Newton *newton, const char *when);
// At the unknowns in v, where it is evaluated: the residuals are below `tolerance` of their terms.
bool newton_fulfilled(const Run *run, Newton *newton, double tolerance);

// A run that was opened (sim.h) begins with this.
static inline Run *
run_of(struct mdl_run *opened)
{
    return (Run *)opened;
}

// Length of the integrator's vectors.
static inline uint32_t
run_size(const Run *run)
{
    return run->ny + run->modes;
}

// Unknowns of the model that run->y has. Without modes those of loops that the integrator does not know are there, too.
static inline uint32_t
run_stored(const Run *run)
{
    return run->modes ? run->ny : run->model->n;
}

// --- evaluate.c: the model at one point
// Puts time and unknowns into v; sticking states are set to exactly zero. In causal form only states are set.
void evaluate_load(Run *run, double time, const double *y, const double *yp);
// The sticking states in v become exactly zero.
void evaluate_stick(const Run *run);
// For methods on y' = f(t, y): time and states (and exponentials) into v, and after evaluate_solved() the slopes out of it.
void evaluate_states(Run *run, double time, const double *y);
void evaluate_slopes(const Run *run, const double *y, double *slope);
// Calls the dynamics in order; the blocks' unknowns are those in v.
void evaluate_plain(Run *run);
// Solves the blocks and sets the derivatives; on failure reports when `report` is set.
MDL_CHECKED int evaluate_solved(Run *run, bool report);
// The same, but locked blocks keep the unknowns that stand in v, of which the residuals are left.
MDL_CHECKED int evaluate_held(Run *run);
// evaluate_solved or, where the integrator has the loops' unknowns and they are many or cannot be solved anew, evaluate_plain;
// then outputs. MDL_FAILED when the equations have no solution that the loops find, or a call fails: with a message when
// `report` is set.
MDL_CHECKED int evaluate_row(Run *run, bool report);
// The same at a time within the last step.
MDL_CHECKED int evaluate_at(Run *run, double time, bool report);
void evaluate_outputs(Run *run);
// Copies unknowns and derivatives from v into run->y, run->yp.
void evaluate_store(Run *run);
// The first unknown or derivative that is not finite, as text into `text`; false when all are finite.
bool evaluate_not_finite(const Run *run, char *text, size_t size);
// What is known about the cause of a value that is not finite, beginning with a newline; "" when nothing is.
const char *evaluate_explain(const Run *run);
MDL_CHECKED int evaluate_asserts(Run *run);
// Failures in functions and subscripts (failure.c): forgets one, tells of one (as text, or as an error message).
void failure_clear(const Run *run);
// Calls find the texts of the run.
void failure_join(const Run *run);
// What is evaluated from now on is another instant to functions that remember (runtime/standard.h).
void failure_next_instant(const Run *run);
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

// --- init.c: parameters and the initial system, up to and including the first event iteration
MDL_CHECKED int init_solve(Run *run);

// --- event.c
MDL_CHECKED int event_iterate(Run *run, bool initial);
void event_instants(Run *run);
// The next instant after the current time (infinity when there is none).
double event_next_instant(const Run *run);
// Chattering ends the run. An accumulation of events is brought to rest, or ends the run as well.
MDL_CHECKED int event_progress(Run *run);
// Conditions that go on changing in less than this (s) let no run come through.
double event_hurry(const Run *run);
uint32_t event_relation_count(const Run *run);

// --- mixed.c: the mixed system of one instant
// Root functions and new values of relations at the point in v; those with time just after the instant.
void event_relations(Run *run);
// Relations, laws, discrete variables and unknowns with pre() fixed; what reinit() asks for stands in its places afterwards.
MDL_CHECKED int mixed_solve(Run *run);
// How many passes an iteration at one instant may take, and the message when it takes more.
uint32_t mixed_limit(const Run *run);
MDL_CHECKED int mixed_report(const Run *run);

// --- friction.c: the modes of set-valued laws, unilateral constraints among them
#define FRICTION_NOTHING 1e-200 // a force's share that is not the mode 0
double friction_mode(const Run *run, uint32_t law); // +1, -1; 0: sticks
// The limit a of a friction; 0 where it is no more than rounding, as that of a contact that is open.
double friction_limit(const Run *run, uint32_t law);
// Solves the model at the modes in force; laws that hold the same motion share the forces.
MDL_CHECKED int friction_evaluate(Run *run);
// After an evaluation: shares the forces anew when there are such laws.
MDL_CHECKED int friction_share(Run *run, bool report);
void friction_start(Run *run);
// The unilateral constraints are open, before the start.
void friction_open(Run *run);
// Ideal diodes that depend on each other get the modes that they have with a small leak (ir/pass/leak.c), found in at most `limit`
// exchanges; what is still wrong without it is left to the caller. Does nothing in other models.
MDL_CHECKED int friction_leak(Run *run, uint32_t limit);
MDL_CHECKED int friction_gap_rates(Run *run); // measures the rates of the gaps of ideal diodes at the point in v, which was solved
bool friction_gap_rate(const Run *run, uint32_t law, double *rate); // false: they were not measured here
void friction_event(Run *run);  // an event begins
void friction_search(Run *run); // a search for modes begins
// One step of the search: changes the modes of laws that are wrong. True when something changed.
bool friction_update(Run *run);
// After events and accepted steps: a negative limit ends the run with a message.
MDL_CHECKED int friction_check(Run *run);
// What the force of the limit makes of X when no other law holds it; 0: not measured.
double friction_answer(const Run *run, uint32_t law);
// The slip of a friction in a plane below which it is no more than the error of the integration.
double friction_slip(const Run *run, uint32_t law);
double friction_guard(const Run *run, uint32_t law);
double friction_band(const Run *run, uint32_t law);
void friction_clamp(Run *run); // derivatives of sticking states become exactly zero (after dynamics)

void friction_set(Run *run, uint32_t law, double mode); // decided elsewhere
void friction_keep(const Run *run, double *mode, uint8_t *carried); // n_sgns each
void friction_restore(Run *run, const double *mode, const uint8_t *carried);

// --- disk.c: laws that are components of one friction force; `first` is that of the first component
bool disk_slides(const Run *run, uint32_t first);
double disk_speed(const Run *run, uint32_t first); // |x|
double disk_force(const Run *run, uint32_t first); // |p|
// The component of der(x) along the direction of sliding.
double disk_pull(const Run *run, uint32_t first);
double disk_guard(const Run *run, uint32_t first);
// It slides, along x; along the force in v where x is zero.
void disk_slide(Run *run, uint32_t first);
// After an accepted step, in v: the directions that sliding continues in turn with the motion.
void disk_follow(Run *run);
// It slides and x is zero: finds the direction in which it begins to. False when that is the one it has.
bool disk_turn(Run *run, uint32_t first);

// --- contact.c: unilateral constraints
// The first modes; MDL_FAILED with a message when a constraint is violated at the start.
MDL_CHECKED int contact_start(Run *run);
double contact_gap(const Run *run, uint32_t law);
double contact_force(const Run *run, uint32_t law);
double contact_band(const Run *run, uint32_t law); // a gap below this counts as none
// The mode that an open constraint should have. pending: it has just closed; decided: it has just opened.
double contact_open_mode(const Run *run, uint32_t law, bool pending, bool decided);
// An event begins, with the states in v: velocities jump where constraints close.
MDL_CHECKED int contact_event(Run *run);
// The same again, after the event has changed states. *struck: there was an impact.
MDL_CHECKED int contact_impacts(Run *run, bool *struck);
// Closed constraints are brought to zero exactly; the model is evaluated.
MDL_CHECKED int contact_close(Run *run);
MDL_CHECKED int contact_close_row(Run *run); // the same for a row, where the laws hold rates at most: v alone is moved
// After an accepted step: *drifted when closed constraints had drifted and were moved back: the integrator must start again.
MDL_CHECKED int contact_drifted(Run *run, bool *drifted);

// --- rest.c: relations that stay at zero after their events have accumulated
// A reinit of the event being handled has changed its state.
void rest_note(Run *run, uint32_t reinit, double before, double after);
// Any contact is at rest, or is watched after it has opened.
bool rest_any(const Run *run);
// The relation `guard` could come to rest, and is not at rest now.
bool rest_possible(const Run *run, uint32_t guard);
bool rest_holds(const Run *run, uint32_t relation);
bool rest_was(const Run *run, uint32_t relation); // at some time before
// At an event of the relation: what moves between its events, which are `interval` apart, is below the tolerance; when
// an accumulation is not confirmed, also that the reset could not turn the motion back.
bool rest_unresolved(Run *run, uint32_t guard, double interval, bool confirmed);
// The relation is at rest from now on; the states in v are moved onto it. NULL, or why that cannot be.
const char *rest_begin(Run *run, uint32_t guard);
// True once per relation, for the message.
bool rest_first(Run *run, uint32_t guard);
// The reactions act on dx; after the dynamics, once.
void rest_apply(Run *run);
// Ends the rest of the contact that pulls most. True when something changed.
bool rest_update(Run *run);
double rest_guard(const Run *run, uint32_t contact);
// The gap of a contact that has opened counts as closed below this: what the tolerance does not resolve. 0: no such.
double rest_band(const Run *run, uint32_t relation);
// The relation of a contact that has opened and came back before its gap could be seen, UINT32_MAX: none.
uint32_t rest_falling_back(Run *run);
const char *rest_text(const Run *run, uint32_t contact);
// After an event iteration: contacts that reinits have lifted end, contacts that were hit reset again, and what is at
// rest is moved onto its surface exactly. *again: the event iteration must run again.
MDL_CHECKED int rest_after_event(Run *run, bool *again);
void rest_event(Run *run); // a new event begins
// During an event: the relation is not computed anew, because it is at rest or was hit.
bool rest_keeps(const Run *run, uint32_t relation);
// After an accepted step: true when the states had drifted from the surface and were moved back: the integrator must
// start again.
bool rest_drifted(Run *run);
// Rows that IDA solves instead of those of states: per state the row of jac_rest plus 1, or 0. NULL: none. They change
// when the version does.
const uint32_t *rest_rows(const Run *run);
uint32_t rest_version(const Run *run);
// Tangents (tangent.h), behind those of the dynamics: the reactions follow, on the derivatives of states.
void rest_tangent(Run *run);
// The tangent of rest_guard(), behind tangent_dynamics().
double rest_rate(const Run *run, uint32_t contact);
// Behind tangent_dynamics() along s: s keeps the gaps (level 0), then their speeds (level 1) of what is at rest.
MDL_CHECKED bool rest_close_tangent(Run *run, uint32_t level, double *s);
// A contact at rest whose reaction moves several states, UINT32_MAX: none.
uint32_t rest_shared(const Run *run);
// --- delay.c: delayed values
MDL_CHECKED int delay_start(Run *run); // the first point, in v
// Sets the delayed values at the time in v. True when delay times are computed by the dynamics: then delay_moved() says
// whether the dynamics gave other ones than those that were used.
// Keeps the points of an accepted step from `before` to `instant`; v is at the latter afterwards.
// True when the argument of a delay has reached an earlier event at `instant`, with v there.
bool delay_reaches(const Run *run, double instant);
// Some delay changes: its argument may pass an earlier event within a step. delay_passes(): it has, at the time in v.
bool delay_may_pass(const Run *run);
bool delay_passes(const Run *run);
// Arguments of delays that reach an earlier event at `instant` go past it. True when there was one.
bool delay_due(Run *run, double instant);
// After an event, with v behind it. of_delay: nothing else than delay_due() made it.
MDL_CHECKED int delay_event(Run *run, bool of_delay);
double delay_next_instant(const Run *run);

// --- transport.c: profiles of spatialDistribution
void transport_begin(Run *run); // before the initial system is solved
MDL_CHECKED int transport_start(Run *run);  // the initial profiles; v is at the start
// As delay_load() and delay_moved(): what leaves at the x in v.
bool transport_load(Run *run);
// After an event, with v behind it. True: a jump has left, and the relations are to be looked at again.
bool transport_event(Run *run);

// --- ahead.c: what depends on time alone
void ahead_forget(Run *run); // discrete values have changed
// All changes of the relation are found ahead: root functions say nothing about it.
bool ahead_knows(const Run *run, uint32_t relation);
// Before each step.
void ahead_look(Run *run);
double ahead_next_instant(const Run *run); // behind ahead_look(): of the first change
double ahead_limit(Run *run);              // the next step must not go beyond
// Marks the relations that change at this instant, for the event there.
void ahead_mark(Run *run, double instant);

// --- condition.c: relations without the rest of the model
// Relations can be evaluated by themselves now.
bool condition_alone(const Run *run);
// Puts time and states within the last step into v and evaluates what relations read, or the whole model when that is
// what they need. MDL_FAILED, silently, as evaluate_row().
MDL_CHECKED int condition_evaluate(Run *run, double time);
// True when nothing that conditions read has moved far enough, over the whole last step, for one of them to change.
bool condition_far(const Run *run);
// After a look at the end of the last step, with run->phi there: how far the states may move from here.
void condition_learn(Run *run);
void condition_forget(Run *run); // discrete values have changed
// --- fractional.c: fractional derivatives as sums of exponentials. `mode` has the values of all exponentials.
void fractional_start(Run *run); // after it: nothing has passed yet
// Gives the model the sums for run->mode; v has the states.
void fractional_load(Run *run);
// Slopes of the exponentials, after the derivatives in v.
void fractional_rates(const Run *run, const double *mode, double *rate);
// The same as residuals; yp are the derivatives that the integrator has.
void fractional_residual(const Run *run, const double *mode, const double *rate, const double *yp, double *out);
// run->mode: those of the accepted point, moved along their slopes.
void fractional_extrapolate(Run *run, double ahead);
// Completes the error weights of the model's unknowns. The exponentials shall not thin out the mean of the errors.
void fractional_weights(const Run *run, const double *y, double *weight);
double fractional_nominal(const Run *run, uint32_t mode);
// Before and after an event. True when something jumped, so that the model must be solved again.
void fractional_note(Run *run);
bool fractional_jump(Run *run);
// Before the model's partial derivatives are evaluated for cj.
void fractional_prepare(Run *run, double cj);
// The linear system with residuals `right` of the exponentials: what comes to the right sides of the rows in proportion to
// their partials by the derivative of the state that is returned; and, after the model's system was solved to b, all
// corrections.
uint32_t fractional_reduce(const Run *run, uint32_t i, double cj, const double *right, double *shift);
void fractional_expand(const Run *run, uint32_t i, double cj, double shift, double *b, double *right);
// b has residuals of y' - f(t, y), in which the exponentials' slopes contain those of states: to that of fractional_residual.
void fractional_explicit(const Run *run, double *b);

// --- jump.c: impulses of what jumps and is differentiated
// v is at the left limit of an event, evaluated. Then, where the event has left equations unfulfilled with the continuous variables of the
// left limit: the states jump. *jumped: they did, and everything is to be solved again.
void jump_note(Run *run);
void jump_reset(Run *run, uint32_t state); // reinit() has set the state, after jump_note()
MDL_CHECKED int jump_apply(Run *run, bool *jumped);

// --- root.c: conditions on accepted steps
bool root_any(const Run *run);
// Root functions at the point in v (after dynamics): true when a condition is violated.
bool root_violated(Run *run);
// Finds the first instant in (low, high] at which a condition is violated; v is at that point afterwards and
// the guards that crossed are marked pending; run->settled is the last time before it. *found is false when the violation
// vanished. Where the equations have no solution counts as violated; MDL_FAILED with a message when the first such instant is
// no event: *instant is the last one before.
MDL_CHECKED int root_locate(Run *run, double low, double high, double *instant, bool *found);
// Remembers the values of a point without violation. True when parabolas through the last three values of guards have come
// close to zero, between two points not before `from`: worth a look.
bool root_suspect(Run *run, double from);
// That look: where those parabolas are lowest. As root_locate().
MDL_CHECKED int root_dipped(Run *run, double *instant, bool *found);
// At a point without violation, behind root_violated(): a condition that can come to rest must have flipped and flipped back
// since the last event.
bool root_must_return(const Run *run);
// Looks for the first of these flips in (low, time]. As root_locate(); v may be anywhere there when none is *found.
MDL_CHECKED int root_returned(Run *run, double low, double time, double *instant, bool *found);
// At a point up to which there was no event, or at the first one: conditions that left their band see again. MDL_FAILED when
// one must have flipped twice inside its band, so that what follows would be wrong.
MDL_CHECKED int root_arm(Run *run);
// After an event, with the consistent point in run->y, run->yp: the forced conditions get their band.
MDL_CHECKED int root_blind(Run *run);
// What helps against chattering, beginning with a newline; "" when no relation is blind.
const char *root_chatter_help(const Run *run);
const char *root_text(const Run *run, uint32_t guard);

// --- vanish.c: relations whose functions become exactly zero and stay zero
// At the point in v: the function is zero, and the value held is not the one that the relation has there.
bool vanish_wrong(const Run *run, uint32_t k);
// At a look without violation, `low` being the one before: marks the guards that have vanished. True: there are some, so that
// root_violated() and root_locate() find where.
MDL_CHECKED bool vanish_found(Run *run, double low);
// During an event, v evaluated: the function of relation k, which is zero, would be so whatever the rounding of the states was.
bool vanish_is_exact(Run *run, uint32_t k);

// --- invariants.c: groups of invariants that share states (models with constraints only)
Invariants *invariants_create(const mdl_model *model); // NULL: out of memory
void invariants_free(Invariants **invariants);
uint32_t invariants_groups(const Invariants *invariants);
// The invariants of group g into `row` (model->n_constraints places); their number.
uint32_t invariants_group(const Invariants *invariants, uint32_t g, uint32_t *row);
// The states of their depth that they depend on into `column` (model->nx places; NULL: only their number); their number.
uint32_t invariants_states(const Invariants *invariants, uint32_t g, uint32_t *column);
// Their transposed Jacobian at the point in v, in units of nominal values, factored. NULL: out of memory, or not finite.
struct Rank *invariants_rank(const Run *run, Invariants *invariants, uint32_t g);

// --- project.c: projection onto the invariants (models with constraints only)
Projection *projection_create(const Run *run); // NULL: out of memory, or invariants among too few states
void projection_free(Projection **projection);
// Moves the states y (nx) onto the invariants by the shortest way in nominal values. v is used. False: they
// depend on each other here, or y is too far away.
MDL_CHECKED bool projection_apply(Run *run, Projection *projection, double time, double *y);
// The same for values between two steps: where there is no way y stays off the invariants by the error of its interpolation.
void projection_between(Run *run, Projection *projection, double time, double *y);
// The parts of it: the matrix at y, what the invariants are there (per constraint), and y += factor*K*rho, where
// C K = 1 with C = dc/dy at the point factored last. Returns the largest relative size of that correction.
MDL_CHECKED bool projection_factor(Run *run, Projection *projection, double time, const double *y);
// Limits the weights of the model's states in error tests to what the invariants say about the states, at the point where the
// latest projection has arrived: near a singular position that may be less than the tolerance asks for.
void projection_weights(Projection *projection, double *weight);
void projection_measure(Projection *projection); // the same at the point factored last
void projection_forget(Projection *projection); // what earlier projections have shown; when the method starts again
const double *projection_defect(const Projection *projection);
double projection_move(const Run *run, Projection *projection, const double *rho, double factor, double *y);
MDL_CHECKED int projection_report(const Run *run); // MDL_FAILED

// --- redundancy.c: constraints that follow from others
// At a consistent point. Chooses the causal form where the forces of constraints are not unique. MDL_FAILED with a
// message in a singular position, and when the motion is not determined.
MDL_CHECKED int redundancy_review(Run *run);
// At an accepted point, in v: MDL_FAILED when a constraint that followed from the others no longer does.
MDL_CHECKED int redundancy_check(const Run *run);

// --- locked.c: loops whose equations follow from others under the present conditions
// After an event iteration, and at the start: finds run->locked. MDL_FAILED with a message when the motion is not determined.
MDL_CHECKED int locked_review(Run *run);
// Whether what blocks leave open at the point in v, which was just solved, does not move the states.
bool locked_keeps_motion(Run *run);
bool locked_newly(const Run *run); // blocks are locked that were not when they were looked at: by a condition that makes no event
void locked_form(Run *run); // chooses the causal form, for an integrator that is not made yet

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

// --- choice.c: --solver=auto
// At consistent values. *why: the reason, for the statistics.
mdl_solver choice_of_solver(Run *run, const char **why);
// The motion runs backwards when velocities change their signs, so that it keeps its energy, and it is not stiff. False also where
// that is not looked for: in large models. Consistent values.
bool choice_is_reversible(Run *run);
// Who has chosen gauss is told when the model is stiff at its start. Consistent values.
void choice_warn_of_stiffness(Run *run);

// --- linearize.c
struct mdl_linear;
struct mdl_linear_request;
// mdl_linearize() at run->time, run->y.
MDL_CHECKED int linearize_run(Run *run, const struct mdl_linear_request *request, struct mdl_linear *out);

// --- steady.c: options.steady
// Moves the states in run->y to an equilibrium, with inputs, parameters and discrete variables as they are. v is there.
MDL_CHECKED int steady_find(Run *run);

// --- sense.c, saltation.c: sensitivities of the states (options.sense)
MDL_CHECKED int sense_create(Run *run); // guards are known. MDL_FAILED with a message: the model admits none
void sense_free(Run *run);
MDL_CHECKED int sense_start(Run *run);  // after initialisation, with its solution in v
MDL_CHECKED int sense_values(Run *run); // those of the outputs, at the point in v, into their places
// Around an event: v is at the left limit, with the conditions that have become true pending; then behind the event. In
// between what the event iteration does, each with v evaluated: when pre() of continuous variables is taken, before the
// discrete equations are evaluated, and behind each impact. MDL_FAILED with a message: there is no derivative. Nothing
// happens outside of events.
MDL_CHECKED int sense_before_event(Run *run);
MDL_CHECKED int sense_left_limits(Run *run);
MDL_CHECKED int sense_discretes(Run *run);
MDL_CHECKED int sense_impact(Run *run);
void sense_moved(const Run *run); // what the step did to states was the correction of a drift
MDL_CHECKED int sense_after_event(Run *run);
MDL_CHECKED int sense_remember(Run *run); // behind that: for what is delayed
extern const Stepper sense_stepper;

// --- pace.c: runs that do not get on
// After a step that began at `before`. MDL_FAILED with a message: the steps have shrunk to rounding.
MDL_CHECKED int pace_step(Run *run, double before);
// A loop has no solution just ahead of the last point: says so, with its equations. False: nothing was said.
bool pace_explain(Run *run);
// After a step that has failed: another form may get on.
void pace_advise(const Run *run);

// --- integrator.c: whichever stepper the run uses
extern const Stepper ida_stepper;                               // ida.c: F(t, y, y') = 0
extern const Stepper cvode_stepper, adams_stepper, erk_stepper; // ode.c: y' = f(t, y), blocks solved inside
extern const Stepper rk4_stepper;                               // fixed.c: fixed steps
extern const Stepper gauss_stepper;                             // gauss.c: symmetric, constant steps
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
enum { RUN_GIVES_UP = -1, RUN_NEARS_SINGULAR = -2 };
// One step, not beyond `limit`. Sets run->time, run->y, run->yp.
MDL_CHECKED int integrator_step(Run *run, double limit);
// Values within the last step, loaded into v (evaluate_load).
void integrator_interpolate(Run *run, double time);
void integrator_stats(Run *run);

// --- audit.c: powers and energies per node (options.audit)
void audit_start(Run *run);  // at the consistent start, in v
MDL_CHECKED int audit_step(Run *run, double before, double instant);
void audit_energies(const mdl_audit *tables, const mdl_node_audit *nodes, double energy[AUDIT_ENERGIES]); // audit_report.c
MDL_CHECKED int audit_row(Run *run); // the point in v becomes a row: its powers and energies, where options.audit_place wants them // after an accepted step; v stays what it is
void audit_before_event(Run *run);
void audit_after_event(Run *run);
MDL_CHECKED int audit_finish(Run *run);  // MDL_FAILED with messages when an ideal node did work

// --- check.c: the equations as they were written
// The evaluated point in v becomes a row. MDL_FAILED with a message when it does not solve them.
MDL_CHECKED int check_row(Run *run);
// The end of the last step, where all steps are looked at.
MDL_CHECKED int check_step(Run *run);

// --- range.c: variables that leave their ranges
void range_row(Run *run); // the evaluated point in v becomes a row: warns of what is beyond a limit for the first time

// --- result.c
MDL_CHECKED int result_open(Run *run);
MDL_CHECKED int result_row(Run *run);    // stores the values in v
MDL_CHECKED int result_tend(Run *run);   // between steps: what has waited for long goes to disk
MDL_CHECKED int result_close(Run *run);

#endif
