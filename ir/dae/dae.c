// dae.c: the flat model: making it and looking at it.
//
// Purpose: dense arrays named by 32-bit ids; every add is amortised constant time. What things are called is in dae_names.c.
// Method: none: growing arrays; the derivative and the pre() of a variable are made when they are first asked for.
// Contract: dae.h. Complexity: constant per call, amortised.
#include "ir/dae/dae.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/pages.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"


Dae *
dae_create(Syms *syms, const Sources *sources)
{
    Arena *arena = arena_create();
    Dae *dae = arena_new(arena, Dae);
    dae->arena = arena;
    dae->syms = syms;
    dae->sources = sources;
    dae->exprs = exprs_create();
    dae->start = dae->stop = dae->interval = dae->tolerance = NAN;
    return dae;
}

void
dae_free(Dae **dae)
{
    Dae *d = *dae;
    if (!d)
        return;
    pages_end(&d->pages);
    exprs_free(&d->exprs);
    vec_free(&d->insts);
    vec_free(&d->groups);
    vec_free(&d->dims);
    vec_free(&d->var_group);
    vec_free(&d->var_flags);
    vec_free(&d->var_kind);
    vec_free(&d->var_der);
    vec_free(&d->var_der_of);
    vec_free(&d->var_pre);
    vec_free(&d->var_pre_of);
    map_free(&d->literals);
    vec_free(&d->literal_values);
    vec_free(&d->binds);
    vec_free(&d->rates);
    vec_free(&d->equations);
    vec_free(&d->rows);
    vec_free(&d->reinits);
    vec_free(&d->closures);
    vec_free(&d->asserts);
    vec_free(&d->told);
    vec_free(&d->jumps);
    vec_free(&d->leaps);
    vec_free(&d->laws);
    vec_free(&d->row_laws);
    vec_free(&d->delays);
    vec_free(&d->transports);
    vec_free(&d->coordinates);
    vec_free(&d->energies);
    vec_free(&d->fractionals);
    vec_free(&d->shares);
    vec_free(&d->in_streams);
    vec_free(&d->active_states);
    map_free(&d->in_stream_of);
    map_free(&d->told_of);
    vec_free(&d->told_names);
    vec_free(&d->folds);
    vec_free(&d->connector_types);
    vec_free(&d->connectors);
    vec_free(&d->connects);
    vec_free(&d->nodes);
    vec_free(&d->bonds);
    vec_free(&d->bond_momentum);
    vec_free(&d->bond_weight);
    vec_free(&d->node_of_inst);
    map_free(&d->started_by);
    vec_free(&d->determined_records);
    vec_free(&d->moves);
    vec_free(&d->massless);
    vec_free(&d->monitors);
    map_free(&d->stands_for);
    map_free(&d->dependent);
    map_free(&d->decided);
    map_free(&d->guarded);
    vec_free(&d->start_of);
    vec_free(&d->alias_of);
    vec_free(&d->alias_negative);
    dae_free_resolved(d);
    Arena *arena = d->arena;
    arena_free(&arena);
    *dae = NULL;
}

uint32_t
dae_add_inst(Dae *dae, Inst inst)
{
    vec_push(&dae->insts, inst);
    return dae->insts.n - 1;
}

void
dae_reserve(Dae *dae, uint32_t nvars, uint32_t ninsts)
{
    vec_reserve(&dae->insts, ninsts);
    vec_reserve(&dae->var_flags, nvars);
    vec_reserve(&dae->var_kind, nvars);
    vec_reserve(&dae->var_group, nvars);
    vec_reserve(&dae->var_der, nvars);
    vec_reserve(&dae->var_der_of, nvars);
    vec_reserve(&dae->var_pre, nvars);
    vec_reserve(&dae->var_pre_of, nvars);
}

void
dae_trim(Dae *dae)
{
    vec_trim(&dae->equations);
    vec_trim(&dae->rows);
    vec_trim(&dae->var_flags);
    vec_trim(&dae->var_kind);
    vec_trim(&dae->var_group);
    vec_trim(&dae->var_der);
    vec_trim(&dae->var_der_of);
    vec_trim(&dae->var_pre);
    vec_trim(&dae->var_pre_of);
}

// Appends `count` scalars belonging to `group` (a group, NONE, or a literal mark).
static Var
add_scalars(Dae *dae, uint32_t group, uint32_t count, VarKind kind)
{
    Var first = dae->nvars;
    if (first + count > dae->var_pre_of.capacity)
        dae_reserve(dae, first + count, 0);
    for (uint32_t i = first; i < first + count; i++) {
        dae->var_flags.at[i] = 0;
        dae->var_kind.at[i] = (uint8_t)kind;
        dae->var_group.at[i] = group;
        dae->var_der.at[i] = dae->var_der_of.at[i] = NONE;
        dae->var_pre.at[i] = dae->var_pre_of.at[i] = NONE;
    }
    dae->nvars = first + count;
    dae->var_flags.n = dae->var_kind.n = dae->var_group.n = dae->var_der.n = dae->var_der_of.n = dae->nvars;
    dae->var_pre.n = dae->var_pre_of.n = dae->nvars;
    // Variables made after alias elimination stand for themselves.
    if (dae->alias_of.n) {
        for (uint32_t i = first; i < dae->nvars; i++) {
            vec_push(&dae->alias_of, i);
            vec_push(&dae->alias_negative, 0);
        }
    }
    return first;
}

const Declaration *
dae_declare(Dae *dae, Declaration declaration)
{
    Declaration *copy = arena_new(dae->arena, Declaration);
    *copy = declaration;
    return copy;
}

uint32_t
dae_add_group(Dae *dae, const Declaration *decl, uint32_t inst)
{
    Var first = add_scalars(dae, dae->groups.n, decl->count, (VarKind)decl->kind);
    vec_push(&dae->groups, (Group){decl, inst, first});
    return dae->groups.n - 1;
}

Var
dae_add_declared(Dae *dae, Declaration declaration, uint32_t inst)
{
    Var first = dae->nvars;
    dae_add_group(dae, dae_declare(dae, declaration), inst);
    return first;
}

void
dae_set_kind(Dae *dae, uint32_t group, VarKind kind)
{
    Group *at = &dae->groups.at[group];
    if (at->decl->kind == kind)
        return;
    Declaration changed = *at->decl;
    changed.kind = (uint8_t)kind;
    at->decl = dae_declare(dae, changed);
    memset(dae->var_kind.at + at->first, kind, changed.count);
    dae_forget_resolved(dae);
}

bool
dae_has_kind(const Dae *dae, VarKind kind)
{
    return dae->nvars && memchr(dae->var_kind.at, (int)kind, dae->nvars);
}

Var
dae_name_der(Dae *dae, Var var)
{
    if (dae->var_der.at[var] == NONE) {
        Var der = add_scalars(dae, NONE, 1, dae_kind(dae, var));
        dae->var_der.at[var] = der;
        dae->var_der_of.at[der] = var;
    }
    return dae->var_der.at[var];
}

Var
dae_der(Dae *dae, Var var)
{
    Var der = dae_name_der(dae, var);
    dae->var_flags.at[der] &= (uint8_t)~VARF_REMOVED;
    return der;
}

Var
dae_pre(Dae *dae, Var var)
{
    if (dae->var_pre.at[var] == NONE) {
        Var pre = add_scalars(dae, NONE, 1, dae_kind(dae, var));
        dae->var_pre.at[var] = pre;
        dae->var_pre_of.at[pre] = var;
    }
    return dae->var_pre.at[var];
}

Var
dae_literal(Dae *dae, double value)
{
    if (value == 0)
        value = 0; // one zero
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    Var var;
    if (map_get(&dae->literals, bits, &var))
        return var;
    vec_push(&dae->literal_values, value);
    var = add_scalars(dae, LITERAL_BIT | (dae->literal_values.n - 1), 1, VAR_CONSTANT);
    map_put(&dae->literals, bits, var);
    return var;
}

bool
dae_is_literal(const Dae *dae, Var var, double *value)
{
    uint32_t group = dae->var_group.at[var];
    if (group == NONE || !(group & LITERAL_BIT))
        return false;
    *value = dae->literal_values.at[group & ~LITERAL_BIT];
    return true;
}

bool
dae_is_nonneg(const Dae *dae, Var var)
{
    double value;
    return dae_is_literal(dae, var, &value) ? value >= 0 : (dae->var_flags.at[var] & VARF_NONNEG) != 0;
}

bool
dae_slot_is_nonneg(uint32_t slot, void *context)
{
    const DaeRow *row = context;
    return dae_is_nonneg(row->dae, row->vars[slot]);
}

uint32_t
dae_add_row(Dae *dae, const Var *vars, uint32_t n)
{
    uint32_t row = dae->rows.n;
    vec_append(&dae->rows, vars, n);
    return row;
}

uint32_t
dae_add_equation(Dae *dae, EqnKind kind, Expr shape, uint32_t row, uint32_t node, Span span)
{
    Equation equation = {.shape = shape, .row = row, .node = node, .kind = (uint8_t)kind, .span = span};
    vec_push(&dae->equations, equation);
    return dae->equations.n - 1;
}

uint32_t
dae_generate(Dae *dae, EqnKind kind, Expr shape, uint32_t row, uint32_t node, Span span)
{
    uint32_t made = dae_add_equation(dae, kind, shape, row, node, span);
    dae->equations.at[made].generated = 1;
    return made;
}

uint32_t
dae_equate(Dae *dae, EqnKind kind, Expr left, Expr right, const Var *vars, uint32_t node, Span span)
{
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, left, right), vars, &shape, &row);
    return dae_generate(dae, kind, shape, row, node, span);
}

bool
dae_is_parametric(const Dae *dae, Expr e, const Var *vars)
{
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, e); k < n; k++)
        if (expr_uses_slot(dae->exprs, e, k) && !dae_is_parameter(dae, vars[k]))
            return false;
    return !expr_has_op(dae->exprs, e, OP_TIME);
}

void
dae_bind_shape(Dae *dae, Expr e, const Var *vars, Expr *shape, uint32_t *row)
{
    U32Vec order = {0};
    *shape = expr_shape(dae->exprs, e, &order);
    // `vars` may be a row of the model, which moves when the rows grow.
    for (uint32_t k = 0; k < order.n; k++)
        order.at[k] = vars[order.at[k]];
    *row = dae->rows.n;
    vec_append(&dae->rows, order.at, order.n);
    vec_free(&order);
}

void
dae_add_bind(Dae *dae, Bind bind)
{
    if (bind.attr == ATTR_RATE)
        vec_push(&dae->rates, (Rate){bind.var, bind.shape, bind.row, bind.span});
    else
        vec_push(&dae->binds, bind);
}

void
dae_replace_bind(Dae *dae, Bind bind)
{
    uint32_t i = 0;
    while (i < dae->binds.n && (dae->binds.at[i].attr != bind.attr || !bind_covers(&dae->binds.at[i], bind.var)))
        i++;
    if (i == dae->binds.n) {
        dae_add_bind(dae, bind);
        return;
    }
    Bind before = dae->binds.at[i], behind = before;
    dae->binds.at[i] = bind;
    if (!before.more)
        return;
    uint32_t index = (bind.var - before.var) / before.stride;
    behind.var = bind.var + before.stride;
    behind.more = before.more - index - 1;
    if (index < before.more)
        dae_add_bind(dae, behind);
    before.more = index - 1;
    if (index)
        dae_add_bind(dae, before);
}

void
dae_set_node(Dae *dae, uint32_t inst, uint32_t node)
{
    if (inst >= dae->node_of_inst.n)
        vec_grow(&dae->node_of_inst, inst + 1 - dae->node_of_inst.n);
    dae->node_of_inst.at[inst] = node + 1;
}

uint32_t
dae_node(Dae *dae, uint32_t inst)
{
    if (inst < dae->node_of_inst.n && dae->node_of_inst.at[inst])
        return dae->node_of_inst.at[inst] - 1;
    GraphNode made = {.kind = NODE_COMPONENT, .inst = inst, .span = dae->insts.at[inst].span};
    vec_push(&dae->nodes, made);
    dae_set_node(dae, inst, dae->nodes.n - 1);
    return dae->nodes.n - 1;
}

Var
dae_add_var(Dae *dae, const char *name, uint32_t inst, VarKind kind, VarType type, bool shown)
{
    return dae_add_declared(dae, (Declaration){.name = sym_of(dae->syms, name), .count = 1, .kind = (uint8_t)kind,
                                               .type = (uint8_t)type, .flags = shown ? 0 : GROUP_HIDDEN,
                                               .span = dae->insts.at[inst].span}, inst);
}

static const uint64_t IN_SIDE = 1ull << 32; // of the keys of in_stream_of

void
dae_add_in_stream(Dae *dae, InStream made)
{
    map_put(&dae->in_stream_of, made.stream, dae->in_streams.n);
    map_put(&dae->in_stream_of, IN_SIDE + made.in, dae->in_streams.n);
    vec_push(&dae->in_streams, made);
}

bool
dae_is_in_stream(const Dae *dae, Var var, uint32_t *index)
{
    return map_get(&dae->in_stream_of, IN_SIDE + var, index);
}

// A hidden variable beside the stream variable, with its unit.
Var
dae_in_stream(Dae *dae, Var stream)
{
    uint32_t index;
    if (map_get(&dae->in_stream_of, stream, &index))
        return dae->in_streams.at[index].in;
    Group group = *dae_group(dae, stream);
    Declaration decl = *group.decl;
    uint32_t element = stream - group.first;
    const char *name = sym_text(dae->syms, decl.name);
    decl.name = sym_of(dae->syms, decl.count > 1 ? arena_printf(dae->arena, "$in_%s%u", name, element + 1)
                                                 : arena_printf(dae->arena, "$in_%s", name));
    decl.count = 1;
    decl.rank = 0;
    decl.flags = GROUP_HIDDEN;
    Var in = dae_add_declared(dae, decl, group.inst);
    dae_add_in_stream(dae, (InStream){stream, in});
    return in;
}

static const char *const formalism_names[FORMALISM_COUNT] = {
    [FORMALISM_LAGRANGE] = "lagrange", [FORMALISM_HAMILTON] = "hamilton", [FORMALISM_GIBBS_APPELL] = "gibbs_appell",
    [FORMALISM_KANE] = "kane", [FORMALISM_MAGGI] = "maggi",
};

const char *
formalism_name(Formalism formalism)
{
    return formalism_names[formalism];
}

bool
formalism_named(const char *name, Formalism *out)
{
    for (int i = 0; i < FORMALISM_COUNT; i++)
        if (!strcmp(name, formalism_names[i])) {
            *out = (Formalism)i;
            return true;
        }
    return false;
}

VarType
dae_type(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group ? (VarType)group->decl->type : TYPE_REAL;
}

StateSelect
dae_state_select(const Dae *dae, Var var)
{
    return (StateSelect)((dae->var_flags.at[var] >> VARF_STATE_SHIFT) & 7);
}

bool
dae_inst_inside(const Dae *dae, uint32_t inst, uint32_t around)
{
    while (inst != NONE && inst != around)
        inst = dae->insts.at[inst].parent;
    return inst == around;
}

const Var *
dae_row(const Dae *dae, uint32_t equation, uint32_t *n)
{
    const Equation *at = &dae->equations.at[equation];
    *n = expr_nslots(dae->exprs, at->shape);
    return dae->rows.at + at->row;
}

bool
dae_has_open_flanges(const Dae *dae)
{
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const Connector *connector = &dae->connectors.at[c];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t k = 0; k < type->n && dae->insts.at[connector->inst].parent == 0; k++)
            if (type->is_flow[k] || (type->n > 1 && type->causality[k] == CAUSALITY_INPUT))
                return true;
    }
    return false;
}

bool
dae_is_own_bus(const Dae *dae, uint32_t connector)
{
    const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[connector].type];
    uint32_t inst = dae->connectors.at[connector].inst;
    while (inst && dae->insts.at[inst].parent && dae->insts.at[dae->insts.at[inst].parent].class_kind == CLASS_KIND_CONNECTOR)
        inst = dae->insts.at[inst].parent;
    return type->n && type->causality[0] == CAUSALITY_DEDUCED && inst && !dae->insts.at[inst].parent && !dae->insts.at[inst].internal;
}

bool
dae_has_open_buses(const Dae *dae)
{
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        if (dae_is_own_bus(dae, c))
            return true;
    return false;
}

const char *
node_kind_text(NodeKind kind)
{
    static const char *const names[] = {
        [NODE_COMPONENT] = "*", [NODE_ONE] = "1", [NODE_ZERO] = "0", [NODE_I] = "I", [NODE_C] = "C",
        [NODE_R] = "R", [NODE_SE] = "Se", [NODE_SF] = "Sf", [NODE_TF] = "TF", [NODE_GY] = "GY",
        [NODE_MEMORY] = "M", [NODE_CONSTRAINT] = "FC/EC", [NODE_BODY] = "body", [NODE_SIGNAL] = "signal",
    };
    return names[kind];
}

void
node_print_symbol(const GraphNode *node, Out *out)
{
    uint32_t several = node->kind == NODE_COMPONENT ? node->parts.letters : 0;
    bool effort = node->parts.bits & PART_READS_EFFORT, flow = node->parts.bits & PART_READS_FLOW;
    size_t before = out->length;
    for (uint32_t kind = NODE_I; kind <= NODE_GY; kind++)
        if (several >> kind & 1)
            out_printf(out, "%s%s", out->length > before ? " " : "", node_kind_text((NodeKind)kind));
    if (effort || flow)
        out_text(out, effort && flow ? "De Df" : effort ? "De" : "Df");
    if (out->length > before)
        return;
    if (node->kind == NODE_MEMORY && node->parts.has_orders) {
        out_printf(out, "M(%.4g,%.4g)", node->parts.effort_order, node->parts.motion_order);
        return;
    }
    bool modulates = node->kind == NODE_TF || node->kind == NODE_GY || node->kind == NODE_SE || node->kind == NODE_SF;
    if (node->kind == NODE_TF && node->parts.bits & PART_UNIT)
        out_char(out, '1');
    else
        out_printf(out, "%s%s", modulates && node->parts.modulator ? "M" : "", node_kind_text((NodeKind)node->kind));
}
