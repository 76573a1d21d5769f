// squares.c: kinetic energies as sums of squares of velocities.
//
// Purpose: Kane's method and Gibbs and Appell's start from accelerations, not from energies; a kinetic energy that is
// written as a sum of terms c*w^2 says what is accelerated. Method: sums and products are taken apart; w must be linear
// in the velocities with w dt the differential of a position: d(dw/du_i)/dq_k = d(dw/du_k)/dq_i. (A component in a
// turning frame is not: its time derivative is no acceleration.) What has not this form keeps its energy, from which
// d/dt(dT/du) - dT/dq gives the same inertia forces. Contract: energy_system.h. Complexity: linear in the energies, and
// quadratic in the velocities of one square that is not der() of a variable.
#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

typedef struct Part { // factor*e
    Expr factor, e;
} Part;

typedef struct Squares {
    System *system;
    VEC(Part) stack;
    VEC(Inertia) found;
    uint32_t from;
} Squares;

enum { MANY_VELOCITIES = 64 };

static bool
moves(const System *system, Expr e)
{
    return system_depends(system, e, 0) || system_depends(system, e, 1);
}

static Expr
times(Exprs *exprs, Expr a, Expr b)
{
    return expr_2(exprs, OP_MUL, a, b);
}

static bool
is_closed(System *system, const U32Vec *u, const Expr *coefficient)
{
    Exprs *exprs = system->exprs;
    for (uint32_t i = 0; i < u->n; i++) {
        U32Vec used = {0};
        bool good = true;
        expr_used_slots(exprs, &coefficient[i], 1, &used);
        for (uint32_t k = 0; k < used.n && good; k++) {
            uint32_t slot = used.at[k], j = 0;
            if (slot >= 3 * system->n)
                continue;
            while (j < u->n && 3 * u->at[j] != slot)
                j++;
            Expr other = j < u->n ? expr_diff(exprs, coefficient[j], 3 * u->at[i]) : expr_const(exprs, 0);
            good = expr_is_const(exprs, expr_sub(exprs, expr_diff(exprs, coefficient[i], slot), other), 0);
        }
        vec_free(&used);
        if (!good)
            return false;
    }
    return true;
}

// w is linear in the velocities, without a part that does not vanish with them, and w dt is a differential.
static bool
is_velocity(System *system, Expr w)
{
    Exprs *exprs = system->exprs;
    U32Vec u = {0};
    system_moving(system, w, &u);
    bool good = u.n && u.n <= MANY_VELOCITIES;
    Expr *coefficient = base_calloc(u.n + 1, sizeof *coefficient), rest = w;
    for (uint32_t i = 0; i < u.n && good; i++) {
        good = expr_affine(exprs, rest, 3 * u.at[i] + 1, &coefficient[i], &rest)
               && !system_depends(system, coefficient[i], 1);
        good = good && system_is_scleronomic(system, coefficient[i]);
    }
    good = good && expr_is_const(exprs, rest, 0) && is_closed(system, &u, coefficient);
    vec_free(&u);
    free(coefficient);
    return good;
}

static bool
take_square(Squares *squares, Expr factor, Expr w)
{
    System *system = squares->system;
    Exprs *exprs = system->exprs;
    Expr s = 0;
    uint32_t found;
    if (expr_op(exprs, w) == OP_SLOT && expr_slot_of(exprs, w) < 3 * system->n && expr_slot_of(exprs, w) % 3 == 1)
        s = expr_slot(exprs, expr_slot_of(exprs, w) - 1);
    else if (map_get(&system->position_of, w, &found))
        s = found;
    else if (!is_velocity(system, w))
        return false;
    if (!system_is_fixed(system, factor)) {
        vec_push(&system->suspects, (Suspect){factor, w, squares->from});
        return false;
    }
    Expr m = times(exprs, expr_const(exprs, 2), factor);
    vec_push(&squares->found, (Inertia){.m = m, .v = w, .s = s, .from = squares->from});
    return true;
}

// A product with one factor that depends on velocities.
static bool
take_product(Squares *squares, Expr factor, Expr product)
{
    System *system = squares->system;
    Expr moving = 0;
    for (uint32_t i = 0; i < expr_nargs(system->exprs, product); i++) {
        Expr arg = expr_arg(system->exprs, product, i);
        if (!system_depends(system, arg, 1))
            factor = times(system->exprs, factor, arg);
        else if (moving)
            return false;
        else
            moving = arg;
    }
    if (!moving)
        return false;
    vec_push(&squares->stack, (Part){factor, moving});
    return true;
}

static bool
take_part(Squares *squares, Part part)
{
    System *system = squares->system;
    Exprs *exprs = system->exprs;
    Expr first = expr_nargs(exprs, part.e) ? expr_arg(exprs, part.e, 0) : 0;
    switch (expr_op(exprs, part.e)) {
    case OP_ADD:
        for (uint32_t i = expr_nargs(exprs, part.e); i-- > 0;)
            vec_push(&squares->stack, (Part){part.factor, expr_arg(exprs, part.e, i)});
        return true;
    case OP_NEG:
        vec_push(&squares->stack, (Part){expr_1(exprs, OP_NEG, part.factor), first});
        return true;
    case OP_MUL:
        return take_product(squares, part.factor, part.e);
    case OP_DIV:
        if (system_depends(system, expr_arg(exprs, part.e, 1), 1))
            return false;
        vec_push(&squares->stack, (Part){expr_2(exprs, OP_DIV, part.factor, expr_arg(exprs, part.e, 1)), first});
        return true;
    case OP_POW:
        return expr_is_const(exprs, expr_arg(exprs, part.e, 1), 2) && take_square(squares, part.factor, first);
    default:
        return false;
    }
}

void
system_find_inertias(System *system)
{
    Squares squares = {.system = system};
    U32Vec kept = {0};
    Exprs *exprs = system->exprs;
    uint32_t left = 0;
    for (uint32_t i = 0; i < system->kinetic.n; i++) {
        Term term = system->kinetic.at[i];
        squares.from = term.from;
        kept.n = squares.stack.n = 0;
        vec_push(&squares.stack, (Part){expr_const(exprs, 1), term.e});
        while (squares.stack.n) {
            Part part = vec_pop(&squares.stack);
            bool still = !moves(system, part.e) && !moves(system, part.factor);
            if (!still && !take_part(&squares, part))
                vec_push(&kept, times(exprs, part.factor, part.e));
        }
        if (kept.n)
            system->kinetic.at[left++] = (Term){expr_make(exprs, OP_ADD, kept.at, kept.n), term.from};
    }
    system->kinetic.n = left;
    vec_append(&system->inertias, squares.found.at, squares.found.n);
    vec_free(&kept);
    vec_free(&squares.stack);
    vec_free(&squares.found);
}

// --- what has no such form

bool
system_is_quadratic(System *system, const char *formalism)
{
    Exprs *exprs = system->exprs;
    for (uint32_t i = 0; i < system->kinetic.n; i++) {
        Expr e = system->kinetic.at[i].e;
        U32Vec u = {0};
        system_moving(system, e, &u);
        for (uint32_t k = 0; k < u.n; k++) {
            // Linear in all velocities: the second derivatives depend on none.
            Expr momentum = expr_diff(exprs, e, 3 * u.at[k] + 1);
            U32Vec left = {0};
            bool linear = momentum != 0;
            if (linear)
                system_moving(system, momentum, &left);
            for (uint32_t j = 0; j < left.n && linear; j++)
                linear = !system_depends(system, expr_diff(exprs, momentum, 3 * left.at[j] + 1), 1);
            vec_free(&left);
            if (linear)
                continue;
            Diag *diag = diag_add(system->diags, E0804, system_energy(system, system->kinetic.at[i].from)->span,
                                  "%s cannot express this kinetic energy: it is not quadratic in the velocities, so that "
                                  "no inertia with an acceleration belongs to it", formalism);
            diag_help(diag, "lagrange, hamilton and maggi can");
            vec_free(&u);
            return false;
        }
        vec_free(&u);
    }
    return true;
}
