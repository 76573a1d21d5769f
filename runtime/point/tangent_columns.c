// tangent_columns.c: sensitivities to several parameters followed at once.
//
// Purpose: a run with sensitivities spends most of its time with tangents at one point, of one parameter after the other.
// Method: tangents of a group of parameters stand side by side, one column each, in an array of their own (mdl_directions); values are those of the run. Loops are
//         solved with the factors that one direction has, a column after the other. Tangents of parameters and of discrete variables, which change at events only,
//         are copied when they have changed; all others are computed before they are read. The same to the bit as one after the other.
// Contract: sense.h. Complexity: that of the tangents, of which what depends on values alone is computed once for a group.
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/part.h"
#include "runtime/point/sense.h"

enum { ALIGNMENT = 64 };

typedef struct Group {
    double *tangent;    // shift * width
    uint64_t images;    // Sense.images when those of parameters and discrete variables were copied; 0: never
} Group;

struct Directions {
    const mdl_directions *code;
    uint32_t groups;
    Group *group;
    double *right;      // of the largest loop, a column for each direction
};

static bool
has_processor(void)
{
#if defined __x86_64__ && defined __GNUC__
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

// What is remembered is looked up for one direction.
static bool
fits(const Run *run)
{
    bool fits = !run->modes && run->options->sense->n > 1 && has_processor();
    for (uint32_t i = 0; i < run->parts && fits; i++)
        fits = !run->part[i]->seed;
    return fits;
}

bool
sense_follows_several(const Run *run)
{
    bool several = run->sense->directions != NULL;
    for (uint32_t i = 0; i < run->parts && several; i++) {
        const RunPart *part = run->part[i];
        several = !part->react_tangent || (part->reacts && !part->reacts(run)); // reactions of what is at rest are for one direction
    }
    return several;
}

bool
directions_create(Run *run)
{
    const mdl_model *model = run->model;
    const mdl_directions *code = run->options->directions;
    if (!code || !fits(run))
        return true;
    Directions *d = run->sense->directions = calloc(1, sizeof *d);
    uint32_t most = 0;
    if (!d)
        return false;
    d->code = code;
    d->groups = (run->sense->n + code->width - 1) / code->width;
    d->group = calloc(d->groups, sizeof *d->group);
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (model->dynamics[k].block && model->dynamics[k].block->m > most)
            most = model->dynamics[k].block->m;
    d->right = calloc((size_t)most * code->width + 1, sizeof *d->right);
    size_t size = (size_t)model->tangents->shift * code->width * sizeof(double);
    for (uint32_t g = 0; g < d->groups && d->group; g++)
        if (!(d->group[g].tangent = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)))
            return false;
    return d->group && d->right;
}

void
directions_free(Sense *sense)
{
    Directions *d = sense->directions;
    if (!d)
        return;
    for (uint32_t g = 0; g < d->groups && d->group; g++)
        free(d->group[g].tangent);
    free(d->group);
    free(d->right);
    free(d);
    sense->directions = NULL;
}

static void
copy_images(const Run *run, uint32_t first, Group *group)
{
    const Sense *sense = run->sense;
    uint32_t width = sense->directions->code->width, shift = run->model->tangents->shift;
    memset(group->tangent, 0, (size_t)shift * width * sizeof *group->tangent);
    for (uint32_t l = 0; l < width && first + l < sense->n; l++)
        for (uint32_t i = 0; i < shift; i++)
            group->tangent[(size_t)i * width + l] = sense->image[first + l][i];
    group->images = sense->images;
}

// As solve_block() of tangent.c, for the columns that are used.
static void
solve_loop(Run *run, Newton *newton, mdl_fn *code, double *tangent, uint32_t used)
{
    const mdl_block *block = newton->block;
    const Directions *d = run->sense->directions;
    size_t width = d->code->width, m = block->m;
    double *right = d->right;
    do {
        for (size_t i = 0; i < m; i++)
            memset(tangent + block->unknown[i] * width, 0, width * sizeof *tangent);
        code(run->v, tangent);
        for (size_t i = 0; i < m; i++)
            for (size_t l = 0; l < width; l++)
                right[l * m + i] = -tangent[block->residual[i] * width + l];
        tangent_solve(newton, right, used);
        for (size_t i = 0; i < m; i++)
            for (size_t l = 0; l < used; l++)
                tangent[block->unknown[i] * width + l] = right[l * m + i];
        code(run->v, tangent);
    } while (!tangent_is_solved(run, newton, tangent, (uint32_t)width, right) && tangent_choose_pivots(run, newton));
}

static void
pass_dynamics(Run *run, double *tangent, uint32_t used)
{
    const mdl_model *model = run->model;
    const mdl_directions *code = run->sense->directions->code;
    size_t width = code->width;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (run->block[k])
            solve_loop(run, run->block[k], code->dynamics[k], tangent, used);
        else if (code->dynamics[k])
            code->dynamics[k](run->v, tangent);
    for (uint32_t i = 0; i < model->nx; i++)
        if (!model->implicit[i])
            memcpy(tangent + (model->yp + i) * width, tangent + (model->dx + i) * width, width * sizeof *tangent);
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->clamp_tangent)
            run->part[i]->clamp_tangent(run, tangent + model->yp * width, (uint32_t)width);
    if (code->outputs)
        code->outputs(run->v, tangent);
}

void
sense_follow(Run *run, uint32_t p, const double *s, size_t apart)
{
    Sense *sense = run->sense;
    const Directions *d = sense->directions;
    if (!sense_follows_several(run)) {
        sense_seed(run, p, s);
        tangent_dynamics(sense->tangent);
        sense->followed = tangent_at(sense->tangent, 0);
        sense->stride = 1;
        return;
    }
    uint32_t width = d->code->width, column = p % width;
    Group *group = &d->group[p / width];
    sense->followed = group->tangent + column;
    sense->stride = width;
    if (column)
        return;
    uint32_t used = p + width < sense->n ? width : sense->n - p;
    if (group->images != sense->images)
        copy_images(run, p, group);
    for (uint32_t l = 0; l < used; l++)
        for (uint32_t i = 0; i < sense->nx; i++)
            group->tangent[(size_t)(run->model->y + i) * width + l] = s[l * apart + i];
    pass_dynamics(run, group->tangent, used);
}
