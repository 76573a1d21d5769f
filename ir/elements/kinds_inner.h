// kinds_inner.h: what is known of all components while their elements are looked for. Private to kinds.c, quantities.c, component_law.c,
// constraint_closures.c and massless_pieces.c.
#ifndef MDLC_IR_ELEMENTS_KINDS_INNER_H
#define MDLC_IR_ELEMENTS_KINDS_INNER_H

#include "ir/elements/element.h"
#include "ir/dae/dae.h"

enum { GIVEN = 1, GIVEN_AWAY }; // Kinds.given: by the surroundings; a signal that the component gives
enum { UNKNOWN, MOTION, EFFORT, SIGNAL, OTHER }; // Kinds.domain

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
    Map column;             // scratch
    U32Vec number;          // per variable: 1 + its place in `variables`, or 0
    U32Vec variables;       // of the component at hand, in the order of their first occurrence
    VEC(ScalarPort) scalar; // its scalar bonds
    U32Vec effort_units;    // of the efforts of its ports
    U32Vec plain;           // its equations that are neither initial nor of events
    U32Vec waiting;         // those through which a domain may still spread
    U32Vec with;            // scratch: what the slots of an equation become
} Kinds;

// --- quantities.c: ports, and what the variables of a component are
void kinds_open(Kinds *kinds); // with .dae set
void kinds_close(Kinds *kinds);
// The variable that `var` is a derivative of, and how often.
static inline Var
kinds_base(const Dae *dae, Var var, int *derivatives)
{
    *derivatives = 0;
    while (dae->var_der_of.at[var] != NONE) {
        var = dae->var_der_of.at[var];
        ++*derivatives;
    }
    return var;
}
// The component of this node is at hand: domains of its variables, its scalar bonds.
void kinds_read(Kinds *kinds, uint32_t node);

// --- component_law.c: the law of the component at hand over its scalar bonds
// The equations that hold all the time; false when there are none, or too many of something.
bool kinds_collect_plain(Kinds *kinds, uint32_t node);
// Appends a signature to kinds->words: equal signatures, equal equations over the same kinds of variables.
void kinds_add_signature(Kinds *kinds);
uint64_t kinds_signature_hash(const Kinds *kinds, uint32_t first); // of the words from `first` on
ScalarAsk kinds_ask(Kinds *kinds);
Element kinds_element(Kinds *kinds, uint32_t node);

// --- constraint_closures.c: the motion of the second port against the first, the larger of translation and rotation: "rotation about 'n' = {0, 0, 1}"
void kinds_print_motion(const Kinds *kinds, const double *flow, Out *out);

#endif
