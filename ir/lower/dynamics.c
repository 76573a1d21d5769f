// dynamics.c: dynamics: the steps of the dynamics, and the Jacobian.
//
// Purpose: instructions of the causal form, grouped into plain steps and blocks; what is only looked at goes to `outputs`.
// Method: the steps come from the causal form in its order (step_blocks.c), what is needed from the uses (dynamics_uses.c).
// Whether all is affine is found by following the unknowns through the instructions.
// Contract: runtime/model/model.h says what each function computes and what was computed before it is called.
// Complexity: linear in instructions and slots; a block's Jacobian in its entries.
#include "ir/dae/variable_paths.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/lower/affine_values.h"
#include "ir/structure/structure.h"

#include <string.h>

// --- dynamics

typedef struct Piece { // a stretch of the dynamics' instructions: plain, or a loop
    uint32_t first, n, loop;
} Piece;
typedef VEC(Piece) PieceVec;

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
            LiftMode mode = loop->linear ? LIFT_HELD : LIFT_LOOP;
            for (uint32_t k = 0; k < loop->n_inner; k++) {
                const Assign *assign = &causal->assigns.at[loop->inner + k];
                int sign;
                emit(low, code, mode, assign->shape, assign->row,
                     low->dae->equations.at[assign->equation].span, place_of(low, assign->var, &sign));
            }
            for (uint32_t k = 0; k < loop->n; k++) {
                const Residual *at = &causal->residuals.at[loop->residual + k];
                emit(low, code, mode, at->shape, at->row, low->dae->equations.at[at->equation].span,
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

// Which functions of known angles several steps need.
static KnownParts *
count_parts(Lowering *low, const InstrVec *code, const U8Vec *needed, const PieceVec *pieces)
{
    KnownParts *known = known_parts_create(low);
    InstrVec step = {0};
    for (uint32_t i = 0; i < pieces->n && pieces->n > 1 && shares_parts(code); i++) {
        const Piece *piece = &pieces->at[i];
        vec_clear(&step);
        for (uint32_t k = piece->first; k < piece->first + piece->n; k++)
            if (piece->loop != NONE || needed->at[k])
                vec_push(&step, code->at[k]);
        known_parts_count(known, step.at, step.n);
    }
    vec_free(&step);
    return known;
}

static void
make_steps(Lowering *low, const InstrVec *code, const U8Vec *needed, const PieceVec *pieces, InstrVec *whole,
           InstrVec *outputs)
{
    const Causal *causal = low->in->dynamics;
    mdl_model *model = low->sys->model;
    StepVec steps = {0};
    U32Vec funcs = {0};
    InstrVec piece_code = {0}, before = {0};
    vec_reserve(whole, code->n);
    KnownParts *known = count_parts(low, code, needed, pieces);
    for (uint32_t i = 0; i < pieces->n; i++) {
        Piece piece = pieces->at[i];
        vec_clear(&piece_code);
        vec_reserve(&piece_code, piece.n);
        if (piece.loop != NONE) {
            const Loop *loop = &causal->loops.at[piece.loop];
            uint32_t *residuals = arena_array(low->arena, uint32_t, loop->n);
            for (uint32_t k = 0; k < loop->n; k++)
                residuals[k] = low->r + low->tear_row.at[loop->residual + k];
            mdl_step step = {.block = step_block(low, causal, loop, residuals,
                                                 arena_printf(low->arena, "block%u", i),
                                                 loop->linear ? LIFT_HELD : LIFT_LOOP, &piece_code, known, &before)};
            vec_append(whole, piece_code.at, piece_code.n);
            if (before.n) {
                const char *text = arena_printf(low->arena, "%u functions of what the next loop takes as it is", before.n);
                step_code(low, "known", &before, true, &steps, &funcs);
                steps.at[steps.n - 1].text = text;
            }
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
            share_known_parts(known, &piece_code);
            step_code(low, "dynamics", &piece_code, false, &steps, &funcs);
            steps.at[steps.n - 1].text = text;
        }
    }
    model->n_dynamics = steps.n;
    model->dynamics = steps_finish(low, &steps, &funcs);
    known_parts_free(&known);
    vec_free(&steps);
    vec_free(&funcs);
    vec_free(&piece_code);
    vec_free(&before);
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
    model->branches = dynamics_branch(low, whole);
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
    if (!model->n_constraints)
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
    make_invariants(low, whole, &derivatives);
    vec_free(whole);
    add_function(low, "jacobian", &derivatives, true, &model->jacobian);
    vec_free(&derivatives);
}

static void
name_unknowns(Lowering *low, const char **names, uint8_t *kinds)
{
    Paths paths = {.dae = low->dae};
    Out text = {0};
    for (uint32_t i = 0; i < low->n; i++) {
        Var var = variable_at(low, low->y + i);
        kinds[i] = name_kind(low, var);
        text.length = 0;
        if (dae_has_told_name(low->dae, var))
            dae_told_name(low->dae, var, &text);
        else
            paths_var_name(&paths, var, &text);
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
    find_needed(low, &code, &in_loop, &needed);
    make_rests(low, &code, &in_loop, &needed);
    make_conditions(low, &code, &in_loop);
    make_forecasts(low, &code, &needed);
    make_loop_ends(low);
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
    uint8_t *kinds = arena_array(low->arena, uint8_t, low->n ? low->n : 1);
    name_unknowns(low, names, kinds);
    model->implicit = implicit;
    model->state_depth = state_depths(low);
    model->state_name = names;
    model->state_kind = kinds;
    vec_free(&outputs);
}
