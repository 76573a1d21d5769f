// assign.c: the assignment problem.
//
// Purpose: which row belongs to which column. Method: Kuhn's Hungarian method with potentials, one shortest path for each row (Jonker and Volgenant,
// Computing 38 (1987) 325). Contract: gains are finite. Complexity: O(n^3).
#include "ir/check/assign.h"

#include <math.h>
#include <stdlib.h>

#include "ir/base/arena.h"

typedef struct Search {
    const double *gain;
    uint32_t n;
    double *row_price, *column_price, *least; // of columns 1..n; column 0 is where a row enters
    uint32_t *row_of, *from;                  // per column: its row + 1; the column before it on the path
    unsigned char *done;
} Search;

// The free column at the end of the shortest path from the row in column 0.
static uint32_t
find_path(Search *search)
{
    uint32_t at = 0;
    for (uint32_t j = 0; j <= search->n; j++) {
        search->least[j] = INFINITY;
        search->done[j] = 0;
    }
    do {
        uint32_t row = search->row_of[at], next = 0;
        double delta = INFINITY;
        search->done[at] = 1;
        for (uint32_t j = 1; j <= search->n; j++) {
            if (search->done[j])
                continue;
            double cost = -search->gain[(row - 1) * search->n + j - 1] - search->row_price[row] - search->column_price[j];
            if (cost < search->least[j]) {
                search->least[j] = cost;
                search->from[j] = at;
            }
            if (search->least[j] < delta) {
                delta = search->least[j];
                next = j;
            }
        }
        for (uint32_t j = 0; j <= search->n; j++) {
            if (search->done[j]) {
                search->row_price[search->row_of[j]] += delta;
                search->column_price[j] -= delta;
            } else {
                search->least[j] -= delta;
            }
        }
        at = next;
    } while (search->row_of[at]);
    return at;
}

void
assign_most(const double *gain, uint32_t n, uint32_t *column_of)
{
    Search search = {.gain = gain, .n = n, .row_price = base_calloc(n + 1, sizeof(double)), .column_price = base_calloc(n + 1, sizeof(double)),
                     .least = base_calloc(n + 1, sizeof(double)), .row_of = base_calloc(n + 1, sizeof(uint32_t)),
                     .from = base_calloc(n + 1, sizeof(uint32_t)), .done = base_calloc(n + 1, 1)};
    for (uint32_t i = 1; i <= n; i++) {
        search.row_of[0] = i;
        for (uint32_t at = find_path(&search); at; at = search.from[at])
            search.row_of[at] = search.row_of[search.from[at]];
    }
    for (uint32_t j = 1; j <= n; j++)
        column_of[search.row_of[j] - 1] = j - 1;
    free(search.row_price);
    free(search.column_price);
    free(search.least);
    free(search.row_of);
    free(search.from);
    free(search.done);
}
