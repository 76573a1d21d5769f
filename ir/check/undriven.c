// undriven.c: inputs of components that nothing gives a value.
//
// Purpose: the most frequent reason why equations are missing is a signal that was never connected. Counted as equations the
// mistake shows far from its place: the force of an undriven actuator leaves the positions of what it pushes open.
// Method: an input of a component in an under-determined set, to which nothing is connected and which no equation outside of
// the component names. Contract: conflict.h. Complexity: linear in equations, connectors and in `under`.
//
//     PrescribedForce push without a connection   ->   nothing gives the input 'push.f'
#include "ir/check/conflict.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_node.h"

enum { SHOWN = 4 };

typedef struct Undriven {
    const Dae *dae;
    U8Vec open;     // per variable: its representative is in an under-determined set
    U8Vec given;    // per variable: an equation outside of its component names it
    U8Vec connected; // per connector
    U32Vec owner;   // per variable: the component whose input it is, or NONE
} Undriven;

static void
own(Undriven *u, Var var, uint32_t inst)
{
    if (inst != NONE && inst)
        u->owner.at[var] = inst;
}

// Inputs are connectors of signals, or variables that are declared so.
static void
find_inputs(Undriven *u)
{
    const Dae *dae = u->dae;
    for (Var v = 0; v < dae->nvars; v++)
        vec_push(&u->owner, NONE);
    for (uint32_t i = 0; i < dae->groups.n; i++) {
        const Group *group = &dae->groups.at[i];
        const Declaration *decl = group->decl;
        bool unknown = decl->kind == VAR_CONTINUOUS || decl->kind == VAR_DISCRETE;
        for (uint32_t k = 0; k < decl->count && decl->flags & GROUP_INPUT && unknown; k++)
            own(u, group->first + k, group->inst);
    }
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t k = 0; k < type->n && !u->connected.at[c]; k++)
            if (type->causality[k] == CAUSALITY_INPUT)
                own(u, connector->first + k, dae->insts.at[connector->inst].parent);
    }
}

static void
find_given(Undriven *u)
{
    const Dae *dae = u->dae;
    vec_grow(&u->given, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint32_t n, inst = locate_equation_inst(dae, e);
        const Var *vars = dae_row(dae, e, &n);
        Expr left = dae->equations.at[e].binding ? expr_arg(dae->exprs, dae->equations.at[e].shape, 0) : 0;
        uint32_t bound = left && expr_op(dae->exprs, left) == OP_SLOT ? expr_slot_of(dae->exprs, left) : NONE;
        for (uint32_t k = 0; k < n; k++)
            if (u->owner.at[vars[k]] != NONE && (k == bound || !dae_inst_inside(dae, inst, u->owner.at[vars[k]])))
                u->given.at[vars[k]] = 1;
    }
}

static bool
is_undriven(const Undriven *u, Var var)
{
    bool negative;
    return u->owner.at[var] != NONE && !u->given.at[var] && u->open.at[dae_alias(u->dae, var, &negative)];
}

// One error for all inputs of a component.
static void
report(const Undriven *u, Var first, DiagCode code, Diags *diags)
{
    const Dae *dae = u->dae;
    uint32_t inst = u->owner.at[first], n = 0;
    Out names = {0}, path = {0};
    for (Var v = first; v < dae->nvars; v++) {
        if (u->owner.at[v] != inst || !is_undriven(u, v))
            continue;
        if (n++ >= SHOWN)
            continue;
        out_text(&names, n > 1 ? ", '" : "'");
        dae_told_name(dae, v, &names);
        out_char(&names, '\'');
    }
    if (n > SHOWN)
        out_printf(&names, " and %u more", n - SHOWN);
    dae_inst_path(dae, inst, &path);
    Diag *diag = diag_add(diags, code, dae->insts.at[inst].span, "nothing gives the input%s %s of '%s' (%s)", n == 1 ? "" : "s",
                          names.text, path.text, sym_text(dae->syms, dae->insts.at[inst].class_name));
    locate_move(dae, diag, inst);
    diag_help(diag, "connect a signal to %s, or write an equation for %s", n == 1 ? "it" : "them", n == 1 ? "it" : "each");
    out_free(&names);
    out_free(&path);
}

static bool
report_all(Undriven *u, DiagCode code, Diags *diags)
{
    const Dae *dae = u->dae;
    U8Vec said = {0};
    bool any = false;
    vec_grow(&said, dae->insts.n);
    for (Var v = 0; v < dae->nvars && !diags_full(diags); v++) {
        if (!is_undriven(u, v) || said.at[u->owner.at[v]])
            continue;
        said.at[u->owner.at[v]] = 1;
        report(u, v, code, diags);
        any = true;
    }
    vec_free(&said);
    return any;
}

bool
undriven_report(const Dae *dae, const Singular *under, DiagCode code, Diags *diags)
{
    Undriven u = {.dae = dae};
    bool negative;
    if (!under->variables.n)
        return false;
    vec_grow(&u.open, dae->nvars + 1);
    vec_grow(&u.connected, dae->connectors.n + 1);
    for (uint32_t k = 0; k < under->variables.n; k++)
        u.open.at[dae_alias(dae, under->variables.at[k], &negative)] = 1;
    for (uint32_t c = 0; c < dae->connects.n; c++)
        u.connected.at[dae->connects.at[c].a] = u.connected.at[dae->connects.at[c].b] = 1;
    find_inputs(&u);
    find_given(&u);
    bool any = report_all(&u, code, diags);
    vec_free(&u.open);
    vec_free(&u.given);
    vec_free(&u.connected);
    vec_free(&u.owner);
    return any;
}
