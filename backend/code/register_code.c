// register_code.c: linear code without loops as machine code: which register each value is in, and when.
//
// Purpose: straight programs take two instructions for an operation here, and some three as LLVM's fastest way makes them, which takes six times as
//   long to make them.
// Method: one pass over the operations. Values that memory holds - places of v that nothing has overwritten, constants - are operands of instructions where
//   they stand, or are loaded when they are needed first; what is computed stays in its register until another value needs it. That whose next use is
//   furthest away goes (Belady, IBM Systems Journal 5 (1966) 78), with a store only where no place of v holds it. Before a branch and a call all that
//   is still needed is put into memory, so that both sides of a branch find values where they were.
// Contract: operations keep their order and their operands, each rounds as it stands, and piecewise ones are the sequences of arith.h: results equal the interpreter's
//   bit for bit. False, with the code as it was, for calls with many inputs, and for stores at computed subscripts, which only routines have.
//   Values that are made on one side of a branch are used there only (code_values.c).
// Complexity: linear in the operations, times the registers.
#include <math.h>

#include "backend/code/engine.h"
#include "backend/code/register_code.h"

#ifdef __x86_64__

enum { RAX = 0 };
enum { REGISTERS = 14, SCRATCH = 14, OTHER = 15, EMPTY = UINT32_MAX, NEVER = UINT32_MAX, NOWHERE = UINT32_MAX, MOST_SLOTS = 40000 };
enum { EQUAL = 0x00, NOT_EQUAL = 0x04, LESS = 0x11, LESS_OR_EQUAL = 0x12 };     // comparisons, none of which stops at NaN
enum { DOWN = 9, UP = 10, TO_ZERO = 11 };                                       // of roundings
static const uint64_t SIGN_BIT = 0x8000000000000000u, ALL_BITS = UINT64_MAX;

typedef struct Value {
    uint32_t next;     // the operation that uses it next, NEVER
    uint32_t reg;      // or EMPTY
    Operand home;      // where memory has it, when n is not NOWHERE
    uint32_t passed;   // the latest operation that has used it, + 1
} Value;

typedef struct Writer {
    Assembler *a;
    const Code *code;
    Value *value;
    uint32_t *first, *next;     // per operation: where its operands begin among `next`, which has the next use of each behind it
    uint32_t holds[REGISTERS];  // a value, or EMPTY
    uint32_t empty, pinned;     // bits of registers: that hold nothing; that must keep what they hold
    Map holder;                 // place -> the value whose home it is
    U32Vec free_slots, left;    // left: free behind this operation, which may still read them
    U32Vec jumps;               // what is to be set at the end of a side
    uint32_t slots, now;
    uint32_t *partner;
    Calls *calls;               // NULL: routines cannot be called
    uint32_t buffer, outputs;   // slots: the first of those that calls use; where the outputs of the last call begin
    bool returned;              // it has returned its only one in a register
    bool good;
} Writer;

static Operand
in_register(uint32_t reg)
{
    return (Operand){IN_REGISTER, reg};
}

static bool
has_home(const Value *value)
{
    return value->home.n != NOWHERE;
}

// --- where values are

static void
find_next_uses(Writer *w)
{
    const CodeOps *ops = &w->code->body;
    w->first = base_calloc((size_t)ops->n + 1, sizeof *w->first);
    for (uint32_t i = 0; i < ops->n; i++) {
        uint32_t storage[3], n;
        (void)code_operands(w->code, &ops->at[i], storage, &n);
        w->first[i + 1] = w->first[i] + n;
    }
    w->next = base_calloc((size_t)w->first[ops->n] + 1, sizeof *w->next);
    for (uint32_t i = ops->n; i-- > 0;) {
        uint32_t storage[3], n;
        const uint32_t *operand = code_operands(w->code, &ops->at[i], storage, &n);
        for (uint32_t k = 0; k < n; k++)
            w->next[w->first[i] + k] = w->value[operand[k]].next;
        for (uint32_t k = 0; k < n; k++)
            w->value[operand[k]].next = i;
    }
}

// The next use of operand k of this operation behind it.
static uint32_t
next_use(const Writer *w, uint32_t k)
{
    return w->next[w->first[w->now] + k];
}

static uint32_t
take_slot(Writer *w)
{
    if (w->free_slots.n)
        return vec_pop(&w->free_slots);
    w->good = w->good && w->slots < MOST_SLOTS;
    return w->slots++;
}

static void
save(Writer *w, Value *value)
{
    if (has_home(value))
        return;
    value->home = (Operand){IN_FRAME, take_slot(w)};
    put_vector(w->a, X86_STORE, (uint8_t)value->reg, 0, value->home, NO_IMMEDIATE);
}

static void
leave_register(Writer *w, Value *value)
{
    if (value->reg == EMPTY)
        return;
    w->empty |= 1u << value->reg;
    w->holds[value->reg] = EMPTY;
    value->reg = EMPTY;
}

static void
set_register(Writer *w, uint32_t number, uint32_t reg)
{
    w->value[number].reg = reg;
    w->holds[reg] = number;
    w->empty &= ~(1u << reg);
}

// A register that is free, or becomes so: that of the value that is needed last, sooner when memory has it.
static uint32_t
take_register(Writer *w)
{
    uint32_t best = EMPTY;
    uint64_t furthest = 0;
    if (w->empty)
        return (uint32_t)__builtin_ctz(w->empty);
    for (uint32_t reg = 0; reg < REGISTERS; reg++) {
        if (w->pinned >> reg & 1)
            continue;
        Value *value = &w->value[w->holds[reg]];
        if (value->next == NEVER) { // nothing has asked for it
            leave_register(w, value);
            return reg;
        }
        uint64_t distance = (uint64_t)(value->next - w->now) << (has_home(value) ? 1 : 0);
        if (best == EMPTY || distance > furthest) {
            best = reg;
            furthest = distance;
        }
    }
    Value *value = &w->value[w->holds[best]];
    save(w, value);
    leave_register(w, value);
    return best;
}

static bool
is_zero(const Writer *w, const Value *value)
{
    return value->reg == EMPTY && value->home.kind == IN_POOL && w->a->pool.at[value->home.n] == 0;
}

static void
move_to(Writer *w, const Value *value, uint32_t reg)
{
    if (is_zero(w, value))
        put_vector(w->a, X86_XOR, (uint8_t)reg, (uint8_t)reg, in_register(reg), NO_IMMEDIATE);
    else if (value->reg == EMPTY)
        put_vector(w->a, X86_LOAD, (uint8_t)reg, 0, value->home, NO_IMMEDIATE);
    else if (value->reg != reg)
        put_vector(w->a, X86_MOVE, (uint8_t)reg, 0, in_register(value->reg), NO_IMMEDIATE);
}

// The value in a register that stays its own during this operation.
static uint8_t
bring(Writer *w, uint32_t number)
{
    Value *value = &w->value[number];
    if (value->reg == EMPTY) {
        uint32_t reg = take_register(w);
        move_to(w, value, reg);
        set_register(w, number, reg);
    }
    w->pinned |= 1u << value->reg;
    return (uint8_t)value->reg;
}

// In its register, or in one that is lost behind this operation.
static uint8_t
bring_for_once(Writer *w, uint32_t number, uint8_t scratch)
{
    const Value *value = &w->value[number];
    if (value->reg != EMPTY) {
        w->pinned |= 1u << value->reg;
        return (uint8_t)value->reg;
    }
    move_to(w, value, scratch);
    return scratch;
}

// An operand that must be in a register: in its own, where it is needed again.
static uint8_t
bring_operand(Writer *w, const CodeOp *op, uint32_t number)
{
    uint32_t storage[3], n, next = NEVER;
    const uint32_t *operand = code_operands(w->code, op, storage, &n);
    for (uint32_t k = 0; k < n; k++)
        if (operand[k] == number)
            next = next_use(w, k);
    return next == NEVER ? bring_for_once(w, number, SCRATCH) : bring(w, number);
}

static Operand
where(Writer *w, uint32_t number)
{
    const Value *value = &w->value[number];
    if (value->reg == EMPTY)
        return value->home;
    w->pinned |= 1u << value->reg;
    return in_register(value->reg);
}

// This operation has used its operands; those that nothing uses any more are forgotten.
static void
pass(Writer *w, const CodeOp *op)
{
    uint32_t storage[3], n;
    const uint32_t *operand = code_operands(w->code, op, storage, &n);
    for (uint32_t k = 0; k < n; k++) {
        Value *value = &w->value[operand[k]];
        bool again = value->passed == w->now + 1;
        value->passed = w->now + 1;
        value->next = next_use(w, k);
        if (value->next != NEVER || again)
            continue;
        leave_register(w, value);
        if (has_home(value) && value->home.kind == IN_FRAME)
            vec_push(&w->left, value->home.n);
    }
}

// The register of the result, behind pass().
static uint8_t
result(Writer *w, const CodeOp *op)
{
    w->pinned = 0;
    uint32_t reg = take_register(w);
    set_register(w, op->dest, reg);
    return (uint8_t)reg;
}

// What is still needed behind this operation goes to memory, and all registers are free. The operands still stand where they stood.
static void
save_all(Writer *w, const CodeOp *op)
{
    uint32_t storage[3], n;
    const uint32_t *operand = code_operands(w->code, op, storage, &n);
    for (uint32_t reg = 0; reg < REGISTERS; reg++) {
        if (w->holds[reg] == EMPTY)
            continue;
        uint32_t next = w->value[w->holds[reg]].next;
        for (uint32_t k = 0; k < n; k++)
            if (operand[k] == w->holds[reg])
                next = next_use(w, k);
        if (next != NEVER)
            save(w, &w->value[w->holds[reg]]);
    }
}

static void
forget_registers(Writer *w)
{
    for (uint32_t reg = 0; reg < REGISTERS; reg++)
        if (w->holds[reg] != EMPTY)
            leave_register(w, &w->value[w->holds[reg]]);
}

// --- operations

static void
write_binary(Writer *w, const CodeOp *op, Opcode opcode, int immediate, bool turned, bool commutes)
{
    uint32_t a = turned ? op->b : op->a, b = turned ? op->a : op->b;
    if (commutes && w->value[a].reg == EMPTY && w->value[b].reg != EMPTY) {
        uint32_t other = a;
        a = b;
        b = other;
    }
    uint8_t source = bring_operand(w, op, a);
    Operand operand = where(w, b);
    pass(w, op);
    uint8_t dest = result(w, op);
    put_vector(w->a, opcode, dest, source, operand, immediate);
}

// dest = source `opcode` constant of 16 bytes
static void
write_with_bits(Writer *w, const CodeOp *op, Opcode opcode, uint64_t bits)
{
    uint8_t source = bring_operand(w, op, op->a);
    pass(w, op);
    uint8_t dest = result(w, op);
    put_vector(w->a, opcode, dest, source, (Operand){IN_POOL, pool_pair(w->a, bits)}, NO_IMMEDIATE);
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// x > 0 ? 1 : x < 0 ? -1 : 0
static void
write_sign(Writer *w, const CodeOp *op)
{
    uint8_t x = bring(w, op->a);
    Operand zero = {IN_POOL, pool_entry(w->a, 0)}, one = {IN_POOL, pool_pair(w->a, bits_of(1))}, less = {IN_POOL, pool_pair(w->a, bits_of(-1))};
    put_vector(w->a, X86_LOAD, SCRATCH, 0, zero, NO_IMMEDIATE);
    put_vector(w->a, X86_COMPARE, SCRATCH, SCRATCH, in_register(x), LESS);
    put_vector(w->a, X86_AND, SCRATCH, SCRATCH, one, NO_IMMEDIATE);
    put_vector(w->a, X86_COMPARE, OTHER, x, zero, LESS);
    put_vector(w->a, X86_AND, OTHER, OTHER, less, NO_IMMEDIATE);
    pass(w, op);
    put_vector(w->a, X86_OR, result(w, op), SCRATCH, in_register(OTHER), NO_IMMEDIATE);
}

// x > a ? x - a : x < -a ? x + a : 0
static void
write_luz(Writer *w, const CodeOp *op)
{
    uint8_t x = bring(w, op->a), a = bring(w, op->b);
    put_vector(w->a, X86_XOR, OTHER, a, (Operand){IN_POOL, pool_pair(w->a, SIGN_BIT)}, NO_IMMEDIATE);
    put_vector(w->a, X86_COMPARE, OTHER, x, in_register(OTHER), LESS);
    put_vector(w->a, X86_ADD, SCRATCH, x, in_register(a), NO_IMMEDIATE);
    put_vector(w->a, X86_AND, SCRATCH, SCRATCH, in_register(OTHER), NO_IMMEDIATE);
    put_vector(w->a, X86_COMPARE, OTHER, a, in_register(x), LESS);
    pass(w, op);
    uint8_t dest = result(w, op);
    put_vector(w->a, X86_SUB, dest, x, in_register(a), NO_IMMEDIATE);
    put_vector(w->a, X86_BLEND, dest, SCRATCH, in_register(dest), OTHER << 4);
}

static void
write_select(Writer *w, const CodeOp *op)
{
    uint8_t condition = bring(w, op->a), yes = bring_for_once(w, op->b, SCRATCH), no = bring_for_once(w, op->c, OTHER);
    pass(w, op);
    put_vector(w->a, X86_BLEND, result(w, op), no, in_register(yes), condition << 4);
}

// a - b*c takes the place of a.
static void
write_less_product(Writer *w, const CodeOp *op)
{
    bool turned = w->value[op->b].reg == EMPTY && w->value[op->c].reg != EMPTY;
    uint8_t source = bring_operand(w, op, turned ? op->c : op->b);
    Operand operand = where(w, turned ? op->b : op->c), from = where(w, op->a);
    bool last = from.kind == IN_REGISTER && next_use(w, 0) == NEVER && op->a != op->b && op->a != op->c;
    uint32_t dest = last ? from.n : take_register(w);
    move_to(w, &w->value[op->a], dest);
    pass(w, op);
    set_register(w, op->dest, dest);
    put_vector(w->a, X86_LESS_PRODUCT, (uint8_t)dest, source, operand, NO_IMMEDIATE);
}

static void
write_unary(Writer *w, const CodeOp *op, Opcode opcode, int immediate)
{
    Operand operand = where(w, op->a);
    pass(w, op);
    uint8_t dest = result(w, op);
    // What the operand does not fill is that of the source; a register that is about to be written waits for nothing else.
    put_vector(w->a, opcode, dest, operand.kind == IN_REGISTER ? (uint8_t)operand.n : dest, operand, immediate);
}

// Operands of a call into the first two registers.
static void
write_arguments(Writer *w, const CodeOp *op)
{
    save_all(w, op);
    bool two = op->kind == CODE_CALL2;
    Value b = two ? w->value[op->b] : (Value){.reg = EMPTY};
    if (two && b.reg == 0) {
        move_to(w, &b, OTHER);
        b.reg = OTHER;
    }
    move_to(w, &w->value[op->a], 0);
    if (two)
        move_to(w, &b, 1);
    pass(w, op);
    forget_registers(w);
}

typedef double Unary(double);
typedef double Binary(double, double);

static uintptr_t
library_function(Op op)
{
    switch (op) {
    case OP_EXP: return (uintptr_t)(Unary *)exp;
    case OP_LOG: return (uintptr_t)(Unary *)log;
    case OP_LOG10: return (uintptr_t)(Unary *)log10;
    case OP_SIN: return (uintptr_t)(Unary *)sin;
    case OP_COS: return (uintptr_t)(Unary *)cos;
    case OP_TAN: return (uintptr_t)(Unary *)tan;
    case OP_ASIN: return (uintptr_t)(Unary *)asin;
    case OP_ACOS: return (uintptr_t)(Unary *)acos;
    case OP_ATAN: return (uintptr_t)(Unary *)atan;
    case OP_SINH: return (uintptr_t)(Unary *)sinh;
    case OP_COSH: return (uintptr_t)(Unary *)cosh;
    case OP_TANH: return (uintptr_t)(Unary *)tanh;
    case OP_ATAN2: return (uintptr_t)(Binary *)atan2;
    case OP_POW: return (uintptr_t)(Binary *)pow;
    default: return 0;
    }
}

static void
write_call(Writer *w, const CodeOp *op)
{
    uintptr_t address = library_function((Op)op->c);
    uint32_t other = w->partner ? w->partner[op->dest] : 0;
    if (has_home(&w->value[op->dest])) // with its partner
        return pass(w, op);
    w->good = w->good && address;
    write_arguments(w, op);
    if (!other) {
        put_call(w->a, address);
        set_register(w, op->dest, 0);
        return;
    }
    uint32_t slot[2] = {take_slot(w), take_slot(w)}; // of the sine and the cosine
    bool sine = op->c == OP_SIN;
    put_address(w->a, 7, (Operand){IN_FRAME, slot[0]});
    put_address(w->a, 6, (Operand){IN_FRAME, slot[1]});
    put_call(w->a, (uintptr_t)sincos);
    w->value[op->dest].home = (Operand){IN_FRAME, slot[!sine]};
    w->value[other - 1].home = (Operand){IN_FRAME, slot[sine]};
}

// --- calls of routines (backend/llvm/ll_routine.c)

static void
write_move(Writer *w, const Value *value, Operand to)
{
    uint8_t reg = OTHER;
    if (value->reg != EMPTY)
        reg = (uint8_t)value->reg;
    else
        move_to(w, value, OTHER);
    put_vector(w->a, X86_STORE, reg, 0, to, NO_IMMEDIATE);
}

// Where the elements of an array stand one behind the other in v; IN_FRAME with n NOWHERE: nowhere.
static Operand
standing_array(const Writer *w, const uint32_t *values, uint32_t n)
{
    Operand first = w->value[values[0]].home;
    for (uint32_t k = 0; k < n; k++) {
        Operand home = w->value[values[k]].home;
        if (home.kind != IN_PLACE || home.n != first.n + k)
            return (Operand){IN_FRAME, NOWHERE};
    }
    return first;
}

// Numbers into the first registers: what stands in another one of these goes through memory.
static void
write_numbers(Writer *w, const uint32_t *values, const uint32_t *input, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        const Value *value = &w->value[values[input[k]]];
        if (value->reg != EMPTY && value->reg < n && value->reg != k)
            write_move(w, value, (Operand){IN_FRAME, w->buffer + input[k]});
    }
    for (uint32_t k = 0; k < n; k++) {
        Value value = w->value[values[input[k]]];
        if (value.reg != EMPTY && value.reg < n && value.reg != k)
            value = (Value){.reg = EMPTY, .home = {IN_FRAME, w->buffer + input[k]}};
        move_to(w, &value, k);
    }
}

typedef struct Arguments {
    uint32_t number[8], numbers;      // inputs in registers for numbers
    Operand address[6];               // in rdi, rsi, rdx, rcx, r8, r9
    uint32_t addresses, stacked;
} Arguments;

// What registers are no more for stands on the stack, in its order, which is where the frame begins.
static Operand
next_on_stack(Arguments *arguments)
{
    return (Operand){IN_FRAME, arguments->stacked++};
}

static void
add_address(Writer *w, Arguments *arguments, Operand address)
{
    if (arguments->addresses < sizeof arguments->address / sizeof *arguments->address) {
        arguments->address[arguments->addresses++] = address;
        return;
    }
    put_address(w->a, RAX, address);
    put_store_rax(w->a, next_on_stack(arguments).n);
}

// An input: all values are where they were.
static void
add_input(Writer *w, Arguments *arguments, const uint32_t *values, const Extent *object)
{
    if (object->count > 1) {
        Operand stands = standing_array(w, values + object->first, object->count);
        for (uint32_t k = 0; k < object->count && stands.n == NOWHERE; k++)
            write_move(w, &w->value[values[object->first + k]], (Operand){IN_FRAME, w->buffer + object->first + k});
        add_address(w, arguments, stands.n == NOWHERE ? (Operand){IN_FRAME, w->buffer + object->first} : stands);
    } else if (arguments->numbers < sizeof arguments->number / sizeof *arguments->number) {
        arguments->number[arguments->numbers++] = object->first;
    } else {
        write_move(w, &w->value[values[object->first]], next_on_stack(arguments));
    }
}

// Inputs and outputs are passed as C does it: numbers, and of arrays, of outputs that are several, and of the state the addresses.
static void
write_invoke(Writer *w, const CodeOp *op)
{
    static const uint8_t address_register[] = {7, 6, 2, 1, 8, 9};
    const Routine *routine = routine_of(w->calls->sys->exprs, op->a);
    const uint32_t *values = w->code->operands.at + op->b;
    Arguments arguments = {.stacked = 0};
    save_all(w, op);
    for (uint32_t i = 0; i < routine_input_objects(routine); i++)
        add_input(w, &arguments, values, &routine->extents.at[i]);
    write_numbers(w, values, arguments.number, arguments.numbers);
    pass(w, op);
    forget_registers(w);
    w->outputs = w->buffer + op->c;
    w->returned = routine->outputs == 1;
    if (!w->returned)
        add_address(w, &arguments, (Operand){IN_FRAME, w->outputs});
    add_address(w, &arguments, (Operand){IN_PLACE, w->calls->sys->model->failure});
    for (uint32_t k = 0; k < arguments.addresses; k++)
        put_address(w->a, address_register[k], arguments.address[k]);
    put_call_through(w->a, &w->calls->address[op->a]);
    w->calls->called[op->a] = 1;
    w->calls->made++;
}

static void
write_result(Writer *w, const CodeOp *op)
{
    pass(w, op);
    if (w->value[op->dest].next == NEVER)
        return;
    if (w->returned)
        set_register(w, op->dest, 0);
    else
        put_vector(w->a, X86_LOAD, result(w, op), 0, (Operand){IN_FRAME, w->outputs + op->a}, NO_IMMEDIATE);
}

// --- computed subscripts

static double
element_at(const double *array, double at)
{
    return at >= 0 ? array[(uint32_t)at] : NAN;
}

static double
entry_at(const double *table, double at, double n)
{
    return at >= 0 && at < n ? table[(uint32_t)at] : NAN;
}

// The operand into the first register, and a constant into the second; then a call, whose result is the value.
static void
begin_subscript(Writer *w, const CodeOp *op, uint32_t operand, double constant)
{
    save_all(w, op);
    move_to(w, &w->value[operand], 0);
    put_vector(w->a, X86_LOAD, 1, 0, (Operand){IN_POOL, pool_entry(w->a, constant)}, NO_IMMEDIATE);
    pass(w, op);
    forget_registers(w);
}

static void
write_subscript(Writer *w, const CodeOp *op)
{
    w->good = w->calls && (op->kind != CODE_INDEX || w->calls->sys->model->failure);
    if (!w->good)
        return;
    if (op->kind == CODE_INDEX) {
        begin_subscript(w, op, op->a, op->value);
        put_address(w->a, 7, (Operand){IN_PLACE, w->calls->sys->model->failure});
        put_immediate(w->a, 6, op->c);
        put_call(w->a, (uintptr_t)interp_subscript);
    } else if (op->kind == CODE_LOAD_AT) {
        begin_subscript(w, op, op->b, 0);
        put_address(w->a, 7, (Operand){IN_PLACE, op->a});
        put_call(w->a, (uintptr_t)element_at);
    } else {
        double *table = base_calloc((size_t)op->c + 1, sizeof *table);
        memcpy(table, w->code->tables.at + op->a, op->c * sizeof *table);
        vec_push(&w->calls->tables, table);
        begin_subscript(w, op, op->b, op->c);
        put_immediate(w->a, 7, (uintptr_t)table);
        put_call(w->a, (uintptr_t)entry_at);
    }
    set_register(w, op->dest, 0);
}

static void
write_store(Writer *w, const CodeOp *op)
{
    Value *value = &w->value[op->b];
    uint32_t old;
    Operand place = {IN_PLACE, op->a};
    bool kept = map_get(&w->holder, op->a, &old) && w->value[old].home.kind == IN_PLACE && w->value[old].home.n == op->a;
    if (kept && old == op->b) // it holds it already
        return pass(w, op);
    bool zero = is_zero(w, value);
    uint8_t reg = zero ? 0 : bring_operand(w, op, op->b);
    if (kept && w->value[old].next != NEVER)
        bring(w, old);
    if (kept)
        w->value[old].home.n = NOWHERE;
    if (zero)
        put_store_zero(w->a, op->a);
    else
        put_vector(w->a, X86_STORE, reg, 0, place, NO_IMMEDIATE);
    pass(w, op);
    if (has_home(value) || value->next == NEVER)
        return;
    value->home = place;
    map_put(&w->holder, op->a, op->b);
}

static void
write_load(Writer *w, const CodeOp *op)
{
    uint32_t old;
    bool kept = map_get(&w->holder, op->a, &old) && w->value[old].home.kind == IN_PLACE && w->value[old].home.n == op->a;
    w->good = w->good && op->a < 3u * PLACES_EACH && !(kept && w->value[old].next != NEVER);
    w->value[op->dest].home = (Operand){IN_PLACE, op->a};
    map_put(&w->holder, op->a, op->dest);
}

static void
write_branch(Writer *w, const CodeOp *op)
{
    if (op->kind == CODE_IF) {
        uint8_t condition = bring(w, op->a), high = condition >= 8;
        const uint8_t mask[5] = {high ? 0xc4 : 0xc5, high ? 0xc1 : 0xf9, high ? 0x79 : 0x50, high ? 0x50 : (uint8_t)(0xc0 | condition), (uint8_t)(0xc0 | (condition & 7))};
        save_all(w, op);
        put_bytes(w->a, mask, high ? 5 : 4);       // vmovmskpd eax, condition
        put_bytes(w->a, "\xa8\x01\x0f\x84", 4);    // test al, 1; jz ...
        vec_push(&w->jumps, w->a->bytes.n);
        put_32(w->a, 0);
        pass(w, op);
        forget_registers(w);
        return;
    }
    move_to(w, &w->value[op->a], 0);
    pass(w, op);
    forget_registers(w);
    if (op->kind == CODE_ELSE) {
        put_bytes(w->a, "\xe9", 1);                // jmp ...
        put_32(w->a, 0);
        assembler_jump_here(w->a, vec_last(&w->jumps));
        vec_last(&w->jumps) = w->a->bytes.n - 4;
    } else {
        assembler_jump_here(w->a, vec_pop(&w->jumps));
        set_register(w, op->dest, 0);
    }
}

static void
write_operation(Writer *w, const CodeOp *op)
{
    switch ((CodeKind)op->kind) {
    case CODE_CONST: w->value[op->dest].home = (Operand){IN_POOL, pool_entry(w->a, op->value)}; return;
    case CODE_LOAD: write_load(w, op); return;
    case CODE_STORE: write_store(w, op); return;
    case CODE_ADD: write_binary(w, op, X86_ADD, NO_IMMEDIATE, false, true); return;
    case CODE_SUB: write_binary(w, op, X86_SUB, NO_IMMEDIATE, false, false); return;
    case CODE_MUL: write_binary(w, op, X86_MUL, NO_IMMEDIATE, false, true); return;
    case CODE_DIV: write_binary(w, op, X86_DIV, NO_IMMEDIATE, false, false); return;
    case CODE_MIN: write_binary(w, op, X86_MIN, NO_IMMEDIATE, true, false); return; // the second where one is NaN, or they are equal
    case CODE_MAX: write_binary(w, op, X86_MAX, NO_IMMEDIATE, true, false); return;
    case CODE_LT: write_binary(w, op, X86_COMPARE, LESS, false, false); return;
    case CODE_LE: write_binary(w, op, X86_COMPARE, LESS_OR_EQUAL, false, false); return;
    case CODE_GT: write_binary(w, op, X86_COMPARE, LESS, true, false); return;
    case CODE_GE: write_binary(w, op, X86_COMPARE, LESS_OR_EQUAL, true, false); return;
    case CODE_EQ: write_binary(w, op, X86_COMPARE, EQUAL, false, true); return;
    case CODE_NE: write_binary(w, op, X86_COMPARE, NOT_EQUAL, false, true); return;
    case CODE_NEG: write_with_bits(w, op, X86_XOR, SIGN_BIT); return;
    case CODE_ABS: write_with_bits(w, op, X86_AND, ~SIGN_BIT); return;
    case CODE_NOT: write_with_bits(w, op, X86_XOR, ALL_BITS); return;
    case CODE_REAL: write_with_bits(w, op, X86_AND, bits_of(1)); return;
    case CODE_SQRT: write_unary(w, op, X86_SQRT, NO_IMMEDIATE); return;
    case CODE_FLOOR: write_unary(w, op, X86_ROUND, DOWN); return;
    case CODE_CEIL: write_unary(w, op, X86_ROUND, UP); return;
    case CODE_TRUNC: write_unary(w, op, X86_ROUND, TO_ZERO); return;
    case CODE_SIGN: write_sign(w, op); return;
    case CODE_LUZ: write_luz(w, op); return;
    case CODE_SELECT: write_select(w, op); return;
    case CODE_LESS_PRODUCT: write_less_product(w, op); return;
    case CODE_CALL1:
    case CODE_CALL2: write_call(w, op); return;
    case CODE_INVOKE: write_invoke(w, op); return;
    case CODE_RESULT: write_result(w, op); return;
    case CODE_INDEX:
    case CODE_LOAD_AT:
    case CODE_TABLE: write_subscript(w, op); return;
    case CODE_IF:
    case CODE_ELSE:
    case CODE_END: write_branch(w, op); return;
    case CODE_AND:
    case CODE_OR: {
        uint8_t a = bring(w, op->a), b = bring(w, op->b);
        pass(w, op);
        put_vector(w->a, op->kind == CODE_AND ? X86_AND : X86_OR, result(w, op), a, in_register(b), NO_IMMEDIATE);
        return;
    }
    case CODE_BOOL: {
        uint8_t a = bring_operand(w, op, op->a);
        pass(w, op);
        put_vector(w->a, X86_COMPARE, result(w, op), a, (Operand){IN_POOL, pool_entry(w->a, 0)}, NOT_EQUAL);
        return;
    }
    default: w->good = false; return;
    }
}

bool
register_code(Assembler *a, const Code *code, Calls *calls, uint32_t *slots)
{
    Writer w = {.a = a, .code = code, .calls = calls, .good = !code->before.n && code->results < MOST_SLOTS / 4,
                .buffer = code->results, .slots = 2 * code->results, // arguments on the stack are no more than inputs, outputs and the state
                .partner = code_sine_pairs(&code->body, code->values)};
    w.value = base_calloc((size_t)code->values + 1, sizeof *w.value);
    for (uint32_t i = 0; i < code->values; i++)
        w.value[i] = (Value){NEVER, EMPTY, {IN_FRAME, NOWHERE}, 0};
    for (uint32_t reg = 0; reg < REGISTERS; reg++)
        w.holds[reg] = EMPTY;
    w.empty = (1u << REGISTERS) - 1;
    for (uint32_t i = 0; i < code->body.n && w.good; i++)
        w.good = calls || code->body.at[i].kind != CODE_INVOKE;
    if (w.good)
        find_next_uses(&w);
    for (w.now = 0; w.now < code->body.n && w.good; w.now++) {
        w.pinned = 0;
        while (w.left.n)
            vec_push(&w.free_slots, vec_pop(&w.left));
        write_operation(&w, &code->body.at[w.now]);
    }
    *slots = w.slots > *slots ? w.slots : *slots;
    free(w.value);
    free(w.first);
    free(w.next);
    free(w.partner);
    map_free(&w.holder);
    vec_free(&w.free_slots);
    vec_free(&w.left);
    vec_free(&w.jumps);
    return w.good;
}

#endif
