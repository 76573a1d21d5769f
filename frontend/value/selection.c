// selection.c: subscripts known at run time only.
//
// Purpose: x[i], where i changes (Modelica 3.6, section 10.5; sizes are known). Method: the reference is resolved once for each
// value that such subscripts can have, as if it were written there. In equations a balanced tree of if-expressions chooses
// among the results, so that they stay linear in the elements; in functions OP_PICK does. A subscript outside the array is
// a failure with its place (ir/expr/routine.h).
// A vector of such subscripts selects what its elements do, each by itself.
// Contract: expression_inner.h. Complexity: linear in the elements that could be picked; with vectors of subscripts, times what these have.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

enum { PICK_LIMIT = 100 * 1000 };

// --- subscripts

bool
expression_moves(ExprEnv *env, Expr e)
{
    U32Vec slots = {0};
    bool any = expr_has_op(env->exprs, e, OP_TIME);
    expr_used_slots(env->exprs, &e, 1, &slots);
    for (uint32_t i = 0; i < slots.n && !any; i++) {
        Var var = env->slots->at[slots.at[i]];
        any = var == BOUND_VARIABLE ? env->compile
            : (env->varies && env->varies(env, var)) || (env->found_at_start && env->found_at_start(env, var));
    }
    vec_free(&slots);
    return any;
}

// A range of numbers and `end`.
static bool
plain_range(const ExprEnv *env, Node range)
{
    bool plain = true;
    for (uint32_t i = 0; i < 3; i++) {
        Node part = ast_child(env->ast, range, i);
        plain = plain && (!part || ast_kind(env->ast, part) == AST_NUMBER || ast_kind(env->ast, part) == AST_END);
    }
    return plain;
}

// `:` in a dimension whose size is known at run time only.
static bool
whole_dimension(ExprEnv *env, Node node, uint32_t size, Expr limit, LocalPick *pick)
{
    Expr *indices = arena_array(env->arena, Expr, size + 1);
    for (uint32_t i = 0; i < size; i++)
        indices[i] = expr_const(env->exprs, i + 1.0);
    Type type = {.base = TYPE_INTEGER, .rank = 1, .dims = {size}};
    *pick = (LocalPick){.node = node, .type = type, .size = size, .index = indices[0], .indices = indices, .n = size, .copies = size, .count = limit, .limit = limit};
    return true;
}

// An element of a subscript: elements that are not there select the first, what is beyond the size fails.
static Expr
flexible_index(ExprEnv *env, const Value *value, uint32_t i, Expr index, uint32_t size, Expr limit, Node node)
{
    Exprs *exprs = env->exprs;
    Expr there = value->sizes ? flexible_there(env, value, i) : 0, one = expr_const(exprs, 1);
    bool inside = expr_op(exprs, index) == OP_CONST && expr_value(exprs, index) >= 1 && expr_value(exprs, index) <= size;
    if (limit) {
        Expr fits = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_LE, index, limit));
        index = expr_3(exprs, OP_IF, fits, index, flexible_fail(env, index, "subscript \1d\2 is beyond the size that the array has here", node_span(env, node)));
    }
    return there && (limit || !inside) ? expr_3(exprs, OP_IF, there, index, one) : index;
}

// False, without messages, for whatever else may be a subscript.
static bool
new_pick(ExprEnv *env, Node node, uint32_t size, Expr limit, LocalPick *pick)
{
    AstKind kind = ast_kind(env->ast, node);
    bool plain = kind == AST_NUMBER || kind == AST_END || (kind == AST_RANGE && plain_range(env, node));
    if ((plain && !limit) || env->picks->n == PICK_RANK || (!size && env->in_function && !limit && kind != AST_RANGE))
        return false;
    if (kind == AST_COLON)
        return whole_dimension(env, node, size, limit, pick);
    DiagsMark mark = diags_mark(env->diags);
    LocalPicks *picks = env->picks;
    Local end = {sym_of(env->syms, "end"), value_scalar(env, TYPE_INTEGER, limit ? limit : expr_const(env->exprs, size))};
    Value value;
    bool run_time = env->at_run_time;
    uint32_t slots = env->slots->n;
    vec_push(&env->locals, end);
    env->picks = NULL;
    env->room = kind == AST_RANGE ? size : 0;
    bool good = expression_flexible(env, node, &value);
    env->room = 0;
    env->picks = picks;
    env->locals.n--;
    diags_return_to(env->diags, mark);
    env->at_run_time = run_time;
    bool logical = good && value.type.base == TYPE_BOOLEAN;
    bool index = good && value.type.rank <= 1 && (value.type.base == TYPE_INTEGER || value.type.base == TYPE_ENUM || logical);
    bool moves = index && (value.sizes || limit);
    for (uint32_t i = 0; index && i < value.count && !moves; i++)
        moves = expression_moves(env, value.elements[i]);
    if (!moves) {
        env->slots->n = slots;
        return false;
    }
    Expr *indices = arena_array(env->arena, Expr, value.count);
    for (uint32_t i = 0; i < value.count; i++)
        indices[i] = !logical ? value.elements[i]
                   : expr_3(env->exprs, OP_IF, value.elements[i], expr_const(env->exprs, 2), expr_const(env->exprs, 1));
    for (uint32_t i = 0; i < value.count; i++)
        indices[i] = flexible_index(env, &value, i, indices[i], size, limit, node);
    *pick = (LocalPick){.node = node, .type = value.type, .size = size, .index = indices[0], .indices = value.type.rank ? indices : NULL,
                        .n = value.count, .copies = value.count, .count = value.sizes ? value.sizes[0] : 0, .limit = limit};
    return true;
}

const LocalPick *
subscript_picked(ExprEnv *env, Node node, uint32_t size, Expr limit)
{
    LocalPicks *picks = env->picks;
    LocalPick pick;
    for (uint32_t i = 0; i < picks->n; i++)
        if (picks->at[i].node == node)
            return &picks->at[i];
    if (picks->frozen || !new_pick(env, node, size, limit, &pick))
        return NULL;
    picks->at[picks->n] = pick;
    return &picks->at[picks->n++];
}

// --- vectors of subscripts

// The dimension that a vector makes is the one that becomes longer with it.
bool
pick_axes(ExprEnv *env, Node ref, LocalPicks *picks, const Type *whole, PickDims *dims, void *context)
{
    LocalPicks *outer = env->picks;
    uint64_t looks = pick_tuples(picks);
    for (uint32_t k = 0; k < whole->rank && looks <= PICK_LIMIT; k++)
        looks *= whole->dims[k];
    bool good = looks <= PICK_LIMIT;
    if (!good)
        diag_add(env->diags, E0214, node_span(env, ref), "vectors of subscripts known at run time only select one element at a time: at most %d looks at what "
                 "they select are made", PICK_LIMIT);
    picks->frozen = true;
    env->picks = picks;
    for (uint32_t d = 0; d < picks->n && good; d++) {
        LocalPick *pick = &picks->at[d];
        Type longer;
        if (!pick->indices)
            continue;
        pick->copies = pick->n + 1;
        good = dims(env, ref, context, &longer);
        pick->copies = pick->n;
        for (pick->axis = 0; good && pick->axis < whole->rank && longer.dims[pick->axis] == whole->dims[pick->axis];)
            pick->axis++;
    }
    env->picks = outer;
    return good;
}

uint32_t
pick_tuples(const LocalPicks *picks)
{
    uint64_t n = 1;
    for (uint32_t d = 0; d < picks->n; d++)
        n = n * picks->at[d].n > UINT32_MAX ? UINT32_MAX : n * picks->at[d].n;
    return (uint32_t)n;
}

void
pick_tuple(LocalPicks *picks, uint32_t tuple, const Type *whole, uint32_t count, U32Vec *places)
{
    uint32_t wanted[MAX_RANK], scalars = count;
    for (uint32_t k = 0; k < whole->rank; k++) {
        wanted[k] = NONE; // any
        scalars = count ? scalars / whole->dims[k] : 0; // another dimension may be empty
    }
    for (uint32_t d = picks->n; d-- > 0; tuple /= picks->at[d].n) {
        LocalPick *pick = &picks->at[d];
        if (!pick->indices)
            continue;
        pick->index = pick->indices[tuple % pick->n];
        pick->copies = 1;
        wanted[pick->axis] = tuple % pick->n;
    }
    vec_clear(places);
    for (uint32_t i = 0; i < count; i++) {
        bool there = true;
        for (uint32_t k = whole->rank, rest = i / scalars; k-- > 0; rest /= whole->dims[k])
            there &= wanted[k] == NONE || wanted[k] == rest % whole->dims[k];
        if (there)
            vec_push(places, i);
    }
}

// The same subscript of the same array on one line is looked at once: equal sites make equal expressions.
static uint32_t
subscript_site(ExprEnv *env, const char *text, Span span)
{
    enum { BACK = 20 };
    const Sources *sources = env->routines ? env->routines->sources : NULL;
    Place here, there;
    bool placed = sources && span_locate(sources, span, &here);
    uint32_t n = site_count(env->exprs);
    for (uint32_t i = n; placed && i-- > 0 && n - i <= BACK;) {
        const Site *site = site_of(env->exprs, i);
        if (!strcmp(site->text, text) && span_locate(sources, site->span, &there) && there.path == here.path && there.line == here.line)
            return i;
    }
    return site_add(env->exprs, text, span);
}

Expr
pick_checked(ExprEnv *env, Expr index, uint32_t size, const char *text, Span span)
{
    Expr site = expr_const(env->exprs, subscript_site(env, text, span));
    return expr_3(env->exprs, OP_INDEX, site, index, expr_const(env->exprs, size));
}

// What a function knows of its arguments is not how they vary.
static bool
may_vary(ExprEnv *env, Expr e)
{
    U32Vec slots = {0};
    expr_used_slots(env->exprs, &e, 1, &slots);
    bool any = env->in_function && slots.n > 0;
    vec_free(&slots);
    return any || expression_moves(env, e);
}

// Whether e multiplies or adds what varies: an Integer value of it may be beyond what a double has exactly, though no variable is.
static bool
may_round(ExprEnv *env, Expr e)
{
    const Exprs *exprs = env->exprs;
    Op op = expr_op(exprs, e);
    uint32_t varying = 0, n = op == OP_ADD || op == OP_MUL ? expr_nargs(exprs, e) : 0;
    for (uint32_t i = 0; i < n; i++)
        varying += expr_op(exprs, expr_arg(exprs, e, i)) != OP_CONST;
    return varying > (op == OP_ADD) && may_vary(env, e);
}

// A term of a sum may be rounded though the sum is small.
static Expr
terms_checked(ExprEnv *env, Expr e, Span span)
{
    Exprs *exprs = env->exprs;
    U32Vec args = {0};
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
        vec_push(&args, whole_checked(env, expr_arg(exprs, e, i), span));
    Expr checked = expr_make(exprs, expr_op(exprs, e), args.at, args.n);
    vec_free(&args);
    return checked;
}

Expr
whole_checked(ExprEnv *env, Expr e, Span span)
{
    Exprs *exprs = env->exprs;
    Op op = expr_op(exprs, e);
    Expr checked = op == OP_ADD || op == OP_NEG ? terms_checked(env, e, span) : e;
    if (op == OP_NEG || (checked == e && !may_round(env, e)))
        return checked;
    uint32_t site = subscript_site(env, "an Integer becomes \1d\2 on the way to this value, and whole numbers are exact below 2^53 = 9007199254740992 "
                                   "only", span);
    Expr none = expr_3(exprs, OP_INDEX, expr_const(exprs, site), checked, expr_const(exprs, 0));
    return expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, expr_1(exprs, OP_ABS, checked), expr_const(exprs, 0x1p53)), checked, none);
}

Expr
pick_index(ExprEnv *env, const LocalPick *pick, Node of)
{
    const char *text = arena_printf(env->arena, "subscript \1d\2 of '%s' is outside 1:%u", expression_text(env, of),
                                    pick->size);
    return pick_checked(env, pick->index, pick->size, text, node_span(env, pick->node));
}

// --- references

// The elements that every combination of the subscripts selects.
static bool
picked_elements(ExprEnv *env, Node node, PickPlain *plain, void *context, LocalPicks *picks, uint32_t combinations, Value *parts)
{
    LocalPicks *outer = env->picks;
    bool good = true;
    picks->frozen = true;
    env->picks = picks;
    for (uint32_t k = 0; good && k < combinations; k++) {
        for (uint32_t d = picks->n, rest = k; d-- > 0; rest /= picks->at[d].size)
            picks->at[d].at = rest % picks->at[d].size;
        good = plain(env, node, context, &parts[k]) && parts[k].count == parts[0].count;
    }
    env->picks = outer;
    return good;
}

// Whether a subscript has relations of its own, or roundings, at which it makes events (section 8.5): then choosing by it does, too.
static bool
makes_events(const Exprs *exprs, Expr e)
{
    U32Vec stack = {0};
    bool found = false;
    vec_push(&stack, e);
    while (stack.n && !found) {
        Expr part = vec_pop(&stack);
        Op op = expr_op(exprs, part);
        found = op_table[op].kind == OPKIND_COMPARE || op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC;
        for (uint32_t i = 0; i < expr_nargs(exprs, part) && op != OP_NOEVENT; i++)
            vec_push(&stack, expr_arg(exprs, part, i));
    }
    vec_free(&stack);
    return found;
}

// The one of n values at position first .. first + n - 1.
static Expr
choose(Exprs *exprs, Expr position, bool events, const Expr *values, uint32_t first, uint32_t n)
{
    if (n == 1)
        return values[0];
    uint32_t half = n / 2;
    Expr low = choose(exprs, position, events, values, first, half);
    Expr high = choose(exprs, position, events, values + half, first + half, n - half);
    Expr below = expr_2(exprs, OP_LT, position, expr_const(exprs, first + half));
    return expr_3(exprs, OP_IF, events ? below : expr_1(exprs, OP_NOEVENT, below), low, high);
}

static Expr
pick_element(ExprEnv *env, Expr position, const Value *parts, uint32_t n, uint32_t element)
{
    U32Vec args = {0};
    Expr out;
    vec_push(&args, position);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&args, parts[k].elements[element]);
    if (env->compile || env->in_function)
        out = expr_make(env->exprs, OP_PICK, args.at, args.n);
    else
        out = choose(env->exprs, position, makes_events(env->exprs, position), args.at + 1, 0, n);
    vec_free(&args);
    return out;
}

// A subscript of an array without elements, which fails where it is evaluated: behind a condition that never holds.
static void
fail_always(ExprEnv *env, Node node, const LocalPicks *picks, Value *out)
{
    uint32_t d = 0;
    while (picks->at[d].size)
        d++;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = pick_index(env, &picks->at[d], node);
}

static bool
picked_scalars(ExprEnv *env, Node node, PickPlain *plain, void *context, LocalPicks *picks, Value *out)
{
    Exprs *exprs = env->exprs;
    uint64_t combinations = 1;
    Expr position = expr_const(exprs, 0);
    for (uint32_t d = 0; d < picks->n; d++) {
        Expr size = expr_const(exprs, picks->at[d].size);
        position = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, position, size), pick_index(env, &picks->at[d], node));
        combinations *= picks->at[d].size;
    }
    if (combinations * (out->count ? out->count : 1) > PICK_LIMIT) {
        diag_add(env->diags, E0214, node_span(env, node),
                 "subscripts known at run time only can select from %d elements at most", PICK_LIMIT);
        return false;
    }
    if (!combinations) {
        Type type = out->type;
        if (!value_new(env, &type, node_span(env, node), out))
            return false;
        fail_always(env, node, picks, out);
        return true;
    }
    Value *parts = arena_array(env->arena, Value, combinations + 1);
    if (!picked_elements(env, node, plain, context, picks, (uint32_t)combinations, parts)
        || !value_new(env, &parts[0].type, node_span(env, node), out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = pick_element(env, position, parts, (uint32_t)combinations, i);
    return true;
}

void
pick_sizes(ExprEnv *env, const LocalPicks *picks, Value *value)
{
    for (uint32_t d = 0; d < picks->n; d++)
        if (picks->at[d].count)
            value_set_size(env, value, picks->at[d].axis, picks->at[d].count);
}

typedef struct PlainAt {
    PickPlain *plain;
    void *context;
} PlainAt;

static bool
plain_dims(ExprEnv *env, Node node, void *context, Type *type)
{
    const PlainAt *at = context;
    Value value;
    bool good = at->plain(env, node, at->context, &value);
    if (good)
        *type = value.type;
    return good;
}

static bool
picked_value(ExprEnv *env, Node node, PickPlain *plain, void *context, LocalPicks *picks, Value *out)
{
    const Type whole = out->type;
    const uint32_t count = out->count, tuples = pick_tuples(picks);
    bool counted = false;
    for (uint32_t d = 0; d < picks->n; d++)
        counted |= picks->at[d].count != 0;
    if (tuples == 1 && !picks->at[0].indices && !counted)
        return picked_scalars(env, node, plain, context, picks, out);
    U32Vec places = {0};
    Value all, part = *out;
    bool good = pick_axes(env, node, picks, &whole, plain_dims, &(PlainAt){plain, context}) && value_new(env, &whole, node_span(env, node), &all);
    for (uint32_t t = 0; t < tuples && good; t++) {
        pick_tuple(picks, t, &whole, count, &places);
        part.count = places.n;
        good = picked_scalars(env, node, plain, context, picks, &part);
        for (uint32_t i = 0; i < places.n && good; i++)
            all.elements[places.at[i]] = part.elements[i];
    }
    vec_free(&places);
    if (good)
        *out = all;
    if (good)
        pick_sizes(env, picks, out);
    return good;
}

static bool
has_subscripts(const ExprEnv *env, Node ref)
{
    for (uint32_t i = 0; i < ast_at(env->ast, ref)->nchild; i++)
        if (ast_child(env->ast, ast_child(env->ast, ref, i), 0))
            return true;
    return false;
}

bool
expression_is_name(const ExprEnv *env, Node node)
{
    return ast_kind(env->ast, node) == AST_REF && !has_subscripts(env, node);
}

bool
pick_reference(ExprEnv *env, Node node, PickPlain *plain, void *context, Value *out)
{
    LocalPicks picks = {0}, *outer = env->picks;
    env->picks = has_subscripts(env, node) ? &picks : NULL;
    bool good = plain(env, node, context, out);
    env->picks = outer;
    return good && (!picks.n || picked_value(env, node, plain, context, &picks, out));
}
