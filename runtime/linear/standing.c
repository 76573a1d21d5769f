// standing.c: elimination of a sparse matrix as a list of what is subtracted from what.
//
// Purpose: the matrix of a torn mechanism is factored in every evaluation. Its pattern stays and its values turn slowly, so the order need not be
// looked for again, and neither need the places of entries.
// Method: markowitz.c chooses pivots. A symbolic elimination by pivots (right-looking) then gives every entry of the factors a place: those of
// a pivot stand side by side - the pivot, its column below, its row to the right - and lists, for each entry of the column and each of the row,
// the place of the entry that their product is subtracted from. Factoring goes through the list. Pivots are kept as reciprocals.
// Contract: standing.h. A pivot may become 1/STANDING_WORN times smaller than as it was; the caller must look at residuals, too.
// Complexity: a factorisation takes one multiplication per product that the elimination subtracts; a solution one per entry of the factors.
#include "runtime/linear/standing_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/block_vectors.h"
#include "runtime/linear/markowitz.h"
#include "runtime/model/list.h"

enum { FILL = 20, PRODUCTS = 1 << 26 }; // times the entries of the matrix; in the list

typedef struct Member {  // an entry of a column or row that is not eliminated yet
    uint32_t other;      // the row's or column's number in the order
    uint32_t made;       // how many entries were made before it
} Member;

typedef struct Line {
    Member *at;
    uint32_t n;
} Line;

// Numbers of rows and columns are those of the order.
typedef struct Plan {
    Standing *s;
    Line *column, *row;
    uint32_t *mark;      // n: 1 + where the row stands in the column that is changed; zero between uses
    uint32_t made;
    uint32_t *place_of;  // per entry made: its place
    size_t targets;
} Plan;

static bool
add_member(Line *line, Member member)
{
    if (!list_room(&line->at, line->n, sizeof *line->at))
        return false;
    line->at[line->n++] = member;
    return true;
}

static bool
make_entry(Plan *p, uint32_t i, uint32_t j)
{
    uint32_t made = p->made++;
    return add_member(&p->column[j], (Member){i, made}) && add_member(&p->row[i], (Member){j, made});
}

static bool
load_pattern(Plan *p, const uint32_t *start, const uint32_t *row)
{
    Standing *s = p->s;
    uint32_t *place = calloc(2 * (size_t)s->n + 1, sizeof *place), *column_place = place + s->n;
    bool good = place != NULL;
    for (uint32_t k = 0; k < s->n && good; k++) {
        place[s->row_at[k]] = k;
        column_place[s->column_at[k]] = k;
    }
    for (uint32_t j = 0; j < s->n && good; j++)
        for (uint32_t e = start[j]; e < start[j + 1] && good; e++)
            good = make_entry(p, place[row[e]], column_place[j]);
    free(place);
    return good;
}

static bool
list_target(Plan *p, uint32_t made)
{
    if (p->targets >= PRODUCTS || !list_room(&p->s->target, p->targets, sizeof *p->s->target))
        return false;
    p->s->target[p->targets++] = made;
    return true;
}

// What pivot k subtracts from column j.
static bool
subtract_from(Plan *p, uint32_t k, uint32_t j)
{
    Line *column = &p->column[j];
    bool good = true;
    for (uint32_t m = 0; m < column->n; m++)
        p->mark[column->at[m].other] = m + 1;
    for (uint32_t m = 0; m < p->column[k].n && good; m++) {
        uint32_t i = p->column[k].at[m].other;
        if (i <= k)
            continue;
        if (!p->mark[i]) {
            good = make_entry(p, i, j);
            p->mark[i] = column->n;
        }
        good = good && list_target(p, column->at[p->mark[i] - 1].made);
    }
    for (uint32_t m = 0; m < column->n; m++)
        p->mark[column->at[m].other] = 0;
    return good;
}

static bool
eliminate(Plan *p)
{
    bool good = true;
    for (uint32_t k = 0; k < p->s->n && good; k++)
        for (uint32_t m = 0; m < p->row[k].n && good; m++)
            if (p->row[k].at[m].other > k)
                good = subtract_from(p, k, p->row[k].at[m].other);
    return good;
}

// The places of all entries, in the order in which pivots meet them.
static bool
give_places(Plan *p)
{
    Standing *s = p->s;
    p->place_of = calloc((size_t)p->made + 1, sizeof *p->place_of);
    s->other = calloc((size_t)p->made + 1, sizeof *s->other);
    if (!p->place_of || !s->other)
        return false;
    uint32_t place = 0;
    for (uint32_t k = 0; k < s->n; k++) {
        s->first[k] = place;
        const Line *lines[] = {&p->column[k], &p->row[k]};
        for (uint32_t m = 0; m < p->column[k].n; m++)
            if (p->column[k].at[m].other == k) {
                s->other[place] = k;
                p->place_of[p->column[k].at[m].made] = place++;
            }
        if (place != s->first[k] + 1)
            return false;
        for (int side = 0; side < 2; side++) {
            for (uint32_t m = 0; m < lines[side]->n; m++)
                if (lines[side]->at[m].other > k) {
                    s->other[place] = lines[side]->at[m].other;
                    p->place_of[lines[side]->at[m].made] = place++;
                }
            if (side == 0)
                s->below[k] = place - s->first[k] - 1;
        }
    }
    s->first[s->n] = s->places = place;
    for (size_t t = 0; t < p->targets; t++)
        s->target[t] = p->place_of[s->target[t]];
    for (uint32_t e = 0; e < s->entries; e++)
        s->entry_at[e] = p->place_of[e];
    s->products = p->targets;
    return true;
}

static bool
plan(Standing *s, const uint32_t *start, const uint32_t *row)
{
    Plan p = {.s = s};
    p.column = calloc((size_t)s->n + 1, sizeof *p.column);
    p.row = calloc((size_t)s->n + 1, sizeof *p.row);
    p.mark = calloc((size_t)s->n + 1, sizeof *p.mark);
    bool good = p.column && p.row && p.mark && load_pattern(&p, start, row) && eliminate(&p) && give_places(&p);
    for (uint32_t k = 0; k < s->n && p.column && p.row; k++) {
        free(p.column[k].at);
        free(p.row[k].at);
    }
    free(p.column);
    free(p.row);
    free(p.mark);
    free(p.place_of);
    return good;
}

static bool
allocate(Standing *s)
{
    size_t n = (size_t)s->n + 1, entries = (size_t)s->entries + 1;
    s->row_at = calloc(n, sizeof *s->row_at);
    s->column_at = calloc(n, sizeof *s->column_at);
    s->first = calloc(n, sizeof *s->first);
    s->below = calloc(n, sizeof *s->below);
    s->entry_at = calloc(entries, sizeof *s->entry_at);
    s->initial = calloc(n, sizeof *s->initial);
    s->last = calloc(entries, sizeof *s->last);
    s->work = calloc(n, sizeof *s->work);
    return s->row_at && s->column_at && s->first && s->below && s->entry_at && s->initial && s->last && s->work;
}

Standing *
standing_create(uint32_t n, const uint32_t *start, const uint32_t *row, const double *values)
{
    Standing *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = n;
    s->entries = n ? start[n] : 0;
    s->fuses = mdl_straight_fuses();
    bool good = allocate(s) && markowitz_order(n, start, row, values, FILL * (uint64_t)s->entries, s->row_at, s->column_at)
                && plan(s, start, row);
    s->factor = good ? calloc((size_t)s->places + 1, sizeof *s->factor) : NULL;
    good = s->factor && standing_factor(s, values);
    for (uint32_t k = 0; k < n && good; k++)
        s->initial[k] = fabs(1 / s->factor[s->first[k]]);
    if (!good)
        standing_free(&s);
    return s;
}

void
standing_free(Standing **slot)
{
    Standing *s = *slot;
    if (!s)
        return;
    standing_forget_code(s);
    void *parts[] = {s->row_at, s->column_at, s->first, s->below, s->other, s->entry_at, s->target, s->factor, s->initial, s->last, s->work,
                     s->pivot};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    free(s);
    *slot = NULL;
}

// --- the lists of a pivot, which have three entries on average: the last ones, up to SHORT, are gone through without a loop, in their order

enum { SHORT = 8 };

#if defined __x86_64__
#define FUSED __attribute__((target("fma")))
#else
#define FUSED
#endif
#define INTO_BOTH inline __attribute__((always_inline)) // functions that fuse, and that do not

// x - a*b
static INTO_BOTH double
less_product(double x, double a, double b, const bool fuses)
{
    return fuses ? __builtin_fma(-a, b, x) : x - a * b;
}

// x[at[i]] -= factor[i] * value. The places are different ones.
static INTO_BOTH void
subtract(double *restrict x, const uint32_t *restrict at, const double *restrict factor, uint32_t n, double value, const bool fuses)
{
    for (; n > SHORT; n--, at++)
        x[*at] = less_product(x[*at], *factor++, value, fuses);
    at += n;
    factor += n;
    switch (n) {
#define LEFT(i) case i: x[at[-i]] = less_product(x[at[-i]], factor[-i], value, fuses); __attribute__((fallthrough));
    LEFT(8) LEFT(7) LEFT(6) LEFT(5) LEFT(4) LEFT(3) LEFT(2) LEFT(1)
#undef LEFT
    default: break;
    }
}

// value - sum of factor[i] * x[at[i]], from the first to the last.
static INTO_BOTH double
less_products(double value, const double *restrict x, const uint32_t *restrict at, const double *restrict factor, uint32_t n, const bool fuses)
{
    for (; n > SHORT; n--)
        value = less_product(value, *factor++, x[*at++], fuses);
    at += n;
    factor += n;
    switch (n) {
#define LEFT(i) case i: value = less_product(value, factor[-i], x[at[-i]], fuses); __attribute__((fallthrough));
    LEFT(8) LEFT(7) LEFT(6) LEFT(5) LEFT(4) LEFT(3) LEFT(2) LEFT(1)
#undef LEFT
    default: break;
    }
    return value;
}

static INTO_BOTH bool
factor_lists(Standing *s, const double *values, const bool fuses)
{
    double *restrict factor = s->factor;
    const uint32_t *restrict target = s->target;
    memset(factor, 0, s->places * sizeof *factor);
    for (uint32_t e = 0; e < s->entries; e++)
        factor[s->entry_at[e]] = values[e];
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t at = s->first[k], below = s->below[k], right = s->first[k + 1] - at - 1 - below;
        double pivot = factor[at], reciprocal = 1 / pivot;
        if (!(fabs(pivot) >= STANDING_WORN * s->initial[k]) || !isfinite(reciprocal))
            return false;
        factor[at] = reciprocal;
        double *restrict column = factor + at + 1;
        const double *restrict row = column + below;
        for (uint32_t i = 0; i < below; i++)
            column[i] *= reciprocal;
        for (uint32_t j = 0; j < right; j++, target += below)
            subtract(factor, target, column, below, row[j], fuses);
    }
    s->used += (double)(s->products + s->places);
    return true;
}

static FUSED bool
factor_lists_fused(Standing *s, const double *values)
{
    return factor_lists(s, values, true);
}

static bool
factor_by_lists(Standing *s, const double *values)
{
    return s->fuses ? factor_lists_fused(s, values) : factor_lists(s, values, false);
}

// The pivots are looked at when all is done: what follows from one that is too small is not used.
static bool
factor_by_code(Standing *s, const double *values)
{
    s->code[0]((double *)(uintptr_t)values, s->factor, s->pivot);
    return all_reach(s->pivot, s->least, s->n);
}

bool
standing_factor(Standing *s, const double *values)
{
    enum { OFTEN = 8, AGAIN = 16 }; // who has brought another matrix so often is asked now and then
    if (s->kept && !memcmp(s->last, values, s->entries * sizeof *values)) {
        s->others = 0;
        return true;
    }
    s->kept = false;
    if (!(s->translator ? factor_by_code(s, values) : factor_by_lists(s, values)))
        return false;
    s->others++;
    s->kept = s->others < OFTEN || s->others % AGAIN == 0;
    if (s->kept)
        memcpy(s->last, values, s->entries * sizeof *values);
    return true;
}

static INTO_BOTH void
solve_lists(Standing *s, double *b, const bool fuses)
{
    double *restrict x = s->work;
    const double *restrict factor = s->factor;
    const uint32_t *restrict other = s->other, *restrict first = s->first, *restrict below = s->below;
    uint32_t n = s->n;
    for (uint32_t k = 0; k < n; k++)
        x[k] = b[s->row_at[k]];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = first[k] + 1;
        subtract(x, other + at, factor + at, below[k], x[k], fuses);
    }
    for (uint32_t k = n; k-- > 0;) {
        uint32_t at = first[k] + 1 + below[k];
        x[k] = less_products(x[k], x, other + at, factor + at, first[k + 1] - at, fuses) * factor[first[k]];
    }
    for (uint32_t k = 0; k < n; k++)
        b[s->column_at[k]] = x[k];
    s->used += s->places;
}

static FUSED void
solve_lists_fused(Standing *s, double *b)
{
    solve_lists(s, b, true);
}

void
standing_solve(Standing *s, double *b)
{
    if (s->translator)
        s->code[1](s->factor, b, s->work);
    else if (s->fuses)
        solve_lists_fused(s, b);
    else
        solve_lists(s, b, false);
}

size_t
standing_places(const Standing *s)
{
    return s->places;
}

uint64_t
standing_operations(const Standing *s)
{
    return s->products;
}
