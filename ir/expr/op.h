// op.h: the operators of expressions, rows of op.def.
#ifndef MDLC_IR_EXPR_OP_H
#define MDLC_IR_EXPR_OP_H

#include <stdbool.h>
#include <stdint.h>

typedef enum Op {
#define OP(NAME, text, arity, type, kind, removed) OP_##NAME,
#include "ir/expr/op.def"
#undef OP
    OP_COUNT
} Op;

// <, <=, >, >=
static inline bool
op_is_order(Op op)
{
    return op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
}

typedef struct OpSet { // one bit per operator
    uint64_t word[2];
} OpSet;

static inline OpSet
ops_and(OpSet set, Op op)
{
    set.word[op / 64] |= 1ull << op % 64;
    return set;
}

static inline OpSet
ops_of(Op op)
{
    return ops_and((OpSet){{0}}, op);
}

typedef enum OpType { OPTYPE_REAL, OPTYPE_BOOL, OPTYPE_ARG, OPTYPE_ARG0 } OpType;
typedef enum OpKind { OPKIND_LEAF, OPKIND_ARITH, OPKIND_COMPARE, OPKIND_LOGIC, OPKIND_CHOICE, OPKIND_MATH,
                      OPKIND_CALL, OPKIND_MODEL } OpKind;
typedef struct OpInfo {
    const char *name, *text; // "ADD", "+"
    int8_t arity;
    uint8_t type, kind;
} OpInfo;
extern const OpInfo op_table[OP_COUNT];

#endif
