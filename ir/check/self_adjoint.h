// self_adjoint.h: do the equations of motion of a model have a Lagrangian, and what would give them one? `mdlc show helmholtz`.
#ifndef MDLC_IR_CHECK_SELF_ADJOINT_H
#define MDLC_IR_CHECK_SELF_ADJOINT_H

#include "ir/check/motion_rows.h"

typedef enum Adjointness {
    ADJOINT_PROVEN,         // every condition is an identity by its form
    ADJOINT_PROBABLE,       // those that are not agree at all points looked at
    ADJOINT_WITH_FACTORS,   // as one of the two before, when rows are multiplied by `factors`
    ADJOINT_LEFT,           // probable of the motion that constraints leave, with factors of position (and exp(rate*time), or of time)
    ADJOINT_NOT,
    ADJOINT_OPEN            // nothing can be said: `reason`
} Adjointness;

// Why the motion that is left has no Lagrangian with a kinetic energy of second degree in velocities.
typedef enum LeftFails {
    LEFT_FAILS_NOTHING,
    LEFT_FAILS_DEGREE,      // (33): forces on i grow otherwise than with the square of velocities
    LEFT_FAILS_ENERGY,      // (33): terms of second degree in velocities belong to no kinetic energy
    LEFT_FAILS_DAMPING,     // terms of first degree, condition (33) of the coordinates i, j
    LEFT_FAILS_FORCES,      // condition (32) of the coordinates i, j
    LEFT_FAILS_INTEGRABLE,  // `row` is a constraint of velocities that is none of positions
    LEFT_FAILS_ORDER,       // `firsts` have rates, and no accelerations
    LEFT_FAILS_HIGHER       // rows have a derivative of i of a higher order, `order`
} LeftFails;

typedef struct LeftVerdict {
    Adjointness verdict;    // ADJOINT_PROBABLE, ADJOINT_NOT, ADJOINT_OPEN
    LeftFails fails, also;  // also: of ADJOINT_NOT where rates of first order are not asked for
    uint32_t i, j, row;     // of `whole`
    bool homogeneous, constrained, moved, plain; // moved: the factors depend on time, too; plain: it fails by far
    double rate;
    uint32_t freedoms, order;
    U32Vec firsts;
    uint32_t alone;         // of ADJOINT_NOT: a variable that a row without any other determines, while others depend on it; NONE
    const char *reason;     // of ADJOINT_OPEN
} LeftVerdict;

typedef struct AdjointSystem { // positions that rows join
    Adjointness verdict, with_factors;
    U32Vec rows, variables; // pairs: the row and the variable whose virtual displacement it works on
    VEC(Expr) factors;      // per row, where that makes them self-adjoint
    bool exchanged;         // rows count for each other's variables
    const char *condition;  // the first that fails as the rows are written, of these two places among the pairs
    uint32_t i, j;
    Expr left, right;
    double left_value, right_value; // at a point
    const char *reason;
    bool may_be_others;     // a condition fails, and rows may be paired with others than theirs
    bool by_motion;         // judged by the motion that is left:
    LeftVerdict motion;
} AdjointSystem;

typedef struct SelfAdjoint {
    MotionRows rows, whole; // whole: nothing of them is a sum of rows; where a system is judged by its motion
    bool has_whole;
    VEC(AdjointSystem) systems;
    const char *reason;     // why nothing can be said at all, or NULL
} SelfAdjoint;

// Requires FACT_ALIASES. Nothing of the model changes but memos.
void self_adjoint_make(Dae *dae, SelfAdjoint *out);
// left_lagrangian.c: of the motion that rows leave which hang together with the variables `from`. Frees nothing of *out, which is overwritten.
void left_lagrangian_judge(MotionRows *rows, const U32Vec *from, LeftVerdict *out);
void self_adjoint_free(SelfAdjoint *about);
void self_adjoint_print_text(const SelfAdjoint *about, Out *out);
// {"reason", "systems": [{"verdict", "reason", "rows": [{variable, residual, path, line}], "fails": {condition, equation, variable, left, right}, "factors",
// "edits": [{path, line, column, end_line, end_column, text}]}]}; of systems judged by their motion also "freedoms", "rate", "by_time" and "motion_fails":
// {condition, variables}.
void self_adjoint_print_json(const SelfAdjoint *about, Out *out);

#endif
