// contract.c: physical contracts of body, element, constraint and memory classes.
//
// Purpose: says that a component has too few or too many equations where it happens, in the component's own
// words, before the whole model is found singular.
// Method: a component's unknowns are its own variables and, for every scalar bond of its ports, one of the
// pair (flow, effort): the other is the surroundings'. Elements, bodies and memory elements must have as
// many equations. A constraint joins exactly two power ports and closes each scalar bond once: of its two
// places per scalar bond (one for each port) one is taken by the common effort (f_a + f_b = 0), the other by
// a flow constraint, an effort constraint or an element. Bipartite matching of equations with these places
// and its Dulmage-Mendelsohn decomposition name what is open or closed twice.
// A class that has connectors and nothing else is a shell: a port of the class around, which writes the equations of its
// variables itself. Such a component is counted with the one around it, as a record is.
// An overconstrained record (the orientation of a frame) adds its scalars to the unknowns of the component that
// determines it: the root, and of each Connections.branch the end further from the root.
// Contract: after pass_bonds (nodes own equations). Reports, changes nothing. Composite components are not
// checked: their parts are. A class is checked once for each number of variables and equations it occurs
// with.
// Complexity: linear in components, plus one matching per class.
#include "ir/check/contract.h"
#include "ir/base/diag.h"
#include "ir/bonds/bonds.h"
#include "ir/dae/locate.h"
#include "ir/dae/pass.h"
#include "ir/elements/elements.h"
#include "ir/expr/expr_node.h"

static bool
is_part(const Dae *dae, uint32_t inst)
{
    uint8_t kind = dae->insts.at[inst].class_kind;
    return kind == CLASS_KIND_RECORD || kind == CLASS_KIND_OPERATOR_RECORD || kind == CLASS_KIND_CONNECTOR;
}

static bool
is_physical(const Dae *dae, uint32_t inst)
{
    return dae->insts.at[inst].class_kind >= CLASS_KIND_BODY && dae->insts.at[inst].class_kind <= CLASS_KIND_MEMORY;
}

static void
find_owners(Contract *contract)
{
    const Dae *dae = contract->dae;
    vec_grow(&contract->composite, dae->insts.n);
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        uint32_t parent = dae->insts.at[i].parent;
        bool part = parent != NONE && is_part(dae, i);
        vec_push(&contract->owner, part ? contract->owner.at[parent] : i);
        if (parent != NONE && !part)
            contract->composite.at[contract->owner.at[parent]] = 1;
    }
}

static uint32_t
owner_of_equation(const Contract *contract, const Equation *equation)
{
    const Dae *dae = contract->dae;
    bool own = !equation->generated && equation->kind != EQN_INITIAL && equation->kind != EQN_REMOVED;
    Var bound = contract_bound_var(dae, equation);
    uint32_t inst = bound != NONE ? dae_group(dae, bound)->inst : dae->nodes.at[equation->node].inst;
    return own ? contract->owner.at[inst] : NONE;
}

// The component that the class around gives a value with this side of an equation: `port.x = ...` in the class of which the
// connector's component is a part. NONE for everything else.
static uint32_t
component_given(const Contract *contract, const Equation *equation, uint32_t side)
{
    const Dae *dae = contract->dae;
    Expr at = expr_op(dae->exprs, equation->shape) == OP_EQN ? expr_arg(dae->exprs, equation->shape, side) : 0;
    if (!at || expr_op(dae->exprs, at) != OP_SLOT)
        return NONE;
    const Group *group = dae_group(dae, dae->rows.at[equation->row + expr_slot_of(dae->exprs, at)]);
    if (!group)
        return NONE;
    uint32_t inst = group->inst, component = contract->owner.at[inst], parent = dae->insts.at[component].parent;
    return component != inst && parent != NONE && contract->owner.at[parent] == owner_of_equation(contract, equation) ? component : NONE;
}

// Marks the components with variables or equations of their own. False when all that have connectors have such.
static bool
mark_full(const Contract *contract, const U32Vec *owner, U8Vec *full)
{
    const Dae *dae = contract->dae;
    vec_grow(full, dae->insts.n);
    for (uint32_t i = 0; i < dae->groups.n; i++)
        full->at[dae->groups.at[i].inst] = 1;
    for (uint32_t i = 0; i < owner->n; i++)
        if (owner->at[i] != NONE)
            full->at[owner->at[i]] = 1;
    for (uint32_t i = 0; i < dae->insts.n; i++)
        if (contract->owner.at[i] != i && !full->at[contract->owner.at[i]])
            return true;
    return false;
}

// Gives the connectors of shells to the components around. `owner` is that of each equation. False when there are none.
static bool
find_shells(Contract *contract, const U32Vec *owner)
{
    const Dae *dae = contract->dae;
    U8Vec full = {0}, given = {0};
    bool any = mark_full(contract, owner, &full);
    vec_grow(&given, any ? dae->insts.n : 0);
    for (uint32_t i = 0; any && i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        for (uint32_t side = 0; side < 2 && owner->at[i] != NONE && !equation->binding; side++) {
            uint32_t component = component_given(contract, equation, side);
            if (component != NONE)
                given.at[component] = 1;
        }
    }
    for (uint32_t i = 0; any && i < dae->insts.n; i++) {
        uint32_t component = contract->owner.at[i];
        if (i != component && given.at[component] && !full.at[component] && !contract->composite.at[component] && !is_physical(dae, component))
            contract->owner.at[i] = contract->owner.at[dae->insts.at[component].parent];
    }
    vec_free(&full);
    vec_free(&given);
    return any;
}

static void
find_equation_owners(const Contract *contract, U32Vec *owner)
{
    const Dae *dae = contract->dae;
    vec_clear(owner);
    vec_reserve(owner, dae->equations.n);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        owner->at[owner->n++] = owner_of_equation(contract, &dae->equations.at[i]);
}

static void
build_index(Index *index, uint32_t owners, const U32Vec *owner_of)
{
    vec_grow(&index->start, owners + 2);
    for (uint32_t i = 0; i < owner_of->n; i++)
        if (owner_of->at[i] != NONE)
            index->start.at[owner_of->at[i] + 2]++;
    for (uint32_t i = 0; i < owners; i++)
        index->start.at[i + 2] += index->start.at[i + 1];
    vec_grow(&index->items, index->start.at[owners + 1]);
    for (uint32_t i = 0; i < owner_of->n; i++)
        if (owner_of->at[i] != NONE)
            index->items.at[index->start.at[owner_of->at[i] + 1]++] = i;
}

static void
build_indexes(Contract *contract)
{
    const Dae *dae = contract->dae;
    U32Vec equation_owner = {0}, owner = {0};
    find_equation_owners(contract, &equation_owner);
    if (find_shells(contract, &equation_owner))
        find_equation_owners(contract, &equation_owner);
    build_index(&contract->equations, dae->insts.n, &equation_owner);
    vec_free(&equation_owner);
    for (uint32_t i = 0; i < dae->groups.n; i++)
        vec_push(&owner, contract->owner.at[dae->groups.at[i].inst]);
    build_index(&contract->groups, dae->insts.n, &owner);
    vec_clear(&owner);
    for (uint32_t i = 0; i < dae->connectors.n; i++)
        vec_push(&owner, contract->owner.at[dae->connectors.at[i].inst]);
    build_index(&contract->connectors, dae->insts.n, &owner);
    vec_clear(&owner);
    contract_open_inputs(contract, &owner);
    build_index(&contract->open_inputs, dae->insts.n, &owner);
    vec_free(&owner);
}

// --- the places of one component

static uint32_t
add_place(Contract *contract, Var var, Var effort, uint32_t scalar)
{
    vec_push(&contract->places, (Spot){var, effort, scalar});
    uint32_t column = contract->places.n - 1;
    contract->column_of.at[var] = column;
    if (effort != NONE)
        contract->column_of.at[effort] = column;
    return column;
}

// A variable of an overconstrained record that is no flow of a bond: given from outside, or determined here.
static void
add_graph_variable(Contract *contract, uint32_t connector, Var var, bool determined)
{
    if (determined) {
        add_place(contract, var, NONE, 0);
        return;
    }
    contract->column_of.at[var] = INPUT_COLUMN;
    contract->turns.at[var] = connector + 1;
}

static bool
is_graph(const Dae *dae, const ConnectorType *type, uint32_t k)
{
    return type->causality[k] == CAUSALITY_GRAPH && dae->knows_graph;
}

// Whether the record that scalar k of a connector belongs to is determined here; `before`: whether that of the scalar before it is.
static bool
is_determined(const Contract *contract, const ConnectorType *type, Var first, uint32_t k, bool before)
{
    bool begins = k == 0 || type->causality[k - 1] != CAUSALITY_GRAPH || contract->determined.at[first + k];
    return is_graph(contract->dae, type, k) && begins ? contract->determined.at[first + k] : before;
}

// The next flow variable without a partner.
static uint32_t
next_flow(const Contract *contract, const ConnectorType *type, Var first, uint32_t flow)
{
    while (flow < type->n && (!type->is_flow[flow] || contract->column_of.at[first + flow] != NONE))
        flow++;
    return flow;
}

// Pairs each scalar bond's variables, then what is left of flows and potentials in order. False for a
// connector whose flows and potentials do not pair up.
static bool
add_connector(Contract *contract, uint32_t connector)
{
    const Dae *dae = contract->dae;
    const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[connector].type];
    Var first = dae->connectors.at[connector].first;
    bool determined = false, inside = contract_is_inside(dae, connector);
    for (uint32_t k = 0; k < type->n_bonds; k++)
        add_place(contract, first + type->bonds[k].flow, first + type->bonds[k].effort, k);
    uint32_t flow = 0, scalar = type->n_bonds;
    for (uint32_t k = 0; k < type->n; k++) {
        bool graph = is_graph(dae, type, k);
        determined = is_determined(contract, type, first, k, determined);
        if (contract->column_of.at[first + k] != NONE)
            continue;
        if (graph)
            add_graph_variable(contract, connector, first + k, determined);
        else if (type->causality[k] == CAUSALITY_INPUT && !inside)
            contract->column_of.at[first + k] = INPUT_COLUMN;
        else if (inside || type->causality[k] == CAUSALITY_OUTPUT || type->causality[k] == CAUSALITY_STREAM)
            add_place(contract, first + k, NONE, 0);
        else if (!type->is_flow[k]) {
            flow = next_flow(contract, type, first, flow);
            if (flow == type->n)
                return false;
            add_place(contract, first + k, first + flow, scalar++);
        }
    }
    for (uint32_t k = 0; k < type->n; k++)
        if (contract->column_of.at[first + k] == NONE)
            return false;
    return true;
}

// What is connected inside is given from there, but for records that equations of the class itself determine: where a branch of its own and one
// inside make a loop, a connection between both is left out.
static void
close_connector(Contract *contract, uint32_t connector)
{
    const Dae *dae = contract->dae;
    const Connector *at = &dae->connectors.at[connector];
    const ConnectorType *type = &dae->connector_types.at[at->type];
    bool determined = false;
    for (uint32_t k = 0; k < type->n; k++) {
        determined = is_determined(contract, type, at->first, k, determined);
        if (determined && is_graph(dae, type, k))
            add_place(contract, at->first + k, NONE, 0);
        else
            contract->column_of.at[at->first + k] = INPUT_COLUMN;
    }
}

// Its own variables that are not part of connectors.
static void
add_group(Contract *contract, const Group *group)
{
    bool given = (group->decl->flags & (GROUP_INPUT | GROUP_PROTECTED)) == GROUP_INPUT;
    for (uint32_t k = 0; k < group->decl->count; k++)
        if (contract->column_of.at[group->first + k] == NONE && given)
            contract->column_of.at[group->first + k] = INPUT_COLUMN;
        else if (contract->column_of.at[group->first + k] == NONE)
            add_place(contract, group->first + k, NONE, 0);
}

bool
contract_add_places(Contract *contract, uint32_t inst)
{
    const Dae *dae = contract->dae;
    const Index *connectors = &contract->connectors, *groups = &contract->groups, *inputs = &contract->open_inputs;
    bool paired = true;
    vec_clear(&contract->places);
    for (uint32_t i = connectors->start.at[inst]; i < connectors->start.at[inst + 1]; i++)
        if (contract->closed.at[connectors->items.at[i]] && !contract->source.at[connectors->items.at[i]])
            close_connector(contract, connectors->items.at[i]);
        else
            paired &= add_connector(contract, connectors->items.at[i]);
    for (uint32_t i = groups->start.at[inst]; i < groups->start.at[inst + 1]; i++) {
        const Group *group = &dae->groups.at[groups->items.at[i]];
        // By a pass, with an equation, or the front end's inStream().
        bool made = dae->balanced && (group->first >= dae->balanced
                                      || ((group->decl->flags & GROUP_HIDDEN) && contract->given.at[group->first]));
        if (!made && (group->decl->kind == VAR_CONTINUOUS || group->decl->kind == VAR_DISCRETE))
            add_group(contract, group);
    }
    for (uint32_t i = inputs->start.at[inst]; i < inputs->start.at[inst + 1]; i++)
        add_place(contract, contract->inputs.at[inputs->items.at[i]], NONE, 0);
    return paired;
}

void
contract_forget_places(Contract *contract, uint32_t inst)
{
    for (uint32_t i = 0; i < contract->places.n; i++) {
        contract->column_of.at[contract->places.at[i].var] = NONE;
        if (contract->places.at[i].effort != NONE)
            contract->column_of.at[contract->places.at[i].effort] = NONE;
    }
    const Dae *dae = contract->dae;
    const Index *connectors = &contract->connectors, *groups = &contract->groups;
    for (uint32_t i = connectors->start.at[inst]; i < connectors->start.at[inst + 1]; i++) {
        const Connector *connector = &dae->connectors.at[connectors->items.at[i]];
        for (uint32_t k = 0; k < dae->connector_types.at[connector->type].n; k++)
            contract->column_of.at[connector->first + k] = NONE;
    }
    for (uint32_t i = groups->start.at[inst]; i < groups->start.at[inst + 1]; i++) {
        const Group *group = &dae->groups.at[groups->items.at[i]];
        for (uint32_t k = 0; (group->decl->flags & GROUP_INPUT) && k < group->decl->count; k++)
            contract->column_of.at[group->first + k] = NONE;
    }
}

static Var
base_variable(const Dae *dae, Var var)
{
    while (dae->var_der_of.at[var] != NONE)
        var = dae->var_der_of.at[var];
    return var;
}

static bool
has_place(const Contract *contract, const Var *vars, uint32_t n)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t column = contract->column_of.at[base_variable(contract->dae, vars[k])];
        any |= column != NONE && column != INPUT_COLUMN;
    }
    return any;
}

// u = ... with an input u and nothing of the component on the right is the modification that binds the input,
// not an equation of the class: a modification is written by the surroundings and speaks of them. An equation between two of
// its inputs is its own: models that are inverted have such. So is the value that the class gives an input that is connected:
// it determines another variable of the class.
static bool
binds_input(const Contract *contract, uint32_t equation)
{
    const Dae *dae = contract->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    Expr left = expr_arg(dae->exprs, dae->equations.at[equation].shape, 0);
    Var bound = contract_bound_var(dae, &dae->equations.at[equation]);
    if (bound != NONE && contract->column_of.at[bound] == INPUT_COLUMN)
        return !(contract->given.at[bound] & GIVEN_BY_CONNECTION) || !has_place(contract, vars, n);
    // In the user's own Modelica file an equation of the class is one that determines something of it (section 4.8).
    bool own = !dae->equations.at[equation].binding && !dae->equations.at[equation].guarded && sources_is_strict(dae->sources, dae->equations.at[equation].span.lo);
    if (n == 0 || own || expr_op(dae->exprs, left) != OP_SLOT)
        return false;
    Var input = vars[expr_slot_of(dae->exprs, left)];
    for (uint32_t k = 0; k < n; k++)
        if (vars[k] != input && contract->column_of.at[base_variable(dae, vars[k])] != NONE)
            return false;
    return contract->column_of.at[input] == INPUT_COLUMN;
}

// A condition on an orientation holds rotations, whose flows are other variables than the orientation's: those of all
// rotational bonds of its connector.
static void
add_rotations(const Contract *contract, Var var, uint32_t round, U32Vec *seen, U32Vec *columns)
{
    const Dae *dae = contract->dae;
    uint32_t connector = contract->turns.at[var] - 1;
    const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[connector].type];
    for (uint32_t k = 0; k < type->n_bonds; k++) {
        uint32_t column = contract->column_of.at[dae->connectors.at[connector].first + type->bonds[k].flow];
        if (type->causality[type->bonds[k].flow] != CAUSALITY_GRAPH || column >= INPUT_COLUMN || seen->at[column] == round)
            continue;
        seen->at[column] = round;
        vec_push(columns, column);
    }
}

void
contract_make_problem(const Contract *contract, uint32_t inst, Problem *problem)
{
    const Dae *dae = contract->dae;
    const Index *equations = &contract->equations;
    Incidence *incidence = &problem->incidence;
    U32Vec seen = {0}; // per column: last equation position + 1 that has it
    vec_grow(&seen, contract->places.n);
    vec_push(&incidence->start, 0);
    for (uint32_t i = equations->start.at[inst]; i < equations->start.at[inst + 1]; i++) {
        uint32_t equation = equations->items.at[i], n;
        if (binds_input(contract, equation))
            continue;
        vec_push(&problem->equations, equation);
        const Var *vars = dae_row(dae, equation, &n);
        for (uint32_t k = 0; k < n; k++) {
            Var base = base_variable(dae, vars[k]);
            uint32_t column = contract->column_of.at[base];
            if (column == INPUT_COLUMN && contract->turning && contract->turns.at[base])
                add_rotations(contract, base, problem->equations.n, &seen, &incidence->column);
            if (column == NONE || column == INPUT_COLUMN || seen.at[column] == problem->equations.n)
                continue;
            seen.at[column] = problem->equations.n;
            vec_push(&incidence->column, column);
        }
        vec_push(&incidence->start, incidence->column.n);
        vec_push(&incidence->match_end, incidence->column.n);
    }
    vec_grow(&problem->unknown, contract->places.n);
    if (contract->places.n)
        memset(problem->unknown.at, 1, contract->places.n);
    vec_free(&seen);
}

// --- checking

// Ends of a constraint are its largest power ports: the frames of the bodies; smaller ones, shafts or slides, are drives.
static uint32_t
count_ends(const Contract *contract, uint32_t inst)
{
    const Dae *dae = contract->dae;
    const Index *connectors = &contract->connectors;
    uint32_t ends = 0, largest = 0;
    for (uint32_t i = connectors->start.at[inst]; i < connectors->start.at[inst + 1]; i++) {
        uint32_t n = dae->connector_types.at[dae->connectors.at[connectors->items.at[i]].type].n_bonds;
        ends = n > largest ? 1 : ends + (n && n == largest);
        largest = n > largest ? n : largest;
    }
    return ends;
}

static bool
check_ports(Contract *contract, uint32_t inst)
{
    Dae *dae = contract->dae;
    uint32_t ends = count_ends(contract, inst);
    if (ends == 1 || ends == 2)
        return true;
    Diag *d = diag_add(contract->diags, E0404, dae->insts.at[inst].span,
                       "constraint '%s' of class %s has %u power ports; a constraint joins two, or holds one against the ground",
                       contract_path(dae, inst), sym_text(dae->syms, dae->insts.at[inst].class_name), ends);
    locate_move(dae, d, inst);
    diag_help(d, "a class with another number of ports is an 'element'");
    contract->ok = false;
    return false;
}

// Whether each scalar bond is closed when conditions on orientations are taken for what they may be.
static bool
closes_turning(Contract *contract, uint32_t inst)
{
    Problem problem = {0};
    contract->turning = true;
    contract_make_problem(contract, inst, &problem);
    contract->turning = false;
    uint32_t unmatched = problem_match(&problem, contract->places.n, NULL);
    problem_free(&problem);
    return !unmatched;
}

static void
check_equations(Contract *contract, uint32_t inst)
{
    static const char *const kinds[] = {"body", "element", "constraint", "memory element"};
    const Dae *dae = contract->dae;
    uint8_t class_kind = dae->insts.at[inst].class_kind;
    if (contract_add_places(contract, inst)) {
        Problem problem = {0};
        contract_make_problem(contract, inst, &problem);
        uint32_t unmatched = problem_match(&problem, contract->places.n, NULL);
        bool equal = problem.equations.n == contract->places.n;
        bool constraint = class_kind == CLASS_KIND_CONSTRAINT;
        if (!equal || (constraint && unmatched && !closes_turning(contract, inst))) {
            contract->ok = false;
            if (constraint)
                contract_report_constraint(contract, inst, &problem);
            else
                contract_report_count(contract, inst, &problem, kinds[class_kind - CLASS_KIND_BODY]);
        }
        problem_free(&problem);
    }
    contract_forget_places(contract, inst);
}

static uint32_t
count(const Index *index, uint32_t inst)
{
    return index->start.at[inst + 1] - index->start.at[inst];
}

static void
check(Contract *contract, uint32_t inst)
{
    const Inst *at = &contract->dae->insts.at[inst];
    const Index *groups = &contract->groups, *connectors = &contract->connectors;
    bool physical = is_physical(contract->dae, inst);
    uint64_t key = hash_add(hash_add(at->class_name, count(&contract->equations, inst)), count(&contract->open_inputs, inst));
    for (uint32_t i = connectors->start.at[inst]; i < connectors->start.at[inst + 1]; i++)
        key = hash_add(key, contract->closed.at[connectors->items.at[i]]);
    uint64_t scalars = 0;
    for (uint32_t i = groups->start.at[inst]; i < groups->start.at[inst + 1]; i++)
        scalars += contract->dae->groups.at[groups->items.at[i]].decl->count;
    key = hash_add(key, scalars);
    uint32_t seen;
    if (map_get(&contract->checked, key, &seen))
        return;
    map_put(&contract->checked, key, inst);
    if (at->class_kind == CLASS_KIND_CONSTRAINT && !check_ports(contract, inst))
        return;
    if (!physical)
        contract_check_model(contract, inst);
    else if (!contract->composite.at[inst])
        check_equations(contract, inst);
}

// Whether an instance is a component whose class can be checked. The model itself is balanced as a whole (balance.c), unless it
// is a part of others.
static bool
is_checked(const Contract *contract, uint32_t inst)
{
    const Dae *dae = contract->dae;
    if (is_physical(dae, inst))
        return true;
    return dae->balanced && !is_part(dae, inst) && !dae->insts.at[inst].has_energy && (inst || dae_has_open_flanges(dae));
}

bool
pass_contract(Dae *dae, Diags *diags)
{
    Contract contract = {.dae = dae, .diags = diags, .ok = true};
    find_owners(&contract);
    build_indexes(&contract);
    vec_reserve(&contract.column_of, dae->nvars);
    for (uint32_t v = 0; v < dae->nvars; v++)
        vec_push(&contract.column_of, NONE);
    vec_grow(&contract.turns, dae->nvars);
    vec_grow(&contract.determined, dae->nvars);
    for (uint32_t i = 0; i < dae->determined_records.n; i++)
        contract.determined.at[dae->determined_records.at[i]] = 1;
    for (uint32_t i = 0; i < dae->insts.n; i++)
        if (is_checked(&contract, i))
            check(&contract, i);
    Index *indexes[] = {&contract.groups, &contract.connectors, &contract.equations, &contract.open_inputs};
    for (int i = 0; i < 4; i++) {
        vec_free(&indexes[i]->start);
        vec_free(&indexes[i]->items);
    }
    vec_free(&contract.owner);
    vec_free(&contract.composite);
    vec_free(&contract.column_of);
    vec_free(&contract.places);
    vec_free(&contract.turns);
    vec_free(&contract.determined);
    vec_free(&contract.closed);
    vec_free(&contract.driven);
    vec_free(&contract.source);
    vec_free(&contract.given);
    vec_free(&contract.inputs);
    map_free(&contract.checked);
    return contract.ok && constraints_are_closed(dae, diags) && pieces_are_held(dae, diags);
}
