// roots.h: which arguments of roots a root itself can bring to rest (roots_reach.c), and flows in a row (roots_row.c); for roots.c.
//
// A variable is moved when it is a function of variables that the model differentiates, and of time.
#ifndef MDLC_IR_OPERATOR_ROOTS_H
#define MDLC_IR_OPERATOR_ROOTS_H

#include "ir/dae/dae.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/naming.h"

typedef struct Reach {
    Dae *dae;
    U8Vec known;     // per variable: REACH_*
    U32Vec by;       // per moved variable: the equation that gives it as a function of others, or NONE
    U32Vec family;   // sets of variables that are linear functions of the same derivatives
    U32Vec together; // sets of unknowns that equations join
    Map moves;       // (family, set): a derivative of the family is in the set
    U8Vec computed;  // per variable: it follows from states, time and what jumps by one equation after the other, roots forwards only
    U32Vec waiting, start, users; // while it is made
} Reach;

// Rooted: moved, and what a root gives. Given: follows from time. Opaque: so does it, by what is not differentiated.
enum { REACH_UNKNOWN, REACH_MOVED, REACH_ROOTED, REACH_GIVEN, REACH_OPAQUE };

Reach reach_create(Dae *dae);
void reach_free(Reach *reach);
// e (over vars) is a function of moved variables and time, and what `equation` computes acts on their derivatives; *linear: in the variables.
bool reach_holds(Reach *reach, uint32_t equation, Expr e, const Var *vars, bool *linear);
// e (over vars) does not follow so: a root of it stands in a loop, or what it gives is known and e is not.
bool reach_in_loop(const Reach *reach, Expr e, const Var *vars);

// --- parts of expressions (roots.c)
Expr roots_folded(const Exprs *exprs, Expr e, Op op); // max(L, 0), abs(L): L, or 0
Expr roots_under(const Exprs *exprs, Expr e, double *exponent); // a root: what is under it, and its power; 0: it is none
Expr roots_sign(Exprs *exprs, Expr e); // the sign of x as a factor: x; otherwise 0

// e as scale*result, in which the first variable that moves has a factor of one or minus one: what is small then is so in the units of that one;
// over naming->vars, to which parameters are appended.
Expr roots_scaled(Naming *naming, uint32_t equation, Expr e, Expr *scale);

// --- roots_row.c
// The equation `var = *value` of a sum without roots, or NONE.
uint32_t roots_definition(const Reach *reach, Var var, Expr *value);
// Flows in a row become one root each; true when an equation has changed. squares := those that give what is between roots
bool roots_row(Reach *reach, Naming *naming, Map *squares);

#endif
