// sense.h: forward sensitivities: what sensitivities.c, saltation.c and the run share.
#ifndef MDLC_RUNTIME_POINT_SENSE_H
#define MDLC_RUNTIME_POINT_SENSE_H

#include "runtime/point/run.h"
#include "runtime/point/tangent.h"

typedef struct Directions Directions;

struct Sense {
    const mdl_sense *wanted;
    Tangent *tangent;
    uint32_t nx, n;      // states, parameters
    double **image;      // per parameter: the tangents of parameters and discrete variables (shift places),
    uint64_t images;     // which have changed so often
    Directions *directions; // of tangent_columns.c; NULL: one parameter after the other
    const double *followed; // sense_follow(): the tangent of place 0,
    size_t stride;          // and how far behind it that of the next place stands
    double *s;           // n*nx: sensitivities of the states at run->time
    double *present;     // n*nx: at the point in v: within the last step, or at an event
    // An event (saltation.c):
    bool in_event;
    double *tau;         // n: how its time moves
    double *moved;       // n*nx: how the states at it move, up to the step of the event iteration that was taken last
    double *reached;     // nx: the states that these steps have led to
    double *slope;       // nx: f-
    const char *touching; // a condition that made the event by touching zero; NULL: none
    double *kept;        // shift: for v
    double *departs;     // per guard: the speed at which it left zero last; 0: it never was there
    uint8_t *touched;    // per guard: it has made an event
    double latest;       // time of the latest event
    // Of the exponentials of fractional derivatives (fractional.c) the same as of states:
    uint32_t modes;
    double *mode_s, *mode_present, *mode_moved; // n*modes each
    double *mode_rate;   // modes: room
    const double *mode;  // those that seeds take, of parameter p from mode + p*mode_stride on
    size_t mode_stride;
    struct Stepping *stepping; // of sense_stepper.c
};

// Tangents of everything for parameter p with the sensitivities s of the states, as far as `image` has them; dynamics are
// not called yet.
void sense_seed(const Run *run, uint32_t p, const double *s);
// The same, and dynamics and outputs are called. Of the parameters from 0 on, one after the other, at one point; s is that of parameter p, and those of the others
// stand `apart` from each other. tangent_factor() comes before the first.
void sense_follow(Run *run, uint32_t p, const double *s, size_t apart);
bool sense_follows_several(const Run *run); // at once
// Behind it: the tangent of a place.
static inline double
sense_rate(const Sense *sense, uint32_t place)
{
    return sense->followed[place * sense->stride];
}
bool directions_create(Run *run); // false: out of memory
void directions_free(Sense *sense);
// The same at an event, of which time moves as well.
void sense_seed_event(const Run *run, uint32_t p, const double *states);
// Tangents of the motion: time goes on, and the states by f.
void sense_seed_motion(Run *run, const double *f);
// Delays (delay_tangents.c).
// The derivatives of what is delayed at the point that was recorded last; v is there, evaluated, with its sensitivities in `present`.
MDL_CHECKED int delay_note_tangents(const Run *run);
// Profiles (transport_tangents.c): the same, at the start and behind an event.
MDL_CHECKED int transport_note_tangents(const Run *run);
// Fractional derivatives (fractional.c). How orders move with parameter p, whose tangents are there. MDL_FAILED with a message: one is a whole number.
MDL_CHECKED int fractional_orders(Run *run, uint32_t p);
// Tangents of what parameters say, with those of the tails, for parameter p.
void fractional_parameter(Run *run, uint32_t p);
// Rates of the exponentials' sensitivities, whose tangents are there.
void fractional_rates_tangent(const Run *run, uint32_t p, double *rate);
// Error weights of one block of states and exponentials; size: that of the parameter, or 1.
void fractional_scaled_weights(const Run *run, const double *y, double size, double *weight);
// Before an event, and behind it: how what jumps has moved. The event's tangents are there.
void fractional_note_tangents(Run *run, uint32_t p);
void fractional_jump_tangents(Run *run, uint32_t p);
// The argument of delay k arrives now at a jump; how that jump's own time moves with parameter p, and, of the tangents that are there, the delay's.
bool delay_arrives(const Run *run, uint32_t k);
double delay_break_moves(const Run *run, uint32_t k, uint32_t p);
double delay_tangent(const Run *run, uint32_t k);
// The step ends at the point in v instead, whose sensitivities are in `present`.
void sense_store(const Run *run);
// MDL_FAILED, with a message why the event has no derivative; `text`: of what, or "".
MDL_CHECKED int sense_refuse(const Run *run, const char *why, const char *text);
// The event changes something: MDL_FAILED, with a message, when the way its time moves is not known.
MDL_CHECKED int sense_acts(const Run *run);
// The states behind an event are those that its steps have led to; MDL_FAILED with a message otherwise.
MDL_CHECKED int sense_states(const Run *run);
// Behind an event: what closed constraints hold does not move with parameters (impact.c).
MDL_CHECKED int sense_close(Run *run);

// --- sensitivities.c, saltation.c, start_tangents.c: sensitivities of the states (options.sense)
MDL_CHECKED int sense_create(Run *run); // guards are known. MDL_FAILED with a message: the model admits none
void sense_free(Run *run);
// Around the event iteration of the start, which is an event: with the solution of the initial system in v, and behind it.
MDL_CHECKED int sense_begin(Run *run);
MDL_CHECKED int sense_begun(Run *run);
MDL_CHECKED int sense_start(Run *run);  // after initialisation, with its solution in v
MDL_CHECKED int sense_values(Run *run); // those of the outputs, at the point in v, into their places
// Around an event: v is at the left limit, with the conditions that have become true pending; then behind the event. In
// between what the event iteration does, each with v evaluated: when pre() of continuous variables is taken, before the
// discrete equations are evaluated, and behind each impact. MDL_FAILED with a message: there is no derivative. Nothing
// happens outside of events.
MDL_CHECKED int sense_before_event(Run *run);
MDL_CHECKED int sense_left_limits(Run *run);
MDL_CHECKED int sense_discretes(Run *run);
MDL_CHECKED int sense_impact(Run *run);
void sense_take_modes(Sense *sense, const double *mode, size_t stride); // those that seeds take from now on
void sense_moved(const Run *run); // what the step did to states was the correction of a drift
MDL_CHECKED int sense_after_event(Run *run);
MDL_CHECKED int sense_remember(Run *run); // behind that: for what is delayed

#endif
