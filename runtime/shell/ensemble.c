// ensemble.c: runs of one model with other values, side by side.
//
// Purpose: studies of thousands of runs.
// Method: each run is begun, goes on step by step and ends as in simulate.c; before all of them take a step, the steps of those that use dop853, radau or gauss are made
//         together (runtime/solver/ensemble_steps.c). What the others need is made by themselves.
// Contract: sim.h; a run is the same to the bit whichever others are made with it. Complexity: that of the runs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/float_control.h"
#include "runtime/point/lanes.h"
#include "runtime/point/point.h"
#include "runtime/result/result.h"
#include "runtime/shell/simulate.h"
#include "runtime/solver/solver.h"

typedef struct Member {
    Run run;
    mdl_options options;
    mdl_stats unused;
    double final_time;
    Watch clock;
    int status;
    bool goes_on;
} Member;

enum { METHODS = 3 };
static const mdl_solver method[METHODS] = {MDL_SOLVER_DOP853, MDL_SOLVER_RADAU, MDL_SOLVER_GAUSS};

struct mdl_ensemble {
    const mdl_model *model;
    bool fits;                           // the model has code for several runs, which may be used
    bool tried[METHODS];
    struct Ensemble *together[METHODS];  // NULL: one after the other, or nobody has asked for the method yet
    Member member[LANES_MOST];
};

bool
mdl_solver_goes_together(mdl_solver solver)
{
    for (uint32_t m = 0; m < METHODS; m++)
        if (method[m] == solver)
            return true;
    return false;
}

// How the model begins as it is written, without a word. NULL in `slot`: only whether it fits.
static bool
look(const mdl_model *model, mdl_solver solver, struct Ensemble **slot)
{
    static const RowMaker rows = {result_may_prepare, result_length, result_prepare};
    mdl_options options;
    mdl_stats stats;
    mdl_sink nowhere = {0};
    mdl_options_default(model, &options);
    options.solver = solver;
    options.sink = &nowhere;
    options.check = MDL_CHECK_OFF;
    Run run = {.model = model, .options = &options, .stats = &stats};
    memset(&stats, 0, sizeof stats);
    double final_time = -INFINITY;
    options.final_time = &final_time;
    int status = simulate_set_up(&run);
    if (status == MDL_OK)
        status = result_open(&run);
    if (status == MDL_OK)
        status = simulate_start(&run);
    bool fits = status == MDL_OK && lanes_fit(&run);
    if (fits && slot)
        *slot = ensemble_create(&run, &rows);
    int closed = result_close(&run);
    (void)closed;
    simulate_clean_up(&run);
    return fits;
}

mdl_ensemble *
mdl_ensemble_open(const mdl_model *model)
{
    mdl_ensemble *ensemble = calloc(1, sizeof *ensemble);
    if (!ensemble)
        return NULL;
    ensemble->model = model;
    unsigned control = simulate_flush_subnormals();
    ensemble->fits = model->lanes && model->lanes->width <= LANES_MOST && look(model, method[0], NULL);
    float_control_set(control);
    return ensemble;
}

void
mdl_ensemble_close(mdl_ensemble *ensemble)
{
    if (!ensemble)
        return;
    for (uint32_t m = 0; m < METHODS; m++)
        ensemble_free(&ensemble->together[m]);
    free(ensemble);
}

uint32_t
mdl_ensemble_width(const mdl_ensemble *ensemble)
{
    return ensemble->fits ? ensemble->model->lanes->width : 1;
}

// What makes the steps of runs with this solver; NULL: they are made one after the other.
static struct Ensemble *
find_together(mdl_ensemble *ensemble, mdl_solver solver)
{
    uint32_t m = 0;
    while (m < METHODS && method[m] != solver)
        m++;
    if (!ensemble->fits || m == METHODS)
        return NULL;
    if (!ensemble->tried[m] && !look(ensemble->model, solver, &ensemble->together[m]))
        ensemble->together[m] = NULL;
    ensemble->tried[m] = true;
    return ensemble->together[m];
}

static void
begin(mdl_ensemble *ensemble, uint32_t k, const mdl_options *options, mdl_stats *stats)
{
    Member *member = &ensemble->member[k];
    member->options = *options;
    if (!member->options.final_time)
        member->options.final_time = &member->final_time;
    *member->options.final_time = -INFINITY;
    member->run = (Run){.model = ensemble->model, .options = &member->options, .stats = stats ? stats : &member->unused,
                        .ensemble = find_together(ensemble, options->solver), .lane = k};
    member->status = simulate_begin(&member->run, &member->clock);
    member->goes_on = true;
}

static void
end(Member *member)
{
    ensemble_leave(&member->run);
    member->status = simulate_end(&member->run, &member->clock, member->status);
    member->goes_on = false;
}

static void
prepare_rows(mdl_ensemble *ensemble, struct Ensemble *together, uint32_t n)
{
    double point[LANES_MOST][ENSEMBLE_ROWS];
    uint32_t count[LANES_MOST] = {0};
    for (uint32_t k = 0; k < n; k++) {
        const Member *member = &ensemble->member[k];
        if (member->goes_on && member->run.ensemble == together)
            count[k] = simulate_points(&member->run, ensemble_reaches(&member->run), point[k], ENSEMBLE_ROWS);
    }
    ensemble_prepare_rows(together, point, count);
}

// Those that wait for others' steps take theirs when it is there.
static bool
go_on(mdl_ensemble *ensemble, uint32_t n)
{
    double limit[LANES_MOST];
    bool any = false, waits = false;
    for (uint32_t k = 0; k < n; k++) {
        Member *member = &ensemble->member[k];
        limit[k] = -INFINITY;
        if (!member->goes_on)
            continue;
        if (member->status != MDL_OK || !simulate_goes_on(&member->run)) {
            end(member);
            continue;
        }
        any = true;
        if (ensemble_waits(&member->run)) {
            limit[k] = simulate_limit(&member->run);
            waits = true;
        }
    }
    for (uint32_t m = 0; m < METHODS && waits; m++)
        if (ensemble->together[m]) {
            ensemble_advance(ensemble->together[m], limit);
            prepare_rows(ensemble, ensemble->together[m], n);
        }
    for (uint32_t k = 0; k < n; k++) {
        Member *member = &ensemble->member[k];
        bool far = limit[k] > member->run.time; // an instant that is there already needs no step
        if (member->goes_on && !(far && ensemble_waits(&member->run)))
            member->status = simulate_step(&member->run, &member->clock);
    }
    return any;
}

void
mdl_ensemble_simulate(mdl_ensemble *ensemble, const mdl_options *options, mdl_stats *stats, int *status, uint32_t n)
{
    unsigned control = simulate_flush_subnormals();
    for (uint32_t k = 0; k < n; k++)
        begin(ensemble, k, &options[k], stats ? &stats[k] : NULL);
    while (go_on(ensemble, n))
        continue;
    for (uint32_t k = 0; k < n; k++)
        status[k] = ensemble->member[k].status;
    float_control_set(control);
}
