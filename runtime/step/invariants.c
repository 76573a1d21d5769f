// invariants.c: groups of invariants that share states, for looking at their ranks.
//
// Purpose: redundancy.c asks which invariants follow from others. Invariants of different mechanisms, and those of
// positions and of velocities, have nothing to do with each other; small matrices instead of one large one.
// Method: invariants that depend on a common state of their own depth are in one group (union-find). The matrix of a
// group is that of the slopes (slopes.c) with columns scaled by nominal values.
// Contract: `constraint` tables of model.h. Complexity: linear in the nonzeros of dc/dy.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/disjoint_sets.h"
#include "runtime/model/list.h"
#include "runtime/point/newton.h"
#include "runtime/point/run.h"
#include "runtime/step/slopes.h"
#include "runtime/step/step.h"

static const uint32_t FREE = UINT32_MAX;
static const double RESIDUE = 1e-13;  // what rounding leaves of partial derivatives that cancel, beside the largest
static const double ROUNDING = 1e-14; // and beside the states' sizes

typedef struct Group {
    uint32_t *row, rows;       // invariants
    uint32_t *column, columns; // states of their depth that they depend on
} Group;

struct Invariants {
    Group *group;
    uint32_t groups;
    Slopes *slopes;
    uint32_t *position; // per invariant: its row in the group being looked at
};

void
invariants_free(Invariants **slot)
{
    Invariants *s = *slot;
    if (!s)
        return;
    for (uint32_t g = 0; s->group && g < s->groups; g++) {
        free(s->group[g].row);
        free(s->group[g].column);
    }
    free(s->group);
    slopes_free(&s->slopes);
    free(s->position);
    free(s);
    *slot = NULL;
}

static bool
eligible(const mdl_model *model, uint32_t row, uint32_t column)
{
    return model->state_depth[column] == model->constraint[row].depth;
}

static bool
add_to(uint32_t **list, uint32_t *n, uint32_t item)
{
    if (!list_room(list, *n, sizeof **list))
        return false;
    (*list)[(*n)++] = item;
    return true;
}

static bool
make_groups(const mdl_model *model, Invariants *s, uint32_t *parent, uint32_t *number)
{
    const Slopes *c = s->slopes;
    uint32_t m = model->n_constraints;
    sets_begin(parent, m);
    for (uint32_t j = 0; j < model->nx; j++) {
        uint32_t first = FREE;
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++) {
            if (!eligible(model, c->row[k], j))
                continue;
            if (first == FREE)
                first = c->row[k];
            sets_join(parent, c->row[k], first);
        }
    }
    for (uint32_t i = 0; i < m; i++)
        number[i] = FREE;
    for (uint32_t i = 0; i < m; i++) {
        uint32_t root = sets_find(parent, i);
        if (number[root] == FREE)
            number[root] = s->groups++;
    }
    s->group = calloc((size_t)s->groups + 1, sizeof *s->group);
    bool good = s->group != NULL;
    for (uint32_t i = 0; i < m && good; i++) {
        Group *group = &s->group[number[sets_find(parent, i)]];
        good = add_to(&group->row, &group->rows, i);
    }
    for (uint32_t j = 0; j < model->nx && good; j++)
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            if (eligible(model, c->row[k], j)) {
                Group *group = &s->group[number[sets_find(parent, c->row[k])]];
                good = add_to(&group->column, &group->columns, j);
                break;
            }
    return good;
}

Invariants *
invariants_create(const mdl_model *model)
{
    Invariants *s = calloc(1, sizeof *s);
    size_t n = (size_t)model->n_constraints + 1;
    uint32_t *work = calloc(2 * n, sizeof *work);
    if (s) {
        s->position = calloc(n, sizeof *s->position);
        s->slopes = slopes_create(model);
    }
    bool good = s && work && s->position && s->slopes && make_groups(model, s, work, work + n);
    free(work);
    if (!good && s)
        invariants_free(&s);
    return s;
}

bool
invariants_look(const Run *run, Invariants *s)
{
    return slopes_update(run, s->slopes);
}

const Slopes *
invariants_slopes(const Invariants *s)
{
    return s->slopes;
}

uint32_t
invariants_groups(const Invariants *s)
{
    return s->groups;
}

uint32_t
invariants_group(const Invariants *s, uint32_t g, uint32_t *row)
{
    const Group *group = &s->group[g];
    memcpy(row, group->row, group->rows * sizeof *row);
    return group->rows;
}

uint32_t
invariants_states(const Invariants *s, uint32_t g, uint32_t *column)
{
    const Group *group = &s->group[g];
    if (column)
        memcpy(column, group->column, group->columns * sizeof *column);
    return group->columns;
}

// What is nothing but rounding beside the largest partial derivative of its invariant, or beside the states themselves (arms side by
// side, between which everything cancels), is no way to change it: the factorisation brings the derivatives by each state to
// one size, which would make it one.
static void
drop_residues(double *matrix, uint32_t columns, uint32_t rows, double size)
{
    for (uint32_t i = 0; i < rows; i++) {
        double *derivative = matrix + (size_t)i * columns, largest = ROUNDING / RESIDUE * size;
        for (uint32_t j = 0; j < columns; j++)
            largest = fmax(largest, fabs(derivative[j]));
        for (uint32_t j = 0; j < columns; j++)
            derivative[j] = fabs(derivative[j]) > RESIDUE * largest ? derivative[j] : 0;
    }
}

// The transpose is factored, so that its pivots choose among the invariants.
Rank *
invariants_rank(const Run *run, Invariants *s, uint32_t g)
{
    const mdl_model *model = run->model;
    const Slopes *c = s->slopes;
    const double *slope = slopes_values(run, c);
    const Group *group = &s->group[g];
    Rank *rank = rank_create(group->columns, group->rows);
    if (!rank)
        return NULL;
    double *matrix = rank_matrix(rank);
    memset(matrix, 0, sizeof *matrix * group->rows * group->columns);
    for (uint32_t i = 0; i < group->rows; i++)
        s->position[group->row[i]] = i;
    double size = 0;
    for (uint32_t j = 0; j < group->columns; j++) {
        uint32_t column = group->column[j];
        double scale = fabs(run->v[model->nominal + column]);
        size = fmax(size, fmax(scale, fabs(run->v[model->y + column])));
        for (uint32_t k = c->column_start[column]; k < c->column_start[column + 1]; k++) {
            uint32_t row = c->row[k], i = s->position[row];
            if (i < group->rows && group->row[i] == row)
                matrix[(size_t)i * group->columns + j] = slope[k] * scale;
        }
    }
    drop_residues(matrix, group->columns, group->rows, size);
    if (!rank_factor(rank, NULL, RANK_DEPENDENT, group->rows))
        rank_free(&rank);
    return rank;
}
