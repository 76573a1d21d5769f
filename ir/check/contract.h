// contract.h: what the check of physical contracts (contract.c) shares with its messages (contract_report.c).
#ifndef MDLC_IR_CHECK_CONTRACT_H
#define MDLC_IR_CHECK_CONTRACT_H

#include "ir/structure/problem.h"

enum {
    INPUT_COLUMN = NONE - 1
};
enum { GIVEN_BY_VALUE = 1, GIVEN_BY_CONNECTION = 2 };

typedef struct Index { // items of owner i: items[start[i] .. start[i + 1])
    U32Vec start, items;
} Index;

typedef struct Spot { // what one column of the local problem is
    Var var, effort;   // an own variable (effort = NONE), or a scalar bond's potential and flow variables
    uint32_t scalar;   // scalar bond, counted within its connector
} Spot;

typedef struct Contract {
    Dae *dae;
    Diags *diags;
    U32Vec owner;      // per instance: the component it belongs to: itself, or what it is a connector or record of
    U8Vec composite;   // per instance: it has components of its own
    Index groups, connectors, equations; // by component
    U32Vec column_of;  // per variable: column of the local problem, INPUT_COLUMN or NONE
    VEC(Spot) places; // per column
    U8Vec closed, driven; // per connector: connections reach it from inside its component, from outside
    U8Vec source;      // per connector: protected or an output, and what its own class connects has its value from it
    U8Vec given;       // per variable: GIVEN_... outside its component
    U32Vec inputs;     // inputs of components that are not given: unknowns of the component around
    Index open_inputs; // indexes `inputs`
    U8Vec determined;  // per variable: first scalar of an overconstrained record that its own component determines
    U32Vec turns;      // per variable: connector + 1 of an orientation that is given from outside
    bool turning;      // equations with such orientations may hold rotations (contract_make_problem)
    Map checked;
    bool ok;
} Contract;

// The matched problem of a constraint that does not close each scalar bond once: E0413, E0414.
void contract_report_constraint(Contract *contract, uint32_t inst, const Problem *problem);
// The problem of another component with too few or too many equations: E0415, E0416.
void contract_report_count(Contract *contract, uint32_t inst, const Problem *problem, const char *kind);
// --- shared with local.c
// The unknowns of a component as places; false when its connectors' flows and potentials do not pair up.
bool contract_add_places(Contract *contract, uint32_t inst);
void contract_forget_places(Contract *contract, uint32_t inst);
// Its equations with the places they have.
void contract_make_problem(const Contract *contract, uint32_t inst, Problem *problem);
void contract_print_place(Dae *dae, uint32_t inst, const Spot *place, Out *out);
// The variable that a declaration or modification gives a value, or NONE.
Var contract_bound_var(const Dae *dae, const Equation *equation);
void contract_open_inputs(Contract *contract, U32Vec *owner_of);
// E0420: a component without a contract has another number of equations than of unknowns.
void contract_check_model(Contract *contract, uint32_t inst);
// A signal that is protected is a variable of its class, whatever it is declared as, and not given by what is around.
bool contract_is_inside(const Dae *dae, uint32_t connector);
const char *contract_path(Dae *dae, uint32_t inst); // of the instance; the model's name for the model itself

#endif
