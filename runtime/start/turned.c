// turned.c: loops of a mechanism that close half a turn off.
//
// Purpose: the conditions that close a loop in space are three sines, which vanish for axes that are turned half round as well. Such
// a start satisfies every equation and contradicts the connection.
// Method: whether the axes on both sides of the connection are the same is computed from all nine cosines. Where they are not, the
// initial system is solved again from other start values: angles that it determines are turned by half a turn, or a quarter, one
// at a time, and what brings more loops together is kept; then two at a time.
// Contract: start.h. Complexity: at most TRIALS solutions of the initial system, only where a loop is turned.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/start/start.h"

enum { TRIALS = 400, NAMED = 6, NOT_SOLVED = INT32_MAX };

static const double HALF_TURN = 3.14159265358979323846;

typedef struct Turning {
    Run *run;
    StartSolver solve;
    void *blocks;
    double *base, *found; // start values that the best solution was found from; that solution
    uint32_t *angle;      // places in v of the angles that the initial system determines
    uint32_t n, trials;
    int turned;           // loops that the best solution closes half a turn off
} Turning;

static int
count_turned(Run *run)
{
    const mdl_model *model = run->model;
    int n = 0;
    mdl_call(model->loop_ends, run->v);
    for (uint32_t k = 0; k < model->n_loop_ends; k++)
        n += run->v[model->loop_end[k].same] < 0;
    return n;
}

static bool
is_angle(const mdl_model *model, const mdl_output *output)
{
    const mdl_declaration *declared = output->declaration < model->n_declarations ? &model->declaration[output->declaration] : NULL;
    return output->type == MDL_REAL && declared && declared->unit && !strcmp(declared->unit, "rad");
}

// 1 for the places of angles that blocks of the initial system determine.
static uint8_t *
mark_angles(const mdl_model *model)
{
    uint8_t *mark = calloc((size_t)model->nv + 1, 1);
    if (!mark)
        return NULL;
    for (uint32_t k = 0; k < model->n_outputs; k++)
        if (is_angle(model, &model->output[k]))
            mark[model->output[k].place] = 1;
    for (uint32_t k = 0; k < model->n_init; k++) {
        const mdl_block *block = model->init[k].block;
        for (uint32_t i = 0; block && i < block->m; i++)
            mark[block->unknown[i]] |= 2;
    }
    for (uint32_t place = 0; place < model->nv; place++)
        mark[place] = mark[place] == 3;
    return mark;
}

// True when the initial system has a solution from the start values in v with fewer turned loops: it is kept.
static bool
try_start(Turning *turning)
{
    Run *run = turning->run;
    size_t bytes = run->model->nv * sizeof *run->v;
    double *start = turning->found + run->model->nv;
    memcpy(start, run->v, bytes);
    turning->trials++;
    int turned = turning->solve(run, turning->blocks) == MDL_OK ? count_turned(run) : NOT_SOLVED;
    if (turned >= turning->turned)
        return false;
    turning->turned = turned;
    memcpy(turning->base, start, bytes);
    memcpy(turning->found, run->v, bytes);
    return true;
}

static void
turn_one(Turning *turning, double by)
{
    Run *run = turning->run;
    for (uint32_t i = 0; i < turning->n && turning->turned && turning->trials < TRIALS; i++) {
        memcpy(run->v, turning->base, run->model->nv * sizeof *run->v);
        run->v[turning->angle[i]] += by;
        if (try_start(turning))
            return;
    }
}

static void
turn_two(Turning *turning)
{
    Run *run = turning->run;
    for (uint32_t i = 0; i < turning->n; i++)
        for (uint32_t k = 0; k < i && turning->turned && turning->trials < TRIALS; k++) {
            memcpy(run->v, turning->base, run->model->nv * sizeof *run->v);
            run->v[turning->angle[i]] += HALF_TURN;
            run->v[turning->angle[k]] += HALF_TURN;
            if (try_start(turning))
                return;
        }
}

static void
turn(Turning *turning)
{
    int before;
    do {
        before = turning->turned;
        turn_one(turning, HALF_TURN);
        if (turning->turned == before)
            turn_one(turning, HALF_TURN / 2);
        if (turning->turned == before)
            turn_one(turning, -HALF_TURN / 2);
        if (turning->turned == before)
            turn_two(turning);
    } while (turning->turned && turning->turned < before && turning->trials < TRIALS);
}

// "; other start values of the angles help: `h2.phi` (from 0 to -1.3)"
static void
name_angles(const Turning *turning, char *text, size_t size)
{
    const mdl_model *model = turning->run->model;
    size_t used = 0;
    uint32_t named = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < turning->n && named < NAMED; i++)
        for (uint32_t k = 0; k < model->n_outputs; k++) {
            const mdl_output *output = &model->output[k];
            if (output->place != turning->angle[i])
                continue;
            int more = snprintf(text + used, size - used, "%s`%s` (from %.4g to %.4g)",
                                named++ ? ", " : "; other start values of the angles help: ", output->name,
                                output->sign * turning->base[output->place], output->sign * turning->found[output->place]);
            used += more > 0 && (size_t)more < size - used ? (size_t)more : 0;
            break;
        }
}

static void
report(Turning *turning)
{
    Run *run = turning->run;
    const mdl_model *model = run->model;
    char angles[1000];
    memcpy(run->v, turning->found, model->nv * sizeof *run->v);
    (void)count_turned(run);
    name_angles(turning, angles, sizeof angles);
    for (uint32_t k = 0; k < model->n_loop_ends; k++)
        if (run->v[model->loop_end[k].same] < 0) {
            run_message(run, MDL_ERROR, "initialisation: the axes of %s close a loop turned half round against each other (%s)%s",
                        model->loop_end[k].names, model->loop_end[k].place, angles);
            return;
        }
}

int
turned_mend(Run *run, StartSolver solve, void *blocks, const double *base)
{
    const mdl_model *model = run->model;
    size_t nv = model->nv;
    Turning turning = {.run = run, .solve = solve, .blocks = blocks, .turned = count_turned(run)};
    if (!turning.turned)
        return MDL_OK;
    uint8_t *mark = mark_angles(model);
    turning.base = malloc(3 * nv * sizeof *turning.base);
    turning.angle = malloc((nv + 1) * sizeof *turning.angle);
    int status = mark && turning.base && turning.angle ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK) {
        turning.found = turning.base + nv;
        memcpy(turning.base, base, nv * sizeof *base);
        memcpy(turning.found, run->v, nv * sizeof *base);
        for (uint32_t place = 0; place < nv; place++)
            if (mark[place])
                turning.angle[turning.n++] = place;
        turn(&turning);
        if (turning.turned)
            report(&turning);
        memcpy(run->v, turning.found, nv * sizeof *base);
        status = turning.turned ? MDL_FAILED : MDL_OK;
    }
    free(mark);
    free(turning.base);
    free(turning.angle);
    return status;
}
