// kinds.c: which bond-graph element a component is.
//
// Purpose: the graph's printers and the causality pass's priorities want to know storage, resistors and
// sources; the user writes equations, not letters.
// Method: the law over the scalar bonds at random points decides where it can be evaluated (component_law.c); it is what tells a
// gyrator from a resistor. Otherwise levels do, of motions and efforts (quantities.c): a displacement is motion 0, a flow motion 1; an
// effort is effort 0, a momentum effort -1. An equation that relates both domains is constitutive, and the
// difference of the levels names it, as in the periodic table of elements: 0 C, 1 R, 2 I. Without one, the
// component is a source or a transformer; efforts balanced over moving arms are a modulated transformer's. One with a single end
// that holds some directions of its motion and leaves others, as a wheel or a blade does, is a constraint against the ground.
// Contract: after bonds and equations exist; writes GraphNode.kind only.
// Complexity: linear in the equations of components (a fixed number of sweeps).
#include "ir/elements/kinds.h"

#include "ir/elements/kinds_inner.h"
#include "ir/elements/orders.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

// What the equations of one component are.
typedef struct Findings {
    uint32_t letters;       // bits of NodeKind: laws between motion and effort
    uint32_t laws;          // how many
    bool given_motion, given_effort; // one domain is set to zero, or to parameters, signals, time
    bool offset_motion, offset_effort; // several quantities of one domain differ by parameters
    bool by_own;            // an effort or motion is given by a variable of the component's own
    bool set_valued;        // a unilateral constraint, dry friction
    bool driven;            // a signal or time takes part in the motion
    int conditions;         // equations without efforts, less the component's own variables in them: conditions on the motion
} Findings;

static uint32_t
letter_bit(int difference)
{
    static const uint8_t letters[] = {NODE_C, NODE_R, NODE_I};
    return difference >= 0 && difference <= 2 ? 1u << letters[difference] : 1u << NODE_MEMORY;
}

// Without its efforts nothing is left of the equation: it balances them, be it with arms that move (t = d*f), and is
// no law between motion and effort.
static bool
only_balances(Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    Expr zero = expr_const(dae->exprs, 0);
    vec_clear(&kinds->with);
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        bool effort = kinds->domain.at[kinds_base(dae, vars[i], &derivatives)] == EFFORT;
        vec_push(&kinds->with, effort ? zero : 0);
    }
    Expr rest = expr_with_zeros(dae->exprs, expr_residual(dae->exprs, dae->equations.at[equation].shape), kinds->with.at, n);
    return expr_is_const(dae->exprs, rest, 0);
}

static void
examine(Kinds *kinds, uint32_t equation, Findings *found)
{
    const Dae *dae = kinds->dae;
    uint32_t n, motions = 0, efforts = 0;
    const Var *vars = dae_row(dae, equation, &n);
    bool given = expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME), constant = false;
    Expr shape = dae->equations.at[equation].shape;
    found->set_valued |= expr_has_any(dae->exprs, shape, ops_and(ops_and(ops_of(OP_SGN), OP_UNILATERAL), OP_COULOMB));
    int effort_level = -100;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = kinds_base(dae, vars[i], &derivatives);
        if (kinds->domain.at[base] == MOTION)
            motions++;
        else if (dae_is_parameter(dae, base))
            constant = true;
        else if (kinds->domain.at[base] != EFFORT) {
            given = true;
            found->by_own |= !kinds->given.at[base] && dae_kind(dae, base) == VAR_CONTINUOUS;
        }
        else {
            int level = kinds->level.at[base] + derivatives;
            effort_level = level > effort_level ? level : effort_level;
            efforts++;
        }
    }
    if (motions && efforts && only_balances(kinds, equation))
        return;
    if (motions && efforts) {
        found->laws++;
        for (uint32_t i = 0; i < n; i++) {
            int derivatives;
            Var base = kinds_base(dae, vars[i], &derivatives);
            if (kinds->domain.at[base] == MOTION)
                found->letters |= letter_bit(kinds->level.at[base] + derivatives - effort_level);
        }
    } else if (given || n == 1 || (constant && motions + efforts == 1)) {
        found->given_motion |= motions > 0;
        found->given_effort |= efforts > 0;
    } else if (constant) {
        found->offset_motion |= motions > 0;
        found->offset_effort |= efforts > 0;
    }
}

// Counts a condition on the motion, and the component's own variables in it that were not met before.
static void
count_conditions(Kinds *kinds, uint32_t equation, Findings *found)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    found->driven |= expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME);
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        uint8_t domain = kinds->domain.at[kinds_base(dae, vars[i], &derivatives)];
        if (domain == EFFORT)
            return;
        found->driven |= domain == SIGNAL || dae_kind(dae, vars[i]) == VAR_INPUT || dae_kind(dae, vars[i]) == VAR_DISCRETE;
    }
    found->conditions++;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = kinds_base(dae, vars[i], &derivatives);
        if (kinds->counted.at[base] || kinds->given.at[base] || dae_kind(dae, base) != VAR_CONTINUOUS)
            continue;
        kinds->counted.at[base] = 1;
        found->conditions--;
    }
}

// A wheel or a blade on the ground: it holds some directions of what it is connected to and leaves the others.
static bool
holds_against_ground(const Kinds *kinds, uint32_t node, const Findings *found)
{
    uint32_t ends = kinds->largest_ports.at[node], size = kinds->largest.at[node];
    int drives = (int)(kinds->scalars.at[node] - size), conditions = found->conditions - drives;
    return ends == 1 && !found->driven && !found->laws && conditions > 0 && conditions < (int)size;
}

static NodeKind
kind_of(const Dae *dae, uint32_t node, const Findings *found, const Element *element, uint32_t ports, uint32_t scalars)
{
    uint8_t class_kind = dae->insts.at[dae->nodes.at[node].inst].class_kind;
    if (class_kind == CLASS_KIND_CONSTRAINT)
        return NODE_CONSTRAINT;
    if (class_kind == CLASS_KIND_MEMORY)
        return NODE_MEMORY;
    if (class_kind == CLASS_KIND_BODY && scalars > ports)
        return NODE_BODY;
    // What gives nothing at the points that were looked at may be open there, as a contact is.
    bool nothing = (element->kind == NODE_SE || element->kind == NODE_SF) && !element->driven
                   && (found->laws || (found->by_own && element->kind == NODE_SE && !element->given));
    if (element->kind != NODE_COMPONENT && !nothing)
        return element->kind;
    if ((element->letters || element->active) && !nothing)
        return NODE_COMPONENT;
    for (uint32_t kind = NODE_I; kind <= NODE_R; kind++)
        if (found->letters == 1u << kind)
            return (NodeKind)kind;
    if (found->laws || element->works)
        return NODE_COMPONENT;
    if (found->set_valued || (found->by_own && (nothing || !element->seen))) // it is taken apart by its law, not by what it gives
        return NODE_COMPONENT;
    // An offset between two scalar ports is a source's (a battery's voltage), between frames a rigid part's.
    bool source = scalars == ports, effort = found->given_effort || (source && found->offset_effort);
    bool motion = found->given_motion || (source && found->offset_motion);
    if (ports > 1 && motion == effort)
        return NODE_TF;
    return effort ? NODE_SE : NODE_SF;
}

// Which of efforts and motion the equations of a component's output signals mention.
static uint16_t
read_bits(const Kinds *kinds, uint32_t node)
{
    const Dae *dae = kinds->dae;
    uint16_t bits = 0;
    for (uint32_t i = kinds->start.at[node]; i < kinds->start.at[node + 1]; i++) {
        uint32_t n;
        int derivatives;
        const Var *vars = dae_row(dae, kinds->equations.at[i], &n);
        bool output = false;
        for (uint32_t k = 0; k < n; k++)
            output |= kinds->given.at[vars[k]] == GIVEN_AWAY && kinds->domain.at[vars[k]] == SIGNAL;
        for (uint32_t k = 0; output && k < n; k++) {
            uint8_t domain = kinds->domain.at[kinds_base(dae, vars[k], &derivatives)];
            bits |= domain == MOTION ? PART_READS_FLOW : domain == EFFORT ? PART_READS_EFFORT : 0;
        }
    }
    return bits;
}

// An ideal instrument gives a signal and takes no power (Karnopp, Margolis, Rosenberg, 2006, section 4.5: active bonds).
static uint16_t
detector_bits(const Kinds *kinds, uint32_t node, const Element *element)
{
    bool idle = (element->kind == NODE_SE || element->kind == NODE_SF) && !element->given;
    return idle || (element->kind == NODE_TF && element->unit) ? read_bits(kinds, node) : 0;
}

static void
classify(Kinds *kinds, uint32_t node)
{
    const uint32_t *at = kinds->equations.at + kinds->start.at[node];
    uint32_t n = kinds->start.at[node + 1] - kinds->start.at[node];
    uint8_t class_kind = kinds->dae->insts.at[kinds->dae->nodes.at[node].inst].class_kind;
    bool said = class_kind == CLASS_KIND_CONSTRAINT || class_kind == CLASS_KIND_MEMORY
                || (class_kind == CLASS_KIND_BODY && kinds->scalars.at[node] > kinds->ports.at[node]);
    kinds_read(kinds, node);
    Findings found = {0};
    for (uint32_t i = 0; i < n; i++) {
        examine(kinds, at[i], &found);
        count_conditions(kinds, at[i], &found);
    }
    Element element = {.kind = NODE_COMPONENT, .modulator = NONE};
    if (!said)
        element = kinds_element(kinds, node);
    if (found.set_valued && (element.kind == NODE_TF || element.kind == NODE_GY)) { // a transformer with friction
        element.kind = NODE_COMPONENT;
        element.letters |= 1u << NODE_R;
    }
    NodeKind kind = kind_of(kinds->dae, node, &found, &element, kinds->ports.at[node], kinds->scalars.at[node]);
    NodeParts *parts = &kinds->dae->nodes.at[node].parts;
    OrdersAsk orders = {kinds->dae, at, n, kinds->scalar.at, kinds->scalar.n};
    if (kind == NODE_MEMORY)
        parts->has_orders = orders_of_memory(&orders, &parts->effort_order, &parts->motion_order);
    if (kind == NODE_COMPONENT)
        parts->letters = (uint16_t)((element.kind == NODE_COMPONENT ? element.letters : 0) | (element.several || (!element.letters && !element.active) ? found.letters : 0));
    if (kind == NODE_COMPONENT && !parts->letters && !element.active && element.works)
        parts->letters = orders_letters(&orders);
    bool constraint = kind != NODE_BODY && kind != NODE_MEMORY && holds_against_ground(kinds, node, &found);
    kind = constraint ? NODE_CONSTRAINT : kind;
    if (element.seen)
        parts->bits |= (element.shares_flow ? PART_SHARES_FLOW : 0) | (element.shares_effort ? PART_SHARES_EFFORT : 0);
    if (element.kind == kind) {
        bool source = kind == NODE_SE || kind == NODE_SF, zero = source && element.seen && !element.given && !element.driven;
        parts->bits |= (element.unit && element.modulator == NONE ? PART_UNIT : 0) | detector_bits(kinds, node, &element) | (zero ? PART_ZERO : 0);
        parts->modulator = element.modulator != NONE ? element.modulator + 1 : 0;
    }
    kinds->dae->nodes.at[node].kind = (uint8_t)kind;
}

void
node_kinds(Dae *dae)
{
    Kinds kinds = {.dae = dae};
    kinds_open(&kinds);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (kinds.ports.at[node] && dae->nodes.at[node].kind == NODE_COMPONENT)
            classify(&kinds, node);
    kinds_close(&kinds);
}
