// ll_emit.c: linear code to LLVM IR.
//
// Purpose: one LLVM function per piece. A straight piece is blocks of at most 512 operations (more with branches); a loop counts
//   its trips in an i64 and addresses v by start + stride*trip or through a table of int32.
// Method: values are already numbered and shared (code.c), so the IR needs no cleaning before FastISel. Loads
//   of columns that the loop never writes, and all its stores, are told apart by alias scopes; what code.c
//   proved disjoint is the only thing promised to LLVM. Loops through tables are not vectorised: gathers cost
//   more than they gain.
// Contract: no fast-math flags, no contraction: results equal the interpreter's bit for bit. Library calls
//   are `nobuiltin` so that LLVM does not replace them by others (pow by exp2) that round differently.
// Complexity: linear in the code.
#include "backend/llvm/ll_emitter.h"
#include "ir/expr/op.h"

#include <llvm-c/DebugInfo.h>
#include <math.h>

LLVMValueRef
ll_index(Emitter *e, int64_t value)
{
    return LLVMConstInt(e->m->type_index, (uint64_t)value, true);
}

LLVMValueRef
ll_place(Emitter *e, LLVMValueRef base, LLVMValueRef index)
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

// v + table[index], a table of int32; or where that tangent stands.
static LLVMValueRef
table_address(Emitter *e, LLVMValueRef table, LLVMValueRef index, bool tangent)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef entry = LLVMBuildInBoundsGEP2(builder, e->m->type_int32, table, &index, 1, "");
    LLVMValueRef place = LLVMBuildLoad2(builder, e->m->type_int32, entry, "");
    set_scope(e, place, "alias.scope");
    place = LLVMBuildZExt(builder, place, e->m->type_index, "");
    return tangent ? ll_tangent_place(e, place) : ll_place(e, e->v, place);
}

static LLVMValueRef
table_base(Emitter *e, const Column *column)
{
    const uint32_t *table = e->loop->pieces->tables.at + column->table - 1;
    if (e->loop->absolute)
        return LLVMConstIntToPtr(ll_index(e, (int64_t)(uintptr_t)table), e->m->type_pointer);
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
    LLVMValueRef product = LLVMBuildNSWMul(e->m->builder, e->trip, ll_index(e, stride), "");
    if (!e->depth && e->strides.n < 16) {
        vec_push(&e->strides, (uint32_t)stride);
        vec_push(&e->products, product);
    }
    return product;
}

LLVMValueRef
ll_column(Emitter *e, uint32_t number)
{
    const Column *column = &e->loop->pieces->columns.at[e->loop->segment->columns + number];
    if (e->address[number])
        return e->address[number];
    LLVMValueRef address;
    if (e->loop->self) {
        address = table_address(e, LLVMGetParam(e->function, 1), ll_index(e, number), false);
    } else if (column->table) {
        if (!e->tables.at[number])
            e->tables.at[number] = table_base(e, column);
        address = table_address(e, e->tables.at[number], e->trip, ll_tangent_column(e, column));
    } else if (ll_tangent_column(e, column)) {
        LLVMValueRef place = ll_index(e, column->start);
        if (column->stride != 0)
            place = LLVMBuildNSWAdd(e->m->builder, place, stride_product(e, column->stride), "");
        address = ll_tangent_place(e, place);
    } else {
        address = ll_place(e, e->v, ll_index(e, column->start));
        if (column->stride != 0)
            address = ll_place(e, address, stride_product(e, column->stride));
    }
    if (!e->depth && (e->trip || column->stride == 0))
        e->address[number] = address;
    return address;
}

// *type: of what stands there.
static LLVMValueRef
operand_address(Emitter *e, uint32_t operand, LLVMTypeRef *type)
{
    *type = e->m->type_double;
    LLVMValueRef tangent = e->m->directions ? ll_tangent_address(e, operand, type) : NULL;
    if (tangent)
        return tangent;
    if (e->routine)
        return ll_cell(e, operand, NULL);
    if (e->loop && operand != UINT32_MAX)
        return ll_column(e, operand);
    return ll_place(e, e->v, ll_index(e, operand == UINT32_MAX ? 0 : operand));
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

void
ll_call_attribute(LlModule *m, LLVMValueRef call, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(m->context, kind, value));
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
    if (e->m->lanes)
        return ll_lanes_call(e->m, libm_name((Op)op->c), a, b);
    LLVMValueRef call = build_call(e, libm_function(e->m, (Op)op->c, b ? 2 : 1), a, b);
    ll_call_attribute(e->m, call, "memory", 0); // none
    ll_call_attribute(e->m, call, "nounwind", 0);
    ll_call_attribute(e->m, call, "willreturn", 0);
    ll_call_attribute(e->m, call, "nobuiltin", 0);
    return call;
}

// A function of the processor: llvm.NAME.f64, or of vectors.
static LLVMValueRef
build_intrinsic(Emitter *e, LLVMValueRef *callee, const char *name, LLVMValueRef a)
{
    if (e->m->lanes) {
        unsigned id = LLVMLookupIntrinsicID(name, strlen(name) - strlen(".f64"));
        return build_call(e, LLVMGetIntrinsicDeclaration(e->m->module, id, &e->m->type_double, 1), a, NULL);
    }
    if (!*callee)
        *callee = LLVMAddFunction(e->m->module, name,
                                  LLVMFunctionType(e->m->type_double, &e->m->type_double, 1, false));
    return build_call(e, *callee, a, NULL);
}

LLVMValueRef
ll_compare(Emitter *e, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildFCmp(e->m->builder, predicate, a, b, "");
}

LLVMValueRef
ll_choose(Emitter *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no)
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
        return ll_choose(e, ll_compare(e, LLVMRealOLT, b, a), b, a);
    if (kind == CODE_MAX)
        return ll_choose(e, ll_compare(e, LLVMRealOGT, b, a), b, a);
    if (kind == CODE_SIGN) {
        LLVMValueRef negative =
            ll_choose(e, ll_compare(e, LLVMRealOLT, a, zero), LLVMConstReal(e->m->type_double, -1.0), zero);
        return ll_choose(e, ll_compare(e, LLVMRealOGT, a, zero), LLVMConstReal(e->m->type_double, 1.0), negative);
    }
    LLVMValueRef below = ll_compare(e, LLVMRealOLT, a, LLVMBuildFNeg(builder, b, ""));
    LLVMValueRef lower = ll_choose(e, below, LLVMBuildFAdd(builder, a, b, ""), zero);
    return ll_choose(e, ll_compare(e, LLVMRealOGT, a, b), LLVMBuildFSub(builder, a, b, ""), lower);
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
    case CODE_LT: return ll_compare(e, LLVMRealOLT, a, b);
    case CODE_LE: return ll_compare(e, LLVMRealOLE, a, b);
    case CODE_GT: return ll_compare(e, LLVMRealOGT, a, b);
    case CODE_GE: return ll_compare(e, LLVMRealOGE, a, b);
    case CODE_EQ: return ll_compare(e, LLVMRealOEQ, a, b);
    case CODE_NE: return ll_compare(e, LLVMRealUNE, a, b);
    case CODE_AND: return LLVMBuildAnd(builder, a, b, "");
    case CODE_OR: return LLVMBuildOr(builder, a, b, "");
    case CODE_NOT: return LLVMBuildNot(builder, a, "");
    case CODE_BOOL: return ll_compare(e, LLVMRealUNE, a, LLVMConstReal(m->type_double, 0.0));
    case CODE_REAL: return ll_choose(e, a, LLVMConstReal(m->type_double, 1.0),
                                  LLVMConstReal(m->type_double, 0.0));
    case CODE_SELECT: return ll_choose(e, a, b, c);
    default: return build_piecewise(e, (CodeKind)op->kind, a, b);
    }
}

LLVMBasicBlockRef
ll_block(Emitter *e)
{
    return LLVMAppendBasicBlockInContext(e->m->context, e->function, "");
}

// Of runs side by side some take one side and some the other: both are computed, and the value of each is chosen.
static void
emit_both_sides(Emitter *e, const CodeOp *op)
{
    LLVMValueRef a = e->value[op->a];
    if (op->kind == CODE_END) {
        LLVMValueRef yes = vec_pop(&e->sides), condition = vec_pop(&e->sides);
        e->value[op->dest] = ll_choose(e, condition, yes, a);
        e->depth--;
        return;
    }
    vec_push(&e->sides, a);
    e->depth += op->kind == CODE_IF;
}

static void
emit_branch(Emitter *e, const CodeOp *op)
{
    if (e->m->lanes) {
        emit_both_sides(e, op);
        return;
    }
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef a = e->value[op->a];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    if (op->kind == CODE_IF) {
        LLVMBasicBlockRef yes = ll_block(e), no = ll_block(e);
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
        LLVMBasicBlockRef join = ll_block(e), from[2] = {vec_pop(&e->blocks), here};
        LLVMValueRef sides[2] = {vec_pop(&e->sides), a};
        bool vector = ll_is_vector(sides[0]) || ll_is_vector(sides[1]);
        sides[1] = vector ? ll_broadcast(e, sides[1]) : sides[1];
        LLVMBuildBr(builder, join);
        LLVMPositionBuilderAtEnd(builder, from[0]);
        sides[0] = vector ? ll_broadcast(e, sides[0]) : sides[0];
        LLVMBuildBr(builder, join);
        LLVMPositionBuilderAtEnd(builder, join);
        LLVMValueRef phi = LLVMBuildPhi(builder, LLVMTypeOf(sides[0]), "");
        LLVMAddIncoming(phi, sides, from, 2);
        e->value[op->dest] = phi;
        e->depth--;
    }
}

// --- routines and subscripts

LLVMValueRef
ll_state(Emitter *e, uint32_t offset)
{
    return ll_place(e, e->state, ll_index(e, offset));
}

LLVMValueRef
ll_load(Emitter *e, LLVMValueRef address)
{
    return LLVMBuildLoad2(e->m->builder, e->m->type_double, address, "");
}

LLVMValueRef
ll_real(Emitter *e, double value)
{
    return LLVMConstReal(e->m->type_double, value);
}

// Goes on in a new block when `condition` holds, in *otherwise (to be filled) when it does not, which is rare.
void
ll_expect(Emitter *e, LLVMValueRef condition, LLVMBasicBlockRef *otherwise)
{
    LLVMBasicBlockRef on = ll_block(e);
    *otherwise = ll_block(e);
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
void
ll_record(Emitter *e, uint32_t at, uint32_t site, const LLVMValueRef *values, uint32_t n)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMBasicBlockRef record = ll_block(e), done = ll_block(e);
    LLVMValueRef first = ll_compare(e, LLVMRealOEQ, ll_load(e, ll_state(e, at)), ll_real(e, 0));
    LLVMBuildCondBr(builder, first, record, done);
    LLVMPositionBuilderAtEnd(builder, record);
    LLVMBuildStore(builder, ll_real(e, site + 1.0), ll_state(e, at));
    for (uint32_t k = 0; k < n; k++)
        LLVMBuildStore(builder, values[k], ll_state(e, at + 1 + k));
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
}

// Whether a subscript is from 1 to op->value.
static LLVMValueRef
is_inside(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef subscript = e->value[op->a], whole = e->twin ? e->twin[op->a].value : NULL;
    if (whole)
        return LLVMBuildICmp(builder, LLVMIntULT, LLVMBuildNSWSub(builder, whole, ll_index(e, 1), ""),
                             ll_index(e, (int64_t)op->value), "");
    return LLVMBuildAnd(builder, ll_compare(e, LLVMRealOGE, subscript, ll_real(e, 1)),
                        ll_compare(e, LLVMRealOLE, subscript, ll_real(e, op->value)), "");
}

// In a routine a call that needs a subscript outside its array has failed.
static void
emit_routine_index(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMBasicBlockRef wrong;
    ll_expect(e, is_inside(e, op), &wrong);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    LLVMPositionBuilderAtEnd(builder, wrong);
    ll_record(e, 0, op->c, &e->value[op->a], 1);
    LLVMBuildBr(builder, e->failed);
    LLVMPositionBuilderAtEnd(builder, here);
    LLVMValueRef position = LLVMBuildNSWSub(builder, ll_whole_value(e, op->a), ll_index(e, 1), "");
    e->twin[op->dest] = (Twin){position, op->value};
    e->value[op->dest] = LLVMBuildFSub(builder, e->value[op->a], ll_real(e, 1), "");
}

static LLVMValueRef
emit_index(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef subscript = e->value[op->a];
    LLVMBasicBlockRef wrong, from[2], join;
    ll_expect(e, is_inside(e, op), &wrong);
    LLVMValueRef values[2] = {LLVMBuildFSub(builder, subscript, ll_real(e, 1), ""), ll_real(e, NAN)};
    from[0] = LLVMGetInsertBlock(builder);
    join = ll_block(e);
    LLVMBuildBr(builder, join);
    LLVMPositionBuilderAtEnd(builder, wrong);
    ll_record(e, 0, op->c, &subscript, 1);
    from[1] = LLVMGetInsertBlock(builder);
    LLVMBuildBr(builder, join);
    LLVMPositionBuilderAtEnd(builder, join);
    LLVMValueRef phi = LLVMBuildPhi(builder, e->m->type_double, "");
    LLVMAddIncoming(phi, values, from, 2);
    return phi;
}

// Address of the element at a computed position. In a routine that has not failed there is one; otherwise *valid says whether there is,
// and the address is that of the first where there is none.
static LLVMValueRef
element_address(Emitter *e, const CodeOp *op, LLVMValueRef *valid)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef position = e->value[op->b];
    *valid = NULL;
    if (!e->routine) {
        *valid = ll_compare(e, LLVMRealOGE, position, ll_real(e, 0));
        position = ll_choose(e, *valid, position, ll_real(e, 0));
    }
    if (e->routine)
        return ll_cell(e, op->a, ll_whole_value(e, op->b));
    LLVMValueRef index = LLVMBuildFPToSI(builder, position, e->m->type_index, "");
    return ll_place(e, e->v, LLVMBuildAdd(builder, index, ll_index(e, op->a), ""));
}

// Only routines do this.
static void
emit_store_at(Emitter *e, const CodeOp *op)
{
    LLVMValueRef valid;
    e->stored_at = e->now;
    LLVMBuildStore(e->m->builder, e->value[op->c], element_address(e, op, &valid));
}

// A constant of the code's tables, NaN where the position is outside.
static LLVMValueRef
emit_table(Emitter *e, const CodeOp *op)
{
    LLVMBuilderRef builder = e->m->builder;
    const F64Vec *tables = &e->code->tables;
    if (!e->table) {
        LLVMValueRef *values = base_calloc((size_t)tables->n + 1, sizeof *values);
        for (uint32_t i = 0; i < tables->n; i++)
            values[i] = ll_real(e, tables->at[i]);
        e->table = LLVMAddGlobal(e->m->module, LLVMArrayType2(e->m->type_double, tables->n), "");
        LLVMSetInitializer(e->table, LLVMConstArray2(e->m->type_double, values, tables->n));
        LLVMSetGlobalConstant(e->table, true);
        LLVMSetLinkage(e->table, LLVMPrivateLinkage);
        free(values);
    }
    LLVMValueRef position = e->value[op->b];
    LLVMValueRef valid = LLVMBuildAnd(builder, ll_compare(e, LLVMRealOGE, position, ll_real(e, 0)), ll_compare(e, LLVMRealOLT, position, ll_real(e, op->c)), "");
    position = ll_choose(e, valid, position, ll_real(e, 0));
    LLVMValueRef index = LLVMBuildFPToSI(builder, position, e->m->type_index, "");
    return ll_choose(e, valid, ll_load(e, ll_place(e, e->table, LLVMBuildAdd(builder, index, ll_index(e, op->a), ""))), ll_real(e, NAN));
}

// Operations whose operands stand elsewhere than in values, or that have none.
static bool
emit_special(Emitter *e, const CodeOp *op)
{
    LLVMValueRef valid;
    if (e->m->lanes && op->kind >= CODE_INDEX && op->kind <= CODE_RESULT) {
        e->m->unfit = true;
        if (code_has_value(op))
            e->value[op->dest] = ll_real(e, 0);
        return true;
    }
    switch (op->kind) {
    case CODE_INDEX:
        if (e->routine)
            emit_routine_index(e, op);
        else
            e->value[op->dest] = emit_index(e, op);
        return true;
    case CODE_LOAD_AT: {
        LLVMValueRef element = ll_load(e, element_address(e, op, &valid));
        e->value[op->dest] = valid ? ll_choose(e, valid, element, ll_real(e, NAN)) : element;
        return true;
    }
    case CODE_TABLE:
        e->value[op->dest] = emit_table(e, op);
        return true;
    case CODE_STORE_AT:
        emit_store_at(e, op);
        return true;
    case CODE_INVOKE:
        ll_invoke(e, op);
        return true;
    case CODE_RESULT:
        e->value[op->dest] = ll_result(e, op);
        return true;
    default:
        return false;
    }
}

// Of what a loop writes nothing is known.
static void
note_load(Emitter *e, const CodeOp *op)
{
    if (op->a != UINT32_MAX && !op->b)
        e->loaded[op->dest] = (Loaded){op->a + 1, e->now};
}

LLVMValueRef
ll_value(Emitter *e, uint32_t number)
{
    LLVMTypeRef type;
    if (!e->value[number])
        e->value[number] = ll_load(e, operand_address(e, e->loaded[number].from - 1, &type));
    return e->value[number];
}

// Loads that nothing but one call with many inputs reads: of a table that is handed on all stand one behind the other, and none is emitted.
static void
find_late_loads(Emitter *e, const CodeOps *ops)
{
    enum { MANY = 64 };
    bool any = false;
    e->late.n = 0;
    map_clear(&e->late_at);
    for (uint32_t i = 0; i < ops->n && !any; i++)
        any = ops->at[i].kind == CODE_INVOKE && ops->at[i].c >= MANY;
    if (!any || e->loop || e->routine || e->m->lanes || e->m->directions)
        return;
    vec_grow(&e->late, e->code->values);
    for (uint32_t i = 0; i < ops->n; i++) {
        const CodeOp *op = &ops->at[i];
        if (op->kind == CODE_LOAD && !op->b && op->a != UINT32_MAX)
            e->late.at[op->dest] = 1;
        uint32_t storage[3], n;
        const uint32_t *operand = code_operands(e->code, op, storage, &n);
        // A second use, or one of another kind, needs the value.
        for (uint32_t k = 0; k < n; k++)
            e->late.at[operand[k]] = op->kind == CODE_INVOKE && e->late.at[operand[k]] == 1 ? 2 : 0;
    }
}

static bool
is_late(Emitter *e, const CodeOp *op)
{
    if (!e->late.n || e->late.at[op->dest] != 2)
        return false;
    map_put(&e->late_at, op->a, op->dest);
    return true;
}

static void
load_before_store(Emitter *e, uint32_t place)
{
    uint32_t number;
    if (e->late.n && map_get(&e->late_at, place, &number))
        ll_value(e, number);
}

// Of many constants a table, NULL of few: each that stands in a function is looked for among all of that function.
static LLVMValueRef
table_of_constants(Emitter *e, const CodeOps *ops)
{
    enum { MANY = 200 };
    LLVMValueRef *values = base_calloc((size_t)ops->n + 1, sizeof *values), table = NULL;
    unsigned n = 0;
    for (uint32_t i = 0; i < ops->n; i++)
        if (ops->at[i].kind == CODE_CONST)
            values[n++] = ll_real(e, ops->at[i].value);
    if (n > MANY) {
        table = LLVMAddGlobal(e->m->module, LLVMArrayType2(e->m->type_double, n), "");
        LLVMSetInitializer(table, LLVMConstArray2(e->m->type_double, values, n));
        LLVMSetGlobalConstant(table, true);
        LLVMSetLinkage(table, LLVMPrivateLinkage);
    }
    free(values);
    return table;
}

void
ll_next_block(Emitter *e)
{
    LLVMBasicBlockRef on = ll_block(e);
    LLVMBuildBr(e->m->builder, on);
    LLVMPositionBuilderAtEnd(e->m->builder, on);
}

// Long straight code in blocks: whatever divides one moves all that comes behind it.
static void
divide(Emitter *e, uint32_t i)
{
    enum { LENGTH = 512 };
    if (!e->loop && i % LENGTH == LENGTH - 1)
        ll_next_block(e);
}

void
ll_operations(Emitter *e, const CodeOps *ops)
{
    LLVMValueRef constants = e->m->lanes ? NULL : table_of_constants(e, ops);
    uint32_t constant = 0;
    find_late_loads(e, ops);
    if (!e->m->lanes)
        ll_find_pairs(e, ops);
    for (uint32_t i = 0; i < ops->n; i++) {
        const CodeOp *op = &ops->at[i];
        uint32_t storage[3], n;
        const uint32_t *operand = code_operands(e->code, op, storage, &n);
        e->now++;
        divide(e, i);
        if (constants && op->kind == CODE_CONST) {
            e->value[op->dest] = ll_load(e, ll_place(e, constants, ll_index(e, constant++)));
            continue;
        }
        if (e->m->directions && ll_directions_lack(e, op, operand, n))
            continue;
        if (emit_special(e, op) || (e->twin && ll_whole(e, op, operand, n)) || ll_pair(e, op))
            continue;
        if (op->kind >= CODE_IF) {
            emit_branch(e, op);
        } else if (op->kind == CODE_LOAD) {
            note_load(e, op);
            if (is_late(e, op))
                continue;
            LLVMTypeRef type;
            LLVMValueRef address = operand_address(e, op->a, &type), load = LLVMBuildLoad2(e->m->builder, type, address, "");
            e->value[op->dest] = load;
            if (!op->b)
                set_scope(e, load, "alias.scope");
        } else if (op->kind == CODE_STORE) {
            load_before_store(e, op->a);
            bool whole = e->twin && e->whole_cell.at[op->a];
            LLVMValueRef value = whole ? ll_whole_value(e, op->b) : e->value[op->b];
            LLVMTypeRef type;
            LLVMValueRef address = operand_address(e, op->a, &type);
            LLVMValueRef store = LLVMBuildStore(e->m->builder, type == e->m->type_double ? value : ll_broadcast(e, value), address);
            set_scope(e, store, "noalias");
            map_put(&e->stored, op->a, e->now);
        } else {
            LLVMValueRef of[3] = {n > 0 ? e->value[operand[0]] : NULL, n > 1 ? e->value[operand[1]] : NULL, n > 2 ? e->value[operand[2]] : NULL};
            bool vector = e->m->directions && ll_directions_operands(e, op, of);
            e->value[op->dest] = build_operation(e, op, of[0], of[1], of[2]);
            if (vector)
                ll_lanes_end(e->m);
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
    ll_operations(e, &code->before);
    LLVMValueRef first = ll_index(e, 0), end = ll_index(e, e->loop->segment->trips);
    if (e->loop->divided) {
        LLVMValueRef self = LLVMGetParam(e->function, 1);
        first = LLVMBuildLoad2(builder, e->m->type_index, self, "");
        end = LLVMBuildLoad2(builder, e->m->type_index, ll_place(e, self, ll_index(e, 1)), ""); // a double is as long as an index
    }
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(builder), body = ll_block(e);
    LLVMBuildBr(builder, body);
    LLVMPositionBuilderAtEnd(builder, body);
    e->trip = LLVMBuildPhi(builder, e->m->type_index, "trip");
    ll_operations(e, &code->body);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(builder), done = ll_block(e);
    LLVMValueRef next = LLVMBuildNUWAdd(builder, e->trip, ll_index(e, 1), "");
    LLVMValueRef more = LLVMBuildICmp(builder, LLVMIntULT, next, end, "");
    LLVMValueRef branch = LLVMBuildCondBr(builder, more, body, done);
    LLVMValueRef from[2] = {first, next};
    LLVMBasicBlockRef blocks[2] = {entry, latch};
    LLVMAddIncoming(e->trip, from, blocks, 2);
    if (uses_tables(e->loop))
        forbid_vectors(e, branch);
    LLVMPositionBuilderAtEnd(builder, done);
}

LLVMValueRef
ll_doubles(Emitter *e, uint32_t n)
{
    return LLVMBuildAlloca(e->m->builder, LLVMArrayType2(e->m->type_double, n ? n : 1), "");
}

void
ll_begin_values(Emitter *e, const Code *code)
{
    e->code = code;
    e->table = NULL;
    free(e->value);
    free(e->loaded);
    free(e->twin);
    free(e->partner);
    e->partner = NULL;
    e->twin = e->routine ? base_calloc(code->values + 1, sizeof *e->twin) : NULL;
    e->value = base_calloc(code->values + 1, sizeof *e->value);
    e->loaded = base_calloc(code->values + 1, sizeof *e->loaded);
    map_clear(&e->stored);
}

void
ll_free_emitter(Emitter *e)
{
    free(e->value);
    free(e->loaded);
    free(e->twin);
    free(e->partner);
    free(e->address);
    vec_free(&e->whole_cell);
    vec_free(&e->steady_cell);
    map_free(&e->stored);
    map_free(&e->late_at);
    vec_free(&e->late);
    vec_free(&e->tables);
    vec_free(&e->blocks);
    vec_free(&e->sides);
    vec_free(&e->strides);
    vec_free(&e->products);
    vec_free(&e->cell);
    vec_free(&e->blocks_of);
}

void
ll_emit(LlModule *m, LLVMValueRef function, const Code *code, const LlLoop *loop)
{
    uint32_t columns = loop ? loop->segment->n_columns : 0;
    Emitter e = {.m = m, .function = function, .v = LLVMGetParam(function, 0), .loop = loop,
                 .tangents = m->directions ? LLVMGetParam(function, 1) : NULL, .address = base_calloc(columns + 1, sizeof *e.address)};
    ll_begin_values(&e, code);
    LLVMPositionBuilderAtEnd(m->builder, ll_block(&e));
    if (m->failure)
        e.state = ll_place(&e, e.v, ll_index(&e, m->failure));
    if (code->results)
        e.buffer = ll_doubles(&e, code->results);
    if (loop && !loop->self) {
        emit_loop(&e, code);
    } else {
        ll_operations(&e, &code->before);
        ll_operations(&e, &code->body);
    }
    LLVMBuildRetVoid(m->builder);
    ll_free_emitter(&e);
}
