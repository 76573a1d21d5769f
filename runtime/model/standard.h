// standard.h: the C functions that the Modelica Standard Library declares as external, written anew, so that a model which uses
// them needs neither that library's C sources nor a C compiler.
//
// A function is an ExternalCode (ir/expr/routine.h): in[0] is the number of the failure to be noted, whose text is a template with one address
// of a text; then each argument of the call in its order, as the number of its scalars, negative for results, and these. Results hold what they
// held before the call. out[] has what is returned, then the results in the order of the arguments. Strings and enumerations, sizes and
// Booleans are numbers; an external object is a handle (runtime/model/objects.h).
#ifndef MDL_STANDARD_H
#define MDL_STANDARD_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/model/objects.h"

typedef void mdl_standard_code(const double *in, double *out, double *state);

typedef struct mdl_standard {
    const char *name;         // in C, or of the subroutine in FORTRAN 77
    const char *symbol;       // of the code
    mdl_standard_code *code;
    int arguments;            // besides what is returned
    int effect;               // what it gives is not a matter of its arguments alone: it prints, fails, or remembers
} mdl_standard;

// The function of this name that is declared with this library; NULL: none.
const mdl_standard *mdl_standard_find(const char *name, const char *library);
// That whose code has this symbol; NULL: none.
const mdl_standard *mdl_standard_coded(const char *symbol);
// It runs code that is not mdlc's own, as that of an imported unit: it is called with --allow-external only.
bool mdl_standard_is_foreign(const mdl_standard *standard);

// The generators of random numbers among the objects of a run (texts.h), which go on from where they are: their states as numbers into
// `to` (NULL: none are written); how many they are. They are taken back by a run that has the same generators, or none yet; false: these
// are no such numbers, or memory is exhausted.
size_t mdl_generators_save(const mdl_objects *objects, double *to);
bool mdl_generators_load(mdl_objects *objects, const double *from, size_t n);

#endif
