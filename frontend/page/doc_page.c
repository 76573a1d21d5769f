// doc_page.c: headings, paragraphs, tables and code in three formats.
//
// Purpose: one description of a page gives text, Markdown and HTML. Method: each printer asks for the format where the three differ.
// Contract: doc_page.h. Complexity: linear in what is printed.
#include "frontend/page/doc_page.h"

#include <ctype.h>

#include "frontend/page/page.h"

enum { WIDEST = 46 }; // of a column of text, but the last

void
doc_page_begin(DocFormat format, const char *title, Out *out)
{
    if (format == DOC_HTML)
        page_begin(title, out);
}

void
doc_page_end(DocFormat format, Out *out)
{
    if (format == DOC_HTML)
        out_text(out, "</body>\n</html>\n");
}

// The name that Markdown's readers give a heading of one word.
static void
print_anchor(const char *text, Out *out)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || *text == '_' || *text == '-')
            out_char(out, (char)tolower((unsigned char)*text));
}

void
doc_heading(DocFormat format, uint32_t level, const char *text, const char *anchor, Out *out)
{
    static const char under[] = "==-";
    if (format == DOC_MARKDOWN) {
        out_repeat(out, '#', level);
        out_printf(out, " %s\n\n", text);
    } else if (format == DOC_HTML) {
        out_printf(out, "<h%u", level);
        if (anchor) {
            out_text(out, " id=\"");
            print_anchor(anchor, out);
            out_char(out, '"');
        }
        out_char(out, '>');
        out_html(out, text);
        out_printf(out, "</h%u>\n", level);
    } else {
        out_printf(out, "%s\n", text);
        out_repeat(out, under[level < 3 ? level : 2], strlen(text));
        out_text(out, "\n\n");
    }
}

// In Markdown signs of emphasis and of HTML mean themselves.
static void
print_plain(const char *text, Out *out)
{
    for (; *text; text++) {
        if (strchr("*_<[\\`", *text))
            out_char(out, '\\');
        out_char(out, *text);
    }
}

// In a cell of a Markdown table, bars and ends of lines would end it.
static void
print_cell(const char *text, Out *out)
{
    for (; *text; text++) {
        if (strchr("|*_<[\\`", *text))
            out_char(out, '\\');
        out_char(out, *text == '\n' ? ' ' : *text);
    }
}

static void
print_text(DocFormat format, const char *text, Out *out)
{
    if (format == DOC_HTML)
        out_html(out, text);
    else if (format == DOC_MARKDOWN)
        print_plain(text, out);
    else
        out_text(out, text);
}

void
doc_paragraph(DocFormat format, const char *text, Out *out)
{
    out_text(out, format == DOC_HTML ? "<p>" : "");
    print_text(format, text, out);
    out_text(out, format == DOC_HTML ? "</p>\n" : "\n\n");
}

void
doc_paragraph_with_code(DocFormat format, const char *text, Out *out)
{
    Out piece = {0};
    bool code = false;
    out_text(out, format == DOC_HTML ? "<p>" : "");
    for (const char *at = text; *at; code = !code) {
        size_t length = strcspn(at, "`");
        piece.length = 0;
        out_printf(&piece, "%.*s", (int)length, at);
        if (code && format == DOC_HTML)
            out_text(out, "<code>");
        if (code && format == DOC_MARKDOWN)
            out_printf(out, "`%s`", piece.text);
        else
            print_text(format, piece.text, out);
        if (code && format == DOC_HTML)
            out_text(out, "</code>");
        at += length + (at[length] == '`');
    }
    out_free(&piece);
    out_text(out, format == DOC_HTML ? "</p>\n" : "\n\n");
}

static void
print_linked(DocFormat format, const char *text, Out *out)
{
    if (format == DOC_MARKDOWN) {
        out_printf(out, "[%s](#", text);
        print_anchor(text, out);
        out_char(out, ')');
    } else {
        out_text(out, "<a href=\"#");
        print_anchor(text, out);
        out_text(out, "\">");
        out_html(out, text);
        out_text(out, "</a>");
    }
}

void
doc_names(DocFormat format, const char *before, const DocNames *names, Out *out)
{
    if (!names->n)
        return;
    out_text(out, format == DOC_HTML ? "<p>" : "");
    print_text(format, before, out);
    for (uint32_t i = 0; i < names->n; i++) {
        out_text(out, i ? ", " : " ");
        if (names->at[i].leads && format != DOC_TEXT)
            print_linked(format, names->at[i].text, out);
        else
            print_text(format, names->at[i].text, out);
    }
    out_text(out, format == DOC_HTML ? ".</p>\n" : ".\n\n");
}

void
doc_code(DocFormat format, const char *text, Out *out)
{
    if (format == DOC_MARKDOWN) {
        out_printf(out, "```modelica\n%s```\n\n", text);
    } else if (format == DOC_HTML) {
        out_text(out, "<pre>");
        out_html(out, text);
        out_text(out, "</pre>\n");
    } else {
        for (const char *line = text; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
            out_printf(out, "    %.*s\n", (int)strcspn(line, "\n"), line);
        out_char(out, '\n');
    }
}


static bool
is_used(const DocRows *rows, uint32_t column)
{
    for (uint32_t i = 0; i < rows->n; i++)
        if (rows->at[i].cell[column] && *rows->at[i].cell[column])
            return true;
    return false;
}

static void
markdown_table(const char *const *titles, uint32_t columns, const DocRows *rows, bool links, Out *out)
{
    for (uint32_t k = 0; k < columns; k++)
        if (is_used(rows, k))
            out_printf(out, "| %s ", titles[k]);
    out_text(out, "|\n");
    for (uint32_t k = 0; k < columns; k++)
        if (is_used(rows, k))
            out_text(out, "|---");
    out_text(out, "|\n");
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = 0; k < columns; k++) {
            const char *cell = rows->at[i].cell[k];
            if (!is_used(rows, k))
                continue;
            out_text(out, "| ");
            if (k == 0 && links)
                print_linked(DOC_MARKDOWN, cell, out);
            else
                print_cell(cell ? cell : "", out);
            out_char(out, ' ');
        }
        out_text(out, "|\n");
    }
    out_char(out, '\n');
}

static void
html_table(const char *const *titles, uint32_t columns, const DocRows *rows, bool links, Out *out)
{
    out_text(out, "<table>\n<tr>");
    for (uint32_t k = 0; k < columns; k++)
        if (is_used(rows, k))
            out_printf(out, "<th>%s</th>", titles[k]);
    out_text(out, "</tr>\n");
    for (uint32_t i = 0; i < rows->n; i++) {
        out_text(out, "<tr>");
        for (uint32_t k = 0; k < columns; k++) {
            const char *cell = rows->at[i].cell[k];
            if (!is_used(rows, k))
                continue;
            out_text(out, "<td>");
            if (k == 0 && links)
                print_linked(DOC_HTML, cell, out);
            else
                out_html(out, cell ? cell : "");
            out_text(out, "</td>");
        }
        out_text(out, "</tr>\n");
    }
    out_text(out, "</table>\n");
}

static void
print_table(uint32_t columns, const DocRows *rows, Out *out)
{
    size_t width[DOC_COLUMNS] = {0};
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = 0; k < columns; k++) {
            size_t length = rows->at[i].cell[k] ? strlen(rows->at[i].cell[k]) : 0;
            width[k] = length > width[k] ? (length < WIDEST ? length : WIDEST) : width[k];
        }
    for (uint32_t i = 0; i < rows->n; i++) {
        out_text(out, "  ");
        for (uint32_t k = 0; k < columns; k++)
            if (width[k])
                out_printf(out, "%-*s  ", k + 1 < columns ? (int)width[k] : 0, rows->at[i].cell[k] ? rows->at[i].cell[k] : "");
        while (out->text[out->length - 1] == ' ')
            out->length--;
        out_char(out, '\n');
    }
    out_char(out, '\n');
}

void
doc_table(DocFormat format, const char *const *titles, uint32_t columns, const DocRows *rows, bool links, Out *out)
{
    if (!rows->n)
        return;
    if (format == DOC_MARKDOWN)
        markdown_table(titles, columns, rows, links, out);
    else if (format == DOC_HTML)
        html_table(titles, columns, rows, links, out);
    else
        print_table(columns, rows, out);
}
