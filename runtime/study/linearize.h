// linearize.h: the model linearised at a point: x' = A x + B u, y = C x + D u for small changes of independent states x,
// inputs u and outputs y.
//
// The states are a smallest set: where invariants, sticking friction or closed contacts determine states, only those that
// remain free are states of the linear system, so that its eigenvalues are those of the degrees of freedom.
#ifndef MDLC_RUNTIME_STUDY_LINEARIZE_H
#define MDLC_RUNTIME_STUDY_LINEARIZE_H

#include "runtime/model/sim.h"

typedef struct mdl_linear mdl_linear;
struct mdl_linear {
    uint32_t all;              // states of the model
    uint32_t n, inputs, outputs;
    uint32_t *state;           // n: which of the model's states are the independent ones, ascending
    // By columns (entry i, j at [j*rows + i]).
    double *a, *b, *c, *d;     // n x n, n x inputs, outputs x n, outputs x inputs
    double *follow;            // all x n: how all states follow the independent ones
    double *slope;             // all: derivatives of the states at the point; all zero in a steady state
    double time;
    // What is held at zero - invariants, velocities of sticking friction, gaps of closed contacts: values, and held x all
    // derivatives by states.
    uint32_t held;
    double *held_value, *held_rate;
};

typedef struct mdl_linear_request mdl_linear_request;
struct mdl_linear_request {
    const uint32_t *input;     // indices into model->settable: inputs or parameters
    uint32_t inputs;
    const uint32_t *output;    // indices into model->output
    uint32_t outputs;
};

// What holds while nothing switches: every relation, friction, contact with what it is in at present.
typedef void mdl_mode_fn(void *user, const char *what, const char *mode);
void mdl_run_modes(mdl_run *run, mdl_mode_fn *tell, void *user);
// At the present point of the run, of a model with tangents. A status of sim.h; messages said why. Free `out` in any case.
MDL_CHECKED int mdl_linearize(mdl_run *run, const mdl_linear_request *request, mdl_linear *out);
void mdl_linear_free(mdl_linear *linear);

#endif
