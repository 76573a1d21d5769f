// routine_statement.c: statements of functions that are called at run time.
//
// Purpose: the walk over statements: branches, assertions, calls; assignments and loops have files of their own.
// Method: each statement fills the block at hand or ends it; what follows a `return` is not compiled.
// Contract: routine_inner.h. Complexity: linear in the statements.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/function/routine_inner.h"

// --- assertions

static void
report_unless(Compile *c, const Assertion *assertion, Span span)
{
    TextForm form = text_form(c->env->exprs, assertion->message.elements[0], c->env->arena);
    uint32_t on = compile_block(c), wrong = compile_block(c), first = c->routine->values.n;
    compile_branch(c, assertion->condition.elements[0], on, wrong);
    vec_append(&c->routine->values, form.values, form.n);
    Block *block = &c->routine->blocks.at[wrong];
    block->end = assertion->warning ? BLOCK_WARN : BLOCK_FAIL;
    block->to = on;
    block->site = site_add(c->env->exprs, arena_printf(c->env->arena, "assertion fails in '%s': %s", c->routine->name, form.form), span);
    block->value = first;
    block->n_values = c->routine->values.n - first;
    c->block = on;
}

static bool
run_assert(Compile *c, Node call)
{
    ExprEnv *env = c->env;
    Assertion assertion;
    if (!statement_assertion(env, call, &assertion))
        return false;
    if (assertion.holds)
        return true;
    report_unless(c, &assertion, node_span(env, call));
    return true;
}

static bool
run_call(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    Node call = ast_child(env->ast, node, 0), ref = ast_child(env->ast, call, 0);
    Sym name = ast_at(env->ast, ast_child(env->ast, ref, 0))->sym;
    if (ast_at(env->ast, ref)->nchild == 1 && !strcmp(sym_text(env->syms, name), "assert"))
        return run_assert(c, call);
    Expr effect;
    if (!function_effect(env, call, &effect))
        return false;
    if (effect)
        compile_set(c, compile_cells(c, 1), effect);
    return true;
}

// --- branches

static bool
run_if(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    uint32_t end = NO_BLOCK;
    for (uint32_t i = 0; c->block != NO_BLOCK; i++) {
        Node here = ast_child(env->ast, node, i);
        if (!here || ast_kind(env->ast, here) != AST_BRANCH)
            break;
        Node test = ast_child(env->ast, here, 0);
        Value condition;
        if (test && !expression_scalar(env, test, TYPE_BOOLEAN, "the condition", &condition))
            return false;
        bool known = !test || value_known(env, &condition);
        if (known && test && value_number(env, &condition, 0) == 0)
            continue;
        uint32_t next = NO_BLOCK;
        if (!known) {
            uint32_t taken = compile_block(c);
            next = compile_block(c);
            compile_branch(c, condition.elements[0], taken, next);
            c->block = taken;
        }
        if (!compile_list(c, here, 1))
            return false;
        if (known && end == NO_BLOCK)
            return true;
        end = end == NO_BLOCK ? compile_block(c) : end;
        compile_jump(c, end, false);
        c->block = next;
    }
    if (end != NO_BLOCK) {
        compile_jump(c, end, false);
        c->block = end;
    }
    return true;
}

// --- the walk

static bool
run_one(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    switch (ast_kind(env->ast, node)) {
    case AST_ASSIGN: return compile_assignment(c, node);
    case AST_MULTIASSIGN: return compile_assignments(c, node);
    case AST_CALLST: return run_call(c, node);
    case AST_IFST: return run_if(c, node);
    case AST_FORST: return compile_for(c, node, 0);
    case AST_WHILEST: return compile_while(c, node);
    case AST_BREAK:
        if (c->after != NO_BLOCK) {
            compile_jump(c, c->after, false);
            return true;
        }
        break;
    case AST_RETURN:
        c->block = NO_BLOCK; // blocks end with a return unless told otherwise
        return true;
    case AST_COMMENT: case AST_ANNOTATION: return true;
    default: break;
    }
    diag_add(env->diags, E0212, node_span(env, node), "this statement cannot stand in a function");
    return false;
}

bool
compile_list(Compile *c, Node node, uint32_t first)
{
    ExprEnv *env = c->env;
    bool good = true;
    if (!expression_enter(env, node_span(env, node)))
        return false;
    for (uint32_t i = first; good && c->block != NO_BLOCK && i < ast_at(env->ast, node)->nchild; i++) {
        Node statement = ast_child(env->ast, node, i);
        if (statement)
            good = statement_count(env, node_span(env, statement)) && run_one(c, statement);
    }
    expression_leave(env);
    return good;
}
