// fmi2.c: the functions of FMI 2.
//
// Purpose: importers of FMI 2. Method: each function translates its arguments and calls what both versions share. What units of this
// compiler do not have (Strings, derivatives of inputs and outputs, asynchronous steps) is an error with a sentence, and modelDescription.xml says so.
// Contract: FMI 2.0.5 and fmu.h. Complexity: that of what is called.
#include "runtime/fmu/fmi2.h"

#include <limits.h>

#include "runtime/fmu/fmu.h"

static FmuInstance *
of(fmi2Component component)
{
    return component;
}

static void
log_message(const FmuInstance *instance, FmuStatus status, const char *category, const char *text)
{
    typedef void Logger(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    ((Logger *)instance->logger)(instance->environment, instance->name ? instance->name : "", (fmi2Status)status, category, "%s", text);
}

FMI2_EXPORT const char *
fmi2GetTypesPlatform(void)
{
    return "default";
}

FMI2_EXPORT const char *
fmi2GetVersion(void)
{
    return "2.0";
}

FMI2_EXPORT fmi2Status
fmi2SetDebugLogging(fmi2Component component, fmi2Boolean on, size_t n, const fmi2String category[])
{
    return (fmi2Status)fmu_choose_log(component, on, category, n, "fmi2SetDebugLogging");
}

FMI2_EXPORT fmi2Component
fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources, const fmi2CallbackFunctions *callbacks, fmi2Boolean visible,
                fmi2Boolean logging)
{
    (void)resources, (void)visible;
    FmuInstance wanted = {.exchange = type == fmi2ModelExchange, .environment = callbacks ? callbacks->componentEnvironment : NULL,
                          .logger = callbacks ? (void (*)(void))callbacks->logger : NULL, .log = log_message,
                          .logged = logging ? FMU_LOG_ALL : FMU_LOG_ERROR};
    return fmu_create(&wanted, name, token);
}

FMI2_EXPORT void
fmi2FreeInstance(fmi2Component component)
{
    fmu_free(component);
}

FMI2_EXPORT fmi2Status
fmi2SetupExperiment(fmi2Component component, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    if (!fmu_enter(component, FMU_INSTANTIATED, "fmi2SetupExperiment"))
        return fmi2Error;
    return (fmi2Status)fmu_leave(component, fmu_begin(component, start, has_stop, stop, has_tolerance ? tolerance : 0));
}

FMI2_EXPORT fmi2Status
fmi2EnterInitializationMode(fmi2Component component)
{
    return (fmi2Status)fmu_change_mode(component, FMU_INSTANTIATED, FMU_INITIALIZING, "fmi2EnterInitializationMode");
}

FMI2_EXPORT fmi2Status
fmi2ExitInitializationMode(fmi2Component component)
{
    return (fmi2Status)fmu_initialize(component, "fmi2ExitInitializationMode");
}

FMI2_EXPORT fmi2Status
fmi2Terminate(fmi2Component component)
{
    return (fmi2Status)fmu_change_mode(component, FMU_READY | FMU_FAILED, FMU_TERMINATED, "fmi2Terminate");
}

FMI2_EXPORT fmi2Status
fmi2Reset(fmi2Component component)
{
    return (fmi2Status)fmu_reset(component, "fmi2Reset");
}

// --- values

FMI2_EXPORT fmi2Status
fmi2GetReal(fmi2Component component, const fmi2ValueReference reference[], size_t n, fmi2Real value[])
{
    if (!fmu_enter(component, FMU_READABLE, "fmi2GetReal"))
        return fmi2Error;
    FmuStatus status = fmu_get(component, reference, n, MDL_REAL, value);
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

// Integers of models are exact to 2^53, those of FMI 2 to 2^31.
static FmuStatus
whole(FmuInstance *instance, fmi2ValueReference reference, double number, fmi2Integer *value)
{
    bool is_one = number >= INT_MIN && number <= INT_MAX;
    if (!is_one)
        fmu_say(instance, FMU_ERROR, "the variable with the value reference %u is %.17g, which FMI 2 has no Integer for", reference, number);
    *value = is_one ? (fmi2Integer)number : 0;
    return is_one ? FMU_OK : FMU_ERROR;
}

FMI2_EXPORT fmi2Status
fmi2GetInteger(fmi2Component component, const fmi2ValueReference reference[], size_t n, fmi2Integer value[])
{
    if (!fmu_enter(component, FMU_READABLE, "fmi2GetInteger"))
        return fmi2Error;
    FmuStatus status = FMU_OK;
    for (size_t i = 0; i < n && status == FMU_OK; i++) {
        double number = 0;
        status = fmu_get(component, &reference[i], 1, fmu_whole_type(reference[i]), &number);
        if (status == FMU_OK)
            status = whole(component, reference[i], number, &value[i]);
    }
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

FMI2_EXPORT fmi2Status
fmi2GetBoolean(fmi2Component component, const fmi2ValueReference reference[], size_t n, fmi2Boolean value[])
{
    if (!fmu_enter(component, FMU_READABLE, "fmi2GetBoolean"))
        return fmi2Error;
    FmuStatus status = FMU_OK;
    for (size_t i = 0; i < n && status == FMU_OK; i++) {
        double number = 0;
        status = fmu_get(component, &reference[i], 1, MDL_BOOLEAN, &number);
        value[i] = number != 0;
    }
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

FMI2_EXPORT fmi2Status
fmi2SetReal(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2Real value[])
{
    if (!fmu_enter(component, FMU_SETTABLE_IN, "fmi2SetReal"))
        return fmi2Error;
    FmuStatus status = fmu_set(component, reference, n, MDL_REAL, value);
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

FMI2_EXPORT fmi2Status
fmi2SetInteger(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2Integer value[])
{
    if (!fmu_enter(component, FMU_SETTABLE_IN, "fmi2SetInteger"))
        return fmi2Error;
    FmuStatus status = FMU_OK;
    for (size_t i = 0; i < n && status == FMU_OK; i++) {
        double number = value[i];
        status = fmu_set(component, &reference[i], 1, fmu_whole_type(reference[i]), &number);
    }
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

FMI2_EXPORT fmi2Status
fmi2SetBoolean(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2Boolean value[])
{
    if (!fmu_enter(component, FMU_SETTABLE_IN, "fmi2SetBoolean"))
        return fmi2Error;
    FmuStatus status = FMU_OK;
    for (size_t i = 0; i < n && status == FMU_OK; i++) {
        double number = value[i] != 0;
        status = fmu_set(component, &reference[i], 1, MDL_BOOLEAN, &number);
    }
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

// What no unit of this compiler has, or does; without anything asked for there is nothing wrong.
static fmi2Status
absent(FmuInstance *instance, size_t n, const char *text)
{
    if (!fmu_enter(instance, ~0u, text))
        return fmi2Error;
    if (n)
        fmu_say(instance, FMU_ERROR, "%s", text);
    fmu_leave(instance, FMU_OK);
    return n ? fmi2Error : fmi2OK;
}

FMI2_EXPORT fmi2Status
fmi2GetString(fmi2Component component, const fmi2ValueReference reference[], size_t n, fmi2String value[])
{
    (void)reference, (void)value;
    return absent(component, n, "fmi2GetString: the unit has no Strings");
}

FMI2_EXPORT fmi2Status
fmi2SetString(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2String value[])
{
    (void)reference, (void)value;
    return absent(component, n, "fmi2SetString: the unit has no Strings");
}

// --- states, derivatives

FMI2_EXPORT fmi2Status
fmi2GetFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    return (fmi2Status)fmu_state_get(component, state, "fmi2GetFMUstate");
}

FMI2_EXPORT fmi2Status
fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state)
{
    return (fmi2Status)fmu_state_set(component, state, "fmi2SetFMUstate");
}

FMI2_EXPORT fmi2Status
fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate *state)
{
    (void)component;
    return (fmi2Status)fmu_state_free(state);
}

FMI2_EXPORT fmi2Status
fmi2SerializedFMUstateSize(fmi2Component component, fmi2FMUstate state, size_t *size)
{
    (void)component;
    return (fmi2Status)fmu_state_size(state, size);
}

FMI2_EXPORT fmi2Status
fmi2SerializeFMUstate(fmi2Component component, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    return (fmi2Status)fmu_state_write(component, state, bytes, size, "fmi2SerializeFMUstate");
}

FMI2_EXPORT fmi2Status
fmi2DeSerializeFMUstate(fmi2Component component, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    return (fmi2Status)fmu_state_read(component, bytes, size, state, "fmi2DeSerializeFMUstate");
}

FMI2_EXPORT fmi2Status
fmi2GetDirectionalDerivative(fmi2Component component, const fmi2ValueReference unknown[], size_t n_unknown, const fmi2ValueReference known[],
                             size_t n_known, const fmi2Real seed[], fmi2Real answer[])
{
    if (!fmu_enter(component, FMU_INITIALIZING | FMU_READY | FMU_TERMINATED, "fmi2GetDirectionalDerivative"))
        return fmi2Error;
    FmuStatus status = fmu_derivative(component, unknown, n_unknown, known, n_known, seed, false, answer);
    fmu_leave(component, FMU_OK);
    return (fmi2Status)status;
}

// --- model exchange

FMI2_EXPORT fmi2Status
fmi2EnterEventMode(fmi2Component component)
{
    if (!fmu_enter(component, FMU_CONTINUOUS | FMU_EVENTS, "fmi2EnterEventMode"))
        return fmi2Error;
    of(component)->mode = FMU_EVENTS;
    of(component)->unsettled = true;
    return (fmi2Status)fmu_leave(component, FMU_OK);
}

FMI2_EXPORT fmi2Status
fmi2NewDiscreteStates(fmi2Component component, fmi2EventInfo *info)
{
    if (!fmu_enter(component, FMU_EVENTS, "fmi2NewDiscreteStates"))
        return fmi2Error;
    FmuUpdate update;
    FmuStatus status = fmu_update(component, &update);
    *info = (fmi2EventInfo){.terminateSimulation = update.terminate, .valuesOfContinuousStatesChanged = update.moved,
                            .nextEventTimeDefined = update.has_next, .nextEventTime = update.has_next ? update.next : 0};
    return (fmi2Status)fmu_leave(component, status);
}

FMI2_EXPORT fmi2Status
fmi2EnterContinuousTimeMode(fmi2Component component)
{
    return (fmi2Status)fmu_change_mode(component, FMU_EVENTS, FMU_CONTINUOUS, "fmi2EnterContinuousTimeMode");
}

FMI2_EXPORT fmi2Status
fmi2CompletedIntegratorStep(fmi2Component component, fmi2Boolean keep, fmi2Boolean *event, fmi2Boolean *terminate)
{
    (void)keep;
    *event = *terminate = 0;
    if (!fmu_enter(component, FMU_CONTINUOUS, "fmi2CompletedIntegratorStep"))
        return fmi2Error;
    bool asks, ends;
    FmuStatus status = fmu_accept(component, &asks, &ends);
    *event = asks;
    *terminate = ends;
    return (fmi2Status)fmu_leave(component, status);
}

FMI2_EXPORT fmi2Status
fmi2SetTime(fmi2Component component, fmi2Real time)
{
    if (!fmu_enter(component, FMU_CONTINUOUS | FMU_EVENTS, "fmi2SetTime"))
        return fmi2Error;
    return (fmi2Status)fmu_leave(component, fmu_point(component, time, NULL));
}

FMI2_EXPORT fmi2Status
fmi2SetContinuousStates(fmi2Component component, const fmi2Real state[], size_t n)
{
    if (!fmu_enter(component, FMU_CONTINUOUS, "fmi2SetContinuousStates"))
        return fmi2Error;
    bool good = fmu_fits(component, n, FMU_LOOK_STATES);
    if (good)
        fmu_point(component, of(component)->time, state);
    fmu_leave(component, FMU_OK);
    return good ? fmi2OK : fmi2Error;
}

FMI2_EXPORT fmi2Status
fmi2GetDerivatives(fmi2Component component, fmi2Real value[], size_t n)
{
    return (fmi2Status)fmu_look(component, FMU_LOOK_RATES, value, n, "fmi2GetDerivatives");
}

FMI2_EXPORT fmi2Status
fmi2GetEventIndicators(fmi2Component component, fmi2Real value[], size_t n)
{
    return (fmi2Status)fmu_look(component, FMU_LOOK_INDICATORS, value, n, "fmi2GetEventIndicators");
}

FMI2_EXPORT fmi2Status
fmi2GetContinuousStates(fmi2Component component, fmi2Real value[], size_t n)
{
    return (fmi2Status)fmu_look(component, FMU_LOOK_STATES, value, n, "fmi2GetContinuousStates");
}

FMI2_EXPORT fmi2Status
fmi2GetNominalsOfContinuousStates(fmi2Component component, fmi2Real value[], size_t n)
{
    return (fmi2Status)fmu_look(component, FMU_LOOK_NOMINALS, value, n, "fmi2GetNominalsOfContinuousStates");
}

// --- co-simulation

FMI2_EXPORT fmi2Status
fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2Integer order[], const fmi2Real value[])
{
    (void)reference, (void)order, (void)value;
    return absent(component, n, "fmi2SetRealInputDerivatives: inputs are not interpolated (canInterpolateInputs is false)");
}

FMI2_EXPORT fmi2Status
fmi2GetRealOutputDerivatives(fmi2Component component, const fmi2ValueReference reference[], size_t n, const fmi2Integer order[], fmi2Real value[])
{
    (void)reference, (void)order, (void)value;
    return absent(component, n, "fmi2GetRealOutputDerivatives: derivatives of outputs are not given (maxOutputDerivativeOrder is 0)");
}

// A model that has called terminate() discards what is left of the step, as the standard has it (4.2.1).
FMI2_EXPORT fmi2Status
fmi2DoStep(fmi2Component component, fmi2Real time, fmi2Real length, fmi2Boolean no_return)
{
    (void)no_return;
    if (!fmu_enter(component, FMU_STEPS, "fmi2DoStep"))
        return fmi2Error;
    FmuStep step;
    FmuStatus status = fmu_step(component, time, length, NULL, &step);
    if (status == FMU_OK && step.terminate)
        status = FMU_DISCARD;
    return (fmi2Status)fmu_leave(component, status);
}

FMI2_EXPORT fmi2Status
fmi2CancelStep(fmi2Component component)
{
    return absent(component, 1, "fmi2CancelStep: steps are not asynchronous (canRunAsynchronuously is false)");
}

FMI2_EXPORT fmi2Status
fmi2GetStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Status *value)
{
    if (kind == fmi2DoStepStatus && component) {
        *value = of(component)->mode == FMU_FAILED || of(component)->ended ? fmi2Discard : fmi2OK;
        return fmi2OK;
    }
    return absent(component, 1, "fmi2GetStatus: steps are not asynchronous");
}

FMI2_EXPORT fmi2Status
fmi2GetRealStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind == fmi2LastSuccessfulTime && component) {
        *value = of(component)->last;
        return fmi2OK;
    }
    return absent(component, 1, "fmi2GetRealStatus: only fmi2LastSuccessfulTime is known");
}

FMI2_EXPORT fmi2Status
fmi2GetIntegerStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    return absent(component, 1, "fmi2GetIntegerStatus: there is no such status");
}

FMI2_EXPORT fmi2Status
fmi2GetBooleanStatus(fmi2Component component, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind == fmi2Terminated && component) {
        *value = of(component)->ended;
        return fmi2OK;
    }
    return absent(component, 1, "fmi2GetBooleanStatus: only fmi2Terminated is known");
}

FMI2_EXPORT fmi2Status
fmi2GetStringStatus(fmi2Component component, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind, (void)value;
    return absent(component, 1, "fmi2GetStringStatus: steps are not asynchronous");
}
