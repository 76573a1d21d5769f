// link_inner.h: what the files that make the flat model share.
#ifndef MDLC_FRONTEND_FLATTEN_LINK_INNER_H
#define MDLC_FRONTEND_FLATTEN_LINK_INNER_H

#include "frontend/equation/spanning.h"
#include "frontend/instance/fragment.h"

typedef struct Shift { // where an instance of a fragment lies
    uint32_t var, inst, connector;
} Shift;

typedef struct Around {
    const Fragment *frag;
    Shift shift;
} Around;

// A connect that involves an expandable connector or a part of a connector.
typedef struct PartConnect {
    uint32_t a, b;     // connectors
    const FragPath *a_path, *b_path; // NULL: the whole connector
    bool a_outside, b_outside;
    uint32_t inst;                   // where it stands
    Span span;
} PartConnect;

typedef struct Linker {
    Elab *elab;
    Dae *dae;
    Map literals;      // first literal name and count of an enumeration -> offset into dims
    U32Vec extras;     // global ids of the current fragment's extras
    VEC(Around) around; // the instances around the current one, outermost first
    SpanGraph graph;   // of overconstrained variables
    U32Vec connects_of; // per connector: how many connects name it, when that is asked
    Map node_of;       // their first scalar -> node
    Map active_of;     // instance that is a state -> the variable that says whether it is active
    U32Vec var_of;     // per node
    U32Vec edges;      // of connections, in the order of the second walk
    uint32_t next_edge;
    Map part_edge;     // first scalars of two overconstrained variables in parts of connectors that are connected -> edge
    VEC(Fragment *) ports;  // per connector: its fragment, or NULL for a signal; when Elab.connects_parts
    U8Vec apart;       // per connector: it is taken apart; when Elab.connects_parts
    VEC(PartConnect) parts; // connects that expandable.c takes apart
    Map reset_of;      // variable that a when-equation sets anew -> the first such reinit in Dae.reinits
    VEC(uint64_t) resetting; // per reinit: its instance and its when-equation there, 0 for one that may stand beside others
    bool repeats;      // inside an array whose numbers are linked at once (link_numbers)
    bool sound;
} Linker;

// --- flat_model.c
Shift shift_of(const Shift *owner, const Member *member, uint32_t e);
// Adds the instance of a fragment at the end of the model, with its variables.
void link_instance(Linker *linker, Fragment *frag, Inst inst, Shift shift, uint16_t flags, bool in_connector);
// Adds everything that refers to variables.
void link_contents(Linker *linker, const Fragment *frag, Shift shift);

// The connector of the model that is `local` in an instance of a fragment.
uint32_t global_connector(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t local);

// Where the inner element lies that an outer declaration refers to: in the nearest instance around that has it.
Shift shift_of_inner(Linker *linker, const Outer *outer);
// Whether expandable.c takes a connect of two connectors apart.
bool in_parts(const Linker *linker, const FragConnect *connect, uint32_t a, uint32_t b);

// --- link_graph.c
// Makes the connection graph and its tree, before anything that refers to variables is added. False after errors.
bool solve_graph(Linker *linker, const Fragment *model);
// The value of an extra that asks for the graph: isRoot, rooted, cardinality.
double ask_graph(Linker *linker, const Fragment *frag, const Shift *shift, const Extra *extra);
// Whether what stands under a condition that asks for the graph is there; guard 0: none.
bool guard_holds(Linker *linker, const Fragment *frag, const Shift *shift, uint32_t guard);
// The equations of a connection's overconstrained variables; connections come in the order in which the graph was made.
void link_overconstrained(Linker *linker, const Connect *connect, uint32_t inst);
// The same for two parts of connectors, of this class.
void link_overconstrained_part(Linker *linker, const Connect *connect, const Fragment *frag, uint32_t inst);

// --- taken_apart.c
// Fills Linker.apart, which is_taken_apart() asks.
void find_taken_apart(Linker *linker, const Fragment *model);
// Whether a connector is connected by its elements.
bool is_taken_apart(const Linker *linker, uint32_t connector);

// --- expandable.c
// Whether a connector is expandable, or has connectors inside.
bool is_structured(const Linker *linker, uint32_t connector);
// Makes the elements of expandable connectors and the connections between parts of connectors.
void augment(Linker *linker);

#endif
