// Set-valued laws that change together: p = K (b - X), p in a*Sgn(X), all at rest. The modes at the start are compared
// with an independent solution (projected Gauss-Seidel), and must not depend on the order of the laws.
#include "tests/runtime/small.h"

enum { N = 8, PLACE_P = EXTRA(N, 0), PLACE_MODE = PLACE_P + N, PLACE_A = PLACE_MODE + N, PLACE_JB = PLACE_A + N,
       PLACES = PLACE_JB + N * N };

typedef struct Contacts {
    double compliance[N][N];  // D: X = b - D p
    double stiffness[N][N];   // K, its inverse
    double b[N], a[N];
} Contacts;

static double
uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53 * 2 - 1;
}

static void
invert(const double from[N][N], double to[N][N])
{
    double m[N][2 * N] = {{0}};
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++)
            m[i][j] = from[i][j];
        m[i][N + i] = 1;
    }
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k; i < N; i++)
            best = fabs(m[i][k]) > fabs(m[best][k]) ? i : best;
        for (int j = 0; j < 2 * N; j++) {
            double t = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = t;
        }
        for (int i = 0; i < N; i++)
            for (int j = 2 * N - 1; i != k && j >= k; j--)
                m[i][j] -= m[i][k] / m[k][k] * m[k][j];
        for (int j = 2 * N - 1; j >= k; j--)
            m[k][j] /= m[k][k];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            to[i][j] = m[i][N + j];
}

static void
contacts_eval(double *v, const void *self)
{
    const Contacts *at = self;
    for (int i = 0; i < N; i++) {
        double p = 0;
        for (int j = 0; j < N; j++)
            p += at->stiffness[i][j] * (at->b[j] - v[YP(N, j)]);
        v[PLACE_P + i] = p;
        v[R(N, i)] = v[PLACE_MODE + i] == 0 ? v[YP(N, i)] : p - v[PLACE_MODE + i] * v[PLACE_A + i];
    }
}

static void
contacts_jacobian(double *v, const void *self)
{
    const Contacts *at = self;
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            v[PLACE_JB + N * j + i] = v[PLACE_MODE + i] == 0 ? i == j : -at->stiffness[i][j];
}

static void
contacts_after(double *v, const void *self)
{
    (void)self;
    for (int i = 0; i < N; i++)
        v[DX(N, i)] = v[YP(N, i)];
}

// Runs the model over nearly no time; p and X at the start. Law k of the model is contact order[k].
static int
solve(const Contacts *contacts, const int *order, double *p, double *x, char *text, size_t size)
{
    static const char *const names[N] = {"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"};
    uint32_t start[N + 1], row[N * N], none[N + 1] = {0}, unknown[N], residual[N];
    uint8_t implicit[N];
    double v0[PLACES];
    mdl_sgn sgn[N];
    mdl_output output[2 * N];
    Contacts shuffled;
    for (int i = 0; i < N; i++) {
        shuffled.a[i] = contacts->a[order[i]];
        shuffled.b[i] = contacts->b[order[i]];
        for (int j = 0; j < N; j++)
            shuffled.stiffness[i][j] = contacts->stiffness[order[i]][order[j]];
    }
    mdl_model model = small_model(v0, PLACES, N, N, names);
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++)
            row[N * i + j] = j;
        start[i] = N * i;
        unknown[i] = YP(N, i);
        residual[i] = R(N, i);
        implicit[i] = 1;
        v0[PLACE_A + i] = shuffled.a[i];
        sgn[i] = (mdl_sgn){PLACE_MODE + i, Y(N, i), PLACE_P + i, PLACE_A + i, (int32_t)i, DX(N, i), names[i], .level = 1};
        output[i] = (mdl_output){names[i], PLACE_P + i, 1, MDL_REAL, 0, 0};
        output[N + i] = (mdl_output){names[i], YP(N, i), 1, MDL_REAL, 0, 0};
    }
    start[N] = N * N;
    mdl_block block = {.m = N, .unknown = unknown, .residual = residual, .eval = {contacts_eval, &shuffled},
                       .jacobian = {contacts_jacobian, &shuffled}, .jac = {N, N, N * N, start, row, PLACE_JB},
                       .linear = 1, .unknown_name = names, .equation = names};
    mdl_step step[] = {{.block = &block}, {.call = {contacts_after, NULL}}};
    model.implicit = implicit;
    model.n_dynamics = 2;
    model.dynamics = step;
    model.jac_y = (mdl_matrix){N, N, 0, none, row, PLACE_JB};
    model.jac_yp = (mdl_matrix){N, N, N * N, start, row, PLACE_JB};
    model.jacobian = (mdl_code){contacts_jacobian, &shuffled};
    model.n_sgns = N;
    model.sgn = sgn;
    model.output = output;
    model.n_outputs = 2 * N;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = 1e-6;
    trial_run(&trial, &model);
    int status = trial.status;
    for (uint32_t i = 0; i < N && trial.rows.count; i++) {
        p[order[i]] = rows_at(&trial.rows, 0, 1 + i);
        x[order[i]] = rows_at(&trial.rows, 0, 1 + N + i);
    }
    snprintf(text, size, "%.500s", trial.log.text);
    trial_end(&trial);
    return status;
}

// Projected Gauss-Seidel on p; converges when D is symmetric and positive definite.
static void
reference(const Contacts *at, double *p)
{
    memset(p, 0, N * sizeof *p);
    for (int round = 0; round < 20000; round++)
        for (int i = 0; i < N; i++) {
            double x = at->b[i];
            for (int j = 0; j < N; j++)
                x -= at->compliance[i][j] * p[j];
            p[i] = fmin(fmax(p[i] + x / at->compliance[i][i], -at->a[i]), at->a[i]);
        }
}

// D = L L' + 0.05, a random right side, bands of very different size.
static void
draw(Contacts *at, uint64_t *seed)
{
    double l[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            l[i][j] = uniform(seed);
    for (int i = 0; i < N; i++) {
        at->b[i] = 3 * uniform(seed);
        at->a[i] = exp(2 * uniform(seed));
        for (int j = 0; j < N; j++) {
            at->compliance[i][j] = i == j ? 0.05 : 0;
            for (int k = 0; k < N; k++)
                at->compliance[i][j] += l[i][k] * l[j][k];
        }
    }
    invert(at->compliance, at->stiffness);
}

static double
distance(const double *one, const double *other)
{
    double most = 0;
    for (int i = 0; i < N; i++)
        most = fmax(most, fabs(one[i] - other[i]));
    return most;
}

static void
test_random(Check *state)
{
    uint64_t seed = 7;
    double worst = 0, apart = 0;
    int failed = 0, moving = 0;
    char text[512] = "";
    for (int trial = 0; trial < 150; trial++) {
        Contacts contacts;
        int order[N], other[N];
        double p[N] = {0}, x[N] = {0}, q[N] = {0}, y[N] = {0}, expected[N];
        draw(&contacts, &seed);
        reference(&contacts, expected);
        for (int i = 0; i < N; i++) {
            order[i] = i;
            other[i] = (5 * i + trial) % N;
        }
        failed += solve(&contacts, order, p, x, text, sizeof text) != MDL_OK;
        failed += solve(&contacts, other, q, y, text, sizeof text) != MDL_OK;
        worst = fmax(worst, distance(p, expected));
        apart = fmax(apart, fmax(distance(p, q), distance(x, y)));
        for (int i = 0; i < N; i++)
            moving += x[i] != 0;
    }
    check(state, !failed && worst < 1e-6 && apart < 1e-9 && moving > 100, "coupled_laws",
          "%d failed, error %.3g, orders differ by %.3g, %d slip; %s", failed, worst, apart, moving, text);
}

// D = 1 + a skew matrix is positive definite, and changing all wrong laws at once goes round in circles on it.
static void
test_cycle(Check *state)
{
    static const double skew[4][4] = {{1, -2, 1, -3}, {2, 1, 1, 0}, {-1, -1, 1, -2}, {3, 0, 2, 1}};
    static const double b[4] = {19, -37, 33, 10}, a[4] = {14, 7, 2, 9};
    Contacts contacts = {0};
    int order[N];
    double p[N] = {0}, x[N] = {0}, worst = 0;
    char text[512];
    for (int i = 0; i < N; i++) {
        order[i] = i;
        contacts.a[i] = i < 4 ? a[i] : 1;
        contacts.b[i] = i < 4 ? b[i] : 0;
        for (int j = 0; j < N; j++)
            contacts.compliance[i][j] = i < 4 && j < 4 ? skew[i][j] : i == j;
    }
    invert(contacts.compliance, contacts.stiffness);
    int status = solve(&contacts, order, p, x, text, sizeof text);
    for (int i = 0; i < 4; i++) {
        worst = fmax(worst, fabs(p[i]) - a[i]);
        worst = fmax(worst, fabs(p[i]) < a[i] * (1 - 1e-9) ? fabs(x[i]) : -p[i] * x[i]);
    }
    check(state, status == MDL_OK && worst < 1e-9, "circling_laws", "status %d, wrong by %g, p %g %g %g %g; %s", status,
          worst, p[0], p[1], p[2], p[3], text);
}

int
main(void)
{
    Check state = {0};
    test_random(&state);
    test_cycle(&state);
    return check_end(&state);
}
