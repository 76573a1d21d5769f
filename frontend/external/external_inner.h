// external_inner.h: a call of an external function, for the files frontend/external*.c.
#ifndef MDLC_FRONTEND_EXTERNAL_EXTERNAL_INNER_H
#define MDLC_FRONTEND_EXTERNAL_EXTERNAL_INNER_H

#include "frontend/value/expression_inner.h"
#include "frontend/value/frame.h"
#include "runtime/model/standard.h"

typedef enum PassKind {
    PASS_VALUE,  // of an input, or of any expression
    PASS_RESULT, // an output of the function
    PASS_WORK    // an array that the function declares for the external one to work with
} PassKind;

typedef struct Pass {    // an argument of the external function, or what it returns
    PassKind kind;
    Value value;         // what is passed; of results and arrays to work with: what they hold before
    uint32_t variable;   // of a result: which one of the frame
    uint32_t in, out;    // its first scalars among the inputs and outputs of the routine
    bool size;           // a size of an array
    Node node;
} Pass;

typedef struct Passing { // how an external function is called
    ExprEnv *env;
    const char *name;    // of the external function
    bool fortran;
    bool impure;         // not declared as pure
    bool counted;        // declared as impure: each call that is written is one of its own
    VEC(Pass) passes;
    int64_t returned;    // index of what it returns; -1: nothing
    uint32_t inputs, outputs;
    const char *destructor; // symbol of the ExternalCode that destroys the object that is made; NULL: none
} Passing;

// --- external.c
// The outputs of the function are the results of a call of its routine.
bool external_take_results(Frame *frame, const Passing *passing, Expr call);
bool external_uses_objects(const Passing *passing);
const Type *external_makes_object(const Passing *passing); // its type; NULL: none

// --- external_builtin.c
// Whether the clause means a built-in function; calls it, and gives the output its value.
bool external_is_builtin(const Frame *frame, const Passing *passing);
bool external_run_builtin(Frame *frame, const Passing *passing);

// --- external_standard.c
// The function of our own that is declared; NULL: none.
const mdl_standard *external_standard(const Frame *frame, const Passing *passing);
bool external_call_standard(Frame *frame, Passing *passing, const mdl_standard *standard);

// --- external_code.c
// The text that is passed, where it is known; NULL: for other arguments.
const char *external_literal(const Passing *passing, const Pass *pass);
// The C type of a scalar of this type; NULL when there is none.
const char *external_scalar_type(const Type *type);
// The declaration of the external function, and the text of `symbol`, an ExternalCode that calls it; failures are of `site`.
void external_prototype(const Passing *passing, Out *out);
void external_wrapper(const Passing *passing, const char *symbol, uint32_t site, Out *out);

// --- external_folder.c
// The words that tell the C compiler where the class of a function finds its files, and what it is linked with.
bool external_words(ExprEnv *env, Node class_node, External *external);

typedef VEC(const char *) ExternalTexts;
// The names in the annotation Library; false after an error.
bool external_libraries(ExprEnv *env, Node class_node, ExternalTexts *names);

// --- external_text.c
// C that all calls share: what the text above refers to, and ModelicaUtilities.h with what it declares.
extern const char external_header[], external_utilities_header[], external_support[];

#endif
