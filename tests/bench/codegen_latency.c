// codegen_latency.c: from the start of the process to callable code of a model of one equation.
//
// Prints the CPU time of this process (which includes the dynamic linker and page faults) and what of it
// was spent in engine_llvm. Run it several times: the best counts.
#include <stdio.h>
#include <time.h>

#include "backend/code/backend.h"
#include "ir/expr/expr.h"
#include "ir/expr/expr_make.h"

static double
cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int
main(int argc, char **argv)
{
    double begin = cpu_ms();
    Exprs *exprs = exprs_create();
    Sys *sys = sys_create(exprs);
    Out why = {0};
    mdl_code code = {0};
    double v[4] = {0, 0, 2, 5};
    sys->model = arena_new(sys->arena, mdl_model);
    sys->model->nv = 4;
    vec_push(&sys->places, 2);
    vec_push(&sys->places, 3);
    vec_push(&sys->instrs, (Instr){expr_2(exprs, OP_MUL, expr_slot(exprs, 0), expr_slot(exprs, 1)), 0, 1});
    vec_push(&sys->funcs, (Func){"dynamics", 0, 1});
    vec_push(&sys->fixups, (Fixup){&code, 0});
    EngineOptions options = {.opt = -1};
    Engine *engine = argc > 1 && argv[1][0] == 'i' ? engine_interp(sys, &why)
        : engine_llvm(sys, &options, &why);
    if (!engine) {
        printf("FAIL codegen_latency: %s\n", why.text);
        return 1;
    }
    mdl_call(code, v);
    double ready = cpu_ms();
    printf("%s codegen_latency: %.2f ms before main, %.2f ms to ready code, %.2f ms in all\n", v[1] == 10
           ? "ok" : "FAIL",
           begin, ready - begin, ready);
    engine_free(&engine);
    sys_free(&sys);
    exprs_free(&exprs);
    return v[1] != 10;
}
