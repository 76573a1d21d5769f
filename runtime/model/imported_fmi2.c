// imported_fmi2.c: the calls of a unit of FMI 2.0.5.
//
// Purpose: one side of the table UnitVersion. Method: functions are found by name; their types are those of the standard (sections 2.1, 3.2
// and 4.2). Contract: imported.h. Complexity: that of the unit.
#include "runtime/model/checked.h"
#include "runtime/model/imported.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INSTANTIATE = UNIT_CALLS, SETUP_EXPERIMENT, ENTER_INITIALIZATION, SET_REAL, SET_INTEGER, SET_BOOLEAN, GET_REAL, GET_INTEGER, GET_BOOLEAN, NEW_DISCRETE,
    COMPLETE, DO_STEP, GET_BOOLEAN_STATUS, DIFFERENTIATE, CALLS
};

static const char *const names[] = {
    UNIT_COMMON_NAMES("fmi2", "Derivatives"), [INSTANTIATE] = "fmi2Instantiate", [SETUP_EXPERIMENT] = "fmi2SetupExperiment",
    [ENTER_INITIALIZATION] = "fmi2EnterInitializationMode", [SET_REAL] = "fmi2SetReal", [SET_INTEGER] = "fmi2SetInteger", [SET_BOOLEAN] = "fmi2SetBoolean",
    [GET_REAL] = "fmi2GetReal", [GET_INTEGER] = "fmi2GetInteger", [GET_BOOLEAN] = "fmi2GetBoolean", [NEW_DISCRETE] = "fmi2NewDiscreteStates",
    [COMPLETE] = "fmi2CompletedIntegratorStep", [DO_STEP] = "fmi2DoStep", [GET_BOOLEAN_STATUS] = "fmi2GetBooleanStatus",
    [DIFFERENTIATE] = "fmi2GetDirectionalDerivative", [CALLS] = NULL};
static const UnitNeed needs[GET_BOOLEAN_STATUS] = {
    UNIT_COMMON_NEEDS, [NEW_DISCRETE] = UNIT_FOR_EXCHANGE, [COMPLETE] = UNIT_FOR_EXCHANGE, [DO_STEP] = UNIT_FOR_STEPS};

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
        unit->component = UNIT_CALL(unit, INSTANTIATE, void *, const char *, int, const char *, const char *, const Callbacks *, int, int)(
            unit->name, unit->exchange ? 0 : 1, unit->token, place, callbacks, 0, 0);
    } else
        free(callbacks);
    free(place);
    return unit->component != NULL;
}

static int
enter_initialization(Unit *unit, double time, double tolerance)
{
    int status = UNIT_CALL(unit, SETUP_EXPERIMENT, int, void *, int, double, double, int, double)(unit->component, tolerance > 0, tolerance, time, 0, 0);
    return status > 1 ? status : UNIT_CALL(unit, ENTER_INITIALIZATION, int, void *)(unit->component);
}

// Values that are no Reals go one by one.
static int
set(Unit *unit, const UnitVariable *variable, const double *value)
{
    unsigned reference = variable->reference;
    int number = (int)lrint(value[0]);
    if (variable->type == UNIT_F64)
        return UNIT_CALL(unit, SET_REAL, int, void *, const unsigned *, size_t, const double *)(unit->component, &reference, 1, value);
    return UNIT_CALL(unit, variable->type == UNIT_BOOL ? SET_BOOLEAN : SET_INTEGER, int, void *, const unsigned *, size_t, const int *)(unit->component, &reference,
                                                                                                                             1, &number);
}

MDL_CHECKED static int
get(Unit *unit, const UnitVariable *variable, double *value)
{
    unsigned reference = variable->reference;
    int number = 0;
    if (variable->type == UNIT_F64)
        return UNIT_CALL(unit, GET_REAL, int, void *, const unsigned *, size_t, double *)(unit->component, &reference, 1, value);
    int status = UNIT_CALL(unit, variable->type == UNIT_BOOL ? GET_BOOLEAN : GET_INTEGER, int, void *, const unsigned *, size_t, int *)(unit->component, &reference,
                                                                                                                              1, &number);
    *value = number;
    return status;
}

MDL_CHECKED static int
update(Unit *unit, UnitEvent *event)
{
    EventInfo info = {0};
    int status = UNIT_CALL(unit, NEW_DISCRETE, int, void *, EventInfo *)(unit->component, &info);
    *event = (UnitEvent){.again = info.again, .terminate = info.terminate, .states_changed = info.states_changed, .has_next = info.has_next,
                         .next = info.next};
    return status;
}

MDL_CHECKED static int
complete(Unit *unit, bool *event, bool *terminate)
{
    int asks = 0, ends = 0, status = UNIT_CALL(unit, COMPLETE, int, void *, int, int *, int *)(unit->component, 1, &asks, &ends);
    *event = asks;
    *terminate = ends;
    return status;
}

MDL_CHECKED static int
step(Unit *unit, double time, double length, bool *terminate)
{
    enum { TERMINATED = 3, DISCARDED = 2 };
    int ended = 0, status = UNIT_CALL(unit, DO_STEP, int, void *, double, double, int)(unit->component, time, length, 1);
    if (status == DISCARDED && unit->entry[GET_BOOLEAN_STATUS]
        && UNIT_CALL(unit, GET_BOOLEAN_STATUS, int, void *, int, int *)(unit->component, TERMINATED, &ended) <= 1 && ended)
        status = 0;
    *terminate = ended;
    return status;
}

static int
differentiate(Unit *unit, const UnitDirection *d)
{
    return unit->entry[DIFFERENTIATE]
               ? UNIT_CALL(unit, DIFFERENTIATE, int, void *, const unsigned *, size_t, const unsigned *, size_t, const double *, double *)(
                     unit->component, d->unknown, d->n_unknown, d->known, d->n_known, d->seed, d->answer)
               : 3;
}

const UnitVersion unit_fmi2 = {
    .names = names, .needs = needs, .optional = GET_BOOLEAN_STATUS, .create = create, .enter_initialization = enter_initialization, .set = set, .get = get, .update = update,
    .complete = complete, .step = step, .differentiate = differentiate};
