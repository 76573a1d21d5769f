// local.c: local balance of classes without a physical contract.
//
// Purpose: a model or block has as many equations as unknowns of its own, whatever it is connected to (Modelica 3.6, section
// 4.8), so that a mistake is found in the class in which it was made.
// Method: the places of contract.c, and what a class with components adds. A connector to which its own components are
// connected is closed: connections bring as many equations as it has variables. What is declared `input` is given. An input of
// one of its components is an unknown of the class, unless something is connected to it, a modification gives it a value or the
// component has a value for the case that nothing is connected. An
// equation that stands in a modification belongs to the class of the variable that it determines. Classes of a library that was found are told of
// by a warning: some have parts on purpose that are balanced together only.
// Contract: part of pass_contract: contract_open_inputs before its indexes are used, contract_check_model for one instance.
// Complexity: linear in connects, connectors and variables, plus one matching per class that is wrong.
#include "ir/check/contract.h"
#include "ir/base/diag.h"
#include "ir/base/sets.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_node.h"

enum { LISTED_MAX = 8 };

// --- inputs

Var
contract_bound_var(const Dae *dae, const Equation *equation)
{
    if (!equation->binding)
        return NONE;
    Expr left = expr_arg(dae->exprs, equation->shape, 0);
    return expr_op(dae->exprs, left) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(dae->exprs, left)] : NONE;
}

static void
find_connected(Contract *contract)
{
    const Dae *dae = contract->dae;
    vec_grow(&contract->closed, dae->connectors.n);
    vec_grow(&contract->driven, dae->connectors.n);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        (connect->a_outside ? &contract->closed : &contract->driven)->at[connect->a] = 1;
        (connect->b_outside ? &contract->closed : &contract->driven)->at[connect->b] = 1;
    }
}

bool
contract_is_inside(const Dae *dae, uint32_t connector)
{
    const Connector *at = &dae->connectors.at[connector];
    return dae->insts.at[at->inst].internal && dae->connector_types.at[at->type].n == 1
        && dae->connector_types.at[at->type].causality[0] != CAUSALITY_NONE;
}

// What a class connects has one source: an output of a component or an input of its own. Where there is none it is a signal of its
// own that its equations determine: one that is protected, or an output.
static void
find_sources(Contract *contract)
{
    enum { OUTSIDE = 1, NOTHING = 0, CHOSEN = 1, FED = 2 };
    const Dae *dae = contract->dae;
    U32Vec parent = {0}; // per side of a connector: of the class that it is part of, and of the one around
    U8Vec state = {0};
    vec_grow(&contract->source, dae->connectors.n);
    sets_grow(&parent, 2 * dae->connectors.n);
    vec_grow(&state, 2 * dae->connectors.n);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        sets_join(&parent, 2 * connect->a + (connect->a_outside ? OUTSIDE : 0), 2 * connect->b + (connect->b_outside ? OUTSIDE : 0));
    }
    for (uint32_t side = 0; side < parent.n; side++) {
        uint32_t connector = side / 2;
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[connector].type];
        uint8_t fed_by = side & OUTSIDE ? CAUSALITY_INPUT : CAUSALITY_OUTPUT;
        bool own = (side & OUTSIDE) && contract_is_inside(dae, connector);
        if (type->n == 1 && type->causality[0] == fed_by && !own)
            state.at[sets_find(&parent, side)] = FED;
    }
    for (int pass = 0; pass < 2; pass++) // protected ones first
        for (uint32_t i = 0; i < dae->connectors.n; i++) {
            const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[i].type];
            uint8_t *set = &state.at[sets_find(&parent, 2 * i + OUTSIDE)];
            bool may = contract_is_inside(dae, i) || (pass && type->n == 1 && type->causality[0] == CAUSALITY_OUTPUT);
            if (!contract->closed.at[i] || !may || *set != NOTHING)
                continue;
            *set = CHOSEN;
            contract->source.at[i] = 1;
        }
    vec_free(&parent);
    vec_free(&state);
}

// The input that a class itself gives a value for when nothing is connected to it, or NONE.
static Var
default_input(const Dae *dae, const Equation *equation)
{
    bool equal = equation->guarded && expr_op(dae->exprs, equation->shape) == OP_EQN;
    Expr left = equal ? expr_arg(dae->exprs, equation->shape, 0) : 0;
    return left && expr_op(dae->exprs, left) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(dae->exprs, left)] : NONE;
}

static void
find_given(Contract *contract)
{
    const Dae *dae = contract->dae;
    vec_grow(&contract->given, dae->nvars);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        Var var = equation->binding ? contract_bound_var(dae, equation) : default_input(dae, equation);
        if (var != NONE)
            contract->given.at[var] |= GIVEN_BY_VALUE;
    }
    for (uint32_t i = 0; i < dae->in_streams.n; i++) // what flows in follows from the connections
        contract->given.at[dae->in_streams.at[i].in] |= GIVEN_BY_VALUE;
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const Connector *connector = &dae->connectors.at[i];
        for (uint32_t k = 0; contract->driven.at[i] && k < dae->connector_types.at[connector->type].n; k++)
            contract->given.at[connector->first + k] |= GIVEN_BY_CONNECTION;
    }
}

// The component around a component.
static uint32_t
owner_around(const Contract *contract, uint32_t inst)
{
    uint32_t component = contract->owner.at[inst], parent = contract->dae->insts.at[component].parent;
    return parent == NONE ? NONE : contract->owner.at[parent];
}

// A value of an input that is no connector stands in the declaration of its component (section 4.8). In this language, and in a library, any equation
// of the class around may give it.
static void
demand_value(Contract *contract, const Group *group)
{
    Dae *dae = contract->dae;
    const Inst *inst = &dae->insts.at[group->inst];
    if (!inst->span.hi || !sources_is_strict(dae->sources, inst->span.lo))
        return;
    Diag *diag = diag_add(contract->diags, E0420, inst->span, "the input '%s' of this component has no value", dae_name(dae, group->first));
    diag_help(diag, "its value stands in a modification: %s(%s = ...)", sym_text(dae->syms, inst->name), sym_text(dae->syms, group->decl->name));
    contract->ok = false;
}

// `owner_of` receives, for each variable in contract->inputs, the component whose unknown it is.
void
contract_open_inputs(Contract *contract, U32Vec *owner_of)
{
    const Dae *dae = contract->dae;
    find_connected(contract);
    find_sources(contract);
    find_given(contract);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const Connector *connector = &dae->connectors.at[i];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t k = 0; k < type->n; k++)
            if (type->causality[k] == CAUSALITY_INPUT && !contract->given.at[connector->first + k] && !contract_is_inside(dae, i)) {
                contract->given.at[connector->first + k] |= GIVEN_BY_VALUE; // its group is not looked at again
                vec_push(&contract->inputs, connector->first + k);
                vec_push(owner_of, owner_around(contract, connector->inst));
            }
    }
    for (uint32_t i = 0; i < dae->groups.n; i++) {
        const Group *group = &dae->groups.at[i];
        bool open = (group->decl->flags & (GROUP_INPUT | GROUP_PROTECTED)) == GROUP_INPUT && (group->decl->kind == VAR_CONTINUOUS || group->decl->kind == VAR_DISCRETE);
        bool missing = false;
        for (uint32_t k = 0; open && k < group->decl->count; k++)
            missing |= !contract->given.at[group->first + k];
        if (missing && owner_around(contract, group->inst) != NONE)
            demand_value(contract, group);
        for (uint32_t k = 0; open && k < group->decl->count; k++)
            if (!contract->given.at[group->first + k]) {
                vec_push(&contract->inputs, group->first + k);
                vec_push(owner_of, owner_around(contract, group->inst));
            }
    }
}

// --- one class

// "2 variables, 1 scalar bond and 1 input of its components"
static void
print_kinds(const Contract *contract, uint32_t inst, Out *out)
{
    static const char *const words[] = {"variable", "scalar bond", "input"};
    uint32_t n[3] = {0}, kinds = 0;
    for (uint32_t i = 0; i < contract->places.n; i++) {
        const Spot *spot = &contract->places.at[i];
        bool own = contract->owner.at[dae_group(contract->dae, spot->var)->inst] == inst;
        n[!own ? 2 : spot->effort != NONE]++;
    }
    for (int k = 0; k < 3; k++)
        if (n[k])
            out_printf(out, "%s%u %s%s%s", kinds++ ? " and " : "", n[k], words[k], n[k] == 1 ? "" : "s", k == 2 ? " of its components" : "");
    if (!kinds)
        out_text(out, "no unknowns");
}

static void
print_missing(const Contract *contract, uint32_t inst, const Singular *under, Out *out)
{
    uint32_t n = under->variables.n;
    for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
        const Spot *spot = &contract->places.at[under->variables.at[i]];
        out_text(out, i ? ", " : !under->equations.n ? "; not determined: " : "; not all determined: ");
        contract_print_place(contract->dae, inst, spot, out);
    }
    if (n > LISTED_MAX)
        out_printf(out, " and %u more", n - LISTED_MAX);
}

static const char *
plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

// Where an unknown is declared: an input of a component with that component, what is in a connector with that connector.
static Span
place_of(const Contract *contract, uint32_t inst, Var var)
{
    const Dae *dae = contract->dae;
    const Group *group = dae_group(dae, var);
    uint32_t owner = contract->owner.at[group->inst];
    return group->inst == inst ? group->decl->span : dae->insts.at[owner == inst ? group->inst : owner].span;
}

static void
note_others(const Contract *contract, Diag *diag, uint32_t inst, const Singular *over)
{
    Dae *dae = contract->dae;
    uint32_t n = over->equation_start.n > 1 ? over->equation_start.at[1] : 0;
    for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
        Out text = {0};
        dae_print_equation(dae, over->equations.at[i], &text);
        diag_note(diag, dae->equations.at[over->equations.at[i]].span, "one of the equations: %s", text.text);
        out_free(&text);
    }
    if (inst)
        diag_note(diag, dae->insts.at[inst].span, "'%s' is of this class", contract_path(dae, inst));
}

static void
report(Contract *contract, uint32_t inst, const Problem *problem)
{
    Dae *dae = contract->dae;
    Singular over, under;
    Out kinds = {0}, missing = {0};
    problem_singular(problem, contract->places.n, &over, &under);
    uint32_t have = problem->equations.n, needed = contract->places.n;
    bool lacks = have < needed, bonds = false;
    for (uint32_t i = 0; i < under.variables.n; i++)
        bonds |= contract->places.at[under.variables.at[i]].effort != NONE;
    print_kinds(contract, inst, &kinds);
    print_missing(contract, inst, &under, &missing);
    Var first = lacks ? contract->places.at[under.variables.at[0]].var : NONE;
    Span span = lacks ? place_of(contract, inst, first)
                      : dae->equations.at[over.equations.at[0]].span;
    // In a library it is no mistake of the user, and of no account where the model as a whole has as many equations as unknowns.
    Diag *diag = diag_add(contract->diags, dae->insts.at[inst].found ? W1405 : E0420, span, "class %s has %u equation%s for %s%s", sym_text(dae->syms, dae->insts.at[inst].class_name),
                          have, plural(have), kinds.text, lacks && missing.length ? missing.text : "");
    locate_move(dae, diag, inst);
    if (lacks && inst)
        diag_note(diag, dae->insts.at[inst].span, "'%s' is of this class", contract_path(dae, inst));
    if (lacks && contract->owner.at[dae_group(dae, first)->inst] != inst)
        diag_help(diag, "connect it, or give it a value in a modification");
    else if (lacks)
        diag_help(diag, "an equation for each unknown stands in the class itself or in a modification%s; what is given by equations "
                        "outside is declared as 'input'", bonds ? ", and one for each flow of its connectors" : "");
    else
        note_others(contract, diag, inst, &over);
    out_free(&kinds);
    out_free(&missing);
    singular_free(&over);
    singular_free(&under);
}

void
contract_check_model(Contract *contract, uint32_t inst)
{
    if (contract_add_places(contract, inst)) {
        Problem problem = {0};
        contract_make_problem(contract, inst, &problem);
        if (problem.equations.n != contract->places.n) {
            problem_match(&problem, contract->places.n, NULL);
            contract->ok &= contract->dae->insts.at[inst].found;
            report(contract, inst, &problem);
        }
        problem_free(&problem);
    }
    contract_forget_places(contract, inst);
}
