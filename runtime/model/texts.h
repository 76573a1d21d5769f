// texts.h: Strings at run time.
//
// A value of type String is the number of a text; equal texts have equal numbers, and 0 is the empty one. The texts of a model that are
// known while it is compiled have the first numbers, in the order of mdl_model.text; those that are made during a run follow.
#ifndef MDL_TEXTS_H
#define MDL_TEXTS_H

#include <stdint.h>

#include "runtime/model/objects.h"

typedef struct mdl_texts mdl_texts;

// A table with these texts as the numbers 0 .. n - 1 (known[0] is the empty one, all are different); NULL without memory.
mdl_texts *mdl_texts_create(const char *const *known, uint32_t n);
void mdl_texts_free(mdl_texts **texts);
uint32_t mdl_texts_count(const mdl_texts *texts);
// What calls have made and keep as long as the texts live; NULL without memory.
mdl_objects *mdl_texts_objects(mdl_texts *texts);
// What calls have made with `from` belongs to `to` now, which had made nothing.
void mdl_texts_take_objects(mdl_texts *to, mdl_texts *from);
// The text with a number, as long as the table lives; the empty one for numbers that stand for none.
const char *mdl_text(const mdl_texts *texts, double number);
// The number of a text, which is copied; NaN when there is no room for another one.
double mdl_text_number(mdl_texts *texts, const char *text);

// What calls do with texts (ExternalCode of ir/expr/routine.h): `state` knows the table of the run (MDL_CALL_TEXTS in runtime/model/model.h).
// mdl_text_fill: in[0] is the number of a template (runtime/model/template.h), in[1] what fails without room, the values follow; out[0] is the text.
void mdl_text_fill(const double *in, double *out, double *state);
// mdl_text_order: out[0] is -1, 0 or 1 as text in[0] stands before text in[1] in the order of characters, is equal, or stands behind.
void mdl_text_order(const double *in, double *out, double *state);
// For external functions: the text with a number, and the number of a text.
const char *mdl_text_at(double number, const double *state);
double mdl_text_from(const char *text, const double *state);

#endif
