// problem.h: a square set of equations and unknowns, and the structural passes over it.
//
// Passes run in the order of ir/pipeline.c. All work on flat arrays of 32-bit ids in natural (source)
// order, in linear or near-linear time, without recursion.
#ifndef MDLC_IR_PROBLEM_H
#define MDLC_IR_PROBLEM_H

#include "ir/dae.h"

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

// --- the passes on the Dae; each returns false after reporting errors to diags
bool pass_bonds(Dae *dae, Diags *diags);     // connection sets -> junctions, bonds, equations (bonds.c)
// After pass_bonds: physical contracts of body, element, constraint and memory classes (contract.c).
bool pass_contract(Dae *dae, Diags *diags);
// After pass_contract: arguments with a domain (thresholds, restitution, intervals) are asserted (thresholds.c).
bool pass_thresholds(Dae *dae, Diags *diags);
// After pass_contract: chain variables of memory elements that nothing uses are marked removed (chain.c).
bool pass_chain(Dae *dae, Diags *diags);
// Nothing depends on what changes more often than it may (variability.c): before everything, and for the variables that
// change at events once the matching says which equations determine them.
bool pass_variability(Dae *dae, Diags *diags);
bool variability_of_discretes(Dae *dae, const Problem *discrete, Diags *diags);
// Where the problem leaves an Integer, a Boolean undetermined because what it is given changes continuously: true after saying so.
bool variability_of_undetermined(Dae *dae, const Problem *problem, Diags *diags);
bool pass_units(Dae *dae, Diags *diags);     // both sides of every equation have one unit (units.c)
bool pass_roots(Dae *dae, Diags *diags);     // roots of what they empty become set-valued terms (roots.c)
bool pass_algebra(Dae *dae, Diags *diags);   // luz and tar in normal form (algebra.c)
bool pass_integrals(Dae *dae, Diags *diags);  // integrals become their values (integrals.c)
bool pass_coulomb(Dae *dae, Diags *diags);    // coulomb(v, a) becomes unknowns and laws (coulomb.c)
bool pass_unilateral(Dae *dae, Diags *diags); // unilateral(x, e) becomes an unknown and a law (unilateral.c)
void integrals_of_energies(Dae *dae);         // those in energies, before equations are made of them
bool pass_laws(Dae *dae, Diags *diags);      // set-valued terms become unknowns and laws (laws.c)
bool pass_delays(Dae *dae, bool settable, Diags *diags);    // delay(): hidden variables and Dae.delays (delays.c)
bool pass_transports(Dae *dae, Diags *diags); // spatialDistribution(): the same, and Dae.transports (transports.c)
bool pass_curves(Dae *dae, Diags *diags);    // curves of memory elements are smooth enough (curves.c)
bool pass_fractional(Dae *dae, Diags *diags); // fder(): hidden variables and Dae.fractionals (fractional.c)
bool pass_shorten(Dae *dae, Diags *diags);   // long equations with events: parts become variables (shorten.c)
bool pass_integers(Dae *dae, Diags *diags);  // floor, ceil, trunc of what moves: held values, events (integers.c)
bool pass_alias(Dae *dae, Diags *diags);     // x = y, x = -y, x + y = 0; also their derivatives (alias.c)
bool pass_zeros(Dae *dae, Diags *diags);     // after pass_alias: what zeros multiply vanishes (zeros.c)
bool pass_merge(Dae *dae, Diags *diags);     // after pass_alias: one set-valued law per velocity (merge.c)
bool pass_cycles(Dae *dae, Diags *diags);    // after pass_alias: positions cancel round kinematic loops (cycles.c)
bool pass_networks(Dae *dae, Diags *diags);  // after pass_alias: loops and cuts that bind states alone are said (networks.c)
bool pass_balance(Dae *dae, Diags *diags);   // counts, Dulmage-Mendelsohn messages in physical words (balance.c)
// The same, but mechanisms with redundant constraints are squared first (closure.c).
bool pass_balance_closed(Dae *dae, Diags *diags);

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
// Pantelides (SIAM J. Sci. Stat. Comput. 9 (1988) 213): appends differentiated equations, sets Law.level
// (index.c).
bool pass_index(Dae *dae, Reduction *reduction, Diags *diags);
// Dummy derivatives (Mattsson, Soderlind, SIAM J. Sci. Comput. 14 (1993) 677), chosen by StateSelect; the x
// of a law of level 1 is preferred above all (states.c).
bool pass_states(Dae *dae, Reduction *reduction, Diags *diags);
// The problem of the dynamics: all continuous equations, unknown = all continuous variables that are not
// states (derivatives of states, algebraic variables, dummy derivatives); matched with the bond graph's
// priorities and sorted (causality.c). Then Bond.effort_from is set from the matching.
bool pass_causality(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);

// Part of pass_causality: a curve that turns round is not solved for what it is a function of: false after E0522; where its
// derivative is, an assertion keeps to the branch (curves.c).
bool curves_check_inverses(Dae *dae, const Reduction *reduction, const Problem *problem, Diags *diags);

// --- text of `mdlc show blt`, `show states`, `show index`
// Blocks in evaluation order: "3: v1 := equation" for a single equation, all unknowns and equations of a
// loop.
void problem_print_blt(const Dae *dae, const Problem *problem, Out *out);
void reduction_print_states(const Dae *dae, const Reduction *reduction, Out *out);
void reduction_print_index(const Dae *dae, const Reduction *reduction, Out *out);

// mdlc show init: conditions given and start values that were taken as fixed (init.c).
void problem_print_init(const Dae *dae, const Problem *problem, Out *out);

// Gives start values parameters of their own, which a compiled model can set (starts.c); before pass_init.
void starts_detach(Dae *dae, const Reduction *reduction);
// The problem of initialisation: all equations, initial equations, fixed starts, and default starts (init.c).
bool pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);
// Part of pass_init: start values of loops' unknowns that follow from those the model gives (guess.c).
void init_guesses(Dae *dae, const Problem *problem);

#endif
