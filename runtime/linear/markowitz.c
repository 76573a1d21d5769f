// markowitz.c: pivots of a sparse matrix by number of operations and by size.
//
// Purpose: in the matrix of a torn loop of a mechanism most pivots cost nothing and few are dense, but its pattern is far from symmetric:
// orderings of A'A alone (COLAMD) must provide for any pivot of a column and leave up to twice the entries.
// Method: Markowitz (Management Science 3 (1957) 255): the next pivot is one with the least product of the other entries of its row and
// its column, among those of at least THRESHOLD times the largest entry of their column, in rows scaled to the size 1. A row with one
// entry is taken at once; otherwise LOOKED columns with the fewest entries are looked at (Zlatev, SIAM J. Numer. Anal. 17 (1980) 18). The
// elimination is carried out by columns, whose values are needed to judge sizes.
// Contract: markowitz.h. Complexity: that of the elimination, and for each pivot the entries that are looked at.
#include "runtime/linear/markowitz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double THRESHOLD = 0.1;
enum { LOOKED = 4, NOWHERE = -1 };

typedef struct Entry {
    int32_t row;
    double value;
} Entry;

typedef struct Column {
    Entry *entry;
    uint32_t n, capacity;
    int32_t before, behind; // in the list of columns with as many entries
    bool done;
} Column;

typedef struct Pattern { // of a row: columns, with those that are done
    int32_t *column;
    uint32_t n, capacity;
    uint32_t open;       // entries in columns that are not done
    bool done;
} Pattern;

typedef struct Elimination {
    uint32_t n;
    Column *columns;
    Pattern *rows;
    int32_t *first;      // per number of entries: the first of a list of columns
    int32_t *at;         // per row: place in the column being changed + 1, zero between uses
    int32_t *singles;    // rows with one entry left; some may be done
    uint32_t n_singles;
    uint64_t entries, most;
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
    free(e->first);
    free(e->at);
    free(e->singles);
}

static bool
add_entry(Column *column, int32_t row, double value)
{
    if (column->n == column->capacity) {
        uint32_t capacity = 2 * column->capacity + 4;
        Entry *entry = realloc(column->entry, capacity * sizeof *entry);
        if (!entry)
            return false;
        column->entry = entry;
        column->capacity = capacity;
    }
    column->entry[column->n++] = (Entry){row, value};
    return true;
}

static bool
add_column(Pattern *row, int32_t column)
{
    if (row->n == row->capacity) {
        uint32_t capacity = 2 * row->capacity + 4;
        int32_t *columns = realloc(row->column, capacity * sizeof *columns);
        if (!columns)
            return false;
        row->column = columns;
        row->capacity = capacity;
    }
    row->column[row->n++] = column;
    row->open++;
    return true;
}

static void
enter_list(Elimination *e, int32_t j)
{
    Column *column = &e->columns[j];
    int32_t *first = &e->first[column->n];
    column->before = NOWHERE;
    column->behind = *first;
    if (*first != NOWHERE)
        e->columns[*first].before = j;
    *first = j;
}

static void
leave_list(Elimination *e, int32_t j)
{
    Column *column = &e->columns[j];
    if (column->before != NOWHERE)
        e->columns[column->before].behind = column->behind;
    else
        e->first[column->n] = column->behind;
    if (column->behind != NOWHERE)
        e->columns[column->behind].before = column->before;
}

static void
note_single(Elimination *e, int32_t i)
{
    if (e->rows[i].open == 1 && e->n_singles < 2 * e->n)
        e->singles[e->n_singles++] = i;
}

// False: out of memory, or a row of zeros.
static bool
load(Elimination *e, const int32_t *start, const int32_t *row, const double *value)
{
    uint32_t n = e->n;
    double *scale = calloc((size_t)n + 1, sizeof *scale);
    bool good = scale != NULL;
    for (int32_t k = 0; good && k < start[n]; k++)
        scale[row[k]] = fmax(scale[row[k]], fabs(value[k]));
    for (uint32_t i = 0; good && i < n; i++)
        good = scale[i] > 0 && isfinite(scale[i]);
    for (uint32_t j = 0; good && j < n; j++)
        for (int32_t k = start[j]; good && k < start[j + 1]; k++)
            good = add_entry(&e->columns[j], row[k], value[k] / scale[row[k]]) && add_column(&e->rows[row[k]], (int32_t)j);
    for (uint32_t k = 0; k <= n; k++)
        e->first[k] = NOWHERE;
    for (uint32_t j = n; good && j-- > 0;)
        enter_list(e, (int32_t)j);
    for (uint32_t i = 0; good && i < n; i++)
        note_single(e, (int32_t)i);
    free(scale);
    return good;
}

static double
largest(const Column *column)
{
    double most = 0;
    for (uint32_t k = 0; k < column->n; k++)
        most = fmax(most, fabs(column->entry[k].value));
    return most;
}

typedef struct Pivot {
    int32_t row, column;
    double value;
    uint64_t cost;
} Pivot;

static void
offer(const Elimination *e, int32_t j, Pivot *best)
{
    const Column *column = &e->columns[j];
    double least = THRESHOLD * largest(column);
    for (uint32_t k = 0; k < column->n; k++) {
        Entry entry = column->entry[k];
        uint64_t cost = (uint64_t)(column->n - 1) * (e->rows[entry.row].open - 1);
        if (!(fabs(entry.value) >= least) || entry.value == 0)
            continue;
        if (best->row == NOWHERE || cost < best->cost || (cost == best->cost && fabs(entry.value) > fabs(best->value)))
            *best = (Pivot){entry.row, j, entry.value, cost};
    }
}

// A row with one entry costs nothing, if its entry is large enough.
static bool
take_single(Elimination *e, Pivot *best)
{
    while (e->n_singles) {
        int32_t i = e->singles[--e->n_singles];
        const Pattern *row = &e->rows[i];
        if (row->done || row->open != 1)
            continue;
        int32_t j = NOWHERE;
        for (uint32_t k = 0; k < row->n && j == NOWHERE; k++)
            j = e->columns[row->column[k]].done ? NOWHERE : row->column[k];
        Pivot found = {.row = NOWHERE};
        if (j != NOWHERE)
            offer(e, j, &found);
        if (found.row != NOWHERE && found.cost == 0) {
            *best = found;
            return true;
        }
    }
    return false;
}

static bool
choose(Elimination *e, Pivot *best)
{
    *best = (Pivot){.row = NOWHERE};
    if (take_single(e, best))
        return true;
    uint32_t looked = 0;
    for (uint32_t n = 1; n <= e->n && looked < LOOKED; n++)
        for (int32_t j = e->first[n]; j != NOWHERE && looked < LOOKED; j = e->columns[j].behind) {
            offer(e, j, best);
            looked += best->row != NOWHERE;
            if (best->row != NOWHERE && best->cost == 0)
                return true;
        }
    return best->row != NOWHERE;
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
    leave_list(e, j);
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
    enter_list(e, j);
    return good && e->entries <= e->most;
}

static bool
apply(Elimination *e, const Pivot *pivot)
{
    Column *column = &e->columns[pivot->column];
    Pattern *row = &e->rows[pivot->row];
    leave_list(e, pivot->column);
    column->done = row->done = true;
    for (uint32_t k = 0; k < row->n; k++)
        if (!e->columns[row->column[k]].done && !eliminate(e, pivot, row->column[k]))
            return false;
    for (uint32_t k = 0; k < column->n; k++)
        if (column->entry[k].row != pivot->row) {
            e->rows[column->entry[k].row].open--;
            note_single(e, column->entry[k].row);
        }
    return true;
}

bool
markowitz_order(uint32_t n, const int32_t *start, const int32_t *row, const double *value, uint64_t most, int32_t *row_at,
                int32_t *column_at)
{
    size_t size = (size_t)n + 1;
    Elimination e = {.n = n, .entries = n ? (uint64_t)start[n] : 0, .most = most};
    e.columns = calloc(size, sizeof *e.columns);
    e.rows = calloc(size, sizeof *e.rows);
    e.first = calloc(size, sizeof *e.first);
    e.at = calloc(size, sizeof *e.at);
    e.singles = calloc(2 * size, sizeof *e.singles);
    bool good = e.columns && e.rows && e.first && e.at && e.singles && load(&e, start, row, value);
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
