// unit_instance.c: the life of an instance: made, initialised, reset, freed; what it says.
//
// Purpose: what both versions of FMI and both interfaces share. Method: what is set before the end of the initialization mode is kept as
// overrides of a run, which is opened when values are asked for and opened anew when other values were set since: the start is solved
// for any order of settings.
// Contract: fmu.h. The importer's control word of the floating-point unit is back whenever its code runs, also in callbacks. Complexity: that
// of the start.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/fmu/fmu.h"
#include "runtime/model/float_control.h"

static const char *const categories[] = {"logStatusError", "logStatusWarning", "logEvents"};

static void
tell(FmuInstance *instance, FmuStatus status, uint32_t category, const char *text)
{
    if (!instance->log || !instance->logger || !(instance->logged & (1u << category)))
        return;
    unsigned own = float_control();
    float_control_set(instance->control);
    instance->log(instance, status, categories[category], text);
    float_control_set(own);
}

void
fmu_say(FmuInstance *instance, FmuStatus status, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tell(instance, status, status == FMU_OK ? 2 : status == FMU_WARNING ? 1 : 0, text);
}

// Of the runtime.
static void
on_message(void *user, mdl_severity severity, const char *text)
{
    static const FmuStatus status[] = {[MDL_NOTE] = FMU_OK, [MDL_WARNING] = FMU_WARNING, [MDL_ERROR] = FMU_ERROR};
    static const uint32_t category[] = {[MDL_NOTE] = 2, [MDL_WARNING] = 1, [MDL_ERROR] = 0};
    tell(user, status[severity], category[severity], text);
}

void
fmu_set_tolerance(FmuInstance *instance, double tolerance)
{
    instance->options.tolerance = tolerance;
    instance->options.kernel = instance->exchange ? mdl_program.tolerance : fmin(mdl_program.tolerance, tolerance);
}

static void
begin_anew(FmuInstance *instance)
{
    mdl_options_default(&mdl_program, &instance->options);
    fmu_set_tolerance(instance, instance->options.tolerance);
    instance->options.override = instance->override;
    instance->options.message = on_message;
    instance->options.user = instance;
    instance->options.no_ranges = true;
    instance->options.outside = instance->exchange;
    instance->mode = FMU_INSTANTIATED;
    instance->time = instance->last = instance->options.start;
    instance->stale = instance->unsettled = instance->moved = instance->ended = false;
}

FmuInstance *
fmu_create(const FmuInstance *wanted, const char *name, const char *token)
{
    FmuInstance *instance = malloc(sizeof *instance), early = *wanted;
    early.control = float_control();
    if (!token || strcmp(token, mdl_fmu_token) != 0) {
        fmu_say(&early, FMU_ERROR, "modelDescription.xml and the library do not belong together: the token '%s' is not '%s'", token ? token : "",
                mdl_fmu_token);
        free(instance);
        return NULL;
    }
    if (!(mdl_fmu_head[FMU_INTERFACES] & (wanted->exchange ? FMU_EXCHANGE : FMU_COSIMULATION))) {
        fmu_say(&early, FMU_ERROR, "the unit was exported without this interface");
        free(instance);
        return NULL;
    }
    if (instance) {
        *instance = early;
        instance->name = strdup(name ? name : "");
        instance->override = calloc((size_t)mdl_program.n_settables + 1, sizeof *instance->override);
        instance->run = NULL;
        if (instance->name && instance->override) {
            begin_anew(instance);
            return instance;
        }
        fmu_free(instance);
    }
    fmu_say(&early, FMU_ERROR, "out of memory");
    return NULL;
}

void
fmu_free(FmuInstance *instance)
{
    if (!instance)
        return;
    if (instance->run)
        mdl_run_drop(instance->run);
    free(instance->override);
    free(instance->name);
    free(instance);
}

bool
fmu_enter(FmuInstance *instance, uint32_t modes, const char *call)
{
    if (!instance)
        return false;
    instance->control = float_control();
    float_control_set(FLOAT_USUAL);
    if (instance->mode & modes)
        return true;
    fmu_say(instance, FMU_ERROR, "%s is not allowed %s", call,
            instance->mode == FMU_INSTANTIATED ? "before initialization" : instance->mode == FMU_INITIALIZING ? "in initialization mode"
            : instance->mode == FMU_EVENTS ? "in event mode" : instance->mode == FMU_STEPS ? "in step mode"
            : instance->mode == FMU_CONTINUOUS ? "in continuous-time mode" : instance->mode == FMU_TERMINATED ? "behind the end"
            : "after a failure");
    float_control_set(instance->control);
    return false;
}

FmuStatus
fmu_leave(FmuInstance *instance, FmuStatus status)
{
    if (status == FMU_ERROR)
        instance->mode = FMU_FAILED;
    float_control_set(instance->control);
    return status;
}

// False after a message: one of the categories is none.
static bool
choose_log(FmuInstance *instance, bool on, const char *const *category, size_t n)
{
    uint32_t chosen = n ? 0 : FMU_LOG_ALL;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < sizeof categories / sizeof *categories && (!category[i] || strcmp(category[i], categories[k]) != 0))
            k++;
        if (k == sizeof categories / sizeof *categories) {
            fmu_say(instance, FMU_ERROR, "'%s' is no category of messages", category[i] ? category[i] : "");
            return false;
        }
        chosen |= 1u << k;
    }
    // Errors are told in any case.
    instance->logged = on ? instance->logged | chosen : n ? (instance->logged & ~chosen) | FMU_LOG_ERROR : FMU_LOG_ERROR;
    return true;
}

FmuStatus
fmu_choose_log(FmuInstance *instance, bool on, const char *const *category, size_t n, const char *call)
{
    if (!fmu_enter(instance, ~0u, call))
        return FMU_ERROR;
    bool good = choose_log(instance, on, category, n);
    fmu_leave(instance, FMU_OK);
    return good ? FMU_OK : FMU_ERROR;
}

FmuStatus
fmu_change_mode(FmuInstance *instance, uint32_t from, FmuMode to, const char *call)
{
    if (!fmu_enter(instance, from, call))
        return FMU_ERROR;
    instance->mode = to;
    return fmu_leave(instance, FMU_OK);
}

FmuStatus
fmu_status(int status)
{
    return status == MDL_OK ? FMU_OK : status == MDL_FAILED ? FMU_DISCARD : FMU_ERROR;
}

FmuStatus
fmu_begin(FmuInstance *instance, double start, bool has_stop, double stop, double tolerance)
{
    mdl_options *options = &instance->options;
    double span = options->stop - options->start;
    if (!isfinite(start) || (has_stop && !(stop >= start)) || !(tolerance >= 0) || tolerance >= 1) {
        fmu_say(instance, FMU_ERROR, "start time %g, stop time %g and tolerance %g are no times and tolerance of a run", start, stop, tolerance);
        return FMU_ERROR;
    }
    options->start = instance->time = instance->last = start;
    options->stop = has_stop && isfinite(stop) && stop > start ? stop : start + span;
    if (tolerance > 0)
        fmu_set_tolerance(instance, tolerance);
    instance->stale = true;
    return FMU_OK;
}

FmuStatus
fmu_solve(FmuInstance *instance)
{
    if (instance->run && !instance->stale)
        return FMU_OK;
    if (instance->run)
        mdl_run_drop(instance->run);
    int status;
    instance->run = mdl_run_open(&mdl_program, &instance->options, &status);
    if (instance->run && status != MDL_OK) {
        mdl_run_drop(instance->run);
        instance->run = NULL;
    }
    instance->stale = false;
    if (status == MDL_OK && instance->exchange
        && (mdl_run_states(instance->run) != mdl_fmu_head[FMU_STATES] || mdl_run_indicators(instance->run) != mdl_fmu_head[FMU_INDICATORS])) {
        fmu_say(instance, FMU_ERROR, "with these parameters the fractional derivatives need %u states, and modelDescription.xml has %u",
                mdl_run_states(instance->run), mdl_fmu_head[FMU_STATES]);
        mdl_run_drop(instance->run);
        instance->run = NULL;
        return FMU_ERROR;
    }
    return status == MDL_OK ? FMU_OK : FMU_ERROR;
}

FmuStatus
fmu_initialize(FmuInstance *instance, const char *call)
{
    if (!fmu_enter(instance, FMU_INITIALIZING, call))
        return FMU_ERROR;
    FmuStatus status = fmu_solve(instance);
    instance->ended = status == FMU_OK && mdl_run_ended(instance->run);
    instance->mode = status != FMU_OK ? FMU_FAILED : instance->exchange || instance->event_mode ? FMU_EVENTS : FMU_STEPS;
    return fmu_leave(instance, status);
}

FmuStatus
fmu_reset(FmuInstance *instance, const char *call)
{
    if (!fmu_enter(instance, ~0u, call))
        return FMU_ERROR;
    if (instance->run)
        mdl_run_drop(instance->run);
    instance->run = NULL;
    begin_anew(instance);
    return fmu_leave(instance, FMU_OK);
}
