// ensemble_inner.h: what methods that make steps side by side share with ensemble_steps.c.
#ifndef MDLC_RUNTIME_SOLVER_ENSEMBLE_INNER_H
#define MDLC_RUNTIME_SOLVER_ENSEMBLE_INNER_H

#include "runtime/point/lanes.h"
#include "runtime/solver/solver.h"

// A step that was made beside those of others, for the run in the column to take.
typedef struct LaneStep {
    bool ready, stuck;       // it is there; the run has to look for itself
    bool holds_then, holds;  // all assertions do, at its end and at that of the last step
    double to;               // where it ends
    double *reached;         // unknowns and derivatives there, of the model's n each
} LaneStep;

// Rows within the steps that are ready.
typedef struct LaneRows {
    Lanes *lanes;
    const RowMaker *maker;
    double *states;                      // of all runs
    double *value[LANES_MOST];           // of each run: ENSEMBLE_ROWS rows
    uint32_t length[LANES_MOST], room[LANES_MOST]; // doubles of a row; that there is room for
    double point[LANES_MOST][ENSEMBLE_ROWS];
    bool there[LANES_MOST][ENSEMBLE_ROWS];
    uint32_t count[LANES_MOST];
} LaneRows;

struct Ensemble;
struct LaneWork; // of a method
typedef struct LaneMethod {
    bool (*look)(struct Ensemble *e, Run *typical); // at a run as it starts, before anything else; may be NULL
    bool (*create)(struct Ensemble *e); // e->work. False: out of memory
    void (*free)(struct LaneWork **work);
    // What is known of the run in the column is no longer so; `whose` runs there from now on, NULL: nobody.
    void (*column)(struct Ensemble *e, uint32_t lane, Run *whose);
    // One attempt for each run that `tries`, up to limit[l] at the latest: those that have a step afterwards are ready, and some are stuck.
    void (*attempt)(struct Ensemble *e, bool *tries, const double *limit);
    // What the run's stepper asks for, through this alone, so that programs without ensembles have none of it. A run has begun that is made in its column; may be NULL.
    void (*enter)(Run *run);
    // The step that is there becomes the run's, *status says what has come of it; false: there is none that ends early enough, and the run makes one by itself.
    bool (*step)(Run *run, double limit, int *status);
    // What values within the last step need, which was made so; may be NULL. False: it is not there.
    bool (*between)(Run *run);
    // Whether rows can be made of the step that is ready for the run; what they need, of all runs, lost[l]: it is not there.
    bool (*has_rows)(const struct Ensemble *e, uint32_t lane);
    void (*prepare)(struct Ensemble *e, bool *lost);
    // The states of the runs that are active at those times, within the steps that are ready.
    void (*values)(struct Ensemble *e, const Lanes *lanes, const double *time, double *states);
} LaneMethod;

extern const LaneMethod dop853_lanes, radau_lanes, gauss_lanes;

struct Ensemble {
    const LaneMethod *method;
    Lanes *lanes;
    LaneStep step[LANES_MOST];
    LaneRows rows;
    struct LaneWork *work;
};

// The run is made in its column from here on; false: out of memory, or it does not fit.
bool ensemble_takes(Run *run);
// The step that is ready becomes the run's last one.
void ensemble_take(Run *run);
// A step has been accepted that ends at `to`, with everything at its end in `lanes`.
void ensemble_offer(Lanes *lanes, Run *run, double to, bool holds);
// The run in this column makes the step by itself.
void ensemble_set_stuck(struct Ensemble *e, bool *tries, uint32_t lane);
// The same of all that are `good`, whose ends at to[lane] have been evaluated, with these slopes: those whose ends have no value are stuck.
void ensemble_offer_good(struct Ensemble *e, bool *good, bool *tries, const double *to, const double *slopes);

#endif
