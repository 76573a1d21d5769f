// parse.h: source text to syntax tree.
#ifndef MDLC_FRONTEND_TEXT_PARSE_H
#define MDLC_FRONTEND_TEXT_PARSE_H

#include "frontend/text/ast.h"
#include "ir/base/diag.h"

enum { PARSE_NESTING_LIMIT = 256 }; // parentheses, sections, classes inside each other

typedef struct ParseOptions {
    bool mo;           // a .mo file: the added words are ordinary identifiers
    uint32_t nesting;  // 0: PARSE_NESTING_LIMIT
    bool formula;      // the text is one expression, in which `final` is a name; its node is returned, or 0 after an error
} ParseOptions;

// Parses one file of `sources` into `ast` and returns its FILE node. Syntax errors go to `diags`; after
// one the parser resynchronises at the next ';' or 'end', so that a run reports several, and the tree
// holds what could be read (nodes with AST_F_ERROR). Returns 0 only when nothing could be read. Scans
// the source text in place. Time and memory linear in the text, for any bytes.
Node parse_file(Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags, const ParseOptions *options);

#endif
