// expansion.c: statements executed on variables that hold expressions.
//
// Purpose: a call becomes expressions over its arguments, or numbers where these are known; algorithm sections become equations.
// Method: loops are unrolled; a condition that is known selects its branch; for one that is not, the branches
// run one after the other from the same start and what they assigned is merged by if-expressions. Where such a
// branch ends in `break` or `return`, what it assigned is set aside with its condition (an Exit) and the other
// branch goes on alone; the end of the loop, or of the function, puts the exits together with what got there.
// Contract: function.h; the caller's frame owns the variables. Complexity: statements executed
// (limited), times the size of all variables for each condition that is not known.
#include <math.h>
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

enum { REPETITION_LIMIT = 1000 }; // of a while-loop that conditions known only at run time may leave

// --- assignments

static bool
refuse_sizes(Frame *frame, uint32_t local, Span span)
{
    frame->env->at_run_time |= !frame->call; // a call finds the size where it runs
    diag_add(frame->env->diags, E0722, span,
             "'%s' gets different sizes or texts under a condition known only at run time",
             sym_text(frame->env->syms, frame->variables.at[local].name));
    return false;
}

static bool
assign_whole(Frame *frame, uint32_t local, Value *value, Span span, const char *what)
{
    ExprEnv *env = frame->env;
    Value *variable = &env->locals.at[local].value;
    Type wanted = variable->type;
    for (uint32_t k = 0; k < wanted.rank; k++)
        if (frame->variables.at[local].open_sizes >> k & 1)
            wanted.dims[k] = SIZE_UNKNOWN;
    if (!expression_coerce(env, value, &wanted, span, what))
        return false;
    Expr *own = arena_array(env->arena, Expr, value->count + 1);
    if (value->elements)
        memcpy(own, value->elements, value->count * sizeof *own);
    *variable = *value;
    variable->elements = own;
    return true;
}

// Subscripts known at run time only: every element that they may select gets the value if they do. In a function, many
// elements, or some without a value yet, are better assigned at run time.
static bool
assign_picked(Frame *frame, const Elements *to, const Value *value, Span span)
{
    ExprEnv *env = frame->env;
    Exprs *exprs = env->exprs;
    Value *variable = &env->locals.at[to->local].value;
    LocalPicks *picks = to->picks;
    Expr where = expr_const(exprs, 0);
    uint64_t combinations = 1;
    enum { FEW = 16, MOST = 10000 };
    for (uint32_t d = 0; d < picks->n; d++) {
        where = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, where, expr_const(exprs, picks->at[d].size)),
                       pick_index(env, &picks->at[d], to->target));
        combinations *= picks->at[d].size;
    }
    bool good = combinations <= (frame->call ? MOST : FEW);
    for (uint32_t k = 0; good && k < combinations; k++) {
        U32Vec positions = {0};
        Type type;
        for (uint32_t d = picks->n, rest = k; d-- > 0; rest /= picks->at[d].size)
            picks->at[d].at = rest % picks->at[d].size;
        good = path_select(env, &variable->type, to->target, 0, &positions, &type);
        Expr here = expr_2(exprs, OP_EQ, where, expr_const(exprs, k));
        if (to->only)
            here = expr_2(exprs, OP_AND, to->only, here);
        for (uint32_t i = 0; good && i < positions.n; i++) {
            Expr *element = &variable->elements[positions.at[i]];
            good = *element != 0;
            if (good)
                *element = expr_3(exprs, OP_IF, here, value->elements[i], *element);
        }
        vec_free(&positions);
    }
    if (good)
        return true;
    env->at_run_time = true;
    diag_add(env->diags, E0722, span, "elements of '%s' are assigned at a subscript known at run time only, before all have values",
             sym_text(env->syms, frame->variables.at[to->local].name));
    return false;
}

static bool
assign_elements(Frame *frame, const Elements *to, const Value *value, Span span)
{
    if (to->picks->n)
        return assign_picked(frame, to, value, span);
    for (uint32_t i = 0; i < to->positions->n; i++)
        frame->env->locals.at[to->local].value.elements[to->positions->at[i]] = value->elements[i];
    return true;
}

// --- calls

static bool
run_assertion(Frame *frame, const Assertion *assertion, Span span)
{
    ExprEnv *env = frame->env;
    // Whether one that does not hold is reached may depend on values known only at run time, too.
    if (!value_known(env, &assertion->condition) || env->guard || env->compile) {
        env->at_run_time = true;
        diag_add(env->diags, E0722, span, "this assertion depends on values known only at run time");
        return false;
    }
    Diag *diag = diag_add(env->diags, assertion->warning ? W1603 : E0213, frame->span, "assertion fails in '%s': %s",
                          sym_text(env->syms, frame->function->full_name), text_filled(env, &assertion->message));
    diag_note(diag, span, "the assertion");
    return assertion->warning;
}

static bool
run_effect(Frame *frame, Expr effect, Span span)
{
    (void)effect;
    frame->env->at_run_time = true; // the order of effects is that of the statements
    diag_add(frame->env->diags, E0722, span, "what this call does is known only at run time");
    return false;
}

// --- conditions not known at compile time

static Value *
snapshot(const Frame *frame)
{
    ExprEnv *env = frame->env;
    Value *values = arena_array(env->arena, Value, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        values[i] = env->locals.at[i].value;
        Expr *copy = arena_array(env->arena, Expr, values[i].count + 1);
        if (values[i].elements)
            memcpy(copy, values[i].elements, values[i].count * sizeof *copy);
        values[i].elements = values[i].elements ? copy : NULL;
    }
    return values;
}

static bool
merge(Frame *frame, Expr condition, const Value *then_values, Span span)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        Value *value = &env->locals.at[i].value;
        const Value *other = &then_values[i];
        if (!type_same_sizes(&value->type, &other->type) || value->sizes != other->sizes)
            return refuse_sizes(frame, i, span);
        for (uint32_t k = 0; value->elements && other->elements && k < value->count; k++) {
            Expr a = other->elements[k], b = value->elements[k];
            if (a != b && (!a || !b) && record_may_leave(&value->type, k)) { // a field is read where it has a value
                a = a ? a : expr_const(env->exprs, NAN);
                b = b ? b : expr_const(env->exprs, NAN);
            }
            env->some_assigned |= a != b && (!a || !b);
            if (a != b)
                value->elements[k] = a && b ? expr_3(env->exprs, OP_IF, condition, a, b) : 0;
        }
    }
    return true;
}

static Control run_branches(Frame *frame, Node node, uint32_t branch);

// One of two branches, where `condition` holds.
static Control
run_side(Frame *frame, Node node, uint32_t branch, Expr condition, bool taken)
{
    ExprEnv *env = frame->env;
    Expr guard = env->guard, path = frame->path;
    env->guard = statement_also(frame, guard, condition);
    frame->path = statement_also(frame, path, condition);
    Control control = taken ? statement_list(frame, ast_child(env->ast, node, branch), 1)
        : run_branches(frame, node, branch + 1);
    env->guard = guard;
    frame->path = path;
    return control;
}

static Value *
take_values(const Frame *frame)
{
    ExprEnv *env = frame->env;
    Value *values = arena_array(env->arena, Value, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        values[i] = env->locals.at[i].value;
    return values;
}

static void
put_values(const Frame *frame, const Value *values)
{
    for (uint32_t i = 0; i < frame->variables.n; i++)
        frame->env->locals.at[i].value = values[i];
}

// Control has left the loop or the function with these values where `condition` holds on this path. A path that
// has broken out of the loop before does not return from inside it.
static void
leave(Frame *frame, Control control, Expr condition, Value *values)
{
    Exprs *exprs = frame->env->exprs;
    Expr where = condition ? statement_also(frame, frame->path, condition) : frame->path;
    if (control == CONTROL_RETURN && frame->left)
        where = statement_also(frame, where, expr_1(exprs, OP_NOT, frame->left));
    if (control == CONTROL_RETURN)
        frame->returned = statement_either(frame, frame->returned, where);
    else
        frame->left = statement_either(frame, frame->left, where);
    vec_push(&frame->exits, ((Exit){control, where, values}));
}

// Where the branches of an if-statement meet again, or not.
static Control
join(Frame *frame, Control first, Control second, Expr condition, Value *then_values, Span span)
{
    Expr not = expr_1(frame->env->exprs, OP_NOT, condition);
    if (first == second)
        return merge(frame, condition, then_values, span) ? first : CONTROL_FAILED;
    Value *else_values = take_values(frame);
    if (first != CONTROL_NEXT)
        leave(frame, first, condition, then_values);
    if (second == CONTROL_NEXT)
        return CONTROL_NEXT;
    if (first != CONTROL_NEXT)
        return second; // one breaks, the other returns: what follows in the loop is not reached
    leave(frame, second, not, else_values);
    put_values(frame, then_values);
    return CONTROL_NEXT;
}

static Control
run_both(Frame *frame, Node node, uint32_t branch, Expr condition)
{
    ExprEnv *env = frame->env;
    Value *before = snapshot(frame);
    Expr not = expr_1(env->exprs, OP_NOT, condition);
    Control first = run_side(frame, node, branch, condition, true);
    if (first == CONTROL_FAILED)
        return first;
    Value *then_values = take_values(frame);
    put_values(frame, before);
    Control second = run_side(frame, node, branch, not, false);
    if (second == CONTROL_FAILED)
        return second;
    return join(frame, first, second, condition, then_values, node_span(env, ast_child(env->ast, node, branch)));
}

// The exits of one kind from the `first` on join the path that is left; earlier ones win.
static bool
join_exits(Frame *frame, Control control, uint32_t first, Span span)
{
    uint32_t kept = first;
    for (uint32_t i = frame->exits.n; i-- > first;)
        if (frame->exits.at[i].control == control
            && !merge(frame, frame->exits.at[i].where, frame->exits.at[i].values, span))
            return false;
    for (uint32_t i = first; i < frame->exits.n; i++)
        if (frame->exits.at[i].control != control)
            frame->exits.at[kept++] = frame->exits.at[i];
    frame->exits.n = kept;
    return true;
}

bool
statement_returns(Frame *frame)
{
    return join_exits(frame, CONTROL_RETURN, 0, frame->span);
}

// A long if-statement with loops in a when-statement of a model. What leaves something around it stays.
static bool
runs_better(const Frame *frame, Node node)
{
    enum { LONG = 10 };
    const ExprEnv *env = frame->env;
    const Ast *ast = env->ast;
    U32Vec open = {0};
    uint32_t statements = 0, loops = 0, leaves = 0;
    if (!env->when || !frame->call || env->in_function || !env->routines || ast_kind(ast, node) != AST_IFST)
        return false;
    vec_push(&open, node);
    while (open.n) {
        Node at = vec_pop(&open);
        AstKind kind = ast_kind(ast, at);
        statements += kind == AST_ASSIGN || kind == AST_MULTIASSIGN || kind == AST_CALLST;
        loops += kind == AST_FORST || kind == AST_WHILEST;
        leaves += kind == AST_BREAK || kind == AST_RETURN || kind == AST_WHENST;
        for (uint32_t i = 0; i < ast_at(ast, at)->nchild; i++)
            if (ast_child(ast, at, i))
                vec_push(&open, ast_child(ast, at, i));
    }
    vec_free(&open);
    return statements >= LONG && loops && !leaves;
}

static Control
run_branches(Frame *frame, Node node, uint32_t branch)
{
    ExprEnv *env = frame->env;
    Expr condition;
    const uint32_t first = branch;
    BranchKind kind = statement_branch(frame, node, &branch, &condition);
    Node here = ast_child(env->ast, node, branch);
    if (kind == BRANCH_TAKEN)
        return statement_list(frame, here, 1);
    if (kind == BRANCH_OPEN && branch == first && runs_better(frame, node)) {
        DiagsMark mark = diags_mark(env->diags);
        bool run_time = env->at_run_time;
        if (routine_of_statement(frame, node))
            return CONTROL_NEXT;
        diags_return_to(env->diags, mark);
        env->at_run_time = run_time;
    }
    if (kind != BRANCH_OPEN || !expression_enter(env, node_span(env, here)))
        return kind == BRANCH_NONE ? CONTROL_NEXT : CONTROL_FAILED;
    Control control = run_both(frame, node, branch, condition);
    expression_leave(env);
    return control;
}

// --- loops

typedef struct LoopStart { // what is put back at the end of a loop
    uint32_t exits;
    Expr left;
} LoopStart;

static LoopStart
loop_start(const Frame *frame)
{
    return (LoopStart){frame->exits.n, frame->left};
}

// The path being executed returns at the end of a loop out of which others have broken: those go on.
static bool
only_broken(Frame *frame, uint32_t first)
{
    uint32_t last = frame->exits.n;
    while (last > first && frame->exits.at[last - 1].control != CONTROL_BREAK)
        last--;
    if (last == first)
        return false;
    Exit broken = frame->exits.at[last - 1];
    Value *values = take_values(frame);
    frame->exits.at[last - 1] = (Exit){CONTROL_RETURN, expr_const(frame->env->exprs, 0), broken.values};
    leave(frame, CONTROL_RETURN, 0, values);
    put_values(frame, broken.values);
    return true;
}

// After a loop: whoever broke out of it goes on from here.
static Control
loop_end(Frame *frame, Control control, LoopStart start, Span span)
{
    if (control == CONTROL_FAILED)
        return control;
    if (control == CONTROL_BREAK || (control == CONTROL_RETURN && only_broken(frame, start.exits)))
        control = CONTROL_NEXT;
    frame->left = start.left;
    return join_exits(frame, CONTROL_BREAK, start.exits, span) ? control : CONTROL_FAILED;
}

static Control
run_for(Frame *frame, Node node, uint32_t index)
{
    ExprEnv *env = frame->env;
    Node indices = ast_child(env->ast, node, 0), here = ast_child(env->ast, indices, index);
    Value range;
    if (!here)
        return statement_list(frame, node, 1);
    if (!loop_has_range(env, here) || !expression_range(env, ast_child(env->ast, here, 0), &range))
        return CONTROL_FAILED;
    LoopStart start = loop_start(frame);
    Control control = statement_iterations(frame, node, index, &range);
    return loop_end(frame, control, start, node_span(env, node));
}

static Control
refuse_repetitions(ExprEnv *env, Node test)
{
    env->at_run_time = true;
    diag_add(env->diags, E0722, node_span(env, test),
             "the number of repetitions of this loop is known only at run time; that is not supported yet");
    return CONTROL_FAILED;
}

static Control
run_while(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    Node test = ast_child(env->ast, node, 0);
    LoopStart start = loop_start(frame);
    for (;;) {
        Value condition;
        if (!expression_scalar(env, test, TYPE_BOOLEAN, "the condition", &condition))
            return CONTROL_FAILED;
        if (!value_known(env, &condition) || frame->exits.n - start.exits > REPETITION_LIMIT)
            return refuse_repetitions(env, test);
        if (value_number(env, &condition, 0) == 0)
            return loop_end(frame, CONTROL_NEXT, start, node_span(env, node));
        if (!statement_count(frame, node_span(env, node)))
            return CONTROL_FAILED;
        Control control = statement_list(frame, node, 1);
        if (control != CONTROL_NEXT)
            return loop_end(frame, control, start, node_span(env, node));
    }
}

// In a model the outermost loop is executed at run time when it cannot be unrolled.
static Control
run_loop(Frame *frame, Node node)
{
    ExprEnv *env = frame->env;
    bool outermost = frame->call && env->routines && !frame->in_loop;
    Value *before = outermost ? snapshot(frame) : NULL;
    DiagsMark mark = diags_mark(env->diags);
    LoopStart start = loop_start(frame);
    uint32_t locals = env->locals.n, statements = env->statements;
    bool inside = frame->in_loop;
    env->at_run_time = outermost ? false : env->at_run_time;
    frame->in_loop = true;
    Control control = ast_kind(env->ast, node) == AST_FORST ? run_for(frame, node, 0) : run_while(frame, node);
    frame->in_loop = inside;
    if (control != CONTROL_FAILED || !outermost || !env->at_run_time)
        return control;
    diags_return_to(env->diags, mark);
    env->statements = statements;
    env->locals.n = locals;
    frame->exits.n = start.exits;
    frame->left = start.left;
    put_values(frame, before);
    return routine_of_statement(frame, node) ? CONTROL_NEXT : CONTROL_FAILED;
}

// --- where control leaves

// Where a function returns under a condition, what it assigns afterwards does not count: its outputs have
// their values now.
static Control
leave_from(Frame *frame, Node node, Control control)
{
    ExprEnv *env = frame->env;
    bool returns = control == CONTROL_RETURN;
    for (uint32_t i = 0; returns && (frame->path || frame->exits.n) && i < frame->variables.n; i++) {
        const Value *value = &env->locals.at[i].value;
        bool missing = !value->elements;
        for (uint32_t k = 0; !missing && k < value->count; k++)
            missing = !value->elements[k];
        if (!missing || !(frame->variables.at[i].flags & AST_F_OUTPUT))
            continue;
        Diag *diag = diag_add(env->diags, E0207, node_span(env, node), "output '%s' of '%s' has no value yet here",
                              sym_text(env->syms, frame->variables.at[i].name),
                              sym_text(env->syms, frame->function->full_name));
        diag_note(diag, node_span(env, frame->variables.at[i].component), "declared here");
        return CONTROL_FAILED;
    }
    return control;
}

static const Meaning expansion = {
    .whole = assign_whole, .elements = assign_elements, .assertion = run_assertion, .effect = run_effect, .branches = run_branches,
    .loop = run_loop, .each = run_for, .leave = leave_from,
};

Control
statement_expand(Frame *frame, Node algorithm)
{
    frame->meaning = &expansion;
    return statement_list(frame, algorithm, 0);
}

