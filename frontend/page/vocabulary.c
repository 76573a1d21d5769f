// vocabulary.c: pages of the words of the language.
//
// Purpose: `mdlc doc delay` says what an operator does, as `mdlc doc Translational.Spring` does of a class. Method: the text is
// vocabulary.txt, which is part of the program:
//   == WORDS, a line with the calls, a line that explains, then perhaps `example:` with a program behind it, and
//   `chapter: N` of docs/language.md.
// Contract: vocabulary.h; tests/cli/doc.check finds every operator of builtin.def and every keyword, and checks the examples.
// Complexity: linear in the text per page.
#include "frontend/page/vocabulary.h"

#include <string.h>

#include "frontend/page/doc_page.h"
#include "frontend/page/text_entries.h"
#include "runtime/model/nearest.h"

extern const unsigned char asset_vocabulary_txt[], asset_everyday_txt[];

static const char *
copy(Text text, Arena *arena)
{
    return arena_strndup(arena, text.at, text.length);
}

// On a page of a browser the chapter is one click away.
static void
print_chapter(const char *chapter, DocFormat format, Out *out)
{
    if (format == DOC_MARKDOWN)
        out_printf(out, "More: chapter %s of [the language](language.md).\n\n", chapter);
    else
        out_printf(out, format == DOC_HTML ? "<p>More: chapter %s of docs/language.md.</p>\n" : "More: chapter %s of docs/language.md.\n", chapter);
}

static void
print_entry(Text names, Text entry, uint32_t level, DocFormat format, Out *out)
{
    Arena *arena = arena_create();
    Text rest = entry, calls = entry_line(&rest), meaning = entry_line(&rest);
    Text example = entry_lines(rest, "example:", "chapter:");
    doc_heading(format, level, copy(names, arena), NULL, out);
    if (format == DOC_TEXT) {
        entry_print_wrapped(calls, out);
        out_char(out, '\n');
        entry_print_wrapped(meaning, out);
        out_char(out, '\n');
    } else {
        doc_code(format, arena_printf(arena, "%s\n", copy(calls, arena)), out);
        doc_paragraph_with_code(format, copy(meaning, arena), out);
    }
    if (example.length)
        doc_code(format, copy(example, arena), out);
    print_chapter(copy(entry_value(rest, "chapter:"), arena), format, out);
    arena_free(&arena);
}

bool
vocabulary_page(const char *word, DocFormat format, Out *out)
{
    const char *all = (const char *)asset_vocabulary_txt;
    Text rest = {all, strlen(all)}, entry, names;
    do
        names = entry_next(&rest, &entry);
    while (names.length && !entry_names(names, word, false));
    if (!names.length)
        return false;
    doc_page_begin(format, word, out);
    print_entry(names, entry, 1, format, out);
    doc_page_end(format, out);
    return true;
}

void
vocabulary_all(DocFormat format, Out *out)
{
    const char *all = (const char *)asset_vocabulary_txt;
    Text rest = {all, strlen(all)}, entry, names;
    doc_page_begin(format, "Words of the language", out);
    doc_heading(format, 1, "Words of the language", NULL, out);
    while ((names = entry_next(&rest, &entry)).length) {
        print_entry(names, entry, 2, format, out);
        if (format == DOC_TEXT && rest.length)
            out_char(out, '\n');
    }
    doc_page_end(format, out);
}

// All words with a blank behind each.
static const char *
all_words(Arena *arena)
{
    const char *all = (const char *)asset_vocabulary_txt, *words = "";
    Text rest = {all, strlen(all)}, entry, names;
    Out out = {0};
    while ((names = entry_next(&rest, &entry)).length)
        out_printf(&out, "%.*s ", (int)names.length, names.at);
    words = arena_strndup(arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return words;
}

void
vocabulary_list(Out *out)
{
    Arena *arena = arena_create();
    const char *words = all_words(arena);
    entry_print_wrapped((Text){words, strlen(words)}, out);
    arena_free(&arena);
}

const char *
vocabulary_nearest(const char *word, Arena *arena)
{
    const char *words = all_words(arena);
    VEC(const char *) list = {0};
    for (size_t length; (length = strcspn(words, " ")) > 0; words += length + 1)
        vec_push(&list, arena_strndup(arena, words, length));
    const char *nearest = nearest_name(word, list.at, list.n);
    vec_free(&list);
    return nearest;
}

uint32_t
vocabulary_search(const char *text, Out *out)
{
    Arena *arena = arena_create();
    const char *all = (const char *)asset_vocabulary_txt;
    Text rest = {all, strlen(all)}, entry, names;
    uint32_t found = 0;
    while ((names = entry_next(&rest, &entry)).length) {
        entry_line(&entry);
        const char *meaning = copy(entry_line(&entry), arena);
        const char *end = strstr(meaning, ". ");
        if (doc_mentions(meaning, text) && ++found)
            out_printf(out, "  %-32s %.*s\n", copy(names, arena), end ? (int)(end - meaning) : (int)strcspn(meaning, "."), meaning);
    }
    arena_free(&arena);
    return found;
}

void
vocabulary_analogy(const char *analogy, Out *out)
{
    entry_print_wrapped((Text){analogy, strlen(analogy)}, out);
}

const char *
vocabulary_everyday(const char *word, const char **analogy, Arena *arena)
{
    char *joined = arena_strndup(arena, word, strlen(word));
    for (char *at = joined; *at; at++)
        if (*at == ' ')
            *at = '-';
    Text entry = entry_find((const char *)asset_everyday_txt, joined, true);
    Text said = entry.length ? entry_value(entry, "analogy:") : entry;
    *analogy = said.length ? copy(said, arena) : NULL;
    return entry.length ? copy(entry_line(&entry), arena) : NULL;
}
