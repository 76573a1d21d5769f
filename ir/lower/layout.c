// layout.c: layout: a place in the value array for every representative variable.
//
// Purpose: programs that are loops over arrays, and a runtime that finds each kind of variable in one range. Method: counting: one pass
// over the variables for each region.
// Order: time and flags; parameters, inputs and discrete variables with their pre(); the integrator's
// unknowns (states, then tears), their derivatives, residuals and computed derivatives, each contiguous; then
// algebraic variables. Within a region variables stand in source order, so that the same member of
// consecutive component instances or array elements is a constant stride away and programs become affine
// loops.
// Contract: lower_inner.h. Complexity: linear in the variables.
#include "ir/lower/lower_inner.h"
#include "ir/dae/locate.h"

uint32_t
new_places(Lowering *low, uint32_t count)
{
    uint32_t first = low->nv;
    low->nv += count;
    vec_grow(&low->image, count);
    return first;
}

static void
put(Lowering *low, Var var, uint32_t place)
{
    low->place.at[var] = place;
    if (place >= low->var_at.n)
        vec_fill(&low->var_at, place + 1 - low->var_at.n, NONE);
    low->var_at.at[place] = var;
}

static bool
is_representative(const Dae *dae, Var var)
{
    bool negative;
    return dae_alias(dae, var, &negative) == var && !(dae->var_flags.at[var] & VARF_REMOVED);
}

static void
lay_out_kind(Lowering *low, VarKind kind, bool pre)
{
    Dae *dae = low->dae;
    for (Var var = 0; var < dae->nvars; var++) {
        if (dae_kind(dae, var) != kind || (dae->var_pre_of.at[var] != NONE) != pre || !is_representative(dae, var))
            continue;
        put(low, var, new_places(low, 1));
    }
}

static void
lay_out_literals(Lowering *low)
{
    Dae *dae = low->dae;
    double value;
    for (Var var = 0; var < dae->nvars; var++) {
        if (!dae_is_literal(dae, var, &value))
            continue;
        put(low, var, new_places(low, 1));
        low->image.at[low->place.at[var]] = value;
    }
}

// The derivative variable of a state when it stands for itself. It does not when the derivative is an alias,
// as in der(s) = v: then dx receives a copy.
static Var
own_derivative(const Lowering *low, Var state)
{
    bool negative;
    Var der = low->dae->var_der.at[state];
    if (der == NONE || dae_alias(low->dae, der, &negative) != der)
        return NONE;
    const Reduction *reduction = low->in->reduction;
    return der < reduction->state.n && reduction->state.at[der] ? NONE : der; // der(x) may be a state itself
}

// The unknowns of the integrator. A tear that is the derivative of a state is iterated in y' itself.
static void
lay_out_unknowns(Lowering *low)
{
    Dae *dae = low->dae;
    const Causal *causal = low->in->dynamics;
    const Reduction *reduction = low->in->reduction;
    U32Vec state_of_der = {0}; // per variable: state index + 1 of the state it is the derivative of
    vec_grow(&state_of_der, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++) {
        if (var >= reduction->state.n || !reduction->state.at[var])
            continue;
        vec_push(&low->state, var);
        // With invariants the runtime may take away the row of any state, so no row may be needed for a loop.
        Var der = reduction->invariants.n ? NONE : own_derivative(low, var);
        if (der != NONE)
            state_of_der.at[der] = low->state.n;
    }
    low->nx = low->state.n;
    vec_grow(&low->implicit, low->nx);
    uint32_t algebraic = 0;
    for (uint32_t i = 0; i < causal->tears.n; i++) {
        uint32_t state = state_of_der.at[causal->tears.at[i]];
        if (state)
            low->implicit.at[state - 1] = 1;
        vec_push(&low->tear_row, state ? state - 1 : low->nx + algebraic++);
    }
    U8Vec is_tear = {0};
    vec_grow(&is_tear, dae->nvars);
    for (uint32_t i = 0; i < causal->tears.n; i++)
        is_tear.at[causal->tears.at[i]] = 1;
    low->n = low->nx + algebraic;
    low->y = new_places(low, low->n);
    low->yp = new_places(low, low->n);
    low->r = new_places(low, low->n);
    low->dx = new_places(low, low->nx);
    for (uint32_t i = 0; i < low->nx; i++) {
        Var state = low->state.at[i], der = own_derivative(low, state);
        put(low, state, low->y + i);
        if (der != NONE && !is_tear.at[der])
            put(low, der, low->dx + i);
        else if (der != NONE && low->implicit.at[i])
            put(low, der, low->yp + i);
        else
            vec_push(&low->copied, i);
    }
    for (uint32_t i = 0; i < causal->tears.n; i++)
        if (low->tear_row.at[i] >= low->nx)
            put(low, causal->tears.at[i], low->y + low->tear_row.at[i]);
    vec_free(&state_of_der);
    vec_free(&is_tear);
}

void
lay_out(Lowering *low)
{
    Dae *dae = low->dae;
    vec_fill(&low->place, dae->nvars, NONE);
    vec_reserve(&low->image, dae->nvars);
    vec_reserve(&low->var_at, dae->nvars);
    vec_reserve(&low->sys->places, dae->rows.n);
    new_places(low, 1); // time
    low->initial = new_places(low, 1);
    low->terminal = new_places(low, 1);
    low->lambda = new_places(low, 1);
    low->image.at[low->lambda] = 1;
    lay_out_literals(low);
    lay_out_kind(low, VAR_PARAMETER, false);
    for (Var var = 0; var < dae->nvars; var++) { // constants that are not literals
        double value;
        if (dae_kind(dae, var) == VAR_CONSTANT && !dae_is_literal(dae, var, &value))
            put(low, var, new_places(low, 1));
    }
    lay_out_kind(low, VAR_INPUT, false);
    lay_out_kind(low, VAR_DISCRETE, false);
    lay_out_kind(low, VAR_DISCRETE, true);
    lay_out_unknowns(low);
    for (Var var = 0; var < dae->nvars; var++)
        if (dae_kind(dae, var) == VAR_CONTINUOUS && low->place.at[var] == NONE && is_representative(dae, var))
            put(low, var, new_places(low, 1));
}

uint32_t
place_late(Lowering *low, Var at)
{
    double value;
    if (low->place.n < low->dae->nvars)
        vec_fill(&low->place, low->dae->nvars - low->place.n, NONE);
    put(low, at, new_places(low, 1));
    if (dae_is_literal(low->dae, at, &value)) // or a pre of an alias
        low->image.at[low->place.at[at]] = value;
    return low->place.at[at];
}

const char *
place_text(Lowering *low, uint32_t place)
{
    Var var = variable_at(low, place);
    if (place == 0)
        return "time";
    if (var != NONE)
        return dae_name(low->dae, var);
    return arena_printf(low->arena, "v[%u]", place);
}

uint8_t
name_kind(const Lowering *low, Var var)
{
    const Dae *dae = low->dae;
    uint8_t rate = dae->var_der_of.at[var] != NONE ? MDL_NAME_RATE : 0;
    while (dae->var_group.at[var] == NONE)
        var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    bool made = dae_group(dae, var)->decl->flags & GROUP_HIDDEN;
    return rate | (made ? MDL_NAME_MADE : 0) | (made && !dae_is_told(dae, var) ? MDL_NAME_BARE : 0);
}

const char *
lower_place(Lowering *low, Span span, const char *otherwise)
{
    Place place;
    if (!span_locate(low->dae->sources, span, &place))
        return otherwise;
    return arena_printf(low->arena, "%s:%u:%u", place.path, place.line, place.column);
}

const char *
equation_text(Lowering *low, uint32_t equation)
{
    while (map_get(&low->dae->stands_for, equation, &equation))
        continue;
    const Equation *at = &low->dae->equations.at[equation];
    Out out = {0};
    uint32_t inst = locate_equation_inst(low->dae, equation);
    locate_equation(low->dae, at->span, inst, &out);
    dae_print_equation(low->dae, equation, &out);
    const char *text = arena_strndup(low->arena, out.text, out.length);
    out_free(&out);
    return text;
}
