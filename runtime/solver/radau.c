// radau.c: Radau IIA collocation with 3, 5 and 7 stages: orders 5, 9 and 13, order and step chosen on the way.
//
// Purpose: stiff systems to tolerances of 1e-8 and below, where BDF takes ten to a hundred times more steps.
// Method: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), IV.8, and Stiff differential equations solved by
//         Radau methods, J. Comput. Appl. Math. 111 (1999) 93. The stages' offsets z_i = Y_i - y are solved by simplified Newton
//         iterations, which fall apart into one real system of the size of the model and one complex one for each pair of stages
//         (shifted.c). They begin with the polynomial of the step before. The error estimate is (c - J)^-1 (f(t, y) - u'(t)), u being the
//         collocation polynomial. It is of the order of that polynomial's error, not of the one that the step has at its end; so that rows and
//         events, which read the polynomial, are as exact as the tolerance asks for, it is scaled to what the polynomial is wrong by between
//         the ends (radau_rule.c), and the ends are better. The step follows from it and from the one before (Gustafsson's
//         controller). The order rises where the iteration contracts well and falls where it does not.
//         Matrices are kept while the iteration contracts, factors while the step hardly changes. Invariants: each step ends with the
//         shortest way back, and the polynomial is tilted to end there. Runs of an ensemble are made side by side (radau_lanes.c); a step that an
//         event cuts short is made here.
// Contract: run.h; loops are solved inside f. Complexity: per step three to five iterations of `stages` evaluations each, and of solutions
//         that cost about four times `stages` those of the model's own matrix.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/radau_inner.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

enum { RULES = RADAU_RULES, STAGES = RADAU_STAGES, ITERATIONS = 7, ATTEMPTS = RADAU_ATTEMPTS };
enum { SETTLED = 10 }; // steps of one order before another one is tried

static const double SOLVED = 1e-2;      // of the tolerance: what the iteration may leave
static const double FURTHER = 4;        // steps of the length before: as far as the polynomial goes on
static const double CONTRACTS = 1e-3;   // rate at which the matrix serves for the next step
static const double EASY = 2e-3, HARD = 0.8; // rates at which the order rises and falls
static const double SAME = 1.2;         // factor between steps for which the factors of the first serve, and the order may rise
static const double LOOK_BACK = 1.0 / 3; // of the step
static const double SHORTEST = 0.125, LONGEST = 8; // factors between steps

// --- creation

static bool
allocate(Ode *ode)
{
    size_t n = ode->n;
    double *place = calloc((5 * (size_t)STAGES + 8) * n + 1, sizeof *place);
    if (!place)
        return false;
    ode->own = ode->z = place;
    ode->stride = 1;
    ode->w = ode->z + STAGES * n;
    ode->f = ode->w + STAGES * n;
    ode->past = ode->f + STAGES * n;
    ode->scratch = ode->past + STAGES * n;
    place = ode->scratch + STAGES * n;
    double **parts[] = {&ode->start, &ode->tilt, &ode->y, &ode->slope, &ode->weight, &ode->error, &ode->point, &ode->right};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += n)
        *parts[k] = place;
    return true;
}

MDL_CHECKED static int
create_matrices(Run *run, Ode *ode)
{
    const uint32_t *start, *row;
    const double *values;
    ode->jacobian = jacobian_create_open(run);
    if (!ode->jacobian)
        return MDL_INTERNAL;
    uint32_t size = jacobian_open(ode->jacobian, &start, &row, &values);
    ode->shifted = shifted_create(size, ode->n, start, row, run->options->threads);
    if (!ode->shifted)
        return MDL_INTERNAL;
    run->stats->nonzeros = jacobian_nonzeros(ode->jacobian);
    run->stats->linear_solver = shifted_is_dense(ode->shifted) ? "dense" : "klu";
    return MDL_OK;
}

bool
radau_rules_init(RadauRule *rule)
{
    for (uint32_t k = 0; k < RULES; k++)
        if (!radau_rule_init(&rule[k], 2 * k + 3))
            return false;
    return true;
}

// They stay with the run: where methods take turns this one is created again and again. NULL: out of memory.
static const RadauRule *
make_rules(Run *run)
{
    run->radau_rules = calloc(RULES, sizeof *run->radau_rules);
    return run->radau_rules && radau_rules_init(run->radau_rules) ? run->radau_rules : NULL;
}

MDL_CHECKED static int
radau_create(Run *run)
{
    Ode *ode = calloc(1, sizeof *ode);
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    if (run->modes) {
        run_message(run, MDL_ERROR, "the radau method does not integrate fractional derivatives; --solver=ida and --solver=cvode do");
        return MDL_FAILED;
    }
    ode->n = run_size(run);
    if (run->ensemble && !ensemble_takes(run))
        run->ensemble = NULL;
    run->stats->linear_solver = "none";
    run->strictness = 1;
    if (!allocate(ode))
        return MDL_INTERNAL;
    if (!projection_where_needed(run, &ode->projection))
        return MDL_INTERNAL;
    if (run->ensemble)
        run->ensemble->method->enter(run);
    else
        ode->rule = run->radau_rules ? run->radau_rules : make_rules(run);
    if (!ode->rule)
        return MDL_INTERNAL;
    return ode->n && !run->ensemble ? create_matrices(run, ode) : MDL_OK;
}

static void
radau_free(Run *run)
{
    Ode *ode = run->ode;
    if (!ode)
        return;
    jacobian_free(&ode->jacobian);
    shifted_free(&ode->shifted);
    projection_free(&ode->projection);
    free(ode->own);
    free(ode);
    run->ode = NULL;
}

static void
forget_matrices(Ode *ode)
{
    ode->assembled = ode->current = false;
    ode->factored = 0;
    if (ode->shifted)
        shifted_forget(ode->shifted);
}

MDL_CHECKED static int
radau_start(Run *run)
{
    Ode *ode = run->ode;
    forget_matrices(ode);
    ode->first = true;
    ode->rejected = false;
    ode->length = 0;
    ode->settled = 0;
    ode->step = 0;
    if (ode->projection)
        projection_forget(ode->projection);
    if (run->ensemble)
        ensemble_forget(run);
    return MDL_OK;
}

// The motion goes on as it came: the polynomial of the last step says how.
MDL_CHECKED static int
radau_resume(Run *run)
{
    Ode *ode = run->ode;
    ode->current = false;
    if (ode->projection)
        projection_forget(ode->projection);
    if (run->ensemble)
        ensemble_forget(run);
    return MDL_OK;
}

// --- the state of the run

static void
radau_snapshot(Run *run, Snapshot *snapshot)
{
    Ode *ode = run->ode;
    size_t row = ode->n * sizeof(double);
    double *number[] = {&ode->from, &ode->length, &ode->step, &ode->before, &ode->error_before, &ode->rate, &ode->size};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    uint32_t *count[] = {&ode->order, &ode->past_order, &ode->settled, &ode->iterations};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        snapshot_part(snapshot, count[k], sizeof *count[k]);
    bool *flag[] = {&ode->first, &ode->rejected};
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
        snapshot_part(snapshot, flag[k], sizeof *flag[k]);
    snapshot_part(snapshot, ode->past, STAGES * row);
    snapshot_part(snapshot, ode->start, row);
    snapshot_part(snapshot, ode->tilt, row);
    snapshot_part(snapshot, ode->error, row);
    if (ode->projection)
        projection_snapshot(ode->projection, snapshot);
}

MDL_CHECKED static int
radau_settle(Run *run)
{
    forget_matrices(run->ode);
    return MDL_OK;
}

// --- between steps

// Weights of the offsets of a step at the fraction x of it: of the value, or of its derivative by x.
void
radau_offset_weights(const RadauRule *rule, double x, bool derivative, double *weight)
{
    uint32_t s = rule->stages;
    for (uint32_t j = 0; j < s; j++) {
        double value = x / rule->node[j], rate = 1 / rule->node[j];
        for (uint32_t k = 0; k < s; k++) {
            if (k == j)
                continue;
            double part = 1 / (rule->node[j] - rule->node[k]), factor = (x - rule->node[k]) * part;
            rate = rate * factor + value * part;
            value *= factor;
        }
        weight[j] = derivative ? rate : value;
    }
}

// out := the offset of the last step's polynomial at the fraction x of it, or its derivative by x.
static void
past_offset(const Ode *ode, double x, bool derivative, double *out)
{
    const RadauRule *rule = &ode->rule[ode->past_order];
    double weight[STAGES];
    radau_offset_weights(rule, x, derivative, weight);
    for (uint32_t k = 0; k < ode->n; k++) {
        double sum = (derivative ? 1 : x) * ode->tilt[k];
        for (uint32_t j = 0; j < rule->stages; j++)
            sum += weight[j] * ode->past[((size_t)j * ode->n + k) * ode->stride];
        out[k] = sum;
    }
}

MDL_CHECKED static int
radau_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    if (time == run->time || !(ode->length > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double x = (time - ode->from) / ode->length;
    past_offset(ode, x, false, ode->point);
    past_offset(ode, x, true, ode->right);
    for (uint32_t k = 0; k < ode->n; k++) {
        ode->point[k] += ode->start[k * ode->stride];
        ode->right[k] /= ode->length;
    }
    if (ode->projection)
        (void)projection_between(run, ode->projection, time, ode->point);
    evaluate_load(run, time, ode->point, ode->right);
    return MDL_OK;
}

// --- the stages of one step

// The right side at a point. False: it has none.
static bool
slope_at(Run *run, double time, const double *y, double *slope)
{
    Phase before = profile_enter(run, PHASE_EQUATIONS);
    run->stats->residuals++;
    evaluate_states(run, time, y);
    bool good = evaluate_solved(run, false) == MDL_OK;
    if (good)
        evaluate_slopes(run, y, slope);
    profile_leave(run, before);
    return good && nvector_finite(slope, run->ode->n);
}

// Offsets to begin with: the polynomial of the step before, as far as it goes on; otherwise none.
static void
predict(const Run *run, double h)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    uint32_t n = ode->n;
    bool known = ode->length > 0 && run->time + h - ode->from <= (1 + FURTHER) * ode->length;
    memset(ode->z, 0, (size_t)rule->stages * n * sizeof *ode->z);
    if (!known)
        return;
    // Differences of times are exact, and what is added to them is not lost in the rounding of time.
    double passed = run->time - ode->from;
    past_offset(ode, passed / ode->length, false, ode->point);
    for (uint32_t i = 0; i < rule->stages; i++) {
        double *z = ode->z + (size_t)i * n;
        past_offset(ode, (passed + rule->node[i] * h) / ode->length, false, z);
        nvector_difference(run->options->threads, z, ode->point, z, n);
    }
}

// out := matrix x in, over the stages.
static void
transform(const Ode *ode, const double matrix[STAGES][STAGES], const double *in, double *out)
{
    uint32_t s = ode->rule[ode->order].stages, n = ode->n;
    for (uint32_t i = 0; i < s; i++) {
        double *row = out + (size_t)i * n;
        for (uint32_t k = 0; k < n; k++) {
            double sum = 0;
            for (uint32_t j = 0; j < s; j++)
                sum += matrix[i][j] * in[(size_t)j * n + k];
            row[k] = sum;
        }
    }
}

// The matrix and its factors for the step h. False: singular, or the model has no right side here.
static bool
prepare(Run *run, double h)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    const uint32_t *start, *row;
    const double *values;
    if (!ode->assembled) {
        if (!slope_at(run, run->time, ode->y, ode->point))
            return false;
        Phase before = profile_enter(run, PHASE_PARTIALS);
        run->stats->jacobians++;
        ode->assembled = ode->current = jacobian_assemble(ode->jacobian, run, 0);
        ode->factored = 0;
        profile_leave(run, before);
        if (!ode->assembled)
            return false;
    }
    if (ode->factored == h && ode->factored_order == ode->order)
        return true;
    Phase before = profile_enter(run, PHASE_FACTORS);
    run->stats->factorings += 1 + 4 * (rule->stages / 2); // a complex matrix is as much work as four real ones
    (void)jacobian_open(ode->jacobian, &start, &row, &values);
    bool good = shifted_factor_real(ode->shifted, values, rule->real / h);
    for (uint32_t p = 0; p < rule->stages / 2 && good; p++)
        good = shifted_factor_pair(ode->shifted, p, values, rule->alpha[p] / h, rule->beta[p] / h);
    profile_leave(run, before);
    ode->factored = good ? h : 0;
    ode->factored_order = ode->order;
    return good;
}

// f := T^-1 F - Lambda W/h becomes the correction of W.
static void
solve_blocks(Run *run, double h)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    uint32_t n = ode->n;
    double *w = ode->w, *change = ode->f;
    Phase before = profile_enter(run, PHASE_SOLVES);
    for (uint32_t k = 0; k < n; k++)
        change[k] -= rule->real / h * w[k];
    shifted_solve_real(ode->shifted, change);
    for (uint32_t p = 0; p < rule->stages / 2; p++) {
        size_t a = (size_t)(2 * p + 1) * n, b = a + n;
        double alpha = rule->alpha[p] / h, beta = rule->beta[p] / h;
        for (uint32_t k = 0; k < n; k++) {
            change[a + k] -= alpha * w[a + k] + beta * w[b + k];
            change[b + k] -= alpha * w[b + k] - beta * w[a + k];
        }
        shifted_solve_pair(ode->shifted, p, change + a, change + b);
    }
    profile_leave(run, before);
}

// Root mean square of the corrections of all stages, in units of the tolerance.
static double
size_of(const Ode *ode, const double *change, uint32_t rows)
{
    double sum = 0;
    for (uint32_t i = 0; i < rows; i++)
        sum += nvector_squares(NULL, change + (size_t)i * ode->n, ode->weight, ode->n);
    return sqrt(sum / ((double)rows * ode->n));
}

static bool
evaluate_stages(Run *run, double h)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    for (uint32_t i = 0; i < rule->stages; i++) {
        size_t row = (size_t)i * ode->n;
        for (uint32_t k = 0; k < ode->n; k++)
            ode->point[k] = ode->y[k] + ode->z[row + k];
        if (!slope_at(run, run->time + rule->node[i] * h, ode->point, ode->f + row))
            return false;
    }
    return true;
}

void
radau_iteration_begin(const Run *run, RadauIteration *it, uint32_t stages)
{
    *it = (RadauIteration){.most = ITERATIONS + (stages - 3) * 5 / 2, .goal = fmax(SOLVED, 10 * DBL_EPSILON / run->tolerance), .factor = 0.5};
}

RadauOutcome
radau_iteration_judge(RadauIteration *it, double size)
{
    double left = size;
    it->count++;
    if (!isfinite(size))
        return RADAU_FAILED;
    if (it->count > 1) {
        double rate = size / it->before;
        it->rate = it->count == 2 ? rate : sqrt(rate * it->rate_before);
        it->rate_before = rate;
        // What is rounding does not become smaller.
        if (it->rate >= 0.99 && size > it->goal)
            return RADAU_FAILED;
        left = it->rate < 0.99 ? size * it->rate / (1 - it->rate) : size;
        double at_end = left * pow(fmin(it->rate, 0.99), (double)(it->most - 1 - it->count)) / it->goal;
        if (left > it->goal && at_end >= 1) {
            it->factor = 0.8 * pow(fmin(fmax(at_end, 1e-4), 20), -1.0 / (4 + (double)(it->most - 1 - it->count)));
            return RADAU_SLOW;
        }
    }
    if (left <= it->goal)
        return RADAU_GOOD;
    it->before = fmax(size, DBL_MIN);
    return it->count < it->most ? RADAU_GOES_ON : RADAU_FAILED;
}

// Newton's iteration for the step h. RADAU_SLOW: it would end too late; *factor is then by what the step should change.
static RadauOutcome
iterate(Run *run, double h, double *factor)
{
    Ode *ode = run->ode;
    double *scratch = ode->scratch;
    const RadauRule *rule = &ode->rule[ode->order];
    uint32_t s = rule->stages, n = ode->n;
    RadauIteration it;
    RadauOutcome outcome = RADAU_GOES_ON;
    radau_iteration_begin(run, &it, s);
    predict(run, h);
    transform(ode, rule->to, ode->z, ode->w);
    while (outcome == RADAU_GOES_ON) {
        if (!evaluate_stages(run, h)) {
            outcome = RADAU_FAILED;
            break;
        }
        memcpy(scratch, ode->f, (size_t)s * n * sizeof *scratch);
        transform(ode, rule->to, scratch, ode->f);
        solve_blocks(run, h);
        for (size_t k = 0; k < (size_t)s * n; k++)
            ode->w[k] += ode->f[k];
        transform(ode, rule->from, ode->f, scratch);
        for (size_t k = 0; k < (size_t)s * n; k++)
            ode->z[k] += scratch[k];
        outcome = radau_iteration_judge(&it, size_of(ode, scratch, s));
    }
    ode->rate = it.rate;
    ode->iterations = it.count;
    *factor = it.factor;
    return outcome;
}

// --- one step

// (c - J)^-1 (slope - u'(t)), in units of the tolerance for values within the step.
static double
filtered_error(Run *run, double h, const double *slope)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    for (uint32_t k = 0; k < ode->n; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < rule->stages; i++)
            sum += rule->rate[i] * ode->z[(size_t)i * ode->n + k];
        ode->error[k] = slope[k] - sum / h;
    }
    shifted_solve_real(ode->shifted, ode->error);
    return fmax(rule->between * size_of(ode, ode->error, 1), 1e-10);
}

// The point of the step before that is nearest to a third of the step h before its beginning, in units of h; *there: as a fraction of the
// step before.
double
radau_point_before(const Run *run, double h, double *there)
{
    const Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->past_order];
    double best = (ode->from - run->time) / h;
    *there = 0;
    for (uint32_t i = 0; i + 1 < rule->stages; i++) {
        double x = (ode->from - run->time + rule->node[i] * ode->length) / h;
        if (x < 0 && fabs(x + LOOK_BACK) < fabs(best + LOOK_BACK)) {
            best = x;
            *there = rule->node[i];
        }
    }
    return best;
}

// What the polynomial is wrong by between the stages, whatever the slopes are there: a component that follows its equilibrium at once is right
// at the stages, and the filtered estimate says no more. A stage of the step before tells, and in the first step the slope at the beginning.
static double
error_between(Run *run, double h)
{
    Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->order];
    double weight[STAGES], there, factor;
    if (ode->length > 0) {
        double x = radau_point_before(run, h, &there);
        factor = rule->bulge / fabs(radau_rule_product(rule, x));
        radau_offset_weights(rule, x, false, weight);
        past_offset(ode, there, false, ode->right);
        past_offset(ode, (run->time - ode->from) / ode->length, false, ode->point);
        nvector_difference(run->options->threads, ode->right, ode->point, ode->right, ode->n);
    } else {
        factor = rule->bulge / radau_rule_beginning(rule);
        memcpy(weight, rule->rate, sizeof weight);
        for (uint32_t k = 0; k < ode->n; k++)
            ode->right[k] = h * ode->slope[k];
    }
    for (uint32_t k = 0; k < ode->n; k++) {
        for (uint32_t i = 0; i < rule->stages; i++)
            ode->right[k] -= weight[i] * ode->z[(size_t)i * ode->n + k];
        ode->right[k] *= factor;
    }
    return size_of(ode, ode->right, 1);
}

// Where a stiff component is far from its equilibrium the first estimate is too large; a second one, from the point it leads to, is not.
static double
estimate(Run *run, double h)
{
    Ode *ode = run->ode;
    double size = filtered_error(run, h, ode->slope), between = error_between(run, h);
    if (size < 1 || !(ode->first || ode->rejected))
        return fmax(size, between);
    for (uint32_t k = 0; k < ode->n; k++)
        ode->point[k] = ode->y[k] + ode->error[k];
    if (slope_at(run, run->time, ode->point, ode->right))
        size = filtered_error(run, h, ode->right);
    return fmax(size, between);
}

void
radau_begin(Run *run)
{
    Ode *ode = run->ode;
    memcpy(ode->y, run->y, ode->n * sizeof *ode->y);
    memcpy(ode->slope, run->yp, ode->n * sizeof *ode->slope);
    nvector_weights(run->options->threads, ode->y, run->strictness, run->tolerance, run->abstol, ode->weight, ode->n);
    if (ode->projection)
        projection_weights(run, ode->projection, NULL, ode->weight);
}

static double
longest_step(const Run *run)
{
    double most = run->options->stop - run->options->start;
    return run->options->max_step > 0 ? fmin(most, run->options->max_step) : most;
}

// A step in which the states move by about one tolerance^(1/4) of what counts, as far as their slopes say.
double
radau_first_guess(const Run *run)
{
    const Ode *ode = run->ode;
    double speed = size_of(ode, ode->slope, 1), most = longest_step(run);
    return speed > 0 ? fmin(pow(run->tolerance, -0.75) / speed, 1e-2 * most) : 1e-3 * most;
}

// Another order for the next step, which is `ratio` times as long.
void
radau_choose_order(Ode *ode, double ratio, bool failed)
{
    uint32_t before = ode->order;
    if (ode->stands)
        return;
    if (failed || (ode->rate >= HARD && ode->settled > 1))
        ode->order -= ode->order > 0;
    else if (ode->settled > SETTLED && ode->rate <= EASY && ode->iterations > 1 && ratio < SAME && ratio > 1 / SAME)
        ode->order += ode->order + 1 < RULES;
    if (ode->order != before)
        ode->settled = 0;
}

// The length of the next step by this one's error, its iterations and the step before.
double
radau_next_step(const Ode *ode, double h)
{
    const RadauRule *rule = &ode->rule[ode->order];
    double most = ITERATIONS + (rule->stages - 3) * 2.5, power = 1.0 / (rule->stages + 1);
    double safety = fmin(0.9, 0.9 * (2 * most + 1) / (2 * most + ode->iterations));
    double shorter = fmin(fmax(pow(ode->size, power) / safety, 1 / LONGEST), 1 / SHORTEST);
    if (!ode->first && ode->size < 1 && ode->before > 0) {
        double predicted = ode->before / h * pow(ode->size * ode->size / ode->error_before, power) / 0.9;
        shorter = fmax(shorter, fmin(fmax(predicted, 1 / LONGEST), 1 / SHORTEST));
    }
    return h / shorter;
}

MDL_CHECKED static int
report_step(Run *run, double h)
{
    if (shifted_starved(run->ode->shifted))
        return MDL_INTERNAL;
    if (pace_explain(run))
        return MDL_FAILED;
    run_message(run, MDL_ERROR, "at time %.12g: the radau method could not take a step (%.3g)\nthe model is nearly singular or jumps here; "
                "another method may get on: --solver=ida", run->time, h);
    return MDL_FAILED;
}

// What a step that was accepted leaves for the next one.
void
radau_plan(Run *run, double h, bool cut, double wanted)
{
    Ode *ode = run->ode;
    double next = radau_next_step(ode, h), ratio = next / h;
    if (ode->rejected)
        next = fmin(next, h);
    ode->settled++;
    radau_choose_order(ode, ratio, false);
    ode->before = h;
    ode->error_before = fmax(1e-2, ode->size);
    ode->first = ode->rejected = false;
    // A step that was cut short says little about longer ones.
    if (cut)
        next = fmax(next, fmin(wanted, next * LONGEST));
    ode->assembled = ode->assembled && ode->rate <= CONTRACTS && ode->iterations > 1;
    ode->current = false;
    bool same = ode->assembled && ode->factored == h && ode->factored_order == ode->order && next >= h && next <= SAME * h && !cut;
    ode->step = fmin(same ? h : next, longest_step(run));
}

double
radau_length(const Run *run, double limit, double wanted)
{
    double left = limit - run->time;
    // Exactly what time moves by: the polynomial is read by time.
    return wanted * 1.0001 >= left ? left : run->time + (2 * wanted > left ? left / 2 : wanted) - run->time;
}

// The offsets of a step of at most `limit - time`, which control their error. *h: its length.
MDL_CHECKED static int
take_step(Run *run, double limit, double *h)
{
    Ode *ode = run->ode;
    double least = 16 * DBL_EPSILON * fmax(fabs(run->time), fabs(limit));
    double wanted = ode->step > 0 ? ode->step : radau_first_guess(run);
    for (int k = 0; k < ATTEMPTS; k++) {
        double factor = 0.5;
        *h = radau_length(run, limit, wanted);
        if (!(*h > least))
            break;
        RadauOutcome outcome = prepare(run, *h) ? iterate(run, *h, &factor) : RADAU_FAILED;
        if (outcome == RADAU_GOOD) {
            ode->size = estimate(run, *h);
            ode->taken = ode->order;
            if (ode->size < 1) {
                radau_plan(run, *h, *h < 0.999 * wanted, wanted);
                return MDL_OK;
            }
            run->stats->error_failures++;
            wanted = ode->first ? 0.1 * *h : radau_next_step(ode, *h);
        } else {
            run->stats->newton_failures++;
            wanted = factor * *h;
            if (outcome == RADAU_FAILED || ode->settled > 0)
                radau_choose_order(ode, 1, true);
        }
        ode->assembled = ode->assembled && ode->current;
        ode->rejected = true;
    }
    return report_step(run, *h);
}

// The end of the step, on the invariants, and what interpolation needs of it.
MDL_CHECKED static int
accept(Run *run, double limit, double h, uint32_t order)
{
    Ode *ode = run->ode;
    uint32_t n = ode->n, s = ode->rule[order].stages;
    const double *end = ode->z + (size_t)(s - 1) * n;
    bool whole = h >= limit - run->time;
    for (size_t k = 0; k < (size_t)s * n; k++)
        ode->past[k * ode->stride] = ode->z[k];
    for (uint32_t k = 0; k < n; k++)
        ode->start[k * ode->stride] = ode->y[k];
    ode->errors = NULL;
    ode->past_order = order;
    ode->from = run->time;
    ode->length = h;
    run->time = whole ? limit : run->time + h;
    for (uint32_t k = 0; k < n; k++)
        run->y[k] = ode->y[k] + end[k];
    if (ode->projection && !projection_apply(run, ode->projection, run->time, run->y))
        return projection_report(run);
    if (run->contest.open && ode->projection && contest_nears_singular(run, ode->projection, run->y))
        return RUN_NEARS_SINGULAR;
    if (!run->contest.open && ode->projection)
        projection_warn(run, ode->projection, run->y);
    for (uint32_t k = 0; k < n; k++)
        ode->tilt[k] = run->y[k] - ode->y[k] - end[k];
    return evaluate_reached(run, run->y);
}

MDL_CHECKED static int
radau_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    double h = 0;
    run->stats->steps++;
    if (!ode->n || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        if (run->ensemble)
            ensemble_forget(run);
        return MDL_OK;
    }
    int status;
    if (run->ensemble && run->ensemble->method->step(run, limit, &status))
        return status;
    status = ode->jacobian ? MDL_OK : create_matrices(run, ode);
    if (status != MDL_OK)
        return status;
    if (run->ensemble)
        forget_matrices(ode);
    radau_begin(run);
    status = take_step(run, limit, &h);
    return status == MDL_OK ? accept(run, limit, h, ode->taken) : status;
}

static void
radau_stats(Run *run)
{
    (void)run;
}

static int
radau_judge(Run *run, double *error)
{
    const Ode *ode = run->ode;
    const RadauRule *rule = &ode->rule[ode->past_order];
    if (!ode->n || !(ode->length > 0))
        return -1;
    for (uint32_t k = 0; k < ode->n; k++)
        error[k] = rule->between * (ode->errors ? ode->errors[k * ode->stride] : ode->error[k]) * ode->weight[k];
    return (int)(2 * rule->stages - 1);
}

const Stepper radau_stepper = {.name = "radau", .create = radau_create, .free = radau_free, .start = radau_start,
                               .resume = radau_resume, .step = radau_step, .interpolate = radau_interpolate, .stats = radau_stats,
                               .judge = radau_judge, .snapshot = radau_snapshot, .settle = radau_settle};
