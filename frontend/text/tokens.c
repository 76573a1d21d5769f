// tokens.c: the filter between scanner and grammar.
//
// Purpose: decides with a little lookahead what an LALR(1) grammar cannot: contextual words, `end` as a
// subscript, `initial` before a section; and puts tokens in where that makes one message of many: an
// `end if;` that is missing before `end M`, the ';' that ends a skipped statement.
// Method: raw tokens are scanned ahead into a queue of at most QUEUE_SIZE. A contextual word is a keyword
// only in a place where two identifiers in a row, or an identifier and what follows, would be no
// Modelica, so that the same word stays usable as a name.
// Contract: tokens come in source order; tokens put in are empty spans. Complexity: O(1) per token.
#include "frontend/text/syntax.h"

#include <assert.h>

#include "frontend/text/parser.h"

static const struct {
    int kind;
    const char *text;
} words[] = {
#define KEYWORD(token, text) {T_##token, text},
#define CONTEXT(token, text) {T_##token, text},
#include "frontend/text/keyword.def"
#undef KEYWORD
#undef CONTEXT
};

const char *
token_word(int kind)
{
    if (kind == T_INITIAL_SECTION)
        return "initial";
    if (kind == T_LAST)
        return "end";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].kind == kind)
            return words[i].text;
    }
    return NULL;
}

static bool
is_context(int kind)
{
    return kind >= T_BODY && kind <= T_FORMALISM;
}

// Whether a raw token may be an identifier.
static bool
is_name(int kind)
{
    return kind == T_IDENT || is_context(kind);
}

bool
token_class_kind(int kind)
{
    switch (kind) {
    case T_CLASS: case T_MODEL: case T_RECORD: case T_BLOCK: case T_CONNECTOR: case T_TYPE:
    case T_PACKAGE: case T_FUNCTION: case T_OPERATOR: case T_BODY: case T_ELEMENT: case T_CONSTRAINT:
    case T_MEMORY:
        return true;
    default:
        return false;
    }
}

static bool
is_section_word(int kind)
{
    return kind == T_PUBLIC || kind == T_PROTECTED || kind == T_EQUATION || kind == T_ALGORITHM
        || kind == T_ENERGY || kind == T_INITIAL_SECTION;
}

static bool
is_prefix(int kind)
{
    switch (kind) {
    case T_FLOW: case T_STREAM: case T_DISCRETE: case T_PARAMETER: case T_CONSTANT: case T_INPUT:
    case T_OUTPUT: case T_COORDINATE:
        return true;
    default:
        return false;
    }
}

static bool
is_bracket(BlockKind kind)
{
    return kind >= BLOCK_PAREN;
}

static bool
in_brackets(const Parser *p)
{
    return p->blocks.n && is_bracket(vec_last(&p->blocks).kind);
}

// The innermost block that ends with an `end`, or NULL.
static Block *
inner_block(Parser *p)
{
    uint32_t i = p->blocks.n;
    while (i && is_bracket(p->blocks.at[i - 1].kind))
        i--;
    return i ? &p->blocks.at[i - 1] : NULL;
}

bool
token_first_on_line(const Parser *p, Token token)
{
    uint32_t at = token.span.lo - p->base;
    while (at && (p->text[at - 1] == ' ' || p->text[at - 1] == '\t'))
        at--;
    return !at || p->text[at - 1] == '\n';
}

// --- the queue

static Token
raw_next(Parser *p)
{
    if (!p->queue_n)
        return scanner_next(p);
    Token token = p->queue[0];
    p->queue_n--;
    memmove(p->queue, p->queue + 1, p->queue_n * sizeof *p->queue);
    return token;
}

Token
token_peek(Parser *p, uint32_t i)
{
    assert(i < QUEUE_SIZE);
    while (p->queue_n <= i)
        p->queue[p->queue_n++] = scanner_next(p);
    return p->queue[i];
}

void
tokens_insert(Parser *p, const Token *tokens, uint32_t n)
{
    assert(p->queue_n + n <= QUEUE_SIZE);
    memmove(p->queue + n, p->queue, p->queue_n * sizeof *p->queue);
    memcpy(p->queue, tokens, n * sizeof *tokens);
    p->queue_n += n;
}

static Token
made(const Parser *p, int kind, Sym sym)
{
    uint32_t at = p->current.span.hi ? p->current.span.hi : p->base;
    return (Token){.kind = kind, .span = {at, at}, .sym = sym, .record = UINT32_MAX};
}

// --- contextual words

// Whether a declaration, clause or section may start here, judging by the tokens before.
bool
token_at_start(const Parser *p)
{
    if (in_brackets(p))
        return false;
    switch (p->current.kind) {
    case 0: case T_SEMICOLON: case T_STRING: case T_RPAREN: case T_REDECLARE: case T_FINAL: case T_INNER:
    case T_OUTER: case T_REPLACEABLE:
        return true;
    case T_IDENT:
        return token_class_kind(p->prev.kind) || p->prev.kind == T_EXTENDS;
    default:
        return is_section_word(p->current.kind);
    }
}

static bool
is_energy_word(int kind)
{
    return kind == T_KINETIC || kind == T_POTENTIAL || kind == T_DISSIPATION || kind == T_MEMORY
        || kind == T_FORCE || kind == T_INERTIA || kind == T_CONSTRAINT || kind == T_FORMALISM;
}

static bool
starts_class(Parser *p)
{
    int before = p->current.kind;
    if (before == T_DOT || before == T_EXTENDS || token_class_kind(before) || is_prefix(before))
        return false;
    int next = token_peek(p, 0).kind;
    return is_name(next) || next == T_EXTENDS;
}

static bool
starts_energy(Parser *p)
{
    if (!token_at_start(p))
        return false;
    int next = token_peek(p, 0).kind;
    return is_energy_word(next) || is_section_word(next) || next == T_END || next == T_INITIAL || next == T_FOR
        || next == T_IF;
}

static bool
starts_energy_item(const Parser *p, int kind)
{
    if (p->section != SECTION_ENERGY || in_brackets(p))
        return false;
    int before = p->current.kind;
    if (before == T_MEMORY || before == T_RPAREN) // memory(order = 0.5) dissipation; otherwise no word follows ')'
        return kind == T_KINETIC || kind == T_POTENTIAL || kind == T_DISSIPATION;
    return is_energy_word(kind) && (before == T_SEMICOLON || before == T_ENERGY || before == T_LOOP
                                    || before == T_THEN || before == T_ELSE);
}

// `at`, `about`, `over` follow a complete operand, where no name can.
static bool
follows_operand(const Parser *p)
{
    if (p->section != SECTION_ENERGY || in_brackets(p))
        return false;
    switch (p->current.kind) {
    case T_IDENT: case T_INTEGER: case T_REAL: case T_RPAREN: case T_RBRACKET: case T_RBRACE: case T_NUMBERS:
    case T_TRUE: case T_FALSE:
        return true;
    default:
        return false;
    }
}

static bool
word_is_keyword(Parser *p, int kind)
{
    if (starts_energy_item(p, kind))
        return true;
    int next;
    switch (kind) {
    case T_BODY: case T_ELEMENT: case T_CONSTRAINT: case T_MEMORY:
        return p->section != SECTION_ENERGY && starts_class(p);
    case T_ENERGY:
        return starts_energy(p);
    case T_BOND:
        return p->section == SECTION_ELEMENTS && token_at_start(p) && token_peek(p, 0).kind == T_LPAREN;
    case T_COORDINATE:
        next = token_peek(p, 0).kind;
        return p->section == SECTION_ELEMENTS && token_at_start(p)
            && (is_name(next) || next == T_DOT || is_prefix(next));
    case T_AT: case T_ABOUT: case T_OVER:
        return follows_operand(p);
    default:
        return false;
    }
}

// --- end

static bool
end_is_subscript(Parser *p)
{
    bool subscript = false;
    for (uint32_t i = p->blocks.n; i && is_bracket(p->blocks.at[i - 1].kind); i--)
        subscript |= p->blocks.at[i - 1].kind == BLOCK_BRACKET;
    if (!subscript)
        return false;
    int next = token_peek(p, 0).kind;
    if (next == T_FOR)
        return is_name(token_peek(p, 1).kind);
    return !is_name(next) && next != T_SEMICOLON && next && next != T_IF && next != T_WHEN
        && next != T_WHILE;
}

static int
end_word(BlockKind kind)
{
    switch (kind) {
    case BLOCK_IF: return T_IF;
    case BLOCK_FOR: return T_FOR;
    case BLOCK_WHEN: return T_WHEN;
    case BLOCK_WHILE: return T_WHILE;
    default: return T_IDENT;
    }
}

// Whether `end NEXT` closes a block outside `inner`.
static bool
closes_outer(const Parser *p, const Block *inner, Token next)
{
    for (uint32_t i = (uint32_t)(inner - p->blocks.at); i-- > 0;) {
        const Block *block = &p->blocks.at[i];
        if (block->kind == BLOCK_CLASS && (!is_name(next.kind) || block->sym == next.sym))
            return is_name(next.kind);
        if (block->kind != BLOCK_CLASS && end_word(block->kind) == next.kind)
            return true;
    }
    return false;
}

// An 'else if' has begun an 'if' of its own, which took the 'end if' that was meant for the first. One message is enough for
// all that one `end` shows; it is about the outermost.
static bool
report_else_if(Parser *p, const Block *inner, Token end)
{
    Span place = {0};
    const Block *outer = inner;
    for (; inner >= p->blocks.at && inner->kind == BLOCK_IF; inner--) {
        if (inner->else_if.hi) {
            place = inner->else_if;
            outer = inner;
        }
    }
    if (!place.hi)
        return false;
    if (p->else_if_end == end.span.lo)
        return true;
    p->else_if_end = end.span.lo;
    Diag *diag = diag_add(p->diags, E0001, place, "'else if' begins another 'if', which needs its own 'end if'");
    diag_note(diag, outer->span, "this 'if' has no end, therefore");
    diag_help(diag, "write 'elseif' for one more branch");
    return true;
}

static void
report_missing_end(Parser *p, Block *inner, Token end, Token next)
{
    if (report_else_if(p, inner, end))
        return;
    bool is_class = inner->kind == BLOCK_CLASS;
    inner->lost = true;
    const char *missing = is_class ? sym_text(p->syms, inner->sym) : token_word(end_word(inner->kind));
    const char *found = is_name(next.kind) ? sym_text(p->syms, next.sym) : token_word(next.kind);
    Diag *diag = diag_add(p->diags, is_class ? E0005 : E0001, span_join(end.span, next.span),
                          "expected 'end %s' before 'end %s'", missing, found);
    if (is_class)
        diag_note(diag, inner->span, "the class '%s' starts here", missing);
    else
        diag_note(diag, inner->span, "this '%s' has no end", missing);
}

// Whether `NAME; end NAME` comes next: the second one closes the outer class.
static bool
outer_end_follows(Parser *p, Sym name)
{
    Token again = token_peek(p, 3);
    return token_peek(p, 1).kind == T_SEMICOLON && token_peek(p, 2).kind == T_END && is_name(again.kind)
        && again.sym == name;
}

// `end;`: reports that it does not say of what, and puts that in.
static bool
put_end_word(Parser *p, Token end)
{
    const Block *inner = inner_block(p);
    if (!inner || end.record == UINT32_MAX || !token_at_start(p) || token_peek(p, 0).kind != T_SEMICOLON)
        return false;
    const char *word = inner->kind == BLOCK_CLASS ? sym_text(p->syms, inner->sym) : token_word(end_word(inner->kind));
    Diag *diag = diag_add(p->diags, E0001, end.span, "expected 'end %s', found 'end' alone", word);
    diag_note(diag, inner->span, inner->kind == BLOCK_CLASS ? "the class '%s' starts here" : "this '%s' is what it ends", word);
    Token put[] = {made(p, T_END, 0), made(p, end_word(inner->kind), inner->sym)};
    tokens_insert(p, put, 2);
    return true;
}

// An `end` that closes an outer block: reports the inner one's missing end and puts it in.
static bool
put_missing_end(Parser *p, Token end)
{
    Block *inner = inner_block(p);
    Token next = token_peek(p, 0);
    if (!inner || end.record == UINT32_MAX || in_brackets(p))
        return false;
    bool closes_class = is_name(next.kind);
    bool matches = inner->kind == BLOCK_CLASS ? closes_class && inner->sym == next.sym
                                              : end_word(inner->kind) == next.kind;
    if (matches || (!closes_class && !token_word(next.kind)))
        return false;
    if (!(closes_class && inner->kind != BLOCK_CLASS) && !closes_outer(p, inner, next))
        return false;
    if (closes_class && inner->kind == BLOCK_CLASS && outer_end_follows(p, next.sym)) // only the name is wrong
        return false;
    report_missing_end(p, inner, end, next);
    int word = end_word(inner->kind);
    Token put[] = {made(p, T_END, 0), made(p, word, inner->sym), made(p, T_SEMICOLON, 0), end};
    tokens_insert(p, put, 4);
    return true;
}

// `end if;` and the like without a beginning, behind an earlier error that swallowed the beginning.
static bool
drop_stray_end(Parser *p)
{
    int next = token_peek(p, 0).kind;
    const Block *inner = inner_block(p);
    if (next != T_IF && next != T_FOR && next != T_WHEN && next != T_WHILE)
        return false;
    if (!inner || inner->kind != BLOCK_CLASS || !diags_errors(p->diags) || token_peek(p, 1).kind != T_SEMICOLON)
        return false;
    raw_next(p);
    raw_next(p);
    return true;
}

// `else` and the like in the same situation: the word, and for a branch with a condition all up to its
// `then`.
static bool
drop_stray_branch(Parser *p, int kind)
{
    const Block *inner = inner_block(p);
    if (kind != T_ELSE && kind != T_ELSEIF && kind != T_ELSEWHEN)
        return false;
    if (p->current.kind != T_SEMICOLON || p->section != SECTION_EQUATIONS || !diags_errors(p->diags)
        || (inner && inner->kind != BLOCK_CLASS) || in_brackets(p))
        return false;
    while (kind != T_ELSE && kind != T_THEN && kind && token_peek(p, 0).kind != T_SEMICOLON)
        kind = raw_next(p).kind;
    return true;
}

// Behind `end if` and the like nothing comes but a comment and the ';'. When that is missing, the grammar, which has not
// yet closed the `if`, would look for a second end.
static bool
put_semicolon(Parser *p, Token token)
{
    int kind = token.kind, word = p->current.kind;
    bool closes = p->prev.kind == T_END && (word == T_IF || word == T_FOR || word == T_WHEN || word == T_WHILE);
    if (!closes || p->recovering || kind == T_SEMICOLON || kind == T_STRING || kind == T_ANNOTATION || !kind)
        return false;
    Span behind = {p->current.span.hi, p->current.span.hi + 1};
    diag_add(p->diags, E0001, behind, "expected ';' after 'end %s'", token_word(word));
    tokens_insert(p, &token, 1);
    return true;
}

// --- recovery

// Between an error and its ';': whether the token must wait for a ';' put in front of it.
static bool
ends_skipping(Parser *p, Token *token)
{
    int kind = token->kind;
    if (kind == T_LBRACKET)
        p->skip_brackets++;
    if (kind == T_RBRACKET && p->skip_brackets)
        p->skip_brackets--;
    if (kind == T_SEMICOLON && p->skip_brackets && p->text[token->span.hi - p->base] != '\n')
        token->kind = T_COMMA;
    if (is_section_word(kind) || kind == T_END)
        return true;
    return token_class_kind(kind) && token_first_on_line(p, *token);
}

static void
begin_recovery(Parser *p, Token unexpected)
{
    p->recovering = true;
    p->last_error = unexpected.span.lo;
    p->skip_brackets = 0;
}

void
tokens_recover(Parser *p, Token unexpected, bool after)
{
    bool again = unexpected.span.lo == p->last_error;
    begin_recovery(p, unexpected);
    for (uint32_t i = p->blocks.n; i && is_bracket(p->blocks.at[i - 1].kind); i--)
        p->skip_brackets += p->blocks.at[i - 1].kind == BLOCK_BRACKET;
    bool is_end = unexpected.kind == T_END && token_peek(p, 0).kind != T_SEMICOLON;
    bool goes_on = is_section_word(unexpected.kind) || is_end || !unexpected.kind
        || (after && token_first_on_line(p, unexpected));
    if (again || !goes_on)
        return;
    Token put[] = {made(p, T_SEMICOLON, 0), unexpected};
    tokens_insert(p, put, 2);
}

// What begins an equation section goes on in one; behind an equation that has no section the next equation begins it.
void
tokens_recover_section(Parser *p, Token unexpected, bool begins)
{
    begin_recovery(p, unexpected);
    p->owed = begins ? 0 : T_EQUATION;
    Token put[] = {made(p, T_SEMICOLON, 0), made(p, T_EQUATION, 0), unexpected};
    if (begins)
        tokens_insert(p, put, 3);
}

void
tokens_recover_declarations(Parser *p, Token unexpected)
{
    begin_recovery(p, unexpected);
    Token put[] = {made(p, T_SEMICOLON, 0), made(p, T_PUBLIC, 0), unexpected};
    tokens_insert(p, put, 3);
}

// Ends the class and goes on with what was unexpected in it.
void
tokens_recover_end(Parser *p, Token unexpected, Sym name)
{
    begin_recovery(p, unexpected);
    Token put[] = {made(p, T_SEMICOLON, 0), made(p, T_END, 0), made(p, T_IDENT, name), made(p, T_SEMICOLON, 0), unexpected};
    tokens_insert(p, put, 5);
}

// Behind an equation among declarations, or a declaration among equations: whether another one follows.
static bool
owed_follows(Parser *p)
{
    int kind = token_peek(p, 0).kind, next = token_peek(p, 1).kind;
    if (p->owed == T_EQUATION)
        return kind == T_CONNECT || kind == T_DER || kind == T_IF || kind == T_FOR || kind == T_WHEN
            || (is_name(kind) && (next == T_EQUALS || next == T_LPAREN));
    for (uint32_t i = 1; is_name(kind) && next == T_DOT && i + 2 < QUEUE_SIZE / 2; i += 2)
        next = token_peek(p, i + 2).kind;
    return is_prefix(kind) || kind == T_INNER || kind == T_OUTER || kind == T_FINAL || kind == T_REPLACEABLE
        || (is_name(kind) && is_name(next));
}

// --- the filter

static void
follow_section(Parser *p, int kind)
{
    if (kind == T_EQUATION || kind == T_ALGORITHM)
        p->section = SECTION_EQUATIONS;
    else if (kind == T_ENERGY)
        p->section = SECTION_ENERGY;
    else if (kind == T_PUBLIC || kind == T_PROTECTED)
        p->section = SECTION_ELEMENTS;
    else if (kind == T_END && is_name(token_peek(p, 0).kind))
        p->section = SECTION_ELEMENTS;
}

// Decides the kind of a raw token; false: the token was dropped or put back, take the next.
static bool
decide(Parser *p, Token *token)
{
    if (is_context(token->kind) && !word_is_keyword(p, token->kind))
        token->kind = T_IDENT;
    if (token->kind == T_INITIAL) {
        int next = token_peek(p, 0).kind;
        if (next == T_EQUATION || next == T_ALGORITHM)
            token->kind = T_INITIAL_SECTION;
    }
    if (token->kind == T_END && end_is_subscript(p))
        token->kind = T_LAST;
    else if (p->recovering)
        return true;
    if (token->kind == T_END)
        misspelt_end_word(p);
    if (token->kind == T_END && (put_end_word(p, *token) || put_missing_end(p, *token) || drop_stray_end(p)))
        return false;
    return !drop_stray_branch(p, token->kind);
}

Token
token_next(Parser *p)
{
    Token token = raw_next(p);
    if (put_semicolon(p, token))
        token = made(p, T_SEMICOLON, 0);
    bool undecided = token.kind == T_IDENT ? !p->formula && misspelt_word(p, &token) : token.kind != T_SEMICOLON;
    if (undecided) {
        while (!p->stop && !decide(p, &token))
            token = raw_next(p);
    }
    if (p->stop)
        token = made(p, 0, 0);
    if (p->recovering && token.record != UINT32_MAX && ends_skipping(p, &token)) {
        tokens_insert(p, &token, 1);
        token = made(p, T_SEMICOLON, 0);
    }
    if (p->recovering && p->owed && token.kind == T_SEMICOLON) {
        Token section = made(p, p->owed, 0);
        if (owed_follows(p))
            tokens_insert(p, &section, 1);
        p->owed = 0;
    }
    follow_section(p, token.kind);
    if (p->record && token.record < p->record->n)
        p->record->at[token.record].kind = token.kind;
    p->before = p->prev;
    p->prev = p->current;
    p->current = token;
    return token;
}
