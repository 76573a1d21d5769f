// guards.h: what passes rely on and numbers may break is asserted.
#ifndef MDLC_IR_DAE_GUARDS_H
#define MDLC_IR_DAE_GUARDS_H

#include "ir/dae/dae.h"
#include "ir/expr/nonsmooth.h"

// Adds an assertion of the compiler's own, once for each condition on the same variables. `made` has all but the message, of which
// `message` is asked where it is new.
void dae_guard(Dae *dae, Assert made, Sym (*message)(Dae *dae, Expr of, const Var *vars), Expr of, const Var *vars);

// What such an assertion says: `e`, in back quotes, and the rest of the sentence.
Sym dae_guard_message(Dae *dae, Expr e, const Var *vars, const char *rest);

// Is an expression of parameters positive for the values that are known while compiling, and not by rounding alone?
bool dae_known_positive(Dae *dae, Expr e, const Var *vars);
// An equation was rewritten for that sign: where parameters can be set in the compiled model, a run in which the expression is negative
// ends with a message.
void dae_require_nonneg(Dae *dae, Expr e, const Var *vars, uint32_t equation);
// What this parameter or variable multiplies was left out of an equation because it is zero while compiling: as above, where it is something else.
void dae_require_zero(Dae *dae, Var factor, uint32_t equation);

// What is known of signs in expressions over a row of variables, and what the values of parameters alone say.
typedef struct RowSigns {
    Dae *dae;
    const U32Vec *vars;   // of the slots
    U32Vec assumed;       // expressions that were taken for positive, or not negative, by their values; who holds this frees them
} RowSigns;

// For the algebra of luz, tar and Sgn; slots beyond the row have no sign.
Signs row_signs(RowSigns *signs);
// An equation was rewritten for all that was assumed.
void row_signs_require(const RowSigns *signs, uint32_t equation);

#endif
