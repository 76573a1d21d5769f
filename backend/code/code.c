// code.c: from shapes to linear code.
//
// Purpose: the one place where the meaning of an operator becomes operations, so that the interpreter
//   and the LLVM engine cannot differ.
// Method: expressions are walked over from their leaves, and each operation becomes a value of the piece, unless there is one that it equals (code_values.c).
//   Conditionals with expensive sides become branches.
// Contract: expressions are walked with an explicit stack; their depth is not limited. Shapes hold no
//   OPKIND_MODEL operators (sys_verify).
// Complexity: linear in the operations made; in loops also stores * columns.
#include <math.h>

#include "backend/code/code_inner.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

enum { CHUNK_INSTRS = 100, CHUNK_OPS = 2000, LONG_OPS = 20000, POWER_LIMIT = 64, CHEAP_OPERATIONS = 8 };

Lowering *
lowering_create(const Sys *sys, SlotCounts *slots)
{
    Lowering *l = base_calloc(1, sizeof *l);
    l->sys = sys;
    l->slots = slots;
    vec_grow(&l->expr_stamp, expr_count(sys->exprs) + 1);
    vec_grow(&l->expr_value, expr_count(sys->exprs) + 1);
    vec_grow(&l->cost, expr_count(sys->exprs) + 1);
    vec_grow(&l->heads, 1024);
    return l;
}

void
lowering_free(Lowering **lowering)
{
    Lowering *l = *lowering;
    if (!l)
        return;
    vec_free(&l->expr_stamp);
    vec_free(&l->expr_value);
    vec_free(&l->cost);
    vec_free(&l->known);
    vec_free(&l->heads);
    map_free(&l->memory);
    map_free(&l->read);
    map_free(&l->table_of);
    vec_free(&l->boolean);
    vec_free(&l->hoisted);
    vec_free(&l->written);
    vec_free(&l->stack);
    vec_free(&l->undo);
    vec_free(&l->todo);
    free(l);
    *lowering = NULL;
}

void
code_free(Code *code)
{
    vec_free(&code->before);
    vec_free(&code->body);
    vec_free(&code->operands);
    vec_free(&code->tables);
    code->values = 0;
}

static uint32_t
count_operands(const CodeOp *op, uint32_t operand[3])
{
    operand[0] = op->a;
    operand[1] = op->b;
    operand[2] = op->c;
    switch (op->kind) {
    case CODE_CONST:
    case CODE_LOAD:
        return 0;
    case CODE_STORE:
    case CODE_LOAD_AT:
    case CODE_TABLE:
    case CODE_RESULT:
        operand[0] = op->b;
        return 1;
    case CODE_STORE_AT:
        operand[0] = op->b;
        operand[1] = op->c;
        return 2;
    case CODE_SELECT:
    case CODE_LESS_PRODUCT:
        return 3;
    case CODE_ADD: case CODE_SUB: case CODE_MUL: case CODE_DIV:
    case CODE_MIN: case CODE_MAX: case CODE_LUZ: case CODE_CALL2:
    case CODE_LT: case CODE_LE: case CODE_GT: case CODE_GE: case CODE_EQ: case CODE_NE:
    case CODE_AND: case CODE_OR:
        return 2;
    default:
        return 1;
    }
}

const uint32_t *
code_operands(const Code *code, const CodeOp *op, uint32_t operand[3], uint32_t *n)
{
    bool call = op->kind == CODE_INVOKE;
    *n = call ? op->c : count_operands(op, operand);
    return call ? code->operands.at + op->b : operand;
}

const char *
libm_name(Op op)
{
    if (op == OP_POW)
        return "pow";
    return op_table[op].kind == OPKIND_MATH && op != OP_SQRT ? op_table[op].text : NULL; // CODE_SQRT is an instruction
}

// --- expressions

// Operations of an expression, saturated at 255 for what should not be computed in vain.
static uint32_t
cost_of(Lowering *l, Expr expr)
{
    const Exprs *exprs = l->sys->exprs;
    vec_clear(&l->todo);
    vec_push(&l->todo, expr);
    while (l->todo.n) {
        Expr e = vec_last(&l->todo);
        uint32_t sum = 2, waiting = l->todo.n;
        for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
            uint32_t arg_cost = l->cost.at[expr_arg(exprs, e, i)];
            if (!arg_cost)
                vec_push(&l->todo, expr_arg(exprs, e, i));
            sum += arg_cost ? arg_cost - 1 : 0;
        }
        if (l->todo.n != waiting)
            continue;
        Op op = expr_op(exprs, e);
        if (op_table[op].kind == OPKIND_LEAF)
            sum = 1;
        bool call = libm_name(op) != NULL || op == OP_CALL || op == OP_INDEX;
        l->cost.at[e] = call || sum > 255 ? 255 : (uint8_t)sum;
        (void)vec_pop(&l->todo);
    }
    return l->cost.at[expr];
}

static bool
needs_branch(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    return cost_of(l, expr_arg(exprs, e, 1)) > CHEAP_OPERATIONS + 1 ||
           cost_of(l, expr_arg(exprs, e, 2)) > CHEAP_OPERATIONS + 1;
}

static bool
value_of(const Lowering *l, Expr e, uint32_t *value)
{
    if (l->expr_stamp.at[e] != l->epoch)
        return false;
    *value = l->expr_value.at[e];
    return true;
}

static void
set_value(Lowering *l, Expr e, uint32_t value)
{
    if (l->depth)
        vec_push(&l->undo, (Undo){UNDO_EXPR, e, l->expr_stamp.at[e]});
    l->expr_stamp.at[e] = l->epoch;
    l->expr_value.at[e] = value;
}

static uint32_t
argument(const Lowering *l, Expr e, uint32_t i)
{
    return l->expr_value.at[expr_arg(l->sys->exprs, e, i)];
}

static uint32_t
real_argument(Lowering *l, Expr e, uint32_t i)
{
    return value_as_real(l, argument(l, e, i));
}

// a + -b is emitted as a - b, which is the same number.
static uint32_t
lower_sum(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    uint32_t sum = real_argument(l, e, 0);
    for (uint32_t i = 1; i < expr_nargs(exprs, e); i++) {
        Expr term = expr_arg(exprs, e, i);
        if (expr_op(exprs, term) == OP_NEG)
            sum = value_make(l, CODE_SUB, sum, value_as_real(l, l->expr_value.at[expr_arg(exprs, term, 0)]));
        else
            sum = value_make(l, CODE_ADD, sum, real_argument(l, e, i));
    }
    return sum;
}

static bool
small_exponent(const Exprs *exprs, Expr exponent)
{
    if (expr_op(exprs, exponent) != OP_CONST)
        return false;
    double n = expr_value(exprs, exponent);
    return fabs(n) >= 2 && fabs(n) <= POWER_LIMIT && n == trunc(n);
}

// x^n for a whole n of at most POWER_LIMIT by squaring from the right; negative n: 1 / x^-n.
static uint32_t
lower_power(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    uint32_t base = real_argument(l, e, 0);
    Expr exponent = expr_arg(exprs, e, 1);
    if (!small_exponent(exprs, exponent))
        return value_pure(l, (CodeOp){.kind = CODE_CALL2, .a = base, .b = real_argument(l, e, 1), .c = OP_POW});
    double n = expr_value(exprs, exponent);
    uint32_t result = NO_VALUE, square = base;
    for (uint32_t bits = (uint32_t)fabs(n); bits; bits >>= 1) {
        if (bits & 1)
            result = result == NO_VALUE ? square : value_make(l, CODE_MUL, result, square);
        if (bits > 1)
            square = value_make(l, CODE_MUL, square, square);
    }
    return n < 0 ? value_make(l, CODE_DIV, value_constant(l, 1.0), result) : result;
}

static uint32_t
lower_chain(Lowering *l, Expr e, CodeKind kind, bool boolean)
{
    uint32_t value = boolean ? value_as_boolean(l, argument(l, e, 0)) : real_argument(l, e, 0);
    for (uint32_t i = 1; i < expr_nargs(l->sys->exprs, e); i++)
        value = value_make(l, kind, value, boolean ? value_as_boolean(l, argument(l, e, i)) : real_argument(l, e, i));
    return value;
}

static uint32_t
lower_select(Lowering *l, Expr e)
{
    uint32_t condition = value_as_boolean(l, argument(l, e, 0)), yes = argument(l, e, 1), no = argument(l, e, 2);
    bool boolean = l->boolean.at[yes] && l->boolean.at[no];
    if (!boolean) {
        yes = value_as_real(l, yes);
        no = value_as_real(l, no);
    }
    return value_pure(l, (CodeOp){.kind = CODE_SELECT, .boolean = boolean, .a = condition, .b = yes, .c = no});
}

// The operation of an operator with `arity` real operands, or CODE_KINDS.
static CodeKind
plain_operation(Op op)
{
    switch (op) {
    case OP_NEG: return CODE_NEG;
    case OP_DIV: return CODE_DIV;
    case OP_LT: return CODE_LT;
    case OP_LE: return CODE_LE;
    case OP_GT: return CODE_GT;
    case OP_GE: return CODE_GE;
    case OP_EQ: return CODE_EQ;
    case OP_NE: return CODE_NE;
    case OP_ABS: return CODE_ABS;
    case OP_SIGN: return CODE_SIGN;
    case OP_MIN: return CODE_MIN;
    case OP_MAX: return CODE_MAX;
    case OP_LUZ: return CODE_LUZ;
    case OP_SQRT: return CODE_SQRT;
    case OP_FLOOR: return CODE_FLOOR;
    case OP_CEIL: return CODE_CEIL;
    case OP_TRUNC: return CODE_TRUNC;
    default: return CODE_KINDS;
    }
}

// --- routines and subscripts

// A call with the same inputs made before in this piece, or NO_VALUE.
static uint32_t
known_call(const Lowering *l, const CodeOp *op, const uint32_t *inputs, uint64_t key)
{
    for (uint32_t k = l->heads.at[key & (l->heads.n - 1)]; k; k = l->known.at[k - 1].next) {
        if (l->known.at[k - 1].key != key)
            continue;
        const CodeOp *maker = value_maker(l, l->known.at[k - 1].value);
        if (maker->kind == CODE_INVOKE && maker->a == op->a && maker->c == op->c
            && !memcmp(l->code->operands.at + maker->b, inputs, op->c * sizeof *inputs))
            return l->known.at[k - 1].value;
    }
    return NO_VALUE;
}

// The value of a call stands for its outputs, which have the numbers that follow.
static uint32_t
lower_call(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, e, 0)));
    uint32_t first = l->code->operands.n, n = expr_nargs(exprs, e) - 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t input = real_argument(l, e, i + 1);
        vec_push(&l->code->operands, input);
    }
    CodeOp call = {.kind = CODE_INVOKE, .a = routine->number, .b = first, .c = n};
    const uint32_t *inputs = l->code->operands.at + first;
    uint64_t key = hash_add(hash_bytes(inputs, n * sizeof *inputs), call.a);
    uint32_t value = known_call(l, &call, inputs, key);
    if (value != NO_VALUE) {
        l->code->operands.n = first;
        return value;
    }
    bool hoist = value_can_hoist(l, &call);
    value = value_append(l, call, hoist);
    for (uint32_t k = 0; k < routine->outputs; k++)
        value_append(l, (CodeOp){.kind = CODE_RESULT, .a = k, .b = value}, hoist);
    value_remember(l, key, value);
    if (l->code->results < n + routine->outputs)
        l->code->results = n + routine->outputs;
    return value;
}

static uint32_t
lower_index(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    return value_pure(l, (CodeOp){.kind = CODE_INDEX, .a = real_argument(l, e, 1),
                            .c = (uint32_t)expr_value(exprs, expr_arg(exprs, e, 0)),
                            .value = expr_value(exprs, expr_arg(exprs, e, 2))});
}

// Elements are places one after the other: the first. UINT32_MAX otherwise.
static uint32_t
consecutive(const Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 1; !l->segment && i < expr_nargs(exprs, e); i++) {
        Expr element = expr_arg(exprs, e, i);
        if (expr_op(exprs, element) != OP_SLOT)
            return UINT32_MAX;
        uint32_t place = l->operand ? l->operand[expr_slot_of(exprs, element)] : expr_slot_of(exprs, element);
        if (i == 1)
            first = place;
        else if (place != first + i - 1)
            return UINT32_MAX;
    }
    return first;
}

// Elements are constants, and not few.
static bool
is_table(const Lowering *l, Expr e)
{
    enum { FEW = 4 };
    const Exprs *exprs = l->sys->exprs;
    bool constant = expr_nargs(exprs, e) > FEW;
    for (uint32_t i = 1; constant && i < expr_nargs(exprs, e); i++)
        constant = expr_op(exprs, expr_arg(exprs, e, i)) == OP_CONST;
    return constant;
}

// Where the table of these constants begins; one with the same bits is there once.
static uint32_t
place_of_table(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    F64Vec *tables = &l->code->tables;
    uint32_t first = tables->n, n = expr_nargs(exprs, e) - 1, known;
    for (uint32_t i = 0; i < n; i++)
        vec_push(tables, expr_value(exprs, expr_arg(exprs, e, i + 1)));
    uint64_t key = hash_bytes(tables->at + first, n * sizeof *tables->at);
    if (map_get(&l->table_of, key, &known) && known + n <= first && !memcmp(tables->at + known, tables->at + first, n * sizeof *tables->at)) {
        tables->n = first;
        return known;
    }
    map_put(&l->table_of, key, first);
    return first;
}

static uint32_t
lower_pick(Lowering *l, Expr e)
{
    uint32_t first = consecutive(l, e), position = real_argument(l, e, 0);
    if (first != UINT32_MAX)
        return value_append(l, (CodeOp){.kind = CODE_LOAD_AT, .a = first, .b = position}, false);
    if (is_table(l, e))
        return value_pure(l, (CodeOp){.kind = CODE_TABLE, .a = place_of_table(l, e), .b = position, .c = expr_nargs(l->sys->exprs, e) - 1});
    uint32_t value = value_constant(l, NAN);
    for (uint32_t i = 1; i < expr_nargs(l->sys->exprs, e); i++) {
        uint32_t here = value_make(l, CODE_EQ, position, value_constant(l, i - 1));
        value = value_pure(l, (CodeOp){.kind = CODE_SELECT, .a = here, .b = real_argument(l, e, i), .c = value});
    }
    return value;
}

// Emits one operator whose operands have their values.
static uint32_t
lower_operator(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    Op op = expr_op(exprs, e);
    CodeKind plain = plain_operation(op);
    uint32_t n = expr_nargs(exprs, e);
    if (plain != CODE_KINDS) {
        uint32_t a = real_argument(l, e, 0);
        return value_make(l, plain, a, n > 1 ? real_argument(l, e, 1) : 0);
    }
    switch (op) {
    case OP_CONST: return value_constant(l, expr_value(exprs, e));
    case OP_SLOT: return value_load(l, l->operand ? l->operand[expr_slot_of(exprs, e)] : expr_slot_of(exprs, e));
    case OP_TIME: return value_load(l, l->time_operand);
    case OP_ADD: return lower_sum(l, e);
    case OP_MUL: return lower_chain(l, e, CODE_MUL, false);
    case OP_POW: return lower_power(l, e);
    case OP_AND: return lower_chain(l, e, CODE_AND, true);
    case OP_OR: return lower_chain(l, e, CODE_OR, true);
    case OP_NOT: return value_make(l, CODE_NOT, value_as_boolean(l, argument(l, e, 0)), 0);
    case OP_IF: return lower_select(l, e);
    case OP_CALL: return lower_call(l, e);
    case OP_RESULT: return argument(l, e, 1) + (uint32_t)expr_value(exprs, expr_arg(exprs, e, 0));
    case OP_INDEX: return lower_index(l, e);
    case OP_PICK: return lower_pick(l, e);
    default: break;
    }
    CodeOp call = {.kind = n > 1 ? CODE_CALL2 : CODE_CALL1, .a = real_argument(l, e, 0), .c = op};
    if (n > 1)
        call.b = real_argument(l, e, 1);
    return value_pure(l, call);
}

// A conditional with a branch, in four visits: before the condition, the true and the false side, and after.
static void
step_branch(Lowering *l, Frame *frame)
{
    Expr e = frame->expr;
    uint32_t state = frame->state++;
    if (state == 0) {
        vec_push(&l->stack, (Frame){.expr = expr_arg(l->sys->exprs, e, 0)});
        return;
    }
    if (state == 1) {
        CodeOp op = {.kind = CODE_IF, .dest = l->code->values, .a = value_as_boolean(l, argument(l, e, 0))};
        vec_push(&l->code->body, op);
        l->depth++;
        frame->undo = l->undo.n;
    } else if (state == 2) {
        uint32_t yes = real_argument(l, e, 1);
        vec_push(&l->code->body, (CodeOp){.kind = CODE_ELSE, .dest = l->code->values, .a = yes});
        values_undo(l, frame->undo);
    } else {
        uint32_t no = real_argument(l, e, 2);
        values_undo(l, frame->undo);
        l->depth--;
        set_value(l, e, value_append(l, (CodeOp){.kind = CODE_END, .a = no}, false));
        (void)vec_pop(&l->stack);
        return;
    }
    vec_push(&l->stack, (Frame){.expr = expr_arg(l->sys->exprs, e, state)});
}

// Operand i that must have a value before e is emitted, 0 when the operator does not need it as a value: the
// minus sign of a term becomes a subtraction, the exponent of a power of a small whole number is expanded.
static Expr
needed_argument(const Lowering *l, Expr e, uint32_t i)
{
    const Exprs *exprs = l->sys->exprs;
    Expr arg = expr_arg(exprs, e, i);
    Op op = expr_op(exprs, e);
    if (op == OP_ADD && i > 0 && expr_op(exprs, arg) == OP_NEG)
        return expr_arg(exprs, arg, 0);
    if (op == OP_POW && i == 1 && small_exponent(exprs, arg))
        return 0;
    if ((op == OP_CALL || op == OP_INDEX || op == OP_RESULT) && expr_op(exprs, arg) == OP_CONST && i != 1)
        return op == OP_CALL && i > 0 ? arg : 0; // numbers of routines, outputs and sites; sizes
    return arg;
}

// Value of an expression under the current operands.
static uint32_t
lower_expression(Lowering *l, Expr root)
{
    const Exprs *exprs = l->sys->exprs;
    uint32_t value;
    vec_push(&l->stack, (Frame){.expr = root});
    while (l->stack.n) {
        Frame *frame = &vec_last(&l->stack);
        Expr e = frame->expr;
        if (frame->state == 0 && value_of(l, e, &value)) {
            (void)vec_pop(&l->stack);
        } else if (expr_op(exprs, e) == OP_IF && needs_branch(l, e)) {
            step_branch(l, frame);
        } else if (frame->state == 1 && expr_op(exprs, e) == OP_PICK && (consecutive(l, e) != UINT32_MAX || is_table(l, e))) {
            frame->state = expr_nargs(exprs, e); // the element is loaded when its position is known
        } else if (frame->state < expr_nargs(exprs, e)) {
            Expr arg = needed_argument(l, e, frame->state++);
            if (arg)
                vec_push(&l->stack, (Frame){.expr = arg});
        } else {
            set_value(l, e, lower_operator(l, e));
            (void)vec_pop(&l->stack);
        }
    }
    return l->expr_value.at[root];
}

// --- pieces

static void
start_piece(Lowering *l, Code *code)
{
    *code = (Code){0};
    l->code = code;
    values_forget(l);
    map_clear(&l->memory);
    map_clear(&l->table_of);
    vec_clear(&l->boolean);
    vec_clear(&l->hoisted);
    l->segment = NULL;
    l->time_operand = 0;
    l->operand = NULL;
    l->call = 0;
}

// 32-bit epochs do not wrap in practice: one per instruction of at most 2^32 - 1.
static void
lower_instr(Lowering *l, Expr shape, const uint32_t *operand, uint32_t dest)
{
    l->epoch++;
    l->operand = operand;
    uint32_t value = lower_expression(l, shape);
    value_store(l, dest, value_as_real(l, value));
}

static uint32_t
lower_chunk(Lowering *l, Code *code, uint32_t first, uint32_t count, uint32_t most_instrs, uint32_t most_ops)
{
    start_piece(l, code);
    uint32_t done = 0;
    while (done < count && done < most_instrs && code->body.n < most_ops) {
        const Instr *instr = &l->sys->instrs.at[first + done++];
        lower_instr(l, instr->shape, l->sys->places.at + instr->row, instr->dest);
    }
    return done;
}

uint32_t
lower_straight(Lowering *l, Code *code, uint32_t first, uint32_t count)
{
    return lower_chunk(l, code, first, count, CHUNK_INSTRS, CHUNK_OPS);
}

uint32_t
lower_long(Lowering *l, Code *code, uint32_t first, uint32_t count)
{
    return lower_chunk(l, code, first, count, UINT32_MAX, LONG_OPS);
}

// Which columns some trip of the loop may write.
static void
mark_written(Lowering *l, const Pieces *pieces, const Segment *segment)
{
    const Column *columns = pieces->columns.at + segment->columns;
    const uint32_t *operand = pieces->operands.at + segment->operands;
    U8Vec target = {0};
    vec_grow(&target, segment->n_columns);
    for (uint32_t b = 0; b < segment->period; b++) {
        target.at[*operand] = 1;
        operand += 1 + slot_count(l->slots, l->sys->exprs, l->sys->instrs.at[segment->first + b].shape);
    }
    vec_clear(&l->written);
    vec_grow(&l->written, segment->n_columns + 1);
    for (uint32_t d = 0; d < segment->n_columns; d++)
        for (uint32_t c = 0; target.at[d] && c < segment->n_columns; c++)
            if (!columns_disjoint(&columns[c], &columns[d]))
                l->written.at[c] = 1;
    vec_free(&target);
}

void
lower_loop(Lowering *l, Code *code, const Pieces *pieces, const Segment *segment)
{
    start_piece(l, code);
    l->pieces = pieces;
    l->segment = segment;
    mark_written(l, pieces, segment);
    const uint32_t *operand = pieces->operands.at + segment->operands;
    // Time is read in front of the loop: it has no column, and no instruction writes place 0.
    vec_push(&code->before, (CodeOp){.kind = CODE_LOAD, .dest = 0, .a = UINT32_MAX});
    code->values = 1;
    vec_push(&l->boolean, 0);
    vec_push(&l->hoisted, 1);
    l->time_operand = UINT32_MAX;
    map_put(&l->memory, UINT32_MAX, 0);
    for (uint32_t b = 0; b < segment->period; b++) {
        Expr shape = l->sys->instrs.at[segment->first + b].shape;
        lower_instr(l, shape, operand + 1, *operand);
        operand += 1 + slot_count(l->slots, l->sys->exprs, shape);
    }
}

// --- routines

// What is known of the cells first .. first + count - 1 holds no longer.
static void
forget_cells(Lowering *l, uint32_t first, uint32_t count)
{
    uint32_t value;
    for (uint32_t k = 0; k < count; k++) {
        if (map_get(&l->memory, first + k, &value))
            value_set_memory(l, first + k, NO_VALUE);
        if (l->call && map_get(&l->read, first + k, &value))
            l->call = 0;
    }
}

// An output of a call. Arrays are stored element by element: the call and what it is given are looked at once, as long as nothing is stored into what they read.
static uint32_t
lower_output(Lowering *l, Expr e)
{
    const Exprs *exprs = l->sys->exprs;
    Expr call = expr_arg(exprs, e, 1);
    uint32_t output = (uint32_t)expr_value(exprs, expr_arg(exprs, e, 0));
    if (call == l->call)
        return l->call_value + output;
    uint32_t value = lower_expression(l, e);
    U32Vec slots = {0};
    expr_used_slots(exprs, &call, 1, &slots);
    map_clear(&l->read);
    for (uint32_t i = 0; i < slots.n; i++)
        map_put(&l->read, slots.at[i], 1);
    vec_free(&slots);
    l->call = call;
    l->call_value = value - output;
    return value;
}

static void
lower_step(Lowering *l, const Step *step)
{
    uint32_t known;
    l->epoch++;
    uint32_t value = value_as_real(l, expr_op(l->sys->exprs, step->value) == OP_RESULT ? lower_output(l, step->value) : lower_expression(l, step->value));
    if (!step->index) {
        value_store(l, step->cell, value);
        if (l->call && map_get(&l->read, step->cell, &known))
            l->call = 0;
        return;
    }
    uint32_t index = value_as_real(l, lower_expression(l, step->index));
    vec_push(&l->code->body, (CodeOp){.kind = CODE_STORE_AT, .dest = l->code->values, .a = step->cell, .b = index,
                                      .c = value});
    forget_cells(l, step->cell, step->count);
}

void
lower_block(Lowering *l, Code *code, const Routine *routine, const Block *block, uint32_t *condition)
{
    start_piece(l, code);
    for (uint32_t i = block->first; i < block->first + block->n; i++)
        lower_step(l, &routine->steps.at[i]);
    l->epoch++;
    if (block->end == BLOCK_BRANCH)
        *condition = value_as_boolean(l, lower_expression(l, block->condition));
    for (uint32_t k = 0; k < block->n_values; k++) {
        uint32_t value = value_as_real(l, lower_expression(l, routine->values.at[block->value + k]));
        vec_push(&code->operands, value);
    }
}
