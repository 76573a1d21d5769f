// function_declare.c: what functions declare: the variables and sections of a call's frame.
//
// Purpose: inputs, outputs and local variables of a function with those of its bases, in the order in which they get their values
// (Modelica 3.6, sections 12.2 and 12.4.4). Method: lines are gathered from the bases on, with the modifications of extends clauses and
// short classes as defaults; a variable follows those that its declaration names.
// Contract: expression_inner.h. Complexity: linear in the lines; quadratic in the variables of one function for their order.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/names/attribute.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

// --- declarations

static bool gather_class(Frame *frame, const FunctionRef *function, uint32_t depth);

// Inherited by two ways, or declared as it is inherited but for its comment (section 7.1): it is there once.
static bool
is_gathered(const Frame *frame, Node line, Node component)
{
    const Ast *ast = frame->env->ast;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        if (variable->component == component
            || (variable->name == ast_at(ast, component)->sym && ast_same(ast, variable->line, line, AST_COMPONENT)
                && ast_same(ast, variable->component, component, AST_NONE)))
            return true;
    }
    return false;
}

static void
gather_line(Frame *frame, Node line, void *scope)
{
    const Ast *ast = frame->env->ast;
    for (uint32_t i = 3; i < ast_at(ast, line)->nchild; i++) {
        Node component = ast_child(ast, line, i);
        if (ast_kind(ast, component) != AST_COMPONENT || is_gathered(frame, line, component))
            continue;
        Variable variable = {.name = ast_at(ast, component)->sym, .flags = ast_at(ast, line)->flags,
                             .line = line, .component = component, .scope = scope};
        // The inputs of a record's constructor are its fields, but for what nobody can change.
        Node mods = ast_child(ast, component, 1);
        bool set = mods && ast_kind(ast, mods) == AST_MODS && ast_child(ast, mods, 0);
        if (frame->record && !(set && (variable.flags & (AST_F_CONSTANT | AST_F_FINAL))))
            variable.flags |= AST_F_INPUT;
        vec_push(&frame->variables, variable);
    }
}

// `redeclare T x = e` of an inherited variable, which stays input or output and keeps sizes that the redeclaration does not write.
static bool
redeclare_variables(Frame *frame, Node line, void *scope, uint32_t first)
{
    ExprEnv *env = frame->env;
    for (uint32_t k = 3; k < ast_at(env->ast, line)->nchild; k++) {
        Node component = ast_child(env->ast, line, k);
        uint32_t at = first;
        while (at < frame->variables.n && frame->variables.at[at].name != ast_at(env->ast, component)->sym)
            at++;
        bool known = at < frame->variables.n;
        Variable *variable = known ? &frame->variables.at[at] : NULL;
        bool sized = known && (ast_child(env->ast, variable->component, 0) || ast_child(env->ast, variable->line, 1));
        if (!known || !(ast_at(env->ast, variable->line)->flags & AST_F_REPLACEABLE)) {
            diag_add(env->diags, known ? E0129 : E0103, node_span(env, component), known ? "'%s' is not replaceable" : "there is no '%s' to be redeclared",
                     sym_text(env->syms, ast_at(env->ast, component)->sym));
            return false;
        }
        if (sized && !ast_child(env->ast, component, 0) && !ast_child(env->ast, line, 1)) {
            diag_add(env->diags, E0721, node_span(env, component), "a redeclaration of an array in a function writes its sizes");
            return false;
        }
        variable->line = line;
        variable->component = component;
        variable->scope = scope;
        variable->value = 0;
    }
    return true;
}

// Attributes change nothing of what a call gives. *simple: there is nothing else inside the modification.
static bool
check_attributes(const Frame *frame, const Variable *variable, Node mods, bool *simple)
{
    ExprEnv *env = frame->env;
    Type type;
    void *scope = env->scope;
    if (ast_at(env->ast, mods)->nchild == 1)
        return true;
    env->scope = variable->scope;
    bool known = function_type(env, ast_child(env->ast, variable->line, 0), &type);
    env->scope = scope;
    *simple = known && type.base != TYPE_RECORD && type.base != TYPE_FUNCTION;
    for (uint32_t i = 1; *simple && i < ast_at(env->ast, mods)->nchild; i++) {
        Node mod = ast_child(env->ast, mods, i), name = ast_kind(env->ast, mod) == AST_MOD ? ast_child(env->ast, mod, 0) : 0;
        const char *text = name ? sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, name, 0))->sym) : "";
        if (attribute_known(type.base, text))
            continue;
        attribute_unknown(env->diags, node_span(env, mod), sym_text(env->syms, variable->name), type.base, text);
        return false;
    }
    return known;
}

// Defaults that a class gives to what it inherits: `extends f(k = 2)`, `record S = R(a = 1)`.
static bool
change_defaults(Frame *frame, Node modification, void *scope, uint32_t first)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 1; modification && i < ast_at(env->ast, modification)->nchild; i++) {
        Node mod = ast_child(env->ast, modification, i), name = ast_child(env->ast, mod, 0);
        if (ast_kind(env->ast, mod) == AST_REDECLARE && ast_kind(env->ast, name) == AST_COMPONENTS) {
            if (!redeclare_variables(frame, name, scope, first))
                return false;
            continue;
        }
        Node mods = ast_kind(env->ast, mod) == AST_MOD ? ast_child(env->ast, mod, 1) : 0;
        if (ast_kind(env->ast, mod) == AST_REDECLARE && ast_kind(env->ast, name) == AST_CLASS)
            continue; // the base has it already (special.c)
        bool named = mods && ast_at(env->ast, name)->nchild == 1, simple = named;
        uint32_t at = frame->variables.n;
        for (uint32_t k = first; named && k < frame->variables.n; k++)
            if (frame->variables.at[k].name == ast_at(env->ast, ast_child(env->ast, name, 0))->sym)
                at = k;
        if (named && at < frame->variables.n && !check_attributes(frame, &frame->variables.at[at], mods, &simple))
            return false;
        if (at < frame->variables.n && (ast_at(env->ast, frame->variables.at[at].line)->flags & AST_F_FINAL)) {
            diag_add(env->diags, E0109, node_span(env, mod), "'%s' is final and cannot be modified", sym_text(env->syms, frame->variables.at[at].name));
            return false;
        }
        if (!simple) {
            diag_add(env->diags, E0721, node_span(env, mod),
                     "this modification of an inherited function or record is not supported yet");
            return false;
        }
        if (at == frame->variables.n) {
            diag_add(env->diags, E0103, node_span(env, mod), "'%s' has no element '%s'",
                     sym_text(env->syms, frame->function->full_name), expression_text(env, name));
            return false;
        }
        if (!ast_child(env->ast, mods, 0))
            continue;
        frame->variables.at[at].value = ast_child(env->ast, mods, 0);
        frame->variables.at[at].value_scope = scope;
        if (frame->of) // it is another function then
            frame->of = frame->function;
    }
    return true;
}

static bool
gather_base(Frame *frame, Node name, Node modification, void *scope, uint32_t depth)
{
    ExprEnv *env = frame->env;
    FunctionRef base = {0};
    uint32_t first = frame->variables.n;
    return env->function(env, name, &base) && gather_class(frame, &base, depth + 1)
        && change_defaults(frame, modification, scope, first);
}

static bool
gather_elements(Frame *frame, Node section, void *scope, uint32_t depth)
{
    const Ast *ast = frame->env->ast;
    for (uint32_t i = 0; i < ast_at(ast, section)->nchild; i++) {
        Node element = ast_child(ast, section, i);
        if (ast_kind(ast, element) == AST_COMPONENTS)
            gather_line(frame, element, scope);
        else if (ast_kind(ast, element) == AST_EXTENDS
                 && !gather_base(frame, ast_child(ast, element, 0), ast_child(ast, element, 1), scope, depth))
            return false;
    }
    return true;
}

static bool
gather_body(Frame *frame, Node class_node, Node body, void *scope, uint32_t depth)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < ast_at(env->ast, body)->nchild; i++) {
        Node section = ast_child(env->ast, body, i);
        AstKind kind = ast_kind(env->ast, section);
        if ((kind == AST_PUBLIC || kind == AST_PROTECTED) && !gather_elements(frame, section, scope, depth))
            return false;
        if (frame->by.n && (kind == AST_ALGORITHM || kind == AST_EXTERNAL)) {
            Diag *diag = diag_add(env->diags, E0212, node_span(env, section), "'%s' extends a partial derivative, which has no statements that could be added to",
                                  sym_text(env->syms, frame->function->full_name));
            diag_help(diag, "write a function that calls '%s'", sym_text(env->syms, frame->of->full_name));
            return false;
        }
        if (kind == AST_ALGORITHM)
            vec_push(&frame->sections, (Section){section, scope});
        if (kind == AST_EXTERNAL) {
            frame->external = (Section){section, scope};
            frame->external_class = class_node;
        }
        if (kind == AST_EQUATIONS || kind == AST_ENERGY) {
            Diag *diag = diag_add(env->diags, E0212, frame->span, "'%s' is a function and cannot have equations",
                                  sym_text(env->syms, frame->function->full_name));
            diag_note(diag, node_span(env, section), "here");
            if (kind == AST_EQUATIONS)
                diag_help(diag, "a function has the section 'algorithm', in which its outputs are assigned: y := ...");
            return false;
        }
    }
    return true;
}

// `function g = der(f, x)`: what f declares (function_partial.c).
static bool
gather_partial(Frame *frame, Node body, uint32_t depth)
{
    FunctionRef of = {0};
    return frame->env->function(frame->env, ast_child(frame->env->ast, body, 0), &of) && gather_class(frame, &of, depth + 1)
        && function_gather_partial(frame, &of, body);
}

// Defaults that a modification of the class around gives, `extends P(f(k = 2))`.
static bool
take_defaults(Frame *frame, const FunctionRef *function, uint32_t first)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < function->n_defaults; i++) {
        const ChangedDefault *changed = &function->defaults[i];
        uint32_t at = first;
        while (at < frame->variables.n && frame->variables.at[at].name != changed->name)
            at++;
        if (at == frame->variables.n) {
            diag_add(env->diags, E0103, changed->span, "'%s' has no element '%s'", sym_text(env->syms, function->full_name),
                     sym_text(env->syms, changed->name));
            return false;
        }
        if (!changed->value)
            continue;
        frame->variables.at[at].value = changed->value;
        frame->variables.at[at].value_scope = changed->scope;
        if (frame->of) // it is another function then
            frame->of = frame->function;
    }
    return true;
}

static bool
gather_class(Frame *frame, const FunctionRef *function, uint32_t depth)
{
    ExprEnv *env = frame->env;
    uint32_t first = frame->variables.n;
    if (depth > CALL_LIMIT) {
        diag_add(env->diags, E0208, frame->span, "base classes of '%s' are nested more than %d deep",
                 sym_text(env->syms, frame->function->full_name), CALL_LIMIT);
        return false;
    }
    void *scope = env->scope;
    Node body = ast_child(env->ast, function->class_node, 1);
    ClassKind kind = (ClassKind)ast_at(env->ast, function->class_node)->kind_of;
    bool good = false;
    env->scope = function->scope;
    frame->record |= kind == CLASS_RECORD || kind == CLASS_OPERATOR_RECORD;
    Node base = ast_kind(env->ast, body) == AST_EXTENDBODY ? ast_child(env->ast, body, 0) : 0;
    if (base)
        good = gather_base(frame, ast_child(env->ast, base, 0), ast_child(env->ast, base, 1), function->scope, depth)
            && gather_body(frame, function->class_node, ast_child(env->ast, body, 1), function->scope, depth);
    else if (ast_kind(env->ast, body) == AST_BODY)
        good = gather_body(frame, function->class_node, body, function->scope, depth);
    else if (ast_kind(env->ast, body) == AST_SHORT)
        good = gather_base(frame, ast_child(env->ast, body, 0), ast_child(env->ast, body, 2),
                           function->around ? function->around : function->scope, depth);
    else
        good = gather_partial(frame, body, depth);
    env->scope = scope;
    return good && take_defaults(frame, function, first);
}

// --- types of variables

static bool
predefined_type(const char *name, Type *type)
{
    static const struct { const char *name; VarType base; } known[] = {
        {"Real", TYPE_REAL}, {"Integer", TYPE_INTEGER}, {"Boolean", TYPE_BOOLEAN}, {"String", TYPE_STRING},
    };
    for (uint32_t i = 0; i < 4; i++)
        if (!strcmp(name, known[i].name)) {
            *type = type_scalar(known[i].base);
            return true;
        }
    return false;
}

bool
function_type(ExprEnv *env, Node name, Type *type)
{
    Node ident = ast_child(env->ast, name, 0);
    if (ast_at(env->ast, name)->nchild == 1
        && predefined_type(sym_text(env->syms, ast_at(env->ast, ident)->sym), type))
        return true;
    if (env->function_type && env->function_type(env, name)) {
        *type = type_scalar(TYPE_FUNCTION);
        return true;
    }
    if (env->type)
        return env->type(env, name, type);
    diag_add(env->diags, E0721, node_span(env, name),
             "variables of this type are not supported in functions yet");
    return false;
}

// A size that is known at run time only: that of an input is what its argument has, and that of another variable is computed where `sizes` can
// take it.
static bool
changing_size(ExprEnv *env, Node node, bool input, uint32_t rank, uint32_t *room, Expr *size)
{
    Value value;
    DiagsMark mark = diags_mark(env->diags);
    bool good = (input || (size && env->flexible)) && expression(env, node, &value) && !value.type.rank && value.type.base == TYPE_INTEGER;
    diags_return_to(env->diags, mark);
    *room = SIZE_UNKNOWN;
    return good && (input || flexible_size(env, value.elements[0], rank, node_span(env, node), room, size));
}

static bool
append_sizes(ExprEnv *env, Node subscripts, bool input, uint32_t *dims, Expr *sizes, uint32_t *rank)
{
    for (uint32_t i = 0; subscripts && i < ast_at(env->ast, subscripts)->nchild; i++) {
        Node size = ast_child(env->ast, subscripts, i);
        int64_t value = SIZE_UNKNOWN;
        if (*rank == MAX_RANK) {
            diag_add(env->diags, E0202, node_span(env, subscripts), "arrays have at most %d dimensions",
                     MAX_RANK);
            return false;
        }
        if (ast_kind(env->ast, size) != AST_COLON) {
            DiagsMark mark = diags_mark(env->diags);
            bool run_time = env->at_run_time;
            if (!expression_integer(env, size, &value)) {
                if (!changing_size(env, size, input, ast_at(env->ast, subscripts)->nchild, &dims[*rank], sizes ? &sizes[*rank] : NULL))
                    return false;
                diags_return_to(env->diags, mark);
                env->at_run_time = run_time;
                ++*rank;
                continue;
            }
            if (value < 0 || value > ELEMENT_LIMIT) {
                diag_add(env->diags, E0214, node_span(env, size), "%lld is not a usable size",
                         (long long)value);
                return false;
            }
        }
        dims[(*rank)++] = (uint32_t)value;
    }
    return true;
}

bool
function_named_type(ExprEnv *env, const Variable *variable, Type *type, uint32_t *own)
{
    Node lists[] = {ast_child(env->ast, variable->component, 0), ast_child(env->ast, variable->line, 1)};
    void *scope = env->scope;
    env->scope = variable->scope;
    bool good = function_type(env, ast_child(env->ast, variable->line, 0), type);
    env->scope = scope;
    *own = 0;
    for (uint32_t i = 0; i < 2; i++)
        *own += lists[i] ? ast_at(env->ast, lists[i])->nchild : 0;
    return good;
}

bool
function_variable_type(ExprEnv *env, const Variable *variable, Type *type)
{
    return function_flexible_type(env, variable, type, NULL);
}

bool
function_flexible_type(ExprEnv *env, const Variable *variable, Type *type, Expr *sizes)
{
    uint32_t dims[2 * MAX_RANK], rank = 0;
    bool input = variable->flags & AST_F_INPUT;
    Type base = {0};
    if (!function_type(env, ast_child(env->ast, variable->line, 0), &base)
        || !append_sizes(env, ast_child(env->ast, variable->component, 0), input, dims, sizes, &rank)
        || !append_sizes(env, ast_child(env->ast, variable->line, 1), input, dims, sizes, &rank))
        return false;
    if (rank + base.rank > MAX_RANK) {
        diag_add(env->diags, E0721, node_span(env, variable->component),
                 "a variable of this shape is not supported yet");
        return false;
    }
    memcpy(dims + rank, base.dims, base.rank * sizeof *dims);
    *type = type_with_sizes(&base, rank + base.rank, dims);
    return true;
}

// --- the order in which variables get their values

// Whether an expression names one of the variables that have no place yet: an input, or another one.
static bool
waits_for(const Frame *frame, Node root, const bool *placed, uint32_t self, bool inputs)
{
    const Ast *ast = frame->env->ast;
    U32Vec open = {0};
    bool waits = false;
    if (root)
        vec_push(&open, root);
    while (open.n && !waits) {
        Node node = vec_pop(&open);
        if (ast_kind(ast, node) == AST_REF && ast_child(ast, node, 0))
            for (uint32_t i = 0; i < frame->variables.n && !waits; i++)
                waits = i != self && !placed[i] && inputs == !!(frame->variables.at[i].flags & AST_F_INPUT)
                     && frame->variables.at[i].name == ast_at(ast, ast_child(ast, node, 0))->sym;
        for (uint32_t i = 0; i < ast_at(ast, node)->nchild; i++)
            if (ast_child(ast, node, i))
                vec_push(&open, ast_child(ast, node, i));
    }
    vec_free(&open);
    return waits;
}

// `output R r(a = {x, y})`: what the fields of a record begin with, besides a value as a whole.
static bool
fields_wait(const Frame *frame, const bool *placed, uint32_t i)
{
    const Ast *ast = frame->env->ast;
    Node mods = ast_child(ast, frame->variables.at[i].component, 1);
    bool waits = false;
    for (uint32_t k = 1; mods && k < ast_at(ast, mods)->nchild && !waits; k++)
        waits = waits_for(frame, ast_child(ast, mods, k), placed, i, false);
    return waits;
}

static bool
may_follow(const Frame *frame, const bool *placed, uint32_t i)
{
    const Variable *variable = &frame->variables.at[i];
    const uint32_t signs = AST_F_INPUT | AST_F_OUTPUT;
    for (uint32_t k = 0; k < i && (variable->flags & signs); k++) // arguments and results keep their places
        if (!placed[k] && (frame->variables.at[k].flags & variable->flags & signs))
            return false;
    return (variable->flags & AST_F_INPUT)
        || (!waits_for(frame, function_default(frame->env, variable), placed, i, false)
            && !waits_for(frame, ast_child(frame->env->ast, variable->component, 0), placed, i, false) && !fields_wait(frame, placed, i));
}

// A variable whose value or size uses another one follows it, wherever they are declared (section 12.4.4). The fields of a
// record stay as they are.
void
function_order_variables(Frame *frame)
{
    uint32_t n = frame->variables.n, done = 0;
    Arena *arena = frame->env->arena;
    bool *placed = arena_array(arena, bool, n + 1), moved = false;
    Variable *ordered = arena_array(arena, Variable, n + 1);
    while (done < n && !frame->record) {
        uint32_t before = done, first = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (placed[i] || !may_follow(frame, placed, i))
                continue;
            placed[i] = true;
            moved |= i != done;
            ordered[done++] = frame->variables.at[i];
        }
        while (done == before && placed[first])
            first++;
        if (done == before) { // they wait for each other: the first one says so
            placed[first] = true;
            ordered[done++] = frame->variables.at[first];
        }
    }
    if (moved)
        memcpy(frame->variables.at, ordered, n * sizeof *ordered);
}

static bool
input_ready(const Frame *frame, const Node *nodes, const bool *placed, uint32_t i)
{
    const Variable *variable = &frame->variables.at[i];
    Node value = nodes[i] ? 0 : function_default(frame->env, variable);
    return !value || variable->value || !waits_for(frame, value, placed, i, true); // a value from outside names nothing inside
}

bool
function_order_inputs(const Frame *frame, const Node *nodes, uint32_t *order, uint32_t *n)
{
    bool *placed = arena_array(frame->env->arena, bool, frame->variables.n + 1), more = true;
    uint32_t waiting = 0;
    *n = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        placed[i] = nodes[i] != 0; // its value is there already
    for (uint32_t round = 0; more; round++) {
        more = false;
        waiting = NONE;
        for (uint32_t i = 0; i < frame->variables.n; i++) {
            bool input = frame->variables.at[i].flags & AST_F_INPUT, done = !input || (nodes[i] ? round > 0 : placed[i]);
            if (done)
                continue;
            if (!input_ready(frame, nodes, placed, i)) {
                waiting = waiting == NONE ? i : waiting;
                continue;
            }
            placed[i] = more = true;
            order[(*n)++] = i;
        }
    }
    if (waiting != NONE)
        diag_add(frame->env->diags, E0212, node_span(frame->env, frame->variables.at[waiting].component),
                 "the default value of input '%s' of '%s' depends on itself", sym_text(frame->env->syms, frame->variables.at[waiting].name),
                 sym_text(frame->env->syms, frame->function->full_name));
    return waiting == NONE;
}

// --- the frame

bool
function_gather(Frame *frame)
{
    return gather_class(frame, frame->function, 0);
}

void
function_release(Frame *frame)
{
    vec_free(&frame->by);
    vec_free(&frame->variables);
    vec_free(&frame->sections);
    vec_free(&frame->exits);
}
