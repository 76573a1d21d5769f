// frame.h: a function being executed: what the rooms of functions and external functions share.
#ifndef MDLC_FRONTEND_VALUE_FRAME_H
#define MDLC_FRONTEND_VALUE_FRAME_H

#include "frontend/value/expression_inner.h"

typedef struct Variable { // of a function
    Sym name;
    uint32_t flags;        // AST_F_INPUT, AST_F_OUTPUT, AST_F_CONSTANT, AST_F_PARAMETER
    Node line, component;  // COMPONENTS and COMPONENT
    void *scope;
    uint8_t open_sizes;    // bit k: dimension k is declared with `:`, and follows what is assigned (section 12.4.5)
    bool shapes;           // an input that sizes of other variables are made of
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
    const struct Meaning *meaning; // what its statements do (frontend/function/function.h)
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
    bool many;             // one of many calls in a routine: code that stands once is better
    bool in_loop;          // the statement at hand is inside a loop
    Expr left, returned;   // where the loops being executed, or the function, have been left; 0: nowhere
    // Of an algorithm section of a model (algorithm.c), NULL in functions: the condition of a branch of a
    // when-statement, and assert, terminate, reinit.
    bool (*edge)(Frame *frame, const Value *condition, Span span, Expr *out);
    void (*settle)(Frame *frame, Node statement); // after a statement; may be NULL
    bool (*call)(Frame *frame, Node call);
};

// The record whose fields are the variables of an executed constructor.
bool record_construct(Frame *frame, Value *out);

#endif
