// equation_view.c: the solved equations, sorted by node of the bond graph.
//
// Purpose: reports and `mdlc show equations` show the same equations in the same order.
// Method: assignments and residuals of the causal forms are sorted by the node that owns the equation they come from (a
// counting sort keeps the order of evaluation), states and aliases by the component that declares the variable.
// Contract: equation_view.h. Complexity: linear.
#include "ir/view/equation_view.h"

#include <stdio.h>
#include <string.h>

#include "ir/structure/listing.h"

static void
add_line(EquationView *view, Var var, Expr shape, uint32_t row, uint32_t equation, uint32_t loop)
{
    vec_push(&view->lines, (EquationLine){var, shape, row, loop, equation});
    vec_push(&view->owner, view->dae->equations.at[equation].node);
}

static void
add_lines(EquationView *view, const Causal *causal)
{
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            const Assign *at = &causal->assigns.at[item.index];
            add_line(view, at->var, at->shape, at->row, at->equation, 0);
            continue;
        }
        const Loop *loop = &causal->loops.at[item.index];
        for (uint32_t k = 0; k < loop->n_inner; k++) {
            const Assign *at = &causal->assigns.at[loop->inner + k];
            add_line(view, at->var, at->shape, at->row, at->equation, item.index + 1);
        }
        for (uint32_t k = 0; k < loop->n; k++) {
            const Residual *at = &causal->residuals.at[loop->residual + k];
            add_line(view, NONE, at->shape, at->row, at->equation, item.index + 1);
        }
    }
}

// Sorts `keys` items by node; NONE keys are left out.
static void
make_index(const EquationView *view, const U32Vec *owner, const U32Vec *items, NodeIndex *index)
{
    uint32_t nodes = view->dae->nodes.n;
    vec_grow(&index->start, nodes + 2);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->start.at[owner->at[i] + 2]++;
    for (uint32_t i = 0; i < nodes; i++)
        index->start.at[i + 2] += index->start.at[i + 1];
    vec_grow(&index->items, index->start.at[nodes + 1]);
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] < nodes)
            index->items.at[index->start.at[owner->at[i] + 1]++] = items ? items->at[i] : i;
}

static void
index_variables(EquationView *view)
{
    const Dae *dae = view->dae;
    U32Vec states = {0}, state_owner = {0}, aliases = {0}, alias_owner = {0};
    for (Var v = 0; v < dae->nvars; v++) {
        bool negative;
        const Group *group = dae_group(dae, v);
        if (!group || group->decl->flags & GROUP_HIDDEN || dae->var_flags.at[v] & VARF_REMOVED || dae->var_pre_of.at[v] != NONE)
            continue;
        if (v < view->reduction->state.n && view->reduction->state.at[v]) {
            vec_push(&states, v);
            vec_push(&state_owner, listing_node_of(dae, v));
        } else if (dae_alias(dae, v, &negative) != v) {
            vec_push(&aliases, v);
            vec_push(&alias_owner, listing_node_of(dae, v));
        }
    }
    make_index(view, &state_owner, &states, &view->states);
    make_index(view, &alias_owner, &aliases, &view->aliases);
    vec_free(&states);
    vec_free(&state_owner);
    vec_free(&aliases);
    vec_free(&alias_owner);
}

EquationView
equation_view_open(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes)
{
    EquationView view = {.dae = dae, .reduction = reduction, .dynamics = dynamics, .ways = ways_open(dae)};
    add_lines(&view, dynamics);
    add_lines(&view, discretes);
    make_index(&view, &view.owner, NULL, &view.by_node);
    index_variables(&view);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        bool negative;
        const Law *law = &dae->laws.at[i];
        Var of = dae_alias(dae, law->p, &negative);
        if (!law->unilateral && !law->disk && !dae_is_told(dae, of))
            map_put(&view.bands, of, i);
    }
    return view;
}

static void
free_index(NodeIndex *index)
{
    vec_free(&index->start);
    vec_free(&index->items);
}

void
equation_view_close(EquationView *view)
{
    ways_free(&view->ways);
    vec_free(&view->lines);
    vec_free(&view->owner);
    map_free(&view->bands);
    free_index(&view->by_node);
    free_index(&view->states);
    free_index(&view->aliases);
}

bool
equation_view_empty(const EquationView *view, uint32_t node)
{
    const NodeIndex *parts[] = {&view->by_node, &view->states, &view->aliases};
    for (int i = 0; i < 3; i++)
        if (parts[i]->start.at[node] < parts[i]->start.at[node + 1])
            return false;
    return true;
}

// The unit of a variable; that of a derivative is the variable's per second: m/s becomes m/s2.
void
equation_view_unit(const Dae *dae, Var var, Out *out)
{
    uint32_t derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        derivatives++;
    }
    const Group *group = dae_group(dae, var);
    const char *unit = group && group->decl->unit ? sym_text(dae->syms, group->decl->unit) : "";
    if (!*unit)
        return;
    const char *slash = strchr(unit, '/');
    int exponent = 1;
    if (!derivatives)
        out_text(out, unit);
    else if (!slash)
        out_printf(out, derivatives == 1 ? "%s/s" : "%s/s%u", unit, derivatives);
    else if (!strcmp(slash, "/s") || (sscanf(slash, "/s%d", &exponent) == 1 && exponent > 0))
        out_printf(out, "%.*s/s%d", (int)(slash - unit), unit, exponent + (int)derivatives);
    else
        out_printf(out, derivatives == 1 ? "(%s)/s" : "(%s)/s%u", unit, derivatives);
}
