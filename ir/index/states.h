// states.h: what the parts of the choice of states share (states.c, states_wish.c, states_revise.c).
#ifndef MDLC_IR_INDEX_STATES_H
#define MDLC_IR_INDEX_STATES_H

#include "ir/structure/structure.h"

// LAW: what a law holds; BESIDE: the position or velocity of what the user wants always.
enum { WISH_NEVER, WISH_MADE, WISH_AVOID, WISH_DEFAULT, WISH_PLAY, WISH_PREFER, WISH_LAW, WISH_BESIDE, WISH_ALWAYS, WISHES };
// QUALITY_NOTHING: a parameter that is zero as the model stands; only in mechanisms whose constraints follow from each other.
enum { QUALITY_CONSTANT, QUALITY_PARAMETER, QUALITY_ANY, QUALITY_NOTHING, QUALITIES };

enum { DECIDED_NOT, DECIDED_AGAINST, DECIDED_FOR }; // AGAINST: only by variables that shall not be states

typedef struct Edge {
    uint32_t column;                               // position in columns
    uint32_t equation : 28, quality : 2, bare : 2; // position in rows; bare: its quality before wishes were obeyed
} Edge;

typedef struct Column {
    Var var;          // the derivative that may become a dummy
    Var base;         // the variable that it is a derivative of, of whatever order
    uint32_t id;      // its place before sorting
    uint8_t wish;     // to keep the variable it is the derivative of as a state
    uint8_t merit;    // among equal wishes: twice its start (2: fixed, 1: written, 0: neither), and 1 if the model
                      // itself differentiates it
} Column;

typedef struct States {
    Dae *dae;
    Reduction *reduction;
    Diags *diags;
    Structure structure;
    U8Vec wish, start; // per variable, over its alias class
    U8Vec dummy;       // per variable
    Map coefficients;  // (shape, slot) -> coefficient expression
    uint8_t depth;     // of the level: 1 for the highest derivatives
    // one level:
    U32Vec rows;       // Dae equations
    VEC(Column) columns;
    VEC(Edge) edges;   // sorted by column
    U32Vec first;      // per column: its edges
    U32Vec row_of;     // per column: matched row or NONE
    U32Vec column_of;  // per row
    U8Vec decided;     // per row: a wish that has to be obeyed stands in it (DECIDED_...), and coefficients that can vanish count as sure
    U32Vec visited;    // per row: stage that visited it
    U32Vec stack, next, trail;
    U32Vec column_id;  // per variable: its column or NONE
    double largest;    // of the equation read last: its largest known coefficient of a derivative
} States;

// states_wish.c: fills `wish` and `start`.
void states_collect_wishes(States *states);
// A velocity and its position wish together; needed where constraints were differentiated.
void states_pair_wishes(States *states);
// states_revise.c: where the dummies of this level would have a singular matrix whatever the parameters are, others are chosen.
void states_revise(States *states);

// Of the level that was read last (states.c). The coefficient of slot k of the equation read last; 0: it has none.
Expr states_coefficient(States *states, uint32_t slot);
// Columns in the order in which they are offered as dummies.
void states_order(const States *states, U32Vec *order);

#endif
