// machine_inner.h: state machines while they are expanded (machines.c, machine_steps.c, machine_equations.c, machine_connections.c).
#ifndef MDLC_IR_CLOCKS_MACHINE_INNER_H
#define MDLC_IR_CLOCKS_MACHINE_INNER_H

#include "ir/clocks/clock_inner.h"

typedef struct MachineState {
    uint32_t inst;
    uint32_t machine, number; // its number in the machine, from 1; the initial state has 1
    uint32_t equation;        // one that names it, for messages
    Var active;               // of the front end
    bool starts, leaves;      // there is an initialState, a transition from it
    // made by machine_steps.c:
    Var reset;                // it begins anew at this tick
    Var entered, ticks, since; // it has become active now, again perhaps; for how many ticks it is; since when. NONE until asked for
} MachineState;

typedef struct Transition {
    uint32_t from, to;        // states
    uint32_t machine;
    uint32_t equation;        // over whose row the condition is
    Expr condition;
    bool immediate, reset, synchronize;
    double priority;
} Transition;

// Transitions of one machine stand together, the one that is looked at first as the last.
typedef struct Machine {
    uint32_t inst;            // that has the states as parts
    uint32_t parent;          // the state that inst is, or is inside of; NONE
    uint32_t first, n;        // states
    uint32_t first_transition, n_transitions;
    uint32_t initial;         // a state
    Var next, fired, current; // the state at the tick before, the transition that is taken, the state now: from 1, or 0
} Machine;

typedef struct Machines {
    Clocks clocks;            // for the helpers of clock_ticks.c
    Dae *dae;
    Diags *diags;
    VEC(MachineState) states; // of one machine behind each other
    VEC(Transition) transitions;
    VEC(Machine) machines;    // one inside a state behind the one of the state
    Map state_at;             // instance -> state
    Map state_of_active;      // variable of the front end -> state
    Var made;                 // variables from here on are of the pass
} Machines;

// --- machines.c
// The innermost state that an instance is or is inside of, or NONE.
uint32_t machines_state_around(const Machines *machines, uint32_t inst);
bool machines_inside(const Machines *machines, uint32_t state, uint32_t around); // the state itself, or a state inside it; around: may be NONE
// Two states that are never active together: different ones of a machine, or inside such.
bool machines_exclude(const Machines *machines, uint32_t a, uint32_t b);

// --- machine_steps.c
void machines_make_steps(Machines *machines);
// An expression in which previous(), ticksInState() and timeInState() of the state (NONE: of none) have their meaning, over `vars` as
// before, to which slots are added. `immediate`: of the condition of an immediate transition, before it is known which state is next.
Expr machines_expand(Machines *machines, uint32_t state, bool immediate, Expr e, U32Vec *vars);
// What a variable keeps while nothing gives it a value: it is that of the tick before, or its start value where its state begins anew.
Expr machines_kept(Machines *machines, Var var, U32Vec *vars);
Expr machines_is_active(const Machines *machines, uint32_t state, U32Vec *vars);

// --- machine_connections.c
// Outputs of several states that are connected become one signal, which the active state gives.
void machines_merge_connections(Machines *machines);

// --- machine_equations.c
// Equations of states hold while these are active; what several states define has one equation. False after E0515.
bool machines_guard_equations(Machines *machines);

#endif
