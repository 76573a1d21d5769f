// routine.c: routines: making them, and their values while compiling.
//
// Purpose: calls with known arguments fold like every other operator, and parameters may be given by calls.
// Method: blocks are executed one after the other; the expression of a step is evaluated from the top, so that
// the branch of an `if` that is not taken is not looked at (a recursion ends there), with a memo per step.
// Contract: routine.h. Depth and work are bounded: what exceeds the bounds has no value here.
// Complexity: linear in the steps executed and the parts of their expressions.
#include "ir/expr/routine.h"

#include <math.h>

#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "runtime/model/template.h"

enum { DEEPEST = 3000 }; // expressions inside each other

// --- making

Routine *
routine_create(Exprs *exprs, const char *name, Span span)
{
    Routine *routine = arena_new(exprs->arena, Routine);
    if (!exprs->routines.n)
        vec_push(&exprs->routines, NULL);
    routine->name = arena_strndup(exprs->arena, name, strlen(name));
    routine->number = exprs->routines.n;
    vec_push(&exprs->routines, routine);
    routine->depth_site = site_add(exprs, arena_printf(exprs->arena, "calls of '%s' are nested too deeply", name), span);
    routine->work_site = site_add(exprs, arena_printf(exprs->arena, "'%s' makes more than %d calls and repetitions",
                                                      name, ROUTINE_WORK), span);
    routine->time_site = site_add(exprs, arena_printf(exprs->arena, "the time limit is used up within a call of '%s'", name), span);
    return routine;
}

Routine *
routine_of(const Exprs *exprs, uint32_t number)
{
    return exprs->routines.at[number];
}

uint32_t
routine_count(const Exprs *exprs)
{
    return exprs->routines.n ? exprs->routines.n - 1 : 0;
}

void
routines_free(Exprs *exprs)
{
    for (uint32_t i = 1; i < exprs->routines.n; i++) {
        Routine *routine = exprs->routines.at[i];
        vec_free(&routine->real);
        vec_free(&routine->steps_alone);
        vec_free(&routine->whole);
        vec_free(&routine->steps);
        vec_free(&routine->blocks);
        vec_free(&routine->values);
        vec_free(&routine->extents);
        vec_free(&routine->special);
        vec_free(&routine->inverses);
    }
    vec_free(&exprs->routines);
    vec_free(&exprs->sites);
    vec_free(&exprs->last_inputs);
    vec_free(&exprs->last_outputs);
    mdl_texts_free(&exprs->texts);
    arena_free(&exprs->arena);
}

uint32_t
site_add(Exprs *exprs, const char *text, Span span)
{
    vec_push(&exprs->sites, (Site){arena_strndup(exprs->arena, text, strlen(text)), span});
    return exprs->sites.n - 1;
}

uint32_t
site_count(const Exprs *exprs)
{
    return exprs->sites.n;
}

const Site *
site_of(const Exprs *exprs, uint32_t site)
{
    return &exprs->sites.at[site];
}

static const char *
kept_text(Exprs *exprs, const char *text)
{
    return text ? arena_strndup(exprs->arena, text, strlen(text)) : NULL;
}

static const char *const *
kept_texts(Exprs *exprs, const char *const *texts, uint32_t n)
{
    const char **kept = arena_array(exprs->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++)
        kept[i] = kept_text(exprs, texts[i]);
    return kept;
}

void
routine_take_external(Exprs *exprs, Routine *routine, const External *external)
{
    External *own = arena_new(exprs->arena, External);
    *own = *external;
    own->symbol = kept_text(exprs, external->symbol);
    own->code = kept_text(exprs, external->code);
    own->include = kept_text(exprs, external->include);
    own->words = kept_texts(exprs, external->words, external->n_words);
    own->sources = kept_texts(exprs, external->sources, external->n_sources);
    routine->external = own;
}

uint32_t
routine_cells(Routine *routine, uint32_t count)
{
    uint32_t first = routine->cells;
    if (count)
        vec_push(&routine->extents, (Extent){first, count});
    routine->cells += count;
    return first;
}

uint32_t
routine_block(Routine *routine)
{
    vec_push(&routine->blocks, (Block){.end = BLOCK_RETURN});
    return routine->blocks.n - 1;
}

void
routine_step(Routine *routine, uint32_t block, Step step)
{
    Block *at = &routine->blocks.at[block];
    if (!at->n)
        at->first = routine->steps.n;
    vec_push(&routine->steps, step);
    at->n++;
}

void
routine_rewrite(Exprs *exprs, Routine *routine, ExprReplace *replace, void *context)
{
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        Step *step = &routine->steps.at[i];
        step->value = expr_rewrite(exprs, step->value, replace, context);
        if (step->index)
            step->index = expr_rewrite(exprs, step->index, replace, context);
    }
    for (uint32_t i = 0; i < routine->blocks.n; i++)
        if (routine->blocks.at[i].end == BLOCK_BRANCH)
            routine->blocks.at[i].condition = expr_rewrite(exprs, routine->blocks.at[i].condition, replace, context);
    for (uint32_t i = 0; i < routine->values.n; i++)
        routine->values.at[i] = expr_rewrite(exprs, routine->values.at[i], replace, context);
}

static Expr
moved_slot(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const uint32_t *place = context;
    (void)args;
    return expr_op(exprs, part) == OP_SLOT ? expr_slot(exprs, place[expr_slot_of(exprs, part)]) : 0;
}

// New places of the cells, and the objects in the order of their places.
static void
place_cells(Routine *routine, const uint32_t *cells, uint32_t n, uint32_t *place)
{
    VEC(Extent) old = {0};
    uint32_t next = n;
    vec_append(&old, routine->extents.at, routine->extents.n);
    memset(place, 0xff, routine->cells * sizeof *place);
    for (uint32_t i = 0; i < n; i++)
        place[cells[i]] = i;
    vec_clear(&routine->extents);
    if (n) // one object: subscripts may select from any of them
        vec_push(&routine->extents, ((Extent){0, n}));
    for (uint32_t i = 0; i < old.n; i++) {
        if (place[old.at[i].first] != UINT32_MAX)
            continue;
        vec_push(&routine->extents, ((Extent){next, old.at[i].count}));
        for (uint32_t k = 0; k < old.at[i].count; k++)
            place[old.at[i].first + k] = next++;
    }
    vec_free(&old);
}

void
routine_take_inputs(Exprs *exprs, Routine *routine, const uint32_t *cells, uint32_t n)
{
    uint32_t *place = base_calloc((size_t)routine->cells + 1, sizeof *place);
    place_cells(routine, cells, n, place);
    routine_rewrite(exprs, routine, moved_slot, place);
    for (uint32_t i = 0; i < routine->steps.n; i++)
        routine->steps.at[i].cell = place[routine->steps.at[i].cell];
    if (routine->outputs)
        routine->output = place[routine->output];
    routine->inputs = n;
    free(place);
}

uint32_t
routine_input_objects(const Routine *routine)
{
    uint32_t n = 0;
    while (n < routine->extents.n && routine->extents.at[n].first < routine->inputs)
        n++;
    return n;
}

double
routine_bytes(const Routine *routine)
{
    return 8.0 * routine->cells + ROUTINE_OVERHEAD;
}

static bool
has_op(const Exprs *exprs, const Routine *routine, Op op)
{
    bool found = false;
    for (uint32_t i = 0; i < routine->steps.n && !found; i++)
        found = expr_has_op(exprs, routine->steps.at[i].value, op)
             || (routine->steps.at[i].index && expr_has_op(exprs, routine->steps.at[i].index, op));
    for (uint32_t i = 0; i < routine->blocks.n && !found; i++)
        found = routine->blocks.at[i].end == BLOCK_BRANCH && expr_has_op(exprs, routine->blocks.at[i].condition, op);
    for (uint32_t i = 0; i < routine->values.n && !found; i++)
        found = expr_has_op(exprs, routine->values.at[i], op);
    return found;
}

RoutineCost
routine_cost(const Exprs *exprs, const Routine *routine)
{
    enum { LARGE = 1 << 16 };
    bool repeats = false;
    if (routine->external || routine_bytes(routine) > LARGE || has_op(exprs, routine, OP_CALL))
        return ROUTINE_CALLS;
    for (uint32_t i = 0; i < routine->blocks.n; i++)
        repeats |= routine->blocks.at[i].again;
    return repeats ? ROUTINE_REPEATS : ROUTINE_PLAIN;
}

bool
routine_notes(const Routine *routine)
{
    return routine->external && routine->external->builtin && strcmp(routine->external->symbol, "mdl_text_fill")
        && strcmp(routine->external->symbol, "mdl_text_order");
}

bool
routine_may_fail(const Exprs *exprs, const Routine *routine)
{
    bool fails = routine_cost(exprs, routine) != ROUTINE_PLAIN || has_op(exprs, routine, OP_INDEX);
    for (uint32_t i = 0; i < routine->blocks.n; i++)
        fails |= routine->blocks.at[i].end == BLOCK_FAIL;
    return fails;
}

static bool
branches(const Exprs *exprs, const Routine *routine)
{
    static const Op jumps[] = {OP_IF, OP_SIGN, OP_FLOOR, OP_CEIL, OP_TRUNC, OP_PICK};
    bool found = routine->external != NULL;
    for (uint32_t b = 0; b < routine->blocks.n && !found; b++)
        found = routine->blocks.at[b].end == BLOCK_BRANCH;
    for (uint32_t i = 0; i < routine->steps.n && !found; i++)
        found = routine->steps.at[i].index != 0;
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps && !found; i++)
        found = has_op(exprs, routine, jumps[i]);
    return found;
}

bool
routine_call_branches(const Exprs *exprs, Expr call)
{
    U8Vec seen = {0};
    U32Vec numbers = {0};
    bool found = false;
    routine_reach(exprs, call, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n && !found; i++)
        found = branches(exprs, routine_of(exprs, numbers.at[i]));
    vec_free(&seen);
    vec_free(&numbers);
    return found;
}

uint64_t
routine_call_operations(const Exprs *exprs, Expr call)
{
    U8Vec seen = {0};
    U32Vec numbers = {0};
    uint64_t sum = 0;
    routine_reach(exprs, call, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n; i++) {
        const Routine *of = routine_of(exprs, numbers.at[i]);
        for (uint32_t k = 0; k < of->steps.n; k++)
            sum += expr_operations(exprs, of->steps.at[k].value);
    }
    vec_free(&seen);
    vec_free(&numbers);
    return sum;
}

static bool
declares_derivative(const Exprs *exprs, const Routine *of)
{
    return of->special.n || (of->derivative && !of->stepwise && routine_of(exprs, of->derivative)->derivative_of != of->number);
}

bool
routine_call_is_smooth(const Exprs *exprs, Expr call)
{
    U8Vec seen = {0};
    U32Vec numbers = {0};
    bool smooth = true;
    routine_called(exprs, call, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n && smooth; i++) {
        const Routine *of = routine_of(exprs, numbers.at[i]);
        if (declares_derivative(exprs, of))
            continue;
        smooth = !branches(exprs, of);
        if (smooth)
            routine_called_by(exprs, of, &seen, &numbers);
    }
    vec_free(&seen);
    vec_free(&numbers);
    return smooth;
}

Expr
routine_call(Exprs *exprs, uint32_t number, const Expr *inputs, uint32_t n)
{
    U32Vec args = {0};
    vec_push(&args, expr_const(exprs, number));
    vec_append(&args, inputs, n);
    Expr call = expr_make(exprs, OP_CALL, args.at, args.n);
    vec_free(&args);
    return call;
}

Expr
routine_result(Exprs *exprs, Expr call, uint32_t k)
{
    return expr_2(exprs, OP_RESULT, expr_const(exprs, k + 1), call);
}

static void
reach_one(const Exprs *exprs, uint32_t number, U32Vec *stack, U8Vec *seen, U32Vec *numbers)
{
    if (seen->n <= number)
        vec_grow(seen, exprs->routines.n - seen->n);
    if (seen->at[number])
        return;
    seen->at[number] = 1;
    vec_push(numbers, number);
    vec_push(stack, number);
}

// Parts that several of the expressions have, as a call whose outputs they are, are looked at once. Walking uses marks of the table, but changes no expression.
static void
reach_all(const Exprs *exprs, const U32Vec *roots, U32Vec *stack, U8Vec *seen, U32Vec *numbers)
{
    U32Vec parts = {0};
    expr_walk_all((Exprs *)exprs, roots->at, roots->n, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (cell_op(exprs, parts.at[i]) == OP_CALL)
            reach_one(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, parts.at[i])[0]), stack, seen, numbers);
    vec_free(&parts);
}

static void
note(const Exprs *exprs, Expr e, U32Vec *roots)
{
    if (e && expr_has_op(exprs, e, OP_CALL))
        vec_push(roots, e);
}

static void
reach(const Exprs *exprs, Expr e, U32Vec *stack, U8Vec *seen, U32Vec *numbers)
{
    U32Vec roots = {0};
    note(exprs, e, &roots);
    reach_all(exprs, &roots, stack, seen, numbers);
    vec_free(&roots);
}

static void
reach_body(const Exprs *exprs, const Routine *routine, U32Vec *stack, U8Vec *seen, U32Vec *numbers)
{
    U32Vec roots = {0};
    for (uint32_t i = 0; i < routine->steps.n; i++) {
        note(exprs, routine->steps.at[i].value, &roots);
        note(exprs, routine->steps.at[i].index, &roots);
    }
    for (uint32_t i = 0; i < routine->blocks.n; i++)
        note(exprs, routine->blocks.at[i].condition, &roots);
    for (uint32_t i = 0; i < routine->values.n; i++)
        note(exprs, routine->values.at[i], &roots);
    reach_all(exprs, &roots, stack, seen, numbers);
    vec_free(&roots);
}

static void
reach_bodies(const Exprs *exprs, U32Vec *stack, U8Vec *seen, U32Vec *numbers)
{
    while (stack->n)
        reach_body(exprs, exprs->routines.at[vec_pop(stack)], stack, seen, numbers);
}

void
routine_called(const Exprs *exprs, Expr e, U8Vec *seen, U32Vec *numbers)
{
    U32Vec stack = {0};
    reach(exprs, e, &stack, seen, numbers);
    vec_free(&stack);
}

void
routine_called_by(const Exprs *exprs, const Routine *routine, U8Vec *seen, U32Vec *numbers)
{
    U32Vec stack = {0};
    reach_body(exprs, routine, &stack, seen, numbers);
    vec_free(&stack);
}

void
routine_reach(const Exprs *exprs, Expr e, U8Vec *seen, U32Vec *numbers)
{
    U32Vec stack = {0};
    reach(exprs, e, &stack, seen, numbers);
    reach_bodies(exprs, &stack, seen, numbers);
    vec_free(&stack);
}

void
routine_reach_number(const Exprs *exprs, uint32_t number, U8Vec *seen, U32Vec *numbers)
{
    U32Vec stack = {0};
    if (number)
        reach_one(exprs, number, &stack, seen, numbers);
    reach_bodies(exprs, &stack, seen, numbers);
    vec_free(&stack);
}

// Whether evaluating an expression calls an external function of some kind.
static bool
calls_external(const Exprs *exprs, Expr e, bool is_so(const External *))
{
    U8Vec seen = {0};
    U32Vec numbers = {0};
    bool calls = false;
    routine_reach(exprs, e, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n && !calls; i++) {
        const External *external = exprs->routines.at[numbers.at[i]]->external;
        calls = external && is_so(external);
    }
    vec_free(&seen);
    vec_free(&numbers);
    return calls;
}

static bool
has_objects(const External *external)
{
    return external->objects;
}

static bool
is_from_outside(const External *external)
{
    return !external->builtin;
}

bool
routine_needs_objects(const Exprs *exprs, Expr e)
{
    return calls_external(exprs, e, has_objects);
}

bool
routine_leaves(const Exprs *exprs, Expr e)
{
    return calls_external(exprs, e, is_from_outside);
}

// --- values

typedef struct Evaluation {
    Exprs *exprs;
    const double *cells;
    uint32_t *work;
    double bytes;        // of all calls inside each other
    Map known;           // expression -> index into `memo`, of the step at hand
    F64Vec memo;
    F64Vec values;       // a stack of arguments
    uint32_t depth;
    bool failed;
} Evaluation;

static bool execute(Exprs *exprs, uint32_t number, const double *inputs, double *outputs, double bytes, uint32_t *work);
static double value_of(Evaluation *now, Expr e);

static double
failed(Evaluation *now)
{
    now->failed = true;
    return NAN;
}

static double
result_of(Evaluation *now, Expr e)
{
    const Exprs *exprs = now->exprs;
    Expr call = cell_args(exprs, e)[1];
    uint32_t number = (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]), n = cell_n(exprs, call) - 1;
    const Routine *routine = exprs->routines.at[number];
    double *inputs = base_calloc((size_t)n + routine->outputs + 1, sizeof *inputs), *outputs = inputs + n;
    for (uint32_t i = 0; i < n; i++)
        inputs[i] = value_of(now, cell_args(exprs, call)[i + 1]);
    double value = NAN;
    if (!now->failed && execute(now->exprs, number, inputs, outputs, now->bytes, now->work))
        value = outputs[(uint32_t)expr_value(exprs, cell_args(exprs, e)[0]) - 1];
    else
        now->failed = true;
    free(inputs);
    return value;
}

static double
operator_value(Evaluation *now, Expr e)
{
    const Exprs *exprs = now->exprs;
    uint32_t n = cell_n(exprs, e), first = now->values.n;
    Op op = cell_op(exprs, e);
    for (uint32_t i = 0; i < n; i++) {
        double value = value_of(now, cell_args(exprs, e)[i]);
        vec_push(&now->values, value);
    }
    const double *args = now->values.at + first;
    double value;
    if (op == OP_POW && cell_op(exprs, cell_args(exprs, e)[1]) != OP_CONST)
        value = pow(args[0], args[1]);
    else
        value = expr_apply(op, args, n);
    if (op == OP_INDEX && isnan(value))
        now->failed = true;
    now->values.n = first;
    return value;
}

static double
value_of(Evaluation *now, Expr e)
{
    const Exprs *exprs = now->exprs;
    Op op = cell_op(exprs, e);
    uint32_t at;
    if (op == OP_CONST)
        return expr_value(exprs, e);
    if (op == OP_SLOT)
        return now->cells[expr_slot_of(exprs, e)];
    if (op == OP_TIME || op == OP_CALL || now->failed || now->depth > DEEPEST)
        return failed(now);
    if (map_get(&now->known, e, &at))
        return now->memo.at[at];
    now->depth++;
    double value = op == OP_IF ? value_of(now, cell_args(exprs, e)[value_of(now, cell_args(exprs, e)[0]) != 0 ? 1 : 2])
                 : op == OP_RESULT ? result_of(now, e) : operator_value(now, e);
    now->depth--;
    map_put(&now->known, e, now->memo.n);
    vec_push(&now->memo, value);
    return value;
}

static double
step_value(Evaluation *now, Expr e)
{
    map_clear(&now->known);
    vec_clear(&now->memo);
    return value_of(now, e);
}

static void
run_step(Evaluation *now, const Step *step, double *cells)
{
    double value = step_value(now, step->value);
    if (!step->index) {
        cells[step->cell] = value;
        return;
    }
    double index = step_value(now, step->index);
    if (index >= 0 && index < step->count)
        cells[step->cell + (uint32_t)index] = value;
}

static bool
run_blocks(Evaluation *now, const Routine *routine, double *cells)
{
    for (uint32_t b = 0;;) {
        const Block *block = &routine->blocks.at[b];
        for (uint32_t i = 0; i < block->n && !now->failed; i++)
            run_step(now, &routine->steps.at[block->first + i], cells);
        if (now->failed || block->end == BLOCK_FAIL || (block->again && ++*now->work > ROUTINE_FOLDING))
            return false;
        if (block->end == BLOCK_RETURN)
            return true;
        b = block->to;
        if (block->end == BLOCK_BRANCH && step_value(now, block->condition) == 0)
            b = block->otherwise;
        if (now->failed)
            return false;
    }
}

void
routines_load_with(Exprs *exprs, ExternalLoad *load, void *context)
{
    exprs->load = load;
    exprs->load_context = context;
}

static bool
execute_external(Exprs *exprs, Routine *routine, const double *inputs, double *outputs)
{
    double state[MDL_FAILURE_PLACES] = {0};
    const External *external = routine->external;
    if (external->objects)
        return false;
    if (!external->builtin && (exprs->folding || !exprs->load || (!external->address && !exprs->load(exprs->load_context, exprs, routine))))
        return false;
    state[MDL_CALL_TEXTS] = (double)(uintptr_t)text_table(exprs);
    external->address(inputs, outputs, state);
    if (state[0] != 0) {
        char text[1000];
        template_fill(site_of(exprs, (uint32_t)state[0] - 1)->text, state + 1, text_table(exprs), text, sizeof text);
        exprs->said = kept_text(exprs, text);
    }
    return state[0] == 0;
}

const char *
routine_said(Exprs *exprs)
{
    const char *said = exprs->said;
    exprs->said = NULL;
    return said;
}

static bool
execute(Exprs *exprs, uint32_t number, const double *inputs, double *outputs, double bytes, uint32_t *work)
{
    const Routine *routine = exprs->routines.at[number];
    if (routine->external)
        return execute_external(exprs, exprs->routines.at[number], inputs, outputs);
    enum { SHALLOW = ROUTINE_STACK / 4, LARGE_CALL = SHALLOW / 4 }; // what evaluates here needs more stack than compiled code, but for its cells
    double used = bytes + fmin(routine_bytes(routine), LARGE_CALL);
    if (!routine->complete || used > SHALLOW || ++*work > ROUTINE_FOLDING)
        return false;
    double *cells = base_calloc((size_t)routine->cells + 1, sizeof *cells);
    Evaluation now = {.exprs = exprs, .cells = cells, .work = work, .bytes = used};
    memcpy(cells, inputs, routine->inputs * sizeof *cells);
    bool good = run_blocks(&now, routine, cells);
    memcpy(outputs, cells + routine->output, routine->outputs * sizeof *cells);
    map_free(&now.known);
    vec_free(&now.memo);
    vec_free(&now.values);
    free(cells);
    return good;
}

// Work that a call is taken to have done before it begins. Where f(60) takes too long, f(59) and f(58) in it are asked for next: each
// failure halves what the next call may do, so that all of them together take not much longer than the first.
static uint32_t
work_before(const Routine *routine)
{
    uint32_t left = routine->exhausted < 32 ? ROUTINE_FOLDING >> routine->exhausted : 0;
    return ROUTINE_FOLDING - (left > ROUTINE_FOLDING_LEAST ? left : ROUTINE_FOLDING_LEAST);
}

// Results of one call are asked for one after the other: the last call is remembered.
bool
routine_evaluate(Exprs *exprs, uint32_t number, const double *inputs, double *outputs)
{
    Routine *routine = exprs->routines.at[number];
    uint32_t work = work_before(routine);
    if (exprs->last_routine == number && exprs->last_inputs.n == routine->inputs
        && (!routine->inputs || !memcmp(exprs->last_inputs.at, inputs, routine->inputs * sizeof *inputs))) {
        memcpy(outputs, exprs->last_outputs.at, routine->outputs * sizeof *outputs);
        return true;
    }
    bool good = execute(exprs, number, inputs, outputs, 0, &work);
    if (work > ROUTINE_FOLDING) {
        routine->exhausted++;
        exprs->said = arena_printf(exprs->arena, "'%s' makes more than %d calls and repetitions", routine->name, ROUTINE_FOLDING);
    }
    if (!good)
        return false;
    exprs->last_routine = number;
    vec_clear(&exprs->last_inputs);
    vec_clear(&exprs->last_outputs);
    vec_append(&exprs->last_inputs, inputs, routine->inputs);
    vec_append(&exprs->last_outputs, outputs, routine->outputs);
    return true;
}
