// flat_model.c: from fragments to the flat model.
//
// Purpose: walks the tree of fragments and adds instances, variables, equations, binds and connections with
// the shifts of each place. Method: the first walk makes instances and declared variables, whose ids are then
// the local ids plus the shift; the second copies everything that refers to them. Derivatives, pre values and
// literals ("extras" of a fragment) are made on demand per instance.
// Contract: fragment.h, ir/dae/dae.h. Complexity: linear in the flat model; recursion as deep as components nest (at
// most 256).
#include <math.h>

#include "frontend/equation/equation.h"
#include "frontend/flatten/flatten.h"
#include "frontend/flatten/link_inner.h"
#include "ir/base/pages.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/text_values.h"

_Static_assert((int)CLASS_KIND_RECORD == (int)CLASS_RECORD && (int)CLASS_KIND_OPERATOR_RECORD == (int)CLASS_OPERATOR_RECORD
               && (int)CLASS_KIND_CONNECTOR == (int)CLASS_CONNECTOR && (int)CLASS_KIND_BODY == (int)CLASS_BODY
               && (int)CLASS_KIND_ELEMENT == (int)CLASS_ELEMENT && (int)CLASS_KIND_CONSTRAINT == (int)CLASS_CONSTRAINT
               && (int)CLASS_KIND_MEMORY == (int)CLASS_MEMORY, "dae.h names kinds of classes by other numbers than ast.h");

typedef struct Contents {
    uint64_t groups, extras, binds, equations, rows, connects;
} Contents;

Shift
shift_of(const Shift *owner, const Member *member, uint32_t e)
{
    if (member->split) {
        const uint32_t *at = member->element_places + 3 * e;
        return (Shift){owner->var + at[0], owner->inst + at[1], owner->connector + at[2]};
    }
    const Fragment *part = member->fragments[0];
    return (Shift){owner->var + member->first + e * part->nvars,
                   owner->inst + member->first_inst + e * part->ninsts,
                   owner->connector + member->first_connector + e * part->nconnectors};
}

// Subscripts (from 1) of all elements of an array, stored once per member.
static uint32_t
subscripts_of(Linker *linker, Member *member, uint32_t e)
{
    Dae *dae = linker->dae;
    const Type *type = &member->type;
    if (!type->rank)
        return 0;
    if (!member->linked_index) {
        member->linked_index = dae->dims.n + 1;
        for (uint32_t i = 0; i < member->count; i++) {
            uint32_t rest = i, first = dae->dims.n;
            vec_grow(&dae->dims, type->rank);
            for (uint32_t k = type->rank; k-- > 0; rest /= type->dims[k])
                dae->dims.at[first + k] = rest % type->dims[k] + 1;
        }
    }
    return member->linked_index - 1 + e * type->rank;
}

static uint32_t
dims_of(Linker *linker, Member *member)
{
    if (!member->type.rank)
        return 0;
    if (!member->linked_dims) {
        member->linked_dims = linker->dae->dims.n + 1;
        vec_append(&linker->dae->dims, member->type.dims, member->type.rank);
    }
    return member->linked_dims - 1;
}

static uint32_t
literals_of(Linker *linker, const Type *type)
{
    uint32_t offset;
    uint64_t key = hash_add((uint64_t)(uintptr_t)type->literals, type->n_literals);
    if (map_get(&linker->literals, key, &offset))
        return offset;
    offset = linker->dae->dims.n;
    vec_push(&linker->dae->dims, type->n_literals);
    for (uint32_t i = 0; i < type->n_literals; i++)
        vec_push(&linker->dae->dims, type->literals[i]);
    map_put(&linker->literals, key, offset);
    return offset;
}

static uint16_t
group_flags(const Member *member, uint16_t inherited)
{
    uint16_t flags = inherited;
    if (member->flags & AST_F_FLOW)
        flags |= GROUP_FLOW;
    if (member->flags & AST_F_OUTPUT)
        flags |= GROUP_OUTPUT;
    if (member->flags & AST_F_INPUT)
        flags |= GROUP_INPUT;
    if (member->is_protected)
        flags |= GROUP_PROTECTED;
    if (member->type.object)
        flags |= GROUP_HIDDEN;
    if (member->mod && member->mod->final)
        flags |= GROUP_FINAL;
    if (member->evaluate && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT))
        flags |= GROUP_EVALUATE;
    return flags;
}

static Sym
comment_of(const Linker *linker, const Member *member)
{
    const Ast *ast = &linker->elab->program->ast;
    Node comment = member->node ? ast_child(ast, member->node, 3) : 0;
    return comment ? ast_at(ast, comment)->sym : 0;
}

static void
link_coordinate(Linker *linker, const Member *member, Var first)
{
    if (member->type.base != TYPE_REAL)
        diag_add(linker->elab->diags, E0802, member->span, "a coordinate must be a Real, but '%s' is not",
                 name_of(linker->elab, member->name));
    for (uint32_t k = 0; k < member->count; k++)
        vec_push(&linker->dae->coordinates, first + k);
}

// One for all instances of the fragment, but for what is inherited from the components around them.
static const Declaration *
group_of_member(Linker *linker, Member *member, uint16_t inherited)
{
    uint16_t flags = group_flags(member, inherited);
    if (member->linked && member->linked->flags == flags)
        return member->linked;
    Declaration made = {.name = member->name, .count = member->count, .rank = member->type.rank,
                        .kind = (uint8_t)member->kind, .type = (uint8_t)member->type.base, .flags = flags,
                        .unit = member->unit, .display_unit = member->display_unit, .quantity = member->quantity,
                        .span = member->span, .comment = comment_of(linker, member)};
    made.dims = dims_of(linker, member);
    if (member->units) {
        made.units = linker->dae->dims.n + 1;
        vec_append(&linker->dae->dims, member->units, member->count);
    }
    if (member->type.object)
        made.type = TYPE_INTEGER;
    else if (member->type.base == TYPE_ENUM)
        made.enum_literals = literals_of(linker, &member->type);
    return member->linked = dae_declare(linker->dae, made);
}

static void
link_variable(Linker *linker, Member *member, const Shift *shift, uint16_t flags)
{
    Dae *dae = linker->dae;
    linker->sound &= dae->nvars == shift->var + member->first;
    dae_add_group(dae, group_of_member(linker, member, flags), shift->inst);
    if (member->flags & AST_F_COORDINATE)
        link_coordinate(linker, member, shift->var + member->first);
    for (uint32_t k = 0; member->state_select && k < member->count; k++)
        dae->var_flags.at[shift->var + member->first + k] |= (uint8_t)(member->state_select << VARF_STATE_SHIFT);
}

static bool
is_found_class(const Linker *linker, const ClassInfo *info)
{
    const Sources *sources = linker->elab->program->sources;
    uint32_t at = node_at(linker->elab, info->node)->span.lo;
    return info->node && sources_is_others(sources, at);
}

static void
link_signals(Linker *linker, Member *member, const Shift *shift)
{
    Dae *dae = linker->dae;
    uint32_t type = signal_type(linker->elab, member);
    Sym class_name = class_at(linker->elab->program, member->type_class)->full_name;
    for (uint32_t e = 0; e < member->count; e++) {
        Inst inst = {.parent = shift->inst, .name = member->name, .rank = member->type.rank,
                     .index = subscripts_of(linker, member, e), .class_kind = CLASS_CONNECTOR,
                     .internal = member->is_protected,
                     .class_name = class_name, .span = member->span};
        uint32_t id = dae_add_inst(dae, inst);
        Connector connector = {.type = type, .inst = id, .first = shift->var + member->first + e};
        linker->sound &= id == shift->inst + member->first_inst + e
                      && dae->connectors.n == shift->connector + member->first_connector + e;
        vec_push(&dae->connectors, connector);
        if (linker->elab->connects_parts)
            vec_push(&linker->ports, NULL);
    }
}

static void
link_component(Linker *linker, Fragment *owner, Member *member, const Shift *shift, uint16_t flags)
{
    if (member->is_protected)
        flags |= GROUP_PROTECTED;
    if (member->flags & AST_F_COORDINATE)
        diag_add(linker->elab->diags, E0802, member->span, "a coordinate must be a Real, but '%s' is a component",
                 name_of(linker->elab, member->name));
    for (uint32_t e = 0; e < member->count; e++) {
        Fragment *part = member->fragments[member->split ? e : 0];
        const ClassInfo *info = class_at(linker->elab->program, part->class_id);
        Inst inst = {.parent = shift->inst, .name = member->name, .rank = member->type.rank,
                     .index = subscripts_of(linker, member, e),
                     .class_kind = (uint8_t)program_component_kind(linker->elab->program, part->class_id),
                     .shared = (member->flags & AST_F_INNER) != 0, .internal = member->is_protected && member->is_connector,
                     .found = is_found_class(linker, info), .class_name = info->full_name, .span = member->span};
        link_instance(linker, part, inst, shift_of(shift, member, e), flags, owner->is_connector);
    }
}

void
link_instance(Linker *linker, Fragment *frag, Inst inst, Shift shift, uint16_t flags, bool in_connector)
{
    Dae *dae = linker->dae;
    uint32_t id = dae_add_inst(dae, inst);
    linker->sound &= id == shift.inst;
    if (frag->is_connector && !in_connector && frag->connector_type) {
        Connector connector = {.type = frag->connector_type - 1, .inst = id, .first = shift.var};
        linker->sound &= dae->connectors.n == shift.connector;
        vec_push(&dae->connectors, connector);
        if (linker->elab->connects_parts)
            vec_push(&linker->ports, frag);
    }
    for (uint32_t i = 0; i < frag->order.n; i++) {
        Member *member = &frag->members.at[frag->order.at[i]];
        if (member->is_component) {
            link_component(linker, frag, member, &shift, flags);
            continue;
        }
        link_variable(linker, member, &shift, flags);
        if (member->is_connector && !frag->is_connector)
            link_signals(linker, member, &shift);
    }
    for (uint32_t i = 0; i < frag->hidden.n; i++)
        link_variable(linker, &frag->hidden.at[i], &shift, frag->hidden.at[i].type.base == TYPE_CLOCK ? GROUP_HIDDEN : GROUP_HIDDEN | GROUP_WHEN);
    for (uint32_t i = 0; !frag->of && i < linker->elab->implicit.n; i++)
        link_component(linker, frag, linker->elab->implicit.at[i], &shift, flags);
}

// --- equations and what else refers to variables

// Where the inner element lies that an outer declaration refers to: in the nearest instance around that has it.
Shift
shift_of_inner(Linker *linker, const Outer *outer)
{
    Shift owner = {0};
    uint32_t i = linker->around.n;
    while (!outer->implicit && i > 0 && linker->around.at[i - 1].frag != outer->frag)
        i--;
    if (i > 0 && !outer->implicit)
        owner = linker->around.at[i - 1].shift;
    linker->sound &= outer->implicit || i > 0;
    return (Shift){owner.var + outer->inner->first, owner.inst + outer->inner->first_inst,
                   owner.connector + outer->inner->first_connector};
}

static uint32_t
global_var(const Linker *linker, const Shift *shift, uint32_t local)
{
    return local & EXTRA_BIT ? linker->extras.at[local & ~EXTRA_BIT] : shift->var + local;
}

// --- extras

// Model.part.inner, whatever package the model stands in (section 3.7.4.6).
static double
instance_text(Linker *linker, uint32_t inst)
{
    Dae *dae = linker->dae;
    Out path = {0};
    const char *model = sym_text(dae->syms, dae->name), *dot = strrchr(model, '.');
    out_text(&path, dot ? dot + 1 : model);
    if (dae->insts.at[inst].parent != NONE) {
        out_char(&path, '.');
        dae_inst_path(dae, inst, &path);
    }
    Expr text = text_expr(dae->exprs, path.text);
    out_free(&path);
    return expr_value(dae->exprs, text);
}

// The Boolean variable of a state, made on demand. Results have it as `active` where the state has nothing of this name.
static Var
active_var(Linker *linker, uint32_t inst)
{
    Dae *dae = linker->dae;
    uint32_t var;
    if (map_get(&linker->active_of, inst, &var))
        return var;
    Sym name = sym_of(dae->syms, "active");
    bool taken = false;
    for (uint32_t i = 0; i < dae->groups.n && !taken; i++)
        taken = dae->groups.at[i].inst == inst && dae->groups.at[i].decl->name == name;
    for (uint32_t i = 0; i < dae->insts.n && !taken; i++)
        taken = dae->insts.at[i].parent == inst && dae->insts.at[i].name == name;
    var = dae_add_var(dae, taken ? "$active" : "active", inst, VAR_DISCRETE, TYPE_BOOLEAN, !taken);
    map_put(&linker->active_of, inst, var);
    return var;
}

static void
link_extras(Linker *linker, const Fragment *frag, const Shift *shift)
{
    vec_clear(&linker->extras);
    for (uint32_t i = 0; i < frag->extras.n; i++) {
        const Extra *extra = &frag->extras.at[i];
        uint32_t var = 0;
        if (extra->kind == EXTRA_LITERAL)
            var = dae_literal(linker->dae, extra->value);
        else if (extra->kind == EXTRA_IS_ROOT || extra->kind == EXTRA_ROOTED
                 || extra->kind == EXTRA_CARDINALITY)
            var = dae_literal(linker->dae, ask_graph(linker, frag, shift, extra));
        else if (extra->kind == EXTRA_OUTER)
            var = shift_of_inner(linker, &frag->outers.at[extra->outer]).var + extra->var;
        else if (extra->kind == EXTRA_INSTANCE)
            var = dae_literal(linker->dae, instance_text(linker, shift->inst));
        else if (extra->kind == EXTRA_ACTIVE)
            var = active_var(linker, shift->inst + extra->var);
        else if (extra->kind == EXTRA_IN_STREAM)
            var = dae_in_stream(linker->dae, global_var(linker, shift, extra->var));
        else if (extra->kind == EXTRA_DER)
            var = dae_der(linker->dae, global_var(linker, shift, extra->var));
        else
            var = dae_pre(linker->dae, global_var(linker, shift, extra->var));
        vec_push(&linker->extras, var);
    }
}

static uint32_t
link_row(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t row, uint32_t n)
{
    Dae *dae = linker->dae;
    uint32_t at = dae->rows.n;
    vec_reserve(&dae->rows, at + n);
    for (uint32_t k = 0; k < n; k++)
        dae->rows.at[at + k] = global_var(linker, shift, frag->rows.at[row + k]);
    dae->rows.n = at + n;
    return at;
}

static void
link_equations(Linker *linker, const Fragment *frag, const Shift *shift)
{
    Dae *dae = linker->dae;
    uint32_t node = frag->equations.n ? dae_node(dae, shift->inst) : 0;
    for (uint32_t i = 0; i < frag->equations.n; i++) {
        const FragEquation *equation = &frag->equations.at[i];
        if (!guard_holds(linker, frag, shift, equation->guard))
            continue;
        uint32_t row = link_row(linker, frag, shift, equation->row, equation->n);
        uint32_t id = dae_add_equation(dae, (EqnKind)equation->kind, equation->shape, row, node, equation->span);
        dae->equations.at[id].binding = equation->binding;
        dae->equations.at[id].guarded = equation->guard;
        dae->equations.at[id].other_units = equation->other_units;
    }
}

static void
link_energies(Linker *linker, const Fragment *frag, const Shift *shift)
{
    Dae *dae = linker->dae;
    // The choice of the outermost component holds for the model.
    if (frag->formalism && !dae->formalism_chosen) {
        dae->formalism = (Formalism)(frag->formalism - 1);
        dae->formalism_chosen = true;
    }
    dae->insts.at[shift->inst].has_energy = frag->energies.n > 0;
    for (uint32_t i = 0; i < frag->energies.n; i++) {
        const FragEnergy *energy = &frag->energies.at[i];
        Energy made = {.kind = energy->kind, .memory = energy->memory, .order = energy->order, .shape = energy->shape,
                       .node = dae_node(dae, shift->inst), .span = energy->span};
        made.row = link_row(linker, frag, shift, energy->row, energy->n);
        vec_push(&dae->energies, made);
    }
}

// A number that an attribute of a variable of the instance itself has.
static bool
is_number(const Exprs *exprs, const FragBind *bind)
{
    return bind->attr != ATTR_RATE && !(bind->var & EXTRA_BIT) && expr_op(exprs, bind->shape) == OP_CONST;
}

// Bind.level of what a fragment with `around` instances around it says.
static uint8_t
level_of(const FragBind *bind, uint32_t around)
{
    return bind->of_type ? LEVEL_OF_TYPE : (uint8_t)(around < LEVEL_OF_TYPE ? around : LEVEL_OF_TYPE - 1);
}

// The numbers that attributes have in all elements of an array: one bind for an attribute of all of them.
static void
link_numbers(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t around, uint32_t more, uint32_t stride)
{
    for (uint32_t i = 0; i < frag->binds.n; i++) {
        const FragBind *bind = &frag->binds.at[i];
        if (is_number(linker->dae->exprs, bind))
            dae_add_bind(linker->dae, (Bind){.var = shift->var + bind->var, .attr = bind->attr, .shape = bind->shape,
                                             .row = linker->dae->rows.n, .span = bind->span, .level = level_of(bind, around),
                                             .more = more, .stride = stride});
    }
    for (uint32_t i = 0; i < frag->order.n; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        for (uint32_t e = 0; member->is_component && e < member->count; e++) {
            Shift part = shift_of(shift, member, e);
            link_numbers(linker, member->fragments[member->split ? e : 0], &part, around + 1, more, stride);
        }
    }
}

static void
link_binds(Linker *linker, const Fragment *frag, const Shift *shift)
{
    Dae *dae = linker->dae;
    for (uint32_t i = 0; i < frag->binds.n; i++) {
        const FragBind *bind = &frag->binds.at[i];
        if (linker->repeats && is_number(dae->exprs, bind))
            continue;
        dae_add_bind(dae, (Bind){.var = global_var(linker, shift, bind->var), .attr = bind->attr,
                                 .shape = bind->shape,
                                 .row = link_row(linker, frag, shift, bind->row, bind->n),
                                 .span = bind->span, .other_units = bind->other_units, .level = level_of(bind, linker->around.n)});
    }
    for (uint32_t i = 0; i < frag->flags.n; i++) {
        uint8_t *flags = &dae->var_flags.at[global_var(linker, shift, frag->flags.at[i].var)];
        *flags = (uint8_t)((*flags & ~frag->flags.at[i].clear) | frag->flags.at[i].set);
    }
    for (uint32_t i = 0; i < frag->discrete.n; i++) {
        uint32_t group = dae->var_group.at[global_var(linker, shift, frag->discrete.at[i])];
        dae_set_kind(dae, group, VAR_DISCRETE);
    }
}

// All reinit() of a variable stand in one when-equation (section 8.3.6). In this language they need not, and a library may do otherwise.
static void
note_reset(Linker *linker, const Shift *shift, const FragReinit *reinit, Var var)
{
    Dae *dae = linker->dae;
    bool free = !reinit->equation || !sources_is_modelica(dae->sources, reinit->span.lo) || sources_is_found(dae->sources, reinit->span.lo);
    uint64_t own = free ? 0 : (uint64_t)shift->inst << 32 | reinit->equation;
    uint32_t first;
    vec_push(&linker->resetting, own);
    if (free)
        return;
    if (!map_get(&linker->reset_of, var, &first)) {
        map_put(&linker->reset_of, var, linker->resetting.n - 1);
        return;
    }
    if (linker->resetting.at[first] == own)
        return;
    Diag *diag = diag_add(linker->elab->diags, E0122, reinit->span, "'%s' is set anew by two when-equations", dae_name(dae, var));
    diag_note(diag, dae->reinits.at[first].span, "by the first one here");
    diag_help(diag, "write them as one 'when' with 'elsewhen'");
}

static void
link_events(Linker *linker, const Fragment *frag, const Shift *shift)
{
    Dae *dae = linker->dae;
    for (uint32_t i = 0; i < frag->reinits.n; i++) {
        const FragReinit *reinit = &frag->reinits.at[i];
        Reinit made = {.var = global_var(linker, shift, reinit->var),
                       .when = global_var(linker, shift, reinit->when),
                       .value = reinit->shape, .span = reinit->span, .alone = sources_is_modelica(dae->sources, reinit->span.lo)}; // 8.3.6
        made.row = link_row(linker, frag, shift, reinit->row, reinit->n);
        note_reset(linker, shift, reinit, made.var);
        vec_push(&dae->reinits, made);
    }
    for (uint32_t i = 0; i < frag->asserts.n; i++) {
        const FragAssert *assert = &frag->asserts.at[i];
        if (!guard_holds(linker, frag, shift, assert->guard))
            continue;
        Assert made = {.condition = assert->shape, .inst = shift->inst, .level = assert->level, .other_units = assert->other_units,
                       .message = assert->message, .span = assert->span};
        made.row = link_row(linker, frag, shift, assert->row, assert->n);
        made.told = dae->told.n;
        made.n_told = assert->n_told;
        for (uint32_t k = 0; k < assert->n_told; k++) {
            const FragTold *told = &frag->told.at[assert->told + k];
            uint32_t row = link_row(linker, frag, shift, told->row, told->n);
            vec_push(&dae->told, ((Told){told->shape, row, shift->inst, assert->span}));
        }
        vec_push(&dae->asserts, made);
    }
}

uint32_t
global_connector(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t local)
{
    if (!(local & EXTRA_BIT))
        return shift->connector + local;
    const OuterConnector *at = &frag->outer_connectors.at[local & ~EXTRA_BIT];
    return shift_of_inner(linker, &frag->outers.at[at->outer]).connector + at->connector;
}

static void
link_parts(Linker *linker, const Member *member, const Shift *shift)
{
    bool outermost = member->is_component && member->count > 1 && !member->split && !linker->repeats;
    if (outermost) {
        Shift first = shift_of(shift, member, 0);
        link_numbers(linker, member->fragments[0], &first, linker->around.n, member->count - 1, member->fragments[0]->nvars);
        linker->repeats = true;
    }
    for (uint32_t e = 0; member->is_component && e < member->count; e++)
        link_contents(linker, member->fragments[member->split ? e : 0], shift_of(shift, member, e));
    if (outermost)
        linker->repeats = false;
}

bool
in_parts(const Linker *linker, const FragConnect *connect, uint32_t a, uint32_t b)
{
    return linker->elab->connects_parts
        && (connect->a_path || connect->b_path || is_taken_apart(linker, a) || is_taken_apart(linker, b));
}

static void
link_connect(Linker *linker, const Fragment *frag, const Shift *shift, const FragConnect *connect)
{
    uint32_t a = global_connector(linker, frag, shift, connect->a), b = global_connector(linker, frag, shift, connect->b);
    if (in_parts(linker, connect, a, b)) {
        const FragPath *paths = frag->paths.at;
        PartConnect part = {.a = a, .b = b, .a_path = connect->a_path ? &paths[connect->a_path - 1] : NULL,
                            .b_path = connect->b_path ? &paths[connect->b_path - 1] : NULL, .a_outside = connect->a_outside,
                            .b_outside = connect->b_outside, .inst = shift->inst, .span = connect->span};
        vec_push(&linker->parts, part);
        return;
    }
    Connect made = {.a = a, .b = b, .a_outside = connect->a_outside, .b_outside = connect->b_outside, .span = connect->span};
    vec_push(&linker->dae->connects, made);
    if (linker->edges.n)
        link_overconstrained(linker, &made, shift->inst);
}

void
link_contents(Linker *linker, const Fragment *frag, Shift shift)
{
    link_extras(linker, frag, &shift);
    link_equations(linker, frag, &shift);
    link_energies(linker, frag, &shift);
    link_binds(linker, frag, &shift);
    link_events(linker, frag, &shift);
    for (uint32_t i = 0; i < frag->connects.n; i++)
        link_connect(linker, frag, &shift, &frag->connects.at[i]);
    vec_push(&linker->around, (Around){frag, shift});
    for (uint32_t i = 0; i < frag->order.n; i++)
        link_parts(linker, &frag->members.at[frag->order.at[i]], &shift);
    for (uint32_t i = 0; !frag->of && i < linker->elab->implicit.n; i++)
        link_parts(linker, linker->elab->implicit.at[i], &shift);
    linker->around.n--;
}

// A bind is one of its own, or (a number in the elements of an array) of all of them: `numbers` says how often those come.
static void
count_binds(const Exprs *exprs, const Fragment *frag, uint64_t times, uint64_t numbers, Contents *sum)
{
    for (uint32_t i = 0; i < frag->binds.n; i++) {
        const FragBind *bind = &frag->binds.at[i];
        bool number = is_number(exprs, bind);
        sum->binds += number ? numbers : times;
        sum->rows += number ? 0 : times * bind->n;
    }
}

static void
count_equations(const Fragment *frag, uint64_t times, Contents *sum)
{
    sum->equations += times * frag->equations.n;
    for (uint32_t i = 0; i < frag->equations.n; i++)
        sum->rows += times * frag->equations.at[i].n;
}

// How much a fragment with all its parts adds to the flat model, but for what is rare. See link_parts for numbers.
static void
count_contents(const Exprs *exprs, const Fragment *frag, uint64_t times, uint64_t numbers, Contents *sum)
{
    sum->extras += times * frag->extras.n;
    sum->groups += times * frag->hidden.n;
    sum->connects += times * frag->connects.n;
    count_binds(exprs, frag, times, numbers, sum);
    count_equations(frag, times, sum);
    for (uint32_t i = 0; i < frag->order.n; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        uint64_t count = member->split ? 1 : member->count;
        bool outermost = count > 1 && times == numbers;
        sum->groups += member->is_component ? 0 : times;
        for (uint32_t e = 0; member->is_component && e < (member->split ? member->count : 1); e++)
            count_contents(exprs, member->fragments[e], times * count, outermost ? numbers : numbers * count, sum);
    }
}

enum { LARGE = 100000 }; // equations: threads are worth their start

// Arrays that grew step by step would be copied, and leave holes of half their size.
static void
reserve_contents(Dae *dae, const Fragment *model)
{
    Contents sum = {0};
    count_contents(dae->exprs, model, 1, 1, &sum);
    if (sum.rows > UINT32_MAX / 2 || sum.binds > UINT32_MAX / 2 || model->nvars + sum.extras > UINT32_MAX / 2)
        return;
    if (sum.equations > LARGE)
        dae->pages = pages_begin();
    dae_reserve(dae, model->nvars + (uint32_t)sum.extras, model->ninsts); // most extras are derivatives
    vec_reserve(&dae->connectors, model->nconnectors);
    vec_reserve(&dae->groups, sum.groups);
    vec_reserve(&dae->binds, sum.binds);
    vec_reserve(&dae->equations, sum.equations);
    vec_reserve(&dae->rows, sum.rows);
    vec_reserve(&dae->connects, sum.connects);
}

bool
link_fragments(Elab *elab, Fragment *model)
{
    Linker linker = {.elab = elab, .dae = elab->dae, .sound = true};
    const ClassInfo *info = class_at(elab->program, model->class_id);
    Inst inst = {.parent = NONE, .class_kind = info->kind, .class_name = info->full_name,
                 .span = ast_at(&elab->program->ast, info->node)->span};
    reserve_contents(elab->dae, model);
    link_instance(&linker, model, inst, (Shift){0}, 0, false);
    // Places and ids agree by construction; a difference would make every row wrong.
    if (linker.sound && elab->connects_parts)
        find_taken_apart(&linker, model);
    if (linker.sound && solve_graph(&linker, model)) {
        link_contents(&linker, model, (Shift){0});
        elab->dae->balanced = elab->connects_parts ? 0 : elab->dae->nvars;
        if (elab->connects_parts)
            augment(&linker);
    }
    map_free(&linker.literals);
    vec_free(&linker.extras);
    vec_free(&linker.connects_of);
    vec_free(&linker.around);
    span_graph_free(&linker.graph);
    map_free(&linker.node_of);
    map_free(&linker.part_edge);
    map_free(&linker.active_of);
    map_free(&linker.reset_of);
    vec_free(&linker.resetting);
    vec_free(&linker.var_of);
    vec_free(&linker.edges);
    vec_free(&linker.ports);
    vec_free(&linker.apart);
    vec_free(&linker.parts);
    return linker.sound;
}
