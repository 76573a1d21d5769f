// initial_inner.h: what the files of ir/initial know of each other.
#ifndef MDLC_IR_INITIAL_INITIAL_INNER_H
#define MDLC_IR_INITIAL_INITIAL_INNER_H

#include "ir/initial/initial.h"
#include "ir/structure/problem.h"

// What reinit() says of states at the start.
typedef struct InitialStates {
    U8Vec given;  // per representative: it does, and the start value does not count
    U32Vec left;  // pre() of continuous variables that is taken there: their start values
} InitialStates;

// --- initial_conditions.c

// Adds a condition; `vars` are those of the slots of `shape`.
void initial_add(Dae *dae, Problem *problem, Expr shape, const Var *vars, uint32_t n, uint32_t node, Span span);
// The pre() of a variable's representative; of the variable itself when it is the negative of it.
Var initial_pre(Dae *dae, Var var);
// Conditions pre(v) = e of one variable that have one value as far as is known while compiling are one; where parameters can be set in the
// compiled model, the values of the others are asserted to be the same.
void initial_once(Dae *dae, Problem *problem);
// Equations, initial equations, when-equations, reinits, laws and memories. `states` comes empty.
void initial_conditions(Dae *dae, Problem *problem, InitialStates *states);

// --- start_values.c

// Per variable its start bind, or NONE. The tables `start_of` of the functions below are this.
void start_value_binds(const Dae *dae, U32Vec *start_of);
// Per representative the variable of its class whose start counts, or NONE; per other variable itself, if it has a start.
void start_value_holders(Dae *dae, const U32Vec *start_of, U32Vec *holder);
// var = start; without a bind 0.
void start_value_add(Dae *dae, Problem *problem, Var var, const Bind *start, Span span);
// Fixed starts, but of representatives in `given`; those of aliases that say the same number once more are one condition.
void start_values_fixed(Dae *dae, Problem *problem, const U32Vec *start_of, const U8Vec *given);
// These pre() of continuous variables are start values; they are added to `pres`.
void start_values_left(Dae *dae, Problem *problem, const U32Vec *start_of, const U32Vec *left, U32Vec *pres);
// Parameters with fixed = false are unknowns of the initial system, and so is what depends on them: its binding becomes an initial equation.
void start_values_parameters(Dae *dae, Problem *problem);
// pre() values are known, from start values, but for those that initial equations of the first `equations` are about, be it through the
// variable itself when only a when-equation defines it (Modelica specification 3.6, section 8.6). Those are added to `pres`.
void start_values_pres(Dae *dae, Problem *problem, uint32_t equations, const U32Vec *start_of, U32Vec *pres);

// --- initial_defaults.c

// Adds `state = start` for states until nothing is missing or no candidate is left. `open`: how many conditions are missing; gives how
// many still are.
uint32_t initial_defaults(Dae *dae, const Reduction *reduction, Problem *problem, const U32Vec *start_of, uint32_t open, Diags *diags);

// W1604 where the start value of `var`, another name for what starts as `from` says, is a different one; not for the library's defaults.
void initial_tell_start(Dae *dae, const U32Vec *start_of, Var from, Var var, Diags *diags);
// The same for discrete variables whose pre() somebody asks for. False after E0601: start values that are fixed contradict each other.
bool initial_discrete_starts(Dae *dae, const U32Vec *start_of, Diags *diags);

// --- taken_branches.c

// In the incidence of the problem: what stands in branches alone that the values of parameters rule out is only read. True: there is such a thing.
bool initial_take_branches(Dae *dae, Problem *problem);

// --- implied_starts.c

// Leaves out conditions that follow from the others by their numbers, one for each that is too many, in the sets where these suffice; false when there is none.
bool initial_leave_out(Dae *dae, Problem *problem);
// Asserts that the condition holds at the start, within 1e-6 of its sides' sizes and `size_of_one`.
void initial_assert_holds(Dae *dae, uint32_t equation, double size_of_one, const char *message);

// --- dependent_conditions.c

// Marks conditions of libraries that were found in set s, as many as are too many, that depend on the others by their derivatives; false when it is
// another number.
bool initial_leave_dependent(Dae *dae, const Singular *over, uint32_t s, U8Vec *left_out);

// --- initial_report.c

// E0601 and E0606: conditions that say too much.
void init_report_over(Dae *dae, const Problem *problem, Diags *diags);
// E0602: variables that nothing determines.
void init_report_under(Dae *dae, const Problem *problem, Diags *diags);

// --- guess.c

// Start values of loops' unknowns that follow from those the model gives.
void init_guesses(Dae *dae, const Problem *problem);

#endif
