// imported_fmi2.c: the calls of a unit of FMI 2.0.5.
//
// Purpose: one side of the table UnitVersion. Method: functions are found by name; their types are those of the standard (sections 2.1, 3.2
// and 4.2). Contract: imported.h. Complexity: that of the unit.
#include "runtime/model/imported.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INSTANTIATE, FREE_INSTANCE, RESET, SETUP_EXPERIMENT, ENTER_INITIALIZATION, EXIT_INITIALIZATION, SET_REAL, SET_INTEGER, SET_BOOLEAN, GET_REAL,
    GET_INTEGER, GET_BOOLEAN, TERMINATE, SET_TIME, SET_STATES, GET_STATES, GET_RATES, GET_INDICATORS, ENTER_EVENT, ENTER_CONTINUOUS, NEW_DISCRETE, COMPLETE, DO_STEP,
    GET_BOOLEAN_STATUS
};

static const char *const names[] = {
    "fmi2Instantiate", "fmi2FreeInstance", "fmi2Reset", "fmi2SetupExperiment", "fmi2EnterInitializationMode", "fmi2ExitInitializationMode",
    "fmi2SetReal", "fmi2SetInteger", "fmi2SetBoolean", "fmi2GetReal", "fmi2GetInteger", "fmi2GetBoolean", "fmi2Terminate", "fmi2SetTime",
    "fmi2SetContinuousStates", "fmi2GetContinuousStates", "fmi2GetDerivatives", "fmi2GetEventIndicators", "fmi2EnterEventMode",
    "fmi2EnterContinuousTimeMode", "fmi2NewDiscreteStates", "fmi2CompletedIntegratorStep", "fmi2DoStep", "fmi2GetBooleanStatus", NULL};

typedef struct Callbacks {
    void (*logger)(void *environment, const char *name, int status, const char *category, const char *format, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *environment, int status);
    void *environment;
} Callbacks;

typedef struct EventInfo {
    int again, terminate, nominals_changed, states_changed, has_next;
    double next;
} EventInfo;

// The functions of the standard, by their places in the table.
#define CALL(unit, place, result, ...) ((result (*)(__VA_ARGS__))(uintptr_t)(unit)->entry[place])

__attribute__((format(printf, 5, 6))) static void
take_message(void *environment, const char *name, int status, const char *category, const char *format, ...)
{
    char text[600];
    va_list values;
    (void)name, (void)status;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    unit_says(environment, category, text);
}

static bool
create(Unit *unit)
{
    // The unit keeps the address.
    Callbacks *callbacks = malloc(sizeof *callbacks);
    char *place = malloc(4200);
    if (callbacks && place) {
        *callbacks = (Callbacks){.logger = take_message, .allocate = calloc, .release = free, .environment = unit};
        snprintf(place, 4200, "file://%s/resources", unit->folder);
        unit->callbacks = callbacks;
        unit->component = CALL(unit, INSTANTIATE, void *, const char *, int, const char *, const char *, const Callbacks *, int, int)(
            unit->name, unit->exchange ? 0 : 1, unit->token, place, callbacks, 0, 0);
    } else
        free(callbacks);
    free(place);
    return unit->component != NULL;
}

static void
destroy(Unit *unit)
{
    if (unit->mode == UNIT_EVENT || unit->mode == UNIT_CONTINUOUS || unit->mode == UNIT_STEPPING)
        (void)CALL(unit, TERMINATE, int, void *)(unit->component);
    CALL(unit, FREE_INSTANCE, void, void *)(unit->component);
    unit->component = NULL;
}

static int
reset(Unit *unit)
{
    return CALL(unit, RESET, int, void *)(unit->component);
}

static int
enter_initialization(Unit *unit, double time, double tolerance)
{
    int status = CALL(unit, SETUP_EXPERIMENT, int, void *, int, double, double, int, double)(unit->component, tolerance > 0, tolerance, time, 0, 0);
    return status > 1 ? status : CALL(unit, ENTER_INITIALIZATION, int, void *)(unit->component);
}

static int
exit_initialization(Unit *unit)
{
    return CALL(unit, EXIT_INITIALIZATION, int, void *)(unit->component);
}

// Values that are no Reals go one by one.
static int
set(Unit *unit, const UnitVariable *variable, const double *value)
{
    unsigned reference = variable->reference;
    int number = (int)lrint(value[0]);
    if (variable->type == UNIT_F64)
        return CALL(unit, SET_REAL, int, void *, const unsigned *, size_t, const double *)(unit->component, &reference, 1, value);
    return CALL(unit, variable->type == UNIT_BOOL ? SET_BOOLEAN : SET_INTEGER, int, void *, const unsigned *, size_t, const int *)(unit->component, &reference,
                                                                                                                             1, &number);
}

static int
get(Unit *unit, const UnitVariable *variable, double *value)
{
    unsigned reference = variable->reference;
    int number = 0;
    if (variable->type == UNIT_F64)
        return CALL(unit, GET_REAL, int, void *, const unsigned *, size_t, double *)(unit->component, &reference, 1, value);
    int status = CALL(unit, variable->type == UNIT_BOOL ? GET_BOOLEAN : GET_INTEGER, int, void *, const unsigned *, size_t, int *)(unit->component, &reference,
                                                                                                                              1, &number);
    *value = number;
    return status;
}

static int
set_time(Unit *unit, double time)
{
    return CALL(unit, SET_TIME, int, void *, double)(unit->component, time);
}

static int
set_states(Unit *unit, const double *x)
{
    return CALL(unit, SET_STATES, int, void *, const double *, size_t)(unit->component, x, unit->states);
}

static int
get_states(Unit *unit, double *x)
{
    return CALL(unit, GET_STATES, int, void *, double *, size_t)(unit->component, x, unit->states);
}

static int
rates(Unit *unit, double *rate)
{
    return CALL(unit, GET_RATES, int, void *, double *, size_t)(unit->component, rate, unit->states);
}

static int
indicators(Unit *unit, double *z)
{
    return CALL(unit, GET_INDICATORS, int, void *, double *, size_t)(unit->component, z, unit->indicators);
}

static int
enter_event(Unit *unit)
{
    return CALL(unit, ENTER_EVENT, int, void *)(unit->component);
}

static int
enter_continuous(Unit *unit)
{
    return CALL(unit, ENTER_CONTINUOUS, int, void *)(unit->component);
}

static int
update(Unit *unit, UnitEvent *event)
{
    EventInfo info = {0};
    int status = CALL(unit, NEW_DISCRETE, int, void *, EventInfo *)(unit->component, &info);
    *event = (UnitEvent){.again = info.again, .terminate = info.terminate, .states_changed = info.states_changed, .has_next = info.has_next,
                         .next = info.next};
    return status;
}

static int
complete(Unit *unit, bool *event, bool *terminate)
{
    int asks = 0, ends = 0, status = CALL(unit, COMPLETE, int, void *, int, int *, int *)(unit->component, 1, &asks, &ends);
    *event = asks;
    *terminate = ends;
    return status;
}

static int
step(Unit *unit, double time, double length, bool *terminate)
{
    enum { TERMINATED = 3, DISCARDED = 2 };
    int ended = 0, status = CALL(unit, DO_STEP, int, void *, double, double, int)(unit->component, time, length, 1);
    if (status == DISCARDED && unit->entry[GET_BOOLEAN_STATUS]
        && CALL(unit, GET_BOOLEAN_STATUS, int, void *, int, int *)(unit->component, TERMINATED, &ended) <= 1 && ended)
        status = 0;
    *terminate = ended;
    return status;
}

const UnitVersion unit_fmi2 = {
    .names = names, .optional = SET_TIME, .exchange = {SET_TIME, DO_STEP}, .stepping = DO_STEP, .create = create, .destroy = destroy, .reset = reset, .enter_initialization = enter_initialization,
    .exit_initialization = exit_initialization, .set = set, .get = get, .set_time = set_time, .set_states = set_states, .states = get_states,
    .rates = rates, .indicators = indicators, .enter_event = enter_event, .enter_continuous = enter_continuous, .update = update, .complete = complete, .step = step};
