// text.h: the door of frontend/text: from characters to syntax trees, and back.
//
// In: files.
// Out: a tree of every file (ast.h) with all its places, messages for slips of the pen, the formatter.
// Read first: parser.y, then ast.h.
// Also open to other rooms: ast.h, keyword.def, layout_tokens.h, other_names.h, parse.h.
#ifndef MDLC_FRONTEND_TEXT_TEXT_H
#define MDLC_FRONTEND_TEXT_TEXT_H

#endif
