// builtin_text.c: String(): numbers, Booleans and enumerations as text.
//
// Purpose: Modelica 3.6, section 3.7.1.1. Method: the options, which are known at compile time, are checked here and become one
// format, whose letters and number of digits are known to be harmless. A value that is known becomes text at once, another one a
// place in it. Contract: expression_inner.h. Complexity: linear in the text.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

enum { TEXT_WIDTH = 512, ARGUMENT_DIGITS = 1, ARGUMENT_WIDTH, ARGUMENT_LEFT, ARGUMENT_FORMAT };

// An option between 0 and TEXT_WIDTH; `out` stays as it is when the option is not given.
static bool
option_integer(BuiltinCall *call, uint32_t argument, int *out)
{
    int64_t value;
    if (argument >= call->n || !call->nodes[argument])
        return true;
    if (!expression_integer(call->env, call->nodes[argument], &value))
        return false;
    if (value < 0 || value > TEXT_WIDTH) {
        diag_add(call->env->diags, E0220, node_span(call->env, call->nodes[argument]),
                 "%lld is outside 0:%d", (long long)value, TEXT_WIDTH);
        return false;
    }
    *out = (int)value;
    return true;
}

// A format as in C without its percent sign: flags, width, precision and a letter that fits the type.
static bool
format_usable(const char *format, bool integer)
{
    const char *at = format + strspn(format, "-+ #0");
    size_t width = strspn(at, "0123456789"), precision = 0;
    at += width;
    if (*at == '.') {
        precision = strspn(++at, "0123456789");
        at += precision;
    }
    const char *letters = integer ? "dioxXu" "eEfgG" : "eEfgG";
    return width <= 2 && precision <= 2 && *at && strchr(letters, *at) && !at[1];
}

// The format of a place (runtime/model/template.h) that an argument `format` asks for.
static bool
given_format(BuiltinCall *call, const Value *value, const char **out)
{
    ExprEnv *env = call->env;
    Value format;
    Node node = call->nodes[ARGUMENT_FORMAT];
    bool integer = value->type.base == TYPE_INTEGER;
    if (!expression_scalar(env, node, TYPE_STRING, "the format", &format))
        return false;
    if (!value_evaluate(env, &format, node_span(env, node)))
        return false;
    const char *text = text_of(env, &format);
    if (!type_is_number(&value->type) || !format_usable(text, integer)) {
        Diag *diag = diag_add(env->diags, E0220, node_span(env, node), "\"%s\" is no format of %s", text,
                              value_type_text(env, value));
        diag_help(diag, "formats are those of C without '%%', such as \"8.3f\" or \"g\"");
        return false;
    }
    *out = arena_printf(env->arena, "%%%s", text);
    return true;
}

// Names of an enumeration, or of the two values of a Boolean, padded to the width.
static const char *
names_format(ExprEnv *env, const Type *type, int width)
{
    static const char *const boolean[] = {"false", "true"};
    bool logical = type->base == TYPE_BOOLEAN;
    uint32_t n = logical ? 2 : type->n_literals;
    const char *text = "e";
    for (uint32_t i = 0; i < n; i++)
        text = arena_printf(env->arena, "%s%s%*s", text, i ? "," : "", width,
                            logical ? boolean[i] : sym_text(env->syms, type->literals[i]));
    return text;
}

// The format of a place for the number of digits and the width.
static const char *
plain_format(ExprEnv *env, const Type *type, int digits, int width)
{
    switch (type->base) {
    case TYPE_REAL: return arena_printf(env->arena, "%%%d.%dg", width, digits);
    case TYPE_INTEGER: return arena_printf(env->arena, "%dd", width);
    default: return names_format(env, type, width);
    }
}

// Digits are for Reals alone, and a format says all that the other options could (section 3.7.1.1). A library may say more.
static bool
options_fit(BuiltinCall *call, const Type *type)
{
    ExprEnv *env = call->env;
    Node digits = call->n > ARGUMENT_DIGITS ? call->nodes[ARGUMENT_DIGITS] : 0, format = call->n > ARGUMENT_FORMAT ? call->nodes[ARGUMENT_FORMAT] : 0;
    Node other = digits;
    for (uint32_t i = ARGUMENT_WIDTH; i < ARGUMENT_FORMAT && i < call->n && !other; i++)
        other = call->nodes[i];
    bool wrong = digits && type->base != TYPE_REAL, both = format && other;
    if ((!wrong && !both) || (env->routines && sources_is_others(env->routines->sources, node_span(env, call->nodes[0]).lo)))
        return true;
    if (wrong)
        diag_add(env->diags, E0210, node_span(env, digits), "'significantDigits' is for Reals, and this is %s", type->base == TYPE_INTEGER ? "an Integer" : "no number");
    else
        diag_add(env->diags, E0210, node_span(env, other), "'format' stands alone: it says what the other options would");
    return false;
}

bool
builtin_string(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    Value value;
    int digits = 6, width = 0;
    bool left = true, has_format = call->n > ARGUMENT_FORMAT && call->nodes[ARGUMENT_FORMAT];
    const char *format;
    if (!expression(env, call->nodes[0], &value)
        || !option_integer(call, ARGUMENT_DIGITS, &digits) || !option_integer(call, ARGUMENT_WIDTH, &width))
        return false;
    if (call->n > ARGUMENT_LEFT && call->nodes[ARGUMENT_LEFT]
        && !expression_bool(env, call->nodes[ARGUMENT_LEFT], &left))
        return false;
    if (value.type.rank || value.type.base == TYPE_STRING || value.type.base == TYPE_RECORD) {
        diag_add(env->diags, E0210, node_span(env, call->nodes[0]),
                 "the argument of 'String' must be a scalar number, Boolean or enumeration, but it has type %s",
                 value_type_text(env, &value));
        return false;
    }
    if (!options_fit(call, &value.type))
        return false;
    if (!has_format)
        format = plain_format(env, &value.type, digits, left ? -width : width);
    else if (!given_format(call, &value, &format))
        return false;
    Expr element = value.elements[0];
    if (value.type.base == TYPE_BOOLEAN)
        element = expr_3(env->exprs, OP_IF, element, expr_const(env->exprs, 2), expr_const(env->exprs, 1));
    *out = value_scalar(env, TYPE_STRING, text_fill(env->exprs, arena_printf(env->arena, "\1%s\2", format), &element, 1));
    return true;
}
