// jacobian.c: the iteration matrix of the implicit integration formula.
//
// Purpose: J = dF/dy + cj dF/dy' for both run-time forms.
// Method: DAE form: the union of the patterns of jac_y, jac_yp and the ones of explicit rows, with index maps
//         made once; values that the model keeps (n_kept) are unknowns behind the others, with right sides of zero. Causal form: the
//         loops' unknowns are eliminated (schur.c); with many unknowns they stay in the matrix (bordered.c).
// Contract: the model's `dynamics` were called at the point. Complexity: O(nonzeros); causal: that of schur.c.
#include "runtime/step/jacobian.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/linear/bordered.h"
#include "runtime/memory/memory.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/step/schur.h"
#include "runtime/model/order.h"

struct Jacobian {
    const mdl_model *model;
    uint32_t n;                 // unknowns of the integrator
    uint32_t size;              // of the matrix: kept values stand behind them (DAE form)
    uint32_t *start, *row;
    double *values;
    uint32_t *from_y, *from_yp; // per stored value of the model's matrix: index into values
    uint32_t *from_rest;        // the same of jac_rest
    uint32_t *diagonal;         // nx: index of the 1 of explicit rows, UINT32_MAX for implicit ones
    Lu *lu;
    bool resting;               // contacts at rest replace rows
    // causal form
    bool causal;
    Bordered *bordered;         // when there are many unknowns
    Schur *schur;               // otherwise
    // fractional derivatives (fractional.c)
    const Run *run;             // NULL: there are none
    double cj;
    double *kept;               // jac_yp at the time of the assembly (DAE form)
    double *work;               // size: right side, when there are kept values
};

static const uint32_t NONE = UINT32_MAX;

static bool
is_implicit(const mdl_model *model, uint32_t i)
{
    return i >= model->nx || (model->implicit && model->implicit[i]);
}

// --- DAE form

static uint32_t
column_end(const mdl_matrix *matrix, uint32_t j)
{
    return j < matrix->columns && matrix->nonzeros ? matrix->column_start[j + 1] : 0;
}

static uint32_t
column_begin(const mdl_matrix *matrix, uint32_t j)
{
    return j < matrix->columns && matrix->nonzeros ? matrix->column_start[j] : 0;
}

// Merges the sorted rows of column j of both matrices and the diagonal. Returns the new end.
static uint32_t
merge_column(Jacobian *jacobian, uint32_t j, uint32_t at)
{
    const mdl_model *model = jacobian->model;
    const mdl_matrix *y = &model->jac_y, *yp = &model->jac_yp;
    uint32_t a = column_begin(y, j), a_end = column_end(y, j);
    uint32_t b = column_begin(yp, j), b_end = column_end(yp, j);
    uint32_t diagonal = j < model->nx && !is_implicit(model, j) ? j : NONE;
    if (j < model->nx)
        jacobian->diagonal[j] = NONE;
    while (a < a_end || b < b_end || diagonal != NONE) {
        uint32_t row = diagonal;
        if (a < a_end && y->row[a] < row)
            row = y->row[a];
        if (b < b_end && yp->row[b] < row)
            row = yp->row[b];
        if (a < a_end && y->row[a] == row)
            jacobian->from_y[a++] = at;
        if (b < b_end && yp->row[b] == row)
            jacobian->from_yp[b++] = at;
        if (diagonal == row) {
            jacobian->diagonal[j] = at;
            diagonal = NONE;
        }
        jacobian->row[at++] = row;
    }
    return at;
}

static uint32_t
find_row(const uint32_t *row, uint32_t from, uint32_t to, uint32_t wanted)
{
    while (row[from] != wanted && from < to)
        from++;
    return from;
}

// Column j when contacts at rest replace rows: what stands in a replaced row goes to `trash`, a contact's
// partials to the row it replaces.
static uint32_t
merge_replaced(Jacobian *jacobian, uint32_t j, uint32_t at, const uint32_t *replaced, const uint32_t *owner,
               uint32_t trash)
{
    const mdl_model *model = jacobian->model;
    const mdl_matrix *matrix[3] = {&model->jac_y, &model->jac_yp, &model->jac_rest};
    uint32_t *from[3] = {jacobian->from_y, jacobian->from_yp, jacobian->from_rest}, end = at;
    if (j < model->nx)
        jacobian->diagonal[j] = NONE;
    for (int k = 0; k < 3; k++)
        for (uint32_t a = column_begin(matrix[k], j); a < column_end(matrix[k], j); a++) {
            uint32_t row = k == 2 ? owner[matrix[k]->row[a]] : matrix[k]->row[a];
            if (row != NONE && (k == 2 || row >= model->nx || !replaced[row]))
                jacobian->row[end++] = row;
        }
    bool diagonal = j < model->nx && !is_implicit(model, j) && !replaced[j];
    if (diagonal)
        jacobian->row[end++] = j;
    qsort(jacobian->row + at, end - at, sizeof *jacobian->row, ascending_u32);
    uint32_t kept = at;
    for (uint32_t i = at; i < end; i++)
        if (i == at || jacobian->row[i] != jacobian->row[kept - 1])
            jacobian->row[kept++] = jacobian->row[i];
    for (int k = 0; k < 3; k++)
        for (uint32_t a = column_begin(matrix[k], j); a < column_end(matrix[k], j); a++) {
            uint32_t row = k == 2 ? owner[matrix[k]->row[a]] : matrix[k]->row[a];
            bool dropped = row == NONE || (k < 2 && row < model->nx && replaced[row]);
            from[k][a] = dropped ? trash : find_row(jacobian->row, at, kept, row);
        }
    if (diagonal)
        jacobian->diagonal[j] = find_row(jacobian->row, at, kept, j);
    return kept;
}

static bool
allocate(Jacobian *jacobian, size_t nonzeros)
{
    const mdl_model *model = jacobian->model;
    jacobian->start = calloc((size_t)jacobian->size + 1, sizeof *jacobian->start);
    jacobian->work = calloc((size_t)jacobian->size + 1, sizeof *jacobian->work);
    jacobian->row = calloc(nonzeros + 1, sizeof *jacobian->row);
    jacobian->values = calloc(nonzeros + 1, sizeof *jacobian->values);
    jacobian->from_y = calloc((size_t)model->jac_y.nonzeros + 1, sizeof *jacobian->from_y);
    jacobian->from_yp = calloc((size_t)model->jac_yp.nonzeros + 1, sizeof *jacobian->from_yp);
    jacobian->diagonal = calloc((size_t)model->nx + 1, sizeof *jacobian->diagonal);
    jacobian->from_rest = calloc((size_t)model->jac_rest.nonzeros + 1, sizeof *jacobian->from_rest);
    return jacobian->from_rest && jacobian->work && jacobian->start && jacobian->row && jacobian->values && jacobian->from_y &&
           jacobian->from_yp && jacobian->diagonal;
}

static bool
build_dae(Jacobian *jacobian, const uint32_t *replaced)
{
    const mdl_model *model = jacobian->model;
    size_t most = (size_t)model->jac_y.nonzeros + model->jac_yp.nonzeros + model->jac_rest.nonzeros + model->nx;
    uint32_t *owner = replaced ? malloc(((size_t)model->jac_rest.rows + 1) * sizeof *owner) : NULL;
    if (!allocate(jacobian, most) || (replaced && !owner)) {
        free(owner);
        return false;
    }
    for (uint32_t i = 0; replaced && i < model->jac_rest.rows; i++)
        owner[i] = NONE; // a function that replaces no row now
    for (uint32_t i = 0; replaced && i < model->nx; i++)
        if (replaced[i])
            owner[replaced[i] - 1] = i;
    uint32_t at = 0;
    for (uint32_t j = 0; j < jacobian->size; j++) {
        jacobian->start[j] = at;
        at = replaced ? merge_replaced(jacobian, j, at, replaced, owner, (uint32_t)most) : merge_column(jacobian, j, at);
    }
    jacobian->start[jacobian->size] = at;
    free(owner);
    return true;
}

// A partial derivative at a corner, as that of sqrt(max(h, 0)) at 0, may be 0*inf. The iteration needs a
// number there and no more; whether it converges is decided by the residuals.
static inline double
usable(double partial)
{
    return partial - partial == 0 ? partial : 0;
}

static void
assemble_dae(Jacobian *jacobian, const double *v, double cj)
{
    const mdl_model *model = jacobian->model;
    memset(jacobian->values, 0, jacobian->start[jacobian->size] * sizeof *jacobian->values);
    const double *y = v + model->jac_y.values, *yp = v + model->jac_yp.values;
    for (uint32_t k = 0; k < model->jac_y.nonzeros; k++)
        jacobian->values[jacobian->from_y[k]] += usable(y[k]);
    for (uint32_t k = 0; k < model->jac_yp.nonzeros; k++)
        jacobian->values[jacobian->from_yp[k]] += cj * usable(yp[k]);
    const double *rest = v + model->jac_rest.values;
    for (uint32_t k = 0; jacobian->resting && k < model->jac_rest.nonzeros; k++)
        jacobian->values[jacobian->from_rest[k]] += rest[k];
    for (uint32_t j = 0; j < model->nx; j++)
        if (jacobian->diagonal[j] != NONE)
            jacobian->values[jacobian->diagonal[j]] += cj;
}

// --- causal form

static bool
build_causal(Jacobian *jacobian)
{
    const uint32_t *start, *row;
    jacobian->schur = schur_create(jacobian->model, &start, &row);
    if (!jacobian->schur)
        return false;
    size_t n = jacobian->n, nonzeros = start[n];
    jacobian->start = malloc((n + 1) * sizeof *start);
    jacobian->row = malloc((nonzeros + 1) * sizeof *row);
    jacobian->values = calloc(nonzeros + 1, sizeof *jacobian->values);
    if (!jacobian->start || !jacobian->row || !jacobian->values)
        return false;
    memcpy(jacobian->start, start, (n + 1) * sizeof *start);
    memcpy(jacobian->row, row, nonzeros * sizeof *row);
    return true;
}

// --- both

enum { CAUSAL_LIMIT = 200 }; // unknowns up to which df/dx is formed

// Equations that follow from others need df/dx itself.
static bool
wants_border(const Run *run)
{
    return run->model->n + run->model->n_kept > CAUSAL_LIMIT && !run->deficient && !run->locked;
}

static Jacobian *
create(const Run *run, bool causal, const uint32_t *replaced, bool bordered)
{
    const mdl_model *model = run->model;
    Jacobian *jacobian = calloc(1, sizeof *jacobian);
    if (!jacobian)
        return NULL;
    jacobian->model = model;
    jacobian->causal = causal;
    jacobian->resting = replaced != NULL;
    jacobian->n = causal ? model->nx : model->n;
    jacobian->size = causal ? model->nx : model->n + model->n_kept;
    if (bordered) {
        jacobian->bordered = bordered_create(model, run->options->threads);
        if (!jacobian->bordered)
            jacobian_free(&jacobian);
        return jacobian;
    }
    bool built = causal ? build_causal(jacobian) : build_dae(jacobian, replaced);
    if (built)
        jacobian->lu = lu_create(jacobian->size, jacobian->start, jacobian->row);
    if (!built || !jacobian->lu)
        jacobian_free(&jacobian);
    if (jacobian) {
        lu_repeats(jacobian->lu);
        lu_share(jacobian->lu, run->options->threads);
    }
    return jacobian;
}

Jacobian *
jacobian_create(const Run *run, bool causal, const uint32_t *replaced)
{
    return create(run, causal, replaced, causal && wants_border(run));
}

Jacobian *
jacobian_create_open(const Run *run)
{
    const mdl_model *model = run->model;
    bool loops = model->n > model->nx || run->deficient || run->locked;
    for (uint32_t i = 0; model->implicit && i < model->nx; i++)
        loops = loops || model->implicit[i];
    return create(run, loops, NULL, false);
}

uint32_t
jacobian_open(const Jacobian *jacobian, const uint32_t **start, const uint32_t **row, const double **values)
{
    *start = jacobian->start;
    *row = jacobian->row;
    *values = jacobian->values;
    return jacobian->size;
}

void
jacobian_places(const Jacobian *jacobian, const uint32_t **from_y, const uint32_t **from_yp, const uint32_t **diagonal)
{
    *from_y = jacobian->from_y;
    *from_yp = jacobian->from_yp;
    *diagonal = jacobian->diagonal;
}

void
jacobian_free(Jacobian **slot)
{
    Jacobian *jacobian = *slot;
    if (!jacobian)
        return;
    bordered_free(&jacobian->bordered);
    lu_free(&jacobian->lu);
    schur_free(&jacobian->schur);
    free(jacobian->start);
    free(jacobian->row);
    free(jacobian->values);
    free(jacobian->from_y);
    free(jacobian->from_yp);
    free(jacobian->from_rest);
    free(jacobian->diagonal);
    free(jacobian->kept);
    free(jacobian->work);
    free(jacobian);
    *slot = NULL;
}

// The matrix is used at later points, when v has other values.
static bool
keep_rates(Jacobian *jacobian, const Run *run)
{
    const mdl_matrix *yp = &run->model->jac_yp;
    size_t size = (size_t)yp->nonzeros * sizeof *jacobian->kept;
    if (jacobian->causal || !size)
        return true;
    if (!jacobian->kept)
        jacobian->kept = malloc(size);
    if (jacobian->kept)
        memcpy(jacobian->kept, run->v + yp->values, size);
    return jacobian->kept != NULL;
}

bool
jacobian_assemble(Jacobian *jacobian, Run *run, double cj)
{
    jacobian->run = run->modes ? run : NULL;
    jacobian->cj = cj;
    fractional_prepare(run, cj);
    mdl_call(run->model->jacobian, run->v);
    if (run->modes && !keep_rates(jacobian, run))
        return false;
    if (jacobian->bordered) {
        bordered_assemble(jacobian->bordered, run->v, cj);
        return true;
    }
    if (jacobian->causal && hidden_any(run))
        return hidden_jacobian(run, cj, jacobian->start, jacobian->row, jacobian->values);
    if (jacobian->causal)
        return schur_assemble(jacobian->schur, run, cj, jacobian->values);
    assemble_dae(jacobian, run->v, cj);
    return true;
}

bool
jacobian_factor(Jacobian *jacobian, bool fresh)
{
    if (jacobian->bordered)
        return bordered_factor(jacobian->bordered, fresh);
    return lu_factor(jacobian->lu, jacobian->values, fresh);
}

static void
solve_model(Jacobian *jacobian, double *b)
{
    if (jacobian->bordered) {
        bordered_solve(jacobian->bordered, b);
    } else if (jacobian->size == jacobian->n) {
        lu_solve(jacobian->lu, b);
    } else {
        memcpy(jacobian->work, b, jacobian->n * sizeof *b);
        memset(jacobian->work + jacobian->n, 0, (jacobian->size - jacobian->n) * sizeof *b);
        lu_solve(jacobian->lu, jacobian->work);
        memcpy(b, jacobian->work, jacobian->n * sizeof *b);
    }
}

// b += shift * dF/dy'_state. In the causal form, and in explicit rows, only the state's own row has its derivative.
static void
add_rate_column(const Jacobian *jacobian, uint32_t state, double shift, double *b)
{
    const mdl_matrix *yp = &jacobian->model->jac_yp;
    if (jacobian->causal || jacobian->diagonal[state] != NONE)
        b[state] += shift;
    if (jacobian->causal)
        return;
    for (uint32_t k = column_begin(yp, state); k < column_end(yp, state); k++)
        if (jacobian->from_yp[k] < jacobian->start[jacobian->size])
            b[jacobian->row[jacobian->from_yp[k]]] += shift * usable(jacobian->kept[k]);
}

// The exponentials of fractional derivatives, behind the model's unknowns, are eliminated one by one.
static void
solve_with_exponentials(Jacobian *jacobian, double *b)
{
    const Run *run = jacobian->run;
    uint32_t parts = run->model->n_fractionals;
    double shift[parts + 1];
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t state = fractional_reduce(run, i, jacobian->cj, b + jacobian->n, &shift[i]);
        add_rate_column(jacobian, state, shift[i], b);
    }
    solve_model(jacobian, b);
    for (uint32_t i = 0; i < parts; i++)
        fractional_expand(run, i, jacobian->cj, shift[i], b, b + jacobian->n);
}

void
jacobian_solve(Jacobian *jacobian, double *b)
{
    if (jacobian->run)
        solve_with_exponentials(jacobian, b);
    else
        solve_model(jacobian, b);
}

void
jacobian_solve_several(Jacobian *jacobian, double *b, uint32_t several)
{
    if (!jacobian->run && !jacobian->bordered && jacobian->size == jacobian->n) {
        lu_solve_several(jacobian->lu, b, several);
        return;
    }
    for (uint32_t k = 0; k < several; k++)
        jacobian_solve(jacobian, b + (size_t)k * jacobian->n);
}

bool
jacobian_starved(const Jacobian *jacobian)
{
    return jacobian && (jacobian->bordered ? bordered_starved(jacobian->bordered) : lu_starved(jacobian->lu));
}

uint32_t
jacobian_singular(const Jacobian *jacobian)
{
    return jacobian->bordered ? bordered_singular(jacobian->bordered) : lu_singular_column(jacobian->lu);
}

uint32_t
jacobian_nonzeros(const Jacobian *jacobian)
{
    if (jacobian->bordered)
        return bordered_nonzeros(jacobian->bordered);
    return jacobian->n ? jacobian->start[jacobian->size] : 0;
}

bool
jacobian_is_dense(const Jacobian *jacobian)
{
    return jacobian->bordered ? bordered_is_dense(jacobian->bordered) : lu_is_dense(jacobian->lu);
}

void
jacobian_null_text(const Jacobian *jacobian, const Run *run, char *text, size_t size)
{
    uint32_t n = jacobian->n;
    text[0] = '\0';
    Rank *rank = n <= RANK_LIMIT && !jacobian->bordered && jacobian->size == n ? rank_create(n, n) : NULL;
    if (!rank)
        return;
    double *matrix = rank_matrix(rank);
    memset(matrix, 0, (size_t)n * n * sizeof *matrix);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = jacobian->start[j]; k < jacobian->start[j + 1]; k++)
            matrix[(size_t)j * n + jacobian->row[k]] = jacobian->values[k];
    if (rank_factor(rank, run->v + run->model->nominal, 1e-12, n) && rank_value(rank) < n)
        report_null_text(run, rank, run->model->state_name, run->model->state_kind, n, text, size);
    rank_free(&rank);
}
