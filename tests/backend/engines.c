// engines.c: the interpreter and the LLVM engine agree bit for bit with expr_eval.
//
// Random programs: straight code, runs with constant strides, runs with irregular places, repeated
// patterns, all with overlapping places (recurrences), over all operators and awkward values.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/code/backend.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "tests/random.h"

enum { NV = 600, SHAPES = 24 };

static double
random_value(Random *random)
{
    static const double awkward[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, INFINITY, -INFINITY, NAN,
                                     1e308, -1e308, 4.9e-324, 1e-310, 1e300, 0.1};
    uint32_t pick = random_below(random, 40);
    if (pick < sizeof awkward / sizeof *awkward)
        return awkward[pick];
    return (random_below(random, 2000001) - 1e6) / 3e5;
}

static Expr
random_expr(Random *random, Exprs *exprs, uint32_t depth)
{
    uint32_t pick = random_below(random, 100);
    if (depth == 0 || pick < 8) {
        if (pick % 8 == 0)
            return expr_time(exprs);
        if (pick % 4 == 1)
            return expr_const(exprs, random_below(random, 9) * 0.5 - 2);
        return expr_slot(exprs, random_below(random, 6));
    }
    for (;;) {
        Op op = (Op)random_below(random, OP_COUNT);
        if (pick > 60)
            op = (Op[]){OP_ADD, OP_MUL, OP_IF, OP_DIV, OP_LUZ, OP_NEG, OP_ADD, OP_MIN}[pick % 8];
        if (op_table[op].kind == OPKIND_MODEL || op_table[op].kind == OPKIND_LEAF || op_table[op].kind == OPKIND_CALL)
            continue;
        uint32_t n = op_table[op].arity < 0 ? 2 + random_below(random, 3) : (uint32_t)op_table[op].arity;
        Expr args[4];
        for (uint32_t i = 0; i < n; i++)
            args[i] = random_expr(random, exprs, depth - 1);
        // A power of a varying whole number is folded differently from pow(): only constants are whole here.
        if (op == OP_POW)
            args[1] = random_below(random, 2) ? expr_const(exprs, random_below(random, 13) - 6.0)
                                              : expr_2(exprs, OP_MUL, expr_const(exprs, 0.37), args[1]);
        return expr_make(exprs, op, args, n);
    }
}

static Expr
random_shape(Random *random, Exprs *exprs)
{
    U32Vec order = {0};
    Expr e = expr_shape(exprs, random_expr(random, exprs, 1 + random_below(random, 5)), &order);
    vec_free(&order);
    return e;
}

static uint32_t
random_place(Random *random)
{
    return 1 + random_below(random, NV - 1);
}

// `trips` times the shapes pattern[0..period): places step evenly, or are random when `irregular`.
static void
add_pattern(Random *random, Sys *sys, const Expr *pattern, uint32_t period, uint32_t trips, bool irregular)
{
    struct { uint32_t start; int32_t stride; } column[64 * 8];
    for (uint32_t c = 0; c < 64 * 8; c++) {
        column[c].stride = (int32_t)random_below(random, 4) - 1;
        column[c].start = 1 + trips + random_below(random, NV - 4 * trips - 2);
        // Half of the operands are what an earlier operand was, in this trip or a neighbouring one.
        if (c && random_below(random, 2)) {
            column[c] = column[random_below(random, c)];
            column[c].start += random_below(random, 3) - 1;
        }
    }
    for (uint32_t t = 0; t < trips; t++)
        for (uint32_t b = 0; b < period; b++) {
            Instr instr = {.shape = pattern[b], .row = sys->places.n};
            for (uint32_t k = 0; k <= expr_nslots(sys->exprs, pattern[b]); k++) {
                int64_t place = column[b * 8 + k].start + (int64_t)column[b * 8 + k].stride * t;
                if (place < 1 || place >= NV || (irregular && random_below(random, 3) == 0))
                    place = random_place(random);
                if (k == 0)
                    instr.dest = (uint32_t)place;
                else
                    vec_push(&sys->places, (uint32_t)place);
            }
            vec_push(&sys->instrs, instr);
        }
}

static void
add_function(Random *random, Sys *sys, const Expr *shapes, const char *name, uint32_t parts)
{
    Func func = {.name = name, .first = sys->instrs.n};
    for (uint32_t p = 0; p < parts; p++) {
        Expr pattern[64];
        uint32_t period = 1 + random_below(random, random_below(random, 4) ? 6 : 60);
        uint32_t trips = 1 + random_below(random, random_below(random, 2) ? 3 : 130);
        if (period * trips > 3000)
            trips = 3000 / period;
        for (uint32_t b = 0; b < period; b++)
            pattern[b] = shapes[random_below(random, SHAPES)];
        add_pattern(random, sys, pattern, period, trips, random_below(random, 2));
    }
    func.count = sys->instrs.n - func.first;
    vec_push(&sys->funcs, func);
}

static void
evaluate(const Sys *sys, const Func *func, double *v)
{
    for (uint32_t i = func->first; i < func->first + func->count; i++) {
        const Instr *instr = &sys->instrs.at[i];
        double slots[8] = {0};
        for (uint32_t k = 0; k < expr_nslots(sys->exprs, instr->shape); k++)
            slots[k] = v[sys->places.at[instr->row + k]];
        v[instr->dest] = expr_eval(sys->exprs, instr->shape, slots, v[0]);
    }
}

static bool
same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

// Runs one function and compares with expr_eval instruction by instruction.
static bool
check_function(const char *test, const Sys *sys, uint32_t f, mdl_code code, uint64_t seed)
{
    double start[NV], want[NV], have[NV];
    Random random = {seed};
    for (uint32_t i = 0; i < NV; i++)
        start[i] = random_value(&random);
    memcpy(want, start, sizeof start);
    memcpy(have, start, sizeof start);
    evaluate(sys, &sys->funcs.at[f], want);
    mdl_call(code, have);
    for (uint32_t i = 0; i < NV; i++)
        if (!same_bits(want[i], have[i])) {
            printf("FAIL %s: seed %llu function %s v[%u]: want %a have %a\n", test, (unsigned long long)seed,
                   sys->funcs.at[f].name, i, want[i], have[i]);
            return false;
        }
    return true;
}

// opt: -2 the interpreter, -1 what is chosen: without a compiler where that can be, with all loops unrolled, or by LLVM alone
static bool
check_engine_of(const char *test, Sys *sys, int opt, int translate, uint64_t seed, const mdl_code *code)
{
    Out why = {0};
    Engine *engine = opt == -2 ? engine_interp(sys, &why)
                               : engine_llvm(sys, &(EngineOptions){.opt = opt, .verify = true, .translate = (unsigned)translate}, &why);
    bool good = engine != NULL;
    if (!good)
        printf("FAIL %s: %s\n", test, why.text ? why.text : "no engine");
    for (uint32_t f = 0; good && f < sys->funcs.n; f++)
        for (uint32_t round = 0; good && round < 3; round++)
            good = check_function(test, sys, f, code[f], seed * 100 + round);
    if (engine)
        engine_free(&engine);
    out_free(&why);
    return good;
}

static bool
check_engine(const char *test, Sys *sys, int opt, uint64_t seed, const mdl_code *code)
{
    return check_engine_of(test, sys, opt, TRANSLATE_NEVER, seed, code)
        && (opt != -1 || (check_engine_of(test, sys, opt, TRANSLATE_LATE, seed, code) && check_engine_of(test, sys, opt, TRANSLATE_AT_ONCE, seed, code)));
}

static bool
check_program(const char *test, uint64_t seed)
{
    static const char *const names[] = {"first", "second", "third"};
    Random random = {seed};
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    mdl_code code[3] = {{0}};
    Expr shapes[SHAPES];
    for (uint32_t s = 0; s < SHAPES; s++)
        shapes[s] = random_shape(&random, exprs);
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = NV;
    for (uint32_t f = 0; f < 3; f++) {
        add_function(&random, sys, shapes, names[f], 1 + f * 3);
        vec_push(&sys->fixups, (Fixup){&code[f], f});
    }
    bool good = true;
    for (int opt = -2; good && opt <= 2; opt++)
        good = check_engine(test, sys, opt, seed, code);
    sys_free(&sys);
    exprs_free(&exprs);
    return good;
}

// Many functions of the same shapes on different places: they share code in the LLVM engine. Every third one
// has an operand less (two slots are the same place), the last is alone.
static bool
check_shared(const char *test, uint64_t seed)
{
    enum { FUNCS = 60 };
    Random random = {seed};
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    static mdl_code code[FUNCS];
    Expr shapes[SHAPES];
    for (uint32_t s = 0; s < SHAPES; s++)
        shapes[s] = random_shape(&random, exprs);
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = NV;
    for (uint32_t f = 0; f < FUNCS; f++) {
        Func func = {arena_printf(sys->arena, "block%u_eval", f), sys->instrs.n, f == FUNCS - 1 ? 1 : 5};
        uint32_t place[10];
        for (uint32_t i = 0; i < 10; i++)
            place[i] = 5 + 7 * (random_below(&random, NV / 7 / 10) * 10 + i);
        if (f % 3 == 0)
            place[4] = place[2];
        for (uint32_t b = 0; b < func.count; b++) {
            Instr instr = {shapes[b * 3], sys->places.n, place[b * 2]};
            for (uint32_t k = 0; k < expr_nslots(exprs, instr.shape); k++)
                vec_push(&sys->places, place[(b * 3 + k * 2) % 10]);
            vec_push(&sys->instrs, instr);
        }
        vec_push(&sys->funcs, func);
        vec_push(&sys->fixups, (Fixup){&code[f], f});
    }
    bool good = true;
    for (int opt = -2; good && opt <= 0; opt++)
        good = check_engine(test, sys, opt, seed, code);
    sys_free(&sys);
    exprs_free(&exprs);
    return good;
}

// A long straight function is compiled only when it has been called often: nothing may change then, nor for its
// neighbour, which runs as native code from the start.
static bool
check_late(const char *test, uint64_t seed)
{
    enum { LONG = 2500, CALLS = 300 };
    Random random = {seed};
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    Out why = {0};
    mdl_code code[2] = {{0}};
    Expr shapes[SHAPES];
    for (uint32_t s = 0; s < SHAPES; s++)
        shapes[s] = random_shape(&random, exprs);
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = NV;
    for (uint32_t f = 0; f < 2; f++) {
        Func func = {f ? "late" : "early", sys->instrs.n, f ? LONG : 10};
        for (uint32_t i = 0; i < func.count; i++) {
            Instr instr = {shapes[random_below(&random, SHAPES)], sys->places.n, 1 + random_below(&random, NV - 1)};
            for (uint32_t k = 0; k < expr_nslots(exprs, instr.shape); k++)
                vec_push(&sys->places, random_below(&random, NV));
            vec_push(&sys->instrs, instr);
        }
        vec_push(&sys->funcs, func);
        vec_push(&sys->fixups, (Fixup){&code[f], f});
    }
    Engine *engine = engine_llvm(sys, &(EngineOptions){.opt = -1, .verify = true, .translate = TRANSLATE_NEVER}, &why);
    bool good = engine != NULL;
    for (uint32_t call = 0; good && call < CALLS; call++)
        good = check_function(test, sys, 0, code[0], seed * 1000 + call) &&
               check_function(test, sys, 1, code[1], seed * 1000 + call);
    if (engine)
        engine_free(&engine);
    out_free(&why);
    sys_free(&sys);
    exprs_free(&exprs);
    return good;
}

static bool
check_rejects(void)
{
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    Out why = {0};
    mdl_code code = {0};
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = 4;
    vec_push(&sys->places, 9);
    vec_push(&sys->instrs, (Instr){.shape = expr_slot(exprs, 0), .dest = 1});
    vec_push(&sys->funcs, (Func){"outside", 0, 1});
    vec_push(&sys->fixups, (Fixup){&code, 0});
    bool good = !engine_interp(sys, &why) && why.length && !code.fn;
    out_free(&why);
    sys_free(&sys);
    exprs_free(&exprs);
    return good;
}

// The sanitizers look at the compilers, which each program goes through; the ordinary build looks for values.
#ifdef __SANITIZE_ADDRESS__
enum { PROGRAMS = 3 };
#else
enum { PROGRAMS = 12 };
#endif

int
main(int argc, char **argv)
{
    uint64_t programs = argc > 1 ? strtoull(argv[1], NULL, 10) : PROGRAMS, failed = 0;
    for (uint64_t seed = 1; seed <= programs; seed++) {
        char name[40];
        snprintf(name, sizeof name, "engines_agree_%02u", (unsigned)seed);
        if (check_program(name, seed))
            printf("ok %s\n", name);
        else
            failed++;
    }
    for (uint64_t seed = 1; seed <= 1 + programs / 3; seed++) {
        char name[40];
        snprintf(name, sizeof name, "engines_shared_code_%02u", (unsigned)seed);
        if (check_shared(name, seed))
            printf("ok %s\n", name);
        else
            failed++;
        snprintf(name, sizeof name, "engines_late_code_%02u", (unsigned)seed);
        if (check_late(name, seed))
            printf("ok %s\n", name);
        else
            failed++;
    }
    if (check_rejects())
        printf("ok engines_reject_outside_places\n");
    else
        failed += (uint64_t)printf("FAIL engines_reject_outside_places: accepted\n") > 0;
    return failed != 0;
}
