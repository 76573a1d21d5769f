// values.c: variables of an instance by their references, and directional derivatives.
//
// Purpose: getting and setting, for both versions of FMI. Method: rows of mdl_fmu_variable name places in v. Before the end of the
// initialization mode what is set is an override of the run that solves the start; afterwards inputs alone can change.
// Contract: fmu.h. Complexity: linear in the references, but for settings before the start, each of which looks at those before.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/fmu/fmu.h"
#include "runtime/start/settable.h"

static const char *const type_names[] = {[MDL_REAL] = "Real", [MDL_INTEGER] = "Integer", [MDL_BOOLEAN] = "Boolean", [MDL_ENUM] = "enumeration"};

// NULL after a message: there is no such variable, or it is of another type.
static const uint32_t *
find(FmuInstance *instance, uint32_t reference, mdl_type type)
{
    const uint32_t *row = reference < mdl_fmu_head[FMU_VARIABLES] ? mdl_fmu_variable[reference] : NULL;
    if (!row)
        fmu_say(instance, FMU_ERROR, "there is no variable with the value reference %u", reference);
    else if (row[FMU_TYPE] != type)
        fmu_say(instance, FMU_ERROR, "the variable with the value reference %u is of type %s, not %s", reference, type_names[row[FMU_TYPE]],
                type_names[type]);
    return row && row[FMU_TYPE] == type ? row : NULL;
}

static const mdl_settable *
settable_of(const uint32_t *row)
{
    return row[FMU_SETTABLE] ? &mdl_program.settable[row[FMU_SETTABLE] - 1] : NULL;
}

// The start value, before anything is solved.
static bool
value_before(const FmuInstance *instance, const uint32_t *row, double *value)
{
    const mdl_settable *settable = settable_of(row);
    if (instance->mode != FMU_INSTANTIATED || !settable)
        return false;
    *value = mdl_program.v0[settable->value];
    for (uint32_t k = 0; k < instance->options.overrides; k++)
        if (instance->override[k].place == settable->value)
            *value = instance->override[k].value;
    return true;
}

// NAN: no memory.
static double
indicator_now(const FmuInstance *instance, uint32_t k)
{
    double *all = malloc((mdl_fmu_head[FMU_INDICATORS] + 1) * sizeof *all), value = NAN;
    if (all) {
        mdl_run_look(instance->run, all);
        value = all[k];
    }
    free(all);
    return value;
}

static double
value_now(const FmuInstance *instance, const uint32_t *row)
{
    uint32_t place = row[FMU_PLACE], nv = mdl_program.nv, modes = mdl_fmu_head[FMU_STATES] - mdl_program.nx;
    double value;
    if (row[FMU_USE] & FMU_IS_RATE && instance->exchange && instance->mode & (FMU_EVENTS | FMU_CONTINUOUS))
        value = mdl_run_rate(instance->run, place - mdl_program.yp);
    else if (place < nv)
        value = mdl_run_values(instance->run)[place];
    else if (place < nv + 2 * modes)
        value = mdl_run_exponential(instance->run, (place - nv) % modes, place - nv >= modes);
    else
        value = indicator_now(instance, place - nv - 2 * modes);
    return row[FMU_NEGATIVE] ? -value : value;
}

mdl_type
fmu_whole_type(uint32_t reference)
{
    bool is_enum = reference < mdl_fmu_head[FMU_VARIABLES] && mdl_fmu_variable[reference][FMU_TYPE] == MDL_ENUM;
    return is_enum ? MDL_ENUM : MDL_INTEGER;
}

FmuStatus
fmu_get(FmuInstance *instance, const uint32_t *reference, size_t n, mdl_type type, double *value)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t *row = find(instance, reference[i], type);
        if (!row)
            return FMU_ERROR;
        if (value_before(instance, row, &value[i]))
            continue;
        if (instance->mode & (FMU_INSTANTIATED | FMU_INITIALIZING) && fmu_solve(instance) != FMU_OK)
            return FMU_DISCARD;
        if (!instance->run) {
            fmu_say(instance, FMU_ERROR, "there are no values: the start was not found");
            return FMU_ERROR;
        }
        FmuStatus status = instance->mode == FMU_FAILED ? FMU_OK : fmu_evaluate(instance);
        if (status != FMU_OK)
            return status;
        value[i] = value_now(instance, row);
    }
    return FMU_OK;
}

static bool
in_range(FmuInstance *instance, const mdl_settable *settable, double value)
{
    bool whole = settable->type == MDL_REAL || value == floor(value);
    bool fits = settable->type == MDL_BOOLEAN ? value == 0 || value == 1
                : settable->type == MDL_ENUM  ? value >= 1 && value <= mdl_program.declaration[settable->declaration].n_literals
                                              : !isnan(value) && whole;
    if (!fits)
        fmu_say(instance, FMU_ERROR, "%g is no value of '%s'", value, settable->name);
    return fits;
}

// A state that an importer integrates, one alone: what the call for all states does, too. In event mode it makes an event.
static FmuStatus
set_state(FmuInstance *instance, const uint32_t *row, double value)
{
    uint32_t place = row[FMU_PLACE], nv = mdl_program.nv;
    bool event = instance->mode == FMU_EVENTS;
    mdl_run_move(instance->run, place >= nv ? place - nv + mdl_program.nx : place - mdl_program.y, value, event);
    instance->moved = true;
    instance->unsettled |= event;
    return FMU_OK;
}

static FmuStatus
set_one(FmuInstance *instance, const uint32_t *row, uint32_t reference, double value)
{
    const mdl_settable *settable = settable_of(row);
    if (instance->exchange && row[FMU_USE] & FMU_IS_STATE && instance->mode & (FMU_EVENTS | FMU_CONTINUOUS))
        return set_state(instance, row, value);
    if (!settable) {
        fmu_say(instance, FMU_ERROR, "the variable with the value reference %u cannot be set", reference);
        return FMU_ERROR;
    }
    if (!in_range(instance, settable, value))
        return FMU_ERROR;
    if (instance->mode & (FMU_INSTANTIATED | FMU_INITIALIZING)) {
        settable_put(instance->override, &instance->options.overrides, settable->value, value);
        instance->stale = true;
        return FMU_OK;
    }
    if (settable->kind != MDL_SETTABLE_INPUT) {
        fmu_say(instance, FMU_ERROR, "'%s' cannot change behind the initialization: only inputs%s can", settable->name,
                instance->exchange ? " and states" : "");
        return FMU_ERROR;
    }
    if (mdl_run_values(instance->run)[settable->value] == value)
        return FMU_OK;
    instance->moved = instance->exchange;
    instance->unsettled |= instance->mode == FMU_EVENTS;
    return fmu_status(mdl_run_input(instance->run, settable->value, value));
}

FmuStatus
fmu_set(FmuInstance *instance, const uint32_t *reference, size_t n, mdl_type type, const double *value)
{
    FmuStatus status = FMU_OK;
    for (size_t i = 0; i < n && status == FMU_OK; i++) {
        const uint32_t *row = find(instance, reference[i], type);
        status = row ? set_one(instance, row, reference[i], value[i]) : FMU_ERROR;
    }
    return status;
}

// What a delay gives moves with time in a way that tangents do not have.
static bool
is_free(const uint32_t *row)
{
    bool delayed = mdl_program.n_delays || mdl_program.n_transports;
    return row[FMU_USE] & (FMU_IS_STATE | FMU_IS_INPUT) || (row[FMU_USE] & FMU_IS_TIME && !delayed);
}

// Places in v; false after a message: a variable is none that derivatives are taken by, or of. `led`, where derivatives of it are wanted, gets the numbers
// of states, from 1, whose rates the importer integrates, and 0.
static bool
places_of(FmuInstance *instance, const uint32_t *reference, size_t n, uint32_t *led, uint32_t *place, double *sign)
{
    bool by = !led;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *row = find(instance, reference[i], MDL_REAL);
        bool computed = row && row[FMU_PLACE] < mdl_program.nv && (!by || is_free(row));
        if (row && !computed)
            fmu_say(instance, FMU_ERROR, by ? "derivatives by the variable with the value reference %u are not computed: only those by states, inputs and, "
                                              "without delays, time are"
                                            : "derivatives of the variable with the value reference %u are not computed", reference[i]);
        if (!computed)
            return false;
        place[i] = row[FMU_PLACE];
        sign[i] = row[FMU_NEGATIVE] ? -1 : 1;
        if (led)
            led[i] = instance->exchange && row[FMU_USE] & FMU_IS_RATE ? row[FMU_PLACE] - mdl_program.yp + 1 : 0;
    }
    return true;
}

// In one direction. What leads states of model exchange back onto constraints is part of their rates; `way` has room for it.
MDL_CHECKED static int
go_along(FmuInstance *instance, const uint32_t *of, const uint32_t *led, size_t n_of, const uint32_t *by, const double *rate, size_t n_by, double *way,
         double *answer)
{
    int status = instance->exchange ? mdl_run_led(instance->run, by, rate, (uint32_t)n_by, way) : MDL_OK;
    if (status == MDL_OK)
        status = mdl_run_tangent(instance->run, by, rate, (uint32_t)n_by, of, (uint32_t)n_of, answer);
    for (size_t i = 0; i < n_of && status == MDL_OK; i++)
        if (led[i])
            answer[i] += way[led[i] - 1];
    return status;
}

// One direction after the other.
MDL_CHECKED static int
transpose(FmuInstance *instance, const uint32_t *of, const uint32_t *led, const double *of_sign, size_t n_of, const uint32_t *by, const double *by_sign,
          size_t n_by, const double *seed, double *way, double *column, double *answer)
{
    int status = MDL_OK;
    for (size_t k = 0; k < n_by && status == MDL_OK; k++) {
        status = go_along(instance, of, led, n_of, &by[k], &by_sign[k], 1, way, column);
        answer[k] = 0;
        for (size_t i = 0; i < n_of; i++)
            answer[k] += seed[i] * of_sign[i] * column[i];
    }
    return status;
}

FmuStatus
fmu_derivative(FmuInstance *instance, const uint32_t *of, size_t n_of, const uint32_t *by, size_t n_by, const double *seed, bool adjoint,
               double *answer)
{
    uint32_t *place = calloc(2 * n_of + n_by + 1, sizeof *place), *led = place + n_of + n_by;
    double *sign = calloc(2 * (n_of + n_by) + mdl_program.nx + 1, sizeof *sign);
    FmuStatus result = FMU_ERROR;
    if (!place || !sign) {
        fmu_say(instance, FMU_ERROR, "out of memory");
    } else if (places_of(instance, of, n_of, led, place, sign) && places_of(instance, by, n_by, NULL, place + n_of, sign + n_of)) {
        double *rest = sign + n_of + n_by, *way = rest + n_of + n_by;
        int status = MDL_OK;
        result = instance->mode == FMU_INITIALIZING ? fmu_solve(instance) : fmu_evaluate(instance);
        if (result == FMU_OK && adjoint)
            status = transpose(instance, place, led, sign, n_of, place + n_of, sign + n_of, n_by, seed, way, rest, answer);
        for (size_t k = 0; k < n_by && !adjoint; k++)
            rest[k] = sign[n_of + k] * seed[k];
        if (result == FMU_OK && !adjoint)
            status = go_along(instance, place, led, n_of, place + n_of, rest, n_by, way, answer);
        for (size_t i = 0; i < n_of && !adjoint; i++)
            answer[i] *= sign[i];
        result = result == FMU_OK ? fmu_status(status) : result;
    }
    free(place);
    free(sign);
    return result;
}
