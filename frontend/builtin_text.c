// String(): numbers, Booleans and enumerations as text.
//
// Purpose: Modelica 3.6, section 3.7.1.1; texts are known at compile time, and parameters in them become
// structural. Method: the options are checked here and become one printf conversion, whose letters and number
// of digits are known to be harmless. Contract: expression_inner.h. Complexity: linear in the text.
#include <math.h>
#include <string.h>

#include "frontend/expression_inner.h"

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

static bool
formatted(BuiltinCall *call, const Value *value, const char **out)
{
    ExprEnv *env = call->env;
    Value format;
    Node node = call->nodes[ARGUMENT_FORMAT];
    bool integer = value->type.base == TYPE_INTEGER;
    if (!expression_scalar(env, node, TYPE_STRING, "the format", &format))
        return false;
    const char *text = sym_text(env->syms, format.string);
    if (!type_is_number(&value->type) || !format_usable(text, integer)) {
        Diag *diag = diag_add(env->diags, E0220, node_span(env, node), "\"%s\" is no format of %s", text,
                              value_type_text(env, value));
        diag_help(diag, "formats are those of C without '%%', such as \"8.3f\" or \"g\"");
        return false;
    }
    double number = value_number(env, value, 0);
    size_t stem = strlen(text) - 1;
    if (strchr("eEfgG", text[stem]))
        *out = arena_printf(env->arena, arena_printf(env->arena, "%%%s", text), number);
    else
        *out = arena_printf(env->arena, arena_printf(env->arena, "%%%.*sll%c", (int)stem, text, text[stem]),
                            (long long)number);
    return true;
}

static const char *
plain(ExprEnv *env, const Value *value, int digits)
{
    double number = value_number(env, value, 0);
    switch (value->type.base) {
    case TYPE_BOOLEAN: return number != 0 ? "true" : "false";
    case TYPE_ENUM: return sym_text(env->syms, value->type.literals[(uint32_t)number - 1]);
    case TYPE_INTEGER: return arena_printf(env->arena, "%.0f", number);
    default: return arena_printf(env->arena, "%.*g", digits, number);
    }
}

bool
builtin_string(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    Value value;
    int digits = 6, width = 0;
    bool left = true, has_format = call->n > ARGUMENT_FORMAT && call->nodes[ARGUMENT_FORMAT];
    const char *text;
    if (!expression_constant(env, call->nodes[0], &value)
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
    if (!has_format)
        text = arena_printf(env->arena, "%*s", left ? -width : width, plain(env, &value, digits));
    else if (!formatted(call, &value, &text))
        return false;
    *out = (Value){.type = type_scalar(TYPE_STRING), .count = 1, .string = sym_of(env->syms, text)};
    return true;
}
