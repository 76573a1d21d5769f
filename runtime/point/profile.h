// profile.h: what a run is counted and timed by for --stats=long. NULL in a Run: nobody asked, nothing is counted.
#ifndef MDLC_RUNTIME_POINT_PROFILE_H
#define MDLC_RUNTIME_POINT_PROFILE_H

#include <time.h>

#include "runtime/point/run.h"

// What a run does, each instant one of these.
typedef enum Phase {
    PHASE_INTEGRATOR, // its own arithmetic
    PHASE_EQUATIONS,  // residuals, right sides
    PHASE_PARTIALS, PHASE_FACTORS, PHASE_SOLVES, // the matrix: its values, its factors, solutions with them
    PHASE_PROJECTION, // onto invariants
    PHASE_CONDITIONS, // whether and when an event happens
    PHASE_EVENTS,     // event iteration and the start after it
    PHASE_RESULTS,    // rows
    PHASE_COUNT
} Phase;

typedef struct ProfiledSection { // a step of the dynamics
    uint64_t calls, iterations, ticks;
} ProfiledSection;

typedef struct ProfiledUnknown {
    uint64_t limits;      // steps whose error estimate was mostly its own
    double least_step;    // the shortest of these
    double low, high, path; // range of its values, and the way it went in it
} ProfiledUnknown;

typedef struct ProfiledCondition { // a relation, a relation with time, a set-valued law
    uint64_t changes;
    double last;
    uint32_t burst, longest; // changes each soon after the one before
    double longest_at;
} ProfiledCondition;

enum { PROFILE_ORDERS = 16, PROFILE_DECADES = 40, PROFILE_FIRST_DECADE = -30 };

struct mdl_profile {
    const mdl_model *model;
    uint64_t order[PROFILE_ORDERS];
    uint64_t decade[PROFILE_DECADES]; // steps of 10^(k + PROFILE_FIRST_DECADE) s and more
    double shortest, shortest_at, longest;
    double soon;                      // between changes of a condition that chatters
    uint64_t judged;                  // steps with an error estimate
    ProfiledUnknown *unknown;         // n
    double *error, *previous, *weight, *trial; // n each
    uint32_t n_conditions;
    ProfiledCondition *condition;
    double *held;                     // their values before the event being handled
    uint64_t *sample;                 // per sample(): how often it was due
    ProfiledSection *section;         // per step of the dynamics
    // How fast the equations answer, in 1/s, and the sum of that times the length of the step: explicit methods are unstable
    // from about 1 on.
    double rate, stiffness_sum;
    uint32_t stiffness_probes;
    uint64_t ticks[PHASE_COUNT], since, began;
    Phase phase;
    double began_at, seconds_per_tick;
    uint64_t compiling;               // ticks of options.compiling, which are nobody else's
    double compiling_seen;
};

// The processor's counter where it has one that costs less than a call of the system's clock.
static inline uint64_t
profile_ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

void profile_take_compiling(const Run *run, uint64_t now);

// Ticks without those in which the model was being compiled.
static inline uint64_t
profile_now(const Run *run)
{
    mdl_profile *profile = run->profile;
    uint64_t now = profile_ticks();
    if (run->options->compiling && *run->options->compiling != profile->compiling_seen)
        profile_take_compiling(run, now);
    return now - profile->compiling;
}

// The run does something else from now on. Returns what it did before, for profile_leave(). What happens within an event is
// the event's.
static inline Phase
profile_enter(const Run *run, Phase phase)
{
    mdl_profile *profile = run->profile;
    if (!profile)
        return phase;
    Phase before = profile->phase;
    if (before == PHASE_EVENTS || before == PHASE_CONDITIONS || before == PHASE_RESULTS)
        return before;
    uint64_t now = profile_now(run);
    profile->ticks[before] += now - profile->since;
    profile->since = now;
    profile->phase = phase;
    return before;
}

static inline void
profile_leave(const Run *run, Phase before)
{
    mdl_profile *profile = run->profile;
    if (!profile || profile->phase == before)
        return;
    uint64_t now = profile_now(run);
    profile->ticks[profile->phase] += now - profile->since;
    profile->since = now;
    profile->phase = before;
}

void profile_begin(Run *run);
void profile_end(Run *run);
// After an accepted step from `before`, which ends at `instant`; located: because of an event inside it.
MDL_CHECKED int profile_step(Run *run, double before, double instant, bool located);
void profile_before_event(Run *run);
void profile_after_event(Run *run);

#endif
