// maggi.c: Maggi's equations.
//
// Purpose: the equations of Lagrange for redundant coordinates, projected on the velocities that the constraints leave
// free: B'r = 0 with A B = 0, where A are the coefficients of the constraints in the velocities and
// r = d/dt(dT/du) - dT/dq + dV/dq + dD/du - Q. No multipliers are needed. Method: the positions of the inertias are the
// first redundant coordinates: Lagrange's left side is m*der(der(s)) for them, and their constraints der(s) = (ds/dq) u
// have the complement ds/dq. Constraints of the model are then eliminated one by one: with the pivot c,
//     r_i <- a_c*r_i - a_i*r_c     (and so for the coefficients of the other constraints)
// which divides by nothing. A constant pivot is taken at once; otherwise the largest at the time is: every choice gives
// equations that hold, so that changing it is no event. Contract: energy_system.h; E0804 when the choices would be too many.
// Complexity: linear in the energies and, per choice, in constraints times coordinates.
#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

enum { CHOICES_MAX = 64 };

// Rows of `a` (one per constraint left) and r, over the columns left.
typedef struct Table {
    uint32_t rows, columns;
    Expr *a, *r;
} Table;

typedef struct Maggi {
    System *system;
    Exprs *exprs;
    uint32_t choices;
    bool good;
} Maggi;

static Expr
entry(const Table *table, uint32_t row, uint32_t column)
{
    return table->a[row * table->columns + column];
}

static Table
table_new(uint32_t rows, uint32_t columns)
{
    return (Table){rows, columns, base_calloc(rows * columns + 1, sizeof(Expr)), base_calloc(columns + 1, sizeof(Expr))};
}

static void
speeds_free(Table *table)
{
    free(table->a);
    free(table->r);
}

// p*x - q*y, or x - q/p*y when p is a number.
static Expr
combine(Exprs *exprs, Expr p, Expr x, Expr q, Expr y)
{
    if (expr_op(exprs, p) == OP_CONST)
        return expr_sub(exprs, x, expr_2(exprs, OP_MUL, expr_2(exprs, OP_DIV, q, p), y));
    return expr_sub(exprs, expr_2(exprs, OP_MUL, p, x), expr_2(exprs, OP_MUL, q, y));
}

// Eliminates with the pivot in this row and column; both are gone from the result.
static Table
eliminate(Maggi *maggi, const Table *table, uint32_t row, uint32_t column)
{
    Table out = table_new(table->rows - 1, table->columns - 1);
    Expr pivot = entry(table, row, column);
    for (uint32_t i = 0, to = 0; i < table->columns; i++) {
        if (i == column)
            continue;
        Expr over = entry(table, row, i);
        out.r[to] = combine(maggi->exprs, pivot, table->r[i], over, table->r[column]);
        for (uint32_t k = 0, at = 0; k < table->rows; k++)
            if (k != row)
                out.a[at++ * out.columns + to] = combine(maggi->exprs, pivot, entry(table, k, i), over,
                                                         entry(table, k, column));
        to++;
    }
    return out;
}

static bool
find_constant(const Maggi *maggi, const Table *table, uint32_t *row, uint32_t *column)
{
    for (*row = 0; *row < table->rows; ++*row)
        for (*column = 0; *column < table->columns; ++*column) {
            Expr e = entry(table, *row, *column);
            if (expr_op(maggi->exprs, e) == OP_CONST && expr_value(maggi->exprs, e) != 0)
                return true;
        }
    return false;
}

static uint32_t
candidates_of(const Maggi *maggi, const Table *table, uint32_t *columns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < table->columns; i++)
        if (!expr_is_const(maggi->exprs, entry(table, 0, i), 0))
            columns[n++] = i;
    return n;
}

// The size of a coefficient, without its unit: coefficients of lengths and angles are compared as numbers.
static Expr
weight(Maggi *maggi, Expr coefficient)
{
    System *system = maggi->system;
    Line line = system->lines.at[0];
    Var var = system_new_numbered(system, system->dae->nodes.at[line.node].inst, "$weight", false, line.span);
    line.left = system_slot(system, var);
    line.right = expr_1(maggi->exprs, OP_ABS, coefficient);
    vec_push(&system->lines, line);
    return expr_1(maggi->exprs, OP_NOEVENT, line.left);
}

// No weight behind number c is larger.
static Expr
is_largest(const Maggi *maggi, const Expr *weights, uint32_t c, uint32_t n)
{
    Expr all = expr_const(maggi->exprs, 1);
    for (uint32_t k = 0; k < n; k++)
        if (k != c)
            all = expr_2(maggi->exprs, OP_AND, all, expr_2(maggi->exprs, OP_GE, weights[c], weights[k]));
    return expr_1(maggi->exprs, OP_NOEVENT, all);
}

// Projects r; `out` has columns - rows elements. Recursion goes as deep as there are choices, which CHOICES_MAX bounds.
static void project(Maggi *maggi, const Table *table, Expr *out);

static void
project_choosing(Maggi *maggi, const Table *table, Expr *out)
{
    uint32_t left = table->columns - table->rows;
    uint32_t *columns = base_calloc(table->columns + 1, sizeof *columns), n = candidates_of(maggi, table, columns);
    Expr *parts = base_calloc(left * n + 1, sizeof *parts), *weights = base_calloc(n + 1, sizeof *weights);
    maggi->choices *= n;
    maggi->good &= n && maggi->choices <= CHOICES_MAX;
    for (uint32_t c = 0; c < n && maggi->good; c++) {
        Table next = eliminate(maggi, table, 0, columns[c]);
        project(maggi, &next, parts + c * left);
        speeds_free(&next);
        weights[c] = n > 1 ? weight(maggi, entry(table, 0, columns[c])) : 0;
    }
    for (uint32_t i = 0; i < left && maggi->good; i++) {
        out[i] = parts[(n - 1) * left + i];
        for (uint32_t c = n - 1; c-- > 0;)
            out[i] = expr_3(maggi->exprs, OP_IF, is_largest(maggi, weights, c, n), parts[c * left + i], out[i]);
    }
    free(columns);
    free(parts);
    free(weights);
}

static void
project(Maggi *maggi, const Table *table, Expr *out)
{
    uint32_t row, column;
    Table now = *table;
    bool own = false;
    while (now.rows && find_constant(maggi, &now, &row, &column)) {
        Table next = eliminate(maggi, &now, row, column);
        if (own)
            speeds_free(&now);
        now = next;
        own = true;
    }
    if (now.rows)
        project_choosing(maggi, &now, out);
    else
        memcpy(out, now.r, now.columns * sizeof *out);
    if (own)
        speeds_free(&now);
}

static void
cannot(const System *system)
{
    const Energy *energy = system_energy(system, vec_last(&system->limits).from);
    Diag *diag = diag_add(system->diags, E0804, energy->span, "maggi cannot express these constraints: they contradict each "
                          "other, or there are too many ways to choose which velocities they determine");
    diag_help(diag, "lagrange, hamilton, gibbs_appell and kane can");
}

static bool
fill_constraints(System *system, Table *table)
{
    Expr one = expr_const(system->exprs, 1);
    bool good = true;
    for (uint32_t j = 0; j < table->rows && good; j++) {
        const Limit *limit = &system->limits.at[j];
        Expr root = limit_residual(system, limit);
        good = system_gradient(system, &root, &one, 1, limit->velocity ? 1 : 0, table->a + j * system->n);
    }
    return good;
}

static bool
finish_projected(System *system, Table *table)
{
    Maggi maggi = {.system = system, .exprs = system->exprs, .choices = 1, .good = table->rows <= table->columns};
    Expr *out = base_calloc(table->columns + 1, sizeof *out);
    system_add_limits(system);
    if (maggi.good)
        project(&maggi, table, out);
    for (uint32_t i = 0; i + table->rows < table->columns && maggi.good; i++)
        system_add_line(system, i, out[i], expr_const(system->exprs, 0));
    if (!maggi.good)
        cannot(system);
    free(out);
    return maggi.good;
}

bool
derive_maggi(System *system)
{
    uint32_t n = system->n;
    Table table = table_new(system->limits.n, n);
    Expr *applied = base_calloc(2 * n + 1, sizeof *applied), *forces = applied + n;
    bool good = system_inertia_forces(system, table.r);
    if (!system->limits.n) {
        good = good && system_finish(system, table.r);
    } else {
        good = good && system_applied(system, applied, forces) && fill_constraints(system, &table);
        for (uint32_t i = 0; i < n && good; i++)
            table.r[i] = expr_sub(system->exprs, expr_2(system->exprs, OP_ADD, table.r[i], applied[i]), forces[i]);
        good = good && finish_projected(system, &table);
    }
    speeds_free(&table);
    free(applied);
    return good;
}
