// dae_verify.c: checks of the flat model.
//
// Purpose: a pass that breaks a link is found by name, before another pass trips over it.
// Method: every id of every table is looked at once. Contract: dae.h. Complexity: linear.
#include "ir/dae/dae.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"

typedef struct Check {
    const Dae *dae;
    Out *why;
    bool failed;
} Check;

static void
expect(Check *check, bool good, const char *table, uint32_t index, const char *what)
{
    if (good || check->failed)
        return;
    out_printf(check->why, "%s %u: %s", table, index, what);
    check->failed = true;
}

// What equations in force mention is part of the model.
static void
check_mentioned(Check *check, uint32_t equation)
{
    const Dae *dae = check->dae;
    const Equation *at = &dae->equations.at[equation];
    bool negative;
    if (at->kind == EQN_REMOVED || at->kind == EQN_ALIAS)
        return;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, at->shape); k++) {
        Var var = dae->rows.at[at->row + k];
        if (!(dae->var_flags.at[dae_alias(dae, var, &negative)] & VARF_REMOVED) || !expr_uses_slot(dae->exprs, at->shape, k))
            continue;
        Out name = {0};
        dae_var_name(dae, var, &name);
        if (!check->failed)
            out_printf(check->why, "equation %u: it has '%s', which was taken out of the model", equation, name.text);
        check->failed = true;
        out_free(&name);
    }
}

// shape over a row: the shape exists, its row lies in the table, its variables exist.
static void
check_slots(Check *check, const char *table, uint32_t index, Expr shape, uint32_t row)
{
    const Dae *dae = check->dae;
    bool exists = shape && shape <= expr_count(dae->exprs);
    expect(check, exists, table, index, "its expression does not exist");
    if (!exists)
        return;
    uint32_t n = expr_nslots(dae->exprs, shape);
    bool fits = (uint64_t)row + n <= dae->rows.n;
    expect(check, fits || !n, table, index, "its row is too short");
    for (uint32_t k = 0; k < n && fits; k++)
        expect(check, dae->rows.at[row + k] < dae->nvars, table, index, "its row names a variable that does not exist");
}

static void
check_instances(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        const Inst *inst = &dae->insts.at[i];
        expect(check, i ? inst->parent < i : inst->parent == NONE, "instance", i, "its parent does not come before it");
        expect(check, (uint64_t)inst->index + inst->rank <= dae->dims.n, "instance", i, "its subscripts do not exist");
    }
}

static void
check_groups(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->groups.n; i++) {
        const Group *group = &dae->groups.at[i];
        expect(check, group->inst < dae->insts.n, "variable group", i, "its instance does not exist");
        bool sizes = (uint64_t)group->decl->dims + group->decl->rank <= dae->dims.n;
        expect(check, sizes, "variable group", i, "its sizes do not exist");
        uint64_t count = 1;
        for (uint8_t k = 0; k < group->decl->rank && sizes; k++)
            count *= dae->dims.at[group->decl->dims + k];
        expect(check, count == group->decl->count, "variable group", i, "its count is not the product of its sizes");
        bool exist = (uint64_t)group->first + group->decl->count <= dae->nvars;
        expect(check, exist, "variable group", i, "its variables do not exist");
        for (uint32_t k = 0; k < group->decl->count && exist; k++)
            expect(check, dae->var_group.at[group->first + k] == i, "variable group", i, "a variable names another group");
    }
}

static void
check_variables(Check *check)
{
    const Dae *dae = check->dae;
    uint32_t n = dae->nvars;
    bool sized = dae->var_group.n == n && dae->var_flags.n == n && dae->var_der.n == n && dae->var_der_of.n == n
                 && dae->var_pre.n == n && dae->var_pre_of.n == n;
    expect(check, sized, "variables", n, "a table per variable has another length");
    expect(check, !dae->alias_of.n || dae->alias_of.n == n, "variables", n, "the alias table has another length");
    for (Var var = 0; var < n && sized; var++) {
        Var der = dae->var_der.at[var], pre = dae->var_pre.at[var], of = dae->var_der_of.at[var];
        expect(check, der == NONE || (der < n && dae->var_der_of.at[der] == var), "variable", var,
               "its derivative does not know it");
        expect(check, pre == NONE || (pre < n && dae->var_pre_of.at[pre] == var), "variable", var,
               "its pre() does not know it");
        bool derived = of != NONE || dae->var_pre_of.at[var] != NONE;
        expect(check, (dae->var_group.at[var] == NONE) == derived, "variable", var,
               "it is neither declared nor derived from another");
        if (dae->alias_of.n == n)
            expect(check, dae->alias_of.at[var] < n && dae->alias_of.at[dae->alias_of.at[var]] == dae->alias_of.at[var],
                   "variable", var, "its representative is represented by another");
    }
}

static void
check_equations(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        check_slots(check, "equation", i, equation->shape, equation->row);
        if (check->failed)
            return;
        expect(check, expr_op(dae->exprs, equation->shape) == OP_EQN, "equation", i, "it is not of the form left = right");
        expect(check, equation->node < dae->nodes.n, "equation", i, "its owner does not exist");
        expect(check, equation->kind <= EQN_REMOVED, "equation", i, "its kind does not exist");
        // Remembering changes no equation.
        expect(check, dae_resolved_holds((Dae *)dae, i), "equation", i, "what is remembered of it is what it was before");
        check_mentioned(check, i);
    }
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        const Law *law = &dae->laws.at[i];
        uint32_t n = dae->nvars;
        expect(check, law->x < n && law->p < n && law->a < n && law->mode < n, "law", i, "a variable does not exist");
        expect(check, law->equation < dae->equations.n && dae->equations.at[law->equation].kind == EQN_LAW, "law", i,
               "its equation is no law");
    }
}

static void
check_rest(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->coordinates.n; i++)
        expect(check, dae->coordinates.at[i] < dae->nvars, "coordinate", i, "its variable does not exist");
    for (uint32_t i = 0; i < dae->energies.n; i++) {
        check_slots(check, "energy", i, dae->energies.at[i].shape, dae->energies.at[i].row);
        expect(check, dae->energies.at[i].node < dae->nodes.n, "energy", i, "its owner does not exist");
    }
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        check_slots(check, "bind", i, bind->shape, bind->row);
        expect(check, bind->var + (uint64_t)bind->more * bind->stride < dae->nvars && bind->attr <= ATTR_STOP, "bind", i,
               "its variable or attribute does not exist");
        expect(check, !bind->more || (bind->stride && expr_op(dae->exprs, bind->shape) == OP_CONST), "bind", i,
               "only a number is that of several variables");
    }
    for (uint32_t i = 0; i < dae->rates.n; i++) {
        check_slots(check, "rate", i, dae->rates.at[i].shape, dae->rates.at[i].row);
        expect(check, dae->rates.at[i].var < dae->nvars, "rate", i, "its variable does not exist");
    }
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit *reinit = &dae->reinits.at[i];
        check_slots(check, "reinit", i, reinit->value, reinit->row);
        expect(check, reinit->var < dae->nvars && reinit->when < dae->nvars, "reinit", i, "a variable does not exist");
    }
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        check_slots(check, "assert", i, dae->asserts.at[i].condition, dae->asserts.at[i].row);
        expect(check, dae->asserts.at[i].inst < dae->insts.n && dae->asserts.at[i].level <= ASSERT_CLOSED, "assert", i,
               "its instance or level does not exist");
        expect(check, dae->asserts.at[i].told + dae->asserts.at[i].n_told <= dae->told.n, "assert", i, "a value of its message "
               "does not exist");
    }
    for (uint32_t i = 0; i < dae->told.n; i++)
        check_slots(check, "told", i, dae->told.at[i].shape, dae->told.at[i].row);
}

static void
check_connectors(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->connector_types.n; i++) {
        const ConnectorType *type = &dae->connector_types.at[i];
        for (uint32_t k = 0; k < type->n_bonds; k++)
            expect(check, type->bonds[k].flow < type->n && type->bonds[k].effort < type->n, "connector type", i,
                   "a bond names a scalar it does not have");
    }
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const Connector *connector = &dae->connectors.at[i];
        bool typed = connector->type < dae->connector_types.n;
        expect(check, typed && connector->inst < dae->insts.n, "connector", i, "its type or instance does not exist");
        if (typed)
            expect(check, (uint64_t)connector->first + dae->connector_types.at[connector->type].n <= dae->nvars, "connector", i,
                   "its variables do not exist");
    }
    for (uint32_t i = 0; i < dae->connects.n; i++)
        expect(check, dae->connects.at[i].a < dae->connectors.n && dae->connects.at[i].b < dae->connectors.n, "connect", i,
               "a connector does not exist");
}

static void
check_graph(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        expect(check, dae->nodes.at[i].inst < dae->insts.n && dae->nodes.at[i].kind <= NODE_SIGNAL, "node", i,
               "its instance or kind does not exist");
    for (uint32_t i = 0; i < dae->bonds.n; i++) {
        const Bond *bond = &dae->bonds.at[i];
        expect(check, bond->connector < dae->connectors.n, "bond", i, "its connector does not exist");
        expect(check, bond->component < dae->nodes.n && bond->junction < dae->nodes.n, "bond", i, "a node does not exist");
        expect(check, bond->flow < dae->nvars && bond->effort < dae->nvars, "bond", i, "a variable does not exist");
    }
}

static void
check_routines(Check *check)
{
    const Exprs *exprs = check->dae->exprs;
    for (uint32_t number = 1; number <= routine_count(exprs); number++) {
        const Routine *routine = routine_of(exprs, number);
        const char *wrong = routine->complete ? routine_wrong(exprs, routine) : NULL;
        expect(check, !wrong, "routine", number, wrong ? wrong : "");
    }
}

bool
dae_verify(const Dae *dae, Out *why)
{
    Check check = {.dae = dae, .why = why};
    check_instances(&check);
    check_groups(&check);
    check_variables(&check);
    check_equations(&check);
    check_rest(&check);
    check_connectors(&check);
    check_graph(&check);
    check_routines(&check);
    return !check.failed;
}
