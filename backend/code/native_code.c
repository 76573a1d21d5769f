// native_code.c: the straight functions of a model as machine code without LLVM.
//
// Purpose: most functions of most models are straight programs, which need a compiler neither to be compiled nor to be fast: LLVM's fastest way takes as long
//   as a function takes some thousand times to run, and leaves three instructions for an operation.
// Method: each function is one list of operations (code.c), or several where it is very long, through register_code.c. Loops are unrolled where they are
//   short: a loop of LLVM's fastest way takes ten instructions for an operation, and as long to make as some dozens of unrolled trips.
//   Routines are another engine's: they are called through a table of their addresses.
// Contract: engine.h. What is not made here - long loops, code that many functions share - is left to another engine.
// Complexity: linear in the operations.
#include "backend/code/engine.h"
#include "backend/code/register_code.h"

struct NativeCode {
    uint8_t *memory;
    size_t size;
    Calls calls;
    uint8_t *callers;  // by function: it calls a routine
};

bool
native_function_calls(const NativeCode *native, uint32_t func)
{
    return native && native->callers && native->callers[func];
}

bool
native_calls(const NativeCode *native, uint32_t routine)
{
    return native && native->calls.called && native->calls.called[routine];
}

void
native_set_routine(NativeCode *native, uint32_t routine, mdl_fn *address)
{
    native->calls.address[routine] = (uintptr_t)address;
}

#ifdef __x86_64__

enum {
    MOST_SHARED = 2000,   // instructions of all functions of a group: as long to make as what they would share
    UNROLLED = 64,        // trips on average, and
    MOST_UNROLLED = 6000, // instructions of a function with loops: from some 60,000 operations on straight code is not faster than a loop
    LONGEST = 200000,     // instructions of any: longer ones have loops, which are not looked for twice
};

// Looks at some places: a long function with loops is told from others without cutting it into pieces, which whoever compiles it does once more.
static bool
seems_to_repeat(const Sys *sys, const Func *func)
{
    enum { PLACES = 16, LONGEST_PERIOD = 64, TRIPS = 9 };
    const Instr *instr = sys->instrs.at + func->first;
    for (uint32_t k = 0; k < PLACES; k++) {
        uint32_t at = (uint32_t)((uint64_t)(func->count - LONGEST_PERIOD * TRIPS) * k / PLACES);
        for (uint32_t period = 1; period <= LONGEST_PERIOD; period++) {
            uint32_t trip = 1;
            while (trip < TRIPS && instr[at].shape == instr[at + trip * period].shape)
                trip++;
            if (trip == TRIPS)
                return true;
        }
    }
    return false;
}

// Unrolled, where it has loops.
static bool
is_straight(const Sys *sys, SlotCounts *slots, const Func *func, bool always)
{
    Pieces pieces;
    uint32_t written = 0, loops = 0;
    if (func->count > LONGEST || (!always && func->count > MOST_UNROLLED && seems_to_repeat(sys, func)))
        return false;
    pieces_make(&pieces, sys, slots, func->first, func->count);
    for (uint32_t s = 0; s < pieces.segments.n; s++) {
        written += pieces.segments.at[s].period;
        loops += pieces.segments.at[s].trips > 1;
    }
    pieces_free(&pieces);
    return always || !loops || (func->count <= MOST_UNROLLED && func->count / UNROLLED <= written);
}

// Appends a function, which begins at *at. False: nothing has been appended.
static bool
write_function(Assembler *a, Lowering *lowering, const Func *func, Calls *calls, uint32_t *at)
{
    uint32_t uses = a->uses.n, begin = function_begin(a), slots = 0;
    bool good = true;
    for (uint32_t done = 0; done < func->count && good;) {
        Code code;
        done += lower_long(lowering, &code, func->first + done, func->count - done);
        good = register_code(a, &code, calls, &slots);
        code_free(&code);
    }
    if (good) {
        function_end(a, begin, slots);
        *at = begin;
        return true;
    }
    function_drop(a, begin, uses);
    return false;
}

// Instructions of all functions that share code with this one, by leader.
static void
measure_groups(const Sys *sys, const uint32_t *leader, U32Vec *length)
{
    vec_grow(length, sys->funcs.n);
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (leader[f] != SHARE_NONE)
            length->at[leader[f]] += sys->funcs.at[f].count;
}

// Code is shared by all functions of a group or by none: where one of them has none the others lose theirs.
static void
complete_groups(const Sys *sys, const uint32_t *leader, mdl_code *code)
{
    uint8_t *lacks = base_calloc((size_t)sys->funcs.n + 1, sizeof *lacks);
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (leader[f] != SHARE_NONE && !code[f].fn)
            lacks[leader[f]] = 1;
    for (uint32_t f = 0; f < sys->funcs.n; f++)
        if (leader[f] != SHARE_NONE && lacks[leader[f]])
            code[f].fn = NULL;
    free(lacks);
}

NativeCode *
native_create(const Sys *sys, SlotCounts *slots, const uint32_t *leader, bool all, mdl_code *code)
{
    enum { MOST_BYTES = 1 << 30 };
    if (!processor_suits() || sys->model->nv >= PLACES_EACH)
        return NULL;
    Assembler a = {0};
    Lowering *lowering = lowering_create(sys, slots);
    NativeCode *native = base_calloc(1, sizeof *native);
    uint32_t routines = routine_count(sys->exprs) + 1;
    native->calls = (Calls){.sys = sys, .address = base_calloc(routines, sizeof *native->calls.address),
                            .called = base_calloc(routines, sizeof *native->calls.called)};
    native->callers = base_calloc((size_t)sys->funcs.n + 1, sizeof *native->callers);
    U32Vec made = {0}, at = {0}, shared = {0};
    measure_groups(sys, leader, &shared);
    for (uint32_t f = 0; f < sys->funcs.n && a.bytes.n < MOST_BYTES; f++) {
        const Func *func = &sys->funcs.at[f];
        uint32_t begin;
        native->calls.made = 0;
        if (!func->count || (leader[f] != SHARE_NONE && shared.at[leader[f]] > MOST_SHARED) || !is_straight(sys, slots, func, all) ||
            !write_function(&a, lowering, func, &native->calls, &begin))
            continue;
        native->callers[f] = native->calls.made > 0;
        vec_push(&made, f);
        vec_push(&at, begin);
    }
    native->memory = made.n ? executable_make(&a, &native->size) : NULL;
    for (uint32_t i = 0; i < made.n && native->memory; i++)
        code[made.at[i]].fn = (mdl_fn *)(uintptr_t)(native->memory + at.at[i]);
    complete_groups(sys, leader, code);
    vec_free(&shared);
    vec_free(&made);
    vec_free(&at);
    lowering_free(&lowering);
    assembler_free(&a);
    return native;
}

void
native_free(NativeCode **slot)
{
    if (*slot) {
        executable_free((*slot)->memory, (*slot)->size);
        free((*slot)->calls.address);
        free((*slot)->calls.called);
        free((*slot)->callers);
        for (uint32_t i = 0; i < (*slot)->calls.tables.n; i++)
            free((*slot)->calls.tables.at[i]);
        vec_free(&(*slot)->calls.tables);
    }
    free(*slot);
    *slot = NULL;
}

#else

NativeCode *
native_create(const Sys *sys, SlotCounts *slots, const uint32_t *leader, bool all, mdl_code *code)
{
    (void)sys, (void)slots, (void)leader, (void)all, (void)code;
    return NULL;
}

void
native_free(NativeCode **slot)
{
    *slot = NULL;
}

#endif
