// unit_archive.c: ZIP archives.
//
// Purpose: a unit is one file. Method: entries are deflated by zlib, or stored where that is shorter; the directory follows.
// Contract: unit_archive.h. Names are ours: no links, no absolute paths. Complexity: that of the compression.
#include "frontend/export/unit_archive.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { TIME = 0, DATE = 0x21 }; // midnight on the first of January 1980, the earliest that there is

static void
put(Out *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out_char(out, (char)(number >> (8 * i) & 0xff));
}

// Version needed to extract, flags, method, time, checksum, sizes, length of the name, which a local header and the directory share.
static void
put_head(const ArchiveEntry *entry, Out *out)
{
    put(out, 20, 2);
    put(out, 0x800, 2); // names are UTF-8
    put(out, entry->deflated ? 8 : 0, 2);
    put(out, TIME, 2);
    put(out, DATE, 2);
    put(out, entry->crc, 4);
    put(out, entry->packed, 4);
    put(out, entry->size, 4);
    put(out, strlen(entry->name), 2);
    put(out, 0, 2);
}

// 0: it could not be done.
static size_t
deflate_bytes(const void *bytes, size_t length, unsigned char *packed, size_t room)
{
    z_stream stream = {0};
    // Level 9 takes five times as long, for half a percent of the size.
    if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    size_t size = stream.total_out;
    deflateEnd(&stream);
    return done ? size : 0;
}

bool
archive_add(Archive *archive, const char *name, const void *bytes, size_t length, bool program)
{
    size_t room = compressBound(length) + 64;
    unsigned char *packed = length + archive->bytes.length < INT_MAX ? malloc(room) : NULL;
    if (!packed)
        return false;
    size_t size = deflate_bytes(bytes, length, packed, room);
    bool deflated = size && size < length;
    ArchiveEntry entry = {.name = strdup(name), .crc = (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)length), .size = (uint32_t)length,
                          .packed = (uint32_t)(deflated ? size : length), .offset = (uint32_t)archive->bytes.length, .deflated = deflated,
                          .program = program};
    bool good = entry.name != NULL;
    if (good) {
        put(&archive->bytes, 0x04034b50, 4);
        put_head(&entry, &archive->bytes);
        out_text(&archive->bytes, name);
        out_bytes(&archive->bytes, deflated ? (const char *)packed : bytes, entry.packed);
        vec_push(&archive->entries, entry);
    }
    free(packed);
    return good;
}

void
archive_end(Archive *archive)
{
    Out *out = &archive->bytes;
    size_t begin = out->length;
    for (uint32_t i = 0; i < archive->entries.n; i++) {
        const ArchiveEntry *entry = &archive->entries.at[i];
        put(out, 0x02014b50, 4);
        put(out, 3 << 8 | 20, 2); // permissions are those of Unix
        put_head(entry, out);
        put(out, 0, 2);
        put(out, 0, 2);
        put(out, 0, 2);
        put(out, (uint64_t)(entry->program ? 0100755 : 0100644) << 16, 4);
        put(out, entry->offset, 4);
        out_text(out, entry->name);
    }
    size_t end = out->length;
    put(out, 0x06054b50, 4);
    put(out, 0, 4);
    put(out, archive->entries.n, 2);
    put(out, archive->entries.n, 2);
    put(out, end - begin, 4);
    put(out, begin, 4);
    put(out, 0, 2);
}

void
archive_free(Archive *archive)
{
    for (uint32_t i = 0; i < archive->entries.n; i++)
        free(archive->entries.at[i].name);
    vec_free(&archive->entries);
    out_free(&archive->bytes);
}
