// schur.c: df/dx of the causal form, by elimination of the loops' unknowns.
//
// Purpose: the iteration matrix of the causal form with few unknowns, and of every model in which equations of loops follow from
//          others (redundancy.c), where the loops' own matrix is singular.
// Method: du/dx = -(dR/du)^-1 dR/dx, column by column. dR/du falls apart into groups that have no equation in common (union-find
//         over its nonzeros), each factored for itself; a column of dR/dx touches few of them. In a group with equations that
//         follow from others du is the shortest one (rank.c).
// Contract: schur.h. Complexity: per group of m unknowns that of its factorisation (m^3 where equations follow from others), and
//           per state a solution of each group that it touches. Memory is linear in the groups' squares and the result.
#include "runtime/step/schur.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/linear/disjoint_sets.h"
#include "runtime/linear/lu.h"
#include "runtime/point/newton.h"
#include "runtime/model/order.h"

static const uint32_t NONE = UINT32_MAX;

// One place of the model's matrices that lies in the loops' own.
typedef struct Place {
    uint32_t value;  // place in v
    uint32_t row, column; // loop unknowns, numbered in their group
} Place;

typedef struct Group {
    uint32_t first, m;     // its loop unknowns are first .. first + m - 1
    uint32_t place, places;
    uint32_t deficient;    // equations that follow from others
    uint32_t *at;          // per place: index into the values of lu
    double *values;
    uint32_t nonzeros;
    Lu *lu;                // NULL while there is none
    Rank *rank;            // instead, where equations follow from others
    double *scale;
} Group;

struct Schur {
    const mdl_model *model;
    uint32_t n, m;
    uint32_t *loop_of;     // per unknown of the model: its number among the loops' (sorted by groups), or NONE
    uint32_t *unknown;     // per loop unknown: the unknown of the model
    uint32_t *group_of;    // per loop unknown
    Group *group;
    uint32_t groups;
    Place *place;          // sorted by groups
    uint32_t *start, *row;
    double *du;            // per loop unknown, zero between columns
    double *column;        // per state, zero between columns
    uint32_t *touched, n_touched; // groups that the column at hand touches
    uint8_t *seen;         // per group: it does; per state behind them: the row is in the column's pattern
};

static bool
is_implicit(const mdl_model *model, uint32_t i)
{
    return i >= model->nx || (model->implicit && model->implicit[i]);
}

// Column j of jac_y, or of jac_yp; afterwards place *k of it is in row(...). False at its end.
static bool
column_of(const mdl_matrix *matrix, uint32_t j, uint32_t *from, uint32_t *to)
{
    bool there = matrix->nonzeros && j < matrix->columns;
    *from = there ? matrix->column_start[j] : 0;
    *to = there ? matrix->column_start[j + 1] : 0;
    return there;
}

// A partial derivative at a corner may have no value; see jacobian.c.
static inline double
usable(double partial)
{
    return partial - partial == 0 ? partial : 0;
}

// The matrix in whose columns the loop unknown i stands: that of derivatives for a state whose derivative is iterated.
static const mdl_matrix *
matrix_of(const mdl_model *model, uint32_t i)
{
    return i < model->nx ? &model->jac_yp : &model->jac_y;
}

// --- groups

// `parent` holds the sets of loop unknowns (by unknowns of the model).
static void
join_loops(const Schur *s, uint32_t *parent)
{
    const mdl_model *model = s->model;
    uint32_t all = model->n + model->n_kept, from, to;
    sets_begin(parent, all);
    for (uint32_t i = 0; i < all; i++) {
        const mdl_matrix *matrix = matrix_of(model, i);
        if (!is_implicit(model, i) || !column_of(matrix, i, &from, &to))
            continue;
        for (uint32_t k = from; k < to; k++)
            if (is_implicit(model, matrix->row[k]))
                sets_join(parent, matrix->row[k], i);
    }
}

static bool
number_loops(Schur *s)
{
    const mdl_model *model = s->model;
    uint32_t all = model->n + model->n_kept;
    uint32_t *parent = malloc(2 * ((size_t)all + 1) * sizeof *parent), *group_of = parent + all + 1;
    if (!parent)
        return false;
    join_loops(s, parent);
    for (uint32_t i = 0; i < all; i++)
        group_of[i] = NONE;
    for (uint32_t i = 0; i < all; i++)
        if (is_implicit(model, i)) {
            uint32_t *group = &group_of[sets_find(parent, i)];
            if (*group == NONE)
                *group = s->groups++;
            s->m++;
        }
    s->group = calloc((size_t)s->groups + 1, sizeof *s->group);
    s->unknown = calloc(2 * (size_t)s->m + 1, sizeof *s->unknown);
    if (!s->group || !s->unknown) {
        free(parent);
        return false;
    }
    s->group_of = s->unknown + s->m;
    for (uint32_t i = 0; i < all; i++)
        if (is_implicit(model, i))
            s->group[group_of[sets_find(parent, i)]].m++;
    for (uint32_t g = 1; g < s->groups; g++)
        s->group[g].first = s->group[g - 1].first + s->group[g - 1].m;
    for (uint32_t g = 0; g < s->groups; g++)
        s->group[g].m = 0;
    for (uint32_t i = 0; i < all; i++) {
        s->loop_of[i] = NONE;
        if (!is_implicit(model, i))
            continue;
        uint32_t g = group_of[sets_find(parent, i)], at = s->group[g].first + s->group[g].m++;
        s->loop_of[i] = at;
        s->unknown[at] = i;
        s->group_of[at] = g;
    }
    free(parent);
    return true;
}

// The places of the loops' own matrix, by groups and in each by columns.
static bool
list_places(Schur *s)
{
    const mdl_model *model = s->model;
    s->place = calloc((size_t)model->jac_y.nonzeros + model->jac_yp.nonzeros + 1, sizeof *s->place);
    uint32_t n = 0, from, to;
    for (uint32_t g = 0; g < s->groups && s->place; g++) {
        Group *group = &s->group[g];
        group->place = n;
        for (uint32_t j = 0; j < group->m; j++) {
            uint32_t unknown = s->unknown[group->first + j];
            const mdl_matrix *matrix = matrix_of(model, unknown);
            (void)column_of(matrix, unknown, &from, &to);
            for (uint32_t k = from; k < to; k++)
                if (is_implicit(model, matrix->row[k]))
                    s->place[n++] = (Place){matrix->values + k, s->loop_of[matrix->row[k]] - group->first, j};
        }
        group->places = n - group->place;
    }
    return s->place != NULL;
}

// --- the pattern of the result

static void
touch(Schur *s, uint32_t g)
{
    if (!s->seen[g])
        s->touched[s->n_touched++] = g;
    s->seen[g] = 1;
}

static void
add_row(Schur *s, uint32_t i, uint32_t *rows, uint32_t *n)
{
    uint8_t *seen = s->seen + s->groups + i;
    if (!*seen)
        rows[(*n)++] = i;
    *seen = 1;
}

// The rows of a column of the model's matrices: states go to `rows`, groups are touched.
static void
add_rows(Schur *s, const mdl_matrix *matrix, uint32_t j, uint32_t *rows, uint32_t *n)
{
    uint32_t from, to;
    (void)column_of(matrix, j, &from, &to);
    for (uint32_t k = from; k < to; k++)
        if (is_implicit(s->model, matrix->row[k]))
            touch(s, s->group_of[s->loop_of[matrix->row[k]]]);
        else
            add_row(s, matrix->row[k], rows, n);
}

// What a group determines: rows of explicit states that read its unknowns, and states whose derivatives are among these.
static void
add_group(Schur *s, const Group *group, uint32_t *rows, uint32_t *n)
{
    const mdl_model *model = s->model;
    uint32_t from, to;
    for (uint32_t k = group->first; k < group->first + group->m; k++) {
        uint32_t unknown = s->unknown[k];
        const mdl_matrix *matrix = matrix_of(model, unknown);
        if (unknown < model->nx)
            add_row(s, unknown, rows, n);
        (void)column_of(matrix, unknown, &from, &to);
        for (uint32_t at = from; at < to; at++)
            if (!is_implicit(model, matrix->row[at]))
                add_row(s, matrix->row[at], rows, n);
    }
}

// The rows of column j into `rows`, ascending; returns how many.
static uint32_t
column_rows(Schur *s, uint32_t j, uint32_t *rows)
{
    uint32_t n = 0;
    add_row(s, j, rows, &n);
    add_rows(s, &s->model->jac_y, j, rows, &n);
    if (!is_implicit(s->model, j))
        add_rows(s, &s->model->jac_yp, j, rows, &n);
    for (uint32_t t = 0; t < s->n_touched; t++)
        add_group(s, &s->group[s->touched[t]], rows, &n);
    for (uint32_t t = 0; t < s->n_touched; t++)
        s->seen[s->touched[t]] = 0;
    s->n_touched = 0;
    for (uint32_t i = 0; i < n; i++)
        s->seen[s->groups + rows[i]] = 0;
    qsort(rows, n, sizeof *rows, ascending_u32);
    return n;
}

static bool
make_pattern(Schur *s)
{
    size_t capacity = 4 * (size_t)s->n + 16, nonzeros = 0;
    uint32_t *rows = malloc(((size_t)s->n + 1) * sizeof *rows);
    s->row = malloc(capacity * sizeof *s->row);
    bool good = rows && s->row;
    for (uint32_t j = 0; j < s->n && good; j++) {
        uint32_t n = column_rows(s, j, rows);
        s->start[j] = (uint32_t)nonzeros;
        if (nonzeros + n > capacity) {
            capacity = 2 * capacity + n;
            uint32_t *more = realloc(s->row, capacity * sizeof *s->row);
            good = more != NULL;
            s->row = good ? more : s->row;
        }
        if (good)
            memcpy(s->row + nonzeros, rows, n * sizeof *rows);
        nonzeros += n;
    }
    s->start[s->n] = (uint32_t)nonzeros;
    free(rows);
    return good;
}

Schur *
schur_create(const mdl_model *model, const uint32_t **start, const uint32_t **row)
{
    Schur *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->model = model;
    s->n = model->nx;
    s->loop_of = calloc((size_t)model->n + model->n_kept + 1, sizeof *s->loop_of);
    s->start = calloc((size_t)s->n + 1, sizeof *s->start);
    s->column = calloc((size_t)s->n + 1, sizeof *s->column);
    bool good = s->loop_of && s->start && s->column && number_loops(s) && list_places(s);
    if (good) {
        s->du = calloc((size_t)s->m + 1, sizeof *s->du);
        s->touched = calloc((size_t)s->groups + 1, sizeof *s->touched);
        s->seen = calloc((size_t)s->groups + s->n + 1, 1);
        good = s->du && s->touched && s->seen && make_pattern(s);
    }
    if (!good) {
        schur_free(&s);
        return NULL;
    }
    *start = s->start;
    *row = s->row;
    return s;
}

void
schur_free(Schur **slot)
{
    Schur *s = *slot;
    if (!s)
        return;
    for (uint32_t g = 0; s->group && g < s->groups; g++) {
        lu_free(&s->group[g].lu);
        rank_free(&s->group[g].rank);
        free(s->group[g].at);
        free(s->group[g].values);
        free(s->group[g].scale);
    }
    free(s->group);
    free(s->loop_of);
    free(s->unknown);
    free(s->place);
    free(s->start);
    free(s->row);
    free(s->du);
    free(s->column);
    free(s->touched);
    free(s->seen);
    free(s);
    *slot = NULL;
}

// --- the loops' matrix

// How many equations follow from others, per group, as redundancy.c or the latest solve of the block found it.
static void
count_deficient(Schur *s, const Run *run)
{
    const mdl_model *model = s->model;
    for (uint32_t g = 0; g < s->groups; g++)
        s->group[g].deficient = 0;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const Newton *newton = run->block[k];
        if (!newton || !newton_open(newton))
            continue;
        uint32_t place = newton->block->unknown[0];
        bool rate = place >= model->yp && place < model->yp + model->nx;
        s->group[s->group_of[s->loop_of[place - (rate ? model->yp : model->y)]]].deficient += newton_open(newton);
    }
}

static bool
factor_by_rank(const Schur *s, Group *group, const Run *run)
{
    const mdl_model *model = s->model;
    if (!group->rank)
        group->rank = rank_create(group->m, group->m);
    if (!group->scale)
        group->scale = calloc((size_t)group->m + 1, sizeof *group->scale);
    if (!group->rank || !group->scale)
        return false;
    double *matrix = rank_matrix(group->rank);
    memset(matrix, 0, (size_t)group->m * group->m * sizeof *matrix);
    for (uint32_t k = group->place; k < group->place + group->places; k++)
        matrix[(size_t)s->place[k].column * group->m + s->place[k].row] += usable(run->v[s->place[k].value]);
    for (uint32_t k = 0; k < group->m; k++) {
        uint32_t unknown = s->unknown[group->first + k];
        group->scale[k] = unknown < model->n ? run->v[model->nominal + unknown] : 1;
    }
    return rank_factor(group->rank, group->scale, 0, group->m - group->deficient);
}

// The factorisation of one group, and where its places go. Places are sorted by columns, in each by the order of the model's rows,
// which is another one than that of the group's.
static bool
create_factors(const Schur *s, Group *group)
{
    uint32_t m = group->m, n = group->places;
    uint32_t *start = calloc((size_t)m + 1, sizeof *start), *row = calloc((size_t)n + 1, sizeof *row);
    group->at = calloc((size_t)n + 1, sizeof *group->at);
    group->values = calloc((size_t)n + 1, sizeof *group->values);
    bool good = start && row && group->at && group->values;
    const Place *place = s->place + group->place;
    for (uint32_t j = 0, k = 0; good && j < m; j++) {
        uint32_t first = k;
        start[j] = first;
        for (; k < n && place[k].column == j; k++)
            row[k] = place[k].row;
        qsort(row + first, k - first, sizeof *row, ascending_u32);
        for (uint32_t i = first; i < k; i++) {
            const uint32_t *found = bsearch(&place[i].row, row + first, k - first, sizeof *row, ascending_u32);
            group->at[i] = (uint32_t)(found - row);
        }
        start[j + 1] = k;
    }
    if (good) {
        group->nonzeros = n;
        group->lu = lu_create(m, start, row);
    }
    free(start);
    free(row);
    return group->lu != NULL;
}

static bool
factor_group(const Schur *s, Group *group, const Run *run)
{
    if (group->deficient)
        return factor_by_rank(s, group, run);
    if (!group->lu && !create_factors(s, group))
        return false;
    const Place *place = s->place + group->place;
    for (uint32_t k = 0; k < group->nonzeros; k++)
        group->values[group->at[k]] = usable(run->v[place[k].value]);
    return lu_factor(group->lu, group->values, true);
}

// --- the result

// The partial derivatives in a column of the model: those of loops to du, those of explicit states to the result's column.
static void
scatter(Schur *s, const mdl_matrix *matrix, uint32_t j, const double *v)
{
    uint32_t from, to;
    (void)column_of(matrix, j, &from, &to);
    for (uint32_t k = from; k < to; k++) {
        uint32_t loop = s->loop_of[matrix->row[k]];
        double value = usable(v[matrix->values + k]);
        if (loop == NONE) {
            s->column[matrix->row[k]] += value;
            continue;
        }
        s->du[loop] -= value;
        touch(s, s->group_of[loop]);
    }
}

// What a group's change du does to the states' rows; du is zero afterwards.
static void
apply_group(Schur *s, const Group *group, const double *v)
{
    const mdl_model *model = s->model;
    uint32_t from, to;
    for (uint32_t k = group->first; k < group->first + group->m; k++) {
        uint32_t unknown = s->unknown[k];
        const mdl_matrix *matrix = matrix_of(model, unknown);
        double moved = s->du[k];
        s->du[k] = 0;
        if (moved == 0)
            continue;
        (void)column_of(matrix, unknown, &from, &to);
        for (uint32_t at = from; at < to; at++)
            if (s->loop_of[matrix->row[at]] == NONE)
                s->column[matrix->row[at]] += usable(v[matrix->values + at]) * moved;
        if (unknown < model->nx)
            s->column[unknown] -= moved;
    }
}

static void
solve_column(Schur *s, const Run *run, uint32_t j)
{
    scatter(s, &s->model->jac_y, j, run->v);
    if (!is_implicit(s->model, j))
        scatter(s, &s->model->jac_yp, j, run->v);
    for (uint32_t t = 0; t < s->n_touched; t++) {
        Group *group = &s->group[s->touched[t]];
        double *du = s->du + group->first;
        if (group->deficient)
            rank_solve(group->rank, du, du);
        else
            lu_solve(group->lu, du);
        apply_group(s, group, run->v);
        s->seen[s->touched[t]] = 0;
    }
    s->n_touched = 0;
}

bool
schur_assemble(Schur *s, const Run *run, double cj, double *values)
{
    count_deficient(s, run);
    for (uint32_t g = 0; g < s->groups; g++)
        if (!factor_group(s, &s->group[g], run))
            return false;
    for (uint32_t j = 0; j < s->n; j++) {
        solve_column(s, run, j);
        s->column[j] += cj;
        for (uint32_t k = s->start[j]; k < s->start[j + 1]; k++) {
            values[k] = s->column[s->row[k]];
            s->column[s->row[k]] = 0;
        }
    }
    return true;
}
