// structural.c: time and memory of the structural passes, incidence to torn blocks.
//
// Systems of up to a million equations are written straight into the flat model; then pass_index (incidence,
// first matching, Pantelides), pass_states, pass_causality (incidence, matching, Tarjan) and causal_make
// (assignments and tearing) run on them. Printed per family and order of the equations and variables (natural
// or random): nanoseconds per equation of each pass, the bytes held at the peak of it and those before beyond
// what was there at the start, and the exponent of growth fitted over all sizes. Goals at 10^6: natural 500 ns and 200
// bytes per equation, random 7000 ns. Usage: structural [LARGEST SIZE [FAMILY]].
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "ir/check/check.h"
#include "ir/expr/expr_text.h"
#include "ir/index/index.h"
#include "ir/solve/solve.h"
#include "ir/structure/causal.h"
#include "ir/structure/structure.h"
#include "tests/random.h"

// --- bytes in use, by standing in front of the C library's allocator

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *p);

typedef struct Meter {
    size_t now, most;
} Meter;

static Meter meter; // the allocator has no other place to keep it

static void *
counted(void *p)
{
    meter.now += malloc_usable_size(p);
    meter.most = meter.now > meter.most ? meter.now : meter.most;
    return p;
}

void *
malloc(size_t size)
{
    return counted(__libc_malloc(size));
}

void *
calloc(size_t count, size_t size)
{
    return counted(__libc_calloc(count, size));
}

void *
realloc(void *old, size_t size)
{
    meter.now -= malloc_usable_size(old);
    return counted(__libc_realloc(old, size));
}

void
free(void *p)
{
    meter.now -= malloc_usable_size(p);
    __libc_free(p);
}

// --- systems

static double
random_real(Random *random)
{
    return (random_below(random, 1u << 30) + 0.5) / (1u << 30);
}

// Equation i is form[i] over the variables use[start[i] .. start[i+1]); DER + v is the derivative of v.
enum { DER = 1u << 30, MOST_TERMS = 60, FORMS = MOST_TERMS + 1 };

typedef struct System {
    uint32_t nvars;
    U32Vec form, start, use;
} System;

static const char *const texts[] = {
    "#0 = #1 - #2", "#0 = 3*(#1 - #2)", "#0 = 0", "#0 = #1*#2", "#0 = #1", "#0 = #1*#2 - 9", "#0^2 + #1^2 = 1",
    "2*#0 = #1", "#0 - #1 - #2 = 0",
};
enum { DIFFERENCE, CONDUCT, ZERO, PRODUCT, COPY, FALL, CIRCLE, DOUBLE, NODE, SUM }; // SUM + k: k terms

static void
add(System *system, uint32_t form, uint32_t n, const uint32_t *vars)
{
    vec_push(&system->form, form);
    vec_push(&system->start, system->use.n);
    vec_append(&system->use, vars, n);
}
#define equation(system, form, ...) \
    add((system), (form), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static void
add_sum(System *system, const U32Vec *terms)
{
    add(system, SUM + terms->n, terms->n, terms->at);
}

// Cells with heat flows between them: two equations per cell.
static void
heat_chain(System *system, uint32_t n)
{
    uint32_t cells = n / 2, q = cells;
    system->nvars = 2 * cells + 1;
    for (uint32_t i = 0; i < cells; i++) {
        equation(system, DIFFERENCE, DER + i, q + i, q + i + 1);
        if (i + 1 < cells)
            equation(system, CONDUCT, q + i + 1, i, i + 1);
    }
    equation(system, ZERO, q);
    equation(system, ZERO, q + cells);
}

// Sections of a series resistor and a capacitor to ground: five equations each. Potentials come first.
static void
ladder(System *system, uint32_t n)
{
    uint32_t sections = n / 5, potential = 0;
    system->nvars = 5 * sections + 1;
    equation(system, ZERO, potential);
    for (uint32_t k = 0; k < sections; k++) {
        uint32_t u = 5 * k + 1, i = u + 1, c = u + 2, w = u + 3, next = u + 4;
        equation(system, DIFFERENCE, u, potential, next);
        equation(system, DOUBLE, i, u);
        if (k + 1 < sections)
            equation(system, NODE, i, c, i + 5);
        else
            equation(system, COPY, i, c);
        equation(system, DOUBLE, DER + w, c);
        equation(system, COPY, next, w);
        potential = next;
    }
}

// Square grid of conductances with a leak at each node: one linear loop of nodes and branches.
static void
grid(System *system, uint32_t n)
{
    uint32_t side = (uint32_t)sqrt(n / 3.0), nodes = side * side, along = nodes, across = along + side * (side - 1);
    system->nvars = across + side * (side - 1);
    U32Vec terms = {0};
    for (uint32_t y = 0; y < side; y++) {
        for (uint32_t x = 0; x < side; x++) {
            uint32_t node = y * side + x;
            vec_clear(&terms);
            vec_push(&terms, node);
            if (x + 1 < side) {
                equation(system, CONDUCT, along + y * (side - 1) + x, node, node + 1);
                vec_push(&terms, along + y * (side - 1) + x);
            }
            if (y + 1 < side) {
                equation(system, CONDUCT, across + node, node, node + side);
                vec_push(&terms, across + node);
            }
            if (x)
                vec_push(&terms, along + y * (side - 1) + x - 1);
            if (y)
                vec_push(&terms, across + node - side);
            add_sum(system, &terms);
        }
    }
    vec_free(&terms);
}

// Every equation has a variable of its own and two others.
static void
random_rows(System *system, uint32_t n)
{
    Random random = {11};
    system->nvars = n;
    for (uint32_t i = 0; i < n; i++)
        equation(system, SUM + 3, i, random_below(&random, n), random_below(&random, n));
}

// Sizes of equations and numbers of uses of variables follow power laws.
static void
heavy_tailed(System *system, uint32_t n)
{
    Random random = {12};
    U32Vec terms = {0};
    system->nvars = n;
    for (uint32_t i = 0; i < n; i++) {
        vec_clear(&terms);
        vec_push(&terms, i);
        uint32_t others = (uint32_t)pow(random_real(&random), -0.7);
        for (uint32_t k = 0; k < others && k + 1 < MOST_TERMS; k++)
            vec_push(&terms, (uint32_t)(n * pow(random_real(&random), 3)));
        add_sum(system, &terms);
    }
    vec_free(&terms);
}

// Index 3: four of five equations are differentiated.
static void
pendulums(System *system, uint32_t n)
{
    uint32_t count = n / 5;
    system->nvars = 5 * count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = 5 * i, y = x + 1, vx = x + 2, vy = x + 3, lambda = x + 4;
        equation(system, COPY, DER + x, vx);
        equation(system, COPY, DER + y, vy);
        equation(system, PRODUCT, DER + vx, lambda, x);
        equation(system, FALL, DER + vy, lambda, y);
        equation(system, CIRCLE, x, y);
    }
}

// --- from a system to a flat model

typedef struct Model {
    Sources *sources;
    Syms *syms;
    Diags *diags;
    Dae *dae;
    Reduction reduction;
    Problem problem;
    Causal causal;
} Model;

static void
shuffled(U32Vec *order, uint32_t n, Random *random)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(order, i);
    for (uint32_t i = n; random && i > 1; i--) {
        uint32_t j = random_below(random, i), keep = order->at[i - 1];
        order->at[i - 1] = order->at[j];
        order->at[j] = keep;
    }
}

static Expr
form_shape(Model *model, uint32_t form)
{
    Out text = {0};
    uint32_t error;
    if (form < SUM)
        out_text(&text, texts[form]);
    for (uint32_t k = 0; form >= SUM && k < form - SUM; k++)
        out_printf(&text, "%s%u*#%u", k ? " + " : "", k + 2, k);
    if (form >= SUM)
        out_text(&text, " = 1");
    Expr shape = expr_read(model->dae->exprs, text.text, &error);
    out_free(&text);
    return shape;
}

// Bound like equations of the source: repeated variables are left to the resolver.
static void
model_open(Model *model, const System *system, Random *random)
{
    *model = (Model){0};
    model->sources = sources_create();
    model->syms = syms_create();
    model->diags = diags_create(model->sources);
    Dae *dae = model->dae = dae_create(model->syms, model->sources);
    dae->name = sym_of(model->syms, "Top");
    dae_add_inst(dae, (Inst){.parent = NONE, .name = dae->name});
    uint32_t node = dae_node(dae, 0), n = system->form.n;
    dae_add_declared(dae, (Declaration){.name = sym_of(model->syms, "x"), .count = system->nvars,
                                        .kind = VAR_CONTINUOUS}, 0);
    Expr shape[SUM + FORMS] = {0};
    U32Vec equations = {0}, vars = {0}, row = {0};
    shuffled(&equations, n, random);
    shuffled(&vars, system->nvars, random);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t e = equations.at[i], end = e + 1 < n ? system->start.at[e + 1] : system->use.n;
        uint32_t form = system->form.at[e];
        if (!shape[form])
            shape[form] = form_shape(model, form);
        vec_clear(&row);
        for (uint32_t k = system->start.at[e]; k < end; k++) {
            uint32_t use = system->use.at[k];
            vec_push(&row, use < DER ? vars.at[use] : dae_der(dae, vars.at[use - DER]));
        }
        dae_add_equation(dae, EQN_NORMAL, shape[form], dae_add_row(dae, row.at, row.n), node, (Span){0, 0});
    }
    vec_free(&equations);
    vec_free(&vars);
    vec_free(&row);
}

static void
model_close(Model *model)
{
    causal_free(&model->causal);
    problem_free(&model->problem);
    reduction_free(&model->reduction);
    dae_free(&model->dae);
    diags_free(&model->diags);
    syms_free(&model->syms);
    sources_free(&model->sources);
}

// --- measuring

enum { PASSES = 4 };

typedef struct Figures {
    uint32_t equations, blocks, largest;
    double seconds[PASSES], total;
    size_t bytes[PASSES]; // most held up to the end of the pass
} Figures;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool
run_pass(Model *model, int pass)
{
    switch (pass) {
    case 0: return pass_index(model->dae, &model->reduction, model->diags);
    case 1: return pass_states(model->dae, &model->reduction, model->diags);
    case 2: return pass_causality(model->dae, &model->reduction, &model->problem, model->diags);
    default: causal_make(model->dae, &model->reduction, &model->problem, NULL, &model->causal); return true;
    }
}

static void
largest_block(const Problem *problem, Figures *figures)
{
    figures->blocks = problem->block_start.n - 1;
    for (uint32_t b = 0; b < figures->blocks; b++) {
        uint32_t size = problem->block_start.at[b + 1] - problem->block_start.at[b];
        figures->largest = size > figures->largest ? size : figures->largest;
    }
}

static bool
measure(const System *system, bool permuted, Figures *figures)
{
    Random random = {7};
    Model model;
    *figures = (Figures){.equations = system->form.n};
    model_open(&model, system, permuted ? &random : NULL);
    size_t before = meter.most = meter.now;
    bool good = true;
    for (int pass = 0; pass < PASSES && good; pass++) {
        double start = now();
        good = run_pass(&model, pass);
        figures->seconds[pass] = now() - start;
        figures->total += figures->seconds[pass];
        figures->bytes[pass] = meter.most - before;
    }
    if (good)
        largest_block(&model.problem, figures);
    model_close(&model);
    return good;
}

typedef struct Family {
    const char *name;
    void (*make)(System *system, uint32_t n);
} Family;

// Slope of log(time) over log(size) by least squares.
typedef struct Fit {
    double n, x, y, xx, xy;
} Fit;

static void
fit_add(Fit *fit, double size, double value)
{
    double x = log(size), y = log(value);
    fit->n++;
    fit->x += x;
    fit->y += y;
    fit->xx += x * x;
    fit->xy += x * y;
}

static void
measure_family(const Family *family, uint32_t largest, bool permuted)
{
    Fit fit = {0};
    for (uint32_t n = 1000; n <= largest; n *= 10) {
        System system = {0};
        Figures figures;
        family->make(&system, n);
        bool good = measure(&system, permuted, &figures);
        vec_free(&system.form);
        vec_free(&system.start);
        vec_free(&system.use);
        if (!good) {
            printf("FAIL structural: %s of %u equations\n", family->name, n);
            return;
        }
        double scale = 1e9 / figures.equations;
        fit_add(&fit, figures.equations, figures.total);
        printf("%-12s %-7s %8u %8u %8u", family->name, permuted ? "random" : "natural", figures.equations,
               figures.blocks, figures.largest);
        for (int pass = 0; pass < PASSES; pass++)
            printf(" %6.0f %4.0f", figures.seconds[pass] * scale, (double)figures.bytes[pass] / figures.equations);
        printf(" %8.0f", figures.total * scale);
        if (n * 10ull > largest && fit.n > 1)
            printf("  %5.2f", (fit.n * fit.xy - fit.x * fit.y) / (fit.n * fit.xx - fit.x * fit.x));
        printf("\n");
    }
}

int
main(int argc, char **argv)
{
    static const Family families[] = {
        {"heat chain", heat_chain}, {"RC ladder", ladder}, {"grid", grid}, {"random", random_rows},
        {"heavy tails", heavy_tailed}, {"pendulums", pendulums},
    };
    uint32_t largest = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    printf("%-12s %-7s %8s %8s %8s %11s %11s %11s %11s %8s  %s\n", "ns and bytes per equation", "", "", "", "",
           "index", "states", "causality", "solve", "", "");
    printf("%-12s %-7s %8s %8s %8s %6s %4s %6s %4s %6s %4s %6s %4s %8s  %s\n", "family", "order", "equations", "blocks",
           "largest", "ns", "B", "ns", "B", "ns", "B", "ns", "B", "ns", "growth");
    for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
        if (argc > 2 && strcmp(argv[2], families[f].name))
            continue;
        measure_family(&families[f], largest, false);
        measure_family(&families[f], largest, true);
    }
    return 0;
}
