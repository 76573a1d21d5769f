// elimination_cut.c: where a forest of elimination is cut into parts that do not touch each other.
//
// Purpose: triangular solutions of large matrices by several threads.
// Method: a place of the factors needs only places below it in the forest (Liu, SIAM J. Matrix Anal. Appl. 11 (1990) 134): subtrees are independent. Beginning with
//         the roots, the costliest subtree gives its root to the border and its children take its place, as long as no more than an eighth of the cost is in the border.
//         Of all these cuts that counts which takes four threads the least time. Subtrees are then put together to parts of similar cost.
// Contract: the cut depends on the forest and the costs alone, not on the number of threads. Complexity: O(n log n).
#include "runtime/linear/elimination_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_BORDER = 0.125;  // of the cost
static const double PAYS = 0.8;           // of the cost, what is left for four threads

typedef struct Forest {
    int32_t n, heaped;
    const int32_t *parent;
    const double *cost;
    double *subtree;
    int32_t *child, *sibling; // lists, n at their ends
    int32_t *heap;            // roots of subtrees, the costliest first
    double total;
} Forest;

static bool
allocate(Forest *forest)
{
    size_t n = (size_t)forest->n + 1;
    forest->subtree = calloc(n, sizeof *forest->subtree);
    forest->child = calloc(n, sizeof *forest->child);
    forest->sibling = calloc(n, sizeof *forest->sibling);
    forest->heap = calloc(n, sizeof *forest->heap);
    return forest->subtree && forest->child && forest->sibling && forest->heap;
}

static void
release(Forest *forest)
{
    free(forest->subtree);
    free(forest->child);
    free(forest->sibling);
    free(forest->heap);
}

// Of equal ones the earlier.
static bool
is_costlier(const Forest *forest, int32_t a, int32_t b)
{
    return forest->subtree[a] > forest->subtree[b] || (!(forest->subtree[a] < forest->subtree[b]) && a < b);
}

static void
push(Forest *forest, int32_t root)
{
    int32_t at = forest->heaped++;
    for (; at > 0 && is_costlier(forest, root, forest->heap[(at - 1) / 2]); at = (at - 1) / 2)
        forest->heap[at] = forest->heap[(at - 1) / 2];
    forest->heap[at] = root;
}

static int32_t
pop(Forest *forest)
{
    int32_t top = forest->heap[0], last = forest->heap[--forest->heaped], at = 0;
    for (int32_t next; (next = 2 * at + 1) < forest->heaped; at = next) {
        if (next + 1 < forest->heaped && is_costlier(forest, forest->heap[next + 1], forest->heap[next]))
            next++;
        if (!is_costlier(forest, forest->heap[next], last))
            break;
        forest->heap[at] = forest->heap[next];
    }
    forest->heap[at] = last;
    return top;
}

static void
begin(Forest *forest)
{
    int32_t n = forest->n;
    for (int32_t k = 0; k <= n; k++)
        forest->child[k] = forest->sibling[k] = n;
    memcpy(forest->subtree, forest->cost, (size_t)n * sizeof *forest->cost);
    forest->heaped = 0;
    forest->total = 0;
    for (int32_t k = 0; k < n; k++) { // children are complete before their parents
        int32_t parent = forest->parent[k];
        forest->total += forest->cost[k];
        forest->sibling[k] = forest->child[parent];
        forest->child[parent] = k;
        if (parent < n)
            forest->subtree[parent] += forest->subtree[k];
    }
    for (int32_t root = forest->child[n]; root < n; root = forest->sibling[root])
        push(forest, root);
}

// Moves roots to the border, at most `most` of them. The number after which four threads take the least time, which goes to *longest.
static int32_t
shrink(Forest *forest, int32_t most, uint8_t *part, double *longest)
{
    double border = 0, least = INFINITY;
    int32_t moved = 0, best = 0;
    for (;;) {
        double largest = forest->heaped ? forest->subtree[forest->heap[0]] : 0, share = (forest->total - border) / 4;
        double takes = border + (largest > share ? largest : share);
        if (takes < least) {
            least = takes;
            best = moved;
        }
        if (moved == most || !forest->heaped || largest <= forest->total / ELIMINATION_PARTS || border > MOST_BORDER * forest->total)
            break;
        int32_t root = pop(forest);
        border += forest->cost[root];
        moved++;
        if (part)
            part[root] = ELIMINATION_BORDER;
        for (int32_t child = forest->child[root]; child < forest->n; child = forest->sibling[child])
            push(forest, child);
    }
    *longest = least;
    return best;
}

// Subtrees in the order of their last places, put together until a part has its share.
static uint32_t
number_parts(const Forest *forest, uint8_t *part)
{
    int32_t n = forest->n;
    double share = forest->total / ELIMINATION_PARTS, sum = 0;
    uint32_t parts = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t parent = forest->parent[k];
        if (part[k] == ELIMINATION_BORDER || (parent < n && part[parent] != ELIMINATION_BORDER))
            continue;
        if (sum > 0 && sum + forest->subtree[k] > share) {
            parts++;
            sum = 0;
        }
        sum += forest->subtree[k];
        part[k] = (uint8_t)parts;
    }
    for (int32_t k = n; k-- > 0;) {
        int32_t parent = forest->parent[k];
        if (part[k] != ELIMINATION_BORDER && parent < n && part[parent] != ELIMINATION_BORDER)
            part[k] = part[parent];
    }
    return n ? parts + 1 : 0;
}

uint32_t
elimination_cut(int32_t n, const int32_t *parent, const double *cost, uint8_t *part, double *longest)
{
    Forest forest = {.n = n, .parent = parent, .cost = cost};
    uint32_t parts = 0;
    memset(part, 0, (size_t)n);
    if (allocate(&forest)) {
        begin(&forest);
        int32_t moves = shrink(&forest, n, NULL, longest);
        parts = 1;
        if (*longest <= PAYS * forest.total) {
            begin(&forest);
            shrink(&forest, moves, part, longest);
            parts = number_parts(&forest, part);
        } else {
            *longest = forest.total;
        }
    }
    release(&forest);
    return parts;
}
