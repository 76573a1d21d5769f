// expr_pieces.h: the stack of pending pieces from which expressions are printed without recursion (expr_text.c, expr_math.c).
#ifndef MDLC_IR_EXPR_EXPR_PIECES_H
#define MDLC_IR_EXPR_EXPR_PIECES_H

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/op.h"

typedef struct Piece {
    const char *text;  // NULL: print `e`
    Expr e;
    uint8_t level;     // e needs parentheses when it binds looser than this
    bool follows;      // e is a term after others: " + e" or " - ..."
    bool routine;      // the name of the routine that the call e is of
    bool site;         // the number of the site e
    bool failure;      // the same of the site before e, which a function in C that comes with mdlc notes
    uint32_t length;   // of `text`, which is a part of a String: print it in quotation marks
} Piece;

typedef struct Printer {
    const Exprs *exprs;
    Out *out;
    ExprSlotPrinter *slot;
    void *context;
    const ExprWriter *writer; // NULL: for people
    VEC(Piece) stack;
} Printer;

static inline void
push_text(Printer *printer, const char *text)
{
    vec_push(&printer->stack, (Piece){.text = text});
}

static inline void
push_expr(Printer *printer, Expr e, Precedence level)
{
    vec_push(&printer->stack, (Piece){.e = printer->writer ? e : cell_shown(printer->exprs, e), .level = (uint8_t)level});
}

// A product with a negative constant, -x, or a negative constant.
static inline bool
prints_minus(const Exprs *exprs, Expr term)
{
    return expr_precedence(exprs, term) == LEVEL_SUM && cell_op(exprs, term) != OP_ADD;
}

#endif
