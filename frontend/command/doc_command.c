// doc_command.c: mdlc doc: the reference page of a class, a library, a file or a word of the language; without any, what there is.
//
// Purpose: `mdlc doc`. Method: the kind of the name decides which printer of frontend/page writes the page.
// Contract: command.h. Complexity: linear in the library that is read and in the page.
#include "frontend/command/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/names/classes.h"
#include "frontend/page/reference_page.h"
#include "frontend/page/vocabulary.h"

// What --format says, or the file's name; text otherwise.
static DocFormat
format_of(const Session *session)
{
    const Options *o = &session->options;
    if (o->format)
        return !strcmp(o->format, "html") ? DOC_HTML : !strcmp(o->format, "markdown") ? DOC_MARKDOWN : DOC_TEXT;
    return output_ends_with(session, ".html") ? DOC_HTML : output_ends_with(session, ".md") ? DOC_MARKDOWN : DOC_TEXT;
}

static int
library_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// A file, or the directory of a package.
static int
is_library(const struct dirent *entry)
{
    return text_ends_with(entry->d_name, ".mdl") || (entry->d_type == DT_DIR && entry->d_name[0] != '.');
}

// Loads every library there is; with `out`, a line about each.
static int
load_libraries(Session *session, Out *out)
{
    struct dirent **entry = NULL;
    const char *folder = distributed_folder(session->arena, "stdlib", "Units.mdl");
    int n = scandir(folder, &entry, is_library, library_first);
    if (n < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", folder, strerror(errno));
        return EXIT_IO;
    }
    for (int i = 0; i < n; i++) {
        const char *name = arena_strndup(session->arena, entry[i]->d_name, strcspn(entry[i]->d_name, "."));
        doc_load(session->program, name);
        if (out)
            doc_line(session->program, name, out);
        free(entry[i]);
    }
    free(entry);
    return EXIT_FINE;
}

static int
list_all(Session *session, Out *out)
{
    int status = load_libraries(session, out);
    if (status)
        return status;
    out_text(out, "\nWords of the language (mdlc doc WORD; mdlc doc language has all):\n");
    vocabulary_list(out);
    return EXIT_FINE;
}

// The classes that an everyday word means.
static bool
list_everyday(Session *session, const char *word, Out *out)
{
    const char *analogy = NULL, *names = vocabulary_everyday(word, &analogy, session->arena);
    if (!names)
        return false;
    out_printf(out, analogy ? "for '%s' the library has, by analogy\n" : "for '%s' the library has\n", word);
    for (size_t n; (n = strcspn(names, " ")) > 0; names += n + (names[n] == ' ')) {
        const char *name = arena_strndup(session->arena, names, n);
        out_printf(out, "  %-32s %s\n", name, doc_description(session->program, name));
    }
    if (analogy)
        vocabulary_analogy(analogy, out);
    return true;
}

// What mentions a word that is no name; false when nothing does.
static bool
search(Session *session, const char *word, Out *out)
{
    Out classes = {0}, words = {0};
    bool loaded = strlen(word) > 2 && !strchr(word, '.') && load_libraries(session, NULL) == EXIT_FINE;
    bool everyday = loaded && list_everyday(session, word, out);
    bool found = loaded && doc_search(session->program, word, &classes);
    bool spoken = loaded && vocabulary_search(word, &words);
    if (found || spoken)
        out_printf(out, "'%s' is mentioned by\n%s%s%s(mdlc doc NAME shows a page)\n", word, found ? classes.text : "",
                   spoken ? "words of the language:\n" : "", spoken ? words.text : "");
    else if (everyday)
        out_text(out, "(mdlc doc NAME shows a page)\n");
    out_free(&classes);
    out_free(&words);
    return found || spoken || everyday;
}

// Of several words that nothing knows together, the last one, which says what it is ("bench vise"), else the first ("wheel nut lock").
static bool
search_parts(Session *session, const char *words, Out *out)
{
    const char *last = strrchr(words, ' ');
    return last && (search(session, last + 1, out) || search(session, arena_strndup(session->arena, words, strcspn(words, " ")), out));
}

// Classes of that name in any library, or what is spelt like it.
static int
refuse(Session *session, const char *what)
{
    Out near = {0};
    const char *word = vocabulary_nearest(what, session->arena);
    fprintf(stderr, "mdlc: there is no file, no class and no word of the language '%s'", what);
    bool class = load_libraries(session, NULL) == EXIT_FINE && doc_nearest(session->program, what, &near);
    if (class || word)
        fprintf(stderr, "; did you mean %s%s%s?\n", class ? near.text : "", class && word ? ", " : "", word ? word : "");
    else
        fprintf(stderr, "; mdlc doc lists what there is\n");
    out_free(&near);
    return EXIT_MODEL;
}

// What is asked for: a name, or several words with a space between them.
static const char *
asked_for(Session *session)
{
    const Options *o = &session->options;
    Out words = {0};
    for (uint32_t i = 0; i < o->n_files; i++)
        out_printf(&words, "%s%s", i ? " " : "", o->files[i]);
    const char *what = words.length ? arena_strndup(session->arena, words.text, words.length) : o->n_files ? o->files[0] : NULL;
    out_free(&words);
    return what;
}

static int
document(Session *session, const DocOptions *options, Out *out)
{
    const Options *o = &session->options;
    const char *what = asked_for(session);
    if (what && access(what, F_OK) == 0) {
        int status = read_model(session);
        if (!status)
            doc_file(session->program, options, out);
        return status;
    }
    make_program(session);
    if (!what)
        return list_all(session, out);
    if (!strcmp(what, "language")) {
        vocabulary_all(options->format, out);
        return EXIT_FINE;
    }
    if (vocabulary_page(what, options->format, out))
        return EXIT_FINE;
    // What cannot be a name is only searched for.
    bool name = may_name_class(what);
    if (name)
        doc_load(session->program, what);
    if (name && doc_class(session->program, what, options, out))
        return EXIT_FINE;
    // A page that goes to a file is that of a name.
    if (!o->run.output && options->format == DOC_TEXT && (search(session, what, out) || search_parts(session, what, out)))
        return EXIT_FINE;
    return refuse(session, what);
}

int
command_doc(Session *session)
{
    const DocOptions options = {.format = format_of(session), .examples = distributed_folder(session->arena, "examples", "README.md")};
    Out out = {0};
    int status = document(session, &options, &out);
    int written = status ? print_out(&out) : write_output(session, &out);
    return status ? status : written;
}
