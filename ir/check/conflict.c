// conflict.c: two sources that impose the same effort or the same flow.
//
// Purpose: as equations it is one too many here and one too few there; physically it is one mistake.
// Method: sources are the elements of kind Se and Sf that own equations of an over-determined set; the way between
// the nearest two through the bond graph tells where they meet. The conjugate quantity, shared by them, is
// the under-determined set that contains variables of both.
// Contract: see conflict.h. Complexity: linear.
//
//     two ideal voltage sources in parallel   ->   Se a -> 0-junction J1 -> Se b: one effort, imposed twice
#include "ir/check/conflict.h"

#include "ir/structure/graph_paths.h"

#include <string.h>

enum { SOURCES = 8, NAMES_SHOWN = 6 };

typedef struct Conflict {
    Dae *dae;
    uint32_t source[SOURCES], n;
    U32Vec bond; // per node, see find_bonds
    U32Vec way;
} Conflict;

static bool
is_source(const Dae *dae, uint32_t node)
{
    return node < dae->nodes.n && (dae->nodes.at[node].kind == NODE_SE || dae->nodes.at[node].kind == NODE_SF);
}

// The first bond of each component; NONE for what has none, or joins frames: such a part is driven, it does not drive.
static void
find_bonds(Conflict *conflict)
{
    const Dae *dae = conflict->dae;
    U8Vec ports = {0}, frames = {0};
    vec_grow(&ports, dae->nodes.n);
    vec_grow(&frames, dae->nodes.n);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        vec_push(&conflict->bond, NONE);
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        uint32_t *first = &conflict->bond.at[bond->component];
        ports.at[bond->component] |= *first != NONE && bond->connector != dae->bonds.at[*first].connector;
        frames.at[bond->component] |= bond->scalar > 0;
        *first = *first == NONE ? b : *first;
    }
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (ports.at[i] && frames.at[i])
            conflict->bond.at[i] = NONE;
    vec_free(&ports);
    vec_free(&frames);
}

static void
add_source(Conflict *conflict, uint32_t node)
{
    uint32_t i = 0;
    while (i < conflict->n && conflict->source[i] != node)
        i++;
    if (i == conflict->n && i < SOURCES && is_source(conflict->dae, node) && conflict->bond.at[node] != NONE)
        conflict->source[conflict->n++] = node;
}

// Sources own equations of the set, or hand on what the set is about: a signal, say.
static void
collect_sources(Conflict *conflict, const Singular *over, uint32_t set)
{
    Dae *dae = conflict->dae;
    U8Vec about = {0};
    bool negative;
    for (uint32_t k = over->equation_start.at[set]; k < over->equation_start.at[set + 1]; k++)
        add_source(conflict, dae->equations.at[over->equations.at[k]].node);
    vec_grow(&about, dae->nvars);
    for (uint32_t k = over->variable_start.at[set]; k < over->variable_start.at[set + 1]; k++)
        about.at[over->variables.at[k]] = 1;
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        Var imposed = dae->nodes.at[bond->component].kind == NODE_SE ? bond->effort : bond->flow;
        if (about.at[dae_alias(dae, imposed, &negative)])
            add_source(conflict, bond->component);
    }
    vec_free(&about);
}

// A ground or a reservoir closes the circle in which others are in conflict: it counts only when it is one of two. Such
// sources of effort with one port go to the end; returns how many are no such.
static uint32_t
references_last(Conflict *conflict, const Ways *ways)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < conflict->n; i++) {
        uint32_t node = conflict->source[i];
        if (conflict->dae->nodes.at[node].kind == NODE_SE && ways->start.at[node + 1] - ways->start.at[node] == 1)
            continue;
        conflict->source[i] = conflict->source[kept];
        conflict->source[kept++] = node;
    }
    return kept > 1 ? kept : conflict->n;
}

// What the two impose; where the kinds differ, what the junction at which they meet shares.
static bool
shares_effort(const Conflict *conflict)
{
    const Dae *dae = conflict->dae;
    uint8_t one = dae->nodes.at[conflict->way.at[0]].kind, other = dae->nodes.at[vec_last(&conflict->way)].kind;
    return one == other ? one == NODE_SE : dae->nodes.at[conflict->way.at[1]].kind == NODE_ZERO;
}

// A junction that hands on what the source imposes: one that shares it, or one of two bonds.
static bool
hands_on(const Ways *ways, uint32_t node, uint8_t source_kind)
{
    NodeKind shares = source_kind == NODE_SE ? NODE_ZERO : NODE_ONE;
    return ways->dae->nodes.at[node].kind == shares || ways->start.at[node + 1] - ways->start.at[node] == 2;
}

static bool
find_way(Conflict *conflict, Ways *ways, const uint32_t *equations, uint32_t n)
{
    const Dae *dae = conflict->dae;
    U8Vec target = {0}, passable = {0};
    vec_grow(&target, dae->nodes.n);
    vec_grow(&passable, dae->nodes.n);
    uint32_t candidates = references_last(conflict, ways);
    for (uint32_t i = 1; i < candidates; i++)
        target.at[conflict->source[i]] = 1;
    for (uint32_t k = 0; k < n; k++)
        if (dae->equations.at[equations[k]].node < dae->nodes.n)
            passable.at[dae->equations.at[equations[k]].node] = 1;
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (ways->number.at[i])
            passable.at[i] = hands_on(ways, i, dae->nodes.at[conflict->source[0]].kind);
    bool found = ways_find(ways, conflict->source[0], &target, &passable, &conflict->way);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        if (!ways->number.at[i] && !is_source(dae, i))
            passable.at[i] = 1;
    found = found || ways_find(ways, conflict->source[0], &target, &passable, &conflict->way)
            || ways_find(ways, conflict->source[0], &target, NULL, &conflict->way);
    vec_free(&target);
    vec_free(&passable);
    return found;
}

// What the quantity that they impose is called where they are: "position", "voltage", ..., or "effort" and "flow".
static const char *
quantity_of(const Conflict *conflict, bool effort)
{
    static const char *const words[][2] = {{"m", "motion"}, {"rad", "motion"}, {"m/s", "motion"}, {"rad/s", "motion"}, {"N", "force"},
                                           {"N.m", "torque"}, {"V", "voltage"}, {"A", "current"}, {"K", "temperature"}, {"W", "heat flow"}};
    const Dae *dae = conflict->dae;
    uint32_t first = conflict->bond.at[conflict->way.at[0]];
    const Group *group = first == NONE ? NULL : dae_group(dae, effort ? dae->bonds.at[first].effort : dae->bonds.at[first].flow);
    const char *unit = group && group->decl->unit ? sym_text(dae->syms, group->decl->unit) : "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(unit, words[i][0]))
            return words[i][1];
    return effort ? "effort" : "flow";
}

// What helps when an effort, or a flow, is imposed twice.
static const char *
element_between(const Conflict *conflict)
{
    bool effort = shares_effort(conflict), motion = !strcmp(quantity_of(conflict, false), "motion");
    if (motion)
        return effort ? "a mass or a damper" : "a spring or a damper";
    return effort ? "an R or I element" : "an R or C element";
}

static void
print_inst(const Dae *dae, uint32_t node, Out *out)
{
    uint32_t inst = dae->nodes.at[node].inst;
    out_char(out, '\'');
    dae_inst_path(dae, inst, out);
    out_printf(out, "' (%s)", sym_text(dae->syms, dae->insts.at[inst].class_name));
}

static bool
lies_in(const Dae *dae, Var var, uint32_t node)
{
    const Group *group = dae_group(dae, var);
    uint32_t inst = group ? group->inst : 0;
    while (inst != dae->nodes.at[node].inst && dae->insts.at[inst].parent != NONE)
        inst = dae->insts.at[inst].parent;
    return group && inst == dae->nodes.at[node].inst;
}

// The set of `under` with variables of both ends of the way, or of one when there is but one set.
static uint32_t
conjugate_set(const Conflict *conflict, const Singular *under)
{
    uint32_t sets = under->variable_start.n ? under->variable_start.n - 1 : 0;
    for (uint32_t s = 0; s < sets; s++) {
        bool first = false, last = false;
        for (uint32_t k = under->variable_start.at[s]; k < under->variable_start.at[s + 1]; k++) {
            first = first || lies_in(conflict->dae, under->variables.at[k], conflict->way.at[0]);
            last = last || lies_in(conflict->dae, under->variables.at[k], vec_last(&conflict->way));
        }
        if ((first && last) || (sets == 1 && (first || last)))
            return s;
    }
    return NONE;
}

static void
note_conjugates(const Conflict *conflict, const Singular *under, uint32_t set, Diag *diag)
{
    Dae *dae = conflict->dae;
    Out names = {0};
    uint32_t first = under->variable_start.at[set], n = under->variable_start.at[set + 1] - first;
    for (uint32_t k = 0; k < n && k < NAMES_SHOWN; k++)
        out_printf(&names, "%s'%s'", k ? ", " : "", dae_name(dae, under->variables.at[first + k]));
    if (n > NAMES_SHOWN)
        out_printf(&names, " and %u more", n - NAMES_SHOWN);
    diag_note(diag, (Span){0, 0}, "for the same reason nothing determines how they share the %s: %s",
              quantity_of(conflict, !shares_effort(conflict)), names.text);
    out_free(&names);
}

static void
report(const Conflict *conflict, const Ways *ways, const uint32_t *equations, uint32_t n, Diags *diags, Diag **made)
{
    Dae *dae = conflict->dae;
    uint32_t one = conflict->way.at[0], other = vec_last(&conflict->way);
    Span one_span = dae->insts.at[dae->nodes.at[one].inst].span, other_span = dae->insts.at[dae->nodes.at[other].inst].span;
    bool swap = one_span.lo < other_span.lo; // the later declaration is the one that is too much
    Out first = {0}, second = {0}, chain = {0};
    print_inst(dae, swap ? one : other, &first);
    print_inst(dae, swap ? other : one, &second);
    *made = diag_add(diags, E0509, swap ? other_span : one_span, "causal conflict: the sources %s and %s impose the same %s",
                     first.text, second.text, quantity_of(conflict, shares_effort(conflict)));
    diag_note(*made, swap ? one_span : other_span, "the other source is declared here");
    for (uint32_t i = 0; i < conflict->way.n; i++) {
        out_text(&chain, i ? " -> " : "");
        way_print_node(ways, conflict->way.at[swap ? i : conflict->way.n - 1 - i], false, &chain);
    }
    diag_note(*made, (Span){0, 0}, "they meet through %s", chain.text);
    for (uint32_t k = 0; k < n && k < NAMES_SHOWN; k++) {
        chain.length = 0;
        dae_print_equation(dae, equations[k], &chain);
        diag_note(*made, dae->equations.at[equations[k]].span, "one of the equations that cannot all hold: %s", chain.text);
    }
    out_free(&first);
    out_free(&second);
    out_free(&chain);
}

bool
conflict_report(Dae *dae, const Singular *over, uint32_t set, const Singular *under, U8Vec *reported, Diags *diags)
{
    const uint32_t *equations = over->equations.at + over->equation_start.at[set];
    uint32_t n = over->equation_start.at[set + 1] - over->equation_start.at[set];
    Conflict conflict = {.dae = dae};
    find_bonds(&conflict);
    collect_sources(&conflict, over, set);
    if (conflict.n < 2) {
        vec_free(&conflict.bond);
        return false;
    }
    Ways ways = ways_open(dae);
    bool found = find_way(&conflict, &ways, equations, n);
    if (found) {
        Diag *diag;
        uint32_t conjugate = conjugate_set(&conflict, under);
        report(&conflict, &ways, equations, n, diags, &diag);
        if (conjugate != NONE) {
            note_conjugates(&conflict, under, conjugate, diag);
            reported->at[conjugate] = 1;
        }
        diag_help(diag, "remove one of the sources, or put %s between them", element_between(&conflict));
    }
    ways_free(&ways);
    vec_free(&conflict.bond);
    vec_free(&conflict.way);
    return found;
}
