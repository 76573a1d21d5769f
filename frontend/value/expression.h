// expression.h: from syntax trees of expressions to shapes.
//
// The class side (elaborate.c and friends) says what names mean; this side knows types, array rules,
// operators, built-in functions, functions with algorithms (inlined by symbolic execution) and constant
// evaluation. An expression is elaborated in an environment whose `slots` number the variables it uses by
// first occurrence, so that its elements are shapes at once.
#ifndef MDLC_FRONTEND_VALUE_EXPRESSION_H
#define MDLC_FRONTEND_VALUE_EXPRESSION_H

#include "frontend/text/ast.h"
#include "ir/dae/dae.h"

enum {
    MAX_RANK = 6,
    // a dimension declared `:`; only in the types of functions' variables and in expression_coerce
    SIZE_UNKNOWN = UINT32_MAX,
    // what the slot of an integral's variable stands for; it has vanished when the integral has its value
    BOUND_VARIABLE = NONE
};

typedef struct RecordType RecordType;

// A record has no type of its own in the flat model: this base stands for it in expressions only.
#define TYPE_RECORD ((VarType)(TYPE_CLOCK + 1))
// A function that is an argument (function_argument.c).
#define TYPE_FUNCTION ((VarType)(TYPE_CLOCK + 2))

typedef struct Type {
    VarType base;
    uint8_t rank;
    uint32_t dims[MAX_RANK];
    Sym enum_class;          // TYPE_ENUM: full name
    const Sym *literals;     // TYPE_ENUM: names
    uint32_t n_literals;
    uint32_t object;         // class of external objects: TYPE_ENUM without literals, whose values are handles; 0: none
    const RecordType *record; // TYPE_RECORD
} Type;

typedef struct RecordField {
    Sym name;
    Type type;               // with its sizes
    uint32_t first, count;   // its scalars among those of the record
    bool fixed;              // declared as a parameter or constant
} RecordField;

struct RecordType {
    Sym name;                // full name of the class
    uint32_t class_id;       // for the class side
    uint32_t n, size;        // fields; scalars
    const RecordField *fields;
    bool open;               // sizes of fields are those of the value that it has; here they are 0
    bool partial;            // a component that is no record: its fields are the variables that an algorithm section assigns
};

typedef struct Value {
    Type type;
    uint32_t count;          // product of dims, 1 for a scalar; of records: of all their scalars
    Expr *elements;          // row-major, the scalars of one record one after the other; in the environment's arena; Booleans 0/1, enumerations from 1, Strings numbers of texts (ir/expr/text_values.h)
    const struct Closure *closure; // TYPE_FUNCTION, which has no elements; NULL for others
    const Expr *sizes;       // of dimensions whose sizes are known at run time only: type.dims is the room that they have; 0 for the others; NULL: all are known
    bool unseen;             // {e for i in 1:0}: empty, and nobody knows what e is; it fits wherever its own dimensions do
} Value;

// The type with all its record types in this arena.
Type type_lasting(Arena *arena, const Type *type);
bool type_is_sized(const Type *type); // no dimension is SIZE_UNKNOWN

// What a component reference means (subscripts applied): its scalars in row-major order.
typedef struct Reference {
    Type type;
    uint32_t count;
    // ids in the numbering of the caller (local ids of the fragment being elaborated)
    const Var *vars;
    VarKind kind;            // VAR_CONSTANT and VAR_PARAMETER may be asked for values
    Span when;               // of the equation in a `when` that makes it discrete, if one does
    // not NULL: the reference is itself a known value (a package constant, enum literal, loop index); with `vars`, too, the
    // ones that are not 0 stand for themselves, as a number has no unit
    const Value *value;
    const Type *indices;     // per dimension: the enumeration, or Boolean, whose values are its subscripts; NULL: Integers are
} Reference;

// A default that a modification of the class around gives to a function, or to a field of a record, inside.
typedef struct ChangedDefault { Sym name; Node value; void *scope; Span span; } ChangedDefault;
typedef struct FunctionRef {
    Node class_node;         // the CLASS of a function, or of a record (its constructor)
    void *scope;             // for ExprEnv.scope while its body is elaborated
    void *around;            // of a short class: the scope of its modifications; NULL: `scope`
    const ChangedDefault *defaults;
    uint32_t n_defaults;
    Sym full_name;
    uint32_t id;             // of the class as specialised, by the class side
} FunctionRef;

typedef struct Closure {     // a function with some of its arguments
    FunctionRef function;
    uint32_t n;
    const Sym *names;        // of the inputs that are bound
    const Value *values;
} Closure;

typedef struct Routines Routines; // functions compiled so far (run_time_call.c)

// A subscript known at run time only. What a vector of them selects is found one element of the vector at a time.
typedef struct LocalPick {
    Node node;
    Type type;               // of the subscript
    uint32_t size;           // of the dimension
    Expr index;              // from 1; of a vector that of the element at hand
    uint32_t at;             // the position, from 0, that is looked at
    const Expr *indices;     // of a vector all, from 1; NULL: a scalar
    uint32_t n;              // of them; 1 for a scalar
    uint32_t copies;         // how often the position stands in the selection
    Expr count;              // of a vector: how many of them there are, where that is known at run time only; 0: n
    Expr limit;              // the size of the dimension where that is known at run time only; 0: `size`
    uint32_t axis;           // of a vector: the dimension of what is selected that it makes
} LocalPick;
enum { PICK_RANK = 8 };
typedef struct LocalPicks {
    LocalPick at[PICK_RANK];
    uint32_t n;
    bool frozen;             // all are known: subscripts are not evaluated again
} LocalPicks;

typedef struct Local {       // a loop index or a variable of a function being executed
    Sym name;
    Value value;
} Local;

typedef enum Fold { FOLD_SUM, FOLD_PRODUCT, FOLD_MIN, FOLD_MAX } Fold;

// What a call of a function means. Expressions call functions, and functions contain expressions: this is how the former ask
// (function.c). All but `accepts` and `takes` return false after messages.
typedef struct ExprEnv ExprEnv;
typedef struct FunctionCalls {
    bool (*call)(ExprEnv *env, Node call, Value *out); // its first output
    // All outputs of a call on the right of (a, , b) = f(x), at least as many as there are places in the tuple; E0203.
    bool (*results)(ExprEnv *env, Node tuple, Node call, Span span, Value **outputs);
    // All outputs, or the first, for given arguments, one for each of the function's first n inputs.
    bool (*apply_all)(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n, Span span, Value **outputs,
                      uint32_t *n_outputs);
    bool (*apply)(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n, Span span, Value *out);
    // Whether a function takes these values as its first inputs, and has values for the others; whether it takes the
    // arguments of a call. No messages.
    bool (*accepts)(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n);
    bool (*takes)(ExprEnv *env, const FunctionRef *function, Node call);
    // A reduction over ranges that are known at run time only.
    bool (*reduce)(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out);
} FunctionCalls;
extern const FunctionCalls function_calls;

struct ExprEnv {
    const Ast *ast;
    Syms *syms;
    Exprs *exprs;
    Diags *diags;
    Arena *arena;            // results live here
    U32Vec *slots;           // slots->at[k] = variable of slot k; cleared by the caller for each equation
    Map *slot_of;            // variable -> slot
    Map *streams;            // what actualStream gave -> the flow that decides it (factor.c)
    VEC(Local) locals;       // innermost last; looked at before `component`
    uint32_t held;           // how many of them, from the first on, are variables of the model that a section assigns
    bool in_function;
    bool sizes_only;         // of the reference looked up nothing but its type is wanted: no parameter needs a value for it
    bool when;               // inside a when-equation or when-statement: pre() of what changes continuously has a meaning
    bool pure;               // outside of functions and of `when`: what is evaluated often, where no function declared as impure is called (section 12.3)
    Node excused;            // the REF of a call that `pure(f(x))` allows
    // Name resolution, by the class side. Each reports its own errors and returns false.
    bool (*component)(ExprEnv *env, Node ref, Reference *out);
    // Not called for built-ins. `ref` is the REF of a call, or the NAME of an extends clause inside a
    // function.
    bool (*function)(ExprEnv *env, Node ref, FunctionRef *out);
    // The functions of the operator `name` ("'+'") of a record class; how many. May be NULL: there are none.
    uint32_t (*operators)(ExprEnv *env, uint32_t class_id, const char *name, const FunctionRef **out);
    // True when a function of this name (a REF of one part) is declared where the call stands: it comes before a
    // built-in function of the same name. May be NULL: there are none. No messages.
    bool (*declared)(ExprEnv *env, Node ref);
    // The basic type that a type NAME in a function's declarations stands for (Length -> Real), with the
    // sizes that a type alias carries. May be NULL: then only Real, Integer, Boolean and String are known.
    // Not called for those four.
    bool (*type)(ExprEnv *env, Node name, Type *out);
    // True when a type NAME in a function's declarations is a function. No messages. May be NULL: none is.
    bool (*function_type)(ExprEnv *env, Node name);
    // Value of a constant or parameter at compile time (marks it structural); false with a message why not.
    bool (*value)(ExprEnv *env, Var var, double *out, Span span);
    // The number a variable stands for when it is a literal (a loop index used as a value) or a parameter
    // whose value has shaped the model; false, without a message, otherwise. May be NULL: there are none.
    bool (*literal)(ExprEnv *env, Var var, double *out);
    // Derivative and pre variables in the caller's numbering. `der` answers NONE for what does not change
    // between events (parameters, constants, discrete variables): their rate is zero.
    Var (*der)(ExprEnv *env, Var var);
    Var (*pre)(ExprEnv *env, Var var);
    // The enumeration that the REF of a call names: E(i) is its i-th value. False, without a message, when it is none. May be NULL.
    bool (*enumeration)(ExprEnv *env, Node ref, Type *out);
    // What the connections say: Connections.isRoot(R) and Connections.rooted(R), also written rooted(R), inStream(h),
    // actualStream(h), cardinality(c). May be NULL.
    bool (*graph)(ExprEnv *env, Node call, Value *out);
    // The file that modelica://PACKAGE/path names (Modelica 3.6, section 13.5); NULL, without a message, where there is no such package.
    // May be NULL: there are no packages.
    const char *(*resource)(ExprEnv *env, const char *address);
    // A variable changes during the simulation. May be NULL: none does.
    bool (*varies)(ExprEnv *env, Var var);
    // A parameter has no value before the initialisation finds it. May be NULL: none has.
    bool (*found_at_start)(ExprEnv *env, Var var);
    // A variable is a Real.
    bool (*real)(ExprEnv *env, Var var);
    const FunctionCalls *calls;
    Routines *routines;      // NULL: functions are not called at run time
    LocalPicks *picks;            // subscripts known at run time of the reference at hand; NULL: none may be
    bool compile;            // in a routine: slots are its cells
    const Expr *limits;      // sizes of the array being subscripted (Value.sizes)
    uint32_t room;           // of the dimension that a range subscripts; 0: it is none
    bool flexible;           // in a routine: variables may have sizes that are known at run time only
    const U32Vec *rooms;     // per cell: one more than it is at most, where it is a size; 0: it is none; NULL: no cell is
    // A size, or a condition with a failure, in a cell of its own; NULL: there are none.
    Expr (*hold)(ExprEnv *env, Expr e, uint32_t room);
    bool other_units;        // what is being evaluated may have another unit than its text: a function declares it (function_units.c),
                             // or a number that multiplies vanished (factor.c)
    Node argument;           // of a function that is expanded: a variable without a value may stand there, where it is not read inside
    bool some_assigned;      // a variable of the function at hand has a value on some ways to here, and none on others
    bool at_run_time;        // why the function that failed last cannot be expanded: it needs values known at run time
    const struct Running *running; // functions being expanded, inside out
    Expr guard;              // holds where the statement being executed is reached; 0: always
    void *calling;           // in a function: the scope that calls the outermost one
    bool is_default;         // the default of an input is evaluated
    void *scope;             // class side's scope
    void *context;           // class side's own
    uint32_t depth;          // function calls inside each other (limit 256)
    uint32_t nesting;        // expressions and statements inside each other; starts at 0
    uint32_t statements;     // statements executed since the outermost function call; starts at 0
};

// Slots of an elaborated expression may include variables that the result does not use (der(x*y) names x and
// y while it is expanded, conditions known at compile time leave theirs behind): make rows with
// dae_bind_shape or expr_shape, which keep only what is used. `slot_of` may hold entries of earlier
// equations: an entry counts only when slots->at[slot] is the variable, so clearing `slots` is enough.
//
// `end` in a subscript is the innermost Local named "end"; whoever elaborates a subscript pushes it.

// Elaborates any expression. False after reporting (located) errors: unknown functions with the nearest known
// name, wrong number of arguments, type and size mismatches, ...
bool expression(ExprEnv *env, Node node, Value *out);
// The same; the array may have a size that is known at run time only (flexible.c).
bool expression_flexible(ExprEnv *env, Node node, Value *out);
// The same, and evaluated: every element a constant. Parameters it uses become structural.
bool expression_constant(ExprEnv *env, Node node, Value *out);
bool expression_integer(ExprEnv *env, Node node, int64_t *out);  // a constant Integer scalar
bool expression_bool(ExprEnv *env, Node node, bool *out);
// True when a FORINDEX has a range, written or implied by a subscript (implied_ranges.c); E0218 otherwise.
bool loop_has_range(ExprEnv *env, Node index);
// Range of a for loop: its values as constants, one after the other.
bool expression_range(ExprEnv *env, Node range, Value *out);
// The values first, first + step, ... of a RANGE node, `count` of them of a scalar type.
typedef struct RangeBounds { Type type; uint32_t count; double first, step; } RangeBounds;
bool expression_bounds(ExprEnv *env, Node range, RangeBounds *out);
// One element per scalar equation lhs = rhs; checks types and sizes. Broadcasting is not allowed (as in
// Modelica).
bool expression_equation(ExprEnv *env, Node lhs, Node rhs, Span span, Value *left, Value *right);
// Coerces to a declared type (Integer to Real; sizes must agree); reports against `what` ("parameter 'm'").
bool expression_coerce(ExprEnv *env, Value *value, const Type *type, Span span, const char *what);
// Text such as "Real[3,2]" for messages.
const char *type_text(Arena *arena, const Syms *syms, const Type *type);
void routines_close(Routines **routines);
// `externals`: external functions may be called.
Routines *routines_open(const Sources *sources, bool externals);
// The known built-in function with this name? (for messages and shadowing)
bool builtin_known(const char *name);

// A reference without subscripts: its sizes are those of its declaration.
bool expression_is_name(const ExprEnv *env, Node node);
// All built-in names, as candidates for nearest_name.
const char *const *builtin_names(uint32_t *n);

// What parts `part`.. of a REF select in a value: the subscripts of part `part` are the value's own, the parts behind it
// name fields.
bool path_value(ExprEnv *env, const Value *value, Node ref, uint32_t part, Value *out);
// The field of a record value, of every element for an array of records; E0101 when there is none.
bool field_value(ExprEnv *env, const Value *value, Sym name, Span span, Value *out);
// True for scalars of fields declared as parameters or constants: no equation determines them.
bool record_fixed(const Type *type, uint32_t scalar);
// Whether a function may leave a scalar of a record open: one that is no text of a record. Nobody may read it.
bool record_may_leave(const Type *type, uint32_t scalar);
// Scalars of a record that have no value become no numbers, where others have one; false: it is not so.
bool record_fill(const ExprEnv *env, Value *value);

#endif
