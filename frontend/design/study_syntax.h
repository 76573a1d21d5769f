// study_syntax.h: what the grammar of studies makes: clauses with values.
#ifndef MDLC_FRONTEND_DESIGN_STUDY_SYNTAX_H
#define MDLC_FRONTEND_DESIGN_STUDY_SYNTAX_H

#include "ir/base/arena.h"
#include "ir/base/diag.h"

typedef enum WrittenKind {
    WRITTEN_NUMBER, WRITTEN_TEXT, WRITTEN_NAME, WRITTEN_LIST, WRITTEN_RANGE, WRITTEN_CALL, WRITTEN_COMPARE, WRITTEN_NAMED
} WrittenKind;

typedef struct Written Written;
struct Written {
    WrittenKind kind;
    Span span;
    double number;
    const char *text;   // of texts; of names; of what is called; of the comparison: < or >; of what is named
    Written *first, *last; // of a list: items; range: from, (by,) to; call: arguments; comparison: both sides; named: its value
    Written *next;
    uint32_t n;         // how many there are
    bool truth;         // the number was written as true or false
};

typedef enum ClauseKind {
    CLAUSE_MODEL, CLAUSE_DESIGN, CLAUSE_SEED, CLAUSE_FACTOR, CLAUSE_STRUCTURAL, CLAUSE_SET, CLAUSE_CORRELATION, CLAUSE_OUTPUT, CLAUSE_KEEP,
    CLAUSE_RUN, CLAUSES
} ClauseKind;

typedef struct Clause Clause;
struct Clause {
    ClauseKind kind;
    Span span;
    Written *name;  // left of =; the file of a model; may be NULL
    Written *value; // may be NULL
    Clause *next;
};

typedef struct StudyParser {
    Arena *arena;
    Diags *diags;
    const char *text;
    uint32_t base, length;
    void *scanner;
    bool silent;       // the last mistake has not been got over
    const char *name;  // of the study
    Clause *first, *last;
} StudyParser;

// --- study_lexer.l
bool study_scanner_open(StudyParser *p, char *text, uint32_t length);
void study_scanner_close(StudyParser *p);

// --- study_tree.c
Written *written_new(StudyParser *p, WrittenKind kind, Span span);
Written *written_number(StudyParser *p, Span span, const char *text);
Written *written_add(Written *list, Written *item); // behind its items
Written *written_two(StudyParser *p, WrittenKind kind, Span span, Written *a, Written *b);
Written *written_named(StudyParser *p, Span span, const char *name, Written *value);
Written *written_compute(StudyParser *p, Span span, char operation, Written *a, Written *b); // a NULL: -b
void clause_add(StudyParser *p, ClauseKind kind, Span span, Written *name, Written *value);
void study_ends(StudyParser *p, const char *name, const char *last, Span span);
void study_mistake(StudyParser *p, Span span, const char *expected, const char *found);
void written_print(const Written *value, Out *out); // the same text for the same meaning

#endif
