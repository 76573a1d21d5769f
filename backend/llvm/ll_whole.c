// ll_whole.c: whole numbers of routines in integer registers.
//
// Purpose: counters and subscripts are doubles, as all values are; adding to one takes four cycles, and making an address of one six.
// Method: a value that is certainly a small whole number has a twin, an i64, beside its double; whoever needs a position, compares or
//   counts takes the twin, and LLVM drops the double where nobody asks for it. Cells that only take constants, subscripts and each
//   other with constants added are kept as i64 (a greatest fixed point over the steps), if positions or the ends of loops depend on them.
//   A counter is compared with what does not move in its loop as whole numbers are: k < c is k < ceil(c).
// Contract: a twin and its double are the same number: magnitudes stay below 2^52, which bounds on values show. A cell moves by at most
//   the sum of all constants per repetition, of which there are at most ROUTINE_WORK.
// Complexity: steps times rounds of the fixed point; constant per operation.
#include <math.h>
#include <string.h>

#include "backend/llvm/ll_emitter.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

#define EXACT 0x1p52     // magnitudes of twins stay below
#define CONSTANTS 0x1p20 // the sum of what the steps add
#define CELL_BOUND (0x1p31 + CONSTANTS*ROUTINE_WORK)

// --- which cells

static bool
is_small(double value)
{
    return value == floor(value) && fabs(value) <= 0x1p31 - 1;
}

// Whether a step's value is whole when the cells marked are; *added grows by what it adds.
static bool
is_whole(const Exprs *exprs, const U8Vec *whole, Expr e, double *added)
{
    switch (expr_op(exprs, e)) {
    case OP_CONST:
        return is_small(expr_value(exprs, e));
    case OP_SLOT:
        return whole->at[expr_slot_of(exprs, e)];
    case OP_INDEX:
        return expr_op(exprs, expr_arg(exprs, e, 2)) == OP_CONST;
    case OP_ADD: { // a constant and one cell
        Expr number = expr_arg(exprs, e, 0), cell = expr_arg(exprs, e, 1);
        bool simple = expr_nargs(exprs, e) == 2 && expr_op(exprs, number) == OP_CONST && expr_op(exprs, cell) == OP_SLOT
                   && is_small(expr_value(exprs, number));
        *added += simple ? fabs(expr_value(exprs, number)) : 0;
        return simple && whole->at[expr_slot_of(exprs, cell)];
    }
    default:
        return false;
    }
}

static bool
mark_slots(const Exprs *exprs, Expr e, U8Vec *marked)
{
    U32Vec used = {0};
    bool more = false;
    expr_used_slots(exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n; i++) {
        more |= !marked->at[used.at[i]];
        marked->at[used.at[i]] = 1;
    }
    vec_free(&used);
    return more;
}

// What subscripts and positions in an expression are made of.
static void
mark_positions(const Exprs *exprs, Expr e, U8Vec *marked)
{
    U32Vec parts = {0};
    if (!e || !(expr_has_op(exprs, e, OP_INDEX) || expr_has_op(exprs, e, OP_PICK)))
        return;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        Op op = expr_op(exprs, parts.at[i]);
        if (op == OP_INDEX || op == OP_PICK)
            mark_slots(exprs, expr_arg(exprs, parts.at[i], op == OP_INDEX), marked);
    }
    vec_free(&parts);
}

// Cells that one step writes, or none: a loop that compares a counter with them most likely does not move them.
static void
find_steady(const Routine *routine, U8Vec *steady)
{
    U8Vec written = {0};
    vec_grow(&written, routine->cells);
    vec_grow(steady, routine->cells);
    memset(steady->at, 1, steady->n);
    for (uint32_t i = 0; i < routine->steps.n; i++)
        for (uint32_t k = 0; k < routine->steps.at[i].count; k++) {
            uint32_t cell = routine->steps.at[i].cell + k;
            steady->at[cell] = !written.at[cell];
            written.at[cell] = 1;
        }
    vec_free(&written);
}

// The counter of a condition `k < c`.
static void
mark_counter(const Exprs *exprs, Expr condition, const U8Vec *steady, U8Vec *marked)
{
    if (!op_is_order(expr_op(exprs, condition)))
        return;
    Expr k = expr_arg(exprs, condition, 0), bound = expr_arg(exprs, condition, 1);
    if (expr_op(exprs, k) == OP_SLOT && expr_op(exprs, bound) == OP_SLOT && steady->at[expr_slot_of(exprs, bound)])
        marked->at[expr_slot_of(exprs, k)] = 1;
}

// Cells that positions depend on, or how long a loop goes on: the others gain nothing.
static void
mark_useful(const Exprs *exprs, const Routine *routine, const U8Vec *steady, U8Vec *marked)
{
    vec_grow(marked, routine->cells);
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        mark_positions(exprs, routine->steps.at[i].value, marked);
        mark_positions(exprs, routine->steps.at[i].index, marked);
        if (routine->steps.at[i].index)
            mark_slots(exprs, routine->steps.at[i].index, marked);
    }
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        if (routine->blocks.at[b].end == BLOCK_BRANCH) {
            mark_positions(exprs, routine->blocks.at[b].condition, marked);
            mark_counter(exprs, routine->blocks.at[b].condition, steady, marked);
        }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < routine->steps.n; i++)
            if (marked->at[routine->steps.at[i].cell])
                more |= mark_slots(exprs, routine->steps.at[i].value, marked);
    }
}

// Only objects of one cell are looked at.
static void
single_cells(const Exprs *exprs, const Routine *routine, const U8Vec *steady, U8Vec *whole)
{
    U8Vec useful = {0};
    mark_useful(exprs, routine, steady, &useful);
    vec_grow(whole, routine->cells);
    for (uint32_t i = 0; i < routine->extents.n; i++) {
        const Extent *extent = &routine->extents.at[i];
        if (extent->count == 1 && extent->first >= routine->inputs)
            whole->at[extent->first] = useful.at[extent->first];
    }
    vec_free(&useful);
}

void
ll_find_whole(Emitter *e)
{
    const Exprs *exprs = e->m->exprs;
    double added = 0;
    find_steady(e->routine, &e->steady_cell);
    single_cells(exprs, e->routine, &e->steady_cell, &e->whole_cell);
    for (bool more = true; more;) {
        more = false;
        added = 0;
        for (uint32_t i = 0; i < e->routine->steps.n; i++) {
            const Step *step = &e->routine->steps.at[i];
            if (!e->whole_cell.at[step->cell] || (!step->index && is_whole(exprs, &e->whole_cell, step->value, &added)))
                continue;
            e->whole_cell.at[step->cell] = 0;
            more = true;
        }
    }
    if (added > CONSTANTS)
        memset(e->whole_cell.at, 0, e->whole_cell.n);
}

// --- twins

static const Twin none = {0};

static Twin
twin(LLVMValueRef value, double bound)
{
    return bound < EXACT ? (Twin){value, bound} : none;
}

static Twin
chosen(Emitter *e, LLVMIntPredicate first, Twin a, Twin b)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef condition = LLVMBuildICmp(builder, first, a.value, b.value, "");
    return twin(LLVMBuildSelect(builder, condition, a.value, b.value, ""), fmax(a.bound, b.bound));
}

static Twin
operation_twin(Emitter *e, const CodeOp *op, Twin a, Twin b)
{
    LLVMBuilderRef builder = e->m->builder;
    switch (op->kind) {
    case CODE_CONST:
        return is_small(op->value) ? twin(ll_index(e, (int64_t)op->value), fabs(op->value)) : none;
    case CODE_LOAD:
        return e->whole_cell.at[op->a] ? twin(LLVMBuildLoad2(builder, e->m->type_index, ll_cell(e, op->a, NULL), ""), CELL_BOUND) : none;
    case CODE_NEG:
        return a.value ? twin(LLVMBuildNSWNeg(builder, a.value, ""), a.bound) : none;
    default:
        break;
    }
    if (!a.value || !b.value)
        return none;
    switch (op->kind) {
    case CODE_ADD: return twin(LLVMBuildNSWAdd(builder, a.value, b.value, ""), a.bound + b.bound);
    case CODE_SUB: return twin(LLVMBuildNSWSub(builder, a.value, b.value, ""), a.bound + b.bound);
    case CODE_MUL: return a.bound*b.bound < EXACT ? twin(LLVMBuildNSWMul(builder, a.value, b.value, ""), a.bound*b.bound) : none;
    case CODE_MIN: return chosen(e, LLVMIntSLT, a, b);
    case CODE_MAX: return chosen(e, LLVMIntSGT, a, b);
    default: return none;
    }
}

static bool
relation(uint8_t kind, LLVMIntPredicate *predicate)
{
    static const struct { uint8_t kind; LLVMIntPredicate predicate; } relations[] = {
        {CODE_LT, LLVMIntSLT}, {CODE_LE, LLVMIntSLE}, {CODE_GT, LLVMIntSGT}, {CODE_GE, LLVMIntSGE}, {CODE_EQ, LLVMIntEQ}, {CODE_NE, LLVMIntNE}};
    for (uint32_t i = 0; i < sizeof relations/sizeof *relations; i++)
        if (relations[i].kind == kind) {
            *predicate = relations[i].predicate;
            return true;
        }
    return false;
}

// Whether a value is what a cell holds that its loop does not move.
static bool
is_steady(const Emitter *e, uint32_t value)
{
    uint32_t from = e->loaded[value].from;
    return from && from - 1 < e->steady_cell.n && e->steady_cell.at[from - 1];
}

static LLVMValueRef
rounded(Emitter *e, LLVMValueRef value, const char *intrinsic)
{
    LLVMTypeRef type = e->m->type_double;
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->m->module, LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic)), &type, 1);
    return LLVMBuildCall2(e->m->builder, LLVMGlobalGetValueType(function), function, &value, 1, "");
}

// The whole number that takes the place of the right side of an order: a relation with it is the same for whole numbers on the left. NaN
// becomes one for which no relation holds.
static LLVMValueRef
whole_bound(Emitter *e, uint8_t kind, LLVMValueRef value)
{
    bool below = kind == CODE_LT || kind == CODE_LE;
    LLVMValueRef low = ll_real(e, -EXACT), high = ll_real(e, EXACT);
    value = rounded(e, value, kind == CODE_LT || kind == CODE_GE ? "llvm.ceil" : "llvm.floor");
    for (int k = 0; k < 2; k++)
        value = below == !k ? ll_choose(e, ll_compare(e, LLVMRealOGT, value, low), value, low)
                            : ll_choose(e, ll_compare(e, LLVMRealOLT, value, high), value, high);
    return LLVMBuildFPToSI(e->m->builder, value, e->m->type_index, "");
}

bool
ll_whole(Emitter *e, const CodeOp *op, const uint32_t *operand, uint32_t n)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMIntPredicate predicate;
    Twin a = n > 0 ? e->twin[operand[0]] : none, b = n > 1 ? e->twin[operand[1]] : none;
    if (relation(op->kind, &predicate)) {
        bool order = op->kind != CODE_EQ && op->kind != CODE_NE;
        if (a.value && !b.value && order && is_steady(e, operand[1]))
            b.value = whole_bound(e, op->kind, e->value[operand[1]]);
        if (!a.value || !b.value)
            return false;
        e->value[op->dest] = LLVMBuildICmp(builder, predicate, a.value, b.value, "");
        return true;
    }
    Twin made = operation_twin(e, op, a, b);
    if (!made.value)
        return false;
    e->twin[op->dest] = made;
    e->value[op->dest] = LLVMBuildSIToFP(builder, made.value, e->m->type_double, "");
    return true;
}

LLVMValueRef
ll_whole_value(Emitter *e, uint32_t value)
{
    LLVMValueRef twin = e->twin ? e->twin[value].value : NULL;
    return twin ? twin : LLVMBuildFPToSI(e->m->builder, e->value[value], e->m->type_index, "");
}
