// step_blocks.c: steps of a program: stretches of plain code, and loops as blocks with their Jacobians; the steps of the initial system.
//
// Purpose: instructions of a causal form become functions in the order in which they run. Method: a loop's inner assignments and
// residuals are one function, their derivatives by the unknowns another (forward accumulation, partial_derivatives.c).
// Contract: lower_inner.h; runtime/model/model.h says what each function computes and what was computed before it is called.
// Complexity: linear in instructions and slots; a block's Jacobian in its entries.
#include "ir/expr/expr_parts.h"
#include "ir/lower/lower_inner.h"

#include <math.h>

// --- loops as blocks

static double
nominal_of(const Lowering *low, Var var)
{
    double nominal = var < low->nominal_of.n ? fabs(low->nominal_of.at[var]) : 0;
    return nominal > 0 && isfinite(nominal) ? nominal : 1;
}

// The inner variables and their equations: where equations may be redundant, and in blocks small enough to be read.
static void
name_inner(Lowering *low, const Causal *causal, const Loop *loop, mdl_block *block)
{
    enum { READABLE = 50 };
    uint32_t n = loop->n_inner;
    if (!loop->constraints && !loop->conditions && !loop->switched && n > READABLE)
        return;
    uint32_t *inner = arena_array(low->arena, uint32_t, n ? n : 1);
    double *nominal = arena_array(low->arena, double, n ? n : 1);
    const char **equation = arena_array(low->arena, const char *, n ? n : 1);
    const char **name = arena_array(low->arena, const char *, n ? n : 1);
    uint8_t *kind = arena_array(low->arena, uint8_t, n ? n : 1);
    for (uint32_t k = 0; k < n; k++) {
        const Assign *assign = &causal->assigns.at[loop->inner + k];
        int sign;
        inner[k] = place_of(low, assign->var, &sign);
        nominal[k] = nominal_of(low, assign->var);
        equation[k] = equation_text(low, assign->equation);
        name[k] = dae_name(low->dae, assign->var);
        kind[k] = name_kind(low, assign->var);
    }
    block->inner_name = name;
    block->inner_kind = kind;
    block->n_inner = n;
    block->inner = inner;
    block->inner_nominal = nominal;
    block->inner_equation = equation;
}

// Places of the continuous variables in an assignment or residual that the block does not determine; each once.
static void
add_known(Lowering *low, Expr shape, uint32_t row, U32Vec *known)
{
    for (uint32_t k = 0; k < expr_nslots(low->dae->exprs, shape); k++) {
        Var var = low->dae->rows.at[row + k];
        int sign;
        uint32_t place, seen;
        if (dae_kind(low->dae, var) != VAR_CONTINUOUS || dae_type(low->dae, var) != TYPE_REAL)
            continue;
        place = place_of(low, var, &sign);
        if (place_get(&low->scratch, place, &seen))
            continue;
        place_put(&low->scratch, place, 0);
        vec_push(known, place);
    }
}

static void
list_known(Lowering *low, const Causal *causal, const Loop *loop, mdl_block *block)
{
    U32Vec known = {0};
    if (!loop->constraints)
        return;
    place_clear(&low->scratch);
    for (uint32_t k = 0; k < block->m; k++)
        place_put(&low->scratch, block->unknown[k], 0);
    for (uint32_t k = 0; k < block->n_inner; k++)
        place_put(&low->scratch, block->inner[k], 0);
    for (uint32_t k = 0; k < loop->n_inner; k++)
        add_known(low, causal->assigns.at[loop->inner + k].shape, causal->assigns.at[loop->inner + k].row, &known);
    for (uint32_t k = 0; k < loop->n; k++)
        add_known(low, causal->residuals.at[loop->residual + k].shape, causal->residuals.at[loop->residual + k].row, &known);
    place_clear(&low->scratch);
    uint32_t *places = arena_array(low->arena, uint32_t, known.n + 1);
    for (uint32_t k = 0; k < known.n; k++)
        places[k] = known.at[k];
    block->known = places;
    block->n_known = known.n;
    vec_free(&known);
}

static void
name_block(Lowering *low, const Causal *causal, const Loop *loop, mdl_block *block, double *nominal)
{
    const char **unknown = arena_array(low->arena, const char *, loop->n);
    uint8_t *kind = arena_array(low->arena, uint8_t, loop->n);
    const char **equation = arena_array(low->arena, const char *, loop->n);
    for (uint32_t k = 0; k < loop->n; k++) {
        unknown[k] = dae_name(low->dae, causal->tears.at[loop->tear + k]);
        kind[k] = name_kind(low, causal->tears.at[loop->tear + k]);
        equation[k] = equation_text(low, causal->residuals.at[loop->residual + k].equation);
        nominal[k] = nominal_of(low, causal->tears.at[loop->tear + k]);
    }
    name_inner(low, causal, loop, block);
    list_known(low, causal, loop, block);
    block->constraints = loop->constraints;
    block->conditions = loop->conditions;
    block->unknown_name = unknown;
    block->unknown_kind = kind;
    block->equation = equation;
    block->nominal = nominal;
}

mdl_block *
step_block(Lowering *low, const Causal *causal, const Loop *loop, const uint32_t *residual_places, const char *name,
           LiftMode mode, InstrVec *code, KnownParts *known, InstrVec *before)
{
    mdl_block *block = arena_new(low->arena, mdl_block);
    uint32_t *unknown = arena_array(low->arena, uint32_t, loop->n), *residual = arena_array(low->arena, uint32_t, loop->n);
    for (uint32_t k = 0; k < loop->n; k++) {
        int sign;
        unknown[k] = place_of(low, causal->tears.at[loop->tear + k], &sign);
        residual[k] = residual_places[k];
        place_put(&low->column_of, unknown[k], k);
        place_put(&low->row_of, residual[k], k);
    }
    for (uint32_t k = 0; k < loop->n_inner; k++) {
        const Assign *assign = &causal->assigns.at[loop->inner + k];
        int sign;
        emit(low, code, mode, assign->shape, assign->row, low->dae->equations.at[assign->equation].span,
             place_of(low, assign->var, &sign));
    }
    for (uint32_t k = 0; k < loop->n; k++) {
        const Residual *at = &causal->residuals.at[loop->residual + k];
        emit(low, code, mode, at->shape, at->row, low->dae->equations.at[at->equation].span, residual[k]);
    }
    InstrVec derivatives = {0};
    EntryVec entries = {0};
    accumulate(low, code->at, code->n, &derivatives, &entries, NULL);
    block->m = loop->n;
    block->unknown = unknown;
    block->residual = residual;
    block->jac = make_matrix(low, &entries, loop->n, loop->n, NULL, &derivatives);
    block->linear = loop->linear;
    block->switched = loop->switched;
    name_block(low, causal, loop, block, arena_array(low->arena, double, loop->n));
    InstrVec eval = {0};
    sort_code(low, code->at, code->n);
    vec_append(&eval, code->at, code->n);
    if (known)
        take_known_parts(known, block, &eval, &derivatives, before);
    add_function(low, arena_printf(low->arena, "%s_eval", name), &eval, true, &block->eval);
    add_function(low, arena_printf(low->arena, "%s_jacobian", name), &derivatives, true, &block->jacobian);
    vec_free(&eval);
    vec_free(&derivatives);
    vec_free(&entries);
    return block;
}

// --- steps

void
step_code(Lowering *low, const char *name, InstrVec *code, bool sort, StepVec *steps, U32Vec *funcs)
{
    if (!code->n)
        return;
    mdl_step step = {0};
    mdl_code unused;
    add_function(low, arena_printf(low->arena, "%s%u", name, steps->n), code, sort, &unused);
    low->sys->fixups.n--; // the step moves; its address is known when all steps are
    vec_push(funcs, low->sys->funcs.n - 1);
    vec_push(steps, step);
    vec_clear(code);
}

mdl_step *
steps_finish(Lowering *low, const StepVec *steps, const U32Vec *funcs)
{
    mdl_step *done = arena_array(low->arena, mdl_step, steps->n ? steps->n : 1);
    for (uint32_t i = 0; i < steps->n; i++) {
        done[i] = steps->at[i];
        if (funcs->at[i] == NONE)
            continue;
        Fixup fixup = {&done[i].call, funcs->at[i]};
        vec_push(&low->sys->fixups, fixup);
    }
    return done;
}

// --- initialisation

void
make_init(Lowering *low)
{
    const Causal *causal = low->in->init;
    StepVec steps = {0};
    U32Vec funcs = {0};
    InstrVec code = {0};
    vec_reserve(&code, causal->assigns.n);
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            const Assign *assign = &causal->assigns.at[item.index];
            int sign;
            emit(low, &code, LIFT_LIVE, assign->shape, assign->row, low->dae->equations.at[assign->equation].span,
                 place_of(low, assign->var, &sign));
            continue;
        }
        step_code(low, "init", &code, true, &steps, &funcs);
        const Loop *loop = &causal->loops.at[item.index];
        uint32_t first = new_places(low, loop->n);
        uint32_t *residuals = arena_array(low->arena, uint32_t, loop->n);
        for (uint32_t k = 0; k < loop->n; k++)
            residuals[k] = first + k;
        mdl_step step = {.block = step_block(low, causal, loop, residuals,
                                             arena_printf(low->arena, "init_block%u", steps.n), LIFT_LIVE, &code, NULL, NULL)};
        vec_clear(&code);
        vec_push(&funcs, NONE);
        vec_push(&steps, step);
    }
    step_code(low, "init", &code, true, &steps, &funcs);
    low->sys->model->n_init = steps.n;
    low->sys->model->init = steps_finish(low, &steps, &funcs);
    vec_free(&steps);
    vec_free(&funcs);
    vec_free(&code);
}
