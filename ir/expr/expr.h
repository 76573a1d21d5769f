// expr.h: the door of ir/expr: expressions as shared nodes, and what can be done with them without knowing a model.
//
// In: texts and numbers.
// Out: hash-consed expressions over slots (expr.h; operators are rows of op.def), derivatives, simplification, evaluation,
// polynomials, integrals, set-valued algebra, routines, and the text form of all of it with its reader.
// Read first: expr.c, then expr_make.c and expr_diff.c.
// Also open to other rooms: expr_id.h, expr_inner.h, integrate.h, nonsmooth.h, op.def, polynomial.h, routine.h, text_values.h.
//
// expr.h: hash-consed expressions.
//
// An expression is a 32-bit id; equal ids, equal expressions. Leaves are constants, time and slots. The
// text of an equation is a *shape*: an expression whose slots are numbered 0..k-1 in order of first
// occurrence; which variable a slot stands for is said by a row (dae.h). Work on the text of equations is
// done once per shape and memoized by id.
//
// Making an expression simplifies it: constants fold (never hiding a division by zero: x/0 stays), sums
// and products are flat with one leading constant, nested negation and identities (x+0, 1*x, x^1, --x,
// if true ...) vanish. 0*x folds to 0. The order of terms is kept as written (first occurrence), and equal
// terms are collected (x + x = 2*x). Simplification is idempotent.
#ifndef MDLC_IR_EXPR_EXPR_H
#define MDLC_IR_EXPR_EXPR_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/map.h"
#include "ir/base/out.h"
#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

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

typedef enum OpType { OPTYPE_REAL, OPTYPE_BOOL, OPTYPE_ARG, OPTYPE_ARG0 } OpType;
typedef enum OpKind { OPKIND_LEAF, OPKIND_ARITH, OPKIND_COMPARE, OPKIND_LOGIC, OPKIND_CHOICE, OPKIND_MATH,
                      OPKIND_CALL, OPKIND_MODEL } OpKind;
typedef struct OpInfo {
    const char *name, *text; // "ADD", "+"
    int8_t arity;
    uint8_t type, kind;
} OpInfo;
extern const OpInfo op_table[OP_COUNT];

Exprs *exprs_create(void);
void exprs_free(Exprs **exprs);

// --- making
Expr expr_const(Exprs *exprs, double value); // -0.0 becomes 0.0; NaN and infinities are kept
Expr expr_slot(Exprs *exprs, uint32_t k);
Expr expr_time(Exprs *exprs);
Expr expr_make(Exprs *exprs, Op op, const Expr *args, uint32_t n); // simplifies
Expr expr_1(Exprs *exprs, Op op, Expr a);
Expr expr_2(Exprs *exprs, Op op, Expr a, Expr b);
Expr expr_3(Exprs *exprs, Op op, Expr a, Expr b, Expr c);
Expr expr_sub(Exprs *exprs, Expr a, Expr b); // a + -b

// --- looking
Op expr_op(const Exprs *exprs, Expr e);
uint32_t expr_nargs(const Exprs *exprs, Expr e);
Expr expr_arg(const Exprs *exprs, Expr e, uint32_t i);
double expr_value(const Exprs *exprs, Expr e);        // of a CONST
uint32_t expr_slot_of(const Exprs *exprs, Expr e);    // of a SLOT
bool expr_is_const(const Exprs *exprs, Expr e, double value);
uint32_t expr_nslots(const Exprs *exprs, Expr e);     // highest slot + 1; 0 when there is none
bool expr_uses_slot(const Exprs *exprs, Expr e, uint32_t k);
bool expr_has_op(const Exprs *exprs, Expr e, Op op);
// Whether any expression of the table has it. What looks for an operator that nothing has need not look at a model.
bool exprs_have_op(const Exprs *exprs, Op op);
// Appends each slot that occurs in the roots once, in reading order.
void expr_used_slots(const Exprs *exprs, const Expr *roots, uint32_t n, U32Vec *slots);
// Appends e and everything that it consists of once, arguments before users.
void expr_parts(const Exprs *exprs, Expr e, U32Vec *parts);
uint32_t expr_count(const Exprs *exprs);              // ids are 1..count
uint32_t expr_operations(const Exprs *exprs, Expr e); // arithmetic operations, shared parts once

// --- rewriting (memoized over the shared parts; no deep recursion)
// Slot k becomes with[k] (0 keeps the slot). n = length of `with`; further slots are kept.
Expr expr_substitute(Exprs *exprs, Expr e, const Expr *with, uint32_t n);
Expr expr_replace_slot(Exprs *exprs, Expr e, uint32_t slot, Expr with);
// What stands for a part whose arguments have become args (one per argument, as the part has them): an expression, or 0 for
// the same operator of args.
typedef Expr ExprReplace(void *context, Exprs *exprs, Expr part, const Expr *args);
// The expression with each part replaced, arguments before users. The rule may make and walk over expressions.
Expr expr_rewrite(Exprs *exprs, Expr e, ExprReplace *replace, void *context);
// Rewriting in which a part may be seen in several ways (inside noEvent or not) and not every argument is looked at. Depth costs
// memory of its own and no stack.
typedef struct ExprDescent {
    // What e, seen in `way`, needs first: its i-th such part, and the way in which that is seen; false when there are no more.
    bool (*needs)(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way);
    // What stands for e, seen in `way`, or any other number that is to be known of it. All that it needs is in `done`.
    Expr (*make)(void *context, Expr e, uint32_t way);
    void *context;
    Map *done; // per way: expression -> what stands for it; the caller clears and frees them
} ExprDescent;
Expr expr_descend(const ExprDescent *descent, Expr e, uint32_t way);
// Renumbers slots by first occurrence in reading order; order[new] = old. The result is a shape.
Expr expr_shape(Exprs *exprs, Expr e, U32Vec *order);

// --- calculus and algebra
// Partial derivative by slot k. Piecewise operators differentiate piecewise (corners take the side that
// the operator's value takes: luz at |x| = a is flat, min(a,b) at a = b follows a). Differentiating by a
// slot under floor, sign, comparisons gives 0. 0 (no expression) for what has no derivative: EQN.
// For EQN(l, r) use expr_residual first.
Expr expr_diff(Exprs *exprs, Expr e, uint32_t k);
// Total time derivative: slot k has derivative rate[k] (an expression; 0 means constant in time).
Expr expr_rate(Exprs *exprs, Expr e, const Expr *rate, uint32_t n);
// The derivative along a direction: slot k moves with rate[k], while time stands still.
Expr expr_along(Exprs *exprs, Expr e, const Expr *rate, uint32_t n);
// expr_rate for n_roots expressions at once, whose shared parts are differentiated once. False when one has no
// derivative (its out is 0 then).
bool expr_rates(Exprs *exprs, const Expr *roots, uint32_t n_roots, const Expr *rate, uint32_t n, Expr *out);
// Reverse accumulation: out[k] = sum over r of seed[r] * d root[r]/d slot k, for all k < n with want[k] at once (0 for
// the others), in time proportional to the size of the roots (Baur, Strassen, Theor. Comput. Sci. 22 (1983) 317). The
// seeds are not differentiated. False when a part has no derivative.
bool expr_gradient(Exprs *exprs, const Expr *roots, const Expr *seeds, uint32_t n_roots, const uint8_t *want,
                   uint32_t n, Expr *out);
Expr expr_residual(Exprs *exprs, Expr equation); // EQN(l, r) -> l - r (same id when e is no EQN)
// e = coefficient * slot_k + rest with neither containing slot k. False when e is not affine in slot k.
bool expr_affine(Exprs *exprs, Expr e, uint32_t k, Expr *coefficient, Expr *rest);
// Solves an equation (EQN, or e = 0) for slot k: the expression that slot k equals, or 0 when there is no
// single-valued solution that is valid for all values (k in 2*k = x: x/2; k^3 = x: no). *divisor, when not
// NULL, receives the expression divided by (0 when none, or when it is a nonzero constant).
Expr expr_solve(Exprs *exprs, Expr equation, uint32_t k, Expr *divisor);

// How far rounding may have moved the value of e, in units of DBL_EPSILON and to first order: an expression over the slots of e
// and, n = expr_nslots(e) slots later, the errors of their values in the same unit. Whole numbers among the constants are exact.
Expr expr_noise(Exprs *exprs, Expr e);

// --- common parts
// Operations that remain when every part that several of the roots, or several places of one, have in common is computed
// once; what sums and products have in common is found too. A difference is one operation, as is a quotient, a power, a
// function. With `definitions` the roots are rewritten: definitions[i] is the value of slot first_slot + i, used at
// least twice, over earlier ones.
uint32_t expr_share(Exprs *exprs, Expr *roots, uint32_t n, uint32_t first_slot, U32Vec *definitions);
// Operations when all is written out (saturating at 2^30 per root).
uint64_t expr_written_operations(Exprs *exprs, const Expr *roots, uint32_t n);

// --- values and text
double expr_apply_1(Op op, double x); // the value of an operator of one number; NaN for others
// slots[k] are values; undefined operators (TAR, SGN, SAMPLE...) yield NaN.
double expr_eval(Exprs *exprs, Expr e, const double *slots, double time);
typedef void ExprSlotPrinter(Out *out, uint32_t slot, void *context);
// As source text with minimal parentheses: "C21*(v1 - v2) + luz(x, a)". slot may be NULL: prints #k.
void expr_print(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out);
// The same for texts that are read again (docs/ir.md): calls name their routine by `routine`, a subscript that is computed names
// the place of its failure by `site`.
typedef struct ExprWriter {
    ExprSlotPrinter *slot, *routine;
    uint32_t (*site)(uint32_t site, void *context);
    void *context;
} ExprWriter;
void expr_write(const Exprs *exprs, Expr e, const ExprWriter *writer, Out *out);
// Whether the text of expressions has a word of its own for it, so that nothing else can be called so.
bool expr_word(const char *name, size_t length);
// The same as presentation MathML, without the <math> around it: fractions, roots, powers, cases. Well formed also where it is
// cut for its length. `slot` prints one element.
void expr_print_math(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out);
// Reads what expr_print wrote with slot = NULL. 0 and *error_at (byte offset) on bad text.
Expr expr_read(Exprs *exprs, const char *text, uint32_t *error_at);
// The same with names for slots: asked at every word that is no operator; returns how many bytes the name
// takes (0: not a name) and sets *slot.
typedef uint32_t ExprNameReader(const char *text, uint32_t *slot, void *context);
// With `name` slots have no numbers in the text. What expr_write wrote: `routine` is asked at words before a parenthesis, and gives a routine's number; `site` gives that of a place.
typedef struct ExprReading {
    ExprNameReader *name, *routine;
    bool (*site)(uint32_t *site, void *context);
    void *context;
} ExprReading;
Expr expr_read_names(Exprs *exprs, const char *text, const ExprReading *names, uint32_t *error_at);

#endif
