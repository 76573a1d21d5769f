// gauss_length.c: how long the steps of the Gauss method are.
//
// Purpose: a constant step that keeps the tolerance.
// Method: the step is chosen so that one step and two of half the length agree to a small part of the tolerance. Afterwards it only becomes
//         shorter, when such a comparison asks for it; one is made whenever the slopes surprise more than what the last comparison vouches
//         for, near singular positions, where slopes do not tell, and every 500 steps. What vouches for surprises that could be errors
//         is forgotten where slopes become calm. Equations that may jump where no event is are
//         compared with Lobatto's rule instead, at every step: the four stages do not see a jump behind the last one, nor do those of half steps.
// Contract: gauss_inner.h. Complexity: a comparison costs two or three steps.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/solver/gauss_inner.h"

// Steps after which one that is much too short is tried longer, and by how much; twice as many after each failure.
enum { RECOVER = 10, FASTER = 10, LONGEST_WAIT = 1 << 20, CHECK_EVERY = 500 };
enum { VOUCHED = 4 }; // times as much surprise as a comparison has seen need no other

static const double TOO_SLOW = 0.03;      // of the first step
static const double AIM = 0.03;           // of the tolerance: what a step may be wrong by
static const double LEAST_AIM = 1e-13;    // relative error that rounding leaves room for
// Surprises of fewer tolerances than this times the aim are errors within it. Both are the eighth derivative of the slopes times the ninth power of
// the step: 126/8! of it where the last stage is extrapolated over eight stages, 4!^4/(9*8!^3) in the step's end, a ratio of 5.6e6; a tenth is left for what is not smooth.
static const double HARMLESS = 5.6e5;
static const double NEAR = 100;           // times the least nearness to singular positions: a step there is compared, whatever its slopes say

bool
gauss_is_much_shorter(const Ode *ode)
{
    return ode->step < TOO_SLOW * ode->chosen;
}

// The error of a step of order 8 grows with the ninth power of its length, and so does what a constant step leaves to the places
// where the motion is fastest. A thirtieth of the tolerance costs half as many steps again, but each converges in fewer
// iterations: in all a tenth more evaluations, for errors a tenth as large.
static double
aim(const Run *run)
{
    return fmin(fmax(AIM, LEAST_AIM / run->tolerance), 1);
}

// The error of the step in units of what is allowed, from two steps of half the length. INFINITY: they failed.
static double
step_error(Run *run, double h)
{
    Ode *ode = run->ode;
    memcpy(ode->other, ode->base, ode->n * sizeof *ode->other);
    for (uint32_t k = 0; ode->at_end && k < ode->n; k++)
        ode->other[k] = ode->start[k];
    if (!gauss_step_inside(run, ode, 0, h, h / 2, ode->other) || !gauss_step_inside(run, ode, 0.5, h, h / 2, ode->other))
        return INFINITY;
    for (uint32_t k = 0; k < ode->n; k++)
        ode->value[k] = ode->next[k] - ode->other[k];
    return gauss_norm(run, ode->next, ode->value) / aim(run);
}

// The same from Lobatto's rule over slopes at five points, which has both ends: wherever in the step slopes jump, what it makes of the jump differs
// from what the stages make of it, by at least two thirds of what is wrong with that. For smooth slopes both are of order 8.
static double
branched_error(Run *run, double h)
{
    enum { PLACES = 5 };
    const double aside = sqrt(21) / 14;
    const double place[PLACES] = {0, 0.5 - aside, 0.5, 0.5 + aside, 1};
    const double weight[PLACES] = {1 / 20.0, 49 / 180.0, 16 / 45.0, 49 / 180.0, 1 / 20.0};
    Ode *ode = run->ode;
    memcpy(ode->other, ode->start, ode->n * sizeof *ode->other);
    for (uint32_t k = 0; k < ode->n; k++)
        ode->value[k] = ode->next[k] - ode->start[k] - h * weight[0] * ode->slope[k];
    for (int p = 1; p < PLACES; p++) {
        const double *at = p + 1 < PLACES ? ode->other : ode->next;
        if (at == ode->other && !gauss_step_inside(run, ode, place[p - 1], h, h * (place[p] - place[p - 1]), ode->other))
            return INFINITY;
        if (!stages_slope(run, ode->inside, ode->from + place[p] * h, at, ode->rate))
            return INFINITY;
        for (uint32_t k = 0; k < ode->n; k++)
            ode->value[k] -= h * weight[p] * ode->rate[k];
    }
    // A step that a jump has made short is one of few.
    return gauss_norm(run, ode->next, ode->value) / (gauss_is_much_shorter(ode) ? 1 : aim(run));
}

void
gauss_change_step(Run *run, double factor)
{
    Ode *ode = run->ode;
    ode->step *= factor;
    ode->anchor = run->time;
    ode->count = 0;
    ode->history = 0;
    ode->trusted = 0;
    if (ode->longer && ode->wait < LONGEST_WAIT)
        ode->wait *= 2;
    ode->waited = 0;
    ode->longer = false;
}

// One place of the motion, as a jump that is no event, may have asked for a step that is much too short behind it. It grows again, up to its
// first length; where that fails it is tried less often.
void
gauss_recover(Run *run)
{
    Ode *ode = run->ode;
    ode->recovering = (ode->recovering || gauss_is_much_shorter(ode)) && !ode->searching && !(run->options->step > 0);
    if (!ode->recovering || ++ode->waited < ode->wait)
        return;
    ode->wait = ode->longer || !ode->wait ? RECOVER : ode->wait;
    ode->longer = false;
    gauss_change_step(run, fmin(FASTER, ode->chosen / ode->step));
    ode->longer = true;
    ode->recovering = ode->step < 0.999 * ode->chosen;
    ode->creeping = ode->recovering ? ode->creeping : 0;
}

bool
gauss_is_vouched(Run *run)
{
    Ode *ode = run->ode;
    double near = fmax(ode->nearness, ode->nearness_before);
    ode->ordinary = fmin(ode->ordinary, fmax(ode->nearness, DBL_EPSILON));
    if (run->model->branches || ode->searching || ode->unchecked >= CHECK_EVERY || !(ode->surprise <= ode->trusted) || !(near <= NEAR * ode->ordinary))
        return false;
    ode->trusted = fmin(ode->trusted, fmax(VOUCHED * ode->surprise, HARMLESS * aim(run)));
    return true;
}

double
gauss_error(Run *run, double h)
{
    return run->model->branches ? branched_error(run, h) : step_error(run, h);
}

double
gauss_error_of(const Run *run, double distance)
{
    return distance / aim(run);
}

// A step that was cut short, or is what a cut has left of one, says nothing about longer ones: the search goes on behind it, and nothing vouches for the first step
// behind an event.
bool
gauss_is_within(Run *run, double h, bool cut, int attempt, double error)
{
    Ode *ode = run->ode;
    double most = (run->options->stop - run->options->start) / 50;
    if (run->options->max_step > 0)
        most = fmin(most, run->options->max_step);
    double factor = error > 0 ? 0.9 * pow(error, -1.0 / (2 * GAUSS_STAGES + 1)) : 5;
    ode->unchecked = 0;
    if (error > 1 || !(error >= 0)) {
        run->stats->error_failures++;
        ode->searching = false;
        ode->step = fmin(ode->step, h);
        gauss_change_step(run, fmin(fmax(factor, 0.1), 0.95));
        return false;
    }
    if (ode->searching && !cut && factor > 1.1 && h < most && attempt < GAUSS_ATTEMPTS / 2) {
        gauss_change_step(run, fmin(fmin(factor, 5), most / h));
        return false;
    }
    ode->trusted = isfinite(ode->surprise) ? ode->surprise * fmin(fmax(0.5 / error, 1), VOUCHED) : 0;
    return true;
}

bool
gauss_is_good(Run *run, double h, bool cut, int attempt)
{
    return gauss_is_vouched(run) || gauss_is_within(run, h, cut, attempt, gauss_error(run, h));
}

// A step that moves the states by about a hundredth of their size.
double
gauss_first_guess(const Run *run)
{
    const mdl_model *model = run->model;
    double speed = 0, most = (run->options->stop - run->options->start) / 50;
    for (uint32_t k = 0; k < model->nx; k++) {
        double size = fmax(fabs(run->y[k]), 1e-2 * fabs(run->v[model->nominal + k]));
        speed = fmax(speed, fabs(run->yp[k]) / size);
    }
    if (run->options->max_step > 0)
        most = fmin(most, run->options->max_step);
    double guess = speed > 0 ? fmin(1e-2 / speed, most) : 1e-2 * most;
    // A state that is zero now may have any size: no step is too short to begin with.
    return fmax(guess, 10 * GAUSS_SHORTEST * (run->options->stop - run->options->start));
}
