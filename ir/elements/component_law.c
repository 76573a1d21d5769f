// component_law.c: the law of a component over its scalar bonds, and the element that it is.
//
// Purpose: what tells a gyrator from a resistor is what the equations do with power, not how they are written.
// Method: the equations that hold all the time are asked at random points (element.c), once for all components that have the same
//         equations over the same kinds of variables: a signature lists shapes and, in the order of their first occurrence, variables.
// Contract: kinds_inner.h; the component was read (quantities.c). Complexity: linear in the equations of all components, and one
//         question for each signature.
#include <string.h>

#include "ir/elements/kinds_inner.h"
#include "ir/expr/expr_node.h"

enum { MODULATORS_MAX = 12, SCALARS_MAX = 4000 };

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
    Var base = kinds_base(kinds->dae, var, &derivatives);
    uint8_t domain = kinds->domain.at[base];
    return domain == EFFORT || (domain != MOTION && has_effort_unit(kinds, base)) || (domain == MOTION && kinds->level.at[base] + derivatives >= 1);
}

static void
add_word(Kinds *kinds, Var var)
{
    int derivatives;
    Var base = kinds_base(kinds->dae, var, &derivatives);
    if (!kinds->number.at[base]) {
        vec_push(&kinds->variables, base);
        kinds->number.at[base] = kinds->variables.n;
        if (kinds->axes_of.at[base]) {
            kinds->has_axes = true;
            kinds->reference = dae_group(kinds->dae, base)->first;
        }
        vec_push(&kinds->words, (uint32_t)kinds->domain.at[base] << 16 | (uint32_t)(uint8_t)kinds->level.at[base] << 8
                                | (uint32_t)(kinds->axes_of.at[base] > 0) << 6 | (uint32_t)kinds->given.at[base] << 4 | dae_kind(kinds->dae, base));
    }
    vec_push(&kinds->words, (kinds->number.at[base] - 1) << 4 | (uint32_t)derivatives);
}

void
kinds_add_signature(Kinds *kinds)
{
    const Dae *dae = kinds->dae;
    for (uint32_t i = 0; i < kinds->variables.n; i++)
        kinds->number.at[kinds->variables.at[i]] = 0;
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

uint64_t
kinds_signature_hash(const Kinds *kinds, uint32_t first)
{
    return hash_bytes(kinds->words.at + first, (kinds->words.n - first)*sizeof(uint32_t));
}

ScalarAsk
kinds_ask(Kinds *kinds)
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
    ScalarAsk ask = kinds_ask(kinds);
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

bool
kinds_collect_plain(Kinds *kinds, uint32_t node)
{
    vec_clear(&kinds->plain);
    for (uint32_t i = kinds->start.at[node]; i < kinds->start.at[node + 1]; i++)
        if (is_law(kinds->dae, kinds->equations.at[i]) && !gives_discrete(kinds->dae, kinds->equations.at[i]))
            vec_push(&kinds->plain, kinds->equations.at[i]);
    return kinds->scalar.n && kinds->scalar.n <= SCALAR_BONDS_MAX && kinds->plain.n && kinds->plain.n <= SCALARS_MAX;
}

Element
kinds_element(Kinds *kinds, uint32_t node)
{
    uint32_t first = kinds->words.n, head = NONE, number;
    Element none = {.kind = NODE_COMPONENT, .modulator = NONE};
    if (!kinds_collect_plain(kinds, node))
        return none;
    kinds_add_signature(kinds);
    uint64_t hash = kinds_signature_hash(kinds, first);
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
    if (element.modulator != NONE && kinds->number.at[element.modulator])
        made.element.modulator = kinds->number.at[element.modulator] - 1;
    map_put(&kinds->known_of, hash, kinds->known.n);
    vec_push(&kinds->known, made);
    return element;
}
