// hidden.c: what the laws of ideal diodes demand of the states while certain of them conduct or block together.
//
// Purpose: diodes that conduct together may join capacitors in a loop (a multiplier of several stages), and diodes that block together
//          hold the current of a coil at zero. Their equations then say something about states alone, c(y, t) = 0, and do not say
//          what flows round the loop, or what voltage is at the coil: that follows from der(c) = 0.
// Method: the block of the laws is affine, A u = b(y, t), and A is singular under the present conditions (newton.c finds the rank). With
//         w'A = 0 the hidden equations are c = w'b, and with A k = 0 the solutions are u + sum of z*k. The states' rates are affine in
//         z, and so is der(c) = w'(b_y y' + b_t): measured at z = 0 and at each unit of z, by central differences along the motion,
//         which are exact where b is affine in y and t. der(c) = 0 gives z; where several z do, the smallest one.
//         This is the reduction of the index by one, for the set of laws that are in force, when they are in force (Heemels,
//         Schumacher and Weiland, Linear complementarity systems, SIAM J. Appl. Math. 60 (2000) 1234).
//         Circuits that have nothing to do with each other (components.c) have each its own z, and are measured together.
//         States that have drifted from c = 0 are moved back by what z moves: charges round the loop, or the flux of the coil.
// Contract: point.h. Complexity: nothing where no block of a model with ideal diodes is locked; otherwise three evaluations of the
//           model per null direction of the circuit that has most of them, and three more.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/components.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"

static const double PART = 1e-5;        // of the interval of output: the length of the differences
static const double DEPENDENT = 1e-9;   // pivots below this part of the largest: z that change no hidden equation
static const double FAR = 1e4;           // tolerances that states may be off what is hidden
static const double ROUNDINGS = 100;      // in a difference of residuals
static const double MOVES = 1e-9;       // of the largest change of a rate: none

typedef struct Null {
    Newton *newton;
    double *along, *across; // m: A along = 0, across'A = 0
} Null;

// The null directions first .. first + n - 1, and the states that they have to do with.
typedef struct Circuit {
    uint32_t first, n, states;
    const uint32_t *state;
    double *answers;   // n x n: the matrix of `answer`
    double *moves;     // n x states: what each z does to the rates of the states
    Rank *answer;      // n x n: what each z does to `rate`
} Circuit;

typedef struct Hidden {
    Run *run;
    uint32_t n;
    Null *null;        // those of a circuit side by side
    uint32_t circuits;
    Circuit *circuit;
    double *numbers;   // of the circuits
    double *vectors;   // of the nulls
    double *unknowns;  // of their blocks, once per null
    double *here;      // n: w'r, of which c is minus the value, at the point
    double *side;      // 2n: the same a little before and behind it
    double *rate;      // n: der of it, at z = 0, then its negative
    double *y, *kept;  // nx: the states; rates
    double *plain;     // nx: the rates at z = 0
    double *measured;  // n: der of w'r at another z
    double *z;
} Hidden;

static bool
has_null(const Newton *newton)
{
    return newton && newton->locked && newton->block->linear;
}

bool
hidden_any(const Run *run)
{
    for (uint32_t k = 0; run->hides && k < run->model->n_dynamics; k++)
        if (has_null(run->block[k]))
            return true;
    return false;
}

static void
release(Hidden *hidden)
{
    for (uint32_t c = 0; c < hidden->circuits; c++)
        rank_free(&hidden->circuit[c].answer);
    free(hidden->circuit);
    free(hidden->numbers);
    free(hidden->null);
    free(hidden->vectors);
    free(hidden->here);
}

static bool
allocate(Hidden *hidden)
{
    const mdl_model *model = hidden->run->model;
    size_t size = 0, n = 0, nx = model->nx;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (has_null(hidden->run->block[k])) {
            n += hidden->run->block[k]->locked;
            size += (size_t)3 * hidden->run->block[k]->locked * hidden->run->block[k]->block->m;
        }
    hidden->n = (uint32_t)n;
    if (!n)
        return true;
    hidden->null = calloc(n, sizeof *hidden->null);
    hidden->vectors = calloc(size + 1, sizeof *hidden->vectors);
    double *room = hidden->here = calloc(6 * n + 3 * nx + 1, sizeof *room);
    if (!hidden->null || !hidden->vectors || !room)
        return false;
    hidden->side = room + n;
    hidden->rate = hidden->side + 2 * n;
    hidden->z = hidden->rate + n;
    hidden->measured = hidden->z + n;
    hidden->y = hidden->measured + n;
    hidden->kept = hidden->y + nx;
    hidden->plain = hidden->kept + nx;
    return true;
}

// Room for the answers of the circuits, whose null directions are counted.
static bool
allocate_answers(Hidden *hidden, const Components *components)
{
    size_t size = 0;
    for (uint32_t c = 0; c < hidden->circuits; c++)
        size += (size_t)hidden->circuit[c].n * (hidden->circuit[c].n + hidden->circuit[c].states);
    double *room = hidden->numbers = calloc(size + 1, sizeof *room);
    bool good = room && components;
    for (uint32_t c = 0; c < hidden->circuits && good; c++) {
        Circuit *circuit = &hidden->circuit[c];
        circuit->answers = room;
        circuit->moves = circuit->answers + (size_t)circuit->n * circuit->n;
        room = circuit->moves + (size_t)circuit->n * circuit->states;
        circuit->answer = rank_create(circuit->n, circuit->n);
        good = circuit->answer != NULL;
    }
    return good;
}

static uint32_t
component_of(const Hidden *hidden, const Components *components, const Newton *newton)
{
    const mdl_model *model = hidden->run->model;
    uint32_t place = newton->block->unknown[0];
    bool rate = place >= model->yp && place < model->yp + model->n;
    return components->of[place - (rate ? model->yp : model->y)];
}

// The circuits with locked blocks, in the order of these, and how many null directions each has. `circuit_of` has a place per component.
static bool
find_circuits(Hidden *hidden, const Components *components, uint32_t *circuit_of)
{
    hidden->circuit = calloc((size_t)hidden->n + 1, sizeof *hidden->circuit);
    memset(circuit_of, 0xff, components->n * sizeof *circuit_of);
    for (uint32_t k = 0; k < hidden->run->model->n_dynamics && hidden->circuit; k++) {
        const Newton *newton = hidden->run->block[k];
        if (!has_null(newton))
            continue;
        uint32_t of = component_of(hidden, components, newton);
        if (circuit_of[of] == UINT32_MAX) {
            const uint32_t *start = components->start + of;
            circuit_of[of] = hidden->circuits++;
            hidden->circuit[circuit_of[of]] = (Circuit){.states = start[1] - start[0], .state = components->state + start[0]};
        }
        hidden->circuit[circuit_of[of]].n += newton->locked;
    }
    for (uint32_t c = 1; c < hidden->circuits; c++)
        hidden->circuit[c].first = hidden->circuit[c - 1].first + hidden->circuit[c - 1].n;
    return hidden->circuit != NULL;
}

// The null vectors of all locked blocks. `circuit_of` is what find_circuits() has left. MDL_FAILED: not finite.
MDL_CHECKED static int
find_nulls(Hidden *hidden, const Components *components, const uint32_t *circuit_of)
{
    Run *run = hidden->run;
    double *room = hidden->vectors;
    for (uint32_t c = 0; c < hidden->circuits; c++)
        hidden->circuit[c].n = 0;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        Newton *newton = run->block[k];
        if (!has_null(newton))
            continue;
        Circuit *circuit = &hidden->circuit[circuit_of[component_of(hidden, components, newton)]];
        uint32_t m = newton->block->m;
        mdl_call(newton->block->jacobian, run->v);
        if (!newton_rank(run, newton, 0, m - newton->locked))
            return MDL_FAILED;
        for (uint32_t i = 0; i < newton->locked; i++, room += 2 * (size_t)m) {
            hidden->null[circuit->first + circuit->n++] = (Null){newton, room, room + m};
            rank_kernel(newton->rank, i, room);
            rank_cokernel(newton->rank, i, room + m);
        }
    }
    hidden->unknowns = room;
    return MDL_OK;
}

// All of the structure: circuits and their null vectors.
MDL_CHECKED static int
find_structure(Hidden *hidden)
{
    const Components *components = run_components(hidden->run);
    uint32_t *circuit_of = components ? malloc(((size_t)components->n + 1) * sizeof *circuit_of) : NULL;
    int status = MDL_INTERNAL;
    if (circuit_of && find_circuits(hidden, components, circuit_of) && allocate_answers(hidden, components))
        status = find_nulls(hidden, components, circuit_of);
    free(circuit_of);
    return status;
}

static void
shift(Hidden *hidden, uint32_t k, double z)
{
    const Null *null = &hidden->null[k];
    for (uint32_t i = 0; i < null->newton->block->m; i++)
        hidden->run->v[null->newton->block->unknown[i]] += z * null->along[i];
}

// The unknowns of locked blocks, kept or put back.
static void
copy_unknowns(const Hidden *hidden, bool back)
{
    double *kept = hidden->unknowns;
    for (uint32_t k = 0; k < hidden->n; k++)
        for (uint32_t i = 0; i < hidden->null[k].newton->block->m; i++, kept++) {
            double *at = &hidden->run->v[hidden->null[k].newton->block->unknown[i]];
            if (back)
                *at = *kept;
            else
                *kept = *at;
        }
}

static void
read_defects(const Hidden *hidden, double *out)
{
    for (uint32_t k = 0; k < hidden->n; k++) {
        const mdl_block *block = hidden->null[k].newton->block;
        out[k] = 0;
        for (uint32_t i = 0; i < block->m; i++)
            out[k] += hidden->null[k].across[i] * hidden->run->v[block->residual[i]];
    }
}

// The hidden equations at `time`, a step along the rates in `kept` from the point; the unknowns of locked blocks stay.
MDL_CHECKED static int
look_beside(Hidden *hidden, double time, double step, double *out)
{
    Run *run = hidden->run;
    const mdl_model *model = run->model;
    run->v[0] = time + step;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = hidden->y[i] + step * hidden->kept[i];
    int status = evaluate_held(run);
    read_defects(hidden, out);
    run->v[0] = time;
    memcpy(run->v + model->y, hidden->y, model->nx * sizeof *hidden->y);
    return status;
}

double
hidden_step(const Run *run)
{
    return PART * (run->interval > 0 ? run->interval : 1e-3 * (run->options->stop - run->options->start));
}

// der(w'r) for the unknowns in v into `rate`, the rates of the states into `kept`.
MDL_CHECKED static int
measure(Hidden *hidden, double *rate)
{
    Run *run = hidden->run;
    double time = run->v[0], step = hidden_step(run);
    int status = evaluate_held(run);
    memcpy(hidden->kept, run->v + run->model->yp, run->model->nx * sizeof *hidden->kept);
    if (status == MDL_OK)
        status = look_beside(hidden, time, step, hidden->side);
    if (status == MDL_OK)
        status = look_beside(hidden, time, -step, hidden->side + hidden->n);
    for (uint32_t k = 0; k < hidden->n && status == MDL_OK; k++)
        rate[k] = (hidden->side[k] - hidden->side[hidden->n + k]) / (2 * step);
    return status;
}

// What rounding makes of der(w'r): voltages that nothing holds change no hidden equation, and seem to by so much.
static double
noise_of(const Hidden *hidden, uint32_t i)
{
    const Null *null = &hidden->null[i];
    double terms = 0;
    for (uint32_t r = 0; r < null->newton->block->m; r++)
        terms += fabs(null->across[r]) * null->newton->size[r];
    return ROUNDINGS * DBL_EPSILON * terms / hidden_step(hidden->run);
}

// What the k-th z of each circuit does, from `measured` and `kept`, where all of them were 1.
static void
take_answers(Hidden *hidden, uint32_t k)
{
    for (uint32_t c = 0; c < hidden->circuits; c++) {
        const Circuit *circuit = &hidden->circuit[c];
        uint32_t n = circuit->n, first = circuit->first;
        for (uint32_t i = 0; i < n && k < n; i++) {
            double answer = hidden->measured[first + i] - hidden->rate[first + i];
            circuit->answers[(size_t)k * n + i] = fabs(answer) <= noise_of(hidden, first + i) ? 0 : answer;
        }
        for (uint32_t i = 0; i < circuit->states && k < n; i++)
            circuit->moves[(size_t)k * circuit->states + i] = hidden->kept[circuit->state[i]] - hidden->plain[circuit->state[i]];
    }
}

// What each z does.
MDL_CHECKED static int
measure_answers(Hidden *hidden)
{
    uint32_t nx = hidden->run->model->nx, most = 0;
    int status = measure(hidden, hidden->rate);
    memcpy(hidden->plain, hidden->kept, nx * sizeof *hidden->kept);
    for (uint32_t c = 0; c < hidden->circuits; c++)
        most = hidden->circuit[c].n > most ? hidden->circuit[c].n : most;
    for (uint32_t k = 0; k < most && status == MDL_OK; k++) {
        for (uint32_t c = 0; c < hidden->circuits; c++)
            if (k < hidden->circuit[c].n)
                shift(hidden, hidden->circuit[c].first + k, 1);
        status = measure(hidden, hidden->measured);
        copy_unknowns(hidden, true);
        take_answers(hidden, k);
    }
    memcpy(hidden->kept, hidden->plain, nx * sizeof *hidden->kept);
    return status;
}

MDL_CHECKED static int
factor_answers(Hidden *hidden)
{
    int status = MDL_OK;
    for (uint32_t c = 0; c < hidden->circuits && status == MDL_OK; c++) {
        const Circuit *circuit = &hidden->circuit[c];
        memcpy(rank_matrix(circuit->answer), circuit->answers, (size_t)circuit->n * circuit->n * sizeof *circuit->answers);
        status = rank_factor(circuit->answer, NULL, DEPENDENT, circuit->n) ? MDL_OK : MDL_FAILED;
    }
    return status;
}

// Behind the measurements: the z for which the hidden equations change by -defect; the smallest.
MDL_CHECKED static int
solve(Hidden *hidden, const double *defect)
{
    double *right = hidden->measured;
    for (uint32_t k = 0; k < hidden->n; k++)
        right[k] = -defect[k];
    for (uint32_t c = 0; c < hidden->circuits; c++)
        rank_solve(hidden->circuit[c].answer, right + hidden->circuit[c].first, hidden->z + hidden->circuit[c].first);
    for (uint32_t k = 0; k < hidden->n; k++)
        if (!isfinite(hidden->z[k]))
            return MDL_FAILED;
    return MDL_OK;
}

// Up to the answers, factored. n = 0: nothing is hidden.
MDL_CHECKED static int
prepare(Hidden *hidden, Run *run)
{
    *hidden = (Hidden){.run = run};
    if (!allocate(hidden))
        return MDL_INTERNAL;
    if (!hidden->n)
        return MDL_OK;
    memcpy(hidden->y, run->v + run->model->y, run->model->nx * sizeof *hidden->y);
    int status = find_structure(hidden);
    if (status != MDL_OK)
        return status;
    status = evaluate_held(run);
    copy_unknowns(hidden, false);
    read_defects(hidden, hidden->here);
    if (status == MDL_OK)
        status = measure_answers(hidden);
    return status == MDL_OK ? factor_answers(hidden) : status;
}

// The change of the states that `z` makes, into `kept`; the largest in units of their tolerances is returned.
static double
moves_of(Hidden *hidden)
{
    const Run *run = hidden->run;
    double most = 0;
    memset(hidden->kept, 0, run->model->nx * sizeof *hidden->kept);
    for (uint32_t c = 0; c < hidden->circuits; c++) {
        const Circuit *circuit = &hidden->circuit[c];
        for (uint32_t i = 0; i < circuit->states; i++) {
            uint32_t state = circuit->state[i];
            double change = 0;
            for (uint32_t k = 0; k < circuit->n; k++)
                change += hidden->z[circuit->first + k] * circuit->moves[(size_t)k * circuit->states + i];
            hidden->kept[state] = change;
            most = fmax(most, fabs(change) / (run->tolerance * fabs(hidden->y[state]) + run->abstol[state]));
        }
    }
    return most;
}

// What z leaves of the i-th hidden equation of a circuit is no rounding.
static bool
is_left(const Hidden *hidden, const Circuit *circuit, uint32_t i)
{
    const Null *null = &hidden->null[circuit->first + i];
    double here = hidden->here[circuit->first + i], left = here, terms = 0;
    for (uint32_t k = 0; k < circuit->n; k++)
        left += circuit->answers[(size_t)k * circuit->n + i] * hidden->z[circuit->first + k];
    for (uint32_t r = 0; r < null->newton->block->m; r++)
        terms += fabs(null->across[r]) * null->newton->size[r];
    return !(fabs(left) <= fmax(hidden->run->tolerance * fmax(terms, 1), fabs(here) * 1e-3));
}

// The states are off what is said of them by more than the integration leaves: only impulses could bring them there. Or no state can.
static bool
contradicts(Hidden *hidden)
{
    bool good = solve(hidden, hidden->here) == MDL_OK && moves_of(hidden) <= FAR;
    for (uint32_t c = 0; c < hidden->circuits; c++)
        for (uint32_t i = 0; i < hidden->circuit[c].n && good; i++)
            good = !is_left(hidden, &hidden->circuit[c], i);
    return !good;
}

int
hidden_solve(Run *run, bool report)
{
    Hidden hidden;
    int status = prepare(&hidden, run);
    if (status == MDL_OK && hidden.n && contradicts(&hidden)) {
        copy_unknowns(&hidden, true);
        status = evaluate_held(run) == MDL_INTERNAL ? MDL_INTERNAL : MDL_FAILED;
    }
    if (status == MDL_FAILED && report) {
        char when[64];
        snprintf(when, sizeof when, "at time %.12g", run->v[0]);
        hidden.null[0].newton->trouble = CONTRADICTION;
        newton_report(run, hidden.null[0].newton, when);
    }
    if (status == MDL_OK && hidden.n)
        status = solve(&hidden, hidden.rate);
    if (status == MDL_OK && hidden.n) {
        for (uint32_t k = 0; k < hidden.n; k++)
            shift(&hidden, k, hidden.z[k]);
        status = evaluate_held(run);
    }
    release(&hidden);
    return status;
}

// The largest rate that combinations of z make which no hidden equation sees.
static double
unseen_rate(const Circuit *circuit)
{
    uint32_t open = circuit->n - rank_value(circuit->answer);
    double left = 0, along[circuit->n + 1];
    for (uint32_t k = 0; k < open; k++) {
        rank_kernel(circuit->answer, k, along);
        for (uint32_t i = 0; i < circuit->states; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < circuit->n; j++)
                sum += along[j] * circuit->moves[(size_t)j * circuit->states + i];
            left = fmax(left, fabs(sum));
        }
    }
    return left;
}

// Some combination of z that no hidden equation sees moves the states.
static bool
leaves_motion(Hidden *hidden)
{
    double most = 0, left = 0;
    for (uint32_t c = 0; c < hidden->circuits; c++) {
        const Circuit *circuit = &hidden->circuit[c];
        for (size_t i = 0; i < (size_t)circuit->n * circuit->states; i++)
            most = fmax(most, fabs(circuit->moves[i]));
        left = fmax(left, unseen_rate(circuit));
    }
    return left > MOVES * most;
}

bool
hidden_determines(Run *run)
{
    Hidden hidden;
    bool determines = run->hides && prepare(&hidden, run) == MDL_OK && hidden.n && !leaves_motion(&hidden);
    if (run->hides) {
        release(&hidden);
        determines = evaluate_solved(run, false) == MDL_OK && determines;
    }
    return determines;
}

int
hidden_close(Run *run)
{
    Hidden hidden;
    const mdl_model *model = run->model;
    if (!hidden_any(run))
        return MDL_OK;
    int status = prepare(&hidden, run);
    if (status == MDL_OK)
        status = solve(&hidden, hidden.here);
    double most = status == MDL_OK ? moves_of(&hidden) : 0;
    for (uint32_t i = 0; i < model->nx && most > 0 && most <= FAR; i++)
        run->v[model->y + i] += hidden.kept[i];
    release(&hidden);
    return status == MDL_OK ? evaluate_solved(run, true) : status;
}

int
hidden_gap_rates(Run *run, double *rate)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_sgns, nx = model->nx;
    double time = run->v[0], step = hidden_step(run);
    double *room = malloc((2 * (size_t)nx + model->nv + 1) * sizeof *room), *y = room, *slope = room + nx, *kept = slope + nx;
    int status = room ? MDL_OK : MDL_INTERNAL;
    if (!room)
        return status;
    memcpy(y, run->v + model->y, nx * sizeof *y);
    memcpy(slope, run->v + model->yp, nx * sizeof *slope);
    memcpy(kept, run->v, model->nv * sizeof *kept);
    for (int side = 1; side >= -1 && status == MDL_OK; side -= 2) {
        run->v[0] = time + side * step;
        for (uint32_t i = 0; i < nx; i++)
            run->v[model->y + i] = y[i] + side * step * slope[i];
        status = evaluate_solved(run, false);
        evaluate_outputs(run);
        for (uint32_t k = 0; k < n; k++)
            if (model->sgn[k].unilateral && !model->sgn[k].level)
                rate[k] = side > 0 ? contact_gap(run, k) : (rate[k] - contact_gap(run, k)) / (2 * step);
    }
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(room);
    return status;
}

// Moves the k-th state of each component by a small step, which is left in `step`; all others stand where they were.
static void
move_states(const Run *run, const Components *components, uint32_t k, const double *kept, double *step)
{
    const double part = 10; // tolerances: f is affine in the states as far as the diodes are concerned, but they must not go far
    for (uint32_t c = 0; c < components->n; c++) {
        if (components->start[c] + k >= components->start[c + 1])
            continue;
        uint32_t j = components->state[components->start[c] + k];
        double *y = run->v + run->model->y + j, at = kept[run->model->y + j];
        *y = at + part * (run->tolerance * fabs(at) + run->abstol[j]);
        step[j] = *y - at;
    }
}

bool
hidden_jacobian(Run *run, double cj, const uint32_t *start, const uint32_t *row, double *values)
{
    const mdl_model *model = run->model;
    uint32_t nx = model->nx;
    const Components *components = run_components(run);
    double *kept = malloc((model->nv + 2 * nx + (size_t)1) * sizeof *kept), *slope = kept + model->nv, *step = slope + nx;
    bool good = kept && components;
    if (good) {
        memcpy(kept, run->v, model->nv * sizeof *kept);
        good = evaluate_solved(run, false) == MDL_OK;
        memcpy(slope, run->v + model->yp, nx * sizeof *slope);
    }
    for (uint32_t i = 0; good && i < components->most; i++) {
        memcpy(run->v + model->y, kept + model->y, nx * sizeof *kept);
        move_states(run, components, i, kept, step);
        good = evaluate_solved(run, false) == MDL_OK;
        for (uint32_t c = 0; c < components->n; c++) {
            if (components->start[c] + i >= components->start[c + 1])
                continue;
            uint32_t j = components->state[components->start[c] + i];
            for (uint32_t k = start[j]; k < start[j + 1]; k++)
                values[k] = (row[k] == j ? cj : 0)
                            - (components->of[row[k]] == c ? (run->v[model->yp + row[k]] - slope[row[k]]) / step[j] : 0);
        }
    }
    if (kept)
        memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
    return good;
}
