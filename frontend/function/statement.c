// statement.c: the walk over the statements of functions, and of algorithm sections.
//
// Purpose: assignments, if, for, while, break, return, assert (Modelica 3.6, section 11.2), whatever becomes of them: what is
// assigned, which branch is known to be taken, what a call asks for is found here; a Meaning says what it does.
// Method: one walk, with two meanings: expansion.c executes statements on variables that hold expressions, routine_statement.c makes steps
// of a routine of them. Contract: function.h. Complexity: linear in the statements that the meaning walks over.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/function/routine_inner.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

// What is expanded inside of a routine has half of the limit, since it can be called instead; the rest is for the routine's own statements.
bool
statement_count(Frame *frame, Span span)
{
    ExprEnv *env = frame->env;
    bool expanded = env->compile && frame->meaning != &compile_meaning;
    if (++env->statements <= (expanded ? STATEMENT_LIMIT / 2 : STATEMENT_LIMIT))
        return true;
    env->at_run_time = true;
    diag_add(env->diags, E0208, span, "more than %d statements and calls are executed to expand a function",
             STATEMENT_LIMIT);
    return false;
}

// --- conditions

Expr
statement_also(const Frame *frame, Expr path, Expr condition)
{
    return path ? expr_2(frame->env->exprs, OP_AND, path, condition) : condition;
}

Expr
statement_either(const Frame *frame, Expr a, Expr b)
{
    return !a || a == b ? b : !b ? a : expr_2(frame->env->exprs, OP_OR, a, b);
}

// --- assignments

static bool
refuse_target(Frame *frame, Node target, const char *why)
{
    ExprEnv *env = frame->env;
    diag_add(env->diags, E0211, node_span(env, target), "'%s' cannot be assigned: %s",
             expression_text(env, target), why);
    return false;
}

// The local that an assignment's target names; -1 after E0211.
static int64_t
statement_target(Frame *frame, Node target)
{
    ExprEnv *env = frame->env;
    int64_t local = expression_local(env, target);
    if (local < 0)
        return refuse_target(frame, target, "it is no variable of this function") - 1;
    if (local >= frame->variables.n)
        return refuse_target(frame, target, "it is the index of a loop") - 1;
    uint32_t flags = frame->variables.at[local].flags;
    if (flags & AST_F_INPUT)
        return refuse_target(frame, target, "it is an input") - 1;
    if (flags & (AST_F_CONSTANT | AST_F_PARAMETER))
        return refuse_target(frame, target, "it is constant") - 1;
    return local;
}

static bool
selected_dims(ExprEnv *env, Node target, void *type, Type *selected)
{
    U32Vec positions = {0};
    bool good = path_select(env, type, target, 0, &positions, selected);
    vec_free(&positions);
    return good;
}

// Vectors of subscripts, and what is assigned, are what they are before the first assignment.
static void
hold_before(Frame *frame, LocalPicks *picks, Value *value)
{
    if (!frame->meaning->hold)
        return;
    frame->meaning->hold(frame, value);
    for (uint32_t d = 0; d < picks->n; d++) {
        LocalPick *pick = &picks->at[d];
        Value indices = {.type = pick->type, .count = pick->n, .elements = arena_array(frame->env->arena, Expr, pick->n)};
        for (uint32_t i = 0; i < pick->n; i++)
            indices.elements[i] = pick->indices ? pick->indices[i] : pick->index;
        frame->meaning->hold(frame, &indices);
        pick->index = indices.elements[0];
        pick->indices = pick->indices ? indices.elements : NULL;
        if (pick->count) {
            Value count = value_scalar(frame->env, TYPE_INTEGER, pick->count);
            frame->meaning->hold(frame, &count);
            pick->count = count.elements[0];
        }
    }
}

// Where a choice of elements of the vectors is there, whose sizes may be known at run time only; 0: everywhere.
static Expr
tuple_there(ExprEnv *env, const LocalPicks *picks, uint32_t tuple)
{
    Expr all = 0;
    for (uint32_t d = picks->n; d-- > 0; tuple /= picks->at[d].n) {
        const LocalPick *pick = &picks->at[d];
        if (!pick->count)
            continue;
        Expr there = expr_1(env->exprs, OP_NOEVENT, expr_2(env->exprs, OP_LT, expr_const(env->exprs, tuple % pick->n), pick->count));
        all = all ? expr_2(env->exprs, OP_AND, all, there) : there;
    }
    return all;
}

// What is assigned to elements that vectors of subscripts select gets their sizes.
static bool
settle_selected(ExprEnv *env, const LocalPicks *picks, const Type *selected, Value *value, Span span, const char *what)
{
    Value wanted = {.type = *selected};
    pick_sizes(env, picks, &wanted);
    Type open = *selected;
    for (uint32_t d = 0; wanted.sizes && d < open.rank; d++)
        if (wanted.sizes[d])
            open.dims[d] = SIZE_UNKNOWN;
    return expression_coerce(env, value, &open, span, what) && flexible_settle(env, value, &wanted, span);
}

// Elements that vectors of subscripts known at run time select, one choice of the vectors' elements behind the other.
static bool
assign_tuples(Frame *frame, const Elements *to, const Type *selected, Value *value, Span span)
{
    ExprEnv *env = frame->env;
    Type type = env->locals.at[to->local].value.type, one;
    U32Vec places = {0}, positions = {0};
    Expr *elements = arena_array(env->arena, Expr, value->count + 1);
    bool good = true;
    hold_before(frame, to->picks, value);
    for (uint32_t t = 0, n = pick_tuples(to->picks); t < n && good; t++) {
        Value part = *value;
        pick_tuple(to->picks, t, selected, value->count, &places);
        part.count = places.n;
        part.elements = elements;
        for (uint32_t i = 0; i < places.n; i++)
            elements[i] = value->elements[places.at[i]];
        vec_clear(&positions);
        good = path_select(env, &type, to->target, 0, &positions, &one)
            && frame->meaning->elements(frame, &(Elements){to->local, to->target, &positions, to->picks, tuple_there(env, to->picks, t)}, &part, span);
    }
    vec_free(&places);
    vec_free(&positions);
    return good;
}

static bool
assign_elements(Frame *frame, uint32_t local, Node target, Value *value, Span span, const char *what)
{
    ExprEnv *env = frame->env;
    Type type = env->locals.at[local].value.type, selected;
    for (uint32_t i = 0; i < type.rank; i++)
        if (type.dims[i] == SIZE_UNKNOWN) {
            diag_add(env->diags, E0207, span, "elements of %s are assigned before its size is known", what);
            return false;
        }
    U32Vec positions = {0};
    LocalPicks picks = {0}, *outer = env->picks;
    env->picks = &picks;
    env->limits = env->locals.at[local].value.sizes;
    bool good = path_select(env, &type, target, 0, &positions, &selected), vectors = false;
    env->limits = NULL;
    picks.frozen = true;
    for (uint32_t d = 0; d < picks.n; d++)
        vectors |= picks.at[d].indices != NULL;
    good = good && (!vectors || pick_axes(env, target, &picks, &selected, selected_dims, &type))
        && settle_selected(env, &picks, &selected, value, span, what);
    if (good && vectors)
        good = assign_tuples(frame, &(Elements){local, target, &positions, &picks, 0}, &selected, value, span);
    else
        good = good && frame->meaning->elements(frame, &(Elements){local, target, &positions, &picks, 0}, value, span);
    env->picks = outer;
    vec_free(&positions);
    return good;
}

static bool
assign(Frame *frame, Node target, Value *value, Span span)
{
    ExprEnv *env = frame->env;
    int64_t local = statement_target(frame, target);
    if (local < 0)
        return false;
    const char *what = arena_printf(env->arena, "'%s'", expression_text(env, target));
    Node subscripts = ast_child(env->ast, ast_child(env->ast, target, 0), 0);
    bool whole = !subscripts && ast_at(env->ast, target)->nchild == 1;
    const Value *variable = &env->locals.at[local].value;
    bool resized = value->type.base == TYPE_RECORD && variable->type.base == TYPE_RECORD && !variable->type.rank && value->count != variable->count;
    if (whole && frame->meaning->size && resized) // its fields are as large as those of its value
        return frame->meaning->size(frame, (uint32_t)local, value, span, what);
    if (whole && frame->meaning->flexible && env->flexible)
        return frame->meaning->flexible(frame, (uint32_t)local, value, span, what);
    if (whole && frame->meaning->size && !type_is_sized(&env->locals.at[local].value.type))
        return frame->meaning->size(frame, (uint32_t)local, value, span, what);
    if (whole && frame->meaning->whole)
        return frame->meaning->whole(frame, (uint32_t)local, value, span, what);
    return assign_elements(frame, (uint32_t)local, target, value, span, what);
}

static bool
run_assign(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    Node source = ast_child(env->ast, node, 1);
    Value value;
    return expression_flexible(env, source, &value)
        && assign(frame, ast_child(env->ast, node, 0), &value, node_span(env, source));
}

// The results are taken before the first of them is assigned: arguments may be among the targets.
static bool
run_multi_assign(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    Node tuple = ast_child(env->ast, node, 0), call = ast_child(env->ast, node, 1);
    Value *outputs;
    uint32_t targets = ast_at(env->ast, tuple)->nchild;
    if (!env->calls->results(env, tuple, call, node_span(env, node), &outputs))
        return false;
    for (uint32_t i = 0; i < targets && frame->meaning->hold; i++)
        if (ast_child(env->ast, tuple, i))
            frame->meaning->hold(frame, &outputs[i]);
    for (uint32_t i = 0; i < targets; i++) {
        Node target = ast_child(env->ast, tuple, i);
        if (target && !assign(frame, target, &outputs[i], node_span(env, target)))
            return false;
    }
    return true;
}

void
statement_targets(const Ast *ast, Node section, U32Vec *refs)
{
    U32Vec stack = {0};
    vec_push(&stack, section);
    while (stack.n) {
        Node node = vec_pop(&stack);
        AstKind kind = ast_kind(ast, node);
        Node target = kind == AST_ASSIGN || kind == AST_MULTIASSIGN ? ast_child(ast, node, 0) : 0, parts = target ? target : node;
        bool tuple = target && ast_kind(ast, target) == AST_TUPLE;
        if (target && !tuple && ast_kind(ast, target) == AST_REF)
            vec_push(refs, target);
        for (uint32_t i = 0; tuple && i < ast_at(ast, target)->nchild; i++)
            if (ast_child(ast, target, i) && ast_kind(ast, ast_child(ast, target, i)) == AST_REF)
                vec_push(refs, ast_child(ast, target, i));
        for (uint32_t i = ast_at(ast, parts)->nchild; !target && i-- > 0;)
            if (ast_child(ast, parts, i))
                vec_push(&stack, ast_child(ast, parts, i));
    }
    vec_free(&stack);
}

// --- calls

// The arguments of a call of assert, the message only where the condition may not hold.
static bool
statement_assertion(ExprEnv *env, Node call, Assertion *out)
{
    Node args = ast_child(env->ast, call, 1), part[3] = {0};
    uint32_t given = args ? ast_at(env->ast, args)->nchild : 0;
    Value level = {0};
    *out = (Assertion){0};
    if (given < 2 || given > 3) {
        diag_add(env->diags, E0203, node_span(env, call), "'assert' takes 2 to 3 arguments, got %u", given);
        return false;
    }
    for (uint32_t i = 0; i < given; i++) {
        part[i] = ast_child(env->ast, args, i);
        if (ast_kind(env->ast, part[i]) == AST_ARG)
            part[i] = ast_child(env->ast, part[i], 0);
    }
    if (!expression_scalar(env, part[0], TYPE_BOOLEAN, "the condition", &out->condition))
        return false;
    out->holds = value_known(env, &out->condition) && value_number(env, &out->condition, 0) != 0;
    if (out->holds)
        return true;
    if (!expression_scalar(env, part[1], TYPE_STRING, "the message", &out->message)
        || (part[2] && !expression_constant(env, part[2], &level)))
        return false;
    out->warning = part[2] && level.count == 1 && value_number(env, &level, 0) == 2;
    return true;
}

static bool
run_call(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    Node call = ast_child(env->ast, node, 0), ref = ast_child(env->ast, call, 0);
    Sym name = ast_at(env->ast, ast_child(env->ast, ref, 0))->sym;
    Assertion assertion;
    Expr effect;
    if (frame->call)
        return frame->call(frame, call);
    if (ast_at(env->ast, ref)->nchild == 1 && !strcmp(sym_text(env->syms, name), "assert"))
        return statement_assertion(env, call, &assertion)
            && (assertion.holds || frame->meaning->assertion(frame, &assertion, node_span(env, call)));
    return function_effect(env, call, &effect) && (!effect || frame->meaning->effect(frame, effect, node_span(env, node)));
}

// --- branches and loops

static bool
branch_condition(Frame *frame, Node node, Node test, Value *condition)
{
    ExprEnv *env = frame->env;
    Expr edge;
    if (ast_kind(env->ast, node) != AST_WHENST)
        return expression_scalar(env, test, TYPE_BOOLEAN, "the condition", condition);
    if (!expression(env, test, condition) || !frame->edge(frame, condition, node_span(env, test), &edge))
        return false;
    *condition = value_scalar(env, TYPE_BOOLEAN, edge);
    return true;
}

BranchKind
statement_branch(Frame *frame, Node node, uint32_t *branch, Expr *condition)
{
    ExprEnv *env = frame->env;
    for (;; ++*branch) {
        Node here = ast_child(env->ast, node, *branch), test;
        Value value;
        if (!here || ast_kind(env->ast, here) != AST_BRANCH)
            return BRANCH_NONE;
        if (!(test = ast_child(env->ast, here, 0)))
            return BRANCH_TAKEN;
        if (!branch_condition(frame, node, test, &value))
            return BRANCH_FAILED;
        expression_decide(env, &value);
        *condition = value.elements[0];
        if (!value_known(env, &value))
            return BRANCH_OPEN;
        if (value_number(env, &value, 0) != 0)
            return BRANCH_TAKEN;
    }
}

static Control
run_when(Frame *frame, Node node)
{
    bool outside = frame->env->when;
    frame->env->when = true;
    Control control = frame->meaning->branches(frame, node, 0);
    frame->env->when = outside;
    return control;
}

Control
statement_iterations(Frame *frame, Node node, uint32_t index, const Value *range)
{
    ExprEnv *env = frame->env;
    Control control = CONTROL_NEXT;
    uint32_t locals = env->locals.n;
    for (uint32_t i = 0; i < range->count && control == CONTROL_NEXT; i++) {
        if (!statement_count(frame, node_span(env, node)))
            return CONTROL_FAILED;
        Value value = value_scalar(env, range->type.base, range->elements[i]);
        value.type = type_with_sizes(&range->type, 0, NULL);
        Node here = ast_child(env->ast, ast_child(env->ast, node, 0), index);
        vec_push(&env->locals, (Local){ast_at(env->ast, here)->sym, value});
        control = frame->meaning->each(frame, node, index + 1);
        env->locals.n = locals;
    }
    return control;
}

// --- the walk

static Control
run_kind(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    switch (ast_kind(env->ast, node)) {
    case AST_ASSIGN: return run_assign(frame, node) ? CONTROL_NEXT : CONTROL_FAILED;
    case AST_MULTIASSIGN: return run_multi_assign(frame, node) ? CONTROL_NEXT : CONTROL_FAILED;
    case AST_CALLST: return run_call(frame, node) ? CONTROL_NEXT : CONTROL_FAILED;
    case AST_IFST: return frame->meaning->branches(frame, node, 0);
    case AST_WHENST:
        if (frame->edge)
            return run_when(frame, node);
        break;
    case AST_FORST: case AST_WHILEST: return frame->meaning->loop(frame, node);
    case AST_BREAK: return frame->meaning->leave(frame, node, CONTROL_BREAK);
    case AST_RETURN: return frame->meaning->leave(frame, node, CONTROL_RETURN);
    case AST_COMMENT: case AST_ANNOTATION: return CONTROL_NEXT;
    default: break;
    }
    diag_add(env->diags, E0212, node_span(env, node), "this statement cannot stand in a function");
    return CONTROL_FAILED;
}

static Control
run_one(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    Expr guard = env->guard;
    Expr gone = statement_either(frame, frame->left, frame->returned);
    if (gone)
        env->guard = statement_also(frame, guard, expr_1(env->exprs, OP_NOT, gone));
    Control control = run_kind(frame, node);
    if (frame->settle && control == CONTROL_NEXT)
        frame->settle(frame, node);
    env->guard = guard;
    return control;
}

Control
statement_list(Frame *frame, Node node, uint32_t first)
{
    ExprEnv *env = frame->env;
    Control control = CONTROL_NEXT;
    if (!expression_enter(env, node_span(env, node)))
        return CONTROL_FAILED;
    for (uint32_t i = first; i < ast_at(env->ast, node)->nchild && control == CONTROL_NEXT; i++) {
        Node statement = ast_child(env->ast, node, i);
        if (!statement)
            continue;
        control = statement_count(frame, node_span(env, statement)) ? run_one(frame, statement)
            : CONTROL_FAILED;
    }
    expression_leave(env);
    return control;
}

