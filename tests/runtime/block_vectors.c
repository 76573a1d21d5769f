// block_vectors.c against plain loops: blocks whose places stand in rows of several lengths and alone, and one value that is not finite anywhere.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "runtime/linear/block_vectors.h"
#include "tests/runtime/check.h"

enum { MOST = 61, BEFORE = 200, PLACES = 400 };

typedef struct Block {
    uint32_t m, unknown[MOST], residual[MOST], at[MOST];
    BlockRow row[MOST];
    BlockRows rows;
    double v[PLACES], step[MOST], scale[MOST], target[MOST], out[MOST];
} Block;

static uint32_t
next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static double
number(uint32_t *seed)
{
    return next(seed) / 8388608.0 - 1;
}

// Unknowns and residuals go on where they are, or two places further on.
static void
make(Block *b, uint32_t m, uint32_t breaks, uint32_t *seed)
{
    b->m = m;
    for (uint32_t i = 0, u = 3, r = BEFORE; i < m; i++) {
        b->unknown[i] = u;
        b->residual[i] = r;
        u += next(seed) % breaks ? 1 : 3;
        r += next(seed) % breaks ? 1 : 3;
        b->at[i] = next(seed) % BEFORE; // none of a residual
        b->step[i] = number(seed);
        b->scale[i] = 0.5;
        b->target[i] = number(seed);
    }
    for (uint32_t i = 0; i < PLACES; i++)
        b->v[i] = number(seed);
    b->rows.row = b->row;
    place_rows(&b->rows, b->unknown, b->residual, m);
}

static bool
agrees_in_sizes(const Block *b)
{
    double most = 0;
    bool within = true, reach = true;
    for (uint32_t i = 0; i < b->m; i++) {
        most = fmax(most, fabs(b->step[i]) / fmax(fabs(b->v[b->unknown[i]]), b->scale[i]));
        within = within && fabs(b->step[i]) <= b->scale[i] * fabs(b->v[b->at[i]]);
        reach = reach && fabs(b->step[i]) >= b->target[i];
    }
    return rows_largest(b->step, b->scale, b->v, b->rows) == most && all_within(b->step, b->scale, b->v, b->at, b->m) == within
           && all_reach(b->step, b->target, b->m) == reach;
}

static bool
agrees_in_places(Block *b)
{
    double v[PLACES], corrected[PLACES], read[MOST], size = rows_largest(b->step, b->scale, b->v, b->rows);
    bool good = rows_defect(b->out, b->target, b->v, b->rows);
    memcpy(v, b->v, sizeof v);
    memcpy(corrected, b->v, sizeof corrected);
    good = good && rows_correct(corrected, b->step, b->scale, b->rows) == size;
    rows_add(b->v, b->step, b->rows);
    good = good && !memcmp(corrected, b->v, sizeof corrected);
    rows_read(read, b->v, b->rows);
    for (uint32_t i = 0; i < b->m; i++) {
        good = good && b->out[i] == b->target[i] - v[b->residual[i]];
        v[b->unknown[i]] += b->step[i];
        good = good && read[i] == v[b->unknown[i]];
    }
    return good && !memcmp(v, b->v, sizeof v);
}

// Each residual and correction in turn, with every function that must see it.
static bool
sees_what_is_not_finite(Block *b, double odd)
{
    bool seen = true;
    for (uint32_t i = 0; i < b->m; i++) {
        double value = b->v[b->residual[i]], step = b->step[i];
        b->v[b->residual[i]] = b->step[i] = odd;
        seen = seen && !rows_defect(b->out, b->target, b->v, b->rows) && isnan(rows_largest(b->step, b->scale, b->v, b->rows))
               && !all_within(b->step, b->scale, b->v, b->at, b->m) && all_reach(b->step, b->scale, b->m) <= !isnan(odd);
        b->v[b->residual[i]] = value;
        b->step[i] = step;
    }
    return seen;
}

// Bounds that all hold but for one.
static bool
sees_one(Block *b)
{
    double least[MOST];
    bool seen = true;
    for (uint32_t i = 0; i < b->m; i++) {
        least[i] = fabs(b->step[i]);
        b->v[b->at[i]] = 4;
    }
    seen = all_within(b->step, b->scale, b->v, b->at, b->m) && all_reach(b->step, least, b->m);
    for (uint32_t i = 0; i < b->m && seen; i++) {
        double step = b->step[i];
        b->step[i] = -3;
        seen = !all_within(b->step, b->scale, b->v, b->at, b->m);
        b->step[i] = least[i] / 2;
        seen = seen && !all_reach(b->step, least, b->m);
        b->step[i] = step;
    }
    return seen;
}

int
main(void)
{
    static Block b;
    uint32_t seed = 11;
    bool sizes = true, places = true, odd = true, one = true;
    for (uint32_t m = 1; m <= MOST; m++)
        for (uint32_t breaks = 1; breaks < 40; breaks += 6) {
            make(&b, m, breaks, &seed);
            sizes = sizes && agrees_in_sizes(&b);
            places = places && agrees_in_places(&b);
            odd = odd && sees_what_is_not_finite(&b, NAN) && sees_what_is_not_finite(&b, -INFINITY);
            one = one && sees_one(&b);
        }
    Check state = {0};
    check(&state, sizes, "block_vectors_sizes", "another size");
    check(&state, places, "block_vectors_places", "another value");
    check(&state, odd, "block_vectors_not_finite", "not seen");
    check(&state, one, "block_vectors_one", "not seen");
    return check_end(&state);
}
