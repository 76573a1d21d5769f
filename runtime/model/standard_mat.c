// standard_mat.c: a matrix in a MAT file.
//
// Purpose: tables in files of MATLAB, of level 4 and of level 5 (versions 5 to 7; MAT-File Format, The MathWorks, 2019), written on machines that
// put the low byte first. Method: the elements are walked over until one has the name; compressed ones are unpacked by the system's zlib,
// which is loaded when the first of them comes. Everything is measured against the end of the file before it is looked at.
// Contract: standard_inner.h. Complexity: linear in the file.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"

enum { LARGEST = 1 << 30 }; // bytes

typedef struct Bytes { // what is left of the file, or of an element
    const unsigned char *at;
    size_t n;
} Bytes;

typedef enum Kind { INT8 = 1, UINT8, INT16, UINT16, INT32, UINT32, SINGLE, DOUBLE = 9, INT64 = 12, UINT64, MATRIX, COMPRESSED } Kind;

typedef struct Search {
    const char *name;
    size_t rows, columns;
    const char *problem;  // NULL: none
    double *values;       // found; by rows
} Search;

static bool
take(Bytes *from, size_t n, Bytes *out)
{
    if (n > from->n)
        return false;
    *out = (Bytes){from->at, n};
    from->at += n;
    from->n -= n;
    return true;
}

static uint32_t
word(const unsigned char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static size_t
size_of(Kind kind)
{
    switch (kind) {
    case INT8: case UINT8: return 1;
    case INT16: case UINT16: return 2;
    case INT32: case UINT32: case SINGLE: return 4;
    case DOUBLE: case INT64: case UINT64: return 8;
    default: return 0;
    }
}

static double
number(const unsigned char *at, Kind kind)
{
    union {
        int8_t i8; uint8_t u8; int16_t i16; uint16_t u16; int32_t i32; uint32_t u32; int64_t i64; uint64_t u64; float f; double d;
    } value;
    memcpy(&value, at, size_of(kind));
    switch (kind) {
    case INT8: return value.i8;
    case UINT8: return value.u8;
    case INT16: return value.i16;
    case UINT16: return value.u16;
    case INT32: return value.i32;
    case UINT32: return value.u32;
    case INT64: return (double)value.i64;
    case UINT64: return (double)value.u64;
    case SINGLE: return value.f;
    default: return value.d;
    }
}

// The matrix of numbers that stands there by columns.
static void
keep_matrix(Search *search, size_t rows, size_t columns, Kind kind, Bytes data)
{
    size_t size = size_of(kind);
    if (!size || (columns && rows > LARGEST/sizeof(double)/columns) || data.n/size < rows*columns) {
        search->problem = "ends before its matrix is complete";
        return;
    }
    search->values = malloc((rows*columns + 1)*sizeof *search->values);
    if (!search->values)
        search->problem = "is too large";
    for (size_t i = 0; search->values && i < rows; i++)
        for (size_t k = 0; k < columns; k++)
            search->values[i*columns + k] = number(data.at + (k*rows + i)*size, kind);
    search->rows = rows;
    search->columns = columns;
}

// --- level 4

// Type, rows, columns, whether there is an imaginary part, length of the name: five words.
static bool
next_of_level_4(Bytes *left, Search *search)
{
    static const Kind kinds[] = {DOUBLE, SINGLE, INT32, INT16, UINT16, UINT8};
    Bytes header, name, data;
    if (!take(left, 20, &header))
        return false;
    uint32_t type = word(header.at), rows = word(header.at + 4), columns = word(header.at + 8), imaginary = word(header.at + 12);
    uint32_t kind = type/10 % 10, size = kind < 6 ? (uint32_t)size_of(kinds[kind]) : 0;
    bool good = type < 1000 && size && type % 10 <= 2 && (!columns || rows <= LARGEST/columns) && take(left, word(header.at + 16), &name)
             && take(left, (size_t)rows*columns*size*(imaginary ? 2 : 1), &data);
    if (!good || !name.n || name.at[name.n - 1])
        return false;
    if (strcmp((const char *)name.at, search->name) != 0)
        return true;
    if (type % 10)
        search->problem = "has no matrix of numbers of that name, but a text or a sparse matrix";
    else
        keep_matrix(search, rows, columns, kinds[kind], data);
    return true;
}

// --- level 5

static bool
next_element(Bytes *left, uint32_t *kind, Bytes *data)
{
    Bytes tag, rest;
    if (left->n < 8)
        return false;
    uint32_t first = word(left->at), small = first >> 16;
    *kind = first & 0xffff;
    if (small) // data of at most four bytes stand in the tag
        return small <= 4 && take(left, 8, &tag) && (*data = (Bytes){tag.at + 4, small}, true);
    *kind = first;
    if (!take(left, 8, &tag) || !take(left, word(tag.at + 4), data))
        return false;
    size_t padding = *kind == COMPRESSED ? 0 : (8 - data->n % 8) % 8;
    return take(left, padding < left->n ? padding : left->n, &rest);
}

// The element of a structure that stands behind its name: the length of the names of its fields, these names, and each as a matrix.
static bool
next_field(Bytes *inside, const char *field, size_t length, Bytes *out)
{
    uint32_t kind, place = 0;
    Bytes room, names;
    if (!next_element(inside, &kind, &room) || room.n < 4 || !next_element(inside, &kind, &names))
        return false;
    size_t size = word(room.at), n = size ? names.n/size : 0;
    while (place < n && (length >= size || memcmp(names.at + place*size, field, length) != 0 || names.at[place*size + length]))
        place++;
    bool good = place < n;
    for (uint32_t i = 0; i <= place && good; i++)
        good = next_element(inside, &kind, out) && kind == MATRIX;
    return good;
}

// `name`: that of the matrix, or, with a dot behind each, of the structures around it and its own. A field has none: the structure names it.
static void
look_at_matrix(Bytes inside, const char *name, bool is_field, Search *search)
{
    enum { STRUCTURE = 2, NUMBERS = 6, LAST = 15 }; // classes of arrays
    uint32_t kind;
    size_t length = strcspn(name, ".");
    Bytes flags, sizes, own, data;
    if (!next_element(&inside, &kind, &flags) || flags.n < 8 || !next_element(&inside, &kind, &sizes) || sizes.n < 8
        || !next_element(&inside, &kind, &own) || (!is_field && (own.n != length || memcmp(own.at, name, length) != 0)))
        return;
    uint32_t class = word(flags.at) & 0xff;
    if (name[length] && class == STRUCTURE && sizes.n == 8 && word(sizes.at) == 1 && word(sizes.at + 4) == 1) {
        const char *field = name + length + 1;
        if (next_field(&inside, field, strcspn(field, "."), &data))
            look_at_matrix(data, field, true, search);
    } else if (name[length] || class < NUMBERS || class > LAST || sizes.n != 8)
        search->problem = "has no matrix of numbers of that name, but something else";
    else if (!next_element(&inside, &kind, &data))
        search->problem = "ends before its matrix is complete";
    else
        keep_matrix(search, word(sizes.at), word(sizes.at + 4), (Kind)kind, data);
}

typedef int Uncompress(unsigned char *to, unsigned long *size, const unsigned char *from, unsigned long n);

static void
look_at_compressed(Bytes packed, Search *search)
{
    enum { ROOM_IS_SMALL = -5 };
    void *library = platform_load(PLATFORM_ZLIB), *symbol = library ? platform_symbol(library, "uncompress") : NULL;
    Uncompress *uncompress;
    memcpy(&uncompress, &symbol, sizeof uncompress);
    unsigned char *text = NULL;
    unsigned long size = 0;
    int result = ROOM_IS_SMALL;
    for (size_t room = 4*packed.n + 1024; symbol && result == ROOM_IS_SMALL && room < LARGEST; room *= 4) {
        free(text);
        text = malloc(room);
        size = room;
        result = text ? uncompress(text, &size, packed.at, packed.n) : 1;
    }
    Bytes left = {text, size}, data;
    uint32_t kind;
    if (!symbol)
        search->problem = "is compressed, and the library zlib cannot be loaded; Debian has it in the package zlib1g";
    else if (result)
        search->problem = "is damaged";
    else if (next_element(&left, &kind, &data) && kind == MATRIX)
        look_at_matrix(data, search->name, false, search);
    free(text);
}

static bool
next_of_level_5(Bytes *left, Search *search)
{
    uint32_t kind;
    Bytes data;
    if (!next_element(left, &kind, &data))
        return false;
    if (kind == MATRIX)
        look_at_matrix(data, search->name, false, search);
    else if (kind == COMPRESSED)
        look_at_compressed(data, search);
    return true;
}

// --- the file

static int
level_of(Bytes file)
{
    enum { HEADER = 128 };
    if (file.n >= 20 && word(file.at) < 1000 && word(file.at + 16) < 1000)
        return 4;
    return file.n >= HEADER && !memcmp(file.at + 126, "IM", 2) ? file.at[125] == 1 ? 5 : 7 : 0;
}

double *
standard_read_mat(const char *text, size_t size, const char *name, size_t *rows, size_t *columns, const char **problem)
{
    Bytes left = {(const unsigned char *)text, size}, header;
    Search search = {.name = name};
    int level = level_of(left);
    *problem = level == 7 ? "is a MAT file of version 7.3, which is not read; save it with the option -v7" : NULL;
    if (level != 4 && level != 5)
        return NULL;
    if (level == 5)
        (void)take(&left, 128, &header);
    while (!search.values && !search.problem && (level == 4 ? next_of_level_4(&left, &search) : next_of_level_5(&left, &search)))
        continue;
    *rows = search.rows;
    *columns = search.columns;
    *problem = search.values || search.problem ? search.problem : "";
    return search.values;
}
