// connect.c: connectors and connect-equations.
//
// Purpose: connector types (which scalars flow, which pairs make power) and pairs of connected connectors;
// pass `bonds` makes equations of them. Method: Modelica 3.6, chapter 9; a bond clause names for each scalar
// bond a flow (a variable or the derivative of one) and an effort.
// Contract: equation.h, frontend/instance/fragment.h, ir/dae/dae.h. Complexity: linear in connects; types are compared with those already made.
#include "frontend/equation/equation.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// --- types

static bool
same_scalars(const ConnectorType *a, const ConnectorType *b)
{
    // An expandable connector without declared elements has none.
    return a->n == b->n && (!a->n || !memcmp(a->is_flow, b->is_flow, a->n));
}

uint32_t
connector_type_intern(Dae *dae, ConnectorType type)
{
    for (uint32_t i = 0; i < dae->connector_types.n; i++) {
        const ConnectorType *old = &dae->connector_types.at[i];
        bool same = old->class_name == type.class_name && old->n_bonds == type.n_bonds && same_scalars(old, &type)
                    && (!type.n || !memcmp(old->causality, type.causality, type.n));
        for (uint32_t b = 0; same && b < type.n_bonds; b++)
            same = old->bonds[b].flow == type.bonds[b].flow && old->bonds[b].effort == type.bonds[b].effort
                && old->bonds[b].flow_is_der == type.bonds[b].flow_is_der;
        if (same)
            return i + 1;
    }
    vec_push(&dae->connector_types, type);
    return dae->connector_types.n;
}

static uint8_t
causality(uint32_t flags)
{
    return flags & AST_F_STREAM ? CAUSALITY_STREAM : flags & AST_F_INPUT ? CAUSALITY_INPUT
         : flags & AST_F_OUTPUT ? CAUSALITY_OUTPUT : CAUSALITY_NONE;
}

uint32_t
signal_type(Elab *elab, Member *member)
{
    if (!member->connector_type) {
        uint8_t *bytes = arena_alloc(elab->dae->arena, 2);
        bytes[0] = (member->flags & AST_F_FLOW) != 0;
        bytes[1] = causality(member->flags);
        ConnectorType type = {.class_name = class_at(elab->program, member->type_class)->full_name, .n = 1,
                              .is_flow = bytes, .causality = bytes + 1};
        member->connector_type = connector_type_intern(elab->dae, type);
    }
    return member->connector_type - 1;
}

typedef VEC(BondVars) Bonds;

typedef struct Flattening { // of a connector with the records and connectors inside it
    uint8_t *is_flow, *causality;
    Bonds bonds;
    VEC(Overconstrained) overconstrained;
} Flattening;

static void
flatten(Elab *elab, Fragment *frag, uint32_t base, uint32_t flags, Flattening *out)
{
    for (uint32_t i = 0; i < frag->order.n; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        if (frag->is_connector && member_is_fixed(member)) // behind the variables
            continue;
        uint32_t all = flags | (member->flags & (AST_F_FLOW | AST_F_STREAM | AST_F_INPUT | AST_F_OUTPUT));
        for (uint32_t e = 0; member->is_component && e < member->count; e++) {
            Fragment *part = member->fragments[member->split ? e : 0];
            uint32_t first = member->split ? member->element_places[3 * e] : member->first + e * part->nvars;
            flatten(elab, part, base + first, all, out);
            if (is_overconstrained(elab, part->class_id)) {
                vec_push(&out->overconstrained, (Overconstrained){.offset = base + first, .size = part->nvars, .class_id = part->class_id,
                                                                  .value = {.base = TYPE_RECORD}});
                memset(out->causality + base + first, CAUSALITY_GRAPH, part->nvars);
            }
            if (!part->connector_type)
                continue;
            const ConnectorType *type = &elab->dae->connector_types.at[part->connector_type - 1];
            for (uint32_t b = 0; b < type->n_bonds; b++) {
                BondVars bond = type->bonds[b];
                bond.flow += base + first;
                bond.effort += base + first;
                vec_push(&out->bonds, bond);
            }
        }
        if (member->is_component)
            continue;
        if (member_is_fixed(member))
            unsupported(elab, member->span, "a parameter or constant beside variables in a record inside a connector");
        for (uint32_t k = 0; k < member->count; k++) {
            out->is_flow[base + member->first + k] = (all & AST_F_FLOW) != 0;
            out->causality[base + member->first + k] = causality(all);
        }
        if (!(all & AST_F_FLOW) && is_overconstrained(elab, member->type_class)) { // type Orientation, an array
            vec_push(&out->overconstrained, (Overconstrained){.offset = base + member->first, .size = member->count,
                                                              .class_id = member->type_class, .value = member->type});
            memset(out->causality + base + member->first, CAUSALITY_GRAPH, member->count);
        }
    }
}

// The scalars one side of a bond clause names: {v, omega} is v's elements, then omega's.
static bool
bond_side(Elab *elab, Fragment *frag, Node node, U32Vec *vars, U8Vec *is_der)
{
    Value value;
    if (node_at(elab, node)->kind == AST_ARRAY) {
        for (uint32_t i = 0; i < node_at(elab, node)->nchild; i++)
            if (!bond_side(elab, frag, child_at(elab, node, i), vars, is_der))
                return false;
        return true;
    }
    if (!expression(&elab->env, node, &value))
        return false;
    for (uint32_t k = 0; k < value.count; k++) {
        Expr e = value.elements[k];
        uint32_t var = expr_op(elab->dae->exprs, e) == OP_SLOT
            ? elab->slots.at[expr_slot_of(elab->dae->exprs, e)] : NONE;
        const Extra *extra = var != NONE && (var & EXTRA_BIT) ? &frag->extras.at[var & ~EXTRA_BIT] : NULL;
        if (var == NONE || (extra && (extra->kind != EXTRA_DER || extra->var & EXTRA_BIT))) {
            diag_add(elab->diags, E0403, node_at(elab, node)->span,
                     "a bond names variables of the connector or their derivatives");
            return false;
        }
        vec_push(vars, extra ? extra->var : var);
        vec_push(is_der, extra != NULL);
    }
    return true;
}

static void
add_bonds(Elab *elab, Fragment *frag, Node clause, Bonds *bonds)
{
    U32Vec vars[2] = {{0}, {0}};
    U8Vec is_der[2] = {{0}, {0}};
    bool ok = true;
    for (uint32_t i = 0; i < node_at(elab, clause)->nchild && ok; i++) {
        Node argument = child_at(elab, clause, i);
        bool flow = !strcmp(sym_text(elab->dae->syms, node_at(elab, argument)->sym), "flow");
        begin_equation(elab, frag, frag->class_id, false);
        elab->active++;
        ok = bond_side(elab, frag, child_at(elab, argument, 0), &vars[!flow], &is_der[!flow]);
        elab->active--;
        end_equation(elab);
    }
    bool effort_der = false;
    for (uint32_t k = 0; k < is_der[1].n; k++)
        effort_der |= is_der[1].at[k] != 0;
    Span span = node_at(elab, clause)->span;
    if (ok && effort_der)
        diag_add(elab->diags, E0403, span, "the effort of a bond is a variable, not a derivative");
    else if (ok && (!vars[0].n || vars[0].n != vars[1].n))
        diag_add(elab->diags, E0403, span,
                 "this bond has flows: %u, efforts: %u; it needs one of each for every scalar bond",
                 vars[0].n, vars[1].n);
    else if (ok)
        for (uint32_t k = 0; k < vars[0].n; k++)
            vec_push(bonds, (BondVars){vars[0].at[k], vars[1].at[k], is_der[0].at[k]});
    for (int side = 0; side < 2; side++) {
        vec_free(&vars[side]);
        vec_free(&is_der[side]);
    }
}

// Stream variables are carried by exactly one flow (section 15.1).
static bool
check_streams(Elab *elab, const ConnectorType *type, Span span)
{
    uint32_t streams = 0, flows = 0;
    for (uint32_t k = 0; k < type->n; k++) {
        streams += type->causality[k] == CAUSALITY_STREAM;
        flows += type->is_flow[k] != 0;
    }
    if (!streams || flows == 1)
        return true;
    diag_add(elab->diags, E0417, span, "connector '%s' has stream variables and %u flow variables; streams need exactly one",
             name_of(elab, type->class_name), flows);
    return false;
}

// As many flows as potentials, or a connection would not bring as many equations as it has unknowns (Modelica 3.6, section
// 9.3.1). Of an overconstrained record only a part is a potential.
static void
check_pairs(Elab *elab, const ConnectorType *type, Span span)
{
    uint32_t flows = 0, potentials = 0;
    bool records = false;
    for (uint32_t k = 0; k < type->n; k++) {
        flows += type->is_flow[k] != 0;
        potentials += !type->is_flow[k] && type->causality[k] == CAUSALITY_NONE;
        records |= type->causality[k] == CAUSALITY_GRAPH;
    }
    if (records ? potentials <= flows : potentials == flows)
        return;
    // In this language, and in a library, it is told and counts nowhere else.
    bool error = sources_is_strict(elab->program->sources, span.lo);
    Diag *diag = diag_add(elab->diags, error ? E0131 : W1403, span, "connector '%s' has %u flow variable%s and %u potential%s: each potential needs a flow",
                          name_of(elab, type->class_name), flows, flows == 1 ? "" : "s", potentials, potentials == 1 ? "" : "s");
    diag_help(diag, "a signal is declared as input or output, what a flow carries as stream, what does not change as parameter");
}

// Parameters and constants come after the variables (see place_members).
static uint32_t
count_variables(const Fragment *frag)
{
    uint32_t n = frag->nvars;
    for (uint32_t i = 0; i < frag->order.n; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        if (!member_is_fixed(member))
            continue;
        if (!member->is_component)
            n -= member->count;
        for (uint32_t e = 0; member->is_component && e < member->count; e++)
            n -= member->fragments[member->split ? e : 0]->nvars;
    }
    return n;
}

void
elaborate_connector(Elab *elab, Fragment *frag)
{
    Dae *dae = elab->dae;
    Flattening flat = {.is_flow = arena_alloc(dae->arena, frag->nvars),
                       .causality = arena_alloc(dae->arena, frag->nvars)};
    uint32_t signal = frag->of ? frag->of->flags & (AST_F_INPUT | AST_F_OUTPUT) : 0; // connector C = input R, of a record
    flatten(elab, frag, 0, signal, &flat);
    for (uint32_t i = 0; i < frag->bond_clauses.n; i++)
        add_bonds(elab, frag, frag->bond_clauses.at[i], &flat.bonds);
    BondVars *bonds = arena_array(dae->arena, BondVars, flat.bonds.n);
    if (flat.bonds.n)
        memcpy(bonds, flat.bonds.at, flat.bonds.n * sizeof *bonds);
    ConnectorType type = {.class_name = class_at(elab->program, frag->class_id)->full_name,
                          .n = frag->is_expandable ? 0 : count_variables(frag), .is_flow = flat.is_flow, .causality = flat.causality,
                          .bonds = bonds, .n_bonds = flat.bonds.n};
    vec_free(&flat.bonds);
    Span declared = node_at(elab, class_at(elab->program, frag->class_id)->node)->span;
    if (check_streams(elab, &type, declared) && !signal)
        check_pairs(elab, &type, declared);
    frag->connector_type = connector_type_intern(dae, type);
    uint32_t old, index = frag->connector_type - 1;
    if (flat.overconstrained.n && !map_get(&elab->overconstrained_of, index, &old)) {
        map_put(&elab->overconstrained_of, index, elab->overconstrained.n);
        for (uint32_t i = 0; i < flat.overconstrained.n; i++)
            flat.overconstrained.at[i].type = index;
        vec_append(&elab->overconstrained, flat.overconstrained.at, flat.overconstrained.n);
    }
    vec_free(&flat.overconstrained);
}

// --- connect

typedef struct End { // one side of a connect: connectors with their types
    U32Vec connectors, types, paths; // paths: as in FragConnect
    Fragment *frag;  // of a connector that is no signal
    const Member *signal; // of a signal
    U32Vec vars;     // first variables of the connectors, where they are the fragment's own
    uint8_t rank;
    uint32_t dims[MAX_RANK];
    bool outside, absent;
    bool open;       // the sizes of an undeclared element are those of the other side
    bool late;       // what is connected is known when the model is complete (expandable.c)
    const char *name;
} End;

static void
add_end(Elab *elab, const Target *target, End *end, uint32_t connector, uint32_t type, uint32_t path)
{
    vec_push(&end->connectors, target->outer ? outer_connector(elab->scope.frag, target->outer - 1, connector)
             : connector);
    vec_push(&end->types, type);
    vec_push(&end->paths, path);
}

static bool
add_signals(Elab *elab, const Target *target, End *end)
{
    for (uint32_t i = 0; i < target->n; i++) {
        const Spot *spot = &target->spots[i];
        if (!spot->member->is_connector)
            return false;
        end->signal = spot->member;
        for (uint32_t k = 0; k < target->m; k++)
            add_end(elab, target, end, spot->connector + spot->member->first_connector + target->offsets[k],
                    signal_type(elab, spot->member), 0);
    }
    return true;
}

static bool
add_connectors(Elab *elab, const Target *target, End *end)
{
    for (uint32_t i = 0; i < target->n; i++) {
        const Spot *spot = &target->spots[i];
        if (!spot->member->is_connector)
            return false;
        end->late |= spot->frag->is_expandable;
        end->frag = spot->frag;
        if (!target->outer)
            vec_push(&end->vars, spot->var);
        add_end(elab, target, end, spot->connector, spot->frag->connector_type - 1, 0);
    }
    return true;
}

// A part with a condition is there in all connectors of an array, or in none.
static bool
is_absent_alike(Elab *elab, Node ref, uint32_t used, const Target *target, bool absent)
{
    bool ok = true;
    for (uint32_t i = 1; i < target->n && ok; i++) {
        Paths other = {0};
        ok = target->spots[i].frag == target->spots[i - 1].frag
            || connect_paths(elab, &elab->env, target->spots[i].frag, ref, used, &other);
        if (ok && target->spots[i].frag != target->spots[i - 1].frag && other.absent != absent) {
            Diag *diag = diag_add(elab->diags, E0118, node_at(elab, ref)->span, "'%s' is part of some of these connectors only",
                                  scope_name_text(elab->program, ref));
            diag_help(diag, "connect the elements one by one");
            ok = false;
        }
        vec_free(&other.all);
    }
    return ok;
}

// Parts of connectors: elements of connectors inside them, and of expandable connectors.
static bool
add_parts(Elab *elab, Node ref, uint32_t used, const Target *target, End *end)
{
    Fragment *frag = elab->scope.frag;
    Paths paths = {0};
    bool ok = connect_paths(elab, &elab->env, target->spots[0].frag, ref, used, &paths);
    if (ok && end->rank + paths.rank > MAX_RANK) {
        diag_add(elab->diags, E0111, node_at(elab, ref)->span, "more than %d dimensions", MAX_RANK);
        ok = false;
    }
    ok = ok && is_absent_alike(elab, ref, used, target, paths.absent);
    end->absent = ok && paths.absent;
    ok = ok && !paths.absent;
    for (uint32_t i = 0; ok && i < paths.rank; i++)
        end->dims[end->rank++] = paths.dims[i];
    for (uint32_t i = 0; ok && i < target->n; i++)
        for (uint32_t k = 0; k < paths.all.n; k++) {
            vec_push(&frag->paths, paths.all.at[k]);
            add_end(elab, target, end, target->spots[i].connector, 0, frag->paths.n);
        }
    end->late = true;
    end->open = paths.open;
    elab->connects_parts = true;
    vec_free(&paths.all);
    return ok || end->absent;
}

// The connectors of a component that is given in place of one.
static void
help_connectors(Elab *elab, const Target *target, const char *name, Diag *diag)
{
    enum { SHOWN = 6 };
    Fragment *frag = target->kind == TARGET_COMPONENT && target->n ? target->spots[0].frag : NULL;
    Out list = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; frag && i < frag->order.n && n < SHOWN; i++) {
        const Member *member = &frag->members.at[frag->order.at[i]];
        const Fragment *part = member->is_component && member->count ? member->fragments[0] : NULL;
        if (part && part->connector_type)
            out_printf(&list, "%s%s.%s", n++ ? ", " : "", name, name_of(elab, member->name));
    }
    if (n)
        diag_help(diag, "its connectors are: %s", list.text);
    out_free(&list);
}

// `connect(b.a.c, ...)` with components b and a would reach past the connectors of b (section 9.1). In this language it may, and so may a library.
static bool
is_too_deep(Elab *elab, Node ref, uint32_t used)
{
    Span span = node_at(elab, ref)->span;
    if (used <= 2 || !sources_is_strict(elab->program->sources, span.lo))
        return false;
    Diag *diag = diag_add(elab->diags, E0401, span, "'%s' is a connector of a part of '%s', and a connection reaches those of components only",
                          scope_name_text(elab->program, ref), name_of(elab, node_at(elab, child_at(elab, ref, 0))->sym));
    diag_help(diag, "give '%s' a connector that is connected to it inside", name_of(elab, node_at(elab, child_at(elab, ref, 0))->sym));
    return true;
}

static bool
connector_end(Elab *elab, Node ref, End *end)
{
    Target target;
    uint32_t used;
    end->name = scope_name_text(elab->program, ref);
    if (!resolve_port(elab, &elab->env, ref, &target, &used))
        return false;
    end->outside = target.outside;
    end->absent = target.absent;
    end->rank = target.rank;
    memcpy(end->dims, target.dims, sizeof target.dims);
    if (target.absent)
        return true;
    if (is_too_deep(elab, ref, used))
        return false;
    if (used < node_at(elab, ref)->nchild)
        return add_parts(elab, ref, used, &target, end);
    bool ok = target.kind == TARGET_VARIABLE ? add_signals(elab, &target, end)
            : target.kind == TARGET_COMPONENT && add_connectors(elab, &target, end);
    if (!ok)
        help_connectors(elab, &target, end->name, diag_add(elab->diags, E0401, node_at(elab, ref)->span, "'%s' is not a connector", end->name));
    return ok;
}

// `connect(bus.x, y)` with an array y makes an array of bus.x.
static void
open_end(Elab *elab, Fragment *frag, End *end, const End *other)
{
    if (!end->open || !other->rank || end->connectors.n != 1)
        return;
    FragPath path = frag->paths.at[end->paths.at[0] - 1];
    uint32_t connector = end->connectors.at[0];
    vec_clear(&end->connectors);
    vec_clear(&end->types);
    vec_clear(&end->paths);
    for (uint32_t i = 0; i < other->connectors.n; i++) {
        FragPath element = {.steps = arena_array(elab->arena, PathStep, path.n), .n = path.n};
        memcpy(element.steps, path.steps, path.n * sizeof *path.steps);
        PathStep *last = &element.steps[path.n - 1];
        last->rank = other->rank;
        uint32_t rest = i;
        for (uint32_t k = other->rank; k-- > 0; rest /= other->dims[k])
            last->index[k] = rest % other->dims[k] + 1;
        vec_push(&frag->paths, element);
        vec_push(&end->connectors, connector);
        vec_push(&end->types, 0);
        vec_push(&end->paths, frag->paths.n);
    }
}

static bool
types_fit(Elab *elab, uint32_t a, uint32_t b, Span span)
{
    const ConnectorType *left = &elab->dae->connector_types.at[a], *right = &elab->dae->connector_types.at[b];
    if (left == right || same_scalars(left, right))
        return true;
    diag_add(elab->diags, E0405, span, "a '%s' cannot be connected to a '%s'", sym_text(elab->dae->syms, left->class_name),
             sym_text(elab->dae->syms, right->class_name));
    return false;
}

static bool
same_type(const Member *x, const Member *y)
{
    return x->type.base == y->type.base && (x->type.base != TYPE_ENUM || type_same_class(&x->type, &y->type));
}

// Variables are connected by their place, so their names must come in one order. A name that differs, or 0.
static Sym
name_that_one_lacks(const Fragment *a, const Fragment *b, uint32_t depth)
{
    if (a == b || a->class_id == b->class_id || depth == DEPTH_LIMIT)
        return 0;
    for (uint32_t i = 0, k = 0;; i++, k++) {
        while (i < a->order.n && member_is_fixed(&a->members.at[a->order.at[i]]))
            i++;
        while (k < b->order.n && member_is_fixed(&b->members.at[b->order.at[k]]))
            k++;
        if (i >= a->order.n || k >= b->order.n)
            return 0;
        const Member *x = &a->members.at[a->order.at[i]], *y = &b->members.at[b->order.at[k]];
        Sym inside = x->name != y->name || (!x->is_component && !y->is_component && !same_type(x, y)) ? x->name
            : x->is_component && y->is_component ? name_that_one_lacks(x->fragments[0], y->fragments[0], depth + 1) : 0;
        if (inside)
            return inside;
    }
}

// Constants are connected to constants, and parameters to parameters (section 9.3). The name of one that is not, or 0.
static Sym
other_variability(const Fragment *a, const Fragment *b)
{
    for (uint32_t i = 0; a != b && a->class_id != b->class_id && i < a->members.n; i++) {
        const Member *x = &a->members.at[i];
        uint32_t k;
        if (!x->is_component && member_is_fixed(x) && map_get(&b->by_name, x->name, &k) && !b->members.at[k].is_component
            && member_is_fixed(&b->members.at[k]) && b->members.at[k].kind != x->kind)
            return x->name;
    }
    return 0;
}

static const char *
base_text(Elab *elab, const Member *member)
{
    Type scalar = member->type;
    scalar.rank = 0;
    return type_text(elab->arena, elab->dae->syms, &scalar);
}

static bool
names_fit(Elab *elab, const End *a, const End *b, Span span)
{
    Sym name = a->frag && b->frag && !a->late && !b->late ? name_that_one_lacks(a->frag, b->frag, 0) : 0;
    if (name)
        diag_add(elab->diags, E0405, span,
                 "a '%s' cannot be connected to a '%s': '%s' has no counterpart in its place",
                 name_of(elab, class_at(elab->program, a->frag->class_id)->full_name),
                 name_of(elab, class_at(elab->program, b->frag->class_id)->full_name), name_of(elab, name));
    Sym fixed = !name && a->frag && b->frag && !a->late && !b->late ? other_variability(a->frag, b->frag) : 0;
    if (fixed)
        diag_add(elab->diags, E0405, span, "a '%s' cannot be connected to a '%s': '%s' is a constant in one and a parameter in the other",
                 name_of(elab, class_at(elab->program, a->frag->class_id)->full_name),
                 name_of(elab, class_at(elab->program, b->frag->class_id)->full_name), name_of(elab, fixed));
    bool types = !a->signal || !b->signal || same_type(a->signal, b->signal);
    if (!types)
        diag_add(elab->diags, E0405, span, "a '%s' cannot be connected to a '%s': one is %s, the other %s",
                 name_of(elab, class_at(elab->program, a->signal->type_class)->full_name),
                 name_of(elab, class_at(elab->program, b->signal->type_class)->full_name),
                 base_text(elab, a->signal), base_text(elab, b->signal));
    return !name && !fixed && types;
}

// Parameters and constants of connected connectors have equal values (section 9.2).
static void
demand_equal(Elab *elab, Fragment *frag, uint32_t a, uint32_t b, uint32_t n, Sym name, Span span)
{
    for (uint32_t k = 0; k < n; k++) {
        Expr equal = expr_2(elab->dae->exprs, OP_EQ, slot_expr(elab, a + k), slot_expr(elab, b + k));
        const char *message = arena_printf(elab->arena, "connected connectors have different values of '%s'", name_of(elab, name));
        FragAssert made = {.span = span, .guard = elab->guard, .message = sym_of(elab->dae->syms, message)};
        store_shape(elab, frag, equal, &made.shape, &made.row, &made.n);
        vec_push(&frag->asserts, made);
    }
}

static void
compare_fixed(Elab *elab, Fragment *frag, Fragment *a, uint32_t at_a, Fragment *b, uint32_t at_b, Span span, uint32_t depth)
{
    for (uint32_t i = 0; i < a->order.n && depth < DEPTH_LIMIT; i++) {
        Member *x = &a->members.at[a->order.at[i]], *y = fragment_member(b, x->name);
        if (!y || y->state != 2 || y->absent || x->count != y->count || x->is_component != y->is_component || x->split || y->split)
            continue;
        if (!x->is_component && member_is_fixed(x) && member_is_fixed(y))
            demand_equal(elab, frag, at_a + x->first, at_b + y->first, x->count, x->name, span);
        for (uint32_t e = 0; x->is_component && e < x->count; e++)
            compare_fixed(elab, frag, x->fragments[0], at_a + x->first + e * x->fragments[0]->nvars, y->fragments[0],
                          at_b + y->first + e * y->fragments[0]->nvars, span, depth + 1);
    }
}

static bool
has_fixed(const Elab *elab, const End *end)
{
    return end->frag && !end->late && end->vars.n == end->connectors.n && end->frag->connector_type
        && end->frag->nvars != elab->dae->connector_types.at[end->frag->connector_type - 1].n;
}

static void
add_connects(Elab *elab, Fragment *frag, const End *a, const End *b, Span span)
{
    if (a->connectors.n != b->connectors.n) {
        diag_add(elab->diags, E0402, span, "'%s' is %u connector%s and '%s' %u: they cannot be connected one to one", a->name, a->connectors.n,
                 a->connectors.n == 1 ? "" : "s", b->name, b->connectors.n);
        return;
    }
    if (!names_fit(elab, a, b, span))
        return;
    bool fixed = has_fixed(elab, a) && has_fixed(elab, b);
    for (uint32_t i = 0; i < a->connectors.n; i++) {
        if (!a->late && !b->late && !types_fit(elab, a->types.at[i], b->types.at[i], span))
            return;
        if (a->connectors.at[i] == b->connectors.at[i] && !a->late) {
            Diag *diag = diag_add(elab->diags, W1402, span, "this connects a connector to itself");
            diag_help(diag, "it has no effect; is one of the names wrong?");
            continue;
        }
        FragConnect connect = {.a = a->connectors.at[i], .b = b->connectors.at[i], .a_outside = a->outside,
                               .b_outside = b->outside, .a_path = a->paths.at[i], .b_path = b->paths.at[i], .span = span};
        vec_push(&frag->connects, connect);
        if (fixed)
            compare_fixed(elab, frag, a->frag, a->vars.at[i], b->frag, b->vars.at[i], span, 0);
    }
}

static void
free_end(End *end)
{
    vec_free(&end->connectors);
    vec_free(&end->types);
    vec_free(&end->paths);
    vec_free(&end->vars);
}

void
elaborate_connect(Context *context, Node node)
{
    Elab *elab = context->elab;
    Node left = child_at(elab, node, 0), right = child_at(elab, node, 1);
    End a = {0}, b = {0};
    if (!left || !right)
        return;
    begin_equation(elab, context->frag, context->class_id, true);
    bool ok = connector_end(elab, left, &a);
    ok = connector_end(elab, right, &b) && ok;
    // A connect with a component that is not part of the model goes with it (section 4.4.5).
    if (ok && !a.absent && !b.absent) {
        open_end(elab, context->frag, &a, &b);
        open_end(elab, context->frag, &b, &a);
        add_connects(elab, context->frag, &a, &b, node_at(elab, node)->span);
    }
    end_equation(elab);
    free_end(&a);
    free_end(&b);
}
