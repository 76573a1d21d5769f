// operator_calls.h: operators whose calls in equations become expressions over hidden variables. Each is a row {operator, what stands for
// it, where it cannot stand} (coulomb.c, delays.c, fractional_orders.c, transports.c, unilateral.c).
#ifndef MDLC_IR_OPERATOR_OPERATOR_CALLS_H
#define MDLC_IR_OPERATOR_OPERATOR_CALLS_H

#include "ir/expr/op.h"
#include "ir/operator/naming.h"

typedef struct Calls Calls;

typedef struct OperatorRow {
    Op op;
    // What stands for `call`, whose arguments have no calls any more; 0 after an error.
    Expr (*replace)(Calls *calls, Expr call);
    // Says that it cannot stand where it is. NULL: E0720, "cannot stand here".
    void (*refuse)(Calls *calls, Span span, const char *reason);
    const char *once; // the reason why it cannot stand in what holds at the start or at events only; NULL: it can
} OperatorRow;

struct Calls {
    Dae *dae;
    Diags *diags;
    Naming naming;     // its variables: the slots of the equation at hand
    uint32_t equation; // at hand
    const OperatorRow *row;
    bool good;
};

// Replaces all calls in equations, innermost first, and refuses them elsewhere. Zero but for the first two members (and naming.dae) at the
// call. False after an error. Linear in the equations with calls.
bool calls_replace(Calls *calls, const OperatorRow *row);
// Tells `refuse` where, other than in equations, one of the operators stands, and why it cannot.
typedef void RefuseOperator(void *context, Span span, const char *reason);
void operators_elsewhere(const Dae *dae, const Op *ops, uint32_t n, RefuseOperator *refuse, void *context);

// --- for `replace`
Span calls_span(const Calls *calls);
uint32_t calls_number(Calls *calls); // the next number in the equation's instance
bool calls_is_parametric(const Calls *calls, Expr e);
// A hidden variable "$stem3" of the equation's instance.
Var calls_hidden(Calls *calls, const char *stem, uint32_t number, VarKind kind, VarType type);
// An unknown "$stem3" equal to e: a parameter where e is parametric, otherwise with an equation.
Var calls_define(Calls *calls, Expr e, const char *stem, uint32_t number);
// The variable or constant that e is; otherwise as calls_define().
Var calls_variable(Calls *calls, Expr e, const char *stem, uint32_t number);
// A new equation of the equation's owner.
void calls_equate(Calls *calls, Expr left, Expr right);
Expr calls_slot(Calls *calls, Var var); // a new slot for var

#endif
