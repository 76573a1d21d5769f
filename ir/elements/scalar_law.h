// scalar_law.h: what the equations of a component say about the efforts and flows of its scalar bonds, by values.
//
// A component is asked at a generic point: its equations are linearised there, derivatives become powers of a number s (Laplace),
// its own variables are eliminated. What is left are rows A_e*e + A_f*f = c over the efforts e and flows f of its scalar
// bonds: of a spring e = k/s*f, of a gyrator e = r*f with a skew r, of a transformer conditions on efforts and on flows apart.
#ifndef MDLC_IR_ELEMENTS_SCALAR_LAW_H
#define MDLC_IR_ELEMENTS_SCALAR_LAW_H

#include "ir/dae/dae.h"

enum { SCALAR_BONDS_MAX = 24, SCALAR_ROWS_MAX = SCALAR_BONDS_MAX + 8 };
// How set-valued laws are looked at, where they are among the equations: contacts as springs along the normal, friction as none or as viscous.
enum { CONTACT_NORMAL, CONTACT_SLIDING };
enum { SCALAR_MOTION, SCALAR_EFFORT, SCALAR_GIVEN, SCALAR_OWN }; // ScalarAsk.what

typedef struct ScalarPort { // one scalar bond of the component, connected or not
    Var flow, effort;
    uint32_t connector, scalar;
    bool flow_is_der;
} ScalarPort;

typedef struct ScalarAsk {
    Dae *dae;
    const uint32_t *equations;
    uint32_t n;
    const ScalarPort *port;
    uint32_t bonds;
    // Whether a variable is held (it modulates, or is a signal or an orientation of the surroundings), and whether it vanishes
    // where nothing moves and nothing pulls: efforts and velocities.
    bool (*held)(const void *context, Var var);
    bool (*rests)(const void *context, Var var);
    bool (*signals)(const void *context, Var var); // whether it is a signal that the surroundings give
    // Of an element of a matrix that takes components from the world's axes to those of a port (3 by 3): the first element, and the
    // first of three flows that are the angular velocity of these axes. False for other variables.
    bool (*axes)(const void *context, Var var, Var *first, Var *turn);
    Var reference;     // the first element of some port's axes
    bool has_axes, own_axes; // there are such; their angular velocity has components in the axes themselves, not in the world's
    const void *context;
    uint32_t sample;   // which point
    bool moving;       // efforts and velocities are generic there, too; otherwise zero
    bool quiet;        // signals vanish
    bool known;        // parameters have their values as far as they are known, all axes are the world's
    bool armless;      // parameters that are vectors of lengths vanish
    bool aligned;      // own variables that nothing computes vanish, and so do the angles between all axes: joints are not turned
    bool unloaded;     // own variables that are computed and stand beside efforts vanish: nothing pulls
    uint32_t contact;  // CONTACT_...
    const Map *law_of; // equation -> law, where laws are among the equations
    double s;
    Map *column;       // empty; room for variable -> column
    Var moved;         // NONE, or a variable that has another value than in this sample
} ScalarAsk;

typedef struct ScalarLaw {
    uint32_t bonds, rows;
    // Per row: coefficients of the efforts, of the flows, what is given (a constant), how that changes with time and signals.
    double at[SCALAR_ROWS_MAX][2*SCALAR_BONDS_MAX + 2];
} ScalarLaw;

// False where the equations cannot be evaluated, or are too many.
bool scalar_law(const ScalarAsk *ask, ScalarLaw *law);

// With .known and .aligned: whether all axes can be the world's while the component's own variables vanish; false of two ports that are turned
// against each other for ever.
bool scalar_law_aligned(const ScalarAsk *ask);

// Gauss-Jordan: efforts are solved for before flows. efforts and flows receive how many of each, pivot[i] the column of row i.
void scalar_law_solve(ScalarLaw *law, uint32_t *efforts, uint32_t *flows, uint32_t *pivot);

#endif
