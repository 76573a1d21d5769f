// other_words.c: the name that was probably meant, for messages: what a word of another language is called here, and the file that is nearest.
//
// Purpose: a message about an unknown name says what to write instead.
// Method: a table; the names beside the file that is missing. Contract: names.h. Complexity: linear in the entries of a folder.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "frontend/names/names.h"
#include "runtime/model/nearest.h"

const char *
usual_name(const char *name)
{
    static const char *const pairs[][2] = {
        {"double", "Real"}, {"float", "Real"}, {"number", "Real"}, {"int", "Integer"}, {"integer", "Integer"},
        {"bool", "Boolean"}, {"boolean", "Boolean"}, {"string", "String"}, {"Extends", "extends"}, {"Import", "import"},
        {"using", "import"}, {"include", "import"}, {"True", "true"}, {"TRUE", "true"}, {"False", "false"},
        {"FALSE", "false"}, {"Time", "time"}, {"t", "time"}, {"NOT", "not"}, {"Not", "not"}, {"Connect", "connect"}, {"Assert", "assert"},
        {"Reinit", "reinit"}, {"Terminate", "terminate"}, {"pi", "Constants.pi"}, {"PI", "Constants.pi"},
        {"Pi", "Constants.pi"}, {"e", "Constants.e"}, {"inf", "Modelica.Constants.inf"}, {"Inf", "Modelica.Constants.inf"}, {"ln", "log"},
        {"fabs", "abs"}, {"arcsin", "asin"}, {"arccos", "acos"}, {"arctan", "atan"}, {"sgn", "sign"}, {"signum", "sign"},
        {"pow", "^"}, {"length", "size"}, {"len", "size"}, {"diff", "der"}, {"ddt", "der"}, {"eye", "identity"},
    };
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(pairs[i][0], name))
            return pairs[i][1];
    return NULL;
}

// The same name in other letters, or with an ending it lacks, is nearer than any other.
static bool
is_meant(const char *name, const char *entry)
{
    size_t length = strlen(name);
    return !strcasecmp(name, entry)
           || (length && !strncasecmp(name, entry, length) && (!strcasecmp(entry + length, ".mdl") || !strcasecmp(entry + length, ".mo")));
}

const char *
nearest_file(const char *path, Arena *arena)
{
    enum { MOST_ENTRIES = 10000 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *nearest = NULL;
    const char *folder = slash ? arena_strndup(arena, path, (size_t)(slash + 1 - path)) : "";
    DIR *directory = opendir(slash ? folder : ".");
    VEC(const char *) entries = {0};
    for (struct dirent *entry; directory && !nearest && entries.n < MOST_ENTRIES && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        const char *known = arena_printf(arena, "%s", entry->d_name);
        vec_push(&entries, known);
        if (is_meant(name, known))
            nearest = known;
    }
    if (directory)
        closedir(directory);
    if (!nearest)
        nearest = nearest_name(name, entries.at, entries.n);
    vec_free(&entries);
    return nearest ? arena_printf(arena, "%s%s", folder, nearest) : NULL;
}
