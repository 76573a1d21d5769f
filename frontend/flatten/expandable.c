// expandable.c: expandable connectors, and connectors that are connected in parts.
//
// Purpose: finds out what the elements of expandable connectors are, makes those that connects ask for, and replaces
// connections of connectors with connectors inside by connections of their parts.
// Method: Modelica 3.6, section 9.1.3. Connectors and their elements are ports in trees. Ports that are connected belong
// to one class (union-find), whatever side of a component they are seen from; joining two classes joins the elements of
// equal names in them (congruence closure), the smaller set of elements into the larger. What is declared in a class says
// what its other ports are. Then every expandable connector gets the elements of its class that a connect or an equation
// names; elements that are declared and nowhere named are taken out of the model. Which of the signals in a
// connection is the source is for pass bonds to find (CAUSALITY_DEDUCED).
// Contract: link_inner.h; after everything else is linked. Complexity: linear in the elements made, but for a logarithmic
// factor of the joins.
#include "frontend/equation/equation.h"
#include "frontend/flatten/link_inner.h"
#include "ir/base/sets.h"

enum { PORT_DEPTH = 32 }; // expandable connectors inside each other

typedef struct Port {
    uint32_t parent;      // NONE: a connector of the model
    PathStep step;        // its name in the parent
    Sym key;              // the same as text
    uint32_t connector;   // in Dae.connectors, or NONE
    Fragment *frag;       // of a connector; NULL: a variable, or not known yet
    Shift shift;          // where it lies, once it is made
    bool made;            // it has its variables
    bool variable;        // a scalar
    bool bus;             // its elements need not be declared
    bool named;           // of a class: a connect or an equation names it, or something in it
    bool equated;         // an equation names a flow of it
    uint32_t depth;
    Span span;            // a connect that names it
} Port;

typedef struct Entry { uint32_t port, next; } Entry; // an element of a class

typedef struct PortPair { uint32_t a, b; } PortPair;

typedef struct Augment {
    Linker *linker;
    Dae *dae;
    VEC(Port) ports;
    Map own;              // (port, key) -> element
    U32Vec class_of;      // union-find over ports
    VEC(Entry) entries;   // from 1
    U32Vec first_entry, n_entries; // per class
    Map entry_of;         // (class, key) -> element
    U32Vec source;        // per class: a port that says what it is, or NONE
    VEC(PortPair) joins;     // still to be done
    VEC(PortPair) ends;      // ports of the parts
    Map root_of;          // connector -> port
    Map array_of;         // (port, name) -> index into arrays
    VEC(Group) arrays;
    bool failed;
} Augment;

static uint64_t
key_of(uint32_t port, Sym key)
{
    return (uint64_t)port << 32 | key;
}

static bool
has_parts(const Fragment *frag)
{
    if (!frag || frag->is_expandable)
        return frag != NULL;
    for (uint32_t i = 0; i < frag->order.n; i++)
        if (frag->members.at[frag->order.at[i]].is_connector)
            return true;
    return false;
}

bool
is_structured(const Linker *linker, uint32_t connector)
{
    return has_parts(linker->ports.at[connector]);
}

static bool
is_leaf(const Port *port)
{
    return port->variable || (port->frag && !has_parts(port->frag));
}

static const char *
port_name(Augment *augment, uint32_t port)
{
    Dae *dae = augment->dae;
    const Port *at = &augment->ports.at[port];
    if (at->parent != NONE)
        return arena_printf(dae->arena, "%s.%s", port_name(augment, at->parent), sym_text(dae->syms, at->key));
    Out out = {0};
    dae_inst_path(dae, dae->connectors.at[at->connector].inst, &out);
    const char *name = arena_strndup(dae->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return name;
}

// --- ports and their classes

static uint32_t
find(Augment *augment, uint32_t port)
{
    return sets_find(&augment->class_of, port);
}

static void
add_entry(Augment *augment, uint32_t class, uint32_t port)
{
    map_put(&augment->entry_of, key_of(class, augment->ports.at[port].key), port);
    vec_push(&augment->entries, (Entry){port, augment->first_entry.at[class]});
    augment->first_entry.at[class] = augment->entries.n - 1;
    augment->n_entries.at[class]++;
}

static void
join_pair(Augment *augment, uint32_t a, uint32_t b)
{
    a = find(augment, a);
    b = find(augment, b);
    if (a == b)
        return;
    bool larger = augment->n_entries.at[b] > augment->n_entries.at[a]
               || (augment->n_entries.at[b] == augment->n_entries.at[a] && b < a);
    uint32_t to = larger ? b : a, from = larger ? a : b, old;
    augment->class_of.at[from] = to;
    augment->ports.at[to].named |= augment->ports.at[from].named;
    if (augment->source.at[to] == NONE)
        augment->source.at[to] = augment->source.at[from];
    for (uint32_t e = augment->first_entry.at[from]; e; e = augment->entries.at[e].next) {
        uint32_t port = augment->entries.at[e].port;
        if (map_get(&augment->entry_of, key_of(to, augment->ports.at[port].key), &old))
            vec_push(&augment->joins, (PortPair){old, port});
        else
            add_entry(augment, to, port);
    }
}

static void
join(Augment *augment, uint32_t a, uint32_t b)
{
    vec_push(&augment->joins, (PortPair){a, b});
    while (augment->joins.n) {
        PortPair pair = vec_pop(&augment->joins);
        join_pair(augment, pair.a, pair.b);
    }
}

static uint32_t
add_port(Augment *augment, Port port)
{
    uint32_t id = augment->ports.n, old;
    vec_push(&augment->ports, port);
    sets_grow(&augment->class_of, id + 1);
    vec_push(&augment->first_entry, 0);
    vec_push(&augment->n_entries, 0);
    vec_push(&augment->source, NONE);
    if (port.parent == NONE)
        return id;
    map_put(&augment->own, key_of(port.parent, port.key), id);
    uint32_t class = find(augment, port.parent);
    if (map_get(&augment->entry_of, key_of(class, port.key), &old))
        join(augment, old, id);
    else
        add_entry(augment, class, id);
    return id;
}

// The name of an element with its subscripts.
static Sym
step_key(Augment *augment, const PathStep *step)
{
    Out out = {0};
    out_text(&out, sym_text(augment->dae->syms, step->name));
    for (uint32_t i = 0; i < step->rank; i++)
        out_printf(&out, "%s%u", i ? "," : "[", step->index[i]);
    if (step->rank)
        out_char(&out, ']');
    Sym key = sym_make(augment->dae->syms, out.text, out.length);
    out_free(&out);
    return key;
}

static void
declare_element(Augment *augment, uint32_t parent, Member *member, uint32_t e)
{
    const Port *owner = &augment->ports.at[parent];
    Port port = {.parent = parent, .connector = NONE, .made = true, .depth = owner->depth + 1, .span = member->span,
                 .step = {.name = member->name, .rank = member->type.rank}};
    uint32_t rest = e;
    for (uint32_t k = member->type.rank; k-- > 0; rest /= member->type.dims[k])
        port.step.index[k] = rest % member->type.dims[k] + 1;
    port.key = step_key(augment, &port.step);
    if (member->is_component) {
        port.frag = member->fragments[member->split ? e : 0];
        port.shift = shift_of(&owner->shift, member, e);
        port.bus = port.frag->is_expandable;
    } else {
        port.variable = true;
        port.shift = owner->shift;
        port.shift.var += member->first + e;
    }
    add_port(augment, port);
}

// The declared elements of a connector that is taken apart.
static void
declare_elements(Augment *augment, uint32_t parent)
{
    Fragment *frag = augment->ports.at[parent].frag;
    Elab *elab = augment->linker->elab;
    for (uint32_t i = 0; frag && i < frag->order.n; i++) {
        Member *member = &frag->members.at[frag->order.at[i]];
        bool fixed = !member->is_component && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT);
        if (fixed)
            continue;
        if (member->is_component && !member->is_connector) {
            unsupported(elab, member->span, "a record in a connector that is expandable or connected in parts");
            augment->failed = true;
            continue;
        }
        for (uint32_t e = 0; e < member->count; e++)
            declare_element(augment, parent, member, e);
    }
}

// Ports from number `from` on get the elements that they declare.
static void
declare_all(Augment *augment, uint32_t from)
{
    for (uint32_t p = from; p < augment->ports.n; p++)
        if (augment->ports.at[p].made && has_parts(augment->ports.at[p].frag))
            declare_elements(augment, p);
}

static uint32_t
root_port(Augment *augment, uint32_t connector)
{
    uint32_t port, from = augment->ports.n;
    if (map_get(&augment->root_of, connector, &port))
        return port;
    const Connector *at = &augment->dae->connectors.at[connector];
    Fragment *frag = augment->linker->ports.at[connector];
    port = add_port(augment, (Port){.parent = NONE, .connector = connector, .frag = frag, .made = true, .variable = !frag,
                                    .bus = frag && frag->is_expandable, .shift = {.var = at->first, .inst = at->inst},
                                    .span = augment->dae->insts.at[at->inst].span});
    map_put(&augment->root_of, connector, port);
    declare_all(augment, from);
    return port;
}

// The port behind a path; what is not declared is made up.
static uint32_t
path_port(Augment *augment, uint32_t connector, const FragPath *path, Span span)
{
    uint32_t port = root_port(augment, connector);
    for (uint32_t i = 0; path && i < path->n; i++) {
        Sym key = step_key(augment, &path->steps[i]);
        uint32_t element;
        if (!map_get(&augment->own, key_of(port, key), &element))
            element = add_port(augment, (Port){.parent = port, .step = path->steps[i], .key = key, .connector = NONE,
                                               .depth = augment->ports.at[port].depth + 1, .span = span});
        port = element;
    }
    return port;
}

// --- what is part of the model

static bool
is_flow(const Augment *augment, uint32_t port, uint32_t scalar)
{
    const Fragment *frag = augment->ports.at[port].frag;
    return frag && augment->dae->connector_types.at[frag->connector_type - 1].is_flow[scalar];
}

// Declared elements that equations use are there without a connect.
static void
name_used(Augment *augment)
{
    const Dae *dae = augment->dae;
    U8Vec used = {0};
    vec_grow(&used, dae->nvars);
    for (uint32_t i = 0; i < dae->rows.n; i++) {
        Var var = dae->rows.at[i];
        while (dae->var_der_of.at[var] != NONE || dae->var_pre_of.at[var] != NONE)
            var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
        used.at[var] = 1;
    }
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        const Port *port = &augment->ports.at[p];
        uint32_t n = !port->made || !is_leaf(port) ? 0 : port->variable ? 1 : port->frag->nvars;
        for (uint32_t k = 0; k < n; k++) {
            if (!used.at[port->shift.var + k])
                continue;
            augment->ports.at[find(augment, p)].named = true;
            augment->ports.at[p].equated |= is_flow(augment, p, k);
        }
    }
    vec_free(&used);
}

// What contains something that is named is named. Elements come after what contains them.
static void
name_containers(Augment *augment)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t p = augment->ports.n; p-- > 0;) {
            uint32_t parent = augment->ports.at[p].parent;
            if (parent == NONE || !augment->ports.at[find(augment, p)].named)
                continue;
            Port *container = &augment->ports.at[find(augment, parent)];
            changed |= !container->named;
            container->named = true;
        }
    }
}

// The elements of an ordinary connector are there with it.
static bool
is_present(Augment *augment, uint32_t port)
{
    while (augment->ports.at[port].parent != NONE) {
        uint32_t parent = augment->ports.at[port].parent;
        if (augment->ports.at[find(augment, port)].named)
            return true;
        if (!augment->ports.at[parent].frag || augment->ports.at[parent].bus)
            return false;
        port = parent;
    }
    return true;
}

static void
find_sources(Augment *augment)
{
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        uint32_t class = find(augment, p);
        if (augment->ports.at[p].made && augment->source.at[class] == NONE)
            augment->source.at[class] = p;
    }
}

// --- making elements

// The array of which an undeclared element is one; large enough for all elements of this name in the class.
static Var
array_element(Augment *augment, uint32_t port, Declaration array, uint32_t inst)
{
    Dae *dae = augment->dae;
    const Port *at = &augment->ports.at[port];
    uint32_t index, class = find(augment, at->parent);
    if (!map_get(&augment->array_of, key_of(at->parent, at->step.name), &index)) {
        uint32_t dims[MAX_RANK] = {0};
        for (uint32_t e = augment->first_entry.at[class]; e; e = augment->entries.at[e].next) {
            const PathStep *step = &augment->ports.at[augment->entries.at[e].port].step;
            for (uint32_t k = 0; step->name == at->step.name && k < step->rank && k < at->step.rank; k++)
                dims[k] = step->index[k] > dims[k] ? step->index[k] : dims[k];
        }
        uint64_t count = 1;
        for (uint32_t k = 0; k < at->step.rank && count < 50 * 1000 * 1000; k++)
            count *= dims[k];
        if (!within_limit(augment->linker->elab, count, at->span))
            return NONE;
        array.rank = at->step.rank;
        array.dims = dae->dims.n;
        array.count = (uint32_t)count;
        vec_append(&dae->dims, dims, at->step.rank);
        Var first = dae_add_declared(dae, array, inst);
        for (uint32_t k = 0; k < array.count; k++)
            dae->var_flags.at[first + k] |= VARF_REMOVED;
        index = augment->arrays.n;
        map_put(&augment->array_of, key_of(at->parent, at->step.name), index);
        vec_push(&augment->arrays, *dae_group(dae, first));
    }
    const Group *made = &augment->arrays.at[index];
    uint32_t offset = 0;
    for (uint32_t k = 0; k < made->decl->rank; k++)
        offset = offset * dae->dims.at[made->decl->dims + k] + at->step.index[k] - 1;
    dae->var_flags.at[made->first + offset] &= (uint8_t)~VARF_REMOVED;
    return made->first + offset;
}

static bool
make_variable(Augment *augment, uint32_t port, const Port *source)
{
    Dae *dae = augment->dae;
    Port *at = &augment->ports.at[port];
    Declaration like = *dae_group(dae, source->shift.var)->decl;
    uint32_t inst = augment->ports.at[at->parent].shift.inst;
    like.name = at->step.name;
    like.flags = 0;
    like.kind = like.type == TYPE_REAL ? like.kind == VAR_INPUT ? VAR_CONTINUOUS : like.kind : VAR_DISCRETE;
    like.span = at->span;
    like.rank = 0;
    like.count = 1;
    at->variable = true;
    if (at->step.rank) {
        at->shift.var = array_element(augment, port, like, inst);
        return at->shift.var != NONE;
    }
    at->shift.var = dae_add_declared(dae, like, inst);
    return true;
}

// The instance of an element of a connector.
static Inst
element_inst(Augment *augment, uint32_t port, Sym class_name)
{
    Dae *dae = augment->dae;
    const Port *at = &augment->ports.at[port];
    Inst inst = {.parent = augment->ports.at[at->parent].shift.inst, .name = at->step.name, .rank = at->step.rank,
                 .class_kind = CLASS_CONNECTOR, .class_name = class_name, .span = at->span};
    if (inst.rank) {
        inst.index = dae->dims.n;
        vec_append(&dae->dims, at->step.index, at->step.rank);
    }
    return inst;
}

static void
make_connector(Augment *augment, uint32_t port, const Port *source)
{
    Linker *linker = augment->linker;
    Dae *dae = augment->dae;
    Port *at = &augment->ports.at[port];
    Fragment *frag = source ? source->frag : NULL;
    at->frag = frag;
    at->bus = !frag || frag->is_expandable;
    at->shift = (Shift){dae->nvars, dae->insts.n, dae->connectors.n};
    Sym name = frag ? class_at(linker->elab->program, frag->class_id)->full_name : sym_of(dae->syms, "expandable connector");
    Inst inst = element_inst(augment, port, name);
    if (!frag) {
        dae_add_inst(dae, inst);
        return;
    }
    Shift shift = at->shift;
    link_instance(linker, frag, inst, shift, 0, true);
    link_contents(linker, frag, shift);
}

// The ports of a class that declare the element must agree on its dimensions.
static bool
same_rank(Augment *augment, uint32_t port)
{
    const Port *at = &augment->ports.at[port];
    const Fragment *frag = augment->ports.at[at->parent].frag;
    const Member *declared = frag ? fragment_member((Fragment *)(uintptr_t)frag, at->step.name) : NULL;
    if (!declared || (declared->by_connections && declared->type.rank == at->step.rank))
        return true;
    Diag *diag = diag_add(augment->linker->elab->diags, E0418, at->span, "'%s' is declared, but not with these subscripts",
                          port_name(augment, port));
    diag_note(diag, declared->span, "declared here");
    return false;
}

// Makes what an undeclared element stands for.
static bool
make_port(Augment *augment, uint32_t port)
{
    uint32_t class = find(augment, port), source = augment->source.at[class];
    bool elements = augment->n_entries.at[class] != 0;
    if (source == NONE && !elements) {
        Diag *diag = diag_add(augment->linker->elab->diags, E0418, augment->ports.at[port].span,
                              "nothing says what '%s' is: no side of its connections is declared", port_name(augment, port));
        diag_help(diag, "one side of a connect must be a connector of a component, or declared in an expandable connector");
        return false;
    }
    if (augment->ports.at[port].depth > PORT_DEPTH) {
        diag_add(augment->linker->elab->diags, E0418, augment->ports.at[augment->ports.at[port].parent].span,
                 "these connections make an expandable connector that contains itself");
        return false;
    }
    if (!same_rank(augment, port))
        return false;
    augment->ports.at[port].made = true;
    Port from = source == NONE ? (Port){0} : augment->ports.at[source];
    if (from.variable)
        return make_variable(augment, port, &from);
    uint32_t n = augment->ports.n;
    make_connector(augment, port, from.frag ? &from : NULL);
    if (has_parts(from.frag)) {
        declare_elements(augment, port);
        declare_all(augment, n);
    }
    return true;
}

// Every expandable connector gets the elements of its class. Ports that are added are looked at, too.
static bool
make_elements(Augment *augment)
{
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        if (!augment->ports.at[p].made && (!is_present(augment, p) || !make_port(augment, p))) {
            if (is_present(augment, p))
                return false;
            continue;
        }
        if (!augment->ports.at[p].bus || !augment->ports.at[p].made)
            continue;
        uint32_t class = find(augment, p), old;
        for (uint32_t e = augment->first_entry.at[class]; e; e = augment->entries.at[e].next) {
            const Port *like = &augment->ports.at[augment->entries.at[e].port];
            if (map_get(&augment->own, key_of(p, like->key), &old) || !is_present(augment, augment->entries.at[e].port))
                continue;
            add_port(augment, (Port){.parent = p, .step = like->step, .key = like->key, .connector = NONE, .span = like->span,
                                     .depth = augment->ports.at[p].depth + 1});
        }
    }
    return true;
}

// --- connectors and connections of the parts

// Inside an expandable connector the direction of a signal follows from what is connected.
static uint32_t
part_type(Augment *augment, const Port *port)
{
    Dae *dae = augment->dae;
    const Port *parent = &augment->ports.at[port->parent];
    ConnectorType type = {.n = 1};
    if (port->frag)
        type = dae->connector_types.at[port->frag->connector_type - 1];
    else
        type.class_name = dae->insts.at[parent->shift.inst].class_name;
    uint8_t *causes = arena_array(dae->arena, uint8_t, type.n);
    for (uint32_t k = 0; k < type.n; k++) {
        uint8_t cause = port->frag ? type.causality[k] : CAUSALITY_OUTPUT;
        bool signal = cause == CAUSALITY_INPUT || cause == CAUSALITY_OUTPUT;
        causes[k] = signal && parent->bus ? CAUSALITY_DEDUCED : cause;
    }
    if (!port->frag) {
        const Group *group = dae_group(dae, port->shift.var);
        uint8_t *flow = arena_array(dae->arena, uint8_t, 1);
        *flow = (group->decl->flags & GROUP_FLOW) != 0;
        if (!parent->bus)
            *causes = CAUSALITY_NONE;
        type.is_flow = flow;
    }
    type.causality = causes;
    return connector_type_intern(dae, type) - 1;
}

// What connects end at: the elements without further parts.
static void
make_connectors(Augment *augment)
{
    Dae *dae = augment->dae;
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        Port *port = &augment->ports.at[p];
        if (port->connector != NONE || !port->made || !is_leaf(port) || !is_present(augment, p))
            continue;
        uint32_t inst = port->frag ? port->shift.inst
                      : dae_add_inst(dae, element_inst(augment, p, dae->insts.at[augment->ports.at[port->parent].shift.inst].class_name));
        Connector connector = {.type = part_type(augment, port), .inst = inst, .first = port->shift.var};
        port->connector = dae->connectors.n;
        vec_push(&dae->connectors, connector);
    }
}

// Connectors that are taken apart have no scalars of their own any more; declared elements of expandable connectors that
// nothing names are no part of the model.
static void
empty_connectors(Augment *augment)
{
    Dae *dae = augment->dae;
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        const Port *port = &augment->ports.at[p];
        if (port->parent == NONE && has_parts(port->frag)) {
            const ConnectorType *old = &dae->connector_types.at[dae->connectors.at[port->connector].type];
            uint32_t type = connector_type_intern(dae, (ConnectorType){.class_name = old->class_name});
            dae->connectors.at[port->connector].type = type - 1;
        } else if (port->made && is_leaf(port) && !is_present(augment, p)) {
            for (uint32_t k = 0; k < (port->variable ? 1 : port->frag->nvars); k++)
                dae->var_flags.at[port->shift.var + k] |= VARF_REMOVED;
        }
    }
}

static bool
refuse_pair(Augment *augment, PortPair pair, Span span)
{
    diag_add(augment->linker->elab->diags, E0405, span, "'%s' and '%s' do not fit together", port_name(augment, pair.a),
             port_name(augment, pair.b));
    return false;
}

static bool
same_types(const Augment *augment, const Port *a, const Port *b)
{
    const Dae *dae = augment->dae;
    if (a->variable && b->variable)
        return dae_type(dae, a->shift.var) == dae_type(dae, b->shift.var);
    uint32_t n = a->frag ? dae->connector_types.at[a->frag->connector_type - 1].n : 1;
    return n == (b->frag ? dae->connector_types.at[b->frag->connector_type - 1].n : 1);
}

// One connect for each element that two ports have in common.
static bool
connect_parts(Augment *augment, uint32_t index)
{
    const PartConnect *part = &augment->linker->parts.at[index];
    VEC(PortPair) stack = {0};
    bool ok = true;
    vec_push(&stack, augment->ends.at[index]);
    while (ok && stack.n) {
        PortPair pair = vec_pop(&stack);
        const Port *a = &augment->ports.at[pair.a], *b = &augment->ports.at[pair.b];
        if (is_leaf(a) != is_leaf(b) || a->bus != b->bus || (is_leaf(a) && !same_types(augment, a, b))) {
            ok = refuse_pair(augment, pair, part->span);
        } else if (is_leaf(a)) {
            Connect connect = {.a = a->connector, .b = b->connector, .a_outside = part->a_outside,
                               .b_outside = part->b_outside, .span = part->span};
            vec_push(&augment->dae->connects, connect);
            if (a->frag)
                link_overconstrained_part(augment->linker, &connect, a->frag, part->inst);
        } else {
            uint32_t class = find(augment, pair.a);
            for (uint32_t e = augment->first_entry.at[class]; ok && e; e = augment->entries.at[e].next) {
                Sym key = augment->ports.at[augment->entries.at[e].port].key;
                PortPair next;
                bool both = map_get(&augment->own, key_of(pair.a, key), &next.a)
                         && map_get(&augment->own, key_of(pair.b, key), &next.b);
                if (both && is_present(augment, next.a))
                    vec_push(&stack, next);
                else if (!a->bus)
                    ok = refuse_pair(augment, pair, part->span);
            }
        }
    }
    vec_free(&stack);
    return ok;
}

// An element that others have put into an expandable connector, and to which nothing is connected on the side of the component that has the
// connector: nothing flows from it into that component. A set of its own with this side of it says so.
static void
close_elements(Augment *augment)
{
    Dae *dae = augment->dae;
    U8Vec within = {0};
    vec_grow(&within, dae->connectors.n);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        within.at[connect->a] |= connect->a_outside;
        within.at[connect->b] |= connect->b_outside;
    }
    for (uint32_t p = 0; p < augment->ports.n; p++) {
        const Port *port = &augment->ports.at[p];
        bool element = port->parent != NONE && port->connector != NONE && port->made && is_leaf(port) && is_present(augment, p);
        bool flows = false;
        for (uint32_t k = 0; element && port->frag && k < dae->connector_types.at[port->frag->connector_type - 1].n; k++)
            flows |= is_flow(augment, p, k);
        if (!flows || port->equated || within.at[port->connector] || !augment->ports.at[port->parent].bus)
            continue;
        Connect connect = {.a = port->connector, .b = port->connector, .a_outside = true, .b_outside = true, .span = port->span};
        vec_push(&dae->connects, connect);
    }
    vec_free(&within);
}

// --- all of it

static void
join_parts(Augment *augment)
{
    const Linker *linker = augment->linker;
    for (uint32_t c = 0; c < linker->ports.n; c++)
        if (is_taken_apart(linker, c))
            root_port(augment, c);
    for (uint32_t i = 0; i < linker->parts.n; i++) {
        const PartConnect *part = &linker->parts.at[i];
        PortPair ends = {path_port(augment, part->a, part->a_path, part->span), path_port(augment, part->b, part->b_path, part->span)};
        vec_push(&augment->ends, ends);
        if (augment->ports.at[ends.a].parent != NONE)
            augment->ports.at[find(augment, ends.a)].named = true;
        if (augment->ports.at[ends.b].parent != NONE)
            augment->ports.at[find(augment, ends.b)].named = true;
        join(augment, ends.a, ends.b);
    }
}

void
augment(Linker *linker)
{
    Augment augment = {.linker = linker, .dae = linker->dae};
    vec_push(&augment.entries, (Entry){0});
    join_parts(&augment);
    name_used(&augment);
    name_containers(&augment);
    find_sources(&augment);
    if (!augment.failed && make_elements(&augment)) {
        make_connectors(&augment);
        empty_connectors(&augment);
        bool connected = true;
        for (uint32_t i = 0; i < linker->parts.n && connected; i++)
            connected = connect_parts(&augment, i);
        if (connected)
            close_elements(&augment);
    }
    vec_free(&augment.ports);
    map_free(&augment.own);
    vec_free(&augment.class_of);
    vec_free(&augment.entries);
    vec_free(&augment.first_entry);
    vec_free(&augment.n_entries);
    map_free(&augment.entry_of);
    vec_free(&augment.source);
    vec_free(&augment.joins);
    vec_free(&augment.ends);
    map_free(&augment.root_of);
    map_free(&augment.array_of);
    vec_free(&augment.arrays);
}
