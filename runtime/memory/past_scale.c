// past_scale.c: how long steps may be that read a stretch of the past.
//
// Purpose: a push that is over when a delay, or a pipe, brings it to a motion that rests comes and goes within one step of that motion: nothing
//          asks for a shorter one. But the past is known: it holds its own time scales.
// Method: as for functions of time (ahead.c): where values vary by A, and their second derivative is at most M, steps are no
//         longer than 4 sqrt(A/M); both are seen at the stored points, M by divided differences. Steps need not be shorter than those
//         were that have kept the points, four to a step, which keeps errors of a stored motion from being taken for its
//         course. Where values are not smooth (a kink, a jump) the stretch ends.
// Contract: past_scale.h. Complexity: linear in the points of the stretch, MOST at most.
#include <float.h>
#include <math.h>

#include "runtime/memory/past_scale.h"

enum { PARTS = 8, MOST = 500, POINTS_OF_STEP = 4 };
static const double ROUNDING = 16 * DBL_EPSILON;

typedef struct Walk {
    double place[3], value[3]; // of the latest points, the last one first
    unsigned count;
    double least, most, bend;
    double apart;              // the distance of the points that bend most
} Walk;

static void
walk_to(Walk *walk, double place, double value)
{
    walk->place[2] = walk->place[1];
    walk->value[2] = walk->value[1];
    walk->place[1] = walk->place[0];
    walk->value[1] = walk->value[0];
    walk->place[0] = place;
    walk->value[0] = value;
    walk->count++;
    walk->least = fmin(walk->least, value);
    walk->most = fmax(walk->most, value);
    double near = walk->place[0] - walk->place[1], far = walk->place[1] - walk->place[2];
    if (walk->count < 3 || !(near > 0 && far > 0))
        return;
    double turn = (walk->value[0] - walk->value[1]) / near - (walk->value[1] - walk->value[2]) / far;
    double rounding = ROUNDING * (fabs(walk->value[0]) + fabs(walk->value[1]) + fabs(walk->value[2])) / fmin(near, far);
    double bend = 2 * fmax(fabs(turn) - rounding, 0) / (near + far);
    if (bend > walk->bend) {
        walk->bend = bend;
        walk->apart = fmax(near, far);
    }
}

// Steps of a constant length (gauss) have no error test in each of them, which would see what comes and shorten the next one.
static double
pace_of(const Run *run, const Walk *walk, double nothing)
{
    double factor = run->solver == MDL_SOLVER_GAUSS ? 1 : 4;
    if (walk->bend == 0)
        return INFINITY;
    return fmax(factor * sqrt(fmax(walk->most - walk->least, nothing) / walk->bend), factor / 4 * POINTS_OF_STEP * walk->apart);
}

PastScale
past_scale(const Run *run, const Past *past, double from, double longest, double shortest)
{
    PastScale scale = {INFINITY, INFINITY};
    Walk walk = {.least = INFINITY, .most = -INFINITY};
    size_t left = past->backward ? past->points - 1 - past->first : past->first; // points up to `from`
    for (size_t i = left < 2 ? 0 : left - 2; i < past->points; i++) {
        size_t k = past->backward ? past->points - 1 - i : i;
        double distance = past->falling ? from - past->at[k] : past->at[k] - from;
        if (walk.count && past->starts && past->starts[past->backward ? k + 1 : k]) {
            if (i >= left && walk.place[0] > shortest)
                return (PastScale){scale.pace, walk.place[0]};
            walk = (Walk){.least = INFINITY, .most = -INFINITY};
        }
        walk_to(&walk, distance, past->value[k * past->stride]);
        if (i < left)
            continue;
        double pace = fmax(pace_of(run, &walk, past->nothing), shortest);
        if (pace < distance / PARTS && isfinite(scale.end))
            return scale;
        scale = (PastScale){pace, fmax(distance, shortest)};
        if (distance >= longest || i >= left + MOST)
            return scale;
    }
    return (PastScale){scale.pace, INFINITY};
}
