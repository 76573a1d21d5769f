// steady.c: an equilibrium near the start: der(x) = 0 with inputs, parameters and discrete variables held.
//
// Purpose: where a mechanism comes to rest, as a start for runs and as the point of a linearisation.
// Method: first pseudo-transient continuation: steps (I/h - A) dx = f of the implicit Euler method with growing h, which damps
//   what the model does not, so that a stable equilibrium attracts (Kelley and Keyes, SIAM J. Numer. Anal. 35 (1998) 508); then
//   damped Newton steps, the shortest where coordinates are free (a vehicle along its road). f and A are those of the
//   independent states (linearize.c), and after every step all states return to what is held by Gauss-Newton steps, so that
//   invariants, closed contacts and sticking friction stay what they are. Friction sticks, as velocities vanish; where it
//   would need more than its limit, it gives its limit, and contacts that pull open: an active-set iteration
//   around it all. Around that, relations and discrete variables take the values that they have there, until they agree.
// Contract: study.h. Complexity: a linearisation and a dense factorisation per step.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/linear/rank.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/study/linearize.h"
#include "runtime/study/study.h"

enum { TRANSIENT_STEPS = 400, NEWTON_STEPS = 60, RETURNS = 12, NAMED = 5 };

static const double LONGEST = 0.5;       // step of the continuation, in units of the states' sizes
static const double BASIN = 1e-4;        // Newton steps below this need no continuation
static const double SETTLED = 1e-12;     // Newton step that is rounding
static const double STAGNATED = 1e-8;
static const double ON_HELD = 1e-12;     // of what is held, in units of its derivatives
static const double VANISHED = 1e-8;     // of the terms of a derivative: it is zero
static const double FREE = 1e-10;        // pivots below this part of the largest: a coordinate is free
static const double SLIPS = 1e-9;        // of the friction's limit

typedef struct Steady {
    Run *run;
    uint32_t all;
    mdl_linear at;       // at the present point
    double *y;           // all: the present point
    double *keep;        // all: the point before a step
    double *begin;       // all: the start
    double *delta;       // all
    double *step;        // all: of the independent states
    double *size;        // all: of the states
    double *terms;       // all: see measure_terms
    double *given;       // all: the start values
} Steady;

// --- one point

static double
scale_of(const Steady *s, uint32_t j)
{
    return fmax(fabs(s->y[j]), fabs(s->run->v[s->run->model->nominal + j]));
}

// Relations follow the point; what they switch jumps without an event.
static void
follow_relations(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_relations)
        return;
    evaluate_load(run, run->time, run->y, run->yp);
    if (evaluate_solved(run, false) != MDL_OK)
        return;
    evaluate_outputs(run);
    mdl_call(model->relations, run->v);
    for (uint32_t k = 0; k < model->n_relations; k++)
        run->v[model->relation[k].value] = run->v[model->relation[k].next] != 0;
}

// The linear system at s->y. Messages are for the caller.
MDL_CHECKED static int
look(Steady *s)
{
    static const mdl_linear_request nothing = {0};
    memcpy(s->run->y, s->y, s->all * sizeof *s->y);
    follow_relations(s->run);
    mdl_linear_free(&s->at);
    int status = linearize_run(s->run, &nothing, &s->at);
    for (uint32_t j = 0; j < s->all && status == MDL_OK; j++)
        s->size[j] = scale_of(s, j);
    return status;
}

// What is held is missed by this much.
static double
missed(const Steady *s)
{
    double most = 0;
    for (uint32_t k = 0; k < s->at.held; k++) {
        double size = 0;
        for (uint32_t j = 0; j < s->all; j++)
            size += fabs(s->at.held_rate[(size_t)j * s->at.held + k]) * s->size[j];
        if (size > 0)
            most = fmax(most, fabs(s->at.held_value[k]) / size);
    }
    return most;
}

// x := the shortest one, in units of `size`, with matrix*x = right.
static bool
shortest(const double *matrix, uint32_t rows, uint32_t columns, const double *size, const double *right, double *x)
{
    Rank *rank = rank_create(rows, columns);
    bool good = rank != NULL;
    if (good) {
        memcpy(rank_matrix(rank), matrix, (size_t)rows * columns * sizeof *matrix);
        good = rank_factor(rank, size, FREE, rows < columns ? rows : columns);
    }
    if (good)
        rank_solve(rank, right, x);
    rank_free(&rank);
    return good;
}

// Moves s->y back to what is held; s->at is there afterwards.
static bool
settle(Steady *s)
{
    double before = INFINITY;
    for (int k = 0; k < RETURNS; k++) {
        if (look(s) != MDL_OK)
            return false;
        double miss = missed(s);
        if (miss <= ON_HELD || (miss <= STAGNATED && miss > before / 4))
            return true;
        before = miss;
        double *right = calloc((size_t)s->at.held + 1, sizeof *right);
        for (uint32_t i = 0; right && i < s->at.held; i++)
            right[i] = -s->at.held_value[i];
        bool good = right && shortest(s->at.held_rate, s->at.held, s->all, s->size, right, s->delta);
        free(right);
        if (!good)
            return false;
        for (uint32_t j = 0; j < s->all; j++)
            s->y[j] += s->delta[j];
    }
    return false;
}

static double
slopes_size(const Steady *s)
{
    double most = 0;
    for (uint32_t j = 0; j < s->all; j++)
        most = fmax(most, fabs(s->at.slope[j]) / s->size[j]);
    return most;
}

// s->delta := how all states follow s->step; its size.
static double
follow(Steady *s)
{
    double most = 0;
    memset(s->delta, 0, s->all * sizeof *s->delta);
    for (uint32_t i = 0; i < s->at.n; i++)
        for (uint32_t j = 0; j < s->all; j++)
            s->delta[j] += s->at.follow[(size_t)i * s->all + j] * s->step[i];
    for (uint32_t j = 0; j < s->all; j++)
        most = fmax(most, fabs(s->delta[j]) / s->size[j]);
    return most;
}

// Goes `part` of the way s->delta from s->keep.
static bool
go(Steady *s, double part)
{
    for (uint32_t j = 0; j < s->all; j++)
        s->y[j] = s->keep[j] + part * s->delta[j];
    return settle(s);
}

MDL_CHECKED static bool
go_back(Steady *s)
{
    memcpy(s->y, s->keep, s->all * sizeof *s->y);
    return look(s) == MDL_OK;
}

// --- steps

// s->step := solution of (shift*I - A) x = f, or the shortest one of A x = -f with shift 0.
static bool
solve(Steady *s, double shift)
{
    size_t n = s->at.n;
    if (!n) // what is held determines all states
        return true;
    double *matrix = calloc(n * n + 2 * n + 1, sizeof *matrix);
    if (!matrix)
        return false;
    double *right = matrix + n * n, *size = right + n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            matrix[j * n + i] = (i == j ? shift : 0) - s->at.a[j * n + i];
        right[j] = s->at.slope[s->at.state[j]];
        size[j] = s->size[s->at.state[j]];
    }
    bool good = shortest(matrix, s->at.n, s->at.n, size, right, s->step);
    free(matrix);
    for (size_t i = 0; good && i < n; i++)
        good = isfinite(s->step[i]);
    return good;
}

// The size of the Newton step, INFINITY when there is none.
static double
newton_size(Steady *s)
{
    return solve(s, 0) ? follow(s) : INFINITY;
}

static double
rate_of_change(const Steady *s)
{
    double most = 0;
    for (size_t k = 0; k < (size_t)s->at.n * s->at.n; k++)
        most = fmax(most, fabs(s->at.a[k]));
    return most;
}

// Until Newton's method will do, or time has grown beyond what the model knows.
static void
continue_transient(Steady *s)
{
    double before = slopes_size(s), h = before > 0 ? 0.1 / before : 1;
    for (int k = 0; k < TRANSIENT_STEPS; k++) {
        if (newton_size(s) <= BASIN || h * rate_of_change(s) > 1e12)
            return;
        if (!solve(s, 1 / h))
            return;
        double size = follow(s);
        if (size > LONGEST) {
            h *= fmax(0.1, 0.5 * LONGEST / size);
            continue;
        }
        memcpy(s->keep, s->y, s->all * sizeof *s->y);
        if (!go(s, 1)) {
            if (!go_back(s))
                return;
            h *= 0.1;
            continue;
        }
        double after = slopes_size(s);
        h *= fmin(fmax(after > 0 ? before / after : 10, 1.3), 10);
        before = after;
    }
}

// s->terms := what the derivatives of states consist of, by size: those of independent states from A, others follow them.
static void
measure_terms(Steady *s)
{
    uint32_t n = s->at.n;
    memset(s->terms, 0, s->all * sizeof *s->terms);
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < n; k++)
            sum += fabs(s->at.a[(size_t)k * n + i]) * s->size[s->at.state[k]];
        for (uint32_t j = 0; j < s->all; j++)
            s->terms[j] += fabs(s->at.follow[(size_t)i * s->all + j]) * sum;
    }
}

static bool
vanishes(const Steady *s, uint32_t j)
{
    return fabs(s->at.slope[j]) <= VANISHED * s->terms[j] + DBL_EPSILON * s->size[j];
}

static bool
is_steady(Steady *s)
{
    measure_terms(s);
    for (uint32_t j = 0; j < s->all; j++)
        if (!vanishes(s, j))
            return false;
    return true;
}

// Damped Newton steps. True: all derivatives vanish.
static bool
newton(Steady *s)
{
    double before = INFINITY;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        double size = newton_size(s), slopes = slopes_size(s), part = 1;
        if (!isfinite(size))
            return false;
        if (size <= SETTLED || (size <= STAGNATED && size > before / 4))
            return is_steady(s);
        before = size;
        memcpy(s->keep, s->y, s->all * sizeof *s->y);
        double *way = malloc((s->all + 1) * sizeof *way);
        if (!way)
            return false;
        memcpy(way, s->delta, s->all * sizeof *way);
        while (!go(s, part) || (slopes_size(s) > (1 - part / 4) * slopes && size > STAGNATED && !is_steady(s))) {
            part /= 2;
            memcpy(s->delta, way, s->all * sizeof *way);
            if (part < 1e-6)
                break;
        }
        free(way);
        if (part < 1e-6)
            return go_back(s) && is_steady(s);
    }
    return is_steady(s);
}

static bool
find(Steady *s)
{
    if (!settle(s))
        return false;
    memcpy(s->begin, s->y, s->all * sizeof *s->y);
    continue_transient(s);
    if (newton(s))
        return true;
    // Unstable equilibria repel the continuation: Newton's method alone may be led there.
    double *reached = malloc((s->all + 1) * sizeof *reached);
    if (!reached)
        return false;
    memcpy(reached, s->y, s->all * sizeof *reached);
    memcpy(s->y, s->begin, s->all * sizeof *s->y);
    bool found = settle(s) && newton(s);
    if (!found) {
        memcpy(s->y, reached, s->all * sizeof *s->y);
        if (look(s) != MDL_OK)
            mdl_linear_free(&s->at);
    }
    free(reached);
    return found;
}

// Coordinates that nothing depends on (a vehicle along its road) go back to where they began: the continuation may have
// carried them anywhere.
static void
return_free(Steady *s)
{
    uint32_t n = s->at.n;
    bool moved = false;
    measure_terms(s);
    memcpy(s->keep, s->y, s->all * sizeof *s->y);
    for (uint32_t k = 0; k < n; k++) {
        bool felt = false;
        for (uint32_t i = 0; i < n; i++) {
            double effect = fabs(s->at.a[(size_t)k * n + i]) * s->size[s->at.state[k]];
            felt = felt || effect > VANISHED * s->terms[s->at.state[i]];
        }
        if (felt || s->y[s->at.state[k]] == s->given[s->at.state[k]])
            continue;
        s->y[s->at.state[k]] = s->given[s->at.state[k]];
        moved = true;
    }
    if (moved && !(settle(s) && is_steady(s)) && !go_back(s)) // where it was a moment ago; what is evaluated there says why not
        mdl_linear_free(&s->at);
}

// --- what can switch

static void
store(Steady *s)
{
    memcpy(s->y, s->run->v + s->run->model->y, s->all * sizeof *s->y);
}

static void
stick(Steady *s)
{
    Run *run = s->run;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *law = &run->model->sgn[k];
        if (!law->unilateral && !law->play && run->v[law->a] > 0 && friction_mode(run, k) != 0)
            friction_set(run, k, 0);
    }
    store(s);
}

// The mode that law k should have in the equilibrium found under the present ones.
static double
wanted_mode(const Run *run, uint32_t k)
{
    const mdl_sgn *law = &run->model->sgn[k];
    double mode = friction_mode(run, k), p = run->v[law->p], a = run->v[law->a];
    if (law->unilateral && mode == 0)
        return contact_force(run, k) < -SLIPS * fmax(fabs(contact_force(run, k)), DBL_MIN) ? 1 : 0;
    if (law->unilateral)
        return contact_gap(run, k) < -contact_band(run, k) ? 0 : mode;
    if (!law->play && mode == 0 && fabs(p) > a * (1 + SLIPS))
        return p > 0 ? 1 : -1;
    return mode;
}

// True when a law changed.
static bool
switch_laws(Steady *s)
{
    Run *run = s->run;
    bool changed = false;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        double wanted = wanted_mode(run, k);
        if (wanted == friction_mode(run, k))
            continue;
        friction_set(run, k, wanted);
        changed = true;
    }
    return changed;
}

MDL_CHECKED static bool
evaluate_here(Steady *s)
{
    Run *run = s->run;
    memcpy(run->y, s->y, s->all * sizeof *s->y);
    evaluate_load(run, run->time, run->y, run->yp);
    if ((run->model->n_sgns ? friction_evaluate(run) : evaluate_solved(run, false)) != MDL_OK)
        return false;
    evaluate_outputs(run);
    return true;
}

// --- messages

// The states whose derivatives do not vanish, fastest first.
static void
report_moving(Steady *s)
{
    const mdl_model *model = s->run->model;
    char text[1500] = "";
    size_t used = 0;
    double limit = INFINITY;
    if (s->at.n)
        measure_terms(s);
    for (int count = 0; s->at.n && count < NAMED; count++) {
        uint32_t best = UINT32_MAX;
        double most = 0;
        for (uint32_t j = 0; j < s->all; j++) {
            double slope = fabs(s->at.slope[j]) / s->size[j];
            if (slope > most && slope < limit && !vanishes(s, j)) {
                most = slope;
                best = j;
            }
        }
        if (best == UINT32_MAX || used >= sizeof text)
            break;
        limit = most;
        used += (size_t)snprintf(text + used, sizeof text - used, "\n  der(%s) = %.6g with %s = %.6g", model->state_name[best],
                                 s->at.slope[best], model->state_name[best], s->y[best]);
    }
    run_message(s->run, MDL_ERROR, "no equilibrium was found at time %.12g; what still moves:%s", s->run->time,
                *text ? text : "\n  the constraints could not be kept");
}

static void
report_free(Steady *s)
{
    size_t n = s->at.n;
    Rank *rank = n ? rank_create(s->at.n, s->at.n) : NULL;
    double *size = calloc(n + 1, sizeof *size);
    if (rank && size) {
        memcpy(rank_matrix(rank), s->at.a, n * n * sizeof *size);
        for (size_t i = 0; i < n; i++)
            size[i] = s->size[s->at.state[i]];
        bool good = rank_factor(rank, size, FREE, s->at.n);
        for (uint32_t k = 0; good && k + rank_value(rank) < s->at.n; k++)
            run_message(s->run, MDL_NOTE, "`%s` is free: nothing holds it, and it stays as near to its start value as it can",
                        s->run->model->state_name[s->at.state[rank_free_unknown(rank, k)]]);
    }
    rank_free(&rank);
    free(size);
}

// --- the whole

static bool
allocate(Steady *s)
{
    size_t n = s->all;
    s->y = calloc(8 * n + 1, sizeof *s->y);
    if (!s->y)
        return false;
    s->keep = s->y + n;
    s->begin = s->keep + n;
    s->delta = s->begin + n;
    s->step = s->delta + n;
    s->size = s->step + n;
    s->terms = s->size + n;
    s->given = s->terms + n;
    memcpy(s->given, s->run->y, n * sizeof *s->given);
    memcpy(s->y, s->run->y, n * sizeof *s->y);
    return true;
}

static bool
find_with_laws(Steady *s)
{
    uint32_t rounds = 4 * s->run->model->n_sgns + 4;
    stick(s);
    for (uint32_t k = 0; k < rounds; k++) {
        if (!find(s))
            return false;
        return_free(s);
        if (!evaluate_here(s))
            return false;
        if (!switch_laws(s))
            return true;
        store(s);
    }
    return false;
}

// --- relations and discrete variables: an equilibrium of a mode that is not the one they have there is none

enum { MODES = 1000 };

// Values of relations, then of discrete variables.
static uint32_t
mode_size(const Run *run)
{
    return run->model->n_relations + run->model->n_discretes;
}

static void
keep_mode(const Run *run, double *mode)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_relations; k++)
        *mode++ = run->v[model->relation[k].value];
    for (uint32_t k = 0; k < model->n_discretes; k++)
        *mode++ = model->discrete[k].next ? run->v[model->discrete[k].value] : 0;
}

// The discrete equations at the equilibrium give the values that it was found with. v stays what it is.
static bool
mode_agrees(Steady *s, double *before, double *after)
{
    Run *run = s->run;
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof *run->v;
    double *kept = malloc(bytes);
    if (!kept || !evaluate_here(s)) {
        free(kept);
        return true;
    }
    memcpy(kept, run->v, bytes);
    keep_mode(run, before);
    mdl_call(model->relations, run->v);
    for (uint32_t k = 0; k < model->n_relations; k++)
        run->v[model->relation[k].value] = run->v[model->relation[k].next] != 0;
    mdl_call(model->discretes, run->v);
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].next)
            run->v[model->discrete[k].value] = run->v[model->discrete[k].next];
    keep_mode(run, after);
    memcpy(run->v, kept, bytes);
    free(kept);
    return memcmp(before, after, mode_size(run) * sizeof *before) == 0;
}

static void
report_cycle(const Run *run, const double *before, const double *after)
{
    const mdl_model *model = run->model;
    char text[1500] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < mode_size(run) && used < sizeof text; k++) {
        uint32_t discrete = k - model->n_relations;
        const char *name = k < model->n_relations ? root_text(run, k) : model->discrete[discrete].name;
        if (before[k] != after[k] && name)
            used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s: %g, then %g", name, before[k], after[k]);
    }
    run_message(run, MDL_ERROR, "no equilibrium was found at time %.12g: at that of each mode relations or discrete variables leave the mode, as "
                "in a limit cycle:%s", run->time, text);
}

// Equilibria of one mode after the other, until one has its own mode. A mode that comes again ends it (Brent, BIT 20 (1980) 176).
MDL_CHECKED static int
find_with_modes(Steady *s, const mdl_options *loud)
{
    Run *run = s->run;
    mdl_options quiet = *loud;
    quiet.message = NULL;
    size_t size = mode_size(run);
    double *mode = calloc(3 * size + 1, sizeof *mode), *after = mode + size, *known = after + size;
    int status = mode ? MDL_OK : MDL_INTERNAL;
    bool agrees = false;
    for (uint32_t round = 0, power = 1; status == MDL_OK && !agrees; round++) {
        run->options = &quiet;
        bool found = find_with_laws(s);
        run->options = loud;
        if (!found)
            report_moving(s);
        agrees = found && (!size || mode_agrees(s, mode, after));
        if (!found || agrees) {
            status = found ? MDL_OK : MDL_FAILED;
            break;
        }
        if (round > 0 && (round == MODES || memcmp(mode, known, size * sizeof *mode) == 0)) {
            report_cycle(run, mode, after);
            status = MDL_FAILED;
            break;
        }
        if (round == power || round == 0) {
            memcpy(known, mode, size * sizeof *mode);
            power = round ? 2 * power : 1;
        }
        evaluate_store(run);
        status = event_iterate(run, false);
        memcpy(s->y, run->y, s->all * sizeof *s->y);
    }
    free(mode);
    return status;
}

int
steady_find(Run *run)
{
    Steady s = {.run = run, .all = run->model->nx};
    const mdl_options *options = run->options;
    if (!s.all)
        return MDL_OK;
    int status = allocate(&s) ? look(&s) : MDL_INTERNAL; // says what cannot be linearised at all
    if (status == MDL_OK)
        status = find_with_modes(&s, options);
    if (status == MDL_OK) {
        report_free(&s);
        if (evaluate_here(&s)) {
            evaluate_store(run);
        } else {
            run_message(run, MDL_ERROR, "the equilibrium that was found, at time %.12g, cannot be evaluated there", run->time);
            status = MDL_FAILED;
        }
    }
    mdl_linear_free(&s.at);
    free(s.y);
    return status;
}
