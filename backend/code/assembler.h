// assembler.h: instructions of x86-64 with AVX as bytes, and the memory that they are executed in.
#ifndef MDLC_BACKEND_CODE_ASSEMBLER_H
#define MDLC_BACKEND_CODE_ASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"

// Where an instruction names a constant: its 32 bits, its end.
typedef struct PoolUse {
    uint32_t at, end, entry;
} PoolUse;

// An operand: a register of SSE, a place of one of three arrays (whose addresses are in rbx, rsi and rdx), one of the stack (of rsp), or a constant.
enum { PLACES_EACH = 1 << 28 }; // of an array: place k of array a is a*PLACES_EACH + k
typedef enum Whereabouts { IN_REGISTER, IN_PLACE, IN_FRAME, IN_POOL } Whereabouts;
typedef struct Operand {
    Whereabouts kind;
    uint32_t n;
} Operand;

// Prefix and opcode of an instruction with three operands: dest = source `op` operand.
typedef struct Opcode {
    uint8_t prefix, map, code; // prefix: 0 none, 1 66, 2 f3, 3 f2; map: 1 0f, 2 0f38 with doubles, 3 0f3a
} Opcode;

// An instruction that is not written yet, with so many bytes of the immediate behind it.
typedef struct Waiting {
    Opcode opcode;
    uint8_t reg, source, behind;
    Operand operand;
    uint32_t immediate;
} Waiting;

// Code under construction, which may stand anywhere. Constants are collected behind it. Zero-initialise; free with assembler_free().
typedef struct Assembler {
    U8Vec bytes;
    VEC(Waiting) waiting;
    U32Vec places;            // that they name, as long as they are written
    VEC(uint64_t) pool;       // bits of the constants
    VEC(PoolUse) uses;
    Map entry_of, pair_of;    // bits -> entry of the pool; of the first of two
} Assembler;

#define X86_LOAD ((Opcode){3, 1, 0x10})
#define X86_STORE ((Opcode){3, 1, 0x11})
#define X86_MOVE ((Opcode){1, 1, 0x28})
#define X86_ADD ((Opcode){3, 1, 0x58})
#define X86_MUL ((Opcode){3, 1, 0x59})
#define X86_SUB ((Opcode){3, 1, 0x5c})
#define X86_DIV ((Opcode){3, 1, 0x5e})
#define X86_MIN ((Opcode){3, 1, 0x5d})
#define X86_MAX ((Opcode){3, 1, 0x5f})
#define X86_SQRT ((Opcode){3, 1, 0x51})
#define X86_COMPARE ((Opcode){3, 1, 0xc2})
#define X86_AND ((Opcode){1, 1, 0x54})
#define X86_OR ((Opcode){1, 1, 0x56})
#define X86_XOR ((Opcode){1, 1, 0x57})
#define X86_ROUND ((Opcode){1, 3, 0x0b})
#define X86_LESS_PRODUCT ((Opcode){1, 2, 0xbd}) // dest = dest - source*operand, where mdl_straight_fuses()
#define X86_BLEND ((Opcode){1, 3, 0x4b})

enum { NO_IMMEDIATE = -1 };

// Whether this processor has these instructions.
bool processor_suits(void);
void assembler_free(Assembler *a);
void put_bytes(Assembler *a, const void *bytes, uint32_t n);
void put_32(Assembler *a, uint32_t bits);
// reg = source `opcode` operand, with a byte behind it where one is given. Moves have source 0. Neither these nor stores of zero are in `bytes` before
// something else is put; rax, rcx, rdi, rbp and r8 to r11 are lost.
void put_vector(Assembler *a, Opcode opcode, uint8_t reg, uint8_t source, Operand operand, int immediate);
void put_store_zero(Assembler *a, uint32_t place);
// The entry of a constant; of one with eight bytes of zeros behind it, as instructions on whole registers read it.
uint32_t pool_entry(Assembler *a, double value);
uint32_t pool_pair(Assembler *a, uint64_t bits);
// The address of a place of the first array, or of the stack, into a register for integers.
void put_address(Assembler *a, uint8_t reg, Operand operand);
void put_immediate(Assembler *a, uint8_t reg, uint64_t number); // into rdi (7) or rsi (6)
void put_store_rax(Assembler *a, uint32_t slot); // in the stack
void put_call(Assembler *a, uintptr_t address); // rax is lost
void put_call_through(Assembler *a, const uintptr_t *address); // which stands there when it is called
// A function of as many as three arrays, of which one that calls others has the first only: everything from function_begin(), which returns where that
// is, to function_end(), which is told how much of the stack it needs.
uint32_t function_begin(Assembler *a);
void function_end(Assembler *a, uint32_t begin, uint32_t slots);
// Takes back what has been written since function_begin(), when there were so many uses of constants.
void function_drop(Assembler *a, uint32_t begin, uint32_t uses);
// Sets the 32 bits at `at` to the distance from behind them to where the code goes on.
void assembler_jump_here(Assembler *a, uint32_t at);

// Code with its constants in memory of its own, from where it can be executed, never written to at the same time. NULL: the system gives none.
uint8_t *executable_make(Assembler *a, size_t *size);
void executable_free(uint8_t *memory, size_t size);

#endif
