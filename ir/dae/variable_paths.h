// variable_paths.h: full names of variables one after the other, for whoever writes millions of them.
//
// The path of the instance written last is kept with those around it; variables stand in the order of the model, so that a name
// costs what is new in it.
#ifndef MDLC_IR_DAE_VARIABLE_PATHS_H
#define MDLC_IR_DAE_VARIABLE_PATHS_H

#include "ir/dae/dae.h"

typedef struct PathPart {
    uint32_t inst, length; // the path up to this instance, with its '.', has this length
} PathPart;

// Zero-initialise but for `dae`.
typedef struct Paths {
    const Dae *dae;
    Out text;
    VEC(PathPart) parts;  // outermost first
} Paths;

// Appends the path of the group's instance with its '.', and the name without subscripts.
void paths_group_name(Paths *paths, const Group *group, Out *out);
// Appends what dae_var_name would.
void paths_var_name(Paths *paths, Var var, Out *out);
void paths_free(Paths *paths);

#endif
