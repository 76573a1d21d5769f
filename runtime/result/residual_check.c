// residual_check.c: points of a run held against the equations that the model was compiled from.
//
// Purpose: what is written solves what was written, whatever happened in between.
// Method: whoever compiled the model evaluates its equations (ir/pipeline/check_rows.h); here is decided where. By itself a run spends a
//         twentieth of its time on it: the first rows, and later ones as long as that holds. Loops that a row has from the integrator are held against the
//         same tolerance before, in every row, and solved where they miss it: what is written does not depend on whether it is checked.
// Contract: result.h. Where motions rest after accumulated impacts reactions act that no equation has: such points are left out. So is the left
//           limit of an event that was located, where a condition has crossed and has its former value; and so are points where a condition has the
//           other value by no more than errors of the states make of it (root.c, is_shallow), which its equation would say is wrong by 1.
// Complexity: an evaluation of the written equations per point that is looked at; at most a twentieth of the run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/result/result.h"

static const double SHARE = 0.05;
static const double LOOSER = 10, LEAST = 1e-7;
static const double RESOLUTION = 1e-14; // of the run: steps are no longer, and events are located to a part of them

// Loops that are not solved anew are as exact as the integrator leaves them: what it bounds is the mean over all unknowns, of which
// one may have the whole.
static double
tolerance_of_rows(const Run *run)
{
    double share = fmax(LOOSER, 3 * sqrt(run->ny));
    return run->solve_rows || run->causal ? run->tolerance : share * fmax(run->tolerance, LEAST);
}

// Between steps the integrator's polynomial may leave more, of a torque of 0.01 in a loop of forces of 1e4 nearly all. Then the loops of the row are
// solved, whether it is going to be checked or not.
int
check_loops(Run *run)
{
    if (run->solve_rows || run->causal || rest_any(run) || run->outdated || evaluate_loops_hold(run, tolerance_of_rows(run)))
        return MDL_OK;
    size_t values = run->model->nv;
    double *before = malloc((values + 1) * sizeof *before);
    if (!before)
        return MDL_INTERNAL;
    memcpy(before, run->v, values * sizeof *before);
    if (evaluate_solved(run, false) != MDL_OK || evaluate_finish(run, false) != MDL_OK)
        memcpy(run->v, before, values * sizeof *before);
    free(before);
    return MDL_OK;
}

MDL_CHECKED static int
look(Run *run)
{
    const mdl_options *options = run->options;
    double resolution = RESOLUTION * (options->stop - options->start), tolerance = tolerance_of_rows(run);
    const char *wrong = options->checker(options->user, run->v, tolerance, fmax(resolution, 1e-300));
    run->stats->checked++;
    if (!wrong || root_undecided(run))
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: %s", run->v[0], wrong);
    return MDL_FAILED;
}

int
check_row(Run *run)
{
    const mdl_options *options = run->options;
    if (!options->checker || options->check == MDL_CHECK_OFF || rest_any(run) || run->outdated)
        return MDL_OK;
    if (options->check != MDL_CHECK_AUTO)
        return look(run);
    double now = clock_seconds();
    if (!run->check_begun)
        run->check_begun = now;
    if (run->check_seconds > SHARE * (now - run->check_begun))
        return MDL_OK;
    int status = look(run);
    run->check_seconds += clock_seconds() - now;
    return status;
}

// The evaluation leaves no trace: a run with --check=steps is the same to the last bit.
int
check_step(Run *run)
{
    const mdl_options *options = run->options;
    const mdl_model *model = run->model;
    if (!options->checker || options->check != MDL_CHECK_STEPS || rest_any(run))
        return MDL_OK;
    size_t values = model->nv, solved = (size_t)model->n + model->nx;
    if (!run->kept)
        run->kept = malloc((values + solved) * sizeof *run->kept);
    if (!run->kept)
        return MDL_INTERNAL;
    memcpy(run->kept, run->v, values * sizeof *run->v);
    memcpy(run->kept + values, run->solved, solved * sizeof *run->solved);
    double solved_time = run->solved_time;
    int status = evaluate_at(run, run->time, false);
    if (status != MDL_OK) { // right before a loop loses its solution (fold.c): what the integrator has found holds within its tolerance
        status = run->stepper->interpolate(run, run->time);
        evaluate_plain(run);
    }
    if (status == MDL_OK)
        status = look(run);
    memcpy(run->v, run->kept, values * sizeof *run->v);
    memcpy(run->solved, run->kept + values, solved * sizeof *run->solved);
    run->solved_time = solved_time;
    return status;
}
