// imported.h: functional mock-up units (FMI 2.0.5, 3.0.2) that models have imported, for the files runtime/model/imported*.c.
//
// A unit is an external object. What is known of it (which variables are set and asked for, in which order) is a text that
// `mdlc import` writes into the model:
//
//     fmi 3                          or 2
//     kind exchange                  or cosimulation
//     identifier BouncingBall        of the shared library
//     token {1AE5E10D-...}
//     states 2 indicators 1          their numbers (exchange)
//     completed                      it is to be told of accepted steps
//     state f64 1 1                  where it gives directional derivatives: its states, in their order
//     rate f64 2 1                   and their derivatives
//     start f64 5 1                  a type, a value reference and a number of elements: set before the initialization
//     input f64 9 1 continuous       or discrete; set in the order of these lines
//     held                           what changes at events only (exchange), or everything that is asked for (cosimulation)
//     value i32 7 1                  of the group begun last
//     group 0 2                      values of all times that depend on these inputs, numbers from 0, and on no other
//     value f64 1 1
#ifndef MDL_IMPORTED_H
#define MDL_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/model/objects.h"

typedef enum UnitType { UNIT_F64, UNIT_F32, UNIT_I8, UNIT_U8, UNIT_I16, UNIT_U16, UNIT_I32, UNIT_U32, UNIT_I64, UNIT_U64, UNIT_BOOL, UNIT_TYPES } UnitType;
typedef enum UnitMode { UNIT_CREATED, UNIT_INITIALIZATION, UNIT_EVENT, UNIT_CONTINUOUS, UNIT_STEPPING, UNIT_LOST } UnitMode;

typedef struct UnitVariable {
    UnitType type;
    uint32_t reference;
    size_t count;             // elements
    size_t first;             // of an input: elements of those before it
    bool discrete;            // an input
} UnitVariable;

typedef struct UnitGroup {
    size_t *input;            // numbers of the inputs that it depends on
    size_t n_inputs;
    size_t n_places;          // elements of these inputs
    size_t first, n;          // in Unit.value
    size_t count;             // elements
} UnitGroup;

typedef struct UnitVersion UnitVersion;

// What came of newDiscreteStates.
typedef struct UnitEvent {
    bool again, terminate, states_changed, has_next;
    double next;
} UnitEvent;

// Value references, and how many elements they have: how `answer`, of the unknowns, changes when the knowns move by `seed`.
typedef struct UnitDirection {
    const uint32_t *unknown, *known;
    size_t n_unknown, n_known, answers, seeds;
    const double *seed;
    double *answer;
} UnitDirection;

typedef struct Unit {
    int version;
    bool exchange, completed; // completed: it is to be told of accepted steps
    char *identifier, *token, *folder, *name;
    size_t states, indicators;
    UnitVariable *start, *input, *value, *state, *rate;
    size_t n_starts, n_inputs, n_values, n_states, n_rates, start_places, input_places; // n_states: variables, 0 without directional derivatives
    UnitGroup *group;         // the first one is what is held
    size_t n_groups;

    const UnitVersion *calls;
    void *library, *component; // component is NULL before the first start
    int (*close)(void *library); // dlclose(), which models without units do not link: its version in the GNU library is a recent one
    void *callbacks;          // of FMI 2, owned
    void **entry;             // functions of the library, in the order of calls->names
    UnitMode mode;
    double time;              // that it has
    double instant;           // cosimulation: up to where it has come; exchange: of the event handled last, NAN before
    double last_instant;      // number of the event handled last
    bool asks, ends;          // at the end of a step, `asked`: for an event, behind it; for the end of the simulation
    double asked;
    double due, *due_x;       // a step that it is to be told of: its end, the states there; NAN: none
    double *results;          // of it: states, next instant, held values, whether it ends
    double *before, *event_inputs; // its indicators before that event; inputs at it
    double *inputs, *x;       // that it has; NAN: unknown
    char message[600];        // what it said last
} Unit;

// Functions whose types are the same in both versions (imported_library.c); each version has more behind them.
enum {
    UNIT_FREE, UNIT_RESET, UNIT_EXIT_INITIALIZATION, UNIT_TERMINATE, UNIT_SET_TIME, UNIT_SET_STATES, UNIT_GET_STATES, UNIT_GET_RATES, UNIT_GET_INDICATORS,
    UNIT_ENTER_EVENT, UNIT_ENTER_CONTINUOUS, UNIT_CALLS
};
typedef enum UnitNeed { UNIT_FOR_ALL, UNIT_FOR_EXCHANGE, UNIT_FOR_STEPS } UnitNeed;

#define UNIT_COMMON_NAMES(fmi, rates)                                                                                                             \
    [UNIT_FREE] = fmi "FreeInstance", [UNIT_RESET] = fmi "Reset", [UNIT_EXIT_INITIALIZATION] = fmi "ExitInitializationMode",                      \
    [UNIT_TERMINATE] = fmi "Terminate", [UNIT_SET_TIME] = fmi "SetTime", [UNIT_SET_STATES] = fmi "SetContinuousStates",                           \
    [UNIT_GET_STATES] = fmi "GetContinuousStates", [UNIT_GET_RATES] = fmi "Get" rates, [UNIT_GET_INDICATORS] = fmi "GetEventIndicators",          \
    [UNIT_ENTER_EVENT] = fmi "EnterEventMode", [UNIT_ENTER_CONTINUOUS] = fmi "EnterContinuousTimeMode"
#define UNIT_COMMON_NEEDS                                                                                                                         \
    [UNIT_SET_TIME] = UNIT_FOR_EXCHANGE, [UNIT_SET_STATES] = UNIT_FOR_EXCHANGE, [UNIT_GET_STATES] = UNIT_FOR_EXCHANGE,                            \
    [UNIT_GET_RATES] = UNIT_FOR_EXCHANGE, [UNIT_GET_INDICATORS] = UNIT_FOR_EXCHANGE, [UNIT_ENTER_EVENT] = UNIT_FOR_EXCHANGE,                      \
    [UNIT_ENTER_CONTINUOUS] = UNIT_FOR_EXCHANGE
// The function of the standard at a place of the table.
#define UNIT_CALL(unit, place, result, ...) ((result (*)(__VA_ARGS__))(uintptr_t)(unit)->entry[place])

// A version of the standard. Statuses are those of both: 0 fine, 1 a warning, 2 discarded, 3 and above an error.
struct UnitVersion {
    const char *const *names; // of functions, NULL behind the last
    const UnitNeed *needs;    // which units have those
    size_t optional;          // before this one; from here on none needs to be there
    bool (*create)(Unit *unit);
    int (*enter_initialization)(Unit *unit, double time, double tolerance);
    int (*set)(Unit *unit, const UnitVariable *variable, const double *value);
    int (*get)(Unit *unit, const UnitVariable *variable, double *value);
    int (*update)(Unit *unit, UnitEvent *event);
    int (*complete)(Unit *unit, bool *event, bool *terminate);
    int (*step)(Unit *unit, double time, double length, bool *terminate);
    int (*differentiate)(Unit *unit, const UnitDirection *direction);
};

extern const UnitVersion unit_fmi2, unit_fmi3;

// --- imported_unit.c
// Some unit is to be told of accepted steps.
bool mdl_units_wait(const mdl_objects *objects);
bool mdl_units_any(const mdl_objects *objects); // there are some
// A step has been accepted up to `time`, for which all units have been evaluated.
void mdl_units_accept(const mdl_objects *objects, double time);

// --- imported_layout.c
// Reads the text above. False: unit->message says why.
bool unit_layout(Unit *unit, const char *text);
void unit_layout_free(Unit *unit);

// --- imported_library.c
// The shared library below unit->folder, and its functions. False: unit->message says why.
bool unit_load(Unit *unit);
void unit_unload(Unit *unit);
// The functions that both versions have, as statuses. unit_do: one without arguments.
int unit_do(Unit *unit, int call);
int unit_set_time(Unit *unit, double time);
int unit_set_states(Unit *unit, const double *x);
// States, rates or indicators.
int unit_get(Unit *unit, int call, double *value);
// What the unit says by itself.
void unit_says(Unit *unit, const char *category, const char *text);

#endif
