// expr_read.c: expressions as text: the reader.
//
// Purpose: flat models as text, and structural tests. Method: recursive descent along the precedence of Modelica with a limit on nesting.
// Contract: expr_text.h; what expr_text.c printed gives the same id. Complexity: linear in the text.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_text.h"
#include "runtime/model/template.h"

enum { NESTING_LIMIT = 256 };

typedef struct Reader {
    Exprs *exprs;
    const char *text;
    uint32_t at, error_at, depth;
    bool failed;
    const ExprReading *names; // NULL: slots only
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

static void
read_arguments(Reader *reader, U32Vec *args)
{
    expect(reader, "(");
    if (take(reader, ")"))
        return;
    do
        vec_push(args, read_choice(reader));
    while (take(reader, ","));
    expect(reader, ")");
}

static bool
is_number(const Exprs *exprs, Expr e)
{
    double value = expr_op(exprs, e) == OP_CONST ? expr_value(exprs, e) : -1;
    return value >= 0 && value < 1u << 30 && value == floor(value);
}

static bool
enough_arguments(const Exprs *exprs, Op op, const U32Vec *args)
{
    enum { TRANSPORTED = 5 }; // arguments before points and values
    if (op == OP_TRANSPORT)
        return args->n >= TRANSPORTED && args->n % 2 == 1 && is_number(exprs, args->at[0]) && expr_value(exprs, args->at[0]) <= 1;
    return op_table[op].arity < 0 ? args->n >= 2 : (int)args->n == op_table[op].arity;
}

static Expr
read_call(Reader *reader, Op op)
{
    U32Vec args = {0};
    read_arguments(reader, &args);
    if (!reader->failed && !enough_arguments(reader->exprs, op, &args))
        fail(reader);
    Expr result = reader->failed ? 0 : expr_make(reader->exprs, op, args.at, args.n);
    vec_free(&args);
    return result;
}

// index(site, subscript, size)
static Expr
read_index(Reader *reader)
{
    U32Vec args = {0};
    Expr result = 0;
    uint32_t site;
    read_arguments(reader, &args);
    bool good = !reader->failed && args.n == 3 && is_number(reader->exprs, args.at[0]) && is_number(reader->exprs, args.at[2]);
    if (good) {
        site = (uint32_t)expr_value(reader->exprs, args.at[0]);
        good = reader->names->site(&site, reader->names->context);
    }
    if (good) {
        args.at[0] = expr_const(reader->exprs, site);
        result = expr_make(reader->exprs, OP_INDEX, args.at, args.n);
    }
    vec_free(&args);
    return good ? result : fail(reader);
}

// text(template, values) and compare(text, text)
static Expr
read_text(Reader *reader, bool fills)
{
    U32Vec args = {0};
    read_arguments(reader, &args);
    bool good = !reader->failed && (fills ? args.n >= 2 && args.n <= MDL_FAILURE_VALUES + 1 : args.n == 2);
    const char *form = good && fills ? text_known(reader->exprs, args.at[0]) : NULL;
    Expr result = 0;
    good = good && (!fills || (form && template_places(form) == (int)args.n - 1));
    if (good)
        result = fills ? text_fill(reader->exprs, form, args.at + 1, args.n - 1) : text_order(reader->exprs, args.at[0], args.at[1]);
    vec_free(&args);
    return good ? result : fail(reader);
}

// name(arguments)[result]
static Expr
read_routine(Reader *reader, uint32_t number)
{
    const Routine *routine = routine_of(reader->exprs, number);
    U32Vec args = {0};
    uint32_t result = 1;
    read_arguments(reader, &args);
    if (routine->outputs > 1 && expect(reader, "[")) {
        Expr which = read_choice(reader);
        expect(reader, "]");
        result = !reader->failed && is_number(reader->exprs, which) ? (uint32_t)expr_value(reader->exprs, which) : 0;
    }
    bool good = !reader->failed && args.n == routine->inputs && result >= 1 && result <= routine->outputs;
    if (good && routine_notes(routine)) {
        uint32_t site = is_number(reader->exprs, args.at[0]) ? (uint32_t)expr_value(reader->exprs, args.at[0]) : 0;
        good = site && reader->names->site(&site, reader->names->context);
        args.at[0] = expr_const(reader->exprs, site + 1.0);
    }
    Expr value = good ? routine_result(reader->exprs, routine_call(reader->exprs, number, args.at, args.n), result - 1) : 0;
    vec_free(&args);
    return good ? value : fail(reader);
}

static bool
is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(text, word, length);
}

bool
expr_word(const char *name, size_t length)
{
    static const char *const words[] = {"if", "then", "else", "and", "or", "not", "time", "inf", "nan", "der", "pre", "index", "pick",
                                        "text", "compare"};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(name, length, words[i]))
            return true;
    return call_operator(name, length) != OP_COUNT;
}

// What stands only in texts of whole models: calls of routines, and subscripts that are computed. False when this is none of it.
static bool
read_model_call(Reader *reader, uint32_t length, Expr *out)
{
    const char *here = reader->text + reader->at;
    uint32_t number, named = reader->names->routine(here, &number, reader->names->context);
    bool call = length && here[length] == '(', fills = call && is_word(here, length, "text");
    if (!named && !(call && (fills || is_word(here, length, "compare") || is_word(here, length, "index") || is_word(here, length, "pick"))))
        return false;
    reader->at += named ? named : length;
    *out = named ? read_routine(reader, number) : is_word(here, length, "index") ? read_index(reader)
         : is_word(here, length, "pick") ? read_call(reader, OP_PICK) : read_text(reader, fills);
    return true;
}

static Expr
read_word(Reader *reader)
{
    const char *here = reader->text + reader->at;
    uint32_t length = 0, slot;
    Expr call;
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
    if (reader->names && reader->names->routine && read_model_call(reader, length, &call))
        return call;
    length = reader->names && reader->names->name ? reader->names->name(here, &slot, reader->names->context) : 0;
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
    bool named = reader->names && reader->names->name; // slots are given to names: none has a number
    if (named || !isdigit((unsigned char)reader->text[++reader->at]))
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
expr_read_names(Exprs *exprs, const char *text, const ExprReading *names, uint32_t *error_at)
{
    Reader reader = {.exprs = exprs, .text = text, .names = names};
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
    return expr_read_names(exprs, text, NULL, error_at);
}
