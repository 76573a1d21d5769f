// equation.c: equation sections.
//
// Purpose: equations, if- and for-equations and calls to (shape, row) pairs of the fragment. Method: Modelica
// 3.6, section 8.3. An if-equation whose conditions are known at compile time is one of its branches;
// otherwise the branches' equations are joined pairwise under `if`. A for-equation is elaborated once per
// iteration; indices used as values are literal variables, so that all iterations share their shapes.
// Contract: equation.h, fragment.h. Complexity: linear in the scalar equations.
#include "frontend/equation/equation.h"
#include "frontend/function/function.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/text_values.h"

void
begin_equation(Elab *elab, Fragment *frag, uint32_t class_id, bool loops)
{
    elab->scope = (Scope){.frag = frag, .class_id = class_id, .loops = loops};
    elab->in_equation = true;
    vec_clear(&elab->slots);
    // Entries of earlier equations do no harm, but a small map stays in the cache.
    if (elab->slot_of.count > 256)
        map_clear(&elab->slot_of);
    elab->env.when = elab->env.pure = false;
    elab->env.other_units = false;
}

void
end_equation(Elab *elab)
{
    elab->in_equation = false;
    if (!elab->active)
        arena_reset(elab->scratch);
}

Expr
slot_expr(Elab *elab, uint32_t var)
{
    uint32_t slot;
    if (!map_get(&elab->slot_of, var, &slot) || slot >= elab->slots.n || elab->slots.at[slot] != var) {
        slot = elab->slots.n;
        vec_push(&elab->slots, var);
        map_put(&elab->slot_of, var, slot);
    }
    return expr_slot(elab->dae->exprs, slot);
}

void
store_shape(Elab *elab, Fragment *frag, Expr e, Expr *shape, uint32_t *row, uint32_t *n)
{
    Exprs *exprs = elab->dae->exprs;
    *row = frag->rows.n;
    Op op = expr_op(exprs, e);
    if (op == OP_CONST || op == OP_SLOT) { // of a table there are many
        *n = op == OP_SLOT;
        *shape = *n ? expr_slot(exprs, 0) : e;
        if (*n)
            vec_push(&frag->rows, elab->slots.at[expr_slot_of(exprs, e)]);
        return;
    }
    if (map_get(&elab->shape_slots, e, n)) {
        *shape = e;
        vec_append(&frag->rows, elab->slots.at, *n);
        return;
    }
    vec_clear(&elab->order);
    *shape = expr_shape(elab->dae->exprs, e, &elab->order);
    *n = elab->order.n;
    if (*shape == e)
        map_put(&elab->shape_slots, e, *n);
    for (uint32_t k = 0; k < *n; k++)
        vec_push(&frag->rows, elab->slots.at[elab->order.at[k]]);
}

void
add_equation(Elab *elab, Fragment *frag, EqnKind kind, Expr left, Expr right, Span span)
{
    FragEquation equation = {.kind = (uint8_t)kind, .other_units = elab->env.other_units, .span = span, .guard = elab->guard};
    Expr e = expr_2(elab->dae->exprs, OP_EQN, left, right);
    store_shape(elab, frag, e, &equation.shape, &equation.row, &equation.n);
    vec_push(&frag->equations, equation);
}

static void
take(void *data, Expr left, Expr right, Span span)
{
    Context *context = data;
    if (context->sink)
        vec_push(context->sink, (Pair){left, right, span});
    else
        add_equation(context->elab, context->frag, context->initial ? EQN_INITIAL : EQN_NORMAL, left, right,
                     span);
}

// A new equation, unless it is part of a branch whose equations share their slots.
static void
begin(Context *context)
{
    if (context->sink)
        return;
    begin_equation(context->elab, context->frag, context->class_id, true);
    context->elab->env.pure = !context->initial;
}

static void
end(Context *context)
{
    if (!context->sink)
        end_equation(context->elab);
}

// (a, , b) = f(x): calls `take` for each pair of scalars; false after an error.
bool
take_outputs(Elab *elab, Node tuple, Node call, Span span, TakePair *take, void *data)
{
    ExprEnv *env = &elab->env;
    Value *outputs;
    uint32_t n;
    if (!function_multiple(env, call, &outputs, &n))
        return false;
    if (node_at(elab, tuple)->nchild > n) {
        diag_add(elab->diags, E0123, span, "the function has %u output%s, but %u are taken", n, n == 1 ? "" : "s",
                 node_at(elab, tuple)->nchild);
        return false;
    }
    for (uint32_t i = 0; i < node_at(elab, tuple)->nchild; i++) {
        Node target = child_at(elab, tuple, i);
        Value left;
        if (!target)
            continue;
        if (node_at(elab, target)->kind != AST_REF) {
            diag_add(elab->diags, E0216, node_at(elab, target)->span, "the outputs of a function are taken by variables, and this is none");
            return false;
        }
        if (!expression(env, target, &left)
            || !expression_coerce(env, &outputs[i], &left.type, span, "the variable on the left"))
            return false;
        for (uint32_t k = 0; k < left.count; k++)
            take(data, left.elements[k], outputs[i].elements[k], span);
    }
    return true;
}

static void
elaborate_simple(Context *context, Node node)
{
    Elab *elab = context->elab;
    Node lhs = child_at(elab, node, 0), rhs = child_at(elab, node, 1);
    Span span = span_join(node_at(elab, lhs)->span, node_at(elab, rhs)->span);
    Value left, right;
    if (!lhs || !rhs)
        return;
    begin(context);
    if (node_at(elab, lhs)->kind == AST_TUPLE && node_at(elab, rhs)->kind == AST_CALL)
        take_outputs(elab, lhs, rhs, span, take, context);
    else if (expression_equation(&elab->env, lhs, rhs, span, &left, &right))
        for (uint32_t k = 0; k < left.count; k++)
            if (!record_fixed(&left.type, k))
                take(context, left.elements[k], right.elements[k], span);
    end(context);
}

// --- for

enum { ITERATION_LIMIT = 10 * 1000 * 1000 };

typedef struct LoopRun {
    Context *context;
    Node indices;
    LoopBody *body;
    void *data;
    Node equation;           // the FOREQ when its innermost index may be affine
} LoopRun;

// The values of an index: counted up, or one by one.
typedef struct LoopRange {
    RangeBounds bounds;
    const Expr *elements;    // NULL: bounds.first + k*bounds.step
} LoopRange;

static bool
range_value(Elab *elab, ExprEnv *env, Node range, LoopRange *out)
{
    Value value;
    *out = (LoopRange){0};
    if (node_at(elab, range)->kind == AST_RANGE)
        return expression_bounds(env, range, &out->bounds);
    if (!expression_range(env, range, &value))
        return false;
    // The scratch memory is given back after each equation of the body.
    Expr *kept = arena_array(elab->arena, Expr, value.count);
    if (value.count)
        memcpy(kept, value.elements, value.count * sizeof *kept);
    out->elements = kept;
    out->bounds = (RangeBounds){.type = value.type, .count = value.count};
    out->bounds.type.rank = 0;
    return true;
}

static bool
loop_range(Context *context, Node index, LoopRange *out)
{
    Elab *elab = context->elab;
    Node range = child_at(elab, index, 0);
    if (!loop_has_range(&elab->env, index))
        return false;
    Scope scope = {.frag = context->frag, .class_id = context->class_id, .structural = true, .loops = true};
    AsideEnv aside;
    aside_open(elab, &aside, &scope);
    bool ok = range_value(elab, &aside.env, range, out);
    aside_close(elab, &aside);
    return ok;
}

static bool
within_iterations(Elab *elab, uint64_t iterations, Span span)
{
    if (iterations <= ITERATION_LIMIT || elab->stopped)
        return !elab->stopped;
    diag_add(elab->diags, E0114, span, "the loops of the model have more than %d iterations",
             ITERATION_LIMIT);
    elab->stopped = true;
    return false;
}

// True when a range uses none of the loop indices around it.
static bool
range_is_fixed(const Elab *elab, Node range)
{
    const Scope scope = {.loops = true};
    U32Vec stack = {0};
    bool fixed = true;
    vec_push(&stack, range);
    while (fixed && stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        if (at->kind == AST_REF)
            fixed = !find_loop(elab, &scope, node_at(elab, child_at(elab, node, 0))->sym);
        for (uint32_t i = 0; node && i < at->nchild; i++)
            vec_push(&stack, child_at(elab, node, i));
    }
    vec_free(&stack);
    return fixed;
}

// Loops inside each other whose ranges do not depend on one another are counted before they run: a product
// that is too large is an error at once.
static bool
count_loops(Elab *elab, Loop *loop, Node range, uint32_t count)
{
    const Loop *outer = elab->loops.n ? &vec_last(&elab->loops) : NULL;
    loop->first = !outer || outer->first;
    if (!loop->first)
        return true;
    loop->total = outer ? outer->total : 1;
    if (!outer || range_is_fixed(elab, range))
        loop->total *= count;
    return within_iterations(elab, loop->total, node_at(elab, range)->span);
}

typedef struct LoopLevel { // one index while it runs
    const LoopRun *run;
    uint32_t i, place;       // which index; its place in Elab.loops
    LoopRange range;
    Expr element;            // its value
} LoopLevel;

static bool run_loop(const LoopRun *run, uint32_t i);
static void elaborate_equation(Context *context, Node node);

static bool
run_iteration(void *data, uint32_t k)
{
    LoopLevel *level = data;
    Elab *elab = level->run->context->elab;
    const LoopRange *range = &level->range;
    level->element = range->elements ? range->elements[k]
        : expr_const(elab->dae->exprs, range->bounds.first + k * range->bounds.step);
    elab->loops.at[level->place].value.elements = &level->element;
    elab->loops.at[level->place].first &= k == 0;
    return run_loop(level->run, level->i + 1);
}

static bool
run_iterations(LoopLevel *level)
{
    const LoopRun *run = level->run;
    Elab *elab = run->context->elab;
    const RangeBounds *bounds = &level->range.bounds;
    bool innermost = level->i + 1 == node_at(elab, run->indices)->nchild, ok = true;
    if (innermost) {
        elab->iterations += bounds->count;
        if (!within_iterations(elab, elab->iterations, node_at(elab, run->indices)->span))
            return false;
    }
    if (innermost && run->equation && !level->range.elements && bounds->type.base == TYPE_INTEGER
        && affine_body(elab, run->equation, elab->loops.at[level->place].name)) {
        AffineLoop loop = {bounds->count, bounds->step, run_iteration, level};
        return affine_iterations(elab, run->context->frag, &loop);
    }
    for (uint32_t k = 0; k < bounds->count && ok && !elab->stopped; k++)
        ok = run_iteration(level, k);
    return ok;
}

static bool
run_loop(const LoopRun *run, uint32_t i)
{
    Elab *elab = run->context->elab;
    if (i == node_at(elab, run->indices)->nchild)
        return run->body(run->data);
    Node index = child_at(elab, run->indices, i);
    LoopLevel level = {.run = run, .i = i, .place = elab->loops.n};
    if (!loop_range(run->context, index, &level.range))
        return false;
    Loop loop = {.name = node_at(elab, index)->sym, .value = {.type = level.range.bounds.type, .count = 1}};
    if (!count_loops(elab, &loop, child_at(elab, index, 0), level.range.bounds.count))
        return false;
    vec_push(&elab->loops, loop);
    bool ok = run_iterations(&level);
    elab->loops.n = level.place;
    return ok;
}

void
elaborate_loop(Context *context, Node indices, LoopBody *body, void *data, Node affine)
{
    LoopRun run = {context, indices, body, data, affine};
    run_loop(&run, 0);
}

typedef struct ForBody {
    Context *context;
    Node node;
} ForBody;

// After an error the loop ends: one message is enough for all iterations.
static bool
for_body(void *data)
{
    ForBody *body = data;
    Elab *elab = body->context->elab;
    uint32_t errors = diags_errors(elab->diags);
    for (uint32_t i = 1; i < node_at(elab, body->node)->nchild; i++) {
        Node child = child_at(elab, body->node, i);
        if (child && node_at(elab, child)->kind != AST_COMMENT)
            elaborate_equation(body->context, child);
    }
    return diags_errors(elab->diags) == errors;
}

// --- if

bool
structural_branch(Context *context, Node branch, bool *known, bool *taken)
{
    Elab *elab = context->elab;
    Node condition = child_at(elab, branch, 0);
    *known = *taken = true;
    if (!condition)
        return true;
    *known = is_structural(elab, context->frag, context->class_id, condition);
    return !*known || evaluate_bool(elab, context->frag, context->class_id, true, condition, taken);
}

static void
branch_body(Context *context, Node branch)
{
    Elab *elab = context->elab;
    for (uint32_t i = 1; i < node_at(elab, branch)->nchild; i++)
        if (child_at(elab, branch, i))
            elaborate_equation(context, child_at(elab, branch, i));
}

typedef struct Alternative { // a branch that may be active at run time
    Expr condition;          // 0: else
    Pairs pairs;
} Alternative;
typedef VEC(Alternative) Alternatives;

// Branches may give the same variables their values in different orders.
static void
order_as(const Pairs *first, Pairs *pairs)
{
    Map place = {0}; // left side -> where it stands
    uint32_t at;
    for (uint32_t i = pairs->n; i-- > 0;)
        map_put(&place, pairs->at[i].left, i);
    for (uint32_t i = 0; i < pairs->n; i++) {
        if (pairs->at[i].left == first->at[i].left || !map_get(&place, first->at[i].left, &at) || at <= i)
            continue;
        Pair moved = pairs->at[i];
        pairs->at[i] = pairs->at[at];
        pairs->at[at] = moved;
        map_put(&place, moved.left, at);
    }
    map_free(&place);
}

static void
join_alternatives(Context *context, Alternatives *all, Span span)
{
    Exprs *exprs = context->elab->dae->exprs;
    uint32_t n = all->at[0].pairs.n;
    bool has_else = !vec_last(all).condition;
    for (uint32_t b = 0; b < all->n; b++) {
        if (all->at[b].pairs.n == n && (has_else || !n))
            continue;
        Diag *diag = diag_add(context->elab->diags, E0121, span,
                              "two branches have different numbers of equations: %u and %u", n,
                              has_else ? all->at[b].pairs.n : 0);
        diag_help(diag, has_else
                  ? "a condition that changes with time needs equally many equations in every branch"
                                 : "a condition that changes with time needs an else branch");
        return;
    }
    for (uint32_t b = 1; b < all->n; b++)
        order_as(&all->at[0].pairs, &all->at[b].pairs);
    for (uint32_t i = 0; i < n; i++) {
        bool same_left = true;
        for (uint32_t b = 1; b < all->n; b++)
            same_left &= all->at[b].pairs.at[i].left == all->at[0].pairs.at[i].left;
        Expr joined = 0;
        for (uint32_t b = all->n; b-- > 0;) {
            Pair pair = all->at[b].pairs.at[i];
            Expr value = same_left ? pair.right : expr_sub(exprs, pair.left, pair.right);
            joined = all->at[b].condition && joined ? expr_3(exprs, OP_IF, all->at[b].condition, value,
                                                             joined) : value;
        }
        Expr zero = expr_const(exprs, 0);
        take(context, same_left ? all->at[0].pairs.at[i].left : joined, same_left ? joined : zero,
             all->at[0].pairs.at[i].span);
    }
}

static bool
condition_value(Context *context, Node condition, Expr *out)
{
    Value value;
    if (!expression(&context->elab->env, condition, &value))
        return false;
    if (value.type.base != TYPE_BOOLEAN || value.type.rank) {
        diag_add(context->elab->diags, E0119, node_at(context->elab, condition)->span,
                 "a condition must be a Boolean");
        return false;
    }
    *out = value.elements[0];
    return true;
}

// The equations of a branch, which have this clock.
void
elaborate_clocked(Context *context, Node branch, Expr clock)
{
    Pairs pairs = {0};
    Context inner = *context;
    inner.sink = &pairs;
    branch_body(&inner, branch);
    for (uint32_t i = 0; i < pairs.n; i++)
        take(context, pairs.at[i].left, expr_2(context->elab->dae->exprs, OP_CLOCKED, pairs.at[i].right, clock), pairs.at[i].span);
    vec_free(&pairs);
}

// Branches from number `first` on decide at run time.
static void
elaborate_dynamic(Context *context, Node node, uint32_t first, uint32_t count)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    Alternatives all = {0};
    Expr before = context->guard;
    bool ok = true;
    begin(context);
    elab->active++;
    for (uint32_t b = first; b < count && ok; b++) {
        Node branch = child_at(elab, node, b), condition = child_at(elab, branch, 0);
        Alternative alternative = {0};
        if (condition && !condition_value(context, condition, &alternative.condition)) {
            ok = false;
            break;
        }
        Context inner = *context;
        inner.sink = &alternative.pairs;
        inner.guard = before;
        if (condition)
            inner.guard = before ? expr_2(exprs, OP_AND, before, alternative.condition)
                : alternative.condition;
        uint32_t errors = diags_errors(elab->diags);
        branch_body(&inner, branch);
        ok = diags_errors(elab->diags) == errors;
        vec_push(&all, alternative);
        if (!condition)
            break;
        Expr not = expr_1(exprs, OP_NOT, alternative.condition);
        before = before ? expr_2(exprs, OP_AND, before, not) : not;
    }
    if (ok && all.n)
        join_alternatives(context, &all, node_at(elab, node)->span);
    elab->active--;
    for (uint32_t b = 0; b < all.n; b++)
        vec_free(&all.at[b].pairs);
    vec_free(&all);
    end(context);
}

// Branches from number `first` on are chosen by the connection graph: each equation is part of the model where its
// branch is the one taken, which the linker knows for every instance.
static void
elaborate_graph_branches(Context *context, Node node, uint32_t first, uint32_t count)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    uint32_t outer = elab->guard;
    Expr before = 0;
    U32Vec slots = {0};
    if (outer)
        vec_append(&slots, context->frag->rows.at + context->frag->guards.at[outer - 1].row,
                   context->frag->guards.at[outer - 1].n);
    Expr held = outer ? context->frag->guards.at[outer - 1].shape : 0;
    for (uint32_t b = first; b < count; b++) {
        Node branch = child_at(elab, node, b), condition = child_at(elab, branch, 0);
        Expr taken = 0;
        bool decided = !condition, value = true;
        if (condition && !overconstrained_guard(context, condition, &slots, &taken, &decided, &value))
            break;
        if (decided && !value)
            continue;
        Expr here = decided ? before : before ? expr_2(exprs, OP_AND, before, taken) : taken;
        if (here && held)
            here = expr_2(exprs, OP_AND, held, here);
        elab->guard = here ? add_guard(elab, context->frag, here, &slots) : outer;
        branch_body(context, branch);
        elab->guard = outer;
        if (decided)
            break;
        Expr not = expr_1(exprs, OP_NOT, taken);
        before = before ? expr_2(exprs, OP_AND, before, not) : not;
    }
    vec_free(&slots);
}

static void
elaborate_if(Context *context, Node node)
{
    Elab *elab = context->elab;
    uint32_t count = node_at(elab, node)->nchild;
    while (count && (!child_at(elab, node, count - 1)
                     || node_at(elab, child_at(elab, node, count - 1))->kind != AST_BRANCH))
        count--;
    for (uint32_t b = 0; b < count; b++) {
        bool known, taken;
        Node branch = child_at(elab, node, b);
        if (!context->sink && child_at(elab, branch, 0) && asks_graph(elab, child_at(elab, branch, 0))) {
            elaborate_graph_branches(context, node, b, count);
            return;
        }
        if (!structural_branch(context, branch, &known, &taken))
            return;
        if (!known) {
            elaborate_dynamic(context, node, b, count);
            return;
        }
        if (taken) {
            branch_body(context, branch);
            return;
        }
    }
}

// --- calls

Node
call_argument(Elab *elab, Node call, uint32_t i, const char *name)
{
    Node arguments = child_at(elab, call, 1);
    for (uint32_t k = 0; arguments && k < node_at(elab, arguments)->nchild; k++) {
        Node argument = child_at(elab, arguments, k);
        if (node_at(elab, argument)->kind != AST_ARG) {
            if (k == i)
                return argument;
        } else if (!strcmp(sym_text(elab->dae->syms, node_at(elab, argument)->sym), name)) {
            return child_at(elab, argument, 0);
        }
    }
    return 0;
}

static bool
assert_level(Context *context, Node call, uint8_t *level)
{
    Elab *elab = context->elab;
    Node node = call_argument(elab, call, 2, "level");
    Value value;
    *level = 0;
    if (!node)
        return true;
    if (!evaluate(elab, context->frag, context->class_id, true, node, &value))
        return false;
    if (value.type.base != TYPE_ENUM || value.type.n_literals != 2) {
        diag_add(elab->diags, E0123, node_at(elab, node)->span,
                 "the level is AssertionLevel.error or .warning");
        return false;
    }
    *level = expr_value(elab->dae->exprs, value.elements[0]) == 2;
    return true;
}

// assert(condition, message, level) and terminate(message); the latter is an assert that fails when its guard
// holds.
void
elaborate_assert(Context *context, Node call)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    bool stop = !strcmp(scope_name_text(elab->program, child_at(elab, call, 0)), "terminate");
    Node condition = stop ? 0 : call_argument(elab, call, 0, "condition");
    Node text = call_argument(elab, call, stop ? 0 : 1, "message");
    FragAssert made = {.span = node_at(elab, call)->span, .level = 2, .guard = elab->guard};
    Value message;
    Expr e = expr_const(exprs, 0);
    if ((!stop && !condition) || !text) {
        diag_add(elab->diags, E0123, made.span, stop ? "terminate needs a message"
                                                     : "assert needs a condition and a message");
        return;
    }
    Node arguments = child_at(elab, call, 1);
    uint32_t most = stop ? 1 : 3;
    if (arguments && node_at(elab, arguments)->nchild > most) {
        diag_add(elab->diags, E0123, node_at(elab, child_at(elab, arguments, most))->span, "%s takes %u argument%s", stop ? "terminate" : "assert", most, stop ? "" : "s");
        return;
    }
    if (!stop && (!condition_value(context, condition, &e) || !assert_level(context, call, &made.level)))
        return;
    if (!expression(&elab->env, text, &message))
        return;
    if (message.type.base != TYPE_STRING || message.type.rank) {
        diag_add(elab->diags, E0123, node_at(elab, text)->span, "the message must be a string");
        return;
    }
    if (context->guard) {
        Expr off = expr_1(exprs, OP_NOT, context->guard);
        e = stop ? off
            : expr_has_op(exprs, e, OP_CALL) // which is made there alone
            ? expr_1(exprs, OP_NOEVENT, expr_3(exprs, OP_IF, context->guard, e, expr_const(exprs, 1)))
            : expr_2(exprs, OP_OR, off, e);
    }
    if (context->initial) // what is said of the start is about it alone
        e = expr_2(exprs, OP_OR, expr_1(exprs, OP_NOT, expr_make(exprs, OP_INITIAL, NULL, 0)), e);
    TextForm form = text_form(exprs, message.elements[0], elab->scratch);
    made.message = sym_of(elab->dae->syms, form.form);
    made.told = context->frag->told.n;
    made.n_told = form.n;
    for (uint32_t k = 0; k < form.n; k++) {
        FragTold told;
        store_shape(elab, context->frag, form.values[k], &told.shape, &told.row, &told.n);
        vec_push(&context->frag->told, told);
    }
    store_shape(elab, context->frag, e, &made.shape, &made.row, &made.n);
    made.other_units = elab->env.other_units;
    vec_push(&context->frag->asserts, made);
}

void
elaborate_effect(Context *context, Node call)
{
    Elab *elab = context->elab;
    Exprs *exprs = elab->dae->exprs;
    Expr e, zero = expr_const(exprs, 0);
    if (!function_effect(&elab->env, call, &e) || !e)
        return;
    // Evaluated with the assertions, and always true: what the call does not like it says itself.
    e = expr_2(exprs, OP_OR, expr_2(exprs, OP_LT, e, zero), expr_2(exprs, OP_GE, e, zero));
    if (context->guard)
        e = expr_3(exprs, OP_IF, context->guard, e, expr_const(exprs, 1)); // which is not evaluated elsewhere
    if (context->initial)
        e = expr_3(exprs, OP_IF, expr_make(exprs, OP_INITIAL, NULL, 0), e, expr_const(exprs, 1));
    FragAssert made = {.span = node_at(elab, call)->span, .guard = elab->guard, .told = context->frag->told.n};
    made.message = sym_of(elab->dae->syms, "a call has no finite result");
    store_shape(elab, context->frag, expr_1(exprs, OP_NOEVENT, e), &made.shape, &made.row, &made.n);
    made.other_units = elab->env.other_units;
    vec_push(&context->frag->asserts, made);
}

static void
elaborate_call(Context *context, Node call)
{
    Elab *elab = context->elab;
    Span span = node_at(elab, call)->span;
    if (!call || node_at(elab, call)->kind != AST_CALL)
        return;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    if (!strcmp(name, "assert") || !strcmp(name, "terminate")) {
        begin(context);
        elaborate_assert(context, call);
        end(context);
    } else if (!strcmp(name, "reinit")) {
        diag_add(elab->diags, E0123, span, "'%s' can stand in a when-equation only", name);
    } else if (machine_statement(name) && !scope_find(elab->program, context->class_id, sym_of(elab->dae->syms, name), &(Found){0})) {
        if (context->sink || elab->guard || context->initial) {
            diag_add(elab->diags, E0515, span, "'%s' cannot stand %s", name, context->initial ? "in an initial equation section" : "under a condition that is not a parameter's");
            return;
        }
        begin(context);
        machine_equation(context, call);
        end(context);
    } else if (!strncmp(name, "Connections.", 12)) {
        if (context->sink || elab->guard) {
            diag_add(elab->diags, E0406, span, "'%s' cannot stand under a condition that is not a parameter's", name);
            return;
        }
        begin(context);
        overconstrained_statement(context, call);
        end(context);
    } else {
        begin(context);
        elaborate_effect(context, call);
        end(context);
    }
}

static void
elaborate_equation(Context *context, Node node)
{
    Elab *elab = context->elab;
    ForBody body = {context, node};
    if (elab->stopped)
        return;
    switch (node_at(elab, node)->kind) {
    case AST_EQUATION:
        elaborate_simple(context, node);
        break;
    case AST_IFEQ:
        elaborate_if(context, node);
        break;
    case AST_FOREQ:
        elaborate_loop(context, child_at(elab, node, 0), for_body, &body, context->sink ? 0 : node);
        break;
    case AST_CALLEQ:
        elaborate_call(context, child_at(elab, node, 0));
        break;
    case AST_ENERGYITEM:
        elaborate_energy_item(context, node);
        break;
    case AST_CONNECT:
    case AST_WHENEQ:
        if (elab->guard)
            unsupported(elab, node_at(elab, node)->span, "connect or when under a condition on the connection graph");
        else if (context->sink)
            diag_add(elab->diags, E0133, node_at(elab, node)->span,
                     "'%s' cannot stand under a condition that changes with time",
                     node_at(elab, node)->kind == AST_CONNECT ? "connect" : "when");
        else if (node_at(elab, node)->kind == AST_CONNECT && context->initial)
            diag_add(elab->diags, E0133, node_at(elab, node)->span, "'connect' holds at all times and cannot stand among initial equations");
        else if (node_at(elab, node)->kind == AST_CONNECT && !deselected(context->frag, node))
            elaborate_connect(context, node);
        else if (node_at(elab, node)->kind == AST_WHENEQ)
            elaborate_when(context, node);
        break;
    default:
        break;
    }
}

static void
elaborate_sections(Elab *elab, Fragment *frag)
{
    for (uint32_t s = 0; s < frag->sections.n; s++) {
        FragSection section = frag->sections.at[s];
        Context context = {.elab = elab, .frag = frag, .class_id = section.class_id,
                           .initial = (node_at(elab, section.node)->flags & AST_F_INITIAL) != 0};
        if (node_at(elab, section.node)->kind == AST_ALGORITHM) {
            elaborate_algorithm(&context, section.node);
            continue;
        }
        for (uint32_t i = 0; i < node_at(elab, section.node)->nchild; i++)
            if (child_at(elab, section.node, i))
                elaborate_equation(&context, child_at(elab, section.node, i));
    }
}

const FragmentContents fragment_contents = {
    .find_when_variables = find_when_variables, .connector = elaborate_connector, .binds = elaborate_binds,
    .sections = elaborate_sections, .connections = connection_query,
};
