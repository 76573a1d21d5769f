// ahead_inner.h: what is kept of functions of time. Private to ahead.c, ahead_change.c, ahead_glimpse.c and ahead_pace.c.
#ifndef MDLC_RUNTIME_EVENT_AHEAD_INNER_H
#define MDLC_RUNTIME_EVENT_AHEAD_INNER_H

#include "runtime/event/event.h"
#include "runtime/event/jet.h"

typedef struct Outlook {
    double clear;        // no change up to here
    double change;       // the first one behind it, just past it; infinity: not known yet
    double held;         // value of the relation that this is true for
    double sure;         // the latest instant at which the function was seen to have its side by more than rounding; -infinity: none yet
    bool touches;        // no change up to the end of the run, and at the end itself it is zero within rounding, as it was not a little before
    bool lost;           // cannot be looked at ahead
    uint32_t hopeless;   // looks in a row that asked for the shortest steps
    double wasted;       // operations of looks whose function changed before what they found came, since the latest change that came
    double cost;         // those since the function changed last
    bool calm;           // a term: it did not vary over the stretch before (ahead_push),
    uint32_t idle;       // and so many short ones in a row
    double made, reach;  // when the function changed last; looks go no further than `reach` beyond, infinity: to the end
} Outlook;

enum { LOST_UNKNOWN, LOST_INTRICATE, LOST_COSTLY, LOST_KINDS };

struct Ahead {
    Jet *reg;            // of one forecast
    double *place;       // per operation of mdl_timely: the value that the forecast was made with
    Outlook *outlook;    // per forecast
    uint8_t *watched;    // per relation: its changes are known
    bool stale;          // an event has happened since
    double smooth, pace; // up to `smooth` no step longer than `pace`
    double length;       // of the latest stretch that was looked at
    double before;       // when the step before the latest ended
    double push;         // somebody else integrates: here a term begins to vary,
    uint32_t followed;   // and so many of his steps are made short behind that;
    double spent;        // operations of looks for that
    double *glimpse;     // GLIMPSES + 1 per forecast: values of those without operations,
    double *level;       // and what jumps have made of each of them since the first
    double seen;         // from here on, glimpse_distance() from each other; NAN: none yet
    bool taken;          // they are there
    double credit;       // operations that may still be spent on relations
    double paid;         // up to this time
    uint32_t lost[LOST_KINDS], example[LOST_KINDS]; // forecasts that have been lost and not told, one of them
    bool costly_told;
};

enum { GLIMPSES = 200 }; // values of terms without operations that are taken at a time
static const double SAME = 1e-9;           // part of values: what comes of rounding
static const double NOTHING = 1e-2;        // of the tolerance, of a term's size
static const double UNDERFLOW_SIZE = 1e-200; // what of a term is no more may be 0 for that reason

// --- ahead.c
// What of the forecast does not depend on time, into the registers; behind it the forecast over an interval.
void ahead_evaluate_fixed(Run *run, const mdl_forecast *forecast);
Jet ahead_evaluate_over(const Run *run, const mdl_forecast *forecast, Span time);
// The relation of forecast k is looked at like relations of states from now on; kind: LOST_*.
void ahead_lose(Run *run, uint32_t k, uint32_t kind);

// --- ahead_change.c
// Looks on for the next change of the relation of forecast k, behind what is known to be clear.
void ahead_extend(Run *run, uint32_t k);

// --- ahead_glimpse.c
// Values are taken so far apart: what comes and goes between two of them is not seen.
double glimpse_distance(const Run *run);
// Behind an event: some of the values are others now.
bool glimpse_changed(Run *run);
// How long steps may be from `from` on, within a stretch of the given length, for term k without operations.
double glimpse_pace(Run *run, uint32_t k, double from, double length);

// --- ahead_pace.c
// The next stretch, up to `smooth`, and the longest step within it, `pace`, but no shorter than `shortest`.
void ahead_find_pace(Run *run, double shortest);
// Somebody else integrates: where his next step must end so that no term comes and goes within it.
double ahead_push(Run *run, double shortest);

#endif
