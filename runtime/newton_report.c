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

#include "runtime/newton.h"

enum { SHOWN = 8, DIRECTIONS = 3, TOGETHER = 6 };

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
    case SINGULAR: return "its matrix of partial derivatives is singular";
    case NO_DESCENT: return "no step reduces the error";
    case TOO_MANY: return "the iteration does not converge";
    case TURNING_POINT: return "the path from the start values turns back before it reaches a solution";
    case CONTRADICTION: return "its equations contradict each other";
    case INACCURATE: return "rounding does not let its residuals become small";
    default: return "there is no path from the start values to a solution";
    }
}

// Variable i of the block: an unknown, or after them an inner one.
static const char *
name_of(const mdl_block *block, uint32_t i)
{
    const char *const *names = i < block->m ? block->unknown_name : block->inner_name;
    const char *name = names ? names[i < block->m ? i : i - block->m] : NULL;
    return name ? name : "?";
}

// One direction in which the block's variables can move together.
static void
say_direction(Text *out, const mdl_block *block, const double *along)
{
    uint32_t n = block->m + block->n_inner, count = 0, first = n;
    double most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = fmax(most, fabs(along[i]));
    for (uint32_t i = 0; i < n; i++)
        if (fabs(along[i]) > 1e-6 * most) {
            count++;
            first = first == n ? i : first;
        }
    if (!count)
        return;
    say(out, "\n  ");
    for (uint32_t i = first, shown = 0; i < n && shown < TOGETHER; i++)
        if (fabs(along[i]) > 1e-6 * most)
            say(out, "%s`%s`", !shown++ ? "" : shown == count ? " and " : ", ", name_of(block, i));
    if (count > TOGETHER)
        say(out, " and %u more", count - TOGETHER);
    say(out, count > 1 ? " can change together as " : " can change");
    for (uint32_t i = first, shown = 0; i < n && count > 1 && shown < TOGETHER; i++)
        if (fabs(along[i]) > 1e-6 * most)
            say(out, "%s%.4g", shown++ ? " : " : "", along[i] / along[first]);
    say(out, " without changing these equations");
}

size_t
newton_null_text(const Run *run, Newton *newton, uint32_t most, char *text, size_t size)
{
    const mdl_block *block = newton->block;
    Text out = {text, size, 0};
    text[0] = '\0';
    double *along = calloc((size_t)block->m + block->n_inner + 1, sizeof *along);
    for (uint32_t k = 0; along && k < block->m - rank_value(newton->rank) && k < most; k++) {
        rank_null(newton->rank, k, along);
        newton_inner_response(run, newton, along, along + block->m);
        say_direction(&out, block, along);
    }
    free(along);
    return out.used;
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
    for (uint32_t i = 0; i < block->m && i < SHOWN; i++)
        say(out, "\n  %s = %.10g", name_of(block, i), run->v[block->unknown[i]]);
    if (block->m > SHOWN)
        say(out, "\n  and %u more", block->m - SHOWN);
}

static void
say_equations(Text *out, const mdl_block *block, uint32_t worst)
{
    uint32_t n = block->m + block->n_inner, shown = 0;
    for (uint32_t i = 0; i < n && n > 1; i++) {
        const char *const *texts = i < block->m ? block->equation : block->inner_equation;
        if (i == worst || !texts)
            continue;
        if (shown == SHOWN) {
            say(out, "\n  and %u more", n - 1 - SHOWN);
            break;
        }
        say(out, "%s\n  %s", shown++ ? "" : "\ntogether with", texts[i < block->m ? i : i - block->m]);
    }
}

// Which residuals cannot vanish together: the largest of what the least-squares solution leaves.
static void
say_contradiction(Text *out, const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    double most = 0;
    for (uint32_t i = 0; i < block->m; i++)
        most = fmax(most, fabs(run->v[block->residual[i]]) / fmax(newton->size[i], 1e-300));
    say(out, "\nthe closest values leave");
    for (uint32_t i = 0, shown = 0; i < block->m && shown < SHOWN; i++) {
        double r = run->v[block->residual[i]];
        if (fabs(r) / fmax(newton->size[i], 1e-300) < 1e-3 * most)
            continue;
        say(out, "\n  %s\n    with the residual %.6g", block->equation ? block->equation[i] : "?", r);
        shown++;
    }
    say(out, "\nat");
}

void
newton_report(const Run *run, Newton *newton, const char *when)
{
    const mdl_block *block = newton->block;
    char text[3900], open[1200] = "";
    Text out = {text, sizeof text, 0};
    uint32_t worst = worst_equation(run, newton), equations = block->m + block->n_inner;
    if (newton->trouble == SINGULAR && block->m <= RANK_LIMIT && newton_rank(run, newton, 1e-12, block->m))
        newton_null_text(run, newton, DIRECTIONS, open, sizeof open);
    say(&out, "%s: a system of %u equation%s could not be solved: %s%s", when, equations, equations == 1 ? "" : "s",
        trouble_text(newton->trouble), open);
    if (newton->trouble == CONTRADICTION)
        say_contradiction(&out, run, newton);
    else
        say(&out, "\nequation %s\n  has the residual %.6g at", block->equation ? block->equation[worst] : "?",
            run->v[block->residual[worst]]);
    say_iterate(&out, run, block);
    if (newton->trouble != CONTRADICTION)
        say_equations(&out, block, worst);
    run_message(run, MDL_ERROR, "%s", text);
}
