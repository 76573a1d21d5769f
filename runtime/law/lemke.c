// lemke.c: complementarity problems by pivoting, for those in which Newton's method goes around in circles.
//
// Purpose: an answer where the faster methods of complementarity.c find none.
// Method: friction on lines becomes part of a linear complementarity problem: with z = alpha - a and s = s+ - s-,
//             0 <= alpha complementary to s+ >= 0,    0 <= s- complementary to 2*a - alpha >= 0
//         (Glocker, Set-Valued Force Laws, 2001, chapter 6), which Lemke's pivots solve (Cottle, Pang, Stone, The Linear Complementarity
//         Problem, 1992, algorithm 4.4.5) also where friction makes the matrix neither symmetric nor positive definite, as
//         long as it is copositive. Ties of the ratio test go to the largest pivot.
// Contract: complementarity.h. Complexity: N^2 per pivot with N = reactions + 2*frictions, mostly about N pivots.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/complementarity.h"

static const double TIE = 1e-12;     // of a ratio: equally small
static const double NONE = 1e-11;    // of the tableau's entries: no pivot

typedef struct Tableau {
    uint32_t n, width;   // of unknowns x; w and x and the covering one and the right side
    double *at;          // n x width by rows
    uint32_t *basic;     // n: the column that each row determines
} Tableau;

// Columns: w (n), x (n), the covering unknown, the right side.
static double *
cell(const Tableau *tableau, uint32_t i, uint32_t j)
{
    return &tableau->at[(size_t)i * tableau->width + j];
}

static void
pivot(Tableau *tableau, uint32_t row, uint32_t column)
{
    double *from = cell(tableau, row, 0), by = from[column];
    for (uint32_t j = 0; j < tableau->width; j++)
        from[j] /= by;
    for (uint32_t i = 0; i < tableau->n; i++) {
        double *to = cell(tableau, i, 0), factor = to[column];
        if (i == row || factor == 0)
            continue;
        for (uint32_t j = 0; j < tableau->width; j++)
            to[j] -= factor * from[j];
        to[column] = 0;
    }
    tableau->basic[row] = column;
}

// The row that bounds the growth of `column` first; the covering unknown leaves when it may. n: none.
static uint32_t
bounding_row(const Tableau *tableau, uint32_t column)
{
    uint32_t best = tableau->n, cover = 2 * tableau->n;
    double least = INFINITY;
    for (uint32_t i = 0; i < tableau->n; i++) {
        double by = *cell(tableau, i, column), ratio = fmax(*cell(tableau, i, cover + 1), 0) / by;
        if (!(by > NONE))
            continue;
        double slack = TIE * fmax(fabs(least), 1);
        bool less = best == tableau->n || ratio < least - slack, tie = !less && ratio <= least + slack;
        bool better = tie && tableau->basic[best] != cover
            && (tableau->basic[i] == cover || by > *cell(tableau, best, column));
        if (less || better)
            best = i;
        if (less)
            least = ratio;
    }
    return best;
}

static bool
run_pivots(Tableau *tableau)
{
    uint32_t n = tableau->n, cover = 2 * n, first = 0;
    for (uint32_t i = 1; i < n; i++)
        if (*cell(tableau, i, cover + 1) < *cell(tableau, first, cover + 1))
            first = i;
    if (*cell(tableau, first, cover + 1) >= 0)
        return true;
    uint32_t leaving = tableau->basic[first];
    pivot(tableau, first, cover);
    for (uint32_t k = 0; k < 50 * n + 100; k++) {
        uint32_t entering = leaving < n ? leaving + n : leaving - n;
        uint32_t row = bounding_row(tableau, entering);
        if (row == n)
            return false;
        leaving = tableau->basic[row];
        pivot(tableau, row, entering);
        if (leaving == cover)
            return true;
    }
    return false;
}

// Entry (i, j) of the linear complementarity problem's matrix; `place` are the unknowns alpha of frictions, `twin` their s-.
static void
fill(Tableau *tableau, uint32_t n, const uint8_t *kind, const double *m, const double *limit, const double *offset,
     const uint32_t *twin)
{
    uint32_t size = tableau->n, cover = 2 * size;
    for (uint32_t i = 0; i < size; i++) {
        *cell(tableau, i, i) = 1;
        *cell(tableau, i, cover) = -1;
        tableau->basic[i] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double entry = m[(size_t)i * n + j];
            for (uint32_t k = 0; k < n && kind[j] == COMPLEMENT_PUSH; k++)
                if (kind[k] == COMPLEMENT_RUB)
                    entry -= m[(size_t)i * n + k] * limit[(size_t)k * n + j];
            *cell(tableau, i, size + j) = -entry;
        }
        *cell(tableau, i, cover + 1) = offset[i];
        if (kind[i] != COMPLEMENT_RUB)
            continue;
        *cell(tableau, i, size + twin[i]) = -1;
        for (uint32_t j = 0; j < n; j++)
            if (kind[j] == COMPLEMENT_PUSH)
                *cell(tableau, twin[i], size + j) = -2 * limit[(size_t)i * n + j];
        *cell(tableau, twin[i], size + i) = 1;
    }
}

static void
read_sides(const Tableau *tableau, uint32_t n, const uint8_t *kind, const uint32_t *twin, int8_t *side)
{
    memset(side, 0, n);
    for (uint32_t i = 0; i < n; i++)
        side[i] = kind[i] == COMPLEMENT_RUB ? -1 : 0; // alpha = 0 unless it is found below
    for (uint32_t row = 0; row < tableau->n; row++) {
        uint32_t x = tableau->basic[row] - tableau->n;
        if (tableau->basic[row] >= tableau->n && x < n)
            side[x] = kind[x] == COMPLEMENT_PUSH;
    }
    // s- > 0, or s- may be: the other side.
    for (uint32_t row = 0; row < tableau->n; row++)
        for (uint32_t i = 0; i < n; i++)
            if (kind[i] == COMPLEMENT_RUB && tableau->basic[row] == tableau->n + twin[i])
                side[i] = 1;
}

bool
lemke_solve(uint32_t n, const uint8_t *kind, const double *m, const double *limit, const double *offset, int8_t *side)
{
    Tableau tableau = {.n = n};
    uint32_t *twin = calloc((size_t)n + 1, sizeof *twin);
    for (uint32_t i = 0; twin && i < n; i++)
        if (kind[i] == COMPLEMENT_RUB)
            twin[i] = tableau.n++;
    tableau.width = 2 * tableau.n + 2;
    tableau.at = calloc((size_t)tableau.n * tableau.width + 1, sizeof *tableau.at);
    tableau.basic = calloc((size_t)tableau.n + 1, sizeof *tableau.basic);
    bool solved = twin && tableau.at && tableau.basic;
    if (solved) {
        fill(&tableau, n, kind, m, limit, offset, twin);
        solved = run_pivots(&tableau);
    }
    if (solved)
        read_sides(&tableau, n, kind, twin, side);
    free(twin);
    free(tableau.at);
    free(tableau.basic);
    return solved;
}
