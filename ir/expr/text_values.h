// text_values.h: values of type String in expressions.
//
// A String is the number of a text in a table that belongs to the table of expressions (runtime/model/texts.h): an expression like every other,
// a constant where the text is known. What makes texts of values is a call: text_fill puts values into the places of a template.
#ifndef MDLC_IR_EXPR_TEXT_VALUES_H
#define MDLC_IR_EXPR_TEXT_VALUES_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/expr/expr_id.h"
#include "runtime/model/texts.h"

// The table, made when it is asked for first. Its text 0 is the empty one.
mdl_texts *text_table(Exprs *exprs);
bool texts_used(const Exprs *exprs);
// The run has a table of texts, although there may be none in the model: what is called makes some, or objects.
void text_needed(Exprs *exprs);
// A text that is known.
Expr text_expr(Exprs *exprs, const char *text);
// The text of a constant; NULL for other expressions.
const char *text_known(Exprs *exprs, Expr e);

// A text as a template (runtime/model/template.h) with at most MDL_FAILURE_VALUES values, which live as long as the arena.
typedef struct TextForm {
    const char *form;
    uint32_t n;
    const Expr *values;
} TextForm;
// What makes this text: its own template and values where it is a call of text_fill, otherwise one place.
TextForm text_form(Exprs *exprs, Expr e, Arena *arena);
// The text that a template makes of values; known when all are. n <= MDL_FAILURE_VALUES.
Expr text_fill(Exprs *exprs, const char *form, const Expr *values, uint32_t n);
// One text behind the other.
Expr text_join(Exprs *exprs, Expr a, Expr b, Arena *arena);
// -1, 0 or 1: a stands before b in the order of characters, is equal, stands behind it.
Expr text_order(Exprs *exprs, Expr a, Expr b);

#endif
