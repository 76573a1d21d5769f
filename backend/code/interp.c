// interp.c: the reference interpreter.
//
// Purpose: instant start for small models, and the oracle for the LLVM engine in tests.
// Method: linear code (code.h) becomes instructions for a register machine; registers are reused after a
//   value's last use (linear scan; branches only jump forward, so the textual last use is the last one). A
//   switch executes them. Loops keep the current place of every column and advance them per trip.
// Contract: the programs and their tables belong to the engine. A program may run in several threads: its
//   registers are on the stack (on the heap when there are many).
// Complexity: linear in the code, to make and to run.
#include <math.h>

#include "backend/code/arith.h"
#include "backend/code/code.h"
#include "backend/code/engine.h"
#include "ir/expr/expr_eval.h"

// The machine has the operations of CodeKind and these.
enum { MOVE = CODE_KINDS, JUMP, JUMP_IF, AGAIN, FAIL, WARN, LOAD_COLUMN, STORE_COLUMN, STOP };

typedef struct Insn {
    uint32_t kind, dest, a, b, c;
} Insn;

typedef struct Piece {
    uint32_t before, body; // first instruction in Program.insns; each ends with STOP
    uint32_t trips;        // 1: straight code
    uint32_t columns, n_columns;
    uint32_t registers;
} Piece;

typedef struct Program {
    VEC(Piece) piece;
    VEC(Insn) insns;
    VEC(Column) columns;
    F64Vec constants;
    U32Vec tables;
    U32Vec inputs;         // of calls: registers
    uint32_t results;      // doubles that the largest call needs
    const Interp *interp;
    const Routine *routine; // of the program of a routine
    RoutineCost cost;       // of its calls
    bool may_fail;
} Program;

struct Interp {
    Program *programs, *routines; // routines by their numbers
    uint32_t n, n_routines;
    uint32_t failure;      // place in v of what calls share
};

enum { STACK_REGISTERS = 2048, STACK_COLUMNS = 512, STACK_RESULTS = 64 };

// --- running

// The first failure counts, and the first warning.
static void
fail(double *state, uint32_t site, const double *r, const uint32_t *values, uint32_t n)
{
    if (state[0] != 0)
        return;
    state[0] = site + 1;
    for (uint32_t k = 0; k < n; k++)
        state[1 + k] = r[values[k]];
}

// Counts one call or repetition; too many are a failure, and any behind the run's limit of time.
static bool
work_is_left(double *state, uint32_t work_site, uint32_t time_site)
{
    double left = --state[MDL_CALL_WORK];
    if (left < 0) {
        fail(state, work_site, NULL, NULL, 0);
        return false;
    }
    if ((int64_t)left % MDL_LOOKS != 0 || state[MDL_CALL_LOOK] == 0)
        return true;
    mdl_look *look = (mdl_look *)(uintptr_t)state[MDL_CALL_LOOK];
    if (!look((const void *)(uintptr_t)state[MDL_CALL_LOOKER]))
        return true;
    fail(state, time_site, NULL, NULL, 0);
    return false;
}

double
interp_subscript(double subscript, double size, double *state, uint32_t site)
{
    if (subscript >= 1 && subscript <= size)
        return subscript - 1;
    fail(state, site, &subscript, (uint32_t[]){0}, 1);
    return NAN;
}

static void invoke(const Program *program, const double *inputs, double *outputs, double *state);

// Results of the call stand behind its inputs.
static uint32_t
call_routine(const Program *program, const Insn *insn, const double *r, double *buffer, double *state)
{
    for (uint32_t k = 0; k < insn->c; k++)
        buffer[k] = r[program->inputs.at[insn->b + k]];
    invoke(&program->interp->routines[insn->a], buffer, buffer + insn->c, state);
    return insn->c;
}

// False where a call has failed.
static bool
run(const Program *program, uint32_t first, double *r, double *v, const uint32_t *at, double *buffer, double *state)
{
    const Insn *insns = program->insns.at;
    uint32_t results = 0;
    for (const Insn *i = insns + first;; i++) {
        double *d = r + i->dest;
        switch (i->kind) {
        case CODE_CONST: *d = program->constants.at[i->a]; break;
        case CODE_LOAD: *d = v[i->a]; break;
        case LOAD_COLUMN: *d = v[at[i->a]]; break;
        case CODE_STORE: v[i->a] = r[i->b]; break;
        case STORE_COLUMN: v[at[i->a]] = r[i->b]; break;
        case CODE_ADD: *d = r[i->a] + r[i->b]; break;
        case CODE_SUB: *d = r[i->a] - r[i->b]; break;
        case CODE_MUL: *d = r[i->a] * r[i->b]; break;
        case CODE_DIV: *d = r[i->a] / r[i->b]; break;
        case CODE_NEG: *d = -r[i->a]; break;
        case CODE_ABS: *d = fabs(r[i->a]); break;
        case CODE_SIGN: *d = arith_sign(r[i->a]); break;
        case CODE_MIN: *d = arith_min(r[i->a], r[i->b]); break;
        case CODE_MAX: *d = arith_max(r[i->a], r[i->b]); break;
        case CODE_LUZ: *d = arith_luz(r[i->a], r[i->b]); break;
        case CODE_SQRT: *d = sqrt(r[i->a]); break;
        case CODE_FLOOR: *d = floor(r[i->a]); break;
        case CODE_CEIL: *d = ceil(r[i->a]); break;
        case CODE_TRUNC: *d = trunc(r[i->a]); break;
        case CODE_CALL1: *d = expr_apply_1(i->c, r[i->a]); break;
        case CODE_CALL2: *d = i->c == OP_POW ? pow(r[i->a], r[i->b]) : atan2(r[i->a], r[i->b]); break;
        case CODE_LT: *d = r[i->a] < r[i->b]; break;
        case CODE_LE: *d = r[i->a] <= r[i->b]; break;
        case CODE_GT: *d = r[i->a] > r[i->b]; break;
        case CODE_GE: *d = r[i->a] >= r[i->b]; break;
        case CODE_EQ: *d = r[i->a] == r[i->b]; break;
        case CODE_NE: *d = r[i->a] != r[i->b]; break;
        case CODE_AND: *d = r[i->a] != 0 && r[i->b] != 0; break;
        case CODE_OR: *d = r[i->a] != 0 || r[i->b] != 0; break;
        case CODE_NOT: *d = r[i->a] == 0; break;
        case CODE_BOOL: *d = r[i->a] != 0; break;
        case CODE_REAL:
        case MOVE: *d = r[i->a]; break;
        case CODE_INDEX:
            *d = interp_subscript(r[i->a], program->constants.at[i->b], state, i->c);
            if (program->routine && isnan(*d))
                return false;
            break;
        case CODE_LOAD_AT: *d = r[i->b] >= 0 ? v[i->a + (uint32_t)r[i->b]] : NAN; break;
        case CODE_TABLE: *d = r[i->b] >= 0 && r[i->b] < i->c ? program->constants.at[i->a + (uint32_t)r[i->b]] : NAN; break;
        case CODE_STORE_AT:
            if (r[i->b] >= 0)
                v[i->a + (uint32_t)r[i->b]] = r[i->c];
            break;
        case CODE_INVOKE: results = call_routine(program, i, r, buffer, state); break;
        case CODE_RESULT: *d = buffer[results + i->a]; break;
        case CODE_SELECT: *d = r[i->a] != 0 ? r[i->b] : r[i->c]; break;
        case CODE_LESS_PRODUCT: *d = fma(-r[i->b], r[i->c], r[i->a]); break;
        case CODE_IF:
            if (r[i->a] == 0)
                i = insns + i->c - 1;
            break;
        case JUMP: i = insns + i->c - 1; break;
        case JUMP_IF: i = insns + (r[i->a] != 0 ? i->b : i->c) - 1; break;
        case AGAIN:
            if (!work_is_left(state, i->a, i->b))
                return false;
            break;
        case FAIL: fail(state, i->a, r, program->inputs.at + i->b, i->c); return false;
        case WARN: fail(state + MDL_CALL_WARNING, i->a, r, program->inputs.at + i->b, i->c); break;
        default: return true;
        }
    }
}

static void
run_loop(const Program *program, const Piece *piece, double *r, double *v, double *buffer, double *state)
{
    uint32_t at_stack[STACK_COLUMNS], n = piece->n_columns;
    uint32_t *at = n <= STACK_COLUMNS ? at_stack : base_realloc(NULL, n * sizeof *at);
    const Column *columns = program->columns.at + piece->columns;
    for (uint32_t c = 0; c < n; c++)
        at[c] = columns[c].start;
    run(program, piece->before, r, v, at, buffer, state);
    for (uint32_t t = 0; t < piece->trips; t++) {
        if (t)
            for (uint32_t c = 0; c < n; c++)
                at[c] = columns[c].table ? program->tables.at[columns[c].table - 1 + t]
                                         : at[c] + (uint32_t)columns[c].stride;
        run(program, piece->body, r, v, at, buffer, state);
    }
    if (at != at_stack)
        free(at);
}

static void
run_program(double *v, const void *self)
{
    const Program *program = self;
    double stack[STACK_REGISTERS], few[STACK_RESULTS], *state = v + program->interp->failure;
    double *buffer = program->results <= STACK_RESULTS ? few : base_realloc(NULL, program->results * sizeof *buffer);
    for (uint32_t p = 0; p < program->piece.n; p++) {
        const Piece *piece = &program->piece.at[p];
        bool large = piece->registers > STACK_REGISTERS;
        double *r = large ? base_realloc(NULL, piece->registers * sizeof *r) : stack;
        if (piece->trips > 1)
            run_loop(program, piece, r, v, buffer, state);
        else
            run(program, piece->body, r, v, NULL, buffer, state);
        if (large)
            free(r);
    }
    if (buffer != few)
        free(buffer);
}

// One call: cells, registers and the buffer of calls it makes are its own.
static bool
call_program(const Program *program, const double *inputs, double *outputs, double *state)
{
    const Routine *routine = program->routine;
    const Piece *piece = program->piece.at;
    uint32_t room = routine->cells + piece->registers + program->results + 1;
    double few[STACK_RESULTS], *cells = room <= STACK_RESULTS ? few : base_realloc(NULL, room * sizeof *cells);
    memset(cells, 0, routine->cells * sizeof *cells);
    memcpy(cells, inputs, routine->inputs * sizeof *cells);
    double *r = cells + routine->cells;
    bool good = run(program, piece->body, r, cells, NULL, r + piece->registers, state);
    memcpy(outputs, cells + routine->output, routine->outputs * sizeof *cells);
    if (cells != few)
        free(cells);
    return good;
}

static void
invoke(const Program *program, const double *inputs, double *outputs, double *state)
{
    const Routine *routine = program->routine;
    double bytes = program->cost == ROUTINE_CALLS ? routine_bytes(routine) : 0;
    if (state[MDL_CALL_BYTES] == 0)
        state[MDL_CALL_WORK] = ROUTINE_WORK;
    state[MDL_CALL_BYTES] += bytes;
    bool good = false;
    if (state[MDL_CALL_BYTES] > ROUTINE_STACK)
        fail(state, routine->depth_site, NULL, NULL, 0);
    else if (program->cost != ROUTINE_PLAIN && !work_is_left(state, routine->work_site, routine->time_site))
        good = false;
    else if (routine->external)
        routine->external->address(inputs, outputs, state);
    else
        good = call_program(program, inputs, outputs, state);
    state[MDL_CALL_BYTES] -= bytes;
    if (program->cost == ROUTINE_CALLS) // it has failed where those that it calls have
        good = !program->may_fail || state[0] == 0;
    for (uint32_t k = 0; !good && k < routine->outputs; k++)
        outputs[k] = NAN;
}

// --- making

typedef struct Allocator {
    Program *program;
    const Code *code;
    U32Vec last;       // by value: index of the operation that uses it last, UINT32_MAX: never freed
    U32Vec reg;        // by value
    U32Vec free_regs;
    // of each open branch: the instruction to patch (IF, then JUMP), and the result's register
    U32Vec open;
    uint32_t registers;
    uint32_t tables;   // where those of the piece begin among the constants of the program
    bool loop;
} Allocator;

static uint32_t
take_register(Allocator *a)
{
    return a->free_regs.n ? vec_pop(&a->free_regs) : a->registers++;
}

static void
find_last_uses(Allocator *a, const Code *code)
{
    vec_clear(&a->last);
    vec_grow(&a->last, code->values);
    for (uint32_t i = 0; i < code->body.n; i++) {
        const CodeOp *op = &code->body.at[i];
        uint32_t storage[3], n;
        const uint32_t *operand = code_operands(code, op, storage, &n);
        if (code_has_value(op))
            a->last.at[op->dest] = i;
        for (uint32_t k = 0; k < n; k++)
            a->last.at[operand[k]] = i;
    }
    for (uint32_t i = 0; i < code->before.n; i++)
        a->last.at[code->before.at[i].dest] = UINT32_MAX;
}

static void
release_operands(Allocator *a, const CodeOp *op, uint32_t i)
{
    uint32_t storage[3], n;
    const uint32_t *operand = code_operands(a->code, op, storage, &n);
    for (uint32_t k = 0; k < n; k++)
        if (a->last.at[operand[k]] == i) {
            vec_push(&a->free_regs, a->reg.at[operand[k]]);
            a->last.at[operand[k]] = UINT32_MAX;
        }
}

// The three parts of a branch. `open` holds, per branch, the place to patch and the register of the result.
static void
add_branch(Allocator *a, const CodeOp *op, uint32_t i)
{
    Program *program = a->program;
    uint32_t value = a->reg.at[op->a];
    if (op->kind == CODE_IF) {
        vec_push(&a->open, program->insns.n);
        vec_push(&program->insns, (Insn){.kind = CODE_IF, .a = value});
        release_operands(a, op, i);
    } else if (op->kind == CODE_ELSE) {
        uint32_t branch = vec_last(&a->open), result = take_register(a);
        vec_push(&program->insns, (Insn){.kind = MOVE, .dest = result, .a = value});
        vec_last(&a->open) = program->insns.n;
        vec_push(&a->open, result);
        vec_push(&program->insns, (Insn){.kind = JUMP});
        program->insns.at[branch].c = program->insns.n;
        release_operands(a, op, i);
    } else {
        uint32_t result = vec_pop(&a->open), jump = vec_pop(&a->open);
        vec_push(&program->insns, (Insn){.kind = MOVE, .dest = result, .a = value});
        program->insns.at[jump].c = program->insns.n;
        release_operands(a, op, i);
        a->reg.at[op->dest] = result;
    }
}

static void
add_operation(Allocator *a, const CodeOp *op, uint32_t i)
{
    Program *program = a->program;
    Insn insn = {.kind = op->kind, .a = op->a, .b = op->b, .c = op->c};
    uint32_t storage[3], n;
    const uint32_t *operand = code_operands(a->code, op, storage, &n);
    if (op->kind == CODE_CONST) {
        insn.a = program->constants.n;
        vec_push(&program->constants, op->value);
    } else if (op->kind == CODE_LOAD) {
        insn.kind = a->loop && op->a != UINT32_MAX ? LOAD_COLUMN : CODE_LOAD;
        insn.a = op->a == UINT32_MAX ? 0 : op->a;
    } else if (op->kind == CODE_STORE) {
        insn.kind = a->loop ? STORE_COLUMN : CODE_STORE;
        insn.b = a->reg.at[op->b];
    } else if (op->kind == CODE_INDEX) {
        insn.a = a->reg.at[op->a];
        insn.b = program->constants.n;
        vec_push(&program->constants, op->value);
    } else if (op->kind == CODE_LOAD_AT || op->kind == CODE_STORE_AT) {
        insn.b = a->reg.at[op->b];
        insn.c = op->kind == CODE_STORE_AT ? a->reg.at[op->c] : 0;
    } else if (op->kind == CODE_TABLE) {
        insn.a = a->tables + op->a;
        insn.b = a->reg.at[op->b];
    } else if (op->kind == CODE_INVOKE) {
        insn.b = program->inputs.n;
        for (uint32_t k = 0; k < n; k++)
            vec_push(&program->inputs, a->reg.at[operand[k]]);
    } else if (op->kind != CODE_RESULT) {
        insn.a = a->reg.at[operand[0]];
        insn.b = n > 1 ? a->reg.at[operand[1]] : op->b;
        insn.c = n > 2 ? a->reg.at[operand[2]] : op->c;
    }
    if (i != UINT32_MAX)
        release_operands(a, op, i);
    if (code_has_value(op))
        insn.dest = a->reg.at[op->dest] = take_register(a);
    vec_push(&program->insns, insn);
}

static void
start_registers(Allocator *a, const Code *code)
{
    a->code = code;
    a->registers = 0;
    vec_clear(&a->free_regs);
    vec_clear(&a->reg);
    vec_grow(&a->reg, code->values);
    find_last_uses(a, code);
    a->tables = a->program->constants.n;
    vec_append(&a->program->constants, code->tables.at, code->tables.n);
    if (a->program->results < code->results)
        a->program->results = code->results;
}

static void
add_operations(Allocator *a, const Code *code)
{
    for (uint32_t i = 0; i < code->body.n; i++) {
        const CodeOp *op = &code->body.at[i];
        if (op->kind >= CODE_IF)
            add_branch(a, op, i);
        else
            add_operation(a, op, i);
        // A value nobody reads gives its register back at once.
        if (code_has_value(op) && a->last.at[op->dest] == i)
            vec_push(&a->free_regs, a->reg.at[op->dest]);
    }
}

static void
add_piece(Allocator *a, const Code *code, Piece piece)
{
    start_registers(a, code);
    piece.before = a->program->insns.n;
    for (uint32_t i = 0; i < code->before.n; i++)
        add_operation(a, &code->before.at[i], UINT32_MAX);
    vec_push(&a->program->insns, (Insn){.kind = STOP});
    piece.body = a->program->insns.n;
    add_operations(a, code);
    vec_push(&a->program->insns, (Insn){.kind = STOP});
    piece.registers = a->registers;
    vec_push(&a->program->piece, piece);
}

static void
free_allocator(Allocator *a)
{
    vec_free(&a->last);
    vec_free(&a->reg);
    vec_free(&a->free_regs);
    vec_free(&a->open);
}

// --- routines

// How a block ends. Jumps name blocks until all have their places.
static void
end_block(Allocator *a, const Routine *routine, const Block *block, uint32_t condition)
{
    Program *program = a->program;
    if (block->again)
        vec_push(&program->insns, (Insn){.kind = AGAIN, .a = routine->work_site, .b = routine->time_site});
    if (block->end == BLOCK_JUMP) {
        vec_push(&program->insns, (Insn){.kind = JUMP, .c = block->to});
    } else if (block->end == BLOCK_BRANCH) {
        vec_push(&program->insns, (Insn){.kind = JUMP_IF, .a = a->reg.at[condition], .b = block->to,
                                         .c = block->otherwise});
    } else if (block->end == BLOCK_FAIL || block->end == BLOCK_WARN) {
        uint32_t first = program->inputs.n;
        for (uint32_t k = a->code->operands.n - block->n_values; k < a->code->operands.n; k++)
            vec_push(&program->inputs, a->reg.at[a->code->operands.at[k]]);
        bool warns = block->end == BLOCK_WARN;
        vec_push(&program->insns, (Insn){.kind = warns ? WARN : FAIL, .a = block->site, .b = first, .c = block->n_values});
        if (warns)
            vec_push(&program->insns, (Insn){.kind = JUMP, .c = block->to});
    } else {
        vec_push(&program->insns, (Insn){.kind = STOP});
    }
}

// What the end of a block reads must keep its register to the end.
static void
keep_to_end(Allocator *a, const Block *block, uint32_t condition)
{
    if (block->end == BLOCK_BRANCH)
        a->last.at[condition] = UINT32_MAX;
    for (uint32_t k = a->code->operands.n - block->n_values; k < a->code->operands.n; k++)
        a->last.at[a->code->operands.at[k]] = UINT32_MAX;
}

static void
add_block(Allocator *a, Lowering *lowering, const Block *block, Piece *piece)
{
    Code code;
    uint32_t condition = 0;
    lower_block(lowering, &code, a->program->routine, block, &condition);
    start_registers(a, &code);
    keep_to_end(a, block, condition);
    add_operations(a, &code);
    end_block(a, a->program->routine, block, condition);
    if (piece->registers < a->registers)
        piece->registers = a->registers;
    code_free(&code);
}

static void
make_routine(Program *program, Lowering *lowering)
{
    const Routine *routine = program->routine;
    Allocator a = {.program = program};
    Piece piece = {.trips = 1};
    U32Vec start = {0}, end = {0};
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        vec_push(&start, program->insns.n);
        add_block(&a, lowering, &routine->blocks.at[b], &piece);
        vec_push(&end, program->insns.n - 1);
    }
    for (uint32_t b = 0; b < routine->blocks.n; b++) {
        Insn *insn = &program->insns.at[end.at[b]];
        if (insn->kind == JUMP || insn->kind == JUMP_IF)
            insn->c = start.at[insn->c];
        if (insn->kind == JUMP_IF)
            insn->b = start.at[insn->b];
    }
    vec_push(&program->piece, piece);
    vec_free(&start);
    vec_free(&end);
    free_allocator(&a);
}

static void
make_routines(Interp *interp, const Sys *sys, Lowering *lowering)
{
    U32Vec numbers = {0};
    sys_routines(sys, &numbers);
    interp->n_routines = routine_count(sys->exprs) + 1;
    interp->routines = base_calloc(interp->n_routines, sizeof *interp->routines);
    for (uint32_t i = 0; i < numbers.n; i++) {
        Program *program = &interp->routines[numbers.at[i]];
        program->interp = interp;
        program->routine = routine_of(sys->exprs, numbers.at[i]);
        program->cost = routine_cost(sys->exprs, program->routine);
        program->may_fail = routine_may_fail(sys->exprs, program->routine);
        make_routine(program, lowering);
    }
    vec_free(&numbers);
}

static void
fill_program(Program *program, const Sys *sys, const Func *func, SlotCounts *slots, Lowering *lowering)
{
    Pieces pieces;
    Allocator a = {.program = program};
    pieces_make(&pieces, sys, slots, func->first, func->count);
    for (uint32_t s = 0; s < pieces.segments.n; s++) {
        const Segment *segment = &pieces.segments.at[s];
        a.loop = segment->trips > 1;
        uint32_t n = a.loop ? 1 : segment->period;
        for (uint32_t done = 0; done < n;) {
            Code code;
            if (a.loop) {
                lower_loop(lowering, &code, &pieces, segment);
                done = 1;
            } else {
                done += lower_straight(lowering, &code, segment->first + done, n - done);
            }
            add_piece(&a, &code, (Piece){.trips = segment->trips, .columns = segment->columns,
                                         .n_columns = segment->n_columns});
            code_free(&code);
        }
    }
    vec_append(&program->columns, pieces.columns.at, pieces.columns.n);
    vec_append(&program->tables, pieces.tables.at, pieces.tables.n);
    pieces_free(&pieces);
    free_allocator(&a);
}

static void
free_programs(Program *programs, uint32_t n)
{
    for (uint32_t f = 0; f < n; f++) {
        Program *p = &programs[f];
        vec_free(&p->piece);
        vec_free(&p->insns);
        vec_free(&p->columns);
        vec_free(&p->constants);
        vec_free(&p->tables);
        vec_free(&p->inputs);
    }
    free(programs);
}

void
interp_free(Interp **slot)
{
    Interp *interp = *slot;
    if (!interp)
        return;
    free_programs(interp->programs, interp->n);
    free_programs(interp->routines, interp->n_routines);
    free(interp);
    *slot = NULL;
}

Interp *
interp_create(const Sys *sys, const uint8_t *chosen, mdl_code *code)
{
    Interp *interp = base_calloc(1, sizeof *interp);
    SlotCounts slots = {0};
    Lowering *lowering = lowering_create(sys, &slots);
    interp->n = sys->funcs.n;
    interp->failure = sys->model->failure;
    make_routines(interp, sys, lowering);
    interp->programs = base_calloc(interp->n + 1, sizeof *interp->programs);
    for (uint32_t f = 0; f < interp->n; f++) {
        if (!sys->funcs.at[f].count || (chosen && !chosen[f]))
            continue;
        interp->programs[f].interp = interp;
        fill_program(&interp->programs[f], sys, &sys->funcs.at[f], &slots, lowering);
        code[f] = (mdl_code){run_program, &interp->programs[f]};
    }
    lowering_free(&lowering);
    vec_free(&slots.count);
    return interp;
}

size_t
interp_length(const mdl_code *code)
{
    const Program *program = code->self;
    return program->insns.n;
}

static void
release_interp(void *state)
{
    Interp *interp = state;
    interp_free(&interp);
}

Engine *
engine_interp(Sys *sys, Out *why)
{
    if (!sys_verify(sys, why))
        return NULL;
    mdl_code *code = base_calloc(sys->funcs.n + 1, sizeof *code);
    Interp *interp = interp_create(sys, NULL, code);
    link_code(sys, code);
    free(code);
    return engine_make(release_interp, interp);
}
