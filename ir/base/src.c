// src.c: the sources of a session, and places in them.
//
// Purpose: a place is one 32-bit offset into all texts one behind the other; line and column are computed when a message is printed.
// Method: the file of an offset and the line in it are found by bisection.
// Contract: src.h. Complexity: logarithmic per place; reading is linear.
#include "ir/base/src.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/base/arena.h"
#include "ir/base/vec.h"

typedef struct File {
    char *path, *text;
    uint32_t base, length;
    U32Vec lines; // offsets of their first bytes
    bool found;   // by name, as part of a package on the search path
} File;

struct Sources {
    VEC(File) files;
    char *library; // a directory, or NULL
    uint32_t next; // first free offset
};

Sources *
sources_create(void)
{
    Sources *sources = base_calloc(1, sizeof *sources);
    sources->next = 1;
    return sources;
}

void
sources_free(Sources **sources)
{
    if (!*sources)
        return;
    for (uint32_t i = 0; i < (*sources)->files.n; i++) {
        free((*sources)->files.at[i].path);
        free((*sources)->files.at[i].text);
        vec_free(&(*sources)->files.at[i].lines);
    }
    vec_free(&(*sources)->files);
    free((*sources)->library);
    free(*sources);
    *sources = NULL;
}

static int
file_add(Sources *sources, const char *path, char *text, size_t length)
{
    size_t size = strlen(path) + 1;
    char *copy = base_realloc(NULL, size);
    memcpy(copy, path, size);
    File file = {.path = copy, .text = text, .base = sources->next, .length = (uint32_t)length};
    vec_push(&file.lines, 0);
    for (const char *end = text; (end = memchr(end, '\n', length - (size_t)(end - text))); end++)
        vec_push(&file.lines, (uint32_t)(end - text) + 1);
    vec_push(&sources->files, file);
    sources->next += (uint32_t)length + 1;
    return (int)sources->files.n - 1;
}

static bool
fits(const Sources *sources, size_t length)
{
    return length < UINT32_MAX - 2 && sources->next < UINT32_MAX - 2 - (uint32_t)length;
}

int
sources_read(Sources *sources, const char *path, int *error_number)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        *error_number = errno;
        return -1;
    }
    struct stat info;
    if (fstat(fileno(in), &info) == 0 && S_ISDIR(info.st_mode)) {
        *error_number = EISDIR;
        fclose(in);
        return -1;
    }
    size_t capacity = S_ISREG(info.st_mode) ? (size_t)info.st_size + 3 : 65536, length = 0;
    char *text = base_realloc(NULL, capacity);
    // A pipe has no size, so the buffer grows as it is read.
    while (fits(sources, length)) {
        length += fread(text + length, 1, capacity - 2 - length, in);
        if (length < capacity - 2)
            break;
        capacity *= 2;
        text = base_realloc(text, capacity);
    }
    *error_number = ferror(in) ? EIO : fits(sources, length) ? 0 : EFBIG;
    fclose(in);
    if (*error_number) {
        free(text);
        return -1;
    }
    text[length] = text[length + 1] = 0;
    return file_add(sources, path, text, length);
}

int
sources_add(Sources *sources, const char *name, const char *text, size_t length)
{
    char *copy = base_realloc(NULL, length + 2);
    memcpy(copy, text, length);
    copy[length] = copy[length + 1] = 0;
    return file_add(sources, name, copy, length);
}

char *
source_text(Sources *sources, int file)
{
    return sources->files.at[file].text;
}

uint32_t
source_length(const Sources *sources, int file)
{
    return sources->files.at[file].length;
}

uint32_t
source_base(const Sources *sources, int file)
{
    return sources->files.at[file].base;
}

int
sources_count(const Sources *sources)
{
    return (int)sources->files.n;
}

const char *
source_path(const Sources *sources, int file)
{
    return sources->files.at[file].path;
}

// The number of the line that holds the offset, from 0.
static uint32_t
line_at(const File *file, uint32_t offset)
{
    uint32_t low = 0, high = file->lines.n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(file->lines.at[middle] <= offset ? &low : &high) = middle;
    }
    return low;
}

static const File *
file_at(const Sources *sources, uint32_t offset)
{
    uint32_t low = 0, high = sources->files.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sources->files.at[middle].base <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const File *file = low ? &sources->files.at[low - 1] : NULL;
    return file && offset - file->base <= file->length ? file : NULL;
}

bool
sources_locate(const Sources *sources, uint32_t offset, Place *place)
{
    const File *file = file_at(sources, offset);
    if (!file)
        return false;
    uint32_t at = offset - file->base;
    uint32_t number = line_at(file, at), start = file->lines.at[number];
    uint32_t end = number + 1 < file->lines.n ? file->lines.at[number + 1] - 1 : file->length;
    if (end > start && end > at && file->text[end - 1] == '\r')
        end--;
    *place = (Place){file->path, number + 1, at - start + 1, file->text + start, end - start, at};
    return true;
}

void
sources_set_library(Sources *sources, const char *directory)
{
    size_t size = strlen(directory) + 1;
    free(sources->library);
    sources->library = base_realloc(NULL, size);
    memcpy(sources->library, directory, size);
}

bool
sources_in_library(const Sources *sources, uint32_t offset)
{
    const File *file = sources->library ? file_at(sources, offset) : NULL;
    size_t length = file ? strlen(sources->library) : 0;
    return length && !strncmp(file->path, sources->library, length) && file->path[length] == '/';
}

void
sources_set_found(Sources *sources, int file)
{
    sources->files.at[file].found = true;
}

bool
sources_is_found(const Sources *sources, uint32_t offset)
{
    const File *file = file_at(sources, offset);
    return file && file->found;
}

bool
sources_is_others(const Sources *sources, uint32_t offset)
{
    return sources_is_found(sources, offset) && !sources_in_library(sources, offset);
}

bool
sources_is_modelica(const Sources *sources, uint32_t offset)
{
    const File *file = file_at(sources, offset);
    size_t length = file ? strlen(file->path) : 0;
    return length > 3 && !strcmp(file->path + length - 3, ".mo");
}

bool
sources_is_strict(const Sources *sources, uint32_t offset)
{
    return sources_is_modelica(sources, offset) && !sources_is_found(sources, offset);
}
