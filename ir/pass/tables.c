// Tables: parameters, initial system, dynamics, events and results of the compiled model.
//
// Purpose: fills runtime/model.h's tables and makes the functions they refer to.
// Contract: lower.h; runtime/model.h says what each function computes and what was computed before it is called.
#include "ir/pass/lower.h"

#include <math.h>
#include <regex.h>
#include <string.h>

const char *
equation_text(Lowering *low, uint32_t equation)
{
    const Equation *at = &low->dae->equations.at[equation];
    Out out = {0};
    Place place;
    if (at->span.hi && sources_locate(low->dae->sources, at->span.lo, &place))
        out_printf(&out, "%s:%u:%u: ", place.path, place.line, place.column);
    uint32_t inst = at->node != NONE ? low->dae->nodes.at[at->node].inst : 0;
    size_t before = out.length;
    dae_inst_path(low->dae, inst, &out);
    if (out.length > before)
        out_text(&out, ": ");
    dae_print_equation(low->dae, equation, &out);
    const char *text = arena_strndup(low->arena, out.text, out.length);
    out_free(&out);
    return text;
}

// --- parameters

typedef struct ParameterOrder {
    U32Vec bind_of;   // per variable: its ATTR_VALUE bind, or NONE
    U8Vec state;      // per variable: 0 new, 1 on the path, 2 done
    U32Vec order;     // binds, dependencies first
} ParameterOrder;

// Depth-first from one bind, with an explicit stack. False when it meets itself.
static bool
order_from(Lowering *low, ParameterOrder *work, Var root)
{
    Dae *dae = low->dae;
    U32Vec stack = {0};
    bool good = true;
    vec_push(&stack, root);
    while (stack.n && good) {
        Var var = vec_last(&stack);
        uint32_t bind = work->bind_of.at[var];
        if (bind == NONE || work->state.at[var] == 2) {
            work->state.at[var] = 2;
            vec_drop(&stack);
            continue;
        }
        const Bind *at = &dae->binds.at[bind];
        uint32_t n = expr_nslots(dae->exprs, at->shape);
        if (work->state.at[var] == 0) {
            work->state.at[var] = 1;
            for (uint32_t k = 0; k < n; k++) {
                Var used = dae->rows.at[at->row + k];
                if (work->state.at[used] == 0)
                    vec_push(&stack, used);
                else if (work->state.at[used] == 1) {
                    diag_add(low->diags, E0604, at->span, "parameter '%s' depends on itself through '%s'",
                             dae_name(dae, var), dae_name(dae, used));
                    good = false;
                }
            }
            continue;
        }
        work->state.at[var] = 2;
        vec_push(&work->order, bind);
        vec_drop(&stack);
    }
    vec_free(&stack);
    return good;
}

static double
evaluate_row(Lowering *low, Expr shape, uint32_t row)
{
    uint32_t n = expr_nslots(low->exprs, shape);
    int own_sign;
    if (expr_op(low->exprs, shape) == OP_CONST)
        return expr_value(low->exprs, shape);
    if (expr_op(low->exprs, shape) == OP_SLOT) {
        uint32_t place = place_of(low, low->dae->rows.at[row], &own_sign);
        return own_sign * low->image.at[place];
    }
    double few[64], *values = n <= 64 ? few : base_realloc(NULL, sizeof *values * n);
    for (uint32_t k = 0; k < n; k++) {
        int sign;
        uint32_t place = place_of(low, low->dae->rows.at[row + k], &sign);
        values[k] = sign * low->image.at[place];
    }
    double value = expr_eval(low->exprs, shape, values, low->image.at[0]);
    if (values != few)
        free(values);
    return value;
}

static void
check_finite(Lowering *low, const Bind *bind, double value)
{
    if (isfinite(value))
        return;
    static const char *const what[] = {"value", "start value", "nominal value", "minimum", "maximum"};
    Diag *diag = diag_add(low->diags, E0603, bind->span, "the %s of '%s' is %s", what[bind->attr],
                          dae_name(low->dae, bind->var), isnan(value) ? "not a number" : "infinite");
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    for (uint32_t k = 0; k < n && k < 6; k++) {
        int sign;
        Var var = low->dae->rows.at[bind->row + k];
        diag_note(diag, (Span){0, 0}, "with %s = %g", dae_name(low->dae, var),
                  low->image.at[place_of(low, var, &sign)]);
    }
}

// Stores a bind's value in the image and, when it depends on anything, an instruction that computes it.
static void
bind_value(Lowering *low, const Bind *bind, uint32_t dest, int sign, InstrVec *code)
{
    double value = evaluate_row(low, bind->shape, bind->row);
    check_finite(low, bind, value);
    low->image.at[dest] = sign * value;
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    if (!n)
        return;
    emit_vars(low, code, LIFT_LIVE, bind->shape, low->dae->rows.at + bind->row, bind->span, sign, dest);
}

static bool
bind_is_parametric(Lowering *low, const Bind *bind)
{
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    for (uint32_t k = 0; k < n; k++) {
        Var var = low->dae->rows.at[bind->row + k];
        VarKind kind = dae_kind(low->dae, var);
        if (kind == VAR_PARAMETER || kind == VAR_CONSTANT)
            continue;
        diag_add(low->diags, E0603, bind->span, "'%s' must be known before the start, but depends on '%s', which changes"
                 " with time", dae_name(low->dae, bind->var), dae_name(low->dae, var));
        return false;
    }
    return true;
}

static void
check_range(Lowering *low, const Bind *bind)
{
    if (dae_kind(low->dae, bind->var) != VAR_PARAMETER)
        return;
    int sign;
    double limit = evaluate_row(low, bind->shape, bind->row);
    double value = low->image.at[place_of(low, bind->var, &sign)];
    bool low_side = bind->attr == ATTR_MIN;
    if (!isfinite(value) || (low_side ? value >= limit : value <= limit))
        return;
    const Group *group = dae_group(low->dae, bind->var);
    Span span = bind->span;
    for (uint32_t i = 0; i < low->dae->binds.n; i++)
        if (low->dae->binds.at[i].var == bind->var && low->dae->binds.at[i].attr == ATTR_VALUE)
            span = low->dae->binds.at[i].span;
    Diag *diag = diag_add(low->diags, E0603, span, "parameter '%s' is %g, but must be at %s %g",
                          dae_name(low->dae, bind->var), value, low_side ? "least" : "most", limit);
    diag_note(diag, group->span, "declared here");
}

// Start values and nominal values go to the representative; a fixed start wins over others, the variable's own over its aliases'.
static void
make_attributes(Lowering *low, const U32Vec *bind_of, InstrVec *code)
{
    Dae *dae = low->dae;
    uint32_t n_binds = dae->binds.n;
    U8Vec rank = {0};
    vec_grow(&rank, low->nv);
    for (uint32_t i = 0; i < n_binds; i++) {
        const Bind bind = dae->binds.at[i];
        if (bind.attr == ATTR_MIN || bind.attr == ATTR_MAX) {
            if (bind_is_parametric(low, &bind))
                check_range(low, &bind);
            continue;
        }
        if (bind.attr == ATTR_VALUE || dae->var_flags.at[bind.var] & VARF_REMOVED)
            continue;
        bool negative;
        Var at = dae_alias(dae, bind.var, &negative);
        if (low->place.at[at] == NONE || !bind_is_parametric(low, &bind))
            continue;
        // The start value of a parameter counts only when it has no other value.
        if (bind_of->at[bind.var] != NONE)
            continue;
        uint32_t place = low->place.at[at];
        int sign = negative ? -1 : 1;
        if (bind.attr == ATTR_NOMINAL) {
            if (place >= low->y && place < low->y + low->n)
                bind_value(low, &bind, low->sys->model->nominal + place - low->y, 1, code);
            continue;
        }
        uint8_t mine = dae->var_flags.at[bind.var] & VARF_FIXED ? 3 : at == bind.var ? 2 : 1;
        if (place < rank.n && rank.at[place] >= mine)
            continue;
        if (place < rank.n)
            rank.at[place] = mine;
        bind_value(low, &bind, place, sign, code);
        if (at < dae->var_pre.n && dae->var_pre.at[at] != NONE && low->place.at[dae->var_pre.at[at]] != NONE)
            bind_value(low, &bind, low->place.at[dae->var_pre.at[at]], sign, code);
    }
    vec_free(&rank);
}

void
make_parameters(Lowering *low)
{
    Dae *dae = low->dae;
    InstrVec code = {0};
    ParameterOrder work = {0};
    vec_grow(&work.state, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(&work.bind_of, NONE);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_VALUE)
            work.bind_of.at[dae->binds.at[i].var] = i;
    bool good = true;
    for (Var var = 0; var < dae->nvars && good; var++)
        if (work.bind_of.at[var] != NONE && work.state.at[var] == 0)
            good = order_from(low, &work, var);
    for (uint32_t i = 0; i < work.order.n && good; i++) {
        const Bind bind = dae->binds.at[work.order.at[i]];
        int sign;
        if (bind_is_parametric(low, &bind))
            bind_value(low, &bind, place_of(low, bind.var, &sign), 1, &code);
    }
    uint32_t nominal = new_places(low, low->n);
    low->sys->model->nominal = nominal;
    for (uint32_t i = 0; i < low->n; i++)
        low->image.at[nominal + i] = 1;
    if (good)
        make_attributes(low, &work.bind_of, &code);
    add_function(low, "parameters", &code, false, &low->sys->model->parameters);
    vec_free(&code);
    vec_free(&work.bind_of);
    vec_free(&work.state);
    vec_free(&work.order);
}

// --- loops as blocks

static void
name_block(Lowering *low, const Causal *causal, const Loop *loop, mdl_block *block, double *nominal)
{
    const char **unknown = arena_array(low->arena, const char *, loop->n);
    const char **equation = arena_array(low->arena, const char *, loop->n);
    for (uint32_t k = 0; k < loop->n; k++) {
        unknown[k] = dae_name(low->dae, causal->tears.at[loop->tear + k]);
        equation[k] = equation_text(low, causal->residuals.at[loop->residual + k].equation);
        nominal[k] = 1;
    }
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
    accumulate(low, code->at, code->n, &derivatives, &entries);
    block->m = loop->n;
    block->unknown = unknown;
    block->residual = residual;
    block->jac = make_matrix(low, &entries, loop->n, loop->n, NULL, &derivatives);
    block->linear = loop->linear;
    name_block(low, causal, loop, block, arena_array(low->arena, double, loop->n));
    add_function(low, arena_printf(low->arena, "%s_eval", name), code, true, &block->eval);
    add_function(low, arena_printf(low->arena, "%s_jacobian", name), &derivatives, true, &block->jacobian);
    vec_free(&derivatives);
    vec_free(&entries);
    return block;
}

typedef VEC(mdl_step) StepVec;

static void
add_step_code(Lowering *low, const char *name, InstrVec *code, StepVec *steps, U32Vec *funcs)
{
    if (!code->n)
        return;
    mdl_step step = {0};
    mdl_code unused;
    add_function(low, arena_printf(low->arena, "%s%u", name, steps->n), code, true, &unused);
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
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            const Assign *assign = &causal->assigns.at[item.index];
            int sign;
            emit(low, &code, LIFT_LIVE, assign->shape, assign->row, low->dae->equations.at[assign->equation].span,
                 place_of(low, assign->var, &sign));
            continue;
        }
        add_step_code(low, "init", &code, &steps, &funcs);
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
    add_step_code(low, "init", &code, &steps, &funcs);
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
    for (uint32_t i = 0; i < low->relations.n; i++) {
        const Relation *relation = &low->relations.at[i];
        uint32_t n = expr_nslots(low->exprs, relation->shape);
        for (uint32_t k = 0; k < n; k++)
            wanted.at[low->sys->places.at[relation->row + k]] = 1;
    }
    for (uint32_t i = 0; i < low->dae->laws.n; i++) {
        int sign;
        wanted.at[place_of(low, low->dae->laws.at[i].p, &sign)] = 1;
        wanted.at[place_of(low, low->dae->laws.at[i].a, &sign)] = 1;
        wanted.at[place_of(low, low->dae->laws.at[i].x, &sign)] = 1;
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
emit_dynamics(Lowering *low, InstrVec *code, U8Vec *in_loop, PieceVec *pieces)
{
    const Causal *causal = low->in->dynamics;
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
            emit(low, code, LIFT_HELD, assign->shape, assign->row,
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
    vec_grow(in_loop, code->n - first);
    if (code->n == first)
        return;
    Piece piece = {first, code->n - first, NONE};
    if (pieces->n && vec_last(pieces).loop == NONE)
        vec_last(pieces).n += piece.n;
    else
        vec_push(pieces, piece);
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
    for (uint32_t i = 0; i < pieces->n; i++) {
        Piece piece = pieces->at[i];
        vec_clear(&piece_code);
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
            sort_code(low, piece_code.at, piece_code.n);
            vec_append(whole, piece_code.at, piece_code.n);
            add_step_code(low, "dynamics", &piece_code, &steps, &funcs);
        }
    }
    model->n_dynamics = steps.n;
    model->dynamics = finish_steps(low, &steps, &funcs);
    vec_free(&steps);
    vec_free(&funcs);
    vec_free(&piece_code);
}

static void
make_jacobian(Lowering *low, const InstrVec *whole)
{
    mdl_model *model = low->sys->model;
    InstrVec derivatives = {0};
    EntryVec entries = {0}, by_y = {0}, by_yp = {0};
    uint8_t *negative = arena_array(low->arena, uint8_t, low->n ? low->n : 1);
    for (uint32_t i = 0; i < low->n; i++) {
        place_put(&low->column_of, low->y + i, i);
        place_put(&low->row_of, low->r + i, i);
    }
    for (uint32_t i = 0; i < low->nx; i++) {
        if (low->implicit.at[i]) {
            place_put(&low->column_of, low->yp + i, low->n + i);
        } else {
            place_put(&low->row_of, low->dx + i, i);
            negative[i] = 1;
        }
    }
    accumulate(low, whole->at, whole->n, &derivatives, &entries);
    // der(x) = y': a state's derivative that is itself a variable of the integrator never is an instruction.
    for (uint32_t i = 0; i < entries.n; i++) {
        Entry entry = entries.at[i];
        if (entry.column < low->n) {
            vec_push(&by_y, entry);
        } else {
            entry.column -= low->n;
            vec_push(&by_yp, entry);
        }
    }
    model->jac_y = make_matrix(low, &by_y, low->n, low->n, negative, &derivatives);
    model->jac_yp = make_matrix(low, &by_yp, low->n, low->n, negative, &derivatives);
    add_function(low, "jacobian", &derivatives, true, &model->jacobian);
    vec_free(&derivatives);
    vec_free(&entries);
    vec_free(&by_y);
    vec_free(&by_yp);
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
    // The discrete part and the asserts may hold further relations; they are emitted before marking.
    make_events(low);
    mark_dynamics(low, &code, &in_loop, &needed);
    make_steps(low, &code, &needed, &pieces, &whole, &outputs);
    make_jacobian(low, &whole);
    add_function(low, "outputs", &outputs, true, &model->outputs);
    uint8_t *implicit = arena_array(low->arena, uint8_t, low->nx ? low->nx : 1);
    const char **names = arena_array(low->arena, const char *, low->n ? low->n : 1);
    if (low->nx)
        memcpy(implicit, low->implicit.at, low->nx);
    for (uint32_t i = 0; i < low->n; i++)
        names[i] = dae_name(low->dae, low->var_at.at[low->y + i]);
    model->implicit = implicit;
    model->state_name = names;
    vec_free(&code);
    vec_free(&whole);
    vec_free(&outputs);
    vec_free(&in_loop);
    vec_free(&needed);
    vec_free(&pieces);
}

// --- events

static void
make_discretes(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    const Causal *causal = low->in->discrete;
    InstrVec code = {0};
    mdl_discrete *table = arena_array(low->arena, mdl_discrete, causal->items.n ? causal->items.n : 1);
    mdl_reinit *reinits = arena_array(low->arena, mdl_reinit, dae->reinits.n ? dae->reinits.n : 1);
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (item.is_loop) {
            Var var = causal->tears.at[causal->loops.at[item.index].tear];
            const Group *group = dae_group(dae, var);
            diag_add(low->diags, E0507, group->span, "'%s' is part of an algebraic loop of discrete variables",
                     dae_name(dae, var));
            continue;
        }
        const Assign *assign = &causal->assigns.at[item.index];
        int sign;
        uint32_t place = place_of(low, assign->var, &sign);
        emit(low, &code, LIFT_HELD, assign->shape, assign->row, dae->equations.at[assign->equation].span, place);
        Var pre = dae->var_pre.at[assign->var];
        table[model->n_discretes++] = (mdl_discrete){place, place, pre == NONE ? 0 : place_of(low, pre, &sign)};
    }
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit reinit = dae->reinits.at[i];
        int sign;
        uint32_t place = place_of(low, reinit.var, &sign);
        if (place < low->y || place >= low->y + low->nx) {
            diag_add(low->diags, E0605, reinit.span, "reinit needs a state, but '%s' is not one",
                     dae_name(dae, reinit.var));
            continue;
        }
        mdl_reinit made = {place - low->y, new_places(low, 1), new_places(low, 1)};
        int when_sign;
        Exprs *exprs = low->exprs;
        Expr edge = expr_2(exprs, OP_AND, expr_slot(exprs, 0), expr_1(exprs, OP_NOT, expr_slot(exprs, 1)));
        uint32_t when[2] = {place_of(low, reinit.when, &when_sign),
                            place_of(low, dae_pre(dae, reinit.when), &when_sign)};
        emit_places(low, &code, edge, when, made.active);
        emit_vars(low, &code, LIFT_HELD, reinit.value, dae->rows.at + reinit.row, reinit.span, sign, made.next);
        reinits[model->n_reinits++] = made;
    }
    model->discrete = table;
    model->reinit = reinits;
    add_function(low, "discretes", &code, false, &model->discretes);
    vec_free(&code);
}

static void
make_relations(Lowering *low)
{
    mdl_model *model = low->sys->model;
    InstrVec code = {0}, instants = {0};
    uint32_t n = low->relations.n;
    mdl_relation *relations = arena_array(low->arena, mdl_relation, n ? n : 1);
    mdl_time_relation *times = arena_array(low->arena, mdl_time_relation, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Relation *at = &low->relations.at[i];
        Instr next = {at->shape, at->row, at->next};
        vec_push(&code, next);
        if (at->of_time) {
            Instr instant = {at->instant, at->row, at->g};
            vec_push(&instants, instant);
            times[model->n_time_relations++] = (mdl_time_relation){at->value, at->next, at->g, at->text};
            continue;
        }
        Op op = expr_op(low->exprs, at->shape);
        Expr a = expr_arg(low->exprs, at->shape, 0), b = expr_arg(low->exprs, at->shape, 1);
        bool greater = op == OP_GT || op == OP_GE;
        Instr g = {greater ? expr_sub(low->exprs, a, b) : expr_sub(low->exprs, b, a), at->row, at->g};
        vec_push(&code, g);
        relations[model->n_relations++] = (mdl_relation){at->value, at->next, at->g, at->text};
    }
    mdl_sample *samples = arena_array(low->arena, mdl_sample, low->samples.n ? low->samples.n : 1);
    for (uint32_t i = 0; i < low->samples.n; i++) {
        const Sample *at = &low->samples.at[i];
        Instr start = {at->start, at->row, at->start_place}, interval = {at->interval, at->row, at->interval_place};
        vec_push(&instants, start);
        vec_push(&instants, interval);
        samples[i] = (mdl_sample){at->value, at->start_place, at->interval_place};
    }
    model->relation = relations;
    model->time_relation = times;
    model->sample = samples;
    model->n_samples = low->samples.n;
    add_function(low, "relations", &code, false, &model->relations);
    add_function(low, "instants", &instants, false, &model->instants);
    vec_free(&code);
    vec_free(&instants);
}

static const char *
law_text(Lowering *low, const Law *law)
{
    Place place;
    bool located = law->span.hi && sources_locate(low->dae->sources, law->span.lo, &place);
    const char *x = dae_name(low->dae, law->x);
    return located ? arena_printf(low->arena, "Sgn(%s) (%s:%u)", x, place.path, place.line)
                   : arena_printf(low->arena, "Sgn(%s)", x);
}

static void
make_laws(Lowering *low)
{
    mdl_model *model = low->sys->model;
    uint32_t n = low->dae->laws.n;
    mdl_sgn *table = arena_array(low->arena, mdl_sgn, n ? n : 1);
    for (uint32_t i = 0; i < n; i++) {
        const Law law = low->dae->laws.at[i];
        int sign;
        mdl_sgn *sgn = &table[i];
        sgn->mode = place_of(low, law.mode, &sign);
        sgn->x = place_of(low, law.x, &sign);
        sgn->p = place_of(low, law.p, &sign);
        sgn->a = place_of(low, law.a, &sign);
        sgn->state = -1;
        if (sgn->x >= low->y && sgn->x < low->y + low->nx) {
            sgn->state = (int32_t)(sgn->x - low->y);
            sgn->dx = low->implicit.at[sgn->state] ? low->yp + (uint32_t)sgn->state : low->dx + (uint32_t)sgn->state;
        }
        sgn->text = law_text(low, &law);
    }
    model->sgn = table;
    model->n_sgns = n;
}

static void
make_asserts(Lowering *low)
{
    Dae *dae = low->dae;
    mdl_model *model = low->sys->model;
    InstrVec code = {0};
    mdl_assert *table = arena_array(low->arena, mdl_assert, dae->asserts.n ? dae->asserts.n : 1);
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        const Assert at = dae->asserts.at[i];
        mdl_assert *made = &table[i];
        made->ok = new_places(low, 1);
        made->level = at.level;
        made->message = sym_text(dae->syms, at.message);
        Out out = {0};
        Place place;
        if (at.span.hi && sources_locate(dae->sources, at.span.lo, &place))
            out_printf(&out, "%s:%u:%u", place.path, place.line, place.column);
        size_t before = out.length;
        out_text(&out, ": ");
        dae_inst_path(dae, at.inst, &out);
        if (out.length == before + 2)
            out.length = before;
        made->where = arena_strndup(low->arena, out.text ? out.text : "", out.length);
        out_free(&out);
        emit_vars(low, &code, LIFT_LIVE, at.condition, dae->rows.at + at.row, at.span, 1, made->ok);
    }
    model->assertion = table;
    model->n_asserts = dae->asserts.n;
    add_function(low, "asserts", &code, false, &model->asserts);
    vec_free(&code);
}

void
make_events(Lowering *low)
{
    make_discretes(low);
    make_asserts(low);
    make_laws(low);
    make_relations(low);
    low->sys->model->initial = low->initial;
    low->sys->model->terminal = low->terminal;
    low->sys->model->lambda = low->lambda;
}

// --- results

typedef VEC(mdl_output) OutputVec;

static void
add_output(Lowering *low, Var var, const regex_t *filter, OutputVec *outputs, Out *name)
{
    name->length = 0;
    dae_var_name(low->dae, var, name);
    if (filter && regexec(filter, name->text, 0, NULL, 0))
        return;
    int sign;
    uint32_t place = place_of(low, var, &sign);
    mdl_output output = {arena_strndup(low->arena, name->text, name->length), place, sign,
                         (uint32_t)dae_type(low->dae, var)};
    if (dae_type(low->dae, var) == TYPE_ENUM)
        output.type = MDL_ENUM;
    vec_push(outputs, output);
}

void
make_outputs(Lowering *low)
{
    Dae *dae = low->dae;
    regex_t filter;
    bool filtered = low->in->variables != NULL;
    if (filtered && regcomp(&filter, low->in->variables, REG_EXTENDED | REG_NOSUB))
        filtered = false; // the driver checks the expression and reports
    OutputVec outputs = {0};
    Out name = {0};
    uint32_t groups = dae->groups.n;
    for (uint32_t i = 0; i < groups; i++) {
        const Group group = dae->groups.at[i];
        bool constant = group.kind == VAR_PARAMETER || group.kind == VAR_CONSTANT;
        if (group.flags & GROUP_HIDDEN || group.type == TYPE_STRING || (constant && !filtered))
            continue;
        for (Var var = group.first; var < group.first + group.count; var++)
            if (!(dae->var_flags.at[var] & VARF_REMOVED))
                add_output(low, var, filtered ? &filter : NULL, &outputs, &name);
    }
    // Derivatives are columns only when they are asked for by name.
    for (Var var = 0; filtered && var < dae->nvars; var++)
        if (dae->var_der_of.at[var] != NONE && !(dae->var_flags.at[var] & VARF_REMOVED)
            && !(dae_group(dae, var)->flags & GROUP_HIDDEN))
            add_output(low, var, &filter, &outputs, &name);
    mdl_output *table = arena_array(low->arena, mdl_output, outputs.n ? outputs.n : 1);
    if (outputs.n)
        memcpy(table, outputs.at, sizeof *table * outputs.n);
    low->sys->model->output = table;
    low->sys->model->n_outputs = outputs.n;
    vec_free(&outputs);
    out_free(&name);
    if (filtered)
        regfree(&filter);
}
