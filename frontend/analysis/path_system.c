// path_system.c: the stationary conditions of a discretised action.
//
// Purpose: the equations that Newton's method solves. Method: Galerkin's in time (Marsden and West, Acta Numerica 10 (2001) 357: a
// variational integrator with two given ends): L is integrated by the rule of path_rule.c along piecewise polynomials, and differentiated by their
// values at nodes. The weights that make fractional derivatives of nodes' values make, transposed, the derivatives from the other end in the
// stationary conditions, so that these are the discrete two-sided equations. Constraints hold at nodes, with multipliers there. What has a rate of its own
// is at each node the value at the beginning of the interval and the integral of the rate's polynomial, which is a constraint, too.
// Contract: path_system.h.
// Complexity: linear in the intervals; with memory, per point of the quadrature quadratic in the nodes before it.
#include "frontend/analysis/path_system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Support {     // of a feature at a point: it is the sum of weight[k]*value of node first + k
    uint32_t first, n;
    const double *weight;
} Support;

bool
path_is_nonlocal(const PathProblem *problem)
{
    return problem->n_features > 2*problem->n;
}

// The first and last node that a node has an equation with.
static void
neighbours(const PathSystem *system, uint32_t node, uint32_t *low, uint32_t *high)
{
    uint32_t interval = node/PATH_DEGREE, last = system->nodes - 1;
    *low = 0;
    *high = last;
    if (system->nonlocal)
        return;
    *low = node % PATH_DEGREE || !node ? interval*PATH_DEGREE : (interval - 1)*PATH_DEGREE;
    *high = node == last ? last : (interval + 1)*PATH_DEGREE;
}

static bool
make_pattern(PathSystem *system)
{
    uint32_t b = system->b, low, high;
    size_t entries = 0;
    system->start = calloc(system->size + 1, sizeof *system->start);
    if (!system->start)
        return false;
    for (uint32_t c = 0; c < system->size; c++) {
        neighbours(system, c/b, &low, &high);
        entries += (size_t)(high - low + 1)*b;
        if (entries > INT32_MAX)
            return false;
        system->start[c + 1] = (uint32_t)entries;
    }
    system->row = malloc(entries*sizeof *system->row);
    system->matrix = malloc(entries*sizeof *system->matrix);
    if (!system->row || !system->matrix)
        return false;
    for (uint32_t c = 0; c < system->size; c++) {
        neighbours(system, c/b, &low, &high);
        for (uint32_t k = system->start[c]; k < system->start[c + 1]; k++)
            system->row[k] = low*b + k - system->start[c];
    }
    return true;
}

// The first feature of the same order.
static uint32_t
same_order(const PathProblem *problem, uint32_t feature)
{
    uint32_t same = 2*problem->n;
    while (problem->order[same] != problem->order[feature])
        same++;
    return same;
}

// They depend on the mesh alone, and cost more than what is done with them in one evaluation.
static bool
make_weights(PathSystem *system)
{
    const PathProblem *problem = system->problem;
    uint32_t n = 2*problem->n, each = system->rule.n_points;
    for (uint32_t k = n; k < problem->n_features; k++)
        for (uint32_t p = 0; p < system->points; p++) {
            uint32_t same = same_order(problem, k), interval = p/each;
            double **to = &system->memory[(size_t)(k - n)*system->points + p];
            if (same < k) {
                *to = system->memory[(size_t)(same - n)*system->points + p];
                continue;
            }
            *to = malloc((PATH_DEGREE*((size_t)interval + 1) + 1)*sizeof(double));
            if (!*to)
                return false;
            path_memory_weights(&system->rule, system->mesh, interval, system->rule.point[p % each], problem->order[k], *to);
        }
    return true;
}

static void
free_weights(PathSystem *system)
{
    const PathProblem *problem = system->problem;
    for (uint32_t k = 2*problem->n; k < problem->n_features && system->memory; k++)
        for (uint32_t p = 0; p < system->points && same_order(problem, k) == k; p++)
            free(system->memory[(size_t)(k - 2*problem->n)*system->points + p]);
    free(system->memory);
}

bool
path_system_make(PathSystem *system, const PathProblem *problem, const PathMesh *mesh)
{
    uint32_t n = problem->n, f = problem->n_features, c = problem->n_constraints;
    *system = (PathSystem){.problem = problem, .mesh = mesh, .b = path_width(problem), .nodes = PATH_DEGREE*mesh->n + 1,
                           .nonlocal = path_is_nonlocal(problem)};
    system->size = system->b*system->nodes;
    path_rule_make(&system->rule, system->nonlocal);
    system->residual = malloc(system->size*sizeof(double));
    system->magnitude = malloc(system->size*sizeof(double));
    system->points = mesh->n*system->rule.n_points;
    system->memory = calloc((size_t)(f - 2*n)*system->points + 1, sizeof *system->memory);
    system->feature = malloc(f*sizeof(double));
    system->force = malloc(f*sizeof(double));
    system->slope = malloc((size_t)f*f*sizeof(double));
    system->constraint = malloc((c + 1)*sizeof(double));
    system->jacobian = malloc(((size_t)c*n + 1)*sizeof(double));
    system->curvature = malloc(((size_t)n*n + 1)*sizeof(double));
    return system->memory && make_weights(system) && make_pattern(system) && system->residual && system->magnitude && system->feature && system->force && system->slope
           && system->constraint && system->jacobian && system->curvature;
}

void
path_system_free(PathSystem *system)
{
    if (system->problem)
        free_weights(system);
    free(system->start);
    free(system->row);
    free(system->matrix);
    free(system->residual);
    free(system->magnitude);
    free(system->feature);
    free(system->force);
    free(system->slope);
    free(system->constraint);
    free(system->jacobian);
    free(system->curvature);
}

static inline void
add_entry(PathSystem *system, uint32_t row, uint32_t column, double value)
{
    uint32_t begin = system->start[column];
    system->matrix[begin + row - system->row[begin]] += value;
}

// The matrix of one pair of features at one point, and what it is worth along a direction.
static void
add_pair(PathSystem *system, double slope, const Support *left, uint32_t i, const Support *right, uint32_t j)
{
    uint32_t b = system->b;
    for (uint32_t c = 0; c < right->n; c++) {
        uint32_t column = (right->first + c)*b + j, begin = system->start[column];
        double *to = system->matrix + begin + ((size_t)left->first*b + i - system->row[begin]), part = slope*right->weight[c];
        for (uint32_t r = 0; r < left->n; r++)
            to[(size_t)r*b] += part*left->weight[r];
    }
}

static double
along(const PathSystem *system, const double *u, const Support *support, uint32_t i)
{
    double sum = 0;
    for (uint32_t k = 0; k < support->n; k++)
        sum += support->weight[k]*u[(size_t)(support->first + k)*system->b + i];
    return sum;
}

static bool
add_point(PathSystem *system, const double *u, bool slopes, uint32_t interval, uint32_t p)
{
    const PathProblem *problem = system->problem;
    uint32_t n = problem->n, f = problem->n_features;
    double h = system->mesh->length[interval], x = system->rule.point[p], value[PATH_NODES], rate[PATH_NODES], lagrangian;
    double weight = h*system->rule.weight[p];
    path_basis(&system->rule, x, value, rate);
    for (uint32_t k = 0; k < PATH_NODES; k++)
        rate[k] /= h;
    Support support[f];
    for (uint32_t k = 0; k < 2*n; k++)
        support[k] = (Support){PATH_DEGREE*interval, PATH_NODES, k % 2 ? rate : value};
    for (uint32_t k = 2*n; k < f; k++)
        support[k] = (Support){0, PATH_DEGREE*(interval + 1) + 1,
                               system->memory[(size_t)(k - 2*n)*system->points + interval*system->rule.n_points + p]};
    for (uint32_t k = 0; k < f; k++)
        system->feature[k] = along(system, u, &support[k], problem->coordinate[k]);
    problem->evaluate(problem->user, system->mesh->time[interval] + x*h, system->feature, &lagrangian, system->force, slopes ? system->slope : NULL);
    system->action += weight*lagrangian;
    bool good = isfinite(lagrangian);
    for (uint32_t k = 0; k < f; k++) {
        good &= isfinite(system->force[k]) != 0;
        for (uint32_t r = 0; r < support[k].n && system->force[k] != 0; r++) {
            double part = weight*system->force[k]*support[k].weight[r];
            system->residual[(size_t)(support[k].first + r)*system->b + problem->coordinate[k]] += part;
            system->magnitude[(size_t)(support[k].first + r)*system->b + problem->coordinate[k]] += fabs(part);
        }
    }
    for (uint32_t k = 0; k < f && slopes; k++)
        for (uint32_t m = 0; m < f; m++) {
            double slope = weight*system->slope[(size_t)k*f + m];
            if (slope == 0)
                continue;
            good &= isfinite(slope) != 0;
            if (system->direction) {
                double part = slope*along(system, system->direction, &support[k], problem->coordinate[k])
                              *along(system, system->direction, &support[m], problem->coordinate[m]);
                system->form += part;
                system->terms += fabs(part);
            } else {
                add_pair(system, slope, &support[k], problem->coordinate[k], &support[m], problem->coordinate[m]);
            }
        }
    return good;
}

// Constraints at a node inside, with the work of their multipliers.
static bool
add_constraints(PathSystem *system, const double *u, bool slopes, uint32_t node)
{
    const PathProblem *problem = system->problem;
    uint32_t n = problem->n, c = problem->n_constraints, interval = node/PATH_DEGREE, k = node % PATH_DEGREE;
    size_t at = (size_t)node*system->b;
    double h = system->mesh->length[interval], weight = h*system->rule.node_weight[k];
    if (!k)
        weight += system->mesh->length[interval - 1]*system->rule.node_weight[PATH_DEGREE];
    problem->constrain(problem->user, system->mesh->time[interval] + system->rule.node[k]*h, u + at, u + at + n, system->constraint,
                       system->jacobian, system->curvature);
    bool good = true;
    for (uint32_t j = 0; j < c; j++) {
        system->residual[at + n + j] += weight*system->constraint[j];
        good &= isfinite(system->constraint[j]) != 0;
        for (uint32_t i = 0; i < n; i++) {
            double slope = weight*system->jacobian[(size_t)j*n + i];
            system->residual[at + i] += slope*u[at + n + j];
            system->magnitude[at + i] += fabs(slope*u[at + n + j]);
            if (slopes && !system->direction) {
                add_entry(system, (uint32_t)at + n + j, (uint32_t)at + i, slope);
                add_entry(system, (uint32_t)at + i, (uint32_t)at + n + j, slope);
            }
        }
    }
    for (uint32_t i = 0; i < n && slopes; i++)
        for (uint32_t j = 0; j < n; j++) {
            double part = weight*system->curvature[(size_t)i*n + j];
            if (!system->direction) {
                add_entry(system, (uint32_t)at + i, (uint32_t)at + j, part);
                continue;
            }
            part *= system->direction[at + i]*system->direction[at + j];
            system->form += part;
            system->terms += fabs(part);
        }
    return good;
}

// q(node) - q(first node of the interval) - integral of the rate, with the work of its multiplier.
static void
add_rates(PathSystem *system, const double *u, bool slopes, uint32_t interval)
{
    const PathProblem *problem = system->problem;
    uint32_t b = system->b, first = PATH_DEGREE*interval, l = problem->n + problem->n_constraints;
    for (uint32_t rate = 0; rate < problem->n; rate++) {
        uint32_t of = problem->rate_of[rate];
        if (of == UINT32_MAX)
            continue;
        for (uint32_t j = 1; j < PATH_NODES; j++) {
            uint32_t row = (first + j)*b + l;
            for (uint32_t k = 0; k < PATH_NODES + 2; k++) {
                bool is_rate = k < PATH_NODES;
                double weight = is_rate ? -system->mesh->length[interval]*system->rule.integral[j][k] : k == PATH_NODES ? 1 : -1;
                uint32_t column = is_rate ? (first + k)*b + rate : (first + (k == PATH_NODES ? j : 0))*b + of;
                system->residual[row] += weight*u[column];
                system->residual[column] += weight*u[row];
                system->magnitude[column] += fabs(weight*u[row]);
                if (slopes && !system->direction) {
                    add_entry(system, row, column, weight);
                    add_entry(system, column, row, weight);
                }
            }
        }
        l++;
    }
}

// What is given: its equation is that it does not change.
static void
hold_ends(PathSystem *system, bool slopes)
{
    uint32_t b = system->b, low, high;
    for (uint32_t end = 0; end < 2; end++) {
        uint32_t node = end ? system->nodes - 1 : 0;
        neighbours(system, node, &low, &high);
        for (uint32_t i = 0; i < b; i++) {
            uint32_t row = node*b + i;
            if (!path_is_held(system, node, i))
                continue;
            system->residual[row] = system->magnitude[row] = 0;
            for (uint32_t c = low*b; c < (high + 1)*b && slopes; c++) {
                uint32_t begin = system->start[c];
                system->matrix[begin + row - system->row[begin]] = c == row;
            }
        }
    }
}

bool
path_system_evaluate(PathSystem *system, const double *u, bool slopes)
{
    bool good = true;
    memset(system->residual, 0, system->size*sizeof(double));
    memset(system->magnitude, 0, system->size*sizeof(double));
    system->action = system->form = system->terms = 0;
    if (slopes && !system->direction)
        memset(system->matrix, 0, system->start[system->size]*sizeof(double));
    for (uint32_t j = 0; j < system->mesh->n; j++)
        for (uint32_t p = 0; p < system->rule.n_points; p++)
            good &= add_point(system, u, slopes, j, p);
    for (uint32_t node = 1; node + 1 < system->nodes && system->problem->n_constraints; node++)
        good &= add_constraints(system, u, slopes, node);
    for (uint32_t j = 0; j < system->mesh->n && system->problem->n_rates; j++)
        add_rates(system, u, slopes, j);
    hold_ends(system, slopes && !system->direction);
    return good;
}
