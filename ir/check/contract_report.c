// contract_report.c: messages about physical contracts.
//
// Purpose: names the component, the scalar bonds in mechanical words (translation along z of frame_a) and the
// equations that close them.
// Method: what Dulmage-Mendelsohn leaves over in the component's own problem; the direction of a bond follows from
// the unit and the element of its flow. Where several bonds are left over together, in directions that equations couple, the law of the
// component says which motion it is (constraint_closures.c). Contract: contract.h. Complexity: linear, once per faulty class.
#include "ir/check/contract.h"
#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/elements/elements.h"

#include <string.h>

enum { LISTED_MAX = 8 };

const char *
contract_path(Dae *dae, uint32_t inst)
{
    Out out = {0};
    dae_inst_path(dae, inst, &out);
    char *path = out.length ? arena_strndup(dae->arena, out.text, out.length)
                            : arena_printf(dae->arena, "%s", sym_text(dae->syms, dae->name));
    out_free(&out);
    return path;
}

// A variable's name within its component: "x", "flange_a.f".
static void
print_local(Dae *dae, uint32_t inst, Var var, Out *out)
{
    Out path = {0};
    dae_inst_path(dae, inst, &path);
    const char *name = dae_name(dae, var);
    out_text(out, path.length ? name + path.length + 1 : name);
    out_free(&path);
}

static const Connector *
place_connector(const Dae *dae, const Spot *place)
{
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        if (place->var >= connector->first
            && place->var < connector->first + dae->connector_types.at[connector->type].n)
            return connector;
    }
    return NULL;
}

static bool
flow_is_der(const Dae *dae, const Connector *connector, const Spot *place)
{
    const ConnectorType *type = connector ? &dae->connector_types.at[connector->type] : NULL;
    return type && place->scalar < type->n_bonds && type->bonds[place->scalar].flow_is_der;
}

// "x", "y" or "z" for an element of a vector of two or three, and for variables of these names; else NULL.
static const char *
axis_name(const Dae *dae, Var var)
{
    static const char *const axes[] = {"x", "y", "z"};
    const Group *group = dae_group(dae, var);
    uint32_t last = group->decl->rank ? dae->dims.at[group->decl->dims + group->decl->rank - 1] : 0;
    if (last == 2 || last == 3)
        return axes[(var - group->first) % last];
    const char *name = sym_text(dae->syms, group->decl->name);
    for (int i = 0; i < 3; i++)
        if (!strcmp(name, axes[i]))
            return axes[i];
    return NULL;
}

// "translation along z of frame_a" for a bond of a mechanical connector; false for others.
static bool
print_direction(Dae *dae, uint32_t inst, const Connector *connector, const Spot *place, Out *out)
{
    const Group *group = dae_group(dae, place->var);
    const char *unit = group && group->decl->unit ? sym_text(dae->syms, group->decl->unit) : "", *axis;
    bool translation = !strcmp(unit, "m") || !strcmp(unit, "m/s");
    if (!connector || (!translation && strcmp(unit, "rad") && strcmp(unit, "rad/s")))
        return false;
    Out path = {0}, port = {0};
    dae_inst_path(dae, inst, &path);
    dae_inst_path(dae, connector->inst, &port);
    axis = axis_name(dae, place->var);
    out_text(out, translation ? "translation" : "rotation");
    if (axis)
        out_printf(out, " %s %s", translation ? "along" : "about", axis);
    out_printf(out, " of %s", port.text + (path.length ? path.length + 1 : 0));
    out_free(&path);
    out_free(&port);
    return true;
}

// "translation along z of frame_a (flow der(frame_a.r_0[3]), effort frame_a.f[3])"
static void
print_bond(Dae *dae, uint32_t inst, const Spot *place, Out *out)
{
    const Connector *connector = place_connector(dae, place);
    bool der = flow_is_der(dae, connector, place), direction = print_direction(dae, inst, connector, place, out);
    out_text(out, direction ? " (" : "");
    out_text(out, der ? "flow der(" : "flow ");
    print_local(dae, inst, place->var, out);
    out_text(out, der ? "), effort " : ", effort ");
    print_local(dae, inst, place->effort, out);
    out_text(out, direction ? ")" : "");
}

void
contract_print_place(Dae *dae, uint32_t inst, const Spot *place, Out *out)
{
    if (place->effort == NONE) {
        print_local(dae, inst, place->var, out);
        return;
    }
    out_char(out, '(');
    print_local(dae, inst, place->var, out);
    out_text(out, ", ");
    print_local(dae, inst, place->effort, out);
    out_char(out, ')');
}

// What an equation says about the bonds: a condition on flows (FC) or on efforts (EC), a law between them, or,
// of efforts of both ports, their being common. Empty when variables of the component's own take part.
static const char *
closure_kind(const Contract *contract, uint32_t equation)
{
    const Dae *dae = contract->dae;
    uint32_t n, first = NONE;
    bool flow = false, effort = false, several = false;
    const Var *vars = dae_row(dae, equation, &n);
    for (uint32_t k = 0; k < n; k++) {
        Var var = vars[k];
        while (dae->var_der_of.at[var] != NONE)
            var = dae->var_der_of.at[var];
        uint32_t column = contract->column_of.at[var];
        if (column == NONE || column == INPUT_COLUMN)
            continue;
        const Spot *place = &contract->places.at[column];
        if (place->effort == NONE)
            return "";
        flow |= place->var == var;
        effort |= place->effort == var;
        uint32_t connector = (uint32_t)(place_connector(dae, place) - dae->connectors.at);
        several |= first != NONE && first != connector;
        first = connector;
    }
    if (flow && effort)
        return "an element: ";
    if (effort)
        return several ? "the common effort: " : "a condition on the effort (EC): ";
    return flow ? "a condition on the flow (FC): " : "";
}

static void
note_equations(const Contract *contract, Diag *diag, const Singular *over, bool closures)
{
    Dae *dae = contract->dae;
    uint32_t n = over->equation_start.n > 1 ? over->equation_start.at[1] : 0;
    for (uint32_t i = 0; i < n && i < LISTED_MAX; i++) {
        uint32_t equation = over->equations.at[i];
        Out text = {0};
        dae_print_equation(dae, equation, &text);
        diag_note(diag, dae->equations.at[equation].span, "%s%s",
                  closures ? closure_kind(contract, equation) : "one of the equations: ", text.text);
        out_free(&text);
    }
}

// Says in which axes vectors are resolved, as far as the connector's effort has a comment.
static void
help_axes(const Contract *contract, Diag *diag, uint32_t inst, const Singular *set)
{
    Dae *dae = contract->dae;
    uint32_t n = set->variable_start.n > 1 ? set->variable_start.at[1] : 0;
    for (uint32_t i = 0; i < n; i++) {
        const Spot *place = &contract->places.at[set->variables.at[i]];
        const Group *group = place->effort != NONE ? dae_group(dae, place->effort) : NULL;
        if (!group || !group->decl->comment || !group->decl->rank)
            continue;
        Out name = {0};
        print_local(dae, inst, group->first, &name);
        diag_help(diag, "%.*s is the %s", (int)strcspn(name.text, "["), name.text, sym_text(dae->syms, group->decl->comment));
        out_free(&name);
        return;
    }
}

// Scalar bonds (or own variables, when there are none) of the first culprit set, each scalar number once.
static uint32_t
print_scalars(const Contract *contract, uint32_t inst, const Singular *set, Out *out)
{
    uint32_t n = set->variable_start.n > 1 ? set->variable_start.at[1] : 0, listed = 0;
    U8Vec done = {0};
    vec_grow(&done, contract->places.n + 1);
    for (uint32_t i = 0; i < n && listed < LISTED_MAX; i++) {
        const Spot *place = &contract->places.at[set->variables.at[i]];
        if (place->effort == NONE || done.at[place->scalar])
            continue;
        done.at[place->scalar] = 1;
        out_text(out, listed++ ? "; " : "");
        print_bond(contract->dae, inst, place, out);
    }
    for (uint32_t i = 0; i < n && !listed; i++) {
        contract_print_place(contract->dae, inst, &contract->places.at[set->variables.at[i]], out);
        break;
    }
    vec_free(&done);
    return listed;
}

// "a scalar bond" when one is listed, "one of these scalar bonds" when the equations do not tell which.
static const char *
bonds_phrase(uint32_t listed)
{
    return listed > 1 ? "one of these scalar bonds" : "a scalar bond";
}

// An equation between orientations that come from outside: no connection of them is declared.
static bool
is_of_orientations(const Contract *contract, const Singular *over)
{
    uint32_t n, of = 0;
    const Var *vars = dae_row(contract->dae, over->equations.at[0], &n);
    for (uint32_t k = 0; k < n; k++)
        of += contract->turns.at[vars[k]] != 0;
    return n && of == n;
}

static void
report_over(const Contract *contract, uint32_t inst, const Singular *over, const char *motions, uint32_t n_motions)
{
    Out bonds = {0};
    uint32_t listed = print_scalars(contract, inst, over, &bonds);
    bool turns = !bonds.length && is_of_orientations(contract, over);
    Diag *d = motions && listed != 1
        ? diag_add(contract->diags, E0414, contract->dae->insts.at[inst].span, "constraint '%s' closes %s more than once: %s",
                   contract_path(contract->dae, inst), n_motions > 1 ? "scalar bonds" : "a scalar bond", motions)
        : diag_add(contract->diags, E0414, contract->dae->insts.at[inst].span, "constraint '%s' closes %s more than once: %s",
                   contract_path(contract->dae, inst), bonds_phrase(listed), bonds.length ? bonds.text
                   : turns ? "an equation between orientations that come from outside" : "an equation without unknowns");
    locate_move(contract->dae, d, inst);
    if (turns)
        diag_help(d, "a constraint that determines one orientation by the other says so: Connections.branch(frame_a.R, frame_b.R)");
    note_equations(contract, d, over, true);
    help_axes(contract, d, inst, over);
    diag_help(d, "each scalar bond takes the common effort and exactly one of: a condition on its flow (FC), "
                 "a condition on its effort (EC), or an element that relates the two; one of these is too many here");
    out_free(&bonds);
}

static void
report_under(const Contract *contract, uint32_t inst, const Singular *under, const char *motions, uint32_t n_motions)
{
    Out bonds = {0};
    uint32_t listed = print_scalars(contract, inst, under, &bonds);
    bool known = motions && listed > 1;
    Diag *d = diag_add(contract->diags, E0413, contract->dae->insts.at[inst].span,
                       "constraint '%s' leaves %s open: %s", contract_path(contract->dae, inst),
                       known ? n_motions > 1 ? "scalar bonds" : "a scalar bond" : bonds_phrase(listed), known ? motions : bonds.text);
    locate_move(contract->dae, d, inst);
    help_axes(contract, d, inst, under);
    diag_help(d, "add a condition on its flow (FC) to prevent this motion, a condition on its effort (EC) to leave it free, "
                 "or an element that relates the two");
    out_free(&bonds);
}

void
contract_report_constraint(Contract *contract, uint32_t inst, const Problem *problem)
{
    Singular over, under;
    problem_singular(problem, contract->places.n, &over, &under);
    Out twice = {0}, open = {0};
    uint32_t n_twice = over.equations.n - over.variables.n, n_open = under.variables.n - under.equations.n;
    bool known = constraint_surplus(contract->dae, inst, n_twice, n_open, &twice, &open);
    if (over.equations.n)
        report_over(contract, inst, &over, known ? twice.text : NULL, n_twice);
    if (under.variables.n)
        report_under(contract, inst, &under, known ? open.text : NULL, n_open);
    out_free(&twice);
    out_free(&open);
    singular_free(&over);
    singular_free(&under);
}

// What the first culprit set leaves open: the component's own variables, or when there are none its scalar
// bonds.
static void
print_undetermined(const Contract *contract, uint32_t inst, const Singular *under, Out *out)
{
    uint32_t n = under->variable_start.n > 1 ? under->variable_start.at[1] : 0, listed = 0;
    for (int bonds = 0; bonds < 2 && !listed; bonds++)
        for (uint32_t i = 0; i < n && listed < LISTED_MAX; i++) {
            const Spot *spot = &contract->places.at[under->variables.at[i]];
            if ((spot->effort != NONE) != bonds)
                continue;
            out_text(out, listed++ ? ", " : "; not determined: ");
            contract_print_place(contract->dae, inst, spot, out);
        }
}

void
contract_report_count(Contract *contract, uint32_t inst, const Problem *problem, const char *kind)
{
    Dae *dae = contract->dae;
    Singular over, under;
    problem_singular(problem, contract->places.n, &over, &under);
    uint32_t ports = 0, records = 0, needed = contract->places.n, have = problem->equations.n;
    for (uint32_t i = 0; i < needed; i++) {
        const Spot *place = &contract->places.at[i];
        ports += place->effort != NONE;
        records += place->effort == NONE && place_connector(dae, place);
    }
    Out orientation = {0};
    if (records)
        out_printf(&orientation, "%u for the orientation that it determines, ", records);
    Out list = {0};
    print_undetermined(contract, inst, &under, &list);
    const char *class_name = sym_text(dae->syms, dae->insts.at[inst].class_name);
    Diag *d = diag_add(contract->diags, have < needed ? E0415 : E0416, dae->insts.at[inst].span,
                       "%s '%s' of class %s has %u equation%s and needs %u: %u for its own variables, "
                       "%s%u for its scalar bonds%s", kind, contract_path(dae, inst), class_name, have,
                       have == 1 ? "" : "s", needed, needed - ports - records,
                       records ? orientation.text : "", ports, have < needed && list.length ? list.text : "");
    locate_move(dae, d, inst);
    if (have > needed)
        note_equations(contract, d, &over, false);
    out_free(&list);
    out_free(&orientation);
    singular_free(&over);
    singular_free(&under);
}

