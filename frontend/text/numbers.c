// numbers.c: long arrays of nothing but numbers: [1, 2; 3, 4], {1, 2}, {{1, 2}, {3, 4}}.
//
// Purpose: a table of 100,000 rows is one node of the tree and one block of numbers instead of a million tokens, nodes and children.
// Method: the scanner asks at each opening bracket whether what follows is such an array, to its closing bracket. Anything else - a name, an
// operator, rows of different lengths, a number that needs a message, fewer than LEAST_NUMBERS - is left to the grammar, which says what is wrong.
// Decimal digits with at most 15 of them and a power of ten up to 22 convert exactly with one multiplication or division (W. D. Clinger,
// "How to read floating point numbers accurately", 1990); the rest goes to strtod.
// Contract: syntax.h. Complexity: linear in the text of the array; an array inside another is looked at twice.
#include <math.h>
#include <string.h>

#include "frontend/text/syntax.h"

enum { LEAST_NUMBERS = 64, EXACT_DIGITS = 15, EXACT_POWER = 22 };

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

double
number_read(const char *text, const char **behind, bool *integer)
{
    static const double tens[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t digits = 0;
    int count = 0, power = 0;
    bool point = false;
    const char *at = text;
    for (; is_digit(*at) || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (++count <= EXACT_DIGITS)
            digits = digits * 10 + (uint64_t)(*at - '0');
        power -= point;
    }
    *integer = !point;
    if (count && (*at == 'e' || *at == 'E')) {
        const char *from = at + 1 + (at[1] == '-' || at[1] == '+');
        int exponent = 0;
        for (at = from; is_digit(*at); at++)
            exponent = exponent < 1000 ? exponent * 10 + *at - '0' : exponent;
        count = at == from ? 0 : count;
        power += from[-1] == '-' ? -exponent : exponent;
        *integer = false;
    }
    *behind = count ? at : text;
    if (!count)
        return NAN;
    if (count > EXACT_DIGITS || power > EXACT_POWER || power < -EXACT_POWER)
        return strtod(text, NULL);
    return power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
}

// Over spaces and comments; NULL: a comment has no end.
static const char *
skip_spaces(const char *at)
{
    for (;; at++) {
        if (*at == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
            at -= !*at;
        } else if (*at == '/' && at[1] == '*') {
            at = strstr(at + 2, "*/");
            if (!at++)
                return NULL;
        } else if (*at != ' ' && (*at < '\t' || *at > '\r')) {
            return at;
        }
    }
}

// A number with its sign; NULL: there is something else, or a number that needs a message.
static const char *
signed_number(const char *at, NumberBlock *block, F64Vec *values)
{
    bool negative = *at == '-', integer;
    if ((negative || *at == '+') && !(at = skip_spaces(at + 1)))
        return NULL;
    const char *behind;
    double value = number_read(at, &behind, &integer);
    if (!isfinite(value) || (integer && value >= LARGEST_INTEGER))
        return NULL;
    block->integer &= integer;
    vec_push(values, negative ? -value : value);
    return skip_spaces(behind);
}

// Numbers between commas; behind them, where neither a comma nor a number stands.
static const char *
row_of_numbers(const char *at, NumberBlock *block, F64Vec *values)
{
    for (;;) {
        if (!(at = skip_spaces(at)) || !(at = signed_number(at, block, values)) || *at != ',')
            return at;
        at++;
    }
}

// As {1, 2} or {{1, 2}, {3, 4}} behind the first bracket: where the last one closes, or NULL.
static const char *
braces(const char *at, NumberBlock *block, F64Vec *values)
{
    if (!(at = skip_spaces(at)))
        return NULL;
    if (*at != '{') {
        at = row_of_numbers(at, block, values);
        block->rank = 1;
        block->rows = values->n - block->first;
        block->columns = 1;
        return at && *at == '}' ? at : NULL;
    }
    block->rank = 2;
    for (; at && *at == '{'; at = skip_spaces(at + 1)) {
        uint32_t from = values->n;
        if (!(at = row_of_numbers(at + 1, block, values)) || *at != '}')
            return NULL;
        block->columns = block->rows++ ? block->columns : values->n - from;
        if (values->n - from != block->columns || !(at = skip_spaces(at + 1)) || *at == '}')
            return at && *at == '}' && values->n - from == block->columns ? at : NULL;
        if (*at != ',')
            return NULL;
    }
    return NULL;
}

// As [1, 2; 3, 4] behind the first bracket. One row alone may be subscripts.
static const char *
brackets(const char *at, NumberBlock *block, F64Vec *values)
{
    block->rank = 2;
    for (;;) {
        uint32_t from = values->n;
        if (!(at = row_of_numbers(at, block, values)))
            return NULL;
        block->columns = block->rows++ ? block->columns : values->n - from;
        if (values->n - from != block->columns || (*at != ';' && *at != ']'))
            return NULL;
        if (*at == ']')
            return block->rows > 1 ? at : NULL;
        at++;
    }
}

const char *
numbers_scan(Parser *p, const char *open, Sym *made)
{
    Ast *ast = p->ast;
    NumberBlock block = {.first = ast->values.n, .integer = true};
    if (p->record || p->recovering)
        return NULL;
    const char *close = *open == '[' ? brackets(open + 1, &block, &ast->values) : braces(open + 1, &block, &ast->values);
    if (!close || ast->values.n - block.first < LEAST_NUMBERS) {
        ast->values.n = block.first;
        return NULL;
    }
    *made = ast->number_blocks.n;
    vec_push(&ast->number_blocks, block);
    return close + 1;
}
