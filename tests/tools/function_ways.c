// function_ways: every way to the value of a function gives the same one.
//
//   function_ways LIBRARY FILE|PACKAGE...
//
// A call has its value by constants (statements executed while compiling), expanded (an expression over the arguments), or as a call of
// a routine, whose value is found while compiling, by the interpreter and by machine code; derivatives are those of the expression and of
// the routine. The files are elaborated; each call of a function that this makes, and each function of a package alone, is made
// again in all ways at points of its own, and values are compared, derivatives with quotients of differences, too. The linker leads
// calls of function_execute here (--wrap).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code/backend.h"
#include "frontend/flatten/flatten.h"
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/text_values.h"
#include "tests/random.h"

enum { POINTS = 3, CALLS_OF_ONE = 3, SLOPES = 6, MOST_SCALARS = 400 };

typedef struct Outcome { // the scalars of the outputs, in one way
    bool found;
    U32Vec scalar;       // 0: no number (a String, a missing field)
    U32Vec there;        // the condition under which it is an element of an array whose size is known at run time only; 0: it always is
    U8Vec real;
} Outcome;

typedef struct Kept {    // a call for the engines: an expression over slots, their values, its value
    Expr e;
    uint32_t first, n;   // of Ways.slots
    double value;
    const char *name;
} Kept;

typedef struct Ways {
    bool busy, good;
    Map calls;           // hash of a function and the types of its arguments -> calls looked at
    VEC(Kept) kept;
    F64Vec slots;
    Map functions;       // hash of a name -> index into `has`, in one file
    U8Vec has;           // bits of the ways that a function has
    Random random;
    uint32_t calls_made, values, slopes, engine_values, corners;
} Ways;

enum { BY_CONSTANTS = 1, EXPANDED = 2, CALLED = 4, DIFFERENTIATED = 8 };

typedef struct Call {    // one call in all ways
    Ways *ways;
    Frame *frame;
    ExprEnv *env;
    Node *nodes;
    Value *inputs;
    uint32_t base;       // slots base .. base + n - 1 are the Real scalars that may move
    F64Vec at;           // their values, from 0 on
    const char *name;
    Outcome expanded, called;
} Call;

static Ways ways; // what the linker leads here has no other place

bool __real_function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);
bool __wrap_function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n);

static void
report(const Call *call, const char *what, double a, double b)
{
    Out out = {0};
    const Sources *sources = call->env->routines->sources;
    Place place;
    if (sources_locate(sources, call->frame->span.lo, &place))
        out_printf(&out, "%s:%u: ", place.path, place.line);
    printf("FAIL %s'%s': %s: %.17g and %.17g at", out.text ? out.text : "", call->name, what, a, b);
    for (uint32_t i = call->base; i < call->at.n && i < call->base + 12; i++)
        printf(" %.17g", call->at.at[i]);
    putchar('\n');
    out_free(&out);
    ways.good = false;
}

static bool
close_to(double a, double b, double tolerance)
{
    return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance * (1 + fabs(a) + fabs(b));
}

static void
note_way(const Call *call, uint32_t way)
{
    uint64_t key = hash_bytes(call->name, strlen(call->name));
    uint32_t at = ways.has.n;
    if (!map_get(&ways.functions, key, &at)) {
        map_put(&ways.functions, key, at);
        vec_push(&ways.has, 0);
    }
    ways.has.at[at] |= (uint8_t)way;
}

// --- arguments

// The type of scalar k of a value.
static VarType
scalar_type(const Type *type, uint32_t k)
{
    while (type->base == TYPE_RECORD) {
        const RecordField *field = type->record->fields;
        for (k %= type->record->size; k >= field->first + field->count; field++)
            continue;
        k -= field->first;
        type = &field->type;
    }
    return type->base;
}

static double
some_value(const Type *type, uint32_t k)
{
    switch (scalar_type(type, k)) {
    case TYPE_REAL: return 0.2 + random_below(&ways.random, 1000001) * 1.5e-6;
    case TYPE_BOOLEAN: return random_below(&ways.random, 2);
    case TYPE_ENUM: return 1 + random_below(&ways.random, type->n_literals ? type->n_literals : 1);
    default: return 1 + random_below(&ways.random, 3);
    }
}

static bool
is_input(const Call *call, uint32_t i)
{
    return call->frame->variables.at[i].flags & AST_F_INPUT;
}

// Scalars of inputs that are not known become numbers, but for Reals, which become slots.
static bool
settle_inputs(Call *call)
{
    ExprEnv *env = call->env;
    for (uint32_t i = 0; i < call->frame->variables.n; i++) {
        Value *value = &call->inputs[i];
        if (!is_input(call, i))
            continue;
        if (value->closure ? !closure_known(env, value->closure) : !value->elements && value->count)
            return false;
        Expr *own = arena_array(env->arena, Expr, value->count + 1);
        for (uint32_t k = 0; k < value->count; k++) {
            VarType type = scalar_type(&value->type, k);
            bool known = value->elements[k] && expr_op(env->exprs, value->elements[k]) == OP_CONST;
            if (!known && type == TYPE_STRING)
                return false;
            double number = known ? expr_value(env->exprs, value->elements[k]) : some_value(&value->type, k);
            own[k] = expr_const(env->exprs, number);
            if (type == TYPE_REAL && isfinite(number)) {
                own[k] = expr_slot(env->exprs, call->at.n);
                vec_push(env->slots, BOUND_VARIABLE);
                vec_push(&call->at, number);
            }
        }
        value->elements = own;
    }
    return call->at.n - call->base <= MOST_SCALARS;
}

// The inputs, with numbers in the place of slots if wanted.
static Value *
given_inputs(const Call *call, bool numbers)
{
    ExprEnv *env = call->env;
    Value *given = arena_array(env->arena, Value, call->frame->variables.n + 1);
    for (uint32_t i = 0; i < call->frame->variables.n; i++) {
        given[i] = is_input(call, i) ? call->inputs[i] : (Value){0};
        Expr *own = arena_array(env->arena, Expr, given[i].count + 1);
        for (uint32_t k = 0; k < given[i].count && given[i].elements; k++) {
            own[k] = given[i].elements[k];
            if (numbers && expr_op(env->exprs, own[k]) == OP_SLOT)
                own[k] = expr_const(env->exprs, call->at.at[expr_slot_of(env->exprs, own[k])]);
        }
        given[i].elements = given[i].elements ? own : NULL;
    }
    return given;
}

// --- the ways

typedef bool Run(Call *call, Value *given, Value **outputs, uint32_t *n);

static bool
run_expanded(Call *call, Value *given, Value **outputs, uint32_t *n)
{
    call->env->routines = NULL;
    return __real_function_execute(call->frame, call->nodes, given, outputs, n);
}

static bool
run_called(Call *call, Value *given, Value **outputs, uint32_t *n)
{
    call->env->locals.at = NULL;
    call->env->locals.n = call->env->locals.capacity = 0;
    bool good = routine_use(call->frame, given, outputs, n);
    vec_free(&call->env->locals);
    return good;
}

// What one way gives; everything else is as before.
static Outcome
outcome(Call *call, Run *run, bool numbers)
{
    ExprEnv *env = call->env, saved = *env;
    Frame *around = call->frame, own = *around;
    DiagsMark mark = diags_mark(env->diags);
    Outcome out = {0};
    Value *outputs;
    uint32_t n;
    memset(&own.exits, 0, sizeof own.exits);
    own.path = own.left = own.returned = own.effect = 0;
    call->frame = &own;
    env->guard = 0;
    env->in_function = true;
    env->statements = env->depth = 0;
    out.found = run(call, given_inputs(call, numbers), &outputs, &n) && diags_errors(env->diags) == mark.errors;
    for (uint32_t o = 0; out.found && o < n; o++)
        for (uint32_t k = 0; k < outputs[o].count; k++) {
            VarType type = scalar_type(&outputs[o].type, k);
            vec_push(&out.scalar, type == TYPE_STRING ? 0 : outputs[o].elements[k]);
            vec_push(&out.real, type == TYPE_REAL);
            vec_push(&out.there, outputs[o].sizes ? flexible_there(env, &outputs[o], k) : 0);
        }
    vec_free(&own.exits);
    call->frame = around;
    diags_return_to(env->diags, mark);
    *env = saved;
    return out;
}

static void
free_outcome(Outcome *out)
{
    vec_free(&out->scalar);
    vec_free(&out->real);
    vec_free(&out->there);
}

static double
value_at(const Call *call, Expr e)
{
    return expr_eval(call->env->exprs, e, call->at.at, 0);
}

// How far the value moves with inputs that are changed by rounding.
static double
rounding(Call *call, Expr e)
{
    double value = value_at(call, e), sum = 0;
    for (uint32_t i = call->base; i < call->at.n; i++) {
        double x = call->at.at[i];
        call->at.at[i] = x * (1 + 1e-15);
        sum += fabs(value_at(call, e) - value);
        call->at.at[i] = x;
    }
    return sum;
}

// The places of the scalars that there are at this point.
static U32Vec
present(const Call *call, const Outcome *outcome)
{
    U32Vec places = {0};
    for (uint32_t k = 0; k < outcome->scalar.n; k++)
        if (!outcome->there.at[k] || value_at(call, outcome->there.at[k]) != 0)
            vec_push(&places, k);
    return places;
}

static void
compare_values(Call *call, const Outcome *constant, const Outcome *other, const char *what)
{
    if (!other->found)
        return;
    U32Vec here = present(call, constant), there = present(call, other);
    if (here.n != there.n)
        report(call, "numbers of scalars", here.n, there.n);
    for (uint32_t k = 0; here.n == there.n && k < here.n; k++) {
        Expr one = constant->scalar.at[here.at[k]], second = other->scalar.at[there.at[k]];
        if (!one || !second)
            continue;
        double a = value_at(call, one), b = value_at(call, second);
        ways.values++;
        if (!close_to(a, b, 1e-10) && !(fabs(a - b) <= rounding(call, second)))
            report(call, what, a, b);
    }
    vec_free(&here);
    vec_free(&there);
}

// --- derivatives

// The derivative as the limit of differences, extrapolated (Richardson); NAN at corners and jumps.
static double
difference(Call *call, Expr e, uint32_t slot)
{
    double x = call->at.at[slot], h = 1e-4 * (1 + fabs(x)), middle = value_at(call, e), f[4];
    for (uint32_t i = 0; i < 4; i++) {
        call->at.at[slot] = x + (i % 2 ? -1 : 1) * (i < 2 ? h : h/2);
        f[i] = value_at(call, e);
    }
    call->at.at[slot] = x;
    double ahead = (f[2] - middle)/(h/2), behind = (middle - f[3])/(h/2), wide = (f[0] - f[1])/(2*h), narrow = (f[2] - f[3])/h;
    return close_to(ahead, behind, 1e-2) && close_to(wide, narrow, 1e-4) ? (4*narrow - wide)/3 : NAN;
}

static bool
is_stepwise(const Call *call, Expr e)
{
    const Exprs *exprs = call->env->exprs;
    U8Vec seen = {0};
    U32Vec numbers = {0};
    bool stepwise = false;
    routine_reach(exprs, e, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n; i++)
        stepwise |= routine_of(exprs, numbers.at[i])->stepwise;
    vec_free(&seen);
    vec_free(&numbers);
    return stepwise;
}

static void
compare_slope(Call *call, Expr e, uint32_t slot, double slope, const char *what)
{
    Expr derivative = expr_diff(call->env->exprs, e, slot);
    if (!derivative || is_stepwise(call, e))
        return;
    double value = value_at(call, derivative);
    ways.slopes++;
    note_way(call, DIFFERENTIATED);
    if (!close_to(value, slope, 1e-5))
        report(call, what, value, slope);
}

// What a function says of its derivative is its own affair.
static bool
declares_derivative(const Call *call)
{
    Node mods;
    return ast_annotation(call->env->ast, call->env->syms, call->frame->function->class_node, "derivative", 0, &mods) != 0;
}

static void
compare_slopes(Call *call)
{
    const Outcome *any = call->expanded.found ? &call->expanded : &call->called;
    uint32_t n = call->at.n - call->base < SLOPES ? call->at.n - call->base : SLOPES;
    for (uint32_t k = 0; any->found && k < any->scalar.n && k < SLOPES; k++)
        for (uint32_t i = 0; any->real.at[k] && any->scalar.at[k] && i < n; i++) {
            double slope = difference(call, any->scalar.at[k], call->base + i);
            ways.corners += isnan(slope);
            if (isnan(slope))
                continue;
            if (call->expanded.found)
                compare_slope(call, call->expanded.scalar.at[k], call->base + i, slope, "derivative of what is expanded, and difference");
            if (call->called.found && !declares_derivative(call))
                compare_slope(call, call->called.scalar.at[k], call->base + i, slope, "derivative of the routine, and difference");
        }
}

// --- one call

// Other values for the Reals.
static void
move_point(Call *call, uint32_t point)
{
    for (uint32_t i = call->base; i < call->at.n; i++)
        if (point == 1)
            call->at.at[i] *= 1 + random_below(&ways.random, 1000) * 1e-4;
        else if (point == 2)
            call->at.at[i] = 0.1 + random_below(&ways.random, 1000001) * 2e-6;
}

static void
keep_for_engines(const Call *call)
{
    for (uint32_t k = 0; k < call->called.scalar.n && k < SLOPES; k++) {
        Expr e = call->called.scalar.at[k];
        if (!e || !expr_has_op(call->env->exprs, e, OP_CALL))
            continue;
        Kept kept = {e, ways.slots.n, call->at.n, value_at(call, e), call->name};
        if (isnan(kept.value)) // a failure, which ends what comes behind it
            continue;
        vec_append(&ways.slots, call->at.at, call->at.n);
        vec_push(&ways.kept, kept);
    }
}

static void
compare_points(Call *call)
{
    for (uint32_t point = 0; point < POINTS && (point == 0 || call->at.n > call->base); point++) {
        move_point(call, point);
        Outcome constant = outcome(call, run_expanded, true);
        if (constant.found) { // an assertion may not hold here
            note_way(call, BY_CONSTANTS);
            compare_values(call, &constant, &call->expanded, "by constants and expanded");
            compare_values(call, &constant, &call->called, "by constants and called");
            compare_slopes(call);
            keep_for_engines(call);
        }
        free_outcome(&constant);
    }
}

static void
compare_ways(Frame *frame, const Node *nodes, const Value *values)
{
    ExprEnv *env = frame->env;
    Call call = {.frame = frame, .env = env, .base = env->slots->n, .name = sym_text(env->syms, frame->function->full_name)};
    DiagsMark mark = diags_mark(env->diags);
    uint32_t slots = env->slots->n, n = frame->variables.n;
    call.nodes = arena_array(env->arena, Node, n + 1);
    call.inputs = arena_array(env->arena, Value, n + 1);
    memcpy(call.inputs, values, n * sizeof *values);
    vec_grow(&call.at, slots);
    bool good = function_inputs(frame, nodes, call.inputs) && settle_inputs(&call);
    for (uint32_t i = 0; i < n; i++)
        call.nodes[i] = is_input(&call, i) ? (nodes[i] ? nodes[i] : frame->variables.at[i].component) : 0;
    if (good) {
        ways.calls_made++;
        call.expanded = outcome(&call, run_expanded, false);
        call.called = outcome(&call, run_called, false);
        note_way(&call, (call.expanded.found ? EXPANDED : 0) | (call.called.found ? CALLED : 0));
        compare_points(&call);
    }
    diags_return_to(env->diags, mark);
    env->slots->n = slots;
    free_outcome(&call.expanded);
    free_outcome(&call.called);
    vec_free(&call.at);
}

static bool
is_new(const Frame *frame, const Value *values)
{
    uint64_t key = hash_bytes(&frame->function->class_node, sizeof(Node)) ^ frame->function->id;
    uint32_t before = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        key = key * 31 + values[i].count;
    map_get(&ways.calls, key, &before);
    map_put(&ways.calls, key, before + 1);
    return before < CALLS_OF_ONE;
}

bool
__wrap_function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    Value *before = arena_array(env->arena, Value, frame->variables.n + 1);
    memcpy(before, values, frame->variables.n * sizeof *values);
    bool apart = ways.busy || env->compile || frame->record || frame->by.n || frame->external.node || !env->routines || env->picks;
    bool good = __real_function_execute(frame, nodes, values, outputs, n);
    if (!apart && good && is_new(frame, before)) {
        bool other_units = env->other_units, at_run_time = env->at_run_time;
        ways.busy = true;
        compare_ways(frame, nodes, before);
        ways.busy = false;
        env->other_units = other_units;
        env->at_run_time = at_run_time;
    }
    return good;
}

// --- engines

static bool
compare_engine(Engine *engine, Sys *sys, const mdl_code *code, double *v, const char *name, const Out *why)
{
    if (!engine) {
        printf("FAIL %s: %s\n", name, why->text ? why->text : "no engine");
        return false;
    }
    bool good = true;
    for (uint32_t f = 0; f < sys->funcs.n; f++) {
        const Kept *kept = &ways.kept.at[f];
        memcpy(v + 1, ways.slots.at + kept->first, kept->n * sizeof *v);
        v[sys->model->failure] = v[sys->model->failure + MDL_CALL_BYTES] = 0;
        mdl_call(code[f], v);
        double value = v[sys->instrs.at[f].dest];
        ways.engine_values++;
        if (memcmp(&value, &kept->value, sizeof value) && value != kept->value) {
            printf("FAIL '%s': while compiling and %s: %.17g and %.17g\n", kept->name, name, kept->value, value);
            good = false;
        }
    }
    return good;
}

static void
compare_engines(Exprs *exprs)
{
    Sys *sys = sys_create(exprs);
    mdl_code *code = base_calloc(ways.kept.n + 1, sizeof *code);
    Out why = {0};
    uint32_t most = 1;
    sys->model = arena_new(sys->arena, mdl_model);
    for (uint32_t i = 0; i < ways.kept.n; i++)
        most = ways.kept.at[i].n + 2 > most ? ways.kept.at[i].n + 2 : most;
    sys->model->failure = most;
    sys->model->nv = most + MDL_FAILURE_PLACES;
    for (uint32_t i = 0; i < ways.kept.n; i++) {
        vec_push(&sys->funcs, ((Func){arena_printf(sys->arena, "f%u", i), sys->instrs.n, 1}));
        vec_push(&sys->instrs, ((Instr){ways.kept.at[i].e, 0, most - 1}));
        vec_push(&sys->fixups, ((Fixup){&code[i], i}));
    }
    for (uint32_t i = 0; i + 1 < most; i++)
        vec_push(&sys->places, i + 1);
    double *v = base_calloc(sys->model->nv, sizeof *v);
    v[most + MDL_CALL_TEXTS] = (double)(uintptr_t)text_table(exprs);
    Engine *engine = engine_interp(sys, &why);
    ways.good &= compare_engine(engine, sys, code, v, "interpreted", &why);
    engine_free(&engine);
    engine = engine_llvm(sys, &(EngineOptions){.opt = 0}, &why);
    ways.good &= compare_engine(engine, sys, code, v, "as machine code", &why);
    engine_free(&engine);
    out_free(&why);
    free(v);
    free(code);
    sys_free(&sys);
}

// --- files

static void
elaborate_one(Program *program, const ElaborateOptions *options, Diags *diags)
{
    vec_clear(&ways.kept);
    vec_clear(&ways.slots);
    Dae *dae = elaborate(program, options, diags);
    if (dae && ways.kept.n)
        compare_engines(dae->exprs);
    if (dae)
        dae_free(&dae);
}

static void
look_at(const char *library, const char *path)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Program *program = program_create(sources, syms, diags);
    Survey survey = {0};
    bool file = strchr(path, '/') != NULL;
    program_add_path(program, library);
    map_clear(&ways.calls);
    map_clear(&ways.functions);
    bool read = file ? program_add_file(program, path) : program_add_named(program, path);
    if (!read && (!file || program_io_error(program)))
        ways.good = printf("FAIL %s cannot be read\n", path) < 0;
    else if (!diags_errors(diags) && program_survey(program, file ? NULL : path, &survey)) {
        for (uint32_t i = 0; i < survey.items.n; i++)
            if (survey.items.at[i].kind == SURVEY_FUNCTION)
                elaborate_one(program, &(ElaborateOptions){.class_id = survey.items.at[i].class_id}, diags);
    } else if (!diags_errors(diags)) {
        elaborate_one(program, &(ElaborateOptions){.max_scalars = 100000}, diags);
    }
    vec_free(&survey.items);
    program_free(&program);
    diags_free(&diags);
    sources_free(&sources);
    syms_free(&syms);
}

static void
print_tally(void)
{
    uint32_t with[4] = {0};
    for (uint32_t i = 0; i < ways.has.n; i++)
        for (uint32_t way = 0; way < 4; way++)
            with[way] += ways.has.at[i] >> way & 1;
    printf("%u calls of %u functions: %u by constants, %u expanded, %u called, %u differentiated; %u values and %u derivatives compared, %u by engines; "
           "%u at corners\n", ways.calls_made, ways.has.n, with[0], with[1], with[2], with[3], ways.values, ways.slopes, ways.engine_values, ways.corners);
}

int
main(int argc, char **argv)
{
    const char *seed = getenv("SEED");
    ways.random = (Random){seed ? strtoull(seed, NULL, 10) : 1};
    ways.good = argc > 2;
    for (int i = 2; i < argc; i++)
        look_at(argv[1], argv[i]);
    print_tally();
    vec_free(&ways.kept);
    vec_free(&ways.slots);
    map_free(&ways.calls);
    map_free(&ways.functions);
    vec_free(&ways.has);
    return !ways.good;
}
