// expr_text.c: expressions as text: the printer.
//
// Purpose: messages, `mdlc show`, and structural tests on text.
// Method: a stack of pending pieces.
// Contract: expr_text.h; reading what was printed (expr_read.c) gives the same id. Text longer than PRINT_LIMIT (shared parts
// are repeated in text) is cut with "...", which the reader refuses.
// Complexity: linear in the text.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr_node.h"
#include "ir/expr/expr_pieces.h"
#include "ir/expr/expr_text.h"

enum { PRINT_LIMIT = 1 << 20 };

Precedence
expr_precedence(const Exprs *exprs, Expr e)
{
    Op op = cell_op(exprs, e);
    switch (op) {
    case OP_IF: return LEVEL_CHOICE;
    case OP_OR: return LEVEL_OR;
    case OP_AND: return LEVEL_AND;
    case OP_NOT: return LEVEL_NOT;
    case OP_ADD:
    case OP_NEG: return LEVEL_SUM;
    case OP_DIV: return LEVEL_PRODUCT;
    case OP_POW: return LEVEL_POWER;
    case OP_MUL: {
        Expr first = cell_args(exprs, e)[0];
        return cell_op(exprs, first) == OP_CONST && expr_value(exprs, first) < 0 ? LEVEL_SUM : LEVEL_PRODUCT;
    }
    case OP_CONST: return expr_value(exprs, e) < 0 ? LEVEL_SUM : LEVEL_ATOM;
    case OP_EQN: return LEVEL_CHOICE;
    default: return op_table[op].kind == OPKIND_COMPARE ? LEVEL_COMPARE : LEVEL_ATOM;
    }
}

// Arguments from the last to the first with `between` between them.
static void
push_list(Printer *printer, Expr e, const char *between, Precedence first, Precedence others)
{
    for (uint32_t i = cell_n(printer->exprs, e); i-- > 0;) {
        push_expr(printer, cell_args(printer->exprs, e)[i], i ? others : first);
        if (i)
            push_text(printer, between);
    }
}

// A negative leading constant goes to the end: "x - 1".
static void
push_sum(Printer *printer, Expr e)
{
    const Expr *args = cell_args(printer->exprs, e);
    uint32_t first = cell_op(printer->exprs, args[0]) == OP_CONST && prints_minus(printer->exprs, args[0]);
    if (first)
        vec_push(&printer->stack, (Piece){.e = args[0], .level = LEVEL_SUM, .follows = true});
    for (uint32_t i = cell_n(printer->exprs, e); i-- > first;)
        vec_push(&printer->stack, (Piece){.e = printer->writer ? args[i] : cell_shown(printer->exprs, args[i]), .level = LEVEL_SUM, .follows = i > first});
}

static void
push_call(Printer *printer, Expr e)
{
    push_text(printer, ")");
    push_list(printer, e, ", ", LEVEL_CHOICE, LEVEL_CHOICE);
    push_text(printer, "(");
    push_text(printer, op_table[cell_op(printer->exprs, e)].text);
}

// What makes a text, and what compares two, belong to the language and not to a model: they have words.
static const char *
text_word(const Exprs *exprs, Expr call)
{
    uint32_t number = (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]), n = cell_n(exprs, call);
    if (number == exprs->text_order)
        return "compare";
    return n > 3 && n <= MDL_FAILURE_VALUES + 3 && number == exprs->text_fill[n - 3] ? "text" : NULL;
}

static void
push_text_value(Printer *printer, Expr e)
{
    const char *known = text_known((Exprs *)printer->exprs, e);
    if (known)
        vec_push(&printer->stack, (Piece){.text = known, .length = (uint32_t)strlen(known) + 1});
    else
        push_expr(printer, e, LEVEL_SUM);
}

static void
push_place(Printer *printer, const char *format, Expr value)
{
    if (*format == 's') {
        push_text_value(printer, value);
        return;
    }
    push_text(printer, ")");
    push_expr(printer, value, LEVEL_CHOICE);
    push_text(printer, "String(");
}

// For people: "a" + String(x) + s, from behind.
static void
push_filled(Printer *printer, Expr call)
{
    const char *form = text_known((Exprs *)printer->exprs, cell_args(printer->exprs, call)[1]), *end = form + strlen(form);
    uint32_t value = cell_n(printer->exprs, call);
    while (end > form) {
        const char *begin = end - 1;
        bool place = *begin == '\2';
        while (begin > form && (place ? *begin != '\1' : begin[-1] != '\2'))
            begin--;
        if (place)
            push_place(printer, begin + 1, cell_args(printer->exprs, call)[--value]);
        else
            vec_push(&printer->stack, (Piece){.text = begin, .length = (uint32_t)(end - begin) + 1});
        end = begin;
        if (end > form)
            push_text(printer, " + ");
    }
}

// For people: which of two texts stands first, as less than 0, 0 or more.
static void
push_order(Printer *printer, Expr call)
{
    push_text(printer, ")");
    push_text_value(printer, cell_args(printer->exprs, call)[2]);
    push_text(printer, ", ");
    push_text_value(printer, cell_args(printer->exprs, call)[1]);
    push_text(printer, "compare(");
}

// f(x), and f(x)[k] for further outputs: a routine is named by its number where its name does not tell it. What has no room is no argument of `text`.
static void
push_result(Printer *printer, Expr e)
{
    const Exprs *exprs = printer->exprs;
    Expr call = cell_args(exprs, e)[1];
    const char *word = text_word(exprs, call);
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]));
    if (word && !printer->writer) {
        if (routine->number == exprs->text_order)
            push_order(printer, call);
        else
            push_filled(printer, call);
        return;
    }
    if (routine->outputs > 1) {
        push_text(printer, "]");
        push_expr(printer, cell_args(exprs, e)[0], LEVEL_CHOICE);
        push_text(printer, "[");
    }
    push_text(printer, ")");
    for (uint32_t i = cell_n(exprs, call); i-- > 1;) {
        if (i == 2 && word && routine->number != exprs->text_order)
            continue;
        if (i == 1 && printer->writer && !word && routine_notes(routine))
            vec_push(&printer->stack, (Piece){.e = cell_args(exprs, call)[i], .failure = true});
        else
            push_expr(printer, cell_args(exprs, call)[i], LEVEL_CHOICE);
        if (i > 1)
            push_text(printer, ", ");
    }
    push_text(printer, "(");
    if (printer->writer && !word)
        vec_push(&printer->stack, (Piece){.e = call, .routine = true});
    else
        push_text(printer, word ? word : routine->name);
}

// index(site, subscript, size)
static void
push_index(Printer *printer, Expr e)
{
    push_text(printer, ")");
    push_expr(printer, cell_args(printer->exprs, e)[2], LEVEL_CHOICE);
    push_text(printer, ", ");
    push_expr(printer, cell_args(printer->exprs, e)[1], LEVEL_CHOICE);
    push_text(printer, ", ");
    vec_push(&printer->stack, (Piece){.e = cell_args(printer->exprs, e)[0], .site = true});
    push_text(printer, "index(");
}

// {a, b, c}[i]
static void
push_pick(Printer *printer, Expr e)
{
    const Exprs *exprs = printer->exprs;
    Expr position = cell_args(exprs, e)[0];
    bool plain = cell_op(exprs, position) == OP_INDEX;
    push_text(printer, plain ? "]" : " + 1]");
    push_expr(printer, plain ? cell_args(exprs, position)[1] : position, LEVEL_SUM);
    push_text(printer, "}[");
    for (uint32_t i = cell_n(exprs, e); i-- > 1;) {
        push_expr(printer, cell_args(exprs, e)[i], LEVEL_CHOICE);
        push_text(printer, i > 1 ? ", " : "{");
    }
}

static void
push_choice(Printer *printer, Expr e)
{
    const Expr *args = cell_args(printer->exprs, e);
    push_expr(printer, args[2], LEVEL_CHOICE);
    push_text(printer, " else ");
    push_expr(printer, args[1], LEVEL_CHOICE);
    push_text(printer, " then ");
    push_expr(printer, args[0], LEVEL_CHOICE);
    push_text(printer, "if ");
}

static void
push_operator(Printer *printer, Expr e)
{
    static const char *const between[OP_COUNT] = {
        [OP_LT] = " < ", [OP_LE] = " <= ", [OP_GT] = " > ", [OP_GE] = " >= ", [OP_EQ] = " == ", [OP_NE] = " <> "};
    Op op = cell_op(printer->exprs, e);
    switch (op) {
    case OP_ADD:
        push_sum(printer, e);
        break;
    case OP_MUL:
        push_list(printer, e, "*", LEVEL_PRODUCT, LEVEL_POWER);
        break;
    case OP_DIV:
        push_list(printer, e, "/", LEVEL_PRODUCT, LEVEL_POWER);
        break;
    case OP_POW:
        push_list(printer, e, "^", LEVEL_ATOM, LEVEL_ATOM);
        break;
    case OP_AND:
        push_list(printer, e, " and ", LEVEL_NOT, LEVEL_NOT);
        break;
    case OP_OR:
        push_list(printer, e, " or ", LEVEL_AND, LEVEL_AND);
        break;
    case OP_EQN:
        push_list(printer, e, " = ", LEVEL_OR, LEVEL_CHOICE);
        break;
    case OP_NOT:
        push_expr(printer, cell_args(printer->exprs, e)[0], LEVEL_COMPARE);
        push_text(printer, "not ");
        break;
    case OP_IF:
        push_choice(printer, e);
        break;
    case OP_RESULT:
        push_result(printer, e);
        break;
    case OP_PICK:
        if (printer->writer)
            push_call(printer, e);
        else
            push_pick(printer, e);
        break;
    case OP_INDEX:
        if (printer->writer) {
            push_index(printer, e);
            break;
        }
        push_text(printer, " - 1)");
        push_expr(printer, cell_args(printer->exprs, e)[1], LEVEL_SUM);
        push_text(printer, "(");
        break;
    default:
        if (op_table[op].kind == OPKIND_COMPARE)
            push_list(printer, e, between[op], LEVEL_SUM, LEVEL_SUM);
        else
            push_call(printer, e);
    }
}

void
expr_told_number(Out *out, double value)
{
    enum { DIGITS = 12, ROUNDINGS = 4 }; // what needs more digits (2*pi) is no number that somebody has written
    char text[40];
    double near = value;
    snprintf(text, sizeof text, "%.*g", DIGITS, value);
    if (isfinite(value) && fabs(strtod(text, NULL) - value) <= ROUNDINGS * DBL_EPSILON * fabs(value))
        near = strtod(text, NULL);
    out_number(out, near);
}

// What is not read again is told without the last digits of rounding.
static void
print_constant(Printer *printer, double value)
{
    if (printer->slot && !printer->writer)
        expr_told_number(printer->out, value);
    else
        out_number(printer->out, value);
}

static void
print_leaf(Printer *printer, Expr e)
{
    Op op = cell_op(printer->exprs, e);
    if (op == OP_CONST)
        print_constant(printer, expr_value(printer->exprs, e));
    else if (op == OP_TIME)
        out_text(printer->out, "time");
    else if (printer->slot)
        printer->slot(printer->out, expr_slot_of(printer->exprs, e), printer->context);
    else
        out_printf(printer->out, "#%u", expr_slot_of(printer->exprs, e));
}

// What a minus sign stands before: the text of -e.
static void
print_minus(Printer *printer, Expr e)
{
    const Exprs *exprs = printer->exprs;
    const Expr *args = cell_args(exprs, e);
    if (cell_op(exprs, e) == OP_NEG) {
        push_expr(printer, args[0], LEVEL_PRODUCT);
    } else if (cell_op(exprs, e) == OP_CONST) {
        print_constant(printer, -expr_value(exprs, e));
    } else { // a product with a negative constant
        for (uint32_t i = cell_n(exprs, e); i-- > 1;) {
            push_expr(printer, args[i], LEVEL_POWER);
            push_text(printer, "*");
        }
        print_constant(printer, -expr_value(exprs, args[0]));
    }
}

static void
print_literal(Out *out, const char *text, uint32_t length)
{
    out_char(out, '"');
    for (uint32_t i = 0; i < length; i++)
        if (text[i] == '\n')
            out_text(out, "\\n");
        else if (text[i] == '"' || text[i] == '\\')
            out_printf(out, "\\%c", text[i]);
        else
            out_char(out, text[i]);
    out_char(out, '"');
}

static void
print_piece(Printer *printer, Piece piece)
{
    const Exprs *exprs = printer->exprs;
    if (piece.length) {
        print_literal(printer->out, piece.text, piece.length - 1);
        return;
    }
    if (piece.text) {
        out_text(printer->out, piece.text);
        return;
    }
    if (piece.routine || piece.site || piece.failure) {
        uint32_t number = (uint32_t)expr_value(exprs, piece.routine ? cell_args(exprs, piece.e)[0] : piece.e);
        if (!piece.routine)
            out_unsigned(printer->out, printer->writer->site(number - piece.failure, printer->context));
        else
            printer->writer->routine(printer->out, number, printer->context);
        return;
    }
    bool parentheses = expr_precedence(exprs, piece.e) < (Precedence)piece.level;
    bool minus = prints_minus(exprs, piece.e);
    if (piece.follows)
        out_text(printer->out, minus && !parentheses ? " - " : " + ");
    else if (minus && !parentheses)
        out_char(printer->out, '-');
    if (parentheses) {
        out_text(printer->out, minus ? "(-" : "(");
        push_text(printer, ")");
    }
    if (minus)
        print_minus(printer, piece.e);
    else if (op_table[cell_op(exprs, piece.e)].kind == OPKIND_LEAF)
        print_leaf(printer, piece.e);
    else
        push_operator(printer, piece.e);
}

static void
print(Printer *printer, Expr e)
{
    Out *out = printer->out;
    size_t begin = out->length;
    if (!e) {
        out_text(out, "<none>");
        return;
    }
    push_expr(printer, e, LEVEL_CHOICE);
    while (printer->stack.n) {
        Piece piece = vec_pop(&printer->stack);
        print_piece(printer, piece);
        if (out->length - begin > PRINT_LIMIT) {
            out_text(out, "...");
            break;
        }
    }
    vec_free(&printer->stack);
}

void
expr_print(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out)
{
    Printer printer = {.exprs = exprs, .out = out, .slot = slot, .context = context};
    print(&printer, e);
}

void
expr_write(const Exprs *exprs, Expr e, const ExprWriter *writer, Out *out)
{
    Printer printer = {.exprs = exprs, .out = out, .slot = writer->slot, .context = writer->context, .writer = writer};
    print(&printer, e);
}
