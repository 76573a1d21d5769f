// layout_tokens.c: `mdlc fmt`: decides which token starts a line, and how far it is indented.
//
// Purpose: one layout for all models, so that differences between versions are differences of meaning.
// Method: a walk over the recorded tokens and comments of a text that parsed without errors. A stack of
// open classes, blocks, brackets and conditional expressions is all the context that is needed, because
// the grammar has already accepted the text. Every piece is written once, in order; and the result is
// scanned again and compared token by token before it is handed out, so that a fault of the formatter
// cannot change a program.
// Contract: layout_tokens.h. Complexity: linear in the text.
#include "frontend/text/layout_tokens.h"

#include <string.h>

#include "frontend/text/layout_lines.h"
#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

typedef enum Context { IN_CLASS, IN_BLOCK, IN_BRACKET, IN_CONDITION } Context;

typedef enum Header { HEADER_NONE, HEADER_NAME, HEADER_TEXT } Header;

typedef struct Formatter {
    const char *text;
    uint32_t base;
    const TokenVec *tokens;
    PieceVec pieces;
    U8Vec stack;       // Context
    uint32_t depth;    // classes and blocks on the stack
    uint32_t brackets; // brackets on the stack
    bool start;        // a statement starts with the next token
    bool import;       // inside an import clause
    bool energy;       // inside an energy section, where no class starts
    Header header;     // inside the header of a long class
    int last;          // the kind of the last token that is no comment
    uint32_t next;     // the first token behind the comments being placed
} Formatter;

// --- looking at the tokens

static int
kind_at(const Formatter *f, uint32_t i)
{
    return i < f->tokens->n ? f->tokens->at[i].kind : 0;
}

static uint32_t
skip_comments(const Formatter *f, uint32_t i)
{
    while (is_comment(kind_at(f, i)))
        i++;
    return i;
}

// Line ends between the token and the one before it: 0, 1, or 2 for more.
static uint32_t
lines_before(const Formatter *f, uint32_t i)
{
    uint32_t lines = 0;
    uint32_t at = i ? f->tokens->at[i - 1].span.hi - f->base : 0;
    for (uint32_t end = f->tokens->at[i].span.lo - f->base; at < end && lines < 2; at++)
        lines += f->text[at] == '\n';
    return lines;
}

static uint32_t
column_of(const Formatter *f, uint32_t i)
{
    uint32_t at = f->tokens->at[i].span.lo - f->base, start = at;
    while (start && f->text[start - 1] != '\n')
        start--;
    return at - start;
}

static bool
is_section(int kind)
{
    switch (kind) {
    case T_PUBLIC: case T_PROTECTED: case T_EQUATION: case T_ALGORITHM: case T_ENERGY:
    case T_INITIAL_SECTION: case T_EXTERNAL:
        return true;
    default:
        return false;
    }
}

// Words that stand one level to the left of the statements around them.
static bool
is_outdented(int kind)
{
    return is_section(kind) || kind == T_END || kind == T_ELSE || kind == T_ELSEIF || kind == T_ELSEWHEN;
}

static bool
is_class_prefix(int kind)
{
    switch (kind) {
    case T_REDECLARE: case T_FINAL: case T_INNER: case T_OUTER: case T_REPLACEABLE: case T_ENCAPSULATED:
    case T_PARTIAL: case T_EXPANDABLE: case T_PURE: case T_IMPURE:
        return true;
    default:
        return false;
    }
}

// Whether token i, the first of a statement, starts a class with a body.
static bool
starts_long_class(const Formatter *f, uint32_t i)
{
    i = skip_comments(f, i);
    while (is_class_prefix(kind_at(f, i)))
        i = skip_comments(f, i + 1);
    if (!token_class_kind(kind_at(f, i)))
        return false;
    while (token_class_kind(kind_at(f, i)))
        i = skip_comments(f, i + 1);
    if (kind_at(f, i) == T_EXTENDS)
        return true;
    return kind_at(f, i) == T_IDENT && kind_at(f, skip_comments(f, i + 1)) != T_EQUALS;
}

// --- the stack

static bool
top_is(const Formatter *f, Context context)
{
    return f->stack.n && vec_last(&f->stack) == context;
}

static void
push(Formatter *f, Context context)
{
    vec_push(&f->stack, (uint8_t)context);
    f->depth += context <= IN_BLOCK;
    f->brackets += context == IN_BRACKET;
}

// Pops up to and with the innermost `context`; conditional expressions above it end with it.
static void
pop(Formatter *f, Context context)
{
    while (f->stack.n) {
        Context top = (Context)vec_pop(&f->stack);
        f->depth -= top <= IN_BLOCK;
        f->brackets -= top == IN_BRACKET;
        if (top == context)
            return;
    }
}

static void
drop_conditions(Formatter *f)
{
    while (top_is(f, IN_CONDITION))
        (void)vec_pop(&f->stack);
}

// --- placing

static bool
ends_operand(int kind)
{
    switch (kind) {
    case T_IDENT: case T_INTEGER: case T_REAL: case T_STRING: case T_RPAREN: case T_RBRACKET: case T_RBRACE:
    case T_TRUE: case T_FALSE: case T_LAST: case T_END:
        return true;
    default:
        return false;
    }
}

static uint32_t
indent_now(const Formatter *f, int kind)
{
    uint32_t level = f->depth;
    return INDENT * (level && is_outdented(kind) ? level - 1 : level);
}

static void
place_start(const Formatter *f, uint32_t i, Piece *piece, int indent_as)
{
    piece->line_break = BREAK_START;
    piece->blank = i && lines_before(f, i) > 1;
    piece->indent = indent_now(f, indent_as);
}

// A comment on its own line between statements goes with the statement behind it; one in front of a
// section word or an end goes with that word only if it was written in the same column.
static void
place_comment(Formatter *f, uint32_t i, Piece *piece)
{
    bool own_line = !i || lines_before(f, i) || kind_at(f, i - 1) == COMMENT_LINE;
    if (!own_line)
        return;
    if (!f->start && f->header != HEADER_TEXT) {
        piece->line_break = BREAK_CONTINUE;
        return;
    }
    if (f->next <= i)
        f->next = skip_comments(f, i);
    bool with_word = is_outdented(kind_at(f, f->next)) && column_of(f, i) <= column_of(f, f->next);
    place_start(f, i, piece, with_word ? kind_at(f, f->next) : 0);
}

// A token behind a block comment that itself starts the line stays on that line.
static bool
stays_behind_comment(const Formatter *f, uint32_t i)
{
    return i && kind_at(f, i - 1) == COMMENT_BLOCK && !lines_before(f, i)
        && vec_last(&f->pieces).line_break == BREAK_START;
}

static void
follow_header(Formatter *f, int kind)
{
    if (f->header == HEADER_NAME && kind == T_IDENT)
        f->header = HEADER_TEXT;
}

// In the header of a class: its text on a line of its own is indented like the body.
static bool
place_in_header(Formatter *f, uint32_t i, Piece *piece)
{
    int kind = piece->token.kind;
    if (f->header != HEADER_TEXT)
        return f->header == HEADER_NAME;
    bool is_text = kind == T_STRING || (kind == T_PLUS && f->last == T_STRING);
    if (f->brackets || kind == T_LPAREN || is_text) {
        if (is_text && lines_before(f, i)) {
            place_start(f, i, piece, 0);
            piece->blank = false;
        }
        return true;
    }
    f->header = HEADER_NONE;
    f->start = true;
    return false;
}

static void
begin_statement(Formatter *f, uint32_t i, Piece *piece)
{
    int kind = piece->token.kind;
    if (!stays_behind_comment(f, i))
        place_start(f, i, piece, kind);
    f->start = false;
    f->import = kind == T_IMPORT;
    f->energy = kind == T_ENERGY || (f->energy && !is_outdented(kind));
    if (kind == T_END)
        pop(f, kind_at(f, skip_comments(f, i + 1)) == T_IDENT ? IN_CLASS : IN_BLOCK);
    else if (!f->energy && starts_long_class(f, i)) {
        push(f, IN_CLASS);
        f->header = HEADER_NAME;
    } else if (kind == T_IF || kind == T_FOR || kind == T_WHEN || kind == T_WHILE)
        push(f, IN_BLOCK);
}

// What the token opens, closes or finishes.
static void
follow_token(Formatter *f, int kind, bool at_start)
{
    switch (kind) {
    case T_LPAREN: case T_LBRACKET: case T_LBRACE:
        push(f, IN_BRACKET);
        break;
    case T_RPAREN: case T_RBRACKET: case T_RBRACE:
        pop(f, IN_BRACKET);
        break;
    case T_IF:
        if (!at_start && f->last != T_END)
            push(f, IN_CONDITION);
        break;
    case T_THEN:
        f->start = !top_is(f, IN_CONDITION);
        break;
    case T_ELSE:
        if (at_start)
            f->start = true;
        else if (top_is(f, IN_CONDITION))
            (void)vec_pop(&f->stack);
        break;
    case T_LOOP:
        f->start = true;
        break;
    case T_SEMICOLON:
        if (!f->brackets) {
            drop_conditions(f);
            f->start = true;
        }
        break;
    case T_EQUATION: case T_ALGORITHM: case T_PUBLIC: case T_PROTECTED: case T_ENERGY:
        f->start = true;
        break;
    default:
        break;
    }
}

static void
place_token(Formatter *f, uint32_t i)
{
    Piece piece = {.token = f->tokens->at[i]};
    int kind = piece.token.kind;
    if (is_comment(kind)) {
        place_comment(f, i, &piece);
        vec_push(&f->pieces, piece);
        return;
    }
    bool in_header = place_in_header(f, i, &piece), at_start = !in_header && f->start;
    if (at_start)
        begin_statement(f, i, &piece);
    else if (piece.line_break == BREAK_NONE && i && (lines_before(f, i) || kind_at(f, i - 1) == COMMENT_LINE))
        piece.line_break = BREAK_CONTINUE;
    bool is_plus = kind == T_PLUS || kind == T_MINUS || kind == T_EPLUS || kind == T_EMINUS;
    piece.sign = is_plus && (at_start || !ends_operand(f->last));
    piece.tight = f->import && kind == T_ETIMES;
    follow_header(f, kind);
    follow_token(f, kind, at_start);
    f->last = kind;
    vec_push(&f->pieces, piece);
}

// --- the entry

typedef struct Slice {
    const char *text;
    uint32_t length;
} Slice;

static Slice
slice_of(const char *text, uint32_t base, Token token)
{
    Slice slice = {text + (token.span.lo - base), token.span.hi - token.span.lo};
    while (token.kind == COMMENT_LINE && slice.length && (unsigned char)slice.text[slice.length - 1] <= ' ')
        slice.length--;
    return slice;
}

// Whether the written text has the same tokens and comments as the text read.
static bool
same_tokens(const Formatter *f, Sources *sources, const Out *written, Syms *syms, Ast *ast)
{
    Diags *diags = diags_create(sources);
    TokenVec again = {0};
    int file = sources_add(sources, "(formatted text)", written->text ? written->text : "", written->length);
    Parser p;
    bool same = parser_open(&p, sources, file, syms, ast, diags, NULL);
    p.record = &again;
    while (same && scanner_next(&p).kind && !p.stop)
        ;
    same = same && !diags_count(diags) && again.n == f->tokens->n;
    for (uint32_t i = 0; same && i < again.n; i++) {
        Slice a = slice_of(f->text, f->base, f->tokens->at[i]), b = slice_of(p.text, p.base, again.at[i]);
        same = a.length == b.length && !memcmp(a.text, b.text, a.length);
    }
    parser_close(&p);
    vec_free(&again);
    diags_free(&diags);
    return same;
}

static bool
format_tokens(Sources *sources, int file, Syms *syms, Ast *ast, const TokenVec *tokens, Diags *diags,
              Out *out)
{
    Formatter f = {.text = source_text(sources, file), .base = source_base(sources, file),
                   .tokens = tokens, .start = true};
    for (uint32_t i = 0; i < tokens->n && tokens->at[i].kind; i++)
        place_token(&f, i);
    Out written = {0};
    layout_write(&f.pieces, f.text, f.base, &written);
    bool same = same_tokens(&f, sources, &written, syms, ast);
    if (same)
        out_bytes(out, written.text ? written.text : "", written.length);
    else
        diag_add(diags, E0008, (Span){f.base, f.base + 1},
                 "internal: the formatted text would not be the same program; the file stays as it is");
    out_free(&written);
    vec_free(&f.pieces);
    vec_free(&f.stack);
    return same;
}

bool
format_file(Sources *sources, int file, Diags *diags, Out *out)
{
    const char *path = source_path(sources, file);
    size_t length = strlen(path);
    ParseOptions options = {.mo = length > 3 && !strcmp(path + length - 3, ".mo")};
    Syms *syms = syms_create();
    Ast ast;
    ast_init(&ast);
    TokenVec tokens = {0};
    uint32_t errors = diags_errors(diags);
    Node root = parse_recording(sources, file, syms, &ast, diags, &options, &tokens);
    bool ok = root && diags_errors(diags) == errors
        && format_tokens(sources, file, syms, &ast, &tokens, diags, out);
    vec_free(&tokens);
    ast_free(&ast);
    syms_free(&syms);
    return ok;
}
