// sort.c: block lower triangular form.
//
// Purpose: order matched equations so that each block needs only what earlier blocks determine.
// Method: Tarjan's strongly connected components (SIAM J. Comput. 1 (1972) 146) with an explicit stack. An
// equation points to the equations that determine what it reads, so components come out in order of
// evaluation.
// Contract: reads incidence, var_of, equation_of; fills sorted and block_start. Within a block source order
// is kept. Unmatched equations form blocks of their own; undetermined unknowns count as known.
// Complexity: linear.
//
//     x = y + 1;  y = 2   ->   block 0: y = 2   block 1: x = y + 1
#include "ir/problem.h"

typedef struct Sorter {
    const Problem *problem;
    uint32_t *number; // 1.. in order of discovery; 0: not seen
    uint32_t *low;
    uint32_t *edge;   // next column to follow
    uint32_t *block;  // block number, NONE while open
    uint32_t *open, n_open;
    uint32_t *calls, n_calls;
    uint32_t seen, blocks;
} Sorter;

static void
enter(Sorter *sorter, uint32_t equation)
{
    sorter->number[equation] = sorter->low[equation] = ++sorter->seen;
    sorter->edge[equation] = sorter->problem->incidence.start.at[equation];
    sorter->open[sorter->n_open++] = equation;
    sorter->calls[sorter->n_calls++] = equation;
}

static void
lower(Sorter *sorter, uint32_t equation, uint32_t to)
{
    if (to < sorter->low[equation])
        sorter->low[equation] = to;
}

static void
leave(Sorter *sorter)
{
    uint32_t equation = sorter->calls[--sorter->n_calls];
    if (sorter->n_calls)
        lower(sorter, sorter->calls[sorter->n_calls - 1], sorter->low[equation]);
    if (sorter->low[equation] != sorter->number[equation])
        return;
    uint32_t member;
    do {
        member = sorter->open[--sorter->n_open];
        sorter->block[member] = sorter->blocks;
    } while (member != equation);
    sorter->blocks++;
}

// Follows the edges of the equation on top; false when none is left.
static bool
advance(Sorter *sorter)
{
    const Problem *problem = sorter->problem;
    uint32_t equation = sorter->calls[sorter->n_calls - 1];
    uint32_t end = problem->incidence.start.at[equation + 1];
    while (sorter->edge[equation] < end) {
        uint32_t next = problem->equation_of.at[problem->incidence.column.at[sorter->edge[equation]++]];
        if (next == NONE || next == equation)
            continue;
        if (!sorter->number[next]) {
            enter(sorter, next);
            return true;
        }
        if (sorter->block[next] == NONE)
            lower(sorter, equation, sorter->number[next]);
    }
    return false;
}

// Counting sort by block: keeps source order within a block.
static void
collect(const Sorter *sorter, Problem *problem)
{
    uint32_t n = problem->equations.n;
    vec_clear(&problem->sorted);
    vec_clear(&problem->block_start);
    vec_grow(&problem->sorted, n);
    vec_grow(&problem->block_start, sorter->blocks + 1);
    uint32_t *start = problem->block_start.at, *place = sorter->low;
    for (uint32_t i = 0; i < n; i++)
        start[sorter->block[i] + 1]++;
    for (uint32_t b = 0; b < sorter->blocks; b++) {
        start[b + 1] += start[b];
        place[b] = start[b];
    }
    for (uint32_t i = 0; i < n; i++)
        problem->sorted.at[place[sorter->block[i]]++] = i;
}

void
problem_sort(Problem *problem)
{
    size_t n = problem->equations.n;
    uint32_t *work = base_calloc(n * 6 + 1, sizeof *work);
    Sorter sorter = {
        .problem = problem, .number = work, .low = work + n, .edge = work + 2 * n,
        .block = work + 3 * n, .open = work + 4 * n, .calls = work + 5 * n,
    };
    memset(sorter.block, 0xff, n * sizeof *work);
    for (uint32_t i = 0; i < n; i++) {
        if (sorter.number[i])
            continue;
        enter(&sorter, i);
        while (sorter.n_calls)
            if (!advance(&sorter))
                leave(&sorter);
    }
    collect(&sorter, problem);
    free(work);
}
