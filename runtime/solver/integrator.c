// integrator.c: the stepper of a run.
//
// Purpose: advance.c, event.c and root.c step, restart and look between steps without knowing the method. When --solver=auto
// has chosen one that does not get on, IDA goes on from there; where another one gets on with less work, that one does.
// Method: a table of Steppers by solver; choice.c picks for `auto`, contest.c on the way.
// Contract: solver.h.
// Complexity: that of the method.
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

#include <math.h>

void
integrator_form(Run *run, mdl_solver solver)
{
    const mdl_model *model = run->model;
    if (run->options->sense)
        solver = MDL_SOLVER_CVODE;
    run->solver = run->options->outside ? MDL_SOLVER_RK4 : solver == MDL_SOLVER_AUTO ? MDL_SOLVER_IDA : solver; // y' = f(t, y), as rk4
    // Small loops could be solved inside the residual, but leaving them to the integrator measures faster;
    // without states there is nothing to integrate and the loops are solved where values are needed.
    bool wanted = run->options->form == MDL_FORM_CAUSAL && (model->n > model->nx || model->implicit);
    run->causal = model->nx == 0 || wanted;
    // Ordinary differential equations have no loops left, and equations that follow from others are solved in loops only.
    if (run->solver != MDL_SOLVER_IDA || run->deficient || run->locked || run->stumbled)
        run->causal = true;
    run->ny = run->causal ? model->nx : model->n;
    run->stats->form = run->causal || (model->n == model->nx && !model->implicit) ? "causal" : "dae";
    run->stats->unknowns = run->ny;
    run->stats->states = model->nx;
}

MDL_CHECKED static int
create(Run *run)
{
    static const Stepper *const steppers[] = {
        [MDL_SOLVER_IDA] = &ida_stepper, [MDL_SOLVER_CVODE] = &cvode_stepper, [MDL_SOLVER_ADAMS] = &adams_stepper,
        [MDL_SOLVER_ERK] = &erk_stepper, [MDL_SOLVER_RK4] = &rk4_stepper,
        [MDL_SOLVER_GAUSS] = &gauss_stepper, [MDL_SOLVER_RADAU] = &radau_stepper, [MDL_SOLVER_DOP853] = &dop853_stepper,
    };
    run->stepper = run->options->outside ? &outside_stepper : run->sense ? &sense_stepper : steppers[run->solver];
    run->stats->solver = run->stepper->name;
    return run->stepper->create(run);
}

// The errors of steps add up. A method of order p that admits an error e in each takes e^(-1/(p+1)) steps, and is wrong by
// e^(p/(p+1)) at the end. This grows in proportion to the tolerance when e does as tolerance^((p+1)/p) (tolerance
// proportionality: Higham, SIAM J. Numer. Anal. 28 (1991) 457). Nothing damps errors in a reversible motion, and one in its
// energy is one in its rate ever after: there e falls by another tolerance^(2/3). Errors near rounding would only make noise.
double
integrator_strictness(Run *run, int order, double share)
{
    const double usual = 1e-6, least = 1e-12, finer = usual / run->tolerance;
    // What an element with a fractional derivative has got wrong it remembers.
    double strictness = run->modes ? 5 : 1;
    if (finer <= 1)
        return strictness;
    strictness *= pow(finer, 1.0 / order);
    if (choice_is_reversible(run))
        strictness *= fmax(1, share * pow(finer, 2.0 / 3));
    return fmax(1, fmin(strictness, run->tolerance / least));
}

int
integrator_create(Run *run)
{
    if (run->options->solver == MDL_SOLVER_AUTO && !run->options->sense && !run->options->outside)
        integrator_form(run, choice_of_solver(run, &run->stats->reason));
    if (run->options->solver == MDL_SOLVER_GAUSS && !(run->options->step > 0))
        choice_warn_of_stiffness(run);
    int status = contest_begin(run);
    return status == MDL_OK ? create(run) : status;
}

int
integrator_again(Run *run)
{
    return create(run);
}

int
integrator_renew(Run *run)
{
    run->stepper->stats(run);
    if (run->outside) // has no loops among its unknowns, and holds the step that an importer is within
        return MDL_OK;
    integrator_free(run);
    locked_form(run);
    return create(run);
}

void
integrator_free(Run *run)
{
    if (run->stepper)
        run->stepper->free(run);
}

int
integrator_start(Run *run)
{
    contest_forget(run);
    return run->stepper->start(run);
}

int
integrator_resume(Run *run)
{
    contest_forget(run);
    return run->stepper->resume ? run->stepper->resume(run) : run->stepper->start(run);
}

// Another method goes on from the present point.
MDL_CHECKED static int
change_method(Run *run, mdl_solver solver)
{
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_solved(run, true);
    if (status != MDL_OK)
        return status;
    evaluate_store(run);
    run->stepper->stats(run);
    run->stepper->free(run);
    integrator_form(run, solver);
    status = create(run);
    return status == MDL_OK ? run->stepper->start(run) : status;
}

// `reached` is told: up to there the other method came.
MDL_CHECKED static int
go_on_with_ida(Run *run, double reached, bool singular)
{
    const char *method = run->stepper->name;
    int status = change_method(run, MDL_SOLVER_IDA);
    if (status != MDL_OK)
        return status;
    if (singular)
        run_message(run, MDL_NOTE, "at time %.12g: near a position in which constraints depend on each other the %s method is not "
                    "exact enough; ida goes on", reached, method);
    else
        run_message(run, MDL_NOTE, "at time %.12g: the %s method needs steps that are too short from here on; ida goes on", reached,
                    method);
    run->stats->reason = singular ? "near a singular position" : "after steps that became too short";
    return contest_join(run);
}

// Where the corrector finds no solution of all unknowns together (the junctions of transistors at rest leave loops so ill-conditioned that corrections are
// rounding), Newton's method for each loop may.
MDL_CHECKED static int
go_on_causal(Run *run, double reached)
{
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_row(run, true);
    if (status != MDL_OK)
        return status;
    evaluate_store(run);
    run->stumbled = true;
    status = integrator_renew(run);
    if (status != MDL_OK)
        return status;
    run_message(run, MDL_NOTE, "at time %.12g: the equations of a step could not be solved together; loops are solved by themselves from here on (--form causal)",
                reached);
    return run->stepper->start(run);
}

// A step of the method that is there. Where that fails the one that was best so far makes it, and where that one does IDA, which says what is wrong if it
// fails, too. It may begin before run->time.
MDL_CHECKED static int
step_somehow(Run *run, double limit)
{
    int status = MDL_OK;
    while (status == MDL_OK && (run->solver != MDL_SOLVER_IDA || contest_tries(run))) {
        contest_enter(run);
        status = run->stepper->step(run, limit);
        if (!contest_leave(run, status))
            return status;
        run->stats->steps--;
        bool rival = contest_tries(run);
        status = change_method(run, rival ? run->contest.champion : MDL_SOLVER_IDA);
        if (rival)
            contest_changed(run);
        else
            contest_end(run);
    }
    if (status != MDL_OK)
        return status;
    if (run->model->n_constraints)
        contest_note(run);
    return run->stepper->step(run, limit);
}

// With the method that contest.c wants.
MDL_CHECKED static int
contested_step(Run *run, double limit)
{
    mdl_solver next = contest_next(run);
    double reached = run->time;
    int status = MDL_OK;
    if (next != run->solver) {
        contest_give_way(run);
        status = change_method(run, next);
        contest_changed(run);
    }
    do
        status = status == MDL_OK ? step_somehow(run, limit) : status;
    while (status == MDL_OK && run->time < reached);
    return status;
}

int
integrator_step(Run *run, double limit)
{
    double before = run->time;
    int status = run->contest.open ? contested_step(run, limit) : run->stepper->step(run, limit);
    if (status == RUN_GIVES_UP || status == RUN_NEARS_SINGULAR) {
        run->stats->steps--;
        status = go_on_with_ida(run, before, status == RUN_NEARS_SINGULAR);
        do
            status = status == MDL_OK ? run->stepper->step(run, limit) : status;
        while (status == MDL_OK && run->time < before);
    }
    if (status == RUN_STUMBLES) {
        run->stats->steps--;
        status = go_on_causal(run, before);
        if (status == MDL_OK)
            status = run->stepper->step(run, limit);
    }
    if (status == MDL_OK)
        status = pace_step(run, before);
    if (status == MDL_FAILED)
        pace_advise(run);
    return status;
}

int
integrator_interpolate(Run *run, double time)
{
    return run->stepper->interpolate(run, time);
}

void
integrator_stats(Run *run)
{
    if (run->stepper)
        run->stepper->stats(run);
}
