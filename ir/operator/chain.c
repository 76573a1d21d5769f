// chain.c: unused chain variables of memory elements vanish.
//
// Purpose: a memory element declares the whole chains zeta -> x -> v -> a and delta -> p -> f, of which its
// law uses one quantity each; the rest must cost nothing.
// Method: a chain equation is y = der(x) or der(x) = y. When one of its two variables occurs nowhere else,
// in no equation, initial equation, reinit, assertion or bind, the equation only computes that variable:
// both are marked removed. Removing one may free the next, so sweeps run from the ends of the chains
// inwards. A derivative variable that no equation mentions any more is marked as well; a pass that mentions
// it again takes it back (dae_der). A rate y with a start value is no such variable: its start is one of x's
// motion. That of an integral x says something of x alone.
//     der(zeta) = x; v = der(x); a = der(v); p = g(x)   ->   p = g(x)
// Contract: after pass_bonds. Sets VARF_REMOVED and EQN_REMOVED; only in instances of memory classes.
// Complexity: linear in the model when there is a memory element, nothing otherwise.
#include "ir/dae/pass.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/chain.h"

typedef struct Chains {
    Dae *dae;
    U32Vec uses;  // per variable: rows it occurs in; for x also those of der(x)
    U32Vec direct; // per variable: rows it occurs in itself
    U8Vec started; // per variable: it has a start value
    U32Vec chains; // chain equations not yet removed
} Chains;

static bool
any_memory(const Dae *dae)
{
    for (uint32_t i = 0; i < dae->insts.n; i++)
        if (dae->insts.at[i].class_kind == CLASS_KIND_MEMORY)
            return true;
    return false;
}

static Var
base_variable(const Dae *dae, Var var)
{
    while (dae->var_der_of.at[var] != NONE)
        var = dae->var_der_of.at[var];
    return dae->var_pre_of.at[var] != NONE ? dae->var_pre_of.at[var] : var;
}

static void
count_row(Chains *chains, Expr shape, uint32_t row)
{
    const Dae *dae = chains->dae;
    for (uint32_t k = expr_nslots(dae->exprs, shape); k-- > 0;) {
        Var var = dae->rows.at[row + k];
        chains->uses.at[base_variable(dae, var)]++;
        chains->direct.at[var]++;
    }
}

static void
count_uses(Chains *chains)
{
    const Dae *dae = chains->dae;
    vec_grow(&chains->uses, dae->nvars);
    vec_grow(&chains->direct, dae->nvars);
    vec_grow(&chains->started, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        chains->started.at[var] = (dae->var_flags.at[var] & VARF_FIXED) != 0;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (dae->equations.at[e].kind != EQN_REMOVED)
            count_row(chains, dae->equations.at[e].shape, dae->equations.at[e].row);
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        count_row(chains, bind->shape, bind->row);
        if (bind->attr == ATTR_START)
            bind_each(bind, var)
                chains->started.at[var] = 1;
    }
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        count_row(chains, dae->asserts.at[i].condition, dae->asserts.at[i].row);
    for (uint32_t i = 0; i < dae->told.n; i++)
        count_row(chains, dae->told.at[i].shape, dae->told.at[i].row);
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit *reinit = &dae->reinits.at[i];
        count_row(chains, reinit->value, reinit->row);
        chains->uses.at[base_variable(dae, reinit->var)]++;
        chains->uses.at[reinit->when]++;
    }
}

// An unknown of a memory element's own.
static bool
is_chain_variable(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group && group->decl->kind == VAR_CONTINUOUS
           && dae->insts.at[group->inst].class_kind == CLASS_KIND_MEMORY;
}

bool
chain_link(const Dae *dae, uint32_t equation, Var *x, Var *y)
{
    const Equation *at = &dae->equations.at[equation];
    if (at->generated || at->kind == EQN_INITIAL
        || dae->insts.at[dae->nodes.at[at->node].inst].class_kind != CLASS_KIND_MEMORY)
        return false;
    Expr left = expr_arg(dae->exprs, at->shape, 0), right = expr_arg(dae->exprs, at->shape, 1);
    if (expr_op(dae->exprs, left) != OP_SLOT || expr_op(dae->exprs, right) != OP_SLOT)
        return false;
    Var a = dae->rows.at[at->row + expr_slot_of(dae->exprs, left)];
    Var b = dae->rows.at[at->row + expr_slot_of(dae->exprs, right)];
    bool a_der = dae->var_der_of.at[a] != NONE, b_der = dae->var_der_of.at[b] != NONE;
    *x = dae->var_der_of.at[a_der ? a : b];
    *y = a_der ? b : a;
    return a_der != b_der;
}

// One between variables of the element's own, which may be taken away.
static bool
is_chain_equation(const Dae *dae, uint32_t equation, Var *x, Var *y)
{
    return dae->equations.at[equation].kind == EQN_NORMAL && chain_link(dae, equation, x, y)
           && dae->var_der_of.at[*x] == NONE && is_chain_variable(dae, *x) && is_chain_variable(dae, *y);
}

static void
remove_variable(Dae *dae, Var var)
{
    for (; var != NONE; var = dae->var_der.at[var])
        dae->var_flags.at[var] |= VARF_REMOVED;
}

// Each sweep takes at least the ends of all chains; chains are as long as the class declares them.
static bool
sweep(Chains *chains)
{
    Dae *dae = chains->dae;
    uint32_t kept = 0, n = chains->chains.n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t equation = chains->chains.at[i];
        Var x, y;
        is_chain_equation(dae, equation, &x, &y);
        bool rate_unused = chains->uses.at[y] == 1 && !chains->started.at[y];
        Var unused = rate_unused ? y : chains->uses.at[x] == 1 ? x : NONE;
        if (unused == NONE) {
            chains->chains.at[kept++] = equation;
            continue;
        }
        dae->equations.at[equation].kind = EQN_REMOVED;
        chains->uses.at[x]--;
        chains->uses.at[y]--;
        remove_variable(dae, unused);
        // A derivative that nothing mentions any more does not make its variable a state.
        if (!--chains->direct.at[dae->var_der.at[x]])
            remove_variable(dae, dae->var_der.at[x]);
    }
    chains->chains.n = kept;
    return kept < n;
}

bool
pass_chain(Dae *dae, Diags *diags)
{
    (void)diags; // nothing here can be wrong
    if (!any_memory(dae))
        return true;
    Chains chains = {.dae = dae};
    count_uses(&chains);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        Var x, y;
        if (is_chain_equation(dae, e, &x, &y))
            vec_push(&chains.chains, e);
    }
    while (sweep(&chains))
        continue;
    vec_free(&chains.uses);
    vec_free(&chains.direct);
    vec_free(&chains.started);
    vec_free(&chains.chains);
    return true;
}
