// Fuzz target: any bytes through the scanner and the filter of its tokens, without the grammar.
#include <stdint.h>
#include <stdlib.h>

#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Each token lies in the text.
static void
check_place(const Parser *p, Token token)
{
    if (token.span.lo < p->base || token.span.hi < token.span.lo || token.span.hi > p->base + p->length)
        abort();
}

static void
scan(const uint8_t *data, size_t size, bool mo)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Ast ast;
    Parser parser = {0};
    ast_init(&ast);
    int file = sources_add(sources, mo ? "input.mo" : "input.mdl", (const char *)data, size);
    if (parser_open(&parser, sources, file, syms, &ast, diags, &(ParseOptions){.mo = mo}))
        for (Token token = token_next(&parser); token.kind != T_YYEOF; token = token_next(&parser))
            check_place(&parser, token);
    parser_close(&parser);
    ast_free(&ast);
    diags_free(&diags);
    syms_free(&syms);
    sources_free(&sources);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scan(data, size, false);
    scan(data, size, true);
    return 0;
}
