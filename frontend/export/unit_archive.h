// unit_archive.h: ZIP archives (PKWARE APPNOTE 6.3): deflated, with times that are always the same, so that equal models give equal files.
#ifndef MDLC_FRONTEND_EXPORT_UNIT_ARCHIVE_H
#define MDLC_FRONTEND_EXPORT_UNIT_ARCHIVE_H

#include <stdbool.h>

#include "ir/base/out.h"
#include "ir/base/vec.h"

typedef struct ArchiveEntry {
    char *name;               // owned; folders are separated by '/'
    uint32_t crc, packed, size, offset;
    bool deflated, program;   // may be executed
} ArchiveEntry;

typedef struct Archive {
    Out bytes;
    VEC(ArchiveEntry) entries;
} Archive;

// False: memory is exhausted, or 4 GB are not enough.
bool archive_add(Archive *archive, const char *name, const void *bytes, size_t length, bool program);
// Completes archive->bytes.
void archive_end(Archive *archive);
void archive_free(Archive *archive);

#endif
