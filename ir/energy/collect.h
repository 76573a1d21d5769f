// collect.h: what collecting energies into systems consists of. Private to collect.c, definitions.c and entries.c.
#ifndef MDLC_IR_ENERGY_COLLECT_H
#define MDLC_IR_ENERGY_COLLECT_H

#include "ir/base/sets.h"
#include "ir/energy/energy_system.h"

typedef struct Definition { // of var, by the right (or left) side of an equation
    Var var;
    uint32_t equation;
    bool swapped;           // e = v
    double order;           // of an integral: 1 for der(z) = e, that of fder(z, order) = e
    Expr told_order;        // of fder(z, order) = e: the order, over the row of the equation
    bool may_change;        // the order: parameters give it that can be set in a compiled model
    uint32_t reach;         // a coordinate it depends on, or NONE
} Definition;

typedef struct Collect {
    Dae *dae;
    Diags *diags;
    Map coordinate_of;      // variable -> index into Dae.coordinates
    Map given_by;           // variable -> index into `definitions`
    VEC(Definition) definitions;
    Map rate_given_by;      // variable z of an equation der(z) = e or fder(z, order) = e -> index into `integrals`
    VEC(Definition) integrals;
    U8Vec state;            // per definition: 0 new, 1 on the stack, 2 done
    U32Vec order;           // definitions that reach coordinates, uses after what they use
    U32Vec together;        // sets of coordinates
    U32Vec system_of, index_of; // per coordinate: its system, its number there
    U8Vec connected;        // per variable: belongs to a connector
    Map local;              // variable (or its derivative) -> expression over its system's slots
    Systems *systems;
    bool two_sided;         // for `mdlc path`: one system, energies of fractional derivatives, integrated energies as they are
    bool good;
} Collect;

// --- definitions.c
// The variable of which var is the derivative of order *order.
Var collect_base(const Dae *dae, Var var, uint32_t *order);
// Explicit equations v = e and der(z) = e.
void collect_definitions(Collect *c);
// An unknown of which it cannot be said how it depends on the coordinates: no coordinate, no variable that an explicit
// equation gives, no state, no variable of a connector.
bool collect_is_loose(Collect *c, Var var);
// A coordinate that var depends on, through definitions as far as they were visited; or NONE.
uint32_t collect_reach(Collect *c, Var var);
// The same for two of them; what they reach belongs together.
uint32_t collect_join(Collect *c, uint32_t a, uint32_t b);
// Goes through the definition that gives the variable (or the variable var is the derivative of), if any.
void collect_visit(Collect *c, Var var);
// What the equation der(z) = e of an integral reaches.
uint32_t collect_integral(Collect *c, Definition *integral);
// What a variable is to the coordinates, as far as definitions were visited.
typedef enum Role {
    ROLE_OUTSIDE,      // nothing: a parameter, or given from outside
    ROLE_DISPLACEMENT, // a coordinate, or given by an equation v = e of coordinates
    ROLE_RATE,         // a derivative
    ROLE_INTEGRAL      // not said but by an equation der(z) = e or fder(z, order) = e of coordinates, without z in e
} Role;
Role collect_role(const Collect *c, Var var);

// --- collect.c: expressions over a system's slots
// What stands for a variable: a slot, or the text of its definition. False when that has no derivative.
bool collect_local(Collect *c, System *system, Var var, Expr *out);
// The same for an expression; `plainly`: definitions stay variables.
bool collect_localise(Collect *c, System *system, Expr e, uint32_t row, bool plainly, Expr *out);
// A parameter in e that has not shaped the model.
bool collect_may_change(const Dae *dae, Expr e, const Var *row);
void collect_no_derivative(Collect *c, Span span);

// --- entries.c: one energy each; errors clear c->good
void collect_entry(Collect *c, System *system, uint32_t from);
void collect_memory(Collect *c, System *system, uint32_t from);

// --- moving.c
// Adds an inertia; of a mass that changes, its kinetic energy.
void collect_velocity(System *system, Inertia inertia);
// The inertias of a MOVING point, one for each axis of its frame.
void collect_moving(Collect *c, System *system, uint32_t from, Expr m, Expr moving);

#endif
