// function.h: the door of frontend/function: functions of the language: expanded where they are called, or compiled to routines.
//
// In: calls and the declarations of functions.
// Out: values, or calls of routines with derivatives and inverses.
// Read first: function.c, then statement.c, expansion.c and run_time_call.c.
#ifndef MDLC_FRONTEND_FUNCTION_FUNCTION_H
#define MDLC_FRONTEND_FUNCTION_FUNCTION_H

#include "frontend/value/frame.h"

// --- function_partial.c
// What `der(of, x, ...)` says of the frame, whose variables are those of `of`; false after a message.
bool function_gather_partial(Frame *frame, const FunctionRef *of, Node definition);
// function_execute for a frame that is a partial derivative.
bool function_partial(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
// function.c: the values of all inputs, with the types that they are declared with.
bool function_inputs(Frame *frame, const Node *nodes, Value *values);
// Sizes of what an external function gets are known; false after a message.
bool function_settled(const Frame *frame);
// function_sizes.c: inputs that the sizes of other variables use become known; false after reporting that one is not.
bool function_settle_sizes(Frame *frame, Value *values);
void function_mark_sizes(Frame *frame); // Variable.shapes
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
// --- function_argument.c
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

typedef struct Running { // a function being expanded
    Node class_node;
    uint32_t id;
    const struct Running *outer;
} Running;
// The value that the declaration of a function's variable gives, or 0; its type.
Node function_default(const ExprEnv *env, const Variable *variable);
bool function_variable_type(ExprEnv *env, const Variable *variable, Type *type);
// The same with sizes that are known at run time only: the type has the room. `sizes` has MAX_RANK elements, 0 where they are known.
bool function_flexible_type(ExprEnv *env, const Variable *variable, Type *type, Expr *sizes);
// The type that its declaration names, without the sizes that it adds, and how many these are.
bool function_named_type(ExprEnv *env, const Variable *variable, Type *type, uint32_t *own);
// What the declaration of the frame's variable gives to it, by its value or by fields; false after messages.
bool function_given(Frame *frame, uint32_t i, const Type *type, Value *value, bool *given);
// function_record.c: the fields of a variable that is a record, by its modification, and by its class; *given: that has some.
bool function_record_modified(Frame *frame, const Variable *variable, const Type *type, Value *value);
bool function_record_given(Frame *frame, const Variable *variable, const Type *type, Value *value, bool *given);
// Inside of a call names are those of the function; `env` is as it was before once it is left.
void function_enter(ExprEnv *env);
void function_leave(ExprEnv *env, const ExprEnv *before);
// E0203: the function has no input that an IDENT or ARG names.
void function_no_input(const Frame *frame, const FunctionRef *function, Node named);
// --- routine_derivative.c
// Gives the outputs of a call that has been expanded the time derivatives that the function declares for them, where these are not those of its
// statements: an input that it leaves out (noDerivative) moves as it likes. They stay as they are where that cannot be said.
void function_take_rates(Frame *frame, const Value *arguments, Value *outputs, uint32_t n);
// Whether what annotations `derivative` name exists: functions, options, inputs. False after messages.
bool function_check_derivatives(Frame *frame);
// --- run_time_call.c
// Whether a function has the annotation inverse (routine_inverse.c).
bool routine_declares_inverse(const Frame *frame);
// A call at run time for arguments with the types of the inputs, all given.
bool routine_use(Frame *frame, Value *values, Value **outputs, uint32_t *n);
// --- routine_section.c
// Makes a loop in an algorithm section of a model a call at run time: the variables it assigns become its results.
bool routine_of_statement(Frame *frame, Node loop);
// routine_reduction.c: FunctionCalls.reduce.
bool routine_reduction(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out);
// Runs a function whose variables are gathered, for arguments (nodes, 0 where none is given) with their
// values; the second takes arrays where the function has scalars, and calls it for each element.
bool function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
bool function_map(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
// Outputs of a call on the right of (a, b) = f(x).
bool function_multiple(ExprEnv *env, Node call, Value **outputs, uint32_t *n);
// A call for its effects: assertions. *effect: an expression whose evaluation has them, 0 when there is nothing left to do.
bool function_effect(ExprEnv *env, Node call, Expr *effect);
// --- statement.c
bool statement_count(Frame *frame, Span span); // one more statement, iteration or call; E0208 at the limit
typedef struct Assertion { Value condition, message; bool holds, warning; } Assertion;
typedef struct Elements {  // of a local variable
    uint32_t local;
    Node target;
    const U32Vec *positions; // where all subscripts are known
    LocalPicks *picks;     // the others
    Expr only;             // they are assigned where this holds; 0: everywhere
} Elements;
// What statements do: to values that are expressions (expansion.c), or as steps of a routine (routine_statement.c). The walk over them is
// one. Functions return false, or CONTROL_FAILED, after messages.
typedef struct Meaning {
    // The first value of a variable as a whole, whose size that gives. NULL: sizes are known before.
    bool (*size)(Frame *frame, uint32_t local, const Value *value, Span span, const char *what);
    // A whole variable whose size may be known at run time only (ExprEnv.flexible); NULL: there are none.
    bool (*flexible)(Frame *frame, uint32_t local, Value *value, Span span, const char *what);
    bool (*whole)(Frame *frame, uint32_t local, Value *value, Span span, const char *what); // NULL: as its elements
    bool (*elements)(Frame *frame, const Elements *to, const Value *value, Span span);
    void (*hold)(Frame *frame, Value *value);                       // a result that is assigned when others have been; NULL: nothing is to be done
    bool (*assertion)(Frame *frame, const Assertion *assertion, Span span); // that is not known to hold
    bool (*effect)(Frame *frame, Expr effect, Span span);           // of a call
    Control (*branches)(Frame *frame, Node node, uint32_t branch);  // of an if- or when-statement, from this one on
    Control (*loop)(Frame *frame, Node node);
    Control (*each)(Frame *frame, Node node, uint32_t index);       // a for-loop from its index-th index on, others have their values
    Control (*leave)(Frame *frame, Node node, Control control);     // break, return
} Meaning;
// Statements of `node` from child `first` on.
Control statement_list(Frame *frame, Node node, uint32_t first);
// The first branch from *branch on that may be taken: always, or under a condition known only at run time.
typedef enum BranchKind { BRANCH_NONE, BRANCH_TAKEN, BRANCH_OPEN, BRANCH_FAILED } BranchKind;
BranchKind statement_branch(Frame *frame, Node node, uint32_t *branch, Expr *condition);
// Meaning.each for every value that the index-th index takes.
Control statement_iterations(Frame *frame, Node node, uint32_t index, const Value *range);
// Appends the REFs that the statements of a section assign, in the order of the text.
void statement_targets(const Ast *ast, Node section, U32Vec *refs);
// Conditions; 0 stands for one that always holds in a path, and never in what has been left.
Expr statement_also(const Frame *frame, Expr path, Expr condition);
Expr statement_either(const Frame *frame, Expr a, Expr b);
// --- expansion.c
// Executes an ALGORITHM on the frame's variables, whose values are expressions.
Control statement_expand(Frame *frame, Node algorithm);
// At the end of a function: gives variables the values with which it returned under conditions.
bool statement_returns(Frame *frame);

#endif
