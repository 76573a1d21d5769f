// redundancy.c: constraints that follow from others, once at the start.
//
// Purpose: a third parallel rod, or a joint with five conditions that closes a planar loop, demands what the other
//          constraints demand already. The motion is unique then, the forces are not. Such constraints are
//          recognised and named, the run goes on with the shortest forces; a position in which constraints depend on each
//          other only for the moment (a folded linkage) is an error, because the motion can branch there.
// Method: ranks of the invariants' Jacobians and of the blocks that hold constraints (rank.c) at the start and at
//         nearby points, which random moves of the states and Gauss-Newton corrections back onto all invariants give.
//         A rank that is the same there is permanent. Null directions of the blocks must not change the derivatives
//         of the states.
// Contract: called once, at consistent values. Sets run->redundant, Newton.deficient, run->deficient, and the causal
//           form when blocks are deficient. v is as before. Complexity: without dependent constraints one
//           factorisation per block and per group.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/linear.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/start/redundancy_inner.h"
#include "runtime/step/slopes.h"
#include "runtime/step/step.h"

enum { SAMPLES = 2, CORRECTIONS = 25, MECHANISMS = 2, DEPTHS = 64 };

static const double MOVE = 2e-3;      // of the states' sizes: nearby points
static const double ON_MANIFOLD = 1e-12;
static const double ROUNDING = 1e-12; // what states contribute to a constraint when it cancels, at most
static const double SLACK = 100;      // tolerances that a redundant constraint may be off

static bool
create_review(Review *r, Run *run)
{
    const mdl_model *model = run->model;
    r->run = run;
    r->random = 88172645463325252u;
    if (model->n_constraints) {
        r->invariants = invariants_create(model);
        if (!r->invariants)
            return false;
        r->groups = invariants_groups(r->invariants);
    }
    size_t n = (size_t)r->groups + model->n_dynamics + 1;
    r->rows = calloc(n, sizeof *r->rows);
    r->rank = calloc(n, sizeof *r->rank);
    r->nearby = calloc(n, sizeof *r->nearby);
    r->row = calloc((size_t)model->n_constraints + 1, sizeof *r->row);
    r->kept = malloc(((size_t)model->nv + 1) * sizeof *r->kept);
    return r->rows && r->rank && r->nearby && r->row && r->kept;
}

static void
free_review(Review *r)
{
    invariants_free(&r->invariants);
    free(r->rows);
    free(r->rank);
    free(r->nearby);
    free(r->row);
    free(r->kept);
}

// --- ranks

void
redundancy_look(Review *r)
{
    mdl_call(r->run->model->jacobian, r->run->v);
    if (r->invariants)
        (void)invariants_look(r->run, r->invariants);
}

Rank *
redundancy_rank(Review *r, uint32_t g, uint32_t *rows)
{
    *rows = invariants_group(r->invariants, g, r->row);
    return invariants_rank(r->run, r->invariants, g);
}

static bool
can_be_deficient(const Newton *newton)
{
    return newton && newton->block->constraints && newton->block->m <= RANK_LIMIT;
}

// Ranks of groups and blocks at the point in v, where the dynamics were evaluated.
static bool
measure(Review *r, uint32_t *rank)
{
    const mdl_model *model = r->run->model;
    redundancy_look(r);
    for (uint32_t g = 0; g < r->groups; g++) {
        Rank *found = redundancy_rank(r, g, &r->rows[g]);
        if (!found)
            return false;
        rank[g] = rank_value(found);
        rank_free(&found);
    }
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        Newton *newton = r->run->block[k];
        if (!can_be_deficient(newton))
            continue;
        mdl_call(newton->block->jacobian, r->run->v);
        if (!newton_review_rank(r->run, newton, &rank[r->groups + k]))
            return false;
    }
    return true;
}

static bool
has_redundant_invariants(const Review *r)
{
    for (uint32_t g = 0; g < r->groups; g++)
        if (r->rank[g] < r->rows[g])
            return true;
    return false;
}

static bool
is_deficient(const Review *r)
{
    const mdl_model *model = r->run->model;
    if (has_redundant_invariants(r))
        return true;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (can_be_deficient(r->run->block[k]) && r->rank[r->groups + k] < r->run->block[k]->block->m)
            return true;
    return false;
}

// --- nearby points

void
evaluate_anyway(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        if (!step->block)
            mdl_call(step->call, run->v);
        else if (newton_solve(run, run->block[k], EFFORT_RUN) != MDL_OK)
            newton_restore(run, run->block[k]);
    }
}

// Room for the correction of one group.
typedef struct Room {
    uint32_t *row, *column, *position; // invariants and states of the group; per invariant of the model: its place in `row`
    double *defect, *step, *scale;
} Room;

static bool
make_room(const mdl_model *model, Room *room)
{
    size_t m = model->n_constraints, n = model->nx;
    room->row = calloc(2 * m + n + 1, sizeof *room->row);
    room->defect = calloc(m + 2 * n + 1, sizeof *room->defect);
    if (!room->row || !room->defect)
        return false;
    room->position = room->row + m;
    room->column = room->position + m;
    room->step = room->defect + m;
    room->scale = room->step + n;
    return true;
}

// One Gauss-Newton correction of a group's states towards its invariants. Returns its relative size; negative: not possible.
static double
correct(Review *r, uint32_t g, Room *room)
{
    Run *run = r->run;
    const mdl_model *model = run->model;
    const Slopes *c = invariants_slopes(r->invariants);
    const double *slope = slopes_values(run, c);
    uint32_t m = invariants_group(r->invariants, g, room->row), n = invariants_states(r->invariants, g, room->column);
    Rank *rank = rank_create(m, n);
    if (!rank)
        return -1;
    double *matrix = rank_matrix(rank), most = 0;
    uint32_t depth = model->constraint[room->row[0]].depth;
    memset(matrix, 0, (size_t)m * n * sizeof *matrix);
    for (uint32_t i = 0; i < m; i++) {
        room->position[room->row[i]] = i;
        room->defect[i] = -run->v[model->constraint[room->row[i]].value];
    }
    for (uint32_t j = 0; j < n; j++) {
        room->scale[j] = fabs(run->v[model->nominal + room->column[j]]);
        for (uint32_t k = c->column_start[room->column[j]]; k < c->column_start[room->column[j] + 1]; k++)
            if (model->constraint[c->row[k]].depth == depth)
                matrix[(size_t)j * m + room->position[c->row[k]]] = slope[k];
    }
    bool good = rank_factor(rank, room->scale, 1e-9, m);
    if (good)
        rank_solve(rank, room->defect, room->step);
    for (uint32_t j = 0; j < n && good; j++) {
        double *y = &run->v[model->y + room->column[j]];
        most = fmax(most, fabs(room->step[j]) / fmax(fabs(*y), room->scale[j]));
        *y += room->step[j];
    }
    rank_free(&rank);
    return good && isfinite(most) ? most : -1;
}

static bool
project(Review *r)
{
    Run *run = r->run;
    Room room = {0};
    evaluate_anyway(run);
    if (!r->groups)
        return true;
    double size = make_room(run->model, &room) ? 1 : -1;
    for (int k = 0; k < CORRECTIONS && size > ON_MANIFOLD; k++) {
        size = 0;
        redundancy_look(r);
        for (uint32_t g = 0; g < r->groups && size >= 0; g++) {
            double moved = correct(r, g, &room);
            size = moved < 0 ? moved : fmax(size, moved);
        }
        evaluate_anyway(run);
    }
    free(room.row);
    free(room.defect);
    return size >= 0 && size <= 1e3 * ON_MANIFOLD;
}

// The largest ranks at nearby points into r->nearby; points that cannot be reached say nothing.
static bool
look_around(Review *r)
{
    Run *run = r->run;
    const mdl_model *model = run->model;
    size_t n = (size_t)r->groups + model->n_dynamics;
    uint32_t *rank = calloc(n + 1, sizeof *rank);
    bool good = rank != NULL;
    memcpy(r->nearby, r->rank, n * sizeof *r->nearby);
    for (int sample = 0; sample < SAMPLES && good; sample++) {
        for (uint32_t i = 0; i < model->nx; i++) {
            double *y = &run->v[model->y + i], nominal = fabs(run->v[model->nominal + i]);
            *y = r->kept[model->y + i] + MOVE * fmax(fabs(*y), nominal) * random_around_zero(&r->random);
        }
        if (project(r))
            good = measure(r, rank);
        for (size_t k = 0; k < n && good; k++)
            r->nearby[k] = rank[k] > r->nearby[k] ? rank[k] : r->nearby[k];
        memcpy(run->v, r->kept, model->nv * sizeof *run->v);
    }
    free(rank);
    return good;
}

// --- what follows from it

static void
mark_redundant(Review *r, uint32_t g)
{
    uint32_t rows;
    Rank *rank = redundancy_rank(r, g, &rows);
    for (uint32_t k = 0; rank && k < rows - rank_value(rank); k++)
        r->run->redundant[r->row[rank_free_unknown(rank, k)]] = 1;
    rank_free(&rank);
}

// What mechanisms of an array have in common is said for the first ones.
static void
note_groups(Review *r)
{
    const mdl_model *model = r->run->model;
    uint32_t noted = 0, count = 0;
    for (uint32_t g = 0; g < r->groups; g++) {
        if (r->rank[g] == r->rows[g])
            continue;
        mark_redundant(r, g);
        if (model->constraint[r->row[0]].level)
            continue;
        if (noted++ < MECHANISMS)
            redundancy_note(r, g);
        else
            count += r->rows[g] - r->rank[g];
    }
    if (noted > MECHANISMS)
        run_message(r->run, MDL_NOTE, "so do %u constraints of %u more mechanisms", count, noted - MECHANISMS);
}

static void
count_open(const Review *r)
{
    Run *run = r->run;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        Newton *newton = run->block[k];
        if (!can_be_deficient(newton))
            continue;
        newton->review = false;
        newton->deficient = newton->block->m - r->rank[r->groups + k];
        run->deficient += newton->deficient;
    }
}

MDL_CHECKED static int
refuse_block(Run *run, Newton *newton)
{
    char text[2000];
    newton_null_text(run, newton, 4, text, sizeof text);
    run_message(run, MDL_ERROR, "at time %.12g: the motion is not determined: a block of %u equations is singular "
                "wherever the model is looked at%s", run->time, newton->block->m + newton->block->n_inner, text);
    return MDL_FAILED;
}

MDL_CHECKED static int
settle_blocks(Review *r)
{
    Run *run = r->run;
    count_open(r);
    if (!run->deficient)
        return MDL_OK;
    bool named = has_redundant_invariants(r), keep = newton_all_keep_motion(run, false);
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        Newton *newton = run->block[k];
        if (!newton || !newton->deficient)
            continue;
        if (!keep && !newton_keeps_motion(run, newton, newton->deficient))
            return refuse_block(run, newton);
        if (!named)
            redundancy_open(r, newton);
    }
    return MDL_OK;
}

static void
choose_causal_form(Run *run)
{
    if (!run->deficient)
        return;
    run->causal = true;
    run->ny = run->model->nx;
    run->stats->form = "causal";
    run->stats->unknowns = run->ny;
}

MDL_CHECKED static int
settle(Review *r)
{
    Run *run = r->run;
    const mdl_model *model = run->model;
    size_t n = (size_t)r->groups + model->n_dynamics;
    bool deficient = is_deficient(r);
    if (deficient && !look_around(r))
        return MDL_INTERNAL;
    for (size_t k = 0; deficient && k < n; k++)
        if (r->nearby[k] > r->rank[k])
            return redundancy_singular(r);
    int status = settle_blocks(r);
    if (status != MDL_OK || !deficient)
        return status;
    run->redundant = calloc((size_t)model->n_constraints + 1, sizeof *run->redundant);
    if (!run->redundant)
        return MDL_INTERNAL;
    evaluate_plain(run);
    redundancy_look(r);
    note_groups(r);
    redundancy_note_open(r);
    choose_causal_form(run);
    return MDL_OK;
}

static bool
has_constraints(const Run *run)
{
    bool found = run->model->n_constraints > 0;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++)
        found = found || can_be_deficient(run->block[k]);
    return found;
}

MDL_CHECKED static int
review_constraints(Run *run)
{
    Review review = {0};
    int status = MDL_INTERNAL;
    if (create_review(&review, run)) {
        evaluate_plain(run);
        memcpy(review.kept, run->v, run->model->nv * sizeof *run->v);
        if (measure(&review, review.rank))
            status = settle(&review);
        memcpy(run->v, review.kept, run->model->nv * sizeof *run->v);
    }
    if (status == MDL_INTERNAL)
        run_message(run, MDL_ERROR, "the constraints could not be looked at: out of memory, or a partial derivative is "
                    "not finite at the start");
    free_review(&review);
    if (status == MDL_OK && run->deficient)
        status = evaluate_solved(run, true);
    if (status == MDL_OK && run->deficient) {
        evaluate_outputs(run);
        evaluate_store(run);
    }
    return status;
}

static uint32_t
free_states(const mdl_model *model, const uint8_t *redundant)
{
    uint32_t states = 0, held = model->n_constraints;
    for (uint32_t i = 0; i < model->nx; i++)
        states += state_is_own(model, i);
    for (uint32_t k = 0; redundant && k < model->n_constraints; k++)
        held -= redundant[k];
    return states > held ? states - held : 0;
}

uint32_t
mdl_free_states(const mdl_model *model)
{
    return free_states(model, NULL);
}

// A mechanism in which nothing can move has no motion to compute, and is rarely meant. Its forces at rest can be asked for.
MDL_CHECKED static int
refuse_rigid(const Run *run)
{
    const mdl_model *model = run->model;
    bool moves = run->options->stop > run->options->start && !run->options->steady;
    if (!model->held_by || run->stats->free_states || !moves)
        return MDL_OK;
    run_message(run, MDL_ERROR, "%s has no degree of freedom: nothing in it can move. It is held by %s\nfree one of its motions; "
                "its forces at rest are those of a run that stops where it starts (--stop %g)", model->name, model->held_by,
                run->options->start);
    return MDL_FAILED;
}

int
redundancy_review(Run *run)
{
    int status = has_constraints(run) ? review_constraints(run) : MDL_OK;
    run->stats->free_states = free_states(run->model, run->redundant);
    return status == MDL_OK ? refuse_rigid(run) : status;
}

// What the states contribute to each constraint, from the partial derivatives seen last. A constraint that follows from others may
// not depend on the states at all (places that arms of length zero reach): what its neighbours of the same depth have counts then.
static void
measure_terms(const Run *run, double *terms)
{
    const mdl_model *model = run->model;
    const mdl_matrix *c = &model->jac_c;
    memset(terms, 0, model->n_constraints * sizeof *terms);
    for (uint32_t j = 0; j < model->n; j++)
        for (uint32_t i = c->column_start[j]; i < c->column_start[j + 1]; i++)
            terms[c->row[i]] += fabs(run->v[c->values + i])
                                * fmax(fabs(run->v[model->y + j]), fabs(run->v[model->nominal + j]));
}

static uint32_t
depth_of(const mdl_model *model, uint32_t k)
{
    uint32_t depth = model->constraint[k].depth;
    return depth < DEPTHS ? depth : DEPTHS - 1;
}

int
redundancy_check(const Run *run)
{
    const mdl_model *model = run->model;
    uint32_t wrong = UINT32_MAX;
    double *terms = run->redundant ? calloc((size_t)model->n_constraints + 1, sizeof *terms) : NULL, most[DEPTHS] = {0};
    if (terms)
        measure_terms(run, terms);
    for (uint32_t k = 0; terms && k < model->n_constraints; k++) // the largest of each depth
        most[depth_of(model, k)] = fmax(most[depth_of(model, k)], terms[k]);
    for (uint32_t k = 0; terms && k < model->n_constraints && wrong == UINT32_MAX; k++) {
        double value = fabs(run->v[model->constraint[k].value]), size = most[depth_of(model, k)];
        // Where all that states contribute cancels (arms side by side), SI units measure.
        if (value > SLACK * run->tolerance * (size > ROUNDING ? size : 1))
            wrong = k;
    }
    free(terms);
    if (wrong == UINT32_MAX)
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: constraints contradict each other: one that followed from the others "
                "at the start misses its value by %.3g now\n%s", run->time, run->v[model->constraint[wrong].value],
                model->constraint[wrong].text ? model->constraint[wrong].text : "");
    return MDL_FAILED;
}
