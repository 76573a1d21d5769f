// imported_fmi3.c: the calls of a unit of FMI 3.0.2.
//
// Purpose: one side of the table UnitVersion. Method: functions are found by name; their types are those of the standard (sections 2.2 to
// 4.2). Contract: imported.h. Complexity: that of the unit.
#include "runtime/model/imported.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    FREE_INSTANCE, RESET, ENTER_INITIALIZATION, EXIT_INITIALIZATION, TERMINATE, INSTANTIATE_EXCHANGE, INSTANTIATE_STEPS, SET_TIME, SET_STATES, GET_STATES,
    GET_RATES, GET_INDICATORS, ENTER_EVENT, ENTER_CONTINUOUS, UPDATE, COMPLETE, DO_STEP, SET_F64, SET_F32, SET_I8, SET_U8, SET_I16, SET_U16, SET_I32, SET_U32, SET_I64,
    SET_U64, SET_BOOLEAN, GET_F64, GET_F32, GET_I8, GET_U8, GET_I16, GET_U16, GET_I32, GET_U32, GET_I64, GET_U64, GET_BOOLEAN
};

static const char *const names[] = {
    "fmi3FreeInstance", "fmi3Reset", "fmi3EnterInitializationMode", "fmi3ExitInitializationMode", "fmi3Terminate", "fmi3InstantiateModelExchange",
    "fmi3InstantiateCoSimulation", "fmi3SetTime", "fmi3SetContinuousStates", "fmi3GetContinuousStates", "fmi3GetContinuousStateDerivatives",
    "fmi3GetEventIndicators", "fmi3EnterEventMode", "fmi3EnterContinuousTimeMode", "fmi3UpdateDiscreteStates", "fmi3CompletedIntegratorStep", "fmi3DoStep", "fmi3SetFloat64",
    "fmi3SetFloat32", "fmi3SetInt8", "fmi3SetUInt8", "fmi3SetInt16", "fmi3SetUInt16", "fmi3SetInt32", "fmi3SetUInt32", "fmi3SetInt64", "fmi3SetUInt64",
    "fmi3SetBoolean", "fmi3GetFloat64", "fmi3GetFloat32", "fmi3GetInt8", "fmi3GetUInt8", "fmi3GetInt16", "fmi3GetUInt16", "fmi3GetInt32", "fmi3GetUInt32",
    "fmi3GetInt64", "fmi3GetUInt64", "fmi3GetBoolean", NULL};

// The functions of the standard, by their places in the table.
#define CALL(unit, place, result, ...) ((result (*)(__VA_ARGS__))(uintptr_t)(unit)->entry[place])

static void
take_message(void *environment, int status, const char *category, const char *text)
{
    (void)status;
    unit_says(environment, category, text);
}

static bool
create(Unit *unit)
{
    char *place = malloc(4200);
    if (!place || !unit->entry[unit->exchange ? INSTANTIATE_EXCHANGE : INSTANTIATE_STEPS]) {
        free(place);
        return false;
    }
    snprintf(place, 4200, "%s/resources/", unit->folder);
    if (unit->exchange)
        unit->component = CALL(unit, INSTANTIATE_EXCHANGE, void *, const char *, const char *, const char *, bool, bool, void *, void *)(
            unit->name, unit->token, place, false, false, unit, (void *)(uintptr_t)take_message);
    else
        unit->component = CALL(unit, INSTANTIATE_STEPS, void *, const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                               void *, void *, void *)(unit->name, unit->token, place, false, false, false, false, NULL, 0, unit,
                                                       (void *)(uintptr_t)take_message, NULL);
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
    return CALL(unit, ENTER_INITIALIZATION, int, void *, bool, double, double, bool, double)(unit->component, tolerance > 0, tolerance, time, false, 0);
}

static int
exit_initialization(Unit *unit)
{
    return CALL(unit, EXIT_INITIALIZATION, int, void *)(unit->component);
}

// Sizes in bytes.
static const size_t sizes[UNIT_TYPES] = {8, 4, 1, 1, 2, 2, 4, 4, 8, 8, sizeof(bool)};

static void
store(UnitType type, void *at, size_t i, double value)
{
    switch (type) {
    case UNIT_F32: ((float *)at)[i] = (float)value; break;
    case UNIT_I8: ((int8_t *)at)[i] = (int8_t)lrint(value); break;
    case UNIT_U8: ((uint8_t *)at)[i] = (uint8_t)lrint(value); break;
    case UNIT_I16: ((int16_t *)at)[i] = (int16_t)lrint(value); break;
    case UNIT_U16: ((uint16_t *)at)[i] = (uint16_t)lrint(value); break;
    case UNIT_I32: ((int32_t *)at)[i] = (int32_t)lrint(value); break;
    case UNIT_U32: ((uint32_t *)at)[i] = (uint32_t)lrint(value); break;
    case UNIT_I64: ((int64_t *)at)[i] = llrint(value); break;
    case UNIT_U64: ((uint64_t *)at)[i] = (uint64_t)llrint(value); break;
    case UNIT_BOOL: ((bool *)at)[i] = value != 0; break;
    default: ((double *)at)[i] = value;
    }
}

static double
load(UnitType type, const void *at, size_t i)
{
    switch (type) {
    case UNIT_F32: return ((const float *)at)[i];
    case UNIT_I8: return ((const int8_t *)at)[i];
    case UNIT_U8: return ((const uint8_t *)at)[i];
    case UNIT_I16: return ((const int16_t *)at)[i];
    case UNIT_U16: return ((const uint16_t *)at)[i];
    case UNIT_I32: return ((const int32_t *)at)[i];
    case UNIT_U32: return ((const uint32_t *)at)[i];
    case UNIT_I64: return (double)((const int64_t *)at)[i];
    case UNIT_U64: return (double)((const uint64_t *)at)[i];
    case UNIT_BOOL: return ((const bool *)at)[i];
    default: return ((const double *)at)[i];
    }
}

static int
set(Unit *unit, const UnitVariable *variable, const double *value)
{
    void *values = malloc(variable->count * sizes[variable->type] + 1);
    if (!values)
        return 3;
    for (size_t i = 0; i < variable->count; i++)
        store(variable->type, values, i, value[i]);
    int status = unit->entry[SET_F64 + (int)variable->type]
                     ? CALL(unit, SET_F64 + (int)variable->type, int, void *, const uint32_t *, size_t, const void *, size_t)(
                           unit->component, &variable->reference, 1, values, variable->count)
                     : 3;
    free(values);
    return status;
}

static int
get(Unit *unit, const UnitVariable *variable, double *value)
{
    void *values = calloc(variable->count + 1, sizes[variable->type]);
    if (!values)
        return 3;
    int status = unit->entry[GET_F64 + (int)variable->type]
                     ? CALL(unit, GET_F64 + (int)variable->type, int, void *, const uint32_t *, size_t, void *, size_t)(
                           unit->component, &variable->reference, 1, values, variable->count)
                     : 3;
    for (size_t i = 0; i < variable->count; i++)
        value[i] = load(variable->type, values, i);
    free(values);
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
    bool again = false, terminate = false, nominals = false, states = false, has_next = false;
    double next = 0;
    int status = CALL(unit, UPDATE, int, void *, bool *, bool *, bool *, bool *, bool *, double *)(unit->component, &again, &terminate, &nominals, &states,
                                                                                              &has_next, &next);
    *event = (UnitEvent){.again = again, .terminate = terminate, .states_changed = states, .has_next = has_next, .next = next};
    return status;
}

static int
complete(Unit *unit, bool *event, bool *terminate)
{
    return CALL(unit, COMPLETE, int, void *, bool, bool *, bool *)(unit->component, true, event, terminate);
}

static int
step(Unit *unit, double time, double length, bool *terminate)
{
    bool event = false, early = false;
    double reached = time + length;
    return CALL(unit, DO_STEP, int, void *, double, double, bool, bool *, bool *, bool *, double *)(unit->component, time, length, true, &event, terminate,
                                                                                                &early, &reached);
}

const UnitVersion unit_fmi3 = {
    .names = names, .optional = INSTANTIATE_EXCHANGE, .exchange = {SET_TIME, DO_STEP}, .stepping = DO_STEP, .create = create, .destroy = destroy, .reset = reset, .enter_initialization = enter_initialization,
    .exit_initialization = exit_initialization, .set = set, .get = get, .set_time = set_time, .set_states = set_states, .states = get_states,
    .rates = rates, .indicators = indicators, .enter_event = enter_event, .enter_continuous = enter_continuous, .update = update, .complete = complete, .step = step};
