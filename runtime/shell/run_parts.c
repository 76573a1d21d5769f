// run_parts.c: setting a run up, and taking it down.
//
// Purpose: all that a run needs is there before it starts, and goes with it.
// Method: options are checked; a list says which parts take part in runs of a model (part.h), and in which order.
// Contract: simulate.h. Complexity: linear in the size of the model.
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"
#include "runtime/shell/simulate.h"
#include "runtime/solver/solver.h"

// Blocks up to this size are solved anew at every stored row, so that rows satisfy all equations.
enum { ROW_BLOCK_LIMIT = 200, NONLINEAR_LIMIT = 4096 };

// Steps of fixed length: what is wrong with what was asked for, or NULL.
static const char *
check_length(const mdl_options *options)
{
    bool fixed = options->solver == MDL_SOLVER_RK4 || options->solver == MDL_SOLVER_GAUSS;
    if (!(options->step >= 0) || !isfinite(options->step))
        return "the step must be positive";
    if (options->step > 0 && !fixed)
        return "a step of fixed length (--step) is for the solvers rk4 and gauss; --tol controls the others";
    if (!(options->step > 0) && options->solver == MDL_SOLVER_RK4)
        return "the solver rk4 does not control its error: give the length of its steps with --step";
    return NULL;
}

MDL_CHECKED static int
check_options(const Run *run)
{
    const mdl_options *options = run->options;
    const char *wrong = NULL;
    if (run->model->version != MDL_MODEL_VERSION || run->model->size != sizeof(mdl_model)) {
        run_message(run, MDL_ERROR, "the model was compiled for another version of the runtime");
        return MDL_INTERNAL;
    }
    if (!isfinite(options->start) || !isfinite(options->stop) || options->stop < options->start)
        wrong = "the stop time must not be before the start time";
    else if (!(options->tolerance > 0) || options->tolerance >= 1)
        wrong = "the tolerance must be between 0 and 1";
    else if (!(options->interval >= 0) || !isfinite(options->interval))
        wrong = "the interval must be positive";
    else if (!(options->abstol >= 0) || !(options->max_step >= 0) || !(options->time_limit >= 0))
        wrong = "tolerances and limits must not be negative";
    else
        wrong = check_length(options);
    for (uint32_t k = 0; k < options->overrides; k++)
        if (options->override[k].place == 0 || options->override[k].place >= run->model->nv)
            wrong = "a value is set that the model does not have";
    if (!wrong)
        return MDL_OK;
    run_message(run, MDL_ERROR, "%s", wrong);
    return MDL_USAGE;
}

static void
choose_points(Run *run)
{
    const mdl_options *options = run->options;
    double span = options->stop - options->start;
    run->interval = options->interval > 0 ? options->interval : span / (options->points ? options->points : 500);
    double count = run->interval > 0 ? span / run->interval : 0;
    run->points = (uint64_t)floor(count * (1 + 1e-12) + 1e-9);
    run->next_point = 1;
    if (!options->instant)
        return;
    // The start has its row anyhow.
    run->points = options->instants;
    while (run->next_point <= run->points && options->instant[run->next_point - 1] <= options->start)
        run->next_point++;
}

static bool
allocate(Run *run)
{
    const mdl_model *model = run->model;
    size_t n = model->n, guards = model->n_relations + model->n_time_relations + model->n_sgns +
                                      model->n_rests;
    run->guards = (uint32_t)guards;
    run->v = malloc(((size_t)model->nv + 1) * sizeof *run->v);
    run->abstol = calloc(n + 1, sizeof *run->abstol);
    run->solved = calloc(n + model->nx + 1, sizeof *run->solved);
    run->solved_time = NAN; // no row has been solved
    run->motion = calloc(n + model->nx + 1, sizeof *run->motion);
    run->choices = calloc((size_t)model->n_relations + model->n_time_relations + model->n_discretes + 1, sizeof *run->choices);
    run->y = calloc(n + run->modes + 1, sizeof *run->y);
    run->yp = calloc(n + run->modes + 1, sizeof *run->yp);
    run->block = calloc((size_t)model->n_dynamics + 1, sizeof *run->block);
    run->guard = calloc(guards + 1, sizeof *run->guard);
    run->phi = calloc(guards + 1, sizeof *run->phi);
    run->phi_scale = calloc(3 * (guards + 1), sizeof *run->phi_scale);
    for (size_t end = 0; end < 2 && run->phi_scale; end++)
        run->phi_end[end] = run->phi_scale + (end + 1) * (guards + 1);
    run->seen = calloc(3 * guards + 1, sizeof *run->seen);
    run->old_discrete = calloc((size_t)model->n_discretes + 1, sizeof *run->old_discrete);
    run->looped = calloc((size_t)model->n_discretes + 1, sizeof *run->looped);
    run->loop_change = calloc(2 * (size_t)model->n_discretes + 1, sizeof *run->loop_change);
    run->loop_now = run->loop_change + model->n_discretes;
    run->assigned = calloc((size_t)model->nx + 1, sizeof *run->assigned);
    run->time_next = calloc((size_t)model->n_time_relations + 1, sizeof *run->time_next);
    run->sample_index = calloc((size_t)model->n_samples + 1, sizeof *run->sample_index);
    run->warned = calloc((size_t)model->n_asserts + 1, sizeof *run->warned);
    run->warned_in_calls = calloc((size_t)model->n_failures + 1, sizeof *run->warned_in_calls);
    run->implicit = calloc((size_t)model->nx + 1, sizeof *run->implicit);
    run->texts = model->n_texts ? mdl_texts_create(model->text, model->n_texts) : NULL;
    for (uint32_t i = 0; run->implicit && model->implicit && i < model->nx; i++)
        if (model->implicit[i])
            run->implicit[run->n_implicit++] = i;
    return run->implicit && (run->texts || !model->n_texts) && run->v && run->solved && run->motion && run->choices && run->abstol && run->y && run->yp && run->block && run->guard && run->phi &&
           run->phi_scale && run->seen && run->old_discrete && run->looped && run->loop_change && run->assigned && run->time_next && run->sample_index && run->warned && run->warned_in_calls;
}

static const RunPart *const all_parts[] = {
#define PART(name) &name##_part,
#include "runtime/point/parts.def"
};
static_assert(sizeof all_parts / sizeof *all_parts <= PARTS_MOST, "room in Run.part");

static void
list_part(Run *run, const RunPart *part)
{
    const bool has[PART_HOOKS] = {
        [HOOK_LOAD] = part->load, [HOOK_REACT] = part->react, [HOOK_CLAMP] = part->clamp, [HOOK_SHARE] = part->share,
        [HOOK_CLOSE_ROW] = part->close_row, [HOOK_RATES] = part->rates, [HOOK_LIMIT] = part->limit, [HOOK_RECORD] = part->record,
    };
    for (uint32_t hook = 0; hook < PART_HOOKS; hook++)
        if (has[hook])
            run->having[hook].part[run->having[hook].n++] = part;
}

MDL_CHECKED static int
create_parts(Run *run)
{
    int status = MDL_OK;
    for (size_t i = 0; i < sizeof all_parts / sizeof *all_parts && status == MDL_OK; i++) {
        status = all_parts[i]->create ? all_parts[i]->create(run) : MDL_OK;
        if (!all_parts[i]->present || all_parts[i]->present(run))
            run->part[run->parts++] = all_parts[i];
    }
    for (uint32_t i = 0; i < run->parts; i++)
        list_part(run, run->part[i]);
    return status;
}

MDL_CHECKED static int
create_blocks(Run *run)
{
    const mdl_model *model = run->model;
    run->solve_rows = true;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        if (!block)
            continue;
        run->loops = true;
        run->block[k] = newton_create(block);
        if (!run->block[k])
            return MDL_INTERNAL;
        if (block->m > (block->linear ? ROW_BLOCK_LIMIT : NONLINEAR_LIMIT))
            run->solve_rows = false;
    }
    return MDL_OK;
}

int
simulate_set_up(Run *run)
{
    const mdl_model *model = run->model;
    int status = check_options(run);
    if (status != MDL_OK)
        return status;
    run->tolerance = run->options->tolerance;
    integrator_form(run, run->options->solver);
    choose_points(run);
    status = create_parts(run);
    if (status == MDL_MODEL)
        return status;
    if (status != MDL_OK || !allocate(run) || create_blocks(run) != MDL_OK) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    memcpy(run->v, model->v0, model->nv * sizeof *run->v);
    failure_join(run);
    run->v[0] = run->time = run->options->start;
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->begin)
            run->part[i]->begin(run);
    for (uint32_t k = 0; k < run->options->overrides; k++)
        run->v[run->options->override[k].place] = run->options->override[k].value;
    return sense_create(run);
}

void
simulate_clean_up(Run *run)
{
    integrator_free(run);
    contest_free(run);
    for (size_t i = 0; i < sizeof all_parts / sizeof *all_parts; i++)
        if (all_parts[i]->free)
            all_parts[i]->free(run);
    sense_free(run);
    for (uint32_t k = 0; run->block && k < run->model->n_dynamics; k++)
        newton_free(&run->block[k]);
    free(run->redundant);
    free(run->of_diodes);
    components_free(&run->components);
    free(run->v);
    free(run->abstol);
    free(run->solved);
    free(run->kept);
    free(run->motion);
    free(run->radau_rules);
    free(run->choices);
    free(run->y);
    free(run->yp);
    free(run->block);
    free(run->guard);
    free(run->phi);
    free(run->phi_scale);
    free(run->seen);
    free(run->old_discrete);
    free(run->looped);
    free(run->loop_change);
    free(run->assigned);
    free(run->time_next);
    free(run->sample_index);
    free(run->warned);
    free(run->warned_in_calls);
    mdl_texts_free(&run->texts);
    free(run->implicit);
}
