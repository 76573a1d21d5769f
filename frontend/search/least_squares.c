// least_squares.c: Levenberg and Marquardt's method within bounds.
//
// Purpose: few evaluations, each of which is a run of a model with its sensitivities, and bounds that hold at every one of them.
// Method: a step minimises |r + J d|^2 + lambda |D d|^2 with D the largest column norms so far (More, Lecture Notes in Mathematics 630
//   (1978) 105); lambda follows the ratio of the reduction to what was predicted (Nielsen, IMM-REP-1999-05). Quantities at a bound towards
//   which the gradient pulls are held; a step that meets a bound puts that quantity onto it and is computed anew for the others
//   (projected steps: Kanzow, Yamashita, Fukushima, J. Comput. Appl. Math. 172 (2004) 375). All of it works on the triangular factor of
//   [J r], so that many data cost one factorisation for each accepted step. No library of Debian has this: MINPACK and GSL have no bounds,
//   NLopt none for sums of squares, and Ceres is larger than all of mdlc.
//   The covariance is that of the singular values of J with columns of equal length; values that rounding and the
//   accuracy of runs cannot tell from zero say which combinations of quantities the functions do not depend on.
// Contract: least_squares.h. Complexity: per step one evaluation, m n^2 for the factor, n^3 for each trial.
#include "frontend/search/least_squares.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

static const double GAIN = 1e-10;      // of the sum: a reduction that is worth nothing
static const double STEP = 1e-10;      // of the quantities
static const double SLOPE = 1e-9;      // cosine between the functions and what a quantity changes
static const double LAMBDA_MOST = 1e16;

typedef struct Factor {
    uint32_t n;
    double *r;      // (n + 1) x (n + 1) by columns, upper triangle: of [J r]
    double *copy;   // m x (n + 1)
    double *tau, *work;
} Factor;

typedef struct Marquardt {
    LeastSquares *problem;
    Factor factor;
    double *scale;      // D
    double *gradient;   // J^T r
    double *step, *trial, *residual, *jacobian; // of the trial
    double *matrix, *right; // of the damped system
    bool *held;
    double lambda, more;
} Marquardt;

static double
square_sum(const double *a, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sum;
}

// --- the triangular factor

static void
factor_make(const LeastSquares *p, Factor *f)
{
    int m = (int)p->m, columns = (int)p->n + 1, work = 64 * columns, info;
    memcpy(f->copy, p->jacobian, (size_t)p->m * p->n * sizeof *f->copy);
    memcpy(f->copy + (size_t)p->m * p->n, p->residual, p->m * sizeof *f->copy);
    p->lapack->dgeqrf(&m, &columns, f->copy, &m, f->tau, f->work, &work, &info);
    memset(f->r, 0, (size_t)columns * (size_t)columns * sizeof *f->r);
    for (uint32_t j = 0; j <= p->n; j++)
        for (uint32_t i = 0; i <= j && i < p->m; i++)
            f->r[(size_t)j * (p->n + 1) + i] = f->copy[(size_t)j * p->m + i];
}

static void
factor_create(Factor *f, uint32_t m, uint32_t n)
{
    *f = (Factor){.n = n, .r = base_calloc((size_t)(n + 1) * (n + 1), sizeof *f->r), .copy = base_calloc((size_t)m * (n + 1), sizeof *f->copy),
                  .tau = base_calloc(n + 2, sizeof *f->tau), .work = base_calloc(64 * ((size_t)n + 1), sizeof *f->work)};
}

static void
factor_free(Factor *f)
{
    free(f->r);
    free(f->copy);
    free(f->tau);
    free(f->work);
}

// --- a step

// The step of the quantities that are not held, given what the held ones do in `step`.
static bool
solve_damped(Marquardt *q)
{
    const LeastSquares *p = q->problem;
    const double *r = q->factor.r;
    uint32_t n = p->n, rows = n + 1, free_ones = 0;
    for (uint32_t j = 0; j < n; j++)
        free_ones += !q->held[j];
    int height = (int)(rows + free_ones), width = (int)free_ones, one = 1, work = 64 * (int)(n + 1), info;
    if (!free_ones)
        return true;
    memset(q->matrix, 0, (size_t)height * free_ones * sizeof *q->matrix);
    memset(q->right, 0, (size_t)height * sizeof *q->right);
    for (uint32_t i = 0; i < rows; i++)
        q->right[i] = -r[(size_t)n * rows + i];
    for (uint32_t j = 0, k = 0; j < n; j++) {
        if (q->held[j]) {
            for (uint32_t i = 0; i <= j; i++)
                q->right[i] -= r[(size_t)j * rows + i] * q->step[j];
            continue;
        }
        double *column = q->matrix + (size_t)k * (size_t)height;
        memcpy(column, r + (size_t)j * rows, rows * sizeof *column);
        column[rows + k] = sqrt(q->lambda) * q->scale[j];
        k++;
    }
    p->lapack->dgels("N", &height, &width, &one, q->matrix, &height, q->right, &height, q->factor.work, &work, &info, 1);
    for (uint32_t j = 0, k = 0; j < n && !info; j++)
        if (!q->held[j])
            q->step[j] = q->right[k++];
    return info == 0;
}

// Quantities that would leave their bounds come onto them, one set after the other.
static bool
find_step(Marquardt *q)
{
    const LeastSquares *p = q->problem;
    for (uint32_t j = 0; j < p->n; j++) {
        q->step[j] = 0;
        q->held[j] = (p->x[j] <= p->low[j] && q->gradient[j] > 0) || (p->x[j] >= p->high[j] && q->gradient[j] < 0);
    }
    for (uint32_t pass = 0; pass <= p->n; pass++) {
        bool met = false;
        if (!solve_damped(q))
            return false;
        for (uint32_t j = 0; j < p->n; j++) {
            double to = p->x[j] + q->step[j], within = fmin(fmax(to, p->low[j]), p->high[j]);
            if (q->held[j] || to == within)
                continue;
            q->step[j] = within - p->x[j];
            q->held[j] = met = true;
        }
        if (!met)
            break;
    }
    for (uint32_t j = 0; j < p->n; j++)
        q->trial[j] = fmin(fmax(p->x[j] + q->step[j], p->low[j]), p->high[j]);
    return true;
}

// By how much the linear functions make the sum smaller.
static double
predict(const Marquardt *q)
{
    const double *r = q->factor.r;
    uint32_t n = q->problem->n, rows = n + 1;
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++) {
        double value = r[(size_t)n * rows + i];
        for (uint32_t j = i; j < n; j++)
            value += r[(size_t)j * rows + i] * q->step[j];
        sum += value * value;
    }
    return q->problem->sum - sum;
}

static void
take_derivatives(Marquardt *q)
{
    const LeastSquares *p = q->problem;
    factor_make(p, &q->factor);
    for (uint32_t j = 0; j < p->n; j++) {
        const double *column = p->jacobian + (size_t)j * p->m;
        double norm = sqrt(square_sum(column, p->m)), dot = 0;
        for (uint32_t i = 0; i < p->m; i++)
            dot += column[i] * p->residual[i];
        q->gradient[j] = dot;
        q->scale[j] = fmax(q->scale[j], norm);
    }
    double most = 0;
    for (uint32_t j = 0; j < p->n; j++)
        most = fmax(most, q->scale[j]);
    for (uint32_t j = 0; j < p->n; j++) // what nothing depends on has to stand somewhere
        q->scale[j] = q->scale[j] > 0 ? q->scale[j] : most > 0 ? most : 1;
}

// No quantity that may move pulls.
static bool
is_level(const Marquardt *q)
{
    const LeastSquares *p = q->problem;
    double size = sqrt(p->sum);
    for (uint32_t j = 0; j < p->n; j++) {
        bool held = (p->x[j] <= p->low[j] && q->gradient[j] > 0) || (p->x[j] >= p->high[j] && q->gradient[j] < 0);
        double norm = sqrt(square_sum(p->jacobian + (size_t)j * p->m, p->m));
        if (!held && fabs(q->gradient[j]) > SLOPE * norm * size)
            return false;
    }
    return true;
}

static bool
is_short(const Marquardt *q)
{
    const LeastSquares *p = q->problem;
    for (uint32_t j = 0; j < p->n; j++)
        if (fabs(q->step[j]) > STEP * (fabs(p->x[j]) + DBL_MIN))
            return false;
    return true;
}

static void
accept(Marquardt *q, double sum, double ratio)
{
    LeastSquares *p = q->problem;
    memcpy(p->x, q->trial, p->n * sizeof *p->x);
    memcpy(p->residual, q->residual, p->m * sizeof *p->residual);
    memcpy(p->jacobian, q->jacobian, (size_t)p->m * p->n * sizeof *p->jacobian);
    p->sum = sum;
    q->lambda *= fmax(1.0 / 9, 1 - pow(2 * ratio - 1, 3));
    q->lambda = fmax(q->lambda, 1e-16);
    q->more = 2;
}

// One step from x on, tried with more and more damping. SEARCH_LIMIT: there was one, and the search goes on.
static SearchEnd
advance(Marquardt *q)
{
    LeastSquares *p = q->problem;
    SearchEnd end;
    for (;;) {
        if (!find_step(q))
            return SEARCH_STUCK;
        double predicted = predict(q);
        if (is_short(q) || !(predicted > GAIN * p->sum))
            return SEARCH_FOUND;
        if (p->ended(p->user, &end))
            return end;
        bool good = p->evaluate(p->user, q->trial, q->residual, p->apart ? NULL : q->jacobian);
        double sum = good ? square_sum(q->residual, p->m) : INFINITY, ratio = (p->sum - sum) / predicted;
        if (isfinite(sum) && ratio > 1e-4 && (!p->apart || p->evaluate(p->user, q->trial, q->residual, q->jacobian))) {
            accept(q, sum, ratio);
            return SEARCH_LIMIT;
        }
        q->lambda = fmax(q->lambda, 1e-12) * q->more;
        q->more *= 2;
        // What derivatives promise is less than what runs resolve, or the functions have a corner here.
        if (q->lambda > LAMBDA_MOST)
            return predicted < 1e-6 * p->sum ? SEARCH_FOUND : SEARCH_STUCK;
    }
}

SearchEnd
least_squares(LeastSquares *p)
{
    uint32_t n = p->n;
    size_t height = 2 * (size_t)n + 2;
    Marquardt q = {.problem = p, .scale = base_calloc(n + 1, sizeof *q.scale), .gradient = base_calloc(n + 1, sizeof *q.gradient),
                   .step = base_calloc(n + 1, sizeof *q.step), .trial = base_calloc(n + 1, sizeof *q.trial),
                   .residual = base_calloc(p->m, sizeof *q.residual), .jacobian = base_calloc((size_t)p->m * n, sizeof *q.jacobian),
                   .matrix = base_calloc(height * (n + 1), sizeof *q.matrix), .right = base_calloc(height, sizeof *q.right),
                   .held = base_calloc(n + 1, sizeof *q.held), .lambda = 1e-3, .more = 2};
    SearchEnd end;
    factor_create(&q.factor, p->m, n);
    if (!p->ended(p->user, &end)) {
        bool good = p->evaluate(p->user, p->x, p->residual, p->jacobian);
        p->sum = good ? square_sum(p->residual, p->m) : INFINITY;
        end = good && isfinite(p->sum) ? SEARCH_LIMIT : SEARCH_NO_START;
        while (end == SEARCH_LIMIT) {
            take_derivatives(&q);
            end = p->sum == 0 || is_level(&q) ? SEARCH_FOUND : advance(&q);
            if (end == SEARCH_LIMIT && p->ended(p->user, &end))
                break;
        }
    }
    factor_free(&q.factor);
    free(q.scale);
    free(q.gradient);
    free(q.step);
    free(q.trial);
    free(q.residual);
    free(q.jacobian);
    free(q.matrix);
    free(q.right);
    free(q.held);
    return end;
}

// --- precision

// The singular values and right vectors (rows of vt) of the columns of R that `which` lists, each divided by its length.
static bool
decompose(const Lapack *lapack, const Factor *f, const uint32_t *which, uint32_t n, const double *length, double *value, double *vt)
{
    int size = (int)n, rows = (int)f->n + 1, work = 10 * (rows + size) + 64, info, one = 1;
    double *a = base_calloc((size_t)rows * n + 1, sizeof *a), *space = base_calloc((size_t)work, sizeof *space), none;
    for (uint32_t k = 0; k < n; k++)
        for (int i = 0; i < rows; i++)
            a[(size_t)k * (size_t)rows + (size_t)i] = f->r[(size_t)which[k] * (size_t)rows + (size_t)i] / length[which[k]];
    lapack->dgesvd("N", "A", &rows, &size, a, &rows, value, &none, &one, vt, &size, space, &work, &info, 1, 1);
    free(a);
    free(space);
    return info == 0;
}

// A combination that nothing depends on: its parts, in sizes of the quantities.
static void
note_combination(const uint32_t *which, uint32_t n, const double *part, const double *length, uint32_t all, Precision *out)
{
    double *direction = out->direction + (size_t)out->combinations * all, most = 0;
    for (uint32_t k = 0; k < n; k++) {
        direction[which[k]] = part[k] / length[which[k]];
        most = fmax(most, fabs(part[k]));
    }
    out->combinations++;
    for (uint32_t k = 0; k < n; k++)
        if (fabs(part[k]) > 0.1 * most && !out->undetermined[which[k]])
            out->undetermined[which[k]] = (uint8_t)out->combinations;
}

void
precision_find(const LeastSquares *p, const double *scale, Precision *out)
{
    uint32_t n = p->n, moving = 0;
    Factor f;
    uint32_t *which = base_calloc(n + 1, sizeof *which);
    double *length = base_calloc(n + 1, sizeof *length), *value = base_calloc(n + 1, sizeof *value), *vt = base_calloc((size_t)n * n + 1, sizeof *vt);
    double most = 0;
    factor_create(&f, p->m, n);
    factor_make(p, &f);
    out->combinations = 0;
    for (uint32_t j = 0; j < n; j++) {
        double norm = sqrt(square_sum(p->jacobian + (size_t)j * p->m, p->m));
        length[j] = norm;
        out->bound[j] = p->x[j] <= p->low[j] || p->x[j] >= p->high[j];
        most = out->bound[j] ? most : fmax(most, norm * scale[j]);
    }
    for (uint32_t j = 0; j < n; j++) {
        if (out->bound[j])
            continue;
        if (length[j] * scale[j] > 1e-10 * most) {
            which[moving++] = j;
            continue;
        }
        out->direction[(size_t)out->combinations * n + j] = 1;
        out->undetermined[j] = (uint8_t)++out->combinations;
    }
    bool good = moving && decompose(p->lapack, &f, which, moving, length, value, vt);
    uint32_t rank = 0;
    for (uint32_t k = 0; k < moving && good; k++) {
        bool counts = value[k] > p->resolution * value[0] && k < p->m;
        double part[256];
        rank += counts;
        for (uint32_t j = 0; j < moving && !counts && j < 256; j++)
            part[j] = vt[(size_t)j * moving + k];
        if (!counts && moving <= 256)
            note_combination(which, moving, part, length, n, out);
    }
    for (uint32_t a = 0; a < moving && good; a++)
        for (uint32_t b = 0; b < moving; b++) {
            double sum = 0;
            for (uint32_t k = 0; k < rank; k++)
                sum += vt[(size_t)a * moving + k] * vt[(size_t)b * moving + k] / (value[k] * value[k]);
            out->covariance[(size_t)which[a] * n + which[b]] = sum / (length[which[a]] * length[which[b]]);
        }
    out->determined = rank;
    factor_free(&f);
    free(which);
    free(length);
    free(value);
    free(vt);
}
