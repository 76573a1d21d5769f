// fmi2.h: types of FMI 2.0.5 that a unit exports, as the standard (sections 2.1 to 4) defines them.
#ifndef MDLC_RUNTIME_FMU_FMI2_H
#define MDLC_RUNTIME_FMU_FMI2_H

#include <stddef.h>

#ifdef _WIN32
#define FMI2_EXPORT __declspec(dllexport)
#else
#define FMI2_EXPORT __attribute__((visibility("default")))
#endif

typedef void *fmi2Component, *fmi2ComponentEnvironment, *fmi2FMUstate;
typedef unsigned fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer, fmi2Boolean;
typedef const char *fmi2String;
typedef char fmi2Byte;

typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

typedef struct fmi2CallbackFunctions {
    void (*logger)(fmi2ComponentEnvironment, fmi2String name, fmi2Status, fmi2String category, fmi2String message, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct fmi2EventInfo {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged, valuesOfContinuousStatesChanged,
        nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

#endif
