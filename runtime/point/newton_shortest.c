// newton_shortest.c: what the equations of a block leave open.
//
// Purpose: frictions in a row that hold, and constraints that follow from others, leave forces open: of an affine block the shortest solution is taken,
// which does not depend on where the iteration began.
// Method: the open directions of the unknowns are null vectors of the factored matrix (newton.c); how the variables computed within the block
// follow them is asked of the block itself. The normal equations of the least sum of squares have as many unknowns as there are directions.
// Contract: newton.h. Complexity: one evaluation of the block for each direction, and one.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"

static void
read_inner(const Run *run, const Newton *newton, double *inner)
{
    for (uint32_t k = 0; k < newton->block->n_inner; k++)
        inner[k] = run->v[newton->block->inner[k]];
}

// `response` holds the inner variables at the unknowns in v, and afterwards how they follow these along a direction. The unknowns
// are as before then, and what is computed from them is not.
static void
respond(const Run *run, const Newton *newton, const double *along, double *response)
{
    const mdl_block *block = newton->block;
    double kept[block->m + 1], step = INFINITY;
    // Affine blocks answer any step exactly; otherwise a step small against the unknowns.
    for (uint32_t i = 0; i < block->m; i++) {
        kept[i] = run->v[block->unknown[i]];
        if (along[i] != 0)
            step = fmin(step, (block->linear ? 1 : 1e-6) * fmax(fabs(kept[i]), newton->scale[i]) / fabs(along[i]));
    }
    for (uint32_t i = 0; i < block->m && isfinite(step); i++)
        run->v[block->unknown[i]] += step * along[i];
    mdl_call(block->eval, run->v);
    for (uint32_t k = 0; k < block->n_inner; k++)
        response[k] = isfinite(step) ? (run->v[block->inner[k]] - response[k]) / step : 0;
    newton_write(run, newton, kept);
}

void
newton_inner_response(const Run *run, const Newton *newton, const double *along, double *response)
{
    read_inner(run, newton, response);
    respond(run, newton, along, response);
    mdl_call(newton->block->eval, run->v);
}

// Per place in v: 1 for voltages and currents of ideal diodes. It is the same for all blocks. NULL: out of memory.
static const uint8_t *
places_of_diodes(Run *run)
{
    const mdl_model *model = run->model;
    if (run->of_diodes)
        return run->of_diodes;
    run->of_diodes = calloc(model->nv + 1, 1);
    for (uint32_t k = 0; run->of_diodes && k < model->n_sgns; k++)
        if (model->sgn[k].unilateral && !model->sgn[k].level)
            run->of_diodes[model->sgn[k].x] = run->of_diodes[model->sgn[k].p] = 1;
    return run->of_diodes;
}

// Weights of the shortest solution: where there are ideal diodes it is that of their voltages and currents, which they have in the limit
// of a leak that vanishes; a potential between open ones lies where none of them would conduct.
static bool
weigh(Run *run, Newton *newton)
{
    const double little = 1e-12;
    const mdl_block *block = newton->block;
    const uint8_t *of_diodes = places_of_diodes(run);
    size_t n = (size_t)block->m + block->n_inner;
    bool any = false;
    if (!newton->weight)
        newton->weight = calloc(n + 1, sizeof *newton->weight);
    if (!of_diodes || !newton->weight)
        return false;
    for (size_t i = 0; i < n; i++) {
        newton->weight[i] = of_diodes[i < block->m ? block->unknown[i] : block->inner[i - block->m]] ? 1 : little;
        any = any || newton->weight[i] == 1;
    }
    for (size_t i = 0; !any && i < n; i++)
        newton->weight[i] = 1;
    return true;
}

// How all variables of the block, each in its unit, follow its k-th open direction; `inner` are those computed within it. Afterwards these
// are not consistent with the unknowns.
static void
open_direction(const Run *run, const Newton *newton, size_t k, const double *inner, double *along)
{
    const mdl_block *block = newton->block;
    size_t m = block->m, n = m + block->n_inner;
    double most = 0;
    if (newton->by_square)
        square_kernel(newton->square, run->v, (uint32_t)k, along);
    else
        rank_kernel(newton->rank, (uint32_t)k, along);
    memcpy(along + m, inner, block->n_inner * sizeof *along);
    respond(run, newton, along, along + m);
    for (size_t i = 0; i < n; i++) {
        along[i] /= i < m ? newton->scale[i] : block->inner_nominal[i - m];
        most = fabs(along[i]) > most ? fabs(along[i]) : most;
    }
    // What does not move but for rounding would ask for forces that are the rounding of its value.
    for (size_t i = 0; i < n; i++)
        along[i] = fabs(along[i]) > VANISHED * most ? along[i] : 0;
}

static double
weighted(const Newton *newton, size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += newton->weight[i] * a[i] * b[i];
    return sum;
}

// What an affine block leaves open is chosen such that the squares of all its variables, each in its unit, have the
// smallest sum. `work` has room for d + 2 directions of all variables and the d + 1 rows of the normal equations. One evaluation of the
// block for each direction, and one at the end.
static bool
shorten_with(Run *run, Newton *newton, double *work, Rank *normal)
{
    const mdl_block *block = newton->block;
    size_t m = block->m, d = newton_open(newton), n = m + block->n_inner;
    double *value = work, *inner = work + n, *direction = inner + n, *right = direction + d * n, *matrix = rank_matrix(normal);
    read_inner(run, newton, inner);
    for (size_t i = 0; i < n; i++)
        value[i] = i < m ? run->v[block->unknown[i]] / newton->scale[i] : inner[i - m] / block->inner_nominal[i - m];
    for (size_t k = 0; k < d; k++) {
        open_direction(run, newton, k, inner, direction + k * n);
        right[k] = -weighted(newton, n, direction + k * n, value);
        for (size_t l = 0; l <= k; l++)
            matrix[l * d + k] = matrix[k * d + l] = weighted(newton, n, direction + k * n, direction + l * n);
    }
    if (!rank_factor(normal, NULL, 1e-12, (uint32_t)d))
        return false;
    rank_solve(normal, right, right);
    for (size_t k = 0; k < d; k++)
        for (size_t i = 0; i < m; i++)
            run->v[block->unknown[i]] += right[k] * direction[k * n + i] * newton->scale[i];
    return newton_defect(run, newton, newton->step) || newton_fail(newton, NOT_FINITE);
}

bool
newton_shorten(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    size_t d = newton_open(newton), n = (size_t)block->m + block->n_inner;
    if (!d || !block->linear || (!newton->by_rank && !newton->by_square))
        return true;
    double *work = calloc((d + 2) * (n + 1), sizeof *work);
    Rank *normal = rank_create((uint32_t)d, (uint32_t)d);
    bool good = work && normal && (newton->weight || weigh(run, newton)) && shorten_with(run, newton, work, normal);
    free(work);
    rank_free(&normal);
    return good;
}
