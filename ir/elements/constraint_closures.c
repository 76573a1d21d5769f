// constraint_closures.c: complementarity of constraints: each scalar bond is closed exactly once.
//
// Purpose: a constraint between two ports, or at one against the ground, that gives a motion and its effort, and leaves another open, has the right number of
//          equations and is wrong; the message says which.
// Method: the law over the scalar bonds (element.h) says whether a motion of the ports stays open although the bodies on both sides are
//         isotropic, and what is given twice; here it is put into words. Components with the same equations are told once.
// Contract: bonds.h, kinds.h; behind kinds. Complexity: linear in the equations of constraints, and one question for each signature.
#include <math.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/elements/closures.h"
#include "ir/elements/elements.h"
#include "ir/elements/kinds.h"
#include "ir/elements/kinds_inner.h"

typedef struct Motion { // of the second port against the first, of the only one against the ground: translations or rotations
    uint32_t n;         // components
    double at[3], square;
} Motion;

// The part of a motion that is about efforts of one unit.
static Motion
relative(const Kinds *kinds, const double *flow, uint32_t unit)
{
    Motion motion = {0};
    bool alone = kinds->scalar.n && vec_last(&kinds->scalar).connector == kinds->scalar.at[0].connector;
    for (uint32_t b = 0; b < kinds->scalar.n && motion.n < 3; b++) {
        const ScalarPort *port = &kinds->scalar.at[b];
        if ((!alone && port->connector == kinds->scalar.at[0].connector) || dae_group(kinds->dae, port->effort)->decl->unit != unit)
            continue;
        double value = flow[b];
        for (uint32_t a = 0; a < b; a++)
            if (kinds->scalar.at[a].scalar == port->scalar && kinds->scalar.at[a].connector == kinds->scalar.at[0].connector)
                value -= flow[a];
        motion.at[motion.n++] = value;
        motion.square += value*value;
    }
    return motion;
}

// The name of a vector parameter of the component with this direction, or NULL.
static const char *
direction_name(const Kinds *kinds, const double *vector, uint32_t n)
{
    Dae *dae = kinds->dae;
    for (uint32_t i = 0; i < kinds->variables.n; i++) {
        Var var = kinds->variables.at[i];
        const Group *group = dae_is_parameter(dae, var) ? dae_group(dae, var) : NULL;
        double value[3], product = 0, square = 0, length = 0;
        bool known = group && group->decl->rank == 1 && group->decl->count == n;
        for (uint32_t k = 0; k < n && known; k++) {
            known = dae_known_value(dae, group->first + k, &value[k]);
            product += known ? value[k]*vector[k] : 0;
            square += known ? value[k]*value[k] : 0;
            length += vector[k]*vector[k];
        }
        if (known && product*product > (1 - 1e-9)*square*length && square > 0)
            return sym_text(dae->syms, group->decl->name);
    }
    return NULL;
}

// "rotation about 'n' = {0, 0, 1}", "translation along y", "rotation" in a plane.
static void
print_part(const Kinds *kinds, const Motion *motion, bool turns, Out *out)
{
    static const char *const axes[] = {"x", "y", "z"};
    uint32_t n = motion->n, axis = NONE;
    double sign = 1, length = sqrt(motion->square);
    out_text(out, turns ? "rotation" : "translation");
    if (n == 1)
        return;
    const char *name = direction_name(kinds, motion->at, n);
    for (uint32_t k = n; k-- > 0;) {
        axis = motion->at[k]*motion->at[k] > (1 - 1e-9)*motion->square ? k : axis;
        sign = motion->at[k]*motion->at[k] > 1e-12*motion->square ? (motion->at[k] < 0 ? -1 : 1) : sign;
    }
    out_text(out, turns ? " about " : " along ");
    if (name)
        out_printf(out, "'%s' = ", name);
    else if (axis != NONE) {
        out_text(out, axes[axis]);
        return;
    }
    for (uint32_t k = 0; k < n; k++) {
        double part = sign*motion->at[k]/length;
        out_printf(out, "%s%.4g", k ? ", " : "{", fabs(part) < 1e-9 ? 0 : part);
    }
    out_char(out, '}');
}

void
kinds_print_motion(const Kinds *kinds, const double *flow, Out *out)
{
    Motion best = {0};
    uint32_t unit = 0;
    for (uint32_t i = 0; i < kinds->effort_units.n; i++) {
        Motion motion = relative(kinds, flow, kinds->effort_units.at[i]);
        if (motion.square > best.square) {
            best = motion;
            unit = kinds->effort_units.at[i];
        }
    }
    if (best.square > 0)
        print_part(kinds, &best, !strcmp(sym_text(kinds->dae->syms, unit), "N.m"), out);
    else
        out_text(out, "one of them");
}

static void
report_closure(const Kinds *kinds, uint32_t node, const double *open, const double *twice, Diags *diags)
{
    Dae *dae = kinds->dae;
    const Inst *inst = &dae->insts.at[dae->nodes.at[node].inst];
    Out path = {0}, one = {0}, other = {0};
    dae_inst_path(dae, dae->nodes.at[node].inst, &path);
    kinds_print_motion(kinds, open, &one);
    kinds_print_motion(kinds, twice, &other);
    Diag *d = diag_add(diags, E0413, inst->span, "constraint '%s' (%s) leaves a scalar bond open: %s: neither its flow nor its effort is given, "
                       "and no law relates them", path.text, sym_text(dae->syms, inst->class_name), one.text);
    diag_note(d, inst->span, "and it closes another twice: %s: its flow and its effort are given", other.text);
    diag_help(d, "each scalar bond takes the common effort and exactly one of: a condition on its flow (FC), a condition on its effort (EC), or an "
              "element that relates the two");
    out_free(&path);
    out_free(&one);
    out_free(&other);
}

// The component is at hand. False when there is no law to be asked.
static bool
read_component(Kinds *kinds, uint32_t node)
{
    kinds_read(kinds, node);
    return kinds_collect_plain(kinds, node);
}

static bool
check_closure(Kinds *kinds, uint32_t node, Diags *diags)
{
    uint32_t first = kinds->words.n, known;
    double open[SCALAR_BONDS_MAX], twice[SCALAR_BONDS_MAX];
    if (!read_component(kinds, node))
        return true;
    kinds_add_signature(kinds);
    uint64_t hash = kinds_signature_hash(kinds, first);
    kinds->words.n = first;
    if (map_get(&kinds->known_of, hash, &known)) // the same equations again: told once
        return true;
    map_put(&kinds->known_of, hash, node);
    ScalarAsk ask = kinds_ask(kinds);
    if (element_is_closed(&ask, open, twice))
        return true;
    ask.own_axes = true;
    if (kinds->has_axes && element_is_closed(&ask, open, twice))
        return true;
    report_closure(kinds, node, open, twice, diags);
    return false;
}

bool
constraints_are_closed(Dae *dae, Diags *diags)
{
    bool any = false, good = true;
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        any |= dae->insts.at[dae->nodes.at[node].inst].class_kind == CLASS_KIND_CONSTRAINT && !dae_is_junction(dae, node);
    if (!any)
        return true;
    Kinds kinds = {.dae = dae};
    kinds_open(&kinds);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (dae->insts.at[dae->nodes.at[node].inst].class_kind == CLASS_KIND_CONSTRAINT && !dae_is_junction(dae, node) && (kinds.ports.at[node] == 1 || kinds.ports.at[node] == 2))
            good &= check_closure(&kinds, node, diags);
    kinds_close(&kinds);
    return good;
}

// The motions in words, in a list.
static void
print_motions(const Kinds *kinds, double (*flow)[SCALAR_BONDS_MAX], uint32_t n, Out *out)
{
    for (uint32_t i = 0; i < n; i++) {
        out_text(out, i ? "; " : "");
        kinds_print_motion(kinds, flow[i], out);
    }
}

bool
constraint_surplus(Dae *dae, uint32_t inst, uint32_t n_twice, uint32_t n_open, Out *twice, Out *open)
{
    uint32_t node = 0, found[2];
    while (node < dae->nodes.n && (dae->nodes.at[node].inst != inst || dae_is_junction(dae, node)))
        node++;
    if (node == dae->nodes.n)
        return false;
    Kinds kinds = {.dae = dae};
    double (*flows)[SCALAR_BONDS_MAX] = base_calloc(2*SCALAR_ROWS_MAX, sizeof *flows);
    kinds_open(&kinds);
    bool good = (kinds.ports.at[node] == 1 || kinds.ports.at[node] == 2) && read_component(&kinds, node);
    if (good) {
        kinds_add_signature(&kinds); // the places of its variables
        ScalarAsk ask = kinds_ask(&kinds);
        good = element_surplus(&ask, flows, &found[0], flows + SCALAR_ROWS_MAX, &found[1]) && found[0] == n_twice && found[1] == n_open;
    }
    if (good) {
        print_motions(&kinds, flows, n_twice, twice);
        print_motions(&kinds, flows + SCALAR_ROWS_MAX, n_open, open);
    }
    kinds_close(&kinds);
    free(flows);
    return good;
}

// Set-valued laws by the components that have them.
typedef struct NodeLaws {
    Map law_of;  // equation -> law
    Map last;    // node -> its last law + 1
    U32Vec more; // per law: the one before it of the same node + 1, or 0
} NodeLaws;

static void
index_laws(const Dae *dae, NodeLaws *laws)
{
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        uint32_t node = dae->equations.at[dae->laws.at[i].equation].node, before = 0;
        map_get(&laws->last, node, &before);
        vec_push(&laws->more, before);
        map_put(&laws->last, node, i + 1);
        map_put(&laws->law_of, dae->laws.at[i].equation, i);
    }
}

// Laws count as equations of the component at hand where one of them is unilateral.
static bool
add_laws(Kinds *kinds, uint32_t node, const NodeLaws *laws)
{
    const Dae *dae = kinds->dae;
    bool any = false;
    uint32_t last = 0;
    map_get(&laws->last, node, &last);
    for (uint32_t i = last; i; i = laws->more.at[i - 1])
        any |= dae->laws.at[i - 1].unilateral;
    for (uint32_t i = last; i && any; i = laws->more.at[i - 1])
        vec_push(&kinds->plain, dae->laws.at[i - 1].equation);
    return any;
}

// The groups of variables of each instance: at[start[i] .. start[i + 1]).
static void
index_groups(const Dae *dae, U32Vec *start, U32Vec *at)
{
    U32Vec fill = {0};
    vec_grow(start, dae->insts.n + 1);
    for (uint32_t g = 0; g < dae->groups.n; g++)
        start->at[dae->groups.at[g].inst + 1]++;
    for (uint32_t i = 0; i < dae->insts.n; i++)
        start->at[i + 1] += start->at[i];
    vec_append(&fill, start->at, dae->insts.n);
    vec_grow(at, dae->groups.n);
    for (uint32_t g = 0; g < dae->groups.n; g++)
        at->at[fill.at[dae->groups.at[g].inst]++] = g;
    vec_free(&fill);
}

void
node_closures(Dae *dae)
{
    Kinds kinds = {.dae = dae};
    U32Vec start = {0}, groups = {0};
    NodeLaws laws = {0};
    kinds_open(&kinds);
    index_groups(dae, &start, &groups);
    index_laws(dae, &laws);
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        uint32_t first = kinds.words.n, inst = dae->nodes.at[node].inst;
        if (dae->nodes.at[node].kind != NODE_CONSTRAINT || !kinds.ports.at[node] || !read_component(&kinds, node))
            continue;
        kinds_add_signature(&kinds);
        kinds.words.n = first;
        ScalarAsk ask = kinds_ask(&kinds);
        bool contact = add_laws(&kinds, node, &laws);
        ask.equations = kinds.plain.at;
        ask.n = kinds.plain.n;
        ask.law_of = &laws.law_of;
        closures_of(&(ConstraintLaw){node, &ask, groups.at + start.at[inst], start.at[inst + 1] - start.at[inst], contact});
    }
    map_free(&laws.law_of);
    map_free(&laws.last);
    vec_free(&laws.more);
    vec_free(&start);
    vec_free(&groups);
    kinds_close(&kinds);
}
