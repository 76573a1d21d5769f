// assemble.c: loops of a mechanism at the start.
//
// Purpose: a loop whose start values do not close it is described by its joints and its gap; with `--assemble` it is
//          closed by the smallest movement of start values. Start values that nothing fixes are guesses, of which too many may
//          have become conditions: where these have no solution, the guesses move as little as possible, whoever calls.
// Method: Gauss-Newton corrections of minimal length onto the invariants, then sequential quadratic programming with the
//         unit matrix towards the nearest closed position (Nocedal and Wright, Numerical Optimization, 18.1). Positions
//         come before velocities (states and invariants of equal depth go together); the lengths are measured in the states' sizes. States without a start
//         value move first, fixed ones only when the loops do not close otherwise. A descent that ends in an open position (a
//         singular one, most often) is repeated from a few others.
// Contract: run.h; v holds parameters and start values, discrete variables their start. Complexity: one dense
//           factorisation for each correction.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/rank.h"
#include "runtime/run.h"

enum { CORRECTIONS = 200, ATTEMPTS = 12, SHORTENINGS = 60, WEIGHINGS = 3, LISTED = 8, TEXT = 3000 };

static const double CLOSED = 1e-9;      // largest residual of a closed loop, in metres and radians
static const double STRIDE = 0.3;       // largest movement of one correction, in the states' sizes
static const double HELD = 1e-14;       // mobility of a value that may not move
static const double UNSAID = 1e3;       // of one that the model says nothing about
static const double MOVED = 1e-9;
static const double PUSH = 1;           // by which a search begins elsewhere, in the states' sizes

typedef struct Assembly {
    Run *run;
    uint32_t depth;
    bool move_fixed;
    uint32_t *row, *column;   // constraints and states of this depth
    uint32_t rows, columns;
    uint32_t *position;       // per constraint: its row here
    double *defect, *correction, *mobility, *best, *first;
    double *weight;           // per row: 1, or of an equation of no joint one over the size of its terms
    Rank *rank;
} Assembly;

typedef struct Text {
    char text[TEXT];
    size_t used;
} Text;

static void __attribute__((format(printf, 2, 3)))
say(Text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(out->text + out->used, TEXT - out->used, format, arguments);
    va_end(arguments);
    if (more > 0)
        out->used = out->used + (size_t)more < TEXT ? out->used + (size_t)more : TEXT - 1;
}

static void
forget(Assembly *a)
{
    rank_free(&a->rank);
    free(a->row);
    free(a->column);
    free(a->position);
    free(a->defect);
    free(a->correction);
    free(a->mobility);
    free(a->best);
    free(a->first);
    free(a->weight);
}

static double
mobility_of(const Assembly *a, uint32_t state)
{
    const Run *run = a->run;
    uint8_t said = run->model->state_start ? run->model->state_start[state] : 0;
    double size = fmax(fabs(run->v[run->model->nominal + state]), 1e-300);
    if (said & MDL_START_FIXED && !a->move_fixed)
        return size * HELD;
    return said ? size : size * UNSAID;
}

static bool
prepare(Assembly *a, Run *run, uint32_t depth, bool move_fixed)
{
    const mdl_model *model = run->model;
    size_t m = model->n_constraints, n = model->nx;
    *a = (Assembly){.run = run, .depth = depth, .move_fixed = move_fixed};
    a->row = calloc(m + 1, sizeof *a->row);
    a->column = calloc(n + 1, sizeof *a->column);
    a->position = calloc(m + 1, sizeof *a->position);
    a->defect = calloc(m + 1, sizeof *a->defect);
    a->correction = calloc(n + 1, sizeof *a->correction);
    a->mobility = calloc(n + 1, sizeof *a->mobility);
    a->best = calloc(n + 1, sizeof *a->best);
    a->first = calloc(n + 1, sizeof *a->first);
    a->weight = calloc(m + 1, sizeof *a->weight);
    if (!a->row || !a->column || !a->position || !a->defect || !a->correction || !a->mobility || !a->best
        || !a->first || !a->weight)
        return false;
    for (uint32_t k = 0; k < m; k++)
        if (model->constraint[k].depth == depth) {
            a->position[k] = a->rows;
            a->weight[a->rows] = 1;
            a->row[a->rows++] = k;
        }
    for (uint32_t i = 0; i < n; i++)
        if (model->state_depth[i] == depth) {
            a->mobility[a->columns] = mobility_of(a, i);
            a->column[a->columns++] = i;
        }
    a->rank = rank_create(a->rows, a->columns);
    return a->rank != NULL;
}

// The residuals at the states in v into `defect`; returns their Euclidean length, weighted.
static double
measure(Assembly *a)
{
    Run *run = a->run;
    double sum = 0;
    evaluate_anyway(run);
    for (uint32_t i = 0; i < a->rows; i++) {
        double value = run->v[run->model->constraint[a->row[i]].value], weighted = value * a->weight[i];
        sum = isfinite(value) ? sum + weighted * weighted : INFINITY;
        a->defect[i] = -value;
    }
    return sqrt(sum);
}

static void
keep_states(Assembly *a)
{
    for (uint32_t j = 0; j < a->columns; j++)
        a->best[j] = a->run->v[a->run->model->y + a->column[j]];
}

static void
return_states(Assembly *a)
{
    for (uint32_t j = 0; j < a->columns; j++)
        a->run->v[a->run->model->y + a->column[j]] = a->best[j];
}

// By the terms at the states in v: those of high derivatives may be of any size, and what rounding leaves of them hides the others.
// False when nothing has such terms.
static bool
weigh(Assembly *a)
{
    const Run *run = a->run;
    const mdl_model *model = run->model;
    const mdl_matrix *c = &model->jac_c;
    bool any = false;
    for (uint32_t i = 0; i < a->rows; i++)
        a->weight[i] = 0;
    mdl_call(model->jacobian, run->v);
    for (uint32_t j = 0; j < model->nx; j++)
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            if (model->constraint[c->row[k]].depth == a->depth)
                a->weight[a->position[c->row[k]]] += fabs(run->v[c->values + k])
                                                     * fmax(fabs(run->v[model->y + j]), fabs(run->v[model->nominal + j]));
    for (uint32_t i = 0; i < a->rows; i++) {
        const mdl_constraint *at = &model->constraint[a->row[i]];
        bool large = (!at->component || at->unit == MDL_UNIT_OTHER) && a->weight[i] > 1 && isfinite(a->weight[i]);
        a->weight[i] = large ? 1 / a->weight[i] : 1;
        any |= large;
    }
    return any;
}

static void
fill_matrix(Assembly *a)
{
    const Run *run = a->run;
    const mdl_matrix *c = &run->model->jac_c;
    double *matrix = rank_matrix(a->rank);
    memset(matrix, 0, sizeof *matrix * a->rows * a->columns);
    for (uint32_t j = 0; c->nonzeros && j < a->columns; j++)
        for (uint32_t k = c->column_start[a->column[j]]; k < c->column_start[a->column[j] + 1]; k++)
            if (run->model->constraint[c->row[k]].depth == a->depth)
                matrix[(size_t)j * a->rows + a->position[c->row[k]]] = run->v[c->values + k];
}

// One correction, shortened by `factor`; false when there is no direction left.
static bool
correct(Assembly *a, double factor)
{
    Run *run = a->run;
    const mdl_model *model = run->model;
    double most = 0;
    mdl_call(model->jacobian, run->v);
    fill_matrix(a);
    if (!rank_factor(a->rank, a->mobility, 1e-10, a->rows))
        return false;
    rank_solve(a->rank, a->defect, a->correction);
    for (uint32_t j = 0; j < a->columns; j++) {
        double size = fmax(fabs(run->v[model->nominal + a->column[j]]), 1e-300);
        // What nobody has said anything about may be of any size.
        double reach = a->mobility[j] > size ? fmax(size, fabs(run->v[model->y + a->column[j]])) : size;
        most = fmax(most, fabs(a->correction[j]) / reach);
        // Where nothing else is left, the correction would move what may not.
        if (a->mobility[j] <= size * HELD && fabs(a->correction[j]) > size * MOVED)
            return false;
    }
    if (!isfinite(most) || most < 1e-15)
        return false;
    for (uint32_t j = 0; j < a->columns; j++)
        run->v[model->y + a->column[j]] += factor * fmin(1, STRIDE / most) * a->correction[j];
    return true;
}

// Towards the shortest way from `first`, the values before: of the points that satisfy the linearised invariants the one
// closest to them. Returns the length of the step; negative: not possible.
static double
shorten(Assembly *a, const double *first)
{
    Run *run = a->run;
    const mdl_model *model = run->model;
    double most = 0;
    mdl_call(model->jacobian, run->v);
    fill_matrix(a);
    const double *matrix = rank_matrix(a->rank);
    for (uint32_t j = 0; j < a->columns; j++) {
        double moved = run->v[model->y + a->column[j]] - first[j];
        for (uint32_t i = 0; i < a->rows; i++)
            a->defect[i] += matrix[(size_t)j * a->rows + i] * moved;
    }
    if (!rank_factor(a->rank, a->mobility, 1e-10, a->rows))
        return -1;
    rank_solve(a->rank, a->defect, a->correction);
    for (uint32_t j = 0; j < a->columns; j++) {
        double *y = &run->v[model->y + a->column[j]], next = first[j] + a->correction[j];
        most = fmax(most, fabs(next - *y) / fmax(fabs(run->v[model->nominal + a->column[j]]), 1e-300));
        *y = next;
    }
    return isfinite(most) ? most : -1;
}

// From a closed point in v to the closed point nearest to `first`; stays where it was when that is not found.
static void
shorten_all(Assembly *a, const double *first)
{
    double step = 1;
    keep_states(a);
    for (int k = 0; k < SHORTENINGS && step > 1e-12; k++) {
        step = shorten(a, first);
        if (step < 0 || step > 2 * STRIDE)
            break;
        measure(a);
    }
    if (!(step >= 0 && step < 1e-6 && measure(a) <= CLOSED)) {
        return_states(a);
        measure(a);
    }
}

// Corrections from where the states are until none helps; the best point is in v and `best`. Returns its residual.
static double
descend(Assembly *a)
{
    double least = INFINITY, factor = 1;
    for (int k = 0; k < CORRECTIONS && factor > 1e-8; k++) {
        double size = measure(a);
        bool better = size < least;
        if (better) {
            least = size;
            keep_states(a);
        } else {
            return_states(a);
            measure(a);
        }
        factor = better ? fmin(1, 2 * factor) : factor / 4;
        if (least <= 1e-15 || !correct(a, factor))
            break;
    }
    if (least < INFINITY)
        return_states(a);
    return least;
}

// Away from `first`, each value by its own part of its size: out of positions in which no correction has a direction, as of a
// joint whose axis lies along the arm that it turns.
static void
push_away(Assembly *a, int attempt)
{
    Run *run = a->run;
    uint32_t mixed = 2463534242u + (uint32_t)attempt * 2654435769u;
    for (uint32_t j = 0; j < a->columns; j++) {
        mixed ^= mixed << 13;
        mixed ^= mixed >> 17;
        mixed ^= mixed << 5;
        double size = fmax(fabs(run->v[run->model->nominal + a->column[j]]), 1e-300), part = (double)mixed / 4294967295.0 - 0.5;
        if (a->mobility[j] > size * HELD)
            run->v[run->model->y + a->column[j]] = a->first[j] + PUSH * (1 + attempt / 2) * part * size;
    }
}

// From other places, when the descent from the start ended in a position that is not closed.
static double
search(Assembly *a, double least)
{
    const mdl_model *model = a->run->model;
    double *closest = malloc((a->columns + 1) * sizeof *closest);
    for (uint32_t j = 0; closest && j < a->columns; j++)
        closest[j] = a->run->v[model->y + a->column[j]];
    for (int attempt = 0; closest && attempt < ATTEMPTS && !(least <= CLOSED); attempt++) {
        push_away(a, attempt);
        double found = descend(a);
        if (!(found < least))
            continue;
        least = found;
        for (uint32_t j = 0; j < a->columns; j++)
            closest[j] = a->run->v[model->y + a->column[j]];
    }
    for (uint32_t j = 0; closest && j < a->columns; j++)
        a->run->v[model->y + a->column[j]] = closest[j];
    free(closest);
    return least;
}

// Moves the states of one depth to the closest point that was found; returns its residual.
static double
close_depth(Run *run, uint32_t depth, bool move_fixed, bool far)
{
    Assembly a;
    if (!prepare(&a, run, depth, move_fixed)) {
        forget(&a);
        return 0;
    }
    double least = 0;
    if (a.rows) {
        for (uint32_t j = 0; j < a.columns; j++)
            a.first[j] = run->v[run->model->y + a.column[j]];
        least = descend(&a);
        for (int k = 0; k < WEIGHINGS && !(least <= CLOSED) && weigh(&a); k++)
            least = descend(&a);
        least = far && !(least <= CLOSED) ? search(&a, least) : least;
        least = measure(&a);
        if (least <= CLOSED)
            shorten_all(&a, a.first);
    }
    forget(&a);
    return least;
}

static uint32_t
greatest_depth(const mdl_model *model)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < model->n_constraints; k++)
        if (model->constraint[k].depth > most)
            most = model->constraint[k].depth;
    return most;
}

// All depths, positions first; with `release` fixed start values move where nothing else helps. Returns the depth that
// does not close, 0 when all do. `kept` are the values before.
static uint32_t
close_all(Run *run, bool release, const double *kept)
{
    const mdl_model *model = run->model;
    for (uint32_t depth = greatest_depth(model); depth > 0; depth--) {
        if (close_depth(run, depth, false, release) <= CLOSED)
            continue;
        for (uint32_t i = 0; release && i < model->nx; i++)
            if (model->state_depth[i] == depth)
                run->v[model->y + i] = kept[model->y + i];
        if (!release || !(close_depth(run, depth, true, true) <= CLOSED))
            return depth;
    }
    return 0;
}

// --- words

// Appends ", name"; returns what it took.
static size_t
name_component(char *text, size_t size, uint32_t n, const char *name, size_t length)
{
    int more = snprintf(text, size, "%s%.*s", n ? ", " : "", (int)length, name);
    return more > 0 && (size_t)more < size ? (size_t)more : 0;
}

static bool
has_name(const char *const *names, uint32_t n, const char *name, size_t length)
{
    for (uint32_t i = 0; i < n; i++)
        if (!strncmp(names[i], name, length) && (names[i][length] == '.' || !names[i][length]))
            return true;
    return false;
}

size_t
assemble_loop_text(const Run *run, const uint8_t *rows, char *text, size_t size)
{
    const mdl_model *model = run->model;
    const mdl_matrix *c = &model->jac_c;
    const char *names[LISTED];
    uint32_t n = 0;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t j = 0; j < model->nx; j++) {
        const char *name = model->state_name[j], *dot = strrchr(name, '.');
        bool takes_part = false;
        for (uint32_t k = c->column_start[j]; k < c->column_start[j + 1]; k++)
            takes_part |= rows[c->row[k]] && run->v[c->values + k] != 0;
        if (!takes_part || !dot || strchr(name, '$') || !strncmp(name, "der(", 4)
            || has_name(names, n, name, (size_t)(dot - name)) || n == LISTED)
            continue;
        used += name_component(text + used, size - used, n, name, (size_t)(dot - name));
        names[n++] = name;
    }
    for (uint32_t k = 0; k < model->n_constraints; k++) {
        const char *name = model->constraint[k].component;
        if (!rows[k] || !name || n == LISTED || has_name(names, n, name, strlen(name)))
            continue;
        used += name_component(text + used, size - used, n, name, strlen(name));
        names[n++] = name;
    }
    return used;
}

// The components of the constraints of this depth that do not hold.
static void
say_loop(Text *out, const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    uint8_t *rows = calloc((size_t)model->n_constraints + 1, 1);
    for (uint32_t k = 0; rows && k < model->n_constraints; k++)
        rows[k] = model->constraint[k].depth == depth && !(fabs(run->v[model->constraint[k].value]) <= CLOSED);
    if (rows)
        out->used += assemble_loop_text(run, rows, out->text + out->used, TEXT - out->used);
    free(rows);
}

// The squares of the residuals of a component's constraints, by unit; false when k is not the first of them, or they hold.
static bool
add_gaps(const Run *run, uint32_t k, double *gap)
{
    const mdl_model *model = run->model;
    const mdl_constraint *at = &model->constraint[k];
    memset(gap, 0, 4 * sizeof *gap);
    for (uint32_t i = 0; i < model->n_constraints; i++) {
        const mdl_constraint *other = &model->constraint[i];
        if (other->depth != at->depth || !other->component || strcmp(other->component, at->component))
            continue;
        if (i < k)
            return false;
        gap[other->unit & 3] += run->v[other->value] * run->v[other->value];
    }
    return !(gap[0] + gap[1] + gap[2] + gap[3] <= CLOSED * CLOSED);
}

// What is left in metres and radians says how far parts are apart; other residuals are told when there is none of these.
static bool
has_lengths(const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_constraints; k++) {
        const mdl_constraint *at = &model->constraint[k];
        bool length = at->unit == MDL_UNIT_METRE || at->unit == MDL_UNIT_RADIAN;
        if (at->depth == depth && at->component && length && fabs(run->v[at->value]) > CLOSED)
            return true;
    }
    return false;
}

// "1.2e-2 m and 0.3 rad at j2 (model.mdl:12:3)" for each component with a gap.
static void
say_gaps(Text *out, const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    static const char *const units[2][2] = {{"m", "rad"}, {"m/s", "rad/s"}};
    bool lengths = has_lengths(run, depth);
    uint32_t shown = 0;
    for (uint32_t k = 0; k < model->n_constraints && shown < LISTED; k++) {
        const mdl_constraint *at = &model->constraint[k];
        double gap[4];
        if (at->depth != depth || !at->component || !add_gaps(run, k, gap))
            continue;
        bool length = gap[MDL_UNIT_METRE] + gap[MDL_UNIT_RADIAN] > CLOSED * CLOSED;
        if (lengths && !length)
            continue;
        shown++;
        if (!isfinite(gap[0] + gap[1] + gap[2] + gap[3]))
            say(out, "\n  no value of the constraints");
        else if (length)
            say(out, "\n  a gap of %.6g %s and %.6g %s", sqrt(gap[MDL_UNIT_METRE]), units[at->level > 0][0],
                sqrt(gap[MDL_UNIT_RADIAN]), units[at->level > 0][1]);
        else
            say(out, "\n  a residual of %.6g", sqrt(gap[MDL_UNIT_OTHER] + gap[MDL_UNIT_RATIO]));
        say(out, " at '%s'%s%s%s", at->component, at->place[0] ? " (" : "", at->place, at->place[0] ? ")" : "");
    }
}

static void
say_fixed(Text *out, const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < model->nx; i++)
        if (model->state_start[i] & MDL_START_FIXED && model->state_depth[i] == depth && shown < LISTED)
            say(out, "%s%s = %.8g", shown++ ? ", " : "\n  with the fixed start values ", model->state_name[i],
                run->v[model->y + i]);
}

static bool
has_joints(const mdl_model *model)
{
    for (uint32_t k = 0; k < model->n_constraints; k++)
        if (model->constraint[k].component && model->constraint[k].unit != MDL_UNIT_OTHER)
            return model->state_start && model->state_depth;
    return false;
}

static void
say_open(Text *out, Run *run, uint32_t depth)
{
    evaluate_anyway(run);
    mdl_call(run->model->jacobian, run->v);
    say(out, "the loop of ");
    say_loop(out, run, depth);
    say(out, " does not close at the start; at best there is");
    say_gaps(out, run, depth);
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
    if (!has_joints(model))
        return MDL_OK;
    double *kept = malloc(model->nv * sizeof *kept);
    if (!kept)
        return MDL_INTERNAL;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    uint32_t open = close_all(run, true, kept);
    Text text = {.used = 0};
    if (open)
        say_open(&text, run, open);
    move_conditions(run, kept);
    free(kept);
    if (open)
        run_message(run, MDL_ERROR, "%s\nwhatever start values move", text.text);
    return open ? MDL_FAILED : MDL_OK;
}

bool
assemble_guesses(Run *run)
{
    const mdl_model *model = run->model;
    double *kept = model->n_moves ? malloc(model->nv * sizeof *kept) : NULL;
    if (!kept)
        return false;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    bool closed = !close_all(run, false, NULL);
    if (closed)
        move_conditions(run, kept);
    free(kept);
    return closed;
}

void
assemble_note(const Run *run, const double *before, bool asked)
{
    const mdl_model *model = run->model;
    Text text = {.used = 0};
    uint32_t shown = 0, more = 0;
    for (uint32_t i = 0; model->state_start && i < model->nx; i++) {
        double now = run->v[model->y + i], then = before[model->y + i];
        if (!model->state_start[i] || fabs(now - then) <= MOVED * fmax(1, fabs(then)))
            continue;
        if (shown++ >= LISTED)
            more++;
        else
            say(&text, "\n  %s%s: %.10g -> %.10g", model->state_name[i],
                model->state_start[i] & MDL_START_FIXED ? " (fixed)" : "", then, now);
    }
    if (more)
        say(&text, "\n  and %u more", more);
    if (shown)
        run_message(run, MDL_NOTE, asked ? "assembled: these start values moved to close the loops%s"
                                         : "these start values are not fixed and moved to where the constraints hold%s", text.text);
    else if (asked)
        run_message(run, MDL_NOTE, "assembled: no start value had to move");
}

static bool
is_finite_at(const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_constraints; k++)
        if (model->constraint[k].depth == depth && !isfinite(run->v[model->constraint[k].value]))
            return false;
    return true;
}

bool
assemble_explain(Run *run)
{
    Text text = {.used = 0};
    if (!has_joints(run->model))
        return false;
    uint32_t open = close_all(run, false, NULL);
    if (!open)
        return false;
    evaluate_anyway(run);
    if (!is_finite_at(run, open))
        return false;
    say_open(&text, run, open);
    say_fixed(&text, run, open);
    run_message(run, MDL_ERROR, "%s\nmdlc run --assemble closes it, where it can be closed, by moving start values", text.text);
    return true;
}
