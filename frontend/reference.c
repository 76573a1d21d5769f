// References: from `a.b[i].c` in some scope to places in a fragment, or to values.
//
// Purpose: the name-resolution callbacks of ExprEnv (expression.h), and evaluation at compile time. Method: Modelica 3.6,
// section 5.3.2: the first name is looked up from the inside out, the others inside what was found. In a
// structural scope parameters yield values; these come from the modification that reaches them or from their
// declaration, and everything asked for is marked structural.
// Contract: fragment.h. Complexity: linear in names and selected scalars.
#include "frontend/fragment.h"

enum { CONSTANT_FAILED = 0x7fffffff }; // in Elab.constant_of

typedef struct Selection {
    uint32_t *offsets, n;
    uint8_t rank;
    uint32_t dims[MAX_RANK];
} Selection;

static const char *
name_of(Elab *elab, Sym name)
{
    return sym_text(elab->dae->syms, name);
}

static const AstNode *
node_at(Elab *elab, Node node)
{
    return ast_at(&elab->program->ast, node);
}

static Node
child_at(Elab *elab, Node node, uint32_t i)
{
    return ast_child(&elab->program->ast, node, i);
}

// --- subscripts

static const Loop *
find_loop(Elab *elab, const Scope *scope, Sym name)
{
    for (uint32_t i = elab->loops.n; scope->loops && i-- > 0;)
        if (elab->loops.at[i].name == name)
            return &elab->loops.at[i];
    return NULL;
}

// Subscripts are mostly loop indices plus or minus a number; these need no environment.
static bool
quick_integer(Elab *elab, ExprEnv *env, Node node, int64_t *out, uint32_t depth)
{
    const AstNode *at = node_at(elab, node);
    int64_t left, right;
    if (at->kind == AST_NUMBER && (at->flags & AST_F_INTEGER)) {
        double value = ast_number(&elab->program->ast, node);
        *out = (int64_t)value;
        return value < 1e9;
    }
    if (at->kind == AST_REF && at->nchild == 1 && !env->locals.n) {
        const AstNode *part = node_at(elab, child_at(elab, node, 0));
        const Loop *loop = part->nchild && child_at(elab, child_at(elab, node, 0), 0)
                         ? NULL : find_loop(elab, env->scope, part->sym);
        if (!loop || loop->value.type.base != TYPE_INTEGER)
            return false;
        *out = (int64_t)expr_value(elab->dae->exprs, loop->value.elements[0]);
        return true;
    }
    if (at->kind != AST_BINARY || (at->kind_of != AOP_ADD && at->kind_of != AOP_SUB) || depth > 8)
        return false;
    if (!quick_integer(elab, env, child_at(elab, node, 0), &left, depth + 1)
        || !quick_integer(elab, env, child_at(elab, node, 1), &right, depth + 1))
        return false;
    *out = at->kind_of == AOP_ADD ? left + right : left - right;
    return true;
}

static bool
subscript_constant(Elab *elab, ExprEnv *env, Node node, uint32_t size, Value *out)
{
    Scope scope = *(Scope *)env->scope;
    U32Vec slots = {0};
    Map slot_of = {0};
    ExprEnv inner;
    scope.structural = true;
    env_init(elab, &inner, &scope);
    inner.slots = &slots;
    inner.slot_of = &slot_of;
    inner.depth = env->depth;
    inner.nesting = env->nesting;
    inner.in_function = env->in_function;
    for (uint32_t i = 0; i < env->locals.n; i++)
        vec_push(&inner.locals, env->locals.at[i]);
    Expr element = expr_const(elab->dae->exprs, size);
    Local end = {elab->end_name, {.type = {.base = TYPE_INTEGER}, .count = 1, .elements = &element}};
    vec_push(&inner.locals, end);
    elab->active++;
    bool ok = expression_constant(&inner, node, out);
    elab->active--;
    vec_free(&inner.locals);
    vec_free(&slots);
    map_free(&slot_of);
    return ok;
}

static bool
check_index(Elab *elab, Node node, int64_t index, uint32_t size, Sym name)
{
    if (index >= 1 && index <= (int64_t)size)
        return true;
    diag_add(elab->diags, E0111, node_at(elab, node)->span, "subscript %lld of '%s' is outside 1..%u",
             (long long)index, name_of(elab, name), size);
    return false;
}

// The positions (from 0) that one subscript selects; *keep: it is a slice and its dimension stays.
static bool
select_one(Elab *elab, ExprEnv *env, Node node, uint32_t size, Sym name, U32Vec *picked, bool *keep)
{
    int64_t index;
    *keep = !node || node_at(elab, node)->kind == AST_COLON;
    if (*keep) {
        for (uint32_t i = 0; i < size; i++)
            vec_push(picked, i);
        return true;
    }
    if (quick_integer(elab, env, node, &index, 0)) {
        vec_push(picked, (uint32_t)(index - 1));
        return check_index(elab, node, index, size, name);
    }
    Value value;
    if (!subscript_constant(elab, env, node, size, &value))
        return false;
    if (value.type.rank > 1 || (value.type.base != TYPE_INTEGER && value.type.base != TYPE_ENUM
                                && value.type.base != TYPE_BOOLEAN)) {
        diag_add(elab->diags, E0111, node_at(elab, node)->span, "a subscript must be an Integer or a vector of them");
        return false;
    }
    *keep = value.type.rank == 1;
    for (uint32_t i = 0; i < value.count; i++) {
        index = (int64_t)expr_value(elab->dae->exprs, value.elements[i]) + (value.type.base == TYPE_BOOLEAN);
        if (!check_index(elab, node, index, size, name))
            return false;
        vec_push(picked, (uint32_t)(index - 1));
    }
    return true;
}

static bool
select_all(Elab *elab, const uint32_t *dims, uint32_t rank, Selection *out)
{
    out->n = 1;
    out->rank = (uint8_t)rank;
    for (uint32_t i = 0; i < rank; i++) {
        out->dims[i] = dims[i];
        out->n *= dims[i];
    }
    out->offsets = arena_array(elab->scratch, uint32_t, out->n);
    for (uint32_t i = 0; i < out->n; i++)
        out->offsets[i] = i;
    return true;
}

static bool
select_elements(Elab *elab, ExprEnv *env, Node subscripts, const uint32_t *dims, uint32_t rank, Sym name,
                Selection *out)
{
    uint32_t given = subscripts ? node_at(elab, subscripts)->nchild : 0;
    if (!given)
        return select_all(elab, dims, rank, out);
    if (given > rank) {
        diag_add(elab->diags, E0111, node_at(elab, subscripts)->span, "'%s' has %u dimension%s but %u subscript%s",
                 name_of(elab, name), rank, rank == 1 ? "" : "s", given, given == 1 ? "" : "s");
        return false;
    }
    uint32_t *offsets = arena_array(elab->scratch, uint32_t, 1), n = 1;
    int64_t index;
    if (rank == 1 && quick_integer(elab, env, child_at(elab, subscripts, 0), &index, 0)) {
        *offsets = (uint32_t)(index - 1);
        out->offsets = offsets;
        out->n = 1;
        out->rank = 0;
        return check_index(elab, child_at(elab, subscripts, 0), index, dims[0], name);
    }
    U32Vec picked = {0};
    bool ok = true;
    out->rank = 0;
    for (uint32_t i = 0; i < rank && ok; i++) {
        bool keep;
        vec_clear(&picked);
        ok = select_one(elab, env, i < given ? child_at(elab, subscripts, i) : 0, dims[i], name, &picked, &keep);
        if (!ok)
            break;
        uint32_t *longer = arena_array(elab->scratch, uint32_t, (uint64_t)n * picked.n);
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t p = 0; p < picked.n; p++)
                longer[k * picked.n + p] = offsets[k] * dims[i] + picked.at[p];
        offsets = longer;
        n *= picked.n;
        if (keep)
            out->dims[out->rank++] = picked.n;
    }
    vec_free(&picked);
    out->offsets = offsets;
    out->n = n;
    return ok;
}

// --- constants of packages and enclosing classes

static bool
constant_value(Elab *elab, uint32_t owner, const ClassMember *member, Span asked, Value *out)
{
    const AstNode *line = node_at(elab, member->line);
    if (!(line->flags & AST_F_CONSTANT)) {
        Diag *diag = diag_add(elab->diags, E0119, asked, "'%s' belongs to class '%s' and is not a constant",
                              name_of(elab, member->name),
                              name_of(elab, class_at(elab->program, owner)->full_name));
        diag_note(diag, node_at(elab, member->node)->span, "declared here");
        return false;
    }
    uint32_t state;
    if (map_get(&elab->constant_of, member->node, &state)) {
        if (state == CONSTANT_FAILED)
            return false;
        if (state)
            *out = elab->constants.at[state - 1];
        else
            diag_add(elab->diags, E0113, asked, "the value of '%s' depends on itself",
                     name_of(elab, member->name));
        return state != 0;
    }
    map_put(&elab->constant_of, member->node, 0);
    TypeUse use = {0};
    Type type = {0};
    bool open = false;
    Node own = child_at(elab, member->node, 0), sizes = child_at(elab, member->line, 1);
    Node mods = child_at(elab, member->node, 1), value = mods ? child_at(elab, mods, 0) : 0;
    uint32_t class_id = scope_class(elab->program, owner, child_at(elab, member->line, 0));
    bool ok = class_id && type_use(elab, class_id, &use);
    if (ok && (!class_is_variable(elab, use.class_id) || !value)) {
        diag_add(elab->diags, value ? E0701 : E0112, asked, value ? "the record constant '%s' is not supported yet"
                 : "the constant '%s' has no value", name_of(elab, member->name));
        ok = false;
    }
    ok = ok && (!own || evaluate_dims(elab, NULL, owner, own, &type, &open))
      && (!sizes || evaluate_dims(elab, NULL, owner, sizes, &type, &open));
    for (uint32_t i = 0; ok && i < use.dims.n; i++)
        ok = evaluate_dims(elab, NULL, use.dims.at[i].class_id, use.dims.at[i].node, &type, &open);
    vec_free(&use.dims);
    if (!ok || !evaluate(elab, NULL, owner, false, value, out)) {
        map_put(&elab->constant_of, member->node, CONSTANT_FAILED);
        return false;
    }
    Type wanted;
    type_of_class(elab, use.class_id, &wanted);
    wanted.rank = type.rank;
    memcpy(wanted.dims, type.dims, sizeof type.dims);
    ExprEnv env;
    Scope scope = {.class_id = owner, .structural = true};
    env_init(elab, &env, &scope);
    const char *what = arena_printf(elab->arena, "constant '%s'", name_of(elab, member->name));
    if (!expression_coerce(&env, out, &wanted, node_at(elab, value)->span, what))
        return false;
    vec_push(&elab->constants, *out);
    map_put(&elab->constant_of, member->node, elab->constants.n);
    return true;
}

static bool
value_target(Elab *elab, ExprEnv *env, const Value *value, Node subscripts, Sym name, Target *target)
{
    Selection picked;
    Value *made = arena_new(elab->scratch, Value);
    *made = *value;
    target->kind = TARGET_VALUE;
    target->value = made;
    if (!subscripts || value->type.base == TYPE_STRING)
        return true;
    if (!select_elements(elab, env, subscripts, value->type.dims, value->type.rank, name, &picked))
        return false;
    made->type.rank = picked.rank;
    memcpy(made->type.dims, picked.dims, sizeof picked.dims);
    made->count = picked.n;
    made->elements = arena_array(elab->scratch, Expr, picked.n);
    for (uint32_t i = 0; i < picked.n; i++)
        made->elements[i] = value->elements[picked.offsets[i]];
    return true;
}

static bool
literal_target(Elab *elab, uint32_t class_id, Sym name, Target *target)
{
    uint32_t at = class_id;
    TypeUse use = {0};
    if (!class_is_variable(elab, class_id))
        return false;
    if (type_use(elab, class_id, &use))
        at = use.class_id;
    vec_free(&use.dims);
    const ClassInfo *info = class_at(elab->program, at);
    for (uint32_t i = 0; i < info->n_literals; i++) {
        if (info->literals[i] != name)
            continue;
        Value *value = arena_new(elab->scratch, Value);
        type_of_class(elab, at, &value->type);
        value->count = 1;
        value->elements = arena_array(elab->scratch, Expr, 1);
        value->elements[0] = expr_const(elab->dae->exprs, i + 1);
        target->kind = TARGET_VALUE;
        target->value = value;
        return true;
    }
    return false;
}

static bool
unknown_name(Elab *elab, const Scope *scope, uint32_t class_id, Sym name, Span span, bool member)
{
    Diag *diag;
    const char *text = name_of(elab, name);
    const char *class_text = name_of(elab, class_at(elab->program, class_id)->full_name);
    if (member)
        diag = diag_add(elab->diags, E0101, span, "'%s' has nothing named '%s'", class_text, text);
    else
        diag = diag_add(elab->diags, E0101, span, "there is nothing named '%s' in '%s' or around it", text, class_text);
    const char *near = scope_nearest(elab->program, class_id, name, member);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
    (void)scope;
    return false;
}

// In a package any modified constant may change the others.
static bool
modifies(Elab *elab, uint32_t class_id, Sym name)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < info->extends.n; i++) {
        Node extends = info->extends.at[i];
        Node mods = child_at(elab, extends, node_at(elab, extends)->kind == AST_SHORT ? 2 : 1);
        for (uint32_t k = 1; mods && k < node_at(elab, mods)->nchild; k++) {
            Node mod = child_at(elab, mods, k), path = child_at(elab, mod, 0);
            if (node_at(elab, mod)->kind != AST_MOD || !path)
                continue;
            if (info->kind == CLASS_PACKAGE || node_at(elab, child_at(elab, path, 0))->sym == name)
                return true;
        }
    }
    return false;
}

// `package B extends A(c = 2)`: B.c is not what A says. Reports that this is not supported.
static bool
modified_constant(Elab *elab, uint32_t seen_from, const Found *found, Span span)
{
    Sym name = found->member->name;
    for (uint32_t at = seen_from; at && at != CLASSID_ROOT && at != found->owner; at = class_at(elab->program, at)->parent) {
        if (!scope_is_base(elab->program, found->owner, at))
            continue;
        // Few classes lie between: walk towards the owner.
        for (uint32_t step = at, depth = 0; step != found->owner && depth < DEPTH_LIMIT; depth++) {
            if (modifies(elab, step, name)) {
                unsupported(elab, span, "a constant that a package modifies when it extends another");
                return true;
            }
            const ClassInfo *info = class_at(elab->program, step);
            uint32_t next = 0;
            for (uint32_t i = 0; i < info->bases.n && !next; i++)
                if (info->bases.at[i] && scope_is_base(elab->program, found->owner, info->bases.at[i]))
                    next = info->bases.at[i];
            if (!next)
                break;
            step = next;
        }
        return false;
    }
    return false;
}

// A path that starts at a class: constants and enumeration literals.
static bool
resolve_static(Elab *elab, ExprEnv *env, Node ref, Found found, Target *target)
{
    uint32_t n = node_at(elab, ref)->nchild, seen_from = ((const Scope *)env->scope)->class_id;
    for (uint32_t i = 0; i < n; i++) {
        Node part = child_at(elab, ref, i);
        const AstNode *at = node_at(elab, part);
        if (i) {
            seen_from = found.class_id;
            if (literal_target(elab, found.class_id, at->sym, target) && i == n - 1)
                return true;
            uint32_t in = found.class_id;
            if (!scope_member(elab->program, in, at->sym, &found))
                return unknown_name(elab, env->scope, in, at->sym, at->span, true);
        }
        if (found.class_id)
            continue;
        if (i != n - 1) {
            unsupported(elab, node_at(elab, ref)->span, "a constant of record type");
            return false;
        }
        Value value;
        return !modified_constant(elab, seen_from, &found, at->span) && constant_value(elab, found.owner, found.member, at->span, &value)
            && value_target(elab, env, &value, child_at(elab, part, 0), at->sym, target);
    }
    diag_add(elab->diags, E0119, node_at(elab, ref)->span, "'%s' is a class and has no value",
             scope_name_text(elab->program, ref));
    return false;
}

// --- members of instances

static Spot
element_spot(const Spot *owner, Member *member, uint32_t e)
{
    Fragment *part = member->fragments[member->split ? e : 0];
    if (member->split && member->element_places) {
        const uint32_t *at = member->element_places + 3 * e;
        return (Spot){part, member, owner->var + at[0], owner->inst + at[1], owner->connector + at[2]};
    }
    return (Spot){part, member, owner->var + member->first + e * part->nvars,
                  owner->inst + member->first_inst + e * part->ninsts,
                  owner->connector + member->first_connector + e * part->nconnectors};
}

static bool
join_dims(Elab *elab, Target *target, const Selection *picked, Span span)
{
    if (target->rank + picked->rank > MAX_RANK) {
        diag_add(elab->diags, E0111, span, "more than %d dimensions", MAX_RANK);
        return false;
    }
    for (uint32_t i = 0; i < picked->rank; i++)
        target->dims[target->rank++] = picked->dims[i];
    return true;
}

// One more name: every spot so far is an instance; the member is looked up in each.
static bool
step(Elab *elab, ExprEnv *env, Node part, bool last, Target *target)
{
    const AstNode *at = node_at(elab, part);
    Fragment *frag = target->n ? target->spots[0].frag : NULL;
    Member *member = frag ? fragment_member(frag, at->sym) : NULL;
    if (!frag)
        return true;
    if (!member)
        return unknown_name(elab, env->scope, frag->class_id, at->sym, at->span, true);
    if (!member_declare(elab, frag, member))
        return false;
    if (member->absent) {
        target->absent = true;
        return true;
    }
    target->nested |= frag->is_connector;
    Selection picked;
    if (!select_elements(elab, env, child_at(elab, part, 0), member->type.dims, member->type.rank, at->sym, &picked)
        || !join_dims(elab, target, &picked, at->span))
        return false;
    if (!member->is_component) {
        target->kind = TARGET_VARIABLE;
        target->offsets = picked.offsets;
        target->m = picked.n;
        target->type = member->type;
        target->type.rank = 0;
        for (uint32_t i = 0; i < target->n; i++) {
            Member *same = fragment_member(target->spots[i].frag, at->sym);
            if (!same || !member_declare(elab, target->spots[i].frag, same) || same->count != member->count) {
                diag_add(elab->diags, E0402, at->span, "the elements have '%s' of different sizes",
                         name_of(elab, at->sym));
                return false;
            }
            target->spots[i].member = same;
        }
        if (!last)
            diag_add(elab->diags, E0119, at->span, "'%s' is a variable and has no parts", name_of(elab, at->sym));
        return last;
    }
    Spot *spots = arena_array(elab->scratch, Spot, (uint64_t)target->n * picked.n);
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < picked.n; k++) {
            Member *same = i ? fragment_member(target->spots[i].frag, at->sym) : member;
            if (!same || (i && !member_declare(elab, target->spots[i].frag, same)))
                return false;
            spots[i * picked.n + k] = element_spot(&target->spots[i], same, picked.offsets[k]);
        }
    target->kind = TARGET_COMPONENT;
    target->spots = spots;
    target->n *= picked.n;
    return true;
}

static bool
resolve_instance(Elab *elab, ExprEnv *env, Fragment *frag, Node ref, Target *target)
{
    uint32_t n = node_at(elab, ref)->nchild;
    target->spots = arena_new(elab->scratch, Spot);
    target->spots[0] = (Spot){.frag = frag};
    target->n = 1;
    for (uint32_t i = 0; i < n && !target->absent; i++) {
        if (!step(elab, env, child_at(elab, ref, i), i == n - 1, target))
            return false;
        if (!i && !target->absent && target->n)
            target->outside = target->spots[0].member->is_connector;
    }
    return true;
}

static bool
visible_member(Elab *elab, const Scope *scope, Sym name)
{
    Found found;
    if (!scope->frag || !fragment_member(scope->frag, name))
        return false;
    return scope->class_id == scope->frag->class_id || !scope_is_base(elab->program, scope->class_id, scope->frag->class_id)
        || scope_member(elab->program, scope->class_id, name, &found);
}

bool
resolve(Elab *elab, ExprEnv *env, Node ref, Target *target)
{
    Scope *scope = env->scope;
    const AstNode *at = node_at(elab, ref);
    const AstNode *first = node_at(elab, child_at(elab, ref, 0));
    const Loop *loop = at->nchild == 1 ? find_loop(elab, scope, first->sym) : NULL;
    *target = (Target){0};
    if (loop) {
        target->kind = TARGET_VALUE;
        target->value = &loop->value;
        return true;
    }
    if (!(at->flags & AST_F_DOT) && visible_member(elab, scope, first->sym))
        return resolve_instance(elab, env, scope->frag, ref, target);
    Found found;
    bool ok = at->flags & AST_F_DOT ? scope_member(elab->program, CLASSID_ROOT, first->sym, &found)
                                    : scope_find(elab->program, scope->class_id, first->sym, &found);
    if (!ok)
        return unknown_name(elab, scope, scope->class_id, first->sym, first->span, false);
    return resolve_static(elab, env, ref, found, target);
}

// --- the value of a parameter

// The array levels around a fragment over which a modification is distributed, outermost first.
static bool
element_of_levels(Elab *elab, Fragment *frag, int32_t levels, const Value *value, uint32_t own_rank,
                  uint32_t *offset, bool *same, Span span)
{
    Fragment *counted[DEPTH_LIMIT];
    uint32_t n = 0, rank = 0, index = 0;
    for (Fragment *at = frag; at && levels > 0 && at->of; at = at->parent, levels--) {
        if (at->of->type.rank)
            counted[n++] = at;
    }
    *same = false;
    for (uint32_t i = n; i-- > 0;) {
        const Type *type = &counted[i]->of->type;
        for (uint32_t k = 0; k < type->rank; k++, rank++)
            if (rank >= value->type.rank || value->type.dims[rank] != type->dims[k])
                goto misfit;
        if (counted[i]->element == NONE)
            *same = true;
        else
            index = index * counted[i]->of->count + counted[i]->element;
    }
    if (rank + own_rank != value->type.rank)
        goto misfit;
    if (*same) {
        // Alike as long as all elements of the value are equal.
        for (uint32_t i = 1; i < value->count; i++)
            if (value->elements[i] != value->elements[0]) {
                for (uint32_t k = 0; k < n; k++)
                    if (counted[k]->element == NONE) {
                        counted[k]->needs_split = true;
                        return false;
                    }
            }
        index = 0;
    }
    *offset = index;
    return true;
misfit: {
    Diag *diag = diag_add(elab->diags, E0110, span,
                          "this value does not have one element for each element of the array it modifies");
    diag_help(diag, "write 'each' before the name to give every element the same value");
    return false;
    }
}

static bool
find_value(Elab *elab, Fragment *frag, Member *member, Span asked)
{
    const Mod *mod = member->mod;
    if (!mod || !mod->value) {
        Diag *diag = diag_add(elab->diags, E0112, asked,
                              "the value of '%s' must be known at compile time, but it has none",
                              name_of(elab, member->name));
        diag_note(diag, member->span, "declared here");
        return false;
    }
    Value value;
    if (!evaluate(elab, mod->frag, mod->class_id, false, mod->value, &value))
        return false;
    uint32_t offset = 0;
    bool same;
    if (mod->frag && mod->levels > 0 && !element_of_levels(elab, frag, mod->levels, &value, member->type.rank, &offset, &same, mod->span))
        return false;
    uint32_t count = member->count;
    if (value.type.rank != member->type.rank) {
        value.type.rank = member->type.rank;
        memcpy(value.type.dims, member->type.dims, sizeof value.type.dims);
        if ((uint64_t)(offset + 1) * count > value.count)
            return false;
        value.elements += (uint64_t)offset * count;
        value.count = count;
    }
    Scope scope = {.frag = mod->frag, .class_id = mod->class_id, .structural = true};
    ExprEnv env;
    env_init(elab, &env, &scope);
    const char *what = arena_printf(elab->arena, "'%s'", name_of(elab, member->name));
    if (!expression_coerce(&env, &value, &member->type, mod->span, what))
        return false;
    member->value = value;
    return true;
}

bool
member_value(Elab *elab, Fragment *frag, Member *member, Span asked, const Value **out)
{
    member->evaluate = true;
    *out = &member->value;
    if (member->value_state == 1) {
        diag_add(elab->diags, E0113, asked, "the value of '%s' depends on itself", name_of(elab, member->name));
        return false;
    }
    if (member->value_state >= 2)
        return member->value_state == 2;
    member->value_state = 1;
    bool ok = find_value(elab, frag, member, asked);
    member->value_state = ok ? 2 : 3;
    return ok;
}

// --- callbacks

uint32_t
extra_var(Fragment *frag, ExtraKind kind, uint32_t var, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t key = kind == EXTRA_LITERAL ? hash_add(kind, bits) : ((uint64_t)kind << 32) | var;
    uint32_t index;
    if (map_get(&frag->extra_of, key, &index)) {
        const Extra *old = &frag->extras.at[index];
        if (old->kind == kind && old->var == var && !memcmp(&old->value, &value, sizeof value))
            return index | EXTRA_BIT;
    }
    Extra extra = {.kind = (uint8_t)kind, .var = var, .value = value};
    vec_push(&frag->extras, extra);
    map_put(&frag->extra_of, key, frag->extras.n - 1);
    return (frag->extras.n - 1) | EXTRA_BIT;
}

static bool
structural_value(Elab *elab, const Target *target, Span span, Reference *out)
{
    Value *value = arena_new(elab->scratch, Value);
    value->type = out->type;
    value->count = out->count;
    value->elements = arena_array(elab->scratch, Expr, out->count);
    for (uint32_t i = 0; i < target->n; i++) {
        const Value *whole;
        if (!member_value(elab, target->spots[i].frag, target->spots[i].member, span, &whole))
            return false;
        value->string = whole->string;
        for (uint32_t k = 0; whole->elements && k < target->m; k++)
            value->elements[i * target->m + k] = whole->elements[target->offsets[k]];
    }
    out->value = value;
    return true;
}

static bool
variable_reference(Elab *elab, const Scope *scope, const Target *target, Span span, Reference *out)
{
    const Member *member = target->spots[0].member;
    out->type = target->type;
    out->type.rank = target->rank;
    memcpy(out->type.dims, target->dims, sizeof target->dims);
    out->count = target->n * target->m;
    out->kind = member->kind;
    bool known = member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT;
    if (known && (scope->structural || member->type.base == TYPE_STRING))
        return structural_value(elab, target, span, out);
    uint32_t *vars = arena_array(elab->scratch, uint32_t, out->count);
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < target->m; k++)
            vars[i * target->m + k] = scope->structural ? UNPLACED
                : target->spots[i].var + target->spots[i].member->first + target->offsets[k];
    out->vars = vars;
    return true;
}

static bool
env_component(ExprEnv *env, Node ref, Reference *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    Span span = node_at(elab, ref)->span;
    Target target;
    *out = (Reference){0};
    if (!resolve(elab, env, ref, &target))
        return false;
    if (target.absent) {
        diag_add(elab->diags, E0118, span, "'%s' is not part of the model: its condition is false",
                 scope_name_text(elab->program, ref));
        return false;
    }
    if (target.kind == TARGET_VARIABLE)
        return variable_reference(elab, scope, &target, span, out);
    if (target.kind == TARGET_COMPONENT) {
        const Fragment *part = target.n ? target.spots[0].frag : NULL;
        if (part && class_at(elab->program, part->class_id)->kind == CLASS_RECORD)
            unsupported(elab, span, "a whole record as a value");
        else
            diag_add(elab->diags, E0119, span, "'%s' is a component, not a variable",
                     scope_name_text(elab->program, ref));
        return false;
    }
    out->type = target.value->type;
    out->count = target.value->count;
    out->kind = VAR_CONSTANT;
    out->value = target.value;
    // Loop indices as values are literal variables, so that all iterations share a shape.
    if (scope->loops && scope->frag && !scope->structural && node_at(elab, ref)->nchild == 1 && out->count == 1
        && !out->type.rank && find_loop(elab, scope, node_at(elab, child_at(elab, ref, 0))->sym)) {
        uint32_t *vars = arena_new(elab->scratch, uint32_t);
        *vars = extra_var(scope->frag, EXTRA_LITERAL, 0, expr_value(elab->dae->exprs, out->value->elements[0]));
        out->vars = vars;
        out->value = NULL;
    }
    return true;
}

static bool
env_function(ExprEnv *env, Node ref, FunctionRef *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    const AstNode *at = node_at(elab, ref);
    Found found;
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    uint32_t in = scope->class_id;
    bool ok = at->flags & AST_F_DOT ? scope_member(elab->program, CLASSID_ROOT, first, &found)
                                    : scope_find(elab->program, in, first, &found);
    for (uint32_t i = 1; ok && i < at->nchild; i++) {
        in = found.class_id;
        ok = in && scope_member(elab->program, in, node_at(elab, child_at(elab, ref, i))->sym, &found);
    }
    const char *text = scope_name_text(elab->program, ref);
    if (!ok || !found.class_id) {
        Diag *diag = diag_add(elab->diags, E0101, at->span, "there is no function '%s'", text);
        uint32_t n = 0;
        const char *const *names = builtin_names(&n);
        const char *near = nearest_name(text, names, n);
        if (!near)
            near = scope_nearest(elab->program, scope->class_id, first, false);
        if (near && strcmp(near, text))
            diag_help(diag, "did you mean '%s'?", near);
        return false;
    }
    const ClassInfo *info = class_at(elab->program, found.class_id);
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && ast_kind(&elab->program->ast, info->body) == AST_SHORT; depth++) {
        scope_bases(elab->program, found.class_id);
        info = class_at(elab->program, found.class_id);
        if (!info->bases.at[0])
            return false;
        found.class_id = info->bases.at[0];
        info = class_at(elab->program, found.class_id);
    }
    if (info->kind == CLASS_RECORD) {
        unsupported(elab, at->span, "a record constructor");
        return false;
    }
    if (info->kind != CLASS_FUNCTION) {
        diag_add(elab->diags, E0115, at->span, "'%s' is a %s, not a function", text,
                 ast_class_kind_name((ClassKind)info->kind));
        return false;
    }
    Scope *inside = arena_new(elab->arena, Scope);
    *inside = (Scope){.class_id = found.class_id, .structural = true};
    *out = (FunctionRef){.class_node = info->node, .scope = inside, .full_name = info->full_name};
    return true;
}

static bool
env_type(ExprEnv *env, Node name, Type *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    uint32_t class_id = scope_class(elab->program, scope->class_id, name);
    TypeUse use = {0};
    bool ok = class_id && type_use(elab, class_id, &use), open = false;
    if (ok && !class_is_variable(elab, use.class_id)) {
        unsupported(elab, node_at(elab, name)->span, "a record or model as a variable of a function");
        ok = false;
    }
    Type sizes = {0};
    for (uint32_t i = 0; ok && i < use.dims.n; i++)
        ok = evaluate_dims(elab, NULL, use.dims.at[i].class_id, use.dims.at[i].node, &sizes, &open);
    vec_free(&use.dims);
    if (!ok)
        return false;
    type_of_class(elab, use.class_id, out);
    out->rank = sizes.rank;
    memcpy(out->dims, sizes.dims, sizeof sizes.dims);
    return true;
}

// The member that holds a local variable, as an index into `order`; inside components the fragment changes.
static Member *
member_of_var(Fragment **frag, uint32_t *var)
{
    for (uint32_t depth = 0; depth < DEPTH_LIMIT; depth++) {
        Fragment *at = *frag;
        uint32_t lo = 0, hi = at->order.n;
        while (lo < hi) {
            uint32_t middle = (lo + hi) / 2;
            if (at->members.at[at->order.at[middle]].first <= *var)
                lo = middle + 1;
            else
                hi = middle;
        }
        // Members without scalars share their place with the next one: the last is the one that has it.
        if (!lo)
            return NULL;
        Member *member = &at->members.at[at->order.at[lo - 1]];
        *var -= member->first;
        if (!member->is_component)
            return *var < member->count ? member : NULL;
        uint32_t e = 0;
        if (member->split) {
            uint32_t base = member->first;
            while (e + 1 < member->count && member->element_places[3 * (e + 1)] - base <= *var)
                e++;
            *var -= member->element_places[3 * e] - base;
        } else if (member->fragments[0]->nvars) {
            *var %= member->fragments[0]->nvars;
        }
        *frag = member->fragments[e];
    }
    return NULL;
}

static bool
env_value(ExprEnv *env, Var var, double *out, Span span)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    Fragment *frag = scope->frag;
    uint32_t local = var;
    Member *member = NULL;
    if (frag && (var & EXTRA_BIT)) {
        const Extra *extra = &frag->extras.at[var & ~EXTRA_BIT];
        *out = extra->value;
        if (extra->kind == EXTRA_LITERAL)
            return true;
    } else if (frag && var != UNPLACED) {
        member = member_of_var(&frag, &local);
    }
    if (!member || (member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT)) {
        diag_add(elab->diags, E0112, span,
                 "a value that must be known at compile time uses something that is no parameter or constant");
        return false;
    }
    const Value *value;
    if (!member_value(elab, frag, member, span, &value))
        return false;
    *out = expr_value(elab->dae->exprs, value->elements[local]);
    return true;
}

static bool
env_literal(ExprEnv *env, Var var, double *out)
{
    const Scope *scope = env->scope;
    const Extra *extra = scope->frag && (var & EXTRA_BIT) ? &scope->frag->extras.at[var & ~EXTRA_BIT] : NULL;
    if (!extra || extra->kind != EXTRA_LITERAL)
        return false;
    *out = extra->value;
    return true;
}

// Only continuous variables and their derivatives change between events.
static bool
is_continuous(Fragment *frag, Var var)
{
    if (var & EXTRA_BIT)
        return frag->extras.at[var & ~EXTRA_BIT].kind == EXTRA_DER;
    Member *member = member_of_var(&frag, &var);
    return member && member->kind == VAR_CONTINUOUS;
}

static Var
env_der(ExprEnv *env, Var var)
{
    Scope *scope = env->scope;
    if (!scope->frag || scope->structural)
        return UNPLACED;
    return is_continuous(scope->frag, var) ? extra_var(scope->frag, EXTRA_DER, var, 0) : NONE;
}

static Var
env_pre(ExprEnv *env, Var var)
{
    Scope *scope = env->scope;
    return scope->frag && !scope->structural ? extra_var(scope->frag, EXTRA_PRE, var, 0) : UNPLACED;
}

void
env_init(Elab *elab, ExprEnv *env, Scope *scope)
{
    *env = (ExprEnv){.ast = &elab->program->ast, .syms = elab->dae->syms, .exprs = elab->dae->exprs,
                     .diags = elab->diags, .arena = elab->scratch, .slots = &elab->slots,
                     .slot_of = &elab->slot_of, .component = env_component, .function = env_function,
                     .type = env_type, 
                     .literal = env_literal, .value = env_value, .der = env_der, .pre = env_pre, .scope = scope,
                     .context = elab};
}

// --- evaluation at compile time

// The result lives as long as the elaboration.
bool
evaluate(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, Value *out)
{
    Scope scope = {.frag = frag, .class_id = class_id, .structural = true, .loops = loops};
    U32Vec slots = {0};
    Map slot_of = {0};
    ExprEnv env;
    env_init(elab, &env, &scope);
    env.slots = &slots;
    env.slot_of = &slot_of;
    elab->active++;
    if (elab->active > DEPTH_LIMIT) {
        diag_add(elab->diags, E0113, node_at(elab, expr)->span, "values depend on each other too deeply");
        elab->stopped = true;
        elab->active--;
        return false;
    }
    bool ok = expression_constant(&env, expr, out);
    elab->active--;
    vec_free(&env.locals);
    vec_free(&slots);
    map_free(&slot_of);
    if (!ok)
        return false;
    Expr *kept = arena_array(elab->arena, Expr, out->count);
    if (out->elements && out->count)
        memcpy(kept, out->elements, out->count * sizeof *kept);
    out->elements = kept;
    return true;
}

bool
evaluate_bool(Elab *elab, Fragment *frag, uint32_t class_id, bool loops, Node expr, bool *out)
{
    Value value;
    if (!evaluate(elab, frag, class_id, loops, expr, &value))
        return false;
    if (value.type.base != TYPE_BOOLEAN || value.type.rank) {
        diag_add(elab->diags, E0119, node_at(elab, expr)->span, "a condition must be a Boolean");
        return false;
    }
    *out = expr_value(elab->dae->exprs, value.elements[0]) != 0;
    return true;
}

static bool
evaluate_dim(Elab *elab, Fragment *frag, uint32_t class_id, Node node, uint32_t *out)
{
    Span span = node_at(elab, node)->span;
    // Real x[Axis] has one element per literal.
    uint32_t names = node_at(elab, node)->kind == AST_REF ? scope_class_quietly(elab->program, class_id, node) : 0;
    if (names && class_at(elab->program, names)->n_literals) {
        *out = class_at(elab->program, names)->n_literals;
        return true;
    }
    Value value;
    if (!evaluate(elab, frag, class_id, false, node, &value))
        return false;
    double size = value.count == 1 && !value.type.rank && value.type.base == TYPE_INTEGER
                ? expr_value(elab->dae->exprs, value.elements[0]) : -1;
    if (!(size >= 0) || size >= UINT32_MAX) {
        Out text = {0};
        ast_print_expr(&elab->program->ast, elab->dae->syms, node, &text);
        if (value.type.base == TYPE_INTEGER && !value.type.rank)
            diag_add(elab->diags, E0124, span, "the array size '%s' is %.0f", text.text, size);
        else
            diag_add(elab->diags, E0124, span, "the array size '%s' is not an Integer", text.text);
        out_free(&text);
        return false;
    }
    *out = (uint32_t)size;
    return true;
}

// Appends the sizes to `type`; `:` becomes UINT32_MAX and sets *open.
bool
evaluate_dims(Elab *elab, Fragment *frag, uint32_t class_id, Node subscripts, Type *type, bool *open)
{
    for (uint32_t i = 0; i < node_at(elab, subscripts)->nchild; i++) {
        Node node = child_at(elab, subscripts, i);
        if (type->rank == MAX_RANK) {
            diag_add(elab->diags, E0124, node_at(elab, subscripts)->span, "more than %d dimensions", MAX_RANK);
            return false;
        }
        uint32_t size = UINT32_MAX;
        if (node_at(elab, node)->kind == AST_COLON)
            *open = true;
        else if (!evaluate_dim(elab, frag, class_id, node, &size))
            return false;
        type->dims[type->rank++] = size;
    }
    return true;
}

// --- what can be decided at compile time

static bool
structural_path(Elab *elab, Fragment *frag, uint32_t class_id, Node ref)
{
    Scope scope = {.frag = frag, .class_id = class_id, .loops = true};
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    if (node_at(elab, ref)->nchild == 1 && find_loop(elab, &scope, first))
        return true;
    if (!visible_member(elab, &scope, first))
        return strcmp(name_of(elab, first), "time") != 0;
    const Member *member = NULL;
    for (uint32_t i = 0; i < node_at(elab, ref)->nchild; i++) {
        member = fragment_member(frag, node_at(elab, child_at(elab, ref, i))->sym);
        if (!member || member->absent || member->state != 2)
            return false;
        if (member->is_component)
            frag = member->fragments[0];
    }
    return member && !member->is_component && (member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT)
        && member->mod && member->mod->value && !mod_child(member->mod, sym_of(elab->dae->syms, "fixed"));
}

bool
is_structural(Elab *elab, Fragment *frag, uint32_t class_id, Node expr)
{
    static const char *const changing[] = {"der", "pre", "edge", "change", "initial", "terminal", "sample"};
    U32Vec stack = {0};
    bool yes = true;
    vec_push(&stack, expr);
    while (yes && stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        uint32_t first = 0;
        if (!node)
            continue;
        if (at->kind == AST_REF)
            yes = structural_path(elab, frag, class_id, node);
        if (at->kind == AST_CALL) {
            const char *name = scope_name_text(elab->program, child_at(elab, node, 0));
            for (uint32_t i = 0; i < sizeof changing / sizeof *changing; i++)
                yes &= strcmp(name, changing[i]) != 0;
            first = 1;
        }
        for (uint32_t i = first; i < at->nchild; i++)
            vec_push(&stack, child_at(elab, node, i));
    }
    vec_free(&stack);
    return yes;
}
