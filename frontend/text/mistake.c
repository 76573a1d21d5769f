// mistake.c: the messages about text that does not follow the grammar.
//
// Purpose: says in the user's words what is wrong where the grammar met a token that it did not expect, and decides
// where reading goes on. Method: the expected tokens, the innermost list and the last tokens tell the usual mistakes
// apart: a missing end, the spelling of another language, a bracket, a semicolon; what is left names what was expected.
// Contract: syntax.h; one message per mistake: what is unexpected because of an earlier one is passed over in silence.
// Complexity: O(number of token kinds) per message.
#include <stdio.h>
#include <string.h>

#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

// What was written before the place where a ';' is missing.
static void
name_finished(const Mistake *m, char *text, size_t size)
{
    Parser *p = m->p;
    const char *name = sym_text(p->syms, p->declared);
    int length = (int)(p->prev.span.hi - p->prev.span.lo);
    if (p->before.kind == T_END)
        snprintf(text, size, "'end %.*s'", length, p->text + (p->prev.span.lo - p->base));
    else if (m->declared)
        snprintf(text, size, "the declaration of '%.60s'", name);
    else if (m->first == FIRST_IMPORT)
        snprintf(text, size, "the import");
    else if (m->first == FIRST_EXTENDS)
        snprintf(text, size, "the extends clause");
    else if (m->first == FIRST_ANNOTATION)
        snprintf(text, size, "the annotation");
    else if (m->first == FIRST_BOND)
        snprintf(text, size, "the bond clause");
    else if (m->list == LIST_EQUATIONS)
        snprintf(text, size, "the equation");
    else if (m->list == LIST_STATEMENTS)
        snprintf(text, size, "the statement");
    else if (m->list == LIST_ENERGY)
        snprintf(text, size, "the line of the energy section");
    else
        snprintf(text, size, "'%.*s'", length < 40 ? length : 40, p->text + (p->prev.span.lo - p->base));
}

static void
name_token(Parser *p, Token token, char *text, size_t size)
{
    int length = (int)(token.span.hi - token.span.lo);
    if (!token.kind)
        snprintf(text, size, p->formula ? "the end of the formula" : "the end of the file");
    else if (token.kind == T_STRING)
        snprintf(text, size, "a string");
    else
        snprintf(text, size, "'%.*s'", length < 40 ? length : 40, p->text + (token.span.lo - p->base));
}

static bool
wants_expression(const Mistake *m)
{
    return m->want[T_INTEGER] && m->want[T_IDENT];
}

// The place just behind the previous token, where something is missing.
static Span
behind_previous(const Parser *p)
{
    uint32_t at = p->prev.span.hi ? p->prev.span.hi : p->base;
    return (Span){at, at + 1};
}

static const Block *
open_block(const Parser *p)
{
    return p->blocks.n ? &vec_last(&p->blocks) : NULL;
}

static void
note_block(Diag *diag, Parser *p, const Block *block)
{
    if (block->kind == BLOCK_CLASS)
        diag_note(diag, block->span, "the class '%s' starts here", sym_text(p->syms, block->sym));
    else
        diag_note(diag, block->span, "'%.*s' is opened here", (int)(block->span.hi - block->span.lo),
                  p->text + (block->span.lo - p->base));
}

static bool
report_end_of_file(const Mistake *m)
{
    Parser *p = m->p;
    const Block *block = open_block(p);
    if (p->current.kind || p->formula || !block || m->want[T_SEMICOLON])
        return false;
    static const char *const ends[] = {
        [BLOCK_IF] = "'end if'", [BLOCK_FOR] = "'end for'", [BLOCK_WHEN] = "'end when'",
        [BLOCK_WHILE] = "'end while'", [BLOCK_PAREN] = "')'", [BLOCK_BRACKET] = "']'",
        [BLOCK_BRACE] = "'}'", [BLOCK_IFEXPR] = "'else'",
    };
    Diag *diag;
    if (block->kind == BLOCK_CLASS)
        diag = diag_add(p->diags, E0001, p->current.span, "expected 'end %s' before the end of the file",
                        sym_text(p->syms, block->sym));
    else
        diag = diag_add(p->diags, E0001, p->current.span, "expected %s before the end of the file",
                        ends[block->kind]);
    note_block(diag, p, block);
    return true;
}

// Spellings of other languages, or of the other kind of section.
static bool
report_confusion(const Mistake *m)
{
    Parser *p = m->p;
    Span span = p->current.span;
    int kind = p->current.kind;
    bool is_sign = kind == T_PLUS || kind == T_MINUS;
    if (kind == T_EQUALS && m->want[T_ASSIGN]) {
        diag_add(p->diags, E0001, span, "an assignment in an algorithm is written ':='");
    } else if (kind == T_ASSIGN && m->want[T_EQUALS]) {
        diag_add(p->diags, E0001, span, "an equation is written with '='; ':=' assigns in an algorithm");
    } else if (kind == T_EQUALS && m->want[T_EQ] && !m->want[T_RBRACKET]) {
        diag_add(p->diags, E0001, span, "'=' cannot stand inside an expression; '==' compares");
    } else if (kind == T_EQ && m->want[T_EQUALS]) {
        diag_add(p->diags, E0001, span, "a value is given with '='; '==' compares");
    } else if (kind == T_ENUMERATION && m->first == FIRST_NONE && (m->list == LIST_ELEMENTS || m->list == LIST_ITEMS)) {
        Diag *diag = diag_add(p->diags, E0001, span, "an enumeration is declared as a type with a name");
        diag_help(diag, "write 'type T = enumeration(a, b);' and declare variables of type T");
    } else if (is_sign && m->want[T_ASSIGN]) {
        char sign = kind == T_PLUS ? '+' : '-';
        diag_add(p->diags, E0001, span, "a statement begins 'name :='; adding one is 'x := x %c 1'", sign);
    } else if (m->want[T_ELSE] && open_block(p) && open_block(p)->kind == BLOCK_IFEXPR && !wants_expression(m)) {
        Diag *diag = diag_add(p->diags, E0001, span, "expected 'else': an if expression has a value in every case");
        note_block(diag, p, open_block(p));
    } else if (p->prev.kind == T_COMMA && p->before.kind == T_INTEGER && kind == T_INTEGER && span.lo == p->prev.span.hi) {
        Diag *diag = diag_add(p->diags, E0001, p->prev.span, "a ',' separates; the decimals of a number follow a point");
        diag_help(diag, "write %s.%s", sym_text(p->syms, p->before.sym), sym_text(p->syms, p->current.sym));
    } else if (is_sign && m->want[T_LPAREN] && wants_expression(m)) {
        Diag *diag = diag_add(p->diags, E0001, span, "a sign cannot follow another operator directly");
        diag_help(diag, "write parentheses: (%c...)", kind == T_PLUS ? '+' : '-');
    } else {
        return false;
    }
    return true;
}

static bool
same_line_as_last(const Parser *p)
{
    uint32_t from = p->last_error, to = p->current.span.lo;
    return from && !memchr(p->text + (from - p->base), '\n', to - from);
}

static bool
report_bracket(const Mistake *m)
{
    static const char closers[] = {[BLOCK_PAREN] = ')', [BLOCK_BRACKET] = ']', [BLOCK_BRACE] = '}'};
    Parser *p = m->p;
    const Block *block = open_block(p);
    int kind = p->current.kind;
    bool is_closer = kind == T_RPAREN || kind == T_RBRACKET || kind == T_RBRACE;
    bool is_open = block && block->kind >= BLOCK_PAREN && block->kind <= BLOCK_BRACE;
    if (is_closer && wants_expression(m))
        return false;
    char found[80];
    name_token(p, p->current, found, sizeof found);
    if (is_closer && !is_open && same_line_as_last(p)) // it closes what the last message has been about
        return true;
    if (is_closer && !is_open) {
        diag_add(p->diags, E0001, p->current.span, "%s closes nothing", found);
        return true;
    }
    bool want_closer = m->want[T_RPAREN] || m->want[T_RBRACKET] || m->want[T_RBRACE];
    if (!is_open || !want_closer || wants_expression(m))
        return false;
    Diag *diag = diag_add(p->diags, E0001, p->current.span, "expected %s'%c', found %s",
                          m->want[T_COMMA] ? "',' or " : "", closers[block->kind], found);
    note_block(diag, p, block);
    return true;
}

// Whether what stands in front of '=' or '(' can be no type: x = 3, a.x = 3, assert(b, "..").
static bool
begins_equation(const Parser *p)
{
    static const char *const types[] = {"Real", "Integer", "Boolean", "String"}, *const call = "assert";
    if (p->prev.kind != T_IDENT)
        return false;
    const char *name = sym_text(p->syms, p->prev.sym);
    bool yes = p->current.kind == T_EQUALS;
    for (int i = 0; i < 4; i++)
        yes = yes && strcmp(name, types[i]);
    return yes || (p->current.kind == T_LPAREN && !strcmp(name, call));
}

// An equation among declarations, as far as one token says so: the word `equation` is missing in front of it.
static bool
report_no_section(const Mistake *m)
{
    Parser *p = m->p;
    int kind = p->current.kind;
    bool begins = kind == T_CONNECT || kind == T_DER || kind == T_IF || kind == T_FOR || kind == T_WHEN;
    bool goes_on = m->want[T_IDENT] && begins_equation(p);
    if (m->list != LIST_ELEMENTS || !(goes_on || (begins && m->first == FIRST_NONE && m->want[T_EQUATION])))
        return false;
    char found[80];
    name_token(p, p->current, found, sizeof found);
    Diag *diag = begins ? diag_add(p->diags, E0001, p->current.span, "%s stands in an equation section, not among declarations", found)
        : diag_add(p->diags, E0001, p->current.span, "equations stand in an equation section, not among declarations");
    diag_help(diag, "write 'equation' on a line before it");
    tokens_recover_section(p, p->current, begins);
    return true;
}

// `parameter k = 3`: a name, where the type is missing in front of it.
static bool
report_no_type(const Mistake *m)
{
    Parser *p = m->p;
    int prefix = p->before.kind;
    bool declares = prefix == T_PARAMETER || prefix == T_CONSTANT || prefix == T_DISCRETE || prefix == T_INPUT || prefix == T_OUTPUT
        || prefix == T_FLOW;
    if (m->list != LIST_ELEMENTS || !declares || p->prev.kind != T_IDENT || p->current.kind != T_EQUALS)
        return false;
    char word[80];
    name_token(p, p->before, word, sizeof word);
    const char *name = sym_text(p->syms, p->prev.sym);
    Diag *diag = diag_add(p->diags, E0001, p->prev.span, "expected a type between %s and '%s'", word, name);
    diag_help(diag, "for instance '%.*s Real %s = ...'", (int)strcspn(word + 1, "'"), word + 1, name);
    return true;
}

// `initial` alone: it is two words.
static bool
report_initial(const Mistake *m)
{
    Parser *p = m->p;
    if (p->current.kind != T_INITIAL || m->want[T_INITIAL] || m->list != LIST_ELEMENTS)
        return false;
    diag_add(p->diags, E0001, p->current.span, "this section begins with 'initial equation' or 'initial algorithm'");
    return true;
}

// A class begins where this one has to end: its `end` is missing.
static bool
report_missing_end(const Mistake *m)
{
    Parser *p = m->p;
    const Block *block = open_block(p);
    if (!block || block->kind != BLOCK_CLASS || m->first != FIRST_NONE || !m->want[T_END] || m->want[p->current.kind]
        || !token_class_kind(p->current.kind) || !token_first_on_line(p, p->current))
        return false;
    char found[80];
    name_token(p, p->current, found, sizeof found);
    Diag *diag = diag_add(p->diags, E0001, p->current.span, "expected 'end %s;' before %s", sym_text(p->syms, block->sym), found);
    note_block(diag, p, block);
    tokens_recover_end(p, p->current, block->sym);
    return true;
}

// `0 < x < 1`: a relation is a Boolean, which no relation of numbers takes (section 3.2).
static bool
report_chain(const Mistake *m)
{
    Parser *p = m->p;
    if (p->current.kind < T_LT || p->current.kind > T_NE || m->want[p->current.kind] || !m->want[T_AND])
        return false;
    char found[80];
    name_token(p, p->current, found, sizeof found);
    Diag *diag = diag_add(p->diags, E0001, p->current.span, "relations do not chain: %s follows another relation", found);
    diag_help(diag, "join them by 'and': a < b and b < c");
    return true;
}

// A statement is complete, but its ';' is missing.
static bool
report_semicolon(const Mistake *m)
{
    Parser *p = m->p;
    if (!m->want[T_SEMICOLON] || (open_block(p) && open_block(p)->kind >= BLOCK_PAREN))
        return false;
    bool two_sides = m->list == LIST_EQUATIONS && m->want[T_EQUALS];
    bool same_line = p->current.kind && !token_first_on_line(p, p->current);
    if (two_sides && same_line && p->current.kind == T_IDENT && p->prev.kind == T_IDENT) {
        Diag *diag = diag_add(p->diags, E0001, p->current.span,
                              "expected '=' or an operator between '%s' and '%s'",
                              sym_text(p->syms, p->prev.sym), sym_text(p->syms, p->current.sym));
        diag_help(diag, "declarations stand before the word 'equation'");
        p->owed = T_PUBLIC; // those that follow are read as such
        return true;
    }
    char text[120], found[80];
    name_finished(m, text, sizeof text);
    name_token(p, p->current, found, sizeof found);
    if (same_line && p->current.kind != T_END)
        diag_add(p->diags, E0001, p->current.span, "expected ';' after %s, found %s", text, found);
    else
        diag_add(p->diags, E0001, behind_previous(p), "expected ';' after %s", text);
    return true;
}

static const char *
list_content(const Mistake *m)
{
    switch (m->list) {
    case LIST_ITEMS: return "a class";
    case LIST_EQUATIONS: return "an equation or 'end'";
    case LIST_STATEMENTS: return "a statement or 'end'";
    case LIST_ENERGY: return "an energy, a force, an inertia, a constraint, a formalism or 'end'";
    default: return "a declaration, a section or 'end'";
    }
}

static void
list_wanted(const Mistake *m, char *text, size_t size)
{
    size_t used = 0;
    int seen = 0;
    for (int i = 0; i < TOKEN_KINDS && used < size; i++) {
        if (!m->want[i])
            continue;
        const char *name = m->name(i);
        bool plain = i == T_YYEOF || (i >= T_IDENT && i <= T_STRING) || *name == '\'';
        const char *joint = !seen ? "" : seen + 1 == m->n_want ? " or " : ", ";
        used += (size_t)snprintf(text + used, size - used, plain ? "%s%s" : "%s'%s'", joint, name);
        seen++;
    }
}

static void
report_wanted(const Mistake *m)
{
    Parser *p = m->p;
    char found[80], wanted[200] = "";
    name_token(p, p->current, found, sizeof found);
    const Block *block = open_block(p);
    bool after_end = p->prev.kind == T_END && m->want[T_IDENT];
    if (after_end && block)
        snprintf(wanted, sizeof wanted, "'%.100s' after 'end'", sym_text(p->syms, block->sym));
    else if (m->n_want > 4 && (m->want[T_THEN] || m->want[T_LOOP]))
        snprintf(wanted, sizeof wanted, "'%s'", m->want[T_THEN] ? "then" : "loop");
    else if (m->want[T_AT])
        snprintf(wanted, sizeof wanted, "'at', 'about' or 'over'");
    else if (wants_expression(m) && m->first != FIRST_NONE)
        snprintf(wanted, sizeof wanted, "an expression");
    else if (m->want[T_IDENT] && token_word(p->current.kind) && m->first != FIRST_NONE) {
        diag_add(p->diags, E0001, p->current.span, "%s is a reserved word and cannot be a name", found);
        return;
    } else if (m->n_want <= 4)
        list_wanted(m, wanted, sizeof wanted);
    else if (m->first == FIRST_NONE)
        snprintf(wanted, sizeof wanted, "%s", list_content(m));
    if (*wanted)
        diag_add(p->diags, E0001, p->current.span, "expected %s, found %s", wanted, found);
    else
        diag_add(p->diags, E0001, p->current.span, "%s cannot stand here", found);
}

// A string that runs over several lines right before an error is probably one with a lost quote.
static void
note_long_string(Parser *p)
{
    Span span = p->prev.span;
    if (p->prev.kind == T_STRING && memchr(p->text + (span.lo - p->base), '\n', span.hi - span.lo)) {
        Diag *diag = diag_add(p->diags, E0003, (Span){span.lo, span.lo + 1}, "this string runs over several lines");
        diag_help(diag, "is its closing quote missing?");
    }
}

// What is unexpected because the scanner dropped something in front of it has been reported.
static bool
behind_bad_character(const Parser *p)
{
    return p->bad_character && p->prev.span.hi <= p->bad_character
        && p->bad_character <= p->current.span.lo;
}

// A declaration behind the annotation of the class, which comes last.
static bool
report_behind_annotation(const Mistake *m)
{
    Parser *p = m->p;
    if (m->list != LIST_ITEMS && m->list != LIST_ELEMENTS)
        return false;
    if (m->first != FIRST_NONE || !p->annotated.hi || p->prev.kind != T_SEMICOLON || p->prev.span.lo < p->annotated.hi)
        return false;
    for (uint32_t at = p->annotated.hi; at < p->prev.span.lo; at++)
        if (!strchr(" \t\r\n", p->text[at - p->base]))
            return false;
    Diag *diag = diag_add(p->diags, E0001, p->annotated, "the annotation of a class is the last thing in it");
    diag_note(diag, p->current.span, "this follows it");
    diag_help(diag, "put it in front of the 'end' of the class");
    tokens_recover_declarations(p, p->current);
    return true;
}

void
mistake_report(const Mistake *m)
{
    Parser *p = m->p;
    bool again = p->current.span.lo == p->last_error || p->current.span.lo == p->bad_token || behind_bad_character(p);
    bool after = false, reported = !again && (report_no_type(m) || report_initial(m));
    if (!again && !reported && (report_no_section(m) || report_missing_end(m) || report_behind_annotation(m))) {
        p->stop = diags_full(p->diags);
        return;
    }
    if (!again && !reported) {
        reported = report_end_of_file(m) || report_chain(m) || report_confusion(m) || report_bracket(m);
        after = !reported && report_semicolon(m);
        if (!reported && !after)
            report_wanted(m);
        note_long_string(p);
    }
    if (diags_full(p->diags))
        p->stop = true;
    tokens_recover(p, p->current, after);
}
