// expr_math.c: expressions as presentation MathML.
//
// Purpose: equations that read as in a book. Method: the printer works from a stack of pending pieces as that of
//   expr_text.c does; quotients are fractions, whose parts need no parentheses, choices are cases.
// Contract: expr_text.h. What would be longer than LENGTH_LIMIT ends in dots, with all elements closed.
// Complexity: linear in the text.
#include <math.h>
#include <string.h>

#include "ir/expr/expr_node.h"
#include "ir/expr/expr_pieces.h"
#include "ir/expr/expr_text.h"

enum { LENGTH_LIMIT = 1 << 16 };

#define MULTIPLY "<mo>\xE2\x8B\x85</mo>"
#define MINUS "<mo>\xE2\x88\x92</mo>"
#define OPEN "<mrow><mo>(</mo>"
#define CLOSE "<mo>)</mo></mrow>"
#define APPLY "<mo>\xE2\x81\xA1</mo>"

static Expr
argument(const Printer *printer, Expr e, uint32_t i)
{
    return cell_args(printer->exprs, e)[i];
}

// `before` and `after` stand around the arguments, `between` between them.
static void
push_list(Printer *printer, Expr e, uint32_t first, const char *before, const char *between, const char *after,
          Precedence level)
{
    push_text(printer, after);
    for (uint32_t i = cell_n(printer->exprs, e); i-- > first;) {
        push_expr(printer, argument(printer, e, i), level);
        if (i > first)
            push_text(printer, between);
    }
    push_text(printer, before);
}

static void
push_sum(Printer *printer, Expr e)
{
    Expr leading = argument(printer, e, 0);
    uint32_t first = cell_op(printer->exprs, leading) == OP_CONST && prints_minus(printer->exprs, leading);
    push_text(printer, "</mrow>");
    if (first)
        vec_push(&printer->stack, (Piece){.e = leading, .level = LEVEL_SUM, .follows = true});
    for (uint32_t i = cell_n(printer->exprs, e); i-- > first;)
        vec_push(&printer->stack, (Piece){.e = argument(printer, e, i), .level = LEVEL_SUM, .follows = i > first});
    push_text(printer, "<mrow>");
}

// Cases, one line per condition; `else if` goes on in the same brace.
static void
push_choice(Printer *printer, Expr e)
{
    U32Vec chain = {0};
    for (; cell_op(printer->exprs, e) == OP_IF; e = argument(printer, e, 2))
        vec_push(&chain, e);
    push_text(printer, "</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>");
    push_expr(printer, e, LEVEL_CHOICE);
    push_text(printer, "<mtr><mtd>");
    while (chain.n) {
        Expr at = vec_pop(&chain);
        push_text(printer, "</mtd></mtr>");
        push_expr(printer, argument(printer, at, 0), LEVEL_CHOICE);
        push_text(printer, "</mtd><mtd><mtext>if\xC2\xA0</mtext>");
        push_expr(printer, argument(printer, at, 1), LEVEL_CHOICE);
        push_text(printer, "<mtr><mtd>");
    }
    push_text(printer, "<mrow><mo>{</mo><mtable displaystyle=\"true\" class=\"cases\">");
    vec_free(&chain);
}

static void
push_call(Printer *printer, Expr e)
{
    push_list(printer, e, 0, OPEN, "<mo>,</mo>", CLOSE "</mrow>", LEVEL_CHOICE);
    push_text(printer, "</mi>" APPLY);
    push_text(printer, op_table[cell_op(printer->exprs, e)].text);
    push_text(printer, "<mrow><mi>");
}

// Operators that are written around their arguments; false for the others.
static bool
push_enclosed(Printer *printer, Expr e)
{
    static const char *const before[OP_COUNT] = {
        [OP_DIV] = "<mfrac><mrow>", [OP_SQRT] = "<msqrt>", [OP_EXP] = "<msup><mi>e</mi><mrow>",
        [OP_ABS] = "<mrow><mo>|</mo>", [OP_FLOOR] = "<mrow><mo>\xE2\x8C\x8A</mo>", [OP_CEIL] = "<mrow><mo>\xE2\x8C\x88</mo>",
    };
    static const char *const after[OP_COUNT] = {
        [OP_DIV] = "</mrow></mfrac>", [OP_SQRT] = "</msqrt>", [OP_EXP] = "</mrow></msup>",
        [OP_ABS] = "<mo>|</mo></mrow>", [OP_FLOOR] = "<mo>\xE2\x8C\x8B</mo></mrow>", [OP_CEIL] = "<mo>\xE2\x8C\x89</mo></mrow>",
    };
    Op op = cell_op(printer->exprs, e);
    if (!before[op])
        return false;
    push_list(printer, e, 0, before[op], "</mrow><mrow>", after[op], LEVEL_CHOICE);
    return true;
}

static void
push_operator(Printer *printer, Expr e)
{
    static const char *const compare[OP_COUNT] = {
        [OP_LT] = "<mo>&lt;</mo>", [OP_LE] = "<mo>\xE2\x89\xA4</mo>", [OP_GT] = "<mo>&gt;</mo>",
        [OP_GE] = "<mo>\xE2\x89\xA5</mo>", [OP_EQ] = "<mo>=</mo>", [OP_NE] = "<mo>\xE2\x89\xA0</mo>"};
    Op op = cell_op(printer->exprs, e);
    if (push_enclosed(printer, e))
        return;
    switch (op) {
    case OP_ADD:
        push_sum(printer, e);
        break;
    case OP_MUL:
        push_list(printer, e, 0, "<mrow>", MULTIPLY, "</mrow>", LEVEL_PRODUCT);
        break;
    case OP_POW:
        push_text(printer, "</mrow></msup>");
        push_expr(printer, argument(printer, e, 1), LEVEL_CHOICE);
        push_text(printer, "</mrow><mrow>");
        push_expr(printer, argument(printer, e, 0), LEVEL_ATOM);
        push_text(printer, "<msup><mrow>");
        break;
    case OP_AND:
        push_list(printer, e, 0, "<mrow>", "<mo>\xE2\x88\xA7</mo>", "</mrow>", LEVEL_NOT);
        break;
    case OP_OR:
        push_list(printer, e, 0, "<mrow>", "<mo>\xE2\x88\xA8</mo>", "</mrow>", LEVEL_AND);
        break;
    case OP_NOT:
        push_list(printer, e, 0, "<mrow><mo>\xC2\xAC</mo>", "", "</mrow>", LEVEL_ATOM);
        break;
    case OP_EQN:
        push_list(printer, e, 0, "<mrow>", "<mo>=</mo>", "</mrow>", LEVEL_OR);
        break;
    case OP_IF:
        push_choice(printer, e);
        break;
    default:
        if (compare[op])
            push_list(printer, e, 0, "<mrow>", compare[op], "</mrow>", LEVEL_SUM);
        else
            push_call(printer, e);
    }
}

// A number >= 0; multiples of pi by name, powers of ten raised.
static void
print_number(Out *out, double value)
{
    Out text = {0};
    expr_told_number(&text, value);
    char *exponent = strchr(text.text, 'e');
    if (value == M_PI) {
        out_text(out, "<mi>\xCF\x80</mi>");
    } else if (value == 2 * M_PI) {
        out_text(out, "<mrow><mn>2</mn><mi>\xCF\x80</mi></mrow>");
    } else if (isinf(value)) {
        out_text(out, "<mi>\xE2\x88\x9E</mi>");
    } else if (!exponent) {
        out_printf(out, "<mn>%s</mn>", text.text);
    } else {
        *exponent = '\0';
        int power = 0;
        sscanf(exponent + 1, "%d", &power);
        if (strcmp(text.text, "1"))
            out_printf(out, "<mrow><mn>%s</mn>" MULTIPLY, text.text);
        out_text(out, "<msup><mn>10</mn><mrow>");
        out_printf(out, power < 0 ? MINUS "<mn>%d</mn></mrow></msup>" : "<mn>%d</mn></mrow></msup>", power < 0 ? -power : power);
        if (strcmp(text.text, "1"))
            out_text(out, "</mrow>");
    }
    out_free(&text);
}

static void
print_leaf(Printer *printer, Expr e)
{
    Op op = cell_op(printer->exprs, e);
    if (op == OP_CONST)
        print_number(printer->out, expr_value(printer->exprs, e));
    else if (op == OP_TIME)
        out_text(printer->out, "<mi>t</mi>");
    else
        printer->slot(printer->out, expr_slot_of(printer->exprs, e), printer->context);
}

// What a minus sign stands before: e is negative by prints_minus.
static void
print_negated(Printer *printer, Expr e)
{
    const Exprs *exprs = printer->exprs;
    if (cell_op(exprs, e) == OP_NEG) {
        push_expr(printer, argument(printer, e, 0), LEVEL_PRODUCT);
    } else if (cell_op(exprs, e) == OP_CONST) {
        print_number(printer->out, -expr_value(exprs, e));
    } else {
        push_list(printer, e, 1, MULTIPLY, MULTIPLY, "", LEVEL_PRODUCT);
        print_number(printer->out, -expr_value(exprs, argument(printer, e, 0)));
    }
}

static void
print_piece(Printer *printer, Piece piece)
{
    const Exprs *exprs = printer->exprs;
    // A sum or a choice binds loosely; a fraction and a root show by themselves what belongs together.
    bool parentheses = expr_precedence(exprs, piece.e) < (Precedence)piece.level;
    bool minus = prints_minus(exprs, piece.e);
    if (cell_op(exprs, piece.e) == OP_IF && piece.level <= LEVEL_SUM)
        parentheses = piece.follows;
    if (piece.follows)
        out_text(printer->out, minus && !parentheses ? MINUS : "<mo>+</mo>");
    if (parentheses) {
        out_text(printer->out, OPEN);
        push_text(printer, CLOSE);
    }
    if (minus && (parentheses || !piece.follows)) { // in a row of its own it is a sign, not a difference
        out_text(printer->out, "<mrow>" MINUS);
        push_text(printer, "</mrow>");
    }
    if (minus)
        print_negated(printer, piece.e);
    else if (op_table[cell_op(exprs, piece.e)].kind == OPKIND_LEAF)
        print_leaf(printer, piece.e);
    else
        push_operator(printer, piece.e);
}

void
expr_print_math(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out)
{
    Printer printer = {.exprs = exprs, .out = out, .slot = slot, .context = context};
    size_t begin = out->length;
    push_expr(&printer, e, LEVEL_CHOICE);
    while (printer.stack.n) {
        Piece piece = vec_pop(&printer.stack);
        if (piece.text)
            out_text(out, piece.text);
        else if (out->length - begin > LENGTH_LIMIT)
            out_text(out, "<mo>\xE2\x80\xA6</mo>");
        else
            print_piece(&printer, piece);
    }
    vec_free(&printer.stack);
}
