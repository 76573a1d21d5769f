// rank.c: complete orthogonal decomposition of a dense matrix.
//
// Purpose: systems with dependent equations (redundant constraints): their rank, shortest least-squares solutions,
//          null vectors for messages, and which rows depend on each other.
// Method: rows are scaled to largest entry 1 (in the units of the columns; those that are rounding count as zero), then A P = Q R by Householder
//         reflections with column pivoting (Businger and Golub, Numer. Math. 7 (1965) 269), then the leading rows
//         of R are triangularised from the right, A P = Q [L 0; 0 0] Z (Golub and Van Loan, Matrix Computations,
//         5.5.2). Orthogonal transformations do not let pivots grow, so that a small pivot means a small
//         distance to a matrix of that rank but for contrived cases.
// Contract: rank.h. Complexity: O(rows * columns * min(rows, columns)).
#include "runtime/linear/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Beside the largest entry: products of two roundings, which is what is left of the directions that a mechanism in a plane does
// not have. Scaled up to 1 they would be equations like the others.
static const double NOTHING = 1e-30;
// No quantity: what multiplies a number that stands for infinity (a diameter of 1e60 m). Beside its row the others are not nothing.
static const double ENDLESS = 1e50;

struct Rank {
    uint32_t rows, columns, rank;
    double *a;         // rows x columns by columns: R, and below it the reflections of Q
    double *tau;       // their factors
    double *z;         // columns x columns by columns: row i of L's transpose, and the reflections of Z
    double *ztau;
    double *row_scale, *column_scale;
    double *work;      // the larger of rows and columns
    uint32_t *order;   // column of A at position k
    double gap;
};

Rank *
rank_create(uint32_t rows, uint32_t columns)
{
    Rank *rank = calloc(1, sizeof *rank);
    size_t m = rows, n = columns, most = m > n ? m : n;
    if (!rank)
        return NULL;
    rank->rows = rows;
    rank->columns = columns;
    rank->a = calloc(m * n + 1, sizeof *rank->a);
    rank->z = calloc(n * n + 1, sizeof *rank->z);
    rank->tau = calloc(4 * most + m + n + 1, sizeof *rank->tau);
    rank->order = calloc(n + 1, sizeof *rank->order);
    if (!rank->a || !rank->z || !rank->tau || !rank->order) {
        rank_free(&rank);
        return NULL;
    }
    rank->ztau = rank->tau + most;
    rank->work = rank->ztau + most;
    rank->row_scale = rank->work + 2 * most;
    rank->column_scale = rank->row_scale + m;
    return rank;
}

void
rank_free(Rank **slot)
{
    Rank *rank = *slot;
    if (!rank)
        return;
    free(rank->a);
    free(rank->z);
    free(rank->tau);
    free(rank->order);
    free(rank);
    *slot = NULL;
}

double *
rank_matrix(Rank *rank)
{
    return rank->a;
}

uint32_t
rank_value(const Rank *rank)
{
    return rank->rank;
}

// fmax() of the C library is a call, with care for NaN that is not needed here.
static double
larger(double a, double b)
{
    return b > a ? b : a;
}

// Four partial sums, so that additions need not wait for each other.
static double
dot(const double *x, const double *y, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += x[i + k] * y[i + k];
    for (; i < n; i++)
        sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Entries are at most of the order of n after scaling, so that squares cannot overflow; where they are so small that
// squares lose digits, they are scaled up first.
static double
length_of(const double *x, size_t n)
{
    double sum = dot(x, x, n), most = 0;
    if (sum > 1e-200)
        return sqrt(sum);
    for (size_t i = 0; i < n; i++)
        most = larger(most, fabs(x[i]));
    sum = 0;
    for (size_t i = 0; i < n && most > 0; i++)
        sum += (x[i] / most) * (x[i] / most);
    return most * sqrt(sum);
}

// Turns x into a multiple of the first unit vector: x[0] becomes it, x[1..] the reflection's vector (first entry 1).
static double
reflection(double *x, size_t n)
{
    double tail = n > 1 ? length_of(x + 1, n - 1) : 0;
    if (tail == 0)
        return 0;
    double length = hypot(x[0], tail), first = x[0] > 0 ? -length : length;
    double tau = (first - x[0]) / first, divisor = x[0] - first;
    for (size_t i = 1; i < n; i++)
        x[i] /= divisor;
    x[0] = first;
    return tau;
}

// y := (1 - tau v v') y with v = (1, vector[1..]).
static void
reflect(const double *vector, double tau, double *y, size_t n)
{
    double along = n ? tau * (y[0] + dot(vector + 1, y + 1, n - 1)) : 0;
    if (along == 0)
        return;
    y[0] -= along;
    for (size_t i = 1; i < n; i++)
        y[i] -= along * vector[i];
}

static bool
scale_matrix(Rank *rank, const double *scale)
{
    size_t m = rank->rows, n = rank->columns;
    memset(rank->row_scale, 0, m * sizeof *rank->row_scale);
    for (size_t j = 0; j < n; j++) {
        double unit = scale ? fabs(scale[j]) : 1;
        rank->column_scale[j] = unit > 0 && isfinite(unit) ? unit : 1;
        for (size_t i = 0; i < m; i++) {
            double *entry = &rank->a[j * m + i];
            *entry *= rank->column_scale[j];
            if (!isfinite(*entry))
                return false;
            rank->row_scale[i] = larger(rank->row_scale[i], fabs(*entry));
        }
    }
    double largest = 0;
    for (size_t i = 0; i < m; i++)
        if (rank->row_scale[i] < ENDLESS)
            largest = larger(largest, rank->row_scale[i]);
    for (size_t i = 0; i < m; i++)
        rank->row_scale[i] = rank->row_scale[i] > largest * NOTHING ? 1 / rank->row_scale[i] : 0;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            rank->a[j * m + i] *= rank->row_scale[i];
    return true;
}

// The means of the logarithms of the entries of rows (then columns) become zero in turn: Gauss-Seidel steps towards the least
// squares of all logarithms (Curtis and Reid, J. Inst. Maths Applics 10 (1972) 118).
// Only what is more than rounding beside its row counts; its logarithms are taken once.
bool
rank_balance(const Rank *rank, double *scale)
{
    enum { SWEEPS = 40 };
    typedef struct { double logarithm; size_t row, column; } Entry;
    const double rounding = 1e-14;
    size_t m = rank->rows, n = rank->columns, entries = 0;
    double *row = rank->row_scale, *least = rank->work, *in_row = rank->work + m, *in_column = rank->column_scale;
    memset(rank->work, 0, 2 * m * sizeof *rank->work);
    memset(in_column, 0, n * sizeof *in_column);
    memset(scale, 0, n * sizeof *scale);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            least[i] = larger(least[i], fabs(rank->a[j * m + i]) * rounding);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            entries += fabs(rank->a[j * m + i]) > least[i];
    Entry *entry = calloc(entries + 1, sizeof *entry), *end = entry;
    if (!entry)
        return false;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++)
            if (fabs(rank->a[j * m + i]) > least[i]) {
                *end++ = (Entry){log(fabs(rank->a[j * m + i])), i, j};
                in_row[i]++;
                in_column[j]++;
            }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        memset(row, 0, m * sizeof *row);
        for (const Entry *e = entry; e < end; e++)
            row[e->row] -= (e->logarithm + scale[e->column]) / in_row[e->row];
        memset(scale, 0, n * sizeof *scale);
        for (const Entry *e = entry; e < end; e++)
            scale[e->column] -= (e->logarithm + row[e->row]) / in_column[e->column];
    }
    free(entry);
    for (size_t j = 0; j < n; j++)
        scale[j] = exp(scale[j]);
    return true;
}

static void
swap_columns(Rank *rank, size_t j, size_t k)
{
    size_t m = rank->rows;
    for (size_t i = 0; i < m && j != k; i++) {
        double kept = rank->a[j * m + i];
        rank->a[j * m + i] = rank->a[k * m + i];
        rank->a[k * m + i] = kept;
    }
    uint32_t column = rank->order[j];
    rank->order[j] = rank->order[k];
    rank->order[k] = column;
}

// Lengths of what is left of the columns are computed anew each time: downdating them loses exactly the digits that
// decide about the rank.
static size_t
longest_column(const Rank *rank, size_t k, double *length)
{
    size_t m = rank->rows, best = k;
    *length = -1;
    for (size_t j = k; j < rank->columns; j++) {
        double size = length_of(rank->a + j * m + k, m - k);
        if (size > *length) {
            *length = size;
            best = j;
        }
    }
    return best;
}

// Row i < rank of R, from its diagonal on, becomes a multiple of a unit vector from the right.
static void
triangularise(Rank *rank)
{
    size_t m = rank->rows, n = rank->columns, r = rank->rank;
    // z holds the transpose of the leading rows: column i is row i of R. Its QR factorisation is that from the right.
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < n; j++)
            rank->z[i * n + j] = j < i ? 0 : rank->a[j * m + i];
    for (size_t i = 0; i < r; i++) {
        rank->ztau[i] = reflection(rank->z + i * n + i, n - i);
        for (size_t k = i + 1; k < r; k++)
            reflect(rank->z + i * n + i, rank->ztau[i], rank->z + k * n + i, n - i);
    }
}

bool
rank_factor(Rank *rank, const double *scale, double tolerance, uint32_t most)
{
    size_t m = rank->rows, n = rank->columns, steps = m < n ? m : n;
    double largest = 0;
    if (!scale_matrix(rank, scale))
        return false;
    for (size_t j = 0; j < n; j++)
        rank->order[j] = (uint32_t)j;
    rank->rank = 0;
    rank->gap = 0;
    for (size_t k = 0; k < steps; k++) {
        double length;
        size_t best = longest_column(rank, k, &length);
        largest = k ? largest : length;
        if (!(length > tolerance * largest) || !(length > 0) || k >= most) {
            rank->gap = largest > 0 ? length / largest : 0;
            break;
        }
        swap_columns(rank, k, best);
        rank->tau[k] = reflection(rank->a + k * m + k, m - k);
        for (size_t j = k + 1; j < n; j++)
            reflect(rank->a + k * m + k, rank->tau[k], rank->a + j * m + k, m - k);
        rank->rank++;
    }
    triangularise(rank);
    return true;
}

uint32_t
rank_pivot(const Rank *rank, uint32_t k)
{
    return rank->order[k];
}

void
rank_solve(Rank *rank, const double *b, double *x)
{
    size_t m = rank->rows, n = rank->columns, r = rank->rank;
    double *y = rank->work, *t = y + (m > n ? m : n);
    for (size_t i = 0; i < m; i++)
        y[i] = b[i] * rank->row_scale[i];
    for (size_t k = 0; k < r; k++)
        reflect(rank->a + k * m + k, rank->tau[k], y + k, m - k);
    // R1 = (Z T)' with T upper triangular in z: T' t = y, then x = Z t.
    memset(t, 0, n * sizeof *t);
    for (size_t i = 0; i < r; i++) {
        double sum = y[i];
        for (size_t k = 0; k < i; k++)
            sum -= rank->z[i * n + k] * t[k];
        t[i] = sum / rank->z[i * n + i];
    }
    for (size_t k = r; k-- > 0;)
        reflect(rank->z + k * n + k, rank->ztau[k], t + k, n - k);
    for (size_t j = 0; j < n; j++)
        x[rank->order[j]] = t[j] * rank->column_scale[rank->order[j]];
}

static void
normalise(double *x, size_t n)
{
    double most = 0, sign = 1;
    for (size_t i = 0; i < n; i++)
        if (fabs(x[i]) > most * (1 + 1e-9)) {
            most = fabs(x[i]);
            sign = x[i] < 0 ? -1 : 1;
        }
    for (size_t i = 0; i < n && most > 0; i++)
        x[i] *= sign / most;
}

void
rank_null(Rank *rank, uint32_t k, double *x)
{
    size_t m = rank->rows, n = rank->columns, r = rank->rank;
    double *t = rank->work;
    memset(t, 0, n * sizeof *t);
    t[r + k] = 1;
    for (size_t i = r; i-- > 0;) {
        double sum = -rank->a[(r + k) * m + i];
        for (size_t j = i + 1; j < r; j++)
            sum -= rank->a[j * m + i] * t[j];
        t[i] = sum / rank->a[i * m + i];
    }
    for (size_t j = 0; j < n; j++)
        x[rank->order[j]] = t[j] * rank->column_scale[rank->order[j]];
    normalise(x, n);
}

uint32_t
rank_free_unknown(const Rank *rank, uint32_t k)
{
    return rank->order[rank->rank + k];
}

void
rank_kernel(Rank *rank, uint32_t k, double *x)
{
    size_t n = rank->columns, r = rank->rank;
    double *t = rank->work;
    memset(t, 0, n * sizeof *t);
    t[r + k] = 1;
    for (size_t i = r; i-- > 0;)
        reflect(rank->z + i * n + i, rank->ztau[i], t + i, n - i);
    for (size_t j = 0; j < n; j++)
        x[rank->order[j]] = t[j] * rank->column_scale[rank->order[j]];
}

// Of the scaled rows.
static void
vanishing_rows(const Rank *rank, uint32_t k, double *w)
{
    size_t m = rank->rows, r = rank->rank;
    memset(w, 0, m * sizeof *w);
    w[r + k] = 1;
    for (size_t i = r; i-- > 0;)
        reflect(rank->a + i * m + i, rank->tau[i], w + i, m - i);
}

void
rank_cokernel(Rank *rank, uint32_t k, double *w)
{
    vanishing_rows(rank, k, w);
    for (size_t i = 0; i < rank->rows; i++)
        w[i] *= rank->row_scale[i] > 0 ? rank->row_scale[i] : 1; // a row of zeros vanishes in any size
}
