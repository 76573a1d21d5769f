// storage.h: storages in derivative causality: which, by what they are forced, what that costs, what would help.
#ifndef MDLC_IR_VIEW_STORAGE_H
#define MDLC_IR_VIEW_STORAGE_H

#include "ir/structure/problem.h"

// `mdlc show index` and `show states`: for every element that differentiates a variable of its own which is no state: the
// element, the way through the bond graph to the storage or source that determines the variable, the constraint that
// is differentiated, and remedies. Requires causality. At most 20 are explained; the rest is counted.
void storages_print_text(Dae *dae, const Reduction *reduction, const Problem *problem, Out *out);
// The same as a JSON array of {component, class, kind, variables, chain, forced_by, index, constraint, remedies}.
void storages_print_json(Dae *dae, const Reduction *reduction, const Problem *problem, Out *out);

#endif
