// mdlc doc: the reference page of a class, a library or a file; without either, the libraries there are.
#include "frontend/driver/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/doc.h"

static bool
ends_with(const char *text, const char *tail)
{
    size_t n = text ? strlen(text) : 0, m = strlen(tail);
    return n > m && !strcmp(text + n - m, tail);
}

// What --format says, or the file's name; text otherwise.
static DocFormat
format_of(const Options *o)
{
    if (o->format)
        return !strcmp(o->format, "html") ? DOC_HTML : !strcmp(o->format, "markdown") ? DOC_MARKDOWN : DOC_TEXT;
    return ends_with(o->run.output, ".html") ? DOC_HTML : ends_with(o->run.output, ".md") ? DOC_MARKDOWN : DOC_TEXT;
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
    return ends_with(entry->d_name, ".mdl") || (entry->d_type == DT_DIR && entry->d_name[0] != '.');
}

static int
list_libraries(Session *session, Out *out)
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
        doc_line(session->program, name, out);
        free(entry[i]);
    }
    free(entry);
    return EXIT_FINE;
}

static int
document(Session *session, const DocOptions *options, Out *out)
{
    const Options *o = &session->options;
    const char *what = o->n_files ? o->files[0] : NULL;
    if (what && access(what, F_OK) == 0) {
        int status = read_model(session);
        if (!status)
            doc_file(session->program, options, out);
        return status;
    }
    make_program(session);
    if (!what)
        return list_libraries(session, out);
    doc_load(session->program, what);
    if (doc_class(session->program, what, options, out))
        return EXIT_FINE;
    fprintf(stderr, "mdlc: there is no file and no class '%s'; mdlc doc lists the libraries\n", what);
    return EXIT_MODEL;
}

int
command_doc(Session *session)
{
    const Options *o = &session->options;
    const DocOptions options = {.format = format_of(o), .examples = distributed_folder(session->arena, "examples", "README.md")};
    Out out = {0};
    int status = document(session, &options, &out);
    if (status || !o->run.output) {
        int printed = print_out(&out);
        return status ? status : printed;
    }
    int error = write_file(o->run.output, &out);
    out_free(&out);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", o->run.output, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
}
