// one_freedom.c: whether the motion that constraints leave has a Lagrangian, where they leave a single one.
//
// Purpose: rows of closed loops, into which forces of inertia have been put, do not tell which displacements they work on, and are looked at
// where they hold alone: on the positions that the constraints leave.
// Method: at points without order Gauss and Newton's method closes the constraints g(q) = 0. With one degree of freedom the velocities are s*n, n the
// null vector of dg/dq, and the accelerations follow from the second time derivative of g but for t*n. Forces that no row gives otherwise vanish from
// the one combination w of the other rows with w'*dF/d(force) = 0. What is left, A*t + B(s), is an equation in one coordinate, and a factor of position makes it
// self-adjoint when and only when B is a function of s^2 of first degree: (33) says dB/ds = 2*s*(dA/dq + A*d log(factor)/dq)/2. Then it is Lagrange's of its factor. A term of first
// degree in s beside these has the factor exp(h*t) where h, its ratio to A, is one number. Any factor of position is admitted, which rows of
// one coordinate always need a choice of. Contract: self_adjoint.h; changes nothing. Complexity: cubic in the positions, for each point.
#include "ir/check/self_adjoint.h"

#include <math.h>
#include <string.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_parts.h"

enum { STARTS = 24, POINTS_LEAST = 3, STEPS_MOST = 60, POSITIONS_MOST = 120 };

static const double CLOSED = 1e-11, EQUAL = 1e-7, LONGEST_STEP = 0.5;

typedef struct Freedom {
    MotionRows *rows;
    U32Vec positions, forces;      // variables
    U32Vec constraints, dynamics;  // rows
    VEC(Expr) gradient;            // of constraint i by position j: at[i*positions.n + j]
    VEC(Expr) action;              // of row i by force j
    VEC(Expr) second;              // second time derivatives of the constraints
    double *slots, *null, *weights, *table;
    double rate;                   // of the factor exp(rate*time) found so far; NAN: none yet
} Freedom;

static double
value(const Freedom *f, Expr e)
{
    return expr_eval(f->rows->exprs, e, f->slots, 0.3);
}

static double *
slot(const Freedom *f, const U32Vec *variables, uint32_t i, uint32_t order)
{
    return &f->slots[row_slot(variables->at[i], order)];
}

static Expr
row(const Freedom *f, const U32Vec *rows, uint32_t i)
{
    return f->rows->rows.at[rows->at[i]].f;
}

// --- what the rows are

static void
mark(const MotionRows *rows, const AdjointSystem *system, U8Vec *moving, U8Vec *constraint)
{
    U32Vec used = {0};
    vec_fill(moving, rows->vars.n, 0);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < system->rows.n; i++) {
            bool positions = true;
            vec_clear(&used);
            expr_used_slots(rows->exprs, &rows->rows.at[system->rows.at[i]].f, 1, &used);
            for (uint32_t k = 0; k < used.n; k++) {
                uint32_t v = used.at[k]/ROW_ORDERS, order = used.at[k]%ROW_ORDERS;
                if (!rows->moves.at[v])
                    continue;
                moving->at[v] |= order > 0;
                positions &= !order && moving->at[v];
            }
            if (pass)
                vec_push(constraint, positions);
        }
    vec_free(&used);
}

static bool
open_freedom(Freedom *f, MotionRows *rows, const AdjointSystem *system)
{
    U8Vec moving = {0}, constraint = {0};
    bool good = true;
    f->rows = rows;
    f->rate = NAN;
    mark(rows, system, &moving, &constraint);
    for (uint32_t i = 0; i < system->rows.n; i++) {
        vec_push(moving.at[system->variables.at[i]] ? &f->positions : &f->forces, system->variables.at[i]);
        vec_push(constraint.at[i] ? &f->constraints : &f->dynamics, system->rows.at[i]);
    }
    vec_free(&moving);
    vec_free(&constraint);
    if (f->positions.n != f->constraints.n + 1 || !f->constraints.n || f->positions.n > POSITIONS_MOST || f->dynamics.n > POSITIONS_MOST)
        return false;
    for (uint32_t i = 0; i < f->constraints.n && good; i++) {
        Expr once = motion_row_rate(rows, row(f, &f->constraints, i)), twice = once ? motion_row_rate(rows, once) : 0;
        good = twice != 0;
        vec_push(&f->second, twice);
        for (uint32_t j = 0; j < f->positions.n && good; j++) {
            Expr by = expr_diff(rows->exprs, row(f, &f->constraints, i), row_slot(f->positions.at[j], 0));
            good = by != 0;
            vec_push(&f->gradient, by);
        }
    }
    for (uint32_t i = 0; i < f->dynamics.n; i++)
        for (uint32_t j = 0; j < f->forces.n && good; j++) {
            Expr by = expr_diff(rows->exprs, row(f, &f->dynamics, i), row_slot(f->forces.at[j], 0));
            good = by != 0;
            vec_push(&f->action, by);
        }
    uint32_t most = f->positions.n + f->dynamics.n + f->forces.n + 2;
    f->slots = base_calloc(ROW_ORDERS*rows->vars.n + 1, sizeof *f->slots);
    f->null = base_calloc(most, sizeof *f->null);
    f->weights = base_calloc(most, sizeof *f->weights);
    f->table = base_calloc((size_t)most*(most + 1), sizeof *f->table);
    return good;
}

static void
close_freedom(Freedom *f)
{
    vec_free(&f->positions);
    vec_free(&f->forces);
    vec_free(&f->constraints);
    vec_free(&f->dynamics);
    vec_free(&f->gradient);
    vec_free(&f->action);
    vec_free(&f->second);
    free(f->slots);
    free(f->null);
    free(f->weights);
    free(f->table);
}

// --- positions, velocities and accelerations that the constraints leave

// The shortest x with gradient*x = right, by the normal equations of the second kind; false where constraints depend on each other.
static bool
shortest(Freedom *f, const double *right, double *x)
{
    uint32_t n = f->constraints.n, m = f->positions.n;
    double *g = base_calloc((size_t)n*m + 1, sizeof *g);
    bool good = true;
    for (uint32_t k = 0; k < n*m; k++)
        g[k] = value(f, f->gradient.at[k]);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < m; k++)
                sum += g[i*m + k]*g[j*m + k];
            f->table[i*(n + 1) + j] = sum;
        }
        f->table[i*(n + 1) + n] = right[i];
    }
    for (uint32_t c = 0; c < n && good; c++) { // positive definite: pivots on the diagonal
        double pivot = f->table[c*(n + 1) + c];
        good = pivot > 1e-14 && isfinite(pivot);
        for (uint32_t i = 0; i < n && good; i++) {
            double factor = i == c ? 0 : f->table[i*(n + 1) + c]/pivot;
            for (uint32_t j = 0; j <= n && factor != 0; j++)
                f->table[i*(n + 1) + j] -= factor*f->table[c*(n + 1) + j];
        }
    }
    for (uint32_t k = 0; k < m; k++) {
        x[k] = 0;
        for (uint32_t i = 0; i < n && good; i++)
            x[k] += g[i*m + k]*f->table[i*(n + 1) + n]/f->table[i*(n + 1) + i];
    }
    free(g);
    return good;
}

// Moves the positions until they fulfil the constraints.
static bool
close_loops(Freedom *f)
{
    double *right = base_calloc(f->constraints.n + 1, sizeof *right), *step = base_calloc(f->positions.n + 1, sizeof *step);
    bool closed = false, good = true;
    for (uint32_t k = 0; k < STEPS_MOST && good && !closed; k++) {
        double most = 0, square = 0;
        for (uint32_t i = 0; i < f->constraints.n; i++) {
            right[i] = value(f, row(f, &f->constraints, i));
            most = fmax(most, fabs(right[i]));
            good &= isfinite(right[i]) != 0;
        }
        closed = good && most < CLOSED;
        if (closed || !good || !(good = shortest(f, right, step)))
            break;
        for (uint32_t j = 0; j < f->positions.n; j++)
            square += step[j]*step[j];
        double part = square > LONGEST_STEP*LONGEST_STEP ? LONGEST_STEP/sqrt(square) : 1;
        for (uint32_t j = 0; j < f->positions.n; j++)
            *slot(f, &f->positions, j, 0) -= part*step[j];
    }
    free(right);
    free(step);
    return closed;
}

// The vector that `n` rows of n + 1 numbers take to zero, its largest element 1; false where there are several.
static bool
null_vector(double *at, uint32_t n, double *x)
{
    uint32_t column[POSITIONS_MOST + 1];
    for (uint32_t j = 0; j <= n; j++)
        column[j] = j;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t row = r, best = r;
        for (uint32_t i = r; i < n; i++)
            for (uint32_t j = r; j <= n; j++)
                if (fabs(at[i*(n + 1) + column[j]]) > fabs(at[row*(n + 1) + column[best]])) {
                    row = i;
                    best = j;
                }
        uint32_t kept = column[r];
        column[r] = column[best];
        column[best] = kept;
        for (uint32_t j = 0; j <= n; j++) {
            double other = at[r*(n + 1) + j];
            at[r*(n + 1) + j] = at[row*(n + 1) + j];
            at[row*(n + 1) + j] = other;
        }
        double pivot = at[r*(n + 1) + column[r]];
        if (!(fabs(pivot) > 1e-9))
            return false;
        for (uint32_t i = 0; i < n; i++) {
            double factor = i == r ? 0 : at[i*(n + 1) + column[r]]/pivot;
            for (uint32_t j = 0; j <= n && factor != 0; j++)
                at[i*(n + 1) + j] -= factor*at[r*(n + 1) + j];
        }
    }
    double most = 1;
    x[column[n]] = 1;
    for (uint32_t r = 0; r < n; r++) {
        x[column[r]] = -at[r*(n + 1) + column[n]]/at[r*(n + 1) + column[r]];
        most = fmax(most, fabs(x[column[r]]));
    }
    for (uint32_t j = 0; j <= n; j++)
        x[j] /= most;
    return true;
}

// The motion with velocities speed*null; accelerations are the shortest, and `more` of null.
static bool
move(Freedom *f, double speed, double more)
{
    double *right = base_calloc(f->constraints.n + 1, sizeof *right), *a = base_calloc(f->positions.n + 1, sizeof *a);
    for (uint32_t j = 0; j < f->positions.n; j++) {
        *slot(f, &f->positions, j, 1) = speed*f->null[j];
        *slot(f, &f->positions, j, 2) = 0;
    }
    for (uint32_t i = 0; i < f->constraints.n; i++)
        right[i] = -value(f, f->second.at[i]);
    bool good = shortest(f, right, a);
    for (uint32_t j = 0; j < f->positions.n; j++)
        *slot(f, &f->positions, j, 2) = a[j] + more*f->null[j];
    free(right);
    free(a);
    return good;
}

// --- the one equation

static bool
find_weights(Freedom *f)
{
    uint32_t n = f->forces.n;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t i = 0; i < f->dynamics.n; i++)
            f->table[j*(n + 1) + i] = value(f, f->action.at[i*n + j]);
    return null_vector(f->table, n, f->weights);
}

// The weighed sum of the rows, and the size of its terms.
static double
left_over(const Freedom *f, double *size)
{
    double sum = 0;
    for (uint32_t i = 0; i < f->dynamics.n; i++) {
        double term = f->weights[i]*value(f, row(f, &f->dynamics, i));
        sum += term;
        *size = fmax(*size, fabs(term));
    }
    return sum;
}

// Forces have no part in it.
static bool
is_free_of_forces(Freedom *f, double without)
{
    double size = fabs(without);
    for (uint32_t j = 0; j < f->forces.n; j++)
        *slot(f, &f->forces, j, 0) = 1 + 0.37*j;
    double with = left_over(f, &size);
    for (uint32_t j = 0; j < f->forces.n; j++)
        *slot(f, &f->forces, j, 0) = 0;
    return fabs(with - without) <= EQUAL*size;
}

// At the positions at hand; ADJOINT_OPEN where nothing can be said there.
static Adjointness
judge_there(Freedom *f)
{
    static const double speeds[] = {0, 1, -1, 2, -2};
    double b[5], size = 0;
    for (int k = 0; k < 5; k++) {
        if (!move(f, speeds[k], 0) || (!k && !find_weights(f)))
            return ADJOINT_OPEN;
        b[k] = left_over(f, &size);
        if (!isfinite(b[k]) || !is_free_of_forces(f, b[k]))
            return ADJOINT_OPEN;
    }
    if (!move(f, 0, 1))
        return ADJOINT_OPEN;
    double a = left_over(f, &size) - b[0], odd = (b[1] - b[2])/2, odd2 = (b[3] - b[4])/2;
    double even = (b[1] + b[2])/2 - b[0], even2 = (b[3] + b[4])/2 - b[0], least = EQUAL*size;
    if (!(fabs(a) > least))
        return ADJOINT_OPEN;
    if (fabs(even2 - 4*even) > least || fabs(odd2 - 2*odd) > least)
        return ADJOINT_NOT;
    double rate = fabs(odd) <= least ? 0 : odd/a;
    bool same = isnan(f->rate) || fabs(rate - f->rate) <= 10*EQUAL*(fabs(rate) + fabs(f->rate)) + (rate == 0 || f->rate == 0 ? 0 : EQUAL);
    f->rate = isnan(f->rate) ? rate : f->rate;
    return same ? ADJOINT_PROBABLE : ADJOINT_NOT;
}

// Positions without order, of both signs.
static void
start_anywhere(Freedom *f, uint32_t start)
{
    const double *from = motion_row_point(f->rows, start%ROW_POINTS);
    memcpy(f->slots, from, ROW_ORDERS*f->rows->vars.n*sizeof *f->slots);
    for (uint32_t j = 0; j < f->forces.n; j++)
        *slot(f, &f->forces, j, 0) = 0;
    for (uint32_t j = 0; j < f->positions.n; j++) {
        double *q = slot(f, &f->positions, j, 0);
        *q = (start < ROW_POINTS ? 1 : 2.5)*(*q - (start < ROW_POINTS ? 0 : 0.6)) + 0.1*fmod(start*sqrt(3.0 + j), 1.0);
    }
}

static bool
is_regular(Freedom *f)
{
    uint32_t n = f->constraints.n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= n; j++)
            f->table[i*(n + 1) + j] = value(f, f->gradient.at[i*(n + 1) + j]);
    return null_vector(f->table, n, f->null);
}

Adjointness
one_freedom_judge(MotionRows *rows, const AdjointSystem *system, double *rate)
{
    Freedom f = {0};
    uint32_t seen = 0;
    Adjointness verdict = ADJOINT_OPEN;
    bool good = open_freedom(&f, rows, system);
    for (uint32_t start = 0; start < STARTS && good && seen < POINTS_LEAST && verdict != ADJOINT_NOT; start++) {
        start_anywhere(&f, start);
        if (!close_loops(&f) || !is_regular(&f))
            continue;
        Adjointness there = judge_there(&f);
        if (there == ADJOINT_OPEN)
            continue;
        seen++;
        verdict = there;
    }
    *rate = f.rate;
    close_freedom(&f);
    return seen >= POINTS_LEAST || verdict == ADJOINT_NOT ? verdict : ADJOINT_OPEN;
}
