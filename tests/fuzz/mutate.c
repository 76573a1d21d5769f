// Changes of a text by tokens and statements.
//
// Method: a token is a run of letters and digits, a string, or one character; a statement ends behind a semicolon. A token is exchanged
// for one of its kind from elsewhere in the text (a name for a name), so that most results still parse and what is wrong with them is
// found later. Complexity: linear in the text.
#include "tests/fuzz/mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef enum TokenKind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_OTHER } TokenKind;

typedef struct Token {
    size_t at, size;
    TokenKind kind;
} Token;

size_t
mutate_random(uint64_t *state, size_t below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)((*state * 0x2545f4914f6cdd1dull >> 11) % below);
}

static bool
is_letter(uint8_t c)
{
    return isalnum(c) || c == '_';
}

// The token at or behind `at`; size 0 at the end.
static Token
token_at(const uint8_t *data, size_t size, size_t at)
{
    while (at < size && isspace(data[at]))
        at++;
    if (at >= size)
        return (Token){size, 0, TOKEN_OTHER};
    size_t end = at + 1;
    if (data[at] == '"') {
        while (end < size && data[end] != '"')
            end += data[end] == '\\' && end + 1 < size ? 2 : 1;
        return (Token){at, (end < size ? end + 1 : size) - at, TOKEN_STRING};
    }
    if (!is_letter(data[at]))
        return (Token){at, 1, TOKEN_OTHER};
    bool number = isdigit(data[at]);
    while (end < size && (is_letter(data[end]) || (number && data[end] == '.')))
        end++;
    return (Token){at, end - at, number ? TOKEN_NUMBER : TOKEN_NAME};
}

// A token near a place that is chosen, by going back to where one begins.
static Token
any_token(const uint8_t *data, size_t size, uint64_t *state)
{
    size_t at = mutate_random(state, size);
    while (at && is_letter(data[at]) && is_letter(data[at - 1]))
        at--;
    return token_at(data, size, at);
}

static Token
token_of_kind(const uint8_t *data, size_t size, TokenKind kind, uint64_t *state)
{
    Token token = {0};
    for (int i = 0; i < 20 && (!token.size || token.kind != kind); i++)
        token = any_token(data, size, state);
    return token;
}

// From behind a semicolon up to behind the next one.
static Token
any_statement(const uint8_t *data, size_t size, uint64_t *state)
{
    size_t at = mutate_random(state, size), end = at;
    while (at && data[at - 1] != ';')
        at--;
    while (end < size && data[end] != ';')
        end++;
    return (Token){at, (end < size ? end + 1 : size) - at, TOKEN_OTHER};
}

// `cut` bytes at `at` make way for others, which do not stand in data; unchanged where there is no room.
static size_t
put(uint8_t *data, size_t size, size_t most, size_t at, size_t cut, const void *with, size_t length)
{
    if (size - cut + length > most)
        return size;
    memmove(data + at + length, data + at + cut, size - at - cut);
    if (length)
        memcpy(data + at, with, length);
    return size - cut + length;
}

// The same with a piece of data itself.
static size_t
put_own(uint8_t *data, size_t size, size_t most, size_t at, size_t cut, Token piece)
{
    uint8_t copy[400];
    if (piece.size > sizeof copy)
        return size;
    memcpy(copy, data + piece.at, piece.size);
    return put(data, size, most, at, cut, copy, piece.size);
}

static size_t
change_token(uint8_t *data, size_t size, size_t most, Token token, uint64_t *state)
{
    static const char *const numbers[] = {"0", "1", "2", "3", "0.5", "1e308", "1e-308", "2147483647", "9007199254740993", "100000", "7"};
    static const char *const signs[] = {"+", "-", "*", "/", "^", "=", ":=", "==", "<", ">=", "<>", ".*", "./", ".^", ",", ";", "(", ")", "[",
                                        "]", "{", "}", ".", ":", "not ", " and ", " or ", "each ", "final ", "-1*"};
    static const char *const names[] = {"time", "end", "der", "pre", "parameter", "constant", "input", "output", "flow", "stream", "inner", "outer",
                                        "redeclare", "replaceable", "extends", "connector", "function", "model", "record", "package", "Real",
                                        "Integer", "Boolean", "String", "if", "then", "else", "for", "loop", "when", "equation", "algorithm",
                                        "initial", "connect", "start", "fixed", "size", "sum", "zeros", "fill", "cat", "true", "inStream",
                                        "delay", "sample", "edge", "reinit", "smooth", "noEvent", "homotopy", "StateSelect", "partial"};
    const char *with = NULL;
    switch (token.kind) {
    case TOKEN_NUMBER: with = numbers[mutate_random(state, sizeof numbers / sizeof *numbers)]; break;
    case TOKEN_NAME: with = names[mutate_random(state, sizeof names / sizeof *names)]; break;
    case TOKEN_OTHER: with = signs[mutate_random(state, sizeof signs / sizeof *signs)]; break;
    case TOKEN_STRING: return put(data, size, most, token.at, token.size, "\"\"", 2);
    }
    return put(data, size, most, token.at, token.size, with, strlen(with));
}

size_t
mutate_tokens(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    if (!size)
        return size;
    Token token = any_token(data, size, state), other = token_of_kind(data, size, token.kind, state);
    Token from = any_statement(data, size, state), to = any_statement(data, size, state);
    switch (mutate_random(state, 10)) {
    case 0: return put(data, size, most, token.at, token.size, "", 0);
    case 1: return put_own(data, size, most, token.at, 0, token);
    case 2: return change_token(data, size, most, token, state);
    case 3: return put(data, size, most, from.at, from.size, "", 0);
    case 4:
    case 5: return put_own(data, size, most, to.at, 0, from);
    case 6: return put_own(data, size, most, to.at, to.size, from);
    default: return put_own(data, size, most, token.at, token.size, other);
    }
}

size_t
mutate_insert(uint8_t *data, size_t size, size_t most, const uint8_t *other, size_t other_size, uint64_t *state)
{
    if (!size || !other_size)
        return size;
    Token from = any_statement(other, other_size, state), to = any_statement(data, size, state);
    return put(data, size, most, to.at, 0, other + from.at, from.size);
}
