// dop853_dense.c: values within a step of dop853.
//
// Purpose: rows, events and whoever looks between the ends of a step.
// Method: the polynomial of order 7 (runtime/linear/dop853_rule.c), for which three slopes more are taken. Where its last term says that it does not follow what is fast
//         the step is made by two halves; where a value is off the invariants, or near a position in which they depend on each other, a step of its own leads there
//         from one of the ends. Within a bridge (dop853_bridge.c) values are those of its polynomial.
// Contract: dop853_inner.h. Complexity: three evaluations for a step, 30 where it is halved, 12 or 24 for a value of its own.
#include <math.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/solver.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES, TERMS = DOP853_TERMS };

// Slopes that are no part of what the run takes.
MDL_CHECKED static bool
stages_between(Run *run, Steps *steps, double time, const double *step, uint32_t from, uint32_t to)
{
    uint64_t before = run->stats->residuals;
    bool made = dop853_stages(run, steps, time, step, from, to);
    run->contest.aside += run->stats->residuals - before;
    return made;
}

MDL_CHECKED static bool
make_polynomial(Run *run)
{
    Ode *ode = run->ode;
    Steps *steps = &ode->own;
    double step[WIDTH];
    dop853_lengths(ode->length, step);
    if (!stages_between(run, steps, ode->from, step, DOP853_STAGES + 1, SLOPES))
        return false;
    dop853_polynomial(steps->chunks, step, steps->start, steps->end, steps->slope, steps->term);
    return steps->between = true;
}

double
dop853_wrong(const Run *run, const Steps *steps)
{
    const double peak = 6912.0 / 823543, share = 0.1; // at x = 4/7
    double most = 0;
    size_t at = steps->stride > 1 ? run->lane : 0;
    for (uint32_t i = 0; i < run->ode->n; i++, at += steps->stride)
        most = fmax(most, fabs(steps->term[TERMS - 1][at]) * steps->weight[at]);
    return share * peak * most / run->strictness;
}

// Two steps of half the length with a polynomial each, ode->half: the first begins and the second ends as the last step does. Their polynomials are wrong by a 256th.
// False: they lead elsewhere, by more than a share of what that of the step is wrong by, as from positions in which constraints depend on each other.
MDL_CHECKED static bool
make_halves(Run *run, double wrong)
{
    const double share = 0.25;
    Ode *ode = run->ode;
    const Steps *last = ode->at;
    Steps *first = &ode->half[0], *second = &ode->half[1];
    double step[WIDTH], middle = ode->from + ode->length / 2;
    for (uint32_t h = 0; h < 2; h++)
        if (!ode->half[h].block && !steps_create(&ode->half[h], ode->n, 1))
            return false;
    dop853_lengths(ode->length / 2, step);
    for (size_t i = 0, at = last->stride > 1 ? run->lane : 0; i < ode->n; i++, at += last->stride) {
        first->start[i] = last->start[at];
        first->slope[0][i] = last->slope[0][at];
        second->slope[DOP853_STAGES][i] = last->slope[DOP853_STAGES][at];
    }
    if (!stages_between(run, first, ode->from, step, 1, DOP853_STAGES))
        return false;
    dop853_end(first->chunks, step, first->start, first->carry, first->slope, first->end, first->left);
    run->contest.aside++;
    if (dop853_right_side(run, middle, first->end, first->slope[DOP853_STAGES]) != MDL_OK || !stages_between(run, first, ode->from, step, DOP853_STAGES + 1, SLOPES))
        return false;
    memcpy(second->start, first->end, ode->n * sizeof *second->start);
    memcpy(second->slope[0], first->slope[DOP853_STAGES], ode->n * sizeof *second->start);
    if (!stages_between(run, second, middle, step, 1, DOP853_STAGES))
        return false;
    dop853_end(second->chunks, step, second->start, second->carry, second->slope, second->end, second->left);
    for (size_t i = 0, at = last->stride > 1 ? run->lane : 0; i < ode->n; i++, at += last->stride) {
        if (!(fabs(second->end[i] - last->end[at]) * last->weight[at] <= share * wrong * run->strictness))
            return false;
        second->end[i] = last->end[at];
    }
    if (!stages_between(run, second, middle, step, DOP853_STAGES + 1, SLOPES))
        return false;
    for (uint32_t h = 0; h < 2; h++)
        dop853_polynomial(first->chunks, step, ode->half[h].start, ode->half[h].end, ode->half[h].slope, ode->half[h].term);
    return true;
}

// Whether values within the step are those of its halves. Where invariants tell what a polynomial is off, they decide (step_to()): slopes of halves may be noise as well.
static bool
is_halved(Run *run)
{
    Ode *ode = run->ode;
    if (!ode->judged && !ode->projection) {
        double wrong = dop853_wrong(run, ode->at);
        ode->halved = wrong > DOP853_WRONG && make_halves(run, wrong);
    }
    ode->judged = true;
    return ode->halved;
}

double
dop853_way(const Run *run, const Steps *steps, const double *from, size_t stride, const double *to)
{
    double most = 0;
    size_t at = steps->stride > 1 ? run->lane : 0;
    for (uint32_t i = 0; i < run->ode->n; i++)
        most = fmax(most, fabs(from[i * stride] - to[i]) * steps->weight[at + i * steps->stride]);
    return most;
}

// A step of its own from one end of the last one to `time`, into ode->aside.end. Its error in units of what a step may be wrong by; INFINITY: there is none.
static double
step_from(Run *run, bool behind, double time)
{
    Ode *ode = run->ode;
    const Steps *last = ode->at;
    Steps *aside = &ode->aside;
    const double *from = behind ? last->end : last->start, *slope = last->slope[behind ? DOP853_STAGES : 0];
    double step[WIDTH], began = behind ? ode->from + ode->length : ode->from;
    dop853_lengths(time - began, step);
    for (size_t i = 0, at = last->stride > 1 ? run->lane : 0; i < ode->n; i++, at += last->stride) {
        aside->start[i] = from[at];
        aside->slope[0][i] = slope[at];
        aside->weight[i] = last->weight[at];
    }
    if (!stages_between(run, aside, began, step, 1, DOP853_STAGES))
        return INFINITY;
    dop853_end(aside->chunks, step, aside->start, aside->carry, aside->slope, aside->end, aside->left);
    double error = dop853_estimate(run, aside, step[0]);
    return isnan(error) ? INFINITY : error;
}

// The better one of both, where the polynomial is off the invariants by as much as `way` (INFINITY: nobody knows): the position may
// be on the way of the other. False: it would not be much better.
static bool
step_to(Run *run, double time, double way)
{
    const double better = 0.1;
    Ode *ode = run->ode;
    if (!(way > DOP853_FAR) || (!ode->aside.block && !steps_create(&ode->aside, ode->n, 1)))
        return false;
    bool behind = time - ode->from > ode->length / 2;
    double error = step_from(run, behind, time);
    if (error <= 1)
        return true;
    double other = step_from(run, !behind, time);
    return (other <= error ? other : step_from(run, behind, time)) <= better * way;
}

int
dop853_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    Steps *steps = ode->at;
    if (time == run->time || !(ode->length > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double *y = run->v + run->model->y, *yp = run->v + run->model->yp;
    if (bridge_made(ode->bridge)) {
        bridge_value(ode->bridge, time, ode->probed, yp);
        (void)projection_between(run, ode->projection, time, ode->probed);
        memcpy(y, ode->probed, ode->n * sizeof *y);
        run->v[0] = time;
        evaluate_stick(run);
        return MDL_OK;
    }
    if (!steps->between && !(steps == &ode->own ? make_polynomial(run) : run->ensemble->method->between(run)))
        return dop853_report(run);
    double x = (time - ode->from) / ode->length;
    size_t at = steps->stride > 1 ? run->lane : 0, terms = steps->size;
    if (is_halved(run)) {
        const Steps *half = &ode->half[x > 0.5];
        for (uint32_t i = 0; i < ode->n; i++)
            dop853_value(half->term[0] + i, half->size, half->start[i], ode->length / 2, x > 0.5 ? 2 * x - 1 : 2 * x, &y[i], &yp[i]);
    } else
        for (uint32_t i = 0; i < ode->n; i++, at += steps->stride)
            dop853_value(steps->term[0] + at, terms, steps->start[at], ode->length, x, &y[i], &yp[i]);
    // Values between steps are off the invariants by the error of the interpolation.
    if (ode->projection) {
        memcpy(steps->point, y, ode->n * sizeof *y); // v is used on the way
        bool told = projection_between(run, ode->projection, time, memcpy(ode->probed, y, ode->n * sizeof *y));
        if (step_to(run, time, told ? dop853_way(run, steps, steps->point, 1, ode->probed) : INFINITY))
            (void)projection_between(run, ode->projection, time, memcpy(ode->probed, ode->aside.end, ode->n * sizeof *y));
        memcpy(y, ode->probed, ode->n * sizeof *y);
    }
    run->v[0] = time;
    evaluate_stick(run);
    return MDL_OK;
}
