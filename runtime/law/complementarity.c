// complementarity.c: the impulses (or forces) of unilateral constraints and of the friction on them.
//
// Purpose: a direct solution with a known residual, in linear time for chains and trees of contacts.
// Method: Unknowns and rows are brought to units in which the diagonal of M is 1: energies. Each unknown is in one of the states of
//         its law; in given states everything is one sparse linear system (lu.h), which chains and trees fill with nothing.
//         The states are changed all at once (a semismooth Newton method: Alart, Curnier, Comput. Methods Appl. Mech. Eng. 92
//         (1991) 353; Hintermueller, Ito, Kunisch, SIAM J. Optim. 13 (2003) 865) while that makes fewer of them wrong, and otherwise the
//         first wrong one alone (Judice, Pires, Comput. Oper. Res. 21 (1994) 587; Murty, 1974), which ends for every P-matrix.
//         Friction in a plane slides along z - s, linearised.
//         Where M is singular (redundant contacts) z is the limit of proximal steps s = M z + q + delta*(z - z_before) from z = 0
//         (Rockafellar, SIAM J. Control Optim. 14 (1976) 877): the shortest one. With a delta near rounding, one or two suffice.
//         What friction lets go around in circles is decided by Lemke's pivots (lemke.c); for friction in planes by projected
//         Gauss-Seidel sweeps (Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng. 155 (1998) 31), from which Newton's method
//         starts again.
// Contract: complementarity.h: never a wrong result without a word. Complexity: per exchange of states that of a sparse factorisation;
//         few exchanges, at most n in a row of contacts of which one closes the next.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/complementarity.h"
#include "runtime/linear/lu.h"
#include "runtime/model/order.h"

static const double SMALL = 1e-12;    // of the terms of a condition: it holds
static const double SINGULAR = 1e-12; // of the largest pivot, with a diagonal of ones
static const double GOOD = 1e-9;      // of the terms of a condition: accepted
static const double SANE = 1e-3;      // of the largest offset: more is no solution, however large its terms
static const double PROXIMAL = 1e-10, LEAST_PROXIMAL = 1e-15;

enum { PATIENCE = 6, NEWTON_STEPS = 40, HOLD_STEPS = 2, PROXIMAL_STEPS = 60, REFINEMENTS = 1, LEMKE_MOST = 600, ROUNDS = 100, SWEEPS = 40 };

// OUT: z = 0. IN: s = 0. ABOVE, BELOW: friction on a line slides with s > 0, s < 0. SLIDE: friction in a plane slides.
typedef enum State { OUT, IN, ABOVE, BELOW, SLIDE } State;

typedef struct Solver {
    Complementarity *problem;
    uint32_t n;
    double *unit;          // n: z_k = unit*z of the problem
    ComplementMatrix m;    // scaled
    double *q, *z, *s;     // n, scaled
    double *terms;         // n: sums of the sizes of the terms of s
    double *bound;         // n: a, at first components
    double *before;        // n: z of the last proximal step
    double *best;          // n: z with the least residual
    double least;          // that residual
    double delta;
    uint8_t *state, *wanted;
    uint32_t *first;       // n: the first component of each; itself without a plane
    // The sparse system: pattern by columns, places of its diagonal and values.
    uint32_t *start, *row;
    double *value, *right;
    Lu *lu;
    bool singular;         // the latest factorisation
    uint32_t *place;       // n: position of a row in the column being filled
} Solver;

static double
largest_offset(const Solver *solver)
{
    double largest = 0;
    for (uint32_t k = 0; k < solver->n; k++)
        largest = fmax(largest, fabs(solver->q[k]));
    return largest;
}

// --- setting up

static uint32_t
components(const Solver *solver, uint32_t first)
{
    return solver->problem->kind[first] == COMPLEMENT_RUB ? solver->problem->of[first] : 1;
}

// Components of one friction share a unit, so that a disk stays one.
static void
choose_units(Solver *solver)
{
    const Complementarity *problem = solver->problem;
    for (uint32_t j = 0; j < solver->n; j++) {
        solver->unit[j] = 0;
        for (uint32_t e = problem->answer.start[j]; e < problem->answer.start[j + 1]; e++)
            if (problem->answer.row[e] == j)
                solver->unit[j] = sqrt(problem->answer.value[e]);
    }
    for (uint32_t k = 0; k < solver->n; k += components(solver, k))
        for (uint32_t i = 0; i < components(solver, k); i++) {
            solver->first[k + i] = k;
            solver->unit[k] = fmax(solver->unit[k], solver->unit[k + i]);
        }
    for (uint32_t k = 0; k < solver->n; k++)
        solver->unit[k] = solver->unit[solver->first[k]];
}

static void
add_row(Solver *solver, uint32_t column, uint32_t row, uint32_t *end)
{
    if (solver->place[row] == column + 1)
        return;
    solver->place[row] = column + 1;
    solver->row[(*end)++] = row;
}

// Rows of column j: those of M and L, with all components of the frictions among them.
static void
add_column(Solver *solver, uint32_t j, uint32_t *end)
{
    const Complementarity *problem = solver->problem;
    const ComplementMatrix *parts[] = {&problem->answer, &problem->limit};
    uint32_t begin = *end;
    add_row(solver, j, j, end);
    for (int part = 0; part < 2; part++)
        for (uint32_t e = parts[part]->start[j]; e < parts[part]->start[j + 1]; e++) {
            uint32_t first = solver->first[parts[part]->row[e]];
            for (uint32_t i = 0; i < components(solver, first); i++)
                add_row(solver, j, first + i, end);
        }
    qsort(solver->row + begin, *end - begin, sizeof *solver->row, ascending_u32);
}

static bool
make_pattern(Solver *solver)
{
    const Complementarity *problem = solver->problem;
    uint32_t end = 0;
    size_t room = (size_t)3 * (problem->answer.start[solver->n] + problem->limit.start[solver->n]) + solver->n;
    solver->row = calloc(room + 1, sizeof *solver->row);
    solver->value = calloc(room + 1, sizeof *solver->value);
    if (!solver->row || !solver->value)
        return false;
    for (uint32_t j = 0; j < solver->n; j++) {
        solver->start[j] = end;
        add_column(solver, j, &end);
    }
    solver->start[solver->n] = end;
    solver->lu = lu_create(solver->n, solver->start, solver->row);
    return solver->lu;
}

static bool
set_up(Solver *solver)
{
    const Complementarity *problem = solver->problem;
    size_t n = solver->n = problem->n, entries = problem->answer.start[n];
    double *room = calloc(9 * n + entries + 1, sizeof *room);
    solver->unit = room;
    solver->state = calloc(2 * n + 1, 1);
    solver->first = calloc(3 * n + 2, sizeof *solver->first);
    if (!room || !solver->state || !solver->first)
        return false;
    double **parts[] = {&solver->q, &solver->z, &solver->s, &solver->terms, &solver->bound, &solver->before, &solver->best,
                        &solver->right, &solver->m.value};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = room += n;
    solver->wanted = solver->state + n;
    solver->place = solver->first + n;
    solver->start = solver->place + n;
    solver->m.start = problem->answer.start;
    solver->m.row = problem->answer.row;
    solver->least = INFINITY;
    choose_units(solver);
    for (uint32_t j = 0; j < n; j++) {
        solver->q[j] = problem->offset[j] / solver->unit[j];
        for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++)
            solver->m.value[e] = problem->answer.value[e] / (solver->unit[j] * solver->unit[solver->m.row[e]]);
    }
    return make_pattern(solver);
}

static void
release(Solver *solver)
{
    lu_free(&solver->lu);
    free(solver->unit);
    free(solver->state);
    free(solver->first);
    free(solver->row);
    free(solver->value);
}

// --- at one z

// Entry e of L in column j, scaled.
static double
limit_entry(const Solver *solver, uint32_t j, uint32_t e)
{
    const ComplementMatrix *limit = &solver->problem->limit;
    return limit->value[e] * solver->unit[limit->row[e]] / solver->unit[j];
}

static void
evaluate_search(Solver *solver)
{
    const ComplementMatrix *limit = &solver->problem->limit;
    for (uint32_t k = 0; k < solver->n; k++) {
        solver->s[k] = solver->q[k];
        solver->terms[k] = fabs(solver->q[k]);
        solver->bound[k] = 0;
    }
    for (uint32_t j = 0; j < solver->n; j++) {
        for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++) {
            double part = solver->m.value[e] * solver->z[j];
            solver->s[solver->m.row[e]] += part;
            solver->terms[solver->m.row[e]] += fabs(part);
        }
        for (uint32_t e = limit->start[j]; e < limit->start[j + 1]; e++)
            solver->bound[limit->row[e]] += limit_entry(solver, j, e) * solver->z[j];
    }
}

// z - s, projected, of the components that begin with `first`; the length before the projection is returned.
static double
project(const Solver *solver, uint32_t first, double *z)
{
    uint32_t of = components(solver, first);
    double size = 0, bound = fmax(solver->bound[first], 0);
    for (uint32_t i = 0; i < of; i++) {
        z[i] = solver->z[first + i] - solver->s[first + i];
        size = hypot(size, z[i]);
    }
    if (solver->problem->kind[first] == COMPLEMENT_PUSH)
        z[0] = fmax(z[0], 0);
    for (uint32_t i = 0; i < of && solver->problem->kind[first] == COMPLEMENT_RUB; i++)
        z[i] *= size > bound ? bound / size : 1;
    return size;
}

// What is left of the conditions, relative to their terms; INFINITY where it is far from any solution. Keeps the best.
static double
judge(Solver *solver)
{
    double residual = 0, most = 0, offset = largest_offset(solver), z[3];
    evaluate_search(solver);
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        project(solver, k, z);
        for (uint32_t i = 0; i < components(solver, k); i++) {
            double left = fabs(solver->z[k + i] - z[i]), terms = fmax(solver->terms[k + i], DBL_MIN);
            residual = fmax(residual, left / terms);
            most = fmax(most, left);
            if (!isfinite(left))
                residual = INFINITY;
        }
    }
    if (!(most <= SANE * offset))
        residual = fmax(residual, 1);
    if (residual < solver->least) {
        solver->least = residual;
        memcpy(solver->best, solver->z, solver->n * sizeof *solver->z);
        for (uint32_t k = 0; k < solver->n; k++)
            solver->problem->active[k] = solver->state[k] == IN;
    }
    return residual;
}

// --- one linear system

static void
take_column(Solver *solver, uint32_t j)
{
    const Complementarity *problem = solver->problem;
    for (uint32_t e = solver->start[j]; e < solver->start[j + 1]; e++) {
        solver->place[solver->row[e]] = e;
        solver->value[e] = 0;
    }
    for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++)
        if (solver->state[solver->m.row[e]] == IN)
            solver->value[solver->place[solver->m.row[e]]] = solver->m.value[e];
    solver->value[solver->place[j]] += solver->state[j] == IN ? solver->delta : 1;
    for (uint32_t e = problem->limit.start[j]; e < problem->limit.start[j + 1]; e++) {
        uint32_t k = problem->limit.row[e];
        double side = solver->state[k] == ABOVE ? 1 : solver->state[k] == BELOW ? -1 : 0;
        solver->value[solver->place[k]] += side * limit_entry(solver, j, e);
    }
}

// Friction in a plane: z = a*zeta/|zeta| with zeta = z - s, linearised at z.
typedef struct Slide {
    double along[3], across; // zeta/|zeta|, a/|zeta|
} Slide;

static Slide
slide_at(const Solver *solver, uint32_t first)
{
    Slide slide = {{0}, 0};
    double size = 0;
    uint32_t of = components(solver, first);
    for (uint32_t i = 0; i < of; i++)
        size = hypot(size, slide.along[i] = solver->z[first + i] - solver->s[first + i]);
    for (uint32_t i = 0; i < of && size > 0; i++)
        slide.along[i] /= size;
    slide.across = size > 0 ? fmin(fmax(solver->bound[first], 0) / size, 1) : 0;
    return slide;
}

// Entry of row i of what takes away the part along the slide.
static double
cross(const Slide *slide, uint32_t i, uint32_t j)
{
    return slide->across * ((i == j) - slide->along[i] * slide->along[j]);
}

// The rows of what slides in planes: dz - along*da - across*(dz - ds) = 0, in column j.
static void
take_slides(Solver *solver, uint32_t j, const Slide *slides)
{
    const Complementarity *problem = solver->problem;
    for (uint32_t e = solver->start[j]; e < solver->start[j + 1]; e++)
        solver->place[solver->row[e]] = e;
    for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++) {
        uint32_t k = solver->m.row[e], first = solver->first[k];
        for (uint32_t i = 0; solver->state[first] == SLIDE && i < components(solver, first); i++)
            solver->value[solver->place[first + i]] += cross(&slides[first], i, k - first) * solver->m.value[e];
    }
    for (uint32_t e = problem->limit.start[j]; e < problem->limit.start[j + 1]; e++) {
        uint32_t k = problem->limit.row[e];
        for (uint32_t i = 0; solver->state[k] == SLIDE && i < components(solver, k); i++)
            solver->value[solver->place[k + i]] -= slides[k].along[i] * limit_entry(solver, j, e);
    }
    uint32_t first = solver->first[j];
    for (uint32_t i = 0; solver->state[first] == SLIDE && i < components(solver, first); i++)
        solver->value[solver->place[first + i]] -= cross(&slides[first], i, j - first);
}

// What the linearised rows are at z = 0: the row applied to z less its residual at z; filled behind the matrix.
static void
slide_right(Solver *solver, const Slide *slides)
{
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        if (solver->state[k] != SLIDE)
            continue;
        for (uint32_t i = 0; i < components(solver, k); i++)
            solver->right[k + i] = slides[k].along[i] * fmax(solver->bound[k], 0) - solver->z[k + i];
    }
    for (uint32_t j = 0; j < solver->n; j++)
        for (uint32_t e = solver->start[j]; e < solver->start[j + 1]; e++)
            if (solver->state[solver->row[e]] == SLIDE)
                solver->right[solver->row[e]] += solver->value[e] * solver->z[j];
}

static bool
slides_anywhere(const Solver *solver)
{
    for (uint32_t k = 0; k < solver->n; k++)
        if (solver->state[k] == SLIDE)
            return true;
    return false;
}

// Adds to z what solves for the rest of the system that z leaves.
static void
refine(Solver *solver)
{
    double *rest = solver->s;
    memcpy(rest, solver->right, solver->n * sizeof *rest);
    for (uint32_t j = 0; j < solver->n; j++)
        for (uint32_t e = solver->start[j]; solver->z[j] != 0 && e < solver->start[j + 1]; e++)
            rest[solver->row[e]] -= solver->value[e] * solver->z[j];
    lu_solve(solver->lu, rest);
    for (uint32_t k = 0; k < solver->n; k++)
        solver->z[k] += rest[k];
}

// z in the present states. s and bound are those of the z before where something slides in a plane.
static bool
solve_linear(Solver *solver)
{
    Slide *slides = NULL;
    bool any = slides_anywhere(solver);
    if (any && !(slides = calloc(solver->n, sizeof *slides)))
        return false;
    for (uint32_t k = 0; any && k < solver->n; k += components(solver, k))
        slides[k] = slide_at(solver, k);
    for (uint32_t j = 0; j < solver->n; j++) {
        take_column(solver, j);
        if (any)
            take_slides(solver, j, slides);
        solver->right[j] = solver->state[j] == IN ? solver->delta * solver->before[j] - solver->q[j] : 0;
    }
    if (any)
        slide_right(solver, slides);
    free(slides);
    solver->singular = !lu_factor(solver->lu, solver->value, true) || !(lu_pivot_ratio(solver->lu) > (solver->delta > 0 ? 0 : SINGULAR));
    if (solver->singular)
        return false;
    memset(solver->z, 0, solver->n * sizeof *solver->z);
    for (int k = 0; k <= REFINEMENTS; k++)
        refine(solver);
    for (uint32_t k = 0; k < solver->n; k++)
        if (!isfinite(solver->z[k]))
            return false;
    return true;
}

// --- states

static State
wanted_push(const Solver *solver, uint32_t k, double s)
{
    double largest = fmax(solver->terms[k], fabs(solver->z[k]));
    if (solver->state[k] == IN)
        return solver->z[k] < -SMALL * largest ? OUT : IN;
    return s < -SMALL * largest ? IN : OUT;
}

static State
wanted_line(const Solver *solver, uint32_t k, double s)
{
    double bound = fmax(solver->bound[k], 0), slack = SMALL * solver->terms[k];
    if (solver->state[k] == IN)
        return solver->z[k] > bound + slack ? BELOW : solver->z[k] < -bound - slack ? ABOVE : IN;
    double side = solver->state[k] == ABOVE ? 1 : -1;
    return side * s < -slack ? IN : (State)solver->state[k];
}

static State
wanted_disk(const Solver *solver, uint32_t first)
{
    double size = 0, bound = fmax(solver->bound[first], 0), slack = SMALL * solver->terms[first];
    for (uint32_t i = 0; i < components(solver, first); i++)
        size = hypot(size, solver->z[first + i] - solver->s[first + i]);
    return size > bound + (solver->state[first] == IN ? slack : -slack) ? SLIDE : IN;
}

// Fills `wanted` and counts what is not in its state; *one is the first of them.
static uint32_t
find_wrong(Solver *solver, uint32_t *one)
{
    const Complementarity *problem = solver->problem;
    uint32_t wrong = 0;
    *one = UINT32_MAX;
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        double s = solver->s[k] + solver->delta * (solver->z[k] - solver->before[k]);
        State want = problem->kind[k] == COMPLEMENT_HOLD ? IN
                     : problem->kind[k] == COMPLEMENT_PUSH ? wanted_push(solver, k, s)
                     : problem->of[k] == 1 ? wanted_line(solver, k, s) : wanted_disk(solver, k);
        for (uint32_t i = 0; i < components(solver, k); i++)
            solver->wanted[k + i] = (uint8_t)want;
        wrong += want != solver->state[k];
        if (want != solver->state[k] && *one == UINT32_MAX)
            *one = k;
    }
    return wrong;
}

static void
change(Solver *solver, uint32_t only)
{
    for (uint32_t k = 0; k < solver->n; k++)
        if (only == UINT32_MAX || solver->first[k] == only)
            solver->state[k] = solver->wanted[k];
}

// What slides in planes has converged, or nothing does.
static bool
has_settled(Solver *solver)
{
    double z[3];
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        if (solver->state[k] != SLIDE)
            continue;
        project(solver, k, z);
        for (uint32_t i = 0; i < components(solver, k); i++)
            if (fabs(z[i] - solver->z[k + i]) > SMALL * solver->terms[k + i])
                return false;
    }
    return true;
}

// Newton's method from the present states. False: it goes around in circles, or a matrix is singular.
static bool
newton(Solver *solver)
{
    uint32_t fewest = UINT32_MAX, patience = PATIENCE, one, limit = 20 * solver->n + NEWTON_STEPS;
    for (uint32_t step = 0; step < limit; step++) {
        if (!solve_linear(solver))
            return false;
        evaluate_search(solver);
        uint32_t wrong = find_wrong(solver, &one);
        bool plane = slides_anywhere(solver);
        if (!wrong && (!plane || has_settled(solver)))
            return true;
        if (plane && step > NEWTON_STEPS)
            return false;
        if (wrong < fewest) {
            fewest = wrong;
            patience = PATIENCE;
        } else if (patience) {
            patience--;
        }
        change(solver, patience || plane ? UINT32_MAX : one);
    }
    return false;
}

// Proximal steps until nothing is left. Where the first one is exact there is only one.
static bool
newton_proximal(Solver *solver)
{
    double last = INFINITY;
    memset(solver->before, 0, solver->n * sizeof *solver->before);
    for (int step = 0; step < PROXIMAL_STEPS; step++) {
        if (!newton(solver))
            return false;
        double residual = judge(solver);
        if (residual <= SMALL)
            return true;
        if (residual > 0.1 * last)
            solver->delta = fmax(0.01 * solver->delta, LEAST_PROXIMAL);
        last = residual;
        memcpy(solver->before, solver->z, solver->n * sizeof *solver->z);
    }
    return solver->least <= GOOD;
}

static bool
solve_from_states(Solver *solver)
{
    solver->delta = 0;
    memset(solver->before, 0, solver->n * sizeof *solver->before);
    if (newton(solver) && judge(solver) <= GOOD)
        return true;
    solver->delta = PROXIMAL;
    return newton_proximal(solver);
}

// Closed what approaches or touches, sticking what rubs.
static void
first_states(Solver *solver)
{
    double still = SMALL * largest_offset(solver);
    for (uint32_t k = 0; k < solver->n; k++)
        solver->state[k] = solver->problem->kind[k] != COMPLEMENT_PUSH || solver->q[k] <= still ? IN : OUT;
}

// --- when Newton's method does not find it

static bool
has_only_lines(const Complementarity *problem)
{
    for (uint32_t k = 0; k < problem->n; k++)
        if (problem->kind[k] == COMPLEMENT_HOLD || (problem->kind[k] == COMPLEMENT_RUB && problem->of[k] != 1))
            return false;
    return true;
}

static bool
pivots(Solver *solver)
{
    const Complementarity *problem = solver->problem;
    size_t n = solver->n;
    double *m = calloc(2 * n * n + 1, sizeof *m), *limit = m + n * n;
    int8_t *side = calloc(n + 1, 1);
    bool found = m && side;
    for (uint32_t j = 0; found && j < n; j++) {
        for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++)
            m[solver->m.row[e] * n + j] = solver->m.value[e];
        for (uint32_t e = problem->limit.start[j]; e < problem->limit.start[j + 1]; e++)
            limit[problem->limit.row[e] * n + j] = limit_entry(solver, j, e);
    }
    found = found && lemke_solve(solver->n, problem->kind, m, limit, solver->q, side);
    for (uint32_t k = 0; found && k < n; k++)
        solver->state[k] = problem->kind[k] == COMPLEMENT_PUSH ? (side[k] ? IN : OUT) : side[k] == 0 ? IN : side[k] > 0 ? BELOW : ABOVE;
    free(m);
    free(side);
    return found && solve_from_states(solver);
}

// Rows of M by columns of its transpose, for sweeps over rows.
static bool
transpose(const Solver *solver, ComplementMatrix *rows)
{
    uint32_t n = solver->n, entries = solver->m.start[n];
    rows->start = calloc((size_t)n + 2, sizeof *rows->start);
    rows->row = calloc((size_t)entries + 1, sizeof *rows->row);
    rows->value = calloc((size_t)entries + 1, sizeof *rows->value);
    if (!rows->start || !rows->row || !rows->value)
        return false;
    for (uint32_t e = 0; e < entries; e++)
        rows->start[solver->m.row[e] + 2]++;
    for (uint32_t k = 0; k < n; k++)
        rows->start[k + 2] += rows->start[k + 1];
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t e = solver->m.start[j]; e < solver->m.start[j + 1]; e++) {
            uint32_t at = rows->start[solver->m.row[e] + 1]++;
            rows->row[at] = j;
            rows->value[at] = solver->m.value[e];
        }
    return true;
}

// One sweep: each law's z becomes the projection of z - s/most; `most` bounds its own part of M.
static void
sweep(Solver *solver, const ComplementMatrix *rows)
{
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        uint32_t of = components(solver, k);
        double most = 0, next[3], size = 0, bound = fmax(solver->bound[k], 0);
        for (uint32_t i = 0; i < of; i++) {
            double s = solver->q[k + i], sum = 0;
            for (uint32_t e = rows->start[k + i]; e < rows->start[k + i + 1]; e++) {
                s += rows->value[e] * solver->z[rows->row[e]];
                sum += rows->row[e] >= k && rows->row[e] < k + of ? fabs(rows->value[e]) : 0;
            }
            most = fmax(most, sum);
            next[i] = -s;
        }
        for (uint32_t i = 0; i < of; i++) {
            next[i] = solver->z[k + i] + next[i] / most;
            size = hypot(size, next[i]);
        }
        if (solver->problem->kind[k] == COMPLEMENT_PUSH)
            next[0] = fmax(next[0], 0);
        for (uint32_t i = 0; i < of; i++) {
            bool beyond = solver->problem->kind[k] == COMPLEMENT_RUB && size > bound;
            double change = next[i] * (beyond ? bound / size : 1) - solver->z[k + i];
            solver->z[k + i] += change;
            const ComplementMatrix *limit = &solver->problem->limit;
            for (uint32_t e = limit->start[k + i]; e < limit->start[k + i + 1]; e++)
                solver->bound[limit->row[e]] += limit_entry(solver, k + i, e) * change;
        }
    }
}

static void
states_of_z(Solver *solver)
{
    double z[3];
    for (uint32_t k = 0; k < solver->n; k += components(solver, k)) {
        double size = project(solver, k, z), bound = fmax(solver->bound[k], 0);
        State state = IN;
        if (solver->problem->kind[k] == COMPLEMENT_PUSH)
            state = z[0] > 0 ? IN : OUT;
        else if (solver->problem->kind[k] == COMPLEMENT_RUB && size > bound)
            state = solver->problem->of[k] > 1 ? SLIDE : solver->z[k] - solver->s[k] > 0 ? BELOW : ABOVE;
        for (uint32_t i = 0; i < components(solver, k); i++)
            solver->state[k + i] = (uint8_t)state;
    }
}

static bool
sweeps(Solver *solver)
{
    ComplementMatrix rows = {0};
    bool found = false, ready = transpose(solver, &rows);
    double *kept = calloc((size_t)solver->n + 1, sizeof *kept);
    memset(solver->z, 0, solver->n * sizeof *solver->z);
    for (int round = 0; ready && kept && round < ROUNDS && !found; round++) {
        evaluate_search(solver);
        for (int k = 0; k < SWEEPS << (round < 4 ? round : 4); k++)
            sweep(solver, &rows);
        evaluate_search(solver);
        states_of_z(solver);
        found = judge(solver) <= SMALL;
        memcpy(kept, solver->z, solver->n * sizeof *kept);
        found = found || solve_from_states(solver);
        memcpy(solver->z, kept, solver->n * sizeof *kept);
    }
    free(kept);
    free(rows.start);
    free(rows.row);
    free(rows.value);
    return found;
}

static bool
has_only_holds(const Complementarity *problem)
{
    for (uint32_t k = 0; k < problem->n; k++)
        if (problem->kind[k] != COMPLEMENT_HOLD)
            return false;
    return true;
}

// Nothing but equations. Where they depend on each other rounding contradicts them: a few proximal steps leave that.
static bool
hold(Solver *solver)
{
    bool good = newton(solver);
    for (int step = 0; !good && step < HOLD_STEPS; step++) {
        solver->delta = PROXIMAL;
        memcpy(solver->before, solver->z, solver->n * sizeof *solver->z);
        if (!newton(solver))
            return false;
        good = step + 1 == HOLD_STEPS;
    }
    judge(solver);
    return good;
}

// From the closed and sticking ones; the rest is for what these lead around in circles.
static bool
search(Solver *solver)
{
    if (solve_from_states(solver))
        return true;
    bool pivot = has_only_lines(solver->problem) && solver->n <= LEMKE_MOST;
    return (pivot && pivots(solver)) || sweeps(solver);
}

bool
complementarity_allocate(Complementarity *problem, size_t answers, size_t limits)
{
    size_t n = problem->n;
    problem->kind = calloc(3 * n + 1, 1);
    problem->answer.start = calloc(2 * (n + 1) + answers + limits, sizeof *problem->answer.start);
    problem->answer.value = calloc(2 * n + answers + limits + 1, sizeof *problem->answer.value);
    if (!problem->kind || !problem->answer.start || !problem->answer.value)
        return false;
    problem->of = problem->kind + n;
    problem->active = problem->of + n;
    problem->limit.start = problem->answer.start + n + 1;
    problem->answer.row = problem->limit.start + n + 1;
    problem->limit.row = problem->answer.row + answers;
    problem->limit.value = problem->answer.value + answers;
    problem->offset = problem->limit.value + limits;
    problem->z = problem->offset + n;
    return true;
}

void
complementarity_free(Complementarity *problem)
{
    free(problem->kind);
    free(problem->answer.start);
    free(problem->answer.value);
}

bool
complementarity_solve(Complementarity *problem)
{
    Solver solver = {.problem = problem};
    bool good = set_up(&solver);
    memset(problem->z, 0, problem->n * sizeof *problem->z);
    memset(problem->active, 0, problem->n * sizeof *problem->active);
    problem->residual = INFINITY;
    if (good) {
        first_states(&solver);
        good = has_only_holds(problem) ? hold(&solver) : search(&solver) || solver.least <= GOOD;
        problem->residual = solver.least;
        for (uint32_t k = 0; k < problem->n && isfinite(solver.least); k++) {
            double z = solver.best[k] / solver.unit[k];
            problem->z[k] = problem->kind[k] == COMPLEMENT_PUSH ? fmax(z, 0) : z;
        }
    }
    release(&solver);
    return good;
}
