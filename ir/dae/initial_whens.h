// initial_whens.h: conditions of when-clauses that are initial().
#ifndef MDLC_IR_DAE_INITIAL_WHENS_H
#define MDLC_IR_DAE_INITIAL_WHENS_H

#include "ir/dae/dae.h"

// Marks, per variable, the conditions of when-clauses that are initial(); false when there are none, and the marks stay empty.
bool initial_whens(const Dae *dae, U8Vec *initial);
// e, over `vars`, at the instant of the start: there the edges of these conditions rise, and those of no others. *active: some of them
// occur in it.
Expr initial_whens_value(const Dae *dae, const U8Vec *initial, Expr e, const Var *vars, bool *active);
// The condition under which what waits for the edge of `when` happens at the start, over the variables of `*equation`: a constant 0, never.
Expr initial_whens_edge(const Dae *dae, const U8Vec *initial, Var when, uint32_t *equation);

#endif
