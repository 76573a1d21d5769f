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

// The same, of all slots of an expression; those of many are CURVED.
static Bend
bend_in_few(Lowering *low, bool timely, Expr e, const uint8_t *bend)
{
    enum { FEW = 64 };
    U32Vec slots = {0};
    expr_used_slots(low->exprs, &e, 1, &slots);
    Bend result = slots.n <= FEW ? bend_in(low, timely, e, &slots, bend) : CURVED;
    vec_free(&slots);
    return result;
}

// The bend of a part whose arguments have been looked at: `of` holds the bends of parts by their ids.
static Bend
bend_of_part(Lowering *low, bool timely, Expr part, const uint8_t *bend, const Map *of)
{
    Op op = expr_op(low->exprs, part);
    bool sums = op == OP_EQN || op == OP_ADD || op == OP_NEG, known = sums || op == OP_MUL || op == OP_DIV;
    uint32_t n = expr_nargs(low->exprs, part), moving = 0;
    Bend most = FIXED;
    if (op == OP_SLOT)
        return bend[expr_slot_of(low->exprs, part)] == TIMED && !timely ? CURVED : bend[expr_slot_of(low->exprs, part)];
    if (op == OP_TIME)
        return timely ? TIMED : CURVED;
    for (uint32_t i = 0; i < n && most != CURVED; i++) {
        uint32_t argument = CURVED;
        map_get(of, expr_arg(low->exprs, part, i), &argument);
        moving += argument != FIXED;
        most = !sums && (moving > 1 || (argument != FIXED && op == OP_DIV && i)) && known ? CURVED : argument > most ? argument : most;
    }
    if (known || most == FIXED || most == CURVED)
        return most;
    return bend_in_few(low, timely, part, bend);
}

// The same, through all parts: a sum over thousands of unknowns is not taken apart for each of them.
static Bend
bend_of_parts(Lowering *low, bool timely, Expr e, const uint8_t *bend)
{
    U32Vec parts = {0};
    Map of = {0};
    uint32_t most = CURVED;
    expr_parts(low->exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        map_put(&of, parts.at[i], most = bend_of_part(low, timely, parts.at[i], bend, &of));
    map_free(&of);
    vec_free(&parts);
    return most == CURVED ? bend_in_few(low, timely, e, bend) : (Bend)most; // terms that are curved may make up for each other
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
        known = bend_of_parts(low, bends->free, instr->shape, slots.at);
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
