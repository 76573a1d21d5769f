// diag.c: diagnostics as collected records, and their two printers.
//
// Purpose: what is found anywhere is said in one form, in the order found, each once. Method: a list in an arena of its own, in which a new
// one is looked for first; what was added since a mark can be withdrawn.
// Contract: diag.h. Complexity: constant per diagnostic, of which at most 40 are kept; printing is linear in the lines shown.
#include "ir/base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/base/vec.h"

typedef struct Remark {
    Span span;
    const char *text;
    bool is_help;
} Remark;

struct Diag {
    Diags *owner;
    DiagCode code;
    Severity severity;
    Span span;
    const char *text;
    VEC(Remark) remarks;
};

struct Diags {
    Arena *arena;
    const Sources *sources;
    VEC(Diag *) list;
    Diag *overflow; // takes the notes of diagnostics that are no longer kept
    uint32_t errors;
    uint32_t kept[2]; // errors and warnings in the list
    uint32_t lost; // warnings that are not
    Diag *newest;
    struct { bool off, is_error; } switches[DIAG_COUNT]; // of warnings
};

enum { KEPT_ERRORS = 20 };

static const struct { const char *text, *name, *doc; Severity severity; } code_table[] = {
#define DIAG(code, severity, doc) [code] = {#code, NULL, doc, severity},
#define WARNING(code, name, doc) [code] = {#code, name, doc, SEVERITY_WARNING},
#include "ir/base/diag.def"
#undef DIAG
};

Diags *
diags_create(const Sources *sources)
{
    Diags *diags = base_calloc(1, sizeof *diags);
    diags->arena = arena_create();
    diags->sources = sources;
    return diags;
}

void
diags_free(Diags **diags)
{
    if (!*diags)
        return;
    for (uint32_t i = 0; i < (*diags)->list.n; i++)
        vec_free(&(*diags)->list.at[i]->remarks);
    if ((*diags)->overflow)
        vec_free(&(*diags)->overflow->remarks);
    vec_free(&(*diags)->list);
    arena_free(&(*diags)->arena);
    free(*diags);
    *diags = NULL;
}

// --- switches

const char *
diag_switch(DiagCode code)
{
    return code_table[code].name;
}

const char *
diag_switch_once(DiagCode code)
{
    const char *name = code_table[code].name;
    for (DiagCode before = 0; name && before < code; before++)
        if (code_table[before].name && !strcmp(code_table[before].name, name))
            return NULL;
    return name;
}

const char *
diag_meaning(DiagCode code)
{
    return code_table[code].doc;
}

// Whether the switch of a code is `name`, or begins with it.
static bool
is_named(DiagCode code, const char *name)
{
    const char *own = code_table[code].name;
    size_t length = strlen(name);
    return own && (!strcmp(name, "all") || (!strncmp(own, name, length) && (!own[length] || own[length] == '-')));
}

typedef struct Switch { const char *name; bool no, is_error; } Switch;

static Switch
read_switch(const char *text)
{
    Switch s = {.no = !strncmp(text, "no-", 3)};
    s.name = text + (s.no ? 3 : 0);
    s.is_error = !strncmp(s.name, "error", 5) && (!s.name[5] || s.name[5] == '=');
    if (s.is_error)
        s.name = s.name[5] ? s.name + 6 : "all";
    return s;
}

bool
diag_switch_known(const char *text)
{
    Switch s = read_switch(text);
    bool known = false;
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        known = known || is_named(code, s.name);
    return known;
}

// As C compilers have it: an error by name is reported, and what is no error any more is a warning.
bool
diags_switch(Diags *diags, const char *text)
{
    Switch s = read_switch(text);
    bool all = !strcmp(s.name, "all");
    for (DiagCode code = 0; code < DIAG_COUNT; code++) {
        if (!is_named(code, s.name))
            continue;
        if (s.is_error)
            diags->switches[code].is_error = !s.no;
        if (!s.is_error || (!s.no && !all))
            diags->switches[code].off = s.no;
    }
    return diag_switch_known(text);
}

static const char *
format_text(Arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

// A record that takes notes and help but is not printed.
static Diag *
sink(Diags *diags)
{
    if (!diags->overflow) {
        diags->overflow = arena_new(diags->arena, Diag);
        diags->overflow->owner = diags;
    }
    return diags->overflow;
}

static bool
is_repeated(const Diags *diags, const Diag *diag)
{
    for (uint32_t i = 0; i < diags->list.n; i++) {
        const Diag *old = diags->list.at[i];
        if (diag->span.hi && old->code == diag->code && old->span.lo == diag->span.lo
            && old->span.hi == diag->span.hi && !strcmp(old->text, diag->text))
            return true;
    }
    return false;
}

Diag *
diag_add(Diags *diags, DiagCode code, Span span, const char *format, ...)
{
    bool is_error = code_table[code].severity == SEVERITY_ERROR || diags->switches[code].is_error;
    if (diags->switches[code].off)
        return diags->newest = sink(diags);
    // Warnings do not take the place of errors that come after them.
    if (diags->kept[!is_error] >= KEPT_ERRORS) {
        diags->errors += is_error;
        diags->lost += !is_error;
        return diags->newest = sink(diags);
    }
    Diag *diag = arena_new(diags->arena, Diag);
    diag->owner = diags;
    diag->code = code;
    diag->severity = is_error ? SEVERITY_ERROR : SEVERITY_WARNING;
    diag->span = span;
    va_list args;
    va_start(args, format);
    diag->text = format_text(diags->arena, format, args);
    va_end(args);
    // A class elaborated for several components says the same thing several times: once is enough.
    if (is_repeated(diags, diag))
        return diags->newest = sink(diags);
    vec_push(&diags->list, diag);
    diags->errors += is_error;
    diags->kept[!is_error]++;
    return diags->newest = diag;
}

Diag *
diags_newest(Diags *diags)
{
    return diags->newest ? diags->newest : sink(diags);
}

Span
diag_span(const Diag *diag)
{
    return diag->span;
}

void
diag_move(Diag *diag, Span span)
{
    diag->span = span;
}

void
diag_note(Diag *diag, Span span, const char *format, ...)
{
    if (!diag || diag == diag->owner->overflow)
        return;
    va_list args;
    va_start(args, format);
    Remark remark = {span, format_text(diag->owner->arena, format, args), false};
    va_end(args);
    vec_push(&diag->remarks, remark);
}

void
diag_help(Diag *diag, const char *format, ...)
{
    if (!diag || diag == diag->owner->overflow)
        return;
    va_list args;
    va_start(args, format);
    Remark remark = {{0, 0}, format_text(diag->owner->arena, format, args), true};
    va_end(args);
    vec_push(&diag->remarks, remark);
}

uint32_t
diags_errors(const Diags *diags)
{
    return diags->errors;
}

uint32_t
diags_count(const Diags *diags)
{
    return diags->list.n;
}

DiagsMark
diags_mark(const Diags *diags)
{
    return (DiagsMark){diags->list.n, diags->errors, diags->lost, {diags->kept[0], diags->kept[1]}};
}

static bool
in_library(const Diags *diags, Span span)
{
    return span.hi && sources_in_library(diags->sources, span.lo);
}

void
diags_relocate(Diags *diags, DiagsMark since, Span to)
{
    if (!to.hi || in_library(diags, to))
        return;
    for (uint32_t i = since.listed; i < diags->list.n; i++) {
        Diag *diag = diags->list.at[i];
        if (!in_library(diags, diag->span))
            continue;
        diag_note(diag, diag->span, "it is about this in the library");
        diag->span = to;
    }
}

bool
diags_same(const Diags *diags, DiagsMark mark)
{
    return diags->list.n == mark.listed && diags->errors == mark.errors;
}

bool
diags_are(const Diags *diags, DiagsMark mark, const DiagCode *codes, uint32_t n)
{
    uint32_t found = 0;
    for (uint32_t i = mark.listed; i < diags->list.n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < n; k++)
            known = known || diags->list.at[i]->code == codes[k];
        if (diags->list.at[i]->severity == SEVERITY_ERROR && !known)
            return false;
        found += known;
    }
    return diags->errors - mark.errors == found; // others are only counted
}

void
diags_return_to(Diags *diags, DiagsMark mark)
{
    for (uint32_t i = mark.listed; i < diags->list.n; i++)
        vec_free(&diags->list.at[i]->remarks);
    diags->list.n = mark.listed;
    diags->errors = mark.errors;
    diags->lost = mark.lost;
    diags->kept[0] = mark.kept[0];
    diags->kept[1] = mark.kept[1];
    diags->newest = mark.listed ? vec_last(&diags->list) : NULL;
}

bool
diags_full(const Diags *diags)
{
    return diags->kept[0] >= KEPT_ERRORS;
}

const char *
diag_code_text(DiagCode code)
{
    return code_table[code].text;
}

enum { SHOWN_LINE = 160 };

// The source line and the caret range below it. Long lines are cut around the caret; bytes that a
// terminal would act on are shown as '?', and tabs as one space, so that carets stay aligned.
static void
print_excerpt(Out *out, const Place *place, Span span)
{
    uint32_t column = place->column - 1, from = 0, length = place->line_length;
    if (length > SHOWN_LINE) {
        from = column > SHOWN_LINE / 2 ? column - SHOWN_LINE / 2 : 0;
        if (length - from > SHOWN_LINE)
            length = from + SHOWN_LINE;
    }
    if (length < from)
        length = from;
    out_printf(out, "%6u | ", place->line);
    for (uint32_t i = from; i < length; i++) {
        unsigned char c = (unsigned char)place->line_text[i];
        out_char(out, c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : (char)c);
    }
    out_text(out, "\n       | ");
    out_repeat(out, ' ', column - from);
    uint32_t width = span.hi > span.lo ? span.hi - span.lo : 1;
    if (column + width > length)
        width = length > column ? length - column : 1;
    out_char(out, '^');
    out_repeat(out, '~', width - 1);
    out_char(out, '\n');
}

// Which switch a warning is for, and that it is an error by one.
static void
print_switch(Out *out, const Diag *diag)
{
    const char *name = code_table[diag->code].name;
    if (name)
        out_printf(out, " [-W%s%s]", diag->severity == SEVERITY_ERROR ? "error=" : "", name);
    out_char(out, '\n');
}

void
diags_print_text(const Diags *diags, Out *out, bool colour)
{
    const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
    for (uint32_t i = 0; i < diags->list.n; i++) {
        const Diag *diag = diags->list.at[i];
        bool is_error = diag->severity == SEVERITY_ERROR;
        const char *paint = !colour ? "" : is_error ? "\033[1;31m" : "\033[1;35m";
        Place place;
        bool located = span_locate(diags->sources, diag->span, &place);
        if (located)
            out_printf(out, "%s%s:%u:%u:%s ", bold, place.path, place.line, place.column, plain);
        else
            out_printf(out, "%smdlc:%s ", bold, plain);
        out_printf(out, "%s%s[%s]:%s %s", paint, is_error ? "error" : "warning",
                   code_table[diag->code].text, plain, diag->text);
        print_switch(out, diag);
        if (located)
            print_excerpt(out, &place, diag->span);
        for (uint32_t k = 0; k < diag->remarks.n; k++) {
            const Remark *remark = &diag->remarks.at[k];
            if (span_locate(diags->sources, remark->span, &place)) {
                out_printf(out, "%s:%u:%u: note: %s\n", place.path, place.line, place.column,
                           remark->text);
                print_excerpt(out, &place, remark->span);
            } else {
                out_printf(out, "%s: %s\n", remark->is_help ? "help" : "note", remark->text);
            }
        }
    }
    uint32_t lost[] = {diags->errors - diags->kept[0], diags->lost};
    for (int k = 0; k < 2; k++)
        if (lost[k])
            out_printf(out, "mdlc: %u more %s%s not shown\n", lost[k], k ? "warning" : "error", lost[k] > 1 ? "s are" : " is");
}

static void
json_place(Out *out, const Sources *sources, Span span)
{
    Place from, to;
    if (!span_locate(sources, span, &from))
        return;
    if (!sources_locate(sources, span.hi, &to))
        to = from;
    out_text(out, "\"path\":");
    out_json(out, from.path);
    out_printf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u,", from.line,
               from.column, to.line, to.column);
}

void
diags_print_json(const Diags *diags, Out *out)
{
    out_char(out, '[');
    for (uint32_t i = 0; i < diags->list.n; i++) {
        const Diag *diag = diags->list.at[i];
        out_printf(out, "%s{\"code\":\"%s\",\"severity\":\"%s\",", i ? ",\n " : "",
                   code_table[diag->code].text,
                   diag->severity == SEVERITY_ERROR ? "error" : "warning");
        if (code_table[diag->code].name)
            out_printf(out, "\"switch\":\"%s\",", code_table[diag->code].name);
        json_place(out, diags->sources, diag->span);
        out_text(out, "\"message\":");
        out_json(out, diag->text);
        for (int help = 0; help < 2; help++) {
            out_text(out, help ? ",\"help\":[" : ",\"notes\":[");
            bool first = true;
            for (uint32_t k = 0; k < diag->remarks.n; k++) {
                const Remark *remark = &diag->remarks.at[k];
                if (remark->is_help != help)
                    continue;
                if (!first)
                    out_char(out, ',');
                first = false;
                if (help) {
                    out_json(out, remark->text);
                    continue;
                }
                out_char(out, '{');
                json_place(out, diags->sources, remark->span);
                out_text(out, "\"message\":");
                out_json(out, remark->text);
                out_char(out, '}');
            }
            out_char(out, ']');
        }
        out_char(out, '}');
    }
    out_text(out, "]\n");
}
