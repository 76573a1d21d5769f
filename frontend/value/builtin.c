// builtin.c: built-in functions: the table, matching of arguments, and the elementwise mathematical functions.
//
// Purpose: one row of builtin.def per function; scalar functions apply to arrays element by element (Modelica
// 3.6, section 12.4.6).
// Method: a row names the function that evaluates it; names are compared with the table from its beginning.
// Contract: expression_inner.h. Complexity: linear in elements.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/base/words.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static BuiltinRun map_real, map_luz, map_semi_linear, map_same, map_integer, map_quotient, map_remainder, enumeration_integer;

static const Builtin builtin_table[] = {
#define BUILTIN(name, parameters, least, raw, op, run) {name, parameters, least, raw, op, run},
#include "frontend/value/builtin.def"
#undef BUILTIN
};
static const char *const builtin_name_list[] = {
#define BUILTIN(name, parameters, least, raw, op, run) name,
#include "frontend/value/builtin.def"
#undef BUILTIN
};
enum { BUILTIN_COUNT = sizeof builtin_table / sizeof *builtin_table };

const Builtin *
builtin_find(const char *name)
{
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
        if (builtin_table[i].name[0] == name[0] && !strcmp(builtin_table[i].name, name))
            return &builtin_table[i];
    return NULL;
}

bool
builtin_known(const char *name)
{
    return builtin_find(name) != NULL;
}

const Builtin *
builtin_called(ExprEnv *env, Node ref)
{
    if (ast_at(env->ast, ref)->nchild != 1)
        return NULL;
    const Builtin *builtin = builtin_find(sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, ref, 0))->sym));
    return builtin && env->declared && env->declared(env, ref) ? NULL : builtin;
}

const char *const *
builtin_names(uint32_t *n)
{
    *n = BUILTIN_COUNT;
    return builtin_name_list;
}

// --- arguments

// Number of named parameters; *more when any number may follow.
static uint32_t
parameter_count(const Builtin *builtin, bool *more)
{
    uint32_t n = 0;
    *more = false;
    for (const char *at = builtin->parameters; *at;) {
        size_t length = strcspn(at, " ");
        if (length == 3 && !memcmp(at, "...", 3))
            *more = true;
        else
            n++;
        at += length + (at[length] == ' ');
    }
    return n;
}

static int64_t
parameter_index(const Builtin *builtin, const char *name)
{
    size_t wanted = strlen(name);
    uint32_t i = 0;
    for (const char *at = builtin->parameters; *at; i++) {
        for (size_t length = strcspn(at, " |");; length = strcspn(at, " |")) {
            if (length == wanted && !memcmp(at, name, length))
                return i;
            at += length;
            if (*at != '|')
                break;
            at++;
        }
        at += *at == ' ';
    }
    return -1;
}

// "start, interval" of "start interval".
static void
help_parameters(const BuiltinCall *call, Diag *diag)
{
    Out list = {0};
    for (const char *at = call->builtin->parameters; *at; at++)
        out_printf(&list, *at == ' ' ? ", " : *at == '|' ? " or " : "%c", *at);
    if (list.length)
        diag_help(diag, "its parameters are: %s", list.text);
    out_free(&list);
}

static void
report_count(BuiltinCall *call, uint32_t given)
{
    bool more;
    uint32_t most = parameter_count(call->builtin, &more), least = call->builtin->least;
    const char *name = call->builtin->name;
    Diag *diag;
    if (more || least == most)
        diag = diag_add(call->env->diags, E0203, call->span, "'%s' takes %s%u argument%s, got %u", name,
                        more ? "at least " : "", least, least == 1 ? "" : "s", given);
    else
        diag = diag_add(call->env->diags, E0203, call->span, "'%s' takes %u to %u arguments, got %u", name,
                        least, most, given);
    if (most)
        help_parameters(call, diag);
}

static bool
place_named(BuiltinCall *call, Node arg, uint32_t positional)
{
    ExprEnv *env = call->env;
    const char *name = sym_text(env->syms, ast_at(env->ast, arg)->sym);
    int64_t index = parameter_index(call->builtin, name);
    if (index < 0) {
        Diag *diag = diag_add(env->diags, E0203, node_span(env, arg), "'%s' has no parameter named '%s'",
                              call->builtin->name, name);
        help_parameters(call, diag);
        return false;
    }
    if (index < positional || call->nodes[index]) {
        diag_add(env->diags, E0203, node_span(env, arg), "argument '%s' of '%s' is given twice", name,
                 call->builtin->name);
        return false;
    }
    call->nodes[index] = ast_child(env->ast, arg, 0);
    if (index + 1 > call->n)
        call->n = (uint32_t)index + 1;
    return true;
}

static bool
place_arguments(BuiltinCall *call, Node args)
{
    ExprEnv *env = call->env;
    uint32_t given = args ? ast_at(env->ast, args)->nchild : 0;
    bool more;
    uint32_t most = parameter_count(call->builtin, &more), positional = 0;
    if (!more && given > most) {
        report_count(call, given);
        return false;
    }
    call->nodes = arena_array(env->arena, Node, (given > most ? given : most) + 1);
    for (uint32_t i = 0; i < given; i++) {
        Node arg = ast_child(env->ast, args, i);
        AstKind kind = ast_kind(env->ast, arg);
        if (kind == AST_FUNCARG) {
            diag_add(env->diags, E0210, node_span(env, arg), "'%s' does not take functions as arguments",
                     call->builtin->name);
            return false;
        }
        if (kind == AST_ARG) {
            if (!place_named(call, arg, positional))
                return false;
            continue;
        }
        call->nodes[positional++] = arg;
        if (positional > call->n)
            call->n = positional;
    }
    for (uint32_t i = 0; i < call->builtin->least; i++)
        if (i >= call->n || !call->nodes[i]) {
            report_count(call, given);
            return false;
        }
    return true;
}

static bool
may_be_flexible(const Builtin *builtin)
{
    return builtin->run == map_real || builtin->run == map_same || builtin->run == map_integer || builtin->run == builtin_transpose;
}

static bool
evaluate_arguments(BuiltinCall *call)
{
    bool good = true;
    call->values = arena_array(call->env->arena, Value, call->n ? call->n : 1);
    for (uint32_t i = 0; i < call->n; i++) {
        if (!call->nodes[i])
            continue;
        if (ast_kind(call->env->ast, call->nodes[i]) == AST_FORARG) {
            if (call->builtin->run == builtin_array)
                good = reduction_array(call->env, call->nodes[i], &call->values[i]) && good;
            else {
                diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[i]),
                         "'%s' is not a reduction; only sum, product, min and max take 'for'",
                             call->builtin->name);
                good = false;
            }
            continue;
        }
        good = (may_be_flexible(call->builtin) ? expression_flexible : expression)(call->env, call->nodes[i], &call->values[i]) && good;
    }
    return good;
}

// Operators about events have no meaning in functions (section 12.2).
static bool
is_of_models(const char *name)
{
    static const char *const names[] = {"sample", "initial", "terminal", "delay", "spatialDistribution", "Clock", "previous", "hold", "noClock",
                                        "subSample", "superSample", "shiftSample", "backSample", "interval", "firstTick"};
    return word_is_among(name, names, sizeof names / sizeof *names);
}

uint32_t
builtin_results(const Builtin *builtin)
{
    return builtin->run == builtin_transport ? 2 : 1;
}

static bool
may_stand(const BuiltinCall *call)
{
    bool may = !call->env->in_function || !is_of_models(call->builtin->name);
    if (!may)
        diag_add(call->env->diags, E0210, call->span, "'%s' cannot stand in a function", call->builtin->name);
    return may;
}

// pure(f(x)): f may be impure; what its arguments call may not (section 12.3).
static void
excuse(ExprEnv *env, Node args)
{
    Node call = args && ast_at(env->ast, args)->nchild ? ast_child(env->ast, args, 0) : 0;
    if (call && ast_kind(env->ast, call) == AST_CALL)
        env->excused = ast_child(env->ast, call, 0);
}

bool
builtin_call_with(ExprEnv *env, const Builtin *builtin, Node node, Node args, Value *out)
{
    BuiltinCall call = {.env = env, .builtin = builtin, .node = node, .span = node_span(env, node)};
    if (builtin->run == builtin_pure)
        excuse(env, args);
    return may_stand(&call) && place_arguments(&call, args) && (builtin->raw || evaluate_arguments(&call)) && builtin->run(&call, out);
}

bool
builtin_call(ExprEnv *env, const Builtin *builtin, Node node, Value *out)
{
    return builtin_call_with(env, builtin, node, ast_child(env->ast, node, 1), out);
}

bool
builtin_run(BuiltinCall *call, Value *out)
{
    bool more;
    uint32_t most = parameter_count(call->builtin, &more);
    if (call->n < call->builtin->least || (!more && call->n > most)) {
        report_count(call, call->n);
        return false;
    }
    return may_stand(call) && call->builtin->run(call, out);
}

Diag *
builtin_refuse(BuiltinCall *call, uint32_t i, const char *needs)
{
    const char *which = call->n > 1 ? arena_printf(call->env->arena, "argument %u of '%s'", i + 1,
                                                   call->builtin->name)
                                    : arena_printf(call->env->arena, "the argument of '%s'",
                                                   call->builtin->name);
    if (call->builtin->raw)
        return diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[i]), "%s must be %s", which,
                        needs);
    return diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[i]),
                    "%s must be %s, but it has type %s", which,
                    needs, value_type_text(call->env, &call->values[i]));
}

bool
builtin_not_supported(BuiltinCall *call, Value *out)
{
    (void)out;
    diag_add(call->env->diags, E0720, call->span, "'%s' is not supported yet", call->builtin->name);
    return false;
}

// --- elementwise functions of numbers

static bool
numbers_only(BuiltinCall *call)
{
    for (uint32_t i = 0; i < call->n; i++)
        if (!type_is_number(&call->values[i].type)) {
            Diag *diag = builtin_refuse(call, i, "a number");
            if (call->values[i].type.base == TYPE_BOOLEAN)
                diag_help(diag, "write 'if b then 1 else 0' where a Boolean is to count as a number");
            return false;
        }
    return true;
}

// Sizes that are known at run time only are the same in all arguments.
static bool
map_agree(BuiltinCall *call)
{
    Value *first = NULL;
    for (uint32_t i = 0; i < call->n; i++) {
        Value *value = &call->values[i];
        if (!value->type.rank)
            continue;
        if (first && (first->sizes || value->sizes) && flexible_fits(first, value) && !flexible_agree(call->env, first, value, call->span))
            return false;
        first = value;
    }
    return true;
}

// The sizes of the result: those of the arguments that are no scalars, which must agree.
static bool
map_open(BuiltinCall *call, VarType base, Value *out)
{
    if (!numbers_only(call))
        return false;
    Type type = type_scalar(base);
    const Expr *sizes = NULL;
    if (!map_agree(call))
        return false;
    for (uint32_t i = 0; i < call->n; i++) {
        const Type *given = &call->values[i].type;
        if (!given->rank)
            continue;
        sizes = call->values[i].sizes;
        if (type.rank && !type_same_sizes(&type, given)) {
            diag_add(call->env->diags, E0202, call->span, "arguments of '%s' have different sizes: %s and %s",
                     call->builtin->name, type_text(call->env->arena, call->env->syms, &type),
                     value_type_text(call->env, &call->values[i]));
            return false;
        }
        type = type_with_sizes(given, given->rank, given->dims);
        type.base = base;
    }
    bool good = value_new(call->env, &type, call->span, out);
    out->sizes = good ? sizes : NULL;
    return good;
}

static Expr
map_argument(const BuiltinCall *call, uint32_t argument, uint32_t i)
{
    const Value *value = &call->values[argument];
    return value->elements[value->type.rank ? i : 0];
}

static bool
map_as(BuiltinCall *call, VarType base, Value *out)
{
    if (!map_open(call, base, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr args[2] = {map_argument(call, 0, i), call->n > 1 ? map_argument(call, 1, i) : 0};
        out->elements[i] = expr_make(call->env->exprs, (Op)call->builtin->op, args, call->n);
    }
    return true;
}

static bool
map_real(BuiltinCall *call, Value *out)
{
    return map_as(call, TYPE_REAL, out);
}

// In a function that is called at run time nobody else looks at the threshold (pass `thresholds`): 0 is added to it, or the call fails.
static bool
map_luz(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    if (!map_open(call, TYPE_REAL, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr x = map_argument(call, 0, i), a = map_argument(call, 1, i);
        if (env->compile && expr_op(env->exprs, a) != OP_CONST) {
            Expr zero = expr_const(env->exprs, 0), one = expr_const(env->exprs, 1);
            Expr good = expr_3(env->exprs, OP_IF, expr_2(env->exprs, OP_GE, a, zero), one, zero);
            a = expr_2(env->exprs, OP_ADD, a, pick_checked(env, good, 1, "the threshold of luz is negative", call->span));
        }
        out->elements[i] = expr_2(env->exprs, OP_LUZ, x, a);
    }
    return true;
}

// semiLinear(x, k1, k2) = if x >= 0 then k1*x else k2*x, continuous (section 3.7.4.5): no event, as for flow*actualStream(h).
static bool
map_semi_linear(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    Expr zero = expr_const(exprs, 0);
    if (!map_open(call, TYPE_REAL, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr x = map_argument(call, 0, i);
        Expr e = expr_3(exprs, OP_IF, expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GE, x, zero)), expr_2(exprs, OP_MUL, map_argument(call, 1, i), x),
                        expr_2(exprs, OP_MUL, map_argument(call, 2, i), x));
        out->elements[i] = expr_2(exprs, OP_SMOOTH, zero, e);
    }
    return true;
}

static bool
map_same(BuiltinCall *call, Value *out)
{
    return map_as(call, call->values[0].type.base, out);
}

static bool
map_integer(BuiltinCall *call, Value *out)
{
    return map_as(call, TYPE_INTEGER, out);
}

static VarType
common_number(const BuiltinCall *call)
{
    bool integers = call->values[0].type.base == TYPE_INTEGER && call->values[1].type.base == TYPE_INTEGER;
    return integers ? TYPE_INTEGER : TYPE_REAL;
}

static bool
map_division(BuiltinCall *call, Value *out)
{
    if (!map_open(call, common_number(call), out))
        return false;
    const Value *divisor = &call->values[1];
    for (uint32_t i = 0; i < divisor->count; i++)
        if (expr_is_const(call->env->exprs, divisor->elements[i], 0)) {
            diag_add(call->env->diags, E0215, node_span(call->env, call->nodes[1]), "'%s' by zero", call->builtin->name);
            return false;
        }
    return true;
}

static Expr
division_argument(const BuiltinCall *call, uint32_t which, uint32_t i)
{
    Expr e = map_argument(call, which, i);
    return call->values[which].type.base == TYPE_INTEGER ? whole_checked(call->env, e, node_span(call->env, call->nodes[which])) : e;
}

// div(x, y) is x/y rounded toward zero.
static bool
map_quotient(BuiltinCall *call, Value *out)
{
    if (!map_division(call, out))
        return false;
    Exprs *exprs = call->env->exprs;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_1(exprs, OP_TRUNC, expr_2(exprs, OP_DIV, division_argument(call, 0, i), division_argument(call, 1, i)));
    return true;
}

// mod(x, y) = x - floor(x/y)*y; rem rounds toward zero instead.
static bool
map_remainder(BuiltinCall *call, Value *out)
{
    if (!map_division(call, out))
        return false;
    Exprs *exprs = call->env->exprs;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr x = division_argument(call, 0, i), y = division_argument(call, 1, i);
        Expr whole = expr_1(exprs, (Op)call->builtin->op, expr_2(exprs, OP_DIV, x, y));
        out->elements[i] = expr_sub(exprs, x, expr_2(exprs, OP_MUL, whole, y));
    }
    return true;
}

static bool
enumeration_integer(BuiltinCall *call, Value *out)
{
    if (call->values[0].type.base != TYPE_ENUM) {
        Diag *diag = builtin_refuse(call, 0, "an enumeration value");
        if (call->values[0].type.base == TYPE_REAL)
            diag_help(diag, "'integer(x)' rounds a Real down");
        return false;
    }
    *out = call->values[0];
    Type type = type_scalar(TYPE_INTEGER);
    out->type = type_with_sizes(&type, out->type.rank, call->values[0].type.dims);
    return true;
}
