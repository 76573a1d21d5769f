// imported_unit.c: what models call of a functional mock-up unit that they have imported.
//
// Purpose: a unit of model exchange gives rates, indicators and outputs at any time, state and input, and takes its events; one of
//          co-simulation goes on by itself from one instant to the next.
// Method: the calls of FMI in the order that its state machines allow (FMI 2.0.5, sections 3.2.3 and 4.2.4; FMI 3.0.2, sections 2.3 and 3.2.1):
//         between events a unit of model exchange is in continuous-time mode; an event is handled once for every number of it, whatever often
//         the equations of the event are evaluated. A start begins with a reset, so that it may be tried with several inputs.
// Contract: imported.h, standard.h. Complexity: that of the unit; what it knows already is not set again.
#include "runtime/model/checked.h"
#include "runtime/model/imported.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/standard_inner.h"

enum { REPEATS = 1000 };               // of newDiscreteStates at one instant

static const double NEVER = 1e60;      // no event is known ahead

static void unit_free(void *at);

bool
mdl_units_any(const mdl_objects *objects)
{
    bool any = false;
    for (size_t i = 1; i <= mdl_objects_count(objects) && !any; i++)
        any = mdl_object_at(objects, unit_free, (double)i) != NULL;
    return any;
}

bool
mdl_units_wait(const mdl_objects *objects)
{
    for (size_t i = 1; i <= mdl_objects_count(objects); i++) {
        const Unit *unit = mdl_object_at(objects, unit_free, (double)i);
        if (unit && unit->completed && unit->mode == UNIT_CONTINUOUS)
            return true;
    }
    return false;
}

void
mdl_units_accept(const mdl_objects *objects, double time)
{
    for (size_t i = 1; i <= mdl_objects_count(objects); i++) {
        Unit *unit = mdl_object_at(objects, unit_free, (double)i);
        if (!unit || !unit->completed || unit->mode != UNIT_CONTINUOUS || (unit->states && unit->time != time))
            continue;
        unit->due = time;
        memcpy(unit->due_x, unit->x, unit->states * sizeof *unit->x);
    }
}

static void
unit_free(void *at)
{
    Unit *unit = at;
    unit_unload(unit);
    unit_layout_free(unit);
    free(unit->folder);
    free(unit->name);
    free(unit->results);
    free(unit->inputs);
    free(unit->x);
    free(unit->before);
    free(unit->event_inputs);
    free(unit);
}

static Unit *
unit_of(const double *in, double *state)
{
    return standard_object(in, state, unit_free, "an imported unit is used before it has been made");
}

// False: told.
static bool
good(const double *in, double *state, Unit *unit, int status, const char *what)
{
    if (status <= 1)
        return true;
    standard_fail(in, state, "the unit '%s' could not %s (%s)%s%s", unit->name, what, status == 2 ? "discarded" : status == 3 ? "an error" : "a fatal error",
                  *unit->message ? ": " : "", unit->message);
    if (status > 2)
        unit->mode = UNIT_LOST;
    return false;
}

static bool
is_usable(const double *in, double *state, const Unit *unit)
{
    if (unit->component && unit->mode != UNIT_CREATED && unit->mode != UNIT_LOST)
        return true;
    standard_fail(in, state, "the unit '%s' %s%s%s", unit->name, unit->mode == UNIT_LOST ? "has failed before" : *unit->message ? "could not be started"
                  : "is used before it has been started", *unit->message ? ": " : "", unit->message);
    return false;
}

// --- making one: what is known of it, its folder, the name of the instance

static Unit *
make_unit(const double *in, double *state)
{
    Unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return NULL;
    const char *layout = standard_text(in, 0, state), *folder = standard_text(in, 1, state), *name = standard_text(in, 2, state);
    unit->folder = strdup(folder ? folder : "");
    unit->name = strdup(name ? name : "");
    bool fine = unit->folder && unit->name && unit_layout(unit, layout ? layout : "") && unit_load(unit);
    size_t held = unit->n_groups ? unit->group[0].count : 0;
    unit->results = calloc(unit->states + held + 3, sizeof *unit->results);
    unit->inputs = calloc(unit->input_places + 1, sizeof *unit->inputs);
    unit->x = calloc(2 * unit->states + 1, sizeof *unit->x);
    unit->before = calloc(unit->indicators + 1, sizeof *unit->before);
    unit->event_inputs = calloc(unit->input_places + 1, sizeof *unit->event_inputs);
    unit->due = NAN;
    unit->last_instant = NAN;
    if (fine && unit->results && unit->inputs && unit->x && unit->before && unit->event_inputs) {
        unit->due_x = unit->x + unit->states;
        return unit;
    }
    standard_fail(in, state, "the unit '%s': %s", unit->name ? unit->name : "", *unit->message ? unit->message : "no memory");
    unit_free(unit);
    return NULL;
}

void
mdl_unit_open(const double *in, double *out, double *state)
{
    mdl_objects *objects = standard_objects(state);
    Argument from = standard_arguments(in, 3);
    out[0] = objects ? mdl_object_find(objects, unit_free, from.at, from.n) : 0;
    if (out[0] != 0)
        return;
    Unit *unit = objects ? make_unit(in, state) : NULL;
    out[0] = unit ? mdl_object_keep(objects, unit_free, from.at, from.n, unit) : 0;
    if (out[0] == 0)
        standard_fail(in, state, "there is no memory for an imported unit");
}

void
mdl_unit_close(const double *in, double *out, double *state)
{
    mdl_standard_close(in, out, state);
}

// --- values

// Sets inputs that it does not have yet; discrete ones only where that is allowed.
MDL_CHECKED static int
set_inputs(Unit *unit, const UnitGroup *group, const double *u, bool discrete)
{
    size_t n = group ? group->n_inputs : unit->n_inputs;
    int status = 0;
    for (size_t i = 0; i < n && status <= 1; i++) {
        const UnitVariable *input = &unit->input[group ? group->input[i] : i];
        double *known = unit->inputs + input->first;
        if ((discrete || !input->discrete) && memcmp(known, u, input->count * sizeof *u)) {
            status = unit->calls->set(unit, input, u);
            memcpy(known, u, input->count * sizeof *u);
        }
        u += input->count;
    }
    return status;
}

MDL_CHECKED static int
get_group(Unit *unit, const UnitGroup *group, double *value)
{
    int status = 0;
    for (size_t i = group->first; i < group->first + group->n && status <= 1; i++) {
        status = unit->calls->get(unit, &unit->value[i], value);
        value += unit->value[i].count;
    }
    return status;
}

static void
forget(Unit *unit)
{
    for (size_t i = 0; i < unit->input_places; i++)
        unit->inputs[i] = NAN;
    for (size_t i = 0; i < unit->states; i++)
        unit->x[i] = NAN;
}

// Repeats newDiscreteStates until nothing changes any more, and takes what came of it: states, the next instant, held values, whether it ends.
static bool
settle(const double *in, double *state, Unit *unit)
{
    UnitEvent event = {.again = unit->exchange};
    double next = NEVER;
    bool ends = false;
    for (int k = 0; event.again; k++) {
        if (k == REPEATS) {
            standard_fail(in, state, "the unit '%s' asks for ever more discrete states at time %g", unit->name, unit->time);
            return false;
        }
        if (!good(in, state, unit, unit->calls->update(unit, &event), "take an event"))
            return false;
        ends = ends || event.terminate;
        next = event.has_next ? event.next : NEVER;
        if (ends)
            break;
    }
    double *held = unit->results + unit->states + 1;
    if (unit->exchange && unit->states) {
        if (!good(in, state, unit, unit_get(unit, UNIT_GET_STATES, unit->results), "tell its states"))
            return false;
        memcpy(unit->x, unit->results, unit->states * sizeof *unit->x);
    }
    unit->results[unit->states] = next;
    held[unit->group[0].count] = ends || unit->ends;
    unit->asks = false;
    return good(in, state, unit, get_group(unit, &unit->group[0], held), "tell its values");
}

// --- the start: time, tolerance, start values, their number, inputs, their number; results

static bool
start(const double *in, double *state, Unit *unit)
{
    double time = standard_scalar(in, 1), tolerance = standard_scalar(in, 2);
    Argument starts = standard_argument(in, 3), inputs = standard_argument(in, 5);
    const UnitVersion *calls = unit->calls;
    if (unit->component && unit->mode != UNIT_CREATED && !good(in, state, unit, unit_do(unit, UNIT_RESET), "be reset"))
        return false;
    *unit->message = 0;
    if (!unit->component && !calls->create(unit)) {
        standard_fail(in, state, "the unit '%s' could not be made%s%s", unit->name, *unit->message ? ": " : "", *unit->message ? unit->message : "");
        return false;
    }
    unit->mode = UNIT_CREATED;
    const double *value = starts.at;
    for (size_t i = 0; i < unit->n_starts; value += unit->start[i].count, i++)
        if (!good(in, state, unit, calls->set(unit, &unit->start[i], value), "take a start value or parameter"))
            return false;
    if (!good(in, state, unit, calls->enter_initialization(unit, time, tolerance), "begin its initialization"))
        return false;
    unit->mode = UNIT_INITIALIZATION;
    forget(unit);
    if (!good(in, state, unit, set_inputs(unit, NULL, inputs.at, true), "take an input")
        || !good(in, state, unit, unit_do(unit, UNIT_EXIT_INITIALIZATION), "be initialized"))
        return false;
    unit->mode = unit->exchange ? UNIT_EVENT : UNIT_STEPPING;
    unit->time = unit->instant = time;
    unit->last_instant = NAN;
    unit->asks = unit->ends = false;
    unit->due = NAN;
    return settle(in, state, unit);
}

static void
give_results(const Unit *unit, double *out)
{
    memcpy(out, unit->results, (unit->states + unit->group[0].count + 2) * sizeof *out);
}

void
mdl_unit_start(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    if (unit && start(in, state, unit))
        give_results(unit, standard_result(in, out, 7));
}

// --- model exchange

static bool
place(const double *in, double *state, Unit *unit, double time, const double *x)
{
    if (unit->time != time) {
        if (!good(in, state, unit, unit_set_time(unit, time), "take the time"))
            return false;
        unit->time = time;
    }
    if (unit->states && memcmp(unit->x, x, unit->states * sizeof *unit->x)) {
        if (!good(in, state, unit, unit_set_states(unit, x), "take its states"))
            return false;
        memcpy(unit->x, x, unit->states * sizeof *unit->x);
    }
    return true;
}

// The unit is told of the step that was accepted last once nobody asks for values within it any more.
static bool
complete(const double *in, double *state, Unit *unit)
{
    bool asks = false, ends = false;
    double due = unit->due;
    if (isnan(due))
        return true;
    unit->due = NAN;
    if (!place(in, state, unit, due, unit->due_x) || !good(in, state, unit, unit->calls->complete(unit, &asks, &ends), "take a step"))
        return false;
    if (!unit->asks && (asks || ends))
        unit->asked = due;
    unit->asks = unit->asks || asks || ends;
    unit->ends = unit->ends || ends;
    return true;
}

// To a time between events, with the states there.
static bool
move(const double *in, double *state, Unit *unit, double time, Argument x)
{
    if (unit->mode == UNIT_EVENT) {
        if (!good(in, state, unit, unit_do(unit, UNIT_ENTER_CONTINUOUS), "go on after an event"))
            return false;
        unit->mode = UNIT_CONTINUOUS;
        unit->time = NAN;
    }
    return (!(time > unit->due) || complete(in, state, unit)) && place(in, state, unit, time, x.at);
}

// An event that the unit has asked for at the end of a step happens behind it.
static double
asks_at(const Unit *unit, double time)
{
    return unit->asks && time > unit->asked ? 1 : -1;
}

// Group (0: rates, 1: indicators, which are those before the event with that number even after it has been handled, 2: the first group of values), time, states, their number, inputs of the group, their number, number of
// the latest event, so that the call is made anew after it; values, their number.
void
mdl_unit_values(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    double *value = standard_result(in, out, 8);
    if (!unit || !is_usable(in, state, unit))
        return;
    size_t group = (size_t)standard_scalar(in, 1);
    const UnitGroup *asked = group >= 2 && group - 1 < unit->n_groups ? &unit->group[group - 1] : NULL;
    Argument x = standard_argument(in, 3), u = standard_argument(in, 5);
    if (group == 1 && standard_scalar(in, 7) == unit->last_instant && standard_scalar(in, 2) == unit->instant) {
        memcpy(value, unit->before, (unit->indicators + unit->completed) * sizeof *value);
        return;
    }
    if (!move(in, state, unit, standard_scalar(in, 2), x) || !good(in, state, unit, set_inputs(unit, asked, u.at, false), "take an input"))
        return;
    int status = group == 0 ? unit_get(unit, UNIT_GET_RATES, value) : group == 1 ? unit_get(unit, UNIT_GET_INDICATORS, value) : asked ? get_group(unit, asked, value) : 3;
    if (group == 1 && unit->completed)
        value[unit->indicators] = asks_at(unit, unit->time);
    (void)good(in, state, unit, status, group == 0 ? "compute its rates" : group == 1 ? "compute its event indicators" : "compute its outputs");
}

// --- directional derivatives

// Real inputs of the group, or all of them, that may move between events, behind the states; how many.
static size_t
list_knowns(const Unit *unit, const UnitGroup *group, const double *du, uint32_t *known, double *seed, size_t *seeds)
{
    size_t n = 0, count = group ? group->n_inputs : unit->n_inputs;
    for (; n < unit->n_states; n++)
        known[n] = unit->state[n].reference;
    for (size_t i = 0; i < count; i++) {
        const UnitVariable *input = &unit->input[group ? group->input[i] : i];
        if (!input->discrete) {
            known[n++] = input->reference;
            memcpy(seed + *seeds, du, input->count * sizeof *seed);
            *seeds += input->count;
        }
        du += input->count;
    }
    return n;
}

static int
look(Unit *unit, const UnitGroup *group, double *value)
{
    return group ? get_group(unit, group, value) : unit_get(unit, UNIT_GET_RATES, value);
}

// Time moves on alone: a parabola through three points ahead, since a unit need not go back. What it adds joins `value`, of n elements.
static bool
move_time(const double *in, double *state, Unit *unit, const UnitGroup *group, double time, Argument x, double rate, double *value, size_t n)
{
    double h = 6e-6 * fmax(1, fabs(time)), *at = malloc((3 * n + 1) * sizeof *at); // about the third root of the precision
    bool fine = at != NULL;
    for (size_t k = 0; k < 3 && fine; k++) // the present point last, which the unit is left at
        fine = move(in, state, unit, time + (double)(2 - k) * h, x) && good(in, state, unit, look(unit, group, at + (2 - k) * n), "compute its values");
    for (size_t i = 0; i < n && fine; i++)
        value[i] += rate * (-3 * at[i] + 4 * at[n + i] - at[2 * n + i]) / (2 * h);
    if (!at)
        standard_fail(in, state, "there is no memory for a derivative of the unit '%s'", unit->name);
    free(at);
    return fine;
}

// By states and inputs, at the point where the unit is.
static bool
differentiate(const double *in, double *state, Unit *unit, const UnitGroup *group, Argument dx, Argument du, double *value, size_t n)
{
    size_t unknowns = group ? group->n : unit->n_rates, seeds = dx.n;
    uint32_t *unknown = malloc((unknowns + unit->n_states + unit->n_inputs + 1) * sizeof *unknown);
    double *seed = malloc((dx.n + du.n + 1) * sizeof *seed);
    bool fine = unknown && seed;
    if (fine) {
        memcpy(seed, dx.at, dx.n * sizeof *seed);
        for (size_t i = 0; i < unknowns; i++)
            unknown[i] = group ? unit->value[group->first + i].reference : unit->rate[i].reference;
        size_t knowns = list_knowns(unit, group, du.at, unknown + unknowns, seed, &seeds);
        UnitDirection direction = {unknown, unknown + unknowns, unknowns, knowns, n, seeds, seed, value};
        fine = good(in, state, unit, unit->calls->differentiate(unit, &direction), "differentiate its values");
    } else {
        standard_fail(in, state, "there is no memory for a derivative of the unit '%s'", unit->name);
    }
    free(unknown);
    free(seed);
    return fine;
}

// The derivative of mdl_unit_values: what that has, then the derivatives of time, of the states, their number, of the inputs, their number.
void
mdl_unit_derivative(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    double *value = standard_result(in, out, 13);
    if (!unit || !is_usable(in, state, unit))
        return;
    size_t number = (size_t)standard_scalar(in, 1);
    const UnitGroup *group = number >= 2 && number - 1 < unit->n_groups ? &unit->group[number - 1] : NULL;
    double time = standard_scalar(in, 2), rate = standard_scalar(in, 8);
    Argument x = standard_argument(in, 3), u = standard_argument(in, 5), dx = standard_argument(in, 9), du = standard_argument(in, 11);
    size_t n = group ? group->count : unit->states;
    if (!move(in, state, unit, time, x) || !good(in, state, unit, set_inputs(unit, group, u.at, false), "take an input"))
        return;
    if (differentiate(in, state, unit, group, dx, du, value, n) && rate != 0)
        (void)move_time(in, state, unit, group, time, x, rate, value, n);
}

// --- events

static bool
agrees(const Unit *unit, const double *z, const double *above)
{
    bool good = true;
    for (size_t i = 0; i < unit->indicators; i++)
        good = good && (z[i] > 0) == (above[i] > 0);
    return good;
}

// An event is located where an indicator is zero to rounding, and the unit has to see it on its other side: the point moves on, along the rates, by as
// little as does. A unit that sees it nowhere near is left where it was.
static bool
pass_over(const double *in, double *state, Unit *unit, double time, Argument x, const double *above)
{
    size_t n = unit->states;
    double *z = malloc((unit->indicators + 3 * n + 1) * sizeof *z), *rate = z + unit->indicators, *origin = rate + n, *moved = origin + n;
    if (!z) {
        standard_fail(in, state, "there is no memory for an event of the unit '%s'", unit->name);
        return false;
    }
    memcpy(origin, x.at, n * sizeof *origin);
    double length = DBL_EPSILON * fmax(fabs(time), 1e-3), most = 1e10 * length;
    bool fine = good(in, state, unit, unit_get(unit, UNIT_GET_INDICATORS, z), "compute its event indicators");
    bool seen = fine && agrees(unit, z, above);
    memcpy(unit->before, z, unit->indicators * sizeof *z);
    unit->before[unit->indicators] = asks_at(unit, time);
    fine = fine && (seen || !n || good(in, state, unit, unit_get(unit, UNIT_GET_RATES, rate), "compute its rates"));
    for (; fine && !seen && length <= most; length *= 2) {
        for (size_t i = 0; i < n; i++)
            moved[i] = origin[i] + length * rate[i];
        fine = move(in, state, unit, time + length, (Argument){moved, n})
               && good(in, state, unit, unit_get(unit, UNIT_GET_INDICATORS, z), "compute its event indicators");
        seen = fine && agrees(unit, z, above);
    }
    if (fine && !seen)
        fine = move(in, state, unit, time, (Argument){origin, n});
    free(z);
    return fine;
}

static bool
handle(const double *in, double *state, Unit *unit)
{
    double time = standard_scalar(in, 1), instant = standard_scalar(in, 2);
    Argument x = standard_argument(in, 3), u = standard_argument(in, 5), above = standard_argument(in, 7);
    bool known = unit->last_instant == instant && unit->instant == time;
    if (known && !memcmp(unit->event_inputs, u.at, unit->input_places * sizeof *u.at))
        return true;
    // An event that is handled again, with other inputs, goes on from where it is, not from the states before it.
    if (known && unit->mode == UNIT_CONTINUOUS && !move(in, state, unit, time, (Argument){unit->results, unit->states}))
        return false;
    if (!known && (!complete(in, state, unit) || !move(in, state, unit, time, x) || !pass_over(in, state, unit, time, x, above.at)))
        return false;
    memcpy(unit->event_inputs, u.at, unit->input_places * sizeof *u.at);
    if (unit->mode == UNIT_CONTINUOUS && !good(in, state, unit, unit_do(unit, UNIT_ENTER_EVENT), "enter an event"))
        return false;
    unit->mode = UNIT_EVENT;
    if (!good(in, state, unit, set_inputs(unit, NULL, u.at, true), "take an input") || !settle(in, state, unit))
        return false;
    unit->last_instant = instant;
    unit->instant = time;
    return true;
}

// Time, number of the event, states, their number, inputs, their number, which indicators are positive behind it, their number; results.
void
mdl_unit_event(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    if (unit && is_usable(in, state, unit) && handle(in, state, unit))
        give_results(unit, standard_result(in, out, 9));
}

// --- co-simulation

// Time; results.
void
mdl_unit_step(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    double time = standard_scalar(in, 1);
    bool ends = false;
    if (!unit || !is_usable(in, state, unit))
        return;
    if (time > unit->time) {
        if (!good(in, state, unit, unit->calls->step(unit, unit->time, time - unit->time, &ends), "make a step"))
            return;
        unit->time = time;
        if (!settle(in, state, unit))
            return;
        unit->results[unit->states + 1 + unit->group[0].count] = ends;
    }
    give_results(unit, standard_result(in, out, 2));
}

// Time, inputs, their number, what has to be known before: for the step that begins now. Gives the time.
void
mdl_unit_supply(const double *in, double *out, double *state)
{
    Unit *unit = unit_of(in, state);
    out[0] = standard_scalar(in, 1);
    if (unit && is_usable(in, state, unit))
        (void)good(in, state, unit, set_inputs(unit, NULL, standard_argument(in, 2).at, true), "take an input");
}
