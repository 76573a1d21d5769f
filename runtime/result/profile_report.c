// profile_report.c: what --stats=long prints.
//
// Purpose: a user learns from a slow run what makes it slow.
// Method: the largest come first; conditions that stand on one line of the source are one entry. Warnings compare what was
// counted with what a run without the trouble would have: their thresholds stand below, each with its reason.
// Contract: sim.h. Complexity: n log n in unknowns and conditions.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/order.h"
#include "runtime/point/profile.h"

enum {
    SHOWN = 10,        // entries of a list
    BURST = 20,        // changes of one condition in a row, each soon after the one before (run_profile.c)
    MANY_STEPS = 200,  // fewer tell nothing
    PER_TRAVERSE = 60, // steps in which a smooth method goes once through a variable's range at usual tolerances: 10 to 30
    WARNINGS = 12, WARNING = 700
};
static const double UNSTABLE = 0.5;    // step times fastest rate: near the edge of explicit methods' stability
static const double MOST = 0.6;        // of the steps: limited by one variable
static const double FAILING = 0.4;     // failed attempts per step; a step size controller causes a quarter by itself

static const char *const phase_names[PHASE_COUNT] = {
    [PHASE_INTEGRATOR] = "integrator itself", [PHASE_EQUATIONS] = "equations of motion",
    [PHASE_PARTIALS] = "partial derivatives", [PHASE_FACTORS] = "factorisations", [PHASE_SOLVES] = "linear systems",
    [PHASE_PROJECTION] = "projection onto constraints", [PHASE_CONDITIONS] = "watching conditions",
    [PHASE_EVENTS] = "events and restarts", [PHASE_RESULTS] = "rows of the result"};
static const char *const phase_keys[PHASE_COUNT] = {
    [PHASE_INTEGRATOR] = "integrator", [PHASE_EQUATIONS] = "equations", [PHASE_PARTIALS] = "partials",
    [PHASE_FACTORS] = "factorisations", [PHASE_SOLVES] = "linear_systems", [PHASE_PROJECTION] = "projection",
    [PHASE_CONDITIONS] = "conditions", [PHASE_EVENTS] = "events", [PHASE_RESULTS] = "results"};

// Entries of a list, the largest first.
typedef struct Ranked {
    uint32_t index;
    uint64_t count;
} Ranked;

static int
more_first(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// --- events by line of the source

typedef struct Line {
    const char *text;     // of the condition that changed most
    const char *where;    // into it: the location; "" when there is none
    size_t length;        // of the location
    uint64_t count, most;
    uint32_t conditions;
} Line;

// "v > 0 (bump.mdl:19)": where the location begins and how long it is.
static void
find_location(Line *line)
{
    const char *open = strrchr(line->text, '('), *end = line->text + strlen(line->text);
    bool located = open && end > open + 1 && end[-1] == ')' && open > line->text && open[-1] == ' ' && strchr(open, ':');
    line->where = located ? open + 1 : end;
    line->length = located ? (size_t)(end - open - 2) : 0;
}

static int
same_lines_together(const void *a, const void *b)
{
    const Line *x = a, *y = b;
    size_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->where, y->where, shorter);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static int
busy_lines_first(const void *a, const void *b)
{
    const Line *x = a, *y = b;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : same_lines_together(a, b);
}

static void
add_line(Line *lines, uint32_t *n, const char *text, uint64_t count)
{
    if (!count)
        return;
    Line line = {.text = text ? text : "a condition without a name", .count = count, .most = count, .conditions = 1};
    find_location(&line);
    lines[(*n)++] = line;
}

static const char *
condition_text(const mdl_model *model, uint32_t k)
{
    if (k < model->n_relations)
        return model->relation[k].text;
    k -= model->n_relations;
    return k < model->n_time_relations ? model->time_relation[k].text : model->sgn[k - model->n_time_relations].text;
}

// The lines, the busiest first; the caller frees. NULL: memory is exhausted.
static Line *
collect_lines(const mdl_profile *p, uint32_t *n)
{
    Line *lines = calloc((size_t)p->n_conditions + p->model->n_samples + 1, sizeof *lines);
    uint32_t all = 0, kept = 0;
    *n = 0;
    if (!lines)
        return NULL;
    for (uint32_t k = 0; k < p->n_conditions; k++)
        add_line(lines, &all, condition_text(p->model, k), p->condition[k].changes);
    for (uint32_t k = 0; k < p->model->n_samples; k++)
        add_line(lines, &all, p->model->sample[k].text, p->sample[k]);
    qsort(lines, all, sizeof *lines, same_lines_together);
    for (uint32_t i = 0; i < all; i++) {
        Line *last = kept ? &lines[kept - 1] : NULL;
        if (!last || !lines[i].length || same_lines_together(last, &lines[i])) {
            lines[kept++] = lines[i];
            continue;
        }
        last->count += lines[i].count;
        last->conditions++;
        if (lines[i].most > last->most) {
            last->most = lines[i].most;
            last->text = lines[i].text;
            last->where = lines[i].where;
        }
    }
    qsort(lines, kept, sizeof *lines, busy_lines_first);
    *n = kept;
    return lines;
}

// --- lists

static Ranked *
rank_unknowns(const mdl_profile *p, uint32_t n, uint32_t *found)
{
    Ranked *list = calloc((size_t)n + 1, sizeof *list);
    *found = 0;
    for (uint32_t i = 0; list && i < n; i++)
        if (p->unknown[i].limits)
            list[(*found)++] = (Ranked){i, p->unknown[i].limits};
    if (list)
        qsort(list, *found, sizeof *list, more_first);
    return list;
}

static Ranked *
rank_sections(const mdl_profile *p, uint32_t *found)
{
    Ranked *list = calloc((size_t)p->model->n_dynamics + 1, sizeof *list);
    *found = 0;
    for (uint32_t k = 0; list && k < p->model->n_dynamics; k++)
        if (p->section[k].calls)
            list[(*found)++] = (Ranked){k, p->section[k].ticks};
    if (list)
        qsort(list, *found, sizeof *list, more_first);
    return list;
}

// How often a variable went through its range.
static double
traverses(const ProfiledUnknown *at)
{
    double range = at->high - at->low;
    return range > 0 ? at->path / range : 0;
}

static void
section_text(const mdl_step *step, char *text, size_t size)
{
    const mdl_block *block = step->block;
    if (!block) {
        snprintf(text, size, "%s", step->text ? step->text : "assignments");
        return;
    }
    int used = snprintf(text, size, "%s loop in", block->linear ? "linear" : "nonlinear");
    for (uint32_t i = 0; i < block->m && i < 3 && used > 0 && (size_t)used < size; i++)
        used += snprintf(text + used, size - (size_t)used, "%s %s", i ? "," : "", block->unknown_name ? block->unknown_name[i] : "?");
    if (block->m > 3 && used > 0 && (size_t)used < size)
        used += snprintf(text + used, size - (size_t)used, " and %u more", block->m - 3);
    if (block->m && block->equation && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, "; %.300s", block->equation[0]);
}

// --- warnings

typedef struct Warnings {
    uint32_t count;
    char text[WARNINGS][WARNING];
} Warnings;

static void __attribute__((format(printf, 2, 3)))
warn(Warnings *w, const char *format, ...)
{
    va_list arguments;
    if (w->count == WARNINGS)
        return;
    va_start(arguments, format);
    vsnprintf(w->text[w->count++], WARNING, format, arguments);
    va_end(arguments);
}

static void
warn_of_chattering(const mdl_profile *p, Warnings *w)
{
    for (uint32_t k = 0; k < p->n_conditions && w->count < WARNINGS / 2; k++) {
        const ProfiledCondition *at = &p->condition[k];
        if (at->longest >= BURST)
            warn(w, "chattering: %.300s changed %u times in a row, each time within %.2g s, until time %.6g; every change restarts "
                 "the integrator. A set-valued term, a*Sgn(x) or tar(x, a), or a hysteresis would hold it",
                 condition_text(p->model, k), at->longest, p->soon, at->longest_at);
    }
}

// How often the variable that goes through its range most often does so, of those that do less than `below`; *others: how
// many do not.
static double
most_traverses(const mdl_profile *p, uint32_t n, double below, uint32_t *others)
{
    double most = 0;
    *others = 0;
    for (uint32_t i = 0; i < n; i++) {
        double count = traverses(&p->unknown[i]);
        if (count < below)
            most = fmax(most, count);
        else
            ++*others;
    }
    return most;
}

// The median: at the edge of stability a few variables tremble.
static double
middle_traverses(const mdl_profile *p, uint32_t n)
{
    double *all = malloc(((size_t)n + 1) * sizeof *all), middle = INFINITY;
    for (uint32_t i = 0; all && i < n; i++)
        all[i] = traverses(&p->unknown[i]);
    if (all && n) {
        qsort(all, n, sizeof *all, ascending_f64);
        middle = all[(n - 1) / 2];
    }
    free(all);
    return middle;
}

static bool
warn_of_stiffness(const mdl_profile *p, const mdl_stats *stats, Warnings *w)
{
    double pace = middle_traverses(p, stats->states);
    double mean = p->stiffness_probes ? p->stiffness_sum / p->stiffness_probes : 0;
    if (stats->steps < MANY_STEPS || !(mean > UNSTABLE) || (double)stats->steps < 4 * PER_TRAVERSE * (pace + 1))
        return false;
    warn(w, "stiff, with an explicit method: the equations answer within %.2g s, and %s is stable only for steps of about that "
         "length, while the motion takes %.0f of them to go once through its range; --solver ida can take longer ones",
         1 / p->rate, stats->solver, (double)stats->steps / fmax(pace, 1));
    return true;
}

static void
warn_of_one_variable(const mdl_profile *p, const mdl_stats *stats, const Ranked *first, Warnings *w)
{
    if (p->judged < MANY_STEPS || (double)first->count < MOST * (double)p->judged)
        return;
    const ProfiledUnknown *at = &p->unknown[first->index];
    const char *name = p->model->state_name[first->index];
    uint32_t companions;
    double own = traverses(at), slower = most_traverses(p, stats->states, own / 3, &companions);
    double share = 100 * (double)first->count / (double)p->judged;
    // A mass that vibrates has two states.
    if (own > 10 * (slower + 1) && companions < stats->states && (companions <= 2 || 2 * companions <= stats->states))
        warn(w, "steps are short because of one variable: `%s` limits %.0f %% of them; it goes %.0f times through its range, slower "
             "ones at most %.0f times. Is it meant to vibrate like that (stiffness, mass)?", name, share, own, slower);
    else if ((double)stats->steps > 4 * PER_TRAVERSE * (fmax(own, slower) + 1))
        warn(w, "steps are short because of one variable: `%s` limits %.0f %% of them, down to %.2g s, while it stays between %.4g and "
             "%.4g; a larger nominal value for it, or a larger --abstol, would let them grow", name, share, at->least_step, at->low,
             at->high);
}

static void
warn_of_failures(const mdl_stats *stats, Warnings *w)
{
    double steps = (double)stats->steps;
    if (stats->steps < MANY_STEPS)
        return;
    if ((double)stats->newton_failures > FAILING * steps)
        warn(w, "in %llu of %llu steps Newton's method did not converge: the equations bend strongly within a step, or jump without an "
             "event (noEvent, external tables)", (unsigned long long)stats->newton_failures, (unsigned long long)stats->steps);
    if ((double)stats->error_failures > FAILING * steps)
        warn(w, "%llu attempts of %llu steps missed the tolerance: the motion changes abruptly again and again; abrupt changes that are "
             "written as conditions (if, when) become events and are met exactly", (unsigned long long)stats->error_failures,
             (unsigned long long)stats->steps);
}

static bool
warn_of_events(const mdl_stats *stats, Warnings *w)
{
    if (stats->steps < MANY_STEPS || stats->events < stats->steps / 8)
        return false;
    warn(w, "events determine the steps: %llu steps for %llu events, behind most of which the integrator begins with short ones",
         (unsigned long long)stats->steps, (unsigned long long)stats->events);
    return true;
}

static void
collect_warnings(const mdl_profile *p, const mdl_stats *stats, const Ranked *unknowns, uint32_t n, Warnings *w)
{
    w->count = 0;
    warn_of_chattering(p, w);
    // What follows from one of these needs no warning of its own.
    if (w->count || warn_of_stiffness(p, stats, w))
        return;
    if (!warn_of_events(stats, w) && n)
        warn_of_one_variable(p, stats, unknowns, w);
    warn_of_failures(stats, w);
}

// --- text

static double
total_ticks(const mdl_profile *p)
{
    double sum = 0;
    for (int k = 0; k < PHASE_COUNT; k++)
        sum += (double)p->ticks[k];
    return sum > 0 ? sum : 1;
}

static void
print_phases(const mdl_profile *p, FILE *out)
{
    double all = total_ticks(p);
    fprintf(out, "time of the integration: %.4g s\n", all * p->seconds_per_tick);
    for (int k = 0; k < PHASE_COUNT; k++)
        if (p->ticks[k])
            fprintf(out, "  %5.1f %%  %s\n", 100 * (double)p->ticks[k] / all, phase_names[k]);
    if (p->compiling)
        fprintf(out, "and %.4g s of compiling functions that are called often\n", (double)p->compiling * p->seconds_per_tick);
}

static void
print_steps(const mdl_profile *p, const mdl_stats *stats, FILE *out)
{
    fprintf(out, "steps: %llu", (unsigned long long)stats->steps);
    if (p->shortest <= p->longest)
        fprintf(out, ", of %.3g s (at time %.6g) to %.3g s", p->shortest, p->shortest_at, p->longest);
    fputc('\n', out);
    for (int k = 0; k < PROFILE_DECADES; k++)
        if (p->decade[k])
            fprintf(out, "  %10llu  of 1e%d s and more\n", (unsigned long long)p->decade[k], k + PROFILE_FIRST_DECADE);
    for (int k = 0; k < PROFILE_ORDERS; k++)
        if (p->order[k])
            fprintf(out, "  %10llu  of order %d\n", (unsigned long long)p->order[k], k);
    fprintf(out, "attempts that missed the tolerance: %llu, without convergence: %llu; Jacobians and factorisations: %llu\n",
            (unsigned long long)stats->error_failures, (unsigned long long)stats->newton_failures,
            (unsigned long long)stats->jacobians);
    if (stats->standing_solves || stats->standing_refused)
        fprintf(out, "large loops solved with pivots that stand: %llu times, given to Newton's iteration: %llu\n",
                (unsigned long long)stats->standing_solves, (unsigned long long)stats->standing_refused);
    if (stats->standing_products)
        fprintf(out, "the largest elimination of these: %llu multiplications with subtraction, %llu entries of the factors\n",
                (unsigned long long)stats->standing_products, (unsigned long long)stats->standing_entries);
    if (stats->standing_translated)
        fprintf(out, "eliminations that were translated to machine code: %llu\n", (unsigned long long)stats->standing_translated);
}

static void
print_limits(const mdl_profile *p, const Ranked *list, uint32_t n, FILE *out)
{
    fputs(n ? "what limited the steps:\n" : "what limited the steps: this method estimates no errors of single variables\n", out);
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const ProfiledUnknown *at = &p->unknown[list[i].index];
        fprintf(out, "  %10llu  %5.1f %%  %s (steps from %.2g s, values from %.4g to %.4g)\n", (unsigned long long)at->limits,
                100 * (double)at->limits / (double)p->judged, p->model->state_name[list[i].index], at->least_step, at->low, at->high);
    }
    if (n > SHOWN)
        fprintf(out, "  ... and %u more variables\n", n - SHOWN);
}

static void
print_lines(const Line *lines, uint32_t n, const mdl_stats *stats, FILE *out)
{
    fprintf(out, "events: %llu%s\n", (unsigned long long)stats->events, n ? "; changes of conditions by source line:" : "");
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const Line *line = &lines[i];
        const char *place = line->length ? line->where : "-";
        int text = (int)(line->where - line->text) - (line->length ? 2 : 0);
        fprintf(out, "  %10llu  %.*s  %.*s", (unsigned long long)line->count, line->length ? (int)line->length : 1, place, text,
                line->text);
        if (line->conditions > 1)
            fprintf(out, " (%llu) and %u more conditions", (unsigned long long)line->most, line->conditions - 1);
        fputc('\n', out);
    }
    if (n > SHOWN)
        fprintf(out, "  ... and %u more lines\n", n - SHOWN);
}

static void
print_sections(const mdl_profile *p, const Ranked *list, uint32_t n, FILE *out)
{
    double all = total_ticks(p);
    fputs("sections of the equations, of the time of the integration:\n", out);
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const ProfiledSection *at = &p->section[list[i].index];
        char text[600];
        section_text(&p->model->dynamics[list[i].index], text, sizeof text);
        fprintf(out, "  %5.1f %%  %llu times %.3g us", 100 * (double)at->ticks / all, (unsigned long long)at->calls,
                1e6 * (double)at->ticks * p->seconds_per_tick / (double)at->calls);
        if (at->iterations)
            fprintf(out, ", %.2g iterations", (double)at->iterations / (double)at->calls);
        fprintf(out, ": %s\n", text);
    }
    if (n > SHOWN)
        fprintf(out, "  ... and %u more sections\n", n - SHOWN);
}

void
mdl_profile_text(const mdl_profile *p, const mdl_stats *stats, FILE *out)
{
    uint32_t n_unknowns, n_sections, n_lines;
    Ranked *unknowns = rank_unknowns(p, stats->unknowns, &n_unknowns), *sections = rank_sections(p, &n_sections);
    Line *lines = collect_lines(p, &n_lines);
    Warnings *warnings = malloc(sizeof *warnings);
    if (unknowns && sections && lines && warnings) {
        print_phases(p, out);
        print_steps(p, stats, out);
        print_limits(p, unknowns, n_unknowns, out);
        print_lines(lines, n_lines, stats, out);
        print_sections(p, sections, n_sections, out);
        collect_warnings(p, stats, unknowns, n_unknowns, warnings);
        for (uint32_t i = 0; i < warnings->count; i++)
            fprintf(out, "warning: %s\n", warnings->text[i]);
    }
    free(unknowns);
    free(sections);
    free(lines);
    free(warnings);
}

// --- JSON

static void
json_counts(const mdl_profile *p, FILE *out)
{
    const char *comma = "";
    fputs("{\"lengths\":{", out);
    for (int k = 0; k < PROFILE_DECADES; k++)
        if (p->decade[k]) {
            fprintf(out, "%s\"1e%d\":%llu", comma, k + PROFILE_FIRST_DECADE, (unsigned long long)p->decade[k]);
            comma = ",";
        }
    fputs("},\"orders\":{", out);
    comma = "";
    for (int k = 0; k < PROFILE_ORDERS; k++)
        if (p->order[k]) {
            fprintf(out, "%s\"%d\":%llu", comma, k, (unsigned long long)p->order[k]);
            comma = ",";
        }
    fputs("},\"seconds\":{", out);
    for (int k = 0; k < PHASE_COUNT; k++)
        fprintf(out, "%s\"%s\":%.6g", k ? "," : "", phase_keys[k], (double)p->ticks[k] * p->seconds_per_tick);
    fprintf(out, ",\"compiling\":%.6g}", (double)p->compiling * p->seconds_per_tick);
}

static void
json_limits(const mdl_profile *p, const Ranked *list, uint32_t n, FILE *out)
{
    fputs(",\"limits\":[", out);
    for (uint32_t i = 0; i < n; i++) {
        const ProfiledUnknown *at = &p->unknown[list[i].index];
        fputs(i ? ",{\"name\":" : "{\"name\":", out);
        run_json_text(p->model->state_name[list[i].index], out);
        fprintf(out, ",\"steps\":%llu,\"shortest\":%.6g,\"low\":%.9g,\"high\":%.9g}", (unsigned long long)at->limits, at->least_step,
                at->low, at->high);
    }
    fputc(']', out);
}

static void
json_lines(const Line *lines, uint32_t n, FILE *out)
{
    char place[512];
    fputs(",\"conditions\":[", out);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(place, sizeof place, "%.*s", (int)lines[i].length, lines[i].where);
        fputs(i ? ",{\"place\":" : "{\"place\":", out);
        run_json_text(place, out);
        fprintf(out, ",\"changes\":%llu,\"conditions\":%u,\"text\":", (unsigned long long)lines[i].count, lines[i].conditions);
        run_json_text(lines[i].text, out);
        fputc('}', out);
    }
    fputc(']', out);
}

static void
json_sections(const mdl_profile *p, const Ranked *list, uint32_t n, FILE *out)
{
    char text[600];
    fputs(",\"sections\":[", out);
    for (uint32_t i = 0; i < n; i++) {
        const ProfiledSection *at = &p->section[list[i].index];
        section_text(&p->model->dynamics[list[i].index], text, sizeof text);
        fputs(i ? ",{\"text\":" : "{\"text\":", out);
        run_json_text(text, out);
        fprintf(out, ",\"calls\":%llu,\"iterations\":%llu,\"seconds\":%.6g}", (unsigned long long)at->calls,
                (unsigned long long)at->iterations, (double)at->ticks * p->seconds_per_tick);
    }
    fputc(']', out);
}

void
mdl_profile_json(const mdl_profile *p, const mdl_stats *stats, FILE *out)
{
    uint32_t n_unknowns, n_sections, n_lines;
    Ranked *unknowns = rank_unknowns(p, stats->unknowns, &n_unknowns), *sections = rank_sections(p, &n_sections);
    Line *lines = collect_lines(p, &n_lines);
    Warnings *warnings = malloc(sizeof *warnings);
    if (unknowns && sections && lines && warnings) {
        json_counts(p, out);
        json_limits(p, unknowns, n_unknowns, out);
        json_lines(lines, n_lines, out);
        json_sections(p, sections, n_sections, out);
        collect_warnings(p, stats, unknowns, n_unknowns, warnings);
        fputs(",\"warnings\":[", out);
        for (uint32_t i = 0; i < warnings->count; i++) {
            fputs(i ? "," : "", out);
            run_json_text(warnings->text[i], out);
        }
        fputs("]}", out);
    } else {
        fputs("null", out);
    }
    free(unknowns);
    free(sections);
    free(lines);
    free(warnings);
}
