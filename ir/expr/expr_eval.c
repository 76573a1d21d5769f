// expr_eval.c: the value of an expression.
//
// Purpose: constant folding, tests, and start values: one place that says what every operator computes.
// Method: the expression's parts in post-order, each once. Sums and products from left to right, constant
// whole powers by repeated squaring from the lowest bit, other powers by pow(): the back ends follow the
// same rules.
// Contract: expr_eval.h. Set-valued and model operators yield NaN.
// What is evaluated at many points is written down once, as a tape of steps over the values of those before.
// Complexity: linear in the number of different parts.
#include <math.h>
#include <stdlib.h>

#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

static double
whole_power(double base, double exponent)
{
    uint32_t n = (uint32_t)fabs(exponent);
    double result = 1, square = base;
    bool first = true;
    for (; n; n >>= 1) {
        if (n & 1) {
            result = first ? square : result * square;
            first = false;
        }
        if (n > 1)
            square *= square;
    }
    return exponent < 0 ? 1 / result : result;
}

bool
op_is_partial(Op op)
{
    return op == OP_SQRT || op == OP_LOG || op == OP_LOG10 || op == OP_ASIN || op == OP_ACOS;
}

double
expr_apply_1(Op op, double x)
{
    switch (op) {
    case OP_SQRT: return sqrt(x);
    case OP_EXP: return exp(x);
    case OP_LOG: return log(x);
    case OP_LOG10: return log10(x);
    case OP_SIN: return sin(x);
    case OP_COS: return cos(x);
    case OP_TAN: return tan(x);
    case OP_ASIN: return asin(x);
    case OP_ACOS: return acos(x);
    case OP_ATAN: return atan(x);
    case OP_SINH: return sinh(x);
    case OP_COSH: return cosh(x);
    case OP_TANH: return tanh(x);
    case OP_FLOOR: return floor(x);
    case OP_CEIL: return ceil(x);
    case OP_TRUNC: return trunc(x);
    case OP_ABS: return fabs(x);
    case OP_SIGN: return (x > 0) - (x < 0);
    case OP_NEG: return -x;
    case OP_NOT: return x == 0;
    case OP_NOEVENT: return x;
    default: return NAN;
    }
}

static double
apply_2(Op op, double a, double b)
{
    switch (op) {
    case OP_DIV: return a / b;
    case OP_POW: return expr_small_power(b) ? whole_power(a, b) : pow(a, b);
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_MIN: return b < a ? b : a;
    case OP_MAX: return b > a ? b : a;
    case OP_LUZ: return a > b ? a - b : a < -b ? a + b : 0;
    case OP_ATAN2: return atan2(a, b);
    case OP_SMOOTH: return b;
    case OP_HOMOTOPY: case OP_RATED: return a;
    default: return NAN;
    }
}

double
expr_apply(Op op, const double *args, uint32_t n)
{
    double value = n ? args[0] : NAN;
    switch (op) {
    case OP_ADD:
        for (uint32_t i = 1; i < n; i++)
            value += args[i];
        return value;
    case OP_MUL:
        for (uint32_t i = 1; i < n; i++)
            value *= args[i];
        return value;
    case OP_AND:
    case OP_OR:
        for (uint32_t i = 0; i < n; i++)
            if ((args[i] != 0) == (op == OP_OR))
                return op == OP_OR;
        return op == OP_AND;
    case OP_IF:
        return args[0] != 0 ? args[1] : args[2];
    case OP_INTEGRAL:
        return args[1] != 0 ? args[0] : NAN;
    case OP_INDEX:
        return args[1] >= 1 && args[1] <= args[2] ? args[1] - 1 : NAN;
    case OP_PICK:
        return args[0] >= 0 && args[0] < n - 1 ? args[1 + (uint32_t)args[0]] : NAN;
    default:
        return n == 1 ? expr_apply_1(op, args[0]) : n == 2 ? apply_2(op, args[0], args[1]) : NAN;
    }
}

// The value of a RESULT, when the inputs of its call have theirs.
static double
result_value(Exprs *exprs, Expr e, const double *values)
{
    Expr call = cell_args(exprs, e)[1];
    uint32_t number = (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]), n = cell_n(exprs, call) - 1;
    const Routine *routine = routine_of(exprs, number);
    double *inputs = base_calloc((size_t)n + routine->outputs + 1, sizeof *inputs), *outputs = inputs + n, value = NAN;
    for (uint32_t i = 0; i < n; i++)
        inputs[i] = values[exprs->index.at[cell_args(exprs, call)[i + 1]]];
    if (routine_evaluate(exprs, number, inputs, outputs))
        value = outputs[(uint32_t)expr_value(exprs, cell_args(exprs, e)[0]) - 1];
    free(inputs);
    return value;
}

double
expr_eval(Exprs *exprs, Expr e, const double *slots, double time)
{
    U32Vec order = {0};
    F64Vec values = {0}, args = {0};
    if (cell_op(exprs, e) == OP_SLOT) // most binds of parameters
        return slots[expr_slot_of(exprs, e)];
    if (cell_op(exprs, e) == OP_CONST)
        return expr_value(exprs, e);
    expr_walk(exprs, e, UINT32_MAX, &order);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr id = order.at[i];
        Op op = cell_op(exprs, id);
        double value;
        args.n = 0;
        for (uint32_t j = 0; j < cell_n(exprs, id); j++)
            vec_push(&args, values.at[exprs->index.at[cell_args(exprs, id)[j]]]);
        if (op == OP_CONST)
            value = expr_value(exprs, id);
        else if (op == OP_SLOT)
            value = slots[expr_slot_of(exprs, id)];
        else if (op == OP_CALL)
            value = NAN; // its results are asked for one by one
        else if (op == OP_RESULT)
            value = result_value(exprs, id, values.at);
        else if (op == OP_POW && cell_op(exprs, cell_args(exprs, id)[1]) != OP_CONST)
            value = pow(args.at[0], args.at[1]);
        else
            value = op == OP_TIME ? time : expr_apply(op, args.at, args.n);
        vec_push(&values, value);
    }
    double value = vec_last(&values);
    vec_free(&order);
    vec_free(&values);
    vec_free(&args);
    return value;
}

typedef struct TapeStep { // of a tape
    Op op;
    uint32_t n, first; // arguments; CONST, SLOT: none, and the index of the constant, the slot
} TapeStep;

struct ExprTape {
    Exprs *exprs;
    VEC(TapeStep) steps;
    U32Vec args;       // steps
    F64Vec constants, values, taken;
    U32Vec roots;      // steps
    VEC(Expr) called;  // the roots, where one of them has a call: they are evaluated one by one
};

static void
tape_push(ExprTape *tape, Expr e)
{
    Exprs *exprs = tape->exprs;
    TapeStep step = {.op = cell_op(exprs, e), .n = cell_n(exprs, e), .first = tape->args.n};
    if (step.op == OP_CONST) {
        step = (TapeStep){OP_CONST, 0, tape->constants.n};
        vec_push(&tape->constants, expr_value(exprs, e));
    } else if (step.op == OP_SLOT) {
        step = (TapeStep){OP_SLOT, 0, expr_slot_of(exprs, e)};
    }
    for (uint32_t i = 0; i < step.n; i++)
        vec_push(&tape->args, exprs->index.at[cell_args(exprs, e)[i]]);
    vec_push(&tape->steps, step);
}

ExprTape *
expr_tape_make(Exprs *exprs, const Expr *roots, uint32_t n)
{
    ExprTape *tape = base_calloc(1, sizeof *tape);
    U32Vec order = {0};
    bool called = false;
    tape->exprs = exprs;
    for (uint32_t i = 0; i < n; i++)
        called |= expr_has_op(exprs, roots[i], OP_RESULT);
    if (called) {
        vec_append(&tape->called, roots, n);
        return tape;
    }
    expr_walk_all(exprs, roots, n, &order);
    for (uint32_t i = 0; i < order.n; i++)
        tape_push(tape, order.at[i]);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&tape->roots, exprs->index.at[roots[i]]);
    vec_grow(&tape->values, order.n + 1);
    vec_free(&order);
    return tape;
}

static double
step_value(ExprTape *tape, const TapeStep *step, const double *slots, double time)
{
    const double *values = tape->values.at;
    const uint32_t *args = tape->args.at + step->first;
    double sum;
    switch (step->op) {
    case OP_CONST: return tape->constants.at[step->first];
    case OP_SLOT: return slots[step->first];
    case OP_TIME: return time;
    case OP_ADD:
        sum = values[args[0]];
        for (uint32_t i = 1; i < step->n; i++)
            sum += values[args[i]];
        return sum;
    case OP_MUL:
        sum = values[args[0]];
        for (uint32_t i = 1; i < step->n; i++)
            sum *= values[args[i]];
        return sum;
    default:
        tape->taken.n = 0;
        for (uint32_t i = 0; i < step->n; i++)
            vec_push(&tape->taken, values[args[i]]);
        if (step->op == OP_POW && tape->steps.at[args[1]].op != OP_CONST)
            return pow(tape->taken.at[0], tape->taken.at[1]);
        return expr_apply(step->op, tape->taken.at, step->n);
    }
}

void
expr_tape_eval(ExprTape *tape, const double *slots, double time, double *out)
{
    for (uint32_t i = 0; i < tape->called.n; i++)
        out[i] = expr_eval(tape->exprs, tape->called.at[i], slots, time);
    for (uint32_t i = 0; i < tape->steps.n; i++)
        tape->values.at[i] = step_value(tape, &tape->steps.at[i], slots, time);
    for (uint32_t i = 0; i < tape->roots.n; i++)
        out[i] = tape->values.at[tape->roots.at[i]];
}

void
expr_tape_free(ExprTape *tape)
{
    if (!tape)
        return;
    vec_free(&tape->steps);
    vec_free(&tape->args);
    vec_free(&tape->constants);
    vec_free(&tape->values);
    vec_free(&tape->taken);
    vec_free(&tape->roots);
    vec_free(&tape->called);
    free(tape);
}
