// tangent.c: directional derivatives of the model at one point.
//
// Purpose: linearisation, steady states and sensitivities need exact derivatives of everything by anything.
// Method: the tangents of the model's functions (model.h) in the order of the functions. A block r(u, w) = 0 gives
//   J u' = -r_w w': its tangent is called with u' = 0 for the right side, then with the solution for the inner variables.
//   Blocks with equations that follow from others get the shortest solution, as their values do (newton.c).
// Contract: tangent.h. Values in v stay what they are. Complexity: per direction one pass over the tangents and a solve with
//   the factors of each block.
#include "runtime/point/tangent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/part.h"
#include "runtime/point/past_tangents.h"
#include "runtime/point/point.h"

static const double SUSPICIOUS = 1e-7; // pivots below this part of the largest: the rank is looked at,
static const double STILL = 0.1;       // unless that was done and this part of what it was then is left
static const double LEFT = 1e-11;      // of a residual's terms, beyond which pivots that were chosen elsewhere are not good enough

struct Tangent {
    Run *run;
    const mdl_tangents *tables;
    double *right;        // of the largest block
    PastTangents past;    // values of the past that dynamics say where to look up
};

static uint32_t
largest_block(const mdl_step *steps, uint32_t n, uint32_t most)
{
    for (uint32_t k = 0; k < n; k++)
        if (steps[k].block && steps[k].block->m > most)
            most = steps[k].block->m;
    return most;
}

Tangent *
tangent_create(Run *run)
{
    const mdl_model *model = run->model;
    Tangent *tangent = calloc(1, sizeof *tangent);
    if (!tangent)
        return NULL;
    uint32_t most = largest_block(model->dynamics, model->n_dynamics, 0);
    tangent->run = run;
    tangent->tables = model->tangents;
    tangent->right = calloc((size_t)largest_block(model->init, model->n_init, most) + 1, sizeof *tangent->right);
    if (!past_tangents_create(&tangent->past, model) || !tangent->right)
        tangent_free(&tangent);
    return tangent;
}

void
tangent_free(Tangent **slot)
{
    if (*slot) {
        free((*slot)->right);
        past_tangents_free(&(*slot)->past);
    }
    free(*slot);
    *slot = NULL;
}

double *
tangent_at(const Tangent *tangent, uint32_t place)
{
    return tangent->run->v + tangent->tables->shift + place;
}

void
tangent_clear(Tangent *tangent)
{
    memset(tangent_at(tangent, 0), 0, tangent->tables->shift * sizeof(double));
    tangent->past.n = tangent->past.values = 0;
}

void
tangent_seed_past(Tangent *tangent, uint32_t p)
{
    const Run *run = tangent->run;
    tangent->past.n = tangent->past.values = 0;
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->seed)
            run->part[i]->seed(run, tangent, p);
}

void
tangent_looked_up(Tangent *tangent, uint32_t value, double slope, uint32_t place, int32_t sign)
{
    past_tangents_add(&tangent->past, place, sign, value, *tangent_at(tangent, value), slope);
}

// --- blocks

// Leaves what solve_block() needs in newton->lu, or in newton->rank when by_rank is set.
static bool
factor_block(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    uint32_t rank;
    mdl_call(block->eval, run->v);
    mdl_call(block->jacobian, run->v);
    newton->by_square = newton->by_rank = newton->by_standing = false;
    uint32_t open = newton_open(newton);
    if (open)
        return newton->by_rank = newton_rank(run, newton, 0, block->m - open);
    newton->by_standing = standing_loop_factor(newton, run->v + block->jac.values);
    if (newton->by_standing)
        return true;
    newton->with_old_pivots = newton->cleared > 0;
    bool factored = newton->lu && lu_factor(newton->lu, run->v + block->jac.values, !newton->with_old_pivots);
    double ratio = factored ? lu_pivot_ratio(newton->lu) : 0;
    if (block->constraints && block->m <= RANK_LIMIT && ratio < SUSPICIOUS && !(ratio > STILL * newton->cleared)) {
        newton->by_rank = newton_review_rank(run, newton, &rank) && rank < block->m;
        newton->with_old_pivots = false;
    }
    newton->cleared = newton->by_rank ? 0 : ratio;
    return factored || newton->by_rank;
}

void
tangent_solve(Newton *newton, double *b, uint32_t several)
{
    uint32_t m = newton->block->m;
    if (!newton->by_rank && !newton->by_standing) {
        lu_solve_several(newton->lu, b, several);
        return;
    }
    for (uint32_t k = 0; k < several; k++, b += m)
        if (newton->by_rank)
            rank_solve(newton->rank, b, b);
        else
            standing_loop_apply(newton, b);
}

// What the unknowns' tangents contribute to those of the residuals, and whether these are small beside it.
static inline __attribute__((always_inline)) bool
leaves_little(const Run *run, const mdl_block *block, const double *tangent, const uint32_t width, double *restrict term)
{
    const double *value = run->v + block->jac.values;
    bool little = true;
    memset(term, 0, (size_t)block->m * width * sizeof *term);
    for (uint32_t j = 0; j < block->m; j++) {
        const double *size = tangent + (size_t)block->unknown[j] * width;
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
            for (uint32_t l = 0; l < width; l++)
                term[(size_t)block->jac.row[k] * width + l] += fabs(value[k] * size[l]);
    }
    for (uint32_t i = 0; i < block->m; i++) {
        const double *left = tangent + (size_t)block->residual[i] * width;
        for (uint32_t l = 0; l < width; l++)
            little &= fabs(left[l]) <= LEFT * term[(size_t)i * width + l];
    }
    return little;
}

__attribute__((target_clones("avx2", "default"), optimize("O3"))) static bool
four_leave_little(const Run *run, const mdl_block *block, const double *tangent, double *term)
{
    return leaves_little(run, block, tangent, 4, term);
}

__attribute__((target_clones("avx2", "default"), optimize("O3"))) static bool
eight_leave_little(const Run *run, const mdl_block *block, const double *tangent, double *term)
{
    return leaves_little(run, block, tangent, 8, term);
}

bool
tangent_is_solved(const Run *run, const Newton *newton, const double *tangent, uint32_t width, double *term)
{
    const mdl_block *block = newton->block;
    if (newton->by_rank || (!newton->by_standing && !newton->with_old_pivots))
        return true;
    if (width == 8)
        return eight_leave_little(run, block, tangent, term);
    return width == 4 ? four_leave_little(run, block, tangent, term) : leaves_little(run, block, tangent, width, term);
}

bool
tangent_choose_pivots(const Run *run, Newton *newton)
{
    newton->by_standing = newton->with_old_pivots = false;
    return newton->lu && lu_factor(newton->lu, run->v + newton->block->jac.values, true);
}

static void
solve_block(Tangent *tangent, Newton *newton, mdl_code code)
{
    const mdl_block *block = newton->block;
    const Run *run = tangent->run;
    double *b = tangent->right;
    do {
        for (uint32_t i = 0; i < block->m; i++)
            *tangent_at(tangent, block->unknown[i]) = 0;
        mdl_call(code, run->v);
        for (uint32_t i = 0; i < block->m; i++)
            b[i] = -*tangent_at(tangent, block->residual[i]);
        tangent_solve(newton, b, 1);
        for (uint32_t i = 0; i < block->m; i++)
            *tangent_at(tangent, block->unknown[i]) = b[i];
        mdl_call(code, run->v);
    } while (!tangent_is_solved(run, newton, tangent_at(tangent, 0), 1, b) && tangent_choose_pivots(run, newton));
}

MDL_CHECKED static int
report_singular(const Run *run, const mdl_block *block)
{
    run_message(run, MDL_ERROR, "at time %.12g: an algebraic loop is singular, so that its solution has no derivative\n"
                "its first equation is %s", run->v[0], block->equation ? block->equation[0] : "not known");
    return MDL_FAILED;
}

// --- dynamics

int
tangent_factor(Tangent *tangent)
{
    Run *run = tangent->run;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++)
        if (run->block[k] && !factor_block(run, run->block[k]))
            return report_singular(run, run->block[k]->block);
    return MDL_OK;
}

// Derivatives of explicit rows follow from dx; those of sticking states stay zero.
static void
take_derivatives(Tangent *tangent)
{
    const Run *run = tangent->run;
    const mdl_model *model = run->model;
    double *yp = tangent_at(tangent, model->yp);
    const double *dx = tangent_at(tangent, model->dx);
    for (uint32_t i = 0; i < model->nx; i++)
        if (!model->implicit[i])
            yp[i] = dx[i];
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->clamp_tangent)
            run->part[i]->clamp_tangent(run, yp, 1);
}

static void
pass_dynamics(Tangent *tangent)
{
    Run *run = tangent->run;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++)
        if (run->block[k])
            solve_block(tangent, run->block[k], tangent->tables->dynamics[k]);
        else
            mdl_call(tangent->tables->dynamics[k], run->v);
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->react_tangent)
            run->part[i]->react_tangent(run);
    take_derivatives(tangent);
    mdl_call(tangent->tables->outputs, run->v);
}

void
tangent_dynamics(Tangent *tangent)
{
    unsigned pass = 0;
    do
        pass_dynamics(tangent);
    while (tangent->past.n && past_tangents_choose(tangent, &tangent->past, pass++));
}

// --- parameters and the start

void
tangent_parameter(Tangent *tangent, const mdl_settable *settable)
{
    tangent_clear(tangent);
    *tangent_at(tangent, settable->value) = 1;
    tangent_follow(tangent, settable);
}

void
tangent_follow(Tangent *tangent, const mdl_settable *settable)
{
    Run *run = tangent->run;
    double given = settable->given ? run->v[settable->given] : 0;
    // One that others determine is moved all the same.
    if (settable->given)
        run->v[settable->given] = 1;
    mdl_call(tangent->tables->parameters, run->v);
    if (settable->given)
        run->v[settable->given] = given;
}

void
tangent_hold(Tangent *tangent)
{
    const mdl_model *model = tangent->run->model;
    memset(tangent_at(tangent, model->y), 0, model->n * sizeof(double));
    memset(tangent_at(tangent, model->yp), 0, model->n * sizeof(double));
    for (uint32_t k = 0; k < model->n_discretes; k++)
        *tangent_at(tangent, model->discrete[k].value) = *tangent_at(tangent, model->discrete[k].pre) = 0;
}

int
tangent_held(Tangent *tangent, const char *parameter)
{
    static const char *const why[] = {
        [MDL_HELD_OBJECT] = "it goes into the external object `%s`, which is not differentiated",
        [MDL_HELD_LEFT_OUT] = "it goes into an argument that the declared derivative `%s` leaves out (noDerivative)",
        [MDL_HELD_STEPS] = "a result of the function `%s` depends on its arguments through comparisons alone; an annotation 'derivative' of it would tell"};
    const mdl_tangents *tables = tangent->tables;
    mdl_call(tables->held, tangent->run->v);
    for (uint32_t k = 0; k < tables->n_held; k++) {
        const mdl_held *held = &tables->held_value[k];
        char text[400];
        if (held->place && *tangent_at(tangent, held->place) == 0)
            continue;
        if (held->kind == MDL_HELD_VALUE) {
            run_message(tangent->run, MDL_ERROR, "%s: there is no derivative by `%s`: the equations hold for the value alone that it has", held->text, parameter);
            return MDL_FAILED;
        }
        snprintf(text, sizeof text, why[held->kind], held->text);
        run_message(tangent->run, MDL_ERROR, "no derivative by `%s` is known: %s", parameter, text);
        return MDL_FAILED;
    }
    return MDL_OK;
}

int
tangent_start(Tangent *tangent)
{
    Run *run = tangent->run;
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_init; k++) {
        const mdl_block *block = model->init[k].block;
        if (!block) {
            mdl_call(tangent->tables->init[k], run->v);
            continue;
        }
        Newton *newton = newton_create(block);
        bool good = newton && factor_block(run, newton);
        if (good)
            solve_block(tangent, newton, tangent->tables->init[k]);
        newton_free(&newton);
        if (!good)
            return report_singular(run, block);
    }
    return MDL_OK;
}
