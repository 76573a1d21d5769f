// path.c: what is tried at a start when Newton's method does not lead from the start values to a solution.
//
// Purpose: initialisation from guesses that are far off, at which the matrix is singular, or at which an equation has no value; in a run,
//         loops whose solution has ended (fold.c).
// Method: 1. The path F(u) = (1 - s) F(u0) is followed from s = 0 to s = 1 by its length, so that it may turn back in s (Allgower and
//         Georg, Introduction to Numerical Continuation Methods, 2003, chapters 2, 6): a step along the tangent, then Newton
//         corrections in the plane normal to it. The bordered matrix [J F(u0); t'] is regular at turning points, and at start values
//         where J is not, as long as the path is a curve.
//         2. Where equations have no value at the start values (log(x) at the default 0), the unknowns of these are moved until they
//         have; the same is tried after the path has led nowhere. What is tried depends on start and nominal values only.
//         A solution that was found around a turning point, or from other start values, is told: another one may have been meant.
// Contract: newton.h. Complexity: one factorisation per correction.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"

enum { STEPS = 1000, STEPS_ELSEWHERE = 150, CORRECTIONS = 7 };

static const double FIRST = 0.1;      // step, in units of s and of the unknowns' sizes
static const double SHORTEST = 1e-8;
static const double NEAR = 1e-6;      // accuracy of points of the path
static const double BEND = 0.5;       // least cosine of the angle between tangents of one step
static const double FINE = 1e-2;      // step in which a turning point is looked for
static const double FAR = 1e8;        // sizes of the unknowns from the start: the path leads nowhere

typedef struct Path {
    Run *run;
    Newton *newton;
    uint32_t m;
    Lu *lu;                // of the bordered matrix
    uint32_t *start, *row;
    double *values;
    double *first;         // F(u0)
    double *size;          // units of the unknowns
    // points and tangents: m unknowns in these units, then s
    double *at, *next, *tangent, *turned, *step;
    uint32_t turns;
} Path;

static bool
allocate(Path *p)
{
    const mdl_matrix *jac = &p->newton->block->jac;
    size_t m = p->m, nonzeros = (size_t)jac->nonzeros + 2 * m + 1;
    p->start = malloc((m + 2 + nonzeros) * sizeof *p->start);
    p->values = calloc(nonzeros + 2 * m + 5 * (m + 1), sizeof *p->values);
    if (!p->start || !p->values)
        return false;
    p->row = p->start + m + 2;
    p->first = p->values + nonzeros;
    p->size = p->first + m;
    p->at = p->size + m;
    p->next = p->at + m + 1;
    p->tangent = p->next + m + 1;
    p->turned = p->tangent + m + 1;
    p->step = p->turned + m + 1;
    uint32_t n = 0;
    for (uint32_t j = 0; j < m; j++) {
        p->start[j] = n;
        for (uint32_t k = jac->column_start[j]; k < jac->column_start[j + 1]; k++)
            p->row[n++] = jac->row[k];
        p->row[n++] = p->m;
    }
    p->start[m] = n;
    for (uint32_t i = 0; i <= p->m; i++)
        p->row[n++] = i;
    p->start[m + 1] = n;
    p->lu = lu_create(p->m + 1, p->start, p->row);
    return p->lu != NULL;
}

static void
forget(Path *p)
{
    lu_free(&p->lu);
    free(p->start);
    free(p->values);
}

static void
write_point(const Path *p, const double *point)
{
    for (uint32_t i = 0; i < p->m; i++)
        p->run->v[p->newton->block->unknown[i]] = point[i] * p->size[i];
}

// Residuals of the path at the point: F(u) - (1 - s) F(u0).
static bool
residuals(const Path *p, const double *point, double *out)
{
    write_point(p, point);
    if (!newton_defect(p->run, p->newton, out))
        return false;
    for (uint32_t i = 0; i < p->m; i++)
        out[i] = -out[i] - (1 - point[p->m]) * p->first[i];
    return true;
}

// The bordered matrix where the block was evaluated last; `border` is its last row.
static bool
factor(const Path *p, const double *border)
{
    const mdl_matrix *jac = &p->newton->block->jac;
    uint32_t n = 0;
    mdl_call(p->newton->block->jacobian, p->run->v);
    for (uint32_t j = 0; j < p->m; j++) {
        for (uint32_t k = jac->column_start[j]; k < jac->column_start[j + 1]; k++)
            p->values[n++] = p->run->v[jac->values + k] * p->size[j];
        p->values[n++] = border[j];
    }
    for (uint32_t i = 0; i < p->m; i++)
        p->values[n++] = p->first[i];
    p->values[n] = border[p->m];
    return lu_factor(p->lu, p->values, true);
}

static double
dot(const Path *p, const double *a, const double *b)
{
    double sum = 0;
    for (uint32_t i = 0; i <= p->m; i++)
        sum += a[i] * b[i];
    return sum;
}

// The tangent where the matrix was factored, in the direction of `border`, into `turned`. False: there is none.
static bool
find_tangent(const Path *p)
{
    memset(p->turned, 0, p->m * sizeof *p->turned);
    p->turned[p->m] = 1;
    lu_solve(p->lu, p->turned);
    double length = sqrt(dot(p, p->turned, p->turned));
    for (uint32_t i = 0; i <= p->m; i++)
        p->turned[i] /= length;
    return isfinite(length) && length > 0;
}

// Where J is regular the path begins with growing s; otherwise somewhere along what J leaves open.
static bool
begin(Path *p)
{
    if (!residuals(p, p->at, p->step))
        return false;
    memset(p->tangent, 0, p->m * sizeof *p->tangent);
    p->tangent[p->m] = 1;
    if (!factor(p, p->tangent)) {
        for (uint32_t i = 0; i < p->m; i++)
            p->tangent[i] = 1 + 0.3 * sin(1.0 + 2.4 * i); // as good as random, and the same in every run
        if (!factor(p, p->tangent))
            return false;
    }
    if (!find_tangent(p))
        return false;
    memcpy(p->tangent, p->turned, (p->m + 1) * sizeof *p->tangent);
    return true;
}

// From the predicted point in `next` to the path; false when it does not converge.
static bool
correct(Path *p)
{
    double before = INFINITY;
    for (int k = 0; k < CORRECTIONS; k++) {
        double most = 0;
        if (!residuals(p, p->next, p->step) || !factor(p, p->tangent))
            return false;
        p->step[p->m] = 0; // normal to the tangent
        lu_solve(p->lu, p->step);
        for (uint32_t i = 0; i <= p->m; i++)
            most = fmax(most, fabs(p->step[i]) / fmax(fabs(p->next[i]), 1));
        if (!(most < before / 2) || !isfinite(most))
            return false;
        for (uint32_t i = 0; i <= p->m; i++)
            p->next[i] -= p->step[i];
        before = most;
        p->newton->corrections = (uint32_t)k + 1;
        if (most <= NEAR)
            return true;
    }
    return false;
}

// One step of length h along the path; false: it must be shorter.
static bool
advance(Path *p, double h)
{
    for (uint32_t i = 0; i <= p->m; i++)
        p->next[i] = p->at[i] + h * p->tangent[i];
    return correct(p) && find_tangent(p) && dot(p, p->turned, p->tangent) >= BEND;
}

// The start for Newton's method at s = 1, between two points of the path.
static bool
arrive(Path *p)
{
    double part = (1 - p->at[p->m]) / (p->next[p->m] - p->at[p->m]);
    for (uint32_t i = 0; i < p->m; i++)
        p->step[i] = p->at[i] + part * (p->next[i] - p->at[i]);
    write_point(p, p->step);
    return newton_iterate(p->run, p->newton);
}

// Between the last two points the path turns back in s.
static bool
turns_back(const Path *p)
{
    return p->tangent[p->m] * p->turned[p->m] < 0;
}

// Where it does so: the extremum of s by its values and slopes at both ends of a short step.
static void
note_turn(Path *p, double h)
{
    double part = p->tangent[p->m] / (p->tangent[p->m] - p->turned[p->m]);
    double s = p->at[p->m] + part * h * p->tangent[p->m] / 2;
    if (!p->turns++)
        p->newton->reached = s;
    if (p->run->options->trace)
        run_message(p->run, MDL_NOTE, "  the path turns back at s = %.4g", s);
}

// The step that was taken, for --trace: from `at` to s, where the unknowns in v are.
static void
trace(const Path *p, double s)
{
    if (!p->run->options->trace)
        return;
    for (uint32_t i = 0; i < p->m; i++)
        p->step[i] = p->at[i] * p->size[i];
    newton_trace_step(p->run, p->newton, s, p->step);
}

static bool
follow(Path *p, int steps)
{
    size_t bytes = (p->m + 1) * sizeof *p->at;
    double h = FIRST;
    for (int k = 0; k < steps && h > SHORTEST; k++) {
        if (!advance(p, h) || (turns_back(p) && h > FINE)) {
            h /= 4;
            continue;
        }
        if (p->next[p->m] >= 1) {
            if (arrive(p)) {
                trace(p, 1);
                return true;
            }
            h /= 4;
            continue;
        }
        write_point(p, p->next);
        trace(p, p->next[p->m]);
        if (turns_back(p))
            note_turn(p, h);
        memcpy(p->at, p->next, bytes);
        memcpy(p->tangent, p->turned, bytes);
        if (sqrt(dot(p, p->at, p->at)) > FAR)
            break;
        h *= p->newton->corrections <= 3 ? 2 : 1;
    }
    return false;
}

// Along the path from the unknowns in v.
static bool
follow_path(Run *run, Newton *newton, int steps, uint32_t *turns)
{
    Path p = {.run = run, .newton = newton, .m = newton->block->m};
    bool solved = allocate(&p) && newton_defect(run, newton, p.first);
    for (uint32_t i = 0; i < p.m && solved; i++) {
        double start = run->v[newton->block->unknown[i]];
        p.first[i] = -p.first[i];
        p.size[i] = fmax(fabs(start), newton->scale[i]);
        p.at[i] = start / p.size[i];
    }
    solved = solved && begin(&p) && follow(&p, steps);
    *turns = p.turns;
    forget(&p);
    return solved;
}

// --- other start values

// What a start value becomes: a part of itself and a number of nominal values.
static const struct { double own, nominal; } ELSEWHERE[] = {
    {1, 0.1}, {0.5, 0.5}, {1, 1}, {0.1, 0.1}, {0, 0.5}, {0, 1}, {1, -0.1}, {0, 3}, {0, -0.5}, {1, -1}, {1, 10}, {0, 30}, {0, -3}, {1, -10},
};
enum { PLACES = sizeof ELSEWHERE / sizeof *ELSEWHERE };

// Marks the unknowns of equations without a value; of all equations, when all have one.
static void
find_moving(const Run *run, const Newton *newton, bool *moving)
{
    const mdl_block *block = newton->block;
    bool finite = true;
    for (uint32_t i = 0; i < block->m; i++)
        finite &= isfinite(run->v[block->residual[i]]) != 0;
    for (uint32_t j = 0; j < block->m; j++) {
        moving[j] = finite;
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
            moving[j] |= !isfinite(run->v[block->residual[block->jac.row[k]]]);
    }
}

static void
move_away(const Run *run, const Newton *newton, const bool *moving, int place)
{
    const mdl_block *block = newton->block;
    newton_write(run, newton, newton->start);
    for (uint32_t i = 0; i < block->m; i++) {
        double wave = 1 + 0.2 * sin(1.0 + 2.4 * (i + 1) + 17.0 * place); // the same in every run
        if (moving[i])
            run->v[block->unknown[i]] = ELSEWHERE[place].own * newton->start[i]
                                        + ELSEWHERE[place].nominal * wave * newton->scale[i];
    }
}

static bool
solve_from(Run *run, Newton *newton, const double *from)
{
    uint32_t turns;
    if (!newton_defect(run, newton, newton->step))
        return false;
    if (newton_iterate(run, newton))
        return true;
    newton_write(run, newton, from);
    return follow_path(run, newton, STEPS_ELSEWHERE, &turns);
}

// True: solved from other start values, which are told at a start.
static bool
solve_elsewhere(Run *run, Newton *newton, bool tell)
{
    size_t m = newton->block->m;
    bool *moving = malloc((m + 1) * sizeof *moving), solved = false;
    double *from = malloc((m + 1) * sizeof *from);
    newton_write(run, newton, newton->start);
    (void)newton_defect(run, newton, newton->step);
    if (moving && from)
        find_moving(run, newton, moving);
    for (int place = 0; moving && from && place < PLACES && !solved; place++) {
        move_away(run, newton, moving, place);
        newton_read(run, newton, from);
        solved = solve_from(run, newton, from);
    }
    if (solved && tell)
        newton_note_elsewhere(run, newton, from);
    free(moving);
    free(from);
    return solved;
}

bool
path_solve(Run *run, Newton *newton)
{
    Trouble first = newton->trouble, last = first;
    uint32_t turns = 0;
    if (newton->block->linear || !newton->lu)
        return false;
    newton_write(run, newton, newton->start);
    if (first != NOT_FINITE && follow_path(run, newton, STEPS, &turns)) {
        if (turns)
            run_message(run, MDL_NOTE, "initialisation: the path from the start values turned back %u time%s before it came to a solution; "
                        "start values near the one that is meant lead to it directly", turns, turns == 1 ? "" : "s");
        return true;
    }
    if (turns)
        last = TURNING_POINT;
    if ((first == NOT_FINITE || first == SINGULAR) && solve_elsewhere(run, newton, true))
        return true;
    // The report shows the direct attempt's end: that is the one a user can relate to start values.
    newton_write(run, newton, newton->start);
    (void)newton_iterate(run, newton);
    newton->trouble = last == TURNING_POINT || first == NO_TROUBLE ? last : first;
    return false;
}

bool
path_jump(Run *run, Newton *newton)
{
    uint32_t turns;
    if (newton->block->linear || !newton->lu)
        return false;
    newton_write(run, newton, newton->start);
    return follow_path(run, newton, STEPS_ELSEWHERE, &turns) || solve_elsewhere(run, newton, false);
}
