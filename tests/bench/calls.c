// calls.c: functions that are called at run time against the same functions written as C.
//
// usage: calls MODEL.dae RATES.dae..., the flat texts of models/calls.mdl. Prints for each function the time of one call by generated code (whatever
// equations it is in), that of C compiled with -O2, and their ratio. Goal: 1.2. The values are compared. For each model of rates then
// what a rate takes alone and its derivative by the state alone, which computes the value, too. Goal: 2 times. The derivatives are compared with differences.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/code/backend.h"
#include "ir/pipeline/pipeline.h"

enum { ROUNDS = 400, REPEATS = 9, EQUATIONS = 200, POINTS = 10 };

static double
seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec*1e-9;
}

// --- by hand

typedef struct Given {
    double p[EQUATIONS], u[POINTS], y[POINTS], time;
    int degree;
    double out[EQUATIONS];
} Given;

static double
root(double a)
{
    double x = a, d = 1;
    while (fabs(d) > 1e-10) {
        d = (x*x - a)/(2*x);
        x -= d;
    }
    return x;
}

// With the checks of subscripts that the language asks for.
static double
element(const double *v, int k)
{
    if (k < 1 || k > POINTS)
        abort();
    return v[k - 1];
}

static double
looked_up(const double *u, const double *y, double at)
{
    int k = 1;
    while (k < POINTS - 1 && element(u, k + 1 < POINTS ? k + 1 : POINTS) < at)
        k++;
    return element(y, k) + (element(y, k + 1) - element(y, k))*(at - element(u, k))/(element(u, k + 1) - element(u, k));
}

static double
series(double x, int n)
{
    double s = 0;
    for (int k = 1; k <= n; k++)
        s = s*x + k;
    return s;
}

static void
roots(Given *g)
{
    for (int i = 0; i < EQUATIONS; i++)
        g->out[i] = root(g->p[i] + g->time);
}

static void
looked(Given *g)
{
    for (int i = 0; i < EQUATIONS; i++)
        g->out[i] = looked_up(g->u, g->y, g->p[i] + g->time);
}

static void
sums(Given *g)
{
    for (int i = 0; i < EQUATIONS; i++)
        g->out[i] = series(g->time/g->p[i], g->degree);
}

static void
fourths(Given *g)
{
    for (int i = 0; i < EQUATIONS; i++)
        g->out[i] = root(root(g->p[i] + g->time));
}

static const struct {
    const char *name;
    void (*by_hand)(Given *);
} functions[] = {{"roots", roots}, {"looked", looked}, {"sums", sums}, {"fourths", fourths}};

// --- generated

static double *
place_of(const mdl_model *model, double *v, const char *name)
{
    for (uint32_t i = 0; i < model->n_outputs; i++)
        if (!strcmp(model->output[i].name, name))
            return &v[model->output[i].place];
    printf("FAIL calls: no variable %s\n", name);
    exit(1);
}

static double
element_of(const mdl_model *model, double *v, const char *array, int i)
{
    char name[40];
    snprintf(name, sizeof name, "%s[%d]", array, i + 1);
    return *place_of(model, v, name);
}

static void
take_given(const mdl_model *model, double *v, Given *g)
{
    for (int i = 0; i < EQUATIONS; i++)
        g->p[i] = element_of(model, v, "p", i);
    for (int i = 0; i < POINTS; i++) {
        g->u[i] = element_of(model, v, "u", i);
        g->y[i] = element_of(model, v, "y", i);
    }
    g->time = v[0];
    g->degree = (int)*place_of(model, v, "degree");
}

static double
best_of(double (*measured)(void *), void *context)
{
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++)
        best = fmin(best, measured(context));
    return best/(ROUNDS*EQUATIONS)*1e9;
}

typedef struct Measured {
    double *v;
    mdl_code code;
    Given *given;
    void (*by_hand)(Given *);
} Measured;

static double
generated(void *context)
{
    Measured *m = context;
    double start = seconds();
    for (int i = 0; i < ROUNDS; i++) {
        m->v[0] = 1 + 0.001*i;
        m->code.fn(m->v, m->code.self);
    }
    return seconds() - start;
}

static double
by_hand(void *context)
{
    Measured *m = context;
    double start = seconds();
    for (int i = 0; i < ROUNDS; i++) {
        m->given->time = 1 + 0.001*i;
        m->by_hand(m->given);
    }
    return seconds() - start;
}

typedef struct Model {
    Syms *syms;
    Sources *sources;
    Diags *diags;
    Compilation compilation;
    Engine *engine;
    mdl_model *model;
    double *v;
} Model;

// With `only` < UINT32_MAX the instructions of one function alone are kept of the outputs.
static Model
model_of(const char *path, uint32_t only)
{
    Model m = {.syms = syms_create(), .sources = sources_create()};
    m.diags = diags_create(m.sources);
    int error = 0, file = sources_read(m.sources, path, &error);
    Dae *dae = file < 0 ? NULL : dae_read(m.syms, m.sources, file, false, m.diags);
    m.compilation = (Compilation){.dae = dae, .diags = m.diags, .results = true, .parameters = true, .names = true};
    Out why = {0};
    if (!dae || !pipeline_run(&m.compilation, FACT_SYS, NULL, &why))
        exit(1);
    Sys *sys = m.compilation.sys;
    m.model = sys->model;
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (only < UINT32_MAX && !strcmp(sys->funcs.at[f].name, "outputs")) {
            sys->funcs.at[f].first += only*EQUATIONS;
            sys->funcs.at[f].count = EQUATIONS;
        }
    EngineOptions options = {.opt = -1};
    m.engine = engine_llvm(sys, &options, &why);
    m.v = calloc(m.model->nv, sizeof *m.v);
    if (!m.engine || !m.v)
        exit(1);
    memcpy(m.v, m.model->v0, m.model->nv*sizeof *m.v);
    m.v[0] = 1;
    if (m.model->parameters.fn)
        m.model->parameters.fn(m.v, m.model->parameters.self);
    out_free(&why);
    return m;
}

static void
free_model(Model *m)
{
    engine_free(&m->engine);
    free(m->v);
    compilation_free(&m->compilation);
    diags_free(&m->diags);
    sources_free(&m->sources);
    syms_free(&m->syms);
}

static void
compare(const char *path, uint32_t which)
{
    Model a = model_of(path, which);
    Given *given = calloc(1, sizeof *given);
    if (!given)
        exit(1);
    *place_of(a.model, a.v, "degree") = 8;
    take_given(a.model, a.v, given);
    Measured m = {a.v, a.model->outputs, given, functions[which].by_hand};
    double ours = best_of(generated, &m), theirs = best_of(by_hand, &m), worst = 0;
    for (int i = 0; i < EQUATIONS; i++)
        worst = fmax(worst, fabs(given->out[i] - element_of(a.model, a.v, functions[which].name, i)));
    printf("%-8s %8.2f ns generated  %8.2f ns by hand  ratio %5.2f%s\n", functions[which].name, ours, theirs, ours/theirs,
           worst < 1e-12 ? "" : "  FAIL: other values");
    free(given);
    free_model(&a);
}

// Of der(x[i]) = f(x[i]): the rates are one plain step, and the matrix is diagonal. Whose sign its entries have is left open.
static void
rates_and_derivatives(const char *path, const char *name)
{
    Model a = model_of(path, UINT32_MAX);
    const mdl_model *model = a.model;
    double *v = a.v, rate[EQUATIONS], worst = 0;
    if (model->n != EQUATIONS || model->n_dynamics != 1 || model->dynamics[0].block || model->jac_y.nonzeros != EQUATIONS) {
        printf("FAIL calls: %s is of another kind\n", name);
        exit(1);
    }
    for (uint32_t i = 0; i < model->n_discretes; i++)
        v[model->discrete[i].value] = 8;
    for (int i = 0; i < EQUATIONS; i++)
        v[model->y + i] = 1.0007 + 3*(i + 1)/200.0; // no knot of the table
    mdl_call(model->dynamics[0].call, v);
    mdl_call(model->jacobian, v);
    memcpy(rate, &v[model->dx], sizeof rate);
    for (int i = 0; i < EQUATIONS; i++)
        v[model->y + i] += 1e-7;
    mdl_call(model->dynamics[0].call, v);
    for (int i = 0; i < EQUATIONS; i++)
        worst = fmax(worst, fabs(fabs(v[model->jac_y.values + i]) - fabs((v[model->dx + i] - rate[i])/1e-7)));
    Measured m = {.v = v, .code = model->dynamics[0].call};
    double value = best_of(generated, &m);
    m.code = model->jacobian;
    double derivative = best_of(generated, &m);
    printf("%-8s %8.2f ns the value  %8.2f ns with its derivative  ratio %5.2f%s\n", name, value, derivative, derivative/value,
           worst < 1e-3 ? "" : "  FAIL: other derivatives");
    free_model(&a);
}

int
main(int argc, char **argv)
{
    uint32_t kinds = sizeof functions/sizeof *functions;
    if (argc != 2 + (int)kinds)
        return 2;
    for (uint32_t which = 0; which < kinds; which++)
        compare(argv[1], which);
    for (uint32_t which = 0; which < kinds; which++)
        rates_and_derivatives(argv[2 + which], functions[which].name);
    return 0;
}
