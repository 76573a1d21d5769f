// equations.h: the solved equations by node of the bond graph.
#ifndef MDLC_IR_VIEW_EQUATIONS_H
#define MDLC_IR_VIEW_EQUATIONS_H

#include "ir/structure/causal.h"

// `mdlc show equations`: for every component and junction its kind, class and place in the source, its states, what it
// computes (the evaluation order holds within a node) with units, its part in algebraic loops, its when-clauses, and its aliases.
// Names of the compiler's own are told: a condition as it is, delay(x, T), fder(x, a).
void equations_print_text(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes, Out *out);
// {"model", "nodes": [{name, kind, class, file, line, states: [{name, unit}], equations: [{variable, unit, expression, loop}],
// whens: [{when, equations, reinit: [{variable, expression}]}], aliases: [{variable, of, negative}]}],
// "loops": [{linear, iterated: [names], equations}]}; loop: number from 1, 0: none; variable: null for what is left of a loop, whose expression is zero
void equations_print_json(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes, Out *out);

#endif
