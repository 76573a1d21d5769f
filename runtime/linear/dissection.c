// dissection.c: an order of elimination in which parts of a large matrix do not touch each other.
//
// Purpose: factorisations and triangular solutions of large matrices by several threads.
// Method: nested dissection (George, SIAM J. Numer. Anal. 10 (1973) 345) of the graph of A + A': a piece is divided at the smallest level between a fourth and three fourths
//         of its levels of distance from one of its ends (George and Liu, SIAM J. Numer. Anal. 15 (1978) 1053), whose columns come last, and which sheds and exchanges vertices
//         with the sides (Ashcraft and Liu, SIAM J. Matrix Anal. Appl. 19 (1998) 325). Pieces that are small, or have no small separator, are ordered by AMD,
//         with the separators around them as vertices of high degree. Fill and work of the order, and of AMD's for the whole, are counted; what takes
//         four threads less time is taken, if one thread does not have a twentieth more work.
// Contract: the order depends on the pattern alone. Complexity: O(entries * log n) and AMD's, and O(entries of L) for counting.
#include "runtime/linear/dissection.h"

#include <amd.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/elimination_cut.h"

enum { LEAST_LEVELS = 4, SWEEPS = 4, LEAST_PIECE = 400, PASSES = 8, DENSE_HALO = 600, LEAST_CLIQUE = 12, DEEPEST = 24 };
static const double MORE_WORK = 1.05; // than with AMD's order, by one thread
static const double SOLUTIONS = 10;   // that a matrix serves for: seven to fourteen in runs of ida

typedef struct Work {
    double products, entries; // of a factorisation, and of L
    double longest;           // what four threads take for a solution, in entries
} Work;

typedef struct Piece {
    int32_t first, count;
    int depth;
} Piece;

typedef struct Dissection {
    int32_t n;
    int32_t *start, *next;  // the graph: neighbours of each vertex
    int32_t *list;          // vertices, piece by piece: the order
    int32_t *owner;         // of each vertex: first place of its piece, or -1 in a separator
    int32_t *level, *queue; // of breadth-first search
    int32_t *local;         // numbers within a piece, or -1
    int32_t *kept;          // n
    int8_t *side;
    Piece *piece;
    int32_t pieces;
    int32_t least;          // size of pieces that are not divided
    int deepest;
} Dissection;

static void
release(Dissection *d)
{
    void *part[] = {d->start, d->next, d->list, d->owner, d->level, d->queue, d->local, d->kept, d->side, d->piece};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        free(part[k]);
}

static bool
allocate(Dissection *d, size_t entries)
{
    size_t n = (size_t)d->n + 1;
    int32_t **array[] = {&d->list, &d->owner, &d->level, &d->queue, &d->local, &d->kept};
    bool good = true;
    for (size_t k = 0; k < sizeof array / sizeof *array; k++)
        good = (*array[k] = calloc(n, sizeof **array[k])) && good;
    d->start = calloc(n + 1, sizeof *d->start);
    d->next = calloc(2 * entries + 1, sizeof *d->next);
    d->side = calloc(n, sizeof *d->side);
    d->piece = calloc(n, sizeof *d->piece);
    return good && d->start && d->next && d->side && d->piece;
}

// The graph of A + A' without the diagonal; neighbours that stand in both occur once.
static void
make_graph(Dissection *d, const int32_t *start, const int32_t *row)
{
    int32_t n = d->n, *count = d->kept;
    for (int32_t j = 0; j < n; j++)
        for (int32_t e = start[j]; e < start[j + 1]; e++)
            if (row[e] != j) {
                count[j]++;
                count[row[e]]++;
            }
    for (int32_t j = 0; j < n; j++) {
        d->start[j + 1] = d->start[j] + count[j];
        count[j] = d->start[j];
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t e = start[j]; e < start[j + 1]; e++)
            if (row[e] != j) {
                d->next[count[j]++] = row[e];
                d->next[count[row[e]]++] = j;
            }
    int32_t at = 0, from = 0;
    for (int32_t j = 0; j < n; j++)
        d->level[j] = -1;
    for (int32_t j = 0; j < n; j++) {
        int32_t to = d->start[j + 1];
        for (; from < to; from++)
            if (d->level[d->next[from]] != j) {
                d->level[d->next[from]] = j;
                d->next[at++] = d->next[from];
            }
        d->start[j + 1] = at;
    }
}

// Levels of distance from `root` in its piece, whose vertices have a level below 0 before. Vertices reached, in d->queue from `at` on.
static int32_t
search(Dissection *d, int32_t root, int32_t at)
{
    int32_t end = at, id = d->owner[root];
    d->level[root] = 0;
    d->queue[end++] = root;
    for (; at < end; at++) {
        int32_t v = d->queue[at];
        for (int32_t e = d->start[v]; e < d->start[v + 1]; e++) {
            int32_t w = d->next[e];
            if (d->owner[w] == id && d->level[w] < 0) {
                d->level[w] = d->level[v] + 1;
                d->queue[end++] = w;
            }
        }
    }
    return end;
}

static void
forget_levels(Dissection *d, const Piece *piece)
{
    for (int32_t k = piece->first; k < piece->first + piece->count; k++)
        d->level[d->list[k]] = -1;
}

// Writes the piece as d->side has it: side 0, side 1, separator.
static void
arrange(Dissection *d, const Piece *piece)
{
    int32_t count[4] = {0}, *list = d->list + piece->first;
    for (int32_t k = 0; k < piece->count; k++)
        count[d->side[list[k]] + 1]++;
    int32_t at[3] = {0, count[1], count[1] + count[2]};
    memcpy(d->queue, list, (size_t)piece->count * sizeof *list);
    for (int32_t k = 0; k < piece->count; k++)
        list[at[d->side[d->queue[k]]]++] = d->queue[k];
    for (int32_t k = 0; k < piece->count; k++)
        d->owner[list[k]] = k < count[1] ? piece->first : k < count[1] + count[2] ? piece->first + count[1] : -1;
    int deeper = count[3] ? piece->depth + 1 : piece->depth; // what falls apart by itself costs nothing
    if (count[2])
        d->piece[d->pieces++] = (Piece){piece->first + count[1], count[2], deeper};
    if (count[1])
        d->piece[d->pieces++] = (Piece){piece->first, count[1], deeper};
}

// A piece that is not connected falls into two groups of components.
static void
part_components(Dissection *d, const Piece *piece, int32_t reached)
{
    const int32_t *list = d->list + piece->first;
    for (int32_t k = 0; k < piece->count; k++)
        d->side[list[k]] = 1;
    int32_t taken = reached;
    for (int32_t k = 0; k < piece->count && taken < piece->count / 2; k++) {
        if (d->level[list[k]] >= 0)
            continue;
        int32_t end = search(d, list[k], taken);
        if (end > piece->count - piece->count / 4) { // the large one
            for (int32_t at = taken; at < end; at++)
                d->level[d->queue[at]] = -1;
            break;
        }
        taken = end;
    }
    for (int32_t k = 0; k < taken; k++)
        d->side[d->queue[k]] = 0;
    arrange(d, piece);
}

static int32_t
neighbours_on(const Dissection *d, int32_t id, int32_t v, int8_t side, int32_t *one)
{
    int32_t count = 0;
    for (int32_t e = d->start[v]; e < d->start[v + 1]; e++) {
        int32_t w = d->next[e];
        if (d->owner[w] == id && d->side[w] == side) {
            count++;
            *one = w;
        }
    }
    return count;
}

// A vertex of the separator without neighbours on one side goes to the other one. One that has a single neighbour on the larger side changes places with it, which
// makes others free.
static void
better_separator(Dissection *d, const Piece *piece, int32_t *separator, int32_t count)
{
    int32_t size[2] = {0}, id = piece->first;
    for (int32_t k = 0; k < piece->count; k++) {
        int8_t side = d->side[d->list[piece->first + k]];
        if (side < 2)
            size[side]++;
    }
    for (int pass = 0, changed = 1; pass < PASSES && changed; pass++) {
        changed = 0;
        for (int32_t k = 0; k < count; k++) {
            int32_t v = separator[k], one[2] = {0}, beside[2];
            for (int8_t side = 0; side < 2; side++)
                beside[side] = neighbours_on(d, id, v, side, &one[side]);
            int8_t to = size[0] <= size[1] ? 0 : 1, from = (int8_t)(1 - to);
            if (beside[from] && !beside[to])
                to = from, from = (int8_t)(1 - to);
            if (beside[from] > 1 || (beside[from] == 1 && size[from] <= size[to] + 1))
                continue;
            d->side[v] = to;
            size[to]++;
            changed = 1;
            if (beside[from]) {
                d->side[one[from]] = 2;
                size[from]--;
                separator[k] = one[from];
            } else {
                separator[k--] = separator[--count];
            }
        }
    }
}

// The level that is the separator, -1: none is small and well in the middle. `queue` has the vertices level by level.
static int32_t
choose_level(const Dissection *d, int32_t count)
{
    int32_t best = -1, begin = 0;
    double least = count / 8;
    for (int32_t at = 0; at < count; at = begin) {
        int32_t level = d->level[d->queue[at]];
        while (begin < count && d->level[d->queue[begin]] == level)
            begin++;
        int32_t smaller = at < count - begin ? at : count - begin;
        double size = (double)(begin - at) * count / (2.0 * smaller + 1); // sides should be alike
        if (smaller >= count / 4 && size < least) {
            least = size;
            best = level;
        }
    }
    return best;
}

static bool
divide(Dissection *d, const Piece *piece)
{
    int32_t root = d->list[piece->first], eccentricity = -1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        forget_levels(d, piece);
        int32_t reached = search(d, root, 0);
        if (reached < piece->count) {
            part_components(d, piece, reached);
            return true;
        }
        int32_t last = d->queue[reached - 1];
        if (d->level[last] <= eccentricity)
            break;
        eccentricity = d->level[last];
        root = last;
    }
    int32_t level = eccentricity >= LEAST_LEVELS ? choose_level(d, piece->count) : -1, separator = 0;
    if (level < 0)
        return false;
    for (int32_t k = 0; k < piece->count; k++) {
        int32_t v = d->queue[k];
        d->side[v] = d->level[v] < level ? 0 : d->level[v] > level ? 1 : 2;
        if (d->side[v] == 2)
            d->kept[separator++] = v;
    }
    better_separator(d, piece, d->kept, separator);
    arrange(d, piece);
    return true;
}

// AMD orders a piece together with the separators around it, which are a clique, as they will be when it is eliminated.
static bool
order_piece(Dissection *d, const Piece *piece)
{
    int32_t *list = d->list + piece->first, count = piece->count, halo = 0;
    size_t entries = 0;
    for (int32_t k = 0; k < count; k++) {
        d->local[list[k]] = k;
        entries += (size_t)(d->start[list[k] + 1] - d->start[list[k]]);
    }
    for (int32_t k = 0; k < count; k++)
        for (int32_t e = d->start[list[k]]; e < d->start[list[k] + 1]; e++)
            if (d->local[d->next[e]] < 0 && halo < DENSE_HALO) {
                d->local[d->next[e]] = count + halo;
                d->kept[halo++] = d->next[e];
            }
    bool around = halo > 0 && halo < DENSE_HALO;
    int32_t clique = !around ? 0 : halo < LEAST_CLIQUE ? LEAST_CLIQUE : halo, size = count + clique, at = 0;
    int32_t *start = calloc((size_t)size + 1, sizeof *start), *order = calloc((size_t)size + 1, sizeof *order);
    int32_t *row = calloc(entries + (size_t)clique * (size_t)clique + 1, sizeof *row);
    bool good = start && order && row;
    for (int32_t k = 0; k < count && good; k++) {
        for (int32_t e = d->start[list[k]]; e < d->start[list[k] + 1]; e++) {
            int32_t other = d->local[d->next[e]];
            if (other >= 0 && other < size)
                row[at++] = other;
        }
        start[k + 1] = at;
    }
    for (int32_t k = count; k < size && good; k++) {
        for (int32_t other = count; other < size; other++)
            if (other != k)
                row[at++] = other;
        start[k + 1] = at;
    }
    for (int32_t k = 0; k < count; k++)
        d->local[list[k]] = -1;
    for (int32_t k = 0; k < halo; k++)
        d->local[d->kept[k]] = -1;
    good = good && amd_order(size, start, row, order, NULL, NULL) >= AMD_OK;
    memcpy(d->kept, list, (size_t)count * sizeof *list);
    for (int32_t k = 0, to = 0; k < size && good; k++)
        if (order[k] < count)
            list[to++] = d->kept[order[k]];
    free(start);
    free(order);
    free(row);
    return good;
}

static bool
dissect(Dissection *d)
{
    bool good = true;
    for (int32_t k = 0; k < d->n; k++) {
        d->list[k] = k;
        d->local[k] = -1;
        d->owner[k] = 0;
    }
    d->pieces = 1;
    d->piece[0] = (Piece){0, d->n, 0};
    while (d->pieces && good) {
        Piece piece = d->piece[--d->pieces];
        bool divided = piece.count > d->least && piece.depth < d->deepest && divide(d, &piece);
        good = divided || order_piece(d, &piece);
    }
    return good;
}

// Counts what the order in d->list costs. False: out of memory.
static bool
count_work(Dissection *d, Work *work)
{
    int32_t n = d->n, *place = d->local, *parent = d->level, *seen = d->queue, *below = d->kept;
    double *cost = calloc((size_t)n + 1, sizeof *cost);
    uint8_t *part = calloc((size_t)n + 1, sizeof *part);
    for (int32_t k = 0; k < n; k++)
        place[d->list[k]] = k;
    for (int32_t k = 0; k < n; k++) {
        int32_t v = d->list[k];
        parent[k] = n;
        seen[k] = k;
        below[k] = 0;
        for (int32_t e = d->start[v]; e < d->start[v + 1]; e++)
            for (int32_t i = place[d->next[e]]; i < k && seen[i] != k; i = parent[i]) { // row k of L: up the tree from each of its entries
                if (parent[i] == n)
                    parent[i] = k;
                below[i]++;
                seen[i] = k;
            }
    }
    *work = (Work){0};
    for (int32_t k = 0; k < n && cost; k++) {
        cost[k] = 2.0 * below[k] + 1;
        work->products += (1.0 + below[k]) * below[k];
        work->entries += below[k] + 1;
    }
    bool good = cost && part && elimination_cut(n, parent, cost, part, &work->longest);
    free(cost);
    free(part);
    return good;
}

static bool
try_order(Dissection *d, int deepest, Work *work)
{
    d->deepest = deepest;
    return dissect(d) && count_work(d, work);
}

// Of one thread: factors serve for some solutions.
static double
alone(const Work *work)
{
    return work->products + SOLUTIONS * 2 * work->entries;
}

// Of four threads: columns of the border are shared in a factorisation, not in a solution.
static double
shared(const Work *work)
{
    return work->products / 4 + SOLUTIONS * work->longest;
}

double
dissection_order(int32_t n, const int32_t *start, const int32_t *row, int32_t *order)
{
    static const int depths[] = {DEEPEST, 1}; // a chain bears one separator, without more fill
    Dissection d = {.n = n, .least = LEAST_PIECE};
    Work whole = {0}, best = {0}, work;
    bool good = allocate(&d, (size_t)start[n]);
    if (good) {
        make_graph(&d, start, row);
        good = try_order(&d, 0, &whole);
        memcpy(order, d.list, (size_t)n * sizeof *order);
        best = whole;
    }
    for (size_t k = 0; k < sizeof depths / sizeof *depths && good; k++) {
        good = try_order(&d, depths[k], &work);
        if (!good || !(alone(&work) <= MORE_WORK * alone(&whole)) || !(shared(&work) < shared(&best)))
            continue;
        memcpy(order, d.list, (size_t)n * sizeof *order);
        best = work;
        break;
    }

    release(&d);
    return good ? best.entries : 0;
}
