// codegen.c: generated code against the same equations written as C and compiled with `cc -O2`.
//
// Prints for each kind of program and each engine: compile time per equation, evaluation time per equation,
// and its ratio to the C code (best of several rounds). Goals: loops 1.2, scalar equations 1.6, with opt 2
// 1.2. Usage: codegen [CC FLAGS]; default -O2. Writes and removes two files in /tmp.
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "backend/code/backend.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"

typedef struct Model {
    Exprs *exprs;
    Sys *sys;
    mdl_code code;
    double *v;
    char c_body[200000]; // what the C program says
    size_t c_length;
} Model;

static double
seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static Model *
model_create(uint32_t nv)
{
    Model *m = base_calloc(1, sizeof *m);
    m->exprs = exprs_create();
    m->sys = sys_create(m->exprs);
    m->sys->model = arena_new(m->sys->arena, mdl_model);
    m->sys->model->nv = nv;
    m->v = base_calloc(nv, sizeof *m->v);
    for (uint32_t i = 0; i < nv; i++)
        m->v[i] = 0.5 + (i % 97) * 0.01;
    vec_push(&m->sys->fixups, (Fixup){&m->code, 0});
    return m;
}

static void
model_free(Model *m)
{
    sys_free(&m->sys);
    exprs_free(&m->exprs);
    free(m->v);
    free(m);
}

static void
instr(Model *m, Expr shape, uint32_t dest, const uint32_t *places)
{
    vec_push(&m->sys->instrs, (Instr){shape, m->sys->places.n, dest});
    vec_append(&m->sys->places, places, expr_nslots(m->exprs, shape));
}

static void
finish(Model *m)
{
    vec_push(&m->sys->funcs, (Func){"dynamics", 0, m->sys->instrs.n});
}

static Expr
shape(Model *m, const char *text)
{
    uint32_t error = 0;
    Expr e = expr_read(m->exprs, text, &error);
    if (!e)
        printf("FAIL codegen: cannot read '%s' at %u\n", text, error);
    return e;
}

static void
print_place(Out *out, uint32_t slot, void *context)
{
    out_printf(out, "v[%u]", ((const uint32_t *)context)[slot]);
}

// --- the programs

static Model *
heat_chain(uint32_t n)
{
    Model *m = model_create(3 * n + 10);
    Expr e = shape(m, "#0*(#1 - 2*#2 + #3)");
    for (uint32_t i = 1; i + 1 < n; i++)
        instr(m, e, 2 * n + i, (uint32_t[]){n + i, i, i + 1, i + 2});
    m->c_length = (size_t)sprintf(m->c_body, "for (int i = 1; i + 1 < %u; i++)"
                                  " v[%u + i] = v[%u + i]*(v[i] - 2*v[i + 1] + v[i + 2]);", n, 2 * n, n);
    finish(m);
    return m;
}

// n components of five equations each, with two states and parameters of their own.
static Model *
components(uint32_t n)
{
    Model *m = model_create(10 * n + 30);
    Expr e[5] = {shape(m, "#0*(#1 - #2)"), shape(m, "#0*#1"), shape(m, "(#0 - #1)/#2"), shape(m, "#0 - #1"),
                 shape(m, "luz(#0, #1)")};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = 1 + 2 * i, p = 1 + 2 * n + 3 * i + 10, w = 5 * n + 20 + 5 * i;
        instr(m, e[0], w, (uint32_t[]){p, s, s + 2});
        instr(m, e[1], w + 1, (uint32_t[]){p + 1, s + 1});
        instr(m, e[2], w + 2, (uint32_t[]){w, w + 1, p + 2});
        instr(m, e[3], w + 3, (uint32_t[]){s + 1, w});
        instr(m, e[4], w + 4, (uint32_t[]){w + 2, p});
    }
    m->c_length = (size_t)sprintf(m->c_body,
        "for (int i = 0; i < %u; i++) { double *s = v + 1 + 2*i, *p = v + %u + 3*i, *w = v + %u + 5*i;"
        " w[0] = p[0]*(s[0] - s[2]); w[1] = p[1]*s[1]; w[2] = (w[0] - w[1])/p[2]; w[3] = s[1] - w[0];"
        " w[4] = w[2] > p[0] ? w[2] - p[0] : w[2] < -p[0] ? w[2] + p[0] : 0; }", n, 1 + 2 * n + 10,
            5 * n + 20);
    finish(m);
    return m;
}

// The mix of the design notes: per 16 equations 8 wave, 3 first order, 3 heat, 1 sine, 1 power, in random
// order.
static Model *
scalars(uint32_t n, bool with_math)
{
    Model *m = model_create(4 * n + 10);
    Expr kind[5] = {shape(m, "(#0 - #1)/#2"), shape(m, "(#0*#1 - #2)/#3"), shape(m, "#0*(#1 - 2*#2 + #3)"),
                    shape(m, with_math ? "#0*sin(#1) - #2" : "#0*#1 - #2"),
                        shape(m, with_math ? "#0*#1^1.5" : "#0*#1")};
    uint64_t state = 7;
    Out text = {0};
    for (uint32_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t pick = (uint32_t)(state >> 40) % 16, k = pick < 8 ? 0 : pick < 11 ? 1 : pick < 14 ? 2
            : pick - 11;
        uint32_t near = i + (uint32_t)(state >> 50) % 5, parameter = 2 * n + 2 * i;
        uint32_t rows[5][4] =
            {{near + 1, near + 3, parameter}, {near + 1, parameter, near + 2, parameter + 1},
                               {parameter, near + 1, near + 2, near + 3}, {parameter, near + 1, near + 2},
                               {parameter, near + 1}};
        instr(m, kind[k], n + 10 + i, rows[k]);
        out_printf(&text, "v[%u] = ", n + 10 + i);
        if (k == 4 && with_math)
            out_printf(&text, "v[%u]*pow(v[%u], 1.5)", rows[k][0], rows[k][1]);
        else
            expr_print(m->exprs, kind[k], print_place, rows[k], &text);
        out_text(&text, ";\n");
    }
    m->c_length = text.length;
    memcpy(m->c_body, text.text, text.length + 1);
    out_free(&text);
    finish(m);
    return m;
}

// --- measuring

static double
best_time(mdl_code code, double *v, uint32_t equations)
{
    uint32_t calls = 1 + 3000000 / equations;
    double best = 1e9;
    for (int round = 0; round < 7; round++) {
        double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (uint32_t i = 0; i < calls; i++)
            mdl_call(code, v);
        double used = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / calls;
        best = used < best ? used : best;
    }
    return best * 1e9 / equations;
}

static mdl_code
compile_c(const Model *m, const char *flags, void **library)
{
    char source[64], object[64], command[300];
    snprintf(source, sizeof source, "/tmp/mdlc_codegen_%d.c", (int)getpid());
    snprintf(object, sizeof object, "/tmp/mdlc_codegen_%d.so", (int)getpid());
    snprintf(command, sizeof command, "cc %s -shared -fPIC -fno-math-errno -o %s %s -lm", flags, object,
             source);
    FILE *file = fopen(source, "w");
    mdl_code code = {0};
    if (!file)
        return code;
    fprintf(file, "#include <math.h>\nvoid f(double *v, const void *self) { (void)self;\n%s\n}\n", m->c_body);
    fclose(file);
    if (system(command) == 0 && (*library = dlopen(object, RTLD_NOW)))
        code.fn = (mdl_fn *)(uintptr_t)dlsym(*library, "f");
    unlink(source);
    unlink(object);
    return code;
}

static void
measure(const char *name, Model *m, const char *flags)
{
    static const char *const engine_name[] =
        {"interpreter", "llvm auto", "llvm opt 0", "llvm opt 1", "llvm opt 2"};
    uint32_t n = m->sys->instrs.n;
    void *library = NULL;
    double c_time = best_time(compile_c(m, flags, &library), m->v, n);
    printf("%s: %u equations, C %s %.2f ns/eq\n", name, n, flags, c_time);
    for (int opt = -2; opt <= 2; opt++) {
        Out why = {0};
        double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
        EngineOptions options = {.opt = opt};
        Engine *engine = opt == -2 ? engine_interp(m->sys, &why) : engine_llvm(m->sys, &options, &why);
        double compile = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
        if (!engine) {
            printf("FAIL codegen_%s: %s\n", name, why.text);
            continue;
        }
        double time = best_time(m->code, m->v, n);
        printf("    %-12s compile %7.2f ms (%7.2f us/eq)  run %6.2f ns/eq  ratio to C %5.2f\n",
               engine_name[opt + 2],
               compile * 1e3, compile * 1e6 / n, time, time / c_time);
        engine_free(&engine);
    }
    if (library)
        dlclose(library);
    model_free(m);
}

int
main(int argc, char **argv)
{
    const char *flags = argc > 1 ? argv[1] : "-O2";
    measure("heat_1e4", heat_chain(10000), flags);
    measure("heat_1e6", heat_chain(1000000), flags);
    measure("components_1e4", components(2000), flags);
    measure("components_5e5", components(100000), flags);
    measure("scalar_linear", scalars(1000, false), flags);
    measure("scalar_mixed", scalars(1000, true), flags);
    return 0;
}
