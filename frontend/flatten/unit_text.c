// unit_text.c: units in descriptions.
//
// Purpose: `m = 40 "g"` is 40 kg, because a string behind a value is a description and no unit. A warning (W1221) where a number is
// followed by a string that is a unit by which the number would mean something else.
// Method: each value of a declaration or modification that is a literal, and its description; a unit without scale and offset would change
// nothing, and a declaration that gives itself this unit means it. Contract: name_warnings.h. Complexity: linear in the file.
#include "frontend/flatten/name_warnings.h"

#include <string.h>

#include "frontend/names/names.h"
#include "ir/base/unit.h"

// The literal, with its sign; false for other expressions.
static bool
literal(const Ast *ast, Node node, double *value)
{
    bool minus = ast_at(ast, node)->kind == AST_UNARY && ast_at(ast, node)->kind_of == AOP_NEG;
    Node number = minus ? ast_child(ast, node, 0) : node;
    if (ast_at(ast, number)->kind != AST_NUMBER)
        return false;
    *value = minus ? -ast_number(ast, number) : ast_number(ast, number);
    return true;
}

// The declaration has a modification unit = "text".
static bool
has_unit(const Program *program, Node mods, const char *text)
{
    const Ast *ast = &program->ast;
    for (uint32_t i = 1; i < ast_at(ast, mods)->nchild; i++) {
        Node mod = ast_child(ast, mods, i);
        if (ast_at(ast, mod)->kind != AST_MOD)
            continue;
        Node name = ast_child(ast, mod, 0), inner = ast_child(ast, mod, 1), value = inner ? ast_child(ast, inner, 0) : 0;
        bool unit = ast_at(ast, name)->nchild == 1 && !strcmp(sym_text(program->syms, ast_at(ast, ast_child(ast, name, 0))->sym), "unit");
        if (unit && value && ast_at(ast, value)->kind == AST_STRING && !strcmp(sym_text(program->syms, ast_at(ast, value)->sym), text))
            return true;
    }
    return false;
}

static void
judge(const Program *program, Node mods, Node comment, NameWarnings *out)
{
    const Ast *ast = &program->ast;
    const char *error, *at, *text;
    uint32_t length;
    Unit unit;
    double value;
    if (!mods || ast_at(ast, mods)->kind != AST_MODS || !comment || !ast_at(ast, comment)->sym || !ast_child(ast, mods, 0)
        || !literal(ast, ast_child(ast, mods, 0), &value))
        return;
    text = sym_text(program->syms, ast_at(ast, comment)->sym);
    if (!unit_parse(text, &unit, &error, &at, &length) || (unit.scale == 1 && unit.offset == 0) || has_unit(program, mods, text))
        return;
    Unit base = unit;
    Out number = {0}, named = {0}, written = {0};
    base.scale = 1;
    base.offset = 0;
    out_number(&number, value);
    out_number(&written, unit.scale * value + unit.offset);
    if (unit_is_number(&base))
        out_text(&named, "without a unit");
    else
        unit_print(&base, &named);
    NameWarning warning = {.code = W1221, .span = ast_at(ast, comment)->span,
                           .text = arena_printf(program->arena, "the string \"%s\" behind the value is a description and no unit: the number is taken as it "
                                                                "stands; %s %s is written %s (%s)", text, number.text, text, written.text, named.text)};
    vec_push(out, warning);
    out_free(&number);
    out_free(&named);
    out_free(&written);
}

void
names_units(Names *names, NameWarnings *out)
{
    const Ast *ast = &names->program->ast;
    U32Vec stack = {0};
    vec_push(&stack, names->file);
    while (stack.n) {
        Node node = vec_pop(&stack);
        const AstNode *at = ast_at(ast, node);
        if (at->kind == AST_MOD)
            judge(names->program, ast_child(ast, node, 1), ast_child(ast, node, 2), out);
        else if (at->kind == AST_COMPONENT)
            judge(names->program, ast_child(ast, node, 1), ast_child(ast, node, 3), out);
        for (uint32_t i = 0; i < at->nchild && at->kind != AST_ANNOTATION; i++)
            if (ast_child(ast, node, i))
                vec_push(&stack, ast_child(ast, node, i));
    }
    vec_free(&stack);
}
