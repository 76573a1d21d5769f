// strings.c: texts: values of type String.
//
// Purpose: Strings in expressions, known or not (Modelica 3.6, sections 4.9.4 and 10.6). Method: a String is the number of a text, an
// expression like those of other types (ir/expr/text_values.h), so that arrays, conditions, functions and records have nothing to do for it; here
// is what makes and what reads texts. Contract: expression_inner.h. Complexity: linear in the texts.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "runtime/model/template.h"

enum { TEXT_LIMIT = 1000, LONGEST_TEXT = 16 * 1000 * 1000 };

Value
text_value(ExprEnv *env, const char *text)
{
    return value_scalar(env, TYPE_STRING, text_expr(env->exprs, text));
}

const char *
text_of(const ExprEnv *env, const Value *value)
{
    return text_known(env->exprs, value->elements[0]);
}

static bool
join(ExprEnv *env, Expr left, Expr right, Span span, Expr *out)
{
    const char *a = text_known(env->exprs, left), *b = text_known(env->exprs, right);
    size_t length = (a ? strlen(a) : 0) + (b ? strlen(b) : 0);
    if (length > LONGEST_TEXT) {
        diag_add(env->diags, E0214, span, "this makes a text of %zu characters; the limit is %d", length, LONGEST_TEXT);
        return false;
    }
    *out = text_join(env->exprs, left, right, env->arena);
    return true;
}

bool
text_joined(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out)
{
    const Value *longer = left->type.rank ? left : right;
    if (!value_new(env, &longer->type, span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        if (!join(env, left->elements[left->type.rank ? i : 0], right->elements[right->type.rank ? i : 0], span, &out->elements[i]))
            return false;
    return true;
}

// One place with a number, or shown as unknown.
static void
fill_place(ExprEnv *env, const char *format, size_t length, Expr element, Out *out)
{
    char part[TEXT_LIMIT];
    double number = expr_op(env->exprs, element) == OP_CONST ? expr_value(env->exprs, element) : NAN;
    const char *place = arena_printf(env->arena, "%.*s", (int)length, format);
    if (expr_op(env->exprs, element) == OP_CONST)
        template_fill(place, &number, text_table(env->exprs), part, sizeof part);
    out_text(out, expr_op(env->exprs, element) == OP_CONST ? part : "...");
}

const char *
text_filled(ExprEnv *env, const Value *text)
{
    TextForm form = text_form(env->exprs, text->elements[0], env->arena);
    const char *at = form.form;
    Out out = {0};
    for (uint32_t i = 0; i < form.n; i++) {
        const char *begin = strchr(at, '\1'), *end = begin ? strchr(begin, '\2') : NULL;
        if (!end)
            break;
        out_bytes(&out, at, (size_t)(begin - at));
        fill_place(env, begin, (size_t)(end + 1 - begin), form.values[i], &out);
        at = end + 1;
    }
    out_text(&out, at);
    const char *filled = arena_printf(env->arena, "%s", out.text ? out.text : "");
    out_free(&out);
    return filled;
}
