// unused.c: names that nothing uses.
//
// Purpose: parameters of models, protected variables, variables and inputs of functions, constants and imports that the text
// has no use for (W1201 to W1204). Method: what is public may be used from elsewhere, so of models only parameters are looked
// at; partial and replaceable classes, those that stand for others and functions that annotations name have declarations because
// others need them; a final parameter, or one that is not fixed, is a result. A class that is extended in the file is used by whatever the heirs use.
// Contract: name_warnings.h. Complexity: linear in the declarations; an import of everything is looked up for each name that its
// class uses until one is found.
#include "frontend/flatten/name_warnings.h"

#include "frontend/names/names.h"

static bool
has_name(const Map *map, Sym name)
{
    uint32_t one;
    return map_get(map, name, &one);
}

static void
warn(const Names *names, NameWarnings *out, DiagCode code, Node node, const char *text)
{
    Span span = ast_at(&names->program->ast, node)->span;
    vec_push(out, ((NameWarning){.code = code, .span = span, .text = text}));
}

// --- components

typedef struct Owner { // the class whose declarations are looked at
    uint32_t class_id;
    const char *name;
    bool function, package, extended;
} Owner;

// Components of models have effects of their own; what stands for a value has none.
static bool
is_value(Program *program, uint32_t class_id, Node line)
{
    Node type = ast_child(&program->ast, line, 0);
    uint32_t type_class = type ? scope_class_quietly(program, class_id, type) : 0;
    if (!type_class || type_class == CLASSID_ROOT)
        return false;
    ClassKind kind = (ClassKind)class_at(program, type_class)->kind;
    return scope_is_predefined(type_class) || kind == CLASS_TYPE || kind == CLASS_RECORD;
}

static bool
is_used(const Names *names, const Owner *owner, const ClassMember *member)
{
    if (names_has(owner->function ? &names->read : &names->used, owner->class_id, member->name))
        return true;
    if (owner->extended && has_name(&names->anywhere, member->name))
        return true;
    return !member->is_protected && !owner->function && has_name(&names->parts, member->name);
}

static void
judge_variable(Names *names, const Owner *owner, const ClassMember *member, NameWarnings *out)
{
    Program *program = names->program;
    uint32_t flags = ast_at(&program->ast, member->line)->flags;
    const char *name = sym_text(program->syms, member->name);
    bool constant = flags & AST_F_CONSTANT, parameter = !owner->function && (flags & AST_F_PARAMETER);
    if (owner->function && (flags & AST_F_INPUT))
        warn(names, out, W1203, member->node, arena_printf(program->arena, "function '%s' does not use its input '%s'", owner->name, name));
    else if (owner->function && names_has(&names->used, owner->class_id, member->name))
        warn(names, out, W1201, member->node, arena_printf(program->arena, "variable '%s' of '%s' is assigned, but never read", name, owner->name));
    else if (parameter)
        warn(names, out, W1202, member->node, arena_printf(program->arena, "parameter '%s' of '%s' is not used", name, owner->name));
    else
        warn(names, out, W1201, member->node, arena_printf(program->arena, "%s '%s' of '%s' is not used",
                                                           constant ? "constant" : "variable", name, owner->name));
}

// A parameter that is not fixed is found by initial equations.
static bool
is_computed(const Program *program, const ClassMember *member, uint32_t flags)
{
    const Ast *ast = &program->ast;
    Node mods = ast_child(ast, member->node, 1);
    bool computed = (flags & AST_F_FINAL) && !member->is_protected;
    for (uint32_t i = 1; !computed && mods && ast_kind(ast, mods) == AST_MODS && i < ast_at(ast, mods)->nchild; i++) {
        Node name = ast_child(ast, ast_child(ast, mods, i), 0);
        computed = name && ast_kind(ast, name) == AST_NAME
            && !strcmp(sym_text(program->syms, ast_at(ast, ast_child(ast, name, 0))->sym), "fixed");
    }
    return computed;
}

static bool
may_be_unused(const Names *names, const Owner *owner, const ClassMember *member)
{
    uint32_t flags = ast_at(&names->program->ast, member->line)->flags;
    if (flags & (AST_F_INNER | AST_F_OUTER | AST_F_REDECLARE | AST_F_REPLACEABLE | AST_F_COORDINATE))
        return false;
    if (owner->function)
        return !(flags & AST_F_OUTPUT);
    if (owner->package)
        return member->is_protected;
    if (is_computed(names->program, member, flags))
        return false;
    return (flags & AST_F_PARAMETER) || (member->is_protected && !(flags & (AST_F_INPUT | AST_F_OUTPUT)));
}

static bool
is_external(const Ast *ast, Node body)
{
    for (uint32_t i = 0; i < ast_at(ast, body)->nchild; i++)
        if (ast_kind(ast, ast_child(ast, body, i)) == AST_EXTERNAL)
            return true;
    return false;
}

static bool
needs_its_names(const Names *names, const ClassInfo *info)
{
    const Ast *ast = &names->program->ast;
    if (info->redeclared || (info->flags & (AST_F_PARTIAL | AST_F_REPLACEABLE | AST_F_REDECLARE)) || ast_kind(ast, info->body) != AST_BODY)
        return true;
    if (has_name(&names->fitting, info->name))
        return true;
    switch ((ClassKind)info->kind) {
    case CLASS_FUNCTION:
        return is_external(ast, info->body) || !strcmp(sym_text(names->program->syms, info->name), "equalityConstraint");
    case CLASS_CLASS:
    case CLASS_MODEL:
    case CLASS_BLOCK:
    case CLASS_PACKAGE:
    case CLASS_BODY:
    case CLASS_ELEMENT:
    case CLASS_CONSTRAINT:
    case CLASS_MEMORY:
        return false;
    default:
        return true;
    }
}

static void
judge_components(Names *names, uint32_t class_id, NameWarnings *out)
{
    const ClassInfo *info = class_at(names->program, class_id);
    if (needs_its_names(names, info))
        return;
    Owner owner = {.class_id = class_id, .name = sym_text(names->program->syms, info->full_name),
                   .function = info->kind == CLASS_FUNCTION, .package = info->kind == CLASS_PACKAGE,
                   .extended = has_name(&names->extended, info->name)};
    for (uint32_t i = 0; i < class_at(names->program, class_id)->members.n; i++) {
        const ClassMember member = class_at(names->program, class_id)->members.at[i];
        if (!member.is_class && may_be_unused(names, &owner, &member) && !is_used(names, &owner, &member)
            && is_value(names->program, class_id, member.line))
            judge_variable(names, &owner, &member, out);
    }
}

// --- imports

static void
mark_import(Names *names, const ClassImport *import)
{
    map_put(&names->imports_used, ((uint64_t)import->name << 32) | import->last, 1);
}

static bool
import_marked(const Names *names, const ClassImport *import)
{
    return names_has(&names->imports_used, import->name, import->last);
}

// Which imports of a class give a name that it uses. One at the top of the file stands in every class of it.
static void
mark_imports(Names *names, const NameUse *use)
{
    Program *program = names->program;
    for (uint32_t i = 0; i < class_at(program, use->class_id)->imports.n; i++) {
        ClassImport import = class_at(program, use->class_id)->imports.at[i];
        Found found;
        if (import_marked(names, &import))
            continue;
        uint32_t target = import.all ? scope_class_quietly(program, CLASSID_ROOT, import.name) : 0;
        if (import.all ? target && scope_member(program, target, use->name, &found) : import.alias == use->name)
            mark_import(names, &import);
    }
}

static void
judge_imports(Names *names, uint32_t class_id, NameWarnings *out)
{
    Program *program = names->program;
    for (uint32_t i = 0; i < class_at(program, class_id)->imports.n; i++) {
        ClassImport import = class_at(program, class_id)->imports.at[i];
        if (import_marked(names, &import))
            continue;
        mark_import(names, &import); // once
        if (import.all)
            warn(names, out, W1204, import.name, arena_printf(program->arena, "nothing of the import of all of '%s' is used",
                                                              scope_name_text(program, import.name)));
        else
            warn(names, out, W1204, import.name, arena_printf(program->arena, "the import of '%s' is not used",
                                                              sym_text(program->syms, import.alias)));
    }
}

void
names_unused(Names *names, NameWarnings *out)
{
    for (uint32_t i = 0; i < names->classes.n; i++)
        judge_components(names, names->classes.at[i], out);
    for (uint32_t i = 0; i < names->uses.n; i++)
        mark_imports(names, &names->uses.at[i]);
    for (uint32_t i = 0; i < names->classes.n; i++)
        judge_imports(names, names->classes.at[i], out);
}
