// ll_pairs.c: sine and cosine of one angle together.
//
// Purpose: rotations take both of the same angle; what they do with it before the polynomials is the same, and is half of their time.
// Method: where an operation list has both, under the same conditions, the one that comes first calls sincos() for both. GNU's C library computes in
//   sincos() what sin() and cos() do, to the last bit (tests/backend/sine_pairs.c), so that the interpreter, which calls these, still has the same values.
// Contract: ll_emitter.h. Complexity: linear in the operations.
#include <string.h>

#include "backend/llvm/ll_emitter.h"

void
ll_find_pairs(Emitter *e, const CodeOps *ops)
{
    U32Vec regions = {0}; // conditions that are open: each side of one is a region
    uint32_t region = 0, made = 0, first;
    Map seen = {0};       // angle and region -> the operation
    for (uint32_t i = 0; i < ops->n; i++) {
        const CodeOp *op = &ops->at[i];
        if (op->kind == CODE_IF)
            vec_push(&regions, region);
        if (op->kind == CODE_IF || op->kind == CODE_ELSE)
            region = ++made;
        else if (op->kind == CODE_END)
            region = vec_pop(&regions);
        if (op->kind != CODE_CALL1 || (op->c != OP_SIN && op->c != OP_COS))
            continue;
        uint64_t key = hash_add(hash_mix(op->a), region);
        if (!map_get(&seen, key, &first)) {
            map_put(&seen, key, i);
        } else if (ops->at[first].a == op->a && ops->at[first].c != op->c) {
            if (!e->partner)
                e->partner = base_calloc(e->code->values + 1, sizeof *e->partner);
            e->partner[ops->at[first].dest] = op->dest + 1;
        }
    }
    vec_free(&regions);
    map_free(&seen);
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
