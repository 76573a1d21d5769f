// front.c: the front of two objectives: what one of them costs in the other.
//
// Purpose: where two aims are against each other there is no best value but a curve of them, on which none gets better unless the other gets worse.
// Method: the normalised normal constraint method: A. Messac, A. Ismail-Yahaya, C. A. Mattson, Struct. Multidisc. Optim. 25 (2003) 86. Each objective by itself
// gives an end of the front; between them, at equal distances on the line that joins the ends, one objective is made least under the condition that the point lies
// on one side of a perpendicular. Points are spread evenly also where the front bends. Each search begins at the neighbour. What another point is better
// than in both objectives is left out.
// Contract: seek.h. Complexity: a search for each point.
#include "frontend/optimum/seek.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Objectives over their sizes, smaller is better.
static void
take_point(const Seeking *s, const Optimum *o, double *point)
{
    for (uint32_t k = 0; k < OBJECTIVES_MOST; k++)
        point[k] = (s->request->goal[k].kind == GOAL_MOST ? -1 : 1) * o->value[k] / s->size[k];
}

// An end of the front: one objective alone, from every start. Where several values have the same, the search does not say which of
// them is best in the other objective; the other points of the front leave it out then.
static Optimum
find_end(Seeking *s, uint32_t objective)
{
    const OptimumRequest *request = s->request;
    Optimum best = optimum_create(request, s->arena);
    Aim aim = {.weight = {0}};
    aim.weight[objective] = 1;
    double *x = arena_array(s->arena, double, s->n + 1), b[OBJECTIVES_MOST], p[OBJECTIVES_MOST];
    Out none = {0};
    for (uint32_t id = 0; id < request->starts && (!id || seek_may(s)) && free_spread(request->free, id, x, &none); id++) {
        Optimum o = optimum_create(request, s->arena);
        seek(s, x, &aim, NULL, &o);
        if (o.end == SEARCH_NO_START)
            continue;
        take_point(s, &o, p);
        if (best.end != SEARCH_NO_START)
            take_point(s, &best, b);
        bool fine = o.worst <= OPTIMUM_MISS, other = best.worst <= OPTIMUM_MISS;
        if (best.end == SEARCH_NO_START || (fine && !other) || (fine == other && (fine ? p[objective] < b[objective] : o.worst < best.worst)))
            best = o;
    }
    out_free(&none);
    return best;
}

// Is b at least as good as a in both, and better in one?
static bool
is_behind(const double *a, const double *b)
{
    const double same = 1e-7;
    bool worse = b[0] > a[0] + same * fabs(a[0]) || b[1] > a[1] + same * fabs(a[1]);
    bool better = b[0] < a[0] - same * fabs(a[0]) || b[1] < a[1] - same * fabs(a[1]);
    return better && !worse;
}

typedef struct Ranked {
    double first;
    uint32_t index;
} Ranked;

static int
by_first(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first ? 1 : x->index < y->index ? -1 : 1;
}

// Leaves points out that miss a constraint or are behind another, and orders the others.
static void
keep_front(Seeking *s)
{
    Optima *optima = s->optima;
    uint32_t n = optima->n, kept = 0;
    double (*point)[OBJECTIVES_MOST] = arena_alloc(s->arena, n * sizeof *point);
    Ranked *order = arena_array(s->arena, Ranked, n + 1);
    Optimum *all = arena_array(s->arena, Optimum, n + 1);
    for (uint32_t i = 0; i < n; i++)
        take_point(s, &optima->at[i], point[i]);
    for (uint32_t i = 0; i < n; i++) {
        bool out = !(optima->at[i].worst <= OPTIMUM_MISS);
        for (uint32_t j = 0; j < n && !out; j++) {
            bool same = j < i && fabs(point[i][0] - point[j][0]) <= 1e-6 * fabs(point[j][0]) && fabs(point[i][1] - point[j][1]) <= 1e-6 * fabs(point[j][1]);
            out = optima->at[j].worst <= OPTIMUM_MISS && (same || is_behind(point[i], point[j]));
        }
        if (!out)
            order[kept++] = (Ranked){point[i][0], i};
    }
    // Nothing meets the constraints: the point that is nearest to it.
    for (uint32_t i = 0; i < n && !kept; i++)
        if (i == 0 || isnan(optima->at[order[0].index].worst) || optima->at[i].worst < optima->at[order[0].index].worst)
            order[0] = (Ranked){0, i};
    kept = kept ? kept : 1;
    qsort(order, kept, sizeof *order, by_first);
    for (uint32_t i = 0; i < kept; i++)
        all[i] = optima->at[order[i].index];
    optima->at = all;
    optima->n = kept;
}

void
front_find(Seeking *s)
{
    const OptimumRequest *request = s->request;
    Optima *optima = s->optima;
    uint32_t points = request->front < 2 ? 2 : request->front;
    optima->at = arena_array(s->arena, Optimum, points + 1);
    optima->starts = request->starts;
    Optimum first = find_end(s, 0), second = find_end(s, 1);
    optima->at[optima->n++] = first;
    optima->at[optima->n++] = second;
    double a[OBJECTIVES_MOST], b[OBJECTIVES_MOST];
    take_point(s, &first, a);
    take_point(s, &second, b);
    double across = b[0] - a[0], down = a[1] - b[1];
    bool opposed = first.end != SEARCH_NO_START && second.end != SEARCH_NO_START && across > 1e-9 * fabs(a[0]) && down > 1e-9 * fabs(b[1]);
    const double *x = second.x;
    // Along the line from the end of the second objective to that of the first: u = (f0 - a0)/across, w = (f1 - b1)/down, w least where u - w <= c.
    for (uint32_t i = 1; i + 1 < points && opposed && first.worst <= OPTIMUM_MISS && seek_may(s); i++) {
        double part = 1 - (double)i / (points - 1), c = part - (1 - part);
        const Aim aim = {.weight = {0, 1 / down}, .offset = -b[1] / down};
        const Aim limit = {.weight = {1 / across, -1 / down}, .offset = -a[0] / across + b[1] / down - c};
        Optimum *o = &optima->at[optima->n];
        *o = optimum_create(request, s->arena);
        seek(s, x, &aim, &limit, o);
        if (o->end == SEARCH_NO_START)
            continue;
        optima->n++;
        x = o->worst <= OPTIMUM_MISS ? o->x : x;
    }
    keep_front(s);
}
