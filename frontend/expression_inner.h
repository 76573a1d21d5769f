// expression_inner.h: what the files of the expression side share.
//
// expression.c walks the tree; operator.c, array.c, builtin.c, builtin_array.c, reduction.c do one family of
// constructs each; function.c and statement.c execute functions; evaluate.c finds constants; type.c holds
// types.
#ifndef MDLC_FRONTEND_EXPRESSION_INNER_H
#define MDLC_FRONTEND_EXPRESSION_INNER_H

#include "frontend/expression.h"
#include "ir/routine.h"
#include "ir/text.h"

enum {
    NESTING_LIMIT = 3000,          // expressions and statements inside each other, through all function calls
    CALL_LIMIT = 256,
    STATEMENT_LIMIT = 100000,      // executed by one outermost call
    ELEMENT_LIMIT = 50 * 1000 * 1000
};

// --- routines.c: the functions of a model that have been compiled so far
typedef struct Signature { // of a routine, as its callers see it
    uint32_t number;       // 0: it cannot be compiled this way
    uint32_t n;
    const Type *types;     // of the outputs
} Signature;
struct Routines {
    const Sources *sources;
    bool externals;      // external functions may be called
    Arena *arena;        // of signatures: elaboration forgets what one equation needed
    Map of;              // key -> index
    VEC(Signature) signatures;
};
// Where the number of the external function with that key stands, until another one is asked for.
uint32_t *routines_external_place(Routines *routines, Sym key, bool *known);

// --- type.c
static inline bool
type_is_number(const Type *type)
{
    return type->base == TYPE_REAL || type->base == TYPE_INTEGER;
}
Type type_scalar(VarType base);
bool type_same_sizes(const Type *a, const Type *b);
// The same basic type, enumeration or (field by field) record, whatever the sizes.
bool type_same_class(const Type *a, const Type *b);
uint32_t type_scalars(const Type *type); // of one element: those of a record, otherwise 1
Value value_scalar(ExprEnv *env, VarType base, Expr element);
// Room for all elements of `type`; false after E0214 when there are too many.
bool value_new(ExprEnv *env, const Type *type, Span span, Value *out);
bool value_known(const ExprEnv *env, const Value *value); // every element is a constant
double value_number(const ExprEnv *env, const Value *value, uint32_t i);
const char *value_type_text(ExprEnv *env, const Value *value);
Type type_with_sizes(const Type *type, uint32_t rank, const uint32_t *dims);
const char *expression_text(ExprEnv *env, Node node); // as source text, shortened for messages

// --- expression.c
Span node_span(const ExprEnv *env, Node node);
// counts nesting; E0004 at the limit. Pair with expression_leave.
bool expression_enter(ExprEnv *env, Span span);
static inline void
expression_leave(ExprEnv *env)
{
    env->nesting--;
}
Expr expression_slot(ExprEnv *env, Var var);
// The local variable or loop index a REF starts with, or -1.
int64_t expression_local(const ExprEnv *env, Node ref);
bool expression_is_time(const ExprEnv *env, Node ref); // the predeclared variable `time`
// A scalar of the type wanted; E0201/E0202 with `what` ("the condition").
bool expression_scalar(ExprEnv *env, Node node, VarType base, const char *what, Value *out);

// --- operator.c
bool operator_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out);
bool operator_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out);
bool expression_binary(ExprEnv *env, Node node, Value *out); // a chain of BINARY nodes

// --- factor.c: ExprEnv.other_units is set where numbers multiply in the parts of a product or quotient, or in the terms of a
// sum, and none does in what was made of them
void factor_note_product(ExprEnv *env, const Expr *parts, uint32_t n, Expr product);
void factor_note_sum(ExprEnv *env, const Expr *parts, uint32_t n, Expr sum);
Expr factor_product(ExprEnv *env, Expr a, Expr b); // a*b

// --- overload.c: operators of records (Modelica 3.6, chapter 14)
bool overload_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out);
bool overload_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out);
// The constructor that a call of a record class means, in *function; false after a message.
bool overload_constructor(ExprEnv *env, FunctionRef *function, Node call);
// The function '0' of a record class, which has no inputs; false without a message when there is none.
bool overload_zero(ExprEnv *env, const RecordType *record, Span span, Value *out);
// String(x) of a record x; false without a message when the call is another one.
bool overload_string(ExprEnv *env, Node call, FunctionRef *function);

// --- text.c
Value text_value(ExprEnv *env, const char *text);
const char *text_of(const ExprEnv *env, const Value *value); // of a scalar; NULL: it is not known
bool text_joined(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out); // of equal sizes, or with a scalar
// The text as far as it is known; what is not is shown as "...".
const char *text_filled(ExprEnv *env, const Value *text);

// --- array.c
bool array_braces(ExprEnv *env, Node node, Value *out);   // ARRAY
bool array_matrix(ExprEnv *env, Node node, Value *out);   // MATRIX
bool array_range(ExprEnv *env, Node node, Value *out);    // RANGE
bool array_concatenate(ExprEnv *env, uint32_t dim, const Value *parts, uint32_t n, Span span, Value *out);
// Wraps equal parts as the elements of a new first dimension.
bool array_stack(ExprEnv *env, const Value *parts, uint32_t n, Span span, Value *out);
// --- subscript.c
// Positions (row-major) that subscripts select in a value of this type; `result` has the sizes of the
// selection.
bool subscript_select(ExprEnv *env, const Type *type, Node subscripts, U32Vec *positions, Type *result);
bool subscript_value(ExprEnv *env, const Value *value, Node subscripts, Value *out);

// --- pick.c
// A subscript of a dimension of that size is known at run time only, or has been: *position is what to look at now.
bool subscript_picked(ExprEnv *env, Node node, uint32_t size, uint32_t *position);
// index - 1, which fails with the text outside 1:size; \1d\2 in it stands for the index.
Expr pick_checked(ExprEnv *env, Expr index, uint32_t size, const char *text, Span span);
// The position from 0 as an expression that fails outside the array; `of` for the message.
Expr pick_index(ExprEnv *env, const LocalPick *pick, Node of);
// What `plain` makes of a REF, one of whose subscripts may be known at run time only.
typedef bool PickPlain(ExprEnv *env, Node ref, void *context, Value *out);
bool pick_reference(ExprEnv *env, Node node, PickPlain *plain, void *context, Value *out);

// --- record.c
const RecordField *record_field(const RecordType *record, Sym name);
// Scalars that parts `part`.. of a REF select in a value of this type; the subscripts of part `part` are the
// value's own, the following parts name fields.
bool path_select(ExprEnv *env, const Type *type, Node ref, uint32_t part, U32Vec *positions, Type *result);
// --- reduction.c
// `body for i in r, j in s`: calls the body once per combination, indices as Locals; values in the order of
// the array they make, the first index fastest, and its sizes.
bool reduction_expand(ExprEnv *env, Node forarg, Value **values, uint32_t *n, uint32_t *sizes,
                      uint32_t *n_sizes);
bool reduction_array(ExprEnv *env, Node forarg, Value *out);      // {e for i in r}
typedef enum Fold { FOLD_SUM, FOLD_PRODUCT, FOLD_MIN, FOLD_MAX } Fold;
bool reduction_fold(ExprEnv *env, Fold fold, const Value *value, Span span, Value *out); // over all elements
bool reduction_call(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out);

// --- evaluate.c
// Makes every element of an elaborated value a constant; false after reporting what is not known while compiling.
bool value_evaluate(ExprEnv *env, Value *value, Span span);

// --- builtin.c, builtin_array.c, builtin_model.c
typedef struct Builtin Builtin;
typedef struct BuiltinCall {
    ExprEnv *env;
    const Builtin *builtin;
    Node node;         // the CALL
    Span span;
    uint32_t n;        // arguments given (a parameter left out in the middle has node 0)
    Node *nodes;       // argument expressions in order of the parameters
    Value *values;     // evaluated, unless the builtin is raw
} BuiltinCall;
typedef bool BuiltinRun(BuiltinCall *call, Value *out);
struct Builtin {
    const char *name, *parameters; // parameters: names separated by spaces; "..." at the end: any number more
    uint8_t least;                 // arguments that must be given
    bool raw;                      // the arguments are not evaluated beforehand
    uint8_t op;                    // Op it maps to, where that is all
    BuiltinRun *run;
};
const Builtin *builtin_find(const char *name);
// The built-in function that a REF calls; NULL when it has several parts, or a function of that name is declared.
const Builtin *builtin_called(ExprEnv *env, Node ref);
uint32_t builtin_results(const Builtin *builtin);
bool builtin_call(ExprEnv *env, const Builtin *builtin, Node node, Value *out); // out: as many as there are results
// The same for arguments that stand elsewhere than in a CALL; and for values of all arguments, with the nodes that they come from.
bool builtin_call_with(ExprEnv *env, const Builtin *builtin, Node node, Node args, Value *out);
bool builtin_run(BuiltinCall *call, Value *out);
Diag *builtin_refuse(BuiltinCall *call, uint32_t i,
                     const char *needs); // E0210: "argument i of 'f' must be ..."
bool builtin_not_supported(BuiltinCall *call, Value *out);
BuiltinRun builtin_der, builtin_pre, builtin_edge, builtin_change, builtin_event_free, builtin_smooth,
    builtin_homotopy,
    builtin_sample, builtin_integral, builtin_partial, builtin_connections, builtin_nullary, builtin_semi_linear, builtin_delay, builtin_pure,
    builtin_fder, builtin_string, builtin_transport;
BuiltinRun builtin_size, builtin_ndims, builtin_constant_fill, builtin_fill, builtin_identity,
    builtin_diagonal,
    builtin_linspace, builtin_transpose, builtin_cross, builtin_coulomb, builtin_skew, builtin_outer, builtin_vector,
        builtin_matrix,
    builtin_scalar, builtin_cat, builtin_array, builtin_symmetric, builtin_fold;

// --- function.c, function_map.c, statement.c
typedef struct Variable { // of a function
    Sym name;
    uint32_t flags;        // AST_F_INPUT, AST_F_OUTPUT, AST_F_CONSTANT, AST_F_PARAMETER
    Node line, component;  // COMPONENTS and COMPONENT
    void *scope;
    uint8_t open_sizes;    // bit k: dimension k is declared with `:`, and follows what is assigned (section 12.4.5)
    bool bound;            // an input that a partial application has given
    Node value;            // 0, or the default that an extending class gives, in value_scope
    void *value_scope;
} Variable;
typedef struct Section {   // an ALGORITHM
    Node node;
    void *scope;
} Section;
typedef enum Control { CONTROL_NEXT, CONTROL_BREAK, CONTROL_RETURN, CONTROL_FAILED } Control;
typedef struct Exit {      // of a loop or a function, under a condition known only at run time
    Control control;
    Expr where;
    Value *values;         // of the frame's variables there
} Exit;
typedef struct Frame Frame;
struct Frame {             // a function being executed: env->locals.at[i] is the value of variables.at[i]
    ExprEnv *env;
    const FunctionRef *function;
    VEC(Variable) variables;
    VEC(Section) sections;
    Section external;      // an EXTERNAL instead of algorithms, and the class it stands in
    Node external_class;
    Expr effect;           // of an external function without results: its call
    Span span;             // of the call
    bool record;           // the constructor of a record
    U32Vec by;             // names of the inputs by which a partial derivative is taken, in order; of what is gathered
    const FunctionRef *of; // and the function that is differentiated; NULL: none is
    Expr path;             // of branches whose conditions are not known: where this one is executed; 0: everywhere
    VEC(Exit) exits;       // conditional `break` and `return` that have not joined the path again
    bool in_loop;          // the statement at hand is inside a loop
    Expr left, returned;   // where the loops being executed, or the function, have been left; 0: nowhere
    // Of an algorithm section of a model (algorithm.c), NULL in functions: the condition of a branch of a
    // when-statement, and assert, terminate, reinit.
    bool (*edge)(Frame *frame, const Value *condition, Span span, Expr *out);
    bool (*call)(Frame *frame, Node call);
};

// --- function_partial.c
// What `der(of, x, ...)` says of the frame, whose variables are those of `of`; false after a message.
bool function_gather_partial(Frame *frame, const FunctionRef *of, Node definition);
// function_execute for a frame that is a partial derivative.
bool function_partial(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
// function.c: the values of all inputs, with the types that they are declared with.
bool function_inputs(Frame *frame, const Node *nodes, Value *values);
// function_sizes.c: inputs that the sizes of other variables use become known; false after reporting that one is not.
bool function_settle_sizes(Frame *frame, Value *values);
// function_units.c: notes that a call which its text replaces, with these values of the function's variables, changes units.
void function_note_units(const Frame *frame, const Value *values);
// --- function_declare.c
// The variables and sections of the frame's function, with what it inherits; false after a message. Pair with function_release.
bool function_gather(Frame *frame);
// Inputs first, then every variable behind those that its declaration names.
void function_order_variables(Frame *frame);
// The inputs, each behind those that its default names; false after a message where there is no such order.
bool function_order_inputs(const Frame *frame, const Node *nodes, uint32_t *order, uint32_t *n);
void function_release(Frame *frame);
// --- function_fits.c
// Whether a function with some of its arguments is what a functional input asks for; false after a message at `span`.
bool function_fits(ExprEnv *env, const Variable *input, const Closure *closure, Span span);
// --- closure.c
bool closure_wanted(ExprEnv *env, const Variable *variable); // an input that is a function
// The name of a function, or `function f(a = 1)`.
bool closure_value(ExprEnv *env, Node node, Value *out);
// The functional input that the REF of a call names, or NULL.
const Closure *closure_called(const ExprEnv *env, Node ref);
// Gives the inputs of the frame that the closure has bound.
bool closure_bind(Frame *frame, const Closure *closure, Node *nodes, Value *values);
// What is bound has values; elements of what has not; what tells closures apart but for these.
bool closure_known(const ExprEnv *env, const Closure *closure);
void closure_elements(const ExprEnv *env, const Closure *closure, U32Vec *elements);
void closure_key(const ExprEnv *env, const Closure *closure, Out *out);
// The record whose fields are the variables of an executed constructor.
bool record_construct(Frame *frame, Value *out);

typedef struct Running { // a function being expanded
    Node class_node;
    uint32_t id;
    const struct Running *outer;
} Running;
// The value that the declaration of a function's variable gives, or 0; its type.
Node function_default(const ExprEnv *env, const Variable *variable);
bool function_variable_type(ExprEnv *env, const Variable *variable, Type *type);
// The local that an assignment's target names; -1 after E0211.
int64_t statement_target(Frame *frame, Node target);
// --- external.c
// Calls the external function that the frame's function declares: its outputs get their values.
bool external_run(Frame *frame);
// --- routine.c
// Whether a function has the annotation inverse (routine_inverse.c).
bool routine_declares_inverse(const Frame *frame);
// A call at run time for arguments with the types of the inputs, all given.
bool routine_use(Frame *frame, Value *values, Value **outputs, uint32_t *n);
// --- routine_section.c
// Makes a loop in an algorithm section of a model a call at run time: the variables it assigns become its results.
bool routine_loop(Frame *frame, Node loop);
// The basic type of a type name, with the sizes an alias carries.
bool function_type(ExprEnv *env, Node name, Type *type);
// Runs a function whose variables are gathered, for arguments (nodes, 0 where none is given) with their
// values; the second takes arrays where the function has scalars, and calls it for each element.
// Takes the events from the results of a function that has been expanded, but for those of its arguments (silence.c).
void function_silence(ExprEnv *env, const Node *nodes, const Value *arguments, uint32_t n_arguments, Value *outputs, uint32_t n);
bool function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
bool function_map(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
// The value of a variable of a function whose modification gives its fields; E0721 for other modifications.
bool function_fields(ExprEnv *env, const Variable *variable, const Type *type, Value *value);
// Outputs of a call on the right of (a, b) = f(x).
bool function_multiple(ExprEnv *env, Node call, Value **outputs, uint32_t *n);
// A call for its effects: assertions. *effect: an expression whose evaluation has them, 0 when there is nothing left to do.
bool function_effect(ExprEnv *env, Node call, Expr *effect);
bool statement_count(ExprEnv *env, Span span); // one more statement, iteration or call; E0208 at the limit
// The arguments of a call of assert, the message only where the condition may not hold.
typedef struct Assertion { Value condition, message; bool holds, warning; } Assertion;
bool statement_assertion(ExprEnv *env, Node call, Assertion *out);
Control statement_section(Frame *frame, Node algorithm);
// At the end of a function: gives variables the values with which it returned under conditions.
bool statement_returns(Frame *frame);

#endif
