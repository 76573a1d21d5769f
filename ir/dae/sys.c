// sys.c: life and checks of programs over the value array.
//
// Purpose: create and free a Sys, check it between `lower` and the back ends.
// Method: none: each check is one loop over the instructions.
// Contract: sys_verify reads everything the back ends rely on; a Sys that passes it never makes them
// read or write outside v.  Complexity: linear in instructions and slots; shapes are inspected once.
#include "ir/dae/sys.h"

#include <inttypes.h>

#include "ir/base/map.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"

Sys *
sys_create(Exprs *exprs)
{
    Arena *arena = arena_create();
    Sys *sys = arena_new(arena, Sys);
    sys->arena = arena;
    sys->exprs = exprs;
    return sys;
}

void
sys_free(Sys **sys)
{
    Sys *s = *sys;
    if (!s)
        return;
    vec_free(&s->instrs);
    vec_free(&s->places);
    vec_free(&s->funcs);
    vec_free(&s->fixups);
    vec_free(&s->image);
    vec_free(&s->place_of);
    Arena *arena = s->arena;
    arena_free(&arena);
    *sys = NULL;
}

static void
collect_routines(const Sys *sys, void (*collect)(const Exprs *exprs, Expr e, U8Vec *seen, U32Vec *numbers), U32Vec *numbers)
{
    U8Vec seen = {0}, looked = {0};
    vec_grow(&looked, expr_count(sys->exprs) + 1);
    for (uint32_t i = 0; routine_count(sys->exprs) && i < sys->instrs.n; i++) {
        Expr shape = sys->instrs.at[i].shape;
        if (!looked.at[shape])
            collect(sys->exprs, shape, &seen, numbers);
        looked.at[shape] = 1;
    }
    vec_free(&seen);
    vec_free(&looked);
}

void
sys_routines(const Sys *sys, U32Vec *numbers)
{
    collect_routines(sys, routine_reach, numbers);
}

void
sys_routines_called(const Sys *sys, U32Vec *numbers)
{
    collect_routines(sys, routine_called, numbers);
}

void
sys_functions_at(const Sys *sys, Map *function_at)
{
    for (uint32_t i = 0; i < sys->fixups.n; i++)
        map_put(function_at, (uintptr_t)sys->fixups.at[i].at, sys->fixups.at[i].func);
}

void
sys_mark_computed(const Sys *sys, uint8_t *computed)
{
    const mdl_model *model = sys->model;
    for (uint32_t i = 0; i < model->n; i++)
        computed[model->y + i] = 1;
    for (uint32_t i = 0; i < model->nx; i++)
        computed[model->yp + i] = 1;
    for (uint32_t k = 0; k < model->n_discretes; k++)
        computed[model->discrete[k].value] = 1;
    Map at_rows = {0}; // the places of the tables that name functions which run before a row is written
    map_put(&at_rows, (uintptr_t)&model->outputs, 1);
    for (uint32_t i = 0; i < model->n_dynamics; i++) {
        const mdl_step *step = &model->dynamics[i];
        map_put(&at_rows, step->block ? (uintptr_t)&step->block->eval : (uintptr_t)&step->call, 1);
    }
    for (uint32_t i = 0; i < sys->fixups.n; i++) {
        const Func *func = &sys->funcs.at[sys->fixups.at[i].func];
        uint32_t found;
        bool runs = map_get(&at_rows, (uintptr_t)sys->fixups.at[i].at, &found);
        for (uint32_t k = 0; runs && k < func->count; k++)
            computed[sys->instrs.at[func->first + k].dest] = 1;
    }
    map_free(&at_rows);
}

static bool
check_shape(const Sys *sys, Expr shape, U32Vec *stack, U8Vec *seen, Out *why)
{
    vec_push(stack, shape);
    while (stack->n) {
        Expr e = vec_pop(stack);
        if (seen->at[e])
            continue;
        seen->at[e] = 1;
        Op op = expr_op(sys->exprs, e);
        if (op_table[op].kind == OPKIND_MODEL) {
            out_printf(why, "operator %s of the model language is left in a program", op_table[op].name);
            return false;
        }
        for (uint32_t i = 0; i < expr_nargs(sys->exprs, e); i++)
            vec_push(stack, expr_arg(sys->exprs, e, i));
    }
    return true;
}

static bool
check_instr(const Sys *sys, const Instr *instr, uint32_t slots, uint32_t nv, Out *why)
{
    if (instr->dest >= nv) {
        out_printf(why, "destination v[%" PRIu32 "] is outside v (%" PRIu32 " places)", instr->dest, nv);
        return false;
    }
    if ((uint64_t)instr->row + slots > sys->places.n) {
        out_printf(why, "row %" PRIu32 " with %" PRIu32 " slots is outside the table of places (%" PRIu32 ")",
                   instr->row, slots, sys->places.n);
        return false;
    }
    for (uint32_t k = 0; k < slots; k++)
        if (sys->places.at[instr->row + k] >= nv) {
            out_printf(why, "slot %" PRIu32 " reads v[%" PRIu32 "] outside v (%" PRIu32 " places)", k,
                       sys->places.at[instr->row + k], nv);
            return false;
        }
    return true;
}

static bool
verify_instrs(const Sys *sys, uint32_t nv, Out *why)
{
    U32Vec slots = {0}, stack = {0};
    U8Vec seen = {0};
    uint32_t count = expr_count(sys->exprs);
    vec_grow(&slots, count + 1);
    vec_grow(&seen, count + 1);
    bool good = true;
    for (uint32_t i = 0; good && i < sys->instrs.n; i++) {
        const Instr *instr = &sys->instrs.at[i];
        if (!instr->shape || instr->shape > count) {
            out_printf(why, "no expression %" PRIu32, instr->shape);
            good = false;
        } else if (!slots.at[instr->shape]) {
            good = check_shape(sys, instr->shape, &stack, &seen, why);
            slots.at[instr->shape] = expr_nslots(sys->exprs, instr->shape) + 1;
        }
        good = good && check_instr(sys, instr, slots.at[instr->shape] - 1, nv, why);
        if (!good)
            out_printf(why, " (instruction %" PRIu32 ")\n", i);
    }
    vec_free(&slots);
    vec_free(&stack);
    vec_free(&seen);
    return good;
}

bool
sys_verify(const Sys *sys, Out *why)
{
    if (!sys->model) {
        out_text(why, "a program without a model\n");
        return false;
    }
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if ((uint64_t)sys->funcs.at[f].first + sys->funcs.at[f].count > sys->instrs.n) {
            out_printf(why, "function %s lies outside the instructions\n", sys->funcs.at[f].name);
            return false;
        }
    for (uint32_t i = 0; i < sys->fixups.n; i++)
        if (sys->fixups.at[i].func >= sys->funcs.n || !sys->fixups.at[i].at) {
            out_printf(why, "fixup %" PRIu32 " names no function\n", i);
            return false;
        }
    return verify_instrs(sys, sys->model->nv, why);
}
