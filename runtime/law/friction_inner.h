// friction_inner.h: what is kept of set-valued laws. Private to friction.c, friction_search.c, friction_share.c and friction_leak.c.
#ifndef MDLC_RUNTIME_LAW_FRICTION_INNER_H
#define MDLC_RUNTIME_LAW_FRICTION_INNER_H

#include "runtime/law/law.h"

static const double FRICTION_BAND = 1e-9;      // of a: a sticking law is not released by rounding
static const double FRICTION_ROUNDING = 1e-9;  // of the X that a law's own force makes
static const double FRICTION_ZERO = 1e-14;     // of the forces seen: a force that is the rounding of zero

enum { FRICTION_RETURNS = 4 };

struct Friction {
    bool dependent;     // contacts may hold the same motion: sticking laws need a basis
    uint8_t *carried;   // per law: it sticks, held by other laws; its mode is p/a, not 0
    bool chosen;        // the basis is that of the laws that stick
    uint8_t *sticks;    // per law: a candidate for the basis
    double *scale;      // per law: |X| that its force makes when nothing sticks
    uint32_t fewest;    // wrong laws at most so far
    uint32_t patience;  // exchanges of all wrong laws that may still be tried without progress
    uint8_t *firm;      // per law: its release stands for this event
    uint8_t *turns;     // per law: directions of sliding tried in this search
    uint8_t *returns;   // per law: how often it came back to sticking in this search
    uint8_t *back;      // per law: the directions (1: -, 2: +) in which it was pulled back to rest while all others were right
    double *largest;    // per law: the largest a seen
    double most;        // of them
    double reaction;    // the largest force of a unilateral constraint seen
    int8_t *wanted;     // per law: the mode it should have
    uint8_t *told;      // per law of a root: ROOT_*
    double *gap_rate;   // per law: of an ideal diode's gap, where `rates` says that it was measured
    bool rates;
    uint32_t rests;     // of roots, told or not
};

static inline double
sign_of(double x)
{
    return x < 0 ? -1 : 1;
}

static inline Guard *
guard_of(const Run *run, uint32_t law)
{
    return &run->guard[run->model->n_relations + run->model->n_time_relations + law];
}

// --- friction.c
// The largest reaction that was seen, as far as it is no rounding of those of others: a diode that has never conducted may carry
// the rounding of its neighbours' currents.
double friction_reaction(const Run *run, uint32_t law);
bool friction_at_zero(const Run *run, uint32_t law); // x, as far as the location of events can tell
void friction_stick(Run *run, uint32_t law); // this component alone

// --- friction_share.c
void friction_carry(Run *run, uint32_t law, double share); // by other laws, with this share of its limit

#endif
