// unconnected.c: components that nothing is connected to.
//
// Purpose: a port that the user forgot to connect is no mistake to the equations: nothing flows into it. An element with a
// free end does nothing, and a body that hangs on nothing falls or drifts away; that is what people forget.
// Method: an element, a constraint or a memory element needs all its ports, any component at least one (a warning). A body
// without a connection is an error, unless the text says that it is meant to move freely: a variable of it has a fixed
// start, or an initial equation or a reinit outside mentions one. An equation that only reads it says nothing about that. A composite counts as a body when it holds exactly one and nothing
// that acts on it from outside, as the library's bodies by shape do.
// Contract: reads connectors and connects after the bonds were made. Changes nothing.
// Complexity: linear in connectors and components times their nesting; linear in the equations when there is a lone body.
#include "ir/bonds/unconnected.h"

#include "ir/base/diag.h"
#include "ir/elements/kinds.h"
#include "ir/dae/locate.h"

enum { WARN_MAX = 10 };
enum { CONNECTED = 1, OUTSIDE = 2, REPORTED = 4, HAS_PORT = 8, HAS_PORTS = 16, ACTED_ON = 32 };

typedef struct Check {
    Dae *dae;
    Diags *diags;
    const uint8_t *touched;
    U8Vec state;    // per instance: the bits above
    U32Vec bodies;  // per instance: bodies in it, itself included
    uint32_t reported;
    bool ok;
} Check;

static bool
has_power(const Dae *dae, uint32_t connector)
{
    return dae->connector_types.at[dae->connectors.at[connector].type].n_bonds > 0;
}

// A body may have a free end; an element, a constraint or a memory element with one does nothing.
static bool
needs_all_ports(const Dae *dae, uint32_t component)
{
    uint8_t kind = dae->insts.at[component].class_kind;
    return kind == CLASS_KIND_ELEMENT || kind == CLASS_KIND_CONSTRAINT || kind == CLASS_KIND_MEMORY;
}

static void
look_at_ports(Check *check)
{
    const Dae *dae = check->dae;
    vec_grow(&check->state, dae->insts.n);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        uint8_t *state = &check->state.at[port_component(dae, c)];
        *state |= check->touched[2 * c] ? CONNECTED | OUTSIDE : check->touched[2 * c + 1] ? CONNECTED : 0;
        *state |= has_power(dae, c) ? *state & HAS_PORT ? HAS_PORTS : HAS_PORT : 0;
    }
}

// What a component holds is told to all around it. A part with one port acts from outside, as a source or a tyre does; parts
// with several act between what they are connected to.
static void
look_into_composites(Check *check)
{
    const Dae *dae = check->dae;
    vec_grow(&check->bodies, dae->insts.n);
    for (uint32_t i = 1; i < dae->insts.n; i++) {
        uint8_t kind = dae->insts.at[i].class_kind, state = check->state.at[i];
        bool body = kind == CLASS_KIND_BODY, acts = !body && state & HAS_PORT && !(state & HAS_PORTS);
        for (uint32_t at = i; (body || acts) && at != NONE && at != 0; at = dae->insts.at[at].parent) {
            check->bodies.at[at] += body;
            check->state.at[at] |= acts ? ACTED_ON : 0;
        }
    }
}

static bool
is_lone_body(const Check *check, uint32_t inst)
{
    const Inst *at = &check->dae->insts.at[inst];
    uint8_t state = check->state.at[inst];
    if (inst == 0 || at->shared || !(state & HAS_PORT) || state & OUTSIDE)
        return false;
    if (at->class_kind == CLASS_KIND_BODY)
        return true;
    return check->bodies.at[inst] == 1 && !(state & ACTED_ON);
}

static bool
has_fixed_start(const Dae *dae, uint32_t inst)
{
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        if (group->decl->kind != VAR_CONTINUOUS || !dae_inst_inside(dae, group->inst, inst))
            continue;
        for (uint32_t k = 0; k < group->decl->count; k++)
            if (dae->var_flags.at[group->first + k] & VARF_FIXED)
                return true;
    }
    return false;
}

static bool
is_started_outside(const Dae *dae, uint32_t inst)
{
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        if (dae_inst_inside(dae, locate_var_inst(dae, dae->reinits.at[i].var), inst))
            return true;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint32_t n;
        const Var *row = dae_row(dae, e, &n);
        if (dae->equations.at[e].kind != EQN_INITIAL || dae_inst_inside(dae, locate_equation_inst(dae, e), inst))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (dae_kind(dae, row[k]) == VAR_CONTINUOUS && dae_inst_inside(dae, locate_var_inst(dae, row[k]), inst))
                return true;
    }
    return false;
}

static void
note_reported(Check *check, Diag *diag, uint32_t component)
{
    locate_move(check->dae, diag, component);
    check->state.at[component] |= REPORTED;
    check->reported++;
}

static void
report_body(Check *check, uint32_t body)
{
    Out path = {0};
    dae_inst_path(check->dae, body, &path);
    Diag *diag = diag_add(check->diags, E0419, check->dae->insts.at[body].span,
                          "body '%s' is connected to nothing: no joint holds it and no force acts on it", path.text);
    diag_help(diag, "connect it; if it is meant to move freely, say how it starts: give its position or its velocity a start "
                    "with fixed = true");
    note_reported(check, diag, body);
    check->ok = false;
    out_free(&path);
}

// `named` is the component, or a port of it.
static void
warn_of(Check *check, uint32_t component, uint32_t named)
{
    Out path = {0};
    dae_inst_path(check->dae, named, &path);
    Span span = check->dae->insts.at[component].span;
    note_reported(check, diag_add(check->diags, W1401, span, "nothing is connected to '%s'", path.text), component);
    out_free(&path);
}

static void
check_bodies(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t i = 1; i < dae->insts.n && check->reported < WARN_MAX; i++) {
        if (!is_lone_body(check, i))
            continue;
        check->state.at[i] |= REPORTED;
        if (!has_fixed_start(dae, i) && !is_started_outside(dae, i))
            report_body(check, i);
    }
}

static void
check_ports(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t c = 0; c < dae->connectors.n && check->reported < WARN_MAX; c++) {
        uint32_t component = port_component(dae, c);
        uint8_t state = check->state.at[component];
        if (check->touched[2 * c] || check->touched[2 * c + 1] || !has_power(dae, c)
            || dae->insts.at[component].parent == NONE || state & REPORTED)
            continue;
        bool alone = !(state & CONNECTED);
        if (alone && dae->insts.at[component].shared)
            continue;
        if (alone || needs_all_ports(dae, component))
            warn_of(check, component, alone ? component : dae->connectors.at[c].inst);
    }
}

bool
unconnected_check(Dae *dae, const uint8_t *touched, Diags *diags)
{
    Check check = {.dae = dae, .diags = diags, .touched = touched, .ok = true};
    look_at_ports(&check);
    look_into_composites(&check);
    check_bodies(&check);
    check_ports(&check);
    vec_free(&check.state);
    vec_free(&check.bodies);
    return check.ok;
}
