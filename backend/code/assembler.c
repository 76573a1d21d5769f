// assembler.c: instructions of x86-64 with AVX as bytes, and the memory that they are executed in.
//
// Purpose: machine code of straight programs without a compiler behind it: some ten bytes are written for each operation.
// Method: instructions with three operands (VEX prefixes, Intel's manual, volume 2), of which the last one may be memory: a place of v, one of the
//   stack, or a constant that stands behind the code and is named by its distance. Memory is written first and then made executable, never both at once.
// Contract: assembler.h. Only put_* write; places are below 2^28, so that their distances have 32 bits.
// Complexity: constant per instruction.
#include <sys/mman.h>
#include <unistd.h>

#include "backend/code/assembler.h"

bool
processor_suits(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx");
#else
    return false;
#endif
}

void
assembler_free(Assembler *a)
{
    vec_free(&a->bytes);
    vec_free(&a->pool);
    vec_free(&a->uses);
    map_free(&a->entry_of);
    map_free(&a->pair_of);
}

void
put_bytes(Assembler *a, const void *bytes, uint32_t n)
{
    vec_append(&a->bytes, (const uint8_t *)bytes, n);
}

void
put_32(Assembler *a, uint32_t bits)
{
    put_bytes(a, &bits, sizeof bits); // the lowest byte comes first
}

static uint32_t
new_entry(Assembler *a, uint64_t bits)
{
    vec_push(&a->pool, bits);
    return a->pool.n - 1;
}

uint32_t
pool_entry(Assembler *a, double value)
{
    uint64_t bits;
    uint32_t entry;
    memcpy(&bits, &value, sizeof bits);
    if (map_get(&a->entry_of, bits, &entry))
        return entry;
    entry = new_entry(a, bits);
    map_put(&a->entry_of, bits, entry);
    return entry;
}

uint32_t
pool_pair(Assembler *a, uint64_t bits)
{
    uint32_t entry;
    if (map_get(&a->pair_of, bits, &entry))
        return entry;
    entry = new_entry(a, bits);
    new_entry(a, 0);
    map_put(&a->pair_of, bits, entry);
    return entry;
}

enum { LONGEST = 16 }; // bytes of an instruction

// Behind the opcode: which register, and where the operand is. `behind`: bytes of the instruction that follow. Returns where these go.
static uint8_t *
write_operand(Assembler *a, uint8_t *to, uint8_t reg, Operand operand, uint32_t behind)
{
    enum { RSP = 4, RIP = 5 };
    static const uint8_t array[] = {3, 6, 2}; // rbx, rsi, rdx
    uint8_t middle = (uint8_t)((reg & 7) << 3);
    uint32_t offset = operand.n % PLACES_EACH * (uint32_t)sizeof(double), at;
    bool close = offset <= INT8_MAX;
    switch (operand.kind) {
    case IN_REGISTER:
        *to++ = (uint8_t)(0xc0 | middle | (operand.n & 7));
        return to;
    case IN_POOL:
        *to++ = (uint8_t)(middle | RIP);
        at = (uint32_t)(to - a->bytes.at);
        vec_push(&a->uses, (PoolUse){at, at + 4 + behind, operand.n});
        return to + 4;
    case IN_PLACE:
    case IN_FRAME:
        *to++ = (uint8_t)((close ? 0x40 : 0x80) | middle | (operand.kind == IN_PLACE ? array[operand.n / PLACES_EACH] : RSP));
        if (operand.kind == IN_FRAME)
            *to++ = 0x24;
        memcpy(to, &offset, sizeof offset);
        return to + (close ? 1 : sizeof offset);
    }
    return to;
}

static uint8_t *
begin_instruction(Assembler *a)
{
    vec_reserve(&a->bytes, a->bytes.n + LONGEST);
    return a->bytes.at + a->bytes.n;
}

static void
end_instruction(Assembler *a, const uint8_t *to)
{
    a->bytes.n = (uint32_t)(to - a->bytes.at);
}

void
put_vector(Assembler *a, Opcode opcode, uint8_t reg, uint8_t source, Operand operand, int immediate)
{
    bool high = operand.kind == IN_REGISTER && operand.n >= 8;
    uint8_t inverted = (uint8_t)(reg < 8 ? 0x80 : 0), last = (uint8_t)((~source & 15) << 3 | opcode.prefix);
    uint8_t *to = begin_instruction(a);
    if (!high && opcode.map == 1) {
        *to++ = 0xc5;
        *to++ = (uint8_t)(inverted | last);
    } else {
        *to++ = 0xc4;
        *to++ = (uint8_t)(inverted | 0x40 | (high ? 0 : 0x20) | opcode.map);
        *to++ = (uint8_t)((opcode.map == 2 ? 0x80 : 0) | last);
    }
    *to++ = opcode.code;
    to = write_operand(a, to, reg, operand, immediate == NO_IMMEDIATE ? 0 : 1);
    if (immediate != NO_IMMEDIATE)
        *to++ = (uint8_t)immediate;
    end_instruction(a, to);
}

void
put_address(Assembler *a, uint8_t reg, Operand operand)
{
    const uint8_t lea[2] = {reg < 8 ? 0x48 : 0x4c, 0x8d};
    put_bytes(a, lea, sizeof lea);
    end_instruction(a, write_operand(a, begin_instruction(a), reg, operand, 0));
}

void
put_store_rax(Assembler *a, uint32_t slot)
{
    put_bytes(a, "\x48\x89", 2);
    end_instruction(a, write_operand(a, begin_instruction(a), 0, (Operand){IN_FRAME, slot}, 0));
}

void
put_store_zero(Assembler *a, uint32_t place)
{
    put_bytes(a, "\x48\xc7", 2);    // mov qword ..., 0
    end_instruction(a, write_operand(a, begin_instruction(a), 0, (Operand){IN_PLACE, place}, 4));
    put_32(a, 0);
}

void
put_call(Assembler *a, uintptr_t address)
{
    put_bytes(a, "\x48\xb8", 2);     // mov rax, ...
    put_bytes(a, &address, sizeof address);
    put_bytes(a, "\xff\xd0", 2);     // call rax
}

void
put_call_through(Assembler *a, const uintptr_t *address)
{
    put_bytes(a, "\x48\xb8", 2);     // mov rax, ...
    put_bytes(a, &address, sizeof address);
    put_bytes(a, "\xff\x10", 2);     // call [rax]
}

uint32_t
function_begin(Assembler *a)
{
    while (a->bytes.n % 16)
        put_bytes(a, "\xcc", 1);
    uint32_t begin = a->bytes.n;
    put_bytes(a, "\x53\x48\x89\xfb\x48\x81\xec", 7); // push rbx; mov rbx, rdi; sub rsp, ...
    put_32(a, 0);
    return begin;
}

void
function_end(Assembler *a, uint32_t begin, uint32_t slots)
{
    uint32_t frame = (slots + 1) / 2 * 16; // the stack is at a multiple of 16 where functions are called
    memcpy(a->bytes.at + begin + 7, &frame, sizeof frame);
    put_bytes(a, "\x48\x81\xc4", 3);    // add rsp, ...
    put_32(a, frame);
    put_bytes(a, "\x5b\xc3", 2);         // pop rbx; ret
}

void
assembler_jump_here(Assembler *a, uint32_t at)
{
    uint32_t distance = a->bytes.n - (at + 4);
    memcpy(a->bytes.at + at, &distance, sizeof distance);
}

uint8_t *
executable_make(Assembler *a, size_t *size)
{
    enum { ALIGNMENT = 64 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pool = ((size_t)a->bytes.n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *size = (pool + a->pool.n * sizeof *a->pool.at + page) / page * page;
    uint8_t *memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    for (uint32_t i = 0; i < a->uses.n; i++) {
        uint32_t distance = (uint32_t)(pool + a->uses.at[i].entry * sizeof *a->pool.at - a->uses.at[i].end);
        memcpy(a->bytes.at + a->uses.at[i].at, &distance, sizeof distance);
    }
    memcpy(memory, a->bytes.at, a->bytes.n);
    if (a->pool.n)
        memcpy(memory + pool, a->pool.at, a->pool.n * sizeof *a->pool.at);
    if (mprotect(memory, *size, PROT_READ | PROT_EXEC)) {
        munmap(memory, *size);
        return NULL;
    }
    return memory;
}

void
executable_free(uint8_t *memory, size_t size)
{
    if (memory)
        munmap(memory, size);
}
