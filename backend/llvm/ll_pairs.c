// ll_pairs.c: sine and cosine of one angle together.
//
// Purpose: rotations take both of the same angle; what they do with it before the polynomials is the same, and is half of their time.
// Method: where an operation list has both (code_sine_pairs), the one that comes first calls sincos() for both. GNU's C library computes in
//   sincos() what sin() and cos() do, to the last bit (tests/backend/sine_pairs.c), so that the interpreter, which calls these, still has the same values.
// Contract: ll_emitter.h. Complexity: linear in the operations.
#include "backend/llvm/ll_emitter.h"

void
ll_find_pairs(Emitter *e, const CodeOps *ops)
{
    free(e->partner);
    e->partner = code_sine_pairs(ops, e->code->values);
}

// Two doubles of the function, wherever in it the first pair is.
static LLVMValueRef
pair_memory(Emitter *e)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder), entry = LLVMGetEntryBasicBlock(e->function);
    LLVMValueRef begin = LLVMGetFirstInstruction(entry);
    if (e->pair)
        return e->pair;
    if (begin)
        LLVMPositionBuilderBefore(builder, begin);
    else
        LLVMPositionBuilderAtEnd(builder, entry);
    e->pair = ll_doubles(e, 2);
    LLVMPositionBuilderAtEnd(builder, here);
    return e->pair;
}

bool
ll_pair(Emitter *e, const CodeOp *op)
{
    bool sine = op->kind == CODE_CALL1 && op->c == OP_SIN;
    if (!e->partner || op->kind != CODE_CALL1 || (!sine && op->c != OP_COS))
        return false;
    if (e->value[op->dest]) // with its partner
        return true;
    if (!e->partner[op->dest])
        return false;
    uint32_t other = e->partner[op->dest] - 1;
    LlModule *m = e->m;
    LLVMTypeRef params[3] = {m->type_double, m->type_pointer, m->type_pointer};
    if (!m->sincos)
        m->sincos = LLVMAddFunction(m->module, "sincos", LLVMFunctionType(m->type_void, params, 3, false));
    LLVMValueRef memory = pair_memory(e), args[3] = {e->value[op->a], memory, ll_place(e, memory, ll_index(e, 1))};
    LLVMValueRef call = LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(m->sincos), m->sincos, args, 3, "");
    ll_call_attribute(m, call, "memory", 2); // writes to what its arguments point at
    ll_call_attribute(m, call, "nounwind", 0);
    ll_call_attribute(m, call, "willreturn", 0);
    ll_call_attribute(m, call, "nobuiltin", 0);
    e->value[sine ? op->dest : other] = ll_load(e, args[1]);
    e->value[sine ? other : op->dest] = ll_load(e, args[2]);
    return true;
}
