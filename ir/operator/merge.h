// merge.h: what the ways of merging set-valued laws share: side by side (merge.c), in a row (series.c), side by side in a
// row (parallel.c).
#ifndef MDLC_IR_OPERATOR_MERGE_H
#define MDLC_IR_OPERATOR_MERGE_H

#include "ir/structure/problem.h"

// A variable of the instance whose law this is, named after the law.
Var merge_hidden(Dae *dae, const Law *law, const char *stem, VarKind kind, VarType type);
// A new equation, shape over vars, that belongs to the law's component.
void merge_equation(Dae *dae, const Law *law, Expr shape, const Var *vars);
// The law's equation becomes an ordinary one and its mode vanishes.
void merge_replace(Dae *dae, const Law *law, Expr shape, const Var *vars);
// A variable that is the sum of the laws' bands: a parameter when they all are. `laws` are indices.
Var merge_bands(Dae *dae, const uint32_t *laws, uint32_t n);
// A variable that is the sum of those bands that are above zero; `bands` itself when they are parameters or n is 1.
Var merge_loads(Dae *dae, const uint32_t *laws, uint32_t n, Var bands);
// The law's force becomes its share, by the bands, of the force of n laws side by side; `mode` is theirs.
void merge_share(Dae *dae, const Law *law, Var force, Var bands, Var loads, Var mode, uint32_t n);
// New variables stand for themselves in Dae.alias_of.
void merge_extend(Dae *dae);
// Laws that share one force become one law. New variables are not yet in Dae.alias_of.
void merge_series(Dae *dae);
// Laws of one velocity that carry the force of another law together become one law of that force; false: there are none.
bool merge_parallel(Dae *dae);

#endif
