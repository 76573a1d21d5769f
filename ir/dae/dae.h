// dae.h: the door of ir/dae: the flat model: variables, equations as (shape, row), connections, laws, energies, the multibond graph.
//
// In: shapes of ir/expr; the front end, or the reader of the text form, fills it.
// Out: the model that all passes change (dae.h), what a pass is (pass.h, rows in passes.def), the programs that back ends compile (sys.h),
// names resolved through aliases, patterns of structural equality, the model's text form and its reader.
// Read first: dae.h from its top, then dae.c.
// Also open to other rooms: clock_kinds.h, filter.h, guards.h, initial_whens.h, locate.h, model_shapes.h, pass.h, passes.def, pattern.h, said_values.h, sys.h, variable_paths.h.
//
// dae.h: the flat model: variables, equations as (shape, row), binds, connectors, the multibond graph.
//
// Everything is named by 32-bit ids into dense arrays. NONE marks absence. The Dae is made by the
// elaborator and rewritten only by adding: passes append variables and equations and fill the analysis
// arrays; they never rewrite rows.
#ifndef MDLC_IR_DAE_DAE_H
#define MDLC_IR_DAE_DAE_H

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/base/out.h"
#include "ir/base/src.h"
#include "ir/base/sym.h"
#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

typedef struct Diags Diags; // ir/base/diag.h
typedef struct Diag Diag;
typedef uint32_t Var;
enum { NONE = UINT32_MAX };

typedef enum VarKind {
    VAR_CONTINUOUS, // Real unknown
    VAR_DISCRETE,   // changes only at events: discrete Real, and every Integer, Boolean, enumeration
    VAR_PARAMETER,  // fixed at start
    VAR_CONSTANT,   // known to the compiler
    VAR_INPUT       // top-level input: known from outside; keeps its start value
} VarKind;

typedef enum VarType { TYPE_REAL, TYPE_INTEGER, TYPE_BOOLEAN, TYPE_STRING, TYPE_ENUM, TYPE_CLOCK } VarType;

enum { // Declaration.flags
    GROUP_FLOW = 1, GROUP_PROTECTED = 2, GROUP_FINAL = 4, GROUP_OUTPUT = 8, GROUP_HIDDEN = 16, // compiler's own
    GROUP_EVALUATE = 32, // a structural parameter: its value shaped the model and cannot be changed at run time
    GROUP_WHEN = 64,     // the condition of a when-clause, with GROUP_HIDDEN
    GROUP_STEP = 128,    // the whole number that floor, ceil, integer, div, mod or rem has at the time, with GROUP_HIDDEN
    GROUP_INPUT = 256    // declared `input`; the only one that the text form has not
};
enum { // Dae.var_flags: one byte per scalar
    VARF_FIXED = 1,          // fixed = true
    VARF_FIXED_SET = 2,      // fixed was written
    VARF_REMOVED = 4,        // no longer part of the model (an unused chain variable)
    VARF_NONNEG = 8,         // min >= 0 is known
    VARF_STATE_SHIFT = 4,    // bits 4..6: StateSelect
    VARF_FREE = 128          // a parameter that initialisation finds (fixed = false, or depending on one)
};
typedef enum StateSelect { STATE_DEFAULT, STATE_NEVER, STATE_AVOID, STATE_PREFER, STATE_ALWAYS } StateSelect;

// Inst.class_kind of the classes that passes know: values of frontend/text/ast.h's ClassKind (frontend/flatten/flat_model.c checks them).
enum {
    CLASS_KIND_RECORD = 3, CLASS_KIND_OPERATOR_RECORD, CLASS_KIND_CONNECTOR,
    CLASS_KIND_BODY = 11, CLASS_KIND_ELEMENT, CLASS_KIND_CONSTRAINT, CLASS_KIND_MEMORY
};

// A component instance; insts.at[0] is the model itself. Its path is parent's path + name + [index].
typedef struct Inst {
    uint32_t parent;     // NONE for the model
    Sym name;
    uint32_t index;      // offset into Dae.dims of `rank` subscripts (from 1)
    uint8_t rank;
    uint8_t class_kind;  // CLASS_KIND_BODY, ..., or that of a class that passes do not tell apart
    bool internal;       // a connector declared protected: no port of its component
    bool has_energy;     // its class has an energy section, from which equations follow
    bool shared;         // declared inner: others use it without connections
    bool found;          // its class stands in a library that was found, and is none of the user's
    Sym class_name;      // full class name
    Span span;           // the declaration
} Inst;

// What a variable is declared as. The instances of a class share it: it is made once and never changed.
typedef struct Declaration {
    Sym name;
    uint32_t count;      // scalars
    uint32_t dims;       // offset into Dae.dims of `rank` sizes
    uint8_t rank, kind, type; // VarKind, VarType
    uint16_t flags;
    Sym unit, display_unit, quantity, comment; // 0 when not given
    uint32_t units;      // where scalars have different ones: offset into Dae.dims of `count` Syms, + 1; 0: all have `unit`
    uint32_t enum_literals; // TYPE_ENUM: offset into Dae.dims: count, then Syms
    Span span;
} Declaration;

// A declared variable of one instance, all its array elements: scalars first .. first + decl->count - 1 in row-major order.
typedef struct Group {
    const Declaration *decl; // in Dae.arena
    uint32_t inst;       // owning instance
    Var first;
} Group;

typedef enum Attr { ATTR_VALUE, ATTR_START, ATTR_NOMINAL, ATTR_MIN, ATTR_MAX, ATTR_STOP, ATTR_RATE } Attr;
// Bind.level of what stands in a type (`type Temperature = Real(start = 288.15)`), which says what is usual and knows nothing of this model.
enum { LEVEL_OF_TYPE = 255 };

// attribute of var := shape(row). ATTR_VALUE: a parameter's or constant's binding (a continuous variable's
// declaration equation is an equation, not a bind). Literals are shapes without slots.
typedef struct Bind {
    Var var;
    uint32_t attr;
    Expr shape;
    uint32_t row;
    Span span;
    bool other_units; // Equation.other_units
    uint8_t level;    // how many instances are around the one in whose declarations it is written (0: the model itself), or LEVEL_OF_TYPE
    uint32_t more, stride; // a number is that of `more` variables after var, too, each `stride` further (elements of an array)
} Bind;

// The time derivative of a variable as its declaration gives it, which the equations imply: index reduction differentiates what the
// variable stands in with it, and needs no derivative of the variable and of the equation that determines it.
typedef struct Rate {
    Var var;
    Expr shape;
    uint32_t row;
    Span span;
} Rate;

// For all variables of a bind.
#define bind_each(bind, v) \
    for (uint32_t v = (bind)->var, left_ = (bind)->more + 1; left_; left_--, v += (bind)->stride)

static inline Bind
bind_of_one(Bind bind, Var var)
{
    bind.var = var;
    bind.more = bind.stride = 0;
    return bind;
}

static inline bool
bind_covers(const Bind *bind, Var var)
{
    uint32_t distance = var - bind->var;
    return !distance || (bind->more && distance % bind->stride == 0 && distance / bind->stride <= bind->more);
}

typedef enum EqnKind {
    EQN_NORMAL,     // continuous or discrete equation lhs = rhs
    EQN_INITIAL,    // initial equation
    EQN_WHEN,       // slot 0 is the discrete variable it defines: #0 = if edge then e else pre(#0)
    EQN_LAW,        // the law of a set-valued term (see Law)
    EQN_ALIAS,      // x = y or x = -y, used up by alias elimination
    EQN_REMOVED
} EqnKind;

typedef struct Equation {
    Expr shape;      // an EQN
    uint32_t row;    // offset into Dae.rows; as many entries as the shape has slots
    uint32_t node;   // owner: index into Dae.nodes
    uint8_t kind;
    uint8_t generated; // 1: made by the compiler (connection, derivative, law); 0: the user's
    bool binding : 1;  // var = e of a modification or declaration, var in the first slot: it belongs to the class of var
    bool guarded : 1;  // it is here because of how the connectors are connected: cardinality, Connections.isRoot
    bool wished : 1;   // differentiated because stateSelect asks for a state that nothing differentiates (index.c)
    uint8_t other_units; // 1: a function declares other units than its text gives, or a factor was folded away: not checked
    uint8_t root;    // DAE_ROOT_*: it defines a root by a set-valued term (pass `roots`)
    Span span;
} Equation;
// Roots of |x| with the sign of x; of x, 0 below zero; of x, which must not be negative.
enum { DAE_ROOT_NONE, DAE_ROOT_ODD, DAE_ROOT_ABOVE, DAE_ROOT_STRICT };

typedef struct Reinit { // reinit(var, value) when `when` (a Boolean discrete variable) becomes true
    Var var, when;
    Expr value;
    uint32_t row;
    bool at_start; // at the start it is an initial equation (pass init)
    bool alone;    // it moves nothing but its state, as in Modelica: no impulse is carried on
    Span span;
} Reinit;

enum { ASSERT_ERROR, ASSERT_WARNING, ASSERT_TERMINATE, ASSERT_CLOSED };
typedef struct Assert {
    Expr condition;
    uint32_t row;
    uint32_t inst;
    // Error, warning, terminate when the condition becomes false; closed: a number that is positive at the start where two frames
    // that close a loop have the same axes, and negative where they are turned half round
    uint8_t level;
    bool other_units; // Equation.other_units
    Sym message;     // with a place for each of its values (runtime/model/template.h)
    uint32_t told, n_told; // the values: range of Dae.told
    Span span;
} Assert;
// A differentiated equation that may jump at an event (pass index), or a state that reinit() sets (pass causality).
typedef struct Jump {
    Var state;           // NONE: an equation jumps; otherwise there is an impulse in what determines der(state), and no offset and rest
    uint32_t equation, derivative;
    bool again;          // the derivative was differentiated as well
    bool literal;        // the equation has conditions in noEvent(), which make events in `rest`
    Var impulse;         // a parameter, 0: what the derivative has in it beside the rates
    Var offset;          // a parameter, 0: what left side less right side of the equation is
    Expr rest;           // left side less right side as they were written
    uint32_t row;
    const char *text;    // the equation
} Jump;
// The result of a call in an equation of Dae.jumps: the function branches by itself, so that no event shows where it jumps (pass index).
typedef struct Leap {
    uint32_t jump;
    Expr value, rate;    // the result, its time derivative
    uint32_t value_row, rate_row;
    const char *function;
} Leap;
typedef struct Told { // a value in the message of an assertion
    Expr shape;
    uint32_t row;
    uint32_t inst;
    Span span;
} Told;

// A set-valued term a*Sgn(x) of the model became the unknown p (pass `laws`). Its equation is
//   if mode == 0 then X = 0 else p = mode*a     as   EQN(if #mode == 0 then #X else #p - #mode*#a, 0)
// with slots mode, X, p, a in this order, where X = der^level(x): pass `index` finds the level at which the
// sticking constraint x = 0 determines p (0: x is algebraic; 1: x becomes a state whose derivative is held at
// zero).
// A unilateral constraint p = unilateral(x, e), that is x >= 0, p >= 0, x*p = 0, is a law, too (pass `unilateral`), with
//   if mode == 0 then X = 0 else p = (mode - 1)*(1 + a)
// where mode 0 is closed, mode 1 open, a the coefficient of restitution e (a parameter), and the level at most 2: a gap of
// bodies holds its second derivative at zero. Other modes give p a value, by which the runtime measures what it does.
// A friction force in a plane or in space (pass `coulomb`) has a law for each of its components x_i, one after the other, with
//   if mode_i == 0 then X_i = 0 else p_i = (if mode_1 > 5 then d_i else mode_i)*a
// where d is the direction of x. Its slots go on with d_i and mode_1; in the first, which has mode_1 > 5 + near, with near.
typedef struct Law {
    Var near;            // of the first component of a friction force: slip below which a direction is held
    Var x, p, a, mode;   // mode: VAR_DISCRETE, -1, 0 or 1. a: parameter or variable
    uint32_t equation;
    uint8_t level;
    uint8_t play;        // 1: in series with a spring; slipping holds der(p) at mode*der(a), which are in the row then
    uint8_t dependent;   // 1: other laws hold its x, too (two supports of one rigid body)
    uint8_t unilateral;  // 1: see above
    uint8_t disk;        // 1, 2, 3: this component of a friction force; 0: of none
    uint8_t root;        // DAE_ROOT_* of the equation that it comes from
    Span span;
} Law;

typedef struct ToldName { // what views and messages say for a variable of the compiler's own
    const char *text;
    bool part;               // it stands for a part of an equation and is told in parentheses
    bool nothing;            // another variable tells what it takes part in: where equations are shown it counts as zero (dae_tell_nothing)
} ToldName;

// `value` (a hidden input) is `input` as it was `time` ago; `time` never exceeds `most`, which is a parameter or literal. Where `time` may
// vanish there is a hidden input `weight`, otherwise NONE: value + weight*input is what was `time` ago.
typedef struct Delay {
    Var value, weight, input, time, most;
    Span span;
} Delay;

// spatialDistribution(): what the runtime sets for the end of a profile at y = 0 or at y = 1, all of them hidden inputs.
typedef struct TransportEnd {
    Var leaves;          // the value there, up to the next jump in the profile
    Var behind;          // the value behind that jump
    Var arrives;         // x at which it is there
} TransportEnd;

// A profile z(y), 0 <= y <= 1, that moves with der(x): in[0] enters at y = 0 when x grows, in[1] at y = 1 when it falls.
enum { TRANSPORT_POINTS = 5 }; // arguments of OP_TRANSPORT before the initial points
typedef struct Transport {
    Var in[2], x;
    const Var *point;    // n pairs y, z of the initial profile: parameters or literals
    uint32_t n;
    TransportEnd end[2];
    uint32_t shape, row; // the arguments of the call: both its results have one profile
    Span span;
} Transport;

// A constitutive curve c = g(u) of a memory element that turns round at `low` and `high` (infinite: nowhere on that side),
// next to where u starts.
typedef struct CurveFold {
    uint32_t equation;
    Var c, u;
    double low, high;
} CurveFold;
// A derivative of an order in (below, below + 1], which is the value of the parameter `order`: written scale*state + shift + tail*der(state)
// where der(state) is the derivative of order below + 1 of what stands in fder(), and of `input` where that is a derivative. The runtime
// sets scale, shift and tail.
typedef struct Fractional {
    Var state, input, scale, shift, tail, order;
    int32_t below, integrals; // so many times the sum is integrated
    Span span;
} Fractional;

// --- connectors and the multibond graph
typedef struct BondVars { // one scalar bond of a connector type
    uint32_t flow;        // offset of the flow variable among the connector's scalars
    uint32_t effort;
    uint8_t flow_is_der;  // the flow is der(of that variable)
} BondVars;
typedef enum Causality { // of a scalar of a connector
    CAUSALITY_NONE, CAUSALITY_INPUT, CAUSALITY_OUTPUT,
    CAUSALITY_GRAPH,     // equated along the connection graph (overconstrained), not by pass bonds
    CAUSALITY_STREAM,    // a stream variable: what flows out carries it (ir/bonds/streams.h)
    CAUSALITY_DEDUCED    // of an expandable connector: a signal whose source is elsewhere in its connections
} Causality;
typedef struct ConnectorType {
    Sym class_name;
    uint32_t n;              // scalars of one connector
    const uint8_t *is_flow;  // n: 1 for `flow` variables
    const uint8_t *causality; // n: Causality
    uint32_t n_bonds;
    const BondVars *bonds;   // 0 bonds: a signal connector
} ConnectorType;
typedef struct Connector { // its scalars are first .. first + type.n - 1
    uint32_t type, inst;   // inst: the instance of the connector itself; its parent is the component
    Var first;
} Connector;
typedef struct Connect {
    uint32_t a, b;         // connectors
    uint8_t a_outside, b_outside; // the connector belongs to the class in which connect stands
    Span span;
} Connect;

typedef enum NodeKind {
    NODE_COMPONENT,  // not (yet) classified, or plain equations
    NODE_ONE, NODE_ZERO, // 1-junction: common flow; 0-junction: common effort
    NODE_I, NODE_C, NODE_R, NODE_SE, NODE_SF, NODE_TF, NODE_GY, NODE_MEMORY, NODE_CONSTRAINT, NODE_BODY, NODE_SIGNAL
} NodeKind;
// "I", "C", "1", ... as printed.
const char *node_kind_text(NodeKind kind);
typedef struct GraphNode GraphNode;
// The same with what is known of the node besides: "MTF", "MGY" (modulated), "De", "Df" (detectors), "C R" (a component of several
// elements), "M(0,-1)" (a memory element between the momentum and the integral of the displacement).
void node_print_symbol(const GraphNode *node, Out *out);
// The work that a constraint does: any (an element), that of a drive (a prescribed motion or effort), none (it is ideal).
typedef enum Work { WORK_UNKNOWN, WORK_NONE, WORK_DRIVE, WORK_ANY } Work;
enum { // NodeParts.bits
    PART_WEIGHT = 1, // a body with weight (Se)
    PART_GYRO = 2,   // a body with terms of its velocities (MGY, Euler junction structure)
    PART_ARM_A = 4, PART_ARM_B = 8, // transformers (MTF) at the first and the second port: efforts at arms
    PART_TURN = 16,  // a transformer to axes of its own (MTF)
    PART_UNIT = 32,  // of a transformer: all its ratios are 1, it is a junction
    PART_SHARES_FLOW = 256, PART_SHARES_EFFORT = 512, // all its ports have one flow, one effort: it stands on one junction
    PART_ZERO = 1024, // a source that gives nothing: a ground
    PART_READS_EFFORT = 64, PART_READS_FLOW = 128 // a detector (De, Df): it takes no power and gives a signal
};
typedef struct NodeParts { // what a constraint or a body is made of; filled for those who look (ir/elements/describe.c)
    uint8_t work;            // Work, of a constraint
    uint8_t fc, ec, elements; // scalar bonds of a constraint: closed by a condition on the flow, on the effort, by a law
    uint8_t drives;          // scalar bonds of a constraint that are handed to what its further ports, shafts or slides, are connected to
    uint8_t surplus;         // of the fc: conditions that follow from others of the loops; known after a start was computed
    uint16_t bits;
    // Known while the passes run: of a component that is several elements, bits of NodeKind; of a transformer or gyrator the
    // variable that changes its ratio + 1, of a source the signal that it gives + 1, or 0.
    uint16_t letters;
    uint32_t modulator;
    bool has_orders;         // of a memory element: its law relates the derivatives of these orders
    double effort_order, motion_order; // of the momentum and of the displacement
    uint32_t first_closure, closures; // of a constraint: in Dae.closures; none where the law could not be told
} NodeParts;
// A scalar bond of a constraint: what closes it, and along or about what.
typedef enum Closed { CLOSED_FLOW, CLOSED_EFFORT, CLOSED_ELEMENT, CLOSED_DRIVE } Closed;
typedef struct ScalarClosure {
    uint32_t node;
    uint8_t by;              // Closed
    bool translates, turns;  // both: a translation and a rotation that depend on each other
    bool across;             // perpendicular to the axis that `axis` names
    const char *letter;      // "FC", "EC", "C", ...
    const char *axis, *value; // "x"; "n" and what it is, "{0.6, 0, 0.8}"; "" where there is one axis only
} ScalarClosure;
struct GraphNode {
    uint8_t kind;
    NodeParts parts;
    uint32_t inst;        // component, or for a junction the instance in which it lies (the connects' parent)
    Span span;            // a junction: the first connect
};
typedef struct Bond {     // one scalar bond between a component's port and a junction
    uint32_t connector, scalar; // index into the connector type's bonds
    uint32_t component, junction; // nodes; power is positive into the component
    Var flow, effort;
    uint8_t effort_from;  // after causality: 0 unknown, 1 the component computes the effort, 2 the junction does
} Bond;

// --- energies, from which pass `energy` derives the equations of motion (docs/energies.md)
typedef enum Formalism { FORMALISM_LAGRANGE, FORMALISM_HAMILTON, FORMALISM_GIBBS_APPELL, FORMALISM_KANE,
                         FORMALISM_MAGGI, FORMALISM_COUNT } Formalism;
typedef enum EnergyKind {
    ENERGY_KINETIC, ENERGY_POTENTIAL, ENERGY_DISSIPATION, // an energy, or a power (Rayleigh's function, content)
    ENERGY_FORCE,     // EQN(coordinate, generalised force on it)
    ENERGY_INERTIA,   // EQN(m, s): energy m/2*der(s)^2, where s is a Cartesian position or an angle; or
                      // EQN(m, MOVING(theta, X, Y, x, y)): of the point {x, y} of a frame in the plane
    ENERGY_CONSTRAINT // an equation between coordinates, or one between their velocities
} EnergyKind;
typedef struct Energy {
    uint8_t kind;
    bool memory;          // kinetic, potential, dissipation: an integrated energy of a memory element
    double order;         // of the memory element's derivatives, in (0, 1]; 1 for what is no memory energy; 0: parameters give it, shape is energy = order
    Expr shape;
    uint32_t row;
    uint32_t node;        // of the component whose energy section it is
    Span span;
} Energy;
// `in` is inStream(stream): what would flow in through the connector of the stream variable. Pass bonds makes its equation.
typedef struct InStream {
    Var stream, in;
} InStream;
// A state of a state machine (pass machines): an instance, whether it is active, whether it begins anew at this tick.
typedef struct ActiveState {
    uint32_t inst;
    Var active, reset;
} ActiveState;
// An initial condition var = start + move, with the parameter `move`.
typedef struct Move {
    Var var, move;
} Move;

// A name that nothing reads for the derivative of `of`, of a body without mass: no equation until everything else is determined.
typedef struct Monitor {
    uint32_t equation; // var = der(of), EQN_REMOVED meanwhile
    Var var, of;       // representatives
} Monitor;
// An equation that a parameter of value zero took a derivative out of: it says no longer how something moves.
typedef struct Massless {
    uint32_t equation;
    Var zero;
    bool surplus;      // as the model was written it was one too many (ir/check/massless_bodies.c)
} Massless;

typedef struct Literal { Var var; double value; } Literal;

typedef struct Dae {
    Arena *arena;         // lifetime of one compilation
    Syms *syms;
    Exprs *exprs;
    const Sources *sources;
    Sym name;
    double start, stop, interval, tolerance; // experiment annotation; NAN where not given
    bool has_defaults;    // values of parameters are to be replaced: assertions about them need not hold
    bool is_part;         // of models that it is not looked at in: what its flanges and buses meet there is not known

    VEC(Inst) insts;
    VEC(Group) groups;
    U32Vec dims;
    uint32_t nvars;
    // per scalar variable:
    U32Vec var_group;     // group, or NONE for a derivative, pre or literal variable
    U8Vec var_flags;
    U8Vec var_kind;       // VarKind of the underlying declared variable; read through dae_kind
    U32Vec var_der;       // its derivative variable or NONE
    U32Vec var_der_of;    // the variable it is the derivative of, or NONE
    U32Vec var_pre;       // its pre() variable or NONE
    U32Vec var_pre_of;
    Map literals;         // bits of a double -> literal variable
    F64Vec literal_values; // indexed through var_group: LITERAL_BIT plus the index
    VEC(Bind) binds;
    VEC(Rate) rates;      // attributes ATTR_RATE, which are no binds: what they contain moves
    VEC(Equation) equations;
    U32Vec rows;
    VEC(Reinit) reinits;
    VEC(Assert) asserts;
    VEC(Told) told;
    VEC(Jump) jumps;
    VEC(Leap) leaps;
    VEC(Law) laws;
    VEC(Law) row_laws;      // of elements in a row that one of `laws` stands for: told, not run
    VEC(Delay) delays;
    VEC(Transport) transports;
    U32Vec coordinates;   // variables declared `coordinate`
    VEC(Energy) energies;
    Formalism formalism;
    bool formalism_chosen; // by the model or on the command line
    VEC(Fractional) fractionals;
    U32Vec shares;           // parameters that pass merge made: parts of a band, which may be anything from 0 to 1
    VEC(InStream) in_streams;
    VEC(ActiveState) active_states; // an inner one behind the one around it
    Map told_of;          // variable of the compiler's own -> index into told (dae_tell_as)
    VEC(ToldName) told_names;
    Map in_stream_of;     // stream variable -> index into in_streams; 2^32 + variable for its inStream -> the same
    VEC(CurveFold) folds;

    VEC(ConnectorType) connector_types;
    VEC(Connector) connectors;
    VEC(Connect) connects;
    VEC(GraphNode) nodes;
    VEC(Bond) bonds;
    VEC(ScalarClosure) closures; // of constraints, for those who look (ir/elements/closures.c); texts are in `arena`
    U32Vec bond_momentum, bond_weight; // per bond of an inertance, for the audit (ir/elements/momenta.c); else NONE, or empty
    // First scalars of the overconstrained records that their own component determines: roots, and the outer end of
    // each branch (Modelica 3.6, section 9.4). Known when the model comes from the front end.
    U32Vec determined_records;
    bool knows_graph;
    // Variables before this one are declared by classes whose balance is known: Equation.binding says which class an equation
    // belongs to, and connectors are connected as a whole. 0: it is not.
    Var balanced;
    U32Vec node_of_inst;  // per instance, as far as any has one: its node + 1, or 0; through dae_node

    // alias elimination (pass alias): var = sign * representative. Empty before the pass.
    U32Vec alias_of;
    U8Vec alias_negative;
    U32Vec start_of;      // per variable: the parameter that holds its start value + 1, or 0 (start_parameters.c); empty: none have
    bool settable;        // parameters can be set in the compiled model
    bool turned;          // orders of fractional derivatives may be what is varied: whole ones of parameters are limits of those below
    bool varied;          // derivatives with respect to parameters are wanted, those that are zero among them
    Map guarded;          // conditions that assertions of the compiler's own look at (guards.c)
    bool assemble;        // where there are invariants, initial conditions x = start get an offset that the runtime can set
    VEC(Move) moves;
    VEC(Massless) massless;
    VEC(Monitor) monitors; // velocities before accelerations (ir/index/zero_inertia.c, ir/bonds/rates.c)
    Var leak;             // parameter of the laws of ideal diodes that depend on each other (leak.c); 0: there are none
    bool starts_states;       // the start is said by values of states alone, so that these are enough to start from
    struct Known *known;  // values of parameters (known.c), in `arena`; made on demand
    Map started_by;       // state -> variable whose default start counts in its place (a momentum -> the velocity)
    Map stands_for;       // equation that the compiler put in the place of another (closure.c) -> the user's
    Map dependent;        // equation of a constraint that may follow from others, or of forces that it leaves open (closure.c) -> 1
    Map decided;          // discrete variable that equations make constant (pass constants) -> the constant, an Expr
    struct Pages *pages;  // ir/base/pages.h; NULL in small models
    struct Resolver *resolver; // memo of dae_resolve, in `arena`; made on demand
} Dae;

Dae *dae_create(Syms *syms, const Sources *sources);
void dae_free(Dae **dae);

// --- adding
// Makes room for this many variables and instances.
void dae_reserve(Dae *dae, uint32_t nvars, uint32_t ninsts);
// Gives back the room for variables, equations and rows that did not come.
void dae_trim(Dae *dae);
uint32_t dae_add_inst(Dae *dae, Inst inst);
// A copy that lives as long as the model, for dae_add_group.
const Declaration *dae_declare(Dae *dae, Declaration declaration);
// Adds a variable of an instance with its scalars; dims, rank and count must be set.
uint32_t dae_add_group(Dae *dae, const Declaration *decl, uint32_t inst);
// The same for a variable that is declared once. Returns its first scalar.
Var dae_add_declared(Dae *dae, Declaration declaration, uint32_t inst);
// Changes the kind of a group and all its scalars (a Real that a when-equation defines is discrete).
void dae_set_kind(Dae *dae, uint32_t group, VarKind kind);
// The derivative variable, made on demand (der of der works), for what is going to mention it: it is part of the model from now on, also
// where an earlier pass had found that nothing did.
Var dae_der(Dae *dae, Var var);
Var dae_name_der(Dae *dae, Var var); // the same for those who look: a removed derivative stays removed
Var dae_pre(Dae *dae, Var var);
Var dae_in_stream(Dae *dae, Var stream); // inStream(stream), made on demand
void dae_add_in_stream(Dae *dae, InStream made);
bool dae_is_in_stream(const Dae *dae, Var var, uint32_t *index); // the inStream of in_streams.at[*index]
Var dae_literal(Dae *dae, double value); // a VAR_CONSTANT holding the value
uint32_t dae_add_row(Dae *dae, const Var *vars, uint32_t n);
uint32_t dae_add_equation(Dae *dae, EqnKind kind, Expr shape, uint32_t row, uint32_t node, Span span);
// The same, of the compiler's own.
uint32_t dae_generate(Dae *dae, EqnKind kind, Expr shape, uint32_t row, uint32_t node, Span span);
// left = right over `vars`, of the compiler's own.
uint32_t dae_equate(Dae *dae, EqnKind kind, Expr left, Expr right, const Var *vars, uint32_t node, Span span);
// Turns an expression whose slots index `vars` into (shape, row): renumbers slots, appends the row.
void dae_bind_shape(Dae *dae, Expr e, const Var *vars, Expr *shape, uint32_t *row);
void dae_add_bind(Dae *dae, Bind bind);
// Puts the bind of one variable in the place of what gave it this attribute before.
void dae_replace_bind(Dae *dae, Bind bind);
void dae_set_node(Dae *dae, uint32_t inst, uint32_t node);
uint32_t dae_node(Dae *dae, uint32_t inst); // the component node of an instance, made on demand
// A compiler-made scalar unknown named e.g. "$p1" in instance `inst` (GROUP_HIDDEN unless `shown`).
Var dae_add_var(Dae *dae, const char *name, uint32_t inst, VarKind kind, VarType type, bool shown);

// --- looking
// Derivatives and pre: as their variable; literals: VAR_CONSTANT.
static inline VarKind
dae_kind(const Dae *dae, Var var)
{
    return (VarKind)dae->var_kind.at[var];
}
bool dae_has_kind(const Dae *dae, VarKind kind); // some variable is of this kind
// A parameter or a constant.
static inline bool
dae_is_parameter(const Dae *dae, Var var)
{
    return dae->var_kind.at[var] == VAR_PARAMETER || dae->var_kind.at[var] == VAR_CONSTANT;
}
// Known before the start: of parameters and constants only, without time.
bool dae_is_parametric(const Dae *dae, Expr e, const Var *vars);
// "gibbs_appell" and back; false for a name that is none.
const char *formalism_name(Formalism formalism);
bool formalism_named(const char *name, Formalism *out);
VarType dae_type(const Dae *dae, Var var);
// The model itself has flanges: it is a part of others.
bool dae_has_open_flanges(const Dae *dae);
// Whether a connector is a signal on a public expandable connector of the model itself, or of one inside that; whether any is.
bool dae_is_own_bus(const Dae *dae, uint32_t connector);
bool dae_has_open_buses(const Dae *dae);
bool dae_is_literal(const Dae *dae, Var var, double *value);
// A number that is not negative, or a variable whose min is not.
bool dae_is_nonneg(const Dae *dae, Var var);
// The same of a slot, for nonsmooth.h; `context` is the row that the slots are of.
typedef struct DaeRow {
    const Dae *dae;
    const Var *vars;
} DaeRow;
bool dae_slot_is_nonneg(uint32_t slot, void *context);
// True when the values of parameters and constants make an expression over vars zero, but for rounding, as far as is known while
// compiling.
bool dae_known_zero(Dae *dae, Expr e, const Var *vars);
// True when terms of the expression cancel so far that half of its digits, or more, are rounding: nothing to divide by.
bool dae_known_cancelled(Dae *dae, Expr e, const Var *vars);
// The value of an expression over parameters, constants and literals; false when it is not known while compiling.
bool dae_known_expr(Dae *dae, Expr e, const Var *vars, double *value);
// The value of a parameter, constant or literal, as far as it is known while compiling.
bool dae_known_value(Dae *dae, Var var, double *value);
// What gives a parameter or constant its value, or NULL.
const Bind *dae_value_bind(Dae *dae, Var var);
// The parameter that holds a start value that can be set in the compiled model, or NONE.
Var dae_start_of(const Dae *dae, Var var);
// How much the start value of a variable (`bind`) counts among those of its aliases (more than 0); of equal ones the first counts. A fixed one
// before others, what a declaration says before what its type does, what a user has written before defaults of the library, what is written further out
// before what is written deeper inside (Modelica specification 3.6, section 8.6.2), the representative's own before an alias's.
uint32_t dae_start_rank(Dae *dae, const Bind *bind, Var var);
// How far out a start value is written, as Bind.level, or the value of the parameter that it is, if it is exactly one.
uint32_t dae_start_level(Dae *dae, const Bind *start);
StateSelect dae_state_select(const Dae *dae, Var var);
enum { LITERAL_BIT = 0x80000000 };
// Of the underlying declared variable, or NULL (literal).
static inline const Group *
dae_group(const Dae *dae, Var var)
{
    while (dae->var_group.at[var] == NONE)
        var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    uint32_t group = dae->var_group.at[var];
    return group & LITERAL_BIT ? NULL : &dae->groups.at[group];
}

// The place of the underlying declared variable in its group.
static inline uint32_t
dae_element(const Dae *dae, Var var)
{
    while (dae->var_group.at[var] == NONE)
        var = dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : dae->var_pre_of.at[var];
    return var - dae->groups.at[dae->var_group.at[var]].first;
}

// The unit that the underlying declared variable is declared with, as it is written; 0: none.
static inline Sym
dae_unit(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return !group ? 0 : group->decl->units ? dae->dims.at[group->decl->units - 1 + dae_element(dae, var)] : group->decl->unit;
}
// A 0- or a 1-junction.
static inline bool
dae_is_junction(const Dae *dae, uint32_t node)
{
    return dae->nodes.at[node].kind == NODE_ONE || dae->nodes.at[node].kind == NODE_ZERO;
}
static inline const ConnectorType *
dae_connector_type(const Dae *dae, uint32_t connector)
{
    return &dae->connector_types.at[dae->connectors.at[connector].type];
}
// The condition of a when-clause, or its pre().
static inline bool
dae_is_when(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group && group->decl->flags & GROUP_WHEN;
}
// What floor() and the like have at the time, or its pre().
static inline bool
dae_is_step(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group && group->decl->flags & GROUP_STEP;
}
// Where it is declared; nowhere for a literal.
static inline Span
dae_var_span(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    return group ? group->decl->span : (Span){0, 0};
}
void dae_var_name(const Dae *dae, Var var, Out *out);   // "wheel.s", "der(wheel.s)", "a.R[1,2]"
// For messages: what the user wrote for a variable of the compiler's own, inStream(a.h); its name otherwise, of $part3 that is part₃, of port.$inflow
// inflow(port): no name that a model may have. dae_name gives the same.
void dae_told_name(const Dae *dae, Var var, Out *out);
// The same inside of parentheses: a part of an equation has none of its own.
void dae_told_inside(const Dae *dae, Var var, Out *out);
// True when it has such a text.
bool dae_is_told(const Dae *dae, Var var);
bool dae_has_told_name(const Dae *dae, Var var); // it, or what it is a derivative of, has another name than its own (dae_told_name)
// Says what the user wrote for a variable of the compiler's own; the text is copied.
void dae_tell_as(Dae *dae, Var var, const char *text);
// The same for one that stands for a part of an equation, "(v1 - v2)". Long ones keep their names.
void dae_tell_part(Dae *dae, Var var, Expr e, const Var *vars);
bool dae_is_part(const Dae *dae, Var var);
// A variable that an expression has besides the one that is told for all of it, as the weight of delay(x, T), which is value + weight*x.
void dae_tell_nothing(Dae *dae, Var var);
bool dae_is_nothing(const Dae *dae, Var var);
// Tells the conditions of when-clauses as what they are in their equations.
void dae_tell_whens(Dae *dae);
// The instance itself, or a part of it at any depth.
bool dae_inst_inside(const Dae *dae, uint32_t inst, uint32_t around);
void dae_inst_path(const Dae *dae, uint32_t inst, Out *out); // "" for the model
void dae_inst_name(const Dae *dae, uint32_t inst, Out *out); // the last part of its path: "wheel[2]"
void dae_scalar_name(const Dae *dae, const Group *group, uint32_t offset, Out *out); // without its path: "R[1,2]"
Var dae_find(const Dae *dae, const char *name);         // by full name, or NONE; linear in groups
const char *dae_name(Dae *dae, Var var);                // in dae->arena
const char *dae_connector_name(Dae *dae, uint32_t connector); // its path, in dae->arena
// Slots of equation e in its row: vars[k]. n receives their number.
const Var *dae_row(const Dae *dae, uint32_t equation, uint32_t *n);
void dae_print_equation(const Dae *dae, uint32_t equation, Out *out); // with variable names, after alias resolution when there is one
void dae_print_written(const Dae *dae, uint32_t equation, Out *out);  // with the names that the text has, for messages
// An expression over slots of `vars`.
void dae_print_value(const Dae *dae, Expr e, const Var *vars, Out *out);
void dae_print_shape(const Dae *dae, Expr shape, uint32_t row, Var of, Out *out); // as the value of a variable, or NONE

// mdlc show flat: the whole Dae as text, and its reader (the IR's textual form, docs/ir.md). With `externals` the text may bring code
// of external functions.
void dae_print(const Dae *dae, Out *out);
Dae *dae_read(Syms *syms, Sources *sources, int file, bool externals, Diags *diags);
// Checks every id and link; internal errors name the pass. True when sound; otherwise `why` has a line.
bool dae_verify(const Dae *dae, Out *why);

// The equation as it stands after alias elimination: slots of aliases are replaced by (minus) their
// representative and slots that became equal are merged, so that each variable has one slot. Memoized per
// shape and pattern. `vars` is cleared and receives the representatives in slot order. Before the alias pass:
// the equation itself.
Expr dae_resolve_shape(Dae *dae, Expr shape, uint32_t row, U32Vec *vars);
// The same for an equation, which is remembered until it gets another shape or row.
Expr dae_resolve(Dae *dae, uint32_t equation, U32Vec *vars);
// Forgets what was remembered: who changes the alias table, or makes variables that are there constants, says so.
void dae_forget_resolved(Dae *dae);
void dae_set_alias(Dae *dae, Var var, Var of, bool negative);
// False when what is remembered of an equation is no longer true.
bool dae_resolved_holds(Dae *dae, uint32_t equation);
void dae_free_resolved(Dae *dae);

static inline Var
dae_alias(const Dae *dae, Var var, bool *negative)
{
    *negative = false;
    if (var >= dae->alias_of.n)
        return var;
    *negative = dae->alias_negative.at[var];
    return dae->alias_of.at[var];
}

#endif
