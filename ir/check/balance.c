// balance.c: does every variable have an equation?
//
// Purpose: find missing and surplus equations before anything is differentiated, and say so in the user's
// names: by component, connector and variable.
// Method: maximum matching in which a variable and its derivatives count as one unknown (the precondition
// of Pantelides' algorithm), then Dulmage-Mendelsohn for what is left over.
// Contract: requires alias. Changes nothing but diags, and mechanisms with redundant constraints
// (closure.c). False when the model is structurally singular.
// Complexity: that of matching.
//
//     x + y = 1                      ->   error: 1 equation is missing for 'x', 'y' in ...
//     x = 1; x = 2                   ->   error: 2 equations for 1 variable 'x' in ...
#include "ir/check/check.h"
#include "ir/check/conflict.h"
#include "ir/dae/locate.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_node.h"
#include "ir/index/index.h"
#include "ir/structure/culprits.h"
#include "ir/structure/structure.h"

enum { SHOWN_ITEMS = CULPRITS_SHOWN, SHOWN_OWNERS = 3 };

// --- words

static const char *
plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

typedef struct Reporter {
    Dae *dae;
    Diags *diags;
    const Singular *part;
    const Singular *under;
    U8Vec reported;    // per set of `under`: part of a causal conflict that was reported
    Map connector_of;  // instance -> connector
    U8Vec connected;   // per connector; 2: that it is not was reported
    DiagCode code;
    bool lacking;      // there is an under-determined part, too
    uint32_t set;
    uint32_t equations, variables; // in this set
    const uint32_t *equation, *variable;
    CulpritVec culprits; // what is shown of the equations
} Reporter;

// The component an instance belongs to: connectors, also nested ones, count as part of theirs.
static uint32_t
component_of(const Reporter *reporter, uint32_t inst)
{
    uint32_t connector;
    while (reporter->dae->insts.at[inst].parent != NONE && map_get(&reporter->connector_of, inst, &connector))
        inst = reporter->dae->insts.at[inst].parent;
    return inst;
}

static uint32_t
owner_of_var(const Reporter *reporter, Var var)
{
    const Group *group = dae_group(reporter->dae, var);
    return group ? component_of(reporter, group->inst) : 0;
}

static uint32_t
owner_of_equation(const Reporter *reporter, uint32_t equation)
{
    uint32_t node = reporter->dae->equations.at[equation].node;
    return node < reporter->dae->nodes.n ? component_of(reporter, reporter->dae->nodes.at[node].inst) : 0;
}

// "'a.f', 'a.s' and 3 more"
static void
print_variables(const Reporter *reporter, Out *out)
{
    uint32_t shown = reporter->variables <= SHOWN_ITEMS ? reporter->variables : SHOWN_ITEMS - 1;
    for (uint32_t k = 0; k < shown; k++) {
        out_text(out, k ? ", '" : "'");
        dae_told_name(reporter->dae, reporter->variable[k], out);
        out_char(out, '\'');
    }
    if (shown < reporter->variables)
        out_printf(out, " and %u more", reporter->variables - shown);
}

// " in component 'a' (Spring), component 'b' (Mass)": the owners of what is shown, each once.
static void
print_owners(const Reporter *reporter, bool vars, Out *out)
{
    uint32_t owners[SHOWN_ITEMS], n = 0, total = vars ? reporter->variables : reporter->culprits.n;
    uint32_t most = (vars ? reporter->variables : reporter->equations) > SHOWN_ITEMS ? SHOWN_OWNERS : SHOWN_ITEMS;
    bool more = false;
    for (uint32_t k = 0; k < total && !more; k++) {
        uint32_t owner = vars ? owner_of_var(reporter, reporter->variable[k])
                              : owner_of_equation(reporter, reporter->culprits.at[k].equation);
        uint32_t i = 0;
        while (i < n && owners[i] != owner)
            i++;
        more = i == most;
        if (i < n || more)
            continue;
        owners[n++] = owner;
        out_text(out, n == 1 ? " in " : ", ");
        locate_owner(reporter->dae, owner, out);
    }
    if (more)
        out_text(out, " and others");
}

static void
note_equations(const Reporter *reporter, Diag *diag)
{
    uint32_t left = reporter->equations;
    for (uint32_t k = 0; k < reporter->culprits.n && k < SHOWN_ITEMS; k++) {
        Culprit culprit = reporter->culprits.at[k];
        Out text = {0};
        locate_owner(reporter->dae, owner_of_equation(reporter, culprit.equation), &text);
        out_text(&text, ": ");
        dae_print_equation(reporter->dae, culprit.equation, &text);
        if (culprit.more)
            out_printf(&text, " (and %u more of this kind)", culprit.more);
        diag_note(diag, reporter->dae->equations.at[culprit.equation].span, "equation of %s", text.text);
        out_free(&text);
        left -= 1 + culprit.more;
    }
    if (left)
        diag_note(diag, (Span){0, 0}, "and %u more equations", left);
}

// Where the variables behind the first one are declared, each place once.
static void
note_declarations(const Reporter *reporter, Diag *diag)
{
    uint32_t places[SHOWN_ITEMS] = {dae_var_span(reporter->dae, reporter->variable[0]).lo}, n = 1;
    for (uint32_t k = 1; k < reporter->variables && n < SHOWN_ITEMS && k < 64; k++) {
        Span span = dae_var_span(reporter->dae, reporter->variable[k]);
        uint32_t i = 0;
        while (i < n && places[i] != span.lo)
            i++;
        if (i < n && reporter->variables > SHOWN_ITEMS)
            continue;
        places[n++] = span.lo;
        diag_note(diag, span, "'%s' is declared here", dae_name(reporter->dae, reporter->variable[k]));
    }
}

// --- too many equations

// The first equation that the user wrote outside the library, else the first that stands in the source, else the first.
static uint32_t
main_equation(const Reporter *reporter)
{
    const Dae *dae = reporter->dae;
    bool large = reporter->equations > SHOWN_ITEMS;
    for (uint32_t k = 0; large && k < reporter->culprits.n && k < SHOWN_ITEMS; k++) {
        const Equation *at = &dae->equations.at[reporter->culprits.at[k].equation];
        if (!at->generated && !sources_in_library(dae->sources, at->span.lo))
            return reporter->culprits.at[k].equation;
    }
    for (uint32_t k = 0; k < reporter->culprits.n; k++)
        if (!dae->equations.at[reporter->culprits.at[k].equation].generated)
            return reporter->culprits.at[k].equation;
    return reporter->culprits.at[0].equation;
}

// An equation for something that is known says more than that there is one too many.
static void
help_known(const Reporter *reporter, Diag *diag)
{
    static const char *const kinds[] = {[VAR_PARAMETER] = "a parameter", [VAR_CONSTANT] = "a constant", [VAR_INPUT] = "an input"};
    const Dae *dae = reporter->dae;
    const Equation *equation = &dae->equations.at[reporter->equation[0]];
    Expr left = expr_arg(dae->exprs, equation->shape, 0);
    Var var = expr_op(dae->exprs, left) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(dae->exprs, left)] : NONE;
    if (var == NONE || !dae_group(dae, var) || dae_kind(dae, var) < VAR_PARAMETER)
        return;
    diag_help(diag, "'%s' is %s: no equation determines it", dae_name(reporter->dae, var), kinds[dae_kind(dae, var)]);
}

// `Real x = 1` with an equation for der(x): most likely a start value is meant.
static void
help_start(const Reporter *reporter, Diag *diag)
{
    const Dae *dae = reporter->dae;
    for (uint32_t k = 0; k < reporter->equations; k++) {
        uint32_t n;
        const Var *row = dae_row(dae, reporter->equation[k], &n);
        bool declared = dae->equations.at[reporter->equation[k]].binding && n && dae_group(dae, row[0]);
        if (!declared || dae->var_der.at[row[0]] == NONE)
            continue;
        const char *name = dae_name(reporter->dae, row[0]);
        diag_help(diag, "a value in the declaration of '%s' is an equation that always holds; as a value at the start it is written "
                  "'%s(start = ..., fixed = true)'", name, name);
        return;
    }
}

// The connector to which nothing is connected and whose flows, which are zero then, the set says again; NONE: there is none.
static uint32_t
open_port(const Reporter *reporter)
{
    const Dae *dae = reporter->dae;
    for (uint32_t k = 0; k < reporter->equations; k++) {
        uint32_t n;
        const Equation *equation = &dae->equations.at[reporter->equation[k]];
        const Var *row = dae_row(dae, reporter->equation[k], &n);
        const Group *group = equation->generated && n == 1 ? dae_group(dae, row[0]) : NULL;
        uint32_t c;
        if (group && map_get(&reporter->connector_of, group->inst, &c) && reporter->connected.at[c] != 1)
            return c;
    }
    return NONE;
}

// What a component says about a port without a connection: once for each port.
static bool
report_open(Reporter *reporter)
{
    Dae *dae = reporter->dae;
    uint32_t c = open_port(reporter);
    if (c == NONE)
        return false;
    if (reporter->connected.at[c])
        return true;
    reporter->connected.at[c] = 2;
    uint32_t inst = dae->connectors.at[c].inst, component = dae->insts.at[inst].parent;
    Out port = {0}, name = {0};
    dae_inst_path(dae, inst, &port);
    dae_inst_path(dae, component, &name);
    Diag *diag = diag_add(reporter->diags, reporter->code, dae->insts.at[component].span, "nothing is connected to '%s', so that nothing "
                          "acts there, but '%s' (%s) determines what does", port.text, name.text,
                          sym_text(dae->syms, dae->insts.at[component].class_name));
    locate_move(dae, diag, component);
    diag_help(diag, "connect it, be it to a ground");
    out_free(&port);
    out_free(&name);
    return true;
}

// What an open port that was reported leaves undetermined.
static bool
lies_in_open_port(const Reporter *reporter)
{
    const Dae *dae = reporter->dae;
    uint32_t c, inst = locate_var_inst(dae, reporter->variable[0]);
    while (inst != NONE && !map_get(&reporter->connector_of, inst, &c))
        inst = dae->insts.at[inst].parent;
    return inst != NONE && reporter->connected.at[c] == 2;
}

static void
report_over(const Reporter *reporter)
{
    Out where = {0}, names = {0};
    print_owners(reporter, false, &where);
    print_variables(reporter, &names);
    Span span = reporter->dae->equations.at[main_equation(reporter)].span;
    uint32_t surplus = reporter->equations - reporter->variables;
    Diag *diag;
    bool redundant = !reporter->variables && reporter->dae->equations.at[reporter->equation[0]].generated;
    if (redundant)
        diag = diag_add(reporter->diags, reporter->code, span,
                        "an equation of this connection already follows from the others%s", where.text);
    else if (!reporter->variables)
        diag = diag_add(reporter->diags, reporter->code, span,
                        "an equation too many%s: everything in it is already known, or it repeats another equation",
                        where.text);
    else
        diag = diag_add(reporter->diags, reporter->code, span,
                        "%u equation%s too many%s: %u equations for %u variable%s %s", surplus, plural(surplus),
                        where.text, reporter->equations, reporter->variables, plural(reporter->variables),
                        names.text);
    locate_move(reporter->dae, diag, locate_equation_inst(reporter->dae, main_equation(reporter)));
    if (!redundant)
        note_equations(reporter, diag);
    if (redundant && reporter->lacking)
        diag_help(diag, "does the model lack a reference, such as a ground or a fixed point?");
    else if (redundant)
        diag_help(diag, "remove the connection, or something that fixes the same quantity");
    else if (!reporter->variables)
        help_known(reporter, diag);
    help_start(reporter, diag);
    if (!redundant)
        diag_help(diag, "remove %s of these equations, or free a quantity that they fix",
              surplus == 1 ? "one" : "some");
    out_free(&where);
    out_free(&names);
}

// --- too few

// Connectors of the set's alias classes that nothing is connected to.
static void
help_connectors(const Reporter *reporter, Diag *diag)
{
    Dae *dae = reporter->dae;
    uint32_t shown = 0;
    for (uint32_t c = 0; c < dae->connectors.n && shown < 3; c++) {
        const Connector *connector = &dae->connectors.at[c];
        bool touches = false;
        for (uint32_t i = 0; !reporter->connected.at[c] && i < dae->connector_types.at[connector->type].n; i++) {
            bool negative;
            Var var = dae_alias(dae, connector->first + i, &negative);
            for (uint32_t k = 0; k < reporter->variables && k < 64; k++)
                touches |= reporter->variable[k] == var;
        }
        if (!touches)
            continue;
        Out path = {0};
        dae_inst_path(dae, connector->inst, &path);
        diag_help(diag, "'%s' is not connected to anything", path.text);
        out_free(&path);
        shown++;
    }
}

static void
report_under(const Reporter *reporter)
{
    Out where = {0}, names = {0};
    print_owners(reporter, true, &where);
    print_variables(reporter, &names);
    Span span = dae_var_span(reporter->dae, reporter->variable[0]);
    uint32_t lacking = reporter->variables - reporter->equations;
    Diag *diag;
    if (!reporter->equations)
        diag = diag_add(reporter->diags, reporter->code, span, "no equation determines %s%s", names.text, where.text);
    else
        diag = diag_add(reporter->diags, reporter->code, span,
                        "%u equation%s missing: %u variables %s%s have only %u equation%s", lacking,
                        lacking == 1 ? " is" : "s are", reporter->variables, names.text, where.text,
                        reporter->equations, plural(reporter->equations));
    locate_move(reporter->dae, diag, locate_var_inst(reporter->dae, reporter->variable[0]));
    note_declarations(reporter, diag);
    note_equations(reporter, diag);
    help_connectors(reporter, diag);
    out_free(&where);
    out_free(&names);
}

// --- all sets

static void
report_part(Reporter *reporter, const Singular *part, DiagCode code, bool over)
{
    reporter->part = part;
    reporter->code = code;
    for (uint32_t s = 0; s + 1 < part->equation_start.n && !diags_full(reporter->diags); s++) {
        reporter->equation = part->equations.at + part->equation_start.at[s];
        reporter->variable = part->variables.at + part->variable_start.at[s];
        reporter->equations = part->equation_start.at[s + 1] - part->equation_start.at[s];
        reporter->variables = part->variable_start.at[s + 1] - part->variable_start.at[s];
        if (over && conflict_report(reporter->dae, part, s, reporter->under, &reporter->reported, reporter->diags))
            continue;
        if (over && floating_report(reporter->dae, part, s, reporter->under, &reporter->reported, reporter->diags))
            continue;
        if (over && report_open(reporter))
            continue;
        if (!over && (reporter->reported.at[s] || lies_in_open_port(reporter)))
            continue;
        culprits_find(reporter->dae, reporter->equation, reporter->equations, over, &reporter->culprits);
        if (over)
            report_over(reporter);
        else
            report_under(reporter);
    }
}

void
structure_report(Dae *dae, const Problem *problem, DiagCode over_code, DiagCode under_code, Diags *diags)
{
    Singular over, under;
    problem_singular(problem, problem->equation_of.n, &over, &under);
    Reporter reporter = {.dae = dae, .diags = diags};
    vec_grow(&reporter.connected, dae->connectors.n);
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        map_put(&reporter.connector_of, dae->connectors.at[c].inst, c);
    for (uint32_t c = 0; c < dae->connects.n; c++)
        reporter.connected.at[dae->connects.at[c].a] = reporter.connected.at[dae->connects.at[c].b] = 1;
    reporter.lacking = under.variables.n > 0;
    reporter.under = &under;
    vec_grow(&reporter.reported, under.variable_start.n + 1);
    // What is left follows from these.
    bool said = massless_report(dae, &under, diags)
             || (under_code == E0501 && variability_of_undetermined(dae, problem, diags))
             || (under_code == E0501 && undriven_report(dae, &under, under_code, diags)) || rheonomic_report(dae, &over, diags);
    if (!said) {
        report_part(&reporter, &over, over_code, true);
        report_part(&reporter, &under, under_code, false);
    }
    map_free(&reporter.connector_of);
    vec_free(&reporter.connected);
    vec_free(&reporter.reported);
    vec_free(&reporter.culprits);
    singular_free(&over);
    singular_free(&under);
}

// --- the pass

// Matches the problem in which a variable and its derivatives are one unknown. True when the matching is perfect.
static bool
match_merged(Dae *dae, Problem *problem)
{
    Structure structure = {.dae = dae};
    U32Vec column_of = {0};
    structure_equations(dae, &problem->equations);
    structure_unknowns(dae, &problem->unknown);
    structure_merge_derivatives(dae, &column_of);
    for (Var v = 0; v < dae->nvars; v++)
        problem->unknown.at[v] &= column_of.at[v] == v;
    structure_incidence(&structure, problem, column_of.at);
    bool good = problem_match(problem, dae->nvars, NULL) == 0 && problem_unmatched(problem) == 0;
    structure_free(&structure);
    vec_free(&column_of);
    return good;
}

// Before loops are closed: what is surplus because of a body without mass is no redundant constraint.
static void
find_massless(Dae *dae, const Problem *problem)
{
    if (!dae->massless.n)
        return;
    Singular over, under;
    problem_singular(problem, problem->equation_of.n, &over, &under);
    massless_find(dae, &over);
    singular_free(&over);
    singular_free(&under);
}

static bool
balance(Dae *dae, bool close, Diags *diags)
{
    Problem problem = {0};
    bool good = match_merged(dae, &problem);
    if (!good)
        find_massless(dae, &problem);
    if (!good && close && close_mechanisms(dae)) {
        problem_free(&problem);
        problem = (Problem){0};
        good = match_merged(dae, &problem);
    }
    if (!good)
        structure_report(dae, &problem, E0502, E0501, diags);
    problem_free(&problem);
    return good;
}

bool
balance_open(Dae *dae, Diags *diags)
{
    return balance(dae, false, diags);
}

bool
pass_balance(Dae *dae, Diags *diags)
{
    return balance(dae, true, diags);
}
