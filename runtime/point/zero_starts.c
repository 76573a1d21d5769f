// zero_starts.c: start values that follow from others, for unknowns that begin at zero.
//
// Purpose: what has no start value begins at zero, where equations are singular: abs(Re)^(1/3) has an endless slope, and what no flow carries determines
//         nothing. The start values of the others say more of it.
// Method: an equation that has one unknown at zero, and a slope in it, gives this a value by a few corrections of its own; then it counts as one of the
//         others, until no equation is left that has one. Of several equations the one with the largest slope.
// Contract: newton.h. Complexity: SWEEPS evaluations and Jacobians for each equation of the longest chain.
//
//     v = m/(rho*A), Re = v*d/nu, Nu = abs(Re)^(1/3), m starts at 0.2   =>   v, then Re, then Nu
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"

enum { SWEEPS = 3 };

// For each unknown the entry of the Jacobian it is corrected by, or the number of all entries. False when there is none. `step` has the defects at v.
static bool
choose_entries(const Run *run, const Newton *newton, uint32_t *open, uint32_t *entry)
{
    const mdl_block *block = newton->block;
    const mdl_matrix *jac = &block->jac;
    bool any = false;
    memset(open, 0, block->m * sizeof *open);
    for (uint32_t j = 0; j < block->m; j++)
        for (uint32_t k = jac->column_start[j]; k < jac->column_start[j + 1]; k++)
            open[jac->row[k]] += run->v[block->unknown[j]] == 0;
    for (uint32_t j = 0; j < block->m; j++) {
        double most = 0;
        entry[j] = jac->nonzeros;
        for (uint32_t k = jac->column_start[j]; k < jac->column_start[j + 1] && run->v[block->unknown[j]] == 0; k++) {
            double slope = fabs(run->v[jac->values + k]);
            if (open[jac->row[k]] != 1 || !(slope > most) || !isfinite(slope) || newton->step[jac->row[k]] == 0)
                continue;
            entry[j] = k;
            most = slope;
        }
        any = any || most > 0;
    }
    return any;
}

// Corrects each unknown by its entry. False when something is not finite then.
static bool
correct(const Run *run, const Newton *newton, const uint32_t *entry)
{
    const mdl_block *block = newton->block;
    for (uint32_t j = 0; j < block->m; j++) {
        double change = entry[j] < block->jac.nonzeros ? newton->step[block->jac.row[entry[j]]] / run->v[block->jac.values + entry[j]] : 0;
        run->v[block->unknown[j]] += isfinite(change) ? change : 0;
    }
    if (!newton_defect(run, newton, newton->step))
        return false;
    mdl_call(block->jacobian, run->v);
    return true;
}

bool
zeros_follow(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    uint32_t m = block->m, *open = malloc(2 * ((size_t)m + 1) * sizeof *open), *entry = open + m;
    double *before = malloc((m + 1) * sizeof *before);
    bool moved = false, finite = open && before && newton_defect(run, newton, newton->step);
    if (finite)
        mdl_call(block->jacobian, run->v);
    for (uint32_t pass = 0; pass < m && finite && choose_entries(run, newton, open, entry); pass++) {
        newton_read(run, newton, before);
        for (int sweep = 0; sweep < SWEEPS && finite; sweep++)
            finite = correct(run, newton, entry);
        if (!finite)
            newton_write(run, newton, before);
        moved = moved || finite;
    }
    free(open);
    free(before);
    return moved;
}
