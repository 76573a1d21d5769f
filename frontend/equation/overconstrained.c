// overconstrained.c: overconstrained connectors: what the text says about the connection graph.
//
// Purpose: Connections.root, potentialRoot, branch, isRoot and rooted, and the function equalityConstraint of a
// record (Modelica 3.6, section 9.4). Method: statements are recorded with the fragment, queries are extra
// variables of it; the linker builds the graph over all instances, solves it (spanning.c) and replaces queries
// by numbers. Equations under a condition on the graph carry it as a guard, since instances that share a
// fragment may differ in the answer.
// Contract: equation.h, fragment.h. Complexity: linear in the text; equalityConstraint is expanded once per connector type.
#include "frontend/equation/equation.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static bool
constraint_function(Elab *elab, uint32_t class_id, Found *found)
{
    return scope_member(elab->program, class_id, sym_of(elab->dae->syms, "equalityConstraint"), found)
        && found->class_id && class_at(elab->program, found->class_id)->kind == CLASS_FUNCTION;
}

bool
is_overconstrained(Elab *elab, uint32_t class_id)
{
    Found found;
    if (!class_id || scope_is_predefined(class_id))
        return false;
    ClassKind kind = class_at(elab->program, class_id)->kind;
    return (kind == CLASS_RECORD || kind == CLASS_TYPE) && constraint_function(elab, class_id, &found);
}

const Overconstrained *
overconstrained_at(const Elab *elab, uint32_t type, uint32_t i)
{
    uint32_t first;
    if (!map_get(&elab->overconstrained_of, type, &first) || first + i >= elab->overconstrained.n
        || elab->overconstrained.at[first + i].type != type)
        return NULL;
    return &elab->overconstrained.at[first + i];
}

// --- references

// One whole record, or one whole array of a type.
static bool
is_whole(Elab *elab, const Target *target)
{
    if (target->n != 1)
        return false;
    if (target->kind == TARGET_COMPONENT)
        return is_overconstrained(elab, target->spots[0].frag->class_id);
    const Member *member = target->spots[0].member;
    return target->kind == TARGET_VARIABLE && target->m == member->count && is_overconstrained(elab, member->type_class);
}

// The first scalar of an overconstrained record or array.
static bool
record_var(Elab *elab, ExprEnv *env, Node ref, uint32_t *var)
{
    Target target;
    Span span = node_at(elab, ref)->span;
    if (node_at(elab, ref)->kind != AST_REF) {
        diag_add(elab->diags, E0406, span, "this must name an overconstrained record of a connector");
        return false;
    }
    if (!resolve(elab, env, ref, &target))
        return false;
    if (target.absent) {
        diag_add(elab->diags, E0118, span, "'%s' is not part of the model: its condition is false",
                 scope_name_text(elab->program, ref));
        return false;
    }
    if (!is_whole(elab, &target)) {
        Diag *diag = diag_add(elab->diags, E0406, span, "'%s' is no overconstrained record of a connector",
                              scope_name_text(elab->program, ref));
        if (target.kind == TARGET_COMPONENT && target.n == 1)
            diag_help(diag, "such a record has a function 'equalityConstraint'");
        return false;
    }
    Fragment *frag = ((Scope *)env->scope)->frag;
    uint32_t first = target.spots[0].var + (target.kind == TARGET_VARIABLE ? target.spots[0].member->first : 0);
    *var = target.outer ? extra_outer(frag, target.outer - 1, first) : first;
    return true;
}

// --- statements

static bool
add_priority(Context *context, Node call, double *out)
{
    Elab *elab = context->elab;
    Node node = call_argument(elab, call, 1, "priority");
    Value value;
    *out = 0;
    if (!node)
        return true;
    if (!evaluate(elab, context->frag, context->class_id, true, node, &value))
        return false;
    if (value.type.base != TYPE_INTEGER || value.type.rank) {
        diag_add(elab->diags, E0406, node_at(elab, node)->span, "a priority is an Integer");
        return false;
    }
    *out = expr_value(elab->dae->exprs, value.elements[0]);
    return true;
}

// ROOT_BRANCH + 1: none of them.
static uint8_t
statement_kind(const char *name)
{
    static const char *const names[] = {[ROOT_DEFINITE] = "Connections.root",
                                        [ROOT_POTENTIAL] = "Connections.potentialRoot",
                                        [ROOT_BRANCH] = "Connections.branch"};
    uint8_t kind = ROOT_DEFINITE;
    while (kind <= ROOT_BRANCH && strcmp(name, names[kind]))
        kind++;
    return kind;
}

void
overconstrained_statement(Context *context, Node call)
{
    Elab *elab = context->elab;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    FragRoot root = {.kind = statement_kind(name), .span = node_at(elab, call)->span};
    if (root.kind > ROOT_BRANCH) {
        unsupported(elab, root.span, arena_printf(elab->arena, "a call of '%s' as an equation", name));
        return;
    }
    Node a = call_argument(elab, call, 0, "a"), b = call_argument(elab, call, 1, "b");
    if (!a || (root.kind == ROOT_BRANCH && !b)) {
        diag_add(elab->diags, E0406, root.span, "'%s' takes %s", name,
                 root.kind == ROOT_BRANCH ? "two overconstrained records" : "an overconstrained record");
        return;
    }
    if (!record_var(elab, &elab->env, a, &root.a)
        || (root.kind == ROOT_BRANCH && !record_var(elab, &elab->env, b, &root.b))
        || (root.kind == ROOT_POTENTIAL && !add_priority(context, call, &root.priority)))
        return;
    vec_push(&context->frag->roots, root);
}

// --- queries

bool
overconstrained_query(ExprEnv *env, Node call, Value *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    const char *name = scope_name_text(elab->program, child_at(elab, call, 0));
    bool is_root = !strcmp(name, "Connections.isRoot");
    Node argument = call_argument(elab, call, 0, "R");
    uint32_t var;
    if (!is_root && strcmp(name, "Connections.rooted") && strcmp(name, "rooted")) {
        diag_add(elab->diags, E0406, node_at(elab, call)->span,
                 statement_kind(name) <= ROOT_BRANCH ? "'%s' has no value" : "there is no '%s'", name);
        return false;
    }
    if (!argument || !scope->frag || env->in_function) {
        diag_add(elab->diags, E0406, node_at(elab, call)->span,
                 argument ? "'%s' has no meaning here" : "'%s' takes an overconstrained record", name);
        return false;
    }
    if (!record_var(elab, env, argument, &var))
        return false;
    Expr *element = arena_new(env->arena, Expr);
    uint32_t slot = env->slots->n;
    vec_push(env->slots, extra_var(scope->frag, is_root ? EXTRA_IS_ROOT : EXTRA_ROOTED, var, 0));
    *element = expr_slot(env->exprs, slot);
    *out = (Value){.type = {.base = TYPE_BOOLEAN}, .count = 1, .elements = element};
    return true;
}

bool
asks_graph(const Elab *elab, Node expr)
{
    U32Vec stack = {0};
    bool yes = false;
    vec_push(&stack, expr);
    while (!yes && stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        if (!node)
            continue;
        if (at->kind == AST_CALL) {
            const char *name = scope_name_text(elab->program, child_at(elab, node, 0));
            yes = !strcmp(name, "Connections.isRoot") || !strcmp(name, "Connections.rooted")
               || !strcmp(name, "rooted") || !strcmp(name, "cardinality");
        }
        for (uint32_t i = 0; i < at->nchild; i++)
            vec_push(&stack, child_at(elab, node, i));
    }
    vec_free(&stack);
    return yes;
}

bool
overconstrained_guard(Context *context, Node condition, U32Vec *slots, Expr *out, bool *decided, bool *value)
{
    enum { QUERIES = 64 };
    Elab *elab = context->elab;
    Scope scope = {.frag = context->frag, .class_id = context->class_id, .structural = true, .loops = true};
    Map slot_of = {0};
    ExprEnv env;
    Value result;
    env_init(elab, &env, &scope);
    env.slots = slots;
    env.slot_of = &slot_of;
    elab->active++;
    bool ok = expression(&env, condition, &result);
    elab->active--;
    vec_free(&env.locals);
    map_free(&slot_of);
    if (!ok)
        return false;
    Span span = node_at(elab, condition)->span;
    if (result.type.base != TYPE_BOOLEAN || result.type.rank) {
        diag_add(elab->diags, E0119, span, "a condition must be a Boolean");
        return false;
    }
    *out = result.elements[0];
    *decided = expr_op(env.exprs, *out) == OP_CONST;
    *value = *decided && expr_value(env.exprs, *out) != 0;
    ok = slots->n <= QUERIES && !expr_has_op(env.exprs, *out, OP_TIME);
    for (uint32_t i = 0; i < slots->n && ok; i++) {
        const Extra *extra = slots->at[i] & EXTRA_BIT && slots->at[i] != UNPLACED
            ? &context->frag->extras.at[slots->at[i] & ~EXTRA_BIT] : NULL;
        ok = extra && (extra->kind == EXTRA_IS_ROOT || extra->kind == EXTRA_ROOTED
                       || extra->kind == EXTRA_CARDINALITY);
    }
    if (!ok)
        diag_add(elab->diags, E0406, span,
                 "a condition on the connection graph cannot depend on what changes with time");
    return ok;
}

uint32_t
add_guard(Elab *elab, Fragment *frag, Expr condition, const U32Vec *slots)
{
    FragGuard guard = {.row = frag->rows.n};
    vec_clear(&elab->order);
    guard.shape = expr_shape(elab->dae->exprs, condition, &elab->order);
    guard.n = elab->order.n;
    for (uint32_t k = 0; k < guard.n; k++)
        vec_push(&frag->rows, slots->at[elab->order.at[k]]);
    vec_push(&frag->guards, guard);
    return frag->guards.n;
}

// --- equalityConstraint

// Adds 4 a*b - a*a - b*b over the elements of a square matrix from slot `first` on. Of n axes of unit length that is 2 n where they are
// the same, and at most 2 n - 16 where axes are turned half round, which three residues that are sines do not tell from the same.
static Expr
add_sameness(Exprs *exprs, Expr sum, const Type *type, uint32_t first, uint32_t size)
{
    if (type->base != TYPE_REAL || type->rank != 2 || type->dims[0] != type->dims[1] || type->dims[0] < 2)
        return sum;
    for (uint32_t k = first; k < first + type->dims[0] * type->dims[1]; k++) {
        Expr a = expr_slot(exprs, k), b = expr_slot(exprs, size + k);
        Expr product = expr_2(exprs, OP_MUL, expr_const(exprs, 4), expr_2(exprs, OP_MUL, a, b));
        Expr squares = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, a, a), expr_2(exprs, OP_MUL, b, b));
        Expr term = expr_2(exprs, OP_ADD, product, expr_1(exprs, OP_NEG, squares));
        sum = sum ? expr_2(exprs, OP_ADD, sum, term) : term;
    }
    return sum;
}

static Expr
sameness(Exprs *exprs, const Overconstrained *part, const RecordType *record)
{
    Expr sum = 0;
    if (!record)
        return add_sameness(exprs, 0, &part->value, 0, part->size);
    for (uint32_t i = 0; i < record->n; i++)
        sum = add_sameness(exprs, sum, &record->fields[i].type, record->fields[i].first, part->size);
    return sum;
}

bool
overconstrained_residues(Elab *elab, uint32_t type, uint32_t i, Span span)
{
    Overconstrained *part = (Overconstrained *)(uintptr_t)overconstrained_at(elab, type, i);
    Found found;
    if (part->made)
        return part->residues != NULL;
    part->made = true;
    const RecordType *record = part->value.base == TYPE_RECORD ? record_of_class(elab, part->class_id, span) : NULL;
    if ((part->value.base == TYPE_RECORD && !record) || !constraint_function(elab, part->class_id, &found))
        return false;
    Type compared = part->value;
    compared.record = record;
    Scope inside = {.class_id = found.class_id, .structural = true};
    FunctionRef function = {.class_node = class_at(elab->program, found.class_id)->node, .scope = &inside,
                            .full_name = class_at(elab->program, found.class_id)->full_name};
    Value arguments[2], residues;
    AsideEnv aside;
    aside_open(elab, &aside, &inside);
    aside.env.arena = elab->arena;
    for (uint32_t k = 0; k < 2; k++) {
        arguments[k] = (Value){.type = compared, .count = part->size,
                               .elements = arena_array(elab->arena, Expr, part->size)};
        for (uint32_t s = 0; s < part->size; s++)
            arguments[k].elements[s] = expr_slot(elab->dae->exprs, k * part->size + s);
    }
    bool ok = (!record || record->size == part->size) && aside.env.calls->apply(&aside.env, &function, arguments, 2, span, &residues);
    aside_close(elab, &aside);
    if (!ok)
        return false;
    part->residues = residues.elements;
    part->n_residues = residues.count;
    part->same = sameness(elab->dae->exprs, part, record);
    return true;
}
