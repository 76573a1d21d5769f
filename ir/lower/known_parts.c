// known_parts.c: parts of a loop that it takes as they are.
//
// Purpose: a loop's functions run several times for each evaluation of the model, for residuals and for derivatives. Sines of angles that are known are computed
//          once before it, where both functions find them; and so are those that several steps need, by the first of them. Method: the largest parts that are an elementary
//          function and read nothing that the loop computes become instructions of their own, equal ones once; nothing else changes, so values keep their
//          bits. Functions that may have no value are left where they stand, so that what is said of them names the equation. What several steps need is
//          counted first.
// Contract: lower_inner.h; every place is written by one instruction of the dynamics, before all that read it. Complexity: linear in the parts of the instructions.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/lower/lower_inner.h"

enum { LARGEST_SHARED = 20000 }; // instructions of dynamics whose steps share parts: looking for them takes longer than it can bring in large models

struct KnownParts {
    Lowering *low;
    Map place_of;      // hash of a shape and its places -> where its value stands
    Map counted;       // the same -> the last step that was seen to need it, or SEVERAL
    Map elementary;    // shape -> whether it has such functions
    uint32_t step;     // that is looked at
    bool counts;       // nothing is changed yet
    bool shares;       // what one step alone needs stays where it is
    InstrVec *before;
    U32Vec places;     // of the slots of the present instruction, and of what stands for its parts
    U32Vec slots;
};
enum { SEVERAL = UINT32_MAX - 1 };

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

static void
count(KnownParts *known, uint64_t key)
{
    uint32_t last;
    if (!map_get(&known->counted, key, &last))
        map_put(&known->counted, key, known->step);
    else if (last != known->step)
        map_put(&known->counted, key, SEVERAL);
}

// Where the value of a shape over these places stands; its instruction is made when there is none. False: it stays where it is.
static bool
place_of_part(KnownParts *known, Expr shape, const U32Vec *order, uint32_t *at)
{
    Lowering *low = known->low;
    uint64_t key = hash_mix(shape);
    U32Vec places = {0};
    uint32_t steps = 0;
    for (uint32_t k = 0; k < order->n; k++) {
        vec_push(&places, known->places.at[order->at[k]]);
        key = hash_add(key, places.at[k]);
    }
    if (known->counts)
        count(known, key);
    bool found = map_get(&known->place_of, key, at);
    if (!found && !known->counts && (!known->shares || (map_get(&known->counted, key, &steps) && steps == SEVERAL))) {
        *at = new_places(low, 1);
        map_put(&known->place_of, key, *at);
        emit_places(low, known->before, shape, places.at, *at);
        found = true;
    }
    vec_free(&places);
    return found;
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
    uint32_t place;
    bool taken = place_of_part(known, shape, &order, &place);
    vec_free(&order);
    if (!taken)
        return 0;
    vec_push(&known->places, place);
    Expr value = expr_slot(exprs, known->places.n - 1);
    return other && op != OP_COS ? expr_1(exprs, OP_NEG, value) : value;
}

static bool
has_elementary(KnownParts *known, Expr shape)
{
    uint32_t found;
    if (map_get(&known->elementary, shape, &found))
        return found;
    found = 0;
    for (uint32_t k = 0; k < ELEMENTARY && !found; k++)
        found = expr_has_op(known->low->exprs, shape, elementary[k]);
    map_put(&known->elementary, shape, found);
    return found;
}

static void
take_from(KnownParts *known, Instr *instr)
{
    Lowering *low = known->low;
    if (!has_elementary(known, instr->shape))
        return;
    uint32_t n = expr_nslots(low->exprs, instr->shape);
    vec_clear(&known->places);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&known->places, low->sys->places.at[instr->row + k]);
    Expr made = expr_rewrite(low->exprs, instr->shape, replace_known, known);
    if (made == instr->shape || known->counts)
        return;
    U32Vec order = {0};
    instr->shape = expr_shape(low->exprs, made, &order);
    instr->row = low->sys->places.n;
    for (uint32_t k = 0; k < order.n; k++)
        vec_push(&low->sys->places, known->places.at[order.at[k]]);
    vec_free(&order);
}

KnownParts *
known_parts_create(Lowering *low)
{
    KnownParts *known = base_calloc(1, sizeof *known);
    known->low = low;
    return known;
}

void
known_parts_free(KnownParts **known)
{
    map_free(&(*known)->place_of);
    map_free(&(*known)->counted);
    map_free(&(*known)->elementary);
    vec_free(&(*known)->places);
    vec_free(&(*known)->slots);
    free(*known);
    *known = NULL;
}

void
known_parts_count(KnownParts *known, Instr *code, uint32_t n)
{
    known->counts = true;
    known->step++;
    for (uint32_t i = 0; i < n; i++)
        take_from(known, &code[i]);
    known->counts = false;
}

void
share_known_parts(KnownParts *known, InstrVec *code)
{
    InstrVec done = {0};
    if (!known->counted.count)
        return;
    vec_reserve(&done, code->n);
    known->before = &done;
    known->shares = true;
    for (uint32_t i = 0; i < code->n; i++) {
        take_from(known, &code->at[i]);
        vec_push(&done, code->at[i]);
    }
    known->shares = false;
    sort_code(known->low, done.at, done.n);
    vec_free(code);
    *code = done;
}

bool
shares_parts(const InstrVec *dynamics)
{
    return dynamics->n <= LARGEST_SHARED;
}

void
take_known_parts(KnownParts *known, const mdl_block *block, InstrVec *code, InstrVec *derivatives, InstrVec *before)
{
    Lowering *low = known->low;
    known->before = before;
    place_clear(&low->scratch);
    for (uint32_t k = 0; k < block->m; k++)
        place_put(&low->scratch, block->unknown[k], 0);
    for (uint32_t i = 0; i < code->n; i++)
        place_put(&low->scratch, code->at[i].dest, 0);
    for (uint32_t i = 0; i < derivatives->n; i++)
        place_put(&low->scratch, derivatives->at[i].dest, 0);
    for (uint32_t i = 0; i < code->n; i++)
        take_from(known, &code->at[i]);
    for (uint32_t i = 0; i < derivatives->n; i++)
        take_from(known, &derivatives->at[i]);
    place_clear(&low->scratch);
}
