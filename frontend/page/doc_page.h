// doc_page.h: the same page as text, Markdown or HTML. Only for doc_command.c and vocabulary.c.
#ifndef MDLC_FRONTEND_PAGE_DOC_PAGE_H
#define MDLC_FRONTEND_PAGE_DOC_PAGE_H

#include "frontend/page/reference_page.h"

enum { DOC_COLUMNS = 4 };

typedef struct DocRow {
    const char *cell[DOC_COLUMNS];
} DocRow;
typedef VEC(DocRow) DocRows;

void doc_page_begin(DocFormat format, const char *title, Out *out);
void doc_page_end(DocFormat format, Out *out);
// level 1 to 3; `anchor` is what links lead to, NULL: none do.
void doc_heading(DocFormat format, uint32_t level, const char *text, const char *anchor, Out *out);
void doc_paragraph(DocFormat format, const char *text, Out *out);
// The same, where what stands between grave accents is code.
void doc_paragraph_with_code(DocFormat format, const char *text, Out *out);
// Names behind some words, and a point; with `leads` a name leads to its heading.
typedef struct DocName {
    const char *text;
    bool leads;
} DocName;

typedef VEC(DocName) DocNames;

void doc_names(DocFormat format, const char *before, const DocNames *names, Out *out);
void doc_code(DocFormat format, const char *text, Out *out);
// A table with the head `titles`; columns that are empty in all rows are left out. With `links` the first column leads to
// headings.
void doc_table(DocFormat format, const char *const *titles, uint32_t columns, const DocRows *rows, bool links, Out *out);

#endif
