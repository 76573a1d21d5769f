// tangent.h: how the model at one point follows a change of states, inputs, parameters or time.
//
//     tangent_factor(tangent);                 // the point is in v, solved
//     tangent_clear(tangent);
//     *tangent_at(tangent, model->y + j) = 1;  // the direction
//     tangent_dynamics(tangent);               // derivatives of all that dynamics and outputs compute
#ifndef MDLC_RUNTIME_POINT_TANGENT_H
#define MDLC_RUNTIME_POINT_TANGENT_H

#include "runtime/point/run.h"

typedef struct Tangent Tangent;

// The model has tables of tangents (model->tangents, complete). NULL: out of memory.
Tangent *tangent_create(Run *run);
void tangent_free(Tangent **tangent);
// Factors the matrices of the blocks, for any number of directions. MDL_FAILED with a message: one is singular.
MDL_CHECKED int tangent_factor(Tangent *tangent);
// The direction is zero in everything.
void tangent_clear(Tangent *tangent);
// The derivative of v[place].
double *tangent_at(const Tangent *tangent, uint32_t place);
// Values of the past in the direction that is there, for parameter p of Sense, or UINT32_MAX: no parameter moves. A part of the run says by
// tangent_looked_up() of a value, whose tangent is set, that it moves besides by -slope times the tangent of sign*v[place], which dynamics compute.
void tangent_seed_past(Tangent *tangent, uint32_t p);
void tangent_looked_up(Tangent *tangent, uint32_t value, double slope, uint32_t place, int32_t sign);
// From the derivatives of time, states and inputs: dynamics with their blocks solved, derivatives of the states (those of
// sticking states stay zero), outputs.
void tangent_dynamics(Tangent *tangent);
// The direction is one in a parameter or input, with the parameters and start values that follow it, and zero in all else.
void tangent_parameter(Tangent *tangent, const mdl_settable *settable);
// The last part of it: what follows from directions in parameters that are there, of which `settable` is one.
void tangent_follow(Tangent *tangent, const mdl_settable *settable);
// Unknowns, their derivatives and discrete variables stay as they are.
void tangent_hold(Tangent *tangent);
// Behind tangent_parameter(): MDL_FAILED with a message that names the parameter when it moves something that has no derivative.
MDL_CHECKED int tangent_held(Tangent *tangent, const char *parameter);
// Behind tangent_parameter(): how the initial system's solution follows. The point must be the start, solved, and
// stays. MDL_FAILED with a message when the start does not depend smoothly on what it depends on.
MDL_CHECKED int tangent_start(Tangent *tangent);

// --- parts of it, for several directions (tangent_columns.c)
struct Newton;
// b := the solutions with the block's factors, of right sides one behind the other.
void tangent_solve(struct Newton *newton, double *b, uint32_t several);
// Whether the tangents of the unknowns solve the equations of the block, where that must be looked at, in as many directions; the tangent of place p stands at
// tangent[p*width] and behind it, `term` is for m*width numbers. False: tangent_choose_pivots(), which is false when there are none, and once more.
bool tangent_is_solved(const Run *run, const struct Newton *newton, const double *tangent, uint32_t width, double *term);
bool tangent_choose_pivots(const Run *run, struct Newton *newton);

#endif
