// self_adjoint.h: do the equations of motion of a model have a Lagrangian, and what would give them one? `mdlc show helmholtz`.
#ifndef MDLC_IR_CHECK_SELF_ADJOINT_H
#define MDLC_IR_CHECK_SELF_ADJOINT_H

#include "ir/check/motion_rows.h"

typedef enum Adjointness {
    ADJOINT_PROVEN,         // every condition is an identity by its form
    ADJOINT_PROBABLE,       // those that are not agree at all points looked at
    ADJOINT_WITH_FACTORS,   // as one of the two before, when rows are multiplied by `factors`
    ADJOINT_LEFT,           // probable of the one motion that constraints leave, with a factor of position (and exp(rate*time))
    ADJOINT_NOT,
    ADJOINT_OPEN            // nothing can be said: `reason`
} Adjointness;

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
    double rate;            // of ADJOINT_LEFT
} AdjointSystem;

typedef struct SelfAdjoint {
    MotionRows rows;
    VEC(AdjointSystem) systems;
    const char *reason;     // why nothing can be said at all, or NULL
} SelfAdjoint;

// Requires FACT_ALIASES. Nothing of the model changes but memos.
void self_adjoint_make(Dae *dae, SelfAdjoint *out);
// one_freedom.c: of the motion that the constraints of a system leave, where it is one: ADJOINT_PROBABLE with a factor of position and exp(*rate*time),
// ADJOINT_NOT, or ADJOINT_OPEN where nothing can be said.
Adjointness one_freedom_judge(MotionRows *rows, const AdjointSystem *system, double *rate);
void self_adjoint_free(SelfAdjoint *about);
void self_adjoint_print_text(const SelfAdjoint *about, Out *out);
// {"reason", "systems": [{"verdict", "rows": [{variable, equation, path, line}], "fails": {condition, equation, variable, difference}, "factors", "edits":
// [{path, line, column, end_line, end_column, text}]}]}
void self_adjoint_print_json(const SelfAdjoint *about, Out *out);

#endif
