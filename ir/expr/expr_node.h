// expr_node.h: looking at one expression: its operator, its arguments, its value.
#ifndef MDLC_IR_EXPR_EXPR_NODE_H
#define MDLC_IR_EXPR_EXPR_NODE_H

#include <stdbool.h>

#include "ir/expr/expr_id.h"
#include "ir/expr/op.h"

Op expr_op(const Exprs *exprs, Expr e);
uint32_t expr_nargs(const Exprs *exprs, Expr e);
Expr expr_arg(const Exprs *exprs, Expr e, uint32_t i);
double expr_value(const Exprs *exprs, Expr e);        // of a CONST
uint32_t expr_slot_of(const Exprs *exprs, Expr e);    // of a SLOT
bool expr_is_const(const Exprs *exprs, Expr e, double value);

#endif
