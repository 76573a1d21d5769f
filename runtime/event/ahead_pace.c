// ahead_pace.c: how long steps may be where forces are prescribed over time.
//
// Purpose: a force that is prescribed over time may come and go between two steps of the integrator.
// Method: a term of the equations of motion varies by A over a stretch of time within
//         which its second derivative is at most M: steps are no longer than 4 sqrt(A/M) there (a quarter of it
//         without an error test in every step), A seen at nine points; where they would be
//         shorter than their distance the stretch is cut in half. Terms without operations have A and M from ahead_glimpse.c.
// Contract: a term whose bounds ask for the shortest steps again and again is given up, which is told.
// Complexity: ten evaluations of the terms for every stretch, which is as long as it can be.
#include <math.h>

#include "runtime/event/ahead_inner.h"
#include "runtime/point/run.h"

enum { SAMPLES = 8, HOPELESS = 50, STRETCHES = 100, FOLLOWED = 20, IDLE = 8 };
static const double PUSHES_MOST = 2e7; // operations that looks for pushes may take in a run: part of a second

// How large a term becomes in the time that follows: changes that are nothing beside that need not be followed.
static double
size_ahead(const Run *run, const mdl_forecast *forecast)
{
    double end = run->time + 0.1 * (run->options->stop - run->options->start);
    double size = span_size(ahead_evaluate_over(run, forecast, (Span){run->time, fmin(end, run->options->stop)}).value);
    return isfinite(size) ? size : 0;
}

// How long steps from `from` on may be for one term, within a stretch of the given length; less than its samples' distance: not known. *varies: by more than
// nothing.
static double
pace_of(Run *run, const mdl_forecast *forecast, double size, double from, double length, bool *varies)
{
    Jet all = ahead_evaluate_over(run, forecast, (Span){from, from + length});
    double bend = span_size(all.second), least = INFINITY, most = -INFINITY, rounding = 0;
    *varies = false;
    if (bend == 0)
        return INFINITY;
    for (uint32_t i = 0; i <= SAMPLES; i++) {
        double time = from + length * i / SAMPLES;
        Span sample = ahead_evaluate_over(run, forecast, (Span){time, time}).value;
        least = fmin(least, span_middle(sample));
        most = fmax(most, span_middle(sample));
        // At an instant the bounds are apart by rounding alone: of a term that cancels nothing else is left, neither value nor curvature.
        if (isfinite(sample.low) && isfinite(sample.high))
            rounding = fmax(rounding, sample.high / 2 - sample.low / 2);
    }
    double nothing = fmax(fmax(NOTHING * run->tolerance * fmax(size, fmax(fabs(least), fabs(most))), rounding), UNDERFLOW_SIZE);
    *varies = most - least > nothing;
    return (run->solver == MDL_SOLVER_GAUSS ? 1 : 4) * sqrt(fmax(most - least, nothing) / bend);
}

// A term whose bounds ask for the shortest steps all the time cannot be bounded well enough.
static void
lose_term(Run *run, uint32_t k, bool hopeless)
{
    Outlook *outlook = &run->ahead->outlook[k];
    outlook->hopeless = hopeless ? outlook->hopeless + 1 : 0;
    if (outlook->hopeless < HOPELESS)
        return;
    outlook->lost = true;
    run_message(run, MDL_WARNING, "what depends on time alone in the equation of `%s` is too intricate to be bounded ahead of the integration: a "
                "change of it that comes and goes within one step is not seen (--max-step bounds steps)", run->model->forecast[k].text);
}

void
ahead_find_pace(Run *run, double shortest)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    double span = run->options->stop - run->options->start, length = ahead->length > 0 ? 2 * ahead->length : fmin(run->interval, span / 500);
    length = fmax(fmin(length, fmin(0.1 * span, run->options->stop - run->time)), shortest);
    ahead->pace = INFINITY;
    if (ahead->glimpse)
        length = fmin(length, GLIMPSES / 4 * glimpse_distance(run));
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        const mdl_forecast *forecast = &model->forecast[k];
        if (forecast->relation != UINT32_MAX)
            continue;
        if (ahead->outlook[k].lost)
            continue;
        bool seen = forecast->place != 0, varies;
        if (!seen)
            ahead_evaluate_fixed(run, forecast);
        double size = seen ? 0 : size_ahead(run, forecast);
        double pace = seen ? glimpse_pace(run, k, run->time, length) : pace_of(run, forecast, size, run->time, length, &varies);
        while (!(pace >= length / SAMPLES) && length > shortest) {
            length /= 2;
            pace = seen ? glimpse_pace(run, k, run->time, length) : pace_of(run, forecast, size, run->time, length, &varies);
        }
        lose_term(run, k, pace < shortest);
        ahead->pace = fmin(ahead->pace, fmax(pace, shortest));
    }
    ahead->length = length;
    ahead->smooth = run->time + length;
}

// --- steps of somebody else

// One stretch: how long it is in the end, and how long steps may be within it. *begins: a term varies that did not before.
static double
look_at_stretch(Run *run, double from, double shortest, double *length, bool *begins)
{
    const mdl_model *model = run->model;
    double least = INFINITY;
    *begins = false;
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        const mdl_forecast *forecast = &model->forecast[k];
        Outlook *outlook = &run->ahead->outlook[k];
        bool varies;
        if (forecast->relation != UINT32_MAX || forecast->place || outlook->lost || outlook->idle >= IDLE)
            continue;
        ahead_evaluate_fixed(run, forecast);
        double size = size_ahead(run, forecast), pace = pace_of(run, forecast, size, from, *length, &varies);
        while (!(pace >= *length / SAMPLES) && *length > shortest) {
            *length /= 2;
            pace = pace_of(run, forecast, size, from, *length, &varies);
            run->ahead->spent += (SAMPLES + 2) * forecast->count;
        }
        run->ahead->spent += (SAMPLES + 3) * forecast->count;
        *begins = *begins || (varies && outlook->calm);
        // Bounds that ask for short stretches time and again where nothing varies are those of what cancels.
        outlook->idle = !varies && *length < run->interval ? outlook->idle + 1 : 0;
        outlook->calm = !varies;
        least = varies ? fmin(least, fmax(pace, shortest)) : least;
    }
    return least;
}

double
ahead_push(Run *run, double shortest)
{
    Ahead *ahead = run->ahead;
    double stop = run->options->stop, span = stop - run->options->start, from = run->time, length = fmin(run->interval, span / 500);
    if (run->time >= ahead->push)
        ahead->followed = FOLLOWED;
    ahead->push = run->time < ahead->smooth ? ahead->push : INFINITY;
    if (run->time < ahead->smooth) // nothing has changed since
        return fmin(ahead->push, ahead->smooth < stop ? ahead->smooth : INFINITY);
    ahead->length = length; // of a look that there was
    for (uint32_t k = 0; k < run->model->n_forecasts; k++)
        ahead->outlook[k].idle = ahead->outlook[k].calm = 0;
    for (int i = 0; i < STRETCHES && from < stop && ahead->spent < PUSHES_MOST; i++) {
        bool begins;
        length = fmax(fmin(2 * length, fmin(0.1 * span, stop - from)), shortest);
        double pace = look_at_stretch(run, from, shortest, &length, &begins);
        if (i == 0 && isfinite(pace) && ahead->followed) {
            ahead->followed--;
            ahead->smooth = from;
            return from + fmin(pace, length);
        }
        if (begins)
            return ahead->smooth = ahead->push = from;
        from += length;
    }
    ahead->smooth = ahead->spent < PUSHES_MOST ? from : INFINITY;
    if (isinf(ahead->smooth) && from < stop)
        run_message(run, MDL_WARNING, "at time %.12g: forces over time are intricate, and where they begin to vary is looked for up to %.6g only: "
                    "one that comes and goes behind it within one step of the importer is not seen (a largest step bounds steps)", run->time, from);
    return ahead->smooth < stop ? from : INFINITY;
}
