// ll_emit.c: linear code to LLVM IR.
//
// Purpose: one LLVM function per piece. A straight piece is one block (more with branches); a loop counts
//   its trips in an i64 and addresses v by start + stride*trip or through a table of int32.
// Method: values are already numbered and shared (code.c), so the IR needs no cleaning before FastISel. Loads
//   of columns that the loop never writes, and all its stores, are told apart by alias scopes; what code.c
//   proved disjoint is the only thing promised to LLVM. Loops through tables are not vectorised: gathers cost
//   more than they gain.
// Contract: no fast-math flags, no contraction: results equal the interpreter's bit for bit. Library calls
//   are `nobuiltin` so that LLVM does not replace them by others (pow by exp2) that round differently.
// Complexity: linear in the code.
#include "backend/ll.h"

#include <llvm-c/DebugInfo.h>
#include <math.h>

typedef struct Emitter {
    LlModule *m;
    const Code *code;
    LLVMValueRef function, v;
    const Routine *routine;    // NULL: of a model's function
    VEC(LLVMValueRef) cell;    // of a routine, by cell: its variable's memory
    VEC(LLVMValueRef) blocks_of; // of a routine: by block
    LLVMValueRef state;        // what calls share
    LLVMValueRef buffer;       // inputs and outputs of calls
    uint32_t buffer_size, outputs_at; // outputs_at: of the last call, in the buffer
    const LlLoop *loop;
    LLVMValueRef *value;       // by value number
    LLVMValueRef trip;         // i64
    LLVMValueRef *address;     // by column: valid in the current trip, outside branches
    VEC(LLVMValueRef) tables;  // by column: base of the table
    VEC(LLVMBasicBlockRef) blocks; // open branches: (true end, else or join) pairs
    VEC(LLVMValueRef) sides;
    U32Vec strides;            // strides whose products are known
    VEC(LLVMValueRef) products;
    LLVMValueRef read_scope;   // of loads that no store of the loop meets; NULL in straight code
    uint32_t depth;
} Emitter;

static LLVMValueRef
index_constant(Emitter *e, int64_t value)
{
    return LLVMConstInt(e->m->type_index, (uint64_t)value, true);
}

static LLVMValueRef
place_address(Emitter *e, LLVMValueRef base, LLVMValueRef index)
{
    return LLVMBuildInBoundsGEP2(e->m->builder, e->m->type_double, base, &index, 1, "");
}

// --- metadata of loops

// A node whose first operand is itself, followed by `rest` (may be NULL).
static LLVMMetadataRef
self_node(LLVMContextRef context, LLVMMetadataRef rest)
{
    LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
    LLVMMetadataRef parts[2] = {self, rest};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, parts, rest ? 2 : 1);
    LLVMMetadataReplaceAllUsesWith(self, node);
    return node;
}

static void
make_scopes(Emitter *e)
{
    LLVMContextRef context = e->m->context;
    LLVMMetadataRef scope = self_node(context, self_node(context, NULL));
    e->read_scope = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, &scope, 1));
}

static void
set_scope(Emitter *e, LLVMValueRef access, const char *kind)
{
    if (e->read_scope)
        LLVMSetMetadata(access, LLVMGetMDKindIDInContext(e->m->context, kind, (unsigned)strlen(kind)),
                        e->read_scope);
}

static void
forbid_vectors(Emitter *e, LLVMValueRef branch)
{
    LLVMContextRef context = e->m->context;
    static const char kind[] = "llvm.loop", name[] = "llvm.loop.vectorize.enable";
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(context, name, sizeof name - 1),
                                LLVMValueAsMetadata(LLVMConstInt(LLVMInt1TypeInContext(context), 0, false))};
    LLVMMetadataRef loop = self_node(context, LLVMMDNodeInContext2(context, parts, 2));
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, kind, sizeof kind - 1),
                    LLVMMetadataAsValue(context, loop));
}

// --- addresses

// v + table[index], a table of int32.
static LLVMValueRef
table_address(Emitter *e, LLVMValueRef table, LLVMValueRef index)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef entry = LLVMBuildInBoundsGEP2(builder, e->m->type_int32, table, &index, 1, "");
    LLVMValueRef place = LLVMBuildLoad2(builder, e->m->type_int32, entry, "");
    set_scope(e, place, "alias.scope");
    return place_address(e, e->v, LLVMBuildZExt(builder, place, e->m->type_index, ""));
}

static LLVMValueRef
table_base(Emitter *e, const Column *column)
{
    const uint32_t *table = e->loop->pieces->tables.at + column->table - 1;
    if (e->loop->absolute)
        return LLVMConstIntToPtr(index_constant(e, (int64_t)(uintptr_t)table), e->m->type_pointer);
    size_t size = e->loop->segment->trips * sizeof *table;
    LLVMValueRef bytes = LLVMConstStringInContext2(e->m->context, (const char *)table, size, true);
    LLVMValueRef global = LLVMAddGlobal(e->m->module, LLVMTypeOf(bytes), "places");
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetAlignment(global, 4);
    return global;
}

// trip * stride, made once per stride outside branches.
static LLVMValueRef
stride_product(Emitter *e, int32_t stride)
{
    if (stride == 1)
        return e->trip;
    for (uint32_t i = 0; i < e->strides.n; i++)
        if (e->strides.at[i] == (uint32_t)stride)
            return e->products.at[i];
    LLVMValueRef product = LLVMBuildNSWMul(e->m->builder, e->trip, index_constant(e, stride), "");
    if (!e->depth && e->strides.n < 16) {
        vec_push(&e->strides, (uint32_t)stride);
        vec_push(&e->products, product);
    }
    return product;
}

static LLVMValueRef
column_address(Emitter *e, uint32_t number)
{
    const Column *column = &e->loop->pieces->columns.at[e->loop->segment->columns + number];
    if (e->address[number])
        return e->address[number];
    LLVMValueRef address;
    if (e->loop->self) {
        address = table_address(e, LLVMGetParam(e->function, 1), index_constant(e, number));
    } else if (column->table) {
        if (!e->tables.at[number])
            e->tables.at[number] = table_base(e, column);
        address = table_address(e, e->tables.at[number], e->trip);
    } else {
        address = place_address(e, e->v, index_constant(e, column->start));
        if (column->stride != 0)
            address = place_address(e, address, stride_product(e, column->stride));
    }
    if (!e->depth && (e->trip || column->stride == 0))
        e->address[number] = address;
    return address;
}

// A variable of a routine has memory of its own, so that LLVM can keep it in registers when no subscript is computed.
static LLVMValueRef
cell_address(Emitter *e, uint32_t cell, LLVMValueRef plus)
{
    const Routine *routine = e->routine;
    uint32_t low = 0, high = routine->extents.n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(routine->extents.at[middle].first <= cell ? &low : &high) = middle;
    }
    LLVMValueRef index = index_constant(e, cell - routine->extents.at[low].first);
    if (plus)
        index = LLVMBuildAdd(e->m->builder, index, plus, "");
    return place_address(e, e->cell.at[low], index);
}

static LLVMValueRef
operand_address(Emitter *e, uint32_t operand)
{
    if (e->routine)
        return cell_address(e, operand, NULL);
    if (e->loop && operand != UINT32_MAX)
        return column_address(e, operand);
    return place_address(e, e->v, index_constant(e, operand == UINT32_MAX ? 0 : operand));
}

// --- operations

static LLVMValueRef
libm_function(LlModule *m, Op op, uint32_t arity)
{
    if (!m->callee[op]) {
        LLVMTypeRef params[2] = {m->type_double, m->type_double};
        m->callee[op] =
            LLVMAddFunction(m->module, libm_name(op), LLVMFunctionType(m->type_double, params, arity, false));
    }
    return m->callee[op];
}

static void
add_attribute(LlModule *m, LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(m->context, kind, 0));
}

static LLVMValueRef
build_call(Emitter *e, LLVMValueRef callee, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[2] = {a, b};
    return LLVMBuildCall2(e->m->builder, LLVMGlobalGetValueType(callee), callee, args, b ? 2 : 1, "");
}

static LLVMValueRef
build_libm(Emitter *e, const CodeOp *op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef call = build_call(e, libm_function(e->m, (Op)op->c, b ? 2 : 1), a, b);
    add_attribute(e->m, call, "memory"); // none
    add_attribute(e->m, call, "nounwind");
    add_attribute(e->m, call, "willreturn");
    add_attribute(e->m, call, "nobuiltin");
    return call;
}

// A function of the processor: llvm.NAME.f64.
static LLVMValueRef
build_intrinsic(Emitter *e, LLVMValueRef *callee, const char *name, LLVMValueRef a)
{
    if (!*callee)
        *callee = LLVMAddFunction(e->m->module, name,
                                  LLVMFunctionType(e->m->type_double, &e->m->type_double, 1, false));
    return build_call(e, *callee, a, NULL);
}

static LLVMValueRef
compare(Emitter *e, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildFCmp(e->m->builder, predicate, a, b, "");
}

static LLVMValueRef
choose(Emitter *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no)
{
    return LLVMBuildSelect(e->m->builder, condition, yes, no, "");
}

// The sequences of arith.h.
static LLVMValueRef
build_piecewise(Emitter *e, CodeKind kind, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef zero = LLVMConstReal(e->m->type_double, 0.0);
    if (kind == CODE_MIN)
        return choose(e, compare(e, LLVMRealOLT, b, a), b, a);
    if (kind == CODE_MAX)
        return choose(e, compare(e, LLVMRealOGT, b, a), b, a);
    if (kind == CODE_SIGN) {
        LLVMValueRef negative =
            choose(e, compare(e, LLVMRealOLT, a, zero), LLVMConstReal(e->m->type_double, -1.0), zero);
        return choose(e, compare(e, LLVMRealOGT, a, zero), LLVMConstReal(e->m->type_double, 1.0), negative);
    }
    LLVMValueRef below = compare(e, LLVMRealOLT, a, LLVMBuildFNeg(builder, b, ""));
    LLVMValueRef lower = choose(e, below, LLVMBuildFAdd(builder, a, b, ""), zero);
    return choose(e, compare(e, LLVMRealOGT, a, b), LLVMBuildFSub(builder, a, b, ""), lower);
}

static LLVMValueRef
build_operation(Emitter *e, const CodeOp *op, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c)
{
    LlModule *m = e->m;
    LLVMBuilderRef builder = m->builder;
    switch (op->kind) {
    case CODE_CONST: return LLVMConstReal(m->type_double, op->value);
    case CODE_ADD: return LLVMBuildFAdd(builder, a, b, "");
    case CODE_SUB: return LLVMBuildFSub(builder, a, b, "");
    case CODE_MUL: return LLVMBuildFMul(builder, a, b, "");
    case CODE_DIV: return LLVMBuildFDiv(builder, a, b, "");
    case CODE_NEG: return LLVMBuildFNeg(builder, a, "");
    case CODE_ABS: return build_intrinsic(e, &m->fabs, "llvm.fabs.f64", a);
    case CODE_SQRT: return build_intrinsic(e, &m->sqrt, "llvm.sqrt.f64", a);
    case CODE_FLOOR: return build_intrinsic(e, &m->floor, "llvm.floor.f64", a);
    case CODE_CEIL: return build_intrinsic(e, &m->ceil, "llvm.ceil.f64", a);
    case CODE_TRUNC: return build_intrinsic(e, &m->trunc, "llvm.trunc.f64", a);
    case CODE_CALL1:
    case CODE_CALL2: return build_libm(e, op, a, b);
    case CODE_LT: return compare(e, LLVMRealOLT, a, b);
    case CODE_LE: return compare(e, LLVMRealOLE, a, b);
    case CODE_GT: return compare(e, LLVMRealOGT, a, b);
    case CODE_GE: return compare(e, LLVMRealOGE, a, b);
    case CODE_EQ: return compare(e, LLVMRealOEQ, a, b);
    case CODE_NE: return compare(e, LLVMRealUNE, a, b);
    case CODE_AND: return LLVMBuildAnd(builder, a, b, "");
    case CODE_OR: return LLVMBuildOr(builder, a, b, "");
    case CODE_NOT: return LLVMBuildNot(builder, a, "");
    case CODE_BOOL: return compare(e, LLVMRealUNE, a, LLVMConstReal(m->type_double, 0.0));
    case CODE_REAL: return choose(e, a, LLVMConstReal(m->type_double, 1.0),
                                  LLVMConstReal(m->type_double, 0.0));
    case CODE_SELECT: return choose(e, a, b, c);
    default: return build_piecewise(e, (CodeKind)op->kind, a, b);
    }
}

static LLVMBasicBlockRef
new_block(Emitter *e)
{
    return LLVMAppendBasicBlockInContext(e->m->context, e->function, "");
}

static void
emit_branch(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef a = e->value[op->a];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    if (op->kind == CODE_IF) {
        LLVMBasicBlockRef yes = new_block(e), no = new_block(e);
        LLVMBuildCondBr(builder, a, yes, no);
        vec_push(&e->blocks, no);
        LLVMPositionBuilderAtEnd(builder, yes);
        e->depth++;
    } else if (op->kind == CODE_ELSE) {
        LLVMBasicBlockRef no = vec_pop(&e->blocks);
        vec_push(&e->blocks, here);
        vec_push(&e->sides, a);
        LLVMPositionBuilderAtEnd(builder, no);
    } else {
        LLVMBasicBlockRef join = new_block(e), from[2] = {vec_pop(&e->blocks), here};
        LLVMValueRef sides[2] = {vec_pop(&e->sides), a};
        LLVMBuildBr(builder, join);
        LLVMPositionBuilderAtEnd(builder, from[0]);
        LLVMBuildBr(builder, join);
        LLVMPositionBuilderAtEnd(builder, join);
        LLVMValueRef phi = LLVMBuildPhi(builder, e->m->type_double, "");
        LLVMAddIncoming(phi, sides, from, 2);
        e->value[op->dest] = phi;
        e->depth--;
    }
}

// --- routines and subscripts

static LLVMValueRef
state_address(Emitter *e, uint32_t offset)
{
    return place_address(e, e->state, index_constant(e, offset));
}

static LLVMValueRef
load_double(Emitter *e, LLVMValueRef address)
{
    return LLVMBuildLoad2(e->m->builder, e->m->type_double, address, "");
}

static LLVMValueRef
real_constant(Emitter *e, double value)
{
    return LLVMConstReal(e->m->type_double, value);
}

// Goes on in a new block when `condition` holds, in *otherwise (to be filled) when it does not, which is rare.
static void
expect_condition(Emitter *e, LLVMValueRef condition, LLVMBasicBlockRef *otherwise)
{
    LLVMBasicBlockRef on = new_block(e);
    *otherwise = new_block(e);
    LLVMValueRef branch = LLVMBuildCondBr(e->m->builder, condition, on, *otherwise);
    LLVMContextRef context = e->m->context;
    LLVMTypeRef type = LLVMInt32TypeInContext(context);
    LLVMMetadataRef parts[3] = {LLVMMDStringInContext2(context, "branch_weights", 14),
                                LLVMValueAsMetadata(LLVMConstInt(type, 1000000, false)),
                                LLVMValueAsMetadata(LLVMConstInt(type, 1, false))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
    LLVMPositionBuilderAtEnd(e->m->builder, on);
}

// The first failure counts, and the first warning; `at` says where it is recorded.
static void
emit_record(Emitter *e, uint32_t at, uint32_t site, const LLVMValueRef *values, uint32_t n)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMBasicBlockRef record = new_block(e), done = new_block(e);
    LLVMValueRef first = compare(e, LLVMRealOEQ, load_double(e, state_address(e, at)), real_constant(e, 0));
    LLVMBuildCondBr(builder, first, record, done);
    LLVMPositionBuilderAtEnd(builder, record);
    LLVMBuildStore(builder, real_constant(e, site + 1.0), state_address(e, at));
    for (uint32_t k = 0; k < n; k++)
        LLVMBuildStore(builder, values[k], state_address(e, at + 1 + k));
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
}

static void
emit_failure(Emitter *e, uint32_t site, const LLVMValueRef *values, uint32_t n)
{
    emit_record(e, 0, site, values, n);
}

static LLVMValueRef
emit_index(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef subscript = e->value[op->a];
    LLVMValueRef inside = LLVMBuildAnd(builder, compare(e, LLVMRealOGE, subscript, real_constant(e, 1)),
                                       compare(e, LLVMRealOLE, subscript, real_constant(e, op->value)), "");
    LLVMBasicBlockRef wrong, from[2], join;
    expect_condition(e, inside, &wrong);
    LLVMValueRef values[2] = {LLVMBuildFSub(builder, subscript, real_constant(e, 1), ""), real_constant(e, NAN)};
    from[0] = LLVMGetInsertBlock(builder);
    join = new_block(e);
    LLVMBuildBr(builder, join);
    LLVMPositionBuilderAtEnd(builder, wrong);
    emit_failure(e, op->c, &subscript, 1);
    from[1] = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, join);
    LLVMPositionBuilderAtEnd(builder, join);
    LLVMValueRef phi = LLVMBuildPhi(builder, e->m->type_double, "");
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

// Address of the element at a computed position, that of the first when there is none; *valid says which.
static LLVMValueRef
element_address(Emitter *e, const CodeOp *op, LLVMValueRef *valid)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef position = e->value[op->b];
    *valid = compare(e, LLVMRealOGE, position, real_constant(e, 0));
    LLVMValueRef safe = choose(e, *valid, position, real_constant(e, 0));
    LLVMValueRef index = LLVMBuildFPToSI(builder, safe, e->m->type_index, "");
    if (e->routine)
        return cell_address(e, op->a, index);
    return place_address(e, e->v, LLVMBuildAdd(builder, index, index_constant(e, op->a), ""));
}

static void
emit_store_at(Emitter *e, const CodeOp *op)
{
    LLVMValueRef valid, address = element_address(e, op, &valid);
    LLVMValueRef old = load_double(e, address);
    LLVMBuildStore(e->m->builder, choose(e, valid, e->value[op->c], old), address);
}

static void
emit_invoke(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    for (uint32_t k = 0; k < op->c; k++)
        LLVMBuildStore(builder, e->value[e->code->operands.at[op->b + k]],
                       place_address(e, e->buffer, index_constant(e, k)));
    e->outputs_at = op->c;
    LLVMValueRef callee = ll_routine(e->m, op->a);
    LLVMValueRef args[3] = {e->buffer, place_address(e, e->buffer, index_constant(e, op->c)), e->state};
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee, args, 3, "");
}

// Operations whose operands stand elsewhere than in values, or that have none.
static bool
emit_special(Emitter *e, const CodeOp *op)
{
    LLVMValueRef valid;
    switch (op->kind) {
    case CODE_INDEX:
        e->value[op->dest] = emit_index(e, op);
        return true;
    case CODE_LOAD_AT: {
        LLVMValueRef element = load_double(e, element_address(e, op, &valid));
        e->value[op->dest] = choose(e, valid, element, real_constant(e, NAN));
        return true;
    }
    case CODE_STORE_AT:
        emit_store_at(e, op);
        return true;
    case CODE_INVOKE:
        emit_invoke(e, op);
        return true;
    case CODE_RESULT:
        e->value[op->dest] =
            load_double(e, place_address(e, e->buffer, index_constant(e, e->outputs_at + op->a)));
        return true;
    default:
        return false;
    }
}

static void
emit_operations(Emitter *e, const CodeOps *ops)
{
    for (uint32_t i = 0; i < ops->n; i++) {
        const CodeOp *op = &ops->at[i];
        uint32_t storage[3], n;
        const uint32_t *operand = code_operands(e->code, op, storage, &n);
        if (emit_special(e, op))
            continue;
        if (op->kind >= CODE_IF) {
            emit_branch(e, op);
        } else if (op->kind == CODE_LOAD) {
            LLVMValueRef load =
                LLVMBuildLoad2(e->m->builder, e->m->type_double, operand_address(e, op->a), "");
            e->value[op->dest] = load;
            if (!op->b)
                set_scope(e, load, "alias.scope");
        } else if (op->kind == CODE_STORE) {
            LLVMValueRef store = LLVMBuildStore(e->m->builder, e->value[op->b], operand_address(e, op->a));
            set_scope(e, store, "noalias");
        } else {
            e->value[op->dest] = build_operation(e, op, n > 0 ? e->value[operand[0]] : NULL,
                                                 n > 1 ? e->value[operand[1]] : NULL,
                                                 n > 2 ? e->value[operand[2]] : NULL);
        }
    }
}

static bool
uses_tables(const LlLoop *loop)
{
    for (uint32_t c = 0; c < loop->segment->n_columns; c++)
        if (loop->pieces->columns.at[loop->segment->columns + c].table)
            return true;
    return false;
}

static void
emit_loop(Emitter *e, const Code *code)
{
    LLVMBuilderRef builder = e->m->builder;
    make_scopes(e);
    vec_grow(&e->tables, e->loop->segment->n_columns + 1);
    emit_operations(e, &code->before);
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(builder), body = new_block(e);
    LLVMBuildBr(builder, body);
    LLVMPositionBuilderAtEnd(builder, body);
    e->trip = LLVMBuildPhi(builder, e->m->type_index, "trip");
    emit_operations(e, &code->body);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(builder), done = new_block(e);
    LLVMValueRef next = LLVMBuildNUWAdd(builder, e->trip, index_constant(e, 1), "");
    LLVMValueRef more =
        LLVMBuildICmp(builder, LLVMIntULT, next, index_constant(e, e->loop->segment->trips), "");
    LLVMValueRef branch = LLVMBuildCondBr(builder, more, body, done);
    LLVMValueRef from[2] = {index_constant(e, 0), next};
    LLVMBasicBlockRef blocks[2] = {entry, latch};
    LLVMAddIncoming(e->trip, from, blocks, 2);
    if (uses_tables(e->loop))
        forbid_vectors(e, branch);
    LLVMPositionBuilderAtEnd(builder, done);
}

static LLVMValueRef
doubles(Emitter *e, uint32_t n)
{
    return LLVMBuildAlloca(e->m->builder, LLVMArrayType2(e->m->type_double, n ? n : 1), "");
}

static void
free_emitter(Emitter *e)
{
    free(e->value);
    free(e->address);
    vec_free(&e->tables);
    vec_free(&e->blocks);
    vec_free(&e->sides);
    vec_free(&e->strides);
    vec_free(&e->products);
    vec_free(&e->cell);
    vec_free(&e->blocks_of);
}

// --- whole routines: void name(const double *inputs, double *outputs, double *state)

static LLVMValueRef
copy_size(Emitter *e, uint32_t n)
{
    return LLVMConstInt(e->m->type_index, 8 * (uint64_t)n, false);
}

// Memory of the variables: inputs are copied, all others begin with 0.
static void
emit_variables(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef inputs = LLVMGetParam(e->function, 0);
    for (uint32_t i = 0; i < e->routine->extents.n; i++) {
        Extent extent = e->routine->extents.at[i];
        LLVMValueRef memory = doubles(e, extent.count);
        vec_push(&e->cell, memory);
        if (extent.first < e->routine->inputs)
            LLVMBuildMemCpy(builder, memory, 8, place_address(e, inputs, index_constant(e, extent.first)), 8,
                            copy_size(e, extent.count));
        else
            LLVMBuildMemSet(builder, memory, LLVMConstInt(LLVMInt8TypeInContext(e->m->context), 0, false),
                            copy_size(e, extent.count), 8);
    }
}

static void
add_to_state(Emitter *e, uint32_t offset, double amount)
{
    LLVMValueRef address = state_address(e, offset), old = load_double(e, address);
    LLVMBuildStore(e->m->builder, LLVMBuildFAdd(e->m->builder, old, real_constant(e, amount), ""), address);
}

// Counts one call or repetition; goes to `failed` after a failure when there are too many.
static void
emit_work(Emitter *e, LLVMBasicBlockRef failed)
{
    LLVMBasicBlockRef wrong;
    add_to_state(e, MDL_CALL_WORK, -1);
    LLVMValueRef left = load_double(e, state_address(e, MDL_CALL_WORK));
    expect_condition(e, compare(e, LLVMRealOGE, left, real_constant(e, 0)), &wrong);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->m->builder);
    LLVMPositionBuilderAtEnd(e->m->builder, wrong);
    emit_failure(e, e->routine->work_site, NULL, 0);
    LLVMBuildBr(e->m->builder, failed);
    LLVMPositionBuilderAtEnd(e->m->builder, here);
}

// The outermost call begins to count; a call that is too deep fails.
static void
emit_entry(Emitter *e, LLVMBasicBlockRef failed)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef bytes = load_double(e, state_address(e, MDL_CALL_BYTES)), work = state_address(e, MDL_CALL_WORK);
    LLVMValueRef outermost = compare(e, LLVMRealOEQ, bytes, real_constant(e, 0));
    LLVMBuildStore(builder, choose(e, outermost, real_constant(e, ROUTINE_WORK), load_double(e, work)), work);
    add_to_state(e, MDL_CALL_BYTES, routine_bytes(e->routine));
    LLVMValueRef now = load_double(e, state_address(e, MDL_CALL_BYTES));
    LLVMBasicBlockRef wrong;
    expect_condition(e, compare(e, LLVMRealOLE, now, real_constant(e, ROUTINE_STACK)), &wrong);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    LLVMPositionBuilderAtEnd(builder, wrong);
    emit_failure(e, e->routine->depth_site, NULL, 0);
    LLVMBuildBr(builder, failed);
    LLVMPositionBuilderAtEnd(builder, here);
    emit_work(e, failed);
}

// Where all returns meet: outputs are what the variables hold, or NaN after a failure.
static void
emit_exit(Emitter *e, LLVMBasicBlockRef leave)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMPositionBuilderAtEnd(builder, leave);
    add_to_state(e, MDL_CALL_BYTES, -routine_bytes(e->routine));
    LLVMValueRef good = compare(e, LLVMRealOEQ, load_double(e, state_address(e, 0)), real_constant(e, 0));
    for (uint32_t k = 0; k < e->routine->outputs; k++) {
        LLVMValueRef value = load_double(e, cell_address(e, e->routine->output + k, NULL));
        LLVMBuildStore(builder, choose(e, good, value, real_constant(e, NAN)),
                       place_address(e, LLVMGetParam(e->function, 1), index_constant(e, k)));
    }
    LLVMBuildRetVoid(builder);
}

static void
emit_block_end(Emitter *e, const Block *block, uint32_t condition, LLVMBasicBlockRef leave)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef values[MDL_FAILURE_VALUES];
    if (block->again)
        emit_work(e, leave);
    switch ((BlockEnd)block->end) {
    case BLOCK_JUMP:
        LLVMBuildBr(builder, LLVMValueAsBasicBlock(e->blocks_of.at[block->to]));
        return;
    case BLOCK_BRANCH:
        LLVMBuildCondBr(builder, e->value[condition], LLVMValueAsBasicBlock(e->blocks_of.at[block->to]),
                        LLVMValueAsBasicBlock(e->blocks_of.at[block->otherwise]));
        return;
    case BLOCK_FAIL:
    case BLOCK_WARN:
        for (uint32_t k = 0; k < block->n_values; k++)
            values[k] = e->value[e->code->operands.at[e->code->operands.n - block->n_values + k]];
        emit_record(e, block->end == BLOCK_WARN ? MDL_CALL_WARNING : 0, block->site, values, block->n_values);
        if (block->end == BLOCK_FAIL)
            break;
        LLVMBuildBr(builder, LLVMValueAsBasicBlock(e->blocks_of.at[block->to]));
        return;
    case BLOCK_RETURN:
        break;
    }
    LLVMBuildBr(builder, leave);
}

// Memory for calls belongs to the entry: the largest call of all blocks is known at the end only, so each block has its own.
static void
emit_block(Emitter *e, Lowering *lowering, const Block *block, LLVMBasicBlockRef entry, LLVMBasicBlockRef leave)
{
    LLVMBasicBlockRef here = LLVMValueAsBasicBlock(e->blocks_of.at[block - e->routine->blocks.at]);
    Code code;
    uint32_t condition = 0;
    lower_block(lowering, &code, e->routine, block, &condition);
    e->code = &code;
    free(e->value);
    e->value = base_calloc(code.values + 1, sizeof *e->value);
    if (code.results > e->buffer_size) {
        LLVMPositionBuilderBefore(e->m->builder, LLVMGetFirstInstruction(entry));
        e->buffer = doubles(e, code.results);
        e->buffer_size = code.results;
    }
    LLVMPositionBuilderAtEnd(e->m->builder, here);
    emit_operations(e, &code.body);
    emit_block_end(e, block, condition, leave);
    code_free(&code);
}

// An external function is called with the inputs, and its results are those of the routine.
static void
emit_external(Emitter *e, LLVMBasicBlockRef leave)
{
    LLVMValueRef callee = ll_external(e->m, e->routine->external->symbol);
    LLVMValueRef args[3] = {LLVMGetParam(e->function, 0), cell_address(e, e->routine->output, NULL), e->state};
    LLVMBuildCall2(e->m->builder, LLVMGlobalGetValueType(callee), callee, args, 3, "");
    LLVMBuildBr(e->m->builder, leave);
}

void
ll_emit_routine(LlModule *m, Lowering *lowering, const Routine *routine)
{
    LLVMValueRef function = ll_routine(m, routine->number);
    Emitter e = {.m = m, .function = function, .routine = routine, .state = LLVMGetParam(function, 2)};
    LLVMBasicBlockRef entry = new_block(&e), leave = new_block(&e);
    LLVMPositionBuilderAtEnd(m->builder, entry);
    emit_variables(&e);
    emit_entry(&e, leave);
    LLVMBasicBlockRef begun = LLVMGetInsertBlock(m->builder);
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        vec_push(&e.blocks_of, LLVMBasicBlockAsValue(new_block(&e)));
    LLVMPositionBuilderAtEnd(m->builder, begun);
    if (routine->external)
        emit_external(&e, leave);
    else
        LLVMBuildBr(m->builder, LLVMValueAsBasicBlock(e.blocks_of.at[0]));
    for (uint32_t b = 0; b < routine->blocks.n; b++)
        emit_block(&e, lowering, &routine->blocks.at[b], entry, leave);
    emit_exit(&e, leave);
    free_emitter(&e);
}

void
ll_emit(LlModule *m, LLVMValueRef function, const Code *code, const LlLoop *loop)
{
    uint32_t columns = loop ? loop->segment->n_columns : 0;
    Emitter e = {.m = m, .code = code, .function = function, .v = LLVMGetParam(function, 0), .loop = loop,
                 .value = base_calloc(code->values + 1, sizeof *e.value),
                 .address = base_calloc(columns + 1, sizeof *e.address)};
    LLVMPositionBuilderAtEnd(m->builder, new_block(&e));
    if (m->failure)
        e.state = place_address(&e, e.v, index_constant(&e, m->failure));
    if (code->results)
        e.buffer = doubles(&e, code->results);
    if (loop && !loop->self) {
        emit_loop(&e, code);
    } else {
        emit_operations(&e, &code->before);
        emit_operations(&e, &code->body);
    }
    LLVMBuildRetVoid(m->builder);
    free_emitter(&e);
}
