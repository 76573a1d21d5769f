// ll_emitter.h: what ll_emit.c and ll_routine.c share.
#ifndef MDLC_BACKEND_LLVM_LL_EMITTER_H
#define MDLC_BACKEND_LLVM_LL_EMITTER_H

#include "backend/llvm/llvm.h"
#include "ir/base/map.h"

typedef struct Loaded { // a value that is what memory holds
    uint32_t from;      // place, cell or column + 1; 0: it is not
    uint32_t when;      // it was loaded
} Loaded;

typedef struct Twin {  // the i64 that equals a value
    LLVMValueRef value; // NULL: there is none
    double bound;       // of its magnitude
} Twin;

typedef struct Emitter {
    LlModule *m;
    const Code *code;
    LLVMValueRef function, v;
    LLVMValueRef tangents;     // where places from m->shift on stand, when m->directions
    const Routine *routine;    // NULL: of a model's function
    VEC(LLVMValueRef) cell;    // of a routine, by variable (Routine.extents): its memory
    VEC(LLVMValueRef) blocks_of; // of a routine: by block
    LLVMBasicBlockRef leave, failed; // of a routine: its end, and that of a call which has failed; may be the same
    bool inside;               // of a routine: for calls by other routines
    LLVMValueRef state;        // what calls share
    LLVMValueRef work;         // of a routine that calls nothing: an i64, the repetitions left
    LLVMValueRef buffer;       // arrays that are inputs of calls, and outputs
    uint32_t buffer_size, outputs_at; // outputs_at: of the last call, in the buffer
    LLVMValueRef returned;     // the only output of the last call
    Loaded *loaded;            // by value number
    U8Vec late;                // by value number, 2: a load that only a call with many inputs needs, which copies them where they stand
    Map late_at;               // place -> the value that is to be loaded from there, for who stores there first
    uint32_t *partner;         // by value number of a sine or cosine: of what is computed with it, + 1; NULL: there are none
    LLVMValueRef pair;         // memory of two doubles; NULL: not yet
    Twin *twin;                // by value number, in routines; otherwise NULL
    U8Vec whole_cell;          // of a routine: by cell, 1: it is an i64
    U8Vec steady_cell;         // the same, 1: it is written once, or never
    Map stored;                // place or cell -> when it was stored last
    LLVMValueRef table;        // the constants of Code.tables; NULL: not yet
    uint32_t now, stored_at;   // operations are counted; when something was stored at a computed position
    const LlLoop *loop;
    LLVMValueRef *value;       // by value number
    LLVMValueRef trip;         // i64
    LLVMValueRef *address;     // by column: valid in the current trip, outside branches
    VEC(LLVMValueRef) tables;  // by column: base of the table
    VEC(LLVMBasicBlockRef) blocks; // open branches: (true end, else or join) pairs
    VEC(LLVMValueRef) sides;
    U32Vec strides;            // strides whose products are known
    VEC(LLVMValueRef) products;
    LLVMValueRef read_scope;   // of loads that no store of the loop meets; NULL in straight code
    uint32_t depth;
} Emitter;

// --- ll_emit.c
LLVMValueRef ll_index(Emitter *e, int64_t value);
LLVMValueRef ll_place(Emitter *e, LLVMValueRef base, LLVMValueRef index); // base + index, of doubles
LLVMValueRef ll_real(Emitter *e, double value);
LLVMValueRef ll_value(Emitter *e, uint32_t number); // that of an operation; a late load is emitted now
LLVMValueRef ll_load(Emitter *e, LLVMValueRef address);
LLVMValueRef ll_compare(Emitter *e, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef ll_choose(Emitter *e, LLVMValueRef condition, LLVMValueRef yes, LLVMValueRef no);
LLVMBasicBlockRef ll_block(Emitter *e);
void ll_next_block(Emitter *e); // what follows is emitted there
LLVMValueRef ll_doubles(Emitter *e, uint32_t n); // memory of this call
// Goes on in a new block when the condition holds, in *otherwise (to be filled) when it does not, which is rare.
void ll_expect(Emitter *e, LLVMValueRef condition, LLVMBasicBlockRef *otherwise);
LLVMValueRef ll_state(Emitter *e, uint32_t offset);
// The first failure counts, and the first warning; `at` says where it is recorded.
void ll_record(Emitter *e, uint32_t at, uint32_t site, const LLVMValueRef *values, uint32_t n);
void ll_operations(Emitter *e, const CodeOps *ops);
void ll_call_attribute(LlModule *m, LLVMValueRef call, const char *name, uint64_t value);
void ll_begin_values(Emitter *e, const Code *code);
void ll_free_emitter(Emitter *e);
LLVMValueRef ll_column(Emitter *e, uint32_t number); // address of a loop's column

// --- ll_directions.c: while m->directions
// The address of an operand that is a tangent, whose type *type becomes; NULL: it is none.
LLVMValueRef ll_tangent_address(Emitter *e, uint32_t operand, LLVMTypeRef *type);
// Of a column: the same.
bool ll_tangent_column(Emitter *e, const Column *column);
LLVMValueRef ll_tangent_place(Emitter *e, LLVMValueRef place); // of an i64
bool ll_is_vector(LLVMValueRef value);
// The same value for all directions, unless it has one for each.
LLVMValueRef ll_broadcast(Emitter *e, LLVMValueRef value);
// Prepares the operands (NULL: there is none) of an operation that has other ones than numbers; true: ll_lanes_end() is to follow.
bool ll_directions_operands(Emitter *e, const CodeOp *op, LLVMValueRef operand[3]);
// Whether an operation has no form for several directions; its value is then 0, and the module unfit.
bool ll_directions_lack(Emitter *e, const CodeOp *op, const uint32_t *operand, uint32_t n);

// --- ll_routine.c
LLVMValueRef ll_cell(Emitter *e, uint32_t cell, LLVMValueRef plus);
void ll_invoke(Emitter *e, const CodeOp *op);
LLVMValueRef ll_result(Emitter *e, const CodeOp *op);

// --- ll_pairs.c
void ll_find_pairs(Emitter *e, const CodeOps *ops); // before the operations are emitted
bool ll_pair(Emitter *e, const CodeOp *op);         // emits a sine or cosine that is one of a pair; false: it is none

// --- ll_whole.c
void ll_find_whole(Emitter *e); // the cells of a routine that are whole numbers
// Emits an operation on whole numbers; false: it is none.
bool ll_whole(Emitter *e, const CodeOp *op, const uint32_t *operand, uint32_t n);
// A value that is a whole number, as an i64.
LLVMValueRef ll_whole_value(Emitter *e, uint32_t value);

#endif
