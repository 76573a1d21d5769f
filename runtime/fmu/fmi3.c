// fmi3.c: the functions of FMI 3.
//
// Purpose: importers of FMI 3. Method: each function translates its arguments and calls what both versions share. What a unit of this
// compiler never has (types, clocks, partitions, structural parameters) is an error with a sentence, and its flags in modelDescription.xml say so.
// Contract: FMI 3.0.2 and fmu.h. Complexity: that of what is called.
#include "runtime/fmu/fmi3.h"


#include "runtime/fmu/fmu.h"
#include "runtime/model/float_control.h"

static FmuInstance *
of(fmi3Instance instance)
{
    return instance;
}

static void
log_message(const FmuInstance *instance, FmuStatus status, const char *category, const char *text)
{
    ((fmi3LogMessageCallback)instance->logger)(instance->environment, (fmi3Status)status, category, text);
}

FMI3_EXPORT const char *
fmi3GetVersion(void)
{
    return "3.0";
}

FMI3_EXPORT fmi3Status
fmi3SetDebugLogging(fmi3Instance instance, fmi3Boolean on, size_t n, const fmi3String category[])
{
    return (fmi3Status)fmu_choose_log(instance, on, category, n, "fmi3SetDebugLogging");
}

FMI3_EXPORT fmi3Instance
fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                             fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger)
{
    (void)resources, (void)visible;
    FmuInstance wanted = {.exchange = true, .environment = environment, .logger = (void (*)(void))logger, .log = log_message,
                          .logged = logging ? FMU_LOG_ALL : FMU_LOG_ERROR};
    return fmu_create(&wanted, name, token);
}

FMI3_EXPORT fmi3Instance
fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                            fmi3Boolean event_mode, fmi3Boolean early_return, const fmi3ValueReference intermediate[], size_t n,
                            fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3IntermediateUpdateCallback update)
{
    (void)resources, (void)visible, (void)intermediate, (void)n;
    FmuInstance wanted = {.environment = environment, .logger = (void (*)(void))logger, .intermediate = (void (*)(void))update, .log = log_message,
                          .event_mode = event_mode, .early_return = early_return, .logged = logging ? FMU_LOG_ALL : FMU_LOG_ERROR};
    return fmu_create(&wanted, name, token);
}

FMI3_EXPORT fmi3Instance
fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
                                  fmi3InstanceEnvironment environment, fmi3LogMessageCallback logger, fmi3ClockUpdateCallback update,
                                  fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
    if (logger)
        logger(environment, fmi3Error, "logStatusError", "scheduled execution is not supported");
    return NULL;
}

FMI3_EXPORT void
fmi3FreeInstance(fmi3Instance instance)
{
    fmu_free(instance);
}

FMI3_EXPORT fmi3Status
fmi3EnterInitializationMode(fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop,
                            fmi3Float64 stop)
{
    if (!fmu_enter(instance, FMU_INSTANTIATED, "fmi3EnterInitializationMode"))
        return fmi3Error;
    FmuStatus status = fmu_begin(instance, start, has_stop, stop, has_tolerance ? tolerance : 0);
    of(instance)->mode = FMU_INITIALIZING;
    return (fmi3Status)fmu_leave(instance, status);
}

FMI3_EXPORT fmi3Status
fmi3ExitInitializationMode(fmi3Instance instance)
{
    return (fmi3Status)fmu_initialize(instance, "fmi3ExitInitializationMode");
}

FMI3_EXPORT fmi3Status
fmi3EnterEventMode(fmi3Instance instance)
{
    if (!fmu_enter(instance, FMU_STEPS | FMU_CONTINUOUS, "fmi3EnterEventMode"))
        return fmi3Error;
    bool allowed = of(instance)->exchange || of(instance)->event_mode;
    if (allowed) {
        of(instance)->mode = FMU_EVENTS;
        of(instance)->unsettled = true;
    } else {
        fmu_say(instance, FMU_ERROR, "the instance was made without event mode");
    }
    fmu_leave(instance, FMU_OK);
    return allowed ? fmi3OK : fmi3Error;
}

FMI3_EXPORT fmi3Status
fmi3EnterStepMode(fmi3Instance instance)
{
    if (!fmu_enter(instance, FMU_EVENTS, "fmi3EnterStepMode"))
        return fmi3Error;
    FmuUpdate unused;
    FmuStatus status = of(instance)->unsettled ? fmu_update(instance, &unused) : FMU_OK;
    if (status == FMU_OK)
        of(instance)->mode = FMU_STEPS;
    return (fmi3Status)fmu_leave(instance, status);
}

FMI3_EXPORT fmi3Status
fmi3EnterContinuousTimeMode(fmi3Instance instance)
{
    return (fmi3Status)fmu_change_mode(instance, FMU_EVENTS, FMU_CONTINUOUS, "fmi3EnterContinuousTimeMode");
}

FMI3_EXPORT fmi3Status
fmi3EnterConfigurationMode(fmi3Instance instance)
{
    return (fmi3Status)fmu_change_mode(instance, 0, FMU_INSTANTIATED, "fmi3EnterConfigurationMode (there are no structural parameters)");
}

FMI3_EXPORT fmi3Status
fmi3ExitConfigurationMode(fmi3Instance instance)
{
    return (fmi3Status)fmu_change_mode(instance, 0, FMU_INSTANTIATED, "fmi3ExitConfigurationMode (there are no structural parameters)");
}

FMI3_EXPORT fmi3Status
fmi3Terminate(fmi3Instance instance)
{
    return (fmi3Status)fmu_change_mode(instance, FMU_READY | FMU_FAILED, FMU_TERMINATED, "fmi3Terminate");
}

FMI3_EXPORT fmi3Status
fmi3Reset(fmi3Instance instance)
{
    return (fmi3Status)fmu_reset(instance, "fmi3Reset");
}

// --- values

static fmi3Status
wrong_size(FmuInstance *instance, size_t n, size_t n_values)
{
    fmu_say(instance, FMU_ERROR, "%zu variables do not have %zu values: there are no arrays", n, n_values);
    fmu_leave(instance, FMU_OK);
    return fmi3Error;
}


FMI3_EXPORT fmi3Status
fmi3GetFloat64(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3Float64 value[], size_t n_values)
{
    if (!fmu_enter(instance, FMU_READABLE, "fmi3GetFloat64"))
        return fmi3Error;
    if (n != n_values)
        return wrong_size(instance, n, n_values);
    FmuStatus status = fmu_get(instance, reference, n, MDL_REAL, value);
    fmu_leave(instance, FMU_OK);
    return (fmi3Status)status;
}

FMI3_EXPORT fmi3Status
fmi3SetFloat64(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3Float64 value[], size_t n_values)
{
    if (!fmu_enter(instance, FMU_SETTABLE_IN, "fmi3SetFloat64"))
        return fmi3Error;
    if (n != n_values)
        return wrong_size(instance, n, n_values);
    FmuStatus status = fmu_set(instance, reference, n, MDL_REAL, value);
    fmu_leave(instance, FMU_OK);
    return (fmi3Status)status;
}

// Types of less than a double, one by one: what kind of variable each is, and what its number is as such a value.
#define NARROW(name, type, kind, value_of_number) \
    FMI3_EXPORT fmi3Status fmi3Get##name(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, type value[], size_t n_values) \
    { \
        if (!fmu_enter(instance, FMU_READABLE, "fmi3Get" #name)) \
            return fmi3Error; \
        if (n != n_values) \
            return wrong_size(instance, n, n_values); \
        FmuStatus status = FMU_OK; \
        for (size_t i = 0; i < n && status == FMU_OK; i++) { \
            double number = 0; \
            status = fmu_get(instance, &reference[i], 1, kind, &number); \
            value[i] = value_of_number; \
        } \
        fmu_leave(instance, FMU_OK); \
        return (fmi3Status)status; \
    } \
    FMI3_EXPORT fmi3Status fmi3Set##name(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const type value[], size_t n_values) \
    { \
        if (!fmu_enter(instance, FMU_SETTABLE_IN, "fmi3Set" #name)) \
            return fmi3Error; \
        if (n != n_values) \
            return wrong_size(instance, n, n_values); \
        FmuStatus status = FMU_OK; \
        for (size_t i = 0; i < n && status == FMU_OK; i++) { \
            double number = (double)value[i]; \
            status = fmu_set(instance, &reference[i], 1, kind, &number); \
        } \
        fmu_leave(instance, FMU_OK); \
        return (fmi3Status)status; \
    }
NARROW(Int64, fmi3Int64, fmu_whole_type(reference[i]), (fmi3Int64)number)
NARROW(Boolean, fmi3Boolean, MDL_BOOLEAN, number != 0)
#undef NARROW

static fmi3Status
no_such_type(FmuInstance *instance, size_t n, const char *call)
{
    if (!fmu_enter(instance, ~0u, call))
        return fmi3Error;
    if (n)
        fmu_say(instance, FMU_ERROR, "%s: the unit has no variable of that type", call);
    fmu_leave(instance, FMU_OK);
    return n ? fmi3Error : fmi3OK;
}

// Types that no variable has.
#define ABSENT(name, type) \
    FMI3_EXPORT fmi3Status fmi3Get##name(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, type value[], size_t n_values) \
    { \
        (void)reference, (void)value, (void)n_values; \
        return no_such_type(instance, n, "fmi3Get" #name); \
    } \
    FMI3_EXPORT fmi3Status fmi3Set##name(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const type value[], size_t n_values) \
    { \
        (void)reference, (void)value, (void)n_values; \
        return no_such_type(instance, n, "fmi3Set" #name); \
    }
ABSENT(Float32, fmi3Float32)
ABSENT(Int8, fmi3Int8)
ABSENT(UInt8, fmi3UInt8)
ABSENT(Int16, fmi3Int16)
ABSENT(UInt16, fmi3UInt16)
ABSENT(Int32, fmi3Int32)
ABSENT(UInt32, fmi3UInt32)
ABSENT(UInt64, fmi3UInt64)
ABSENT(String, fmi3String)
#undef ABSENT

FMI3_EXPORT fmi3Status
fmi3GetBinary(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, size_t size[], fmi3Binary value[], size_t n_values)
{
    (void)reference, (void)size, (void)value, (void)n_values;
    return no_such_type(instance, n, "fmi3GetBinary");
}

FMI3_EXPORT fmi3Status
fmi3SetBinary(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const size_t size[], const fmi3Binary value[], size_t n_values)
{
    (void)reference, (void)size, (void)value, (void)n_values;
    return no_such_type(instance, n, "fmi3SetBinary");
}

FMI3_EXPORT fmi3Status
fmi3GetClock(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3Clock value[])
{
    (void)reference, (void)value;
    return no_such_type(instance, n, "fmi3GetClock");
}

FMI3_EXPORT fmi3Status
fmi3SetClock(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3Clock value[])
{
    (void)reference, (void)value;
    return no_such_type(instance, n, "fmi3SetClock");
}

FMI3_EXPORT fmi3Status
fmi3GetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3Float64 interval[], fmi3IntervalQualifier qualifier[])
{
    (void)reference, (void)interval, (void)qualifier;
    return no_such_type(instance, n, "fmi3GetIntervalDecimal");
}

FMI3_EXPORT fmi3Status
fmi3GetIntervalFraction(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3UInt64 counter[], fmi3UInt64 resolution[],
                        fmi3IntervalQualifier qualifier[])
{
    (void)reference, (void)counter, (void)resolution, (void)qualifier;
    return no_such_type(instance, n, "fmi3GetIntervalFraction");
}

FMI3_EXPORT fmi3Status
fmi3GetShiftDecimal(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3Float64 shift[])
{
    (void)reference, (void)shift;
    return no_such_type(instance, n, "fmi3GetShiftDecimal");
}

FMI3_EXPORT fmi3Status
fmi3GetShiftFraction(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, fmi3UInt64 counter[], fmi3UInt64 resolution[])
{
    (void)reference, (void)counter, (void)resolution;
    return no_such_type(instance, n, "fmi3GetShiftFraction");
}

FMI3_EXPORT fmi3Status
fmi3SetIntervalDecimal(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3Float64 interval[])
{
    (void)reference, (void)interval;
    return no_such_type(instance, n, "fmi3SetIntervalDecimal");
}

FMI3_EXPORT fmi3Status
fmi3SetIntervalFraction(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3UInt64 counter[],
                        const fmi3UInt64 resolution[])
{
    (void)reference, (void)counter, (void)resolution;
    return no_such_type(instance, n, "fmi3SetIntervalFraction");
}

FMI3_EXPORT fmi3Status
fmi3SetShiftDecimal(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3Float64 shift[])
{
    (void)reference, (void)shift;
    return no_such_type(instance, n, "fmi3SetShiftDecimal");
}

FMI3_EXPORT fmi3Status
fmi3SetShiftFraction(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3UInt64 counter[], const fmi3UInt64 resolution[])
{
    (void)reference, (void)counter, (void)resolution;
    return no_such_type(instance, n, "fmi3SetShiftFraction");
}

FMI3_EXPORT fmi3Status
fmi3ActivateModelPartition(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock, (void)time;
    return no_such_type(instance, 1, "fmi3ActivateModelPartition");
}

// Dependencies change only together with the structure, which is fixed: those of modelDescription.xml hold.
FMI3_EXPORT fmi3Status
fmi3GetNumberOfVariableDependencies(fmi3Instance instance, fmi3ValueReference reference, size_t *n)
{
    (void)reference, (void)n;
    return no_such_type(instance, 1, "fmi3GetNumberOfVariableDependencies (there are no structural parameters)");
}

FMI3_EXPORT fmi3Status
fmi3GetVariableDependencies(fmi3Instance instance, fmi3ValueReference dependent, size_t element_dependent[], fmi3ValueReference independent[],
                            size_t element_independent[], fmi3DependencyKind kind[], size_t n)
{
    (void)dependent, (void)element_dependent, (void)independent, (void)element_independent, (void)kind, (void)n;
    return no_such_type(instance, 1, "fmi3GetVariableDependencies (there are no structural parameters)");
}

// --- derivatives, states

static fmi3Status
differentiate(FmuInstance *instance, const fmi3ValueReference unknown[], size_t n_unknown, const fmi3ValueReference known[], size_t n_known,
              const fmi3Float64 seed[], size_t n_seed, fmi3Float64 answer[], size_t n_answer, bool adjoint, const char *call)
{
    if (!fmu_enter(instance, FMU_INITIALIZING | FMU_READY | FMU_TERMINATED, call))
        return fmi3Error;
    if (n_seed != (adjoint ? n_unknown : n_known))
        return wrong_size(instance, adjoint ? n_unknown : n_known, n_seed);
    if (n_answer != (adjoint ? n_known : n_unknown))
        return wrong_size(instance, adjoint ? n_known : n_unknown, n_answer);
    FmuStatus status = fmu_derivative(instance, unknown, n_unknown, known, n_known, seed, adjoint, answer);
    fmu_leave(instance, FMU_OK);
    return (fmi3Status)status;
}

FMI3_EXPORT fmi3Status
fmi3GetDirectionalDerivative(fmi3Instance instance, const fmi3ValueReference unknown[], size_t n_unknown, const fmi3ValueReference known[],
                             size_t n_known, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    return differentiate(instance, unknown, n_unknown, known, n_known, seed, n_seed, sensitivity, n_sensitivity, false,
                         "fmi3GetDirectionalDerivative");
}

FMI3_EXPORT fmi3Status
fmi3GetAdjointDerivative(fmi3Instance instance, const fmi3ValueReference unknown[], size_t n_unknown, const fmi3ValueReference known[],
                         size_t n_known, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    return differentiate(instance, unknown, n_unknown, known, n_known, seed, n_seed, sensitivity, n_sensitivity, true,
                         "fmi3GetAdjointDerivative");
}

FMI3_EXPORT fmi3Status
fmi3GetFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    return (fmi3Status)fmu_state_get(instance, state, "fmi3GetFMUState");
}

FMI3_EXPORT fmi3Status
fmi3SetFMUState(fmi3Instance instance, fmi3FMUState state)
{
    return (fmi3Status)fmu_state_set(instance, state, "fmi3SetFMUState");
}

FMI3_EXPORT fmi3Status
fmi3FreeFMUState(fmi3Instance instance, fmi3FMUState *state)
{
    (void)instance;
    return (fmi3Status)fmu_state_free(state);
}

FMI3_EXPORT fmi3Status
fmi3SerializedFMUStateSize(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    (void)instance;
    return (fmi3Status)fmu_state_size(state, size);
}

FMI3_EXPORT fmi3Status
fmi3SerializeFMUState(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    return (fmi3Status)fmu_state_write(instance, state, bytes, size, "fmi3SerializeFMUState");
}

FMI3_EXPORT fmi3Status
fmi3DeserializeFMUState(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    return (fmi3Status)fmu_state_read(instance, bytes, size, state, "fmi3DeserializeFMUState");
}

// --- event mode

// Nothing waits for a second call: the event iteration settles all at once in fmi3UpdateDiscreteStates.
FMI3_EXPORT fmi3Status
fmi3EvaluateDiscreteStates(fmi3Instance instance)
{
    return no_such_type(instance, 1, "fmi3EvaluateDiscreteStates (providesEvaluateDiscreteStates is false)");
}

FMI3_EXPORT fmi3Status
fmi3UpdateDiscreteStates(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *moved,
                         fmi3Boolean *has_next, fmi3Float64 *next)
{
    if (!fmu_enter(instance, FMU_EVENTS, "fmi3UpdateDiscreteStates"))
        return fmi3Error;
    FmuUpdate update;
    FmuStatus status = fmu_update(instance, &update);
    *again = *nominals = false;
    *terminate = update.terminate;
    *moved = update.moved;
    *has_next = update.has_next;
    *next = update.has_next ? update.next : 0;
    return (fmi3Status)fmu_leave(instance, status);
}

// --- model exchange

FMI3_EXPORT fmi3Status
fmi3CompletedIntegratorStep(fmi3Instance instance, fmi3Boolean keep, fmi3Boolean *event, fmi3Boolean *terminate)
{
    (void)keep;
    *event = *terminate = false;
    if (!fmu_enter(instance, FMU_CONTINUOUS, "fmi3CompletedIntegratorStep"))
        return fmi3Error;
    return (fmi3Status)fmu_leave(instance, fmu_accept(instance, event, terminate));
}

FMI3_EXPORT fmi3Status
fmi3SetTime(fmi3Instance instance, fmi3Float64 time)
{
    if (!fmu_enter(instance, FMU_CONTINUOUS | FMU_EVENTS, "fmi3SetTime"))
        return fmi3Error;
    return (fmi3Status)fmu_leave(instance, fmu_point(instance, time, NULL));
}

FMI3_EXPORT fmi3Status
fmi3SetContinuousStates(fmi3Instance instance, const fmi3Float64 state[], size_t n)
{
    if (!fmu_enter(instance, FMU_CONTINUOUS, "fmi3SetContinuousStates"))
        return fmi3Error;
    bool good = fmu_fits(instance, n, FMU_LOOK_STATES);
    if (good)
        fmu_point(instance, of(instance)->time, state);
    fmu_leave(instance, FMU_OK);
    return good ? fmi3OK : fmi3Error;
}

FMI3_EXPORT fmi3Status
fmi3GetContinuousStateDerivatives(fmi3Instance instance, fmi3Float64 value[], size_t n)
{
    return (fmi3Status)fmu_look(instance, FMU_LOOK_RATES, value, n, "fmi3GetContinuousStateDerivatives");
}

FMI3_EXPORT fmi3Status
fmi3GetEventIndicators(fmi3Instance instance, fmi3Float64 value[], size_t n)
{
    return (fmi3Status)fmu_look(instance, FMU_LOOK_INDICATORS, value, n, "fmi3GetEventIndicators");
}

FMI3_EXPORT fmi3Status
fmi3GetContinuousStates(fmi3Instance instance, fmi3Float64 value[], size_t n)
{
    return (fmi3Status)fmu_look(instance, FMU_LOOK_STATES, value, n, "fmi3GetContinuousStates");
}

FMI3_EXPORT fmi3Status
fmi3GetNominalsOfContinuousStates(fmi3Instance instance, fmi3Float64 value[], size_t n)
{
    return (fmi3Status)fmu_look(instance, FMU_LOOK_NOMINALS, value, n, "fmi3GetNominalsOfContinuousStates");
}

FMI3_EXPORT fmi3Status
fmi3GetNumberOfEventIndicators(fmi3Instance instance, size_t *n)
{
    *n = instance ? mdl_fmu_head[FMU_INDICATORS] : 0;
    return instance ? fmi3OK : fmi3Error;
}

FMI3_EXPORT fmi3Status
fmi3GetNumberOfContinuousStates(fmi3Instance instance, size_t *n)
{
    *n = instance ? mdl_fmu_head[FMU_STATES] : 0;
    return instance ? fmi3OK : fmi3Error;
}

// --- co-simulation

FMI3_EXPORT fmi3Status
fmi3GetOutputDerivatives(fmi3Instance instance, const fmi3ValueReference reference[], size_t n, const fmi3Int32 order[], fmi3Float64 value[],
                         size_t n_values)
{
    (void)reference, (void)order, (void)value, (void)n_values;
    if (!fmu_enter(instance, ~0u, "fmi3GetOutputDerivatives"))
        return fmi3Error;
    if (n)
        fmu_say(instance, FMU_ERROR, "derivatives of outputs by time are not given (maxOutputDerivativeOrder is 0)");
    fmu_leave(instance, FMU_OK);
    return n ? fmi3Error : fmi3OK;
}

static bool
watch(FmuInstance *instance, double time, bool finished)
{
    fmi3Boolean back = false;
    fmi3Float64 when = time;
    unsigned own = float_control();
    float_control_set(instance->control);
    ((fmi3IntermediateUpdateCallback)instance->intermediate)(instance->environment, time, false, true, finished, instance->early_return, &back, &when);
    float_control_set(own);
    return back && instance->early_return;
}

FMI3_EXPORT fmi3Status
fmi3DoStep(fmi3Instance instance, fmi3Float64 time, fmi3Float64 length, fmi3Boolean no_return, fmi3Boolean *event, fmi3Boolean *terminate,
           fmi3Boolean *early, fmi3Float64 *last)
{
    (void)no_return;
    if (!fmu_enter(instance, FMU_STEPS, "fmi3DoStep"))
        return fmi3Error;
    FmuStep step;
    FmuStatus status = fmu_step(instance, time, length, of(instance)->intermediate ? watch : NULL, &step);
    *event = step.event;
    *terminate = step.terminate;
    *early = step.early;
    *last = step.last;
    return (fmi3Status)fmu_leave(instance, status);
}
