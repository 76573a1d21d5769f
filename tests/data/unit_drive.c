// Drives a functional mock-up unit of FMI 3 without any tool: unit_drive LIBRARY TOKEN STOP N_STATES N_INDICATORS REFERENCE...
// The references are those of the states, of their derivatives, and then of what is looked at. Prints the values of what is looked at, at the
// end of a co-simulation and of a model exchange with a Runge-Kutta method of its own, and a line `ok` or `FAIL` for each property.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/fmu/fmi3.h"
#include "runtime/model/platform.h"

typedef fmi3Status (*Plain)(fmi3Instance);
typedef fmi3Status (*Values)(fmi3Instance, fmi3Float64[], size_t);
static fmi3Instance (*make_cs)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean, const fmi3ValueReference[], size_t,
                               fmi3InstanceEnvironment, fmi3LogMessageCallback, fmi3IntermediateUpdateCallback);
static fmi3Instance (*make_me)(fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3InstanceEnvironment, fmi3LogMessageCallback);
static fmi3Status (*begin)(fmi3Instance, fmi3Boolean, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Float64);
static Plain end_begin, event_mode, continuous_mode, reset, terminate;
static void (*destroy)(fmi3Instance);
static fmi3Status (*get)(fmi3Instance, const fmi3ValueReference[], size_t, fmi3Float64[], size_t);
static fmi3Status (*step)(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Float64 *);
static fmi3Status (*update)(fmi3Instance, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Float64 *);
static fmi3Status (*completed)(fmi3Instance, fmi3Boolean, fmi3Boolean *, fmi3Boolean *);
static fmi3Status (*set_time)(fmi3Instance, fmi3Float64);
static fmi3Status (*set_states)(fmi3Instance, const fmi3Float64[], size_t);
static Values get_states, get_rates, get_indicators;
static fmi3Status (*keep)(fmi3Instance, fmi3FMUState *), (*go_back)(fmi3Instance, fmi3FMUState), (*drop)(fmi3Instance, fmi3FMUState *);
static fmi3Status (*size_of)(fmi3Instance, fmi3FMUState, size_t *), (*write_to)(fmi3Instance, fmi3FMUState, fmi3Byte[], size_t);
static fmi3Status (*read_from)(fmi3Instance, const fmi3Byte[], size_t, fmi3FMUState *);
static fmi3Status (*derivative)(fmi3Instance, const fmi3ValueReference[], size_t, const fmi3ValueReference[], size_t, const fmi3Float64[], size_t,
                                fmi3Float64[], size_t);

static void *library;
static const char *token;
static double stop;
static size_t n, ni, n_seen;
static fmi3ValueReference reference[256], *seen;

static void
load(const char *name, void *slot)
{
    void *found = platform_symbol(library, name);
    if (!found) {
        printf("FAIL no %s\n", name);
        exit(1);
    }
    memcpy(slot, &found, sizeof found);
}

static void
say(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    (void)environment;
    printf("%d %s: %s\n", status, category, text);
}

static void
check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "FAIL", what);
}

static fmi3Instance
start(bool exchange)
{
    fmi3Instance i = exchange ? make_me("x", token, NULL, false, false, NULL, say)
                              : make_cs("x", token, NULL, false, false, false, false, NULL, 0, NULL, say, NULL);
    if (!i || begin(i, true, 1e-8, 0, true, stop) || end_begin(i)) {
        puts("FAIL start");
        exit(1);
    }
    return i;
}

static double
cosimulate(fmi3Instance i, double time, double until, double length, double *value)
{
    bool a, b, c;
    double last;
    while (time < until - 1e-9) {
        if (step(i, time, length, true, &a, &b, &c, &last)) {
            puts("FAIL step");
            exit(1);
        }
        time = last;
    }
    get(i, seen, n_seen, value, n_seen);
    return time;
}

// --- model exchange

static void
rates_at(fmi3Instance i, double time, const double *x, double *f)
{
    set_time(i, time);
    set_states(i, x, n);
    if (get_rates(i, f, n)) {
        puts("FAIL rates");
        exit(1);
    }
}

static void
runge_kutta(fmi3Instance i, double time, double h, const double *x, double *out)
{
    double k[4][64], y[64];
    rates_at(i, time, x, k[0]);
    for (int s = 1; s < 4; s++) {
        double a = s < 3 ? h / 2 : h;
        for (size_t j = 0; j < n; j++)
            y[j] = x[j] + a * k[s - 1][j];
        rates_at(i, time + a, y, k[s]);
    }
    for (size_t j = 0; j < n; j++)
        out[j] = x[j] + h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

static bool
crosses(fmi3Instance i, double time, const double *x)
{
    double z[256];
    set_time(i, time);
    set_states(i, x, n);
    get_indicators(i, z, ni);
    for (size_t k = 0; k < ni; k++)
        if (z[k] <= 0)
            return true;
    return false;
}

static double
handle(fmi3Instance i, double *x)
{
    bool again, ends, nominals, moved, has_next;
    double next = INFINITY;
    event_mode(i);
    do
        if (update(i, &again, &ends, &nominals, &moved, &has_next, &next)) {
            puts("FAIL update");
            exit(1);
        }
    while (again);
    continuous_mode(i);
    get_states(i, x, n);
    return has_next ? next : INFINITY;
}

// From an instance in continuous-time mode; `next` is its next event of time.
static double
exchange(fmi3Instance i, double *x, double time, double until, double h, double next, int *events)
{
    while (time < until - 1e-12) {
        double y[64], low = 0, high = fmin(fmin(h, until - time), next - time);
        bool event, ends;
        if (high > 1e-14) {
            runge_kutta(i, time, high, x, y);
            if (crosses(i, time + high, y)) {
                for (int k = 0; k < 60 && high - low > 1e-14; k++) {
                    double half = (low + high) / 2;
                    runge_kutta(i, time, half, x, y);
                    *(crosses(i, time + half, y) ? &high : &low) = half;
                }
                runge_kutta(i, time, high, x, y);
            }
            time += high;
            memcpy(x, y, n * sizeof *x);
        }
        set_time(i, time);
        set_states(i, x, n);
        if (completed(i, true, &event, &ends)) {
            puts("FAIL completed");
            exit(1);
        }
        if (event || crosses(i, time, x) || time >= next - 1e-14) {
            next = handle(i, x);
            ++*events;
        }
    }
    return next;
}

static fmi3Instance
start_exchange(double *x, double *next)
{
    bool a, b, c, d, has_next;
    fmi3Instance i = start(true);
    update(i, &a, &b, &c, &d, &has_next, next);
    if (!has_next)
        *next = INFINITY;
    continuous_mode(i);
    get_states(i, x, n);
    return i;
}

static void
print(const char *name, const double *value)
{
    printf("%s", name);
    for (size_t k = 0; k < n_seen; k++)
        printf(" %.12g", value[k]);
    puts("");
}

static fmi3Byte *
bytes_of(fmi3Instance i, size_t *size)
{
    fmi3FMUState state = NULL;
    keep(i, &state);
    size_of(i, state, size);
    fmi3Byte *bytes = malloc(*size);
    write_to(i, state, bytes, *size);
    drop(i, &state);
    return bytes;
}

static void
restore(fmi3Instance i, const fmi3Byte *bytes, size_t size)
{
    fmi3FMUState state = NULL;
    if (read_from(i, bytes, size, &state) || go_back(i, state))
        puts("FAIL restore");
    drop(i, &state);
}

static void
check_states(void)
{
    double first[256], again[256], other[256], x[64], next, mid[64];
    size_t size;
    int events = 0;
    fmi3Instance a = start(false), b = start(false);
    double time = cosimulate(a, 0, stop / 2, stop / 40, first);
    fmi3Byte *bytes = bytes_of(a, &size);
    cosimulate(a, time, stop, stop / 40, first);
    restore(a, bytes, size);
    cosimulate(a, time, stop, stop / 40, again);
    restore(b, bytes, size);
    cosimulate(b, time, stop, stop / 40, other);
    check(!memcmp(first, again, n_seen * sizeof *first) && !memcmp(first, other, n_seen * sizeof *first), "co-simulation goes on from a state to the bit");
    free(bytes);
    destroy(a);
    destroy(b);
    a = start_exchange(x, &next);
    next = exchange(a, x, 0, stop / 2, stop / 1000, next, &events);
    memcpy(mid, x, sizeof x);
    bytes = bytes_of(a, &size);
    exchange(a, x, stop / 2, stop, stop / 1000, next, &events);
    get(a, seen, n_seen, first, n_seen);
    restore(a, bytes, size);
    memcpy(x, mid, sizeof x);
    exchange(a, x, stop / 2, stop, stop / 1000, next, &events);
    get(a, seen, n_seen, again, n_seen);
    b = start(true);
    restore(b, bytes, size);
    memcpy(x, mid, sizeof x);
    exchange(b, x, stop / 2, stop, stop / 1000, next, &events);
    get(b, seen, n_seen, other, n_seen);
    check(!memcmp(first, again, n_seen * sizeof *first) && !memcmp(first, other, n_seen * sizeof *first), "model exchange goes on from a state to the bit");
    free(bytes);
    destroy(a);
    destroy(b);
}

static void
check_resets(void)
{
    double first[256], again[256];
    bool same = true;
    fmi3Instance a = start(false);
    cosimulate(a, 0, stop, stop / 20, first);
    for (int k = 0; k < 20; k++) {
        if (k % 2 ? terminate(a) || reset(a) : reset(a))
            same = false;
        same = same && begin(a, true, 1e-8, 0, true, stop) == fmi3OK && end_begin(a) == fmi3OK;
        cosimulate(a, 0, stop, stop / 20, again);
        same = same && !memcmp(first, again, n_seen * sizeof *first);
    }
    check(same, "resets begin anew");
    destroy(a);
}

static void
check_derivatives(void)
{
    double x[64], y[64], f[64], g[64], next, seed = 1, answer[64], worst = 0;
    int events = 0;
    fmi3Instance a = start_exchange(x, &next);
    exchange(a, x, 0, stop / 3, stop / 1000, next, &events);
    for (size_t j = 0; j < n; j++) {
        double h = 1e-5 * fmax(fabs(x[j]), 1e-2);
        memcpy(y, x, sizeof x);
        y[j] = x[j] + h;
        rates_at(a, stop / 3, y, f);
        y[j] = x[j] - h;
        rates_at(a, stop / 3, y, g);
        rates_at(a, stop / 3, x, y);
        if (derivative(a, reference + n, n, &reference[j], 1, &seed, 1, answer, n))
            puts("FAIL derivative");
        for (size_t k = 0; k < n; k++)
            worst = fmax(worst, fabs(answer[k] - (f[k] - g[k]) / (2 * h)) / (1 + fabs(answer[k])));
    }
    check(worst < 1e-5, "directional derivatives are those of differences");
    destroy(a);
}

int
main(int argc, char **argv)
{
    double value[256], x[64], next;
    int events = 0;
    char why[64];
    library = platform_load(argv[1]);
    if (!library || argc < 6) {
        printf("FAIL %s\n", argc < 6 ? "arguments" : platform_problem(why));
        return 1;
    }
    token = argv[2];
    stop = atof(argv[3]);
    n = (size_t)atoi(argv[4]);
    ni = (size_t)atoi(argv[5]);
    for (int k = 6; k < argc && k < 256; k++)
        reference[k - 6] = (fmi3ValueReference)atoi(argv[k]);
    seen = reference + 2 * n;
    n_seen = (size_t)argc - 6 - 2 * n;
    load("fmi3InstantiateCoSimulation", &make_cs);
    load("fmi3InstantiateModelExchange", &make_me);
    load("fmi3EnterInitializationMode", &begin);
    load("fmi3ExitInitializationMode", &end_begin);
    load("fmi3EnterEventMode", &event_mode);
    load("fmi3EnterContinuousTimeMode", &continuous_mode);
    load("fmi3Reset", &reset);
    load("fmi3Terminate", &terminate);
    load("fmi3FreeInstance", &destroy);
    load("fmi3GetFloat64", &get);
    load("fmi3DoStep", &step);
    load("fmi3UpdateDiscreteStates", &update);
    load("fmi3CompletedIntegratorStep", &completed);
    load("fmi3SetTime", &set_time);
    load("fmi3SetContinuousStates", &set_states);
    load("fmi3GetContinuousStates", &get_states);
    load("fmi3GetContinuousStateDerivatives", &get_rates);
    load("fmi3GetEventIndicators", &get_indicators);
    load("fmi3GetFMUState", &keep);
    load("fmi3SetFMUState", &go_back);
    load("fmi3FreeFMUState", &drop);
    load("fmi3SerializedFMUStateSize", &size_of);
    load("fmi3SerializeFMUState", &write_to);
    load("fmi3DeserializeFMUState", &read_from);
    load("fmi3GetDirectionalDerivative", &derivative);
    fmi3Instance a = start(false);
    cosimulate(a, 0, stop, stop / 50, value);
    print("cs", value);
    destroy(a);
    a = start_exchange(x, &next);
    exchange(a, x, 0, stop, stop / 2000, next, &events);
    get(a, seen, n_seen, value, n_seen);
    print("me", value);
    printf("events %d\n", events);
    destroy(a);
    check(!make_me("x", "another", NULL, false, false, NULL, NULL), "another token is refused");
    check_states();
    check_resets();
    check_derivatives();
    return 0;
}
