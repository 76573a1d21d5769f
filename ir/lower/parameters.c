// parameters.c: parameters: their values, start and nominal values, in order of dependence.
//
// Purpose: everything known before the start is evaluated while compiling, so that a value that is not
// finite or leaves its declared range is reported at its place in the source. In a program that changes parameters at
// run time, what depends on others also becomes instructions.
// Method: depth-first order of the binds with an explicit stack. Complexity: linear in binds and their
// slots.
// Contract: lower_inner.h.
#include "ir/base/diag.h"
#include "ir/dae/locate.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"
#include "ir/lower/lower_inner.h"

#include <math.h>

typedef struct ParameterOrder {
    U32Vec bind_of;   // per variable: its ATTR_VALUE bind, or NONE
    U8Vec limited;    // per variable: its value is its limit, because nobody gave one; empty where there is no such parameter
    U8Vec state;      // per variable: 0 new, 1 on the path, 2 done
    U32Vec order;     // variables, dependencies first
    U32Vec stack;
} ParameterOrder;

typedef struct Attributes {
    const U32Vec *bind_of; // ParameterOrder
    U32Vec rank;            // per place: how much its start value counts
    InstrVec *code;
} Attributes;

// Depth-first from one bind, with an explicit stack. False when it meets itself.
static bool
order_from(Lowering *low, ParameterOrder *work, Var root)
{
    Dae *dae = low->dae;
    U32Vec *stack = &work->stack;
    bool good = true;
    vec_push(stack, root);
    while (stack->n && good) {
        Var var = vec_last(stack);
        uint32_t bind = work->bind_of.at[var];
        if (bind == NONE || work->state.at[var] == 2) {
            work->state.at[var] = 2;
            vec_drop(stack);
            continue;
        }
        const Bind *at = &dae->binds.at[bind];
        uint32_t n = expr_nslots(dae->exprs, at->shape);
        if (work->state.at[var] == 0) {
            work->state.at[var] = 1;
            for (uint32_t k = 0; k < n; k++) {
                Var used = dae->rows.at[at->row + k];
                if (work->state.at[used] == 0)
                    vec_push(stack, used);
                else if (work->state.at[used] == 1) {
                    diag_add(low->diags, E0604, at->span, "parameter '%s' depends on itself through '%s'",
                             dae_name(dae, var), dae_name(dae, used));
                    good = false;
                }
            }
            continue;
        }
        work->state.at[var] = 2;
        vec_push(&work->order, var);
        vec_drop(stack);
    }
    return good;
}

static void
slot_values(Lowering *low, uint32_t row, uint32_t n, double *values)
{
    for (uint32_t k = 0; k < n; k++) {
        int sign;
        uint32_t place = place_of(low, low->dae->rows.at[row + k], &sign);
        values[k] = sign * low->image.at[place];
    }
}

double
parameter_value(Lowering *low, Expr shape, uint32_t row)
{
    uint32_t n = expr_nslots(low->exprs, shape);
    int own_sign;
    if (expr_op(low->exprs, shape) == OP_CONST)
        return expr_value(low->exprs, shape);
    if (expr_op(low->exprs, shape) == OP_SLOT) {
        uint32_t place = place_of(low, low->dae->rows.at[row], &own_sign);
        return own_sign * low->image.at[place];
    }
    double few[64], *values = n <= 64 ? few : base_realloc(NULL, sizeof *values * n);
    slot_values(low, row, n, values);
    double value = expr_eval(low->exprs, shape, values, low->image.at[0]);
    if (values != few)
        free(values);
    return value;
}

// What depends on parameters that initialisation finds is only a guess yet.
static bool
is_guess(const Lowering *low, const Bind *bind)
{
    const Dae *dae = low->dae;
    bool guess = dae->var_flags.at[bind->var] & VARF_FREE;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, bind->shape) && !guess; k++)
        guess = dae->var_flags.at[dae->rows.at[bind->row + k]] & VARF_FREE;
    return guess;
}

// Whether a value that stands in the library follows from one that was reported: errors of a component's parameters are told
// where the user wrote it, once.
static bool
follows_from_said(Lowering *low, Span span, Var var)
{
    const Dae *dae = low->dae;
    uint32_t inst = locate_var_inst(dae, var), user = locate_user_inst(dae, inst);
    bool again = map_get(&low->wrong_values, user, &inst);
    map_put(&low->wrong_values, user, 1);
    return again && sources_in_library(dae->sources, span.lo);
}

// A field that a function has left open, altogether or in the branch that is taken: it has no value, and who reads it gets none.
static bool
is_left_open(Lowering *low, const Bind *bind)
{
    Exprs *exprs = low->exprs;
    uint32_t n = expr_nslots(exprs, bind->shape);
    double *values = base_realloc(NULL, sizeof *values * (n + 1));
    slot_values(low, bind->row, n, values);
    Expr at = bind->shape;
    while (expr_op(exprs, at) == OP_IF || expr_op(exprs, at) == OP_NOEVENT)
        at = expr_arg(exprs, at, expr_op(exprs, at) == OP_NOEVENT ? 0 : expr_eval(exprs, expr_arg(exprs, at, 0), values, low->image.at[0]) != 0 ? 1 : 2);
    free(values);
    return expr_op(exprs, at) == OP_CONST && isnan(expr_value(exprs, at));
}

// External objects are made when the model runs, so what they give is known only then.
static bool
is_late(Lowering *low, const Bind *bind)
{
    const Exprs *exprs = low->exprs;
    bool late = expr_has_op(exprs, bind->shape, OP_CALL) && routine_needs_objects(exprs, bind->shape);
    for (uint32_t k = 0; low->late.n && !late && k < expr_nslots(exprs, bind->shape); k++)
        late = low->late.at[low->dae->rows.at[bind->row + k]];
    if (late && bind->attr == ATTR_VALUE) {
        if (!low->late.n)
            vec_grow(&low->late, low->dae->nvars);
        low->late.at[bind->var] = 1;
    }
    return late;
}

// Two objects made in the same words are two objects: the last input of a constructor is the place of its own.
static Expr
distinguish(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const uint32_t *place = context;
    uint32_t n = expr_nargs(exprs, part);
    const External *external = expr_op(exprs, part) == OP_CALL ? routine_of(exprs, (uint32_t)expr_value(exprs, args[0]))->external : NULL;
    if (!external || !external->destructor)
        return 0;
    U32Vec all = {0};
    vec_append(&all, args, n);
    all.at[n - 1] = expr_const(exprs, *place);
    Expr call = expr_make(exprs, OP_CALL, all.at, n);
    vec_free(&all);
    return call;
}

// Whole numbers from 2^53 on are rounded: the next one is the same.
static bool
is_rounded(Lowering *low, const Bind *bind, double value)
{
    return bind->attr <= ATTR_START && dae_type(low->dae, bind->var) == TYPE_INTEGER && fabs(value) >= 9007199254740992.0;
}

static void
check_finite(Lowering *low, const Bind *bind, double value)
{
    bool rounded = isfinite(value) && is_rounded(low, bind, value);
    if ((isfinite(value) && !rounded) || is_guess(low, bind) || (isnan(value) && is_left_open(low, bind)) || follows_from_said(low, bind->span, bind->var))
        return;
    static const char *const what[] = {"value", "start value", "nominal value", "minimum", "maximum"};
    const char *said = routine_said(low->exprs);
    Diag *diag = rounded
        ? diag_add(low->diags, E0603, bind->span, "the %s of '%s' is about %.15g, and whole numbers are exact below 2^53 = 9007199254740992 only",
                   what[bind->attr], dae_name(low->dae, bind->var), value)
        : diag_add(low->diags, E0603, bind->span, "the %s of '%s' %s%s", what[bind->attr], dae_name(low->dae, bind->var),
                   said ? "cannot be computed: " : isnan(value) ? "is not a number" : "is infinite", said ? said : "");
    locate_move(low->dae, diag, locate_var_inst(low->dae, bind->var));
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    for (uint32_t k = 0; k < n && k < 6; k++) {
        int sign;
        Var var = low->dae->rows.at[bind->row + k];
        diag_note(diag, (Span){0, 0}, "with %s = %g", dae_name(low->dae, var),
                  low->image.at[place_of(low, var, &sign)]);
    }
}

// Stores a bind's value in the image and, when it depends on what may differ when the model runs, an instruction that
// computes it.
static void
bind_value(Lowering *low, const Bind *bind, uint32_t dest, int sign, InstrVec *code)
{
    Bind own = *bind;
    bool late = is_late(low, bind);
    routine_said(low->exprs);
    double value = late ? 0 : parameter_value(low, bind->shape, bind->row);
    check_finite(low, bind, value);
    low->image.at[dest] = sign * value;
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    if (late)
        own.shape = expr_rewrite(low->exprs, bind->shape, distinguish, &dest);
    bind = &own;
    if (low->settables && bind->attr <= ATTR_START) {
        settable_bind(low, bind, value, sign, dest, code);
        return;
    }
    if (!late && (!n || !(low->settables || is_guess(low, bind))))
        return;
    emit_vars(low, code, LIFT_LIVE, bind->shape, low->dae->rows.at + bind->row, bind->span, sign, dest);
}

static bool
bind_is_parametric(Lowering *low, const Bind *bind)
{
    uint32_t n = expr_nslots(low->exprs, bind->shape);
    for (uint32_t k = 0; k < n; k++) {
        Var var = low->dae->rows.at[bind->row + k];
        if (dae_is_parameter(low->dae, var))
            continue;
        diag_add(low->diags, E0603, bind->span, "'%s' must be known before the start, but depends on '%s', which changes"
                 " with time", dae_name(low->dae, bind->var), dae_name(low->dae, var));
        return false;
    }
    return true;
}

static void
check_range(Lowering *low, const Bind *bind)
{
    bool constant = dae_kind(low->dae, bind->var) == VAR_CONSTANT;
    if (!constant && (is_guess(low, bind) || (low->late.n && low->late.at[bind->var])))
        return;
    int sign;
    double limit = parameter_value(low, bind->shape, bind->row), value;
    if (!constant)
        value = low->image.at[place_of(low, bind->var, &sign)];
    else if (!dae_known_value(low->dae, bind->var, &value))
        return;
    bool low_side = bind->attr == ATTR_MIN;
    if (!isfinite(value) || (low_side ? value >= limit : value <= limit))
        return;
    const Group *group = dae_group(low->dae, bind->var);
    Span span = bind->span;
    for (uint32_t i = 0; i < low->dae->binds.n; i++)
        if (low->dae->binds.at[i].attr == ATTR_VALUE && bind_covers(&low->dae->binds.at[i], bind->var))
            span = low->dae->binds.at[i].span;
    if (follows_from_said(low, span, bind->var))
        return;
    const Sources *sources = low->dae->sources;
    bool found = span.hi && sources_is_found(sources, span.lo) && !sources_in_library(sources, span.lo);
    Diag *diag = diag_add(low->diags, found ? W1605 : E0603, span, "%s '%s' is %g, but must be at %s %g",
                          constant ? "constant" : "parameter", dae_name(low->dae, bind->var), value, low_side ? "least" : "most", limit);
    locate_move(low->dae, diag, locate_var_inst(low->dae, bind->var));
    if (group->decl->span.lo != span.lo)
        diag_note(diag, group->decl->span, "declared here");
}

static void
make_limit(Lowering *low, uint32_t index, InstrVec *code)
{
    const Bind *bind = &low->dae->binds.at[index];
    VarKind kind = dae_kind(low->dae, bind->var);
    if (!bind_is_parametric(low, bind))
        return;
    if (kind != VAR_PARAMETER && kind != VAR_CONSTANT) {
        range_keep(low, index, code);
        return;
    }
    bind_each(bind, var) {
        Bind one = bind_of_one(*bind, var);
        check_range(low, &one);
        settable_limit(low, &one, code);
    }
}

static void
make_start(Lowering *low, Attributes *attributes, const Bind *bind)
{
    Dae *dae = low->dae;
    bool negative;
    Var at = dae_alias(dae, bind->var, &negative);
    uint32_t place = low->place.at[at];
    uint32_t mine = dae_start_rank(dae, bind, bind->var);
    if (place < attributes->rank.n && attributes->rank.at[place] >= mine)
        return;
    if (place < attributes->rank.n)
        attributes->rank.at[place] = mine;
    int sign = negative ? -1 : 1;
    bind_value(low, bind, place, sign, attributes->code);
    if (at < dae->var_pre.n && dae->var_pre.at[at] != NONE && low->place.at[dae->var_pre.at[at]] != NONE)
        bind_value(low, bind, low->place.at[dae->var_pre.at[at]], sign, attributes->code);
}

static void
make_nominal(Lowering *low, const Bind *bind, Var at, InstrVec *code)
{
    uint32_t place = low->place.at[at];
    low->nominal_of.at[at] = parameter_value(low, bind->shape, bind->row);
    if (place >= low->y && place < low->y + low->n)
        bind_value(low, bind, low->sys->model->nominal + place - low->y, 1, code);
}

static void
make_attribute(Lowering *low, Attributes *attributes, uint32_t index)
{
    Dae *dae = low->dae;
    const Bind all = dae->binds.at[index];
    if (all.attr == ATTR_VALUE || all.attr == ATTR_STOP)
        return;
    if (all.attr == ATTR_MIN || all.attr == ATTR_MAX) {
        make_limit(low, index, attributes->code);
        return;
    }
    bind_each(&all, var) {
        bool negative;
        Var at = dae_alias(dae, var, &negative);
        const Bind bind = bind_of_one(all, var);
        // The start value of a parameter counts only when it has no other value.
        if (dae->var_flags.at[var] & VARF_REMOVED || low->place.at[at] == NONE || !bind_is_parametric(low, &bind)
            || attributes->bind_of->at[var] != NONE)
            continue;
        if (bind.attr == ATTR_NOMINAL)
            make_nominal(low, &bind, at, attributes->code);
        else
            make_start(low, attributes, &bind);
    }
}

static bool
is_enumeration(const Dae *dae, Var var)
{
    const Group *group = dae_type(dae, var) == TYPE_ENUM ? dae_group(dae, var) : NULL;
    return group && dae->dims.at[group->decl->enum_literals];
}

// A value of an enumeration without a start value begins with the first of its literals (section 4.9.5).
static void
start_enumerations(Lowering *low)
{
    const Dae *dae = low->dae;
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative;
        Var at = dae_alias(dae, var, &negative);
        if (!is_enumeration(dae, var) || dae_is_parameter(dae, var) || low->place.at[at] == NONE)
            continue;
        low->image.at[low->place.at[at]] = 1;
        if (at < dae->var_pre.n && dae->var_pre.at[at] != NONE && low->place.at[dae->var_pre.at[at]] != NONE)
            low->image.at[low->place.at[dae->var_pre.at[at]]] = 1;
    }
}

// Start values and nominal values go to the representative; of several start values one counts (dae_start_rank).
static void
make_attributes(Lowering *low, const U32Vec *bind_of, InstrVec *code)
{
    Attributes attributes = {.bind_of = bind_of, .code = code};
    uint32_t n = low->dae->binds.n;
    vec_grow(&attributes.rank, low->nv);
    vec_grow(&low->nominal_of, low->dae->nvars);
    start_enumerations(low);
    for (uint32_t i = 0; i < n; i++)
        make_attribute(low, &attributes, i);
    vec_free(&attributes.rank);
}

// A parameter that nobody gives a value has its start value, or what is closest to 0, which is rarely what is meant.
static void
warn_without_value(Lowering *low, const ParameterOrder *work)
{
    Dae *dae = low->dae;
    for (Var var = 0; var < work->bind_of.n && !diags_full(low->diags); var++) {
        bool without = work->bind_of.at[var] == NONE || (work->limited.n && work->limited.at[var]);
        if (dae_kind(dae, var) != VAR_PARAMETER || !without || dae->var_flags.at[var] & (VARF_REMOVED | VARF_FREE))
            continue;
        const Group *group = dae_group(dae, var);
        if (!group || group->decl->flags & GROUP_HIDDEN)
            continue;
        Diag *diag = is_enumeration(dae, var)
            ? diag_add(low->diags, W1601, group->decl->span, "parameter '%s' has no value; the first of its enumeration is taken", dae_name(dae, var))
            : work->limited.n && work->limited.at[var]
            ? diag_add(low->diags, W1601, group->decl->span, "parameter '%s' has no value; its limit, the closest to 0, is taken",
                       dae_name(dae, var))
            : diag_add(low->diags, W1601, group->decl->span, "parameter '%s' has no value; 0 is taken", dae_name(dae, var));
        diag_help(diag, "give it a value, or set it with --set %s=VALUE", dae_name(dae, var));
        while (var + 1 < work->bind_of.n && dae_group(dae, var + 1) == group) // one message for an array
            var++;
    }
}

static void
take_value(Lowering *low, ParameterOrder *work, Bind bind)
{
    if (work->bind_of.at[bind.var] != NONE || low->dae->var_flags.at[bind.var] & VARF_FREE)
        return;
    if (!work->limited.n)
        vec_grow(&work->limited, low->dae->nvars);
    work->limited.at[bind.var] = 1;
    work->bind_of.at[bind.var] = low->dae->binds.n;
    dae_add_bind(low->dae, bind);
}

// Where 0 is not allowed, a parameter without a value has the allowed one that is closest to it (section 4.9.1).
static void
take_limits(Lowering *low, ParameterOrder *work)
{
    Dae *dae = low->dae;
    for (Var var = 0; var < dae->nvars; var++)
        if (dae_kind(dae, var) == VAR_PARAMETER && is_enumeration(dae, var))
            take_value(low, work, (Bind){.var = var, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 1), .span = dae_group(dae, var)->decl->span});
    for (uint32_t i = 0, n = dae->binds.n; i < n; i++) {
        Bind bind = dae->binds.at[i];
        if ((bind.attr != ATTR_MIN && bind.attr != ATTR_MAX) || dae_kind(dae, bind.var) != VAR_PARAMETER
            || expr_op(dae->exprs, bind.shape) != OP_CONST)
            continue;
        double limit = expr_value(dae->exprs, bind.shape);
        if (!(bind.attr == ATTR_MIN ? limit > 0 : limit < 0))
            continue;
        bind.attr = ATTR_VALUE;
        bind_each(&bind, var)
            take_value(low, work, bind_of_one(bind, var));
    }
}

// The bind of each parameter's value. The start value of one that has no other, and that initialisation does not find, is
// its value (section 4.4.4).
static void
find_values(Lowering *low, ParameterOrder *work)
{
    Dae *dae = low->dae;
    vec_grow(&work->state, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(&work->bind_of, NONE);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_VALUE)
            bind_each(&dae->binds.at[i], var)
                work->bind_of.at[var] = i;
    for (uint32_t i = 0, n = dae->binds.n; i < n; i++) {
        Bind bind = dae->binds.at[i];
        if (bind.attr != ATTR_START || dae_kind(dae, bind.var) != VAR_PARAMETER)
            continue;
        bind.attr = ATTR_VALUE;
        bind_each(&bind, var) {
            if (work->bind_of.at[var] != NONE || dae->var_flags.at[var] & VARF_FREE)
                continue;
            work->bind_of.at[var] = dae->binds.n;
            dae_add_bind(dae, bind_of_one(bind, var));
        }
    }
    take_limits(low, work);
}

void
make_parameters(Lowering *low)
{
    Dae *dae = low->dae;
    InstrVec code = {0};
    ParameterOrder work = {0};
    find_values(low, &work);
    bool good = true;
    for (Var var = 0; var < dae->nvars && good; var++)
        if (work.bind_of.at[var] != NONE && work.state.at[var] == 0)
            good = order_from(low, &work, var);
    settables_begin(low);
    for (uint32_t i = 0; i < work.order.n && good; i++) {
        const Bind bind = bind_of_one(dae->binds.at[work.bind_of.at[work.order.at[i]]], work.order.at[i]);
        int sign;
        if (bind_is_parametric(low, &bind))
            bind_value(low, &bind, place_of(low, bind.var, &sign), 1, &code);
    }
    uint32_t nominal = new_places(low, low->n);
    low->sys->model->nominal = nominal;
    for (uint32_t i = 0; i < low->n; i++)
        low->image.at[nominal + i] = 1;
    if (good)
        make_attributes(low, &work.bind_of, &code);
    settables_rest(low);
    warn_without_value(low, &work);
    add_function(low, "parameters", &code, false, &low->sys->model->parameters);
    vec_free(&code);
    vec_free(&low->late);
    vec_free(&work.bind_of);
    vec_free(&work.limited);
    vec_free(&work.state);
    vec_free(&work.order);
    vec_free(&work.stack);
}
