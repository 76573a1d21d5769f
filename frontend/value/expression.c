// expression.c: expressions: from syntax tree to shapes.
//
// Purpose: types, sizes and elements of every kind of expression (Modelica 3.6, chapters 3, 10 and 12).
// Method: one walk over the tree; variables become slots by first occurrence; scalars are hash-consed
// at once, arrays are their scalars in row-major order. Families of constructs live in files of their own.
// Contract: expression.h. Complexity: linear in nodes plus scalar operations of the results.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

Span
node_span(const ExprEnv *env, Node node)
{
    return ast_at(env->ast, node)->span;
}

bool
expression_enter(ExprEnv *env, Span span)
{
    if (env->nesting >= NESTING_LIMIT) {
        diag_add(env->diags, E0004, span, "expressions and function calls are nested more than %d deep",
                 NESTING_LIMIT);
        return false;
    }
    env->nesting++;
    return true;
}

Expr
expression_slot(ExprEnv *env, Var var)
{
    uint32_t slot;
    double value = NAN;
    if (env->compile && env->in_function) { // slots are cells: constants of packages are numbers
        env->value(env, var, &value, (Span){0});
        return expr_const(env->exprs, value);
    }
    // The elements of one array have numbers in a row, and so have their slots.
    slot = env->slots->n ? var - env->slots->at[0] : 0;
    bool known = slot < env->slots->n && env->slots->at[slot] == var;
    known = known || (map_get(env->slot_of, var, &slot) && slot < env->slots->n && env->slots->at[slot] == var);
    if (!known) {
        slot = env->slots->n;
        vec_push(env->slots, var);
        map_put(env->slot_of, var, slot);
    }
    return expr_slot(env->exprs, slot);
}

// --- references

// Whether a name leads to a variable that is there: of a component that an algorithm section assigns variables of, the others are the model's.
static bool
leads_inside(const ExprEnv *env, const Type *type, Node ref)
{
    const AstNode *at = ast_at(env->ast, ref);
    for (uint32_t part = 1; type->base == TYPE_RECORD && type->record->partial; part++) {
        const RecordField *field = NULL;
        for (uint32_t i = 0; i < type->record->n && part < at->nchild && !field; i++)
            if (type->record->fields[i].name == ast_at(env->ast, ast_child(env->ast, ref, part))->sym)
                field = &type->record->fields[i];
        if (!field)
            return false;
        type = &field->type;
    }
    return true;
}

int64_t
expression_local(const ExprEnv *env, Node ref)
{
    const AstNode *at = ast_at(env->ast, ref);
    Node part = ast_child(env->ast, ref, 0);
    if (at->kind != AST_REF || !part || (at->flags & AST_F_DOT))
        return -1;
    Sym name = ast_at(env->ast, part)->sym;
    for (uint32_t i = env->locals.n; i-- > 0;)
        if (env->locals.at[i].name == name && leads_inside(env, &env->locals.at[i].value.type, ref))
            return i;
    return -1;
}

static bool
is_no_number(const ExprEnv *env, Expr e)
{
    return e && expr_op(env->exprs, e) == OP_CONST && isnan(expr_value(env->exprs, e));
}

static bool
is_open(const ExprEnv *env, const Value *value, uint32_t i)
{
    return !value->elements[i] || is_no_number(env, value->elements[i]);
}

// An argument has no value inside either.
static void
leave_open(ExprEnv *env, Value *value)
{
    Expr *elements = arena_array(env->arena, Expr, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        elements[i] = is_open(env, value, i) ? expr_const(env->exprs, NAN) : value->elements[i];
    value->elements = elements;
}

static bool
check_assigned(ExprEnv *env, Value *value, Node node)
{
    if (env->sizes_only || (value->type.base == TYPE_RECORD && record_fill(env, value)))
        return true;
    if (env->argument == node && value->elements) {
        leave_open(env, value);
        return true;
    }
    for (uint32_t i = 0; i < value->count; i++)
        if (is_open(env, value, i)) {
            // A call finds out where it runs (routine_unset.c); what was computed to be no number is a value there.
            env->at_run_time |= env->some_assigned || env->guard || is_no_number(env, value->elements[i]);
            diag_add(env->diags, E0207, node_span(env, node), "'%s' is read before it has a value",
                     expression_text(env, node));
            return false;
        }
    return true;
}

static bool
local_reference(ExprEnv *env, Node node, uint32_t local, Value *out)
{
    const Local *found = &env->locals.at[local];
    bool parts = ast_at(env->ast, node)->nchild > 1;
    Node subscripts = ast_child(env->ast, ast_child(env->ast, node, 0), 0);
    Value whole = found->value;
    for (uint32_t i = 0; i < whole.type.rank; i++)
        if (whole.type.dims[i] == SIZE_UNKNOWN) {
            diag_add(env->diags, E0207, node_span(env, node), "'%s' is read before its size is known",
                     expression_text(env, node));
            return false;
        }
    if (!subscripts && !parts) {
        *out = whole;
        return check_assigned(env, out, node);
    }
    env->limits = whole.sizes;
    bool good = path_value(env, &whole, node, 0, out);
    env->limits = NULL;
    if (!good)
        return false;
    return check_assigned(env, out, node);
}

bool
expression_is_time(const ExprEnv *env, Node ref)
{
    Node part = ast_child(env->ast, ref, 0);
    return ast_at(env->ast, ref)->nchild == 1 && !ast_child(env->ast, part, 0)
        && !strcmp(sym_text(env->syms, ast_at(env->ast, part)->sym), "time");
}

static bool
plain_reference(ExprEnv *env, Node node, void *context, Value *out)
{
    (void)context;
    int64_t local = expression_local(env, node);
    if (local >= 0)
        return local_reference(env, node, (uint32_t)local, out);
    if (expression_is_time(env, node)) {
        if (env->in_function) {
            diag_add(env->diags, E0119, node_span(env, node), "a function cannot use 'time'; make it an input");
            return false;
        }
        *out = value_scalar(env, TYPE_REAL, expr_time(env->exprs));
        return true;
    }
    Reference reference = {0};
    if (!env->component(env, node, &reference))
        return false;
    if (reference.value) {
        *out = *reference.value;
        for (uint32_t i = 0; reference.vars && i < out->count; i++)
            if (expr_value(env->exprs, out->elements[i]) != 0)
                out->elements[i] = expression_slot(env, reference.vars[i]);
        return true;
    }
    if (!value_new(env, &reference.type, node_span(env, node), out))
        return false;
    bool whole = env->sizes_only && expression_is_name(env, node); // what its elements are is not asked
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = whole ? expr_const(env->exprs, 0) : expression_slot(env, reference.vars[i]);
    return true;
}

static bool
reference_value(ExprEnv *env, Node node, Value *out)
{
    return pick_reference(env, node, plain_reference, NULL, out);
}

static bool
end_value(ExprEnv *env, Node node, Value *out)
{
    Sym end = sym_of(env->syms, "end");
    for (uint32_t i = env->locals.n; i-- > 0;)
        if (env->locals.at[i].name == end) {
            *out = env->locals.at[i].value;
            return true;
        }
    diag_add(env->diags, E0216, node_span(env, node),
             "'end' has a meaning only inside the subscripts of an array");
    return false;
}

// --- scalars

bool
expression_scalar(ExprEnv *env, Node node, VarType base, const char *what, Value *out)
{
    Type type = type_scalar(base);
    return expression(env, node, out) && expression_coerce(env, out, &type, node_span(env, node), what);
}

static bool
number_value(ExprEnv *env, Node node, Value *out)
{
    const double exact = 0x1p53; // whole numbers are kept as doubles
    bool integer = ast_at(env->ast, node)->flags & AST_F_INTEGER;
    double value = ast_number(env->ast, node);
    *out = value_scalar(env, integer ? TYPE_INTEGER : TYPE_REAL, expr_const(env->exprs, value));
    if (!integer || value < exact)
        return true;
    Diag *diag = diag_add(env->diags, E0215, node_span(env, node), "this Integer is too large: it has to be below 2^53 = %.0f", exact);
    diag_help(diag, "a number with a point is a Real");
    return false;
}

static bool
unary_value(ExprEnv *env, Node node, Value *out)
{
    Value operand;
    return expression_flexible(env, ast_child(env->ast, node, 0), &operand)
        && operator_unary(env, (AstOp)ast_at(env->ast, node)->kind_of, &operand, node_span(env, node), out);
}

// --- if-expressions

typedef struct IfParts {
    VEC(Expr) conditions;
    VEC(Value) values;
    U32Vec nodes;
} IfParts;

// Some branch has a size that is known at run time only.
static bool
flexible_branches(const ExprEnv *env, const IfParts *parts)
{
    bool any = env->flexible;
    for (uint32_t i = 0; i < parts->values.n; i++)
        any |= parts->values.at[i].sizes != NULL;
    return any;
}

// Branches of different sizes: the result has that of the one that is chosen.
static bool
flexible_merge(ExprEnv *env, Node node, IfParts *parts, const Type *type, Value *out)
{
    Value rest = vec_last(&parts->values);
    for (uint32_t k = parts->values.n - 1; k-- > 0;) {
        Value here = parts->values.at[k], all;
        Expr condition = parts->conditions.at[k];
        if (!flexible_choose(env, condition, &here, &rest, node_span(env, node)) || !value_new(env, &here.type, node_span(env, node), &all))
            return false;
        for (uint32_t i = 0; i < all.count; i++)
            all.elements[i] = expr_3(env->exprs, OP_IF, condition, here.elements[i], rest.elements[i]);
        all.sizes = here.sizes;
        rest = all;
    }
    *out = rest;
    out->type.base = type->base;
    return true;
}

static bool
same_branch_types(ExprEnv *env, Node node, IfParts *parts, Type *type)
{
    *type = parts->values.at[0].type;
    for (uint32_t i = 1; i < parts->values.n; i++) {
        const Value *other = &parts->values.at[i];
        bool numbers = type_is_number(type) && type_is_number(&other->type);
        bool same = type_same_class(type, &other->type);
        bool sizes = type_same_sizes(type, &other->type) || (type->rank == other->type.rank && flexible_branches(env, parts));
        if ((numbers || same) && sizes) {
            if (other->type.base == TYPE_REAL)
                type->base = TYPE_REAL;
            continue;
        }
        Diag *diag = diag_add(env->diags, sizes ? E0201 : E0202, node_span(env, node),
                              "the branches of this if-expression have different types: %s and %s",
                              type_text(env->arena, env->syms, type), value_type_text(env, other));
        diag_note(diag, node_span(env, parts->nodes.at[i]), "this branch has type %s",
                  value_type_text(env, other));
        return false;
    }
    return true;
}

// A condition that depends on loop indices and sizes only (see ExprEnv.literal) is decided, so that
// `if i == 1 then a else x[i - 1]` never looks at x[0].
void
expression_decide(ExprEnv *env, Value *condition)
{
    Expr e = condition->elements[0];
    uint32_t n = expr_nslots(env->exprs, e);
    if (!env->literal || !n || expr_has_op(env->exprs, e, OP_TIME))
        return;
    // Of a table there is a condition for each row, and each has few of the slots.
    F64Vec values = {0};
    U32Vec used = {0};
    bool known = true;
    vec_reserve(&values, n);
    expr_used_slots(env->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && known; i++) {
        uint32_t slot = env->slots->at[used.at[i]];
        known = slot != BOUND_VARIABLE && env->literal(env, slot, &values.at[used.at[i]]);
    }
    double value = known ? expr_eval(env->exprs, e, values.at, 0) : NAN;
    if (value == value)
        condition->elements[0] = expr_const(env->exprs, value);
    vec_free(&values);
    vec_free(&used);
}

// The type that the text of a branch alone tells; false when it takes more to know it.
static bool
obvious_type(const ExprEnv *env, Node node, VarType *base)
{
    const AstNode *at = ast_at(env->ast, node);
    bool logical = at->kind == AST_BINARY && at->kind_of >= AOP_LT;
    *base = at->kind == AST_STRING ? TYPE_STRING : at->kind == AST_NUMBER ? TYPE_REAL : TYPE_BOOLEAN;
    return at->kind == AST_STRING || at->kind == AST_NUMBER || at->kind == AST_BOOL || logical;
}

// Branches that are dropped are not elaborated, because what they say may make no sense there; what their text tells must
// fit nevertheless.
static bool
check_dropped(ExprEnv *env, Node node, const IfParts *parts)
{
    if (!parts->values.n)
        return true;
    const Type *type = &parts->values.at[0].type;
    for (uint32_t i = 0; i < ast_at(env->ast, node)->nchild; i++) {
        bool last = i + 1 == ast_at(env->ast, node)->nchild;
        Node branch = ast_child(env->ast, node, i);
        VarType base;
        if ((!last && i % 2 == 0) || !obvious_type(env, branch, &base))
            continue;
        if (type->base == base || (base == TYPE_REAL && type_is_number(type)))
            continue;
        const Type other = type_scalar(base);
        Diag *diag = diag_add(env->diags, E0201, node_span(env, node),
                              "the branches of this if-expression have different types: %s and %s",
                              type_text(env->arena, env->syms, type), type_text(env->arena, env->syms, &other));
        diag_note(diag, node_span(env, branch), "this branch has type %s", type_text(env->arena, env->syms, &other));
        return false;
    }
    return true;
}

static Expr
also(ExprEnv *env, Expr guard, Expr condition)
{
    return guard ? expr_2(env->exprs, OP_AND, guard, condition) : condition;
}

// Conditions known at compile time select their branch or drop it. While a branch is elaborated env->guard says where it is reached.
static bool
if_collect(ExprEnv *env, Node node, IfParts *parts)
{
    Expr reached = env->guard;
    uint32_t n = ast_at(env->ast, node)->nchild;
    for (uint32_t i = 0; i < n; i += 2) {
        bool last = i + 1 >= n, taken = last;
        if (!last) {
            Value condition;
            if (!expression_scalar(env, ast_child(env->ast, node, i), TYPE_BOOLEAN, "the condition",
                                   &condition))
                return false;
            expression_decide(env, &condition);
            bool known = value_known(env, &condition);
            if (known && value_number(env, &condition, 0) == 0)
                continue;
            taken = known;
            if (!known) {
                vec_push(&parts->conditions, condition.elements[0]);
                env->guard = also(env, reached, condition.elements[0]);
                reached = also(env, reached, expr_1(env->exprs, OP_NOT, condition.elements[0]));
            }
        }
        Node branch = ast_child(env->ast, node, last ? i : i + 1);
        Value value;
        if (!expression_flexible(env, branch, &value))
            return false;
        env->guard = reached;
        vec_push(&parts->values, value);
        vec_push(&parts->nodes, branch);
        if (taken)
            return true;
    }
    diag_add(env->diags, E0216, node_span(env, node), "an if-expression needs an else branch");
    return false;
}

static bool
if_merge(ExprEnv *env, Node node, IfParts *parts, Value *out)
{
    uint32_t last = parts->values.n - 1;
    if (last == 0) {
        *out = parts->values.at[0];
        return true;
    }
    Type type;
    if (!same_branch_types(env, node, parts, &type))
        return false;
    for (uint32_t i = 0; i <= last; i++)
        if (parts->values.at[i].sizes || !type_same_sizes(&type, &parts->values.at[i].type))
            return flexible_merge(env, node, parts, &type, out);
    if (!value_new(env, &type, node_span(env, node), out))
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr e = parts->values.at[last].elements[i];
        for (uint32_t k = last; k-- > 0;)
            e = expr_3(env->exprs, OP_IF, parts->conditions.at[k], parts->values.at[k].elements[i], e);
        out->elements[i] = e;
    }
    return true;
}

static bool
if_value(ExprEnv *env, Node node, Value *out)
{
    IfParts parts = {0};
    Expr guard = env->guard;
    bool good = if_collect(env, node, &parts);
    env->guard = guard;
    good = good && if_merge(env, node, &parts, out) && check_dropped(env, node, &parts);
    vec_free(&parts.conditions);
    vec_free(&parts.values);
    vec_free(&parts.nodes);
    return good;
}

// --- the walk

// E(i): the i-th value of the enumeration E (section 4.9.5.3).
static bool
enumeration_value(ExprEnv *env, Node node, const Type *type, Value *out)
{
    Node args = ast_child(env->ast, node, 1), arg = ast_child(env->ast, args, 0);
    Value index;
    if (!args || ast_at(env->ast, args)->nchild != 1 || ast_kind(env->ast, arg) == AST_ARG
        || ast_kind(env->ast, arg) == AST_FUNCARG) {
        diag_add(env->diags, E0203, node_span(env, node), "'%s' is an enumeration: it takes one Integer",
                 sym_text(env->syms, type->enum_class));
        return false;
    }
    if (!expression_scalar(env, arg, TYPE_INTEGER, "the index of an enumeration value", &index))
        return false;
    bool known = value_known(env, &index);
    double k = known ? value_number(env, &index, 0) : 1;
    if (k < 1 || k > type->n_literals) {
        diag_add(env->diags, E0206, node_span(env, arg), "'%s' has %u values, there is none of index %.0f",
                 sym_text(env->syms, type->enum_class), type->n_literals, k);
        return false;
    }
    if (!known) { // fails where there is none
        const char *text = arena_printf(env->arena, "'%s' has %u values, there is none of index \1d\2",
                                        sym_text(env->syms, type->enum_class), type->n_literals);
        Expr checked = pick_checked(env, index.elements[0], type->n_literals, text, node_span(env, arg));
        index = value_scalar(env, TYPE_INTEGER, expr_2(env->exprs, OP_ADD, checked, expr_const(env->exprs, 1)));
    }
    index.type = *type;
    *out = index;
    return true;
}

static bool
call_value(ExprEnv *env, Node node, Value *out)
{
    Node ref = ast_child(env->ast, node, 0), part = ast_child(env->ast, ref, 0);
    const Builtin *builtin = builtin_called(env, ref);
    if (builtin && builtin->run != builtin_string && builtin_results(builtin) == 1) // which records may have of their own
        return builtin_call(env, builtin, node, out);
    if (env->graph && ast_at(env->ast, ref)->nchild == 2
        && !strcmp(sym_text(env->syms, ast_at(env->ast, part)->sym), "Connections"))
        return env->graph(env, node, out);
    Type type;
    if (env->enumeration && env->enumeration(env, ref, &type))
        return enumeration_value(env, node, &type, out);
    return env->calls->call(env, node, out);
}

static bool
indexed_value(ExprEnv *env, Node node, Value *out)
{
    Value whole;
    return expression(env, ast_child(env->ast, node, 0), &whole)
        && subscript_value(env, &whole, ast_child(env->ast, node, 1), out);
}

static bool
field_of_expression(ExprEnv *env, Node node, Value *out)
{
    Value whole;
    if (!expression(env, ast_child(env->ast, node, 0), &whole))
        return false;
    if (whole.type.base == TYPE_STRING) {
        diag_add(env->diags, E0101, node_span(env, node), "a value of type String has no fields");
        return false;
    }
    return field_value(env, &whole, ast_at(env->ast, node)->sym, node_span(env, node), out);
}

static bool
refuse_node(ExprEnv *env, Node node)
{
    const AstNode *at = ast_at(env->ast, node);
    if (at->kind == AST_UNSET)
        diag_add(env->diags, E0216, at->span, "'break' takes the value of an element away; it is no value itself");
    else if (at->kind == AST_TUPLE)
        diag_add(env->diags, E0216, at->span,
                 "a list of several values in parentheses can only stand on the left of '='");
    else if (!(at->flags & AST_F_ERROR) || !diags_errors(env->diags))
        diag_add(env->diags, E0216, at->span, "an expression is needed here");
    return false;
}

static bool
node_value(ExprEnv *env, Node node, Value *out)
{
    const AstNode *at = ast_at(env->ast, node);
    switch ((AstKind)at->kind) {
    case AST_NUMBER:
        return number_value(env, node, out);
    case AST_STRING:
        *out = text_value(env, sym_text(env->syms, at->sym));
        return true;
    case AST_BOOL:
        *out = value_scalar(env, TYPE_BOOLEAN, expr_const(env->exprs, !!(at->flags & AST_F_TRUE)));
        return true;
    case AST_REF: return reference_value(env, node, out);
    case AST_END: return end_value(env, node, out);
    case AST_UNARY: return unary_value(env, node, out);
    case AST_BINARY: return expression_binary(env, node, out);
    case AST_IFEXPR: return if_value(env, node, out);
    case AST_RANGE: return array_range(env, node, out);
    case AST_CALL: return call_value(env, node, out);
    case AST_ARRAY: return array_braces(env, node, out);
    case AST_MATRIX: return array_matrix(env, node, out);
    case AST_NUMBERS: return array_numbers(env, node, out);
    case AST_INDEXED: return indexed_value(env, node, out);
    case AST_MEMBER: return field_of_expression(env, node, out);
    default: return refuse_node(env, node);
    }
}

bool
expression_flexible(ExprEnv *env, Node node, Value *out)
{
    if (!expression_enter(env, node_span(env, node)))
        return false;
    bool good = node_value(env, node, out);
    expression_leave(env);
    return good;
}

bool
expression(ExprEnv *env, Node node, Value *out)
{
    return expression_flexible(env, node, out) && (!out->sizes || value_settled(env, out, node_span(env, node)));
}

// --- equations

static bool
sides_fit(ExprEnv *env, const Value *left, const Value *right, Span span)
{
    bool numbers = type_is_number(&left->type) && type_is_number(&right->type);
    bool same = type_same_class(&left->type, &right->type);
    bool sizes = type_same_sizes(&left->type, &right->type);
    if ((numbers || same) && sizes)
        return true;
    Diag *diag = diag_add(env->diags, numbers || same ? E0202 : E0201, span,
                          "the left side has type %s, but the right side has type %s",
                              value_type_text(env, left),
                          value_type_text(env, right));
    if ((numbers || same) && !right->type.rank)
        diag_help(diag, "write 'fill(value, ...)' to give every element the same value");
    return false;
}

// `i = 2.0` is an equation between Reals, and does not determine an Integer (section 4.8). What is no whole number, or need not be one, is told of
// where it is known what determines what.
static bool
determines_integer(ExprEnv *env, const Value *integer, const Value *real, Span span)
{
    bool wrong = integer->type.base == TYPE_INTEGER && real->type.base == TYPE_REAL && integer->count && integer->elements && real->elements
              && env->routines && sources_is_strict(env->routines->sources, span.lo);
    for (uint32_t i = 0; wrong && i < integer->count; i++)
        wrong = expr_op(env->exprs, integer->elements[i]) == OP_SLOT && expr_op(env->exprs, real->elements[i]) == OP_CONST
                && expr_value(env->exprs, real->elements[i]) == floor(expr_value(env->exprs, real->elements[i]));
    if (wrong)
        diag_add(env->diags, E0201, span, "the left side has type %s, but the right side has type %s, and no Integer is determined by a Real",
                 value_type_text(env, integer), value_type_text(env, real));
    return wrong;
}

// (a, , b) = f(x): the scalars of all outputs that have a counterpart, one after the other.
static bool
tuple_equation(ExprEnv *env, Node tuple, Node call, Span span, Value *left, Value *right)
{
    Value *outputs;
    uint32_t n = ast_at(env->ast, tuple)->nchild;
    if (!env->calls->results(env, tuple, call, span, &outputs))
        return false;
    VEC(Expr) lefts = {0};
    VEC(Expr) rights = {0};
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        Node node = ast_child(env->ast, tuple, i);
        Value value;
        if (!node)
            continue;
        if (ast_kind(env->ast, node) != AST_REF) {
            diag_add(env->diags, E0216, node_span(env, node), "the outputs of a function are taken by variables, and this is none");
            good = false;
            break;
        }
        good = expression(env, node, &value) && sides_fit(env, &value, &outputs[i], node_span(env, node));
        if (good) {
            vec_append(&lefts, value.elements, value.count);
            vec_append(&rights, outputs[i].elements, outputs[i].count);
        }
    }
    Type type = {.base = TYPE_REAL, .rank = 1, .dims = {lefts.n}};
    good = good && value_new(env, &type, span, left) && value_new(env, &type, span, right);
    if (good && lefts.n) {
        memcpy(left->elements, lefts.at, lefts.n * sizeof(Expr));
        memcpy(right->elements, rights.at, rights.n * sizeof(Expr));
    }
    vec_free(&lefts);
    vec_free(&rights);
    return good;
}

bool
expression_equation(ExprEnv *env, Node lhs, Node rhs, Span span, Value *left, Value *right)
{
    if (ast_kind(env->ast, lhs) == AST_TUPLE) {
        if (ast_kind(env->ast, rhs) == AST_CALL)
            return tuple_equation(env, lhs, rhs, span, left, right);
        diag_add(env->diags, E0216, node_span(env, rhs),
                 "a list of variables can only be equal to the call of a function");
        return false;
    }
    bool good = expression(env, lhs, left);
    good = expression(env, rhs, right) && good;
    return good && sides_fit(env, left, right, span) && !determines_integer(env, left, right, span);
}
