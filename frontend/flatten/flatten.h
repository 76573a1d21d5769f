// flatten.h: the door of frontend/flatten: one model from its fragments.
//
// In: a class to be compiled.
// Out: the flat model (ir/dae), with connections as records; or what a library has to be checked for.
// Read first: instantiate.c, then flat_model.c.
#ifndef MDLC_FRONTEND_FLATTEN_FLATTEN_H
#define MDLC_FRONTEND_FLATTEN_FLATTEN_H

#include "frontend/names/names.h"
#include "ir/dae/dae.h"

typedef struct Override { // --set NAME=VALUE: an outermost modification
    const char *name, *value;
} Override;

typedef struct ElaborateOptions {
    const char *class_name;   // NULL: the only, or the last, non-partial model of the last file added
    uint32_t class_id;        // instead of a name, from program_survey(); 0: none
    bool part;                // the class is a part of models: overconstrained flanges need no root
    bool defaults;            // values of parameters are defaults that models replace: assertions about them need not hold
    const Override *overrides;
    uint32_t n_overrides;
    uint64_t max_scalars;     // 0: 50 million; "a huge array" is an error, not a crash
} ElaborateOptions;

typedef enum SurveyKind {
    SURVEY_NOTHING,
    SURVEY_MODEL,         // stands alone, when it has no flanges
    SURVEY_PART,          // body, element, constraint, memory
    SURVEY_FUNCTION,      // class_id is a model that calls it
    SURVEY_TYPE,          // record, connector, type: class_id is a model with a component of it
    SURVEY_CONSTANTS,     // of a package: class_id is a model that has them
    SURVEY_OPEN_FUNCTION, // its sizes come from its calls
    SURVEY_PARTIAL
} SurveyKind;

typedef struct SurveyItem {
    const char *name;
    uint32_t class_id;
    SurveyKind kind;
    bool block;
} SurveyItem;
typedef struct Survey {
    VEC(SurveyItem) items;
    uint32_t misread; // errors in the texts of the package, whichever class they are in
} Survey;

// The classes of the last file added, or of the package `name` (NULL: none), that can be checked one by one, in the order of the
// text. False when the file has a model at its top or nothing that can be checked, when `name` is no package, or after errors.
bool program_survey(Program *program, const char *name, Survey *survey);

// Warnings about names in the last file added that nothing uses, or that hide others; for a program without errors.
void program_warn_names(Program *program);

// The flat model, or NULL after errors. Connections and bonds are still records (pass bonds).
Dae *elaborate(Program *program, const ElaborateOptions *options, Diags *diags);

#endif
