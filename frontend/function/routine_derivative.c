// routine_derivative.c: derivatives that functions declare.
//
// Purpose: `annotation(derivative = df)` (Modelica 3.6, section 12.7.1) of functions that are called at run time: a bisection has no
// derivative by its statements, and a closed form may be better than one by them. Functions that are expanded are
// differentiated as they stand, which is exact, but for those that leave out inputs and are called for time (or for what it alone moves): the
// second of {angle, speed} that goes in is the rate of the result, whatever the rate of the first one is.
// Method: df takes the inputs of the function, then the derivatives of its Real inputs, and gives those of its Real outputs. A routine
// with the inputs and outputs that ir/expr/routine_gradient.c would make calls it. Derivatives of higher order follow from this one.
// Contract: routine_inner.h. Complexity: linear in the scalars of inputs and outputs.
#include <string.h>

#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

typedef struct Declared { // an annotation derivative(noDerivative = a, zeroDerivative = b) = df
    Node function;
    Node options;         // MODS
    bool zero;            // there is a zeroDerivative
    bool second;          // order = 2: the function is itself the first derivative of another one
} Declared;

// Whether an option of the annotation names this input; `name` NULL: noDerivative or zeroDerivative.
static bool
excluded(const ExprEnv *env, const Declared *declared, Sym input, const char *name)
{
    for (uint32_t i = 1; i < ast_at(env->ast, declared->options)->nchild; i++) {
        Node mod = ast_child(env->ast, declared->options, i), mods = ast_child(env->ast, mod, 1);
        Node ref = mods ? ast_child(env->ast, mods, 0) : 0;
        if (name && strcmp(name, sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, ast_child(env->ast, mod, 0), 0))->sym)))
            continue;
        if (ref && ast_kind(env->ast, ref) == AST_REF && ast_at(env->ast, ast_child(env->ast, ref, 0))->sym == input)
            return true;
    }
    return false;
}

// The nth derivative of first or second order; *out->function is 0 behind the last one.
static void
find_declared(const Frame *frame, uint32_t nth, Declared *out)
{
    const ExprEnv *env = frame->env;
    Node mods;
    *out = (Declared){0};
    for (uint32_t k = 0; (out->function = ast_annotation(env->ast, env->syms, frame->function->class_node, "derivative", k, &mods)); k++) {
        bool usable = ast_kind(env->ast, out->function) == AST_REF;
        out->zero = out->second = false;
        for (uint32_t i = 1; i < ast_at(env->ast, mods)->nchild; i++) {
            Node mod = ast_child(env->ast, mods, i), name = ast_child(env->ast, mod, 0), inner = ast_child(env->ast, mod, 1);
            const char *text = sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, name, 0))->sym);
            Node value = inner ? ast_child(env->ast, inner, 0) : 0;
            double order = !strcmp(text, "order") && value && ast_kind(env->ast, value) == AST_NUMBER ? ast_number(env->ast, value) : 0;
            out->zero |= !strcmp(text, "zeroDerivative");
            out->second |= order == 2;
            usable = usable && (order == 1 || order == 2 || !strcmp(text, "noDerivative") || !strcmp(text, "zeroDerivative"));
        }
        out->options = mods;
        if (usable && !nth--)
            return;
    }
}

static bool
refuse(const Frame *frame, Node at, const char *why)
{
    diag_add(frame->env->diags, E0212, node_span(frame->env, at), "the derivative of '%s' %s", sym_text(frame->env->syms, frame->function->full_name), why);
    return false;
}

static bool
has_input(const Frame *frame, Sym name)
{
    bool found = false;
    for (uint32_t i = 0; i < frame->variables.n && !found; i++)
        found = frame->variables.at[i].name == name && frame->variables.at[i].flags & AST_F_INPUT;
    return found;
}

// One option: its name is known, and an input that it names is one of the function.
static bool
check_option(const Frame *frame, Node mod)
{
    const ExprEnv *env = frame->env;
    Node name = ast_child(env->ast, mod, 0), inner = ast_child(env->ast, mod, 1), value = inner ? ast_child(env->ast, inner, 0) : 0;
    const char *text = sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, name, 0))->sym);
    if (!strcmp(text, "order"))
        return true;
    if (strcmp(text, "noDerivative") && strcmp(text, "zeroDerivative"))
        return refuse(frame, mod, "has the options order, noDerivative and zeroDerivative, and this is none of them");
    bool known = !value || (ast_kind(env->ast, value) == AST_REF && has_input(frame, ast_at(env->ast, ast_child(env->ast, value, 0))->sym));
    return known || refuse(frame, value, "names one of its inputs here, and this is none");
}

bool
function_check_derivatives(Frame *frame)
{
    ExprEnv *env = frame->env;
    void *scope = env->scope;
    Node mods, function;
    bool good = true;
    for (uint32_t k = 0; good && (function = ast_annotation(env->ast, env->syms, frame->function->class_node, "derivative", k, &mods)); k++) {
        FunctionRef found;
        for (uint32_t i = 1; i < ast_at(env->ast, mods)->nchild && good; i++)
            good = check_option(frame, ast_child(env->ast, mods, i));
        env->scope = frame->function->scope;
        good = good && (ast_kind(env->ast, function) == AST_REF ? env->function(env, function, &found) : refuse(frame, function, "is the name of a function"));
        env->scope = scope;
    }
    return good;
}

// Real, or a record of nothing else, whose derivative is a record of the same (section 12.7.1).
static bool
has_derivative(const Type *type)
{
    bool real = type->base == TYPE_REAL || (type->base == TYPE_RECORD && type->record->n);
    for (uint32_t i = 0; type->base == TYPE_RECORD && i < type->record->n && real; i++)
        real = has_derivative(&type->record->fields[i].type);
    return real;
}

// The Real inputs that are left out. Their cells are those of the inputs.
static const uint8_t *
ignored_inputs(const Compile *c, const Declared *declared, uint32_t inputs)
{
    uint8_t *ignored = arena_array(c->env->arena, uint8_t, inputs + 1);
    memset(ignored, 0, inputs + 1);
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Variable *variable = &c->frame.variables.at[i];
        const Value *value = &c->env->locals.at[i].value;
        if (variable->flags & AST_F_INPUT && has_derivative(&value->type) && value->count
            && excluded(c->env, declared, variable->name, "noDerivative"))
            memset(ignored + expr_slot_of(c->env->exprs, value->elements[0]), 1, value->count);
    }
    return ignored;
}

// Inputs as the function has them, in cells, then the derivatives of its Real inputs.
static uint32_t
derivative_arguments(Compile *c, const Declared *declared, const Value *given, Keep keep, Value *arguments)
{
    uint32_t n = 0, inputs;
    compile_inputs(c, given, keep);
    inputs = c->routine->inputs;
    compile_cells(c, inputs);
    routine_take_ignored(c->env->exprs, c->routine, ignored_inputs(c, declared, inputs), inputs);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < c->frame.variables.n; i++) {
            const Variable *variable = &c->frame.variables.at[i];
            Value value = c->env->locals.at[i].value;
            if (!(variable->flags & AST_F_INPUT))
                continue;
            if (round && (!has_derivative(&value.type) || excluded(c->env, declared, variable->name, NULL)))
                continue;
            if (round && value.count)
                value = compile_value(c, &value.type, inputs + expr_slot_of(c->env->exprs, value.elements[0]), value.count);
            arguments[n++] = value;
        }
    for (uint32_t k = 0; k < inputs; k++)
        vec_push(&c->routine->real, c->routine->real.at[k]);
    c->routine->inputs = 2*inputs;
    return n;
}

// The derivatives of Real outputs go to their places; others stay 0.
static bool
take_derivatives(Compile *c, const Signature *signature, const Value *outputs, uint32_t n, Span span)
{
    uint32_t cell = c->routine->output, taken = 0;
    for (uint32_t o = 0; o < signature->n; o++) {
        Value room;
        if (!value_new(c->env, &signature->types[o], span, &room))
            return false;
        if (has_derivative(&room.type)) {
            if (taken == n || !has_derivative(&outputs[taken].type) || outputs[taken].count != room.count || !type_same_sizes(&outputs[taken].type, &room.type)) {
                diag_add(c->env->diags, E0202, span, "the derivative of '%s' has other outputs than the derivatives of its Real ones",
                         sym_text(c->env->syms, c->frame.function->full_name));
                return false;
            }
            for (uint32_t k = 0; k < room.count; k++)
                compile_set(c, cell + k, outputs[taken].elements[k]);
            taken++;
        }
        cell += room.count;
    }
    return true;
}

// --- order 2

// df(x, dx) is linear in dx, and ddf(x, dx, ddx) = D(x; dx, dx) + df(x, ddx) with D symmetric and linear in both directions. The derivative
// of df along (x', dx') is D(x; dx, x') + df(x, dx'), and 4 D(x; u, v) = D(x; u + v, u + v) - D(x; u - v, u - v): three calls of ddf.
typedef struct Second {
    Compile *c;
    const Declared *declared;
    const FunctionRef *function;
    uint32_t inputs, halves[64], n_real; // cells of inputs; variables that are Real inputs and count: x first, then dx
} Second;

static bool
find_halves(Second *second)
{
    const Frame *frame = &second->c->frame;
    second->n_real = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        bool real = frame->variables.at[i].flags & AST_F_INPUT && second->c->env->locals.at[i].value.type.base == TYPE_REAL
            && !excluded(second->c->env, second->declared, frame->variables.at[i].name, NULL);
        if (real && second->n_real == sizeof second->halves/sizeof *second->halves)
            return false;
        if (real)
            second->halves[second->n_real++] = i;
    }
    for (uint32_t k = 0; k < second->n_real/2; k++)
        if (!type_same_sizes(&second->c->env->locals.at[second->halves[k]].value.type,
                             &second->c->env->locals.at[second->halves[k + second->n_real/2]].value.type))
            return false;
    return second->n_real && second->n_real % 2 == 0;
}

// The value of variable halves[k] (rate: of its derivative), element by element times a factor.
static Expr
scaled(const Second *second, uint32_t k, bool rate, uint32_t element, double factor)
{
    ExprEnv *env = second->c->env;
    const Value *value = &env->locals.at[second->halves[k]].value;
    uint32_t cell = expr_slot_of(env->exprs, value->elements[0]) + element + (rate ? second->inputs : 0);
    return expr_2(env->exprs, OP_MUL, expr_const(env->exprs, factor), expr_slot(env->exprs, cell));
}

// One call: dx becomes u*dx + v*x', ddx becomes w*dx'.
static bool
call_second(Second *second, double u, double v, double w, Value **outputs, uint32_t *n)
{
    ExprEnv *env = second->c->env;
    uint32_t half = second->n_real/2, given = 0;
    Value *arguments = arena_array(env->arena, Value, second->c->frame.variables.n + half + 1);
    for (uint32_t i = 0; i < second->c->frame.variables.n + half; i++) {
        bool own = i < second->c->frame.variables.n;
        uint32_t variable = own ? i : second->halves[half + i - second->c->frame.variables.n], k = 0;
        Value value = env->locals.at[variable].value;
        if (!(second->c->frame.variables.at[variable].flags & AST_F_INPUT))
            continue;
        while (k < second->n_real && second->halves[k] != variable)
            k++;
        if (k >= half && k < second->n_real) {
            if (!value_new(env, &value.type, node_span(env, second->declared->function), &value))
                return false;
            for (uint32_t e = 0; e < value.count; e++)
                value.elements[e] = own ? expr_2(env->exprs, OP_ADD, scaled(second, k, false, e, u), scaled(second, k - half, true, e, v))
                                        : scaled(second, k, true, e, w);
        }
        arguments[given++] = value;
    }
    return env->calls->apply_all(env, second->function, arguments, given, node_span(env, second->declared->function), outputs, n);
}

static bool
second_derivative(Compile *c, const Declared *declared, const FunctionRef *function, uint32_t inputs, Value **outputs, uint32_t *n)
{
    Second second = {.c = c, .declared = declared, .function = function, .inputs = inputs};
    Exprs *exprs = c->env->exprs;
    Value *ahead, *behind;
    uint32_t n_ahead, n_behind;
    if (!find_halves(&second) || !call_second(&second, 0, 0, 1, outputs, n) || !call_second(&second, 1, 1, 0, &ahead, &n_ahead)
        || !call_second(&second, 1, -1, 0, &behind, &n_behind))
        return false;
    for (uint32_t o = 0; o < *n; o++)
        for (uint32_t k = 0; k < (*outputs)[o].count; k++) {
            Expr twice = expr_sub(exprs, ahead[o].elements[k], behind[o].elements[k]);
            Expr part = expr_2(exprs, OP_DIV, twice, expr_const(exprs, 4));
            (*outputs)[o].elements[k] = expr_2(exprs, OP_ADD, (*outputs)[o].elements[k], part);
        }
    return true;
}

static bool
compile_derivative(Compile *c, const Declared *declared, const Value *given, Keep keep, const Signature *signature)
{
    ExprEnv *env = c->env;
    const Routine *of = routine_of(env->exprs, signature->number);
    Span span = node_span(env, declared->function);
    Value *arguments = arena_array(env->arena, Value, 2*c->frame.variables.n + 1), *outputs;
    FunctionRef function = {0};
    uint32_t n = derivative_arguments(c, declared, given, keep, arguments), n_outputs;
    c->routine->output = compile_cells(c, of->outputs);
    c->routine->outputs = of->outputs;
    c->block = compile_block(c);
    env->scope = c->frame.function->scope;
    return env->function(env, declared->function, &function)
        && (declared->second ? second_derivative(c, declared, &function, of->inputs, &outputs, &n_outputs)
                             : env->calls->apply_all(env, &function, arguments, n, span, &outputs, &n_outputs))
        && take_derivatives(c, signature, outputs, n_outputs, span) && compile_check_size(c) && compile_finish(c);
}

// Which scalars of the inputs must not move.
static const uint8_t *
zero_inputs(const Compile *c, const Declared *declared)
{
    uint32_t n = c->routine->inputs/2;
    uint8_t *zero = arena_array(c->env->arena, uint8_t, n + 1);
    memset(zero, 0, n + 1);
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Variable *variable = &c->frame.variables.at[i];
        const Value *value = &c->env->locals.at[i].value;
        if (!(variable->flags & AST_F_INPUT) || !excluded(c->env, declared, variable->name, "zeroDerivative"))
            continue;
        for (uint32_t k = 0; k < value->count; k++)
            if (expr_op(c->env->exprs, value->elements[k]) == OP_SLOT)
                zero[expr_slot_of(c->env->exprs, value->elements[k])] = 1;
    }
    return zero;
}

// Those with zeroDerivative are tried in their order; the first without is taken where none of them holds.
bool
routine_declared_derivative(Frame *frame, const Value *given, Keep keep, const Signature *signature)
{
    Exprs *exprs = frame->env->exprs;
    const char *name = sym_text(frame->env->syms, frame->function->full_name);
    for (uint32_t nth = 0;; nth++) {
        Declared declared;
        Compile c;
        find_declared(frame, nth, &declared);
        if (!declared.function)
            return true;
        compile_open(&c, frame, arena_printf(frame->env->arena, "der(%s)", name), node_span(frame->env, declared.function));
        DiagsMark mark = diags_mark(frame->env->diags);
        bool good = compile_derivative(&c, &declared, given, keep, signature);
        uint32_t number = c.routine->number;
        const uint8_t *zero = good && declared.zero ? zero_inputs(&c, &declared) : NULL;
        c.routine->complete = good;
        compile_close(&c);
        if (!good && declared.second) { // it belongs to another function, or is linear in other directions: its statements tell
            diags_return_to(frame->env->diags, mark);
            continue;
        }
        if (!good)
            return false;
        if (zero)
            routine_take_special(exprs, routine_of(exprs, signature->number), number, zero);
        else
            routine_of(exprs, signature->number)->derivative = number;
        if (!zero)
            return true;
    }
}

// --- rates of what is expanded

typedef struct Rates {     // of the inputs that a declared derivative has rates of
    uint32_t of[64], n;    // their variables
    Value value[64];
} Rates;

// False where they are not all numbers, where there are none but zero, or where no input is left out.
static bool
find_rates(const Frame *frame, const Declared *declared, const Value *inputs, Rates *rates)
{
    ExprEnv *env = frame->env;
    bool left_out = false, moves = false;
    rates->n = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        if (!(variable->flags & AST_F_INPUT) || !has_derivative(&inputs[i].type))
            continue;
        if (excluded(env, declared, variable->name, NULL)) {
            left_out = true;
            continue;
        }
        if (rates->n == sizeof rates->of/sizeof *rates->of)
            return false;
        Value *rate = &rates->value[rates->n];
        if (!inputs[i].elements || !value_new(env, &inputs[i].type, frame->span, rate))
            return false;
        for (uint32_t k = 0; k < rate->count; k++) {
            Expr e = inputs[i].elements[k];
            rate->elements[k] = e && !expr_nslots(env->exprs, e) ? expr_rate(env->exprs, e, NULL, 0) : 0;
            if (!rate->elements[k] || expr_op(env->exprs, rate->elements[k]) != OP_CONST)
                return false;
            moves |= !expr_is_const(env->exprs, rate->elements[k], 0);
        }
        rates->of[rates->n++] = i;
    }
    return left_out && moves;
}

// The rates that a second derivative takes beside the inputs of the first one, which are x and its rates: those of the latter. False where the
// inputs are no such pair.
static bool
keep_second_rates(Rates *rates, const Value *inputs)
{
    uint32_t half = rates->n/2;
    bool pair = rates->n % 2 == 0;
    for (uint32_t k = 0; k < half && pair; k++) {
        const Value *rate = &rates->value[k], *given = &inputs[rates->of[half + k]];
        pair = given->count == rate->count;
        for (uint32_t e = 0; e < rate->count && pair; e++)
            pair = given->elements[e] == rate->elements[e];
    }
    for (uint32_t k = 0; k < half; k++)
        rates->value[k] = rates->value[half + k];
    rates->n = half;
    return pair;
}

static bool
call_rates(Frame *frame, const Declared *declared, const Value *inputs, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    Rates rates;
    FunctionRef function = {0};
    if (!find_rates(frame, declared, inputs, &rates) || (declared->second && !keep_second_rates(&rates, inputs)))
        return false;
    Value *arguments = arena_array(env->arena, Value, frame->variables.n + rates.n + 1);
    uint32_t given = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].flags & AST_F_INPUT)
            arguments[given++] = inputs[i];
    for (uint32_t k = 0; k < rates.n; k++)
        arguments[given++] = rates.value[k];
    env->scope = frame->function->scope;
    return env->function(env, declared->function, &function)
        && env->calls->apply_all(env, &function, arguments, given, node_span(env, declared->function), outputs, n);
}

// Real outputs are of one size with their rates, in this order.
static bool
join_rates(ExprEnv *env, const Value *rates, uint32_t n_rates, Value *outputs, uint32_t n)
{
    uint32_t taken = 0;
    for (uint32_t o = 0; o < n; o++)
        if (has_derivative(&outputs[o].type) && (taken == n_rates || rates[taken++].count != outputs[o].count))
            return false;
    taken = 0;
    for (uint32_t o = 0; o < n; o++) {
        if (!has_derivative(&outputs[o].type))
            continue;
        for (uint32_t k = 0; k < outputs[o].count; k++)
            outputs[o].elements[k] = expr_2(env->exprs, OP_RATED, outputs[o].elements[k], rates[taken].elements[k]);
        taken++;
    }
    return true;
}

void
function_take_rates(Frame *frame, const Value *inputs, Value *outputs, uint32_t n)
{
    ExprEnv *env = frame->env;
    DiagsMark mark = diags_mark(env->diags);
    void *scope = env->scope;
    Declared declared;
    Value *rates;
    uint32_t n_rates, nth = 0;
    do
        find_declared(frame, nth++, &declared);
    while (declared.function && declared.zero);
    if (!declared.function)
        return;
    if (!call_rates(frame, &declared, inputs, &rates, &n_rates) || !join_rates(env, rates, n_rates, outputs, n))
        diags_return_to(env->diags, mark);
    env->scope = scope;
}
