// Texts: constant ones, and those with values known at run time.
//
// Purpose: values of type String. Method: a text has a place for each value that is not known yet (runtime/template.h), and the value
// has these as elements; joining two joins both. Which of several texts it is, is a value as well: the format of an enumeration
// whose names they are. Contract: expression_inner.h. Complexity: linear in the texts.
#include <math.h>
#include <string.h>

#include "frontend/expression_inner.h"
#include "runtime/template.h"

enum { TEXT_LIMIT = 100 * 1000, LONGEST_TEXT = 16 * 1000 * 1000 };

Value
text_value(ExprEnv *env, const char *text)
{
    return (Value){.type = type_scalar(TYPE_STRING), .count = 1, .string = sym_of(env->syms, text)};
}

Value
text_given(ExprEnv *env, Expr address)
{
    Value value = text_value(env, "\1t\2");
    value.places = 1;
    value.elements = arena_array(env->arena, Expr, 1);
    value.elements[0] = address;
    return value;
}

static bool
refuse_text(ExprEnv *env, Span span, const char *why)
{
    env->at_run_time = true;
    diag_add(env->diags, E0723, span, "%s", why);
    return false;
}

bool
text_joined(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out)
{
    uint32_t n = left->places + right->places;
    uint64_t length = (uint64_t)sym_length(env->syms, left->string) + sym_length(env->syms, right->string);
    if (length > LONGEST_TEXT) {
        diag_add(env->diags, E0214, span, "this makes a text of %llu characters; the limit is %d", (unsigned long long)length,
                 LONGEST_TEXT);
        return false;
    }
    const char *text = arena_printf(env->arena, "%s%s", sym_text(env->syms, left->string), sym_text(env->syms, right->string));
    if (n > MDL_FAILURE_VALUES) {
        diag_add(env->diags, E0723, span, "a text can have %d values known at run time, but this one has %u", MDL_FAILURE_VALUES, n);
        return false;
    }
    *out = text_value(env, text);
    out->places = n;
    out->elements = arena_array(env->arena, Expr, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out->elements[i] = i < left->places ? left->elements[i] : right->elements[i - left->places];
    return true;
}

static bool
same_text(const Value *texts, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (texts[i].string != texts[0].string)
            return false;
    return true;
}

// Texts without values and commas are names of an enumeration.
static bool
as_names(ExprEnv *env, const Value *texts, uint32_t n, const char **names)
{
    *names = "e";
    for (uint32_t i = 0; i < n; i++) {
        const char *text = sym_text(env->syms, texts[i].string);
        if (texts[i].places || strpbrk(text, ",\1\2"))
            return false;
        *names = arena_printf(env->arena, "%s%s%s", *names, i ? "," : "", text);
    }
    return true;
}

bool
text_chosen(ExprEnv *env, const Expr *conditions, const Value *texts, uint32_t n, Span span, Value *out)
{
    Exprs *exprs = env->exprs;
    Value made = texts[0];
    const char *names;
    if (!same_text(texts, n)) {
        if (!as_names(env, texts, n, &names))
            return refuse_text(env, span, "texts that a condition known at run time selects must be constant, without commas");
        made = text_value(env, arena_printf(env->arena, "\1%s\2", names));
        made.places = 1;
    }
    bool chosen = made.string != texts[0].string;
    made.elements = arena_array(env->arena, Expr, made.places + 1);
    for (uint32_t i = 0; i < made.places; i++) {
        Expr e = chosen ? expr_const(exprs, n) : texts[n - 1].elements[i];
        for (uint32_t k = n - 1; k-- > 0;)
            e = expr_3(exprs, OP_IF, conditions[k], chosen ? expr_const(exprs, k + 1) : texts[k].elements[i], e);
        made.elements[i] = e;
    }
    *out = made;
    return true;
}

// One place with a number, or shown as unknown.
static void
fill_place(ExprEnv *env, const char *format, size_t length, Expr element, Out *out)
{
    char part[TEXT_LIMIT / 100];
    double number = expr_op(env->exprs, element) == OP_CONST ? expr_value(env->exprs, element) : NAN;
    const char *place = arena_printf(env->arena, "%.*s", (int)length, format);
    if (expr_op(env->exprs, element) == OP_CONST)
        template_fill(place, &number, part, sizeof part);
    out_text(out, expr_op(env->exprs, element) == OP_CONST ? part : "...");
}

const char *
text_filled(ExprEnv *env, const Value *text)
{
    const char *at = sym_text(env->syms, text->string);
    Out out = {0};
    for (uint32_t i = 0; i < text->places; i++) {
        const char *begin = strchr(at, '\1'), *end = begin ? strchr(begin, '\2') : NULL;
        if (!end)
            break;
        out_bytes(&out, at, (size_t)(begin - at));
        fill_place(env, begin, (size_t)(end + 1 - begin), text->elements[i], &out);
        at = end + 1;
    }
    out_text(&out, at);
    const char *filled = arena_printf(env->arena, "%s", out.text);
    out_free(&out);
    return filled;
}
