// fit.c: from data to the values with which a model fits them.
//
// Purpose: identification. Method: residuals of all files (fit_data.c), each over its standard deviation, as functions of the free quantities (fit_runs.c).
// Measurements without standard deviations have one for each variable, which is found from their residuals, and the search is
// repeated until it stays. Of several starts the best one counts.
// Contract: fit.h. Complexity: runs; data times quantities^2 for each.
#include "frontend/search/fit_inner.h"

#include <math.h>
#include <string.h>

#include "frontend/design/student.h"

static const double SAME_SUM = 1e-6;   // of sums of squares: searches that came to the same place
static const double SETTLED = 1e-3;    // of standard deviations that are found
enum { ROUNDS_MOST = 12 };

static uint64_t
count_runs(const Fit *fit)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < fit->experiments; i++)
        runs += fit->experiment[i].trial.runs;
    return runs;
}

static bool
ended(void *user, SearchEnd *end)
{
    const Fitting *f = user;
    const volatile sig_atomic_t *interrupt = f->request->options->interrupt;
    bool stopped = interrupt && *interrupt, many = count_runs(f->fit) >= f->request->runs_most;
    *end = stopped ? SEARCH_INTERRUPTED : SEARCH_LIMIT;
    return stopped || many;
}

// --- searches

static void
sum_squares(Fitting *f, const double *residual)
{
    Fit *fit = f->fit;
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].squares = 0;
    for (uint32_t i = 0; i < fit->experiments; i++) {
        const Experiment *e = &fit->experiment[i];
        uint32_t at_residual = e->first;
        for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++) {
            if (isnan(e->measured[at]))
                continue;
            double value = residual[at_residual++] * fit_deviation(fit, e, at);
            fit->kind[e->column[at % e->columns].kind].squares += value * value;
        }
    }
}

// Standard deviations of variables from their residuals; true: others than before. The data of the one with the smallest ones must not be
// taken for exact.
static bool
renew_deviations(Fitting *f)
{
    Fit *fit = f->fit;
    bool moved = false;
    double part = fit->values > fit->free->n ? 1 - (double)fit->free->n / fit->values : 1;
    for (uint32_t k = 0; k < fit->kinds; k++) {
        FitKind *kind = &fit->kind[k];
        double now = fmax(sqrt(kind->squares / ((double)kind->n * part)), 1e-6 * kind->spread);
        moved = moved || !(fabs(now - kind->deviation) <= SETTLED * now);
        kind->deviation = now;
    }
    return moved;
}

static void
begin_deviations(Fit *fit)
{
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].deviation = fit->kind[k].given ? fit->kind[k].deviation : fit->kind[k].spread;
}

// One search from f->problem.x on.
static SearchEnd
search(Fitting *f)
{
    Fit *fit = f->fit;
    SearchEnd end;
    bool several = !fit->weighted && fit->kinds > 1;
    if (!fit->weighted)
        begin_deviations(fit);
    for (uint32_t round = 0;; round++) {
        end = least_squares(&f->problem);
        if (end == SEARCH_NO_START || end == SEARCH_INTERRUPTED || !several || round == ROUNDS_MOST)
            break;
        sum_squares(f, f->problem.residual);
        if (!renew_deviations(f) || end == SEARCH_LIMIT)
            break;
    }
    return end;
}

// What searches are compared by: with standard deviations that are found their product counts, by the likelihood.
static double
badness(const Fitting *f)
{
    const Fit *fit = f->fit;
    double sum = 0;
    if (fit->weighted || fit->kinds == 1)
        return f->problem.sum;
    for (uint32_t k = 0; k < fit->kinds; k++)
        sum += (double)fit->kind[k].n / fit->values * log(fit->kind[k].deviation / fit->kind[k].spread);
    return exp(2 * sum);
}

typedef struct BestSearch {
    double badness;
    double *x, *residual, *jacobian, *deviation, *begin;
    SearchEnd end;
    double sum;
} BestSearch;

static void
keep_search(Fitting *f, BestSearch *best, SearchEnd end, double bad, const double *begin)
{
    Fit *fit = f->fit;
    const LeastSquares *p = &f->problem;
    best->badness = bad;
    best->end = end;
    best->sum = p->sum;
    memcpy(best->x, p->x, p->n * sizeof *best->x);
    memcpy(best->begin, begin, p->n * sizeof *best->x);
    memcpy(best->residual, p->residual, p->m * sizeof *best->residual);
    memcpy(best->jacobian, p->jacobian, (size_t)p->m * p->n * sizeof *best->jacobian);
    for (uint32_t k = 0; k < fit->kinds; k++)
        best->deviation[k] = fit->kind[k].deviation;
}

static bool
try_start(Fitting *f, BestSearch *best, uint32_t id)
{
    Fit *fit = f->fit;
    double *begin = arena_array(f->arena, double, fit->free->n + 1);
    if (!free_spread(fit->free, id, begin, f->why))
        return false;
    memcpy(f->problem.x, begin, fit->free->n * sizeof *begin);
    fit->starts++;
    SearchEnd end = search(f);
    if (end == SEARCH_NO_START || !isfinite(f->problem.sum))
        return true;
    double bad = badness(f);
    bool same = fabs(bad - best->badness) <= SAME_SUM * bad;
    if (bad < best->badness && !same)
        fit->agreeing = 0;
    fit->agreeing += same || bad < best->badness;
    if (bad < best->badness)
        keep_search(f, best, end, bad, begin);
    return true;
}

// --- what is known of the solution

static void
find_precision(Fitting *f)
{
    Fit *fit = f->fit;
    LeastSquares *p = &f->problem;
    uint32_t n = p->n;
    double *scale = arena_array(f->arena, double, n + 1);
    Precision *precision = &fit->precision;
    *precision = (Precision){.covariance = arena_array(f->arena, double, (size_t)n * n + 1), .bound = arena_array(f->arena, bool, n + 1),
                             .undetermined = arena_array(f->arena, uint8_t, n + 1), .direction = arena_array(f->arena, double, (size_t)n * n + 1)};
    for (uint32_t k = 0; k < n; k++)
        scale[k] = fabs(p->x[k]) > 0 ? fabs(p->x[k]) : 1;
    precision_find(p, scale, precision);
    fit->covariance = arena_array(f->arena, double, (size_t)n * n + 1);
    fit->error = arena_array(f->arena, double, n + 1);
    uint32_t freedom = p->m > precision->determined ? p->m - precision->determined : 0;
    double variance = fit->weighted ? 1 : freedom ? p->sum / freedom : NAN;
    fit->quantile = fit->weighted ? 1.959963984540054 : freedom ? student_two_sided(0.95, freedom) : NAN;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            bool known = !precision->bound[a] && !precision->bound[b] && !precision->undetermined[a] && !precision->undetermined[b];
            fit->covariance[(size_t)a * n + b] = known ? variance * precision->covariance[(size_t)a * n + b] : NAN;
        }
    for (uint32_t a = 0; a < n; a++)
        fit->error[a] = sqrt(fit->covariance[(size_t)a * n + a]);
}

static void
keep_values(Fitting *f)
{
    Fit *fit = f->fit;
    for (uint32_t i = 0; i < fit->experiments; i++) {
        Experiment *e = &fit->experiment[i];
        uint32_t at_residual = e->first;
        for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++)
            e->best[at] = isnan(e->measured[at]) ? NAN : e->measured[at] + f->problem.residual[at_residual++] * fit_deviation(fit, e, at);
    }
}

static void
finish(Fitting *f, const BestSearch *best)
{
    Fit *fit = f->fit;
    LeastSquares *p = &f->problem;
    memcpy(p->x, best->x, p->n * sizeof *p->x);
    memcpy(p->residual, best->residual, p->m * sizeof *p->residual);
    memcpy(p->jacobian, best->jacobian, (size_t)p->m * p->n * sizeof *p->jacobian);
    p->sum = best->sum;
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].deviation = best->deviation[k];
    fit->x = best->x;
    fit->begin = best->begin;
    fit->end = best->end;
    keep_values(f);
    sum_squares(f, p->residual);
    find_precision(f);
    fit->chi2 = p->sum;
    if (fit->weighted)
        return;
    // With the deviation of the residuals, where it is the only thing known.
    for (uint32_t k = 0; k < fit->kinds && fit->kinds == 1; k++) {
        uint32_t freedom = p->m > fit->precision.determined ? p->m - fit->precision.determined : 0;
        fit->kind[k].deviation = freedom ? sqrt(fit->kind[k].squares / freedom) : NAN;
    }
}

static void
allocate(Fitting *f, BestSearch *best)
{
    Fit *fit = f->fit;
    uint32_t n = fit->free->n, m = fit->values;
    size_t size = (size_t)m * n + 1;
    Arena *a = f->arena;
    double *low = arena_array(a, double, n + 1), *high = arena_array(a, double, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        low[k] = fit->free->at[k].low;
        high[k] = fit->free->at[k].high;
    }
    f->problem = (LeastSquares){.n = n, .m = m, .low = low, .high = high, .evaluate = fit_evaluate, .ended = ended, .user = f,
                                .resolution = 1e-6, .lapack = f->problem.lapack, .x = arena_array(a, double, n + 1),
                                .residual = arena_array(a, double, m + 1), .jacobian = arena_array(a, double, size)};
    f->shifted = arena_array(a, double, m + 1);
    f->step = cbrt(fmax(f->request->options->tolerance, 1e-12));
    *best = (BestSearch){.badness = INFINITY, .end = SEARCH_NO_START, .x = arena_array(a, double, n + 1), .begin = arena_array(a, double, n + 1),
                         .residual = arena_array(a, double, m + 1), .jacobian = arena_array(a, double, size),
                         .deviation = arena_array(a, double, fit->kinds + 1)};
}

static int
search_all(Fitting *f)
{
    Fit *fit = f->fit;
    BestSearch best;
    SearchEnd end;
    allocate(f, &best);
    for (uint32_t id = 0; id < f->request->starts; id++) {
        if (id && ended(f, &end))
            break;
        if (!try_start(f, &best, id))
            return FAULT_USAGE;
    }
    fit->runs = count_runs(fit);
    for (uint32_t i = 0; i < fit->experiments; i++) {
        const Trial *trial = &fit->experiment[i].trial;
        fit->failed += trial->failed;
        fit->sides += trial->sides;
        fit->together += trial->together;
    }
    fit->end = best.end;
    if (best.end == SEARCH_NO_START) {
        out_printf(f->why, "no run from where the search begins comes to the end of the data: %s\n", fit->said);
        return 3;
    }
    finish(f, &best);
    return 0;
}

int
fit_find(const FitRequest *request, Arena *arena, Fit *fit, Out *why)
{
    Lapack lapack;
    *fit = (Fit){.free = request->free};
    Fitting f = {.request = request, .fit = fit, .arena = arena, .why = why};
    int status = fit_read(&f);
    if (status)
        return status;
    if (!lapack_open(&lapack, why))
        return FAULT_IO;
    f.problem.lapack = &lapack;
    status = search_all(&f);
    lapack_close(&lapack);
    return status;
}
