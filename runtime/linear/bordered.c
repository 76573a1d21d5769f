// bordered.c: the iteration matrix of the causal form for models with large algebraic loops.
//
// Purpose: solve (cj - df/dx) dx = b where f goes through loops of any size, without forming df/dx.
// Method: with the loops' unknowns u, R(x, u) = 0, the matrix is the Schur complement of
//             [ A B ] [dx]   [b]     explicit state i:  cj dx_i - d(dx_i)            = b_i
//             [ C D ] [du] = [0]     implicit state i:  cj dx_i - du of its derivative = b_i
//         the values that the model keeps (n_kept) with their rows, and the loops' rows dR/dx dx + dR/du du = 0, which is as sparse as the model and is factored as a whole.
// Contract: bordered.h. Complexity: that of the sparse factorisation; memory is linear in the partial derivatives.
#include "runtime/linear/bordered.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

struct Bordered {
    const mdl_model *model;
    uint32_t n, nx;
    uint32_t *start, *row;
    double *values, *work;
    uint32_t *from_y, *from_yp; // per stored value of the model's matrices: index into values
    uint32_t *diagonal;         // nx: where cj goes
    uint32_t *unit;             // nx: where the -1 of an implicit state goes, NONE: explicit
    uint32_t *line_of;          // per row of F: row here
    uint32_t *unknown;          // per column here: unknown of the model
    Lu *lu;
};

// One entry before sorting; `place` receives its index in `values`.
typedef struct Entry {
    uint32_t row, column;
    uint32_t *place;
} Entry;

static bool
is_implicit(const mdl_model *model, uint32_t i)
{
    return i >= model->nx || (model->implicit && model->implicit[i]);
}

static void
number_loops(Bordered *b)
{
    b->n = b->nx;
    for (uint32_t i = 0; i < b->model->n + b->model->n_kept; i++) {
        b->line_of[i] = is_implicit(b->model, i) ? b->n++ : i;
        b->unknown[b->line_of[i]] = i;
    }
    for (uint32_t i = 0; i < b->nx; i++)
        b->unknown[i] = i;
}

// The columns of a matrix of the model; `columns` maps them to columns here.
static uint32_t
list_matrix(const Bordered *b, const mdl_matrix *matrix, bool rates, uint32_t *from, Entry *entry)
{
    uint32_t count = 0;
    for (uint32_t j = 0; matrix->nonzeros && j < matrix->columns; j++) {
        uint32_t column = j < b->nx && !rates ? j : b->line_of[j];
        for (uint32_t k = matrix->column_start[j]; k < matrix->column_start[j + 1]; k++)
            entry[count++] = (Entry){b->line_of[matrix->row[k]], column, &from[k]};
    }
    return count;
}

static uint32_t
list_entries(Bordered *b, Entry *entry)
{
    uint32_t count = list_matrix(b, &b->model->jac_y, false, b->from_y, entry);
    count += list_matrix(b, &b->model->jac_yp, true, b->from_yp, entry + count);
    for (uint32_t i = 0; i < b->nx; i++) {
        entry[count++] = (Entry){i, i, &b->diagonal[i]};
        b->unit[i] = NONE;
        if (is_implicit(b->model, i))
            entry[count++] = (Entry){i, b->line_of[i], &b->unit[i]};
    }
    return count;
}

static int
by_place(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void
compress(Bordered *b, Entry *entry, uint32_t count)
{
    uint32_t at = 0, column = 0;
    qsort(entry, count, sizeof *entry, by_place);
    for (uint32_t k = 0; k < count; k++) {
        bool again = k && !by_place(&entry[k - 1], &entry[k]);
        while (column < entry[k].column)
            b->start[++column] = at;
        if (!again)
            b->row[at++] = entry[k].row;
        *entry[k].place = at - 1;
    }
    while (column < b->n)
        b->start[++column] = at;
}

static bool
allocate(Bordered *b, size_t entries)
{
    const mdl_model *model = b->model;
    size_t columns = (size_t)model->n + model->n_kept + model->nx + 1;
    b->start = calloc(columns + 1, sizeof *b->start);
    b->row = calloc(entries + 1, sizeof *b->row);
    b->values = calloc(entries + 1, sizeof *b->values);
    b->work = calloc(columns, sizeof *b->work);
    b->from_y = calloc((size_t)model->jac_y.nonzeros + 1, sizeof *b->from_y);
    b->from_yp = calloc((size_t)model->jac_yp.nonzeros + 1, sizeof *b->from_yp);
    b->diagonal = calloc(columns, sizeof *b->diagonal);
    b->unit = calloc(columns, sizeof *b->unit);
    b->line_of = calloc(columns, sizeof *b->line_of);
    b->unknown = calloc(columns, sizeof *b->unknown);
    return b->start && b->row && b->values && b->work && b->from_y && b->from_yp && b->diagonal && b->unit &&
           b->line_of && b->unknown;
}

Bordered *
bordered_create(const mdl_model *model, Threads *threads)
{
    Bordered *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    size_t entries = (size_t)model->jac_y.nonzeros + model->jac_yp.nonzeros + 2 * (size_t)model->nx;
    b->model = model;
    b->nx = model->nx;
    Entry *entry = malloc((entries + 1) * sizeof *entry);
    if (allocate(b, entries) && entry) {
        number_loops(b);
        compress(b, entry, list_entries(b, entry));
        b->lu = lu_create(b->n, b->start, b->row);
    }
    free(entry);
    if (!b->lu)
        bordered_free(&b);
    if (b) {
        lu_repeats(b->lu);
        lu_share(b->lu, threads);
    }
    return b;
}

void
bordered_free(Bordered **slot)
{
    Bordered *b = *slot;
    if (!b)
        return;
    lu_free(&b->lu);
    free(b->start);
    free(b->row);
    free(b->values);
    free(b->work);
    free(b->from_y);
    free(b->from_yp);
    free(b->diagonal);
    free(b->unit);
    free(b->line_of);
    free(b->unknown);
    free(b);
    *slot = NULL;
}

// A partial derivative at a corner may have no value; see jacobian.c.
static inline double
usable(double partial)
{
    return partial - partial == 0 ? partial : 0;
}

void
bordered_assemble(Bordered *b, const double *v, double cj)
{
    const mdl_matrix *y = &b->model->jac_y, *yp = &b->model->jac_yp;
    memset(b->values, 0, b->start[b->n] * sizeof *b->values);
    for (uint32_t k = 0; k < y->nonzeros; k++)
        b->values[b->from_y[k]] += usable(v[y->values + k]);
    for (uint32_t k = 0; k < yp->nonzeros; k++)
        b->values[b->from_yp[k]] += usable(v[yp->values + k]);
    for (uint32_t i = 0; i < b->nx; i++) {
        b->values[b->diagonal[i]] += cj;
        if (b->unit[i] != NONE)
            b->values[b->unit[i]] -= 1;
    }
}

bool
bordered_factor(Bordered *b, bool fresh)
{
    return lu_factor(b->lu, b->values, fresh);
}

bool
bordered_starved(const Bordered *b)
{
    return lu_starved(b->lu);
}

uint32_t
bordered_singular(const Bordered *b)
{
    return b->unknown[lu_singular_column(b->lu)];
}

void
bordered_solve(Bordered *b, double *x)
{
    memcpy(b->work, x, b->nx * sizeof *x);
    memset(b->work + b->nx, 0, (b->n - b->nx) * sizeof *x);
    lu_solve(b->lu, b->work);
    memcpy(x, b->work, b->nx * sizeof *x);
}

uint32_t
bordered_nonzeros(const Bordered *b)
{
    return b->start[b->n];
}

bool
bordered_is_dense(const Bordered *b)
{
    return lu_is_dense(b->lu);
}
