// export.h: the door of frontend/export: a compiled model as a functional mock-up unit (FMI 2.0.5, 3.0.2), and for programs in C.
//
// In: a compiled model, with a run of it that stands at its start.
// Out: what importers see of it (variables, units, structure) as modelDescription.xml, tables for runtime/fmu, licences, the archive.
// Read first: exported.c, then description.c and unit_archive.c.
// Also open to other rooms: header.h, unit_archive.h.
#ifndef MDLC_FRONTEND_EXPORT_EXPORT_H
#define MDLC_FRONTEND_EXPORT_EXPORT_H

#include "ir/base/out.h"
#include "ir/base/vec.h"
#include "ir/dae/dae.h"
#include "ir/dae/sys.h"
#include "runtime/fmu/fmu.h"
#include "runtime/model/sim.h"

typedef enum ExportedCausality { CAUSED_LOCAL, CAUSED_PARAMETER, CAUSED_CALCULATED, CAUSED_INPUT, CAUSED_OUTPUT, CAUSED_INDEPENDENT } ExportedCausality;
typedef enum Variability { VARIES_CONSTANT, VARIES_FIXED, VARIES_DISCRETE, VARIES_CONTINUOUS } Variability;
typedef enum Initial { INITIAL_NONE, INITIAL_EXACT, INITIAL_APPROX, INITIAL_CALCULATED } Initial;

// The variables that are shown: all; those that are not protected; inputs, outputs and parameters that can be set.
typedef enum Expose { EXPOSE_ALL, EXPOSE_PUBLIC, EXPOSE_INTERFACE } Expose;

typedef struct ExportedVariable {
    const char *name, *description;
    uint32_t declaration;     // index into mdl_model.declaration; NONE: made here
    uint32_t reference;       // value reference: row of Exported.row
    uint32_t main;            // index of the variable whose alias this is; NONE: of none
    uint8_t type;             // mdl_type
    uint8_t causality, variability, initial;
    bool has_start, is_derivative, jumps; // a state that events may set
    double start, low, high, nominal; // NAN: not given
    uint32_t derivative_of, derivative_number; // value reference of a state, and its number; NONE
} ExportedVariable;

typedef struct Exported {
    Arena *arena;
    const Dae *dae;
    const mdl_model *model;
    mdl_run *run;             // at the start
    int version;              // of FMI: 2 or 3
    Expose expose;
    uint32_t interfaces;      // FMU_EXCHANGE | FMU_COSIMULATION
    bool derivatives;         // directional derivatives can be had
    const char *identifier, *token;
    VEC(ExportedVariable) variable;
    VEC(uint32_t) row;        // FMU_COLUMNS for each value reference
    uint32_t states, indicators;
    uint32_t *state, *rate;   // indices into `variable`, in the order of the states
    uint32_t *indicator;
    const Sys *sys;
} Exported;

// --- exported.c: what importers see
// Of a run that was opened with options.outside, and stands at its start.
void exported_gather(Exported *exported);
void exported_free(Exported *exported);
// An identifier of C from the model's name, in the exported's arena.
const char *exported_identifier(Arena *arena, const char *name);
// The tables that runtime/fmu has of the model, in C.
void exported_tables(const Exported *exported, Out *out);

// --- dependencies.c
// What unknowns of the description are computed from.
typedef struct Dependencies {
    uint32_t *known, n;       // indices into Exported.variable: what an importer knows; in the exported's arena
    uint32_t nv, words;
    uint64_t *set;            // per place of v; NULL: the sets would be large
} Dependencies;
// At the start of the simulation, or at any later instant.
Dependencies dependencies_find(const Exported *exported, bool start);
void dependencies_free(Dependencies *found);
// Whether a value may depend on the i-th known; `set` is there. Places beyond v may depend on all.
bool dependencies_has(const Dependencies *found, uint32_t place, uint32_t i);

// --- description.c
void description_print(const Exported *exported, Out *out);

// --- unit_definitions.c: all units, and types of enumerations
void units_print(const Exported *exported, Out *out);
void types_print(const Exported *exported, Out *out);
// What the description calls the enumeration of a declaration, in the exported's arena.
const char *types_name(const Exported *exported, uint32_t declaration);

// --- unit_library.c: the library, for a platform
typedef struct Platform {
    const char *name;         // the folder in FMI 3
    const char *old_name;     // in FMI 2
    const char *suffix;
    const char *triple, *compiler; // NULL: those of this computer
    const char *runtime;      // the archive's name
    const char *package;      // which brings the compiler
} Platform;
enum { PLATFORMS_MOST = 3 };
// Names with commas between them; NULL: this computer's. How many there are; 0 where one is unknown or there twice.
uint32_t platforms_find(const char *names, const Platform **found);

typedef struct LibraryParts {
    const char *object, *external, *tables, *script; // files; no `external`: NULL
    const char *runtime, *target;
    const char *const *words; // libraries of external functions
    uint32_t n_words;
} LibraryParts;
bool library_link(const Exported *exported, const Platform *platform, const LibraryParts *parts, Out *why);
// How others link the library anew.
void library_command(const Exported *exported, const Platform *platform, bool external, Out *out);
// Whether it has KLU in it.
bool library_needs_sparse(const mdl_model *model);

// --- licences.c: what the library contains, and under which conditions
void licences_print(const Exported *exported, bool sparse, Out *out);

#endif
