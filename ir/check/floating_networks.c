// floating_networks.c: networks whose potentials nothing refers to a reference.
//
// Purpose: a circuit without a ground, or springs that hang nowhere, give one equation too many (the last balance of flows
// follows from the others) and one too few (the level of the potentials): two messages for one mistake, far from each other.
// Method: an over-determined set that is one generated equation of a connection without unknowns, paired with an
// under-determined set that lacks one equation and contains potentials of connectors; the set that the connectors of the
// equation's flows belong to goes first. Contract: conflict.h. Complexity: linear in connectors and in `under`.
//
//     source, resistor and capacitor in a ring   ->   nothing fixes the level of 'v.n.v', 'v.p.v', 'r.n.v'
#include <string.h>

#include "ir/check/conflict.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_parts.h"

enum { SHOWN = 4 };

typedef struct Floating {
    Dae *dae;
    const Singular *under;
    U32Vec potential; // per variable: 1 + the first connector that has it as a potential
} Floating;

static bool
has_flow(const ConnectorType *type)
{
    return type->n && memchr(type->is_flow, 1, type->n);
}

static void
mark_potentials(Floating *floating)
{
    Dae *dae = floating->dae;
    vec_grow(&floating->potential, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t i = 0; has_flow(type) && i < type->n; i++) {
            bool negative;
            uint32_t *first = &floating->potential.at[dae_alias(dae, connector->first + i, &negative)];
            if (!type->is_flow[i] && !*first)
                *first = c + 1;
        }
    }
}

static uint32_t
set_size(const Singular *part, uint32_t set)
{
    return part->variable_start.at[set + 1] - part->variable_start.at[set];
}

// Whether set `set` lacks one equation, for a potential. `near`: and shares a variable with `equation`.
static bool
set_floats(const Floating *floating, uint32_t set, uint32_t equation, bool near)
{
    Dae *dae = floating->dae;
    const Singular *under = floating->under;
    uint32_t n_equations = under->equation_start.at[set + 1] - under->equation_start.at[set];
    const Equation *balance = &dae->equations.at[equation];
    bool floats = false, shares = false, negative;
    if (set_size(under, set) != n_equations + 1)
        return false;
    for (uint32_t k = under->variable_start.at[set]; k < under->variable_start.at[set + 1]; k++) {
        floats |= floating->potential.at[under->variables.at[k]] > 0;
        for (uint32_t slot = 0; near && slot < expr_nslots(dae->exprs, balance->shape); slot++)
            shares |= dae_alias(dae, dae->rows.at[balance->row + slot], &negative) == under->variables.at[k];
    }
    return floats && (shares || !near);
}

static uint32_t
find_set(const Floating *floating, uint32_t equation, const U8Vec *reported)
{
    uint32_t n = floating->under->variable_start.n ? floating->under->variable_start.n - 1 : 0;
    for (int near = 1; near >= 0; near--)
        for (uint32_t s = 0; s < n; s++)
            if (!reported->at[s] && set_floats(floating, s, equation, near))
                return s;
    return NONE;
}

// "'a', 'b' and 'c'", "'a', 'b', 'c', 'd' and 2 more"
static void
print_list(Out *out, const char *name, uint32_t k, uint32_t n)
{
    if (k < SHOWN || n == SHOWN + 1)
        out_printf(out, "%s'%s'", !k ? "" : k + 1 == n ? " and " : ", ", name);
    else if (k == SHOWN)
        out_printf(out, " and %u more", n - SHOWN);
}

static void
print_potentials(const Floating *floating, uint32_t set, Out *out)
{
    const Singular *under = floating->under;
    U32Vec shown = {0};
    for (uint32_t k = under->variable_start.at[set]; k < under->variable_start.at[set + 1]; k++)
        if (floating->potential.at[under->variables.at[k]])
            vec_push(&shown, under->variables.at[k]);
    for (uint32_t k = 0; k < shown.n; k++)
        print_list(out, dae_name(floating->dae, shown.at[k]), k, shown.n);
    vec_free(&shown);
}

// The component at whose connector the first of the potentials is.
static uint32_t
first_component(const Floating *floating, uint32_t set)
{
    const Singular *under = floating->under;
    uint32_t k = under->variable_start.at[set];
    while (!floating->potential.at[under->variables.at[k]])
        k++;
    uint32_t connector = floating->potential.at[under->variables.at[k]] - 1;
    uint32_t inst = floating->dae->insts.at[floating->dae->connectors.at[connector].inst].parent;
    return locate_user_inst(floating->dae, inst);
}

bool
floating_report(Dae *dae, const Singular *over, uint32_t set, const Singular *under, U8Vec *reported, Diags *diags)
{
    Floating floating = {.dae = dae, .under = under};
    uint32_t n = over->equation_start.at[set + 1] - over->equation_start.at[set];
    uint32_t equation = over->equations.at[over->equation_start.at[set]];
    if (n != 1 || set_size(over, set) || !dae->equations.at[equation].generated)
        return false;
    mark_potentials(&floating);
    uint32_t other = find_set(&floating, equation, reported);
    if (other != NONE) {
        Out names = {0};
        print_potentials(&floating, other, &names);
        uint32_t inst = first_component(&floating, other);
        Diag *diag = diag_add(diags, E0512, dae->insts.at[inst].span,
                              "nothing fixes the level of the potentials %s: the network has no reference", names.text);
        diag_note(diag, dae->equations.at[equation].span, "what this connection says about flows follows from the others");
        diag_help(diag, "connect a reference to it, such as a ground or a fixed point");
        reported->at[other] = 1;
        out_free(&names);
    }
    vec_free(&floating.potential);
    return other != NONE;
}
