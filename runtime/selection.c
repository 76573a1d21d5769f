// selection.c: dynamic state selection: which states the invariants determine.
//
// Purpose: a constraint among states takes the place of the row of one of them. Which one is well
// determined changes along the motion (a pendulum's x and y); the choice follows it without a jump, because
// all states stay unknowns.
// Method: invariants that share candidate states form a group, one per level of differentiation. Gaussian
// elimination with complete pivoting on dc/dy, columns scaled by nominal values, gives the best determined
// states; the present choice is kept until its smallest pivot falls below a fraction of the best one
// (hysteresis). Mattsson, Olsson and Elmqvist, Modelica Workshop 2000, 13, describe the problem.
// Contract: `constraint` tables of model.h. Complexity: per review m^2 c for a group of m constraints and c
// states.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rank.h"
#include "runtime/run.h"

static const double KEEP = 0.4;         // present pivots are good down to this fraction of the best
static const double DEPENDENT = 1e-11;  // of the largest entry: the constraints are not independent
static const uint32_t FREE = UINT32_MAX;

typedef struct Group {
    uint32_t *row, rows;       // constraints
    uint32_t *column, columns; // states that may be determined by them
    uint32_t rank;             // constraints that hold by themselves; the others follow from them (redundancy.c)
} Group;

struct Selection {
    Group *group;
    uint32_t groups;
    uint32_t *owner;       // per constraint: the state whose row it replaces
    uint32_t *constraint;  // per state: constraint + 1, or 0
    double *matrix, *work; // of the largest group, rows x columns by rows
    uint32_t *position;    // per state: its column in the group being looked at
    uint64_t reviewed_at;  // number of Jacobians when the choice was reviewed last
};

void
selection_free(Selection **slot)
{
    Selection *s = *slot;
    if (!s)
        return;
    for (uint32_t g = 0; s->group && g < s->groups; g++) {
        free(s->group[g].row);
        free(s->group[g].column);
    }
    free(s->group);
    free(s->owner);
    free(s->constraint);
    free(s->matrix);
    free(s->work);
    free(s->position);
    free(s);
    *slot = NULL;
}

static uint32_t
root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static bool
eligible(const mdl_model *model, uint32_t row, uint32_t column)
{
    return column < model->nx && model->state_depth[column] == model->constraint[row].depth;
}

static bool
add_to(uint32_t **list, uint32_t *n, uint32_t item)
{
    // Lists grow by doubling at powers of two.
    if ((*n & (*n - 1)) == 0) {
        uint32_t *more = realloc(*list, sizeof **list * (*n ? 2 * (size_t)*n : 1));
        if (!more)
            return false;
        *list = more;
    }
    (*list)[(*n)++] = item;
    return true;
}

static bool
make_groups(const mdl_model *model, Selection *s, uint32_t *parent, uint32_t *number)
{
    const mdl_matrix *c = &model->jac_c;
    uint32_t m = model->n_constraints;
    for (uint32_t i = 0; i < m; i++)
        parent[i] = i;
    for (uint32_t j = 0; j < model->n; j++) {
        uint32_t first = FREE;
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++) {
            if (!eligible(model, c->row[k], j))
                continue;
            if (first == FREE)
                first = c->row[k];
            parent[root_of(parent, c->row[k])] = root_of(parent, first);
        }
    }
    for (uint32_t i = 0; i < m; i++)
        number[i] = FREE;
    for (uint32_t i = 0; i < m; i++) {
        uint32_t root = root_of(parent, i);
        if (number[root] == FREE)
            number[root] = s->groups++;
    }
    s->group = calloc((size_t)s->groups + 1, sizeof *s->group);
    bool good = s->group != NULL;
    for (uint32_t i = 0; i < m && good; i++) {
        Group *group = &s->group[number[root_of(parent, i)]];
        good = add_to(&group->row, &group->rows, i);
    }
    for (uint32_t j = 0; j < model->n && good; j++)
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            if (eligible(model, c->row[k], j)) {
                Group *group = &s->group[number[root_of(parent, c->row[k])]];
                good = add_to(&group->column, &group->columns, j);
                break;
            }
    return good;
}

Selection *
selection_create(const mdl_model *model)
{
    Selection *s = calloc(1, sizeof *s);
    size_t n = (size_t)model->n + model->n_constraints + 1, most = 0;
    uint32_t *parent = calloc(2 * n, sizeof *parent);
    bool good = s && parent && make_groups(model, s, parent, parent + n);
    free(parent);
    for (uint32_t g = 0; good && g < s->groups; g++) {
        size_t size = (size_t)s->group[g].rows * s->group[g].columns;
        if (size > most)
            most = size;
    }
    if (good) {
        s->owner = malloc(n * sizeof *s->owner);
        s->constraint = calloc(n, sizeof *s->constraint);
        s->position = calloc(n, sizeof *s->position);
        s->matrix = calloc(most + 1, sizeof *s->matrix);
        s->work = calloc(most + 1, sizeof *s->work);
        good = s->owner && s->constraint && s->position && s->matrix && s->work;
    }
    if (good)
        memset(s->owner, 0xff, n * sizeof *s->owner);
    else if (s)
        selection_free(&s);
    return s;
}

const uint32_t *
selection_of_states(const Selection *selection)
{
    return selection->constraint;
}

static void
load_group(const Run *run, Selection *s, const Group *group, double *matrix)
{
    const mdl_model *model = run->model;
    const mdl_matrix *c = &model->jac_c;
    memset(matrix, 0, sizeof *matrix * group->rows * group->columns);
    for (uint32_t i = 0; i < group->rows; i++)
        s->position[group->row[i]] = i;
    for (uint32_t j = 0; j < group->columns; j++) {
        uint32_t column = group->column[j];
        double scale = fabs(run->v[model->nominal + column]);
        for (uint32_t k = c->column_start[column]; k < c->column_start[column + 1]; k++) {
            uint32_t row = c->row[k], i = s->position[row];
            if (i < group->rows && group->row[i] == row)
                matrix[(size_t)i * group->columns + j] = run->v[c->values + k] * scale;
        }
    }
}

static void
eliminate(double *matrix, const Group *group, uint32_t step, uint32_t pivot_row, uint32_t pivot_column, uint32_t *order)
{
    uint32_t n = group->columns;
    for (uint32_t j = 0; j < n && pivot_row != step; j++) {
        double kept = matrix[(size_t)step * n + j];
        matrix[(size_t)step * n + j] = matrix[(size_t)pivot_row * n + j];
        matrix[(size_t)pivot_row * n + j] = kept;
    }
    uint32_t swapped = order[step];
    order[step] = order[pivot_row];
    order[pivot_row] = swapped;
    double pivot = matrix[(size_t)step * n + pivot_column];
    for (uint32_t i = step + 1; i < group->rows; i++) {
        double factor = matrix[(size_t)i * n + pivot_column] / pivot;
        for (uint32_t j = 0; j < n && factor != 0; j++)
            matrix[(size_t)i * n + j] -= factor * matrix[(size_t)step * n + j];
    }
}

// Gaussian elimination; taken[j] = 1 for the columns it may use, all when `best`. Afterwards owner_column[i]
// is the column of row order[i]. Returns the smallest pivot.
static double
smallest_pivot(double *matrix, const Group *group, const uint8_t *allowed, uint32_t *order, uint32_t *pivot_column)
{
    double smallest = INFINITY;
    uint8_t used[group->columns + 1];
    memset(used, 0, sizeof used);
    for (uint32_t i = 0; i < group->rows; i++)
        order[i] = i;
    for (uint32_t step = 0; step < group->rank; step++) {
        double most = 0;
        uint32_t row = step, column = FREE;
        for (uint32_t i = step; i < group->rows; i++)
            for (uint32_t j = 0; j < group->columns; j++) {
                double size = fabs(matrix[(size_t)i * group->columns + j]);
                if (!used[j] && (!allowed || allowed[j]) && size > most) {
                    most = size;
                    row = i;
                    column = j;
                }
            }
        if (most < smallest)
            smallest = most;
        if (column == FREE)
            return 0;
        used[column] = 1;
        eliminate(matrix, group, step, row, column, order);
        pivot_column[step] = column;
    }
    return smallest;
}

uint32_t
selection_groups(const Selection *selection)
{
    return selection->groups;
}

uint32_t
selection_group(const Run *run, Selection *s, uint32_t g, Rank *rank, uint32_t *row, uint32_t *columns)
{
    const Group *group = &s->group[g];
    *columns = group->columns;
    memcpy(row, group->row, group->rows * sizeof *row);
    if (!rank)
        return group->rows;
    // The transpose is factored, so that its pivots choose among the constraints.
    load_group(run, s, group, s->matrix);
    memcpy(rank_matrix(rank), s->matrix, (size_t)group->rows * group->columns * sizeof *s->matrix);
    return group->rows;
}

static int
report_dependent(const Run *run, const Group *group, uint32_t row)
{
    const char *text = run->model->constraint[group->row[row]].text;
    run_message(run, MDL_ERROR, "at time %.12g: a constraint depends on the others, so nothing determines its force\n%s",
                run->time, text ? text : "");
    return MDL_FAILED;
}

static int
review_group(Run *run, Selection *s, Group *group, uint32_t rank, bool *changed)
{
    group->rank = rank;
    uint32_t order[group->rows + 1], column[group->rows + 1];
    uint8_t present[group->columns + 1];
    double largest = 0;
    load_group(run, s, group, s->matrix);
    size_t size = (size_t)group->rows * group->columns;
    for (size_t k = 0; k < size; k++)
        largest = fmax(largest, fabs(s->matrix[k]));
    bool chosen = false;
    for (uint32_t i = 0; i < group->rows; i++)
        chosen = chosen || s->owner[group->row[i]] != FREE;
    double now = 0;
    if (chosen) {
        for (uint32_t j = 0; j < group->columns; j++)
            present[j] = s->constraint[group->column[j]] != 0;
        memcpy(s->work, s->matrix, size * sizeof *s->work);
        for (uint32_t i = 0; i < group->rows; i++)
            if (s->owner[group->row[i]] == FREE)
                memset(s->work + (size_t)i * group->columns, 0, group->columns * sizeof *s->work);
        now = smallest_pivot(s->work, group, present, order, column);
    }
    memcpy(s->work, s->matrix, size * sizeof *s->work);
    double best = smallest_pivot(s->work, group, NULL, order, column);
    if (!(best > DEPENDENT * largest))
        return report_dependent(run, group, order[group->rank - 1]);
    if (chosen && now >= KEEP * best)
        return MDL_OK;
    for (uint32_t j = 0; j < group->columns; j++)
        s->constraint[group->column[j]] = 0;
    for (uint32_t i = 0; i < group->rows; i++)
        s->owner[group->row[i]] = FREE;
    for (uint32_t i = 0; i < group->rank; i++) {
        uint32_t state = group->column[column[i]], row = group->row[order[i]];
        s->owner[row] = state;
        s->constraint[state] = row + 1;
    }
    *changed = true;
    return MDL_OK;
}

int
selection_review(Run *run, Selection *s, bool force, bool *changed)
{
    *changed = false;
    if (!force && s->reviewed_at == run->stats->jacobians)
        return MDL_OK;
    s->reviewed_at = run->stats->jacobians;
    evaluate_load(run, run->time, run->y, run->yp);
    evaluate_plain(run);
    mdl_call(run->model->jacobian, run->v);
    int status = MDL_OK;
    for (uint32_t g = 0; g < s->groups && status == MDL_OK; g++)
        status = review_group(run, s, &s->group[g], run->group_rank ? run->group_rank[g] : s->group[g].rows, changed);
    return status;
}
