// Expressions as text: printer and reader.
//
// Purpose: messages, `mdlc show`, and structural tests on text.
// Method: the printer works from a stack of pending pieces; the reader is recursive descent along the
// precedence of Modelica with a limit on nesting.
// Contract: expr.h; reading what was printed gives the same id. Text longer than PRINT_LIMIT (shared parts
// are repeated in text) is cut with "...", which the reader refuses.
// Complexity: linear in the text.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr.h"
#include "ir/expr_inner.h"

enum { NESTING_LIMIT = 256, PRINT_LIMIT = 1 << 20 };

// --- printer

typedef struct Piece {
    const char *text;  // NULL: print `e`
    Expr e;
    uint8_t level;     // e needs parentheses when it binds looser than this
    bool follows;      // e is a term after others: " + e" or " - ..."
} Piece;

typedef struct Printer {
    const Exprs *exprs;
    Out *out;
    ExprSlotPrinter *slot;
    void *context;
    VEC(Piece) stack;
} Printer;

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

static void
push_text(Printer *printer, const char *text)
{
    vec_push(&printer->stack, (Piece){.text = text});
}

static void
push_expr(Printer *printer, Expr e, Precedence level)
{
    vec_push(&printer->stack, (Piece){.e = e, .level = (uint8_t)level});
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

static bool
prints_minus(const Exprs *exprs, Expr term)
{
    return expr_precedence(exprs, term) == LEVEL_SUM && cell_op(exprs, term) != OP_ADD;
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
        vec_push(&printer->stack, (Piece){.e = args[i], .level = LEVEL_SUM, .follows = i > first});
}

static void
push_call(Printer *printer, Expr e)
{
    push_text(printer, ")");
    push_list(printer, e, ", ", LEVEL_CHOICE, LEVEL_CHOICE);
    push_text(printer, "(");
    push_text(printer, op_table[cell_op(printer->exprs, e)].text);
}

// f(x), and f(x)[k] for further outputs: as calls are written, without their routine's number.
static void
push_result(Printer *printer, Expr e)
{
    const Exprs *exprs = printer->exprs;
    Expr call = cell_args(exprs, e)[1];
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]));
    if (routine->outputs > 1) {
        push_text(printer, "]");
        push_expr(printer, cell_args(exprs, e)[0], LEVEL_CHOICE);
        push_text(printer, "[");
    }
    push_text(printer, ")");
    for (uint32_t i = cell_n(exprs, call); i-- > 1;) {
        push_expr(printer, cell_args(exprs, call)[i], LEVEL_CHOICE);
        push_text(printer, i > 1 ? ", " : "(");
    }
    if (cell_n(exprs, call) == 1)
        push_text(printer, "(");
    push_text(printer, routine->name);
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
        push_pick(printer, e);
        break;
    case OP_INDEX:
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

static void
print_leaf(Printer *printer, Expr e)
{
    Op op = cell_op(printer->exprs, e);
    if (op == OP_CONST)
        out_number(printer->out, expr_value(printer->exprs, e));
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
        out_number(printer->out, -expr_value(exprs, e));
    } else { // a product with a negative constant
        for (uint32_t i = cell_n(exprs, e); i-- > 1;) {
            push_expr(printer, args[i], LEVEL_POWER);
            push_text(printer, "*");
        }
        out_number(printer->out, -expr_value(exprs, args[0]));
    }
}

static void
print_piece(Printer *printer, Piece piece)
{
    const Exprs *exprs = printer->exprs;
    if (piece.text) {
        out_text(printer->out, piece.text);
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

void
expr_print(const Exprs *exprs, Expr e, ExprSlotPrinter *slot, void *context, Out *out)
{
    Printer printer = {.exprs = exprs, .out = out, .slot = slot, .context = context};
    size_t begin = out->length;
    if (!e) {
        out_text(out, "<none>");
        return;
    }
    push_expr(&printer, e, LEVEL_CHOICE);
    while (printer.stack.n) {
        Piece piece = vec_pop(&printer.stack);
        print_piece(&printer, piece);
        if (out->length - begin > PRINT_LIMIT) {
            out_text(out, "...");
            break;
        }
    }
    vec_free(&printer.stack);
}

// --- reader

typedef struct Reader {
    Exprs *exprs;
    const char *text;
    uint32_t at, error_at, depth;
    bool failed;
    ExprNameReader *name;
    void *context;
} Reader;

static Expr read_choice(Reader *reader);

static Expr
fail(Reader *reader)
{
    if (!reader->failed)
        reader->error_at = reader->at;
    reader->failed = true;
    return 0;
}

static void
skip_blanks(Reader *reader)
{
    while (isspace((unsigned char)reader->text[reader->at]))
        reader->at++;
}

static bool
word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Takes a symbol or, when it is made of letters, a whole word.
static bool
take(Reader *reader, const char *symbol)
{
    skip_blanks(reader);
    size_t n = strlen(symbol);
    const char *here = reader->text + reader->at;
    if (reader->failed || strncmp(here, symbol, n) || (word_char(symbol[0]) && word_char(here[n])))
        return false;
    reader->at += (uint32_t)n;
    return true;
}

static bool
expect(Reader *reader, const char *symbol)
{
    if (take(reader, symbol))
        return true;
    fail(reader);
    return false;
}

static Expr
finish(Reader *reader, Op op, U32Vec *args)
{
    Expr result = 0;
    if (!reader->failed)
        result = args->n == 1 ? args->at[0] : expr_make(reader->exprs, op, args->at, args->n);
    vec_free(args);
    return result;
}

// The operator of that many arguments written as a call of `name`, or OP_COUNT.
static Op
call_operator(const char *name, size_t length)
{
    for (Op op = 0; op < OP_COUNT; op++) {
        OpKind kind = (OpKind)op_table[op].kind;
        bool call = op != OP_IF && op != OP_EQN
                    && (kind == OPKIND_CHOICE || kind == OPKIND_MATH || kind == OPKIND_MODEL);
        if (call && strlen(op_table[op].text) == length && !strncmp(op_table[op].text, name, length))
            return op;
    }
    return OP_COUNT;
}

static Expr
read_call(Reader *reader, Op op)
{
    U32Vec args = {0};
    expect(reader, "(");
    if (!take(reader, ")")) {
        do
            vec_push(&args, read_choice(reader));
        while (take(reader, ","));
        expect(reader, ")");
    }
    if (!reader->failed && (int)args.n != op_table[op].arity)
        fail(reader);
    Expr result = reader->failed ? 0 : expr_make(reader->exprs, op, args.at, args.n);
    vec_free(&args);
    return result;
}

static Expr
read_word(Reader *reader)
{
    const char *here = reader->text + reader->at;
    uint32_t length = 0, slot;
    while (word_char(here[length]))
        length++;
    if (length == 4 && !strncmp(here, "time", 4) && here[4] != '.') {
        reader->at += 4;
        return expr_time(reader->exprs);
    }
    if (length == 3 && (!strncmp(here, "inf", 3) || !strncmp(here, "nan", 3)) && here[3] != '.') {
        reader->at += 3;
        return expr_const(reader->exprs, here[0] == 'i' ? INFINITY : NAN);
    }
    Op op = length && here[length] == '(' ? call_operator(here, length) : OP_COUNT;
    if (op < OP_COUNT) {
        reader->at += length;
        return read_call(reader, op);
    }
    length = reader->name ? reader->name(here, &slot, reader->context) : 0;
    if (!length)
        return fail(reader);
    reader->at += length;
    return expr_slot(reader->exprs, slot);
}

static Expr
read_number(Reader *reader)
{
    char *end;
    double value = strtod(reader->text + reader->at, &end);
    if (end == reader->text + reader->at)
        return fail(reader);
    reader->at = (uint32_t)(end - reader->text);
    return expr_const(reader->exprs, value);
}

static Expr
read_slot(Reader *reader)
{
    char *end;
    if (!isdigit((unsigned char)reader->text[++reader->at]))
        return fail(reader);
    unsigned long slot = strtoul(reader->text + reader->at, &end, 10);
    if (slot >= 1u << 24)
        return fail(reader);
    reader->at = (uint32_t)(end - reader->text);
    return expr_slot(reader->exprs, (uint32_t)slot);
}

static Expr
read_atom(Reader *reader)
{
    if (reader->failed)
        return 0;
    if (take(reader, "(")) {
        Expr inside = read_choice(reader);
        expect(reader, ")");
        return inside;
    }
    skip_blanks(reader);
    char c = reader->text[reader->at];
    if (isdigit((unsigned char)c) || c == '.')
        return read_number(reader);
    return c == '#' ? read_slot(reader) : read_word(reader);
}

static Expr
read_power(Reader *reader)
{
    Expr base = read_atom(reader);
    if (!take(reader, "^"))
        return base;
    Expr exponent = read_atom(reader);
    return reader->failed ? 0 : expr_2(reader->exprs, OP_POW, base, exponent);
}

static Expr
read_product(Reader *reader)
{
    U32Vec factors = {0};
    vec_push(&factors, read_power(reader));
    for (;;) {
        if (take(reader, "*")) {
            vec_push(&factors, read_power(reader));
        } else if (take(reader, "/")) {
            Expr over = finish(reader, OP_MUL, &factors), under = read_power(reader);
            vec_push(&factors, reader->failed ? 0 : expr_2(reader->exprs, OP_DIV, over, under));
        } else {
            return finish(reader, OP_MUL, &factors);
        }
    }
}

static Expr
read_sum(Reader *reader)
{
    U32Vec terms = {0};
    bool minus = take(reader, "-");
    do {
        Expr term = read_product(reader);
        vec_push(&terms, minus && !reader->failed ? expr_1(reader->exprs, OP_NEG, term) : term);
        minus = take(reader, "-");
    } while (minus || take(reader, "+"));
    return finish(reader, OP_ADD, &terms);
}

static Expr
read_compare(Reader *reader)
{
    static const Op ops[] = {OP_LE, OP_GE, OP_NE, OP_EQ, OP_LT, OP_GT}; // longer symbols first
    Expr left = read_sum(reader);
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        if (!take(reader, op_table[ops[i]].text))
            continue;
        Expr right = read_sum(reader);
        return reader->failed ? 0 : expr_2(reader->exprs, ops[i], left, right);
    }
    return left;
}

static Expr
read_and(Reader *reader)
{
    U32Vec args = {0};
    do {
        bool negated = take(reader, "not");
        Expr arg = read_compare(reader);
        vec_push(&args, negated && !reader->failed ? expr_1(reader->exprs, OP_NOT, arg) : arg);
    } while (take(reader, "and"));
    return finish(reader, OP_AND, &args);
}

static Expr
read_or(Reader *reader)
{
    U32Vec args = {0};
    do
        vec_push(&args, read_and(reader));
    while (take(reader, "or"));
    return finish(reader, OP_OR, &args);
}

static Expr
read_choice(Reader *reader)
{
    Expr result = 0;
    if (++reader->depth > NESTING_LIMIT || reader->failed)
        return fail(reader);
    if (!take(reader, "if")) {
        result = read_or(reader);
    } else {
        Expr when = read_choice(reader), yes = expect(reader, "then") ? read_choice(reader) : 0;
        Expr no = expect(reader, "else") ? read_choice(reader) : 0;
        result = reader->failed ? 0 : expr_3(reader->exprs, OP_IF, when, yes, no);
    }
    reader->depth--;
    return result;
}

Expr
expr_read_names(Exprs *exprs, const char *text, ExprNameReader *name, void *context, uint32_t *error_at)
{
    Reader reader = {.exprs = exprs, .text = text, .name = name, .context = context};
    Expr result = read_choice(&reader);
    if (take(&reader, "=")) {
        Expr right = read_choice(&reader);
        result = reader.failed ? 0 : expr_2(exprs, OP_EQN, result, right);
    }
    skip_blanks(&reader);
    if (text[reader.at])
        fail(&reader);
    if (error_at)
        *error_at = reader.error_at;
    return reader.failed ? 0 : result;
}

Expr
expr_read(Exprs *exprs, const char *text, uint32_t *error_at)
{
    return expr_read_names(exprs, text, NULL, NULL, error_at);
}
