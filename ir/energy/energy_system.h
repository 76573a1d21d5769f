// energy_system.h: energies gathered into systems, and what the formalisms make of them. Private to ir/energy and pass energy.
//
// A system is a set of coordinates that energies, forces and constraints join. Its expressions stand over slots of its
// own: 3i, 3i+1 and 3i+2 are coordinate i, its velocity and its acceleration; further slots are other variables. Equal
// mechanisms therefore have equal expressions.
//
// What depends on coordinates through explicit equations (x = l*sin(phi)) is written out, so that all derivatives are
// exact. Symbols in comments: q, u, a are coordinates, velocities and accelerations; T, V, D are the kinetic energy, the
// potential energy and the content of the dampers; equation numbers are those of docs/energies.md.
#ifndef MDLC_IR_ENERGY_ENERGY_SYSTEM_H
#define MDLC_IR_ENERGY_ENERGY_SYSTEM_H

#include "ir/dae/dae.h"
#include "ir/energy/energy.h"
#include "ir/expr/expr_id.h"

typedef struct Inertia { // energy m/2*v^2; m does not depend on coordinates, v dt is the differential of a position
    Expr m, v;
    Expr s;              // the position, or 0 when only v is known
    Expr a;              // the acceleration when it is not der(v): v is a component in a turning frame; or 0
    uint32_t from;       // index into Dae.energies
} Inertia;
typedef struct Term {
    Expr e;
    uint32_t from;
} Term;
typedef struct Pull {    // a generalised force
    uint32_t coordinate;
    Expr e;
    uint32_t from;
} Pull;
typedef struct Load {    // the force e on a position: e*ds/dq on each coordinate, by its virtual work
    Expr s, e;
} Load;
typedef struct Limit {   // the constraint left = right
    Expr left, right;
    bool velocity;       // between velocities; otherwise between positions
    Var multiplier;      // NONE before one is made
    uint32_t from;
} Limit;
// One displacement of a memory element with an integrated energy E: kinetic and dissipation are functions of
// displacements s, potential is one of their integrals z, der(z) = s.
typedef struct Memory {
    EnergyKind kind;
    double order;        // of the element: its derivatives below are of this order, not of the first
    Expr told_order;     // as an expression of parameters; 0: the number
    Expr s;              // the displacement, as it depends on the coordinates
    Expr slope;          // dE/ds or dE/dz: integrated momentum (kinetic) or momentum
    uint32_t from;
} Memory;
typedef struct Integrated { // a memory energy as a function of what its kind of coordinates is: for the action of a path
    EnergyKind kind;
    double order;
    Expr e;
    uint32_t from;
} Integrated;
typedef struct Suspect { // a kinetic energy factor*velocity^2 whose factor depends on a position
    Expr factor, velocity;
    uint32_t from;
} Suspect;
typedef struct Line {    // an equation made
    Expr left, right;
    uint32_t node;
    Span span;
} Line;

typedef struct System {
    Dae *dae;
    Exprs *exprs;
    Diags *diags;
    Map *names;             // of the model's variables, by instance and name; shared by all systems
    Formalism formalism;
    uint32_t n;             // coordinates
    U32Vec coordinates;     // their variables
    U32Vec vars;            // per slot: its variable; NONE for an acceleration nobody used yet
    Map slot_of;            // variable -> slot
    Map position_of;        // velocity der(s), as an expression -> s
    U32Vec rate;            // per slot: its time derivative as an expression; 0: not asked for yet
    VEC(Inertia) inertias;
    VEC(Term) kinetic, potential, dissipation; // kinetic: what has not the form of an inertia
    VEC(Pull) forces;
    VEC(Load) loads;
    VEC(Limit) limits;
    VEC(Memory) memories;
    VEC(Integrated) integrated_energies; // of a path only
    bool displaced, integrated; // memory energies say that coordinates are displacements, that they are momenta
    bool dual;              // coordinates are momenta, L = V(der(p)) - T(p): kinetic and potential have changed places
    VEC(Suspect) suspects;
    bool failed;
    VEC(Line) lines;        // the equations of motion
} System;

// --- energy_system.c
// The slot of the velocity of coordinate i as an expression.
Expr system_velocity(const System *system, uint32_t i);
// The slot of a variable as an expression; made when it is new.
Expr system_slot(System *system, Var var);
// The next of stem1, stem2, ... in a component.
Var system_new_numbered(System *system, uint32_t inst, const char *stem, bool shown, Span span);
// A new variable of the model in the component of coordinate i, named stem + name of the coordinate (with its unit).
Var system_new_var(System *system, uint32_t i, const char *stem, Sym unit);
// Time derivatives of n expressions. False after an error.
bool system_rates(System *system, const Expr *roots, uint32_t n, Expr *out);
// out[i] = sum of seed*d root/d q_i (kind 0), u_i (1) or a_i (2).
bool system_gradient(System *system, const Expr *roots, const Expr *seeds, uint32_t n, uint32_t kind, Expr *out);
// The same added to sum[i].
bool system_add_gradient(System *system, const Expr *roots, const Expr *seeds, uint32_t n, uint32_t kind, Expr *sum);
bool system_is_fixed(const System *system, Expr e);       // depends on parameters and constants only
bool system_is_scleronomic(const System *system, Expr e); // on those and on the coordinates
bool system_depends(const System *system, Expr e, uint32_t kind); // on any of q (0), u (1), a (2)
void system_moving(const System *system, Expr e, U32Vec *coordinates); // appends those whose velocities occur in e
void system_add_line(System *system, uint32_t coordinate, Expr left, Expr right);
const Energy *system_energy(const System *system, uint32_t from);
void system_free(System *system);

// --- collect.c
typedef VEC(System) Systems;
// Gathers the model's energies. False after errors.
// `two_sided`: all coordinates in one system, for the action of a path; energies may depend on fractional derivatives.
bool systems_collect(Dae *dae, Diags *diags, bool two_sided, Systems *out);

// --- squares.c
// Moves terms m/2*der(s)^2 of the kinetic energies to the inertias.
void system_find_inertias(System *system);

// Reports E0804 when some kinetic energy that is no inertia is no quadratic form of the velocities, as the formalism of
// this name needs it.
bool system_is_quadratic(System *system, const char *formalism);

// --- lagrange.c: L = T - V, where T has the kinetic energies that are no inertias, and with `whole` also the inertias
// and V; out has n elements
bool system_momenta(System *system, bool whole, Expr *out);     // dL/du
bool system_by_position(System *system, bool whole, Expr *out); // dL/dq
bool system_euler(System *system, bool whole, Expr *out);       // d/dt(dL/du) - dL/dq
// --- gibbs_appell.c: der(v) of all inertias, and m*der(v)
bool system_accelerations(System *system, U32Vec *out, U32Vec *seeds);
// --- kane.c: sum of m*der(v)*dv/du + dV/dq, and what is no inertia
bool system_inertia_forces(System *system, Expr *out);

// --- duality.c
// Decides whether coordinates are momenta, and changes the places of potential and kinetic energies then. False after
// E0803: energies of both kinds in one system.
bool system_find_duality(System *system);

// --- helmholtz.c
// Warns about kinetic energies of one displacement that hide a memory element (W1801).
void system_check_suspects(System *system);
// --- dissipation.c
bool system_check_dissipation(System *system); // false after E0805
// Adds dD/du to the forces, that of dry friction and of fractional dampers included.
bool system_dissipation_forces(System *system, Expr *applied);

// --- applied.c
// Adds to forces those that stand on positions, by their virtual work.
bool system_add_loads(System *system, Expr *forces);
// Per coordinate: what stands against the inertia forces and potentials: dD/du and memory elements; generalised forces and
// multipliers of constraints. applied and forces have n elements.
bool system_applied(System *system, Expr *applied, Expr *forces);
// --- memory_energy.c: adds to applied the forces of memory elements, those of mem-inerters only when wanted
bool system_memory_forces(System *system, bool inerters, Expr *applied);
// Adds to momenta those of mem-inerters, and to by_position what their rate has beyond the forces.
bool system_memory_momenta(System *system, Expr *momenta, Expr *by_position);
// The equations left[i] + applied[i] = forces[i] and the constraints as lines.
bool system_finish(System *system, Expr *left);
void system_potentials(System *system, int sign, U32Vec *roots, U32Vec *seeds); // appended, for a gradient
void system_add_limits(System *system);
Expr limit_residual(const System *system, const Limit *limit);

// --- one file each: fills system->lines
bool derive_lagrange(System *system);
bool derive_hamilton(System *system);
bool derive_gibbs_appell(System *system);
bool derive_kane(System *system);
bool derive_maggi(System *system);

#endif
