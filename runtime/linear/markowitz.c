// markowitz.c: pivots of a sparse matrix by what they fill in and by size.
//
// Purpose: in the matrix of a torn loop of a mechanism most pivots cost nothing and few are dense, but its pattern is far from symmetric:
// orderings of A'A alone (COLAMD) must provide for any pivot of a column and leave up to twice the entries.
// Method: the next pivot is one that makes the fewest new entries, and among those one with the least product of the other entries of its
// row and its column (Markowitz, Management Science 3 (1957) 255), of at least THRESHOLD times the largest entry of its column, in rows
// scaled to the size 1. Columns wait in a heap by the best pivot that they had when it was looked at last; the first one is looked
// at again, and goes back when it has become worse than the next. Beyond COUNTED, where counting would cost more than the elimination, that product
// stands for the new entries. Pivots of THRESHOLD cost 2 % more products than those of a tenth of it, and the corrections of what is solved with them
// are a third, so that mostly no second one is needed. Columns that an elimination changes come to the heap anew. The elimination is
// carried out by columns, whose values are needed to judge sizes.
// Contract: markowitz.h. Complexity: that of the elimination, and for each column that it changes the entries of the columns that
// share rows with it; bounded by LOOKS.
#include "runtime/linear/markowitz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/list.h"

static const double THRESHOLD = 0.1;
enum { NOWHERE = -1, COUNTED = 256, LOOKS = 1 << 27 };

typedef struct Entry {
    int32_t row;
    double value;
} Entry;

typedef struct Column {
    Entry *entry;
    uint32_t n;
    uint32_t latest;     // number of its latest place in the heap
    int32_t seen;        // the pivot's column + 1 after which it was looked at again
    uint32_t shared;     // rows that it shares with the column of the look `look`
    uint64_t look;
    bool done;
} Column;

typedef struct Pivot {
    int32_t row, column;
    double value;
    uint64_t fill, cost;
} Pivot;

typedef struct Waiting { // a column by its best pivot
    uint64_t fill, cost;
    int32_t column;
    uint32_t number;     // Column.latest, or it counts no longer
} Waiting;

typedef struct Pattern { // of a row: columns, with those that are done
    int32_t *column;
    uint32_t n;
    uint32_t open;       // entries in columns that are not done
} Pattern;

typedef struct Elimination {
    uint32_t n;
    Column *columns;
    Pattern *rows;
    int32_t *at;         // per row: place in the column being looked at or changed + 1, zero between uses
    Waiting *heap;
    size_t n_heap;
    uint64_t entries, most;
    uint64_t look;       // number of the look at a column
    uint64_t looks;      // at entries, to count fill
} Elimination;

static void
destroy(Elimination *e)
{
    for (uint32_t k = 0; k < e->n; k++) {
        if (e->columns)
            free(e->columns[k].entry);
        if (e->rows)
            free(e->rows[k].column);
    }
    free(e->columns);
    free(e->rows);
    free(e->at);
    free(e->heap);
}

static bool
add_entry(Column *column, int32_t row, double value)
{
    if (!list_room(&column->entry, column->n, sizeof *column->entry))
        return false;
    column->entry[column->n++] = (Entry){row, value};
    return true;
}

static bool
add_column(Pattern *row, int32_t column)
{
    if (!list_room(&row->column, row->n, sizeof *row->column))
        return false;
    row->column[row->n++] = column;
    row->open++;
    return true;
}

// --- the heap

static bool
is_before(const Waiting *a, const Waiting *b)
{
    if (a->fill != b->fill)
        return a->fill < b->fill;
    return a->cost != b->cost ? a->cost < b->cost : a->column < b->column;
}

static bool
push(Elimination *e, Waiting waiting)
{
    if (!list_room(&e->heap, e->n_heap, sizeof *e->heap))
        return false;
    size_t at = e->n_heap++;
    for (; at > 0 && is_before(&waiting, &e->heap[(at - 1) / 2]); at = (at - 1) / 2)
        e->heap[at] = e->heap[(at - 1) / 2];
    e->heap[at] = waiting;
    return true;
}

static Waiting
pop(Elimination *e)
{
    Waiting top = e->heap[0], last = e->heap[--e->n_heap];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < e->n_heap; at = child) {
        child += child + 1 < e->n_heap && is_before(&e->heap[child + 1], &e->heap[child]);
        if (!is_before(&e->heap[child], &last))
            break;
        e->heap[at] = e->heap[child];
    }
    e->heap[at] = last;
    return top;
}

// --- pivots

static double
largest(const Column *column)
{
    double most = 0;
    for (uint32_t k = 0; k < column->n; k++)
        most = fmax(most, fabs(column->entry[k].value));
    return most;
}

// Rows that a column shares with the column being looked at, whose rows are marked: counted once for all pivots of that one.
static uint32_t
count_shared(Elimination *e, Column *other)
{
    if (other->look == e->look)
        return other->shared;
    other->look = e->look;
    other->shared = 0;
    e->looks += other->n;
    for (uint32_t l = 0; l < other->n; l++)
        other->shared += e->at[other->entry[l].row] != 0;
    return other->shared;
}

// Entries that the elimination with the pivot in row i of the column, whose rows are marked, would make.
static uint64_t
count_fill(Elimination *e, int32_t j, int32_t i)
{
    const Pattern *row = &e->rows[i];
    uint64_t fill = 0;
    e->looks += row->n;
    for (uint32_t k = 0; k < row->n && e->looks <= LOOKS; k++) {
        Column *other = &e->columns[row->column[k]];
        if (!other->done && row->column[k] != j)
            fill += e->columns[j].n - count_shared(e, other);
    }
    return fill;
}

static bool
is_better(const Pivot *a, const Pivot *b)
{
    if (b->row == NOWHERE || a->fill != b->fill)
        return b->row == NOWHERE || a->fill < b->fill;
    return a->cost != b->cost ? a->cost < b->cost : fabs(a->value) > fabs(b->value);
}

// The best pivot of column j; row NOWHERE when it has none.
static Pivot
best_of(Elimination *e, int32_t j)
{
    const Column *column = &e->columns[j];
    Pivot best = {.row = NOWHERE};
    double least = THRESHOLD * largest(column);
    e->look++;
    for (uint32_t k = 0; k < column->n; k++)
        e->at[column->entry[k].row] = (int32_t)k + 1;
    for (uint32_t k = 0; k < column->n; k++) {
        Entry entry = column->entry[k];
        if (!(fabs(entry.value) >= least) || entry.value == 0)
            continue;
        Pivot pivot = {entry.row, j, entry.value, 0, (uint64_t)(column->n - 1) * (e->rows[entry.row].open - 1)};
        pivot.fill = !pivot.cost ? 0 : pivot.cost <= COUNTED ? count_fill(e, j, entry.row) : pivot.cost;
        if (is_better(&pivot, &best))
            best = pivot;
    }
    for (uint32_t k = 0; k < column->n; k++)
        e->at[column->entry[k].row] = 0;
    return best;
}

static bool
wait_with(Elimination *e, int32_t j, const Pivot *best)
{
    uint32_t number = ++e->columns[j].latest;
    return best->row == NOWHERE || push(e, (Waiting){best->fill, best->cost, j, number});
}

static bool
wait_again(Elimination *e, int32_t j)
{
    Pivot best = best_of(e, j);
    return wait_with(e, j, &best);
}

// False: out of memory, or a row of zeros.
static bool
load(Elimination *e, const uint32_t *start, const uint32_t *row, const double *value)
{
    uint32_t n = e->n;
    double *scale = calloc((size_t)n + 1, sizeof *scale);
    bool good = scale != NULL;
    for (uint32_t k = 0; good && n && k < start[n]; k++)
        scale[row[k]] = fmax(scale[row[k]], fabs(value[k]));
    for (uint32_t i = 0; good && i < n; i++)
        good = scale[i] > 0 && isfinite(scale[i]);
    for (uint32_t j = 0; good && j < n; j++)
        for (uint32_t k = start[j]; good && k < start[j + 1]; k++)
            good = add_entry(&e->columns[j], (int32_t)row[k], value[k] / scale[row[k]]) && add_column(&e->rows[row[k]], (int32_t)j);
    for (uint32_t j = 0; good && j < n; j++)
        good = e->looks <= LOOKS && wait_again(e, (int32_t)j);
    free(scale);
    return good;
}

// The next pivot. False: there is none, or memory is exhausted.
static bool
choose(Elimination *e, Pivot *best)
{
    while (e->n_heap) {
        if (e->looks > LOOKS)
            return false;
        Waiting top = pop(e);
        if (e->columns[top.column].done || e->columns[top.column].latest != top.number)
            continue;
        *best = best_of(e, top.column);
        top.fill = best->fill;
        top.cost = best->cost;
        if (best->row != NOWHERE && (!e->n_heap || !is_before(&e->heap[0], &top)))
            return true;
        if (!wait_with(e, top.column, best))
            return false;
    }
    return false;
}

// Takes the pivot's row out of a column; its value there.
static double
take_out(Column *column, int32_t row)
{
    uint32_t k = 0;
    while (column->entry[k].row != row)
        k++;
    double value = column->entry[k].value;
    column->entry[k] = column->entry[--column->n];
    return value;
}

// Column j less a multiple of the pivot's column.
static bool
eliminate(Elimination *e, const Pivot *pivot, int32_t j)
{
    Column *column = &e->columns[j];
    const Column *from = &e->columns[pivot->column];
    double factor = take_out(column, pivot->row) / pivot->value;
    for (uint32_t k = 0; k < column->n; k++)
        e->at[column->entry[k].row] = (int32_t)k + 1;
    uint32_t before = column->n;
    bool good = true;
    for (uint32_t k = 0; k < from->n && good; k++) {
        Entry entry = from->entry[k];
        if (entry.row == pivot->row)
            continue;
        if (e->at[entry.row])
            column->entry[e->at[entry.row] - 1].value -= factor * entry.value;
        else
            good = add_entry(column, entry.row, -factor * entry.value) && add_column(&e->rows[entry.row], j);
    }
    for (uint32_t k = 0; k < before; k++)
        e->at[column->entry[k].row] = 0;
    e->entries += column->n - before;
    return good && e->entries <= e->most;
}

// Columns that share a row with the pivot's column have other costs now.
static bool
look_again(Elimination *e, const Pivot *pivot)
{
    const Column *column = &e->columns[pivot->column];
    for (uint32_t k = 0; k < column->n; k++) {
        const Pattern *row = &e->rows[column->entry[k].row];
        for (uint32_t l = 0; l < row->n; l++) {
            Column *other = &e->columns[row->column[l]];
            if (other->done || other->seen == pivot->column + 1)
                continue;
            other->seen = pivot->column + 1;
            if (!wait_again(e, row->column[l]))
                return false;
        }
    }
    return true;
}

static bool
apply(Elimination *e, const Pivot *pivot)
{
    Column *column = &e->columns[pivot->column];
    const Pattern *row = &e->rows[pivot->row];
    column->done = true;
    for (uint32_t k = 0; k < row->n; k++)
        if (!e->columns[row->column[k]].done && !eliminate(e, pivot, row->column[k]))
            return false;
    for (uint32_t k = 0; k < column->n; k++)
        if (column->entry[k].row != pivot->row)
            e->rows[column->entry[k].row].open--;
    return look_again(e, pivot);
}

bool
markowitz_order(uint32_t n, const uint32_t *start, const uint32_t *row, const double *value, uint64_t most, int32_t *row_at,
                int32_t *column_at)
{
    size_t size = (size_t)n + 1;
    Elimination e = {.n = n, .entries = n ? (uint64_t)start[n] : 0, .most = most};
    e.columns = calloc(size, sizeof *e.columns);
    e.rows = calloc(size, sizeof *e.rows);
    e.at = calloc(size, sizeof *e.at);
    bool good = e.columns && e.rows && e.at && load(&e, start, row, value);
    for (uint32_t k = 0; k < n && good; k++) {
        Pivot pivot;
        good = choose(&e, &pivot) && apply(&e, &pivot);
        if (good) {
            row_at[k] = pivot.row;
            column_at[k] = pivot.column;
        }
    }
    destroy(&e);
    return good;
}
