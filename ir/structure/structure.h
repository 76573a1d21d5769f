// structure.h: the door of ir/structure: which equation determines which unknown: incidence, matching, sorting, what is singular.
//
// In: a flat model.
// Out: problems with matching and block lower triangular form (problem.h), Dulmage-Mendelsohn parts, culprit sets, causal forms as data
// (causal.h), paths in the bond graph.
// Read first: problem.h, then match.c and sort.c.
// Also open to other rooms: causal.h, culprits.h, graph_paths.h, listing.h, problem.h, rate.h, regular.h.
//
// structure.h: what the structural passes share: which variables are unknown, what an equation
// determines, and the words for a singular structure.
#ifndef MDLC_IR_STRUCTURE_STRUCTURE_H
#define MDLC_IR_STRUCTURE_STRUCTURE_H

#include "ir/structure/problem.h"

typedef enum SlotUse {
    USE_NONE,
    USE_READ,      // the equation depends on it but cannot determine it
    USE_DETERMINE  // the equation can determine it
} SlotUse;

// A reader of equations with its memo per shape. Zero-initialise but for `dae` and `stick`.
typedef struct Structure {
    Dae *dae;
    bool stick;       // a set-valued law determines only X (its sticking mode), otherwise X or p
    bool slip;        // it determines only its third variable, p or der(p) (its slipping mode) ...
    const U8Vec *sticking; // ... unless it is marked here (per equation); may be NULL
    const U8Vec *slipping; // with `stick`: laws (per equation) that determine p nevertheless; may be NULL
    U32Vec use_of;    // per Expr: offset + 1 of its slots' uses in `uses`, 0 when not known yet
    U8Vec uses;
    U32Vec seen;      // per Expr and use: the last shape that visited it
    U32Vec stack;
    Var looked;       // variables before this one were looked at: whether one is discrete
    bool discrete;
    // the equation read last:
    Expr shape;       // resolved
    U32Vec vars;      // per slot: representative
    U8Vec use;        // per slot: SlotUse
} Structure;

// Reads an equation into shape, vars, use.
void structure_read(Structure *structure, uint32_t equation);
// The residual of an equation, which is read; its variables get slots behind those of `vars`, and are appended there. Slots for
// which `gone` is true are zero.
Expr structure_residual(Structure *structure, uint32_t equation, bool (*gone)(const void *context, uint32_t slot), const void *context,
                        U32Vec *vars);
void structure_free(Structure *structure);
// Fills problem->incidence. `column_of` (per variable; NULL: itself) names the unknown that stands for a
// variable.
void structure_incidence(Structure *structure, Problem *problem, const Var *column_of);

// True for the equations of the continuous and discrete problem: EQN_NORMAL, EQN_WHEN, EQN_LAW.
static inline bool
structure_has_equation(const Dae *dae, uint32_t equation)
{
    uint8_t kind = dae->equations.at[equation].kind;
    return kind == EQN_NORMAL || kind == EQN_WHEN || kind == EQN_LAW;
}
// column_of[v] = the representative that v, der(v), der(der(v)) ... are all derivatives of.
void structure_merge_derivatives(const Dae *dae, U32Vec *column_of);
void structure_equations(const Dae *dae, U32Vec *equations);
// unknown[v] = 1 for every representative that is a continuous or discrete variable or a derivative of one;
// not pre(), removed variables, modes of laws.
void structure_unknowns(const Dae *dae, U8Vec *unknown);
// The derivative variable of a representative when it is part of the model, else NONE.
Var structure_der(const Dae *dae, Var var);

#endif
