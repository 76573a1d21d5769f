// unpack.c: the archive of a unit, or of a system of units, into a folder.
//
// Purpose: what comes from somewhere else may not write anywhere else. Method: ZIP (PKWARE APPNOTE 6.3) is read from its directory at the end; zlib
//          inflates, and checksums are looked at. Names with "..", backslashes, drives, empty parts or a root, links, and more than 1 GB are
//          refused before anything is written; files are made anew, never followed. libzip would load libcrypto at every start of mdlc.
// Contract: import.h. Complexity: linear in the bytes.
#include "frontend/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "ir/base/arena.h"
#include "ir/base/replace.h"
#include "ir/base/vec.h"

static const uint64_t MOST_BYTES = (uint64_t)1 << 30;
enum { MOST_ENTRIES = 100000, END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, STORED = 0, DEFLATED = 8, ENCRYPTED = 1, UNIX = 3 };

static const char mark[] = ".mdlc-import"; // stands in folders that an import has made, with the names of the files

typedef struct PackedEntry {
    char *name;
    uint32_t method, flags, crc, packed, size, offset, mode; // mode: of Unix, 0 where another system has written it
} PackedEntry;

typedef struct Package {
    const char *path;
    unsigned char *bytes;
    size_t length;
    VEC(PackedEntry) entries;
} Package;

static ImportFailure
failed(const char *path, int error, Out *why)
{
    out_printf(why, "%s: %s\n", path, strerror(error));
    return IMPORT_IO;
}

static bool
is_harmless(const char *name)
{
    if (!*name || *name == '/' || strchr(name, '\\') || strchr(name, ':'))
        return false;
    for (const char *part = name; *part;) {
        size_t length = strcspn(part, "/");
        if (!length || (length == 1 && *part == '.') || (length == 2 && !strncmp(part, "..", 2)))
            return false;
        part += length + (part[length] == '/');
    }
    return true;
}

static uint32_t
number_at(const Package *package, size_t at, int bytes)
{
    uint32_t number = 0;
    for (int i = bytes - 1; i >= 0; i--)
        number = number << 8 | package->bytes[at + (size_t)i];
    return number;
}

static ImportFailure
refused(const Package *package, const char *what, Out *why)
{
    out_printf(why, "%s: %s\n", package->path, what);
    return IMPORT_REFUSED;
}

static ImportFailure
read_file(Package *package, Out *why)
{
    struct stat stat;
    int file = open(package->path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return failed(package->path, errno, why);
    int error = fstat(file, &stat) ? errno : S_ISREG(stat.st_mode) ? 0 : EISDIR;
    if (!error && (uint64_t)stat.st_size > MOST_BYTES) {
        close(file);
        return refused(package, "the archive has more than 1 GB", why);
    }
    package->bytes = error ? NULL : base_calloc((size_t)stat.st_size + 1, 1);
    while (!error && package->length < (size_t)stat.st_size) {
        ssize_t n = read(file, package->bytes + package->length, (size_t)stat.st_size - package->length);
        error = n < 0 && errno != EINTR ? errno : n == 0 ? EIO : 0;
        package->length += n > 0 ? (size_t)n : 0;
    }
    close(file);
    return error ? failed(package->path, error, why) : IMPORT_FINE;
}

static bool
read_entry(Package *package, size_t *at)
{
    size_t from = *at;
    if (from + ENTRY_BYTES > package->length || memcmp(package->bytes + from, "PK\1\2", 4))
        return false;
    uint32_t name = number_at(package, from + 28, 2), more = number_at(package, from + 30, 2) + number_at(package, from + 32, 2);
    if (from + ENTRY_BYTES + name + more > package->length)
        return false;
    PackedEntry entry = {.flags = number_at(package, from + 8, 2), .method = number_at(package, from + 10, 2), .crc = number_at(package, from + 16, 4),
                         .packed = number_at(package, from + 20, 4), .size = number_at(package, from + 24, 4), .offset = number_at(package, from + 42, 4)};
    entry.mode = package->bytes[from + 5] == UNIX ? number_at(package, from + 38, 4) >> 16 : 0;
    entry.name = base_calloc((size_t)name + 1, 1);
    memcpy(entry.name, package->bytes + from + ENTRY_BYTES, name);
    bool plain = strlen(entry.name) == name;
    vec_push(&package->entries, entry);
    *at = from + ENTRY_BYTES + name + more;
    return plain;
}

static ImportFailure
read_directory(Package *package, Out *why)
{
    static const char broken[] = "it is no archive of a unit, or a damaged one";
    size_t end = package->length < END_BYTES ? 0 : package->length - END_BYTES, least = end > UINT16_MAX ? end - UINT16_MAX : 0;
    if (package->length < END_BYTES)
        return refused(package, broken, why);
    while (end > least && memcmp(package->bytes + end, "PK\5\6", 4))
        end--;
    if (memcmp(package->bytes + end, "PK\5\6", 4))
        return refused(package, broken, why);
    uint32_t n = number_at(package, end + 10, 2);
    size_t at = number_at(package, end + 16, 4);
    for (uint32_t i = 0; i < n; i++)
        if (!read_entry(package, &at))
            return refused(package, broken, why);
    return IMPORT_FINE;
}

static ImportFailure
check_entries(const Package *package, bool *is_system, Out *why)
{
    uint64_t bytes = 0;
    bool described = false, system = false;
    if (package->entries.n > MOST_ENTRIES)
        return refused(package, "the archive has more entries than a unit", why);
    for (uint32_t i = 0; i < package->entries.n; i++) {
        const PackedEntry *entry = &package->entries.at[i];
        if (!is_harmless(entry->name)) {
            out_printf(why, "%s: the archive has an entry '%s', which would be written outside of its folder\n", package->path, entry->name);
            return IMPORT_REFUSED;
        }
        if (S_ISLNK(entry->mode)) {
            out_printf(why, "%s: the archive has a link, '%s'; units have none\n", package->path, entry->name);
            return IMPORT_REFUSED;
        }
        if ((entry->method != STORED && entry->method != DEFLATED) || entry->flags & ENCRYPTED) {
            out_printf(why, "%s: the entry '%s' is packed in a way that units do not use\n", package->path, entry->name);
            return IMPORT_REFUSED;
        }
        bytes += entry->size;
        if (bytes > MOST_BYTES)
            return refused(package, "unpacked, the archive has more than 1 GB", why);
        described = described || !strcmp(entry->name, "modelDescription.xml");
        system = system || !strcmp(entry->name, "SystemStructure.ssd");
    }
    if (is_system)
        *is_system = system && !described;
    else if (system && !described)
        return refused(package, "it is a system of units, which is no part of another one", why);
    return described || system ? IMPORT_FINE : refused(package, "there is no modelDescription.xml in it: it is no functional mock-up unit", why);
}

// The bytes of an entry, to be freed; NULL: damaged.
static unsigned char *
unpacked(const Package *package, const PackedEntry *entry)
{
    size_t local = entry->offset;
    if (local + LOCAL_BYTES > package->length || memcmp(package->bytes + local, "PK\3\4", 4))
        return NULL;
    size_t data = local + LOCAL_BYTES + number_at(package, local + 26, 2) + number_at(package, local + 28, 2);
    if (data + entry->packed > package->length || (entry->method == STORED && entry->packed != entry->size))
        return NULL;
    unsigned char *bytes = base_calloc((size_t)entry->size + 1, 1);
    bool good = entry->method == STORED;
    if (good)
        memcpy(bytes, package->bytes + data, entry->size);
    else {
        // One byte more than there should be shows an entry that is longer than it says.
        z_stream stream = {.next_in = package->bytes + data, .avail_in = entry->packed, .next_out = bytes, .avail_out = entry->size + 1};
        good = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
        good = good && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == entry->size;
        inflateEnd(&stream);
    }
    if (good && crc32(0, bytes, entry->size) == entry->crc)
        return bytes;
    free(bytes);
    return NULL;
}

// The folders of a path, which ends with its file, below a folder that exists.
static bool
make_folders(char *path, size_t from)
{
    for (char *at = path + from; (at = strchr(at, '/')); at++) {
        *at = 0;
        bool good = !mkdir(path, 0777) || errno == EEXIST;
        *at = '/';
        if (!good)
            return false;
    }
    return true;
}

static ImportFailure
write_entry(const Package *package, const PackedEntry *entry, char *path, size_t from, Out *why)
{
    if (!make_folders(path, from))
        return failed(path, errno, why);
    if (path[strlen(path) - 1] == '/')
        return IMPORT_FINE;
    unsigned char *bytes = unpacked(package, entry);
    if (!bytes) {
        out_printf(why, "%s: the entry '%s' is damaged\n", package->path, entry->name);
        return IMPORT_REFUSED;
    }
    int file = unlink(path) && errno != ENOENT ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0777);
    int error = file < 0 ? errno : 0;
    for (uint32_t done = 0; done < entry->size && !error;) {
        ssize_t part = write(file, bytes + done, entry->size - done);
        error = part < 0 && errno != EINTR ? errno : 0;
        done += part > 0 ? (uint32_t)part : 0;
    }
    if (file >= 0 && close(file) && !error)
        error = errno;
    free(bytes);
    return error ? failed(path, error, why) : IMPORT_FINE;
}

// What an earlier import has written, and folders that are empty without it.
static void
remove_files(const char *folder, const char *names)
{
    Out text = {0};
    if (!out_file(&text, names) && text.length)
        for (char *name = text.text, *next; *name; name = next) {
            size_t length = strcspn(name, "\n");
            next = name + length + (name[length] == '\n');
            name[length] = 0;
            char *path = base_calloc(strlen(folder) + length + 2, 1);
            sprintf(path, "%s/%s", folder, name);
            bool empty = is_harmless(name) && !unlink(path);
            for (char *slash = strrchr(path, '/'); empty && slash > path + strlen(folder); slash = strrchr(path, '/')) {
                *slash = 0;
                empty = !rmdir(path);
            }
            free(path);
        }
    out_free(&text);
}

// 0 or an errno value.
static int
write_names(const Package *package, const char *path)
{
    Out text = {0};
    for (uint32_t i = 0; i < package->entries.n; i++)
        out_printf(&text, "%s\n", package->entries.at[i].name);
    int error = replace_file(path, text.text, text.length, 0666);
    out_free(&text);
    return error;
}

static ImportFailure
make_folder(const Package *package, const char *folder, Out *why)
{
    char *path = base_calloc(strlen(folder) + sizeof mark + 2, 1);
    sprintf(path, "%s/%s", folder, mark);
    int error = mkdir(folder, 0777) ? errno : 0;
    if (error == EEXIST && !access(path, F_OK)) {
        remove_files(folder, path);
        error = 0;
    }
    if (error == EEXIST)
        out_printf(why, "%s: exists already, and is no folder that an import has made; it is left as it is\n", folder);
    else if (error || (error = write_names(package, path)))
        out_printf(why, "%s: %s\n", folder, strerror(error));
    free(path);
    return error ? IMPORT_IO : IMPORT_FINE;
}

static ImportFailure
write_entries(const Package *package, const char *folder, Out *why)
{
    ImportFailure failure = make_folder(package, folder, why);
    for (uint32_t i = 0; i < package->entries.n && failure == IMPORT_FINE; i++) {
        const PackedEntry *entry = &package->entries.at[i];
        char *path = base_calloc(strlen(folder) + strlen(entry->name) + 2, 1);
        sprintf(path, "%s/%s", folder, entry->name);
        failure = write_entry(package, entry, path, strlen(folder) + 1, why);
        free(path);
    }
    return failure;
}

ImportFailure
import_unpack(const char *archive, const char *folder, bool *system, Out *why)
{
    Package package = {.path = archive};
    ImportFailure failure = read_file(&package, why);
    if (failure == IMPORT_FINE)
        failure = read_directory(&package, why);
    if (failure == IMPORT_FINE)
        failure = check_entries(&package, system, why);
    if (failure == IMPORT_FINE)
        failure = write_entries(&package, folder, why);
    for (uint32_t i = 0; i < package.entries.n; i++)
        free(package.entries.at[i].name);
    vec_free(&package.entries);
    free(package.bytes);
    return failure;
}
