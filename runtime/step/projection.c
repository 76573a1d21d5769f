// projection.c: back to the invariants by the shortest way.
//
// Purpose: all states of a model with invariants c(t, y) = 0 are integrated, and a step leaves the invariants by
// its error. Projection takes that part of the error away, so that the invariants hold for ever and no choice of
// states has to be made while running.
// Method: the correction dy = S z with C S z = -c, C = dc/dy and S the nominal values, where z = D' mu: D is C S
// without the entries of states of another depth than the invariant, so that invariants of positions move positions
// only and those of velocities velocities only, by the shortest way. Solved from [I D'; C S 0] [z; mu] = [0; -c],
// repeated until it is below rounding (Eich, SIAM J. Numer. Anal. 30 (1993) 1467; Hairer, Lubich and Wanner, Geometric
// Numerical Integration, 2006, IV.4). The shortest way in all states at once would also move a position along its
// velocity to mend a velocity, which costs BDF a factor of 5 to 10 in the energy of a pendulum. For erk, rk4, dop853 and Adams it
// is the better way (D = C S), by a factor of 2 to 10 on four-bars. Where invariants depend on unknowns of algebraic loops, C is
// what is left when these have been eliminated (slopes.c). Sticking states do not move.
// Near a singular position C loses rank. With sigma its least singular value, what rounding leaves of c becomes a correction of
// positions by rounding/sigma and then one of velocities by rounding/sigma^2. This noise follows from one more solution, with
// rounding for c; it says how well invariants determine the states there, and no step is short enough for less. Velocities that it
// determines worse than the step has (some rounding^(1/2) from the position itself) stay as they were integrated.
// Invariants that follow from others are left out, as many of each group as do at the start (redundancy.c). Which ones is chosen anew
// where those that are left determine the states worse than they did: those that are independent in one pose may depend on each other
// in another in which all of them together do not.
// Contract: solver.h. Complexity: one factorisation of the matrix above for two corrections, and for each an evaluation, which is one of the
// invariants alone where the compiler could cut them out (model.h, invariants); the matrix has a row per state that occurs in an invariant, and a row per invariant.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/disjoint_sets.h"
#include "runtime/linear/rank.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/point/snapshot.h"
#include "runtime/step/slopes.h"
#include "runtime/step/step.h"

enum { CORRECTIONS = 10 };

static const double QUADRATIC = 1e-8;   // the correction after one of this size is below rounding
static const double MUCH = 100;         // times the noise: still noise; times the tolerance: noise too large to be followed
static const double FORGETTING = 0.7;   // of noise, per step
static const double WORSE = 30;         // times the noise of before: other invariants may determine the states better
static const double LINEAR = 1e-3;      // of the size of a state: corrections of this size are worth following
static const double DAMPING = 0.03;     // of the gradients of invariants: singular values below do not say where the way back is
static const double ROUNDING = 16 * DBL_EPSILON; // of invariants, in units of their largest gradients: of a sum of some products
static const uint32_t NONE = UINT32_MAX;

// One entry of the matrix: 1, or a slope times the scale of a state.
typedef struct Entry {
    uint32_t row, column;
    uint32_t slope; // NONE: the entry is 1
    uint32_t state; // NONE: no scale
    uint32_t constraint; // the invariant whose multiplier it belongs to, or NONE
} Entry;

struct Projection {
    bool together;      // a multiplier moves states of every depth
    bool damps;         // projection_way() is asked for
    bool loops;         // invariants read unknowns of loops
    uint32_t states, constraints, size;
    Slopes *slopes;
    uint32_t *state;    // those that occur in invariants
    uint32_t *position; // per state of the model: its row in the matrix, or NONE
    Entry *entry;
    uint32_t entries;
    double *value;      // per entry
    bool singular;      // at the point looked at last
    uint32_t random;
    double *scale;      // per state of the model; behind them what projection_between() keeps
    double *right;      // size
    double *defect;     // per invariant: c at the point factored last
    uint8_t *follows;   // per invariant: 1 when it follows from the others and is left out; NULL: none does
    Invariants *invariants; // when `follows`
    uint32_t *group;    // n_constraints, for one of their groups
    double least;       // largest noise of a state in units of its size: the least since `follows` was chosen
    bool renew, renewed; // `follows` is to be chosen anew; it was
    bool warned;        // projection_warn() has
    uint32_t noisy;     // points in a row of which it knew nothing
    bool nears;         // corrections follow each other: where no choice is possible yet it waits for the next one
    double *noise;      // per state that occurs: how far it is not known
    double *fresh;      // the same, at the point factored last alone
    double rates;       // the same of the second derivatives, relative to their sizes
    double *before;     // per state that occurs: its value before the projection
    uint32_t *island;   // per state that occurs: one of those that invariants tie it to, directly or by way of others
    uint32_t *deepest;  // per island: the depth of its positions
    uint8_t *lost;      // per island: velocities are not known well enough
    double *gradient;   // per invariant: squared length of its gradient there, in the states' scales
    double *steepest;   // per invariant: the largest of these so far
    Lu *lu;
};

void
projection_free(Projection **slot)
{
    Projection *p = *slot;
    if (!p)
        return;
    lu_free(&p->lu);
    free(p->state);
    free(p->position);
    free(p->entry);
    free(p->value);
    free(p->scale);
    free(p->right);
    free(p->follows);
    free(p->group);
    free(p->fresh);
    free(p->island);
    free(p->lost);
    slopes_free(&p->slopes);
    if (p->invariants)
        invariants_free(&p->invariants);
    free(p);
    *slot = NULL;
}

// --- the pattern

static void
number_states(const mdl_model *model, Projection *p)
{
    const uint32_t *start = p->slopes->column_start;
    for (uint32_t j = 0; j < model->nx; j++) {
        p->position[j] = NONE;
        if (start[j + 1] > start[j]) {
            p->position[j] = p->states;
            p->state[p->states++] = j;
        }
    }
    p->loops = p->slopes->elimination;
    p->constraints = model->n_constraints;
    p->size = p->states + p->constraints;
}

// An invariant and its multiplier, which moves the states of the invariant's depth, or all.
static void
add_pair(const mdl_model *model, Projection *p, uint32_t constraint, uint32_t state, uint32_t slope)
{
    uint32_t row = p->states + constraint, column = p->position[state];
    p->entry[p->entries++] = (Entry){row, column, slope, state, constraint};
    if (p->together || model->state_depth[state] == model->constraint[constraint].depth)
        p->entry[p->entries++] = (Entry){column, row, slope, state, constraint};
}

static int
compare_entries(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

// An invariant that follows from the others has no multiplier.
static bool
is_redundant(const Projection *p, uint32_t constraint)
{
    return p->follows && p->follows[constraint];
}

static void
list_entries(const Run *run, Projection *p)
{
    const mdl_model *model = run->model;
    const Slopes *c = p->slopes;
    uint32_t first = p->states;
    for (uint32_t i = 0; i < p->states; i++)
        p->entry[p->entries++] = (Entry){i, i, NONE, NONE, NONE};
    for (uint32_t j = 0; j < model->nx; j++)
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            add_pair(model, p, c->row[k], j, k);
    for (uint32_t k = 0; (p->follows || p->damps) && k < p->constraints; k++)
        p->entry[p->entries++] = (Entry){first + k, first + k, NONE, NONE, k};
    qsort(p->entry, p->entries, sizeof *p->entry, compare_entries);
}

static bool
invariant_matrix(Projection *p)
{
    uint32_t *start = calloc((size_t)p->size + 2, sizeof *start);
    uint32_t *row = calloc((size_t)p->entries + 1, sizeof *row);
    if (start && row) {
        for (uint32_t k = 0; k < p->entries; k++) {
            row[k] = p->entry[k].row;
            start[p->entry[k].column + 1]++;
        }
        for (uint32_t j = 0; j < p->size; j++)
            start[j + 1] += start[j];
        p->lu = lu_create(p->size, start, row);
    }
    free(start);
    free(row);
    return p->lu != NULL;
}

// Those of the start, until others are better: the pose need not be that of the start any more.
static bool
make_follows(const Run *run, Projection *p)
{
    uint32_t n = run->model->n_constraints;
    p->least = INFINITY;
    if (!run->redundant)
        return true;
    p->follows = malloc((size_t)n + 1);
    p->group = calloc((size_t)n + 1, sizeof *p->group);
    p->invariants = invariants_create(run->model);
    if (p->follows)
        memcpy(p->follows, run->redundant, n);
    p->renew = true;
    return p->follows && p->group && p->invariants;
}

// States that share an invariant are on one island. False: out of memory.
static bool
make_islands(const mdl_model *model, Projection *p)
{
    const Slopes *c = p->slopes;
    uint32_t *parent = calloc(2 * ((size_t)p->states + p->constraints) + 1, sizeof *parent), *state_of = parent + p->states;
    p->island = parent;
    p->deepest = parent + p->states + p->constraints;
    p->lost = calloc((size_t)p->states + 1, sizeof *p->lost);
    p->fresh = calloc(2 * (size_t)p->states + 1, sizeof *p->fresh);
    if (!parent || !p->lost || !p->fresh)
        return false;
    p->before = p->fresh + p->states;
    sets_begin(parent, p->states);
    for (uint32_t k = 0; k < p->constraints; k++)
        state_of[k] = NONE;
    for (uint32_t i = 0; i < p->states; i++)
        for (uint32_t k = c->column_start[p->state[i]]; k < c->column_start[p->state[i] + 1]; k++) {
            if (state_of[c->row[k]] == NONE)
                state_of[c->row[k]] = i;
            sets_join(parent, i, state_of[c->row[k]]);
        }
    for (uint32_t i = 0; i < p->states; i++)
        parent[i] = sets_find(parent, i);
    for (uint32_t i = 0; i < p->states; i++) {
        uint32_t depth = model->state_depth[p->state[i]];
        p->deepest[parent[i]] = depth > p->deepest[parent[i]] ? depth : p->deepest[parent[i]];
    }
    return true;
}

Projection *
projection_create(const Run *run)
{
    const mdl_model *model = run->model;
    Projection *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    size_t n = model->n;
    p->slopes = slopes_create(model);
    size_t most = p->slopes ? n + 2 * (size_t)model->n_constraints + 2 * (size_t)p->slopes->entries : 0;
    p->state = calloc(n + 1, sizeof *p->state);
    p->position = calloc(n + 1, sizeof *p->position);
    p->scale = calloc(model->nx + 3 * n + 1, sizeof *p->scale);
    p->entry = calloc(most + 1, sizeof *p->entry);
    p->value = calloc(most + 1, sizeof *p->value);
    p->right = calloc(4 * n + 4 * (size_t)model->n_constraints + 1, sizeof *p->right);
    bool good = p->slopes && p->state && p->position && p->scale && p->entry && p->value && p->right && make_follows(run, p);
    p->damps = run->options->outside;
    p->together = run->solver == MDL_SOLVER_ERK || run->solver == MDL_SOLVER_RK4 || run->solver == MDL_SOLVER_ADAMS ||
                  run->solver == MDL_SOLVER_DOP853;
    if (good) {
        number_states(model, p);
        good = make_islands(model, p);
    }
    if (good) {
        p->defect = p->right + p->size;
        p->gradient = p->defect + p->constraints;
        p->steepest = p->gradient + p->constraints;
        p->noise = p->steepest + p->constraints;
        list_entries(run, p);
        good = invariant_matrix(p);
    }
    if (!good)
        projection_free(&p);
    return p;
}

bool
projection_where_needed(const Run *run, Projection **projection)
{
    *projection = run->model->n_constraints ? projection_create(run) : NULL;
    return *projection || !run->model->n_constraints;
}

// --- the correction

static void
set_scales(const Run *run, Projection *p)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < p->states; i++)
        p->scale[p->state[i]] = fabs(run->v[model->nominal + p->state[i]]);
    for (uint32_t k = 0; k < model->n_sgns; k++)
        if (model->sgn[k].state >= 0 && run->v[model->sgn[k].mode] == 0)
            p->scale[model->sgn[k].state] = 0;
}

// damped: invariants may be missed by as much as makes states move no further than where they still determine them.
static void
fill_matrix(const Run *run, Projection *p, bool damped)
{
    uint32_t first = p->states;
    const double *slope = slopes_values(run, p->slopes);
    memset(p->gradient, 0, p->constraints * sizeof *p->gradient);
    for (uint32_t k = 0; k < p->entries; k++) {
        const Entry *e = &p->entry[k];
        double value = e->slope != NONE ? slope[e->slope] : 1;
        p->value[k] = e->state == NONE ? value : value * p->scale[e->state];
        // A row that is left out holds the 1 of the diagonal, and another one all but that.
        if (e->constraint != NONE && is_redundant(p, e->constraint) == (e->slope != NONE))
            p->value[k] = 0;
        if (e->row >= first && e->row - first < p->constraints && e->column < p->states)
            p->gradient[e->row - first] += p->value[k] * p->value[k];
    }
    for (uint32_t k = 0; k < p->constraints && !damped; k++) // trial points leave no trace
        p->steepest[k] = fmax(p->steepest[k], p->gradient[k]);
    for (uint32_t k = 0; k < p->entries && damped; k++)
        if (p->entry[k].slope == NONE && p->entry[k].constraint != NONE && !is_redundant(p, p->entry[k].constraint))
            p->value[k] = -DAMPING * DAMPING * p->steepest[p->entry[k].constraint];
}

// In each group as many invariants are left out as before: those that the others, which the best pivots choose, determine best. False: in one of them more
// are independent than can be, as it is beside the invariants.
static bool
choose_follows(const Run *run, Projection *p)
{
    bool chosen = invariants_look(run, p->invariants);
    for (uint32_t g = 0; g < invariants_groups(p->invariants); g++) {
        uint32_t rows = invariants_group(p->invariants, g, p->group), left_out = 0;
        for (uint32_t i = 0; i < rows; i++)
            left_out += p->follows[p->group[i]];
        Rank *rank = left_out ? invariants_rank(run, p->invariants, g) : NULL;
        bool fits = rank && rank_value(rank) == rows - left_out;
        chosen = chosen && (fits || !left_out);
        if (fits) {
            for (uint32_t i = 0; i < rows; i++)
                p->follows[p->group[i]] = 0;
            for (uint32_t k = 0; k < left_out; k++)
                p->follows[p->group[rank_free_unknown(rank, k)]] = 1;
        }
        rank_free(&rank);
    }
    return chosen;
}

static void
end_choice(Projection *p)
{
    p->renew = false;
    p->renewed = true;
}

// The invariants at the point and, if `partials`, how they change with the states. False: they have no value there.
static bool
look(Run *run, const Projection *p, double time, const double *y, bool partials)
{
    const mdl_model *model = run->model;
    run->v[0] = time;
    memcpy(run->v + model->y, y, model->nx * sizeof *y);
    if (model->invariants.fn) {
        mdl_call(model->invariants, run->v);
        if (partials)
            mdl_call(model->invariant_partials, run->v);
        return true;
    }
    if (!p->loops)
        evaluate_plain(run);
    else if (evaluate_solved(run, false) != MDL_OK)
        return false;
    if (partials)
        mdl_call(model->jacobian, run->v);
    return true;
}

static void
take_defect(const Run *run, Projection *p)
{
    for (uint32_t k = 0; k < p->constraints; k++)
        p->defect[k] = run->v[run->model->constraint[k].value];
}

static bool
factor(Run *run, Projection *p, double time, const double *y, bool damped)
{
    p->singular = false;
    if (!look(run, p, time, y, true))
        return false;
    p->singular = !slopes_update(run, p->slopes);
    if (p->singular)
        return false;
    if (p->renew && !damped && (choose_follows(run, p) || !p->nears))
        end_choice(p);
    set_scales(run, p);
    fill_matrix(run, p, damped);
    take_defect(run, p);
    p->singular = !lu_factor(p->lu, p->value, true); // pivots of other poses make noise of what is left near singular ones
    return !p->singular;
}

bool
projection_factor(Run *run, Projection *p, double time, const double *y)
{
    return factor(run, p, time, y, false);
}

const double *
projection_defect(const Projection *p)
{
    return p->defect;
}

double
projection_move(const Run *run, Projection *p, const double *rho, double factor, double *y)
{
    double most = 0;
    memset(p->right, 0, p->size * sizeof *p->right);
    for (uint32_t k = 0; k < p->constraints; k++)
        p->right[p->states + k] = factor * rho[k];
    lu_solve(p->lu, p->right);
    for (uint32_t i = 0; i < p->states; i++) {
        uint32_t j = p->state[i];
        double dy = p->right[i] * p->scale[j], nominal = fabs(run->v[run->model->nominal + j]);
        double size = fabs(dy) / fmax(fabs(y[j]), nominal);
        y[j] += dy;
        if (!(size <= most))
            most = size;
    }
    return most;
}

// Any: those of one pattern may cancel.
static double
sign_of_rounding(Projection *p)
{
    p->random = p->random * 1664525 + 1013904223;
    return p->random >> 31 ? -1 : 1;
}

static double
size_of(const Run *run, const Projection *p, uint32_t i)
{
    return fmax(fabs(run->v[run->model->y + p->state[i]]), fabs(run->v[run->model->nominal + p->state[i]]));
}

// Each derivative loses another factor of 1/sigma: from positions to velocities, and so from these to accelerations and forces.
static double
noise_of_rates(const Run *run, const Projection *p)
{
    double position = 0, velocity = 0;
    for (uint32_t i = 0; i < p->states; i++) {
        bool deepest = run->model->state_depth[p->state[i]] >= p->deepest[p->island[i]];
        double *most = deepest ? &position : &velocity;
        *most = fmax(*most, p->fresh[i] / size_of(run, p, i));
    }
    return position > 0 && velocity > position ? velocity * velocity / position : velocity;
}

// What rounding of the invariants does to the states at the point factored last, and has done there before. It is taken with
// several random combinations of signs: what one of them hides another shows.
static void
measure_noise(const Run *run, Projection *p)
{
    enum { SIGNS = 4 };
    double most = 0;
    memset(p->fresh, 0, p->states * sizeof *p->fresh);
    for (int sample = 0; sample < SIGNS; sample++) {
        memset(p->right, 0, p->size * sizeof *p->right);
        for (uint32_t k = 0; k < p->constraints; k++)
            if (!is_redundant(p, k))
                p->right[p->states + k] = sign_of_rounding(p) * ROUNDING * sqrt(p->steepest[k]);
        lu_solve(p->lu, p->right);
        for (uint32_t i = 0; i < p->states; i++) {
            p->fresh[i] = fmax(p->fresh[i], fabs(p->right[i]) * p->scale[p->state[i]]);
            most = fmax(most, fabs(p->right[i]));
        }
    }
    for (uint32_t i = 0; i < p->states; i++)
        p->noise[i] = fmax(p->noise[i] * FORGETTING, p->fresh[i]);
    p->rates = fmax(p->rates * FORGETTING, noise_of_rates(run, p));
    p->least = p->renewed ? most : fmin(p->least, most);
    p->renewed = false;
    p->renew = p->follows && most > WORSE * p->least;
}

void
projection_measure(const Run *run, Projection *p)
{
    measure_noise(run, p);
}

void
projection_forget(Projection *p)
{
    p->random = 0;
    p->rates = 0;
    memset(p->noise, 0, p->states * sizeof *p->noise);
    memset(p->steepest, 0, p->constraints * sizeof *p->steepest);
}

void
projection_snapshot(Projection *p, Snapshot *snapshot)
{
    snapshot_part(snapshot, &p->random, sizeof p->random);
    snapshot_part(snapshot, p->noise, p->states * sizeof *p->noise);
    snapshot_part(snapshot, p->steepest, p->constraints * sizeof *p->steepest);
    snapshot_part(snapshot, &p->least, sizeof p->least);
    snapshot_part(snapshot, &p->rates, sizeof p->rates);
    snapshot_part(snapshot, &p->renew, sizeof p->renew);
    snapshot_part(snapshot, &p->renewed, sizeof p->renewed);
    snapshot_part(snapshot, p->lost, p->states);
    if (p->follows)
        snapshot_part(snapshot, p->follows, p->constraints);
}

void
projection_weights(const Run *run, Projection *p, const double *y, double *weight)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < p->states; i++)
        weight[p->state[i]] = fmin(weight[p->state[i]], 1 / p->noise[i]);
    for (uint32_t j = model->nx; j < run->ny && p->rates > 0; j++)
        weight[j] = fmin(weight[j], 1 / (p->rates * fmax(fabs(y[j]), fabs(run->v[model->nominal + j]))));
}

// A correction that does not become smaller any more.
static bool
is_noise(const Run *run, Projection *p, double size, const double *y)
{
    double most = 0;
    measure_noise(run, p);
    for (uint32_t i = 0; i < p->states; i++)
        most = fmax(most, p->noise[i] / fmax(fabs(y[p->state[i]]), fabs(run->v[run->model->nominal + p->state[i]])));
    return size <= MUCH * most;
}

// In the singular position itself, to rounding, there is no way back: it can wait for the next step.
static bool
can_wait(const Run *run, const Projection *p)
{
    bool small = p->singular;
    for (uint32_t k = 0; k < p->constraints && small; k++)
        small = fabs(p->defect[k]) <= run->tolerance * sqrt(p->steepest[k]);
    return small;
}

// The correction after one of the size `before` with the factors of where that one began: the matrix has changed by about that much since,
// so what remains is the product of both sizes.
static bool
simplified(Run *run, Projection *p, double time, double *y, double before)
{
    if (!(before <= LINEAR) || !look(run, p, time, y, false))
        return false;
    take_defect(run, p);
    return projection_move(run, p, p->defect, -1, y) * before <= QUADRATIC * QUADRATIC;
}

static bool
approach(Run *run, Projection *p, double time, double *y)
{
    double before = INFINITY;
    for (int k = 0; k < CORRECTIONS; k++) {
        p->nears = k < CORRECTIONS - 1;
        bool factored = projection_factor(run, p, time, y);
        p->nears = false;
        if (!factored)
            return can_wait(run, p);
        double size = projection_move(run, p, p->defect, -1, y);
        if (size <= QUADRATIC || simplified(run, p, time, y, size)) {
            if (p->renew)
                end_choice(p);
            return true;
        }
        if (!(size < before))
            return is_noise(run, p, size, y);
        before = size;
    }
    return false;
}

// Near a singular position velocities that follow from the invariants are worth less than integrated ones, which must not have the error
// of the others then. Where a multiplier moves states of every depth they cannot be told apart.
static void
keep_velocities(const Run *run, Projection *p, double *y)
{
    const mdl_model *model = run->model;
    if (p->together)
        return;
    memset(p->lost, 0, p->states);
    for (uint32_t i = 0; i < p->states; i++) {
        uint32_t j = p->state[i];
        double most = MUCH * run->tolerance * fmax(fabs(y[j]), fabs(run->v[model->nominal + j]));
        if (model->state_depth[j] < p->deepest[p->island[i]] && p->fresh[i] > most)
            p->lost[p->island[i]] = 1;
    }
    for (uint32_t i = 0; i < p->states; i++) {
        uint32_t j = p->state[i];
        if (!p->lost[p->island[i]] || model->state_depth[j] >= p->deepest[p->island[i]])
            continue;
        y[j] = p->before[i];
        p->noise[i] = fmin(p->noise[i], MUCH * run->tolerance * fmax(fabs(y[j]), fabs(run->v[model->nominal + j])));
    }
}

double
projection_noise(const Run *run, const Projection *p, const double *y)
{
    double most = 0;
    for (uint32_t i = 0; i < p->states && !p->singular; i++) {
        uint32_t j = p->state[i];
        double part = p->fresh[i] / (MUCH * run->tolerance * fmax(fabs(y[j]), fabs(run->v[run->model->nominal + j])));
        if (!(part <= most))
            most = part;
    }
    return p->singular || isnan(most) ? INFINITY : most;
}

bool
projection_is_clear(const Run *run, const Projection *p, const double *y)
{
    return projection_noise(run, p, y) <= 1;
}

bool
projection_apply(Run *run, Projection *p, double time, double *y)
{
    for (uint32_t i = 0; i < p->states; i++)
        p->before[i] = y[p->state[i]];
    bool arrived = approach(run, p, time, y);
    if (arrived && !p->singular) {
        measure_noise(run, p);
        keep_velocities(run, p, y);
    }
    return arrived;
}

void
projection_way(Run *run, Projection *p, double time, const double *y, double *way)
{
    const mdl_model *model = run->model;
    memset(way, 0, model->nx * sizeof *way);
    if (!factor(run, p, time, y, true))
        return;
    double most = projection_move(run, p, p->defect, -1, way);
    double part = most <= LINEAR ? 1 : LINEAR / most;
    for (uint32_t i = 0; i < p->states; i++) {
        uint32_t j = p->state[i];
        bool lost = p->lost[p->island[i]] && model->state_depth[j] < p->deepest[p->island[i]];
        way[j] = lost || !isfinite(part) ? 0 : part * way[j];
    }
}

// The largest part of its size by which one of the places moves in a unit of the direction.
static double
speed_of(const Run *run, const uint32_t *place, const double *rate, uint32_t places)
{
    double most = 0;
    for (uint32_t k = 0; k < places; k++) {
        bool state = place[k] >= run->model->y && place[k] < run->model->y + run->model->nx;
        double size = fmax(fabs(run->v[place[k]]), state ? fabs(run->v[run->model->nominal + place[k] - run->model->y]) : 1);
        most = fmax(most, fabs(rate[k]) / size);
    }
    return most;
}

bool
projection_way_tangent(Run *run, Projection *p, double time, const double *y, const uint32_t *place, const double *rate, uint32_t places, double *way)
{
    const double width = 6e-6; // about the third root of the precision
    const mdl_model *model = run->model;
    size_t n = model->nx;
    double *kept = malloc((model->nv + 3 * n + 1) * sizeof *kept), speed = speed_of(run, place, rate, places);
    if (!kept)
        return false;
    double *at = kept + model->nv, *side[2] = {at + n, at + 2 * n}, h = speed > 0 ? width / speed : 0;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    for (int k = 0; k < 2; k++) {
        double move = k ? -h : h, then = time;
        memcpy(run->v, kept, model->nv * sizeof *kept);
        memcpy(at, y, n * sizeof *at);
        for (uint32_t j = 0; j < places; j++)
            *(!place[j] ? &then : place[j] >= model->y && place[j] < model->y + n ? &at[place[j] - model->y] : &run->v[place[j]]) += move * rate[j];
        projection_way(run, p, then, at, side[k]);
    }
    for (size_t i = 0; i < n; i++)
        way[i] = h > 0 ? (side[0][i] - side[1][i]) / (2 * h) : 0;
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
    return true;
}

bool
projection_between(Run *run, Projection *p, double time, double *y)
{
    double *kept = p->scale + run->model->nx, *noise = kept + p->states, *fresh = noise + p->states, rates = p->rates;
    size_t size = p->states * sizeof *noise;
    uint32_t random = p->random;
    for (uint32_t i = 0; i < p->states; i++)
        kept[i] = y[p->state[i]];
    memcpy(noise, p->noise, size);
    memcpy(fresh, p->fresh, size);
    // Where the invariants say less than the interpolation, and velocities cannot be told from positions, all stays as it is.
    bool arrived = projection_apply(run, p, time, y) && !(p->together && projection_noise(run, p, y) > 1 / MUCH);
    if (!arrived)
        for (uint32_t i = 0; i < p->states; i++)
            y[p->state[i]] = kept[i];
    // What the steps that follow know of the noise does not depend on how many rows there are.
    memcpy(p->noise, noise, size);
    memcpy(p->fresh, fresh, size);
    p->random = random;
    p->rates = rates;
    return arrived;
}

void
projection_warn(const Run *run, Projection *p, const double *y)
{
    enum { ASTRAY = 5 };
    double noise = p->warned ? 0 : projection_noise(run, p, y);
    p->noisy = noise > MUCH ? p->noisy + 1 : 0;
    if (p->together ? !(noise > 1) : p->noisy < ASTRAY)
        return;
    p->warned = true;
    run_message(run, MDL_WARNING, "at time %.12g: near a position in which constraints depend on each other the %s method is not exact: what they say of velocities there is "
                "wrong by up to %.2g of their size, and so may be all that follows; --solver=auto passes it on what it knows of the motion before", run->v[0],
                run->stepper->name, noise * MUCH * run->tolerance);
}

int
projection_report(const Run *run)
{
    run_message(run, MDL_ERROR, "at time %.12g: the invariants that determine states cannot be fulfilled: they "
                "depend on each other here, or the step is too long", run->time);
    return MDL_FAILED;
}
