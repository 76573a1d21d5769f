// affine_values.c: which values of a straight-line program are affine in chosen places, with constant coefficients.
//
// Purpose: conditions.c says how far states may move until a relation can change, and the integrator knows how fast its
//          iteration converges, when the equations are affine.
// Method: forward through the instructions. A shape is affine in a slot as expr_affine() says, so what is piecewise is not; its
//         coefficients must be made of constants and of what changes at events. Sums are affine where their terms are.
// Contract: affine_values.h. Complexity: linear in the instructions; each shape is looked at once per pattern of its slots' bends.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/lower/affine_values.h"

#include <string.h>

enum { DEPTH = 4 }; // an equation, a sum, a product, a sum

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
is_constant(Lowering *low, Expr coefficient, const U32Vec *slots, const uint8_t *bend)
{
    for (uint32_t i = 0; i < slots->n; i++)
        if (bend[slots->at[i]] != FIXED && expr_uses_slot(low->exprs, coefficient, slots->at[i]))
            return false;
    return !expr_has_op(low->exprs, coefficient, OP_TIME);
}

// The bend of an expression of these slots, whose bends are `bend`.
static Bend
bend_in(Lowering *low, bool timely, Expr e, const U32Vec *slots, const uint8_t *bend)
{
    Expr coefficient, rest;
    bool timed = expr_has_op(low->exprs, e, OP_TIME), straight = false;
    for (uint32_t i = 0; i < slots->n; i++) {
        uint32_t k = slots->at[i];
        if (bend[k] == FIXED)
            continue;
        if (bend[k] == TIMED) {
            timed = true;
            continue;
        }
        if (bend[k] == CURVED || !expr_affine(low->exprs, e, k, &coefficient, &rest) || !is_constant(low, coefficient, slots, bend))
            return CURVED;
        straight = true;
    }
    if (timed && !timely)
        return CURVED;
    return straight ? STRAIGHT : timed ? TIMED : FIXED;
}

// The same, by its terms, and factors that stand beside fixed ones, down to a depth: a sum over thousands of unknowns is not taken apart for each of them.
static Bend
bend_of_parts(Lowering *low, bool timely, Expr e, const uint8_t *bend, uint32_t depth)
{
    enum { FEW = 64 };
    Op op = expr_op(low->exprs, e);
    bool sums = op == OP_EQN || op == OP_ADD || op == OP_NEG;
    uint32_t n = depth && (sums || op == OP_MUL || op == OP_DIV) ? expr_nargs(low->exprs, e) : 0, moving = 0;
    Bend most = n ? FIXED : CURVED;
    for (uint32_t i = 0; i < n && most != CURVED; i++) {
        Bend part = bend_of_parts(low, timely, expr_arg(low->exprs, e, i), bend, depth - 1);
        moving += part != FIXED;
        most = !sums && (moving > 1 || (part != FIXED && op == OP_DIV && i)) ? CURVED : part > most ? part : most;
    }
    if (most != CURVED)
        return most;
    // Terms that are curved may make up for each other.
    U32Vec slots = {0};
    expr_used_slots(low->exprs, &e, 1, &slots);
    if (!n || slots.n <= FEW)
        most = bend_in(low, timely, e, &slots, bend);
    vec_free(&slots);
    return most;
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
        known = bend_of_parts(low, bends->free, instr->shape, slots.at, DEPTH);
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
