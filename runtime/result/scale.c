// scale.c: states that are smaller than what the integration neglects, or not much larger.
//
// Purpose: a state is integrated to the tolerance of itself and of its nominal value, which is 1 unless the model says otherwise. Charges of
//          picocoulombs stay below that, and what is written of them may be wrong in its first digit.
// Method: the largest magnitude of each state over all steps is compared with its absolute tolerance. A state that stays below a hundred times as
//         much, so that it is known to one per cent at best, is told when its start value was written and is not zero; or when all states do so
//         by more than rounding makes of zeros. Others may be zeros that symmetry keeps.
// Contract: result.h. A warning at the end of the run, once. Complexity: a comparison per step, and one per state
//           and step from the first state on that has not reached its tolerance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/linear/nvector.h"
#include "runtime/point/part.h"
#include "runtime/result/result.h"

static const double ROUNDING = 1e-16; // of a nominal value: rounding makes no more of what is zero
static const double SHARE = 0.01;     // of a state, which may be neglected
enum { NAMED = 3 };

static bool
is_small(const Run *run, uint32_t state)
{
    return SHARE * run->reached[state] < run->abstol[state];
}

MDL_CHECKED static int
scale_create(Run *run)
{
    run->reached = calloc((size_t)run->model->nx + 1, sizeof *run->reached);
    return run->reached ? MDL_OK : MDL_INTERNAL;
}

static void
scale_free(Run *run)
{
    free(run->reached);
}

static bool
present(const Run *run)
{
    return run->model->nx != 0;
}

MDL_CHECKED static int
scale_record(Run *run, double before, double instant)
{
    (void)before;
    (void)instant;
    while (run->watched < run->model->nx && !is_small(run, run->watched))
        run->watched++;
    if (run->watched < run->model->nx)
        nvector_largest(run->options->threads, run->y + run->watched, run->reached + run->watched, run->model->nx - run->watched);
    return MDL_OK;
}

static void
scale_snapshot(Run *run, Snapshot *snapshot)
{
    snapshot_part(snapshot, run->reached, run->model->nx * sizeof *run->reached);
    snapshot_part(snapshot, &run->watched, sizeof run->watched);
}

// Whether all states are small, and one is more than rounding.
static bool
all_small(const Run *run)
{
    bool more = false;
    for (uint32_t i = 0; i < run->model->nx; i++) {
        if (!is_small(run, i))
            return false;
        more = more || run->reached[i] > ROUNDING * fabs(run->v[run->model->nominal + i]);
    }
    return more;
}

void
scale_end(Run *run)
{
    const mdl_model *model = run->model;
    bool all = model->nx && all_small(run);
    uint32_t first = UINT32_MAX, count = 0;
    char others[512] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < model->nx; i++) {
        bool small = is_small(run, i) && run->reached[i] > 0;
        if (!small || !(all || model->v0[model->y + i] != 0))
            continue;
        first = count ? first : i;
        if (count++ && count <= NAMED && length < sizeof others)
            length += (size_t)snprintf(others + length, sizeof others - length, ", `%s`", model->state_name[i]);
    }
    if (!count || run->solver == MDL_SOLVER_RK4)
        return;
    char what[64] = "which is less than the integration neglects";
    if (run->reached[first] >= run->abstol[first])
        snprintf(what, sizeof what, "of which the integration neglects %.2g %%", 100 * run->abstol[first] / run->reached[first]);
    run_message(run, MDL_WARNING, "`%s`%s%s: at most %.3g, %s (%.3g, from the tolerance and the nominal value %.3g)"
                "\nthe values may be wrong; write nominal = %.1g there, the usual size, or run with --abstol %.1g", model->state_name[first], others,
                count > NAMED ? " and others" : "", run->reached[first], what, run->abstol[first], fabs(run->v[model->nominal + first]),
                run->reached[first], run->tolerance * run->reached[first]);
}

const RunPart scale_part = {
    .name = "scale", .create = scale_create, .free = scale_free, .present = present, .record = scale_record, .snapshot = scale_snapshot,
};
