// layout_lines.c: pieces to lines: spaces, continuation lines, lines over LINE_WIDTH columns.
//
// Purpose: no line of canonical layout is wider than it need be.
// Method: a physical line is a run of pieces up to the next break. One that is too wide is broken at its
// loosest place (fewest brackets open; among equals the last that fits), and the rest is a line by the
// same rules, which makes formatting idempotent. A continuation line is indented by the line on which
// its innermost bracket was opened.
// Complexity: linear, but for lines that are broken, which are measured again from each break.
// Contract: layout_lines.h.
#include "frontend/text/layout_lines.h"

#include <string.h>

#include "frontend/text/parser.h"

typedef struct Opener {
    uint32_t indent; // of the line on which the bracket stands
    bool hanging;    // it ends that line
} Opener;

typedef struct Writer {
    const PieceVec *pieces;
    const char *text;
    uint32_t base;
    Out *out;
    VEC(Opener) openers;
    uint32_t statement; // indentation of the statement
} Writer;

static bool
is_opener(int kind)
{
    return kind == T_LPAREN || kind == T_LBRACKET || kind == T_LBRACE;
}

static bool
is_closer(int kind)
{
    return kind == T_RPAREN || kind == T_RBRACKET || kind == T_RBRACE;
}

static const Piece *
piece_at(const Writer *w, uint32_t i)
{
    return &w->pieces->at[i];
}

static const char *
piece_text(const Writer *w, const Piece *piece, uint32_t *length)
{
    const char *text = w->text + (piece->token.span.lo - w->base);
    *length = piece->token.span.hi - piece->token.span.lo;
    while (piece->token.kind == COMMENT_LINE && *length && (unsigned char)text[*length - 1] <= ' ')
        (*length)--;
    return text;
}

// --- spaces

// What may have a '(' or '[' directly behind it.
static bool
takes_bracket(int kind)
{
    switch (kind) {
    case T_IDENT: case T_RPAREN: case T_RBRACKET: case T_RBRACE: case T_DER: case T_INITIAL: case T_PURE:
    case T_CONNECT: case T_ANNOTATION: case T_ENUMERATION: case T_BOND:
        return true;
    default:
        return false;
    }
}

static bool
is_tight_operator(int kind)
{
    return kind == T_TIMES || kind == T_SLASH || kind == T_POWER || kind == T_COLON;
}

// Whether a dot behind `before` continues a name; otherwise it starts one.
static bool
dot_continues(int before)
{
    return before == T_IDENT || before == T_RPAREN || before == T_RBRACKET;
}

// Columns between two pieces on one line.
static uint32_t
space_between(const Piece *a, const Piece *b)
{
    int left = a->token.kind, right = b->token.kind;
    if (right == COMMENT_LINE)
        return 2;
    if (is_comment(left) || is_comment(right))
        return 1;
    if (left == T_COMMA)
        return 1;
    if (b->tight || right == T_COMMA || right == T_SEMICOLON || is_closer(right) || is_opener(left))
        return 0;
    if (left == T_DOT)
        return right == T_TIMES;
    if (right == T_DOT)
        return !dot_continues(left) && !a->sign && !is_tight_operator(left);
    if (right == T_LPAREN || right == T_LBRACKET)
        return !takes_bracket(left) && !a->sign && !is_tight_operator(left);
    return !a->sign && !is_tight_operator(left) && !is_tight_operator(right);
}

// --- long lines

enum { COST_DEPTH = 4, NO_BREAK = UINT32_MAX };

// How bad a break between two pieces is, within one level of brackets; NO_BREAK: not possible.
static uint32_t
break_cost(const Piece *a, const Piece *b)
{
    int left = a->token.kind, right = b->token.kind;
    if (is_comment(left) || is_comment(right) || is_closer(right) || left == T_EXTERNAL)
        return NO_BREAK;
    if (left == T_COMMA || left == T_SEMICOLON || right == T_STRING || right == T_ANNOTATION)
        return 0;
    if (left == T_EQUALS || left == T_ASSIGN)
        return 2;
    if (b->sign)
        return NO_BREAK;
    switch (right) {
    case T_PLUS: case T_MINUS: case T_EPLUS: case T_EMINUS: case T_AND: case T_OR: case T_ELSE: case T_ELSEIF:
        return 1;
    case T_TIMES: case T_SLASH: case T_ETIMES: case T_ESLASH:
        return b->tight || left == T_DOT ? NO_BREAK : 3;
    default:
        return NO_BREAK;
    }
}

// Columns of a piece; UTF-8 continuation bytes take none. UINT32_MAX: it has several lines.
static uint32_t
piece_width(const Writer *w, const Piece *piece)
{
    uint32_t length, width = 0;
    const char *text = piece_text(w, piece, &length);
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            return UINT32_MAX;
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return width;
}

// The piece before which a line of pieces [from, to) that starts in column `indent` is to be broken; `to`
// when it fits, or cannot be broken. A trailing comment does not count.
static uint32_t
line_end(const Writer *w, uint32_t from, uint32_t to, uint32_t indent)
{
    uint32_t column = indent, best = to, best_cost = NO_BREAK, depth = 0;
    for (uint32_t i = from; i < to; i++) {
        const Piece *piece = piece_at(w, i);
        uint32_t width = piece_width(w, piece);
        if (width == UINT32_MAX || piece->token.kind == COMMENT_LINE)
            return to;
        depth -= is_closer(piece->token.kind) && depth;
        uint32_t cost = i > from ? break_cost(piece_at(w, i - 1), piece) : NO_BREAK;
        if (cost != NO_BREAK) {
            // In the first third of the line a break gains little.
            bool early = column < indent + LINE_WIDTH / 3;
            cost = early ? NO_BREAK - 1 : cost + COST_DEPTH * depth;
            if (column > LINE_WIDTH)
                return best == to ? i : best;
            if (cost <= best_cost) {
                best = i;
                best_cost = cost;
            }
        }
        column += width + (i > from ? space_between(piece_at(w, i - 1), piece) : 0);
        if (column > LINE_WIDTH && best != to)
            return best;
        depth += is_opener(piece->token.kind);
    }
    return to;
}

// --- writing

static uint32_t
continuation_indent(const Writer *w, const Piece *first)
{
    if (!w->openers.n)
        return w->statement + INDENT;
    Opener opener = vec_last(&w->openers);
    if (is_closer(first->token.kind))
        return opener.indent;
    return opener.indent + (opener.hanging ? INDENT : 2 * INDENT);
}

static void
follow_brackets(Writer *w, uint32_t i, uint32_t to, uint32_t indent)
{
    int kind = piece_at(w, i)->token.kind;
    bool last = i + 1 == to || piece_at(w, i + 1)->token.kind == COMMENT_LINE;
    if (is_opener(kind))
        vec_push(&w->openers, (Opener){indent, last});
    else if (is_closer(kind) && w->openers.n)
        w->openers.n--;
}

// Pieces [from, to) as one line.
static void
write_line(Writer *w, uint32_t from, uint32_t to, uint32_t indent)
{
    out_repeat(w->out, ' ', indent);
    for (uint32_t i = from; i < to; i++) {
        const Piece *piece = piece_at(w, i);
        if (i > from)
            out_repeat(w->out, ' ', space_between(piece_at(w, i - 1), piece));
        uint32_t length;
        const char *text = piece_text(w, piece, &length);
        out_bytes(w->out, text, length);
        follow_brackets(w, i, to, indent);
    }
    out_char(w->out, '\n');
}

// One line of the source's statement, broken where it is too long.
static void
write_run(Writer *w, uint32_t from, uint32_t to)
{
    const Piece *first = piece_at(w, from);
    bool start = first->line_break == BREAK_START;
    if (first->blank)
        out_char(w->out, '\n');
    if (start && !w->openers.n)
        w->statement = first->indent;
    uint32_t indent = start ? first->indent : continuation_indent(w, first);
    while (from < to) {
        uint32_t end = line_end(w, from, to, indent);
        write_line(w, from, end, indent);
        from = end;
        if (from < to)
            indent = continuation_indent(w, piece_at(w, from));
    }
}

void
layout_write(const PieceVec *pieces, const char *text, uint32_t base, Out *out)
{
    Writer w = {.pieces = pieces, .text = text, .base = base, .out = out};
    uint32_t from = 0;
    for (uint32_t i = 1; i <= pieces->n; i++) {
        if (i < pieces->n && pieces->at[i].line_break == BREAK_NONE)
            continue;
        write_run(&w, from, i);
        from = i;
    }
    vec_free(&w.openers);
}
