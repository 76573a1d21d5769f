// action.h: the action of a model whose motion is looked for between two ends of time. Open beside energy.h.
//
// S = integral over time of L, where L is a function of `features`: coordinates, their velocities and their left fractional
// derivatives and integrals from the start of the path. Forces without an energy do virtual work beside it:
//     dS + sum over coordinates of integral of force_i*dq_i = 0          for all dq that keep the constraints.
#ifndef MDLC_IR_ENERGY_ACTION_H
#define MDLC_IR_ENERGY_ACTION_H

#include "ir/dae/dae.h"

// The Caputo derivative of this order of a coordinate, from the start: 0 is the coordinate (feature 2*i), 1 its velocity (2*i + 1),
// less than 0 an integral.
typedef struct ActionFeature {
    uint32_t coordinate;
    double order;
} ActionFeature;

typedef struct Action {
    uint32_t n;                  // coordinates of the path, rates among them
    U32Vec vars;                 // per coordinate: its variable
    F64Vec start;                // and its start value; of a rate NAN where none is fixed
    F64Vec stop;                 // the value at the end that it declares; NAN: none
    U32Vec rate_of;              // per coordinate: the one before it whose rate it is, or NONE. Rates stand behind all others; derivatives of an
                                 // order above 1 are those of rates, and a rate has the variable of that name, or NONE
    VEC(ActionFeature) features; // slots of the expressions
    Expr lagrangian;
    U32Vec force;                // per coordinate
    U32Vec constraints;          // functions of coordinates and time that are 0
    double order;                // of a model with memory energies: coordinates of the path are integrals of this order of
    U32Vec of;                   // these variables, one for each; otherwise 0 and empty
} Action;

// The action of Dae.energies. False after errors (E0803), which say what no action belongs to.
bool action_of(Dae *dae, Diags *diags, Action *action);
void action_free(Action *action);
// The name of a coordinate: that of its variable, or der(...).
void action_name(Dae *dae, const Action *action, uint32_t coordinate, Out *out);

#endif
