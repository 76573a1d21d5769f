// sine_pairs.c: finds sines and cosines of one angle.
//
// Purpose: rotations take both of the same angle; what they do with it before the polynomials is the same, and is half of their time. GNU's C library
//   computes in sincos() what sin() and cos() do, to the last bit (tests/backend/sine_pairs.c).
// Method: operations on one value, under the same conditions, are two of a pair: those that come first.
// Contract: code.h. Complexity: linear in the operations.
#include "backend/code/code.h"
#include "ir/base/map.h"

uint32_t *
code_sine_pairs(const CodeOps *ops, uint32_t values)
{
    U32Vec regions = {0}; // conditions that are open: each side of one is a region
    uint32_t region = 0, made = 0, first, *partner = NULL;
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
            if (!partner)
                partner = base_calloc((size_t)values + 1, sizeof *partner);
            partner[ops->at[first].dest] = op->dest + 1;
        }
    }
    vec_free(&regions);
    map_free(&seen);
    return partner;
}
