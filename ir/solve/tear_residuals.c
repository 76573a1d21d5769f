// tear_residuals.c: pair: residuals and tears of a large loop.
//
// Purpose: a matrix of the tears with a full diagonal and a pattern as symmetric as the loop allows.
// Method: a residual prefers the tears that it uses through most unknowns: greedy maximum matching over rows in
// the order of preference, completed by augmenting paths (match.c). What cannot be matched (then the matrix is
// structurally singular) takes what is left over.
// Contract: tear_residuals.h. Complexity: that of matching, plus sorting the uses of each residual.
//
//     i1 + i2 + i3 = 0 with i1(p, a), i2(p, b), i3(p, c)    goes with p
#include "ir/solve/tear_residuals.h"

#include "ir/structure/problem.h"

typedef struct Use {
    uint32_t tear, count;
} Use;

static int
by_count(const void *a, const void *b)
{
    const Use *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->tear < y->tear ? -1 : x->tear > y->tear;
}

// The distinct tears of one residual, most used first. `seen` is zero before and after, one entry per tear.
static void
append_row(const PairInput *input, uint32_t r, uint32_t *seen, Incidence *incidence)
{
    VEC(Use) row = {0};
    for (uint32_t k = input->start.at[r]; k < input->start.at[r + 1]; k++) {
        uint32_t tear = input->uses.at[k];
        if (!seen[tear]) {
            vec_push(&row, (Use){tear, 0});
            seen[tear] = row.n;
        }
        row.at[seen[tear] - 1].count++;
    }
    if (row.n)
        qsort(row.at, row.n, sizeof *row.at, by_count);
    vec_push(&incidence->start, incidence->column.n);
    for (uint32_t k = 0; k < row.n; k++) {
        seen[row.at[k].tear] = 0;
        vec_push(&incidence->column, row.at[k].tear);
    }
    vec_push(&incidence->match_end, incidence->column.n);
    vec_free(&row);
}

void
tearing_pair(PairInput *input, U32Vec *residuals)
{
    Problem problem = {0};
    uint32_t n = input->tears, *seen = base_calloc((size_t)n + 1, sizeof *seen);
    for (uint32_t r = 0; r < n; r++)
        append_row(input, r, seen, &problem.incidence);
    vec_push(&problem.incidence.start, problem.incidence.column.n);
    free(seen);
    vec_free(&input->start);
    vec_free(&input->uses);
    vec_append(&problem.equations, residuals->at, n);
    problem_match(&problem, n, NULL);
    uint32_t next = 0; // the residuals without a tear of their own, in order
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = problem.equation_of.at[k];
        if (r == NONE) {
            while (problem.var_of.at[next] != NONE)
                next++;
            r = next++;
        }
        residuals->at[k] = problem.equations.at[r];
    }
    problem_free(&problem);
}
