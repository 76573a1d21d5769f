// held_choices.c: a block of the initial system some of whose unknowns are Booleans.
//
// Purpose: a port above the level of its tank lets nothing out, or something in; which of both holds follows from the flow, which follows from
//          that. Newton's method has no derivative of it, and where all such ports are closed a pressure between them is open.
// Method: Booleans and unknowns take turns, as conditions do at an event (runtime/event/mixed.c): with the Booleans held the other equations are
//         solved by Newton's method with the shortest of all corrections, then the Booleans are evaluated, until none changes. What is left
//         open stays where the last correction has left it, and must not move a state.
// Contract: start.h. Complexity: a dense factorisation for each correction.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/start/start.h"

enum { TURNS = 40, CORRECTIONS = 60, HALVINGS = 30 };

static const double DONE = 1e-12, ROUNDED = 1e-8, AGREES = 1e-6; // corrections and residuals, each beside the size of what it belongs to
static const double LITTLE = 1e-3, FAR = 0.1;                     // of the units: along what is open

typedef struct Held {
    Run *run;
    Newton *newton;
    uint32_t *row_of;   // per unknown: the equation that gives a Boolean its value, or UINT32_MAX
    uint32_t *column;   // the other unknowns
    uint32_t *row;      // the other equations
    uint32_t booleans, n;
    double *defect, *base, *step, *unit, *seen; // seen: TURNS rows of the Booleans' values
    Rank *rank;
} Held;

static void
held_free(Held *held)
{
    rank_free(&held->rank);
    free(held->row_of);
    free(held->column);
    free(held->row);
    free(held->defect);
    free(held->base);
    free(held->step);
    free(held->unit);
    free(held->seen);
}

static bool
changes_at_events(const mdl_model *model, uint32_t place)
{
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].value == place && model->discrete[k].next)
            return true;
    return false;
}

// The equations that say what a Boolean is, `b - (condition) = 0`: no other unknown has a derivative there.
static void
find_booleans(Held *held)
{
    const mdl_block *block = held->newton->block;
    const double *v = held->run->v;
    uint8_t entries[block->m + 1], taken[block->m + 1];
    memset(entries, 0, sizeof entries);
    memset(taken, 0, sizeof taken);
    for (uint32_t k = 0; k < block->jac.nonzeros; k++)
        if (v[block->jac.values + k] != 0 && entries[block->jac.row[k]] < 2)
            entries[block->jac.row[k]]++;
    for (uint32_t j = 0; j < block->m; j++) {
        held->row_of[j] = UINT32_MAX;
        if (!changes_at_events(held->run->model, block->unknown[j]))
            continue;
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++) {
            uint32_t i = block->jac.row[k];
            if (fabs(v[block->jac.values + k]) == 1 && entries[i] == 1 && !taken[i]) {
                held->row_of[j] = i;
                taken[i] = 1;
                held->booleans++;
                break;
            }
        }
    }
    for (uint32_t i = 0, n = 0; i < block->m; i++)
        if (!taken[i])
            held->row[n++] = i;
    for (uint32_t j = 0; j < block->m; j++)
        if (held->row_of[j] == UINT32_MAX)
            held->column[held->n++] = j;
}

// The Booleans at the unknowns in v; one may follow from another. False where they do not settle, or something is not finite.
static bool
evaluate_booleans(Held *held)
{
    const mdl_block *block = held->newton->block;
    for (uint32_t pass = 0; pass <= held->booleans; pass++) {
        bool changed = false;
        if (!newton_defect(held->run, held->newton, held->defect))
            return false;
        for (uint32_t j = 0; j < block->m; j++) {
            if (held->row_of[j] == UINT32_MAX)
                continue;
            double *value = &held->run->v[block->unknown[j]], now = *value;
            for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
                if (block->jac.row[k] == held->row_of[j])
                    now = round(*value + held->defect[held->row_of[j]] * held->run->v[block->jac.values + k]);
            changed = changed || now != *value;
            *value = now;
        }
        if (!changed)
            return true;
    }
    return false;
}

// How far the correction `step` goes, beside what it moves.
static double
length(const Held *held, const double *step)
{
    double most = 0;
    for (uint32_t c = 0; c < held->n; c++)
        most = fmax(most, fabs(step[c]) / fmax(fabs(held->base[c]), held->unit[c]));
    return most;
}

static void
move(const Held *held, double damping)
{
    for (uint32_t c = 0; c < held->n; c++)
        held->run->v[held->newton->block->unknown[held->column[c]]] = held->base[c] + damping * held->step[c];
}

// The shortest correction for the defect at v, of which `newton->step` is made, into `to`.
static bool
shortest(Held *held, double *to)
{
    double *defect = held->newton->step;
    if (!newton_defect(held->run, held->newton, held->defect))
        return false;
    for (uint32_t r = 0; r < held->n; r++)
        defect[r] = held->defect[held->row[r]];
    rank_solve(held->rank, defect, to);
    return true;
}

static bool
factor(Held *held)
{
    const mdl_block *block = held->newton->block;
    uint32_t position[block->m + 1];
    double *matrix = rank_matrix(held->rank);
    memset(matrix, 0, (size_t)held->n * held->n * sizeof *matrix);
    memset(position, 0xff, sizeof position);
    for (uint32_t r = 0; r < held->n; r++)
        position[held->row[r]] = r;
    for (uint32_t c = 0; c < held->n; c++)
        for (uint32_t k = block->jac.column_start[held->column[c]]; k < block->jac.column_start[held->column[c] + 1]; k++)
            if (position[block->jac.row[k]] != UINT32_MAX)
                matrix[(size_t)c * held->n + position[block->jac.row[k]]] = held->run->v[block->jac.values + k];
    return rank_factor(held->rank, held->unit, VANISHED, held->n);
}

// The equations agree at v, of which the Jacobian is there.
static bool
agrees(Held *held)
{
    newton_measure_terms(held->run, held->newton);
    for (uint32_t r = 0; r < held->n; r++)
        if (!(fabs(held->defect[held->row[r]]) <= AGREES * held->newton->size[held->row[r]]))
            return false;
    return true;
}

// The other unknowns while the Booleans keep their values.
static bool
solve_held(Held *held)
{
    Run *run = held->run;
    const mdl_block *block = held->newton->block;
    double trial[held->n + 1];
    for (int k = 0; k < CORRECTIONS; k++) {
        if (!newton_defect(run, held->newton, held->defect))
            return false;
        mdl_call(block->jacobian, run->v);
        for (uint32_t c = 0; c < held->n; c++)
            held->base[c] = run->v[block->unknown[held->column[c]]];
        if (!factor(held) || !shortest(held, held->step))
            return false;
        double size = length(held, held->step), damping = 1, rest = INFINITY;
        if (size <= DONE)
            return agrees(held);
        for (int halving = 0; halving < HALVINGS; halving++, damping /= 2) {
            move(held, damping);
            if (!shortest(held, trial))
                continue;
            rest = length(held, trial);
            if (rest <= (1 - damping / 4) * size || rest <= DONE || (damping == 1 && size <= ROUNDED))
                break;
        }
        if (!(rest < size || size <= ROUNDED))
            return false;
        if (damping == 1 && size <= ROUNDED && rest > size / 4)
            return agrees(held);
    }
    return false;
}

// The values of the Booleans were there before.
static bool
returns(Held *held, uint32_t turn)
{
    const mdl_block *block = held->newton->block;
    double *now = held->seen + (size_t)turn * block->m;
    for (uint32_t j = 0; j < block->m; j++)
        now[j] = held->row_of[j] == UINT32_MAX ? 0 : held->run->v[block->unknown[j]];
    for (uint32_t k = 0; k < turn; k++)
        if (!memcmp(held->seen + (size_t)k * block->m, now, block->m * sizeof *now))
            return true;
    return false;
}

static bool
take_turns(Held *held)
{
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        if (!evaluate_booleans(held))
            return false;
        if (returns(held, turn))
            return turn > 0 && !memcmp(held->seen + (size_t)turn * held->newton->block->m, held->seen + (size_t)(turn - 1) * held->newton->block->m,
                                       held->newton->block->m * sizeof(double));
        if (!solve_held(held))
            return false;
    }
    return false;
}

// The Booleans are what the unknowns in v say.
static bool
booleans_hold(Held *held)
{
    bool hold = newton_defect(held->run, held->newton, held->defect);
    for (uint32_t j = 0; j < held->newton->block->m && hold; j++)
        hold = held->row_of[j] == UINT32_MAX || held->defect[held->row_of[j]] == 0;
    return hold;
}

// The solution moved along an open direction by a part of the units, and the Booleans are the same there.
static bool
holds_beside(Held *held, const double *open, double part)
{
    const mdl_block *block = held->newton->block;
    for (uint32_t c = 0; c < held->n; c++)
        held->run->v[block->unknown[held->column[c]]] = held->base[c] + part * open[c];
    return booleans_hold(held) && solve_held(held) && booleans_hold(held);
}

// Where the equations leave a pressure open the last correction may have left it where a Boolean is about to change (a port that lets nothing
// in, at the pressure at which it would): rounding would decide, now and at each event. It moves to where nothing is about to.
static void
leave_edges(Held *held)
{
    const mdl_block *block = held->newton->block;
    uint32_t directions = held->n - rank_value(held->rank);
    double *open = calloc((size_t)directions * held->n + 1, sizeof *open), kept[block->m + 1];
    for (uint32_t k = 0; open && k < directions; k++)
        rank_kernel(held->rank, k, open + (size_t)k * held->n);
    for (uint32_t k = 0; open && k < directions; k++) {
        double *along = open + (size_t)k * held->n, sign = 0;
        newton_read(held->run, held->newton, kept);
        for (int side = -1; side <= 1; side += 2) {
            for (uint32_t c = 0; c < held->n; c++)
                held->base[c] = kept[held->column[c]];
            if (holds_beside(held, along, side * LITTLE))
                sign += side;
            newton_write(held->run, held->newton, kept);
        }
        for (double part = FAR; sign != 0 && part >= LITTLE; part /= 10) {
            for (uint32_t c = 0; c < held->n; c++)
                held->base[c] = kept[held->column[c]];
            if (holds_beside(held, along, sign * part))
                break;
            newton_write(held->run, held->newton, kept);
        }
    }
    free(open);
}

// What the equations leave open moves a state: the initial system says too little.
static bool
opens_states(Held *held)
{
    const mdl_block *block = held->newton->block;
    const mdl_model *model = held->run->model;
    size_t m = block->m, n = m + block->n_inner;
    double *along = calloc(n + 1, sizeof *along), open[held->n + 1];
    bool opens = !along;
    for (uint32_t k = rank_value(held->rank); k < held->n && !opens; k++) {
        rank_kernel(held->rank, k - rank_value(held->rank), open);
        memset(along, 0, m * sizeof *along);
        for (uint32_t c = 0; c < held->n; c++)
            along[held->column[c]] = open[c];
        newton_inner_response(held->run, held->newton, along, along + m);
        for (size_t i = 0; i < n; i++) {
            uint32_t place = i < m ? block->unknown[i] : block->inner[i - m];
            bool state = (place >= model->y && place < model->y + model->nx) || (place >= model->yp && place < model->yp + model->nx);
            opens = opens || (state && fabs(along[i]) > ROUNDED);
        }
    }
    free(along);
    return opens;
}

static bool
held_create(Held *held)
{
    size_t m = held->newton->block->m;
    held->row_of = calloc(m + 1, sizeof *held->row_of);
    held->column = calloc(m + 1, sizeof *held->column);
    held->row = calloc(m + 1, sizeof *held->row);
    held->defect = calloc(m + 1, sizeof *held->defect);
    held->base = calloc(m + 1, sizeof *held->base);
    held->step = calloc(m + 1, sizeof *held->step);
    held->unit = calloc(m + 1, sizeof *held->unit);
    held->seen = calloc(TURNS * m + 1, sizeof *held->seen);
    return held->row_of && held->column && held->row && held->defect && held->base && held->step && held->unit && held->seen;
}

bool
held_choices_solve(Run *run, Newton *newton)
{
    Held held = {.run = run, .newton = newton};
    const mdl_block *block = newton->block;
    Trouble trouble = newton->trouble;
    bool solved = false;
    double closest[block->m > RANK_LIMIT ? 1 : block->m + 1]; // what a report tells
    if (block->m > RANK_LIMIT || !held_create(&held)) {
        held_free(&held);
        return false;
    }
    newton_read(run, newton, closest);
    memset(newton->target, 0, block->m * sizeof *newton->target);
    newton_write(run, newton, newton->start);
    if (newton_defect(run, newton, held.defect)) {
        mdl_call(block->jacobian, run->v);
        find_booleans(&held);
        for (uint32_t c = 0; c < held.n; c++)
            held.unit[c] = newton->scale[held.column[c]];
        held.rank = held.booleans && held.n ? rank_create(held.n, held.n) : NULL;
        solved = held.rank && take_turns(&held);
    }
    solved = solved && !opens_states(&held);
    if (solved)
        leave_edges(&held);
    held_free(&held);
    if (solved) {
        newton->trouble = NO_TROUBLE;
        return newton_defect(run, newton, newton->step);
    }
    newton_write(run, newton, closest);
    (void)newton_defect(run, newton, newton->step);
    newton->trouble = trouble;
    return false;
}
