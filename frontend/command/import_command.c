// import_command.c: mdlc import: a functional mock-up unit, or a system of units, as a model.
//
// Purpose: what other tools have exported becomes a class of the language. Method: none: frontend/import does it.
// Contract: command.h. Complexity: that of frontend/import.
#include "frontend/command/command.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/import/import.h"
#include "ir/base/replace.h"

// The name of a file without its folders and its ending.
static char *
stem_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

static const char *
class_name(Arena *arena, const char *stem)
{
    char *name = arena_printf(arena, "%s%s", isdigit((unsigned char)*stem) ? "_" : "", stem);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? *c : '_';
    return name;
}

static void
tell(const char *level, const Out *why)
{
    for (const char *line = why->length ? why->text : ""; *line; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "mdlc: %s%.*s\n", level, (int)strcspn(line, "\n"), line);
}

static bool
is_possible(const char *interface)
{
    return !interface || !strcmp(interface, "me") || !strcmp(interface, "cs");
}

int
command_import(Session *session)
{
    const Options *options = &session->options;
    const char *archive = options->files[0], *target = options->imported;
    Arena *arena = session->arena;
    if (!is_possible(options->interface)) {
        fprintf(stderr, "mdlc: --interface=%s: a unit is imported by one of them, me or cs\n", options->interface);
        return EXIT_USAGE;
    }
    if (!target)
        target = arena_printf(arena, "%s.mdl", stem_of(arena, archive));
    const char *slash = strrchr(target, '/');
    const char *parent = slash ? arena_strndup(arena, target, (size_t)(slash - target) + 1) : "./";
    char *real = realpath(parent, NULL);
    if (!real) {
        fprintf(stderr, "mdlc: %s: %s\n", parent, strerror(errno));
        return EXIT_IO;
    }
    const char *name = class_name(arena, stem_of(arena, target));
    const char *folder = arena_printf(arena, "%s/%s_fmu", strcmp(real, "/") ? real : "", stem_of(arena, target));
    Out model = {0}, why = {0};
    bool system = false, stepping = options->interface && !strcmp(options->interface, "cs");
    ImportFailure failure = import_unpack(archive, folder, &system, &why);
    if (failure == IMPORT_FINE)
        failure = (system ? import_system : import_model)(folder, name, stepping, &model, &why);
    int error = failure == IMPORT_FINE ? replace_file(target, model.text, model.length, 0666) : 0;
    tell(failure == IMPORT_FINE ? "note: " : "error: ", &why);
    if (error)
        fprintf(stderr, "mdlc: %s: %s\n", target, strerror(error));
    free(real);
    out_free(&model);
    out_free(&why);
    return failure == IMPORT_REFUSED ? EXIT_MODEL : failure == IMPORT_IO || error ? EXIT_IO : 0;
}
