// division.c: how large factors are shared by threads.
//
// Purpose: factorisations and triangular solutions of large matrices by several threads.
// Method: a column of the factors needs those that its entries of U name, and a solution with L or U goes along the entries of both. The forest of elimination of their
//         pattern (Liu, SIAM J. Matrix Anal. Appl. 11 (1990) 134), whatever the pivots are, is cut into parts and a border (elimination_cut.c), and places are
//         numbered anew: part by part, then the border, each in the order in which they were.
// Contract: what is divided depends on the factors alone, not on the number of threads. Complexity: O(entries), O(n log n).
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/elimination_cut.h"
#include "runtime/linear/factors_inner.h"

enum { LEAST_BLOCK = 20000, LEAST_PRODUCTS = 2000, CHUNKS = 32 };

// Parents in the forest of the block's places, counted from `first`. False: out of memory.
static bool
find_forest(const Factors *factors, int32_t first, int32_t end, int32_t *parent)
{
    int32_t n = end - first;
    size_t entries = (size_t)(factors->l_start[end] - factors->l_start[first]);
    int32_t *start = calloc((size_t)n + 2, sizeof *start), *column = calloc(entries + 1, sizeof *column);
    int32_t *ancestor = calloc((size_t)n + 1, sizeof *ancestor);
    bool good = start && column && ancestor;
    for (int32_t e = factors->l_start[first]; e < factors->l_start[end] && good; e++)
        start[factors->l_row[e] - first + 2]++;
    for (int32_t k = 0; k < n && good; k++)
        start[k + 2] += start[k + 1];
    for (int32_t j = 0; j < n && good; j++)
        for (int32_t e = factors->l_start[first + j]; e < factors->l_start[first + j + 1]; e++)
            column[start[factors->l_row[e] - first + 1]++] = j;
    for (int32_t k = 0; k < n && good; k++) {
        parent[k] = ancestor[k] = n;
        int32_t in_u = factors->u_start[first + k], of_l = start[k];
        while (in_u < factors->u_start[first + k + 1] || of_l < start[k + 1]) {
            int32_t i = of_l < start[k + 1] ? column[of_l++] : factors->u_row[in_u++] - first;
            while (i < k) {
                int32_t above = ancestor[i];
                ancestor[i] = k;
                if (above == n)
                    parent[i] = k;
                i = above;
            }
        }
    }
    free(start);
    free(column);
    free(ancestor);
    return good;
}

// Divides the block, and says in `to` where its places go. False: it stays as it is.
static bool
divide(const Factors *factors, Segment *segment, int32_t *to, uint8_t *part)
{
    int32_t first = segment->first, n = segment->end - first, at = first;
    int32_t *parent = calloc((size_t)n + 1, sizeof *parent);
    double *cost = calloc((size_t)n + 1, sizeof *cost), longest;
    uint32_t parts = 0;
    for (int32_t k = 0; k < n && cost; k++)
        cost[k] = 1.0 + factors->l_start[first + k + 1] - factors->l_start[first + k] + factors->u_start[first + k + 1] - factors->u_start[first + k];
    if (parent && cost && find_forest(factors, first, segment->end, parent))
        parts = elimination_cut(n, parent, cost, part, &longest);
    free(parent);
    free(cost);
    if (parts < 2 || !(segment->part = calloc((size_t)parts + 1, sizeof *segment->part)))
        return false;
    segment->parts = parts;
    int32_t *count = segment->part;
    for (int32_t k = 0; k < n; k++)
        if (part[k] != ELIMINATION_BORDER)
            count[part[k]]++;
    for (uint32_t p = 0; p <= parts; p++) {
        int32_t size = count[p];
        count[p] = at;
        at += size;
    }
    segment->border = at = count[parts];
    for (int32_t k = 0; k < n; k++)
        to[first + k] = part[k] == ELIMINATION_BORDER ? at++ : count[part[k]]++;
    for (uint32_t p = parts; p > 0; p--)
        count[p] = count[p - 1];
    count[0] = first;
    return true;
}

static void
permute_indices(int32_t *values, const int32_t *to, int32_t n, int32_t *work)
{
    memcpy(work, values, (size_t)n * sizeof *values);
    for (int32_t k = 0; k < n; k++)
        values[to[k]] = work[k];
}

static void
permute_values(double *values, const int32_t *to, int32_t n, double *work)
{
    memcpy(work, values, (size_t)n * sizeof *values);
    for (int32_t k = 0; k < n; k++)
        values[to[k]] = work[k];
    memset(work, 0, (size_t)n * sizeof *work);
}

// Columns and rows of a part of the factors to their new places. Rows of a column come by parts, and within one as they were, which is their new order.
static bool
permute_columns(int32_t n, int32_t *start, int32_t **row, double **value, const int32_t *to, const uint8_t *part)
{
    size_t entries = (size_t)start[n];
    int32_t *new_start = calloc((size_t)n + 1, sizeof *new_start), *new_row = calloc(entries + 1, sizeof *new_row);
    double *new_value = calloc(entries + 1, sizeof *new_value);
    bool good = new_start && new_row && new_value;
    for (int32_t k = 0; k < n && good; k++)
        new_start[to[k] + 1] = start[k + 1] - start[k];
    for (int32_t k = 0; k < n && good; k++)
        new_start[k + 1] += new_start[k];
    for (int32_t k = 0; k < n && good; k++) {
        int32_t next[ELIMINATION_BORDER + 2] = {0};
        for (int32_t e = start[k]; e < start[k + 1]; e++)
            next[part[(*row)[e]] + 1]++;
        next[0] = new_start[to[k]];
        for (int p = 0; p < ELIMINATION_BORDER; p++)
            next[p + 1] += next[p];
        for (int32_t e = start[k]; e < start[k + 1]; e++) {
            int32_t at = next[part[(*row)[e]]]++;
            new_row[at] = to[(*row)[e]];
            new_value[at] = (*value)[e];
        }
    }
    if (good) {
        memcpy(start, new_start, ((size_t)n + 1) * sizeof *start);
        free(*row);
        free(*value);
        *row = new_row;
        *value = new_value;
    } else {
        free(new_row);
        free(new_value);
    }
    free(new_start);
    return good;
}


static bool
permute(Factors *factors, const int32_t *to, const uint8_t *part)
{
    int32_t n = factors->n, *work = calloc((size_t)n + 1, sizeof *work);
    if (work) {
        permute_indices(factors->row_at, to, n, work);
        permute_indices(factors->column_at, to, n, work);
        permute_values(factors->reciprocal, to, n, factors->work);
        permute_values(factors->scale, to, n, factors->work);
    }
    bool good = work && permute_columns(n, factors->l_start, &factors->l_row, &factors->l, to, part)
                && permute_columns(n, factors->u_start, &factors->u_row, &factors->u, to, part)
                && permute_columns(n, factors->f_start, &factors->f_row, &factors->f, to, part);
    free(work);
    return good;
}

// Where the entries of the divided segment's columns go from rows of one part to others.
static bool
find_borders(const Factors *factors, Segment *segment)
{
    int32_t border = segment->border, inside = border - segment->first, width = segment->end - border;
    uint32_t parts = segment->parts;
    segment->l_border = calloc((size_t)inside + 1, sizeof *segment->l_border);
    segment->u_part = calloc((size_t)width * (parts + 1) + 1, sizeof *segment->u_part);
    segment->sum = calloc((size_t)width * parts + 1, sizeof *segment->sum);
    if (!segment->l_border || !segment->u_part || !segment->sum)
        return false;
    for (int32_t k = 0; k < inside; k++) {
        int32_t e = factors->l_start[segment->first + k + 1];
        while (e > factors->l_start[segment->first + k] && factors->l_row[e - 1] >= border)
            e--;
        segment->l_border[k] = e;
    }
    for (int32_t k = 0; k < width; k++) {
        int32_t e = factors->u_start[border + k], *of = segment->u_part + (size_t)k * (parts + 1);
        for (uint32_t p = 0; p <= parts; p++) {
            while (e < factors->u_start[border + k + 1] && factors->u_row[e] < segment->part[p])
                e++;
            of[p] = e;
        }
    }
    return true;
}

// Large blocks are segments of their own, what lies between them another each.
static bool
make_segments(Factors *factors, int32_t *to, uint8_t *part)
{
    int32_t large = 0;
    for (int32_t b = 0; b < factors->blocks; b++)
        large += factors->block[b + 1] - factors->block[b] >= LEAST_BLOCK;
    Segment *segment = large ? calloc(2 * (size_t)large + 1, sizeof *segment) : NULL;
    factors->segment = segment;
    int32_t count = 0;
    bool divided = false;
    for (int32_t b = 0; b < factors->blocks && segment; b++) {
        int32_t first = factors->block[b], end = factors->block[b + 1];
        Segment next = {.first = first, .end = end, .first_block = b, .end_block = b + 1, .border = first};
        if (end - first >= LEAST_BLOCK && divide(factors, &next, to, part + first)) {
            divided = true;
            segment[count++] = next;
        } else if (count && !segment[count - 1].parts) {
            segment[count - 1].end = end;
            segment[count - 1].end_block = b + 1;
        } else {
            segment[count++] = next;
        }
    }
    factors->segments = divided ? count : 0;
    return segment || !large;
}

// What the column at place k takes in a factorisation.
static double
products_of(const Factors *factors, int32_t k)
{
    double products = 1.0 + factors->l_start[k + 1] - factors->l_start[k];
    for (int32_t e = factors->u_start[k]; e < factors->u_start[k + 1]; e++)
        products += 1.0 + factors->l_start[factors->u_row[e] + 1] - factors->l_start[factors->u_row[e]];
    return products;
}

static void
add_chunk(Factors *factors, int32_t first, int32_t end, int32_t block, bool waits)
{
    if (first < end)
        factors->chunk[factors->chunks++] = (Chunk){first, end, block, waits};
}

// Columns first to end - 1 of a block, which need each other, a few at a time.
static void
chunk_columns(Factors *factors, int32_t first, int32_t end, int32_t block)
{
    double products = 0;
    for (int32_t k = first; k < end; k++) {
        products += products_of(factors, k);
        if (products >= LEAST_PRODUCTS) {
            add_chunk(factors, first, k + 1, block, true);
            first = k + 1;
            products = 0;
        }
    }
    add_chunk(factors, first, end, block, true);
}

// A run of blocks, of which none needs another: together as long as they are small.
static void
chunk_blocks(Factors *factors, const Segment *segment, double share)
{
    double sum = 0;
    int32_t from = segment->first_block;
    for (int32_t b = from; b < segment->end_block; b++) {
        double products = 0;
        int32_t first = factors->block[b], end = factors->block[b + 1];
        for (int32_t k = first; k < end; k++)
            products += products_of(factors, k);
        if (products > share && products > (double)LEAST_PRODUCTS * (end - first)) {
            add_chunk(factors, factors->block[from], first, from, false);
            chunk_columns(factors, first, end, b);
            from = b + 1;
            sum = 0;
        } else if ((sum += products) > share) {
            add_chunk(factors, factors->block[from], end, from, false);
            from = b + 1;
            sum = 0;
        }
    }
    add_chunk(factors, factors->block[from], segment->end, from, false);
}

// Needs no column of another chunk before `waits`: a part, or some blocks.
static bool
make_chunks(Factors *factors)
{
    Segment whole = {.end = factors->n, .end_block = factors->blocks};
    double all = 0;
    factors->chunk = calloc((size_t)factors->n + 1, sizeof *factors->chunk);
    factors->done = calloc((size_t)factors->n + 1, sizeof *factors->done);
    if (!factors->chunk || !factors->done)
        return false;
    for (int32_t k = 0; k < factors->n; k++)
        all += products_of(factors, k);
    for (int32_t s = 0; s < factors->segments || s == 0; s++) {
        const Segment *segment = factors->segments ? &factors->segment[s] : &whole;
        if (!segment->parts)
            chunk_blocks(factors, segment, all / CHUNKS);
        for (uint32_t p = 0; p < segment->parts; p++)
            add_chunk(factors, segment->part[p], segment->part[p + 1], segment->first_block, false);
        if (segment->parts)
            chunk_columns(factors, segment->border, segment->end, segment->first_block);
    }
    return true;
}

bool
division_make(Factors *factors)
{
    if (factors->n < LEAST_BLOCK)
        return true;
    int32_t n = factors->n, *to = calloc((size_t)n + 1, sizeof *to);
    uint8_t *part = calloc((size_t)n + 1, sizeof *part);
    for (int32_t k = 0; k < n && to; k++)
        to[k] = k;
    bool good = to && part && make_segments(factors, to, part) && (!factors->segments || permute(factors, to, part));
    for (int32_t s = 0; s < factors->segments && good; s++)
        good = !factors->segment[s].parts || find_borders(factors, &factors->segment[s]);
    free(to);
    free(part);
    return good && make_chunks(factors);
}

void
division_free(Factors *factors)
{
    for (int32_t s = 0; s < factors->segments; s++) {
        free(factors->segment[s].part);
        free(factors->segment[s].l_border);
        free(factors->segment[s].u_part);
        free(factors->segment[s].sum);
    }
    for (unsigned t = 0; t < factors->spares; t++)
        free(factors->spare[t].work);
    free(factors->spare);
    free(factors->segment);
    free(factors->chunk);
    free(factors->done);
}
