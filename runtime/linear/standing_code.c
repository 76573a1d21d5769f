// standing_code.c: an elimination in an order that stands as a program without branches, and machine code of it.
//
// Purpose: lists of places (standing.c) take an index, two loads, a multiplication, a subtraction and a store for each product, and more for the beginnings
// of lists that have three entries on average. Straight code takes a load, a multiplication and a subtraction.
// Method: left-looking: each entry of the factors is computed at once, from its value in the matrix and all products that are subtracted from it, in the
// order of the pivots; likewise each unknown of a solution. So every number is rounded as with the lists, which take the same products in the same
// order. A compiler that is at hand (runtime/model/straight.h) translates both programs when the lists have been used for as long as the
// translation takes: that is lost at most (the ski rental argument: Karlin et al., Algorithmica 3 (1988) 79).
// Contract: standing.h. Where nothing is translated, for want of memory as well, the lists go on.
// Complexity: linear in the products and entries of the factors.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/linear/standing_inner.h"

enum {
    WORTH = 120,     // times that the lists have done all of it; a translation takes as long
    LONGEST = 60000, // operations with a product: 1.2 MB of code, which is twice as fast as the lists; from twice as much on it is not faster any more
    FIRST = 0, SECOND = 1, THIRD = 2
};

typedef struct Writer {
    mdl_straight_op *op;
    uint32_t n;
} Writer;

static void
write_op(Writer *w, mdl_straight_kind kind, uint32_t a, uint32_t b)
{
    w->op[w->n++] = (mdl_straight_op){kind, a, b};
}

// Products by what they are subtracted from, in the order of the pivots.
typedef struct Products {
    uint32_t *start;                // places + 1
    struct { uint32_t a, b; } *of;
} Products;

static bool
gather_products(Products *p, const Standing *s)
{
    p->start = calloc((size_t)s->places + 2, sizeof *p->start);
    p->of = malloc((s->products + 1) * sizeof *p->of);
    if (!p->start || !p->of)
        return false;
    uint32_t *end = p->start + 1; // of what is there so far, which becomes the start of the next place
    for (uint64_t t = 0; t < s->products; t++)
        end[s->target[t] + 1]++;
    for (uint32_t place = 0; place < s->places; place++)
        end[place + 1] += end[place];
    const uint32_t *target = s->target;
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t column = s->first[k] + 1, row = column + s->below[k];
        for (uint32_t j = row; j < s->first[k + 1]; j++)
            for (uint32_t i = column; i < row; i++, target++) {
                uint32_t at = end[*target]++;
                p->of[at].a = i;
                p->of[at].b = j;
            }
    }
    return true;
}

static void
write_entry(Writer *w, const Products *p, const uint32_t *value, uint32_t place)
{
    if (value[place])
        write_op(w, MDL_STRAIGHT_LOAD, mdl_straight_place(FIRST, value[place] - 1), 0);
    else
        write_op(w, MDL_STRAIGHT_ZERO, 0, 0);
    for (uint32_t t = p->start[place]; t < p->start[place + 1]; t++)
        write_op(w, MDL_STRAIGHT_LESS, mdl_straight_place(SECOND, p->of[t].a), mdl_straight_place(SECOND, p->of[t].b));
}

// From values to factors; the pivots go to the third array.
static bool
write_factors(Writer *w, const Standing *s)
{
    Products p = {0};
    uint32_t *value = calloc((size_t)s->places + 1, sizeof *value); // per place: the entry of the matrix + 1
    bool good = value && gather_products(&p, s);
    for (uint32_t e = 0; e < s->entries && good; e++)
        value[s->entry_at[e]] = e + 1;
    for (uint32_t k = 0; k < s->n && good; k++) {
        uint32_t pivot = s->first[k];
        write_entry(w, &p, value, pivot);
        write_op(w, MDL_STRAIGHT_STORE, mdl_straight_place(THIRD, k), 0);
        write_op(w, MDL_STRAIGHT_INVERT, 0, 0);
        write_op(w, MDL_STRAIGHT_STORE, mdl_straight_place(SECOND, pivot), 0);
        for (uint32_t place = pivot + 1; place < s->first[k + 1]; place++) {
            write_entry(w, &p, value, place);
            if (place <= pivot + s->below[k])
                write_op(w, MDL_STRAIGHT_TIMES, mdl_straight_place(SECOND, pivot), 0);
            write_op(w, MDL_STRAIGHT_STORE, mdl_straight_place(SECOND, place), 0);
        }
    }
    free(value);
    free(p.start);
    free(p.of);
    return good;
}

// The rows of the lower factor, whose columns stand in the lists: per pivot the places and the pivots before it, in their order.
static bool
gather_rows(Products *p, const Standing *s)
{
    p->start = calloc((size_t)s->n + 2, sizeof *p->start);
    p->of = malloc(((size_t)s->places + 1) * sizeof *p->of);
    if (!p->start || !p->of)
        return false;
    uint32_t *end = p->start + 1;
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first[k] + 1; i <= s->first[k] + s->below[k]; i++)
            end[s->other[i] + 1]++;
    for (uint32_t k = 0; k < s->n; k++)
        end[k + 1] += end[k];
    for (uint32_t k = 0; k < s->n; k++)
        for (uint32_t i = s->first[k] + 1; i <= s->first[k] + s->below[k]; i++) {
            uint32_t at = end[s->other[i]]++;
            p->of[at].a = i;
            p->of[at].b = k;
        }
    return true;
}

// From the factors, in the first array, and a right-hand side to the solution in its place. On the way back the solution's own places are read, all of
// which the way forth has read before.
static bool
write_solution(Writer *w, const Standing *s)
{
    Products p = {0};
    bool good = gather_rows(&p, s);
    for (uint32_t k = 0; k < s->n && good; k++) {
        write_op(w, MDL_STRAIGHT_LOAD, mdl_straight_place(SECOND, (uint32_t)s->row_at[k]), 0);
        for (uint32_t t = p.start[k]; t < p.start[k + 1]; t++)
            write_op(w, MDL_STRAIGHT_LESS, mdl_straight_place(FIRST, p.of[t].a), mdl_straight_place(THIRD, p.of[t].b));
        write_op(w, MDL_STRAIGHT_STORE, mdl_straight_place(THIRD, k), 0);
    }
    for (uint32_t k = s->n; k-- > 0 && good;) {
        write_op(w, MDL_STRAIGHT_LOAD, mdl_straight_place(THIRD, k), 0);
        for (uint32_t place = s->first[k] + 1 + s->below[k]; place < s->first[k + 1]; place++)
            write_op(w, MDL_STRAIGHT_LESS, mdl_straight_place(FIRST, place), mdl_straight_place(SECOND, (uint32_t)s->column_at[s->other[place]]));
        write_op(w, MDL_STRAIGHT_TIMES, mdl_straight_place(FIRST, s->first[k]), 0);
        write_op(w, MDL_STRAIGHT_STORE, mdl_straight_place(SECOND, (uint32_t)s->column_at[k]), 0);
    }
    free(p.start);
    free(p.of);
    return good;
}

// A pivot at least so large has a finite reciprocal, and has not become too small.
static bool
find_least(Standing *s)
{
    double smallest = nextafter(0x1p-1024, 1);
    s->pivot = calloc(2 * (size_t)s->n + 1, sizeof *s->pivot);
    s->least = s->pivot ? s->pivot + s->n : NULL;
    for (uint32_t k = 0; k < s->n && s->pivot; k++)
        s->least[k] = fmax(STANDING_WORN * s->initial[k], smallest);
    return s->pivot != NULL;
}

static bool
translate(Standing *s, const mdl_translator *translator)
{
    size_t products = s->products + 3 * (size_t)s->places, each = 4 * (size_t)s->n;
    Writer factors = {malloc((products + each + 1) * sizeof *factors.op), 0};
    Writer solution = {malloc(((size_t)s->places + 2 * each + 1) * sizeof *solution.op), 0};
    bool good = factors.op && solution.op && find_least(s) && write_factors(&factors, s) && write_solution(&solution, s);
    if (good) {
        const mdl_straight program[2] = {{factors.op, factors.n}, {solution.op, solution.n}};
        good = translator->make(translator->self, program, 2, s->code, &s->made);
    }
    free(factors.op);
    free(solution.op);
    return good;
}

bool
standing_translate(Standing *s, const mdl_translator *translator)
{
    double length = (double)s->products + 2 * (double)s->places;
    if (s->asked || length > LONGEST || (!translator->at_once && s->used < WORTH * length))
        return false;
    s->asked = true;
    s->translator = translate(s, translator) ? translator : NULL;
    return s->translator != NULL;
}

bool
standing_is_translated(const Standing *s)
{
    return s->translator != NULL;
}

void
standing_forget_code(Standing *s)
{
    if (s->translator)
        s->translator->release(s->translator->self, s->made);
    s->translator = NULL;
}
