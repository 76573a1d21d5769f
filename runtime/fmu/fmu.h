// fmu.h: the door of runtime/fmu: a compiled model as a functional mock-up unit (FMI 2.0.5 and 3.0.2).
//
// In: the model and the tables that `mdlc build -o NAME.fmu` puts beside it.
// Out: the functions of FMI (fmi2.c, fmi3.c) over one instance that both share.
// Read first: unit_instance.c, then values.c, cosim.c and exchange_mode.c.
//
// Status and modes are those of FMI 3; FMI 2 has the same under other names. Value references count the rows of mdl_fmu_variable, for
// all types together.
#ifndef MDLC_RUNTIME_FMU_FMU_H
#define MDLC_RUNTIME_FMU_FMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/model/sim.h"

// Per variable: its place in v, or how far it is behind the end of v (mdl_model.nv: exponentials of fractional derivatives, the
// derivatives of these, and event indicators); index + 1 into mdl_model.settable where it can be set; 1 when its value is the negative of what is there; its mdl_type,
// FMU_STATE, ... for how it may be used.
enum { FMU_PLACE, FMU_SETTABLE, FMU_NEGATIVE, FMU_TYPE, FMU_USE, FMU_COLUMNS };
enum { FMU_IS_STATE = 1, FMU_IS_INPUT = 2, FMU_IS_TIME = 4, FMU_IS_RATE = 8 }; // RATE: what an importer integrates, of the state at that place of yp
// In mdl_fmu_head: how many variables, states, indicators; which interfaces.
enum { FMU_VARIABLES, FMU_STATES, FMU_INDICATORS, FMU_INTERFACES, FMU_HEAD };
enum { FMU_EXCHANGE = 1, FMU_COSIMULATION = 2 };

// What `mdlc build` writes for each model (frontend/export).
extern const mdl_model mdl_program;
extern const char mdl_fmu_token[];
extern const uint32_t mdl_fmu_head[FMU_HEAD];
extern const uint32_t mdl_fmu_variable[][FMU_COLUMNS];

typedef enum FmuStatus { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL } FmuStatus;

// Bits, so that a call names all in which it is allowed.
typedef enum FmuMode {
    FMU_INSTANTIATED = 1, FMU_INITIALIZING = 2, FMU_EVENTS = 4, FMU_STEPS = 8, FMU_CONTINUOUS = 16, FMU_TERMINATED = 32,
    FMU_FAILED = 64, // after Discard of a step, or an error: values can be read, states restored, and it can be reset
} FmuMode;

enum {
    FMU_READY = FMU_EVENTS | FMU_STEPS | FMU_CONTINUOUS,
    FMU_READABLE = FMU_INSTANTIATED | FMU_INITIALIZING | FMU_READY | FMU_TERMINATED | FMU_FAILED,
    FMU_SETTABLE_IN = FMU_INSTANTIATED | FMU_INITIALIZING | FMU_READY,
};

// Categories of messages, in bits, as modelDescription.xml has them.
enum { FMU_LOG_ERROR = 1, FMU_LOG_WARNING = 2, FMU_LOG_NOTE = 4, FMU_LOG_ALL = 7 };

typedef struct FmuInstance FmuInstance;
typedef void FmuLog(const FmuInstance *instance, FmuStatus status, const char *category, const char *text);

struct FmuInstance {
    char *name;
    void *environment;
    void (*logger)(void);     // of the importer, as its standard has it; NULL: none
    void (*intermediate)(void); // likewise: intermediate update of FMI 3
    FmuLog *log;              // calls it
    uint32_t logged;          // FMU_LOG_* categories
    FmuMode mode;
    bool exchange;            // model exchange; otherwise co-simulation
    bool event_mode, early_return; // as the importer wants it (co-simulation of FMI 3)
    mdl_options options;
    mdl_override *override;   // room for all settables
    mdl_run *run;             // NULL: not solved yet
    bool stale;               // something was set since
    bool unsettled;           // an event is to be handled
    bool moved;               // of model exchange: the point is not evaluated
    bool ended;               // the model called terminate(), and it was told
    double time, last;        // the present communication point, or time of integration; the last successful time
    unsigned control;         // of the floating-point unit, as the importer has it
    FmuStatus worst;          // of the call that is being made
};

// --- unit_instance.c: life
// NULL, after a message: the token is another one, or memory is exhausted.
FmuInstance *fmu_create(const FmuInstance *wanted, const char *name, const char *token);
void fmu_free(FmuInstance *instance);
// A call of the importer begins, which is allowed in `modes`; false after a message. fmu_leave() ends it.
bool fmu_enter(FmuInstance *instance, uint32_t modes, const char *call);
FmuStatus fmu_leave(FmuInstance *instance, FmuStatus status);
void fmu_say(FmuInstance *instance, FmuStatus status, const char *format, ...) __attribute__((format(printf, 3, 4)));
FmuStatus fmu_begin(FmuInstance *instance, double start, bool has_stop, double stop, double tolerance); // 0: the model's
// Sums of exponentials for fractional derivatives are states of the description, as many as the tolerance of the export takes: with model exchange
// the importer's counts for everything else, with co-simulation it may make them finer.
void fmu_set_tolerance(FmuInstance *instance, double tolerance);
// Whole calls of the importer, under the name that its version of FMI gives them.
FmuStatus fmu_initialize(FmuInstance *instance, const char *call); // the end of initialization mode
FmuStatus fmu_change_mode(FmuInstance *instance, uint32_t from, FmuMode to, const char *call);
FmuStatus fmu_reset(FmuInstance *instance, const char *call);
// Values for what was set so far: the start is solved anew when something has changed.
FmuStatus fmu_solve(FmuInstance *instance);
// A status of the runtime; FMU_DISCARD for a failure that smaller steps or other values may get over.
FmuStatus fmu_status(int status);
FmuStatus fmu_choose_log(FmuInstance *instance, bool on, const char *const *category, size_t n, const char *call); // categories; n 0: all

// --- left_out.c
long fmu_left_out(void);

// --- values.c
// `type` is what the call is for; values are as the runtime has them.
FmuStatus fmu_get(FmuInstance *instance, const uint32_t *reference, size_t n, mdl_type type, double *value);
FmuStatus fmu_set(FmuInstance *instance, const uint32_t *reference, size_t n, mdl_type type, const double *value);
mdl_type fmu_whole_type(uint32_t reference); // of whole numbers, for both: enumeration or Integer
// The derivatives of `of` when `by` move at these rates (n_of answers), or, transposed, of the sum of `of` with these weights (n_by answers).
FmuStatus fmu_derivative(FmuInstance *instance, const uint32_t *of, size_t n_of, const uint32_t *by, size_t n_by, const double *seed,
                         bool adjoint, double *answer);

// --- unit_state.c: the state of an instance, as whole calls of the importer
// *state is NULL, or a state whose memory is used again.
FmuStatus fmu_state_get(FmuInstance *instance, void **state, const char *call);
FmuStatus fmu_state_set(FmuInstance *instance, const void *state, const char *call);
FmuStatus fmu_state_free(void **state);
FmuStatus fmu_state_size(const void *state, size_t *size);
FmuStatus fmu_state_write(FmuInstance *instance, const void *state, void *bytes, size_t size, const char *call);
FmuStatus fmu_state_read(FmuInstance *instance, const void *bytes, size_t size, void **state, const char *call);

// --- cosim.c
typedef struct FmuStep {
    bool event, terminate, early;
    double last;
} FmuStep;
// Called at each step of the method with its time: true: return there. NULL: nobody asks.
typedef bool FmuWatch(FmuInstance *instance, double time, bool finished);
FmuStatus fmu_step(FmuInstance *instance, double time, double length, FmuWatch *watch, FmuStep *step);

// --- exchange_mode.c, and event mode of both interfaces
typedef struct FmuUpdate {
    bool terminate, moved, has_next;
    double next;
} FmuUpdate;
FmuStatus fmu_update(FmuInstance *instance, FmuUpdate *update);
FmuStatus fmu_accept(FmuInstance *instance, bool *event, bool *terminate);
FmuStatus fmu_point(FmuInstance *instance, double time, const double *state); // NULL: the states that it has
FmuStatus fmu_evaluate(FmuInstance *instance);
typedef enum FmuLook { FMU_LOOK_RATES, FMU_LOOK_INDICATORS, FMU_LOOK_STATES, FMU_LOOK_NOMINALS } FmuLook;
bool fmu_fits(FmuInstance *instance, size_t n, FmuLook what); // false after a message: there are not so many
// A whole call of the importer.
FmuStatus fmu_look(FmuInstance *instance, FmuLook what, double *value, size_t n, const char *call);

#endif
