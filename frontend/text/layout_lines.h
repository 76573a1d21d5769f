// layout_lines.h: pieces of text with their places, between the two halves of the formatter. Private to
// layout_tokens.c (what goes where) and layout_lines.c (lines and spaces).
#ifndef MDLC_FRONTEND_TEXT_LAYOUT_LINES_H
#define MDLC_FRONTEND_TEXT_LAYOUT_LINES_H

#include "frontend/text/syntax.h"

typedef enum Break {
    BREAK_NONE,      // on the same line as the piece before
    BREAK_CONTINUE,  // a line of its own inside a statement
    BREAK_START      // a statement, section word or comment at `indent`
} Break;

typedef struct Piece {
    Token token;
    uint8_t line_break; // Break
    bool blank;         // an empty line comes before
    bool sign;          // a unary + or -
    bool tight;         // no space before, whatever the tokens (the '.*' of an import)
    uint32_t indent;    // BREAK_START: columns
} Piece;

typedef VEC(Piece) PieceVec;

enum { LINE_WIDTH = 100, INDENT = 2 };

static inline bool
is_comment(int kind)
{
    return kind == COMMENT_LINE || kind == COMMENT_BLOCK;
}

// Writes the pieces as lines; `text` is the file's text, whose first byte has source offset `base`.
void layout_write(const PieceVec *pieces, const char *text, uint32_t base, Out *out);

#endif
