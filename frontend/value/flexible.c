// flexible.c: arrays whose sizes are known at run time only.
//
// Purpose: x[1:n], fill(0, n) and Real y[n], where n is known when the statement is executed (Modelica 3.6, sections 10.5, 12.4.5).
// Method: such an array has room for a number of elements that is known (Type.dims), and expressions say how many of them there are
// (Value.sizes); operations are those of the room, what depends on the number looks at it. The room is that of the array
// a subscript selects from, or what bounds of the size say, otherwise FLEXIBLE_ROOM elements; sizes that must agree, and those that need
// more room, are failures with their place.
// Contract: expression_inner.h. Complexity: linear in the room.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

enum { FLEXIBLE_ROOM = 256, ROOM_MOST = 4096, BOUND_VISITS = 1000 };

Expr
value_size(ExprEnv *env, const Value *value, uint32_t d)
{
    return value->sizes && value->sizes[d] ? value->sizes[d] : expr_const(env->exprs, value->type.dims[d]);
}

void
value_set_size(ExprEnv *env, Value *value, uint32_t d, Expr size)
{
    Expr *sizes = arena_array(env->arena, Expr, MAX_RANK);
    if (value->sizes)
        memcpy(sizes, value->sizes, MAX_RANK * sizeof *sizes);
    if (!value->type.dims[d]) // there is nothing that could have another size
        size = 0;
    if (size && env->hold && expr_op(env->exprs, size) != OP_CONST && expr_op(env->exprs, size) != OP_SLOT)
        size = env->hold(env, size, value->type.dims[d]);
    sizes[d] = size && expr_is_const(env->exprs, size, value->type.dims[d]) ? 0 : size;
    value->sizes = NULL;
    for (uint32_t k = 0; k < value->type.rank; k++)
        if (sizes[k])
            value->sizes = sizes;
}

bool
value_settled(ExprEnv *env, const Value *value, Span span)
{
    if (!value->sizes)
        return true;
    env->at_run_time = true;
    Diag *diag = diag_add(env->diags, E0205, span, "the size of this array must be known at compile time here, but it depends on what happens during the simulation");
    diag_help(diag, "such an array can be an argument of a function, of 'size', 'sum', 'product', 'min' and 'max', and be assigned to elements or in functions");
    return false;
}

Expr
flexible_fail(ExprEnv *env, Expr shown, const char *text, Span span)
{
    return pick_checked(env, shown, 0, text, span);
}

static Expr
quiet(ExprEnv *env, Expr relation)
{
    return expr_1(env->exprs, OP_NOEVENT, relation);
}

static Expr
checked_size(ExprEnv *env, Expr size, uint32_t most, const char *text, Span span)
{
    Exprs *exprs = env->exprs;
    double number;
    if (expr_op(exprs, size) == OP_CONST && (number = expr_value(exprs, size)) >= 0 && number <= most)
        return size;
    Expr fits = expr_2(exprs, OP_AND, expr_2(exprs, OP_GE, size, expr_const(exprs, 0)), expr_2(exprs, OP_LE, size, expr_const(exprs, most)));
    return expr_3(exprs, OP_IF, quiet(env, fits), size, flexible_fail(env, size, text, span));
}

// --- room

// What an Integer expression is at most, or at least; INFINITY: nothing is known. Parts that are shared are looked at once for each of their uses, so that *visits, which
// is counted down, limits the work.
static double
bound(const ExprEnv *env, Expr e, bool most, uint32_t *visits)
{
    const Exprs *exprs = env->exprs;
    Op op = expr_op(exprs, e);
    const double none = most ? INFINITY : -INFINITY;
    uint32_t n = expr_nargs(exprs, e), room;
    double sum = 0;
    if (!*visits)
        return none;
    --*visits;
    if (op == OP_CONST)
        return expr_value(exprs, e);
    if (op == OP_SLOT && env->rooms && expr_slot_of(exprs, e) < env->rooms->n && (room = env->rooms->at[expr_slot_of(exprs, e)]))
        return most ? room - 1.0 : 0;
    if (op == OP_NOEVENT || op == OP_FLOOR)
        return bound(env, expr_arg(exprs, e, 0), most, visits);
    if (op == OP_NEG)
        return -bound(env, expr_arg(exprs, e, 0), !most, visits);
    if (op == OP_INDEX && expr_op(exprs, expr_arg(exprs, e, 2)) == OP_CONST) // it fails where it is not below the size
        return most ? fmax(expr_value(exprs, expr_arg(exprs, e, 2)) - 1, -INFINITY) : 0;
    if (op == OP_MIN || op == OP_MAX || op == OP_IF) {
        double a = bound(env, expr_arg(exprs, e, op == OP_IF), most, visits);
        double b = bound(env, expr_arg(exprs, e, 1 + (op == OP_IF)), most, visits);
        bool fails = op == OP_IF && expr_op(exprs, expr_arg(exprs, e, 2)) == OP_INDEX && expr_is_const(exprs, expr_arg(exprs, expr_arg(exprs, e, 2), 2), 0);
        return fails ? a : op == OP_MIN || (op == OP_IF && !most) ? fmin(a, b) : fmax(a, b);
    }
    for (uint32_t i = 0; op == OP_ADD && i < n; i++)
        sum += bound(env, expr_arg(exprs, e, i), most, visits);
    return op == OP_ADD && !isnan(sum) ? sum : none;
}

bool
flexible_size(ExprEnv *env, Expr wanted, uint32_t rank, Span span, uint32_t *room, Expr *size)
{
    uint32_t visits = BOUND_VISITS;
    double most = bound(env, wanted, true, &visits);
    if (!(most <= ROOM_MOST))
        most = floor(pow(FLEXIBLE_ROOM, 1.0 / (rank ? rank : 1)) + 1e-9);
    *room = most > 1 ? (uint32_t)most : 1;
    *size = checked_size(env, wanted, *room, arena_printf(env->arena, "a size of \1d\2 is needed here, and an array whose size is known at run time only has between 0 and %u "
                                                           "elements in this dimension", *room), span);
    return true;
}

// --- elements

Expr
flexible_there(ExprEnv *env, const Value *value, uint32_t element)
{
    Exprs *exprs = env->exprs;
    Expr all = 0;
    uint32_t at = element / type_scalars(&value->type);
    for (uint32_t d = value->type.rank; value->sizes && d-- > 0; at /= value->type.dims[d]) {
        uint32_t k = at % value->type.dims[d];
        if (!value->sizes[d])
            continue;
        Expr below = quiet(env, expr_2(exprs, OP_LT, expr_const(exprs, k), value->sizes[d]));
        all = all ? expr_2(exprs, OP_AND, all, below) : below;
    }
    return all;
}

Expr
flexible_or(ExprEnv *env, const Value *value, uint32_t element, Expr otherwise)
{
    Expr there = flexible_there(env, value, element), e = value->elements[element];
    return there ? expr_3(env->exprs, OP_IF, there, e, otherwise) : e;
}

// The same elements in other room; what was not there is 0.
bool
flexible_resize(ExprEnv *env, Value *value, const uint32_t *dims, Span span)
{
    Value out;
    Type type = type_with_sizes(&value->type, value->type.rank, dims);
    uint32_t scalars = type_scalars(&type);
    if (type_same_sizes(&type, &value->type))
        return true;
    if (!value_new(env, &type, span, &out))
        return false;
    for (uint32_t i = 0; i < out.count / scalars; i++) {
        uint32_t from = 0, factor = 1, rest = i;
        bool there = true;
        for (uint32_t d = type.rank; d-- > 0; rest /= dims[d]) {
            uint32_t k = rest % dims[d];
            there &= k < value->type.dims[d];
            from += k * factor;
            factor *= value->type.dims[d];
        }
        for (uint32_t k = 0; k < scalars; k++)
            out.elements[i * scalars + k] = there ? value->elements[from * scalars + k] : expr_const(env->exprs, 0);
    }
    for (uint32_t d = 0; d < type.rank; d++) // sizes that were known are no longer the room
        if ((value->sizes && value->sizes[d]) || dims[d] != value->type.dims[d])
            value_set_size(env, &out, d, value_size(env, value, d));
    *value = out;
    return true;
}

// --- sizes that must agree

bool
flexible_fits(const Value *a, const Value *b)
{
    bool fits = a->type.rank == b->type.rank;
    for (uint32_t d = 0; fits && d < a->type.rank; d++)
        fits = a->type.dims[d] == b->type.dims[d] || (a->sizes && a->sizes[d]) || (b->sizes && b->sizes[d]);
    return fits;
}

static Expr
equal_size(ExprEnv *env, Expr a, Expr b, Span span)
{
    if (a == b)
        return a;
    Expr same = quiet(env, expr_2(env->exprs, OP_EQ, a, b));
    return expr_3(env->exprs, OP_IF, same, a, flexible_fail(env, expr_sub(env->exprs, a, b), "the sizes of two arrays differ here by \1d\2", span));
}

bool
flexible_agree(ExprEnv *env, Value *a, Value *b, Span span)
{
    uint32_t dims[MAX_RANK];
    Expr sizes[MAX_RANK] = {0};
    for (uint32_t d = 0; d < a->type.rank; d++) {
        dims[d] = a->type.dims[d] < b->type.dims[d] ? a->type.dims[d] : b->type.dims[d];
        if ((a->sizes && a->sizes[d]) || (b->sizes && b->sizes[d]))
            sizes[d] = equal_size(env, value_size(env, a, d), value_size(env, b, d), span);
    }
    if (!flexible_resize(env, a, dims, span) || !flexible_resize(env, b, dims, span))
        return false;
    for (uint32_t d = 0; d < a->type.rank; d++)
        if (sizes[d]) {
            value_set_size(env, a, d, sizes[d]);
            value_set_size(env, b, d, sizes[d]);
        }
    return true;
}

// Where sizes must be certain ones each element fails if they are others.
bool
flexible_settle(ExprEnv *env, Value *value, const Value *wanted, Span span)
{
    Exprs *exprs = env->exprs;
    uint32_t dims[MAX_RANK];
    Expr failed = 0, all = 0;
    if (value->type.rank != wanted->type.rank || (!value->sizes && !wanted->sizes))
        return true;
    memcpy(dims, value->type.dims, sizeof dims);
    for (uint32_t d = 0; d < value->type.rank; d++) {
        if (wanted->type.dims[d] == SIZE_UNKNOWN)
            continue;
        Expr has = value_size(env, value, d), needs = value_size(env, wanted, d);
        dims[d] = wanted->type.dims[d];
        if (has == needs)
            continue;
        bool known = expr_op(exprs, needs) == OP_CONST;
        const char *text = known ? arena_printf(env->arena, "an array with %u elements is needed here, but this has \1d\2", dims[d])
                                 : "an array has \1d\2 elements more than it may have here";
        Expr same = quiet(env, expr_2(exprs, OP_EQ, has, needs));
        failed = failed ? failed : flexible_fail(env, known ? has : expr_sub(exprs, has, needs), text, span);
        all = all ? expr_2(exprs, OP_AND, all, same) : same;
    }
    if (!flexible_resize(env, value, dims, span))
        return false;
    for (uint32_t d = 0; d < value->type.rank; d++)
        if (wanted->type.dims[d] != SIZE_UNKNOWN)
            value_set_size(env, value, d, wanted->sizes ? wanted->sizes[d] : 0);
    if (all && env->hold)
        env->hold(env, expr_3(exprs, OP_IF, all, expr_const(exprs, 0), failed), 0);
    if (!all || env->hold)
        return true;
    Expr *own = arena_array(env->arena, Expr, value->count + 1);
    for (uint32_t k = 0; k < value->count; k++)
        own[k] = expr_3(exprs, OP_IF, all, value->elements[k], failed);
    value->elements = own;
    return true;
}

// --- arrays that are made

// Of two that a condition chooses between.
bool
flexible_choose(ExprEnv *env, Expr condition, Value *a, Value *b, Span span)
{
    uint32_t dims[MAX_RANK];
    Expr sizes[MAX_RANK];
    for (uint32_t d = 0; d < a->type.rank; d++) {
        dims[d] = a->type.dims[d] > b->type.dims[d] ? a->type.dims[d] : b->type.dims[d];
        Expr one = value_size(env, a, d), other = value_size(env, b, d);
        sizes[d] = one == other ? one : expr_3(env->exprs, OP_IF, condition, one, other);
    }
    if (!flexible_resize(env, a, dims, span) || !flexible_resize(env, b, dims, span))
        return false;
    for (uint32_t d = 0; d < a->type.rank; d++) {
        value_set_size(env, a, d, sizes[d]);
        value_set_size(env, b, d, sizes[d]);
    }
    return true;
}

// first, first + step, ..., `count` of them with room for `room`.
bool
flexible_range(ExprEnv *env, const Type *type, Expr first, Expr step, Expr count, uint32_t room, Span span, Value *out)
{
    Exprs *exprs = env->exprs;
    Type vector = type_with_sizes(type, 1, &room);
    if (!value_new(env, &vector, span, out))
        return false;
    for (uint32_t k = 0; k < room; k++)
        out->elements[k] = expr_2(exprs, OP_ADD, first, expr_2(exprs, OP_MUL, expr_const(exprs, k), step));
    value_set_size(env, out, 0, count);
    return true;
}

// Vectors behind each other.
bool
flexible_concatenate(ExprEnv *env, const Value *parts, uint32_t n, Span span, Value *out)
{
    Exprs *exprs = env->exprs;
    uint64_t all = 0;
    uint32_t room = 0, scalars = type_scalars(&parts[0].type);
    Expr *offset = arena_array(env->arena, Expr, n + 1);
    offset[0] = expr_const(exprs, 0);
    for (uint32_t i = 0; i < n; i++) {
        offset[i + 1] = expr_2(exprs, OP_ADD, offset[i], value_size(env, &parts[i], 0));
        all += parts[i].type.dims[0];
    }
    room = all > FLEXIBLE_ROOM ? FLEXIBLE_ROOM : (uint32_t)all;
    for (uint32_t i = 0; i < n; i++) // but for what is known to be there
        room = !parts[i].sizes && parts[i].type.dims[0] > room ? parts[i].type.dims[0] : room;
    Type type = type_with_sizes(&parts[0].type, 1, &room);
    for (uint32_t i = 1; i < n; i++)
        if (parts[i].type.base == TYPE_REAL)
            type.base = TYPE_REAL;
    if (!value_new(env, &type, span, out))
        return false;
    U32Vec args = {0};
    for (uint32_t k = 0; k < room; k++)
        for (uint32_t s = 0; s < scalars; s++) {
            Expr e = expr_const(exprs, 0), here = expr_const(exprs, k);
            for (uint32_t i = n; i-- > 0;) {
                uint32_t size = parts[i].type.dims[0];
                if (!size)
                    continue;
                vec_clear(&args);
                vec_push(&args, pick_checked(env, expr_2(exprs, OP_ADD, expr_sub(exprs, here, offset[i]), expr_const(exprs, 1)), size,
                                             "element \1d\2 of an array that is joined with others", span));
                for (uint32_t j = 0; j < size; j++)
                    vec_push(&args, parts[i].elements[j * scalars + s]);
                Expr before = quiet(env, expr_2(exprs, OP_LT, here, offset[i + 1]));
                e = expr_3(exprs, OP_IF, before, expr_make(exprs, OP_PICK, args.at, args.n), e);
            }
            out->elements[k * scalars + s] = e;
        }
    vec_free(&args);
    value_set_size(env, out, 0, checked_size(env, offset[n], room, arena_printf(env->arena, "joined arrays have \1d\2 elements, and there is room for %u where sizes are known at "
                                                                            "run time only", room), span));
    return true;
}
