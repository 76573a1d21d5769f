// roots.h: which arguments of roots a root itself can bring to rest (roots_reach.c), and flows in a row (roots_row.c); for roots.c.
//
// A variable is moved when it is a function of variables that the model differentiates, and of time.
#ifndef MDLC_IR_OPERATOR_ROOTS_H
#define MDLC_IR_OPERATOR_ROOTS_H

#include "ir/dae/dae.h"
#include "ir/expr/expr_node.h"

typedef struct Reach {
    Dae *dae;
    U8Vec known;     // per variable: REACH_*
    U32Vec by;       // per moved variable: the equation that gives it as a function of others, or NONE
    U32Vec family;   // sets of variables that are linear functions of the same derivatives
    U32Vec together; // sets of unknowns that equations join
    Map moves;       // (family, set): a derivative of the family is in the set
    U32Vec waiting, start, users; // while it is made
} Reach;

// Rooted: moved, and what a root gives. Given: follows from time. Opaque: so does it, by what is not differentiated.
enum { REACH_UNKNOWN, REACH_MOVED, REACH_ROOTED, REACH_GIVEN, REACH_OPAQUE };

Reach reach_create(Dae *dae);
void reach_free(Reach *reach);
// e (over vars) is a function of moved variables and time, and what `equation` computes acts on their derivatives; *linear: in the variables.
bool reach_holds(Reach *reach, uint32_t equation, Expr e, const Var *vars, bool *linear);

// --- parts of expressions (roots.c)
Expr roots_folded(const Exprs *exprs, Expr e, Op op); // max(L, 0), abs(L): L, or 0
Expr roots_under(const Exprs *exprs, Expr e, double *exponent); // a root: what is under it, and its power; 0: it is none
Expr roots_sign(Exprs *exprs, Expr e); // the sign of x as a factor: x; otherwise 0

// --- roots_row.c: flows in a row become one root each; true when an equation has changed. squares := those that give what is between roots
bool roots_row(Reach *reach, Map *squares);

#endif
