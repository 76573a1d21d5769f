// machine_connections.c: outputs of several states that are connected.
//
// Purpose: Modelica 3.6, section 17.3.6. Method: variables that connections make equal are found by union-find. Where outputs of two states
// of one machine are among them, the signal is what the active state gives, and all others are equal to it:
//
//     u1 = y1, u1 = y2, u2 = u1     become     u1 = if active1 then y1 elseif active2 then y2 else previous(u1), u2 = u1
//
// Contract: machine_inner.h. Appends and takes out equations. Complexity: linear in equations and connectors, times signals of this kind.
#include "ir/base/sets.h"
#include "ir/clocks/machine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

typedef struct Output {
    Var var;
    uint32_t state;
} Output;

typedef struct Merging {
    Machines *machines;
    U32Vec sets;              // union-find over variables
    VEC(Output) outputs;
} Merging;

// An equation that a connection makes of two variables.
static bool
is_connection(const Dae *dae, uint32_t i)
{
    const Equation *equation = &dae->equations.at[i];
    if (!equation->generated || equation->kind != EQN_NORMAL || expr_op(dae->exprs, equation->shape) != OP_EQN || expr_nslots(dae->exprs, equation->shape) != 2)
        return false;
    return expr_op(dae->exprs, expr_arg(dae->exprs, equation->shape, 0)) == OP_SLOT && expr_op(dae->exprs, expr_arg(dae->exprs, equation->shape, 1)) == OP_SLOT;
}

// Scalars of connectors that are outputs of states.
static void
find_outputs(Merging *merging)
{
    const Machines *machines = merging->machines;
    const Dae *dae = machines->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        uint32_t component = dae->insts.at[connector->inst].parent, state;
        if (component == NONE || !map_get(&machines->state_at, component, &state))
            continue;
        for (uint32_t k = 0; k < type->n; k++)
            if (type->causality[k] == CAUSALITY_OUTPUT)
                vec_push(&merging->outputs, ((Output){connector->first + k, state}));
    }
}

static bool
is_output(const Merging *merging, Var var, uint32_t machine)
{
    for (uint32_t i = 0; i < merging->outputs.n; i++)
        if (merging->outputs.at[i].var == var && merging->machines->states.at[merging->outputs.at[i].state].machine == machine)
            return true;
    return false;
}

// The connected variables of a set that are no outputs of the machine's states.
static void
find_others(const Merging *merging, const U32Vec *equations, uint32_t machine, U32Vec *others)
{
    const Dae *dae = merging->machines->dae;
    for (uint32_t i = 0; i < equations->n; i++)
        for (uint32_t side = 0; side < 2; side++) {
            Var var = dae->rows.at[dae->equations.at[equations->at[i]].row + side];
            bool known = is_output(merging, var, machine);
            for (uint32_t k = 0; k < others->n && !known; k++)
                known = others->at[k] == var;
            if (!known)
                vec_push(others, var);
        }
}

static void
write(Merging *merging, uint32_t equation, Var left, Expr right, U32Vec *vars)
{
    Machines *machines = merging->machines;
    Dae *dae = machines->dae;
    Expr slot = clocks_slot(&machines->clocks, left, vars);
    Equation *out = &dae->equations.at[equation];
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, slot, right), vars->at, &out->shape, &out->row);
    vec_clear(vars);
}

static void
merge(Merging *merging, uint32_t root, uint32_t machine)
{
    Machines *machines = merging->machines;
    Dae *dae = machines->dae;
    U32Vec equations = {0}, others = {0}, vars = {0};
    for (uint32_t i = 0; i < dae->equations.n; i++)
        if (is_connection(dae, i) && sets_find(&merging->sets, dae->rows.at[dae->equations.at[i].row]) == root)
            vec_push(&equations, i);
    find_others(merging, &equations, machine, &others);
    for (uint32_t i = 0; i < equations.n; i++)
        if (i >= others.n)
            dae->equations.at[equations.at[i]].kind = EQN_REMOVED;
    for (uint32_t k = 0; k < others.n; k++) {
        if (k) {
            write(merging, equations.at[k], others.at[k], clocks_slot(&machines->clocks, others.at[0], &vars), &vars);
            continue;
        }
        Expr value = machines_kept(machines, others.at[0], &vars);
        for (uint32_t i = merging->outputs.n; i-- > 0;) {
            Output at = merging->outputs.at[i];
            if (sets_find(&merging->sets, at.var) == root && machines->states.at[at.state].machine == machine)
                value = expr_3(dae->exprs, OP_IF, machines_is_active(machines, at.state, &vars), clocks_slot(&machines->clocks, at.var, &vars), value);
        }
        write(merging, equations.at[0], others.at[0], value, &vars);
    }
    vec_free(&equations);
    vec_free(&others);
    vec_free(&vars);
}

void
machines_merge_connections(Machines *machines)
{
    Dae *dae = machines->dae;
    Merging merging = {.machines = machines};
    Map first_of = {0}; // set -> its first output + 1, or 0 once it is merged
    find_outputs(&merging);
    sets_grow(&merging.sets, merging.outputs.n ? dae->nvars : 0);
    for (uint32_t i = 0; i < dae->equations.n && merging.outputs.n; i++)
        if (is_connection(dae, i))
            sets_join(&merging.sets, dae->rows.at[dae->equations.at[i].row], dae->rows.at[dae->equations.at[i].row + 1]);
    for (uint32_t i = 0; i < merging.outputs.n; i++) {
        uint32_t root = sets_find(&merging.sets, merging.outputs.at[i].var), first;
        if (!map_get(&first_of, root, &first)) {
            map_put(&first_of, root, i + 1);
            continue;
        }
        uint32_t machine = machines->states.at[merging.outputs.at[i].state].machine;
        if (!first || machines->states.at[merging.outputs.at[first - 1].state].machine != machine)
            continue;
        map_put(&first_of, root, 0);
        merge(&merging, root, machine);
    }
    map_free(&first_of);
    vec_free(&merging.sets);
    vec_free(&merging.outputs);
}
