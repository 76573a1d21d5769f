// integral.c: integral(expr, x, from, to): the definite integral over a variable that it declares itself.
//
// Purpose: energies, distributed masses and forces, mean values; and der(expr, x), the partial derivative by such a
// variable, for strains and slopes under an integral. Method: the integrand is elaborated with the variable
// as a local whose value is a slot that stands for nothing; ir/expr/integrate.c takes the integral of each element, and the
// slot vanishes. Contract: expression_inner.h. Complexity: that of ir/expr/integrate.c per element.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/integrate.h"

// The name of the variable: a plain identifier.
static bool
variable_name(BuiltinCall *call, Sym *name)
{
    ExprEnv *env = call->env;
    Node node = call->nodes[1];
    Node part = ast_kind(env->ast, node) == AST_REF ? ast_child(env->ast, node, 0) : 0;
    bool plain = part && ast_at(env->ast, node)->nchild == 1 && !ast_child(env->ast, part, 0)
                 && !(ast_at(env->ast, node)->flags & AST_F_DOT);
    if (plain && !expression_is_time(env, node)) {
        *name = ast_at(env->ast, part)->sym;
        return true;
    }
    Diag *diag = diag_add(env->diags, E0210, node_span(env, node),
                          "the variable of an integral must be a name of its own, but this is '%s'",
                          expression_text(env, node));
    diag_help(diag, "write integral(f(u), u, 0, x) with a new name for u");
    return false;
}

static bool
limit(BuiltinCall *call, uint32_t i, Sym name, Expr *out)
{
    ExprEnv *env = call->env;
    Node node = call->nodes[i];
    Value value;
    if (!expression(env, node, &value)) {
        diag_help(diags_newest(env->diags), "the limits cannot depend on the variable of the integral, '%s'",
                  sym_text(env->syms, name));
        return false;
    }
    if (!type_is_number(&value.type) || value.type.rank) {
        diag_add(env->diags, E0210, node_span(env, node),
                 "the limits of an integral must be scalar numbers, but this has type %s",
                 value_type_text(env, &value));
        return false;
    }
    *out = value.elements[0];
    return true;
}

static bool
integrand(BuiltinCall *call, Sym name, Expr x, Value *out)
{
    ExprEnv *env = call->env;
    uint32_t locals = env->locals.n;
    Local local = {name, value_scalar(env, TYPE_REAL, x)};
    vec_push(&env->locals, local);
    bool good = expression(env, call->nodes[0], out);
    env->locals.n = locals;
    if (!good || type_is_number(&out->type))
        return good;
    diag_add(env->diags, E0210, node_span(env, call->nodes[0]),
             "the integrand must be a number, but it has type %s", value_type_text(env, out));
    return false;
}

// The part of the integrand that the reason is about, with the variable by its name.
typedef struct Names {
    const ExprEnv *env;
    uint32_t slot;
    Sym name;
} Names;

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const Names *names = context;
    if (slot == names->slot)
        out_text(out, sym_text(names->env->syms, names->name));
    else
        out_text(out, "...");
}

static void
report(BuiltinCall *call, const Integral *integral, uint32_t slot, Sym name)
{
    enum { LONGEST = 60 };
    ExprEnv *env = call->env;
    Names names = {env, slot, name};
    Out text = {0};
    expr_print(env->exprs, integral->culprit, print_slot, &names, &text);
    Diag *diag = diag_add(env->diags, E0217, call->span, "this integral has no value: '%.*s%s' %s",
                          (int)(text.length > LONGEST ? LONGEST : text.length), text.text,
                          text.length > LONGEST ? "..." : "", integral->reason);
    diag_note(diag, node_span(env, call->nodes[0]), "the integrand, from '%s' to '%s'",
              expression_text(env, call->nodes[2]), expression_text(env, call->nodes[3]));
    out_free(&text);
}

bool
builtin_integral(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    Sym name;
    Expr from, to;
    Value value;
    if (!variable_name(call, &name) || !limit(call, 2, name, &from) || !limit(call, 3, name, &to))
        return false;
    uint32_t slot = env->slots->n;
    vec_push(env->slots, BOUND_VARIABLE);
    if (!integrand(call, name, expr_slot(env->exprs, slot), &value) || !value_new(env, &value.type, call->span, out))
        return false;
    out->type.base = TYPE_REAL;
    for (uint32_t i = 0; i < out->count; i++) {
        Integral integral;
        if (!expr_integrate(env->exprs, value.elements[i], slot, from, to, &integral)) {
            report(call, &integral, slot, name);
            return false;
        }
        out->elements[i] = expr_integral(env->exprs, &integral);
    }
    return true;
}

// --- der(expr, x, ...)

// The slot of the integral's variable that a node names, or -1 after E0210.
static int64_t
bound_slot(BuiltinCall *call, Node node)
{
    ExprEnv *env = call->env;
    int64_t local = ast_kind(env->ast, node) == AST_REF ? expression_local(env, node) : -1;
    const Value *value = local >= 0 ? &env->locals.at[local].value : NULL;
    Expr e = value && value->count == 1 && value->type.base == TYPE_REAL ? value->elements[0] : 0;
    if (e && expr_op(env->exprs, e) == OP_SLOT && ast_at(env->ast, node)->nchild == 1
        && env->slots->at[expr_slot_of(env->exprs, e)] == BOUND_VARIABLE)
        return expr_slot_of(env->exprs, e);
    Diag *diag = diag_add(env->diags, E0210, node_span(env, node),
                          "a partial derivative is by the variable of an integral around it, but '%s' is none",
                          expression_text(env, node));
    diag_help(diag, "der(x) is the derivative of x by time");
    return -1;
}

bool
builtin_partial(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    Value value;
    if (!expression(env, call->nodes[0], &value))
        return false;
    if (!type_is_number(&value.type)) {
        builtin_refuse(call, 0, "a number");
        return false;
    }
    if (!value_new(env, &value.type, call->span, out))
        return false;
    out->type.base = TYPE_REAL;
    memcpy(out->elements, value.elements, value.count * sizeof *value.elements);
    for (uint32_t k = 1; k < call->n; k++) {
        int64_t slot = bound_slot(call, call->nodes[k]);
        if (slot < 0)
            return false;
        for (uint32_t i = 0; i < out->count; i++)
            out->elements[i] = expr_diff(env->exprs, out->elements[i], (uint32_t)slot);
    }
    return true;
}
