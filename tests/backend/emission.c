// emission.c: text of generated code, object files, and shapes of unusual size.
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/code/backend.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"

enum { NV = 1200, TRIPS = 200 };

typedef struct Fixture {
    Exprs *exprs;
    Sys *sys;
    mdl_code code[2];
    Out out, why;
} Fixture;

static void
open_fixture(Fixture *f)
{
    *f = (Fixture){.exprs = exprs_create()};
    f->sys = sys_create(f->exprs);
    f->sys->model = arena_new(f->sys->arena, mdl_model);
    f->sys->model->nv = NV;
    f->sys->model->name = "Fixture";
}

static void
close_fixture(Fixture *f)
{
    sys_free(&f->sys);
    exprs_free(&f->exprs);
    out_free(&f->out);
    out_free(&f->why);
}

static void
add_function(Fixture *f, const char *name, uint32_t first)
{
    vec_push(&f->sys->fixups, (Fixup){&f->code[f->sys->funcs.n], f->sys->funcs.n});
    vec_push(&f->sys->funcs, (Func){name, first, f->sys->instrs.n - first});
}

// "loops": an even run and one through a table; "straight": one instruction.
static void
add_loops(Fixture *f)
{
    Exprs *x = f->exprs;
    Expr shape = expr_2(x, OP_ADD, expr_slot(x, 0), expr_1(x, OP_SIN, expr_slot(x, 1)));
    for (uint32_t t = 0; t < 2 * TRIPS; t++) {
        vec_push(&f->sys->instrs, (Instr){shape, f->sys->places.n, 600 + t});
        vec_push(&f->sys->places, 1 + t);
        vec_push(&f->sys->places, t < TRIPS ? 2 + t : 1 + t * t % 500);
    }
    add_function(f, "loops", 0);
    vec_push(&f->sys->instrs,
             (Instr){expr_2(x, OP_POW, expr_slot(x, 0), expr_const(x, 3)), f->sys->places.n, 5});
    vec_push(&f->sys->places, 7);
    add_function(f, "straight", f->sys->instrs.n - 1);
}

static bool
report(const char *name, bool good, const Fixture *f)
{
    if (good)
        printf("ok %s\n", name);
    else
        printf("FAIL %s: %s\n", name, f->why.text ? f->why.text : "unexpected result");
    return good;
}

static bool
test_text(void)
{
    Fixture f;
    EngineOptions options = {.opt = -1, .verify = true};
    open_fixture(&f);
    add_loops(&f);
    bool ir = backend_print_llvm(f.sys, &options, &f.out, &f.why) &&
        strstr(f.out.text, "define void @loops") &&
              strstr(f.out.text, "define void @straight") && strstr(f.out.text, "@places") &&
              !strstr(f.out.text, "inttoptr");
    bool good = report("emission_llvm_text", ir, &f);
    out_free(&f.out);
    f.out = (Out){0};
    bool assembly = backend_print_asm(f.sys, &options, &f.out, &f.why) && strstr(f.out.text, "straight:") &&
                    strstr(f.out.text, "mulsd");
    good = report("emission_asm_text", assembly, &f) && good;
    close_fixture(&f);
    return good;
}

static void
fill(double *v)
{
    for (uint32_t i = 0; i < NV; i++)
        v[i] = 0.1 * i - 20;
}

static bool
compare_object(Fixture *f, void *library)
{
    static double want[NV], have[NV];
    fill(want);
    fill(have);
    for (uint32_t i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.%s", f->sys->funcs.at[i].name);
        mdl_fn *fn = (mdl_fn *)(uintptr_t)dlsym(library, name);
        if (!fn || !dlsym(library, "model"))
            return false;
        mdl_call(f->code[i], want);
        fn(have, NULL);
    }
    return memcmp(want, have, sizeof want) == 0;
}

static bool
test_object(int opt)
{
    Fixture f;
    char name[64], object[64], library_name[64], command[256];
    EngineOptions options = {.opt = opt, .verify = true};
    snprintf(name, sizeof name, "emission_object_opt%d", opt);
    snprintf(object, sizeof object, "/tmp/mdlc_emission_%d.o", (int)getpid());
    snprintf(library_name, sizeof library_name, "/tmp/mdlc_emission_%d_%d.so", (int)getpid(), opt + 1);
    snprintf(command, sizeof command, "cc -shared -o %s %s -lm", library_name, object);
    open_fixture(&f);
    add_loops(&f);
    Engine *engine = engine_interp(f.sys, &f.why);
    bool good = engine && backend_write_model(f.sys, &options, &(ObjectOptions){.path = object, .symbol = "model"}, &f.why) && system(command) == 0;
    void *library = good ? dlopen(library_name, RTLD_NOW) : NULL;
    good = library && compare_object(&f, library);
    report(name, good, &f);
    if (library)
        dlclose(library);
    unlink(object);
    unlink(library_name);
    if (engine)
        engine_free(&engine);
    close_fixture(&f);
    return good;
}

static bool
test_unwritable(void)
{
    Fixture f;
    EngineOptions options = {.opt = -1};
    open_fixture(&f);
    add_loops(&f);
    bool good = !backend_write_model(f.sys, &options, &(ObjectOptions){.path = "/nonexistent/model.o", .symbol = "model"}, &f.why) && f.why.length > 0;
    report("emission_unwritable_path", good, &f);
    close_fixture(&f);
    return good;
}

// Both engines on one shape, against expr_eval.
static bool
check_shape(Fixture *f, Expr shape, int opt)
{
    double v[NV], want = 0;
    vec_push(&f->sys->instrs, (Instr){shape, 0, 5});
    vec_push(&f->sys->places, 3);
    add_function(f, "large", 0);
    bool good = true;
    for (int engine_opt = -2; good && engine_opt <= opt; engine_opt++) {
        EngineOptions options = {.opt = engine_opt, .verify = true};
        Engine *engine = engine_opt == -2 ? engine_interp(f->sys, &f->why)
            : engine_llvm(f->sys, &options, &f->why);
        fill(v);
        want = expr_eval(f->exprs, shape, &v[3], v[0]);
        if (engine)
            mdl_call(f->code[0], v);
        good = engine && memcmp(&v[5], &want, sizeof want) == 0;
        if (engine)
            engine_free(&engine);
    }
    return good;
}

// Nested conditionals with expensive sides, a long sum and a deep nest.
static bool
test_large(void)
{
    Fixture f;
    open_fixture(&f);
    Exprs *x = f.exprs;
    Expr s = expr_slot(x, 0), deep = s;
    for (uint32_t i = 0; i < 20000; i++)
        deep = expr_2(x, OP_ADD, expr_const(x, 0.25), expr_2(x, OP_MAX, expr_const(x, i * 1e-4 - 30), deep));
    bool good = report("emission_deep_nest", check_shape(&f, deep, -1), &f);
    close_fixture(&f);
    open_fixture(&f);
    x = f.exprs;
    s = expr_slot(x, 0);
    Expr nested = s;
    for (uint32_t i = 0; i < 300; i++)
        nested = expr_3(x, OP_IF, expr_2(x, OP_LT, s, expr_const(x, i - 150.0)),
                        expr_1(x, OP_SIN, expr_2(x, OP_MUL, expr_const(x, i + 2), s)),
                        expr_2(x, OP_ADD, expr_1(x, OP_COS, nested), expr_1(x, OP_EXP, s)));
    good = report("emission_nested_branches", check_shape(&f, nested, 2), &f) && good;
    close_fixture(&f);
    return good;
}

int
main(void)
{
    bool good = test_text();
    for (int opt = -1; opt <= 2; opt++)
        good = test_object(opt) && good;
    good = test_unwritable() && good;
    good = test_large() && good;
    return !good;
}
