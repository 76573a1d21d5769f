// ll_jit.c: the LLVM engine: object code in this process.
//
// Purpose: native code for `mdlc run`, with little to wait for at the start.
// Method: each module becomes an object in memory (no lazy compilation, no passes of ORC's own) that LLJIT
//   links and maps. The few functions that generated code may call are defined by address, so that the
//   executable needs no dynamic symbol table. The code lives as long as the engine, and so do the tables of
//   places it reads.
//   Long straight functions (the Jacobian of a mechanism) take longer to compile than many runs need. They are
//   interpreted until they have been called often: then as much time has gone into that as compiling takes, and it is
//   never more than twice what the better choice from the start would have been (the ski rental argument: Karlin et al.,
//   Algorithmica 3 (1988) 79). Both back ends give the same bits, so that nothing else tells when that happens.
// Contract: the Sys and its expressions must live as long as the engine when such functions are there.
// Ownership: LLJIT takes the object buffers; a target machine goes into the JIT's builder.
// Complexity: that of LLVM, linear in the instructions but for its optimisations inside a function.
#include <assert.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "backend/code/engine.h"
#include "backend/llvm/llvm.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/op.h"
#include "runtime/model/clock.h"

enum {
    PLAIN_LENGTH = 4000, // operations of all routines: longer ones are not optimised before they have taken three times as long as that does
    LATE_CALLS = 200,
    LONG_OPERATIONS = 100000, // of a function that is compiled when it has been interpreted for as long as that would take
};
static const double SECONDS_EACH = 2e-5; // to compile an operation
static const double SECONDS_OPTIMISED = 6e-5; // in calls of routines, for each of their operations: optimising it takes a third, and saves some third of that time

typedef struct Jit Jit;

// A function that is interpreted until it has been called often.
typedef struct Late {
    Jit *jit;
    uint32_t func;
    mdl_code interpreted;
    _Atomic(mdl_fn *) native; // NULL: not yet
    atomic_uint calls;
    size_t operations;
    _Atomic double spent;     // interpreting it, where it is long
} Late;

// A function that calls routines, as long as these are not optimised.
typedef struct Caller {
    Jit *jit;
    mdl_fn *fn;
    atomic_uint calls;
} Caller;

// A function that is called part by part, of which threads may share some.
typedef struct Divided {
    Threads *threads;
    uint32_t n;
    struct { mdl_fn *fn; uint32_t trips; } part[]; // trips: 0: at once
} Divided;

struct Jit {
    LLVMOrcLLJITRef lljit;     // what is to be linked goes here, and names are looked up
    LLVMOrcLLJITRef plain;     // with what it was before routines were optimised, or NULL
    PiecesVec kept;
    Sharing sharing;
    Sys *sys;
    EngineOptions options;
    VEC(Divided *) divided;
    uint8_t *late;        // per function: it is one of `waiting`
    Late *waiting;
    Interp *interp;
    NativeCode *native;
    mdl_code *code;       // per function; what `native` has made is there before LLVM is asked
    Caller *callers;      // NULL: routines were optimised at once
    size_t length;        // operations of all routines
    _Atomic double spent; // in functions that call routines
    atomic_bool optimised;
    pthread_mutex_t lock; // while a function is compiled
    Engine *engine;
    mdl_directions directions; // width 0: not asked for yet
    mdl_fn **dynamics;         // of these
};

static bool
succeeded(LLVMErrorRef error, const char *doing, Out *why)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    if (ll_lacks_memory(message))
        base_out_of_memory(0);
    out_printf(why, "LLVM failed to %s: %s\n", doing, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

// What goes wrong inside the session; that symbols are missing then is said by whoever asks for them.
static void
on_session_error(void *context, LLVMErrorRef error)
{
    Out why = {0};
    (void)context;
    if (!succeeded(error, "link", &why))
        fprintf(stderr, "mdlc: %s", why.text);
    free(why.text);
}

static void
release_jit(void *state)
{
    Jit *jit = state;
    if (jit->lljit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->lljit));
    if (jit->plain)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->plain));
    free(jit->callers);
    for (uint32_t i = 0; i < jit->kept.n; i++)
        pieces_free(&jit->kept.at[i]);
    vec_free(&jit->kept);
    share_free(&jit->sharing);
    interp_free(&jit->interp);
    native_free(&jit->native);
    free(jit->code);
    pthread_mutex_destroy(&jit->lock);
    for (uint32_t i = 0; i < jit->divided.n; i++)
        free(jit->divided.at[i]);
    vec_free(&jit->divided);
    free(jit->late);
    free(jit->waiting);
    free((void *)jit->dynamics);
    free(jit);
}

typedef double Unary(double);
typedef double Binary(double, double);

// What generated code may call: libm by the operator table, and what the optimiser makes of copies and of
// functions the processor lacks.
static LLVMErrorRef
define_library(Jit *jit)
{
    static const struct { const char *name; Unary *f; } unary[] = {
        {"exp", exp}, {"log", log}, {"log10", log10}, {"sin", sin}, {"cos", cos}, {"tan", tan},
        {"asin", asin},
        {"acos", acos}, {"atan", atan}, {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh}, {"sqrt", sqrt},
        {"floor", floor}, {"ceil", ceil}, {"trunc", trunc}, {"fabs", fabs}};
    enum { UNARY = sizeof unary / sizeof *unary, ALL = UNARY + 6 };
#define OP(name, text, arity, type, kind, ...) + (OPKIND_##kind == OPKIND_MATH)
    static_assert(UNARY - 4 + 1 ==
#include "ir/expr/op.def"
                  , "all functions of op.def: those of one argument, but for the last four, and atan2");
#undef OP
    const struct { const char *name; uintptr_t f; } other[] = {
        {"pow", (uintptr_t)(Binary *)pow}, {"atan2", (uintptr_t)(Binary *)atan2}, {"sincos", (uintptr_t)sincos},
        {"memcpy", (uintptr_t)memcpy},
        {"memset", (uintptr_t)memset}, {"memmove", (uintptr_t)memmove}};
    LLVMOrcCSymbolMapPair pairs[ALL];
    for (uint32_t i = 0; i < ALL; i++) {
        const char *name = i < UNARY ? unary[i].name : other[i - UNARY].name;
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit->lljit, name);
        pairs[i].Sym.Address = i < UNARY ? (uintptr_t)unary[i].f : other[i - UNARY].f;
        pairs[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        pairs[i].Sym.Flags.TargetFlags = 0;
    }
    return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit->lljit), LLVMOrcAbsoluteSymbols(pairs, ALL));
}

// Whether an earlier routine calls the same function.
static bool
is_defined(const Jit *jit, const uint32_t *numbers, uint32_t n)
{
    const Exprs *exprs = jit->sys->exprs;
    for (uint32_t i = 0; i < n; i++) {
        const External *external = routine_of(exprs, numbers[i])->external;
        if (external && external->address == routine_of(exprs, numbers[n])->external->address)
            return true;
    }
    return false;
}

// The external functions of the model, which have been loaded.
static LLVMErrorRef
define_externals(Jit *jit)
{
    U32Vec numbers = {0};
    VEC(LLVMOrcCSymbolMapPair) pairs = {0};
    sys_routines(jit->sys, &numbers);
    for (uint32_t i = 0; i < numbers.n; i++) {
        const External *external = routine_of(jit->sys->exprs, numbers.at[i])->external;
        if (!external || (external->builtin && is_defined(jit, numbers.at, i)))
            continue;
        LLVMOrcCSymbolMapPair pair = {.Name = LLVMOrcLLJITMangleAndIntern(jit->lljit, external->symbol)};
        pair.Sym.Address = (uintptr_t)external->address;
        pair.Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        vec_push(&pairs, pair);
    }
    LLVMErrorRef error = NULL;
    if (pairs.n)
        error = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit->lljit), LLVMOrcAbsoluteSymbols(pairs.at, pairs.n));
    vec_free(&pairs);
    vec_free(&numbers);
    return error;
}

static bool
start_jit(Jit *jit, Out *why)
{
    LLVMTargetMachineRef machine = ll_machine(LLVMCodeGenLevelNone, false, NULL, why);
    if (!machine)
        return false;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcJITTargetMachineBuilderRef target = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine);
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, target);
    if (!succeeded(LLVMOrcCreateLLJIT(&jit->lljit, builder), "start its JIT", why))
        return false;
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit->lljit), on_session_error, NULL);
    return succeeded(define_library(jit), "define the library functions", why) &&
           succeeded(define_externals(jit), "define the external functions", why);
}

static bool
add_object(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why)
{
    Jit *jit = context;
    LLVMMemoryBufferRef object;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->module, LLVMObjectFile, &message, &object)) {
        out_printf(why, "LLVM cannot generate code: %s\n", message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMErrorRef error =
        LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), object);
    return succeeded(error, "add an object", why);
}

static bool
look_up(Jit *jit, const char *name, mdl_fn **fn, Out *why)
{
    LLVMOrcExecutorAddress address = 0;
    if (!succeeded(LLVMOrcLLJITLookup(jit->lljit, &address, name), "link a function", why))
        return false;
    *fn = (mdl_fn *)(uintptr_t)address;
    return true;
}

// --- functions that are compiled late

static void
compile_late(Late *late)
{
    Jit *jit = late->jit;
    Out why = {0};
    mdl_fn *fn = NULL;
    double began = clock_seconds();
    pthread_mutex_lock(&jit->lock);
    if (!atomic_load(&late->native)) {
        uint8_t *only = base_calloc(jit->sys->funcs.n, sizeof *only);
        only[late->func] = 1;
        LlRequest request = {.sys = jit->sys, .options = jit->options, .kept = &jit->kept, .late = only, .marked = true,
                             .sink = add_object, .context = jit};
        // Should LLVM fail here, the interpreter goes on: it computes the same.
        if (ll_compile(&request, &why) && look_up(jit, jit->sys->funcs.at[late->func].name, &fn, &why))
            atomic_store(&late->native, fn);
        free(only);
    }
    jit->engine->late_seconds += clock_seconds() - began;
    pthread_mutex_unlock(&jit->lock);
    free(why.text);
}

// Most of a long function may lie in branches that are hardly ever taken (a transform at the end of a run): its time tells, not its calls.
static bool
is_worth_compiling(Late *late)
{
    if (late->operations < LONG_OPERATIONS)
        return atomic_fetch_add_explicit(&late->calls, 1, memory_order_relaxed) == LATE_CALLS;
    return atomic_load_explicit(&late->spent, memory_order_relaxed) > SECONDS_EACH * (double)late->operations;
}

static void
interpret(Late *late, double *v)
{
    double began = late->operations < LONG_OPERATIONS ? 0 : clock_seconds();
    late->interpreted.fn(v, late->interpreted.self);
    if (began > 0) // two threads may lose some of it
        atomic_store_explicit(&late->spent, atomic_load_explicit(&late->spent, memory_order_relaxed) + clock_seconds() - began, memory_order_relaxed);
}

static void
call_late(double *v, const void *self)
{
    Late *late = (Late *)(uintptr_t)self;
    mdl_fn *native = atomic_load_explicit(&late->native, memory_order_acquire);
    if (!native && is_worth_compiling(late)) {
        compile_late(late);
        atomic_store(&late->spent, -HUGE_VAL); // once
        native = atomic_load(&late->native);
    }
    if (native)
        native(v, self);
    else
        interpret(late, v);
}

static void
set_late(Jit *jit, mdl_code *code)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < jit->sys->funcs.n; f++)
        n += jit->late[f];
    if (!n)
        return;
    jit->interp = interp_create(jit->sys, jit->late, code);
    jit->waiting = base_calloc(n, sizeof *jit->waiting);
    Late *late = jit->waiting;
    for (uint32_t f = 0; f < jit->sys->funcs.n; f++) {
        if (!jit->late[f])
            continue;
        late->jit = jit;
        late->func = f;
        late->interpreted = code[f];
        late->operations = interp_length(&code[f]);
        code[f] = (mdl_code){call_late, late++};
    }
}

// --- routines that are optimised late

static bool
find_routines(Jit *jit, Out *why)
{
    bool good = true;
    for (uint32_t r = 1; good && r <= routine_count(jit->sys->exprs); r++) {
        char name[32];
        mdl_fn *address;
        snprintf(name, sizeof name, "routine.%u", r);
        if (!native_calls(jit->native, r))
            continue;
        good = look_up(jit, name, &address, why);
        if (good)
            native_set_routine(jit->native, r, address);
    }
    return good;
}

// Should LLVM fail here, all goes on as it was.
static void
optimise_routines(Jit *jit)
{
    Out why = {0};
    double began = clock_seconds();
    pthread_mutex_lock(&jit->lock);
    if (!atomic_exchange(&jit->optimised, true)) {
        LlRequest request = {.sys = jit->sys, .options = jit->options, .sharing = &jit->sharing, .kept = &jit->kept, .routines_alone = true,
                             .sink = add_object, .context = jit};
        jit->plain = jit->lljit;
        jit->lljit = NULL;
        bool good = start_jit(jit, &why) && ll_compile(&request, &why) && find_routines(jit, &why);
        if (!good && !jit->lljit) { // functions that are compiled late go where they went
            jit->lljit = jit->plain;
            jit->plain = NULL;
        }
    }
    jit->engine->late_seconds += clock_seconds() - began;
    pthread_mutex_unlock(&jit->lock);
    free(why.text);
}

static void
call_caller(double *v, const void *self)
{
    enum { LOOK = 16 }; // one call of so many is measured
    Caller *caller = (Caller *)(uintptr_t)self;
    Jit *jit = caller->jit;
    if (atomic_load_explicit(&jit->optimised, memory_order_relaxed) || atomic_fetch_add_explicit(&caller->calls, 1, memory_order_relaxed) % LOOK) {
        caller->fn(v, NULL);
        return;
    }
    double began = clock_seconds();
    caller->fn(v, NULL);
    double spent = atomic_load_explicit(&jit->spent, memory_order_relaxed) + LOOK * (clock_seconds() - began); // two threads may lose some of it
    atomic_store_explicit(&jit->spent, spent, memory_order_relaxed);
    if (spent > SECONDS_OPTIMISED * (double)jit->length || jit->options.translate == TRANSLATE_AT_ONCE)
        optimise_routines(jit);
}

// Whether functions of this program are all that calls routines.
static bool
calls_alone(const Jit *jit)
{
    const Sys *sys = jit->sys;
    bool alone = true;
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        for (uint32_t i = 0; alone && !jit->code[f].fn && i < sys->funcs.at[f].count; i++)
            alone = !expr_has_op(sys->exprs, sys->instrs.at[sys->funcs.at[f].first + i].shape, OP_CALL);
    return alone;
}

static void
set_callers(Jit *jit)
{
    uint32_t n = 0;
    for (uint32_t f = 0; f < jit->sys->funcs.n; f++)
        n += native_function_calls(jit->native, f);
    jit->callers = base_calloc((size_t)n + 1, sizeof *jit->callers);
    for (uint32_t f = 0, at = 0; f < jit->sys->funcs.n; f++) {
        if (!native_function_calls(jit->native, f))
            continue;
        jit->callers[at] = (Caller){.jit = jit, .fn = jit->code[f].fn};
        jit->code[f] = (mdl_code){call_caller, &jit->callers[at++]};
    }
}

// --- functions that threads share

typedef struct Trips {
    mdl_fn *fn;
    double *v;
    uint64_t trips, length; // of a block
} Trips;

static void
do_trips(void *context, size_t block)
{
    const Trips *t = context;
    uint64_t range[2] = {block * t->length, (block + 1) * t->length};
    range[1] = range[1] < t->trips ? range[1] : t->trips;
    t->fn(t->v, range);
}

static void
call_divided(double *v, const void *self)
{
    enum { BLOCKS_EACH = 4, LEAST = 1024 };
    const Divided *divided = self;
    for (uint32_t k = 0; k < divided->n; k++) {
        Trips t = {divided->part[k].fn, v, divided->part[k].trips, 0};
        if (!t.trips) {
            t.fn(v, NULL);
            continue;
        }
        t.length = t.trips / (BLOCKS_EACH * threads_count(divided->threads)) + 1;
        t.length = t.length > LEAST ? t.length : LEAST;
        threads_run(divided->threads, do_trips, &t, (t.trips + t.length - 1) / t.length);
    }
}

static bool
find_parts(Jit *jit, uint32_t f, const U32Vec *trips, mdl_code *code, Out *why)
{
    Divided *divided = base_calloc(1, sizeof *divided + trips->n * sizeof *divided->part);
    vec_push(&jit->divided, divided);
    divided->threads = jit->options.threads;
    for (; divided->n < trips->n; divided->n++) {
        char name[256];
        snprintf(name, sizeof name, "%s.%u", jit->sys->funcs.at[f].name, divided->n);
        divided->part[divided->n].trips = trips->at[divided->n];
        if (!look_up(jit, name, &divided->part[divided->n].fn, why))
            return false;
    }
    code[f] = (mdl_code){call_divided, divided};
    return true;
}

static bool
find_function(Jit *jit, uint32_t f, mdl_code *code, Out *why)
{
    uint32_t leader = jit->sharing.leader.at[f];
    if (leader != SHARE_NONE && leader != f)
        code[f].fn = code[leader].fn; // leaders come first
    else if (!look_up(jit, jit->sys->funcs.at[f].name, &code[f].fn, why))
        return false;
    if (leader != SHARE_NONE)
        code[f].self = jit->sharing.places.at + jit->sharing.table.at[f];
    return true;
}

static bool
find_functions(Jit *jit, const U32Vec *divided, Out *why)
{
    Sys *sys = jit->sys;
    mdl_code *code = jit->code;
    bool good = true;
    set_late(jit, code);
    for (uint32_t f = 0; good && f < sys->funcs.n; f++)
        if (sys->funcs.at[f].count && !code[f].fn)
            good = divided && divided[f].n ? find_parts(jit, f, &divided[f], code, why) : find_function(jit, f, code, why);
    return good;
}

// --- tangents in several directions

static bool
find_directions(Jit *jit, Out *why)
{
    const mdl_tangents *tangents = jit->sys->model->tangents;
    Map function_at = {0};
    bool good = true;
    sys_functions_at(jit->sys, &function_at);
    jit->dynamics = base_calloc((size_t)tangents->n_dynamics + 1, sizeof *jit->dynamics);
    jit->directions.dynamics = jit->dynamics;
    for (uint32_t k = 0; good && k <= tangents->n_dynamics; k++) {
        const mdl_code *code = k < tangents->n_dynamics ? &tangents->dynamics[k] : &tangents->outputs;
        mdl_fn **fn = k < tangents->n_dynamics ? &jit->dynamics[k] : &jit->directions.outputs;
        char name[256];
        uint32_t f;
        if (!map_get(&function_at, (uintptr_t)code, &f) || !jit->sys->funcs.at[f].count)
            continue;
        snprintf(name, sizeof name, "%s%s", jit->sys->funcs.at[f].name, DIRECTIONS_SUFFIX);
        good = look_up(jit, name, fn, why);
    }
    map_free(&function_at);
    return good;
}

// Should LLVM fail here, all goes on as it is.
static const mdl_directions *
compile_directions(void *state, uint32_t width)
{
    Jit *jit = state;
    Out why = {0};
    bool unfit = false;
    double began = clock_seconds();
    if (jit->directions.width)
        return jit->directions.width == width && jit->directions.dynamics ? &jit->directions : NULL;
    pthread_mutex_lock(&jit->lock);
    jit->directions.width = width;
    LlRequest request = {.sys = jit->sys, .options = jit->options, .kept = &jit->kept, .directions = width, .unfit = &unfit, .sink = add_object, .context = jit};
    bool good = jit->sys->model->tangents && !jit->sys->model->tangents->incomplete && (jit->lljit || start_jit(jit, &why)) && ll_compile(&request, &why) && !unfit
        && find_directions(jit, &why);
    jit->directions.dynamics = good ? jit->dynamics : NULL;
    jit->engine->late_seconds += clock_seconds() - began;
    pthread_mutex_unlock(&jit->lock);
    free(why.text);
    return good ? &jit->directions : NULL;
}

// Whether a function is left to LLVM; marks those that are not.
static bool
needs_llvm(const Jit *jit, uint8_t *made)
{
    bool needed = false;
    for (uint32_t f = 0; f < jit->sys->funcs.n; f++) {
        made[f] = jit->code[f].fn != NULL;
        needed = needed || (jit->sys->funcs.at[f].count && !made[f]);
    }
    for (uint32_t r = 1; r <= routine_count(jit->sys->exprs); r++)
        needed = needed || native_calls(jit->native, r);
    return needed;
}

static bool
compile(Jit *jit, LlRequest *request, Out *why)
{
    uint32_t n = jit->sys->funcs.n;
    uint8_t *made = base_calloc(n + 1, sizeof *made);
    U32Vec *divided = jit->options.threads && jit->sys->model->n >= THREADS_LEAST ? base_calloc(n + 1, sizeof *divided) : NULL;
    request->divided = divided;
    request->made = made;
    jit->length = jit->native && jit->options.opt < 0 ? ll_routines_length(jit->sys) : 0;
    bool plain = jit->length > PLAIN_LENGTH || (jit->length && jit->options.translate == TRANSLATE_AT_ONCE);
    request->plain_routines = plain && calls_alone(jit);
    bool good = !needs_llvm(jit, made) || (start_jit(jit, why) && ll_compile(request, why) && find_functions(jit, divided, why) && find_routines(jit, why));
    if (good && request->plain_routines)
        set_callers(jit);
    for (uint32_t f = 0; divided && f < n; f++)
        vec_free(&divided[f]);
    free(divided);
    free(made);
    return good;
}

Engine *
engine_llvm(Sys *sys, const EngineOptions *options, Out *why)
{
    if (!sys_verify(sys, why))
        return NULL;
    Jit *jit = base_calloc(1, sizeof *jit);
    jit->sys = sys;
    jit->options = *options;
    jit->late = base_calloc(sys->funcs.n + 1, sizeof *jit->late);
    pthread_mutex_init(&jit->lock, NULL);
    LlRequest request = {.sys = sys, .options = *options, .sharing = &jit->sharing, .kept = &jit->kept,
                         .late = options->opt < 0 ? jit->late : NULL, .sink = add_object, .context = jit};
    SlotCounts slots = {0};
    share_find(&jit->sharing, sys, &slots);
    jit->code = base_calloc(sys->funcs.n + 1, sizeof *jit->code);
    if (options->opt < 0 && options->translate != TRANSLATE_NEVER)
        jit->native = native_create(sys, &slots, jit->sharing.leader.at, options->translate == TRANSLATE_AT_ONCE, jit->code);
    vec_free(&slots.count);
    if (compile(jit, &request, why)) {
        link_code(sys, jit->code);
        free(jit->code);
        jit->code = NULL;
        jit->engine = engine_make(release_jit, jit);
        if (options->translate != TRANSLATE_NEVER)
            jit->engine->directions = compile_directions;
        if (options->translate != TRANSLATE_NEVER)
            jit->engine->translator = straight_translator(options->translate == TRANSLATE_AT_ONCE);
        return jit->engine;
    }
    release_jit(jit);
    return NULL;
}
