// overload.c: overloaded operators.
//
// Purpose: operators between records whose classes declare them, constructors and String() of such records (Modelica 3.6, chapter 14).
// Method: an operator of a class is a function or several; the one is called that takes the operands. Where none does, an operand of
// another type is converted by a constructor of the record's class, if there is exactly one way. Arrays are combined element by
// element, and products of matrices with the operators '*' and '+'. More than one way is an error.
// Contract: expression_inner.h. Complexity: linear in the functions of an operator times the scalars of a value.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

typedef VEC(FunctionRef) Functions;

typedef struct Way { // to evaluate an operator
    FunctionRef function;
    Value operands[2];
} Way;

// --- candidates

// Functions of the operator in the class of a value, each once.
static void
add_functions(ExprEnv *env, const Value *value, const char *name, Functions *functions)
{
    const FunctionRef *own = NULL;
    if (value->type.base != TYPE_RECORD || !env->operators)
        return;
    uint32_t n = env->operators(env, value->type.record->class_id, name, &own);
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < functions->n; k++)
            known |= functions->at[k].class_node == own[i].class_node;
        if (!known)
            vec_push(functions, own[i]);
    }
}

static uint32_t
count_accepting(ExprEnv *env, const Functions *functions, const Value *operands, uint32_t n, Way *way)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < functions->n; i++)
        if (env->calls->accepts(env, &functions->at[i], operands, n)) {
            way->function = functions->at[i];
            found++;
        }
    if (found)
        memcpy(way->operands, operands, n * sizeof *operands);
    return found;
}

static bool
refuse(ExprEnv *env, const char *name, const Value *left, const Value *right, uint32_t ways, Span span)
{
    const char *what = right ? arena_printf(env->arena, "%s and %s", value_type_text(env, left), value_type_text(env, right))
                             : value_type_text(env, left);
    if (ways > 1)
        diag_add(env->diags, E0204, span, "operator %s for %s has %u meanings", name, what, ways);
    else
        diag_add(env->diags, E0204, span, "operator %s is not defined for %s", name, what);
    return false;
}

// --- conversions

// The value of the other operand as a record of `like`, by a constructor of that class.
static uint32_t
converted(ExprEnv *env, const Value *like, const Value *from, Span span, Value *out)
{
    Functions constructors = {0};
    Way way;
    add_functions(env, like, "'constructor'", &constructors);
    uint32_t ways = count_accepting(env, &constructors, from, 1, &way);
    DiagsMark mark = diags_mark(env->diags);
    if (ways == 1 && !env->calls->apply(env, &way.function, from, 1, span, out)) {
        diags_return_to(env->diags, mark);
        ways = 0;
    }
    vec_free(&constructors);
    return ways;
}

// Operators of the class of operand `k` with the other operand converted to it.
static uint32_t
count_converting(ExprEnv *env, const char *name, const Value *operands, uint32_t k, Span span, Way *way)
{
    Functions functions = {0};
    Value both[2] = {operands[0], operands[1]};
    uint32_t ways = 0;
    if (operands[k].type.base == TYPE_RECORD && !type_same_class(&operands[0].type, &operands[1].type))
        ways = converted(env, &operands[k], &operands[1 - k], span, &both[1 - k]);
    if (ways == 1) {
        add_functions(env, &operands[k], name, &functions);
        ways = count_accepting(env, &functions, both, 2, way);
    }
    vec_free(&functions);
    return ways;
}

// The number of ways to evaluate; the way when there is one.
static uint32_t
find_way(ExprEnv *env, const char *name, const Value *operands, Span span, Way *way)
{
    Functions functions = {0};
    add_functions(env, &operands[0], name, &functions);
    add_functions(env, &operands[1], name, &functions);
    uint32_t ways = count_accepting(env, &functions, operands, 2, way);
    vec_free(&functions);
    for (uint32_t k = 0; k < 2 && !ways && !operands[0].type.rank && !operands[1].type.rank; k++) {
        Way other;
        uint32_t more = count_converting(env, name, operands, k, span, &other);
        if (more)
            *way = other;
        ways += more;
    }
    return ways;
}

// --- arrays

static Value
operand_scalar(const Value *value, uint32_t i)
{
    uint32_t size = type_scalars(&value->type);
    return (Value){.type = type_with_sizes(&value->type, 0, NULL), .count = size, .elements = value->elements + (size_t)i * size};
}

static uint32_t
element_count(const Value *value)
{
    return value->count / (type_scalars(&value->type) ? type_scalars(&value->type) : 1);
}

static bool
join(ExprEnv *env, const Value *elements, uint32_t n, uint32_t rank, const uint32_t *dims, Span span, Value *out)
{
    Type type = type_with_sizes(&elements[0].type, rank, dims);
    if (!value_new(env, &type, span, out))
        return false;
    for (uint32_t i = 0; i < n; i++)
        memcpy(out->elements + (size_t)i * elements[0].count, elements[i].elements, elements[0].count * sizeof(Expr));
    return true;
}

static bool
elementwise(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    const Value *array = left->type.rank ? left : right;
    uint32_t n = element_count(array);
    Value *elements = arena_array(env->arena, Value, n + 1);
    if (!n)
        return refuse(env, ast_op_text(op), left, right, 0, span);
    for (uint32_t i = 0; i < n; i++) {
        Value a = operand_scalar(left, left->type.rank ? i : 0), b = operand_scalar(right, right->type.rank ? i : 0);
        if (!operator_binary(env, op, &a, &b, span, &elements[i]))
            return false;
    }
    return join(env, elements, n, array->type.rank, array->type.dims, span, out);
}

static bool
inner_product(ExprEnv *env, const Value *left, const Value *right, uint32_t row, uint32_t column, Span span, Value *out)
{
    uint32_t inner = right->type.dims[0], columns = right->type.rank == 2 ? right->type.dims[1] : 1;
    for (uint32_t k = 0; k < inner; k++) {
        Value a = operand_scalar(left, row * inner + k), b = operand_scalar(right, k * columns + column), term, sum = *out;
        if (!operator_binary(env, AOP_MUL, &a, &b, span, &term) || (k && !operator_binary(env, AOP_ADD, &sum, &term, span, out)))
            return false;
        if (!k)
            *out = term;
    }
    return true;
}

static bool
matrix_product(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out)
{
    uint32_t rows = left->type.rank == 2 ? left->type.dims[0] : 1, columns = right->type.rank == 2 ? right->type.dims[1] : 1;
    uint32_t inner = left->type.dims[left->type.rank - 1], dims[2], rank = 0;
    // The product of a vector with something is no sum of products for each kind of number (section 14.5); in this language it is.
    bool vector = left->type.rank == 1 && env->routines && sources_is_strict(env->routines->sources, span.lo);
    if (vector || left->type.rank > 2 || right->type.rank > 2 || inner != right->type.dims[0] || !inner || !rows || !columns)
        return refuse(env, "*", left, right, 0, span);
    if (left->type.rank == 2)
        dims[rank++] = rows;
    if (right->type.rank == 2)
        dims[rank++] = columns;
    Value *elements = arena_array(env->arena, Value, (size_t)rows * columns);
    for (uint32_t i = 0; i < rows * columns; i++)
        if (!inner_product(env, left, right, i / columns, i % columns, span, &elements[i]))
            return false;
    return join(env, elements, rows * columns, rank, dims, span, out);
}

static bool
arrays(ExprEnv *env, AstOp op, const char *name, const Value *left, const Value *right, Span span, Value *out)
{
    bool same = type_same_sizes(&left->type, &right->type), one = !left->type.rank || !right->type.rank;
    bool fits = op == AOP_ADD || op == AOP_SUB ? same : op == AOP_DIV ? !right->type.rank : op == AOP_MUL ? one
              : (op == AOP_EADD || op == AOP_ESUB || op == AOP_EMUL || op == AOP_EDIV || op == AOP_EPOW) && (same || one);
    if (op == AOP_MUL && !one)
        return matrix_product(env, left, right, span, out);
    return fits ? elementwise(env, op, left, right, span, out) : refuse(env, name, left, right, 0, span);
}

// --- operators

// The name of an operator in a class: elementwise ones are those of the elements.
static const char *
operator_name(ExprEnv *env, AstOp op)
{
    const char *text = ast_op_text(op);
    return arena_printf(env->arena, "'%s'", *text == '.' ? text + 1 : text);
}

bool
overload_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    const char *name = operator_name(env, op);
    Value operands[2] = {*left, *right};
    Way way;
    bool each = op >= AOP_EADD && op <= AOP_EPOW && (left->type.rank || right->type.rank);
    uint32_t ways = each ? 0 : find_way(env, name, operands, span, &way);
    if (ways == 1)
        return env->calls->apply(env, &way.function, way.operands, 2, span, out);
    if (!ways && (left->type.rank || right->type.rank))
        return arrays(env, op, name, left, right, span, out);
    return refuse(env, name, left, right, ways, span);
}

bool
overload_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out)
{
    const char *name = operator_name(env, op);
    Functions functions = {0};
    Way way;
    add_functions(env, operand, name, &functions);
    uint32_t ways = count_accepting(env, &functions, operand, 1, &way), n = element_count(operand);
    vec_free(&functions);
    if (ways == 1)
        return env->calls->apply(env, &way.function, way.operands, 1, span, out);
    if (ways || !operand->type.rank || !n)
        return refuse(env, name, operand, NULL, ways, span);
    Value *elements = arena_array(env->arena, Value, n);
    for (uint32_t i = 0; i < n; i++) {
        Value element = operand_scalar(operand, i);
        if (!overload_unary(env, op, &element, span, &elements[i]))
            return false;
    }
    return join(env, elements, n, operand->type.rank, operand->type.dims, span, out);
}

bool
overload_zero(ExprEnv *env, const RecordType *record, Span span, Value *out)
{
    const FunctionRef *functions;
    uint32_t n = env->operators ? env->operators(env, record->class_id, "'0'", &functions) : 0;
    return n == 1 && env->calls->apply(env, &functions[0], NULL, 0, span, out);
}

// --- calls

bool
overload_constructor(ExprEnv *env, FunctionRef *function, Node call)
{
    const FunctionRef *constructors;
    uint32_t n = env->operators ? env->operators(env, function->id, "'constructor'", &constructors) : 0, found = 0;
    const FunctionRef record = *function;
    for (uint32_t i = 0; i < n && n > 1; i++)
        if (env->calls->takes(env, &constructors[i], call)) {
            *function = constructors[i];
            found++;
        }
    if (n == 1)
        *function = constructors[0]; // which says itself what it misses
    if (n <= 1 || found == 1)
        return true;
    diag_add(env->diags, E0203, node_span(env, call), found ? "%2$u constructors of '%1$s' take these arguments"
             : "none of the %2$u constructors of '%1$s' takes these arguments", sym_text(env->syms, record.full_name), found ? found : n);
    return false;
}

bool
overload_string(ExprEnv *env, Node call, FunctionRef *function)
{
    Node args = ast_child(env->ast, call, 1), first = args && ast_at(env->ast, args)->nchild ? ast_child(env->ast, args, 0) : 0;
    Value value;
    DiagsMark mark = diags_mark(env->diags);
    if (!first || ast_kind(env->ast, first) == AST_ARG || ast_kind(env->ast, first) == AST_FORARG)
        return false;
    bool record = expression(env, first, &value) && value.type.base == TYPE_RECORD && env->operators;
    diags_return_to(env->diags, mark);
    const FunctionRef *functions;
    uint32_t n = record ? env->operators(env, value.type.record->class_id, "'String'", &functions) : 0, found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (env->calls->takes(env, &functions[i], call)) {
            *function = functions[i];
            found++;
        }
    return found == 1;
}
