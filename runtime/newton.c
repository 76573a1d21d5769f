// newton.c: one algebraic block solved by damped Newton, with a homotopy for hard starts.
//
// Purpose: initialisation, consistent values at events, rows and root functions, causal form.
// Method: affine-invariant damping with the natural monotonicity test (Deuflhard, Newton Methods for
//         Nonlinear Problems, 2004, algorithm NLEQ-ERR): the simplified correction at the trial point, not
//         the
//         residual, must shrink, so the scaling of equations does not matter. Corrections are measured
//         relative to max(|u|, nominal). Homotopy: F(u) = (1 - s) F(u0), s from 0 to 1 with adaptive steps.
// Contract: on success inner variables and residuals in v belong to the solution; on failure the unknowns
//           are those of the last iterate and newton_report() explains.
// Complexity: one Jacobian and one factorisation per iteration.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/run.h"

enum { ITERATIONS = 60, HOMOTOPY_STEPS = 400 };

static const double CONVERGED = 1e-12;  // relative size of the last correction that is applied
static const double STAGNATED = 1e-8;   // rounding may keep corrections above CONVERGED, never above this
static const double SMALLEST_DAMPING = 1e-6;

typedef enum Trouble { NO_TROUBLE, NOT_FINITE, SINGULAR, NO_DESCENT, TOO_MANY, NO_PATH } Trouble;

struct Newton {
    const mdl_block *block;
    Lu *lu;
    double *base;    // unknowns at the start of an iteration
    double *step;    // Newton correction
    double *trial;   // simplified correction
    double *target;  // what the residuals must become (zero but for the homotopy)
    double *start;   // unknowns at the start of a solve
    Trouble trouble;
    uint32_t singular;
};

Newton *
newton_create(const mdl_block *block)
{
    Newton *newton = calloc(1, sizeof *newton);
    size_t m = block->m;
    if (!newton)
        return NULL;
    newton->block = block;
    newton->base = calloc(5 * m + 1, sizeof *newton->base);
    newton->lu = lu_create(block->m, block->jac.column_start, block->jac.row);
    if (!newton->base) {
        newton_free(&newton);
        return NULL;
    }
    newton->step = newton->base + m;
    newton->trial = newton->step + m;
    newton->target = newton->trial + m;
    newton->start = newton->target + m;
    return newton;
}

void
newton_free(Newton **slot)
{
    Newton *newton = *slot;
    if (!newton)
        return;
    lu_free(&newton->lu);
    free(newton->base);
    free(newton);
    *slot = NULL;
}

// Evaluates the block and puts target - residual into `out`. False when something is not finite.
static bool
defect(const Run *run, const Newton *newton, double *out)
{
    const mdl_block *block = newton->block;
    mdl_call(block->eval, run->v);
    bool finite = true;
    for (uint32_t i = 0; i < block->m; i++) {
        out[i] = newton->target[i] - run->v[block->residual[i]];
        finite = finite && isfinite(out[i]);
    }
    return finite;
}

static double
size_of(const Newton *newton, const double *correction)
{
    double most = 0;
    for (uint32_t i = 0; i < newton->block->m; i++) {
        double nominal = newton->block->nominal ? fabs(newton->block->nominal[i]) : 1;
        double scale = fmax(fabs(newton->base[i]), nominal > 0 ? nominal : 1);
        double size = fabs(correction[i]) / scale;
        if (!(size <= most))
            most = size;
    }
    return most;
}

static void
read_unknowns(const Run *run, const Newton *newton, double *to)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        to[i] = run->v[newton->block->unknown[i]];
}

static void
move(const Run *run, const Newton *newton, double damping)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] = newton->base[i] + damping * newton->step[i];
}

static bool
fail(Newton *newton, Trouble trouble)
{
    newton->trouble = trouble;
    return false;
}

// Newton correction at the current point, whose defect is in `step`.
static bool
correction(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    mdl_call(block->jacobian, run->v);
    if (!newton->lu || !lu_factor(newton->lu, run->v + block->jac.values, true)) {
        newton->singular = newton->lu ? lu_singular_column(newton->lu) : 0;
        return fail(newton, SINGULAR);
    }
    lu_solve(newton->lu, newton->step);
    return true;
}

// One damped step from `base`. Afterwards v is at the trial point and `trial` is the simplified correction
// there.
static bool
damped_step(Run *run, Newton *newton, double norm, double *damping, double *trial_norm)
{
    for (;;) {
        move(run, newton, *damping);
        if (defect(run, newton, newton->trial)) {
            lu_solve(newton->lu, newton->trial);
            *trial_norm = size_of(newton, newton->trial);
            if (*trial_norm <= (1 - *damping / 4) * norm || *trial_norm <= CONVERGED)
                return true;
            if (*damping == 1 && norm <= STAGNATED)
                return true;
        }
        *damping /= 2;
        if (*damping < SMALLEST_DAMPING)
            return fail(newton, NO_DESCENT);
    }
}

// Applies the simplified correction at the trial point: the last digits for the price of one evaluation.
static bool
finish(Run *run, Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] += newton->trial[i];
    return defect(run, newton, newton->step) || fail(newton, NOT_FINITE);
}

// Start values that satisfy the equations exactly are a solution, also where the matrix is singular (a
// pendulum that
// starts level: x^2 + y^2 = L^2 at y = 0).
static bool
is_solved(const Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        if (newton->step[i] != 0)
            return false;
    return true;
}

static bool
iterate(Run *run, Newton *newton)
{
    double damping = 1;
    if (!defect(run, newton, newton->step))
        return fail(newton, NOT_FINITE);
    if (!newton->block->linear && is_solved(newton))
        return true;
    for (int k = 0; k < ITERATIONS; k++) {
        read_unknowns(run, newton, newton->base);
        if (!correction(run, newton))
            return false;
        double norm = size_of(newton, newton->step), trial_norm = 0;
        if (!isfinite(norm))
            return fail(newton, SINGULAR);
        if (!damped_step(run, newton, norm, &damping, &trial_norm))
            return false;
        run->stats->newton_iterations++;
        bool stagnated = damping == 1 && norm <= STAGNATED && trial_norm > norm / 4;
        if (damping == 1 && (trial_norm <= CONVERGED || stagnated))
            return trial_norm < norm && trial_norm > 0 ? finish(run, newton) : true;
        if (!defect(run, newton, newton->step))
            return fail(newton, NOT_FINITE);
        damping = fmin(1, 4 * damping);
    }
    return fail(newton, TOO_MANY);
}

static void
write_unknowns(const Run *run, const Newton *newton, const double *from)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] = from[i];
}

// Follows F(u) = (1 - s) F(u0). `path` has 2m places: the first residual and the last good point.
static bool
follow_path(Run *run, Newton *newton, double *path)
{
    uint32_t m = newton->block->m;
    double *good = path + m;
    double s = 0, ds = 0.1;
    write_unknowns(run, newton, newton->start);
    memset(newton->target, 0, m * sizeof *newton->target);
    if (!defect(run, newton, path))
        return fail(newton, NOT_FINITE);
    memcpy(good, newton->start, m * sizeof *good);
    for (int k = 0; k < HOMOTOPY_STEPS && s < 1; k++) {
        double next = fmin(1, s + ds);
        for (uint32_t i = 0; i < m; i++)
            newton->target[i] = -(1 - next) * path[i];
        if (iterate(run, newton)) {
            s = next;
            ds *= 2;
            read_unknowns(run, newton, good);
        } else {
            write_unknowns(run, newton, good);
            ds /= 4;
            if (ds < 1e-9)
                break;
        }
    }
    memset(newton->target, 0, m * sizeof *newton->target);
    return s >= 1;
}

static bool
homotopy_solve(Run *run, Newton *newton)
{
    uint32_t m = newton->block->m;
    double *path = calloc(2 * (size_t)m, sizeof *path);
    Trouble first = newton->trouble;
    uint32_t singular = newton->singular;
    bool solved = path && follow_path(run, newton, path);
    free(path);
    if (!solved) {
        // The report shows the direct attempt's end: that is the one a user can relate to start values.
        write_unknowns(run, newton, newton->start);
        newton->singular = singular;
        newton->trouble = iterate(run, newton) ? NO_PATH : first;
    }
    return solved;
}

int
newton_solve(Run *run, Newton *newton, bool homotopy)
{
    memset(newton->target, 0, newton->block->m * sizeof *newton->target);
    newton->trouble = NO_TROUBLE;
    run->stats->block_solves++;
    read_unknowns(run, newton, newton->start);
    if (iterate(run, newton))
        return MDL_OK;
    if (homotopy && newton->trouble != NOT_FINITE && homotopy_solve(run, newton))
        return MDL_OK;
    return MDL_FAILED;
}

void
newton_restore(const Run *run, const Newton *newton)
{
    write_unknowns(run, newton, newton->start);
}

static const char *
trouble_text(Trouble trouble)
{
    switch (trouble) {
    case NOT_FINITE: return "an equation has no finite value";
    case SINGULAR: return "its matrix of partial derivatives is singular";
    case NO_DESCENT: return "no step reduces the error";
    case TOO_MANY: return "the iteration does not converge";
    default: return "there is no path from the start values to a solution";
    }
}

static uint32_t
worst_equation(const Run *run, const mdl_block *block)
{
    uint32_t worst = 0;
    for (uint32_t i = 0; i < block->m; i++) {
        double r = run->v[block->residual[i]];
        if (!isfinite(r))
            return i;
        if (fabs(r) > fabs(run->v[block->residual[worst]]))
            worst = i;
    }
    return worst;
}

void
newton_report(const Run *run, const Newton *newton, const char *when)
{
    enum { SHOWN = 8 };
    const mdl_block *block = newton->block;
    char text[3000];
    size_t used = 0;
    uint32_t worst = worst_equation(run, block);
    for (uint32_t i = 0; i < block->m && i < SHOWN && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s = %.10g",
                                 block->unknown_name ? block->unknown_name[i] : "?",
                                 run->v[block->unknown[i]]);
    if (block->m > SHOWN && used < sizeof text)
        snprintf(text + used, sizeof text - used, "\n  and %u more", block->m - SHOWN);
    const char *singular = newton->trouble == SINGULAR && block->unknown_name && newton->singular < block->m
                               ? block->unknown_name[newton->singular] : NULL;
    run_message(run, MDL_ERROR, "%s: a system of %u equation%s could not be solved: %s%s%s%s\n"
                "equation %s\n  has the residual %.6g at%s", when, block->m, block->m == 1 ? "" : "s",
                trouble_text(newton->trouble), singular ? " (undetermined: `" : "", singular ? singular : "",
                singular ? "`)" : "", block->equation ? block->equation[worst] : "?",
                run->v[block->residual[worst]], text);
}
