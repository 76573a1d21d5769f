// expr_id.h: expressions by their numbers, for what stores or hands on expressions and looks into none.
#ifndef MDLC_IR_EXPR_EXPR_ID_H
#define MDLC_IR_EXPR_EXPR_ID_H

#include <stdint.h>

typedef uint32_t Expr;       // an expression of a table (expr.h); 0 = none
typedef struct Exprs Exprs;
// A rule of rewriting (expr_rewrite.h): what stands for a part whose arguments have become args (one per argument, as the part has them), an
// expression, or 0 for the same operator of args.
typedef Expr ExprReplace(void *context, Exprs *exprs, Expr part, const Expr *args);

#endif
