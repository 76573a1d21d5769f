// equation_view.h: the solved equations by node of the bond graph, for those who print them.
#ifndef MDLC_IR_VIEW_EQUATION_VIEW_H
#define MDLC_IR_VIEW_EQUATION_VIEW_H

#include "ir/structure/causal.h"
#include "ir/structure/graph_paths.h"

typedef struct EquationLine { // one equation of a node
    Var var;          // NONE: a residual
    Expr shape;
    uint32_t row, loop; // loop: number from 1, 0: none
    uint32_t equation;  // of the Dae, that it was made from
    bool written;       // the shape is that equation as it was written, and var is NONE: solved, it is not shown
    uint32_t next;      // of its when-clause, in whose order the shape is what the clause assigns; NONE: there is none
} EquationLine;

typedef VEC(EquationLine) EquationLineVec;

typedef struct WhenClause { // when condition then var = e; reinit(x, e)
    Var condition;         // the compiler's variable for it
    uint32_t line, last_line;     // first and last of its assignments; NONE: none
    uint32_t reinit, last_reinit; // first and last of its reinits in dae->reinits, which `next_reinit` connects
} WhenClause;

typedef struct NodeIndex { // items of node i: items[start[i] .. start[i + 1])
    U32Vec start, items;
} NodeIndex;

typedef struct EquationView {
    Dae *dae;
    const Reduction *reduction;
    const Causal *dynamics;
    Ways ways;
    EquationLineVec lines;
    U32Vec owner;     // per line: node
    NodeIndex by_node, states, aliases, by_when, by_assert; // items of by_node: lines outside of when-clauses; of by_when: clauses
    VEC(WhenClause) whens;
    Map when_of;      // condition -> its clause
    U32Vec when_owner, next_reinit;
    Map bands;        // variable of the model that is the force of a law of dry friction -> the law
    Map rows;         // what slips in an element of a row of frictions -> its own law, among dae->row_laws
} EquationView;

// Refers to the model and its causal forms; free with equation_view_close.
EquationView equation_view_open(Dae *dae, const Reduction *reduction, const Causal *dynamics, const Causal *discretes);
void equation_view_close(EquationView *view);
// Nothing stands under the node: no equation, no state, no alias.
bool equation_view_empty(const EquationView *view, uint32_t node);
// The line says nothing that the names in other lines do not say.
bool equation_view_silent(const Dae *dae, const EquationLine *line);
// assert(condition, "message"), or when a condition terminates the run, as of `assertion`, an item of by_assert.
void equation_view_assert(const EquationView *view, uint32_t assertion, Out *out);
// The unit of a variable; that of a derivative is the variable's per second: m/s becomes m/s2. Nothing when it has none.
void equation_view_unit(const Dae *dae, Var var, Out *out);

#endif
