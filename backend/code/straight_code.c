// straight_code.c: programs without branches that are known only while the model runs (runtime/model/straight.h) as machine code of x86-64.
//
// Purpose: the elimination of a loop whose order stands takes three instructions per product as straight code, and more than ten as lists of places. LLVM's
//   fastest way takes 12,000 instructions for each that it makes, so that an elimination would have to be used thousands of times before it pays; six
//   kinds of operations need no compiler. This way takes some fifty, and pays after a dozen uses.
// Method: the register of a program is xmm0; the three arrays are where the calling convention leaves their addresses, and places are displacements of
//   32 bits, or 8 where that is enough. SSE2, which all of x86-64 has: no contraction, each operation rounds as it stands.
//   Memory is written first and then made executable, never both at once.
// Contract: where the system gives no such memory, or the processor is another one, there is no code and false is returned.
// Complexity: linear in the operations.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/code/engine.h"

#ifdef __x86_64__

enum { RDI = 7, RSI = 6, RDX = 2 };             // numbers of registers in instructions
enum { MOVSD_LOAD = 0x10, MOVSD_STORE = 0x11, MULSD = 0x59, SUBSD = 0x5c, DIVSD = 0x5e }; // behind f2 0f
enum { LONGEST_OP = 20, BEGIN = 15, END = 1, ALIGNMENT = 64 };

typedef struct Made {
    size_t size; // of the mapping, whose beginning this is
} Made;

static uint8_t *
put(uint8_t *at, const char *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

// An instruction with a register of SSE and a double in memory.
static uint8_t *
put_memory(uint8_t *at, uint8_t opcode, uint8_t xmm, uint32_t place)
{
    static const uint8_t base[] = {RDI, RSI, RDX};
    int32_t offset = (int32_t)(place % MDL_STRAIGHT_PLACES * sizeof(double));
    bool close = offset <= INT8_MAX;
    *at++ = 0xf2;
    *at++ = 0x0f;
    *at++ = opcode;
    *at++ = (uint8_t)((close ? 0x40 : 0x80) | xmm << 3 | base[place / MDL_STRAIGHT_PLACES]);
    memcpy(at, &offset, close ? 1 : sizeof offset); // the lowest byte comes first
    return at + (close ? 1 : sizeof offset);
}

static uint8_t *
put_op(uint8_t *at, const mdl_straight_op *op)
{
    switch ((mdl_straight_kind)op->kind) {
    case MDL_STRAIGHT_ZERO:
        return put(at, "\x0f\x57\xc0", 3);             // xorps xmm0, xmm0
    case MDL_STRAIGHT_LOAD:
        return put_memory(at, MOVSD_LOAD, 0, op->a);
    case MDL_STRAIGHT_LESS:
        at = put_memory(at, MOVSD_LOAD, 1, op->a);
        at = put_memory(at, MULSD, 1, op->b);
        return put(at, "\xf2\x0f\x5c\xc1", 4);         // subsd xmm0, xmm1
    case MDL_STRAIGHT_TIMES:
        return put_memory(at, MULSD, 0, op->a);
    case MDL_STRAIGHT_INVERT:
        at = put(at, "\x0f\x28\xcf", 3);               // movaps xmm1, xmm7
        at = put(at, "\xf2\x0f\x5e\xc8", 4);           // divsd xmm1, xmm0
        return put(at, "\x0f\x28\xc1", 3);             // movaps xmm0, xmm1
    case MDL_STRAIGHT_STORE:
        return put_memory(at, MOVSD_STORE, 0, op->a);
    }
    return at;
}

static uint8_t *
put_program(uint8_t *at, const mdl_straight *program)
{
    static const double one = 1;
    at = put(at, "\x48\xb8", 2);                       // mov rax, 1.0
    memcpy(at, &one, sizeof one);
    at = put(at + sizeof one, "\x66\x48\x0f\x6e\xf8", 5); // movq xmm7, rax
    for (uint32_t i = 0; i < program->n; i++)
        at = put_op(at, &program->op[i]);
    return put(at, "\xc3", END);                       // ret
}

static size_t
aligned(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static bool
make(void *self, const mdl_straight *program, uint32_t n, mdl_straight_fn **fn, void **made)
{
    (void)self;
    size_t size = aligned(sizeof(Made), ALIGNMENT);
    for (uint32_t k = 0; k < n; k++)
        size += aligned((size_t)program[k].n * LONGEST_OP + BEGIN + END, ALIGNMENT);
    size = aligned(size, (size_t)sysconf(_SC_PAGESIZE));
    uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return false;
    *(Made *)(void *)code = (Made){size};
    size_t at = aligned(sizeof(Made), ALIGNMENT);
    for (uint32_t k = 0; k < n; k++) {
        fn[k] = (mdl_straight_fn *)(uintptr_t)(code + at);
        at = aligned((size_t)(put_program(code + at, &program[k]) - code), ALIGNMENT);
    }
    if (mprotect(code, size, PROT_READ | PROT_EXEC)) {
        munmap(code, size);
        return false;
    }
    *made = code;
    return true;
}

static void
release(void *self, void *made)
{
    (void)self;
    munmap(made, ((const Made *)made)->size);
}

mdl_translator
straight_translator(bool at_once)
{
    return (mdl_translator){NULL, make, release, at_once};
}

#else

mdl_translator
straight_translator(bool at_once)
{
    return (mdl_translator){.at_once = at_once};
}

#endif
