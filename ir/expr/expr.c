// expr.c: expressions: the hash-consed table, looking, and rewriting slots.
//
// Purpose: one id per different expression; equal ids mean equal text.
// Method: open-addressing hash table of ids over flat cells. Arguments have smaller ids than their users, and
// walks keep their own stack.
// Contract: expr.h, expr_node.h, expr_parts.h, expr_rewrite.h. Complexity: constant per expression looked up; rewriting is linear in the different
// parts.
#include "ir/expr/expr.h"

#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

const OpInfo op_table[OP_COUNT] = {
#define OP(NAME, text, arity, type, kind, removed) [OP_##NAME] = {#NAME, text, arity, OPTYPE_##type, OPKIND_##kind},
#include "ir/expr/op.def"
#undef OP
};

_Static_assert(OP_COUNT <= 128, "operators are kept as bits of two words");

static void
add_ops(OpSet *to, const OpSet *more)
{
    to->word[0] |= more->word[0];
    to->word[1] |= more->word[1];
}

enum { FIRST_TABLE = 1024 };

Exprs *
exprs_create(void)
{
    Exprs *exprs = base_calloc(1, sizeof *exprs);
    exprs->table_size = FIRST_TABLE;
    exprs->table = base_calloc(exprs->table_size, sizeof *exprs->table);
    vec_grow(&exprs->cells, 1);
    vec_grow(&exprs->facts, 1);
    vec_grow(&exprs->place, 1);
    vec_grow(&exprs->stamp, 1);
    vec_grow(&exprs->index, 1);
    vec_grow(&exprs->known_shape, 1);
    exprs->arena = arena_create();
    exprs->zero = expr_const(exprs, 0);
    exprs->one = expr_const(exprs, 1);
    exprs->time = expr_intern(exprs, OP_TIME, NULL, 0);
    return exprs;
}

void
exprs_free(Exprs **exprs)
{
    Exprs *x = *exprs;
    if (!x)
        return;
    vec_free(&x->cells);
    vec_free(&x->facts);
    vec_free(&x->pool);
    vec_free(&x->blocks);
    vec_free(&x->slot_ids);
    vec_free(&x->slopes);
    map_free(&x->block_of);
    vec_free(&x->constants);
    free(x->table);
    vec_free(&x->place);
    vec_free(&x->terms);
    vec_free(&x->renamed);
    vec_free(&x->stamp);
    vec_free(&x->index);
    vec_free(&x->known_shape);
    for (uint32_t i = 0; i < USED_SLOTS; i++)
        vec_free(&x->used[i].bits);
    map_free(&x->derivatives);
    map_free(&x->affine_of);
    map_free(&x->noise_of);
    map_free(&x->zeroed_of);
    vec_free(&x->walking);
    vec_free(&x->zeroed);
    vec_free(&x->affine);
    routines_free(x);
    free(x);
    *exprs = NULL;
}

// --- the table

// What stands beside each other goes to two places where things stand beside each other, so that memory is gone through in order.
static void
table_grow(Exprs *exprs)
{
    uint32_t size = exprs->table_size * 2, mask = size - 1;
    TablePlace *before = exprs->table;
    exprs->table = base_calloc(size, sizeof *exprs->table);
    for (uint32_t i = 0; i < exprs->table_size; i++) {
        uint32_t at = before[i].hash & mask;
        if (!before[i].id)
            continue;
        while (exprs->table[at].id)
            at = (at + 1) & mask;
        exprs->table[at] = before[i];
    }
    exprs->table_size = size;
    free(before);
}

static Expr
table_add(Exprs *exprs, uint32_t at, uint32_t hash, Cell cell, Facts facts)
{
    Expr id = exprs->cells.n;
    vec_push(&exprs->cells, cell);
    vec_push(&exprs->facts, facts);
    add_ops(&exprs->ops, &facts.ops);
    vec_push(&exprs->place, 0);
    vec_push(&exprs->stamp, 0);
    vec_push(&exprs->index, 0);
    vec_push(&exprs->known_shape, 0);
    exprs->table[at] = (TablePlace){id, hash};
    if ((uint64_t)exprs->cells.n * 2 > exprs->table_size)
        table_grow(exprs);
    return id;
}

Expr
expr_const(Exprs *exprs, double value)
{
    if (value == 0)
        value = 0; // one zero
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t hash = (uint32_t)hash_mix(bits + 0x5851f42d4c957f2du), mask = exprs->table_size - 1;
    uint32_t at = hash & mask;
    for (Expr id; (id = exprs->table[at].id); at = (at + 1) & mask) {
        const Cell *cell = &exprs->cells.at[id];
        if (exprs->table[at].hash == hash && cell->head == OP_CONST
            && !memcmp(&exprs->constants.at[cell->args], &value, sizeof value))
            return id;
    }
    Cell cell = {.head = OP_CONST, .args = exprs->constants.n};
    vec_push(&exprs->constants, value);
    return table_add(exprs, at, hash, cell, (Facts){.ops = ops_of(OP_CONST)});
}

const Expr *
expr_constants(Exprs *exprs, const double *values, uint32_t n)
{
    uint32_t found;
    uint64_t key = hash_bytes(values, n * sizeof *values);
    if (map_get(&exprs->block_of, key, &found)) {
        const ConstantBlock *block = &exprs->blocks.at[found];
        if (block->n == n && !memcmp(block->values, values, n * sizeof *values))
            return block->ids;
    }
    ConstantBlock made = {n, arena_array(exprs->arena, double, n), arena_array(exprs->arena, Expr, n)};
    memcpy(made.values, values, n * sizeof *values);
    for (uint32_t i = 0; i < n; i++)
        made.ids[i] = expr_const(exprs, values[i]);
    map_put(&exprs->block_of, key, exprs->blocks.n);
    vec_push(&exprs->blocks, made);
    return vec_last(&exprs->blocks).ids;
}

Expr
expr_slot(Exprs *exprs, uint32_t k)
{
    if (k < exprs->slot_ids.n && exprs->slot_ids.at[k])
        return exprs->slot_ids.at[k];
    uint32_t hash = (uint32_t)hash_mix(k + 0x14057b7ef767814fu), mask = exprs->table_size - 1;
    uint32_t at = hash & mask;
    while (exprs->table[at].id)
        at = (at + 1) & mask;
    Cell cell = {.head = OP_SLOT, .args = k, .nslots = k + 1};
    Expr id = table_add(exprs, at, hash, cell, (Facts){.ops = ops_of(OP_SLOT), .slots = 1ull << (k % 64)});
    if (k >= exprs->slot_ids.n)
        vec_grow(&exprs->slot_ids, k + 1 - exprs->slot_ids.n);
    exprs->slot_ids.at[k] = id;
    return id;
}

Expr
expr_time(Exprs *exprs)
{
    return exprs->time;
}

static Cell
cell_of(const Exprs *exprs, Op op, const Expr *args, uint32_t n, Facts *facts, uint32_t *mixed)
{
    uint64_t hash = op * 0x9e3779b97f4a7c15u + n;
    Cell cell = {.head = (uint32_t)op | n << 8};
    facts->ops = ops_of(op);
    for (uint32_t i = 0; i < n; i++) {
        const Facts *arg = &exprs->facts.at[args[i]];
        uint32_t nslots = exprs->cells.at[args[i]].nslots;
        hash = (hash ^ args[i]) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        add_ops(&facts->ops, &arg->ops);
        facts->slots |= arg->slots;
        cell.nslots = nslots > cell.nslots ? nslots : cell.nslots;
    }
    *mixed = (uint32_t)hash_mix(hash);
    return cell;
}

Expr
expr_intern(Exprs *exprs, Op op, const Expr *args, uint32_t n)
{
    Facts facts = {0};
    uint32_t hash, mask = exprs->table_size - 1;
    Cell cell = cell_of(exprs, op, args, n, &facts, &hash);
    uint32_t at = hash & mask;
    for (Expr id; (id = exprs->table[at].id); at = (at + 1) & mask) {
        const Cell *other = &exprs->cells.at[id];
        if (exprs->table[at].hash == hash && other->head == cell.head
            && (!n || !memcmp(exprs->pool.at + other->args, args, n * sizeof *args)))
            return id;
    }
    cell.args = exprs->pool.n;
    // `args` may lie in the pool itself, which moves when it grows.
    bool inside = n && args >= exprs->pool.at && args < exprs->pool.at + exprs->pool.n;
    size_t offset = inside ? (size_t)(args - exprs->pool.at) : 0;
    vec_reserve(&exprs->pool, exprs->pool.n + n);
    if (n)
        memcpy(exprs->pool.at + exprs->pool.n, inside ? exprs->pool.at + offset : args, n * sizeof *args);
    exprs->pool.n += n;
    return table_add(exprs, at, hash, cell, facts);
}

// --- looking

Op
expr_op(const Exprs *exprs, Expr e)
{
    return cell_op(exprs, e);
}

uint32_t
expr_nargs(const Exprs *exprs, Expr e)
{
    return cell_n(exprs, e);
}

Expr
expr_arg(const Exprs *exprs, Expr e, uint32_t i)
{
    return cell_args(exprs, e)[i];
}

double
expr_value(const Exprs *exprs, Expr e)
{
    return exprs->constants.at[exprs->cells.at[e].args];
}

uint32_t
expr_slot_of(const Exprs *exprs, Expr e)
{
    return exprs->cells.at[e].args;
}

bool
expr_is_const(const Exprs *exprs, Expr e, double value)
{
    return cell_op(exprs, e) == OP_CONST && expr_value(exprs, e) == value;
}

uint32_t
expr_nslots(const Exprs *exprs, Expr e)
{
    return exprs->cells.at[e].nslots;
}

uint32_t
expr_count(const Exprs *exprs)
{
    return exprs->cells.n - 1;
}

bool
expr_has_op(const Exprs *exprs, Expr e, Op op)
{
    return exprs->facts.at[e].ops.word[op / 64] >> op % 64 & 1;
}

bool
expr_has_any(const Exprs *exprs, Expr e, OpSet ops)
{
    const OpSet *has = &exprs->facts.at[e].ops;
    return (has->word[0] & ops.word[0]) || (has->word[1] & ops.word[1]);
}

bool
exprs_have_op(const Exprs *exprs, Op op)
{
    return exprs->ops.word[op / 64] >> op % 64 & 1;
}

void
expr_walk(Exprs *exprs, Expr e, uint32_t slot, U32Vec *order)
{
    uint64_t want = slot == UINT32_MAX ? 0 : 1ull << (slot % 64);
    uint32_t generation = ++exprs->generation;
    U32Vec *stack = &exprs->walking; // ids; the high bit marks one whose arguments are done
    enum { DONE = 0x80000000u };
    vec_push(stack, e);
    while (stack->n) {
        uint32_t top = vec_pop(stack);
        Expr id = top & ~DONE;
        if (top & DONE) {
            exprs->index.at[id] = order->n;
            vec_push(order, id);
            continue;
        }
        if (exprs->stamp.at[id] == generation)
            continue;
        exprs->stamp.at[id] = generation;
        vec_push(stack, id | DONE);
        const Expr *args = cell_args(exprs, id);
        for (uint32_t i = cell_n(exprs, id); i-- > 0;)
            if (exprs->stamp.at[args[i]] != generation && (!want || exprs->facts.at[args[i]].slots & want))
                vec_push(stack, args[i]);
    }
}

void
expr_walk_all(Exprs *exprs, const Expr *roots, uint32_t n, U32Vec *order)
{
    if (!n)
        return;
    if (n == 1) {
        expr_walk(exprs, roots[0], UINT32_MAX, order);
        return;
    }
    // An expression that has them all as its parts, and that nobody else sees.
    expr_walk(exprs, expr_intern(exprs, OP_AND, roots, n), UINT32_MAX, order);
    vec_drop(order);
}

void
expr_parts(const Exprs *exprs, Expr e, U32Vec *parts)
{
    expr_walk((Exprs *)exprs, e, UINT32_MAX, parts);
}

void
expr_used_slots(const Exprs *exprs, const Expr *roots, uint32_t n, U32Vec *slots)
{
    U32Vec order = {0};
    // Walking uses marks of the table, but changes no expression.
    expr_walk_all((Exprs *)exprs, roots, n, &order);
    for (uint32_t i = 0; i < order.n; i++)
        if (cell_op(exprs, order.at[i]) == OP_SLOT)
            vec_push(slots, expr_slot_of(exprs, order.at[i]));
    vec_free(&order);
}

// Whether e or a part of it is slot k; or, with a place for them, all slots that it uses. Only the stamps are used here, not `index`: callers may be
// working through a walk of their own.
static bool
finds_slot(Exprs *exprs, Expr e, uint32_t k, UsedSlots *collected)
{
    uint64_t want = collected ? ~0ull : 1ull << (k % 64);
    uint32_t generation = ++exprs->generation;
    bool found = false;
    U32Vec stack = {0};
    vec_push(&stack, e);
    while (stack.n && !found) {
        Expr id = vec_pop(&stack);
        if (cell_op(exprs, id) == OP_SLOT) {
            uint32_t slot = expr_slot_of(exprs, id);
            if (collected)
                collected->bits.at[slot / 64] |= 1ull << (slot % 64);
            else
                found = slot == k;
        }
        const Expr *args = cell_args(exprs, id);
        for (uint32_t i = 0; i < cell_n(exprs, id); i++) {
            if (exprs->stamp.at[args[i]] == generation || !(exprs->facts.at[args[i]].slots & want))
                continue;
            exprs->stamp.at[args[i]] = generation;
            vec_push(&stack, args[i]);
        }
    }
    vec_free(&stack);
    return found;
}

bool
expr_uses_slot(const Exprs *exprs, Expr e, uint32_t k)
{
    uint32_t slots = exprs->cells.at[e].nslots;
    if (k >= slots || !(exprs->facts.at[e].slots & 1ull << (k % 64)))
        return false;
    if (slots <= 64 || k + 1 == slots)
        return true;
    // Walking and remembering change no expression.
    UsedSlots *used = &((Exprs *)exprs)->used[e % USED_SLOTS];
    if (used->of != e) {
        used->of = e;
        vec_clear(&used->bits);
        return finds_slot((Exprs *)exprs, e, k, NULL);
    }
    if (!used->bits.n) {
        vec_grow(&used->bits, (slots + 63) / 64);
        finds_slot((Exprs *)exprs, e, k, used);
    }
    return used->bits.at[k / 64] >> k % 64 & 1;
}

uint32_t
expr_operations(const Exprs *exprs, Expr e)
{
    U32Vec order = {0};
    uint32_t count = 0;
    expr_walk((Exprs *)exprs, e, UINT32_MAX, &order);
    for (uint32_t i = 0; i < order.n; i++) {
        OpKind kind = (OpKind)op_table[cell_op(exprs, order.at[i])].kind;
        uint32_t n = cell_n(exprs, order.at[i]);
        if (kind != OPKIND_LEAF && kind != OPKIND_MODEL)
            count += n > 1 ? n - 1 : 1;
    }
    vec_free(&order);
    return count;
}

// --- rewriting

// Slot k becomes with[k], k < n; whatever has changed below is made by `make`.
static Expr
with_slots(Exprs *exprs, Expr e, const Expr *with, uint32_t n, Expr (*make)(Exprs *exprs, Op op, const Expr *args, uint32_t n))
{
    U32Vec order = {0}, made = {0}, args = {0};
    expr_walk(exprs, e, UINT32_MAX, &order);
    vec_reserve(&made, order.n);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr id = order.at[i], result = id;
        Op op = cell_op(exprs, id);
        uint32_t nargs = cell_n(exprs, id), slot = exprs->cells.at[id].args;
        bool changed = false;
        args.n = 0;
        for (uint32_t j = 0; j < nargs; j++) {
            Expr arg = cell_args(exprs, id)[j], now = made.at[exprs->index.at[arg]];
            changed |= now != arg;
            vec_push(&args, now);
        }
        if (op == OP_SLOT && slot < n && with[slot])
            result = with[slot];
        else if (changed)
            result = make(exprs, op, args.at, args.n);
        vec_push(&made, result);
    }
    Expr result = vec_last(&made);
    vec_free(&order);
    vec_free(&made);
    vec_free(&args);
    return result;
}

Expr
expr_substitute(Exprs *exprs, Expr e, const Expr *with, uint32_t n)
{
    return with_slots(exprs, e, with, n, expr_make);
}

Expr
expr_with_zeros(Exprs *exprs, Expr e, const Expr *zeros, uint32_t n)
{
    uint64_t zero = 0;
    uint32_t last = 0;
    if (n > 64)
        return expr_substitute(exprs, e, zeros, n);
    for (uint32_t k = 0; k < n; k++)
        zero |= (uint64_t)(zeros[k] != 0) << k;
    if (!zero)
        return e;
    (void)map_get(&exprs->zeroed_of, e, &last);
    for (uint32_t at = last; at; at = exprs->zeroed.at[at - 1].next)
        if (exprs->zeroed.at[at - 1].zero == zero)
            return exprs->zeroed.at[at - 1].left;
    Expr left = expr_substitute(exprs, e, zeros, n);
    vec_push(&exprs->zeroed, ((Zeroed){zero, left, last}));
    map_put(&exprs->zeroed_of, e, exprs->zeroed.n);
    return left;
}

Expr
expr_replace_slot(Exprs *exprs, Expr e, uint32_t slot, Expr with)
{
    if (!expr_uses_slot(exprs, e, slot))
        return e;
    U32Vec all = {0};
    vec_grow(&all, slot + 1);
    all.at[slot] = with;
    Expr result = expr_substitute(exprs, e, all.at, all.n);
    vec_free(&all);
    return result;
}

// Slots in order of first occurrence, read from left to right.
static void
reading_order(Exprs *exprs, Expr e, U32Vec *order)
{
    uint32_t generation = ++exprs->generation;
    U32Vec stack = {0};
    vec_push(&stack, e);
    while (stack.n) {
        Expr id = vec_pop(&stack);
        if (exprs->stamp.at[id] == generation)
            continue;
        exprs->stamp.at[id] = generation;
        if (cell_op(exprs, id) == OP_SLOT)
            vec_push(order, expr_slot_of(exprs, id));
        const Expr *args = cell_args(exprs, id);
        for (uint32_t i = cell_n(exprs, id); i-- > 0;)
            if (exprs->cells.at[args[i]].nslots && exprs->stamp.at[args[i]] != generation)
                vec_push(&stack, args[i]);
    }
    vec_free(&stack);
}

Expr
expr_shape(Exprs *exprs, Expr e, U32Vec *order)
{
    uint32_t nslots = exprs->cells.at[e].nslots;
    order->n = 0;
    if (exprs->known_shape.at[e]) {
        for (uint32_t k = 0; k < nslots; k++)
            vec_push(order, k);
        return e;
    }
    reading_order(exprs, e, order);
    bool numbered = order->n == nslots;
    for (uint32_t k = 0; k < order->n && numbered; k++)
        numbered = order->at[k] == k;
    Expr shape = e;
    if (!numbered) {
        // An element of a large array has few slots and a high number: nothing here may take the time of the highest.
        if (exprs->renamed.n < nslots)
            vec_grow(&exprs->renamed, nslots - exprs->renamed.n);
        for (uint32_t k = 0; k < order->n; k++)
            exprs->renamed.at[order->at[k]] = expr_slot(exprs, k);
        // Renaming keeps equal parts equal and different parts different, so that nothing needs simplifying again.
        shape = with_slots(exprs, e, exprs->renamed.at, nslots, expr_intern);
    }
    exprs->known_shape.at[shape] = 1;
    return shape;
}
