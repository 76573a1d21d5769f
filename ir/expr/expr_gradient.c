// expr_gradient.c: derivatives of one sum by many slots.
//
// Purpose: energies are differentiated by all coordinates and velocities of a mechanism. Method: reverse accumulation
// over the parts in reverse post-order: each part passes its adjoint, multiplied by the operator's derivative, on to its
// arguments; the forward rule of an operator is linear in the derivatives of its arguments, so that the adjoint put in
// the place of one of them gives the product. Contract: expr_calculus.h. Complexity: linear in the number of different parts and
// their arguments.
#include <stdlib.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/routine.h"

typedef struct Share { // one contribution to an adjoint
    Expr value;
    uint32_t next;     // index into Adjoints.shares + 1
} Share;

typedef struct Adjoints {
    Exprs *exprs;
    const U32Vec *order;
    U32Vec first, last; // per position: its contributions, in order of arrival
    U8Vec moves;        // per position: contains a slot that is wanted
    VEC(Share) shares;
    U32Vec a, d, sum;   // scratch
} Adjoints;

static void
contribute(Adjoints *at, Expr to, Expr value)
{
    if (value == at->exprs->zero)
        return;
    uint32_t position = at->exprs->index.at[to];
    vec_push(&at->shares, (Share){value, 0});
    if (at->last.at[position])
        at->shares.at[at->last.at[position] - 1].next = at->shares.n;
    else
        at->first.at[position] = at->shares.n;
    at->last.at[position] = at->shares.n;
}

static Expr
adjoint_of(Adjoints *at, uint32_t position)
{
    at->sum.n = 0;
    for (uint32_t k = at->first.at[position]; k; k = at->shares.at[k - 1].next)
        vec_push(&at->sum, at->shares.at[k - 1].value);
    return at->sum.n ? expr_make(at->exprs, OP_ADD, at->sum.at, at->sum.n) : at->exprs->zero;
}

// Passes the adjoint of one part on to its arguments.
static bool
pass_on(Adjoints *at, Expr id, Expr adjoint)
{
    Exprs *exprs = at->exprs;
    uint32_t n = cell_n(exprs, id);
    at->a.n = at->d.n = 0;
    for (uint32_t j = 0; j < n; j++) {
        vec_push(&at->a, cell_args(exprs, id)[j]);
        vec_push(&at->d, exprs->zero);
    }
    for (uint32_t j = 0; j < n; j++) {
        if (!at->moves.at[exprs->index.at[at->a.at[j]]])
            continue;
        Expr share = adjoint;
        if (cell_op(exprs, id) != OP_ADD) {
            at->d.at[j] = adjoint;
            share = expr_diff_operator(exprs, id, at->a.at, at->d.at, n);
            at->d.at[j] = exprs->zero;
        }
        if (!share)
            return false;
        contribute(at, at->a.at[j], share);
    }
    return true;
}

// result(k, f(x)) passes on to the inputs of its call: by each of them it has a derivative of its own.
static bool
pass_through(Adjoints *at, Expr id, Expr adjoint)
{
    Exprs *exprs = at->exprs;
    Expr call = cell_args(exprs, id)[1];
    uint32_t n = cell_n(exprs, call), routines = routine_count(exprs);
    at->a.n = at->d.n = 0;
    for (uint32_t j = 0; j < n; j++) {
        vec_push(&at->a, cell_args(exprs, call)[j]);
        vec_push(&at->d, exprs->zero);
    }
    for (uint32_t j = 1; j < n; j++) {
        if (!at->moves.at[exprs->index.at[at->a.at[j]]])
            continue;
        at->d.at[j] = exprs->one;
        Expr along = expr_diff_operator(exprs, call, at->a.at, at->d.at, n);
        at->d.at[j] = exprs->zero;
        expr_keep_positions(exprs, at->order, &routines);
        Expr slope = expr_2(exprs, OP_RESULT, cell_args(exprs, id)[0], along);
        contribute(at, at->a.at[j], expr_2(exprs, OP_MUL, adjoint, slope));
    }
    return true;
}

static void
find_moving(Adjoints *at, const uint8_t *want, uint32_t n)
{
    Exprs *exprs = at->exprs;
    for (uint32_t i = 0; i < at->order->n; i++) {
        Expr id = at->order->at[i];
        uint32_t slot = exprs->cells.at[id].args;
        bool moves = cell_op(exprs, id) == OP_SLOT && slot < n && want[slot];
        for (uint32_t j = 0; j < cell_n(exprs, id); j++)
            moves |= at->moves.at[exprs->index.at[cell_args(exprs, id)[j]]] != 0;
        vec_push(&at->moves, moves);
    }
}

static bool
run_back(Adjoints *at, Expr *out)
{
    Exprs *exprs = at->exprs;
    for (uint32_t i = at->order->n; i-- > 0;) {
        Expr id = at->order->at[i], adjoint = adjoint_of(at, i);
        if (adjoint == exprs->zero || !at->moves.at[i])
            continue;
        if (cell_op(exprs, id) == OP_SLOT)
            out[expr_slot_of(exprs, id)] = adjoint;
        else if (cell_op(exprs, id) == OP_RESULT ? !pass_through(at, id, adjoint) : !pass_on(at, id, adjoint))
            return false;
    }
    return true;
}

bool
expr_gradient(Exprs *exprs, const Expr *roots, const Expr *seeds, uint32_t n_roots, const uint8_t *want,
              uint32_t n, Expr *out)
{
    U32Vec order = {0};
    Adjoints at = {.exprs = exprs, .order = &order};
    for (uint32_t k = 0; k < n; k++)
        out[k] = exprs->zero;
    expr_walk_all(exprs, roots, n_roots, &order);
    expr_prepare_calls(exprs, &order);
    vec_grow(&at.first, order.n);
    vec_grow(&at.last, order.n);
    for (uint32_t r = n_roots; r-- > 0;)
        contribute(&at, roots[r], seeds[r]);
    find_moving(&at, want, n);
    bool known = run_back(&at, out);
    vec_free(&order);
    vec_free(&at.first);
    vec_free(&at.last);
    vec_free(&at.shares);
    vec_free(&at.moves);
    vec_free(&at.a);
    vec_free(&at.d);
    vec_free(&at.sum);
    return known;
}
