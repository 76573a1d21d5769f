// response.c: frequency responses.
//
// Purpose: what a mechanism makes of vibrations.
// Method: A is balanced and brought to Hessenberg form once (LAPACK dgebal, dgehrd, dorghr), so that each frequency costs n^2
//   (Laub, IEEE Trans. AC-26 (1981) 407). Frequencies: a logarithmic grid, points across every lightly damped resonance, then
//   bisection where the middle of an interval, in decibels and degrees, is not what its ends say; so antiresonances are
//   found as well. Phases go on without jumps from point to point.
// Contract: response.h. Complexity: cubic in the states once, quadratic per frequency.
#include "frontend/analysis/response.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 20000, DEEPEST = 14 };

static const double BENT_DECIBEL = 0.05, BENT_DEGREES = 0.5; // of an interval's middle: it is divided
static const double NARROWEST = 1e-7;                       // relative width of an interval

typedef struct Hessenberg {
    uint32_t n, inputs, outputs;
    double *h, *b, *c;        // n x n, n x inputs, outputs x n
    const double *d;
    double norm;
    double complex *m, *x;    // n x n by rows, n x inputs: of one frequency
} Hessenberg;

// --- the form

static void
free_form(Hessenberg *f)
{
    free(f->h);
    free(f->m);
}

static bool
allocate_form(const mdl_linear *l, Hessenberg *f)
{
    size_t n = l->n;
    *f = (Hessenberg){.n = l->n, .inputs = l->inputs, .outputs = l->outputs, .d = l->d};
    f->h = calloc(n * n + n * l->inputs + n * l->outputs + 1, sizeof *f->h);
    f->m = calloc(n * n + n * l->inputs + 1, sizeof *f->m);
    if (!f->h || !f->m)
        return false;
    f->b = f->h + n * n;
    f->c = f->b + n * l->inputs;
    f->x = f->m + n * n;
    memcpy(f->h, l->a, n * n * sizeof *f->h);
    return true;
}

// b := Q' S^-1 B, c := C S Q with the scales S of balancing (also its permutation) and the orthogonal Q of dgehrd.
static void
transform(const mdl_linear *l, Hessenberg *f, const double *s, const double *q)
{
    size_t n = f->n;
    for (size_t j = 0; j < f->inputs; j++)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++)
                f->b[j * n + i] += q[i * n + k] * l->b[j * n + k] / s[k];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < f->outputs; i++)
                f->c[j * f->outputs + i] += l->c[k * f->outputs + i] * s[k] * q[j * n + k];
}

static bool
make_form(const mdl_linear *l, const Lapack *lapack, Hessenberg *f)
{
    int n = (int)l->n, low, high, info = 0, length = 64 * n + 1;
    size_t size = (size_t)n;
    if (!allocate_form(l, f))
        return false;
    if (!n) // everything is held: only D is left
        return true;
    double *work = calloc(size * size + 2 * size + (size_t)length + 1, sizeof *work);
    if (!work)
        return false;
    double *q = work, *scale = q + size * size, *tau = scale + size, *space = tau + size;
    // Scaling only: without permutations scale[] is S itself.
    lapack->dgebal("S", &n, f->h, &n, &low, &high, scale, &info, 1);
    for (size_t k = 0; k < size * size; k++)
        f->norm = fmax(f->norm, fabs(f->h[k]));
    lapack->dgehrd(&n, &low, &high, f->h, &n, tau, space, &length, &info);
    memcpy(q, f->h, size * size * sizeof *q);
    lapack->dorghr(&n, &low, &high, q, &n, tau, space, &length, &info);
    transform(l, f, scale, q);
    free(work);
    return info == 0;
}

// --- one frequency

static void
swap_rows(Hessenberg *f, size_t k)
{
    size_t n = f->n;
    for (size_t j = k; j < n; j++) {
        double complex keep = f->m[k * n + j];
        f->m[k * n + j] = f->m[(k + 1) * n + j];
        f->m[(k + 1) * n + j] = keep;
    }
    for (size_t j = 0; j < f->inputs; j++) {
        double complex keep = f->x[k * f->inputs + j];
        f->x[k * f->inputs + j] = f->x[(k + 1) * f->inputs + j];
        f->x[(k + 1) * f->inputs + j] = keep;
    }
}

// Exactly on a pole the response is infinite; what rounding leaves of that is enough.
static double complex
pivot(const Hessenberg *f, size_t k)
{
    double complex p = f->m[k * f->n + k];
    double least = DBL_EPSILON * DBL_EPSILON * (f->norm > 0 ? f->norm : 1);
    return cabs(p) > least ? p : least;
}

// f->x := (iw I - H)^-1 b, by elimination with exchanges of neighbouring rows.
static void
solve(Hessenberg *f, double omega)
{
    size_t n = f->n, inputs = f->inputs;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i ? i - 1 : 0; j < n; j++)
            f->m[i * n + j] = (i == j ? omega * I : 0) - f->h[j * n + i];
        for (size_t j = 0; j < inputs; j++)
            f->x[i * inputs + j] = f->b[j * n + i];
    }
    for (size_t k = 0; k + 1 < n; k++) {
        if (cabs(f->m[(k + 1) * n + k]) > cabs(f->m[k * n + k]))
            swap_rows(f, k);
        double complex factor = f->m[(k + 1) * n + k] / pivot(f, k);
        for (size_t j = k + 1; j < n && factor != 0; j++)
            f->m[(k + 1) * n + j] -= factor * f->m[k * n + j];
        for (size_t j = 0; j < inputs && factor != 0; j++)
            f->x[(k + 1) * inputs + j] -= factor * f->x[k * inputs + j];
    }
    for (size_t k = n; k-- > 0;)
        for (size_t j = 0; j < inputs; j++) {
            double complex sum = f->x[k * inputs + j];
            for (size_t i = k + 1; i < n; i++)
                sum -= f->m[k * n + i] * f->x[i * inputs + j];
            f->x[k * inputs + j] = sum / pivot(f, k);
        }
}

static void
response_at(Hessenberg *f, double hz, double complex *value)
{
    solve(f, 2 * M_PI * hz);
    for (size_t j = 0; j < f->inputs; j++)
        for (size_t i = 0; i < f->outputs; i++) {
            double complex sum = f->d[j * f->outputs + i];
            for (size_t k = 0; k < f->n; k++)
                sum += f->c[k * f->outputs + i] * f->x[k * f->inputs + j];
            value[j * f->outputs + i] = sum;
        }
}

// --- frequencies

typedef struct Grid {
    double *hz;
    uint32_t n, capacity;
} Grid;

static bool
add(Grid *grid, double hz)
{
    if (grid->n == grid->capacity) {
        uint32_t capacity = 2 * grid->capacity + 256;
        double *more = realloc(grid->hz, capacity * sizeof *more);
        if (!more)
            return false;
        grid->hz = more;
        grid->capacity = capacity;
    }
    grid->hz[grid->n++] = hz;
    return true;
}

static int
ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// From a decade below the slowest eigenvalue to one above the fastest, in whole decades.
static void
choose_range(const Modes *modes, ResponseGrid *grid)
{
    double low = INFINITY, high = 0;
    for (uint32_t m = 0; m < modes->n; m++) {
        double hz = modes->mode[m].omega / (2 * M_PI);
        if (modes->mode[m].omega <= 10 * modes->mode[m].rounding)
            continue;
        low = fmin(low, hz);
        high = fmax(high, hz);
    }
    if (!(high > 0))
        low = high = 1;
    low = fmax(low, 1e-9 * high);
    if (isnan(grid->from))
        grid->from = pow(10, floor(log10(low)) - (log10(low) - floor(log10(low)) < 0.3));
    if (isnan(grid->to))
        grid->to = fmax(pow(10, ceil(log10(high)) + (ceil(log10(high)) - log10(high) < 0.3)), 10 * grid->from);
}

// Across the resonance: the response changes within the width damping*frequency.
static bool
add_resonance(Grid *all, const Mode *mode, const ResponseGrid *range)
{
    static const double widths[] = {0, 0.2, 0.5, 1, 2, 4, 8, 16, 32};
    double hz = mode->imag / (2 * M_PI), width = fabs(mode->real) / (2 * M_PI);
    bool good = true;
    for (size_t k = 0; mode->imag > 0 && mode->damping < 0.3 && k < sizeof widths / sizeof *widths; k++)
        for (int side = -1; side <= 1; side += 2) {
            double at = hz + side * widths[k] * width;
            if (at > range->from && at < range->to && !(k == 0 && (side > 0 || width == 0)))
                good = good && add(all, at);
        }
    return good;
}

static bool
begin_grid(const Modes *modes, const ResponseGrid *range, Grid *grid)
{
    double decades = log10(range->to / range->from);
    uint32_t n = (uint32_t)fmin(ceil(decades * range->per_decade), MOST_POINTS / 2);
    bool good = true;
    for (uint32_t k = 0; k <= n && good; k++)
        good = add(grid, k == n ? range->to : range->from * pow(10, decades * k / n));
    for (uint32_t m = 0; m < modes->n && good; m++)
        good = add_resonance(grid, &modes->mode[m], range);
    if (good)
        qsort(grid->hz, grid->n, sizeof *grid->hz, ascending);
    uint32_t kept = 0;
    for (uint32_t k = 0; good && k < grid->n; k++)
        if (!k || grid->hz[k] > grid->hz[kept - 1] * (1 + NARROWEST))
            grid->hz[kept++] = grid->hz[k];
    grid->n = kept;
    return good;
}

// --- refinement

static double
decibel(double complex value)
{
    return 20 * log10(fmax(cabs(value), DBL_MIN));
}

static double
degrees(double complex to, double complex from)
{
    return 180 / M_PI * carg(to * conj(from) / fmax(cabs(from) * cabs(from), DBL_MIN));
}

// The middle is not where a straight line between the ends would have it.
static bool
is_bent(const double complex *left, const double complex *middle, const double complex *right, uint32_t pairs, double largest)
{
    for (uint32_t p = 0; p < pairs; p++) {
        double size = fmax(cabs(left[p]), cabs(right[p]));
        if (!(fmax(size, cabs(middle[p])) > 1e-14 * largest))
            continue;
        double level = fabs(decibel(middle[p]) - (decibel(left[p]) + decibel(right[p])) / 2);
        double turn = fabs(degrees(middle[p], left[p]) - degrees(right[p], middle[p])) / 2;
        if (level > BENT_DECIBEL || turn > BENT_DEGREES)
            return true;
    }
    return false;
}

typedef struct Interval { // an end that the refinement has still to reach
    double hz;
    uint32_t depth;
} Interval;

// Divides the interval behind the last point of `out` until it is straight; the values of its right end are at to_value.
static bool
refine(Hessenberg *f, Grid *out, double complex **values, size_t *capacity, double to, const double complex *to_value, double largest)
{
    size_t pairs = (size_t)f->inputs * f->outputs;
    Interval stack[DEEPEST + 2];
    double complex *level = malloc((DEEPEST + 3) * pairs * sizeof *level + 1);
    uint32_t n = 1;
    if (!level)
        return false;
    stack[0] = (Interval){to, 0};
    memcpy(level, to_value, pairs * sizeof *level);
    while (n) {
        Interval at = stack[n - 1];
        double from = out->hz[out->n - 1], middle = sqrt(from * at.hz);
        double complex *right = level + (n - 1) * pairs, *between = level + n * pairs;
        bool wide = at.depth < DEEPEST && out->n + n < MOST_POINTS && at.hz > from * (1 + NARROWEST);
        if (wide) {
            response_at(f, middle, between);
            wide = is_bent(*values + (out->n - 1) * pairs, between, right, (uint32_t)pairs, largest);
        }
        if (wide) {
            stack[n - 1].depth++;
            stack[n++] = (Interval){middle, at.depth + 1};
            continue;
        }
        if ((out->n + 1) * pairs > *capacity) {
            *capacity = 2 * (out->n + 1) * pairs;
            double complex *more = realloc(*values, *capacity * sizeof *more);
            if (!more)
                break;
            *values = more;
        }
        memcpy(*values + out->n * pairs, right, pairs * sizeof *right);
        if (!add(out, at.hz))
            break;
        n--;
    }
    free(level);
    return n == 0;
}

static bool
trace(Hessenberg *f, const Grid *coarse, Response *r)
{
    size_t pairs = (size_t)f->inputs * f->outputs, capacity = 4 * coarse->n * pairs + pairs + 1;
    double complex *all = malloc(((size_t)coarse->n * pairs + 1) * sizeof *all);
    Grid fine = {0};
    r->value = malloc(capacity * sizeof *r->value);
    bool good = all && r->value && add(&fine, coarse->hz[0]);
    double largest = 0;
    for (uint32_t k = 0; good && k < coarse->n; k++) {
        response_at(f, coarse->hz[k], all + k * pairs);
        for (size_t p = 0; p < pairs; p++)
            largest = fmax(largest, cabs(all[k * pairs + p]));
    }
    if (good)
        memcpy(r->value, all, pairs * sizeof *all);
    for (uint32_t k = 1; good && k < coarse->n; k++)
        good = refine(f, &fine, &r->value, &capacity, coarse->hz[k], all + k * pairs, largest);
    free(all);
    r->hz = fine.hz;
    r->points = fine.n;
    r->pairs = (uint32_t)pairs;
    return good;
}

static bool
unwrap(Response *r)
{
    r->phase = malloc(((size_t)r->points * r->pairs + 1) * sizeof *r->phase);
    for (uint32_t k = 0; r->phase && k < r->points; k++)
        for (uint32_t p = 0; p < r->pairs; p++) {
            size_t at = (size_t)k * r->pairs + p;
            double phase = 180 / M_PI * carg(r->value[at]);
            if (k)
                phase += 360 * round((r->phase[at - r->pairs] - phase) / 360);
            r->phase[at] = phase;
        }
    return r->phase != NULL;
}

bool
response_find(const System *s, ResponseGrid range, Response *r, Out *why)
{
    Lapack lapack;
    Hessenberg form = {0};
    Grid grid = {0};
    *r = (Response){0};
    choose_range(&s->modes, &range);
    if (!(range.from > 0) || !(range.to > range.from)) {
        out_printf(why, "frequencies go from a positive one to a larger one, not from %g Hz to %g Hz\n", range.from, range.to);
        return false;
    }
    if (!lapack_open(&lapack, why))
        return false;
    bool good = make_form(&s->linear, &lapack, &form) && begin_grid(&s->modes, &range, &grid) && trace(&form, &grid, r) && unwrap(r);
    if (!good)
        out_text(why, "memory is exhausted\n");
    free_form(&form);
    free(grid.hz);
    lapack_close(&lapack);
    return good;
}

void
response_free(Response *r)
{
    free(r->hz);
    free(r->value);
    free(r->phase);
    *r = (Response){0};
}
