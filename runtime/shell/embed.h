// mdl_embed.h: driving a compiled model from another program, step by step.
//
// A model becomes an object file (`mdlc build --emit=obj`, linked with libsimulator.a and libm) or a shared library
// (`--emit=shared`). Both hold the model as mdl_program; this interface needs no other header.
//
//     mdl_simulation *s = mdl_create(&mdl_program, 1e-8);
//     mdl_set(s, "body.m", 2);
//     int status = mdl_start(s, 0);
//     while (status == 0 && mdl_time(s) < 5) {
//         mdl_set(s, "force", control(mdl_get(s, "body.s")));    // inputs may change between steps
//         status = mdl_advance(s, mdl_time(s) + 0.01);
//     }
//     mdl_destroy(s);
//
// Or as a whole, with all rows in one block: mdl_trajectory_run(). Or only its right-hand side, for integrators of others: mdl_rates().
//
// Times are in seconds, values in the units of the model. A status is 0, or one of the exit codes of the command line:
// 1 a value is not allowed, 2 wrong usage, 3 the simulation failed, 4 memory is exhausted or the model is of another version;
// mdl_message() says why. There is no global state: simulations are independent of each other, one thread each.
// The floating-point environment of the caller is the same behind every call, whatever comes of it.
#ifndef MDL_EMBED_H
#define MDL_EMBED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mdl_model mdl_model;
typedef struct mdl_simulation mdl_simulation;

extern const mdl_model mdl_program; // of `mdlc build`

// The number of this interface, which grows when structures below change; a library says its own.
enum { MDL_EMBED_VERSION = 1 };
int mdl_embed_version(void);

// Owned by the caller, who ends it with mdl_destroy(). NULL: memory is exhausted. tolerance 0: the model's own.
mdl_simulation *mdl_create(const mdl_model *model, double tolerance);
// The same for the model of this library, for languages that reach functions only.
mdl_simulation *mdl_create_program(double tolerance);
void mdl_destroy(mdl_simulation *simulation);

// Sets a parameter or start value before mdl_start(), an input at any time; Booleans are 0 and 1, enumerations count from 1.
int mdl_set(mdl_simulation *simulation, const char *name, double value);
// Finds consistent initial values at `time`.
int mdl_start(mdl_simulation *simulation, double time);
// Integrates to `until`, through all events. After a failure only mdl_get, mdl_message, mdl_restore and
// mdl_destroy make sense.
int mdl_advance(mdl_simulation *simulation, double until);
double mdl_time(const mdl_simulation *simulation);

// Directional derivatives, now: when the states and inputs with the handles `by` (n_by of them) move at the rates `seed`, all other
// states and inputs standing still, the variables `of` (n_of of them) move at the rates that go to `out`. Values hold before the
// next event. For models built with --derivatives; 2: this one was not, or a handle is none, or `by` is neither state nor input.
int mdl_derivative(mdl_simulation *simulation, const int *by, const double *seed, int n_by, const int *of, double *out, int n_of);

// The state of the simulation, with parameters and inputs, as bytes without pointers, into `block` when `size` is enough; the bytes that
// are needed, 0 when the simulation has not started. They may be kept in a file, and serve as often as wanted.
//     size_t size = mdl_save(s, NULL, 0);
//     void *state = malloc(size);
//     mdl_save(s, state, size);
// The next step makes anew what a state does not hold (docs/embedding.md says what), so that it does the same to the bit as behind
// mdl_restore().
size_t mdl_save(mdl_simulation *simulation, void *block, size_t size);
// The simulation goes on from that state: its own, or one of another simulation of the same built model with the same tolerance that has
// started: the same calls give the same bits. Also after a failed step. 2: the bytes are no such state, and nothing has changed.
int mdl_restore(mdl_simulation *simulation, const void *block, size_t size);

// 1: the model ended the simulation by terminate().
int mdl_ended(const mdl_simulation *simulation);

// The value of any variable or parameter now; NaN when there is no such name. Handles make repeated access cheap: -1 when
// there is no such name.
double mdl_get(const mdl_simulation *simulation, const char *name);
int mdl_find(const mdl_simulation *simulation, const char *name);
double mdl_value(const mdl_simulation *simulation, int handle);

// Names and units of all variables, and of all that can be set; NULL behind the last.
const char *mdl_variable_name(const mdl_simulation *simulation, int index);
const char *mdl_variable_unit(const mdl_simulation *simulation, int index);
const char *mdl_settable_name(const mdl_simulation *simulation, int index);

// What the model says about one of these.
typedef struct mdl_about {
    const char *name, *unit, *comment; // "" where nothing is said
    int type;                          // 0 Real, 1 Integer, 2 Boolean, 3 enumeration
    int kind;                          // variables: 0 a column of results, 1 a parameter, 2 a derivative; settable: 0 a parameter, 1 a start value, 2 an input
    int literals;                      // of an enumeration: how many,
    const char *const *literal;        // their names, the first for 1
    double value, low, high;           // settable: what it is without mdl_set(), its limits (infinite where there are none)
    const char *why;                   // not NULL: it cannot be set, because of this
} mdl_about;
// 2: there is no such index.
int mdl_about_variable(const mdl_simulation *simulation, int index, mdl_about *about);
int mdl_about_settable(mdl_simulation *simulation, int index, mdl_about *about);

// --- whole runs
// NaN and 0 mean: as the model says. Begin with mdl_request_default().
typedef struct mdl_request {
    double start, stop, interval, step, abstol, time_limit;
    int points, steps, assemble;       // steps: a row at every step, too
    int solver;                        // 0 auto, then ida, cvode, adams, erk, rk4, gauss, radau, dop853
    int form;                          // 0 auto, 1 causal, 2 dae
    const int *column;                 // handles of the variables wanted; NULL: all but parameters and derivatives
    int columns;
    volatile int *interrupt;           // NULL, or where something other than 0 ends the run
    // NULL, or called about ten times a second.
    void (*progress)(void *user, double time, double start, double stop);
    void *user;
} mdl_request;
void mdl_request_default(mdl_request *request);

// Rows of 1 + columns values, the time first. Rows at events come twice, with values before and behind it.
typedef struct mdl_trajectory {
    double *value;
    size_t rows;
    int columns;
    int *column;                       // handles
    double end, seconds;               // time reached; of the clock
    unsigned long long steps, events;
    char *messages;                    // all of them, a line "warning: ..." or more each; "" when nothing was said
} mdl_trajectory;
// A run from start to stop with what mdl_set() has given, instead of mdl_start(); as often as wanted. 130: it was interrupted. The trajectory
// has the rows up to there also behind a failure, and is ended by mdl_trajectory_free() in any case.
int mdl_trajectory_run(mdl_simulation *simulation, const mdl_request *request, mdl_trajectory *trajectory);
void mdl_trajectory_free(mdl_trajectory *trajectory);

// --- right-hand sides
// Instead of mdl_start(): dx/dt = f(t, x, u) with the modes of the start, for integrators and controllers of others; events are not handled.
int mdl_start_rates(mdl_simulation *simulation, double time);
int mdl_state_count(const mdl_simulation *simulation);
// NULL: it has no name (it belongs to a fractional derivative), or there is none.
const char *mdl_state_name(const mdl_simulation *simulation, int index);
// At that time and those states, with the inputs of mdl_set(); afterwards mdl_value() gives variables there. Rates go
// to `rate`, df/dx and df/du, row by row, to `by_state` and `by_input` (or NULL; for models built with --derivatives); inputs are in the
// order of mdl_about_settable().
int mdl_rates(mdl_simulation *simulation, double time, const double *state, double *rate, double *by_state, double *by_input);
void mdl_state_now(const mdl_simulation *simulation, double *now); // where it is, for a first point

// What was said last; "" when nothing was. It lives until the next call.
const char *mdl_message(const mdl_simulation *simulation);

#ifdef __cplusplus
}
#endif

#endif
