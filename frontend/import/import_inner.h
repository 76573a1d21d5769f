// import_inner.h: what the description of a unit says, for the files of frontend/import.
#ifndef MDLC_FRONTEND_IMPORT_IMPORT_INNER_H
#define MDLC_FRONTEND_IMPORT_IMPORT_INNER_H

#include <stdint.h>

#include "frontend/import/import.h"
#include "ir/base/arena.h"
#include "ir/base/vec.h"

enum { UNIT_NONE = UINT32_MAX };

typedef enum UnitCausality { UNIT_LOCAL, UNIT_PARAMETER, UNIT_CALCULATED, UNIT_INPUT, UNIT_OUTPUT, UNIT_INDEPENDENT, UNIT_STRUCTURAL } UnitCausality;

typedef struct UnitDimension {
    uint32_t size;            // UNIT_NONE: it is the value of
    uint32_t reference;       // this structural parameter
} UnitDimension;

typedef struct DescribedVariable {
    const char *name, *description, *start, *minimum, *maximum, *nominal, *unit; // NULL: not given
    const char *type;         // of the layout of runtime/model/imported.h; NULL: none that is imported
    const char *kind;         // element of the description: Real, Float64, ...
    const char *declared;     // name of its type, NULL
    uint32_t reference;
    uint32_t derivative_of;   // FMI 2: number of the variable, from 1; FMI 3: value reference; UNIT_NONE
    UnitCausality causality;
    bool discrete, constant;  // its variability: continuous otherwise
    bool settable;            // initial = exact, or what stands for it
    bool reinitialized;
    uint32_t first_dimension, n_dimensions;
    uint32_t count;           // elements
} DescribedVariable;

// An output, rate or indicator, and what it depends on.
typedef struct DescribedUnknown {
    uint32_t variable;        // in Description.variable
    bool all;                 // dependencies are not given
    uint32_t first, n;        // in Description.dependency: variables
} DescribedUnknown;

typedef struct DescribedType {
    const char *name, *unit, *minimum, *maximum, *nominal; // NULL: not given
} DescribedType;

typedef struct Description {
    Arena *arena;
    int version;
    const char *model_name, *description, *token, *tool, *exchange, *cosimulation; // identifiers of the interfaces, NULL: it has none
    double start_time, stop_time, step_size, tolerance; // NAN: not given
    double fixed_step;        // of co-simulation, NAN
    uint32_t indicators;
    bool needs_tool, scheduled; // it has scheduled execution
    bool completed;           // it is to be told of accepted steps
    bool derivatives;         // it gives directional derivatives (model exchange)
    VEC(DescribedVariable) variable;
    VEC(UnitDimension) dimension;
    VEC(DescribedUnknown) output, rate;
    U32Vec dependency;
    VEC(DescribedType) type;
    void *references;         // variables by value reference, of description_find
    uint32_t n_references;
} Description;

// Reads `folder`/modelDescription.xml. Lines in `why`.
ImportFailure description_read(Description *description, const char *folder, Out *why);
void description_free(Description *description);
// The number of the variable with a value reference ; UNIT_NONE.
uint32_t description_find(const Description *description, uint32_t reference);

// Which variables take part in an import, and in which order.
typedef struct Roles {
    U32Vec starts, inputs, states, rates, held;
    // Outputs that depend on the same inputs, one group after the other: group k is group_at.at[k] .. group_at.at[k + 1] of `outputs`, and its
    // inputs are input_at.at[k] .. of `group_inputs`, numbers in `inputs`.
    U32Vec outputs, group_at, group_inputs, input_at;
    uint32_t strings;         // of types that are not imported
    bool derivatives;         // directional derivatives by states and continuous inputs can be had, which all are of type f64
} Roles;

// False: lines in `why`.
bool roles_find(const Description *description, bool stepping, Roles *roles, Out *why);
void roles_free(Roles *roles);
// The text that runtime/model/imported.h describes.
void layout_print(const Description *description, const Roles *roles, bool stepping, Out *out);

// Whether the unit, unpacked into `folder`, has the library `identifier` for this computer. False: lines in `why`.
bool binaries_check(const Description *description, const char *folder, const char *identifier, Out *why);

// The name of the parameter that holds a start value: that of a parameter is its own. In quotes where it has to be.
void imported_start_name(const DescribedVariable *variable, Out *out);
// A number, a Boolean or an integer as the language writes it; NULL: 0 or false.
void imported_value(const DescribedVariable *variable, const char *text, Out *out);
// The start value of a variable, nested as its dimensions.
void imported_start(const Description *description, const DescribedVariable *variable, Out *out);
// A name as the language writes it: as it is, or in quotes.
void imported_name(const char *name, Out *out);
// A string literal.
void imported_string(const char *text, Out *out);

#endif
