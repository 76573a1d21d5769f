// run_time_operators.h: operators that stand for something a run computes: each call in an equation is replaced by an expression over
// hidden variables (delays.c, fractional_orders.c, transports.c).
#ifndef MDLC_IR_OPERATOR_RUN_TIME_OPERATORS_H
#define MDLC_IR_OPERATOR_RUN_TIME_OPERATORS_H

#include "ir/expr/expr.h"
#include "ir/structure/problem.h"

typedef struct Calls Calls;

struct Calls {
    Dae *dae;
    Diags *diags;
    Op op;
    // What stands for `call`, whose arguments have no calls any more. 0 after an error.
    Expr (*replace)(Calls *calls, Expr call);
    // of the equation at hand:
    U32Vec vars;     // its slots
    uint32_t equation;
    Map number_of;   // instance -> last number of its hidden variables
    bool good;
};

// Replaces all calls in equations; refuses them elsewhere (E0720). Zero but for the first four members at the call. False
// after an error. Linear in the equations with calls.
bool calls_replace(Calls *calls);

// --- for `replace`
Span calls_span(const Calls *calls);
uint32_t calls_number(Calls *calls); // the next number in the equation's instance
// Nothing but parameters and constants.
bool calls_is_parametric(const Calls *calls, Expr e);
// A hidden variable "$stem3" of the equation's instance.
Var calls_hidden(Calls *calls, const char *stem, uint32_t number, VarKind kind);
// The same, equal to e: a parameter where e is parametric, otherwise an unknown with an equation.
Var calls_define(Calls *calls, Expr e, const char *stem, uint32_t number);
// The variable or constant that e is; otherwise as calls_define().
Var calls_variable(Calls *calls, Expr e, const char *stem, uint32_t number);
// A new equation of the equation's owner, over calls->vars.
void calls_equate(Calls *calls, Expr left, Expr right);
Expr calls_slot(Calls *calls, Var var); // a new slot for var

#endif
