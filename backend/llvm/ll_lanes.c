// ll_lanes.c: functions for several runs side by side.
//
// Purpose: an ensemble of runs of one model does the same operations on other numbers: those of several runs stand in one vector.
// Method: the same linear code is emitted once more with vectors in the place of doubles, so that place p of the array v is that of all runs. Both sides
//         of a condition are computed and the value of each run is chosen. Functions of libm are called four at a time by the names that glibc's vector
//         library has for AVX2 (Vector Function ABI for x86-64, 2.3; at most 4 units in the last place). Calls of routines and computed subscripts are not for vectors.
// Contract: llvm.h. Sums and products round as those of one run do. Complexity: that of the code, which is optimised always.
#include <stdio.h>
#include <string.h>

#include "backend/llvm/llvm.h"
#include "ir/base/map.h"

enum { FOUR = 4 };

void
ll_lanes_begin(LlModule *m, uint32_t lanes)
{
    m->lanes = lanes;
    m->type_double = LLVMVectorType(LLVMDoubleTypeInContext(m->context), lanes);
}

void
ll_lanes_end(LlModule *m)
{
    m->lanes = 0;
    m->type_double = LLVMDoubleTypeInContext(m->context);
}

void
ll_lanes_attribute(LlModule *m, LLVMValueRef function)
{
    static const char name[] = "target-features", features[] = "+avx2";
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(m->context, name, sizeof name - 1, features, sizeof features - 1));
}

// `count` numbers of `from`, from number `first` on.
static LLVMValueRef
slice(LlModule *m, LLVMValueRef from, uint32_t first, uint32_t count)
{
    LLVMValueRef number[2 * FOUR];
    for (uint32_t k = 0; k < count; k++)
        number[k] = LLVMConstInt(m->type_int32, first + k, false);
    return LLVMBuildShuffleVector(m->builder, from, LLVMGetUndef(LLVMTypeOf(from)), LLVMConstVector(number, count), "");
}

LLVMValueRef
ll_lanes_call(LlModule *m, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    char symbol[64];
    LLVMTypeRef type = LLVMVectorType(LLVMDoubleTypeInContext(m->context), FOUR), params[2] = {type, type};
    snprintf(symbol, sizeof symbol, "_ZGVdN4%s_%s", b ? "vv" : "v", name);
    LLVMValueRef function = LLVMGetNamedFunction(m->module, symbol), number[2 * FOUR], result[2];
    if (!function)
        function = LLVMAddFunction(m->module, symbol, LLVMFunctionType(type, params, b ? 2 : 1, false));
    for (uint32_t half = 0; half < m->lanes / FOUR; half++) {
        LLVMValueRef args[2] = {slice(m, a, half * FOUR, FOUR), b ? slice(m, b, half * FOUR, FOUR) : NULL};
        result[half] = LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(function), function, args, b ? 2 : 1, "");
    }
    if (m->lanes == FOUR)
        return result[0];
    for (uint32_t k = 0; k < 2 * FOUR; k++)
        number[k] = LLVMConstInt(m->type_int32, k, false);
    return LLVMBuildShuffleVector(m->builder, result[0], result[1], LLVMConstVector(number, 2 * FOUR), "");
}

static void
mark(const Map *function_at, const mdl_code *code, uint8_t *called)
{
    uint32_t f;
    if (map_get(function_at, (uintptr_t)code, &f))
        called[f] = 1;
}

void
ll_lanes_functions(const Sys *sys, bool implicit, uint8_t *called)
{
    const mdl_model *model = sys->model;
    Map function_at = {0};
    sys_functions_at(sys, &function_at);
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_step *step = &model->dynamics[k];
        mark(&function_at, step->block ? &step->block->eval : &step->call, called);
        if (step->block)
            mark(&function_at, &step->block->jacobian, called);
    }
    mark(&function_at, &model->outputs, called);
    mark(&function_at, &model->asserts, called);
    if (implicit)
        mark(&function_at, &model->jacobian, called);
    map_free(&function_at);
}
