// implied_ranges.c: loop indices without a range.
//
// Purpose: `for i loop` takes its range from the first subscript that is the index itself: 1:size(A, k) where
// the text has i as subscript k of A (Modelica 3.6, section 11.2.2.1); the sizes of other arrays with the subscript i stand
// behind it, to be compared where the range is evaluated. Method: the missing range is written into
// the syntax tree after a file was parsed, so that equations, statements and reductions see loops of one kind;
// the formatter works on the tree as written. An index that is no subscript keeps no range and is refused where
// the loop is elaborated.
// Contract: classes.h. Complexity: linear in the text, times the depth of loops without ranges.
#include "frontend/names/classes.h"
#include "frontend/names/names.h"

typedef struct Use { // of an index as subscript `dim` (from 1) of the first `parts` parts of `ref`
    Node ref;
    uint32_t parts, dim;
} Use;

static bool
is_index(const Ast *ast, Node node, Sym name)
{
    if (ast_kind(ast, node) != AST_REF || ast_at(ast, node)->nchild != 1)
        return false;
    Node part = ast_child(ast, node, 0);
    return ast_at(ast, part)->sym == name && !ast_child(ast, part, 0);
}

typedef VEC(Use) Uses;

static bool
same_use(const Ast *ast, const Use *a, const Use *b)
{
    bool same = a->parts == b->parts && a->dim == b->dim && ast_at(ast, a->ref)->flags == ast_at(ast, b->ref)->flags;
    for (uint32_t p = 0; same && p < a->parts; p++) {
        Node x = ast_child(ast, a->ref, p), y = ast_child(ast, b->ref, p);
        same = p + 1 == a->parts ? ast_at(ast, x)->sym == ast_at(ast, y)->sym : ast_same(ast, x, y, AST_NONE);
    }
    return same;
}

static void
add_use(const Ast *ast, Uses *uses, Use use)
{
    for (uint32_t i = 0; i < uses->n; i++)
        if (same_use(ast, &uses->at[i], &use))
            return;
    vec_push(uses, use);
}

static void
uses_in_reference(const Ast *ast, Node ref, Sym name, Uses *uses)
{
    for (uint32_t p = 0; p < ast_at(ast, ref)->nchild; p++) {
        Node subscripts = ast_child(ast, ast_child(ast, ref, p), 0);
        for (uint32_t k = 0; subscripts && k < ast_at(ast, subscripts)->nchild; k++)
            if (is_index(ast, ast_child(ast, subscripts, k), name))
                add_use(ast, uses, (Use){ref, p + 1, k + 1});
    }
}

// A loop inside that has an index of this name.
static bool
hides(const Ast *ast, Node node, Sym name)
{
    AstKind kind = ast_kind(ast, node);
    Node indices = kind == AST_FORST || kind == AST_FOREQ ? ast_child(ast, node, 0) : kind == AST_FORARG ? ast_child(ast, node, 1) : 0;
    for (uint32_t i = 0; indices && i < ast_at(ast, indices)->nchild; i++)
        if (ast_at(ast, ast_child(ast, indices, i))->sym == name)
            return true;
    return false;
}

static void
find_uses(const Ast *ast, Node body, Sym name, Uses *uses)
{
    U32Vec stack = {0};
    vec_push(&stack, body);
    while (stack.n) {
        Node node = vec_pop(&stack);
        if (hides(ast, node, name))
            continue;
        if (ast_kind(ast, node) == AST_REF)
            uses_in_reference(ast, node, name, uses);
        for (uint32_t i = ast_at(ast, node)->nchild; i-- > 0;)
            vec_push(&stack, ast_child(ast, node, i));
    }
    vec_free(&stack);
}

static Node
make_number(Program *program, Span span, uint32_t number)
{
    Ast *ast = &program->ast;
    Sym text = sym_of(program->syms, arena_printf(program->arena, "%u", number));
    uint32_t known;
    if (!map_get(&ast->numbers, text, &known)) {
        map_put(&ast->numbers, text, ast->values.n);
        vec_push(&ast->values, number);
    }
    return ast_make(ast, AST_NUMBER, span, text, AST_F_INTEGER, NULL, 0);
}

// size(A, k)
static Node
make_size(Program *program, const Use *use, Span span)
{
    Ast *ast = &program->ast;
    Node *parts = arena_array(program->arena, Node, use->parts);
    for (uint32_t p = 0; p < use->parts; p++) {
        parts[p] = ast_child(ast, use->ref, p);
        if (p + 1 == use->parts)
            parts[p] = ast_make(ast, AST_PART, span, ast_at(ast, parts[p])->sym, 0, NULL, 0);
    }
    Node array = ast_make(ast, AST_REF, span, 0, ast_at(ast, use->ref)->flags, parts, use->parts);
    Node name = ast_make(ast, AST_PART, span, sym_of(program->syms, "size"), 0, NULL, 0);
    Node function = ast_make(ast, AST_REF, span, 0, 0, &name, 1);
    Node both[] = {array, make_number(program, span, use->dim)};
    Node args = ast_make(ast, AST_ARGS, span, 0, 0, both, 2);
    Node call[] = {function, args};
    return ast_make(ast, AST_CALL, span, 0, 0, call, 2);
}

// 1:size(A, k), all values of an enumeration where those are the subscripts (expression_bounds), and the sizes of the other arrays with this subscript, which must be the same.
static Node
make_range(Program *program, const Uses *uses, Span span)
{
    Node *bounds = arena_array(program->arena, Node, 2 + uses->n);
    bounds[0] = make_number(program, span, 1);
    bounds[1] = 0;
    for (uint32_t i = 0; i < uses->n; i++)
        bounds[2 + i] = make_size(program, &uses->at[i], span);
    return ast_make(&program->ast, AST_RANGE, span, 0, AST_F_IMPLICIT, bounds, 2 + uses->n);
}

static void
fill_indices(Program *program, Node loop, Node indices, uint32_t first, uint32_t end)
{
    Ast *ast = &program->ast;
    for (uint32_t i = 0; indices && i < ast_at(ast, indices)->nchild; i++) {
        Node index = ast_child(ast, indices, i);
        Uses uses = {0};
        if (ast_child(ast, index, 0))
            continue;
        for (uint32_t k = first; k < end; k++)
            find_uses(ast, ast_child(ast, loop, k), ast_at(ast, index)->sym, &uses);
        if (uses.n) {
            Node range = make_range(program, &uses, ast_at(ast, index)->span);
            ast_writable(ast, index)->child = ast->children.n;
            ast_writable(ast, index)->nchild = 1;
            vec_push(&ast->children, range);
        }
        vec_free(&uses);
    }
}

void
imply_ranges(Program *program, Node first)
{
    Ast *ast = &program->ast;
    uint32_t end = ast->n_nodes;
    for (Node node = first; node < end; node++) {
        AstKind kind = ast_kind(ast, node);
        if (kind == AST_FORST || kind == AST_FOREQ)
            fill_indices(program, node, ast_child(ast, node, 0), 1, ast_at(ast, node)->nchild);
        else if (kind == AST_FORARG)
            fill_indices(program, node, ast_child(ast, node, 1), 0, 1);
    }
}
