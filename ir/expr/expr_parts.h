// expr_parts.h: what an expression consists of: slots, operators, parts.
#ifndef MDLC_IR_EXPR_EXPR_PARTS_H
#define MDLC_IR_EXPR_EXPR_PARTS_H

#include <stdbool.h>

#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"
#include "ir/expr/op.h"

uint32_t expr_nslots(const Exprs *exprs, Expr e);     // highest slot + 1; 0 when there is none
bool expr_uses_slot(const Exprs *exprs, Expr e, uint32_t k);
bool expr_has_op(const Exprs *exprs, Expr e, Op op);
bool expr_has_any(const Exprs *exprs, Expr e, OpSet ops); // one of them at least
// Whether any expression of the table has it. What looks for an operator that nothing has need not look at a model.
bool exprs_have_op(const Exprs *exprs, Op op);
// Appends each slot that occurs in the roots once, in reading order.
void expr_used_slots(const Exprs *exprs, const Expr *roots, uint32_t n, U32Vec *slots);
// Appends e and everything that it consists of once, arguments before users.
void expr_parts(const Exprs *exprs, Expr e, U32Vec *parts);
uint32_t expr_count(const Exprs *exprs);              // ids are 1..count
uint32_t expr_operations(const Exprs *exprs, Expr e); // arithmetic operations, shared parts once

#endif
