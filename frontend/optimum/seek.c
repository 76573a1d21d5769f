// seek.c: searches for the least value of an objective under constraints.
//
// Purpose: design. Method: NLopt. Where runs have derivatives (exact ones, through events), sequential quadratic programming: D. Kraft, Algorithm
// 733, ACM Trans. Math. Softw. 20 (1994) 262. Where they have none, and behind it where the objective has corners (the largest value of a motion
// is another one from some point on), linear models on simplices: M. J. D. Powell, COBYLA (1994), or, without constraints, quadratic ones:
// M. J. D. Powell, BOBYQA (2009). Quantities are scaled by their bounds, those over several powers of ten by the logarithm; goals by their size at
// the start. A run that fails has a value above all others, so that each method comes back. Of all points the best one counts, not the last.
// Contract: seek.h, optimum.h. Complexity: runs; a run with derivatives costs as many more as there are quantities.
#include "frontend/optimum/seek.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double CLOSE_WITH_SLOPES = 1e-9, CLOSE_WITHOUT = 1e-6; // relative, of quantities between bounds
static const double LEVEL_WITH_SLOPES = 1e-10;                      // of the objective
static const double SAME = 1e-5;                                    // searches that came to the same value
static const double WIDE = 100;                                     // bounds apart by more are those of a logarithm

enum { FAILURES_MOST = 8 }; // more than runs that succeeded, until a method that relies on slopes gives up

// --- quantities

static void
scale_quantity(Seeking *s, uint32_t k)
{
    const FreeQuantity *q = &s->request->free->at[k];
    bool both = isfinite(q->low) && isfinite(q->high);
    s->z_low[k] = both ? 0 : -INFINITY;
    s->z_high[k] = both ? 1 : INFINITY;
    s->low[k] = both ? q->low : 0;
    if (both && q->low > 0 && q->high > WIDE * q->low) {
        s->width[k] = -log(q->high / q->low);
    } else if (both) {
        s->width[k] = q->high - q->low;
    } else {
        s->width[k] = q->start != 0 ? fabs(q->start) : 1;
        s->z_low[k] = q->low / s->width[k];
        s->z_high[k] = q->high / s->width[k];
    }
}

static double
quantity_at(const Seeking *s, uint32_t k, double z)
{
    const FreeQuantity *q = &s->request->free->at[k];
    double x = s->width[k] < 0 ? s->low[k] * exp(-s->width[k] * z) : s->low[k] + s->width[k] * z;
    return z <= s->z_low[k] ? q->low : z >= s->z_high[k] ? q->high : fmin(fmax(x, q->low), q->high);
}

static double
scaled(const Seeking *s, uint32_t k, double x)
{
    double z = s->width[k] < 0 ? log(x / s->low[k]) / -s->width[k] : (x - s->low[k]) / s->width[k];
    return fmin(fmax(z, s->z_low[k]), s->z_high[k]);
}

// dx/dz
static double
stretch(const Seeking *s, uint32_t k)
{
    return s->width[k] < 0 ? -s->width[k] * s->x[k] : s->width[k];
}

// --- runs

static void
note_run(Seeking *s, bool good, double worst)
{
    uint32_t goals = s->request->goals;
    OptimumRun run = {.value = arena_array(s->arena, double, goals), .worst = worst, .good = good};
    for (uint32_t g = 0; g < goals; g++)
        run.value[g] = good ? s->step[s->request->goal[g].root] : NAN;
    vec_push(&s->optima->history, run);
}

// One run, from the record where it has it. False: it failed.
static bool
make_run(Seeking *s, bool derivatives)
{
    Outcome *o = s->request->outcome;
    Optima *optima = s->optima;
    Out why = {0};
    bool good;
    if (s->record && recorded_find(s->record, s->x, derivatives, &good, o->output, o->slope, o->trial.said, sizeof o->trial.said)) {
        optima->replayed++;
    } else {
        good = outcome_run(o, s->x, derivatives);
        if (!good && o->trial.options.interrupt && *o->trial.options.interrupt) {
            s->stop = SEARCH_INTERRUPTED;
            return false;
        }
        if (s->record && !recorded_put(s->record, s->x, derivatives, good, o->output, o->slope, o->trial.said, &why))
            fprintf(stderr, "mdlc: %s", why.text);
    }
    out_free(&why);
    optima->runs++;
    optima->failed += !good;
    if (!good)
        snprintf(optima->said, sizeof optima->said, "%s", o->trial.said);
    return good;
}

// Values of goals over their sizes; false: one of them is no number.
static bool
take_values(Seeking *s, bool derivatives)
{
    const OptimumRequest *request = s->request;
    const FormulaSteps *steps = &request->reader->steps;
    uint32_t n = s->n;
    bool good = true;
    formula_evaluate(steps, n, s->x, request->outcome->output, request->outcome->slope, s->step, derivatives ? s->derivative : NULL);
    for (uint32_t g = 0; g < request->goals; g++) {
        const Goal *goal = &request->goal[g];
        double part = (goal->kind == GOAL_MOST ? -1 : 1) / s->size[g];
        s->value[g] = part * s->step[goal->root];
        good = good && isfinite(s->value[g]);
        for (uint32_t k = 0; k < n && derivatives; k++) {
            double slope = s->derivative[(size_t)goal->root * n + k];
            s->slope[(size_t)g * n + k] = part * slope * stretch(s, k);
            good = good && isfinite(slope);
            s->optima->effect[k] = s->optima->effect[k] || slope != 0;
        }
    }
    return good;
}

static double
aim_value(const Seeking *s, const Aim *aim)
{
    double value = aim->offset;
    for (uint32_t k = 0; k < s->request->objectives; k++)
        value += aim->weight[k] != 0 ? aim->weight[k] * s->value[k] : 0;
    return value;
}

// How far constraints of the request are missed, in parts of their sizes, from the values of all steps.
static double
missed(const Seeking *s, const double *step)
{
    double worst = -INFINITY;
    for (uint32_t g = s->request->objectives; g < s->request->goals; g++) {
        const Goal *goal = &s->request->goal[g];
        worst = fmax(worst, (goal->kind == GOAL_EQUAL ? fabs(step[goal->root]) : step[goal->root]) / s->size[g]);
    }
    return worst;
}

static void
keep_best(Seeking *s)
{
    double worst = fmax(fmax(missed(s, s->step), s->limited ? aim_value(s, &s->limit) : -INFINITY), OPTIMUM_MISS), value = aim_value(s, &s->aim);
    bool better = !s->found || worst < s->best_worst || (worst == s->best_worst && value < s->best);
    if (!better)
        return;
    s->found = true;
    s->best = value;
    s->best_worst = worst;
    memcpy(s->best_z, s->z, s->n * sizeof *s->best_z);
    memcpy(s->best_step, s->step, s->request->reader->steps.n * sizeof *s->step);
}

static void
stop_search(Seeking *s)
{
    if (s->problem)
        s->nlopt.force_stop(s->problem);
}

bool
seek_may(Seeking *s)
{
    const volatile sig_atomic_t *interrupt = s->request->outcome->trial.options.interrupt;
    if (interrupt && *interrupt)
        s->stop = SEARCH_INTERRUPTED;
    else if (s->optima->runs >= s->request->runs_most)
        s->stop = SEARCH_LIMIT;
    return s->stop == SEARCH_FOUND;
}

// A run with derivatives that has none may yet be a run.
static bool
run_or_lose(Seeking *s, bool derivatives)
{
    bool good = make_run(s, derivatives);
    if (good || !derivatives || s->stop == SEARCH_INTERRUPTED)
        return good && take_values(s, derivatives);
    char said[sizeof s->optima->said];
    memcpy(said, s->optima->said, sizeof said);
    if (!make_run(s, false) || !take_values(s, false))
        return false;
    s->optima->failed--; // the run without derivatives is the same one
    s->lost = true;
    snprintf(s->optima->reason, sizeof s->optima->reason, "%s", said);
    return true;
}

// The goals at z, unless they are there. False: no run, or none with derivatives.
static bool
evaluate_trial(Seeking *s, const double *z, bool derivatives)
{
    if (s->known && !memcmp(z, s->z, s->n * sizeof *z) && (s->sloped || !derivatives || !s->good))
        return s->good;
    if (!seek_may(s)) {
        stop_search(s);
        return false;
    }
    memcpy(s->z, z, s->n * sizeof *z);
    for (uint32_t k = 0; k < s->n; k++)
        s->x[k] = quantity_at(s, k, z[k]);
    s->good = run_or_lose(s, derivatives);
    s->known = s->stop != SEARCH_INTERRUPTED;
    s->sloped = derivatives && !s->lost;
    if (!s->known)
        return false;
    note_run(s, s->good, s->good ? missed(s, s->step) : NAN);
    if (s->good) {
        s->ceiling = fmax(s->ceiling, aim_value(s, &s->aim));
        keep_best(s);
    }
    s->failures = !s->good ? s->failures + 1 : s->failures ? s->failures - 1 : 0;
    if (derivatives && (s->lost || s->failures > FAILURES_MOST))
        stop_search(s);
    return s->good && (s->sloped || !derivatives);
}

// --- NLopt's questions

typedef struct Question {
    Seeking *seeking;
    uint32_t goal;      // of a constraint; `goals`: the limit of the search
    double last;        // what it had where there was a run
} Question;

static void
put_slope(const Seeking *s, const Aim *aim, double *slope)
{
    for (uint32_t k = 0; k < s->n; k++) {
        slope[k] = 0;
        for (uint32_t g = 0; g < s->request->objectives; g++)
            slope[k] += aim->weight[g] * s->slope[(size_t)g * s->n + k];
    }
}

static double
objective(unsigned n, const double *z, double *slope, void *user)
{
    Seeking *s = user;
    if (evaluate_trial(s, z, slope != NULL)) {
        if (slope)
            put_slope(s, &s->aim, slope);
        return aim_value(s, &s->aim);
    }
    if (slope)
        memset(slope, 0, n * sizeof *slope);
    return isfinite(s->ceiling) ? s->ceiling + fabs(s->ceiling) + 1 : 1;
}

static double
constraint(unsigned n, const double *z, double *slope, void *user)
{
    Question *q = user;
    Seeking *s = q->seeking;
    bool good = evaluate_trial(s, z, slope != NULL), own = q->goal == s->request->goals;
    if (good)
        q->last = own ? aim_value(s, &s->limit) : s->value[q->goal];
    if (slope && good && own)
        put_slope(s, &s->limit, slope);
    else if (slope && good)
        memcpy(slope, s->slope + (size_t)q->goal * n, n * sizeof *slope);
    else if (slope)
        memset(slope, 0, n * sizeof *slope);
    return q->last;
}

// --- a search

static bool
pose(Seeking *s, const char *method, bool slopes, double step, Question *question)
{
    const Nlopt *l = &s->nlopt;
    const OptimumRequest *request = s->request;
    uint32_t questions = 0;
    s->problem = l->create(l->algorithm_from_string(method), s->n);
    if (!s->problem)
        return false;
    bool good = l->set_min_objective(s->problem, objective, s) > 0 && l->set_lower_bounds(s->problem, s->z_low) > 0
        && l->set_upper_bounds(s->problem, s->z_high) > 0 && l->set_xtol_rel(s->problem, slopes ? CLOSE_WITH_SLOPES : CLOSE_WITHOUT) > 0
        && (!slopes || l->set_ftol_rel(s->problem, LEVEL_WITH_SLOPES) > 0) && (step <= 0 || l->set_initial_step1(s->problem, step) > 0);
    for (uint32_t g = request->objectives; g < request->goals + s->limited && good; g++) {
        Question *q = &question[questions++];
        *q = (Question){.seeking = s, .goal = g};
        bool equal = g < request->goals && request->goal[g].kind == GOAL_EQUAL;
        good = (equal ? l->add_equality_constraint : l->add_inequality_constraint)(s->problem, constraint, q, 0.01 * OPTIMUM_MISS) > 0;
    }
    return good;
}

// What the method says; a positive number: it came to its end.
static int
search(Seeking *s, const char *method, bool slopes, double step, double *z)
{
    uint32_t questions = s->request->goals - s->request->objectives + s->limited;
    Question *question = arena_array(s->arena, Question, questions + 1);
    double value;
    int said = pose(s, method, slopes, step, question) ? s->nlopt.optimize(s->problem, z, &value) : -1;
    if (s->problem)
        s->nlopt.destroy(s->problem);
    s->problem = NULL;
    return said;
}

static const char *
free_of_slopes(const Seeking *s)
{
    bool constrained = s->request->goals > s->request->objectives || s->limited;
    return constrained || s->n < 2 ? "LN_COBYLA" : "LN_BOBYQA";
}

// The values of the goals, from those of all steps.
static void
take_goals(const Seeking *s, const double *step, Optimum *result)
{
    const OptimumRequest *request = s->request;
    for (uint32_t g = 0; g < request->goals; g++) {
        const Goal *goal = &request->goal[g];
        result->value[g] = step[goal->root];
        result->left[g] = step[goal->sides[0]];
        result->right[g] = step[goal->sides[1]];
    }
    result->worst = missed(s, step);
}

static double
step_without_slopes(const Seeking *s, bool closer)
{
    double step = closer ? 0.01 : 0.15;
    for (uint32_t k = 0; k < s->n; k++)
        if (isfinite(s->z_high[k] - s->z_low[k]))
            step = fmin(step, 0.5 * (s->z_high[k] - s->z_low[k]));
    return step;
}

void
seek(Seeking *s, const double *x, const Aim *aim, const Aim *limit, Optimum *result)
{
    double *z = arena_array(s->arena, double, s->n + 1);
    s->aim = *aim;
    s->limited = limit != NULL;
    s->limit = limit ? *limit : (Aim){0};
    s->found = false;
    s->failures = 0;
    s->ceiling = -INFINITY;
    s->stop = SEARCH_FOUND;
    int said = 1;
    bool slopes = s->optima->gradients && !s->lost;
    for (uint32_t k = 0; k < s->n; k++)
        z[k] = scaled(s, k, x[k]);
    if (s->known && s->good && !memcmp(z, s->z, s->n * sizeof *z)) {
        s->ceiling = aim_value(s, &s->aim);
        keep_best(s);
    }
    if (slopes)
        said = search(s, "LD_SLSQP", true, 0, z);
    // Corners, a run without derivatives, and a place from which the constraints cannot be met along straight lines.
    bool again = !slopes || s->lost || s->corners || said < 0 || (s->found && s->best_worst > OPTIMUM_MISS);
    if (again && seek_may(s)) {
        bool closer = slopes && s->found && !s->lost && s->best_worst <= OPTIMUM_MISS;
        if (s->found)
            memcpy(z, s->best_z, s->n * sizeof *z);
        said = search(s, free_of_slopes(s), false, step_without_slopes(s, closer), z);
    }
    result->end = s->stop != SEARCH_FOUND ? s->stop : said > 0 || said == NLOPT_ROUNDOFF ? SEARCH_FOUND : SEARCH_STUCK;
    if (!s->found) {
        result->end = s->stop == SEARCH_INTERRUPTED ? SEARCH_INTERRUPTED : SEARCH_NO_START;
        return;
    }
    for (uint32_t k = 0; k < s->n; k++)
        result->x[k] = quantity_at(s, k, s->best_z[k]);
    take_goals(s, s->best_step, result);
}

// --- all of it

Optimum
optimum_create(const OptimumRequest *request, Arena *arena)
{
    uint32_t n = request->free->n, goals = request->goals;
    return (Optimum){.x = arena_array(arena, double, n + 1), .value = arena_array(arena, double, goals + 1),
                     .left = arena_array(arena, double, goals + 1), .right = arena_array(arena, double, goals + 1),
                     .worst = NAN, .end = SEARCH_NO_START};
}

static void
allocate(Seeking *s)
{
    uint32_t n = s->n, goals = s->request->goals, steps = s->request->reader->steps.n;
    Arena *a = s->arena;
    double **of_n[] = {&s->low, &s->width, &s->z_low, &s->z_high, &s->z, &s->x, &s->best_z};
    for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
        *of_n[i] = arena_array(a, double, n + 1);
    s->size = arena_array(a, double, goals + 1);
    s->value = arena_array(a, double, goals + 1);
    s->slope = arena_array(a, double, (size_t)goals * n + 1);
    s->step = arena_array(a, double, steps + 1);
    s->best_step = arena_array(a, double, steps + 1);
    s->derivative = arena_array(a, double, (size_t)steps * n + 1);
    s->optima->effect = arena_array(a, bool, n + 1);
}

// The first run says how large goals are, and whether there are derivatives.
static int
look_at_start(Seeking *s, Out *why)
{
    const OptimumRequest *request = s->request;
    Optima *optima = s->optima;
    for (uint32_t k = 0; k < s->n; k++) {
        scale_quantity(s, k);
        s->x[k] = request->free->at[k].start;
        s->best_z[k] = s->z[k] = scaled(s, k, s->x[k]);
    }
    for (uint32_t g = 0; g < request->goals; g++)
        s->size[g] = 1;
    s->good = run_or_lose(s, true);
    optima->gradients = s->good && !s->lost;
    memcpy(optima->begin.x, s->x, s->n * sizeof *s->x);
    if (s->stop == SEARCH_INTERRUPTED) {
        out_text(why, "interrupted before a run had come to its end\n");
        return 130;
    }
    if (!s->good && request->starts == 1) {
        out_printf(why, *optima->said ? "the run where the search begins fails: %s\n" : "a goal has no finite value where the search begins\n%s", optima->said);
        return 3;
    }
    for (uint32_t g = 0; g < request->goals && s->good; g++) {
        const Goal *goal = &request->goal[g];
        bool sided = goal->kind == GOAL_BELOW || goal->kind == GOAL_EQUAL;
        double size = sided ? fmax(fabs(s->step[goal->sides[0]]), fabs(s->step[goal->sides[1]])) : fabs(s->step[goal->root]);
        s->size[g] = size > 0 ? size : 1;
    }
    if (!s->good)
        return 0;
    take_values(s, optima->gradients);
    note_run(s, true, missed(s, s->step));
    s->known = true;
    s->sloped = optima->gradients;
    take_goals(s, s->step, &optima->begin);
    optima->begin.end = SEARCH_FOUND;
    if (s->record && recorded_differs(s->record, s->x, optima->gradients, true, request->outcome->output)) {
        out_printf(why, "%s has runs of another model, or of other options: the run where the search begins now has other outputs\n"
                        "help: another name begins another record\n", request->record);
        return 2;
    }
    return 0;
}

static int
seek_open(Seeking *s, const OptimumRequest *request, Arena *arena, Optima *optima, Out *why)
{
    *s = (Seeking){.request = request, .optima = optima, .arena = arena, .n = request->free->n};
    if (!nlopt_open(&s->nlopt, request->library, why))
        return 5;
    if (request->record && !(s->record = recorded_open(request->record, request, why)))
        return 5;
    s->corners = request->outcome->corners || formula_has_corners(&request->reader->steps);
    optima->begin = optimum_create(request, arena);
    allocate(s);
    return look_at_start(s, why);
}

static void
seek_close(Seeking *s)
{
    recorded_close(s->record);
    nlopt_close(&s->nlopt);
}

// Better of two results: one that meets the constraints, then the one with the smaller objective.
static bool
is_better(const Goal *goal, const Optimum *a, const Optimum *b)
{
    bool fine = a->worst <= OPTIMUM_MISS, other = b->worst <= OPTIMUM_MISS;
    if (b->end == SEARCH_NO_START || fine != other)
        return b->end == SEARCH_NO_START || fine;
    if (!fine)
        return a->worst < b->worst;
    return goal->kind == GOAL_MOST ? a->value[0] > b->value[0] : a->value[0] < b->value[0];
}

static int
find_one(Seeking *s, Out *why)
{
    const OptimumRequest *request = s->request;
    Optima *optima = s->optima;
    const Aim aim = {.weight = {1}};
    Optimum *best = optima->at = arena_new(s->arena, Optimum);
    *best = optimum_create(request, s->arena);
    double *x = arena_array(s->arena, double, s->n + 1);
    optima->n = 1;
    for (uint32_t id = 0; id < request->starts; id++) {
        Optimum result = optimum_create(request, s->arena);
        if (id && !seek_may(s))
            break;
        if (!free_spread(request->free, id, x, why))
            return 2;
        optima->starts++;
        s->lost = false;
        seek(s, x, &aim, NULL, &result);
        if (result.end == SEARCH_NO_START)
            continue;
        bool same = best->end != SEARCH_NO_START && fabs(result.value[0] - best->value[0]) <= SAME * fabs(best->value[0]) + 1e-300
            && (result.worst <= OPTIMUM_MISS) == (best->worst <= OPTIMUM_MISS);
        bool better = is_better(request->goal, &result, best);
        optima->agreeing = same ? optima->agreeing + 1 : better ? 1 : optima->agreeing;
        if (better)
            *best = result;
    }
    return 0;
}

int
optimum_find(const OptimumRequest *request, Arena *arena, Optima *optima, Out *why)
{
    Seeking s;
    *optima = (Optima){0};
    int status = seek_open(&s, request, arena, optima, why);
    if (!status && request->objectives > 1)
        front_find(&s);
    else if (!status)
        status = find_one(&s, why);
    if (!status && optima->at->end == SEARCH_NO_START) {
        out_printf(why, "no run from where the search begins succeeds: %s\n", optima->said);
        status = 3;
    }
    if (!status)
        optima->method = !optima->gradients ? free_of_slopes(&s) + 3 : s.corners ? "SLSQP, then COBYLA" : "SLSQP";
    seek_close(&s);
    return status;
}

void
optima_free(Optima *optima)
{
    vec_free(&optima->history);
}
