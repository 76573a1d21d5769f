// dae_scan.c: words, names and expressions on a line of the flat model's text (dae_scan.h).
//
// Purpose: the reader of the flat model's text (dae_read.c) sees words, numbers, names and expressions.
// Method: names are found by the hash of their text; an expression's variables become the slots of its shape in the order
//         in which they occur. The language is specified in docs/ir.md.
// Contract: dae_scan.h. Complexity: linear in the line.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/dae/dae_scan.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_text.h"

void
reader_lines(Reader *reader, Sources *sources, int file, void (*read)(Reader *reader))
{
    const char *text = source_text(sources, file);
    uint32_t length = source_length(sources, file), at = 0;
    Out line = {0};
    while (at < length && !reader->failed) {
        uint32_t n = 0;
        while (at + n < length && text[at + n] != '\n' && text[at + n])
            n++;
        line.length = 0;
        out_bytes(&line, text + at, n);
        reader->line = line.text;
        reader->at = 0;
        reader->base = source_base(sources, file) + at;
        read(reader);
        at += n + 1;
    }
    out_free(&line);
    reader->line = "";
}

void
reader_free(Reader *reader)
{
    out_free(&reader->name);
    map_free(&reader->inst_of);
    map_free(&reader->var_of);
    map_free(&reader->connector_of);
    map_free(&reader->routine_of);
    vec_free(&reader->sites);
    vec_free(&reader->routines);
    vec_free(&reader->links);
    vec_free(&reader->vars);
    vec_free(&reader->slot_of);
}

bool
reader_fail(Reader *reader, const char *what)
{
    uint32_t at = reader->base + reader->at;
    if (!reader->failed)
        diag_add(reader->diags, E0510, (Span){at, at + 1}, "%s needs %s here", reader->text, what);
    reader->failed = true;
    return false;
}

Span
reader_span(const Reader *reader)
{
    return (Span){reader->base, reader->base + (uint32_t)strlen(reader->line)};
}

void
reader_blanks(Reader *reader)
{
    while (reader->line[reader->at] == ' ' || reader->line[reader->at] == '\t' || reader->line[reader->at] == '\r')
        reader->at++;
}

bool
reader_at_end(Reader *reader)
{
    reader_blanks(reader);
    return !reader->line[reader->at] || !strncmp(reader->line + reader->at, "//", 2);
}

const char *
reader_word(Reader *reader, size_t *length)
{
    reader_blanks(reader);
    const char *begin = reader->line + reader->at;
    size_t n = 0;
    while (begin[n] && !isspace((unsigned char)begin[n]))
        n++;
    reader->at += (uint32_t)n;
    *length = n;
    return begin;
}

bool
reader_take(Reader *reader, const char *text)
{
    reader_blanks(reader);
    size_t n = strlen(text);
    const char *here = reader->line + reader->at;
    if (strncmp(here, text, n) || (here[n] && !isspace((unsigned char)here[n])))
        return false;
    reader->at += (uint32_t)n;
    return true;
}

int
reader_take_of(Reader *reader, const char *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (*list[i] && reader_take(reader, list[i]))
            return i;
    return -1;
}

double
reader_number(Reader *reader)
{
    reader_blanks(reader);
    char *end;
    double value = strtod(reader->line + reader->at, &end);
    if (end == reader->line + reader->at)
        reader_fail(reader, "a number");
    reader->at = (uint32_t)(end - reader->line);
    return value;
}

uint32_t
reader_index(Reader *reader, uint32_t limit)
{
    uint32_t begin = reader->at;
    double value = reader_number(reader);
    if (!(value >= 0 && value < limit && value == floor(value))) {
        reader->at = begin;
        reader_fail(reader, "an index of something that stands above");
        return 0;
    }
    return (uint32_t)value;
}

// What stands behind a backslash. The last two are the ends of a place in a template (runtime/model/template.h).
static char
unescaped(char c)
{
    return c == 'n' ? '\n' : c == '<' ? '\1' : c == '>' ? '\2' : c;
}

Sym
reader_string(Reader *reader)
{
    reader_blanks(reader);
    if (reader->line[reader->at] != '"') {
        reader_fail(reader, "a string");
        return 0;
    }
    reader->name.length = 0;
    out_bytes(&reader->name, "", 0);
    const char *p = reader->line + reader->at + 1;
    for (; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1])
            out_char(&reader->name, unescaped(*++p));
        else
            out_char(&reader->name, *p);
    }
    reader->at = (uint32_t)(p - reader->line);
    if (*p)
        reader->at++;
    else
        reader_fail(reader, "the end of the string");
    return sym_make(reader->syms, reader->name.text, reader->name.length);
}

// --- names

uint32_t
reader_identifier(const char *text)
{
    uint32_t n = 0;
    if (*text == '\'') {
        for (n = 1; text[n] && text[n] != '\''; n++)
            if (text[n] == '\\' && text[n + 1])
                n++;
        return text[n] ? n + 1 : 0;
    }
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '$')
        n++;
    return isdigit((unsigned char)text[0]) ? 0 : n;
}

uint32_t
reader_dotted(const char *text, uint32_t *last, uint32_t *subscript)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t n = reader_identifier(text + at);
        if (!n)
            return 0;
        *last = at;
        at += n;
        *subscript = at;
        if (text[at] == '[') {
            while (text[at] && text[at] != ']')
                at++;
            if (!text[at++])
                return 0;
        }
        if (text[at] != '.')
            return at;
        at++;
    }
}

static Var
find_var(Reader *reader, const char *text, uint32_t length)
{
    uint32_t var;
    return map_get(&reader->var_of, hash_bytes(text, length), &var) ? var : NONE;
}

uint32_t
reader_full_name(const char *text, uint32_t *calls)
{
    uint32_t last, subscript, at = 0;
    for (*calls = 0; !strncmp(text + at, "der(", 4) || !strncmp(text + at, "pre(", 4); ++*calls)
        at += 4;
    uint32_t length = reader_dotted(text + at, &last, &subscript);
    at += length;
    for (uint32_t i = 0; i < *calls && length; i++)
        if (text[at++] != ')')
            return 0;
    return length ? at : 0;
}

// A variable's name at `text`: declared, der(...), pre(...) or {literal}. Returns its length, 0 when there
// is none.
static uint32_t
name_at(Reader *reader, const char *text, Var *var)
{
    uint32_t calls, length;
    if (*text == '{') {
        char *end;
        double value = strtod(text + 1, &end);
        if (end == text + 1 || *end != '}')
            return 0;
        *var = dae_literal(reader->dae, value);
        return (uint32_t)(end + 1 - text);
    }
    length = reader_full_name(text, &calls);
    *var = length ? find_var(reader, text + 4 * calls, length - 5 * calls) : NONE;
    if (*var == NONE)
        return 0;
    for (uint32_t i = calls; i-- > 0;)
        *var = text[4 * i] == 'd' ? dae_name_der(reader->dae, *var) : dae_pre(reader->dae, *var);
    return length;
}

Var
reader_variable(Reader *reader)
{
    Var var = NONE;
    reader_blanks(reader);
    uint32_t n = name_at(reader, reader->line + reader->at, &var);
    if (!n || reader->failed) {
        reader_fail(reader, "the name of a variable that stands above");
        return 0;
    }
    reader->at += n;
    return var;
}

uint32_t
reader_instance(Reader *reader)
{
    uint32_t last, subscript, inst = 0;
    if (reader_take(reader, "/"))
        return 0;
    uint32_t n = reader_dotted(reader->line + reader->at, &last, &subscript);
    if (!n || !map_get(&reader->inst_of, hash_bytes(reader->line + reader->at, n), &inst))
        reader_fail(reader, "the path of an instance that stands above");
    reader->at += n;
    return inst;
}

static uint32_t
slot_name(const char *text, uint32_t *slot, void *context)
{
    Reader *reader = context;
    Var var;
    uint32_t n = name_at(reader, text, &var);
    if (!n)
        return 0;
    if (var >= reader->slot_of.n)
        vec_grow(&reader->slot_of, reader->dae->nvars - reader->slot_of.n);
    if (!reader->slot_of.at[var]) {
        vec_push(&reader->vars, var);
        reader->slot_of.at[var] = reader->vars.n;
    }
    *slot = reader->slot_of.at[var] - 1;
    return n;
}

bool
reader_expression(Reader *reader, Expr *shape, uint32_t *row)
{
    uint32_t error_at = 0;
    ExprReading names = {slot_name, reader_routine, reader_site, reader};
    vec_clear(&reader->vars);
    reader_blanks(reader);
    Expr e = 0;
    if (!reader->failed)
        e = expr_read_names(reader->exprs, reader->line + reader->at, &names, &error_at);
    for (uint32_t k = 0; k < reader->vars.n; k++)
        reader->slot_of.at[reader->vars.at[k]] = 0;
    if (!e) {
        reader->at += error_at;
        return reader_fail(reader, "an expression of variables that stand above");
    }
    dae_bind_shape(reader->dae, e, reader->vars.at, shape, row);
    reader->at += (uint32_t)strlen(reader->line + reader->at);
    return true;
}
