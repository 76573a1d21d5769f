// signals.c: every connected signal has one source.
//
// Purpose: says where two outputs drive one signal, and where only inputs are connected.
// Method: Modelica 3.6, section 9.3: in a connection set an output inside the class is a source, and so is an input of the
// class itself, unless it is protected; with a protected connector of the class an equation may be the source. An element of an expandable connector has no direction of its own (section 9.1.3): the sets on its two
// sides are one signal, so they are joined (union-find) before the sources are counted.
// Contract: signals.h; changes nothing. Complexity: linear in the elements of the sets.
#include "ir/bonds/signals.h"

#include "ir/base/diag.h"
#include "ir/base/sets.h"
#include "ir/clocks/clocks.h"

typedef struct Check {
    Dae *dae;
    Diags *diags;
    const ConnectionSets *sets;
    const uint32_t *first;
    U32Vec joined;   // union-find over sets
    Map source_of;   // (root of sets, scalar) -> element that drives it
    bool ok;
} Check;

static bool
is_signal(const ConnectorType *type, uint32_t k)
{
    return type->causality[k] == CAUSALITY_INPUT || type->causality[k] == CAUSALITY_OUTPUT
        || type->causality[k] == CAUSALITY_DEDUCED;
}

// A connector for the class's own use, seen from the class.
static bool
is_internal(const Dae *dae, uint32_t element)
{
    return (element & 1) && dae->insts.at[dae->connectors.at[element / 2].inst].internal;
}

// An output inside the class is a source of the set, and so is an input of the class itself.
static bool
is_source(const Dae *dae, uint32_t element, uint32_t k)
{
    uint8_t causality = dae_connector_type(dae, element / 2)->causality[k];
    return causality == (element & 1 ? CAUSALITY_INPUT : CAUSALITY_OUTPUT) && !is_internal(dae, element);
}

// The first connect that names an element; looked for only when there is something to say about it.
static Span
connect_span(const Dae *dae, uint32_t element)
{
    for (uint32_t i = 0; i < dae->connects.n; i++) {
        const Connect *connect = &dae->connects.at[i];
        if (2 * connect->a + connect->a_outside == element || 2 * connect->b + connect->b_outside == element)
            return connect->span;
    }
    return (Span){0};
}

// A connection that a library makes is no mistake of the user: it is the equation that it is, and the model as a whole is held against its unknowns.
static bool
is_library(const Dae *dae, Span span)
{
    return span.hi && sources_is_found(dae->sources, span.lo) && !sources_in_library(dae->sources, span.lo);
}

static void
join_sides(Check *check)
{
    const Dae *dae = check->dae;
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = dae_connector_type(dae, c);
        bool deduced = false;
        for (uint32_t k = 0; k < type->n && !deduced; k++)
            deduced = type->causality[k] == CAUSALITY_DEDUCED;
        uint32_t inside = check->sets->set_of[2 * c], outside = check->sets->set_of[2 * c + 1];
        if (deduced && inside != NONE && outside != NONE)
            sets_join(&check->joined, inside, outside);
    }
}

// What a declared element of an expandable connector is may also be said by an equation of the user.
static bool
is_in_equation(const Dae *dae, Var var)
{
    for (uint32_t i = 0; i < dae->rows.n; i++)
        if (dae->rows.at[i] == var)
            return true;
    return false;
}

static void
note_element(Check *check, uint32_t set, uint32_t element, uint32_t k)
{
    Dae *dae = check->dae;
    uint64_t key = (uint64_t)sets_find(&check->joined, set) << 32 | k;
    uint32_t source;
    if (!is_source(dae, element, k))
        return;
    if (!map_get(&check->source_of, key, &source)) {
        map_put(&check->source_of, key, element);
        return;
    }
    // One connector may be the source on both of its sides only as a mistake of another kind.
    if (source == element || clocks_alternate(dae, dae->connectors.at[source / 2].inst, dae->connectors.at[element / 2].inst))
        return;
    Span span = connect_span(dae, element);
    bool library = is_library(dae, span);
    Diag *d = diag_add(check->diags, library ? W1406 : E0411, span, "'%s' and '%s' drive the same signal",
                       dae_connector_name(dae, source / 2), dae_connector_name(dae, element / 2));
    diag_note(d, connect_span(dae, source), "'%s' is connected here", dae_connector_name(dae, source / 2));
    check->ok &= library;
}

static void
report_open(Check *check, uint32_t set, uint32_t k)
{
    Dae *dae = check->dae;
    uint64_t key = (uint64_t)sets_find(&check->joined, set) << 32 | k;
    uint32_t source, element = check->sets->items[check->sets->start[set]];
    if (map_get(&check->source_of, key, &source))
        return;
    map_put(&check->source_of, key, element); // said once
    for (uint32_t s = 0; s < check->joined.n; s++)
        for (uint32_t i = check->sets->start[s]; sets_find(&check->joined, s) == sets_find(&check->joined, set)
             && i < check->sets->start[s + 1]; i++) {
            uint32_t connector = check->sets->items[i] / 2;
            if (is_internal(dae, check->sets->items[i])
                || (dae->is_part && dae_is_own_bus(dae, connector))) // its source may be elsewhere
                return;
            if (dae_connector_type(dae, connector)->causality[k] == CAUSALITY_DEDUCED
                && is_in_equation(dae, dae->connectors.at[connector].first + k))
                return;
        }
    Span span = dae->connects.at[check->first[set]].span;
    bool library = is_library(dae, span);
    Diag *d = diag_add(check->diags, library ? W1406 : E0412, span, "nothing drives '%s': only inputs are connected", dae_connector_name(dae, element / 2));
    if (!library)
        diag_help(d, "connect an output, or give one of the inputs a value in its declaration");
    check->ok &= library;
}

bool
signals_check(Dae *dae, const ConnectionSets *sets, const uint32_t *first, uint32_t n_sets, Diags *diags)
{
    Check check = {.dae = dae, .diags = diags, .sets = sets, .first = first, .ok = true};
    sets_grow(&check.joined, n_sets);
    join_sides(&check);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t s = 0; s < n_sets; s++) {
            const ConnectorType *type = dae_connector_type(dae, sets->items[sets->start[s]] / 2);
            for (uint32_t k = 0; k < type->n; k++)
                for (uint32_t i = sets->start[s]; is_signal(type, k) && !pass && i < sets->start[s + 1]; i++)
                    note_element(&check, s, sets->items[i], k);
            for (uint32_t k = 0; k < type->n && pass; k++)
                if (is_signal(type, k))
                    report_open(&check, s, k);
        }
    vec_free(&check.joined);
    map_free(&check.source_of);
    return check.ok;
}
