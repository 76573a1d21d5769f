// disk.c: friction in a plane or in space: laws whose forces have one limit and act along the slip (Coulomb's disk).
//
// Purpose: what friction.c and contact.c need to know about laws that are components of one force.
// Method: sticking is that of friction.c, component by component, with the limit on the length of the force. While it slides the
//         force is a*x/|x| and turns with the motion; the modes hold a direction h, which follows x after each accepted step and along
//         which the law goes on through x = 0 without a jump. Where sliding begins, x is zero and its derivative X says nothing
//         of the direction: it is the unit vector s with X(s*a) = l*s, l >= 0, the fixed point of s <- projection(s + r*X(s)) onto
//         the disk (P. Alart, A. Curnier, Comput. Methods Appl. Mech. Eng. 92 (1991) 353). X(s) is measured, being
//         affine but for limits that depend on the force, and the measurement is repeated until it agrees.
// Contract: law.h; `first` is the law of the first component, v was evaluated. Complexity: a direction costs an evaluation of the model
//           per component.
#include <math.h>

#include "runtime/law/law.h"
#include "runtime/linear/linear.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

static const double ALIGNED = 1e-9; // sine of the angle between sliding and friction that counts as none
static const double ROUNDING = 1e-12; // of the X that the force makes: an X that says nothing
static const double SETTLED = 1e-15;
static const double INSIDE = 1e-12; // of the limit: a force that is less
static const double AHEAD = 0.05, MOST_AHEAD = 1; // of the slip, and at most: below this the direction held takes over

enum { MOST = 3, ITERATIONS = 20000 };

static const mdl_sgn *
part(const Run *run, uint32_t first, uint32_t i)
{
    return &run->model->sgn[first + i];
}

static uint32_t
size_of(const Run *run, uint32_t first)
{
    return run->model->sgn[first].of;
}

bool
disk_slides(const Run *run, uint32_t first)
{
    return run->v[part(run, first, 0)->mode] > MDL_SLIDES / 2.0;
}

double
disk_speed(const Run *run, uint32_t first)
{
    double x[MOST];
    for (uint32_t i = 0; i < size_of(run, first); i++)
        x[i] = run->v[part(run, first, i)->x];
    return vector_length(x, size_of(run, first));
}

double
disk_force(const Run *run, uint32_t first)
{
    double p[MOST];
    for (uint32_t i = 0; i < size_of(run, first); i++)
        p[i] = run->v[part(run, first, i)->p];
    return vector_length(p, size_of(run, first));
}

// How fast it begins to slide along the direction held.
double
disk_pull(const Run *run, uint32_t first)
{
    double sum = 0;
    for (uint32_t i = 0; i < size_of(run, first); i++)
        sum += run->v[part(run, first, i)->dx] * (run->v[part(run, first, i)->mode] - MDL_SLIDES);
    return sum;
}

bool
disk_goes_on(const Run *run, uint32_t first)
{
    double along = 0;
    for (uint32_t i = 0; i < size_of(run, first); i++)
        along += run->v[part(run, first, i)->x] * (run->v[part(run, first, i)->mode] - MDL_SLIDES);
    return disk_slides(run, first) && along > 4 * MDL_NEAR;
}

// Slips that count as none are noise, which must not turn the force.
static double
least_near(const Run *run, uint32_t first)
{
    return friction_slip(run, first) - MDL_NEAR;
}

double
disk_guard(const Run *run, uint32_t first)
{
    const mdl_sgn *sgn = part(run, first, 0);
    double along = 0, x[MOST];
    if (friction_mode(run, first) == 0)
        return run->v[sgn->a] - disk_force(run, first);
    if (!(friction_limit(run, first) > 0))
        return disk_speed(run, first) + 1;
    for (uint32_t i = 0; i < sgn->of; i++) {
        x[i] = run->v[sgn[i].x];
        along += x[i] * (run->v[sgn[i].mode] - MDL_SLIDES);
    }
    for (uint32_t i = 0; i < sgn->of; i++)
        x[i] -= along * (run->v[sgn[i].mode] - MDL_SLIDES);
    // As long as x keeps the direction held, or is noise, what takes over is the same.
    double near = run->v[sgn->near];
    double turned = near > least_near(run, first) ? fmin(vector_length(x, sgn->of) / run->tolerance, MDL_NEAR + near) : 0;
    return along - fmax(turned, MDL_NEAR);
}

static void
hold(Run *run, uint32_t first, const double *direction)
{
    uint32_t n = size_of(run, first);
    double size = vector_length(direction, n);
    for (uint32_t i = 0; i < n; i++)
        run->v[part(run, first, i)->mode] = MDL_SLIDES + (size > 0 ? direction[i] / size : i == 0);
    run->v[part(run, first, 0)->near] = fmax(fmin(AHEAD * disk_speed(run, first), MOST_AHEAD), least_near(run, first));
}

void
disk_slide(Run *run, uint32_t first)
{
    double direction[MOST];
    bool moves = disk_speed(run, first) > friction_slip(run, first);
    for (uint32_t i = 0; i < size_of(run, first); i++)
        direction[i] = run->v[moves ? part(run, first, i)->x : part(run, first, i)->p];
    hold(run, first, direction);
}

void
disk_follow(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].disk == 1 && disk_slides(run, k) && disk_speed(run, k) > friction_slip(run, k))
            disk_slide(run, k);
}

// --- where sliding begins

// X with the force share[i]*a; false when the model cannot be solved.
static bool
measure(Run *run, uint32_t first, const double *share, double *rate)
{
    uint32_t n = size_of(run, first);
    for (uint32_t i = 0; i < n; i++)
        run->v[part(run, first, i)->mode] = share[i] == 0 ? FRICTION_NOTHING : share[i];
    bool solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t i = 0; i < n; i++) {
        rate[i] = run->v[part(run, first, i)->dx];
        solved = solved && isfinite(rate[i]);
    }
    return solved;
}

// Row i, column j of `answer`: how X_i answers to share j. Rows are bounded by `largest`.
static bool
measure_answer(Run *run, uint32_t first, const double *share, const double *rate, double answer[MOST][MOST], double *largest)
{
    uint32_t n = size_of(run, first);
    *largest = 0;
    for (uint32_t j = 0; j < n; j++) {
        double moved[MOST], changed[MOST];
        for (uint32_t i = 0; i < n; i++)
            moved[i] = share[i];
        moved[j] += share[j] > 0 ? -0.5 : 0.5;
        if (!measure(run, first, moved, changed))
            return false;
        for (uint32_t i = 0; i < n; i++)
            answer[i][j] = (changed[i] - rate[i]) / (moved[j] - share[j]);
    }
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += fabs(answer[i][j]);
        *largest = fmax(*largest, sum);
    }
    return *largest > 0;
}

// X is rate + answer*(s - share).
static void
find_direction(uint32_t n, const double *share, const double *rate, double answer[MOST][MOST], double largest, double *s)
{
    double changed = 1;
    for (uint32_t i = 0; i < n; i++)
        s[i] = share[i];
    for (int round = 0; round < ITERATIONS && changed > SETTLED; round++) {
        double next[MOST];
        for (uint32_t i = 0; i < n; i++) {
            next[i] = rate[i];
            for (uint32_t j = 0; j < n; j++)
                next[i] += answer[i][j] * (s[j] - share[j]);
            next[i] = s[i] + next[i] / largest;
        }
        double size = fmax(vector_length(next, n), 1);
        changed = 0;
        for (uint32_t i = 0; i < n; i++) {
            changed = fmax(changed, fabs(next[i] / size - s[i]));
            s[i] = next[i] / size;
        }
    }
}

bool
disk_turn(Run *run, uint32_t first)
{
    uint32_t n = size_of(run, first);
    double share[MOST] = {0}, rate[MOST], answer[MOST][MOST], s[MOST], largest, pull = 0, across = 0;
    for (uint32_t i = 0; i < n; i++)
        share[i] = run->v[part(run, first, i)->mode] - MDL_SLIDES;
    // x is zero up to what the tolerance leaves of it, which shall not turn the force that X is measured with.
    bool measured = measure(run, first, share, rate), turns = false;
    for (uint32_t i = 0; i < n; i++)
        pull += rate[i] * share[i];
    for (uint32_t i = 0; i < n; i++)
        across = fmax(across, fabs(rate[i] - pull * share[i]));
    measured = measured && across > ALIGNED * fabs(pull) && measure_answer(run, first, share, rate, answer, &largest);
    // Others at rest may hold it as well: then what X answers is rounding, too.
    if (measured && across > ROUNDING * fmax(largest, friction_answer(run, first))) {
        find_direction(n, share, rate, answer, largest, s);
        // Within the disk the force holds it, if only just: this says nothing of the direction.
        double size = vector_length(s, n);
        for (uint32_t i = 0; i < n && size > 1 - INSIDE; i++)
            turns = turns || fabs(s[i] / size - share[i]) > ALIGNED;
    }
    hold(run, first, turns ? s : share);
    // Where that cannot be solved any more the next evaluation of the search says so.
    return turns || evaluate_solved(run, false) != MDL_OK;
}
