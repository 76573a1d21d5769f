// expr_inner.h: the inside of the expression table, shared by expr*.c only.
//
// Arguments have smaller ids than the expression that uses them, so that a list of reachable ids in
// post-order can be worked through without recursion.
#ifndef MDLC_IR_EXPR_EXPR_INNER_H
#define MDLC_IR_EXPR_EXPR_INNER_H

#include "ir/base/map.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/routine.h"
#include "ir/expr/text_values.h"
#include "runtime/model/model.h"

typedef struct Cell {
    uint32_t head;   // operator in the low 8 bits, number of arguments above
    uint32_t args;   // offset into `pool`; CONST: index into `constants`; SLOT: its number
    uint32_t nslots; // highest slot + 1
} Cell;

typedef struct Facts { // what an expression contains, itself included
    OpSet ops;         // in it and in what it is made of
    uint64_t slots;    // bit k % 64 for slot k
} Facts;

typedef struct ConstantBlock {
    uint32_t n;
    double *values;
    Expr *ids;
} ConstantBlock;

typedef struct Term { // of a sum: factor*base; of a product: base^factor
    double factor;
    Expr base;
} Term;

typedef struct Affine {
    Expr coefficient, rest; // 0 and 0: not affine
} Affine;

// What an expression is when slots of it are 0.
typedef struct Zeroed {
    uint64_t zero;          // bit k: slot k
    Expr left;
    uint32_t next;          // index + 1 of another one of this expression
} Zeroed;

// Which slots an expression of more than 64 of them uses: who asks for one asks for the next.
typedef struct UsedSlots {
    Expr of;
    VEC(uint64_t) bits;    // empty: it was asked once, and they have not been collected
} UsedSlots;
enum { USED_SLOTS = 8 };

typedef struct TablePlace {
    Expr id;
    uint32_t hash;         // of all that it is; what differs in it is not looked at
} TablePlace;

struct Exprs {
    VEC(Cell) cells;       // cells.at[0] is unused
    VEC(Facts) facts;
    OpSet ops;             // of all expressions
    U32Vec pool;
    F64Vec constants;
    VEC(ConstantBlock) blocks; // what expr_constants was asked for
    Map block_of;          // hash of the numbers -> index into `blocks`
    U32Vec slot_ids;       // slot -> expression, 0: not made yet. One after the other is asked for, which hashes would scatter
    TablePlace *table;     // open addressing; id 0 is a free place
    uint32_t table_size;   // a power of two
    U32Vec place;          // per id, all 0 except while one sum or product is being collected: position + 1
    VEC(Term) terms;       // a stack: sums and products under construction
    U32Vec renamed;        // per slot, of the expression that expr_shape renames; the others are whatever was there
    U32Vec stamp, index;   // per id, of the walk under way: see expr_walk
    U32Vec walking;        // its stack; empty between walks
    uint32_t generation;
    UsedSlots used[USED_SLOTS]; // by the id
    U8Vec known_shape;     // per id: 1 when its slots are numbered by first occurrence
    Map derivatives;       // (id, slot) -> derivative; (id of an equation, UINT32_MAX) -> its residual
    Expr asked, sloped;    // of many slots: the latest one that was differentiated once; whose derivatives by all slots are `slopes` (empty: there are none)
    U32Vec slopes;
    Map affine_of;         // (id, slot) -> index into `affine`
    Map zeroed_of;         // id -> index + 1 of the last in `zeroed`
    VEC(Zeroed) zeroed;
    Map noise_of;          // id -> how far rounding may have moved its value
    VEC(Affine) affine;
    Expr zero, one, time;
    Arena *arena;          // of routines and sites
    VEC(Routine *) routines; // by number; the first is none
    VEC(Site) sites;
    ExternalLoad *load;    // for values at compile time; NULL: external functions have none
    void *load_context;
    const char *said;      // of an external function that failed
    bool settling;         // no derivatives of routines are made for inputs that do not move (routine_gradient.c)
    bool folding;          // nothing external is called: what it gives need not be the same again
    uint32_t last_routine; // the last call that was evaluated
    F64Vec last_inputs, last_outputs;
    mdl_texts *texts;      // Strings that are known (ir/expr/text_values.h); NULL: there are none yet
    uint32_t text_fill[MDL_FAILURE_VALUES + 1], text_order; // routines, by the number of values; 0: not made yet
    bool text_needed;      // a table is there for what calls make
    uint32_t text_site;    // of a lack of room for texts, from 1; 0: not made yet
};

static inline Op
cell_op(const Exprs *exprs, Expr e)
{
    return (Op)(exprs->cells.at[e].head & 0xff);
}
static inline uint32_t
cell_n(const Exprs *exprs, Expr e)
{
    return exprs->cells.at[e].head >> 8;
}
// Valid until the next expression is made.
static inline const Expr *
cell_args(const Exprs *exprs, Expr e)
{
    return exprs->pool.at + exprs->cells.at[e].args;
}
static inline bool
cell_constant(const Exprs *exprs, Expr e, double *value)
{
    if (cell_op(exprs, e) != OP_CONST)
        return false;
    *value = expr_value(exprs, e);
    return true;
}
// What people are shown for e: a choice whose else-part always fails (a subscript of 1:0) is its value.
static inline Expr
cell_shown(const Exprs *exprs, Expr e)
{
    while (cell_op(exprs, e) == OP_IF) {
        Expr other = cell_args(exprs, e)[2];
        if (cell_op(exprs, other) != OP_INDEX || !expr_is_const(exprs, cell_args(exprs, other)[2], 0))
            break;
        e = cell_args(exprs, e)[1];
    }
    return e;
}
static inline uint64_t
memo_key(Expr e, uint32_t slot)
{
    return (uint64_t)e << 32 | slot;
}

// The expression with exactly this operator and these arguments, not simplified.
Expr expr_intern(Exprs *exprs, Op op, const Expr *args, uint32_t n);
void expr_prepare_calls(Exprs *exprs, const U32Vec *order);
// The positions of a walk once more, where routines were made since there were `routines` of them.
void expr_keep_positions(Exprs *exprs, const U32Vec *order, uint32_t *routines);
void routines_free(Exprs *exprs);
// Appends what is reachable from e to `order`, arguments before users, and sets exprs->index[id] to the
// position in it. With slot != UINT32_MAX only expressions that may contain the slot are entered.
void expr_walk(Exprs *exprs, Expr e, uint32_t slot, U32Vec *order);
// The same for several expressions, all complete: each part once.
void expr_walk_all(Exprs *exprs, const Expr *roots, uint32_t n, U32Vec *order);
// The derivative of e, an operator over arguments a whose derivatives are d (linear in d); 0 when there is none.
Expr expr_diff_operator(Exprs *exprs, Expr e, const Expr *a, const Expr *d, uint32_t n);
typedef enum Precedence { // of the Modelica grammar, loosest first
    LEVEL_CHOICE, // if
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_SUM,    // also a leading minus sign
    LEVEL_PRODUCT,
    LEVEL_POWER,
    LEVEL_ATOM
} Precedence;

// How tightly the top of e binds when it is printed; a product with a negative constant begins with a minus sign.
Precedence expr_precedence(const Exprs *exprs, Expr e);
// A whole number whose powers are repeated multiplications: 2 ... 64, and its negatives.
bool expr_small_power(double exponent);

#endif
