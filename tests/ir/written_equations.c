// Tests of the look at points of a run (ir/pipeline/check_rows.h): values that solve the equations pass, each value that is a little wrong is
// found, and what errors of that size explain is not.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/pipeline/pipeline.h"

static const char text[] =
    "model C\n"
    "instance / : C kind 1\n"
    "parameter Real k = 4\n"
    "Real x start 1 fixed\n"
    "Real v start 0 fixed\n"
    "Real f\n"
    "Real g\n"
    "Real w\n"
    "Real h\n"
    "Real q\n"
    "discrete Boolean b\n"
    "discrete Boolean c\n"
    "node 0 component /\n"
    "in 0\n"
    "  der(x) = v\n"
    "  der(v) = f\n"
    "  f = -k*x + g\n"
    "  g = if x > 0 then 2*x else 0\n"
    "  w = sqrt(x)*sin(v) + exp(-x)\n"
    "  h = -w\n"
    "  q = if time < 2 then 1e9*(time - 1) else 3e-7\n"
    "  b = x > 0\n"
    "  c = q > 0\n";

// Two contacts and a friction in a plane.
static const char laws[] =
    "model L\n"
    "instance / : L kind 1\n"
    "Real x start 0 fixed\n"
    "Real v start 0 fixed\n"
    "Real y start 0 fixed\n"
    "Real w start 0 fixed\n"
    "Real n\n"
    "Real m\n"
    "Real s start 0 fixed\n"
    "Real t start 0 fixed\n"
    "Real f\n"
    "Real g\n"
    "node 0 component /\n"
    "in 0\n"
    "  der(x) = v\n"
    "  der(v) = n - 10\n"
    "  n = unilateral(x, 0)\n"
    "  der(y) = w\n"
    "  der(w) = m - 10\n"
    "  m = unilateral(y, 0)\n"
    "  der(s) = 1 - f\n"
    "  der(t) = 2 - g\n"
    "  f = coulomb(0, 3, s, t, 0)\n"
    "  g = coulomb(1, 3, s, t, 0)\n";

typedef struct Value {
    const char *name;
    double value;
} Value;

static void
set(Dae *dae, const Sys *sys, double *v, const char *name, double value)
{
    bool negative;
    Var at = dae_alias(dae, dae_find(dae, name), &negative);
    v[sys->place_of.at[at]] = negative ? -value : value;
}

static int
report(const char *name, bool ok)
{
    printf("%s %s\n", ok ? "ok" : "FAIL", name);
    return !ok;
}

static bool
holds(Compilation *c, const double *v, const char *equation)
{
    Out out = {0};
    bool good = check_holds(c->check, v, 1e-6, 1e-14, &out);
    if (!good && equation)
        good = !strstr(out.text, equation); // false: the expected one was told
    out_free(&out);
    return good;
}

static bool
holds_at(Compilation *c, double *v, const Value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        set(c->dae, c->sys, v, values[i].name, values[i].value);
    return holds(c, v, NULL);
}

// A reaction does not pull, a gap is not below zero, a friction is along what slides and no larger than its limit.
static int
set_valued(Syms *syms, Sources *sources, Diags *diags)
{
    static const struct Case {
        const char *name, *wrong; // the equation that is, or nothing
        double x, n, m, s, t, f, g;
    } cases[] = {
        {"at rest", NULL, 0, 10, 10, 0, 0, 1, 2},
        {"a reaction pulls", "n = unilateral(x, 0)", 0, -1, 10, 0, 0, 1, 2},
        {"a reaction at an open gap", "n = unilateral(x, 0)", 0.1, 10, 10, 0, 0, 1, 2},
        {"an open gap", NULL, 0.1, 0, 10, 0, 0, 1, 2},
        {"a gap below zero", "the gap of this constraint is -0.001", -1e-3, 10, 10, 0, 0, 1, 2},
        {"a gap below zero by its error", NULL, -1e-6, 10, 10, 0, 0, 1, 2},
        {"a small reaction pulls", "n = unilateral(x, 0)", 0, -5e-6, 10, 0, 0, 1, 2},
        {"the same beside a large one", NULL, 0, -5e-6, 1000, 0, 0, 1, 2},
        {"at its limit", NULL, 0, 10, 10, 0, 0, -3, 0},
        {"beyond its limit", "f = coulomb", 0, 10, 10, 0, 0, -3.5, 2},
        {"slides", NULL, 0, 10, 10, 3e-3, 4e-3, 1.8, 2.4},
        {"slides elsewhere", "g = coulomb", 0, 10, 10, 3e-3, 4e-3, 1.8, 2.5},
    };
    Compilation c = {.diags = diags, .checked = true, .results = true};
    Out why = {0};
    c.dae = dae_read(syms, sources, sources_add(sources, "laws.flat", laws, strlen(laws)), false, diags);
    int bad = report("compile laws", c.dae && pipeline_run(&c, FACT_SYS, NULL, &why));
    for (size_t i = 0; !bad && i < sizeof cases / sizeof *cases; i++) {
        const struct Case *k = &cases[i];
        const Value values[] = {{"x", k->x}, {"n", k->n}, {"m", k->m}, {"s", k->s}, {"t", k->t}, {"f", k->f}, {"g", k->g},
                                {"der(v)", k->n - 10}, {"der(w)", k->m - 10}, {"der(s)", 1 - k->f}, {"der(t)", 2 - k->g}};
        double v[1000] = {0};
        Out out = {0};
        memcpy(v, c.sys->image.at, c.sys->image.n * sizeof *v);
        for (size_t j = 0; j < sizeof values / sizeof *values; j++)
            set(c.dae, c.sys, v, values[j].name, values[j].value);
        bool good = check_holds(c.check, v, 1e-6, 1e-14, &out);
        bad += report(k->name, good == !k->wrong && (good || strstr(out.text, k->wrong)));
        out_free(&out);
        for (int again = 0; again < 400; again++) // what was large is forgotten
            check_holds(c.check, c.sys->image.at, 1e-6, 1e-14, &why);
    }
    compilation_free(&c);
    out_free(&why);
    return bad;
}

int
main(void)
{
    Syms *syms = syms_create();
    Sources *sources = sources_create();
    Diags *diags = diags_create(sources);
    Out why = {0};
    Compilation c = {.diags = diags, .checked = true, .results = true};
    c.dae = dae_read(syms, sources, sources_add(sources, "test.flat", text, strlen(text)), false, diags);
    int bad = report("compile", c.dae && pipeline_run(&c, FACT_SYS, NULL, &why));
    if (bad)
        return 1;
    double v[1000] = {0};
    memcpy(v, c.sys->image.at, c.sys->image.n * sizeof *v);
    const Value good[] = {{"x", 0.5}, {"v", -0.3}, {"der(x)", -0.3}, {"f", -1}, {"der(v)", -1}, {"g", 1},
                          {"w", sqrt(0.5) * sin(-0.3) + exp(-0.5)}, {"b", 1}};
    const char *const first_wrong[] = {"", "", "der(x) = v", "", "", "", "", "b = x > 0"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        set(c.dae, c.sys, v, good[i].name, good[i].value);
    set(c.dae, c.sys, v, "q", -1e9);
    bad += report("all equations", check_count(c.check) == 9);
    bad += report("a solution", holds(&c, v, NULL));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char name[60];
        double wrong = good[i].value == 1 && !strcmp(good[i].name, "b") ? 0 : good[i].value + 1e-3;
        snprintf(name, sizeof name, "%s is wrong", good[i].name);
        set(c.dae, c.sys, v, good[i].name, wrong);
        // der(x) may be no place of its own where it is v.
        bool same = !strcmp(good[i].name, "der(x)") && holds(&c, v, NULL);
        bad += report(name, same || !holds(&c, v, first_wrong[i][0] ? first_wrong[i] : NULL));
        set(c.dae, c.sys, v, good[i].name, good[i].value * (1 + 1e-9));
        snprintf(name, sizeof name, "%s within the tolerance", good[i].name);
        bad += report(name, !strcmp(good[i].name, "b") || holds(&c, v, NULL));
        for (size_t k = 0; k < sizeof good / sizeof *good; k++)
            set(c.dae, c.sys, v, good[k].name, good[k].value);
    }
    // At the instant of an event either side may be meant.
    const Value edge[] = {{"x", 1e-15}, {"f", 0}, {"der(v)", 0}, {"g", 0}, {"w", 1}, {"v", 0}, {"der(x)", 0}};
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++)
        set(c.dae, c.sys, v, edge[i].name, edge[i].value);
    for (int b = 0; b < 2; b++) {
        set(c.dae, c.sys, v, "b", b);
        bad += report("at an event", holds(&c, v, NULL));
    }
    // A variable that comes from large values is not known better where it passes zero, until that is long ago.
    const Value past[] = {{"x", 1e4}, {"f", -2e4}, {"der(v)", -2e4}, {"g", 2e4}, {"w", exp(-1e4)}, {"b", 1}};
    const Value now[] = {{"x", 1e-5}, {"f", -2e-5}, {"der(v)", -2e-5}, {"g", 2e-5}, {"w", exp(-1e-5)}, {"b", 0}};
    bad += report("small without a past", !holds_at(&c, v, now, sizeof now / sizeof *now));
    bad += report("large", holds_at(&c, v, past, sizeof past / sizeof *past));
    bad += report("small after large", holds_at(&c, v, now, sizeof now / sizeof *now));
    for (int i = 0; i < 400; i++)
        check_holds(c.check, v, 1e-6, 1e-14, &why);
    bad += report("small long after large", !holds_at(&c, v, now, sizeof now / sizeof *now));
    // One that is fast is known no better than it moves within what an instant is known to.
    const Value crossed[] = {{"b", 1}, {"q", 3e-7}, {"c", 0}}, before[] = {{"b", 1}, {"q", -1}, {"c", 0}};
    v[0] = 1 - 1e-9;
    bad += report("fast", holds_at(&c, v, before, 3));
    v[0] = 1;
    bad += report("crossed fast", holds_at(&c, v, crossed, 3));
    v[0] = 3;
    for (int i = 0; i < 500; i++)
        check_holds(c.check, v, 1e-6, 1e-14, &why);
    bad += report("not slowly", !holds_at(&c, v, crossed, 3));
    compilation_free(&c);
    out_free(&why);
    bad += set_valued(syms, sources, diags);
    diags_free(&diags);
    sources_free(&sources);
    syms_free(&syms);
    return bad > 0;
}
