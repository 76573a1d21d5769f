// lanes.c: the right sides of several runs of one model side by side.
//
// Purpose: an ensemble does the same operations on other numbers, which a processor can do four at a time.
// Method: the functions of mdl_lanes over one array; loops by lane_loop.c. The order in which loops are eliminated is found once, beside the start of a
//         typical run, where nothing is zero by chance.
// Contract: lanes.h. Complexity: that of the functions; a column is copied when its run has begun or had an event.
#include "runtime/point/lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

enum { ALIGNMENT = 64 };

static bool
has_processor(void)
{
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

static bool
is_regular(const Newton *newton)
{
    return !newton || (!newton->review && !newton->deficient && !newton->locked && !newton->block->switched && !newton->block->conditions);
}

bool
lanes_fit(const Run *run)
{
    static const PartHook right_side[] = {HOOK_LOAD, HOOK_REACT, HOOK_CLAMP, HOOK_RATES};
    const mdl_model *model = run->model;
    bool fits = model->lanes && has_processor() && model->lanes->width <= LANES_MOST && model->nx && !model->n_sgns && !model->failure
                && (!model->n_constraints || run->solver == MDL_SOLVER_DOP853) && !run->modes && !run->rests && !run->contacts && !run->hides && !run->deficient && !run->locked && !run->profile;
    for (size_t k = 0; k < sizeof right_side / sizeof *right_side; k++)
        fits = fits && !run->having[right_side[k]].n;
    for (uint32_t k = 0; k < model->n_dynamics && fits; k++)
        fits = is_regular(run->block[k]);
    return fits;
}

static Lanes *
create(const mdl_model *model)
{
    Lanes *lanes = calloc(1, sizeof *lanes);
    if (!lanes)
        return NULL;
    lanes->model = model;
    lanes->width = model->lanes->width;
    size_t size = (size_t)model->nv * lanes->width * sizeof *lanes->v;
    lanes->v = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    lanes->kept = malloc(((size_t)model->nv + 1) * sizeof *lanes->kept);
    if (!lanes->v || !lanes->kept) {
        free(lanes->v);
        free(lanes->kept);
        free(lanes);
        return NULL;
    }
    memset(lanes->v, 0, size);
    return lanes;
}

// To a point that is none of those at which things are parallel or at rest.
static bool
move_aside(Run *run)
{
    const double part = 0.05, turn = 2.4; // radians, as good as random
    double *y = run->v + run->model->y;
    for (uint32_t i = 0; i < run->model->nx; i++)
        y[i] += part * sin(1 + turn * i) * fmax(fabs(y[i]), fabs(run->v[run->model->nominal + i]));
    return evaluate_solved(run, false) == MDL_OK;
}

// The Jacobians of all loops, one behind the other. NULL: out of memory, or there is no right side.
static double *
values_of_loops(Run *run)
{
    const mdl_model *model = run->model;
    size_t count = 1, at = 0;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        count += model->dynamics[k].block ? model->dynamics[k].block->jac.nonzeros : 0;
    double *value = evaluate_solved(run, false) == MDL_OK ? malloc(count * sizeof *value) : NULL;
    for (uint32_t k = 0; k < model->n_dynamics && value; k++) {
        const mdl_block *block = model->dynamics[k].block;
        if (!block)
            continue;
        mdl_call(block->jacobian, run->v);
        memcpy(value + at, run->v + block->jac.values, block->jac.nonzeros * sizeof *value);
        at += block->jac.nonzeros;
    }
    return value;
}

Lanes *
lanes_create(Run *typical)
{
    const mdl_model *model = typical->model;
    double *start = values_of_loops(typical), *its = start;
    Lanes *lanes = start && move_aside(typical) ? create(model) : NULL;
    if (!lanes) {
        free(start);
        return NULL;
    }
    lanes->loop = calloc((size_t)model->n_dynamics + 1, sizeof(LaneLoop *));
    bool good = lanes->loop != NULL;
    for (uint32_t k = 0; k < model->n_dynamics && good; k++) {
        const mdl_block *block = model->dynamics[k].block;
        if (block)
            good = (lanes->loop[k] = lane_loop_create(typical, block, its, lanes->width)) != NULL;
        its += block ? block->jac.nonzeros : 0;
    }
    free(start);
    if (!good)
        lanes_free(&lanes);
    return lanes;
}

Lanes *
lanes_beside(const Lanes *lanes)
{
    Lanes *beside = create(lanes->model);
    if (!beside)
        return NULL;
    beside->loop = lanes->loop;
    beside->lends = true;
    return beside;
}

void
lanes_free(Lanes **slot)
{
    Lanes *lanes = *slot;
    if (!lanes)
        return;
    for (uint32_t k = 0; lanes->loop && !lanes->lends && k < lanes->model->n_dynamics; k++)
        lane_loop_free(&lanes->loop[k]);
    if (!lanes->lends)
        free((void *)lanes->loop);
    free(lanes->v);
    free(lanes->kept);
    free(lanes);
    *slot = NULL;
}

void
lanes_load(Lanes *lanes, uint32_t lane)
{
    const double *from = lanes->run[lane]->v;
    double *to = lanes->v + lane;
    for (uint32_t p = 0; p < lanes->model->nv; p++, to += lanes->width)
        *to = from[p];
    lanes->loaded[lane] = true;
}

void
lanes_start_loops(Lanes *lanes, uint32_t lane)
{
    const mdl_model *model = lanes->model;
    const Run *run = lanes->run[lane];
    double *v = lanes->v + lane;
    for (uint32_t i = model->nx; i < model->n; i++)
        v[(model->y + i) * (size_t)lanes->width] = run->y[i];
    for (uint32_t k = 0; k < run->n_implicit; k++)
        v[(model->yp + run->implicit[k]) * (size_t)lanes->width] = run->yp[run->implicit[k]];
}

void
lanes_slopes(Lanes *lanes, double *slope)
{
    const mdl_model *model = lanes->model;
    size_t width = lanes->width;
    memset(lanes->failed, 0, sizeof lanes->failed);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        if (lanes->loop[k])
            lane_loop_solve(lanes, k);
        else
            mdl_call(model->lanes->step[k].call, lanes->v);
    }
    memcpy(slope, lanes->v + model->dx * width, model->nx * width * sizeof *slope);
    for (uint32_t i = 0; model->implicit && i < model->nx; i++)
        if (model->implicit[i])
            memcpy(slope + i * width, lanes->v + (model->yp + i) * width, width * sizeof *slope);
}

void
lanes_probe(Lanes *lanes, const double *slope)
{
    double probe[LANES_MOST] = {0}; // two numbers of four runs, or one of eight, at a time
    size_t width = lanes->width, n = (size_t)lanes->model->nx * width, i = 0;
    for (; i + LANES_MOST <= n; i += LANES_MOST)
        for (uint32_t l = 0; l < LANES_MOST; l++)
            probe[l] += 0 * slope[i + l];
    for (uint32_t l = 0; i < n; i++, l++)
        probe[l] += 0 * slope[i];
    for (uint32_t l = 0; l < LANES_MOST; l++)
        lanes->failed[l % width] = lanes->failed[l % width] || probe[l] != 0;
}

void
lanes_read(const Lanes *lanes, uint32_t lane, double *y, double *yp)
{
    const mdl_model *model = lanes->model;
    const double *v = lanes->v + lane;
    size_t width = lanes->width;
    for (uint32_t i = 0; i < model->n; i++)
        y[i] = v[(model->y + i) * width];
    for (uint32_t i = 0; i < model->nx; i++)
        yp[i] = v[((model->implicit && model->implicit[i] ? model->yp : model->dx) + i) * width];
}

// Whose derivatives are computed, and not unknowns of a loop, the outputs read where the unknowns stand.
void
lanes_derivatives(Lanes *lanes)
{
    const mdl_model *model = lanes->model;
    size_t width = lanes->width;
    for (uint32_t i = 0; i < model->nx; i++)
        if (!model->implicit || !model->implicit[i])
            memcpy(lanes->v + (model->yp + i) * width, lanes->v + (model->dx + i) * width, width * sizeof *lanes->v);
}

void
lanes_outputs(Lanes *lanes)
{
    lanes_derivatives(lanes);
    mdl_call(lanes->model->lanes->outputs, lanes->v);
}

static inline __attribute__((always_inline)) void
probe_outputs(const uint32_t width, const Lanes *lanes, bool *finite)
{
    const mdl_model *model = lanes->model;
    double probe[LANES_MOST] = {0};
    for (uint32_t k = 0; k < model->n_outputs; k++) {
        const double *value = lanes->v + (size_t)model->output[k].place * width;
        for (uint32_t l = 0; l < width; l++)
            probe[l] += 0 * value[l];
    }
    for (uint32_t l = 0; l < width; l++)
        finite[l] = probe[l] == 0 && !lanes->failed[l];
}

__attribute__((target_clones("avx2", "default"))) void
lanes_finite(const Lanes *lanes, bool *finite)
{
    if (lanes->width == LANES_MOST)
        probe_outputs(LANES_MOST, lanes, finite);
    else
        probe_outputs(LANES_MOST / 2, lanes, finite);
}

void
lanes_asserts(Lanes *lanes, bool *holds)
{
    const mdl_model *model = lanes->model;
    mdl_call(model->lanes->asserts, lanes->v);
    for (uint32_t l = 0; l < lanes->width; l++)
        holds[l] = !lanes->failed[l];
    for (uint32_t k = 0; k < model->n_asserts; k++) {
        const mdl_assert *assertion = &model->assertion[k];
        for (uint32_t l = 0; l < lanes->width && !assertion->edge; l++)
            holds[l] = holds[l] && lanes->v[(size_t)assertion->ok * lanes->width + l] != 0;
    }
}
