// friction_share.c: the forces of laws that hold the same motion.
//
// Purpose: two supports of one rigid body stick both, and neither force is unique: a choice that is the same every time.
// Method: sticking laws whose X depend on each other have a singular matrix. A largest independent set of them, the basis, sticks; the
//         others are carried: their p = m*a is given, with the m that makes sum p^2/a least (friction_within.c). Finite differences
//         are exact here: X, p and a are affine in the forces. Limits a may depend on reactions that go with the shares: the sum is least by the
//         limits at its own least point. If shares only came nearer to it they would follow from those of the evaluation before, and an
//         event that was located would be elsewhere when it is evaluated again.
// Contract: law.h. Complexity: an evaluation of the model for each law that sticks, and the cube of how many are carried.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/friction_inner.h"
#include "runtime/point/point.h"

static const double SHARED = 1e-12; // of the largest limit: no change of limits
static const double FORESEEN = 1e-12; // of the largest limit: limits are affine in what is carried
static const double TRIAL = 1e-2;   // of the largest force: a carried force is changed by as much to see what others answer
static const double BEYOND = 1.1;   // of a: a share that is too much
static const double HELD = 1e-12;   // of X: it is held
static const double SHORT = 1e-9;   // of the run: the least time between two times that a law joins others at rest
static const double LONG = 1e-3;    // of the run: rest that was one
static const double WELL = 1e-6;    // of a: what joins others at rest has a force that is less by this
static const double SLACK = 1e-9;   // of the largest reaction: what a limit comes to at least while its friction holds

enum { ROUNDS = 20, SETTLES = 400 };
enum { HOLDS_BASIS = 2 }; // Friction.carried: it is measured what others do without this one

static bool
sticks(const Run *run, uint32_t law)
{
    return friction_mode(run, law) == 0;
}

// By other laws, with this share of its limit.
static void
friction_carry(Run *run, uint32_t law, double share)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    run->friction->carried[law] = 1;
    run->v[sgn->mode] = sgn->unilateral ? 1 + share : share == 0 ? FRICTION_NOTHING : share;
}

static double
share_of(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? run->v[sgn->mode] - 1 : run->v[sgn->mode];
}

// What the force of a law is measured by: the limit of a friction, about the largest force of all unilateral constraints. A size
// for each of them would remember what an instant has made of it: feet of a table would carry unequal loads ever after.
static double
size_of(const Run *run, uint32_t law)
{
    return run->model->sgn[law].unilateral ? fmax(run->friction->reaction, 1) : friction_limit(run, law);
}

// The force of a law; a reaction is not below zero.
static double
force_of(const Run *run, uint32_t law)
{
    return run->model->sgn[law].unilateral ? contact_force(run, law) : run->v[run->model->sgn[law].p];
}

// By how much a share is changed to see what others answer: as much as their forces are, however small its limit is here. The answers would
// otherwise be the rounding of those forces.
static double
trial_of(const Run *run, uint32_t law, double largest)
{
    double size = run->model->sgn[law].unilateral ? 1 : size_of(run, law);
    return 0.5 * fmax(1, TRIAL * largest / size);
}

static double
largest_reaction(const Run *run)
{
    double largest = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].unilateral)
            largest = fmax(largest, fabs(run->v[run->model->sgn[k].p]));
    return largest;
}

// How X of a carried law answers to its own force; 0 when the model cannot be solved.
static double
answer(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (evaluate_solved(run, false) != MDL_OK || !(size_of(run, law) > 0))
        return 0;
    double before = run->v[sgn->dx], trial = trial_of(run, law, largest_reaction(run));
    friction_carry(run, law, trial);
    double change = evaluate_solved(run, false) == MDL_OK ? fabs(run->v[sgn->dx] - before) / trial : 0;
    friction_carry(run, law, FRICTION_NOTHING);
    return isfinite(change) ? change : 0;
}

// Reactions first, because limits of friction depend on them; then states, which are held exactly.
static int
turn_of(const mdl_sgn *sgn)
{
    return sgn->unilateral ? 0 : sgn->state >= 0 ? 1 : 2;
}

// The same of a friction that has the force of its limit at no speed, if it was never measured: others may hold it.
static double
answer_at_limit(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double mode = run->v[sgn->mode], scale = run->friction->scale[law];
    if (sgn->unilateral || sgn->disk || sgn->play || scale > 0 || !friction_at_zero(run, law))
        return scale;
    friction_carry(run, law, FRICTION_NOTHING);
    scale = answer(run, law);
    run->v[sgn->mode] = mode;
    run->friction->carried[law] = 0;
    return scale;
}

static void
measure_scales(Run *run, bool reactions)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && (turn_of(&run->model->sgn[k]) == 0) == reactions)
            friction->scale[k] = answer(run, k);
        else if (!friction->sticks[k] && !reactions)
            friction->scale[k] = answer_at_limit(run, k);
}

// The same of frictions, with the reactions as they are, but held by none: what these hold answers to no friction.
static void
measure_frictions(Run *run)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && run->model->sgn[k].unilateral && !friction->carried[k]) {
            contact_push(run, k, run->v[run->model->sgn[k].p]);
            friction->carried[k] = HOLDS_BASIS;
        }
    measure_scales(run, false);
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->carried[k] == HOLDS_BASIS)
            friction_stick(run, k);
}

static void
join_basis(Run *run, int turn)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && turn_of(&run->model->sgn[k]) == turn && size_of(run, k) > 0 &&
            answer(run, k) > FRICTION_ROUNDING * friction->scale[k])
            friction_stick(run, k);
}

// Laws join the basis while they can still be moved by their own force.
MDL_CHECKED static int
choose_basis(Run *run, bool report)
{
    const mdl_model *model = run->model;
    Friction *friction = run->friction;
    friction->chosen = true;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        friction->sticks[k] = sticks(run, k);
        if (friction->sticks[k])
            friction_carry(run, k, FRICTION_NOTHING);
    }
    measure_scales(run, true);
    join_basis(run, 0);
    int status = friction_share(run, report); // limits of friction, where several contacts share a load
    if (status != MDL_OK)
        return status;
    measure_frictions(run);
    join_basis(run, 1);
    join_basis(run, 2);
    return MDL_OK;
}

double
friction_still(const Run *run, uint32_t law)
{
    return fmax(FRICTION_ROUNDING * run->friction->scale[law], HELD);
}

// A friction that has the force of its limit, and others hold what it rubs on.
static bool
held_at_limit(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    bool moves = !sgn->disk && sgn->state < 0 && !sgn->level;
    uint32_t first = sgn->disk ? law + 1 - sgn->disk : law, count = sgn->disk ? run->model->sgn[first].of : 1;
    bool held = !sgn->unilateral && !sticks(run, law) && !moves && friction_at_zero(run, first);
    for (uint32_t i = 0; i < count && held; i++)
        held = fabs(run->v[run->model->sgn[first + i].dx]) <= friction_still(run, first + i);
    return held;
}

// At the evaluated point. The force of a law is one of rest also where it is held at its limit: if it did not count there, the load of
// contacts at rest would move to those of which the friction happens to be at the limit. One that begins to slide counts no more, as it does not
// a moment later: the forces would jump there, and the motion with them.
static void
note_rests(const Run *run, Shares *shares)
{
    for (uint32_t k = 0; k < shares->n; k++)
        shares->rests[k] = sticks(run, k) || held_at_limit(run, k);
}

static bool
allocate(Shares *shares, uint32_t n, uint32_t rows)
{
    size_t all = n, more = (size_t)rows + 1;
    *shares = (Shares){.n = n, .rows = rows, .force = calloc(4 * all + 2 * more * all + 4 * more + more * (more + 1), sizeof *shares->force),
                       .rests = calloc(all + 1, 1)};
    if (!shares->force || !shares->rests)
        return false;
    shares->size = shares->force + n;
    shares->at = shares->size + n;
    shares->width = shares->at + n;
    shares->change = shares->width + n;
    shares->growth = shares->change + more * all;
    shares->step = shares->growth + more * all;
    shares->from = shares->step + more;
    shares->inside = shares->from + more;
    shares->trial = shares->inside + more;
    shares->system = shares->trial + more;
    return true;
}

// Limits as they are, below zero, too: so they are affine.
static void
read_sizes(const Run *run, const Shares *shares, double *size)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        size[k] = !shares->rests[k] ? 0 : sgn->unilateral ? size_of(run, k) : run->v[sgn->a];
    }
}

// The largest force of the laws at rest, as evaluated.
static double
largest_force(const Run *run, const Shares *shares)
{
    double largest = 0;
    for (uint32_t k = 0; k < shares->n; k++)
        if (shares->rests[k])
            largest = fmax(largest, fmax(fabs(shares->force[k]), run->model->sgn[k].unilateral ? 0 : fabs(shares->size[k])));
    return largest;
}

// Trials at the evaluated point; none of a friction that has no limit: it has no force, and what would change is rounding.
static void
choose_trials(const Run *run, Shares *shares)
{
    double largest = largest_force(run, shares);
    for (uint32_t j = 0, row = 0; j < shares->n; j++)
        if (run->friction->carried[j])
            shares->trial[row++] = size_of(run, j) > 0 ? trial_of(run, j, largest) : 0;
}

static bool
measure_shares(Run *run, Shares *shares)
{
    uint32_t n = shares->n;
    for (uint32_t k = 0; k < n; k++)
        shares->force[k] = force_of(run, k);
    read_sizes(run, shares, shares->size);
    choose_trials(run, shares);
    for (uint32_t j = 0, row = 0; j < n; j++) {
        if (!run->friction->carried[j])
            continue;
        double share = share_of(run, j), *change = shares->change + (size_t)row * n, *growth = shares->growth + (size_t)row * n;
        double trial = shares->trial[row++];
        memset(change, 0, n * sizeof *change);
        memset(growth, 0, n * sizeof *growth);
        if (trial == 0)
            continue;
        friction_carry(run, j, share + trial);
        if (evaluate_solved(run, false) != MDL_OK)
            return false;
        friction_carry(run, j, share);
        read_sizes(run, shares, growth);
        for (uint32_t k = 0; k < n; k++) {
            change[k] = shares->rests[k] ? force_of(run, k) - shares->force[k] : 0;
            growth[k] -= shares->size[k];
        }
    }
    return true;
}

// The weight of p^2 is one over this. Where a contact is about to open, and a little beyond, the limit is zero: a friction there that has
// to hold shall do so with as little as can be, and not with any force.
static double
bearing_of(const Run *run, uint32_t law, double size)
{
    bool holds = !run->model->sgn[law].unilateral && run->v[run->model->sgn[law].mode] == 0;
    return holds ? fmax(size, SLACK * run->friction->reaction) : size;
}

// The least sum of p^2/a over p = force + z*change, with the sizes that are given: z, in the last column of the system.
static bool
least_forces(const Run *run, Shares *shares)
{
    uint32_t n = shares->n, rows = shares->rows;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j <= rows; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < n; k++) {
                double a = bearing_of(run, k, fmax(shares->width[k], 0)), right = j < rows ? shares->change[(size_t)j * n + k] : -shares->force[k];
                if (shares->rests[k] && a > 0)
                    sum += shares->change[(size_t)i * n + k] * right / a;
            }
            // A friction without a limit shares nothing.
            shares->system[i * (rows + 1) + j] = i == j && sum == 0 ? 1 : sum;
        }
    return shares_eliminate(shares->system, rows);
}

// Where no forces are within all limits: those that are least by the limits that they have themselves, by which the search for modes sees
// what has to give way. A search that does not settle goes half the way.
static bool
find_beyond(const Run *run, Shares *shares)
{
    double changed = 1;
    memset(shares->step, 0, shares->rows * sizeof *shares->step);
    shares_move(shares);
    for (int round = 0; round < SETTLES && changed > SHARED; round++) {
        if (!least_forces(run, shares))
            return false;
        for (uint32_t row = 0; row < shares->rows; row++) {
            double step = shares->system[row * (shares->rows + 1) + shares->rows];
            if (!isfinite(step))
                return false;
            shares->step[row] += (round < SETTLES / 4 ? 1 : 0.5) * (step - shares->step[row]);
        }
        changed = shares_move(shares);
    }
    return true;
}

// One step from the evaluated point to the least forces.
static void
share_once(Run *run, Shares *shares)
{
    bool measured = measure_shares(run, shares);
    shares->within = measured && shares_within(run, shares);
    if (!measured || !(shares->within || find_beyond(run, shares)))
        return;
    for (uint32_t j = 0, row = 0; j < shares->n; j++) {
        if (!run->friction->carried[j])
            continue;
        double size = shares->width[j], share = share_of(run, j) + shares->trial[row] * shares->step[row];
        row++;
        if (!run->model->sgn[j].unilateral)
            share = fmin(fmax(size > 0 ? shares->at[j] / size : share, -BEYOND), BEYOND); // beyond its limit it is released
        if (isfinite(share))
            friction_carry(run, j, share);
    }
}

// Sizes are what share_once() has foreseen, and no friction has got a limit that could not be pushed before.
static bool
as_foreseen(const Run *run, const Shares *shares)
{
    double change = 0, largest = 0;
    for (uint32_t j = 0, row = 0; j < shares->n; j++)
        if (run->friction->carried[j] && shares->trial[row++] == 0 && size_of(run, j) > 0)
            return false;
    for (uint32_t k = 0; k < shares->n; k++) {
        double size = shares->rests[k] ? size_of(run, k) : 0;
        change = fmax(change, fabs(size - fmax(shares->width[k], 0)));
        largest = fmax(largest, size);
    }
    return change <= FORESEEN * largest;
}

int
friction_share(Run *run, bool report)
{
    Shares shares;
    uint32_t rows = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        rows += run->friction->carried[k];
    run->friction->missed = INFINITY;
    if (!rows)
        return MDL_OK;
    int status = allocate(&shares, run->model->n_sgns, rows) ? evaluate_solved(run, report) : MDL_INTERNAL;
    bool settled = false;
    if (status == MDL_OK)
        note_rests(run, &shares);
    for (int round = 0; status == MDL_OK && round < ROUNDS && !settled; round++) {
        share_once(run, &shares);
        status = evaluate_solved(run, report);
        settled = status == MDL_OK && as_foreseen(run, &shares);
    }
    run->friction->missed = status == MDL_OK && !(settled && shares.within) ? run->v[0] : INFINITY;
    free(shares.force);
    free(shares.rests);
    return status;
}

MDL_CHECKED static int
solve_modes(Run *run, bool report)
{
    Friction *friction = run->friction;
    uint32_t stuck = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        stuck += sticks(run, k);
    if (stuck && !friction->dependent) {
        if (evaluate_solved(run, report && stuck < 2) == MDL_OK)
            return MDL_OK;
        if (stuck < 2)
            return MDL_FAILED;
        friction->dependent = true;
    }
    int status = stuck && !friction->chosen ? choose_basis(run, report) : MDL_OK;
    if (status == MDL_OK)
        status = evaluate_solved(run, report);
    return status == MDL_OK ? friction_share(run, report) : status;
}

int
friction_evaluate(Run *run)
{
    return solve_modes(run, true);
}

// A friction at rest that has the force of its limit, although others may hold it with less; a contact that has no force, although it bears with others.
static bool
may_join(const Run *run, uint32_t law)
{
    const Friction *friction = run->friction;
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    bool waits_still = friction->wait[law] > 0 && run->v[0] - friction->last[law] < friction->wait[law];
    if (friction->firm[law] || friction->joined[law] || guard->held || guard->pending || waits_still)
        return false;
    if (sgn->unilateral)
        return contact_rests_open(run, law);
    bool waits = sgn->disk ? sgn->disk == 1 && disk_slides(run, law) : !sgn->play && friction_mode(run, law) != 0;
    return waits && held_at_limit(run, law) && friction_limit(run, law) > 0;
}

static void
carry_as_is(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    for (uint32_t i = 0; i < (sgn->disk ? sgn->of : 1); i++)
        friction_carry(run, law + i, sgn->unilateral ? 0 : run->v[sgn[i].mode] - (sgn->disk ? MDL_SLIDES : 0));
    guard_of(run, law)->forced = true;
}

// Well within its limit, and X was zero: `before`, by law. A contact bears.
static bool
belongs(const Run *run, uint32_t law, const double *before)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (sgn->unilateral)
        return contact_force(run, law) > WELL * friction_reaction(run, law);
    double force = sgn->disk ? disk_force(run, law) : fabs(run->v[sgn->p]);
    for (uint32_t i = 0; i < (sgn->disk ? sgn->of : 1); i++)
        if (!(fabs(before[law + i]) <= friction_still(run, law)))
            return false;
    return force <= friction_limit(run, law) * (1 - WELL);
}

// Those that are marked stick with the others. False, with v as it was, when some of them do not belong there; the marks of those are taken away.
static bool
join_marked(Run *run, uint8_t *marked, const double *v, const double *before, const double *mode, const uint8_t *carried)
{
    uint32_t n = run->model->n_sgns;
    bool chosen = run->friction->chosen, right;
    for (uint32_t k = 0; k < n; k++)
        if (marked[k])
            carry_as_is(run, k);
    run->friction->chosen = false;
    run->friction->deep = true;
    right = solve_modes(run, false) == MDL_OK && friction_right(run);
    run->friction->deep = false;
    for (uint32_t k = 0; k < n; k++) {
        bool stays = marked[k] && belongs(run, k, before);
        right = right && stays == (marked[k] != 0);
        marked[k] = stays;
    }
    if (right)
        return true;
    memcpy(run->v, v, run->model->nv * sizeof *v);
    friction_restore(run, mode, carried);
    run->friction->chosen = chosen;
    return false;
}

// Where rounding decides whether others hold a law, as with limits that are nothing beside the forces, it must not join again and again: it waits, twice
// as long each time, unless it has rested for long.
static void
remember_joining(Run *run, uint32_t law)
{
    Friction *friction = run->friction;
    double span = fabs(run->options->stop - run->options->start), rested = run->v[0] - friction->last[law];
    friction->wait[law] = friction->wait[law] > 0 && rested < LONG * span ? 2 * friction->wait[law] : SHORT * span;
    friction->last[law] = run->v[0];
}

bool
friction_join(Run *run)
{
    uint32_t n = run->model->n_sgns, found = 0;
    uint8_t *marked = run->friction->dependent ? calloc(2 * (size_t)n + 1, 1) : NULL;
    double *v = marked ? malloc((run->model->nv + 2 * (size_t)n + 1) * sizeof *v) : NULL, *before = v ? v + run->model->nv : NULL;
    bool joined = false;
    for (uint32_t k = 0; v && k < n; k++) {
        before[k] = run->v[run->model->sgn[k].dx];
        if (may_join(run, k)) {
            marked[k] = run->friction->joined[k] = 1;
            found++;
        }
    }
    if (found) {
        memcpy(v, run->v, run->model->nv * sizeof *v);
        friction_keep(run, before + n, marked + n);
        joined = join_marked(run, marked, v, before, before + n, marked + n);
        bool some = !joined && memchr(marked, 1, n);
        joined = joined || (some && join_marked(run, marked, v, before, before + n, marked + n));
    }
    for (uint32_t k = 0; joined && k < n; k++)
        if (marked[k])
            remember_joining(run, k);
    free(v);
    free(marked);
    return joined;
}
