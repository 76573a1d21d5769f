// expr_id.h: expressions by their numbers, for what stores or hands on expressions and looks into none.
#ifndef MDLC_IR_EXPR_EXPR_ID_H
#define MDLC_IR_EXPR_EXPR_ID_H

#include <stdint.h>

typedef uint32_t Expr;       // an expression of a table (expr.h); 0 = none
typedef struct Exprs Exprs;

#endif
