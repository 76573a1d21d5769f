// jaccheck: the generated Jacobian against central differences of the generated equations.
//
//   jaccheck STDLIB FILE...     for each model: points with random unknowns and random held relations
//
// Prints the worst relative deviation per model; exit status 1 when it is too large, 2 when a model does
// not compile.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code/backend.h"
#include "frontend/flatten/flatten.h"
#include "frontend/names/names.h"
#include "ir/pipeline/pipeline.h"

typedef struct Point {
    const mdl_model *model;
    double *v;
} Point;

static double
random_unit(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

// All rows at the point in v: -dx of explicit rows, loop residuals, constraints, g and dg/dt of what may come to rest.
static uint32_t
row_count(const mdl_model *m)
{
    return m->n + m->n_constraints + 2 * m->n_rests + m->jac_relations.rows;
}

static void
rows_of(const Point *point, double *rows)
{
    const mdl_model *m = point->model;
    // Before the dynamics: `conditions` must not need what they compute.
    mdl_call(m->conditions, point->v);
    mdl_call(m->relations, point->v);
    for (uint32_t k = 0; k < m->jac_relations.rows; k++)
        rows[m->n + m->n_constraints + 2 * m->n_rests + k] = point->v[m->relation[k].g];
    for (uint32_t k = 0; k < m->n_dynamics; k++)
        mdl_call(m->dynamics[k].block ? m->dynamics[k].block->eval : m->dynamics[k].call, point->v);
    for (uint32_t i = 0; i < m->n; i++) {
        bool explicit_row = i < m->nx && !m->implicit[i];
        rows[i] = explicit_row ? -point->v[m->dx + i] : point->v[m->r + i];
    }
    for (uint32_t k = 0; k < m->n_constraints; k++)
        rows[m->n + k] = point->v[m->constraint[k].value];
    mdl_call(m->rests, point->v);
    for (uint32_t k = 0; k < 2 * m->n_rests; k++)
        rows[m->n + m->n_constraints + k] = point->v[m->rest[k / 2].g + k % 2];
}

static void
scatter(const Point *point, const mdl_matrix *matrix, uint32_t first_row, uint32_t rows, double *dense)
{
    for (uint32_t j = 0; j < matrix->columns && matrix->nonzeros; j++)
        for (uint32_t k = matrix->column_start[j]; k < matrix->column_start[j + 1]; k++)
            dense[(size_t)j * rows + first_row + matrix->row[k]] = point->v[matrix->values + k];
}

// The columns of y, or of y', of a matrix whose rows include those of kept values: these are eliminated by forward
// substitution, since each of them is computed from earlier ones.
static void
scatter_kept(const Point *point, const mdl_matrix *matrix, uint32_t rows, double *dense)
{
    const mdl_model *m = point->model;
    const mdl_matrix *y = &m->jac_y;
    double *kept = calloc((size_t)m->n_kept + 1, sizeof *kept);
    for (uint32_t j = 0; j < m->n && matrix->nonzeros; j++) {
        double *column = dense + (size_t)j * rows;
        memset(kept, 0, m->n_kept * sizeof *kept);
        for (uint32_t k = matrix->column_start[j]; k < matrix->column_start[j + 1]; k++)
            *(matrix->row[k] < m->n ? &column[matrix->row[k]] : &kept[matrix->row[k] - m->n]) = -point->v[matrix->values + k];
        for (uint32_t l = 0; l < m->n_kept; l++)
            for (uint32_t k = y->column_start[m->n + l]; k < y->column_start[m->n + l + 1]; k++)
                if (y->row[k] != m->n + l)
                    *(y->row[k] < m->n ? &column[y->row[k]] : &kept[y->row[k] - m->n]) -= point->v[y->values + k] * kept[l];
        for (uint32_t i = 0; i < m->n; i++)
            column[i] = -column[i];
    }
    free(kept);
}

// Deviation of one column from differences over 2h: off[i] becomes the smaller of itself and the deviation.
static double
compare_column(const Point *point, uint32_t at, double h, const double *column, double *up, double *down, double *off)
{
    uint32_t rows = row_count(point->model);
    double kept = point->v[at], worst = 0;
    point->v[at] = kept + h;
    rows_of(point, up);
    point->v[at] = kept - h;
    rows_of(point, down);
    point->v[at] = kept;
    for (uint32_t i = 0; i < rows; i++) {
        double difference = (up[i] - down[i]) / (2 * h);
        double noise = 1e-15 * (fabs(up[i]) + fabs(down[i])) / h;
        double now = (fabs(difference - column[i]) - 20 * noise) / (1 + fabs(column[i]));
        off[i] = isfinite(difference) && isfinite(column[i]) ? fmin(off[i], now) : 0;
        worst = fmax(worst, off[i]);
    }
    return worst;
}

// Worst deviation of the columns of y (or y') from differences. Rounding of large forces that cancel in a row drowns
// differences over short steps; a wrong element is wrong over longer ones as well.
static double
compare(const Point *point, bool by_rate, double *dense, double *up, double *down)
{
    static const double steps[] = {1e-6, 3e-5, 1e-3, 1e-2}, good = 1e-6;
    const mdl_model *m = point->model;
    uint32_t rows = row_count(m), base = by_rate ? m->yp : m->y;
    double worst = 0, *off = malloc((rows + 1) * sizeof *off);
    for (uint32_t j = 0; j < m->n; j++) {
        double size = fmax(1e-3, fabs(point->v[base + j])), column = INFINITY;
        for (uint32_t i = 0; i < rows; i++)
            off[i] = INFINITY;
        for (int k = 0; k < 4 && column > good; k++)
            column = compare_column(point, base + j, steps[k] * size, dense + (size_t)j * rows, up, down, off);
        worst = fmax(worst, column);
    }
    free(off);
    return worst;
}

static double
check_point(Point *point, uint64_t *seed)
{
    const mdl_model *m = point->model;
    size_t rows = row_count(m);
    double *dense = calloc(2 * rows * m->n + 2 * rows + 1, sizeof *dense), *rates = dense + rows * m->n;
    double *up = rates + rows * m->n, *down = up + rows;
    memcpy(point->v, m->v0, sizeof *point->v * m->nv);
    mdl_call(m->parameters, point->v);
    point->v[0] = 0.1 + 0.1 * random_unit(seed);
    for (uint32_t i = 0; i < m->n; i++) {
        point->v[m->y + i] += (0.1 + fabs(point->v[m->y + i])) * (random_unit(seed) - 0.3);
        point->v[m->yp + i] = random_unit(seed) - 0.4;
    }
    for (uint32_t i = 0; i < m->n_relations; i++)
        point->v[m->relation[i].value] = random_unit(seed) < 0.5;
    for (uint32_t i = 0; i < m->n_sgns; i++)
        point->v[m->sgn[i].mode] = floor(3 * random_unit(seed)) - 1;
    rows_of(point, up);
    mdl_call(m->jacobian, point->v);
    scatter_kept(point, &m->jac_y, (uint32_t)rows, dense);
    scatter(point, &m->jac_c, m->n, (uint32_t)rows, dense);
    mdl_call(m->rest_partials, point->v);
    scatter(point, &m->jac_rest, m->n + m->n_constraints, (uint32_t)rows, dense);
    scatter_kept(point, &m->jac_yp, (uint32_t)rows, rates);
    mdl_call(m->relation_partials, point->v);
    scatter(point, &m->jac_relations, m->n + m->n_constraints + 2 * m->n_rests, (uint32_t)rows, dense);
    double worst = fmax(compare(point, false, dense, up, down), compare(point, true, rates, up, down));
    free(dense);
    return worst;
}

static int
check_file(const char *library, const char *path)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Program *program = program_create(sources, syms, diags);
    Compilation compilation = {.diags = diags};
    ElaborateOptions options = {0};
    Out why = {0};
    int status = 2;
    program_add_path(program, library);
    if (program_add_file(program, path))
        compilation.dae = elaborate(program, &options, diags);
    Engine *engine = NULL;
    if (compilation.dae && pipeline_run(&compilation, FACT_SYS, NULL, &why))
        engine = engine_interp(compilation.sys, &why);
    if (engine) {
        Point point = {compilation.sys->model, calloc(compilation.sys->model->nv, sizeof(double))};
        uint64_t seed = 1;
        double worst = 0;
        for (int k = 0; k < 20 && point.model->n; k++)
            worst = fmax(worst, check_point(&point, &seed));
        status = worst > 1e-5;
        printf("%s %s: %.2g\n", status ? "FAIL" : "ok", path, worst);
        free(point.v);
    } else {
        printf("FAIL %s: does not compile %s\n", path, why.text ? why.text : "");
    }
    out_free(&why);
    engine_free(&engine);
    if (compilation.dae)
        compilation_free(&compilation);
    program_free(&program);
    diags_free(&diags);
    sources_free(&sources);
    syms_free(&syms);
    return status;
}

int
main(int argc, char **argv)
{
    int worst = argc < 3 ? 2 : 0;
    for (int i = 2; i < argc; i++) {
        int status = check_file(argv[1], argv[i]);
        worst = status > worst ? status : worst;
    }
    return worst;
}
