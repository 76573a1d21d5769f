// assemble_report.c: what is said about the loops of a mechanism at the start.
//
// Purpose: which loops do not close, how far their joints are apart, which fixed start values keep them so, and what has moved.
// Method: the constraints of the depth that does not close, component by component; squares of residuals of one unit add up.
// Contract: assemble.h, run.h. Complexity: quadratic in the constraints that do not hold, only on failure.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/start/assemble.h"
#include "runtime/start/start.h"
#include "runtime/step/step.h"

enum { LISTED = 8, TEXT = 3000 };

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
        if (!takes_part || !dot || model->state_kind[j] & (MDL_NAME_MADE | MDL_NAME_RATE)
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
        rows[k] = model->constraint[k].depth == depth && !(fabs(run->v[model->constraint[k].value]) <= ASSEMBLE_CLOSED);
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
    return !(gap[0] + gap[1] + gap[2] + gap[3] <= ASSEMBLE_CLOSED * ASSEMBLE_CLOSED);
}

// What is left in metres and radians says how far parts are apart; other residuals are told when there is none of these.
static bool
has_lengths(const Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_constraints; k++) {
        const mdl_constraint *at = &model->constraint[k];
        bool length = at->unit == MDL_UNIT_METRE || at->unit == MDL_UNIT_RADIAN;
        if (at->depth == depth && at->component && length && fabs(run->v[at->value]) > ASSEMBLE_CLOSED)
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
        bool length = gap[MDL_UNIT_METRE] + gap[MDL_UNIT_RADIAN] > ASSEMBLE_CLOSED * ASSEMBLE_CLOSED;
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

// Per state: it belongs to a mechanism of this depth with a constraint that does not hold.
static void
find_open_states(const Run *run, uint32_t depth, uint8_t *open)
{
    const mdl_model *model = run->model;
    Invariants *invariants = invariants_create(model);
    uint32_t *list = malloc(((size_t)model->n_constraints + model->nx + 1) * sizeof *list);
    for (uint32_t g = 0; invariants && list && g < invariants_groups(invariants); g++) {
        uint32_t rows = invariants_group(invariants, g, list);
        bool holds = true;
        for (uint32_t i = 0; i < rows; i++)
            holds &= model->constraint[list[i]].depth != depth || fabs(run->v[model->constraint[list[i]].value]) <= ASSEMBLE_CLOSED;
        uint32_t columns = invariants_states(invariants, g, list);
        for (uint32_t j = 0; j < columns && !holds; j++)
            open[list[j]] = 1;
    }
    free(list);
    invariants_free(&invariants);
}

static void
say_fixed(Text *out, Run *run, uint32_t depth)
{
    const mdl_model *model = run->model;
    uint8_t *open = calloc((size_t)model->nx + 1, 1);
    uint32_t shown = 0;
    if (open)
        find_open_states(run, depth, open);
    for (uint32_t i = 0; open && i < model->nx; i++)
        if (model->state_start[i] & MDL_START_FIXED && open[i] && shown < LISTED)
            say(out, "%s%s = %.8g", shown++ ? ", " : "\n  with the fixed start values ", model->state_name[i],
                run->v[model->y + i]);
    free(open);
}

bool
assemble_has_joints(const mdl_model *model)
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

// Whether a start value that was written has moved, and whether it is fixed.
static bool
has_moved(const Run *run, const double *before, uint32_t state, bool *fixed)
{
    const mdl_model *model = run->model;
    uint8_t said = model->state_start ? model->state_start[state] : 0;
    double now = run->v[model->y + state], then = before[model->y + state];
    *fixed = said & MDL_START_FIXED;
    return said && fabs(now - then) > ASSEMBLE_MOVED * fmax(1, fabs(then));
}

// Fixed values are told first: that they moved is what a user must know.
void
assemble_note(const Run *run, const double *before, bool asked)
{
    const mdl_model *model = run->model;
    Text text = {.used = 0};
    uint32_t shown = 0, more = 0;
    for (int guesses = 0; guesses < 2; guesses++)
        for (uint32_t i = 0; i < model->nx; i++) {
            bool fixed;
            if (!has_moved(run, before, i, &fixed) || fixed != !guesses)
                continue;
            if (shown++ >= LISTED)
                more++;
            else
                say(&text, "\n  %s%s: %.10g -> %.10g", model->state_name[i], fixed ? " (fixed)" : "",
                    before[model->y + i], run->v[model->y + i]);
        }
    if (more)
        say(&text, "\n  and %u more", more);
    if (shown)
        run_message(run, MDL_NOTE, !asked ? "these start values are not fixed and moved to where the constraints hold%s"
                                   : assemble_has_joints(model) ? "assembled: these start values moved to close the loops%s"
                                   : "assembled: these start values moved to where the constraints hold%s", text.text);
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

void
assemble_report(Run *run, uint32_t open, bool moved)
{
    Text text = {.used = 0};
    say_open(&text, run, open);
    if (!moved)
        say_fixed(&text, run, open);
    const char *advice = moved                    ? "whatever start values move"
                         : run->options->assemble ? "--assemble has moved start values, but the conditions at the start do not hold beside each other: "
                                                    "more of them are fixed than the mechanism has freedom for, or they contradict each other"
                                                  : "mdlc run --assemble closes it, where it can be closed, by moving start values";
    run_message(run, MDL_ERROR, "%s\n%s", text.text, advice);
}

bool
assemble_explain(Run *run)
{
    uint32_t open = assemble_has_joints(run->model) ? assemble_close(run, false) : 0;
    if (!open)
        return false;
    evaluate_anyway(run);
    if (!is_finite_at(run, open))
        return false;
    assemble_report(run, open, false);
    return true;
}
