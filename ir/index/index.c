// index.c: index reduction.
//
// Purpose: find the equations that must be differentiated before the highest derivatives can be solved for.
// Method: Pantelides (SIAM J. Sci. Stat. Comput. 9 (1988) 213): match equations with highest derivatives;
// an equation that cannot be matched and all that its search has reached are differentiated, and the search
// goes on with the derivative. Differentiation is done on shapes and memoized by (shape, slots with a
// rate).
// Contract: requires alias, balance. Appends derivative variables and differentiated equations (EQN_NORMAL,
// generated, owned by the same node, over representatives); fills Reduction.derivative, derivative_of,
// differentiated, structural_index. A set-valued law is not differentiated but raised: in its sticking mode
// it holds the next derivative of its x at zero (Law.level, slot 1 of its row).
// Complexity: near linear: each failed search is paid for by the equations it differentiates, and what one has found dead others
// leave out.
//
//     der(x) = v;  der(y) = v + w;  x = y     ->     + der(x) = der(y);  w is determined
#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"
#include "ir/index/index.h"
#include "ir/index/jumps.h"
#include "ir/operator/leak.h"
#include "ir/operator/play.h"
#include "ir/structure/listing.h"
#include "ir/structure/rate.h"

enum { DIFFERENTIATION_LIMIT = 40, ITEMS_SHOWN = 6 };
enum { LARGE = 2000 }; // operations of functions whose second derivatives, which Newton's method needs, take longer to compile than a run

typedef struct Row { // of an equation
    uint32_t start, end; // its columns that were highest derivatives when it was made
    Var var_of;          // what it determines, or NONE
    uint32_t color;      // the last search that reached it
    uint32_t scanned;    // up to which column that search has looked
    uint32_t level : 6;  // how often it was differentiated
    uint32_t dead : 26;  // the last phase in which a search has found nothing behind it
} Row;

typedef struct Mark { // of a variable
    uint32_t equation_of; // what determines it, or NONE
    uint32_t color;       // the last search that reached it
} Mark;

typedef struct Index {
    Dae *dae;
    Reduction *reduction;
    Diags *diags;
    Structure structure;
    Patterns rates;
    VEC(Row) rows;      // per equation
    U32Vec column;
    VEC(Mark) marks;    // per variable
    Map law_of;         // equation -> law
    U32Vec colored_equations, colored_vars, stack;
    U8Vec dependent;    // per equation: laws whose x other laws hold, too
    U8Vec given;        // per variable of the model, where there are laws: an equation determines it alone, as of a ground
    uint32_t round, phase;
    bool passed_by;      // the last search has left out what an earlier one of its phase has found dead
} Index;

// --- growing along with the Dae

static void
grow_none(U32Vec *vec, uint32_t n)
{
    if (vec->n < n)
        vec_fill(vec, n - vec->n, NONE);
}

static void
grow_all(Index *index)
{
    uint32_t equations = index->dae->equations.n, vars = index->dae->nvars;
    if (index->rows.n < equations)
        vec_fill(&index->rows, equations - index->rows.n, (Row){.var_of = NONE});
    if (index->dependent.n < equations)
        vec_grow(&index->dependent, equations - index->dependent.n);
    grow_none(&index->reduction->derivative, equations);
    grow_none(&index->reduction->derivative_of, equations);
    if (index->marks.n < vars)
        vec_fill(&index->marks, vars - index->marks.n, (Mark){.equation_of = NONE});
}

static bool
is_highest(const Index *index, Var var)
{
    return structure_der(index->dae, var) == NONE;
}

// Unknowns that equation e can determine and that are highest derivatives; appended to `column`.
static void
read_columns(Index *index, uint32_t e)
{
    Dae *dae = index->dae;
    structure_read(&index->structure, e);
    index->rows.at[e].start = index->column.n;
    for (uint32_t k = 0; k < index->structure.vars.n; k++) {
        Var var = index->structure.vars.at[k];
        VarKind kind = dae_kind(dae, var);
        bool unknown = (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_pre_of.at[var] == NONE;
        if (index->structure.use.at[k] == USE_DETERMINE && unknown && is_highest(index, var))
            vec_push(&index->column, var);
    }
    index->rows.at[e].end = index->column.n;
}

// --- wishes

// A velocity v = der(x) with stateSelect prefer or always shall be able to become a state although nothing
// differentiates it: its derivative becomes part of the model, so that the equations around it are differentiated
// as often as those of the bodies it connects (joint coordinates of trees).
static void
wish_velocities(Index *index)
{
    Dae *dae = index->dae;
    U8Vec wished = {0};
    bool negative;
    vec_grow(&wished, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        if (dae_state_select(dae, v) >= STATE_PREFER)
            wished.at[dae_alias(dae, v, &negative)] = 1;
    for (uint32_t e = 0, n = dae->equations.n; e < n; e++) {
        if (!structure_has_equation(dae, e) || expr_nslots(dae->exprs, dae->equations.at[e].shape) != 2)
            continue;
        structure_read(&index->structure, e);
        if (index->structure.vars.n != 2)
            continue;
        Var a = index->structure.vars.at[0], b = index->structure.vars.at[1];
        Var v = dae->var_der_of.at[a] == NONE ? a : b, rate = v == a ? b : a;
        if (dae->var_der_of.at[v] != NONE || dae->var_der_of.at[rate] == NONE || v >= wished.n || !wished.at[v]
            || dae_kind(dae, v) != VAR_CONTINUOUS || structure_der(dae, v) != NONE)
            continue;
        dae_der(dae, v);
    }
    vec_free(&wished);
}

// --- the first matching

static void
match_first(Index *index, U32Vec *open)
{
    Dae *dae = index->dae;
    Problem problem = {0};
    structure_equations(dae, &problem.equations);
    structure_unknowns(dae, &problem.unknown);
    for (Var v = 0; v < dae->nvars; v++)
        problem.unknown.at[v] &= is_highest(index, v);
    structure_incidence(&index->structure, &problem, NULL);
    problem_match(&problem, dae->nvars, NULL);
    for (uint32_t i = 0; i < problem.equations.n; i++) {
        uint32_t e = problem.equations.at[i], var = problem.var_of.at[i];
        index->rows.at[e].start = problem.incidence.start.at[i];
        index->rows.at[e].end = problem.incidence.match_end.at[i];
        index->rows.at[e].var_of = var;
        if (var == NONE)
            vec_push(open, e);
        else
            index->marks.at[var].equation_of = e;
    }
    vec_append(&index->column, problem.incidence.column.at, problem.incidence.column.n);
    problem_free(&problem);
}

// --- one search

static void
color_equation(Index *index, uint32_t e)
{
    index->rows.at[e].color = index->round;
    index->rows.at[e].scanned = index->rows.at[e].start;
    vec_push(&index->colored_equations, e);
    vec_push(&index->stack, e);
}

// A highest derivative that nothing determines yet, or NONE.
static Var
free_var(const Index *index, uint32_t e)
{
    for (uint32_t j = index->rows.at[e].start; j < index->rows.at[e].end; j++) {
        Var var = index->column.at[j];
        if (index->marks.at[var].equation_of == NONE && is_highest(index, var))
            return var;
    }
    return NONE;
}

static void
assign(Index *index, uint32_t e, Var var)
{
    index->rows.at[e].var_of = var;
    index->marks.at[var].equation_of = e;
}

// The next uncolored variable of e, coloured now; its equation, or NONE when e is exhausted.
static uint32_t
next_equation(Index *index, uint32_t e, bool everywhere)
{
    while (index->rows.at[e].scanned < index->rows.at[e].end) {
        Var var = index->column.at[index->rows.at[e].scanned++];
        if (index->marks.at[var].color == index->round || !is_highest(index, var))
            continue;
        index->marks.at[var].color = index->round;
        vec_push(&index->colored_vars, var);
        uint32_t next = index->marks.at[var].equation_of;
        if (index->rows.at[next].color == index->round)
            continue;
        if (everywhere || index->rows.at[next].dead != index->phase)
            return next;
        index->passed_by = true;
    }
    return NONE;
}

static bool
search_once(Index *index, uint32_t e, bool everywhere)
{
    index->round++;
    index->passed_by = false;
    vec_clear(&index->colored_equations);
    vec_clear(&index->colored_vars);
    vec_clear(&index->stack);
    for (color_equation(index, e); index->stack.n;) {
        uint32_t top = vec_last(&index->stack);
        Var var = index->rows.at[top].scanned == index->rows.at[top].start ? free_var(index, top) : NONE;
        if (var != NONE) {
            while (index->stack.n) {
                uint32_t at = vec_pop(&index->stack);
                Var old = index->rows.at[at].var_of;
                assign(index, at, var);
                var = old;
            }
            return true;
        }
        uint32_t next = next_equation(index, top, everywhere);
        if (next != NONE)
            color_equation(index, next);
        else
            index->rows.at[vec_pop(&index->stack)].dead = index->phase;
    }
    return false;
}

// Augments the matching from equation e; on failure the colored sets are the subset that has one equation
// too many. Equations behind which a search has found nothing are left out by later ones, or each would go through the saturated
// part of a long chain of constraints again; only a search that fails is repeated with them, and when it then succeeds a new
// phase begins, as matching has changed what lies behind them.
static bool
search(Index *index, uint32_t e)
{
    if (search_once(index, e, false))
        return true;
    if (!index->passed_by || !search_once(index, e, true))
        return false;
    index->phase++;
    return true;
}

// --- messages

static Diag *
complain(Index *index, DiagCode code, uint32_t e, const char *text)
{
    Out where = {0};
    const Equation *at = &index->dae->equations.at[e];
    uint32_t inst = at->node < index->dae->nodes.n ? index->dae->nodes.at[at->node].inst : 0;
    locate_owner(index->dae, inst, &where);
    Diag *diag = diag_add(index->diags, code, at->span, "in %s: %s", where.text, text);
    locate_move(index->dae, diag, inst);
    out_free(&where);
    return diag;
}

static void
note_colored(Index *index, Diag *diag)
{
    for (uint32_t k = 0; k < index->colored_equations.n && k < ITEMS_SHOWN; k++) {
        uint32_t e = index->colored_equations.at[k];
        if (index->dae->equations.at[e].kind == EQN_LAW) // the text of its two branches says nothing to a reader
            continue;
        Out text = {0};
        dae_print_equation(index->dae, e, &text);
        diag_note(diag, index->dae->equations.at[e].span, "these equations must hold together: %s", text.text);
        out_free(&text);
    }
}

static bool
of_fractional(const Dae *dae, Var var)
{
    for (uint32_t i = 0; i < dae->fractionals.n; i++)
        if (var == dae->fractionals.at[i].scale || var == dae->fractionals.at[i].shift)
            return true;
    return false;
}

static bool
complain_rate(Index *index, uint32_t e, Var var)
{
    Out text = {0};
    const char *name = dae_name(index->dae, var);
    bool hidden = (dae_group(index->dae, var)->decl->flags & GROUP_HIDDEN) != 0, fractional = of_fractional(index->dae, var);
    if (fractional)
        out_text(&text, "the derivative of a fractional derivative is needed, but the sum that stands for it has none");
    else if (hidden)
        out_text(&text, "the derivative of a delayed or transported value is needed, but it has none");
    else
        out_printf(&text, "the derivative of the input '%s' is needed, but an input has none", name);
    Diag *diag = complain(index, E0504, e, text.text);
    const Group *group = dae_group(index->dae, var);
    if (!hidden)
        diag_note(diag, group->decl->span, "'%s' is declared here", name);
    note_colored(index, diag);
    diag_help(diag, fractional ? "write der(fder(x, alpha)) as fder(x, alpha + 1), which is the same when x starts at rest"
                               : "let a variable with an equation drive this quantity, or do not fix a position by an input");
    out_free(&text);
    return false;
}

// --- differentiating

// The set-valued law that equation e stands for, or NONE.
static uint32_t
law_of(const Index *index, uint32_t e)
{
    uint32_t law;
    return map_get(&index->law_of, e, &law) ? law : NONE;
}

// False after an error: an input has no derivative.
static bool
check_inputs(Index *index, uint32_t e)
{
    for (uint32_t k = 0; k < index->structure.vars.n; k++) {
        Var var = index->structure.vars.at[k];
        if (dae_kind(index->dae, var) == VAR_INPUT && index->structure.use.at[k] == USE_DETERMINE)
            return complain_rate(index, e, var);
    }
    return true;
}

// Whether an expression has a result of routine `number` that depends on the inputs of `routine`, whose derivative it is or which it
// is itself, through conditions alone.
static bool
uses_steps(const Exprs *exprs, Expr shape, uint32_t number, const Routine *routine)
{
    U32Vec parts = {0};
    bool found = false;
    if (expr_has_op(exprs, shape, OP_CALL))
        expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n && !found; i++) {
        if (expr_op(exprs, parts.at[i]) != OP_RESULT)
            continue;
        Expr call = expr_arg(exprs, parts.at[i], 1);
        uint32_t k = (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0)) - 1;
        found = (uint32_t)expr_value(exprs, expr_arg(exprs, call, 0)) == number && k < routine->steps_alone.n && routine->steps_alone.at[k];
    }
    vec_free(&parts);
    return found;
}

// False after an error: the derivative of a function's statements would be zero, which that of the function is not. `made` is what
// differentiating gave: it may do without, where the arguments do not move or another derivative holds.
static bool
check_functions(Index *index, uint32_t e, uint32_t made)
{
    Exprs *exprs = index->dae->exprs;
    Expr shape = index->dae->equations.at[e].shape;
    U32Vec parts = {0};
    bool good = true;
    if (expr_has_op(exprs, shape, OP_CALL))
        expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n && good; i++) {
        if (expr_op(exprs, parts.at[i]) != OP_CALL)
            continue;
        const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0)));
        if (!routine->stepwise
            || !(made == NONE ? uses_steps(exprs, shape, routine->number, routine)
                 : uses_steps(exprs, index->dae->equations.at[made].shape, routine->derivative, routine)))
            continue;
        Out text = {0};
        out_printf(&text, "the derivative of '%s' is needed, but %s", routine->name,
                   routine->external ? "it is an external function that declares none"
                                     : "its result depends on its arguments through comparisons alone");
        Diag *diag = complain(index, E0504, e, text.text);
        if (routine->external)
            diag_help(diag, "give it the annotation 'derivative'");
        else
            diag_help(diag, "let this function end with a step that computes the result from the arguments, such as one of Newton's method; its derivative "
                        "is then that of the function");
        out_free(&text);
        good = false;
    }
    vec_free(&parts);
    return good;
}

static bool
append_derivative(Index *index, uint32_t e)
{
    structure_read(&index->structure, e);
    if (!check_inputs(index, e))
        return false;
    uint32_t made = rate_append(&index->structure, &index->rates, e);
    if (!check_functions(index, e, made))
        return false;
    if (made == NONE) {
        note_colored(index, complain(index, E0504, e, "an equation has to be differentiated but has no derivative"));
        return false;
    }
    jumps_add(&index->structure, e, made);
    grow_all(index);
    index->rows.at[made].level = index->rows.at[e].level + 1;
    index->reduction->derivative.at[e] = made;
    index->reduction->derivative_of.at[made] = e;
    index->reduction->differentiated++;
    return true;
}

// Friction holds a velocity's derivative, a gap of bodies that of its rate.
static uint8_t
most_level(const Law *law)
{
    return law->unilateral ? 2 : 1;
}

// In its sticking mode the law now holds the derivative of what it held before.
static bool
raise_law(Index *index, uint32_t e)
{
    Dae *dae = index->dae;
    Law *law = &dae->laws.at[law_of(index, e)];
    if (law->level >= most_level(law)) {
        Out text = {0};
        const char *name = dae_name(dae, law->x);
        out_printf(&text, law->unilateral ? "the unilateral constraint on '%s' would have to hold an acceleration"
                                          : "a set-valued law of '%s' would have to hold a position", name);
        Diag *diag = complain(index, E0506, e, text.text);
        note_colored(index, diag);
        diag_help(diag, law->unilateral ? "let it act on a gap between masses, or on a velocity"
                                        : "let it act on a velocity, as dry friction does");
        out_free(&text);
        return false;
    }
    law->level++;
    bool negative;
    uint32_t n, row = dae->rows.n;
    (void)dae_row(dae, e, &n);
    Equation *equation = &dae->equations.at[e];
    for (uint32_t k = 0; k < n; k++) {
        Var var = dae->rows.at[equation->row + k];
        vec_push(&dae->rows, k == 1 ? dae_der(dae, dae_alias(dae, var, &negative)) : var);
    }
    equation->row = row;
    grow_all(index);
    index->rows.at[e].level++;
    return true;
}

static bool
differentiate(Index *index, uint32_t e)
{
    EqnKind kind = (EqnKind)index->dae->equations.at[e].kind;
    if (index->rows.at[e].level >= DIFFERENTIATION_LIMIT) {
        note_colored(index, complain(index, E0505, e, "equations would have to be differentiated more than 40 times"));
        return false;
    }
    if (kind == EQN_LAW)
        return raise_law(index, e);
    if (kind == EQN_WHEN) {
        note_colored(index, complain(index, E0504, e, "the derivative of a quantity that changes at events is needed"));
        return false;
    }
    return append_derivative(index, e);
}

static uint32_t
successor(const Index *index, uint32_t e)
{
    return index->dae->equations.at[e].kind == EQN_LAW ? e : index->reduction->derivative.at[e];
}

// Differentiates the colored subset and matches the new derivatives as the old ones were.
static bool
differentiate_colored(Index *index)
{
    Dae *dae = index->dae;
    for (uint32_t k = 0; k < index->colored_vars.n; k++) {
        if (dae_kind(dae, index->colored_vars.at[k]) == VAR_CONTINUOUS)
            continue;
        uint32_t e = index->colored_equations.at[0];
        note_colored(index, complain(index, E0503, e, "an equation too many among these"));
        return false;
    }
    for (uint32_t k = 0; k < index->colored_equations.n; k++)
        if (!differentiate(index, index->colored_equations.at[k]))
            return false;
    for (uint32_t k = 0; k < index->colored_vars.n; k++) {
        Var var = index->colored_vars.at[k], der = dae_der(dae, var);
        grow_all(index);
        assign(index, successor(index, index->marks.at[var].equation_of), der);
    }
    for (uint32_t k = 0; k < index->colored_equations.n; k++)
        read_columns(index, successor(index, index->colored_equations.at[k]));
    return true;
}

// --- laws that hold the same motion

// A potential that a ground or a source gives is no state, though it may have been differentiated.
static void
find_given(Index *index)
{
    const Dae *dae = index->dae;
    vec_grow(&index->given, dae->nvars);
    for (uint32_t e = 0, n = dae->equations.n; e < n; e++) {
        if (dae->equations.at[e].kind != EQN_NORMAL || index->rows.at[e].end != index->rows.at[e].start + 1)
            continue;
        uint32_t unknowns = 0;
        structure_read(&index->structure, e);
        for (uint32_t i = 0; i < index->structure.vars.n; i++)
            unknowns += dae_kind(dae, index->structure.vars.at[i]) == VAR_CONTINUOUS;
        if (unknowns == 1)
            index->given.at[index->column.at[index->rows.at[e].start]] = 1;
    }
}

static bool
is_given(const Index *index, Var var)
{
    while (index->dae->var_der_of.at[var] != NONE)
        var = index->dae->var_der_of.at[var];
    return var < index->given.n && index->given.at[var];
}

// True when the colored equations bind nothing that is differentiated elsewhere: what they say twice, as two diodes side by side that
// conduct do, their derivatives would say twice as well.
static bool
colored_without_states(Index *index)
{
    for (uint32_t k = 0; k < index->colored_equations.n; k++) {
        structure_read(&index->structure, index->colored_equations.at[k]);
        for (uint32_t i = 0; i < index->structure.vars.n; i++) {
            Var var = index->structure.vars.at[i];
            if (index->structure.use.at[i] != USE_NONE && dae_kind(index->dae, var) == VAR_CONTINUOUS && !is_highest(index, var)
                && !is_given(index, var))
                return false;
        }
    }
    return true;
}

// Several laws that depend on each other cannot all stick by themselves: the one declared last is matched with its force
// instead, and the runtime shares the forces. Laws of motions are such a set once they hold what can be held no deeper, ideal
// diodes as they are: those that bind a state only together leave it free while one of them is open.
// NONE when the colored set is not such a set.
static uint32_t
dependent_law(Index *index)
{
    uint32_t last = NONE, count = 0;
    bool all = colored_without_states(index);
    for (uint32_t k = 0; k < index->colored_equations.n; k++) {
        uint32_t e = index->colored_equations.at[k], law = law_of(index, e);
        if (law == NONE || index->dependent.at[e])
            continue;
        const Law *at = &index->dae->laws.at[law];
        if (!all && at->level < most_level(at) && !(at->unilateral && at->level == 0))
            continue;
        count++;
        last = last == NONE || law > law_of(index, last) ? e : last;
    }
    return count > 1 ? last : NONE;
}

// False when the colored set has no law to spare, or its force is not free.
static bool
spare_law(Index *index, uint32_t searched)
{
    uint32_t e = dependent_law(index);
    if (e == NONE)
        return false;
    index->dependent.at[e] = 1;
    index->dae->laws.at[law_of(index, e)].dependent = 1;
    Var freed = index->rows.at[e].var_of;
    if (freed != NONE)
        index->marks.at[freed].equation_of = NONE;
    index->rows.at[e].var_of = NONE;
    read_columns(index, e);
    return search(index, e) && (e == searched || search(index, searched));
}

// --- wishes for what nothing differentiates

// The value changes continuously with those of its arguments, and its derivative follows it wherever it has a value: that of a root does
// not at zero. Kinks are passed.
static bool
is_differentiable(const Exprs *exprs, Expr part)
{
    static const Op ops[] = {OP_CONST, OP_SLOT, OP_TIME, OP_NEG, OP_ADD, OP_MUL, OP_DIV, OP_EQN, OP_MIN, OP_MAX, OP_ABS, OP_EXP, OP_LOG,
                             OP_LOG10, OP_SIN, OP_COS, OP_TAN, OP_ATAN, OP_SINH, OP_COSH, OP_TANH, OP_RESULT, OP_NOEVENT, OP_SMOOTH};
    Op op = expr_op(exprs, part);
    if (op == OP_CALL)
        return routine_call_is_smooth(exprs, part) && routine_call_operations(exprs, part) <= LARGE;
    if (op == OP_POW) {
        Expr power = expr_arg(exprs, part, 1);
        double value = expr_op(exprs, power) == OP_CONST ? expr_value(exprs, power) : 0;
        return value >= 1 || value < 0;
    }
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (op == ops[k])
            return true;
    return false;
}

static bool
is_branch(Op op)
{
    return op == OP_IF || op == OP_AND || op == OP_OR || op == OP_NOT || op == OP_EQ || op == OP_NE || op_is_order(op);
}

// What noEvent() or smooth() says is continuous, so that its branches are not looked at.
static Expr
without_continuous(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context, (void)args;
    Op op = expr_op(exprs, part);
    return op == OP_NOEVENT || op == OP_SMOOTH ? expr_const(exprs, 1) : 0;
}

// The derivative of the equation read last follows it; nothing in it jumps, and nothing is an input.
static bool
is_plain(const Index *index, uint32_t e)
{
    const Structure *structure = &index->structure;
    Exprs *exprs = index->dae->exprs;
    if (index->dae->equations.at[e].kind != EQN_NORMAL)
        return false;
    for (uint32_t k = 0; k < structure->vars.n; k++) {
        VarKind kind = dae_kind(index->dae, structure->vars.at[k]);
        if (kind == VAR_INPUT || kind == VAR_DISCRETE)
            return false;
    }
    U32Vec parts = {0};
    bool plain = true;
    expr_parts(exprs, structure->shape, &parts);
    for (uint32_t i = 0; i < parts.n && plain; i++)
        plain = is_differentiable(exprs, parts.at[i]) || is_branch(expr_op(exprs, parts.at[i]));
    vec_clear(&parts);
    if (plain)
        expr_parts(exprs, expr_rewrite(exprs, structure->shape, without_continuous, NULL), &parts);
    for (uint32_t i = 0; i < parts.n && plain; i++)
        plain = is_differentiable(exprs, parts.at[i]);
    vec_free(&parts);
    return plain;
}

// The colored equations are plain, and bind a variable that is differentiated and that nobody wishes to be a state.
static bool
can_give_way(Index *index, const U8Vec *wished)
{
    bool found = false;
    for (uint32_t k = 0; k < index->colored_equations.n; k++) {
        uint32_t e = index->colored_equations.at[k];
        structure_read(&index->structure, e);
        if (!is_plain(index, e) || index->reduction->derivative.at[e] != NONE)
            return false;
        for (uint32_t i = 0; i < index->structure.vars.n; i++) {
            Var var = index->structure.vars.at[i];
            found |= index->structure.use.at[i] == USE_DETERMINE && dae_kind(index->dae, var) == VAR_CONTINUOUS && !is_highest(index, var)
                     && index->dae->var_der_of.at[var] == NONE && !(var < wished->n && wished->at[var]);
        }
    }
    return found;
}

// What stateSelect = prefer or always asks to be a state may be one although nothing differentiates it (Modelica 3.6, 4.9.7.1): the
// temperature of a fluid whose energy is balanced. With its derivative in the model the equation that determines it is one too many
// among the highest derivatives, and it is differentiated with those that bind it to what is differentiated already; which of them are
// states is chosen later. So is what follows from such variables through plain equations only.
static bool
wish_others(Index *index)
{
    Dae *dae = index->dae;
    U8Vec wished = {0};
    bool negative, good = true;
    vec_grow(&wished, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        if (dae_state_select(dae, v) >= STATE_PREFER)
            wished.at[dae_alias(dae, v, &negative)] = 1;
    for (Var v = 0; v < wished.n && good; v++) {
        uint32_t e = index->marks.at[v].equation_of;
        if (!wished.at[v] || dae_kind(dae, v) != VAR_CONTINUOUS || dae->var_der_of.at[v] != NONE || !is_highest(index, v) || e == NONE)
            continue;
        // The search from its equation must not take it; it finds nothing, or the model would have an unknown too many.
        index->marks.at[v].color = index->round + 1;
        if (search_once(index, e, true)) {
            good = false;
            break;
        }
        if (!can_give_way(index, &wished))
            continue;
        dae_der(dae, v);
        grow_all(index);
        index->marks.at[v].equation_of = NONE;
        index->rows.at[e].var_of = NONE;
        uint32_t from = dae->equations.n;
        for (; good && !search(index, e); e = good ? successor(index, e) : e)
            good = differentiate_colored(index);
        for (; from < dae->equations.n; from++)
            dae->equations.at[from].wished = 1;
    }
    vec_free(&wished);
    return good;
}

// --- the pass

static uint32_t
structural_index(const Index *index)
{
    uint32_t level = 0;
    for (uint32_t e = 0; e < index->rows.n; e++)
        level = index->rows.at[e].level > level ? index->rows.at[e].level : level;
    for (Var v = 0; v < index->marks.n; v++)
        if (index->marks.at[v].equation_of != NONE && is_highest(index, v) && index->dae->var_der_of.at[v] == NONE &&
            dae_kind(index->dae, v) == VAR_CONTINUOUS)
            return level + 1;
    return level;
}

static void
index_free(Index *index)
{
    U32Vec *vecs[] = {
        &index->column, &index->colored_equations, &index->colored_vars, &index->stack,
    };
    for (uint32_t i = 0; i < sizeof vecs / sizeof *vecs; i++)
        vec_free(vecs[i]);
    structure_free(&index->structure);
    vec_free(&index->rows);
    vec_free(&index->marks);
    vec_free(&index->dependent);
    vec_free(&index->given);
    map_free(&index->law_of);
    arena_free(&index->rates.arena);
}

bool
pass_index(Dae *dae, Reduction *reduction, Diags *diags)
{
    Index index = {.dae = dae, .reduction = reduction, .diags = diags, .phase = 1};
    index.structure = (Structure){.dae = dae, .stick = true, .slipping = &index.dependent};
    index.rates.arena = arena_create();
    U32Vec open = {0};
    reduction->first_made = dae->nvars;
    play_find(dae);
    wish_velocities(&index);
    grow_all(&index);
    for (uint32_t l = 0; l < dae->laws.n; l++)
        map_put(&index.law_of, dae->laws.at[l].equation, l);
    match_first(&index, &open);
    if (dae->laws.n)
        find_given(&index);
    bool good = true;
    for (uint32_t k = 0; k < open.n && good; k++)
        for (uint32_t e = open.at[k]; good && !search(&index, e); e = good ? successor(&index, e) : e) {
            if (spare_law(&index, e))
                break;
            good = differentiate_colored(&index);
        }
    good = good && wish_others(&index);
    for (uint32_t k = 0; k < dae->jumps.n; k++)
        dae->jumps.at[k].again = reduction->derivative.at[dae->jumps.at[k].derivative] != NONE;
    if (good) {
        reduction->structural_index = structural_index(&index);
        leak_add(dae);
    }
    vec_free(&open);
    index_free(&index);
    if (reduction->differentiated) {
        dae_trim(dae);
        vec_trim(&reduction->derivative);
        vec_trim(&reduction->derivative_of);
    }
    return good;
}

void
reduction_free(Reduction *reduction)
{
    vec_free(&reduction->derivative_of);
    vec_free(&reduction->derivative);
    vec_free(&reduction->state);
    vec_free(&reduction->dummies);
    vec_free(&reduction->invariants);
    vec_free(&reduction->invariant_level);
    vec_free(&reduction->invariant_depth);
}

// Of a mechanism: how many equations of each component were differentiated once, and how many more often.
static void
print_index_summary(const Dae *dae, const Reduction *reduction, Out *out)
{
    for (uint32_t times = 1; times <= DIFFERENTIATION_LIMIT; times++) {
        U32Vec equations = {0};
        for (uint32_t e = 0; e < reduction->derivative.n; e++) {
            if (reduction->derivative_of.at[e] != NONE || reduction->derivative.at[e] == NONE)
                continue;
            uint32_t count = 0;
            for (uint32_t d = e; reduction->derivative.at[d] != NONE; d = reduction->derivative.at[d])
                count++;
            if (count == times)
                vec_push(&equations, e);
        }
        if (equations.n) {
            out_printf(out, "differentiated %s\n", times == 1 ? "once" : times == 2 ? "twice" : "more often");
            listing_print_counts(dae, equations.at, equations.n, "", out);
        }
        vec_free(&equations);
    }
    out_text(out, "--format=json lists the equations\n");
}

void
reduction_print_index(const Dae *dae, const Reduction *reduction, Out *out)
{
    out_printf(out, "structural index %u, %u equation%s differentiated\n", reduction->structural_index,
               reduction->differentiated, reduction->differentiated == 1 ? "" : "s");
    if (reduction->differentiated > LISTING_SHORT)
        print_index_summary(dae, reduction, out);
    for (uint32_t e = 0; e < reduction->derivative.n && reduction->differentiated <= LISTING_SHORT; e++) {
        if (reduction->derivative.at[e] == NONE)
            continue;
        out_text(out, "  der of  ");
        dae_print_equation(dae, e, out);
        out_text(out, "\n      is  ");
        dae_print_equation(dae, reduction->derivative.at[e], out);
        out_char(out, '\n');
    }
    for (uint32_t l = 0; l < dae->laws.n; l++) {
        const Law *law = &dae->laws.at[l];
        out_text(out, "  law of  ");
        dae_told_name(dae, law->x, out);
        static const char *const held[] = {"value", "derivative", "second derivative"};
        out_printf(out, ": %s holds its %s at zero\n", law->unilateral ? "closed it" : "sticking", held[law->level]);
    }
}
