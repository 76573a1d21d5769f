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

typedef struct Emitter {
    LlModule *m;
    LLVMValueRef function, v;
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

static LLVMValueRef
operand_address(Emitter *e, uint32_t operand)
{
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

static void
emit_operations(Emitter *e, const CodeOps *ops)
{
    for (uint32_t i = 0; i < ops->n; i++) {
        const CodeOp *op = &ops->at[i];
        uint32_t operand[3], n = code_operands(op, operand);
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

void
ll_emit(LlModule *m, LLVMValueRef function, const Code *code, const LlLoop *loop)
{
    uint32_t columns = loop ? loop->segment->n_columns : 0;
    Emitter e = {.m = m, .function = function, .v = LLVMGetParam(function, 0), .loop = loop,
                 .value = base_calloc(code->values + 1, sizeof *e.value),
                 .address = base_calloc(columns + 1, sizeof *e.address)};
    LLVMPositionBuilderAtEnd(m->builder, new_block(&e));
    if (loop && !loop->self) {
        emit_loop(&e, code);
    } else {
        emit_operations(&e, &code->before);
        emit_operations(&e, &code->body);
    }
    LLVMBuildRetVoid(m->builder);
    free(e.value);
    free(e.address);
    vec_free(&e.tables);
    vec_free(&e.blocks);
    vec_free(&e.sides);
    vec_free(&e.strides);
    vec_free(&e.products);
}
