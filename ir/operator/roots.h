// roots.h: which arguments of roots a root itself can bring to rest (roots_reach.c); for roots.c.
//
// A variable is moved when it is a linear function, with parametric coefficients, of variables that the model differentiates.
#ifndef MDLC_IR_OPERATOR_ROOTS_H
#define MDLC_IR_OPERATOR_ROOTS_H

#include "ir/dae/dae.h"

typedef struct Reach {
    Dae *dae;
    U8Vec known;     // per variable: REACH_*
    U32Vec family;   // sets of variables that are linear functions of the same derivatives
    U32Vec together; // sets of unknowns that equations join
    Map moves;       // (family, set): a derivative of the family is in the set
    U32Vec waiting, start, users; // while it is made
} Reach;

enum { REACH_UNKNOWN, REACH_MOVED, REACH_GIVEN }; // given: follows from time

Reach reach_create(Dae *dae);
void reach_free(Reach *reach);
// e (over vars) is a linear function of moved variables, and what `equation` computes acts on their derivatives.
bool reach_holds(Reach *reach, uint32_t equation, Expr e, const Var *vars);

#endif
