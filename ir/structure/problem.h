// problem.h: a square set of equations and unknowns: matching, sorting, decomposition.
#ifndef MDLC_IR_STRUCTURE_PROBLEM_H
#define MDLC_IR_STRUCTURE_PROBLEM_H

#include "ir/dae/dae.h"

// Incidence in compressed rows: equation position i has unknowns column[start[i] .. start[i+1]), each once.
// The columns before match_end[i] can be determined by the equation; the rest it only reads (a Real under a
// comparison or in the condition of an `if`, the variables of a `when` equation other than the one it
// defines, the band of a set-valued law). Matching uses the former, sorting both.
typedef struct Incidence {
    U32Vec start, column;
    U32Vec match_end;
} Incidence;

typedef struct Problem {
    U32Vec equations;   // Dae equation ids, source order
    U8Vec unknown;      // per variable: 1 when it is to be solved for (representatives only)
    Incidence incidence;
    U32Vec var_of;      // per position in `equations`: the variable it determines, or NONE
    U32Vec equation_of; // per variable: position of the equation that determines it, or NONE
    U32Vec sorted;      // positions, in an order in which they can be evaluated (BLT)
    U32Vec block_start; // blocks of `sorted`: block b is sorted[block_start[b] .. block_start[b+1])
    U32Vec assumed;     // initialisation: Dae equations `x = start` that were added because nothing else determined x
    U32Vec without_effect; // initialisation: variables whose written start value is neither a condition nor a guess
} Problem;

void problem_free(Problem *problem);
// Everything of `from`; `to` was empty.
void problem_copy(const Problem *from, Problem *to);
// Fills `incidence` from equations and unknown, after alias resolution. An equation with a determinable
// continuous variable (known or not) determines continuous unknowns only; one without determines discrete
// ones.
void problem_incidence(Dae *dae, Problem *problem);
// Maximum matching. Rank of a variable (0 best) breaks ties where the structure leaves freedom: `rank` may be
// NULL. Returns the number of unmatched equations (var_of = NONE). Greedy, then Karp-Sipser
// when needed, then Pothen-Fan with look-ahead and fairness (Duff, Kaya, Ucar, ACM TOMS 38 (2011) 13).
uint32_t problem_match(Problem *problem, uint32_t nvars, const uint8_t *rank);
// Tarjan's strongly connected components in dependency order (block lower triangular form).
void problem_sort(Problem *problem);
uint32_t problem_unmatched(const Problem *problem); // unknowns without an equation, behind problem_match()
// Coarse Dulmage-Mendelsohn decomposition of an imperfect matching (Pothen, Fan, ACM TOMS 16 (1990) 303):
// `over`: equations of the over-determined part with the fewer variables they could determine; `under`:
// variables of the under-determined part with the fewer equations that could determine them. Both fall into
// connected culprit sets, smallest first: set s has equations[equation_start[s] .. equation_start[s+1]) and
// likewise variables, nearest to the unmatched one first. Equations are Dae equation ids. The caller frees
// both (singular_free).
typedef struct Singular {
    U32Vec equations, variables;
    U32Vec equation_start, variable_start; // sets + 1 entries; empty when there is no set
} Singular;
void problem_singular(const Problem *problem, uint32_t nvars, Singular *over, Singular *under);
void singular_free(Singular *singular);

// --- what index reduction leaves
typedef struct Reduction {
    U32Vec derivative_of; // per equation: the equation it is the time derivative of, or NONE
    U32Vec derivative;    // per equation: its time derivative, or NONE
    U8Vec state;          // per variable: 1 when it is a state
    uint32_t differentiated; // equations added
    Var first_made;       // derivatives from here on were made by differentiation, those before occur in the model
    U32Vec dummies;       // derivative variables that are algebraic unknowns (dummy derivatives)
    // Constraints whose dummy derivatives have no coefficient that is surely nonzero: their variables all
    // stay states, the constraint itself (and its lower derivatives) holds as an invariant, and the runtime
    // brings the states back to it after each step (dynamic state selection). Level 0: the user's equation, 1: its
    // derivative, ...
    U32Vec invariants;
    U8Vec invariant_level;
    // How many integrations below the highest derivatives: an invariant of depth d determines states of depth d,
    // those with d derivatives in the model (a velocity constraint that cannot be integrated has depth 1, as has the
    // derivative of a constraint on positions, which has depth 2 itself).
    U8Vec invariant_depth;
    uint32_t structural_index; // 0: ordinary differential equations, 1: no differentiation needed, ...
} Reduction;
void reduction_free(Reduction *reduction);

// --- text of `mdlc show blt`, `show states`, `show index`
// Blocks in evaluation order: "3: v1 := equation" for a single equation, all unknowns and equations of a
// loop.
void problem_print_blt(const Dae *dae, const Problem *problem, Out *out);
void reduction_print_states(const Dae *dae, const Reduction *reduction, Out *out);
void reduction_print_index(const Dae *dae, const Reduction *reduction, Out *out);

#endif
