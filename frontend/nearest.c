// The name that was probably meant, for messages: the nearest of those that exist, or what a word of another language is called here.
//
// Method: Damerau-Levenshtein distance (optimal string alignment) by dynamic programming over three rows.
// Files: the names beside the one that is missing. Contract: expression.h. Complexity: length of the name times the lengths of all candidates.
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "frontend/expression.h"

enum { LONGEST_NAME = 64 };

static uint32_t
least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t
name_distance(const char *a, uint32_t na, const char *b, uint32_t nb)
{
    uint32_t rows[3][LONGEST_NAME + 1];
    uint32_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (uint32_t j = 0; j <= nb; j++)
        last[j] = j;
    for (uint32_t i = 1; i <= na; i++) {
        now[0] = i;
        for (uint32_t j = 1; j <= nb; j++) {
            bool same = a[i - 1] == b[j - 1];
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        uint32_t *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

const char *
nearest_name(const char *name, const char *const *candidates, uint32_t n)
{
    size_t length = strlen(name);
    if (!length || length > LONGEST_NAME)
        return NULL;
    // Names of one letter are all near each other.
    uint32_t limit = length < 2 ? 0 : length < 3 ? 1 : length / 3 > 2 ? (uint32_t)(length / 3) : 2, best = limit + 1;
    const char *nearest = NULL;
    for (uint32_t i = 0; i < n; i++) {
        size_t other = candidates[i] ? strlen(candidates[i]) : 0;
        size_t apart = other > length ? other - length : length - other;
        if (length == 1 && other == 1 && tolower((unsigned char)*name) == tolower((unsigned char)*candidates[i]))
            return candidates[i];
        if (!other || other > LONGEST_NAME || apart >= best)
            continue;
        uint32_t distance = name_distance(name, (uint32_t)length, candidates[i], (uint32_t)other);
        if (distance < best) {
            best = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

const char *
usual_name(const char *name)
{
    static const char *const pairs[][2] = {
        {"double", "Real"}, {"float", "Real"}, {"number", "Real"}, {"int", "Integer"}, {"integer", "Integer"},
        {"bool", "Boolean"}, {"boolean", "Boolean"}, {"string", "String"}, {"Extends", "extends"}, {"Import", "import"},
        {"using", "import"}, {"include", "import"}, {"True", "true"}, {"TRUE", "true"}, {"False", "false"},
        {"FALSE", "false"}, {"Time", "time"}, {"NOT", "not"}, {"Not", "not"}, {"Connect", "connect"}, {"Assert", "assert"},
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
