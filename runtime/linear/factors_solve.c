// factors_solve.c: solutions with sparse triangular factors.
//
// Purpose: most of a large model's steps are triangular solutions.
// Method: blocks from the last one on; L and U column by column. Of a block that is divided (division.c) parts are solved with L by whichever thread comes first, what they
//         contribute to the border is added up in the order of parts, the border is solved, and then parts with U.
// Contract: see factors.h. Complexity: one product per entry of L, U and F.
#include <string.h>

#include "runtime/linear/factors_inner.h"

enum { RANGES = 16 };

typedef struct Solution {
    const Factors *factors;
    const Segment *segment;
    double *b;
} Solution;

static void
solve_block(const Factors *factors, int32_t first, int32_t end, double *restrict x)
{
    const int32_t *restrict start = factors->l_start, *restrict row = factors->l_row;
    const double *restrict value = factors->l, *restrict reciprocal = factors->reciprocal;
    int32_t at = start[first];
    for (int32_t k = first; k < end; k++) {
        double solved = x[k];
        for (int32_t to = start[k + 1]; at < to; at++)
            x[row[at]] -= value[at] * solved;
    }
    start = factors->u_start;
    row = factors->u_row;
    value = factors->u;
    at = start[end];
    for (int32_t k = end; k-- > first;) {
        double solved = x[k] * reciprocal[k];
        x[k] = solved;
        for (int32_t to = start[k]; at > to;) {
            at--;
            x[row[at]] -= value[at] * solved;
        }
    }
}

static void
subtract_above(const Factors *factors, int32_t first, int32_t end, double *restrict x)
{
    int32_t at = factors->f_start[first];
    for (int32_t k = first; k < end; k++)
        for (int32_t to = factors->f_start[k + 1]; at < to; at++)
            x[factors->f_row[at]] -= factors->f[at] * x[k];
}

static void
solve_blocks(const Factors *factors, int32_t first_block, int32_t end_block, double *x)
{
    for (int32_t block = end_block; block-- > first_block;) {
        int32_t first = factors->block[block], end = factors->block[block + 1];
        solve_block(factors, first, end, x);
        if (block > 0)
            subtract_above(factors, first, end, x);
    }
}

// L of a part. What it contributes to the rows of the border goes to the part's sums.
static void
solve_lower(void *context, size_t part)
{
    const Solution *solution = context;
    const Segment *segment = solution->segment;
    const int32_t *restrict start = solution->factors->l_start, *restrict row = solution->factors->l_row;
    const double *restrict value = solution->factors->l;
    double *restrict x = solution->factors->work, *restrict sum = segment->sum + part * (size_t)(segment->end - segment->border);
    int32_t at = start[segment->part[part]], border = segment->border;
    for (int32_t k = segment->part[part]; k < segment->part[part + 1]; k++) {
        double solved = x[k];
        for (int32_t to = segment->l_border[k - segment->first]; at < to; at++)
            x[row[at]] -= value[at] * solved;
        for (int32_t to = start[k + 1]; at < to; at++)
            sum[row[at] - border] += value[at] * solved;
    }
}

// U of a part, whose border is solved.
static void
solve_upper(void *context, size_t part)
{
    const Solution *solution = context;
    const Segment *segment = solution->segment;
    const int32_t *restrict start = solution->factors->u_start, *restrict row = solution->factors->u_row;
    const double *restrict value = solution->factors->u, *restrict reciprocal = solution->factors->reciprocal;
    double *restrict x = solution->factors->work;
    for (int32_t k = segment->end; k-- > segment->border;) {
        const int32_t *of = segment->u_part + (size_t)(k - segment->border) * (segment->parts + 1) + part;
        double solved = x[k];
        for (int32_t at = of[1]; at > of[0];) {
            at--;
            x[row[at]] -= value[at] * solved;
        }
    }
    int32_t at = start[segment->part[part + 1]];
    for (int32_t k = segment->part[part + 1]; k-- > segment->part[part];) {
        double solved = x[k] * reciprocal[k];
        x[k] = solved;
        for (int32_t to = start[k]; at > to;) {
            at--;
            x[row[at]] -= value[at] * solved;
        }
    }
}

static void
solve_border(const Solution *solution)
{
    const Factors *factors = solution->factors;
    const Segment *segment = solution->segment;
    const int32_t *restrict row = factors->u_row;
    const double *restrict value = factors->u;
    int32_t border = segment->border, width = segment->end - border;
    double *restrict x = factors->work, *restrict sum = segment->sum;
    for (uint32_t part = 0; part < segment->parts; part++, sum += width)
        for (int32_t k = 0; k < width; k++)
            x[border + k] -= sum[k];
    memset(segment->sum, 0, (size_t)width * segment->parts * sizeof *sum);
    int32_t at = factors->l_start[border];
    for (int32_t k = border; k < segment->end; k++) {
        double solved = x[k];
        for (int32_t to = factors->l_start[k + 1]; at < to; at++)
            x[factors->l_row[at]] -= factors->l[at] * solved;
    }
    for (int32_t k = segment->end; k-- > border;) {
        double solved = x[k] * factors->reciprocal[k];
        x[k] = solved;
        int32_t to = segment->u_part[(size_t)(k - border) * (segment->parts + 1) + segment->parts];
        for (at = factors->u_start[k + 1]; at > to;) {
            at--;
            x[row[at]] -= value[at] * solved;
        }
    }
}

static void
load(void *context, size_t range)
{
    const Solution *solution = context;
    const Factors *factors = solution->factors;
    const int32_t *restrict row_at = factors->row_at;
    const double *restrict scale = factors->scale, *restrict b = solution->b;
    double *restrict x = factors->work;
    for (size_t n = (size_t)factors->n, k = n * range / RANGES; k < n * (range + 1) / RANGES; k++)
        x[k] = b[row_at[k]] * scale[k];
}

static void
store(void *context, size_t range)
{
    const Solution *solution = context;
    const Factors *factors = solution->factors;
    const int32_t *restrict column_at = factors->column_at;
    double *restrict x = factors->work, *restrict b = solution->b;
    for (size_t n = (size_t)factors->n, k = n * range / RANGES; k < n * (range + 1) / RANGES; k++) {
        b[column_at[k]] = x[k];
        x[k] = 0;
    }
}

static void
solve_divided(const Factors *factors, Threads *threads, double *b)
{
    Solution solution = {.factors = factors, .b = b};
    threads_run(threads, load, &solution, RANGES);
    for (int32_t s = factors->segments; s-- > 0;) {
        const Segment *segment = solution.segment = &factors->segment[s];
        if (!segment->parts) {
            solve_blocks(factors, segment->first_block, segment->end_block, factors->work);
            continue;
        }
        threads_run(threads, solve_lower, &solution, segment->parts);
        solve_border(&solution);
        threads_run(threads, solve_upper, &solution, segment->parts);
        if (segment->first_block > 0)
            subtract_above(factors, segment->first, segment->end, factors->work);
    }
    threads_run(threads, store, &solution, RANGES);
}

void
factors_solve(const Factors *factors, Threads *threads, double *b)
{
    if (factors->segments) {
        solve_divided(factors, threads, b);
        return;
    }
    double *restrict x = factors->work;
    const int32_t *restrict row_at = factors->row_at, *restrict column_at = factors->column_at;
    const double *restrict scale = factors->scale;
    int32_t n = factors->n;
    for (int32_t k = 0; k < n; k++)
        x[k] = b[row_at[k]] * scale[k];
    solve_blocks(factors, 0, factors->blocks, x);
    for (int32_t k = 0; k < n; k++) {
        b[column_at[k]] = x[k];
        x[k] = 0;
    }
}
