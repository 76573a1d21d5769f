// environment.c: the environment of expressions: what names, functions, types and derivatives mean to the expression side.
//
// Purpose: the callbacks of ExprEnv (expression.h). Method: references become local variables of the fragment
// being elaborated, or values where a structural scope asks for them; loop indices used as values become
// literal variables, so that all iterations of a for-equation share their shapes.
// Contract: expression.h, fragment.h. Complexity: linear in the scalars referred to.
#include <stdlib.h>

#include "frontend/instance/fragment.h"
#include "frontend/names/names.h"
#include "ir/base/diag.h"
#include "ir/base/src.h"
#include "ir/base/words.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "runtime/model/nearest.h"

static uint32_t
add_extra(Fragment *frag, uint64_t key, Extra extra)
{
    uint32_t index;
    // What the map says may have been taken back (affine.c).
    if (map_get(&frag->extra_of, key, &index) && index < frag->extras.n) {
        const Extra *old = &frag->extras.at[index];
        if (old->kind == extra.kind && old->var == extra.var && old->outer == extra.outer
            && !memcmp(&old->value, &extra.value, sizeof extra.value))
            return index | EXTRA_BIT;
    }
    vec_push(&frag->extras, extra);
    map_put(&frag->extra_of, key, frag->extras.n - 1);
    return (frag->extras.n - 1) | EXTRA_BIT;
}

uint32_t
extra_var(Fragment *frag, ExtraKind kind, uint32_t var, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t key = kind == EXTRA_LITERAL ? hash_add(kind, bits) : ((uint64_t)kind << 32) | var;
    return add_extra(frag, key, (Extra){.kind = (uint8_t)kind, .var = var, .value = value});
}

uint32_t
extra_outer(Fragment *frag, uint32_t outer, uint32_t var)
{
    uint64_t key = ((uint64_t)EXTRA_OUTER << 32 | (uint64_t)outer << 40) ^ var;
    return add_extra(frag, key, (Extra){.kind = EXTRA_OUTER, .var = var, .outer = outer});
}

static bool
structural_value(Elab *elab, const Target *target, Span span, Reference *out)
{
    Value *value = arena_new(elab->scratch, Value);
    elab->uneven |= target->spots[0].member->count != 1; // an element, perhaps another one in each iteration
    value->type = out->type;
    value->count = out->count;
    value->elements = arena_array(elab->scratch, Expr, out->count);
    for (uint32_t i = 0; i < target->n; i++) {
        const Value *whole;
        if (!member_value(elab, target->spots[i].frag, target->spots[i].member, span, &whole))
            return false;
        for (uint32_t k = 0; whole->elements && k < target->m; k++)
            value->elements[i * target->m + k] = whole->elements[target->offsets[k]];
    }
    out->value = value;
    return true;
}

// A parameter whose value takes its place.
static bool
is_by_value(Elab *elab, const Scope *scope, const Target *target)
{
    Member *member = target->spots[0].member;
    bool known = member->kind == VAR_PARAMETER || member->kind == VAR_CONSTANT;
    if (known && scope->type_only && member->type.base == TYPE_REAL && !is_knowable(elab, member))
        return false;
    if (!known || scope->structural)
        return known;
    if (member->kind == VAR_CONSTANT && member->type.base == TYPE_BOOLEAN)
        return member->mod && member->mod->value;
    return member->type.base == TYPE_STRING ? text_is_known(elab, target->spots[0].frag, member, member->span) : is_evaluated(elab, member);
}

static bool
has_unit(Elab *elab, const Member *member)
{
    return member->type.base == TYPE_REAL && member->unit && strcmp(name_of(elab, member->unit), "1") != 0
        && name_of(elab, member->unit)[0];
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
    if (member->is_when)
        out->when = member->when;
    bool by_value = is_by_value(elab, scope, target);
    if (by_value && !structural_value(elab, target, span, out))
        return false;
    if (by_value && (scope->structural || target->shares || !has_unit(elab, member)))
        return true;
    uint32_t *vars = arena_array(elab->scratch, uint32_t, out->count);
    for (uint32_t i = 0; i < target->n; i++)
        for (uint32_t k = 0; k < target->m; k++)
            vars[i * target->m + k] = scope->structural ? UNPLACED
                : target->spots[i].var + target->spots[i].member->first + target->offsets[k];
    for (uint32_t i = 0; target->outer && !scope->structural && i < out->count; i++)
        vars[i] = extra_outer(scope->frag, target->outer - 1, vars[i]);
    out->vars = vars;
    return true;
}

// Resolves once more where the value of a part of a component that shares its fragment is asked for.
static bool
resolve_to_own(Elab *elab, ExprEnv *env, Node ref, Target *target)
{
    Scope *scope = env->scope;
    if (!resolve(elab, env, ref, target))
        return false;
    if (!target->shares || target->absent || target->kind != TARGET_VARIABLE || !is_by_value(elab, scope, target))
        return true;
    bool structural = scope->structural;
    scope->structural = true;
    bool found = resolve(elab, env, ref, target);
    scope->structural = structural;
    return found;
}

// What the dimensions of a variable are counted by, where that is not 1, 2, ...
static void
note_indices(Elab *elab, const Member *member, Reference *out)
{
    if (!member || !member->index_class)
        return;
    Type *indices = arena_array(elab->scratch, Type, member->type.rank);
    for (uint32_t i = 0; i < member->type.rank; i++) {
        indices[i] = (Type){.base = TYPE_INTEGER};
        if (member->index_class[i])
            type_of_class(elab, member->index_class[i], &indices[i]);
    }
    out->indices = indices;
}

// Any component has sizes (section 4.6), and no other value.
static void
sizes_reference(Elab *elab, const Target *target, Reference *out)
{
    Value *none = arena_new(elab->scratch, Value);
    out->type = (Type){.base = TYPE_REAL, .rank = target->rank};
    out->count = 1;
    for (uint32_t i = 0; i < target->rank; i++)
        out->count *= out->type.dims[i] = target->dims[i];
    *none = (Value){.type = out->type, .count = out->count, .elements = arena_array(elab->scratch, Expr, out->count + 1)};
    for (uint32_t i = 0; i < out->count; i++)
        none->elements[i] = expr_const(elab->dae->exprs, 0);
    out->kind = VAR_CONSTANT;
    out->value = none;
}

static bool
look_up_component(ExprEnv *env, Node ref, Reference *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    Span span = node_at(elab, ref)->span;
    Target target;
    *out = (Reference){0};
    if (!resolve_to_own(elab, env, ref, &target))
        return false;
    if (target.absent) {
        diag_add(elab->diags, E0118, span, "'%s' is not part of the model: its condition is false",
                 scope_name_text(elab->program, ref));
        return false;
    }
    if (target.conditional && !env->sizes_only) { // section 4.4.5
        Diag *diag = diag_add(elab->diags, E0118, span, "'%s' has a condition: it can be connected, and has no value elsewhere",
                              name_of(elab, target.conditional->name));
        diag_note(diag, target.conditional->span, "declared here");
        return false;
    }
    if (target.kind == TARGET_VARIABLE) {
        bool found = variable_reference(elab, scope, &target, span, out);
        note_indices(elab, target.n == 1 ? target.spots[0].member : NULL, out);
        return found;
    }
    if (target.kind == TARGET_COMPONENT) {
        const Fragment *part = target.n ? target.spots[0].frag : target.like;
        if (part && class_at(elab->program, part->class_id)->kind == CLASS_RECORD)
            return record_reference(elab, scope, &target, span, out);
        if (env->sizes_only) {
            sizes_reference(elab, &target, out);
            return true;
        }
        Diag *diag = diag_add(elab->diags, E0119, span, "'%s' is a component, not a variable",
                              scope_name_text(elab->program, ref));
        if (part && part->is_connector)
            diag_help(diag, "two connectors are joined by 'connect(a, b)'; an equation needs one of its variables");
        return false;
    }
    out->type = target.value->type;
    out->count = target.value->count;
    out->kind = VAR_CONSTANT;
    out->value = target.value;
    // Loop indices as values are literal variables, so that all iterations share a shape.
    if (scope->loops && scope->frag && !scope->structural && node_at(elab, ref)->nchild == 1
        && out->count == 1
        && !out->type.rank && find_loop(elab, scope, node_at(elab, child_at(elab, ref, 0))->sym)) {
        uint32_t *vars = arena_new(elab->scratch, uint32_t);
        *vars = extra_var(scope->frag, EXTRA_LITERAL, 0, expr_value(elab->dae->exprs,
                                                                    out->value->elements[0]));
        out->vars = vars;
        out->value = NULL;
    }
    return true;
}

// Sizes are those of the declaration: asking for them makes no parameter one that shapes the model by its value.
static bool
env_component(ExprEnv *env, Node ref, Reference *out)
{
    Scope *scope = env->scope;
    bool structural = scope->structural;
    if (env->sizes_only && scope->frag)
        scope->structural = false;
    bool found = look_up_component(env, ref, out);
    scope->structural = structural;
    // A default that a modification of a function gives stands in another model than the call, whose equations cannot name its variables.
    const Scope *calling = env->calling;
    if (found && env->is_default && structural && scope->frag && out->vars && out->count && out->vars[0] == UNPLACED && calling && !calling->structural) {
        Elab *elab = env->context;
        Diag *diag = diag_add(elab->diags, E0721, node_at(elab, ref)->span, "a default of a function that a modification gives names parameters and constants, "
                              "and '%s' varies", scope_name_text(elab->program, ref));
        diag_help(diag, "make it an argument of the call: the function that is redeclared has an input more then");
        return false;
    }
    return found;
}

// Section 9.4.1.
static bool
is_connection_statement(const char *name)
{
    static const char *const names[] = {"Connections.branch", "Connections.root", "Connections.potentialRoot"};
    return word_is_among(name, names, sizeof names / sizeof *names);
}

// Section 17.1.
bool
machine_statement(const char *name)
{
    return !strcmp(name, "transition") || !strcmp(name, "initialState");
}

// The class of a component, as its instance or, where there is none, its declaration says.
static uint32_t
component_class(Elab *elab, const Scope *scope, const Found *found, Fragment **instance)
{
    const ClassMember *member = found->member;
    *instance = NULL;
    if (scope->frag && visible_member(elab, scope, member->name)) {
        Member *at = fragment_member(scope->frag, member->name);
        if (!member_declare(elab, scope->frag, at) || at->absent)
            return 0;
        if (at->outer)
            at = outer_spot(scope->frag, at).member;
        if (at->is_component && at->count)
            *instance = at->fragments[0];
        return *instance ? (*instance)->class_id : 0;
    }
    Node type = node_at(elab, member->line)->kind == AST_COMPONENTS ? child_at(elab, member->line, 0) : 0;
    return type ? scope_class_quietly(elab->program, found->owner, type) : 0;
}

// A function is reached through one component, and is no operator of it (section 5.3.2).
static bool
check_component(Elab *elab, const Scope *scope, Node part)
{
    const AstNode *at = node_at(elab, part);
    const Member *member = scope->frag ? fragment_member(scope->frag, at->sym) : NULL;
    Node subscripts = child_at(elab, part, 0);
    uint32_t given = subscripts ? node_at(elab, subscripts)->nchild : 0;
    if (member && member->condition) {
        diag_add(elab->diags, E0118, at->span, "'%s' has a condition: no function is reached through it", name_of(elab, at->sym));
        return false;
    }
    if (!member || member->type.rank == given)
        return true;
    diag_add(elab->diags, E0111, at->span, "a function is reached through one component, but '%s' is an array of %u dimension%s",
             name_of(elab, at->sym), member->type.rank, member->type.rank == 1 ? "" : "s");
    return false;
}

static bool
check_reached(Elab *elab, uint32_t from, uint32_t in, const Found *found, bool component, Node part)
{
    const AstNode *at = node_at(elab, part);
    bool operator = component && found->class_id
        && (class_at(elab->program, in)->kind == CLASS_OPERATOR
            || node_at(elab, class_at(elab->program, found->class_id)->node)->kind_of == CLASS_OPERATOR_FUNCTION);
    if (found->member && found->member->is_protected && !class_at(elab->program, from)->wrapper) {
        Diag *diag = diag_add(elab->diags, E0125, at->span, "'%s' is protected in '%s' and cannot be used from outside",
                              name_of(elab, at->sym), name_of(elab, class_at(elab->program, found->owner)->full_name));
        diag_note(diag, node_at(elab, found->member->node)->span, "declared here");
        return false;
    }
    if (operator)
        diag_add(elab->diags, E0119, at->span, "'%s' is an operator and is not reached through a component", name_of(elab, at->sym));
    return !operator && (component || scope_look_inside(elab->program, in, found, at->span));
}

// What a name that a function is called or inherited by stands for; *instance: the component it was reached through.
static bool
find_function(Elab *elab, ExprEnv *env, Node ref, Found *found, Fragment **instance)
{
    const Scope *scope = env->scope;
    const AstNode *at = node_at(elab, ref);
    const ClassInfo *info = class_at(elab->program, scope->class_id);
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    *instance = scope->frag;
    // The name of an extends clause: its class is known, with what is redeclared in it.
    for (uint32_t i = 0; i < info->extends.n && at->kind == AST_NAME; i++)
        if (child_at(elab, info->extends.at[i], 0) == ref) {
            scope_bases(elab->program, scope->class_id);
            *found = (Found){.class_id = class_at(elab->program, scope->class_id)->bases.at[i]};
            return found->class_id != 0;
        }
    bool ok = at->flags & AST_F_DOT ? scope_member(elab->program, CLASSID_ROOT, first, found)
                                    : scope_find(elab->program, scope->class_id, first, found);
    bool component = ok && !found->class_id && at->nchild > 1;
    if (component) {
        found->class_id = component_class(elab, scope, found, instance);
        ok = check_component(elab, scope, child_at(elab, ref, 0));
        if (ok && *instance && child_at(elab, child_at(elab, ref, 0), 0))
            ok = (*instance = resolve_element(elab, env, child_at(elab, ref, 0))) != NULL;
    }
    for (uint32_t i = 1; ok && i < at->nchild; i++) {
        Node part = child_at(elab, ref, i);
        uint32_t in = found->class_id;
        ok = in && scope_member(elab->program, in, node_at(elab, part)->sym, found)
          && (at->kind != AST_REF || check_reached(elab, scope->class_id, in, found, component, part));
    }
    return ok;
}

// The instance in which the modifications of a short function `function f = g(k = e)` have their values.
static Fragment *
home_of(Elab *elab, const ClassInfo *info, Fragment *instance)
{
    for (; instance && ast_kind(&elab->program->ast, info->body) == AST_SHORT; instance = instance->parent)
        if (instance->class_id == info->parent || scope_is_base(elab->program, info->parent, instance->class_id))
            return instance;
    return NULL;
}

// A class of external objects is called by its constructor.
static bool
constructor_of(Elab *elab, Found *found, Span span)
{
    const ClassInfo *info = class_at(elab->program, found->class_id);
    Sym name = sym_of(elab->dae->syms, "constructor");
    if (scope_member(elab->program, found->class_id, name, found) && found->class_id
        && class_at(elab->program, found->class_id)->kind == CLASS_FUNCTION)
        return true;
    Diag *diag = diag_add(elab->diags, E0119, span, "'%s' is a class of external objects without a constructor",
                          sym_text(elab->dae->syms, info->full_name));
    diag_help(diag, "declare a function 'constructor' in it, and a function 'destructor'");
    return false;
}

static void
say_no_function(Elab *elab, const Scope *scope, const AstNode *at, const char *text, Sym first)
{
    Diag *diag = diag_add(elab->diags, E0101, at->span, "there is no function '%s'", text);
    uint32_t n = 0;
    const char *const *names = builtin_names(&n);
    const char *dot = strrchr(text, '.'), *near = usual_name(text);
    for (uint32_t i = 0; dot && !near && i < n; i++) // math.sqrt: functions of the language have no package
        near = strcmp(names[i], dot + 1) ? NULL : names[i];
    if (!near)
        near = nearest_name(text, names, n);
    if (!near)
        near = scope_nearest(elab->program, scope->class_id, first, false);
    if (!strcmp(text, "d") || !strcmp(text, "ddt") || !strcmp(text, "diff") || !strcmp(text, "deriv") || !strcmp(text, "derivative"))
        diag_help(diag, "the derivative of x by time is written der(x)");
    else if (near && strcmp(near, text))
        diag_help(diag, "did you mean '%s'?", near);
}

// What was found is a function that can be called; otherwise why not.
// A function declared as impure is called by functions like that, in a `when`, at the start and for parameters (section 12.3). A library may do otherwise.
static bool
is_too_pure(Elab *elab, const ExprEnv *env, Node ref, const ClassInfo *info)
{
    const ClassInfo *caller = class_at(elab->program, ((const Scope *)env->scope)->class_id);
    bool pure = caller->kind == CLASS_FUNCTION ? !(caller->flags & AST_F_IMPURE) : env->pure && !env->when;
    return pure && (info->flags & AST_F_IMPURE) && env->excused != ref && !sources_is_found(elab->program->sources, node_at(elab, ref)->span.lo);
}

static bool
is_callable(Elab *elab, const ExprEnv *env, Node ref, const ClassInfo *info, const char *text)
{
    const AstNode *at = node_at(elab, ref);
    bool as_base = at->kind != AST_REF && info->kind == CLASS_CLASS; // an icon of a record or function
    if (info->kind != CLASS_FUNCTION && info->kind != CLASS_RECORD && !as_base) {
        diag_add(elab->diags, E0115, at->span, "'%s' is a %s, not a function", text,
                 ast_class_kind_name((ClassKind)info->kind));
        return false;
    }
    if ((info->flags & AST_F_PARTIAL) && at->kind == AST_REF) { // an extends clause has a NAME
        diag_add(elab->diags, E0106, at->span, "'%s' is partial and cannot be called", text);
        return false;
    }
    if (at->kind == AST_REF && is_too_pure(elab, env, ref, info)) {
        Diag *diag = diag_add(elab->diags, E0223, at->span, "'%s' is declared as impure, and cannot be called %s", text,
                              env->in_function ? "by a function that is not" : "at all times");
        diag_help(diag, "%s, or write pure(%s(...))", env->in_function ? "begin the function with 'impure'" : "call it in a 'when', in an initial equation or for a parameter", text);
        return false;
    }
    return true;
}

// The class that a class in short form stands for; NULL where its base is none.
static const ClassInfo *
behind_short(Elab *elab, Found *found)
{
    const ClassInfo *info = class_at(elab->program, found->class_id);
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && ast_kind(&elab->program->ast,
                                                             info->body) == AST_SHORT; depth++) {
        // What a modification changes is the concern of the call (function.c).
        Node mods = ast_child(&elab->program->ast, info->body, 2);
        if (info->modified || (mods && ast_at(&elab->program->ast, mods)->nchild > 1))
            break;
        scope_bases(elab->program, found->class_id);
        info = class_at(elab->program, found->class_id);
        if (!info->bases.at[0])
            return NULL;
        found->class_id = info->bases.at[0];
        info = class_at(elab->program, found->class_id);
    }
    return info;
}

// What a modification of the class around says of the function `class_id`. Attributes change nothing of what a call gives.
static void
note_defaults(Elab *elab, uint32_t class_id, FunctionRef *out)
{
    TypeUse use = {0};
    const Mod *mod = type_class_modification(elab, &use, class_id);
    ChangedDefault *made = arena_array(elab->arena, ChangedDefault, mod->n + 1);
    for (uint32_t i = 0; i < mod->n; i++) {
        const Mod *child = mod->children[i];
        Scope *scope = arena_new(elab->arena, Scope);
        *scope = (Scope){.class_id = child->class_id, .structural = true, .frag = child->frag};
        made[out->n_defaults++] = (ChangedDefault){child->name, child->value, scope, child->span};
    }
    out->defaults = made;
}

static bool
env_function(ExprEnv *env, Node ref, FunctionRef *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    const AstNode *at = node_at(elab, ref);
    Found found = {0};
    Fragment *instance;
    Sym first = node_at(elab, child_at(elab, ref, 0))->sym;
    uint32_t errors = diags_errors(elab->diags);
    bool ok = find_function(elab, env, ref, &found, &instance);
    if (!ok && diags_errors(elab->diags) > errors)
        return false;
    const char *text = scope_name_text(elab->program, ref);
    if (!ok && machine_statement(text)) {
        diag_add(elab->diags, E0515, at->span, "'%s' is an equation: it stands in no algorithm, 'when' or expression", text);
        return false;
    }
    if (!ok && is_connection_statement(text)) {
        diag_add(elab->diags, E0406, at->span, "'%s' is an equation: it stands in no algorithm, 'when' or expression", text);
        return false;
    }
    if (!ok && (at->kind == AST_NAME || scope_import_failed(elab->program, scope->class_id, first)))
        return false; // a base that does not exist or does not fit has been reported, and so has an import
    if (!ok) {
        say_no_function(elab, scope, at, text, first);
        return false;
    }
    if (!found.class_id) {
        Diag *diag = diag_add(elab->diags, E0119, at->span, "'%s' is no function and cannot be called", text);
        diag_help(diag, "subscripts stand in square brackets: '%s[...]'", text);
        return false;
    }
    found.class_id = program_constrained(elab->program, &found);
    const ClassInfo *info = behind_short(elab, &found);
    if (!info)
        return false;
    if (outer_class_refused(elab, found.class_id, at->span))
        return false;
    if (class_is_object(elab, found.class_id) && !constructor_of(elab, &found, at->span))
        return false;
    info = class_at(elab->program, found.class_id);
    if (!is_callable(elab, env, ref, info, text))
        return false;
    imply_prefixes(elab->program, found.class_id);
    info = class_at(elab->program, found.class_id);
    Scope *inside = arena_new(elab->arena, Scope);
    *inside = (Scope){.class_id = found.class_id, .structural = true, .frag = home_of(elab, info, instance)};
    *out = (FunctionRef){.class_node = info->node, .scope = inside, .full_name = info->full_name,
                        .id = found.class_id};
    if (ast_kind(&elab->program->ast, info->body) == AST_SHORT) { // it is no scope of its own (section 4.5.1)
        Scope *around = arena_new(elab->arena, Scope);
        *around = (Scope){.class_id = info->parent, .structural = true, .frag = inside->frag};
        out->around = around;
    }
    if (info->modified)
        note_defaults(elab, found.class_id, out);
    return true;
}

// The functions of an operator of a record: the operator itself, or those that stand in it (section 14.1).
static uint32_t
env_operators(ExprEnv *env, uint32_t class_id, const char *name, const FunctionRef **out)
{
    Elab *elab = env->context;
    Found found;
    if (!scope_member(elab->program, class_id, sym_of(elab->dae->syms, name), &found) || !found.class_id)
        return 0;
    const ClassInfo *info = class_at(elab->program, found.class_id);
    bool several = info->kind == CLASS_OPERATOR;
    FunctionRef *made = arena_array(elab->arena, FunctionRef, several ? info->members.n + 1 : 1);
    uint32_t n = 0, owner = found.class_id;
    scope_bases(elab->program, owner);
    for (uint32_t i = 0; i < (several ? class_at(elab->program, owner)->members.n : 1); i++) {
        uint32_t id = several ? class_at(elab->program, owner)->members.at[i].class_id : owner;
        if (!id || class_at(elab->program, id)->kind != CLASS_FUNCTION)
            continue;
        Scope *inside = arena_new(elab->arena, Scope);
        *inside = (Scope){.class_id = id, .structural = true};
        info = class_at(elab->program, id);
        made[n++] = (FunctionRef){.class_node = info->node, .scope = inside, .full_name = info->full_name, .id = id};
    }
    *out = made;
    return n;
}

static bool
env_declared(ExprEnv *env, Node ref)
{
    Elab *elab = env->context;
    const Scope *scope = env->scope;
    Found found;
    Sym name = node_at(elab, child_at(elab, ref, 0))->sym;
    // The predefined functions stand among the classes at the top: `.sin` passes by what is nearer.
    uint32_t from = node_at(elab, ref)->flags & AST_F_DOT ? CLASSID_ROOT : scope->class_id;
    if (!scope_find(elab->program, from, name, &found) || !found.class_id)
        return false;
    return class_at(elab->program, found.class_id)->kind == CLASS_FUNCTION;
}

static bool
env_type(ExprEnv *env, Node name, Type *out)
{
    Elab *elab = env->context;
    Scope *scope = env->scope;
    uint32_t class_id = scope_class(elab->program, scope->class_id, name);
    TypeUse use = {0};
    bool ok = class_id && type_use(elab, class_id, &use), open = false;
    const RecordType *record = NULL;
    if (ok && !class_is_variable(elab, use.class_id)) {
        record = record_of_class(elab, use.class_id, node_at(elab, name)->span);
        ok = record != NULL;
    }
    Type sizes = {0};
    for (uint32_t i = 0; ok && i < use.dims.n; i++)
        ok = evaluate_dims(elab, use.dims.at[i].frag, use.dims.at[i].class_id, use.dims.at[i].node, &sizes, &open);
    vec_free(&use.dims);
    if (!ok)
        return false;
    if (record)
        *out = (Type){.base = TYPE_RECORD, .record = record};
    else
        type_of_class(elab, use.class_id, out);
    out->rank = sizes.rank;
    memcpy(out->dims, sizes.dims, sizeof sizes.dims);
    return true;
}

static bool
env_function_type(ExprEnv *env, Node name)
{
    Elab *elab = env->context;
    const Scope *scope = env->scope;
    uint32_t class_id = scope_class_quietly(elab->program, scope->class_id, name);
    return class_id && class_at(elab->program, class_id)->kind == CLASS_FUNCTION;
}

static bool
env_enumeration(ExprEnv *env, Node ref, Type *out)
{
    Elab *elab = env->context;
    const Scope *scope = env->scope;
    uint32_t class_id = scope_class_quietly(elab->program, scope->class_id, ref);
    TypeUse use = {0};
    bool good = class_id && class_is_variable(elab, class_id) && type_use(elab, class_id, &use)
        && class_at(elab->program, use.class_id)->n_literals && !use.dims.n;
    if (good)
        type_of_class(elab, use.class_id, out);
    vec_free(&use.dims);
    return good;
}

// The member that holds a local variable, as an index into `order`; inside components the fragment changes. `own`: what is
// inside need be the component's own, since its value is asked for.
static Member *
find_member(Elab *own, Fragment **frag, uint32_t *var)
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
            e = *var / member->fragments[0]->nvars;
            *var %= member->fragments[0]->nvars;
        }
        *frag = own ? share_own(own, at, member, e) : member->fragments[member->split ? e : 0];
    }
    return NULL;
}

Member *
member_of_var(Fragment **frag, uint32_t *var)
{
    return find_member(NULL, frag, var);
}

Member *
member_to_evaluate(Elab *elab, Fragment **frag, uint32_t *var)
{
    return find_member(elab, frag, var);
}

// The fragment whose variables the slots number: while a function is expanded it is that of the call.
static Fragment *
slot_owner(const ExprEnv *env)
{
    const Elab *elab = env->context;
    const Scope *scope = env->scope;
    return env == &elab->env ? elab->scope.frag : scope->frag;
}

static bool
env_value(ExprEnv *env, Var var, double *out, Span span)
{
    Elab *elab = env->context;
    Fragment *frag = slot_owner(env);
    uint32_t local = var;
    Member *member = NULL;
    if (frag && (var & EXTRA_BIT)) {
        const Extra *extra = &frag->extras.at[var & ~EXTRA_BIT];
        *out = extra->value;
        if (extra->kind == EXTRA_LITERAL)
            return true;
        if (extra->kind == EXTRA_OUTER)
            member = outer_member(frag, extra, &frag, &local);
    } else if (frag && var != UNPLACED) {
        member = member_to_evaluate(elab, &frag, &local);
    }
    if (!member || (member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT)) {
        Diag *diag = diag_add(elab->diags, E0112, span,
                              "a value that must be known at compile time uses %s%s%s is no parameter or constant",
                              member ? "'" : "", member ? name_of(elab, member->name) : "something", member ? "', which" : " that");
        if (member)
            diag_note(diag, member->span, "declared here");
        return false;
    }
    const Value *value;
    if (!member_value(elab, frag, member, span, &value))
        return false;
    *out = expr_value(elab->dae->exprs, value->elements[local]);
    return true;
}

// Besides literals the parameters that have shaped the model already: nothing can change these any more.
static bool
env_literal(ExprEnv *env, Var var, double *out)
{
    const Scope *scope = env->scope;
    Fragment *frag = scope->frag;
    if (!frag || var == UNPLACED)
        return false;
    const Member *member;
    Elab *elab = env->context;
    if (var & EXTRA_BIT) {
        const Extra *extra = &frag->extras.at[var & ~EXTRA_BIT];
        *out = extra->value;
        elab->uneven |= extra->kind == EXTRA_LITERAL;
        if (extra->kind != EXTRA_OUTER)
            return extra->kind == EXTRA_LITERAL;
        member = outer_member(frag, extra, &frag, &var);
    } else {
        member = member_of_var(&frag, &var);
    }
    if (!member || !member->evaluate || member->value_state != 2)
        return false;
    elab->uneven |= member->count != 1;
    *out = expr_value(elab->dae->exprs, member->value.elements[var]);
    return true;
}

// The member that an ordinary variable, or one that stands for a variable with a derivative or before an event, belongs to.
static const Member *
member_meant(Fragment *frag, Var var)
{
    if (!frag || var == UNPLACED)
        return NULL;
    if (!(var & EXTRA_BIT))
        return member_of_var(&frag, &var);
    const Extra *extra = &frag->extras.at[var & ~EXTRA_BIT];
    if (extra->kind == EXTRA_OUTER)
        return outer_member(frag, extra, &frag, &var);
    return extra->kind == EXTRA_PRE || extra->kind == EXTRA_DER ? member_meant(frag, extra->var) : NULL;
}

// What a function knows of its arguments, which are the caller's, is not how they vary.
static bool
env_varies(ExprEnv *env, Var var)
{
    const Scope *scope = env->scope;
    if (!scope->frag && env->in_function)
        return var != UNPLACED;
    const Member *member = member_meant(scope->frag, var);
    return member && member->kind != VAR_PARAMETER && member->kind != VAR_CONSTANT;
}

static bool
env_found_at_start(ExprEnv *env, Var var)
{
    const Scope *scope = env->scope;
    const Member *member = member_meant(scope->frag, var);
    return member && is_found_at_start(env->context, member);
}

static bool
env_real(ExprEnv *env, Var var)
{
    const Scope *scope = env->scope;
    const Member *member = member_meant(scope->frag, var);
    return member && member->type.base == TYPE_REAL;
}

// Only continuous variables and their derivatives change between events.
static bool
is_continuous(Fragment *frag, Var var)
{
    if (var & EXTRA_BIT) {
        const Extra *extra = &frag->extras.at[var & ~EXTRA_BIT];
        if (extra->kind != EXTRA_OUTER)
            return extra->kind == EXTRA_DER;
        Member *member = outer_member(frag, extra, &frag, &var);
        return member && member->kind == VAR_CONTINUOUS;
    }
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

// The folder of a package that is one, otherwise that of its file.
static const char *
env_resource(ExprEnv *env, const char *address)
{
    Elab *elab = env->context;
    const char *package = address + strlen("modelica://"), *rest = package + strcspn(package, "/");
    uint32_t class_id = scope_class_by_path(elab->program, arena_strndup(env->arena, package, (size_t)(rest - package)));
    Place place = {0};
    if (!class_id || scope_is_predefined(class_id)
        || !span_locate(elab->program->sources, ast_at(env->ast, class_at(elab->program, class_id)->node)->span, &place))
        return NULL;
    char *real = realpath(place.path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    const char *folder = slash ? arena_strndup(env->arena, real, (size_t)(slash - real)) : NULL;
    free(real);
    return folder ? arena_printf(env->arena, "%s%s", folder, rest) : NULL;
}

void
env_init(Elab *elab, ExprEnv *env, Scope *scope)
{
    *env = (ExprEnv){
        .ast = &elab->program->ast, .syms = elab->dae->syms, .exprs = elab->dae->exprs, .diags = elab->diags,
        .arena = elab->scratch, .calls = &function_calls, .routines = elab->routines, .operators = env_operators, .slots = &elab->slots, .slot_of = &elab->slot_of,
        .streams = &elab->streams,
        .component = env_component, .function = env_function, .declared = env_declared, .varies = env_varies, .found_at_start = env_found_at_start, .real = env_real,
        .type = env_type, .function_type = env_function_type, .literal = env_literal, .value = env_value, .der = env_der, .pre = env_pre,
        .enumeration = env_enumeration, .graph = elab->contents->connections, .resource = env_resource, .scope = scope, .context = elab,
    };
}

void
aside_open(Elab *elab, AsideEnv *aside, Scope *scope)
{
    *aside = (AsideEnv){0};
    env_init(elab, &aside->env, scope);
    aside->env.slots = &aside->slots;
    aside->env.slot_of = &aside->slot_of;
    elab->active++;
}

void
aside_close(Elab *elab, AsideEnv *aside)
{
    elab->active--;
    vec_free(&aside->env.locals);
    vec_free(&aside->slots);
    map_free(&aside->slot_of);
}
