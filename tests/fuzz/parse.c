// Fuzz target: any bytes through the scanner, the parser, the printer of the tree and the formatter.
#include <stdint.h>
#include <stdlib.h>

#include "frontend/text/layout_tokens.h"
#include "frontend/text/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
parse(const uint8_t *data, size_t size, bool mo)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Ast ast;
    Out out = {0};
    ast_init(&ast);
    int file = sources_add(sources, mo ? "input.mo" : "input.mdl", (const char *)data, size);
    Node root = parse_file(sources, file, syms, &ast, diags, &(ParseOptions){.mo = mo});
    if (root && !diags_errors(diags))
        ast_print(&ast, syms, sources, root, &out);
    diags_print_text(diags, &out, false);
    out_free(&out);
    ast_free(&ast);
    diags_free(&diags);
    syms_free(&syms);
    sources_free(&sources);
}

static void
format(const uint8_t *data, size_t size)
{
    Sources *sources = sources_create();
    Diags *diags = diags_create(sources);
    Out out = {0};
    int file = sources_add(sources, "input.mdl", (const char *)data, size);
    format_file(sources, file, diags, &out);
    out_free(&out);
    diags_free(&diags);
    sources_free(&sources);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size, false);
    parse(data, size, true);
    format(data, size);
    return 0;
}
