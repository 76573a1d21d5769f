// dae_text.c: the flat model as text, and its checks.
//
// Purpose: `mdlc show flat`, golden tests of elaboration, and the other half of dae_read.
// Method: one line per instance, variable, bind, node, bond, connector and equation, in id order; the
// language is specified in docs/ir.md. dae_verify looks at every id once.
// Contract: dae.h. Complexity: linear in the text.
#include <math.h>
#include <string.h>

#include "ir/dae/dae.h"
#include "ir/dae/dae_calls.h"
#include "ir/dae/dae_text.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_text.h"

const char *const dae_text_types[] = {"Real", "Integer", "Boolean", "String", "enum", "Clock"};
const char *const dae_text_kinds[] = {"", "discrete", "parameter", "constant", "input"};
const char *const dae_text_attrs[] = {"value", "start", "nominal", "min", "max", "stop", "rate"};
const char *const dae_text_selects[] = {"", "never", "avoid", "prefer", "always"};
const char *const dae_text_group_flags[] = {"flow", "protected", "final", "output", "hidden", "evaluate", "when", "step"};
const char *const dae_text_strings[] = {"unit", "display", "quantity", "comment"};
const char *const dae_text_equations[] = {"", "initial", "when", "law", "alias", "removed"};
const char *const dae_text_causes[] = {"", "input", "output", "graph", "stream", "deduced"};
const char *const dae_text_levels[] = {"error", "warning", "terminate", "closed"};
const char *const dae_text_energies[] = {"kinetic", "potential", "dissipation", "force", "inertia", "constraint"};
const char *const dae_text_nodes[] = {"component", "one", "zero", "I", "C", "R", "Se", "Sf", "TF", "GY", "memory",
                                      "constraint", "body", "signal"};

static void
print_path(const Dae *dae, uint32_t inst, Out *out)
{
    if (dae->insts.at[inst].parent == NONE)
        out_char(out, '/'); // the model itself
    else
        dae_inst_path(dae, inst, out);
}

typedef struct RowText {
    const Dae *dae;
    const DaeCalls *calls;
    const Var *vars;
} RowText;

// A literal bound through a slot stands in braces: it is no part of the shape.
static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const RowText *row = context;
    double value;
    bool literal = dae_is_literal(row->dae, row->vars[slot], &value);
    if (literal)
        out_char(out, '{');
    dae_var_name(row->dae, row->vars[slot], out);
    if (literal)
        out_char(out, '}');
}

static void
print_routine(Out *out, uint32_t routine, void *context)
{
    dae_calls_name(((const RowText *)context)->calls, routine, out);
}

static uint32_t
site_place(uint32_t site, void *context)
{
    return dae_calls_site(((const RowText *)context)->calls, site);
}

static void
print_shape(const DaeCalls *calls, Expr shape, uint32_t row, Out *out)
{
    RowText text = {calls->dae, calls, calls->dae->rows.at + row};
    ExprWriter writer = {.slot = print_slot, .routine = print_routine, .site = site_place, .context = &text};
    expr_write(calls->dae->exprs, shape, &writer, out);
}

// --- header, instances

static void
print_header(const Dae *dae, Out *out)
{
    static const char *const names[] = {"start", "stop", "interval", "tolerance"};
    double values[] = {dae->start, dae->stop, dae->interval, dae->tolerance};
    bool any = false;
    out_printf(out, "model %s\n", sym_text(dae->syms, dae->name));
    for (uint32_t i = 0; i < 4; i++) {
        if (isnan(values[i]))
            continue;
        out_text(out, any ? " " : "experiment ");
        out_printf(out, "%s ", names[i]);
        out_number(out, values[i]);
        any = true;
    }
    if (any)
        out_char(out, '\n');
}

// What is made of connections alone is no class with a name: "expandable connector".
static void
print_class(Out *out, const char *name)
{
    if (strchr(name, ' '))
        dae_print_string(out, name);
    else
        out_text(out, name);
}

static void
print_instances(const Dae *dae, Out *out)
{
    for (uint32_t i = 0; i < dae->insts.n; i++) {
        const Inst *inst = &dae->insts.at[i];
        out_text(out, "instance ");
        print_path(dae, i, out);
        out_text(out, " : ");
        print_class(out, sym_text(dae->syms, inst->class_name));
        out_printf(out, " kind %u%s\n", inst->class_kind, inst->internal ? " internal" : "");
    }
}

// --- variables

// Literal values of scalar variables that stand in the variable's own line: index of the bind + 1 per (var,
// attr).
typedef struct Inline {
    Map bind_of;   // var*8 + attr -> bind
    U8Vec printed; // per bind
} Inline;

static void
find_inline(const Dae *dae, Inline *inlined)
{
    vec_grow(&inlined->printed, dae->binds.n);
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        uint32_t group = dae->var_group.at[bind->var], other;
        if (group >= dae->groups.n || dae->groups.at[group].decl->rank || expr_op(dae->exprs, bind->shape) != OP_CONST
            || map_get(&inlined->bind_of, (uint64_t)bind->var * 8 + bind->attr, &other))
            continue;
        bind_each(bind, var)
            map_put(&inlined->bind_of, (uint64_t)var * 8 + bind->attr, i);
    }
}

static void
print_inline(const Dae *dae, Var var, Inline *inlined, Out *out)
{
    for (uint32_t attr = 0; attr <= ATTR_STOP; attr++) {
        uint32_t bind;
        if (!map_get(&inlined->bind_of, (uint64_t)var * 8 + attr, &bind))
            continue;
        out_printf(out, " %s ", attr ? dae_text_attrs[attr] : "=");
        out_number(out, expr_value(dae->exprs, dae->binds.at[bind].shape));
        inlined->printed.at[bind] = 1;
    }
}

static void
print_flags(uint8_t flags, Out *out)
{
    if (flags & (VARF_FIXED | VARF_FIXED_SET))
        out_printf(out, " %s", !(flags & VARF_FIXED) ? "unfixed" : flags & VARF_FIXED_SET ? "fixed" : "fixes");
    if (flags & VARF_REMOVED)
        out_text(out, " removed");
    if (flags & VARF_NONNEG)
        out_text(out, " nonneg");
    uint8_t select = (flags >> VARF_STATE_SHIFT) & 7;
    if (select && select <= STATE_ALWAYS)
        out_printf(out, " %s", dae_text_selects[select]);
}

static void
print_type(const Dae *dae, const Group *group, Out *out)
{
    const char *kind = dae_text_kinds[group->decl->kind];
    out_printf(out, "%s%s%s", kind, *kind ? " " : "", dae_text_types[group->decl->type]);
    if (group->decl->type != TYPE_ENUM)
        return;
    uint32_t n = group->decl->enum_literals < dae->dims.n ? dae->dims.at[group->decl->enum_literals] : 0;
    for (uint32_t i = 0; i < n; i++)
        out_printf(out, "%c%s", i ? ',' : '(', sym_text(dae->syms, dae->dims.at[group->decl->enum_literals + 1 + i]));
    out_text(out, n ? ")" : "()");
}

static void
print_group(const Dae *dae, const Group *group, Inline *inlined, Out *out)
{
    print_type(dae, group, out);
    out_char(out, ' ');
    if (dae->insts.at[group->inst].parent != NONE) {
        dae_inst_path(dae, group->inst, out);
        out_char(out, '.');
    }
    out_text(out, sym_text(dae->syms, group->decl->name));
    for (uint8_t i = 0; i < group->decl->rank; i++)
        out_printf(out, "%c%u", i ? ',' : '[', dae->dims.at[group->decl->dims + i]);
    if (group->decl->rank)
        out_char(out, ']');
    else
        print_inline(dae, group->first, inlined, out);
    uint8_t flags = group->decl->count ? dae->var_flags.at[group->first] : 0;
    bool uniform = true;
    for (uint32_t i = 1; i < group->decl->count; i++)
        uniform &= dae->var_flags.at[group->first + i] == flags;
    if (uniform)
        print_flags(flags, out);
    for (uint32_t i = 0; i < sizeof dae_text_group_flags / sizeof *dae_text_group_flags; i++)
        if (group->decl->flags >> i & 1)
            out_printf(out, " %s", dae_text_group_flags[i]);
    Sym strings[] = {group->decl->unit, group->decl->display_unit, group->decl->quantity, group->decl->comment};
    for (uint32_t i = 0; i < 4; i++) {
        if (!strings[i])
            continue;
        out_printf(out, " %s ", dae_text_strings[i]);
        dae_print_string(out, sym_text(dae->syms, strings[i]));
    }
    for (uint32_t i = 0; i < group->decl->count && group->decl->units; i++) {
        out_text(out, i ? " " : " units ");
        dae_print_string(out, sym_text(dae->syms, dae->dims.at[group->decl->units - 1 + i]));
    }
    out_char(out, '\n');
    for (uint32_t i = 0; i < group->decl->count && !uniform; i++) {
        if (!dae->var_flags.at[group->first + i])
            continue;
        out_text(out, "flags ");
        dae_var_name(dae, group->first + i, out);
        print_flags(dae->var_flags.at[group->first + i], out);
        out_char(out, '\n');
    }
}

static void
print_binds(const DaeCalls *calls, const Inline *inlined, Out *out)
{
    const Dae *dae = calls->dae;
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        if (inlined->printed.at[i])
            continue;
        bind_each(bind, var) {
            out_printf(out, "%s ", dae_text_attrs[bind->attr]);
            dae_var_name(dae, var, out);
            out_text(out, " = ");
            print_shape(calls, bind->shape, bind->row, out);
            out_char(out, '\n');
        }
    }
}

static void
print_rates(const DaeCalls *calls, Out *out)
{
    const Dae *dae = calls->dae;
    for (uint32_t i = 0; i < dae->rates.n; i++) {
        out_printf(out, "%s ", dae_text_attrs[ATTR_RATE]);
        dae_var_name(dae, dae->rates.at[i].var, out);
        out_text(out, " = ");
        print_shape(calls, dae->rates.at[i].shape, dae->rates.at[i].row, out);
        out_char(out, '\n');
    }
}

// Flags of derivatives and pre() variables, which belong to no group.
static void
print_derived_flags(const Dae *dae, Out *out)
{
    for (Var var = 0; var < dae->nvars; var++) {
        if (dae->var_group.at[var] != NONE || !dae->var_flags.at[var])
            continue;
        out_text(out, "flags ");
        dae_var_name(dae, var, out);
        print_flags(dae->var_flags.at[var], out);
        out_char(out, '\n');
    }
}

static void
print_variables(const DaeCalls *calls, Out *out)
{
    const Dae *dae = calls->dae;
    Inline inlined = {0};
    find_inline(dae, &inlined);
    for (uint32_t i = 0; i < dae->groups.n; i++)
        print_group(dae, &dae->groups.at[i], &inlined, out);
    print_derived_flags(dae, out);
    print_binds(calls, &inlined, out);
    print_rates(calls, out);
    map_free(&inlined.bind_of);
    vec_free(&inlined.printed);
}

// --- connectors and the graph

static void
print_connector_types(const Dae *dae, Out *out)
{
    for (uint32_t i = 0; i < dae->connector_types.n; i++) {
        const ConnectorType *type = &dae->connector_types.at[i];
        out_text(out, "port ");
        print_class(out, type->class_name ? sym_text(dae->syms, type->class_name) : "/");
        for (uint32_t k = 0; k < type->n; k++) {
            const char *cause = dae_text_causes[type->causality[k]];
            out_printf(out, " %s", type->is_flow[k] ? "flow" : *cause ? cause : "plain");
        }
        for (uint32_t k = 0; k < type->n_bonds; k++)
            out_printf(out, " %s %u %u", type->bonds[k].flow_is_der ? "derbond" : "bond", type->bonds[k].flow,
                       type->bonds[k].effort);
        out_char(out, '\n');
    }
}

static void
print_connects(const Dae *dae, Out *out)
{
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const Connector *connector = &dae->connectors.at[i];
        out_printf(out, "connector %u ", connector->type);
        print_path(dae, connector->inst, out);
        out_char(out, ' ');
        if (dae->connector_types.at[connector->type].n)
            dae_var_name(dae, connector->first, out);
        else
            out_char(out, '/');
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        out_printf(out, "connect %s", connect->a_outside ? "outside " : "");
        print_path(dae, dae->connectors.at[connect->a].inst, out);
        out_printf(out, " %s", connect->b_outside ? "outside " : "");
        print_path(dae, dae->connectors.at[connect->b].inst, out);
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < dae->in_streams.n; i++) {
        out_text(out, "instream ");
        dae_var_name(dae, dae->in_streams.at[i].stream, out);
        out_char(out, ' ');
        dae_var_name(dae, dae->in_streams.at[i].in, out);
        out_char(out, '\n');
    }
}

static void
print_graph(const Dae *dae, Out *out)
{
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        out_printf(out, "node %u %s ", i, dae_text_nodes[dae->nodes.at[i].kind]);
        print_path(dae, dae->nodes.at[i].inst, out);
        if (dae->nodes.at[i].parts.letters || dae->nodes.at[i].parts.modulator || dae->nodes.at[i].parts.bits || dae->nodes.at[i].parts.has_orders) {
            out_text(out, " // ");
            node_print_symbol(&dae->nodes.at[i], out);
        }
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < dae->bonds.n; i++) {
        const Bond *bond = &dae->bonds.at[i];
        out_printf(out, "bond %u %u %u %u %u ", bond->connector, bond->scalar, bond->component, bond->junction,
                   bond->effort_from);
        dae_var_name(dae, bond->flow, out);
        out_char(out, ' ');
        dae_var_name(dae, bond->effort, out);
        out_char(out, '\n');
    }
}

// --- equations

enum { PLAY = 100 }; // in the place of a level

static void
print_equations(const DaeCalls *calls, Out *out)
{
    const Dae *dae = calls->dae;
    Map level_of = {0}; // law equations
    uint32_t owner = NONE, level;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        map_put(&level_of, dae->laws.at[i].equation, dae->laws.at[i].play ? PLAY : dae->laws.at[i].level);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        if (equation->node != owner) {
            out_printf(out, "in %u // ", equation->node);
            print_path(dae, dae->nodes.at[equation->node].inst, out);
            out_char(out, '\n');
            owner = equation->node;
        }
        out_text(out, equation->generated ? "  made: " : "  ");
        bool law = map_get(&level_of, i, &level);
        if (law && level == PLAY)
            out_text(out, "play: ");
        else if (law)
            out_printf(out, "law %u: ", level);
        else if (equation->kind)
            out_printf(out, "%s: ", dae_text_equations[equation->kind]);
        print_shape(calls, equation->shape, equation->row, out);
        out_char(out, '\n');
    }
    map_free(&level_of);
}

static void
print_energies(const DaeCalls *calls, Out *out)
{
    const Dae *dae = calls->dae;
    if (dae->formalism_chosen)
        out_printf(out, "formalism %s\n", formalism_name(dae->formalism));
    for (uint32_t i = 0; i < dae->coordinates.n; i++) {
        out_text(out, "coordinate ");
        dae_var_name(dae, dae->coordinates.at[i], out);
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < dae->energies.n; i++) {
        const Energy *energy = &dae->energies.at[i];
        out_text(out, energy->memory ? "energy memory" : "energy");
        if (energy->order != 1 && energy->order != 0)
            out_printf(out, " order %.17g", energy->order);
        out_printf(out, " %s ", dae_text_energies[energy->kind]);
        print_path(dae, dae->nodes.at[energy->node].inst, out);
        out_char(out, ' ');
        print_shape(calls, energy->shape, energy->row, out);
        out_char(out, '\n');
    }
}

static void
print_actions(const DaeCalls *calls, Out *out)
{
    const Dae *dae = calls->dae;
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        const Reinit *reinit = &dae->reinits.at[i];
        out_text(out, "reinit ");
        dae_var_name(dae, reinit->when, out);
        out_char(out, ' ');
        dae_var_name(dae, reinit->var, out);
        out_text(out, reinit->alone ? " alone = " : " = ");
        print_shape(calls, reinit->value, reinit->row, out);
        out_char(out, '\n');
    }
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        const Assert *assertion = &dae->asserts.at[i];
        out_printf(out, "assert %s ", dae_text_levels[assertion->level]);
        print_path(dae, assertion->inst, out);
        out_char(out, ' ');
        dae_print_string(out, sym_text(dae->syms, assertion->message));
        out_char(out, ' ');
        print_shape(calls, assertion->condition, assertion->row, out);
        out_char(out, '\n');
        for (uint32_t k = 0; k < assertion->n_told; k++) {
            const Told *told = &dae->told.at[assertion->told + k];
            out_text(out, "told ");
            print_shape(calls, told->shape, told->row, out);
            out_char(out, '\n');
        }
    }
    for (Var var = 0; var < dae->alias_of.n; var++) {
        if (dae->alias_of.at[var] == var)
            continue;
        out_text(out, "same ");
        dae_var_name(dae, var, out);
        out_text(out, dae->alias_negative.at[var] ? " = -" : " = ");
        dae_var_name(dae, dae->alias_of.at[var], out);
        out_char(out, '\n');
    }
}

void
dae_print(const Dae *dae, Out *out)
{
    DaeCalls calls;
    dae_calls_find(dae, &calls);
    print_header(dae, out);
    dae_calls_print(&calls, out);
    print_instances(dae, out);
    print_variables(&calls, out);
    print_connector_types(dae, out);
    print_connects(dae, out);
    print_graph(dae, out);
    print_energies(&calls, out);
    print_equations(&calls, out);
    print_actions(&calls, out);
    dae_calls_free(&calls);
}
