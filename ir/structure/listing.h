// listing.h: long lists of variables and equations, by component.
#ifndef MDLC_IR_STRUCTURE_LISTING_H
#define MDLC_IR_STRUCTURE_LISTING_H

#include "ir/dae/dae.h"

// Up to so many items are listed one per line; more are gathered by component.
enum { LISTING_SHORT = 24 };
// Lines of a list that somebody may read; what is longer is told by kinds, and by --format=json.
enum { LISTING_LONG = 200 };

// The node of the component that declares a variable: that of the nearest instance around which has one; or NONE.
uint32_t listing_node_of(const Dae *dae, Var var);
// "  WORD component: name, name, ..." in lines of at most 110 columns, components in order of their nodes.
void listing_print_variables(const Dae *dae, const char *word, const Var *vars, uint32_t n, Out *out);
// "  component (Class): 12 equations" in order of nodes, with `what` behind the number; one line for all of a class with the same number
// where there are many.
void listing_print_counts(const Dae *dae, const uint32_t *equations, uint32_t n, const char *what, Out *out);

#endif
