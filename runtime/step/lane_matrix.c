// lane_matrix.c: iteration matrices of several runs side by side.
//
// Purpose: what implicit methods solve in every step of runs that are made together (runtime/solver/radau_lanes.c).
// Method: the matrix has the pattern of the DAE form (jacobian.c): states, the loops' unknowns and values that the model keeps, which are sparse; the
//         loops are eliminated with the rest. Where F(y, y') = 0 says x' = f(x), (c - df/dx) d = r is (A + c B) d = B r, the derivatives being c d - r. All runs
//         have one order of elimination (standing.h); complex shifts are complex matrices in that order.
// Contract: lane_matrix.h; what is computed for one run does not depend on those beside it. Complexity: O(entries of the factors) for a solution.
#include "runtime/step/lane_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/linear/standing.h"
#include "runtime/step/jacobian.h"

typedef struct Rate { // an entry of B
    uint32_t at;      // place of the same entry of A
    uint32_t row, column;
    uint32_t from;    // among the values of jac_yp, or RATE_ONE
} Rate;

enum { RATE_ONE = UINT32_MAX };

struct LaneMatrix {
    const mdl_model *model;
    uint32_t width, n, m, entries, rates;
    uint32_t *from_y;          // per value of jac_y: its place
    Rate *rate;
    bool plain;                // B is the unit matrix for the states
    Standing *standing;
    double *a, *b;             // entries and rates of each run
    double *values;            // of the matrix to be factored
    double *right, *work;      // 2 m of each run
    double *factor[LANE_FACTORS]; // NULL: not used yet
};

#define WIDE __attribute__((target_clones("avx2", "default")))

static bool
list_rates(LaneMatrix *matrix, const uint32_t *from_yp, const uint32_t *diagonal)
{
    const mdl_model *model = matrix->model;
    const mdl_matrix *yp = &model->jac_yp;
    matrix->rate = calloc((size_t)yp->nonzeros + model->nx + 1, sizeof *matrix->rate);
    if (!matrix->rate)
        return false;
    for (uint32_t j = 0; j < yp->columns && yp->nonzeros; j++)
        for (uint32_t k = yp->column_start[j]; k < yp->column_start[j + 1]; k++) {
            if (j >= model->nx)
                return false;
            matrix->rate[matrix->rates++] = (Rate){from_yp[k], yp->row[k], j, k};
        }
    matrix->plain = matrix->rates == 0;
    for (uint32_t j = 0; j < model->nx; j++) {
        matrix->plain = matrix->plain && diagonal[j] != UINT32_MAX;
        if (diagonal[j] != UINT32_MAX)
            matrix->rate[matrix->rates++] = (Rate){diagonal[j], j, j, RATE_ONE};
    }
    return true;
}

static bool
allocate(LaneMatrix *matrix)
{
    size_t width = matrix->width;
    matrix->from_y = calloc((size_t)matrix->model->jac_y.nonzeros + 1, sizeof *matrix->from_y);
    matrix->a = calloc(((size_t)matrix->entries + 1) * width, sizeof *matrix->a);
    matrix->values = calloc(2 * ((size_t)matrix->entries + 1) * width, sizeof *matrix->values);
    matrix->right = calloc(4 * ((size_t)matrix->m + 1) * width, sizeof *matrix->right);
    matrix->work = matrix->right + 2 * ((size_t)matrix->m + 1) * width;
    return matrix->from_y && matrix->a && matrix->values && matrix->right;
}

LaneMatrix *
lane_matrix_create(Run *typical, uint32_t width, double c)
{
    const uint32_t *start, *row, *from_y, *from_yp, *diagonal;
    const double *values;
    Jacobian *jacobian = jacobian_create(typical, false, NULL);
    LaneMatrix *matrix = calloc(1, sizeof *matrix);
    bool good = jacobian && matrix && jacobian_assemble(jacobian, typical, c);
    if (good) {
        *matrix = (LaneMatrix){.model = typical->model, .width = width, .n = typical->model->nx, .m = jacobian_open(jacobian, &start, &row, &values)};
        matrix->entries = start[matrix->m];
        jacobian_places(jacobian, &from_y, &from_yp, &diagonal);
        good = allocate(matrix) && list_rates(matrix, from_yp, diagonal);
    }
    if (good) {
        memcpy(matrix->from_y, from_y, matrix->model->jac_y.nonzeros * sizeof *from_y);
        matrix->b = calloc(((size_t)matrix->rates + 1) * width, sizeof *matrix->b);
        matrix->standing = standing_create(matrix->m, start, row, values);
        good = matrix->b && matrix->standing;
    }
    jacobian_free(&jacobian);
    if (!good)
        lane_matrix_free(&matrix);
    return matrix;
}

void
lane_matrix_free(LaneMatrix **slot)
{
    LaneMatrix *matrix = *slot;
    if (!matrix)
        return;
    standing_free(&matrix->standing);
    for (int k = 0; k < LANE_FACTORS; k++)
        free(matrix->factor[k]);
    free(matrix->from_y);
    free(matrix->rate);
    free(matrix->a);
    free(matrix->b);
    free(matrix->values);
    free(matrix->right);
    free(matrix);
    *slot = NULL;
}

uint32_t
lane_matrix_nonzeros(const LaneMatrix *matrix)
{
    return matrix->entries;
}

// In the runs of the mask to[] := from[], zero where that is no number: as in jacobian.c.
static inline __attribute__((always_inline)) void
take(const uint32_t width, double *to, const double *from, const uint64_t *mask)
{
    for (uint32_t l = 0; l < width; l++) {
        double usable = from[l] - from[l] == 0 ? from[l] : 0;
        to[l] = mask[l] ? usable : to[l];
    }
}

static inline __attribute__((always_inline)) void
load(const uint32_t width, LaneMatrix *matrix, const double *v, const uint64_t *mask)
{
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    const double *y = v + (size_t)matrix->model->jac_y.values * width, *yp = v + (size_t)matrix->model->jac_yp.values * width;
    for (uint32_t k = 0; k < matrix->model->jac_y.nonzeros; k++)
        take(width, matrix->a + (size_t)matrix->from_y[k] * width, y + (size_t)k * width, mask);
    for (uint32_t k = 0; k < matrix->rates; k++)
        take(width, matrix->b + (size_t)k * width, matrix->rate[k].from == RATE_ONE ? ones : yp + (size_t)matrix->rate[k].from * width, mask);
}

WIDE static void
load_wide(LaneMatrix *matrix, const double *v, const uint64_t *mask)
{
    if (matrix->width == 4)
        load(4, matrix, v, mask);
    else
        load(8, matrix, v, mask);
}

void
lane_matrix_load(LaneMatrix *matrix, double *v, const uint64_t *mask)
{
    mdl_call(matrix->model->lanes->jacobian, v);
    load_wide(matrix, v, mask);
}

static inline __attribute__((always_inline)) void
shift(const uint32_t width, LaneMatrix *matrix, const double *real, const double *imaginary)
{
    size_t step = imaginary ? 2 * width : width;
    double *values = matrix->values;
    if (imaginary)
        memset(values, 0, matrix->entries * step * sizeof *values);
    for (uint32_t e = 0; e < matrix->entries; e++)
        memcpy(values + e * step, matrix->a + (size_t)e * width, width * sizeof *values);
    for (uint32_t k = 0; k < matrix->rates; k++) {
        double *at = values + matrix->rate[k].at * step;
        const double *b = matrix->b + (size_t)k * width;
        for (uint32_t l = 0; l < width; l++)
            at[l] += real[l] * b[l];
        for (uint32_t l = 0; l < width && imaginary; l++)
            at[width + l] -= imaginary[l] * b[l];
    }
}

WIDE static void
shift_wide(LaneMatrix *matrix, const double *real, const double *imaginary)
{
    if (matrix->width == 4)
        shift(4, matrix, real, imaginary);
    else
        shift(8, matrix, real, imaginary);
}

void
lane_matrix_factor(LaneMatrix *matrix, uint32_t which, const double *real, const double *imaginary, uint8_t *worn)
{
    double **factor = &matrix->factor[which];
    if (!*factor)
        *factor = malloc((standing_places(matrix->standing) + 1) * matrix->width * (imaginary ? 2 : 1) * sizeof **factor);
    if (!*factor) {
        memset(worn, 1, matrix->width * sizeof *worn);
        return;
    }
    shift_wide(matrix, real, imaginary);
    standing_factor_shifted(matrix->standing, matrix->width, imaginary != NULL, matrix->values, *factor, worn);
}

// right += B x, which stands in all columns of `right`, or in every second one.
static inline __attribute__((always_inline)) void
multiply(const uint32_t width, const LaneMatrix *matrix, const double *x, size_t step, double *right)
{
    if (matrix->plain) {
        for (uint32_t k = 0; k < matrix->n; k++)
            memcpy(right + k * step, x + (size_t)k * width, width * sizeof *x);
        return;
    }
    for (uint32_t k = 0; k < matrix->rates; k++) {
        double *to = right + matrix->rate[k].row * step;
        const double *b = matrix->b + (size_t)k * width, *from = x + (size_t)matrix->rate[k].column * width;
        for (uint32_t l = 0; l < width; l++)
            to[l] += b[l] * from[l];
    }
}

static inline __attribute__((always_inline)) void
solve(const uint32_t width, LaneMatrix *matrix, uint32_t which, double *x, double *y)
{
    size_t step = y ? 2 * width : width;
    double *right = matrix->right;
    memset(right, 0, matrix->m * step * sizeof *right);
    multiply(width, matrix, x, step, right);
    if (y)
        multiply(width, matrix, y, step, right + width);
    standing_solve_shifted(matrix->standing, width, y != NULL, matrix->factor[which], right, matrix->work);
    for (uint32_t k = 0; k < matrix->n; k++) {
        memcpy(x + (size_t)k * width, right + k * step, width * sizeof *x);
        if (y)
            memcpy(y + (size_t)k * width, right + k * step + width, width * sizeof *y);
    }
}

WIDE static void
solve_wide(LaneMatrix *matrix, uint32_t which, double *x, double *y)
{
    if (matrix->width == 4)
        solve(4, matrix, which, x, y);
    else
        solve(8, matrix, which, x, y);
}

void
lane_matrix_solve(LaneMatrix *matrix, uint32_t which, double *x, double *y)
{
    if (matrix->factor[which])
        solve_wide(matrix, which, x, y);
}
