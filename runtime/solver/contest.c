// contest.c: --solver=auto: which method begins, and whether another one gets on with less work.
//
// Purpose: BDF's steps are what its error and its stability allow. Where fast oscillations are damped little its orders above 2 are unstable on
//          them, and to small tolerances a method of order 13 takes a hundredth of its steps; where nothing is stiff explicit methods need no
//          matrices. Which of it a motion is cannot be read off its start, and may change on the way.
//          The explicit method begins, since its steps say whether stability limits them: then IDA is tried at once (as in LSODA: Petzold, SIAM J. Sci. Stat. Comput.
//          4 (1983) 136).
// Method: measuring. When a method has worked for a while another one goes on from where it is, for an eighth of that work, and what counts is
//         how far time has moved for the work of the second half, when both know the motion. One that is clearly better stays. Otherwise the
//         first goes on, and when all others have lost the next trials come after twice as much work, so that trials cost a fraction of a run at most. Work is counted in
//         evaluations and factorisations, not in seconds: a run is the same each time. The weights are near what these were found to cost on
//         models of 1 to 24 unknowns (--stats=long); beyond, factors cost more than they say, and that a rival must be clearly better is
//         what makes up for it. Models with loops evaluate more for a method that solves them within the right side.
// Contract: solver.h. Complexity: constant for each step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/linear.h"
#include "runtime/point/point.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

static const double FIRST = 16384;   // work before the first trial: some thousands of steps
static const double PART = 0.125;    // of that: a trial,
static const double LEAST = 1000;    // and of what begins with short steps of order 1
static const double ASIDE = 1e-6, FEW_STEPS = 200;
enum { ROUNDS = 8, SMALL = 1000 };
static const double ALARM = 200;     // work of an explicit method that is watched when it has met stiffness,
static const double PAUSE = 2000;    // and evaluations before that is done once more, when it was not yet the worse one; then twice as many
static const double LONGER = 2;      // times the work before the next trials, when all have lost
static const double BETTER = 1.5;    // how much further a rival must get for its work
static const double HARMLESS = 1000; // steps whose errors may add up,
static const double SHORTER = 0.2;   // and the power of what is beyond, by which a method of BDF's orders would have to shorten its steps
static const uint32_t FEW = 50;      // states: there the factors of radau cost little
static const double SOON = 4096;     // work of ida before radau is tried where the motion was found to be stiff, and the explicit method where gauss has given up
static const uint32_t MOST_LOOPS = 300, FOR_EACH = 20; // unknowns of loops, and those for each state, beyond which nobody solves them within a right side

// Work in evaluations: of one with what the method does with its values (solutions of linear systems, sums over the past), of a Jacobian,
// and of the factors of one matrix.
static const double IDA_EVALUATION = 3.5, IDA_MATRIX = 8;
static const double RADAU_EVALUATION = 4, RADAU_JACOBIAN = 2, RADAU_FACTORS = 3;
static const double ADAMS_EVALUATION = 2.5, DOP853_EVALUATION = 1.4, LOOPS = 2.5; // of dop853 as many as DOP853_EVALUATIONS a step

enum { KEPT = 16, BACK = 3 };        // steps that are remembered, and by as many at least the run goes back before a singular position,
static const double QUIET = 0.02;    // of the noise that ida goes through: more at the end of a step would add to what steps are wrong by,
static const double CLEAR = 1e-4;    // and to where the invariants' noise is this part of what is too much, or not more than
static const double ABOVE = 30;      // times the least,
static const double RISE = 0.01;     // of which as much is forgotten in the time of a usual step;
static const double SHRUNK = 0.5, FORGETTING = 0.95; // of that: what is shorter does not come from the motion; how long it is remembered

enum { WATCHES, TRIES }; // stage
enum { RIVALS = 3, DOP853_EVALUATIONS = 12 };

static double
work_of(const Run *run)
{
    const mdl_stats *stats = run->stats;
    double evaluations = (double)(stats->residuals - run->contest.aside), matrices = (double)stats->jacobians;
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
    run->contest.steps = run->stats->steps;
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
    return unknowns <= MOST_LOOPS || unknowns <= FOR_EACH * run->model->nx;
}

// The largest rate of the equations at the start: the nonlinear power method (Sommeijer, Shampine and Verwer, J. Comput. Appl. Math. 88 (1998) 315).
// INFINITY: not known.
static double
largest_rate(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t n = model->nx;
    double *kept = malloc(((size_t)model->nv + 2 * (size_t)n + 1) * sizeof *kept), *way = kept + model->nv, *slope = way + n, rate = INFINITY;
    uint64_t random = 88172645463325252u;
    if (!kept)
        return INFINITY;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    const double *y = kept + model->y, *nominal = kept + model->nominal;
    for (uint32_t i = 0; i < n; i++)
        way[i] = random_around_zero(&random);
    for (uint32_t k = 0; k < ROUNDS; k++) {
        double length = vector_length(way, n);
        for (uint32_t i = 0; i < n; i++)
            way[i] *= length > 0 ? ASIDE * sqrt(n) / length : 0;
        memcpy(run->v, kept, model->nv * sizeof *kept);
        if (k > 0)
            for (uint32_t i = 0; i < n; i++)
                run->v[model->y + i] += way[i] * fmax(fabs(y[i]), fabs(nominal[i]));
        if (evaluate_solved(run, false) != MDL_OK)
            break;
        if (k == 0) {
            memcpy(slope, run->v + model->yp, n * sizeof *slope);
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            way[i] = (run->v[model->yp + i] - slope[i]) / fmax(fabs(y[i]), fabs(nominal[i]));
        rate = vector_length(way, n) / (ASIDE * sqrt(n));
    }
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
    return isfinite(rate) ? rate : INFINITY;
}

// Who asks for one interval after the other, and may go back (`driven`), gets one method.
static bool
may_change(const Run *run)
{
    const mdl_options *options = run->options;
    return options->solver == MDL_SOLVER_AUTO && !options->sense && !options->outside && !run->driven && options->form == MDL_FORM_AUTO && run->model->nx > 0
           && !run->modes && has_plain_loops(run);
}

// Whether a method that is not made for stiffness may begin: it finds out within some steps, which is little but for large models.
bool
contest_begins_explicit(Run *run)
{
    if (!may_change(run))
        return false;
    if (run->model->nx <= SMALL)
        return true;
    return largest_rate(run) * (run->options->stop - run->time) < DOP853_STABLE * FEW_STEPS;
}

// Of the integrator at most, in any form.
static size_t
unknowns(const Run *run)
{
    return run->model->n;
}

static double
trial(const Contest *c)
{
    return fmax(PART * c->patience, LEAST);
}

// With IDA, when it works.
MDL_CHECKED static int
open_contest(Run *run)
{
    const mdl_model *model = run->model;
    run->contest = (Contest){.least = INFINITY, .champion = MDL_SOLVER_IDA, .rival = MDL_SOLVER_RADAU, .patience = FIRST, .reason = run->stats->reason};
    run->contest.open = run->solver == MDL_SOLVER_IDA && may_change(run);
    set_stage(run, WATCHES);
    if (!run->contest.open)
        return MDL_OK;
    uint32_t room = model->n_constraints ? KEPT : 1;
    size_t most = unknowns(run);
    run->contest.room = room;
    run->contest.point = calloc((2 * (size_t)room + 1) * most + 2 * (size_t)room, sizeof *run->contest.point);
    run->contest.slope = run->contest.point + room * most;
    run->contest.direction = run->contest.slope + room * most;
    run->contest.began = run->contest.direction + most;
    run->contest.noise_there = run->contest.began + room;
    return run->contest.point ? MDL_OK : MDL_INTERNAL;
}

// Who is tried first where explicit steps meet stiffness. What they leave of fast oscillations that nothing damps (the axial ones of a rod) IDA would have to follow when it
// begins behind them; radau damps it, and where the model is small it costs little.
static mdl_solver
stiff_rival(const Run *run)
{
    return run->model->n_constraints && run->model->nx <= FEW ? MDL_SOLVER_RADAU : MDL_SOLVER_IDA;
}

int
contest_begin(Run *run)
{
    int status = open_contest(run);
    if (status != MDL_OK || !run->contest.open || !contest_begins_explicit(run))
        return status;
    run->contest.champion = MDL_SOLVER_DOP853;
    run->contest.rival = stiff_rival(run);
    run->stats->reason = "not stiff so far";
    integrator_form(run, MDL_SOLVER_DOP853);
    set_stage(run, WATCHES);
    return MDL_OK;
}

int
contest_join(Run *run)
{
    int status = run->contest.open ? MDL_OK : open_contest(run);
    if (status == MDL_OK && run->contest.open && contest_begins_explicit(run)) {
        run->contest.rival = MDL_SOLVER_DOP853;
        run->contest.patience = SOON;
    }
    return status;
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

// Whoever begins here knows enough of the motion when it comes to a singular position.
static bool
is_clear(const Contest *c, double noise)
{
    return noise <= fmax(CLEAR, ABOVE * c->least);
}

// A trial that costs as much as what is left is not worth it.
static bool
much_is_left(const Run *run)
{
    return run->options->stop - run->time > 2 * trial(&run->contest) * run->contest.pace;
}

// The largest rate that was seen would limit its steps to less than the champion gets for its work. The rate may have become less since: each time it is believed
// half as much.
static bool
is_hopeless(Contest *c, mdl_solver solver)
{
    if (solver != MDL_SOLVER_DOP853 && solver != MDL_SOLVER_ADAMS)
        return false;
    bool hopeless = c->pace * c->rate * c->belief * DOP853_EVALUATION * DOP853_EVALUATIONS > DOP853_STABLE;
    c->belief *= hopeless ? 0.5 : 1;
    return hopeless;
}

// The next one behind the loser who is not the champion. What adams has seen in a position in which constraints depend on each other stays in its slopes for a
// while, which its error test does not tell.
static void
choose_rival(Run *run)
{
    Contest *c = &run->contest;
    static const mdl_solver all[] = {MDL_SOLVER_IDA, MDL_SOLVER_RADAU, MDL_SOLVER_DOP853, MDL_SOLVER_ADAMS};
    enum { ALL = sizeof all / sizeof *all };
    size_t k = 0;
    while (all[k] != c->rival)
        k++;
    do
        k = (k + 1) % ALL;
    while (all[k] == c->champion || is_hopeless(c, all[k]) || (all[k] == MDL_SOLVER_ADAMS && run->model->n_constraints));
    c->rival = all[k];
}

static void
lose(Run *run)
{
    Contest *c = &run->contest;
    choose_rival(run);
    c->lost = (c->lost + 1) % RIVALS;
    c->patience = fmax((c->lost ? 1 : LONGER) * c->patience, LEAST / PART);
    set_stage(run, WATCHES);
}

static void
win(Run *run, double pace)
{
    Contest *c = &run->contest;
    mdl_solver before = c->champion;
    if (run->solver == MDL_SOLVER_IDA && c->alarmed)
        c->reason = "the motion is stiff";
    run->stats->reason = run->solver == MDL_SOLVER_IDA ? c->reason : "found on the way";
    run->stats->changed = run->time;
    run->stats->gain = run->solver == MDL_SOLVER_IDA ? 0 : pace / c->pace;
    bool stiff = run->solver == MDL_SOLVER_IDA && c->alarmed;
    c->champion = run->solver;
    c->rival = before;
    choose_rival(run);
    if (stiff)
        c->rival = MDL_SOLVER_RADAU;
    c->patience = stiff ? SOON : FIRST;
    c->lost = 0;
    c->alarmed = false;
    set_stage(run, WATCHES);
}

// How much further the rival must get for its work. Errors of thousands of steps of ida add up to as many hundredths of the tolerance, those of radau, which makes
// a hundredth of its steps, do not: who wants the same error of ida has to ask for more in each step, which would be shorter by a root of that.
static double
margin(const Run *run)
{
    const Contest *c = &run->contest;
    if (c->champion != MDL_SOLVER_IDA || run->solver != MDL_SOLVER_RADAU || run->model->nx > FEW)
        return BETTER;
    double left = c->stride > 0 ? (run->options->stop - run->time) / c->stride : 0;
    return pow(fmax(left / HARMLESS, 1), -SHORTER);
}

mdl_solver
contest_next(Run *run)
{
    Contest *c = &run->contest;
    bool tries = c->stage == TRIES;
    if (!tries && c->champion == MDL_SOLVER_DOP853 && (double)(run->stats->residuals - c->aside) >= c->heeds && dop853_is_stiff(run)) {
        c->alarmed = true;
        c->pause = fmax(PAUSE, 2 * c->pause);
        c->heeds = (double)(run->stats->residuals - c->aside) + c->pause;
        c->rival = stiff_rival(run);
        c->patience = ALARM;
        set_stage(run, WATCHES);
    }
    if (!over(run, tries ? trial(c) : c->patience) || !is_clear(c, c->noise))
        return run->solver;
    if (!tries && c->bridged && c->champion == MDL_SOLVER_DOP853 && !c->alarmed) {
        set_stage(run, WATCHES);
        return run->solver;
    }
    double pace = progress(run);
    if (!tries) {
        c->pace = pace;
        c->stride = (run->time - c->since) / (double)(run->stats->steps - c->steps + 1);
        if (pace > 0 && much_is_left(run))
            return c->rival;
        set_stage(run, WATCHES);
    } else if (pace >= margin(run) * c->pace)
        win(run, pace);
    else
        return c->champion;
    return run->solver;
}

// To where invariants say what there is to know of the motion, some steps before the singular position.
static void
go_back(Contest *c)
{
    uint32_t steps = 0;
    while (c->kept > 1 && (steps < BACK || !is_clear(c, c->noise_there[c->latest]))) {
        c->latest = (c->latest + c->room - 1) % c->room;
        c->kept--;
        steps++;
    }
}

// The run is where the latest point that is kept was.
static void
take_back(Run *run)
{
    Contest *c = &run->contest;
    run->time = c->began[c->latest];
    c->noise = c->noise_there[c->latest];
    memcpy(run->y, c->point + c->latest * unknowns(run), unknowns(run) * sizeof *c->point);
    memcpy(run->yp, c->slope + c->latest * unknowns(run), unknowns(run) * sizeof *c->slope);
}

void
contest_give_way(Run *run)
{
    if (run->contest.room < 2 || !run->contest.kept || !contest_tries(run))
        return;
    go_back(&run->contest);
    take_back(run);
}

void
contest_changed(Run *run)
{
    Contest *c = &run->contest;
    if (run->solver == c->champion) {
        run->stats->reason = c->held;
        lose(run);
    } else {
        c->held = run->stats->reason;
        run->stats->reason = "on trial";
        set_stage(run, TRIES);
    }
}

bool
contest_tries(const Run *run)
{
    return run->contest.stage == TRIES;
}

void
contest_forget(Run *run)
{
    run->contest.kept = 0;
    run->contest.usual = run->contest.noise = 0;
    run->contest.least = INFINITY;
}

bool
contest_nears_singular(Run *run, const Projection *projection, const double *end)
{
    Contest *c = &run->contest;
    c->noise = projection_noise(run, projection, end);
    c->least = fmin(c->least, c->noise);
    return c->noise > (run->solver == MDL_SOLVER_IDA ? 1 : QUIET);
}

// The latest point stays where it is followed by another one when somebody may go back to it: steps that become shorter are on the way into a singular position,
// and all of them together may be less than what a method needs to know the motion.
static bool
is_kept(Contest *c, double time)
{
    if (!c->kept)
        return true;
    uint32_t before = (c->latest + c->room - 1) % c->room;
    double way = c->kept > 1 ? c->began[c->latest] - c->began[before] : time - c->began[c->latest];
    if (!is_clear(c, c->noise_there[c->latest]) || way < SHRUNK * c->usual)
        return false;
    c->usual = fmax(way, FORGETTING * c->usual);
    return true;
}

void
contest_note(Run *run)
{
    Contest *c = &run->contest;
    if (c->kept && c->began[c->latest] == run->time)
        return;
    if (c->kept && c->usual > 0)
        c->least *= 1 + RISE * fmin((run->time - c->began[c->latest]) / c->usual, 1);
    if (is_kept(c, run->time)) {
        c->latest = (c->latest + 1) % c->room;
        c->kept = c->kept < c->room ? c->kept + 1 : c->room;
    }
    c->began[c->latest] = run->time;
    c->noise_there[c->latest] = c->noise;
    memcpy(c->point + c->latest * unknowns(run), run->y, unknowns(run) * sizeof *c->point);
    memcpy(c->slope + c->latest * unknowns(run), run->yp, unknowns(run) * sizeof *c->slope);
}

void
contest_enter(Run *run)
{
    run->contest.muted = true;
    contest_note(run);
}

bool
contest_leave(Run *run, int status)
{
    Contest *c = &run->contest;
    c->muted = false;
    if (status == MDL_OK || status == MDL_INTERNAL)
        return false;
    c->singular = status == RUN_NEARS_SINGULAR || !is_clear(c, c->noise_there[c->latest]);
    if (c->singular)
        go_back(c);
    take_back(run);
    return true;
}

// IDA says why nobody gets on, if it does not either.
void
contest_end(Run *run)
{
    run->stats->reason = run->contest.singular ? "near a singular position" : run->contest.reason;
    run->stats->gain = 0;
    run->contest.champion = MDL_SOLVER_IDA;
    run->contest.rival = MDL_SOLVER_RADAU;
    lose(run);
}

void
contest_free(Run *run)
{
    free(run->contest.point);
    run->contest.point = run->contest.slope = run->contest.direction = run->contest.began = run->contest.noise_there = NULL;
}
