// newton_report.c: what is said about a block that could not be solved.
//
// Purpose: equations with their places, the worst residual, the iterate, and what a singular matrix leaves open, in the
//          names of the user.
// Method: null vectors of the matrix of partial derivatives at the iterate (rank.c); the inner variables' parts follow
//         from evaluating the block along them.
// Contract: run.h, newton.h. Complexity: one factorisation of the block, only on failure.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"

enum { SHOWN = 8, DIRECTIONS = 3, TOGETHER = 6, LOOKED_AT = 500 };

static const double AGREEMENT = 1e-9; // of residuals, in the sizes of their terms

static const char WITHOUT_INERTIA[] = "give the body a value, or leave it out";

typedef struct Text {
    char *text;
    size_t size, used;
} Text;

static void __attribute__((format(printf, 2, 3)))
say(Text *out, const char *format, ...)
{
    va_list arguments;
    if (out->used >= out->size)
        return;
    va_start(arguments, format);
    int more = vsnprintf(out->text + out->used, out->size - out->used, format, arguments);
    va_end(arguments);
    out->used = more < 0 ? out->used : (size_t)more < out->size - out->used ? out->used + (size_t)more : out->size - 1;
}

static const char *
trouble_text(Trouble trouble)
{
    switch (trouble) {
    case NOT_FINITE: return "an equation has no finite value";
    case STARVED: return "there is no memory left for its matrix";
    case SINGULAR: return "its matrix of partial derivatives is singular";
    case NO_DESCENT: return "no step reduces the error";
    case JUMP: return "no step reduces the error, because an equation jumps there";
    case TOO_MANY: return "the iteration does not converge";
    case TURNING_POINT: return "the path from the start values turns back before it reaches a solution";
    case CONTRADICTION: return "its equations contradict each other";
    case NOT_REACHED: return "its equations contradict each other, or the start values are too far from values that agree";
    case INACCURATE: return "rounding does not let its residuals become small";
    default: return "there is no path from the start values to a solution";
    }
}

// Variable i of the block: an unknown, or after them an inner one.
static const char *
name_of_unknown(const mdl_block *block, uint32_t i)
{
    const char *const *names = i < block->m ? block->unknown_name : block->inner_name;
    const char *name = names ? names[i < block->m ? i : i - block->m] : NULL;
    return name ? name : "?";
}

// MDL_NAME_*.
static uint8_t
kind_of(const mdl_block *block, uint32_t i)
{
    const uint8_t *kinds = i < block->m ? block->unknown_kind : block->inner_kind;
    return kinds ? kinds[i < block->m ? i : i - block->m] : 0;
}

// Bodies without mass or without inertia: in a system that determines too little they are the first to look at.
static void
say_inertias(Text *out, const Run *run, const char *before)
{
    const mdl_model *model = run->model;
    uint32_t count = 0, shown = 0;
    if (strstr(out->text, WITHOUT_INERTIA)) // said of another direction
        return;
    for (uint32_t i = 0; i < model->n_inertias; i++)
        count += run->v[model->inertia[i].place] == 0;
    for (uint32_t i = 0; i < model->n_inertias && shown < TOGETHER; i++)
        if (run->v[model->inertia[i].place] == 0)
            say(out, "%s'%s'", !shown++ ? before : shown == count ? " and " : ", ", model->inertia[i].name);
    if (count > TOGETHER)
        say(out, " and %u more", count - TOGETHER);
    if (count)
        say(out, " %s 0: %s", count == 1 ? "is" : "are", WITHOUT_INERTIA);
}

void
newton_inertia_text(const Run *run, char *text, size_t size)
{
    Text out = {text, size, 0};
    text[0] = '\0';
    say_inertias(&out, run, "\n");
}

// One direction in which n variables can move together. What the compiler has made says nothing to those who wrote the model: variables
// that take up surplus constraints may move freely by their nature.
static void
say_direction(const Run *run, Text *out, const char *const *name, const uint8_t *kind, uint32_t n, double *along)
{
    uint32_t count = 0, first = n;
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs(along[i]));
    for (uint32_t i = 0; i < n; i++)
        along[i] = kind[i] & MDL_NAME_BARE ? 0 : along[i];
    for (uint32_t i = 0; i < n; i++)
        if (fabs(along[i]) > 1e-6 * most) {
            count++;
            first = first == n ? i : first;
        }
    if (!count)
        return;
    bool rates = false;
    for (uint32_t i = first; i < n; i++)
        rates |= fabs(along[i]) > 1e-6 * most && kind[i] & MDL_NAME_RATE;
    say(out, "\n  ");
    for (uint32_t i = first, shown = 0; i < n && shown < TOGETHER; i++)
        if (fabs(along[i]) > 1e-6 * most)
            say(out, "%s`%s`", !shown++ ? "" : shown == count ? " and " : ", ", name[i]);
    if (count > TOGETHER)
        say(out, " and %u more", count - TOGETHER);
    say(out, count > 1 ? " can change together as " : " can change");
    for (uint32_t i = first, shown = 0; i < n && count > 1 && shown < TOGETHER; i++)
        if (fabs(along[i]) > 1e-6 * most)
            say(out, "%s%.4g", shown++ ? " : " : "", along[i] / along[first]);
    say(out, " without changing these equations");
    if (rates) {
        say(out, ":\n    nothing resists this change; does a mass or an inertia (a capacitance, an inductance) vanish there?");
        say_inertias(out, run, " ");
    }
}

size_t
report_null_text(const Run *run, Rank *rank, const char *const *name, const uint8_t *kind, uint32_t n, char *text, size_t size)
{
    Text out = {text, size, 0};
    double *along = calloc((size_t)n + 1, sizeof *along);
    text[0] = '\0';
    for (uint32_t k = 0; along && k < n - rank_value(rank) && k < DIRECTIONS; k++) {
        rank_null(rank, k, along);
        say_direction(run, &out, name, kind, n, along);
    }
    free(along);
    return out.used;
}

size_t
newton_null_text(const Run *run, Newton *newton, uint32_t most, char *text, size_t size)
{
    const mdl_block *block = newton->block;
    Text out = {text, size, 0};
    text[0] = '\0';
    uint32_t n = block->m + block->n_inner;
    double *along = calloc((size_t)n + 1, sizeof *along);
    const char **name = calloc((size_t)n + 1, sizeof *name);
    uint8_t *kind = calloc((size_t)n + 1, sizeof *kind);
    for (uint32_t i = 0; name && kind && i < n; i++) {
        name[i] = name_of_unknown(block, i);
        kind[i] = kind_of(block, i);
    }
    for (uint32_t k = 0; along && name && kind && k < block->m - rank_value(newton->rank) && k < most; k++) {
        rank_null(newton->rank, k, along);
        newton_inner_response(run, newton, along, along + block->m);
        say_direction(run, &out, name, kind, n, along);
    }
    free(kind);
    free(name);
    free(along);
    return out.used;
}

// The residuals that newton_defect() has found are rounding.
static bool
all_agree(const Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        if (!(fabs(newton->step[i]) <= AGREEMENT * (newton->size[i] > 0 && isfinite(newton->size[i]) ? newton->size[i] : 1)))
            return false;
    return true;
}

static uint32_t
worst_equation(const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    uint32_t worst = 0;
    double most = -1;
    for (uint32_t i = 0; i < block->m; i++) {
        double r = run->v[block->residual[i]], size = newton->size[i];
        if (!isfinite(r))
            return i;
        double relative = fabs(r) / (size > 0 && isfinite(size) ? size : 1);
        if (relative > most) {
            most = relative;
            worst = i;
        }
    }
    return worst;
}

static void
say_iterate(Text *out, const Run *run, const mdl_block *block)
{
    uint32_t shown = 0, left = 0;
    for (uint32_t i = 0; i < block->m; i++) {
        if (kind_of(block, i) & MDL_NAME_BARE)
            continue;
        left += shown == SHOWN;
        if (shown < SHOWN && shown++ < SHOWN)
            say(out, "\n  %s = %.10g", name_of_unknown(block, i), run->v[block->unknown[i]]);
    }
    if (left)
        say(out, "\n  and %u more", left);
}

static void
say_equations(Text *out, const mdl_block *block, uint32_t worst)
{
    uint32_t n = block->m + block->n_inner, shown = 0;
    for (uint32_t i = 0; i < n && (n > 1 || worst >= n); i++) {
        const char *const *texts = i < block->m ? block->equation : block->inner_equation;
        if (i == worst || !texts)
            continue;
        if (shown == SHOWN) {
            say(out, "\n  and %u more", n - 1 - SHOWN);
            break;
        }
        say(out, "%s\n  %s", shown++ ? "" : worst < n ? "\ntogether with" : "\nof", texts[i < block->m ? i : i - block->m]);
    }
}

// --- equations that hold states in the conditions of now

// The residual with `change` added to one place of v; plain steps before the block are evaluated, other blocks stay as they are.
static double
residual_moved(const Run *run, const mdl_block *block, uint32_t residual, uint32_t place, double change)
{
    const mdl_model *model = run->model;
    double kept = run->v[place];
    run->v[place] += change;
    for (uint32_t k = 0; k < model->n_dynamics && model->dynamics[k].block != block; k++)
        if (!model->dynamics[k].block)
            mdl_call(model->dynamics[k].call, run->v);
    mdl_call(block->eval, run->v);
    double r = run->v[block->residual[residual]];
    run->v[place] = kept;
    return r;
}

static bool
depends(const Run *run, const Newton *newton, uint32_t residual, uint32_t place, double nominal)
{
    double change = 1e-2 * fmax(fabs(run->v[place]), nominal);
    double without = residual_moved(run, newton->block, residual, place, 0);
    return fabs(residual_moved(run, newton->block, residual, place, change) - without) > 1e-12 * fmax(newton->size[residual], fabs(without));
}

// States that residual i of the block follows from, when it follows from none of the unknowns: the first few, into `found`.
static uint32_t
held_states(const Run *run, const Newton *newton, uint32_t i, uint32_t *found)
{
    const mdl_block *block = newton->block;
    const mdl_model *model = run->model;
    uint32_t n = 0;
    for (uint32_t k = 0; k < block->m; k++)
        if (depends(run, newton, i, block->unknown[k], block->nominal ? block->nominal[k] : 1))
            return 0;
    for (uint32_t k = 0; k < model->nx && k < LOOKED_AT && n < TOGETHER; k++)
        if (depends(run, newton, i, model->y + k, run->v[model->nominal + k]))
            found[n++] = k;
    return n;
}

// A switch that closes between capacitors, a clutch between inertias: what the equation asks of states only a jump could give.
static void
say_held_states(Text *out, const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    const mdl_model *model = run->model;
    bool dynamic = false;
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        dynamic = dynamic || model->dynamics[k].block == block;
    double *kept = dynamic && block->switched ? malloc(model->nv * sizeof *kept) : NULL;
    if (!kept)
        return;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    for (uint32_t i = 0; i < block->m; i++) {
        uint32_t found[TOGETHER], n = held_states(run, newton, i, found);
        if (n)
            say(out, "\nin the conditions that hold now this equation has none of the unknowns in it and holds the states ");
        for (uint32_t k = 0; k < n; k++)
            say(out, "%s`%s`", k == 0 ? "" : k + 1 == n ? " and " : ", ", model->state_name[found[k]]);
        if (n && block->m > 1 && block->equation)
            say(out, ":\n  %s", block->equation[i]);
        if (n)
            say(out, "\nonly impulses could make them fulfil it at once, and impulses of what switches are not computed; with a resistance between\n"
                     "capacitors (Ron of a switch), or a friction between inertias (Rotational.Clutch, a*Sgn(...)), they come together in finite time");
    }
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
    failure_clear(run);
}

// The fixed start values that constraints read: one of them is likely to be too much.
static void
say_fixed_starts(Text *out, const Run *run, const mdl_block *block)
{
    const mdl_model *model = run->model;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < block->n_known && model->state_start; i++) {
        uint32_t k = block->known[i] - model->y;
        if (block->known[i] < model->y || k >= model->nx || !(model->state_start[k] & MDL_START_FIXED) || shown == TOGETHER)
            continue;
        const char *place = model->state_place ? model->state_place[k] : "";
        say(out, "%s%s = %.8g%s%s%s", shown++ ? ", " : "\nthey read the fixed start values ", model->state_name[k], run->v[block->known[i]],
            *place ? " (" : "", place, *place ? ")" : "");
    }
    if (shown)
        say(out, ";\nwithout fixed = true a start is a guess, which moves to where they hold%s",
            run->options->assemble ? "; --assemble has moved fixed ones, too, and found none" : "; so do fixed ones with --assemble");
}

// Which residuals cannot vanish together: the largest of what the least-squares solution leaves.
static void
say_contradiction(Text *out, const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    double most = 0;
    for (uint32_t i = 0; i < block->m; i++)
        most = fmax(most, fabs(run->v[block->residual[i]]) / fmax(newton->size[i], 1e-300));
    say(out, newton->trouble == NOT_REACHED ? "\nthe start values leave" : "\nthe closest values leave");
    for (uint32_t i = 0, shown = 0; i < block->m && shown < SHOWN; i++) {
        double r = run->v[block->residual[i]];
        if (fabs(r) / fmax(newton->size[i], 1e-300) < 1e-3 * most)
            continue;
        say(out, "\n  %s\n    with the residual %.6g", block->equation ? block->equation[i] : "?", r);
        shown++;
    }
    say(out, block->constraints ? "\n(equations of constraints that agree elsewhere do so in a singular position, as of a folded linkage)"
        : block->switched || block->conditions ? "\n(other conditions than those that hold now make them independent)" : "");
    say_fixed_starts(out, run, block);
    say_held_states(out, run, newton);
    bool own = false;
    for (uint32_t i = 0; i < block->m; i++)
        own = own || !(kind_of(block, i) & MDL_NAME_BARE);
    say(out, own ? "\nat" : "");
}

// The unknowns' names, the first few.
static void
say_names(Text *out, const mdl_block *block)
{
    for (uint32_t i = 0; i < block->m && i < TOGETHER; i++)
        say(out, "%s%s", i ? ", " : "", name_of_unknown(block, i));
    if (block->m > TOGETHER)
        say(out, " and %u more", block->m - TOGETHER);
}

void
newton_trace_solve(const Run *run, const Newton *newton, bool solved)
{
    const mdl_block *block = newton->block;
    char text[4000];
    Text out = {text, sizeof text, 0};
    say(&out, "initialisation: %u unknown%s (", block->m, block->m == 1 ? "" : "s");
    say_names(&out, block);
    say(&out, ") of %u equations: %s after %u correction%s", block->m + block->n_inner,
        solved ? "solved" : trouble_text(newton->trouble), newton->corrections, newton->corrections == 1 ? "" : "s");
    if (newton->by_rank)
        say(&out, ", rank %u", rank_value(newton->rank));
    for (uint32_t i = 0; i < block->m && i < SHOWN; i++)
        say(&out, "\n  %s: %.8g -> %.8g", name_of_unknown(block, i), newton->start[i], run->v[block->unknown[i]]);
    run_message(run, MDL_NOTE, "%s", text);
}

void
newton_trace_step(const Run *run, const Newton *newton, double s, const double *from)
{
    const mdl_block *block = newton->block;
    char text[4000];
    Text out = {text, sizeof text, 0};
    say(&out, "  continuation to s = %.10g: %u correction%s", s, newton->corrections, newton->corrections == 1 ? "" : "s");
    bool shown[block->m + 1];
    memset(shown, 0, sizeof shown);
    for (uint32_t count = 0; count < 4 && count < block->m; count++) {
        uint32_t fastest = block->m;
        double most = 0;
        for (uint32_t i = 0; i < block->m; i++) {
            double moved = fabs(run->v[block->unknown[i]] - from[i]) / fmax(fabs(from[i]), newton->scale[i]);
            if (!shown[i] && moved > most) {
                most = moved;
                fastest = i;
            }
        }
        if (fastest == block->m)
            break;
        shown[fastest] = true;
        say(&out, "; %s: %.8g -> %.8g", name_of_unknown(block, fastest), from[fastest], run->v[block->unknown[fastest]]);
    }
    run_message(run, MDL_NOTE, "%s", text);
}

void
newton_note_open(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    char text[2400], open[1200] = "";
    Text out = {text, sizeof text, 0};
    // Where constraints are redundant the equations have more than is open.
    if (!newton->by_rank || !block->conditions || block->constraints)
        return;
    mdl_call(block->jacobian, run->v);
    if (!newton_rank(run, newton, RANK_DEPENDENT, block->m) || rank_value(newton->rank) == block->m)
        return;
    newton_null_text(run, newton, DIRECTIONS, open, sizeof open);
    uint32_t count = block->m - rank_value(newton->rank);
    say(&out, "initialisation: the conditions of the start leave something open, because %u of the equations below follow%s from the others; "
        "of all solutions one near the start values is taken", count, count == 1 ? "s" : "");
    say(&out, "%s", open);
    say_equations(&out, block, UINT32_MAX);
    run_message(run, MDL_NOTE, "%s", text);
}

void
newton_note_elsewhere(const Run *run, const Newton *newton, const double *from)
{
    const mdl_block *block = newton->block;
    char text[2000];
    Text out = {text, sizeof text, 0};
    uint32_t shown = 0;
    say(&out, "initialisation: nothing can be solved from the start values; other ones were taken:");
    for (uint32_t i = 0; i < block->m; i++)
        if (from[i] != newton->start[i] && shown++ < SHOWN)
            say(&out, "\n  %s: %.9g instead of %.9g", name_of_unknown(block, i), from[i], newton->start[i]);
    if (shown > SHOWN)
        say(&out, "\n  and %u more", shown - SHOWN);
    run_message(run, MDL_NOTE, "%s", text);
}

void
newton_report(const Run *run, Newton *newton, const char *when)
{
    const mdl_block *block = newton->block;
    char text[3900], open[1200] = "";
    Text out = {text, sizeof text, 0};
    uint32_t worst = worst_equation(run, newton), equations = block->m + block->n_inner;
    if (newton->trouble == SINGULAR && block->m <= RANK_LIMIT && newton_rank(run, newton, 1e-12, block->m)
        && !newton_null_text(run, newton, DIRECTIONS, open, sizeof open) && rank_value(newton->rank) < block->m) {
        // Nothing that was written is open: the rank is that of surplus constraints, which may disagree from the beginning.
        newton_write(run, newton, newton->start);
        if (newton_defect(run, newton, newton->step) && !all_agree(newton))
            newton->trouble = NOT_REACHED;
        worst = worst_equation(run, newton);
    }
    say(&out, "%s: a system of %u equation%s could not be solved: %s", when, equations, equations == 1 ? "" : "s",
        trouble_text(newton->trouble));
    if (newton->trouble == TURNING_POINT)
        say(&out, " (at s = %.4g, and its other branch does not come to one either); there may be none, or other start values lead to one", newton->reached);
    say(&out, "%s", open);
    if (newton->trouble == SINGULAR || newton->trouble == CONTRADICTION || newton->trouble == NOT_FINITE)
        say_inertias(&out, run, "\n");
    if (newton->trouble == CONTRADICTION || newton->trouble == NOT_REACHED)
        say_contradiction(&out, run, newton);
    else
        say(&out, "\nequation %s\n  has the residual %.6g at", block->equation ? block->equation[worst] : "?",
            run->v[block->residual[worst]]);
    say_iterate(&out, run, block);
    if (newton->trouble != CONTRADICTION && newton->trouble != NOT_REACHED)
        say_equations(&out, block, worst);
    run_message(run, MDL_ERROR, "%s", text);
}
