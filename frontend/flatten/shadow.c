// shadow.c: names that hide others.
//
// Purpose: a warning (W1211) where a declaration takes a name away that the text around it would otherwise give: an index of a
// loop that of a loop around it or a component, a component a constant or class of an enclosing class or an import, a function a
// built-in one. Method: each declaration is looked up as it would be found without it (Modelica 3.6, section 5.3.1). Classes at the
// top are no loss: every file sees all libraries.
// Contract: name_warnings.h. Complexity: linear in the declarations, times the depth of classes inside each other.
#include "frontend/flatten/name_warnings.h"

#include "frontend/names/names.h"
#include "frontend/value/expression.h"

static void
warn(NameWarnings *out, Span span, Span other, const char *text)
{
    vec_push(out, ((NameWarning){.code = W1211, .span = span, .other = other, .text = text}));
}

// --- indices of loops

static void
judge_index(Names *names, const LoopIndex *index, NameWarnings *out)
{
    Program *program = names->program;
    const char *name = sym_text(program->syms, index->name);
    Found found;
    for (uint32_t outer = index->outer; outer; outer = names->loops.at[outer - 1].outer)
        if (names->loops.at[outer - 1].name == index->name) {
            warn(out, index->span, names->loops.at[outer - 1].span,
                 arena_printf(program->arena, "the index '%s' hides that of a loop around it", name));
            return;
        }
    if (index->class_id && scope_member(program, index->class_id, index->name, &found) && found.member && !found.class_id)
        warn(out, index->span, ast_at(&program->ast, found.member->node)->span,
             arena_printf(program->arena, "the index '%s' hides the component '%s' of '%s'", name, name,
                          sym_text(program->syms, class_at(program, found.owner)->full_name)));
}

// --- components

// What a class would find by this name without its own declaration and those it inherits.
static void
hides_member(Names *names, uint32_t class_id, const ClassMember *member, NameWarnings *out)
{
    Program *program = names->program;
    const Ast *ast = &program->ast;
    uint32_t at = class_id;
    while (!(class_at(program, at)->flags & AST_F_ENCAPSULATED)) {
        Found found;
        at = class_at(program, at)->parent;
        if (!at || at == CLASSID_ROOT)
            return;
        if (!scope_member(program, at, member->name, &found) || !found.member)
            continue;
        // Variables of an enclosing class are not visible in a class inside it.
        bool constant = !found.class_id && (ast_at(ast, found.member->line)->flags & AST_F_CONSTANT);
        if (!found.class_id && !constant)
            continue;
        warn(out, ast_at(ast, member->node)->span, ast_at(ast, found.member->node)->span,
             arena_printf(program->arena, "'%s' hides the %s '%s' of '%s'", sym_text(program->syms, member->name),
                          constant ? "constant" : "class", sym_text(program->syms, member->name),
                          sym_text(program->syms, class_at(program, found.owner)->full_name)));
        return;
    }
}

static bool
hides_import(Names *names, uint32_t class_id, const ClassMember *member, NameWarnings *out)
{
    Program *program = names->program;
    const Ast *ast = &program->ast;
    for (uint32_t at = class_id; at && at != CLASSID_ROOT; at = class_at(program, at)->parent)
        for (uint32_t i = 0; i < class_at(program, at)->imports.n; i++) {
            const ClassImport *import = &class_at(program, at)->imports.at[i];
            if (import->all || import->alias != member->name)
                continue;
            warn(out, ast_at(ast, member->node)->span, ast_at(ast, import->name)->span,
                 arena_printf(program->arena, "'%s' hides the import of this name", sym_text(program->syms, member->name)));
            return true;
        }
    return false;
}

// A component is not called, and one that is named like a function says what it is; another function is.
static void
judge_function(const Program *program, const ClassMember *member, NameWarnings *out)
{
    const char *name = sym_text(program->syms, member->name);
    if (class_at(program, member->class_id)->kind == CLASS_FUNCTION && builtin_known(name))
        warn(out, ast_at(&program->ast, member->node)->span, (Span){0},
             arena_printf(program->arena, "'%s' hides the built-in function of this name", name));
}

// Fields of records and connectors are reached by dots, so that their names take nothing away.
static void
judge_members(Names *names, uint32_t class_id, NameWarnings *out)
{
    Program *program = names->program;
    ClassKind kind = (ClassKind)class_at(program, class_id)->kind;
    bool fields = kind == CLASS_RECORD || kind == CLASS_CONNECTOR || kind == CLASS_TYPE;
    for (uint32_t i = 0; i < class_at(program, class_id)->members.n; i++) {
        const ClassMember member = class_at(program, class_id)->members.at[i];
        if (member.is_class)
            judge_function(program, &member, out);
        else if (!fields && !hides_import(names, class_id, &member, out))
            hides_member(names, class_id, &member, out);
    }
}

void
names_hidden(Names *names, NameWarnings *out)
{
    for (uint32_t i = 0; i < names->loops.n; i++)
        judge_index(names, &names->loops.at[i], out);
    for (uint32_t i = 0; i < names->classes.n; i++)
        if (!class_at(names->program, names->classes.at[i])->redeclared)
            judge_members(names, names->classes.at[i], out);
}
