// standard_write.c: functions that change files and folders.
//
// Purpose: what Modelica.Utilities.Files and Streams write, copy, rename and remove, below the folders that the user allows (--allow-files) and
// nowhere else. MAT files of level 4, and of level 5 plain and compressed (formats "4", "6", "7"), as MATLAB documents them (MAT-File Format, R2023b).
// Method: a name is looked at through its folder, links followed; compressed elements by the system's zlib, as reading does (standard_mat.c).
// Contract: standard.h; a function that says whether it was successful was not where the file is not allowed, others fail. Complexity: linear in
// what is written.
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"
#include "runtime/model/texts.h"

#define NOT_WRITTEN "is in no folder that --allow-files names, and a model changes no other files"

#ifdef _WIN32
#define MAKE_FOLDER(path) mkdir(path)
#else
#define MAKE_FOLDER(path) mkdir(path, 0777)
#endif

// Of the argument k; with a message when the model may not change it.
static const char *
changeable(const double *in, unsigned k, double *state)
{
    const char *path = standard_text(in, k, state);
    if (standard_may_write(path))
        return path;
    standard_fail(in, state, "the file '%s' " NOT_WRITTEN, path);
    return NULL;
}

static void
judge(const double *in, double *state, const char *path, bool good, const char *what)
{
    if (!good)
        standard_fail(in, state, "'%s' cannot be %s: %s", path, what, strerror(errno));
}

// --- lines

// A line behind the last one of the file, or to the terminal.
void
mdl_standard_print(const double *in, double *out, double *state)
{
    const char *text = standard_text(in, 0, state), *path = standard_text(in, 1, state);
    out[0] = 0;
    if (!*path) {
        fprintf(stderr, "%s\n", text);
    } else if (!standard_may_write(path)) {
        fprintf(stderr, "mdlc: for the file '%s', which " NOT_WRITTEN ": %s\n", path, text);
    } else {
        FILE *file = fopen(path, "a");
        bool good = file && fprintf(file, "%s\n", text) >= 0;
        good = (!file || !fclose(file)) && good;
        judge(in, state, path, good, "written");
    }
}

// --- files and folders

void
mdl_standard_remove_file(const double *in, double *out, double *state)
{
    const char *path = changeable(in, 0, state);
    out[0] = 0;
    if (path)
        judge(in, state, path, !unlink(path), "removed");
}

void
mdl_standard_make_folder(const double *in, double *out, double *state)
{
    const char *path = changeable(in, 0, state);
    out[0] = 0;
    if (path)
        judge(in, state, path, !MAKE_FOLDER(path), "made");
}

void
mdl_standard_remove_folder(const double *in, double *out, double *state)
{
    const char *path = changeable(in, 0, state);
    out[0] = 0;
    if (path)
        judge(in, state, path, !rmdir(path), "removed");
}

void
mdl_standard_rename(const double *in, double *out, double *state)
{
    const char *from = changeable(in, 0, state), *to = from ? changeable(in, 1, state) : NULL;
    out[0] = 0;
    if (to)
        judge(in, state, from, !rename(from, to), "renamed");
}

void
mdl_standard_copy_file(const double *in, double *out, double *state)
{
    const char *from = standard_text(in, 0, state), *to = changeable(in, 1, state);
    char piece[4096];
    out[0] = 0;
    if (!to)
        return;
    if (!standard_may_read(from)) {
        standard_fail(in, state, "the file '%s' " STANDARD_NOT_READ, from);
        return;
    }
    FILE *source = fopen(from, "rb"), *copy = source ? fopen(to, "wb") : NULL;
    bool good = source && copy;
    for (size_t n; good && (n = fread(piece, 1, sizeof piece, source)) > 0;)
        good = fwrite(piece, 1, n, copy) == n;
    good = good && !ferror(source);
    if (source)
        fclose(source);
    good = (!copy || !fclose(copy)) && good;
    judge(in, state, from, good, "copied");
}

// The next name in a folder; NULL behind the last one.
static const char *
next_name(DIR *folder)
{
    struct dirent *entry;
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            return entry->d_name;
    return NULL;
}

static DIR *
opened_folder(const double *in, double *state)
{
    const char *path = standard_text(in, 0, state);
    bool may = standard_may_read(path);
    DIR *folder = may ? opendir(path) : NULL;
    if (!may)
        standard_fail(in, state, "the folder '%s' " STANDARD_NOT_READ, path);
    else if (!folder)
        standard_fail(in, state, "the folder '%s' cannot be read: %s", path, strerror(errno));
    return folder;
}

void
mdl_standard_count_files(const double *in, double *out, double *state)
{
    DIR *folder = opened_folder(in, state);
    out[0] = 0;
    while (folder && next_name(folder))
        out[0]++;
    if (folder)
        closedir(folder);
}

void
mdl_standard_read_folder(const double *in, double *out, double *state)
{
    double *names = standard_result(in, out, 2), n = standard_scalar(in, 1);
    DIR *folder = opened_folder(in, state);
    const char *name = NULL;
    for (size_t k = 0; k < (size_t)n; k++) {
        name = folder ? next_name(folder) : NULL;
        names[k] = mdl_text_from(name ? name : "", state);
    }
    if (folder)
        closedir(folder);
}

void
mdl_standard_current_folder(const double *in, double *out, double *state)
{
    char *folder = getcwd(NULL, 0);
    (void)in;
    out[0] = mdl_text_from(folder ? folder : ".", state);
    free(folder);
}

// --- MAT files

typedef struct Bytes {
    unsigned char *at;
    size_t n, room;
    bool lost; // memory is exhausted
} Bytes;

static void
put(Bytes *bytes, const void *from, size_t n)
{
    if (bytes->n + n > bytes->room) {
        size_t room = 2 * (bytes->n + n) + 64;
        unsigned char *at = realloc(bytes->at, room);
        bytes->lost = bytes->lost || !at;
        if (!at)
            return;
        bytes->at = at;
        bytes->room = room;
    }
    memcpy(bytes->at + bytes->n, from, n);
    bytes->n += n;
}

static void
put_number(Bytes *bytes, uint32_t number)
{
    unsigned char text[4] = {number & 0xff, number >> 8 & 0xff, number >> 16 & 0xff, number >> 24};
    put(bytes, text, sizeof text);
}

// By columns; the matrix is by rows.
static void
put_values(Bytes *bytes, const double *value, size_t rows, size_t columns)
{
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++) {
            uint64_t bits;
            memcpy(&bits, &value[i * columns + j], sizeof bits);
            put_number(bytes, (uint32_t)bits);
            put_number(bytes, (uint32_t)(bits >> 32));
        }
}

static void
pad(Bytes *bytes, size_t n)
{
    static const char zeros[8] = {0};
    put(bytes, zeros, (8 - n % 8) % 8);
}

static void
put_level_4(Bytes *bytes, const char *name, const double *value, size_t rows, size_t columns)
{
    uint32_t length = (uint32_t)strlen(name) + 1;
    put_number(bytes, 0); // low byte first, doubles, full
    put_number(bytes, (uint32_t)rows);
    put_number(bytes, (uint32_t)columns);
    put_number(bytes, 0); // real
    put_number(bytes, length);
    put(bytes, name, length);
    put_values(bytes, value, rows, columns);
}

// Types of elements, and the class of a matrix of doubles.
enum { MI_INT8 = 1, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14, MI_COMPRESSED = 15, MX_DOUBLE = 6 };

static void
put_level_5(Bytes *bytes, const char *name, const double *value, size_t rows, size_t columns)
{
    uint32_t length = (uint32_t)strlen(name), size = (uint32_t)(8 * rows * columns), padded = (length + 7) / 8 * 8;
    put_number(bytes, MI_MATRIX);
    put_number(bytes, 16 + 16 + 8 + padded + 8 + size);
    put_number(bytes, MI_UINT32);
    put_number(bytes, 8);
    put_number(bytes, MX_DOUBLE);
    put_number(bytes, 0);
    put_number(bytes, MI_INT32);
    put_number(bytes, 8);
    put_number(bytes, (uint32_t)rows);
    put_number(bytes, (uint32_t)columns);
    put_number(bytes, MI_INT8);
    put_number(bytes, length);
    put(bytes, name, length);
    pad(bytes, length);
    put_number(bytes, MI_DOUBLE);
    put_number(bytes, size);
    put_values(bytes, value, rows, columns);
}

typedef int Compress(unsigned char *to, unsigned long *size, const unsigned char *from, unsigned long n);

// The element becomes a compressed one. False without zlib.
static bool
compress_element(Bytes *bytes)
{
    void *library = platform_load(PLATFORM_ZLIB), *symbol = library ? platform_symbol(library, "compress") : NULL;
    Compress *compress;
    memcpy(&compress, &symbol, sizeof compress);
    unsigned long size = (unsigned long)(bytes->n + bytes->n / 1000 + 64);
    unsigned char *packed = symbol ? malloc(size) : NULL;
    Bytes element = {0};
    bool good = packed && !compress(packed, &size, bytes->at, (unsigned long)bytes->n);
    if (good) {
        put_number(&element, MI_COMPRESSED);
        put_number(&element, (uint32_t)size);
        put(&element, packed, size);
        free(bytes->at);
        *bytes = element;
    }
    free(packed);
    if (library)
        platform_unload(library);
    return good && !bytes->lost;
}

static void
put_head(Bytes *bytes)
{
    char text[125];
    snprintf(text, sizeof text, "%-124s", "MATLAB 5.0 MAT-file, by mdlc");
    memset(text + 116, 0, 8);
    put(bytes, text, 124);
    put(bytes, "\0\1IM", 4);
}

// Whether the file has something in it already; a matrix is put behind that.
static bool
has_content(const char *path)
{
    struct stat info;
    return !stat(path, &info) && info.st_size > 0;
}

void
mdl_standard_write_matrix(const double *in, double *out, double *state)
{
    const char *path = standard_text(in, 0, state), *name = standard_text(in, 1, state), *format = standard_text(in, 6, state);
    Argument matrix = standard_argument(in, 2);
    size_t rows = (size_t)standard_scalar(in, 3), columns = (size_t)standard_scalar(in, 4);
    bool append = standard_scalar(in, 5) != 0;
    Bytes bytes = {0};
    out[0] = 0;
    if (!standard_may_write(path)) {
        fprintf(stderr, "mdlc: the file '%s' " NOT_WRITTEN "\n", path);
        return;
    }
    bool known = !strcmp(format, "4") || !strcmp(format, "6") || !strcmp(format, "7"), good = known;
    if (!known)
        fprintf(stderr, "mdlc: the file '%s' is not written: the formats of MAT files are \"4\", \"6\" and \"7\", not \"%s\"\n", path, format);
    else if (*format == '4')
        put_level_4(&bytes, name, matrix.at, rows, columns);
    else
        put_level_5(&bytes, name, matrix.at, rows, columns);
    if (known && *format == '7' && !(good = compress_element(&bytes)))
        fprintf(stderr, "mdlc: the file '%s' is not written: the library zlib cannot be loaded; Debian has it in the package zlib1g\n", path);
    good = good && !bytes.lost;
    Bytes head = {0};
    bool behind = append && has_content(path);
    if (good && *format != '4' && !behind)
        put_head(&head);
    FILE *file = good ? fopen(path, behind ? "ab" : "wb") : NULL;
    if (good && !file)
        fprintf(stderr, "mdlc: the file '%s' cannot be written: %s\n", path, strerror(errno));
    good = file && fwrite(head.at ? head.at : (const unsigned char *)"", 1, head.n, file) == head.n && fwrite(bytes.at, 1, bytes.n, file) == bytes.n;
    good = (!file || !fclose(file)) && good;
    free(head.at);
    free(bytes.at);
    out[0] = good;
}
