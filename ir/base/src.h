// src.h: the session's source texts in one address space of 32-bit byte offsets.
//
// A place in any file is one number; a Span is a half-open pair of them. Line and column are computed
// only when a message is printed. Offset 0 belongs to no file: {0,0} means "no place".
#ifndef MDLC_IR_BASE_SRC_H
#define MDLC_IR_BASE_SRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Span {
    uint32_t lo, hi;
} Span;

typedef struct Place {
    const char *path;
    uint32_t line, column;  // from 1; column counts bytes
    const char *line_text;  // not NUL-terminated
    uint32_t line_length;   // without the newline
    uint32_t offset;        // byte offset within the file
} Place;

typedef struct Sources Sources;

Sources *sources_create(void);
void sources_free(Sources **sources);
// Reads a whole file. Returns its index, or -1 with *error_number set (errno; EFBIG when the 32-bit
// space is full). The text is followed by two NUL bytes, so flex can scan it in place.
int sources_read(Sources *sources, const char *path, int *error_number);
// Adds text under a name that is shown in messages; copies it.
int sources_add(Sources *sources, const char *name, const char *text, size_t length);
char *source_text(Sources *sources, int file);      // writable: flex scans in place
uint32_t source_length(const Sources *sources, int file);
uint32_t source_base(const Sources *sources, int file); // offset of its first byte
int sources_count(const Sources *sources);
const char *source_path(const Sources *sources, int file);
// Files below this directory are the standard library's: messages rather point at what uses them.
void sources_set_library(Sources *sources, const char *directory);
bool sources_in_library(const Sources *sources, uint32_t offset);
// Files of packages that were found by name, and are not the user's own.
void sources_set_found(Sources *sources, int file);
bool sources_is_found(const Sources *sources, uint32_t offset);
bool sources_is_others(const Sources *sources, uint32_t offset); // the same without mdlc's own library: what makes no difference there is not told
bool sources_locate(const Sources *sources, uint32_t offset, Place *place); // false: no place

// A file of Modelica, where that is to be read as its specification says; in .mdl files some of it is freer.
bool sources_is_modelica(const Sources *sources, uint32_t offset);
// Such a file of the user: what the specification refuses there is an error.
bool sources_is_strict(const Sources *sources, uint32_t offset);

// Where a span begins; false for a span of nothing that was written.
static inline bool
span_locate(const Sources *sources, Span span, Place *place)
{
    return span.hi && sources_locate(sources, span.lo, place);
}

static inline Span
span_join(Span a, Span b)
{
    if (!a.hi)
        return b;
    if (!b.hi)
        return a;
    return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

#endif
