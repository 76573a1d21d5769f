// run.h: what the runtime's own files share about one simulation run. Not for callers (see sim.h).
//
// Functions return a status of sim.h (MDL_OK, MDL_FAILED, ...) unless they say otherwise; whoever finds
// the failure reports it through run_message(), whoever passes it on stays silent.
#ifndef MDLC_RUNTIME_POINT_RUN_H
#define MDLC_RUNTIME_POINT_RUN_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/linear/lu.h"
#include "runtime/model/model.h"
#include "runtime/model/sim.h"
#include "runtime/model/texts.h"
#include "runtime/model/clock.h"

typedef struct Run Run;
typedef struct RunPart RunPart; // part.h
enum { PARTS_MOST = 20 };
// Functions of parts that evaluations and steps call: most runs have none of most of them, and small models would notice the search.
typedef enum PartHook { HOOK_LOAD, HOOK_REACT, HOOK_CLAMP, HOOK_SHARE, HOOK_CLOSE_ROW, HOOK_RATES, HOOK_LIMIT, HOOK_RECORD, PART_HOOKS } PartHook;
typedef struct PartList {
    const RunPart *part[PARTS_MOST];
    uint32_t n;
} PartList;
typedef struct Newton Newton;
typedef struct Integrator Integrator;
typedef struct Result Result;
typedef struct Invariants Invariants;
typedef struct Projection Projection;
typedef struct Ode Ode;
typedef struct Rests Rests;
typedef struct Friction Friction;
typedef struct Delays Delays;
typedef struct Transports Transports;
typedef struct Conditions Conditions;
typedef struct Audit Audit;
typedef struct Contacts Contacts;
typedef struct Fractionals Fractionals;
typedef struct Sense Sense;
typedef struct Ahead Ahead;
typedef struct Courses Courses;
typedef struct Drifts Drifts;
typedef struct StepPath StepPath;

struct Rank;
struct Snapshot;

// One way of stepping. The functions are those declared below as integrator_*, which call them.
typedef struct Stepper {
    const char *name;
    MDL_CHECKED int (*create)(struct Run *run);
    void (*free)(struct Run *run);
    MDL_CHECKED int (*start)(struct Run *run);
    // May be NULL: the same as start at a time within the last step, from which the motion goes on as it came.
    MDL_CHECKED int (*resume)(struct Run *run);
    MDL_CHECKED int (*step)(struct Run *run, double limit);
    // The states at a time within the last step go into v. A failure has been reported.
    MDL_CHECKED int (*interpolate)(struct Run *run, double time);
    void (*stats)(struct Run *run);
    // May be NULL: run->y was moved, by less than the tolerance, from the end of the last step, and the motion goes on as it came.
    void (*displace)(struct Run *run);
    // May be NULL: the states of `n` ranges within the last step, loaded into v.
    void (*interpolate_ranges)(struct Run *run, double time, const mdl_range *range, uint32_t n);
    // May be NULL: arrays d_0, d_1, ... of the unknowns such that within the last step they are never further from d_0 than
    // the sum of |d_1|, |d_2|, ..., and, if they go on as they did, not further than that of factor_1 |d_1|, factor_2 |d_2|, ...
    // for `steps` steps like the next one, whose length is *next. Their number, 0: not known. `factor` may be NULL.
    uint32_t (*differences)(const struct Run *run, double steps, const double *difference[], double *factor, double *next);
    // May be NULL: the order of the last step and, per unknown, its estimated error in units of the tolerance (zeros: not
    // estimated); -1: not known.
    int (*judge)(struct Run *run, double *error);
    // The history of the method (snapshot.h), for a run whose integrator was created with the same form. NULL: none is kept.
    void (*snapshot)(struct Run *run, struct Snapshot *snapshot);
    // After the state was saved or restored: as RunPart.settle. NULL: the method starts again.
    MDL_CHECKED int (*settle)(struct Run *run);
    bool is_explicit; // stable only for steps that are short beside the fastest answer of the equations
} Stepper;

enum { MDL_DIFFERENCES = 8 };

enum { EVENT_WINDOW = 50, EVENT_PASSES = 100, HURRIED_MOST = 2000, FEW_CONFIRMATIONS = 3 };

// What root.c knows about one condition. A condition that has just flipped is blind within `band` of zero
// until its function has left that band, so that rounding cannot trigger it twice.
typedef struct Guard {
    double band;   // 0: armed
    double former, armed; // before the instant `armed` it was blind within `former`: a step that goes beyond is looked at again from its beginning
    double size;   // largest magnitude of the root function seen
    double noise;  // of a relation's function: what rounding was seen to make of it where it is zero (idle.c)
    double answer; // of a relation's function, to changes of the states as large as they may be wrong by
    bool idle;     // nothing follows from it until the next event: it is not watched (runtime/event/idle.c)
    bool pending;  // it crossed zero at the event being handled and was not yet acted on
    bool forced;   // it changed at the event being handled: blind afterwards
    bool held;     // its mode was decided by the crossing: not taken back in the same event
    bool returning; // blind, and right after the event its function moves against the value held,
    double descent; // at this rate
    double depth;   // and where it had turned this deep beyond zero, as looks within the step of somebody else who integrates say; INFINITY: none does
    uint32_t flips; // how often it changed while one mixed system was solved (mixed.c),
    double against; // and how large its function was where it did so last
    // Per direction of crossing: when it happened last, the time since the one before, the first such time of
    // the present sequence, the instant at which a geometric sequence would end, and how often that was
    // confirmed.
    double last[2], interval[2], first[2], limit[2];
    uint32_t confirmed[2];
    double ratio[2];       // of the latest interval to the one before,
    double fall[2];        // that beside the ratio before it,
    uint32_t faster[2];    // and how often in a row it fell faster than a geometric sequence does
    bool passing;          // these intervals end below all rounding, without a rest: what returns unseen there has done no more than that
    uint32_t hurried;      // crossings in a row that followed the one before in their direction within event_hurry()
    double lately, extent; // of a relation's function: how large it was at the latest looks, and at the most (vanish.c)
    double crossed;        // how large the function was on both sides of its latest crossing; INFINITY: it was not looked for
    uint32_t flickers;     // crossings in a row in which it was no larger than rounding may be
    bool at_limit;         // held at zero with a value that it does not have there (limit.c)
    bool limit_told;
    bool vanished;         // a relation's function has become zero for longer: there zero is the wrong side
    double told;           // the latest instant at which somebody else who integrates was shown the other side (root_functions); NAN: none since the last event
    double dip;            // where the parabola through its latest values (Sightings) is lowest; NAN: not worth a look
} Guard;

// The latest three points since the last event and all root functions there, oldest first from row `first` on.
typedef struct Sightings {
    double at[3];
    uint32_t first, count; // `count` of them are of now
    uint32_t dips;         // guards whose `dip` was worth a look at the latest point
    double measured;       // when the guards' answers to errors were
    bool extra;            // some of the looks are none that the length of the step asks for
    bool surprised;        // at the latest points a function was not what those before let expect
    uint32_t density, calm; // looks per step, 0: not looked at yet; steps since one was surprising
} Sightings;

// What is known of an assertion: it has warned once; its edge was seen in the present event.
enum { ASSERT_WARNED = 1, ASSERT_FIRED = 2 };

// How a run gets on (stalled.c): at the latest look at the clock, and whatever was said last.
typedef struct Pace {
    uint32_t stalled;      // steps in a row that hardly moved time
    double clock, time;    // of the latest look; clock is 0 before the first
    double told;           // s that the run was said to take
    uint64_t steps, events, newton_failures;
} Pace;

// Which method gets on with less work (contest.c).
typedef struct Contest {
    bool open;           // other methods than the one at the start are looked for
    uint32_t stage, half; // of contest.c; the first half of it is over
    mdl_solver champion, rival; // the one that is best so far; the one that is tried, or will be
    double patience;     // work of the champion before the next trial,
    uint32_t lost;       // and how many have lost since that was longer
    double work, since;  // where what is measured began, and when,
    uint64_t steps;      // and after how many steps
    uint64_t aside;      // evaluations for what is looked at within steps: which method goes on does not depend on how many rows there are
    double pace;         // of the champion: time for its work,
    double stride;       // and for one of its steps
    bool alarmed;        // the explicit method at the start has met stiffness
    double pause, heeds; // evaluations between two such alarms; up to as many none is heeded
    bool muted;          // a step is made whose errors are not told
    double *point, *slope; // where the latest steps began, in turn: `room` times as many as the model has unknowns,
    double *began, *noise_there; // and when, and how noisy invariants are there
    uint32_t room, kept, latest; // how many there are since the latest start, and the last of them
    double usual;        // how far they are from each other
    bool singular;       // the latest step that failed came near a singular position
    bool bridged;        // the explicit method has bridged one, which others do not do as exactly
    double noise, least; // of the invariants where the latest step has ended (projection_noise()), and the least since the start
    const char *reason;  // why the first method was chosen,
    const char *held;    // and why the champion has come, while another one is tried
    double rate, *direction; // of the explicit method while another one works: the largest rate of the equations that it has seen, and along which direction,
    double belief;       // and how much of that rate is believed to be still there
} Contest;

// An event up to which a run was integrated and that is not handled yet (advance.c).
typedef struct HeldEvent {
    bool any, located, other;
    double instant;
} HeldEvent;

struct Run {
    const mdl_model *model;
    const mdl_options *options;
    mdl_stats *stats;
    double *v;
    double time;          // of the last accepted point
    double tolerance;
    double *abstol;       // n absolute tolerances of the unknowns
    double strictness;    // a step may be wrong by 1/strictness of these
    mdl_solver solver;    // never MDL_SOLVER_AUTO
    double deadline;      // of clock_seconds(), for what is called within an evaluation; 0: none
    bool causal;          // blocks are solved inside the residual; the integrator's unknowns are the states
    uint32_t ny;          // unknowns of the model that are the integrator's: nx or n
    uint32_t modes;       // exponentials of fractional derivatives; in the integrator's vectors they follow the ny
    double *y, *yp;       // n + modes each: the last accepted point; with modes only ny + modes count
    const double *mode;   // those that evaluations take (fractional.c)
    uint32_t *implicit, n_implicit; // states whose rows are implicit
    uint64_t evaluations; // of the dynamics, and of programs that have a part of them
    uint64_t point_evaluation; // so many when the last accepted point was evaluated (evaluate_note_reached); 0: never
    double *solved;       // n + nx, of which loops' unknowns count: where evaluate_row() has solved them last
    double solved_time;   // and when
    double *motion;       // n + nx: unknowns and derivatives before the event being handled
    double *choices;      // n_relations + n_time_relations + n_discretes: their values before it

    Newton **block;       // per dynamics step, NULL for plain ones
    uint8_t *redundant;   // per constraint: 1 when it follows from the others; NULL: none does
    uint8_t *of_diodes;   // per place in v (newton_shortest.c); NULL: not yet asked for
    struct Components *components; // components.c; NULL: not yet asked for
    bool loops;           // some step of the dynamics is a block
    uint32_t deficient;   // equations of blocks that follow from others
    bool hides;           // there are ideal diodes, whose laws may say something about states alone (hidden.c)
    bool stumbled;        // the unknowns of all loops were no longer found together (integrator.c)
    uint32_t locked;      // those that do under the present conditions (locked.c)
    uint32_t told_locked; // loops of which that was said
    bool loop_failed;     // and it was said which
    bool past_open;       // evaluate_plain: what is delayed says by how much, and no value was found for which it does
    bool tolerant;        // a loop counts as solved when its residuals are within the tolerance (evaluate_row)
    bool branching;       // loops look for other solutions where the one at hand has ended (fold.c)
    bool folded;          // and that was said
    double fold;          // so much behind the accepted point the other solution was found; 0: none is waited for
    bool solve_rows;      // rows and root functions solve the blocks (they are small enough)

    const RunPart *part[PARTS_MOST]; // those that the model has something for
    uint32_t parts;
    PartList having[PART_HOOKS];     // of these the ones that have the function, in the same order
    const Stepper *stepper;
    Integrator *integrator;   // of ida.c
    Ode *ode;                 // of ode.c
    struct RadauRule *radau_rules; // of radau.c, made when it is first used; NULL: it was not
    Result *result;
    Friction *friction;       // of friction.c
    Rests *rests;             // of rest.c; NULL: nothing can come to rest
    Contacts *contacts;       // of contact.c; NULL when the model has no unilateral constraints
    Delays *delays;           // of delay.c; NULL when the model has none
    Transports *transports;   // of transport.c; NULL when the model has none
    Conditions *conditions;   // of condition.c
    Courses *courses;         // of course.c; NULL: no relation has one
    Drifts *drifts;           // of drift.c; NULL: no term drifts
    StepPath *path;           // of step_path.c; NULL: neither
    Ahead *ahead;             // of ahead.c; NULL: nothing depends on time alone
    Audit *audit;             // of audit.c; NULL when nobody asked for it
    Sense *sense;             // of sensitivities.c; NULL when no sensitivities are wanted
    struct Jumps *jumps;      // of jump.c; NULL: nothing that is differentiated may jump
    struct Leaps *leaps;      // of leap.c; NULL: no function that branches is differentiated
    Fractionals *fractionals; // of fractional.c; NULL when the model has none
    mdl_profile *profile;     // of run_profile.c; NULL when nobody asked for it, and outside of the integration

    // Events. `guard` has n_relations, then n_time_relations, n_sgns and n_rests entries; so does `phi`.
    uint32_t guards;
    Guard *guard;
    double *phi, *phi_scale, *phi_end[2];
    bool blind;            // some guard may have a band
    double *seen;          // 3 rows of root functions
    Sightings sightings;
    double *old_discrete;      // n_discretes
    uint32_t *looped, n_looped; // of when_loop.c; room for n_discretes: those that the event being handled has found in a loop
    double *loop_change, *loop_now; // n_discretes: by what the pass before, and the present one, have changed those
    uint8_t *assigned;         // nx: a reinit of the event being handled has set the state
    double *time_next;         // n_time_relations
    uint64_t *sample_index;    // n_samples: the next instant is start + index*interval
    bool tried;                // the start is sought another way, too: what that meets is not told
    bool initialises;          // the iteration of the initialisation: relations with time are what they are at the start itself
    bool literal;              // and so they are at the event being handled: what ends behind its instant is an event of its own there
    bool time_event;           // the event being handled is at an instant
    double settled;            // before an event that was located: the last time at which no condition was violated
    bool outdated;             // the row is that left limit: the condition that was located has crossed, and its value is the former one
    uint32_t limits;           // relations that are held at their limits
    uint32_t accumulated;      // relation + 1 whose events can no longer be told apart, 0: none
    double event_time[EVENT_WINDOW];
    uint32_t event_count;
    uint8_t *warned;           // n_asserts; ASSERT_WARNED | ASSERT_FIRED
    bool edge_failed;          // a call in an assertion about edges has failed, and said so
    mdl_texts *texts;          // values of type String; NULL: there are none that change
    uint8_t *left;             // n_limit_groups: it was told that a variable has left this limit
    double *largest;           // n_limits: largest magnitude of the variable in rows
    double *reached;      // nx: the largest magnitude of each state at the ends of steps (scale.c)
    uint32_t watched;     // those before this one have reached their absolute tolerance
    uint32_t n_left;           // limits that were told
    uint8_t *warned_in_calls;  // n_failures: assertions inside functions that have warned
    bool terminated;           // terminate() fired

    double *kept;         // nv + n + nx: v and `solved` while check_step() evaluates; NULL before the first time
    double check_seconds, check_begun; // what looking at rows has taken; the clock at its beginning
    Pace pace;
    Contest contest;
    bool driven;               // by whoever asks for one interval after the other: its end is not known
    bool holds;                // an event that was found waits for him in `held`
    HeldEvent held;
    // Whoever drives it looks at instants within the last step: states that were moved at its end start anew behind that only, before the next one.
    bool looked_back, starts_anew;
    struct Outside *outside;   // of outside.c; NULL: the run is integrated here
    struct Ensemble *ensemble; // of ensemble_steps.c; NULL: the run is made alone,
    uint32_t lane;             // or in this column
    double strayed;            // how far its latest steps have left the invariants, of the tolerance

    uint64_t next_point;       // index of the next output point
    uint64_t points;
    double interval;
};

// The gap of a unilateral constraint, in v.
static inline double
contact_gap(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->sign[0] * run->v[sgn->place[0]];
}

// --- message.c
// Whether somebody has asked the run to end.
bool run_interrupted(const Run *run);
void run_message(const Run *run, mdl_severity severity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void run_json_text(const char *text, FILE *out); // quoted

// A run that was opened (sim.h) begins with this.
// Behind a start such methods make short steps of low order, and behind those none that are long beside the motion.
static inline bool
run_is_multistep(const Run *run)
{
    return run->solver == MDL_SOLVER_IDA || run->solver == MDL_SOLVER_CVODE || run->solver == MDL_SOLVER_ADAMS;
}

static inline Run *
run_of(struct mdl_run *opened)
{
    return (Run *)opened;
}

// Length of the integrator's vectors.
static inline uint32_t
run_size(const Run *run)
{
    return run->ny + run->modes;
}

// Of no step is it asked to be shorter than this for what is known to come.
static inline double
run_shortest(const Run *run)
{
    return fmax(1e-9 * (run->options->stop - run->options->start), 64 * DBL_EPSILON * fabs(run->time));
}

// Unknowns of the model that run->y has. Without modes those of loops that the integrator does not know are there, too.
static inline uint32_t
run_stored(const Run *run)
{
    return run->modes ? run->ny : run->model->n;
}

#endif
