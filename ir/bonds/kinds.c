// kinds.c: which bond-graph element a component is.
//
// Purpose: the graph's printers and the causality pass's priorities want to know storage, resistors and
// sources; the user writes equations, not letters.
// Method: the law over the scalar bonds at random points decides where it can be evaluated (elements.c), once for all components that
// have the same equations; it is what tells a gyrator from a resistor. Otherwise levels do: every variable of a component gets a domain (motion or effort) and a level (how often
// differentiated: a displacement is motion 0, a flow motion 1; an effort is effort 0, a momentum effort -1),
// starting from the bond variables of its ports and spreading through equations without parameters (x =
// flange_b.s - flange_a.s, v = der(x)). An equation that relates both domains is constitutive, and the
// difference of the levels names it, as in the periodic table of elements: 0 C, 1 R, 2 I. Without one, the
// component is a source or a transformer; efforts balanced over moving arms are a modulated transformer's. One with a single end
// that holds some directions of its motion and leaves others, as a wheel or a blade does, is a constraint against the ground.
// Contract: after bonds and equations exist; writes GraphNode.kind only.
// Complexity: linear in the equations of components (a fixed number of sweeps).
#include "ir/bonds/kinds.h"

#include <math.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/bonds/bonds.h"
#include "ir/bonds/closures.h"
#include "ir/bonds/elements.h"
#include "ir/bonds/orders.h"
#include "ir/expr/expr.h"

enum { MODULATORS_MAX = 12, SCALARS_MAX = 4000, UNITS_MAX = 8 };
enum { GIVEN = 1, GIVEN_AWAY }; // Kinds.given: by the surroundings; a signal that the component gives
enum { UNKNOWN, MOTION, EFFORT, SIGNAL, OTHER };
enum { SWEEPS = 4 };

// What components with one signature are; `modulator` counts their variables.
typedef struct KnownElement {
    uint32_t first, n, next; // words of the signature, the next with this hash
    Element element;
} KnownElement;

typedef struct Kinds {
    Dae *dae;
    U8Vec domain;           // per variable
    VEC(int8_t) level;
    U32Vec start, equations; // equations of node i: equations[start[i] .. start[i + 1])
    U32Vec ports, scalars;  // per node
    U32Vec largest;         // per node: scalar bonds of its largest port
    U32Vec largest_ports;   // per node: its ports with so many
    U8Vec given;            // per variable: of a connector, and not determined by the component that owns it
    U32Vec axes_of;         // per variable: of a port's axes whose own component does not determine them: their angular velocity + 1; else 0
    bool has_axes;          // the component at hand has such
    Var reference;          // the first element of some of them
    U8Vec counted;          // per variable: among a component's own variables
    U32Vec port_start, port_of; // power connectors of instance i: port_of[port_start[i] .. port_start[i + 1]), but for those of composites
    VEC(KnownElement) known;      // elements by the equations they have
    U32Vec words;           // their signatures
    Map known_of;           // hash of a signature -> index into known + 1 chain
    Map column, local;      // scratch
    U32Vec variables;       // of the component at hand, in the order of their first occurrence
    VEC(ScalarPort) scalar; // its scalar bonds
    U32Vec effort_units;    // of the efforts of its ports
    U32Vec plain;           // its equations that are neither initial nor of events
} Kinds;

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

static Var
base_variable(const Dae *dae, Var var, int *derivatives)
{
    *derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        ++*derivatives;
    }
    return var;
}

static void
seed_ports(Kinds *kinds)
{
    Dae *dae = kinds->dae;
    vec_grow(&kinds->domain, dae->nvars);
    vec_grow(&kinds->level, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[c].type];
        Var first = dae->connectors.at[c].first;
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            kinds->domain.at[first + type->bonds[k].flow] = MOTION;
            kinds->level.at[first + type->bonds[k].flow] = type->bonds[k].flow_is_der ? 0 : 1;
            kinds->domain.at[first + type->bonds[k].effort] = EFFORT;
        }
        for (uint32_t k = 0; k < type->n && !type->n_bonds; k++)
            kinds->domain.at[first + k] = SIGNAL;
    }
}

static void
index_equations(Kinds *kinds)
{
    Dae *dae = kinds->dae;
    uint32_t nodes = dae->nodes.n;
    vec_grow(&kinds->start, nodes + 1);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (!dae->equations.at[e].generated)
            kinds->start.at[dae->equations.at[e].node + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        kinds->start.at[i + 1] += kinds->start.at[i];
    vec_grow(&kinds->equations, kinds->start.at[nodes]);
    U32Vec fill = {0};
    vec_append(&fill, kinds->start.at, nodes);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (!dae->equations.at[e].generated)
            kinds->equations.at[fill.at[dae->equations.at[e].node]++] = e;
    vec_free(&fill);
}

static bool
is_unknown_kind(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_CONTINUOUS;
}

// Spreads domain and level to the one variable of a parameter-free equation that has none yet.
static bool
spread(Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n, domain = UNKNOWN;
    const Var *vars = dae_row(dae, equation, &n);
    Var open = NONE;
    int open_derivatives = 0, highest = -100;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_unknown_kind(dae, vars[i]))
            return false;
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        uint32_t known = kinds->domain.at[base];
        if (known == UNKNOWN) {
            if (open != NONE)
                return false;
            open = base;
            open_derivatives = derivatives;
            continue;
        }
        if (known == SIGNAL || (domain != UNKNOWN && domain != known))
            return false;
        domain = known;
        int level = kinds->level.at[base] + derivatives;
        highest = level > highest ? level : highest;
    }
    if (open == NONE || domain == UNKNOWN)
        return false;
    kinds->domain.at[open] = (uint8_t)domain;
    kinds->level.at[open] = (int8_t)(highest - open_derivatives);
    return true;
}

// What is neither motion nor effort and stands in an equation without efforts is a variable of its own; what stands beside
// efforts only is a multiplier, and counts as an effort.
static void
find_multipliers(Kinds *kinds, const uint32_t *at, uint32_t n)
{
    const Dae *dae = kinds->dae;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots, efforts = 0;
        int derivatives;
        const Var *vars = dae_row(dae, at[i], &slots);
        for (uint32_t k = 0; k < slots; k++)
            efforts += kinds->domain.at[base_variable(dae, vars[k], &derivatives)] == EFFORT;
        for (uint32_t k = 0; k < slots; k++) {
            Var base = base_variable(dae, vars[k], &derivatives);
            if (kinds->domain.at[base] == UNKNOWN && (!efforts || derivatives || kinds->given.at[base] || !is_unknown_kind(dae, base)))
                kinds->domain.at[base] = OTHER;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        const Var *vars = dae_row(dae, at[i], &slots);
        for (uint32_t k = 0; k < slots; k++)
            if (kinds->domain.at[vars[k]] == UNKNOWN)
                kinds->domain.at[vars[k]] = EFFORT;
    }
}

static uint32_t
letter_bit(int difference)
{
    static const uint8_t letters[] = {NODE_C, NODE_R, NODE_I};
    return difference >= 0 && difference <= 2 ? 1u << letters[difference] : 1u << NODE_MEMORY;
}

// Without its efforts nothing is left of the equation: it balances them, be it with arms that move (t = d*f), and is
// no law between motion and effort.
static bool
only_balances(const Kinds *kinds, uint32_t equation)
{
    const Dae *dae = kinds->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    U32Vec with = {0};
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        bool effort = kinds->domain.at[base_variable(dae, vars[i], &derivatives)] == EFFORT;
        vec_push(&with, effort ? expr_const(dae->exprs, 0) : 0);
    }
    Expr rest = expr_substitute(dae->exprs, expr_residual(dae->exprs, dae->equations.at[equation].shape), with.at, n);
    vec_free(&with);
    return expr_is_const(dae->exprs, rest, 0);
}

static void
examine(const Kinds *kinds, uint32_t equation, Findings *found)
{
    const Dae *dae = kinds->dae;
    uint32_t n, motions = 0, efforts = 0;
    const Var *vars = dae_row(dae, equation, &n);
    bool given = expr_has_op(dae->exprs, dae->equations.at[equation].shape, OP_TIME), constant = false;
    Expr shape = dae->equations.at[equation].shape;
    found->set_valued |= expr_has_op(dae->exprs, shape, OP_SGN) || expr_has_op(dae->exprs, shape, OP_UNILATERAL) || expr_has_op(dae->exprs, shape, OP_COULOMB);
    int effort_level = -100;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        if (kinds->domain.at[base] == MOTION)
            motions++;
        else if (dae_is_parameter(dae, base))
            constant = true;
        else if (kinds->domain.at[base] != EFFORT) {
            given = true;
            found->by_own |= !kinds->given.at[base] && is_unknown_kind(dae, base);
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
            Var base = base_variable(dae, vars[i], &derivatives);
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
        uint8_t domain = kinds->domain.at[base_variable(dae, vars[i], &derivatives)];
        if (domain == EFFORT)
            return;
        found->driven |= domain == SIGNAL || dae_kind(dae, vars[i]) == VAR_INPUT || dae_kind(dae, vars[i]) == VAR_DISCRETE;
    }
    found->conditions++;
    for (uint32_t i = 0; i < n; i++) {
        int derivatives;
        Var base = base_variable(dae, vars[i], &derivatives);
        if (kinds->counted.at[base] || kinds->given.at[base] || !is_unknown_kind(dae, base))
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

// --- the element by values

static bool
is_law(const Dae *dae, uint32_t e)
{
    uint8_t kind = dae->equations.at[e].kind;
    return kind == EQN_NORMAL || kind == EQN_ALIAS;
}

// The parts of a connector that no bond has, an orientation say, and signals are the surroundings'.
static bool
holds(const void *context, Var var)
{
    const Kinds *kinds = context;
    uint8_t domain = kinds->domain.at[var];
    return kinds->given.at[var] == GIVEN && domain != MOTION && domain != EFFORT;
}

static bool
signals(const void *context, Var var)
{
    const Kinds *kinds = context;
    return kinds->given.at[var] == GIVEN && kinds->domain.at[var] == SIGNAL;
}

static bool
axes(const void *context, Var var, Var *first, Var *turn)
{
    const Kinds *kinds = context;
    if (!kinds->axes_of.at[var])
        return false;
    *first = dae_group(kinds->dae, var)->first;
    *turn = kinds->axes_of.at[var] - 1;
    return true;
}

// The component's own variables with the unit of an effort of its ports are efforts: the tension f of fx = f*d/length.
static bool
has_effort_unit(const Kinds *kinds, Var var)
{
    const Group *group = dae_group(kinds->dae, var);
    if (!group || !group->decl->unit || dae_is_parameter(kinds->dae, var))
        return false;
    for (uint32_t i = 0; i < kinds->effort_units.n; i++)
        if (kinds->effort_units.at[i] == group->decl->unit)
            return true;
    return false;
}

static bool
rests(const void *context, Var var)
{
    const Kinds *kinds = context;
    int derivatives;
    Var base = base_variable(kinds->dae, var, &derivatives);
    uint8_t domain = kinds->domain.at[base];
    return domain == EFFORT || (domain != MOTION && has_effort_unit(kinds, base)) || (domain == MOTION && kinds->level.at[base] + derivatives >= 1);
}

static void
find_scalars(Kinds *kinds, uint32_t inst)
{
    const Dae *dae = kinds->dae;
    vec_clear(&kinds->scalar);
    vec_clear(&kinds->effort_units);
    for (uint32_t i = kinds->port_start.at[inst]; i < kinds->port_start.at[inst + 1]; i++) {
        const Connector *connector = &dae->connectors.at[kinds->port_of.at[i]];
        const ConnectorType *type = &dae->connector_types.at[connector->type];
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            ScalarPort port = {connector->first + type->bonds[k].flow, connector->first + type->bonds[k].effort, kinds->port_of.at[i], k,
                               type->bonds[k].flow_is_der};
            vec_push(&kinds->scalar, port);
            uint32_t unit = dae_group(dae, port.effort)->decl->unit, last = kinds->effort_units.n;
            if (unit && (!last || kinds->effort_units.at[last - 1] != unit) && last < UNITS_MAX)
                vec_push(&kinds->effort_units, unit);
        }
    }
}

static void
add_word(Kinds *kinds, Var var)
{
    int derivatives;
    uint32_t number;
    Var base = base_variable(kinds->dae, var, &derivatives);
    if (!map_get(&kinds->local, base, &number)) {
        number = kinds->variables.n;
        map_put(&kinds->local, base, number);
        vec_push(&kinds->variables, base);
        if (kinds->axes_of.at[base]) {
            kinds->has_axes = true;
            kinds->reference = dae_group(kinds->dae, base)->first;
        }
        vec_push(&kinds->words, (uint32_t)kinds->domain.at[base] << 16 | (uint32_t)(uint8_t)kinds->level.at[base] << 8
                                | (uint32_t)(kinds->axes_of.at[base] > 0) << 6 | (uint32_t)kinds->given.at[base] << 4 | dae_kind(kinds->dae, base));
    }
    vec_push(&kinds->words, number << 4 | (uint32_t)derivatives);
}

// Equal signatures, equal equations over the same kinds of variables.
static void
add_signature(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    map_clear(&kinds->local);
    vec_clear(&kinds->variables);
    kinds->has_axes = false;
    for (uint32_t b = 0; b < kinds->scalar.n; b++) {
        add_word(kinds, kinds->scalar.at[b].flow);
        add_word(kinds, kinds->scalar.at[b].effort);
        vec_push(&kinds->words, kinds->scalar.at[b].flow_is_der);
    }
    for (uint32_t i = 0; i < kinds->plain.n; i++) {
        uint32_t n;
        const Var *vars = dae_row(dae, kinds->plain.at[i], &n);
        vec_push(&kinds->words, dae->equations.at[kinds->plain.at[i]].shape);
        for (uint32_t k = 0; k < n; k++)
            add_word(kinds, vars[k]);
    }
}

static ScalarAsk
make_ask(Kinds *kinds)
{
    return (ScalarAsk){.dae = kinds->dae, .equations = kinds->plain.at, .n = kinds->plain.n, .port = kinds->scalar.at,
                       .bonds = kinds->scalar.n, .held = holds, .rests = rests, .signals = signals, .axes = axes, .has_axes = kinds->has_axes,
                       .reference = kinds->reference, .context = kinds, .column = &kinds->column};
}

static Element
ask_element(Kinds *kinds)
{
    Var modulators[MODULATORS_MAX];
    uint32_t n = 0;
    for (int given = 1; given >= 0; given--)
        for (uint32_t i = 0; i < kinds->variables.n && n < MODULATORS_MAX; i++) {
            Var var = kinds->variables.at[i];
            bool signal = signals(kinds, var);
            if (!dae_is_parameter(kinds->dae, var) && dae_type(kinds->dae, var) == TYPE_REAL && signal == given && (signal || !rests(kinds, var)))
                modulators[n++] = var;
        }
    ScalarAsk ask = make_ask(kinds);
    return element_of(&ask, modulators, n);
}

static bool
same_words(const Kinds *kinds, const KnownElement *known, uint32_t first)
{
    uint32_t n = kinds->words.n - first;
    return known->n == n && !memcmp(kinds->words.at + known->first, kinds->words.at + first, n*sizeof(uint32_t));
}

// A condition, a mode: `when initial()` has one.
static bool
gives_discrete(Dae *dae, uint32_t e)
{
    uint32_t n;
    const Var *vars = dae_row(dae, e, &n);
    Expr left = expr_arg(dae->exprs, dae->equations.at[e].shape, 0);
    return expr_op(dae->exprs, left) == OP_SLOT && dae_kind(dae, vars[expr_slot_of(dae->exprs, left)]) == VAR_DISCRETE;
}

// The equations that hold all the time; false when there are none, or too many of something.
static bool
collect_plain(Kinds *kinds, uint32_t node)
{
    vec_clear(&kinds->plain);
    for (uint32_t i = kinds->start.at[node]; i < kinds->start.at[node + 1]; i++)
        if (is_law(kinds->dae, kinds->equations.at[i]) && !gives_discrete(kinds->dae, kinds->equations.at[i]))
            vec_push(&kinds->plain, kinds->equations.at[i]);
    return kinds->scalar.n && kinds->scalar.n <= SCALAR_BONDS_MAX && kinds->plain.n && kinds->plain.n <= SCALARS_MAX;
}

static Element
find_element(Kinds *kinds, uint32_t node)
{
    uint32_t first = kinds->words.n, head = NONE, number;
    Element none = {.kind = NODE_COMPONENT, .modulator = NONE};
    if (!collect_plain(kinds, node))
        return none;
    add_signature(kinds);
    uint64_t hash = hash_bytes(kinds->words.at + first, (kinds->words.n - first)*sizeof(uint32_t));
    if (map_get(&kinds->known_of, hash, &head))
        for (number = head; number != NONE; number = kinds->known.at[number].next)
            if (same_words(kinds, &kinds->known.at[number], first)) {
                kinds->words.n = first;
                Element element = kinds->known.at[number].element;
                element.modulator = element.modulator == NONE ? NONE : kinds->variables.at[element.modulator];
                return element;
            }
    KnownElement made = {first, kinds->words.n - first, head, ask_element(kinds)};
    Element element = made.element;
    if (element.by_values) {
        kinds->words.n = first;
        return element;
    }
    if (element.modulator != NONE && map_get(&kinds->local, element.modulator, &number))
        made.element.modulator = number;
    map_put(&kinds->known_of, hash, kinds->known.n);
    vec_push(&kinds->known, made);
    return element;
}

// --- the whole

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
            uint8_t domain = kinds->domain.at[base_variable(dae, vars[k], &derivatives)];
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
    bool changed = n > 0;
    uint8_t class_kind = kinds->dae->insts.at[kinds->dae->nodes.at[node].inst].class_kind;
    bool said = class_kind == CLASS_KIND_CONSTRAINT || class_kind == CLASS_KIND_MEMORY
                || (class_kind == CLASS_KIND_BODY && kinds->scalars.at[node] > kinds->ports.at[node]);
    find_scalars(kinds, kinds->dae->nodes.at[node].inst);
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            changed |= spread(kinds, at[i]);
    }
    find_multipliers(kinds, at, n);
    Findings found = {0};
    for (uint32_t i = 0; i < n; i++) {
        examine(kinds, at[i], &found);
        count_conditions(kinds, at[i], &found);
    }
    Element element = {.kind = NODE_COMPONENT, .modulator = NONE};
    if (!said)
        element = find_element(kinds, node);
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
        parts->bits |= (element.unit && element.modulator == NONE ? PART_UNIT : 0) | detector_bits(kinds, node, &element);
        parts->modulator = element.modulator != NONE ? element.modulator + 1 : 0;
    }
    kinds->dae->nodes.at[node].kind = (uint8_t)kind;
}

// Variables of connectors are the surroundings', unless the component says of an orientation what it is.
static void
find_given(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->given, dae->nvars);
    vec_grow(&kinds->counted, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        for (uint32_t k = 0; k < type->n; k++)
            kinds->given.at[dae->connectors.at[c].first + k] = type->causality[k] == CAUSALITY_OUTPUT ? GIVEN_AWAY : GIVEN;
    }
    for (uint32_t i = 0; i < dae->determined_records.n; i++)
        kinds->given.at[dae->determined_records.at[i]] = 0;
}

// Axes are the scalars of an overconstrained record beside the angular velocity, which is a flow of bonds.
static void
find_axes(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->axes_of, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        Var first = dae->connectors.at[c].first, turn = NONE;
        for (uint32_t k = 0; k < type->n_bonds && turn == NONE; k++)
            if (type->causality[type->bonds[k].flow] == CAUSALITY_GRAPH && !type->bonds[k].flow_is_der)
                turn = first + type->bonds[k].flow;
        for (uint32_t k = 0; turn != NONE && k < type->n; k++) {
            const Group *group = dae_group(dae, first + k);
            if (type->causality[k] == CAUSALITY_GRAPH && group->decl->count == 9)
                kinds->axes_of.at[first + k] = turn + 1;
        }
    }
    for (uint32_t i = 0; i < dae->determined_records.n; i++) {
        Var first = dae->determined_records.at[i];
        const Group *group = dae_group(dae, first);
        for (uint32_t k = 0; k < group->decl->count; k++) {
            kinds->axes_of.at[group->first + k] = 0;
            kinds->given.at[group->first + k] = k ? GIVEN_AWAY : kinds->given.at[group->first];
        }
    }
}

uint32_t
port_component(const Dae *dae, uint32_t connector)
{
    uint32_t inst = dae->connectors.at[connector].inst;
    while (inst != NONE && dae->insts.at[inst].class_kind == CLASS_KIND_CONNECTOR && dae->insts.at[inst].parent != NONE)
        inst = dae->insts.at[inst].parent;
    return inst;
}

// A connector that the class around it connects inside is a port of what it is connected to there.
static void
find_ports(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    U8Vec passes = {0};
    U32Vec fill = {0};
    vec_grow(&passes, dae->connectors.n);
    vec_grow(&kinds->port_start, dae->insts.n + 1);
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        passes.at[connect->a] |= connect->a_outside;
        passes.at[connect->b] |= connect->b_outside;
    }
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        passes.at[c] |= !dae_connector_type(dae, c)->n_bonds;
        kinds->port_start.at[port_component(dae, c) + 1] += !passes.at[c];
    }
    for (uint32_t i = 0; i < dae->insts.n; i++)
        kinds->port_start.at[i + 1] += kinds->port_start.at[i];
    vec_append(&fill, kinds->port_start.at, dae->insts.n);
    vec_grow(&kinds->port_of, kinds->port_start.at[dae->insts.n]);
    for (uint32_t c = 0; c < dae->connectors.n; c++)
        if (!passes.at[c])
            kinds->port_of.at[fill.at[port_component(dae, c)]++] = c;
    vec_free(&passes);
    vec_free(&fill);
}

static void
count_ports(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    vec_grow(&kinds->ports, dae->nodes.n);
    vec_grow(&kinds->scalars, dae->nodes.n);
    vec_grow(&kinds->largest, dae->nodes.n);
    vec_grow(&kinds->largest_ports, dae->nodes.n);
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        uint32_t inst = dae->nodes.at[node].inst;
        if (dae_is_junction(dae, node))
            continue;
        for (uint32_t i = kinds->port_start.at[inst]; i < kinds->port_start.at[inst + 1]; i++) {
            uint32_t n = dae_connector_type(dae, kinds->port_of.at[i])->n_bonds;
            kinds->scalars.at[node] += n;
            kinds->ports.at[node]++;
            kinds->largest_ports.at[node] = n > kinds->largest.at[node] ? 1 : kinds->largest_ports.at[node] + (n == kinds->largest.at[node]);
            kinds->largest.at[node] = n > kinds->largest.at[node] ? n : kinds->largest.at[node];
        }
    }
}

static void
open_kinds(Kinds *kinds)
{
    seed_ports(kinds);
    index_equations(kinds);
    find_given(kinds);
    find_axes(kinds);
    find_ports(kinds);
    count_ports(kinds);
}

static void
close_kinds(Kinds *kinds)
{
    U32Vec *vectors[] = {&kinds->start, &kinds->equations, &kinds->ports, &kinds->scalars, &kinds->largest, &kinds->largest_ports,
                         &kinds->port_start, &kinds->port_of, &kinds->axes_of, &kinds->words, &kinds->variables, &kinds->effort_units,
                         &kinds->plain};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        vec_free(vectors[i]);
    vec_free(&kinds->domain);
    vec_free(&kinds->level);
    vec_free(&kinds->given);
    vec_free(&kinds->counted);
    vec_free(&kinds->known);
    vec_free(&kinds->scalar);
    map_free(&kinds->known_of);
    map_free(&kinds->column);
    map_free(&kinds->local);
}

void
node_kinds(Dae *dae)
{
    Kinds kinds = {.dae = dae};
    open_kinds(&kinds);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (kinds.ports.at[node] && dae->nodes.at[node].kind == NODE_COMPONENT)
            classify(&kinds, node);
    close_kinds(&kinds);
}

// --- complementarity of constraints

typedef struct Motion { // of the second port against the first: translations or rotations
    uint32_t n;         // components
    double at[3], square;
} Motion;

// The part of a motion that is about efforts of one unit.
static Motion
relative(const Kinds *kinds, const double *flow, uint32_t unit)
{
    Motion motion = {0};
    for (uint32_t b = 0; b < kinds->scalar.n && motion.n < 3; b++) {
        const ScalarPort *port = &kinds->scalar.at[b];
        if (port->connector == kinds->scalar.at[0].connector || dae_group(kinds->dae, port->effort)->decl->unit != unit)
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

// The larger of its parts, translation or rotation.
static void
print_motion(const Kinds *kinds, const double *flow, Out *out)
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
    print_motion(kinds, open, &one);
    print_motion(kinds, twice, &other);
    Diag *d = diag_add(diags, E0413, inst->span, "constraint '%s' (%s) leaves a scalar bond open: %s: neither its flow nor its effort is given, "
                       "and no law relates them", path.text, sym_text(dae->syms, inst->class_name), one.text);
    diag_note(d, inst->span, "and it closes another twice: %s: its flow and its effort are given", other.text);
    diag_help(d, "each scalar bond takes the common effort and exactly one of: a condition on its flow (FC), a condition on its effort (EC), or an "
              "element that relates the two");
    out_free(&path);
    out_free(&one);
    out_free(&other);
}

// Domains of the component's variables, its scalar bonds and its equations. False when there is no law to be asked.
static bool
read_component(Kinds *kinds, uint32_t node)
{
    const uint32_t *at = kinds->equations.at + kinds->start.at[node];
    uint32_t n = kinds->start.at[node + 1] - kinds->start.at[node];
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t i = 0; i < n; i++)
            changed |= spread(kinds, at[i]);
    }
    find_multipliers(kinds, at, n);
    find_scalars(kinds, kinds->dae->nodes.at[node].inst);
    return collect_plain(kinds, node);
}

static bool
check_closure(Kinds *kinds, uint32_t node, Diags *diags)
{
    uint32_t first = kinds->words.n, known;
    double open[SCALAR_BONDS_MAX], twice[SCALAR_BONDS_MAX];
    if (!read_component(kinds, node))
        return true;
    add_signature(kinds);
    uint64_t hash = hash_bytes(kinds->words.at + first, (kinds->words.n - first)*sizeof(uint32_t));
    kinds->words.n = first;
    if (map_get(&kinds->known_of, hash, &known)) // the same equations again: told once
        return true;
    map_put(&kinds->known_of, hash, node);
    ScalarAsk ask = make_ask(kinds);
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
    open_kinds(&kinds);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (dae->insts.at[dae->nodes.at[node].inst].class_kind == CLASS_KIND_CONSTRAINT && !dae_is_junction(dae, node) && kinds.ports.at[node] == 2)
            good &= check_closure(&kinds, node, diags);
    close_kinds(&kinds);
    return good;
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
    open_kinds(&kinds);
    index_groups(dae, &start, &groups);
    for (uint32_t node = 0; node < dae->nodes.n; node++) {
        uint32_t first = kinds.words.n, inst = dae->nodes.at[node].inst;
        if (dae->nodes.at[node].kind != NODE_CONSTRAINT || !kinds.ports.at[node] || !read_component(&kinds, node))
            continue;
        add_signature(&kinds);
        kinds.words.n = first;
        ScalarAsk ask = make_ask(&kinds);
        closures_of(&(ConstraintLaw){node, &ask, groups.at + start.at[inst], start.at[inst + 1] - start.at[inst]});
    }
    vec_free(&start);
    vec_free(&groups);
    close_kinds(&kinds);
}
