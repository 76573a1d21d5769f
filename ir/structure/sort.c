// sort.c: block lower triangular form.
//
// Purpose: order matched equations so that each block needs only what earlier blocks determine.
// Method: Tarjan's strongly connected components (SIAM J. Comput. 1 (1972) 146) with an explicit stack, in the form of
// Pearce (Inf. Process. Lett. 116 (2016) 47), which needs half the memory: an equation waits for the rest of its block only
// when it was left, so that the path and the equations that wait share one array, and the mark of a finished block is greater
// than all numbers of open equations, so that nothing else has to tell them apart. An equation points to the equations
// that determine what it reads, so components come out in order of evaluation.
// Contract: reads incidence, var_of, equation_of; fills sorted and block_start. Within a block source order
// is kept. Unmatched equations form blocks of their own; undetermined unknowns count as known.
// Complexity: linear.
//
//     x = y + 1;  y = 2   ->   block 0: y = 2   block 1: x = y + 1
#include "ir/structure/problem.h"

typedef struct Sorter {
    const Problem *problem;
    uint32_t *low;    // 0: not seen; open: the least number (1.. in order of discovery) it is known to reach; then mark_of(block)
    uint32_t *edge;   // next column to follow
    uint32_t *stack;  // from its begin the path, from its end what was left and waits
    uint8_t *reaches; // 1: an older open equation, so it is not the one by which its block was entered
    uint32_t n, n_path, n_waiting;
    uint32_t seen, blocks;
} Sorter;

static uint32_t
mark_of(uint32_t block)
{
    return UINT32_MAX - block;
}

static void
enter(Sorter *sorter, uint32_t equation)
{
    sorter->low[equation] = ++sorter->seen;
    sorter->edge[equation] = sorter->problem->incidence.start.at[equation];
    sorter->stack[sorter->n_path++] = equation;
}

// What `next` reaches, `equation` reaches, too, unless the block of `next` is finished.
static void
lower(Sorter *sorter, uint32_t equation, uint32_t next)
{
    if (sorter->low[next] >= sorter->low[equation])
        return;
    sorter->low[equation] = sorter->low[next];
    sorter->reaches[equation] = 1;
}

static void
leave(Sorter *sorter)
{
    uint32_t equation = sorter->stack[--sorter->n_path];
    if (sorter->n_path)
        lower(sorter, sorter->stack[sorter->n_path - 1], equation);
    if (sorter->reaches[equation]) {
        sorter->stack[sorter->n - ++sorter->n_waiting] = equation;
        return;
    }
    for (; sorter->n_waiting; sorter->n_waiting--) {
        uint32_t member = sorter->stack[sorter->n - sorter->n_waiting];
        if (sorter->low[member] < sorter->low[equation]) // it waits for an older equation
            break;
        sorter->low[member] = mark_of(sorter->blocks);
    }
    sorter->low[equation] = mark_of(sorter->blocks++);
}

// Follows the edges of the equation on top; false when none is left.
static bool
advance(Sorter *sorter)
{
    const Problem *problem = sorter->problem;
    uint32_t equation = sorter->stack[sorter->n_path - 1];
    uint32_t end = problem->incidence.start.at[equation + 1];
    while (sorter->edge[equation] < end) {
        uint32_t next = problem->equation_of.at[problem->incidence.column.at[sorter->edge[equation]++]];
        if (next == NONE || next == equation)
            continue;
        if (!sorter->low[next]) {
            enter(sorter, next);
            return true;
        }
        lower(sorter, equation, next);
    }
    return false;
}

// Counting sort by block: keeps source order within a block.
static void
collect(const Sorter *sorter, Problem *problem)
{
    uint32_t n = sorter->n;
    vec_clear(&problem->sorted);
    vec_clear(&problem->block_start);
    vec_grow(&problem->sorted, n);
    vec_grow(&problem->block_start, sorter->blocks + 1);
    uint32_t *start = problem->block_start.at, *place = sorter->edge;
    for (uint32_t i = 0; i < n; i++)
        start[mark_of(sorter->low[i]) + 1]++;
    for (uint32_t b = 0; b < sorter->blocks; b++) {
        start[b + 1] += start[b];
        place[b] = start[b];
    }
    for (uint32_t i = 0; i < n; i++)
        problem->sorted.at[place[mark_of(sorter->low[i])]++] = i;
}

void
problem_sort(Problem *problem)
{
    size_t n = problem->equations.n;
    Sorter sorter = {
        .problem = problem, .low = base_calloc(n * 3 + 1, sizeof *sorter.low), .reaches = base_calloc(n + 1, 1), .n = (uint32_t)n,
    };
    sorter.edge = sorter.low + n;
    sorter.stack = sorter.low + 2 * n;
    for (uint32_t i = 0; i < n; i++) {
        if (sorter.low[i])
            continue;
        enter(&sorter, i);
        while (sorter.n_path)
            if (!advance(&sorter))
                leave(&sorter);
    }
    collect(&sorter, problem);
    free(sorter.low);
    free(sorter.reaches);
}
