// parse.c: the entry point: one file's text to its tree.
//
// Purpose: checks that the text is text, sets up scanner and filter, runs the grammar.
// Method: bison's LALR(1) automaton with LAC (parser.y) over flex's scanner (lexer.l); tokens.c stands between them.
// Contract: parse.h. The source text is left unchanged. Complexity: linear in the text.
#include "frontend/text/parse.h"

#include <string.h>

#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

// Length of the UTF-8 sequence at `text`, 0 when it is malformed (RFC 3629).
static uint32_t
utf8_length(const unsigned char *text, uint32_t left)
{
    unsigned char c = text[0];
    uint32_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (!n || n > left)
        return 0;
    for (uint32_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool too_long = (c == 0xe0 && text[1] < 0xa0) || (c == 0xf0 && text[1] < 0x90);
    bool outside = (c == 0xed && text[1] > 0x9f) || (c == 0xf4 && text[1] > 0x8f);
    return too_long || outside ? 0 : n;
}

// Offset of the first malformed byte, or `length`.
static uint32_t
utf8_check(const char *text, uint32_t length)
{
    uint32_t at = 0;
    while (at < length) {
        uint64_t eight;
        if (at + 8 <= length) {
            memcpy(&eight, text + at, 8);
            if (!(eight & 0x8080808080808080u)) {
                at += 8;
                continue;
            }
        }
        uint32_t n = utf8_length((const unsigned char *)text + at, length - at);
        if (!n)
            return at;
        at += n;
    }
    return length;
}

// A byte 0 means that this is no text at all; a malformed character is reported, and the rest is read.
static bool
check_text(Parser *p)
{
    const char *zero = memchr(p->text, 0, p->length);
    if (zero) {
        uint32_t at = p->base + (uint32_t)(zero - p->text);
        Diag *diag = diag_add(p->diags, E0002, (Span){at, at + 1}, "a zero byte: this is not a text file");
        if (p->length > 2 && (!memcmp(p->text, "\xff\xfe", 2) || !memcmp(p->text, "\xfe\xff", 2)))
            diag_help(diag, "it is one in UTF-16: save it in the encoding UTF-8");
        return false;
    }
    uint32_t at = utf8_check(p->text, p->length);
    if (at < p->length) {
        Span span = {p->base + at, p->base + at + 1};
        Diag *diag = diag_add(p->diags, E0002, span, "byte 0x%02x is not valid UTF-8",
                              (unsigned char)p->text[at]);
        diag_help(diag, "save the file in the encoding UTF-8");
    }
    return true;
}

static void
keywords_enter(Parser *p)
{
    static const struct {
        const char *text;
        uint32_t kind;
        bool context;
    } words[] = {
#define KEYWORD(token, text) {text, T_##token, false},
#define CONTEXT(token, text) {text, T_##token, true},
#include "frontend/text/keyword.def"
#undef KEYWORD
#undef CONTEXT
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        Sym sym = sym_of(p->syms, words[i].text);
        if ((words[i].context && (p->mo || p->formula)) || (p->formula && words[i].kind == T_FINAL))
            continue;
        if (sym >= p->keyword_of.n)
            vec_grow(&p->keyword_of, sym + 1 - p->keyword_of.n);
        p->keyword_of.at[sym] = words[i].kind;
    }
}

bool
parser_open(Parser *p, Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags,
            const ParseOptions *options)
{
    *p = (Parser){.sources = sources, .syms = syms, .ast = ast, .diags = diags};
    p->text = source_text(sources, file);
    p->base = source_base(sources, file);
    p->length = source_length(sources, file);
    p->mo = options && options->mo;
    p->formula = options && options->formula;
    p->nesting = options && options->nesting ? options->nesting : PARSE_NESTING_LIMIT;
    if (!check_text(p))
        return false;
    keywords_enter(p);
    bool mark = p->length >= 3 && !memcmp(p->text, "\xef\xbb\xbf", 3);
    uint32_t skip = mark ? 3 : 0; // a byte order mark
    return scanner_open(p, source_text(sources, file) + skip, p->length - skip);
}

void
parser_close(Parser *p)
{
    scanner_close(p);
    vec_free(&p->keyword_of);
    vec_free(&p->meant);
    vec_free(&p->pending);
    vec_free(&p->blocks);
    vec_free(&p->buffer);
}

Node
parse_recording(Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags, const ParseOptions *options,
                TokenVec *record)
{
    Parser p;
    if (!parser_open(&p, sources, file, syms, ast, diags, options)) {
        parser_close(&p);
        return 0;
    }
    p.record = record;
    uint32_t errors = diags_errors(diags);
    if (p.formula)
        tokens_insert(&p, &(Token){.kind = T_FORMULA, .span = {p.base, p.base}, .record = UINT32_MAX}, 1);
    mdl_parse(&p);
    if (p.formula) {
        parser_close(&p);
        return diags_errors(diags) == errors ? p.file : 0;
    }
    if (!p.file)
        p.file = file_node(&p, (Span){p.base, p.base + p.length}, p.items);
    if (diags_errors(diags) != errors)
        ast_writable(ast, p.file)->flags |= AST_F_ERROR;
    parser_close(&p);
    return p.file;
}

Node
parse_file(Sources *sources, int file, Syms *syms, Ast *ast, Diags *diags, const ParseOptions *options)
{
    return parse_recording(sources, file, syms, ast, diags, options, NULL);
}
