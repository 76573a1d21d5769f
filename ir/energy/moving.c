// moving.c: inertias: those of points in a moving frame of the plane.
//
// Purpose: a flexible body is described in a frame that moves with it. Method: velocity and acceleration of a point are
// written along the axes of the frame, where neither has the frame's angle in it but through the motion of the origin.
// Contract: collect.h. Complexity: linear in the expressions.
#include "ir/energy/collect.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// The velocity of a mass that changes counts in the kinetic energy only.
void
collect_velocity(System *system, Inertia inertia)
{
    Exprs *exprs = system->exprs;
    if (system_is_fixed(system, inertia.m)) {
        vec_push(&system->inertias, inertia);
        return;
    }
    Expr square = expr_2(exprs, OP_POW, inertia.v, expr_const(exprs, 2));
    Expr half = expr_2(exprs, OP_DIV, inertia.m, expr_const(exprs, 2));
    vec_push(&system->kinetic, (Term){expr_2(exprs, OP_MUL, half, square), inertia.from});
}

static Expr
turned(Exprs *exprs, Expr c, Expr s, Expr x, Expr y)
{
    return expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, c, x), expr_2(exprs, OP_MUL, s, y));
}

// A point {x, y} of a frame in the plane: its velocity and acceleration along the axes of the frame, which is what
// keeps the equations short. With w = der(theta) and the frame's origin X, Y turned into its axes:
//     v = der(X) + der(x) + w*{-y, x},   a = der(der(X)) + der(der(x)) + der(w)*{-y, x} + w*(2*{-der(y), der(x)} - w*{x, y})
void
collect_moving(Collect *c, System *system, uint32_t from, Expr m, Expr moving)
{
    enum { THETA, ORIGIN, PLACE = 3, PARTS = 5 };
    Exprs *exprs = c->dae->exprs;
    Expr q[PARTS], u[PARTS], a[PARTS];
    for (uint32_t i = 0; i < PARTS; i++)
        q[i] = expr_arg(exprs, moving, i);
    if (!system_rates(system, q, PARTS, u) || !system_rates(system, u, PARTS, a)) {
        collect_no_derivative(c, c->dae->energies.at[from].span);
        return;
    }
    Expr cosine = expr_1(exprs, OP_COS, q[THETA]), sine = expr_1(exprs, OP_SIN, q[THETA]), w = u[THETA];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t other = PLACE + 1 - k;
        Expr first = k ? expr_1(exprs, OP_NEG, sine) : cosine, second = k ? cosine : sine;
        Expr sign = expr_const(exprs, k ? 1 : -1);
        Expr across = expr_2(exprs, OP_MUL, sign, q[other]), across_rate = expr_2(exprs, OP_MUL, sign, u[other]);
        Expr coriolis = expr_sub(exprs, expr_2(exprs, OP_MUL, expr_const(exprs, 2), across_rate),
                                 expr_2(exprs, OP_MUL, w, q[PLACE + k]));
        Expr v[] = {turned(exprs, first, second, u[ORIGIN], u[ORIGIN + 1]), u[PLACE + k], expr_2(exprs, OP_MUL, w, across)};
        Expr b[] = {turned(exprs, first, second, a[ORIGIN], a[ORIGIN + 1]), a[PLACE + k],
                    expr_2(exprs, OP_MUL, a[THETA], across), expr_2(exprs, OP_MUL, w, coriolis)};
        collect_velocity(system, (Inertia){.m = m, .v = expr_make(exprs, OP_ADD, v, 3), .a = expr_make(exprs, OP_ADD, b, 4),
                                       .from = from});
    }
}
