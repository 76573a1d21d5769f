// step_points.h: the points of a step at which values that enter a memory are kept (step_points.c).
#ifndef MDLC_RUNTIME_MEMORY_STEP_POINTS_H
#define MDLC_RUNTIME_MEMORY_STEP_POINTS_H

#include "runtime/point/run.h"
#include "runtime/point/snapshot.h"

// Values of v that a memory keeps; `row` has room for all of them.
typedef void StepRead(const Run *run, double *row);

typedef struct StepPoints {
    uint32_t columns;      // values per point
    double *time, *value;  // ascending; `columns` values per point
    uint8_t *apart;        // per point: between it and the one before values are not smooth
    size_t points, capacity;
    size_t first;          // those before are of earlier steps
    double *size;          // per column: the largest magnitude so far
    double *row;           // work space
    uint32_t in_vain;      // steps in a row whose values stayed rough
} StepPoints;

bool step_points_create(StepPoints *points, uint32_t columns);
void step_points_free(StepPoints *points);
// Behind an event, or at the start, with v there: the first point of a new stretch.
void step_points_begin(StepPoints *points, const Run *run, StepRead *read);
// Evaluates the model within an accepted step up to `instant`, where v is afterwards. Points [first, points) are then those to be kept. A status
// of evaluate_at(), or MDL_INTERNAL: out of memory.
MDL_CHECKED int step_points_take(StepPoints *points, Run *run, double instant, StepRead *read);
void step_points_snapshot(StepPoints *points, Snapshot *snapshot);

#endif
