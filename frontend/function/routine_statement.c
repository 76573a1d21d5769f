// routine_statement.c: statements of functions that are called at run time.
//
// Purpose: what statements mean in a routine: branches, assertions, calls, and where control leaves; assignments and loops have files
// of their own. Method: each statement fills the block at hand or ends it; what follows a `return` is not compiled.
// Contract: routine_inner.h. Complexity: linear in the statements.
#include "frontend/function/routine_inner.h"

static bool
compile_assertion(Frame *frame, const Assertion *assertion, Span span)
{
    Compile *c = (Compile *)frame;
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
    return true;
}

static bool
compile_effect(Frame *frame, Expr effect, Span span)
{
    Compile *c = (Compile *)frame;
    (void)span;
    compile_set(c, compile_cells(c, 1), effect);
    return true;
}

static Control
compile_branches(Frame *frame, Node node, uint32_t branch)
{
    Compile *c = (Compile *)frame;
    uint32_t end = NO_BLOCK;
    Expr condition;
    BranchKind kind;
    for (; (kind = statement_branch(frame, node, &branch, &condition)) == BRANCH_OPEN; branch++) {
        uint32_t taken = compile_block(c), next = compile_block(c);
        compile_branch(c, condition, taken, next);
        c->block = taken;
        c->doubt++;
        if (statement_list(frame, ast_child(c->env->ast, node, branch), 1) == CONTROL_FAILED)
            return CONTROL_FAILED;
        c->doubt--;
        end = end == NO_BLOCK ? compile_block(c) : end;
        compile_jump(c, end, false);
        c->block = next;
    }
    c->doubt += end != NO_BLOCK;
    Control control = kind == BRANCH_TAKEN ? statement_list(frame, ast_child(c->env->ast, node, branch), 1) : CONTROL_NEXT;
    c->doubt -= end != NO_BLOCK;
    if (kind == BRANCH_FAILED || control == CONTROL_FAILED || end == NO_BLOCK)
        return kind == BRANCH_FAILED ? CONTROL_FAILED : control;
    compile_jump(c, end, false);
    c->block = end;
    return CONTROL_NEXT;
}

static Control
compile_leave(Frame *frame, Node node, Control control)
{
    Compile *c = (Compile *)frame;
    (void)node;
    if (control == CONTROL_BREAK) {
        compile_jump(c, c->after, false);
        vec_last(&c->loops).left = true;
    }
    c->block = NO_BLOCK; // blocks end with a return unless told otherwise
    return control;
}

const Meaning compile_meaning = {
    .elements = compile_elements, .hold = compile_hold, .size = compile_size, .flexible = compile_flexible, .assertion = compile_assertion, .effect = compile_effect, .branches = compile_branches,
    .loop = compile_loop, .each = compile_for, .leave = compile_leave,
};
