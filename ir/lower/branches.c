// branches.c: whether equations of motion jump or bend where no event is.
//
// Purpose: integrators with long steps look at few points of a step. Where all that branches is held between events that is enough; noEvent(),
//          smooth() and functions with conditions may jump between two of them.
// Method: forward through the instructions, what moves between events is known (affine_values.h). A comparison, a step, an absolute value
//         and the like of something that moves, or a call that branches, is what is looked for; what lift.c has made of other conditions
//         chooses by held values, which do not move.
// Contract: lower_inner.h. Complexity: linear in the instructions; each shape is looked at once per pattern of what moves in it.
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"
#include "ir/lower/affine_values.h"

// What is decided by its first arguments alone, `n` of them; 0: nothing is.
static uint32_t
deciding(const Exprs *exprs, Expr e)
{
    switch (expr_op(exprs, e)) {
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE: case OP_MIN: case OP_MAX: case OP_LUZ:
        return 2;
    case OP_ABS: case OP_SIGN: case OP_FLOOR: case OP_CEIL: case OP_TRUNC: case OP_IF: case OP_PICK:
        return 1;
    case OP_CALL:
        return routine_call_branches(exprs, e) ? expr_nargs(exprs, e) : 0;
    default:
        return 0;
    }
}

// Whether any of the shapes can branch, whatever moves in it: most models have none.
static bool
may_branch(const Exprs *exprs, const InstrVec *code)
{
    U32Vec parts = {0};
    Map seen = {0};
    bool found = false;
    for (uint32_t i = 0; i < code->n && !found; i++) {
        uint32_t known;
        if (map_get(&seen, code->at[i].shape, &known))
            continue;
        map_put(&seen, code->at[i].shape, 1);
        vec_clear(&parts);
        expr_parts(exprs, code->at[i].shape, &parts);
        for (uint32_t k = 0; k < parts.n && !found; k++)
            found = deciding(exprs, parts.at[k]) > 0;
    }
    map_free(&seen);
    vec_free(&parts);
    return found;
}

// `moves`: per slot of the shape.
static bool
shape_branches(const Exprs *exprs, Expr shape, const U8Vec *moves)
{
    U32Vec parts = {0};
    Map moving = {0}; // parts that move: a part follows its arguments
    bool found = false;
    uint32_t known;
    expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n && !found; i++) {
        Expr part = parts.at[i];
        uint32_t decide = deciding(exprs, part), n = expr_nargs(exprs, part);
        bool moved = expr_op(exprs, part) == OP_TIME || (expr_op(exprs, part) == OP_SLOT && moves->at[expr_slot_of(exprs, part)]);
        for (uint32_t k = 0; k < n && !found; k++) {
            bool argument = map_get(&moving, expr_arg(exprs, part, k), &known);
            moved |= argument;
            found = argument && k < decide;
        }
        if (moved)
            map_put(&moving, part, 1);
    }
    map_free(&moving);
    vec_free(&parts);
    return found;
}

bool
dynamics_branch(Lowering *low, const InstrVec *code)
{
    const mdl_model *model = low->sys->model;
    // What the runtime remembers moves, too.
    bool all = model->n_delays || model->n_transports || low->dae->fractionals.n, found = false;
    Bends bends = {.low = low, .free = true};
    Map decided = {0};
    U8Vec moves = {0};
    if (!may_branch(low->exprs, code))
        return false;
    bends_begin(&bends);
    bends_set(&bends, low->y, low->n);
    bends_set(&bends, low->yp, low->nx);
    bends_follow(&bends, code);
    for (uint32_t i = 0; i < code->n && !found; i++) {
        const Instr *instr = &code->at[i];
        uint64_t key = hash_mix(instr->shape);
        uint32_t known;
        vec_clear(&moves);
        for (uint32_t k = 0; k < expr_nslots(low->exprs, instr->shape); k++) {
            vec_push(&moves, all || bends.of.at[low->sys->places.at[instr->row + k]] != FIXED);
            key = hash_add(key, moves.at[k]);
        }
        if (!map_get(&decided, key, &known)) {
            known = shape_branches(low->exprs, instr->shape, &moves);
            map_put(&decided, key, known);
        }
        found = known;
    }
    vec_free(&moves);
    map_free(&decided);
    bends_free(&bends);
    return found;
}
