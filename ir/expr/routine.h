// routine.h: functions that are called at run time.
//
// A function whose control flow depends on the values of its arguments cannot be written as expressions. It
// becomes a routine: numbered cells that hold one double each, and blocks of steps `cell = expression over
// cells` (slot k of the expression is cell k). Expressions call it: RESULT(k + 1, CALL(routine, inputs...)).
// Routines have no side effects and belong to the table of expressions, so that whatever rewrites, shares or
// differentiates expressions does the same to calls.
//
// What may fail (a subscript outside its array, an assertion, too many iterations) names a site: text and place
// for the message. A failure is recorded, the results are NaN, and whoever evaluates the model looks.
#ifndef MDLC_IR_EXPR_ROUTINE_H
#define MDLC_IR_EXPR_ROUTINE_H

#include "ir/base/src.h"
#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

typedef struct Site {
    const char *text;     // a template with at most MDL_FAILURE_VALUES values (runtime/model/template.h)
    Span span;
} Site;

typedef struct Step {
    Expr value;
    uint32_t cell;        // first cell of the array, or the cell
    Expr index;           // 0: cell gets the value; else cell + index does, 0 <= index < count or NaN (nothing does)
    uint32_t count;
} Step;

typedef enum BlockEnd {
    BLOCK_JUMP,           // to `to`
    BLOCK_BRANCH,         // to `to` when the condition holds, else to `otherwise`
    BLOCK_RETURN,
    BLOCK_FAIL,           // at `site`, with the values of Routine.values
    BLOCK_WARN            // the same as a warning; then to `to`
} BlockEnd;

typedef struct Block {
    uint32_t first, n;    // range of Routine.steps
    uint8_t end;          // BlockEnd
    bool again;           // a jump back, to the head of a loop: counted
    Expr condition;
    uint32_t to, otherwise;
    uint32_t site, value, n_values; // BLOCK_FAIL: range of Routine.values, at most MDL_FAILURE_VALUES
} Block;

typedef struct Extent {   // cells of one variable
    uint32_t first, count;
} Extent;

// Calls an external function: results go to `outputs`; a failure is recorded in `state` (runtime/model/model.h) as by other routines.
typedef void ExternalCode(const double *inputs, double *outputs, double *state);

// An external function in C, or FORTRAN, and how it is called (frontend/external/external.c). All texts live as long as the routine.
typedef struct External {
    const char *symbol;        // of the ExternalCode
    const char *code;          // C that defines it
    const char *include;       // what that needs before it: the annotation Include, or a prototype
    bool declared;             // it is the annotation Include
    const char *const *words;  // for the C compiler: folders and libraries
    const char *const *sources; // C files to be compiled with it
    uint32_t n_words, n_sources;
    uint32_t destructor;       // routine that destroys the object that it makes; 0: none
    bool objects;              // it makes or uses external objects: only at run time
    bool makes;                // one of its results is an external object
    ExternalCode *address;     // once it has been loaded into this process
    bool builtin;              // of this project: it has an address and no code; those of texts and of runtime/model/standard.h
} External;

// A derivative for calls in which some inputs do not move. One that is declared takes the derivatives of all inputs, one that was made of the
// statements (`derivative_of` of its routine) of those alone that move.
typedef struct Special {
    uint32_t number;
    const uint8_t *zero;      // per input: its derivative must be zero
} Special;

typedef struct Inverse {
    uint32_t input, number;   // routine: the inputs, of which this one is not used, and the output give this input
} Inverse;

typedef struct Routine {
    const char *name;     // of the function, for messages
    uint32_t number;      // CALL's first argument
    uint32_t inputs;      // cells 0 .. inputs - 1
    uint32_t outputs, output; // cells output .. output + outputs - 1
    uint32_t cells;       // all others are 0 when a call begins
    bool complete;        // while it is not, calls of it can be made but not evaluated
    U8Vec real;           // per input: a Real, so that there is a derivative by it
    VEC(Step) steps;
    VEC(Block) blocks;    // execution begins with the first
    U32Vec values;
    VEC(Extent) extents;  // disjoint, ascending; all cells
    uint32_t derivative;  // routine of the derivative, 0: not made yet
    uint32_t derivative_of; // that whose statements were differentiated to make this one; 0: none
    const uint8_t *ignored; // of a declared derivative, per input of its function: it is a Real whose derivative is left out; NULL: none is
    VEC(Special) special; // tried before that, in this order
    VEC(Inverse) inverses; // of a routine with one output
    External *external;   // instead of blocks; NULL: none
    uint32_t exhausted;   // times that a call took too long while compiling
    bool stepwise;        // known with the derivative: a result depends on Real inputs through conditions alone (a bisection);
    U8Vec steps_alone;    // which of the outputs do
    U8Vec whole;          // which of the outputs are no Reals, so that their derivatives are 0; empty: none
    uint32_t depth_site, work_site, time_site; // calls inside each other, iterations, the run's limit of time
} Routine;

enum {
    ROUTINE_STACK = 2 << 20,       // bytes of cells of all calls inside each other
    ROUTINE_OVERHEAD = 512,        // bytes of a call that are no cells
    ROUTINE_WORK = 100000000,      // calls and repetitions in one evaluation of an outermost call
    ROUTINE_FOLDING = 200000,      // the same while compiling
    ROUTINE_FOLDING_LEAST = 1000   // and what is left of it when calls of the function have taken too long often
};

// A routine without blocks; name and site texts are copied.
Routine *routine_create(Exprs *exprs, const char *name, Span span);
Routine *routine_of(const Exprs *exprs, uint32_t number);
uint32_t routine_count(const Exprs *exprs); // numbers are 1 .. count
uint32_t site_add(Exprs *exprs, const char *text, Span span);
uint32_t site_count(const Exprs *exprs);
const Site *site_of(const Exprs *exprs, uint32_t site);

// Makes it a call of an external function; everything is copied.
void routine_take_external(Exprs *exprs, Routine *routine, const External *external);

// Compiles and loads an external function, so that it has its address; false after messages. It is called when a value is needed while
// compiling, of a parameter for instance.
typedef bool ExternalLoad(void *context, Exprs *exprs, Routine *routine);
void routines_load_with(Exprs *exprs, ExternalLoad *load, void *context);

// Making.
uint32_t routine_cells(Routine *routine, uint32_t count);    // a new object; returns its first cell
uint32_t routine_block(Routine *routine);                    // a new block, with BLOCK_RETURN
// Blocks are filled one at a time: `first` of a block is set when its first step comes.
void routine_step(Routine *routine, uint32_t block, Step step);
// Every expression of the routine rewritten by a rule (expr_rewrite).
void routine_rewrite(Exprs *exprs, Routine *routine, ExprReplace *replace, void *context);
// These cells become the inputs, in this order. The routine has had none.
void routine_take_inputs(Exprs *exprs, Routine *routine, const uint32_t *cells, uint32_t n);
// How many of its objects are inputs; they stand first.
uint32_t routine_input_objects(const Routine *routine);
// Stack that one call takes.
double routine_bytes(const Routine *routine);
// What an engine counts of a call. Calls inside each other end at routines that call nothing, if these are not large.
typedef enum RoutineCost {
    ROUTINE_PLAIN,   // nothing
    ROUTINE_REPEATS, // it calls nothing: the call and its repetitions
    ROUTINE_CALLS    // and its stack
} RoutineCost;
RoutineCost routine_cost(const Exprs *exprs, const Routine *routine);
// A function in C that comes with mdlc: the first argument of its calls is the site of its failure + 1.
bool routine_notes(const Routine *routine);
// Whether a call can fail by itself, or by what it calls.
bool routine_may_fail(const Exprs *exprs, const Routine *routine);
// Whether what a call gives may jump, or bend, where its inputs do not: it, or what it calls, has branches, steps or subscripts, or is external.
bool routine_call_branches(const Exprs *exprs, Expr call);
// Whether the derivative of a call follows its value: it is declared (annotation `derivative`), or nothing in the statements branches and
// it follows from what they call in the same way.
bool routine_call_is_smooth(const Exprs *exprs, Expr call);
// Operations in the statements of all functions that a call reaches, each once.
uint64_t routine_call_operations(const Exprs *exprs, Expr call);

// The routine of the derivative: inputs are those of the routine, then their derivatives; outputs are the
// derivatives of its outputs. Forward differentiation of the steps: where control goes is not differentiated.
uint32_t routine_derivative(Exprs *exprs, uint32_t number);

// Another derivative, tried behind those that were added before; `zero`, one per input, is copied.
void routine_take_special(Exprs *exprs, Routine *routine, uint32_t number, const uint8_t *zero);

// Of a declared derivative: the inputs that it leaves out; `ignored` is copied.
void routine_take_ignored(Exprs *exprs, Routine *routine, const uint8_t *ignored, uint32_t inputs);

// That of a call whose inputs have the derivatives `rates`. Per input `left_out` says that the derivative does not take its rate, which is zero;
// NULL: it takes all.
uint32_t routine_derivative_for(Exprs *exprs, uint32_t number, const Expr *rates, const uint8_t **left_out);

// The same of an external function, by central differences: for Newton's method, not for differentiating equations.
uint32_t routine_difference(Exprs *exprs, Routine *of);

// Whether evaluating an expression makes or uses external objects.
bool routine_needs_objects(const Exprs *exprs, Expr e);
// Whether it calls functions of others, of which nobody knows what they do besides.
bool routine_leaves(const Exprs *exprs, Expr e);
// What the external function said that failed last; NULL: none has since this was asked.
const char *routine_said(Exprs *exprs);
// The outputs for given inputs; false when the routine fails, does too much for a compiler, or is not complete.
bool routine_evaluate(Exprs *exprs, uint32_t number, const double *inputs, double *outputs);
// The call with a number of results that an expression names.
Expr routine_call(Exprs *exprs, uint32_t number, const Expr *inputs, uint32_t n);
// Output k, from 0.
Expr routine_result(Exprs *exprs, Expr call, uint32_t k);
// Appends the numbers of all routines that the expressions call, and those that these call, each once.
void routine_reach(const Exprs *exprs, Expr e, U8Vec *seen, U32Vec *numbers);
// Only those that an expression calls directly, or the statements of a routine.
void routine_called(const Exprs *exprs, Expr e, U8Vec *seen, U32Vec *numbers);
void routine_called_by(const Exprs *exprs, const Routine *routine, U8Vec *seen, U32Vec *numbers);
// routine_reach of one routine, itself included; 0 is none.
void routine_reach_number(const Exprs *exprs, uint32_t number, U8Vec *seen, U32Vec *numbers);

// Looks at everything that whoever executes a routine relies on: NULL, or what is wrong, as the thing that a text of it would need.
const char *routine_wrong(const Exprs *exprs, const Routine *routine);

#endif
