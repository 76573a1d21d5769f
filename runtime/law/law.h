// law.h: the door of runtime/law: set-valued laws: friction, unilateral contact, impact, rest.
//
// In: a point with laws whose modes are not known.
// Out: modes, impulses and reactions that fulfil all laws at once.
// Read first: friction.c and friction_search.c, then contact.c and complementarity.c.
#ifndef MDLC_RUNTIME_LAW_LAW_H
#define MDLC_RUNTIME_LAW_LAW_H

#include "runtime/point/run.h"

// --- friction.c, friction_search.c, friction_share.c, friction_within.c, friction_leak.c: the modes of set-valued laws, unilateral constraints among them
#define FRICTION_NOTHING 1e-200 // a force's share that is not the mode 0
double friction_mode(const Run *run, uint32_t law); // +1, -1; 0: sticks
// The limit a of a friction; 0 where it is no more than rounding, as that of a contact that is open.
double friction_limit(const Run *run, uint32_t law);
// Solves the model at the modes in force; laws that hold the same motion share the forces.
MDL_CHECKED int friction_evaluate(Run *run);
// After an evaluation: shares the forces anew when there are such laws.
MDL_CHECKED int friction_share(Run *run, bool report);
void friction_start(Run *run);
// The unilateral constraints are open, before the start.
void friction_open(Run *run);
// Ideal diodes get the modes that they have with a small leak (ir/operator/leak.c), found in at most `limit`
// exchanges; what is still wrong without it is left to the caller. Does nothing in other models.
MDL_CHECKED int friction_leak(Run *run, uint32_t limit);
MDL_CHECKED int friction_gap_rates(Run *run); // measures the rates of the gaps of ideal diodes at the point in v, which was solved
bool friction_gap_rate(const Run *run, uint32_t law, double *rate); // false: they were not measured here
void friction_event(Run *run);  // an event begins
void friction_search(Run *run); // a search for modes begins
// One step of the search: changes the modes of laws that are wrong. True when something changed.
bool friction_update(Run *run);
// The search has ended: frictions that have the force of their limit and contacts that have none, but are held by others, stick with these. True
// when some do: all is evaluated anew.
bool friction_join(Run *run);
// After events and accepted steps: a negative limit ends the run with a message.
MDL_CHECKED int friction_check(Run *run);
// What the force of the limit makes of X when no other law holds it; 0: not measured.
double friction_answer(const Run *run, uint32_t law);
// The slip of a friction in a plane below which it is no more than the error of the integration.
double friction_slip(const Run *run, uint32_t law);
double friction_guard(const Run *run, uint32_t law);
double friction_band(const Run *run, uint32_t law);
void friction_clamp(Run *run); // derivatives of sticking states become exactly zero (after dynamics)

void friction_set(Run *run, uint32_t law, double mode); // decided elsewhere
void friction_keep(const Run *run, double *mode, uint8_t *carried); // n_sgns each
void friction_restore(Run *run, const double *mode, const uint8_t *carried);

// --- disk.c: laws that are components of one friction force; `first` is that of the first component
bool disk_slides(const Run *run, uint32_t first);
double disk_speed(const Run *run, uint32_t first); // |x|
double disk_force(const Run *run, uint32_t first); // |p|
// The component of der(x) along the direction of sliding.
double disk_pull(const Run *run, uint32_t first);
double disk_guard(const Run *run, uint32_t first);
// It slides along the direction held, if only as slowly as the tolerance does not resolve: it halts where that is located.
bool disk_goes_on(const Run *run, uint32_t first);
// It slides, along x; along the force in v where x is zero.
void disk_slide(Run *run, uint32_t first);
// After an accepted step, in v: the directions that sliding continues in turn with the motion.
void disk_follow(Run *run);
// It slides and x is zero: finds the direction in which it begins to. False when that is the one it has.
bool disk_turn(Run *run, uint32_t first);

// --- contact.c: unilateral constraints
// The first modes; MDL_FAILED with a message when a constraint is violated at the start.
MDL_CHECKED int contact_start(Run *run);
double contact_force(const Run *run, uint32_t law);
double contact_guard(const Run *run, uint32_t law); // of an open one: negative where it closes
double contact_band(const Run *run, uint32_t law); // a gap below this counts as none
bool contact_stays_zero(const Run *run, uint32_t law, double rate); // the gap, with this rate, but for rounding
// The mode that an open constraint should have. pending: it has just closed; decided: it has just opened.
double contact_open_mode(const Run *run, uint32_t law, bool pending, bool decided);
// It is open and at zero, and others hold it there.
bool contact_rests_open(const Run *run, uint32_t law);
// An event begins, with the states in v: velocities jump where constraints close.
MDL_CHECKED int contact_event(Run *run);
// The same again, after the event has changed states. *struck: there was an impact.
MDL_CHECKED int contact_impacts(Run *run, bool *struck);
// Closed constraints are brought to zero exactly; the model is evaluated. begins: an event does, at which all are decided anew.
MDL_CHECKED int contact_close(Run *run, bool begins);
// After an accepted step: *drifted when closed constraints had drifted and were moved back: the integrator must start again.
MDL_CHECKED int contact_drifted(Run *run, bool *drifted);
// In how long the first of those that lift off at this instant turns back; infinite: none does.
double contact_apex(const Run *run);

// --- several.c
// Behind an event, evaluated: a contact that may as well be open is told once. v stays as it is.
MDL_CHECKED int contact_tell_several(Run *run);

// --- contact_decide.c
// Modes of all laws at zero from one complementarity problem, where the search goes around in circles; v is used. MDL_FAILED: none were
// found, or this is no such problem; the modes are then as before.
MDL_CHECKED int contact_decide(Run *run);

// --- rest.c: relations that stay at zero after their events have accumulated
// A reinit of the event being handled has changed its state.
void rest_note(Run *run, uint32_t reinit, double before, double after);
// Any contact is at rest, or is watched after it has opened.
bool rest_any(const Run *run);
// The relation `guard` could come to rest, and is not at rest now.
bool rest_possible(const Run *run, uint32_t guard);
bool rest_holds(const Run *run, uint32_t relation);
bool rest_was(const Run *run, uint32_t relation); // at some time before
// At an event of the relation: what moves between its events, which are `interval` apart, is below the tolerance; when
// an accumulation is not confirmed, also that the reset could not turn the motion back.
bool rest_unresolved(Run *run, uint32_t guard, double interval, bool confirmed);
// The relation is at rest from now on; the states in v are moved onto it. NULL, or why that cannot be.
const char *rest_begin(Run *run, uint32_t guard);
// True once per relation, for the message.
bool rest_first(Run *run, uint32_t guard);
// The reactions act on dx; after the dynamics, once.
void rest_apply(Run *run);
// Ends the rest of the contact that pulls most. True when something changed.
bool rest_update(Run *run);
double rest_guard(const Run *run, uint32_t contact);
// The gap of a contact that has opened counts as closed below this: what the tolerance does not resolve. 0: no such.
double rest_band(const Run *run, uint32_t relation);
// The relation of a contact that has opened and came back before its gap could be seen, UINT32_MAX: none.
uint32_t rest_falling_back(Run *run);
const char *rest_text(const Run *run, uint32_t contact);
// After an event iteration: contacts that reinits have lifted end, contacts that were hit reset again, and what is at
// rest is moved onto its surface exactly. *again: the event iteration must run again.
MDL_CHECKED int rest_after_event(Run *run, bool *again);
void rest_event(Run *run); // a new event begins
// During an event: the relation is not computed anew, because it is at rest or was hit.
bool rest_keeps(const Run *run, uint32_t relation);
// After an accepted step: true when the states had drifted from the surface and were moved back: the integrator must
// start again.
bool rest_drifted(Run *run);
double rest_apex(Run *run); // as contact_apex(), behind an evaluation
// Rows that IDA solves instead of those of states: per state the row of jac_rest plus 1, or 0. NULL: none. They change
// when the version does.
const uint32_t *rest_rows(const Run *run);
uint32_t rest_version(const Run *run);
// Tangents (tangent.h), behind those of the dynamics: the reactions follow, on the derivatives of states.
void rest_tangent(Run *run);
// The tangent of rest_guard(), behind tangent_dynamics().
double rest_rate(const Run *run, uint32_t contact);
// Behind tangent_dynamics() along s: s keeps the gaps (level 0), then their speeds (level 1) of what is at rest.
MDL_CHECKED bool rest_close_tangent(Run *run, uint32_t level, double *s);
// A contact at rest whose reaction moves several states, UINT32_MAX: none.
uint32_t rest_shared(const Run *run);

#endif
