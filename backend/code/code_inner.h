// code_inner.h: what the files that make linear code share.
#ifndef MDLC_BACKEND_CODE_CODE_INNER_H
#define MDLC_BACKEND_CODE_CODE_INNER_H

#include "backend/code/code.h"
#include "ir/base/map.h"

typedef struct Frame {
    Expr expr;
    uint32_t state; // operands visited so far
    uint32_t undo;  // of a branch: length of the undo log when it was opened
} Frame;

typedef enum UndoKind { UNDO_EXPR, UNDO_VALUE, UNDO_MEMORY } UndoKind;
typedef struct Undo {
    UndoKind kind;
    uint32_t key, old;
} Undo;

// What is known of a value for finding it again.
typedef struct Known {
    uint64_t key;
    uint32_t value, next; // next: index + 1 into `known`
} Known;

enum { NO_VALUE = UINT32_MAX - 1 };

struct Lowering {
    const Sys *sys;
    SlotCounts *slots;
    Code *code;
    const uint32_t *operand;   // of the instruction at hand: place or column of each slot
    uint32_t time_operand;
    const Pieces *pieces;          // of a loop
    const Segment *segment;
    U32Vec expr_stamp, expr_value; // by expression: value in this instruction when stamp = epoch
    uint32_t epoch;
    U8Vec cost;                // by expression: operations + 1, 255 expensive, 0 unknown
    VEC(Known) known;          // a hash table with undo: chains from the heads
    U32Vec heads;
    Map memory;                // place or column -> value it holds
    Map table_of;              // hash of constants that are chosen among -> where they begin in Code.tables
    U8Vec boolean, hoisted;    // by value: of Boolean type; made before the loop
    U8Vec written;             // by column: may some trip write it
    VEC(Frame) stack;
    VEC(Undo) undo;
    U32Vec todo;
    uint32_t depth;            // open branches
    Expr call;                 // in a routine: a call whose outputs steps store one by one, 0: none,
    uint32_t call_value;       // its value,
    Map read;                  // and the cells that it reads
};

// --- code_values.c
// Forgets all values: another piece begins.
void values_forget(Lowering *l);
// A value that is found again by its key.
void value_remember(Lowering *l, uint64_t key, uint32_t value);
// Takes back everything remembered since the log had `length` entries.
void values_undo(Lowering *l, uint32_t length);
// Appends an operation whatever is known; before the loop when `hoist`.
uint32_t value_append(Lowering *l, CodeOp op, bool hoist);
// Whether nothing in it changes from trip to trip.
bool value_can_hoist(const Lowering *l, const CodeOp *op);
// The operation that makes a value.
const CodeOp *value_maker(const Lowering *l, uint32_t value);
// Value of a pure operation: an earlier one when there is one.
uint32_t value_pure(Lowering *l, CodeOp op);
uint32_t value_make(Lowering *l, CodeKind kind, uint32_t a, uint32_t b);
uint32_t value_constant(Lowering *l, double value);
// What a place or column holds from now on; NO_VALUE: that is not known.
void value_set_memory(Lowering *l, uint32_t operand, uint32_t value);
uint32_t value_load(Lowering *l, uint32_t operand);
void value_store(Lowering *l, uint32_t operand, uint32_t value);
uint32_t value_as_boolean(Lowering *l, uint32_t value);
uint32_t value_as_real(Lowering *l, uint32_t value);

#endif
