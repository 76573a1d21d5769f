// bind.c: values of modifications: binds, attributes and declaration equations.
//
// Purpose: everything written as `x(start = e) = e` in the scope of one fragment, for its own members and for
// members inside its components. Method: the merged modifications of each member are walked together with the
// fragments they reach into; a value is emitted by the fragment in whose scope it stands, once per element of
// the arrays on the way (Modelica 3.6, sections 4.4.2.1 and 7.2.5).
// Contract: equation.h, fragment.h. Complexity: linear in the scalars that receive something.
#include "frontend/equation/equation.h"

#include <math.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/base/src.h"
#include "ir/expr/expr_node.h"

typedef struct Level { // an array of components between the scope and the variable
    const Type *type;
    uint32_t count, stride;
    uint32_t fixed;    // the element when each has a fragment of its own, or NONE
} Level;

typedef enum Role { ROLE_VALUE, ROLE_START, ROLE_NOMINAL, ROLE_MIN, ROLE_MAX, ROLE_STOP, ROLE_RATE, ROLE_FIXED } Role;

typedef struct Walk Walk;
typedef struct Emission {
    Walk *walk;
    const Mod *mod;
    Member *member;
    Role role;
    Value value;
    uint32_t base;
    uint32_t counted_from; // levels counted_from .. n-1 distribute the value
    bool own;              // the variable's own elements do,
    uint32_t repeated;     // but for these first dimensions
    Expr *shapes;          // per element of the value, 0 until made
    uint32_t *rows, *slots;
    bool other_units;
} Emission;

struct Walk {
    Elab *elab;
    Fragment *frag;    // in whose scope the values stand
    const Fragment *giver; // values of short classes: those that this fragment uses for its components
    Level levels[DEPTH_LIMIT];
    uint32_t n;
    Map kept;          // (modification, role) -> index into emissions: elements with fragments of their own share one value
    VEC(Emission) emissions;
};

static void
expected_type(const Emission *emission, Type *type)
{
    const Walk *walk = emission->walk;
    *type = emission->member->type;
    type->rank = 0;
    if (emission->role == ROLE_FIXED)
        type->base = TYPE_BOOLEAN;
    for (uint32_t i = emission->counted_from; i < walk->n; i++)
        for (uint32_t k = 0; k < walk->levels[i].type->rank && type->rank < MAX_RANK; k++)
            type->dims[type->rank++] = walk->levels[i].type->dims[k];
    const Type *own = &emission->member->type;
    for (uint32_t k = emission->repeated; emission->own && k < own->rank && type->rank < MAX_RANK; k++)
        type->dims[type->rank++] = own->dims[k];
}

// `type Colour = Integer[3](max = {1, 2, 3})`: one value for each element of the type, whatever arrays of it there are.
static void
take_sizes_of_type(Emission *emission)
{
    uint32_t rank = emission->value.type.rank, own = emission->member->type.rank;
    if (emission->own || (emission->mod->frag && !emission->mod->of_type) || emission->mod->each || emission->role == ROLE_VALUE || !rank || rank > own)
        return;
    emission->own = true;
    emission->repeated = own - rank;
}

static bool
coerce(Emission *emission, ExprEnv *env)
{
    static const char *const roles[] = {[ROLE_VALUE] = "", [ROLE_START] = "start of ", [ROLE_NOMINAL] = "nominal of ", [ROLE_MIN] = "min of ",
                                        [ROLE_MAX] = "max of ", [ROLE_STOP] = "stop of ", [ROLE_RATE] = "rate of ", [ROLE_FIXED] = "fixed of "};
    Elab *elab = emission->walk->elab;
    Type type;
    take_sizes_of_type(emission);
    expected_type(emission, &type);
    const Mod *mod = emission->mod;
    bool loose = !mod->frag || mod->of_type || mod->from_outside;
    if (type.rank && !emission->value.type.rank && loose) {
        type.rank = 0;
        emission->own = false;
        emission->counted_from = emission->walk->n;
    } else if (type.rank && type.rank != emission->value.type.rank && !emission->value.unseen
               && (emission->role != ROLE_VALUE || emission->counted_from < emission->walk->n)) {
        Diag *diag = diag_add(elab->diags, E0110, mod->span,
                              "this value does not have one element for each element of the array it modifies");
        diag_help(diag, "write 'each' before the name to give every element the same value");
        return false;
    }
    const char *what = arena_printf(elab->scratch, "%s'%s'", roles[emission->role],
                                    sym_text(elab->dae->syms, emission->member->name));
    return expression_coerce(env, &emission->value, &type, mod_value_span(elab, mod), what);
}

static void
shape_of(Emission *emission, uint32_t index)
{
    if (emission->shapes[index])
        return;
    store_shape(emission->walk->elab, emission->walk->frag, emission->value.elements[index],
                &emission->shapes[index], &emission->rows[index], &emission->slots[index]);
}

static void
emit_fixed(Emission *emission, uint32_t var, uint32_t index)
{
    Exprs *exprs = emission->walk->elab->dae->exprs;
    bool fixed = expr_value(exprs, emission->value.elements[index]) != 0;
    if (!fixed && emission->member->kind == VAR_CONSTANT && !index && !emission->mod->of_type)
        diag_add(emission->walk->elab->diags, E0221, emission->mod->span, "the constant '%s' is known before the start: it cannot be found by initial equations",
                 sym_text(emission->walk->elab->dae->syms, emission->member->name));
    FragFlag flag = {.var = var, .clear = VARF_FIXED, .set = VARF_FIXED_SET | (fixed ? VARF_FIXED : 0)};
    vec_push(&emission->walk->frag->flags, flag);
}

// A value of what is neither given nor constant is an equation for it.
static bool
makes_equations(const Emission *emission)
{
    VarKind kind = emission->member->kind;
    return emission->role == ROLE_VALUE && kind != VAR_PARAMETER && kind != VAR_CONSTANT && kind != VAR_INPUT;
}

static void
emit_element(Emission *emission, uint32_t var, uint32_t index)
{
    Elab *elab = emission->walk->elab;
    Fragment *frag = emission->walk->frag;
    Expr e = emission->value.elements[index];
    if (emission->role == ROLE_FIXED) {
        emit_fixed(emission, var, index);
        return;
    }
    if (makes_equations(emission)) {
        add_equation(elab, frag, EQN_NORMAL, slot_expr(elab, var), e, emission->mod->span);
        vec_last(&frag->equations).binding = true;
        return;
    }
    static const uint8_t attrs[] = {[ROLE_VALUE] = ATTR_VALUE, [ROLE_START] = ATTR_START,
                                    [ROLE_NOMINAL] = ATTR_NOMINAL, [ROLE_MIN] = ATTR_MIN,
                                    [ROLE_MAX] = ATTR_MAX, [ROLE_STOP] = ATTR_STOP, [ROLE_RATE] = ATTR_RATE};
    shape_of(emission, index);
    FragBind bind = {.var = var, .attr = attrs[emission->role], .shape = emission->shapes[index],
                     .row = emission->rows[index], .n = emission->slots[index], .other_units = emission->other_units,
                     .of_type = emission->mod->of_type, .span = emission->mod->span};
    vec_push(&frag->binds, bind);
    if (emission->role == ROLE_MIN && expr_op(elab->dae->exprs, e) == OP_CONST
        && expr_value(elab->dae->exprs, e) >= 0)
        vec_push(&frag->flags, (FragFlag){.var = var, .set = VARF_NONNEG});
}

// All elements of the arrays on the way, as one counter over mixed radices.
static void
emit_all(Emission *emission)
{
    const Walk *walk = emission->walk;
    uint32_t at[DEPTH_LIMIT], own = emission->member->count, size = own;
    for (uint32_t k = 0; k < emission->repeated && size; k++)
        size /= emission->member->type.dims[k];
    for (uint32_t i = 0; i < walk->n; i++) {
        if (!walk->levels[i].count)
            return;
        at[i] = walk->levels[i].fixed == NONE ? 0 : walk->levels[i].fixed;
    }
    for (;;) {
        uint32_t var = emission->base, index = 0;
        for (uint32_t i = 0; i < walk->n; i++) {
            if (walk->levels[i].fixed == NONE)
                var += at[i] * walk->levels[i].stride;
            if (i >= emission->counted_from)
                index = index * walk->levels[i].count + at[i];
        }
        for (uint32_t k = 0; k < own; k++)
            emit_element(emission, var + k, emission->own ? index * size + k % size : index);
        uint32_t i = walk->n;
        while (i > 0 && (walk->levels[i - 1].fixed != NONE || ++at[i - 1] == walk->levels[i - 1].count)) {
            if (walk->levels[i - 1].fixed == NONE)
                at[i - 1] = 0;
            i--;
        }
        if (!i)
            return;
    }
}

static bool
evaluate_value(Emission *emission, ExprEnv *env)
{
    Elab *elab = emission->walk->elab;
    const Mod *mod = emission->mod;
    if (emission->role != ROLE_FIXED)
        return mod_expression(env, mod, &emission->value);
    return mod_evaluate(elab, mod, &emission->value);
}

// Whether there is an array that `each` can mean: of components around the variable, or the variable whose attribute it is.
static bool
has_elements(const Emission *emission)
{
    const Walk *walk = emission->walk;
    uint32_t rank = emission->role == ROLE_VALUE ? 0 : emission->member->type.rank;
    for (uint32_t i = 0; i < walk->n; i++)
        rank += walk->levels[i].type->rank;
    return rank > 0;
}

static uint64_t
kept_key(const Emission *emission)
{
    return hash_add((uint64_t)(uintptr_t)emission->mod, emission->role);
}

// What the elements of an array of components that differ in structure share is evaluated for the first of them: each of n
// would go through the n values of `(damped = {i < 3 for i in 1:n})` again.
static bool
in_split(const Walk *walk)
{
    for (uint32_t i = 0; i < walk->n; i++)
        if (walk->levels[i].fixed != NONE)
            return true;
    return false;
}

static void
keep(Emission *emission)
{
    Walk *walk = emission->walk;
    Value *value = &emission->value;
    Expr *elements = arena_array(walk->elab->arena, Expr, value->count);
    memcpy(elements, value->elements, value->count * sizeof *elements);
    value->elements = elements;
    for (uint32_t index = 0; index < value->count; index++)
        shape_of(emission, index);
    map_put(&walk->kept, kept_key(emission), walk->emissions.n);
    vec_push(&walk->emissions, *emission);
}

static bool
emit_kept(const Emission *emission)
{
    uint32_t found;
    if (!map_get(&emission->walk->kept, kept_key(emission), &found))
        return false;
    Emission kept = emission->walk->emissions.at[found];
    const Type *was = &kept.member->type, *is = &emission->member->type;
    if (kept.mod != emission->mod || kept.role != emission->role || was->rank != is->rank || was->base != is->base
        || memcmp(was->dims, is->dims, is->rank * sizeof *is->dims) || makes_equations(emission))
        return false;
    kept.member = emission->member;
    kept.base = emission->base;
    emit_all(&kept);
    return true;
}

static void
emit_role(Walk *walk, const Mod *mod, Member *member, uint32_t base, Role role)
{
    Elab *elab = walk->elab;
    Emission emission = {.walk = walk, .mod = mod, .member = member, .role = role, .base = base};
    int32_t levels = mod->levels;
    emission.own = role == ROLE_VALUE || levels > 0;
    if (role != ROLE_VALUE)
        levels--;
    emission.counted_from = levels <= 0 ? walk->n : levels > (int32_t)walk->n ? 0
        : walk->n - (uint32_t)levels;
    if (!mod->frag && !mod->giver)
        emission.counted_from = walk->n;
    if (mod->each && !has_elements(&emission)) {
        const Sources *sources = elab->program->sources;
        bool found = mod->span.hi && sources_is_others(sources, mod->span.lo);
        diag_add(elab->diags, found ? W1105 : E0110, mod->span, "'each' is for elements of arrays; '%s' is in none", name_of(elab, mod->name));
    }
    if (emit_kept(&emission))
        return;
    bool keeps = in_split(walk) && !makes_equations(&emission);
    Arena *arena = keeps ? elab->arena : elab->scratch;
    begin_equation(elab, mod->frag, mod->class_id, false);
    elab->env.pure = role == ROLE_VALUE && !member_is_fixed(member) && !member->type.object;
    elab->active++;
    if (evaluate_value(&emission, &elab->env) && coerce(&emission, &elab->env) && emission.value.count) {
        emission.other_units = elab->env.other_units;
        emission.shapes = arena_array(arena, Expr, emission.value.count);
        emission.rows = arena_array(arena, uint32_t, emission.value.count);
        emission.slots = arena_array(arena, uint32_t, emission.value.count);
        if (keeps)
            keep(&emission);
        emit_all(&emission);
    }
    elab->active--;
    end_equation(elab);
}

// Ours when it stands in this fragment's scope; class-level values belong to where the variable is declared.
static bool
ours(const Walk *walk, const Mod *mod, bool declared_here)
{
    if (!mod->value || mod_unset(walk->elab, mod))
        return false;
    if (mod->of_type && mod->frag)
        return mod->frag == walk->frag && mod->giver == walk->giver;
    const Fragment *owner = mod->frag ? mod->frag : mod->giver;
    return walk->giver == walk->frag && (owner ? owner == walk->frag : declared_here);
}

static void
walk_variable(Walk *walk, const Mod *mod, Member *member, uint32_t base, bool declared_here)
{
    static const char *const names[] = {[ROLE_START] = "start", [ROLE_NOMINAL] = "nominal",
                                        [ROLE_MIN] = "min", [ROLE_MAX] = "max", [ROLE_STOP] = "stop", [ROLE_RATE] = "rate", [ROLE_FIXED] = "fixed"};
    if (ours(walk, mod, declared_here))
        emit_role(walk, mod, member, base, ROLE_VALUE);
    for (uint32_t i = 0; i < mod->n; i++) {
        const char *name = sym_text(walk->elab->dae->syms, mod->children[i]->name);
        for (Role role = ROLE_START; role <= ROLE_FIXED; role++)
            if (!strcmp(name, names[role]) && ours(walk, mod->children[i], declared_here))
                emit_role(walk, mod->children[i], member, base, role);
    }
}

static void walk_member(Walk *walk, const Mod *mod, Member *member, uint32_t owner, bool declared_here);

static bool
gives_value(const Ast *ast, Node mods, Sym name)
{
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i), path = ast_kind(ast, mod) == AST_MOD ? ast_child(ast, mod, 0) : 0;
        Node inside = path && ast_at(ast, path)->nchild == 1 && ast_at(ast, ast_child(ast, path, 0))->sym == name ? ast_child(ast, mod, 1) : 0;
        if (inside && ast_child(ast, inside, 0))
            return true;
    }
    return false;
}

// Whether a class gives a variable that it inherits a value: `extends A(x = 1)`, `model B = A(x = 1)`.
static bool
inherits_value(const Elab *elab, uint32_t class_id, Sym name, uint32_t depth)
{
    const Ast *ast = &elab->program->ast;
    if (!class_id || scope_is_predefined(class_id) || depth > DEPTH_LIMIT)
        return false;
    scope_bases(elab->program, class_id);
    const ClassInfo *info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < info->extends.n; i++) {
        bool is_short = ast_kind(ast, info->extends.at[i]) == AST_SHORT;
        if (gives_value(ast, ast_child(ast, info->extends.at[i], is_short ? 2 : 1), name)
            || (i < info->bases.n && inherits_value(elab, info->bases.at[i], name, depth + 1)))
            return true;
    }
    return false;
}

// What a model or block leaves to its equations is not given from outside, but for its inputs (section 4.8). In this language, and in a library,
// a value in a modification is an equation.
static bool
may_be_given(const Walk *walk, const Mod *mod, const Fragment *part, const Member *inner)
{
    Elab *elab = walk->elab;
    ClassKind kind = (ClassKind)class_at(elab->program, part->class_id)->kind;
    bool unknown = !inner->is_component && (inner->kind == VAR_CONTINUOUS || inner->kind == VAR_DISCRETE) && !(inner->flags & AST_F_INPUT);
    if (!unknown || !mod->value || (kind != CLASS_MODEL && kind != CLASS_BLOCK) || !ours(walk, mod, false) || !inner->node
        || !sources_is_strict(elab->program->sources, mod->span.lo))
        return true;
    Node declared = child_at(elab, inner->node, 1);
    if ((declared && child_at(elab, declared, 0)) || inner->is_connector || inherits_value(elab, part->of ? part->of->type_class : part->class_id, inner->name, 0))
        return true;
    Diag *diag = diag_add(elab->diags, E0103, mod->span, "'%s' is determined by equations of '%s' and cannot be given a value from outside", name_of(elab, inner->name),
                          name_of(elab, class_at(elab->program, part->class_id)->full_name));
    diag_note(diag, inner->span, "declared here, without a value that could be another one");
    return false;
}

static void
walk_inside(Walk *walk, const Mod *mod, Fragment *part, uint32_t base)
{
    for (uint32_t i = 0; i < mod->n; i++) {
        const Mod *child = mod->children[i];
        Member *inner = fragment_member(part, child->name);
        if (!inner || inner->state != 2 || inner->absent || !may_be_given(walk, child, part, inner))
            continue;
        // The value of a record has become values of its fields where the record was declared (record_spread).
        if (child->value && inner->is_component)
            child = inner->mod;
        walk_member(walk, child, inner, base, false);
    }
}

static void
walk_member(Walk *walk, const Mod *mod, Member *member, uint32_t owner, bool declared_here)
{
    if (!member->is_component) {
        walk_variable(walk, mod, member, owner + member->first, declared_here);
        return;
    }
    if (!mod->n || walk->n == DEPTH_LIMIT - 1)
        return;
    Level *level = &walk->levels[walk->n++];
    for (uint32_t e = 0; member->split && e < member->count; e++) {
        *level = (Level){&member->type, member->count, 0, e};
        walk_inside(walk, mod, member->fragments[e], owner + member->element_places[3 * e]);
    }
    if (!member->split) {
        *level = (Level){&member->type, member->count, member->fragments[0]->nvars, NONE};
        walk_inside(walk, mod, member->fragments[0], owner + member->first);
    }
    walk->n--;
}

static bool
stands_in(const Fragment *frag, const Fragment *home)
{
    for (uint32_t i = 0; i < frag->needs.n; i++)
        if (frag->needs.at[i].home && frag->needs.at[i].frag == home)
            return true;
    return false;
}

// Short classes that are used further inside, as a redeclared class is, with values that stand in this fragment's scope.
static void
walk_users(Walk *walk, Fragment *part, uint32_t base)
{
    if (part != walk->frag && !stands_in(part, walk->frag))
        return;
    walk->giver = part;
    for (uint32_t i = 0; part != walk->frag && i < part->members.n; i++) {
        Member *member = &part->members.at[i];
        if (member_is_placed(member) && member->mod)
            walk_member(walk, member->mod, member, base, false);
    }
    for (uint32_t i = 0; i < part->members.n && walk->n < DEPTH_LIMIT - 1; i++) {
        Member *member = &part->members.at[i];
        if (!member_is_placed(member) || !member->is_component)
            continue;
        Level *level = &walk->levels[walk->n++];
        for (uint32_t e = 0; e < (member->split ? member->count : 1); e++) {
            *level = (Level){&member->type, member->count, member->split ? 0 : member->fragments[0]->nvars, member->split ? e : NONE};
            walk_users(walk, member->fragments[e], base + (member->split ? member->element_places[3 * e] : member->first));
        }
        walk->n--;
    }
}

// Its own, or that of the array of records it is part of.
static bool
has_value(const Member *member)
{
    return (member->flags & AST_F_OUTER) || (member->mod && member->mod->value);
}

// Whether an expression names a member of the instance that it stands in, other than to ask for its sizes.
static bool
names_itself(const Elab *elab, Node expr, Sym name)
{
    U32Vec stack = {0};
    bool any = false;
    vec_push(&stack, expr);
    while (stack.n && !any) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        if (at->kind == AST_CALL && node_at(elab, child_at(elab, node, 0))->nchild == 1) {
            const char *called = scope_name_text(elab->program, child_at(elab, node, 0));
            if (!strcmp(called, "size") || !strcmp(called, "ndims"))
                continue;
        }
        any = at->kind == AST_REF && !(at->flags & AST_F_DOT) && node_at(elab, child_at(elab, node, 0))->sym == name;
        for (uint32_t i = 0; i < at->nchild; i++)
            if (child_at(elab, node, i))
                vec_push(&stack, child_at(elab, node, i));
    }
    vec_free(&stack);
    return any;
}

// The value of a parameter that is an array or a record has no element of it inside, also where each element would have a value (section 4.4.4).
static void
check_acyclic(Elab *elab, const Fragment *frag, const Member *member)
{
    const Mod *mod = member->mod;
    bool whole = mod && !mod->value && member->is_component && mod->n && mod->children[0]->n_fields == 1;
    if (whole)
        mod = mod->children[0];
    bool array = !member->is_component && member->type.rank, fixed = member->flags & (AST_F_PARAMETER | AST_F_CONSTANT);
    if (!mod || !mod->value || !fixed || (!whole && !array) || mod->frag != frag || mod->of_type || !sources_is_strict(elab->program->sources, mod->span.lo))
        return;
    if (names_itself(elab, mod->value, member->name))
        diag_add(elab->diags, E0604, node_at(elab, mod->value)->span, "the value of '%s' depends on '%s' itself", name_of(elab, member->name), name_of(elab, member->name));
}

// A record has the fields of the record that is its value, and no fewer (section 6.7).
static void
check_fields(Elab *elab, const Member *member)
{
    const Mod *mod = member->mod && member->is_component && member->mod->n ? member->mod->children[0] : NULL;
    Value value;
    if (!mod || !mod->value || mod->n_fields != 1 || !sources_is_strict(elab->program->sources, mod->span.lo))
        return;
    DiagsMark mark = diags_mark(elab->diags);
    bool known = evaluate_type(elab, mod->frag, mod->class_id, mod->value, &value) && value.type.base == TYPE_RECORD;
    diags_return_to(elab->diags, mark);
    for (uint32_t i = 0; known && i < value.type.record->n; i++) {
        Sym name = value.type.record->fields[i].name;
        if (fragment_member(member->fragments[0], name))
            continue;
        diag_add(elab->diags, E0201, node_at(elab, mod->value)->span, "'%s' has no field '%s', which its value has", name_of(elab, member->name), name_of(elab, name));
        return;
    }
}

void
elaborate_binds(Elab *elab, Fragment *frag)
{
    Walk here = {.elab = elab, .frag = frag, .giver = frag}, *walk = &here;
    for (uint32_t i = 0; i < frag->members.n && !elab->stopped; i++) {
        Member *member = &frag->members.at[i];
        if (member->state != 2 || member->absent)
            continue;
        check_acyclic(elab, frag, member);
        if (member->is_component && member->count && !frag->is_connector)
            check_fields(elab, member);
        if (member->mod)
            walk_member(walk, member->mod, member, 0, true);
        if (member->kind == VAR_CONSTANT && !member->is_component && member->count && !has_value(member))
            diag_add(elab->diags, E0112, member->span, "the constant '%s' has no value", name_of(elab, member->name));
    }
    walk_users(walk, frag, 0);
    map_free(&walk->kept);
    vec_free(&walk->emissions);
}
