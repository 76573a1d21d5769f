// expr_rewrite.h: expressions in which parts are replaced, slots are renamed, or common parts are computed once. Memoized over shared parts; no
// deep recursion.
#ifndef MDLC_IR_EXPR_EXPR_REWRITE_H
#define MDLC_IR_EXPR_EXPR_REWRITE_H

#include <stdbool.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

// Slot k becomes with[k] (0 keeps the slot). n = length of `with`; further slots are kept.
Expr expr_substitute(Exprs *exprs, Expr e, const Expr *with, uint32_t n);
// The same where all that is put in is the constant 0. It is remembered: rows of one shape mostly have zeros at the same slots.
Expr expr_with_zeros(Exprs *exprs, Expr e, const Expr *zeros, uint32_t n);
Expr expr_replace_slot(Exprs *exprs, Expr e, uint32_t slot, Expr with);
// The expression with each part replaced, arguments before users. The rule may make and walk over expressions.
Expr expr_rewrite(Exprs *exprs, Expr e, ExprReplace *replace, void *context);
// The same for several that share parts; each part is replaced once. 0 stays 0.
void expr_rewrite_all(Exprs *exprs, Expr *roots, uint32_t n, ExprReplace *replace, void *context);
// Rewriting in which a part may be seen in several ways (inside noEvent or not) and not every argument is looked at. Depth costs
// memory of its own and no stack.
typedef struct ExprDescent {
    // What e, seen in `way`, needs first: its i-th such part, and the way in which that is seen; false when there are no more.
    bool (*needs)(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way);
    // What stands for e, seen in `way`, or any other number that is to be known of it. All that it needs is in `done`.
    Expr (*make)(void *context, Expr e, uint32_t way);
    void *context;
    Map *done; // per way: expression -> what stands for it; the caller clears and frees them
} ExprDescent;
Expr expr_descend(const ExprDescent *descent, Expr e, uint32_t way);
// Renumbers slots by first occurrence in reading order; order[new] = old. The result is a shape.
Expr expr_shape(Exprs *exprs, Expr e, U32Vec *order);

// Operations that remain when every part that several of the roots, or several places of one, have in common is computed
// once; what sums and products have in common is found too. A difference is one operation, as is a quotient, a power, a
// function. With `definitions` the roots are rewritten: definitions[i] is the value of slot first_slot + i, used at
// least twice, over earlier ones.
uint32_t expr_share(Exprs *exprs, Expr *roots, uint32_t n, uint32_t first_slot, U32Vec *definitions);
// Operations when all is written out (saturating at 2^30 per root).
uint64_t expr_written_operations(Exprs *exprs, const Expr *roots, uint32_t n);

#endif
