// expr_text.h: expressions as text, as MathML, and read from text.
#ifndef MDLC_IR_EXPR_EXPR_TEXT_H
#define MDLC_IR_EXPR_EXPR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/out.h"
#include "ir/expr/expr_id.h"

typedef void ExprSlotPrinter(Out *out, uint32_t slot, void *context);
// As source text with minimal parentheses: "C21*(v1 - v2) + luz(x, a)". slot may be NULL: prints #k.
void expr_print(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out);
// A number for readers: the shortest decimal that is it but for some rounding, 0.16 of what 0.4*0.4 gives; out_number otherwise.
void expr_told_number(Out *out, double value);
// expr_print for texts that are read again (docs/ir.md): calls name their routine by `routine`, a subscript that is computed names
// the place of its failure by `site`.
typedef struct ExprWriter {
    ExprSlotPrinter *slot, *routine;
    uint32_t (*site)(uint32_t site, void *context);
    void *context;
} ExprWriter;
void expr_write(const Exprs *exprs, Expr e, const ExprWriter *writer, Out *out);
// Whether the text of expressions has a word of its own for it, so that nothing else can be called so.
bool expr_word(const char *name, size_t length);
// The same as presentation MathML, without the <math> around it: fractions, roots, powers, cases. Well formed also where it is
// cut for its length. `slot` prints one element.
void expr_print_math(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out);
// Reads what expr_print wrote with slot = NULL. 0 and *error_at (byte offset) on bad text.
Expr expr_read(Exprs *exprs, const char *text, uint32_t *error_at);
// The same with names for slots: asked at every word that is no operator; returns how many bytes the name
// takes (0: not a name) and sets *slot.
typedef uint32_t ExprNameReader(const char *text, uint32_t *slot, void *context);
// With `name` slots have no numbers in the text. What expr_write wrote: `routine` is asked at words before a parenthesis, and gives a routine's number; `site` gives that of a place.
typedef struct ExprReading {
    ExprNameReader *name, *routine;
    bool (*site)(uint32_t *site, void *context);
    void *context;
} ExprReading;
Expr expr_read_names(Exprs *exprs, const char *text, const ExprReading *names, uint32_t *error_at);

#endif
