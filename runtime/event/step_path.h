// step_path.h: where the states go within the last step. Private to step_path.c, gentle.c, course.c and drift.c.
//
// Places within a step are from -1, where it begins, to 1.
#ifndef MDLC_RUNTIME_EVENT_STEP_PATH_H
#define MDLC_RUNTIME_EVENT_STEP_PATH_H

#include "runtime/event/event.h"
#include "runtime/event/jet.h"

enum { PATH_NODES = 9 };

struct StepPath {
    uint32_t *state;      // those that courses and terms read, ascending
    uint32_t states;
    uint32_t *slot;       // per state of the model: its number in `state`
    double *begin, *rate; // where the step began: run->y and run->yp, `unknowns` each
    uint32_t unknowns;
    double *within;       // unknowns and rates at a place (path_load)
    double start;         // and when
    bool reached;         // `reach` is of the last step,
    bool taken;           // and so is `coefficient`
    bool cubic;           // somebody else integrates (path_follow)
    double end;           // of the step,
    const double *y, *yp; // and unknowns and rates there
    double middle, half;  // of the step, in time
    Span *reach;          // per state that is read: where it is during the step
    uint32_t nodes;       // of a polynomial, PATH_NODES at the most
    double node[PATH_NODES];                // places
    double inverse[PATH_NODES][PATH_NODES]; // from values at the nodes to coefficients
    double *sample;       // PATH_NODES per state that is read: values at the nodes,
    double *coefficient;  // and coefficients of the polynomial in -1 .. 1
    double *kept;         // v
    Jet *reg;             // of one forecast
    Span *value;          // the same of values alone
};

// Bounds of where the states get to, from both ends of the step: the hull of the cubic through them (its control points in the form of Bernstein), and a
// quarter of that beyond.
void path_reach(Run *run);
// By the same bounds, and those of their slopes: the forecast rises, or falls, all through the step.
bool path_is_monotonic(Run *run, const mdl_forecast *forecast);
// The polynomials of the last step. v is used.
MDL_CHECKED int path_take(Run *run);
// A forecast in these polynomials (PATH_NODES coefficients per state that is read) over [from, to]; and its values where states are within `reach`, a Span per
// state that is read, and time within a stretch.
Jet path_over(Run *run, const mdl_forecast *forecast, const double *coefficient, double from, double to);
Span path_values(Run *run, const mdl_forecast *forecast, const Span *reach, Span time);
// Of the values that path_values() has just found over the step (gentle.c): the forecast cannot come and go within it.
bool path_is_gentle(const Run *run, const mdl_forecast *forecast);
// All unknowns and rates at a place of the last step, into v.
MDL_CHECKED int path_load(Run *run, double place);
// Where somebody else integrates, of the way to the point in v. course.c: root functions get the other sign where relations change and change back on it;
// true: one has. drift.c: for how long nothing comes and goes; negative behind the place where something does.
bool course_glimpse(Run *run, double *value);
double drift_glimpse(Run *run);
double path_time(const StepPath *path, double place);

#endif
