// partial_derivatives.c: jacobian: sparse partial derivatives of a straight-line program by forward accumulation.
//
// Purpose: d(rows)/d(columns) through all intermediate values, as instructions like any others.
// Method: every place carries the list of columns it depends on with the partial derivative, which is a
// constant or a place. For an instruction `d = shape(s0, s1, ...)` the partial by column c is the sum over
// slots of d(shape)/d(slot) times the slot's partial (Griewank and Walther, Evaluating Derivatives, ch. 3).
// That sum is built and simplified once per (shape, pattern of the slots' partials) and memoized, so its
// cost is per shape; what simplifies to a constant or to an existing value makes no instruction.
//         Where a Jacobian has many more entries than the program has edges, because all of them go through few values, those
// values stay: they are columns and get rows of their own, and the sparse factorisation eliminates them (scarcity: Griewank
// and Vogel, Analysis and exploitation of Jacobian scarcity, in Modeling, Simulation and Optimization of Complex
// Processes, 2005, 149). Kept is what depends on more than MOST columns and is used more than once, or is computed from
// such a value that is not kept: so the partials are in proportion to the program, however dense the Jacobian is.
// Complexity: linear in the number of partial derivatives; with kept values linear in the program.
// Contract: lower_inner.h.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

typedef struct Partial {   // of one place with respect to one column
    uint32_t column;
    uint32_t place;        // NONE: constant
    double value;
} Partial;

typedef struct Term {      // a slot of the instruction being differentiated depends on a column
    Partial partial;
    uint32_t slot;
} Term;

typedef struct Derived {   // memo: the partial of a shape for a pattern of slot partials
    Expr shape;            // canonical
    uint32_t order, n_order;
} Derived;

struct JacobianMemo {
    VEC(Derived) derived;
    U32Vec orders;
    Map of;
    struct { uint64_t key; uint32_t index; } recent[64]; // of the map, by key; a key of 0 is none
    U32Vec first, count;   // per place: its partials, range of `partials`
    VEC(Partial) partials;
    U32Vec touched;        // places whose lists must be forgotten
    VEC(Term) terms;       // scratch: of one instruction, by column, then slot
    U32Vec places;
    U32Vec uses;           // per place: instructions that read it; where values may be kept
};

static struct JacobianMemo *
memo_of(Lowering *low)
{
    if (!low->jacobian)
        low->jacobian = base_calloc(1, sizeof *low->jacobian);
    struct JacobianMemo *memo = low->jacobian;
    if (memo->first.n < low->nv) {
        vec_grow(&memo->count, low->nv - memo->first.n);
        vec_grow(&memo->first, low->nv - memo->first.n);
    }
    return memo;
}

void
jacobian_memo_free(Lowering *low)
{
    struct JacobianMemo *memo = low->jacobian;
    if (!memo)
        return;
    vec_free(&memo->derived);
    vec_free(&memo->orders);
    map_free(&memo->of);
    vec_free(&memo->first);
    vec_free(&memo->count);
    vec_free(&memo->partials);
    vec_free(&memo->touched);
    vec_free(&memo->terms);
    vec_free(&memo->places);
    vec_free(&memo->uses);
    free(memo);
    low->jacobian = NULL;
}

static int
compare_terms(const void *a, const void *b)
{
    const Term *x = a, *y = b;
    if (x->partial.column != y->partial.column)
        return x->partial.column < y->partial.column ? -1 : 1;
    return x->slot < y->slot ? -1 : x->slot > y->slot;
}

// By insertion while they are few: calling the library's sort would cost more than the work.
static void
sort_terms(Term *term, uint32_t n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        qsort(term, n, sizeof *term, compare_terms);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        Term moved = term[i];
        uint32_t at = i;
        for (; at > 0 && compare_terms(&term[at - 1], &moved) > 0; at--)
            term[at] = term[at - 1];
        term[at] = moved;
    }
}

// Collects the partials of the instruction's operands, column by column.
static void
gather(Lowering *low, const Instr *instr, uint32_t n)
{
    struct JacobianMemo *memo = low->jacobian;
    vec_clear(&memo->terms);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t place = low->sys->places.at[instr->row + k], column;
        if (!expr_uses_slot(low->exprs, instr->shape, k))
            continue;
        if (place_get(&low->column_of, place, &column)) {
            Term own = {{column, NONE, 1}, k};
            vec_push(&memo->terms, own);
            continue;
        }
        for (uint32_t i = 0; i < memo->count.at[place]; i++) {
            Term term = {memo->partials.at[memo->first.at[place] + i], k};
            vec_push(&memo->terms, term);
        }
    }
    sort_terms(memo->terms.at, memo->terms.n);
}

static const Derived *
derive(Lowering *low, Expr shape, uint32_t n, const Term *term, uint32_t terms)
{
    struct JacobianMemo *memo = low->jacobian;
    uint64_t key = hash_mix(shape);
    for (uint32_t i = 0; i < terms; i++) {
        uint64_t bits = 0;
        if (term[i].partial.place == NONE)
            memcpy(&bits, &term[i].partial.value, sizeof bits);
        key = hash_add(hash_add(key, term[i].slot), term[i].partial.place == NONE ? bits : 1);
    }
    uint32_t index, place = (uint32_t)key % (sizeof memo->recent / sizeof *memo->recent);
    if (memo->recent[place].key == key && key)
        return &memo->derived.at[memo->recent[place].index];
    if (map_get(&memo->of, key, &index)) {
        memo->recent[place].key = key;
        memo->recent[place].index = index;
        return &memo->derived.at[index];
    }
    Exprs *exprs = low->exprs;
    bool calls = expr_has_op(exprs, shape, OP_CALL);
    Expr *sum = base_calloc((calls ? n : terms) + 1, sizeof *sum);
    uint32_t temporary = n;
    for (uint32_t i = 0; i < terms; i++) {
        Expr factor = term[i].partial.place == NONE ? expr_const(exprs, term[i].partial.value)
                                                    : expr_slot(exprs, temporary++);
        if (calls)
            sum[term[i].slot] = factor;
        else
            sum[i] = expr_2(exprs, OP_MUL, expr_diff(exprs, shape, term[i].slot), factor);
    }
    // Derivatives of calls are taken along the column, so that each call makes one.
    Expr total = calls ? expr_along(exprs, shape, sum, n)
               : terms == 1 ? sum[0] : expr_make(exprs, OP_ADD, sum, terms);
    free(sum);
    Derived derived = {.order = memo->orders.n};
    U32Vec order = {0};
    derived.shape = expr_shape(exprs, total, &order);
    derived.n_order = order.n;
    vec_append(&memo->orders, order.at, order.n);
    vec_free(&order);
    vec_push(&memo->derived, derived);
    map_put(&memo->of, key, memo->derived.n - 1);
    return &vec_last(&memo->derived);
}

// The partial of one instruction by the column of `term`: a constant, an existing place, or a new
// instruction.
static Partial
partial_by(Lowering *low, const Instr *instr, uint32_t n, const Term *term, uint32_t terms, InstrVec *out)
{
    struct JacobianMemo *memo = low->jacobian;
    const Derived *derived = derive(low, instr->shape, n, term, terms);
    vec_clear(&memo->places);
    for (uint32_t k = 0; k < derived->n_order; k++) {
        uint32_t slot = memo->orders.at[derived->order + k];
        if (slot < n) {
            vec_push(&memo->places, low->sys->places.at[instr->row + slot]);
            continue;
        }
        uint32_t wanted = slot - n, i = 0;
        while (term[i].partial.place == NONE || wanted--)
            i++;
        vec_push(&memo->places, term[i].partial.place);
    }
    Partial result = {term->partial.column, NONE, 0};
    Op op = expr_op(low->exprs, derived->shape);
    if (op == OP_CONST) {
        result.value = expr_value(low->exprs, derived->shape);
    } else if (op == OP_SLOT) {
        result.place = memo->places.at[0];
    } else {
        result.place = new_places(low, 1);
        emit_places(low, out, derived->shape, memo->places.at, result.place);
    }
    return result;
}


// Longer lists of partials end at a kept value, in models of at least FEWEST unknowns: measured in docs/benchmarks.md.
enum { MOST = 8, FEWEST = 64 };

// The instruction's value stays an unknown of the linear systems.
static bool
is_kept(const Lowering *low, const Instr *instr, uint32_t n)
{
    const struct JacobianMemo *memo = low->jacobian;
    uint32_t columns = 0, unused;
    for (uint32_t i = 0; i < memo->terms.n; i++)
        columns += !i || memo->terms.at[i].partial.column != memo->terms.at[i - 1].partial.column;
    if (columns <= MOST || place_get(&low->row_of, instr->dest, &unused))
        return false;
    bool again = memo->uses.at[instr->dest] > 1;
    for (uint32_t k = 0; k < n && !again; k++)
        again = memo->count.at[low->sys->places.at[instr->row + k]] > MOST;
    return again;
}

static void
add_entry(EntryVec *entries, uint32_t row, const Partial *partial)
{
    Entry entry = {partial->value, row, partial->column, partial->place};
    vec_push(entries, entry);
}

// The partials just made become the row of a new unknown.
static void
keep(Lowering *low, uint32_t place, uint32_t first, Kept *kept, EntryVec *entries)
{
    struct JacobianMemo *memo = low->jacobian;
    uint32_t row = kept->row + kept->places.n;
    Partial own = {kept->column + kept->places.n, NONE, -1};
    for (uint32_t i = first; i < memo->partials.n; i++)
        add_entry(entries, row, &memo->partials.at[i]);
    add_entry(entries, row, &own);
    memo->partials.n = first;
    place_put(&low->column_of, place, own.column);
    vec_push(&kept->places, place);
}

static void
differentiate(Lowering *low, const Instr *instr, InstrVec *out, Kept *kept, EntryVec *entries)
{
    struct JacobianMemo *memo = low->jacobian;
    uint32_t n = expr_nslots(low->exprs, instr->shape);
    gather(low, instr, n);
    uint32_t first = memo->partials.n, count = 0;
    bool keeps = kept && low->n >= FEWEST && is_kept(low, instr, n);
    for (uint32_t i = 0, end; i < memo->terms.n; i = end) {
        for (end = i + 1; end < memo->terms.n; end++)
            if (memo->terms.at[end].partial.column != memo->terms.at[i].partial.column)
                break;
        Partial partial = partial_by(low, instr, n, memo->terms.at + i, end - i, out);
        if (partial.place == NONE && partial.value == 0)
            continue;
        vec_push(&memo->partials, partial);
        count++;
    }
    if (keeps) {
        keep(low, instr->dest, first, kept, entries);
        return;
    }
    memo->first.at[instr->dest] = first;
    memo->count.at[instr->dest] = count;
    if (count)
        vec_push(&memo->touched, instr->dest);
}

// An instruction whose derivative no row needs is skipped: marks backwards from the rows. Returns the number of operands of
// those that are needed: about as many partial derivatives are to be expected.
static uint32_t
mark_needed(Lowering *low, const Instr *code, uint32_t n, U8Vec *needed)
{
    PlaceMap *wanted = &low->scratch;
    uint32_t operands = 0;
    vec_grow(needed, n);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t unused;
        if (!place_get(&low->row_of, code[i].dest, &unused) && !place_get(wanted, code[i].dest, &unused))
            continue;
        needed->at[i] = 1;
        uint32_t slots = expr_nslots(low->exprs, code[i].shape);
        for (uint32_t k = 0; k < slots; k++)
            place_put(wanted, low->sys->places.at[code[i].row + k], 1);
        operands += slots;
    }
    place_clear(wanted);
    return operands;
}

static void
count_uses(Lowering *low, const Instr *code, uint32_t n, const U8Vec *needed)
{
    U32Vec *uses = &low->jacobian->uses;
    vec_clear(uses);
    vec_grow(uses, low->nv);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = needed->at[i] ? expr_nslots(low->exprs, code[i].shape) : 0;
        for (uint32_t k = 0; k < slots; k++)
            uses->at[low->sys->places.at[code[i].row + k]]++;
    }
}

void
accumulate(Lowering *low, const Instr *code, uint32_t n, InstrVec *out, EntryVec *entries, Kept *kept)
{
    struct JacobianMemo *memo = memo_of(low);
    U8Vec needed = {0};
    uint32_t operands = mark_needed(low, code, n, &needed);
    if (kept)
        count_uses(low, code, n, &needed);
    vec_reserve(&memo->partials, operands + operands / 4); // sums of flows pass on more than one
    vec_reserve(&memo->touched, n);
    vec_reserve(out, n);
    vec_reserve(entries, n);
    for (uint32_t i = 0; i < n; i++)
        if (needed.at[i])
            differentiate(low, &code[i], out, kept, entries);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row;
        if (!place_get(&low->row_of, code[i].dest, &row))
            continue;
        for (uint32_t k = 0; k < memo->count.at[code[i].dest]; k++)
            add_entry(entries, row, &memo->partials.at[memo->first.at[code[i].dest] + k]);
    }
    for (uint32_t i = 0; i < memo->touched.n; i++)
        memo->count.at[memo->touched.at[i]] = 0;
    enum { KEPT = 1 << 16 }; // room for this many is not worth giving back between blocks
    vec_clear(&memo->touched);
    vec_clear(&memo->partials);
    if (memo->partials.capacity > KEPT) {
        vec_free(&memo->touched);
        vec_free(&memo->partials);
        vec_free(&memo->uses);
        vec_free(&memo->first);
        vec_free(&memo->count);
    }
    vec_free(&needed);
    place_clear(&low->column_of);
    place_clear(&low->row_of);
}

// The order of entries by column, rows ascending within each: two stable counting sorts. The caller frees it.
static uint32_t *
sort_entries(const EntryVec *entries, uint32_t rows, uint32_t columns, uint32_t *column_start)
{
    uint32_t n = entries->n, most = rows > columns ? rows : columns;
    uint32_t *start = base_calloc((size_t)most + 1, sizeof *start);
    uint32_t *by_row = base_realloc(NULL, sizeof *by_row * n);
    uint32_t *sorted = base_realloc(NULL, sizeof *sorted * n);
    for (uint32_t i = 0; i < n; i++)
        start[entries->at[i].row + 1]++;
    for (uint32_t i = 0; i < rows; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < n; i++)
        by_row[start[entries->at[i].row]++] = i;
    memset(column_start, 0, sizeof *column_start * ((size_t)columns + 1));
    for (uint32_t i = 0; i < n; i++)
        column_start[entries->at[i].column + 1]++;
    for (uint32_t i = 0; i < columns; i++)
        column_start[i + 1] += column_start[i];
    memcpy(start, column_start, sizeof *start * columns);
    for (uint32_t i = 0; i < n; i++)
        sorted[start[entries->at[by_row[i]].column]++] = by_row[i];
    free(by_row);
    free(start);
    return sorted;
}

typedef struct Negated { // the shape negated last
    Expr shape, negative;
} Negated;

static Expr
negate(Lowering *low, Negated *last, Expr shape)
{
    if (last->shape != shape)
        *last = (Negated){shape, expr_1(low->exprs, OP_NEG, shape)};
    return last->negative;
}

mdl_matrix
make_matrix(Lowering *low, const EntryVec *entries, uint32_t rows, uint32_t columns, const uint8_t *negative_rows,
            InstrVec *code)
{
    uint32_t *column_start = arena_array(low->arena, uint32_t, (size_t)columns + 1);
    uint32_t *sorted = sort_entries(entries, rows, columns, column_start);
    uint32_t *row = arena_array(low->arena, uint32_t, entries->n ? entries->n : 1);
    // The tables of a built program have the bytes between the members, too: they are zero, so that equal models give equal files.
    mdl_matrix matrix;
    memset(&matrix, 0, sizeof matrix);
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.nonzeros = entries->n;
    matrix.column_start = column_start;
    matrix.row = row;
    matrix.values = new_places(low, entries->n);
    // A derivative that only this entry uses is stored in the matrix at once.
    PlaceMap *made = &low->scratch, *uses = &low->more_scratch;
    Negated negated = {0};
    place_reserve(made, low->nv, code->n);
    place_reserve(uses, low->nv, entries->n);
    for (uint32_t i = 0; i < code->n; i++) {
        place_put(made, code->at[i].dest, i);
        uint32_t slots = expr_nslots(low->exprs, code->at[i].shape);
        for (uint32_t k = 0; k < slots; k++)
            place_count(uses, low->sys->places.at[code->at[i].row + k]);
    }
    for (uint32_t i = 0; i < entries->n; i++)
        if (entries->at[i].place != NONE)
            place_count(uses, entries->at[i].place);
    for (uint32_t i = 0; i < entries->n; i++) {
        const Entry *entry = &entries->at[sorted[i]];
        bool negative = negative_rows && negative_rows[entry->row];
        uint32_t dest = matrix.values + i, instr, used = 0;
        row[i] = entry->row;
        if (entry->place == NONE) {
            low->image.at[dest] = negative ? -entry->value : entry->value;
            continue;
        }
        place_get(uses, entry->place, &used);
        if (used == 1 && place_get(made, entry->place, &instr)) {
            code->at[instr].dest = dest;
            if (negative)
                code->at[instr].shape = negate(low, &negated, code->at[instr].shape);
            continue;
        }
        Expr slot = expr_slot(low->exprs, 0);
        emit_places(low, code, negative ? expr_1(low->exprs, OP_NEG, slot) : slot, &entry->place, dest);
    }
    place_clear(made);
    place_clear(uses);
    free(sorted);
    return matrix;
}
