// affine_loop.c: an affine block is solved with pivots that stand, as long as residuals and corrections say that these are good.
//
// Purpose: the accelerations and forces of a mechanism are solved for in every evaluation of its motion. Newton's iteration (newton.c) looks at
// such a block as at any other: two Jacobians, five evaluations, and a factorisation that knows nothing of the one before.
// Method: one Jacobian, whose elimination is a list of products in an order that was found from values (standing.c); a correction; and corrections by
// what the residuals then leave (iterative refinement: Skeel, Math. Comp. 35 (1980) 817), since the matrix is the same at every iterate. What is accepted
// is what newton_iterate() accepts: a correction by the residuals of the solution is below CONVERGED, and it has been applied unless it is rounding; the
// residuals are below INEXACT of their terms. Whatever else happens - pivots that have become small, corrections that do not shrink, values that are
// not finite - the unknowns go back to where they were, and newton_iterate() solves the block.
// Contract: used for blocks without choices, of models without set-valued laws, where no rank is looked at and none is deficient: no question is
// answered here that newton_iterate() would answer in another way. Each refusal costs COST solutions of credit, and the order; without credit, or where no
// order is found, it is over for the rest of the run.
// Complexity: two evaluations, mostly, one Jacobian, one factorisation, two solutions.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/standing.h"
#include "runtime/point/newton.h"

static const double CONVERGED = 1e-12;              // as in newton.c
static const double INEXACT = 1e-6;                 // as in newton.c
static const double STAGNATED = 1e-10;              // two corrections below this of which the second is not much smaller are rounding
static const double ROUNDED = 16 * DBL_EPSILON;     // a correction below this part of an unknown is rounding
enum {
    SMALLEST = LU_DENSE_LIMIT + 1, LARGEST = 4096,  // unknowns
    WARM = 16,      // solutions of a run before an order is looked for
    CREDIT = 256, COST = 64, CORRECTIONS = 5
};

struct Affine {
    Standing *standing;
    int credit;
    uint32_t solutions;
    uint32_t *large;  // per residual: its largest term is that of this entry of the matrix
    uint32_t *column; // and this unknown
};

void
affine_free(Affine **slot)
{
    Affine *affine = *slot;
    if (!affine)
        return;
    standing_free(&affine->standing);
    free(affine->large);
    free(affine);
    *slot = NULL;
}

static bool
is_open(const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    return block->linear && block->m >= SMALLEST && block->m <= LARGEST && !block->switched && !block->conditions && !run->model->n_sgns
           && !newton->review && !newton->deficient && !newton->locked && newton->lu;
}

static Affine *
affine_create(uint32_t m)
{
    Affine *affine = calloc(1, sizeof *affine);
    uint32_t *large = calloc(2 * (size_t)m + 1, sizeof *large);
    if (!affine || !large) {
        free(affine);
        free(large);
        return NULL;
    }
    *affine = (Affine){.credit = CREDIT, .large = large, .column = large + m};
    return affine;
}

static double
unit(const Run *run, const Newton *newton, uint32_t j)
{
    return fmax(fabs(run->v[newton->block->unknown[j]]), newton->scale[j]);
}

// An order for the matrix in v, and the terms that its residuals are measured by.
static bool
choose_order(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    const mdl_matrix *jac = &block->jac;
    Affine *affine = newton->affine;
    affine->standing = standing_create(block->m, jac->column_start, jac->row, run->v + jac->values);
    if (!affine->standing) {
        affine->credit = 0;
        return false;
    }
    memset(newton->size, 0, block->m * sizeof *newton->size);
    for (uint32_t j = 0; j < block->m; j++)
        for (uint32_t e = jac->column_start[j]; e < jac->column_start[j + 1]; e++) {
            double term = fabs(run->v[jac->values + e]) * unit(run, newton, j);
            if (term > newton->size[jac->row[e]]) {
                newton->size[jac->row[e]] = term;
                affine->large[jac->row[e]] = e;
                affine->column[jac->row[e]] = j;
            }
        }
    return true;
}

// All terms that unknowns make in residual i: for a residual that the largest of them at the start does not vouch for.
static double
all_terms(const Run *run, const Newton *newton, uint32_t i)
{
    const mdl_matrix *jac = &newton->block->jac;
    double size = 0;
    for (uint32_t j = 0; j < newton->block->m; j++)
        for (uint32_t e = jac->column_start[j]; e < jac->column_start[j + 1]; e++)
            if (jac->row[e] == i)
                size += fabs(run->v[jac->values + e]) * unit(run, newton, j);
    return size;
}

static bool
has_small_residuals(const Run *run, const Newton *newton, const double *defect)
{
    const mdl_block *block = newton->block;
    for (uint32_t i = 0; i < block->m; i++) {
        double term = fabs(run->v[block->jac.values + newton->affine->large[i]]) * unit(run, newton, newton->affine->column[i]);
        if (!(fabs(defect[i]) <= INEXACT * term) && !(fabs(defect[i]) <= INEXACT * all_terms(run, newton, i)))
            return false;
    }
    return true;
}

// The correction for the defect in `step`, which it takes the place of; its largest part of max(|u|, nominal) at the unknowns in v.
static double
correction(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    double most = 0;
    standing_solve(newton->affine->standing, newton->step);
    for (uint32_t i = 0; i < block->m; i++) {
        double size = fabs(newton->step[i]) / unit(run, newton, i);
        most = size <= most ? most : size; // what is no number stays
    }
    return most;
}

// From the defect at the unknowns in v, in `step`.
static bool
refine(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    double before = INFINITY;
    for (int k = 0; k < CORRECTIONS; k++) {
        if (k > 0)
            memcpy(newton->trial, newton->step, block->m * sizeof *newton->trial);
        double norm = correction(run, newton);
        bool stagnated = norm > before / 4 && before <= STAGNATED && norm <= STAGNATED;
        if (!isfinite(norm) || !(norm <= before / 4 || norm <= CONVERGED || stagnated))
            return false;
        if (k > 0 && (norm <= ROUNDED || (stagnated && norm >= before)))
            return has_small_residuals(run, newton, newton->trial);
        for (uint32_t i = 0; i < block->m; i++)
            run->v[block->unknown[i]] += newton->step[i];
        if (!newton_defect(run, newton, newton->step))
            return false;
        if (k > 0 && (norm <= CONVERGED || stagnated))
            return has_small_residuals(run, newton, newton->step);
        before = norm;
    }
    return false;
}

static bool
solve(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    const double *values = run->v + block->jac.values;
    Affine *affine = newton->affine;
    if (!newton_defect(run, newton, newton->step))
        return false;
    mdl_call(block->jacobian, run->v);
    if (affine->standing ? !standing_factor(affine->standing, values) : !choose_order(run, newton))
        return false;
    return refine(run, newton);
}

bool
affine_solve(Run *run, Newton *newton)
{
    if (!is_open(run, newton))
        return false;
    if (!newton->affine && !(newton->affine = affine_create(newton->block->m)))
        return false;
    Affine *affine = newton->affine;
    if (affine->credit < 0 || affine->solutions++ < WARM)
        return false;
    newton->by_rank = newton->by_square = false;
    if (solve(run, newton)) {
        affine->credit += affine->credit < CREDIT;
        run->stats->newton_iterations++;
        run->stats->standing_solves++;
        newton->corrections = 1;
        return true;
    }
    affine->credit -= COST;
    standing_free(&affine->standing);
    run->stats->standing_refused++;
    newton_write(run, newton, newton->start);
    return false;
}
