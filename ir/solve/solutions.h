// solutions.h: what solving does once per shape: explicit solutions, residuals, slots of partial derivatives.
#ifndef MDLC_IR_SOLVE_SOLUTIONS_H
#define MDLC_IR_SOLVE_SOLUTIONS_H

#include "ir/structure/causal.h"

typedef struct Solutions Solutions;

Solutions *solutions_create(Dae *dae);
void solutions_free(Solutions **solutions);
// True when the equation `shape` over `vars` has an explicit solution for slot k that is safe for all values.
bool solutions_has(Solutions *solutions, Expr shape, const Var *vars, uint32_t k);
// That solution as an assignment of vars[k]. False when there is none.
bool solutions_assign(Solutions *solutions, Expr shape, const Var *vars, uint32_t k, uint32_t equation,
                      Assign *assign);
// left - right of the equation over `vars`.
Residual solutions_residual(Solutions *solutions, Expr shape, const Var *vars, uint32_t equation);
// The partial derivative of the residual by slot k, over the slots of the equation; 0 when there is none.
Expr solutions_partial(Solutions *solutions, Expr shape, uint32_t k);
// The slots that the partial derivative of the residual by slot k uses; their number in *n. The array is valid
// until the next call.
const uint32_t *solutions_partial_slots(Solutions *solutions, Expr shape, uint32_t k, uint32_t *n);
// The residual is curved in slot k by sines and cosines, which stay between -1 and 1.
bool solutions_is_bounded(Solutions *solutions, Expr shape, uint32_t k);

#endif
