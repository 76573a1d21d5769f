// left_lagrangian.c: whether the motion that constraints leave has a Lagrangian.
//
// Purpose: rows of which it is not known which displacements they work on are judged by the motion that they make, y'' = f(t, y, y') of the coordinates
// that their constraints leave (left_motion.c). Method: the inverse problem of the calculus of variations (Douglas, Trans. Amer. Math. Soc. 50 (1941) 71;
// Crampin, Sarlet, Thompson, J. Phys. A 33 (2000) 8755) for the multipliers g(t, y) that a kinetic energy of second degree has: symmetric, regular, and with
// v = y', J = df/dv
//     dg/dt = -(g*J + J'*g)/2,     g*P symmetric,     P = dJ/dt/2 - df/dy - J*J/4.
// f has to be a polynomial a + b*v + v*c*v, since the first says so. Of it the terms of degree 1 in v say that g is parallel with the coefficients c; those of
// degree 0 that the damping g*b + b'*g is in proportion to g (which has a factor exp(rate*t) then), or, where c or b change with time, how g does.
// All conditions are linear in g at one point. From there g is carried to two others, and from one to the other, along ways (collocation in Chebyshev's
// points); at each hold those above and those of curvature, which are the first's for small loops. They are put together in steps: what is parallel, damping,
// forces. A step that leaves no regular g is what fails. Null spaces are by Jacobi's method for symmetric matrices, in units that make the diagonal of g 1;
// each condition is measured by the size of the terms that it sums, and a place where a value is neither rounding nor more than that decides nothing. All
// this at two places without order. Named is the pair whose condition the g fulfils the least that is nearest to the unit matrix among those of the step before; of a
// damping the position, of all, whose velocity's square is most like its power.
// Variables of first order (a relaxation) are held for what does not ask for their rates: rows of accelerations have the same conditions (33) with them.
// An odd number of them has no regular multiplier, since what multiplies their rates is antisymmetric.
// Contract: self_adjoint.h. Complexity: the sixth power of the freedoms, and their square times the rows for each of some hundred points.
#include "ir/check/self_adjoint.h"

#include <math.h>
#include <string.h>

#include "ir/base/elimination.h"
#include "ir/check/left_kinetic.h"
#include "ir/expr/expr_parts.h"

enum {
    STARTS = 24, SPOTS = 3, BASES = 2, WAYS = 3, NODES = 9, WAY_STEPS = 48, SPEEDS = 4, ROUNDS = 4, TRIALS = 4,
    UNKNOWNS = LEFT_MOST*(LEFT_MOST + 1)/2
};

static const double
    STEP = 1e-3, TIME_STEP = 1e-4,            // of differences
    SMOOTH = 1e-7,                            // differences of fourth order may be off by so much
    FARTHEST = 0.3, CARRIED = 1e-9, TURNED = 2, BETWEEN = 0.41, // ways: how long, how exact, how much g changes, where that is looked at
    ZERO = 1e-7, SOMETHING = 1e-6, PLAIN = 1e-4, // violations that are rounding, that are not, that need no second place
    NOTHING = 1e-6, REGULAR = 1e-5;           // entries of g, and pivots

typedef enum Kind { KIND_PARALLEL, KIND_DAMPING, KIND_FORCES, KINDS } Kind;

typedef struct Condition { // a linear form of g at the base: zero
    Kind kind;
    uint32_t i, j;
    double at[UNKNOWNS], size[UNKNOWNS]; // and of the terms that they are sums of
} Condition;

typedef struct Spot {
    LeftPoint point;
    Jet jet, by_time, by[LEFT_MOST]; // and its derivatives
} Spot;

typedef struct Search {
    LeftMotion *left;
    uint32_t n, unknowns;
    bool frozen, moved;      // rates of `firsts` are not known; c or b change with time
    double rate;             // of the factor exp(rate*time), where they do not
    Spot spot[SPOTS];
    double carry[WAYS][LEFT_MOST*LEFT_MOST]; // g at the end of the way is carry'*g*carry: 0 to 1, 0 to 2, 1 to 2
    VEC(Condition) conditions;
    Kind failed;
    uint32_t i, j;           // variables
    double violated;         // by the g that fulfils them best of those that do not
} Search;

// --- the surroundings of a base

static void
search_open(Search *search, LeftMotion *left, bool frozen)
{
    *search = (Search){.left = left, .n = left->n, .unknowns = left->n*(left->n + 1)/2, .frozen = frozen};
    for (uint32_t p = 0; p < SPOTS; p++) {
        Spot *spot = &search->spot[p];
        spot->point = left_point_make(left);
        spot->jet = jet_make(left->n);
        spot->by_time = jet_make(left->n);
        for (uint32_t i = 0; i < left->n; i++)
            spot->by[i] = jet_make(left->n);
    }
}

static void
search_close(Search *search)
{
    for (uint32_t p = 0; p < SPOTS; p++) {
        Spot *spot = &search->spot[p];
        left_point_free(&spot->point);
        jet_free(&spot->jet);
        jet_free(&spot->by_time);
        for (uint32_t i = 0; i < search->n; i++)
            jet_free(&spot->by[i]);
    }
    vec_free(&search->conditions);
}

// The derivative of the jet by a coordinate, i < n, or by time, by differences of sixth order; false where those of fourth order are others.
static bool
jet_by(Search *search, const LeftPoint *at, uint32_t i, LeftPoint *near, Jet *jet, Jet *out)
{
    static const double part[] = {-3, -2, -1, 1, 2, 3}, weight[] = {-1, 9, -45, 45, -9, 1}, lower[] = {0, 5, -40, 40, -5, 0};
    double step = i < search->n ? STEP : TIME_STEP;
    uint32_t n = search->n, size = jet_size(n);
    double *other = base_calloc(size + 1, sizeof *other);
    bool good = true;
    memset(out->a, 0, size*sizeof *out->a);
    for (int p = 0; p < 6 && good; p++) {
        double by[LEFT_MOST] = {0};
        if (i < n)
            by[i] = part[p]*step;
        good = left_motion_go(search->left, at, i < n ? 0 : part[p]*step, by, near) && left_motion_jet(search->left, near, jet);
        for (uint32_t k = 0; k < size && good; k++) {
            out->a[k] += weight[p]*jet->a[k]/(60*step);
            other[k] += (weight[p] - lower[p])*jet->a[k]/(60*step);
        }
    }
    const uint32_t from[] = {0, n, n + n*n, size};
    for (int k = 0; k < 3 && good; k++) {
        double is = left_largest(out->a + from[k], from[k + 1] - from[k]), off = left_largest(other + from[k], from[k + 1] - from[k]);
        good = off <= SMOOTH*(is + 1e-3 + left_largest(jet->a + from[k], from[k + 1] - from[k]));
    }
    free(other);
    return good;
}

static bool
fill_spot(Search *search, Spot *spot)
{
    LeftPoint near = left_point_make(search->left);
    Jet jet = jet_make(search->n);
    bool good = left_motion_jet(search->left, &spot->point, &spot->jet);
    for (uint32_t i = 0; i < search->n && good; i++)
        good = jet_by(search, &spot->point, i, &near, &jet, &spot->by[i]);
    if (good && search->left->timely)
        good = jet_by(search, &spot->point, search->n, &near, &jet, &spot->by_time);
    left_point_free(&near);
    jet_free(&jet);
    return good;
}

static double
node_at(uint32_t node)
{
    return (1 - cos(M_PI*node/(NODES - 1)))/2;
}

// The polynomial through K in Chebyshev's points.
static void
interpolate(uint32_t n, double k[NODES][LEFT_MOST*LEFT_MOST], double s, double *out)
{
    memset(out, 0, (size_t)n*n*sizeof *out);
    for (uint32_t node = 0; node < NODES; node++) {
        double weight = 1;
        for (uint32_t other = 0; other < NODES; other++)
            weight *= other == node ? 1 : (s - node_at(other))/(node_at(node) - node_at(other));
        for (uint32_t i = 0; i < n*n; i++)
            out[i] += weight*k[node][i];
    }
}

// dG/ds = -G*K(s) from 1, by the method of Runge and Kutta.
static void
integrate(uint32_t n, double k[NODES][LEFT_MOST*LEFT_MOST], double *out)
{
    double stage[4][LEFT_MOST*LEFT_MOST], at[LEFT_MOST*LEFT_MOST], now[LEFT_MOST*LEFT_MOST], h = 1.0/WAY_STEPS;
    static const double ahead[] = {0, 0.5, 0.5, 1};
    for (uint32_t i = 0; i < n*n; i++)
        out[i] = i/n == i%n;
    for (uint32_t step = 0; step < WAY_STEPS; step++) {
        for (uint32_t e = 0; e < 4; e++) {
            if (e != 2)
                interpolate(n, k, (step + ahead[e])*h, now);
            for (uint32_t i = 0; i < n*n; i++)
                at[i] = out[i] + (e ? ahead[e]*h*stage[e - 1][i] : 0);
            for (uint32_t i = 0; i < n; i++)
                for (uint32_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (uint32_t l = 0; l < n; l++)
                        sum -= at[i*n + l]*now[l*n + j];
                    stage[e][i*n + j] = sum;
                }
        }
        for (uint32_t i = 0; i < n*n; i++)
            out[i] += h*(stage[0][i] + 2*stage[1][i] + 2*stage[2][i] + stage[3][i])/6;
    }
}

// K at a part of a way.
static bool
way_matrix(Search *search, const LeftPoint *from, double time, const double *by, double last, double s, LeftPoint *at, Jet *jet, double *out)
{
    uint32_t n = search->n;
    double part[LEFT_MOST];
    for (uint32_t i = 0; i < n; i++)
        part[i] = (s - last)*by[i];
    if (!left_motion_go(search->left, from, (s - last)*time, part, at) || !left_motion_jet(search->left, at, jet))
        return false;
    for (uint32_t i = 0; i < n*n; i++) {
        out[i] = search->moved ? time*jet->b[i]/2 : 0;
        for (uint32_t l = 0; l < n; l++)
            out[i] += jet->c[i*n + l]*by[l];
    }
    return true;
}

// From a point by as much of time and coordinates; false where the way is too long: at a place between the nodes the polynomial is another.
static bool
carry_along(Search *search, const LeftPoint *from, double time, const double *by, double *out)
{
    uint32_t n = search->n;
    double (*k)[LEFT_MOST*LEFT_MOST] = base_calloc(NODES, sizeof *k), is[LEFT_MOST*LEFT_MOST], told[LEFT_MOST*LEFT_MOST], most = 0, off = 0;
    LeftPoint at = left_point_make(search->left);
    Jet jet = jet_make(n);
    bool good = way_matrix(search, from, time, by, 0, BETWEEN, &at, &jet, is);
    at.time = from->time;
    memcpy(at.q, from->q, search->left->positions.n*sizeof *at.q);
    for (uint32_t node = 0; node < NODES && good; node++) {
        good = way_matrix(search, &at, time, by, node ? node_at(node - 1) : 0, node_at(node), &at, &jet, k[node]);
        most = fmax(most, n*left_largest(k[node], n*n));
    }
    if (good) {
        interpolate(n, k, BETWEEN, told);
        for (uint32_t i = 0; i < n*n; i++)
            off = fmax(off, fabs(is[i] - told[i]));
        good = off <= CARRIED*fmax(most, 1e-3) && most < TURNED;
    }
    if (good)
        integrate(n, k, out);
    left_point_free(&at);
    jet_free(&jet);
    free(k);
    return good;
}

// Two points near the base, and what carries g to them.
static bool
surround(Search *search)
{
    uint32_t n = search->n;
    double way[2][LEFT_MOST], time[2], apart[LEFT_MOST], fast = 1;
    bool good = false;
    for (uint32_t i = 0; i < n*n; i++) // what decays does so by a part only
        fast = fmax(fast, n*fabs(search->spot[0].jet.b[i]));
    for (double far = FARTHEST; far > 0.005 && !good; far /= 2) {
        good = true;
        for (uint32_t p = 0; p < 2; p++) {
            time[p] = search->left->timely ? far/fast*(p ? -0.6 : 0.8) : 0;
            for (uint32_t i = 0; i < n; i++)
                way[p][i] = far*(2*fmod((i + 1)*0.6180339887498949 + (p + 1)*0.3819660112501051*(i + 2), 1.0) - 1);
            good = good && carry_along(search, &search->spot[0].point, time[p], way[p], search->carry[p]) &&
                   left_motion_go(search->left, &search->spot[0].point, time[p], way[p], &search->spot[p + 1].point);
        }
        for (uint32_t i = 0; i < n; i++)
            apart[i] = way[1][i] - way[0][i];
        good = good && carry_along(search, &search->spot[1].point, time[1] - time[0], apart, search->carry[2]);
    }
    return good && fill_spot(search, &search->spot[1]) && fill_spot(search, &search->spot[2]);
}

// --- conditions

static void
multiply(uint32_t n, const double *a, const double *b, bool transposed, double *out)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t l = 0; l < n; l++)
                sum += (transposed ? a[l*n + i] : a[i*n + l])*b[l*n + j];
            out[i*n + j] = sum;
        }
}

// g that is carried: carry'*g*carry.
static void
carried(uint32_t n, const double *carry, const double *g, double *out)
{
    double half[LEFT_MOST*LEFT_MOST];
    multiply(n, carry, g, true, half);
    multiply(n, half, carry, false, out);
}

// The symmetric matrix of which the unknown is the only one, and its mirror image.
static void
basis(uint32_t n, uint32_t unknown, double *g)
{
    memset(g, 0, (size_t)n*n*sizeof *g);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++)
            if (!unknown--)
                g[i*n + j] = g[j*n + i] = 1;
}

static Condition *
condition(Search *search, uint32_t *next, Kind kind, uint32_t i, uint32_t j)
{
    if (*next == search->conditions.n)
        vec_push(&search->conditions, (Condition){.kind = kind, .i = i, .j = j});
    return &search->conditions.at[(*next)++];
}

static void
add_to(Condition *to, uint32_t unknown, double value, double size)
{
    to->at[unknown] = value;
    to->size[unknown] = size;
}

typedef struct Sized { // a matrix, and the sum of the magnitudes of its terms
    double is[LEFT_MOST*LEFT_MOST], size[LEFT_MOST*LEFT_MOST];
} Sized;

static void
gather(Sized *to, uint32_t at, double term)
{
    to->is[at] += term;
    to->size[at] += fabs(term);
}

// c(v) of a jet, times a factor.
static void
gather_bend(const Search *search, const Jet *jet, const double *v, double factor, Sized *to)
{
    uint32_t n = search->n;
    for (uint32_t i = 0; i < n*n; i++)
        for (uint32_t l = 0; l < n; l++)
            gather(to, i, factor*jet->c[i*n + l]*v[l]);
}

static void
gather_slope(const Search *search, const Jet *jet, double factor, Sized *to)
{
    for (uint32_t i = 0; i < search->n*search->n; i++)
        gather(to, i, factor*jet->b[i]);
}

static void
gather_product(uint32_t n, const Sized *a, const Sized *b, double factor, Sized *to)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t l = 0; l < n; l++) {
                to->is[i*n + j] += factor*a->is[i*n + l]*b->is[l*n + j];
                to->size[i*n + j] += fabs(factor)*a->size[i*n + l]*b->size[l*n + j];
            }
}

// P at a velocity.
static Sized
forces_matrix(const Search *search, const Spot *spot, const double *v)
{
    uint32_t n = search->n;
    const Jet *jet = &spot->jet;
    Sized slope = {0}, out = {0};
    double f[LEFT_MOST];
    gather_slope(search, jet, 1, &slope);
    gather_bend(search, jet, v, 2, &slope);
    gather_product(n, &slope, &slope, -0.25, &out);
    for (uint32_t k = 0; k < n; k++) {
        f[k] = jet->a[k];
        for (uint32_t i = 0; i < n; i++) {
            f[k] += jet->b[k*n + i]*v[i];
            for (uint32_t l = 0; l < n; l++)
                f[k] += jet->c[(k*n + i)*n + l]*v[i]*v[l];
        }
    }
    gather_bend(search, jet, f, 1, &out);
    if (search->left->timely) {
        gather_slope(search, &spot->by_time, 0.5, &out);
        gather_bend(search, &spot->by_time, v, 1, &out);
    }
    for (uint32_t l = 0; l < n; l++) {
        gather_slope(search, &spot->by[l], v[l]/2, &out);
        gather_bend(search, &spot->by[l], v, v[l], &out);
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++) {
            const Jet *by = &spot->by[i];
            gather(&out, k*n + i, -by->a[k]);
            for (uint32_t l = 0; l < n; l++) {
                gather(&out, k*n + i, -by->b[k*n + l]*v[l]);
                for (uint32_t e = 0; e < n; e++)
                    gather(&out, k*n + i, -by->c[(k*n + l)*n + e]*v[l]*v[e]);
            }
        }
    return out;
}

// What g turns by around a small loop: first along v, then along w, and back; w NULL: time passes.
static Sized
turn_matrix(const Search *search, const Spot *spot, const double *v, const double *w)
{
    uint32_t n = search->n;
    Sized one = {0}, other = {0}, out = {0};
    gather_bend(search, &spot->jet, v, 1, &one);
    if (w)
        gather_bend(search, &spot->jet, w, 1, &other);
    else
        gather_slope(search, &spot->jet, 0.5, &other);
    gather_product(n, &one, &other, -1, &out);
    gather_product(n, &other, &one, 1, &out);
    for (uint32_t l = 0; l < n; l++) {
        if (w) {
            gather_bend(search, &spot->by[l], w, v[l], &out);
            gather_bend(search, &spot->by[l], v, -w[l], &out);
        } else {
            gather_slope(search, &spot->by[l], v[l]/2, &out);
        }
    }
    if (!w && search->left->timely)
        gather_bend(search, &spot->by_time, v, -1, &out);
    return out;
}

static void
speed(uint32_t n, uint32_t p, uint32_t s, double *v)
{
    for (uint32_t i = 0; i < n; i++)
        v[i] = s ? 2*fmod((i + 1)*(0.4142135623730951 + 0.23*p) + s*0.7320508075688772*(i + 1.3), 1.0) - 1 : 0;
}

// g*matrix is symmetric, or antisymmetric, up to `more` of g.
static void
add_product(Search *search, uint32_t *next, Kind kind, uint32_t unknown, const double *g, const Sized *matrix, double more, bool symmetric)
{
    uint32_t n = search->n;
    double sign = symmetric ? -1 : 1, product[LEFT_MOST*LEFT_MOST], size[LEFT_MOST*LEFT_MOST];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            product[i*n + j] = more*g[i*n + j];
            size[i*n + j] = fabs(more*g[i*n + j]);
            for (uint32_t l = 0; l < n; l++) {
                product[i*n + j] += g[i*n + l]*matrix->is[l*n + j];
                size[i*n + j] += fabs(g[i*n + l])*matrix->size[l*n + j];
            }
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = symmetric ? i + 1 : i; j < n; j++)
            add_to(condition(search, next, kind, i, j), unknown, product[i*n + j] + sign*product[j*n + i], size[i*n + j] + size[j*n + i]);
}

static void
conditions_of(Search *search, uint32_t unknown)
{
    uint32_t n = search->n, next = 0;
    double g[SPOTS][LEFT_MOST*LEFT_MOST], again[LEFT_MOST*LEFT_MOST], v[LEFT_MOST], w[LEFT_MOST];
    basis(n, unknown, g[0]);
    carried(n, search->carry[0], g[0], g[1]);
    carried(n, search->carry[1], g[0], g[2]);
    carried(n, search->carry[2], g[1], again);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++)
            add_to(condition(search, &next, search->moved ? KIND_DAMPING : KIND_PARALLEL, i, j), unknown, again[i*n + j] - g[2][i*n + j],
                   fabs(again[i*n + j]) + fabs(g[2][i*n + j]));
    for (uint32_t p = 0; p < SPOTS; p++) {
        const Spot *spot = &search->spot[p];
        Sized matrix = {0};
        gather_slope(search, &spot->jet, 1, &matrix);
        if (!search->moved)
            add_product(search, &next, KIND_DAMPING, unknown, g[p], &matrix, search->rate, false);
        for (uint32_t s = 0; s < SPEEDS; s++) {
            speed(n, p, s + 1, v);
            speed(n, p + SPOTS, s + 1, w);
            if (n > 1) {
                matrix = turn_matrix(search, spot, v, w);
                add_product(search, &next, search->moved && p ? KIND_DAMPING : KIND_PARALLEL, unknown, g[p], &matrix, 0, false);
            }
            if (search->moved) {
                matrix = turn_matrix(search, spot, v, NULL);
                add_product(search, &next, KIND_DAMPING, unknown, g[p], &matrix, 0, false);
            }
            speed(n, p, s, v);
            if (!search->frozen) {
                matrix = forces_matrix(search, spot, v);
                add_product(search, &next, KIND_FORCES, unknown, g[p], &matrix, 0, true);
            }
        }
    }
}

// Whether g changes with time otherwise than by the factor exp(rate*time): c or b do. The rate is that of the trace of b; where other places have another one,
// conditions fail there.
static void
find_rate(Search *search)
{
    uint32_t n = search->n;
    double change = 0, size = 0, least = 1e-7*(1e-3 + left_largest(search->spot[0].jet.b, n*n));
    for (uint32_t p = 0; p < SPOTS && search->left->timely; p++) {
        change = fmax(change, left_largest(search->spot[p].by_time.b, jet_size(n) - n));
        size = fmax(size, left_largest(search->spot[p].jet.b, jet_size(n) - n));
    }
    search->moved = change > 1e-7*(1e-3 + size);
    search->rate = 0;
    for (uint32_t i = 0; i < n && !search->moved; i++)
        search->rate -= search->spot[0].jet.b[i*n + i]/n;
    search->rate = fabs(search->rate) < least ? 0 : search->rate;
}

// --- what g is left

// Eigenvalues on the diagonal, eigenvectors in the columns of `vectors` (Jacobi's method; Golub and Van Loan, 8.5).
static void
diagonalise(uint32_t n, double *at, double *vectors)
{
    for (uint32_t i = 0; i < n*n; i++)
        vectors[i] = i/n == i%n;
    for (uint32_t sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                *(i == j ? &on : &off) += at[i*n + j]*at[i*n + j];
        if (off <= 1e-32*on)
            break;
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) {
                double apq = at[p*n + q];
                if (apq == 0)
                    continue;
                double tau = (at[q*n + q] - at[p*n + p])/(2*apq), t = (tau >= 0 ? 1 : -1)/(fabs(tau) + sqrt(1 + tau*tau)), c = 1/sqrt(1 + t*t), s = t*c;
                for (uint32_t k = 0; k < n; k++) {
                    double x = at[k*n + p], y = at[k*n + q];
                    at[k*n + p] = c*x - s*y;
                    at[k*n + q] = s*x + c*y;
                }
                for (uint32_t k = 0; k < n; k++) {
                    double x = at[p*n + k], y = at[q*n + k], u = vectors[k*n + p], w = vectors[k*n + q];
                    at[p*n + k] = c*x - s*y;
                    at[q*n + k] = s*x + c*y;
                    vectors[k*n + p] = c*u - s*w;
                    vectors[k*n + q] = s*u + c*w;
                }
            }
    }
}

static void
matrix_of(uint32_t n, const double *x, double *g)
{
    for (uint32_t i = 0, k = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++, k++)
            g[i*n + j] = g[j*n + i] = x[k];
}

// Brings rows and columns to one size, into `unit`, and tells whether the matrix is regular. What is small beside the largest entry is rounding, not a g of
// its own: its row keeps its unit.
bool
left_is_regular(uint32_t n, double *g, double *unit)
{
    double all = left_largest(g, n*n);
    bool good = true;
    for (uint32_t i = 0; i < n*n; i++)
        g[i] = fabs(g[i]) > NOTHING*all ? g[i] : 0;
    for (uint32_t i = 0; i < n; i++)
        unit[i] = 1;
    for (uint32_t round = 0; round < 6; round++)
        for (uint32_t i = 0; i < n; i++) {
            double most = left_largest(g + i*n, n), by = most > 0 ? 1/sqrt(most) : 1;
            good &= most > 0;
            unit[i] *= by;
            for (uint32_t j = 0; j < n; j++) {
                g[i*n + j] *= by;
                g[j*n + i] *= by;
            }
        }
    Table table = {g, n, n, n};
    return good && table_eliminate(&table, REGULAR, NULL) == n;
}

typedef enum Left { LEFT_NONE, LEFT_REGULAR, LEFT_UNCLEAR } Left;

typedef struct Null { // what fulfils conditions: columns of `at`, in units of g (g_ij is unit[i]*unit[j] times its number)
    uint32_t n;
    double at[UNKNOWNS*UNKNOWNS], unit[LEFT_MOST];
} Null;

// The conditions of these kinds in units of g, each divided by the size of its terms, which is not taken for less than a part of that of others of its kind.
// Returns how many.
static uint32_t
level_conditions(const Search *search, Kind from, Kind to, const double *unit, double *rows, uint32_t *which)
{
    uint32_t m = search->unknowns, count = 0;
    double most[KINDS] = {0}, size[2] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t c = 0; c < search->conditions.n; c++) {
            const Condition *is = &search->conditions.at[c];
            if (is->kind < from || is->kind > to)
                continue;
            size[0] = 0;
            for (uint32_t i = 0, k = 0; i < search->n; i++)
                for (uint32_t j = i; j < search->n; j++, k++)
                    size[0] = fmax(size[0], is->size[k]*unit[i]*unit[j]/(unit[is->i]*unit[is->j]));
            if (!pass) {
                most[is->kind] = fmax(most[is->kind], size[0]);
                continue;
            }
            size[0] = fmax(size[0], 1e-2*most[is->kind])*unit[is->i]*unit[is->j];
            for (uint32_t i = 0, k = 0; i < search->n; i++)
                for (uint32_t j = i; j < search->n; j++, k++)
                    rows[count*m + k] = size[0] > 0 ? is->at[k]*unit[i]*unit[j]/size[0] : 0;
            which[count++] = c;
        }
    return count;
}

// A combination of the null vectors without order, as g without units.
static void
combine(const Search *search, const Null *null, uint32_t trial, double *g)
{
    double x[UNKNOWNS] = {0};
    for (uint32_t k = 0; k < null->n; k++) {
        double part = null->n == 1 ? 1 : 2*fmod((k + 1)*0.7548776662466927 + (trial + 1)*0.5698402909980532, 1.0) - 1;
        for (uint32_t i = 0; i < search->unknowns; i++)
            x[i] += part*null->at[k*search->unknowns + i];
    }
    matrix_of(search->n, x, g);
}

// Whether a regular g fulfils the conditions up to this kind: the null space by the eigenvalues of the normal equations, in units of the g found so far.
static Left
regular_left(Search *search, Kind most, Null *null)
{
    uint32_t n = search->n, m = search->unknowns, *which = base_calloc(search->conditions.n + 1, sizeof *which);
    double *rows = base_calloc((size_t)search->conditions.n*m + 1, sizeof *rows), *normal = base_calloc((size_t)2*m*m + 1, sizeof *normal);
    double *vectors = normal + (size_t)m*m, g[LEFT_MOST*LEFT_MOST], change[LEFT_MOST];
    Left found = LEFT_NONE;
    for (uint32_t i = 0; i < n; i++)
        null->unit[i] = 1;
    for (uint32_t round = 0; round < ROUNDS && found != LEFT_REGULAR; round++) {
        uint32_t count = level_conditions(search, KIND_PARALLEL, most, null->unit, rows, which), least = 0;
        found = LEFT_NONE;
        for (uint32_t i = 0; i < m; i++)
            for (uint32_t j = 0; j < m; j++) {
                double sum = 0;
                for (uint32_t c = 0; c < count; c++)
                    sum += rows[c*m + i]*rows[c*m + j];
                normal[i*m + j] = sum;
            }
        diagonalise(m, normal, vectors);
        null->n = 0;
        search->violated = INFINITY;
        for (uint32_t k = 0; k < m; k++) {
            double violated = sqrt(fmax(normal[k*m + k], 0));
            search->violated = violated > ZERO ? fmin(search->violated, violated) : search->violated;
            least = normal[k*m + k] < normal[least*m + least] ? k : least;
            if (violated > ZERO && violated < SOMETHING)
                found = LEFT_UNCLEAR;
            for (uint32_t i = 0; i < m && violated <= ZERO; i++)
                null->at[null->n*m + i] = vectors[i*m + k];
            null->n += violated <= ZERO;
        }
        for (uint32_t trial = 0; trial < TRIALS && null->n && found != LEFT_REGULAR; trial++) {
            combine(search, null, trial, g);
            found = left_is_regular(n, g, change) ? LEFT_REGULAR : found;
        }
        for (uint32_t i = 0; i < m && !null->n; i++)
            null->at[i] = vectors[i*m + least];
        null->n += !null->n;
        combine(search, null, 0, g);
        left_is_regular(n, g, change);
        for (uint32_t i = 0; i < n && found != LEFT_REGULAR && round + 1 < ROUNDS; i++)
            null->unit[i] *= 1/change[i];
    }
    free(which);
    free(rows);
    free(normal);
    return found;
}

// The position, of all, whose square of the velocity is most alike to the power of the forces that change sign with velocities: a damper at a joint is found there,
// though other positions are the coordinates. x is g in its units.
static void
find_damped(Search *search, const double *x, const double *unit)
{
    LeftMotion *left = search->left;
    uint32_t n = search->n, m = left->positions.n;
    double g[LEFT_MOST*LEFT_MOST], damping[LEFT_MOST*LEFT_MOST], power[LEFT_MOST*LEFT_MOST], size = 0, most = 0.5, v[LEFT_MOST] = {0};
    double *still = base_calloc((size_t)(n + 1)*m + 1, sizeof *still), *moves = still + m;
    matrix_of(n, x, g);
    for (uint32_t i = 0; i < n*n; i++)
        damping[i] = search->spot[0].jet.b[i]*unit[i/n]/unit[i%n];
    multiply(n, g, damping, false, power);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            power[i*n + j] = power[j*n + i] = (power[i*n + j] + power[j*n + i])/2;
            size += (i == j ? 1 : 2)*power[i*n + j]*power[i*n + j];
        }
    bool good = left_motion_velocity(left, &search->spot[0].point, v, still);
    for (uint32_t i = 0; i < n && good; i++) {
        v[i] = 1/unit[i];
        good = left_motion_velocity(left, &search->spot[0].point, v, moves + i*m);
        v[i] = 0;
    }
    for (uint32_t k = 0; k < m && good && size > 0; k++) {
        double alike = 0, length = 0;
        for (uint32_t i = 0; i < n; i++) {
            double way = moves[i*m + k] - still[k];
            length += way*way;
            for (uint32_t j = 0; j < n; j++)
                alike += way*power[i*n + j]*(moves[j*m + k] - still[k]);
        }
        if (length > 0 && fabs(alike)/(length*sqrt(size)) > most) {
            most = fabs(alike)/(length*sqrt(size));
            search->i = search->j = left->positions.at[k];
        }
    }
    free(still);
}

// The pair whose condition the g fulfils the least that is nearest to the unit matrix among those that fulfil the conditions before.
static void
find_pair(Search *search, Kind kind, const Null *before)
{
    uint32_t n = search->n, m = search->unknowns, all = before->n, *which = base_calloc(search->conditions.n + 1, sizeof *which), pivot[UNKNOWNS], order[UNKNOWNS];
    double *rows = base_calloc((size_t)search->conditions.n*m + 1, sizeof *rows), *table = base_calloc((size_t)all*(all + 1) + 1, sizeof *table), most = -1;
    double x[UNKNOWNS] = {0}, *on = base_calloc((size_t)(search->conditions.n + 1)*(all + 1), sizeof *on);
    uint32_t count = level_conditions(search, kind, kind, before->unit, rows, which);
    for (uint32_t c = 0; c < count; c++)
        for (uint32_t k = 0; k < all; k++)
            for (uint32_t i = 0; i < m; i++)
                on[c*all + k] += rows[c*m + i]*before->at[k*m + i];
    for (uint32_t k = 0; k < all; k++) {
        order[k] = k;
        for (uint32_t l = 0; l < all; l++) {
            double sum = 0, same = 0;
            for (uint32_t c = 0; c < count; c++)
                sum += on[c*all + k]*on[c*all + l];
            for (uint32_t i = 0; i < m; i++)
                same += before->at[k*m + i]*before->at[l*m + i];
            table[k*(all + 1) + l] = sum + 1e-2*same;
        }
        for (uint32_t i = 0, e = 0; i < n; i++)
            for (uint32_t j = i; j < n; j++, e++)
                table[k*(all + 1) + all] += i == j ? 1e-2*before->at[k*m + e] : 0;
    }
    Table equations = {table, all, all + 1, all + 1};
    uint32_t rank = table_reduce(&equations, order, all, 1e-13, pivot);
    for (uint32_t r = 0; r < rank; r++)
        for (uint32_t i = 0; i < m; i++)
            x[i] += table[r*(all + 1) + all]*before->at[pivot[r]*m + i];
    for (uint32_t c = 0; c < count; c++) {
        double value = 0;
        for (uint32_t i = 0; i < m; i++)
            value += rows[c*m + i]*x[i];
        if (fabs(value) > most) {
            most = fabs(value);
            search->i = search->left->positions.at[search->left->free.at[search->conditions.at[which[c]].i]];
            search->j = search->left->positions.at[search->left->free.at[search->conditions.at[which[c]].j]];
        }
    }
    if (kind == KIND_DAMPING && n > 1)
        find_damped(search, x, before->unit);
    free(which);
    free(rows);
    free(table);
    free(on);
}

// --- a base

static Adjointness
judge_conditions(Search *search)
{
    Null *null = base_calloc(2, sizeof *null);
    Adjointness verdict = ADJOINT_PROBABLE;
    uint32_t m = search->unknowns;
    for (uint32_t unknown = 0; unknown < m; unknown++)
        conditions_of(search, unknown);
    null[0].n = m; // without conditions
    for (uint32_t i = 0; i < m; i++)
        null[0].at[i*m + i] = 1;
    for (uint32_t i = 0; i < search->n; i++)
        null[0].unit[i] = 1;
    for (Kind kind = KIND_PARALLEL; kind < KINDS && verdict == ADJOINT_PROBABLE; kind++) {
        Left left = regular_left(search, kind, &null[1]);
        verdict = left == LEFT_REGULAR ? ADJOINT_PROBABLE : left == LEFT_NONE ? ADJOINT_NOT : ADJOINT_OPEN;
        if (left == LEFT_NONE) {
            search->failed = kind;
            find_pair(search, kind, &null[0]);
        }
        null[0] = null[1];
    }
    free(null);
    return verdict;
}

// Velocities at which terms of second degree are as large as those without: differences of both are exact then.
static bool
choose_speed(Search *search)
{
    LeftMotion *left = search->left;
    Jet *jet = &search->spot[0].jet;
    uint32_t n = search->n;
    left->speed = 1;
    if (!left_motion_jet(left, &search->spot[0].point, jet))
        return false;
    if (left->beyond == NONE)
        left->speed = fmin(fmax(sqrt(left_largest(jet->a, n)/(left_largest(jet->c, n*n*n) + 1e-3)), 1), 1e3);
    return true;
}

static Adjointness
judge_base(Search *search, LeftVerdict *out)
{
    static const LeftFails fails[] = {LEFT_FAILS_ENERGY, LEFT_FAILS_DAMPING, LEFT_FAILS_FORCES};
    LeftMotion *left = search->left;
    if (!choose_speed(search))
        return ADJOINT_OPEN;
    if (left->beyond != NONE) {
        out->fails = LEFT_FAILS_DEGREE;
        out->i = out->j = left->positions.at[left->free.at[left->beyond]];
        out->plain = true;
        return ADJOINT_NOT;
    }
    search->moved = left->timely; // until it is known
    if (!fill_spot(search, &search->spot[0]) || !surround(search))
        return ADJOINT_OPEN;
    find_rate(search);
    if (left->timely && !search->moved && !surround(search))
        return ADJOINT_OPEN;
    out->rate = search->rate;
    out->moved = search->moved;
    Adjointness verdict = judge_conditions(search);
    if (verdict == ADJOINT_NOT) {
        out->fails = fails[search->failed];
        out->plain = search->violated > PLAIN;
        out->i = search->i;
        out->j = search->j;
    }
    return verdict;
}

// At a start; ADJOINT_OPEN where nothing can be said there.
static Adjointness
judge_start(LeftMotion *left, uint32_t start, bool frozen, LeftVerdict *out)
{
    Adjointness there = ADJOINT_OPEN;
    LeftPoint point = left_point_make(left);
    if (left_motion_start(left, start, &point)) {
        out->freedoms = left->n;
        out->reason = left->n ? NULL : "its constraints and what is prescribed leave no motion";
        out->row = !out->reason && !frozen && left->rates.n ? left_motion_nonholonomic(left, &point, &out->homogeneous) : NONE;
        if (out->row != NONE) {
            out->fails = LEFT_FAILS_INTEGRABLE;
            for (uint32_t i = 0; i < left->firsts.n; i++)
                if (expr_uses_slot(left->rows->exprs, left->rows->rows.at[out->row].f, row_slot(left->firsts.at[i], 1)))
                    out->fails = LEFT_FAILS_ORDER;
            out->plain = true;
            there = ADJOINT_NOT;
        } else if (!out->reason && left->n > LEFT_MOST) {
            there = left_kinetic_judge(left, &point, frozen, out);
        } else if (!out->reason) {
            Search search;
            search_open(&search, left, frozen);
            search.spot[0].point.time = point.time;
            memcpy(search.spot[0].point.q, point.q, left->positions.n*sizeof *point.q);
            there = judge_base(&search, out);
            search_close(&search);
        }
    }
    left_point_free(&point);
    return there;
}

// At as many starts as it takes: twice the same, or once what is plain to see.
static Adjointness
judge_starts(LeftMotion *left, bool frozen, LeftVerdict *out)
{
    uint32_t yes = 0, no = 0;
    for (uint32_t start = 0; start < STARTS && yes < BASES && no < BASES && !out->reason; start++) {
        LeftVerdict there = *out;
        Adjointness verdict = judge_start(left, start, frozen, &there);
        if (verdict == ADJOINT_OPEN && !there.reason)
            continue;
        *out = there;
        yes += verdict == ADJOINT_PROBABLE;
        no += verdict == ADJOINT_NOT ? (there.plain ? BASES : 1) : 0;
    }
    return no >= BASES ? ADJOINT_NOT : yes >= BASES && !no ? ADJOINT_PROBABLE : ADJOINT_OPEN;
}

// A variable whose acceleration a row gives that has no other unknown, while other rows have it: what is prescribed feels no reaction.
static uint32_t
find_alone(const LeftMotion *left)
{
    const MotionRows *rows = left->rows;
    U32Vec used = {0};
    uint32_t found = NONE;
    for (uint32_t i = 0; i < left->dynamics.n && left->row.n > 1 && found == NONE; i++) {
        Expr f = rows->rows.at[left->dynamics.at[i]].f;
        uint32_t only = NONE;
        bool other = false;
        vec_clear(&used);
        expr_used_slots(rows->exprs, &f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t v = used.at[k]/ROW_ORDERS;
            if (!rows->moves.at[v])
                continue;
            other |= only != NONE && only != v;
            only = v;
        }
        if (only != NONE && !other && expr_uses_slot(rows->exprs, f, row_slot(only, 2)))
            found = only;
    }
    vec_free(&used);
    return found;
}

// With variables that rows without derivatives have as forces, or else some as positions, or else all.
static Adjointness
judge_kinds(MotionRows *rows, const U32Vec *from, bool frozen, LeftVerdict *out)
{
    Adjointness verdict = ADJOINT_OPEN;
    for (LeftStill still = LEFT_STILL_FORCES; still < LEFT_STILL_KINDS && verdict == ADJOINT_OPEN; still++) {
        LeftMotion left;
        out->reason = NULL;
        bool good = left_motion_open(&left, rows, from, frozen, still, &out->reason);
        out->constrained = good && left.constraints.n + left.rates.n;
        if (good)
            verdict = judge_starts(&left, frozen, out);
        left_motion_close(&left);
    }
    return verdict;
}

// Rows of first order, and of a higher one than the second: what can be said without their motion.
static void
judge_orders(LeftMotion *left, const U32Vec *from, LeftVerdict *out)
{
    if (left->leads != NONE) {
        out->fails = LEFT_FAILS_HIGHER;
        out->i = left->leads;
        out->order = left->order;
        out->verdict = left->moving == 1 && left->order % 2 ? ADJOINT_NOT : ADJOINT_OPEN; // the adjoint of an odd order has the other sign
        return;
    }
    LeftVerdict held = {.row = NONE};
    bool no = judge_kinds(left->rows, from, true, &held) == ADJOINT_NOT;
    out->fails = LEFT_FAILS_ORDER;
    vec_append(&out->firsts, left->firsts.at, left->firsts.n);
    out->verdict = no || left->firsts.n % 2 ? ADJOINT_NOT : ADJOINT_OPEN;
    out->freedoms = held.freedoms;
    if (no) {
        out->also = held.fails;
        out->i = held.i;
        out->j = held.j;
    }
}

void
left_lagrangian_judge(MotionRows *rows, const U32Vec *from, LeftVerdict *out)
{
    LeftMotion left;
    *out = (LeftVerdict){.verdict = ADJOINT_OPEN, .row = NONE, .i = NONE, .j = NONE, .alone = NONE};
    bool good = left_motion_open(&left, rows, from, false, LEFT_STILL_FORCES, &out->reason);
    if (good)
        out->verdict = judge_kinds(rows, from, false, out);
    if (out->fails == LEFT_FAILS_ORDER || left.leads != NONE || (left.bent && left.firsts.n)) {
        out->reason = NULL;
        judge_orders(&left, from, out);
    } else if (out->verdict == ADJOINT_OPEN && !out->reason) {
        out->reason = good ? "no points were found at which its rows determine the motion, and agree" : "a derivative of a row is not known";
    }
    if (out->verdict != ADJOINT_NOT && out->fails != LEFT_FAILS_ORDER && out->fails != LEFT_FAILS_HIGHER)
        out->fails = LEFT_FAILS_NOTHING;
    if (out->verdict == ADJOINT_NOT && out->fails != LEFT_FAILS_INTEGRABLE)
        out->alone = find_alone(&left);
    left_motion_close(&left);
}
