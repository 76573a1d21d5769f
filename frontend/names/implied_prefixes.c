// implied_prefixes.c: inputs and outputs of functions that their types declare as such.
//
// Purpose: `In u` with `type In = input Real` is an input (Modelica 3.6, section 4.5.1). Method: the prefix is written into the line of the
// declaration, for all that read it. Contract: classes.h. Complexity: linear in the public declarations; a look at a type for each that says nothing.
#include "frontend/names/classes.h"

uint32_t
prefix_of_type(Program *program, uint32_t type)
{
    const Ast *ast = &program->ast;
    for (uint32_t depth = 0; depth < DEPTH_LIMIT && type && !scope_is_predefined(type); depth++) {
        Node body = class_at(program, type)->body;
        uint32_t flags = ast_kind(ast, body) == AST_SHORT ? ast_at(ast, body)->flags & (AST_F_INPUT | AST_F_OUTPUT) : 0;
        if (flags || ast_kind(ast, body) != AST_SHORT)
            return flags;
        scope_bases(program, type);
        type = class_at(program, type)->bases.n ? class_at(program, type)->bases.at[0] : 0;
    }
    return 0;
}

void
imply_prefixes(Program *program, uint32_t class_id)
{
    const Ast *ast = &program->ast;
    static const uint32_t said = AST_F_INPUT | AST_F_OUTPUT | AST_F_CONSTANT | AST_F_PARAMETER | AST_F_REDECLARE;
    if (class_at(program, class_id)->kind != CLASS_FUNCTION)
        return;
    Node body = class_at(program, class_id)->body;
    for (uint32_t i = 0; ast_kind(ast, body) == AST_BODY && i < ast_at(ast, body)->nchild; i++) {
        Node section = ast_child(ast, body, i);
        for (uint32_t k = 0; ast_kind(ast, section) == AST_PUBLIC && k < ast_at(ast, section)->nchild; k++) {
            Node line = ast_child(ast, section, k), type = ast_kind(ast, line) == AST_COMPONENTS ? ast_child(ast, line, 0) : 0;
            uint32_t implied = type && !(ast_at(ast, line)->flags & said) ? prefix_of_type(program, scope_class_quietly(program, class_id, type)) : 0;
            if (implied)
                ast_writable(ast, line)->flags |= implied | AST_F_IMPLICIT;
        }
    }
}
