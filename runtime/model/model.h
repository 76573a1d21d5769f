// model.h: the door of runtime/model: the contract between compiled models and whoever runs them, and what models bring along.
//
// In: nothing of mdlc.
// Out: tables of a compiled model (model.h), options and statistics of runs (sim.h), values of type String, functions that models may call
// (standard*.c), external objects.
// Read first: model.h, then sim.h.
// Also open to other rooms: checked.h, clock.h, float_control.h, imported.h, json.h, list.h, nearest.h, number.h, order.h, sim.h, standard.h, straight.h, template.h, texts.h, threads.h.
//
// model.h: the contract between a compiled model and the simulation runtime (version 1).
//
// A compiled model is one array of doubles `v` and a set of functions that each read and write places of
// it: void f(double *v). Everything a model knows lives in v: time, parameters, discrete variables, the
// unknowns of the integrator, their derivatives, algebraic variables, residuals, root functions and
// Jacobian values. Integers, Booleans and enumeration values are held exactly in doubles (false 0,
// true 1, enumerations from 1). The tables below say what is where. v[0] is time.
//
// The integrator solves F(t, y, y') = 0 with y in v[y .. y+n), y' in v[yp .. yp+n), F in v[r .. r+n).
//   y = [ nx differential unknowns (states) ; n-nx iteration unknowns of algebraic loops ]
// Row i < nx belongs to state i and is one of
//   explicit: F_i = yp_i - dx_i, where `dynamics` computes dx_i (in v[dx+i]) from t and y; its Jacobian
//             row is d yp_i / d yp_i = 1 (added by the runtime) minus what is in the `jac_y` table;
//   implicit: the derivative itself is an iteration unknown of a loop (a "tear"); F_i is that loop's
//             residual and its partials with respect to y' are in the `jac_yp` table.
//
// The dynamics are a list of steps, causally ordered. A step either calls one function, or is a block
// (algebraic loop) with m iteration unknowns u and m residuals: calling its `eval` function computes the
// block's inner variables and residuals from u and everything before it.
//   - For the integrator's residual the runtime just calls all functions in order (u come from y, y').
//   - To evaluate the model at given states (start, events, explicit solvers) it solves each block for u
//     by Newton's method with the block's own Jacobian, then sets yp_i = dx_i for explicit rows.
#ifndef MDLC_RUNTIME_MODEL_MODEL_H
#define MDLC_RUNTIME_MODEL_MODEL_H

#include <stdint.h>

#include "runtime/model/checked.h"

enum { MDL_MODEL_VERSION = 1 };

// One compiled function: called as code.fn(v, code.self). Native code ignores `self`; the interpreter
// finds its program there. fn is NULL when the model has nothing to compute there.
typedef void mdl_fn(double *v, const void *self);
typedef struct mdl_code {
    mdl_fn *fn;
    const void *self;
} mdl_code;

static inline void
mdl_call(mdl_code code, double *v)
{
    if (code.fn)
        code.fn(v, code.self);
}

// Compressed sparse columns of a matrix whose k-th stored value is v[values + k].
typedef struct mdl_matrix {
    uint32_t rows, columns, nonzeros;
    const uint32_t *column_start; // columns + 1
    const uint32_t *row;          // nonzeros, ascending within a column
    uint32_t values;              // first place in v
} mdl_matrix;

// What functions called at run time share, from `failure` on in v. The first is 0 as long as nothing failed, then the number of
// the failure from 1; values for its message follow. Then the bytes of all calls inside each other, and how many calls
// and repetitions are left to them. From MDL_CALL_WARNING on the same again for the first assertion of level warning that does not hold.
// Then the address of the texts of the run (runtime/model/texts.h), and a number that another instant has: from a whole one on for each pass of an event iteration,
// a little more for each evaluation of the discrete equations in it, and a half more behind it.
// Then the address of what says whether the run's time is up (mdl_look; 0: nobody does), and of what it is asked with. It is asked
// each time that the repetitions left are a multiple of MDL_LOOKS.
enum {
    MDL_FAILURE_VALUES = 16, MDL_CALL_BYTES = MDL_FAILURE_VALUES + 1, MDL_CALL_WORK, MDL_CALL_WARNING,
    MDL_CALL_TEXTS = MDL_CALL_WARNING + 1 + MDL_FAILURE_VALUES, MDL_CALL_INSTANT, MDL_CALL_LOOK, MDL_CALL_LOOKER,
    MDL_FAILURE_PLACES
};
enum { MDL_LOOKS = 1 << 20 };
typedef int32_t mdl_look(const void *looker); // not 0: the time is up, for good

typedef struct mdl_failure {
    const char *text;           // a template (runtime/model/template.h) over the values
    const char *where;          // "file:line:col"
} mdl_failure;

// What the name of an unknown is the name of, in bits; names themselves do not tell: a variable of the model may be called 'der(x)' or '$p'.
enum {
    MDL_NAME_MADE = 1, // a variable of the compiler's own, or a derivative of one
    MDL_NAME_BARE = 2, // one of these whose name is no text of the model: it tells its reader nothing
    MDL_NAME_RATE = 4, // a derivative
};

typedef struct mdl_block {
    uint32_t m;                 // iteration unknowns = residuals
    const uint32_t *unknown;    // m places in v (of y, yp or, at initialisation, of anything)
    const uint32_t *residual;   // m places in v
    mdl_code eval;               // inner variables and residuals
    mdl_code jacobian;           // values of `jac` (calls nothing else; eval was called before)
    mdl_matrix jac;             // m x m: d residual / d unknown, through the inner variables
    uint32_t linear;            // 1: residuals are affine in the unknowns: one Newton step is exact
    uint32_t switched;          // 1: there are choices in it: under some conditions equations may follow from others
    uint32_t conditions;        // states among what the block determines (initial system): equations may follow from others
    const char *const *unknown_name;  // m full variable names
    const uint8_t *unknown_kind;      // m: MDL_NAME_*
    const char *const *equation;      // m texts "file:line:col: component.path: a = b" for messages
    const double *nominal;      // m scales of the unknowns
    // Equations of constraints that were differentiated, or their derivatives, in the block: only where there are any may
    // equations follow from others; then the inner variables, whose values count for what the shortest solution is.
    uint32_t constraints;
    uint32_t n_inner;
    const uint32_t *inner;      // places in v
    const double *inner_nominal;
    const char *const *inner_name;
    const uint8_t *inner_kind;  // MDL_NAME_*
    const char *const *inner_equation; // n_inner texts, of the equations that the inner variables are solved from
    // With constraints: places of the Real variables and parameters that the block reads and does not determine.
    const uint32_t *known;
    uint32_t n_known;
} mdl_block;

typedef struct mdl_step {
    mdl_code call;               // plain step (then block is NULL)
    const mdl_block *block;
    const char *text;            // what a plain step computes, for statistics; may be NULL
} mdl_step;

// A relation whose value is kept constant between events. `value` holds 0 or 1 while integrating.
typedef struct mdl_relation {
    uint32_t value;    // place in v of the value in force
    uint32_t next;     // place in v where `relations` writes the value at the current point
    uint32_t g;        // place in v of the root function (true side: g >= 0), written by `relations`
    uint32_t zero : 1; // value of the relation where its root function is zero: 1 for <= and >=
    uint32_t quiet : 1; // 1: only abs, min or max turn there, which is no event of the model: where nothing else changes no rows are written
    const char *text;  // "z1 - z0 >= 0" with component path, for messages
} mdl_relation;

// A relation between time and something that changes only at events: `instant` is the time at which it
// changes its value (written by `instants`); the runtime stops there exactly.
typedef struct mdl_time_relation {
    uint32_t value, next;
    uint32_t instant;
    const char *text;
} mdl_time_relation;

// sample(start, interval): value is 1 only during the event iteration at start + k*interval.
typedef struct mdl_sample {
    uint32_t value;
    uint32_t start, interval; // places in v
    const char *text;         // "sample(0, 0.1) (file:line)", for statistics; may be NULL
} mdl_sample;

// A set-valued law p in a*Sgn(x) (dry friction). mode: +1 or -1: slipping, p = mode*a; 0: sticking, x is
// held at exactly zero and p is what equilibrium asks for, while |p| <= a.
enum { MDL_SLIDES = 10 };
#define MDL_NEAR 1e-9

typedef struct mdl_sgn {
    uint32_t mode;     // place in v of the mode in force
    uint32_t x, p, a;  // places in v. p and a are valid after `dynamics`
    int32_t state;     // index of the state that is x (>= 0): sticking sets it to 0.0 and its derivative
                       // stays 0.0; or -1: x is algebraic and the model's equations hold it at zero
    uint32_t dx;       // place in v of what sticking holds at zero: der(x), or x itself when level is 0
    const char *text;
    uint32_t level;    // 0: sticking holds x; 1: it holds der(x)
    // A play: p is the force of a spring in series. Sticking holds x (level 0) while |p| < a; slipping holds der(p)
    // at mode*der(a).
    uint32_t play;
    uint32_t dependent; // 1: x is a combination of other laws' x, so that all of them cannot stick by themselves
    uint32_t dp, da;   // places in v of der(p) and der(a) (0: a is constant)
    // A unilateral constraint instead: x >= 0, p >= 0, x*p = 0. Mode 0: closed, der^level(x) is held at zero; mode 1: open,
    // p = 0; any other mode gives p = (mode - 1)*(1 + a). a is the coefficient of restitution, state is -1. The level is
    // that at which forces act: 2 for gaps between bodies, 1 for velocities, 0 where x is algebraic.
    uint32_t unilateral;
    // A component of a friction force in a plane or in space: 1 for the first of them, which follow each other, then 2, 3; and
    // how many there are. The mode is 0 when it sticks, MDL_SLIDES plus a unit vector's component when it slides with p =
    // a*x/|x|; any other mode gives p = mode*a. The unit vector continues the direction of x below MDL_NEAR + v[near].
    uint32_t disk, of, near; // near: of the first
    uint32_t place[3];  // of x, der(x), der(der(x)), up to the level; their values are sign times what is there
    int32_t sign[3], p_sign;
    uint32_t root;     // p is a root with infinite slope at x = 0 (mdl_root)
} mdl_sgn;

// The sign of x times the root of |x|; 0 below zero; not defined below zero.
typedef enum mdl_root { MDL_ROOT_NONE, MDL_ROOT_ODD, MDL_ROOT_ABOVE, MDL_ROOT_STRICT } mdl_root;

// An invariant c(t, y) = 0 among the states, which `dynamics` evaluate and all derivatives dx keep. The runtime brings the
// states back to it after each step, so that it holds for ever; which states it determines needs no choice. A constraint of
// depth d is one for states of depth d, which have d derivatives in the model: a relation of velocities, be it the
// derivative of one of positions or not, determines velocities.
typedef struct mdl_constraint {
    uint32_t value;    // place in v of c
    uint32_t level;    // 0: an equation of the model, 1: its derivative, ...
    uint32_t depth;
    const char *text;  // "file:line:col: component.path: equation"
    const char *component; // path of the joint, or of the part, that it belongs to; NULL: of no component
    const char *place; // "file:line:col" of that component's declaration; NULL when component is
    uint32_t unit;     // mdl_unit of its value
    uint32_t axis;     // 1, 2, 3: along or about x, y, z; 0: not told
} mdl_constraint;

// Of a constraint's residual; MDL_UNIT_RATIO: without a unit, but of a joint.
typedef enum mdl_unit { MDL_UNIT_OTHER, MDL_UNIT_METRE, MDL_UNIT_RADIAN, MDL_UNIT_RATIO } mdl_unit;

// Two frames that close a loop of a mechanism.
typedef struct mdl_loop_end {
    uint32_t same;     // place in v, written by `loop_ends`: positive where their axes are the same, negative where they are turned half round
    const char *names; // "`a.frame_b` and `b.frame_b`"
    const char *place; // "file:line:col"
} mdl_loop_end;

// A parameter of a body: a mass, or a moment of inertia.
typedef struct mdl_inertia {
    uint32_t place; // in v
    const char *name;
} mdl_inertia;

// An initial condition x = start that may move: x = start + v[move]; what is fixed only with `run --assemble`.
typedef struct mdl_move {
    uint32_t state;    // index of the state that x is, or minus which
    int32_t sign;
    uint32_t move;     // place in v, a parameter
} mdl_move;

enum { MDL_START_WRITTEN = 1, MDL_START_FIXED = 2 }; // what the model says about a state's start value

// A variable that keeps its value between events: `pre` is the value before the current event iteration.
// With next = 0 the variable is a continuous one and `pre` is its left limit: its value when the event began.
typedef struct mdl_discrete {
    uint32_t value;    // place in v of the value in force
    uint32_t next;     // place in v where `discrete` writes the new value (may equal value);
                       // 0: a continuous variable, whose pre() is its value when the event begins
    uint32_t pre;      // place in v of pre(value), or 0 when not used
    const char *name;  // full name, for messages; may be NULL
    uint32_t whole;    // 1: an Integer; 2: what holds a Real that is rounded, floor(x)
    const char *where; // "file:line:col: component.path: equation" that gives its value; may be NULL
} mdl_discrete;

// reinit(x, e): `discrete` writes 1 to `active` when it fires and e to `next`.
typedef struct mdl_reinit {
    uint32_t state;    // index of the state
    uint32_t active, next;
    uint32_t der;      // place in v of another variable that is the state's derivative, 0: none
    int32_t der_sign;  // it is the derivative times this sign
} mdl_reinit;

// A relation whose change triggers a reinit. When its changes accumulate (a bouncing ball) the motion goes on
// at rest: g = 0 and dg/dt = 0 hold, by a reaction in the direction in which the reinits change the states.
typedef struct mdl_rest {
    uint32_t relation;       // index into `relation`
    uint32_t n_reinits;
    const uint32_t *reinit;  // indices into `reinit`: those that it triggers
    uint32_t g;              // first of three places: g, dg/dt and the second derivative of g for the derivatives
                             // that `dynamics` left (dx); written by `rests`
    const char *why;         // not NULL: it cannot come to rest, because of this
} mdl_rest;

// An equation g = 0 that was differentiated to 0 = dg/dt + k and may jump at events, or a state that reinit() sets, with k in what
// determines its derivative. All places in v.
typedef struct mdl_jump {
    uint32_t rest;     // g, written by `jumps`
    uint32_t impulse;  // k, 0 but for what runtime/event/jump.c asks
    uint32_t offset;   // the equation is g = offset; 0 likewise
    uint32_t state;    // index + 1 of the state, which has no rest, no offset; 0: an equation
    uint32_t literal;  // 1: the equation may be behind the event before the relations in `rest` are
    uint32_t again;    // 1: the derivative was differentiated as well, and no impulse of finite size makes up for a jump
    const char *text;  // the equation, or the reinit
} mdl_jump;

// The result of a call of a function that branches by itself, in an equation of `jump`. Places in v, written by `leaps`.
typedef struct mdl_leap {
    uint32_t value, rate; // the result; its time derivative by the statements of the function
    uint32_t jump;        // index of the equation
    const char *function;
} mdl_leap;

typedef struct mdl_assert {
    uint32_t ok;       // place in v: 0 when violated (written by `asserts`)
    uint32_t level;    // 0 error, 1 warning, 2 terminate() (fires when the value is 0)
    const char *message; // a template (runtime/model/template.h)
    const char *where; // "file:line:col: component.path"
    uint32_t edge;     // 1: depends on pre(), as those inside `when` do, or is about the start: holds or fails while an event is processed
    uint32_t told;     // first place of the values in the message (written by `told`)
} mdl_assert;

// A limit as it is written: attribute min or max of a variable or of all elements of an array.
typedef struct mdl_limit_group {
    uint8_t most;      // 1: max, 0: min
    uint32_t rank;     // of the array, 0 for a variable
    const uint32_t *size; // of the array: `rank` numbers
    const char *name;  // of the variable or array, without subscripts
    const char *where; // "file:line:col" of the limit
} mdl_limit_group;

// A limit of one variable: it may not be beyond v[limit]. What is written of several names for one number is here once.
typedef struct mdl_limit {
    uint32_t value;    // place in v of the variable, of which this is the negative when `negative`
    uint32_t limit;    // place in v, valid after `parameters`
    uint32_t group;
    uint32_t negative : 1;
    uint32_t exact : 1;    // it changes at events only, so there is no error of the integration in it
    uint32_t element : 30; // which of the array, in row-major order
    double nominal;    // of the variable
} mdl_limit;

// value = sign * v[input] as it was v[time] ago. The runtime keeps the history and sets `value` before dynamics. A delay that may vanish
// has a weight: what was v[time] ago is then value + weight * sign * v[input], as far as it lies within the step that is being made.
typedef struct mdl_delay {
    uint32_t value, input;  // places in v; input is valid after `dynamics`
    uint32_t time, most;    // places in v of the delay time and of the longest one
    int32_t sign, time_sign; // +1 or -1 (aliases): of input and of time
    uint32_t moving;        // 1: the delay time is computed by `dynamics`
    uint32_t weight;        // place in v, or 0: the delay never vanishes
    const char *where;      // "file:line:col"
} mdl_delay;

// A profile z(y), 0 <= y <= 1, that moves with der(x): the input of end 0 enters at y = 0 when x grows, that of end 1 at y = 1 when x
// falls. The runtime keeps the profile and sets per end, before dynamics, the value that leaves there, and the value behind the next
// jump with the x at which it arrives there; relations of x and `arrives` are among `relations`.
typedef struct mdl_transport_end {
    uint32_t in;            // place in v, valid after `dynamics`; what enters is sign times it
    int32_t sign;
    uint32_t leaves, behind, arrives; // places in v
} mdl_transport_end;

typedef struct mdl_transport {
    mdl_transport_end end[2];
    uint32_t x;             // place in v, valid after `dynamics`
    int32_t x_sign;
    uint32_t n, points;     // n points of the initial profile, points = 2n
    const uint32_t *point;  // places in v, valid after `parameters`: y, z, y, z, ...
    const char *where;      // "file:line:col"
} mdl_transport;

// Unknowns first, first + 1, ...
typedef struct mdl_range {
    uint32_t first, count;
} mdl_range;

// A fractional derivative of order v[order], which must be in (below, below + 1], of something whose derivative of order below + 1 is
// y'_state. The model has it as
//   v[scale]*y_state + v[shift] + v[tail]*y'_state   with   y'_state = d(sign*v[input])/dt.
// The runtime keeps a sum of exponentials h and sets shift to h - v[scale]*y_state, scale to what makes the partial
// derivative by y_state that of the discretised sum, and tail, a parameter, once.
typedef struct mdl_fractional {
    uint32_t state;         // index of the state
    uint32_t input;         // place in v, valid after `dynamics`
    uint32_t scale, shift, tail; // places in v
    uint32_t order;         // place in v, valid after `parameters`
    int32_t sign;           // +1 or -1
    int32_t below;
    int32_t integrals;      // that are taken of it: the order in the model's text is so much smaller
    const char *where;      // "file:line:col"
} mdl_fractional;

typedef enum mdl_type { MDL_REAL, MDL_INTEGER, MDL_BOOLEAN, MDL_ENUM } mdl_type;

// What a declaration says about its variables. Texts are NULL when not given.
typedef struct mdl_declaration {
    const char *unit, *display_unit, *comment;
    uint32_t n_literals;
    const char *const *literal; // of an enumeration: its names from 1 on
} mdl_declaration;

typedef enum mdl_on_request { MDL_OUTPUT_ALWAYS, MDL_OUTPUT_PARAMETER, MDL_OUTPUT_DERIVATIVE } mdl_on_request;

// A column of the result: sign * v[place].
typedef struct mdl_output {
    const char *name;
    uint32_t place;
    int32_t sign;      // +1 or -1 (aliases)
    uint16_t type;     // mdl_type
    uint16_t on_request; // mdl_on_request: a column only when it is asked for
    uint32_t declaration;
} mdl_output;

// --- the bond graph, for the audit of power and energy
typedef enum mdl_role {
    MDL_ROLE_JUNCTION,   // its powers balance
    MDL_ROLE_IDEAL,      // a constraint that does no work
    MDL_ROLE_KINETIC, MDL_ROLE_POTENTIAL, MDL_ROLE_MEMORY, // stores
    MDL_ROLE_RESISTOR,   // dissipates
    MDL_ROLE_SOURCE,
    MDL_ROLE_TRANSFORMER, // hands power on
    MDL_ROLE_MIXED       // several of these in one component
} mdl_role;

typedef struct mdl_node {
    const char *name;       // component path, or "junction J3"
    const char *class_name; // "1-junction", "0-junction" of a junction
    const char *where;      // "file:line:col", or ""
    uint32_t role;          // mdl_role
    // 1: its kinetic energy is half the sum of flow*momentum over its bonds.
    uint32_t inertia;
} mdl_node;

// A quantity: sign * v[place]; place 0: it is zero.
typedef struct mdl_term {
    uint32_t place;
    int32_t sign;
} mdl_term;

// One scalar bond: flow*effort is power into the component. Bodies: momentum and weight (the effort that would hold the
// body at rest) belong to the effort.
typedef struct mdl_bond {
    uint32_t component, junction; // indices into `node`
    mdl_term flow, effort, momentum, weight;
} mdl_bond;

// One operation of a function of time alone; its result is the register of its own number. Operands are registers before it.
typedef enum mdl_timely_op {
    MDL_TIMELY_CONST,            // value
    MDL_TIMELY_PLACE,            // v[a], which changes only at events
    MDL_TIMELY_TIME,
    MDL_TIMELY_STATE,            // of courses and of terms that drift: y[a]; of forecasts, between events: y[a] - dx[a]*time
    MDL_TIMELY_ADD, MDL_TIMELY_MUL, MDL_TIMELY_NEG, MDL_TIMELY_DIV, MDL_TIMELY_POW,
    MDL_TIMELY_LT, MDL_TIMELY_LE, MDL_TIMELY_GT, MDL_TIMELY_GE, MDL_TIMELY_EQ, MDL_TIMELY_NE, MDL_TIMELY_AND, MDL_TIMELY_OR, MDL_TIMELY_NOT,
    MDL_TIMELY_IF,               // a: condition; b, c
    MDL_TIMELY_ABS, MDL_TIMELY_SIGN, MDL_TIMELY_MIN, MDL_TIMELY_MAX, MDL_TIMELY_SQRT, MDL_TIMELY_EXP, MDL_TIMELY_LOG,
    MDL_TIMELY_SIN, MDL_TIMELY_COS, MDL_TIMELY_TAN, MDL_TIMELY_ASIN, MDL_TIMELY_ACOS, MDL_TIMELY_ATAN,
    MDL_TIMELY_SINH, MDL_TIMELY_COSH, MDL_TIMELY_TANH, MDL_TIMELY_FLOOR, MDL_TIMELY_CEIL, MDL_TIMELY_TRUNC
} mdl_timely_op;

typedef struct mdl_timely {
    uint16_t op;               // mdl_timely_op
    uint16_t moving;           // 1: depends on time
    uint32_t a, b, c;
    double value;
} mdl_timely;

// A function of time alone between events: `count` operations from `first` on, the last of which is its value. count 0: it is computed
// by what has no table of operations here, a function with an algorithm for instance.
enum { MDL_TIMELY_MOST = 2000 }; // operations
typedef struct mdl_forecast {
    uint32_t relation;         // index into `relation` whose root function it is; UINT32_MAX: a term of the equations of motion
    uint32_t first, count;
    uint32_t place;            // of a term without operations: where `glimpses` puts its value; 0: none
    const char *text;          // of a term: the variable that is computed from it
} mdl_forecast;

typedef struct mdl_audit {
    uint32_t n_nodes, n_bonds;
    const mdl_node *node;
    const mdl_bond *bond;
} mdl_audit;

// Directional derivatives. v[shift + p] is the derivative of v[p] in one direction, which the caller chooses by setting those
// of states, inputs, parameters or time (v[shift]). The tangent of a function is called after the function and computes
// the derivatives of what that one writes; of blocks it is that of `eval`, at given derivatives of their unknowns.
// What has no derivative that is known, but may move with a parameter for all that. It does where v[shift + place] is not 0 after `held`, whose
// tangents are called behind those of the initial system; place 0: with any parameter.
typedef enum mdl_held_kind {
    MDL_HELD_VALUE,  // the equations were made for its value; text: where they stand
    MDL_HELD_OBJECT, // it goes into an external object; text: its name
    MDL_HELD_LEFT_OUT, // a function that takes it declares a derivative without it (noDerivative)
    MDL_HELD_STEPS   // a function gives what depends on it by comparisons alone; text: the function
} mdl_held_kind;

typedef struct mdl_held {
    uint32_t place, kind;
    const char *text;
} mdl_held;

typedef struct mdl_tangents {
    uint32_t shift;
    uint32_t n_init, n_dynamics;   // as in the model
    uint32_t incomplete;           // 1: a function has no tangent
    uint32_t no_discretes;         // 1: `discretes` has none
    uint32_t blind;                // 1: directions of states and inputs are not followed everywhere: through results of functions
                                   // by comparisons alone
    mdl_code parameters, outputs, relations, instants, discretes, rests, held;
    const mdl_code *init, *dynamics; // per step
    uint32_t n_held;
    const mdl_held *held_value;
} mdl_tangents;

// Tangents of dynamics and outputs in `width` directions at once: each gets v, and then an array, at a multiple of 64 bytes, in which the tangent of place p in
// direction k stands at p*width + k. They are those of one direction after the other to the bit.
typedef struct mdl_directions {
    uint32_t width;
    mdl_fn *const *dynamics; // per step; NULL: nothing is computed
    mdl_fn *outputs;
} mdl_directions;

// What a step calls, for `width` runs side by side: place p of run l stands at v[p*width + l], and v at a multiple of 64 bytes. Values are those
// of the functions for one run but for functions of libm, which may differ in the last digits.
typedef struct mdl_lane_step {
    mdl_code call;             // or the block's eval
    mdl_code jacobian;         // of a block
} mdl_lane_step;

typedef struct mdl_lanes {
    uint32_t width, n_steps;   // n_steps: n_dynamics
    const mdl_lane_step *step;
    mdl_code outputs, asserts;
    mdl_code jacobian;         // of the model (mdl_model.jacobian); none where that is not made for several runs
} mdl_lanes;

typedef enum mdl_settable_kind { MDL_SETTABLE_PARAMETER, MDL_SETTABLE_START, MDL_SETTABLE_INPUT } mdl_settable_kind;

// What may be set before `parameters` runs: a parameter, the start value of a variable, or an input of the model, which
// keeps its start value until somebody changes it.
typedef struct mdl_settable {
    const char *name;
    uint32_t value;    // place in v where a new value goes
    uint32_t given;    // place in v that then becomes 1, because `parameters` would compute it otherwise; 0: none
    uint32_t result;   // place in v of the value in force after `parameters`
    uint32_t low, high; // places in v of the smallest and largest value allowed; 0: no limit
    uint32_t type;     // mdl_type
    uint32_t kind;     // mdl_settable_kind
    uint32_t declaration;
    const char *why;   // not NULL: it cannot be set any more, because of this
} mdl_settable;

typedef struct mdl_model mdl_model;
struct mdl_model {
    uint32_t version, size; // MDL_MODEL_VERSION, sizeof(mdl_model)
    const char *name;
    uint32_t equations;     // of the flat model, for statistics
    uint32_t nv;            // length of v
    const double *v0;       // nv: initial image (literal parameters and start values); others 0
    uint32_t n, nx;
    uint32_t y, yp, r, dx;  // first places; dx has nx entries
    const uint8_t *implicit;   // nx: 1 when row i is implicit
    uint32_t nominal;       // first of n places: nominal values (1 unless given), valid after `parameters`
    const char *const *state_name; // n names of the unknowns
    const uint8_t *state_kind;     // n: MDL_NAME_*

    mdl_code parameters;     // dependent parameters, start values, nominals; once, after overrides
    const char *held_by;    // constraints of a model with bodies in which nothing depends on time; else NULL
    uint32_t n_inertias;    // masses and moments of inertia of bodies that are or may become 0
    const mdl_inertia *inertia;
    uint32_t n_moves;       // where there are constraints
    const mdl_move *move;
    const uint8_t *state_start; // nx: MDL_START_...; NULL without constraints
    const char *const *state_place; // nx: where a start value is fixed, "model.mdl:3:8", else ""; NULL without constraints
    uint32_t n_init;
    uint32_t starts_states; // 1: start values of states are all the conditions of the start
    const mdl_step *init;   // the initial system, causally ordered; solves for states and everything else
    // Homotopy for hard starts: place of lambda in v (0 when the model has no homotopy()); 1 normally.
    uint32_t lambda;
    // Of ideal diodes that depend on each other: place in v of what they leak (0: there are none); 0 normally (friction.c).
    uint32_t leak;

    uint32_t n_dynamics;
    const mdl_step *dynamics;
    mdl_code outputs;        // what only results, events or assertions need; after dynamics
    // Explicit rows: d(-dx_i)/dy; implicit and loop rows: dF/dy. Behind the n unknowns there may be intermediate values z that
    // are unknowns of linear systems only: row n + k is d(z_k - what it is computed from), the 1 of z_k included. Eliminating
    // them gives dF/dy. There are none in models with constraints.
    mdl_matrix jac_y;       // (n + n_kept) x (n + n_kept)
    mdl_matrix jac_yp;      // (n + n_kept) x n: only entries other than the 1 of explicit rows; may be empty
    uint32_t n_kept;
    const char *const *kept_name;
    mdl_code jacobian;       // values of jac_y and jac_yp; dynamics were called before
    uint32_t affine;         // 1: dynamics are affine in y and y', with coefficients that change at events only
    uint32_t branches;       // 1: dynamics may jump or bend where no event is (noEvent(), functions with conditions)

    uint32_t n_relations, n_time_relations, n_samples, n_sgns, n_discretes, n_reinits, n_asserts;
    const mdl_relation *relation;
    const mdl_time_relation *time_relation;
    const mdl_sample *sample;
    const mdl_sgn *sgn;
    const mdl_discrete *discrete;
    const mdl_reinit *reinit;
    const mdl_assert *assertion;
    mdl_code relations;      // g and next of relations; next of time relations. After dynamics + outputs
    mdl_code instants;       // instants of time relations, sample start and interval
    mdl_code discretes;      // new values of discrete variables, reinit values. After dynamics + outputs
    mdl_code asserts;        // after dynamics + outputs
    mdl_code told;           // values in the messages of assertions; after dynamics + outputs
    uint32_t initial, terminal; // places in v of initial() and terminal(), 0 when unused
    uint32_t failure;           // first of MDL_FAILURE_PLACES places in v; 0: nothing is called that may fail
    uint32_t n_failures;
    const mdl_failure *failed;  // by their numbers from 0
    uint32_t n_texts;           // values of type String that are known; 0: the model has no Strings that change
    const char *const *text;    // by their numbers

    uint32_t n_outputs;
    const mdl_output *output;
    uint32_t n_settables;     // 0 also in a model that was compiled for values given to the compiler
    const mdl_settable *settable;
    uint32_t n_declarations;
    const mdl_declaration *declaration;
    double start, stop, interval, tolerance; // experiment annotation or defaults

    uint32_t n_constraints;   // 0: all states are free
    const mdl_constraint *constraint;
    mdl_matrix jac_c;         // n_constraints x n: dc/dy, valid after `jacobian`
    // Both without the rest of the model, from time and the states; NULL: they need `dynamics` and `jacobian`.
    mdl_code invariants, invariant_partials;
    const uint8_t *state_depth; // nx: number of derivatives of each state in the model; NULL without constraints

    uint32_t n_rests;
    const mdl_rest *rest;
    mdl_code rests;           // after dynamics
    mdl_code rest_partials;   // values of jac_rest; after `rests`
    mdl_matrix jac_rest;      // 2 n_rests x n: row 2k: dg/dy, row 2k+1: d(dg/dt)/dy

    uint32_t n_limits, n_limit_groups; // of variables
    const mdl_limit *limit;
    const mdl_limit_group *limit_group;

    uint32_t n_delays;
    const mdl_delay *delay;
    uint32_t n_transports;
    const mdl_transport *transport;
    uint32_t n_fractionals;
    const mdl_fractional *fractional;

    // Relations without the rest of the model: after time and the states of `condition_range` are set, `conditions`
    // computes all that `relations` reads (with the values of dynamics and outputs). NULL: it needs these.
    const mdl_range *condition_range;
    uint32_t n_condition_ranges;
    mdl_code conditions;
    // n_relations x nx: dg/dy, when all g are affine in y and their coefficients change only at events; otherwise
    // without rows. Values are written by `relation_partials`.
    mdl_matrix jac_relations;
    mdl_code relation_partials;
    uint32_t n_timely, n_forecasts; // functions of time alone, which are looked at ahead of the integration
    uint32_t n_courses;             // root functions of states and time: operations, in `timely`, that are bounded over each step;
    uint32_t n_lines;               // the last ones are affine: they are for steps that somebody else makes
    uint32_t n_drifts;              // terms of the motion that move with states and may come and go, in the same form
    const mdl_timely *timely;
    const mdl_forecast *forecast, *course, *drift;
    mdl_code glimpses;              // values of terms without operations at the time in v, from what changes at events only
    uint32_t n_jumps;
    const mdl_jump *jump;
    mdl_code jumps;           // after dynamics + outputs
    uint32_t n_leaps;
    const mdl_leap *leap;
    mdl_code leaps;           // likewise
    uint32_t n_loop_ends;
    const mdl_loop_end *loop_end;
    mdl_code loop_ends;       // after dynamics + outputs, at the start
    const mdl_audit *audit;   // NULL unless the model was compiled for it; its places are valid after `outputs`
    const mdl_tangents *tangents; // NULL unless the model was compiled for them
    const mdl_lanes *lanes;   // the same
};

#endif
