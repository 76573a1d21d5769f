// function_fits.c: whether a function is what a functional input asks for.
//
// Purpose: a function that is an argument has the inputs and outputs of the type of the input: the same names in the same order, the
// same types and numbers of dimensions; inputs it has besides are bound or have values (Modelica 3.6, sections 6.6 and 12.4.2).
// Method: both are compared as declared, one input or output after the other. Contract: function.h.
// Complexity: linear in the variables of both.
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

typedef struct Shape { // of a variable as it is declared
    Type type;
    uint32_t rank;
} Shape;

static bool
shape_of(ExprEnv *env, const Variable *variable, Shape *shape)
{
    Node own = ast_child(env->ast, variable->component, 0), of_line = ast_child(env->ast, variable->line, 1);
    env->scope = variable->scope;
    if (!function_type(env, ast_child(env->ast, variable->line, 0), &shape->type))
        return false;
    shape->rank = shape->type.rank + (own ? ast_at(env->ast, own)->nchild : 0) + (of_line ? ast_at(env->ast, of_line)->nchild : 0);
    return true;
}

// The next variable from *at on with this prefix that is not bound, or NULL.
static const Variable *
next_variable(const Frame *frame, uint32_t flag, uint32_t *at)
{
    while (*at < frame->variables.n) {
        const Variable *variable = &frame->variables.at[(*at)++];
        if (variable->flags & flag && !variable->bound)
            return variable;
    }
    return NULL;
}

static bool
refuse(const Frame *wanted, const Frame *given, const Variable *variable, const char *why)
{
    ExprEnv *env = given->env;
    Diag *diag = diag_add(env->diags, E0203, given->span, "'%s' cannot be given here, where a function like '%s' is asked for: %s",
                          sym_text(env->syms, given->function->full_name), sym_text(env->syms, wanted->function->full_name), why);
    diag_note(diag, node_span(env, variable->component), "declared here");
    return false;
}

static bool
same_variable(const Frame *wanted, const Frame *given, const Variable *asked, const Variable *has, const char *sign)
{
    ExprEnv *env = given->env;
    Shape a, b;
    const char *name = sym_text(env->syms, asked->name);
    if (!has)
        return refuse(wanted, given, asked, arena_printf(env->arena, "it has no %s '%s'", sign, name));
    if (asked->flags & AST_F_INPUT && asked->name != has->name)
        return refuse(wanted, given, has, arena_printf(env->arena, "'%s' stands where the input '%s' is asked for",
                                                       sym_text(env->syms, has->name), name));
    if (!shape_of(env, asked, &a) || !shape_of(env, has, &b))
        return false;
    // An Integer is taken where a Real is asked for, and not the other way round.
    VarType from = asked->flags & AST_F_INPUT ? a.type.base : b.type.base, to = asked->flags & AST_F_INPUT ? b.type.base : a.type.base;
    bool same = type_same_class(&a.type, &b.type) || (from == TYPE_INTEGER && to == TYPE_REAL);
    return (same && a.rank == b.rank) || refuse(wanted, given, has, arena_printf(env->arena, "its %s '%s' has another type", sign,
                                                                                sym_text(env->syms, has->name)));
}

static bool
compare(const Frame *wanted, const Frame *given)
{
    static const struct { uint32_t flag; const char *text; } sign[] = {{AST_F_INPUT, "input"}, {AST_F_OUTPUT, "output"}};
    ExprEnv *env = given->env;
    for (uint32_t s = 0; s < 2; s++) {
        uint32_t i = 0, k = 0;
        const Variable *asked, *more;
        while ((asked = next_variable(wanted, sign[s].flag, &i)))
            if (!same_variable(wanted, given, asked, next_variable(given, sign[s].flag, &k), sign[s].text))
                return false;
        while (!s && (more = next_variable(given, AST_F_INPUT, &k)))
            if (!function_default(env, more))
                return refuse(wanted, given, more, arena_printf(env->arena, "its input '%s' has no value",
                                                                sym_text(env->syms, more->name)));
    }
    return true;
}

bool
function_fits(ExprEnv *env, const Variable *input, const Closure *closure, Span span)
{
    FunctionRef type = {0};
    void *scope = env->scope;
    env->scope = input->scope;
    bool good = env->function(env, ast_child(env->ast, input->line, 0), &type);
    Frame wanted = {.env = env, .function = &type, .span = span}, given = {.env = env, .function = &closure->function, .span = span};
    good = good && function_gather(&wanted) && function_gather(&given);
    for (uint32_t k = 0; good && k < closure->n; k++)
        for (uint32_t i = 0; i < given.variables.n; i++)
            if (given.variables.at[i].name == closure->names[k])
                given.variables.at[i].bound = true;
    good = good && compare(&wanted, &given);
    function_release(&wanted);
    function_release(&given);
    env->scope = scope;
    return good;
}
