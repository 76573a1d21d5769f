// friction_share.c: the forces of laws that hold the same motion.
//
// Purpose: two supports of one rigid body stick both, and neither force is unique: a choice that is the same every time.
// Method: sticking laws whose X depend on each other have a singular matrix. A largest independent set of them, the basis, sticks; the
//         others are carried: their p = m*a is given, with the m that makes sum p^2/a of all that stick least. Finite differences
//         are exact here: X and p are affine in the forces.
// Contract: law.h. Complexity: an evaluation of the model for each law that sticks, and the cube of how many are carried.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/friction_inner.h"
#include "runtime/point/point.h"

static const double SHARED = 1e-10; // change of shares that are settled
static const double BEYOND = 1.1;   // of a: a share that is too much
static const double SLACK = 1e-9;   // of the largest reaction: what a limit comes to at least while its friction holds

enum { ROUNDS = 20 };

static bool
sticks(const Run *run, uint32_t law)
{
    return friction_mode(run, law) == 0;
}

void
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

// How X of a carried law answers to its own force; 0 when the model cannot be solved.
static double
answer(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (evaluate_solved(run, false) != MDL_OK)
        return 0;
    double before = run->v[sgn->dx];
    friction_carry(run, law, 0.5);
    double change = evaluate_solved(run, false) == MDL_OK ? fabs(run->v[sgn->dx] - before) : 0;
    friction_carry(run, law, FRICTION_NOTHING);
    return isfinite(change) ? change : 0;
}

// Reactions first, because limits of friction depend on them; then states, which are held exactly.
static int
turn_of(const mdl_sgn *sgn)
{
    return sgn->unilateral ? 0 : sgn->state >= 0 ? 1 : 2;
}

static void
measure_scales(Run *run, bool reactions)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && (turn_of(&run->model->sgn[k]) == 0) == reactions)
            friction->scale[k] = answer(run, k);
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
choose_basis(Run *run)
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
    int status = friction_share(run, true); // limits of friction, where several contacts share a load
    if (status != MDL_OK)
        return status;
    measure_scales(run, false);
    join_basis(run, 1);
    join_basis(run, 2);
    return MDL_OK;
}

// Gaussian elimination with pivoting on an n x n system with its right side in column n.
static bool
eliminate(double *m, uint32_t n)
{
    uint32_t width = n + 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k; i < n; i++)
            best = fabs(m[i * width + k]) > fabs(m[best * width + k]) ? i : best;
        if (!(fabs(m[best * width + k]) > 0))
            return false;
        for (uint32_t j = 0; j < width; j++) {
            double t = m[k * width + j];
            m[k * width + j] = m[best * width + j];
            m[best * width + j] = t;
        }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = n; i != k && j + 1 > k; j--)
                m[i * width + j] -= m[i * width + k] / m[k * width + k] * m[k * width + j];
        for (uint32_t j = n; j + 1 > k; j--)
            m[k * width + j] /= m[k * width + k];
    }
    return true;
}

// Whether the force of a law is one of rest: also where it is at its limit and others hold what it rubs on. If its force did not
// count there, the load of contacts at rest would move to those of which the friction happens to be at the limit.
static bool
rests(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    bool moves = !sgn->disk && sgn->state < 0 && !sgn->level;
    uint32_t first = sgn->disk ? law + 1 - sgn->disk : law;
    return sticks(run, law) || (!sgn->unilateral && !moves && friction_at_zero(run, first));
}

// Row c of `change` (one value per law): what the forces of the laws at rest do when the c-th carried one grows by a/2.
static bool
measure_shares(Run *run, const double *force, double *change)
{
    const mdl_model *model = run->model;
    for (uint32_t j = 0, row = 0; j < model->n_sgns; j++) {
        if (!run->friction->carried[j])
            continue;
        double share = share_of(run, j), *row_of = change + row++ * model->n_sgns;
        memset(row_of, 0, model->n_sgns * sizeof *row_of);
        if (!(size_of(run, j) > 0)) // it has no force, and what would change is rounding
            continue;
        friction_carry(run, j, share + 0.5);
        if (evaluate_solved(run, false) != MDL_OK)
            return false;
        friction_carry(run, j, share);
        for (uint32_t k = 0; k < model->n_sgns; k++)
            row_of[k] = rests(run, k) ? run->v[model->sgn[k].p] - force[k] : 0;
    }
    return true;
}

// The weight of p^2 is one over this. Where a contact is about to open, and a little beyond, the limit is zero: a friction there that has
// to hold shall do so with as little as can be, and not with any force.
static double
bearing_of(const Run *run, uint32_t law)
{
    bool holds = !run->model->sgn[law].unilateral && run->v[run->model->sgn[law].mode] == 0;
    return holds ? fmax(size_of(run, law), SLACK * run->friction->reaction) : size_of(run, law);
}

// The least sum of p^2/a over p = force + z*change. `system` has room for the normal equations.
static bool
least_forces(const Run *run, const double *force, const double *change, uint32_t rows, double *system)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j <= rows; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < model->n_sgns; k++) {
                double a = bearing_of(run, k), right = j < rows ? change[j * model->n_sgns + k] : -force[k];
                if (rests(run, k) && a > 0)
                    sum += change[i * model->n_sgns + k] * right / a;
            }
            // A friction without a limit shares nothing.
            system[i * (rows + 1) + j] = i == j && sum == 0 ? 1 : sum;
        }
    return eliminate(system, rows);
}

// One step towards the least forces; *largest is what shares have changed by. Room for n + rows*n + rows*(rows + 1) values.
MDL_CHECKED static int
share_once(Run *run, double *force, uint32_t rows, double *largest, bool report)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_sgns;
    double *change = force + n, *system = change + (size_t)rows * n;
    if (evaluate_solved(run, report) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t k = 0; k < n; k++)
        force[k] = run->v[model->sgn[k].p];
    if (measure_shares(run, force, change) && least_forces(run, force, change, rows, system))
        for (uint32_t j = 0, row = 0; j < n; j++)
            if (run->friction->carried[j]) {
                double share = share_of(run, j) + 0.5 * system[row * (rows + 1) + rows];
                // A friction beyond its limit is released; while limits change, too, its share says no more than that.
                if (!model->sgn[j].unilateral)
                    share = fmin(fmax(share, -BEYOND), BEYOND);
                if (isfinite(share)) {
                    *largest = fmax(*largest, fabs(share - share_of(run, j)) / fmax(fabs(share), 1));
                    friction_carry(run, j, share);
                }
                row++;
            }
    return MDL_OK;
}

int
friction_share(Run *run, bool report)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_sgns, rows = 0;
    bool reactions = false; // limits of friction depend on forces that are shared, too
    for (uint32_t k = 0; k < n; k++) {
        rows += run->friction->carried[k];
        reactions = reactions || (run->friction->carried[k] && model->sgn[k].unilateral);
    }
    if (!rows)
        return MDL_OK;
    double *force = calloc(n + (size_t)rows * n + (size_t)rows * (rows + 1), sizeof *force);
    int status = force ? MDL_OK : MDL_INTERNAL;
    double changed = 1;
    for (int round = 0; status == MDL_OK && round < (reactions ? ROUNDS : 1) && changed > SHARED; round++) {
        changed = 0;
        status = share_once(run, force, rows, &changed, report);
    }
    free(force);
    return status == MDL_OK ? evaluate_solved(run, report) : status;
}

int
friction_evaluate(Run *run)
{
    Friction *friction = run->friction;
    uint32_t stuck = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        stuck += sticks(run, k);
    if (stuck && !friction->dependent) {
        if (evaluate_solved(run, stuck < 2) == MDL_OK)
            return MDL_OK;
        if (stuck < 2)
            return MDL_FAILED;
        friction->dependent = true;
    }
    int status = stuck && !friction->chosen ? choose_basis(run) : MDL_OK;
    if (status == MDL_OK)
        status = evaluate_solved(run, true);
    return status == MDL_OK ? friction_share(run, true) : status;
}
