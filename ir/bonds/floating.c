// floating.c: bodies that hang together, but on nothing.
//
// Purpose: a mechanism without a ground falls or drifts away, and no equation is missing for it. That is what a forgotten
// connection to the ground looks like, so it is said, unless the text says how the motion begins.
// Method: sets of components that bonds join. A set is held when something in it acts from outside: a component with one port
// that says more than that it takes no force (a ground, a force, a tyre; a sensor does not), or one with several ports whose
// efforts do not balance (a gear that bears against its housing). Constraints between two ends, and what says that efforts at two of its ports are
// equal but for the sign, only act between their ports. One body that only sensors are connected to is an error, as one without
// connections is (unconnected.c); of more than one it is told in a warning.
// Contract: after the bonds were made, of whole models. Changes nothing. Complexity: linear in bonds, equations and variables.
#include "ir/bonds/unconnected.h"

#include "ir/base/diag.h"
#include "ir/base/sets.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_node.h"

enum { FLOATING_MAX = 4 };
enum { BONDED = 1, ACTS = 2, BALANCES = 4, MANY = 8, CHOSEN = 16, TWO_ENDS = 32 };

typedef struct Floating {
    Dae *dae;
    Diags *diags;
    U8Vec effort;     // per variable: an effort at a component's port
    U8Vec node;       // per node: the bits above
    U32Vec port;      // per node: a connector of it + 1, one of those with the most scalar bonds
    U32Vec set;       // per node
    U32Vec bodies, first; // per set: its bodies, the first of them + 1
    U8Vec facts;      // per set: ACTS, CHOSEN
    uint32_t reported;
    bool ok;
} Floating;

static uint32_t
bonds_of(const Dae *dae, uint32_t connector)
{
    return dae->connector_types.at[dae->connectors.at[connector].type].n_bonds;
}

static void
join_bonds(Floating *f)
{
    const Dae *dae = f->dae;
    vec_grow(&f->effort, dae->nvars);
    vec_grow(&f->node, dae->nodes.n);
    vec_grow(&f->port, dae->nodes.n);
    sets_grow(&f->set, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t *port = &f->port.at[bond->component], size = bonds_of(dae, bond->connector);
        uint32_t known = *port ? bonds_of(dae, *port - 1) : 0;
        bool other = *port && *port != bond->connector + 1;
        uint8_t *bits = &f->node.at[bond->component];
        f->effort.at[bond->effort] = 1;
        *bits |= other ? BONDED | MANY : BONDED;
        *bits = (uint8_t)(size > known ? *bits & ~TWO_ENDS : size == known && other ? *bits | TWO_ENDS : *bits);
        *port = size > known ? bond->connector + 1 : *port;
        sets_join(&f->set, bond->component, bond->junction);
    }
}

// x = 0
static bool
is_zero(const Dae *dae, uint32_t equation)
{
    Expr shape = dae->equations.at[equation].shape;
    return expr_op(dae->exprs, expr_arg(dae->exprs, shape, 0)) == OP_SLOT && expr_is_const(dae->exprs, expr_arg(dae->exprs, shape, 1), 0);
}

// Efforts at two ports of a component that are the same variable but for the sign.
static void
find_balanced(Floating *f, U32Vec *same)
{
    const Dae *dae = f->dae;
    U32Vec first = {0}; // per node: a bond of it + 1
    vec_grow(&first, dae->nodes.n);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t *of = &first.at[bond->component];
        const Bond *other = *of ? &dae->bonds.at[*of - 1] : bond;
        *of = *of ? *of : b + 1;
        if (other->connector != bond->connector && sets_find(same, other->effort) == sets_find(same, bond->effort))
            f->node.at[bond->component] |= BALANCES;
    }
    vec_free(&first);
}

// An effort at a port that an equation x = 0 gives is none; equations of two variables with an effort among them are followed.
static void
read_laws(Floating *f)
{
    const Dae *dae = f->dae;
    U8Vec none = {0};
    U32Vec same = {0};
    vec_grow(&none, dae->nvars);
    sets_grow(&same, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint32_t n;
        const Var *row = dae_row(dae, e, &n);
        if (dae->equations.at[e].generated || dae->equations.at[e].kind == EQN_INITIAL)
            continue;
        if (n == 1 && is_zero(dae, e))
            none.at[row[0]] = 1;
        if (n == 2 && (f->effort.at[row[0]] || f->effort.at[row[1]]))
            sets_join(&same, row[0], row[1]);
    }
    for (uint32_t b = 0; b < dae->bonds.n; b++)
        if (!none.at[dae->bonds.at[b].effort])
            f->node.at[dae->bonds.at[b].component] |= ACTS;
    find_balanced(f, &same);
    vec_free(&none);
    vec_free(&same);
}

static void
add_up(Floating *f)
{
    const Dae *dae = f->dae;
    vec_grow(&f->bodies, dae->nodes.n);
    vec_grow(&f->first, dae->nodes.n);
    vec_grow(&f->facts, dae->nodes.n);
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        uint8_t bits = f->node.at[i], kind = dae->insts.at[dae->nodes.at[i].inst].class_kind;
        if (!(bits & BONDED))
            continue;
        uint32_t set = sets_find(&f->set, i);
        bool body = kind == CLASS_KIND_BODY, between = (kind == CLASS_KIND_CONSTRAINT && bits & TWO_ENDS) || (bits & MANY && bits & BALANCES);
        f->bodies.at[set] += body;
        f->first.at[set] = body && !f->first.at[set] ? i + 1 : f->first.at[set];
        f->facts.at[set] |= !body && !between && bits & ACTS ? ACTS : 0;
    }
}

// The text says something about how the motion of the component around `inst` begins.
static void
note_chosen(Floating *f, uint32_t inst)
{
    const Dae *dae = f->dae;
    for (; inst != NONE && inst != 0; inst = dae->insts.at[inst].parent) {
        uint32_t node = inst < dae->node_of_inst.n ? dae->node_of_inst.at[inst] : 0;
        if (!node || !(f->node.at[node - 1] & BONDED))
            continue;
        f->facts.at[sets_find(&f->set, node - 1)] |= CHOSEN;
        return;
    }
}

static void
find_chosen(Floating *f)
{
    const Dae *dae = f->dae;
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        for (uint32_t k = 0; group->decl->kind == VAR_CONTINUOUS && k < group->decl->count; k++)
            if (dae->var_flags.at[group->first + k] & VARF_FIXED)
                note_chosen(f, group->inst);
    }
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint32_t n;
        const Var *row = dae_row(dae, e, &n);
        for (uint32_t k = 0; dae->equations.at[e].kind == EQN_INITIAL && k < n; k++)
            if (dae_kind(dae, row[k]) == VAR_CONTINUOUS)
                note_chosen(f, locate_var_inst(dae, row[k]));
    }
}

static void
print_bodies(const Floating *f, uint32_t set, Out *out)
{
    const Dae *dae = f->dae;
    uint32_t shown = 0, last = NONE;
    for (uint32_t i = 0; i < dae->nodes.n; i++) {
        uint32_t inst = dae->nodes.at[i].inst, user = locate_user_inst(dae, inst);
        if (!(f->node.at[i] & BONDED) || dae->insts.at[inst].class_kind != CLASS_KIND_BODY || f->set.at[i] != set || user == last)
            continue;
        if (shown++ < FLOATING_MAX) {
            out_text(out, shown > 1 ? ", '" : "'");
            dae_inst_path(dae, user, out);
            out_char(out, '\'');
        }
        last = user;
    }
    if (shown > FLOATING_MAX)
        out_printf(out, " and %u more", shown - FLOATING_MAX);
}

// What is of that kind in the set belongs to one component that the text declares.
static bool
is_of_one(const Floating *f, uint32_t set, uint8_t kind)
{
    const Dae *dae = f->dae;
    uint32_t user = locate_user_inst(dae, dae->nodes.at[f->first.at[set] - 1].inst);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (f->node.at[i] & kind && f->set.at[i] == set && locate_user_inst(dae, dae->nodes.at[i].inst) != user)
            return false;
    return true;
}

static void
report(Floating *f, uint32_t set)
{
    const Dae *dae = f->dae;
    uint32_t inst = dae->nodes.at[f->first.at[set] - 1].inst;
    if (is_of_one(f, set, BONDED)) // nothing is connected to that, and unconnected.c looks at it
        return;
    bool lone = f->bodies.at[set] == 1 && is_of_one(f, set, ACTS); // all else there are sensors, or parts of the same component
    Out names = {0};
    print_bodies(f, set, &names);
    Diag *diag = lone ? diag_add(f->diags, E0419, dae->insts.at[inst].span,
                                 "body %s is held by nothing: what is connected to it takes no force", names.text)
                      : diag_add(f->diags, W1404, dae->insts.at[inst].span,
                                 "nothing holds %s: no connection leads to a ground, and no force acts from outside", names.text);
    locate_move(dae, diag, inst);
    diag_help(diag, "connect %s meant to move freely, say how %s: give a position or a velocity a start with fixed = true",
              lone ? "it; if it is" : "one of them to a ground; if they are", lone ? "it starts" : "they start");
    f->ok &= !lone;
    f->reported++;
    out_free(&names);
}

bool
floating_check(Dae *dae, Diags *diags)
{
    Floating f = {.dae = dae, .diags = diags, .ok = true};
    if (dae_has_open_flanges(dae))
        return true;
    join_bonds(&f);
    read_laws(&f);
    add_up(&f);
    find_chosen(&f);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        f.set.at[i] = sets_find(&f.set, i);
    // A body to which nothing at all is connected is unconnected.c's.
    for (uint32_t i = 0; i < dae->nodes.n && f.reported < FLOATING_MAX; i++)
        if (f.set.at[i] == i && f.bodies.at[i] && !f.facts.at[i])
            report(&f, i);
    U8Vec *bits[] = {&f.effort, &f.node, &f.facts};
    U32Vec *numbers[] = {&f.port, &f.set, &f.bodies, &f.first};
    for (int i = 0; i < 3; i++)
        vec_free(bits[i]);
    for (int i = 0; i < 4; i++)
        vec_free(numbers[i]);
    return f.ok;
}
