// dynamics.c: dynamics: the steps of the initial system and of the dynamics, blocks, and the Jacobian.
//
// Purpose: instructions of the causal forms, grouped into plain steps and blocks; what derivatives, loops,
// relations and laws do not need moves to `outputs`, which runs only where results and events are made.
// Method: the steps come from the causal forms in their order; what only results and events read is found by walking the uses backwards.
// Whether all is affine is found by following the unknowns through the instructions.
// Contract: runtime/model/model.h says what each function computes and what was computed before it is called.
// Complexity: linear in instructions and slots; a block's Jacobian in its entries.
#include "ir/dae/locate.h"
#include "ir/dae/variable_paths.h"
#include "ir/lower/affine_values.h"
#include "ir/structure/structure.h"

#include <math.h>
#include <string.h>

const char *
equation_text(Lowering *low, uint32_t equation)
{
    while (map_get(&low->dae->stands_for, equation, &equation))
        continue;
    const Equation *at = &low->dae->equations.at[equation];
    Out out = {0};
    uint32_t inst = locate_equation_inst(low->dae, equation);
    if (locate_print(low->dae, at->span, inst, &out))
        out_text(&out, ": ");
    size_t before = out.length;
    dae_inst_path(low->dae, inst, &out);
    if (out.length > before)
        out_text(&out, ": ");
    dae_print_equation(low->dae, equation, &out);
    const char *text = arena_strndup(low->arena, out.text, out.length);
    out_free(&out);
    return text;
}

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
    for (uint32_t k = 0; k < n; k++) {
        const Assign *assign = &causal->assigns.at[loop->inner + k];
        int sign;
        inner[k] = place_of(low, assign->var, &sign);
        nominal[k] = nominal_of(low, assign->var);
        equation[k] = equation_text(low, assign->equation);
        name[k] = dae_name(low->dae, assign->var);
    }
    block->inner_name = name;
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
    const char **equation = arena_array(low->arena, const char *, loop->n);
    for (uint32_t k = 0; k < loop->n; k++) {
        unknown[k] = dae_name(low->dae, causal->tears.at[loop->tear + k]);
        equation[k] = equation_text(low, causal->residuals.at[loop->residual + k].equation);
        nominal[k] = nominal_of(low, causal->tears.at[loop->tear + k]);
    }
    name_inner(low, causal, loop, block);
    list_known(low, causal, loop, block);
    block->constraints = loop->constraints;
    block->conditions = loop->conditions;
    block->unknown_name = unknown;
    block->equation = equation;
    block->nominal = nominal;
}

// A loop as a block: `code` receives its inner assignments and residuals, which are already in causal order.
static mdl_block *
make_block(Lowering *low, const Causal *causal, const Loop *loop, const uint32_t *residual_places, const char *name,
           LiftMode mode, InstrVec *code)
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
    add_function(low, arena_printf(low->arena, "%s_eval", name), code, true, &block->eval);
    add_function(low, arena_printf(low->arena, "%s_jacobian", name), &derivatives, true, &block->jacobian);
    vec_free(&derivatives);
    vec_free(&entries);
    return block;
}

typedef VEC(mdl_step) StepVec;

static void
add_step_code(Lowering *low, const char *name, InstrVec *code, bool sort, StepVec *steps, U32Vec *funcs)
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

static mdl_step *
finish_steps(Lowering *low, const StepVec *steps, const U32Vec *funcs)
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
        add_step_code(low, "init", &code, true, &steps, &funcs);
        const Loop *loop = &causal->loops.at[item.index];
        uint32_t first = new_places(low, loop->n);
        uint32_t *residuals = arena_array(low->arena, uint32_t, loop->n);
        for (uint32_t k = 0; k < loop->n; k++)
            residuals[k] = first + k;
        mdl_step step = {.block = make_block(low, causal, loop, residuals,
                                             arena_printf(low->arena, "init_block%u", steps.n), LIFT_LIVE, &code)};
        vec_clear(&code);
        vec_push(&funcs, NONE);
        vec_push(&steps, step);
    }
    add_step_code(low, "init", &code, true, &steps, &funcs);
    low->sys->model->n_init = steps.n;
    low->sys->model->init = finish_steps(low, &steps, &funcs);
    vec_free(&steps);
    vec_free(&funcs);
    vec_free(&code);
}

// --- dynamics

// Marks backwards what the derivatives of states, the loops and the relations need.
static void
mark_dynamics(Lowering *low, const InstrVec *code, const U8Vec *in_loop, U8Vec *needed)
{
    U8Vec wanted = {0};
    vec_grow(&wanted, low->nv);
    for (uint32_t i = 0; i < low->nx; i++)
        wanted.at[low->dx + i] = 1;
    for (uint32_t k = 0; k < low->in->reduction->invariants.n; k++)
        wanted.at[low->invariant + k] = 1;
    for (uint32_t i = 0; i < low->relations.n; i++) {
        const Relation *relation = &low->relations.at[i];
        uint32_t n = expr_nslots(low->exprs, relation->shape);
        for (uint32_t k = 0; k < n; k++)
            wanted.at[low->sys->places.at[relation->row + k]] = 1;
    }
    for (uint32_t i = 0; i < low->dae->delays.n; i++) {
        int sign;
        wanted.at[place_of(low, low->dae->delays.at[i].input, &sign)] = 1;
        wanted.at[place_of(low, low->dae->delays.at[i].time, &sign)] = 1;
    }
    for (uint32_t i = 0; i < low->dae->transports.n; i++) {
        const Transport *at = &low->dae->transports.at[i];
        int sign;
        wanted.at[place_of(low, at->in[0], &sign)] = 1;
        wanted.at[place_of(low, at->in[1], &sign)] = 1;
        wanted.at[place_of(low, at->x, &sign)] = 1;
    }
    for (uint32_t i = 0; i < low->dae->fractionals.n; i++) {
        int sign;
        wanted.at[place_of(low, low->dae->fractionals.at[i].input, &sign)] = 1;
    }
    for (uint32_t i = 0; i < low->dae->laws.n; i++) {
        int sign;
        wanted.at[place_of(low, low->dae->laws.at[i].p, &sign)] = 1;
        wanted.at[place_of(low, low->dae->laws.at[i].a, &sign)] = 1;
        wanted.at[place_of(low, low->dae->laws.at[i].x, &sign)] = 1;
        wanted.at[low->sys->model->sgn[i].dx] = 1;
        for (uint32_t level = 0; level < 3; level++)
            wanted.at[low->sys->model->sgn[i].place[level]] = 1;
        wanted.at[low->sys->model->sgn[i].dp] = 1;
        wanted.at[low->sys->model->sgn[i].da] = 1;
    }
    vec_grow(needed, code->n);
    for (uint32_t i = code->n; i-- > 0;) {
        if (!in_loop->at[i] && !wanted.at[code->at[i].dest])
            continue;
        needed->at[i] = 1;
        uint32_t n = expr_nslots(low->exprs, code->at[i].shape);
        for (uint32_t k = 0; k < n; k++)
            wanted.at[low->sys->places.at[code->at[i].row + k]] = 1;
    }
    vec_free(&wanted);
}

typedef struct Piece { // a stretch of the dynamics' instructions: plain, or a loop
    uint32_t first, n, loop;
} Piece;
typedef VEC(Piece) PieceVec;

static void
mark_read(Dae *dae, uint32_t row, uint32_t n, U8Vec *read)
{
    bool negative;
    for (uint32_t k = 0; k < n; k++)
        read->at[dae_alias(dae, dae->rows.at[row + k], &negative)] = 1;
}

static void
mark_read_var(Dae *dae, Var var, U8Vec *read)
{
    bool negative;
    if (var != NONE)
        read->at[dae_alias(dae, var, &negative)] = 1;
}

// Marks the variables that something other than an assignment of the dynamics reads: the integrator, events, loops, laws.
static void
mark_readers(const Lowering *low, U8Vec *read)
{
    Dae *dae = low->dae;
    const Causal *causal = low->in->dynamics, *discretes = low->in->discrete;
    const Reduction *reduction = low->in->reduction;
    for (uint32_t i = 0; i < low->nx; i++)
        mark_read_var(dae, dae->var_der.at[low->state.at[i]], read);
    for (uint32_t i = 0; i < reduction->invariants.n; i++) {
        const Equation *at = &dae->equations.at[reduction->invariants.at[i]];
        mark_read(dae, at->row, expr_nslots(low->exprs, at->shape), read);
    }
    for (uint32_t i = 0; i < causal->loops.n; i++)
        for (uint32_t k = 0; k < causal->loops.at[i].n_inner; k++) {
            const Assign *assign = &causal->assigns.at[causal->loops.at[i].inner + k];
            mark_read(dae, assign->row, expr_nslots(low->exprs, assign->shape), read);
        }
    for (uint32_t i = 0; i < causal->residuals.n; i++)
        mark_read(dae, causal->residuals.at[i].row, expr_nslots(low->exprs, causal->residuals.at[i].shape), read);
    for (uint32_t i = 0; i < discretes->assigns.n; i++)
        mark_read(dae, discretes->assigns.at[i].row, expr_nslots(low->exprs, discretes->assigns.at[i].shape), read);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        mark_read(dae, dae->reinits.at[i].row, expr_nslots(low->exprs, dae->reinits.at[i].value), read);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        mark_read(dae, dae->asserts.at[i].row, expr_nslots(low->exprs, dae->asserts.at[i].condition), read);
    for (uint32_t i = 0; i < dae->jumps.n; i++)
        if (dae->jumps.at[i].state == NONE)
            mark_read(dae, dae->jumps.at[i].row, expr_nslots(low->exprs, dae->jumps.at[i].rest), read);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        const Law *law = &dae->laws.at[i];
        mark_read_var(dae, law->x, read);
        mark_read_var(dae, law->p, read);
        mark_read_var(dae, law->a, read);
        mark_read_var(dae, law->near, read);
    }
    for (uint32_t i = 0; i < dae->delays.n; i++) {
        mark_read_var(dae, dae->delays.at[i].input, read);
        mark_read_var(dae, dae->delays.at[i].time, read);
    }
    for (uint32_t i = 0; i < dae->transports.n; i++) {
        mark_read_var(dae, dae->transports.at[i].in[0], read);
        mark_read_var(dae, dae->transports.at[i].in[1], read);
        mark_read_var(dae, dae->transports.at[i].x, read);
    }
    for (uint32_t i = 0; i < dae->fractionals.n; i++)
        mark_read_var(dae, dae->fractionals.at[i].input, read);
}

static bool
has_kink(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_ABS) || expr_has_op(exprs, e, OP_MIN) || expr_has_op(exprs, e, OP_MAX)
           || expr_has_op(exprs, e, OP_LUZ);
}

// Per assignment of the dynamics whether it is only looked at: nothing but such assignments reads what it gives. Its kinks
// need no events, which would only cut the integrator's steps, or end a run when the arguments differ by noise.
static void
find_seen(const Lowering *low, U8Vec *seen)
{
    const Causal *causal = low->in->dynamics;
    U8Vec read = {0};
    bool any = false;
    for (uint32_t i = 0; i < causal->assigns.n && !any; i++)
        any = has_kink(low->exprs, causal->assigns.at[i].shape);
    if (!any)
        return;
    vec_grow(seen, causal->assigns.n);
    vec_grow(&read, low->dae->nvars);
    mark_readers(low, &read);
    for (uint32_t i = causal->items.n; i-- > 0;) {
        CausalItem item = causal->items.at[i];
        if (item.is_loop)
            continue;
        const Assign *assign = &causal->assigns.at[item.index];
        bool negative;
        seen->at[item.index] = !read.at[dae_alias(low->dae, assign->var, &negative)];
        if (!seen->at[item.index])
            mark_read(low->dae, assign->row, expr_nslots(low->exprs, assign->shape), &read);
    }
    vec_free(&read);
}

static void
emit_dynamics(Lowering *low, InstrVec *code, U8Vec *in_loop, PieceVec *pieces)
{
    const Causal *causal = low->in->dynamics;
    U8Vec seen = {0};
    find_seen(low, &seen);
    vec_reserve(code, causal->assigns.n + causal->residuals.n);
    vec_reserve(in_loop, causal->assigns.n + causal->residuals.n);
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        uint32_t first = code->n;
        if (item.is_loop) {
            const Loop *loop = &causal->loops.at[item.index];
            for (uint32_t k = 0; k < loop->n_inner; k++) {
                const Assign *assign = &causal->assigns.at[loop->inner + k];
                int sign;
                emit(low, code, LIFT_HELD, assign->shape, assign->row,
                     low->dae->equations.at[assign->equation].span, place_of(low, assign->var, &sign));
            }
            for (uint32_t k = 0; k < loop->n; k++) {
                const Residual *at = &causal->residuals.at[loop->residual + k];
                emit(low, code, LIFT_HELD, at->shape, at->row, low->dae->equations.at[at->equation].span,
                     low->r + low->tear_row.at[loop->residual + k]);
            }
        } else {
            const Assign *assign = &causal->assigns.at[item.index];
            int sign;
            emit(low, code, seen.n && seen.at[item.index] ? LIFT_SEEN : LIFT_HELD, assign->shape, assign->row,
                 low->dae->equations.at[assign->equation].span, place_of(low, assign->var, &sign));
        }
        vec_grow(in_loop, code->n - first);
        memset(in_loop->at + first, item.is_loop, code->n - first);
        if (item.is_loop || !pieces->n || vec_last(pieces).loop != NONE) {
            Piece piece = {first, code->n - first, item.is_loop ? item.index : NONE};
            vec_push(pieces, piece);
        } else {
            vec_last(pieces).n += code->n - first;
        }
    }
    vec_free(&seen);
}

// The instructions from `first` on are a plain stretch; it joins the one before.
static void
add_piece(const InstrVec *code, uint32_t first, U8Vec *in_loop, PieceVec *pieces)
{
    vec_grow(in_loop, code->n - first);
    if (code->n == first)
        return;
    Piece piece = {first, code->n - first, NONE};
    if (pieces->n && vec_last(pieces).loop == NONE)
        vec_last(pieces).n += piece.n;
    else
        vec_push(pieces, piece);
}

// dx of a state whose derivative is another variable, as in der(s) = v.
static void
emit_copies(Lowering *low, InstrVec *code, U8Vec *in_loop, PieceVec *pieces)
{
    uint32_t first = code->n;
    for (uint32_t i = 0; i < low->copied.n; i++) {
        uint32_t state = low->copied.at[i];
        Var der = low->dae->var_der.at[low->state.at[state]];
        int sign;
        if (der == NONE)
            continue; // a state that nothing drives keeps its value: dx stays 0
        uint32_t place = place_of(low, der, &sign);
        Expr slot = expr_slot(low->exprs, 0);
        emit_places(low, code, sign < 0 ? expr_1(low->exprs, OP_NEG, slot) : slot, &place, low->dx + state);
    }
    add_piece(code, first, in_loop, pieces);
}

// The values of invariants, after everything they depend on.
static void
emit_invariants(Lowering *low, InstrVec *code, U8Vec *in_loop, PieceVec *pieces)
{
    const Reduction *reduction = low->in->reduction;
    mdl_model *model = low->sys->model;
    uint32_t n = reduction->invariants.n, first = code->n;
    mdl_constraint *table = arena_array(low->arena, mdl_constraint, n ? n : 1);
    low->invariant = new_places(low, n);
    Closings *closings = n ? closings_create(low) : NULL;
    for (uint32_t k = 0; k < n; k++) {
        const Equation at = low->dae->equations.at[reduction->invariants.at[k]];
        table[k] = (mdl_constraint){low->invariant + k, reduction->invariant_level.at[k],
                                    reduction->invariant_depth.at[k], equation_text(low, reduction->invariants.at[k]),
                                    NULL, NULL, MDL_UNIT_OTHER, 0};
        closing_words(low, closings, reduction->invariants.at[k], &table[k]);
        emit_vars(low, code, LIFT_HELD, expr_residual(low->exprs, at.shape), low->dae->rows.at + at.row, at.span, 1,
                  table[k].value);
    }
    if (n)
        closings_free(&closings);
    model->n_constraints = n;
    model->constraint = table;
    add_piece(code, first, in_loop, pieces);
}

// Per state the number of its derivatives in the model.
static const uint8_t *
state_depths(const Lowering *low)
{
    if (!low->in->reduction->invariants.n)
        return NULL;
    uint8_t *depth = arena_array(low->arena, uint8_t, low->nx);
    for (uint32_t i = 0; i < low->nx; i++) {
        depth[i] = 0;
        for (Var v = structure_der(low->dae, variable_at(low, low->y + i)); v != NONE; v = structure_der(low->dae, v))
            depth[i]++;
    }
    return depth;
}

// What a section computes, in the order of computation: two names tell where it stands.
static const char *
section_text(Lowering *low, const InstrVec *code)
{
    const char *first = place_text(low, code->at[0].dest), *last = place_text(low, code->at[code->n - 1].dest);
    return code->n == 1 ? arena_printf(low->arena, "assignment of %s", first)
                        : arena_printf(low->arena, "%u assignments, from %s to %s", code->n, first, last);
}

static void
make_steps(Lowering *low, const InstrVec *code, const U8Vec *needed, const PieceVec *pieces, InstrVec *whole,
           InstrVec *outputs)
{
    const Causal *causal = low->in->dynamics;
    mdl_model *model = low->sys->model;
    StepVec steps = {0};
    U32Vec funcs = {0};
    InstrVec piece_code = {0};
    vec_reserve(whole, code->n);
    for (uint32_t i = 0; i < pieces->n; i++) {
        Piece piece = pieces->at[i];
        vec_clear(&piece_code);
        vec_reserve(&piece_code, piece.n);
        if (piece.loop != NONE) {
            const Loop *loop = &causal->loops.at[piece.loop];
            uint32_t *residuals = arena_array(low->arena, uint32_t, loop->n);
            for (uint32_t k = 0; k < loop->n; k++)
                residuals[k] = low->r + low->tear_row.at[loop->residual + k];
            mdl_step step = {.block = make_block(low, causal, loop, residuals,
                                                 arena_printf(low->arena, "block%u", i), LIFT_HELD, &piece_code)};
            vec_append(whole, piece_code.at, piece_code.n);
            vec_push(&funcs, NONE);
            vec_push(&steps, step);
            continue;
        }
        for (uint32_t k = piece.first; k < piece.first + piece.n; k++) {
            if (needed->at[k])
                vec_push(&piece_code, code->at[k]);
            else
                vec_push(outputs, code->at[k]);
        }
        if (piece_code.n) {
            const char *text = section_text(low, &piece_code);
            sort_code(low, piece_code.at, piece_code.n);
            vec_append(whole, piece_code.at, piece_code.n);
            add_step_code(low, "dynamics", &piece_code, false, &steps, &funcs);
            steps.at[steps.n - 1].text = text;
        }
    }
    model->n_dynamics = steps.n;
    model->dynamics = finish_steps(low, &steps, &funcs);
    vec_free(&steps);
    vec_free(&funcs);
    vec_free(&piece_code);
}

// Invariants have rows of their own, which the projection wants in the states alone.
static bool
may_keep(const Lowering *low)
{
    return !low->sys->model->n_constraints;
}

static void
name_kept(Lowering *low, const Kept *kept)
{
    mdl_model *model = low->sys->model;
    const char **names = arena_array(low->arena, const char *, kept->places.n + 1);
    for (uint32_t k = 0; k < kept->places.n; k++) {
        Var var = variable_at(low, kept->places.at[k]);
        names[k] = var == NONE ? place_text(low, kept->places.at[k]) : dae_name(low->dae, var);
    }
    model->n_kept = kept->places.n;
    model->kept_name = names;
}

// Rows: the unknowns', the invariants', those of kept values. Columns: y, y', kept values. What stays in `entries` are those
// by y and kept values, most of them.
static void
sort_out(const Lowering *low, const Kept *kept, EntryVec *entries, EntryVec *by_yp, EntryVec *by_c)
{
    uint32_t by_y = 0;
    for (uint32_t i = 0; i < entries->n; i++) {
        Entry entry = entries->at[i];
        bool rate = entry.column >= low->n && entry.column < kept->column, invariant = entry.row >= low->n && entry.row < kept->row;
        entry.row -= invariant ? low->n : entry.row >= kept->row ? kept->row - low->n : 0;
        entry.column -= rate ? low->n : entry.column >= kept->column ? kept->column - low->n : 0;
        if (invariant)
            vec_push(by_c, entry);
        else if (rate)
            vec_push(by_yp, entry);
        else
            entries->at[by_y++] = entry;
    }
    entries->n = by_y;
}

// With what the runtime remembers the equations have more unknowns than those of the matrix.
static bool
is_affine(Lowering *low, const InstrVec *whole)
{
    const mdl_model *model = low->sys->model;
    if (model->n_delays || model->n_transports || low->dae->fractionals.n || model->n_rests)
        return false;
    Bends bends = {.low = low, .free = true};
    bends_begin(&bends);
    bends_set(&bends, low->y, low->n);
    bends_set(&bends, low->yp, low->nx);
    bool affine = bends_follow(&bends, whole);
    bends_free(&bends);
    return affine;
}

static void
make_jacobian(Lowering *low, InstrVec *whole)
{
    mdl_model *model = low->sys->model;
    model->affine = is_affine(low, whole);
    InstrVec derivatives = {0};
    EntryVec by_y = {0}, by_yp = {0}, by_c = {0};
    Kept kept = {.row = low->n + model->n_constraints, .column = 2 * low->n};
    for (uint32_t i = 0; i < low->n; i++) {
        place_put(&low->column_of, low->y + i, i);
        place_put(&low->row_of, low->r + i, i);
    }
    for (uint32_t i = 0; i < low->nx; i++) {
        if (low->implicit.at[i])
            place_put(&low->column_of, low->yp + i, low->n + i);
        else
            place_put(&low->row_of, low->dx + i, i);
    }
    for (uint32_t k = 0; k < model->n_constraints; k++)
        place_put(&low->row_of, low->invariant + k, low->n + k);
    // der(x) = y': a state's derivative that is itself a variable of the integrator never is an instruction.
    accumulate(low, whole->at, whole->n, &derivatives, &by_y, may_keep(low) ? &kept : NULL);
    vec_free(whole);
    sort_out(low, &kept, &by_y, &by_yp, &by_c);
    name_kept(low, &kept);
    uint32_t size = low->n + kept.places.n;
    uint8_t *negative = arena_array(low->arena, uint8_t, size + 1);
    for (uint32_t i = 0; i < size; i++)
        negative[i] = i < low->nx ? !low->implicit.at[i] : i >= low->n;
    model->jac_y = make_matrix(low, &by_y, size, size, negative, &derivatives);
    model->jac_yp = make_matrix(low, &by_yp, size, low->n, negative, &derivatives);
    vec_free(&kept.places);
    model->jac_c = make_matrix(low, &by_c, model->n_constraints, low->n, NULL, &derivatives);
    vec_free(&by_y);
    vec_free(&by_yp);
    vec_free(&by_c);
    add_function(low, "jacobian", &derivatives, true, &model->jacobian);
    vec_free(&derivatives);
}

static void
name_unknowns(Lowering *low, const char **names)
{
    Paths paths = {.dae = low->dae};
    Out text = {0};
    for (uint32_t i = 0; i < low->n; i++) {
        text.length = 0;
        paths_var_name(&paths, variable_at(low, low->y + i), &text);
        names[i] = arena_strndup(low->arena, text.text, text.length);
    }
    out_free(&text);
    paths_free(&paths);
}

void
make_dynamics(Lowering *low)
{
    mdl_model *model = low->sys->model;
    InstrVec code = {0}, whole = {0}, outputs = {0};
    U8Vec in_loop = {0}, needed = {0};
    PieceVec pieces = {0};
    emit_dynamics(low, &code, &in_loop, &pieces);
    emit_copies(low, &code, &in_loop, &pieces);
    emit_invariants(low, &code, &in_loop, &pieces);
    // The discrete part and the asserts may hold further relations; they are emitted before marking.
    make_events(low);
    mark_dynamics(low, &code, &in_loop, &needed);
    make_rests(low, &code, &in_loop, &needed);
    make_conditions(low, &code, &in_loop);
    make_forecasts(low, &code, &needed);
    make_steps(low, &code, &needed, &pieces, &whole, &outputs);
    // The Jacobian needs the most memory of all: what is done with goes first.
    vec_free(&code);
    vec_free(&in_loop);
    vec_free(&needed);
    vec_free(&pieces);
    make_jacobian(low, &whole);
    add_function(low, "outputs", &outputs, true, &model->outputs);
    uint8_t *implicit = arena_array(low->arena, uint8_t, low->nx ? low->nx : 1);
    const char **names = arena_array(low->arena, const char *, low->n ? low->n : 1);
    if (low->nx)
        memcpy(implicit, low->implicit.at, low->nx);
    name_unknowns(low, names);
    model->implicit = implicit;
    model->state_depth = state_depths(low);
    model->state_name = names;
    vec_free(&outputs);
}
