// ast.h: the syntax tree, as written.
//
// Nodes are small records in blocks that never move, named by 32-bit ids (0 = no node), so that a pointer to one outlives the
// reading of further files; children are ids in an array. The tree holds nothing semantic. ast.def lists every kind with the layout of its children.
// Built bottom-up by the parser: a node's children are contiguous in Ast.children.
#ifndef MDLC_FRONTEND_TEXT_AST_H
#define MDLC_FRONTEND_TEXT_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/map.h"
#include "ir/base/out.h"
#include "ir/base/src.h"
#include "ir/base/sym.h"
#include "ir/base/vec.h"

typedef uint32_t Node; // 0 = none

typedef enum AstKind {
    AST_NONE,
#define AST(KIND, name, layout) AST_##KIND,
#include "frontend/text/ast.def"
#undef AST
    AST_COUNT
} AstKind;

// Operators of UNARY and BINARY. `.`-forms are elementwise.
typedef enum AstOp {
    AOP_ADD, AOP_SUB, AOP_MUL, AOP_DIV, AOP_POW,
    AOP_EADD, AOP_ESUB, AOP_EMUL, AOP_EDIV, AOP_EPOW,
    AOP_LT, AOP_LE, AOP_GT, AOP_GE, AOP_EQ, AOP_NE,
    AOP_AND, AOP_OR, AOP_NOT, AOP_NEG, AOP_PLUS, AOP_ENEG, AOP_EPLUS
} AstOp;

typedef enum ClassKind {
    CLASS_CLASS, CLASS_MODEL, CLASS_BLOCK, CLASS_RECORD, CLASS_OPERATOR_RECORD, CLASS_CONNECTOR,
    CLASS_TYPE, CLASS_PACKAGE, CLASS_FUNCTION, CLASS_OPERATOR_FUNCTION, CLASS_OPERATOR,
    CLASS_BODY, CLASS_ELEMENT, CLASS_CONSTRAINT, CLASS_MEMORY
} ClassKind;

enum {
    AST_F_PARTIAL = 1 << 0, AST_F_ENCAPSULATED = 1 << 1, AST_F_FINAL = 1 << 2,
    AST_F_REPLACEABLE = 1 << 3, AST_F_REDECLARE = 1 << 4, AST_F_INNER = 1 << 5, AST_F_OUTER = 1 << 6,
    AST_F_EXPANDABLE = 1 << 7, AST_F_PURE = 1 << 8, AST_F_IMPURE = 1 << 9,
    AST_F_FLOW = 1 << 10, AST_F_STREAM = 1 << 11, AST_F_PARAMETER = 1 << 12, AST_F_CONSTANT = 1 << 13,
    AST_F_DISCRETE = 1 << 14, AST_F_INPUT = 1 << 15, AST_F_OUTPUT = 1 << 16,
    AST_F_COORDINATE = 1 << 17, AST_F_EACH = 1 << 18, AST_F_INITIAL = 1 << 19, AST_F_PAREN = 1 << 20,
    AST_F_DOT = 1 << 21, AST_F_ALL = 1 << 22, AST_F_INTEGER = 1 << 23, AST_F_TRUE = 1 << 24,
    AST_F_ASSIGN = 1 << 25, AST_F_OPEN = 1 << 26, AST_F_MEMORY = 1 << 27, AST_F_ABOUT = 1 << 28,
    AST_F_IMPLICIT = 1 << 29, AST_F_ERROR = 1 << 30 // parsed with errors inside
};

typedef struct AstNode {
    uint8_t kind;     // AstKind
    uint8_t kind_of;  // ClassKind of a CLASS, AstOp of UNARY and BINARY
    uint16_t unused;
    uint32_t flags;   // AST_F_...
    Span span;
    uint32_t sym;     // Sym, or for NUMBER the text as written, for NUMBERS which of Ast.number_blocks
    uint32_t child, nchild;
} AstNode;

// A long array of nothing but numbers, as written.
typedef struct NumberBlock {
    uint32_t first;         // of rows*columns in Ast.values, row by row
    uint32_t rows, columns;
    uint8_t rank;           // 1: a vector of `rows`, with one column; 2
    bool integer;           // all are Integers
} NumberBlock;

enum { AST_BLOCK_BITS = 12, AST_BLOCK = 1 << AST_BLOCK_BITS }; // nodes in a block

typedef struct Ast {
    VEC(AstNode *) blocks;
    uint32_t n_nodes;    // node 0 is the absent one
    U32Vec children;
    Map numbers;         // spelling (Sym) of a NUMBER -> index into values
    F64Vec values;
    VEC(NumberBlock) number_blocks; // by the `sym` of NUMBERS
} Ast;

void ast_init(Ast *ast);
void ast_free(Ast *ast);
// Children are copied from `children`.
Node ast_make(Ast *ast, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *children, uint32_t n);

static inline AstNode *
ast_writable(const Ast *ast, Node node)
{
    return &ast->blocks.at[node >> AST_BLOCK_BITS][node & (AST_BLOCK - 1)];
}
static inline const AstNode *
ast_at(const Ast *ast, Node node)
{
    return ast_writable(ast, node);
}
static inline AstKind
ast_kind(const Ast *ast, Node node)
{
    return (AstKind)ast_at(ast, node)->kind;
}
// Child i, or 0 when there are fewer.
static inline Node
ast_child(const Ast *ast, Node node, uint32_t i)
{
    const AstNode *at = ast_at(ast, node);
    return i < at->nchild ? ast->children.at[at->child + i] : 0;
}
double ast_number(const Ast *ast, Node node);
// Of a node NUMBERS; *values: its numbers, valid until the next number is read.
const NumberBlock *ast_numbers(const Ast *ast, Node node, const double **values);
// The value of the nth entry `name` in the annotations of a class with a body, those at the end of a section included: 0 when there
// are fewer; *mods: the MODS of the entry.
Node ast_annotation(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth, Node *mods);
// The same of a class that may be one which is redeclared as an extension, `redeclare function extends f`.
Node ast_external_annotation(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth, Node *mods);
// The modifications of the nth entry NAME(...), which needs no value; 0: there is none.
Node ast_annotation_mods(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth);
// Whether two trees say the same, wherever they stand: descriptions with their annotations do not count, nor do children
// of kind `except` of the roots.
bool ast_same(const Ast *ast, Node a, Node b, AstKind except);
const char *ast_class_kind_name(ClassKind kind); // "model", "body", ...
const char *ast_op_text(AstOp op);

// mdlc show ast: an indented tree, one node a line: kind, op or class kind, symbol, flags, line:column.
void ast_print(const Ast *ast, const Syms *syms, const Sources *sources, Node root, Out *out);
// The expression as source text (canonical spacing), for messages.
void ast_print_expr(const Ast *ast, const Syms *syms, Node expr, Out *out);

#endif
