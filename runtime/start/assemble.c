// assemble.c: loops of a mechanism at the start.
//
// Purpose: a loop whose start values do not close it is described by its joints and its gap (assemble_report.c); with `--assemble` it is
//          closed by the smallest movement of start values. Start values that nothing fixes are guesses, of which too many may
//          have become conditions: where these have no solution, the guesses move as little as possible, whoever calls.
// Method: Gauss-Newton corrections of minimal length onto the invariants, then sequential quadratic programming with the
//         unit matrix towards the nearest closed position (Nocedal and Wright, Numerical Optimization, 18.1). Positions
//         come before velocities (states and invariants of equal depth go together); the lengths are measured in the states' sizes. States without a start
//         value move first, fixed ones only when the loops do not close otherwise. A descent that ends in an open position (a
//         singular one, most often) is repeated from a few others.
//         Mechanisms that share no state (invariants.c) are assembled side by side, each with its own matrix, its own damping and
//         its own end: an evaluation of the model serves all of them.
// Contract: start.h, assemble.h; v holds parameters and start values, discrete variables their start. Complexity: one evaluation, and a dense
//           factorisation per mechanism, for each correction.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/rank.h"
#include "runtime/point/point.h"
#include "runtime/start/assemble.h"
#include "runtime/start/start.h"
#include "runtime/step/slopes.h"
#include "runtime/step/step.h"

enum { CORRECTIONS = 200, ATTEMPTS = 12, SHORTENINGS = 60, WEIGHINGS = 3 };

static const double STRIDE = 0.3;       // largest movement of one correction, in the states' sizes
static const double HELD = 1e-14;       // mobility of a value that may not move
static const double UNSAID = 1e3;       // of one that the model says nothing about
static const double PUSH = 1;           // by which a search begins elsewhere, in the states' sizes

// One mechanism's invariants of one depth.
typedef struct Part {
    uint32_t *row, *column;   // constraints, and states of their depth
    uint32_t rows, columns;
    double *defect, *correction, *mobility, *best, *first, *closest;
    bool *curved;             // per column
    double *weight;           // per row: 1, or of an equation of no joint one over the size of its terms
    Rank *rank;
    bool moves;               // takes part in what is done now
    double size, least;       // length of the residuals here, and at `best`
    double factor, step;
} Part;

typedef struct Assembly {
    Run *run;
    uint32_t depth;
    Invariants *invariants;
    Part *part;
    uint32_t parts;
    uint32_t *position;       // per constraint: its row in its part
    uint32_t *list;           // room for the rows or columns of a part
} Assembly;

static void
forget_part(Part *part)
{
    rank_free(&part->rank);
    free(part->row);
    free(part->curved);
    free(part->defect);
}

static void
forget(Assembly *a)
{
    for (uint32_t g = 0; a->part && g < a->parts; g++)
        forget_part(&a->part[g]);
    invariants_free(&a->invariants);
    free(a->part);
    free(a->position);
    free(a->list);
}

static double
size_of(const Run *run, uint32_t state)
{
    return fmax(fabs(run->v[run->model->nominal + state]), 1e-300);
}

static double
mobility_of(const Run *run, uint32_t state, bool move_fixed)
{
    uint8_t said = run->model->state_start ? run->model->state_start[state] : 0;
    double size = size_of(run, state);
    if (said & MDL_START_FIXED && !move_fixed)
        return size * HELD;
    return said ? size : size * UNSAID;
}

static bool
make_part(Assembly *a, uint32_t g, Part *part)
{
    uint32_t rows = invariants_group(a->invariants, g, a->list);
    if (a->run->model->constraint[a->list[0]].depth != a->depth)
        return true;
    part->row = malloc(((size_t)rows + invariants_states(a->invariants, g, NULL) + 1) * sizeof *part->row);
    if (!part->row)
        return false;
    part->rows = rows;
    part->column = part->row + rows;
    part->columns = invariants_states(a->invariants, g, part->column);
    memcpy(part->row, a->list, rows * sizeof *part->row);
    size_t n = part->columns;
    part->defect = calloc(5 * n + 2 * (size_t)rows + 1, sizeof *part->defect);
    part->curved = calloc(n + 1, sizeof *part->curved);
    part->rank = rank_create(rows, part->columns);
    if (!part->defect || !part->curved || !part->rank)
        return false;
    part->weight = part->defect + rows;
    part->correction = part->weight + rows;
    part->mobility = part->correction + n;
    part->best = part->mobility + n;
    part->first = part->best + n;
    part->closest = part->first + n;
    for (uint32_t i = 0; i < rows; i++) {
        part->weight[i] = 1;
        a->position[part->row[i]] = i;
    }
    for (uint32_t j = 0; j < n; j++) {
        part->mobility[j] = mobility_of(a->run, part->column[j], false);
        part->first[j] = a->run->v[a->run->model->y + part->column[j]];
    }
    return true;
}

static bool
prepare(Assembly *a, Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    *a = (Assembly){.run = run, .depth = depth, .invariants = invariants_create(model)};
    if (!a->invariants)
        return false;
    a->parts = invariants_groups(a->invariants);
    a->part = calloc((size_t)a->parts + 1, sizeof *a->part);
    a->position = calloc((size_t)model->n_constraints + 1, sizeof *a->position);
    a->list = calloc((size_t)model->n_constraints + 1, sizeof *a->list);
    bool good = a->part && a->position && a->list;
    for (uint32_t g = 0; g < a->parts && good; g++)
        good = make_part(a, g, &a->part[g]);
    return good;
}

static void
look_at_slopes(Assembly *a)
{
    mdl_call(a->run->model->jacobian, a->run->v);
    (void)invariants_look(a->run, a->invariants);
}

// The residuals at the states in v into the parts' `defect`, and their Euclidean lengths, weighted.
static void
measure(Assembly *a)
{
    Run *run = a->run;
    evaluate_anyway(run);
    for (Part *part = a->part; part < a->part + a->parts; part++) {
        double sum = 0;
        for (uint32_t i = 0; i < part->rows; i++) {
            double value = run->v[run->model->constraint[part->row[i]].value], weighted = value * part->weight[i];
            sum = isfinite(value) ? sum + weighted * weighted : INFINITY;
            part->defect[i] = -value;
        }
        part->size = sqrt(sum);
    }
}

static void
copy_states(const Assembly *a, const Part *part, double *to)
{
    for (uint32_t j = 0; j < part->columns; j++)
        to[j] = a->run->v[a->run->model->y + part->column[j]];
}

static void
set_states(const Assembly *a, const Part *part, const double *from)
{
    for (uint32_t j = 0; j < part->columns; j++)
        a->run->v[a->run->model->y + part->column[j]] = from[j];
}

static bool
is_open(const Part *part)
{
    return part->rows && !(part->least <= ASSEMBLE_CLOSED);
}

// By the terms at the states in v: those of high derivatives may be of any size, and what rounding leaves of them hides the others.
// False when nothing has such terms.
static bool
weigh(const Assembly *a, Part *part)
{
    const Run *run = a->run;
    const mdl_model *model = run->model;
    const Slopes *c = invariants_slopes(a->invariants);
    const double *slope = slopes_values(run, c);
    bool any = false;
    memset(part->weight, 0, part->rows * sizeof *part->weight);
    for (uint32_t j = 0; j < part->columns; j++) {
        uint32_t state = part->column[j];
        double size = fmax(fabs(run->v[model->y + state]), fabs(run->v[model->nominal + state]));
        for (uint32_t k = c->column_start[state]; k < c->column_start[state + 1]; k++)
            if (model->constraint[c->row[k]].depth == a->depth)
                part->weight[a->position[c->row[k]]] += fabs(slope[k]) * size;
    }
    for (uint32_t i = 0; i < part->rows; i++) {
        const mdl_constraint *at = &model->constraint[part->row[i]];
        bool large = (!at->component || at->unit == MDL_UNIT_OTHER) && part->weight[i] > 1 && isfinite(part->weight[i]);
        part->weight[i] = large ? 1 / part->weight[i] : 1;
        any |= large;
    }
    return any;
}

static void
fill_matrix(const Assembly *a, Part *part)
{
    const Run *run = a->run;
    const Slopes *c = invariants_slopes(a->invariants);
    const double *slope = slopes_values(run, c);
    double *matrix = rank_matrix(part->rank);
    memset(matrix, 0, sizeof *matrix * part->rows * part->columns);
    for (uint32_t j = 0; j < part->columns; j++)
        for (uint32_t k = c->column_start[part->column[j]]; k < c->column_start[part->column[j] + 1]; k++)
            if (run->model->constraint[c->row[k]].depth == a->depth)
                matrix[(size_t)j * part->rows + a->position[c->row[k]]] = slope[k];
}

// A differentiated constraint is linear in the states of its depth: only those that stand in another one need short strides.
static bool
is_curved(const Assembly *a, const Part *part, uint32_t j)
{
    const double *column = rank_matrix(part->rank) + (size_t)j * part->rows;
    for (uint32_t i = 0; i < part->rows; i++)
        if (column[i] != 0 && a->run->model->constraint[part->row[i]].level == 0)
            return true;
    return false;
}

// One correction, shortened by the part's factor; false when there is no direction left.
static bool
correct(Assembly *a, Part *part)
{
    Run *run = a->run;
    const mdl_model *model = run->model;
    double most = 0;
    bool moves = false;
    fill_matrix(a, part);
    for (uint32_t j = 0; j < part->columns; j++)
        part->curved[j] = is_curved(a, part, j);
    if (!rank_factor(part->rank, part->mobility, 1e-10, part->rows))
        return false;
    rank_solve(part->rank, part->defect, part->correction);
    for (uint32_t j = 0; j < part->columns; j++) {
        double size = size_of(run, part->column[j]);
        // What nobody has said anything about may be of any size.
        double reach = part->mobility[j] > size ? fmax(size, fabs(run->v[model->y + part->column[j]])) : size;
        double stride = fabs(part->correction[j]) / reach;
        if (!isfinite(stride))
            return false;
        moves |= stride >= 1e-15;
        if (part->curved[j])
            most = fmax(most, stride);
        // Where nothing else is left, the correction would move what may not.
        if (part->mobility[j] <= size * HELD && fabs(part->correction[j]) > size * ASSEMBLE_MOVED)
            return false;
    }
    double factor = part->factor * (most > STRIDE ? STRIDE / most : 1);
    for (uint32_t j = 0; j < part->columns; j++)
        run->v[model->y + part->column[j]] += factor * part->correction[j];
    return moves;
}

// Keeps the best point of a part; false: the latest one was not better, and the part has gone back.
static bool
judge(Assembly *a, Part *part)
{
    bool better = part->size < part->least;
    if (better) {
        part->least = part->size;
        copy_states(a, part, part->best);
    } else {
        set_states(a, part, part->best);
    }
    part->factor = better ? fmin(1, 2 * part->factor) : part->factor / 4;
    return better;
}

// Corrections of the parts that move, from where the states are, until none helps; the best points are in v and `best`, their
// residuals in `least`.
static void
descend(Assembly *a)
{
    uint32_t active = 0;
    for (Part *part = a->part; part < a->part + a->parts; part++) {
        part->moves = part->moves && part->rows;
        active += part->moves;
        if (!part->moves)
            continue;
        part->least = INFINITY;
        part->factor = 1;
        copy_states(a, part, part->best);
    }
    for (int k = 0; k < CORRECTIONS && active; k++) {
        bool back = false;
        measure(a);
        for (Part *part = a->part; part < a->part + a->parts; part++)
            if (part->moves)
                back |= !judge(a, part);
        if (back)
            measure(a);
        look_at_slopes(a);
        for (Part *part = a->part; part < a->part + a->parts; part++) {
            if (!part->moves || (part->factor > 1e-8 && part->least > 1e-15 && correct(a, part)))
                continue;
            part->moves = false;
            set_states(a, part, part->best);
            active--;
        }
    }
    for (Part *part = a->part; part < a->part + a->parts; part++)
        if (part->moves)
            set_states(a, part, part->best);
    measure(a);
}

// Towards the shortest way from `first`, the values before: of the points that satisfy the linearised invariants the one
// closest to them. Sets the length of the step; negative: not possible.
static void
shorten(Assembly *a, Part *part)
{
    Run *run = a->run;
    double most = 0;
    fill_matrix(a, part);
    const double *matrix = rank_matrix(part->rank);
    for (uint32_t j = 0; j < part->columns; j++) {
        double moved = run->v[run->model->y + part->column[j]] - part->first[j];
        for (uint32_t i = 0; i < part->rows; i++)
            part->defect[i] += matrix[(size_t)j * part->rows + i] * moved;
    }
    part->step = -1;
    if (!rank_factor(part->rank, part->mobility, 1e-10, part->rows))
        return;
    rank_solve(part->rank, part->defect, part->correction);
    for (uint32_t j = 0; j < part->columns; j++) {
        double *y = &run->v[run->model->y + part->column[j]], next = part->first[j] + part->correction[j];
        most = fmax(most, fabs(next - *y) / size_of(run, part->column[j]));
        *y = next;
    }
    part->step = isfinite(most) ? most : -1;
}

// From closed points in v to the closed points nearest to `first`; parts stay where they were when that is not found.
static void
shorten_all(Assembly *a)
{
    uint32_t active = 0;
    for (Part *part = a->part; part < a->part + a->parts; part++) {
        part->moves = part->rows && !is_open(part);
        part->step = 1;
        active += part->moves;
        copy_states(a, part, part->best);
    }
    for (int k = 0; k < SHORTENINGS && active; k++) {
        look_at_slopes(a);
        for (Part *part = a->part; part < a->part + a->parts; part++) {
            if (!part->moves)
                continue;
            shorten(a, part);
            part->moves = part->step > 1e-12 && part->step <= 2 * STRIDE;
            active -= !part->moves;
        }
        measure(a);
    }
    bool back = false;
    for (Part *part = a->part; part < a->part + a->parts; part++)
        if (part->rows && !is_open(part) && !(part->step >= 0 && part->step < 1e-6 && part->size <= ASSEMBLE_CLOSED)) {
            set_states(a, part, part->best);
            back = true;
        }
    if (back)
        measure(a);
}

// Away from `first`, each value by its own part of its size: out of positions in which no correction has a direction, as of a
// joint whose axis lies along the arm that it turns.
static void
push_away(Assembly *a, Part *part, int attempt)
{
    Run *run = a->run;
    uint32_t mixed = 2463534242u + (uint32_t)attempt * 2654435769u;
    for (uint32_t j = 0; j < part->columns; j++) {
        mixed ^= mixed << 13;
        mixed ^= mixed >> 17;
        mixed ^= mixed << 5;
        double size = size_of(run, part->column[j]), share = (double)mixed / 4294967295.0 - 0.5;
        if (part->mobility[j] > size * HELD)
            run->v[run->model->y + part->column[j]] = part->first[j] + PUSH * (1 + attempt / 2) * share * size;
    }
}

// Parts that are open are those that move; returns how many.
static uint32_t
choose_open(Assembly *a)
{
    uint32_t open = 0;
    for (Part *part = a->part; part < a->part + a->parts; part++) {
        part->moves = is_open(part);
        open += part->moves;
    }
    return open;
}

// From other places, where the descent from the start ended in a position that is not closed.
static void
search(Assembly *a)
{
    double reached[a->parts + 1];
    for (uint32_t g = 0; g < a->parts; g++)
        copy_states(a, &a->part[g], a->part[g].closest);
    for (int attempt = 0; attempt < ATTEMPTS && choose_open(a); attempt++) {
        for (uint32_t g = 0; g < a->parts; g++) {
            reached[g] = a->part[g].least;
            if (a->part[g].moves)
                push_away(a, &a->part[g], attempt);
        }
        descend(a);
        for (uint32_t g = 0; g < a->parts; g++) {
            Part *part = &a->part[g];
            if (part->least < reached[g])
                copy_states(a, part, part->closest);
            else
                part->least = reached[g];
        }
    }
    for (uint32_t g = 0; g < a->parts; g++)
        set_states(a, &a->part[g], a->part[g].closest);
}

static void
close_open(Assembly *a, bool far)
{
    descend(a);
    for (int k = 0; k < WEIGHINGS && choose_open(a); k++) {
        bool any = false;
        look_at_slopes(a);
        for (Part *part = a->part; part < a->part + a->parts; part++)
            any |= part->moves = part->moves && weigh(a, part);
        if (!any)
            break;
        descend(a);
    }
    if (far && choose_open(a))
        search(a);
    measure(a);
    for (Part *part = a->part; part < a->part + a->parts; part++)
        part->least = part->size;
}

// Back to the first values, and then fixed values may move, too.
static void
release_open(Assembly *a)
{
    for (Part *part = a->part; part < a->part + a->parts; part++) {
        if (!part->moves)
            continue;
        set_states(a, part, part->first);
        for (uint32_t j = 0; j < part->columns; j++)
            part->mobility[j] = mobility_of(a->run, part->column[j], true);
        for (uint32_t i = 0; i < part->rows; i++)
            part->weight[i] = 1;
    }
}

// Moves the states of one depth to the closest points that are found; `release`: fixed ones, too, where nothing else helps.
// True when everything is closed.
static bool
close_depth(Run *run, uint32_t depth, bool release)
{
    Assembly a;
    bool closed = true;
    if (prepare(&a, run, depth)) {
        for (Part *part = a.part; part < a.part + a.parts; part++)
            part->moves = true;
        close_open(&a, release);
        if (release && choose_open(&a)) {
            release_open(&a);
            close_open(&a, true);
        }
        closed = !choose_open(&a);
        shorten_all(&a);
    }
    forget(&a);
    return closed;
}

uint32_t
assemble_close(Run *run, bool release)
{
    const mdl_model *model = run->model;
    uint32_t depth = 0;
    for (uint32_t k = 0; k < model->n_constraints; k++)
        if (model->constraint[k].depth > depth)
            depth = model->constraint[k].depth;
    for (; depth > 0; depth--)
        if (!close_depth(run, depth, release))
            return depth;
    return 0;
}

// The initial conditions move with the states; everything else in v is as it was, in `kept`.
static void
move_conditions(Run *run, double *kept)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_moves; k++) {
        const mdl_move *at = &model->move[k];
        kept[at->move] = at->sign * (run->v[model->y + at->state] - kept[model->y + at->state]);
    }
    memcpy(kept + model->y, run->v + model->y, model->nx * sizeof *kept);
    memcpy(run->v, kept, model->nv * sizeof *kept);
}

int
assemble_start(Run *run)
{
    const mdl_model *model = run->model;
    bool joints = assemble_has_joints(model);
    if (!model->n_constraints || !model->state_start || !model->state_depth)
        return MDL_OK;
    double *kept = malloc(model->nv * sizeof *kept);
    if (!kept)
        return MDL_INTERNAL;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    uint32_t open = assemble_close(run, true);
    if (open && joints)
        assemble_report(run, open, true);
    if (open && !joints) // equations without parts to speak of are told when they are solved
        memcpy(run->v, kept, model->nv * sizeof *kept);
    else
        move_conditions(run, kept);
    free(kept);
    return open && joints ? MDL_FAILED : MDL_OK;
}

bool
assemble_guesses(Run *run)
{
    const mdl_model *model = run->model;
    double *kept = model->n_moves ? malloc(model->nv * sizeof *kept) : NULL;
    if (!kept)
        return false;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    bool closed = !assemble_close(run, false);
    if (closed)
        move_conditions(run, kept);
    free(kept);
    return closed;
}
