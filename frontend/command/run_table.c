// run_table.c: results of a model that is run first, for the calls that draw them.
//
// Purpose: `mdlc plot`, `animate` and `report` take a model where they take a result. Method: the run writes a MAT file, which has parameters, too.
// Contract: run_table.h. Complexity: that of the run.
#include "frontend/command/run_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/command/command.h"
#include "frontend/names/names.h"

// A file that does not exist may have a neighbour that was meant.
void
suggest_file(Session *session, const char *path)
{
    const char *near = access(path, F_OK) && errno == ENOENT ? nearest_file(path, session->arena) : NULL;
    if (near)
        fprintf(stderr, "help: did you mean '%s'?\n", near);
}

bool
is_model(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".mdl") || !strcmp(dot, ".mo") || !strcmp(dot, ".dae") || may_name_class(path));
}

// Runs the model into a file that is gone when it has been read; the table stays NULL when there is nothing in it.
int
run_into_table(Session *session, Table **table, char why[TABLE_WHY])
{
    Options *o = &session->options;
    const char *picture = o->run.output, *directory = getenv("TMPDIR");
    char *path = arena_printf(session->arena, "%s/mdlc-XXXXXX.mat", directory && *directory ? directory : "/tmp");
    int file = mkstemps(path, 4);
    if (file < 0) {
        snprintf(why, TABLE_WHY, "%s: %s", path, strerror(errno));
        return EXIT_IO;
    }
    close(file);
    o->run.output = path;
    int status = command_run(session);
    o->run.output = picture;
    if (status == EXIT_FINE || status == EXIT_FAILED || status == EXIT_INTERRUPTED)
        *table = table_open(path, why);
    unlink(path);
    return status;
}
