// code_values.c: values of a piece of linear code: each is made once and found again.
//
// Purpose: what operations on the same values share, for all expressions of a piece.
// Method: local value numbering (Cocke and Schwartz 1970) over the instructions of a piece: an operation on
//   the same values is made once; a load is kept until its place may be overwritten; a store is forwarded to
//   later loads; what is made inside a branch is forgotten after it (undo log). In a loop, operations on values that no trip changes go in front
//   of the loop.
// Contract: code_inner.h. Complexity: constant per operation; in loops also stores * columns.
#include "backend/code/code_inner.h"

static void
rehash(Lowering *l)
{
    uint32_t size = l->heads.n * 2;
    vec_clear(&l->heads);
    vec_grow(&l->heads, size);
    for (uint32_t i = 0; i < l->known.n; i++) {
        uint32_t *head = &l->heads.at[l->known.at[i].key & (size - 1)];
        l->known.at[i].next = *head;
        *head = i + 1;
    }
}

void
values_forget(Lowering *l)
{
    if (l->known.n * 4 < l->heads.n)
        for (uint32_t i = 0; i < l->known.n; i++)
            l->heads.at[l->known.at[i].key & (l->heads.n - 1)] = 0;
    else
        memset(l->heads.at, 0, l->heads.n * sizeof *l->heads.at);
    vec_clear(&l->known);
}

void
value_remember(Lowering *l, uint64_t key, uint32_t value)
{
    if (l->known.n >= l->heads.n)
        rehash(l);
    uint32_t *head = &l->heads.at[key & (l->heads.n - 1)];
    vec_push(&l->known, (Known){key, value, *head});
    *head = l->known.n;
    if (l->depth)
        vec_push(&l->undo, (Undo){UNDO_VALUE, 0, 0});
}

// Takes back everything remembered since the log had `length` entries.
void
values_undo(Lowering *l, uint32_t length)
{
    while (l->undo.n > length) {
        Undo u = vec_pop(&l->undo);
        if (u.kind == UNDO_EXPR) {
            l->expr_stamp.at[u.key] = u.old;
        } else if (u.kind == UNDO_MEMORY) {
            map_put(&l->memory, u.key, u.old);
        } else {
            Known k = vec_pop(&l->known);
            l->heads.at[k.key & (l->heads.n - 1)] = k.next;
        }
    }
}

static uint64_t
key_of(const CodeOp *op)
{
    uint64_t bits;
    memcpy(&bits, &op->value, sizeof bits);
    return hash_add(hash_add(hash_add(hash_add(op->kind, op->a), op->b), op->c), bits);
}

static bool
same_operation(const CodeOp *x, const CodeOp *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b && x->c == y->c &&
           memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

// Appends an operation whatever is known; before the loop when nothing in it changes.
uint32_t
value_append(Lowering *l, CodeOp op, bool hoist)
{
    op.dest = l->code->values++;
    vec_push(&l->boolean, op.boolean);
    vec_push(&l->hoisted, hoist);
    if (hoist)
        vec_push(&l->code->before, op);
    else
        vec_push(&l->code->body, op);
    return op.dest;
}

bool
value_can_hoist(const Lowering *l, const CodeOp *op)
{
    if (!l->segment)
        return false;
    if (op->kind == CODE_CONST)
        return true;
    // Within a branch only what costs little moves out of it: the branch may never be taken.
    if (l->depth && (op->kind == CODE_CALL1 || op->kind == CODE_CALL2 || op->kind == CODE_INDEX
                     || op->kind == CODE_INVOKE))
        return false;
    uint32_t storage[3], n;
    const uint32_t *operand = code_operands(l->code, op, storage, &n);
    bool fixed = true;
    for (uint32_t i = 0; i < n; i++)
        fixed = fixed && l->hoisted.at[operand[i]];
    return fixed;
}

// The operation that makes a value: found by its number, as `dest` ascends in each list.
const CodeOp *
value_maker(const Lowering *l, uint32_t value)
{
    const CodeOps *ops = l->hoisted.at[value] ? &l->code->before : &l->code->body;
    uint32_t low = 0, high = ops->n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(ops->at[middle].dest <= value ? &low : &high) = middle;
    }
    return &ops->at[low];
}

// Value of a pure operation: an earlier one when there is one.
uint32_t
value_pure(Lowering *l, CodeOp op)
{
    uint64_t key = key_of(&op);
    for (uint32_t k = l->heads.at[key & (l->heads.n - 1)]; k; k = l->known.at[k - 1].next) {
        if (l->known.at[k - 1].key != key)
            continue;
        uint32_t value = l->known.at[k - 1].value;
        if (same_operation(value_maker(l, value), &op))
            return value;
    }
    uint32_t value = value_append(l, op, value_can_hoist(l, &op));
    value_remember(l, key, value);
    return value;
}

uint32_t
value_make(Lowering *l, CodeKind kind, uint32_t a, uint32_t b)
{
    bool boolean = kind >= CODE_LT && kind <= CODE_BOOL;
    return value_pure(l, (CodeOp){.kind = (uint8_t)kind, .boolean = boolean, .a = a, .b = b});
}

uint32_t
value_constant(Lowering *l, double value)
{
    return value_pure(l, (CodeOp){.kind = CODE_CONST, .value = value});
}

void
value_set_memory(Lowering *l, uint32_t operand, uint32_t value)
{
    if (l->depth) {
        uint32_t old = NO_VALUE;
        map_get(&l->memory, operand, &old);
        vec_push(&l->undo, (Undo){UNDO_MEMORY, operand, old});
    }
    map_put(&l->memory, operand, value);
}

uint32_t
value_load(Lowering *l, uint32_t operand)
{
    uint32_t value;
    if (map_get(&l->memory, operand, &value) && value != NO_VALUE)
        return value;
    bool hoist = false;
    if (l->segment) {
        const Column *column = &l->pieces->columns.at[l->segment->columns + operand];
        hoist = !column->table && column->stride == 0 && !l->written.at[operand];
    }
    uint32_t written = l->segment ? l->written.at[operand] : 0;
    value = value_append(l, (CodeOp){.kind = CODE_LOAD, .a = operand, .b = written}, hoist);
    value_set_memory(l, operand, value);
    return value;
}

void
value_store(Lowering *l, uint32_t operand, uint32_t value)
{
    CodeOp op = {.kind = CODE_STORE, .dest = l->code->values, .a = operand, .b = value};
    vec_push(&l->code->body, op);
    if (l->segment) {
        const Column *columns = l->pieces->columns.at + l->segment->columns;
        for (uint32_t c = 0; c < l->segment->n_columns; c++)
            if (c != operand && !columns_apart(&columns[operand], &columns[c]))
                value_set_memory(l, c, NO_VALUE);
    }
    value_set_memory(l, operand, value);
}

uint32_t
value_as_boolean(Lowering *l, uint32_t value)
{
    return l->boolean.at[value] ? value : value_make(l, CODE_BOOL, value, 0);
}

uint32_t
value_as_real(Lowering *l, uint32_t value)
{
    return l->boolean.at[value] ? value_make(l, CODE_REAL, value, 0) : value;
}
