// embed_inner.h: what a simulation of embed.h is, for the files that make the interface (embed*.c).
#ifndef MDLC_RUNTIME_SHELL_EMBED_INNER_H
#define MDLC_RUNTIME_SHELL_EMBED_INNER_H

#include "runtime/model/sim.h"
#include "runtime/shell/embed.h"

struct mdl_simulation {
    const mdl_model *model;
    mdl_options options;
    mdl_run *run;           // NULL before mdl_start
    mdl_override *override; // room for all settables
    double *in_force;       // NULL, or values of what can be set when nothing is set
    char said[4096];
    int status;
    bool started;           // the start was found
};

#endif
