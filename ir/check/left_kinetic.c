// left_kinetic.c: whether a motion of many freedoms has a Lagrangian.
//
// Purpose: left_lagrangian.c looks for any multipliers g of the accelerations y'' = f(t, y, v) that constraints leave, whose unknowns grow with the square of the
// freedoms and whose conditions with their fourth power. Of many freedoms those are looked for that a kinetic energy has which joins what the rows join:
//     g = sum of D_kl*(t_k*t_l' + t_l*t_k')/2,     t_k = dq_k/dy,
// over pairs of positions q_k, q_l of which one row has both. Method: the conditions are those there, at one point and, carried, at one near it:
//     g*R antisymmetric, R what g turns by around small loops; g*(b + rate) antisymmetric; g*P symmetric (Crampin, Sarlet, Thompson 2000),
// each entry is linear in D. Slopes J(v) of f and their changes along ways are differences, df/dy is one elimination with the changes of residuals as right sides.
// An orthogonal basis of the g (Cholesky's method with pivots on their scalar products) makes null spaces those of small symmetric matrices. Kinds of
// conditions are put in one after the other; one that leaves no regular g is what fails. Of it the pair is named whose condition that g fulfils the least which has
// the least sum of violations of all conditions, so that it violates few; of a damping the position whose velocity's square is most like its power.
// Contract: left_kinetic.h. Complexity: cubic in rows for some hundred points, and the square of the freedoms times that of the pairs for each of some ten matrices.
#include "ir/check/left_kinetic.h"

#include <math.h>
#include <string.h>

#include "ir/base/elimination.h"
#include "ir/check/symmetric_eigen.h"
#include "ir/expr/expr_parts.h"

enum { SPOTS = 2, SPEEDS = 2, WAY_STEPS = 16, PAIRS_MOST = 400, TRIALS = 4, ROUNDS = 2, WEIGHINGS = 5, FREEDOMS_MOST = 256 };

static const double STEP = 1e-3, TIME_STEP = 1e-4, FAR = 0.1, ZERO = 1e-7, SOMETHING = 1e-6, PLAIN = 1e-4, SAME = 1e-13, BEYOND = 1e-6;
static const double LEAST_SIZE[] = {1, 1e-3, 1e-2}; // of conditions by kind, at velocities of one: where all terms vanish, what is left is rounding
static const double part[] = {-3, -2, -1, 1, 2, 3}, weight[] = {-1, 9, -45, 45, -9, 1}; // differences of sixth order, by 60 steps

typedef enum Kind { KIND_PARALLEL, KIND_DAMPING, KIND_FORCES, KINDS } Kind;

typedef struct Condition { // g*is is symmetric, or antisymmetric, at a spot
    Kind kind;
    uint32_t spot;
    double *is, *size;     // n*n; and the magnitudes of the terms that it is a sum of
} Condition;

typedef struct Pair {
    uint32_t k, l;         // places among the positions
} Pair;

typedef struct Kinetic {
    LeftMotion *left;
    uint32_t n, m;         // freedoms, positions
    bool frozen, moved;
    double rate;
    LeftPoint at[SPOTS];
    double *tangent;       // of the first spot
    double *carry;         // g at the second is carry'*g*carry
    double *b;             // of the first
    VEC(Condition) conditions;
    VEC(Pair) pairs;       // independent ones
    double *factor;        // of Cholesky, pairs.n square: rows are made orthogonal by it
    double *norm;          // of the pairs' matrices
    double *unit;          // of the coordinates
    double *normal[KINDS];
    double most[KINDS];    // size of conditions
} Kinetic;

// --- slopes

static void
irregular(uint32_t n, uint32_t which, double scale, double *v)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = scale*(2*fmod((i + 1)*(0.4142135623730951 + 0.23*which) + which*0.7320508075688772*(i + 1.3), 1.0) - 1);
}

static double *
matrix_make(uint32_t n)
{
    return base_calloc((size_t)n*n + 1, sizeof(double));
}

// J = df/dv at each of the velocities of the coordinates, and f there (or NULL).
static bool
slopes(Kinetic *kinetic, const LeftPoint *at, uint32_t count, double *const *v, double *const *slope, double *const *f)
{
    LeftMotion *left = kinetic->left;
    uint32_t n = kinetic->n, m = kinetic->m, each = 2*n;
    double *drift = base_calloc(m + 1, sizeof *drift), *tangent = base_calloc((size_t)n*m + 1, sizeof *tangent), s = left->speed;
    double *velocity = base_calloc((size_t)(each*count + 1)*m + 1, sizeof *velocity), *a = base_calloc((size_t)(each*count + 1)*n + 1, sizeof *a);
    bool good = left_motion_tangent(left, at, drift, tangent);
    for (uint32_t c = 0; c < count && good; c++) {
        double *now = velocity + (size_t)each*c*m;
        memcpy(now, drift, m*sizeof *now);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < m; j++)
                now[j] += v[c][k]*tangent[k*m + j];
        for (uint32_t i = each; i-- > 0;) // the first last: the others begin as it
            for (uint32_t j = 0; j < m; j++)
                now[i*m + j] = now[j] + (i % 2 ? -s : s)*tangent[i/2*m + j];
    }
    good = good && left_motion_accelerate(left, at, each*count, velocity, a);
    for (uint32_t c = 0; c < count && good; c++) {
        const double *now = a + (size_t)each*c*n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++)
                slope[c][k*n + i] = (now[2*i*n + k] - now[(2*i + 1)*n + k])/(2*s);
    }
    for (uint32_t c = 0; c < count && good && f; c++) {
        memcpy(velocity, drift, m*sizeof *velocity);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t j = 0; j < m; j++)
                velocity[j] += v[c][k]*tangent[k*m + j];
        good = left_motion_accelerate(left, at, 1, velocity, f[c]);
    }
    free(drift);
    free(tangent);
    free(velocity);
    free(a);
    return good;
}

// C = (J(w) - J(0))/2: what is linear in w.
static bool
bend(Kinetic *kinetic, const LeftPoint *at, const double *w, double *out, double *b)
{
    uint32_t n = kinetic->n;
    double *still = base_calloc(n + 1, sizeof *still), *moving = base_calloc(n + 1, sizeof *moving);
    memcpy(moving, w, n*sizeof *moving);
    bool good = slopes(kinetic, at, 2, (double *[]){moving, still}, (double *[]){out, b}, NULL);
    for (uint32_t i = 0; i < n*n; i++)
        out[i] = (out[i] - b[i])/2;
    free(still);
    free(moving);
    return good;
}

typedef struct Change { // C(w) and b, and how they change along a way
    double *is, *b, *by, *b_by;
} Change;

static Change
change_make(uint32_t n)
{
    return (Change){matrix_make(n), matrix_make(n), matrix_make(n), matrix_make(n)};
}

static void
change_free(Change *change)
{
    free(change->is);
    free(change->b);
    free(change->by);
    free(change->b_by);
}

// Along a way of time and coordinates.
static bool
bend_along(Kinetic *kinetic, const LeftPoint *at, double time, const double *way, const double *w, Change *out)
{
    uint32_t n = kinetic->n;
    double *is = matrix_make(n), *b = matrix_make(n), *by = base_calloc(n + 1, sizeof *by), step = time != 0 ? TIME_STEP : STEP;
    LeftPoint near = left_point_make(kinetic->left);
    bool good = bend(kinetic, at, w, out->is, out->b);
    memset(out->by, 0, (size_t)n*n*sizeof *out->by);
    memset(out->b_by, 0, (size_t)n*n*sizeof *out->b_by);
    for (int p = 0; p < 6 && good; p++) {
        for (uint32_t i = 0; i < n; i++)
            by[i] = way ? part[p]*step*way[i] : 0;
        good = left_motion_go(kinetic->left, at, part[p]*step*time, by, &near) && bend(kinetic, &near, w, is, b);
        for (uint32_t i = 0; i < n*n; i++) {
            out->by[i] += weight[p]*is[i]/(60*step);
            out->b_by[i] += weight[p]*b[i]/(60*step);
        }
    }
    free(is);
    free(b);
    free(by);
    left_point_free(&near);
    return good;
}

// --- conditions

static Condition *
condition_add(Kinetic *kinetic, Kind kind, uint32_t spot)
{
    vec_push(&kinetic->conditions, (Condition){kind, spot, matrix_make(kinetic->n), matrix_make(kinetic->n)});
    return &kinetic->conditions.at[kinetic->conditions.n - 1];
}

static void
add_matrix(Condition *to, uint32_t n, const double *a, double factor)
{
    for (uint32_t i = 0; i < n*n; i++) {
        to->is[i] += factor*a[i];
        to->size[i] += fabs(factor*a[i]);
    }
}

static void
add_product(Condition *to, uint32_t n, const double *a, const double *b, double factor)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t l = 0; l < n; l++) {
            double x = factor*a[i*n + l];
            for (uint32_t j = 0; j < n && x != 0; j++) {
                to->is[i*n + j] += x*b[l*n + j];
                to->size[i*n + j] += fabs(x*b[l*n + j]);
            }
        }
}

// What g turns by around a small loop: along v, along w, and back; w NULL: time passes.
static bool
add_loop(Kinetic *kinetic, uint32_t spot, const double *v, const double *w)
{
    uint32_t n = kinetic->n;
    const LeftPoint *at = &kinetic->at[spot];
    Change one = change_make(n), other = change_make(n);
    bool good;
    if (w) {
        good = bend_along(kinetic, at, 0, w, v, &one) && bend_along(kinetic, at, 0, v, w, &other);
    } else {
        good = bend_along(kinetic, at, 1, NULL, v, &one) && bend_along(kinetic, at, 0, v, v, &other);
        for (uint32_t i = 0; i < n*n; i++) { // of time: b/2
            other.is[i] = one.b[i]/2;
            other.by[i] = other.b_by[i]/2;
        }
    }
    if (good) {
        Condition *to = condition_add(kinetic, w && !(kinetic->moved && spot) ? KIND_PARALLEL : KIND_DAMPING, spot); // carried with b, where that moves g
        add_product(to, n, one.is, other.is, -1);
        add_product(to, n, other.is, one.is, 1);
        add_matrix(to, n, other.by, 1);
        add_matrix(to, n, one.by, -1);
    }
    change_free(&one);
    change_free(&other);
    return good;
}

// P = dJ/dt/2 - df/dy - J*J/4 at a velocity, and b of dampings.
static bool
add_forces(Kinetic *kinetic, uint32_t spot, double *v)
{
    LeftMotion *left = kinetic->left;
    const LeftPoint *at = &kinetic->at[spot];
    uint32_t n = kinetic->n, m = kinetic->m;
    double *slope = matrix_make(n), *near_slope = matrix_make(n), *change = matrix_make(n), *gradient = matrix_make(n), *f = base_calloc(n + 1, sizeof *f);
    double *drift = base_calloc(m + 1, sizeof *drift), *tangent = base_calloc((size_t)n*m + 1, sizeof *tangent), *by = base_calloc(2*n + 1, sizeof *by);
    LeftPoint near = left_point_make(left);
    bool good = slopes(kinetic, at, 1, (double *[]){v}, (double *[]){slope}, (double *[]){f});
    for (int p = 0; p < 6 && good; p++) {
        double h = part[p]*STEP;
        for (uint32_t i = 0; i < n; i++) {
            by[i] = h*v[i];
            by[n + i] = v[i] + h*f[i];
        }
        good = left_motion_go(left, at, left->timely ? h : 0, by, &near) && slopes(kinetic, &near, 1, (double *[]){by + n}, (double *[]){near_slope}, NULL);
        for (uint32_t i = 0; i < n*n; i++)
            change[i] += weight[p]*near_slope[i]/(60*STEP);
    }
    good = good && left_motion_tangent(left, at, drift, tangent);
    for (uint32_t k = 0; k < n && good; k++)
        for (uint32_t j = 0; j < m; j++)
            drift[j] += v[k]*tangent[k*m + j];
    good = good && left_motion_gradient(left, at, drift, tangent, gradient);
    if (good) {
        Condition *to = condition_add(kinetic, KIND_FORCES, spot);
        add_matrix(to, n, change, 0.5);
        add_matrix(to, n, gradient, -1);
        add_product(to, n, slope, slope, -0.25);
    }
    free(slope);
    free(near_slope);
    free(change);
    free(gradient);
    free(f);
    free(drift);
    free(tangent);
    free(by);
    left_point_free(&near);
    return good;
}

// Accelerations are polynomials of second degree of velocities, or `beyond` is a coordinate of which they are none. Chooses the speed at which terms of second
// degree are as large as those without.
static bool
look_at_degree(Kinetic *kinetic)
{
    LeftMotion *left = kinetic->left;
    uint32_t n = kinetic->n;
    double *v = base_calloc((size_t)6*n + 1, sizeof *v), *f = v + 3*n, *slope[3] = {matrix_make(n), matrix_make(n), matrix_make(n)};
    bool good = true;
    left->beyond = NONE;
    left->speed = 1;
    for (int round = 0; round < 2 && good; round++) {
        irregular(n, 1, left->speed, v + n);
        for (uint32_t i = 0; i < n; i++)
            v[2*n + i] = -3*v[n + i];
        for (int c = 0; c < 3 && good; c++)
            good = slopes(kinetic, &kinetic->at[0], 1, (double *[]){v + c*n}, (double *[]){slope[c]}, (double *[]){f + c*n});
        double still = 0, bent = 0;
        for (uint32_t k = 0; k < n && good; k++) {
            double linear = 0, square = 0;
            for (uint32_t i = 0; i < n; i++) {
                linear += slope[0][k*n + i]*v[n + i];
                square += (slope[1][k*n + i] - slope[0][k*n + i])*v[n + i]/2;
            }
            still = fmax(still, fabs(f[k]));
            bent = fmax(bent, fabs(square)/(left->speed*left->speed));
            for (int c = 1; c < 3; c++) {
                double by = c == 1 ? 1 : -3, told = by*linear + by*by*square, is = f[c*n + k] - f[k];
                good = good && isfinite(is);
                if (round && fabs(is - told) > BEYOND*(fabs(is) + fabs(told)) + 1e-9*(1 + fabs(f[k])) && left->beyond == NONE)
                    left->beyond = k;
            }
        }
        left->speed = round ? left->speed : fmin(fmax(sqrt(still/(bent + 1e-3)), 1), 1e3);
    }
    free(v);
    for (int c = 0; c < 3; c++)
        free(slope[c]);
    return good;
}

// dG/ds = -G*K from 1 to the second spot, by the method of Runge and Kutta; K = C(way) + time*b/2.
static bool
carry_there(Kinetic *kinetic, double time, const double *way)
{
    uint32_t n = kinetic->n;
    double *k[4], *at = matrix_make(n), *turn = matrix_make(n), *b = matrix_make(n), *by = base_calloc(n + 1, sizeof *by), h = 1.0/WAY_STEPS;
    static const double ahead[] = {0, 0.5, 0.5, 1};
    LeftPoint near = left_point_make(kinetic->left);
    bool good = true;
    for (int e = 0; e < 4; e++)
        k[e] = matrix_make(n);
    kinetic->carry = matrix_make(n);
    for (uint32_t i = 0; i < n; i++)
        kinetic->carry[i*n + i] = 1;
    for (uint32_t step = 0; step < WAY_STEPS && good; step++) {
        for (int e = 0; e < 4 && good; e++) {
            double s = (step + ahead[e])*h;
            if (e != 2 && !(e == 0 && step)) { // the places before are these, too
                for (uint32_t i = 0; i < n; i++)
                    by[i] = s*way[i];
                good = left_motion_go(kinetic->left, &kinetic->at[0], s*time, by, &near) && bend(kinetic, &near, way, turn, b);
                for (uint32_t i = 0; i < n*n && kinetic->moved; i++)
                    turn[i] += time*b[i]/2;
            }
            for (uint32_t i = 0; i < n*n; i++)
                at[i] = kinetic->carry[i] + (e ? ahead[e]*h*k[e - 1][i] : 0);
            memset(k[e], 0, (size_t)n*n*sizeof *k[e]);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t l = 0; l < n; l++)
                    for (uint32_t j = 0; j < n && at[i*n + l] != 0; j++)
                        k[e][i*n + j] -= at[i*n + l]*turn[l*n + j];
        }
        for (uint32_t i = 0; i < n*n; i++)
            kinetic->carry[i] += h*(k[0][i] + 2*k[1][i] + 2*k[2][i] + k[3][i])/6;
    }
    for (int e = 0; e < 4; e++)
        free(k[e]);
    free(at);
    free(turn);
    free(b);
    free(by);
    left_point_free(&near);
    return good;
}

// Whether g changes with time otherwise than by a factor exp(rate*time): b or C do.
static bool
find_rate(Kinetic *kinetic)
{
    uint32_t n = kinetic->n;
    double *v = base_calloc(n + 1, sizeof *v), least;
    Change change = change_make(n);
    irregular(n, 1, kinetic->left->speed, v);
    bool good = bend(kinetic, &kinetic->at[0], v, change.is, change.b);
    if (good && kinetic->left->timely) {
        good = bend_along(kinetic, &kinetic->at[0], 1, NULL, v, &change);
        kinetic->moved = fmax(left_largest(change.by, n*n), left_largest(change.b_by, n*n)) > 1e-7*(1e-3 + fmax(left_largest(change.is, n*n), left_largest(change.b, n*n)));
    }
    memcpy(kinetic->b, change.b, (size_t)n*n*sizeof *kinetic->b);
    least = 1e-7*(1e-3 + left_largest(change.b, n*n));
    kinetic->rate = 0;
    for (uint32_t i = 0; i < n && !kinetic->moved; i++)
        kinetic->rate -= change.b[i*n + i]/n;
    kinetic->rate = fabs(kinetic->rate) < least ? 0 : kinetic->rate;
    free(v);
    change_free(&change);
    return good;
}

static bool
gather_conditions(Kinetic *kinetic)
{
    uint32_t n = kinetic->n;
    double *v = base_calloc((size_t)2*n + 1, sizeof *v), *w = v + n, *still = base_calloc(n + 1, sizeof *still);
    bool good = find_rate(kinetic);
    double time = kinetic->left->timely ? FAR/(1 + n*left_largest(kinetic->b, n*n)) : 0;
    irregular(n, 2, FAR, v);
    good = good && left_motion_go(kinetic->left, &kinetic->at[0], time, v, &kinetic->at[1]) && carry_there(kinetic, time, v);
    for (uint32_t spot = 0; spot < SPOTS && good; spot++) {
        for (uint32_t s = 0; s < SPEEDS && good; s++) {
            irregular(n, 3 + s + SPEEDS*spot, 1, v);
            irregular(n, 9 + s + SPEEDS*spot, 1, w);
            good = add_loop(kinetic, spot, v, w) && (!kinetic->moved || add_loop(kinetic, spot, v, NULL));
        }
        if (good && !kinetic->moved) {
            double *slope = matrix_make(n);
            good = slopes(kinetic, &kinetic->at[spot], 1, (double *[]){still}, (double *[]){slope}, NULL);
            Condition *to = condition_add(kinetic, KIND_DAMPING, spot);
            add_matrix(to, n, slope, 1);
            for (uint32_t i = 0; i < n; i++) {
                to->is[i*n + i] += kinetic->rate;
                to->size[i*n + i] += fabs(kinetic->rate);
            }
            free(slope);
        }
        for (uint32_t s = 0; s <= SPEEDS && good && !kinetic->frozen; s++) {
            irregular(n, 15 + s + SPEEDS*spot, s ? 1 : 0, v);
            good = add_forces(kinetic, spot, v);
        }
    }
    free(v);
    free(still);
    return good;
}

// --- kinetic energies

// Pairs of positions that a row joins: by their accelerations, `any`: by whatever it has of them.
static void
find_pairs(const LeftMotion *left, bool any, U8Vec *joined)
{
    U32Vec used = {0}, places = {0};
    uint32_t m = left->positions.n, *place = base_calloc(left->rows->vars.n + 1, sizeof *place);
    for (uint32_t j = 0; j < m; j++)
        place[left->positions.at[j]] = j + 1;
    vec_clear(joined);
    vec_fill(joined, m*m, 0);
    for (uint32_t i = 0; i < left->dynamics.n; i++) {
        Expr f = left->rows->rows.at[left->dynamics.at[i]].f;
        vec_clear(&used);
        vec_clear(&places);
        expr_used_slots(left->rows->exprs, &f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++)
            if (place[used.at[k]/ROW_ORDERS] && (any || used.at[k]%ROW_ORDERS == 2))
                vec_push(&places, place[used.at[k]/ROW_ORDERS] - 1);
        for (uint32_t k = 0; k < places.n; k++)
            for (uint32_t l = 0; l < places.n; l++)
                if (places.at[k] <= places.at[l])
                    joined->at[places.at[k]*m + places.at[l]] = 1;
    }
    vec_free(&used);
    vec_free(&places);
    free(place);
}

static double
along(const Kinetic *kinetic, uint32_t k, uint32_t l)
{
    double sum = 0;
    for (uint32_t i = 0; i < kinetic->n; i++)
        sum += kinetic->tangent[i*kinetic->m + k]*kinetic->tangent[i*kinetic->m + l]*kinetic->unit[i]*kinetic->unit[i];
    return sum;
}

// Scalar product of the matrices of two pairs, by those of the gradients of positions.
static double
product_of(const double *dot, uint32_t m, Pair a, Pair b)
{
    return (dot[a.k*m + b.k]*dot[a.l*m + b.l] + dot[a.k*m + b.l]*dot[a.l*m + b.k])/2;
}

// Cholesky's method with pivots on the scalar products: pairs that are independent, and what makes them orthogonal. False where there are too many.
static bool
choose_pairs(Kinetic *kinetic, const U8Vec *joined)
{
    uint32_t m = kinetic->m, all = 0, n = 0, most = PAIRS_MOST;
    Pair *pair = base_calloc((size_t)m*(m + 1)/2 + 1, sizeof *pair);
    double *dot = matrix_make(m);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t l = 0; l < m; l++) {
            dot[k*m + l] = along(kinetic, k, l);
            if (joined->at[k*m + l])
                pair[all++] = (Pair){k, l};
        }
    double *rest = base_calloc(all + 1, sizeof *rest), *line = base_calloc((size_t)all*(most + 1) + 1, sizeof *line), first = 0; // of each pair its row of the factor
    uint32_t *chosen = base_calloc(most + 1, sizeof *chosen);
    for (uint32_t a = 0; a < all; a++)
        first = fmax(first, rest[a] = product_of(dot, m, pair[a], pair[a]));
    bool good = true;
    for (;;) {
        uint32_t best = 0;
        for (uint32_t a = 1; a < all; a++)
            best = rest[a] > rest[best] ? a : best;
        if (!all || !(rest[best] > SAME*first))
            break;
        good = n < most;
        if (!good)
            break;
        double pivot = sqrt(rest[best]);
        for (uint32_t a = 0; a < all; a++) {
            double sum = product_of(dot, m, pair[best], pair[a]);
            for (uint32_t c = 0; c < n; c++)
                sum -= line[(size_t)best*most + c]*line[(size_t)a*most + c];
            line[(size_t)a*most + n] = rest[a] == 0 ? 0 : sum/pivot;
            rest[a] = a == best ? 0 : fmax(rest[a] - line[(size_t)a*most + n]*line[(size_t)a*most + n], 0);
        }
        line[(size_t)best*most + n] = pivot;
        chosen[n++] = best;
    }
    vec_clear(&kinetic->pairs);
    free(kinetic->factor);
    kinetic->factor = matrix_make(n);
    free(kinetic->norm);
    kinetic->norm = base_calloc(n + 1, sizeof *kinetic->norm);
    for (uint32_t a = 0; a < n && good; a++) {
        vec_push(&kinetic->pairs, pair[chosen[a]]);
        kinetic->norm[a] = sqrt(product_of(dot, m, pair[chosen[a]], pair[chosen[a]]));
        for (uint32_t c = 0; c <= a; c++)
            kinetic->factor[a*n + c] = line[(size_t)chosen[a]*most + c];
    }
    free(pair);
    free(dot);
    free(rest);
    free(line);
    free(chosen);
    return good;
}

// From values on the pairs to those on the orthogonal basis: the factor's inverse.
static void
orthogonal(const Kinetic *kinetic, double *row)
{
    uint32_t n = kinetic->pairs.n;
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t c = 0; c < a; c++)
            row[a] -= kinetic->factor[a*n + c]*row[c];
        row[a] /= kinetic->factor[a*n + a];
    }
}

// g in units, of a vector in the orthogonal basis.
static void
matrix_of(const Kinetic *kinetic, const double *x, double *g)
{
    uint32_t n = kinetic->n, m = kinetic->m, count = kinetic->pairs.n;
    double *part_of = base_calloc(count + 1, sizeof *part_of);
    memcpy(part_of, x, count*sizeof *part_of);
    for (uint32_t a = count; a-- > 0;) {
        for (uint32_t c = a + 1; c < count; c++)
            part_of[a] -= kinetic->factor[c*count + a]*part_of[c];
        part_of[a] /= kinetic->factor[a*count + a];
    }
    memset(g, 0, (size_t)n*n*sizeof *g);
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++) {
                const double *t = kinetic->tangent;
                uint32_t k = kinetic->pairs.at[a].k, l = kinetic->pairs.at[a].l;
                g[i*n + j] += part_of[a]*(t[i*m + k]*t[j*m + l] + t[i*m + l]*t[j*m + k])/2*kinetic->unit[i]*kinetic->unit[j];
            }
    free(part_of);
}

static void
multiply(uint32_t rows, uint32_t n, const double *a, const double *b, double *out)
{
    memset(out, 0, (size_t)rows*n*sizeof *out);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t l = 0; l < n; l++)
            for (uint32_t j = 0; j < n && a[i*n + l] != 0; j++)
                out[i*n + j] += a[i*n + l]*b[l*n + j];
}

typedef struct Sides { // of a condition, in units: positions' gradients at the spot, and these times the matrix; m rows of n
    double *left, *right, *size;
} Sides;

static Sides
make_sides(const Kinetic *kinetic, const Condition *is)
{
    uint32_t n = kinetic->n, m = kinetic->m;
    size_t size = (size_t)m*n + 1;
    Sides sides = {base_calloc(size, sizeof(double)), base_calloc(size, sizeof(double)), base_calloc(size, sizeof(double))};
    double *there = base_calloc(size, sizeof *there), *magnitude = base_calloc(size, sizeof *magnitude);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t i = 0; i < n; i++)
            there[k*n + i] = kinetic->tangent[i*m + k];
    if (is->spot)
        multiply(m, n, there, kinetic->carry, sides.left);
    else
        memcpy(sides.left, there, (size_t)m*n*sizeof *there);
    for (size_t i = 0; i < (size_t)m*n; i++)
        magnitude[i] = fabs(sides.left[i]);
    multiply(m, n, sides.left, is->is, sides.right);
    multiply(m, n, magnitude, is->size, sides.size);
    for (uint32_t k = 0; k < m; k++)
        for (uint32_t i = 0; i < n; i++) {
            sides.left[k*n + i] *= kinetic->unit[i];
            sides.right[k*n + i] *= kinetic->unit[i];
            sides.size[k*n + i] *= kinetic->unit[i];
        }
    free(there);
    free(magnitude);
    return sides;
}

static void
sides_free(Sides *sides)
{
    free(sides->left);
    free(sides->right);
    free(sides->size);
}

// The condition of the coordinates i, j on the orthogonal basis (or NULL). Returns the size of its terms.
static double
condition_row(const Kinetic *kinetic, const Condition *is, const Sides *sides, uint32_t i, uint32_t j, double *row)
{
    uint32_t n = kinetic->n, count = kinetic->pairs.n;
    double sign = is->kind == KIND_FORCES ? -1 : 1, most = 0;
    for (uint32_t a = 0; a < count; a++) {
        const double *lk = sides->left + kinetic->pairs.at[a].k*n, *ll = sides->left + kinetic->pairs.at[a].l*n;
        const double *rk = sides->right + kinetic->pairs.at[a].k*n, *rl = sides->right + kinetic->pairs.at[a].l*n;
        const double *sk = sides->size + kinetic->pairs.at[a].k*n, *sl = sides->size + kinetic->pairs.at[a].l*n;
        if (row)
            row[a] = (lk[i]*rl[j] + ll[i]*rk[j] + sign*(lk[j]*rl[i] + ll[j]*rk[i]))/2;
        double size = (fabs(lk[i])*sl[j] + fabs(ll[i])*sk[j] + fabs(lk[j])*sl[i] + fabs(ll[j])*sk[i])/2;
        most = fmax(most, size/kinetic->norm[a]);
    }
    if (row)
        orthogonal(kinetic, row);
    return most;
}

// Adds the products of a row to the lower half of a normal matrix.
static void
add_row(uint32_t count, const double *row, double factor, double *normal)
{
    for (uint32_t a = 0; a < count; a++) {
        double by = factor*row[a];
        for (uint32_t b = 0; b <= a && by != 0; b++)
            normal[a*count + b] += by*row[b];
    }
}

static void
mirror(uint32_t count, double *normal)
{
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++)
            normal[b*count + a] = normal[a*count + b];
}

static void
find_sizes(Kinetic *kinetic)
{
    uint32_t n = kinetic->n;
    double *row = base_calloc(kinetic->pairs.n + 1, sizeof *row);
    for (Kind kind = 0; kind < KINDS; kind++)
        kinetic->most[kind] = LEAST_SIZE[kind];
    for (uint32_t c = 0; c < kinetic->conditions.n; c++) {
        const Condition *is = &kinetic->conditions.at[c];
        Sides sides = make_sides(kinetic, is);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i; j < n; j++)
                kinetic->most[is->kind] = fmax(kinetic->most[is->kind], condition_row(kinetic, is, &sides, i, j, NULL));
        sides_free(&sides);
    }
    free(row);
}

// Normal equations of all conditions, by kind into normal[kind], every condition measured by the size of its terms, which is not taken for less than a part of
// that of others of its kind. `x`, or NULL: a condition counts the less the more this violates it.
static void
make_normals(const Kinetic *kinetic, const double *x, double *const *normal)
{
    uint32_t n = kinetic->n, count = kinetic->pairs.n;
    double *row = base_calloc(count + 1, sizeof *row);
    for (uint32_t c = 0; c < kinetic->conditions.n; c++) {
        const Condition *is = &kinetic->conditions.at[c];
        Sides sides = make_sides(kinetic, is);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = is->kind == KIND_FORCES ? i + 1 : i; j < n; j++) {
                double size = fmax(condition_row(kinetic, is, &sides, i, j, row), 1e-2*kinetic->most[is->kind]), violated = 0;
                for (uint32_t a = 0; a < count && x; a++)
                    violated += row[a]*x[a]/size;
                add_row(count, row, 1/(size*size)/(x ? fmax(fabs(violated), SOMETHING) : 1), normal[is->kind]);
            }
        sides_free(&sides);
    }
    for (Kind kind = 0; kind < KINDS; kind++)
        mirror(count, normal[kind]);
    free(row);
}

typedef struct Null { // vectors that fulfil conditions: `at` has rows of pairs.n
    uint32_t n;
    double *at;
} Null;

// Whether a regular g fulfils the conditions up to this kind; its units into `change`.
static Adjointness
regular_left(Kinetic *kinetic, Kind upto, Null *null, double *violated, double *change)
{
    uint32_t n = kinetic->n, count = kinetic->pairs.n;
    double *normal = matrix_make(count), *vectors = matrix_make(count), *g = matrix_make(n), *x = base_calloc(count + 1, sizeof *x);
    double *value = base_calloc(count + 1, sizeof *value), most;
    Adjointness found = ADJOINT_NOT;
    for (Kind kind = 0; kind <= upto; kind++)
        for (uint32_t a = 0; a < count*count; a++)
            normal[a] += kinetic->normal[kind][a];
    symmetric_eigen(count, normal, value, vectors);
    most = fmax(left_largest(value, count), 1);
    null->n = 0;
    *violated = INFINITY;
    for (uint32_t k = 0; k < count; k++) {
        double by = sqrt(fmax(value[k], 0)/most);
        *violated = by > ZERO ? fmin(*violated, by) : *violated;
        if (by > ZERO && by < SOMETHING)
            found = ADJOINT_OPEN;
        if (by <= ZERO)
            memcpy(null->at + (size_t)null->n*count, vectors + (size_t)k*count, count*sizeof *vectors);
        null->n += by <= ZERO;
    }
    for (uint32_t trial = 0; trial < TRIALS && null->n && found != ADJOINT_PROBABLE; trial++) {
        memset(x, 0, count*sizeof *x);
        for (uint32_t k = 0; k < null->n; k++) {
            double by = null->n == 1 ? 1 : 2*fmod((k + 1)*0.7548776662466927 + (trial + 1)*0.5698402909980532, 1.0) - 1;
            for (uint32_t a = 0; a < count; a++)
                x[a] += by*null->at[k*count + a];
        }
        matrix_of(kinetic, x, g);
        found = left_is_regular(n, g, change) ? ADJOINT_PROBABLE : found;
    }
    free(normal);
    free(vectors);
    free(value);
    free(g);
    free(x);
    return found;
}

// --- which pair fails

// The g that violates few conditions rather than all a little: the least sum of magnitudes, by least squares whose weights are those of the g before (iteratively
// reweighted least squares; Bjorck, Numerical Methods for Least Squares Problems, 1996, 4.5). Its part of the unit matrix is one.
static void
least_violating(const Kinetic *kinetic, double *g)
{
    uint32_t n = kinetic->n, count = kinetic->pairs.n, stride = count + 1, *order = base_calloc(count + 1, sizeof *order), *pivot = base_calloc(count + 1, sizeof *pivot);
    double *normal = matrix_make(count), *table = base_calloc((size_t)count*stride + 1, sizeof *table), *x = base_calloc(count + 1, sizeof *x);
    double *one = base_calloc(count + 1, sizeof *one);
    for (uint32_t a = 0; a < count; a++) { // traces of the pairs
        order[a] = a;
        for (uint32_t i = 0; i < n; i++)
            one[a] += kinetic->tangent[i*kinetic->m + kinetic->pairs.at[a].k]*kinetic->tangent[i*kinetic->m + kinetic->pairs.at[a].l]*kinetic->unit[i]*kinetic->unit[i];
    }
    orthogonal(kinetic, one);
    for (uint32_t round = 0; round < WEIGHINGS; round++) {
        double most = 0, along_one = 0;
        memset(normal, 0, (size_t)count*count*sizeof *normal);
        make_normals(kinetic, round ? x : NULL, (double *[]){normal, normal, normal});
        for (uint32_t a = 0; a < count; a++)
            most = fmax(most, normal[a*count + a]);
        for (uint32_t a = 0; a < count; a++) {
            for (uint32_t b = 0; b < count; b++)
                table[a*stride + b] = normal[a*count + b]/most + (a == b ? 1e-12 : 0);
            table[a*stride + count] = one[a];
        }
        Table equations = {table, count, stride, stride};
        uint32_t rank = table_reduce(&equations, order, count, 1e-14, pivot);
        memset(x, 0, count*sizeof *x);
        for (uint32_t r = 0; r < rank; r++)
            x[pivot[r]] = table[r*stride + count];
        for (uint32_t a = 0; a < count; a++)
            along_one += x[a]*one[a];
        for (uint32_t a = 0; a < count; a++)
            x[a] *= n/along_one;
    }
    matrix_of(kinetic, x, g);
    free(order);
    free(pivot);
    free(normal);
    free(table);
    free(x);
    free(one);
}

// Of all positions that whose square of the velocity is most alike to the power of the damping.
static void
find_damped(const Kinetic *kinetic, const double *g, LeftVerdict *out)
{
    uint32_t n = kinetic->n, m = kinetic->m;
    double *damping = matrix_make(n), *power = matrix_make(n), size = 0, most = 0.5;
    for (uint32_t i = 0; i < n*n; i++)
        damping[i] = kinetic->b[i]*kinetic->unit[i%n]/kinetic->unit[i/n];
    multiply(n, n, g, damping, power);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            power[i*n + j] = power[j*n + i] = (power[i*n + j] + power[j*n + i])/2;
            size += (i == j ? 1 : 2)*power[i*n + j]*power[i*n + j];
        }
    for (uint32_t k = 0; k < m && size > 0; k++) {
        double alike = 0, length = 0;
        for (uint32_t i = 0; i < n; i++) {
            double way = kinetic->tangent[i*m + k]*kinetic->unit[i];
            length += way*way;
            for (uint32_t j = 0; j < n; j++)
                alike += way*power[i*n + j]*kinetic->tangent[j*m + k]*kinetic->unit[j];
        }
        if (length > 0 && fabs(alike)/(length*sqrt(size)) > most) {
            most = fabs(alike)/(length*sqrt(size));
            out->i = out->j = kinetic->left->positions.at[k];
        }
    }
    free(damping);
    free(power);
}

static void
find_pair(const Kinetic *kinetic, Kind kind, LeftVerdict *out)
{
    uint32_t n = kinetic->n;
    double *g = matrix_make(n), *here = matrix_make(n), *half = matrix_make(n), *is = matrix_make(n), *size = matrix_make(n), worst = -1;
    double *plain = matrix_make(n), *turned = matrix_make(n);
    least_violating(kinetic, g);
    for (uint32_t c = 0; c < kinetic->conditions.n; c++) {
        const Condition *at = &kinetic->conditions.at[c];
        double sign = kind == KIND_FORCES ? -1 : 1, all = 0;
        if (at->kind != kind)
            continue;
        for (uint32_t i = 0; i < n*n; i++) { // out of units, and carried
            here[i] = g[i]/(kinetic->unit[i/n]*kinetic->unit[i%n]);
            turned[i] = at->spot ? kinetic->carry[i%n*n + i/n] : i/n == i%n;
        }
        multiply(n, n, turned, here, half);
        for (uint32_t i = 0; i < n*n; i++)
            turned[i] = at->spot ? kinetic->carry[i] : i/n == i%n;
        multiply(n, n, half, turned, here);
        for (uint32_t i = 0; i < n*n; i++)
            plain[i] = fabs(here[i]);
        multiply(n, n, here, at->is, is);
        multiply(n, n, plain, at->size, size);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                all = fmax(all, (size[i*n + j] + size[j*n + i])*kinetic->unit[i]*kinetic->unit[j]);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = kind == KIND_FORCES ? i + 1 : i; j < n; j++) {
                double by = kinetic->unit[i]*kinetic->unit[j], terms = fmax((size[i*n + j] + size[j*n + i])*by, 1e-2*all);
                double violated = fabs(is[i*n + j] + sign*is[j*n + i])*by/terms;
                if (terms > 0 && violated > worst) {
                    worst = violated;
                    out->i = kinetic->left->positions.at[kinetic->left->free.at[i]];
                    out->j = kinetic->left->positions.at[kinetic->left->free.at[j]];
                }
            }
    }
    if (kind == KIND_DAMPING)
        find_damped(kinetic, g, out);
    free(g);
    free(here);
    free(half);
    free(is);
    free(size);
    free(plain);
    free(turned);
}

// --- the verdict

static Adjointness
judge_pairs(Kinetic *kinetic, bool named, LeftVerdict *out)
{
    static const LeftFails fails[] = {LEFT_FAILS_ENERGY, LEFT_FAILS_DAMPING, LEFT_FAILS_FORCES};
    uint32_t count = kinetic->pairs.n;
    Null null = {0, matrix_make(count)};
    double *change = base_calloc(kinetic->n + 1, sizeof *change), violated;
    Adjointness verdict = ADJOINT_PROBABLE;
    for (Kind kind = 0; kind < KINDS; kind++) {
        free(kinetic->normal[kind]);
        kinetic->normal[kind] = matrix_make(count);
    }
    find_sizes(kinetic);
    make_normals(kinetic, NULL, kinetic->normal);
    for (Kind kind = 0; kind < KINDS && verdict == ADJOINT_PROBABLE; kind++) {
        verdict = regular_left(kinetic, kind, &null, &violated, change);
        if (verdict == ADJOINT_NOT) {
            out->fails = fails[kind];
            out->plain = violated > PLAIN;
            if (named)
                find_pair(kinetic, kind, out);
        }
    }
    for (uint32_t i = 0; i < kinetic->n && verdict != ADJOINT_PROBABLE; i++)
        kinetic->unit[i] *= change[i] > 0 && isfinite(change[i]) ? change[i] : 1;
    free(null.at);
    free(change);
    return verdict;
}

// Coordinates in units in which all positions together move as far with each.
static void
first_units(Kinetic *kinetic)
{
    for (uint32_t i = 0; i < kinetic->n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < kinetic->m; k++)
            sum += kinetic->tangent[i*kinetic->m + k]*kinetic->tangent[i*kinetic->m + k];
        kinetic->unit[i] = 1/sqrt(sum);
    }
}

// Once more in the units of the g that was found last: what fails then, too, fails as it did.
static Adjointness
judge_rounds(Kinetic *kinetic, const U8Vec *joined, LeftVerdict *out)
{
    Adjointness verdict = ADJOINT_OPEN;
    for (uint32_t round = 0; round < ROUNDS && verdict != ADJOINT_PROBABLE && choose_pairs(kinetic, joined) && kinetic->pairs.n; round++) {
        LeftVerdict now = *out;
        Adjointness there = judge_pairs(kinetic, verdict == ADJOINT_OPEN, &now);
        if (there == ADJOINT_PROBABLE || verdict == ADJOINT_OPEN) {
            verdict = there;
            *out = now;
        }
    }
    return verdict;
}

// With what rows join by accelerations, which mostly is enough, and with all that they join; where this is too much, the first counts.
static Adjointness
judge_kinds_of_pairs(Kinetic *kinetic, LeftVerdict *out)
{
    Adjointness verdict = ADJOINT_OPEN;
    U8Vec joined = {0};
    bool few = false;
    for (int any = 0; any <= 1 && verdict != ADJOINT_PROBABLE; any++) {
        find_pairs(kinetic->left, any, &joined);
        first_units(kinetic);
        if (!choose_pairs(kinetic, &joined))
            break;
        few = true;
        LeftVerdict now = *out;
        verdict = judge_rounds(kinetic, &joined, &now);
        *out = now;
    }
    if (!few)
        out->reason = "its constraints leave more motions than are looked at";
    vec_free(&joined);
    return verdict;
}

static void
kinetic_free(Kinetic *kinetic)
{
    for (uint32_t spot = 0; spot < SPOTS; spot++)
        left_point_free(&kinetic->at[spot]);
    for (uint32_t c = 0; c < kinetic->conditions.n; c++) {
        free(kinetic->conditions.at[c].is);
        free(kinetic->conditions.at[c].size);
    }
    for (Kind kind = 0; kind < KINDS; kind++)
        free(kinetic->normal[kind]);
    vec_free(&kinetic->conditions);
    vec_free(&kinetic->pairs);
    free(kinetic->tangent);
    free(kinetic->carry);
    free(kinetic->b);
    free(kinetic->factor);
    free(kinetic->norm);
    free(kinetic->unit);
}

Adjointness
left_kinetic_judge(LeftMotion *left, const LeftPoint *at, bool frozen, LeftVerdict *out)
{
    uint32_t n = left->n, m = left->positions.n;
    Kinetic kinetic = {.left = left, .n = n, .m = m, .frozen = frozen, .tangent = base_calloc((size_t)n*m + 1, sizeof(double)), .b = matrix_make(n),
                       .unit = base_calloc(n + 1, sizeof(double))};
    double *drift = base_calloc(m + 1, sizeof *drift);
    Adjointness verdict = ADJOINT_OPEN;
    for (uint32_t spot = 0; spot < SPOTS; spot++)
        kinetic.at[spot] = left_point_make(left);
    kinetic.at[0].time = at->time;
    memcpy(kinetic.at[0].q, at->q, m*sizeof *at->q);
    if (n > FREEDOMS_MOST) {
        out->reason = "its constraints leave more motions than are looked at";
    } else if (left_motion_tangent(left, at, drift, kinetic.tangent) && look_at_degree(&kinetic)) {
        if (left->beyond != NONE) {
            out->fails = LEFT_FAILS_DEGREE;
            out->i = out->j = left->positions.at[left->free.at[left->beyond]];
            out->plain = true;
            verdict = ADJOINT_NOT;
        } else if (gather_conditions(&kinetic)) {
            verdict = judge_kinds_of_pairs(&kinetic, out);
            out->rate = kinetic.rate;
            out->moved = kinetic.moved;
        }
    }
    free(drift);
    kinetic_free(&kinetic);
    return verdict;
}
