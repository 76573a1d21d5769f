// merge.h: what the two ways of merging set-valued laws share: side by side (merge.c), in a row (series.c).
#ifndef MDLC_IR_PASS_MERGE_H
#define MDLC_IR_PASS_MERGE_H

#include "ir/problem.h"

// A variable of the instance whose law this is, named after the law.
Var merge_hidden(Dae *dae, const Law *law, const char *stem, VarKind kind, VarType type);
// A new equation, shape over vars, that belongs to the law's component.
void merge_equation(Dae *dae, const Law *law, Expr shape, const Var *vars);
// The law's equation becomes an ordinary one and its mode vanishes.
void merge_replace(Dae *dae, const Law *law, Expr shape, const Var *vars);
// Laws that share one force become one law. New variables are not yet in Dae.alias_of.
void merge_series(Dae *dae);

#endif
