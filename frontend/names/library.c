// library.c: classes of libraries that the model does not name.
//
// Purpose: `Spring s` is the first thing that somebody writes; the message says which libraries have a Spring. Method: the
// files of all libraries are searched for lines that begin a class one level inside a package; nothing is parsed. Only
// after an error. Contract: classes.h. Complexity: linear in the texts of the libraries, once per message.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "frontend/names/classes.h"
#include "frontend/names/names.h"

enum { MOST_NAMED = 6, LONGEST_LINE = 400 };

// The name of the class that a line of a package begins, or NULL. What is deeper inside is more indented.
static const char *
class_begun(char *line)
{
    static const char *const kinds[] = {"body", "element", "constraint", "memory", "model", "block", "connector", "record", "function", "type"};
    char *rest, *word = strncmp(line, "  ", 2) || line[2] == ' ' ? NULL : strtok_r(line, " \n", &rest);
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(word, kinds[i])) {
            char *name = strtok_r(NULL, " (;\n", &rest);
            return name && isalpha((unsigned char)*name) ? name : NULL;
        }
    return NULL;
}

static bool
has_class(const char *path, const char *name)
{
    char line[LONGEST_LINE];
    FILE *file = fopen(path, "r");
    bool found = false;
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *class = class_begun(line);
        found = class && !strcmp(class, name);
    }
    if (file)
        fclose(file);
    return found;
}

static const char *
package_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    return arena_strndup(arena, file, strcspn(file, "."));
}

const char *
program_library_class(Program *program, const char *name)
{
    const char *list = NULL;
    uint32_t named = 0;
    for (uint32_t i = 0; i < program->available_paths.n && named < MOST_NAMED; i++) {
        const char *path = program->available_paths.at[i];
        if (!text_ends_with(path, ".mdl") || !has_class(path, name))
            continue;
        const char *package = package_of(program->arena, path);
        list = arena_printf(program->arena, "%s%s'%s.%s'", list ? list : "", list ? ", " : "", package, name);
        named++;
    }
    return list;
}
