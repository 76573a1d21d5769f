// calls.c: functions that are called at run time against the same functions written as C.
//
// usage: calls MODEL.dae, the flat text of models/calls.mdl. Prints for each function the time of one call by generated code (whatever
// equations it is in), that of C compiled with -O2, and their ratio. Goal: 1.2. The values are compared.
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

// Only the instructions of one function are kept.
static void
compare(const char *path, uint32_t which)
{
    Syms *syms = syms_create();
    Sources *sources = sources_create();
    Diags *diags = diags_create(sources);
    int error = 0, file = sources_read(sources, path, &error);
    Dae *dae = file < 0 ? NULL : dae_read(syms, sources, file, false, diags);
    Compilation compilation = {.dae = dae, .diags = diags, .results = true, .parameters = true, .names = true};
    Out why = {0};
    Given *given = calloc(1, sizeof *given);
    if (!dae || !pipeline_run(&compilation, FACT_SYS, NULL, &why))
        exit(1);
    Sys *sys = compilation.sys;
    mdl_model *model = sys->model;
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (!strcmp(sys->funcs.at[f].name, "outputs")) {
            sys->funcs.at[f].first += which*EQUATIONS;
            sys->funcs.at[f].count = EQUATIONS;
        }
    EngineOptions options = {.opt = -1};
    Engine *engine = engine_llvm(sys, &options, &why);
    double *v = calloc(model->nv, sizeof *v);
    if (!engine || !v || !given)
        exit(1);
    memcpy(v, model->v0, model->nv*sizeof *v);
    v[0] = 1;
    if (model->parameters.fn)
        model->parameters.fn(v, model->parameters.self);
    *place_of(model, v, "degree") = 8;
    take_given(model, v, given);
    Measured m = {v, model->outputs, given, functions[which].by_hand};
    double ours = best_of(generated, &m), theirs = best_of(by_hand, &m), worst = 0;
    for (int i = 0; i < EQUATIONS; i++)
        worst = fmax(worst, fabs(given->out[i] - element_of(model, v, functions[which].name, i)));
    printf("%-8s %8.2f ns generated  %8.2f ns by hand  ratio %5.2f%s\n", functions[which].name, ours, theirs, ours/theirs,
           worst < 1e-12 ? "" : "  FAIL: other values");
    engine_free(&engine);
    free(v);
    free(given);
    compilation_free(&compilation);
    diags_free(&diags);
    sources_free(&sources);
    syms_free(&syms);
    out_free(&why);
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (uint32_t which = 0; which < sizeof functions/sizeof *functions; which++)
        compare(argv[1], which);
    return 0;
}
