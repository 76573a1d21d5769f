// lower_inner.h: what the parts of pass `lower` share (layout.c, lift.c, partial_derivatives.c, program.c, parameters.c,
// known_parts.c, step_blocks.c, dynamics.c, dynamics_uses.c, events.c, conditions.c, rest_tables.c, results.c, audit_tables.c, directional_programs.c, lower.c).
//
// Purpose: from the causal forms (dynamics, discrete part, initialisation) to one program over the value
// array.
#ifndef MDLC_IR_LOWER_LOWER_INNER_H
#define MDLC_IR_LOWER_LOWER_INNER_H

#include "ir/dae/sys.h"
#include "ir/expr/expr_id.h"
#include "ir/lower/lower.h"
#include "ir/structure/causal.h"

// A relation of the dynamics whose value is held between events.
typedef struct Relation {
    Expr shape;              // the relation, a shape over `row`
    uint32_t row;            // places in Sys.places
    uint32_t value, next, g; // places; g: of the root function, or of the instant of a time relation
    bool told;               // somewhere it is more than a kink that makes no event
    bool of_time;            // time <op> instant, with `instant` a shape over the same row
    Expr instant;
    const char *text;
} Relation;

typedef struct Sample {
    Expr start, interval;    // shapes over `row`
    uint32_t row, value, start_place, interval_place;
    const char *text;
} Sample;

// A change of the relation (index into Lowering.relations) may trigger the reinit (index into the model's table).
typedef struct Trigger {
    uint32_t relation, reinit;
} Trigger;

// Instructions that are not in the system yet: they are sorted first.
typedef VEC(Instr) InstrVec;
struct Settables;

// A map from places (or other small numbers) to numbers: an array over all of them that forgets in time proportional to what
// was put.
typedef struct PlaceMap {
    U32Vec number;           // per place: number + 1, 0 when absent
    U32Vec used;
} PlaceMap;

static inline bool
place_get(const PlaceMap *map, uint32_t place, uint32_t *number)
{
    if (place >= map->number.n || !map->number.at[place])
        return false;
    *number = map->number.at[place] - 1;
    return true;
}

static inline void
place_put(PlaceMap *map, uint32_t place, uint32_t number)
{
    if (place >= map->number.n)
        vec_grow(&map->number, place + 1 - map->number.n);
    if (!map->number.at[place])
        vec_push(&map->used, place);
    map->number.at[place] = number + 1;
}

// Adds 1 to the number of a place, which is 0 when absent.
static inline void
place_count(PlaceMap *map, uint32_t place)
{
    if (place >= map->number.n)
        vec_grow(&map->number, place + 1 - map->number.n);
    if (map->number.at[place]++)
        return;
    map->number.at[place] = 2;
    vec_push(&map->used, place);
}

// Makes room for places below `nv`, of which `used` may be put.
static inline void
place_reserve(PlaceMap *map, uint32_t nv, uint32_t used)
{
    if (map->number.n < nv)
        vec_grow(&map->number, nv - map->number.n);
    vec_reserve(&map->used, used);
}

static inline void
place_clear(PlaceMap *map)
{
    for (uint32_t i = 0; i < map->used.n; i++)
        map->number.at[map->used.at[i]] = 0;
    vec_clear(&map->used);
}

static inline void
place_free(PlaceMap *map)
{
    vec_free(&map->number);
    vec_free(&map->used);
}

// A limit (attribute min or max) of variables that are no parameters, and the place in v of its value.
typedef struct RangeLimit {
    uint32_t bind, place;
} RangeLimit;

typedef struct Lowering {
    const LoweringInput *in;
    Dae *dae;
    Exprs *exprs;
    Diags *diags;
    Sys *sys;
    Arena *arena;            // = sys->arena
    uint32_t nv;             // places given out so far
    U32Vec place;            // per variable (representatives): place in v, or NONE
    U32Vec var_at;           // read through variable_at
    F64Vec image;            // per place: initial value
    VEC(RangeLimit) ranges;
    Map limit_numbers;       // places of limits that are numbers, by their bits, until the table of limits is made
    Map wrong_values;        // components of the user with a parameter that was reported
    uint32_t y, yp, r, dx, n, nx;
    U32Vec state;            // states in order: variables
    U8Vec implicit;          // per state
    F64Vec nominal_of;       // per representative: its nominal value when one is given, else 0
    U32Vec copied;           // states whose derivative is an alias of another variable
    U32Vec tear_row;         // per tear of the dynamics' loops: row of its residual
    uint32_t initial, terminal, lambda;
    uint32_t invariant;      // first of the places of invariants
    bool uses_initial, uses_terminal, uses_lambda;
    VEC(Relation) relations;
    Map relation_of;
    VEC(Sample) samples;
    VEC(Trigger) triggers;   // by reinit
    PlaceMap column_of, row_of; // see accumulate
    PlaceMap scratch, more_scratch;
    U32Vec declaration_of;   // per group: its declaration in the model + 1, 0: none yet
    VEC(mdl_declaration) declarations;
    U8Vec late;              // per variable: a parameter that is known only when the model runs; empty: none
    struct Settables *settables; // NULL: values are given to the compiler only
    struct LiftMemo *lift;
    struct JacobianMemo *jacobian;
} Lowering;

// --- layout.c: places in v
// The variable in a place, or NONE.
static inline Var
variable_at(const Lowering *low, uint32_t place)
{
    return place < low->var_at.n ? low->var_at.at[place] : NONE;
}
uint32_t new_places(Lowering *low, uint32_t count);
void lay_out(Lowering *low);
// The place of a representative that has none yet: one made while lowering gets its place when it is first used.
uint32_t place_late(Lowering *low, Var at);
// Place of a variable; sign -1 when it is the negative of what stands there.
static inline uint32_t
place_of(Lowering *low, Var var, int *sign)
{
    bool negative;
    Var at = dae_alias(low->dae, var, &negative);
    *sign = negative ? -1 : 1;
    return at < low->place.n && low->place.at[at] != NONE ? low->place.at[at] : place_late(low, at);
}
const char *place_text(Lowering *low, uint32_t place);
// MDL_NAME_* of what dae_name() writes.
uint8_t name_kind(const Lowering *low, Var var);
// Where a span begins, "path:line:column"; `otherwise` when nothing was written there.
const char *lower_place(Lowering *low, Span span, const char *otherwise);
// "path:line:column: component: left = right".
const char *equation_text(Lowering *low, uint32_t equation);

// --- lift.c: expressions of the model to instructions' shapes
typedef enum LiftMode {
    LIFT_HELD,   // relations become held values (dynamics, discrete part, outputs, asserts)
    LIFT_LIVE,   // relations are computed where they stand (initialisation, root functions)
    LIFT_SEEN,   // held, but kinks (luz, min, max, abs) are computed where they stand: values that nothing integrates over
    LIFT_LOOP,   // held, but abs is computed where it stands, and its relation still watched: equations that are iterated
} LiftMode;
// Appends v[dest] = shape(row of variables) to `code`, for rows that name each representative once (those
// of causal forms).
void emit(Lowering *low, InstrVec *code, LiftMode mode, Expr shape, uint32_t row, Span span, uint32_t dest);
// The same for any variables (aliases are resolved); sign -1 stores the negative.
void emit_vars(Lowering *low, InstrVec *code, LiftMode mode, Expr shape, const Var *vars, Span span, int sign,
               uint32_t dest);
// An instruction over places.
void emit_places(Lowering *low, InstrVec *code, Expr shape, const uint32_t *places, uint32_t dest);
// What it gives is computed when the model runs, or may be.
bool bind_is_computed(const Lowering *low, const Bind *bind);
void lift_memo_free(Lowering *low);

// --- partial_derivatives.c: forward accumulation of partial derivatives
typedef struct Entry {       // one partial derivative
    double value;            // when it is constant
    uint32_t row, column;
    uint32_t place;          // NONE: constant
} Entry;
typedef VEC(Entry) EntryVec;
// Differentiates `code` (n instructions, in order) with respect to the places in low->column_of. For every
// instruction whose destination is in low->row_of entries are appended. Both maps are cleared. Derivative
// instructions
// go to `out`. Everything is a derivative through the instructions of `code` only.
// `kept`, if not NULL, receives intermediate values that are columns themselves, each with a row of its own: value minus
// what it is computed from. Its own partial derivative of 1 is among the entries.
typedef struct Kept {
    uint32_t row, column;    // of the first of them
    U32Vec places;
} Kept;
void accumulate(Lowering *low, const Instr *code, uint32_t n, InstrVec *out, EntryVec *entries, Kept *kept);
// Lays entries out as compressed columns; negative_rows (per row) are stored with the opposite sign. Appends
// the instructions that store them to `code`.
mdl_matrix make_matrix(Lowering *low, const EntryVec *entries, uint32_t rows, uint32_t columns,
                       const uint8_t *negative_rows, InstrVec *code);
void jacobian_memo_free(Lowering *low);

// --- program.c: instructions to functions
// Adds the instructions as one function; sorted by (dependency level, shape, order) when `sort`. Fixes `at`
// up.
void add_function(Lowering *low, const char *name, InstrVec *code, bool sort, mdl_code *at);
void sort_code(Lowering *low, Instr *code, uint32_t n);

// --- known_parts.c: parts of a loop that it takes as they are
typedef struct KnownParts KnownParts;
KnownParts *known_parts_create(Lowering *low);
void known_parts_free(KnownParts **known);
// Whether the dynamics are small enough for their steps to share such parts.
bool shares_parts(const InstrVec *dynamics);
// Looks at the instructions of another step, before any is changed.
void known_parts_count(KnownParts *known, Instr *code, uint32_t n);
// Elementary functions that several steps need become instructions of the step, where it is the first, or are those of one before. Steps in their order.
void share_known_parts(KnownParts *known, InstrVec *code);
// Moves elementary functions of what the block does not compute from its functions to `before`. Clobbers low->scratch.
void take_known_parts(KnownParts *known, const mdl_block *block, InstrVec *code, InstrVec *derivatives, InstrVec *before);

// --- step_blocks.c: steps of a program
typedef VEC(mdl_step) StepVec;
// A loop as a block: `code` receives its inner assignments and residuals, which are already in causal order. `before` receives instructions whose values the block
// reads, unless it is NULL.
mdl_block *step_block(Lowering *low, const Causal *causal, const Loop *loop, const uint32_t *residual_places, const char *name,
                      LiftMode mode, InstrVec *code, KnownParts *known, InstrVec *before);
// The code as a step, if there is any; `funcs` has the function of each step, or NONE. Clears the code.
void step_code(Lowering *low, const char *name, InstrVec *code, bool sort, StepVec *steps, U32Vec *funcs);
mdl_step *steps_finish(Lowering *low, const StepVec *steps, const U32Vec *funcs);
void make_init(Lowering *low);

// --- dynamics_uses.c
// Marks backwards the instructions that the derivatives of states, the loops and the relations need.
void find_needed(Lowering *low, const InstrVec *code, const U8Vec *in_loop, U8Vec *needed);
// Per assignment of the dynamics whether it is only looked at: nothing but such assignments reads what it gives. Its kinks
// need no events, which would only cut the integrator's steps, or end a run when the arguments differ by noise. Empty: there are no kinks.
void find_seen(const Lowering *low, U8Vec *seen);

// --- parameters.c, dynamics.c, events.c, results.c
void make_parameters(Lowering *low);
// The value of shape(row) with the parameters and start values known while compiling.
double parameter_value(Lowering *low, Expr shape, uint32_t row);
void make_dynamics(Lowering *low);
void make_events(Lowering *low);
void make_outputs(Lowering *low);
void make_audit(Lowering *low); // audit_tables.c
// ranges.c: limits of variables, given while attributes are lowered; then, when all programs are there, the table of them.
void range_keep(Lowering *low, uint32_t index, InstrVec *code); // a bind of the model
void make_ranges(Lowering *low);
void make_tangents(Lowering *low); // directional_programs.c: when everything else is there
mdl_type result_type(const Lowering *low, Var var);
// Index of what is known about the variable's declaration among the model's.
uint32_t declaration_of(Lowering *low, Var var);
// closing.c: the joint, direction and unit of an invariant, for messages; start values that may
// move, and what holds the mechanism.
typedef struct Closings Closings; // what is looked up for each of many invariants
Closings *closings_create(const Lowering *low);
void closings_free(Closings **closings);
void closing_words(Lowering *low, const Closings *closings, uint32_t equation, mdl_constraint *out);
void make_closing(Lowering *low);
// Whether axes that close a loop are the same, for the start: reads what the dynamics and the results give.
void make_loop_ends(Lowering *low);
// Of a relation: >= 0 on its true side.
Expr root_function(Lowering *low, Expr relation);

// --- conditions.c: the part of the dynamics that relations read, after make_events
void make_conditions(Lowering *low, const InstrVec *code, const U8Vec *in_loop);
// And the part that invariants and their partial derivatives (jac_c) read. `code`: all that the integrator sees.
void make_invariants(Lowering *low, const InstrVec *code, const InstrVec *derivatives);
// --- forecast.c: functions of time alone, after make_events. needed: what the equations of motion read
void make_forecasts(Lowering *low, const InstrVec *code, const U8Vec *needed);
// --- branches.c: of all of the dynamics that the integrator sees
bool dynamics_branch(Lowering *low, const InstrVec *code);
// --- settable_names.c: parameters and start values that can be set in the compiled model
void settables_begin(Lowering *low);
// The bind's value goes to v[dest], times `sign`, unless another one is given: appends what does that. A bind may have
// several destinations.
void settable_bind(Lowering *low, const Bind *bind, double value, int sign, uint32_t dest, InstrVec *code);
// The bind is a limit of a parameter.
void settable_limit(Lowering *low, const Bind *bind, InstrVec *code);
// What no bind says anything about.
void settables_rest(Lowering *low);
// When all instructions are there: fills the model's table.
void settables_end(Lowering *low);

// --- rest_tables.c: derivatives of the relations that trigger a reinit
// `when[i]` is the condition's place of reinit i; `code` is that of the discrete part.
void find_triggers(Lowering *low, const InstrVec *code, const U32Vec *when);
// From all instructions of the dynamics in order; in_loop and needed are per instruction.
void make_rests(Lowering *low, const InstrVec *code, const U8Vec *in_loop, const U8Vec *needed);

#endif
