// assembler.c: instructions of x86-64 with AVX as bytes, and the memory that they are executed in.
//
// Purpose: machine code of straight programs without a compiler behind it: some ten bytes are written for each operation.
// Method: instructions with three operands (VEX prefixes, Intel's manual, volume 2), of which the last one may be memory: a place of v, one of the
//   stack, or a constant that stands behind the code and is named by its distance. They wait until something else comes - a call, a jump, the end - so that
//   those with places around one address, in a register, are known and name them by a byte (place_windows.c). Memory is written first and then made
//   executable, never both at once.
// Contract: assembler.h. Only put_* write; places are below 2^28, so that their distances have 32 bits.
// Complexity: constant per instruction.
#include <sys/mman.h>
#include <unistd.h>

#include "backend/code/assembler.h"
#include "backend/code/place_windows.h"

enum { RSP = 4, RIP = 5 };
static const uint8_t ARRAY[] = {3, 6, 2};             // rbx, rsi, rdx
static const uint8_t WINDOW[WINDOWS] = {0, 1, 7, 5, 8, 9, 10, 11}; // rax, rcx, rdi, rbp, r8 to r11: where the middle of a window is

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
    vec_free(&a->waiting);
    vec_free(&a->places);
    vec_free(&a->pool);
    vec_free(&a->uses);
    map_free(&a->entry_of);
    map_free(&a->pair_of);
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

// --- instructions that wait

enum { LONGEST = 16 }; // bytes of an instruction

static void
append(Assembler *a, const void *bytes, uint32_t n)
{
    vec_append(&a->bytes, (const uint8_t *)bytes, n);
}

// Whether a place needs a window to be named by a byte.
static bool
is_far(Operand operand)
{
    return operand.kind == IN_PLACE && operand.n % PLACES_EACH * sizeof(double) > INT8_MAX;
}

// Behind the opcode: which register, and where the operand is. `behind`: bytes of the instruction that follow. Returns where these go.
static uint8_t *
write_operand(Assembler *a, uint8_t *to, uint8_t reg, Operand operand, uint32_t behind)
{
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
        *to++ = (uint8_t)((close ? 0x40 : 0x80) | middle | (operand.kind == IN_PLACE ? ARRAY[operand.n / PLACES_EACH] : RSP));
        if (operand.kind == IN_FRAME)
            *to++ = 0x24;
        memcpy(to, &offset, sizeof offset);
        return to + (close ? 1 : sizeof offset);
    }
    return to;
}

static void
append_operand(Assembler *a, uint8_t reg, Operand operand)
{
    vec_reserve(&a->bytes, a->bytes.n + LONGEST);
    uint8_t *to = write_operand(a, a->bytes.at + a->bytes.n, reg, operand, 0);
    a->bytes.n = (uint32_t)(to - a->bytes.at);
}

// The address in the middle of a window into its register, from that of the array or from where the window was.
static void
set_window(Assembler *a, uint32_t window, uint32_t low, uint32_t from)
{
    uint8_t reg = WINDOW[window], base = ARRAY[low / PLACES_EACH];
    uint32_t offset = low % PLACES_EACH * (uint32_t)sizeof(double) + INT8_MAX + 1;
    int64_t distance = ((int64_t)low - from) * (int64_t)sizeof(double);
    bool close = distance >= INT8_MIN && distance <= INT8_MAX;
    uint8_t high = reg >= 8 ? 4 : 0, middle = (uint8_t)((reg & 7) << 3);
    const uint8_t lea[3] = {(uint8_t)(0x48 | high | (close ? high >> 2 : 0)), 0x8d, (uint8_t)(middle | (close ? 0x40 | (reg & 7) : 0x80 | base))};
    append(a, lea, sizeof lea);
    append(a, close ? (const void *)&distance : &offset, close ? 1 : sizeof offset); // the lowest byte comes first
}

static uint8_t *
write_place(Assembler *a, uint8_t *to, uint8_t reg, Operand operand, uint32_t behind, uint32_t window, const PlaceWindows *windows)
{
    if (window == NO_WINDOW)
        return write_operand(a, to, reg, operand, behind);
    *to++ = (uint8_t)(0x40 | (reg & 7) << 3 | (WINDOW[window] & 7));
    *to++ = (uint8_t)((operand.n - windows->low[window]) * sizeof(double) - (INT8_MAX + 1));
    return to;
}

static void
write_waiting(Assembler *a, const Waiting *w, uint32_t window, const PlaceWindows *windows)
{
    bool high = window == NO_WINDOW ? w->operand.kind == IN_REGISTER && w->operand.n >= 8 : WINDOW[window] >= 8;
    uint8_t inverted = (uint8_t)(w->reg < 8 ? 0x80 : 0), last = (uint8_t)((~w->source & 15) << 3 | w->opcode.prefix);
    vec_reserve(&a->bytes, a->bytes.n + LONGEST);
    uint8_t *to = a->bytes.at + a->bytes.n;
    if (w->opcode.map == 0) { // mov qword ..., 0
        *to++ = high ? 0x49 : 0x48;
    } else if (!high && w->opcode.map == 1) {
        *to++ = 0xc5;
        *to++ = (uint8_t)(inverted | last);
    } else {
        *to++ = 0xc4;
        *to++ = (uint8_t)(inverted | 0x40 | (high ? 0 : 0x20) | w->opcode.map);
        *to++ = (uint8_t)((w->opcode.map == 2 ? 0x80 : 0) | last);
    }
    *to++ = w->opcode.code;
    to = write_place(a, to, w->reg, w->operand, w->behind, window, windows);
    memcpy(to, &w->immediate, w->behind);
    a->bytes.n = (uint32_t)(to + w->behind - a->bytes.at);
}

// All that wait, with windows of their own.
static void
flush(Assembler *a)
{
    PlaceWindows windows = {0};
    vec_clear(&a->places);
    for (uint32_t i = 0; i < a->waiting.n; i++)
        if (is_far(a->waiting.at[i].operand))
            vec_push(&a->places, a->waiting.at[i].operand.n);
    for (uint32_t i = 0, use = 0; i < a->waiting.n; i++) {
        uint32_t window = NO_WINDOW, from;
        bool moved = false;
        if (is_far(a->waiting.at[i].operand))
            window = window_of(&windows, a->places.at, a->places.n, use++, &moved, &from);
        if (moved)
            set_window(a, window, windows.low[window], from);
        write_waiting(a, &a->waiting.at[i], window, &windows);
    }
    vec_clear(&a->waiting);
}

void
put_vector(Assembler *a, Opcode opcode, uint8_t reg, uint8_t source, Operand operand, int immediate)
{
    bool none = immediate == NO_IMMEDIATE;
    vec_push(&a->waiting, (Waiting){opcode, reg, source, none ? 0 : 1, operand, none ? 0 : (uint32_t)immediate});
}

void
put_store_zero(Assembler *a, uint32_t place)
{
    vec_push(&a->waiting, (Waiting){{0, 0, 0xc7}, 0, 0, sizeof(uint32_t), {IN_PLACE, place}, 0});
}

// --- what does not wait

void
put_bytes(Assembler *a, const void *bytes, uint32_t n)
{
    flush(a);
    append(a, bytes, n);
}

void
put_32(Assembler *a, uint32_t bits)
{
    put_bytes(a, &bits, sizeof bits); // the lowest byte comes first
}

void
put_address(Assembler *a, uint8_t reg, Operand operand)
{
    const uint8_t lea[2] = {reg < 8 ? 0x48 : 0x4c, 0x8d};
    put_bytes(a, lea, sizeof lea);
    append_operand(a, reg, operand);
}

void
put_immediate(Assembler *a, uint8_t reg, uint64_t number)
{
    const uint8_t mov[2] = {0x48, (uint8_t)(0xb8 | reg)};
    put_bytes(a, mov, sizeof mov);
    put_bytes(a, &number, sizeof number);
}

void
put_store_rax(Assembler *a, uint32_t slot)
{
    put_bytes(a, "\x48\x89", 2);
    append_operand(a, 0, (Operand){IN_FRAME, slot});
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
    put_bytes(a, "\x53\x55\x48\x89\xfb\x48\x81\xec", 8); // push rbx; push rbp; mov rbx, rdi; sub rsp, ...
    put_32(a, 0);
    return begin;
}

void
function_end(Assembler *a, uint32_t begin, uint32_t slots)
{
    uint32_t frame = slots / 2 * 16 + 8; // the stack is at a multiple of 16 where functions are called
    memcpy(a->bytes.at + begin + 8, &frame, sizeof frame);
    put_bytes(a, "\x48\x81\xc4", 3);    // add rsp, ...
    put_32(a, frame);
    put_bytes(a, "\x5d\x5b\xc3", 3);     // pop rbp; pop rbx; ret
}

void
function_drop(Assembler *a, uint32_t begin, uint32_t uses)
{
    vec_clear(&a->waiting);
    a->bytes.n = begin;
    a->uses.n = uses;
}

void
assembler_jump_here(Assembler *a, uint32_t at)
{
    flush(a);
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
