// choice.c: --solver=auto: which method suits the motion.
//
// Purpose: BDF takes energy out of a conservative system with every step; over thousands of periods that is all that
//          is seen. A symmetric method with a constant step keeps it, if the motion is reversible: with the signs of
//          velocities changed it runs backwards (Hairer, Lubich and Wanner, Geometric Numerical Integration, 2006, V.1 and
//          XI.3). Whether it is can be tested: f(R y) = -R f(y) for some R that changes signs of states.
// Method: states that are the derivatives of others change their sign, the others do not. Where der() does not tell
//          (currents, momenta, generalised coordinates), R follows from the Jacobian J at velocities of zero: J R = -R J there,
//          so that J_ij couples states of different kind only; the strongest couplings decide (Kruskal's maximum
//          spanning forest with parities). The property itself is then tested at points beside the start, as is that
//          time does not occur. Damping, friction, and driving by a source fail the test. Events between such motions are no
//          obstacle, but for those of dry friction and of time. Stiffness: J's largest rate
//          (power iteration) over that of the motion, sqrt(|f| / |J^-2 f|), to which vibrations of a small amplitude
//          contribute little.
//          In few turns the errors of single steps do not add up to much: there other methods are cheaper (contest.c).
//          Who asks for gauss is warned of stiffness.
// Contract: solver.h; at consistent values; v is as before. Complexity: about 3 nx evaluations, and nx^2.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/linear.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

enum { MOST_STATES = 60, SAMPLES = 3, ROUNDS = 12 };

static const double MOVE = 0.03, LEAST_MOVE = 3e-4; // of the states' sizes: points beside the start
static const double SAME = 1e-6;       // of the sizes that derivatives have
static const double COUPLED = 1e-7;    // of the largest coupling
static const double DIFFERENCE = 1e-6; // of the largest pivot: what differences do not tell from zero
static const double ROUGH = 0.03;      // of the tolerance
static const double LEAST_TURNS = 0.16, FEW_TURNS = 50; // in few turns errors of single steps do not add up to much
static const double STIFF = 30;        // rates above this multiple of the motion's own are not worth following

typedef struct Choice {
    Run *run;
    Projection *projection; // dependent equations have solutions on the invariants only; otherwise NULL
    uint32_t n;
    double *kept;      // v at the start
    double *y, *f;     // n: a point and the derivatives there
    double *point;     // n: what they are evaluated at
    double *other;     // n: derivatives at another point
    double *size;      // n: of the states
    double *rate;      // n: size of the derivatives
    double *jacobian;  // n x n by columns, in units of the states' sizes
    int8_t *sign;      // n: R
    uint32_t *parent;  // n + 1, of the forest; the last is what surely keeps its sign
    int8_t *parity;    // relative to the parent
    double turns;      // what turns fastest does so in the run
    double move;       // how far away, in states' sizes, there are values in every direction
    uint64_t random;
} Choice;

// Derivatives at `y`; false when there are none.
static bool
slope(Choice *c, double time, const double *y, double *f)
{
    Run *run = c->run;
    const mdl_model *model = run->model;
    memcpy(run->v, c->kept, model->nv * sizeof *run->v);
    memcpy(c->point, y, c->n * sizeof *y);
    bool good = !c->projection || projection_apply(run, c->projection, time, c->point);
    run->v[0] = time;
    memcpy(run->v + model->y, c->point, c->n * sizeof *y);
    good = good && evaluate_solved(run, false) == MDL_OK;
    memcpy(f, run->v + model->yp, c->n * sizeof *f);
    for (uint32_t i = 0; i < c->n; i++)
        good = good && isfinite(f[i]);
    return good;
}

static void
beside(Choice *c, double *y)
{
    for (uint32_t i = 0; i < c->n; i++)
        y[i] = c->run->y[i] + c->move * c->size[i] * random_around_zero(&c->random);
}

// --- which states change their sign

static uint32_t
find(Choice *c, uint32_t i, int8_t *parity)
{
    *parity = 1;
    for (; c->parent[i] != i; i = c->parent[i])
        *parity = (int8_t)(*parity * c->parity[i]);
    return i;
}

// States i and j have the same sign in R, or opposite ones; what is known already stays.
static void
relate(Choice *c, uint32_t i, uint32_t j, int8_t relation)
{
    int8_t a, b;
    uint32_t p = find(c, i, &a), q = find(c, j, &b);
    // The last one, which keeps its sign, stays a root.
    uint32_t child = p < q ? p : q, root = p < q ? q : p;
    if (p == q)
        return;
    c->parent[child] = root;
    c->parity[child] = (int8_t)(a * b * relation);
}

// der(x) is x', another state: that one changes its sign, x does not.
static bool
relate_derivatives(Choice *c)
{
    size_t pairs = (size_t)c->n * c->n;
    bool *same = malloc(pairs * sizeof *same + 1), good = same != NULL;
    for (size_t k = 0; k < pairs && good; k++)
        same[k] = true;
    for (int k = 0; k < SAMPLES && good; k++) {
        beside(c, c->y);
        good = slope(c, c->run->time, c->y, c->f);
        for (uint32_t i = 0; i < c->n && good; i++)
            for (uint32_t j = 0; j < c->n; j++)
                same[(size_t)i * c->n + j] = same[(size_t)i * c->n + j] && fabs(c->f[i]) == fabs(c->point[j]);
    }
    for (uint32_t i = 0; i < c->n && good; i++)
        for (uint32_t j = 0; j < c->n; j++)
            if (same[(size_t)i * c->n + j]) {
                relate(c, i, c->n, 1);
                relate(c, j, c->n, -1);
            }
    free(same);
    return good;
}

// The Jacobian at `y` by differences.
static bool
differentiate(Choice *c, const double *y)
{
    double *at = malloc(((size_t)c->n + 1) * sizeof *at);
    bool good = at != NULL;
    for (uint32_t j = 0; j < c->n && good; j++) {
        double h = 1e-5 * c->size[j];
        memcpy(at, y, c->n * sizeof *at);
        at[j] = y[j] + h;
        good = slope(c, c->run->time, at, c->f);
        at[j] = y[j] - h;
        good = good && slope(c, c->run->time, at, c->other);
        for (uint32_t i = 0; i < c->n && good; i++)
            c->jacobian[(size_t)j * c->n + i] = (c->f[i] - c->other[i]) / 2e-5 / c->size[i];
    }
    free(at);
    return good;
}

// With constraints the model says which states have a second derivative: positions; the others are velocities then.
static void
relate_depths(Choice *c)
{
    const uint8_t *depth = c->run->model->state_depth;
    bool deep = false;
    for (uint32_t i = 0; depth && i < c->n; i++)
        deep = deep || depth[i] == 2;
    for (uint32_t i = 0; deep && i < c->n; i++)
        if (depth[i] == 1 || depth[i] == 2)
            relate(c, i, c->n, depth[i] == 2 ? 1 : -1);
}

typedef struct Coupling {
    uint32_t i, j;
    double size;
} Coupling;

static int
stronger_first(const void *a, const void *b)
{
    const Coupling *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->i != y->i ? (x->i < y->i ? -1 : 1) : (x->j > y->j) - (x->j < y->j);
}

static bool
relate_couplings(Choice *c)
{
    Coupling *coupling = malloc((size_t)c->n * c->n * sizeof *coupling + 1);
    size_t count = 0;
    for (uint32_t j = 0; coupling && j < c->n; j++)
        for (uint32_t i = 0; i < c->n; i++)
            if (i != j && c->jacobian[(size_t)j * c->n + i] != 0)
                coupling[count++] = (Coupling){i, j, fabs(c->jacobian[(size_t)j * c->n + i])};
    if (count)
        qsort(coupling, count, sizeof *coupling, stronger_first);
    for (size_t k = 0; k < count && coupling[k].size > COUPLED * coupling[0].size; k++)
        relate(c, coupling[k].i, coupling[k].j, -1);
    free(coupling);
    return coupling != NULL;
}

// All states that are not known to be positions change their sign: Euler's equations of a top.
static void
turn_all(Choice *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        int8_t parity;
        c->sign[i] = find(c, i, &parity) == c->n ? parity : -1;
    }
}

static bool
find_signs(Choice *c)
{
    for (uint32_t i = 0; i <= c->n; i++) {
        c->parent[i] = i;
        c->parity[i] = 1;
    }
    if (!relate_derivatives(c))
        return false;
    relate_depths(c);
    // Velocities that are known to be such are set to zero: there J couples the two kinds only.
    for (uint32_t i = 0; i < c->n; i++) {
        int8_t parity;
        bool known = find(c, i, &parity) == c->n;
        c->y[i] = known && parity < 0 ? 0 : c->run->y[i];
    }
    if ((!differentiate(c, c->y) && !differentiate(c, c->run->y)) || !relate_couplings(c))
        return false;
    for (uint32_t i = 0; i < c->n; i++)
        find(c, i, &c->sign[i]);
    return true;
}

// --- the tests

// What is far below the other derivatives is rounding.
static void
note_rates(Choice *c, const double *f)
{
    double most = 0;
    for (uint32_t i = 0; i < c->n; i++)
        most = fmax(most, fabs(f[i]) / c->size[i]);
    for (uint32_t i = 0; i < c->n; i++)
        c->rate[i] = fmax(c->rate[i], fmax(fabs(f[i]), 1e-6 * most * c->size[i]));
}

static bool
is_reversible(Choice *c)
{
    for (int k = 0; k < SAMPLES; k++) {
        beside(c, c->y);
        if (!slope(c, c->run->time, c->y, c->f))
            return false;
        for (uint32_t i = 0; i < c->n; i++)
            c->y[i] *= c->sign[i];
        if (!slope(c, c->run->time, c->y, c->other))
            return false;
        note_rates(c, c->f);
        note_rates(c, c->other);
        for (uint32_t i = 0; i < c->n; i++)
            if (!(fabs(c->other[i] + c->sign[i] * c->f[i]) <= SAME * c->rate[i]))
                return false;
    }
    return true;
}

// The start may be near the end of the domain: a coin that lies almost flat.
static bool
has_values(Choice *c)
{
    for (c->move = MOVE; c->move >= LEAST_MOVE; c->move /= 10) {
        beside(c, c->y);
        if (slope(c, c->run->time, c->y, c->f))
            return true;
    }
    return false;
}

// At the point and with the slopes of has_values().
static bool
is_autonomous(Choice *c)
{
    double span = c->run->options->stop - c->run->time;
    memset(c->rate, 0, c->n * sizeof *c->rate);
    note_rates(c, c->f);
    for (int k = 0; k < SAMPLES; k++) {
        if (!slope(c, c->run->time + span * (k + 0.372) / SAMPLES, c->y, c->other))
            return false;
        for (uint32_t i = 0; i < c->n; i++)
            if (!(fabs(c->other[i] - c->f[i]) <= SAME * c->rate[i]))
                return false;
    }
    return true;
}

// x := J x.
static void
apply(const Choice *c, double *x, double *work)
{
    for (uint32_t i = 0; i < c->n; i++) {
        work[i] = 0;
        for (uint32_t j = 0; j < c->n; j++)
            work[i] += c->jacobian[(size_t)j * c->n + i] * x[j];
    }
    memcpy(x, work, c->n * sizeof *x);
}

// By J^2, because J takes positions to velocities and back.
static double
fastest_rate(Choice *c)
{
    double square = 0;
    for (uint32_t i = 0; i < c->n; i++)
        c->y[i] = random_around_zero(&c->random);
    for (int k = 0; k < ROUNDS; k++) {
        double before = vector_length(c->y, c->n);
        for (uint32_t i = 0; i < c->n && before > 0; i++)
            c->y[i] /= before;
        apply(c, c->y, c->other);
        apply(c, c->y, c->other);
        square = vector_length(c->y, c->n);
    }
    return sqrt(square);
}

// What the derivatives lead to before they turn, in states' sizes: J^-2 f. Where nothing turns them it is what they lead to in
// the run; beyond the sizes of all states the Jacobian says nothing.
static double
amplitude_of(Choice *c)
{
    double span = c->run->options->stop - c->run->time, most = sqrt(c->n), amplitude;
    Rank *rank = rank_create(c->n, c->n);
    if (!rank)
        return most;
    memcpy(rank_matrix(rank), c->jacobian, (size_t)c->n * c->n * sizeof *c->jacobian);
    if (!rank_factor(rank, NULL, DIFFERENCE, c->n)) {
        rank_free(&rank);
        return most;
    }
    rank_solve(rank, c->y, c->other);
    rank_solve(rank, c->other, c->point);
    rank_free(&rank);
    amplitude = vector_length(c->point, c->n);
    apply(c, c->point, c->other);
    apply(c, c->point, c->other);
    for (uint32_t i = 0; i < c->n; i++)
        c->other[i] = c->y[i] - c->point[i];
    return fmin(amplitude + vector_length(c->other, c->n) * span * span, most);
}

static double
own_rate(Choice *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->y[i] = c->run->yp[i] / c->size[i];
    double amplitude = amplitude_of(c);
    return amplitude > 0 ? sqrt(vector_length(c->y, c->n) / amplitude) : 0;
}

// Collocation is solved to rounding. Where f has more of it than the tolerance admits in a step (large loops, stiff
// springs), it is looked for in vain: f is compared with its values at points that differ by rounding.
static bool
is_rough(Choice *c, double rate)
{
    const Run *run = c->run;
    if (!slope(c, run->time, run->y, c->f))
        return true;
    for (int k = 0; k < SAMPLES; k++) {
        for (uint32_t i = 0; i < c->n; i++)
            c->y[i] = run->y[i] * (1 + 4 * DBL_EPSILON * random_around_zero(&c->random));
        if (!slope(c, run->time, c->y, c->other))
            return true;
        for (uint32_t i = 0; i < c->n; i++) {
            double allowed = run->tolerance * c->size[i] + run->abstol[i];
            if (!(fabs(c->other[i] - c->f[i]) <= ROUGH * allowed * rate))
                return true;
        }
    }
    return false;
}

static const char *
look_at_rates(Choice *c)
{
    if (!differentiate(c, c->run->y))
        return "the model has no values beside its start";
    double fastest = fastest_rate(c), rate = own_rate(c);
    c->turns = fastest * (c->run->options->stop - c->run->time) / (2 * acos(-1));
    if (c->turns < LEAST_TURNS)
        return "nothing turns back within the run";
    if (!(fastest <= STIFF * rate))
        return "the model is stiff";
    return is_rough(c, rate) ? "its rounding exceeds the tolerance" : NULL;
}

// --- the choice

static bool
allocate(Choice *c)
{
    size_t n = c->n;
    c->kept = malloc(((size_t)c->run->model->nv + 1) * sizeof *c->kept);
    c->y = calloc(n * n + 6 * n + 1, sizeof *c->y);
    c->parent = calloc(n + 1, sizeof *c->parent);
    c->parity = calloc(2 * n + 1, sizeof *c->parity);
    bool wanted = c->run->deficient && c->run->model->n_constraints;
    c->projection = wanted ? projection_create(c->run) : NULL;
    if (!c->kept || !c->y || !c->parent || !c->parity || (wanted && !c->projection))
        return false;
    c->f = c->y + n;
    c->other = c->f + n;
    c->size = c->other + n;
    c->rate = c->size + n;
    c->point = c->rate + n;
    c->jacobian = c->point + n;
    c->sign = c->parity + n + 1;
    return true;
}

static void
begin(Choice *c)
{
    const mdl_model *model = c->run->model;
    memcpy(c->kept, c->run->v, model->nv * sizeof *c->kept);
    for (uint32_t i = 0; i < c->n; i++)
        c->size[i] = fmax(fabs(c->run->y[i]), fabs(c->kept[model->nominal + i]));
}

static void
end(Choice *c)
{
    memcpy(c->run->v, c->kept, c->run->model->nv * sizeof *c->kept);
}

static void
release(Choice *c)
{
    projection_free(&c->projection);
    free(c->kept);
    free(c->y);
    free(c->parent);
    free(c->parity);
}

static const char *
look(Choice *c)
{
    if (!has_values(c))
        return "the model has no values beside its start";
    if (!is_autonomous(c))
        return "the motion is driven";
    if (!find_signs(c))
        return "the model has no values beside its start";
    bool reversible = is_reversible(c);
    turn_all(c);
    if (!reversible && !is_reversible(c))
        return "the motion is not reversible";
    return look_at_rates(c);
}

// Impacts and switches between motions that are reversible leave gauss what it is good for: it begins anew behind them with
// the same step. Instants drive the motion, and dry friction takes the energy that gauss is to keep.
static bool
has_lossy_events(const Run *run)
{
    const mdl_model *model = run->model;
    bool friction = false;
    for (uint32_t k = 0; k < model->n_sgns; k++)
        friction = friction || !model->sgn[k].unilateral;
    return friction || model->n_samples || model->n_time_relations || run->delays || run->transports;
}

static const char *
rule_out(const Run *run)
{
    if (has_lossy_events(run))
        return "the model has dry friction, delays, transport or events at instants";
    if (run->modes)
        return "the model has fractional derivatives";
    if (!run->model->nx)
        return "nothing is integrated";
    return run->model->nx > MOST_STATES ? "the model is large" : NULL;
}

void
choice_warn_of_stiffness(Run *run)
{
    Choice c = {.run = run, .n = run->model->nx, .random = 88172645463325252u};
    double fastest = 0, rate = 0;
    if (!c.n || c.n > MOST_STATES)
        return;
    if (allocate(&c)) {
        begin(&c);
        if (differentiate(&c, run->y)) {
            fastest = fastest_rate(&c);
            rate = own_rate(&c);
        }
        end(&c);
    }
    release(&c);
    if (rate > 0 && fastest > STIFF * rate && fastest * (run->options->stop - run->time) > 1)
        run_message(run, MDL_WARNING, "the model is stiff: what is fastest in it has a rate of %.3g/s, %.3g times that of the "
                    "motion at the start, and the constant step of the gauss method follows it to the end; --solver=ida "
                    "does not", fastest, fastest / rate);
}

static const char *
look_at_run(Run *run, double *turns)
{
    Choice c = {.run = run, .n = run->model->nx, .random = 88172645463325252u};
    const char *why = "memory is exhausted";
    if (allocate(&c)) {
        begin(&c);
        why = look(&c);
        end(&c);
    }
    release(&c);
    *turns = c.turns;
    return why;
}

mdl_solver
choice_of_solver(Run *run, const char **why)
{
    double turns;
    *why = rule_out(run);
    if (!*why && run->options->form == MDL_FORM_DAE)
        *why = "the dae form is wanted";
    if (!*why)
        *why = look_at_run(run, &turns);
    if (!*why && turns < FEW_TURNS && contest_begins_explicit(run))
        *why = "it turns back a few times only";
    if (*why)
        return MDL_SOLVER_IDA;
    *why = "the motion is reversible and not stiff";
    return MDL_SOLVER_GAUSS;
}

bool
choice_is_reversible(Run *run)
{
    double turns;
    return !rule_out(run) && !look_at_run(run, &turns);
}
