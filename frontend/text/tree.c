// tree.c: the constructors the grammar's actions call.
//
// Purpose: each action of the grammar is one call.
// Method: list items wait on one stack (Parser.pending) until their parent is made, so a list costs no
// cells; a List remembers where its items start, which makes what error recovery left above harmless.
// The block stack follows what is open; opening one too many stops the parse.
// Contract: syntax.h: a constructor takes what its List collected off the stack. Complexity: constant per node but for copying its children
// once.
#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

Node
node(Parser *p, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *children, uint32_t n)
{
    return ast_make(p->ast, kind, span, sym, flags, children, n);
}

Node
node_list(Parser *p, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *head, uint32_t n_head,
          List list)
{
    Ast *ast = p->ast;
    Node made = ast_make(ast, kind, span, sym, flags | (list.bad ? AST_F_ERROR : 0u), head, n_head);
    vec_append(&ast->children, p->pending.at + list.mark, list.n);
    ast_writable(ast, made)->nchild += list.n;
    p->pending.n = list.mark;
    return made;
}

static Node
node_list_end(Parser *p, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *head,
              uint32_t n_head, List list, Node tail)
{
    Node made = node_list(p, kind, span, sym, flags, head, n_head, list);
    vec_push(&p->ast->children, tail);
    ast_writable(p->ast, made)->nchild++;
    return made;
}

Node
list_node(Parser *p, AstKind kind, Span span, uint32_t flags, List list)
{
    return node_list(p, kind, span, 0, flags, NULL, 0, list);
}

Node
closed_node(Parser *p, AstKind kind, Span span, uint32_t depth, List list)
{
    block_close(p, depth);
    return list_node(p, kind, span, 0, list);
}

Node
ident_node(Parser *p, Span span, Sym name)
{
    return node(p, AST_IDENT, span, name, 0, NULL, 0);
}

List
list_start(Parser *p)
{
    return (List){.mark = p->pending.n, .depth = p->blocks.n & 0x7fffffff};
}

List
list_add(Parser *p, List list, Node item)
{
    p->pending.n = list.mark + list.n;
    vec_push(&p->pending, item);
    list.n++;
    return list;
}

List
list_first(Parser *p, Node item)
{
    return list_add(p, list_start(p), item);
}

List
list_recover(Parser *p, List list)
{
    p->pending.n = list.mark + list.n;
    p->blocks.n = list.depth;
    p->recovering = false;
    list.bad = 1;
    return list;
}

uint32_t
block_open(Parser *p, BlockKind kind, Sym sym, Span span)
{
    uint32_t depth = p->blocks.n;
    if (depth >= p->nesting && !p->stop) {
        diag_add(p->diags, E0004, span, "more than %u classes, sections and brackets inside each other",
                 p->nesting);
        p->stop = true;
    }
    bool else_if = kind == BLOCK_IF && p->prev.kind == T_ELSE && !token_first_on_line(p, p->current);
    if (else_if && depth && p->blocks.at[depth - 1].kind == BLOCK_IF)
        p->blocks.at[depth - 1].else_if = span_join(p->prev.span, span);
    vec_push(&p->blocks, (Block){.kind = kind, .sym = sym, .span = span});
    return depth;
}

void
block_close(Parser *p, uint32_t depth)
{
    if (depth < p->blocks.n)
        p->blocks.n = depth;
}

Node
branch_node(Parser *p, Span span, Node condition, List list)
{
    return node_list(p, AST_BRANCH, span, 0, 0, NODES(condition), list);
}

List
chain_else(Parser *p, List branches, Span span, List otherwise)
{
    return list_add(p, branches, branch_node(p, span, 0, otherwise));
}

Node
chain_node(Parser *p, AstKind kind, Span span, List branches, Node tail)
{
    block_close(p, branches.depth - 1);
    return node_list_end(p, kind, span, 0, 0, NULL, 0, branches, tail);
}

Node
loop_node(Parser *p, AstKind kind, Span span, uint32_t depth, Node head, List list, Node comment)
{
    block_close(p, depth);
    return node_list_end(p, kind, span, 0, 0, NODES(head), list, comment);
}

static uint32_t
flags_add(Parser *p, uint32_t flags, uint32_t flag, Span span)
{
    if (flags & flag)
        diag_add(p->diags, E0001, span, "'%.*s' is written twice", (int)(span.hi - span.lo),
                 p->text + (span.lo - p->base));
    return flags | flag;
}

uint32_t
prefix_add(Parser *p, uint32_t flags, uint32_t flag, Span span)
{
    static const struct { uint32_t flag; const char *word; } order[] = {
        {AST_F_REDECLARE, "redeclare"}, {AST_F_FINAL, "final"}, {AST_F_INNER, "inner"}, {AST_F_OUTER, "outer"},
        {AST_F_REPLACEABLE, "replaceable"},
    };
    uint32_t i = sizeof order / sizeof *order;
    while (order[i - 1].flag != flag && !(flags & order[i - 1].flag))
        i--;
    if (order[i - 1].flag != flag)
        diag_add(p->diags, E0001, span, "'%.*s' stands before '%s'", (int)(span.hi - span.lo), p->text + (span.lo - p->base),
                 order[i - 1].word);
    return flags_add(p, flags, flag, span);
}

// Prefixes of declarations, classes and modifications in the order of the specification (appendix A), one of each rank. In this language, and in a
// library, they stand as they come.
uint32_t
ordered_add(Parser *p, uint32_t flags, uint32_t flag, Span span)
{
    static const struct { uint32_t flag; int rank; const char *word; } order[] = {
        {AST_F_ENCAPSULATED, 0, "encapsulated"}, {AST_F_PARTIAL, 1, "partial"},
        {AST_F_FLOW, 2, "flow"}, {AST_F_STREAM, 2, "stream"}, {AST_F_DISCRETE, 3, "discrete"}, {AST_F_PARAMETER, 3, "parameter"}, {AST_F_CONSTANT, 3, "constant"},
        {AST_F_INPUT, 4, "input"}, {AST_F_OUTPUT, 4, "output"},
        {AST_F_REDECLARE, 5, "redeclare"}, {AST_F_EACH, 6, "each"}, {AST_F_FINAL, 7, "final"}, {AST_F_REPLACEABLE, 8, "replaceable"},
    };
    enum { PREFIXES = sizeof order / sizeof *order };
    int rank = 0;
    for (uint32_t i = 0; i < PREFIXES; i++)
        rank = order[i].flag == flag ? order[i].rank : rank;
    bool strict = p->mo && sources_is_strict(p->sources, span.lo);
    for (uint32_t i = 0; strict && i < PREFIXES; i++) {
        if (!(flags & order[i].flag) || order[i].flag == flag || order[i].rank < rank)
            continue;
        diag_add(p->diags, E0001, span, order[i].rank == rank ? "'%.*s' cannot stand beside '%s'" : "'%.*s' stands before '%s'", (int)(span.hi - span.lo),
                 p->text + (span.lo - p->base), order[i].word);
        break;
    }
    return flags_add(p, flags, flag, span);
}

Node
with_flag(Parser *p, Node node, uint32_t flag, Span span)
{
    ast_writable(p->ast, node)->flags |= flag;
    ast_writable(p->ast, node)->span = span;
    return node;
}

Sym
strings_join(Parser *p, Sym a, Sym b)
{
    uint32_t na = sym_length(p->syms, a), nb = sym_length(p->syms, b);
    vec_clear(&p->buffer);
    vec_append(&p->buffer, sym_text(p->syms, a), na);
    vec_append(&p->buffer, sym_text(p->syms, b), nb);
    return na + nb ? sym_make(p->syms, p->buffer.at, na + nb) : 0;
}

// --- expressions

Node
node_op(Parser *p, AstKind kind, Span span, AstOp op, const Node *children, uint32_t n)
{
    Node made = ast_make(p->ast, kind, span, 0, 0, children, n);
    ast_writable(p->ast, made)->kind_of = (uint8_t)op;
    return made;
}

static void
help_integer(Diag *diag, double value)
{
    diag_help(diag, "the largest is 9007199254740992; a Real is written %.17g%s", value, value < 1e17 ? ".0" : "");
}

Node
number_node(Parser *p, Span span, Sym text, bool integer)
{
    // The value belongs to the spelling, so each spelling is converted once.
    uint32_t index = 0;
    if (!map_get(&p->ast->numbers, text, &index)) {
        const char *behind;
        bool whole;
        double value = number_read(sym_text(p->syms, text), &behind, &whole);
        if (isinf(value))
            diag_add(p->diags, E0006, span, "the number %.40s is larger than any that can be represented",
                     sym_text(p->syms, text));
        else if (integer && value > LARGEST_INTEGER)
            help_integer(diag_add(p->diags, E0006, span, "the Integer %.40s is larger than any that can be represented exactly",
                                  sym_text(p->syms, text)), value);
        map_put(&p->ast->numbers, text, p->ast->values.n);
        vec_push(&p->ast->values, value);
    }
    return node(p, AST_NUMBER, span, text, integer ? AST_F_INTEGER : 0, NULL, 0);
}

Node
numbers_node(Parser *p, Span span, Sym block)
{
    return node(p, AST_NUMBERS, span, block, 0, NULL, 0);
}

Node
tuple_or_parens(Parser *p, Span span, List list, uint32_t depth)
{
    block_close(p, depth);
    if (list.n != 1 || !p->pending.at[list.mark])
        return node_list(p, AST_TUPLE, span, 0, 0, NULL, 0, list);
    Node inner = p->pending.at[list.mark];
    p->pending.n = list.mark;
    ast_writable(p->ast, inner)->flags |= AST_F_PAREN;
    return inner;
}

Node
word_ref(Parser *p, Span span, const char *word)
{
    Node part = node(p, AST_PART, span, sym_of(p->syms, word), 0, NODES(0));
    return node(p, AST_REF, span, 0, 0, NODES(part));
}

Node
args_node(Parser *p, Span span, List list, uint32_t depth)
{
    block_close(p, depth);
    bool named = false;
    for (uint32_t i = 0; i < list.n; i++) {
        Node item = p->pending.at[list.mark + i];
        bool is_named = ast_kind(p->ast, item) == AST_ARG;
        if (named && !is_named)
            diag_add(p->diags, E0001, ast_at(p->ast, item)->span,
                     "an argument without a name cannot follow one with a name");
        named |= is_named;
    }
    return node_list(p, AST_ARGS, span, 0, 0, NULL, 0, list);
}

Node
call_of(Parser *p, Span span, Node function, Node args)
{
    return node(p, AST_CALL, span, 0, 0, NODES(function, args));
}

// --- equations

static bool
is_alone(const Parser *p, Node expr)
{
    return ast_kind(p->ast, expr) != AST_CALL || (ast_at(p->ast, expr)->flags & AST_F_PAREN);
}

Node
call_equation(Parser *p, Span span, Node expr, Node comment)
{
    bool compares = ast_kind(p->ast, expr) == AST_BINARY && ast_at(p->ast, expr)->kind_of == AOP_EQ;
    if (compares && !(ast_at(p->ast, expr)->flags & AST_F_PAREN)) {
        diag_add(p->diags, E0001, ast_at(p->ast, expr)->span, "an equation is written with '='; '==' compares");
    } else if (is_alone(p, expr)) {
        Diag *diag = diag_add(p->diags, E0001, ast_at(p->ast, expr)->span,
                              "expected '=': an expression alone is not an equation");
        diag_help(diag, "an equation is written 'left = right'");
    }
    return node(p, AST_CALLEQ, span, 0, 0, NODES(expr, comment));
}

Node
connect_comment(Parser *p, Span span, Node connect, Node comment)
{
    AstNode *at = ast_writable(p->ast, connect);
    at->span = span;
    p->ast->children.at[at->child + 2] = comment;
    return connect;
}

Node
energy_node(Parser *p, Span span, const char *word, uint32_t flags, const Node *children, uint32_t n)
{
    return node(p, AST_ENERGYITEM, span, sym_of(p->syms, word), flags, children, n);
}

// --- classes

Node
file_node(Parser *p, Span span, List items)
{
    Node within = 0;
    List rest = items;
    for (uint32_t i = 0; i < items.n; i++) {
        Node item = p->pending.at[items.mark + i];
        if (ast_kind(p->ast, item) != AST_NAME)
            continue;
        if (i)
            diag_add(p->diags, E0001, ast_at(p->ast, item)->span,
                     "'within' must be the first line of a file");
        else
            within = item;
    }
    if (within) {
        rest.mark++;
        rest.n--;
        if (!ast_at(p->ast, within)->nchild)
            within = 0;
    }
    return node_list(p, AST_FILE, span, 0, 0, NODES(within), rest);
}

// The annotation of a class is the last thing in it (section 13.6, and the grammar of appendix A). Older texts are read nevertheless.
static void
check_annotation(Parser *p, Node body)
{
    if (!body || ast_kind(p->ast, body) != AST_BODY)
        return;
    uint32_t n = ast_at(p->ast, body)->nchild;
    for (uint32_t i = 0; i + 1 < n; i++) {
        Node item = ast_child(p->ast, body, i), next = ast_child(p->ast, body, i + 1);
        if (!item || ast_kind(p->ast, item) != AST_ANNOTATION || !next)
            continue;
        Diag *diag = diag_add(p->diags, W1104, ast_at(p->ast, item)->span, "the annotation of a class is the last thing in it");
        diag_note(diag, ast_at(p->ast, next)->span, "this follows it");
        diag_help(diag, ast_kind(p->ast, next) == AST_ANNOTATION ? "write both as one" : "put it in front of the 'end' of the class");
    }
}

Node
short_class(Parser *p, Span span, ClassPrefix prefix, uint32_t depth, Node comment, Node body)
{
    Sym name = depth < p->blocks.n ? p->blocks.at[depth].sym : 0;
    uint32_t errors = depth < p->blocks.n && p->blocks.at[depth].lost ? AST_F_ERROR : 0;
    block_close(p, depth);
    check_annotation(p, body);
    Node made = node(p, AST_CLASS, span, name, prefix.flags | errors, NODES(comment, body, 0));
    ast_writable(p->ast, made)->kind_of = (uint8_t)prefix.kind;
    return made;
}

Node
extended_body(Parser *p, Span span, uint32_t depth, Node mods, Node body)
{
    Block block = p->blocks.at[depth];
    Node name = node(p, AST_NAME, block.span, 0, 0, NODES(ident_node(p, block.span, block.sym)));
    Node base = node(p, AST_EXTENDS, block.span, 0, AST_F_REDECLARE, NODES(name, mods, 0));
    return node(p, AST_EXTENDBODY, span, 0, 0, NODES(base, body));
}

Node
long_class(Parser *p, Span span, ClassPrefix prefix, uint32_t depth, Node comment, Node body, Sym end,
           Span end_span)
{
    Block start = depth < p->blocks.n ? p->blocks.at[depth] : (Block){.sym = end};
    if (start.sym != end) {
        const char *name = sym_text(p->syms, start.sym);
        Diag *diag = diag_add(p->diags, E0005, end_span, "expected 'end %s', found 'end %s'", name,
                              sym_text(p->syms, end));
        diag_note(diag, start.span, "the class '%s' starts here", name);
        p->lost = true;
    }
    return short_class(p, span, prefix, depth, comment, body);
}

Node
element_prefixed(Parser *p, uint32_t flags, Node element, Node constrained)
{
    AstNode *at = ast_writable(p->ast, element);
    at->flags |= flags;
    if (!constrained)
        return element;
    p->ast->children.at[at->child + 2] = constrained;
    at->span.hi = ast_at(p->ast, constrained)->span.hi;
    if (!(flags & (AST_F_REPLACEABLE | AST_F_REDECLARE)))
        diag_add(p->diags, E0001, ast_at(p->ast, constrained)->span,
                 "'constrainedby' needs 'replaceable' in front of the declaration");
    return element;
}
