// optimum_text.c: what a search for the best has found, as text, JSON and a table.
//
// Purpose: values with what they bring and what limits them. Method: printing. Contract: optimum.h. Complexity: linear in what is printed.
#include "frontend/optimum/optimum.h"

#include <math.h>
#include <string.h>

#include "frontend/design/cells.h"

static const char *const kind_words[] = {[GOAL_LEAST] = "minimise", [GOAL_MOST] = "maximise", [GOAL_BELOW] = "subject to", [GOAL_EQUAL] = "subject to"};
static const double AT_BOUND = 1e-7;    // of the distance of the bounds
static const double ACTIVE = 1e-5;      // of the size of a constraint

// At a bound: -1 the lower one, 1 the upper one.
static int
optimum_at_bound(const FreeQuantity *q, double x)
{
    double size = isfinite(q->high - q->low) ? q->high - q->low : fabs(x) > 0 ? fabs(x) : 1;
    return x - q->low <= AT_BOUND * size ? -1 : q->high - x <= AT_BOUND * size ? 1 : 0;
}

static double
size_of(const Optimum *o, uint32_t g)
{
    return fmax(fmax(fabs(o->left[g]), fabs(o->right[g])), 1e-300);
}

static bool
is_active(const Goal *goal, const Optimum *o, uint32_t g)
{
    return goal->kind == GOAL_BELOW && o->value[g] >= -ACTIVE * size_of(o, g);
}

double
optimum_missed(const Goal *goal, const Optimum *o, uint32_t g)
{
    double miss = goal->kind == GOAL_EQUAL ? fabs(o->value[g]) : o->value[g];
    return miss > OPTIMUM_MISS * size_of(o, g) ? miss : 0;
}

// --- text

static void
print_quantities(const OptimumRequest *request, const Optima *optima, Out *out)
{
    const Optimum *o = optima->at;
    size_t width = strlen("quantity");
    Out name = {0};
    for (uint32_t k = 0; k < request->free->n; k++) {
        const FreeQuantity *q = &request->free->at[k];
        size_t length = strlen(q->name) + (*q->unit ? strlen(q->unit) + 3 : 0);
        width = length > width ? length : width;
    }
    out_printf(out, "\n%-*s %14s %14s\n", (int)width, "quantity", "value", "at the start");
    for (uint32_t k = 0; k < request->free->n; k++) {
        const FreeQuantity *q = &request->free->at[k];
        int bound = optimum_at_bound(q, o->x[k]);
        out_printf(&name, *q->unit ? "%s [%s]" : "%s%s", q->name, q->unit);
        out_printf(out, "%-*s %14.7g %14.7g%s%s\n", (int)width, name.text, o->x[k], optima->begin.x[k],
                   bound < 0 ? "  at its lower bound" : bound ? "  at its upper bound" : "",
                   optima->gradients && !optima->effect[k] ? "  nothing depends on it" : "");
        out_free(&name);
        name = (Out){0};
    }
}

static void
print_goals(const OptimumRequest *request, const Optima *optima, Out *out)
{
    const Optimum *o = optima->at;
    bool began = optima->begin.end != SEARCH_NO_START;
    out_char(out, '\n');
    for (uint32_t g = 0; g < request->goals; g++) {
        const Goal *goal = &request->goal[g];
        out_printf(out, "%s %s: ", kind_words[goal->kind], goal->written);
        if (g < request->objectives)
            out_printf(out, "%.8g", o->value[g]);
        else
            out_printf(out, "%.8g %s %.8g", o->left[g], goal->kind == GOAL_EQUAL ? "and" : "against", o->right[g]);
        if (began && g < request->objectives)
            out_printf(out, ", at the start %.8g", optima->begin.value[g]);
        out_text(out, g < request->objectives ? "\n" : optimum_missed(goal, o, g) > 0 ? ", missed\n" : is_active(goal, o, g) ? ", at its limit\n" : "\n");
    }
}

static void
print_front(const OptimumRequest *request, const Optima *optima, Out *out)
{
    for (uint32_t g = 0; g < request->objectives; g++)
        out_printf(out, "\n%s %s", kind_words[request->goal[g].kind], request->goal[g].written);
    for (uint32_t g = request->objectives; g < request->goals; g++)
        out_printf(out, "\n%s %s", kind_words[request->goal[g].kind], request->goal[g].written);
    out_text(out, "\n\n");
    for (uint32_t g = 0; g < request->objectives; g++)
        out_printf(out, "%24.24s ", request->goal[g].written);
    for (uint32_t k = 0; k < request->free->n; k++) {
        const FreeQuantity *q = &request->free->at[k];
        Out name = {0};
        out_printf(&name, *q->unit ? "%s [%s]" : "%s%s", q->name, q->unit);
        out_printf(out, "%18s ", name.text);
        out_free(&name);
    }
    out_char(out, '\n');
    for (uint32_t i = 0; i < optima->n; i++) {
        const Optimum *o = &optima->at[i];
        for (uint32_t g = 0; g < request->objectives; g++)
            out_printf(out, "%24.8g ", o->value[g]);
        for (uint32_t k = 0; k < request->free->n; k++)
            out_printf(out, "%17.7g%c ", o->x[k], optimum_at_bound(&request->free->at[k], o->x[k]) ? '*' : ' ');
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < optima->n; i++)
        for (uint32_t k = 0; k < request->free->n; k++)
            if (optimum_at_bound(&request->free->at[k], optima->at[i].x[k])) {
                out_text(out, "*: at a bound\n");
                return;
            }
}

void
optimum_print(const OptimumRequest *request, const Optima *optima, const char *model, Out *out)
{
    out_printf(out, "%s: %s, %s", model, optima->method, optima->gradients ? "with exact derivatives" : "without derivatives");
    out_printf(out, "; %llu runs", (unsigned long long)optima->runs);
    if (optima->replayed)
        out_printf(out, ", %llu of them from the record", (unsigned long long)optima->replayed);
    if (optima->failed)
        out_printf(out, ", %llu of them failed", (unsigned long long)optima->failed);
    if (optima->starts > 1 && request->objectives == 1)
        out_printf(out, "; %u starts, %u of them came to this", optima->starts, optima->agreeing);
    out_char(out, '\n');
    if (request->objectives > 1) {
        print_front(request, optima, out);
        return;
    }
    print_quantities(request, optima, out);
    print_goals(request, optima, out);
    out_char(out, '\n');
    free_print_set(request->free, optima->at->x, out);
    out_char(out, '\n');
}

// --- JSON

static void
print_json_point(const OptimumRequest *request, const Optima *optima, const Optimum *o, Out *out)
{
    Out set = {0};
    out_printf(out, "{\"end\": \"%s\", \"feasible\": %s,\n   \"quantities\": [", search_end_name(o->end), o->worst <= OPTIMUM_MISS ? "true" : "false");
    for (uint32_t k = 0; k < request->free->n; k++) {
        const FreeQuantity *q = &request->free->at[k];
        int bound = optimum_at_bound(q, o->x[k]);
        const SearchNumber number[] = {{"value", o->x[k]}, {"begin", optima->begin.x[k]}, {"least", q->low}, {"most", q->high}};
        out_text(out, k ? ",\n    " : "\n    ");
        search_json_quantity(q, number, sizeof number / sizeof *number, out);
        out_printf(out, ", \"at_bound\": %s}", bound < 0 ? "\"lower\"" : bound ? "\"upper\"" : "null");
    }
    out_text(out, "],\n   \"goals\": [");
    for (uint32_t g = 0; g < request->goals; g++) {
        const Goal *goal = &request->goal[g];
        out_printf(out, "%s{\"kind\": \"%s\", \"formula\": ", g ? ",\n    " : "\n    ", kind_words[goal->kind]);
        out_json(out, goal->written);
        out_text(out, ", \"value\": ");
        search_json_number(g < request->objectives ? o->value[g] : o->left[g], out);
        if (g >= request->objectives) {
            out_text(out, ", \"limit\": ");
            search_json_number(o->right[g], out);
            out_printf(out, ", \"active\": %s", goal->kind == GOAL_EQUAL || is_active(goal, o, g) ? "true" : "false");
        }
        out_char(out, '}');
    }
    free_print_set(request->free, o->x, &set);
    out_text(out, "],\n   \"set\": ");
    out_json(out, set.text);
    out_char(out, '}');
    out_free(&set);
}

void
optimum_print_json(const OptimumRequest *request, const Optima *optima, const char *model, Out *out)
{
    out_text(out, "{\"model\": ");
    out_json(out, model);
    out_text(out, ", \"method\": ");
    out_json(out, optima->method);
    out_printf(out, ", \"derivatives\": %s, \"runs\": %llu, \"failed\": %llu, \"from_record\": %llu, \"starts\": %u, \"agreeing\": %u,\n \"points\": [",
               optima->gradients ? "true" : "false", (unsigned long long)optima->runs, (unsigned long long)optima->failed,
               (unsigned long long)optima->replayed, optima->starts, optima->agreeing);
    for (uint32_t i = 0; i < optima->n; i++) {
        out_text(out, i ? ",\n  " : "\n  ");
        print_json_point(request, optima, &optima->at[i], out);
    }
    out_text(out, "]}\n");
}

// --- the table

void
optimum_print_table(const OptimumRequest *request, const Optima *optima, Out *out)
{
    for (uint32_t k = 0; k < request->free->n; k++) {
        out_text(out, k ? "," : "");
        cells_put(request->free->at[k].name, strlen(request->free->at[k].name), out);
    }
    for (uint32_t g = 0; g < request->goals; g++) {
        out_char(out, ',');
        cells_put(request->goal[g].written, strlen(request->goal[g].written), out);
    }
    out_text(out, ",end\n");
    for (uint32_t i = 0; i < optima->n; i++) {
        const Optimum *o = &optima->at[i];
        for (uint32_t k = 0; k < request->free->n; k++)
            out_printf(out, k ? ",%.17g" : "%.17g", o->x[k]);
        for (uint32_t g = 0; g < request->goals; g++)
            out_printf(out, ",%.17g", o->value[g]);
        out_printf(out, ",%s\n", o->worst <= OPTIMUM_MISS ? search_end_name(o->end) : "infeasible");
    }
}
