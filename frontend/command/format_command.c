// format_command.c: mdlc fmt: files in canonical layout, in place.
//
// Purpose: `mdlc fmt`. Method: layout_tokens.c; a file is replaced as a whole, and only when it changes.
// Contract: command.h. Complexity: linear in the texts.
#include "frontend/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/text/layout_tokens.h"
#include "ir/base/replace.h"

// A full disk cannot eat a model. Links and permissions stay.
static int
replace_model(const char *path, const Out *text)
{
    struct stat status;
    char *target = realpath(path, NULL);
    int error = !target || stat(target, &status) ? errno : replace_file(target, text->text, text->length, status.st_mode & 07777);
    free(target);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
    return error ? EXIT_IO : EXIT_FINE;
}

static int
format_one(Session *session, const char *path)
{
    int error = 0, file = sources_read(session->sources, path, &error);
    if (file < 0) {
        fprintf(stderr, "mdlc: %s: %s\n", path, strerror(error));
        return EXIT_IO;
    }
    // The parser scans in place and may leave marks, so the text is kept for comparison.
    uint32_t length = source_length(session->sources, file);
    char *before = arena_strndup(session->arena, source_text(session->sources, file), length);
    Out out = {0};
    int status = EXIT_FINE;
    if (!format_file(session->sources, file, session->diags, &out)) {
        status = EXIT_MODEL;
    } else if (out.length != length || (length && memcmp(out.text, before, length))) {
        if (session->options.check_only) {
            printf("%s\n", path);
            status = EXIT_MODEL;
        } else {
            status = replace_model(path, &out);
        }
    }
    out_free(&out);
    return status;
}

int
command_fmt(Session *session)
{
    int worst = EXIT_FINE;
    for (uint32_t i = 0; i < session->options.n_files; i++) {
        int status = format_one(session, session->options.files[i]);
        if (status > worst)
            worst = status;
    }
    return worst;
}
