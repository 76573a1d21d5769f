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
// Times are in seconds, values in the units of the model. A status is 0, or one of the exit codes of the command line:
// 1 a value is not allowed, 2 wrong usage, 3 the simulation failed, 4 memory is exhausted or the model is of another version;
// mdl_message() says why. There is no global state: simulations are independent of each other, one thread each.
#ifndef MDL_EMBED_H
#define MDL_EMBED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mdl_model mdl_model;
typedef struct mdl_simulation mdl_simulation;

extern const mdl_model mdl_program; // of `mdlc build`

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

// What was said last; "" when nothing was. It lives until the next call.
const char *mdl_message(const mdl_simulation *simulation);

#ifdef __cplusplus
}
#endif

#endif
