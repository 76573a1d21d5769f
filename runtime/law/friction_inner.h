// friction_inner.h: what is kept of set-valued laws. Private to friction.c, friction_search.c, friction_share.c, friction_within.c and friction_leak.c.
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
    bool deep;          // forces are taken far inside their limits, to see whether there is room
    double missed;      // the time where no forces within all limits were found when they were last looked for; infinite: they were
    bool told_missed;   // that was told
    bool chosen;        // the basis is that of the laws that stick
    uint8_t *sticks;    // per law: a candidate for the basis
    double *scale;      // per law: |X| that its force makes when nothing sticks
    uint32_t fewest;    // wrong laws at most so far
    uint32_t patience;  // exchanges of all wrong laws that may still be tried without progress
    uint8_t *firm;      // per law: its release stands for this event
    uint8_t *turns;     // per law: directions of sliding tried in this search
    uint8_t *joined;    // per law: in this search it was tried whether it sticks with others that hold it
    double *last, *wait; // per law: when it joined others at rest, and the time before which it does not again
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

// What is known of the forces at rest at one point: they and their sizes are affine in what is carried. One value per law in each row; the last row is
// for what all limits are widened by while forces within them are looked for.
typedef struct Shares {
    uint32_t n, rows;          // laws, of them carried
    double *force, *size;      // as evaluated
    double *change, *growth;   // rows + 1, each of n: what force and size do when the row's share grows by its trial
    double *trial;             // rows + 1
    double *at, *width;        // force and size where the search has come to
    double *step, *from;       // rows + 1: trials by which shares have grown there; those of the step before
    double *inside;            // rows + 1: the same of the least point that a barrier keeps inside all limits
    double *system;            // square with its right side
    uint8_t *rests;            // per law: its force is one of rest
    double bearing;            // what reactions are measured by
    bool within;               // forces within all limits were found
} Shares;

// --- friction_share.c
// What X may be while others hold a law: rounding of what its force makes of it, or of nothing, where contacts let nothing move.
double friction_still(const Run *run, uint32_t law);

// --- friction_search.c
bool friction_right(Run *run); // all modes are, at the point in v

// --- friction_within.c
bool shares_eliminate(double *m, uint32_t n); // an n x n system with its right side in column n, which becomes the solution
double shares_move(Shares *shares); // forces and sizes at shares->step; what the largest change of a size is of the largest size
bool shares_within(const Run *run, Shares *shares); // the step to the forces within all limits; false: there are none

#endif
