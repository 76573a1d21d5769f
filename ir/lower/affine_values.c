// affine_values.c: which values of a straight-line program are affine in chosen places, with constant coefficients.
//
// Purpose: conditions.c says how far states may move until a relation can change, and the integrator knows how fast its
//          iteration converges, when the equations are affine.
// Method: forward through the instructions. A shape is affine in a slot as expr_affine() says, so what is piecewise is not; its
//         coefficients must be made of constants and of what changes at events.
// Contract: affine_values.h. Complexity: linear in the instructions; each shape is looked at once per pattern of its slots' bends.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_parts.h"
#include "ir/lower/affine_values.h"

#include <string.h>

void
bends_begin(Bends *bends)
{
    vec_grow(&bends->of, bends->low->nv);
    memset(bends->of.at, FIXED, bends->low->nv);
}

void
bends_free(Bends *bends)
{
    vec_free(&bends->of);
    map_free(&bends->decided);
}

void
bends_set(Bends *bends, uint32_t first, uint32_t count)
{
    memset(bends->of.at + first, STRAIGHT, count);
}

// A coefficient changes at events only.
static bool
is_constant(Lowering *low, Expr coefficient, uint32_t n, const uint8_t *bend)
{
    for (uint32_t k = 0; k < n; k++)
        if (bend[k] != FIXED && expr_uses_slot(low->exprs, coefficient, k))
            return false;
    return !expr_has_op(low->exprs, coefficient, OP_TIME);
}

// The bend of a shape whose slots have bends.
static Bend
bend_of_shape(Lowering *low, bool free, Expr shape, uint32_t n, const uint8_t *bend)
{
    Expr coefficient, rest;
    bool timed = expr_has_op(low->exprs, shape, OP_TIME), straight = false;
    for (uint32_t k = 0; k < n; k++) {
        if (bend[k] == FIXED || !expr_uses_slot(low->exprs, shape, k))
            continue;
        if (bend[k] == TIMED) {
            timed = true;
            continue;
        }
        if (bend[k] == CURVED || !expr_affine(low->exprs, shape, k, &coefficient, &rest)
            || !is_constant(low, coefficient, n, bend))
            return CURVED;
        straight = true;
    }
    if (timed && !free)
        return CURVED;
    return straight ? STRAIGHT : timed ? TIMED : FIXED;
}

Bend
bend_of(Bends *bends, const Instr *instr)
{
    Lowering *low = bends->low;
    uint32_t n = expr_nslots(low->exprs, instr->shape), known;
    U8Vec slots = {0};
    uint64_t key = hash_mix(instr->shape);
    for (uint32_t k = 0; k < n; k++) {
        vec_push(&slots, bends->of.at[low->sys->places.at[instr->row + k]]);
        key = hash_add(key, slots.at[k]);
    }
    if (!map_get(&bends->decided, key, &known)) {
        known = bend_of_shape(low, bends->free, instr->shape, n, slots.at);
        map_put(&bends->decided, key, known);
    }
    vec_free(&slots);
    return known;
}

bool
bends_follow(Bends *bends, const InstrVec *code)
{
    bool straight = true;
    for (uint32_t i = 0; i < code->n; i++) {
        Bend bend = bend_of(bends, &code->at[i]);
        bends->of.at[code->at[i].dest] = (uint8_t)bend;
        straight = straight && bend != CURVED;
    }
    return straight;
}
