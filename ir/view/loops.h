// loops.h: algebraic loops in the words of bond graphs, and structural views as JSON.
#ifndef MDLC_IR_VIEW_LOOPS_H
#define MDLC_IR_VIEW_LOOPS_H

#include "ir/structure/causal.h"

// `mdlc show loops`: every block of several equations of the dynamics: its tearing variables and unknowns, its
// equations with their components, and the bonds whose effort or flow it determines together.
void loops_print_text(Dae *dae, const Problem *problem, const Causal *causal, Out *out);
void loops_print_json(Dae *dae, const Problem *problem, const Causal *causal, Out *out);

// The other views as JSON.
void problem_print_blt_json(Dae *dae, const Problem *problem, Out *out);   // {"blocks": [{unknowns, equations}]}
void reduction_print_states_json(Dae *dae, const Reduction *reduction, Out *out); // {states, dummies, invariants}
// {index, differentiated: [{equation, derivative, path, line}]}; open: the closing brace is left to the caller
void reduction_print_index_json(Dae *dae, const Reduction *reduction, Out *out);
void problem_print_init_json(Dae *dae, const Problem *problem, Out *out);  // {conditions, assumed, blocks}

#endif
