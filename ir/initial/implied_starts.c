// implied_starts.c: conditions of the start that say what others have said already.
//
// Purpose: the voltage of two capacitors side by side is fixed in both, three currents of a star are all fixed at zero: these are more conditions than can be
// chosen, and still all of them hold. One that follows from the others is left out; where a value differs the model is refused (E0601).
// Method: numbers are carried through each over-determined set of the Dulmage-Mendelsohn decomposition, as far as parameters are known while compiling: an
// equation with one unknown that is affine in it gives that, and equations come before conditions. A condition that has no unknown left and holds is
// implied, and so is the one that gave an equation its last number, if it holds then. Where parameters can be set in the compiled model, an
// assertion looks at the condition at the start. So it does where numbers do not suffice and the one condition that is too many is a fixed start value of a
// library that was found, where the user can mend nothing.
// Contract: initial_inner.h; the matching of the problem is maximum and not perfect. Complexity: linear in what the sets hold.
//
//     a.v = 0, b.v = 0, b.v = a.v - g, g = 0   ->   b.v = 0 is left out
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/initial/initial_inner.h"

#include <math.h>

typedef struct Said { // an equation of the set
    uint32_t equation;
    Expr residual;
    uint32_t first, n; // its variables in Carrying.vars
    uint32_t open;     // how many of them have no number yet
    bool used;         // it gave one its number
    bool implied;
} Said;

typedef struct Carrying {
    Dae *dae;
    VEC(Said) said;
    U32Vec vars;
    U8Vec state;            // per variable: 0 outside of the set, else UNKNOWN or KNOWN
    VEC(double) value;      // per variable
    U32Vec given_by;        // per variable: the equation of the set that gave its number
    U32Vec start, of;       // per variable: equations of the set it stands in
    U32Vec ready[2];        // equations, conditions with one unknown
    bool contradicts;
} Carrying;

enum { UNKNOWN = 1, KNOWN = 2 };

static const double AGREE = 1e-12; // of the largest number in it: rounding of a sum

static bool
is_condition(const Carrying *c, const Said *said)
{
    return c->dae->equations.at[said->equation].kind == EQN_INITIAL;
}

// The numbers of an equation's variables; that of an unknown is 0. Gives the largest.
static double
take_numbers(const Carrying *c, const Said *said, double *numbers)
{
    double largest = 0;
    for (uint32_t k = 0; k < said->n; k++) {
        Var var = c->vars.at[said->first + k];
        numbers[k] = c->state.at[var] == UNKNOWN ? 0 : c->value.at[var];
        largest = fmax(largest, fabs(numbers[k]));
    }
    return largest;
}

static bool
add_said(Carrying *c, uint32_t equation)
{
    Dae *dae = c->dae;
    U32Vec vars = {0};
    Expr shape = dae_resolve(dae, equation, &vars);
    Said said = {.equation = equation, .residual = expr_residual(dae->exprs, shape), .first = c->vars.n, .n = vars.n};
    bool good = expr_op(dae->exprs, shape) == OP_EQN && !expr_has_op(dae->exprs, shape, OP_TIME);
    for (uint32_t k = 0; k < vars.n; k++) {
        bool unknown = c->state.at[vars.at[k]] == UNKNOWN;
        good = good && (unknown || dae_known_value(dae, vars.at[k], &c->value.at[vars.at[k]]));
        said.open += unknown;
    }
    vec_append(&c->vars, vars.at, vars.n);
    said.open = good ? said.open : UINT32_MAX; // it takes no part
    vec_push(&c->said, said);
    vec_free(&vars);
    return good;
}

static void
list_equations(Carrying *c)
{
    vec_clear(&c->start);
    vec_clear(&c->of);
    vec_grow(&c->start, c->dae->nvars + 1);
    vec_grow(&c->of, c->vars.n);
    for (uint32_t i = 0; i < c->vars.n; i++)
        c->start.at[c->vars.at[i] + 1]++;
    for (Var var = 0; var < c->dae->nvars; var++)
        c->start.at[var + 1] += c->start.at[var];
    for (uint32_t i = c->said.n; i-- > 0;)
        for (uint32_t k = 0; k < c->said.at[i].n; k++)
            c->of.at[--c->start.at[c->vars.at[c->said.at[i].first + k] + 1]] = i;
}

static void
make_ready(Carrying *c, uint32_t i)
{
    if (c->said.at[i].open == 1)
        vec_push(&c->ready[is_condition(c, &c->said.at[i])], i);
}

// All of its variables have numbers.
static void
look_at(Carrying *c, Said *said, uint32_t last)
{
    if (said->used)
        return;
    double *numbers = arena_array(c->dae->arena, double, said->n + 1);
    double largest = take_numbers(c, said, numbers);
    double left = expr_eval(c->dae->exprs, said->residual, numbers, 0);
    if (!(fabs(left) <= AGREE * largest))
        c->contradicts = true;
    else if (is_condition(c, said))
        said->implied = true;
    else if (last != NONE && is_condition(c, &c->said.at[last]))
        c->said.at[last].implied = true;
}

static void
put_number(Carrying *c, Var var, double value, uint32_t by)
{
    c->state.at[var] = KNOWN;
    c->value.at[var] = value;
    c->said.at[by].used = true;
    uint32_t end = var + 2 < c->start.n ? c->start.at[var + 2] : c->of.n;
    for (uint32_t i = c->start.at[var + 1]; i < end; i++) {
        Said *said = &c->said.at[c->of.at[i]];
        if (said->open == UINT32_MAX)
            continue;
        said->open--;
        make_ready(c, c->of.at[i]);
        if (!said->open)
            look_at(c, said, by);
    }
}

// The one unknown of equation i, if it is affine in it with a coefficient that is a number.
static void
solve_for(Carrying *c, uint32_t i)
{
    const Said said = c->said.at[i];
    Exprs *exprs = c->dae->exprs;
    Expr factor, rest;
    if (said.open != 1 || said.used)
        return;
    double *numbers = arena_array(c->dae->arena, double, said.n + 1);
    take_numbers(c, &said, numbers);
    for (uint32_t k = 0; k < said.n; k++) {
        Var var = c->vars.at[said.first + k];
        if (c->state.at[var] != UNKNOWN || !expr_affine(exprs, said.residual, k, &factor, &rest))
            continue;
        double by = expr_eval(exprs, factor, numbers, 0), value = -expr_eval(exprs, rest, numbers, 0) / by;
        if (isfinite(value) && by != 0)
            put_number(c, var, value, i);
        return;
    }
}

static void
carry(Carrying *c)
{
    for (uint32_t i = 0; i < c->said.n; i++) {
        make_ready(c, i);
        if (!c->said.at[i].open)
            look_at(c, &c->said.at[i], NONE);
    }
    while (!c->contradicts && (c->ready[0].n || c->ready[1].n)) {
        U32Vec *ready = &c->ready[!c->ready[0].n];
        solve_for(c, ready->at[--ready->n]);
    }
}

void
initial_assert_holds(Dae *dae, uint32_t equation, double size_of_one, const char *message)
{
    Exprs *exprs = dae->exprs;
    const Equation at = dae->equations.at[equation];
    Assert made = {.inst = dae->nodes.at[at.node].inst, .span = at.span, .message = sym_of(dae->syms, message)};
    Expr left = expr_arg(exprs, at.shape, 0), right = expr_arg(exprs, at.shape, 1);
    Expr size = expr_2(exprs, OP_ADD, expr_1(exprs, OP_ABS, left), expr_1(exprs, OP_ABS, right));
    if (size_of_one > 0)
        size = expr_2(exprs, OP_ADD, size, expr_const(exprs, size_of_one));
    Expr holds = expr_2(exprs, OP_LE, expr_1(exprs, OP_ABS, expr_residual(exprs, at.shape)), expr_2(exprs, OP_MUL, expr_const(exprs, 1e-6), size));
    Expr later = expr_1(exprs, OP_NOT, expr_make(exprs, OP_INITIAL, NULL, 0));
    Expr condition = expr_2(exprs, OP_OR, later, expr_1(exprs, OP_NOEVENT, holds));
    dae_bind_shape(dae, condition, dae->rows.at + at.row, &made.condition, &made.row);
    vec_push(&dae->asserts, made);
}

// The set has one condition too many, and some fixed start value in it is a library's: that is left to an assertion.
static bool
leave_to_library(const Carrying *c, U8Vec *left_out)
{
    for (uint32_t i = 0; i < c->said.n; i++) {
        const Equation *at = &c->dae->equations.at[c->said.at[i].equation];
        if (!is_condition(c, &c->said.at[i]) || !at->generated || !at->span.hi || !sources_is_found(c->dae->sources, at->span.lo)
            || sources_in_library(c->dae->sources, at->span.lo))
            continue;
        left_out->at[c->said.at[i].equation] = 1;
        initial_assert_holds(c->dae, c->said.at[i].equation, 0, "a fixed start value differs from what the other conditions of the start determine");
        return true;
    }
    return false;
}

// Marks what is left out of set s; false, and nothing, when that is not as much as is too many.
static bool
imply_set(Carrying *c, const Singular *over, uint32_t s, U8Vec *left_out)
{
    uint32_t first = over->variable_start.at[s], variables = over->variable_start.at[s + 1] - first, found = 0;
    uint32_t at = over->equation_start.at[s], n = over->equation_start.at[s + 1] - at;
    c->said.n = c->vars.n = c->ready[0].n = c->ready[1].n = 0;
    c->contradicts = false;
    for (uint32_t i = 0; i < variables; i++)
        c->state.at[over->variables.at[first + i]] = UNKNOWN;
    for (uint32_t i = 0; i < n; i++)
        add_said(c, over->equations.at[at + i]);
    list_equations(c);
    carry(c);
    for (uint32_t i = 0; i < c->said.n; i++)
        found += c->said.at[i].implied;
    if (!c->contradicts && !found && n - variables == 1 && leave_to_library(c, left_out))
        return true;
    if (!c->contradicts && found < n - variables)
        return initial_leave_dependent(c->dae, over, s, left_out);
    if (c->contradicts)
        return false;
    found = 0;
    for (uint32_t i = 0; i < c->said.n && found < n - variables; i++) {
        if (!c->said.at[i].implied)
            continue;
        left_out->at[c->said.at[i].equation] = 1;
        found++;
        if (c->dae->settable)
            initial_assert_holds(c->dae, c->said.at[i].equation, 0, "this condition of the start followed from the others when the model was compiled, and with these values it does not");
    }
    return true;
}

bool
initial_leave_out(Dae *dae, Problem *problem)
{
    Singular over = {0}, under = {0};
    Carrying c = {.dae = dae};
    U8Vec left_out = {0};
    problem_singular(problem, dae->nvars, &over, &under);
    vec_grow(&left_out, dae->equations.n);
    vec_grow(&c.state, dae->nvars);
    vec_grow(&c.value, dae->nvars);
    bool any = false;
    for (uint32_t s = 0; s + 1 < over.equation_start.n; s++)
        any |= imply_set(&c, &over, s, &left_out);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < problem->equations.n; i++)
        if (!left_out.at[problem->equations.at[i]])
            problem->equations.at[kept++] = problem->equations.at[i];
    problem->equations.n = kept;
    singular_free(&over);
    singular_free(&under);
    vec_free(&left_out);
    vec_free(&c.said);
    vec_free(&c.vars);
    vec_free(&c.state);
    vec_free(&c.value);
    vec_free(&c.start);
    vec_free(&c.of);
    vec_free(&c.ready[0]);
    vec_free(&c.ready[1]);
    return any;
}
