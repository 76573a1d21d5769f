// ll_module.c: the functions of a Sys as LLVM modules.
//
// Purpose: keep compile time linear and small. Straight code goes in pieces of about 100 equations to modules
//   that FastISel translates without any pass; loops with much to do go to modules that run default<O2>.
//   A function of several pieces calls them in order.
// Method: straight code is already free of common subexpressions (code.c). Measured on 1000 mixed equations,
//   in us to compile and ns to run one: FastISel 15-20 and 0.8-2.0, the optimising code generator 120-150 and
//   the same ns, default<O2> 550 and 1.6-3.9 (its SLP vectoriser packs scattered places at a loss). So
//   straight code never runs the passes, whatever the level. A loop costs 10 ms of O2 once and gains 1.5 ns
//   per equation, so that it is optimised when it has much to do (LOOP_WORK operations), or on request.
// Contract: every module has its own context, is verified when asked, and is handed to the sink when full.
// Complexity: linear in the instructions.
#include "backend/llvm/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/expr/expr_parts.h"

enum { LEAST_DIVIDED = 16384 }; // instructions of a loop that threads share: some ten microseconds
enum { LATE_INSTRS = 2000 }; // straight code that takes longer to compile than to interpret a hundred times over
enum { MODULE_INSTRS = 5000, LOOP_MODULE_INSTRS = 2000, LOOP_WORK = 20000, LARGEST_OPTIMISED = 4000, MOST_STEPS_OPTIMISED = 1000, MOST_OPERATIONS_OPTIMISED = 40000 };

// --- computers

// A compiler that is linked without this code generator says that it has none.
#pragma weak LLVMInitializeAArch64TargetInfo
#pragma weak LLVMInitializeAArch64Target
#pragma weak LLVMInitializeAArch64TargetMC
#pragma weak LLVMInitializeAArch64AsmPrinter

static bool
is_arm(const char *triple)
{
    return triple && !strncmp(triple, "aarch64-", 8);
}

static void
initialize(const char *triple)
{
    if (is_arm(triple)) {
        if (!LLVMInitializeAArch64TargetInfo)
            return;
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
        return;
    }
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

LLVMTargetMachineRef
ll_machine(LLVMCodeGenOptLevel level, bool portable, const char *foreign, Out *why)
{
    ll_handle_failures();
    initialize(foreign);
    char *triple = foreign ? LLVMCreateMessage(foreign) : LLVMGetDefaultTargetTriple(), *message = NULL;
    const char *least = is_arm(foreign) ? "generic" : "x86-64-v2";
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    LLVMTargetRef target;
    LLVMTargetMachineRef machine = NULL;
    if (is_arm(foreign) && !LLVMInitializeAArch64TargetInfo) {
        out_text(why, "this mdlc makes code for x86-64 only (that of the Python package is small); one that was built by make or comes as a package of the "
                      "distribution makes code for aarch64, too\n");
    } else if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        out_printf(why, "LLVM knows no target %s: %s\n", triple, message);
        LLVMDisposeMessage(message);
    } else {
        machine =
            LLVMCreateTargetMachine(target, triple, portable ? least : cpu, portable ? "" : features, level,
                                    LLVMRelocPIC, LLVMCodeModelDefault);
        if (!machine)
            out_printf(why, "LLVM cannot make code for %s\n", triple);
    }
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return machine;
}

// --- modules

static void
ll_module_open(LlModule *m, const char *name)
{
    *m = (LlModule){.context = LLVMContextCreate()};
    m->module = LLVMModuleCreateWithNameInContext(name, m->context);
    m->builder = LLVMCreateBuilderInContext(m->context);
    m->type_void = LLVMVoidTypeInContext(m->context);
    m->type_double = LLVMDoubleTypeInContext(m->context);
    m->type_pointer = LLVMPointerTypeInContext(m->context, 0);
    m->type_index = LLVMInt64TypeInContext(m->context);
    m->type_int32 = LLVMInt32TypeInContext(m->context);
}

static void
ll_module_close(LlModule *m)
{
    if (m->builder)
        LLVMDisposeBuilder(m->builder);
    if (m->module)
        LLVMDisposeModule(m->module);
    if (m->context)
        LLVMContextDispose(m->context);
    *m = (LlModule){0};
}

// A module that is full.
typedef struct Finished {
    LlModule module;
    LLVMTargetMachineRef machine; // its own
    Out why;
    bool good;
} Finished;

typedef struct Compiler {
    const LlRequest *request;
    Out *why;
    LlModule straight, loops;
    VEC(Finished) finished;          // modules that wait for threads
    LLVMTargetMachineRef fast, best; // made when first needed
    SlotCounts slots;
    Lowering *lowering;
    Map cold;        // functions that run once
    bool lanes;      // functions for several runs are made
    bool unfit;      // something has no form for several directions
    const Func *func;
    uint32_t parts;  // helper functions of `func` so far
    U32Vec *divided; // of `func`, which threads share: trips of its parts; NULL: they do not
} Compiler;

// Level of straight code: FastISel up to opt 1. The instruction selector proper at opt 2.
static LLVMTargetMachineRef
make_machine(const LlRequest *request, bool optimised, Out *why)
{
    static const LLVMCodeGenOptLevel levels[] =
        {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault};
    int opt = request->options.opt < 0 ? 0 : request->options.opt > 2 ? 2 : request->options.opt;
    if (request->directions) // vectors are not for the fast selector
        return ll_machine(LLVMCodeGenLevelLess, request->portable, request->triple, why);
    LLVMTargetMachineRef machine = ll_machine(optimised ? LLVMCodeGenLevelDefault : levels[opt], request->portable, request->triple, why);
    if (machine && !optimised && opt < 2)
        LLVMSetTargetMachineFastISel(machine, true);
    return machine;
}

static LLVMTargetMachineRef
machine_for(Compiler *c, bool optimised)
{
    LLVMTargetMachineRef *machine = optimised ? &c->best : &c->fast;
    if (!*machine)
        *machine = make_machine(c->request, optimised, c->why);
    return *machine;
}

static bool
verify_module(LlModule *m, Out *why)
{
    char *message = NULL;
    bool broken = LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message);
    if (broken)
        out_printf(why, "LLVM rejects the generated code: %s\n", message);
    LLVMDisposeMessage(message);
    return !broken;
}

static bool
optimise_module(LlModule *m, LLVMTargetMachineRef machine, Out *why)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(m->module, "default<O2>", machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    out_printf(why, "LLVM's passes failed: %s\n", message);
    LLVMDisposeErrorMessage(message);
    return false;
}

// Hands a module to the sink.
static bool
hand_over(const LlRequest *request, LlModule *m, LLVMTargetMachineRef machine, Out *why)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetModuleDataLayout(m->module, layout);
    LLVMSetTarget(m->module, triple);
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    return (!request->options.verify || verify_module(m, why)) && (!m->optimised || optimise_module(m, machine, why))
        && request->sink(m, machine, request->context, why);
}

// A ThreadTask: each module has its context and its machine, so that threads share nothing but the sink.
static void
finish_one(void *context, size_t k)
{
    Compiler *c = context;
    Finished *finished = &c->finished.at[k];
    finished->good = finished->machine && hand_over(c->request, &finished->module, finished->machine, &finished->why);
}

static bool
finish_waiting(Compiler *c)
{
    bool good = true;
    for (uint32_t k = 0; k < c->finished.n; k++) // registers kinds of computers, which is for one thread
        c->finished.at[k].machine = make_machine(c->request, c->finished.at[k].module.optimised, &c->finished.at[k].why);
    threads_run(c->request->options.threads, finish_one, c, c->finished.n);
    for (uint32_t k = 0; k < c->finished.n; k++) {
        Finished *finished = &c->finished.at[k];
        if (good && !finished->good)
            out_printf(c->why, "%s", finished->why.text ? finished->why.text : "");
        good = good && finished->good;
        out_free(&finished->why);
        ll_module_close(&finished->module);
        if (finished->machine)
            LLVMDisposeTargetMachine(finished->machine);
    }
    vec_clear(&c->finished);
    return good;
}

// Hands a module to the sink and closes it, with others at once where there are threads.
static bool
finish_module(Compiler *c, LlModule *m)
{
    enum { WAITING_EACH = 4 };
    if (!m->module)
        return true;
    // All in one, and nothing that gains by it: the optimising code generator would only take its time.
    m->optimised = m->optimised && m->gains;
    Threads *threads = c->request->options.threads;
    if (threads && !c->request->single) {
        vec_push(&c->finished, (Finished){.module = *m});
        *m = (LlModule){0};
        return c->finished.n < WAITING_EACH * threads_count(threads) || finish_waiting(c);
    }
    LLVMTargetMachineRef machine = machine_for(c, m->optimised);
    bool good = machine && hand_over(c->request, m, machine, c->why);
    ll_module_close(m);
    return good;
}

// The module that takes the next piece.
static LlModule *
module_for(Compiler *c, bool optimised)
{
    bool together = c->request->single;
    LlModule *m = optimised && !together ? &c->loops : &c->straight;
    uint32_t limit = optimised ? LOOP_MODULE_INSTRS : MODULE_INSTRS;
    if (c->request->options.threads) // so that all have something to do at the end
        limit /= 4;
    if (m->module && m->instrs >= limit && !together && !finish_module(c, m))
        return NULL;
    if (!m->module) {
        ll_module_open(m, c->request->sys->model->name ? c->request->sys->model->name : "model");
        m->optimised = optimised || together;
        m->failure = c->request->sys->model->failure;
        m->exprs = c->request->sys->exprs;
        m->directions = c->request->directions;
        m->shift = m->directions ? c->request->sys->model->tangents->shift : 0;
    }
    return m;
}

// --- functions

void
ll_attribute(LlModule *m, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(m->context, kind, 0));
}

// void name(double *v, const void *self), declared or found.
static LLVMValueRef
function_named(LlModule *m, const char *name, bool part)
{
    LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
    if (function)
        return function;
    LLVMTypeRef params[2] = {m->type_pointer, m->type_pointer};
    function = LLVMAddFunction(m->module, name, LLVMFunctionType(m->type_void, params, part && !m->directions ? 1 : 2, false));
    ll_attribute(m, function, "nounwind");
    if (part)
        LLVMSetVisibility(function, LLVMHiddenVisibility);
    return function;
}

static const char *
suffix(const Compiler *c)
{
    return c->request->directions ? DIRECTIONS_SUFFIX : c->lanes ? LANES_SUFFIX : "";
}

static void
part_name(char *name, size_t size, const Compiler *c, uint32_t part)
{
    snprintf(name, size, "%s%s.%u", c->func->name, suffix(c), part);
}

LLVMValueRef
ll_function(LlModule *m, const char *name)
{
    return function_named(m, name, false);
}

LLVMValueRef
ll_external(LlModule *m, const char *symbol)
{
    LLVMValueRef function = LLVMGetNamedFunction(m->module, symbol);
    LLVMTypeRef params[3] = {m->type_pointer, m->type_pointer, m->type_pointer};
    return function ? function : LLVMAddFunction(m->module, symbol, LLVMFunctionType(m->type_void, params, 3, false));
}

// Operations of a routine's steps, up to `most`.
static size_t
routine_length(const Exprs *exprs, const Routine *routine, size_t most)
{
    U32Vec parts = {0};
    size_t length = 0;
    for (uint32_t i = 0; i < routine->steps.n && length < most; i++) {
        vec_clear(&parts);
        expr_parts(exprs, routine->steps.at[i].value, &parts);
        length += parts.n;
    }
    vec_free(&parts);
    return length;
}

// Routines go to the modules that are optimised: they have loops and many small steps. One with very many steps (whole arrays element by
// element) or operations (second derivatives of properties of water) would take longer there than in all its calls.
static bool
compile_routine(Compiler *c, const Routine *routine, bool inside)
{
    bool optimised = c->request->options.opt != 0 && !c->request->plain_routines && routine->steps.n <= MOST_STEPS_OPTIMISED
                  && routine_length(c->request->sys->exprs, routine, MOST_OPERATIONS_OPTIMISED) < MOST_OPERATIONS_OPTIMISED;
    LlModule *m = module_for(c, optimised);
    if (!m)
        return false;
    LLVMValueRef function = ll_emit_routine(m, c->lowering, routine, inside);
    if (m->optimised && !optimised) {
        ll_attribute(m, function, "noinline");
        ll_attribute(m, function, "optnone");
    }
    m->instrs += routine->steps.n;
    m->gains = m->gains || optimised;
    return true;
}

size_t
ll_routines_length(const Sys *sys)
{
    U32Vec all = {0};
    size_t length = 0;
    sys_routines(sys, &all);
    for (uint32_t i = 0; i < all.n; i++)
        length += routine_length(sys->exprs, routine_of(sys->exprs, all.at[i]), MOST_OPERATIONS_OPTIMISED);
    vec_free(&all);
    return length;
}

// Each in the forms in which it is called.
static bool
compile_routines(Compiler *c)
{
    const Exprs *exprs = c->request->sys->exprs;
    U32Vec all = {0}, called = {0}, inside = {0};
    U8Vec seen = {0};
    bool good = true;
    sys_routines(c->request->sys, &all);
    sys_routines_called(c->request->sys, &called);
    for (uint32_t i = 0; i < all.n; i++)
        routine_called_by(exprs, routine_of(exprs, all.at[i]), &seen, &inside);
    for (uint32_t i = 0; i < called.n && good; i++)
        good = compile_routine(c, routine_of(exprs, called.at[i]), false);
    for (uint32_t i = 0; i < inside.n && good; i++) {
        const Routine *routine = routine_of(exprs, inside.at[i]);
        bool plain = routine_cost(exprs, routine) == ROUTINE_PLAIN, made = false;
        for (uint32_t k = 0; plain && k < called.n && !made; k++) // it has one form
            made = called.at[k] == inside.at[i];
        good = made || compile_routine(c, routine, true);
    }
    vec_free(&all);
    vec_free(&called);
    vec_free(&inside);
    vec_free(&seen);
    return good;
}

// Emits one piece as the function itself (`whole`) or as its next part.
static bool
emit_piece(Compiler *c, const Code *code, const LlLoop *loop, uint32_t instrs, bool optimised, bool whole)
{
    LlModule *m = module_for(c, optimised);
    if (!m)
        return false;
    char name[256];
    if (whole)
        snprintf(name, sizeof name, "%s%s", c->func->name, suffix(c));
    else
        part_name(name, sizeof name, c, c->parts++);
    if (c->divided)
        vec_push(c->divided, loop && loop->divided ? loop->segment->trips : 0);
    LLVMValueRef function = function_named(m, name, !whole && !c->divided);
    if (!whole || (m->optimised && !optimised))
        ll_attribute(m, function, "noinline");
    if (m->optimised && !optimised)
        ll_attribute(m, function, "optnone");
    m->gains = m->gains || optimised;
    if (c->lanes) {
        ll_lanes_attribute(m, function);
        ll_lanes_begin(m, c->request->lanes);
    }
    ll_emit(m, function, code, loop);
    ll_lanes_end(m);
    c->unfit = c->unfit || m->unfit;
    m->instrs += instrs;
    return true;
}

static bool
compile_straight(Compiler *c, const Segment *segment, bool only)
{
    for (uint32_t done = 0; done < segment->period;) {
        Code code;
        uint32_t taken = lower_straight(c->lowering, &code, segment->first + done, segment->period - done);
        bool good = emit_piece(c, &code, NULL, taken, c->lanes, only && taken == segment->period);
        code_free(&code);
        done += taken;
        if (!good)
            return false;
    }
    return true;
}

static bool
is_cold(const Compiler *c)
{
    uint32_t found;
    return map_get(&c->cold, (uint64_t)(c->func - c->request->sys->funcs.at), &found);
}

// Operations of one trip: routines repeat what they do a few times.
static uint64_t
trip_work(const Compiler *c, const Code *code)
{
    enum { REPETITIONS = 10 };
    uint64_t work = code->body.n;
    for (uint32_t i = 0; i < code->body.n; i++) {
        if (code->body.at[i].kind != CODE_INVOKE)
            continue;
        const Routine *routine = routine_of(c->request->sys->exprs, code->body.at[i].a);
        work += (uint64_t)REPETITIONS*(routine->steps.n + routine->blocks.n);
    }
    return work;
}

// Whether a part of the trips, whichever it is, can be done while another thread does others: none reads what another one writes, no place is written
// twice, and nothing is called or can fail, which is recorded in one place.
static bool
can_divide(const Code *code, const Pieces *pieces, const Segment *segment)
{
    const Column *columns = pieces->columns.at + segment->columns;
    for (uint32_t i = 0; i < code->before.n; i++) {
        uint8_t kind = code->before.at[i].kind;
        if (kind >= CODE_INDEX && kind <= CODE_RESULT && kind != CODE_TABLE)
            return false;
    }
    for (uint32_t i = 0; i < code->body.n; i++) {
        const CodeOp *op = &code->body.at[i];
        if (op->kind >= CODE_INDEX && op->kind <= CODE_RESULT && op->kind != CODE_TABLE)
            return false;
        if (op->kind == CODE_LOAD && op->a != UINT32_MAX && op->b)
            return false;
        if (op->kind != CODE_STORE)
            continue;
        const Column *column = &columns[op->a];
        if (!column->table && column->stride == 0)
            return false;
        for (uint32_t t = 1; column->table && t < segment->trips; t++)
            if (pieces->tables.at[column->table - 1 + t] <= pieces->tables.at[column->table - 2 + t])
                return false;
        for (uint32_t k = 0; k < i; k++)
            if (code->body.at[k].kind == CODE_STORE && !columns_disjoint(&columns[code->body.at[k].a], column))
                return false;
    }
    return true;
}

static bool
is_long(const Segment *segment)
{
    return segment->trips > 1 && (uint64_t)segment->trips * segment->period >= LEAST_DIVIDED;
}

static bool
has_long_loop(const Pieces *pieces)
{
    for (uint32_t s = 0; s < pieces->segments.n; s++)
        if (is_long(&pieces->segments.at[s]))
            return true;
    return false;
}

static bool
compile_repeated(Compiler *c, const Pieces *pieces, const Segment *segment, bool only)
{
    Code code;
    LlLoop loop = {pieces, segment, false, false, c->request->kept != NULL};
    lower_loop(c->lowering, &code, pieces, segment);
    loop.divided = c->divided && is_long(segment) && can_divide(&code, pieces, segment);
    int opt = c->request->options.opt;
    uint64_t work = trip_work(c, &code) * segment->trips;
    uint64_t enough = opt >= 2 ? 0 : opt == 1 ? LOOP_WORK / 16 : LOOP_WORK;
    bool optimised = opt != 0 && work >= enough && (opt > 0 || !is_cold(c));
    bool good = emit_piece(c, &code, &loop, segment->period, c->lanes || (optimised && !c->request->directions && code.body.n <= LARGEST_OPTIMISED), only);
    code_free(&code);
    return good;
}

// The function that calls the parts in order.
static bool
emit_calls(Compiler *c)
{
    LlModule *m = module_for(c, false);
    if (!m)
        return false;
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", c->func->name, suffix(c));
    LLVMValueRef function = function_named(m, whole, false), given[2] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1)};
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, function, ""));
    for (uint32_t part = 0; part < c->parts; part++) {
        char name[256];
        part_name(name, sizeof name, c, part);
        LLVMValueRef callee = function_named(m, name, true);
        LLVMBuildCall2(m->builder, LLVMGlobalGetValueType(callee), callee, given, m->directions ? 2 : 1, "");
    }
    LLVMBuildRetVoid(m->builder);
    m->instrs += 1 + c->parts / 4;
    return true;
}

// The body that a group of functions shares, under the name of the group's leader.
static bool
compile_shared(Compiler *c, const Func *func)
{
    Code code;
    Pieces pieces;
    c->func = func;
    share_pieces(&pieces, c->request->sys, &c->slots, func);
    LlLoop loop = {.pieces = &pieces, .segment = pieces.segments.at, .self = true};
    lower_loop(c->lowering, &code, &pieces, loop.segment);
    bool good = emit_piece(c, &code, &loop, func->count, c->lanes, true);
    code_free(&code);
    pieces_free(&pieces);
    return good;
}

// Instructions outside of loops; one that reads very much (the inputs of a call that takes a large array) counts as several.
static uint32_t
straight_instrs(const Compiler *c, const Pieces *pieces)
{
    enum { MUCH = 64 };
    const Sys *sys = c->request->sys;
    uint32_t sum = 0;
    for (uint32_t s = 0; s < pieces->segments.n; s++) {
        const Segment *segment = &pieces->segments.at[s];
        for (uint32_t i = 0; segment->trips == 1 && i < segment->period; i++)
            sum += 1 + expr_nslots(sys->exprs, sys->instrs.at[segment->first + i].shape) / MUCH;
    }
    return sum;
}

static bool
compile_function(Compiler *c, const Func *func)
{
    const LlRequest *request = c->request;
    Pieces pieces;
    c->func = func;
    c->parts = 0;
    pieces_make(&pieces, request->sys, &c->slots, func->first, func->count);
    if (request->late && !request->marked && straight_instrs(c, &pieces) >= LATE_INSTRS) {
        request->late[func - request->sys->funcs.at] = 1;
        pieces_free(&pieces);
        return true;
    }
    c->divided = request->divided && !c->lanes && !is_cold(c) && has_long_loop(&pieces) ? &request->divided[func - request->sys->funcs.at] : NULL;
    bool good = true, only = pieces.segments.n == 1 && !c->divided;
    for (uint32_t s = 0; good && s < pieces.segments.n; s++) {
        const Segment *segment = &pieces.segments.at[s];
        good = segment->trips > 1 ? compile_repeated(c, &pieces, segment, only)
            : compile_straight(c, segment, only);
    }
    if (good && c->parts && !c->divided)
        good = emit_calls(c);
    c->divided = NULL;
    if (request->kept && pieces.tables.n)
        vec_push(request->kept, pieces);
    else
        pieces_free(&pieces);
    return good;
}

// Functions that are only reached from parameters, instants and the initial system run once: they are not
// optimised unless the user asks for it.
static void
find_cold(Compiler *c)
{
    const Sys *sys = c->request->sys;
    const mdl_model *model = sys->model;
    Map hot = {0};
    for (uint32_t i = 0; i < sys->fixups.n; i++) {
        uintptr_t at = (uintptr_t)sys->fixups.at[i].at;
        bool once = at == (uintptr_t)&model->parameters || at == (uintptr_t)&model->instants ||
                    (at >= (uintptr_t)model->init && at < (uintptr_t)(model->init + model->n_init));
        map_put(once ? &c->cold : &hot, sys->fixups.at[i].func, 0);
    }
    if (hot.count && c->cold.count) {
        Map both = {0};
        uint32_t found;
        for (uint32_t f = 0; f < sys->funcs.n; f++)
            if (map_get(&c->cold, f, &found) && !map_get(&hot, f, &found))
                map_put(&both, f, 0);
        map_free(&c->cold);
        c->cold = both;
    }
    map_free(&hot);
}

static bool
compile_one(Compiler *c, uint32_t f)
{
    const Func *func = &c->request->sys->funcs.at[f];
    uint32_t leader = c->request->sharing ? c->request->sharing->leader.at[f] : SHARE_NONE;
    if (leader == f)
        return compile_shared(c, func);
    return leader != SHARE_NONE || !func->count || compile_function(c, func);
}

// What a step calls, once more.
static bool
compile_lanes(Compiler *c)
{
    const Sys *sys = c->request->sys;
    uint8_t *called = base_calloc(sys->funcs.n + 1, sizeof *called);
    bool good = true;
    ll_lanes_functions(sys, c->request->implicit, called);
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (called[f] && c->request->sharing->leader.at[f] != SHARE_NONE)
            called[c->request->sharing->leader.at[f]] = 1;
    c->lanes = true;
    for (uint32_t f = 0; good && f < sys->funcs.n; f++)
        good = !called[f] || compile_one(c, f);
    c->lanes = false;
    free(called);
    return good;
}

// The tangents of dynamics and outputs, and nothing else.
static bool
compile_directions(Compiler *c)
{
    const Sys *sys = c->request->sys;
    uint8_t *called = base_calloc(sys->funcs.n + 1, sizeof *called);
    bool good = true;
    ll_directions_functions(sys, called);
    for (uint32_t f = 0; good && f < sys->funcs.n; f++)
        good = !called[f] || compile_one(c, f);
    *c->request->unfit = c->unfit;
    free(called);
    return good;
}

bool
ll_compile(const LlRequest *request, Out *why)
{
    if (!request->sharing && !request->marked && !request->directions && !sys_verify(request->sys, why)) // who shares has verified already
        return false;
    Compiler c = {.request = request, .why = why};
    c.lowering = lowering_create(request->sys, &c.slots);
    find_cold(&c);
    bool good = request->marked || request->directions || compile_routines(&c);
    good = good && (!request->directions || compile_directions(&c));
    for (uint32_t f = 0; good && !request->routines_alone && !request->directions && f < request->sys->funcs.n; f++) {
        if ((!request->marked || request->late[f]) && !(request->made && request->made[f]))
            good = compile_one(&c, f);
    }
    good = good && (!request->lanes || compile_lanes(&c));
    good = good && (!request->single || module_for(&c, false)) && finish_module(&c, &c.straight) && finish_module(&c, &c.loops)
        && finish_waiting(&c);
    for (uint32_t k = 0; k < c.finished.n; k++)
        ll_module_close(&c.finished.at[k].module);
    vec_free(&c.finished);
    ll_module_close(&c.straight);
    ll_module_close(&c.loops);
    if (c.fast)
        LLVMDisposeTargetMachine(c.fast);
    if (c.best)
        LLVMDisposeTargetMachine(c.best);
    lowering_free(&c.lowering);
    vec_free(&c.slots.count);
    map_free(&c.cold);
    return good;
}
