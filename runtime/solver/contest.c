// contest.c: --solver=auto on the way: whether another method gets on with less work than IDA.
//
// Purpose: BDF's steps are what its error and its stability allow. Where fast oscillations are damped little its orders above 2 are unstable on
//          them, and to small tolerances a method of order 13 takes a hundredth of its steps; where nothing is stiff explicit methods need no
//          matrices. Which of it a motion is cannot be read off its start, and may change on the way.
// Method: measuring. When a method has worked for a while another one goes on from where it is, for an eighth of that work, and what counts is
//         how far time has moved for the work of the second half, when both know the motion. One that is clearly better stays. Otherwise the
//         first goes on, and the next trial comes after twice as much work, so that trials cost a fraction of a run at most. Work is counted in
//         evaluations and factorisations, not in seconds: a run is the same each time. The weights are near what these were found to cost on
//         models of 1 to 24 unknowns (--stats=long); beyond, factors cost more than they say, and that a rival must be clearly better is
//         what makes up for it. Models with loops evaluate more for a method that solves them within the right side.
// Contract: solver.h. Complexity: constant for each step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/solver/solver.h"

static const double FIRST = 65536;   // work of IDA before the first trial: some ten thousand steps
static const double PART = 0.125;    // of that: a trial
static const double LONGER = 2;      // times the work before the next trial
static const double BETTER = 1.5;    // how much further a rival must get for its work
static const uint32_t MOST_LOOPS = 300; // unknowns of loops beyond which nobody solves them within a right side

// Work in evaluations: of one with what the method does with its values (solutions of linear systems, sums over the past), of a Jacobian,
// and of the factors of one matrix.
static const double IDA_EVALUATION = 3.5, IDA_MATRIX = 8;
static const double RADAU_EVALUATION = 4, RADAU_JACOBIAN = 2, RADAU_FACTORS = 3;
static const double ADAMS_EVALUATION = 2.5, DOP853_EVALUATION = 1.4, LOOPS = 2.5;

enum { WATCHES, TRIES }; // stage

static double
work_of(const Run *run)
{
    const mdl_stats *stats = run->stats;
    double evaluations = (double)stats->residuals, matrices = (double)stats->jacobians;
    double loops = run->causal && run->loops ? LOOPS - 1 : 0, looks = (1 + loops) * (double)stats->root_evaluations;
    if (run->solver == MDL_SOLVER_IDA)
        return (IDA_EVALUATION + loops) * evaluations + IDA_MATRIX * matrices + looks;
    if (run->solver == MDL_SOLVER_ADAMS)
        return (ADAMS_EVALUATION + loops) * evaluations + looks;
    if (run->solver == MDL_SOLVER_DOP853)
        return (DOP853_EVALUATION + loops) * evaluations + looks;
    return (RADAU_EVALUATION + loops) * evaluations + RADAU_JACOBIAN * matrices + RADAU_FACTORS * (double)stats->factorings + looks;
}

// What the method has done since the latest mark, which moves to here.
static void
mark(Run *run)
{
    run->contest.work = work_of(run);
    run->contest.since = run->time;
}

static double
progress(const Run *run)
{
    double work = work_of(run) - run->contest.work;
    return work > 0 ? (run->time - run->contest.since) / work : 0;
}

static void
set_stage(Run *run, uint32_t stage)
{
    run->contest.stage = stage;
    run->contest.half = 0;
    mark(run);
}

// Loops that are not linear may have a solution at the point of a multistep method and none at a stage; IDA knows where it is.
static bool
has_plain_loops(const Run *run)
{
    uint32_t unknowns = 0;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        const mdl_block *block = run->model->dynamics[k].block;
        if (block && !block->linear)
            return false;
        unknowns += block ? block->m : 0;
    }
    return unknowns <= MOST_LOOPS;
}

int
contest_begin(Run *run)
{
    const mdl_model *model = run->model;
    run->contest = (Contest){.champion = MDL_SOLVER_IDA, .rival = MDL_SOLVER_RADAU, .patience = FIRST, .reason = run->stats->reason};
    // Who asks for one interval after the other, and may go back, gets one method.
    run->contest.open = run->options->solver == MDL_SOLVER_AUTO && run->solver == MDL_SOLVER_IDA && !run->options->sense && !run->options->outside
                        && !run->driven && run->options->form == MDL_FORM_AUTO && model->nx > 0 && !run->modes && has_plain_loops(run);
    set_stage(run, WATCHES);
    if (!run->contest.open)
        return MDL_OK;
    run->contest.point = malloc(2 * (size_t)model->nx * sizeof *run->contest.point);
    run->contest.slope = run->contest.point + model->nx;
    return run->contest.point ? MDL_OK : MDL_INTERNAL;
}

// Half of the work is over: what counts begins here.
static bool
over(Run *run, double work)
{
    Contest *c = &run->contest;
    double done = work_of(run) - c->work;
    if (!c->half && done >= work / 2) {
        c->half = 1;
        mark(run);
        return false;
    }
    return c->half && done >= work / 2;
}

// A trial that costs as much as what is left is not worth it.
static bool
much_is_left(const Run *run)
{
    return run->options->stop - run->time > 2 * PART * run->contest.patience * run->contest.pace;
}

// The next one behind the loser who is not the champion.
static void
choose_rival(Contest *c)
{
    static const mdl_solver all[] = {MDL_SOLVER_IDA, MDL_SOLVER_RADAU, MDL_SOLVER_DOP853, MDL_SOLVER_ADAMS};
    enum { ALL = sizeof all / sizeof *all };
    size_t k = 0;
    while (all[k] != c->rival)
        k++;
    do
        k = (k + 1) % ALL;
    while (all[k] == c->champion);
    c->rival = all[k];
}

static void
lose(Run *run)
{
    choose_rival(&run->contest);
    run->contest.patience *= LONGER;
    set_stage(run, WATCHES);
}

static void
win(Run *run, double pace)
{
    Contest *c = &run->contest;
    mdl_solver before = c->champion;
    run->stats->reason = run->solver == MDL_SOLVER_IDA ? c->reason : "found on the way";
    run->stats->changed = run->time;
    run->stats->gain = run->solver == MDL_SOLVER_IDA ? 0 : pace / c->pace;
    c->champion = run->solver;
    c->rival = before;
    choose_rival(c);
    c->patience = FIRST;
    set_stage(run, WATCHES);
}

mdl_solver
contest_next(Run *run)
{
    Contest *c = &run->contest;
    bool tries = c->stage == TRIES;
    if (!over(run, tries ? PART * c->patience : c->patience))
        return run->solver;
    double pace = progress(run);
    if (!tries) {
        c->pace = pace;
        if (pace > 0 && much_is_left(run))
            return c->rival;
        set_stage(run, WATCHES);
    } else if (pace >= BETTER * c->pace)
        win(run, pace);
    else
        return c->champion;
    return run->solver;
}

void
contest_changed(Run *run)
{
    if (run->solver == run->contest.champion)
        lose(run);
    else
        set_stage(run, TRIES);
}

void
contest_enter(Run *run)
{
    Contest *c = &run->contest;
    c->muted = true;
    c->began = run->time;
    memcpy(c->point, run->y, run_size(run) * sizeof *c->point);
    memcpy(c->slope, run->yp, run_size(run) * sizeof *c->slope);
}

bool
contest_leave(Run *run, int status)
{
    Contest *c = &run->contest;
    c->muted = false;
    if (status == MDL_OK || status == MDL_INTERNAL)
        return false;
    run->time = c->began;
    memcpy(run->y, c->point, run_size(run) * sizeof *c->point);
    memcpy(run->yp, c->slope, run_size(run) * sizeof *c->slope);
    return true;
}

// IDA says why nobody gets on, if it does not either.
void
contest_end(Run *run)
{
    run->stats->reason = run->contest.reason;
    run->stats->gain = 0;
    run->contest.champion = MDL_SOLVER_IDA;
    run->contest.rival = MDL_SOLVER_RADAU;
    lose(run);
}

void
contest_free(Run *run)
{
    free(run->contest.point);
    run->contest.point = run->contest.slope = NULL;
}
