// standard_curve.c: curves through the points of a table.
//
// Purpose: one description of a curve for all tables, with the smoothness that the model asks for.
// Method: straight pieces, steps, or cubic Hermite pieces whose slopes at the points follow from differences: H. Akima (JACM 17(4), 1970),
// the same with the weights of MATLAB's makima, F. Fritsch and J. Butland (SIAM J. Sci. Stat. Comput. 5(2), 1984) and M. Steffen (Astron.
// Astrophys. 239, 1990); the last two keep monotone what is monotone, and have the slope of the first chord at the first point, and so at the
// last, as the library has. At a jump, two rows with one abscissa, a new curve begins. Contract:
// standard_inner.h. Complexity: linear to make; to find a piece constant where points have equal distances, logarithmic otherwise.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/standard_inner.h"

static double
secant(const double *x, const double *y, size_t i)
{
    return (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
}

// Slope of piece i, -2 .. n: beyond the ends those are continued as by a parabola.
static double
continued(const double *d, size_t n, long i)
{
    long last = (long)n - 2;
    if (i < 0)
        return last < 1 ? d[0] : d[0] + (double)-i * (d[0] - d[1]);
    return i <= last ? d[i] : last < 1 ? d[last] : d[last] + (double)(i - last) * (d[last] - d[last - 1]);
}

// How much the slopes of the pieces before and behind point i count there.
static void
akima_weights(const double *d, size_t n, long i, double *before, double *behind)
{
    *before = fabs(continued(d, n, i + 1) - continued(d, n, i));
    *behind = fabs(continued(d, n, i - 1) - continued(d, n, i - 2));
}

static void
akima_slopes(const double *d, size_t n, Smoothness smoothness, double *slope)
{
    for (long i = 0; i < (long)n; i++) {
        double a = continued(d, n, i - 2), b = continued(d, n, i - 1), c = continued(d, n, i), e = continued(d, n, i + 1), before, behind;
        akima_weights(d, n, i, &before, &behind);
        if (smoothness == SMOOTH_MAKIMA) {
            before += fabs(e + c) / 2;
            behind += fabs(b + a) / 2;
        }
        double sum = before + behind;
        slope[i] = sum > 0 ? (before * b + behind * c) / sum : smoothness == SMOOTH_MAKIMA ? 0 : (b + c) / 2;
    }
}

static double
butland_slope(double before, double after, double h, double k)
{
    return before * after <= 0 ? 0 : 3 * (h + k) / ((2 * k + h) / before + (k + 2 * h) / after);
}

static double
steffen_slope(double before, double after, double h, double k)
{
    double parabola = (before * k + after * h) / (h + k);
    double least = fmin(fmin(fabs(before), fabs(after)), fabs(parabola) / 2);
    return (copysign(1, before) + copysign(1, after)) * least;
}

static void
monotone_slopes(const double *x, const double *d, size_t n, Smoothness smoothness, double *slope)
{
    slope[0] = d[0];
    slope[n - 1] = d[n - 2];
    for (size_t i = 1; i + 1 < n; i++) {
        double h = x[i] - x[i - 1], k = x[i + 1] - x[i];
        slope[i] = smoothness == SMOOTH_STEFFEN ? steffen_slope(d[i - 1], d[i], h, k) : butland_slope(d[i - 1], d[i], h, k);
    }
}

void
curve_slopes(const double *x, const double *y, size_t n, Smoothness smoothness, double *slope)
{
    double *d = calloc(n, sizeof *d);
    memset(slope, 0, n * sizeof *slope);
    for (size_t i = 0; d && i + 1 < n; i++)
        d[i] = secant(x, y, i);
    if (d && (smoothness == SMOOTH_AKIMA || smoothness == SMOOTH_MAKIMA))
        akima_slopes(d, n, smoothness, slope);
    else if (d)
        monotone_slopes(x, d, n, smoothness, slope);
    free(d);
}

void
curve_weights(const double *x, const double *y, size_t n, double *before, double *behind)
{
    double *d = calloc(n, sizeof *d);
    for (size_t i = 0; d && i + 1 < n; i++)
        d[i] = secant(x, y, i);
    for (size_t i = 0; i < n; i++) {
        before[i] = behind[i] = 0;
        if (d)
            akima_weights(d, n, (long)i, &before[i], &behind[i]);
        if (!(before[i] + behind[i] > 0))
            before[i] = behind[i] = 1;
    }
    free(d);
}

void
curves_free(void *place)
{
    Curves *curves = place;
    if (curves) {
        free(curves->x);
        free(curves->y);
        free(curves->slope);
    }
    free(curves);
}

static void
find_slopes(Curves *curves)
{
    for (size_t c = 0; c < curves->columns; c++)
        for (size_t i = 0, next; i < curves->rows; i = next) {
            for (next = i + 1; next < curves->rows && curves->x[next] > curves->x[next - 1];)
                next++;
            if (next > i + 1)
                curve_slopes(curves->x + i, curves->y + c * curves->rows + i, next - i, curves->smoothness, curves->slope + c * curves->rows + i);
        }
}

Curves *
curves_create(const double *matrix, size_t rows, size_t width, const double *column, size_t columns, Smoothness smoothness,
              Extrapolation extrapolation)
{
    Curves *curves = calloc(1, sizeof *curves);
    if (!curves)
        return NULL;
    *curves = (Curves){.rows = rows, .columns = columns, .smoothness = smoothness, .extrapolation = extrapolation};
    bool smooth = smoothness != SMOOTH_LINEAR && smoothness != SMOOTH_STEPS;
    curves->x = malloc((rows + 1) * sizeof *curves->x);
    curves->y = malloc((rows * columns + 1) * sizeof *curves->y);
    curves->slope = smooth ? calloc(rows * columns + 1, sizeof *curves->slope) : NULL;
    if (!curves->x || !curves->y || (smooth && !curves->slope)) {
        curves_free(curves);
        return NULL;
    }
    for (size_t i = 0; i < rows; i++) {
        curves->x[i] = matrix[i * width];
        for (size_t c = 0; c < columns; c++)
            curves->y[c * rows + i] = matrix[i * width + (size_t)column[c] - 1];
    }
    if (smooth)
        find_slopes(curves);
    return curves;
}

size_t
curves_find(const Curves *curves, double x)
{
    size_t low = 0, high = curves->rows - 1;
    // Rows at equal distances, which most tables have, are found at once; nothing is remembered, so that threads may share the table.
    double first = curves->x[0], last = curves->x[high];
    if (x > first && x < last) {
        size_t guess = (size_t)((x - first) / (last - first) * (double)high);
        size_t from = guess ? guess - 1 : 0, to = guess + 2 < high ? guess + 2 : high;
        if (from < to && curves->x[from] <= x && x < curves->x[to]) {
            low = from;
            high = to;
        }
    }
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (curves->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static CurvePoint
cubic(double h, double y0, double y1, double s0, double s1, double t)
{
    double d = (y1 - y0) / h, c = (3 * d - 2 * s0 - s1) / h, b = (s0 + s1 - 2 * d) / (h * h);
    return (CurvePoint){y0 + t * (s0 + t * (c + t * b)), s0 + t * (2 * c + 3 * b * t), 2 * c + 6 * b * t};
}

CurvePoint
curves_piece(const Curves *curves, size_t column, size_t i, double x)
{
    const double *xs = curves->x, *y = curves->y + column * curves->rows;
    if (curves->rows == 1)
        return (CurvePoint){.value = y[0]};
    double h = xs[i + 1] - xs[i], t = x - xs[i];
    if (h == 0)
        return (CurvePoint){.value = t < 0 ? y[i] : y[i + 1]};
    bool beyond = (i == 0 && t < 0) || (i + 2 == curves->rows && t > h); // there steps are continued as straight pieces are
    if (curves->smoothness == SMOOTH_STEPS && !beyond)
        return (CurvePoint){.value = i + 2 == curves->rows && t >= h ? y[i + 1] : y[i]};
    if (curves->smoothness == SMOOTH_LINEAR || curves->smoothness == SMOOTH_STEPS)
        return (CurvePoint){.value = t == h ? y[i + 1] : y[i] + (y[i + 1] - y[i]) / h * t, .slope = (y[i + 1] - y[i]) / h};
    const double *slope = curves->slope + column * curves->rows;
    bool left = t < 0, right = t > h;
    if (!left && !right)
        return cubic(h, y[i], y[i + 1], slope[i], slope[i + 1], t);
    double end = left ? y[i] : y[i + 1], along = left ? slope[i] : slope[i + 1];
    return (CurvePoint){.value = end + along * (left ? t : t - h), .slope = along};
}

CurvePoint
curves_at(const Curves *curves, size_t column, double x)
{
    const double *y = curves->y + column * curves->rows;
    double first = curves->x[0], last = curves->x[curves->rows - 1], period = last - first;
    if (curves->extrapolation == BEYOND_PERIODIC && period > 0 && (x < first || x > last))
        x = first + (x - first) - period * floor((x - first) / period);
    if (curves->extrapolation == BEYOND_HOLD && x < first)
        return (CurvePoint){.value = y[0]};
    if (curves->extrapolation == BEYOND_HOLD && x > last)
        return (CurvePoint){.value = y[curves->rows - 1]};
    return curves_piece(curves, column, curves->rows == 1 ? 0 : curves_find(curves, x), x);
}
