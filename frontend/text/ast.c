// ast.c: the syntax tree's storage and printers.
//
// Purpose: trees of files with hundred thousands of nodes are made and printed without a limit to their depth.
// Method: nodes and children are two growing arrays; a node's children are copied to the end of the
// second one when it is made. The printers keep their own stack or walk chains of left-associative
// operators with a loop, because a sum of 100,000 terms is an ordinary input. The recursion left in
// ast_print_expr follows brackets and conditional expressions, which the parser limits.
// Contract: see ast.h. Complexity: linear in what is made or printed.
#include <string.h>

#include "frontend/text/ast.h"

static const char *const kind_names[] = {
    [AST_NONE] = "none",
#define AST(KIND, name, layout) [AST_##KIND] = name,
#include "frontend/text/ast.def"
#undef AST
};

static const char *const class_kind_names[] = {
    [CLASS_CLASS] = "class", [CLASS_MODEL] = "model", [CLASS_BLOCK] = "block", [CLASS_RECORD] = "record",
    [CLASS_OPERATOR_RECORD] = "operator record", [CLASS_CONNECTOR] = "connector", [CLASS_TYPE] = "type",
    [CLASS_PACKAGE] = "package", [CLASS_FUNCTION] = "function",
    [CLASS_OPERATOR_FUNCTION] = "operator function", [CLASS_OPERATOR] = "operator", [CLASS_BODY] = "body",
    [CLASS_ELEMENT] = "element", [CLASS_CONSTRAINT] = "constraint", [CLASS_MEMORY] = "memory",
};

// Ranks: the higher, the tighter an operator binds.
static const struct {
    const char *text;
    int rank;
} op_table[] = {
    [AOP_ADD] = {"+", 5},   [AOP_SUB] = {"-", 5},   [AOP_MUL] = {"*", 6},   [AOP_DIV] = {"/", 6},
    [AOP_POW] = {"^", 7},   [AOP_EADD] = {".+", 5}, [AOP_ESUB] = {".-", 5}, [AOP_EMUL] = {".*", 6},
    [AOP_EDIV] = {"./", 6}, [AOP_EPOW] = {".^", 7}, [AOP_LT] = {"<", 4},    [AOP_LE] = {"<=", 4},
    [AOP_GT] = {">", 4},    [AOP_GE] = {">=", 4},   [AOP_EQ] = {"==", 4},   [AOP_NE] = {"<>", 4},
    [AOP_AND] = {"and", 2}, [AOP_OR] = {"or", 1},   [AOP_NOT] = {"not", 3}, [AOP_NEG] = {"-", 5},
    [AOP_PLUS] = {"+", 5},  [AOP_ENEG] = {".-", 5}, [AOP_EPLUS] = {".+", 5},
};

static const struct {
    uint32_t flag;
    const char *text;
} flag_names[] = {
    {AST_F_ENCAPSULATED, "encapsulated"}, {AST_F_PARTIAL, "partial"}, {AST_F_EACH, "each"},
    {AST_F_REDECLARE, "redeclare"}, {AST_F_FINAL, "final"}, {AST_F_INNER, "inner"},
    {AST_F_OUTER, "outer"}, {AST_F_REPLACEABLE, "replaceable"}, {AST_F_EXPANDABLE, "expandable"},
    {AST_F_PURE, "pure"}, {AST_F_IMPURE, "impure"}, {AST_F_FLOW, "flow"}, {AST_F_STREAM, "stream"},
    {AST_F_COORDINATE, "coordinate"}, {AST_F_PARAMETER, "parameter"}, {AST_F_CONSTANT, "constant"},
    {AST_F_DISCRETE, "discrete"}, {AST_F_INPUT, "input"}, {AST_F_OUTPUT, "output"},
    {AST_F_INITIAL, "initial"}, {AST_F_PAREN, "parenthesised"}, {AST_F_DOT, "leading-dot"},
    {AST_F_ALL, "all"}, {AST_F_INTEGER, "integer"}, {AST_F_TRUE, "true"}, {AST_F_ASSIGN, "assign"},
    {AST_F_OPEN, "open"}, {AST_F_MEMORY, "memory"}, {AST_F_ABOUT, "about"},
    {AST_F_IMPLICIT, "implicit"}, {AST_F_ERROR, "errors"},
};

static Node
add_node(Ast *ast, AstNode made)
{
    if (!(ast->n_nodes & (AST_BLOCK - 1)))
        vec_push(&ast->blocks, base_calloc(AST_BLOCK, sizeof(AstNode)));
    *ast_writable(ast, ast->n_nodes) = made;
    return ast->n_nodes++;
}

void
ast_init(Ast *ast)
{
    *ast = (Ast){0};
    add_node(ast, (AstNode){0});
}

void
ast_free(Ast *ast)
{
    for (uint32_t i = 0; i < ast->blocks.n; i++)
        free(ast->blocks.at[i]);
    vec_free(&ast->blocks);
    vec_free(&ast->children);
    map_free(&ast->numbers);
    vec_free(&ast->values);
    vec_free(&ast->number_blocks);
}

Node
ast_make(Ast *ast, AstKind kind, Span span, Sym sym, uint32_t flags, const Node *children, uint32_t n)
{
    AstNode made = {.kind = (uint8_t)kind, .flags = flags, .span = span, .sym = sym,
                    .child = ast->children.n, .nchild = n};
    vec_append(&ast->children, children, n);
    return add_node(ast, made);
}

// Counts down *nth with each entry of that name.
static Node
annotation_entry(const Ast *ast, const Syms *syms, Node annotation, const char *name, uint32_t *nth, Node *mods)
{
    Node list = ast_child(ast, annotation, 0);
    for (uint32_t k = 1; list && k < ast_at(ast, list)->nchild; k++) {
        Node mod = ast_child(ast, list, k), path = ast_kind(ast, mod) == AST_MOD ? ast_child(ast, mod, 0) : 0;
        Node value = path && ast_child(ast, mod, 1) ? ast_child(ast, ast_child(ast, mod, 1), 0) : 0;
        if (!mods) // what is modified is asked for, not a value
            value = path ? ast_child(ast, mod, 1) : 0;
        bool named = value && ast_at(ast, path)->nchild == 1
                  && !strcmp(sym_text(syms, ast_at(ast, ast_child(ast, path, 0))->sym), name);
        if (named && (*nth)-- == 0) {
            if (mods)
                *mods = ast_child(ast, mod, 1);
            return value;
        }
    }
    return 0;
}

static Node
annotation_of_body(const Ast *ast, const Syms *syms, Node body, const char *name, uint32_t nth, Node *mods)
{
    Node found = 0;
    for (uint32_t i = 0; !found && ast_kind(ast, body) == AST_BODY && i < ast_at(ast, body)->nchild; i++) {
        Node section = ast_child(ast, body, i);
        uint32_t n = section ? ast_at(ast, section)->nchild : 0;
        Node last = n ? ast_child(ast, section, n - 1) : 0;
        Node annotation = section && ast_kind(ast, section) == AST_ANNOTATION ? section
                        : last && ast_kind(ast, last) == AST_ANNOTATION ? last : 0;
        if (annotation)
            found = annotation_entry(ast, syms, annotation, name, &nth, mods);
    }
    return found;
}

Node
ast_annotation(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth, Node *mods)
{
    return annotation_of_body(ast, syms, ast_child(ast, class_node, 1), name, nth, mods);
}

Node
ast_external_annotation(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth, Node *mods)
{
    Node body = ast_child(ast, class_node, 1);
    return annotation_of_body(ast, syms, ast_kind(ast, body) == AST_EXTENDBODY ? ast_child(ast, body, 1) : body, name, nth, mods);
}

Node
ast_annotation_mods(const Ast *ast, const Syms *syms, Node class_node, const char *name, uint32_t nth)
{
    return ast_annotation(ast, syms, class_node, name, nth, NULL);
}

double
ast_number(const Ast *ast, Node node)
{
    uint32_t index = 0;
    return map_get(&ast->numbers, ast_at(ast, node)->sym, &index) ? ast->values.at[index] : 0.0;
}

const NumberBlock *
ast_numbers(const Ast *ast, Node node, const double **values)
{
    const NumberBlock *block = &ast->number_blocks.at[ast_at(ast, node)->sym];
    *values = ast->values.at + block->first;
    return block;
}

static bool
same_numbers(const Ast *ast, Node a, Node b)
{
    const double *left, *right;
    const NumberBlock *x = ast_numbers(ast, a, &left), *y = ast_numbers(ast, b, &right);
    return x->rank == y->rank && x->rows == y->rows && x->columns == y->columns && x->integer == y->integer
        && !memcmp(left, right, (size_t)x->rows * x->columns * sizeof *left);
}

bool
ast_same(const Ast *ast, Node a, Node b, AstKind except)
{
    U32Vec stack = {0};
    bool same = true, root = true;
    vec_push(&stack, a);
    vec_push(&stack, b);
    while (same && stack.n) {
        b = vec_pop(&stack);
        a = vec_pop(&stack);
        const AstNode *x = ast_at(ast, a), *y = ast_at(ast, b);
        same = x->kind == y->kind && x->kind_of == y->kind_of && x->flags == y->flags
            && (x->kind == AST_NUMBERS ? same_numbers(ast, a, b) : x->sym == y->sym);
        uint32_t n = x->nchild > y->nchild ? x->nchild : y->nchild;
        for (uint32_t i = 0; same && i < n; i++) {
            Node left = ast_child(ast, a, i), right = ast_child(ast, b, i);
            if (root && except && (ast_kind(ast, left) == except || ast_kind(ast, right) == except))
                continue;
            if (ast_kind(ast, left) == AST_COMMENT || ast_kind(ast, right) == AST_COMMENT)
                continue;
            same = !left == !right;
            if (left && right) {
                vec_push(&stack, left);
                vec_push(&stack, right);
            }
        }
        root = false;
    }
    vec_free(&stack);
    return same;
}

static const char *
ast_kind_name(AstKind kind)
{
    return kind_names[kind];
}

const char *
ast_class_kind_name(ClassKind kind)
{
    return class_kind_names[kind];
}

const char *
ast_op_text(AstOp op)
{
    return op_table[op].text;
}

static AstOp
op_of(const Ast *ast, Node node)
{
    return (AstOp)ast_at(ast, node)->kind_of;
}

// Whether `left`, the left operand of `chain`, continues the same unparenthesised sum, product,
// conjunction or disjunction.
static bool
continues_chain(const Ast *ast, Node chain, Node left)
{
    return ast_kind(ast, left) == AST_BINARY && !(ast_at(ast, left)->flags & AST_F_PAREN)
        && op_table[op_of(ast, left)].rank == op_table[op_of(ast, chain)].rank;
}

// The chain's BINARY nodes, outermost first.
static void
chain_collect(const Ast *ast, Node chain, U32Vec *links)
{
    vec_push(links, chain);
    for (Node left = ast_child(ast, chain, 0); continues_chain(ast, chain, left);
         left = ast_child(ast, left, 0))
        vec_push(links, left);
}

static void
print_quoted(const Syms *syms, Sym sym, Out *out)
{
    const char *text = sym_text(syms, sym);
    out_char(out, '"');
    for (uint32_t i = 0; i < sym_length(syms, sym); i++) {
        if (text[i] == '"' || text[i] == '\\')
            out_char(out, '\\');
        if (text[i] == '\n')
            out_text(out, "\\n");
        else
            out_char(out, text[i]);
    }
    out_char(out, '"');
}

// Line and column of increasing and nearly increasing offsets in one file, without rescanning it.
typedef struct Lines {
    const Sources *sources;
    U32Vec starts; // source offsets of line starts
} Lines;

static void
lines_find(Lines *lines, uint32_t offset)
{
    Place place;
    vec_clear(&lines->starts);
    if (!sources_locate(lines->sources, offset, &place))
        return;
    // line_text - (its offset) is the file's first byte; the text ends with a NUL byte.
    uint32_t line_at = place.offset - (place.column - 1), base = offset - place.offset;
    const char *text = place.line_text - line_at;
    vec_push(&lines->starts, base);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        vec_push(&lines->starts, base + (uint32_t)(at + 1 - text));
}

static void
print_place(Lines *lines, uint32_t offset, Out *out)
{
    uint32_t low = 0, high = lines->starts.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (lines->starts.at[middle] <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low)
        out_printf(out, " %u:%u", low, offset - lines->starts.at[low - 1] + 1);
}

static void
print_symbol(const Ast *ast, const Syms *syms, const AstNode *at, Out *out)
{
    bool is_string = at->kind == AST_STRING || at->kind == AST_COMMENT || at->kind == AST_EXTERNAL;
    if (at->kind == AST_NUMBERS) {
        const NumberBlock *block = &ast->number_blocks.at[at->sym];
        out_printf(out, block->rank == 1 ? " %u" : " %u x %u", block->rows, block->columns);
    } else if (is_string && (at->sym || at->kind == AST_STRING)) {
        out_char(out, ' ');
        print_quoted(syms, at->sym, out);
    } else if (at->sym) {
        out_printf(out, " %s", sym_text(syms, at->sym));
    }
}

static void
print_ops(const Ast *ast, Node node, const U32Vec *links, Out *out)
{
    if (ast_kind(ast, node) == AST_UNARY)
        out_printf(out, " %s", ast_op_text(op_of(ast, node)));
    for (uint32_t i = links->n; i-- > 0;)
        out_printf(out, " %s", ast_op_text(op_of(ast, links->at[i])));
}

static void
print_node_line(const Ast *ast, const Syms *syms, Lines *lines, Node node, uint32_t depth,
                const U32Vec *links, Out *out)
{
    const AstNode *at = ast_at(ast, node);
    out_repeat(out, ' ', 2 * (size_t)depth);
    if (!node) {
        out_text(out, "-\n");
        return;
    }
    out_text(out, ast_kind_name(at->kind));
    if (at->kind == AST_CLASS)
        out_printf(out, " %s", ast_class_kind_name(at->kind_of));
    print_ops(ast, node, links, out);
    print_symbol(ast, syms, at, out);
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++) {
        if (at->flags & flag_names[i].flag)
            out_printf(out, " %s", flag_names[i].text);
    }
    print_place(lines, at->span.lo, out);
    out_char(out, '\n');
}

typedef struct Visit {
    Node node;
    uint32_t depth;
} Visit;
typedef VEC(Visit) VisitVec;

// Pushes the children to visit, last one first; absent children at the end are not shown.
static void
push_children(const Ast *ast, Visit at, const U32Vec *links, VisitVec *stack)
{
    uint32_t depth = at.depth + 1;
    if (links->n) {
        for (uint32_t i = 0; i < links->n; i++)
            vec_push(stack, (Visit){ast_child(ast, links->at[i], 1), depth});
        vec_push(stack, (Visit){ast_child(ast, vec_last(links), 0), depth});
        return;
    }
    uint32_t n = ast_at(ast, at.node)->nchild;
    while (n && !ast_child(ast, at.node, n - 1))
        n--;
    while (n-- > 0)
        vec_push(stack, (Visit){ast_child(ast, at.node, n), depth});
}

void
ast_print(const Ast *ast, const Syms *syms, const Sources *sources, Node root, Out *out)
{
    Lines lines = {.sources = sources};
    VisitVec stack = {0};
    U32Vec links = {0};
    lines_find(&lines, ast_at(ast, root)->span.lo);
    vec_push(&stack, (Visit){root, 0});
    while (stack.n) {
        Visit at = vec_pop(&stack);
        vec_clear(&links);
        if (ast_kind(ast, at.node) == AST_BINARY)
            chain_collect(ast, at.node, &links);
        print_node_line(ast, syms, &lines, at.node, at.depth, &links, out);
        if (at.node)
            push_children(ast, at, &links, &stack);
    }
    vec_free(&links);
    vec_free(&stack);
    vec_free(&lines.starts);
}

// --- expressions as source text

typedef struct Printer {
    const Ast *ast;
    const Syms *syms;
    Out *out;
} Printer;

static void print_expr(Printer *to, Node node, int rank);

static void
print_children(Printer *to, Node node, uint32_t from, const char *between)
{
    for (uint32_t i = from; i < ast_at(to->ast, node)->nchild; i++) {
        if (i > from)
            out_text(to->out, between);
        print_expr(to, ast_child(to->ast, node, i), 0);
    }
}

static void
print_chain(Printer *to, Node node)
{
    U32Vec links = {0};
    chain_collect(to->ast, node, &links);
    int rank = op_table[op_of(to->ast, node)].rank;
    print_expr(to, ast_child(to->ast, vec_last(&links), 0), rank);
    for (uint32_t i = links.n; i-- > 0;) {
        const char *op = ast_op_text(op_of(to->ast, links.at[i]));
        out_printf(to->out, rank >= 6 ? "%s" : " %s ", op);
        print_expr(to, ast_child(to->ast, links.at[i], 1), rank + 1);
    }
    vec_free(&links);
}

static void
print_if(Printer *to, Node node)
{
    uint32_t n = ast_at(to->ast, node)->nchild;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        out_text(to->out, i ? " elseif " : "if ");
        print_expr(to, ast_child(to->ast, node, i), 0);
        out_text(to->out, " then ");
        print_expr(to, ast_child(to->ast, node, i + 1), 0);
    }
    out_text(to->out, " else ");
    print_expr(to, ast_child(to->ast, node, n - 1), 0);
}

static void
print_range(Printer *to, Node node)
{
    for (uint32_t i = 0; i < 3; i++) {
        if (i == 1 && !ast_child(to->ast, node, 1))
            continue;
        if (i)
            out_char(to->out, ':');
        print_expr(to, ast_child(to->ast, node, i), 1);
    }
}

static void
print_bracketed(Printer *to, Node node, const char *open, const char *between, const char *close)
{
    out_text(to->out, open);
    print_children(to, node, 0, between);
    out_text(to->out, close);
}

static void
print_named(Printer *to, Node node)
{
    const AstNode *at = ast_at(to->ast, node);
    out_text(to->out, sym_text(to->syms, at->sym));
    if (at->kind == AST_FORINDEX && ast_child(to->ast, node, 0))
        out_text(to->out, " in ");
    if (at->kind == AST_ARG)
        out_text(to->out, " = ");
    print_children(to, node, 0, "");
}

static void
print_call(Printer *to, Node node)
{
    bool partial = ast_kind(to->ast, node) == AST_FUNCARG;
    out_text(to->out, partial ? "function " : "");
    print_expr(to, ast_child(to->ast, node, 0), 9);
    out_char(to->out, '(');
    if (ast_child(to->ast, node, 1))
        print_children(to, ast_child(to->ast, node, 1), 0, ", ");
    out_char(to->out, ')');
}

static void
print_member(Printer *to, Node node)
{
    out_char(to->out, '(');
    print_expr(to, ast_child(to->ast, node, 0), 0);
    out_char(to->out, ')');
    if (ast_kind(to->ast, node) == AST_MEMBER)
        out_printf(to->out, ".%s", sym_text(to->syms, ast_at(to->ast, node)->sym));
    else
        print_expr(to, ast_child(to->ast, node, 1), 0);
}

static void
print_path(Printer *to, Node node)
{
    if (ast_at(to->ast, node)->flags & AST_F_DOT)
        out_char(to->out, '.');
    print_children(to, node, 0, ".");
}

static void
print_unary(Printer *to, Node node)
{
    AstOp op = op_of(to->ast, node);
    out_printf(to->out, op == AOP_NOT ? "%s " : "%s", ast_op_text(op));
    print_expr(to, ast_child(to->ast, node, 0), op_table[op].rank + 1);
}

static void
print_numbers(Printer *to, Node node)
{
    const double *values;
    const NumberBlock *block = ast_numbers(to->ast, node, &values);
    out_char(to->out, block->rank == 1 ? '{' : '[');
    for (uint32_t i = 0; i < block->rows * block->columns; i++) {
        out_text(to->out, !i ? "" : block->rank == 2 && i % block->columns == 0 ? "; " : ", ");
        out_printf(to->out, "%.16g", values[i]);
    }
    out_char(to->out, block->rank == 1 ? '}' : ']');
}

static int
rank_of(const Ast *ast, Node node)
{
    switch (ast_kind(ast, node)) {
    case AST_UNARY:
    case AST_BINARY:
        return op_table[op_of(ast, node)].rank;
    case AST_IFEXPR:
    case AST_RANGE:
        return 0;
    default:
        return 9;
    }
}

static void
print_expr_bare(Printer *to, Node node)
{
    const AstNode *at = ast_at(to->ast, node);
    switch ((AstKind)at->kind) {
    case AST_NUMBER:
    case AST_IDENT:
        out_text(to->out, sym_text(to->syms, at->sym));
        break;
    case AST_PART:
        out_text(to->out, sym_text(to->syms, at->sym));
        if (ast_child(to->ast, node, 0))
            print_expr(to, ast_child(to->ast, node, 0), 0);
        break;
    case AST_STRING: print_quoted(to->syms, at->sym, to->out); break;
    case AST_BOOL: out_text(to->out, at->flags & AST_F_TRUE ? "true" : "false"); break;
    case AST_END: out_text(to->out, "end"); break;
    case AST_COLON: out_char(to->out, ':'); break;
    case AST_UNSET: out_text(to->out, "break"); break;
    case AST_NAME:
    case AST_REF: print_path(to, node); break;
    case AST_SUBSCRIPTS: print_bracketed(to, node, "[", ", ", "]"); break;
    case AST_UNARY: print_unary(to, node); break;
    case AST_BINARY: print_chain(to, node); break;
    case AST_IFEXPR: print_if(to, node); break;
    case AST_RANGE: print_range(to, node); break;
    case AST_CALL:
    case AST_FUNCARG: print_call(to, node); break;
    case AST_ARG:
    case AST_FORINDEX: print_named(to, node); break;
    case AST_FORARG: print_children(to, node, 0, " for "); break;
    case AST_INDICES: print_children(to, node, 0, ", "); break;
    case AST_ARRAY: print_bracketed(to, node, "{", ", ", "}"); break;
    case AST_MATRIX: print_bracketed(to, node, "[", "; ", "]"); break;
    case AST_NUMBERS: print_numbers(to, node); break;
    case AST_ROW: print_children(to, node, 0, ", "); break;
    case AST_TUPLE: print_bracketed(to, node, "(", ", ", ")"); break;
    case AST_MEMBER:
    case AST_INDEXED: print_member(to, node); break;
    default: break;
    }
}

// `rank`: the tightest operator around; a looser expression gets parentheses.
static void
print_expr(Printer *to, Node node, int rank)
{
    if (!node)
        return;
    bool parens = (ast_at(to->ast, node)->flags & AST_F_PAREN) || rank_of(to->ast, node) < rank;
    if (parens)
        out_char(to->out, '(');
    print_expr_bare(to, node);
    if (parens)
        out_char(to->out, ')');
}

void
ast_print_expr(const Ast *ast, const Syms *syms, Node expr, Out *out)
{
    Printer to = {ast, syms, out};
    print_expr(&to, expr, 0);
}
