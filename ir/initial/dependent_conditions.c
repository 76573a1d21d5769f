// dependent_conditions.c: conditions of a library's start that depend on the others by their derivatives.
//
// Purpose: two lines in series each begin with a steady current, so that one current has the condition twice; a star of three has it thrice for
// two currents. Models of networks write what each component knows, and what holds twice does no harm.
// Method: rows of derivatives of an over-determined set of the Dulmage-Mendelsohn decomposition are eliminated in order (equations, what the
// user has written, what libraries have), at a point where the equations hold: Newton's method leads
// there from one that is drawn, where it does; those that are linear hold in any case.
// Conditions whose row depends on those before it are left out, and an assertion looks at each at the start. What depends there by chance, or does not, makes the set of what is kept singular, or the number of what
// is left out another one than is too many: then the model is refused as it would be otherwise (E0601).
// Contract: initial_inner.h. Complexity: equations times the square of the unknowns of the set, at most MOST.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/initial/initial_inner.h"

#include <math.h>
#include <string.h>

enum { MOST = 1000000000, STEPS = 30 };

static const double DEPENDENT = 1e-7; // of the largest entry of a row
static const double CLOSE = 1e-12;    // of a step, to the point

typedef struct Rows {
    Dae *dae;
    uint32_t columns;
    U32Vec column;       // per variable: its column + 1, or 0
    VEC(double) kept;    // eliminated rows, one after the other
    U32Vec pivot;        // per kept row
    double *point;       // per column
    double *row;         // and behind its columns what the equation is off by
    double size;         // of the row at hand: the sum of its entries
    bool linear;         // so is the row at hand
} Rows;

static bool
may_leave(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    return at->kind == EQN_INITIAL && at->span.hi && sources_is_found(dae->sources, at->span.lo) && !sources_in_library(dae->sources, at->span.lo);
}

// Numbers between 1/2 and 3/2, the same in each run.
static double
drawn_coordinate(uint32_t var)
{
    uint32_t x = (var + 1) * 2654435761u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return 0.5 + x / 4294967296.0;
}

// Nothing of the set is in it.
static bool
is_number(const Rows *rows, Expr by, const Var *vars, uint32_t n)
{
    bool number = true;
    for (uint32_t k = 0; k < n && number; k++)
        number = !rows->column.at[vars[k]] || !expr_uses_slot(rows->dae->exprs, by, k);
    return number;
}

static bool
derivative_row(Rows *rows, uint32_t equation)
{
    Dae *dae = rows->dae;
    U32Vec vars = {0};
    Expr shape = dae_resolve(dae, equation, &vars);
    bool good = expr_op(dae->exprs, shape) == OP_EQN;
    Expr residual = good ? expr_residual(dae->exprs, shape) : 0;
    double *numbers = arena_array(dae->arena, double, vars.n + 1);
    for (uint32_t k = 0; k < vars.n; k++)
        if (rows->column.at[vars.at[k]])
            numbers[k] = rows->point[rows->column.at[vars.at[k]] - 1];
        else if (!dae_known_value(dae, vars.at[k], &numbers[k]))
            numbers[k] = drawn_coordinate(vars.at[k]);
    memset(rows->row, 0, rows->columns * sizeof *rows->row);
    rows->row[rows->columns] = good ? expr_eval(dae->exprs, residual, numbers, 0) : 0;
    rows->size = 0;
    rows->linear = true;
    good = good && isfinite(rows->row[rows->columns]);
    for (uint32_t k = 0; k < vars.n && good; k++) {
        uint32_t column = rows->column.at[vars.at[k]];
        if (!column)
            continue;
        Expr by = expr_diff(dae->exprs, residual, k);
        double entry = by ? expr_eval(dae->exprs, by, numbers, 0) : NAN;
        rows->row[column - 1] += entry;
        rows->size += fabs(entry);
        rows->linear &= is_number(rows, by, vars.at, vars.n);
        good = isfinite(entry);
    }
    vec_free(&vars);
    return good;
}

// Takes what is kept out of the row at hand, and keeps what is left of it; false: nothing is.
static bool
keep_independent(Rows *rows)
{
    uint32_t n = rows->columns, at = 0;
    double largest = 0;
    for (uint32_t k = 0; k < n; k++)
        largest = fmax(largest, fabs(rows->row[k]));
    double scale = largest > 0 ? 1 / largest : 1;
    for (uint32_t k = 0; k <= n; k++)
        rows->row[k] *= scale;
    for (uint32_t i = 0; i < rows->pivot.n; i++) {
        const double *other = rows->kept.at + (size_t)i * (n + 1);
        double factor = rows->row[rows->pivot.at[i]];
        for (uint32_t k = 0; factor != 0 && k <= n; k++)
            rows->row[k] -= factor * other[k];
        rows->row[rows->pivot.at[i]] = 0;
    }
    for (uint32_t k = 0; k < n; k++)
        if (fabs(rows->row[k]) > fabs(rows->row[at]))
            at = k;
    if (!(fabs(rows->row[at]) > DEPENDENT))
        return false;
    double by = rows->row[at];
    for (uint32_t k = 0; k <= n; k++)
        vec_push(&rows->kept, rows->row[k] / by);
    vec_push(&rows->pivot, at);
    return true;
}

// What has to stay comes first; the number of equations.
static uint32_t
order_conditions(const Dae *dae, const uint32_t *equations, uint32_t n, U32Vec *order)
{
    uint32_t of_model = 0;
    for (int turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < n; i++)
            if (turn == (dae->equations.at[equations[i]].kind != EQN_INITIAL ? 0 : may_leave(dae, equations[i]) ? 2 : 1))
                vec_push(order, equations[i]);
        of_model = turn ? of_model : order->n;
    }
    return of_model;
}

// Eliminates equations, and notes those that are left out.
static bool
eliminate_in_order(Rows *rows, const uint32_t *equations, uint32_t n, U32Vec *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!derivative_row(rows, equations[i]))
            return false;
        if (!keep_independent(rows) && out)
            vec_push(out, equations[i]);
        if (out && out->n && !may_leave(rows->dae, equations[i]))
            return false;
    }
    return true;
}

// A step of Newton's method, in which what has no pivot stays; its length, relative to the point.
static double
move_point(Rows *rows)
{
    uint32_t n = rows->columns;
    double *by = arena_array(rows->dae->arena, double, n + 1), length = 0, size = 0;
    for (uint32_t i = rows->pivot.n; i-- > 0;) {
        const double *row = rows->kept.at + (size_t)i * (n + 1);
        double sum = -row[n];
        for (uint32_t k = 0; k < n; k++)
            sum -= k == rows->pivot.at[i] ? 0 : row[k] * by[k];
        by[rows->pivot.at[i]] = sum;
    }
    for (uint32_t k = 0; k < n; k++) {
        rows->point[k] += by[k];
        length = fmax(length, fabs(by[k]));
        size = fmax(size, fabs(rows->point[k]));
    }
    return length / (1 + size);
}

// Where the linear ones of the equations hold.
static bool
hold_linear(Rows *rows, const uint32_t *equations, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!derivative_row(rows, equations[i]))
            return false;
        if (rows->linear)
            keep_independent(rows);
    }
    move_point(rows);
    rows->kept.n = rows->pivot.n = 0;
    return true;
}

// Where all of them hold, if that is found.
static void
hold_all(Rows *rows, const uint32_t *equations, uint32_t n)
{
    double length = INFINITY, *linear = arena_array(rows->dae->arena, double, rows->columns + 1);
    memcpy(linear, rows->point, rows->columns * sizeof *linear);
    for (uint32_t i = 0; i < STEPS && !(length <= CLOSE); i++) {
        rows->kept.n = rows->pivot.n = 0;
        if (!eliminate_in_order(rows, equations, n, NULL))
            break;
        length = move_point(rows);
    }
    rows->kept.n = rows->pivot.n = 0;
    if (!(length <= CLOSE))
        memcpy(rows->point, linear, rows->columns * sizeof *linear);
}

bool
initial_leave_dependent(Dae *dae, const Singular *over, uint32_t s, U8Vec *left_out)
{
    uint32_t first = over->variable_start.at[s], variables = over->variable_start.at[s + 1] - first;
    uint32_t at = over->equation_start.at[s], n = over->equation_start.at[s + 1] - at;
    Rows rows = {.dae = dae, .columns = variables};
    U32Vec out = {0}, order = {0};
    bool good = variables && (double)n * variables * variables <= MOST;
    vec_grow(&rows.column, dae->nvars);
    rows.row = arena_array(dae->arena, double, variables + 1);
    rows.point = arena_array(dae->arena, double, variables + 1);
    for (uint32_t i = 0; i < variables; i++) {
        rows.column.at[over->variables.at[first + i]] = i + 1;
        rows.point[i] = drawn_coordinate(over->variables.at[first + i]);
    }
    uint32_t of_model = order_conditions(dae, over->equations.at + at, n, &order);
    good = good && hold_linear(&rows, order.at, of_model);
    if (good)
        hold_all(&rows, order.at, of_model);
    good = good && eliminate_in_order(&rows, order.at, n, &out) && out.n == n - variables;
    for (uint32_t i = 0; good && i < out.n; i++) {
        left_out->at[out.at[i]] = 1;
        good = derivative_row(&rows, out.at[i]);
        initial_assert_holds(dae, out.at[i], rows.size, "a condition of the start does not hold that others leave no choice for");
    }
    vec_free(&rows.column);
    vec_free(&rows.kept);
    vec_free(&rows.pivot);
    vec_free(&out);
    vec_free(&order);
    return good;
}
