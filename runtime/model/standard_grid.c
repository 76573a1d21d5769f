// standard_grid.c: tables of two variables.
//
// Purpose: what the tables of two inputs of the Modelica Standard Library call.
// Method: the first column of the matrix is u1, its first row u2. Between four points the value is bilinear, that of the lower left one
// (steps, which are continued bilinearly beyond an end), or bicubic: slopes along both axes are those of curves through the points of each row and
// column (standard_curve.c), the mixed derivative follows from those of the four cells around a point (H. Akima, CACM 17(1), 1974). Contract: standard.h. Complexity: linear to make, logarithmic to use.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/standard_inner.h"

typedef struct Grid {
    size_t m, n;
    double *u, *v;            // m and n, ascending
    double *z;                // m x n
    double *along_u, *along_v, *mixed; // of smooth ones: dz/du, dz/dv, d2z/dudv
    Smoothness smoothness;
    Extrapolation extrapolation;
} Grid;

typedef struct GridPoint {
    double z, zu, zv, zuu, zuv, zvv;
} GridPoint;

static void
grid_free(void *place)
{
    Grid *grid = place;
    if (grid) {
        free(grid->u);
        free(grid->v);
        free(grid->z);
        free(grid->along_u);
        free(grid->along_v);
        free(grid->mixed);
    }
    free(grid);
}

// Slopes of the m curves through n values each that follow one another `step` apart, and begin `between` apart.
static void
slopes(const double *x, size_t n, const double *z, size_t m, size_t step, size_t between, Smoothness smoothness, double *slope)
{
    double *y = malloc(2 * n * sizeof *y);
    for (size_t k = 0; y && k < m; k++) {
        for (size_t i = 0; i < n; i++)
            y[i] = z[k * between + i * step];
        curve_slopes(x, y, n, smoothness, y + n);
        for (size_t i = 0; i < n; i++)
            slope[k * between + i * step] = y[n + i];
    }
    free(y);
}

// A row of values continued by one on both sides: as a parabola through three points does, as far out as the inner two are apart.
// x and z have room for n + 2, and the values stand from number 1 on.
static void
continue_row(const double *x, double *z, size_t step, size_t n)
{
    size_t last = n * step;
    double first_slope = (z[2 * step] - z[step]) / (x[2] - x[1]), last_slope = (z[last] - z[last - step]) / (x[n] - x[n - 1]);
    double second_slope = n > 2 ? (z[3 * step] - z[2 * step]) / (x[3] - x[2]) : first_slope;
    double slope_before = n > 2 ? (z[last - step] - z[last - 2 * step]) / (x[n - 1] - x[n - 2]) : last_slope;
    z[0] = z[step] - (x[1] - x[0]) * (2 * first_slope - second_slope);
    z[last + step] = z[last] + (x[n + 1] - x[n]) * (2 * last_slope - slope_before);
}

static double *
continued_axis(const double *x, size_t n)
{
    double *wide = malloc((n + 2) * sizeof *wide);
    if (!wide)
        return NULL;
    memcpy(wide + 1, x, n * sizeof *x);
    wide[0] = x[0] - (n > 2 ? x[2] - x[1] : x[1] - x[0]);
    wide[n + 1] = x[n - 1] + (n > 2 ? x[n - 2] - x[n - 3] : x[1] - x[0]);
    return wide;
}

// Around each point, the mixed difference quotients of its four cells, each with the weights that the slopes along both axes give to its sides.
static void
mix_cells(Grid *grid, const double *u, const double *v, const double *z, double *weights)
{
    size_t m = grid->m, n = grid->n, width = n + 2;
    double *above = weights, *below = above + m * n, *left = below + m * n, *right = left + m * n, *line = right + m * n, *before = line + m + n,
           *behind = before + m + n;
    for (size_t i = 0; i < m; i++)
        curve_weights(grid->v, grid->z + i * n, n, left + i * n, right + i * n);
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < m; i++)
            line[i] = grid->z[i * n + j];
        curve_weights(grid->u, line, m, before, behind);
        for (size_t i = 0; i < m; i++)
            above[i * n + j] = before[i], below[i * n + j] = behind[i];
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0, at_row[2] = {above[i * n + j], below[i * n + j]}, at_column[2] = {left[i * n + j], right[i * n + j]};
            for (size_t a = 0; a < 2; a++)
                for (size_t b = 0; b < 2; b++) {
                    const double *cell = z + (i + a) * width + j + b;
                    sum += at_row[a] * at_column[b] * (cell[width + 1] - cell[width] - cell[1] + cell[0])
                         / ((u[i + a + 1] - u[i + a]) * (v[j + b + 1] - v[j + b]));
                }
            grid->mixed[i * n + j] = sum / ((at_row[0] + at_row[1]) * (at_column[0] + at_column[1]));
        }
}

static bool
mix_akima(Grid *grid)
{
    size_t m = grid->m, n = grid->n, width = n + 2;
    double *u = continued_axis(grid->u, m), *v = continued_axis(grid->v, n), *z = calloc((m + 2) * width, sizeof *z);
    double *weights = malloc((4 * m * n + 3 * (m + n)) * sizeof *weights);
    bool good = u && v && z && weights;
    for (size_t i = 0; good && i < m; i++) {
        memcpy(z + (i + 1) * width + 1, grid->z + i * n, n * sizeof *z);
        continue_row(v, z + (i + 1) * width, 1, n);
    }
    for (size_t j = 0; good && j < width; j++)
        continue_row(u, z + j, width, m);
    if (good)
        mix_cells(grid, u, v, z, weights);
    free(u);
    free(v);
    free(z);
    free(weights);
    return good;
}

static bool
smooth_grid(Grid *grid)
{
    size_t n = grid->m * grid->n;
    grid->along_u = calloc(n, sizeof *grid->along_u);
    grid->along_v = calloc(n, sizeof *grid->along_v);
    grid->mixed = calloc(n, sizeof *grid->mixed);
    if (!grid->along_u || !grid->along_v || !grid->mixed)
        return false;
    if (grid->m > 1)
        slopes(grid->u, grid->m, grid->z, grid->n, grid->n, 1, grid->smoothness, grid->along_u);
    if (grid->n > 1)
        slopes(grid->v, grid->n, grid->z, grid->m, 1, grid->n, grid->smoothness, grid->along_v);
    if (grid->m > 1 && grid->n > 1 && grid->smoothness == SMOOTH_AKIMA)
        return mix_akima(grid);
    if (grid->m > 1 && grid->n > 1)
        slopes(grid->v, grid->n, grid->along_u, grid->m, 1, grid->n, grid->smoothness, grid->mixed);
    return true;
}

static bool
ascending(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(x[i] > x[i - 1]))
            return false;
    return true;
}

static bool
fill_grid(Grid *grid, const double *matrix)
{
    size_t width = grid->n + 1;
    grid->u = malloc(grid->m * sizeof *grid->u);
    grid->v = malloc(grid->n * sizeof *grid->v);
    grid->z = malloc(grid->m * grid->n * sizeof *grid->z);
    if (!grid->u || !grid->v || !grid->z)
        return false;
    memcpy(grid->v, matrix + 1, grid->n * sizeof *grid->v);
    for (size_t i = 0; i < grid->m; i++) {
        grid->u[i] = matrix[(i + 1) * width];
        memcpy(grid->z + i * grid->n, matrix + (i + 1) * width + 1, grid->n * sizeof *grid->z);
    }
    bool smooth = grid->smoothness != SMOOTH_LINEAR && grid->smoothness != SMOOTH_STEPS;
    return !smooth || smooth_grid(grid);
}

static void *
make_grid(const double *in, double *state, const TableFile *file)
{
    Argument matrix;
    size_t rows, width;
    double *own;
    Grid *grid = NULL;
    if (!standard_matrix(in, state, file, 2, &matrix, &rows, &width, &own))
        return NULL;
    if (rows < 2 || width < 2)
        standard_fail(in, state, "a table of two variables has at least two rows and two columns, not %zu and %zu", rows, width);
    else if ((grid = calloc(1, sizeof *grid))) {
        *grid = (Grid){.m = rows - 1, .n = width - 1, .smoothness = (Smoothness)standard_scalar(in, 5),
                       .extrapolation = (Extrapolation)standard_scalar(in, 6)};
        bool good = fill_grid(grid, matrix.at);
        if (!good || !ascending(grid->u, grid->m) || !ascending(grid->v, grid->n)) {
            standard_fail(in, state, good ? "the first column and the first row of a table of two variables have to grow" : "there is no memory for a table");
            grid_free(grid);
            grid = NULL;
        }
    }
    free(own);
    return grid;
}

// file, name, matrix, two sizes, smoothness, extrapolation, verbose
void
mdl_standard_grid_init(const double *in, double *out, double *state)
{
    TableFile file = {standard_text(in, 0, state), standard_text(in, 1, state), ",", 0};
    standard_keep(in, out, state, 8, &file, grid_free, make_grid);
}

void
mdl_standard_grid_init_file(const double *in, double *out, double *state)
{
    TableFile file = {standard_text(in, 0, state), standard_text(in, 1, state), standard_text(in, 8, state), (int)standard_scalar(in, 9)};
    standard_keep(in, out, state, 10, &file, grid_free, make_grid);
}

// --- values

typedef struct Place { // along one axis
    size_t i;         // of the piece
    double t, h;      // within it, and its length; 0: there is but one point
    bool held, line;  // beyond the end: the value of the end, or along its slope
} Place;

static Place
place_on_grid(const double *x, size_t n, Extrapolation extrapolation, double at)
{
    double first = x[0], last = x[n - 1];
    if (n == 1)
        return (Place){.held = true};
    if (extrapolation == BEYOND_PERIODIC && (at < first || at > last))
        at -= (last - first) * floor((at - first) / (last - first));
    bool beyond = at < first || at > last;
    Place place = {.held = beyond && extrapolation == BEYOND_HOLD, .line = beyond && extrapolation != BEYOND_HOLD};
    if (place.held)
        at = at < first ? first : last;
    while (place.i + 2 < n && x[place.i + 1] <= at)
        place.i++;
    place.h = x[place.i + 1] - x[place.i];
    place.t = at - x[place.i];
    return place;
}

// Weights of the values and slopes at both ends of a piece, and their first and second derivatives.
typedef struct Weights {
    double value[3][2], slope[3][2];
} Weights;

static Weights
linear_weights(const Place *place)
{
    double h = place->h, s = h > 0 ? place->t / h : 0, rate = h > 0 && !place->held ? 1 / h : 0;
    return (Weights){.value = {{1 - s, s}, {-rate, rate}, {0, 0}}};
}

static Weights
step_weights(const Place *place, bool last)
{
    bool end = place->h > 0 && place->t >= place->h && last;
    return (Weights){.value = {{!end, end}}};
}

static Weights
cubic_weights(const Place *place)
{
    double h = place->h, s = h > 0 ? place->t / h : 0;
    if (h == 0)
        return (Weights){.value = {{1, 0}}};
    if (place->line) {
        int end = s > 1;
        Weights line = {0};
        line.value[0][end] = 1;
        line.slope[0][end] = place->t - (end ? h : 0);
        line.slope[1][end] = 1;
        return line;
    }
    Weights w = {.value = {{1 - s * s * (3 - 2 * s), s * s * (3 - 2 * s)}, {-6 * s * (1 - s) / h, 6 * s * (1 - s) / h},
                           {(12 * s - 6) / (h * h), (6 - 12 * s) / (h * h)}},
                 .slope = {{h * s * (1 - s) * (1 - s), -h * s * s * (1 - s)}, {(1 - s) * (1 - 3 * s), s * (3 * s - 2)},
                           {(6 * s - 4) / h, (6 * s - 2) / h}}};
    if (place->held)
        memset(w.value[1], 0, sizeof w.value[1]), memset(w.slope[1], 0, sizeof w.slope[1]);
    return w;
}

// `beyond`: the point is beyond an end of an axis, this one or the other.
static Weights
weights_of(const Grid *grid, const Place *place, size_t n, bool beyond)
{
    return grid->smoothness == SMOOTH_LINEAR || (grid->smoothness == SMOOTH_STEPS && beyond) ? linear_weights(place)
         : grid->smoothness == SMOOTH_STEPS ? step_weights(place, place->i + 2 == n) : cubic_weights(place);
}

// Derivative `a` by u and `b` by v.
static double
combined(const Grid *grid, const Place *pu, const Place *pv, const Weights *u, const Weights *v, int a, int b)
{
    double sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            size_t row = pu->i + (size_t)i, column = pv->i + (size_t)j, at = row * grid->n + column;
            if (row >= grid->m || column >= grid->n)
                continue;
            sum += u->value[a][i] * v->value[b][j] * grid->z[at];
            if (grid->mixed)
                sum += u->slope[a][i] * v->value[b][j] * grid->along_u[at] + u->value[a][i] * v->slope[b][j] * grid->along_v[at]
                     + u->slope[a][i] * v->slope[b][j] * grid->mixed[at];
        }
    return sum;
}

static bool
is_inside(const double *x, size_t n, double at)
{
    return at >= x[0] && at <= x[n - 1];
}

static const Grid *
grid_of(const double *in, double *state)
{
    return standard_object(in, state, grid_free, "a table is used before it has been made");
}

static GridPoint
grid_point(const double *in, double *state)
{
    static const GridPoint none = {NAN, NAN, NAN, NAN, NAN, NAN};
    const Grid *grid = grid_of(in, state);
    double u = standard_scalar(in, 1), v = standard_scalar(in, 2);
    if (!grid)
        return none;
    if (grid->extrapolation == BEYOND_NONE && !(is_inside(grid->u, grid->m, u) && is_inside(grid->v, grid->n, v))) {
        standard_fail(in, state, "the table is asked for its value at %g, %g, but goes from %g to %g and from %g to %g", u, v, grid->u[0],
                      grid->u[grid->m - 1], grid->v[0], grid->v[grid->n - 1]);
        return none;
    }
    Place pu = place_on_grid(grid->u, grid->m, grid->extrapolation, u), pv = place_on_grid(grid->v, grid->n, grid->extrapolation, v);
    bool beyond = pu.line || pv.line;
    Weights wu = weights_of(grid, &pu, grid->m, beyond), wv = weights_of(grid, &pv, grid->n, beyond);
    return (GridPoint){combined(grid, &pu, &pv, &wu, &wv, 0, 0), combined(grid, &pu, &pv, &wu, &wv, 1, 0), combined(grid, &pu, &pv, &wu, &wv, 0, 1),
                       combined(grid, &pu, &pv, &wu, &wv, 2, 0), combined(grid, &pu, &pv, &wu, &wv, 1, 1), combined(grid, &pu, &pv, &wu, &wv, 0, 2)};
}

void
mdl_standard_grid_value(const double *in, double *out, double *state)
{
    out[0] = grid_point(in, state).z;
}

void
mdl_standard_grid_slope(const double *in, double *out, double *state)
{
    GridPoint point = grid_point(in, state);
    out[0] = point.zu * standard_scalar(in, 3) + point.zv * standard_scalar(in, 4);
}

void
mdl_standard_grid_bend(const double *in, double *out, double *state)
{
    GridPoint point = grid_point(in, state);
    double u = standard_scalar(in, 3), v = standard_scalar(in, 4);
    out[0] = point.zuu * u * u + 2 * point.zuv * u * v + point.zvv * v * v + point.zu * standard_scalar(in, 5) + point.zv * standard_scalar(in, 6);
}

void
mdl_standard_grid_least(const double *in, double *out, double *state)
{
    const Grid *grid = grid_of(in, state);
    out[0] = grid ? grid->u[0] : NAN;
    out[1] = grid ? grid->v[0] : NAN;
}

void
mdl_standard_grid_most(const double *in, double *out, double *state)
{
    const Grid *grid = grid_of(in, state);
    out[0] = grid ? grid->u[grid->m - 1] : NAN;
    out[1] = grid ? grid->v[grid->n - 1] : NAN;
}
