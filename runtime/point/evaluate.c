// evaluate.c: the model's equations at one point.
//
// Purpose: everything outside the integrator's residual (start, events, rows, root functions) evaluates here.
// Method: the model's functions in the order of runtime/model/model.h; loops are solved by newton.c as they come.
// Contract: see point.h; v holds the point afterwards. Complexity: one pass over the dynamics; blocks cost what
// their Newton iterations cost.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/model/template.h"
#include "runtime/point/newton.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"

void
evaluate_stick(const Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *law = &model->sgn[k];
        if (law->state >= 0 && run->v[law->mode] == 0) {
            run->v[model->y + (uint32_t)law->state] = 0;
            run->v[model->yp + (uint32_t)law->state] = 0;
        }
    }
}

void
evaluate_load(Run *run, double time, const double *y, const double *yp)
{
    const mdl_model *model = run->model;
    run->v[0] = time;
    memcpy(run->v + model->y, y, run->ny * sizeof *y);
    memcpy(run->v + model->yp, yp, run->ny * sizeof *yp);
    run->mode = y + run->ny;
    evaluate_stick(run);
}

void
evaluate_states(Run *run, double time, const double *y)
{
    run->v[0] = time;
    memcpy(run->v + run->model->y, y, run->model->nx * sizeof *y);
    run->mode = y + run->model->nx;
}

static void
rates_of_modes(const Run *run, const double *mode, double *rate)
{
    const PartList *having = &run->having[HOOK_RATES];
    for (uint32_t i = 0; i < having->n; i++)
        having->part[i]->rates(run, mode, rate);
}

void
evaluate_slopes(const Run *run, const double *y, double *slope)
{
    memcpy(slope, run->v + run->model->yp, run->model->nx * sizeof *slope);
    rates_of_modes(run, y + run->model->nx, slope + run->model->nx);
}

// The same, with the time that each section takes.
static void
call_timed(Run *run)
{
    const mdl_model *model = run->model;
    uint64_t before = profile_now(run);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        mdl_call(step->block ? step->block->eval : step->call, run->v);
        uint64_t now = profile_now(run);
        run->profile->section[k].ticks += now - before;
        run->profile->section[k].calls++;
        before = now;
    }
}

static void
call_dynamics(Run *run)
{
    const mdl_model *model = run->model;
    run->evaluations++;
    if (model->failure)
        failure_clear(run);
    if (run->profile) {
        call_timed(run);
        return;
    }
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        mdl_call(step->block ? step->block->eval : step->call, run->v);
    }
}

// What is delayed may say by how much it is delayed. From pass to pass the parts find better values to look up with; few models need more than two.
enum { PAST_PASSES = 100 };

// What the runtime remembers, at the time and the states in v. True when what it was looked up with may follow from the dynamics.
static bool
load_past(Run *run, unsigned pass)
{
    const PartList *having = &run->having[HOOK_LOAD];
    bool moving = false;
    for (uint32_t i = 0; i < having->n; i++)
        moving = having->part[i]->load(run, pass) || moving;
    return moving;
}

static bool
past_moved(const Run *run)
{
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->moved && run->part[i]->moved(run))
            return true;
    return false;
}

MDL_CHECKED static int
close_row(Run *run)
{
    const PartList *having = &run->having[HOOK_CLOSE_ROW];
    int status = MDL_OK;
    for (uint32_t i = 0; i < having->n && status == MDL_OK; i++)
        status = having->part[i]->close_row(run);
    return status;
}

static void
react(Run *run)
{
    const PartList *having = &run->having[HOOK_REACT];
    for (uint32_t i = 0; i < having->n; i++)
        having->part[i]->react(run);
}

static void
clamp(Run *run)
{
    const PartList *having = &run->having[HOOK_CLAMP];
    for (uint32_t i = 0; i < having->n; i++)
        having->part[i]->clamp(run);
}

MDL_CHECKED static int
share(Run *run, bool report)
{
    const PartList *having = &run->having[HOOK_SHARE];
    int status = MDL_OK;
    for (uint32_t i = 0; i < having->n && status == MDL_OK; i++)
        status = having->part[i]->share(run, report);
    return status;
}

void
evaluate_plain(Run *run)
{
    bool moving = load_past(run, 0);
    call_dynamics(run);
    bool open = moving && past_moved(run);
    for (unsigned pass = 1; open && pass < PAST_PASSES; pass++) {
        (void)load_past(run, pass);
        call_dynamics(run);
        open = past_moved(run);
    }
    run->past_open = open;
}

static void
tell_open_past(const Run *run)
{
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->tell_open && run->part[i]->moved(run))
            run->part[i]->tell_open(run);
}

// Derivatives of explicit rows are what the dynamics computed; implicit ones are unknowns and stand in yp.
static void
take_derivatives(Run *run)
{
    const mdl_model *model = run->model;
    double *yp = run->v + model->yp;
    const double *dx = run->v + model->dx;
    uint32_t from = 0;
    for (uint32_t k = 0; k <= run->n_implicit; k++) {
        uint32_t to = k < run->n_implicit ? run->implicit[k] : model->nx;
        memcpy(yp + from, dx + from, (to - from) * sizeof *yp);
        from = to + 1;
    }
}

static bool
solve_step(Run *run, uint32_t k)
{
    const mdl_step *step = &run->model->dynamics[k];
    // At a double root, where a loop begins to lose its solution, the iteration ends at the square root of rounding.
    if (step->block)
        return (newton_solve(run, run->block[k], run->branching ? EFFORT_JUMP : EFFORT_RUN) == MDL_OK || (run->tolerant && newton_fulfilled(run, run->block[k], run->tolerance)))
               && !failure_happened(run);
    mdl_call(step->call, run->v);
    return !failure_happened(run);
}

static bool
solve_timed(Run *run, uint32_t k)
{
    ProfiledSection *section = &run->profile->section[k];
    uint64_t before = profile_now(run), iterations = run->stats->newton_iterations;
    bool solved = solve_step(run, k);
    section->ticks += profile_now(run) - before;
    section->iterations += run->stats->newton_iterations - iterations;
    section->calls++;
    return solved;
}

MDL_CHECKED static int
solve_dynamics(Run *run, bool report)
{
    const mdl_model *model = run->model;
    run->evaluations++;
    failure_clear(run);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        if (!(run->profile ? solve_timed(run, k) : solve_step(run, k))) {
            char when[64];
            snprintf(when, sizeof when, "at time %.12g", run->v[0]);
            if (report && !failure_report(run)) {
                run->loop_failed = true;
                newton_report(run, run->block[k], when);
            } else if (model->dynamics[k].block) {
                newton_restore(run, run->block[k]);
            }
            return MDL_FAILED;
        }
    }
    return MDL_OK;
}

void
point_move_loops(const Run *run, double part)
{
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        const Newton *newton = run->block[k];
        for (uint32_t i = 0; newton && i < newton->block->m; i++) {
            double *unknown = &run->v[newton->block->unknown[i]];
            *unknown += (i % 3 ? part : -part) * fmax(fabs(*unknown), newton->scale[i]);
        }
    }
}

int
evaluate_held(Run *run)
{
    const mdl_model *model = run->model;
    run->evaluations++;
    failure_clear(run);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        if (block && run->block[k]->locked)
            mdl_call(block->eval, run->v);
        else if (!solve_step(run, k))
            return MDL_FAILED;
    }
    react(run);
    take_derivatives(run);
    clamp(run);
    return failure_happened(run) ? MDL_FAILED : MDL_OK;
}

int
evaluate_solved(Run *run, bool report)
{
    bool moving = load_past(run, 0);
    int status = solve_dynamics(run, report);
    bool open = status == MDL_OK && moving && past_moved(run);
    for (unsigned pass = 1; open && pass < PAST_PASSES; pass++) {
        (void)load_past(run, pass);
        status = solve_dynamics(run, report);
        open = status == MDL_OK && past_moved(run);
    }
    if (open && report)
        tell_open_past(run);
    if (status != MDL_OK || open)
        return status != MDL_OK ? status : MDL_FAILED;
    react(run);
    take_derivatives(run);
    clamp(run);
    return hidden_any(run) ? hidden_solve(run, report) : MDL_OK;
}

void
evaluate_outputs(Run *run)
{
    mdl_call(run->model->outputs, run->v);
}

// With the loops' unknowns that the integrator has found together with the states.
static void
evaluate_integrated(Run *run)
{
    evaluate_plain(run);
    react(run);
    take_derivatives(run);
    clamp(run);
}

bool
evaluate_loops_hold(Run *run, double tolerance)
{
    bool hold = !run->past_open && !failure_happened(run);
    for (uint32_t k = 0; k < run->model->n_dynamics && hold; k++)
        if (run->block[k])
            hold = newton_fulfilled(run, run->block[k], tolerance);
    return hold;
}

void
point_start_loops(const Run *run, const double *y, const double *yp)
{
    const mdl_model *model = run->model;
    memcpy(run->v + model->y + model->nx, y + model->nx, (model->n - model->nx) * sizeof *run->v);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        run->v[model->yp + run->implicit[k]] = yp[run->implicit[k]];
}

static void
keep_loops(Run *run)
{
    const mdl_model *model = run->model;
    double *y = run->solved, *yp = run->solved + model->n;
    memcpy(y + model->nx, run->v + model->y + model->nx, (model->n - model->nx) * sizeof *y);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        yp[run->implicit[k]] = run->v[model->yp + run->implicit[k]];
    run->solved_time = run->v[0];
}

// With no states, on the solution that the loops have been on.
MDL_CHECKED static int
solve_on(Run *run, bool report)
{
    int status = loops_are_continued(run) ? loops_continue(run) : MDL_FAILED;
    if (status == MDL_OK)
        keep_loops(run);
    else
        status = evaluate_solved(run, report);
    return status;
}

// A loop could not be solved from where its unknowns were. Between two steps of a method that integrates them, too, their
// values there are as good as those of states; otherwise the point that was evaluated last and the last accepted one are others
// to start from.
MDL_CHECKED static int
solve_otherwise(Run *run, bool report)
{
    if (!run->causal) {
        evaluate_integrated(run);
        if (evaluate_loops_hold(run, run->tolerance))
            return MDL_OK;
    }
    point_start_loops(run, run->solved, run->solved + run->model->n);
    int status = evaluate_solved(run, false);
    if (status != MDL_OK && !run->modes) {
        point_start_loops(run, run->y, run->yp);
        status = evaluate_solved(run, false);
    }
    // Where there are no states a loop whose solution has ended jumps between two rows.
    if (status != MDL_OK && !run->model->nx) {
        point_start_loops(run, run->solved, run->solved + run->model->n);
        run->branching = true;
        status = evaluate_solved(run, false);
        run->branching = false;
        if (status == MDL_OK)
            fold_tell(run, run->solved);
    }
    if (status == MDL_OK)
        return status;
    point_start_loops(run, run->solved, run->solved + run->model->n);
    run->tolerant = true;
    status = evaluate_solved(run, report);
    run->tolerant = false;
    return status;
}

int
evaluate_relations(Run *run)
{
    int status = evaluate_solved(run, false);
    if (status != MDL_OK)
        return status;
    evaluate_outputs(run);
    mdl_call(run->model->relations, run->v);
    return failure_happened(run) ? MDL_FAILED : MDL_OK;
}

int
evaluate_finish(Run *run, bool report)
{
    evaluate_outputs(run);
    if (!failure_happened(run))
        return MDL_OK;
    if (report)
        (void)failure_report(run);
    return MDL_FAILED;
}

// What follows when the equations are solved.
MDL_CHECKED static int
complete_row(Run *run, bool report)
{
    int status = share(run, report);
    // Rows stand on what ideal diodes say of the states, from which a step may have gone off by its tolerance.
    if (status == MDL_OK && hidden_any(run))
        status = hidden_close(run);
    if (status == MDL_OK)
        status = close_row(run);
    if (status != MDL_OK)
        return status;
    keep_loops(run);
    return evaluate_finish(run, report);
}

int
evaluate_row(Run *run, bool report)
{
    int status = MDL_OK;
    bool integrated = !run->solve_rows && !run->causal;
    if (integrated)
        evaluate_integrated(run);
    if (integrated ? run->past_open : solve_on(run, false) != MDL_OK)
        status = solve_otherwise(run, report);
    return status == MDL_OK ? complete_row(run, report) : status;
}

// The values in v are those with which a step has ended: nothing was evaluated, loaded or moved since.
static bool
is_reached(const Run *run)
{
    const mdl_model *model = run->model;
    const double *v = run->v;
    return run->causal && !run->ensemble && run->point_evaluation && run->point_evaluation == run->evaluations && v[0] == run->time && !model->n_sgns
           && !memcmp(v + model->y, run->y, run_stored(run) * sizeof *v) && !memcmp(v + model->yp, run->yp, run_stored(run) * sizeof *v);
}

int
evaluate_row_reached(Run *run, bool report)
{
    if (is_reached(run) && !failure_happened(run))
        return complete_row(run, report);
    evaluate_load(run, run->time, run->y, run->yp);
    return evaluate_row(run, report);
}

int
evaluate_at(Run *run, double time, bool report)
{
    int status = run->stepper->interpolate(run, time);
    return status == MDL_OK ? evaluate_row(run, report) : status;
}

void
evaluate_store(Run *run)
{
    memcpy(run->y, run->v + run->model->y, run_stored(run) * sizeof *run->y);
    memcpy(run->yp, run->v + run->model->yp, run_stored(run) * sizeof *run->yp);
    if (!run->model->nx)
        keep_loops(run);
    if (!run->modes)
        return;
    memmove(run->y + run->ny, run->mode, run->modes * sizeof *run->y);
    run->mode = run->y + run->ny;
    rates_of_modes(run, run->mode, run->yp + run->ny);
}

int
evaluate_reached(Run *run, const double *y)
{
    evaluate_states(run, run->time, y);
    int status = solve_on(run, true);
    if (status == MDL_OK) {
        evaluate_store(run);
        evaluate_note_reached(run);
    }
    return status;
}

void
evaluate_note_reached(Run *run)
{
    run->point_evaluation = run->evaluations;
}

// Rows that do not count may have values that are not finite.
static bool
unknowns_finite(const Run *run)
{
    const mdl_model *model = run->model;
    const double *v = run->v;
    return nvector_finite(v + model->y, model->n) && nvector_finite(v + model->yp, model->nx) && nvector_finite(v + model->r, model->n);
}

bool
evaluate_not_finite(const Run *run, char *text, size_t size)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0, n = unknowns_finite(run) ? 0 : model->n; i < n; i++) {
        double value = run->v[model->y + i], rate = run->v[model->yp + i];
        const char *name = model->state_name ? model->state_name[i] : "?";
        if (!isfinite(value))
            return snprintf(text, size, "`%s` = %g", name, value) > 0;
        if (i < model->nx && !isfinite(rate))
            return snprintf(text, size, "`der(%s)` = %g (with `%s` = %.10g)", name, rate, name, value) > 0;
        if (!isfinite(run->v[model->r + i]) && (i >= model->nx || (model->implicit && model->implicit[i])))
            return snprintf(text, size, "the equation of `%s` (with `%s` = %.10g)", name, name, value) > 0;
    }
    for (uint32_t k = 0; k < model->n_outputs; k++)
        if (!model->output[k].on_request && !isfinite(run->v[model->output[k].place]))
            return snprintf(text, size, "`%s` = %g", model->output[k].name,
                            model->output[k].sign * run->v[model->output[k].place]) > 0;
    return false;
}

const char *
evaluate_explain(const Run *run)
{
    const char *text = run->options->explain ? run->options->explain(run->options->user, run->v) : NULL;
    return text ? text : "";
}

static void
print_assertion(const Run *run, const mdl_assert *assertion)
{
    char text[1000];
    const char *where = assertion->where ? assertion->where : "", *message = assertion->message;
    bool fails = assertion->level == 0;
    if (assertion->told) {
        mdl_call(run->model->told, run->v);
        template_fill(message, run->v + assertion->told, run->texts, text, sizeof text);
        message = text;
    }
    run_message(run, fails ? MDL_ERROR : assertion->level == 2 ? MDL_NOTE : MDL_WARNING, "%s: %s at time %.12g: %s", where,
                assertion->level == 2 ? "terminated" : "assertion failed", run->v[0], message);
}

bool
evaluate_holds(Run *run)
{
    const mdl_model *model = run->model;
    mdl_call(model->asserts, run->v);
    bool holds = !failure_happened(run);
    if (!holds)
        failure_clear(run);
    for (uint32_t k = 0; k < model->n_asserts && holds; k++)
        holds = model->assertion[k].edge || model->assertion[k].level != 0 || run->v[model->assertion[k].ok] != 0;
    return holds;
}

int
evaluate_asserts(Run *run)
{
    const mdl_model *model = run->model;
    if (run->edge_failed)
        return MDL_FAILED;
    mdl_call(model->asserts, run->v);
    if (failure_report(run))
        return MDL_FAILED;
    for (uint32_t k = 0; k < model->n_asserts; k++) {
        const mdl_assert *assertion = &model->assertion[k];
        bool good = assertion->edge ? !(run->warned[k] & ASSERT_FIRED) : run->v[assertion->ok] != 0;
        run->warned[k] &= ASSERT_WARNED;
        if (good)
            continue;
        if (assertion->level == 0) {
            print_assertion(run, assertion);
            return MDL_FAILED;
        }
        if (run->warned[k])
            continue;
        run->warned[k] = ASSERT_WARNED;
        run->terminated = run->terminated || assertion->level == 2;
        print_assertion(run, assertion);
    }
    return MDL_OK;
}
