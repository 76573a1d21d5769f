// mixed.c: what holds at one instant with pre() fixed: relations, laws and discrete variables together with the unknowns.
//
// Purpose: the solution of the mixed system of an event iteration (Modelica Specification 3.6, appendix B, equations 1a-1d).
// Method: relations settle first, then friction modes, then contacts at rest, then discrete variables, until nothing changes.
//         The iteration may go around in circles although there is a solution: a friction element that has just become
//         stuck tries sliding forwards and backwards in turn. Then the conditions that keep changing are tried in all
//         combinations, in the order of a Gray code, until one agrees with itself (Otter, Elmqvist, Mattsson: Hybrid
//         Modeling in Modelica Based on the Synchronous Data Flow Principle, CACSD 1999). When none does, what changed last
//         becomes pre() of the next pass.
// Contract: event.h. Complexity: passes * model evaluation; a search over k of n conditions costs up to n*2^k
// evaluations.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

enum { FOLLOWING_PASSES = 16, SEARCHED_MOST = 14, CIRCLING = 4, SETTLING = 4, EXACT_PASSES = 4, DOUBLINGS = 16 };
enum { DECIDED = 40 };  // passes after which laws that still change are decided together
enum { HESITANT = 8 };  // changes of a relation in one iteration after which rounding is asked
static const double ROUNDING = 8 * DBL_EPSILON;

uint32_t
mixed_limit(const Run *run)
{
    uint32_t limit = run->options->event_limit ? run->options->event_limit : EVENT_PASSES;
    return limit + 10 * run->model->n_sgns;
}

double
event_just_after(double instant)
{
    return instant + fmax(8 * DBL_EPSILON * fabs(instant), DBL_MIN);
}

// Relation k, which becomes another one just after its instant, is literally what it is at that instant, which is the present one.
static bool
ends_behind(const Run *run, uint32_t k)
{
    const mdl_time_relation *relation = &run->model->time_relation[k];
    return run->v[relation->instant] == run->v[0] && (run->v[relation->next] != 0) != (run->time_next[k] != 0);
}

// Relations with time are evaluated just after the instant, so that `time > t1` is already true at t1. At the start they are what they say:
// `if time <= 0 then 0 else log(time)` is 0 there, and what changes just after it is an event of its own (event_leaves_start); and so they are
// where something else happens at that instant (event_is_split).
void
event_relations(Run *run)
{
    const mdl_model *model = run->model;
    double now = run->v[0];
    if (model->n_time_relations && !run->initialises) {
        run->v[0] = event_just_after(now);
        mdl_call(model->relations, run->v);
        run->v[0] = now;
        for (uint32_t k = 0; k < model->n_time_relations; k++)
            run->time_next[k] = run->v[model->time_relation[k].next];
    }
    mdl_call(model->relations, run->v);
    for (uint32_t k = 0; k < model->n_time_relations && !run->initialises; k++)
        if (!run->literal || !ends_behind(run, k))
            run->v[model->time_relation[k].next] = run->time_next[k];
}

bool
event_is_split(Run *run, bool other)
{
    const mdl_model *model = run->model;
    bool ends = false;
    run->literal = model->n_time_relations > 0;
    if (!run->literal)
        return false;
    event_relations(run);
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        const mdl_time_relation *relation = &model->time_relation[k];
        ends = ends || ends_behind(run, k);
        other = other || (run->v[relation->next] != 0) != (run->v[relation->value] != 0);
    }
    return run->literal = ends && other;
}

bool
event_leaves_start(Run *run)
{
    const mdl_model *model = run->model;
    bool leaves = false;
    if (!model->n_time_relations)
        return false;
    event_relations(run);
    for (uint32_t k = 0; k < model->n_time_relations && !leaves; k++)
        leaves = (run->v[model->time_relation[k].next] != 0) != (run->v[model->time_relation[k].value] != 0);
    return leaves;
}

// A relation that has changed again and again, and that its new value would change once more by no more than rounding: a voltage that a charger holds
// at its limit, an ideal switch that neither carries a current nor holds off a voltage. It keeps the value that it has where its function is
// zero, or the one that contradicts itself less, and is blind to that rounding from now on.
static bool
stays_by_rounding(Run *run, uint32_t k)
{
    Guard *guard = &run->guard[k];
    const mdl_relation *relation = &run->model->relation[k];
    if (guard->flips < HESITANT || (run->v[relation->next] != 0) == (run->v[relation->value] != 0))
        return false;
    bool fits = relation->zero == (run->v[relation->value] != 0) || fabs(run->v[relation->g]) <= guard->against;
    double noise = fits ? idle_rounding(run, k) : 0;
    if (!(noise > 0))
        return false;
    root_widen(run, k, noise);
    guard->forced = true;
    return true;
}

// The value that relation k takes at the point in v. At rest it keeps the value that the impacts left. The crossing was
// located: rounding in a second evaluation must not undo it, nor at another event behind it where the function is still zero (an inner point
// that a closed gap takes along keeps it there). But what is zero however the states are rounded is not on its other side.
static double
relation_value(Run *run, uint32_t k)
{
    const mdl_relation *relation = &run->model->relation[k];
    const Guard *guard = &run->guard[k];
    double value = run->v[relation->value];
    double size = fabs(run->v[relation->g]);
    // Whoever looks at the ends of steps only finds a crossing that was blind where the band ends.
    double crossing = run->outside ? 4e-12 : 1e-12;
    bool near = guard->forced ? size <= crossing * guard->size : guard->band > 0 && size == 0;
    if (guard->pending)
        return value != 0 ? 0 : 1;
    if (guard->at_limit && limit_reached(run, k) && limit_function(run, k) > 0)
        return value;
    // Where rounding hides the change of a function of time it is known which side comes (ahead.c).
    bool foreseen = guard->forced && ahead_knows(run, k);
    bool located = near && (foreseen || !(vanish_wrong(run, k) && vanish_is_exact(run, k)));
    return located || rest_keeps(run, k) || stays_by_rounding(run, k) ? value : run->v[relation->next] != 0;
}

static bool
update_relation(Run *run, uint32_t k)
{
    Guard *guard = &run->guard[k];
    uint32_t place = run->model->relation[k].value;
    double value = relation_value(run, k), old = run->v[place];
    guard->forced = guard->forced || guard->pending;
    guard->pending = false;
    guard->flips += value != old;
    guard->against = value != old ? fabs(run->v[run->model->relation[k].g]) : guard->against;
    run->v[place] = value;
    return value != old;
}

static bool
update_relations(Run *run)
{
    const mdl_model *model = run->model;
    bool changed = false;
    for (uint32_t k = 0; k < model->n_relations; k++)
        changed = update_relation(run, k) || changed;
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        const mdl_time_relation *relation = &model->time_relation[k];
        run->guard[model->n_relations + k].pending = false;
        double value = run->v[relation->next] != 0;
        changed = changed || run->v[relation->value] != value;
        run->v[relation->value] = value;
    }
    return changed;
}

// Says which conditions were still changing when the limit came near. all_tried: none of their values agrees with the equations.
static void
report_flip_flop(const Run *run, const double *before, bool all_tried)
{
    const mdl_model *model = run->model;
    char text[2000] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < run->guards - model->n_rests && used + 1 < sizeof text; k++) {
        uint32_t place = k < model->n_relations ? model->relation[k].value
                         : k < model->n_relations + model->n_time_relations
                             ? model->time_relation[k - model->n_relations].value
                             : model->sgn[k - model->n_relations - model->n_time_relations].mode;
        if (before[k] != run->v[place])
            used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s", root_text(run, k));
    }
    bool law = false;
    for (uint32_t k = 0; k < model->n_sgns; k++)
        law = law || before[model->n_relations + model->n_time_relations + k] != run->v[model->sgn[k].mode];
    const char *help = law         ? "\nhelp: friction whose limit grows with its own force can jam, and then has no solution (Painleve)"
                       : all_tried ? "\nhelp: with either value the equations make it the other one: `if x > a then x = a else x = u` has no solution where "
                                     "u > a; a limit is x = min(u, a)"
                                   : "";
    run_message(run, MDL_ERROR, "at time %.12g: the conditions of an event do not settle%s%s%s", run->v[0],
                used ? "; these keep changing:" : "", text, help);
}

static void
remember_conditions(const Run *run, double *before)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_relations; k++)
        *before++ = run->v[model->relation[k].value];
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        *before++ = run->v[model->time_relation[k].value];
    for (uint32_t k = 0; k < model->n_sgns; k++)
        *before++ = run->v[model->sgn[k].mode];
}

// Some condition has flipped so often that the iteration goes around in circles.
static bool
circles(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        if (run->guard[k].flips >= CIRCLING)
            return true;
    return false;
}

// A search for modes begins. What conditions choose between (a switch, if on then v else i) may contradict the modes that ideal diodes had
// with the other choice: the current of a coil has no way any more.
MDL_CHECKED static int
search_modes(Run *run, uint32_t limit)
{
    int status = friction_leak(run, limit);
    friction_search(run);
    return status;
}

// Relations and friction modes at fixed discrete values. With `stop` it ends where they go around in circles; without it all of their values were tried.
MDL_CHECKED static int
settle(Run *run, bool stop)
{
    uint32_t limit = mixed_limit(run);
    int status = search_modes(run, limit);
    if (status != MDL_OK)
        return status;
    for (uint32_t pass = 0; pass < limit; pass++) {
        if (pass == DECIDED && contact_decide(run) == MDL_INTERNAL)
            return MDL_INTERNAL;
        status = friction_evaluate(run);
        if (status != MDL_OK)
            return status;
        evaluate_outputs(run);
        status = friction_gap_rates(run);
        if (status != MDL_OK)
            return status;
        event_relations(run);
        remember_conditions(run, run->phi_scale);
        if (update_relations(run))
            status = search_modes(run, limit);
        else if (!friction_update(run) && !rest_update(run) && !friction_join(run))
            return friction_check(run);
        if (status != MDL_OK)
            return status;
        if (stop && circles(run))
            return MDL_OK;
    }
    report_flip_flop(run, run->phi_scale, !stop);
    return MDL_FAILED;
}

static void
clear_reinits(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_reinits; k++)
        run->v[run->model->reinit[k].active] = 0;
}

// What the discrete equations gave. What differs by `rounding` is the same: a value that is taken over from a system of equations is solved anew
// in each pass, to its last digits, which are those of larger ones where it is a difference of such. False when everything is as it was before the first pass; *changed: the same, without
// those variables that follow from others at one instant.
static bool
apply_discretes(Run *run, double rounding, bool *changed)
{
    const mdl_model *model = run->model;
    bool moved = false;
    *changed = false;
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        double old = run->old_discrete[k], value = run->v[discrete->next ? discrete->next : discrete->value];
        double size = fmax(fabs(old), discrete->pre ? fabs(run->v[discrete->pre]) : 0);
        bool other = value != old && !(isnan(value) && isnan(old)) && !(rounding > 0 && fabs(value - old) <= rounding * size);
        run->v[discrete->value] = value;
        moved = moved || other;
        *changed = *changed || (other && discrete->next);
    }
    return moved;
}

// One evaluation of the discrete equations with pre() as it is. True when a discrete variable changed.
static bool
follow(Run *run, double rounding)
{
    const mdl_model *model = run->model;
    bool changed = false;
    for (uint32_t k = 0; k < model->n_discretes; k++)
        run->old_discrete[k] = run->v[model->discrete[k].value];
    // Relations such as `time >= since + wait` belong to the same equations: they follow what changed.
    for (uint32_t pass = 0; pass < FOLLOWING_PASSES; pass++) {
        clear_reinits(run);
        failure_next_look(run);
        mdl_call(model->discretes, run->v);
        if (!apply_discretes(run, rounding, &changed))
            break;
        event_relations(run);
        if (!update_relations(run))
            break;
    }
    return changed;
}

// --- the search

typedef struct Search {
    const double *start;              // v before
    uint32_t relation[SEARCHED_MOST]; // those that keep changing
    uint32_t n;
    uint64_t values;                  // bit i: the value of relation[i]
    bool another;                     // the last one has not changed by itself
    bool limits;                      // relations may be held whose functions have become zero by it
} Search;

static bool
is_searched(const Search *search, uint32_t k)
{
    for (uint32_t i = 0; i < search->n; i++)
        if (search->relation[i] == k)
            return true;
    return false;
}

static void
hold_searched(Run *run, const Search *search)
{
    for (uint32_t i = 0; i < search->n; i++)
        run->v[run->model->relation[search->relation[i]].value] = (double)(search->values >> i & 1);
}

// All relations but those that are searched take their values. True when one changed.
static bool
update_others(Run *run, const Search *search)
{
    const mdl_model *model = run->model;
    bool changed = false;
    for (uint32_t k = 0; k < model->n_relations; k++)
        if (!is_searched(search, k))
            changed = update_relation(run, k) || changed;
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        const mdl_time_relation *relation = &model->time_relation[k];
        double value = run->v[relation->next] != 0;
        changed = changed || run->v[relation->value] != value;
        run->v[relation->value] = value;
    }
    return changed;
}

// Everything follows from the values that are held. False when it cannot be solved or does not settle.
static bool
solve_held(Run *run, const Search *search)
{
    memcpy(run->v, search->start, run->model->nv * sizeof *run->v);
    hold_searched(run, search);
    friction_search(run);
    for (uint32_t pass = 0; pass < SETTLING + run->model->n_sgns; pass++) {
        clear_reinits(run);
        failure_next_look(run);
        mdl_call(run->model->discretes, run->v);
        if (evaluate_solved(run, false) != MDL_OK || friction_evaluate(run) != MDL_OK)
            return false;
        evaluate_outputs(run);
        event_relations(run);
        if (!update_others(run, search) && !friction_update(run))
            return true;
    }
    return false;
}

// What was held is what comes out.
static bool
agrees(Run *run, const Search *search)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < search->n; i++) {
        uint32_t k = search->relation[i];
        // That a crossing was located lets no other value pass that the relation does not have.
        bool exact = search->another && i + 1 == search->n;
        double value = exact ? run->v[run->model->relation[k].next] != 0 : relation_value(run, k);
        if (value == (double)(search->values >> i & 1))
            continue;
        if (!search->limits || !limit_reached(run, k))
            return false;
        held |= (uint64_t)1 << i;
    }
    if (follow(run, 0))
        return false;
    for (uint32_t i = 0; i < search->n; i++)
        if (held >> i & 1)
            run->guard[search->relation[i]].at_limit = true;
    return true;
}

// Tries all values of the conditions that are searched, the last one only `kept` where that is not negative.
static bool
try_values(Run *run, Search *search, int kept)
{
    uint32_t n = search->n - (kept >= 0);
    for (uint64_t i = 0; i < (uint64_t)1 << n; i++) {
        search->values = (i ^ i >> 1) | (kept > 0 ? (uint64_t)1 << n : 0);
        if (solve_held(run, search) && agrees(run, search))
            return true;
    }
    return false;
}

// One more condition takes its other value: a comparator that feeds itself back leaves one limit for the other, and the
// condition of that one never changes while the first goes to and fro.
static bool
try_another(Run *run, Search *search)
{
    const mdl_model *model = run->model;
    bool found = false;
    if (search->n == SEARCHED_MOST || model->n_relations > (1u << SEARCHED_MOST) >> search->n)
        return false;
    search->another = true;
    for (uint32_t k = 0; k < model->n_relations && !found; k++) {
        if (is_searched(search, k))
            continue;
        search->relation[search->n++] = k;
        found = try_values(run, search, search->start[model->relation[k].value] == 0);
        search->n -= !found;
    }
    search->another = false;
    return found;
}

// Tries all values of the conditions that have flipped more than once, then each of the others besides, then limits. MDL_FAILED when none
// agrees: v is as before.
MDL_CHECKED static int
search_conditions(Run *run)
{
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof *run->v;
    Search search = {0};
    for (uint32_t k = 0; k < model->n_relations; k++) {
        if (run->guard[k].flips < 2)
            continue;
        if (search.n == SEARCHED_MOST)
            return MDL_FAILED;
        search.relation[search.n++] = k;
    }
    double *start = malloc(bytes);
    if (!start)
        return MDL_INTERNAL;
    memcpy(start, run->v, bytes);
    search.start = start;
    bool found = try_values(run, &search, -1) || try_another(run, &search);
    search.limits = true;
    found = found || try_values(run, &search, -1);
    int status = found ? MDL_OK : MDL_FAILED;
    if (status != MDL_OK)
        memcpy(run->v, start, bytes);
    free(start);
    return status;
}

// `old_discrete` has the values before the last pass.
int
mixed_report(const Run *run)
{
    const mdl_model *model = run->model;
    char text[2000] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < model->n_discretes && used + 1 < sizeof text; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        double now = run->v[discrete->value], old = run->old_discrete[k];
        if (discrete->next && discrete->name && now != old)
            used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s: %.6g, %.6g, ...", discrete->name,
                                     old, now);
    }
    run_message(run, MDL_ERROR, "at time %.12g: the event iteration does not end%s%s", run->v[0],
                used ? "; these discrete variables keep changing:" : ": discrete variables keep changing", text);
    return MDL_FAILED;
}

// Some discrete variable is not what pre() of it is.
static bool
differs_from_pre(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_discretes; k++) {
        const mdl_discrete *discrete = &run->model->discrete[k];
        if (discrete->pre && discrete->next && run->v[discrete->value] != run->v[discrete->pre])
            return true;
    }
    return false;
}

// Nothing in the first passes. What still changes behind them counts for less with each: changes that lead to a solution become smaller, those of
// rounding do not.
static double
rounding_of(uint32_t pass)
{
    return pass < EXACT_PASSES ? 0 : ldexp(ROUNDING, (int)(pass - EXACT_PASSES < DOUBLINGS ? pass - EXACT_PASSES : DOUBLINGS));
}

static void
hold_looped(Run *run, const double *x)
{
    for (uint32_t i = 0; i < run->n_looped; i++)
        run->v[run->model->discrete[run->looped[i]].value] = x[i];
}

static void
take_looped(const Run *run, double *x)
{
    for (uint32_t i = 0; i < run->n_looped; i++)
        x[i] = run->v[run->model->discrete[run->looped[i]].value];
}

// LoopMap: what discrete variables give with everything else solved for these values. `point`: v, which stays.
MDL_CHECKED static int
follow_once(Run *run, void *point, const double *x, double *result)
{
    hold_looped(run, x);
    int status = settle(run, true);
    if (status == MDL_OK)
        (void)follow(run, 0);
    take_looped(run, result);
    memcpy(run->v, point, run->model->nv * sizeof *run->v);
    return status;
}

// Discrete Reals that go on changing are in a loop with what is solved at this instant: evaluated in turn they need not come to its solution. The step is
// taken from the values before the pass.
MDL_CHECKED static int
solve_loops(Run *run, uint32_t pass)
{
    size_t bytes = run->model->nv * sizeof *run->v;
    bool grows = loop_note(run, pass == 0);
    if ((pass < EXACT_PASSES && !grows) || !loop_is_solved(run))
        return MDL_OK;
    double *point = malloc(bytes), *x = malloc(run->n_looped * sizeof *x);
    int status = point && x ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK) {
        memcpy(point, run->v, bytes);
        for (uint32_t i = 0; i < run->n_looped; i++)
            x[i] = run->old_discrete[run->looped[i]];
        status = loop_step(run, follow_once, point, x);
        hold_looped(run, x);
    }
    free(point);
    free(x);
    return status;
}

int
mixed_solve(Run *run)
{
    bool searched = false;
    run->n_looped = 0;
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        run->guard[k].flips = 0;
    for (uint32_t pass = 0; pass < mixed_limit(run); pass++) {
        int status = settle(run, !searched);
        if (status != MDL_OK)
            return status;
        bool around = !searched && circles(run);
        if (!around && !follow(run, rounding_of(pass)))
            return MDL_OK;
        if (around && search_conditions(run) == MDL_OK)
            return MDL_OK;
        // Without a solution as long as pre() stays, what follows next may have one: `pre(starts) and load > hold`, a threshold
        // that is lower for what has begun to slip.
        if (searched && differs_from_pre(run))
            return MDL_OK;
        searched = searched || around;
        status = around ? MDL_OK : solve_loops(run, pass);
        if (status != MDL_OK)
            return status;
    }
    return mixed_report(run);
}
