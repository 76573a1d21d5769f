// components.c: parts of a model that have nothing to do with each other but for time.
//
// Purpose: what is found out by moving something and evaluating the model anew is found out about all of them at once (hidden.c).
// Method: unknowns are joined with the rows of the Jacobian that they occur in, and with the others of their loop (union-find). Contacts that
// come to rest act on states as no row says; with such all is one component.
// Contract: components.h. Complexity: linear in the entries of the Jacobian.
#include <stdlib.h>

#include "runtime/linear/disjoint_sets.h"
#include "runtime/point/components.h"
#include "runtime/point/part.h"

static void
join_matrix(uint32_t *parent, const mdl_matrix *matrix)
{
    for (uint32_t j = 0; j < matrix->columns; j++)
        for (uint32_t k = matrix->column_start[j]; k < matrix->column_start[j + 1]; k++)
            sets_join(parent, matrix->row[k], j);
}

// The number of what stands at a place of y, y' or the residuals.
static uint32_t
number_of(const mdl_model *model, uint32_t place)
{
    return place >= model->r && place < model->r + model->n ? place - model->r
           : place >= model->yp && place < model->yp + model->n ? place - model->yp : place - model->y;
}

static void
join_loops(const mdl_model *model, uint32_t *parent)
{
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t i = 0; block && i < block->m; i++) {
            sets_join(parent, number_of(model, block->unknown[i]), number_of(model, block->unknown[0]));
            sets_join(parent, number_of(model, block->residual[i]), number_of(model, block->unknown[0]));
        }
    }
}

// Numbers the sets in the order of their first unknowns, and lists their states. `number` has room for all of them.
static void
number_sets(Components *c, const mdl_model *model, uint32_t *parent, uint32_t *number)
{
    for (uint32_t i = 0; i < model->n; i++) {
        uint32_t set = sets_find(parent, i);
        if (number[set] == UINT32_MAX)
            number[set] = c->n++;
        c->of[i] = number[set];
    }
    for (uint32_t i = 0; i < model->nx; i++)
        c->start[c->of[i] + 1]++;
    for (uint32_t k = 0; k < c->n; k++) {
        c->most = c->start[k + 1] > c->most ? c->start[k + 1] : c->most;
        c->start[k + 1] += c->start[k];
        number[k] = c->start[k];
    }
    for (uint32_t i = 0; i < model->nx; i++)
        c->state[number[c->of[i]]++] = i;
}

static Components *
create(const Run *run)
{
    const mdl_model *model = run->model;
    size_t n = model->n, all = n + model->n_kept;
    Components *c = calloc(1, sizeof *c);
    uint32_t *parent = malloc((2 * all + 1) * sizeof *parent), *number = parent + all;
    if (c)
        c->of = calloc(2 * n + model->nx + 2, sizeof *c->of);
    if (!c || !parent || !c->of) {
        components_free(&c);
        free(parent);
        return NULL;
    }
    c->start = c->of + n;
    c->state = c->start + n + 1;
    sets_begin(parent, (uint32_t)all);
    join_matrix(parent, &model->jac_y);
    join_matrix(parent, &model->jac_yp);
    join_loops(model, parent);
    for (uint32_t i = 1; i < n && run->having[HOOK_REACT].n; i++)
        sets_join(parent, i, 0);
    for (uint32_t i = 0; i < all; i++)
        number[i] = UINT32_MAX;
    number_sets(c, model, parent, number);
    free(parent);
    return c;
}

const Components *
run_components(Run *run)
{
    if (!run->components)
        run->components = create(run);
    return run->components;
}

void
components_free(Components **slot)
{
    Components *components = *slot;
    if (!components)
        return;
    free(components->of);
    free(components);
    *slot = NULL;
}
