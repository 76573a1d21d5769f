// changing.c: which subscripts change while the model runs.
//
// Purpose: x[i] in an equation, where i is a variable, or a parameter that the initialisation finds. Method: the text of the
// subscript is searched for such variables of the instance, and for local variables whose values are not known; nothing is
// elaborated, so that subscripts that stay cost little. What the subscript picks is found by selection.c.
// Contract: fragment.h. Complexity: linear in the text.
#include "frontend/instance/fragment.h"
#include "frontend/value/expression_inner.h"

bool
is_size_call(const Elab *elab, Node node)
{
    const AstNode *at = node_at(elab, node);
    if (at->kind != AST_CALL)
        return false;
    const char *name = scope_name_text(elab->program, child_at(elab, node, 0));
    return !strcmp(name, "size") || !strcmp(name, "ndims");
}

// A variable of the instance that is no parameter or constant, a parameter that the initialisation finds, or the time.
static bool
reference_changes(Elab *elab, const Scope *scope, Node ref)
{
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    bool single = node_at(elab, ref)->nchild == 1;
    if (single && find_loop(elab, scope, first))
        return false;
    if (!visible_member(elab, scope, first))
        return single && !strcmp(name_of(elab, first), "time");
    Fragment *frag = scope->frag;
    Member *member = NULL;
    for (uint32_t i = 0; i < node_at(elab, ref)->nchild; i++) {
        member = frag ? fragment_member(frag, node_at(elab, child_at(elab, ref, i))->sym) : NULL;
        if (!member || !member_declare(elab, frag, member) || member->absent)
            return false;
        if (member->outer)
            member = outer_spot(frag, member).member;
        frag = member->is_component && member->count ? member->fragments[0] : NULL;
    }
    return member && !member->is_component
        && ((member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT) || is_found_at_start(elab, member));
}

bool
subscript_changes(Elab *elab, const ExprEnv *env, Node node)
{
    U32Vec stack = {0};
    bool yes = false;
    vec_push(&stack, node);
    while (!yes && stack.n) {
        Node top = vec_pop(&stack);
        if (!top || is_size_call(elab, top))
            continue;
        const AstNode *at = node_at(elab, top);
        int64_t local = expression_local(env, top);
        if (local >= 0)
            yes = !value_known(env, &env->locals.at[local].value);
        else if (at->kind == AST_REF)
            yes = reference_changes(elab, env->scope, top);
        for (uint32_t i = at->kind == AST_CALL; i < at->nchild; i++)
            vec_push(&stack, child_at(elab, top, i));
    }
    vec_free(&stack);
    return yes;
}
