// causal.h: the causal form (evaluation order) of a sorted problem: explicit assignments and torn algebraic
// loops.
#ifndef MDLC_IR_STRUCTURE_CAUSAL_H
#define MDLC_IR_STRUCTURE_CAUSAL_H

#include "ir/structure/problem.h"

// var := shape(row); rows lie in Dae.rows and name representatives.
typedef struct Assign {
    Var var;
    Expr shape;
    uint32_t row;
    uint32_t equation;  // the Dae equation it was solved from
} Assign;

// shape(row) = 0, what is left of a loop's equation.
typedef struct Residual {
    Expr shape;
    uint32_t row;
    uint32_t equation;
} Residual;

// An algebraic loop after tearing: given its tears, `inner` assignments follow in order, then the residuals,
// as many as there are tears.
typedef struct Loop {
    uint32_t inner, n_inner;   // range of Causal.assigns
    uint32_t tear, residual, n; // ranges of Causal.tears and Causal.residuals
    bool linear;               // the residuals are affine in the tears
    uint32_t constraints;      // equations among the block's that are or were differentiated: they may be redundant
    bool switched;             // there are choices in it: while certain conditions hold equations may follow from others
    uint32_t conditions;       // states among its unknowns (initial system): conditions that may leave something open
} Loop;

typedef struct CausalItem {
    bool is_loop;
    uint32_t index;            // into assigns or loops
} CausalItem;

typedef struct Causal {
    VEC(CausalItem) items;       // in causal order
    VEC(Assign) assigns;
    U32Vec singles;              // assignments that solve an equation by itself: indices
    VEC(Loop) loops;
    U32Vec tears;
    VEC(Residual) residuals;
    uint32_t reduced;          // loops removed by the algebra of luz and tar
} Causal;

void causal_free(Causal *causal);
// mdlc show equations: assignments as "var = expression", loops as groups.
void causal_print(Dae *dae, const Causal *causal, Out *out);

// --- shared by solve.c and the parts of tear.c
// True when an equation may be divided by the expression: it is made of parameters, and not of ones that make it zero.
bool causal_divides(Dae *dae, Expr divisor, const Var *vars);
// Asserts that a divisor of parameters that the equation has to be divided by is not a rounding residue of zero (divisors.c).
void causal_guard(Dae *dae, Expr divisor, const Var *vars, uint32_t equation);
// Makes an assignment of an expression over `vars`.
Assign causal_assign(Dae *dae, Var var, Expr e, const Var *vars, uint32_t equation);
// Solves equation text `shape` over `vars` for slot k; 0 when no explicit solution is safe for all values.
Expr causal_solve(Dae *dae, Expr shape, const Var *vars, uint32_t k);
// One block of several equations, or of one that cannot be solved explicitly.
typedef struct Tearing Tearing;
struct Solutions; // solutions.h; not owned
Tearing *tearing_create(Dae *dae, const Reduction *reduction, const Problem *problem, struct Solutions *solutions);
void tearing_free(Tearing **tearing);
void tearing_block(Tearing *tearing, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n);

#endif
