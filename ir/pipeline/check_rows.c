// check_rows.c: residuals of the written equations at a point of a run, and how large rounding and tolerance let them be.
//
// Purpose: whatever a pass, a back end or a solver does wrong, the values that are written do not solve the equations.
// Method: check_rows.h. Each different shape becomes a list of operations, arguments before users; each operation gives a value and a
//         bound of its error. Sums and products have the usual bounds; other functions are evaluated at their argument and at
//         both ends of its error.
// Contract: check_rows.h. Complexity: linear in the size of all equations per point; shapes are walked once.
#include "ir/pipeline/check_rows.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dae/locate.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

static const double KNOWN = 1e-6;    // part of its size that a variable is known to, at least
static const double MULTIPLE = 10;   // of the tolerance: the same where that is larger
static const double AROUND_ZERO = 0.01; // of a nominal value, or of its size of late: a variable below is no smaller than that
static const double FORGOTTEN = 0.05;   // of that size from one look to the next
static const double CROSSING = 4e-12; // of what is compared: events are located no better
static const double PASSED = 1e-10, PASSED_PART = 1e-12; // by which floor leaves an interval over a bound that belongs to it (ir/operator/integers.c)
static const double INSTANT = 1e-14; // of the time: what an event's instant is known to
enum { VALUES_SHOWN = 12 };

typedef struct Operation {
    Op op;
    uint32_t first, n;     // arguments: operations of the same tape, in Check.args; SLOT: first is the slot
    double value;          // CONST
} Operation;

typedef struct Tape {
    uint32_t first, n;     // range of Check.operations; the last one is the equation
    CheckLeft why;         // CHECK_LEFT: it can be evaluated
} Tape;

// Where the value of a slot is: place*2 + 1 for the negative; from CONSTANT on the index of a number that is known.
enum { CONSTANT = 0x80000000u };
typedef struct Leaf {
    uint32_t at;
    float floor;           // nominal size of a variable; negative: it is exact
} Leaf;

typedef struct Checked {
    uint32_t equation, shape, row;
    uint32_t tape, leaf;   // index into Check.tapes; first in Check.leaves
} Checked;

typedef struct Known {
    double value, error;   // the true value is not further away,
    int side;              // but to this side, +1 or -1, it may be anywhere: a reaction is not below zero
} Known;

struct Check {
    VEC(Checked) equations;
    VEC(Operation) operations;
    U32Vec args;
    VEC(Tape) tapes;
    Map tape_of;           // shape -> index into tapes
    VEC(Leaf) leaves;
    F64Vec numbers;
    VEC(Known) known;      // of the operations of the longest tape
    F64Vec size;           // per place: how large its value was of late,
    F64Vec last, rate;     // its value at the look before, and how fast it came from there
    double last_time;
    uint32_t left[CHECK_LEFT];
    Dae *dae;
    const Sys *sys;
};

static void
leave_out(Check *check, CheckLeft why)
{
    check->left[why]++;
}

Check *
check_create(const Dae *dae)
{
    Check *check = base_calloc(1, sizeof *check);
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        if (equation->kind == EQN_WHEN)
            leave_out(check, CHECK_WHEN);
        else if (equation->kind == EQN_INITIAL)
            leave_out(check, CHECK_START);
        else if (equation->kind == EQN_NORMAL || equation->kind == EQN_ALIAS)
            vec_push(&check->equations, ((Checked){.equation = i, .shape = equation->shape, .row = equation->row}));
    }
    return check;
}

void
check_free(Check **slot)
{
    Check *check = *slot;
    if (!check)
        return;
    vec_free(&check->equations);
    vec_free(&check->operations);
    vec_free(&check->args);
    vec_free(&check->tapes);
    map_free(&check->tape_of);
    vec_free(&check->leaves);
    vec_free(&check->numbers);
    vec_free(&check->size);
    vec_free(&check->last);
    vec_free(&check->rate);
    vec_free(&check->known);
    free(check);
    *slot = NULL;
}

// --- shapes

static CheckLeft
refusal(Op op)
{
    switch (op) {
    case OP_CALL: case OP_RESULT: case OP_INDEX: case OP_PICK: return CHECK_CALL;
    case OP_DELAY: case OP_TRANSPORT: case OP_FDER: case OP_INTEGRAL: case OP_MOVING: return CHECK_PAST;
    default: return CHECK_LEFT;
    }
}

static uint32_t
make_tape(Check *check, Exprs *exprs, Expr shape)
{
    U32Vec parts = {0};
    Map position = {0};
    Tape tape = {.first = check->operations.n, .why = CHECK_LEFT};
    expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n && tape.why == CHECK_LEFT; i++) {
        Expr part = parts.at[i];
        Operation operation = {.op = expr_op(exprs, part), .first = check->args.n, .n = expr_nargs(exprs, part)};
        tape.why = refusal(operation.op);
        if (operation.op == OP_CONST)
            operation.value = expr_value(exprs, part);
        if (operation.op == OP_SLOT)
            operation.first = expr_slot_of(exprs, part);
        for (uint32_t k = 0; k < operation.n; k++) {
            uint32_t at = 0;
            map_get(&position, expr_arg(exprs, part, k), &at);
            vec_push(&check->args, at);
        }
        map_put(&position, part, i);
        vec_push(&check->operations, operation);
    }
    tape.n = check->operations.n - tape.first;
    if (tape.n > check->known.n)
        vec_grow(&check->known, tape.n - check->known.n);
    vec_push(&check->tapes, tape);
    vec_free(&parts);
    map_free(&position);
    return check->tapes.n - 1;
}

// --- places

typedef struct Binding {
    Check *check;
    Dae *dae;
    const Sys *sys;
    U8Vec computed;        // per place: it has its value when a row is written
    F64Vec nominal;        // per variable; empty: none is given
} Binding;

static void
read_nominals(Binding *b)
{
    const Dae *dae = b->dae;
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        if (bind->attr != ATTR_NOMINAL || expr_op(dae->exprs, bind->shape) != OP_CONST)
            continue;
        if (!b->nominal.n)
            vec_grow(&b->nominal, dae->nvars);
        bind_each(bind, var)
            b->nominal.at[var] = fabs(expr_value(dae->exprs, bind->shape));
    }
}

static uint32_t
number_at(Check *check, double value)
{
    vec_push(&check->numbers, value);
    return CONSTANT | (check->numbers.n - 1);
}

static bool
find_leaf(Binding *b, Var var, Leaf *leaf)
{
    Dae *dae = b->dae;
    double value;
    bool negative;
    if (dae_is_literal(dae, var, &value)) {
        *leaf = (Leaf){number_at(b->check, value), -1};
        return true;
    }
    Var at = dae_alias(dae, var, &negative);
    VarKind kind = dae_kind(dae, at);
    uint32_t place = at < b->sys->place_of.n ? b->sys->place_of.at[at] : UINT32_MAX;
    bool constant = kind == VAR_PARAMETER || kind == VAR_CONSTANT;
    if (place == UINT32_MAX) {
        if (!constant || !dae_known_value(dae, at, &value))
            return false;
        *leaf = (Leaf){number_at(b->check, negative ? -value : value), -1};
        return true;
    }
    bool left_limit = dae->var_pre_of.at[at] != NONE && dae_kind(dae, dae->var_pre_of.at[at]) == VAR_CONTINUOUS;
    if (left_limit || (!constant && kind != VAR_INPUT && !b->computed.at[place] && dae->var_pre_of.at[at] == NONE))
        return false;
    double nominal = b->nominal.n && b->nominal.at[var] > 0 ? b->nominal.at[var] : 1;
    *leaf = (Leaf){place * 2 + negative, kind == VAR_CONTINUOUS ? (float)nominal : -1};
    return true;
}

// False: a variable has no value.
static bool
bind_equation(Binding *b, Checked *checked)
{
    Check *check = b->check;
    uint32_t slots = expr_nslots(b->dae->exprs, checked->shape), tape;
    if (!map_get(&check->tape_of, checked->shape, &tape)) {
        tape = make_tape(check, b->dae->exprs, checked->shape);
        map_put(&check->tape_of, checked->shape, tape);
    }
    checked->leaf = check->leaves.n;
    CheckLeft why = check->tapes.at[tape].why;
    for (uint32_t k = 0; k < slots && why == CHECK_LEFT; k++) {
        Leaf leaf;
        if (find_leaf(b, b->dae->rows.at[checked->row + k], &leaf))
            vec_push(&check->leaves, leaf);
        else
            why = CHECK_NO_VALUE;
    }
    checked->tape = tape;
    if (why == CHECK_LEFT)
        return true;
    check->leaves.n = checked->leaf;
    leave_out(check, why);
    return false;
}

void
check_bind(Check *check, Dae *dae, const Sys *sys)
{
    Binding b = {.check = check, .dae = dae, .sys = sys};
    uint32_t kept = 0;
    check->dae = dae;
    check->sys = sys;
    vec_grow(&b.computed, sys->model->nv);
    vec_grow(&check->size, sys->model->nv);
    vec_grow(&check->last, sys->model->nv);
    vec_grow(&check->rate, sys->model->nv);
    check->last_time = INFINITY;
    sys_mark_computed(sys, b.computed.at);
    read_nominals(&b);
    for (uint32_t i = 0; i < check->equations.n; i++)
        if (bind_equation(&b, &check->equations.at[i]))
            check->equations.at[kept++] = check->equations.at[i];
    check->equations.n = kept;
    vec_free(&b.computed);
    vec_free(&b.nominal);
}

uint32_t
check_count(const Check *check)
{
    return check->equations.n;
}

uint32_t
check_left(const Check *check, CheckLeft why)
{
    return check->left[why];
}

const char *
check_why(CheckLeft why)
{
    static const char *const text[CHECK_LEFT] = {
        [CHECK_WHEN] = "change at events only", [CHECK_START] = "of the start", [CHECK_CALL] = "with calls or computed subscripts",
        [CHECK_PAST] = "with delays, fractional derivatives or integrals",
        [CHECK_NO_VALUE] = "of values that the run does not compute"};
    return text[why];
}

// --- evaluation

typedef struct Point {
    const double *v;
    double resolution;     // of time
    double part;           // of its size that a variable is known to
    double reaction;       // the largest of the point: the others are computed from it, and known no better than a part of its size
    const Known *known;
    const double *size;
    const uint32_t *args;
} Point;

static Known
argument(const Point *p, const Operation *operation, uint32_t k)
{
    return p->known[p->args[operation->first + k]];
}

// Where only what is bounded on both sides says anything.
static Known
bounded(Known a)
{
    return (Known){a.value, a.side ? INFINITY : a.error, 0};
}

static Known
plus(Known a, Known b)
{
    double value = a.value + b.value;
    bool opposite = a.side * b.side < 0;
    return (Known){value, opposite ? INFINITY : a.error + b.error, opposite ? 0 : a.side ? a.side : b.side};
}

static Known
minus(Known a)
{
    return (Known){-a.value, a.error, -a.side};
}

static bool
is_nothing(Known a)
{
    return a.value == 0 && a.error == 0 && !a.side;
}

static Known
times(Known a, Known b)
{
    if (is_nothing(a) || is_nothing(b))
        return (Known){0, 0, 0};
    Known factor = a.side ? b : a;
    double value = a.value * b.value;
    double error = fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error + DBL_EPSILON * fabs(value);
    if (!a.side && !b.side)
        return (Known){value, error, 0};
    // A factor of which the sign is not known could turn the side.
    bool turns = factor.side || !(fabs(factor.value) > factor.error);
    return (Known){value, turns ? INFINITY : error, turns ? 0 : (a.side + b.side) * (factor.value < 0 ? -1 : 1)};
}

// The value at the argument; where that is beyond the domain by rounding, at the place inside the error that is nearest to it.
static double
nearest_value(Op op, Known a)
{
    double value = expr_apply(op, &a.value, 1);
    for (int k = DBL_MANT_DIG; !isfinite(value) && k >= 0; k--) {
        double above = a.value + ldexp(a.error, -k), below = a.value - ldexp(a.error, -k);
        value = expr_apply(op, &above, 1);
        if (!isfinite(value))
            value = expr_apply(op, &below, 1);
    }
    return value;
}

// By its values at both ends of the error.
static Known
of_one(Op op, Known a)
{
    if (!isfinite(a.error))
        return (Known){expr_apply(op, &a.value, 1), INFINITY, 0};
    double low = a.value - a.error, high = a.value + a.error;
    double here = nearest_value(op, a), below = expr_apply(op, &low, 1), above = expr_apply(op, &high, 1);
    double error = fmax(isfinite(below) ? fabs(below - here) : 0, isfinite(above) ? fabs(above - here) : 0);
    bool turns = (op == OP_SIN || op == OP_COS || op == OP_ABS) && error < a.error; // at a top both ends are below
    bool jumps = op == OP_TAN && a.error > 0.1;
    return (Known){here, jumps ? INFINITY : (turns ? fmin(a.error, error + a.error * a.error + (op == OP_ABS ? a.error : 0)) : error) + DBL_EPSILON * fabs(here), 0};
}

static Known
of_two(Op op, Known a, Known b)
{
    double here[2] = {a.value, b.value}, value = expr_apply(op, here, 2), error = 0;
    if (!isfinite(a.error) || !isfinite(b.error))
        return (Known){value, INFINITY, 0};
    bool any = false; // a power of a negative number has a value at whole exponents alone
    for (int i = 0; i < 4; i++) {
        double end[2] = {a.value + (i & 1 ? a.error : -a.error), b.value + (i & 2 ? b.error : -b.error)};
        double other = expr_apply(op, end, 2);
        if (!isfinite(value))
            value = other;
        if (isfinite(other))
            error = fmax(error, fabs(other - value));
        any = any || isfinite(other);
    }
    return (Known){value, any ? error + DBL_EPSILON * fabs(value) : INFINITY, 0};
}

static Known
quotient(Known a, Known b)
{
    double least = fabs(b.value) - b.error, value = a.value / b.value;
    if (!(least > 0) || !isfinite(value) || b.side)
        return (Known){value, INFINITY, 0};
    return (Known){value, (fabs(value) * b.error + a.error) / least + DBL_EPSILON * fabs(value), b.value < 0 ? -a.side : a.side};
}

// How a Boolean may come out that errors could turn.
static Known
truth(bool value, bool open)
{
    return (Known){value, open ? 1 : 0, 0};
}

static Known
relation(Op op, Known a, Known b)
{
    bool exact = a.error == 0 && b.error == 0;
    double distance = a.value - b.value, around = a.error + b.error + CROSSING * (fabs(a.value) + fabs(b.value));
    bool open = !(fabs(distance) > around);
    double both[2] = {a.value, b.value};
    return truth(expr_apply(op, both, 2) != 0, open && !exact);
}

static Known
sum(const Point *p, const Operation *operation)
{
    Known total = argument(p, operation, 0);
    for (uint32_t k = 1; k < operation->n; k++) {
        total = plus(total, argument(p, operation, k));
        total.error += DBL_EPSILON * fabs(total.value);
    }
    return total;
}

static Known
product(const Point *p, const Operation *operation)
{
    Known total = argument(p, operation, 0);
    for (uint32_t k = 1; k < operation->n; k++)
        total = times(total, argument(p, operation, k));
    return total;
}

// and, or: what is certain of the operands decides.
static Known
junction(const Point *p, const Operation *operation, bool is_or)
{
    bool value = !is_or, open = false;
    for (uint32_t k = 0; k < operation->n; k++) {
        Known a = argument(p, operation, k);
        bool decides = (a.value != 0) == is_or;
        if (decides && a.error == 0)
            return truth(is_or, false);
        value = decides ? is_or : value;
        open = open || a.error != 0;
    }
    return truth(value, open);
}

static Known
choice(Known condition, Known yes, Known no)
{
    Known taken = condition.value != 0 ? yes : no, other = condition.value != 0 ? no : yes;
    if (condition.error == 0)
        return taken;
    double apart = fabs(taken.value - other.value) + other.error;
    taken.error = isfinite(apart) ? fmax(taken.error, apart) : INFINITY;
    return taken;
}

// a*Sgn(x) at x = 0 is any value between -a and a; a reaction is any that is not below zero at a gap that is closed. What a law holds at
// zero may have drifted by the tolerance before the runtime moves it back.
static Known
set_valued(Op op, Known x, Known a, double drift)
{
    bool still = fabs(x.value) <= x.error + drift;
    double sign = still ? 0 : x.value > 0 ? 1 : -1;
    switch (op) {
    case OP_SGN: return (Known){sign, still, 0};
    case OP_TAR: return (Known){x.value + sign * a.value, x.error + a.error + (still ? fabs(a.value) : 0), 0};
    default: return (Known){0, 0, still};
    }
}

// A component of a*x/|x|; at rest it is any between -a and a.
static Known
in_plane(const Point *p, const Operation *operation)
{
    Known a = bounded(argument(p, operation, 1)), along = bounded(argument(p, operation, 2 + (uint32_t)argument(p, operation, 0).value));
    double length = 0, error = 0;
    for (uint32_t k = 2; k < operation->n; k++) {
        Known x = bounded(argument(p, operation, k));
        length = hypot(length, x.value);
        error += x.error;
    }
    if (!(length > error + p->part))
        return (Known){0, fabs(a.value) + a.error, 0};
    double part = along.value / length;
    return (Known){a.value * part, a.error + fabs(a.value) * 2 * error / (length - error), 0};
}

// What moves is in the interval of an integer until it has left it.
static Known
held(Known a)
{
    if (a.error > 0)
        a.error += PASSED + (PASSED_PART + CROSSING) * (1 + fabs(a.value));
    return a;
}

static Known
apply(const Point *p, const Operation *operation)
{
    Op op = operation->op;
    uint32_t n = operation->n;
    Known none = {0, 0, 0}, a = n > 0 ? argument(p, operation, 0) : none, b = n > 1 ? argument(p, operation, 1) : none;
    switch (op) { // those that keep sides
    case OP_ADD: return sum(p, operation);
    case OP_MUL: return product(p, operation);
    case OP_NEG: return minus(a);
    case OP_DIV: return quotient(a, b);
    case OP_EQN: return plus(a, minus(b));
    case OP_NOEVENT: case OP_HOMOTOPY: case OP_RATED: return a;
    case OP_SMOOTH: return b;
    default: break;
    }
    a = bounded(a);
    b = bounded(b);
    switch (op) {
    case OP_CONST: return (Known){operation->value, 0, 0};
    case OP_TIME: return (Known){p->v[0], fmax(CROSSING * fabs(p->v[0]), p->resolution), 0};
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE: return relation(op, a, b);
    case OP_AND: case OP_OR: return junction(p, operation, op == OP_OR);
    case OP_NOT: return truth(a.value == 0, a.error != 0);
    case OP_IF: return choice(a, b, bounded(argument(p, operation, 2)));
    case OP_COULOMB: return in_plane(p, operation);
    case OP_FLOOR: case OP_CEIL: case OP_TRUNC: return of_one(op, held(a));
    case OP_SAMPLE: case OP_INITIAL: return truth(false, false);
    case OP_TERMINAL: return truth(false, true);
    case OP_SGN: case OP_TAR: case OP_UNILATERAL: return set_valued(op, a, b, p->part);
    default: return n == 1 ? of_one(op, a) : of_two(op, a, b);
    }
}

// How far a variable moves within the time that an instant is known to: one that is fast beside its nominal value is no nearer to a
// threshold. The rate of a state is known; others have come from where they were (a diode of 1e-5 Ohm commutates 100 A in 3 ns).
static double
moved(const Check *check, uint32_t place, const Point *p)
{
    const mdl_model *model = check->sys->model;
    uint32_t state = place - model->y;
    bool is_state = place >= model->y && state < model->nx;
    double rate = is_state ? fabs(p->v[model->yp + state]) : check->rate.at[place];
    return isfinite(rate) ? rate * fmax(INSTANT * fabs(p->v[0]), p->resolution) : 0;
}

static Known
leaf_value(const Check *check, const Leaf *leaf, const Point *p)
{
    if (leaf->at >= CONSTANT)
        return (Known){check->numbers.at[leaf->at - CONSTANT], 0, 0};
    double value = p->v[leaf->at / 2];
    value = leaf->at & 1 ? -value : value;
    if (leaf->floor < 0)
        return (Known){value, 0, 0};
    double size = fmax(leaf->floor, p->size[leaf->at / 2]);
    return (Known){value, p->part * (fabs(value) + AROUND_ZERO * size) + moved(check, leaf->at / 2, p), 0};
}

// *gap: what is returned is the gap of a contact that is below zero.
static Known
residual(Check *check, const Checked *checked, const Point *at, bool *gap)
{
    const Tape *tape = &check->tapes.at[checked->tape];
    const Operation *operations = check->operations.at + tape->first;
    Known known = {0, 0, 0};
    for (uint32_t i = 0; i < tape->n; i++) {
        const Operation *operation = &operations[i];
        known = operation->op == OP_SLOT ? leaf_value(check, &check->leaves.at[checked->leaf + operation->first], at)
                                         : apply(at, operation);
        check->known.at[i] = known;
        if (isnan(known.error))
            check->known.at[i].error = INFINITY;
        Known x = operation->op == OP_UNILATERAL ? argument(at, operation, 0) : known;
        *gap = operation->op == OP_UNILATERAL && !x.side && x.value < -(x.error + at->part);
        if (*gap)
            return (Known){x.value, x.error + at->part, 0};
    }
    return known;
}

// What the difference of both sides lacks, with its error, where it may be anywhere to one side.
static Known
missing(Known known, const Point *at)
{
    known.error += at->part * AROUND_ZERO * at->reaction;
    if (known.side * known.value < 0)
        known.value = 0;
    return known;
}

typedef struct Found {
    const Checked *checked;
    Known known;
    bool gap;
    double size;           // of the difference in units of its error
} Found;

static void
describe(Check *check, const Found *worst, const Point *p, Out *out)
{
    const Checked *checked = worst->checked;
    Known found = worst->known;
    Dae *dae = check->dae;
    const Equation *equation = &dae->equations.at[checked->equation];
    uint32_t inst = locate_equation_inst(dae, checked->equation), n = 0;
    if (worst->gap)
        out_printf(out, "the gap of this constraint is %.6g, and the tolerance explains %.3g below zero\n  ", found.value, found.error);
    else
        out_printf(out, "this equation is not fulfilled: its sides differ by %.6g, and the tolerance explains %.3g%s\n  ", found.value, found.error,
                   found.side ? "; no reaction acts to that side" : "");
    locate_equation(dae, equation->span, inst, out);
    uint32_t slots = expr_nslots(dae->exprs, checked->shape);
    dae_print_shape(dae, checked->shape, checked->row, NONE, out);
    for (uint32_t k = 0; k < slots && n < VALUES_SHOWN; k++) {
        const Leaf *leaf = &check->leaves.at[checked->leaf + k];
        if (leaf->at >= CONSTANT)
            continue;
        out_printf(out, "\n  %s = %.10g", dae_name(dae, dae->rows.at[checked->row + k]), leaf_value(check, leaf, p).value);
        n++;
    }
}

// A variable that passes through zero is known no better than where it comes from: it is computed from others of its size there.
static void
note_point(Check *check, const double *v)
{
    double passed = v[0] - check->last_time;
    for (uint32_t i = 0; i < check->size.n; i++) {
        double value = isfinite(v[i]) ? v[i] : 0;
        check->size.at[i] = fmax(fabs(value), (1 - FORGOTTEN) * check->size.at[i]);
        if (passed > 0)
            check->rate.at[i] = fabs(value - check->last.at[i]) / passed;
        check->last.at[i] = value;
    }
    check->last_time = v[0];
}

// The equation that is worst, if any is wrong. *reaction: the largest of the point.
static Found
find_worst(Check *check, const Point *at, double *reaction)
{
    Found worst = {.size = 1};
    for (uint32_t i = 0; i < check->equations.n; i++) {
        const Checked *checked = &check->equations.at[i];
        bool gap;
        Known known = residual(check, checked, at, &gap);
        if (known.side) {
            *reaction = fmax(*reaction, fabs(known.value));
            known = missing(known, at);
        }
        double size = fabs(known.value) / fmax(known.error, DBL_MIN);
        // What has no value, or any within its error, says nothing.
        if (isfinite(known.error) && known.value != 0 && size > worst.size)
            worst = (Found){checked, known, gap, size};
    }
    return worst;
}

bool
check_holds(Check *check, const double *v, double tolerance, double resolution, Out *out)
{
    Point at = {.v = v, .resolution = resolution, .part = fmax(KNOWN, MULTIPLE * tolerance), .known = check->known.at,
                .size = check->size.at, .args = check->args.at};
    note_point(check, v);
    double reaction = 0;
    Found found = find_worst(check, &at, &reaction);
    if (found.checked && found.known.side) {
        at.reaction = reaction;
        found = find_worst(check, &at, &reaction);
    }
    if (found.checked)
        describe(check, &found, &at, out);
    return !found.checked;
}
