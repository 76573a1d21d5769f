// non_finite.c: from a value that is not finite back to the equation it came from.
//
// Purpose: a division by zero shows far from where it happens, in a residual or in the derivative of a
// state.
// Method: the assignments of the causal form in order of evaluation; the first that makes a value that is
// not finite out of finite ones is the cause.
// Contract: v holds the values of one evaluation of the model. Complexity: linear in the length of the
// causal form.
#include "ir/dae/locate.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/view/non_finite.h"

#include <math.h>

// Longer equations are not looked into: each operation is evaluated once for each that it is inside of.
enum { VALUES_SHOWN = 12, SLOTS_LOOKED_AT = 64 };

static double
value_of(const Sys *sys, Var var, const double *v)
{
    uint32_t place = var < sys->place_of.n ? sys->place_of.at[var] : UINT32_MAX;
    return place < sys->model->nv ? v[place] : 0;
}

static bool
is_culprit(const Dae *dae, const Assign *assign, const Sys *sys, const double *v)
{
    uint32_t slots = expr_nslots(dae->exprs, assign->shape);
    if (isfinite(value_of(sys, assign->var, v)))
        return false;
    for (uint32_t k = 0; k < slots; k++)
        if (!isfinite(value_of(sys, dae->rows.at[assign->row + k], v)))
            return false;
    return true;
}

// The operation of the assignment that makes a value that is not finite out of finite ones; 0 where it is a call, or nothing by itself.
static Expr
find_operation(Dae *dae, const Assign *assign, const double *values, double time)
{
    Exprs *exprs = dae->exprs;
    Expr part = assign->shape;
    for (uint32_t i = 0; i < expr_nargs(exprs, part);) {
        Expr arg = expr_arg(exprs, part, i++);
        if (expr_op(exprs, part) == OP_IF && i > 1 && i != (expr_eval(exprs, expr_arg(exprs, part, 0), values, time) != 0 ? 2 : 3))
            continue;
        if (!isfinite(expr_eval(exprs, arg, values, time)))
            part = arg, i = 0;
    }
    Op op = expr_op(exprs, part);
    return op == OP_DIV || op == OP_POW || op_table[op].kind == OPKIND_MATH ? part : 0;
}

// The name that the written equation has for a variable; the variable itself where it has it, or its negative.
static Var
written_name(const Dae *dae, uint32_t equation, Var var)
{
    uint32_t slots = 0;
    const Var *row = dae_row(dae, equation, &slots);
    Var found = var;
    for (uint32_t k = 0; k < slots; k++) {
        bool negative;
        if (row[k] == var)
            return var;
        if (found == var && dae_alias(dae, row[k], &negative) == var && !negative)
            found = row[k];
    }
    return found;
}

static void
print_operation(Dae *dae, const Assign *assign, const Sys *sys, const double *v, Out *out)
{
    double values[SLOTS_LOOKED_AT], time = v[0];
    uint32_t slots = expr_nslots(dae->exprs, assign->shape);
    if (slots > SLOTS_LOOKED_AT)
        return;
    for (uint32_t k = 0; k < slots; k++)
        values[k] = value_of(sys, dae->rows.at[assign->row + k], v);
    Expr part = find_operation(dae, assign, values, time);
    if (!part)
        return;
    // A row with the written names, for as long as it is printed.
    uint32_t row = dae->rows.n;
    for (uint32_t k = 0; k < slots; k++)
        vec_push(&dae->rows, written_name(dae, assign->equation, dae->rows.at[assign->row + k]));
    uint32_t n = expr_nargs(dae->exprs, part);
    out_text(out, "\n  because of ");
    dae_print_shape(dae, part, row, NONE, out);
    for (uint32_t i = expr_op(dae->exprs, part) == OP_DIV; i < n; i++) {
        Expr arg = expr_arg(dae->exprs, part, i);
        if (expr_op(dae->exprs, arg) == OP_CONST)
            continue;
        out_text(out, ", where ");
        dae_print_shape(dae, arg, row, NONE, out);
        out_printf(out, " = %.10g", expr_eval(dae->exprs, arg, values, time));
    }
    dae->rows.n = row;
}

static void
print_culprit(Dae *dae, const Assign *assign, const Sys *sys, const double *v, Out *out)
{
    const Equation *equation = &dae->equations.at[assign->equation];
    uint32_t slots = expr_nslots(dae->exprs, assign->shape), shown = 0;
    uint32_t inst = locate_equation_inst(dae, assign->equation);
    out_text(out, "equation ");
    locate_equation(dae, equation->span, inst, out);
    dae_print_written(dae, assign->equation, out);
    double value = value_of(sys, assign->var, v);
    out_printf(out, "\n  gives %s = %s with", dae_name(dae, written_name(dae, assign->equation, assign->var)),
               isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    for (uint32_t k = 0; k < slots && shown < VALUES_SHOWN; k++) {
        Var var = dae->rows.at[assign->row + k];
        double literal;
        if (dae_is_literal(dae, var, &literal))
            continue;
        out_printf(out, "\n  %s = %.10g", dae_name(dae, written_name(dae, assign->equation, var)), value_of(sys, var, v));
        shown++;
    }
    if (!shown)
        out_printf(out, "\n  time = %.10g", v[0]);
    print_operation(dae, assign, sys, v, out);
}

bool
explain_not_finite(Dae *dae, const Causal *causal, const Sys *sys, const double *v, Out *out)
{
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        uint32_t first = item.index, n = 1;
        if (item.is_loop) {
            first = causal->loops.at[item.index].inner;
            n = causal->loops.at[item.index].n_inner;
        }
        for (uint32_t k = first; k < first + n; k++) {
            if (!is_culprit(dae, &causal->assigns.at[k], sys, v))
                continue;
            print_culprit(dae, &causal->assigns.at[k], sys, v, out);
            return true;
        }
    }
    return false;
}
