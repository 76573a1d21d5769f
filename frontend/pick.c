// Subscripts that change while the model runs.
//
// Purpose: x[i] in an equation, where i is a variable. Method: the reference is resolved once for each value that the
// subscripts can have, as if it were written there, and a balanced tree of if-expressions picks among the results (Modelica
// 3.6, section 10.5; the sizes are known, so this is the same). A subscript outside the array picks NaN, which ends the
// run where it is used.
// Contract: called by the callback for references. Complexity: linear in the elements that could be picked.
#include <math.h>

#include "frontend/fragment.h"

enum { PICK_LIMIT = 100 * 1000 };

// --- which subscripts change

static bool
is_size_call(const Elab *elab, Node node)
{
    const AstNode *at = node_at(elab, node);
    if (at->kind != AST_CALL)
        return false;
    const char *name = scope_name_text(elab->program, child_at(elab, node, 0));
    return !strcmp(name, "size") || !strcmp(name, "ndims");
}

// A variable of the instance that is no parameter or constant, or the time.
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
    return member && !member->is_component && member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT;
}

static bool
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
        bool local = false;
        for (uint32_t i = 0; at->kind == AST_REF && i < env->locals.n; i++)
            local |= env->locals.at[i].name == node_at(elab, child_at(elab, top, 0))->sym;
        if (at->kind == AST_REF && !local)
            yes = reference_changes(elab, env->scope, top);
        for (uint32_t i = at->kind == AST_CALL; i < at->nchild; i++)
            vec_push(&stack, child_at(elab, top, i));
    }
    vec_free(&stack);
    return yes;
}

// Adds the subscripts of a REF that change to Elab.picks.
static void
collect_picks(Elab *elab, const ExprEnv *env, Node ref)
{
    for (uint32_t i = 0; i < node_at(elab, ref)->nchild; i++) {
        Node subscripts = child_at(elab, child_at(elab, ref, i), 0);
        for (uint32_t k = 0; subscripts && k < node_at(elab, subscripts)->nchild; k++) {
            Node node = child_at(elab, subscripts, k);
            AstKind kind = (AstKind)node_at(elab, node)->kind;
            if (kind != AST_COLON && kind != AST_NUMBER && kind != AST_END && subscript_changes(elab, env, node))
                vec_push(&elab->picks, ((Pick){.node = node, .value = 1}));
        }
    }
}

// --- picking

// The subscript as an expression that counts from 1.
static bool
index_value(Elab *elab, ExprEnv *env, Pick pick, Expr *out)
{
    Value value;
    Expr size = expr_const(env->exprs, pick.size);
    Local end = {elab->end_name, {.type = {.base = TYPE_INTEGER}, .count = 1, .elements = &size}};
    vec_push(&env->locals, end);
    bool ok = expression(env, pick.node, &value);
    env->locals.n--;
    if (!ok)
        return false;
    VarType base = value.type.base;
    if (value.type.rank || (base != TYPE_INTEGER && base != TYPE_ENUM && base != TYPE_BOOLEAN)) {
        diag_add(elab->diags, E0111, node_at(elab, pick.node)->span, value.type.rank
                 ? "a subscript that changes while the model runs must be a scalar" : "a subscript must be an Integer");
        return false;
    }
    *out = value.elements[0];
    if (base == TYPE_BOOLEAN)
        *out = expr_3(env->exprs, OP_IF, *out, expr_const(env->exprs, 2), expr_const(env->exprs, 1));
    return true;
}

// The one of n values at index first .. first + n - 1.
static Expr
choose(Exprs *exprs, Expr index, const Expr *values, uint32_t stride, uint32_t first, uint32_t n)
{
    if (n == 1)
        return values[0];
    uint32_t half = n / 2;
    Expr low = choose(exprs, index, values, stride, first, half);
    Expr high = choose(exprs, index, values + (size_t)half * stride, stride, first + half, n - half);
    Expr below = expr_2(exprs, OP_LT, index, expr_const(exprs, first + half));
    return expr_3(exprs, OP_IF, expr_1(exprs, OP_NOEVENT, below), low, high);
}

static Expr
choose_within(Exprs *exprs, Expr index, const Expr *values, uint32_t stride, uint32_t n)
{
    Expr inside = expr_2(exprs, OP_AND, expr_2(exprs, OP_GE, index, expr_const(exprs, 1)),
                         expr_2(exprs, OP_LE, index, expr_const(exprs, n)));
    return expr_3(exprs, OP_IF, expr_1(exprs, OP_NOEVENT, inside), choose(exprs, index, values, stride, 1, n),
                  expr_const(exprs, NAN));
}

// All combinations of the values of the subscripts from `first` on, the last one fastest; each resolved as it stands.
static bool
resolve_picks(Elab *elab, ExprEnv *env, Node ref, uint32_t first, uint32_t n, Value *whole, Expr **values, uint64_t *made)
{
    uint64_t total = 1;
    for (uint32_t i = 0; i < n; i++)
        total *= elab->picks.at[first + i].size;
    for (uint64_t c = 0; c < total; c++) {
        uint64_t rest = c;
        for (uint32_t i = n; i-- > 0; rest /= elab->picks.at[first + i].size)
            elab->picks.at[first + i].value = (uint32_t)(rest % elab->picks.at[first + i].size) + 1;
        Value one;
        if (!expression(env, ref, &one))
            return false;
        if (!c)
            *values = arena_array(elab->scratch, Expr, total * one.count);
        else if (one.count != whole->count)
            return false;
        *whole = one;
        memcpy(*values + c * one.count, one.elements, one.count * sizeof(Expr));
    }
    *made = total;
    return true;
}

static bool
pick_value(Elab *elab, ExprEnv *env, Node ref, uint32_t first, Value *out)
{
    uint32_t n = elab->picks.n - first;
    Expr *values = NULL, indices[MAX_RANK * 4];
    uint64_t total = 1;
    Value probe;
    // With 1 for all subscripts: tells the sizes.
    if (n > MAX_RANK * 4 || !expression(env, ref, &probe))
        return false;
    for (uint32_t i = 0; i < n; i++)
        total *= elab->picks.at[first + i].size;
    if (!total || total * probe.count > PICK_LIMIT) {
        diag_add(elab->diags, total ? E0214 : E0111, node_at(elab, ref)->span,
                 total ? "subscripts that change while the model runs pick among too many elements" : "the array has no elements");
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!index_value(elab, env, elab->picks.at[first + i], &indices[i]))
            return false;
    if (!resolve_picks(elab, env, ref, first, n, out, &values, &total))
        return false;
    Expr *picked = arena_array(elab->scratch, Expr, out->count);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t size = elab->picks.at[first + i].size;
        total /= size;
        for (uint64_t c = 0; c < total; c++)
            for (uint32_t k = 0; k < out->count; k++)
                values[c * out->count + k] = choose_within(env->exprs, indices[i], values + c * size * out->count + k, out->count, size);
    }
    memcpy(picked, values, out->count * sizeof(Expr));
    out->elements = picked;
    return true;
}

bool
pick_reference(Elab *elab, ExprEnv *env, Node ref, bool *done, Reference *out)
{
    Scope *scope = env->scope;
    uint32_t first = elab->picks.n;
    *done = false;
    if (!scope->frag || scope->structural || env->in_function)
        return true;
    for (uint32_t i = 0; i < first; i++) // inside a pick: the reference as it stands
        if (elab->picks.at[i].ref == ref)
            return true;
    collect_picks(elab, env, ref);
    if (elab->picks.n == first)
        return true;
    *done = true;
    for (uint32_t i = first; i < elab->picks.n; i++)
        elab->picks.at[i].ref = ref;
    elab->uneven = true;
    Value *value = arena_new(elab->scratch, Value);
    bool ok = pick_value(elab, env, ref, first, value);
    elab->picks.n = first;
    out->type = value->type;
    out->count = value->count;
    out->kind = VAR_CONTINUOUS;
    out->value = value;
    return ok;
}
