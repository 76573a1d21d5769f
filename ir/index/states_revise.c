// states_revise.c: choices of states that the structure allows and the numbers do not.
//
// Purpose: the matching knows where coefficients are, not what they are: (a + b + c)/h = 0 and (a + b + d)/h = 0 do not determine a
// and b; neither do y1 + s1 = y2 and y1 + s2 = y2 determine y1 and y2, although y1 has another equation.
// Method: rows and dummies in one strong component are eliminated with the values of their coefficients, or numbers in which
// equal texts are equal (regular.c). Only
// coefficients that cannot vanish, constants and parameters, are pivots, and an entry that elimination has changed by a
// coefficient that can vanish is none of them any more. The determinant of what has a pivot in every row is the product of
// these pivots: it is never zero, whatever the other coefficients become. (Where a wish decides, it is enough that it is not
// zero at random.) Where a component has no such choice, the dummies of all
// rows that columns connect with it are chosen anew by the same elimination, in the order of preference; rows that it leaves
// without a pivot become invariants. What shall not be a state (never) then counts only where it is given up surely: the entries of a
// row of a rotation matrix never determine its three angles, and those of other triples of entries do so in some positions only.
// Contract: states.h, a level has been matched. Complexity: linear where nothing forms a cycle; elsewhere that of the elimination of
// sparse rows, which is given up (the choice stays) when it fills more than WORK times the entries it began with.
#include "ir/base/sets.h"
#include "ir/index/states.h"
#include "ir/structure/regular.h"

#include <math.h>

enum { WORK = 200, LEAST_WORK = 100000 };
static const double NOTHING = 1e-9; // beside what an entry is the difference of

typedef struct Entry {
    uint32_t column;
    uint8_t quality; // the worst of all coefficients that it is made of
    double value;
} Entry;

typedef VEC(Entry) Entries; // by column

typedef struct Elimination {
    States *states;
    U32Vec row_start, row_edge; // per row of the level: its edges
    U8Vec quality;              // per column of the level: that of the row read last, or QUALITIES
    VEC(Entries) rows;          // per row of the level that takes part
    VEC(U32Vec) rows_of;        // per column of the level: rows that have or had an entry there
    U8Vec used;                 // per row: it has a pivot
    bool bare;                  // what shall not be a state is no reason to trust a coefficient that can vanish
    U32Vec pivot_of;            // per column: its row, or NONE
    Entries merged;
    uint64_t work, limit;
} Elimination;

// Rows and the dummies among their columns are triangular, and regular, when there is no cycle between them.
static bool
has_cycle(const States *states)
{
    U32Vec sets = {0};
    bool cycle = false;
    sets_grow(&sets, states->rows.n);
    for (uint32_t c = 0; c < states->columns.n && !cycle; c++)
        for (uint32_t i = states->first.at[c] + 1; i < states->first.at[c + 1] && states->row_of.at[c] != NONE && !cycle; i++)
            cycle = !sets_join(&sets, states->edges.at[i - 1].equation, states->edges.at[i].equation);
    vec_free(&sets);
    return cycle;
}

// --- sparse rows

static void
list_edges(Elimination *e)
{
    const States *states = e->states;
    uint32_t n = states->rows.n;
    vec_grow(&e->row_start, n + 2);
    vec_grow(&e->row_edge, states->edges.n);
    for (uint32_t i = 0; i < states->edges.n; i++)
        e->row_start.at[states->edges.at[i].equation + 2]++;
    for (uint32_t r = 0; r < n; r++)
        e->row_start.at[r + 2] += e->row_start.at[r + 1];
    for (uint32_t i = 0; i < states->edges.n; i++)
        e->row_edge.at[e->row_start.at[states->edges.at[i].equation + 1]++] = i;
}

static int
by_column(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    return x->column < y->column ? -1 : x->column > y->column;
}

// The entries of a row in those columns that take part (pivot_of is NONE there, others have NONE - 1).
static void
read_row(Elimination *e, uint32_t row)
{
    States *states = e->states;
    Entries *entries = &e->rows.at[row];
    vec_clear(entries);
    e->used.at[row] = 0;
    for (uint32_t i = e->row_start.at[row]; i < e->row_start.at[row + 1]; i++) {
        const Edge *edge = &states->edges.at[e->row_edge.at[i]];
        e->quality.at[edge->column] = e->bare && states->decided.at[row] == DECIDED_AGAINST ? edge->bare : edge->quality;
    }
    structure_read(&states->structure, states->rows.at[row]);
    for (uint32_t k = 0; k < states->structure.vars.n; k++) {
        uint32_t c = states->column_id.at[states->structure.vars.at[k]];
        if (c == NONE || e->quality.at[c] >= QUALITY_NOTHING || e->pivot_of.at[c] != NONE || states->structure.use.at[k] != USE_DETERMINE)
            continue;
        Expr coefficient = states_coefficient(states, k);
        double value = coefficient ? regular_value(states->dae, coefficient, states->structure.vars.at) : 1;
        vec_push(entries, ((Entry){c, e->quality.at[c], value}));
        vec_push(&e->rows_of.at[c], row);
        e->quality.at[c] = QUALITIES;
    }
    for (uint32_t i = e->row_start.at[row]; i < e->row_start.at[row + 1]; i++)
        e->quality.at[states->edges.at[e->row_edge.at[i]].column] = QUALITIES;
    if (entries->n > 1)
        qsort(entries->at, entries->n, sizeof *entries->at, by_column);
    e->limit += (uint64_t)WORK * entries->n;
}

static const Entry *
entry_at(const Entries *entries, uint32_t column)
{
    uint32_t low = 0, high = entries->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entries->at[middle].column < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < entries->n && entries->at[low].column == column ? &entries->at[low] : NULL;
}

static uint8_t
worse(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

// row -= factor * pivot row; column goes.
static void
subtract(Elimination *e, uint32_t row, uint32_t pivot, uint32_t column, double factor, uint8_t quality)
{
    Entries *to = &e->rows.at[row];
    const Entries *from = &e->rows.at[pivot];
    vec_clear(&e->merged);
    for (uint32_t i = 0, k = 0; i < to->n || k < from->n;) {
        uint32_t a = i < to->n ? to->at[i].column : NONE, b = k < from->n ? from->at[k].column : NONE;
        if (a < b) {
            vec_push(&e->merged, to->at[i++]);
            continue;
        }
        Entry made = {b, worse(quality, from->at[k].quality), -factor * from->at[k].value};
        double size = fabs(made.value);
        k++;
        if (a == b) {
            made.quality = worse(made.quality, to->at[i].quality);
            size += fabs(to->at[i].value);
            made.value += to->at[i++].value;
        } else
            vec_push(&e->rows_of.at[b], row);
        if (b != column && fabs(made.value) > NOTHING * size)
            vec_push(&e->merged, made);
    }
    vec_clear(to);
    vec_append(to, e->merged.at, e->merged.n);
    e->work += to->n;
}

// How much a row would spread: entries that can vanish first, which take pivots away from others.
static uint64_t
burden(const Entries *entries)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < entries->n; i++)
        any += entries->at[i].quality == QUALITY_ANY;
    return any << 32 | entries->n;
}

// Takes a pivot of at most this quality in the column; false when there is none.
static bool
take_pivot(Elimination *e, uint32_t column, uint8_t quality)
{
    U32Vec *rows = &e->rows_of.at[column];
    uint32_t pivot = NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < rows->n; i++) {
        const Entry *entry = e->used.at[rows->at[i]] ? NULL : entry_at(&e->rows.at[rows->at[i]], column);
        uint64_t weight = entry && entry->quality <= quality ? burden(&e->rows.at[rows->at[i]]) : UINT64_MAX;
        if (weight < least) {
            least = weight;
            pivot = rows->at[i];
        }
    }
    if (pivot == NONE)
        return false;
    const Entry at = *entry_at(&e->rows.at[pivot], column);
    e->used.at[pivot] = 1;
    e->pivot_of.at[column] = pivot;
    for (uint32_t i = 0; i < rows->n && e->work < e->limit; i++) {
        const Entry *entry = e->used.at[rows->at[i]] ? NULL : entry_at(&e->rows.at[rows->at[i]], column);
        if (entry)
            subtract(e, rows->at[i], pivot, column, entry->value / at.value, worse(entry->quality, at.quality));
    }
    return true;
}

// Pivots of at most this quality for rows in columns, both of the level, columns in the order of preference: by wishes, then by
// quality. Returns how many there are, in e->pivot_of; NONE: given up.
static uint32_t
eliminate(Elimination *e, const uint32_t *rows, uint32_t n, const uint32_t *columns, uint32_t m, uint8_t worst)
{
    const States *states = e->states;
    uint32_t found = 0, before;
    e->work = 0;
    e->limit = LEAST_WORK;
    for (uint32_t k = 0; k < m; k++) {
        e->pivot_of.at[columns[k]] = NONE;
        vec_clear(&e->rows_of.at[columns[k]]);
    }
    for (uint32_t i = 0; i < n; i++)
        read_row(e, rows[i]);
    do { // what had no pivot may have one when others have been taken
        before = found;
        for (uint32_t from = 0, to; from < m; from = to) {
            uint8_t wish = states->columns.at[columns[from]].wish;
            for (to = from; to < m && states->columns.at[columns[to]].wish == wish; to++)
                continue;
            for (uint8_t quality = 0; quality <= worst; quality++)
                for (uint32_t k = from; k < to && found < n && e->work < e->limit; k++)
                    found += e->pivot_of.at[columns[k]] == NONE && take_pivot(e, columns[k], quality);
        }
    } while (found > before && found < n && e->work < e->limit);
    return e->work < e->limit ? found : NONE;
}

// Columns take part in the next elimination only when it names them.
static void
forget_pivots(Elimination *e, const uint32_t *columns, uint32_t m)
{
    for (uint32_t k = 0; k < m; k++)
        e->pivot_of.at[columns[k]] = NONE - 1;
}

// --- parts

// The strong components of matched rows and their dummies: row positions in `problem->sorted`.
static void
find_components(const States *states, Problem *problem)
{
    U32Vec *start = &problem->incidence.start;
    vec_fill(&problem->equation_of, states->columns.n, NONE);
    vec_grow(start, states->rows.n + 2);
    for (uint32_t r = 0; r < states->rows.n; r++)
        vec_push(&problem->equations, r);
    for (uint32_t i = 0; i < states->edges.n; i++)
        if (states->row_of.at[states->edges.at[i].column] != NONE)
            start->at[states->edges.at[i].equation + 2]++;
    for (uint32_t r = 0; r < states->rows.n; r++)
        start->at[r + 2] += start->at[r + 1];
    vec_grow(&problem->incidence.column, start->at[states->rows.n + 1]);
    for (uint32_t i = 0; i < states->edges.n; i++)
        if (states->row_of.at[states->edges.at[i].column] != NONE)
            problem->incidence.column.at[start->at[states->edges.at[i].equation + 1]++] = states->edges.at[i].column;
    (void)vec_pop(start);
    for (uint32_t r = 0; r < states->rows.n; r++) {
        vec_push(&problem->var_of, states->column_of.at[r]);
        vec_push(&problem->incidence.match_end, start->at[r + 1]);
        if (states->column_of.at[r] != NONE)
            problem->equation_of.at[states->column_of.at[r]] = r;
    }
    problem_sort(problem);
}

// Somebody wants a variable of the row as a state: the choice is theirs, even if it can become singular somewhere.
static bool
is_wanted(const Elimination *e, uint32_t row)
{
    const States *states = e->states;
    bool wanted = states->decided.at[row];
    for (uint32_t i = e->row_start.at[row]; i < e->row_start.at[row + 1] && !wanted; i++)
        wanted = states->columns.at[states->edges.at[e->row_edge.at[i]].column].wish > WISH_DEFAULT;
    return wanted;
}

// Rows that columns connect with a component whose dummies may become singular; empty when there is none.
static void
find_suspects(Elimination *e, U8Vec *suspect)
{
    const States *states = e->states;
    Problem problem = {0};
    U32Vec columns = {0};
    find_components(states, &problem);
    for (uint32_t b = 0; b + 1 < problem.block_start.n; b++) {
        const uint32_t *rows = problem.sorted.at + problem.block_start.at[b];
        uint32_t n = problem.block_start.at[b + 1] - problem.block_start.at[b];
        uint8_t worst = QUALITY_PARAMETER;
        vec_clear(&columns);
        for (uint32_t i = 0; i < n && n > 1; i++) {
            vec_push(&columns, states->column_of.at[rows[i]]);
            worst = is_wanted(e, rows[i]) ? QUALITY_ANY : worst;
        }
        if (n > 1 && eliminate(e, rows, n, columns.at, n, worst) < n)
            suspect->at[rows[0]] = 1;
        forget_pivots(e, columns.at, columns.n);
    }
    vec_free(&columns);
    problem_free(&problem);
}

typedef struct Part { // rows that columns connect
    U32Vec rows, columns; // columns in the order of preference
    bool suspect;
} Part;

static void
choose_anew(Elimination *e, const Part *part)
{
    States *states = e->states;
    uint32_t before = 0;
    for (uint32_t i = 0; i < part->rows.n; i++)
        before += states->column_of.at[part->rows.at[i]] != NONE;
    e->bare = true;
    uint32_t found = eliminate(e, part->rows.at, part->rows.n, part->columns.at, part->columns.n, QUALITY_PARAMETER);
    e->bare = false;
    if (found != NONE && found < before) // there are no sure dummies instead
        found = eliminate(e, part->rows.at, part->rows.n, part->columns.at, part->columns.n, QUALITY_PARAMETER);
    for (uint32_t i = 0; i < part->rows.n && found != NONE; i++)
        states->column_of.at[part->rows.at[i]] = NONE;
    for (uint32_t k = 0; k < part->columns.n && found != NONE; k++) {
        uint32_t row = e->pivot_of.at[part->columns.at[k]];
        states->row_of.at[part->columns.at[k]] = row;
        if (row != NONE)
            states->column_of.at[row] = part->columns.at[k];
    }
    forget_pivots(e, part->columns.at, part->columns.n);
}

// Rows and columns by the sets that they are connected in: per set its root's list.
static void
revise_parts(Elimination *e, const U8Vec *suspect)
{
    States *states = e->states;
    U32Vec sets = {0}, order = {0};
    VEC(Part) parts = {0};
    sets_grow(&sets, states->rows.n);
    for (uint32_t c = 0; c < states->columns.n; c++)
        for (uint32_t i = states->first.at[c] + 1; i < states->first.at[c + 1]; i++)
            (void)sets_join(&sets, states->edges.at[i - 1].equation, states->edges.at[i].equation);
    vec_grow(&parts, states->rows.n);
    for (uint32_t row = 0; row < states->rows.n; row++) {
        Part *part = &parts.at[sets_find(&sets, row)];
        vec_push(&part->rows, row);
        part->suspect |= suspect->at[row];
    }
    states_order(states, &order);
    for (uint32_t k = 0; k < order.n; k++) {
        uint32_t c = order.at[k];
        if (states->first.at[c] < states->first.at[c + 1])
            vec_push(&parts.at[sets_find(&sets, states->edges.at[states->first.at[c]].equation)].columns, c);
    }
    for (uint32_t r = 0; r < parts.n; r++) {
        if (parts.at[r].suspect)
            choose_anew(e, &parts.at[r]);
        vec_free(&parts.at[r].rows);
        vec_free(&parts.at[r].columns);
    }
    vec_free(&parts);
    vec_free(&sets);
    vec_free(&order);
}

static void
elimination_free(Elimination *e)
{
    for (uint32_t r = 0; r < e->rows.n; r++)
        vec_free(&e->rows.at[r]);
    for (uint32_t c = 0; c < e->rows_of.n; c++)
        vec_free(&e->rows_of.at[c]);
    vec_free(&e->rows);
    vec_free(&e->rows_of);
    vec_free(&e->row_start);
    vec_free(&e->row_edge);
    vec_free(&e->quality);
    vec_free(&e->used);
    vec_free(&e->pivot_of);
    vec_free(&e->merged);
}

void
states_revise(States *states)
{
    Elimination e = {.states = states};
    U8Vec suspect = {0};
    if (!has_cycle(states))
        return;
    list_edges(&e);
    vec_grow(&e.rows, states->rows.n);
    vec_grow(&e.rows_of, states->columns.n);
    vec_grow(&e.used, states->rows.n);
    vec_fill(&e.quality, states->columns.n, QUALITIES);
    vec_fill(&e.pivot_of, states->columns.n, NONE - 1);
    vec_grow(&suspect, states->rows.n);
    find_suspects(&e, &suspect);
    if (memchr(suspect.at, 1, suspect.n))
        revise_parts(&e, &suspect);
    vec_free(&suspect);
    elimination_free(&e);
}
