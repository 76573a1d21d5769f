// sim.h: running a compiled model. The only runtime header that callers (the command line, native
// simulators, tests) need besides model.h.
//
//     mdl_options options;
//     mdl_options_default(model, &options);
//     options.output_path = "out.csv";
//     int status = mdl_simulate(model, &options, &stats);
//
// The runtime never prints and never exits: texts go through `options.message`, results through a sink,
// and the status says how the run ended. The statuses are the exit codes of the command line.
// Nothing is kept between calls and there is no global state: simulations may run in parallel threads
// (one model object may serve several runs, it is only read).
#ifndef MDLC_RUNTIME_MODEL_SIM_H
#define MDLC_RUNTIME_MODEL_SIM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/model/model.h"
#include "runtime/model/straight.h"
#include "runtime/model/threads.h"

enum {
    MDL_OK = 0,
    MDL_MODEL = 1,        // a parameter has a value that is not allowed
    MDL_USAGE = 2,        // options that cannot be meant (stop before start, tolerance not positive)
    MDL_FAILED = 3,       // the simulation failed; rows so far are written
    MDL_INTERNAL = 4,     // the model's tables contradict model.h, or memory is exhausted
    MDL_IO = 5,           // the result file could not be written; what was written stays valid
    MDL_INTERRUPTED = 130 // `options.interrupt` was set; rows so far are written
};

typedef enum mdl_form { MDL_FORM_AUTO, MDL_FORM_CAUSAL, MDL_FORM_DAE } mdl_form;

// ida: variable-order BDF on F(t, y, y') = 0. The others step y' = f(t, y), with algebraic loops solved
// inside f. cvode: variable-order BDF; adams: variable-order Adams-Moulton with fixed-point iteration; erk:
// embedded Runge-Kutta of order 5 (4); rk4: the classical Runge-Kutta method with fixed steps, for comparison with
// publications; gauss: Gauss-Legendre collocation of order 8 with a constant step, for long runs that keep energy; radau:
// Radau IIA of orders 5, 9 and 13 with steps of any length, for stiff systems to small tolerances; dop853: the explicit pair of
// Dormand and Prince of order 8, for motions that are not stiff, to small tolerances; auto: gauss where the
// motion is reversible and not stiff, ida otherwise.
typedef enum mdl_solver {
    MDL_SOLVER_IDA, MDL_SOLVER_CVODE, MDL_SOLVER_ADAMS, MDL_SOLVER_ERK, MDL_SOLVER_RK4, MDL_SOLVER_GAUSS, MDL_SOLVER_RADAU,
    MDL_SOLVER_DOP853,
    MDL_SOLVER_AUTO
} mdl_solver;

typedef enum mdl_severity { MDL_NOTE, MDL_WARNING, MDL_ERROR } mdl_severity;

// One or several lines, no trailing newline, no severity prefix. The text dies when the call returns.
typedef void mdl_message_fn(void *user, mdl_severity severity, const char *text);

// Called about ten times per second while integrating (for a progress line). May be NULL.
typedef void mdl_progress_fn(void *user, double time, double start, double stop);

// Called with the value array before a run ends because a value is not finite: the text appended to the
// message, or NULL; it may say which equation is to blame. It must live until the run ends.
typedef const char *mdl_explain_fn(void *user, const double *v);

// Looks whether the values in v, a point of a run with this relative tolerance and this resolution of time, solve the equations that the model was compiled from:
// NULL, or which one they do not. The text must live until the run ends.
typedef const char *mdl_check_fn(void *user, const double *v, double tolerance, double resolution);
// auto: as many rows as take no more than a twentieth of the run's time.
typedef enum mdl_check { MDL_CHECK_AUTO, MDL_CHECK_OFF, MDL_CHECK_ROWS, MDL_CHECK_STEPS } mdl_check;

// A place in v that gets another value before the model's `parameters` function runs.
typedef struct mdl_override {
    uint32_t place;
    double value;
} mdl_override;

// Where rows go. `begin` once, then `row` per result row (value[0] is time, then one value per column), `flush` when what
// has come should be safe, then `end` once, also after a failure. Each may be NULL. A result other than 0 is an errno
// value: the run stops with MDL_IO.
typedef struct mdl_sink {
    void *self;
    int (*begin)(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns);
    int (*row)(void *self, const double *value, uint32_t count);
    int (*flush)(void *self);
    int (*end)(void *self);
} mdl_sink;

// The audit of one node of the bond graph (model->audit): energies in J, powers in W, over the run so far.
typedef struct mdl_node_audit {
    double work;          // taken in through its bonds
    double weight;        // work that its weight did on it (bodies)
    double kinetic_start, kinetic, impacts; // kinetic energy at the start and now; its jumps at events
    double scale;         // sum over its bonds of the largest effort times the largest flow
    double worst, worst_time; // the largest sum of powers by magnitude, and when
    double least, least_time; // the least power: negative when it gave energy away
} mdl_node_audit;

// Energies of the whole in J: stored; supplied, lost since the start; what is not accounted for.
enum { AUDIT_ENERGIES = 4 };

// Counts and times of a run in detail: why it takes as long as it does.
typedef struct mdl_profile mdl_profile;

// Forward sensitivities of outputs to parameters: d(output k)/d(parameter p) goes to v[place + k*n + p] with every row; the
// model's nv has room for these. Steps are those of CVODE, whatever the solver.
typedef struct mdl_sense {
    const uint32_t *parameter; // n indices into model->settable
    uint32_t n;
    const uint32_t *output;    // indices into model->output
    uint32_t outputs;
    uint32_t place;
    uint32_t instants;         // 0, or where d(time of the last event)/d(parameter p) goes, in n places
    uint32_t rates;            // 0, or where d(output k)/d(time) goes, in as many places as there are outputs
} mdl_sense;

typedef struct mdl_options {
    double start, stop;
    double interval;          // > 0: distance of output points; 0: `points` is used
    uint32_t points;          // number of output intervals when interval is 0
    const double *instant;    // NULL, or `instants` times of output points, growing, instead of equal intervals
    uint32_t instants;
    double tolerance;         // relative
    double abstol;            // absolute per unit of nominal value; 0: chosen from tolerance
    double max_step;          // 0: no limit
    double horizon;           // how long after the start fractional derivatives remember; 0: until stop
    double kernel;            // the tolerance that sums of exponentials for fractional derivatives are made for; 0: `tolerance`
    double time_limit;        // wall-clock seconds; 0: no limit
    mdl_form form;
    mdl_solver solver;
    double step;              // of rk4, which needs it, and gauss; 0: gauss chooses it from the tolerance
    uint32_t event_limit;     // passes of one event iteration; 0: the default (100)
    const char *output_path;  // a .mat file, or CSV with any other name; NULL: no file
    bool steps;               // a row at every step of the integrator, too
    const mdl_sink *sink;     // instead of a file; NULL: none
    const mdl_sink *witness;  // its `row` gets all rows as well; NULL: none
    const uint32_t *column;   // indices into model->output to store; NULL: all
    uint32_t columns;
    const mdl_override *override;
    uint32_t overrides;
    // NULL, or model->audit->n_nodes entries: powers are added up per node and ideal constraints and junctions are held to
    // what they are; the run fails at its end when one does work. Needs model->audit.
    mdl_node_audit *audit;
    // 0, or where in v the power of each node and then the AUDIT_ENERGIES of the whole go with every row; the model's nv has
    // room for them.
    uint32_t audit_place;
    mdl_profile *profile;     // NULL, or where the run is counted and timed in detail
    const double *compiling;  // NULL, or seconds that the model's functions have spent so far on being compiled meanwhile
    const mdl_translator *translator; // NULL, or who makes machine code of what the run is found to do often; it outlives the run
    bool no_ranges;           // variables beyond min or max are not told
    bool assemble;            // close loops at the start by moving start values
    const mdl_sense *sense;   // NULL, or sensitivities that are wanted; needs model->tangents
    const mdl_directions *directions; // NULL, or code of model->tangents for several directions at once
    Threads *threads;               // NULL, or threads for vectors of large models
    bool steady;              // begin in an equilibrium near the start; needs model->tangents
    bool outside;             // of a run that is driven: whoever drives it integrates it himself (mdl_run_point)
    bool trace;               // messages (notes) about every step of initialisation
    double *final_values;     // NULL, or model->n_outputs doubles: the values at the end of the run
    double *final_time;       // NULL, or where the time of final_values goes
    volatile sig_atomic_t *interrupt; // NULL, or set to non-zero by a signal handler to stop the run
    mdl_message_fn *message;  // may be NULL
    mdl_progress_fn *progress;
    mdl_explain_fn *explain;  // may be NULL
    mdl_check_fn *checker;    // may be NULL
    mdl_check check;          // where it looks
    void *user;
} mdl_options;

typedef struct mdl_stats {
    uint64_t steps;           // accepted integrator steps
    uint64_t residuals;       // residual evaluations by the integrator
    uint64_t jacobians;       // Jacobian evaluations (= factorisations)
    uint64_t factorings;      // real matrices that radau has factored; a complex one counts as four
    uint64_t newton_iterations;
    uint64_t newton_failures, error_failures;
    uint64_t root_evaluations; // evaluations while locating events
    uint64_t events, time_events, state_events;
    uint64_t block_solves;    // algebraic blocks solved outside the integrator
    uint64_t standing_solves; // of these, with pivots that stand (runtime/point/standing_loop.c)
    uint64_t standing_refused; // and begun so, but then solved by Newton's iteration
    uint64_t standing_products, standing_entries; // of the largest elimination: multiplications with subtraction, entries of the factors
    uint64_t standing_translated; // eliminations that have become machine code
    uint64_t directions;      // right sides of sensitivities that were made for several parameters at once
    uint64_t restarts;        // restarts after an integrator failure
    uint64_t rows;
    uint64_t checked;         // points that were held against the equations as they were written
    uint64_t errors;          // messages of errors
    uint32_t unknowns, states, nonzeros;
    uint32_t free_states;     // that the constraints leave: of a mechanism twice its degrees of freedom
    uint32_t exponentials;    // of all fractional derivatives
    double fractional_error;  // the largest relative error of their kernels
    double fractional_time;   // below which they are not resolved
    const char *form;         // "causal" or "dae"
    const char *solver;       // its name
    const char *reason;       // why `auto` chose it; NULL: it was asked for
    double changed, gain;     // `auto` changed to it on the way: when, and how many times less work it was found to need; 0: it did not
    const char *linear_solver; // "dense", "klu", or "lanes" of implicit methods whose runs are made together
    double init_seconds, run_seconds; // wall clock
    double end_time;          // time reached
} mdl_stats;

// Fills in the model's experiment settings (start, stop, interval, tolerance) and neutral values.
void mdl_options_default(const mdl_model *model, mdl_options *options);

// States that the constraints leave when none of these follows from others: no more than mdl_stats.free_states of a run.
uint32_t mdl_free_states(const mdl_model *model);

// Runs the model from start to stop. `stats` may be NULL.
MDL_CHECKED int mdl_simulate(const mdl_model *model, const mdl_options *options, mdl_stats *stats);

// --- several runs of one model side by side
// Runs with the solvers dop853, radau and gauss of a model that has mdl_lanes are made together where nothing stands against it (laws, delays; invariants, but with dop853); all others
// one after the other. A run is the same to the bit whichever others are made with it. NULL: out of memory.
typedef struct mdl_ensemble mdl_ensemble;
mdl_ensemble *mdl_ensemble_open(const mdl_model *model);
void mdl_ensemble_close(mdl_ensemble *ensemble);
// Whether runs with this solver may be made together.
bool mdl_solver_goes_together(mdl_solver solver);
// How many runs it is best to make at once: 1, 4 or 8.
uint32_t mdl_ensemble_width(const mdl_ensemble *ensemble);
// n runs, at most as many, each with options of its own; `stats` may be NULL. status[k] is what mdl_simulate() would return.
void mdl_ensemble_simulate(mdl_ensemble *ensemble, const mdl_options *options, mdl_stats *stats, int *status, uint32_t n);

// --- the parts of mdl_simulate(), for whoever looks in between (embed.h)
typedef struct mdl_run mdl_run;

// Finds the start and prepares the integrator. The run must be closed whatever *status says; NULL: memory is exhausted.
// `options` must outlive it.
mdl_run *mdl_run_open(const mdl_model *model, const mdl_options *options, int *status);
// Integrates to `until`, or until the model terminates; options.stop is no limit.
MDL_CHECKED int mdl_run_advance(mdl_run *run, double until);
// The same by one step of the method, not beyond `until`. *event: at its end there is an event. With `hold` it is not handled: v is at its
// left limit, and mdl_run_event() handles it before anything else goes on.
MDL_CHECKED int mdl_run_step(mdl_run *run, double until, bool hold, bool *event);
bool mdl_run_holds(const mdl_run *run);     // an event waits
double mdl_run_reached(const mdl_run *run); // after a failure: up to where steps were accepted
// Handles the event that is held, or that other values of inputs are; without one nothing happens.
MDL_CHECKED int mdl_run_event(mdl_run *run);
// Gives an input (a place in v) another value, now: an event.
MDL_CHECKED int mdl_run_input(mdl_run *run, uint32_t place, double value);
bool mdl_run_ended(const mdl_run *run);
// Directional derivatives of a model with tangents, now: places in v of states and inputs move at these rates, the other states and inputs stay;
// derivatives of outputs (indices into model->output) go to `answer`. Place 0, time, moves likewise where nothing is delayed. MDL_USAGE with a
// message: the model has no tangents, or a place is neither state nor input nor this.
MDL_CHECKED int mdl_run_derivative(mdl_run *run, const uint32_t *place, const double *rate, uint32_t places, const uint32_t *output,
                       uint32_t outputs, double *answer);
// The same by places in v, all of them: answers are the rates of those in `of`.
MDL_CHECKED int mdl_run_tangent(mdl_run *run, const uint32_t *place, const double *rate, uint32_t places, const uint32_t *of, uint32_t n_of,
                                double *answer);
// The state of a run between two calls as bytes without pointers, into `block` when that has room for it; the bytes needed.
// Behind a state that was saved, and behind each time that it is restored, the same calls give the same bits.
size_t mdl_run_save(mdl_run *run, void *block, size_t size);
// The run goes on from that state, which is one of this model as often as wanted. MDL_USAGE, with a message, when it is not, and the run is
// what it was. For a run that was opened without an error; it may have failed since.
MDL_CHECKED int mdl_run_restore(mdl_run *run, const void *block, size_t size);
// --- a run that is integrated outside (options.outside): its states are the model's and then the exponentials of fractional derivatives
uint32_t mdl_run_states(const mdl_run *run);
uint32_t mdl_run_indicators(const mdl_run *run);
// Where it is looked at next: any number of trial points follow each other. NULL: at the states that it has.
void mdl_run_point(mdl_run *run, double time, const double *state);
const double *mdl_run_state(const mdl_run *run);
// One state alone. `event`: it jumps, which mdl_run_settle() handles.
void mdl_run_move(mdl_run *run, uint32_t state, double value, bool event);
// v at that point. MDL_FAILED, with a message when `report`: the equations have no solution there.
MDL_CHECKED int mdl_run_evaluate(mdl_run *run, bool report);
// Behind it: derivatives of the states, with what leads them back onto invariants; what is positive as long as each condition is the one in force.
void mdl_run_rates(mdl_run *run, double *rate);
double mdl_run_rate(const mdl_run *run, uint32_t state); // one of these
// How these rates move, beyond what the equations say (mdl_run_tangent), when the states, inputs and time at the places move at the given ones: what leads
// back, by a central difference. To nx answers.
MDL_CHECKED int mdl_run_led(mdl_run *run, const uint32_t *place, const double *rate, uint32_t places, double *answer);
void mdl_run_look(mdl_run *run, double *indicator);
double mdl_run_nominal(const mdl_run *run, uint32_t state);
// The point ends a step; values are then those of the point moved onto the invariants. *event: the run asks for mdl_run_event() there, because a condition has changed, or the states have left invariants.
MDL_CHECKED int mdl_run_accept(mdl_run *run, bool *event);
// The event at that point; *moved: the states are others behind it. Also behind the start.
MDL_CHECKED int mdl_run_settle(mdl_run *run, bool *moved);
// When the next event is at the latest; infinity: it is not known.
double mdl_run_next(mdl_run *run);

// Of a fractional derivative's sum: its value or its rate at the present point.
double mdl_run_exponential(const mdl_run *run, uint32_t k, bool rate);

// v at the present time.
const double *mdl_run_values(const mdl_run *run);
// Whether constraint k (an index into mdl_model.constraint) follows from the others, as found at the start.
bool mdl_run_follows(const mdl_run *run, uint32_t k);
MDL_CHECKED int mdl_run_close(mdl_run *run);
void mdl_run_drop(mdl_run *run); // the same where nobody waits for a result

// The statistics as one line of text or as one JSON object (no newline), at most `size` bytes with NUL.
void mdl_stats_text(const mdl_stats *stats, char *text, uint32_t size);
void mdl_stats_json(const mdl_stats *stats, char *text, uint32_t size);

// NULL: memory is exhausted. One profile is for one run.
mdl_profile *mdl_profile_create(const mdl_model *model);
void mdl_profile_free(mdl_profile **profile);
// What a run was slowed down by, as a text of several lines or as a JSON object (no newline): steps by length and order, the
// unknowns that limited them, events by condition, times by section of the equations, and warnings.
void mdl_profile_text(const mdl_profile *profile, const mdl_stats *stats, FILE *out);
void mdl_profile_json(const mdl_profile *profile, const mdl_stats *stats, FILE *out);

// The report of the audit (model->audit and options.audit): a table of the nodes with what they took in, and the energy of
// the whole; or {"start", "end", "energy": {...}, "nodes": [{name, class, role, work, ...}]}.
void mdl_audit_text(const mdl_audit *tables, const mdl_node_audit *nodes, double start, double end, FILE *out);
void mdl_audit_json(const mdl_audit *tables, const mdl_node_audit *nodes, double start, double end, FILE *out);

#endif
