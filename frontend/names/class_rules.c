// class_rules.c: rules about classes that the text of a user's file breaks, and a library may.
//
// Purpose: prefixes of declarations, names behind `encapsulated`, names of elements against those that are inherited, what operators take
// (Modelica 3.6, sections 4.2, 4.4.2.2, 4.5.1, 5.3.2 and 14.3 to 14.6). Method: each class's own declarations and the names in them are looked
// at once. Contract: classes.h; reports, changes nothing. Complexity: linear in the text of the class, with a lookup for each name.
#include "frontend/names/scope_inner.h"
#include "ir/base/diag.h"

// --- prefixes

static void
check_line_prefixes(Program *program, uint32_t class_id, Node line)
{
    const Ast *ast = &program->ast;
    uint32_t flags = ast_at(ast, line)->flags;
    Node first = ast_child(ast, line, 3);
    if ((flags & AST_F_INPUT) && (flags & (AST_F_PARAMETER | AST_F_CONSTANT)) && first)
        diag_add(program->diags, E0131, ast_at(ast, first)->span, "an input cannot be a %s", flags & AST_F_PARAMETER ? "parameter" : "constant");
    bool record = class_at(program, class_id)->kind == CLASS_RECORD && first;
    uint32_t implied = record ? prefix_of_type(program, scope_class_quietly(program, class_id, ast_child(ast, line, 0))) : 0;
    if (implied)
        diag_add(program->diags, E0131, ast_at(ast, first)->span, "'%s' is a record: its components cannot be %s, as this type says",
                 sym_text(program->syms, class_at(program, class_id)->full_name), implied & AST_F_INPUT ? "input" : "output");
}

// --- `encapsulated model A = B(p = q)`

// A short class is no scope of its own, but where it is encapsulated its modifications do not see what stands around it either (section 4.5.1).
static void
check_capsule(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    const ClassInfo *info = class_at(program, class_id);
    Node mods = ast_kind(ast, info->body) == AST_SHORT && (info->flags & AST_F_ENCAPSULATED) ? ast_child(ast, info->body, 2) : 0;
    uint32_t around = info->parent;
    U32Vec stack = {0};
    if (mods)
        vec_push(&stack, mods);
    while (stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = ast_at(ast, node);
        Found found;
        Sym name = at->kind == AST_REF && !(at->flags & AST_F_DOT) ? ast_at(ast, ast_child(ast, node, 0))->sym : 0;
        if (name && scope_find(program, around, name, &found) && found.member)
            diag_add(program->diags, E0101, at->span, "'%s' cannot be seen from inside the encapsulated class '%s'", sym_text(program->syms, name),
                     sym_text(program->syms, class_at(program, class_id)->full_name));
        for (uint32_t i = 0; i < at->nchild; i++)
            if (ast_child(ast, node, i))
                vec_push(&stack, ast_child(ast, node, i));
    }
    vec_free(&stack);
}

// --- names

// A class and a component cannot have one name, also where one of them is inherited (section 4.2).
static void
check_kinds_of_names(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    for (uint32_t i = 0; i < class_at(program, class_id)->members.n; i++) {
        for (uint32_t k = 0; k < class_at(program, class_id)->bases.n; k++) {
            const ClassMember *member = &class_at(program, class_id)->members.at[i];
            uint32_t base = class_at(program, class_id)->bases.at[k];
            Found found;
            if (!base || !scope_member(program, base, member->name, &found) || !found.member || found.member->is_class == member->is_class)
                continue;
            Diag *diag = diag_add(program->diags, E0105, ast_at(ast, class_node(program, member))->span, "'%s' is declared twice: '%s' has a %s of this name",
                                  sym_text(program->syms, member->name), sym_text(program->syms, class_at(program, base)->full_name),
                                  found.member->is_class ? "class" : "component");
            diag_note(diag, ast_at(ast, class_node(program, found.member))->span, "first declared here");
        }
    }
}

void
check_inherited_names(Program *program, uint32_t class_id)
{
    Node node = class_at(program, class_id)->node;
    if (node && !sources_is_others(program->sources, ast_at(&program->ast, node)->span.lo))
        check_kinds_of_names(program, class_id);
}

// --- operators

// How many inputs a function of an operator must have before those with defaults; -1: any number.
static int
inputs_asked(const char *operator_name, bool *or_one)
{
    static const char *const binary[] = {"'+'", "'*'", "'/'", "'^'", "'=='", "'<>'", "'<'", "'<='", "'>'", "'>='", "'and'", "'or'"};
    *or_one = !strcmp(operator_name, "'-'");
    for (uint32_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (!strcmp(operator_name, binary[i]))
            return 2;
    if (*or_one)
        return 2;
    return !strcmp(operator_name, "'not'") || !strcmp(operator_name, "'String'") ? 1 : !strcmp(operator_name, "'0'") ? 0 : -1;
}

static bool
has_default(const Ast *ast, const ClassMember *member)
{
    Node mods = ast_child(ast, member->node, 1);
    return mods && ast_kind(ast, mods) == AST_MODS && ast_child(ast, mods, 0);
}

// Whether the class of a declaration is the operator record.
static bool
is_of_record(Program *program, uint32_t function, const ClassMember *member, uint32_t record)
{
    Node type = ast_child(&program->ast, member->line, 0);
    uint32_t found = type ? scope_class_quietly(program, function, type) : 0;
    return !found || found == record || (!scope_is_predefined(found) && program_origin(program, found) == program_origin(program, record));
}

// What the functions of an operator take and give (sections 14.3 to 14.6). Functions that inherit declarations are left alone.
static void
check_operator_function(Program *program, uint32_t function, const char *operator_name, uint32_t record)
{
    const Ast *ast = &program->ast;
    if (class_at(program, function)->extends.n || ast_kind(ast, class_at(program, function)->body) != AST_BODY)
        return;
    bool or_one, own = false, constructs = !strcmp(operator_name, "'constructor'") || !strcmp(operator_name, "'0'");
    int asked = inputs_asked(operator_name, &or_one), plain = 0, all = 0;
    const ClassMember *output = NULL;
    for (uint32_t i = 0; i < class_at(program, function)->members.n; i++) {
        const ClassMember *member = &class_at(program, function)->members.at[i];
        uint32_t flags = member->is_class ? 0 : ast_at(ast, member->line)->flags;
        if (flags & AST_F_INPUT) {
            plain += !has_default(ast, member) && plain == all;
            all++;
            own |= is_of_record(program, function, member, record);
        }
        if (flags & AST_F_OUTPUT)
            output = member;
    }
    Span span = ast_at(ast, class_at(program, function)->node)->span;
    const char *name = sym_text(program->syms, class_at(program, function)->full_name), *of = sym_text(program->syms, class_at(program, record)->full_name);
    bool count = asked < 0 || plain == asked || (or_one && plain == 1);
    if (!count)
        diag_add(program->diags, E0131, span, "'%s' belongs to the operator %s: it has %s%d input%s without a default value", name, operator_name,
                 or_one ? "1 or " : "", asked, asked == 1 ? "" : "s");
    else if (!constructs && asked > 0 && !own)
        diag_add(program->diags, E0131, span, "'%s' belongs to an operator of '%s': one of its inputs is of that class", name, of);
    else if (constructs && output && !is_of_record(program, function, output, record))
        diag_add(program->diags, E0131, span, "'%s' makes values of '%s': its output is of that class", name, of);
}

static void
check_operators(Program *program, uint32_t class_id)
{
    const ClassInfo *info = class_at(program, class_id);
    const char *name = sym_text(program->syms, info->name);
    uint32_t record = info->parent;
    Node around = class_at(program, record)->node;
    if (!around || ast_at(&program->ast, around)->kind_of != CLASS_OPERATOR_RECORD)
        return;
    if (ast_at(&program->ast, info->node)->kind_of == CLASS_OPERATOR_FUNCTION)
        check_operator_function(program, class_id, name, record);
    for (uint32_t i = 0; info->kind == CLASS_OPERATOR && i < class_at(program, class_id)->members.n; i++) {
        const ClassMember *member = &class_at(program, class_id)->members.at[i];
        if (member->is_class && class_at(program, member->class_id)->kind == CLASS_FUNCTION)
            check_operator_function(program, member->class_id, name, record);
    }
}

// --- functions

static bool
has_statements(const Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    Node body = class_at(program, class_id)->body;
    for (uint32_t i = 0; ast_kind(ast, body) == AST_BODY && i < ast_at(ast, body)->nchild; i++) {
        AstKind kind = ast_kind(ast, ast_child(ast, body, i));
        if (kind == AST_ALGORITHM || kind == AST_EXTERNAL)
            return true;
    }
    return false;
}

// A function has one algorithm, its own or an inherited one (section 12.2).
static void
check_inherited_statements(Program *program, uint32_t class_id)
{
    U32Vec all = {0};
    if (class_at(program, class_id)->kind != CLASS_FUNCTION || !class_at(program, class_id)->extends.n || !has_statements(program, class_id))
        return;
    scope_bases(program, class_id);
    scope_collect_bases(program, class_id, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        if (all.at[i] == class_id || scope_is_predefined(all.at[i]) || !has_statements(program, all.at[i]))
            continue;
        Diag *diag = diag_add(program->diags, E0212, ast_at(&program->ast, class_at(program, class_id)->node)->span, "'%s' has an algorithm, and inherits that of '%s'",
                              sym_text(program->syms, class_at(program, class_id)->full_name), sym_text(program->syms, class_at(program, all.at[i])->full_name));
        diag_note(diag, ast_at(&program->ast, class_at(program, all.at[i])->node)->span, "declared here");
        break;
    }
    vec_free(&all);
}

void
check_own_rules(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    Node body = class_at(program, class_id)->body;
    if (!class_at(program, class_id)->node || sources_is_others(program->sources, ast_at(ast, class_at(program, class_id)->node)->span.lo))
        return;
    for (uint32_t i = 0; ast_kind(ast, body) == AST_BODY && i < ast_at(ast, body)->nchild; i++) {
        Node section = ast_child(ast, body, i);
        AstKind kind = ast_kind(ast, section);
        for (uint32_t k = 0; (kind == AST_PUBLIC || kind == AST_PROTECTED) && k < ast_at(ast, section)->nchild; k++)
            if (ast_kind(ast, ast_child(ast, section, k)) == AST_COMPONENTS)
                check_line_prefixes(program, class_id, ast_child(ast, section, k));
    }
    check_capsule(program, class_id);
    check_operators(program, class_id);
    check_inherited_statements(program, class_id);
}
