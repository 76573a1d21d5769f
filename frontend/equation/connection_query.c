// connection_query.c: what expressions ask of the connections.
//
// Purpose: inStream and actualStream (Modelica 3.6, section 15), cardinality (section 3.7.4.3, deprecated) and the queries
// of the connection graph (overconstrained.c). Method: each is an extra variable of the fragment, since instances of one
// class are connected differently; the linker makes numbers of the counts, pass bonds equations of the streams.
// Contract: equation.h, expression.h (ExprEnv.graph), fragment.h. Complexity: linear in the scalars asked for.
#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

// A slot for an extra variable of the scope's fragment.
static Expr
query_slot(ExprEnv *env, ExtraKind kind, uint32_t var)
{
    uint32_t slot = env->slots->n;
    vec_push(env->slots, extra_var(((Scope *)env->scope)->frag, kind, var, 0));
    return expr_slot(env->exprs, slot);
}

static Expr
var_slot(ExprEnv *env, uint32_t var)
{
    uint32_t slot = env->slots->n;
    vec_push(env->slots, var);
    return expr_slot(env->exprs, slot);
}

// The argument as a reference into the instance; false after reporting.
static bool
query_target(ExprEnv *env, Node call, const char *parameter, Target *target)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    Node argument = call_argument(elab, call, 0, parameter);
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    Span span = node_at(elab, call)->span;
    if (!argument || node_at(elab, argument)->kind != AST_REF) {
        diag_add(elab->diags, E0210, span, "the argument of '%s' must be %s", name,
                 !strcmp(name, "cardinality") ? "a connector" : "a stream variable of a connector");
        return false;
    }
    if (!scope->frag || (scope->structural && strcmp(name, "cardinality")) || env->in_function) {
        diag_add(elab->diags, E0210, span, "'%s' has no meaning here: what is connected is known only when the model is complete",
                 name);
        return false;
    }
    if (!resolve(elab, env, argument, target))
        return false;
    if (target->absent)
        diag_add(elab->diags, E0118, span, "'%s' is not part of the model: its condition is false",
                 scope_name_text(elab->program, argument));
    return !target->absent;
}

// --- cardinality

static bool
cardinality(ExprEnv *env, Node call, Value *out)
{
    Elab *elab = env->context;
    Target target;
    if (!query_target(env, call, "c", &target))
        return false;
    bool one = target.kind != TARGET_VALUE && target.n == 1 && target.spots[0].member->is_connector
            && (target.kind == TARGET_COMPONENT || target.m == 1);
    if (!one || target.nested) {
        diag_add(elab->diags, E0210, node_at(elab, call)->span, "the argument of 'cardinality' must be one connector");
        return false;
    }
    const Spot *spot = &target.spots[0];
    uint32_t connector = target.kind == TARGET_COMPONENT ? spot->connector
                       : spot->connector + spot->member->first_connector + target.offsets[0];
    if (target.outer)
        connector = outer_connector(elab->scope.frag, target.outer - 1, connector);
    Expr *element = arena_new(env->arena, Expr);
    *element = query_slot(env, EXTRA_CARDINALITY, connector);
    *out = (Value){.type = {.base = TYPE_INTEGER}, .count = 1, .elements = element};
    elab->counts_connects = true;
    return true;
}

// --- streams

static const Member *
flow_member(Fragment *connector)
{
    for (uint32_t i = 0; i < connector->members.n; i++)
        if (connector->members.at[i].flags & AST_F_FLOW)
            return &connector->members.at[i];
    return NULL;
}

// The local variable, also within an inner element.
static uint32_t
target_var(ExprEnv *env, const Target *target, uint32_t var)
{
    return target->outer ? extra_outer(((Scope *)env->scope)->frag, target->outer - 1, var) : var;
}

// inStream(h), or if m_flow > 0 then inStream(h) else h.
static bool
stream_value(ExprEnv *env, Node call, bool actual, Value *out)
{
    Elab *elab = env->context;
    Exprs *exprs = env->exprs;
    Target target;
    if (!query_target(env, call, "v", &target))
        return false;
    bool stream = target.kind == TARGET_VARIABLE && target.n && (target.spots[0].member->flags & AST_F_STREAM);
    if (!stream || !target.spots[0].frag->is_connector) {
        diag_add(elab->diags, E0210, node_at(elab, call)->span, "the argument of '%s' must be a stream variable of a connector",
                 scope_name_text(elab->program, child_at(elab, call, 0)));
        return false;
    }
    *out = (Value){.type = target.type, .count = target.n * target.m};
    out->type.rank = target.rank;
    memcpy(out->type.dims, target.dims, sizeof target.dims);
    out->elements = arena_array(env->arena, Expr, out->count);
    for (uint32_t i = 0; i < out->count; i++) {
        const Spot *spot = &target.spots[i / target.m];
        uint32_t var = target_var(env, &target, spot->var + spot->member->first + target.offsets[i % target.m]);
        Expr in = query_slot(env, EXTRA_IN_STREAM, var);
        const Member *flow = actual ? flow_member(spot->frag) : NULL;
        if (!flow) {
            out->elements[i] = in;
            continue;
        }
        Var decides = target_var(env, &target, spot->var + flow->first);
        Expr rate = var_slot(env, decides);
        out->elements[i] = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, rate, expr_const(exprs, 0)), in, var_slot(env, var));
        map_put(env->streams, out->elements[i], decides);
    }
    return true;
}

// --- names

// The linker knows the instance. As the default of an input it is the one that calls the function.
static bool
instance_name(ExprEnv *env, Node call, Value *out)
{
    Elab *elab = env->context;
    const Scope *scope = !env->in_function ? env->scope : env->is_default ? env->calling : NULL;
    elab->named |= scope && scope->structural && !env->in_function;
    if (!scope || !scope->frag || scope->structural || env->compile) {
        diag_add(elab->diags, E0210, node_at(elab, call)->span, "'getInstanceName' has no meaning here: %s",
                 env->in_function ? "it is called in components, which may give the name to a function"
                                  : "names of components are known only when the model is complete");
        return false;
    }
    Expr *element = arena_new(env->arena, Expr);
    void *own = env->scope;
    env->scope = (void *)scope;
    *element = query_slot(env, EXTRA_INSTANCE, UNPLACED);
    env->scope = own;
    *out = (Value){.type = {.base = TYPE_STRING}, .count = 1, .elements = element};
    return true;
}

bool
connection_query(ExprEnv *env, Node call, Value *out)
{
    Elab *elab = env->context;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    if (!strcmp(name, "cardinality"))
        return cardinality(env, call, out);
    if (!strcmp(name, "getInstanceName"))
        return instance_name(env, call, out);
    if (!strcmp(name, "activeState") || !strcmp(name, "ticksInState") || !strcmp(name, "timeInState"))
        return machine_query(env, call, out);
    if (!strcmp(name, "inStream") || !strcmp(name, "actualStream"))
        return stream_value(env, call, name[0] == 'a', out);
    return overconstrained_query(env, call, out);
}
