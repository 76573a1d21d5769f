// clock_inner.h: what the files of ir/clocks share.
#ifndef MDLC_IR_CLOCKS_CLOCK_INNER_H
#define MDLC_IR_CLOCKS_CLOCK_INNER_H

#include "ir/base/diag.h"
#include "ir/clocks/clocks.h"
#include "ir/dae/clock_kinds.h"
#include "ir/expr/op.h"

// --- clock_ratio.c: exact quotients; the denominator is positive, 0 where a number became too large
typedef struct Ratio { int64_t num, den; } Ratio;
Ratio ratio_of(int64_t num, int64_t den);
Ratio ratio_times(Ratio a, Ratio b);
Ratio ratio_over(Ratio a, Ratio b);
Ratio ratio_plus(Ratio a, Ratio b);
Ratio ratio_minus(Ratio a, Ratio b);
Ratio ratio_common(Ratio a, Ratio b); // the largest of which both are whole multiples; 0 has any
static inline bool
ratio_same(Ratio a, Ratio b)
{
    return a.den && a.num == b.num && a.den == b.den;
}

// Clock(...) in an equation: its arguments stand over the row of the equation.
typedef struct Constructor {
    uint32_t element, equation; // of the partition that it gives a clock
    ClockKind kind;
    Expr first, second;
} Constructor;

// The ticks of `to` follow from those of `from`.
typedef struct Conversion {
    uint32_t from, to, equation;
    Op op;                // SUBSAMPLE, ...; CLOCK: the same ticks
    int64_t count, parts; // factor (0: inferred), or ticks and parts of an interval
} Conversion;

// Equations and variables with one clock. Its ticks are at (shift + n*interval) units of its base, n = 0, 1, ...
typedef struct Partition {
    uint32_t element;     // its representative
    uint32_t base;        // index into Clocks.bases; NONE until found
    Ratio interval, shift;
    ClockSolver solver;
    uint32_t equation;    // one of its own, for messages
    bool drawn;           // `interval` and `shift` are known
    // made by clock_ticks.c:
    Var active;           // becomes true at its ticks
    Var ticked, last;     // whether and when it has ticked before; NONE until asked for
} Partition;

// Partitions whose ticks are counted together.
typedef struct Base {
    uint32_t constructor; // index into Clocks.constructors; NONE: Clock(1.0)
    Ratio step, first;    // of the common grid of its partitions
    Var tick, count;      // of that grid
} Base;

typedef struct Clocks {
    Dae *dae;
    Diags *diags;
    U32Vec parent;        // union-find: variables, what has no clock, equations, arguments of conversions
    uint32_t continuous;  // the element of what has no clock
    uint32_t equations;   // elements of equations are those of the first so many
    VEC(Constructor) constructors;
    VEC(Conversion) conversions;
    U32Vec clocked, clocked_by; // elements that surely have a clock, and the equation that says so
    VEC(struct { uint32_t element; ClockSolver solver; uint32_t equation; }) solvers;
    VEC(Partition) partitions;
    U32Vec partition_of;  // per element: index + 1, or 0
    VEC(Base) bases;
    Var start;            // the time at which the run begins; NONE until asked for
    uint32_t made;        // hidden variables
    Map rate_of;          // derivative -> the unknown that it became
    Map added;            // unknown that came to a partition -> the partition
    Map dependent;        // variable that has a derivative, and is no state all the same (clock_constraints.c)
    Map held;             // unknown of a system of equations -> the discrete variable that has its last value
} Clocks;

// --- clock_partitions.c
bool clocks_divide(Clocks *clocks);                    // false after errors
uint32_t clocks_partition(Clocks *clocks, uint32_t element); // or NONE
static inline uint32_t
clocks_equation_element(const Clocks *clocks, uint32_t equation)
{
    return clocks->continuous + 1 + equation;
}
// An equation between clocks, which says nothing of values.
bool clocks_is_about_clocks(const Dae *dae, uint32_t equation);

// --- clock_inference.c
bool clocks_infer(Clocks *clocks);

// --- clock_ticks.c
void clocks_make_ticks(Clocks *clocks);
// Over `vars`, to which slots are added: the partition ticks now; interval(), firstTick() of it.
Expr clocks_active(Clocks *clocks, const Partition *partition, U32Vec *vars);
Expr clocks_interval(Clocks *clocks, uint32_t partition, U32Vec *vars);
Expr clocks_first(Clocks *clocks, uint32_t partition, U32Vec *vars);
// The interval from tick to tick as a parameter expression; 0: it changes.
Expr clocks_period(Clocks *clocks, const Partition *partition, U32Vec *vars);
// The time that has gone since `since`, `ticks` ticks ago.
Expr clocks_lasted(Clocks *clocks, const Partition *partition, Expr ticks, Expr since, U32Vec *vars);
Var clocks_hidden(Clocks *clocks, const char *stem, VarKind kind, VarType type);
Expr clocks_start_value(const Clocks *clocks, Var var, U32Vec *vars); // over `vars`
void clocks_start_at(const Clocks *clocks, Var var, double value); // of a hidden variable
Expr clocks_slot(const Clocks *clocks, Var var, U32Vec *vars);
Expr clocks_carried(const Clocks *clocks, Expr e, uint32_t row, U32Vec *vars); // an expression over a row, over `vars`
Expr clocks_before(const Clocks *clocks, Var var, U32Vec *vars); // pre(var)
// var = if the partition ticks then value else pre(var), over `vars`; returns the equation.
uint32_t clocks_at_ticks(Clocks *clocks, const Partition *partition, Var var, Expr value, U32Vec *vars, Span span);

// --- clock_constraints.c: equations that bind states are differentiated; those are added, and `dependent` has what is no state.
void clocks_reduce(Clocks *clocks, uint32_t partition, U32Vec *equations);

// --- clock_solvers.c: derivatives become unknowns, states get the equation of the method. False after E0514.
bool clocks_discretise(Clocks *clocks, uint32_t partition, U32Vec *equations);

// Over `vars`: the state at the tick before (its start value where its state of a state machine begins anew), and `rate` times the interval.
Expr clocks_advanced(Clocks *clocks, Var state, Expr rate, U32Vec *vars);

// --- clock_stages.c: a partition that is integrated by a method with several stages
typedef struct Stages {
    Clocks *clocks;
    uint32_t partition;
    U32Vec *equations;     // of the partition; those of the stages are added
    uint32_t n;            // of them the partition's own
    U32Vec states, rates;  // each state, and the unknown that its derivative became; a rate may be a state, too
    Map number;            // state -> its place among these
    VEC(double) places;    // of stages 1, 2, ... in the interval, as a part of it
    U32Vec copies;         // the rate of state s at stage k > 0: [(k - 1)*states.n + s]
    Map inputs;            // equation and part of it -> the unknown that it became
} Stages;
// One more, at the states that the interval up to `place` with the slopes of the stage before leads to.
void clocks_add_stage(Stages *stages, double place);
// The rate of a state at a stage, over `vars`; at stage 0: at the tick before.
Expr clocks_slope(const Stages *stages, uint32_t stage, uint32_t state, U32Vec *vars);

// --- clocked_solution.c
Expr clocks_without_past(Dae *dae, Expr e); // with numbers for previous()
// The variable that stands alone on a side of an equation, and not on the other; NONE: none does.
Var clocks_alone(Dae *dae, uint32_t equation, uint32_t side);
// What the equation gives its variable, over its row; 0: it cannot be solved for it.
Expr clocks_solved(Dae *dae, uint32_t equation, Var var);

// --- clocked_equations.c
bool clocks_rewrite(Clocks *clocks);

#endif
