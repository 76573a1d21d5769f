// function_map.c: functions called with arrays where they take scalars: element by element.
//
// Purpose: f(v) for `input Real x` and a vector v is {f(v[1]), f(v[2]), ...} (Modelica 3.6, section 12.4.6).
// Method: an argument with more dimensions than its input is distributed over the leading ones; all arguments
// that are must agree in these, the others are the same in every call. Contract: function.h.
// Complexity: one execution per element.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

typedef struct Spread { // the dimensions a call is distributed over
    uint32_t rank, dims[MAX_RANK], count;
    bool *over;         // per variable of the function: its argument is
} Spread;

// Dimensions of an argument beyond those of its input.
static uint32_t
extra_rank(Frame *frame, const Variable *variable, const Value *value)
{
    Type base = {0};
    uint32_t own;
    bool known = function_named_type(frame->env, variable, &base, &own);
    return known && value->type.rank > own + base.rank ? value->type.rank - own - base.rank : 0;
}

static bool
add_argument(Frame *frame, Spread *spread, uint32_t i, Node node, const Value *value)
{
    ExprEnv *env = frame->env;
    uint32_t rank = extra_rank(frame, &frame->variables.at[i], value);
    if (!rank)
        return true;
    spread->over[i] = true;
    if (!spread->rank) {
        spread->rank = rank;
        memcpy(spread->dims, value->type.dims, rank * sizeof *spread->dims);
        for (uint32_t d = 0; d < rank; d++)
            spread->count *= spread->dims[d];
        return true;
    }
    if (rank == spread->rank && !memcmp(spread->dims, value->type.dims, rank * sizeof *spread->dims))
        return true;
    diag_add(env->diags, E0202, node_span(env, node),
             "'%s' is called element by element, but this argument has %s where "
             "another has other sizes", sym_text(env->syms, frame->function->full_name),
                 value_type_text(env, value));
    return false;
}

// Elements e of all arguments that are distributed; leading dimensions are contiguous blocks.
static void
take_elements(const Frame *frame, const Spread *spread, uint32_t e, const Value *values, Value *one)
{
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        one[i] = values[i];
        if (!spread->over[i])
            continue;
        const Type *type = &values[i].type;
        one[i].type = type_with_sizes(type, type->rank - spread->rank, type->dims + spread->rank);
        one[i].count = values[i].count / spread->count;
        one[i].elements = values[i].elements + (size_t)e * one[i].count;
    }
}

static bool
join_outputs(Frame *frame, const Spread *spread, Value *const *results, uint32_t k, Value *out)
{
    ExprEnv *env = frame->env;
    const Type *type = &results[0][k].type;
    uint32_t dims[2 * MAX_RANK];
    bool fits = spread->rank + type->rank <= MAX_RANK;
    for (uint32_t e = 1; fits && e < spread->count; e++)
        fits = type_same_sizes(type, &results[e][k].type);
    if (!fits) {
        diag_add(env->diags, E0202, frame->span,
                 "the results of '%s' for the elements of its arguments make no array",
                 sym_text(env->syms, frame->function->full_name));
        return false;
    }
    memcpy(dims, spread->dims, spread->rank * sizeof *dims);
    memcpy(dims + spread->rank, type->dims, type->rank * sizeof *dims);
    Type all = type_with_sizes(type, spread->rank + type->rank, dims);
    if (!value_new(env, &all, frame->span, out))
        return false;
    uint32_t block = results[0][k].count;
    for (uint32_t e = 0; block && e < spread->count; e++)
        memcpy(out->elements + (size_t)e * block, results[e][k].elements, block * sizeof *out->elements);
    return true;
}

enum { MANY = 16 }; // calls in a routine that share their code

static bool
call_each(Frame *frame, const Spread *spread, const Node *nodes, const Value *values, Value **outputs,
          uint32_t *n)
{
    Arena *arena = frame->env->arena;
    Value **results = arena_array(arena, Value *, spread->count);
    frame->many = frame->env->compile && spread->count > MANY;
    for (uint32_t e = 0; e < spread->count; e++) {
        Value *one = arena_array(arena, Value, frame->variables.n + 1);
        take_elements(frame, spread, e, values, one);
        if (!function_execute(frame, nodes, one, &results[e], n))
            return false;
    }
    *outputs = arena_array(arena, Value, *n + 1);
    for (uint32_t k = 0; k < *n; k++)
        if (!join_outputs(frame, spread, results, k, &(*outputs)[k]))
            return false;
    return true;
}

// Results of a call for no elements are empty; their types are those of the outputs, whose own sizes are not known.
static bool
call_none(Frame *frame, const Spread *spread, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    bool good = true;
    uint32_t own;
    *n = 0;
    *outputs = arena_array(env->arena, Value, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n && good; i++) {
        const Variable *variable = &frame->variables.at[i];
        Type type;
        if (!(variable->flags & AST_F_OUTPUT))
            continue;
        good = function_named_type(env, variable, &type, &own);
        type = type_with_sizes(&type, spread->rank, spread->dims);
        good = good && value_new(env, &type, frame->span, &(*outputs)[*n]);
        (*outputs)[(*n)++].unseen = true;
    }
    return good;
}

bool
function_map(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    Spread spread = {.count = 1, .over = arena_array(frame->env->arena, bool, frame->variables.n + 1)};
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (nodes[i] && !add_argument(frame, &spread, i, nodes[i], &values[i]))
            return false;
    if (!spread.rank)
        return function_execute(frame, nodes, values, outputs, n);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (!value_settled(frame->env, &values[i], frame->span))
            return false;
    if (!spread.count)
        return call_none(frame, &spread, outputs, n);
    return call_each(frame, &spread, nodes, values, outputs, n);
}
