// operations.c: how many operations a function executes.
//
// Purpose: equations are counted as they are written by the passes; what stands in several equations of a function is computed once in generated code.
// Method: the function as linear code, as the engines have it; constants, loads, stores and conversions are no operations, of a condition both sides count.
// Contract: backend.h. Complexity: linear in the operations.
#include "backend/code/backend.h"
#include "backend/code/code.h"

static bool
is_operation(const CodeOp *op)
{
    switch (op->kind) {
    case CODE_CONST:
    case CODE_LOAD:
    case CODE_LOAD_AT:
    case CODE_STORE:
    case CODE_STORE_AT:
    case CODE_BOOL:
    case CODE_REAL:
    case CODE_INDEX:
    case CODE_TABLE:
    case CODE_RESULT:
    case CODE_ELSE:
    case CODE_END:
        return false;
    default:
        return true;
    }
}

void
backend_operations(const Sys *sys, const uint32_t *func, uint32_t n, uint64_t *operations)
{
    SlotCounts slots = {0};
    Lowering *lowering = lowering_create(sys, &slots);
    for (uint32_t f = 0; f < n; f++) {
        const Func *function = &sys->funcs.at[func[f]];
        operations[f] = 0;
        for (uint32_t done = 0; done < function->count;) {
            Code code;
            done += lower_long(lowering, &code, function->first + done, function->count - done);
            for (uint32_t i = 0; i < code.body.n; i++)
                operations[f] += is_operation(&code.body.at[i]);
            code_free(&code);
        }
    }
    lowering_free(&lowering);
    vec_free(&slots.count);
}
