// contact.h: what the files of contacts share: impacts (contact.c), what is measured of the model (contact_measure.c), the impulses (contact_impulse.c), and
// what has drifted (contact_drift.c); and what of it others ask for who look how impacts depend on what they start from.
#ifndef MDLC_RUNTIME_LAW_CONTACT_H
#define MDLC_RUNTIME_LAW_CONTACT_H

#include "runtime/point/run.h"

// What the force of one law changes, per unit: rows ascend; what is not in it is zero.
typedef struct ContactColumn {
    uint32_t n, room;
    uint32_t *row;
    double *value;
} ContactColumn;

struct Contacts {
    uint32_t n, nx;    // laws, states
    double *mode;      // n: modes before a measurement
    double *base;      // nx: derivatives without reactions
    double *held;      // n: what the laws hold, without reactions
    ContactColumn *jump;   // n: columns of D: what the force of a law does to the derivatives of states
    ContactColumn *answer; // n: columns of W: what it does to what laws hold
    ContactColumn *limit;  // n: what it does to the limits of laws
    uint8_t *known;    // n: the rows of the law's columns were found in an evaluation of its own
    uint8_t *measured; // n: its columns are those of the latest measurement
    bool together;     // the latest measurement had several laws in one evaluation
    uint8_t *carried;  // n: and whether other laws carried them
    uint8_t *closed;   // n: closed, or sticking, before a measurement
    uint8_t *part;     // n: takes part in the present impact
    double *speed;     // n: velocities before it
    double *impulse;   // n
    double *restitution; // n
    double *room;      // n: of one function
    uint8_t *active;   // n: the latest impulses hold the speed behind the impact at -e times that before
    uint8_t *low;      // n: separates by less than the tolerance resolves: it is held at zero
    double *start;     // nx: states before it
    double *shifted;   // nx
    uint32_t *list, *together_list; // n: laws to be measured, and those of one evaluation
    uint32_t *mark, stamp; // 2n + nx: rows that an evaluation has taken
    uint32_t strikes;  // impacts of the event being handled
    bool turned;       // what was moved back last has turned slips around
};

static const double CONTACT_SLOW = 1e-3; // of the tolerance: a velocity that counts as none

// What an impulse of the law changes.
double contact_speed(const Run *run, uint32_t law);
bool contact_closes(const Run *run, uint32_t law); // at the event being handled
// It has just closed: also when other constraints, moved back from their drift, have moved it a little.
bool contact_touches(const Run *run, uint32_t law);
// The modes in force, around a measurement.
void contact_save_modes(Run *run);
void contact_restore_modes(Run *run);
// The model solved at the states in v, with impulses (n, per law) instead of what constraints hold; NULL: without any.
MDL_CHECKED int contact_give(Run *run, const double *impulse);
// D and W at the point in v, of the laws in `part`, and of frictions whose limits they make. v is used.
MDL_CHECKED int contact_measure(Run *run);
// `part` becomes the laws that hold something in the modes in force.
void contact_held_parts(Run *run);
// --- contact_measure.c: the same while nothing is held; the modes are those without reactions afterwards.
MDL_CHECKED int contact_take(Run *run);
// The rows that columns have are not to be relied on any more.
void contact_forget(Contacts *contacts);
// Row k of a column; 0 where it has none.
double contact_entry(const ContactColumn *column, uint32_t k);
// Gives the law's force instead of what it holds: a reaction in units of its own, a friction as a share of its limit.
void contact_push(Run *run, uint32_t law, double force);
void contact_push_nothing(Run *run);
// What the law holds at zero when it is closed, or sticks.
double contact_held(const Run *run, uint32_t law);
bool contact_is_partner(const mdl_sgn *law);

// --- contact_impulse.c
// to += matrix*impulse for the columns measured last.
void contact_add_columns(const Contacts *contacts, const ContactColumn *columns, const double *impulse, double *to);
// Impulses (n, per law) of the laws in `part` that change the speeds `speed` as the laws ask for; with `bilateral` to zero. Others are 0.
MDL_CHECKED int contact_impulses(const Run *run, const uint8_t *part, const double *speed, bool bilateral, double *impulse, uint8_t *active);
// Of the impulses as they stand: what the law holds (its slip, or the speed of its gap) behind the impact, and the largest
// impulse of a friction.
double contact_speed_after(const Contacts *contacts, uint32_t law);
double contact_impulse_limit(const Contacts *contacts, uint32_t law);

// --- contact_drift.c
MDL_CHECKED int contact_close_row(Run *run);

#endif
