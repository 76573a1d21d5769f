// run_time_call.c: functions that are called at run time.
//
// Purpose: a function whose loops, subscripts or recursion depend on what happens during the simulation becomes a
// routine (ir/expr/routine.h), and its call an expression (Modelica 3.6, sections 11.2 and 12).
// Method: every variable has cells; the statements are elaborated once, with elements that are slots of cells, into
// blocks. There is a routine for each combination of the sizes of arguments, and where that is not enough, of the known values of Integers,
// Booleans and enumerations; where that is not enough either, variables have room for sizes that are known at run time only (flexible.c).
// Contract: function.h, routine_inner.h; called by function.c when a function cannot be expanded. Complexity: linear in the statements
// (those of unrolled loops repeated).
#include <string.h>

#include "frontend/external/external.h"
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"

// --- one routine

bool
compile_check_size(Compile *c)
{
    enum { MOST = ROUTINE_STACK / 3 * 2 }; // the rest is for what it calls, and who calls it
    if (routine_bytes(c->routine) <= MOST)
        return true;
    diag_add(c->env->diags, E0214, c->frame.span, "the variables of '%s' take %.0f bytes; a function that is called at run "
             "time can have %d", c->routine->name, routine_bytes(c->routine), MOST);
    return false;
}

// The results of an external function go to the cells of the outputs.
static bool
compile_external(Compile *c)
{
    uint32_t cell = c->routine->output;
    if (!external_run(&c->frame))
        return false;
    for (uint32_t i = 0; i < c->frame.variables.n; i++) {
        const Value *value = &c->env->locals.at[i].value;
        if (c->frame.variables.at[i].flags & AST_F_OUTPUT)
            for (uint32_t k = 0; k < value->count; k++)
                compile_set(c, cell++, value->elements[k]);
    }
    if (c->frame.effect)
        compile_set(c, cell, c->frame.effect);
    return true;
}

static bool
compile_body(Compile *c, const Value *values, Keep keep, uint32_t index)
{
    ExprEnv *env = c->env;
    Signature signature = {.number = c->routine->number};
    for (uint32_t i = 0; i < c->frame.sections.n; i++)
        compile_find_assigned(c, c->frame.sections.at[i].node);
    compile_inputs(c, values, keep);
    c->block = compile_block(c);
    Type *types = arena_array(env->routines->arena, Type, c->frame.variables.n + 1);
    uint8_t *flexible = arena_array(env->routines->arena, uint8_t, c->frame.variables.n + 1);
    if (!compile_outputs(c, types, flexible, &signature.n))
        return false;
    bool sized = true;
    for (uint32_t i = 0; i < signature.n; i++) {
        types[i] = type_lasting(env->routines->arena, &types[i]);
        sized &= type_is_sized(&types[i]);
    }
    signature.types = types;
    signature.flexible = flexible;
    if (sized)
        env->routines->signatures.at[index] = signature; // calls of itself find it
    bool good = compile_others(c) && compile_check_size(c) && compile_input_sizes(c) && function_settled(&c->frame);
    for (uint32_t i = 0; good && c->block != NO_BLOCK && i < c->frame.sections.n; i++) {
        env->scope = c->frame.sections.at[i].scope;
        good = statement_list(&c->frame, c->frame.sections.at[i].node, 0) != CONTROL_FAILED;
    }
    good = good && compile_check_sized(c) && (!c->frame.external.node || compile_external(c)) && compile_unset(c);
    return good && compile_check_size(c) && compile_finish(c);
}

// How a routine is compiled: for known values of Integers, Booleans and enumerations; with sizes that are known at run time only.
typedef struct Attempt { Keep keep; bool flexible; } Attempt;

// *again: a statement has given a variable the size that its declaration leaves open, and `sizes` has it now.
static bool
compile_once(Frame *frame, const Value *values, Attempt attempt, uint32_t index, Type *sizes, uint8_t *flexible, bool *again)
{
    ExprEnv *env = frame->env;
    Compile c;
    compile_open(&c, frame, sym_text(env->syms, frame->function->full_name), node_span(env, frame->function->class_node));
    c.env->statements = 0;
    c.sizes = sizes;
    c.flexible = flexible;
    c.own.flexible = attempt.flexible;
    bool good = compile_body(&c, values, attempt.keep, index) && !c.sized;
    c.routine->complete = good;
    *again = c.sized;
    compile_close(&c);
    return good;
}

// False after messages. The frame and what has been found about its function stay as they were.
static bool
compile(Frame *frame, const Value *values, Attempt attempt, uint32_t index)
{
    ExprEnv *env = frame->env;
    DiagsMark mark = diags_mark(env->diags);
    Type *sizes = arena_array(env->routines->arena, Type, frame->variables.n + 1);
    uint8_t *flexible = arena_array(env->routines->arena, uint8_t, frame->variables.n + 1);
    bool again, good, open = attempt.flexible;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        open |= values[i].sizes != NULL;
    vec_push(&env->routines->open, frame->function->class_node);
    while (!(good = compile_once(frame, values, attempt, index, sizes, flexible, &again)) && again)
        diags_return_to(env->diags, mark);
    env->routines->open.n--;
    Signature *signature = &env->routines->signatures.at[index];
    if (!good)
        *signature = (Signature){0};
    Signature made = *signature;
    if (open) // derivatives and inverses are declared for arguments of known sizes
        return good;
    return good && routine_declared_derivative(frame, values, attempt.keep, &made)
        && routine_declared_inverses(frame, values, attempt.keep, &made);
}

// --- calls

// The sizes of its fields, which a declaration may leave open.
static void
key_of_fields(const Type *type, Out *out)
{
    for (uint32_t i = 0; type->base == TYPE_RECORD && type->record && i < type->record->n; i++) {
        const Type *field = &type->record->fields[i].type;
        for (uint32_t d = 0; d < field->rank; d++)
            out_printf(out, " %u", field->dims[d]);
        key_of_fields(field, out);
    }
}

// What tells the routines of one function apart.
static Sym
routine_key(const Frame *frame, const Value *values, Attempt attempt)
{
    ExprEnv *env = frame->env;
    Out out = {0};
    out_printf(&out, "%u %u%s", frame->function->class_node, frame->function->id, attempt.flexible ? " :" : "");
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Value *value = &values[i];
        if (!(frame->variables.at[i].flags & AST_F_INPUT))
            continue;
        out_printf(&out, ", %s", value_type_text(env, value));
        key_of_fields(&value->type, &out);
        for (uint32_t d = 0; value->sizes && d < value->type.rank; d++)
            out_text(&out, value->sizes[d] ? " :" : " =");
        if (value->closure)
            closure_key(env, value->closure, &out);
        else if (compile_is_kept(env, &frame->variables.at[i], value, attempt.keep))
            for (uint32_t k = 0; k < value->count; k++)
                out_printf(&out, " %.17g", value_number(env, value, k));
    }
    Sym key = sym_of(env->syms, out.text);
    out_free(&out);
    return key;
}

static bool
find_routine(Frame *frame, const Value *values, Attempt attempt, uint32_t *index)
{
    Routines *routines = frame->env->routines;
    Sym key = routine_key(frame, values, attempt);
    if (map_get(&routines->of, key, index))
        return routines->signatures.at[*index].number != 0;
    *index = routines->signatures.n;
    vec_push(&routines->signatures, (Signature){0});
    map_put(&routines->of, key, *index);
    return compile(frame, values, attempt, *index);
}

static void
push_input(U32Vec *inputs, const Value *value)
{
    vec_append(inputs, value->elements, value->count);
    for (uint32_t d = 0; value->sizes && d < value->type.rank; d++)
        if (value->sizes[d])
            vec_push(inputs, value->sizes[d]);
}

static void
make_call(Frame *frame, const Value *values, Keep keep, uint32_t index, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    Signature signature = env->routines->signatures.at[index];
    U32Vec inputs = {0};
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].flags & AST_F_INPUT && values[i].closure)
            closure_elements(env, values[i].closure, &inputs);
        else if (frame->variables.at[i].flags & AST_F_INPUT
            && !compile_is_kept(env, &frame->variables.at[i], &values[i], keep))
            push_input(&inputs, &values[i]);
    if (compile_is_counted(frame))
        vec_push(&inputs, expr_const(env->exprs, env->routines->impure++));
    Expr call = routine_call(env->exprs, signature.number, inputs.at, inputs.n);
    *n = signature.n;
    *outputs = arena_array(env->arena, Value, signature.n + 1);
    for (uint32_t o = 0, first = 0; o < signature.n; o++) {
        Value *output = &(*outputs)[o];
        value_new(env, &signature.types[o], frame->span, output);
        for (uint32_t k = 0; k < output->count; k++)
            output->elements[k] = routine_result(env->exprs, call, first++);
        for (uint32_t d = 0; d < output->type.rank; d++)
            if (signature.flexible[o] >> d & 1)
                value_set_size(env, output, d, routine_result(env->exprs, call, first++));
    }
    if (!signature.n)
        (*outputs)[0] = value_scalar(env, TYPE_REAL, routine_result(env->exprs, call, 0));
    vec_free(&inputs);
}

// Whether the function is being compiled: this call stands in it, or in what it calls.
static bool
is_compiled(const Frame *frame)
{
    const U32Vec *open = &frame->env->routines->open;
    bool any = false;
    for (uint32_t i = 0; i < open->n; i++)
        any |= open->at[i] == frame->function->class_node;
    return any;
}

// What sizes are made of is known where it is a parameter.
static void
know_size(Frame *frame, uint32_t i, Value *value)
{
    ExprEnv *env = frame->env;
    const Variable *variable = &frame->variables.at[i];
    if (!variable->shapes || !(variable->flags & AST_F_INPUT) || value->type.base != TYPE_INTEGER || value->type.rank || value_known(env, value))
        return;
    DiagsMark mark = diags_mark(env->diags);
    bool run_time = env->at_run_time;
    Value known = *value;
    if (value_evaluate(env, &known, frame->span))
        *value = known;
    diags_return_to(env->diags, mark);
    env->at_run_time = run_time;
}

bool
routine_use(Frame *frame, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    uint32_t index;
    bool kept = false;
    if (!env->routines)
        return false;
    function_mark_sizes(frame);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        know_size(frame, i, &values[i]);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        kept |= frame->variables.at[i].flags & AST_F_INPUT && !values[i].closure
             && compile_is_kept(env, &frame->variables.at[i], &values[i], KEEP_ALL);
    DiagsMark mark = diags_mark(env->diags);
    const bool inside = is_compiled(frame); // each call of itself would be a routine of its own
    const Attempt attempts[] = {{KEEP_NONE, false}, {inside ? KEEP_SIZES : KEEP_ALL, false}, {inside ? KEEP_ALL : KEEP_SIZES, false}, {inside ? KEEP_SIZES : KEEP_ALL, true}};
    bool good = false;
    uint32_t used = 0;
    for (uint32_t i = 0; !good && i < 4; i++) {
        if (attempts[i].keep && !attempts[i].flexible && !kept)
            continue;
        if (i && env->routines->signatures.at[index].number) // what the function declares beside its statements is wrong
            break;
        diags_return_to(env->diags, mark);
        used = i;
        good = find_routine(frame, values, attempts[i], &index);
    }
    if (good)
        make_call(frame, values, attempts[used].keep, index, outputs, n);
    else if (diags_same(env->diags, mark))
        diag_add(env->diags, E0722, frame->span, "'%s' cannot be compiled to be called at run time",
                 sym_text(env->syms, frame->function->full_name));
    return good;
}
