// imported_fmi3.c: the calls of a unit of FMI 3.0.2.
//
// Purpose: one side of the table UnitVersion. Method: functions are found by name; their types are those of the standard (sections 2.2 to
// 4.2). Contract: imported.h. Complexity: that of the unit.
#include "runtime/model/checked.h"
#include "runtime/model/imported.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ENTER_INITIALIZATION = UNIT_CALLS, INSTANTIATE_EXCHANGE, INSTANTIATE_STEPS, UPDATE, COMPLETE, DO_STEP,
    SET, GET = SET + UNIT_TYPES, DIFFERENTIATE = GET + UNIT_TYPES, CALLS // by type
};

#define VALUES(type, name) [SET + type] = "fmi3Set" name, [GET + type] = "fmi3Get" name
static const char *const names[] = {
    UNIT_COMMON_NAMES("fmi3", "ContinuousStateDerivatives"), [ENTER_INITIALIZATION] = "fmi3EnterInitializationMode",
    [INSTANTIATE_EXCHANGE] = "fmi3InstantiateModelExchange", [INSTANTIATE_STEPS] = "fmi3InstantiateCoSimulation", [UPDATE] = "fmi3UpdateDiscreteStates",
    [COMPLETE] = "fmi3CompletedIntegratorStep", [DO_STEP] = "fmi3DoStep",
    VALUES(UNIT_F64, "Float64"), VALUES(UNIT_F32, "Float32"), VALUES(UNIT_I8, "Int8"), VALUES(UNIT_U8, "UInt8"), VALUES(UNIT_I16, "Int16"),
    VALUES(UNIT_U16, "UInt16"), VALUES(UNIT_I32, "Int32"), VALUES(UNIT_U32, "UInt32"), VALUES(UNIT_I64, "Int64"), VALUES(UNIT_U64, "UInt64"),
    VALUES(UNIT_BOOL, "Boolean"), [DIFFERENTIATE] = "fmi3GetDirectionalDerivative", [CALLS] = NULL};
// Values of a type that a unit has not are asked for in vain, which is an error then.
static const UnitNeed needs[SET] = {
    UNIT_COMMON_NEEDS, [INSTANTIATE_EXCHANGE] = UNIT_FOR_EXCHANGE, [UPDATE] = UNIT_FOR_EXCHANGE, [COMPLETE] = UNIT_FOR_EXCHANGE,
    [INSTANTIATE_STEPS] = UNIT_FOR_STEPS, [DO_STEP] = UNIT_FOR_STEPS};

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
    if (!place)
        return false;
    snprintf(place, 4200, "%s/resources/", unit->folder);
    if (unit->exchange)
        unit->component = UNIT_CALL(unit, INSTANTIATE_EXCHANGE, void *, const char *, const char *, const char *, bool, bool, void *, void *)(
            unit->name, unit->token, place, false, false, unit, (void *)(uintptr_t)take_message);
    else
        unit->component = UNIT_CALL(unit, INSTANTIATE_STEPS, void *, const char *, const char *, const char *, bool, bool, bool, bool, const uint32_t *, size_t,
                               void *, void *, void *)(unit->name, unit->token, place, false, false, false, false, NULL, 0, unit,
                                                       (void *)(uintptr_t)take_message, NULL);
    free(place);
    return unit->component != NULL;
}

static int
enter_initialization(Unit *unit, double time, double tolerance)
{
    return UNIT_CALL(unit, ENTER_INITIALIZATION, int, void *, bool, double, double, bool, double)(unit->component, tolerance > 0, tolerance, time, false, 0);
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

MDL_CHECKED static int
set(Unit *unit, const UnitVariable *variable, const double *value)
{
    void *values = malloc(variable->count * sizes[variable->type] + 1);
    if (!values)
        return 3;
    for (size_t i = 0; i < variable->count; i++)
        store(variable->type, values, i, value[i]);
    int status = unit->entry[SET + (int)variable->type]
                     ? UNIT_CALL(unit, SET + (int)variable->type, int, void *, const uint32_t *, size_t, const void *, size_t)(
                           unit->component, &variable->reference, 1, values, variable->count)
                     : 3;
    free(values);
    return status;
}

MDL_CHECKED static int
get(Unit *unit, const UnitVariable *variable, double *value)
{
    void *values = calloc(variable->count + 1, sizes[variable->type]);
    if (!values)
        return 3;
    int status = unit->entry[GET + (int)variable->type]
                     ? UNIT_CALL(unit, GET + (int)variable->type, int, void *, const uint32_t *, size_t, void *, size_t)(
                           unit->component, &variable->reference, 1, values, variable->count)
                     : 3;
    for (size_t i = 0; i < variable->count; i++)
        value[i] = load(variable->type, values, i);
    free(values);
    return status;
}

MDL_CHECKED static int
update(Unit *unit, UnitEvent *event)
{
    bool again = false, terminate = false, nominals = false, states = false, has_next = false;
    double next = 0;
    int status = UNIT_CALL(unit, UPDATE, int, void *, bool *, bool *, bool *, bool *, bool *, double *)(unit->component, &again, &terminate, &nominals, &states,
                                                                                              &has_next, &next);
    *event = (UnitEvent){.again = again, .terminate = terminate, .states_changed = states, .has_next = has_next, .next = next};
    return status;
}

static int
complete(Unit *unit, bool *event, bool *terminate)
{
    return UNIT_CALL(unit, COMPLETE, int, void *, bool, bool *, bool *)(unit->component, true, event, terminate);
}

static int
step(Unit *unit, double time, double length, bool *terminate)
{
    bool event = false, early = false;
    double reached = time + length;
    return UNIT_CALL(unit, DO_STEP, int, void *, double, double, bool, bool *, bool *, bool *, double *)(unit->component, time, length, true, &event, terminate,
                                                                                                &early, &reached);
}

static int
differentiate(Unit *unit, const UnitDirection *d)
{
    return unit->entry[DIFFERENTIATE]
               ? UNIT_CALL(unit, DIFFERENTIATE, int, void *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, size_t, double *, size_t)(
                     unit->component, d->unknown, d->n_unknown, d->known, d->n_known, d->seed, d->seeds, d->answer, d->answers)
               : 3;
}

const UnitVersion unit_fmi3 = {
    .names = names, .needs = needs, .optional = SET, .create = create, .enter_initialization = enter_initialization, .set = set, .get = get, .update = update,
    .complete = complete, .step = step, .differentiate = differentiate};
