// variability.c: variability: nothing depends on what changes more often than it may itself.
//
// Purpose: constants < parameters < what changes at events < what changes all the time (Modelica specification 3.6,
// section 3.8). A parameter that depended on time, or an Integer on a continuous variable, would silently keep the value
// of one instant.
// Method: a value changes all the time when it depends on time or a continuous variable other than through a relation or a
// step function outside noEvent, which change at events only. What matters of a shape is found once; what an equation's
// slots stand for is looked up in its row. Parameters and constants are judged by their binds, variables that
// change at events by the equation that the matching gave them, Reals compared by == or <> where they stand.
// Contract: reports, changes nothing. Complexity: linear in shapes, binds and rows.
#include "ir/check/check.h"
#include "ir/dae/locate.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/structure/problem.h"

typedef struct Influence { // of a shape
    uint32_t first, n;     // slots through which what changes all the time matters, in Variability.slots
    uint32_t equal, n_equal; // the same for operands of == and <> outside noEvent
    bool time, equal_time;
} Influence;

typedef struct Variability {
    Dae *dae;
    Map of_shape;          // shape -> index into influences
    VEC(Influence) influences;
    U32Vec slots;
} Variability;

typedef struct Walk {
    const Exprs *exprs;
    Map seen;              // expression, twice, plus 1 inside noEvent
    U32Vec stack;
    U32Vec *slots;
    bool time;
} Walk;

static bool
is_held(Op op)
{
    return (op >= OP_LT && op <= OP_NE) || op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC || op == OP_SIGN;
}

static void
visit(Walk *walk, Expr e, bool literally)
{
    uint32_t known;
    uint64_t key = 2 * (uint64_t)e + literally;
    if (map_get(&walk->seen, key, &known))
        return;
    map_put(&walk->seen, key, 1);
    vec_push(&walk->stack, e);
    vec_push(&walk->stack, literally);
}

// Collects the slots through which `e` changes between events.
static void
walk_changes(Walk *walk, Expr e, bool literally)
{
    visit(walk, e, literally);
    while (walk->stack.n) {
        literally = vec_pop(&walk->stack) != 0;
        e = vec_pop(&walk->stack);
        Op op = expr_op(walk->exprs, e);
        if (op == OP_TIME)
            walk->time = true;
        else if (op == OP_SLOT)
            vec_push(walk->slots, expr_slot_of(walk->exprs, e));
        else if (literally || !is_held(op))
            for (uint32_t i = 0; i < expr_nargs(walk->exprs, e); i++)
                visit(walk, expr_arg(walk->exprs, e, i), literally || op == OP_NOEVENT);
    }
}

// The same for the operands of equalities outside noEvent.
static void
walk_equalities(Walk *walk, Expr shape)
{
    Map seen = {0};
    U32Vec stack = {0};
    uint32_t known;
    vec_push(&stack, shape);
    while (stack.n) {
        Expr e = vec_pop(&stack);
        Op op = expr_op(walk->exprs, e);
        if (op == OP_NOEVENT || map_get(&seen, e, &known))
            continue;
        map_put(&seen, e, 1);
        for (uint32_t i = 0; i < expr_nargs(walk->exprs, e); i++) {
            vec_push(&stack, expr_arg(walk->exprs, e, i));
            if (op == OP_EQ || op == OP_NE)
                walk_changes(walk, expr_arg(walk->exprs, e, i), false);
        }
    }
    map_free(&seen);
    vec_free(&stack);
}

static const Influence *
influence_of(Variability *v, Expr shape)
{
    uint32_t index;
    const Exprs *exprs = v->dae->exprs;
    if (map_get(&v->of_shape, shape, &index))
        return &v->influences.at[index];
    Influence made = {.first = v->slots.n};
    Walk walk = {.exprs = exprs, .slots = &v->slots};
    walk_changes(&walk, shape, false);
    made.n = v->slots.n - made.first;
    made.time = walk.time;
    made.equal = v->slots.n;
    if (expr_has_op(exprs, shape, OP_EQ) || expr_has_op(exprs, shape, OP_NE)) {
        map_clear(&walk.seen);
        walk.time = false;
        walk_equalities(&walk, shape);
        made.equal_time = walk.time;
    }
    made.n_equal = v->slots.n - made.equal;
    map_free(&walk.seen);
    vec_free(&walk.stack);
    map_put(&v->of_shape, shape, v->influences.n);
    vec_push(&v->influences, made);
    return &v->influences.at[v->influences.n - 1];
}

static bool
always_changes(const Dae *dae, Var var)
{
    VarKind kind = dae_kind(dae, var);
    bool real = dae_type(dae, var) == TYPE_REAL;
    return dae->var_pre_of.at[var] == NONE && (kind == VAR_CONTINUOUS || (kind == VAR_INPUT && real));
}

// What among these slots changes all the time, as text; NULL: nothing.
static const char *
changing(const Variability *v, uint32_t first, uint32_t n, bool time, const Var *row)
{
    for (uint32_t i = 0; i < n; i++)
        if (always_changes(v->dae, row[v->slots.at[first + i]]))
            return dae_name(v->dae, row[v->slots.at[first + i]]);
    return time ? "time" : NULL;
}

static void
variability_free(Variability *v)
{
    map_free(&v->of_shape);
    vec_free(&v->influences);
    vec_free(&v->slots);
}

// --- parameters, constants, attributes

// What in a shape is neither constant nor, unless a constant is wanted, parameter.
static const char *
not_fixed(Dae *dae, Expr shape, const Var *row, bool constant)
{
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, shape); k++) {
        VarKind kind = dae_kind(dae, row[k]);
        if (kind != VAR_CONSTANT && (kind != VAR_PARAMETER || constant))
            return dae_name(dae, row[k]);
    }
    return expr_has_op(dae->exprs, shape, OP_TIME) ? "time" : NULL;
}

static bool
judge_bind(Dae *dae, const Bind *bind, Diags *diags)
{
    static const char *const attributes[] = {"", "the start value of ", "the nominal value of ", "the minimum of ",
                                             "the maximum of "};
    VarKind kind = dae_kind(dae, bind->var);
    bool constant = kind == VAR_CONSTANT && bind->attr == ATTR_VALUE;
    if (bind->attr == ATTR_VALUE && kind != VAR_PARAMETER && kind != VAR_CONSTANT)
        return true;
    const char *culprit = not_fixed(dae, bind->shape, dae->rows.at + bind->row, constant);
    if (!culprit)
        return true;
    diag_add(diags, E0221, bind->span, "%s%s'%s' cannot depend on '%s', which %s", attributes[bind->attr],
             bind->attr != ATTR_VALUE ? "" : constant ? "the constant " : "the parameter ", dae_name(dae, bind->var), culprit,
             constant ? "is no constant" : "changes with time");
    return false;
}

// --- equality of Reals

static bool
check_equalities(Variability *v, const Equation *equation, Diags *diags)
{
    Dae *dae = v->dae;
    const Influence *influence = influence_of(v, equation->shape);
    if (!influence->n_equal && !influence->equal_time)
        return true;
    const char *culprit = changing(v, influence->equal, influence->n_equal, influence->equal_time, dae->rows.at + equation->row);
    if (!culprit)
        return true;
    Diag *diag = diag_add(diags, E0222, equation->span, "'%s' changes continuously and cannot be compared by == or <>", culprit);
    diag_help(diag, "compare with a tolerance, abs(a - b) < eps, or use < or >=, which are located as events");
    return false;
}

// The arguments of sample are parameter expressions (section 3.7.5): the instants are known before the start.
static bool
check_samples(Dae *dae, const Equation *equation, Diags *diags)
{
    static const char *const arguments[] = {"start", "interval"};
    U32Vec parts = {0};
    bool good = true;
    expr_parts(dae->exprs, equation->shape, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        for (uint32_t k = 0; k < 2 && expr_op(dae->exprs, parts.at[i]) == OP_SAMPLE; k++) {
            Expr argument = expr_arg(dae->exprs, parts.at[i], k);
            const char *culprit = expr_has_op(dae->exprs, argument, OP_TIME) ? "time" : NULL;
            for (uint32_t slot = 0; slot < expr_nslots(dae->exprs, argument) && !culprit; slot++) {
                Var var = dae->rows.at[equation->row + slot];
                VarKind kind = dae_kind(dae, var);
                if (expr_uses_slot(dae->exprs, argument, slot) && kind != VAR_PARAMETER && kind != VAR_CONSTANT)
                    culprit = dae_name(dae, var);
            }
            if (!culprit)
                continue;
            diag_add(diags, E0221, equation->span, "the argument '%s' of 'sample' is known before the start and cannot depend on '%s', which changes",
                     arguments[k], culprit);
            good = false;
        }
    vec_free(&parts);
    return good;
}

bool
pass_variability(Dae *dae, Diags *diags)
{
    Variability v = {.dae = dae};
    bool good = true, compared = exprs_have_op(dae->exprs, OP_EQ) || exprs_have_op(dae->exprs, OP_NE);
    for (uint32_t i = 0; i < dae->binds.n && !diags_full(diags); i++)
        good = judge_bind(dae, &dae->binds.at[i], diags) && good;
    for (uint32_t i = 0; compared && i < dae->equations.n && !diags_full(diags); i++) {
        const Equation *equation = &dae->equations.at[i];
        bool equality = expr_has_op(dae->exprs, equation->shape, OP_EQ) || expr_has_op(dae->exprs, equation->shape, OP_NE);
        if (equality && equation->kind == EQN_NORMAL && !equation->generated)
            good = check_equalities(&v, equation, diags) && good;
    }
    for (uint32_t i = 0; exprs_have_op(dae->exprs, OP_SAMPLE) && i < dae->equations.n && !diags_full(diags); i++)
        if (expr_has_op(dae->exprs, dae->equations.at[i].shape, OP_SAMPLE))
            good = check_samples(dae, &dae->equations.at[i], diags) && good;
    variability_free(&v);
    return good;
}

// --- what changes at events

// k = the second result, or a later one, of a function.
static bool
is_later_result(const Exprs *exprs, Expr shape)
{
    Expr right = expr_op(exprs, shape) == OP_EQN ? expr_arg(exprs, shape, 1) : 0;
    return right && expr_op(exprs, right) == OP_RESULT && expr_value(exprs, expr_arg(exprs, right, 0)) > 1;
}

// Tells that an equation gives `var`, which changes at events only, a value that changes all the time. False when it does not.
static bool
report_changing(Variability *v, uint32_t at, Var var, Diags *diags)
{
    U32Vec vars = {0};
    const Equation *equation = &v->dae->equations.at[at];
    const Influence *influence = influence_of(v, dae_resolve(v->dae, at, &vars));
    const char *culprit = changing(v, influence->first, influence->n, influence->time, vars.at);
    vec_free(&vars);
    if (!culprit)
        return false;
    bool when = dae_is_when(v->dae, var); // its name is the compiler's
    Diag *diag = diag_add(diags, E0221, equation->span,
                          "%s%s%s changes at events only and cannot be given by '%s', which changes continuously",
                          when ? "the condition of 'when" : "'", when ? "" : dae_name(v->dae, var), "'", culprit);
    if (is_later_result(v->dae->exprs, equation->shape))
        diag_help(diag, "what a function gives of that changes continuously, too; a result that is not needed is left out: (x, ) = f(...)");
    else
        diag_help(diag, "relations and integer(x) outside functions and noEvent change at events");
    return true;
}

bool
variability_of_discretes(Dae *dae, const Problem *discrete, Diags *diags)
{
    Variability v = {.dae = dae};
    Span told = {0};
    for (uint32_t i = 0; i < discrete->equations.n && !diags_full(diags); i++) {
        const Equation *equation = &dae->equations.at[discrete->equations.at[i]];
        Var var = discrete->var_of.at[i];
        bool known = told.hi && equation->span.lo == told.lo && equation->span.hi == told.hi; // another element of the same array
        if (equation->kind == EQN_NORMAL && !equation->generated && var != NONE && !known && report_changing(&v, discrete->equations.at[i], var, diags))
            told = equation->span;
    }
    bool good = !told.hi;
    variability_free(&v);
    return good;
}

// The discrete variable that stands alone on the left, as in k = f(x), and is no Real: whatever an equation could determine besides,
// this one is written to give it its value. NONE: there is none.
static Var
written_discrete(const Dae *dae, const Equation *equation)
{
    const Exprs *exprs = dae->exprs;
    if (equation->kind != EQN_NORMAL || equation->generated || expr_op(exprs, equation->shape) != OP_EQN)
        return NONE;
    Expr left = expr_arg(exprs, equation->shape, 0);
    Var var = expr_op(exprs, left) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(exprs, left)] : NONE;
    bool whole = var != NONE && dae_kind(dae, var) == VAR_DISCRETE && dae_type(dae, var) != TYPE_REAL;
    return whole ? var : NONE;
}

// --- Integers and Booleans of a library that move

// What an equation of a library's class gives `var` where it changes all the time: told once for each class. False: nothing.
static bool
is_moved(Variability *v, uint32_t at, Var var, Map *told, Diags *diags)
{
    Dae *dae = v->dae;
    const Equation *equation = &dae->equations.at[at];
    const char *class = locate_library_class(dae, equation->span, locate_equation_inst(dae, at));
    if (!class)
        return false;
    const Influence *influence = influence_of(v, equation->shape);
    const char *culprit = changing(v, influence->first, influence->n, influence->time, dae->rows.at + equation->row);
    uint32_t known;
    if (culprit && !map_get(told, sym_of(dae->syms, class), &known)) {
        map_put(told, sym_of(dae->syms, class), 1);
        Diag *diag = diag_add(diags, W1302, equation->span, "in class '%s': '%s' changes at events only and cannot be given by '%s', which "
                              "changes continuously", class, dae_name(dae, var), culprit);
        diag_note(diag, (Span){0, 0}, "it is computed all the time, without events");
    }
    return culprit != NULL;
}

// The variable that is equal, by a connection or by an equation, to one that was found to move. NONE: none is.
static Var
equal_to_moved(const Dae *dae, const Equation *equation)
{
    const Exprs *exprs = dae->exprs;
    Var side[2];
    if (equation->kind != EQN_NORMAL || expr_op(exprs, equation->shape) != OP_EQN)
        return NONE;
    for (uint32_t k = 0; k < 2; k++) {
        Expr e = expr_arg(exprs, equation->shape, k);
        side[k] = expr_op(exprs, e) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(exprs, e)] : NONE;
        if (side[k] == NONE || dae_type(dae, side[k]) == TYPE_REAL || dae->var_group.at[side[k]] == NONE)
            return NONE;
    }
    for (uint32_t k = 0; k < 2; k++)
        if (dae_kind(dae, side[k]) == VAR_CONTINUOUS && dae_kind(dae, side[1 - k]) == VAR_DISCRETE)
            return side[1 - k];
    return NONE;
}

// An Integer or a Boolean of a library's class that what changes continuously gives, through a function or noEvent, becomes a variable that is
// computed all the time, as what such a function gives besides. The equations of one become known to move by another: each is looked at until
// a round finds none, and there are as many rounds as such variables depend on each other in a row.
bool
pass_moving(Dae *dae, Diags *diags)
{
    Variability v = {.dae = dae};
    Map told = {0};
    bool found, any = false, good = true;
    if (!dae_has_kind(dae, VAR_DISCRETE))
        return true;
    do {
        found = false;
        for (uint32_t i = 0; i < dae->equations.n; i++) {
            Var equal = any ? equal_to_moved(dae, &dae->equations.at[i]) : NONE, var = equal != NONE ? equal : written_discrete(dae, &dae->equations.at[i]);
            if (var == NONE || dae->var_group.at[var] == NONE || dae->var_pre.at[var] != NONE || (equal == NONE && !is_moved(&v, i, var, &told, diags)))
                continue;
            dae_set_kind(dae, dae->var_group.at[var], VAR_CONTINUOUS);
            found = any = true;
        }
    } while (found);
    for (uint32_t i = 0; any && i < dae->equations.n && !diags_full(diags); i++)
        if (dae->equations.at[i].kind == EQN_NORMAL && !dae->equations.at[i].generated)
            good = check_equalities(&v, &dae->equations.at[i], diags) && good;
    map_free(&told);
    variability_free(&v);
    return good;
}

bool
variability_of_undetermined(Dae *dae, const Problem *problem, Diags *diags)
{
    Variability v = {.dae = dae};
    bool said = false, negative;
    for (uint32_t i = 0; i < dae->equations.n && !diags_full(diags); i++) {
        Var var = written_discrete(dae, &dae->equations.at[i]);
        if (var != NONE && problem->equation_of.at[dae_alias(dae, var, &negative)] == NONE)
            said |= report_changing(&v, i, var, diags);
    }
    variability_free(&v);
    return said;
}
