// readable.c: which files a model may read, and write.
//
// Purpose: a model of somebody else reads files below its own folder, below the folders of libraries and those that --allow-files names, and
// those that the user gives it by --set; it changes files below those that --allow-files names. Nothing else of the machine.
// Method: the lists go into the environment of the process, MDLC_FILES and MDLC_WRITES, where functions of files look (runtime/model/standard_file.c):
// so they reach libraries that a study has built, and the processes that run them. What stands there already is allowed, too.
// Contract: session.h. Complexity: linear in folders.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/session/session.h"

// `path` is a file or a folder that is there.
static void
allow_in(Session *session, const char *variable, const char *path)
{
    const char *before = getenv(variable), *list = before ? before : "";
    char *real = realpath(path, NULL);
    const char *wanted = real ? arena_printf(session->arena, ":%s:", real) : NULL;
    if (real && !strstr(arena_printf(session->arena, ":%s:", list), wanted))
        setenv(variable, arena_printf(session->arena, "%s%s%s", list, *list ? ":" : "", real), 1);
    free(real);
}

static void
allow(Session *session, const char *path)
{
    allow_in(session, "MDLC_FILES", path);
}

void
allow_folders(Session *session)
{
    for (uint32_t i = 0; i < session->options.n_allowed; i++) {
        allow(session, session->options.allowed[i]);
        allow_in(session, "MDLC_WRITES", session->options.allowed[i]);
    }
    for (uint32_t i = 0; i < session->options.n_paths; i++)
        allow(session, session->options.paths[i]);
    for (const char *path = getenv("MDLPATH"); path && *path;) {
        size_t length = strcspn(path, ":");
        if (length)
            allow(session, arena_strndup(session->arena, path, length));
        path += length + (path[length] == ':');
    }
    allow(session, distributed_folder(session->arena, "stdlib", "Units.mdl"));
}

static const char *
folder_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

static bool
is_package(Arena *arena, const char *folder)
{
    return !access(arena_printf(arena, "%s/package.mo", folder), F_OK) || !access(arena_printf(arena, "%s/package.mdl", folder), F_OK);
}

void
allow_model(Session *session, const char *path)
{
    struct stat info;
    char *real = realpath(path, NULL);
    if (!real || stat(real, &info)) { // the name of a class on the search path
        free(real);
        return;
    }
    const char *folder = S_ISDIR(info.st_mode) ? real : folder_of(session->arena, real);
    for (const char *up = folder_of(session->arena, folder); is_package(session->arena, folder) && is_package(session->arena, up);
         up = folder_of(session->arena, up))
        folder = up;
    allow(session, folder);
    free(real);
}

void
allow_value(Session *session, const char *value)
{
    if (value && *value == '"')
        allow(session, arena_strndup(session->arena, value + 1, strcspn(value + 1, "\"")));
}
