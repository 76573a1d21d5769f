// audit_tables.c: the tables of the audit of power and energy.
//
// Purpose: the runtime adds up flow times effort per node of the bond graph.
// Method: a row per node that has bonds and a row per scalar bond; the flow of a mechanical bond is a derivative, which
// rates.c has made part of the model.
// Contract: the passes momenta_add, ideal_mark and rates_add have run. Complexity: linear.
#include "ir/lower/lower_inner.h"

static mdl_role
role_of(const GraphNode *node)
{
    static const uint8_t roles[] = {
        [NODE_ONE] = MDL_ROLE_JUNCTION, [NODE_ZERO] = MDL_ROLE_JUNCTION, [NODE_I] = MDL_ROLE_KINETIC,
        [NODE_BODY] = MDL_ROLE_KINETIC, [NODE_C] = MDL_ROLE_POTENTIAL, [NODE_MEMORY] = MDL_ROLE_MEMORY,
        [NODE_R] = MDL_ROLE_RESISTOR, [NODE_SE] = MDL_ROLE_SOURCE, [NODE_SF] = MDL_ROLE_SOURCE,
        [NODE_TF] = MDL_ROLE_TRANSFORMER, [NODE_GY] = MDL_ROLE_TRANSFORMER, [NODE_CONSTRAINT] = MDL_ROLE_MIXED,
        [NODE_COMPONENT] = MDL_ROLE_MIXED, [NODE_SIGNAL] = MDL_ROLE_MIXED,
    };
    if (node->kind == NODE_CONSTRAINT && node->parts.work == WORK_NONE)
        return MDL_ROLE_IDEAL;
    return node->kind == NODE_CONSTRAINT && node->parts.work == WORK_DRIVE ? MDL_ROLE_SOURCE : (mdl_role)roles[node->kind];
}

static mdl_term
term_of(Lowering *low, Var var)
{
    mdl_term term = {0, 1};
    double value;
    if (var == NONE || (dae_is_literal(low->dae, var, &value) && value == 0))
        return term;
    int sign;
    term.place = place_of(low, var, &sign);
    term.sign = sign;
    return term;
}

static mdl_term
flow_of(Lowering *low, const Bond *bond)
{
    Dae *dae = low->dae;
    const Connector *connector = &dae->connectors.at[bond->connector];
    if (!dae->connector_types.at[connector->type].bonds[bond->scalar].flow_is_der)
        return term_of(low, bond->flow);
    bool negative;
    Var var = dae_alias(dae, bond->flow, &negative);
    if (dae_kind(dae, var) != VAR_CONTINUOUS)
        return term_of(low, NONE); // a position that stands still
    mdl_term term = term_of(low, dae_name_der(dae, var));
    term.sign = negative ? -term.sign : term.sign;
    return term;
}

static mdl_node
make_node(Lowering *low, uint32_t node, uint32_t *junctions)
{
    Dae *dae = low->dae;
    const GraphNode *at = &dae->nodes.at[node];
    mdl_node made = {.role = role_of(at), .where = lower_place(low, at->span, "")};
    if (made.role == MDL_ROLE_JUNCTION) {
        made.name = arena_printf(low->arena, "junction J%u", ++*junctions);
        made.class_name = at->kind == NODE_ONE ? "1-junction" : "0-junction";
        return made;
    }
    Out path = {0};
    dae_inst_path(dae, at->inst, &path);
    made.name = path.length ? arena_strndup(low->arena, path.text, path.length) : sym_text(dae->syms, dae->name);
    made.class_name = sym_text(dae->syms, dae->insts.at[at->inst].class_name);
    out_free(&path);
    return made;
}

static uint32_t
make_nodes(Lowering *low, mdl_node *nodes, U32Vec *number)
{
    const Dae *dae = low->dae;
    uint32_t n = 0, junctions = 0;
    vec_grow(number, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        number->at[dae->bonds.at[b].component] = number->at[dae->bonds.at[b].junction] = 1;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (number->at[i]) {
            nodes[n] = make_node(low, i, &junctions);
            number->at[i] = n++;
        }
    return n;
}

void
make_audit(Lowering *low)
{
    const Dae *dae = low->dae;
    mdl_audit *audit = arena_new(low->arena, mdl_audit);
    mdl_node *nodes = arena_array(low->arena, mdl_node, dae->nodes.n + 1);
    mdl_bond *bonds = arena_array(low->arena, mdl_bond, dae->bonds.n + 1);
    U32Vec number = {0};
    audit->n_nodes = make_nodes(low, nodes, &number);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        Var momentum = b < dae->bond_momentum.n ? dae->bond_momentum.at[b] : NONE;
        Var weight = b < dae->bond_weight.n ? dae->bond_weight.at[b] : NONE;
        bonds[b] = (mdl_bond){number.at[bond->component], number.at[bond->junction], flow_of(low, bond),
                              term_of(low, bond->effort), term_of(low, momentum), term_of(low, weight)};
        nodes[bonds[b].component].inertia |= momentum != NONE;
    }
    audit->n_bonds = dae->bonds.n;
    audit->node = nodes;
    audit->bond = bonds;
    low->sys->model->audit = audit;
    vec_free(&number);
}
