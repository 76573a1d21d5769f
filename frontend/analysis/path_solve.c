// path_solve.c: a motion between two ends of time for which an action is stationary.
//
// Purpose: Newton's method on the stationary conditions, on meshes that are refined until the estimated error meets the tolerance. Method:
// damped Newton with the natural monotonicity test (Deuflhard, Newton Methods for Nonlinear Problems, 2004, 3.3). From mesh to
// mesh intervals are halved in which the leading Legendre coefficient of the path is large; where two paths agree, all are halved for a proof: the
// path on the halved mesh must agree, too, and is the result. The second variation is looked at in the direction of its smallest
// eigenvalue, found by inverse iteration: where its terms cancel, the ends are conjugate and the path is not isolated.
// Contract: stationary.h. Complexity: that of the factorisations: linear in intervals without memory, cubic with it.
#include "frontend/analysis/path_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/lu.h"

enum { FIRST_INTERVALS = 8, MOST_LOCAL = 8000, MOST_MEMORY = 400, MOST_MESHES = 120, NEWTON_MOST = 60, HALVINGS = 12, INVERSE_STEPS = 4, FINEST_GUESS = 128 };
static const double newton_tolerance = 1e-11, singular_curvature = 1e-7, shortest = 1e-13;

// --- norms

static void
find_scales(const PathProblem *problem, const double *u, uint32_t nodes, double *scale)
{
    uint32_t b = path_width(problem);
    for (uint32_t i = 0; i < problem->n; i++) {
        scale[i] = 0;
        for (uint32_t k = 0; k < nodes; k++)
            scale[i] = fmax(scale[i], fabs(u[(size_t)k*b + i]));
        scale[i] = scale[i] > 0 ? scale[i] : 1;
    }
}

static double
norm(const PathProblem *problem, const double *u, uint32_t nodes, const double *scale)
{
    uint32_t b = path_width(problem);
    double most = 0;
    for (uint32_t k = 0; k < nodes; k++)
        for (uint32_t i = 0; i < problem->n; i++) {
            double size = fabs(u[(size_t)k*b + i])/scale[i];
            most = size <= most ? most : size; // NaN stays
        }
    return most;
}

// That of what the tolerance is about: rates are as rough as their fractional derivatives let them be, and are no part of it.
static double
distance(const PathProblem *problem, const double *u, uint32_t nodes, const double *scale)
{
    uint32_t b = path_width(problem);
    double most = 0;
    for (uint32_t k = 0; k < nodes; k++)
        for (uint32_t i = 0; i < problem->n; i++)
            if (problem->rate_of[i] == UINT32_MAX)
                most = fmax(most, fabs(u[(size_t)k*b + i])/scale[i]);
    return most;
}

// Of the derivatives that the action has of a coordinate.
static double
highest_order(const PathProblem *problem, uint32_t coordinate)
{
    double highest = 0;
    for (uint32_t k = 2*problem->n; k < problem->n_features; k++)
        if (problem->coordinate[k] == coordinate)
            highest = fmax(highest, problem->order[k]);
    return highest > 0 ? highest : 1;
}

// Where the rate of a position is given at an end, positions have errors of the order 2a - 1 in the intervals' lengths, a being the order
// of its derivative: what halving them changes is a part of the error that is left.
static double
order_factor(const PathProblem *problem)
{
    double factor = 1;
    for (uint32_t i = 0; i < problem->n; i++)
        if (problem->rate_of[i] != UINT32_MAX && (!isnan(problem->start[i]) || !isnan(problem->end[i])))
            factor = fmax(factor, 1/(pow(2, 2*highest_order(problem, i) - 1) - 1));
    return factor;
}

// --- Newton

typedef struct Newton {
    PathSystem system;
    Lu *lu;
    double *step, *next, *trial, *scale;
} Newton;

static void
iteration_free(Newton *w)
{
    path_system_free(&w->system);
    lu_free(&w->lu);
    free(w->step);
    free(w->next);
    free(w->trial);
    free(w->scale);
}

static PathEnd
newton_make(Newton *w, const PathProblem *problem, const PathMesh *mesh)
{
    *w = (Newton){0};
    if (!path_system_make(&w->system, problem, mesh))
        return PATH_NO_MEMORY;
    size_t size = w->system.size*sizeof(double);
    w->step = malloc(size);
    w->next = malloc(size);
    w->trial = malloc(size);
    w->scale = malloc(problem->n*sizeof(double));
    w->lu = lu_create(w->system.size, w->system.start, w->system.row);
    return w->step && w->next && w->trial && w->scale && w->lu ? PATH_FOUND : PATH_NO_MEMORY;
}

static void
solve_into(Newton *w, double *out)
{
    for (uint32_t k = 0; k < w->system.size; k++)
        out[k] = -w->system.residual[k];
    lu_solve(w->lu, out);
}

static PathEnd
newton(Newton *w, double *u, uint32_t *count)
{
    const PathProblem *problem = w->system.problem;
    uint32_t size = w->system.size, nodes = w->system.nodes;
    for (uint32_t round = 0; round < NEWTON_MOST; round++) {
        if (!path_system_evaluate(&w->system, u, true))
            return round ? PATH_NO_NEWTON : PATH_UNDEFINED;
        if (!lu_factor(w->lu, w->system.matrix, true))
            return round ? PATH_NO_NEWTON : PATH_SINGULAR;
        solve_into(w, w->step);
        find_scales(problem, u, nodes, w->scale);
        double length = norm(problem, w->step, nodes, w->scale), damping = 1;
        if (!isfinite(length))
            return round ? PATH_NO_NEWTON : PATH_SINGULAR;
        ++*count;
        bool better = false;
        for (uint32_t halved = 0; halved < HALVINGS && !better; halved++, damping /= better ? 1 : 2) {
            for (uint32_t k = 0; k < size; k++)
                w->trial[k] = u[k] + damping*w->step[k];
            if (!path_system_evaluate(&w->system, w->trial, false))
                continue;
            solve_into(w, w->next);
            double after = norm(problem, w->next, nodes, w->scale);
            better = after <= (1 - damping/4)*length || (length < 1e-6 && after < 1e-6 && damping == 1);
        }
        if (!better)
            return PATH_NO_NEWTON;
        memcpy(u, w->trial, size*sizeof *u);
        if (length <= newton_tolerance || (damping == 1 && norm(problem, w->next, nodes, w->scale) <= newton_tolerance))
            return PATH_FOUND;
    }
    return PATH_NO_NEWTON;
}

// How much of the second variation is left in its weakest direction; w->lu are the factors of the last step.
static double
weakest(Newton *w, const double *u)
{
    PathSystem *system = &w->system;
    const PathProblem *problem = system->problem;
    uint32_t b = system->b;
    for (uint32_t k = 0; k < system->size; k++)
        w->step[k] = path_is_held(system, k/b, k % b) || k % b >= problem->n ? 0 : w->scale[k % b]*(1 + 0.3*sin(1.7*(k/b) + k % b));
    for (uint32_t round = 0; round < INVERSE_STEPS; round++) {
        for (uint32_t k = 0; k < system->size; k++) {
            uint32_t node = k/b, interval = node/PATH_DEGREE < system->mesh->n ? node/PATH_DEGREE : system->mesh->n - 1;
            double mass = system->mesh->length[interval]/(w->scale[k % b < problem->n ? k % b : 0]*w->scale[k % b < problem->n ? k % b : 0]);
            w->step[k] *= k % b >= problem->n || path_is_held(system, node, k % b) ? 0 : mass;
        }
        lu_solve(w->lu, w->step);
        double size = norm(problem, w->step, system->nodes, w->scale);
        if (!isfinite(size) || size == 0)
            return size == 0 ? NAN : 0;
        for (uint32_t k = 0; k < system->size; k++)
            w->step[k] /= size;
    }
    system->direction = w->step;
    bool good = path_system_evaluate(system, u, true);
    system->direction = NULL;
    return good && system->terms > 0 ? fabs(system->form)/system->terms : NAN;
}

// Of a linear problem without a solution Newton's method finds none; its second variation is the same on all paths.
static bool
is_singular_everywhere(Newton *w, const double *first, const double *last, double *curvature)
{
    if (!path_system_evaluate(&w->system, first, true) || !lu_factor(w->lu, w->system.matrix, true))
        return false;
    double there = weakest(w, first);
    if (!(there < singular_curvature) || !path_system_evaluate(&w->system, last, true) || !lu_factor(w->lu, w->system.matrix, true))
        return false;
    *curvature = weakest(w, last);
    return *curvature < singular_curvature;
}

static void
measure(Newton *w, const double *u, Path *path)
{
    path->residual = 0;
    path->curvature = weakest(w, u);
    if (!path_system_evaluate(&w->system, u, false))
        return;
    double most = 0, left = 0;
    for (uint32_t k = 0; k < w->system.size; k++) {
        most = fmax(most, w->system.magnitude[k]);
        left = fmax(left, k % w->system.b < w->system.problem->n ? fabs(w->system.residual[k]) : 0);
    }
    path->action = w->system.action;
    path->residual = most > 0 ? left/most : 0;
}

// --- meshes

static bool
mesh_make(PathMesh *mesh, uint32_t n)
{
    *mesh = (PathMesh){.n = n, .time = malloc((n + 1)*sizeof(double)), .length = malloc(n*sizeof(double))};
    return mesh->time && mesh->length;
}

static void
path_mesh_free(PathMesh *mesh)
{
    free(mesh->time);
    free(mesh->length);
    *mesh = (PathMesh){0};
}

static void
interval_at(const PathRule *rule, const double *u, uint32_t b, uint32_t interval, double x, double *out)
{
    double value[PATH_NODES], slope[PATH_NODES];
    path_basis(rule, x, value, slope);
    for (uint32_t i = 0; i < b; i++) {
        out[i] = 0;
        for (uint32_t k = 0; k < PATH_NODES; k++)
            out[i] += value[k]*u[((size_t)PATH_DEGREE*interval + k)*b + i];
    }
}

// The mesh with the marked intervals halved, and the path on it.
static bool
refine(const PathProblem *problem, const Path *path, const bool *marked, PathMesh *mesh, double **value)
{
    uint32_t n = 0, b = path_width(problem), at = 0;
    PathRule rule;
    path_rule_make(&rule, false);
    for (uint32_t j = 0; j < path->mesh.n; j++)
        n += marked[j] ? 2 : 1;
    *value = malloc(((size_t)PATH_DEGREE*n + 1)*b*sizeof(double));
    if (!mesh_make(mesh, n) || !*value)
        return false;
    for (uint32_t j = 0; j < path->mesh.n; j++)
        for (uint32_t half = 0; half < (marked[j] ? 2u : 1u); half++, at++) {
            double width = marked[j] ? 0.5 : 1;
            mesh->length[at] = width*path->mesh.length[j];
            mesh->time[at] = path->mesh.time[j] + 0.5*half*path->mesh.length[j];
            for (uint32_t k = 0; k < PATH_NODES; k++)
                interval_at(&rule, path->value, b, j, width*rule.node[k] + 0.5*half, *value + ((size_t)PATH_DEGREE*at + k)*b);
        }
    mesh->time[n] = path->mesh.time[path->mesh.n];
    return true;
}

// Which intervals are halved: those whose leading Legendre coefficient is large. Returns their number.
static uint32_t
mark(const PathProblem *problem, const Path *path, const double *scale, bool *marked)
{
    uint32_t b = path_width(problem), count = 0;
    double most = 0, *size = malloc(path->mesh.n*sizeof *size);
    PathRule rule;
    path_rule_make(&rule, false);
    for (uint32_t j = 0; j < path->mesh.n && size; j++) {
        size[j] = 0;
        for (uint32_t i = 0; i < problem->n; i++) {
            double lead = 0;
            for (uint32_t k = 0; k < PATH_NODES; k++)
                lead += rule.basis[k][PATH_DEGREE]*path->value[((size_t)PATH_DEGREE*j + k)*b + i];
            lead = fabs(lead)/70/scale[i]; // x^4 is 1/70 of its Legendre polynomial, and less of others
            if (problem->rate_of[i] != UINT32_MAX) // what its error is worth in positions: that of the action, h*(D^a of the error)^2
                lead *= lead*pow((problem->to - problem->from)/path->mesh.length[j], 2*highest_order(problem, i) - 1);
            size[j] = fmax(size[j], lead);
        }
        most = fmax(most, size[j]);
    }
    for (uint32_t j = 0; j < path->mesh.n && size; j++) {
        marked[j] = size[j] > 0.05*most && size[j] > 0.02*problem->tolerance
                    && path->mesh.length[j] > shortest*(problem->to - problem->from);
        count += marked[j];
    }
    free(size);
    return count;
}

static uint32_t
mark_all(const PathMesh *mesh, bool *marked)
{
    memset(marked, true, mesh->n);
    return mesh->n;
}

// --- the whole

// Lines through the start, what is guessed, and the end; `part`: of the time between the ends.
static double
guessed(const PathProblem *problem, uint32_t i, double part)
{
    uint32_t n = problem->guess ? problem->n_guess[i] : 0, k = (uint32_t)(part*(n + 1));
    k = k > n ? n : k;
    double a = k ? problem->guess[i][k - 1] : problem->start[i], z = k < n ? problem->guess[i][k] : problem->end[i];
    double within = part*(n + 1) - k;
    return isnan(a) && isnan(z) ? 0 : isnan(z) ? a : isnan(a) ? z : (1 - within)*a + within*z;
}

// A rate is that of what it belongs to, but at ends where it is given.
static double
guessed_rate(const PathProblem *problem, uint32_t i, double part)
{
    enum { DEEP = 1000 }; // of the time between the ends, a difference
    double given = part == 0 ? problem->start[i] : part == 1 ? problem->end[i] : NAN, step = 1.0/DEEP;
    uint32_t of = problem->rate_of[i];
    if (!isnan(given))
        return given;
    if (problem->rate_of[of] != UINT32_MAX || (problem->n_guess && problem->n_guess[i]))
        return guessed(problem, i, part);
    part = fmin(part, 1 - step);
    return (guessed(problem, of, part + step) - guessed(problem, of, part))/step/(problem->to - problem->from);
}

static bool
first_guess(const PathProblem *problem, uint32_t n, Path *path)
{
    uint32_t b = path_width(problem);
    PathRule rule;
    path_rule_make(&rule, false);
    path->value = calloc(((size_t)PATH_DEGREE*n + 1)*b, sizeof(double));
    if (!mesh_make(&path->mesh, n) || !path->value)
        return false;
    for (uint32_t j = 0; j <= n; j++)
        path->mesh.time[j] = problem->from + (problem->to - problem->from)*j/n;
    for (uint32_t j = 0; j < n; j++)
        path->mesh.length[j] = (problem->to - problem->from)/n;
    for (uint32_t k = 0; k <= PATH_DEGREE*n; k++) {
        double part = k == PATH_DEGREE*n ? 1 : (k/PATH_DEGREE + rule.node[k % PATH_DEGREE])/n;
        for (uint32_t i = 0; i < problem->n; i++)
            path->value[(size_t)k*b + i] = problem->rate_of[i] == UINT32_MAX ? guessed(problem, i, part) : guessed_rate(problem, i, part);
    }
    return true;
}

// Newton on the path's mesh; *change: how far the path is from its value before.
static PathEnd
settle(const PathProblem *problem, Path *path, double *change, double *scale)
{
    Newton w;
    size_t size = ((size_t)PATH_DEGREE*path->mesh.n + 1)*path_width(problem);
    double *before = malloc(size*sizeof *before);
    PathEnd end = newton_make(&w, problem, &path->mesh);
    if (end == PATH_FOUND && !before)
        end = PATH_NO_MEMORY;
    if (end == PATH_FOUND) {
        memcpy(before, path->value, size*sizeof *before);
        path->meshes++;
        end = newton(&w, path->value, &path->newton);
        if (end == PATH_NO_NEWTON && is_singular_everywhere(&w, before, path->value, &path->curvature))
            end = PATH_SINGULAR;
    }
    if (end == PATH_FOUND) {
        for (size_t k = 0; k < size; k++)
            before[k] -= path->value[k];
        find_scales(problem, path->value, w.system.nodes, scale);
        *change = order_factor(problem)*distance(problem, before, w.system.nodes, scale);
        memcpy(w.scale, scale, problem->n*sizeof *scale);
        measure(&w, path->value, path);
        if (path->curvature < singular_curvature)
            end = PATH_SINGULAR;
    }
    free(before);
    iteration_free(&w);
    return end;
}

static PathEnd
improve(const PathProblem *problem, Path *path, double *scale)
{
    uint32_t most = path->nonlocal ? MOST_MEMORY : MOST_LOCAL;
    double change = 0;
    bool agree = false;
    while (path->meshes < MOST_MESHES) {
        bool *marked = malloc(path->mesh.n), all = agree;
        uint32_t more = !marked ? 0 : agree ? mark_all(&path->mesh, marked) : mark(problem, path, scale, marked);
        if (marked && !more) {
            more = mark_all(&path->mesh, marked);
            all = true;
        }
        if (!marked || path->mesh.n + more > most) {
            free(marked);
            return marked ? PATH_COARSE : PATH_NO_MEMORY;
        }
        Path next = *path;
        bool made = refine(problem, path, marked, &next.mesh, &next.value);
        free(marked);
        PathEnd end = made ? settle(problem, &next, &change, scale) : PATH_NO_MEMORY;
        path->newton = next.newton;
        path->meshes = next.meshes;
        if (end != PATH_FOUND) { // what is kept is the coarser path
            path_mesh_free(&next.mesh);
            free(next.value);
            if (end == PATH_SINGULAR)
                path->curvature = next.curvature;
            return end;
        }
        path_mesh_free(&path->mesh);
        free(path->value);
        *path = next;
        path->error = change;
        agree = change <= problem->tolerance;
        if (agree && all)
            return PATH_FOUND;
    }
    return PATH_COARSE;
}

// At the ends a multiplier is that of the polynomial through the other nodes of its interval.
static void
extend_multipliers(const PathProblem *problem, Path *path)
{
    uint32_t n = problem->n, b = path_width(problem), last = PATH_DEGREE*path->mesh.n;
    PathRule rule;
    path_rule_make(&rule, false);
    for (uint32_t end = 0; end < 2 && problem->n_constraints && path->value; end++)
        for (uint32_t j = n; j < b; j++) {
            double sum = 0;
            for (uint32_t k = 1; k < PATH_NODES; k++) {
                double weight = 1;
                for (uint32_t m = 1; m < PATH_NODES; m++)
                    weight *= m == k ? 1 : rule.node[m]/(rule.node[m] - rule.node[k]);
                sum += weight*path->value[(size_t)(end ? last - k : k)*b + j];
            }
            path->value[(size_t)(end ? last : 0)*b + j] = sum;
        }
}

PathEnd
path_stationary(const PathProblem *problem, Path *path)
{
    *path = (Path){.error = NAN, .curvature = NAN, .residual = NAN, .nonlocal = path_is_nonlocal(problem)};
    double *scale = malloc((problem->n + 1)*sizeof *scale), change;
    PathEnd end = PATH_NO_MEMORY;
    // Where Newton's method fails after a coarse mesh, it may not after a finer one.
    for (uint32_t n = problem->intervals ? problem->intervals : FIRST_INTERVALS; scale; n *= 4) {
        path_mesh_free(&path->mesh);
        free(path->value);
        path->value = NULL;
        end = first_guess(problem, n, path) ? settle(problem, path, &change, scale) : PATH_NO_MEMORY;
        if (end == PATH_FOUND && !problem->intervals)
            end = improve(problem, path, scale);
        if ((end != PATH_NO_NEWTON && end != PATH_UNDEFINED) || problem->intervals || n >= FINEST_GUESS)
            break;
    }
    free(scale);
    extend_multipliers(problem, path);
    return end;
}

void
path_at(const PathProblem *problem, const Path *path, double time, double *out)
{
    const PathMesh *mesh = &path->mesh;
    uint32_t low = 0, high = mesh->n, n = problem->n, b = path_width(problem);
    PathRule rule;
    double value[PATH_NODES], slope[PATH_NODES];
    path_rule_make(&rule, path->nonlocal);
    while (high - low > 1) {
        uint32_t middle = (low + high)/2;
        *(time < mesh->time[middle] ? &high : &low) = middle;
    }
    double x = fmin(fmax((time - mesh->time[low])/mesh->length[low], 0), 1);
    path_basis(&rule, x, value, slope);
    const double *at = path->value + (size_t)PATH_DEGREE*low*b;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = out[n + i] = 0;
        for (uint32_t k = 0; k < PATH_NODES; k++) {
            out[i] += value[k]*at[(size_t)k*b + i];
            out[n + i] += slope[k]/mesh->length[low]*at[(size_t)k*b + i];
        }
    }
    for (uint32_t j = 0; j < problem->n_constraints; j++) {
        out[2*n + j] = 0;
        for (uint32_t k = 0; k < PATH_NODES; k++)
            out[2*n + j] += value[k]*at[(size_t)k*b + n + j];
    }
    double *weight = malloc(((size_t)PATH_DEGREE*mesh->n + 1)*sizeof *weight);
    for (uint32_t f = 2*n; f < problem->n_features; f++) {
        double *to = &out[2*n + problem->n_constraints + f - 2*n];
        *to = weight ? 0 : NAN;
        if (weight)
            path_memory_weights(&rule, mesh, low, x, problem->order[f], weight);
        for (uint32_t k = 0; weight && k <= PATH_DEGREE*(low + 1); k++)
            *to += weight[k]*path->value[(size_t)k*b + problem->coordinate[f]];
    }
    free(weight);
}

void
path_free(Path *path)
{
    path_mesh_free(&path->mesh);
    free(path->value);
    path->value = NULL;
}
