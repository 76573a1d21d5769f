// machine_equation.c: what the text says about state machines.
//
// Purpose: transition, initialState, activeState, ticksInState and timeInState (Modelica 3.6, section 17.1).
// Method: a state is named by a Boolean variable that the linker makes for its instance, so statements are equations like others, with an
// operator that pass `machines` takes out.
// Contract: equation.h, fragment.h (EXTRA_ACTIVE). Complexity: linear in the text.
#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// The variable of the block that an argument names; 0 after reporting.
static Expr
state_slot(ExprEnv *env, Node call, Node argument)
{
    Elab *elab = env->context;
    Fragment *frag = ((Scope *)env->scope)->frag;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    Span span = node_at(elab, argument ? argument : call)->span;
    Target target;
    if (!argument || node_at(elab, argument)->kind != AST_REF) {
        diag_add(elab->diags, E0515, span, "'%s' wants the name of a state, which is a block", name);
        return 0;
    }
    if (!resolve(elab, env, argument, &target))
        return 0;
    if (target.absent) {
        diag_add(elab->diags, E0118, span, "'%s' is not part of the model: its condition is false", scope_name_text(elab->program, argument));
        return 0;
    }
    bool one = target.kind == TARGET_COMPONENT && target.n == 1 && !target.outer;
    uint32_t kind = one ? class_at(elab->program, target.spots[0].frag->class_id)->kind : CLASS_RECORD;
    bool block = kind == CLASS_BLOCK || (!sources_is_strict(elab->program->sources, span.lo) && (kind == CLASS_MODEL || kind == CLASS_CLASS));
    if (!block) {
        diag_add(elab->diags, E0515, span, "'%s' is no state: a state is a component, which is a block", scope_name_text(elab->program, argument));
        return 0;
    }
    uint32_t slot = env->slots->n;
    vec_push(env->slots, extra_var(frag, EXTRA_ACTIVE, target.spots[0].inst, 0));
    return expr_slot(env->exprs, slot);
}

// A Boolean of parameters, known while compiling, as a literal; false after reporting.
static bool
known_flag(Context *context, Node call, uint32_t i, const char *name, bool otherwise, Expr *out)
{
    Elab *elab = context->elab;
    Node node = call_argument(elab, call, i, name);
    bool value = otherwise;
    if (node && !evaluate_bool(elab, context->frag, context->class_id, true, node, &value))
        return false;
    *out = expr_const(elab->dae->exprs, value);
    return true;
}

static bool
known_priority(Context *context, Node call, Expr *out)
{
    Elab *elab = context->elab;
    Node node = call_argument(elab, call, 6, "priority");
    Value value;
    *out = expr_const(elab->dae->exprs, 1);
    if (!node)
        return true;
    if (!evaluate(elab, context->frag, context->class_id, true, node, &value))
        return false;
    if (value.type.base != TYPE_INTEGER || value.type.rank || expr_value(elab->dae->exprs, value.elements[0]) < 1) {
        diag_add(elab->diags, E0515, node_at(elab, node)->span, "a priority is an Integer, 1 or more");
        return false;
    }
    *out = value.elements[0];
    return true;
}

static bool
transition_condition(Context *context, Node call, Expr *out)
{
    Elab *elab = context->elab;
    Node node = call_argument(elab, call, 2, "condition");
    const Type boolean = {.base = TYPE_BOOLEAN};
    Value value;
    if (!node) {
        diag_add(elab->diags, E0515, node_at(elab, call)->span, "'transition' wants two states and a condition");
        return false;
    }
    if (!expression(&elab->env, node, &value) || !expression_coerce(&elab->env, &value, &boolean, node_at(elab, node)->span, "the condition"))
        return false;
    *out = value.elements[0];
    return true;
}

void
machine_equation(Context *context, Node call)
{
    enum { ARGUMENTS = 7 };
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    bool initial = !strcmp(scope_name_text(elab->program, child_at(elab, call, 0)), "initialState");
    Expr args[ARGUMENTS], e;
    args[0] = state_slot(&elab->env, call, call_argument(elab, call, 0, initial ? "state" : "from"));
    if (!args[0])
        return;
    if (initial) {
        e = expr_1(exprs, OP_INITIALSTATE, args[0]);
    } else {
        args[1] = state_slot(&elab->env, call, call_argument(elab, call, 1, "to"));
        if (!args[1] || !transition_condition(context, call, &args[2]) || !known_flag(context, call, 3, "immediate", true, &args[3])
            || !known_flag(context, call, 4, "reset", true, &args[4]) || !known_flag(context, call, 5, "synchronize", false, &args[5])
            || !known_priority(context, call, &args[6]))
            return;
        e = expr_make(exprs, OP_TRANSITION, args, ARGUMENTS);
    }
    add_equation(elab, context->frag, EQN_NORMAL, e, expr_const(exprs, 1), node_at(elab, call)->span);
}

bool
machine_query(ExprEnv *env, Node call, Value *out)
{
    Elab *elab = env->context;
    const Scope *scope = env->scope;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    if (!scope->frag || scope->structural || env->in_function) {
        diag_add(elab->diags, E0515, node_at(elab, call)->span, "'%s' has no meaning here: it is asked in equations, at ticks", name);
        return false;
    }
    Expr *element = arena_new(env->arena, Expr);
    *out = (Value){.type = {.base = !strcmp(name, "activeState") ? TYPE_BOOLEAN : !strcmp(name, "ticksInState") ? TYPE_INTEGER : TYPE_REAL},
                   .count = 1, .elements = element};
    if (out->type.base != TYPE_BOOLEAN) {
        *element = expr_make(env->exprs, out->type.base == TYPE_REAL ? OP_TIMEINSTATE : OP_TICKSINSTATE, NULL, 0);
        return true;
    }
    Expr state = state_slot(env, call, call_argument(elab, call, 0, "state"));
    *element = state ? expr_1(env->exprs, OP_ACTIVESTATE, state) : 0;
    return state != 0;
}
