// crossing.c: over a position in which invariants depend on each other.
//
// Purpose: a linkage that goes through its folded position knows its motion before and behind it, but not in it: with sigma the least
//          singular value of the constraints' gradients, rounding moves velocities by rounding/sigma^2 and accelerations by
//          rounding/sigma^3. Where a step ends too near its equations cannot be solved any more, and shorter ones lead nowhere.
// Method: the motion is smooth (the inertia carries it through, on the branch on which it came). IDA's memory is kept as of the last
//         step that ended where velocities were known well, and its polynomial is continued to the first point behind at which they
//         are known well again; projected onto the invariants, that point is where the method starts again. The polynomial must agree
//         there with what the equations say of the derivatives, within what is lost near the position anyway.
// Contract: crossing.h. Complexity: a copy of IDA's memory per step of a model with invariants; a few projections per crossing.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/crossing.h"
#include "runtime/solver/history.h"
#include "runtime/step/step.h"

static const double FAR = 20;     // steps of before: further back than this nothing is known any more
static const double SHRUNK = 0.5; // of the step of before: a shorter one does not come from the motion
static const double LONGER = 1.5; // from one try to the next
static const double WRONG = 1e4;  // tolerances: what the continued motion may differ by

enum { TRIES = 20 };

struct Crossing {
    uint32_t ny;
    bool kept;
    double time, step;      // of the memory that is kept
    uint8_t *memory, *now;  // that, and the present one during a leap
    size_t size;
    double *y, *yp;         // ny: the point behind
};

Crossing *
crossing_create(uint32_t ny)
{
    Crossing *crossing = calloc(1, sizeof *crossing);
    if (!crossing)
        return NULL;
    crossing->ny = ny;
    crossing->y = calloc(2 * (size_t)ny + 1, sizeof *crossing->y);
    crossing->yp = crossing->y + ny;
    if (!crossing->y)
        crossing_free(&crossing);
    return crossing;
}

void
crossing_free(Crossing **slot)
{
    Crossing *crossing = *slot;
    if (!crossing)
        return;
    free(crossing->memory);
    free(crossing->now);
    free(crossing->y);
    free(crossing);
    *slot = NULL;
}

void
crossing_forget(Crossing *crossing)
{
    crossing->kept = false;
}

double
crossing_step(const Crossing *crossing)
{
    return crossing->kept ? crossing->step : 0;
}

static bool
make_room(Crossing *crossing, void *ida)
{
    Snapshot measure = {0};
    if (crossing->memory)
        return true;
    history_snapshot(ida, crossing->ny, &measure);
    crossing->size = measure.used;
    crossing->memory = malloc(measure.used);
    crossing->now = malloc(measure.used);
    if (!crossing->memory || !crossing->now) {
        free(crossing->memory);
        free(crossing->now);
        crossing->memory = crossing->now = NULL;
    }
    return crossing->memory != NULL;
}

static void
save(const Crossing *crossing, void *ida, uint8_t *block)
{
    Snapshot snapshot = {.to = block, .size = crossing->size};
    history_snapshot(ida, crossing->ny, &snapshot);
}

static void
restore(const Crossing *crossing, void *ida, const uint8_t *block)
{
    Snapshot snapshot = {.from = block, .size = crossing->size};
    history_snapshot(ida, crossing->ny, &snapshot);
}

void
crossing_keep(Crossing *crossing, Run *run, void *ida)
{
    int order;
    double step;
    history_last(ida, &step, &order);
    // Steps that become much shorter at once are on the way into the position.
    bool into = crossing->kept && step < SHRUNK * crossing->step && run->time - crossing->time <= FAR * crossing->step;
    if (into || !(step > 0) || !make_room(crossing, ida))
        return;
    save(crossing, ida, crossing->memory);
    crossing->time = run->time;
    crossing->step = step;
    crossing->kept = true;
}

// How far the derivatives that the equations give at the point are from those of the polynomial, over the way, in tolerances.
static double
disagreement(const Crossing *crossing, const Run *run, double way)
{
    double most = 0;
    for (uint32_t i = 0; i < run->model->nx; i++) {
        double allowed = run->tolerance * fabs(crossing->y[i]) + run->abstol[i];
        most = fmax(most, fabs(run->v[run->model->yp + i] - crossing->yp[i]) * way / allowed);
    }
    return most;
}

// The kept motion, continued to `time`.
static bool
arrives(Crossing *crossing, Run *run, void *ida, Projection *projection, double time)
{
    double factor[HISTORY_TERMS], slope[HISTORY_TERMS];
    const double *term[HISTORY_TERMS];
    int terms = (int)history_terms(ida, time, factor, slope, term);
    if (!terms)
        return false;
    nvector_combine(NULL, factor, term, terms, crossing->y, crossing->ny);
    nvector_combine(NULL, slope + 1, term + 1, terms - 1, crossing->yp, crossing->ny);
    if (!projection_apply(run, projection, time, crossing->y) || !projection_is_clear(run, projection, crossing->y))
        return false;
    evaluate_load(run, time, crossing->y, crossing->yp);
    return evaluate_solved(run, false) == MDL_OK && disagreement(crossing, run, time - crossing->time) <= WRONG;
}

double
crossing_leap(Crossing *crossing, Run *run, void *ida, Projection *projection, double limit)
{
    double done = run->time - crossing->time, way = done + crossing->step;
    bool arrived = false;
    if (!crossing->kept || done > FAR * crossing->step)
        return 0;
    save(crossing, ida, crossing->now);
    restore(crossing, ida, crossing->memory);
    for (int k = 0; k < TRIES && !arrived; k++, way *= LONGER) {
        double time = fmin(crossing->time + way, limit);
        arrived = time > run->time && arrives(crossing, run, ida, projection, time);
        if (arrived)
            run->time = time;
        if (time == limit)
            break;
    }
    crossing->kept = false;
    if (arrived)
        evaluate_store(run);
    else
        restore(crossing, ida, crossing->now);
    return arrived ? crossing->step : 0;
}
