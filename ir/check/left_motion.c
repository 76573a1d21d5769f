// left_motion.c: the motion that the constraints among rows leave.
//
// Purpose: rows of closed loops, of bodies with quaternions, of nodes without mass do not tell which displacements they work on; the motion that they leave
// does not depend on that. Method: constraints are the rows of positions, and those of velocities; at a point that fulfils them Gauss' elimination with
// complete pivoting makes as many positions coordinates as are left (a chart). Positions are functions of the coordinates by Newton's method and, where there
// are rows of velocities, along the way (the method of Runge and Kutta). Accelerations and forces follow from all other rows and the time derivatives of the
// constraints, which may depend on each other, as forces may be open: only the accelerations have to be determined. They are looked at as polynomials of
// second degree of the velocities, which is exact in differences of them; whether they are ones is looked at besides. Constraints of velocities are integrable
// where the exterior derivatives of their forms vanish on the motions that they leave (Frobenius; Arnold, Mathematical Methods of Classical Mechanics, 1989,
// appendix 4).
// Contract: left_motion.h. Complexity: cubic in positions and forces for each point; the rows once per velocity.
#include "ir/check/left_motion.h"

#include <math.h>
#include <string.h>

#include "ir/base/elimination.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

enum { SIZE_MOST = LEFT_ROWS_MOST, NEWTON_MOST = 40, WAY_STEPS = 4, CHECKS = 2 };

static const double CLOSED = 1e-12, LONGEST_STEP = 0.5, LEAST = 1e-9, BEYOND = 1e-6;

static double *
slot(const LeftMotion *left, uint32_t variable, uint32_t order)
{
    return &left->slots[row_slot(variable, order)];
}

static Expr
row_of(const LeftMotion *left, uint32_t row)
{
    return left->rows->rows.at[row].f;
}

// --- which rows and variables

typedef struct Use { // of a variable in the rows of a system
    uint8_t highest, lowest;
    bool still;       // in a row without derivatives
    bool length;      // in one where everything else is differentiated elsewhere
    bool affine;      // in all of them
    uint32_t rows;
    bool there;
} Use;

static bool
has(const U32Vec *list, uint32_t x)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i] == x)
            return true;
    return false;
}

static void
drop(U32Vec *list, uint32_t x)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i] != x)
            list->at[kept++] = list->at[i];
    list->n = kept;
}

static void
used_in(const LeftMotion *left, uint32_t row, U32Vec *used)
{
    Expr f = row_of(left, row);
    vec_clear(used);
    expr_used_slots(left->rows->exprs, &f, 1, used);
}

static void
collect(LeftMotion *left, const U32Vec *from)
{
    MotionRows *rows = left->rows;
    U32Vec used = {0};
    U8Vec taken = {0};
    vec_append(&left->variable, from->at, from->n);
    vec_grow(&taken, rows->rows.n);
    for (bool more = true; more && left->row.n <= SIZE_MOST;) {
        more = false;
        for (uint32_t r = 0; r < rows->rows.n; r++) {
            bool joined = false;
            if (taken.at[r])
                continue;
            used_in(left, r, &used);
            for (uint32_t k = 0; k < used.n && !joined; k++)
                joined = rows->moves.at[used.at[k]/ROW_ORDERS] && has(&left->variable, used.at[k]/ROW_ORDERS);
            if (!joined)
                continue;
            taken.at[r] = more = true;
            vec_push(&left->row, r);
            for (uint32_t k = 0; k < used.n; k++)
                if (rows->moves.at[used.at[k]/ROW_ORDERS] && !has(&left->variable, used.at[k]/ROW_ORDERS))
                    vec_push(&left->variable, used.at[k]/ROW_ORDERS);
        }
    }
    vec_free(&used);
    vec_free(&taken);
}

static uint32_t
order_of(const LeftMotion *left, uint32_t row)
{
    U32Vec used = {0};
    uint32_t highest = 0;
    used_in(left, row, &used);
    for (uint32_t k = 0; k < used.n; k++)
        if (left->rows->moves.at[used.at[k]/ROW_ORDERS] && used.at[k]%ROW_ORDERS > highest)
            highest = used.at[k]%ROW_ORDERS;
    vec_free(&used);
    return highest;
}

static Use *
find_uses(const LeftMotion *left)
{
    const MotionRows *rows = left->rows;
    Use *uses = base_calloc(rows->vars.n + 1, sizeof *uses);
    uint32_t *last = base_calloc(rows->vars.n + 1, sizeof *last);
    U32Vec used = {0};
    for (uint32_t i = 0; i < left->row.n; i++) {
        bool still = !order_of(left, left->row.at[i]);
        used_in(left, left->row.at[i], &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t v = used.at[k]/ROW_ORDERS, order = used.at[k]%ROW_ORDERS;
            Expr coefficient, rest;
            Use *use = &uses[v];
            if (!use->there)
                *use = (Use){.lowest = ROW_ORDERS, .affine = true, .there = true};
            use->highest = order > use->highest ? (uint8_t)order : use->highest;
            use->lowest = order < use->lowest ? (uint8_t)order : use->lowest;
            use->affine = use->affine && !order && expr_affine(rows->exprs, row_of(left, left->row.at[i]), used.at[k], &coefficient, &rest);
            use->still |= still;
            use->rows += last[v] != i + 1;
            last[v] = i + 1;
        }
    }
    vec_free(&used);
    free(last);
    return uses;
}

static bool
find_leading(LeftMotion *left)
{
    Use *uses = find_uses(left);
    for (uint32_t i = 0; i < left->variable.n; i++) {
        uint32_t v = left->variable.at[i];
        if (uses[v].highest > 2 && uses[v].highest > left->order) {
            left->leads = v;
            left->order = uses[v].highest;
        }
        left->moving += uses[v].highest > 0;
    }
    free(uses);
    return left->leads != NONE;
}

// What one row gives the velocity of, and nothing else has: it follows the motion (a wheel without inertia).
static void
drop_followers(LeftMotion *left)
{
    for (bool some = true; some;) {
        Use *uses = find_uses(left);
        some = false;
        for (uint32_t i = 0; i < left->variable.n && !some; i++) {
            uint32_t v = left->variable.at[i];
            if (!uses[v].there || uses[v].rows != 1 || uses[v].highest != 1 || uses[v].lowest != 1)
                continue;
            for (uint32_t r = 0; r < left->row.n && !some; r++)
                if (expr_uses_slot(left->rows->exprs, row_of(left, left->row.at[r]), row_slot(v, 1)) && order_of(left, left->row.at[r]) == 1) {
                    drop(&left->row, left->row.at[r]);
                    drop(&left->variable, v);
                    some = true;
                }
        }
        free(uses);
    }
}

// Rows without derivatives in which one variable is not differentiated in others.
static void
find_lengths(const LeftMotion *left, Use *uses)
{
    U32Vec used = {0};
    for (uint32_t i = 0; i < left->row.n; i++) {
        uint32_t only = NONE, count = 0;
        if (order_of(left, left->row.at[i]))
            continue;
        used_in(left, left->row.at[i], &used);
        for (uint32_t k = 0; k < used.n; k++)
            if (left->rows->moves.at[used.at[k]/ROW_ORDERS] && !uses[used.at[k]/ROW_ORDERS].highest) {
                only = used.at[k]/ROW_ORDERS;
                count++;
            }
        if (count == 1 && used.n > 1)
            uses[only].length = true;
    }
    vec_free(&used);
}

// What is never differentiated is a force where all rows are affine in it, or not where a row has it that has no derivatives, and may say as much about
// positions as about it.
static void
sort_out(LeftMotion *left, LeftStill still)
{
    Use *uses = find_uses(left);
    U32Vec used = {0};
    find_lengths(left, uses);
    for (uint32_t i = 0; i < left->variable.n; i++) {
        uint32_t v = left->variable.at[i];
        if (!uses[v].there)
            continue;
        bool length = still == LEFT_STILL_LENGTHS ? uses[v].length : still == LEFT_STILL_POSITIONS && uses[v].still;
        vec_push(uses[v].highest || !uses[v].affine || length ? &left->positions : &left->forces, v);
        if (uses[v].highest == 1)
            vec_push(&left->firsts, v);
    }
    for (uint32_t i = 0; i < left->row.n; i++) {
        uint32_t row = left->row.at[i], order = order_of(left, row);
        bool forces = false;
        used_in(left, row, &used);
        for (uint32_t k = 0; k < used.n; k++)
            forces |= has(&left->forces, used.at[k]/ROW_ORDERS);
        vec_push(forces || order > 1 ? &left->dynamics : order ? &left->rates : &left->constraints, row);
        left->timely |= expr_has_op(left->rows->exprs, row_of(left, row), OP_TIME);
    }
    vec_free(&used);
    free(uses);
}

// Variables of first order become numbers, and rows that give their rates go.
static void
freeze(LeftMotion *left)
{
    for (uint32_t i = 0; i < left->firsts.n; i++) {
        uint32_t v = left->firsts.at[i];
        drop(&left->positions, v);
        for (uint32_t r = left->rates.n; r-- > 0;)
            if (expr_uses_slot(left->rows->exprs, row_of(left, left->rates.at[r]), row_slot(v, 1)))
                drop(&left->rates, left->rates.at[r]);
    }
}

// --- what is evaluated

typedef VEC(Expr) ExprVec;

static uint32_t
place_of(const U32Vec *list, uint32_t v)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->at[i] == v)
            return i;
    return NONE;
}

// The derivatives of `e` by the positions in this order of differentiation, and by the forces; false where one is not known.
static bool
push_entries(LeftMotion *left, Expr e, uint32_t order, bool forces, uint32_t line, uint32_t width, ExprVec *roots, U32Vec *at)
{
    Exprs *exprs = left->rows->exprs;
    U32Vec used = {0};
    bool good = true;
    expr_used_slots(exprs, &e, 1, &used);
    for (uint32_t k = 0; k < used.n && good; k++) {
        uint32_t v = used.at[k]/ROW_ORDERS, place = used.at[k]%ROW_ORDERS == order ? place_of(&left->positions, v) : NONE;
        if (place == NONE && forces && (place = place_of(&left->forces, v)) != NONE)
            place += left->positions.n;
        if (place == NONE)
            continue;
        Expr by = expr_diff(exprs, e, used.at[k]);
        good = by != 0;
        vec_push(roots, by);
        vec_push(at, line*width + place);
    }
    vec_free(&used);
    return good;
}

static bool
is_of_positions(const LeftMotion *left, const ExprVec *entries)
{
    U32Vec used = {0};
    bool good = true;
    expr_used_slots(left->rows->exprs, entries->at, entries->n, &used);
    for (uint32_t k = 0; k < used.n; k++)
        good &= !left->rows->moves.at[used.at[k]/ROW_ORDERS] || (used.at[k]%ROW_ORDERS == 0 && !has(&left->forces, used.at[k]/ROW_ORDERS));
    vec_free(&used);
    return good;
}

static bool
make_tapes(LeftMotion *left, const char **reason)
{
    Exprs *exprs = left->rows->exprs;
    ExprVec gap = {0}, slope = {0}, first = {0}, matrix = {0}, residual = {0};
    bool good = true;
    uint32_t line = 0;
    for (uint32_t i = 0; i < left->constraints.n && good; i++, line++) {
        Expr g = row_of(left, left->constraints.at[i]), once = motion_row_rate(left->rows, g), twice = once ? motion_row_rate(left->rows, once) : 0;
        good = twice && push_entries(left, g, 0, false, line, left->positions.n, &slope, &left->slope_at) &&
               push_entries(left, g, 0, false, line, left->width, &matrix, &left->matrix_at);
        vec_push(&gap, g);
        vec_push(&first, once);
        vec_push(&residual, twice);
    }
    for (uint32_t i = 0; i < left->rates.n && good; i++, line++) {
        Expr h = row_of(left, left->rates.at[i]), once = motion_row_rate(left->rows, h);
        good = once && push_entries(left, h, 1, false, line, left->positions.n, &slope, &left->slope_at) &&
               push_entries(left, h, 1, false, line, left->width, &matrix, &left->matrix_at);
        vec_push(&first, h);
        vec_push(&residual, once);
    }
    *reason = good ? NULL : "a derivative of a row is not known";
    left->bent = good && !is_of_positions(left, &slope);
    if (left->bent) {
        *reason = "a relation between its velocities is not linear in them";
        good = false;
    }
    for (uint32_t i = 0; i < left->dynamics.n && good; i++, line++) {
        Expr f = row_of(left, left->dynamics.at[i]);
        good = push_entries(left, f, 2, true, line, left->width, &matrix, &left->matrix_at);
        vec_push(&residual, f);
    }
    left->linear = good && is_of_positions(left, &matrix);
    if (good) {
        left->gap = expr_tape_make(exprs, gap.at, gap.n);
        left->slope = expr_tape_make(exprs, slope.at, slope.n);
        left->first = expr_tape_make(exprs, first.at, first.n);
        left->matrix = expr_tape_make(exprs, matrix.at, matrix.n);
        left->residual = expr_tape_make(exprs, residual.at, residual.n);
    }
    vec_free(&gap);
    vec_free(&slope);
    vec_free(&first);
    vec_free(&matrix);
    vec_free(&residual);
    return good;
}

bool
left_motion_open(LeftMotion *left, MotionRows *rows, const U32Vec *from, bool frozen, LeftStill still, const char **reason)
{
    *left = (LeftMotion){.rows = rows, .speed = 1, .beyond = NONE, .leads = NONE};
    *reason = NULL;
    collect(left, from);
    if (left->row.n > SIZE_MOST || left->variable.n > SIZE_MOST) {
        *reason = "it has more variables than are looked at";
        return false;
    }
    if (find_leading(left)) {
        *reason = "its equations are not of second order";
        return false;
    }
    drop_followers(left);
    sort_out(left, still);
    if (frozen)
        freeze(left);
    left->width = left->positions.n + left->forces.n;
    uint32_t lines = left->constraints.n + left->rates.n + left->dynamics.n;
    uint32_t velocities = 2 + 2*LEFT_MOST + LEFT_MOST*LEFT_MOST + CHECKS, sides = LEFT_SLOPES_MOST*2*left->positions.n + 1;
    velocities = sides > velocities ? sides : velocities;
    left->slots = base_calloc(ROW_ORDERS*rows->vars.n + 1, sizeof *left->slots);
    left->values = base_calloc((size_t)lines*(left->width + 1) + lines + 1, sizeof *left->values);
    left->table = base_calloc((size_t)(lines + 1)*(left->width + velocities), sizeof *left->table);
    return make_tapes(left, reason);
}

void
left_motion_close(LeftMotion *left)
{
    vec_free(&left->row);
    vec_free(&left->variable);
    vec_free(&left->positions);
    vec_free(&left->forces);
    vec_free(&left->firsts);
    vec_free(&left->constraints);
    vec_free(&left->rates);
    vec_free(&left->dynamics);
    expr_tape_free(left->gap);
    expr_tape_free(left->slope);
    expr_tape_free(left->first);
    expr_tape_free(left->matrix);
    expr_tape_free(left->residual);
    vec_free(&left->slope_at);
    vec_free(&left->matrix_at);
    vec_free(&left->bound);
    vec_free(&left->free);
    free(left->slots);
    free(left->values);
    free(left->table);
}

LeftPoint
left_point_make(const LeftMotion *left)
{
    return (LeftPoint){.q = base_calloc(left->positions.n + 1, sizeof(double))};
}

void
left_point_free(LeftPoint *point)
{
    free(point->q);
    point->q = NULL;
}

Jet
jet_make(uint32_t n)
{
    double *at = base_calloc(jet_size(n) + 1, sizeof *at);
    return (Jet){n, at, at + n, at + n + n*n};
}

void
jet_free(Jet *jet)
{
    free(jet->a);
    jet->a = NULL;
}

// --- positions

static void
put_point(LeftMotion *left, const LeftPoint *at)
{
    left->time = at->time;
    for (uint32_t j = 0; j < left->positions.n; j++) {
        *slot(left, left->positions.at[j], 0) = at->q[j];
        *slot(left, left->positions.at[j], 1) = *slot(left, left->positions.at[j], 2) = 0;
    }
    for (uint32_t j = 0; j < left->forces.n; j++)
        *slot(left, left->forces.at[j], 0) = 0;
}

static void
fill(double *to, const U32Vec *at, uint32_t lines, uint32_t width, uint32_t stride, const double *values)
{
    for (uint32_t i = 0; i < lines; i++)
        memset(to + (size_t)i*stride, 0, width*sizeof *to);
    for (uint32_t k = 0; k < at->n; k++)
        to[(at->at[k]/width)*stride + at->at[k]%width] = values[k];
}

// Brings the rows to one size, right sides with them; false: not finite.
static bool
level_rows(double *at, uint32_t lines, uint32_t width, uint32_t stride)
{
    for (uint32_t i = 0; i < lines; i++) {
        double most = 0;
        for (uint32_t j = 0; j < stride; j++)
            if (!isfinite(at[i*stride + j]))
                return false;
        for (uint32_t j = 0; j < width; j++)
            most = fmax(most, fabs(at[i*stride + j]));
        for (uint32_t j = 0; j < stride && most > 0; j++)
            at[i*stride + j] /= most;
    }
    return true;
}

// The shortest way to the constraints, by the normal equations of the second kind; constraints may depend on each other.
static bool
close_step(LeftMotion *left, double *gap, double *step)
{
    uint32_t n = left->constraints.n, m = left->positions.n;
    double *slope = left->values, *table = left->table, most = 0;
    expr_tape_eval(left->slope, left->slots, left->time, table);
    fill(slope, &left->slope_at, n + left->rates.n, m, m, table);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < m; k++)
                sum += slope[i*m + k]*slope[j*m + k];
            table[i*(n + 1) + j] = sum;
            most = fmax(most, fabs(sum));
        }
    for (uint32_t i = 0; i < n; i++) {
        table[i*(n + 1) + i] += 1e-13*most;
        table[i*(n + 1) + n] = gap[i];
    }
    for (uint32_t c = 0; c < n; c++) { // positive definite: pivots on the diagonal
        double pivot = table[c*(n + 1) + c];
        if (!(pivot > 0) || !isfinite(pivot))
            return false;
        for (uint32_t i = 0; i < n; i++) {
            double factor = i == c ? 0 : table[i*(n + 1) + c]/pivot;
            for (uint32_t j = 0; j <= n && factor != 0; j++)
                table[i*(n + 1) + j] -= factor*table[c*(n + 1) + j];
        }
    }
    for (uint32_t k = 0; k < m; k++) {
        step[k] = 0;
        for (uint32_t i = 0; i < n; i++)
            step[k] += slope[i*m + k]*table[i*(n + 1) + n]/table[i*(n + 1) + i];
    }
    return true;
}

// Moves the positions until they fulfil the constraints.
static bool
close_loops(LeftMotion *left, LeftPoint *point)
{
    double *gap = base_calloc(left->constraints.n + 1, sizeof *gap), *step = base_calloc(left->positions.n + 1, sizeof *step), size = 0;
    bool closed = false, good = true;
    for (uint32_t k = 0; k < NEWTON_MOST && good && !closed; k++) {
        double most = 0, square = 0;
        put_point(left, point);
        expr_tape_eval(left->gap, left->slots, left->time, gap);
        for (uint32_t i = 0; i < left->constraints.n; i++) {
            most = fmax(most, fabs(gap[i]));
            good &= isfinite(gap[i]) != 0;
        }
        size = fmax(size, most);
        closed = good && most <= CLOSED*fmax(1, size);
        if (closed || !good || !(good = close_step(left, gap, step)))
            break;
        for (uint32_t j = 0; j < left->positions.n; j++)
            square += step[j]*step[j];
        double part = square > LONGEST_STEP*LONGEST_STEP ? LONGEST_STEP/sqrt(square) : 1;
        for (uint32_t j = 0; j < left->positions.n; j++)
            point->q[j] -= part*step[j];
    }
    free(gap);
    free(step);
    return closed;
}

// Coordinates: what Gauss' elimination with complete pivoting leaves.
static bool
make_chart(LeftMotion *left, const LeftPoint *point)
{
    uint32_t lines = left->constraints.n + left->rates.n, m = left->positions.n, rank = 0;
    double *at = left->values;
    bool taken[SIZE_MOST] = {0};
    vec_clear(&left->bound);
    vec_clear(&left->free);
    put_point(left, point);
    expr_tape_eval(left->slope, left->slots, left->time, left->table);
    fill(at, &left->slope_at, lines, m, m, left->table);
    if (!level_rows(at, lines, m, m))
        return false;
    for (; rank < lines; rank++) {
        uint32_t line = rank, column = 0;
        double most = 0;
        for (uint32_t i = rank; i < lines; i++)
            for (uint32_t j = 0; j < m; j++)
                if (!taken[j] && fabs(at[i*m + j]) > most) {
                    most = fabs(at[i*m + j]);
                    line = i;
                    column = j;
                }
        if (most > LEAST && most < 1e3*LEAST)
            return false; // neither a rank nor another
        if (most <= LEAST)
            break;
        for (uint32_t j = 0; j < m; j++) {
            double other = at[rank*m + j];
            at[rank*m + j] = at[line*m + j];
            at[line*m + j] = other;
        }
        for (uint32_t i = rank + 1; i < lines; i++) {
            double factor = at[i*m + column]/at[rank*m + column];
            for (uint32_t j = 0; j < m; j++)
                at[i*m + j] -= factor*at[rank*m + j];
        }
        vec_push(&left->bound, column);
        taken[column] = true;
    }
    for (uint32_t j = 0; j < m; j++)
        if (!taken[j])
            vec_push(&left->free, j);
    left->n = left->free.n;
    return true;
}

bool
left_motion_start(LeftMotion *left, uint32_t start, LeftPoint *point)
{
    const double *from = motion_row_point(left->rows, start%ROW_POINTS);
    memcpy(left->slots, from, ROW_ORDERS*left->rows->vars.n*sizeof *left->slots);
    point->time = 0.3 + 0.4*(start%ROW_POINTS);
    for (uint32_t v = 0; v < left->rows->vars.n; v++)
        if (left->rows->moves.at[v])
            left->slots[row_slot(v, 1)] = left->slots[row_slot(v, 2)] = 0;
    for (uint32_t j = 0; j < left->positions.n; j++) {
        double q = *slot(left, left->positions.at[j], 0);
        point->q[j] = (start < ROW_POINTS ? 1 : 2.5)*(q - (start < ROW_POINTS ? 0 : 0.6)) + 0.1*fmod(start*sqrt(3.0 + j), 1.0);
    }
    return close_loops(left, point) && make_chart(left, point);
}

// What the first `lines` constraints make of the others when coordinates change by `free`, and the constraints besides by `right`. They may depend on each
// other.
static bool
solve_bound(LeftMotion *left, uint32_t lines, const double *right, const double *free, double *out)
{
    uint32_t m = left->positions.n, stride = m + 1, pivot[SIZE_MOST];
    double *at = left->table;
    expr_tape_eval(left->slope, left->slots, left->time, left->values);
    fill(at, &left->slope_at, left->constraints.n + left->rates.n, m, stride, left->values);
    for (uint32_t i = 0; i < lines; i++) {
        at[i*stride + m] = -right[i];
        for (uint32_t k = 0; k < left->n; k++)
            at[i*stride + m] -= at[i*stride + left->free.at[k]]*free[k];
    }
    if (!level_rows(at, lines, m, stride))
        return false;
    Table table = {at, lines, stride, stride};
    uint32_t rank = table_reduce(&table, left->bound.at, left->bound.n, LEAST, pivot);
    for (uint32_t k = 0; k < left->n; k++)
        out[left->free.at[k]] = free[k];
    for (uint32_t j = 0; j < left->bound.n; j++)
        out[left->bound.at[j]] = 0;
    for (uint32_t i = 0; i < rank; i++)
        out[pivot[i]] = at[i*stride + m];
    return lines < left->constraints.n + left->rates.n || rank == left->bound.n;
}

static bool
velocity_with(LeftMotion *left, const LeftPoint *at, const double *v, double passing, double *out)
{
    uint32_t lines = left->constraints.n + left->rates.n;
    double right[SIZE_MOST];
    put_point(left, at);
    expr_tape_eval(left->first, left->slots, left->time, right);
    for (uint32_t i = 0; i < lines; i++)
        right[i] *= passing;
    return solve_bound(left, lines, right, v, out);
}

bool
left_motion_velocity(LeftMotion *left, const LeftPoint *at, const double *v, double *velocity)
{
    return velocity_with(left, at, v, 1, velocity);
}

// Newton's method with the coordinates as they are.
static bool
close_chart(LeftMotion *left, LeftPoint *point)
{
    double gap[SIZE_MOST], still[SIZE_MOST] = {0}, last = INFINITY;
    double *step = base_calloc(left->positions.n + 1, sizeof *step);
    bool closed = !left->constraints.n;
    for (uint32_t k = 0; k < NEWTON_MOST && !closed; k++) {
        double most = 0, size = 1;
        put_point(left, point);
        expr_tape_eval(left->gap, left->slots, left->time, gap);
        if (!solve_bound(left, left->constraints.n, gap, still, step))
            break;
        for (uint32_t j = 0; j < left->positions.n; j++) {
            most = fmax(most, fabs(step[j]));
            size = fmax(size, fabs(point->q[j]));
            point->q[j] += step[j];
        }
        if (!isfinite(most) || most > LONGEST_STEP)
            break;
        closed = most <= 1e-15*size || (most <= 1e-12*size && most > 0.3*last);
        last = most;
    }
    free(step);
    return closed;
}

bool
left_motion_go(LeftMotion *left, const LeftPoint *from, double time, const double *by, LeftPoint *to)
{
    uint32_t m = left->positions.n, steps = left->rates.n ? WAY_STEPS : 1;
    double *k = base_calloc(5*m + 1, sizeof *k), part = 1.0/steps, v[SIZE_MOST];
    LeftPoint stage = {from->time, k + 4*m};
    static const double ahead[] = {0, 0.5, 0.5, 1};
    bool good = true;
    double began = from->time;
    double *q = base_calloc(m + 1, sizeof *q);
    memcpy(q, from->q, m*sizeof *q);
    for (uint32_t i = 0; i < left->n; i++)
        v[i] = by[i]*part;
    for (uint32_t s = 0; s < steps && good; s++) {
        for (uint32_t e = 0; e < 4 && good; e++) {
            stage.time = began + (s + ahead[e])*part*time;
            for (uint32_t j = 0; j < m; j++)
                stage.q[j] = q[j] + (e ? ahead[e]*k[(e - 1)*m + j] : 0);
            good = velocity_with(left, &stage, v, part*time, k + e*m);
        }
        for (uint32_t j = 0; j < m; j++)
            q[j] += (k[j] + 2*k[m + j] + 2*k[2*m + j] + k[3*m + j])/6;
    }
    memcpy(to->q, q, m*sizeof *q);
    to->time = began + time;
    free(k);
    free(q);
    return good && close_chart(left, to);
}

// --- accelerations

// Residuals of all rows at the velocities, accelerations and forces of the slots, into column `column` with the other sign.
static void
put_residual(LeftMotion *left, uint32_t lines, uint32_t stride, uint32_t column, double *residual)
{
    expr_tape_eval(left->residual, left->slots, left->time, residual);
    for (uint32_t i = 0; i < lines; i++)
        left->table[(size_t)i*stride + column] = -residual[i];
}

static void
put_velocity(LeftMotion *left, const double *velocity)
{
    for (uint32_t j = 0; j < left->positions.n; j++) {
        *slot(left, left->positions.at[j], 1) = velocity[j];
        *slot(left, left->positions.at[j], 2) = 0;
    }
    for (uint32_t j = 0; j < left->forces.n; j++)
        *slot(left, left->forces.at[j], 0) = 0;
}

// Solves the table for `sides` right sides: change of unknown j for side s in column j... of `out` [s*width + j]. Positions have to be determined.
static bool
solve_all(LeftMotion *left, uint32_t lines, uint32_t sides, double *out)
{
    uint32_t width = left->width, m = left->positions.n, stride = width + sides, order[SIZE_MOST], pivot[SIZE_MOST], found = 0;
    double unit[SIZE_MOST];
    if (!level_rows(left->table, lines, width, stride))
        return false;
    for (uint32_t j = 0; j < width; j++) {
        unit[j] = 0;
        for (uint32_t i = 0; i < lines; i++)
            unit[j] = fmax(unit[j], fabs(left->table[i*stride + j]));
        unit[j] = unit[j] > 0 ? unit[j] : 1;
        for (uint32_t i = 0; i < lines; i++)
            left->table[i*stride + j] /= unit[j];
        order[j] = j < left->forces.n ? m + j : j - left->forces.n;
    }
    Table table = {left->table, lines, stride, stride};
    uint32_t rank = table_reduce(&table, order, width, LEAST, pivot);
    memset(out, 0, (size_t)sides*width*sizeof *out);
    for (uint32_t i = 0; i < rank; i++) {
        found += pivot[i] < m;
        for (uint32_t s = 0; s < sides; s++)
            out[s*width + pivot[i]] = left->table[i*stride + width + s]/unit[pivot[i]];
    }
    for (uint32_t i = rank; i < lines; i++)
        for (uint32_t s = 0; s < sides; s++) {
            double most = 0;
            for (uint32_t k = 0; k < rank; k++)
                most = fmax(most, fabs(left->table[k*stride + width + s]));
            if (fabs(left->table[i*stride + width + s]) > 1e-6*fmax(1, most))
                return false; // rows that depend on each other contradict
        }
    return found == m;
}

static void
fill_matrix(LeftMotion *left, uint32_t lines, uint32_t stride, double *entries)
{
    expr_tape_eval(left->matrix, left->slots, left->time, entries);
    fill(left->table, &left->matrix_at, lines, left->width, stride, entries);
}

// Accelerations at one of the velocities where rows are not linear in them: Newton's method.
static bool
accelerate_slowly(LeftMotion *left, const LeftPoint *at, const double *velocity, double *out)
{
    uint32_t lines = left->constraints.n + left->rates.n + left->dynamics.n, m = left->positions.n;
    double *step = base_calloc(left->width + 1, sizeof *step), residual[SIZE_MOST];
    bool good = true, found = false;
    put_point(left, at);
    put_velocity(left, velocity);
    for (uint32_t k = 0; k < NEWTON_MOST && good && !found; k++) {
        double most = 0, size = 1;
        fill_matrix(left, lines, left->width + 1, left->values);
        put_residual(left, lines, left->width + 1, left->width, residual);
        good = solve_all(left, lines, 1, step);
        for (uint32_t j = 0; j < left->width && good; j++) {
            double *x = j < m ? slot(left, left->positions.at[j], 2) : slot(left, left->forces.at[j - m], 0);
            *x += step[j];
            most = fmax(most, fabs(step[j]));
            size = fmax(size, fabs(*x));
        }
        found = most <= 1e-13*size;
    }
    for (uint32_t j = 0; j < left->n; j++)
        out[j] = *slot(left, left->positions.at[left->free.at[j]], 2);
    free(step);
    return good && found;
}

bool
left_motion_accelerate(LeftMotion *left, const LeftPoint *at, uint32_t count, const double *velocity, double *out)
{
    uint32_t lines = left->constraints.n + left->rates.n + left->dynamics.n, m = left->positions.n, n = left->n;
    double residual[SIZE_MOST], *found = base_calloc((size_t)count*left->width + 1, sizeof *found);
    bool good = true;
    if (left->linear) {
        put_point(left, at);
        fill_matrix(left, lines, left->width + count, left->values);
        for (uint32_t s = 0; s < count; s++) {
            put_velocity(left, velocity + s*m);
            put_residual(left, lines, left->width + count, left->width + s, residual);
        }
        good = solve_all(left, lines, count, found);
        for (uint32_t s = 0; s < count; s++)
            for (uint32_t k = 0; k < n; k++)
                out[s*n + k] = found[s*left->width + left->free.at[k]];
    }
    for (uint32_t s = 0; s < count && good && !left->linear; s++)
        good = accelerate_slowly(left, at, velocity + s*m, out + s*n);
    free(found);
    return good;
}

// Of `count` velocities of the coordinates, in rows of left->n.
static bool
accelerate(LeftMotion *left, const LeftPoint *at, uint32_t count, const double *v, double *out)
{
    uint32_t m = left->positions.n;
    double *velocity = base_calloc((size_t)count*m + 1, sizeof *velocity);
    bool good = true;
    for (uint32_t s = 0; s < count && good; s++)
        good = left_motion_velocity(left, at, v + s*left->n, velocity + s*m);
    good = good && left_motion_accelerate(left, at, count, velocity, out);
    free(velocity);
    return good;
}

// --- slopes of many coordinates at once

// What the rows of positions and velocities make of all positions: for each of the `sides` columns behind the table's positions, those of the chart being `free`
// (or held, NULL). Into out[s*m + j].
static bool
solve_sides(LeftMotion *left, uint32_t sides, double *out)
{
    uint32_t m = left->positions.n, lines = left->constraints.n + left->rates.n, stride = m + sides, pivot[SIZE_MOST];
    if (!level_rows(left->table, lines, m, stride))
        return false;
    Table table = {left->table, lines, stride, stride};
    uint32_t rank = table_reduce(&table, left->bound.at, left->bound.n, LEAST, pivot);
    for (uint32_t s = 0; s < sides; s++)
        for (uint32_t i = 0; i < rank; i++)
            out[s*m + pivot[i]] = left->table[i*stride + m + s];
    return rank == left->bound.n;
}

static void
fill_slope(LeftMotion *left, uint32_t stride)
{
    expr_tape_eval(left->slope, left->slots, left->time, left->values);
    fill(left->table, &left->slope_at, left->constraints.n + left->rates.n, left->positions.n, stride, left->values);
}

bool
left_motion_tangent(LeftMotion *left, const LeftPoint *at, double *drift, double *tangent)
{
    uint32_t n = left->n, m = left->positions.n, lines = left->constraints.n + left->rates.n, stride = m + n + 1;
    double right[SIZE_MOST], *out = base_calloc((size_t)(n + 1)*m + 1, sizeof *out);
    put_point(left, at);
    expr_tape_eval(left->first, left->slots, left->time, right);
    fill_slope(left, stride);
    for (uint32_t i = 0; i < lines; i++) {
        double *line = left->table + (size_t)i*stride;
        line[m] = -right[i];
        for (uint32_t k = 0; k < n; k++)
            line[m + 1 + k] = -line[left->free.at[k]];
    }
    for (uint32_t k = 0; k < n; k++)
        out[(k + 1)*m + left->free.at[k]] = 1;
    bool good = solve_sides(left, n + 1, out);
    memcpy(drift, out, m*sizeof *drift);
    memcpy(tangent, out + m, (size_t)n*m*sizeof *tangent);
    free(out);
    return good;
}

// Accelerations and forces of one velocity, into the slots, and the residuals' matrix there into the table.
static bool
settle(LeftMotion *left, const LeftPoint *at, const double *velocity)
{
    uint32_t lines = left->constraints.n + left->rates.n + left->dynamics.n, m = left->positions.n;
    double residual[SIZE_MOST], *found = base_calloc(left->width + 1, sizeof *found), *a = base_calloc(left->n + 1, sizeof *a);
    bool good = true;
    if (left->linear) {
        put_point(left, at);
        fill_matrix(left, lines, left->width + 1, left->values);
        put_velocity(left, velocity);
        put_residual(left, lines, left->width + 1, left->width, residual);
        good = solve_all(left, lines, 1, found);
        for (uint32_t j = 0; j < left->width && good; j++)
            *(j < m ? slot(left, left->positions.at[j], 2) : slot(left, left->forces.at[j - m], 0)) = found[j];
    } else {
        good = accelerate_slowly(left, at, velocity, a);
    }
    free(found);
    free(a);
    return good;
}

static void
move_slots(LeftMotion *left, const double *q, const double *way, const double *velocity, const double *change, double h)
{
    for (uint32_t j = 0; j < left->positions.n; j++) {
        *slot(left, left->positions.at[j], 0) = q[j] + h*way[j];
        *slot(left, left->positions.at[j], 1) = velocity[j] + (change ? h*change[j] : 0);
    }
}

// Derivatives of what a tape gives along the ways, with the sign of a right side, into the columns of the table from `column` on.
static void
put_derivatives(LeftMotion *left, ExprTape *tape, uint32_t lines, uint32_t stride, uint32_t column, const double *q, const double *ways,
                const double *velocity, const double *changes)
{
    static const double part[] = {-3, -2, -1, 1, 2, 3}, weight[] = {-1, 9, -45, 45, -9, 1}, h = 1e-3;
    double value[SIZE_MOST];
    uint32_t m = left->positions.n;
    for (uint32_t i = 0; i < left->n; i++) {
        for (uint32_t line = 0; line < lines; line++)
            left->table[(size_t)line*stride + column + i] = 0;
        for (int p = 0; p < 6; p++) {
            move_slots(left, q, ways + i*m, velocity, changes ? changes + i*m : NULL, part[p]*h);
            expr_tape_eval(tape, left->slots, left->time, value);
            for (uint32_t line = 0; line < lines; line++)
                left->table[(size_t)line*stride + column + i] -= weight[p]*value[line]/(60*h);
        }
    }
    move_slots(left, q, ways, velocity, NULL, 0);
}

bool
left_motion_gradient(LeftMotion *left, const LeftPoint *at, const double *velocity, const double *tangent, double *out)
{
    uint32_t n = left->n, m = left->positions.n, still = left->constraints.n + left->rates.n, lines = still + left->dynamics.n, stride = left->width + n;
    double *changes = base_calloc((size_t)n*m + 1, sizeof *changes), *found = base_calloc((size_t)n*left->width + 1, sizeof *found);
    bool good = settle(left, at, velocity);
    if (good) { // what velocities become at fixed ones of the coordinates
        fill_slope(left, m + n);
        put_derivatives(left, left->first, still, m + n, m, at->q, tangent, velocity, NULL);
        good = solve_sides(left, n, changes);
    }
    if (good) {
        fill_matrix(left, lines, stride, left->values);
        put_derivatives(left, left->residual, lines, stride, left->width, at->q, tangent, velocity, changes);
        good = solve_all(left, lines, n, found);
    }
    for (uint32_t i = 0; i < n && good; i++)
        for (uint32_t k = 0; k < n; k++)
            out[k*n + i] = found[i*left->width + left->free.at[k]];
    free(changes);
    free(found);
    return good;
}

static double
of_jet(const Jet *jet, uint32_t k, const double *v, double *constant)
{
    uint32_t n = jet->n;
    double sum = 0;
    *constant = jet->a[k];
    for (uint32_t i = 0; i < n; i++) {
        sum += jet->b[k*n + i]*v[i];
        for (uint32_t j = 0; j < n; j++)
            sum += jet->c[(k*n + i)*n + j]*v[i]*v[j];
    }
    return sum;
}

bool
left_motion_jet(LeftMotion *left, const LeftPoint *at, Jet *out)
{
    uint32_t n = left->n, count = 1 + 2*n + n*(n - 1)/2 + CHECKS, s = 1 + 2*n;
    double *v = base_calloc((size_t)count*n + 1, sizeof *v), *f = base_calloc((size_t)count*n + 1, sizeof *f), once = left->speed, twice = once*once;
    for (uint32_t i = 0; i < n; i++) {
        v[(1 + 2*i)*n + i] = once;
        v[(2 + 2*i)*n + i] = -once;
        for (uint32_t j = i + 1; j < n; j++, s++)
            v[s*n + i] = v[s*n + j] = once;
    }
    for (uint32_t check = 0; check < CHECKS; check++)
        for (uint32_t i = 0; i < n; i++)
            v[(s + check)*n + i] = once*(check ? 3 : 1.3)*(fmod((i + 1)*0.7548776662466927 + check*0.41, 1.0) - 0.4);
    bool good = accelerate(left, at, count, v, f);
    for (uint32_t k = 0; k < n && good; k++) {
        out->a[k] = f[k];
        for (uint32_t i = 0; i < n; i++) {
            double plus = f[(1 + 2*i)*n + k] - f[k], minus = f[(2 + 2*i)*n + k] - f[k];
            out->b[k*n + i] = (plus - minus)/(2*once);
            out->c[(k*n + i)*n + i] = (plus + minus)/(2*twice);
        }
        s = 1 + 2*n;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < n; j++, s++) {
                double both = (f[s*n + k] - f[k])/twice - (out->b[k*n + i] + out->b[k*n + j])/once - out->c[(k*n + i)*n + i] - out->c[(k*n + j)*n + j];
                out->c[(k*n + i)*n + j] = out->c[(k*n + j)*n + i] = both/2;
            }
    }
    left->beyond = NONE;
    for (uint32_t check = 0; check < CHECKS && good; check++)
        for (uint32_t k = 0; k < n; k++) {
            double constant, sum = of_jet(out, k, v + (s + check)*n, &constant), is = f[(s + check)*n + k] - constant;
            if (!isfinite(is))
                good = false;
            if (fabs(is - sum) > BEYOND*(fabs(is) + fabs(sum)) + 1e-9*(1 + fabs(constant)) && left->beyond == NONE)
                left->beyond = k;
        }
    free(v);
    free(f);
    return good;
}

// --- constraints of velocities

// The forms of the rows of velocities on a motion: time passes with `passing`, positions with `velocity`.
static void
forms(LeftMotion *left, const LeftPoint *at, const double *velocity, double passing, double *out)
{
    double still[SIZE_MOST], moving[SIZE_MOST];
    put_point(left, at);
    expr_tape_eval(left->first, left->slots, left->time, still);
    for (uint32_t j = 0; j < left->positions.n; j++)
        *slot(left, left->positions.at[j], 1) = velocity[j];
    expr_tape_eval(left->first, left->slots, left->time, moving);
    for (uint32_t i = 0; i < left->rates.n; i++) {
        uint32_t line = left->constraints.n + i;
        out[i] = moving[line] - still[line] + passing*still[line];
    }
}

// The derivative of the forms on `on` along `along`.
static void
along(LeftMotion *left, const LeftPoint *at, const double *way, double way_passing, const double *on, double on_passing, double *out)
{
    static const double part[] = {-2, -1, 1, 2}, weight[] = {1, -8, 8, -1}, h = 1e-3;
    LeftPoint near = left_point_make(left);
    double value[SIZE_MOST];
    memset(out, 0, left->rates.n*sizeof *out);
    for (int p = 0; p < 4; p++) {
        near.time = at->time + part[p]*h*way_passing;
        for (uint32_t j = 0; j < left->positions.n; j++)
            near.q[j] = at->q[j] + part[p]*h*way[j];
        forms(left, &near, on, on_passing, value);
        for (uint32_t i = 0; i < left->rates.n; i++)
            out[i] += weight[p]*value[i]/(12*h);
    }
    left_point_free(&near);
}

uint32_t
left_motion_nonholonomic(LeftMotion *left, const LeftPoint *at, bool *homogeneous)
{
    uint32_t n = left->n, m = left->positions.n, worst = NONE;
    double *motion = base_calloc((size_t)(n + 1)*m + 1, sizeof *motion), one[SIZE_MOST], other[SIZE_MOST], most[2] = {0, 0};
    uint32_t found[2] = {NONE, NONE};
    bool good = true;
    for (uint32_t i = 0; i <= n && good; i++) { // the last: time passes
        double v[SIZE_MOST] = {0};
        if (i < n)
            v[i] = 1;
        good = velocity_with(left, at, v, i == n, motion + i*m);
    }
    for (uint32_t i = 0; i <= n && good; i++)
        for (uint32_t j = i + 1; j <= n; j++) {
            along(left, at, motion + i*m, i == n, motion + j*m, j == n, one);
            along(left, at, motion + j*m, j == n, motion + i*m, i == n, other);
            for (uint32_t r = 0; r < left->rates.n; r++) {
                double turn = fabs(one[r] - other[r]), size = fabs(one[r]) + fabs(other[r]) + 1e-3;
                if (turn > 1e-6*size && turn > most[j == n]) {
                    most[j == n] = turn;
                    found[j == n] = left->rates.at[r];
                }
            }
        }
    worst = found[0] != NONE ? found[0] : found[1];
    *homogeneous = found[0] != NONE;
    free(motion);
    return worst;
}
