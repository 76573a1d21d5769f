// contact.h: what contact.c measures at an impact, for those who ask how impacts depend on what they start from.
#ifndef MDLC_RUNTIME_CONTACT_H
#define MDLC_RUNTIME_CONTACT_H

#include "runtime/run.h"

struct Contacts {
    uint32_t n, nx;    // laws, states
    double *mode;      // n: modes before a measurement
    double *base;      // nx: derivatives without reactions
    double *held;      // n: what the laws hold, without reactions
    double *jump;      // n x nx: rows of D transposed
    double *answer;    // n x n: row k, column i: what the force of law i does to what law k holds (W)
    double *limit;     // n x n: row k, column i: what the force of law i does to the limit of law k
    uint8_t *carried;  // n: and whether other laws carried them
    uint8_t *closed;   // n: closed, or sticking, before a measurement
    uint8_t *part;     // n: takes part in the present impact
    double *speed;     // n: velocities before it
    double *impulse;   // n
    double *restitution; // n
    double *start;     // nx: states before it
    double *shifted;   // nx
    uint32_t strikes;  // impacts of the event being handled
};

// The model solved at the states in v, with impulses (n, per law) instead of what constraints hold; NULL: without any.
MDL_CHECKED int contact_give(Run *run, const double *impulse);
// D and W at the point in v, with the laws as `part` that hold something in the modes in force. v is used.
MDL_CHECKED int contact_measure(Run *run);

// Of the impulses as they stand: what the law holds (its slip, or the speed of its gap) behind the impact, and the largest
// impulse of a friction.
double contact_speed_after(const Contacts *contacts, uint32_t law);
double contact_impulse_limit(const Contacts *contacts, uint32_t law);

#endif
