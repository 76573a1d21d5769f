// reference.c: references: from `a.b[i].c` in some scope to places in a fragment, or to values.
//
// Purpose: what a component reference selects. Method: Modelica 3.6, section 5.3.2: the first name is looked
// up from the inside out, the others inside what was found; subscripts select row-major positions.
// Contract: fragment.h. Complexity: linear in names and selected scalars.
#include "frontend/instance/fragment.h"
#include "frontend/names/names.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "runtime/model/nearest.h"

typedef struct Selection {
    uint32_t *offsets, n;
    uint8_t rank;
    uint32_t dims[MAX_RANK];
} Selection;

typedef struct Axes { // what is subscripted
    const uint32_t *dims;
    uint32_t rank;
    bool typed;                  // it is known what its subscripts are:
    const uint32_t *index_class; // see Member
    Sym name;
} Axes;

// --- subscripts

const Loop *
find_loop(const Elab *elab, const Scope *scope, Sym name)
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
    AsideEnv aside;
    scope.structural = true;
    aside_open(elab, &aside, &scope);
    aside.env.depth = env->depth;
    aside.env.nesting = env->nesting;
    aside.env.in_function = env->in_function;
    vec_append(&aside.env.locals, env->locals.at, env->locals.n);
    Expr element = expr_const(elab->dae->exprs, size);
    Local end = {elab->end_name, {.type = {.base = TYPE_INTEGER}, .count = 1, .elements = &element}};
    vec_push(&aside.env.locals, end);
    bool ok = expression_constant(&aside.env, node, out);
    aside_close(elab, &aside);
    return ok;
}

static bool
check_index(Elab *elab, Node node, int64_t index, uint32_t size, Sym name)
{
    if (index >= 1 && index <= (int64_t)size)
        return true;
    Diag *diag = diag_add(elab->diags, E0111, node_at(elab, node)->span, "subscript %lld of '%s' is outside 1..%u",
                          (long long)index, name_of(elab, name), size);
    if (!index && size)
        diag_help(diag, "the first element has the subscript 1");
    return false;
}

// A subscript that changes and is not picked (selection.c): a vector or a range. *known: it names what changes, and does not depend
// on it.
static bool
refuse_changing(Elab *elab, ExprEnv *env, Node node, uint32_t size, Value *value, bool *known)
{
    *known = false;
    if (!env->picks || !subscript_changes(elab, env, node))
        return false;
    Local end = {elab->end_name, value_scalar(env, TYPE_INTEGER, expr_const(env->exprs, size))};
    vec_push(&env->locals, end);
    bool good = expression(env, node, value);
    env->locals.n--;
    if (!good)
        return true;
    *known = value_known(env, value);
    if (*known)
        return false;
    diag_add(elab->diags, E0111, node_at(elab, node)->span, value->type.rank
             ? "a subscript that changes while the model runs must be a scalar or a vector of known size" : "a subscript must be an Integer");
    return true;
}

// A dimension that an enumeration or Boolean declares has the values of that type as subscripts, any other one Integers
// (section 10.5).
static bool
check_index_type(Elab *elab, const Axes *axes, uint32_t dim, const Type *type, Span span)
{
    uint32_t wanted = axes->typed && axes->index_class ? axes->index_class[dim] : 0;
    if (!axes->typed)
        return true;
    Type index = type_scalar(TYPE_INTEGER);
    if (wanted)
        type_of_class(elab, wanted, &index);
    Type given = *type;
    given.rank = 0;
    if (index.base == given.base && (index.base != TYPE_ENUM || type_same_class(&index, &given)))
        return true;
    diag_add(elab->diags, E0111, span, "dimension %u of '%s' has subscripts of type %s, but this has type %s", dim + 1,
             name_of(elab, axes->name), type_text(elab->scratch, elab->dae->syms, &index),
             type_text(elab->scratch, elab->dae->syms, &given));
    return false;
}

// The positions (from 0) that one subscript selects; *keep: it is a slice and its dimension stays.
static bool
select_one(Elab *elab, ExprEnv *env, Node node, const Axes *axes, uint32_t dim, U32Vec *picked, bool *keep)
{
    static const Type integer = {.base = TYPE_INTEGER};
    uint32_t size = axes->dims[dim];
    Sym name = axes->name;
    int64_t index;
    *keep = !node || node_at(elab, node)->kind == AST_COLON;
    if (*keep) {
        for (uint32_t i = 0; i < size; i++)
            vec_push(picked, i);
        return true;
    }
    if (quick_integer(elab, env, node, &index, 0)) {
        vec_push(picked, (uint32_t)(index - 1));
        return check_index_type(elab, axes, dim, &integer, node_at(elab, node)->span) && check_index(elab, node, index, size, name);
    }
    const LocalPick *pick = env->picks && subscript_changes(elab, env, node) ? subscript_picked(env, node, size, 0) : NULL;
    if (pick) {
        elab->uneven = true;
        *keep = pick->indices != NULL;
        for (uint32_t i = 0; i < pick->copies; i++)
            vec_push(picked, pick->at);
        return check_index_type(elab, axes, dim, &pick->type, node_at(elab, node)->span);
    }
    Value value;
    bool known;
    if (refuse_changing(elab, env, node, size, &value, &known) || (!known && !subscript_constant(elab, env, node, size, &value)))
        return false;
    if (value.type.rank > 1 || (value.type.base != TYPE_INTEGER && value.type.base != TYPE_ENUM
                                && value.type.base != TYPE_BOOLEAN)) {
        diag_add(elab->diags, E0111, node_at(elab, node)->span,
                 "a subscript must be an Integer or a vector of them");
        return false;
    }
    *keep = value.type.rank == 1;
    if (value.count && !check_index_type(elab, axes, dim, &value.type, node_at(elab, node)->span))
        return false;
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
select_elements(Elab *elab, ExprEnv *env, Node subscripts, const Axes *axes, Selection *out)
{
    const uint32_t *dims = axes->dims, rank = axes->rank;
    Sym name = axes->name;
    uint32_t given = subscripts ? node_at(elab, subscripts)->nchild : 0;
    if (!given)
        return select_all(elab, dims, rank, out);
    if (given > rank) {
        diag_add(elab->diags, E0111, node_at(elab, subscripts)->span,
                 "'%s' has %u dimension%s but %u subscript%s",
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
        static const Type integer = {.base = TYPE_INTEGER};
        Node node = child_at(elab, subscripts, 0);
        return check_index_type(elab, axes, 0, &integer, node_at(elab, node)->span) && check_index(elab, node, index, dims[0], name);
    }
    U32Vec picked = {0};
    bool ok = true;
    out->rank = 0;
    for (uint32_t i = 0; i < rank && ok; i++) {
        bool keep;
        vec_clear(&picked);
        ok = select_one(elab, env, i < given ? child_at(elab, subscripts, i) : 0, axes, i, &picked, &keep);
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

// --- paths that start at a class

static bool
value_target(Elab *elab, ExprEnv *env, const Value *value, Node subscripts, Sym name, Target *target)
{
    Selection picked;
    Value *made = arena_new(elab->scratch, Value);
    *made = *value;
    target->kind = TARGET_VALUE;
    target->value = made;
    if (!subscripts)
        return true;
    elab->uneven = true;
    Axes axes = {.dims = value->type.dims, .rank = value->type.rank, .name = name};
    if (!select_elements(elab, env, subscripts, &axes, &picked))
        return false;
    made->type.rank = picked.rank;
    memcpy(made->type.dims, picked.dims, sizeof picked.dims);
    made->count = picked.n;
    made->elements = arena_array(elab->scratch, Expr, picked.n);
    for (uint32_t i = 0; i < picked.n; i++)
        made->elements[i] = value->elements[picked.offsets[i]];
    return true;
}

// From 1; 0: there is none. `min` and `max` are the first and the last literal (section 4.9.5).
static uint32_t
literal_number(const Elab *elab, const ClassInfo *info, Sym name)
{
    for (uint32_t i = 0; i < info->n_literals; i++)
        if (info->literals[i] == name)
            return i + 1;
    if (info->n_literals && !strcmp(name_of(elab, name), "min"))
        return 1;
    return !strcmp(name_of(elab, name), "max") ? info->n_literals : 0;
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
    uint32_t number = literal_number(elab, info, name);
    if (!number)
        return false;
    Value *value = arena_new(elab->scratch, Value);
    type_of_class(elab, at, &value->type);
    value->count = 1;
    value->elements = arena_array(elab->scratch, Expr, 1);
    value->elements[0] = expr_const(elab->dae->exprs, number);
    target->kind = TARGET_VALUE;
    target->value = value;
    return true;
}

// `for a in Axis loop`: the name of an enumeration stands for the vector of its literals (section 11.2.2.2).
static bool
all_literals(Elab *elab, uint32_t class_id, Target *target)
{
    TypeUse use = {0};
    bool followed = class_is_variable(elab, class_id) && type_use(elab, class_id, &use);
    uint32_t at = followed ? use.class_id : class_id;
    vec_free(&use.dims);
    bool boolean = at == CLASSID_BOOLEAN;
    uint32_t n = boolean ? 2 : class_at(elab->program, at)->n_literals;
    if (!n)
        return false;
    Value *value = arena_new(elab->scratch, Value);
    type_of_class(elab, at, &value->type);
    value->type.rank = 1;
    value->type.dims[0] = value->count = n;
    value->elements = arena_array(elab->scratch, Expr, n);
    for (uint32_t i = 0; i < n; i++)
        value->elements[i] = expr_const(elab->dae->exprs, i + !boolean);
    target->kind = TARGET_VALUE;
    target->value = value;
    return true;
}

static bool
unknown_name(Elab *elab, uint32_t class_id, Sym name, Span span, bool member)
{
    Diag *diag;
    if (!member && scope_import_failed(elab->program, class_id, name))
        return false;
    const char *text = name_of(elab, name);
    const char *class_text = name_of(elab, class_at(elab->program, class_id)->full_name);
    if (member)
        diag = diag_add(elab->diags, E0101, span, "'%s' has nothing named '%s'", class_text, text);
    else
        diag = diag_add(elab->diags, E0101, span, "there is nothing named '%s' in '%s' or around it", text,
                        class_text);
    const char *usual = member ? NULL : usual_name(text);
    uint32_t capsule = member ? 0 : scope_capsule(elab->program, class_id, name);
    const char *near = usual ? usual : capsule ? NULL : scope_nearest(elab->program, class_id, name, member);
    if (capsule)
        diag_help(diag, "'%s' is encapsulated: import what it uses of the classes around it",
                  name_of(elab, class_at(elab->program, capsule)->full_name));
    else if (near && *text == 'd' && strcmp(near, text + 1) == 0)
        diag_help(diag, "the derivative of '%s' by time is written der(%s)", near, near);
    else if (near)
        diag_help(diag, "did you mean '%s'?", near);
    else if (!member && *text == '\'')
        diag_help(diag, "single quotes make a name; texts stand in double quotes");
    return false;
}

static bool
protected_name(Elab *elab, uint32_t class_id, Sym name, Span span, Span declared)
{
    Diag *diag = diag_add(elab->diags, E0125, span,
                          "'%s' is protected in '%s' and cannot be used from outside",
                          name_of(elab, name), name_of(elab, class_at(elab->program, class_id)->full_name));
    diag_note(diag, declared, "declared here");
    return false;
}

static bool
unknown_literal(Elab *elab, uint32_t class_id, Sym name, Span span)
{
    const ClassInfo *info = class_at(elab->program, class_id);
    Diag *diag = diag_add(elab->diags, E0101, span, "the enumeration '%s' has no literal '%s'",
                          name_of(elab, info->full_name), name_of(elab, name));
    const char **names = arena_array(elab->scratch, const char *, info->n_literals);
    for (uint32_t i = 0; i < info->n_literals; i++)
        names[i] = name_of(elab, info->literals[i]);
    const char *near = nearest_name(name_of(elab, name), names, info->n_literals);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
    else
        diag_help(diag, "its first literal is '%s'", names[0]);
    return false;
}

// Of a package such a constant is replaced (special.c).
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
            if (info->kind != CLASS_PACKAGE && node_at(elab, child_at(elab, path, 0))->sym == name)
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
    for (uint32_t at = seen_from; at && at != CLASSID_ROOT && at != found->owner; at = class_at(elab->program,
                                                                                                at)->parent) {
        if (!scope_is_base(elab->program, found->owner, at))
            continue;
        // Few classes lie between: walk towards the owner.
        for (uint32_t step = at, depth = 0; step != found->owner && depth < DEPTH_LIMIT; depth++) {
            if (modifies(elab, step, name)) {
                unsupported(elab, span, "a constant that a class modifies when it extends another");
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

static bool step(Elab *elab, ExprEnv *env, Node part, bool last, Target *target);

// The constant that is the one member of `home`, or a part of it that the rest of the path names.
static bool
resolve_constant_record(Elab *elab, ExprEnv *env, Fragment *home, Node ref, uint32_t from, Target *target)
{
    uint32_t n = node_at(elab, ref)->nchild;
    Target inside = {.spots = arena_new(elab->scratch, Spot), .n = 1, .by_value = true};
    inside.spots[0] = (Spot){.frag = home};
    for (uint32_t i = from; i < n; i++)
        if (!step(elab, env, child_at(elab, ref, i), i == n - 1, &inside))
            return false;
    Value *value = arena_new(elab->scratch, Value);
    target->kind = TARGET_VALUE;
    target->value = value;
    elab->uneven = true;
    return constant_record_value(elab, &inside, node_at(elab, ref)->span, value);
}

// A literal, a type and the index of a loop have no dimensions.
static bool
subscripts_refused(Elab *elab, Node subscripts, Sym name)
{
    if (!subscripts)
        return false;
    diag_add(elab->diags, E0111, node_at(elab, subscripts)->span, "'%s' has no dimensions and cannot have subscripts", name_of(elab, name));
    return true;
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
            if (literal_target(elab, found.class_id, at->sym, target)) {
                if (i != n - 1)
                    diag_add(elab->diags, E0119, at->span, "'%s' is a literal and has no parts",
                             name_of(elab, at->sym));
                return i == n - 1 && !subscripts_refused(elab, child_at(elab, part, 0), at->sym);
            }
            uint32_t in = found.class_id;
            if (class_at(elab->program, in)->n_literals)
                return unknown_literal(elab, in, at->sym, at->span);
            if (!scope_member(elab->program, in, at->sym, &found))
                return unknown_name(elab, in, at->sym, at->span, true);
            bool constant = found.class_id || (node_at(elab, found.member->line)->flags & AST_F_CONSTANT);
            if (constant && !scope_look_inside(elab->program, in, &found, at->span))
                return false;
        }
        if (i && found.member->is_protected)
            return protected_name(elab, found.owner, at->sym, at->span,
                                  node_at(elab, found.member->node)->span);
        if (found.class_id)
            continue;
        Value value;
        if (modified_constant(elab, seen_from, &found, at->span))
            return false;
        Fragment *home = constant_record(elab, found.owner, found.member);
        if (home)
            return resolve_constant_record(elab, env, home, ref, i, target);
        if (!constant_value(elab, found.owner, found.member, at->span, &value))
            return false;
        if (i != n - 1 || value.type.base == TYPE_RECORD) {
            Value *picked = arena_new(elab->scratch, Value);
            target->kind = TARGET_VALUE;
            target->value = picked;
            elab->uneven = true;
            return path_value(env, &value, ref, i, picked);
        }
        return value_target(elab, env, &value, child_at(elab, part, 0), at->sym, target);
    }
    if (all_literals(elab, found.class_id, target)) {
        Node last = child_at(elab, ref, n - 1);
        return !subscripts_refused(elab, child_at(elab, last, 0), node_at(elab, last)->sym);
    }
    diag_add(elab->diags, E0119, node_at(elab, ref)->span, "'%s' is a class and has no value",
             scope_name_text(elab->program, ref));
    return false;
}

// --- members of instances

// An element of an array whose elements differ, before the array has its place: counted from the array's.
static Spot
unplaced_spot(const Spot *owner, Member *member, uint32_t e)
{
    Spot spot = {member->fragments[e], member, owner->var + member->first, owner->inst + member->first_inst,
                 owner->connector + member->first_connector};
    for (uint32_t i = 0; i < e; i++) {
        spot.var += member->fragments[i]->nvars;
        spot.inst += member->fragments[i]->ninsts;
        spot.connector += member->fragments[i]->nconnectors;
    }
    return spot;
}

// `value`: one is asked for.
static Spot
element_spot(Elab *elab, const Spot *owner, Member *member, uint32_t e, bool value)
{
    Fragment *part = value ? share_own(elab, owner->frag, member, e) : member->fragments[member->split ? e : 0];
    elab->uneven |= member->split;
    if (member->split && member->element_places) {
        const uint32_t *at = member->element_places + 3 * e;
        return (Spot){part, member, owner->var + at[0], owner->inst + at[1], owner->connector + at[2]};
    }
    if (member->split)
        return unplaced_spot(owner, member, e);
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

// The member is an outer declaration: what is meant is the inner element. As part of a component it is one of an instance
// on the way to that component, or one of an instance around all of them.
static bool
step_out(Elab *elab, ExprEnv *env, Span span, Fragment *frag, Member **member, Target *target)
{
    if (!target->spots[0].member) {
        target->outer = (*member)->outer;
        *target->spots = outer_spot(frag, *member);
        *member = target->spots[0].member;
        return true;
    }
    if (target->n != 1) {
        unsupported(elab, span, "an outer element of several components at once");
        return false;
    }
    const Outer outer = frag->outers.at[(*member)->outer - 1];
    *member = outer.inner;
    for (uint32_t i = target->n_stops; i > 0 && !outer.implicit; i--)
        if (target->stops[i - 1].spot.frag == outer.frag) {
            *target->spots = target->stops[i - 1].spot;
            target->outer = target->stops[i - 1].outer;
            return true;
        }
    target->outer = outer_pass_in(((const Scope *)env->scope)->frag, &outer);
    *target->spots = outer_element(&outer);
    return true;
}

// The member of that name in the first spot, declared; NULL where a condition leaves it out. `frag`: where it is, which `outer` moves.
// `A a(n = a.m)`: while the component is declared, a value in it that shapes the model is asked for in a modification of it. What follows from itself is found
// at the element.
static bool
is_within(const ExprEnv *env, const Member *member)
{
    return member->state == 1 && (((const Scope *)env->scope)->structural || env->sizes_only) && member->is_component && !member->type.rank && member->fragments
        && member->fragments[0];
}

static bool
look_up_member(Elab *elab, ExprEnv *env, const AstNode *at, Fragment *frag, Target *target, Member **out)
{
    Member *member = fragment_member(frag, at->sym);
    *out = NULL;
    Found found;
    if (!member)
        return unknown_name(elab, frag->class_id, at->sym, at->span, true);
    if (target->seen_as && !scope_member(elab->program, target->seen_as, at->sym, &found))
        return unknown_name(elab, target->seen_as, at->sym, at->span, true);
    target->seen_as = 0;
    // The first name is the scope's own; a spot that has a member was reached through a dot (section 4.1).
    if (member->is_protected && target->spots[0].member)
        return protected_name(elab, frag->class_id, at->sym, at->span, member->span);
    if (!is_within(env, member) && !member_declare(elab, frag, member))
        return false;
    if (member->condition && (!target->spots[0].member || !sources_is_found(elab->program->sources, at->span.lo)))
        target->conditional = member;
    if (member->by_connections) {
        diag_add(elab->diags, E0118, at->span, "'%s' has the size of what is connected to it, and no value elsewhere", name_of(elab, at->sym));
        return false;
    }
    if (member->absent) {
        target->absent = true;
        return true;
    }
    if (member->outer) {
        target->seen_as = scope_class_quietly(elab->program, member->class_id, child_at(elab, member->line, 0));
        if (!step_out(elab, env, at->span, frag, &member, target))
            return false;
    } else if (target->outer && !((const Scope *)env->scope)->structural && !place_early(elab, frag, member)) {
        return false;
    }
    *out = member;
    return true;
}

static bool
step_to_variable(Elab *elab, const AstNode *at, Member *member, const Selection *picked, bool last, Target *target)
{
    target->kind = TARGET_VARIABLE;
    target->offsets = picked->offsets;
    target->m = picked->n;
    target->type = member->type;
    target->type.rank = 0;
    for (uint32_t i = 0; i < target->n; i++) {
        Member *same = i ? fragment_member(target->spots[i].frag, at->sym) : member;
        if (!same || !member_declare(elab, target->spots[i].frag, same) || same->count != member->count) {
            diag_add(elab->diags, E0402, at->span, "the elements have '%s' of different sizes",
                     name_of(elab, at->sym));
            return false;
        }
        target->spots[i].member = same;
    }
    if (!target->n)
        target->spots[0].member = member;
    if (!last)
        diag_add(elab->diags, E0119, at->span, "'%s' is a variable and has no parts",
                 name_of(elab, at->sym));
    return last;
}

static bool
step_to_components(Elab *elab, ExprEnv *env, const AstNode *at, Member *member, const Selection *picked, Target *target)
{
    Spot *spots = arena_array(elab->scratch, Spot, (uint64_t)target->n * picked->n + 1);
    bool structural = target->by_value || ((const Scope *)env->scope)->structural;
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < picked->n; k++) {
            Member *same = i ? fragment_member(target->spots[i].frag, at->sym) : member;
            if (!same || (i && !member_declare(elab, target->spots[i].frag, same)))
                return false;
            target->shares |= share_may_differ(same);
            spots[i * picked->n + k] = element_spot(elab, &target->spots[i], same, picked->offsets[k], structural);
        }
    target->kind = TARGET_COMPONENT;
    target->spots = spots;
    target->n *= picked->n;
    if (!target->n) { // none: one like them says what they would have
        target->like = member->count || !member->split ? member->fragments[0] : NULL;
        spots[0] = (Spot){.frag = target->like, .member = member};
    }
    return true;
}

// One more name: every spot so far is an instance; the member is looked up in each.
static bool
step(Elab *elab, ExprEnv *env, Node part, bool last, Target *target)
{
    const AstNode *at = node_at(elab, part);
    Fragment *frag = target->n ? target->spots[0].frag : target->like;
    Member *member;
    if (!frag)
        return true;
    if (!look_up_member(elab, env, at, frag, target, &member))
        return false;
    if (!member)
        return true;
    target->nested |= frag->is_connector;
    Selection picked;
    LocalPicks *picks = env->picks;
    if (member->is_component && !member->count) // there is no component that could be picked
        env->picks = NULL;
    Axes axes = {member->type.dims, member->type.rank, true, member->index_class, at->sym};
    bool selected = select_elements(elab, env, child_at(elab, part, 0), &axes, &picked);
    env->picks = picks;
    if (!selected || !join_dims(elab, target, &picked, at->span))
        return false;
    return member->is_component ? step_to_components(elab, env, at, member, &picked, target)
                                : step_to_variable(elab, at, member, &picked, last, target);
}

// `used` not NULL: stops at the first connector, after so many parts.
static bool
resolve_instance(Elab *elab, ExprEnv *env, Fragment *frag, Node ref, Target *target, uint32_t *used)
{
    uint32_t n = node_at(elab, ref)->nchild;
    target->spots = arena_new(elab->scratch, Spot);
    target->spots[0] = (Spot){.frag = frag};
    target->n = 1;
    target->stops = arena_array(elab->scratch, Stop, n);
    for (uint32_t i = 0; i < n && !target->absent; i++) {
        target->stops[target->n_stops++] = (Stop){target->spots[0], target->outer};
        if (!step(elab, env, child_at(elab, ref, i), i == n - 1, target))
            return false;
        if (!i && !target->absent && target->n)
            target->outside = target->spots[0].member->is_connector;
        if (used && target->kind == TARGET_COMPONENT && target->n && target->spots[0].member->is_connector) {
            *used = i + 1;
            break;
        }
    }
    return true;
}

Fragment *
resolve_element(Elab *elab, ExprEnv *env, Node part)
{
    Scope scope = *(Scope *)env->scope;
    AsideEnv aside;
    Target target = {.n = 1, .spots = arena_new(elab->scratch, Spot)};
    target.spots[0] = (Spot){.frag = scope.frag};
    scope.structural = true;
    aside_open(elab, &aside, &scope);
    aside.env.depth = env->depth;
    aside.env.nesting = env->nesting;
    vec_append(&aside.env.locals, env->locals.at, env->locals.n);
    bool ok = step(elab, &aside.env, part, false, &target);
    aside_close(elab, &aside);
    if (ok && target.rank)
        diag_add(elab->diags, E0111, node_at(elab, part)->span, "a function is reached through one component, but this is a slice of '%s'",
                 name_of(elab, node_at(elab, part)->sym));
    return ok && !target.rank ? target.spots[0].frag : NULL;
}

bool
visible_member(Elab *elab, const Scope *scope, Sym name)
{
    Found found;
    if (!scope->frag || !fragment_member(scope->frag, name))
        return false;
    // Looking a member up is remembered; walking the bases is not, and comes last.
    return scope->class_id == scope->frag->class_id
        || scope_member(elab->program, scope->class_id, name, &found)
        || !scope_is_base(elab->program, scope->class_id, scope->frag->class_id);
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
        Node subscripts = child_at(elab, child_at(elab, ref, 0), 0);
        return !subscripts || !subscripts_refused(elab, subscripts, first->sym);
    }
    if (!(at->flags & AST_F_DOT) && visible_member(elab, scope, first->sym))
        return resolve_instance(elab, env, scope->frag, ref, target, NULL);
    Found found;
    bool ok = at->flags & AST_F_DOT ? scope_member(elab->program, CLASSID_ROOT, first->sym, &found)
                                    : scope_find(elab->program, scope->class_id, first->sym, &found);
    if (!ok)
        return unknown_name(elab, scope->class_id, first->sym, first->span, false);
    return resolve_static(elab, env, ref, found, target);
}

bool
resolve_port(Elab *elab, ExprEnv *env, Node ref, Target *target, uint32_t *used)
{
    Scope *scope = env->scope;
    const AstNode *at = node_at(elab, ref);
    *used = at->nchild;
    if ((at->flags & AST_F_DOT) || !visible_member(elab, scope, node_at(elab, child_at(elab, ref, 0))->sym))
        return resolve(elab, env, ref, target);
    *target = (Target){0};
    return resolve_instance(elab, env, scope->frag, ref, target, used);
}
