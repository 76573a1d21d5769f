// equation.h: the door of frontend/equation: what the text of a class adds to its fragment.
//
// In: sections of equations, algorithms, energies, connections.
// Out: equations as (shape, row), when-clauses, binds, connections.
// Read first: equation.c, then connect.c.
// Also open to other rooms: spanning.h.
//
// equation.h: what the text of a class adds to its fragment: equations, algorithms, energies, connections, values of members.
#ifndef MDLC_FRONTEND_EQUATION_EQUATION_H
#define MDLC_FRONTEND_EQUATION_EQUATION_H

#include "frontend/instance/fragment.h"

// How elaborate.c asks for all of it.
extern const FragmentContents fragment_contents;

// --- bind.c
// Binds and declaration equations that stand in the scope of `frag`, for its own members and inside its
// components.
void elaborate_binds(Elab *elab, Fragment *frag);

// --- equation.c
void begin_equation(Elab *elab, Fragment *frag, uint32_t class_id, bool loops);
void end_equation(Elab *elab);
// Slot of a local variable in the equation being made.
Expr slot_expr(Elab *elab, uint32_t var);
void store_shape(Elab *elab, Fragment *frag, Expr e, Expr *shape, uint32_t *row, uint32_t *n);
void add_equation(Elab *elab, Fragment *frag, EqnKind kind, Expr left, Expr right, Span span);
// Marks the variables that when-equations define.
void find_when_variables(Elab *elab, Fragment *frag);

// An equation section being elaborated.
typedef struct Pair { Expr left, right; Span span; } Pair;
typedef VEC(Pair) Pairs;
typedef struct Context {
    Elab *elab;
    Fragment *frag;
    uint32_t class_id;
    bool initial;
    Pairs *sink;             // equations of a branch are collected instead of added
    Expr guard;              // asserts hold only when this does; 0: always
} Context;
void elaborate_assert(Context *context, Node call);
// A call without results, for its assertions.
void elaborate_effect(Context *context, Node call);
// Argument i of a CALL, by position or name; 0 when it is not given.
Node call_argument(Elab *elab, Node call, uint32_t i, const char *name);
bool structural_branch(Context *context, Node branch, bool *known, bool *taken);
// Runs `body` once per combination of loop indices, until it returns false.
// For-equations whose iterations differ by index arithmetic only (affine.c).
typedef struct AffineLoop {
    uint32_t count;
    double step;             // of the index
    bool (*iterate)(void *data, uint32_t k); // elaborates iteration k, from 0; false after an error
    void *data;
} AffineLoop;
// Whether the text of a FOREQ uses the index in affine subscripts and as a value only.
bool affine_body(const Elab *elab, Node loop, Sym index);
// Elaborates all iterations of such a loop. False after an error.
bool affine_iterations(Elab *elab, Fragment *frag, const AffineLoop *loop);
typedef void TakePair(void *data, Expr left, Expr right, Span span);
// (a, , b) = f(x) as pairs of scalars; false after an error.
bool take_outputs(Elab *elab, Node tuple, Node call, Span span, TakePair *take, void *data);
typedef bool LoopBody(void *data);
void elaborate_loop(Context *context, Node indices, LoopBody *body, void *data, Node affine);

// --- energy_section.c
void elaborate_energy_item(Context *context, Node item);

// --- algorithm.c
void elaborate_algorithm(Context *context, Node section);

// --- when.c
// A new Boolean variable w = condition; the result is its rising edge.
Expr when_trigger(Elab *elab, Fragment *frag, Expr condition, Span span, uint32_t *var);
void elaborate_when(Context *context, Node node);
void elaborate_clocked(Context *context, Node branch, Expr clock); // the equations of `when Clock() then`

// --- connect.c
void elaborate_connect(Context *context, Node node);
// The connector type of a connector class's fragment (flows, bond clauses) and of a signal connector.
void elaborate_connector(Elab *elab, Fragment *frag);
uint32_t signal_type(Elab *elab, Member *member);
// The index of a type among those of the model, + 1; equal types are one.
uint32_t connector_type_intern(Dae *dae, ConnectorType type);

// --- connect_path.c
// The parts of a connector that REF names from part `from` on, in row-major order.
typedef struct Paths {
    VEC(FragPath) all;
    uint8_t rank;
    uint32_t dims[MAX_RANK];
    bool absent;             // it leads to a component whose condition is false
    bool open;               // of an undeclared element without subscripts: its sizes are those of the other side
} Paths;
bool connect_paths(Elab *elab, ExprEnv *env, Fragment *connector, Node ref, uint32_t from, Paths *out);

// --- overconstrained.c (Modelica 3.6, section 9.4)
// A record whose class says with a function equalityConstraint how two of them are equal in a loop.
bool is_overconstrained(Elab *elab, uint32_t class_id);
// Connections.root, .potentialRoot and .branch as equations.
void overconstrained_statement(Context *context, Node call);
// Connections.isRoot and .rooted, in expressions.
bool overconstrained_query(ExprEnv *env, Node call, Value *out);

// --- machine_equation.c (Modelica 3.6, section 17.1)
// transition and initialState as equations.
void machine_equation(Context *context, Node call);
// activeState, ticksInState and timeInState, in expressions.
bool machine_query(ExprEnv *env, Node call, Value *out);

// --- connection_query.c
// What expressions ask of the connections: the above, inStream, actualStream and cardinality.
bool connection_query(ExprEnv *env, Node call, Value *out);
// True when a condition asks the connection graph.
bool asks_graph(const Elab *elab, Node expr);
// What a condition asks of the connection graph; false after reporting. `decided` says that the value is known already.
// Its slots are appended to `slots`.
bool overconstrained_guard(Context *context, Node condition, U32Vec *slots, Expr *out, bool *decided,
                           bool *value);
uint32_t add_guard(Elab *elab, Fragment *frag, Expr condition, const U32Vec *slots);
const Overconstrained *overconstrained_at(const Elab *elab, uint32_t type, uint32_t i); // NULL past the end
// The residues of equalityConstraint; false after reporting.
bool overconstrained_residues(Elab *elab, uint32_t type, uint32_t i, Span span);

#endif
