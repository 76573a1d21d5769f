// routine_inner.h: a routine being compiled, for the files frontend/function/routine_*.c.
//
// Statements are elaborated once, with elements that are slots of cells, into blocks (ir/expr/routine.h). Functions return false
// after messages, unless they say otherwise.
#ifndef MDLC_FRONTEND_FUNCTION_ROUTINE_INNER_H
#define MDLC_FRONTEND_FUNCTION_ROUTINE_INNER_H

#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

enum { NO_BLOCK = UINT32_MAX };

// Which Integers, Booleans and enumerations among the arguments shape a routine, where they are known: those that sizes are made of, or all.
typedef enum Keep { KEEP_NONE, KEEP_SIZES, KEEP_ALL } Keep;

// A loop being compiled, and cells that are assigned behind one (routine_unset.c).
typedef struct CompiledLoop {
    uint32_t cell;       // of the index, where it takes the values 1 .. count in turn; NO_BLOCK: another loop
    uint32_t count;      // repetitions; 0: not known
    uint32_t doubt;      // Compile.doubt in its body
    uint32_t covers;     // Compile.covers when it began
    bool left;           // `break` leaves it
} CompiledLoop;

typedef struct Cover {
    uint32_t block, cell; // at the begin of the block the cell is assigned; NO_BLOCK: when loop `loop` has ended
    uint32_t loop;
} Cover;

// Slot k of env is cell k: env->slots holds BOUND_VARIABLE for cells of the routine's own, and a variable of the model for
// cells that hold what it has when the routine is called (routine_section.c).
typedef struct Compile {
    Frame frame;         // first: what is called for statements gets it; a copy of the one whose function this is
    ExprEnv *env;        // of the body: `own`, while the routine is compiled
    ExprEnv own;
    U32Vec slots;        // of `own`
    Map slot_of;
    ExprEnv *around;     // where the call, or the loop, stands
    Routine *routine;
    uint32_t block;      // the block being filled; NO_BLOCK: what comes is not reached
    uint32_t after;      // where `break` goes
    Map assigned;        // names that the body assigns
    VEC(CompiledLoop) loops; // from the outside in
    VEC(Cover) covers;
    uint32_t doubt;      // branches around the statement at hand that may not be taken
    ExprEnv *outer;      // of a loop in an algorithm section of a model: where it stands; NULL in functions
    Type *sizes;         // of the variables of a function: types whose open sizes a statement has given, rank 0 where none has
    uint8_t *flexible;   // per variable, bit d: the size of dimension d is known at run time only, and its room is that of `sizes`
    bool sized;          // one was given, or another: the routine is compiled again
    U32Vec rooms;        // of `own`
    U32Vec inputs, given; // of such a loop: cells, and what they get, over the slots of `outer`
} Compile;

// --- routine_cells.c
// A new routine for the function of the frame.
void compile_open(Compile *c, Frame *frame, const char *name, Span span);
void compile_close(Compile *c);
uint32_t compile_cells(Compile *c, uint32_t n); // the first of n new cells
// One that holds a size, which is at most `room`.
uint32_t compile_size_cell(Compile *c, uint32_t room);
Value compile_value(Compile *c, const Type *type, uint32_t first, uint32_t count); // what cells hold
void compile_set(Compile *c, uint32_t cell, Expr e);
void compile_set_all(Compile *c, const U32Vec *cells, const Expr *elements); // at once
uint32_t compile_block(Compile *c);
// End the block at hand; a jump back to the head of a loop is counted.
void compile_jump(Compile *c, uint32_t to, bool again);
void compile_branch(Compile *c, Expr condition, uint32_t yes, uint32_t no);
// A place to return to: everything made since is forgotten.
typedef struct Before {
    uint32_t steps, blocks, values, extents, cells, block, after, loops, covers, doubt;
    Block open;
    DiagsMark mark;
} Before;
Before compile_mark(const Compile *c);
void compile_return_to(Compile *c, const Before *to);

// The stack of a call has room for its cells.
bool compile_check_size(Compile *c);
// Takes out of the expressions what has no meaning in a routine; refuses what cannot be computed there.
bool compile_finish(Compile *c);

// --- routine_statement.c
extern const Meaning compile_meaning; // its frame is that of a Compile

// --- routine_assign.c, routine_loop.c
bool compile_elements(Frame *frame, const Elements *to, const Value *value, Span span);
void compile_hold(Frame *frame, Value *value);
bool compile_size(Frame *frame, uint32_t local, const Value *value, Span span, const char *what);
Control compile_loop(Frame *frame, Node node);
Control compile_for(Frame *frame, Node node, uint32_t index); // from its index-th index on
// A loop of an index that is a local inside. Its range is evaluated in `env`: that of the routine, or Compile.outer.
typedef Control LoopBody(Compile *c, void *of);
bool compile_counted(Compile *c, ExprEnv *env, Node here, LoopBody *inside, void *of);

bool compile_flexible(Frame *frame, uint32_t local, Value *value, Span span, const char *what);

// --- routine_section.c
// A cell that `put` gives the value to; a number needs none.
Expr compile_in_cell(Compile *c, Expr value, void (*put)(Compile *c, uint32_t cell, Expr value));
// An expression of `outer` inside: a number, or a cell that is an input.
Expr compile_given(Compile *c, Expr value);
// What is known outside is an input, unless its value is known.
void compile_held(Compile *c, const Value *before, Value *value);
// What the routine uses of all that could be an input; called with `given`.
void compile_settle_inputs(Compile *c);

// --- routine_unset.c
// Makes the routine fail where an output has no value at its end, or a variable is read that has none; false where that is always so.
bool compile_unset(Compile *c);

// --- routine_derivative.c
// Gives the routine of a function the derivative that the function declares, if any. False after messages.
bool routine_declared_derivative(Frame *frame, const Value *given, Keep keep, const Signature *signature);

// --- routine_inverse.c
// The same for the inverses that it declares.
bool routine_declared_inverses(Frame *frame, const Value *given, Keep keep, const Signature *signature);

// --- routine_variable.c
// Notes in Compile.assigned which names statements assign.
void compile_find_assigned(Compile *c, Node statements);
// An argument that shapes the routine instead of being passed to it.
bool compile_is_kept(ExprEnv *env, const Variable *variable, const Value *value, Keep keep);
// Whether each call that is written is one of its own: of a function that is declared as impure. Its number is the last input.
bool compile_is_counted(const Frame *frame);
void compile_inputs(Compile *c, const Value *values, Keep keep);
bool compile_input_sizes(Compile *c);
// Outputs, with room for their types, then the others.
bool compile_outputs(Compile *c, Type *types, uint8_t *flexible, uint32_t *n);
bool compile_others(Compile *c);
// Every variable has got a size; a message otherwise.
bool compile_check_sized(Compile *c);

#endif
