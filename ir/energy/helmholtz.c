// helmholtz.c: Helmholtz's conditions.
//
// Purpose: equations A(q, u) a + B(q, u) = 0 have a Lagrangian only when they are self-adjoint (30)-(33):
//     A_ij = A_ji                                                                    (30)
//     dA_ik/du_j = dA_jk/du_i                                                        (31)
//     dB_i/dq_j - dB_j/dq_i = 1/2 d/dq_k (dB_i/du_j - dB_j/du_i) u_k                 (32)
//     dB_i/du_j + dB_j/du_i = 2 dA_ij/dq_k u_k                                       (33)
// The force of a mem-inerter, d/dt(B(s) der(s)), is not: who writes its energy as B(s)/2*der(s)^2 gets another force, with
// half the term B' der(s)^2 (25), (27). Method: a kinetic energy f(s)*der(s)^2 whose factor depends on the very
// displacement is taken for an inerter's, unless it is negative nowhere: then it is that of a mass on a way of its own, whose velocity is
// sqrt(f)*der(s), as a crank's; the equations that the momentum 2*f*der(s) gives are put into the conditions,
// and the first that fails is named with the difference of its sides. (A factor that depends on other coordinates is
// geometry.) Two expressions are taken for equal when they have the same text, or agree at a few points chosen without
// order (Schwartz 1980, Zippel 1979): where displacements are nonlinear functions of coordinates, equal sides seldom have
// one text. Contract: energy_system.h. Complexity: quadratic in the coordinates of one displacement.
#include <math.h>
#include <string.h>

#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"

enum { IDENTITY_POINTS = 4, SIGN_POINTS = 96, SIGN_SCALES = 8, LONGEST_TEXT = 160 };

typedef struct Failure {
    const char *condition;
    uint32_t i, j;
    Expr difference;       // left side minus right side
} Failure;

typedef struct Operator {  // A a + B of the coordinates listed
    System *system;
    Exprs *exprs;
    U32Vec at;             // coordinates
    Expr *force;           // per coordinate of the list
} Operator;

// A point of the unit cube: multiples of irrational numbers, without their whole part.
static void
spread(double *slots, uint32_t n, uint32_t point)
{
    for (uint32_t i = 0; i < n; i++)
        slots[i] = 0.1 + fmod((point + 1) * sqrt(2.0 + i) + 0.7548776662466927 * i, 1.0);
}

// The difference vanishes wherever it has a value.
static bool
is_zero(System *system, Expr difference, Expr scale)
{
    Exprs *exprs = system->exprs;
    uint32_t n = system->vars.n, seen = 0;
    bool zero = true;
    if (expr_is_const(exprs, difference, 0))
        return true;
    double *slots = base_calloc(n + 1, sizeof *slots);
    for (uint32_t point = 0; point < IDENTITY_POINTS && zero; point++) {
        spread(slots, n, point);
        double value = expr_eval(exprs, difference, slots, 0.3 + point), size = expr_eval(exprs, scale, slots, 0.3 + point);
        seen += isfinite(value) && isfinite(size);
        zero = !isfinite(value) || !isfinite(size) || fabs(value) <= 1e-9 * (1 + fabs(size));
    }
    free(slots);
    return zero && seen;
}

static Expr
by(const Operator *op, Expr e, uint32_t k, uint32_t kind)
{
    return expr_diff(op->exprs, e, 3 * op->at.at[k] + kind);
}

static Expr
coefficient(const Operator *op, uint32_t i, uint32_t j)
{
    return by(op, op->force[i], j, 2);
}

// What is left without accelerations.
static Expr
rest(const Operator *op, uint32_t i)
{
    Expr *zero = base_calloc(3 * op->system->n + 1, sizeof *zero);
    for (uint32_t k = 0; k < op->system->n; k++)
        zero[3 * k + 2] = expr_const(op->exprs, 0);
    Expr e = expr_substitute(op->exprs, op->force[i], zero, 3 * op->system->n);
    free(zero);
    return e;
}

static Expr
along_velocities(const Operator *op, Expr e)
{
    Expr sum = expr_const(op->exprs, 0);
    for (uint32_t k = 0; k < op->at.n; k++)
        sum = expr_2(op->exprs, OP_ADD, sum,
                     expr_2(op->exprs, OP_MUL, by(op, e, k, 0), system_velocity(op->system, op->at.at[k])));
    return sum;
}

static bool
differs(const Operator *op, Failure *out, const char *condition, uint32_t i, uint32_t j, Expr left, Expr right)
{
    Expr difference = expr_sub(op->exprs, left, right);
    if (is_zero(op->system, difference, left))
        return false;
    *out = (Failure){condition, op->at.at[i], op->at.at[j], difference};
    return true;
}

static bool
pair_fails(const Operator *op, uint32_t i, uint32_t j, Failure *out)
{
    Exprs *exprs = op->exprs;
    Expr bi = rest(op, i), bj = rest(op, j);
    if (differs(op, out, "(30)", i, j, coefficient(op, i, j), coefficient(op, j, i)))
        return true;
    for (uint32_t k = 0; k < op->at.n; k++)
        if (differs(op, out, "(31)", i, j, by(op, coefficient(op, i, k), j, 1), by(op, coefficient(op, j, k), i, 1)))
            return true;
    Expr turn = along_velocities(op, expr_sub(exprs, by(op, bi, j, 1), by(op, bj, i, 1)));
    if (differs(op, out, "(32)", i, j, expr_sub(exprs, by(op, bi, j, 0), by(op, bj, i, 0)),
                expr_2(exprs, OP_DIV, turn, expr_const(exprs, 2))))
        return true;
    Expr twice = expr_2(exprs, OP_MUL, expr_const(exprs, 2), along_velocities(op, coefficient(op, i, j)));
    return differs(op, out, "(33)", i, j, expr_2(exprs, OP_ADD, by(op, bi, j, 1), by(op, bj, i, 1)), twice);
}

static bool
find_failure(const Operator *op, Failure *out)
{
    for (uint32_t i = 0; i < op->at.n; i++)
        for (uint32_t j = i; j < op->at.n; j++)
            if (pair_fails(op, i, j, out))
                return true;
    return false;
}

// Whether coordinate k is one of those listed.
static bool
is_listed(const U32Vec *at, uint32_t k)
{
    for (uint32_t i = 0; i < at->n; i++)
        if (at->at[i] == k)
            return true;
    return false;
}

// The factor depends on no coordinate that does not move the displacement, and at all on one.
static bool
depends_on_listed(const System *system, Expr factor, const U32Vec *at)
{
    U32Vec used = {0};
    bool good = true, some = false;
    expr_used_slots(system->exprs, &factor, 1, &used);
    for (uint32_t i = 0; i < used.n && good; i++) {
        bool coordinate = used.at[i] < 3 * system->n;
        good = !coordinate || (used.at[i] % 3 == 0 && is_listed(at, used.at[i] / 3));
        some |= coordinate;
    }
    vec_free(&used);
    return good && some;
}

// The velocity is that of a displacement, and the factor is a function of this displacement: its gradient is parallel to
// the coefficients of the velocities.
static bool
is_two_terminal(System *system, const Suspect *suspect, U32Vec *at)
{
    Exprs *exprs = system->exprs;
    system_moving(system, suspect->velocity, at);
    bool good = at->n && system_is_scleronomic(system, suspect->factor) && depends_on_listed(system, suspect->factor, at);
    for (uint32_t i = 1; i < at->n && good; i++) {
        Expr c0 = expr_diff(exprs, suspect->velocity, 3 * at->at[0] + 1), c = expr_diff(exprs, suspect->velocity, 3 * at->at[i] + 1);
        Expr f0 = expr_diff(exprs, suspect->factor, 3 * at->at[0]), f = expr_diff(exprs, suspect->factor, 3 * at->at[i]);
        Expr left = expr_2(exprs, OP_MUL, c, f0);
        good = is_zero(system, expr_sub(exprs, left, expr_2(exprs, OP_MUL, c0, f)), left);
    }
    return good;
}

// Coordinates of both signs and all sizes, parameters at their values.
static bool
is_somewhere_negative(System *system, Expr factor)
{
    uint32_t n = system->vars.n;
    bool negative = false;
    double *slots = base_calloc(n + 1, sizeof *slots);
    for (uint32_t point = 0; point < SIGN_POINTS && !negative; point++) {
        double scale = pow(10, (int)(point % SIGN_SCALES) - 3), value;
        spread(slots, n, point);
        for (uint32_t i = 0; i < n; i++)
            if (i < 3 * system->n)
                slots[i] = scale * 2 * (slots[i] - 0.6);
            else if (system->vars.at[i] != NONE && dae_known_value(system->dae, system->vars.at[i], &value))
                slots[i] = value;
        negative = expr_eval(system->exprs, factor, slots, 0.3) < 0;
    }
    free(slots);
    return negative;
}

static void
print_slot(Out *out, uint32_t slot, void *context)
{
    const System *system = context;
    dae_var_name(system->dae, system->vars.at[slot], out);
}

static const char *
text_of_expr(System *system, Expr e)
{
    Out out = {0};
    expr_print(system->exprs, e, print_slot, system, &out);
    const char *text = arena_strndup(system->dae->arena, out.text, out.length);
    out_free(&out);
    return text;
}

// What an expression is called in a message: its text, or words where that would fill the screen.
static const char *
text_or(System *system, Expr e, const char *words)
{
    const char *text = text_of_expr(system, e);
    return strlen(text) <= LONGEST_TEXT ? text : words;
}

static void
warn(System *system, const Suspect *suspect, const Failure *failure)
{
    Exprs *exprs = system->exprs;
    Span span = system_energy(system, suspect->from)->span;
    const char *inertance = text_or(system, expr_2(exprs, OP_MUL, expr_const(exprs, 2), suspect->factor), "B(s)");
    Diag *diag = diag_add(system->diags, W1801, span, "the inertance %s of this kinetic energy changes with its own displacement, "
                          "as that of a mem-inerter does, whose equation of motion has no Lagrangian", inertance);
    Expr momentum = expr_make(exprs, OP_MUL, (Expr[]){expr_const(exprs, 2), suspect->factor, suspect->velocity}, 3);
    const char *i = dae_name(system->dae, system->coordinates.at[failure->i]), *j = dae_name(system->dae, system->coordinates.at[failure->j]);
    Out words = {0};
    out_printf(&words, "2*dB/ds*der(s)*ds/d%s*ds/d%s, where B is the inertance and s the displacement", i, j);
    diag_note(diag, span, "with the momentum %s Helmholtz's condition %s fails for %s: its sides differ by %s",
              text_or(system, momentum, "B(s)*der(s)"), failure->condition, i, text_or(system, failure->difference, words.text));
    out_free(&words);
    diag_help(diag, "a mem-inerter is 'memory kinetic E' with the integrated energy E whose second derivative by the displacement "
                    "is %s; a geometry is 'inertia m at {...}'", inertance);
}

static void
check_suspect(System *system, const Suspect *suspect)
{
    Exprs *exprs = system->exprs;
    Operator op = {.system = system, .exprs = exprs};
    Failure failure;
    if (is_two_terminal(system, suspect, &op.at) && is_somewhere_negative(system, suspect->factor)) {
        Expr momentum = expr_make(exprs, OP_MUL, (Expr[]){expr_const(exprs, 2), suspect->factor, suspect->velocity}, 3), force;
        op.force = base_calloc(op.at.n, sizeof *op.force);
        if (system_rates(system, &momentum, 1, &force)) {
            for (uint32_t i = 0; i < op.at.n; i++)
                op.force[i] = expr_2(exprs, OP_MUL, by(&op, suspect->velocity, i, 1), force);
            if (find_failure(&op, &failure))
                warn(system, suspect, &failure);
        }
        free(op.force);
    }
    vec_free(&op.at);
}

void
system_check_suspects(System *system)
{
    for (uint32_t i = 0; i < system->suspects.n; i++)
        check_suspect(system, &system->suspects.at[i]);
}
