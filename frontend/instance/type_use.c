// type_use.c: types: what a name in a declaration stands for.
//
// Purpose: follows short classes (`type Mass = Real(unit = "kg")`, `connector RealInput = input Real`) to a
// predefined type, an enumeration or a class with a body, and collects modifications, sizes and prefixes on
// the way (Modelica 3.6, section 4.6.1).
// Method: a loop over the short classes on the way.
// Contract: fragment.h. Complexity: linear in the steps, at most 256.
#include "frontend/instance/fragment.h"
#include "frontend/names/names.h"
#include "ir/base/diag.h"

#include <string.h>

// A type may say how two of it are compared where connections close loops (section 9.4.1); it has no other element.
static bool
has_own_elements(const Program *program, const ClassInfo *info)
{
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (!member->is_class || info->kind != CLASS_TYPE || class_at(program, member->class_id)->kind != CLASS_FUNCTION
            || strcmp(sym_text(program->syms, member->name), "equalityConstraint"))
            return true;
    }
    return false;
}

// A class of external objects: it extends ExternalObject, and has a constructor and a destructor (section 12.9.7).
bool
class_is_object(Elab *elab, uint32_t class_id)
{
    const ClassInfo *info = scope_is_predefined(class_id) ? NULL : class_at(elab->program, class_id);
    bool named = false, object = false;
    if (!info || ast_kind(&elab->program->ast, info->body) != AST_BODY)
        return false;
    for (uint32_t i = 0; i < info->extends.n && !named; i++) {
        Node name = child_at(elab, info->extends.at[i], 0);
        named = name && !strcmp(scope_name_text(elab->program, name), "ExternalObject");
    }
    if (!named && info->extends.n != 1)
        return false;
    scope_bases(elab->program, class_id);
    info = class_at(elab->program, class_id);
    for (uint32_t i = 0; i < info->bases.n; i++) // besides, icons
        if (info->bases.at[i] == CLASSID_OBJECT)
            object = true;
        else if (!info->bases.at[i] || scope_is_predefined(info->bases.at[i]) || class_at(elab->program, info->bases.at[i])->members.n)
            return false;
    return object;
}

// Short classes are followed with a bound: resolving bases has excluded circles.
bool
class_is_variable(Elab *elab, uint32_t class_id)
{
    for (uint32_t depth = 0; depth <= DEPTH_LIMIT; depth++) {
        if (scope_is_predefined(class_id))
            return class_id != CLASSID_ROOT && class_id != CLASSID_NONE;
        const ClassInfo *info = class_at(elab->program, class_id);
        if (ast_kind(&elab->program->ast, info->body) == AST_ENUM)
            return true;
        if (class_is_object(elab, class_id))
            return true;
        if (info->extends.n != 1 || has_own_elements(elab->program, info))
            return false;
        scope_bases(elab->program, class_id);
        class_id = class_at(elab->program, class_id)->bases.at[0];
        if (!class_id)
            return false;
    }
    return false;
}

// The nearest instance of the class in which a short class stands, among those around what is declared.
static Fragment *
instance_around(const Elab *elab, uint32_t class_id)
{
    if (class_id == CLASSID_ROOT || class_at(elab->program, class_id)->kind == CLASS_PACKAGE) // which has no instances
        return NULL;
    for (Fragment *at = elab->declaring; at; at = at->parent)
        if (at->class_id == class_id || scope_is_base(elab->program, class_id, at->class_id))
            return at;
    return NULL;
}

static bool
names_member(const Elab *elab, const Fragment *frag, Node expr)
{
    U32Vec stack = {0};
    bool any = false;
    uint32_t unused;
    vec_push(&stack, expr);
    while (stack.n && !any) {
        Node node = vec_pop(&stack);
        const AstNode *at = node_at(elab, node);
        if (at->kind == AST_REF && !(at->flags & AST_F_DOT))
            any = map_get(&frag->by_name, node_at(elab, child_at(elab, node, 0))->sym, &unused);
        for (uint32_t i = 0; i < at->nchild; i++)
            if (child_at(elab, node, i))
                vec_push(&stack, child_at(elab, node, i));
    }
    vec_free(&stack);
    return any;
}

// Values that name something of the instance around stand in its scope, like those of its components (section 4.5.1: a short
// class is no scope of its own); all others belong to the class.
static void
stand_in(const Elab *elab, Mod *mod, Fragment *home, Fragment *giver, bool *used)
{
    bool inside = home && mod->value && names_member(elab, home, mod->value);
    mod->of_type = true;
    mod->giver = giver;
    mod->frag = inside ? home : NULL;
    *used |= inside;
    for (uint32_t i = 0; i < mod->n; i++)
        stand_in(elab, mod->children[i], home, giver, used);
}

static void
add_home(Elab *elab, TypeUse *use, Fragment *home)
{
    for (const TypeHome *at = use->homes; at; at = at->next)
        if (at->frag == home)
            return;
    TypeHome *made = arena_new(elab->arena, TypeHome);
    *made = (TypeHome){home, use->homes};
    use->homes = made;
}

// The modifications of a class, which stand in another one, to be merged by a TypeUse.
Mod *
type_modification(Elab *elab, TypeUse *use, Sym name, Node mods, uint32_t scope, Span span)
{
    Fragment *home = instance_around(elab, scope);
    bool used = false;
    // A value's or attribute's place relative to the type itself: nothing to distribute over.
    Mod *mod = mod_build(elab, name, mods, NULL, scope, -1, span);
    stand_in(elab, mod, home, use->giver, &used);
    if (used)
        add_home(elab, use, home);
    return mod;
}

// The declaration of a type, which may have a constraining clause.
bool
type_find(Elab *elab, uint32_t class_id, Node type, Found *found)
{
    const Ast *ast = &elab->program->ast;
    return ast_at(ast, type)->nchild == 1 && !(ast_at(ast, type)->flags & AST_F_DOT)
        && scope_find(elab->program, class_id, ast_at(ast, ast_child(ast, type, 0))->sym, found) && found->class_id && found->member;
}

// `replaceable model K = A constrainedby B(p = 1)`: what holds for A and for whatever K has been replaced by (section 7.3.2), or
// NULL. Without `constrainedby` the declaration itself is the constraint. Classes that it redeclares are so in the type (program_constrained).
Mod *
type_constraint(Elab *elab, uint32_t class_id, Node type, TypeUse *use)
{
    const Ast *ast = &elab->program->ast;
    Found found;
    if (!type_find(elab, class_id, type, &found))
        return NULL;
    bool replaced = class_at(elab->program, found.class_id)->node != found.member->node;
    Node constrained = ast_child(ast, found.member->node, 2), body = ast_child(ast, found.member->node, 1);
    Node mods = constrained ? ast_child(ast, constrained, 1) : replaced && ast_kind(ast, body) == AST_SHORT ? ast_child(ast, body, 2) : 0;
    return mods ? type_modification(elab, use, found.member->name, mods, found.owner, ast_at(ast, mods)->span) : NULL;
}

// What a component says of a class inside its own (`A a(X(p = 3))`) as a modification of that class: one for all that have it as their type,
// wherever they stand. The values stand where the component is declared.
static Mod *
given_modification(Elab *elab, TypeUse *use, const Mod *given, int32_t above)
{
    Mod *mod = mod_make(elab, given->name, given->span, given->each ? 0 : given->levels - above);
    bool used = false;
    Mod alone = {.value = given->value};
    stand_in(elab, &alone, given->frag, use->giver, &used);
    if (used)
        add_home(elab, use, given->frag);
    mod->value = given->value;
    mod->frag = alone.frag;
    mod->giver = use->giver;
    mod->of_type = true;
    mod->class_id = given->class_id;
    mod->final = given->final;
    mod->each = given->each;
    mod->redeclared = given->redeclared;
    mod->constraint = given->constraint;
    mod->line = given->line;
    mod->component = given->component;
    mod->line_frag = given->line_frag;
    mod->line_class = given->line_class;
    for (uint32_t i = 0; i < given->n; i++)
        mod_add(elab, mod, given_modification(elab, use, given->children[i], above));
    return mod;
}

Mod *
type_class_modification(Elab *elab, TypeUse *use, uint32_t class_id)
{
    Mod *mod = NULL;
    for (const Replacement *at = class_at(elab->program, class_id)->modified; at && !at->class_id; at = at->under) {
        Mod *said;
        if (at->given) {
            const Mod *given = at->given;
            said = given_modification(elab, use, given, given->levels + 1);
        } else {
            Fragment *home = instance_around(elab, at->scope);
            bool used = false;
            said = mod_child(mod_build(elab, 0, at->mods, NULL, at->scope, -2, at->span), at->name);
            stand_in(elab, said, home, use->giver, &used);
            if (used)
                add_home(elab, use, home);
        }
        mod = mod_merge(elab, mod, said);
    }
    return mod;
}

void
type_need(Fragment *frag, const TypeUse *use)
{
    for (const TypeHome *at = use->homes; at; at = at->next)
        if (at->frag != frag)
            vec_push(&frag->needs, ((Outer){.frag = at->frag, .home = true}));
}

static void
add_type_step(Elab *elab, uint32_t class_id, Node node, TypeUse *use)
{
    const Ast *ast = &elab->program->ast;
    const AstNode *at = ast_at(ast, node);
    bool is_short = at->kind == AST_SHORT;
    const ClassInfo *info = class_at(elab->program, class_id);
    uint32_t scope = is_short ? info->parent : class_id;
    Node mods = ast_child(ast, node, is_short ? 2 : 1), dims = is_short ? ast_child(ast, node, 1) : 0;
    if (is_short)
        use->flags |= at->flags & (AST_F_INPUT | AST_F_OUTPUT);
    if (dims) {
        Fragment *home = instance_around(elab, scope);
        bool used = home && names_member(elab, home, dims);
        vec_push(&use->dims, ((TypeSizes){dims, scope, used ? home : NULL}));
        if (used)
            add_home(elab, use, home);
    }
    if (!mods && !class_is_final(info))
        return;
    Mod *mod = type_modification(elab, use, info->name, mods, scope, at->span);
    mod->final = class_is_final(info);
    use->mod = mod_merge(elab, use->mod, mod);
}

bool
type_use(Elab *elab, uint32_t class_id, TypeUse *use)
{
    const Ast *ast = &elab->program->ast;
    uint32_t type = 0;       // the first class on the way that is declared as a type
    uint32_t due = 0;        // what a constraining clause says is of the class at this depth
    for (uint32_t depth = 0; depth <= DEPTH_LIMIT; depth++) {
        use->class_id = class_id;
        if (class_at(elab->program, class_id)->modified)
            use->mod = mod_merge(elab, use->mod, type_class_modification(elab, use, class_id));
        // What a constraining clause says of a replaced class holds for the replacement, whose own short class comes first.
        if (use->constraint && (depth > due || ast_kind(ast, class_at(elab->program, class_id)->body) != AST_SHORT)) {
            use->mod = mod_merge(elab, use->mod, use->constraint);
            use->constraint = NULL;
        }
        if (scope_is_predefined(class_id))
            return true;
        if (class_is_object(elab, class_id))
            return true;
        const ClassInfo *info = class_at(elab->program, class_id);
        use->connector |= info->kind == CLASS_CONNECTOR;
        AstKind kind = ast_kind(ast, info->body);
        if (outer_class_refused(elab, class_id, ast_at(ast, info->node)->span))
            return false;
        if (kind == AST_DERCLASS) // a function, or something that has been refused (class_restrictions.c)
            return info->kind == CLASS_FUNCTION;
        bool variable = class_is_variable(elab, class_id);
        if (info->kind == CLASS_TYPE && kind == AST_BODY && !variable) {
            diag_add(elab->diags, E0131, ast_at(ast, info->node)->span,
                     "'%s' is a type: it extends one predefined type and has nothing of its own",
                     sym_text(elab->dae->syms, info->full_name));
            return false;
        }
        if (info->kind == CLASS_TYPE && !type)
            type = class_id;
        if (kind != AST_SHORT && !(kind == AST_BODY && variable)) {
            if (!type || variable)
                return true;
            diag_add(elab->diags, E0115, ast_at(ast, class_at(elab->program, type)->node)->span,
                     "'%s' is a type, but '%s' is no type", sym_text(elab->dae->syms, class_at(elab->program, type)->full_name),
                     sym_text(elab->dae->syms, info->full_name));
            return false;
        }
        scope_bases(elab->program, class_id);
        info = class_at(elab->program, class_id);
        add_type_step(elab, class_id, info->extends.at[0], use);
        class_id = info->bases.at[0];
        if (!class_id)
            return false;
        Mod *said = NULL;
        if (kind == AST_SHORT) // `rc(redeclare model Cycle = Own)`: Own may be replaceable itself
            said = type_constraint(elab, info->parent, ast_child(ast, info->extends.at[0], 0), use);
        if (said) {
            use->mod = mod_merge(elab, use->mod, use->constraint);
            use->constraint = said;
            due = depth + 1;
        }
    }
    return false;
}

void
type_of_class(Elab *elab, uint32_t class_id, Type *type)
{
    static const VarType base[] = {[CLASSID_REAL] = TYPE_REAL, [CLASSID_INTEGER] = TYPE_INTEGER,
                                   [CLASSID_BOOLEAN] = TYPE_BOOLEAN, [CLASSID_STRING] = TYPE_STRING,
                                   [CLASSID_CLOCK] = TYPE_CLOCK};
    *type = (Type){.base = TYPE_ENUM};
    if (class_id <= CLASSID_CLOCK) {
        type->base = base[class_id];
        return;
    }
    const ClassInfo *info = class_at(elab->program, class_id);
    type->enum_class = info->full_name;
    type->literals = info->literals;
    type->n_literals = info->n_literals;
    type->object = class_is_object(elab, class_id) ? class_id : 0;
}
