// components.h: parts of a model that have nothing to do with each other but for time (components.c).
#ifndef MDLC_RUNTIME_POINT_COMPONENTS_H
#define MDLC_RUNTIME_POINT_COMPONENTS_H

#include "runtime/point/point.h"

typedef struct Components {
    uint32_t n;
    uint32_t most;   // states of one of them
    uint32_t *of;    // per unknown, states first: its component
    uint32_t *start; // n + 1: the states of component c are state[start[c]], ..., state[start[c + 1] - 1], ascending
    uint32_t *state;
} Components;

// Made when it is first asked for, and kept by the run until components_free() (point.h). NULL: out of memory.
const Components *run_components(Run *run);

#endif
