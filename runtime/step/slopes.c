// slopes.c: how invariants change with the states alone.
//
// Purpose: invariants may read unknowns u of algebraic loops: a constraint of velocities reads the rates of angles, which a loop gives from
//          an angular velocity. Ranks of constraints and the way back to them are questions about the states x, which u follows.
// Method: c(x, u) = 0 beside r(x, u) = 0 changes with x by dc/dx - dc/du (dr/du)^-1 dr/dx: for each invariant l (dr/du) = dc/du is solved for
//         l with the factors of the transposed loops. Only loops that invariants need take part: those of accelerations and forces may
//         be singular where constraints follow from others.
// Contract: slopes.h. Complexity: linear in the nonzeros without loops; otherwise a factorisation, and a solution for each invariant that
//           reads an unknown.
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/lu.h"
#include "runtime/step/slopes.h"

static const uint32_t NONE = UINT32_MAX;

// A partial derivative: the place of its value in v, and what it belongs to.
typedef struct Term {
    uint32_t at, by, place;
} Term;

typedef struct Terms {
    Term *term;
    uint32_t n;
    uint32_t *start; // where those of each `at` begin, and the end; NULL: they are in no order
} Terms;

struct Elimination {
    uint32_t loops;         // unknowns that invariants need, and as many equations
    uint32_t *number;       // per unknown of the integrator: its number among these, or NONE; its equation has the same
    uint8_t *reach;         // loops x nx: 1 where the unknown changes with the state
    Terms loop;             // of equations (at) by unknowns (by), which is the transposed matrix in columns
    Terms outer;            // of equations (at) by states (by)
    Terms read;             // of invariants (at) by unknowns (by)
    Terms direct;           // of invariants by states; `at` is the entry of the slopes
    Terms entry;            // entries of the slopes by invariant: `at`, state: `by`, number: `place`
    Lu *lu;
    double *value;          // per term of `loop`
    double *multiplier;     // loops
    double *follows;        // nx: what states contribute by way of unknowns
    double *slope;          // per entry
    uint32_t *column_start, *row;
};

static void
free_terms(Terms *terms)
{
    free(terms->term);
    free(terms->start);
}

static void
free_elimination(struct Elimination *e)
{
    if (!e)
        return;
    free_terms(&e->loop);
    free_terms(&e->outer);
    free_terms(&e->read);
    free_terms(&e->direct);
    free_terms(&e->entry);
    lu_free(&e->lu);
    free(e->number);
    free(e->reach);
    free(e->value);
    free(e->multiplier);
    free(e->follows);
    free(e->slope);
    free(e->column_start);
    free(e->row);
    free(e);
}

void
slopes_free(Slopes **slot)
{
    if (!*slot)
        return;
    free_elimination((*slot)->elimination);
    free((*slot)->empty);
    free(*slot);
    *slot = NULL;
}

// --- terms

static int
compare_terms(const void *a, const void *b)
{
    const Term *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by;
}

// Into order by `at`, of which there are `count`. False: out of memory.
static bool
order_terms(Terms *terms, uint32_t count)
{
    terms->start = calloc((size_t)count + 1, sizeof *terms->start);
    if (!terms->start)
        return false;
    if (terms->n)
        qsort(terms->term, terms->n, sizeof *terms->term, compare_terms);
    for (uint32_t i = 0; i < terms->n; i++)
        terms->start[terms->term[i].at + 1]++;
    for (uint32_t i = 0; i < count; i++)
        terms->start[i + 1] += terms->start[i];
    return true;
}

static void
add_term(Terms *terms, uint32_t at, uint32_t by, uint32_t place)
{
    terms->term[terms->n++] = (Term){at, by, place};
}

static bool
room_for(Terms *terms, uint32_t n)
{
    terms->term = calloc((size_t)n + 1, sizeof *terms->term);
    return terms->term;
}

// --- which loops

static uint32_t
unknown_of(const mdl_model *model, const mdl_block *block, uint32_t i)
{
    uint32_t place = block->unknown[i];
    return place >= model->y + model->nx && place < model->y + model->n ? place - model->y : NONE;
}

static bool
takes_part(const mdl_model *model, const mdl_block *block, const uint8_t *needed)
{
    for (uint32_t i = 0; block && i < block->m; i++)
        if (unknown_of(model, block, i) != NONE && needed[unknown_of(model, block, i)])
            return true;
    return false;
}

// `needed` marks unknowns that invariants read, and then all that these need. Loops stand in the order in which they are computed: those
// behind are asked first for what they need of those before.
static void
mark_needed(const mdl_model *model, uint8_t *needed)
{
    const mdl_matrix *y = &model->jac_y;
    for (uint32_t s = model->n_dynamics; s-- > 0;) {
        const mdl_block *block = model->dynamics[s].block;
        if (!takes_part(model, block, needed))
            continue;
        for (uint32_t i = 0; i < block->m; i++)
            if (unknown_of(model, block, i) != NONE)
                needed[unknown_of(model, block, i)] = 1;
        for (uint32_t j = model->nx; j < model->n; j++)
            for (uint32_t k = y->column_start[j]; k < y->column_start[j + 1]; k++)
                if (y->row[k] >= model->nx && needed[y->row[k]])
                    needed[j] = 1;
    }
}

static bool
number_loops(const mdl_model *model, struct Elimination *e)
{
    const mdl_matrix *c = &model->jac_c;
    uint8_t *needed = calloc((size_t)model->n + 1, 1);
    e->number = malloc(((size_t)model->n + 1) * sizeof *e->number);
    bool good = needed && e->number;
    for (uint32_t j = model->nx; good && j < model->n; j++)
        needed[j] = c->column_start[j + 1] > c->column_start[j];
    if (good)
        mark_needed(model, needed);
    for (uint32_t j = 0; good && j < model->n; j++)
        e->number[j] = needed[j] ? e->loops++ : NONE;
    free(needed);
    return good;
}

static bool
make_loops(const mdl_model *model, struct Elimination *e)
{
    const mdl_matrix *y = &model->jac_y;
    if (!room_for(&e->loop, y->nonzeros) || !room_for(&e->outer, y->nonzeros))
        return false;
    for (uint32_t j = 0; j < model->n; j++)
        for (uint32_t k = y->column_start[j]; k < y->column_start[j + 1]; k++) {
            uint32_t equation = y->row[k] < model->n ? e->number[y->row[k]] : NONE;
            if (equation != NONE && j < model->nx)
                add_term(&e->outer, equation, j, y->values + k);
            else if (equation != NONE && e->number[j] != NONE)
                add_term(&e->loop, equation, e->number[j], y->values + k);
        }
    e->value = calloc((size_t)e->loop.n + 1, sizeof *e->value);
    e->multiplier = calloc((size_t)e->loops + 1, sizeof *e->multiplier);
    e->follows = calloc((size_t)model->nx + 1, sizeof *e->follows);
    uint32_t *row = calloc((size_t)e->loop.n + 1, sizeof *row);
    bool good = e->value && e->multiplier && e->follows && row && order_terms(&e->loop, e->loops) && order_terms(&e->outer, e->loops);
    for (uint32_t i = 0; good && i < e->loop.n; i++)
        row[i] = e->loop.term[i].by;
    if (good)
        e->lu = lu_create(e->loops, e->loop.start, row);
    free(row);
    return good && e->lu;
}

// Which states the unknowns of a loop change with: those that its equations read, and those of the loops before that they read.
static void
reach_states(const mdl_model *model, struct Elimination *e, const mdl_block *block, uint8_t *states)
{
    memset(states, 0, model->nx);
    for (uint32_t i = 0; i < block->m; i++) {
        uint32_t at = unknown_of(model, block, i) != NONE ? e->number[unknown_of(model, block, i)] : NONE;
        if (at == NONE)
            continue;
        for (uint32_t k = e->outer.start[at]; k < e->outer.start[at + 1]; k++)
            states[e->outer.term[k].by] = 1;
        for (uint32_t k = e->loop.start[at]; k < e->loop.start[at + 1]; k++)
            for (uint32_t j = 0; j < model->nx; j++)
                states[j] |= e->reach[(size_t)e->loop.term[k].by * model->nx + j];
    }
    for (uint32_t i = 0; i < block->m; i++)
        if (unknown_of(model, block, i) != NONE && e->number[unknown_of(model, block, i)] != NONE)
            memcpy(e->reach + (size_t)e->number[unknown_of(model, block, i)] * model->nx, states, model->nx);
}

static bool
find_reach(const mdl_model *model, struct Elimination *e)
{
    uint8_t *states = malloc((size_t)model->nx + 1);
    e->reach = calloc((size_t)e->loops * model->nx + 1, 1);
    for (uint32_t s = 0; states && e->reach && s < model->n_dynamics; s++)
        if (model->dynamics[s].block)
            reach_states(model, e, model->dynamics[s].block, states);
    bool good = states && e->reach;
    free(states);
    return good;
}

// --- the table of slopes

static void
mark_column(const mdl_model *model, const struct Elimination *e, uint32_t j, uint8_t *mark)
{
    const mdl_matrix *c = &model->jac_c;
    memset(mark, 0, model->n_constraints);
    for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
        mark[c->row[k]] = 1;
    for (uint32_t k = 0; k < e->read.n; k++)
        mark[e->read.term[k].at] |= e->reach[(size_t)e->read.term[k].by * model->nx + j];
}

// Adds column j; returns the number of entries then.
static uint32_t
add_column(const mdl_model *model, struct Elimination *e, uint32_t j, uint32_t n, const uint8_t *mark)
{
    const mdl_matrix *c = &model->jac_c;
    e->column_start[j] = n;
    for (uint32_t i = 0; i < model->n_constraints; i++) {
        if (!mark[i])
            continue;
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            if (c->row[k] == i)
                add_term(&e->direct, n, j, c->values + k);
        e->row[n] = i;
        add_term(&e->entry, i, j, n++);
    }
    return n;
}

static bool
make_table(const mdl_model *model, struct Elimination *e, uint32_t *entries)
{
    const mdl_matrix *c = &model->jac_c;
    uint8_t *mark = malloc((size_t)model->n_constraints + 1);
    e->column_start = calloc((size_t)model->nx + 1, sizeof *e->column_start);
    bool good = mark && e->column_start && room_for(&e->read, c->nonzeros) && room_for(&e->direct, c->nonzeros);
    for (uint32_t j = model->nx; good && j < model->n; j++)
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            add_term(&e->read, c->row[k], e->number[j], c->values + k);
    good = good && order_terms(&e->read, model->n_constraints);
    *entries = 0;
    for (uint32_t j = 0; good && j < model->nx; j++) {
        mark_column(model, e, j, mark);
        for (uint32_t i = 0; i < model->n_constraints; i++)
            *entries += mark[i];
    }
    e->row = calloc((size_t)*entries + 1, sizeof *e->row);
    e->slope = calloc((size_t)*entries + 1, sizeof *e->slope);
    good = good && e->row && e->slope && room_for(&e->entry, *entries);
    uint32_t n = 0;
    for (uint32_t j = 0; good && j < model->nx; j++) {
        mark_column(model, e, j, mark);
        n = add_column(model, e, j, n, mark);
    }
    if (good)
        e->column_start[model->nx] = n;
    free(mark);
    return good && order_terms(&e->entry, model->n_constraints);
}

static bool
reads_loops(const mdl_model *model)
{
    const mdl_matrix *c = &model->jac_c;
    return c->nonzeros && model->jac_y.nonzeros && c->column_start[model->n] > c->column_start[model->nx];
}

Slopes *
slopes_create(const mdl_model *model)
{
    Slopes *slopes = calloc(1, sizeof *slopes);
    if (!slopes)
        return NULL;
    if (!reads_loops(model)) {
        slopes->column_start = model->jac_c.column_start;
        slopes->row = model->jac_c.row;
        slopes->entries = model->jac_c.nonzeros;
        if (slopes->column_start)
            return slopes;
        slopes->column_start = slopes->empty = calloc((size_t)model->nx + 1, sizeof *slopes->empty);
        if (!slopes->empty)
            slopes_free(&slopes);
        return slopes;
    }
    struct Elimination *e = slopes->elimination = calloc(1, sizeof *e);
    bool good = e && number_loops(model, e) && make_loops(model, e) && find_reach(model, e) && make_table(model, e, &slopes->entries);
    if (!good) {
        slopes_free(&slopes);
        return NULL;
    }
    slopes->column_start = e->column_start;
    slopes->row = e->row;
    return slopes;
}

// --- their values

// What states contribute to invariant k by way of the unknowns that it reads.
static void
subtract_loops(const Run *run, struct Elimination *e, uint32_t k)
{
    memset(e->multiplier, 0, e->loops * sizeof *e->multiplier);
    for (uint32_t i = e->read.start[k]; i < e->read.start[k + 1]; i++)
        e->multiplier[e->read.term[i].by] = run->v[e->read.term[i].place];
    lu_solve(e->lu, e->multiplier);
    memset(e->follows, 0, run->model->nx * sizeof *e->follows);
    for (uint32_t i = 0; i < e->outer.n; i++)
        e->follows[e->outer.term[i].by] += e->multiplier[e->outer.term[i].at] * run->v[e->outer.term[i].place];
    for (uint32_t i = e->entry.start[k]; i < e->entry.start[k + 1]; i++)
        e->slope[e->entry.term[i].place] -= e->follows[e->entry.term[i].by];
}

bool
slopes_update(const Run *run, Slopes *slopes)
{
    struct Elimination *e = slopes->elimination;
    if (!e)
        return true;
    memset(e->slope, 0, slopes->entries * sizeof *e->slope);
    for (uint32_t i = 0; i < e->direct.n; i++)
        e->slope[e->direct.term[i].at] = run->v[e->direct.term[i].place];
    for (uint32_t i = 0; i < e->loop.n; i++)
        e->value[i] = run->v[e->loop.term[i].place];
    if (!lu_factor(e->lu, e->value, true))
        return false;
    for (uint32_t k = 0; k < run->model->n_constraints; k++)
        if (e->read.start[k + 1] > e->read.start[k])
            subtract_loops(run, e, k);
    return true;
}

const double *
slopes_values(const Run *run, const Slopes *slopes)
{
    return slopes->elimination ? slopes->elimination->slope : run->v + run->model->jac_c.values;
}
