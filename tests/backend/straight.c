// straight_code.c and standing_code.c: factors and solutions by machine code are those of the lists to the last bit, a pivot that has become too small is
// refused by both at the same matrix, and code is given back with what it belongs to.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code/backend.h"
#include "ir/expr/expr.h"
#include "runtime/linear/standing.h"

enum { MOST = 90 };

static int failures;

static void
check(bool good, const char *what)
{
    printf("%s %s\n", good ? "ok" : "FAIL", what);
    failures += !good;
}

typedef struct Sparse {
    uint32_t n, start[MOST + 1], row[MOST * MOST];
    double value[MOST * MOST];
} Sparse;

static double
random_number(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) / 8388608.0 - 1;
}

static void
make_random(Sparse *a, uint32_t n, double filled, uint32_t *seed)
{
    uint32_t entries = 0;
    a->n = n;
    for (uint32_t j = 0; j < n; j++) {
        a->start[j] = entries;
        for (uint32_t i = 0; i < n; i++) {
            double value = fabs(random_number(seed)) < filled ? random_number(seed) : 0;
            value += i == (j + 5) % n ? 3 : i == (3 * j + 1) % n ? 1.5 : 0;
            if (value != 0) {
                a->row[entries] = i;
                a->value[entries++] = value;
            }
        }
    }
    a->start[n] = entries;
}

// An engine of a model that computes nothing, for its translator.
static Engine *
make_engine(Sys *sys, int translate)
{
    Out why = {0};
    Engine *engine = engine_llvm(sys, &(EngineOptions){.opt = 0, .verify = true, .translate = (unsigned)translate}, &why);
    if (!engine)
        fprintf(stderr, "%s", why.text);
    out_free(&why);
    return engine;
}

static bool
same_solutions(Standing *one, Standing *other, uint32_t n, uint32_t *seed)
{
    double b[MOST], c[MOST];
    for (uint32_t i = 0; i < n; i++)
        b[i] = c[i] = i % 7 ? random_number(seed) : 0;
    standing_solve(one, b);
    standing_solve(other, c);
    return !memcmp(b, c, n * sizeof *b);
}

// Values drift, now and then a column almost vanishes, or is not a number, and comes back.
static void
compare(const mdl_translator *translator)
{
    static Sparse a;
    uint32_t seed = 7;
    bool made = true, agreed = true, same = true;
    int refused = 0, orders = 0;
    for (int matrix = 0; matrix < 24; matrix++) {
        make_random(&a, 3 + (uint32_t)matrix * 3, matrix % 2 ? 0.05 : 0.2, &seed);
        Standing *lists = standing_create(a.n, a.start, a.row, a.value), *code = standing_create(a.n, a.start, a.row, a.value);
        bool good = lists && code;
        orders += good;
        made = made && (!good || (standing_translate(code, translator) && standing_is_translated(code)));
        for (int k = 0; k < 30 && good; k++) {
            double kept[MOST], factor = k % 10 == 9 ? NAN : k % 10 == 5 ? 0 : k % 10 == 7 ? 1e-9 : 1;
            uint32_t column = (uint32_t)k % a.n, first = a.start[column], entries = a.start[column + 1] - first;
            for (uint32_t e = 0; e < a.start[a.n]; e++)
                a.value[e] *= 1 + random_number(&seed) / 16;
            memcpy(kept, a.value + first, entries * sizeof *kept);
            for (uint32_t e = 0; e < entries; e++)
                a.value[first + e] *= factor;
            bool one = standing_factor(lists, a.value), other = standing_factor(code, a.value);
            agreed = agreed && one == other;
            refused += !one;
            same = same && (!one || !other || (same_solutions(lists, code, a.n, &seed) && same_solutions(lists, code, a.n, &seed)));
            memcpy(a.value + first, kept, entries * sizeof *kept);
        }
        standing_free(&lists);
        standing_free(&code);
    }
    check(orders == 24, "an order for each matrix");
    check(made, "code for each order");
    check(agreed && refused > 24, "the same matrices are refused");
    check(same, "solutions are the same to the last bit");
}

static bool
fails_to_make(void *self, const mdl_straight *program, uint32_t n, mdl_straight_fn **fn, void **made)
{
    (void)program, (void)n, (void)fn, (void)made;
    ++*(int *)self;
    return false;
}

static void
release_nothing(void *self, void *made)
{
    (void)self, (void)made;
    check(false, "what was not made is not released");
}

// Nobody is asked before the lists have been used often, and only once; where nothing is made they go on.
static void
check_asking(void)
{
    static Sparse a;
    uint32_t seed = 3;
    int asked = 0, uses = 0;
    mdl_translator translator = {&asked, fails_to_make, release_nothing, false};
    make_random(&a, 30, 0.1, &seed);
    Standing *standing = standing_create(a.n, a.start, a.row, a.value), *other = standing_create(a.n, a.start, a.row, a.value);
    bool translated = false, same = standing && other;
    for (; uses < 100000 && same && !asked; uses++) {
        a.value[0] *= 1 + 1e-9;
        same = standing_factor(standing, a.value) && same_solutions(standing, standing, a.n, &seed);
        translated = standing_translate(standing, &translator) || translated;
    }
    for (int k = 0; k < 100 && same; k++) {
        a.value[0] *= 1 + 1e-9;
        same = standing_factor(standing, a.value) && standing_factor(other, a.value) && same_solutions(standing, other, a.n, &seed);
        translated = standing_translate(standing, &translator) || translated;
    }
    check(same && !translated && asked == 1 && uses > 10 && uses < 1000, "whoever cannot translate is asked once, after many uses");
    standing_free(&standing);
    standing_free(&other);
}

int
main(void)
{
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = 1;
    sys->model->name = "Nothing";
    Engine *engine = make_engine(sys, TRANSLATE_AT_ONCE), *never = make_engine(sys, TRANSLATE_NEVER);
    const mdl_translator *translator = engine ? engine_translator(engine) : NULL;
    check(translator && translator->at_once && never && !engine_translator(never), "a translator where one is wanted");
    if (translator)
        compare(translator);
    check_asking();
    if (engine)
        engine_free(&engine);
    if (never)
        engine_free(&never);
    sys_free(&sys);
    exprs_free(&exprs);
    return failures != 0;
}
