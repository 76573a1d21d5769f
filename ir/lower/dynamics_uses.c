// dynamics_uses.c: what of the dynamics is needed while integrating, and what is only looked at.
//
// Purpose: what derivatives, loops, relations and laws do not need moves to `outputs`, which runs only where results and events are
// made; kinks of what is only looked at need no events.
// Method: uses are walked backwards, from what the integrator, events, laws and memories read. Contract: lower_inner.h.
// Complexity: linear in instructions and slots.
#include "ir/expr/expr_parts.h"
#include "ir/lower/lower_inner.h"

void
find_needed(Lowering *low, const InstrVec *code, const U8Vec *in_loop, U8Vec *needed)
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
        if (dae->asserts.at[i].level != ASSERT_CLOSED)
            mark_read(dae, dae->asserts.at[i].row, expr_nslots(low->exprs, dae->asserts.at[i].condition), read);
    for (uint32_t i = 0; i < dae->jumps.n; i++)
        if (dae->jumps.at[i].state == NONE)
            mark_read(dae, dae->jumps.at[i].row, expr_nslots(low->exprs, dae->jumps.at[i].rest), read);
    for (uint32_t i = 0; i < dae->leaps.n; i++) {
        const Leap *leap = &dae->leaps.at[i];
        mark_read(dae, leap->value_row, expr_nslots(low->exprs, leap->value), read);
        mark_read(dae, leap->rate_row, expr_nslots(low->exprs, leap->rate), read);
    }
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
    return expr_has_any(exprs, e, ops_and(ops_and(ops_and(ops_of(OP_ABS), OP_MIN), OP_MAX), OP_LUZ));
}

void
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
