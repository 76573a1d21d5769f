// expr_share.c: common subexpressions of several expressions.
//
// Purpose: equations that are derived together have most of their parts in common; each is to be computed once. Method:
// equal parts are one node already; sums and products are flat, so that what they share is found by taking out, again and
// again, the pair of terms or factors that most of them have (Larsson, Moffat, Proc. IEEE 88 (2000) 1722), with a heap
// of pairs and the list of places of each. Of long sums only neighbouring terms are pairs: what derivation makes of
// chains has common beginnings. Contract: expr_rewrite.h. Complexity: linear in the parts, times the square of the length of
// short sums, times a logarithm.
#include <stdlib.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"

enum { LONG_SUM = 24 };

typedef struct Flat {    // a sum or product: args.at[first .. first + n)
    uint32_t value;      // the value it is, by number
    uint32_t first, n;
    uint8_t op;
} Flat;

typedef struct Pair {
    uint32_t a, b;       // values, a < b
    uint32_t count;      // flats that have both now
    uint32_t first, last; // places: indices into Share.places + 1
    uint8_t op;
} Pair;

typedef struct PairPlace {
    uint32_t flat, next;
} PairPlace;

typedef struct Joined {  // a pair taken out: value parts + k
    uint32_t a, b;
    uint8_t op;
} Joined;

typedef struct Rank {    // in the heap; stale when count is not the pair's any more
    uint32_t count, pair;
} Rank;

// Values are numbered: parts in post-order, then pairs taken out.
typedef struct Share {
    Exprs *exprs;
    U32Vec order;        // parts
    U32Vec flat_of;      // per part: index into flats + 1, or 0
    VEC(Flat) flats;
    U32Vec args;
    VEC(Pair) pairs;
    Map pair_of[2];      // sums and products: (a, b) -> pair
    VEC(PairPlace) places;
    VEC(Rank) heap;
    VEC(Joined) joined;
    U32Vec uses, made;   // per value: users; the expression made of it
    uint32_t operations, first_slot;
    U32Vec *definitions; // NULL: only count
} Share;

static uint32_t
part_of(const Share *share, Expr e)
{
    return share->exprs->index.at[e];
}

// --- the heap of pairs: most common first, then first met

static bool
before(Rank a, Rank b)
{
    return a.count != b.count ? a.count > b.count : a.pair < b.pair;
}

static void
heap_push(Share *share, Rank rank)
{
    vec_push(&share->heap, rank);
    for (uint32_t i = share->heap.n - 1; i && before(share->heap.at[i], share->heap.at[(i - 1) / 2]); i = (i - 1) / 2) {
        Rank other = share->heap.at[(i - 1) / 2];
        share->heap.at[(i - 1) / 2] = share->heap.at[i];
        share->heap.at[i] = other;
    }
}

static Rank
heap_pop(Share *share)
{
    Rank top = share->heap.at[0], last = vec_pop(&share->heap);
    uint32_t n = share->heap.n, i = 0;
    if (!n)
        return top;
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(share->heap.at[child + 1], share->heap.at[child]))
            child++;
        if (!before(share->heap.at[child], last))
            break;
        share->heap.at[i] = share->heap.at[child];
    }
    share->heap.at[i] = last;
    return top;
}

// --- counting pairs

static uint32_t
pair_index(Share *share, uint8_t op, uint32_t a, uint32_t b)
{
    uint32_t index;
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    Map *map = &share->pair_of[op == OP_MUL];
    if (map_get(map, key, &index))
        return index;
    vec_push(&share->pairs, (Pair){.a = (uint32_t)(key >> 32), .b = (uint32_t)key, .op = op});
    map_put(map, key, share->pairs.n - 1);
    return share->pairs.n - 1;
}

static void
count_pair(Share *share, uint32_t flat, uint32_t a, uint32_t b, int change)
{
    uint32_t index = pair_index(share, share->flats.at[flat].op, a, b);
    Pair *pair = &share->pairs.at[index];
    pair->count += (uint32_t)change;
    if (change < 0)
        return;
    vec_push(&share->places, (PairPlace){flat, 0});
    if (pair->last)
        share->places.at[pair->last - 1].next = share->places.n;
    else
        pair->first = share->places.n;
    pair->last = share->places.n;
    if (pair->count > 1)
        heap_push(share, (Rank){pair->count, index});
}

// The pairs that argument i of a flat makes with the others.
static void
count_argument(Share *share, uint32_t flat, uint32_t i, int change)
{
    Flat at = share->flats.at[flat];
    for (uint32_t j = 0; j < at.n; j++) {
        bool near = i + 1 == j || j + 1 == i;
        if (j != i && (at.n <= LONG_SUM || near))
            count_pair(share, flat, share->args.at[at.first + i], share->args.at[at.first + j], change);
    }
}

static void
count_all(Share *share)
{
    for (uint32_t f = 0; f < share->flats.n; f++) {
        Flat at = share->flats.at[f];
        for (uint32_t i = 0; i < at.n; i++)
            for (uint32_t j = i + 1; j < at.n && (at.n <= LONG_SUM || j == i + 1); j++)
                count_pair(share, f, share->args.at[at.first + i], share->args.at[at.first + j], 1);
    }
}

static uint32_t
position_in(const Share *share, const Flat *flat, uint32_t value)
{
    uint32_t i = 0;
    while (i < flat->n && share->args.at[flat->first + i] != value)
        i++;
    return i;
}

// The pairs of neighbours from argument i to argument j.
static void
count_neighbours(Share *share, uint32_t flat, uint32_t i, uint32_t j, int change)
{
    for (; i < j && i + 1 < share->flats.at[flat].n; i++) {
        const uint32_t *args = share->args.at + share->flats.at[flat].first;
        count_pair(share, flat, args[i], args[i + 1], change);
    }
}

// In a sum that has just become short, pairs that are no neighbours count, too.
static void
count_distant(Share *share, uint32_t flat)
{
    Flat at = share->flats.at[flat];
    for (uint32_t i = 0; i < at.n; i++)
        for (uint32_t j = i + 2; j < at.n; j++)
            count_pair(share, flat, share->args.at[at.first + i], share->args.at[at.first + j], 1);
}

static void
replace_pair(Share *share, uint32_t flat, uint32_t a, uint32_t b, uint32_t by)
{
    Flat *at = &share->flats.at[flat];
    uint32_t i = position_in(share, at, a), j = position_in(share, at, b), first = i < j ? i : j, second = i < j ? j : i;
    bool is_long = at->n > LONG_SUM;
    uint32_t before = first ? first - 1 : 0;
    if (i == at->n || j == at->n || (is_long && second != first + 1))
        return;
    if (is_long) {
        count_neighbours(share, flat, before, second + 1, -1);
    } else {
        count_argument(share, flat, first, -1);
        count_argument(share, flat, second, -1);
        share->pairs.at[pair_index(share, at->op, a, b)].count++; // was taken off twice
    }
    at = &share->flats.at[flat];
    share->args.at[at->first + first] = by;
    memmove(share->args.at + at->first + second, share->args.at + at->first + second + 1,
            (at->n - second - 1) * sizeof *share->args.at);
    at->n--;
    if (!is_long)
        count_argument(share, flat, first, 1);
    else
        count_neighbours(share, flat, before, first + 1, 1);
    if (is_long && share->flats.at[flat].n == LONG_SUM)
        count_distant(share, flat);
}

static void
take_out_pairs(Share *share)
{
    count_all(share);
    while (share->heap.n) {
        Rank top = heap_pop(share);
        Pair pair = share->pairs.at[top.pair];
        if (pair.count < 2)
            continue;
        if (pair.count != top.count) {
            if (pair.count < top.count)
                heap_push(share, (Rank){pair.count, top.pair});
            continue;
        }
        uint32_t by = share->order.n + share->joined.n;
        vec_push(&share->joined, (Joined){pair.a, pair.b, pair.op});
        // Taking it out of the sum that is this pair leaves one term: the sum is the pair.
        for (uint32_t place = pair.first; place; place = share->places.at[place - 1].next)
            replace_pair(share, share->places.at[place - 1].flat, pair.a, pair.b, by);
        share->pairs.at[top.pair].count = 0;
    }
}

// --- from expressions to values

static bool
is_flat(Op op)
{
    return op == OP_ADD || op == OP_MUL;
}

static void
enter(Share *share, const Expr *roots, uint32_t n)
{
    expr_walk_all(share->exprs, roots, n, &share->order);
    vec_grow(&share->flat_of, share->order.n);
    for (uint32_t i = 0; i < share->order.n; i++) {
        Expr id = share->order.at[i];
        if (!is_flat(cell_op(share->exprs, id)))
            continue;
        Flat flat = {.value = i, .first = share->args.n, .n = cell_n(share->exprs, id),
                     .op = (uint8_t)cell_op(share->exprs, id)};
        for (uint32_t j = 0; j < flat.n; j++)
            vec_push(&share->args, part_of(share, cell_args(share->exprs, id)[j]));
        vec_push(&share->flats, flat);
        share->flat_of.at[i] = share->flats.n;
    }
}

// The values that a value is made of.
static uint32_t
operands(const Share *share, uint32_t value, uint32_t i)
{
    if (value >= share->order.n) {
        const Joined *joined = &share->joined.at[value - share->order.n];
        return i == 0 ? joined->a : i == 1 ? joined->b : UINT32_MAX;
    }
    if (share->flat_of.at[value]) {
        const Flat *flat = &share->flats.at[share->flat_of.at[value] - 1];
        return i < flat->n ? share->args.at[flat->first + i] : UINT32_MAX;
    }
    Expr id = share->order.at[value];
    return i < cell_n(share->exprs, id) ? part_of(share, cell_args(share->exprs, id)[i]) : UINT32_MAX;
}

static Op
value_op(const Share *share, uint32_t value)
{
    return value >= share->order.n ? (Op)share->joined.at[value - share->order.n].op
                                   : cell_op(share->exprs, share->order.at[value]);
}

// Reached values in post-order, with their numbers of users. A sign is no value of its own: who uses it uses what it
// negates.
static void
list_values(Share *share, const Expr *roots, uint32_t n, U32Vec *list)
{
    U32Vec stack = {0};
    U8Vec seen = {0};
    enum { DONE = 0x80000000u };
    vec_grow(&seen, share->order.n + share->joined.n);
    vec_grow(&share->uses, seen.n);
    vec_grow(&share->made, seen.n);
    for (uint32_t r = n; r-- > 0;) {
        vec_push(&stack, part_of(share, roots[r]));
        share->uses.at[part_of(share, roots[r])]++;
    }
    while (stack.n) {
        uint32_t top = vec_pop(&stack), value = top & ~DONE, operand;
        if (top & DONE) {
            vec_push(list, value);
            continue;
        }
        if (seen.at[value])
            continue;
        seen.at[value] = 1;
        vec_push(&stack, value | DONE);
        for (uint32_t i = 0; (operand = operands(share, value, i)) != UINT32_MAX; i++) {
            share->uses.at[operand]++;
            if (!seen.at[operand])
                vec_push(&stack, operand);
        }
    }
    vec_free(&stack);
    vec_free(&seen);
}

static uint32_t
operations_of(const Share *share, uint32_t value, bool *negative)
{
    Op op = value_op(share, value);
    uint32_t n = 0, operand;
    OpKind kind = (OpKind)op_table[op].kind;
    *negative = op == OP_ADD;
    for (; (operand = operands(share, value, n)) != UINT32_MAX; n++)
        *negative &= value_op(share, operand) == OP_NEG;
    if (kind == OPKIND_LEAF || kind == OPKIND_MODEL)
        return 0;
    if (op == OP_NEG)
        return 0; // counted where it is no term of a sum
    return n > 1 ? n - 1 : is_flat(op) ? 0 : 1;
}

static void
count_operations(Share *share, const U32Vec *list, const Expr *roots, uint32_t n)
{
    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t value = list->at[k], operand;
        bool negative;
        share->operations += operations_of(share, value, &negative) + negative;
        for (uint32_t i = 0; !is_flat(value_op(share, value)) && (operand = operands(share, value, i)) != UINT32_MAX; i++)
            share->operations += value_op(share, operand) == OP_NEG;
    }
    for (uint32_t r = 0; r < n; r++)
        share->operations += cell_op(share->exprs, roots[r]) == OP_NEG;
}

// --- writing

static bool
is_worth_a_name(const Share *share, uint32_t value, uint32_t uses)
{
    Op op = value_op(share, value);
    OpKind kind = (OpKind)op_table[op].kind;
    return uses > 1 && kind != OPKIND_LEAF && kind != OPKIND_COMPARE && kind != OPKIND_LOGIC && kind != OPKIND_MODEL
           && op != OP_NEG && op != OP_CALL;
}

static void
write_values(Share *share, const U32Vec *list)
{
    U32Vec args = {0}, uses = {0};
    vec_append(&uses, share->uses.at, share->uses.n);
    for (uint32_t k = 0; k < list->n; k++) // who uses a negative uses what it negates
        if (value_op(share, list->at[k]) == OP_NEG)
            uses.at[operands(share, list->at[k], 0)] += uses.at[list->at[k]] - 1;
    for (uint32_t k = 0; k < list->n; k++) {
        uint32_t value = list->at[k], operand;
        args.n = 0;
        for (uint32_t i = 0; (operand = operands(share, value, i)) != UINT32_MAX; i++)
            vec_push(&args, share->made.at[operand]);
        Expr e = !args.n ? share->order.at[value]
                 : is_flat(value_op(share, value)) && args.n == 1 ? args.at[0]
                 : expr_make(share->exprs, value_op(share, value), args.at, args.n);
        bool leaf = expr_op(share->exprs, e) == OP_SLOT || expr_op(share->exprs, e) == OP_CONST;
        if (!leaf && is_worth_a_name(share, value, uses.at[value])) {
            vec_push(share->definitions, e);
            e = expr_slot(share->exprs, share->first_slot + share->definitions->n - 1);
        }
        share->made.at[value] = e;
    }
    vec_free(&args);
    vec_free(&uses);
}

static void
forget_share(Share *share)
{
    vec_free(&share->order);
    vec_free(&share->flat_of);
    vec_free(&share->flats);
    vec_free(&share->args);
    vec_free(&share->pairs);
    map_free(&share->pair_of[0]);
    map_free(&share->pair_of[1]);
    vec_free(&share->places);
    vec_free(&share->heap);
    vec_free(&share->joined);
    vec_free(&share->uses);
    vec_free(&share->made);
}

uint32_t
expr_share(Exprs *exprs, Expr *roots, uint32_t n, uint32_t first_slot, U32Vec *definitions)
{
    Share share = {.exprs = exprs, .first_slot = first_slot, .definitions = definitions};
    U32Vec list = {0}, root_values = {0};
    if (!n)
        return 0;
    enter(&share, roots, n);
    for (uint32_t r = 0; r < n; r++)
        vec_push(&root_values, part_of(&share, roots[r]));
    take_out_pairs(&share);
    list_values(&share, roots, n, &list);
    count_operations(&share, &list, roots, n);
    if (definitions) {
        write_values(&share, &list);
        for (uint32_t r = 0; r < n; r++)
            roots[r] = share.made.at[root_values.at[r]];
    }
    forget_share(&share);
    vec_free(&list);
    vec_free(&root_values);
    return share.operations;
}

uint64_t
expr_written_operations(Exprs *exprs, const Expr *roots, uint32_t n)
{
    U32Vec order = {0};
    uint64_t total = 0;
    enum { MANY = 1u << 30 };
    expr_walk_all(exprs, roots, n, &order);
    uint64_t *cost = base_calloc(order.n + 1, sizeof *cost);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr id = order.at[i];
        uint32_t args = cell_n(exprs, id);
        OpKind kind = (OpKind)op_table[cell_op(exprs, id)].kind;
        if (kind != OPKIND_LEAF && kind != OPKIND_MODEL)
            cost[i] = args > 1 ? args - 1 : 1;
        for (uint32_t j = 0; j < args; j++) {
            Expr arg = cell_args(exprs, id)[j];
            cost[i] += cost[exprs->index.at[arg]];
            if (cell_op(exprs, id) == OP_ADD && cell_op(exprs, arg) == OP_NEG)
                cost[i]--; // a difference
        }
        cost[i] = cost[i] < MANY ? cost[i] : MANY;
    }
    for (uint32_t r = 0; r < n; r++)
        total += cost[exprs->index.at[roots[r]]];
    vec_free(&order);
    free(cost);
    return total;
}
