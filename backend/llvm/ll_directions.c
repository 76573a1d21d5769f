// ll_directions.c: tangents in several directions at once.
//
// Purpose: sensitivities of a run to several parameters are tangents at one point, which share what depends on the point alone.
// Method: vector mode of forward differentiation (Griewank and Walther, Evaluating Derivatives, 2008, 3.3). The linear code of a tangent is emitted once more:
//         what is computed of values stays a number, which is computed once, and what is computed of tangents is a vector with an element for each direction. So
//         functions of libm and branches, which look at values, are those of one direction, and so is every digit. Places of v are numbers in the function's
//         first parameter, tangents vectors in its second one, which begins with that of place 0. Routines that get tangents have no such form.
// Contract: llvm.h. Complexity: that of the code.
#include "backend/llvm/ll_emitter.h"

static LLVMTypeRef
vector_type(const LlModule *m)
{
    return LLVMVectorType(LLVMDoubleTypeInContext(m->context), m->directions);
}

bool
ll_is_vector(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

LLVMValueRef
ll_broadcast(Emitter *e, LLVMValueRef value)
{
    if (ll_is_vector(value))
        return value;
    LLVMBuilderRef builder = e->m->builder;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value), e->m->directions), places = LLVMVectorType(e->m->type_int32, e->m->directions);
    LLVMValueRef one = LLVMBuildInsertElement(builder, LLVMGetUndef(type), value, LLVMConstInt(e->m->type_int32, 0, false), "");
    return LLVMBuildShuffleVector(builder, one, LLVMGetUndef(type), LLVMConstNull(places), "");
}

// --- places

LLVMValueRef
ll_tangent_place(Emitter *e, LLVMValueRef place)
{
    LLVMBuilderRef builder = e->m->builder;
    LLVMValueRef own = LLVMBuildNSWSub(builder, place, ll_index(e, e->m->shift), "");
    return LLVMBuildInBoundsGEP2(builder, vector_type(e->m), e->tangents, &own, 1, "");
}

// All places of a column are values, or all are tangents; otherwise nothing of this may be used.
bool
ll_tangent_column(Emitter *e, const Column *column)
{
    if (!e->m->directions)
        return false;
    bool tangent = column->lo >= e->m->shift;
    e->m->unfit = e->m->unfit || (!tangent && column->hi >= e->m->shift);
    return tangent;
}

LLVMValueRef
ll_tangent_address(Emitter *e, uint32_t operand, LLVMTypeRef *type)
{
    if (operand == UINT32_MAX)
        return NULL;
    bool tangent = e->loop ? ll_tangent_column(e, &e->loop->pieces->columns.at[e->loop->segment->columns + operand]) : operand >= e->m->shift;
    if (!tangent)
        return NULL;
    *type = vector_type(e->m);
    return e->loop ? ll_column(e, operand) : ll_tangent_place(e, ll_index(e, operand));
}

// --- operations

bool
ll_directions_lack(Emitter *e, const CodeOp *op, const uint32_t *operand, uint32_t n)
{
    bool lacks = false, of_values = op->kind == CODE_CALL1 || op->kind == CODE_CALL2 || op->kind == CODE_IF || (op->kind >= CODE_INDEX && op->kind <= CODE_RESULT);
    for (uint32_t k = 0; k < n && of_values; k++)
        lacks = lacks || (e->value[operand[k]] && ll_is_vector(e->value[operand[k]]));
    bool tangent = op->kind == CODE_LOAD_AT && op->a >= e->m->shift;
    if (op->kind == CODE_STORE && ll_is_vector(e->value[op->b])) {
        LLVMTypeRef type;
        tangent = !ll_tangent_address(e, op->a, &type);
    }
    if (!lacks && !tangent)
        return false;
    e->m->unfit = true;
    if (op->kind == CODE_IF) { // what follows needs two sides
        e->value[op->a] = LLVMConstInt(LLVMInt1TypeInContext(e->m->context), 1, false);
        return false;
    }
    if (code_has_value(op))
        e->value[op->dest] = ll_real(e, 0);
    return true;
}

bool
ll_directions_operands(Emitter *e, const CodeOp *op, LLVMValueRef operand[3])
{
    uint32_t first = op->kind == CODE_SELECT && !ll_is_vector(operand[0]), n = 0;
    bool any = false;
    for (; n < 3 && operand[n]; n++)
        any = any || (n >= first && ll_is_vector(operand[n]));
    if (!any)
        return false;
    for (uint32_t k = first; k < n; k++)
        operand[k] = ll_broadcast(e, operand[k]);
    ll_lanes_begin(e->m, e->m->directions);
    return true;
}

void
ll_directions_functions(const Sys *sys, uint8_t *called)
{
    const mdl_tangents *tangents = sys->model->tangents;
    Map function_at = {0};
    uint32_t f;
    sys_functions_at(sys, &function_at);
    for (uint32_t k = 0; k < tangents->n_dynamics; k++)
        if (map_get(&function_at, (uintptr_t)&tangents->dynamics[k], &f))
            called[f] = 1;
    if (map_get(&function_at, (uintptr_t)&tangents->outputs, &f))
        called[f] = 1;
    map_free(&function_at);
}
