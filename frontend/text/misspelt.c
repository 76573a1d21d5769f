// misspelt.c: words that were meant as keywords.
//
// Purpose: `Model M`, `equations`, `elsif x then`, `AND`, `endif;` are read as what they mean, with one message at the
// word, instead of a series of messages about everything that follows. Method: an identifier that is spelt like a keyword
// but for capitals, or as another language spells it, is taken for it only where no identifier can stand, so that no
// correct text is touched. How a word is meant is found once per symbol.
// Contract: syntax.h. Complexity: O(1) per identifier; O(LONGEST_CONDITION) for one that begins a condition in parentheses.
#include <ctype.h>
#include <string.h>

#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

enum { LONGEST_WORD = 16, LONGEST_CONDITION = 1000 };

// What `kind_of` says about a symbol, beside token kinds.
enum { UNKNOWN = 0, PLAIN = 1, JOINED_END = 2 };

// Words of other languages and plurals; an `end` written in one with its word.
static const struct {
    const char *text;
    int kind;
} aliases[] = {
    {"equations", T_EQUATION}, {"algorithms", T_ALGORITHM}, {"elif", T_ELSEIF}, {"elsif", T_ELSEIF},
    {"parameters", T_PARAMETER}, {"constants", T_CONSTANT}, {"imports", T_IMPORT}, {"extend", T_EXTENDS},
    {"endif", JOINED_END}, {"endfor", JOINED_END}, {"endwhen", JOINED_END}, {"endwhile", JOINED_END},
};

static const struct {
    const char *text;
    int kind;
} keywords[] = {
#define KEYWORD(token, text) {text, T_##token},
#define CONTEXT(token, text)
#include "frontend/text/keyword.def"
#undef KEYWORD
#undef CONTEXT
};

static int
find_kind(const char *text)
{
    char lower[LONGEST_WORD];
    size_t n = strlen(text);
    if (n < 2 || n >= sizeof lower)
        return PLAIN;
    for (size_t i = 0; i <= n; i++)
        lower[i] = (char)tolower((unsigned char)text[i]);
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (!strcmp(lower, keywords[i].text))
            return keywords[i].kind;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (!strcmp(lower, aliases[i].text))
            return aliases[i].kind;
    return PLAIN;
}

static int
kind_of(Parser *p, Sym sym)
{
    if (sym >= p->meant.n)
        vec_grow(&p->meant, sym + 1 - p->meant.n);
    if (p->meant.at[sym] == UNKNOWN)
        p->meant.at[sym] = (uint32_t)find_kind(sym_text(p->syms, sym));
    return (int)p->meant.at[sym];
}

// --- where a word stands

static bool
is_one_of(int kind, const int *kinds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (kinds[i] == kind)
            return true;
    return false;
}
#define ONE_OF(kind, ...) is_one_of(kind, (const int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int))

// Tokens with which an operand begins that cannot follow a name.
static bool
begins_operand(int kind)
{
    return ONE_OF(kind, T_IDENT, T_INTEGER, T_REAL, T_NOT, T_TRUE, T_FALSE, T_INITIAL, T_DER);
}

static bool
ends_operand(int kind)
{
    return ONE_OF(kind, T_IDENT, T_INTEGER, T_REAL, T_RPAREN, T_RBRACKET, T_RBRACE, T_NUMBERS, T_TRUE, T_FALSE, T_STRING);
}

// Whether `then` or `loop` comes before the next ';': what stands in between is a condition or a range.
static bool
heads_branch(const Parser *p, Span word)
{
    uint32_t at = word.hi - p->base, end = at + LONGEST_CONDITION;
    if (end > p->length)
        end = p->length;
    for (; at < end && p->text[at] != ';'; at++) {
        bool starts = !isalnum((unsigned char)p->text[at - 1]) && p->text[at - 1] != '_';
        if (starts && at + 4 < end && (!strncmp(p->text + at, "then", 4) || !strncmp(p->text + at, "loop", 4)))
            return !isalnum((unsigned char)p->text[at + 4]) && p->text[at + 4] != '_';
    }
    return false;
}

static bool
opens_condition(Parser *p, Token word)
{
    int next = token_peek(p, 0).kind;
    return begins_operand(next) || ((next == T_LPAREN || next == T_MINUS) && heads_branch(p, word.span));
}

// Whether the names from the i-th token on, joined by dots, are followed by another name: then the word before is no type.
static bool
name_before_name(Parser *p)
{
    uint32_t i = 0;
    while (i + 3 < QUEUE_SIZE / 2 && token_peek(p, i).kind == T_IDENT && token_peek(p, i + 1).kind == T_DOT)
        i += 2;
    return token_peek(p, i).kind == T_IDENT && token_peek(p, i + 1).kind == T_IDENT;
}

static bool
meant_as_class(Parser *p)
{
    int next = token_peek(p, 0).kind;
    if (next != T_IDENT)
        return false;
    if (!p->blocks.n || ONE_OF(p->current.kind, T_PARTIAL, T_ENCAPSULATED, T_EXPANDABLE, T_PURE, T_IMPURE))
        return true;
    uint32_t behind = 1;
    while (token_peek(p, behind).kind == T_STRING && behind < 4)
        behind++;
    int other = token_peek(p, behind).kind;
    return token_word(other) && !ONE_OF(other, T_IF, T_ANNOTATION, T_CONSTRAINEDBY);
}

static bool
meant_as_prefix(Parser *p, int kind)
{
    int next = token_peek(p, 0).kind;
    if (ONE_OF(next, T_PARAMETER, T_CONSTANT, T_INPUT, T_OUTPUT, T_FLOW, T_DISCRETE, T_REPLACEABLE, T_REDECLARE))
        return true;
    if (kind == T_EXTENDS || kind == T_IMPORT)
        return next == T_IDENT && ONE_OF(token_peek(p, 1).kind, T_DOT, T_EMINUS, T_ETIMES);
    if (kind == T_PARTIAL || kind == T_ENCAPSULATED)
        return token_word(next) != NULL;
    return name_before_name(p);
}

static bool
meant_as_section(Parser *p, Token word, int kind)
{
    if (!p->blocks.n)
        return false;
    if (kind == T_INITIAL)
        return ONE_OF(token_peek(p, 0).kind, T_EQUATION, T_ALGORITHM);
    return token_first_on_line(p, word) && token_first_on_line(p, token_peek(p, 0));
}

static bool
closes_open_class(const Parser *p, Token name)
{
    for (uint32_t i = p->blocks.n; name.kind == T_IDENT && i-- > 0;)
        if (p->blocks.at[i].kind == BLOCK_CLASS && p->blocks.at[i].sym == name.sym)
            return true;
    return false;
}

static bool
is_end_word(int kind)
{
    return ONE_OF(kind, T_IF, T_FOR, T_WHEN, T_WHILE);
}

static bool
meant_as_end(Parser *p)
{
    Token next = token_peek(p, 0);
    if (is_end_word(next.kind) || closes_open_class(p, next))
        return true;
    return p->section == SECTION_EQUATIONS && next.kind == T_IDENT && is_end_word(kind_of(p, next.sym));
}

static bool
meant_at_start(Parser *p, Token word, int kind)
{
    bool equations = p->section == SECTION_EQUATIONS;
    switch (kind) {
    case T_CLASS: case T_MODEL: case T_RECORD: case T_BLOCK: case T_CONNECTOR: case T_TYPE: case T_PACKAGE:
    case T_FUNCTION:
        return meant_as_class(p);
    case T_PARAMETER: case T_CONSTANT: case T_INPUT: case T_OUTPUT: case T_FLOW: case T_STREAM: case T_DISCRETE:
    case T_FINAL: case T_INNER: case T_OUTER: case T_REPLACEABLE: case T_REDECLARE: case T_PARTIAL:
    case T_ENCAPSULATED: case T_EXTENDS: case T_IMPORT:
        return !equations && meant_as_prefix(p, kind);
    case T_PUBLIC: case T_PROTECTED:
        return meant_as_section(p, word, kind) || (!equations && meant_as_prefix(p, kind));
    case T_EQUATION: case T_ALGORITHM: case T_INITIAL:
        return meant_as_section(p, word, kind);
    case T_END:
        return meant_as_end(p);
    case T_IF: case T_FOR: case T_WHEN: case T_WHILE: case T_ELSEIF: case T_ELSEWHEN:
        return equations && opens_condition(p, word);
    case T_ELSE:
        return equations && (token_first_on_line(p, token_peek(p, 0)) || begins_operand(token_peek(p, 0).kind));
    case JOINED_END:
        return equations && token_peek(p, 0).kind == T_SEMICOLON;
    default:
        return false;
    }
}

// Behind an operand no name can stand, but for the one that a declaration gives to its type.
static bool
meant_behind_operand(const Parser *p, int kind)
{
    if (!ONE_OF(kind, T_AND, T_OR, T_THEN, T_LOOP, T_ELSE, T_ELSEIF))
        return false;
    if (p->current.kind != T_IDENT && p->current.kind != T_RBRACKET)
        return ends_operand(p->current.kind);
    return p->section == SECTION_EQUATIONS
        || ONE_OF(p->prev.kind, T_EQUALS, T_AND, T_OR, T_NOT, T_IF, T_LT, T_GT, T_LE, T_GE, T_EQ, T_NE);
}

// The other way round: `not`, `if` in front of an operand.
static bool
meant_before_operand(Parser *p, int kind)
{
    return (kind == T_NOT || kind == T_IF) && begins_operand(token_peek(p, 0).kind)
        && ONE_OF(p->current.kind, T_EQUALS, T_ASSIGN, T_AND, T_OR, T_NOT, T_THEN, T_ELSE, T_IF, T_LPAREN);
}

// --- what is put in its place

static void
report(Parser *p, Token word, const char *ours)
{
    int length = (int)(word.span.hi - word.span.lo);
    if (p->recovering)
        return;
    diag_add(p->diags, E0002, word.span, "'%.*s' is written '%s'", length, p->text + (word.span.lo - p->base), ours);
    p->bad_token = word.span.lo;
}

// `endif;`: the two words.
static void
part_end(Parser *p, Token *word)
{
    static const struct { const char *text, *ours; int kind; } ends[] = {
        {"if", "end if", T_IF}, {"for", "end for", T_FOR}, {"when", "end when", T_WHEN}, {"while", "end while", T_WHILE},
    };
    const char *rest = sym_text(p->syms, word->sym) + 3;
    uint32_t which = 0;
    while (which < 3 && tolower((unsigned char)rest[1]) != ends[which].text[1])
        which++;
    if (which == 2 && strlen(rest) == 5) // when, while
        which = 3;
    report(p, *word, ends[which].ours);
    Token second = *word;
    second.kind = ends[which].kind;
    tokens_insert(p, &second, 1);
    word->kind = T_END;
}

void
misspelt_end_word(Parser *p)
{
    Token next = token_peek(p, 0);
    if (next.kind != T_IDENT || p->section != SECTION_EQUATIONS || !is_end_word(kind_of(p, next.sym)))
        return;
    p->queue[0].kind = kind_of(p, next.sym);
    report(p, next, token_word(p->queue[0].kind));
}

bool
misspelt_word(Parser *p, Token *word)
{
    int kind = kind_of(p, word->sym);
    if (kind == PLAIN || p->text[word->span.lo - p->base] == '\'')
        return false;
    bool starts = token_at_start(p) || (p->section == SECTION_EQUATIONS && ONE_OF(p->current.kind, T_THEN, T_ELSE, T_LOOP));
    bool meant = starts ? meant_at_start(p, *word, kind)
                        : meant_behind_operand(p, kind) || meant_before_operand(p, kind);
    if (!meant && ONE_OF(p->current.kind, T_PARTIAL, T_ENCAPSULATED, T_EXPANDABLE, T_PURE, T_IMPURE))
        meant = ONE_OF(kind, T_CLASS, T_MODEL, T_RECORD, T_BLOCK, T_CONNECTOR, T_TYPE, T_PACKAGE, T_FUNCTION);
    if (!meant)
        return false;
    if (kind == JOINED_END) {
        part_end(p, word);
    } else {
        report(p, *word, token_word(kind));
        word->kind = kind;
    }
    return true;
}
