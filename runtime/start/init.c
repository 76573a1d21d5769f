// init.c: parameters, the initial system, the first event iteration.
//
// Purpose: consistent values at the start.
// Method: the initial system is a causal list of assignments and blocks; each block by damped Newton, then
// by its
//         own homotopy (path.c). When the model has homotopy(), the whole system is followed from its simplified form
//         (lambda 0) to the actual one (lambda 1) before that (Sielemann et al., Modelica 2011).
// Contract: afterwards v is consistent at options->start, conditions and modes are in force, run->y and
// run->yp
//           are stored. Complexity: blocks * Newton iterations.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/start/settable.h"
#include "runtime/start/start.h"

enum { LAMBDA_STEPS = 200, ADOPTING_PASSES = 20 };

static Newton **
create_blocks(const mdl_model *model)
{
    Newton **block = calloc((size_t)model->n_init + 1, sizeof *block);
    for (uint32_t k = 0; block && k < model->n_init; k++)
        if (model->init[k].block)
            block[k] = newton_create(model->init[k].block);
    return block;
}

static void
free_blocks(const mdl_model *model, Newton **block)
{
    for (uint32_t k = 0; block && k < model->n_init; k++)
        newton_free(&block[k]);
    free(block);
}

// Runs all steps. `failed` is the step that could not be solved.
MDL_CHECKED static int
run_steps(Run *run, Newton **block, Effort effort, uint32_t *failed)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_init; k++) {
        const mdl_step *step = &model->init[k];
        *failed = k;
        if (!step->block)
            mdl_call(step->call, run->v);
        else if (!block[k])
            return MDL_INTERNAL;
        else if (newton_solve(run, block[k], effort) != MDL_OK && !(effort == EFFORT_PATHS && held_choices_solve(run, block[k])))
            return MDL_FAILED;
    }
    return MDL_OK;
}

// One step of the homotopy: what moved most among the variables of the results, or which block failed.
static void
trace_lambda(const Run *run, double lambda, const double *before, const Newton *failed)
{
    const mdl_model *model = run->model;
    char text[1000];
    size_t used = (size_t)snprintf(text, sizeof text, "  homotopy at lambda = %.10g: %s", lambda,
                                   failed ? "not solved, a shorter step is tried" : "solved");
    double limit = INFINITY;
    for (int count = 0; !failed && count < 4 && used < sizeof text; count++) {
        double most = 0;
        uint32_t fastest = model->n_outputs;
        for (uint32_t k = 0; k < model->n_outputs; k++) {
            uint32_t place = model->output[k].place;
            double moved = fabs(run->v[place] - before[place]) / fmax(fabs(before[place]), 1);
            if (moved > most && moved < limit) {
                most = moved;
                fastest = k;
            }
        }
        if (fastest == model->n_outputs)
            break;
        limit = most;
        const mdl_output *output = &model->output[fastest];
        used += (size_t)snprintf(text + used, sizeof text - used, "; %s: %.8g -> %.8g", output->name,
                                 output->sign * before[output->place], output->sign * run->v[output->place]);
    }
    run_message(run, MDL_NOTE, "%s", text);
}

// `good` has 2 nv places: the values at the start and those of the last solved lambda. `effort`: how the simplified model is solved.
MDL_CHECKED static int
follow_lambda(Run *run, Newton **block, Effort effort, double *good, double *reached)
{
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof *good;
    double lambda = 0, step = 0.25;
    uint32_t failed;
    memcpy(run->v, good, bytes);
    run->v[model->lambda] = 0;
    if (run->options->trace)
        run_message(run, MDL_NOTE, "initialisation: homotopy from the simplified model");
    int status = run_steps(run, block, effort, &failed);
    memcpy(good, run->v, bytes);
    *reached = status == MDL_OK ? 0 : -1;
    for (int k = 0; status == MDL_OK && lambda < 1; k++) {
        double next = fmin(1, lambda + step);
        run->v[model->lambda] = next;
        bool solved = run_steps(run, block, EFFORT_RUN, &failed) == MDL_OK;
        if (run->options->trace)
            trace_lambda(run, next, good, solved ? NULL : block[failed]);
        if (solved) {
            *reached = lambda = next;
            step *= 2;
            memcpy(good, run->v, bytes);
            continue;
        }
        memcpy(run->v, good, bytes);
        step /= 4;
        if (step < (effort == EFFORT_PATHS ? 1e-8 : 1e-3) || k > LAMBDA_STEPS)
            status = MDL_FAILED;
    }
    return status;
}

// Loops that do not close say more than equations that contradict each other. `started` is v before.
static bool
explain_loops(Run *run, const double *started)
{
    size_t bytes = run->model->nv * sizeof *run->v;
    double *failed = started ? malloc(bytes) : NULL;
    if (!failed)
        return false;
    memcpy(failed, run->v, bytes);
    memcpy(run->v, started, bytes);
    bool explained = assemble_explain(run);
    memcpy(run->v, failed, bytes);
    free(failed);
    return explained;
}

// The rest of the model from states that the constraints hold for. As conditions they may be in a singular position: a coordinate
// does not determine the others where it is as large as they let it be.
MDL_CHECKED static int
start_from(Run *run, const double *closed)
{
    if (!run->model->starts_states)
        return MDL_FAILED;
    memcpy(run->v, closed, run->model->nv * sizeof *closed);
    int status = evaluate_solved(run, false);
    if (status == MDL_OK)
        evaluate_outputs(run);
    return status;
}

// Start values that nothing fixes are guesses. As conditions they may have no solution, though one is near.
MDL_CHECKED static int
move_guesses(Run *run, Newton **block, const double *started)
{
    size_t bytes = run->model->nv * sizeof *run->v;
    double *first = malloc(2 * bytes), *closed = first + run->model->nv;
    if (!first)
        return MDL_FAILED;
    memcpy(first, run->v, bytes);
    memcpy(run->v, started, bytes);
    uint32_t failed;
    int status = MDL_FAILED;
    if (assemble_guesses(run)) {
        memcpy(closed, run->v, bytes);
        status = run_steps(run, block, EFFORT_PATHS, &failed);
        if (status == MDL_FAILED)
            status = start_from(run, closed);
    }
    if (status == MDL_OK)
        assemble_note(run, started, false);
    else
        memcpy(run->v, first, bytes);
    free(first);
    return status;
}

// The variable of the results that differs most between v and `other`, by more than a thousandth of it and of its unit; n_outputs: none does.
static uint32_t
most_other(const Run *run, const double *other)
{
    const mdl_model *model = run->model;
    double most = 1e-3;
    uint32_t found = model->n_outputs;
    for (uint32_t k = 0; k < model->n_outputs; k++) {
        double now = run->v[model->output[k].place], was = other[model->output[k].place];
        double differs = fabs(now - was) / fmax(1, fmax(fabs(now), fabs(was)));
        if (differs > most) {
            most = differs;
            found = k;
        }
    }
    return found;
}

// Of several solutions the one that homotopy() leads to is meant, and not the one that is nearest to the start values. The values in v are a solution; they stay
// where that is the same, or where homotopy() leads nowhere. `start` has 2 nv places: v before, and room.
MDL_CHECKED static int
take_meant(Run *run, Newton **block, double *start)
{
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof *start;
    double reached, *found = malloc(bytes);
    Newton **own = create_blocks(model); // those of the solution at hand know about it
    uint32_t k = model->n_outputs, failed;
    int status = found && own ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK) {
        memcpy(found, run->v, bytes);
        run->tried = true;
        if (follow_lambda(run, own, EFFORT_START, start, &reached) == MDL_OK)
            k = most_other(run, found);
        run->tried = false;
        failure_clear(run);
    }
    if (k < model->n_outputs) {
        const mdl_output *output = &model->output[k];
        run_message(run, MDL_NOTE, "initialisation: the start values lead to another solution than homotopy() does, which counts: `%s` = %.9g instead of %.9g", output->name,
                    output->sign * run->v[output->place], output->sign * found[output->place]);
        status = run_steps(run, block, EFFORT_START, &failed);
    }
    if (found && own && (k == model->n_outputs || status == MDL_FAILED)) {
        memcpy(run->v, found, bytes);
        status = MDL_OK;
    }
    free_blocks(model, own);
    free(found);
    return status;
}

// What the model's homotopy() says about a start that Newton's method does not find comes before paths that the model knows nothing of.
// `reached` is the lambda at which it ended, -1 where there is none.
MDL_CHECKED static int
solve_by_homotopy(Run *run, Newton **block, double *reached, uint32_t *failed)
{
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof(double);
    double *good = malloc(2 * bytes), *direct = good + model->nv;
    if (!good)
        return MDL_INTERNAL;
    memcpy(good, run->v, bytes);
    memcpy(direct, run->v, bytes);
    int status = run_steps(run, block, EFFORT_START, failed);
    if (status == MDL_OK) {
        status = take_meant(run, block, good);
    } else if (status == MDL_FAILED) {
        status = follow_lambda(run, block, EFFORT_PATHS, good, reached);
        if (status == MDL_FAILED) {
            memcpy(run->v, direct, bytes);
            status = run_steps(run, block, EFFORT_PATHS, failed);
        }
    }
    free(good);
    return status;
}

static void
report_failure(Run *run, Newton *failed, double reached)
{
    char when[120] = "initialisation";
    if (reached >= 0)
        snprintf(when, sizeof when, "initialisation: the way from the simplified model ends at lambda = %.4g, and from the start values", reached);
    newton_report(run, failed, when);
}

// `started`: v before, or NULL where no loops can be open.
MDL_CHECKED static int
solve_steps(Run *run, Newton **block, const double *started)
{
    uint32_t failed = 0;
    double reached = -1;
    int status = run->model->lambda ? solve_by_homotopy(run, block, &reached, &failed)
                                    : run_steps(run, block, EFFORT_PATHS, &failed);
    if (status == MDL_FAILED && started)
        status = move_guesses(run, block, started);
    if (status == MDL_FAILED && !explain_loops(run, started))
        report_failure(run, block[failed], reached);
    if (status == MDL_INTERNAL)
        run_message(run, MDL_ERROR, "initialisation: out of memory");
    return status;
}

MDL_CHECKED static int
solve_again(Run *run, void *blocks)
{
    uint32_t failed;
    return run_steps(run, blocks, EFFORT_START, &failed);
}

MDL_CHECKED static int
check_nominals(const Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->n; i++) {
        double nominal = fabs(run->v[model->nominal + i]);
        if (!(nominal > 0) || !isfinite(nominal)) {
            run_message(run, MDL_ERROR, "`%s` has the nominal value %g; it must be positive and finite",
                        model->state_name[i], run->v[model->nominal + i]);
            return MDL_FAILED;
        }
    }
    return MDL_OK;
}

static void
set_tolerances(Run *run)
{
    const mdl_model *model = run->model;
    double factor = run->options->abstol > 0 ? run->options->abstol : 1e-2 * run->tolerance;
    for (uint32_t i = 0; i < model->n; i++)
        run->abstol[i] = factor * fabs(run->v[model->nominal + i]);
}

static bool
is_kept(const mdl_discrete *discrete)
{
    return discrete->next && discrete->pre;
}

// A when-condition that holds only because of initial() has the left value false: its edge fires in the first
// event iteration. A condition that holds anyway at the start does not fire there (Modelica 3.6, 8.6).
static void
arm_conditions(Run *run, double *armed)
{
    const mdl_model *model = run->model;
    run->v[model->initial] = 0;
    mdl_call(model->discretes, run->v);
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        if (is_kept(discrete) && armed[discrete->value] == 1 && run->v[discrete->next] == 0)
            armed[discrete->pre] = 0;
    }
}

// The first pass is the initial solution once more. Where it would now give another value the left value of its variable is still the one
// from before: n = pre(n) + 1 counts once. `before` are the left values that the initial solution was found with.
static void
keep_left_values(Run *run, double *armed, const double *before)
{
    const mdl_model *model = run->model;
    memcpy(run->v, armed, model->nv * sizeof *armed);
    mdl_call(model->discretes, run->v);
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (is_kept(&model->discrete[k]) && run->v[model->discrete[k].next] != armed[model->discrete[k].value])
            run->v[model->discrete[k].pre] = before[k];
    mdl_call(model->discretes, run->v);
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        if (is_kept(discrete) && run->v[discrete->next] == armed[discrete->value])
            armed[discrete->pre] = run->v[discrete->pre];
    }
}

MDL_CHECKED static int
arm_initial_conditions(Run *run, const double *before)
{
    const mdl_model *model = run->model;
    if (!model->initial || !model->n_discretes)
        return MDL_OK;
    double *armed = malloc(model->nv * sizeof *armed);
    if (!armed)
        return MDL_INTERNAL;
    memcpy(armed, run->v, model->nv * sizeof *armed);
    arm_conditions(run, armed);
    keep_left_values(run, armed, before);
    memcpy(run->v, armed, model->nv * sizeof *armed);
    free(armed);
    return MDL_OK;
}

// True when a relation had another value.
static bool
adopt_relations(Run *run)
{
    const mdl_model *model = run->model;
    bool changed = false;
    evaluate_plain(run);
    evaluate_outputs(run);
    mdl_call(model->relations, run->v);
    for (uint32_t k = 0; k < model->n_relations; k++) {
        double value = run->v[model->relation[k].next] != 0;
        changed = changed || run->v[model->relation[k].value] != value;
        run->v[model->relation[k].value] = value;
    }
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        double value = run->v[model->time_relation[k].next] != 0;
        changed = changed || run->v[model->time_relation[k].value] != value;
        run->v[model->time_relation[k].value] = value;
    }
    return changed;
}

// Conditions and discrete variables take the values of the initial solution without an event. What a relation compares may
// follow from other relations (1/abs(x) has a pole while abs() takes the wrong branch), so that each pass makes right those
// that the pass before made possible; what still changes after that is left to the event iteration.
static void
adopt_conditions(Run *run, double *before)
{
    const mdl_model *model = run->model;
    for (uint32_t pass = 0; adopt_relations(run) && pass < ADOPTING_PASSES; pass++)
        continue;
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].pre) {
            before[k] = run->v[model->discrete[k].pre];
            run->v[model->discrete[k].pre] = run->v[model->discrete[k].value];
        }
    friction_start(run);
}

// said: what failed in the initial equations, empty when nothing did.
MDL_CHECKED static int
check_initial(const Run *run, const char *said)
{
    char text[300], light[1000];
    if (!evaluate_not_finite(run, text, sizeof text))
        return MDL_OK;
    newton_inertia_text(run, light, sizeof light);
    if (failure_report(run))
        return MDL_FAILED;
    if (*said)
        run_message(run, MDL_ERROR, "%s at time %.12g", said, run->v[0]);
    else
        run_message(run, MDL_ERROR, "initialisation: %s has no finite value%s%s", text, evaluate_explain(run), light);
    return MDL_FAILED;
}

int
init_solve(Run *run)
{
    const mdl_model *model = run->model;
    mdl_call(model->parameters, run->v);
    if (failure_report(run))
        return MDL_MODEL;
    char why[SETTABLE_WHY];
    if (settable_check(model, run->v, why)) {
        run_message(run, MDL_ERROR, "%s", why);
        return MDL_MODEL;
    }
    int status = check_nominals(run);
    transport_begin(run);
    if (status != MDL_OK)
        return status;
    set_tolerances(run);
    friction_open(run);
    if (model->initial)
        run->v[model->initial] = 1;
    if (model->lambda)
        run->v[model->lambda] = 1;
    double *started = model->n_constraints ? malloc(model->nv * sizeof *started) : NULL;
    double *base = model->n_loop_ends ? malloc(model->nv * sizeof *base) : NULL;
    if (started)
        memcpy(started, run->v, model->nv * sizeof *started);
    if (run->options->assemble)
        status = assemble_start(run);
    if (base)
        memcpy(base, run->v, model->nv * sizeof *base);
    Newton **block = status == MDL_OK ? create_blocks(model) : NULL;
    if (status == MDL_OK)
        status = block ? solve_steps(run, block, started) : MDL_INTERNAL;
    if (status == MDL_OK && model->n_loop_ends)
        status = base ? turned_mend(run, solve_again, block, base) : MDL_INTERNAL;
    free(base);
    for (uint32_t k = 0; status == MDL_OK && k < model->n_init; k++)
        if (block[k])
            newton_note_open(run, block[k]);
    free_blocks(model, block);
    if (status == MDL_OK && run->options->assemble && started)
        assemble_note(run, started, true);
    free(started);
    if (status != MDL_OK)
        return status;
    double *before = calloc(model->n_discretes + 1, sizeof *before);
    if (!before)
        return MDL_INTERNAL;
    char said[1200] = "";
    if (!failure_text(run, said, sizeof said))
        said[0] = '\0';
    adopt_conditions(run, before);
    event_instants(run);
    status = check_initial(run, said);
    if (status == MDL_OK)
        status = arm_initial_conditions(run, before);
    free(before);
    run->initialises = true;
    if (status == MDL_OK)
        status = event_iterate(run, true);
    run->initialises = false;
    return status;
}
