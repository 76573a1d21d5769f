// external_standard.c: external functions that come with mdlc.
//
// Purpose: functions that the Modelica Standard Library declares as external (texts, random numbers, tables, linear equations) are called
// without a C compiler and without --allow-external: they are those of runtime/model/standard.h, whatever the annotations say besides the library.
// Method: the routine of such a call has for inputs what that header says, and the address of the function. Contract: external_inner.h.
// Complexity: linear in the scalars passed.
#include <string.h>

#include "frontend/external/external_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/text_values.h"

static void
push_input(Routine *routine, U32Vec *inputs, Expr value, bool real)
{
    vec_push(inputs, value);
    vec_push(&routine->real, real);
}

// The failure, then each argument as the number of its scalars and these; places of results.
static void
place_inputs(Passing *passing, Routine *routine, uint32_t failure, U32Vec *inputs)
{
    Exprs *exprs = passing->env->exprs;
    push_input(routine, inputs, expr_const(exprs, failure), false);
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        Pass *pass = &passing->passes.at[i];
        const Value *value = &pass->value;
        if (pass->kind == PASS_RESULT) {
            pass->out = passing->outputs;
            passing->outputs += value->count;
        }
        if (i == passing->returned)
            continue;
        double count = pass->kind == PASS_RESULT ? -(double)value->count : value->count;
        push_input(routine, inputs, expr_const(exprs, count), false);
        for (uint32_t k = 0; k < value->count; k++)
            push_input(routine, inputs, value->elements && value->elements[k] ? value->elements[k] : expr_const(exprs, 0),
                       value->type.base == TYPE_REAL && pass->kind == PASS_VALUE);
    }
    passing->inputs = inputs->n;
}

const mdl_standard *
external_standard(const Frame *frame, const Passing *passing)
{
    ExternalTexts libraries = {0};
    const mdl_standard *found = NULL;
    uint32_t arguments = passing->passes.n - (passing->returned >= 0);
    if (external_libraries(frame->env, frame->external_class, &libraries))
        for (uint32_t i = 0; i < libraries.n && !found; i++)
            found = passing->returned >= 0 && !strcmp(libraries.at[i], "lapack") ? NULL // a subroutine returns nothing
                : mdl_standard_find(passing->name, libraries.at[i]);
    vec_free(&libraries);
    return found && (uint32_t)found->arguments == arguments ? found : NULL;
}

// The address of a resource becomes the name of its file: packages are known while compiling only.
static void
find_resource(Passing *passing, const mdl_standard *standard)
{
    ExprEnv *env = passing->env;
    Pass *pass = passing->passes.n > 0 ? &passing->passes.at[0] : NULL;
    if (!pass || strcmp(standard->symbol, "mdl_standard_full_path") != 0 || !env->resource)
        return;
    for (uint32_t i = 0; i < passing->passes.n; i++)
        if (passing->passes.at[i].kind == PASS_VALUE)
            pass = &passing->passes.at[i];
    const char *address = external_literal(passing, pass);
    const char *path = address && !strncmp(address, "modelica://", 11) ? env->resource(env, address) : NULL;
    if (path)
        pass->value = text_value(env, path);
}

bool
external_call_standard(Frame *frame, Passing *passing, const mdl_standard *standard)
{
    ExprEnv *env = frame->env;
    U32Vec inputs = {0};
    const char *name = sym_text(env->syms, frame->function->full_name);
    find_resource(passing, standard);
    Routine *routine = routine_create(env->exprs, name, frame->span);
    place_inputs(passing, routine, site_add(env->exprs, arena_printf(env->arena, "'%s': \1s\2", name), frame->span) + 1, &inputs);
    text_needed(env->exprs);
    routine_cells(routine, passing->inputs);
    routine->inputs = passing->inputs;
    routine->outputs = passing->outputs ? passing->outputs : 1;
    routine->output = routine_cells(routine, routine->outputs);
    External external = {.symbol = standard->symbol, .code = "", .include = "", .builtin = true, .address = standard->code,
                         .objects = standard->effect || external_uses_objects(passing),
                         .makes = external_makes_object(passing) != NULL};
    routine_take_external(env->exprs, routine, &external);
    routine->complete = true;
    Expr call = routine_call(env->exprs, routine->number, inputs.at, inputs.n);
    bool good = external_take_results(frame, passing, call);
    vec_free(&inputs);
    return good;
}
