// special.c: classes with replaced members.
//
// Purpose: `redeclare` of classes, and other values of a package's constants (Modelica 3.6, sections 7.3 and 13.2).
// Method: what a name means is found through class ids (scope.c), so a class in which one member is another is a
// class of its own: a copy that shares the syntax tree, whose member table names the replacement, whose nested classes
// are copied (they look names up through it), and whose bases are specialised in turn when they have the member.
// Copies are kept by class and replacements, so that equal redeclarations are one class and share fragments.
// Contract: classes.h. Complexity: linear in the members of the copied classes, once per set of replacements.
#include "frontend/names/classes.h"
#include "frontend/names/names.h"
#include "ir/base/diag.h"

uint32_t
program_origin(const Program *program, uint32_t class_id)
{
    uint32_t origin = class_at(program, class_id)->origin;
    return origin ? origin : class_id;
}

uint32_t
program_add_class(Program *program, ClassInfo info)
{
    ClassInfo *stored = arena_new(program->arena, ClassInfo);
    *stored = info;
    program->outer_classes |= (info.flags & AST_F_OUTER) != 0;
    vec_push(&program->classes, stored);
    return program->classes.n - 1;
}

const Replacement *
program_replacement(const Program *program, uint32_t class_id, Sym name)
{
    const ClassInfo *info = class_at(program, class_id);
    for (uint32_t i = 0; i < info->replacements.n; i++)
        if (info->replacements.at[i].name == name)
            return &info->replacements.at[i];
    return NULL;
}

Replacement
program_inside(Program *program, Sym name, const Replacements *members, Span span)
{
    Replacement *inside = arena_array(program->arena, Replacement, members->n + 1);
    if (members->n)
        memcpy(inside, members->at, members->n * sizeof *inside);
    return (Replacement){.name = name, .inside = inside, .n_inside = members->n, .span = span};
}

static bool
modifies(const Replacement *replacement)
{
    return replacement->mods || replacement->given || replacement->inside;
}

// What modifies parts, and what it modifies; as deep as classes extend each other, which has a limit.
static Replacement *
put_under(Program *program, const Replacement *top, const Replacement *under)
{
    Replacement *made = arena_new(program->arena, Replacement);
    *made = *top;
    if (modifies(top) && (top->under || under))
        made->under = top->under ? put_under(program, top->under, under) : put_under(program, under, NULL);
    return made;
}

// A later one stands in the place of an earlier one, or modifies it.
static void
put(Program *program, Replacements *list, Replacement replacement)
{
    for (uint32_t i = 0; i < list->n; i++) {
        Replacement *old = &list->at[i];
        if (old->name != replacement.name)
            continue;
        bool again = replacement.mods && replacement.mods == old->mods && replacement.scope == old->scope; // another argument of the clause
        if (!again)
            *old = modifies(&replacement) ? *put_under(program, &replacement, old) : replacement;
        return;
    }
    vec_push(list, replacement);
}

// --- copies

// A class inside a copy: a copy, too, when somebody asks for it.
static uint32_t
copy_later(Program *program, uint32_t class_id, uint32_t parent)
{
    const ClassInfo *from = class_known(program, class_id);
    return program_add_class(program, (ClassInfo){.node = from->node, .parent = parent, .name = from->name, .full_name = from->full_name,
        .kind = from->kind, .flags = from->flags, .redeclared = from->redeclared, .unread = UNREAD_COPY, .copied = class_id,
        .origin = from->origin ? from->origin : class_id});
}

// What stands in the place of a class that is a member of a copy: another class, or the same with modifications (section 7.2), which is
// a copy of its own, inside the copy `made`.
static uint32_t
replaced_class(Program *program, uint32_t made, uint32_t own, const Replacement *other)
{
    const Replacement *last = other;
    while (modifies(last) && last->under)
        last = last->under;
    if (!modifies(other) || scope_is_predefined(own))
        return last->class_id ? last->class_id : own;
    uint32_t copy = last->class_id ? copy_later(program, last->class_id, class_known(program, last->class_id)->parent)
                                   : copy_later(program, own, made);
    class_known(program, copy)->modified = other;
    return copy;
}

static void add_package_values(Program *program, Replacements *list, uint32_t package, const Replacement *modified);

// Into the place of an id, with the members that `list`, if any, does not replace.
static void
copy_class(Program *program, uint32_t made, uint32_t class_id, const Replacements *list)
{
    const ClassInfo *from = class_at(program, class_id);
    uint32_t parent = class_known(program, made)->parent;
    ClassInfo info = *from;
    info.parent = parent;
    info.origin = program_origin(program, class_id);
    memset(&info.members, 0, sizeof info.members);
    memset(&info.by_name, 0, sizeof info.by_name);
    memset(&info.imports, 0, sizeof info.imports);
    memset(&info.extends, 0, sizeof info.extends);
    memset(&info.bases, 0, sizeof info.bases);
    memset(&info.replacements, 0, sizeof info.replacements);
    info.bases_state = 0;
    if (class_known(program, made)->modified)
        info.modified = class_known(program, made)->modified;
    vec_append(&info.imports, from->imports.at, from->imports.n);
    vec_append(&info.extends, from->extends.at, from->extends.n);
    vec_append(&info.replacements, from->replacements.at, from->replacements.n);
    for (uint32_t i = 0; list && i < list->n; i++)
        vec_push(&info.replacements, list->at[i]);
    Replacements all = {0}; // one for each name
    for (uint32_t i = 0; list && i < info.replacements.n; i++)
        put(program, &all, info.replacements.at[i]);
    ClassInfo *copy = class_known(program, made);
    *copy = info;
    for (uint32_t i = 0; i < from->members.n; i++) {
        ClassMember member = from->members.at[i];
        const Replacement *other = NULL;
        for (uint32_t k = 0; k < all.n && member.is_class && !other; k++)
            other = all.at[k].name == member.name && (all.at[k].class_id || modifies(&all.at[k])) ? &all.at[k] : NULL;
        if (other) {
            member.node = class_node(program, &member); // it says what constrains the other
            member.class_id = replaced_class(program, made, member.class_id, put_under(program, other, NULL));
        } else if (member.is_class) {
            member.class_id = copy_later(program, member.class_id, made);
        }
        map_put(&copy->by_name, member.name, copy->members.n);
        vec_push(&copy->members, member);
    }
    vec_free(&all);
}

void
program_read_copy(Program *program, uint32_t class_id)
{
    ClassInfo *info = class_known(program, class_id), *around = class_known(program, info->parent);
    uint32_t index;
    Replacements list = {0};
    if (info->modified && class_at(program, info->copied)->kind == CLASS_PACKAGE)
        add_package_values(program, &list, info->copied, info->modified);
    copy_class(program, class_id, info->copied, list.n ? &list : NULL);
    vec_free(&list);
    if (map_get(&around->by_name, info->name, &index) && around->members.at[index].class_id == class_id)
        around->members.at[index].node = info->node;
}

static uint64_t
key_of(uint32_t class_id, const Replacement *list, uint32_t n)
{
    uint64_t key = hash_mix(class_id);
    for (uint32_t i = 0; i < n; i++)
        for (const Replacement *at = &list[i]; at; at = at->under) {
            key = hash_add(key, at->name);
            key = hash_add(key, (uint64_t)at->class_id << 32 | at->value);
            key = hash_add(key, (uint64_t)at->mods << 32 | at->scope);
            key = hash_add(key, at->inside ? key_of(0, at->inside, at->n_inside) : 0);
        }
    return key;
}

static bool same_replacements(const Replacement *a, uint32_t n, const Replacement *b, uint32_t m);

static bool
same_replacement(const Replacement *a, const Replacement *b)
{
    while (a && b && a->name == b->name && a->class_id == b->class_id && a->value == b->value && a->mods == b->mods && a->scope == b->scope
           && a->given == b->given && a->known == b->known
           && same_replacements(a->inside, a->n_inside, b->inside, b->n_inside)) {
        a = a->under;
        b = b->under;
    }
    return !a && !b;
}

static bool
same_replacements(const Replacement *a, uint32_t n, const Replacement *b, uint32_t m)
{
    bool same = n == m;
    for (uint32_t i = 0; same && i < n; i++)
        same = same_replacement(&a[i], &b[i]);
    return same;
}

uint32_t
program_specialise(Program *program, uint32_t class_id, const Replacements *list)
{
    Replacements own = {0};
    for (uint32_t i = 0; i < list->n; i++) {
        Found found;
        if (scope_member(program, class_id, list->at[i].name, &found)
            && found.class_id != (list->at[i].class_id ? list->at[i].class_id : UINT32_MAX))
            vec_push(&own, list->at[i]);
    }
    uint32_t made = class_id, at = 0;
    uint64_t key = key_of(class_id, own.at, own.n);
    bool any = own.n && map_get(&program->specialised, key, &at);
    uint32_t had = class_at(program, class_id)->replacements.n;
    while (any && at && (class_at(program, at)->name != class_at(program, class_id)->name
                         || class_at(program, at)->replacements.n < had
                         || !same_replacements(class_at(program, at)->replacements.at + had, class_at(program, at)->replacements.n - had, own.at, own.n)))
        at = program->next_special.at[at];
    if (any && at) {
        made = at;
    } else if (own.n) {
        made = copy_later(program, class_id, class_at(program, class_id)->parent);
        copy_class(program, made, class_id, &own);
        uint32_t first = 0;
        map_get(&program->specialised, key, &first);
        vec_grow(&program->next_special, program->classes.n - program->next_special.n);
        program->next_special.at[made] = first;
        map_put(&program->specialised, key, made);
    }
    vec_free(&own);
    return made;
}

// --- redeclarations

// What a redeclared class is constrained by from now on fits what it was constrained by (section 7.3.2).
static bool
narrows(Program *program, uint32_t wanted, uint32_t given)
{
    const Ast *ast = &program->ast;
    Node clause = class_at(program, given)->node ? ast_child(ast, class_at(program, given)->node, 2) : 0, type = clause ? ast_child(ast, clause, 0) : 0;
    uint32_t narrowed = type ? scope_class_quietly(program, class_at(program, given)->parent, type) : 0;
    Sym missing;
    if (!narrowed || program_fits(program, wanted, narrowed, &missing))
        return true;
    diag_add(program->diags, E0130, ast_at(ast, clause)->span, "'%s' cannot be constrained by '%s', which is no '%s'", sym_text(program->syms, class_at(program, given)->name),
             sym_text(program->syms, class_at(program, narrowed)->full_name), sym_text(program->syms, class_at(program, wanted)->full_name));
    return false;
}

// What is not replaceable keeps its type; how often it changes and its dimensions may be others (section 7.3.3).
static bool
keeps_type(Program *program, const Found *found, uint32_t given)
{
    Node type = found->member->is_class ? 0 : ast_child(&program->ast, found->member->line, 0);
    return type && given && scope_class_quietly(program, found->owner, type) == given;
}

bool
program_check_redeclare(Program *program, uint32_t owner, const Found *found, uint32_t given, Span span)
{
    const ClassMember *member = found->member;
    const char *name = sym_text(program->syms, member->name);
    Node element = member->is_class ? member->node : member->line;
    if (!(ast_at(&program->ast, element)->flags & AST_F_REPLACEABLE) && !keeps_type(program, found, given)) {
        Diag *diag = diag_add(program->diags, E0129, span, "'%s' of '%s' is not replaceable", name,
                              sym_text(program->syms, class_at(program, owner)->full_name));
        diag_note(diag, ast_at(&program->ast, member->node)->span, "declared here");
        diag_help(diag, "write 'replaceable' in front of that declaration");
        return false;
    }
    if (given && class_extends_inherited(program, given))
        return true;
    if (!member->is_class && (ast_at(&program->ast, element)->flags & AST_F_CONSTANT)) {
        Diag *diag = diag_add(program->diags, E0129, span, "'%s' is a constant and cannot be redeclared", name);
        diag_note(diag, ast_at(&program->ast, member->node)->span, "declared here");
        return false;
    }
    Node constrained = ast_child(&program->ast, element, 2), type = constrained ? ast_child(&program->ast,
                                                                                         constrained, 0) : 0;
    if (!type && !member->is_class)
        type = ast_child(&program->ast, element, 0);
    uint32_t wanted = type ? scope_class(program, found->owner, type) : found->class_id;
    Sym missing;
    if (!wanted || !given)
        return false;
    if (program_fits(program, wanted, given, &missing))
        return program_check_ranks(program, member, wanted, given, span, constrained) && (!member->is_class || narrows(program, wanted, given));
    Diag *diag = diag_add(program->diags, E0130, span, "'%s' cannot be redeclared as '%s', which is no '%s'", name,
                          sym_text(program->syms, class_at(program, given)->full_name),
                          sym_text(program->syms, class_at(program, wanted)->full_name));
    diag_note(diag, ast_at(&program->ast, constrained ? constrained : member->node)->span, "what is asked for");
    Found other;
    if (missing && scope_member(program, given, missing, &other))
        diag_help(diag, "its '%s' has another type, or changes more often", sym_text(program->syms, missing));
    else if (missing)
        diag_help(diag, "it has no '%s'", sym_text(program->syms, missing));
    return false;
}

// --- what an inheriting class replaces

static void
add_class(Program *program, Replacements *list, uint32_t class_id, uint32_t base, Sym name, uint32_t given, Span span)
{
    Found found;
    if (!scope_member(program, base, name, &found) || !found.class_id || !found.member) {
        // Not of this base: another one may have it; elements that nobody has are reported with the modifications.
        return;
    }
    if (!class_at(program, class_id)->origin && !program_check_redeclare(program, base, &found, given, span))
        return;
    put(program, list, (Replacement){.name = name, .class_id = given, .span = span});
}

// The class that a short class redeclares by itself.
static bool
redeclares_itself(const Program *program, uint32_t class_id, Sym name)
{
    const Ast *ast = &program->ast;
    Node body = class_at(program, class_id)->body, mods = ast_kind(ast, body) == AST_SHORT ? ast_child(ast, body, 2) : 0;
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i), element = ast_child(ast, mod, 0);
        if (ast_kind(ast, mod) == AST_REDECLARE && ast_kind(ast, element) == AST_CLASS && ast_at(ast, element)->sym == name)
            return true;
    }
    return false;
}

static void
add_value(Program *program, Replacements *list, uint32_t base, uint32_t scope, Node clause, Node mod)
{
    const Ast *ast = &program->ast;
    Node path = ast_child(ast, mod, 0), mods = ast_child(ast, mod, 1), value = mods ? ast_child(ast, mods, 0) : 0;
    Sym name = ast_at(ast, ast_child(ast, path, 0))->sym;
    Found found;
    bool whole = value && ast_at(ast, path)->nchild == 1;
    if (!whole && !scope_member(program, base, name, &found))
        return;
    put(program, list, (Replacement){.name = name, .value = whole ? value : 0, .mods = whole ? 0 : clause, .scope = scope, .span = ast_at(ast, mod)->span});
}

// `extends A(X(p = 3))`: what is modified is a class inside.
static bool
names_class(Program *program, uint32_t base, Node mod)
{
    const Ast *ast = &program->ast;
    Found found;
    return scope_member(program, base, ast_at(ast, ast_child(ast, ast_child(ast, mod, 0), 0))->sym, &found) && found.class_id && found.member;
}

uint32_t
program_constrained(Program *program, const Found *found)
{
    const Ast *ast = &program->ast;
    Node clause = found->member && found->member->is_class ? ast_child(ast, found->member->node, 2) : 0, mods = clause ? ast_child(ast, clause, 1) : 0;
    uint32_t class_id = found->class_id;
    Replacements list = {0};
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i), element = ast_child(ast, mod, 0);
        if (ast_kind(ast, mod) == AST_MOD && names_class(program, class_id, mod))
            add_value(program, &list, class_id, found->owner, mods, mod);
        if (ast_kind(ast, mod) != AST_REDECLARE || ast_kind(ast, element) != AST_CLASS || redeclares_itself(program, class_id, ast_at(ast, element)->sym))
            continue;
        put(program, &list, (Replacement){.name = ast_at(ast, element)->sym, .class_id = program_redeclared(program, element, found->owner),
                                          .span = ast_at(ast, mod)->span});
    }
    if (list.n)
        class_id = program_specialise(program, class_id, &list);
    vec_free(&list);
    return class_id;
}

// `extends Q(P(c = 3))`: what the clauses that modify the package P inside say of its constants.
static void
add_package_values(Program *program, Replacements *list, uint32_t package, const Replacement *modified)
{
    const Ast *ast = &program->ast;
    if (modified->under && modifies(modified->under))
        add_package_values(program, list, package, modified->under);
    for (uint32_t i = 0; i < modified->n_inside; i++)
        put(program, list, modified->inside[i]);
    for (uint32_t i = 1; modified->mods && i < ast_at(ast, modified->mods)->nchild; i++) {
        Node mod = ast_child(ast, modified->mods, i), path = ast_kind(ast, mod) == AST_MOD ? ast_child(ast, mod, 0) : 0;
        Node inside = path ? ast_child(ast, mod, 1) : 0;
        if (!path || ast_at(ast, ast_child(ast, path, 0))->sym != modified->name)
            continue;
        if (ast_at(ast, path)->nchild > 1)
            diag_add(program->diags, E0701, ast_at(ast, mod)->span, "a package inside is modified in parentheses: '%s(...)'; its name with a dot is not supported yet",
                     sym_text(program->syms, modified->name));
        for (uint32_t k = 1; inside && k < ast_at(ast, inside)->nchild && ast_at(ast, path)->nchild == 1; k++)
            if (ast_kind(ast, ast_child(ast, inside, k)) == AST_MOD)
                add_value(program, list, package, modified->scope, inside, ast_child(ast, inside, k));
    }
}

uint32_t
program_specialise_base(Program *program, uint32_t class_id, Node extends, uint32_t base, Sym except)
{
    const Ast *ast = &program->ast;
    const ClassInfo *info = class_at(program, class_id);
    bool is_short = ast_kind(ast, extends) == AST_SHORT;
    Node mods = ast_child(ast, extends, is_short ? 2 : 1);
    uint32_t scope = is_short ? info->parent : class_id; // names in a short class are looked up around it (section 7.2)
    Replacements list = {0};
    for (uint32_t i = 1; mods && i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i), element = ast_child(ast, mod, 0);
        if (ast_kind(ast, mod) == AST_REDECLARE && ast_kind(ast, element) == AST_CLASS)
            add_class(program, &list, class_id, base, ast_at(ast, element)->sym,
                      program_redeclared(program, element, scope), ast_at(ast, mod)->span);
        else if (ast_kind(ast, mod) == AST_MOD && (info->kind == CLASS_PACKAGE || names_class(program, base, mod)))
            add_value(program, &list, base, scope, mods, mod);
    }
    for (uint32_t i = 0; i < info->members.n; i++) {
        const ClassMember *member = &info->members.at[i];
        if (member->is_class && member->name != except && (ast_at(ast, member->node)->flags & AST_F_REDECLARE))
            add_class(program, &list, class_id, base, member->name, member->class_id,
                      ast_at(ast, member->node)->span);
    }
    for (uint32_t i = 0; i < info->replacements.n; i++)
        put(program, &list, info->replacements.at[i]);
    if (list.n)
        base = program_specialise(program, base, &list);
    vec_free(&list);
    return base;
}
