// known_parts.c: parts of a loop that it takes as they are.
//
// Purpose: a loop's functions run several times for each evaluation of the model, for residuals and for derivatives. Sines of angles that are known are computed
//          once before it, where both functions find them. Method: the largest parts that are an elementary function and read nothing that the loop computes
//          become instructions of their own, equal ones once; nothing else changes, so values keep their bits. Functions that may have no value are left where
//          they stand, so that what is said of them names the equation.
// Contract: lower_inner.h. Complexity: linear in the parts of the instructions.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/lower/lower_inner.h"

typedef struct KnownParts {
    Lowering *low;
    Map place_of;      // hash of a shape and its places -> where its value stands
    InstrVec *before;
    U32Vec places;     // of the slots of the present instruction, and of what stands for its parts
    U32Vec slots;
} KnownParts;

// Defined for all numbers.
static const Op elementary[] = {OP_SIN, OP_COS, OP_TAN, OP_TANH, OP_ATAN, OP_ATAN2};
enum { ELEMENTARY = sizeof elementary / sizeof *elementary };

static bool
is_elementary(Op op)
{
    bool found = false;
    for (uint32_t k = 0; k < ELEMENTARY && !found; k++)
        found = op == elementary[k];
    return found;
}

// Where the value of a shape over these places stands; its instruction is made when there is none.
static uint32_t
place_of_part(KnownParts *known, Expr shape, const U32Vec *order)
{
    Lowering *low = known->low;
    uint64_t key = hash_mix(shape);
    U32Vec places = {0};
    uint32_t place;
    for (uint32_t k = 0; k < order->n; k++) {
        vec_push(&places, known->places.at[order->at[k]]);
        key = hash_add(key, places.at[k]);
    }
    if (!map_get(&known->place_of, key, &place)) {
        place = new_places(low, 1);
        map_put(&known->place_of, key, place);
        emit_places(low, known->before, shape, places.at, place);
    }
    vec_free(&places);
    return place;
}

// b - a where the argument is a - b and a stands behind b; else 0. Differences of two numbers are each other's negatives to the last bit, and so are odd
// functions of them, so that sin(q1 - q2) and sin(q2 - q1) are computed once.
static Expr
turned(const KnownParts *known, Exprs *exprs, Expr argument)
{
    if (expr_op(exprs, argument) != OP_ADD || expr_nargs(exprs, argument) != 2)
        return 0;
    Expr a = expr_arg(exprs, argument, 0), minus = expr_arg(exprs, argument, 1);
    if (expr_op(exprs, a) != OP_SLOT || expr_op(exprs, minus) != OP_NEG || expr_op(exprs, expr_arg(exprs, minus, 0)) != OP_SLOT)
        return 0;
    Expr b = expr_arg(exprs, minus, 0);
    const uint32_t *place = known->places.at;
    return place[expr_slot_of(exprs, a)] > place[expr_slot_of(exprs, b)] ? expr_sub(exprs, b, a) : 0;
}

static Expr
replace_known(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    KnownParts *known = context;
    uint32_t determined;
    Op op = expr_op(exprs, part);
    if (!is_elementary(op))
        return 0;
    Expr other = op == OP_ATAN2 ? 0 : turned(known, exprs, args[0]);
    Expr made = other ? expr_1(exprs, op, other) : expr_make(exprs, op, args, expr_nargs(exprs, part));
    vec_clear(&known->slots);
    expr_used_slots(exprs, &made, 1, &known->slots);
    for (uint32_t k = 0; k < known->slots.n; k++)
        if (place_get(&known->low->scratch, known->places.at[known->slots.at[k]], &determined))
            return 0;
    U32Vec order = {0};
    Expr shape = expr_shape(exprs, made, &order);
    vec_push(&known->places, place_of_part(known, shape, &order));
    vec_free(&order);
    Expr value = expr_slot(exprs, known->places.n - 1);
    return other && op != OP_COS ? expr_1(exprs, OP_NEG, value) : value;
}

static bool
has_elementary(const Exprs *exprs, Expr shape)
{
    bool found = false;
    for (uint32_t k = 0; k < ELEMENTARY && !found; k++)
        found = expr_has_op(exprs, shape, elementary[k]);
    return found;
}

static void
take_from(KnownParts *known, InstrVec *code)
{
    Lowering *low = known->low;
    for (uint32_t i = 0; i < code->n; i++) {
        Instr *instr = &code->at[i];
        if (!has_elementary(low->exprs, instr->shape))
            continue;
        uint32_t n = expr_nslots(low->exprs, instr->shape);
        vec_clear(&known->places);
        for (uint32_t k = 0; k < n; k++)
            vec_push(&known->places, low->sys->places.at[instr->row + k]);
        Expr made = expr_rewrite(low->exprs, instr->shape, replace_known, known);
        if (made == instr->shape)
            continue;
        U32Vec order = {0};
        instr->shape = expr_shape(low->exprs, made, &order);
        instr->row = low->sys->places.n;
        for (uint32_t k = 0; k < order.n; k++)
            vec_push(&low->sys->places, known->places.at[order.at[k]]);
        vec_free(&order);
    }
}

void
take_known_parts(Lowering *low, const mdl_block *block, InstrVec *code, InstrVec *derivatives, InstrVec *before)
{
    KnownParts known = {.low = low, .before = before};
    place_clear(&low->scratch);
    for (uint32_t k = 0; k < block->m; k++)
        place_put(&low->scratch, block->unknown[k], 0);
    for (uint32_t i = 0; i < code->n; i++)
        place_put(&low->scratch, code->at[i].dest, 0);
    for (uint32_t i = 0; i < derivatives->n; i++)
        place_put(&low->scratch, derivatives->at[i].dest, 0);
    take_from(&known, code);
    take_from(&known, derivatives);
    place_clear(&low->scratch);
    map_free(&known.place_of);
    vec_free(&known.places);
    vec_free(&known.slots);
}
