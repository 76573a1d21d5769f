// expr_rewrite.c: rewriting an expression from its parts upward.
//
// Purpose: what replaces operators inside an expression is the same walk with another rule. Method: the parts in
// post-order, each once; where the arguments of a part lie in this order is noted before the first rule runs, so that a
// rule may walk over expressions itself. What depends on the place of a part goes down with a stack of its own. Contract: expr_rewrite.h.
// Complexity: linear in the number of different parts.
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"

// Per part: the positions of its arguments in the order, one after the other.
static void
note_arguments(const Exprs *exprs, const U32Vec *order, U32Vec *places)
{
    for (uint32_t i = 0; i < order->n; i++)
        for (uint32_t j = 0; j < cell_n(exprs, order->at[i]); j++)
            vec_push(places, exprs->index.at[cell_args(exprs, order->at[i])[j]]);
}

Expr
expr_rewrite(Exprs *exprs, Expr e, ExprReplace *replace, void *context)
{
    U32Vec order = {0}, places = {0}, made = {0}, args = {0};
    uint32_t at = 0;
    expr_walk(exprs, e, UINT32_MAX, &order);
    note_arguments(exprs, &order, &places);
    vec_reserve(&made, order.n);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr part = order.at[i];
        uint32_t n = cell_n(exprs, part);
        bool changed = false;
        vec_clear(&args);
        for (uint32_t j = 0; j < n; j++) {
            Expr now = made.at[places.at[at++]];
            changed |= now != cell_args(exprs, part)[j];
            vec_push(&args, now);
        }
        Expr result = replace(context, exprs, part, args.at);
        if (!result)
            result = changed ? expr_make(exprs, cell_op(exprs, part), args.at, n) : part;
        vec_push(&made, result);
    }
    Expr result = vec_last(&made);
    vec_free(&order);
    vec_free(&places);
    vec_free(&made);
    vec_free(&args);
    return result;
}

typedef struct Opened { // a part whose arguments are under way
    Expr e;
    uint32_t next;
} Opened;

void
expr_rewrite_all(Exprs *exprs, Expr *roots, uint32_t n, ExprReplace *replace, void *context)
{
    Map made = {0};
    VEC(Opened) stack = {0};
    U32Vec args = {0};
    for (uint32_t r = 0; r < n; r++) {
        uint32_t now;
        if (roots[r] && !map_get(&made, roots[r], &now))
            vec_push(&stack, ((Opened){roots[r], 0}));
        while (stack.n) {
            Opened *top = &vec_last(&stack);
            Expr part = top->e;
            uint32_t all = expr_nargs(exprs, part);
            while (top->next < all && map_get(&made, expr_arg(exprs, part, top->next), &now))
                top->next++;
            if (top->next < all) {
                Expr next = expr_arg(exprs, part, top->next); // `top` moves with the stack
                vec_push(&stack, ((Opened){next, 0}));
                continue;
            }
            bool changed = false;
            vec_clear(&args);
            for (uint32_t j = 0; j < all; j++) {
                map_get(&made, expr_arg(exprs, part, j), &now);
                changed |= now != expr_arg(exprs, part, j);
                vec_push(&args, now);
            }
            Expr result = replace(context, exprs, part, args.at);
            if (!result)
                result = changed ? expr_make(exprs, expr_op(exprs, part), args.at, all) : part;
            map_put(&made, part, result);
            stack.n--;
        }
        if (roots[r] && map_get(&made, roots[r], &now))
            roots[r] = now;
    }
    map_free(&made);
    vec_free(&stack);
    vec_free(&args);
}

// --- seen in several ways

typedef struct Visit { // a part under way
    Expr e;
    uint32_t way, next; // what it needs next
} Visit;

Expr
expr_descend(const ExprDescent *descent, Expr e, uint32_t way)
{
    VEC(Visit) stack = {0};
    uint32_t result;
    if (map_get(&descent->done[way], e, &result))
        return result;
    vec_push(&stack, (Visit){.e = e, .way = way});
    while (stack.n) {
        Visit *top = &vec_last(&stack);
        Visit inner = {0};
        if (descent->needs(descent->context, top->e, top->way, top->next, &inner.e, &inner.way)) {
            top->next++;
            if (!map_get(&descent->done[inner.way], inner.e, &result))
                vec_push(&stack, inner);
            continue;
        }
        result = descent->make(descent->context, top->e, top->way);
        map_put(&descent->done[top->way], top->e, result);
        vec_drop(&stack);
    }
    vec_free(&stack);
    return result;
}
