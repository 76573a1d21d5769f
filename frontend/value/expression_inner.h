// expression_inner.h: what the files of the expression side share.
//
// expression.c walks the tree; operation.c, array.c, builtin.c, builtin_array.c, reduction.c do one family of
// constructs each; function.c and expansion.c execute functions; compile_time.c finds constants; type.c holds
// types.
#ifndef MDLC_FRONTEND_VALUE_EXPRESSION_INNER_H
#define MDLC_FRONTEND_VALUE_EXPRESSION_INNER_H

#include "frontend/value/expression.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"

enum {
    NESTING_LIMIT = 3000,          // expressions and statements inside each other, through all function calls
    CALL_LIMIT = 256,
    STATEMENT_LIMIT = 100000,      // executed by one outermost call
    ELEMENT_LIMIT = 50 * 1000 * 1000
};

// --- compiled_routines.c: the functions of a model that have been compiled so far
typedef struct Signature { // of a routine, as its callers see it
    uint32_t number;       // 0: it cannot be compiled this way
    uint32_t n;
    const Type *types;     // of the outputs
    const uint8_t *flexible; // per output, bit d: dimension d has a size that is known at run time only, which is a result behind its elements
} Signature;
struct Routines {
    const Sources *sources;
    bool externals;      // external functions may be called
    Arena *arena;        // of signatures: elaboration forgets what one equation needed
    Map of;              // key -> index
    VEC(Signature) signatures;
    U32Vec open;         // classes of functions that are being compiled
    uint32_t impure;     // calls of functions declared as impure so far: each has a number
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
bool expression_changes(const ExprEnv *env, Expr e); // it contains time or a variable that changes during the simulation
bool expression_is_time(const ExprEnv *env, Node ref); // the predeclared variable `time`
// A condition over loop indices and parameters that have shaped the model is decided.
void expression_decide(ExprEnv *env, Value *condition);
// A scalar of the type wanted; E0201/E0202 with `what` ("the condition").
bool expression_scalar(ExprEnv *env, Node node, VarType base, const char *what, Value *out);

// --- operation.c
bool operator_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out);
bool operator_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out);
bool expression_binary(ExprEnv *env, Node node, Value *out); // a chain of BINARY nodes

// --- factor.c: ExprEnv.other_units is set where numbers multiply in the parts of a product or quotient, or in the terms of a
// sum, and none does in what was made of them
void factor_note_product(ExprEnv *env, const Expr *parts, uint32_t n, Expr product);
void factor_note_sum(ExprEnv *env, const Expr *parts, uint32_t n, Expr sum);
Expr factor_product(ExprEnv *env, Expr a, Expr b); // a*b
Expr factor_multiply(ExprEnv *env, Expr *parts, uint32_t n); // the product of all, which it may write anew
Expr factor_smooth(ExprEnv *env, Expr e); // e, which is continuous: what actualStream chooses in it makes no events

// --- overload.c: operators of records (Modelica 3.6, chapter 14)
bool overload_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out);
bool overload_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out);
// The constructor that a call of a record class means, in *function; false after a message.
bool overload_constructor(ExprEnv *env, FunctionRef *function, Node call);
// The function '0' of a record class, which has no inputs; false without a message when there is none.
bool overload_zero(ExprEnv *env, const RecordType *record, Span span, Value *out);
// String(x) of a record x; false without a message when the call is another one.
bool overload_string(ExprEnv *env, Node call, FunctionRef *function);

// --- strings.c
Value text_value(ExprEnv *env, const char *text);
const char *text_of(const ExprEnv *env, const Value *value); // of a scalar; NULL: it is not known
bool text_joined(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out); // of equal sizes, or with a scalar
// The text as far as it is known; what is not is shown as "...".
const char *text_filled(ExprEnv *env, const Value *text);

// --- flexible.c: arrays whose sizes are known at run time only (Value.sizes)
Expr value_size(ExprEnv *env, const Value *value, uint32_t d);
void value_set_size(ExprEnv *env, Value *value, uint32_t d, Expr size); // 0, or the room as a number: it is known
bool value_settled(ExprEnv *env, const Value *value, Span span); // E0205 where a size is not known
// An expression that fails; \1d\2 in the text stands for `shown`.
Expr flexible_fail(ExprEnv *env, Expr shown, const char *text, Span span);
// The room for a size, and what it is, checked.
bool flexible_size(ExprEnv *env, Expr wanted, uint32_t rank, Span span, uint32_t *room, Expr *size);
Expr flexible_there(ExprEnv *env, const Value *value, uint32_t element); // the condition that a scalar is there; 0: always
Expr flexible_or(ExprEnv *env, const Value *value, uint32_t element, Expr otherwise);
bool flexible_resize(ExprEnv *env, Value *value, const uint32_t *dims, Span span);
bool flexible_fits(const Value *a, const Value *b); // the sizes may be equal
bool flexible_agree(ExprEnv *env, Value *a, Value *b, Span span); // which fit; they get the same room and sizes
bool flexible_settle(ExprEnv *env, Value *value, const Value *wanted, Span span); // to the type and sizes of `wanted`, but for those that are SIZE_UNKNOWN
bool flexible_choose(ExprEnv *env, Expr condition, Value *a, Value *b, Span span);
bool flexible_range(ExprEnv *env, const Type *type, Expr first, Expr step, Expr count, uint32_t room, Span span, Value *out);
bool flexible_concatenate(ExprEnv *env, const Value *parts, uint32_t n, Span span, Value *out);

// --- array.c
bool array_braces(ExprEnv *env, Node node, Value *out);   // ARRAY
bool array_matrix(ExprEnv *env, Node node, Value *out);   // MATRIX
bool array_numbers(ExprEnv *env, Node node, Value *out);  // NUMBERS
bool array_range(ExprEnv *env, Node node, Value *out);    // RANGE
// First, step and last of a RANGE as scalar numbers that need not be known, and how many values it has, which may be negative.
typedef struct RangeParts { Value part[3]; bool real; } RangeParts;
bool range_parts(ExprEnv *env, Node range, RangeParts *out);
Expr range_count(Exprs *exprs, const RangeParts *parts);
bool array_concatenate(ExprEnv *env, uint32_t dim, const Value *parts, uint32_t n, Span span, Value *out);
// Wraps equal parts as the elements of a new first dimension.
bool array_stack(ExprEnv *env, const Value *parts, uint32_t n, Span span, Value *out);
// --- subscript.c
// Positions (row-major) that subscripts select in a value of this type; `result` has the sizes of the
// selection.
bool subscript_select(ExprEnv *env, const Type *type, Node subscripts, U32Vec *positions, Type *result);
bool subscript_value(ExprEnv *env, const Value *value, Node subscripts, Value *out);

// --- selection.c
// A subscript of a dimension of that size is known at run time only, or has been: the selection has its position `at`, `copies` times where it is
// a vector. NULL: it is another one.
// `limit`: the size itself where it is known at run time only, otherwise 0.
const LocalPick *subscript_picked(ExprEnv *env, Node node, uint32_t size, Expr limit);
// Vectors among the subscripts. `dims` gives the sizes of what is selected with the picks as they are. False after messages.
typedef bool PickDims(ExprEnv *env, Node ref, void *context, Type *type);
bool pick_axes(ExprEnv *env, Node ref, LocalPicks *picks, const Type *whole, PickDims *dims, void *context);
uint32_t pick_tuples(const LocalPicks *picks); // choices of one element of each vector; 1 where there is no vector
// The picks become those of such a choice; places: of what it selects among the scalars of the whole.
void pick_tuple(LocalPicks *picks, uint32_t tuple, const Type *whole, uint32_t count, U32Vec *places);
// Whether a value is known at run time only.
bool expression_moves(ExprEnv *env, Expr e);
// The sizes of what has been selected, which is that of pick_axes.
void pick_sizes(ExprEnv *env, const LocalPicks *picks, Value *value);
// index - 1, which fails with the text outside 1:size; \1d\2 in it stands for the index.
Expr pick_checked(ExprEnv *env, Expr index, uint32_t size, const char *text, Span span);
// An operand of Integer operators, which fails where it is beyond 2^53: the result would be another one.
Expr whole_checked(ExprEnv *env, Expr e, Span span);
// The position from 0 as an expression that fails outside the array; `of` for the message.
Expr pick_index(ExprEnv *env, const LocalPick *pick, Node of);
// What `plain` makes of a REF, one of whose subscripts may be known at run time only.
typedef bool PickPlain(ExprEnv *env, Node ref, void *context, Value *out);
bool pick_reference(ExprEnv *env, Node node, PickPlain *plain, void *context, Value *out);

// --- record.c
const RecordField *record_field(const RecordType *record, Sym name);
// A record that has the fields of another one in another order is of the same type (section 6.4): they are put into its order.
void record_reorder(ExprEnv *env, Value *value, const Type *wanted);
// Scalars that parts `part`.. of a REF select in a value of this type; the subscripts of part `part` are the
// value's own, the following parts name fields.
bool path_select(ExprEnv *env, const Type *type, Node ref, uint32_t part, U32Vec *positions, Type *result);
// --- reduction.c
bool reduction_array(ExprEnv *env, Node forarg, Value *out);      // {e for i in r}
bool reduction_fold(ExprEnv *env, Fold fold, const Value *value, Span span, Value *out); // over all elements
Expr reduction_empty(ExprEnv *env, Fold fold, VarType base); // the value of a reduction of nothing
bool reduction_call(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out);

// --- compile_time.c
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
    builtin_sample, builtin_integral, builtin_partial, builtin_connections, builtin_nullary, builtin_delay, builtin_pure,
    builtin_fder, builtin_string, builtin_transport, builtin_clock, builtin_clocked, builtin_clock_conversion, builtin_clock_question;
bool builtin_sampled(BuiltinCall *call, Value *out); // sample(u), sample(u, c)
BuiltinRun builtin_size, builtin_ndims, builtin_constant_fill, builtin_fill, builtin_identity,
    builtin_diagonal,
    builtin_linspace, builtin_transpose, builtin_cross, builtin_coulomb, builtin_skew, builtin_outer, builtin_vector,
        builtin_matrix,
    builtin_scalar, builtin_cat, builtin_array, builtin_symmetric, builtin_fold;

// Takes the events from the results of a function that has been expanded, but for those of its arguments (silence.c).
void function_silence(ExprEnv *env, const Node *nodes, const Value *arguments, uint32_t n_arguments, Value *outputs, uint32_t n);
// The basic type of a type name, with the sizes an alias carries.
bool function_type(ExprEnv *env, Node name, Type *type);

#endif
