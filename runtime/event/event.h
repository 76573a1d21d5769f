// event.h: the door of runtime/event: instants at which something jumps: found, solved, told.
//
// In: an accepted step, or an instant known ahead.
// Out: the located event, the solution of its mixed system, jumps with their impulses, what sensitivities do there.
// Read first: root.c, then event.c and mixed.c.
#ifndef MDLC_RUNTIME_EVENT_EVENT_H
#define MDLC_RUNTIME_EVENT_EVENT_H

#include "runtime/point/run.h"

// --- event.c
MDL_CHECKED int event_iterate(Run *run, bool initial);
void event_instants(Run *run);
// The next instant after the current time (infinity when there is none).
double event_next_instant(const Run *run);
bool event_samples_due(const Run *run, double instant); // some tick there
// Chattering ends the run. An accumulation of events is brought to rest, or ends the run as well.
MDL_CHECKED int event_progress(Run *run);
// Conditions that go on changing in less than this (s) let no run come through.
double event_hurry(const Run *run);

// --- mixed.c: the mixed system of one instant
// The nearest instant that counts as later.
double event_just_after(double instant);
// Whether a relation with time, as the initialisation has left it, has another value just after the start.
bool event_leaves_start(Run *run);
// At the left limit of an event: at its instant relations like `time <= t1` end, and something else happens: `other`, or another relation with time changes.
// By the text of the specification (8.5) a relation is at an event what it literally is: these stay true there, run->literal, and end in an event of their
// own right behind it. Where nothing else happens that would be two events for one.
bool event_is_split(Run *run, bool other);
// Root functions and new values of relations at the point in v; those with time just after the instant, but for the initialisation.
void event_relations(Run *run);
// Relations, laws, discrete variables and unknowns with pre() fixed; what reinit() asks for stands in its places afterwards.
MDL_CHECKED int mixed_solve(Run *run);
// How many passes an iteration at one instant may take, and the message when it takes more.
uint32_t mixed_limit(const Run *run);
MDL_CHECKED int mixed_report(const Run *run);

// --- when_loop.c: discrete Reals in a loop with what else holds at an event
// Behind a pass: those that it has changed (old_discrete has the values before) are in the loop, but for the first one, which changes what the event itself does.
// True when one has changed by more than in the pass before.
bool loop_note(Run *run, bool first);
bool loop_is_solved(const Run *run); // some are in it, and not more than a step is made for
// result (n_looped) := F(x), where x are values of those in the loop.
typedef int (*LoopMap)(Run *run, void *data, const double *x, double *result);
// A step of Newton's method for x = F(x); where that has none, x := F(x).
MDL_CHECKED int loop_step(Run *run, LoopMap map, void *data, double *x);

// --- ahead.c: what depends on time alone
void ahead_forget(Run *run); // discrete values have changed
// All changes of the relation are found ahead: root functions say nothing about it.
bool ahead_knows(const Run *run, uint32_t relation);
// Behind the evaluation of the relations: the end of the run is in v, and such a relation has another value there although no change of it was
// found: it is zero at the end itself, within rounding.
bool ahead_ends_wrong(const Run *run, uint32_t relation);
// Before each step.
void ahead_look(Run *run);
double ahead_next_instant(const Run *run); // behind ahead_look(): of the first change
double ahead_limit(Run *run);              // the next step must not go beyond
// A change so short before an event that rounding decides which is first: both are at the instant of the event, where the relation has the value that
// holds with what the event has made of the rest.
bool ahead_coincides(double change, double instant);
// Marks the relations that change at this instant, for the event there.
void ahead_mark(Run *run, double instant);

// --- step_path.c: where the states go
void path_begin(Run *run);  // before each step; where somebody else integrates behind each event
void path_break(Run *run);  // what was looked at before says nothing: an input has changed, or the state is another one
// Where somebody else integrates, at the point in v, with these unknowns and rates: the function of a relation (root_functions(), n of them) gets the other sign
// where the relation changes and changes back on the way to this point; value[n], where terms of the motion drift, is negative behind the place at which one
// comes that is gone again at this point.
void path_glimpse(Run *run, double time, const double *y, const double *yp, double *value, uint32_t n);
void path_return(Run *run); // the last step is taken back: time, unknowns and rates of its beginning

// --- drift.c: terms of the motion that come and go with states
void drift_forget(Run *run);             // discrete values have changed
double drift_limit(const Run *run);      // the next step must not go beyond
// Behind a step, before anything else has looked at it. *again: it has passed over something, was taken back (path_return) and is to be made anew, no further
// than to drift_limit(). v is as it was.
MDL_CHECKED int drift_review(Run *run, bool *again);

// Somebody else's step has ended beyond what drift.c has shown him: an event. Where he has passed over it altogether that is told.
bool drift_accept(Run *run);

// --- course.c: relations of states over a step
// The last step, from `before` on, with no violation at the looks: whether a relation changes and changes back between them. As root_locate(); where
// none is *found v and run->phi are of the end of the step, as they were.
MDL_CHECKED int course_look(Run *run, double before, double *instant, bool *found);
// A bracket within the last step at whose end something is violated: where a relation has changed and changed back before that, from the beginning of
// the step to there. v is used.
MDL_CHECKED int course_first(Run *run, double *low, double *high);
// What the root function of a relation comes to at the point in v before its parts cancel: rounding of states and time makes DBL_EPSILON of that of it.
// INFINITY: it has no course.
double course_size(Run *run, uint32_t relation);
bool course_follows(const Run *run, uint32_t relation); // it has one

// --- condition.c: relations without the rest of the model
// Relations can be evaluated by themselves now.
bool condition_alone(const Run *run);
// Puts time and states within the last step into v and evaluates what relations read, or the whole model when that is
// what they need. MDL_FAILED, silently, as evaluate_row().
MDL_CHECKED int condition_evaluate(Run *run, double time);
// True when nothing that conditions read has moved far enough, over the whole last step, for one of them to change.
bool condition_far(const Run *run);
// After a look at the end of the last step, with run->phi there: how far the states may move from here.
void condition_learn(Run *run);
void condition_forget(Run *run); // discrete values have changed
// --- jump.c: impulses of what jumps and is differentiated
// v is at the left limit of an event, evaluated. Then, where the event has left equations unfulfilled with the continuous variables of the
// left limit: the states jump. *jumped: they did, and everything is to be solved again.
void jump_note(Run *run);
void jump_reset(Run *run, uint32_t state); // reinit() has set the state, after jump_note()
MDL_CHECKED int jump_apply(Run *run, bool *jumped);
// At a point in v, evaluated: whether an impulse of equation `jump` moves states by more than the tolerance. MDL_FAILED, silently.
MDL_CHECKED int jump_reaches(Run *run, uint32_t jump, double impulse, bool *reaches);
// leap.c: result `leap`, of this size, has jumped by `amount` at the event in v: MDL_FAILED, with a message, where that moves states.
MDL_CHECKED int leap_judge(Run *run, uint32_t leap, double amount, double size);

// --- root.c: conditions on accepted steps
// Root functions at the point in v (after dynamics): true when a condition is violated.
bool root_violated(Run *run);
// answers.c: behind it: no relation is violated by more than errors of the states, as large as the tolerance allows, make of its function. Laws of
// friction do not count: extra looks are none for them.
bool root_uncertain(Run *run);
// The same at any point in v: there are such relations, and none that is violated by more. Nothing but what relations evaluate changes.
bool root_undecided(Run *run);
// The same functions, for whoever looks for their signs himself: relations but those that are known ahead, laws, contacts at rest, each positive
// as long as its condition is the one in force; of what is blind twice the band away, so that it is positive behind an event. root_count() of them.
uint32_t root_count(const Run *run);
void root_functions(Run *run, double *value);
// At the end of a step, evaluated: the guards that are violated are pending. *any: there are some.
void root_take(Run *run, bool *any);
// The same behind an event, for what it has left violated by more than rounding: whoever looks for changes of sign would miss it.
void root_take_behind(Run *run, bool *any);
// Right behind an event: what is still on the other side, within its band, gets a band that holds it, since importers see changes of a sign only.
void root_show_behind(Run *run);
// Finds the first instant in (low, high] at which a condition is violated; v is at that point afterwards and
// the guards that crossed are marked pending; run->settled is the last time before it. *found is false when the violation
// vanished. Where the equations have no solution counts as violated; MDL_FAILED with a message when the first such instant is
// no event: *instant is the last one before.
MDL_CHECKED int root_locate(Run *run, double low, double high, double *instant, bool *found);
// sightings.c: remembers the values of a point without violation. True when parabolas through the last three values of guards have come
// close to zero, between two points not before `from`: worth a look.
bool root_suspect(Run *run, double from);
// The looks at a step begin anew at its start `before`, where nothing was violated. v is used.
void root_look_again(Run *run, double before);
// That look: where those parabolas are lowest. As root_locate().
MDL_CHECKED int root_dipped(Run *run, double *instant, bool *found);
// At a point without violation, behind root_violated(): a condition that can come to rest must have flipped and flipped back
// since the last event.
bool root_must_return(const Run *run);
// Looks for the first of these flips in (low, time]. As root_locate(); v may be anywhere there when none is *found.
MDL_CHECKED int root_returned(Run *run, double low, double time, double *instant, bool *found);
// At a point up to which there was no event, or at the first one: conditions that left their band see again. MDL_FAILED when
// one must have flipped twice inside its band, so that what follows would be wrong.
MDL_CHECKED int root_arm(Run *run);
// After an event, with the consistent point in run->y, run->yp: the forced conditions get their band.
MDL_CHECKED int root_blind(Run *run);
// idle.c: whether nothing follows from relation k at the point in v; how large its function may be there by rounding, 0: it is larger; from now on those of the
// relations that change so often, or `only` that one (UINT32_MAX: all of them), are idle, or blind to rounding, false: none is; and whether what was idle
// still is, after an event.
bool idle_is(Run *run, uint32_t k);
double idle_rounding(Run *run, uint32_t k);
bool idle_begins(Run *run, uint32_t only);
void idle_review(Run *run);
// Within `zone` of zero the function of a relation that has crossed says nothing: the band that root_blind() gives it is at least as wide.
void root_widen(Run *run, uint32_t relation, double zone);
// A time in which no state moves by more than a part in 10^8.
double root_short_time(const Run *run);
// What helps against chattering, beginning with a newline; "" when no relation is blind.
const char *root_chatter_help(const Run *run);
const char *root_text(const Run *run, uint32_t guard);

// --- vanish.c: relations whose functions become exactly zero and stay zero
// At the point in v: the function is zero, and the value held is not the one that the relation has there.
bool vanish_wrong(const Run *run, uint32_t k);
// At a look without violation, `low` being the one before: marks the guards that have vanished. True: there are some, so that
// root_violated() and root_locate() find where.
MDL_CHECKED bool vanish_found(Run *run, double low);
// During an event, v evaluated: the function of relation k, which is zero, would be so whatever the rounding of the states was.
bool vanish_is_exact(Run *run, uint32_t k);

// --- limit.c: relations that make themselves false
// At the point in v: the function of relation k is zero, but for rounding.
bool limit_reached(const Run *run, uint32_t k);
// At the point in v, evaluated: positive while the value of relation k that it does not have contradicts itself. v is as before.
double limit_function(Run *run, uint32_t k);
// At the point in v, evaluated: with the other value of relation k its function is zero, too.
bool limit_is_zero(Run *run, uint32_t k);
// Behind an event, settled and stored: which relations are held at their limits (Guard.at_limit, run->limits). Each is told once.
void limit_find(Run *run);

#endif
