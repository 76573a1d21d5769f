// clock_kinds.h: what the first argument of the operator Clock says of the other two (Modelica 3.6, section 16.3), and the methods by
// which a clocked continuous partition is integrated (section 16.8.2).
#ifndef MDLC_IR_DAE_CLOCK_KINDS_H
#define MDLC_IR_DAE_CLOCK_KINDS_H

typedef enum ClockKind {
    CLOCK_INFERRED,   // no arguments
    CLOCK_RATIONAL,   // intervalCounter, resolution: the interval is their quotient, in s
    CLOCK_REAL,       // the interval, in s
    CLOCK_CONDITION,  // the condition whose rising edges are the ticks; the interval before the first tick
    CLOCK_SOLVER      // another clock, ClockSolver
} ClockKind;

typedef enum ClockSolver {
    CLOCK_SOLVER_NONE, // "": the partition has no derivatives
    CLOCK_EXPLICIT_EULER, CLOCK_EXPLICIT_MIDPOINT, CLOCK_EXPLICIT_RUNGE_KUTTA, CLOCK_IMPLICIT_EULER, CLOCK_IMPLICIT_TRAPEZOID,
    CLOCK_SOLVERS
} ClockSolver;

// "ExplicitEuler", ... by ClockSolver.
static const char *const clock_solver_names[CLOCK_SOLVERS] = {
    "", "ExplicitEuler", "ExplicitMidPoint2", "ExplicitRungeKutta4", "ImplicitEuler", "ImplicitTrapezoid"
};

#endif
