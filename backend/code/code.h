// code.h: the door of backend/code: programs as linear code, interpreted or handed to an engine.
//
// In: a Sys.
// Out: pieces of linear code with shared parts (code.h), the interpreter, machine code of what is straight (native_code.c), and engines behind one interface
// (backend.h).
// Read first: backend.h, then code.c (code_values.c) and interp.c.
// Also open to other rooms: backend.h, engine.h, shared_code.h.
//
// code.h: linear code, the last form before the engines.
//
// A piece of a plan (a chunk of straight instructions, or the body of one loop) as a list of simple
// operations on numbered values. All decisions about meaning are taken here, once for both engines: how
// powers are expanded, which conditionals become branches, which values are shared, what is computed
// before a loop. Every value is written once; values of Boolean type are 0.0 and 1.0 in the interpreter, i1
// in LLVM.
#ifndef MDLC_BACKEND_CODE_CODE_H
#define MDLC_BACKEND_CODE_CODE_H

#include "backend/code/pieces.h"
#include "ir/expr/op.h"
#include "ir/expr/routine.h"

typedef enum CodeKind {
    CODE_CONST,  // dest = value
    CODE_LOAD,   // dest = v[place a], in a loop v[column a] (b: 1 when the loop may write it, else 0), or
                 // time when a is UINT32_MAX
    CODE_STORE,  // v[place a], in a loop v[column a], = b
    CODE_ADD, CODE_SUB, CODE_MUL, CODE_DIV, CODE_NEG,
    CODE_ABS, CODE_SIGN, CODE_MIN, CODE_MAX, CODE_LUZ, // see arith.h
    CODE_SQRT, CODE_FLOOR, CODE_CEIL, CODE_TRUNC,
    CODE_CALL1, CODE_CALL2,                            // libm function of Op `c`
    CODE_LT, CODE_LE, CODE_GT, CODE_GE, CODE_EQ, CODE_NE, // Boolean results
    CODE_AND, CODE_OR, CODE_NOT,                       // of Booleans
    CODE_BOOL,   // Boolean of a real: a <> 0
    CODE_REAL,   // real of a Boolean
    CODE_SELECT, // a ? b : c
    CODE_LESS_PRODUCT, // a - b*c, rounded once: in programs of a run only (straight_code.c)
    CODE_INDEX,  // a - 1 when 1 <= a <= value, else NaN and the failure c
    CODE_LOAD_AT, // cell or place a + b, b a value; NaN when b is
    CODE_TABLE,   // dest = tables[a + b] when 0 <= b < c, b a value; else NaN
    CODE_STORE_AT, // cell a + b = c, b and c values; nothing when b is NaN
    CODE_INVOKE, // calls routine a with c values from operands[b] on
    CODE_RESULT, // dest = output a of the call before; follows it at once, b: its value number
    CODE_IF,     // branch on a: operations up to ELSE are executed when true, those up to END when false
    CODE_ELSE,   // a: the value of the true side
    CODE_END,    // dest = the value of the side taken; a: the value of the false side
    CODE_KINDS
} CodeKind;

typedef struct CodeOp {
    uint8_t kind, boolean; // boolean: dest is of Boolean type
    uint32_t dest, a, b, c;
    double value;
} CodeOp;

typedef VEC(CodeOp) CodeOps;

typedef struct Code {
    CodeOps before; // of a loop: what does not change from trip to trip
    CodeOps body;
    U32Vec operands; // of calls
    F64Vec tables;   // constants that are chosen among
    uint32_t results; // doubles that the largest call needs for its inputs and outputs
    uint32_t values; // number of values: dest < values
} Code;

typedef struct Lowering Lowering;

Lowering *lowering_create(const Sys *sys, SlotCounts *slots);
void lowering_free(Lowering **lowering);
// Straight code for at most `count` instructions from `first`, stopping at about 100 instructions or 2000
// operations. Returns how many were taken (at least 1).
uint32_t lower_straight(Lowering *lowering, Code *code, uint32_t first, uint32_t count);
// The same, stopping at about 20,000 operations.
uint32_t lower_long(Lowering *lowering, Code *code, uint32_t first, uint32_t count);
// The body of a loop segment.
void lower_loop(Lowering *lowering, Code *code, const Pieces *pieces, const Segment *segment);
// A block of a routine, whose places are the cells: its steps, then its condition (*condition is a Boolean value), or the
// values of its failure (appended to code->operands).
void lower_block(Lowering *lowering, Code *code, const Routine *routine, const Block *block, uint32_t *condition);
void code_free(Code *code);
// The values an operation reads; *n says how many. They stand in `operand` (at most 3), or in the code.
const uint32_t *code_operands(const Code *code, const CodeOp *op, uint32_t operand[3], uint32_t *n);
static inline bool
code_has_value(const CodeOp *op)
{
    return op->kind != CODE_STORE && op->kind != CODE_STORE_AT && op->kind != CODE_IF && op->kind != CODE_ELSE;
}

// By value number of a sine or cosine: the other one of the same angle and under the same conditions, which comes later, + 1; 0: there is none.
// NULL: of no value. The caller frees it.
uint32_t *code_sine_pairs(const CodeOps *ops, uint32_t values);
// Name in libm of an operator that CODE_CALL1 or CODE_CALL2 calls, NULL for others.
const char *libm_name(Op op);

#endif
